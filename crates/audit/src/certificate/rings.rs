//! Windows of rings, chains and trees checked: every obligation of `evidence::rings`, for every size at once.
//!
//! In: a Model, a property, windows. Out: how many obligations hold, or the first that does not. `text` looks at what the written text does with the
//! index of a process and with the size, `sizes` makes the program at each size that shows words and reads windows off states, `said` takes
//! the property apart, `round` looks for closed walks, `branches` for finite trees, in which `kin` says who is who, `lasting` for what windows can do for ever. Which cells a process touches is not believed: every attempt of a step is watched, and one
//! that looks at, or changes, what stands outside of its window, or further away than is claimed, is refused.

mod branches;
mod kin;
mod lasting;
mod round;
mod said;
mod sizes;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use base::Budget;
use evidence::certificate::DischargedObligations;
use evidence::rings::tree::{FAR, LEFT, PARENT, RIGHT};
use evidence::rings::{ConservedSum, NeighbourTypes, Network, RingItem, RingValue, RingWeight, RingsProof, WindowSet};
use evidence::scope::Scope;
use model::Model;
use model::control::{ActionId, ActionKind};
use model::eval::{State, attempts_up_to, free_cells, is_idle, is_terminated, may_end};
use model::process::ProcessId;
use model::property::PropertyKind;
use model::value::Value;
use model::variable::{CellId, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::pace::Pace;
use super::{CertificateError, MOST_ATTEMPTS, Outcome, words};
use round::Round;
use sizes::{Sized, Sizes, Spot};

/// A window starts in at most so many ways.
const MOST_STARTS: usize = 1 << 18;

/// Values for the items of a window.
type Values = Vec<RingValue>;

/// Checks every obligation of windows that claim a property for every size from some on.
pub(super) fn check(
    model: &Model,
    (name, property): (&str, &PropertyKind),
    (scope, proof): (&Scope, &RingsProof),
    budget: &Budget,
) -> Outcome<DischargedObligations> {
    let said = said::said(model, name, property)?;
    let text = text::Text::new(model, proof, &said)?;
    let size = text.size;
    let declared = &model.parameters[size];
    // Windows side by side have to tell alike who moves, where runs are compared.
    let is_about_runs = matches!(property, PropertyKind::Temporal(_));
    let least = if is_about_runs { proof.from_of_runs() } else { proof.from() };
    match scope {
        Scope::AllSizes { parameter, from, .. } if *parameter == declared.name && *from >= least => {}
        Scope::Instance if declared.value >= least => {}
        _ => return malformed(format!("it claims {scope} of windows of {} processes", proof.width)),
    }
    let sizes = Sizes::new(model, size, proof, budget)?;
    text.check_named(&sizes, proof)?;
    let mut checker = Checker::new(proof, &sizes, budget)?;
    checker.initiality()?;
    checker.steps()?;
    checker.flows()?;
    match property {
        PropertyKind::Temporal(_) => checker.discharged.ranks += lasting::check(&checker, model, name)?,
        _ => checker.implication(property, &said)?,
    }
    Ok(checker.discharged)
}

fn malformed<T>(what: impl Into<String>) -> Outcome<T> {
    Err(CertificateError::Malformed(what.into()))
}

/// What a process of a window can do in one of its states.
#[derive(Clone, Debug)]
pub(super) struct Deed {
    after: Vec<Values>,
    /// By which action each of these comes about.
    by: Vec<ActionId>,
    /// The enabled actions other than leaving `idle`.
    enabled: Vec<ActionId>,
    /// Whether a turn of the process may change nothing, because it has no step or may wait where it is.
    may_stand: bool,
    has_fault: bool,
    is_stuck: bool,
    rests: bool,
}

impl Deed {
    /// The turns of the process in a state, each with its action, or none where it stands still.
    fn turns<'d>(&'d self, state: &'d Values) -> impl Iterator<Item = (Option<ActionId>, &'d Values)> {
        let still = self.may_stand.then_some((None, state));
        self.by.iter().map(|&action| Some(action)).zip(&self.after).chain(still)
    }
}

/// A window that stands somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Beside {
    /// A window, by its place in the proof.
    here: usize,
    /// Another one.
    there: usize,
    /// How much further right it stands; in a tree what it is called.
    by: i64,
    /// In a tree: two processes that stand so to each other.
    kin: Option<(usize, usize)>,
}

impl Beside {
    /// A place that the other window names, as this one does; `None` where it has no name for it.
    fn place(&self, at: i64) -> Option<i64> {
        let Some((here, there)) = self.kin else { return Some(at + self.by) };
        Some(kin::name(here, kin::meant(there, at)?)).filter(|&name| name != FAR)
    }

    fn item(&self, item: RingItem) -> Option<RingItem> {
        Some(match item {
            RingItem::Control(at) => RingItem::Control(self.place(at)?),
            RingItem::Own(at, cell) => RingItem::Own(self.place(at)?, cell),
            RingItem::Element(var, at, element) => RingItem::Element(var, self.place(at)?, element),
            RingItem::Shared(..) => item,
        })
    }

    /// A value of the other window, as this one names it.
    fn value(&self, value: RingValue) -> RingValue {
        match value {
            RingValue::Neighbour(at) => RingValue::Neighbour(self.place(at).unwrap_or(FAR)),
            other => other,
        }
    }
}

pub(super) struct Checker<'a> {
    proof: &'a RingsProof,
    sizes: &'a Sizes,
    number: BTreeMap<&'a NeighbourTypes, usize>,
    known: Vec<FxHashSet<&'a Values>>,
    /// For each window a size and a place where it stands.
    stands: Vec<(usize, Spot)>,
    deeds: Vec<Vec<Vec<Deed>>>,
    /// The states that each window starts in, by their number.
    starts: Vec<BTreeSet<usize>>,
    discharged: DischargedObligations,
    budget: &'a Budget,
    /// Looks at the limits.
    pace: Pace<'a>,
}

impl<'a> Checker<'a> {
    fn new(proof: &'a RingsProof, sizes: &'a Sizes, budget: &'a Budget) -> Outcome<Checker<'a>> {
        let number: BTreeMap<&NeighbourTypes, usize> =
            proof.windows.iter().enumerate().map(|(at, set)| (&set.word, at)).collect();
        if number.len() != proof.windows.len() {
            return malformed("a word is listed twice");
        }
        // The largest size that shows a word stands for all others: there no distance comes round to another one.
        let mut stands: Vec<Option<(usize, Spot)>> = vec![None; proof.windows.len()];
        for (at_size, sized) in sizes.all.iter().enumerate() {
            budget.check(0)?;
            for at in 0..sized.count {
                let Some(&window) = number.get(&sizes.word(sized.count, at)) else {
                    return malformed("a word that occurs has no window");
                };
                let is_better = |(before, spot): (usize, Spot)| match proof.network {
                    Network::Line => before < at_size,
                    // Where most of those are there whom it may name.
                    Network::Tree => relatives(sizes.all[before].count, spot.at) < relatives(sized.count, at),
                };
                if stands[window].is_none_or(is_better) {
                    stands[window] = Some((at_size, Spot { at }));
                }
            }
        }
        let Some(stands) = stands.into_iter().collect::<Option<Vec<_>>>() else {
            return malformed("there is a window of a word that does not occur");
        };
        for (set, &(at_size, spot)) in proof.windows.iter().zip(&stands) {
            let sized = &sizes.all[at_size];
            // There is always a process of which the window does not say whether a cell names it.
            if !sized.naming().is_empty() && sized.count as i64 <= proof.width as i64 + proof.greatest - proof.least {
                return malformed("a window sees all processes that a cell may name");
            }
            is_window(proof, set, &sizes.all[at_size], spot)?;
        }
        if proof.network == Network::Tree {
            all_alike(proof, sizes, &number)?;
        }
        let known = proof.windows.iter().map(|set| set.states.iter().collect()).collect();
        let discharged = DischargedObligations::default();
        let starts = vec![BTreeSet::new(); proof.windows.len()];
        let pace = Pace::new(budget);
        Ok(Checker { proof, sizes, number, known, stands, deeds: Vec::new(), starts, discharged, budget, pace })
    }

    /// Whether a window may be in this state: it is listed, or alone weighs more than a flow allows all to weigh together.
    fn has(&self, window: usize, state: &Values) -> bool {
        let set = &self.proof.windows[window];
        let is_too_much = |flow: &ConservedSum| {
            let others = (1..self.proof.width).map(|at| local_weight(flow, set, (state, at))).sum::<u128>();
            !flow.at_least && others + weighed(flow, set, state) > u128::from(flow.total)
        };
        self.known[window].contains(state) || self.proof.flows.iter().any(is_too_much) || self.names_two(window, state)
    }

    /// Whether one cell would name two processes: no state shows that.
    fn names_two(&self, window: usize, state: &Values) -> bool {
        let (at_size, spot) = self.stands[window];
        let items = self.proof.windows[window].items.iter().zip(state);
        let named = items.filter(|(_, value)| **value == RingValue::Value(Value::Bool(true)));
        let mut cells = named.filter_map(|(item, _)| Some(self.sizes.all[at_size].named(*item, spot)?.0));
        let mut found = BTreeSet::new();
        cells.any(|cell| !found.insert(cell))
    }

    fn initiality(&mut self) -> Outcome<()> {
        for sized in &self.sizes.all {
            let free = free_cells(&sized.model);
            let first = sized.start();
            for at in 0..sized.count {
                self.pace.look()?;
                let window = self.number[&self.sizes.word(sized.count, at)];
                let set = &self.proof.windows[window];
                let mut starts: Vec<Values> = vec![sized.read(first, &set.items, Spot { at })];
                for (place, item) in set.items.iter().enumerate() {
                    let Some(cell) = sized.cell(*item, Spot { at }).filter(|cell| free.contains(cell)) else {
                        continue;
                    };
                    let all = sized.model.cells[cell].ty.values(sized.model.type_context());
                    let values: Vec<_> = all.take(MOST_STARTS + 1).collect();
                    if values.len() * starts.len() > MOST_STARTS {
                        return Err(CertificateError::NotSupported("windows start in too many ways".to_owned()));
                    }
                    let each = |start: &Values| {
                        let start = start.clone();
                        let with = values.iter().map(move |&value| {
                            let mut start = start.clone();
                            start[place] = RingValue::Value(value);
                            start
                        });
                        with.collect::<Vec<Values>>()
                    };
                    starts = starts.iter().flat_map(each).collect();
                }
                self.discharged.initiality += starts.len();
                for start in &starts {
                    self.pace.did_one()?;
                    if !self.has(window, start) {
                        return words::refused("every window has to start as one of its states", "one does not");
                    }
                }
                let starts: FxHashSet<Values> = starts.into_iter().collect();
                let states = self.proof.windows[window].states.iter().enumerate();
                let begins = states.filter(|(_, state)| starts.contains(*state)).map(|(number, _)| number);
                self.starts[window].extend(begins);
            }
        }
        Ok(())
    }

    /// Own steps lead to states of the window, and so do steps of others.
    fn steps(&mut self) -> Outcome<()> {
        for window in 0..self.proof.windows.len() {
            let mut all = Vec::new();
            for state in &self.proof.windows[window].states {
                self.budget.check(0)?;
                let deeds = self.deeds_in(window, state)?;
                for after in deeds.iter().flat_map(|deed| &deed.after) {
                    self.discharged.step += 1;
                    if !self.has(window, after) {
                        return words::refused("every step leads to a state of its window", "one does not");
                    }
                }
                all.push(deeds);
            }
            self.deeds.push(all);
        }
        for beside in self.beside(&self.distances()) {
            let common = self.common(beside);
            self.undisturbed(beside, &common)?;
        }
        // Whoever is far away changes what all share.
        for here in 0..self.proof.windows.len() {
            for there in 0..self.proof.windows.len() {
                let beside = Beside { here, there, by: 0, kin: None };
                let is_shared =
                    |&(at, _): &(usize, usize)| matches!(self.proof.windows[here].items[at], RingItem::Shared(..));
                let common: Vec<(usize, usize)> = self.common(beside).into_iter().filter(is_shared).collect();
                if !common.is_empty() {
                    self.undisturbed(beside, &common)?;
                }
            }
        }
        Ok(())
    }

    /// What each process of a window can do in one of its states; all that it looks at or changes stands in the window, and near it.
    fn deeds_in(&self, window: usize, state: &Values) -> Outcome<Vec<Deed>> {
        let (at_size, spot) = self.stands[window];
        let sized = &self.sizes.all[at_size];
        let items = &self.proof.windows[window].items;
        let whole = sized.with(items, state, spot);
        let mut deeds = Vec::new();
        for at in 0..self.proof.width {
            let process = ProcessId::new((spot.at + at) % sized.count);
            let attempts = attempts_up_to(&sized.model, &whole, process, MOST_ATTEMPTS);
            let Some((steps, footprint)) = attempts else {
                return Err(CertificateError::NotSupported("a step can be taken in too many ways".to_owned()));
            };
            let near = at as i64 + self.proof.least..=at as i64 + self.proof.greatest;
            let is_near = |item: RingItem| match item {
                RingItem::Control(distance) | RingItem::Own(distance, _) | RingItem::Element(_, distance, _) => {
                    match self.proof.network {
                        Network::Line => near.contains(&distance),
                        Network::Tree => [0, PARENT, LEFT, RIGHT].contains(&distance),
                    }
                }
                RingItem::Shared(..) => true,
            };
            let sees = |item: RingItem| items.binary_search(&item).is_ok() && is_near(item);
            // The text only compares what such a cell names with processes that are near.
            let is_seen = |cell: CellId| sized.is_naming(cell) || sees(sized.item(cell, spot));
            let stays = footprint.cells.iter().all(|&cell| is_seen(cell))
                && footprint.places.iter().all(|&other| other == process);
            if !stays {
                return words::refused("a process stays within its window", "one touches what stands outside");
            }
            let model = &sized.model;
            let rests = is_terminated(model, &whole, process)
                || is_idle(model, &whole, process)
                || may_end(model, &whole, process);
            let may_stand = steps.is_empty() || is_idle(model, &whole, process);
            let (after, by, enabled) = Default::default();
            let mut deed = Deed { after, by, enabled, may_stand, has_fault: false, is_stuck: steps.is_empty(), rests };
            for (step, _) in steps {
                if !matches!(model.actions[step.by.action].kind, ActionKind::Idle) {
                    deed.enabled.push(step.by.action);
                }
                match step.result {
                    Ok(after) if !self.passes_on(sized, process, (&whole, &after)) => {
                        let expected = "whoever changes which process a cell names is near the one and the other";
                        return words::refused(expected, "one is not");
                    }
                    Ok(after) => {
                        deed.by.push(step.by.action);
                        deed.after.push(sized.read(&after, items, spot));
                    }
                    Err(_) => deed.has_fault = true,
                }
            }
            deeds.push(deed);
        }
        Ok(deeds)
    }

    /// Whether a step leaves what cells name as it is, or goes from a process near the one that moves to another such one.
    fn passes_on(&self, sized: &Sized, mover: ProcessId, (before, after): (&State, &State)) -> bool {
        let is_near = |value: Value| {
            let of = |distance: i64| sized.position(Spot { at: mover.index() }, distance).map(ProcessId::new);
            (self.proof.least..=self.proof.greatest).any(|distance| of(distance).map(Value::Process) == Some(value))
        };
        sized.naming().iter().copied().all(|cell| {
            let (old, new) = (before.cells[cell.index()], after.cells[cell.index()]);
            old == new || is_near(old) && is_near(new)
        })
    }

    /// The distances, or names, of all who may touch a window.
    fn distances(&self) -> Vec<i64> {
        let span = self.proof.greatest - self.proof.least;
        match self.proof.network {
            Network::Line => (1..=span).flat_map(|by| [by, -by]).collect(),
            Network::Tree => kin::NAMES.to_vec(),
        }
    }

    /// The distance of the windows with which one makes a state, to the right; or the names of children.
    fn onwards(&self) -> Vec<i64> {
        match self.proof.network {
            Network::Line => vec![1],
            Network::Tree => vec![LEFT, RIGHT],
        }
    }

    /// All windows that stand so far from others at some size.
    fn beside(&self, distances: &[i64]) -> Vec<Beside> {
        let mut found = std::collections::BTreeSet::new();
        for sized in &self.sizes.all {
            for at in 0..sized.count {
                let here = self.number[&self.sizes.word(sized.count, at)];
                if self.proof.network == Network::Tree {
                    for other in (0..sized.count).filter(|&other| distances.contains(&kin::name(at, other))) {
                        let there = self.number[&self.sizes.word(sized.count, other)];
                        let (by, kin) = (kin::name(at, other), Some(kin::elsewhere(at, other)));
                        found.insert(Beside { here, there, by, kin });
                    }
                    continue;
                }
                for &by in distances {
                    let other = (at as i64 + by).rem_euclid(sized.count as i64) as usize;
                    let there = self.number[&self.sizes.word(sized.count, other)];
                    found.insert(Beside { here, there, by, kin: None });
                }
            }
        }
        found.into_iter().collect()
    }

    /// What both windows see, by its place in each.
    fn common(&self, beside: Beside) -> Vec<(usize, usize)> {
        let theirs = &self.proof.windows[beside.there].items;
        let ours = self.proof.windows[beside.here].items.iter().enumerate();
        let theirs: Vec<Option<RingItem>> = theirs.iter().map(|item| beside.item(*item)).collect();
        let same = |item: &RingItem| theirs.iter().position(|other| *other == Some(*item));
        ours.filter_map(|(at, item)| Some((at, same(item)?))).collect()
    }

    /// Steps of the last process of a window to the right, or of the first of one to the left, lead to states again.
    fn undisturbed(&mut self, beside: Beside, common: &[(usize, usize)]) -> Outcome<()> {
        let Beside { here, there, by, .. } = beside;
        let mover = if by > 0 { self.proof.width - 1 } else { 0 };
        let mut agreeing: FxHashMap<Values, Vec<&Values>> = FxHashMap::default();
        for state in &self.proof.windows[here].states {
            agreeing.entry(common.iter().map(|&(at, _)| state[at]).collect()).or_default().push(state);
        }
        let theirs = self.proof.windows[there].states.iter().zip(&self.deeds[there]);
        let mut done: FxHashSet<(Values, Values)> = FxHashSet::default();
        for (state, deeds) in theirs {
            self.budget.check(0)?;
            let seen: Values = common.iter().map(|&(_, at)| beside.value(state[at])).collect();
            for after in &deeds[mover].after {
                let then: Values = common.iter().map(|&(_, at)| beside.value(after[at])).collect();
                if then == seen || !done.insert((seen.clone(), then.clone())) {
                    continue;
                }
                for &ours in agreeing.get(&seen).into_iter().flatten() {
                    self.pace.did_one()?;
                    self.discharged.non_interference += 1;
                    let mut changed = ours.clone();
                    common.iter().zip(&then).for_each(|(&(at, _), &value)| changed[at] = value);
                    if !self.has(here, &changed) {
                        return words::refused("no step of another process leads out of a window", "one does");
                    }
                }
            }
        }
        Ok(())
    }

    /// No step changes the sum of a flow, and all initial states have its total.
    fn flows(&mut self) -> Outcome<()> {
        for flow in &self.proof.flows {
            for (set, deeds) in self.proof.windows.iter().zip(&self.deeds) {
                for (state, deeds) in set.states.iter().zip(deeds) {
                    for after in &deeds[0].after {
                        self.pace.did_one()?;
                        self.discharged.step += 1;
                        let (before, then) = (weighed(flow, set, state), weighed(flow, set, after));
                        if then < before || then > before && !flow.at_least {
                            return words::refused("no step changes the sum of a flow", "one does");
                        }
                    }
                }
            }
            for sized in &self.sizes.all {
                self.pace.look()?;
                if !free_cells(&sized.model).is_empty() {
                    return Err(CertificateError::NotSupported("a flow of what starts anywhere".to_owned()));
                }
                let mut sum = 0u128;
                for at in 0..sized.count {
                    let set = &self.proof.windows[self.number[&self.sizes.word(sized.count, at)]];
                    let state = sized.read(sized.start(), &set.items, Spot { at });
                    let counted = self.counted(flow, set, &state)?;
                    sum += counted.0 + if at == 0 { counted.1 } else { 0 };
                }
                self.discharged.initiality += 1;
                let total = u128::from(flow.total);
                if sum < total || sum > total && !flow.at_least {
                    return words::refused("a flow has its total in every initial state", "it has not in one");
                }
            }
        }
        Ok(())
    }

    /// The weights that are counted with the first process of a window, and those of what all share.
    fn counted(&self, flow: &ConservedSum, set: &WindowSet, state: &Values) -> Outcome<(u128, u128)> {
        let mut here = local_weight(flow, set, (state, 0));
        let mut shared = 0;
        let mut rows: Vec<(VarId, usize)> = Vec::new();
        for (weight, _) in &flow.weights {
            if let RingWeight::Element(var, row, _) = weight
                && !rows.contains(&(*var, *row))
            {
                rows.push((*var, *row));
            }
        }
        for (var, row) in rows {
            let Some(distance) = self.counted_at(var, row) else {
                return malformed("a flow counts elements that some window does not see");
            };
            here += items_weight(flow, set, state, |item| item == RingItem::Element(var, distance, row));
        }
        shared += items_weight(flow, set, state, |item| matches!(item, RingItem::Shared(..)));
        Ok((here, shared))
    }

    /// A distance at which every window sees one of the elements that a process has in an array: of each row of its own, since a window may see the rows
    /// of one process at different distances.
    fn counted_at(&self, var: VarId, row: usize) -> Option<i64> {
        let sees = |set: &WindowSet, distance: i64| set.items.contains(&RingItem::Element(var, distance, row));
        let farthest = self.proof.width as i64 + self.proof.greatest;
        (self.proof.least..farthest).find(|&distance| self.proof.windows.iter().all(|set| sees(set, distance)))
    }

    fn implication(&mut self, property: &PropertyKind, said: &said::Said) -> Outcome<()> {
        self.discharged.implication += 1;
        if matches!(property, PropertyKind::NoErrors) {
            let faulty = self.deeds.iter().flatten().flatten().any(|deed| deed.has_fault);
            return match faulty {
                false => Ok(()),
                true => words::refused("no step may be a fault", "one may be"),
            };
        }
        let round = Round::new(self, property, said)?;
        match self.proof.network {
            Network::Line if round.exists(self.budget)? => {
                words::refused("no closed walk of windows violates the property", "one does")
            }
            Network::Tree if branches::exist(self, &round)? => {
                words::refused("no finite tree of windows violates the property", "one does")
            }
            _ => Ok(()),
        }
    }
}

/// How many of those are there whom a process of a tree of so many names.
fn relatives(count: usize, at: usize) -> usize {
    (0..count).filter(|&other| kin::name(at, other) != FAR).count()
}

/// In a tree: each process sees what its window says, wherever it is, and all elements of its own.
fn all_alike(proof: &RingsProof, sizes: &Sizes, number: &BTreeMap<&NeighbourTypes, usize>) -> Outcome<()> {
    for sized in &sizes.all {
        for at in 0..sized.count {
            let items = &proof.windows[number[&sizes.word(sized.count, at)]].items;
            let exist = items.iter().all(|item| sized.exists(*item, Spot { at }));
            if !exist || !sized.elements(at).iter().all(|item| items.contains(item)) {
                return malformed("a window of a tree does not see what its processes see");
            }
        }
    }
    Ok(())
}

/// Whether the set is one of windows: it sees its processes and what all share, nothing is too far away, and its values are of the right kind.
fn is_window(proof: &RingsProof, set: &WindowSet, sized: &Sized, spot: Spot) -> Outcome<()> {
    let width = proof.width as i64;
    let is_near = |item: &RingItem| match item {
        RingItem::Control(at) | RingItem::Own(at, _) | RingItem::Element(_, at, _) => match proof.network {
            Network::Line => (proof.least..width + proof.greatest).contains(at),
            Network::Tree => [0, PARENT, LEFT, RIGHT].contains(at),
        },
        RingItem::Shared(..) => proof.network == Network::Line,
    };
    let has = |item: RingItem| set.items.binary_search(&item).is_ok();
    let n_own = sized.n_own();
    let sees_own =
        (0..width).all(|at| has(RingItem::Control(at)) && (0..n_own).all(|cell| has(RingItem::Own(at, cell))));
    let named = |cell: CellId| {
        let var = sized.model.cells[cell].var;
        (proof.least..width + proof.greatest).all(|distance| has(RingItem::Element(var, distance, 0)))
    };
    let sees_shared = sized.shared().into_iter().all(has) && sized.naming().iter().copied().all(named);
    let is_sorted = set.items.is_sorted() && set.items.windows(2).all(|two| two[0] != two[1]);
    let exist = set.items.iter().all(|item| sized.exists(*item, spot));
    let controls = set.items.iter().all(|item| match item {
        RingItem::Control(at) => (0..width).contains(at),
        _ => true,
    });
    let fits = |state: &Values| {
        state.len() == set.items.len()
            && set.items.iter().zip(state).all(|(item, value)| sized.fits(*item, *value, (spot, proof)))
    };
    let is_shaped = set.word.len() == proof.width && is_sorted && set.items.iter().all(is_near) && exist && controls;
    match is_shaped && sees_own && sees_shared && set.states.iter().all(fits) {
        true => Ok(()),
        false => malformed("a window has not the shape of a window"),
    }
}

fn times(flow: &ConservedSum, weight: &RingWeight) -> u128 {
    flow.weights.iter().filter(|(other, _)| other == weight).map(|(_, times)| u128::from(*times)).sum()
}

/// The weight of the local state of a process of a window, which names others by their distance from it.
fn local_weight(flow: &ConservedSum, set: &WindowSet, (state, place): (&Values, usize)) -> u128 {
    let place_of = |item: &RingItem| match item {
        RingItem::Control(at) | RingItem::Own(at, _) => Some(*at),
        RingItem::Element(..) | RingItem::Shared(..) => None,
    };
    let own = set.items.iter().zip(state).filter(|(item, _)| place_of(item) == Some(place as i64));
    let local: Values = own.map(|(_, value)| value.shifted(-(place as i64))).collect();
    times(flow, &RingWeight::Local(set.word[place], local))
}

/// The weight of some of what a window sees besides processes.
fn items_weight(flow: &ConservedSum, set: &WindowSet, state: &Values, is_meant: impl Fn(RingItem) -> bool) -> u128 {
    let of = |(item, value): (&RingItem, &RingValue)| match (*item, *value) {
        (RingItem::Element(var, distance, at), value) => {
            times(flow, &RingWeight::Element(var, at, value.shifted(-distance)))
        }
        (RingItem::Shared(var, at), RingValue::Value(value)) => times(flow, &RingWeight::Shared(var, at, value)),
        _ => 0,
    };
    set.items.iter().zip(state).filter(|(item, _)| is_meant(**item)).map(of).sum()
}

/// All that a step of a window's first process may change: its local state, the elements that it touches, and what all share.
fn weighed(flow: &ConservedSum, set: &WindowSet, state: &Values) -> u128 {
    local_weight(flow, set, (state, 0)) + items_weight(flow, set, state, |_| true)
}
