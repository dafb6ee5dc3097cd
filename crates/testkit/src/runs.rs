//! Proofs of temporal properties by brute force: abstract processes written out word by word, and ranks by reachability.
//!
//! In: a small Model without procedures, a temporal property, and what is exposed. Out: a certificate, or `None` where
//! this abstraction does not prove it. The rule is that of `evidence::ranks`; every turn is taken by `eval::turns`, and what may
//! hold is found by trying all view states of all other processes. Nothing is shared with the checker or with an engine.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use evidence::Certificate;
use evidence::certificate::{
    Claim, Column, Fact, Focus, NoFairRun, RankReason, RankTree, SplitInvariant, StateSet, Variant,
};
use evidence::plain::{self, ReferenceViolation};
use model::eval::{State, StepFault, holds, is_true_of, turns};
use model::fairness::EdgePredicate;
use model::process::ProcessId;
use model::property::{Property, PropertyKind};

use crate::local::{Combination, DefinedSets, LocalDefinition, ViewPart};

/// More choices of view states than this for the other processes, and nothing is written.
const MOST_CHOICES: usize = 5_000;

/// Writes proofs about one split invariant.
pub struct Prover<'m> {
    local: LocalDefinition<'m>,
    sets: DefinedSets,
    invariant: SplitInvariant,
    /// The turns that a focus sees from a view state, as far as they were asked for.
    seen: RefCell<HashMap<(ProcessId, Combination), Rc<SeenTurns>>>,
}

/// Turns, each with the view state after it.
type SeenTurns = Vec<(model::eval::Turn, Combination)>;

/// An abstract process: nodes and edges of one focus.
struct Abstract {
    nodes: Vec<(u32, u32)>,
    edges: Vec<Vec<ProofEdge>>,
    /// For each node which pairs it is free of.
    free: Vec<Vec<bool>>,
}

struct ProofEdge {
    to: usize,
    marks: Vec<usize>,
    by_focus: bool,
    pairs: Vec<usize>,
}

impl ProofEdge {
    /// Whether it does what the variant demands again and again.
    fn is_demanded(&self, variant: Variant) -> bool {
        match variant {
            Variant::OneProcess => true,
            Variant::EveryProcess { mark } => self.by_focus && mark.is_none_or(|mark| self.marks.contains(&mark)),
        }
    }
}

/// What may hold at a view state: for each atom that it is false, and that it is true; for each pair that it is free, and that its
/// predicate on the state before holds.
struct MayHoldHere {
    atoms: Vec<[bool; 2]>,
    free: Vec<bool>,
    before: Vec<bool>,
}

impl<'m> Prover<'m> {
    /// For the smallest split invariant of single processes; `None` where it is too large.
    pub fn new(local: LocalDefinition<'m>) -> Option<Self> {
        let sets = local.invariant()?;
        let certificate = local.certificate(&sets, "");
        let invariant = certificate.invariant()?.clone();
        Some(Prover { local, sets, invariant, seen: RefCell::default() })
    }

    /// A proof of a temporal property, if there is one by one of the rules.
    pub fn certificate(&self, property: &Property) -> Option<Certificate> {
        let PropertyKind::Temporal(formula) = &property.kind else { return None };
        let mut facts = vec![Fact { claim: Claim::SplitInvariant(self.invariant.clone()), uses: Vec::new() }];
        let violations = plain::violations(self.local.model, property, formula).ok()?;
        for violation in &violations {
            let (variant, foci) = self.excluded(violation)?;
            let (model, automaton) = (self.local.model, violation.automaton.names(self.local.model));
            let claim = Claim::NoFairRun(NoFairRun { violation: violation.name(model), automaton, variant, foci });
            facts.push(Fact { claim, uses: vec![0] });
        }
        Some(Certificate {
            property: property.name.clone(),
            scope: evidence::Scope::Instance,
            facts,
            implies: Vec::new(),
        })
    }

    /// By the first rule that works.
    fn excluded(&self, violation: &ReferenceViolation) -> Option<(Variant, Vec<Focus>)> {
        let everybody: Vec<ProcessId> = self.local.model.processes.ids().collect();
        let marks = (0..violation.automaton.n_marks).map(Some).chain([None]);
        let abstracted = everybody.iter().map(|&process| self.abstracted(process, violation));
        let graphs = abstracted.collect::<Option<Vec<Abstract>>>()?;
        let focus = |&process: &ProcessId, variant: Variant| {
            let graph = &graphs[process.index()];
            let all: Vec<usize> = (0..graph.nodes.len()).collect();
            let ranks = graph.rank(&all, (violation.automaton.n_marks, variant))?;
            Some(Focus { process, nodes: graph.nodes.clone(), ranks })
        };
        for mark in marks {
            let variant = Variant::EveryProcess { mark };
            let foci = everybody.iter().map(|process| focus(process, variant));
            if let Some(foci) = foci.collect::<Option<Vec<Focus>>>() {
                return Some((variant, foci));
            }
        }
        let focus = everybody.iter().find_map(|process| focus(process, Variant::OneProcess))?;
        Some((Variant::OneProcess, vec![focus]))
    }

    /// The reachable part of the abstract process.
    fn abstracted(&self, focus: ProcessId, violation: &ReferenceViolation) -> Option<Abstract> {
        let model = self.local.model;
        let columns = self.local.columns(&[focus]);
        let mut known: HashMap<(Combination, usize), usize> = HashMap::new();
        let mut open: Vec<(Combination, usize)> = Vec::new();
        let mut graph = Abstract { nodes: Vec::new(), edges: Vec::new(), free: Vec::new() };
        for start in model::eval::initial_states(model) {
            let node = (self.local.project(&start, &columns), 0);
            if !known.contains_key(&node) {
                known.insert(node.clone(), open.len());
                open.push(node);
            }
        }
        let mut here: BTreeMap<Combination, MayHoldHere> = BTreeMap::new();
        while graph.nodes.len() < open.len() {
            let (view, state) = open[graph.nodes.len()].clone();
            if !here.contains_key(&view) {
                here.insert(view.clone(), self.look(focus, &view, violation)?);
            }
            let looked = &here[&view];
            graph.nodes.push((self.number(focus, &view)?, state as u32));
            graph.free.push(looked.free.clone());
            let mut edges = Vec::new();
            for (turn, after) in self.turns(focus, &view)?.iter() {
                let met = |pair: &usize| looked.before[*pair] || self.is_met(violation, *pair, turn);
                let pairs: Vec<usize> = (0..violation.fairness.len()).filter(met).collect();
                for reading in &violation.automaton.states[state] {
                    if !reading.literals.iter().all(|&(atom, wanted)| looked.atoms[atom][usize::from(wanted)]) {
                        continue;
                    }
                    let node = (after.clone(), reading.target);
                    let to = *known.entry(node.clone()).or_insert_with(|| {
                        open.push(node);
                        open.len() - 1
                    });
                    let by_focus = turn.processes().contains(&focus);
                    edges.push(ProofEdge { to, marks: reading.marks.clone(), by_focus, pairs: pairs.clone() });
                }
            }
            graph.edges.push(edges);
        }
        Some(graph)
    }

    /// The turns that the focus sees from a view state.
    fn turns(&self, focus: ProcessId, view: &Combination) -> Option<Rc<SeenTurns>> {
        if let Some(known) = self.seen.borrow().get(&(focus, view.clone())) {
            return Some(Rc::clone(known));
        }
        let columns = self.local.columns(&[focus]);
        let mut found = Vec::new();
        if !self.local.model.channels.is_empty() {
            // What a process can do depends on all others.
            for all in self.choices(focus, view)? {
                for (turn, after) in turns(self.local.model, &self.local.fill(&all)) {
                    let movers: Vec<ProcessId> = turn.processes().into_iter().collect();
                    let seen = (turn, self.local.project_known(&after, &all, &movers, &columns));
                    if !found.contains(&seen) {
                        found.push(seen);
                    }
                }
            }
            return Some(self.keep((focus, view.clone()), found));
        }
        for mover in self.local.model.processes.ids() {
            for other in self.beside(mover, focus, view) {
                let both: Combination =
                    view.iter().chain(&other).map(|(column, part)| (*column, part.clone())).collect();
                for (turn, after) in turns(self.local.model, &self.local.fill(&both)) {
                    if turn.process() == mover {
                        let after = self.local.project_known(&after, &both, &[mover], &columns);
                        found.push((turn, after));
                    }
                }
            }
        }
        Some(self.keep((focus, view.clone()), found))
    }

    fn keep(&self, key: (ProcessId, Combination), found: SeenTurns) -> Rc<SeenTurns> {
        let found = Rc::new(found);
        self.seen.borrow_mut().insert(key, Rc::clone(&found));
        found
    }

    /// The view states of a process that agree with one of the focus.
    fn beside(&self, process: ProcessId, focus: ProcessId, view: &Combination) -> Vec<Combination> {
        if process == focus {
            return vec![view.clone()];
        }
        let agrees =
            |other: &&Combination| other.iter().all(|(column, part)| view.get(column).is_none_or(|seen| seen == part));
        self.sets[&vec![process]].iter().filter(agrees).cloned().collect()
    }

    /// A view state of the focus with all choices of view states of all others; `None` where there are too many.
    fn choices(&self, focus: ProcessId, view: &Combination) -> Option<Vec<Combination>> {
        let model = self.local.model;
        let mut choices = vec![view.clone()];
        for process in model.processes.ids().filter(|&process| process != focus) {
            let beside = self.beside(process, focus, view);
            let join = |choice: &Combination| {
                let with =
                    |other: &Combination| choice.clone().into_iter().chain(other.clone()).collect::<Combination>();
                beside.iter().map(with).collect::<Vec<_>>()
            };
            choices = choices.iter().flat_map(join).collect();
            (choices.len() <= MOST_CHOICES).then_some(())?;
        }
        Some(choices)
    }

    /// What may hold at a view state of the focus.
    fn look(&self, focus: ProcessId, view: &Combination, violation: &ReferenceViolation) -> Option<MayHoldHere> {
        let choices = self.choices(focus, view)?;
        let n_pairs = violation.fairness.len();
        let mut here = MayHoldHere {
            atoms: vec![[false; 2]; violation.automaton.atoms.len()],
            free: vec![false; n_pairs],
            before: vec![false; n_pairs],
        };
        for choice in &choices {
            self.look_at(&self.local.fill(choice), violation, &mut here).ok()?;
        }
        Some(here)
    }

    fn look_at(&self, state: &State, violation: &ReferenceViolation, here: &mut MayHoldHere) -> Result<(), StepFault> {
        let model = self.local.model;
        for (atom, may) in violation.automaton.atoms.iter().zip(&mut here.atoms) {
            may[usize::from(atom.truth(model, state)?)] = true;
        }
        for (at, &pair) in violation.fairness.iter().enumerate() {
            let pair = &model.fairness[pair];
            if let Some(always) = &pair.always {
                here.free[at] |= holds(model, state, always)?;
            }
            for often in &pair.often {
                if let EdgePredicate::Before(predicate) = often {
                    here.before[at] |= holds(model, state, predicate)?;
                }
            }
        }
        Ok(())
    }

    fn is_met(&self, violation: &ReferenceViolation, pair: usize, turn: &model::eval::Turn) -> bool {
        let model = self.local.model;
        let pair = &model.fairness[violation.fairness[pair]];
        let turns = pair.often.iter().filter(|often| !matches!(often, EdgePredicate::Before(_)));
        let mut met = turns.map(|often| is_true_of(model, &self.local.filling, turn, often));
        met.any(|met| met.is_ok_and(|met| met))
    }

    /// The position of a view state among the rows of its member.
    fn number(&self, focus: ProcessId, view: &Combination) -> Option<u32> {
        let model = self.local.model;
        let number = |(&column, part): (&Column, &ViewPart)| match (column, part) {
            (Column::Cell(cell), ViewPart::Value(value)) => {
                model.cells[cell].ty.values(model.type_context()).position(|one| one == *value)
            }
            (Column::Control(process), ViewPart::Point(point)) => {
                self.invariant.points[process.index()].iter().position(|one| one == point)
            }
            (Column::Exposed(process), ViewPart::Block(block)) => {
                self.invariant.exposed[process.index()].blocks.iter().position(|one| one == block)
            }
            _ => None,
        };
        let row = view.iter().map(|part| number(part).map(|at| at as u32)).collect::<Option<Vec<u32>>>()?;
        let StateSet::Rows(rows) = &self.invariant.members[focus.index()].states else { return None };
        rows.iter().position(|one| *one == row).map(|at| at as u32)
    }
}

impl Abstract {
    /// Ranks of some nodes, by which of them can reach which; `None` where a run can keep to them and be fair.
    fn rank(&self, nodes: &[usize], demands: (usize, Variant)) -> Option<RankTree> {
        let reached: Vec<BTreeSet<usize>> = nodes.iter().map(|&node| self.reached(node, nodes)).collect();
        let positions: HashMap<usize, usize> = nodes.iter().copied().zip(0..).collect();
        // A node that reaches fewer others comes lower; those that reach each other reach the same.
        let mut sets: Vec<&BTreeSet<usize>> = reached.iter().collect();
        sets.sort_by_key(|set| (set.len(), (*set).clone()));
        sets.dedup();
        let mut tree = RankTree { ranks: vec![0; nodes.len()], reasons: Vec::new() };
        for set in sets {
            let class: Vec<usize> =
                nodes.iter().copied().zip(&reached).filter(|(_, of)| *of == set).map(|(node, _)| node).collect();
            // Those that reach themselves are a component; the others only lead there, and not to each other.
            let (component, before): (Vec<usize>, Vec<usize>) = class.into_iter().partition(|node| set.contains(node));
            let apart = before.into_iter().map(|node| vec![node]);
            for class in [component].into_iter().filter(|class| !class.is_empty()).chain(apart) {
                let reason = self.reason(&class, demands)?;
                for &node in &class {
                    tree.ranks[positions[&node]] = tree.reasons.len() as u32;
                }
                tree.reasons.push(reason);
            }
        }
        Some(tree)
    }

    /// The nodes among some that a node reaches by at least one edge.
    fn reached(&self, from: usize, nodes: &[usize]) -> BTreeSet<usize> {
        let among: BTreeSet<usize> = nodes.iter().copied().collect();
        let mut seen = BTreeSet::new();
        let mut open = vec![from];
        while let Some(node) = open.pop() {
            for edge in self.edges[node].iter().filter(|edge| among.contains(&edge.to)) {
                if seen.insert(edge.to) {
                    open.push(edge.to);
                }
            }
        }
        seen
    }

    fn reason(&self, class: &[usize], (n_marks, variant): (usize, Variant)) -> Option<RankReason> {
        let among: BTreeSet<usize> = class.iter().copied().collect();
        let all = || class.iter().flat_map(|&node| &self.edges[node]).filter(|edge| among.contains(&edge.to));
        if all().next().is_none() {
            return Some(RankReason::Trivial);
        }
        if let Some(mark) = (0..n_marks).find(|mark| all().all(|edge| !edge.marks.contains(mark))) {
            return Some(RankReason::Missing(mark));
        }
        if !all().any(|edge| edge.is_demanded(variant)) {
            return Some(RankReason::Own);
        }
        let n_pairs = self.free.first().map_or(0, Vec::len);
        for pair in (0..n_pairs).filter(|pair| all().all(|edge| !edge.pairs.contains(pair))) {
            let free: Vec<usize> = class.iter().copied().filter(|&node| self.free[node][pair]).collect();
            if free.len() < class.len() {
                return self.rank(&free, (n_marks, variant)).map(|below| RankReason::Pair(pair, Box::new(below)));
            }
        }
        None
    }
}
