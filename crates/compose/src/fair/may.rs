//! Whether a predicate *may* hold, of which a process sees only a part.
//!
//! In: a state predicate of a fairness assumption. Out: a tree of parts, each about the local states of a few processes. A part
//! may hold where some choice of those local states makes it true; of parts that read different processes, each may be
//! judged alone. What cannot be taken apart is evaluated as a whole.

use std::collections::BTreeSet;

use model::Model;
use model::expr::{BinaryOp, Expr, ExprKind, Quantifier};
use model::fairness::StatePredicate;
use model::process::ProcessId;
use model::value::Value;
use model::variable::{CellId, Storage};

use crate::clause::mention::Mentions;
use crate::clause::{Splitter, closed};

/// A predicate, taken apart.
#[derive(Clone, Debug)]
pub enum May {
    /// The expression has this truth value; it reads the local states of these processes, ascending.
    Truth {
        /// The expression; nothing outside binds it.
        expr: Expr,
        /// The truth value that is wanted.
        wanted: bool,
        /// The processes.
        processes: Vec<ProcessId>,
        /// Its number among all such parts of a property's assumptions.
        number: usize,
    },
    /// The process has no enabled step other than leaving `idle` (with labels: none that carries one of them).
    Unable(ProcessId, Option<Vec<String>>),
    /// None of these, all processes of a program with rendezvous, has an enabled step other than leaving `idle`.
    NobodyAble(Vec<ProcessId>),
    /// All of them; no two read the local state of one process.
    All(Vec<May>),
    /// One of them.
    Any(Vec<May>),
}

impl May {
    /// A state predicate, taken apart.
    pub fn new(model: &Model, predicate: &StatePredicate) -> Self {
        match predicate {
            StatePredicate::Holds(expr) => May::of(model, expr, true),
            StatePredicate::Fails(expr) => May::of(model, expr, false),
            StatePredicate::Unable(process, labels) => May::Unable(*process, labels.clone()),
            // Where processes step together, what one can do depends on others.
            StatePredicate::NobodyAble if !model.channels.is_empty() => {
                May::NobodyAble(model.processes.ids().collect())
            }
            StatePredicate::NobodyAble => {
                May::All(model.processes.ids().map(|process| May::Unable(process, None)).collect())
            }
        }
    }

    /// Whether it asks whether processes are enabled.
    pub fn asks_what_is_enabled(&self) -> bool {
        match self {
            May::Truth { .. } => false,
            May::Unable(..) | May::NobodyAble(_) => true,
            May::All(parts) | May::Any(parts) => parts.iter().any(May::asks_what_is_enabled),
        }
    }

    /// The processes whose local states it reads, partners in rendezvous aside.
    pub fn processes(&self) -> BTreeSet<ProcessId> {
        match self {
            May::Truth { processes, .. } | May::NobodyAble(processes) => processes.iter().copied().collect(),
            May::Unable(process, _) => BTreeSet::from([*process]),
            May::All(parts) | May::Any(parts) => parts.iter().flat_map(May::processes).collect(),
        }
    }

    /// Numbers the expressions in it, from this one on.
    pub(super) fn count(&mut self, next: &mut usize) {
        match self {
            May::Truth { number, .. } => {
                *number = *next;
                *next += 1;
            }
            May::Unable(..) | May::NobodyAble(_) => {}
            May::All(parts) | May::Any(parts) => parts.iter_mut().for_each(|part| part.count(next)),
        }
    }

    /// Shows the expressions in it with their numbers.
    pub fn for_each_expr<'e>(&'e self, show: &mut dyn FnMut(usize, &'e Expr)) {
        match self {
            May::Truth { number, expr, .. } => show(*number, expr),
            May::Unable(..) | May::NobodyAble(_) => {}
            May::All(parts) | May::Any(parts) => parts.iter().for_each(|part| part.for_each_expr(show)),
        }
    }

    fn of(model: &Model, expr: &Expr, wanted: bool) -> Self {
        let chosen = |_: &[ProcessId]| true;
        PredicateSplitter { splitter: Splitter::new(model, &chosen), model }.take(expr, &[], wanted)
    }
}

/// The processes whose local states an expression reads, beside the shared and public cells.
pub(super) fn processes_read(model: &Model, mentions: &Mentions) -> BTreeSet<ProcessId> {
    let places = mentions.places.iter().map(|(process, _)| *process);
    places.chain(local_cells(model, mentions).filter_map(|cell| model.cells[cell].owner)).collect()
}

/// The cells of one process alone that are mentioned.
pub(super) fn local_cells<'m>(model: &'m Model, mentions: &'m Mentions) -> impl Iterator<Item = CellId> + 'm {
    let is_local = |cell: &CellId| matches!(model.vars[model.cells[*cell].var].storage, Storage::Local(_));
    mentions.cells.iter().copied().filter(is_local)
}

struct PredicateSplitter<'t> {
    splitter: Splitter<'t>,
    model: &'t Model,
}

impl PredicateSplitter<'_> {
    fn take(&self, expr: &Expr, bound: &[Value], wanted: bool) -> May {
        // Where a part can be a fault, the order of evaluation matters.
        if expr.can_fault() {
            return self.whole(expr, bound, wanted);
        }
        match &expr.kind {
            ExprKind::Not(inner) => self.take(inner, bound, !wanted),
            ExprKind::Binary(BinaryOp::And, a, b) => {
                let parts = vec![self.take(a, bound, wanted), self.take(b, bound, wanted)];
                self.join((expr, bound, wanted), wanted, parts)
            }
            ExprKind::Binary(BinaryOp::Or, a, b) => {
                let parts = vec![self.take(a, bound, wanted), self.take(b, bound, wanted)];
                self.join((expr, bound, wanted), !wanted, parts)
            }
            ExprKind::Binary(BinaryOp::Implies, a, b) => {
                let parts = vec![self.take(a, bound, !wanted), self.take(b, bound, wanted)];
                self.join((expr, bound, wanted), !wanted, parts)
            }
            ExprKind::Quantified(quantified)
                if matches!(quantified.quantifier, Quantifier::Forall | Quantifier::Exists) =>
            {
                let mut parts = Vec::new();
                let mut plain = true;
                let visited =
                    self.splitter.bind_each(
                        &quantified.bindings,
                        bound.to_vec(),
                        None,
                        &mut |instance| match quantified
                            .filter
                            .as_ref()
                            .map(|filter| self.splitter.constant(filter, &instance))
                        {
                            None | Some(Some(Value::Bool(true))) => {
                                parts.push(self.take(&quantified.body, &instance, wanted));
                            }
                            Some(Some(_)) => {}
                            Some(None) => plain = false,
                        },
                    );
                if visited.is_none() || !plain {
                    return self.whole(expr, bound, wanted);
                }
                let is_all = (quantified.quantifier == Quantifier::Forall) == wanted;
                self.join((expr, bound, wanted), is_all, parts)
            }
            _ => self.whole(expr, bound, wanted),
        }
    }

    /// All of the parts, or one; as a whole where two that must hold together read the same process.
    fn join(&self, (expr, bound, wanted): (&Expr, &[Value], bool), is_all: bool, parts: Vec<May>) -> May {
        if !is_all {
            return May::Any(parts);
        }
        let mut seen = BTreeSet::new();
        let apart = parts.iter().all(|part| part.processes().into_iter().all(|process| seen.insert(process)));
        if apart { May::All(parts) } else { self.whole(expr, bound, wanted) }
    }

    fn whole(&self, expr: &Expr, bound: &[Value], wanted: bool) -> May {
        let mut mentions = Mentions::default();
        self.splitter.mention(expr, bound, &mut mentions);
        let processes = processes_read(self.model, &mentions).into_iter().collect();
        May::Truth { expr: closed(expr, bound), wanted, processes, number: 0 }
    }
}
