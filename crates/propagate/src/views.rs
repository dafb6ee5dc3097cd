//! View states: for each process the strongest set that is closed under its turns and those of others.
//!
//! In: a Model, and additive invariants that prune. Out: for each process (and for some processes together, where a property speaks of
//! them) the rows that its view can show, with the turns from each. This is the thread-modular fixpoint (Flanagan and Qadeer 2003) in
//! which a process sees what it mentions only, so that others interfere over what both see (Zheng's local state spaces).

use std::collections::BTreeSet;

use base::{Budget, Feature, StopReason, Unsupported};
use engine::Halt;
use model::Model;
use model::control::ActionId;
use model::eval::{Move, State, Turn, free_cells, initial_states};
use model::process::ProcessId;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::items::{Item, content, number, seen_by_each};
use crate::stepper::Stepper;
use crate::weights::{Fitting, Shares, ShownSum, Weighed, Weights};

/// The number of a view.
pub type ViewIdx = usize;

/// A row: what a view shows of a state.
pub type Row = Box<[u32]>;

/// What some processes see.
#[derive(Clone, Debug)]
pub struct View {
    /// The processes.
    pub members: Vec<ProcessId>,
    /// What is shown, ascending.
    pub items: Vec<Item>,
    /// The processes that see something of it, ascending; the members are among them.
    pub touching: Vec<ProcessId>,
    /// The view states.
    pub rows: Vec<Row>,
    /// The turns of the members from each row.
    pub turns: Vec<Vec<OwnTurn>>,
    /// The enabled actions of each member at each row, other than leaving `idle`.
    pub enabled: Vec<Vec<Vec<ActionId>>>,
    /// The rows that runs start in.
    pub initial: Vec<u32>,
    /// What additive invariants say at each row.
    pub shares: Vec<Shares>,
    /// The additive invariants with a cell that is shown, or a part of a member.
    pub sums: Vec<ShownSum>,
    numbers: FxHashMap<Row, u32>,
}

/// A turn of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OwnTurn {
    /// The turn.
    pub turn: TurnIdx,
    /// The row after it.
    pub to: u32,
}

/// The number of a turn.
pub type TurnIdx = u32;

impl View {
    /// Whether a process sees something of the view.
    pub fn is_touched_by(&self, process: ProcessId) -> bool {
        self.touching.binary_search(&process).is_ok()
    }

    /// The number of a row.
    pub fn number_of(&self, row: &[u32]) -> Option<u32> {
        self.numbers.get(row).copied()
    }

    /// A row, with another content where both views show something.
    fn changed(&self, row: u32, places: &[usize], shown: &[u32]) -> Row {
        let mut after = self.rows[row as usize].clone();
        places.iter().zip(shown).for_each(|(&at, &number)| after[at] = number);
        after
    }

    /// What a row shows at some places.
    pub fn shown(&self, row: u32, places: &[usize]) -> Row {
        places.iter().map(|&at| self.rows[row as usize][at]).collect()
    }
}

/// All views of a program: first those of the processes, in their order.
pub struct Views<'m> {
    /// The program.
    pub model: &'m Model,
    /// The views.
    pub list: Vec<View>,
    /// The turns by number.
    pub turns: Vec<Turn>,
    /// The additive invariants that prune.
    pub weights: Weights,
    /// The additive invariants that exclude what some turn of a view leads to and do not hold there, or not in all initial states.
    pub broken: BTreeSet<usize>,
    turn_numbers: FxHashMap<Turn, TurnIdx>,
    stepper: Stepper<'m>,
    /// What each process sees.
    seen: Vec<BTreeSet<Item>>,
    /// Which processes see what, ascending.
    viewers: FxHashMap<Item, Vec<ProcessId>>,
    limits: Limits<'m>,
    /// For each process the one whose view is made, and shows the same: itself, or another one of its crowd.
    stand_ins: Vec<ProcessId>,
}

/// What bounds the work.
#[derive(Clone, Copy)]
pub struct Limits<'b> {
    /// Time, memory, cancellation.
    pub budget: &'b Budget,
    /// More view states than this, all together, are given up.
    pub most_rows: usize,
    /// More edges than this, all together, are given up.
    pub most_edges: usize,
}

/// What two views have in common, by the places of it in each.
#[derive(Clone, Debug)]
pub struct Common {
    /// In the one.
    pub left: Vec<usize>,
    /// In the other.
    pub right: Vec<usize>,
}

impl<'m> Views<'m> {
    /// The views of all processes, or of those that represent others.
    ///
    /// # Errors
    /// A limit, or a contradiction.
    pub fn new(
        model: &'m Model,
        weights: Weights,
        stand_ins: Vec<ProcessId>,
        limits: Limits<'m>,
    ) -> Result<Self, Halt> {
        let seen = seen_by_each(model);
        let mut viewers: FxHashMap<Item, Vec<ProcessId>> = FxHashMap::default();
        for process in model.processes.ids() {
            seen[process.index()].iter().for_each(|&item| viewers.entry(item).or_default().push(process));
        }
        Views::closed(Views {
            model,
            list: Vec::new(),
            turns: Vec::new(),
            weights,
            broken: BTreeSet::new(),
            turn_numbers: FxHashMap::default(),
            stepper: Stepper::new(model),
            seen,
            viewers,
            limits,
            stand_ins,
        })
    }

    /// The views of all processes with other additive invariants.
    ///
    /// # Errors
    /// A limit, or a contradiction.
    pub fn with_weights(self, weights: Weights) -> Result<Self, Halt> {
        Views::closed(Views { list: Vec::new(), weights, broken: BTreeSet::new(), ..self })
    }

    fn closed(mut views: Views<'m>) -> Result<Self, Halt> {
        for process in views.model.processes.ids() {
            let items = views.seen[process.index()].iter().copied().collect();
            let view = views.empty(vec![process], items);
            views.list.push(view);
        }
        let all = views.model.processes.ids().filter(|&process| views.is_made(process));
        let all: Vec<ViewIdx> = all.map(|process| process.index()).collect();
        views.close(&all)?;
        Ok(views)
    }

    /// The view that shows what some processes see, and some more: one that is there, or a new one.
    ///
    /// # Errors
    /// A limit, or a contradiction.
    pub fn joint(&mut self, members: &[ProcessId], more: &BTreeSet<Item>) -> Result<ViewIdx, Halt> {
        let mut items: BTreeSet<Item> = more.clone();
        members.iter().for_each(|process| items.extend(&self.seen[process.index()]));
        let items: Vec<Item> = items.into_iter().collect();
        if let Some(known) = self.list.iter().position(|view| view.members == members && view.items == items) {
            return Ok(known);
        }
        let view = self.empty(members.to_vec(), items);
        self.list.push(view);
        let at = self.list.len() - 1;
        if let Err(halt) = self.close(&[at]) {
            self.list.pop();
            return Err(halt);
        }
        Ok(at)
    }

    /// The same, given up where it has more than so many rows.
    ///
    /// # Errors
    /// As [`Views::joint`].
    pub fn joint_within(
        &mut self,
        members: &[ProcessId],
        more: &BTreeSet<Item>,
        most_rows: usize,
    ) -> Result<ViewIdx, Halt> {
        let usual = std::mem::replace(&mut self.limits.most_rows, most_rows);
        let found = self.joint(members, more);
        self.limits.most_rows = usual;
        found
    }

    /// What a process sees.
    pub fn seen(&self, process: ProcessId) -> &BTreeSet<Item> {
        &self.seen[process.index()]
    }

    /// Whether the view of a process is made.
    pub fn is_made(&self, process: ProcessId) -> bool {
        self.stand_in(process) == process
    }

    /// The process whose view is made, and shows the same as that of this one.
    pub fn stand_in(&self, process: ProcessId) -> ProcessId {
        self.stand_ins[process.index()]
    }

    /// The number of the same turn of another process.
    pub fn turn_of(&self, turn: TurnIdx, process: ProcessId) -> Option<TurnIdx> {
        let turn = match self.turns[turn as usize].clone() {
            Turn::Step(by) => Turn::Step(Move { process, ..by }),
            Turn::StandStill(_) => Turn::StandStill(process),
        };
        self.turn_numbers.get(&turn).copied()
    }

    /// The processes that see something, ascending.
    pub fn viewers(&self, item: Item) -> &[ProcessId] {
        self.viewers.get(&item).map_or(&[], Vec::as_slice)
    }

    /// What two views have in common.
    pub fn common(&self, left: ViewIdx, right: ViewIdx) -> Common {
        let (one, other) = (&self.list[left].items, &self.list[right].items);
        let both = one.iter().enumerate().filter_map(|(at, item)| Some((at, other.binary_search(item).ok()?)));
        let (left, right) = both.unzip();
        Common { left, right }
    }

    /// A state that shows a row of a view.
    pub fn state(&mut self, view: ViewIdx, row: u32) -> &model::eval::State {
        let view = &self.list[view];
        self.stepper.state(&view.items, &view.rows[row as usize])
    }

    /// Some state, for what reads none.
    pub(crate) fn any_state(&self) -> State {
        initial_states(self.model).next().expect("a program has an initial state")
    }

    /// What decides whether additive invariants allow two rows of views side by side.
    pub fn fitting(&self, one: ViewIdx, other: ViewIdx) -> Fitting {
        let (one, other) = (&self.list[one], &self.list[other]);
        if one.members.iter().any(|member| other.members.contains(member)) {
            return Fitting::default();
        }
        self.weights.fitting((&one.members, &one.sums), (&other.members, &other.sums))
    }

    fn empty(&self, members: Vec<ProcessId>, items: Vec<Item>) -> View {
        let touching: BTreeSet<ProcessId> = items.iter().flat_map(|&item| self.viewers(item)).copied().collect();
        let touching = touching.into_iter().collect();
        View {
            sums: self.weights.shown(&members, &items),
            members,
            items,
            touching,
            rows: Vec::new(),
            turns: Vec::new(),
            enabled: Vec::new(),
            initial: Vec::new(),
            shares: Vec::new(),
            numbers: FxHashMap::default(),
        }
    }

    /// Closes views; all others are closed already.
    fn close(&mut self, open: &[ViewIdx]) -> Result<(), Halt> {
        let mut closing = Closing { acting: Vec::new(), by_view: FxHashMap::default(), queue: Vec::new() };
        for &view in open {
            closing.connect(self, view);
        }
        for &view in open {
            let starts = self.initial_rows(view)?;
            for row in &starts {
                self.note_unbalanced(view, &starts[0], row);
            }
            for row in starts {
                if let Some(number) = self.insert(view, row, &mut closing.queue)? {
                    self.list[view].initial.push(number);
                }
            }
        }
        // What others that are closed already do.
        for at in 0..closing.acting.len() {
            let actor = closing.acting[at].actor;
            if !open.contains(&actor) {
                for row in 0..self.list[actor].rows.len() {
                    closing.note(self, at, row as u32)?;
                }
            }
        }
        while let Some((view, row)) = closing.queue.pop() {
            self.limits.budget.check(0)?;
            self.take_turns(view, row, &mut closing.queue)?;
            closing.spread(self, view, row)?;
        }
        Ok(())
    }

    /// What runs start in, as the view shows it.
    fn initial_rows(&self, view: ViewIdx) -> Result<Vec<Row>, StopReason> {
        let model = self.model;
        let items = &self.list[view].items;
        let first = initial_states(model).next().expect("a program has an initial state");
        let numbered = |&item: &Item| content(model, &first, item).ok_or_else(too_many);
        let mut rows = vec![items.iter().map(numbered).collect::<Result<Row, _>>()?];
        let free = free_cells(model);
        for (at, item) in items.iter().enumerate() {
            let Item::Cell(cell) = item else { continue };
            if !free.contains(cell) {
                continue;
            }
            let ty = model.cells[*cell].ty;
            if ty.n_values(model.type_context()).saturating_mul(rows.len() as u128) > self.limits.most_rows as u128 {
                return Err(too_many());
            }
            let numbers: Vec<u32> =
                ty.values(model.type_context()).filter_map(|value| number(model, ty, value)).collect();
            let with = |row: &Row, number: u32| {
                let mut row = row.clone();
                row[at] = number;
                row
            };
            rows = rows
                .iter()
                .flat_map(|row| numbers.iter().map(|&number| with(row, number)).collect::<Vec<_>>())
                .collect();
        }
        Ok(rows)
    }

    /// The number of a row, which is added if it is new; `None` where additive invariants exclude it.
    fn insert(&mut self, view: ViewIdx, row: Row, queue: &mut Vec<(ViewIdx, u32)>) -> Result<Option<u32>, StopReason> {
        if let Some(&known) = self.list[view].numbers.get(&row) {
            return Ok(Some(known));
        }
        let into = &mut self.list[view];
        // A value that a table does not list excludes nothing here; the invariant fails its own check then.
        let shares = match self.weights.weighed(&into.sums, &row) {
            Weighed::Excluded => return Ok(None),
            Weighed::Shares(shares) => shares,
            Weighed::Unlisted => {
                return Err(StopReason::from(Unsupported::about(Feature::Numbers, "additive invariants")));
            }
        };
        let number = into.rows.len() as u32;
        into.numbers.insert(row.clone(), number);
        into.rows.push(row);
        into.shares.push(shares);
        into.turns.push(Vec::new());
        into.enabled.push(Vec::new());
        queue.push((view, number));
        if into.rows.len() > self.limits.most_rows {
            return Err(too_many());
        }
        Ok(Some(number))
    }

    /// The turns of the members from a row.
    fn take_turns(&mut self, view: ViewIdx, row: u32, queue: &mut Vec<(ViewIdx, u32)>) -> Result<(), Halt> {
        for member in self.list[view].members.clone() {
            let from = &self.list[view];
            let at = &from.rows[row as usize];
            let options = match view == member.index() {
                true => self.stepper.own_options(member, &from.items, at)?,
                false => self.stepper.options(member, &from.items, at)?,
            };
            self.list[view].enabled[row as usize].push(options.enabled);
            for (turn, after) in options.turns {
                let turn = self.turn_number(turn);
                let Some(to) = self.insert(view, after.clone(), queue)? else {
                    let before = self.list[view].rows[row as usize].clone();
                    self.note_unbalanced(view, &before, &after);
                    continue;
                };
                let own = OwnTurn { turn, to };
                let turns = &mut self.list[view].turns[row as usize];
                if !turns.contains(&own) {
                    turns.push(own);
                }
            }
        }
        Ok(())
    }

    /// Notes the additive invariants that change from one row to the other: where a turn leads to a row that invariants exclude, one of
    /// them is wrong, and would hide what it is wrong about.
    fn note_unbalanced(&mut self, view: ViewIdx, before: &[u32], after: &[u32]) {
        let view = &self.list[view];
        let broken = view.sums.iter().filter(|sum| !self.weights.is_kept(sum, (before, after)));
        let found: Vec<usize> = broken.map(|sum| sum.invariant).collect();
        self.broken.extend(found);
    }

    fn turn_number(&mut self, turn: Turn) -> TurnIdx {
        if let Some(&known) = self.turn_numbers.get(&turn) {
            return known;
        }
        let number = self.turns.len() as TurnIdx;
        self.turns.push(turn.clone());
        self.turn_numbers.insert(turn, number);
        number
    }
}

/// There are more view states than are examined.
pub fn too_many() -> StopReason {
    Unsupported::about(Feature::Numbers, "view states").into()
}

/// What one process does to what another view shows.
struct Acting {
    /// The view of the process.
    actor: ViewIdx,
    /// The view that sees it.
    seer: ViewIdx,
    common: Common,
    fitting: Fitting,
    /// By what both show before: the rows of the actor from which it changes that, and what it leads to; each effect once.
    changes: FxHashMap<Row, Vec<Change>>,
    known: FxHashSet<(Row, Row, Shares)>,
    /// The rows of the seer by what both show.
    rows: FxHashMap<Row, Vec<u32>>,
}

#[derive(Clone)]
struct Change {
    from: u32,
    shown: Row,
}

/// The work of closing views.
struct Closing {
    acting: Vec<Acting>,
    /// Positions in `acting` in which a view is the actor, and in which it is the seer.
    by_view: FxHashMap<ViewIdx, (Vec<usize>, Vec<usize>)>,
    /// Rows whose turns were not taken yet.
    queue: Vec<(ViewIdx, u32)>,
}

impl Closing {
    /// Notes which processes act on a view.
    fn connect(&mut self, views: &Views<'_>, seer: ViewIdx) {
        let view = &views.list[seer];
        let is_other = |process: &&ProcessId| !view.members.contains(process) && views.is_made(**process);
        for process in view.touching.iter().filter(is_other) {
            let actor = process.index();
            let at = self.acting.len();
            let (common, fitting) = (views.common(actor, seer), views.fitting(actor, seer));
            let (changes, known, rows) = (FxHashMap::default(), FxHashSet::default(), FxHashMap::default());
            self.acting.push(Acting { actor, seer, common, fitting, changes, known, rows });
            self.by_view.entry(actor).or_default().0.push(at);
            self.by_view.entry(seer).or_default().1.push(at);
        }
    }

    /// A row whose turns were taken: others see them, and it sees those of others.
    fn spread(&mut self, views: &mut Views<'_>, view: ViewIdx, row: u32) -> Result<(), Halt> {
        let Some((acts, sees)) = self.by_view.get(&view).cloned() else { return Ok(()) };
        for at in acts {
            self.note(views, at, row)?;
        }
        for at in sees {
            let acting = &mut self.acting[at];
            let shown = views.list[view].shown(row, &acting.common.right);
            acting.rows.entry(shown.clone()).or_default().push(row);
            for change in acting.changes.get(&shown).cloned().unwrap_or_default() {
                self.apply(views, at, row, &change)?;
            }
        }
        Ok(())
    }

    /// Notes what an actor does from a row, and lets the seer see it.
    fn note(&mut self, views: &mut Views<'_>, at: usize, row: u32) -> Result<(), Halt> {
        let acting = &mut self.acting[at];
        let actor = &views.list[acting.actor];
        let before = actor.shown(row, &acting.common.left);
        let mut new = Vec::new();
        for own in &actor.turns[row as usize] {
            let shown = actor.shown(own.to, &acting.common.left);
            if shown == before {
                continue;
            }
            // Both sides of an invariant change by the same amount: what it says after the turn follows from what it says before.
            if acting.known.insert((before.clone(), shown.clone(), actor.shares[row as usize].clone())) {
                new.push(Change { from: row, shown });
            }
        }
        let rows = acting.rows.get(&before).cloned().unwrap_or_default();
        acting.changes.entry(before).or_default().extend(new.iter().cloned());
        for change in &new {
            for &row in &rows {
                self.apply(views, at, row, change)?;
            }
        }
        Ok(())
    }

    fn apply(&mut self, views: &mut Views<'_>, at: usize, row: u32, change: &Change) -> Result<(), Halt> {
        let acting = &self.acting[at];
        let (actor, seer) = (&views.list[acting.actor], &views.list[acting.seer]);
        if !acting.fitting.fits(&actor.shares[change.from as usize], &seer.shares[row as usize]) {
            return Ok(());
        }
        let after = views.list[acting.seer].changed(row, &acting.common.right, &change.shown);
        views.insert(acting.seer, after, &mut self.queue)?;
        Ok(())
    }
}
