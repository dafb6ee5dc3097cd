//! Symmetric violations: a permutation of processes takes one to the other.
//!
//! In: a Model all of whose families `model::symmetry` finds symmetric, and two violations, as claims are about them. Out: the permutation
//! of processes that takes the first to the second, if there is one and its forms show it: processes are named by bound variables alone, and numbers that differ are used for nothing but to name processes. What excludes one violation
//! excludes its images, so that `forall i` costs one proof.

use std::collections::BTreeSet;

use base::Span;
use evidence::certificate::{ClaimedSymmetry, Exchanged, ProcessDimension};
use evidence::plain::ReferenceViolation;
use model::Model;
use model::control::{Stmt, StmtKind};
use model::expr::{Access, BinaryOp, Binding, Domain, Expr, ExprKind, Whose};
use model::fairness::{EdgePredicate, FairnessId, FairnessPair, StatePredicate};
use model::process::{FamilyId, ProcessId};
use model::symmetry::{asymmetries, expr_asymmetries, process_dimensions};
use model::types::ScalarType;
use model::value::Value;
use model::variable::VarId;
use model::visit::each_part;
use rustc_hash::{FxHashMap, FxHashSet};

/// The permutations of processes that a program allows: all within one family.
#[derive(Clone, Debug)]
pub struct Exchanges<'m> {
    model: &'m Model,
    /// The dimensions of arrays with an element for each process of a family.
    dimensions: BTreeSet<(VarId, usize, FamilyId)>,
}

impl<'m> Exchanges<'m> {
    /// Those of a program; `None` where it distinguishes processes of some family, or has no family of two processes.
    pub fn of(model: &'m Model) -> Option<Self> {
        let mut families = model.families.entries().filter(|(_, family)| family.count() > 1).peekable();
        families.peek()?;
        let mut dimensions = BTreeSet::new();
        let scans = scans(model);
        let is_in_scan = |span: Span| scans.iter().any(|scan| scan.start <= span.start && span.end <= scan.end);
        for (id, _) in families {
            if asymmetries(model, id).iter().any(|asymmetry| !is_in_scan(asymmetry.span)) {
                return None;
            }
            dimensions.extend(process_dimensions(model, id).into_iter().map(|(var, dimension)| (var, dimension, id)));
        }
        Some(Exchanges { model, dimensions })
    }

    /// That one violation is the image of another, if its forms show it.
    pub fn image(&self, from: &ReferenceViolation, to: &ReferenceViolation) -> Option<Exchanged> {
        let (one, other) = (&from.automaton, &to.automaton);
        if one.states != other.states || one.n_marks != other.n_marks || one.atoms.len() != other.atoms.len() {
            return None;
        }
        let mut goes: Vec<(ProcessId, ProcessId)> = Vec::new();
        for (atom, other) in one.atoms.iter().zip(&other.atoms) {
            if atom.expr != other.expr || atom.bound.len() != other.bound.len() {
                return None;
            }
            PropositionPairing { exchanges: self, bound: &atom.bound, other_bound: &other.bound, goes: &mut goes }
                .value(&atom.expr)?;
        }
        let swaps = swaps(&goes)?;
        let known: FxHashSet<PairKey<'_>> = to.fairness.iter().map(|&id| self.key(id, &|process| process)).collect();
        let moved = moves(&swaps);
        let image = |process: ProcessId| moved.get(&process).copied().unwrap_or(process);
        let images: FxHashSet<PairKey<'_>> = from.fairness.iter().map(|&id| self.key(id, &image)).collect();
        // What is assumed beside them has a value: a run in which it has none decides nothing.
        let has_value = |id: FairnessId| {
            !self.model.fairness[id].can_fault_at_some_size() || images.contains(&self.key(id, &|process| process))
        };
        if !images.iter().all(|image| known.contains(image)) || !to.fairness.iter().all(|&id| has_value(id)) {
            return None;
        }
        let dimension =
            |&(var, dimension, family): &(VarId, usize, FamilyId)| ProcessDimension { var, dimension, family };
        let symmetry = ClaimedSymmetry { dimensions: self.dimensions.iter().map(dimension).collect() };
        Some(Exchanged { violation: to.name(self.model), swaps, symmetry })
    }

    /// Whether permutations move elements of arrays, too.
    pub fn moves_arrays(&self) -> bool {
        !self.dimensions.is_empty()
    }

    /// Whether a permutation takes fairness assumptions to each other.
    pub fn keeps(&self, fairness: &[FairnessId], image: &dyn Fn(ProcessId) -> ProcessId) -> bool {
        let known: FxHashSet<PairKey<'_>> = fairness.iter().map(|&id| self.key(id, &|process| process)).collect();
        fairness.iter().all(|&id| known.contains(&self.key(id, image)))
    }

    /// For each violation the first one of which it is the image, by its position.
    pub fn images(&self, violations: &[&ReferenceViolation]) -> Vec<Option<(usize, Exchanged)>> {
        let mut found: Vec<Option<(usize, Exchanged)>> = Vec::new();
        let mut firsts: Vec<usize> = Vec::new();
        for (at, violation) in violations.iter().enumerate() {
            let image = { firsts.iter() }.find_map(|&first| Some((first, self.image(violations[first], violation)?)));
            if image.is_none() {
                firsts.push(at);
            }
            found.push(image);
        }
        found
    }

    /// A fairness assumption after a permutation; one with expressions is its own image alone, if these are symmetric.
    fn key(&self, id: FairnessId, image: &dyn Fn(ProcessId) -> ProcessId) -> PairKey<'m> {
        let FairnessPair { always, often, .. } = &self.model.fairness[id];
        let state = |predicate: &'m StatePredicate| match predicate {
            StatePredicate::Unable(process, labels) => PredicateKey::Unable(image(*process), labels.as_deref()),
            StatePredicate::NobodyAble => PredicateKey::NobodyAble,
            StatePredicate::Holds(expr) | StatePredicate::Fails(expr) => {
                PredicateKey::Expr(id, !self.is_alike(expr) && self.moves_somebody(image))
            }
        };
        let edge = |predicate: &'m EdgePredicate| match predicate {
            EdgePredicate::Before(predicate) => PredicateKey::Before(Box::new(state(predicate))),
            EdgePredicate::Scheduled(process) => PredicateKey::Scheduled(image(*process)),
            EdgePredicate::Moves(process, labels) => PredicateKey::Moves(image(*process), labels.as_deref()),
            EdgePredicate::SomebodyMoves => PredicateKey::SomebodyMoves,
        };
        PairKey { always: always.as_ref().map(state), often: often.iter().map(edge).collect() }
    }

    fn moves_somebody(&self, image: &dyn Fn(ProcessId) -> ProcessId) -> bool {
        self.model.processes.ids().any(|process| image(process) != process)
    }

    /// Whether an expression with no variables bound around it is symmetric in the processes of each family.
    fn is_alike(&self, expr: &Expr) -> bool {
        let mut families = self.model.families.entries().filter(|(_, family)| family.count() > 1);
        families.all(|(id, _)| expr_asymmetries(self.model, id, expr).is_empty())
    }
}

/// The spans of loops over all processes of a family that keep the greatest or least of an own number and one of each: their order does not matter.
fn scans(model: &Model) -> Vec<Span> {
    let mut found = Vec::new();
    let mut open: Vec<&Stmt> = model.actions.iter().flat_map(|action| &action.body).collect();
    while let Some(stmt) = open.pop() {
        match &stmt.kind {
            StmtKind::For(binding, block) if is_scan(model, binding, block) => found.push(stmt.span),
            StmtKind::For(_, block) => open.extend(block),
            StmtKind::If(_, yes, no) => open.extend(yes.iter().chain(no)),
            StmtKind::Either(blocks) => open.extend(blocks.iter().flatten()),
            _ => {}
        }
    }
    found
}

fn is_scan(model: &Model, binding: &Binding, block: &[Stmt]) -> bool {
    let Domain::Family(family) = binding.domain else { return false };
    let [Stmt { kind: StmtKind::Assign(assigned), .. }] = block else { return false };
    let [(own, value)] = &assigned[..] else { return false };
    let ExprKind::Binary(BinaryOp::Min | BinaryOp::Max, left, right) = &value.kind else { return false };
    let read = |expr: &Expr| if let ExprKind::Read(access) = &expr.kind { Some(access.clone()) } else { None };
    let (Some(left), Some(right)) = (read(left), read(right)) else { return false };
    let theirs = match (left == *own, right == *own) {
        (true, false) => right,
        (false, true) => left,
        _ => return false,
    };
    let is_bound = |expr: &Expr| matches!(expr.kind, ExprKind::Bound(var) if var == binding.var);
    let is_each = |who: &Expr| match &who.kind {
        ExprKind::ToProcess(of, part) => {
            *of == family && (is_bound(part) || matches!(&part.kind, ExprKind::IndexOf(who) if is_bound(who)))
        }
        _ => is_bound(who),
    };
    let range = |access: &Access| match model.vars[access.var].ty.scalar() {
        ScalarType::Range { lo, hi } if access.indices.is_empty() => Some((lo, hi)),
        _ => None,
    };
    let fits = range(own).zip(range(&theirs)).is_some_and(|(own, theirs)| own.0 <= theirs.0 && theirs.1 <= own.1);
    let of_each = matches!(&theirs.whose, Whose::Of(who) if is_each(who));
    matches!(own.whose, Whose::Mine) && of_each && fits
}

/// A fairness assumption, to be compared with others.
#[derive(PartialEq, Eq, Hash)]
struct PairKey<'m> {
    always: Option<PredicateKey<'m>>,
    often: Vec<PredicateKey<'m>>,
}

#[derive(PartialEq, Eq, Hash)]
enum PredicateKey<'m> {
    Unable(ProcessId, Option<&'m [String]>),
    NobodyAble,
    /// An expression of this assumption; whether the permutation may change it.
    Expr(FairnessId, bool),
    Before(Box<PredicateKey<'m>>),
    Scheduled(ProcessId),
    Moves(ProcessId, Option<&'m [String]>),
    SomebodyMoves,
}

/// Compares one proposition of two violations.
struct PropositionPairing<'p, 'm> {
    exchanges: &'p Exchanges<'m>,
    bound: &'p [Value],
    other_bound: &'p [Value],
    /// Which processes have to go where.
    goes: &'p mut Vec<(ProcessId, ProcessId)>,
}

impl PropositionPairing<'_, '_> {
    /// An expression of any kind; `None` where its form does not show that the permutation takes it to the other one.
    fn value(&mut self, expr: &Expr) -> Option<()> {
        match &expr.kind {
            ExprKind::Const(Value::Process(_)) | ExprKind::Myself | ExprKind::IndexOf(_) => None,
            ExprKind::Const(_) | ExprKind::Parameter(_) => Some(()),
            ExprKind::Bound(var) => match (*self.bound.get(var.0 as usize)?, *self.other_bound.get(var.0 as usize)?) {
                (Value::Process(one), Value::Process(other)) => self.process(one, other),
                (one, other) => (one == other).then_some(()),
            },
            ExprKind::Read(access) => self.access(access),
            ExprKind::At { who, .. } => self.value(who),
            ExprKind::Not(part) | ExprKind::Negate(part) => self.value(part),
            ExprKind::Binary(_, left, right) => {
                self.value(left)?;
                self.value(right)
            }
            ExprKind::If(test, yes, no) => {
                self.value(test)?;
                self.value(yes)?;
                self.value(no)
            }
            ExprKind::Quantified(_) => self.closed(expr),
            ExprKind::ToProcess(family, part) => self.named(*family, part),
        }
    }

    fn process(&mut self, one: ProcessId, other: ProcessId) -> Option<()> {
        let family = |process: ProcessId| self.exchanges.model.processes[process].family;
        if family(one) != family(other) {
            return None;
        }
        self.goes.push((one, other));
        Some(())
    }

    /// A number that names a process.
    fn named(&mut self, family: FamilyId, part: &Expr) -> Option<()> {
        let ExprKind::Bound(var) = &part.kind else { return None };
        let family = &self.exchanges.model.families[family];
        let values = (*self.bound.get(var.0 as usize)?, *self.other_bound.get(var.0 as usize)?);
        let process = |value: Value| match value {
            Value::Process(process) => Some(process),
            Value::Int(index) => family.process_at(index),
            _ => None,
        };
        self.process(process(values.0)?, process(values.1)?)
    }

    fn access(&mut self, access: &Access) -> Option<()> {
        if let Whose::Of(who) = &access.whose {
            self.value(who)?;
        }
        for (dimension, index) in access.indices.iter().enumerate() {
            let of_processes = self.exchanges.dimensions.iter().any(|one| (one.0, one.1) == (access.var, dimension));
            match (&index.kind, of_processes) {
                (ExprKind::IndexOf(who), true) if matches!(who.kind, ExprKind::Bound(_)) => self.value(who)?,
                (_, true) => return None,
                (_, false) => self.value(index)?,
            }
        }
        Some(())
    }

    /// An expression that no variable outside of it is part of.
    fn closed(&mut self, expr: &Expr) -> Option<()> {
        let mut is_open = false;
        let n_bound = self.bound.len();
        each_part(expr, &mut |part| {
            is_open |= matches!(&part.kind, ExprKind::Bound(var) if (var.0 as usize) < n_bound);
        });
        (!is_open && n_bound == 0 && self.exchanges.is_alike(expr)).then_some(())
    }
}

/// Transpositions of processes that take the first of each pair to the second, one after the other.
fn swaps(goes: &[(ProcessId, ProcessId)]) -> Option<Vec<[ProcessId; 2]>> {
    let mut swaps: Vec<[ProcessId; 2]> = Vec::new();
    for &(from, to) in goes {
        let now = moves(&swaps).get(&from).copied().unwrap_or(from);
        if now != to {
            swaps.push([now, to]);
        }
    }
    let moved = moves(&swaps);
    goes.iter().all(|(from, to)| moved.get(from).unwrap_or(from) == to).then_some(swaps)
}

/// Where the processes go that do not stay.
fn moves(swaps: &[[ProcessId; 2]]) -> FxHashMap<ProcessId, ProcessId> {
    let mut goes: FxHashMap<ProcessId, ProcessId> = swaps.iter().flatten().map(|&process| (process, process)).collect();
    for &[one, other] in swaps {
        for to in goes.values_mut() {
            *to = if *to == one {
                other
            } else if *to == other {
                one
            } else {
                *to
            };
        }
    }
    goes.retain(|from, to| from != to);
    goes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exchanges_of_two_take_each_process_where_it_has_to_go() {
        let process = ProcessId::new;
        let pairs = |list: &[(usize, usize)]| -> Vec<(ProcessId, ProcessId)> {
            list.iter().map(|&(from, to)| (process(from), process(to))).collect()
        };
        for list in [&[(0, 1), (1, 0)][..], &[(0, 2), (1, 0)], &[(0, 1), (1, 2), (2, 0)], &[(0, 3), (0, 3)], &[]] {
            let goes = pairs(list);
            let found = swaps(&goes).expect("there is such an exchange");
            let moved = moves(&found);
            assert!(goes.iter().all(|(from, to)| moved.get(from).unwrap_or(from) == to), "{list:?}");
        }
        assert_eq!(swaps(&pairs(&[(0, 1), (0, 2)])), None);
        assert_eq!(swaps(&pairs(&[(0, 2), (1, 2)])), None);
    }
}
