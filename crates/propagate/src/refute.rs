//! Refutation by propagation: what a fair run would do for ever, until nothing is left of it.
//!
//! In: the product of the property's view with the automaton of a violation. Out: a refutation, or what was left. For each view a set of
//! edges is kept that contains those which a fair violating run takes again and again: in the beginning all. Fair components (F) and
//! compatibility with the set of another view (C) make sets smaller; where nothing changes any more, cases are distinguished: a holder by
//! an additive invariant (E), a fair component (S), a process that is scheduled for ever. An empty set is a contradiction.
//! Each rule keeps what the run does in the sets, or in those of one of the cases, so no question of circularity arises.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use base::{Budget, StopReason};
use engine::Halt;
use evidence::plain::ReferenceAutomaton;
use evidence::propagation::{EdgeOwner, RefutationStep};
use model::fairness::FairnessId;
use model::process::ProcessId;
use streett::{EdgeBits, StreettPair};

use crate::conditions::Product;
use crate::crowds::{Crowd, about};
use crate::left::in_words;
use crate::partly::lasting_conditions;
use crate::singled::Lookups;
use crate::views::ViewIdx;
use crate::workshop::Workshop;

/// One way to violate the property, as its view shows it.
pub struct Question<'q> {
    /// The view of the property.
    pub view: ViewIdx,
    /// The product with the automaton.
    pub product: &'q Product,
    /// The automaton.
    pub automaton: &'q ReferenceAutomaton,
    /// Whether the view does not show all that the automaton reads.
    pub is_partly_shown: bool,
    /// What the run satisfies besides.
    pub fairness: &'q [FairnessId],
    /// Processes of which one set represents those of all.
    pub crowds: &'q [Crowd],
}

/// What bounds a refutation.
#[derive(Clone, Copy)]
pub struct Effort<'b> {
    /// Time, memory, cancellation.
    pub budget: &'b Budget,
    /// So many tests of compatibility at most.
    pub most_tests: usize,
    /// So many cases within cases at most.
    pub most_depth: usize,
}

/// What came of it.
pub enum Refuted {
    /// There is no such run.
    Proved(Vec<RefutationStep>),
    /// Something is left.
    Left {
        /// What.
        what: Leftover,
        /// Whether there were more tests to do than may be done.
        was_cut: bool,
    },
}

/// What is left of some case.
#[derive(Clone, Debug, Default)]
pub struct Leftover {
    /// What a run would do for ever, in words.
    pub in_words: String,
    /// The processes of which something was excluded, beside those of the property, first those of which least is left.
    pub near: Vec<ProcessId>,
}

/// So many views of other processes are put in words.
const MOST_SHOWN: usize = 2;

/// The number of a set that was kept at some time.
pub(crate) type Version = usize;

/// A set that was kept at some time.
pub(crate) struct Kept {
    pub edges: Rc<EdgeBits>,
    /// The step that made it; `None` where it begins a case.
    made_by: Option<usize>,
}

/// A step that was taken, with the sets that it used.
struct Taken {
    step: RefutationStep,
    inputs: Vec<Version>,
}

/// The sets of a case: by spot, the processes first, then the property; `None` is all edges.
#[derive(Clone)]
pub(crate) struct Sets {
    pub current: Vec<Option<Version>>,
    /// A process that is scheduled for ever.
    pub scheduled: Option<ProcessId>,
    /// How many have left each crowd.
    pub singled: Vec<usize>,
    /// Spots whose sets became smaller, and from which nothing was propagated since.
    pub(crate) queue: VecDeque<usize>,
}

/// A case, refuted.
pub(crate) struct Node {
    pub steps: Vec<usize>,
    pub end: End,
}

/// How a case ends.
pub(crate) enum End {
    /// A set is empty.
    Empty(Version),
    /// Cases are distinguished, which rests on these sets.
    Cases { by: Vec<Version>, cases: Vec<Node>, step: Box<dyn Fn(Vec<Vec<RefutationStep>>) -> RefutationStep> },
    /// The two sides of an invariant are not equal, which rests on these sets.
    Unequal { invariant: usize, by: Vec<Version> },
    /// More steps, and how these end.
    After(Box<Node>),
}

/// A refutation on its way.
pub struct Refuter<'r, 'm> {
    pub(crate) shop: &'r mut Workshop<'m>,
    pub(crate) question: &'r Question<'r>,
    effort: Effort<'r>,
    pub(crate) versions: Vec<Kept>,
    taken: Vec<Taken>,
    n_tests: usize,
    left: Option<Leftover>,
    /// The crowd of each process.
    pub(crate) crowd_of: Vec<Option<usize>>,
    pub(crate) lookups: Lookups,
    /// By process, what the violation itself demands of its edges.
    lasting: BTreeMap<usize, Rc<Vec<StreettPair>>>,
}

/// The cases that a rule distinguishes: the sets that it rests on, each case's own sets, and the step that it is.
pub(crate) struct Split {
    pub by: Vec<Version>,
    pub cases: Vec<Sets>,
    pub step: Box<dyn Fn(Vec<Vec<RefutationStep>>) -> RefutationStep>,
}

impl<'r, 'm> Refuter<'r, 'm> {
    /// A refutation of a question.
    pub fn new(shop: &'r mut Workshop<'m>, question: &'r Question<'r>, effort: Effort<'r>) -> Self {
        let mut crowd_of = vec![None; shop.views.model.processes.len()];
        for (number, crowd) in question.crowds.iter().enumerate() {
            crowd.processes.iter().for_each(|process| crowd_of[process.index()] = Some(number));
        }
        let lookups = Lookups::default();
        let (versions, taken, lasting) = Default::default();
        Refuter { shop, question, effort, versions, taken, n_tests: 0, left: None, crowd_of, lookups, lasting }
    }

    /// Refutes it, if it can.
    ///
    /// # Errors
    /// A limit, or a contradiction.
    pub fn refute(mut self) -> Result<Refuted, Halt> {
        let root = self.root();
        let singled = vec![0; self.question.crowds.len()];
        let mut sets = Sets { current: vec![None; root + 1], scheduled: None, singled, queue: VecDeque::new() };
        let mut steps = Vec::new();
        let node = match self.fair(root, &mut sets, &mut steps)? {
            Some(empty) => Some(Node { steps, end: End::Empty(empty) }),
            None => {
                let node = match self.components(root, &sets, 0)? {
                    Some(node) => node,
                    None => {
                        sets.queue.push_back(root);
                        match self.begin_everywhere(&mut sets, &mut steps)? {
                            Some(empty) => Some(Node { steps: Vec::new(), end: End::Empty(empty) }),
                            None => self.case(sets, 0)?,
                        }
                    }
                };
                node.map(|mut node| {
                    node.steps.splice(0..0, steps);
                    node
                })
            }
        };
        Ok(match node {
            Some(node) => Refuted::Proved(self.sliced(&node)),
            None => {
                let was_cut = self.n_tests > self.effort.most_tests;
                Refuted::Left { what: self.left.unwrap_or_default(), was_cut }
            }
        })
    }

    /// Where the view of the property shows a part of it, what the violation demands of each process is where it begins.
    fn begin_everywhere(&mut self, sets: &mut Sets, steps: &mut Vec<usize>) -> Result<Option<Version>, Halt> {
        if !self.question.is_partly_shown {
            return Ok(None);
        }
        for spot in 0..self.root() {
            if self.lasting(spot)?.is_empty() {
                continue;
            }
            if let Some(empty) = self.fair(spot, sets, steps)? {
                return Ok(Some(empty));
            }
            sets.queue.push_back(spot);
        }
        Ok(None)
    }

    /// What the violation itself demands of the edges of a process.
    fn lasting(&mut self, spot: usize) -> Result<Rc<Vec<StreettPair>>, Halt> {
        if let Some(known) = self.lasting.get(&spot) {
            return Ok(Rc::clone(known));
        }
        let graph = self.shop.graph(spot)?;
        let made = Rc::new(lasting_conditions(&mut self.shop.views, (spot, &graph), self.question.automaton));
        self.lasting.insert(spot, Rc::clone(&made));
        Ok(made)
    }

    /// The spot of the property.
    pub(crate) fn root(&self) -> usize {
        self.shop.views.model.processes.len()
    }

    /// The view of a spot.
    pub(crate) fn view(&self, spot: usize) -> ViewIdx {
        if spot == self.root() { self.question.view } else { spot }
    }

    pub(crate) fn named(&self, spot: usize) -> EdgeOwner {
        if spot == self.root() { EdgeOwner::Property } else { EdgeOwner::Process(ProcessId::new(spot)) }
    }

    /// The edges of the view behind the set of a spot.
    pub(crate) fn base_edges(&mut self, spot: usize, sets: &Sets) -> Result<EdgeBits, Halt> {
        let n_edges = self.shop.graph(self.view(spot))?.graph.n_edges();
        let edges = self.edges(spot, sets)?;
        if spot != self.root() {
            return Ok((*edges).clone());
        }
        let mut base = EdgeBits::none(n_edges);
        edges.iter().for_each(|edge| base.insert(self.question.product.base[edge] as usize));
        Ok(base)
    }

    fn n_edges(&mut self, spot: usize) -> Result<usize, Halt> {
        match spot == self.root() {
            true => Ok(self.question.product.graph.n_edges()),
            false => Ok(self.shop.graph(spot)?.graph.n_edges()),
        }
    }

    pub(crate) fn edges(&mut self, spot: usize, sets: &Sets) -> Result<Rc<EdgeBits>, Halt> {
        match sets.current[spot] {
            Some(version) => Ok(Rc::clone(&self.versions[version].edges)),
            None if self.question.crowds.is_empty() => Ok(Rc::new(EdgeBits::all(self.n_edges(spot)?))),
            None => Ok(Rc::new(self.told_edges(spot, sets)?)),
        }
    }

    /// A set that begins a case.
    pub(crate) fn begin(&mut self, edges: EdgeBits) -> Version {
        self.versions.push(Kept { edges: Rc::new(edges), made_by: None });
        self.versions.len() - 1
    }

    /// The same set, in other words.
    pub(crate) fn reworded(&mut self, version: Version, edges: EdgeBits) -> Version {
        let made_by = self.versions[version].made_by;
        self.versions.push(Kept { edges: Rc::new(edges), made_by });
        self.versions.len() - 1
    }

    /// The step that one leaves its crowd; it is part of every refutation that has it.
    pub(crate) fn leaves(&mut self, process: ProcessId) -> usize {
        self.taken.push(Taken { step: RefutationStep::Single(process), inputs: Vec::new() });
        self.taken.len() - 1
    }

    /// Replaces the set of a spot by what a step leaves of it.
    fn shrink(&mut self, sets: &mut Sets, spot: usize, edges: EdgeBits, taken: Taken) -> usize {
        let step = self.taken.len();
        self.taken.push(taken);
        self.versions.push(Kept { edges: Rc::new(edges), made_by: Some(step) });
        sets.current[spot] = Some(self.versions.len() - 1);
        step
    }

    /// The fair components of the set of a spot.
    pub(crate) fn fair_components(&mut self, spot: usize, sets: &Sets) -> Result<Vec<EdgeBits>, Halt> {
        let edges = self.edges(spot, sets)?;
        if spot == self.root() {
            return Ok(self.question.product.graph.fair_components(&edges, &self.question.product.conditions));
        }
        let conditions = match self.question.crowds {
            [] => {
                let known = self.shop.known(spot, self.question.fairness)?;
                match &self.lasting(spot)?[..] {
                    [] => known,
                    lasting => Rc::new(known.iter().chain(lasting).cloned().collect()),
                }
            }
            crowds => {
                let own = Some(ProcessId::new(spot));
                self.shop.conditions(spot, &about(self.shop.views.model, crowds, self.question.fairness, own))?
            }
        };
        let graph = self.shop.graph(spot)?;
        if sets.scheduled.is_none_or(|process| process.index() != spot) {
            return Ok(graph.graph.fair_components(&edges, &conditions));
        }
        let process = ProcessId::new(spot);
        let often = EdgeBits::where_true(graph.graph.n_edges(), |edge| match graph.labels[edge] {
            crate::graph::Label::Turn(turn) => self.shop.views.turns[turn as usize].processes().contains(&process),
            crate::graph::Label::Elsewhere => false,
        });
        let mut conditions = (*conditions).clone();
        conditions.push(StreettPair { stays: None, often });
        Ok(graph.graph.fair_components(&edges, &conditions))
    }

    /// Keeps the fair components of a set; the empty set, if nothing is left.
    pub(crate) fn fair(
        &mut self,
        spot: usize,
        sets: &mut Sets,
        steps: &mut Vec<usize>,
    ) -> Result<Option<Version>, Halt> {
        let before = self.edges(spot, sets)?;
        let mut fair = EdgeBits::none(self.n_edges(spot)?);
        self.fair_components(spot, sets)?.iter().for_each(|component| fair.unite(component));
        let is_empty = fair.is_empty();
        if fair != *before || is_empty {
            let inputs = sets.current[spot].into_iter().collect();
            let step = RefutationStep::Fair(self.named(spot));
            steps.push(self.shrink(sets, spot, fair, Taken { step, inputs }));
        }
        Ok(if is_empty { sets.current[spot] } else { None })
    }

    /// Keeps in the set of a spot what is compatible with that of another. Whether it became smaller.
    fn compatible(&mut self, from: usize, to: usize, sets: &mut Sets) -> Result<Option<usize>, Halt> {
        self.n_tests += 1;
        self.effort.budget.check(0)?;
        let kept = self.compatible_edges(from, to, sets)?;
        if kept == *self.edges(to, sets)? {
            return Ok(None);
        }
        let inputs = [sets.current[from], sets.current[to]].into_iter().flatten().collect();
        let step = RefutationStep::Compatible { from: self.named(from), to: self.named(to) };
        Ok(Some(self.shrink(sets, to, kept, Taken { step, inputs })))
    }

    /// What of the set of a spot is compatible with that of another.
    pub(crate) fn compatible_edges(&mut self, from: usize, to: usize, sets: &Sets) -> Result<EdgeBits, Halt> {
        let pairing = self.shop.pairing(self.view(from), self.view(to))?;
        if !self.question.crowds.is_empty() {
            return self.compatible_in_crowds(from, to, sets);
        }
        let left = self.base_edges(from, sets)?;
        let mut kept = (*self.edges(to, sets)?).clone();
        let is_compatible = pairing.compatible(left.iter());
        let is_root = to == self.root();
        let base = |edge: usize| if is_root { self.question.product.base[edge] as usize } else { edge };
        kept.retain(|edge| is_compatible(base(edge)));
        Ok(kept)
    }

    /// The spots whose views show something that the view of a spot shows.
    fn neighbours(&self, spot: usize, sets: &Sets) -> Vec<usize> {
        let view = &self.shop.views.list[self.view(spot)];
        let others = view.touching.iter().filter(|&&process| self.has_set(process, sets));
        let mut found: Vec<usize> = others.map(|process| process.index()).filter(|&at| at != spot).collect();
        let root = self.root();
        if spot != root && self.shop.views.list[self.question.view].is_touched_by(ProcessId::new(spot)) {
            found.push(root);
        }
        found
    }

    /// Propagates until nothing changes, or from the spots that the case begins with only; the set that became empty, if one did.
    fn propagate(&mut self, sets: &mut Sets, steps: &mut Vec<usize>, far: bool) -> Result<Option<Version>, Halt> {
        let mut n_begun = if far { usize::MAX } else { sets.queue.len() };
        while n_begun > 0
            && let Some(from) = sets.queue.pop_front()
        {
            n_begun -= 1;
            for to in self.neighbours(from, sets) {
                let Some(step) = self.compatible(from, to, sets)? else { continue };
                steps.push(step);
                if let Some(empty) = self.fair(to, sets, steps)? {
                    return Ok(Some(empty));
                }
                if !sets.queue.contains(&to) {
                    sets.queue.push_back(to);
                }
                if self.n_tests > self.effort.most_tests {
                    return Ok(None);
                }
            }
        }
        Ok(None)
    }

    /// Refutes a case.
    pub(crate) fn case(&mut self, mut sets: Sets, depth: usize) -> Result<Option<Node>, Halt> {
        let mut steps = Vec::new();
        let begun: Vec<usize> = sets.queue.iter().copied().collect();
        let mut end = self.propagate(&mut sets, &mut steps, false)?.map(End::Empty);
        // Where many see the same cell, holders are excluded one by one at once, and every pair of processes only after much work.
        if end.is_none() && depth < self.effort.most_depth {
            end = self.at_once(&sets, &begun)?;
            if end.is_none() {
                end = self.at_root(&mut sets, &mut steps, depth)?;
            }
        }
        if end.is_none() {
            end = self.propagate(&mut sets, &mut steps, true)?.map(End::Empty);
        }
        if end.is_none() {
            end = self.conclude(&sets, depth)?;
        }
        if end.is_none() && self.left.is_none() {
            self.left = Some(self.what_is_left(&sets)?);
        }
        Ok(end.map(|end| Node { steps, end }))
    }

    /// What the property's view makes of the sets of all others, before these are compared with each other: with many processes that see the same cells that
    /// takes most of the time, and is seldom needed.
    fn at_root(&mut self, sets: &mut Sets, steps: &mut Vec<usize>, depth: usize) -> Result<Option<End>, Halt> {
        let root = self.root();
        let mut has_changed = false;
        for from in sets.queue.iter().copied().filter(|&spot| spot != root).collect::<Vec<usize>>() {
            if !self.neighbours(from, sets).contains(&root) || self.n_tests > self.effort.most_tests {
                continue;
            }
            let Some(step) = self.compatible(from, root, sets)? else { continue };
            steps.push(step);
            has_changed = true;
        }
        if !has_changed {
            return Ok(None);
        }
        if let Some(empty) = self.fair(root, sets, steps)? {
            return Ok(Some(End::Empty(empty)));
        }
        if !sets.queue.contains(&root) {
            sets.queue.push_back(root);
        }
        if let Some(end) = self.at_once(sets, &[root])? {
            return Ok(Some(end));
        }
        Ok(self.components(root, sets, depth)?.flatten().map(|node| node.end))
    }

    /// Cases of holders of which none is left by fairness alone, by the sets of these spots.
    fn at_once(&mut self, sets: &Sets, spots: &[usize]) -> Result<Option<End>, Halt> {
        for holding in self.holders(sets, spots)? {
            let Some(split) = self.holder_cases(holding, sets)? else { continue };
            let mut cases = Vec::new();
            for mut sets in split.cases {
                let Some(&spot) = sets.queue.front() else { continue };
                let mut steps = Vec::new();
                let empty = self.fair(spot, &mut sets, &mut steps)?;
                let node = empty.map(|empty| Node { steps, end: End::Empty(empty) });
                let is_open = node.is_none();
                cases.push(node);
                if is_open {
                    break;
                }
            }
            if let Some(cases) = cases.into_iter().collect::<Option<Vec<Node>>>() {
                return Ok(Some(End::Cases { by: split.by, cases, step: split.step }));
            }
        }
        Ok(None)
    }

    /// What is tried where nothing changes any more.
    fn conclude(&mut self, sets: &Sets, depth: usize) -> Result<Option<End>, Halt> {
        if self.n_tests > self.effort.most_tests {
            return Ok(None);
        }
        if let Some(end) = self.unequal(sets)? {
            return Ok(Some(end));
        }
        let all: Vec<usize> = (0..sets.current.len()).rev().collect();
        if depth >= self.effort.most_depth {
            return Ok(None);
        }
        if let Some(end) = self.at_once(sets, &all)? {
            return Ok(Some(end));
        }
        // Each component of the property's view knows more than all of them together, so that nothing is lost by treating them one by one.
        let root = self.root();
        if sets.current[root].is_some()
            && let Some(node) = self.components(root, sets, depth)?
        {
            return Ok(node.map(|node| node.end));
        }
        for holding in self.holders(sets, &all)? {
            if let Some(split) = self.holder_cases(holding, sets)?
                && let Some(node) = self.cases(split, depth)?
            {
                return Ok(Some(node.end));
            }
        }
        let open: Vec<usize> = (0..root).filter(|&spot| sets.current[spot].is_some()).collect();
        for spot in open {
            let node = match self.is_crowd(spot) {
                true => self.components_of_one(spot, sets, depth)?,
                false => self.components(spot, sets, depth)?,
            };
            if let Some(node) = node {
                return Ok(node.map(|node| End::After(Box::new(node))));
            }
        }
        if sets.scheduled.is_none()
            && let Some(split) = self.somebody(sets)?
        {
            return Ok(self.cases(split, depth)?.map(|node| node.end));
        }
        Ok(None)
    }

    /// Refutes all cases of a split, or gives it up.
    fn cases(&mut self, split: Split, depth: usize) -> Result<Option<Node>, Halt> {
        let mut cases = Vec::new();
        for sets in split.cases {
            match self.begun_case(sets, depth)? {
                Some(node) => cases.push(node),
                None => return Ok(None),
            }
        }
        let end = End::Cases { by: split.by, cases, step: split.step };
        Ok(Some(Node { steps: Vec::new(), end }))
    }

    /// Refutes a case whose first spots may have edges that are in no fair component.
    pub(crate) fn begun_case(&mut self, mut sets: Sets, depth: usize) -> Result<Option<Node>, Halt> {
        let begun: Vec<usize> = sets.queue.iter().copied().collect();
        let mut steps = Vec::new();
        for spot in begun {
            if let Some(empty) = self.fair(spot, &mut sets, &mut steps)? {
                return Ok(Some(Node { steps, end: End::Empty(empty) }));
            }
        }
        Ok(self.case(sets, depth + 1)?.map(|mut node| {
            node.steps.splice(0..0, steps);
            node
        }))
    }

    /// Refutes a case by what follows from the first spots for their neighbours, and holders that fairness alone excludes; nothing else is tried.
    pub(crate) fn quick_case(&mut self, mut sets: Sets) -> Result<Option<Node>, Halt> {
        let mut steps = Vec::new();
        let begun: Vec<usize> = sets.queue.iter().copied().collect();
        let mut end = self.at_once(&sets, &begun)?;
        if end.is_none() {
            end = self.propagate(&mut sets, &mut steps, false)?.map(End::Empty);
        }
        if end.is_none() && !steps.is_empty() {
            end = self.at_once(&sets, &begun)?;
        }
        Ok(end.map(|end| Node { steps, end }))
    }

    /// What the view of the property shows of what is left, and which other views show something of it.
    fn what_is_left(&mut self, sets: &Sets) -> Result<Leftover, Halt> {
        let root = self.root();
        let mut spots: Vec<usize> = (0..root).filter(|&spot| sets.current[spot].is_some()).collect();
        let mut sizes = vec![0; root];
        for &spot in &spots {
            sizes[spot] = self.edges(spot, sets)?.len();
        }
        spots.sort_by_key(|&spot| sizes[spot]);
        let members = &self.shop.views.list[self.view(root)].members;
        let is_other = |spot: &usize| !members.contains(&ProcessId::new(*spot));
        let spots: Vec<usize> = spots.into_iter().filter(is_other).collect();
        let mut shown = Vec::new();
        for &spot in [root].iter().chain(spots.iter().take(MOST_SHOWN)) {
            let edges = self.base_edges(spot, sets)?;
            let graph = self.shop.graph(self.view(spot))?;
            let rows = edges.iter().map(|edge| graph.graph.arc(edge).from).collect();
            // A view of no process says nothing.
            shown.extend(Some(in_words(&self.shop.views, self.view(spot), &rows)).filter(|words| !words.is_empty()));
        }
        let others = spots.len().saturating_sub(MOST_SHOWN);
        let others = if others > 0 { format!("; and so on, in {others} more views") } else { String::new() };
        let in_words = format!("{}{others}", shown.join("; "));
        Ok(Leftover { in_words, near: spots.into_iter().map(ProcessId::new).collect() })
    }

    /// The steps that matter, as a certificate has them.
    fn sliced(&self, node: &Node) -> Vec<RefutationStep> {
        let mut needed = vec![false; self.taken.len()];
        self.mark_node(node, &mut needed);
        self.written(node, &needed)
    }

    fn mark_node(&self, node: &Node, needed: &mut [bool]) {
        match &node.end {
            End::Empty(version) => self.mark(*version, needed),
            End::Unequal { by, .. } => by.iter().for_each(|&version| self.mark(version, needed)),
            End::After(node) => self.mark_node(node, needed),
            End::Cases { by, cases, .. } => {
                by.iter().for_each(|&version| self.mark(version, needed));
                cases.iter().for_each(|case| self.mark_node(case, needed));
            }
        }
    }

    fn mark(&self, version: Version, needed: &mut [bool]) {
        let mut open = vec![version];
        while let Some(version) = open.pop() {
            if let Some(step) = self.versions[version].made_by
                && !needed[step]
            {
                needed[step] = true;
                open.extend(&self.taken[step].inputs);
            }
        }
    }

    fn written(&self, node: &Node, needed: &[bool]) -> Vec<RefutationStep> {
        let is_needed = |step: usize| needed[step] || matches!(self.taken[step].step, RefutationStep::Single(_));
        let taken = node.steps.iter().filter(|&&step| is_needed(step)).map(|&step| self.taken[step].step.clone());
        let mut steps: Vec<RefutationStep> = taken.collect();
        match &node.end {
            End::Empty(_) => {}
            End::Unequal { invariant, .. } => steps.push(RefutationStep::Unequal(*invariant)),
            End::After(node) => steps.extend(self.written(node, needed)),
            End::Cases { cases, step, .. } => {
                steps.push(step(cases.iter().map(|case| self.written(case, needed)).collect()));
            }
        }
        steps
    }
}

/// Whether more work is worth it: a limit that was reached.
pub fn stopped(reason: &StopReason) -> bool {
    matches!(reason, StopReason::Cancelled | StopReason::TimeLimit(_) | StopReason::MemoryLimit(_))
}
