//! Properties as patterns over few processes.
//!
//! In: a property. Out: the [`Question`]s of which none may have a positive answer in a reachable state, each with the processes
//! whose local states it looks at: an invariant falls apart at its conjunctions and `forall`s, the negation of a `reachable` at its
//! disjunctions and `exists`. Each question is put to the join of just these processes' sets.

use std::collections::BTreeSet;

use model::Model;
use model::eval::{State, Viewpoint, initial_states};
use model::expr::{Access, BinaryOp, Binding, Expr, ExprKind, Quantified, Quantifier, Whose};
use model::process::ProcessId;
use model::property::PropertyKind;
use model::value::Value;
use model::variable::{Storage, VarId};

/// A pattern of a state.
#[derive(Clone, Debug)]
pub struct Question {
    /// The processes whose local states matter, ascending.
    pub processes: Vec<ProcessId>,
    /// The pattern.
    pub pattern: Pattern,
}

/// What is asked of a state.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// The expression has this truth value, its free bound variables having these values.
    Truth {
        /// The expression.
        expr: Expr,
        /// The values of the bound variables around it.
        bound: Vec<Value>,
        /// The truth value that is asked for.
        wanted: bool,
    },
    /// The process has a faulty step (with the partner: of their rendezvous).
    Fault(ProcessId),
    /// Nobody can move, and somebody is stuck.
    Deadlock,
    /// The two processes can access one cell of the variable, one of them writing.
    Race(VarId, ProcessId, ProcessId),
}

/// The questions of a property; `None` for temporal ones.
pub fn questions(model: &Model, property: &PropertyKind) -> Option<Vec<Question>> {
    let all: Vec<ProcessId> = model.processes.ids().collect();
    Some(match property {
        PropertyKind::Invariant(expr) => instances(model, expr, false),
        PropertyKind::Reachable(expr) => instances(model, expr, true),
        // A rendezvous can be faulty, too, and depends on the partner.
        PropertyKind::NoErrors => (model.processes.ids())
            .map(|process| {
                let processes = if model.channels.is_empty() { vec![process] } else { all.clone() };
                Question { processes, pattern: Pattern::Fault(process) }
            })
            .collect(),
        PropertyKind::DeadlockFree => vec![Question { processes: all, pattern: Pattern::Deadlock }],
        PropertyKind::RaceFree(var) => {
            pairs(&all).map(|(a, b)| Question { processes: vec![a, b], pattern: Pattern::Race(*var, a, b) }).collect()
        }
        PropertyKind::Temporal(_) => return None,
    })
}

fn pairs(all: &[ProcessId]) -> impl Iterator<Item = (ProcessId, ProcessId)> {
    all.iter().enumerate().flat_map(|(at, &a)| all[at + 1..].iter().map(move |&b| (a, b)))
}

/// The parts of an expression, each of which alone has the wanted truth value where the whole has it.
fn instances(model: &Model, expr: &Expr, wanted: bool) -> Vec<Question> {
    let mut splitter = Splitter {
        model,
        state: initial_states(model).next().expect("a program has an initial state"),
        bound: Vec::new(),
        found: Vec::new(),
    };
    splitter.split(expr, wanted);
    splitter.found
}

struct Splitter<'m> {
    model: &'m Model,
    /// Any state: domains and filters do not look at it.
    state: State,
    bound: Vec<Value>,
    found: Vec<Question>,
}

impl Splitter<'_> {
    fn split(&mut self, expr: &Expr, wanted: bool) {
        match &expr.kind {
            ExprKind::Not(inner) => self.split(inner, !wanted),
            ExprKind::Binary(BinaryOp::And, a, b) if !wanted => self.split_both(a, b, expr, wanted),
            ExprKind::Binary(BinaryOp::Or, a, b) if wanted => self.split_both(a, b, expr, wanted),
            ExprKind::Quantified(inner) if inner.quantifier == Quantifier::Forall && !wanted => {
                self.split_instances(inner, expr, wanted);
            }
            ExprKind::Quantified(inner) if inner.quantifier == Quantifier::Exists && wanted => {
                self.split_instances(inner, expr, wanted);
            }
            _ => self.ask(expr, wanted),
        }
    }

    /// The second part is only evaluated where the first does not decide; where it can be a fault that matters.
    fn split_both(&mut self, a: &Expr, b: &Expr, whole: &Expr, wanted: bool) {
        if can_fault(b) {
            return self.ask(whole, wanted);
        }
        self.split(a, wanted);
        self.split(b, wanted);
    }

    fn split_instances(&mut self, quantified: &Quantified, whole: &Expr, wanted: bool) {
        if can_fault(&quantified.body) {
            return self.ask(whole, wanted);
        }
        let depth = self.bound.len();
        self.split_bindings(&quantified.bindings, quantified, wanted);
        self.bound.truncate(depth);
    }

    fn split_bindings(&mut self, bindings: &[Binding], quantified: &Quantified, wanted: bool) {
        let Some((binding, inner)) = bindings.split_first() else {
            let mut view = Viewpoint::new(self.model, &self.state, None);
            view.bound.clone_from(&self.bound);
            let kept = quantified.filter.as_ref().is_none_or(|filter| view.truth(filter).unwrap_or(true));
            if kept {
                self.split(&quantified.body, wanted);
            }
            return;
        };
        let mut view = Viewpoint::new(self.model, &self.state, None);
        view.bound.clone_from(&self.bound);
        let values: Vec<Value> = view.domain(&binding.domain).into_iter().flatten().collect();
        for value in values {
            self.bound.truncate(binding.var.0 as usize);
            self.bound.push(value);
            self.split_bindings(inner, quantified, wanted);
        }
    }

    fn ask(&mut self, expr: &Expr, wanted: bool) {
        let mut processes = BTreeSet::new();
        self.mentioned(expr, &mut processes);
        let pattern = Pattern::Truth { expr: expr.clone(), bound: self.bound.clone(), wanted };
        self.found.push(Question { processes: processes.into_iter().collect(), pattern });
    }

    /// The processes whose local states the expression can look at.
    fn mentioned(&self, expr: &Expr, processes: &mut BTreeSet<ProcessId>) {
        match &expr.kind {
            ExprKind::Const(_) | ExprKind::Myself | ExprKind::Bound(_) => {}
            ExprKind::Read(access) => self.mentioned_by(access, processes),
            ExprKind::At { who, places, .. } => {
                self.mentioned(who, processes);
                match self.known(who) {
                    Some(process) => processes.extend([process]),
                    None => processes.extend(places.iter().flat_map(|&place| self.scope_of(place))),
                }
            }
            ExprKind::Not(inner)
            | ExprKind::Negate(inner)
            | ExprKind::IndexOf(inner)
            | ExprKind::ToProcess(_, inner) => {
                self.mentioned(inner, processes);
            }
            ExprKind::Binary(_, a, b) => {
                self.mentioned(a, processes);
                self.mentioned(b, processes);
            }
            ExprKind::If(test, yes, no) => {
                self.mentioned(test, processes);
                self.mentioned(yes, processes);
                self.mentioned(no, processes);
            }
            ExprKind::Quantified(inner) => {
                self.mentioned(&inner.body, processes);
                inner.filter.iter().for_each(|filter| self.mentioned(filter, processes));
            }
        }
    }

    fn mentioned_by(&self, access: &Access, processes: &mut BTreeSet<ProcessId>) {
        access.indices.iter().for_each(|index| self.mentioned(index, processes));
        let Whose::Of(who) = &access.whose else { return };
        self.mentioned(who, processes);
        if let Storage::Local(family) = self.model.vars[access.var].storage {
            match self.known(who) {
                Some(process) => processes.extend([process]),
                None => processes.extend(self.model.families[family].processes()),
            }
        }
    }

    /// The process that an expression means in every state, if it does.
    fn known(&self, who: &Expr) -> Option<ProcessId> {
        match &who.kind {
            ExprKind::Const(Value::Process(process)) => Some(*process),
            ExprKind::Bound(var) => match self.bound.get(var.0 as usize) {
                Some(Value::Process(process)) => Some(*process),
                _ => None,
            },
            ExprKind::ToProcess(family, inner) => match &inner.kind {
                ExprKind::Const(Value::Int(index)) => self.model.families[*family].process_at(*index),
                ExprKind::Bound(var) => match self.bound.get(var.0 as usize)? {
                    Value::Int(index) => self.model.families[*family].process_at(*index),
                    Value::Process(process) => Some(*process),
                    _ => None,
                },
                _ => self.known(inner),
            },
            _ => None,
        }
    }

    fn scope_of(&self, place: model::control::PlaceId) -> Vec<ProcessId> {
        match self.model.places[place].scope {
            model::control::Scope::Family(family) => self.model.families[family].processes().collect(),
            model::control::Scope::Procedure(_) => self.model.processes.ids().collect(),
        }
    }
}

/// Whether evaluating the expression can be a fault: it divides, computes with large numbers, indexes, or converts.
fn can_fault(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Const(_) | ExprKind::Myself | ExprKind::Bound(_) => false,
        ExprKind::Read(access) => {
            !access.indices.is_empty() || matches!(&access.whose, Whose::Of(who) if can_fault(who))
        }
        ExprKind::At { who, .. } => can_fault(who),
        ExprKind::Not(inner) => can_fault(inner),
        ExprKind::ToProcess(_, inner) => !matches!(inner.kind, ExprKind::Bound(_) | ExprKind::Const(_)),
        ExprKind::IndexOf(inner) => !matches!(inner.kind, ExprKind::Bound(_) | ExprKind::Myself),
        ExprKind::Binary(BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply, ..) => true,
        ExprKind::Binary(BinaryOp::Divide | BinaryOp::Remainder, ..) | ExprKind::Negate(_) => true,
        ExprKind::Binary(_, a, b) => can_fault(a) || can_fault(b),
        ExprKind::If(test, yes, no) => can_fault(test) || can_fault(yes) || can_fault(no),
        ExprKind::Quantified(inner) => can_fault(&inner.body) || inner.filter.as_ref().is_some_and(can_fault),
    }
}
