//! Views and their states, for refutations: the smallest sets that are closed, round by round.
//!
//! In: what each process sees, as the certificate has it. Out: the rows of each view, with the turns from each, all taken by `eval`. That
//! a process depends on, and changes, nothing but what it sees is checked at each of its rows.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use base::Budget;
use evidence::propagation::Sights;
use model::Model;
use model::control::{ActionId, ActionKind, PlaceId};
use model::eval::{Control, Footprint, State, Turn, attempts_of, initial_states, is_idle, receptions_of};
use model::process::ProcessId;
use model::value::Value;
use model::variable::{CellId, Role};

use super::weights::{Part, Share, Weights};
use crate::certificate::initial::for_each_start;
use crate::certificate::numbering::name;
use crate::certificate::{CertificateError, Outcome, words};

/// A part of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Item {
    Cell(CellId),
    Control(ProcessId),
}

/// More view states than this, all together, are not examined.
const MOST_ROWS: usize = 1_000_000;

/// A view with its states.
pub(super) struct View {
    /// The processes whose turns it shows entirely.
    pub members: Vec<ProcessId>,
    /// What it shows, ascending.
    pub items: Vec<Item>,
    /// The processes that see something of it.
    pub touching: BTreeSet<ProcessId>,
    pub rows: Vec<Vec<u32>>,
    pub initial: BTreeSet<usize>,
    /// What members do at each row.
    pub options: Vec<Options>,
    /// The additive invariants that it touches, ascending, and what these say at each row.
    pub sums: Vec<Part>,
    pub shares: Vec<Vec<Share>>,
    numbers: HashMap<Vec<u32>, usize>,
}

/// What the members of a view can do at a row.
#[derive(Default)]
pub(super) struct Options {
    /// Their turns, with the rows that they lead to.
    pub turns: Vec<(Turn, Vec<u32>)>,
    /// The enabled actions of each member, other than leaving `idle`.
    pub enabled: BTreeMap<ProcessId, Vec<ActionId>>,
}

impl View {
    /// What a row says about an additive invariant; nothing where the view does not touch it.
    pub fn share(&self, row: usize, sum: usize) -> Share {
        self.position(sum).map_or(Share::NONE, |at| self.shares[row][at])
    }

    /// The position of an additive invariant among those that it touches.
    pub fn position(&self, sum: usize) -> Option<usize> {
        self.sums.binary_search_by_key(&sum, |part| part.number).ok()
    }

    /// The additive invariants that it touches, ascending.
    pub fn sum_numbers(&self) -> impl Iterator<Item = usize> {
        self.sums.iter().map(|part| part.number)
    }

    /// The number of a row.
    pub fn number(&self, row: &[u32]) -> Option<usize> {
        self.numbers.get(row).copied()
    }

    /// Where rows show some items.
    pub fn places(&self, items: &[Item]) -> Vec<usize> {
        items.iter().filter_map(|item| self.items.binary_search(item).ok()).collect()
    }
}

/// What a row shows at some places.
pub(super) fn shown(row: &[u32], places: &[usize]) -> Vec<u32> {
    places.iter().map(|&place| row[place]).collect()
}

/// A row with other contents at some places.
pub(super) fn changed(row: &[u32], places: &[usize], shown: &[u32]) -> Vec<u32> {
    let mut row = row.to_vec();
    places.iter().zip(shown).for_each(|(&place, &number)| row[place] = number);
    row
}

/// What two views show both.
pub(super) fn common(one: &View, other: &View) -> Vec<Item> {
    one.items.iter().copied().filter(|item| other.items.binary_search(item).is_ok()).collect()
}

/// The views of all processes.
pub(super) struct Views<'a> {
    pub model: &'a Model,
    pub seen: Vec<BTreeSet<Item>>,
    pub weights: Weights,
    /// By process.
    pub list: Vec<Rc<View>>,
    /// The turns in which several processes have a part, one of them the mover.
    pub joint_turns: BTreeSet<Turn>,
    /// Who sees what.
    viewers: HashMap<Item, Vec<ProcessId>>,
    budget: &'a Budget,
    first: State,
    /// As the first state, but while a row is expanded.
    scratch: RefCell<State>,
}

impl<'a> Views<'a> {
    /// The views of processes, closed; the additive invariants hold in them. Those that are not needed have no rows, and no process sees what they do: others do
    /// the same.
    pub fn new(
        model: &'a Model,
        sights: &Sights,
        is_looked_at: &dyn Fn(ProcessId) -> bool,
        budget: &'a Budget,
    ) -> Outcome<Self> {
        if sights.seen.len() != model.processes.len() {
            return Err(CertificateError::Malformed("it does not say for each process what it sees".to_owned()));
        }
        let first = initial_states(model).next().expect("a program has an initial state");
        let weights = Weights::new(model, &sights.additive, &first)?;
        let own = |process: ProcessId| {
            let cells = model.cells.entries().filter(move |(_, cell)| cell.owner == Some(process));
            cells.map(|(id, _)| Item::Cell(id)).chain([Item::Control(process)])
        };
        let seen = model.processes.ids().zip(&sights.seen).map(|(process, sight)| {
            let cells = sight.cells.iter().map(|&cell| Item::Cell(cell));
            let controls = sight.controls.iter().map(|&other| Item::Control(other));
            own(process).chain(cells).chain(controls).collect()
        });
        let seen: Vec<BTreeSet<Item>> = seen.collect();
        let mut viewers: HashMap<Item, Vec<ProcessId>> = HashMap::new();
        for (process, seen) in model.processes.ids().zip(&seen) {
            seen.iter().for_each(|&item| viewers.entry(item).or_default().push(process));
        }
        let scratch = RefCell::new(first.clone());
        let (list, joint_turns) = Default::default();
        let mut views = Views { model, seen, weights, list, joint_turns, viewers, budget, first, scratch };
        let empty = |process: ProcessId| views.empty(vec![process], &views.seen[process.index()]);
        let mut list: Vec<View> = model.processes.ids().map(empty).collect();
        let mut open: BTreeSet<usize> = BTreeSet::new();
        for process in model.processes.ids().filter(|&process| is_looked_at(process)) {
            views.start(&mut list[process.index()])?;
            open.insert(process.index());
        }
        // Of each pair of a seer and an actor: how many rows of the actor all rows of the seer, up to which one, have seen.
        let mut seen_rows: HashMap<(usize, usize), (usize, usize)> = HashMap::new();
        while let Some(seer) = open.pop_first() {
            budget.check(0)?;
            let mut grows = false;
            for actor in list[seer].touching.clone() {
                if actor.index() != seer && is_looked_at(actor) {
                    let n_actor = list[actor.index()].rows.len();
                    let known = seen_rows.get(&(seer, actor.index())).filter(|known| known.0 == n_actor);
                    let first = known.map_or(0, |known| known.1);
                    let mut view = std::mem::replace(&mut list[seer], views.empty(Vec::new(), &BTreeSet::new()));
                    let grown = views.interfere(&mut view, &list[actor.index()], first);
                    seen_rows.insert((seer, actor.index()), (n_actor, view.rows.len()));
                    list[seer] = view;
                    grows |= grown?;
                }
            }
            // A process that sees something of it sees what it does at new rows; and it sees there what others do.
            if grows {
                let touching = list[seer].touching.iter().filter(|&&process| is_looked_at(process));
                open.extend(touching.map(|process| process.index()));
            }
        }
        views.list = list.into_iter().map(Rc::new).collect();
        for view in &views.list {
            let turns = view.options.iter().flat_map(|options| &options.turns);
            // No run comes to what sums exclude.
            let real = turns.filter(|(turn, after)| turn.processes().len() > 1 && view.number(after).is_some());
            views.joint_turns.extend(real.map(|(turn, _)| turn.clone()));
        }
        views.check_sums()?;
        Ok(views)
    }

    /// The view of some processes together with some more, closed.
    pub fn joint(&self, members: &[ProcessId], more: &BTreeSet<Item>) -> Outcome<Rc<View>> {
        if let Some(stranger) = members.iter().find(|member| member.index() >= self.list.len()) {
            return Err(CertificateError::Malformed(format!("there is no process number {}", stranger.index())));
        }
        let seen = members.iter().flat_map(|process| &self.seen[process.index()]);
        let items: BTreeSet<Item> = more.iter().chain(seen).copied().collect();
        if let [only] = members
            && items.len() == self.list[only.index()].items.len()
        {
            return Ok(Rc::clone(&self.list[only.index()]));
        }
        let mut view = self.empty(members.to_vec(), &items);
        self.start(&mut view)?;
        loop {
            self.budget.check(0)?;
            let mut grows = false;
            for actor in view.touching.clone() {
                if !members.contains(&actor) {
                    grows |= self.interfere(&mut view, &self.list[actor.index()], 0)?;
                }
            }
            if !grows {
                return Ok(Rc::new(view));
            }
        }
    }

    fn empty(&self, members: Vec<ProcessId>, items: &BTreeSet<Item>) -> View {
        View {
            sums: self.weights.parts(&members, items),
            members,
            items: items.iter().copied().collect(),
            touching: items.iter().filter_map(|item| self.viewers.get(item)).flatten().copied().collect(),
            rows: Vec::new(),
            initial: BTreeSet::new(),
            options: Vec::new(),
            shares: Vec::new(),
            numbers: HashMap::new(),
        }
    }

    /// Puts the initial rows into a view, and all that its members do from there.
    fn start(&self, view: &mut View) -> Outcome<()> {
        let cells = view.items.iter().filter_map(|item| if let Item::Cell(cell) = item { Some(*cell) } else { None });
        let cells: Vec<CellId> = cells.collect();
        let mut starts: BTreeSet<Vec<u32>> = BTreeSet::new();
        for_each_start(self.model, &self.first, &cells, &mut |state| {
            starts.insert(view.items.iter().map(|&item| self.content(state, item)).collect::<Result<_, String>>()?);
            if starts.len() > MOST_ROWS { Err("there are too many ways to start".to_owned()) } else { Ok(()) }
        })
        .map_err(CertificateError::NotSupported)?;
        for start in starts {
            if let Some(number) = self.insert(view, start)? {
                view.initial.insert(number);
            }
        }
        Ok(())
    }

    /// Puts a row into a view, and all that its members do from there; its number, unless additive invariants exclude it.
    fn insert(&self, view: &mut View, row: Vec<u32>) -> Outcome<Option<usize>> {
        let mut open = vec![row.clone()];
        while let Some(row) = open.pop() {
            if view.numbers.contains_key(&row) {
                continue;
            }
            let Some(shares) = self.weights.shares(&view.sums, &view.members, (&view.items, &row))? else { continue };
            if view.rows.len() == MOST_ROWS {
                return Err(CertificateError::NotSupported("there are too many view states".to_owned()));
            }
            let options = self.options(view, &row)?;
            open.extend(options.turns.iter().map(|(_, after)| after.clone()));
            view.numbers.insert(row.clone(), view.rows.len());
            view.rows.push(row);
            view.shares.push(shares);
            view.options.push(options);
        }
        Ok(view.number(&row))
    }

    /// Lets a view see at its rows, from a first one on, what a process does; whether it shows more than before.
    fn interfere(&self, view: &mut View, actor: &View, first: usize) -> Outcome<bool> {
        if first == view.rows.len() {
            return Ok(false);
        }
        let items = common(view, actor);
        let (places, actor_places) = (view.places(&items), actor.places(&items));
        let fitting = self.weights.fitting(view, actor);
        let mut changes: HashMap<Vec<u32>, Vec<(usize, Vec<u32>)>> = HashMap::new();
        for (row, options) in actor.options.iter().enumerate() {
            let before = shown(&actor.rows[row], &actor_places);
            for (_, after) in &options.turns {
                let after = shown(after, &actor_places);
                if after != before {
                    changes.entry(before.clone()).or_default().push((row, after));
                }
            }
        }
        let n_before = view.rows.len();
        let mut at = first;
        while at < view.rows.len() {
            let row = view.rows[at].clone();
            for (from, after) in changes.get(&shown(&row, &places)).into_iter().flatten() {
                if fitting.fits(&view.shares[at], &actor.shares[*from]) {
                    self.insert(view, changed(&row, &places, after))?;
                }
            }
            at += 1;
        }
        Ok(view.rows.len() > n_before)
    }

    /// What the members can do at a row.
    fn options(&self, view: &View, row: &[u32]) -> Outcome<Options> {
        self.at_state(&view.items, row, |state| self.options_at(view, row, state))?
    }

    fn options_at(&self, view: &View, row: &[u32], state: &State) -> Outcome<Options> {
        let mut options = Options::default();
        for &member in &view.members {
            let (steps, footprint) = attempts_of(self.model, state, member);
            let (received, looked_at) = receptions_of(self.model, state, member);
            self.check_sight(member, &footprint)?;
            self.check_sight(member, &looked_at)?;
            let stands = (steps.is_empty() && received.is_empty()) || is_idle(self.model, state, member);
            let enabled = options.enabled.entry(member).or_default();
            enabled.extend(received);
            for (step, _) in steps {
                if !matches!(self.model.actions[step.by.action].kind, ActionKind::Idle) {
                    enabled.push(step.by.action);
                }
                if let Ok(after) = step.result {
                    options.turns.push((Turn::Step(step.by), self.after(state, &after, (member, view))?));
                }
            }
            if stands {
                options.turns.push((Turn::StandStill(member), row.to_vec()));
            }
        }
        Ok(options)
    }

    /// Whatever the steps of a process depend on, it sees; of those that it may meet, where they are in their loops, too.
    fn check_sight(&self, member: ProcessId, footprint: &Footprint) -> Outcome<()> {
        let is_counter = |cell: CellId| {
            let cell = &self.model.cells[cell];
            matches!(self.model.vars[cell.var].role, Role::Counter(_))
                && cell.owner.is_some_and(|owner| footprint.partners.contains(&owner))
        };
        let mut items: Vec<Item> = footprint.cells.iter().map(|&cell| Item::Cell(cell)).collect();
        items.extend(footprint.places.iter().chain(&footprint.partners).map(|&other| Item::Control(other)));
        if !footprint.partners.is_empty() {
            items.extend(self.model.cells.ids().filter(|&cell| is_counter(cell)).map(Item::Cell));
        }
        match items.into_iter().find(|item| !self.seen[member.index()].contains(item)) {
            Some(item) => words::refused(
                format!("{} has to depend on nothing but what it is said to see", name(self.model, member)),
                format!("its steps depend on {}", self.item_name(item)),
            ),
            None => Ok(()),
        }
    }

    /// The row after a step, which changes nothing but what the process sees.
    fn after(&self, before: &State, after: &State, (member, view): (ProcessId, &View)) -> Outcome<Vec<u32>> {
        let cells = self.model.cells.ids().filter(|cell| before.cells[cell.index()] != after.cells[cell.index()]);
        let controls = self.model.processes.ids().filter(|one| before.stacks[one.index()] != after.stacks[one.index()]);
        let mut changed = cells.map(Item::Cell).chain(controls.map(Item::Control));
        if let Some(item) = changed.find(|item| !self.seen[member.index()].contains(item)) {
            return words::refused(
                format!("{} has to change nothing but what it is said to see", name(self.model, member)),
                format!("a step of it changes {}", self.item_name(item)),
            );
        }
        let row = view.items.iter().map(|&item| self.content(after, item)).collect::<Result<_, String>>();
        row.map_err(CertificateError::NotSupported)
    }

    /// Each turn changes both sides of each additive invariant by the same amount.
    fn check_sums(&self) -> Outcome<()> {
        for view in &self.list {
            for (row, options) in view.rows.iter().zip(&view.options) {
                for (turn, after) in &options.turns {
                    self.weights.check_turn(view, (row, after)).or_else(|what| {
                        words::refused(
                            "each turn has to change both sides of an additive invariant alike",
                            format!("a turn of {} {what}", name(self.model, turn.process())),
                        )
                    })?;
                }
            }
        }
        Ok(())
    }

    /// The number of what an item holds.
    fn content(&self, state: &State, item: Item) -> Result<u32, String> {
        match item {
            Item::Cell(cell) => {
                let position = self.model.cells[cell].ty.position(state.cells[cell.index()], self.model.type_context());
                let position = position.and_then(|position| u32::try_from(position).ok());
                position.ok_or_else(|| format!("{} has too many values", self.model.cells[cell].name))
            }
            Item::Control(process) => match &state.stacks[process.index()][..] {
                [bottom] if bottom.control == Control::At(state.place(process)) => {
                    Ok(state.place(process).index() as u32)
                }
                _ => Err("the program calls procedures, of which refutations know nothing".to_owned()),
            },
        }
    }

    /// Calls a function with a state that shows this row, and is as the first one besides.
    pub fn at_state<T>(&self, items: &[Item], row: &[u32], look: impl FnOnce(&State) -> T) -> Outcome<T> {
        let mut filled = self.scratch.borrow_mut();
        for (&item, &number) in items.iter().zip(row) {
            match item {
                Item::Cell(cell) => filled.cells[cell.index()] = self.value(cell, number)?,
                Item::Control(process) => {
                    filled.stacks[process.index()][0].control = Control::At(PlaceId::new(number as usize));
                }
            }
        }
        let found = look(&filled);
        for &item in items {
            match item {
                Item::Cell(cell) => filled.cells[cell.index()] = self.first.cells[cell.index()],
                Item::Control(process) => {
                    filled.stacks[process.index()][0].control = self.first.stacks[process.index()][0].control;
                }
            }
        }
        Ok(found)
    }

    fn value(&self, cell: CellId, number: u32) -> Outcome<Value> {
        let value = self.model.cells[cell].ty.value_at(u64::from(number), self.model.type_context());
        value.ok_or_else(|| CertificateError::Malformed(format!("{} has no such value", self.model.cells[cell].name)))
    }

    pub fn item_name(&self, item: Item) -> String {
        match item {
            Item::Cell(cell) => self.model.cells[cell].name.clone(),
            Item::Control(process) => format!("where {} stands", name(self.model, process)),
        }
    }
}
