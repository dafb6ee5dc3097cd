//! Conditions of which a view shows a part.
//!
//! In: a boolean expression that speaks of more than a view shows, and the automaton of a violation. Out: at which rows the expression may have a truth, whatever is
//! not shown (Kleene's logic of three values: what is not shown is neither true nor false); and what every run that the automaton accepts does in each view in the end:
//! literals that all edges read on which it may go round, and those of the edges with a mark. So what a property says of all processes is known of each one by itself.

use std::collections::BTreeSet;

use evidence::plain::ReferenceAutomaton;
use model::eval::Viewpoint;
use model::expr::{BinaryOp, Expr, ExprKind, Quantified, Quantifier};
use model::value::Value;
use streett::{EdgeBits, StreettPair};

use crate::graph::ViewGraph;
use crate::items::{looked_at, reads_state};
use crate::views::{ViewIdx, Views};

/// An atom of an automaton, and its truth.
pub(crate) type Literal = (usize, bool);

/// At which rows of a view an expression may have a truth.
pub(crate) fn may_be(views: &mut Views<'_>, of: ViewIdx, (expr, bound): (&Expr, &[Value]), wanted: bool) -> Vec<bool> {
    let known = known(views, of, (expr, bound), wanted);
    known.unwrap_or_else(|| vec![true; views.list[of].rows.len()])
}

/// The same; `None` where the view shows nothing that says so.
fn known(views: &mut Views<'_>, of: ViewIdx, (expr, bound): (&Expr, &[Value]), wanted: bool) -> Option<Vec<bool>> {
    if let Some(truths) = shown(views, of, (expr, bound)) {
        return Some(truths.into_iter().map(|truth| truth.is_none_or(|truth| truth == wanted)).collect());
    }
    match &expr.kind {
        ExprKind::Not(inner) => known(views, of, (inner, bound), !wanted),
        ExprKind::Binary(op, left, right) => {
            let (left_is, is_and) = match op {
                BinaryOp::And => (wanted, true),
                BinaryOp::Or => (wanted, false),
                BinaryOp::Implies => (!wanted, false),
                _ => return None,
            };
            let left = known(views, of, (left, bound), left_is);
            let right = known(views, of, (right, bound), wanted);
            joined([left, right].into_iter(), is_and == wanted)
        }
        ExprKind::Quantified(quantified) => instances(views, of, (quantified, bound), wanted),
        _ => None,
    }
}

/// All of some parts, or one of them.
fn joined(parts: impl Iterator<Item = Option<Vec<bool>>>, are_all: bool) -> Option<Vec<bool>> {
    let mut joined: Option<Vec<bool>> = None;
    for part in parts {
        let Some(part) = part else {
            if are_all {
                continue;
            }
            return None;
        };
        joined = Some(match joined {
            None => part,
            Some(known) => {
                let join = |(one, other): (bool, bool)| if are_all { one && other } else { one || other };
                known.into_iter().zip(part).map(join).collect()
            }
        });
    }
    joined
}

fn instances(
    views: &mut Views<'_>,
    of: ViewIdx,
    (quantified, bound): (&Quantified, &[Value]),
    wanted: bool,
) -> Option<Vec<bool>> {
    let is_all = match quantified.quantifier {
        Quantifier::Forall => wanted,
        Quantifier::Exists => !wanted,
        Quantifier::Count => return None,
    };
    if quantified.filter.as_ref().is_some_and(reads_state) {
        return None;
    }
    let state = views.any_state();
    let mut bounds = vec![bound.to_vec()];
    for binding in &quantified.bindings {
        let mut longer = Vec::new();
        for bound in bounds {
            let around = &bound[..binding.var.0 as usize];
            let values = Viewpoint::of_instance(views.model, &state, around).domain(&binding.domain).ok()?;
            longer.extend(values.map(|value| [around, &[value]].concat()));
        }
        bounds = longer;
    }
    let is_meant = |bound: &Vec<Value>| match &quantified.filter {
        Some(filter) => Viewpoint::of_instance(views.model, &state, bound).truth(filter).ok(),
        None => Some(true),
    };
    let meant = bounds.iter().map(is_meant).collect::<Option<Vec<bool>>>()?;
    let bounds: Vec<Vec<Value>> = bounds.into_iter().zip(meant).filter_map(|(bound, is)| is.then_some(bound)).collect();
    if bounds.is_empty() {
        return Some(vec![is_all; views.list[of].rows.len()]);
    }
    joined(bounds.into_iter().map(|bound| known(views, of, (&quantified.body, &bound), wanted)), is_all)
}

/// The truth of an expression at each row, as far as it has one; `None` where the view does not show all that it reads.
fn shown(views: &mut Views<'_>, of: ViewIdx, (expr, bound): (&Expr, &[Value])) -> Option<Vec<Option<bool>>> {
    let items = looked_at(views.model, expr, bound)?;
    if !items.iter().all(|item| views.list[of].items.binary_search(item).is_ok()) {
        return None;
    }
    let (model, n_rows) = (views.model, views.list[of].rows.len());
    let truth = |row: usize| Viewpoint::of_instance(model, views.state(of, row as u32), bound).truth(expr).ok();
    Some((0..n_rows).map(truth).collect())
}

/// What is true in the end of every word that an automaton accepts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lasting {
    /// From some point on always.
    pub always: Vec<Literal>,
    /// For each mark, together again and again.
    pub often: Vec<Vec<Literal>>,
}

/// What is true in the end of every word that an automaton accepts: it goes round among states that reach each other, and takes an edge with each mark.
pub(crate) fn lasting(automaton: &ReferenceAutomaton) -> Lasting {
    let n_states = automaton.states.len();
    let mut reached: Vec<BTreeSet<usize>> = Vec::new();
    for state in 0..n_states {
        let mut seen = BTreeSet::new();
        let mut open = vec![state];
        while let Some(at) = open.pop() {
            open.extend(automaton.states[at].iter().map(|edge| edge.target).filter(|&target| seen.insert(target)));
        }
        reached.push(seen);
    }
    let mut always: Option<BTreeSet<Literal>> = None;
    let mut often: Vec<Option<BTreeSet<Literal>>> = vec![None; automaton.n_marks];
    let narrow = |known: &mut Option<BTreeSet<Literal>>, literals: &[Literal]| match known {
        Some(known) => known.retain(|literal| literals.contains(literal)),
        None => *known = Some(literals.iter().copied().collect()),
    };
    for state in 0..n_states {
        let inside = |other: usize| reached[state].contains(&other) && reached[other].contains(&state);
        let round: Vec<_> = (0..n_states)
            .filter(|&other| inside(other))
            .flat_map(|other| &automaton.states[other])
            .filter(|edge| inside(edge.target))
            .collect();
        if !(0..automaton.n_marks).all(|mark| round.iter().any(|edge| edge.marks.contains(&mark))) {
            continue;
        }
        for edge in round {
            narrow(&mut always, &edge.literals);
            edge.marks.iter().for_each(|&mark| narrow(&mut often[mark], &edge.literals));
        }
    }
    let listed = |known: Option<BTreeSet<Literal>>| known.into_iter().flatten().collect();
    Lasting { always: listed(always), often: often.into_iter().map(listed).collect() }
}

/// What that demands of the edges of a view, where the view shows something of it.
pub(crate) fn lasting_conditions(
    views: &mut Views<'_>,
    (of, graph): (ViewIdx, &ViewGraph),
    automaton: &ReferenceAutomaton,
) -> Vec<StreettPair> {
    let Lasting { always, often } = lasting(automaton);
    let mut rows = |literals: &[Literal]| {
        let known = literals.iter().map(|&(atom, wanted)| {
            let atom = &automaton.atoms[atom];
            known(views, of, (&atom.expr, &atom.bound), wanted)
        });
        joined(known.collect::<Vec<_>>().into_iter(), true).filter(|rows| rows.contains(&false))
    };
    let n_edges = graph.graph.n_edges();
    let mut found = Vec::new();
    if let Some(stays) = rows(&always) {
        found.push(StreettPair { stays: Some(stays), often: EdgeBits::none(n_edges) });
    }
    for literals in often {
        if let Some(rows) = rows(&literals) {
            let often = EdgeBits::where_true(n_edges, |edge| rows[graph.graph.arc(edge).from as usize]);
            found.push(StreettPair { stays: None, often });
        }
    }
    found
}
