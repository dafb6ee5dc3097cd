//! Formulas to automata.
//!
//! In: a formula. Out: an automaton that accepts exactly the words that satisfy it. The formula is simplified, expanded to a
//! tableau, and the tableau reduced: dead ends and superfluous marks go, states that simulate each other become one, and for
//! obligations the smallest deterministic automaton is tried. A budget, or a limit on the states, ends it with a reason.

use base::{Budget, StopReason};
use rustc_hash::FxHashMap;

use crate::automaton::Automaton;
use crate::classes::Classes;
use crate::diagram::{DiagramResult, Diagrams};
use crate::formula::{Binary, Formula, FormulaId, Formulas, Unary};
use crate::graph::AutomatonGraph;
use crate::reduce::{self, merge::Marks};
use crate::simplify::Simplifier;
use crate::tableau;

/// How runs are accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Acceptance {
    /// Several marks, on edges: the smallest automata.
    #[default]
    Generalised,
    /// One mark, on edges.
    Buchi,
    /// One mark, on states: all edges of a state carry it, or none.
    StateBuchi,
}

/// What is wanted, and limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Translation {
    /// How runs are accepted.
    pub acceptance: Acceptance,
    /// Simplify the formula first.
    pub simplifies: bool,
    /// Reduce the automaton afterwards.
    pub reduces: bool,
    /// The most states that the tableau may have.
    pub max_states: usize,
    /// The most nodes of decision diagrams.
    pub max_nodes: usize,
}

impl Default for Translation {
    fn default() -> Self {
        Translation {
            acceptance: Acceptance::Generalised,
            simplifies: true,
            reduces: true,
            max_states: 10_000,
            max_nodes: 1_000_000,
        }
    }
}

/// Limits on the automaton of the negation, which is only made to learn whether the formula is an obligation.
const MAX_OPPOSITE_STATES: usize = 500;
const MAX_OPPOSITE_NODES: usize = 200_000;

/// An automaton of a formula.
///
/// # Errors
/// The reason to stop, where the automaton would be larger, or the work longer, than is allowed.
pub fn translate(
    formulas: &mut Formulas,
    root: FormulaId,
    translation: &Translation,
    budget: &Budget,
) -> DiagramResult<Automaton> {
    let too_large = |reason| match reason {
        StopReason::NodeLimit(_) => StopReason::AutomatonLimit(translation.max_states as u64),
        other => other,
    };
    translate_within(formulas, root, translation, budget).map_err(too_large)
}

/// The work itself; a limit on nodes is reported as one on the size of the automaton.
fn translate_within(
    formulas: &mut Formulas,
    root: FormulaId,
    translation: &Translation,
    budget: &Budget,
) -> DiagramResult<Automaton> {
    let mut simplifier = Simplifier::new(formulas);
    let root = match translation.simplifies {
        true => simplifier.simplify(root),
        false => simplifier.normal_form(root),
    };
    let mut diagrams = Diagrams::new(translation.max_nodes);
    let mut graph = graph_of(&mut simplifier, &mut diagrams, root, (translation, budget))?;
    let mut opposite = None;
    if translation.reduces && graph.states.len() > 1 {
        let made = negated(&mut simplifier, root, translation, budget)?;
        opposite = made.map(|automaton| AutomatonGraph::from_automaton(&automaton, &mut diagrams)).transpose()?;
        let is_obligation = simplifier.class(root).is_obligation;
        let mut work = reduce::ReductionWork { diagrams: &mut diagrams, budget };
        if is_obligation || opposite.is_some() {
            let judge = opposite.as_ref().filter(|_| !is_obligation);
            graph = reduce::obligation::smaller(&mut work, graph, judge)?;
        }
        if let Some(opposite) = &opposite {
            graph = reduce::with_fewer_states(&mut work, graph, (opposite, Marks::Arcs), reduce::reduce)?;
        }
    }
    let mut work = reduce::ReductionWork { diagrams: &mut diagrams, budget };
    graph = in_form(&mut work, graph, opposite.as_ref(), translation)?;
    graph.into_automaton(&mut diagrams)
}

/// The graph of a formula in negation normal form, reduced if that is wanted.
fn graph_of(
    simplifier: &mut Simplifier<'_>,
    diagrams: &mut Diagrams,
    root: FormulaId,
    (translation, budget): (&Translation, &Budget),
) -> DiagramResult<AutomatonGraph> {
    let root = if translation.simplifies { gather(simplifier.formulas, root) } else { root };
    let graph = tableau::build(simplifier, diagrams, root, (translation.max_states, budget))?;
    match translation.reduces {
        true => reduce::reduce(&mut reduce::ReductionWork { diagrams, budget }, graph),
        false => Ok(graph),
    }
}

/// An automaton of the negation, with diagrams of its own: if it is too large, the formula is translated without it.
fn negated(
    simplifier: &mut Simplifier<'_>,
    root: FormulaId,
    translation: &Translation,
    budget: &Budget,
) -> DiagramResult<Option<Automaton>> {
    let negation = simplifier.negation(root);
    let small = Translation { max_states: MAX_OPPOSITE_STATES, ..*translation };
    let mut diagrams = Diagrams::new(MAX_OPPOSITE_NODES);
    let made = graph_of(simplifier, &mut diagrams, negation, (&small, budget))
        .and_then(|graph| graph.into_automaton(&mut diagrams));
    match made {
        Ok(automaton) => Ok(Some(automaton)),
        Err(StopReason::NodeLimit(_) | StopReason::AutomatonLimit(_)) => Ok(None),
        Err(reason) => Err(reason),
    }
}

/// A smaller automaton of the same words, in the wanted form.
///
/// # Errors
/// The reason to stop.
pub fn reduce_automaton(automaton: &Automaton, translation: &Translation, budget: &Budget) -> DiagramResult<Automaton> {
    let mut diagrams = Diagrams::new(translation.max_nodes);
    let mut graph = AutomatonGraph::from_automaton(automaton, &mut diagrams)?;
    let mut work = reduce::ReductionWork { diagrams: &mut diagrams, budget };
    if translation.reduces {
        graph = reduce::reduce(&mut work, graph)?;
    }
    graph = in_form(&mut work, graph, None, translation)?;
    graph.into_automaton(&mut diagrams)
}

/// `F f || F g || q`, q suspendable, as `F (f || g || q)`: one state can wait for all of them.
///
/// For a simplifier this is the wrong direction, since `q` comes out from under operators; for an automaton it is the right one.
fn gather(formulas: &mut Formulas, root: FormulaId) -> FormulaId {
    let mut classes = Classes::default();
    let mut gathered: FxHashMap<FormulaId, FormulaId> = FxHashMap::default();
    for id in formulas.with_parts(root) {
        let known = |part: &FormulaId| gathered[part];
        let new = match formulas.get(id).clone() {
            Formula::True | Formula::False | Formula::Atom(_) => id,
            Formula::Unary(Unary::Always, part) => gather_always(formulas, &mut classes, known(&part)),
            Formula::Unary(operator, part) => formulas.unary(operator, known(&part)),
            Formula::Binary(operator, left, right) => formulas.binary(operator, known(&left), known(&right)),
            Formula::And(parts) => formulas.and(parts.iter().map(known)),
            Formula::Or(parts) => {
                let parts: Vec<FormulaId> = parts.iter().map(known).collect();
                gather_choices(formulas, &mut classes, parts)
            }
        };
        gathered.insert(id, new);
    }
    gathered[&root]
}

/// `G (f || u)`, u universal, as `f W u`: once u holds, nothing is left to watch.
fn gather_always(formulas: &mut Formulas, classes: &mut Classes, part: FormulaId) -> FormulaId {
    if let Formula::Or(parts) = formulas.get(part).clone() {
        let (universal, others): (Vec<_>, Vec<_>) =
            parts.iter().partition(|&&part| classes.of(formulas, part).is_universal);
        if !universal.is_empty() && !others.is_empty() {
            let (others, universal) = (formulas.or(others), formulas.or(universal));
            return formulas.binary(Binary::WeakUntil, others, universal);
        }
    }
    formulas.unary(Unary::Always, part)
}

fn gather_choices(formulas: &mut Formulas, classes: &mut Classes, parts: Vec<FormulaId>) -> FormulaId {
    let body = |formulas: &Formulas, id| match *formulas.get(id) {
        Formula::Unary(Unary::Eventually, body) => Some(body),
        _ => None,
    };
    let (waiting, others): (Vec<_>, Vec<_>) = parts
        .into_iter()
        .partition(|&part| body(formulas, part).is_some() || classes.of(formulas, part).is_suspendable());
    if waiting.len() < 2 || waiting.iter().all(|&part| body(formulas, part).is_none()) {
        return formulas.or(waiting.into_iter().chain(others));
    }
    let bodies: Vec<FormulaId> = waiting.into_iter().map(|part| body(formulas, part).unwrap_or(part)).collect();
    let either = formulas.or(bodies);
    let eventually = formulas.unary(Unary::Eventually, either);
    formulas.or(others.into_iter().chain([eventually]))
}

/// Brings the graph into the wanted form; `opposite`, where it is known, accepts all other words.
fn in_form(
    work: &mut reduce::ReductionWork<'_>,
    graph: AutomatonGraph,
    opposite: Option<&AutomatonGraph>,
    translation: &Translation,
) -> DiagramResult<AutomatonGraph> {
    match translation.acceptance {
        Acceptance::Generalised => Ok(graph),
        Acceptance::Buchi => reduce::degeneralise::on_edges(work, graph, opposite, translation.reduces),
        Acceptance::StateBuchi => reduce::degeneralise::on_states(work, graph, opposite, translation.reduces),
    }
}
