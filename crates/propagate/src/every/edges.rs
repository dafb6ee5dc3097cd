//! The view graph of one of any number of interchangeable processes.
//!
//! In: views of one process each, closed under steps (`::views`). Out: its edges. An edge says which process stepped, as far as the view shows it,
//! and which named processes are named before and after. Every run, of any number of processes, is an infinite path of this graph for each of
//! them. What is unseen may be anything that fits: there are more edges than turns, never fewer.

use std::collections::BTreeSet;

use ::views::choices::Choices;
use ::views::configuration::{Configuration, Item, MANY_NAMED, Slot};
use ::views::extend::{extensions, key};
use ::views::fixpoint::{Failure, Views, views};
use ::views::layout::SharedColumn;
use ::views::sight::{Ground, Guessing, Halt as Stop, Needs, Sight, Who};
use ::views::start::{StartLimits, initial};
use ::views::support::{Support, support};
use base::{Budget, Feature, StopReason, Unsupported};
use engine::{Contradiction, Halt};
use model::control::{Action, ActionId, ActionKind, StmtKind};
use model::process::ProcessId;
use model::statements::statements;
use rustc_hash::{FxHashMap, FxHashSet};
use streett::{GraphArc, MarkedGraph};

/// At most so many processes are seen to decide quantifiers of a step, and for their contents; what needs more is guessed.
const MOST_WITNESSES: usize = 2;
const MOST_LOOKED_AT: usize = 3;

/// The slot of the process whose view it is.
pub const ME: Slot = 0;

/// The process that steps, as a view shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mover {
    /// The process whose view it is.
    Me,
    /// Another one of the family: the one in this slot, or one that the view does not name.
    Other(Option<Slot>),
    /// A process of another family.
    Outside(ProcessId),
}

/// An edge of the view graph.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edge {
    /// The view before.
    pub from: usize,
    /// The view after.
    pub to: usize,
    /// The process that steps.
    pub mover: Mover,
    /// Its action; `None` where it stutters.
    pub action: Option<ActionId>,
    /// For each slot before its slot after, where it has one.
    pub kept: Vec<Option<Slot>>,
    /// The mover's slot after, where it has one.
    pub mover_after: Option<Slot>,
}

/// The view graph.
pub struct Crowd<'m> {
    /// The program.
    pub ground: Ground<'m>,
    /// The views, ascending.
    pub views: Vec<Configuration>,
    /// Those that runs start in.
    pub initial: Vec<usize>,
    /// The edges.
    pub edges: Vec<Edge>,
    /// The same as a graph.
    pub graph: MarkedGraph,
    /// What the process of each view can surely do, whatever is unseen.
    pub able: Vec<BTreeSet<ActionId>>,
    /// The same of each process of another family.
    pub outside_able: FxHashMap<ProcessId, Vec<BTreeSet<ActionId>>>,
    /// The closed views.
    pub closed: Views,
    numbers: FxHashMap<Configuration, usize>,
}

fn outside(text: &str) -> Halt {
    StopReason::from(Unsupported::about(Feature::Sizes, text)).into()
}

/// The processes of other families.
pub fn others(ground: Ground<'_>) -> Vec<ProcessId> {
    let columns = ground.layout.shared.iter();
    columns
        .filter_map(|column| if let SharedColumn::Control(process) = column { Some(*process) } else { None })
        .collect()
}

impl<'m> Crowd<'m> {
    /// The view graph of a program in the fragment.
    ///
    /// # Errors
    /// A limit, or what is outside of the fragment.
    pub fn new(ground: Ground<'m>, budget: &Budget, most_edges: usize) -> Result<Crowd<'m>, Halt> {
        if ground.layout.is_ordered {
            return Err(outside("processes are compared by their order"));
        }
        let halted = |failure: Failure, said: &str| match failure {
            Failure::Stopped(reason) => Halt::from(reason),
            Failure::Outside(_) => outside(said),
            Failure::TooMany | Failure::OfNoUse => outside("the steps of its views are too many"),
            Failure::Full => outside(MANY_NAMED),
        };
        let uneven = "a step tells processes apart, or chooses from very many numbers";
        let closed = views(ground, 1, budget).map_err(|failure| halted(failure, uneven))?;
        let mut list: Vec<Configuration> = closed.theta.iter().cloned().collect();
        list.sort();
        let numbers: FxHashMap<Configuration, usize> = list.iter().cloned().zip(0..).collect();
        let starts = initial(ground, 1, StartLimits { most: usize::MAX, budget })
            .map_err(|failure| halted(failure, "processes do not start alike"))?;
        let initial = starts.iter().filter_map(|start| numbers.get(start).copied()).collect();
        let mut crowd = Crowd {
            ground,
            views: list,
            initial,
            edges: Vec::new(),
            graph: MarkedGraph::new(0, Vec::new()),
            able: Vec::new(),
            outside_able: FxHashMap::default(),
            closed,
            numbers,
        };
        crowd.fill(budget, most_edges)?;
        Ok(crowd)
    }

    fn fill(&mut self, budget: &Budget, most_edges: usize) -> Result<(), Halt> {
        let mut found: FxHashSet<Edge> = FxHashSet::default();
        let outsiders = others(self.ground);
        for at in 0..self.views.len() {
            budget.check(0)?;
            self.own_edges(at, &mut found)?;
            self.edges_of_others(at, &mut found)?;
            for &process in &outsiders {
                self.edges_outside(at, process, &mut found)?;
            }
            if found.len() > most_edges {
                return Err(StopReason::from(Unsupported::about(Feature::Numbers, "edges")).into());
            }
        }
        self.edges = found.into_iter().collect();
        self.edges.sort();
        let arcs = self.edges.iter().map(|edge| GraphArc { from: edge.from as u32, to: edge.to as u32 }).collect();
        self.graph = MarkedGraph::new(self.views.len(), arcs);
        Ok(())
    }

    fn own_edges(&mut self, at: usize, found: &mut FxHashSet<Edge>) -> Result<(), Halt> {
        let view = self.views[at].clone();
        let who = Who::Slot(ME);
        let actions = self.actions(&view, who);
        let able: BTreeSet<ActionId> =
            actions.iter().copied().filter(|&action| self.is_surely_able(&view, who, action)).collect();
        for &action in &actions {
            for after in self.ways(&view, who, action)? {
                found.insert(self.edge((at, &view), (who, Some(action)), &after)?);
            }
        }
        if able.is_empty() || self.has_idle(&actions) {
            found.insert(self.still(at, Mover::Me));
        }
        self.able.push(able.into_iter().filter(|&action| !self.is_idle(action)).collect());
        Ok(())
    }

    fn edges_of_others(&mut self, at: usize, found: &mut FxHashSet<Edge>) -> Result<(), Halt> {
        let view = self.views[at].clone();
        found.insert(self.still(at, Mover::Other(None)));
        for slot in 1..view.slots.len() {
            found.insert(self.still(at, Mover::Other(Some(slot as Slot))));
        }
        for one in self.closed.ones.get(&key(&view)).into_iter().flatten() {
            let all = extensions(self.ground.layout, &view, one, None).ok_or_else(|| outside(MANY_NAMED))?;
            for extended in all {
                if self.closed.missing(&extended.config, extended.newest).is_some() {
                    continue;
                }
                let who = Who::Slot(extended.newest);
                for action in self.actions(&extended.config, who) {
                    for after in self.ways(&extended.config, who, action)? {
                        found.insert(self.edge((at, &view), (who, Some(action)), &after)?);
                    }
                }
            }
        }
        Ok(())
    }

    fn edges_outside(&mut self, at: usize, process: ProcessId, found: &mut FxHashSet<Edge>) -> Result<(), Halt> {
        let view = self.views[at].clone();
        let who = Who::Other(process);
        let actions = self.actions(&view, who);
        let able: BTreeSet<ActionId> =
            actions.iter().copied().filter(|&action| self.is_surely_able(&view, who, action)).collect();
        for &action in &actions {
            for after in self.ways(&view, who, action)? {
                found.insert(self.edge((at, &view), (who, Some(action)), &after)?);
            }
        }
        if able.is_empty() || self.has_idle(&actions) {
            found.insert(self.still(at, Mover::Outside(process)));
        }
        let able = able.into_iter().filter(|&action| !self.is_idle(action)).collect();
        self.outside_able.entry(process).or_default().push(able);
        Ok(())
    }

    fn is_idle(&self, action: ActionId) -> bool {
        matches!(self.ground.model.actions[action].kind, ActionKind::Idle)
    }

    fn has_idle(&self, actions: &[ActionId]) -> bool {
        actions.iter().any(|&action| self.is_idle(action))
    }

    /// The edge of a process that stutters.
    fn still(&self, at: usize, mover: Mover) -> Edge {
        let kept = (0..self.views[at].slots.len()).map(|slot| Some(slot as Slot)).collect();
        let mover_after = match mover {
            Mover::Me => Some(ME),
            Mover::Other(slot) => slot,
            Mover::Outside(_) => None,
        };
        Edge { from: at, to: at, mover, action: None, kept, mover_after }
    }

    fn actions(&self, config: &Configuration, who: Who) -> Vec<ActionId> {
        let place = match who {
            Who::Slot(slot) => config.slots[slot as usize].as_ref().map(|local| local[0]),
            Who::Other(process) => {
                let column = self.ground.layout.shared_column(SharedColumn::Control(process));
                column.map(|column| config.shared[column])
            }
            Who::Nobody => None,
        };
        match place {
            Some(Item::Place(place)) => self.ground.model.places[place].actions.clone(),
            _ => Vec::new(),
        }
    }

    /// The edge of a step: the view, the mover, and the configuration afterwards, in which slots have kept their numbers.
    fn edge(
        &self,
        (at, view): (usize, &Configuration),
        by: (Who, Option<ActionId>),
        after: &Configuration,
    ) -> Result<Edge, Halt> {
        let list = listed(after);
        let new = |slot: usize| list.iter().position(|&one| one as usize == slot).map(|at| at as Slot);
        let target = after.restricted(&[ME]);
        let Some(&to) = self.numbers.get(&target) else {
            return Err(Contradiction::new("views are closed under steps", "they are not").into());
        };
        let (mover, mover_after) = match by.0 {
            Who::Slot(ME) => (Mover::Me, Some(ME)),
            Who::Slot(slot) => {
                let named = Some(slot).filter(|&slot| (slot as usize) < view.slots.len());
                (Mover::Other(named), new(slot as usize))
            }
            Who::Other(process) => (Mover::Outside(process), None),
            Who::Nobody => return Err(Contradiction::new("somebody moves", "nobody does").into()),
        };
        let kept = (0..view.slots.len()).map(new).collect();
        Ok(Edge { from: at, to, mover, action: by.1, kept, mover_after })
    }

    /// All configurations after an action, with all others that have to be seen for it.
    fn ways(&self, config: &Configuration, who: Who, action: ActionId) -> Result<Vec<Configuration>, Halt> {
        let mut found = FxHashSet::default();
        self.step(&Job { config, who, action, n_witnesses: 0, n_looked_at: 0 }, &mut found)?;
        Ok(found.into_iter().collect())
    }

    fn step(&self, job: &Job<'_>, found: &mut FxHashSet<Configuration>) -> Result<(), Halt> {
        let action = &self.ground.model.actions[job.action];
        let Support { witnesses: most, looked_at } = support(self.ground.layout, action);
        let looked_at = looked_at.filter(|&bound| bound <= MOST_LOOKED_AT);
        let guessing = Guessing { contents: looked_at.is_none(), witnesses: most > MOST_WITNESSES };
        let (mut slots, mut witness): (BTreeSet<Slot>, bool) = Default::default();
        let mut choices = Choices::default();
        loop {
            let way = self.attempt(job.config, (job.who, job.action), guessing, &mut choices);
            slots.extend(way.needs.slot);
            witness |= way.needs.witness;
            match way.end {
                Ok(()) => drop(found.insert(way.config)),
                Err(Stop::Fault(_) | Stop::Blocked | Stop::Unseen) => {}
                Err(Stop::Outside(_)) => {
                    return Err(outside("a step tells processes apart, or chooses from very many numbers"));
                }
            }
            if !choices.advance() {
                break;
            }
        }
        let known = job.config.slots.len();
        for slot in slots.into_iter().filter(|_| looked_at.is_some_and(|bound| job.n_looked_at < bound)) {
            let only = Some(slot).filter(|&slot| (slot as usize) < known);
            self.joined(job, only, (0, 1), found)?;
        }
        if witness && job.n_witnesses < most {
            self.joined(job, None, (1, 0), found)?;
        }
        Ok(())
    }

    /// The same step where one more process is seen.
    fn joined(
        &self,
        job: &Job<'_>,
        only: Option<Slot>,
        more: (usize, usize),
        found: &mut FxHashSet<Configuration>,
    ) -> Result<(), Halt> {
        for one in self.closed.ones.get(&key(job.config)).into_iter().flatten() {
            let all = extensions(self.ground.layout, job.config, one, only).ok_or_else(|| outside(MANY_NAMED))?;
            for extended in all {
                if self.closed.missing(&extended.config, extended.newest).is_none() {
                    let (n_witnesses, n_looked_at) = (job.n_witnesses + more.0, job.n_looked_at + more.1);
                    self.step(&Job { config: &extended.config, n_witnesses, n_looked_at, ..*job }, found)?;
                }
            }
        }
        Ok(())
    }

    fn attempt(
        &self,
        config: &Configuration,
        (who, action): (Who, ActionId),
        guessing: Guessing,
        choices: &mut Choices,
    ) -> Attempt {
        let mut sight = Sight {
            ground: self.ground,
            config: config.clone(),
            me: who,
            bound: Vec::new(),
            guessing,
            choices,
            needs: Needs::default(),
        };
        let end = sight.act(action);
        Attempt { end, config: sight.config, needs: sight.needs }
    }

    /// Whether an action is enabled whatever is unseen: some way through it reads nothing unseen, names no new process, and has no loop.
    fn is_surely_able(&self, config: &Configuration, who: Who, action: ActionId) -> bool {
        if has_loop(&self.ground.model.actions[action]) {
            return false;
        }
        let guessing = Guessing { contents: false, witnesses: false };
        let mut choices = Choices::default();
        loop {
            let way = self.attempt(config, (who, action), guessing, &mut choices);
            let is_end = matches!(way.end, Ok(()) | Err(Stop::Fault(_)));
            if is_end && way.needs == Needs::default() && way.config.slots.len() == config.slots.len() {
                return true;
            }
            if !choices.advance() {
                return false;
            }
        }
    }
}

/// A step to be taken.
#[derive(Clone, Copy)]
struct Job<'c> {
    config: &'c Configuration,
    who: Who,
    action: ActionId,
    n_witnesses: usize,
    n_looked_at: usize,
}

/// One way through an action.
struct Attempt {
    end: Result<(), Stop>,
    config: Configuration,
    needs: Needs,
}

fn has_loop(action: &Action) -> bool {
    statements(&action.body).any(|statement| matches!(statement.kind, StmtKind::For(..)))
}

/// The slots that stay when only the first process is seen, in their new order.
fn listed(config: &Configuration) -> Vec<Slot> {
    let mut list = vec![ME];
    for item in config.shared.iter().chain(config.slots[ME as usize].iter().flatten()) {
        if let Item::Slot(slot) = item
            && !list.contains(slot)
        {
            list.push(*slot);
        }
    }
    list
}
