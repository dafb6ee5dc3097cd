//! Conditions of which a view shows a part, by definition: true, false, or not known at each row.
//!
//! In: a view; an expression, or the automaton of a violation. Out: the value of the expression at each row, unknown where it depends on what the view does not show, or
//! where it has none; and conditions that every run which the automaton accepts satisfies in the view, whatever the view does not show.

use evidence::plain::{ReferenceAutomaton, ReferenceEdge};
use model::expr::{BinaryOp, Expr, ExprKind, Quantifier};
use model::value::Value;

use super::conditions::Judge;
use super::edges::{Condition, Edge};
use super::views::View;

/// True, false, or not known.
type Verdict = Option<bool>;

/// One of two, where that is `decisive`; otherwise the opposite where both are known.
fn either(one: Verdict, other: Verdict, decisive: bool) -> Verdict {
    match (one, other) {
        (Some(value), _) | (_, Some(value)) if value == decisive => Some(decisive),
        (Some(_), Some(_)) => Some(!decisive),
        _ => None,
    }
}

fn each(one: Vec<Verdict>, other: &[Verdict], decisive: bool) -> Vec<Verdict> {
    one.into_iter().zip(other).map(|(one, &other)| either(one, other, decisive)).collect()
}

impl Judge<'_, '_> {
    /// The value of an expression at each row.
    pub fn values(&self, view: &View, expr: &Expr, bound: &[Value]) -> Vec<Verdict> {
        let n_rows = view.rows.len();
        let unknown = vec![None; n_rows];
        if let Some(truths) = self.truths(view, expr, bound) {
            return truths;
        }
        match &expr.kind {
            ExprKind::Not(inner) => negated(self.values(view, inner, bound)),
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (|| self.values(view, left, bound), || self.values(view, right, bound));
                match op {
                    BinaryOp::And => each(left(), &right(), false),
                    BinaryOp::Or => each(left(), &right(), true),
                    BinaryOp::Implies => each(negated(left()), &right(), true),
                    _ => unknown,
                }
            }
            ExprKind::Quantified(quantified) => {
                let decisive = match quantified.quantifier {
                    Quantifier::Forall => false,
                    Quantifier::Exists => true,
                    Quantifier::Count => return unknown,
                };
                let mut all = vec![Some(!decisive); n_rows];
                let mut is_followed = true;
                let listed = self.splitter.bind_each(&quantified.bindings, bound.to_vec(), &mut |bound| {
                    let is_meant = match &quantified.filter {
                        None => Some(true),
                        Some(filter) => match self.splitter.constant(filter, &bound) {
                            Some(Ok(Value::Bool(truth))) => Some(truth),
                            _ => None,
                        },
                    };
                    match is_meant {
                        Some(true) => {
                            let one = self.values(view, &quantified.body, &bound);
                            all = each(std::mem::take(&mut all), &one, decisive);
                        }
                        Some(false) => {}
                        None => is_followed = false,
                    }
                    Ok(())
                });
                if listed.is_ok() && is_followed { all } else { unknown }
            }
            _ => unknown,
        }
    }

    /// At which rows literals may be true together.
    fn may_all_hold(&self, view: &View, automaton: &ReferenceAutomaton, literals: &[(usize, bool)]) -> Vec<bool> {
        let mut may = vec![true; view.rows.len()];
        for &(atom, wanted) in literals {
            let atom = &automaton.atoms[atom];
            let values = self.values(view, &atom.expr, &atom.bound);
            may.iter_mut().zip(values).for_each(|(may, value)| *may &= value != Some(!wanted));
        }
        may
    }

    /// What the automaton's acceptance demands of the edges of a view.
    pub fn lasting(&self, view: &View, edges: &[Edge], automaton: &ReferenceAutomaton) -> Vec<Condition> {
        let round = round(automaton);
        let literals = |of: &[&ReferenceEdge]| -> Vec<(usize, bool)> {
            let all = (0..automaton.atoms.len()).flat_map(|atom| [(atom, false), (atom, true)]);
            all.filter(|literal| !of.is_empty() && of.iter().all(|edge| edge.literals.contains(literal))).collect()
        };
        let mut found = Vec::new();
        let always = self.may_all_hold(view, automaton, &literals(&round));
        if always.contains(&false) {
            found.push(Condition { stays: Some(always), often: vec![false; edges.len()] });
        }
        for mark in 0..automaton.n_marks {
            let marked: Vec<&ReferenceEdge> = round.iter().copied().filter(|edge| edge.marks.contains(&mark)).collect();
            let may = self.may_all_hold(view, automaton, &literals(&marked));
            if may.contains(&false) {
                found.push(Condition { stays: None, often: edges.iter().map(|edge| may[edge.from]).collect() });
            }
        }
        found
    }
}

fn negated(values: Vec<Verdict>) -> Vec<Verdict> {
    values.into_iter().map(|value| value.map(|value| !value)).collect()
}

/// The edges that a run can take again and again and be accepted: between states that lead to each other, by edges with all marks.
fn round(automaton: &ReferenceAutomaton) -> Vec<&ReferenceEdge> {
    let n = automaton.states.len();
    // By Warshall's algorithm.
    let mut leads = vec![vec![false; n]; n];
    for (from, edges) in automaton.states.iter().enumerate() {
        edges.iter().for_each(|edge| leads[from][edge.target] = true);
    }
    for by in 0..n {
        for from in 0..n {
            if leads[from][by] {
                let further = leads[by].clone();
                leads[from].iter_mut().zip(further).for_each(|(leads, further)| *leads |= further);
            }
        }
    }
    let within = |state: usize| -> Vec<&ReferenceEdge> {
        let together = |other: usize| leads[state][other] && leads[other][state];
        let from_there = automaton.states.iter().enumerate().filter(|(other, _)| together(*other));
        from_there.flat_map(|(_, edges)| edges).filter(|edge| together(edge.target)).collect()
    };
    let is_accepting = |state: usize| {
        let edges = within(state);
        (0..automaton.n_marks).all(|mark| edges.iter().any(|edge| edge.marks.contains(&mark)))
    };
    (0..n).filter(|&state| is_accepting(state)).flat_map(within).collect()
}
