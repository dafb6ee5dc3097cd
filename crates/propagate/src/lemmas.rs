//! Lemmas: what was refuted of one process is an assumption for refutations that follow.
//!
//! In: the automaton of a violation that no fair run has. Out: what every fair run does then, as a condition on the edges of a view. An automaton
//! that waits, reads a state that satisfies `asked`, and then for ever states that satisfy `unanswered` accepts every run in which `asked` holds
//! again and again and `unanswered` from some point on. So a fair run satisfies `asked` from some point on never, or again and again not
//! `unanswered`: a Streett pair. `a ~> b` and `always eventually b` are violated like this.
//! Where every path of the view to a row has asked and was not answered since, the row counts as one that asks: a process that has one of two forks was
//! hungry before, and did not eat since.

use base::StopReason;
use evidence::plain;
use evidence::propagation::{EdgeOwner, RefutationStep};
use streett::{EdgeBits, MarkedGraph, StreettPair};

use crate::conditions::truths;
use crate::graph::ViewGraph;
use crate::views::{ViewIdx, Views};

/// What a run does that violates a property by waiting in vain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// What is true when it asks: atoms and their values.
    pub asked: Vec<(usize, bool)>,
    /// What is true from then on.
    pub unanswered: Vec<(usize, bool)>,
}

/// How an automaton accepts a process that waits in vain, if that is what it does.
pub fn response(automaton: &plain::ReferenceAutomaton) -> Option<Response> {
    let waits = automaton.states.first()?;
    if !waits.iter().any(|edge| edge.target == 0 && edge.literals.is_empty()) {
        return None;
    }
    let lasts = |state: usize| {
        let is_loop = |edge: &&plain::ReferenceEdge| edge.target == state && edge.marks.len() == automaton.n_marks;
        automaton.states[state].iter().find(is_loop).map(|edge| edge.literals.clone())
    };
    waits
        .iter()
        .filter(|edge| edge.target != 0)
        .find_map(|edge| Some(Response { asked: edge.literals.clone(), unanswered: lasts(edge.target)? }))
}

/// What every fair run does in a view, where no fair run waits in vain; `None` where the view does not show it.
///
/// # Errors
/// An atom without a value at some row.
pub fn lemma(
    views: &mut Views<'_>,
    (of, graph): (ViewIdx, &ViewGraph),
    automaton: &plain::ReferenceAutomaton,
) -> Result<Option<StreettPair>, StopReason> {
    let Some(response) = response(automaton) else { return Ok(None) };
    let mut atoms = Vec::new();
    for atom in &automaton.atoms {
        match truths(views, of, &atom.expr, &atom.bound)? {
            Some(truths) => atoms.push(truths),
            None => return Ok(None),
        }
    }
    let holds = |literals: &[(usize, bool)], row: usize| literals.iter().all(|&(atom, is)| atoms[atom][row] == is);
    let n_rows = views.list[of].rows.len();
    let asks: Vec<bool> = (0..n_rows).map(|row| holds(&response.asked, row)).collect();
    let waits: Vec<bool> = (0..n_rows).map(|row| holds(&response.unanswered, row)).collect();
    let may_be_idle = idle_rows(&views.list[of].initial, &graph.graph, |row| (asks[row], waits[row]));
    let stays = (0..n_rows).map(|row| !asks[row] && may_be_idle[row]).collect();
    let answers = |edge: usize| !holds(&response.unanswered, graph.graph.arc(edge).from as usize);
    let often = EdgeBits::where_true(graph.graph.n_edges(), answers);
    Ok(Some(StreettPair { stays: Some(stays), often }))
}

/// The rows to which a path may lead on which nothing was asked, or all that was asked was answered. A row says whether it asks, and whether a process that
/// waits goes on waiting after it.
fn idle_rows(initial: &[u32], graph: &MarkedGraph, says: impl Fn(usize) -> (bool, bool)) -> Vec<bool> {
    let mut idle = vec![false; graph.n_nodes()];
    let answers = (0..graph.n_nodes()).filter(|&row| says(row) == (false, false));
    let answered = answers.flat_map(|row| graph.leaving(row)).map(|&edge| graph.arc(edge as usize).to);
    let mut open: Vec<u32> = initial.iter().copied().chain(answered).collect();
    while let Some(row) = open.pop() {
        let row = row as usize;
        if !std::mem::replace(&mut idle[row], true) && !says(row).0 {
            open.extend(graph.leaving(row).iter().map(|&edge| graph.arc(edge as usize).to));
        }
    }
    idle
}

/// The spots whose fair components steps use.
pub fn looked_at(steps: &[RefutationStep], found: &mut Vec<EdgeOwner>) {
    for step in steps {
        match step {
            RefutationStep::Fair(spot) => found.push(*spot),
            RefutationStep::Compatible { .. } | RefutationStep::Unequal(_) | RefutationStep::Single(_) => {}
            RefutationStep::Split { of, cases } => {
                found.push(*of);
                cases.iter().for_each(|case| looked_at(&case.steps, found));
            }
            RefutationStep::Holder { cases, .. } | RefutationStep::Scheduled(cases) => {
                cases.iter().for_each(|case| looked_at(&case.steps, found));
            }
        }
    }
}
