//! What fairness and the automaton demand of the edges of a view.
//!
//! In: a view with its graph, and fairness pairs of the Model. Out: Streett conditions that every fair run satisfies in this view. What the
//! view does not show may be so: a predicate counts as true where it may be, so a condition never excludes a fair run. The product of a view
//! with an automaton reads the row before each edge.

use base::{Coarse, Feature, StopReason, Unsupported};
use engine::Halt;
use evidence::plain;
use ltl::Letter;
use model::Model;
use model::control::ActionId;
use model::eval::{Turn, Viewpoint};
use model::expr::Expr;
use model::fairness::{EdgePredicate, FairnessPair, StatePredicate};
use model::process::ProcessId;
use model::value::Value;
use rustc_hash::FxHashMap;
use streett::{EdgeBits, GraphArc, MarkedGraph, StreettPair};

use crate::graph::{Label, ViewGraph};
use crate::items::{Item, looked_at};
use crate::partly::{Literal, may_be};
use crate::views::{View, ViewIdx, Views};

/// The conditions of fairness pairs in a view; those that exclude nothing are left out.
///
/// # Errors
/// A predicate that has no value at some row.
pub fn fair_conditions(
    views: &mut Views<'_>,
    (of, graph): (ViewIdx, &ViewGraph),
    pairs: &[&FairnessPair],
) -> Result<Vec<StreettPair>, StopReason> {
    let mut found = Vec::new();
    let mut has_elsewhere = false;
    for pair in pairs {
        if is_met_unseen(&views.list[of], pair) {
            continue;
        }
        // A process that sees nothing of the view is elsewhere, like all others that do not.
        if let (None, [EdgePredicate::Scheduled(process)]) = (&pair.always, &pair.often[..])
            && !views.list[of].is_touched_by(*process)
            && std::mem::replace(&mut has_elsewhere, true)
        {
            continue;
        }
        let stays = pair.always.as_ref().map(|predicate| may_hold(views, of, predicate));
        if stays.as_ref().is_some_and(|stays| stays.iter().all(|&stays| stays)) {
            continue;
        }
        let mut often = EdgeBits::none(graph.graph.n_edges());
        for predicate in &pair.often {
            if let EdgePredicate::Before(predicate) = predicate {
                let before = may_hold(views, of, predicate);
                (0..graph.graph.n_edges())
                    .filter(|&edge| before[graph.graph.arc(edge).from as usize])
                    .for_each(|edge| often.insert(edge));
                continue;
            }
            let view = &views.list[of];
            let is_met = |edge: &usize| match graph.labels[*edge] {
                Label::Turn(turn) => is_met_by(views.model, &views.turns[turn as usize], predicate),
                Label::Elsewhere => may_be_met_elsewhere(view, predicate),
            };
            (0..graph.graph.n_edges()).filter(is_met).for_each(|edge| often.insert(edge));
        }
        if often.len() < graph.graph.n_edges() {
            found.push(StreettPair { stays, often });
        }
    }
    Ok(found)
}

/// Whether an assumption excludes nothing in a view, because what it says of a process is not shown there and may be so.
fn is_met_unseen(view: &View, pair: &FairnessPair) -> bool {
    let may_be = |predicate: &StatePredicate| matches!(predicate, StatePredicate::Unable(process, _) if !view.members.contains(process));
    let before = |often: &EdgePredicate| matches!(often, EdgePredicate::Before(predicate) if may_be(predicate));
    pair.always.as_ref().is_some_and(may_be) || pair.often.iter().any(before)
}

/// Whether a turn is what has to happen infinitely often.
fn is_met_by(model: &Model, turn: &Turn, predicate: &EdgePredicate) -> bool {
    match predicate {
        EdgePredicate::Before(_) => false,
        EdgePredicate::Scheduled(process) => turn.processes().contains(process),
        EdgePredicate::Moves(process, labels) => {
            turn.actions_of(*process).any(|action| carries(model, action, labels.as_deref()))
        }
        EdgePredicate::SomebodyMoves => turn.step().is_some(),
    }
}

fn carries(model: &Model, action: ActionId, labels: Option<&[String]>) -> bool {
    labels.is_none_or(|labels| model.actions[action].labels.iter().any(|label| labels.contains(label)))
}

/// Whether a turn of a process that sees nothing of the view may be what has to happen.
fn may_be_met_elsewhere(view: &View, predicate: &EdgePredicate) -> bool {
    match predicate {
        EdgePredicate::Before(_) => false,
        EdgePredicate::Scheduled(process) | EdgePredicate::Moves(process, _) => !view.is_touched_by(*process),
        EdgePredicate::SomebodyMoves => true,
    }
}

/// At which rows a predicate may hold.
fn may_hold(views: &mut Views<'_>, of: ViewIdx, predicate: &StatePredicate) -> Vec<bool> {
    let model = views.model;
    let view = &views.list[of];
    let is_able = |row: usize, member: usize, labels: Option<&[String]>| {
        view.enabled[row][member].iter().any(|&action| carries(model, action, labels))
    };
    let rows = 0..view.rows.len();
    match predicate {
        StatePredicate::Unable(process, labels) => match view.members.iter().position(|member| member == process) {
            Some(member) => rows.map(|row| !is_able(row, member, labels.as_deref())).collect(),
            None => vec![true; rows.len()],
        },
        StatePredicate::NobodyAble => {
            rows.map(|row| (0..view.members.len()).all(|member| !is_able(row, member, None))).collect()
        }
        StatePredicate::Holds(expr) => may_be(views, of, (expr, &[]), true),
        StatePredicate::Fails(expr) => may_be(views, of, (expr, &[]), false),
    }
}

/// The truth of an expression at each row; `None` where the view does not show all that it reads.
///
/// # Errors
/// It has no value at some row, or may have none where the view does not show it.
pub fn truths(
    views: &mut Views<'_>,
    of: ViewIdx,
    expr: &Expr,
    bound: &[Value],
) -> Result<Option<Vec<bool>>, StopReason> {
    let model = views.model;
    let items = looked_at(model, expr, bound);
    let shown = |items: &std::collections::BTreeSet<Item>| {
        items.iter().all(|item| views.list[of].items.binary_search(item).is_ok())
    };
    if !items.as_ref().is_some_and(shown) {
        return if expr.can_fault() { Err(Coarse::NoValueInRuns.into()) } else { Ok(None) };
    }
    let mut truths = Vec::new();
    for row in 0..views.list[of].rows.len() {
        let state = views.state(of, row as u32);
        let truth = Viewpoint::of_instance(model, state, bound).truth(expr);
        truths.push(truth.map_err(|_| StopReason::from(Coarse::NoValueInRuns))?);
    }
    Ok(Some(truths))
}

/// An automaton over the rows of a view: for each state its edges.
pub struct Reader {
    /// For each state the edges that leave it.
    states: Vec<Vec<Reading>>,
    initial: u32,
    n_marks: usize,
}

struct Reading {
    /// At which rows it can be taken.
    rows: Vec<bool>,
    marks: Vec<usize>,
    target: u32,
}

impl Reader {
    /// The automaton of a violation, without any simplification.
    ///
    /// # Errors
    /// An atom that has no value at some row, or that the view does not show.
    pub fn plain(
        views: &mut Views<'_>,
        of: ViewIdx,
        automaton: &plain::ReferenceAutomaton,
    ) -> Result<Reader, StopReason> {
        let atoms: Vec<(&Expr, &[Value])> =
            automaton.atoms.iter().map(|atom| (&atom.expr, atom.bound.as_slice())).collect();
        let atoms = atom_truths(views, of, &atoms)?;
        Ok(Self::with_atoms(automaton, &atoms, views.list[of].rows.len()))
    }

    /// The same, where the view shows a part of what the automaton reads; the rest may be anything.
    ///
    /// # Errors
    /// An atom that may have no value.
    pub fn partly(
        views: &mut Views<'_>,
        of: ViewIdx,
        automaton: &plain::ReferenceAutomaton,
    ) -> Result<Reader, StopReason> {
        if automaton.atoms.iter().any(|atom| atom.expr.can_fault()) {
            return Err(Coarse::NoValueInRuns.into());
        }
        let may = |wanted: bool, views: &mut Views<'_>| -> Vec<Vec<bool>> {
            automaton.atoms.iter().map(|atom| may_be(views, of, (&atom.expr, &atom.bound), wanted)).collect()
        };
        let (fails, holds) = (may(false, views), may(true, views));
        let can = |(atom, wanted): (usize, bool), row: usize| if wanted { holds[atom][row] } else { fails[atom][row] };
        Ok(Self::with_literals(automaton, can, views.list[of].rows.len()))
    }

    /// The automaton of a violation, with the truth of its atoms at each of so many rows.
    pub fn with_atoms(automaton: &plain::ReferenceAutomaton, atoms: &[Vec<bool>], n_rows: usize) -> Reader {
        Self::with_literals(automaton, |(atom, wanted), row| atoms[atom][row] == wanted, n_rows)
    }

    /// The automaton of a violation, with what says whether a literal may hold at each of so many rows.
    fn with_literals(
        automaton: &plain::ReferenceAutomaton,
        may_hold: impl Fn(Literal, usize) -> bool,
        n_rows: usize,
    ) -> Reader {
        let reading = |edge: &plain::ReferenceEdge| {
            let can = |row: usize| edge.literals.iter().all(|&literal| may_hold(literal, row));
            Reading { rows: (0..n_rows).map(can).collect(), marks: edge.marks.clone(), target: edge.target as u32 }
        };
        let states = automaton.states.iter().map(|edges| edges.iter().map(reading).collect()).collect();
        Reader { states, initial: 0, n_marks: automaton.n_marks }
    }

    /// The small automaton of the same violation.
    ///
    /// # Errors
    /// As [`Reader::plain`].
    pub fn small(views: &mut Views<'_>, of: ViewIdx, violation: &temporal::Violation) -> Result<Reader, StopReason> {
        let atoms: Vec<(&Expr, &[Value])> =
            violation.propositions.iter().map(|one| (&one.expr, one.bound.as_slice())).collect();
        let atoms = atom_truths(views, of, &atoms)?;
        let letters: Vec<Letter> = (0..views.list[of].rows.len())
            .map(|row| (0..atoms.len()).filter(|&atom| atoms[atom][row]).collect())
            .collect();
        let reading = |edge: &ltl::Edge| Reading {
            rows: letters.iter().map(|letter| edge.label.contains(letter)).collect(),
            marks: edge.marks.iter().collect(),
            target: edge.target.index() as u32,
        };
        let automaton = &violation.automaton;
        let states = automaton.states.iter().map(|state| state.edges.iter().map(reading).collect()).collect();
        Ok(Reader { states, initial: automaton.initial.index() as u32, n_marks: automaton.n_marks })
    }
}

fn atom_truths(views: &mut Views<'_>, of: ViewIdx, atoms: &[(&Expr, &[Value])]) -> Result<Vec<Vec<bool>>, StopReason> {
    let truth = |&(expr, bound): &(&Expr, &[Value])| {
        truths(views, of, expr, bound)?.ok_or_else(|| StopReason::from(Unsupported::from(Feature::ChangingDomain)))
    };
    atoms.iter().map(truth).collect()
}

/// The product of a view with an automaton: what a violating run does in the view of the property.
pub struct Product {
    /// The reachable part.
    pub graph: MarkedGraph,
    /// The edge of the view behind each edge.
    pub base: Vec<u32>,
    /// The row and the automaton's state of each node.
    pub nodes: Vec<(u32, u32)>,
    /// What fairness and the automaton demand.
    pub conditions: Vec<StreettPair>,
}

impl Product {
    /// The reachable part of the product.
    ///
    /// # Errors
    /// More edges than are examined.
    pub fn new(
        (initial, graph): (&[u32], &MarkedGraph),
        reader: &Reader,
        conditions: &[StreettPair],
        most_edges: usize,
    ) -> Result<Product, Halt> {
        let mut numbers: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        let mut nodes: Vec<(u32, u32)> = initial.iter().map(|&row| (row, reader.initial)).collect();
        nodes.sort_unstable();
        nodes.dedup();
        numbers.extend(nodes.iter().copied().zip(0..));
        let (mut arcs, mut base, mut marks): (Vec<GraphArc>, Vec<u32>, Vec<Vec<usize>>) = Default::default();
        let mut at = 0;
        while at < nodes.len() {
            let (row, state) = nodes[at];
            for reading in reader.states[state as usize].iter().filter(|reading| reading.rows[row as usize]) {
                for &edge in graph.leaving(row as usize) {
                    let target = (graph.arc(edge as usize).to, reading.target);
                    let next = nodes.len() as u32;
                    let to = *numbers.entry(target).or_insert(next);
                    if to == next {
                        nodes.push(target);
                    }
                    arcs.push(GraphArc { from: at as u32, to });
                    base.push(edge);
                    marks.push(reading.marks.clone());
                }
            }
            if arcs.len() > most_edges {
                return Err(StopReason::from(Unsupported::about(Feature::Numbers, "edges")).into());
            }
            at += 1;
        }
        let n_edges = arcs.len();
        let lifted = |condition: &StreettPair| StreettPair {
            stays: condition.stays.as_ref().map(|stays| nodes.iter().map(|&(row, _)| stays[row as usize]).collect()),
            often: EdgeBits::where_true(n_edges, |edge| condition.often.contains(base[edge] as usize)),
        };
        let marked = |mark: usize| StreettPair {
            stays: None,
            often: EdgeBits::where_true(n_edges, |edge| marks[edge].contains(&mark)),
        };
        let conditions = conditions.iter().map(lifted).chain((0..reader.n_marks).map(marked)).collect();
        Ok(Product { graph: MarkedGraph::new(nodes.len(), arcs), base, nodes, conditions })
    }

    /// The edges of the view that lie in fair components of the product.
    pub fn fair_base_edges(&self, n_edges: usize) -> EdgeBits {
        let mut found = EdgeBits::none(n_edges);
        for component in self.graph.fair_components(&EdgeBits::all(self.graph.n_edges()), &self.conditions) {
            component.iter().for_each(|edge| found.insert(self.base[edge] as usize));
        }
        found
    }
}

/// The processes, cells and controls of a property's view: whose local state it speaks of, and what else.
pub fn property_view(model: &Model, atoms: &[plain::StateCondition]) -> Option<PropertyView> {
    let mut found = PropertyView::default();
    for atom in atoms {
        for item in looked_at(model, &atom.expr, &atom.bound)? {
            let owner = match item {
                Item::Control(process) => Some(process),
                Item::Cell(cell) => model.cells[cell].owner,
            };
            match owner {
                Some(owner) if !found.members.contains(&owner) => found.members.push(owner),
                Some(_) => {}
                None => _ = found.more.insert(item),
            }
        }
    }
    found.members.sort_unstable();
    Some(found)
}

/// What a property speaks of.
#[derive(Clone, Debug, Default)]
pub struct PropertyView {
    /// The processes whose control or cells it reads.
    pub members: Vec<ProcessId>,
    /// The shared cells.
    pub more: std::collections::BTreeSet<Item>,
}

impl PropertyView {
    /// Has these processes besides.
    pub fn add(&mut self, processes: &[ProcessId]) {
        let new: Vec<ProcessId> = processes.iter().copied().filter(|one| !self.members.contains(one)).collect();
        self.members.extend(new);
        self.members.sort_unstable();
    }
}
