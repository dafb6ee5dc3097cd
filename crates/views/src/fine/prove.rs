//! From coarse views to fine ones, until they exclude a violation or there is nothing finer to try.
//!
//! In: a program of one size, and questions. Out: for each a proof, or why there is none. It starts with one view for each cell that names
//! processes (with all data cells, where these have few values), by signature. What comes next is read off what failed, a state that all views admit
//! ([`Position`]): the first view of which a finer one does not admit it is made finer, with those of the other elements of the same array; where no
//! single one is enough, all are. Then views are closed together ([`close_together`]), and made finer still; then those two cells get a view in common
//! of which it does not admit the state; the last view has all cells. Where all that is not enough, it is tried again with flows ([`super::flows`]), which leave out states
//! whose sums are wrong.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use base::{Budget, StopReason};
use evidence::fine::{FineProof, FineView, LocalItem};
use model::Model;
use model::process::FamilyId;
use model::value::Value;
use model::variable::VarId;
use rustc_hash::FxHashMap;

use super::bits::Bits;
use super::closure::{Closed, Shape, close};
use super::datum::Datum;
use super::flows::{Flow, Grain, flows};
use super::partition::{Fineness, shape};
use super::pattern::patterns;
use super::search::{Joint, Pattern, Position, excludes};
use super::semijoin::close_together;
use super::skeleton::{Edge, Refusal, Skeleton, skeleton};
use crate::fragment::Question;
use crate::layout::{Layout, SharedColumn, holds_members};
use crate::sight::Ground;

/// Data cells stand in every view where they have so many values together at most.
const MOST_VALUES: u128 = 256;

/// And those that one flow weighs have a view in common where they have so many.
const MOST_WEIGHED_VALUES: u128 = 1_024;

/// More cells are not merged into one view.
const MOST_CELLS: usize = 4;

/// More views are not closed together, and more pairs of cells get no view in common.
const MOST_TOGETHER: usize = 10;
const MOST_PAIRS: usize = 12;

/// Which flows are tried, one after the other.
const GRAINS: [Option<Grain>; 3] = [None, Some(Grain::Places), Some(Grain::States)];

/// How fine the partition of a view is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Level {
    /// By signature.
    Signature,
    /// One round finer, and by what the property says of local states.
    Kept,
    /// Every local state by itself.
    Full,
}

/// What a view is, whatever the property.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ViewKey {
    cells: Vec<usize>,
    level: Level,
    /// Which flows leave out some of its states.
    grain: Option<Grain>,
}

/// Views; `None` for those that are too large.
type KnownViews = FxHashMap<ViewKey, Option<Rc<Closed>>>;

/// A view that is held against a violation.
#[derive(Clone)]
struct GradedView {
    level: Level,
    view: Rc<Closed>,
}

/// What is tried next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rung {
    /// Views that are finer, by themselves.
    Finer(Level),
    /// All views closed together, this fine.
    Together(Level),
    /// Two cells in one view.
    Pairs,
    /// All cells in one view.
    Merged,
}

/// What is known of a question so far.
struct Attempt<'p> {
    patterns: &'p [Pattern],
    /// The flows, and where they are from.
    flows: &'p [Flow],
    grain: Option<Grain>,
    /// The first pattern that was not excluded.
    at: usize,
    views: Vec<GradedView>,
    is_joint: bool,
    /// Views by what this property says, by their cells; `None` for those that are too large.
    kept: FxHashMap<Vec<usize>, Option<Rc<Closed>>>,
}

impl<'p> Attempt<'p> {
    fn new(patterns: &'p [Pattern], flows: &'p [Flow], grain: Option<Grain>) -> Attempt<'p> {
        Attempt { patterns, flows, grain, at: 0, views: Vec::new(), is_joint: false, kept: FxHashMap::default() }
    }

    /// The sets of local states that patterns ask for, and those that weigh alike.
    fn keep(&self) -> Vec<Bits> {
        let of_patterns =
            { self.patterns.iter() }.flat_map(|pattern| pattern.processes.iter().chain([&pattern.everyone])).cloned();
        let mut sets: Vec<Bits> = of_patterns.collect();
        for flow in self.flows {
            let mut weights = flow.states.clone();
            weights.sort_unstable();
            weights.dedup();
            for weight in weights {
                let mut set = Bits::new(flow.states.len());
                let alike = (0..flow.states.len()).filter(|&state| flow.states[state] == weight);
                alike.for_each(|state| set.insert(state));
                sets.push(set);
            }
        }
        sets
    }

    /// Puts a view into the place of a coarser one; beside it, where that was closed together with others: by itself, a finer one may admit more.
    fn take(&mut self, at: usize, finer: GradedView) {
        match self.is_joint {
            true => self.views.push(finer),
            false => self.views[at] = finer,
        }
    }
}

/// The family that proofs are about: the largest one.
pub fn family(model: &Model) -> Option<FamilyId> {
    let largest = model.families.entries().max_by_key(|(_, family)| family.count())?;
    (largest.1.count() >= 2).then_some(largest.0)
}

/// A program, listed, with which questions are asked.
pub struct Fine<'m> {
    ground: Ground<'m>,
    skeleton: Skeleton,
    /// The columns that steps touch: those that name processes, and those that do not.
    naming: Vec<usize>,
    data: Vec<usize>,
    budget: &'m Budget,
    /// The views that do not depend on the property.
    known: RefCell<KnownViews>,
    /// Flows in which local states weigh alike that differ in numbers alone, and all others.
    place_flows: OnceCell<Vec<Flow>>,
    state_flows: OnceCell<Vec<Flow>>,
}

/// What came of a question.
pub enum Outcome {
    /// A proof, and how many states its views have.
    Proved(Box<FineProof>, usize),
    /// Views do not exclude a violation.
    Open,
}

impl<'m> Fine<'m> {
    /// Lists a program.
    ///
    /// # Errors
    /// Why it cannot be listed.
    pub fn new(ground: Ground<'m>, budget: &'m Budget) -> Result<Fine<'m>, Refusal> {
        let skeleton = skeleton(ground, budget)?;
        let touched = |column: &usize| {
            let touches = |list: &[(usize, Datum)]| list.iter().any(|(one, _)| one == column);
            skeleton.edges.iter().any(|edge| touches(&edge.guards) || touches(&edge.writes))
        };
        let names = |column: &usize| match ground.layout.shared[*column] {
            SharedColumn::Cell(cell) => holds_members(ground.model.cells[cell].ty, ground.layout.family),
            SharedColumn::Control(_) | SharedColumn::Taken(..) => false,
        };
        let touched: Vec<usize> = (0..ground.layout.shared.len()).filter(touched).collect();
        let (naming, data) = touched.into_iter().partition(names);
        Ok(Fine {
            ground,
            skeleton,
            naming,
            data,
            budget,
            known: RefCell::default(),
            place_flows: OnceCell::new(),
            state_flows: OnceCell::new(),
        })
    }

    /// Whether no step of a listed local state is a fault, whatever the rest of the state is.
    pub fn is_faultless(&self) -> bool {
        !self.skeleton.may_fault
    }

    /// The local states and steps.
    pub fn skeleton(&self) -> &Skeleton {
        &self.skeleton
    }

    /// Looks for a proof.
    ///
    /// # Errors
    /// A limit, or why the question is not followed.
    pub fn prove(&self, question: &Question) -> Result<Outcome, Refusal> {
        let (expr, value) = match question {
            Question::Never { expr, value, .. } => (expr, value),
            Question::NoFault if self.is_faultless() => {
                return Ok(Outcome::Proved(Box::new(self.certified(&[], (false, &[]))), 0));
            }
            Question::NoFault | Question::NoDeadlock => return Ok(Outcome::Open),
        };
        let patterns = patterns(self.ground, &self.skeleton, (expr, *value))?;
        for grain in GRAINS {
            let flows = self.flows(grain);
            if grain.is_some() && flows.is_empty() {
                continue;
            }
            let outcome = self.climb(&mut Attempt::new(&patterns, flows, grain)).map_err(Refusal::Stopped)?;
            if let Outcome::Proved(..) = outcome {
                return Ok(outcome);
            }
        }
        Ok(Outcome::Open)
    }

    /// The flows of this grain; none where another grain has the same.
    pub fn flows(&self, grain: Option<Grain>) -> &[Flow] {
        let find = |grain: Grain| flows(self.ground, &self.skeleton, grain);
        match grain {
            None => &[],
            Some(Grain::Places) => self.place_flows.get_or_init(|| find(Grain::Places)),
            Some(Grain::States) => self.state_flows.get_or_init(|| {
                let is_number = |datum: &Datum| matches!(datum, Datum::Value(Value::Int(_)));
                match self.skeleton.states.iter().flatten().any(is_number) {
                    true => find(Grain::States),
                    false => Vec::new(),
                }
            }),
        }
    }

    fn climb(&self, attempt: &mut Attempt<'_>) -> Result<Outcome, StopReason> {
        // Flows say little of blocks in which local states weigh differently.
        let level = if attempt.flows.is_empty() { Level::Signature } else { Level::Kept };
        for cells in self.groups(attempt.flows) {
            let view = self.view(attempt, &cells, level)?;
            attempt.views.extend(view.map(|view| GradedView { level, view }));
        }
        let mut rungs = self.rungs(attempt.flows).into_iter().peekable();
        while let Some(candidate) = self.candidate(attempt)? {
            loop {
                let Some(&rung) = rungs.peek() else { return Ok(Outcome::Open) };
                let is_finer = match rung {
                    Rung::Finer(level) => self.refine(attempt, level, &candidate)?,
                    Rung::Together(level) => self.join(attempt, level)?,
                    Rung::Pairs => self.pair(attempt, &candidate)?,
                    Rung::Merged => self.merge(attempt)?,
                };
                // What is guided by the state that was admitted is asked again about the next one.
                if !is_finer || matches!(rung, Rung::Together(_) | Rung::Merged) {
                    rungs.next();
                }
                if is_finer {
                    break;
                }
            }
        }
        let views: Vec<&Closed> = attempt.views.iter().map(|graded| &*graded.view).collect();
        let n_states = views.iter().map(|view| view.theta.len()).sum();
        Ok(Outcome::Proved(Box::new(self.certified(&views, (attempt.is_joint, attempt.flows))), n_states))
    }

    /// A violating state that the views admit. What they exclude they exclude for good: they only get finer.
    fn candidate(&self, attempt: &mut Attempt<'_>) -> Result<Option<Position>, StopReason> {
        let views = attempt.views.iter().map(|graded| &*graded.view);
        let joint = Joint::new(&self.skeleton, (views, attempt.flows), (self.ground.config.cell_choices, self.budget));
        while let Some(pattern) = attempt.patterns.get(attempt.at) {
            if let Some(found) = joint.candidate(pattern)? {
                return Ok(Some(found));
            }
            attempt.at += 1;
        }
        Ok(None)
    }

    /// From cheap to dear.
    fn rungs(&self, flows: &[Flow]) -> Vec<Rung> {
        let config = self.ground.config;
        let n_states = self.skeleton.states.len();
        let can_be_full = n_states <= config.cell_locals_apart;
        let n_views = self.groups(flows).len();
        let can_be_joined = (2..=MOST_TOGETHER).contains(&n_views);
        let mut rungs = vec![Rung::Finer(Level::Kept)];
        rungs.extend(can_be_joined.then_some(Rung::Together(Level::Kept)));
        rungs.extend(can_be_full.then_some(Rung::Finer(Level::Full)));
        rungs.extend((can_be_joined && can_be_full).then_some(Rung::Together(Level::Full)));
        rungs.extend((n_states <= config.cell_locals_merged && n_views > 2).then_some(Rung::Pairs));
        let n_cells = self.naming.len() + self.data.len();
        let can_be_merged = n_states <= config.cell_locals_merged && self.naming.len() > 1 && n_cells <= MOST_CELLS;
        rungs.extend(can_be_merged.then_some(Rung::Merged));
        rungs
    }

    /// Puts a finer view into the place of the first one that alone keeps the state from being excluded, and of those of the same array; into the place of
    /// all, where there is no such one. Whether there was something to do.
    fn refine(&self, attempt: &mut Attempt<'_>, level: Level, candidate: &Position) -> Result<bool, StopReason> {
        let mut finer: Vec<(usize, Rc<Closed>)> = Vec::new();
        let is_as_fine = |cells: &[usize]| {
            attempt.views.iter().any(|graded| graded.level >= level && graded.view.shape.cells == cells)
        };
        let coarser: Vec<usize> =
            (0..attempt.views.len()).filter(|&at| !is_as_fine(&attempt.views[at].view.shape.cells)).collect();
        for &at in &coarser {
            let cells = attempt.views[at].view.shape.cells.clone();
            let Some(view) = self.view(attempt, &cells, level)? else { continue };
            if excludes(&self.skeleton, &view, candidate) {
                let variables = self.variables(&cells);
                for &at in &coarser {
                    let cells = attempt.views[at].view.shape.cells.clone();
                    if self.variables(&cells) != variables {
                        continue;
                    }
                    if let Some(view) = self.view(attempt, &cells, level)? {
                        attempt.take(at, GradedView { level, view });
                    }
                }
                return Ok(true);
            }
            finer.push((at, view));
        }
        let is_finer = !finer.is_empty();
        finer.into_iter().for_each(|(at, view)| attempt.take(at, GradedView { level, view }));
        Ok(is_finer)
    }

    /// The variables of cells.
    fn variables(&self, cells: &[usize]) -> Vec<Option<VarId>> {
        let variable = |&column: &usize| match self.ground.layout.shared[column] {
            SharedColumn::Cell(cell) => Some(self.ground.model.cells[cell].var),
            SharedColumn::Control(_) | SharedColumn::Taken(..) => None,
        };
        cells.iter().map(variable).collect()
    }

    /// Closes the views of all cells together, beside those that are finer.
    fn join(&self, attempt: &mut Attempt<'_>, level: Level) -> Result<bool, StopReason> {
        let keep = attempt.keep();
        let groups = self.groups(attempt.flows);
        let shapes: Vec<Shape> = groups.iter().map(|cells| self.shape(cells, level, &keep)).collect();
        let joined = close_together(self.ground, &self.skeleton, (&shapes, attempt.flows), self.budget)?;
        let Some(joined) = joined else { return Ok(false) };
        attempt.views.retain(|graded| graded.level > level);
        attempt.views.extend(joined.into_iter().map(|view| GradedView { level, view: Rc::new(view) }));
        attempt.is_joint = true;
        Ok(true)
    }

    /// A view of two cells that a step has to do with and that does not admit the state.
    fn pair(&self, attempt: &mut Attempt<'_>, candidate: &Position) -> Result<bool, StopReason> {
        for cells in self.pairs(attempt.flows) {
            if attempt.views.iter().any(|graded| graded.view.shape.cells == cells) {
                continue;
            }
            let Some(view) = self.view(attempt, &cells, Level::Full)? else { continue };
            if excludes(&self.skeleton, &view, candidate) {
                attempt.views.push(GradedView { level: Level::Full, view });
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The cells of views of two cells each.
    fn pairs(&self, flows: &[Flow]) -> Vec<Vec<usize>> {
        let groups = self.groups(flows);
        let touches = |edge: &Edge, cells: &[usize]| {
            edge.guards.iter().chain(&edge.writes).any(|(column, _)| cells.contains(column))
        };
        let mut found = Vec::new();
        for (at, one) in groups.iter().enumerate() {
            for other in &groups[at + 1..] {
                let alone = |cells: &[usize], beside: &[usize]| -> Vec<usize> {
                    cells.iter().copied().filter(|cell| !beside.contains(cell)).collect()
                };
                let (first, second) = (alone(one, other), alone(other, one));
                if self.skeleton.edges.iter().any(|edge| touches(edge, &first) && touches(edge, &second)) {
                    found.push([&one[..], &second].concat());
                }
            }
        }
        found.truncate(MOST_PAIRS);
        found
    }

    /// One view of all cells.
    fn merge(&self, attempt: &mut Attempt<'_>) -> Result<bool, StopReason> {
        let cells = [&self.naming[..], &self.data[..]].concat();
        let view = self.view(attempt, &cells, Level::Full)?;
        let is_finer = view.is_some();
        attempt.views.extend(view.map(|view| GradedView { level: Level::Full, view }));
        Ok(is_finer)
    }

    /// The views of every rung, each made as fine as it can be, without flows and with them, for tests.
    ///
    /// # Errors
    /// A limit.
    pub fn ladder(&self) -> Result<Vec<Vec<Closed>>, StopReason> {
        let mut all = Vec::new();
        for grain in GRAINS {
            let flows = self.flows(grain);
            if grain.is_none() || !flows.is_empty() {
                all.extend(self.ladder_with(Attempt::new(&[], flows, grain))?);
            }
        }
        Ok(all)
    }

    fn ladder_with(&self, mut attempt: Attempt<'_>) -> Result<Vec<Vec<Closed>>, StopReason> {
        let flows = attempt.flows;
        let levels = [Level::Signature, Level::Kept, Level::Full];
        let mut all = Vec::new();
        for level in levels {
            let pairs = if level == Level::Full { self.pairs(flows) } else { Vec::new() };
            let groups = self.groups(flows).into_iter().chain(pairs);
            let views = groups.map(|cells| self.view(&mut attempt, &cells, level));
            let views: Vec<Option<Rc<Closed>>> = views.collect::<Result<_, _>>()?;
            all.push(views.into_iter().flatten().map(|view| (*view).clone()).collect());
            let shapes: Vec<Shape> = self.groups(flows).iter().map(|cells| self.shape(cells, level, &[])).collect();
            all.extend(close_together(self.ground, &self.skeleton, (&shapes, flows), self.budget)?);
        }
        if self.rungs(flows).contains(&Rung::Merged) && self.merge(&mut attempt)? {
            all.push(attempt.views.iter().map(|graded| (*graded.view).clone()).collect());
        }
        Ok(all)
    }

    /// The cells of each view.
    fn groups(&self, flows: &[Flow]) -> Vec<Vec<usize>> {
        let context = self.ground.model.type_context();
        let size = |&column: &usize| match self.ground.layout.shared[column] {
            SharedColumn::Cell(cell) => self.ground.model.cells[cell].ty.n_values(context),
            SharedColumn::Control(_) | SharedColumn::Taken(..) => 16,
        };
        let n_values = |cells: &[usize]| cells.iter().map(size).fold(1, u128::saturating_mul);
        let are_few = n_values(&self.data) <= MOST_VALUES;
        let mut groups: Vec<Vec<usize>> = match are_few {
            true => self.naming.iter().map(|&column| [&[column], &self.data[..]].concat()).collect(),
            false => self.naming.iter().chain(&self.data).map(|&column| vec![column]).collect(),
        };
        if groups.is_empty() {
            groups.push(self.data.clone());
        }
        for flow in flows.iter().filter(|_| !are_few) {
            let is_weighed = |column: &usize| flow.cells.iter().any(|cell| cell.column == *column);
            let weighed: Vec<usize> = self.data.iter().copied().filter(is_weighed).collect();
            if n_values(&weighed) <= MOST_WEIGHED_VALUES && !weighed.is_empty() && !groups.contains(&weighed) {
                groups.push(weighed);
            }
        }
        groups
    }

    fn shape(&self, cells: &[usize], level: Level, keep: &[Bits]) -> Shape {
        let fineness = match level {
            Level::Signature => Fineness::Rounds(0),
            Level::Kept => Fineness::Rounds(1),
            Level::Full => Fineness::Full,
        };
        let keep = if level == Level::Kept { keep } else { &[] };
        shape(self.ground, &self.skeleton, (cells, 2), keep, fineness)
    }

    /// A view by itself; `None` where it is too large.
    fn view(&self, attempt: &mut Attempt<'_>, cells: &[usize], level: Level) -> Result<Option<Rc<Closed>>, StopReason> {
        let key = ViewKey { cells: cells.to_vec(), level, grain: attempt.grain };
        let known = match level {
            Level::Kept => attempt.kept.get(cells).cloned(),
            _ => self.known.borrow().get(&key).cloned(),
        };
        if let Some(known) = known {
            return Ok(known);
        }
        let shape = self.shape(cells, level, &attempt.keep());
        let view = close(self.ground, &self.skeleton, (shape, attempt.flows), self.budget)?.map(Rc::new);
        match level {
            Level::Kept => drop(attempt.kept.insert(cells.to_vec(), view.clone())),
            _ => drop(self.known.borrow_mut().insert(key, view.clone())),
        }
        Ok(view)
    }

    /// Views as a claim.
    fn certified(&self, views: &[&Closed], (is_joint, flows): (bool, &[Flow])) -> FineProof {
        let Ground { layout, .. } = self.ground;
        let item = |datum: &Datum| match datum {
            Datum::Value(value) => LocalItem::Value(*value),
            Datum::Place(place) => LocalItem::Place(*place),
            Datum::Me => LocalItem::Itself,
            _ => LocalItem::Another,
        };
        let view = |view: &&Closed| {
            let mut theta: Vec<_> = view.theta.iter().cloned().collect();
            theta.sort();
            let cells = view.shape.cells.iter().map(|&column| layout.shared[column]).collect();
            FineView { cells, k: view.shape.k, blocks: view.shape.blocks.clone(), theta }
        };
        FineProof {
            family: layout.family,
            local: layout.local.clone(),
            states: self.skeleton.states.iter().map(|state| state.iter().map(item).collect()).collect(),
            views: views.iter().map(view).collect(),
            is_joint,
            flows: flows.iter().map(|flow| flow.certified(self.ground)).collect(),
        }
    }
}

/// The layout of a program of one size.
pub fn layout(model: &Model) -> Option<Layout> {
    Some(Layout::new(model, family(model)?, false))
}
