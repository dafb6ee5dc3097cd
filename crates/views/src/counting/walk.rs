//! Loops of a single process over a family, one process after the other: whom such a loop has taken.
//!
//! In: a [`Look`] at the beginning or the end of a round. Out: whom the loop takes next, in whichever order, or that it has taken everybody. A local state shows
//! whether its process was taken (the single process, or nobody), the loop's counter who is taken now; while a loop is not under way nobody is. That everybody was taken is a question to all
//! processes: of those that are not seen as many were not as there are.
//!
//! **Soundness.** The loop takes processes by their index, which is one of the orders in which it may here. Whom it has taken is part of the history of a run, so that each state
//! of it has one view of each process; a round changes it of the one process whose turn it was, which is the one that the counter names.

use evidence::views::{LocalColumn, SharedColumn};
use model::control::{LoopId, TextOwner};
use model::expr::Domain;
use model::process::FamilyId;
use model::size::Size;
use model::value::Value;
use model::variable::CellId;

use super::form::{Fact, Form, Term};
use super::look::{Halt, Look, Looked, Who};
use super::roster::{CountingItem, Roster};

/// Nobody has taken the process; nobody is taken now.
pub(super) const NOT_TAKEN: CountingItem = CountingItem::Value(Value::None);

impl Roster<'_> {
    /// The family that a loop of a single process goes over, if that is followed.
    pub(super) fn walked(&self, id: LoopId) -> Option<FamilyId> {
        let declared = &self.text.loops[id];
        let TextOwner::Family(walker) = declared.scope else { return None };
        let Domain::Family(family) = declared.domain else { return None };
        let is_single = matches!(self.text.families[walker].size, Size::One);
        (is_single && self.many.contains(&family) && self.n_named(family) == 0).then_some(family)
    }

    /// The columns of a local state that say whether loops have taken the process.
    pub(super) fn taken_columns(&self, family: FamilyId) -> Vec<LocalColumn> {
        let walks = self.text.loops.ids().filter(|&id| self.walked(id) == Some(family));
        walks.map(LocalColumn::Taken).collect()
    }

    /// Whether a cell counts such a loop.
    pub(super) fn counts_walk(&self, cell: CellId) -> bool {
        let var = self.model.cells[cell].var;
        self.text.loops.ids().any(|id| self.text.loops[id].counter == var && self.walked(id).is_some())
    }
}

/// The columns of a loop under way.
#[derive(Clone, Copy)]
struct Walk {
    family: FamilyId,
    /// Of local states: whether it has taken the process.
    taken: usize,
    /// Of what is shared: whom it takes now.
    counter: usize,
    /// Whose loop it is.
    walker: CountingItem,
}

impl Look<'_, '_> {
    fn walk(&self, id: LoopId) -> Looked<Walk> {
        let roster = self.roster;
        let outside = Halt::Outside(roster.text.loops[id].span);
        let family = roster.walked(id).ok_or(outside)?;
        let Who::Single(walker) = self.me else { return Err(outside) };
        let offset = roster.model.vars[roster.model.loops[id].counter].offset;
        let cell = CellId::new(roster.model.processes[walker].first_cell + offset);
        let counter = roster.shared_column(SharedColumn::Cell(cell)).ok_or(outside)?;
        let taken = roster.local_column(family, LocalColumn::Taken(id)).ok_or(outside)?;
        Ok(Walk { family, taken, counter, walker: CountingItem::Value(Value::Process(walker)) })
    }

    /// Whether a column is the counter of such a loop that is not under way. In truth it is at the first process then, and a branch that begins with the loop
    /// goes into the first round from there.
    pub(super) fn takes_nobody(&self, column: usize) -> bool {
        let is_counter =
            matches!(self.roster.shared.get(column), Some(SharedColumn::Cell(cell)) if self.roster.counts_walk(*cell));
        is_counter && self.scene.shared[column] == NOT_TAKEN
    }

    /// The first process, any of them.
    pub(super) fn begin_walk(&mut self, id: LoopId) -> Looked<()> {
        let walk = self.walk(id)?;
        let all = self.unseen.iter().map(|view| i64::from(view.family == walk.family)).collect();
        self.take_next(walk, all).map(drop)
    }

    /// The process after the one whose turn it was; whether there is one.
    pub(super) fn continue_walk(&mut self, id: LoopId) -> Looked<bool> {
        let walk = self.walk(id)?;
        if self.takes_nobody(walk.counter) {
            return Err(Halt::Outside(self.roster.text.loops[id].span));
        }
        if let CountingItem::Slot(slot) = self.scene.shared[walk.counter] {
            self.scene.seen[slot as usize].1[walk.taken] = walk.walker;
        }
        let is_left = { self.unseen.iter() }.map(|view| {
            let is_now = view.shared[walk.counter] == CountingItem::Slot(0);
            i64::from(view.family == walk.family && !is_now && view.local[walk.taken] == NOT_TAKEN)
        });
        let goes_on = self.take_next(walk, is_left.collect())?;
        if !goes_on {
            self.end_walk(id)?;
        }
        Ok(goes_on)
    }

    /// The loop is not under way any more.
    pub(super) fn end_walk(&mut self, id: LoopId) -> Looked<()> {
        let walk = self.walk(id)?;
        for (_, local) in self.scene.seen.iter_mut().filter(|(of, _)| *of == walk.family) {
            local[walk.taken] = NOT_TAKEN;
        }
        self.scene.shared[walk.counter] = NOT_TAKEN;
        Ok(())
    }

    /// Any process that is left; whether there is one. For each unseen one it is known whether it is left.
    fn take_next(&mut self, walk: Walk, is_left: Vec<i64>) -> Looked<bool> {
        let slots = self.scene.seen.iter().enumerate().filter(|(_, (of, _))| *of == walk.family);
        let mut choices: Vec<Option<CountingItem>> = { slots }
            .filter(|(_, (_, local))| local[walk.taken] == NOT_TAKEN)
            .map(|(slot, _)| Some(CountingItem::Slot(slot as u8)))
            .collect();
        if choices.is_empty() {
            choices.push(None);
        }
        // Before a program starts nothing is known of others but that there may be some.
        if self.is_inner || is_left.iter().any(|&one| one != 0) {
            choices.push(Some(CountingItem::Other(walk.family)));
        }
        let next = choices[self.choose(choices.len())];
        if !self.is_inner {
            let n_left = Form::term(Term::Unseen(self.counts.len()));
            let fact = match next {
                None => Some(Fact { form: n_left, is_zero: true }),
                Some(CountingItem::Other(_)) => {
                    n_left.plus(&Form::number(1), -1).map(|form| Fact { form, is_zero: false })
                }
                Some(_) => None,
            };
            self.counts.push(is_left);
            self.facts.extend(fact);
        }
        if let Some(next) = next {
            self.scene.shared[walk.counter] = next;
        }
        Ok(next.is_some())
    }
}
