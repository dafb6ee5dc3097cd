//! The actions that are taken from a state: a stubborn set.
//!
//! In: a state, and the actions that are enabled there. Out: which of them are taken. A set is closed: with an enabled action it
//! has all that depend on it, those of its own processes among them; with one that is not enabled, a necessary enabling set: where a process is elsewhere, all that it can do
//! to leave; otherwise all that may make true one thing that the action awaits and that is false, of several the one that asks for the fewest processes.
//! Where a question looks at states, a set with an enabled action that it could see has all such actions. Of the sets that
//! begin with what a process can do, one with the fewest successors is chosen. Where no set has been smaller for long, it is looked for only now and then.

use super::StateBits;
use super::needs::{Need, NeedRow, Needs};
use super::relations::{LocationNumber, Relations};
use local::graphs::ActionNumber;
use packed::machine::Machine;
use packed::packing::Packed;

/// After so many states in a row in which nothing could be left out, most are passed over.
const PATIENCE: u32 = 1_000;

/// Of those, one in so many is looked at.
const NOW_AND_THEN: u32 = 32;

/// After so many sets in a row that were too large, most that begin at the location are passed over.
const LOCATION_PATIENCE: u32 = 64;

/// What looking for sets may cost, in actions and locations that are looked at: so much for each state, and for each step that was left out, and never more ahead than this.
const CREDIT_OF_STATE: i64 = 150;
const CREDIT_OF_STEP: i64 = 100;
const MOST_CREDIT: i64 = 100_000;

/// What has to be kept.
#[derive(Clone, Copy, Debug)]
pub struct Keeping<const W: usize> {
    /// The bits that questions look at.
    pub visible: StateBits<W>,
    /// Whether nothing is asked but deadlocks.
    pub only_deadlocks: bool,
}

/// Chooses actions.
pub struct StubbornChoice<'c, const W: usize> {
    needs: Needs<'c, W>,
    /// By action: whether questions can see it.
    visible: Vec<bool>,
    all_visible: NeedRow,
    /// By process: where it is.
    locations: Vec<LocationNumber>,
    /// By action: the set that it was last in, by number.
    in_set: Vec<u64>,
    /// By location: the last set that had all its actions.
    whole_in: Vec<u64>,
    /// By action: the state in which it was last enabled, by number, and how many successors it had.
    enabled_at: Vec<u64>,
    n_successors: Vec<u32>,
    /// By action: the last set that was chosen with it, by number.
    chosen_in: Vec<u64>,
    chosen: u64,
    /// By location: how many sets that began there were too large, since one was not.
    n_failed: Vec<u32>,
    /// Actions that the set has and whose needs are not yet looked at.
    open: Vec<ActionNumber>,
    /// The enabled actions of the set.
    enabled: Vec<ActionNumber>,
    n_sets: u64,
    n_states: u64,
    /// How many states in a row were looked at in vain, and how many were passed over.
    n_in_vain: u32,
    n_passed_over: u32,
    /// What looking for sets may still cost; below 0 nothing is looked for.
    credit: i64,
    /// What it has cost.
    n_looks: u64,
}

impl<'c, const W: usize> StubbornChoice<'c, W> {
    /// Choices for states of a program.
    pub fn new(relations: Relations<'c, W>, keeping: &Keeping<W>) -> Self {
        let needs = Needs::new(relations);
        let relations = &needs.relations;
        let (n_actions, n_locations) = (relations.reach.len(), relations.at.len());
        let visible: Vec<bool> =
            (0..n_actions as u32).map(|action| relations.may_write(action, &keeping.visible)).collect();
        let all_visible = needs.those(|action| visible[action as usize]);
        StubbornChoice {
            visible,
            all_visible,
            locations: vec![0; relations.first_location.len()],
            in_set: vec![0; n_actions],
            whole_in: vec![0; n_locations],
            enabled_at: vec![0; n_actions],
            n_successors: vec![0; n_actions],
            chosen_in: vec![0; n_actions],
            chosen: 0,
            n_failed: vec![0; n_locations],
            open: Vec::new(),
            enabled: Vec::new(),
            n_sets: 0,
            n_states: 0,
            n_in_vain: 0,
            n_passed_over: 0,
            credit: MOST_CREDIT,
            n_looks: 0,
            needs,
        }
    }

    /// Whether it is worth looking for a set in the next state.
    pub fn is_worth_it(&mut self) -> bool {
        self.credit = (self.credit + CREDIT_OF_STATE).min(MOST_CREDIT);
        if self.credit < 0 {
            return false;
        }
        if self.n_in_vain < PATIENCE {
            return true;
        }
        self.n_passed_over = self.n_passed_over.wrapping_add(1);
        self.n_passed_over.is_multiple_of(NOW_AND_THEN)
    }

    /// How many actions and locations were looked at.
    pub fn n_looks(&self) -> u64 {
        self.n_looks
    }

    fn pay(&mut self, n_looks: usize) {
        self.credit -= n_looks as i64;
        self.n_looks += n_looks as u64;
    }

    /// Whether an action is in the set that was chosen last.
    #[inline]
    pub fn is_chosen(&self, action: ActionNumber) -> bool {
        self.chosen_in[action as usize] == self.chosen
    }

    /// Chooses among the actions that are enabled, each given once for each of its successors, those of a process together; whether something can be left out.
    pub fn choose(
        &mut self,
        machine: &Machine<'_>,
        state: &Packed<W>,
        enabled: impl Iterator<Item = ActionNumber> + Clone,
    ) -> bool {
        self.n_states += 1;
        let mut n_all = 0;
        for action in enabled.clone() {
            let at = action as usize;
            if self.needs.relations.reach[at].is_void {
                // Only where nobody else can move.
                return false;
            }
            if self.enabled_at[at] != self.n_states {
                (self.enabled_at[at], self.n_successors[at]) = (self.n_states, 0);
            }
            self.n_successors[at] += 1;
            n_all += 1;
        }
        for (process, location) in self.locations.iter_mut().enumerate() {
            let point = machine.codec.layout.control[process].raw(state);
            *location = self.needs.relations.first_location[process] + point as LocationNumber;
        }
        let mut best = n_all;
        let mut tried = usize::MAX;
        for action in enabled {
            let process = self.needs.relations.actions.movers[action as usize].0.index();
            if process == tried {
                continue;
            }
            tried = process;
            if let Some(size) = self.try_from(self.locations[process], state, best) {
                best = size;
                self.chosen += 1;
                self.enabled.iter().for_each(|&action| self.chosen_in[action as usize] = self.chosen);
                if best == 1 {
                    break;
                }
            }
        }
        let is_less = best < n_all;
        self.credit += CREDIT_OF_STEP * i64::from(n_all - best);
        self.n_in_vain = if is_less { 0 } else { self.n_in_vain.saturating_add(1) };
        is_less
    }

    /// The size of the set that begins at a location, if that is less than a limit and the location is worth trying.
    fn try_from(&mut self, location: LocationNumber, state: &Packed<W>, limit: u32) -> Option<u32> {
        let n_failed = &mut self.n_failed[location as usize];
        if *n_failed >= LOCATION_PATIENCE {
            *n_failed += 1;
            if *n_failed < LOCATION_PATIENCE + NOW_AND_THEN {
                return None;
            }
            *n_failed = LOCATION_PATIENCE;
        }
        let size = self.closed(location, state, limit);
        let n_failed = &mut self.n_failed[location as usize];
        *n_failed = if size.is_some() { 0 } else { (*n_failed + 1).min(LOCATION_PATIENCE) };
        size
    }

    /// How many successors the enabled actions of the least closed set have that has all actions at a location, if they are fewer than the limit.
    fn closed(&mut self, start: LocationNumber, state: &Packed<W>, limit: u32) -> Option<u32> {
        self.n_sets += 1;
        let (mut size, mut has_visible) = (0, false);
        self.enabled.clear();
        self.open.clear();
        self.add_location(start);
        while let Some(action) = self.open.pop() {
            let at = action as usize;
            if self.in_set[at] == self.n_sets || self.needs.relations.reach[at].is_void {
                continue;
            }
            self.in_set[at] = self.n_sets;
            self.pay(4 + self.locations.len());
            if self.enabled_at[at] != self.n_states {
                self.add_enabling(action, state);
                continue;
            }
            size += self.n_successors[at];
            if size >= limit {
                return None;
            }
            self.enabled.push(action);
            self.add_row(Need::Enabled(action));
            if self.visible[at] && !has_visible {
                has_visible = true;
                let StubbornChoice { needs, all_visible, locations, whole_in, open, .. } = self;
                let mut set = GrowingSet { at: &needs.relations.at, locations, whole_in, open, number: self.n_sets };
                set.add(all_visible);
            }
        }
        Some(size)
    }

    /// Adds a necessary enabling set of an action that is not enabled.
    fn add_enabling(&mut self, action: ActionNumber, state: &Packed<W>) {
        let relations = &self.needs.relations;
        let elsewhere = relations.sides(action).find(|&(process, location)| self.locations[process] != location);
        if let Some((process, wanted)) = elsewhere {
            let location = self.locations[process];
            // Control that never gets there never takes the action.
            if relations.follows(location, wanted, process) {
                self.add_location(location);
            }
            return;
        }
        let mut best: Option<(u32, Need)> = None;
        for at in 0..self.needs.relations.tests(action).len() {
            let test = self.needs.relations.tests(action)[at];
            let word = test.word as usize;
            let mut wrong = (state[word] ^ test.value) & test.mask;
            while wrong != 0 {
                let bit = wrong.trailing_zeros() as usize;
                wrong &= wrong - 1;
                let need = Need::Bit(64 * word + bit, test.value >> bit & 1 != 0);
                let asked = self.n_asked(need);
                if best.is_none_or(|(fewest, _)| asked < fewest) {
                    best = Some((asked, need));
                }
            }
        }
        self.add_row(best.map_or(Need::Awaiting(action), |(_, need)| need));
    }

    /// How many processes a row asks for that are not yet all in the set.
    fn n_asked(&mut self, need: Need) -> u32 {
        self.needs.make(need);
        self.pay(self.locations.len());
        let Some(row) = self.needs.row(need) else { return 0 };
        let asks = |&&location: &&LocationNumber| {
            self.whole_in[location as usize] != self.n_sets && (row.leaves(location) || row.is_here(location))
        };
        self.locations.iter().filter(asks).count() as u32
    }

    fn add_row(&mut self, need: Need) {
        self.needs.make(need);
        let StubbornChoice { needs, locations, whole_in, open, .. } = self;
        let mut set = GrowingSet { at: &needs.relations.at, locations, whole_in, open, number: self.n_sets };
        needs.row(need).into_iter().for_each(|row| set.add(row));
    }

    fn add_location(&mut self, location: LocationNumber) {
        let StubbornChoice { needs, locations, whole_in, open, .. } = self;
        let mut set = GrowingSet { at: &needs.relations.at, locations, whole_in, open, number: self.n_sets };
        set.add_location(location);
    }
}

/// A set while it grows.
struct GrowingSet<'g> {
    at: &'g [Vec<ActionNumber>],
    locations: &'g [LocationNumber],
    whole_in: &'g mut [u64],
    open: &'g mut Vec<ActionNumber>,
    number: u64,
}

impl GrowingSet<'_> {
    /// Adds what a row asks for, of where the processes are.
    fn add(&mut self, row: &NeedRow) {
        for &location in self.locations {
            if row.leaves(location) {
                self.add_location(location);
            } else if row.is_here(location) && self.whole_in[location as usize] != self.number {
                self.open.extend(self.at[location as usize].iter().filter(|&&action| row.has(action)));
            }
        }
    }

    /// Adds all actions at a location.
    fn add_location(&mut self, location: LocationNumber) {
        if self.whole_in[location as usize] != self.number {
            self.whole_in[location as usize] = self.number;
            self.open.extend(&self.at[location as usize]);
        }
    }
}
