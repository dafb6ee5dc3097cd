//! What a set of actions needs besides, as rows of bits over control locations.
//!
//! In: the relations of the actions. Out: for an action that is enabled, all that depends on it; for a bit, all that may give it a value; for an action that
//! waits, all that may change what it awaits. A row says for each control location what a process that is there has to do with it: nothing;
//! some of its actions there are meant; or it may come to such actions elsewhere, so that it has to leave, and all of its actions there are meant. Rows
//! are made when they are first asked for, so that choosing a set is a walk over a few words.

use super::relations::{LocationNumber, Relations};
use local::graphs::ActionNumber;

/// What is needed, by where processes are.
#[derive(Clone, Debug, Default)]
pub struct NeedRow {
    /// The locations that have to be left, all actions there needed.
    leave: Vec<u64>,
    /// The locations where single actions are needed.
    here: Vec<u64>,
    /// These actions, by number.
    actions: Vec<u64>,
}

impl NeedRow {
    /// Whether all actions at a location are needed.
    #[inline]
    pub fn leaves(&self, location: LocationNumber) -> bool {
        has(&self.leave, location)
    }

    /// Whether single actions at a location are needed.
    #[inline]
    pub fn is_here(&self, location: LocationNumber) -> bool {
        has(&self.here, location)
    }

    /// Whether an action is needed.
    #[inline]
    pub fn has(&self, action: ActionNumber) -> bool {
        has(&self.actions, action)
    }
}

#[inline]
fn has(bits: &[u64], at: u32) -> bool {
    bits[at as usize / 64] >> (at % 64) & 1 != 0
}

fn set(bits: &mut [u64], at: u32) {
    bits[at as usize / 64] |= 1 << (at % 64);
}

/// What something is needed for.
#[derive(Clone, Copy, Debug)]
pub enum Need {
    /// An action is enabled: all that depends on it.
    Enabled(ActionNumber),
    /// A bit has to have a value: all that may give it that.
    Bit(usize, bool),
    /// An action waits: all that may change what it awaits.
    Awaiting(ActionNumber),
}

/// The rows that were made.
pub struct Needs<'n, const W: usize> {
    /// The relations.
    pub relations: Relations<'n, W>,
    /// By action: what depends on it.
    dependents: Vec<Option<Box<NeedRow>>>,
    /// By bit and value: what may give it that value.
    makers: Vec<Option<Box<NeedRow>>>,
    /// By action: what may change what it awaits.
    changers: Vec<Option<Box<NeedRow>>>,
}

impl<'n, const W: usize> Needs<'n, W> {
    /// Nothing is made yet.
    pub fn new(relations: Relations<'n, W>) -> Self {
        let n_actions = relations.reach.len();
        Needs {
            relations,
            dependents: vec![None; n_actions],
            makers: vec![None; 128 * W],
            changers: vec![None; n_actions],
        }
    }

    /// Makes a row, unless it was made before.
    pub fn make(&mut self, need: Need) {
        let Needs { relations, dependents, makers, changers } = self;
        match need {
            Need::Enabled(action) => {
                dependents[action as usize].get_or_insert_with(|| Box::new(dependents_of(relations, action)))
            }
            Need::Bit(bit, value) => makers[2 * bit + usize::from(value)]
                .get_or_insert_with(|| Box::new(row(relations, |action| relations.may_make(action, bit, value)))),
            Need::Awaiting(action) => changers[action as usize]
                .get_or_insert_with(|| Box::new(row(relations, |other| relations.may_change(other, action)))),
        };
    }

    /// A row that was made.
    #[inline]
    pub fn row(&self, need: Need) -> Option<&NeedRow> {
        match need {
            Need::Enabled(action) => self.dependents[action as usize].as_deref(),
            Need::Bit(bit, value) => self.makers[2 * bit + usize::from(value)].as_deref(),
            Need::Awaiting(action) => self.changers[action as usize].as_deref(),
        }
    }

    /// The actions that satisfy a condition.
    pub fn those(&self, is_needed: impl Fn(ActionNumber) -> bool) -> NeedRow {
        row(&self.relations, is_needed)
    }
}

/// What depends on an action that is enabled.
fn dependents_of<const W: usize>(relations: &Relations<'_, W>, action: ActionNumber) -> NeedRow {
    let is_own = |other: ActionNumber| {
        relations.sides(other).any(|(process, _)| relations.sides(action).any(|(mover, _)| mover == process))
    };
    let mut row = row(relations, |other| !is_own(other) && relations.is_dependent(action, other));
    // Those of its own processes, where they are.
    relations.sides(action).for_each(|(_, location)| set(&mut row.leave, location));
    row
}

/// The row of some actions. One of two processes is sought where the sender is; whether the receiver is there is asked of the state.
fn row<const W: usize>(relations: &Relations<'_, W>, is_needed: impl Fn(ActionNumber) -> bool) -> NeedRow {
    let n_locations = relations.at.len();
    let mut row = NeedRow {
        leave: vec![0; n_locations.div_ceil(64)],
        here: vec![0; n_locations.div_ceil(64)],
        actions: vec![0; relations.reach.len().div_ceil(64)],
    };
    for action in 0..relations.reach.len() as ActionNumber {
        if relations.reach[action as usize].is_void || !is_needed(action) {
            continue;
        }
        set(&mut row.actions, action);
        let Some((_, location)) = relations.sides(action).next() else { continue };
        set(&mut row.here, location);
    }
    for process in 0..relations.first_location.len() {
        let first = relations.first_location[process];
        let end = relations.first_location.get(process + 1).map_or(n_locations as u32, |&next| next);
        let sought: Vec<LocationNumber> = (first..end).filter(|&location| has(&row.here, location)).collect();
        for from in first..end {
            if sought.iter().any(|&to| to != from && relations.follows(from, to, process)) {
                set(&mut row.leave, from);
            }
        }
    }
    row
}
