//! Rendezvous from the rows of two processes, taken by `eval`; and who stutters or is not enabled where partners decide it.
//!
//! In: rows of two processes with the same store. Out: the turns in which one sends to the other, with the changes that they make, and whether there are
//! any. A process may stutter at a row of the focus if, with some rows of all others, it has neither a step nor a rendezvous: rows of different processes are
//! chosen one by one, so each partner is tried alone. That nobody is enabled is tried for all together, where it is not excluded two by two.

use std::rc::Rc;

use base::Budget;
use evidence::certificate::Column;
use model::control::ActionKind;
use model::eval::{Move, Turn};
use model::process::ProcessId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::turns::{Taken, Turns};
use crate::certificate::claimed::names;
use crate::certificate::listing::stepper::View;
use crate::certificate::movers::Movers;
use crate::certificate::{Outcome, words};

/// More choices of rows than this are not tried for all processes together.
const MOST_TRIED: usize = 1 << 16;

/// A process and one of its rows.
pub(super) type At = (ProcessId, u32);

/// What a sender and a receiver can do together from two rows.
pub(super) struct Joint {
    turns: Vec<(Turn, Vec<(Column, u32)>)>,
    /// The enabled rendezvous, those that fail among them.
    enabled: Vec<Move>,
}

/// The columns of a sender, then those of a receiver that it does not have.
struct PairColumns {
    positions: FxHashMap<Column, usize>,
    /// The positions in the receiver's rows of those that are added.
    added: Vec<usize>,
}

/// Who can step together, and what is known of it.
pub(super) struct Joints {
    /// All pairs of a sender and a receiver.
    pairs: Vec<(ProcessId, ProcessId)>,
    layouts: FxHashMap<(ProcessId, ProcessId), PairColumns>,
    known: FxHashMap<(At, At), Rc<Joint>>,
    /// By pair and store: their turns as others see them.
    seen: FxHashMap<(ProcessId, ProcessId, u32), Taken>,
}

impl Joints {
    /// Those of all movers.
    pub fn new(all: Vec<Movers>) -> Self {
        let pairs = all.into_iter().filter_map(|movers| match movers {
            Movers::One(_) => None,
            Movers::Two { sender, receiver } => Some((sender, receiver)),
        });
        Joints {
            pairs: pairs.collect(),
            layouts: FxHashMap::default(),
            known: FxHashMap::default(),
            seen: FxHashMap::default(),
        }
    }

    /// The processes with which one can step together.
    pub fn partners(&self, process: ProcessId) -> Vec<ProcessId> {
        let other = |&(sender, receiver): &(ProcessId, ProcessId)| match process {
            _ if process == sender => Some(receiver),
            _ if process == receiver => Some(sender),
            _ => None,
        };
        let mut found: Vec<ProcessId> = self.pairs.iter().filter_map(other).collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

impl Turns<'_> {
    /// The rendezvous that the focus sees from a row, each with the changes of what it sees: its own, and those of two others.
    pub fn joint(&mut self, (focus, row): At) -> Outcome<Taken> {
        let store = self.rows(focus).stores[row as usize];
        let mut all = Vec::new();
        for (sender, receiver) in self.joints.pairs.clone() {
            if focus != sender && focus != receiver {
                all.extend(self.joint_of_others((sender, receiver), store)?.iter().cloned());
                continue;
            }
            let mut found = FxHashSet::default();
            let other = if focus == sender { receiver } else { sender };
            for theirs in self.rows(other).with_store(store).to_vec() {
                let (from, to) = if focus == sender { (row, theirs) } else { (theirs, row) };
                let joint = self.together((sender, from), (receiver, to))?;
                for (turn, changes) in &joint.turns {
                    let is_seen = |(column, _): &&(Column, u32)| self.rows(focus).positions.contains_key(column);
                    let seen: Vec<(Column, u32)> = changes.iter().filter(is_seen).copied().collect();
                    if found.insert((turn.clone(), seen.clone())) {
                        all.push((turn.clone(), seen));
                    }
                }
            }
        }
        Ok(Rc::new(all))
    }

    /// The rendezvous of two processes from any of their rows with a store, as others see them.
    fn joint_of_others(&mut self, (sender, receiver): (ProcessId, ProcessId), store: u32) -> Outcome<Taken> {
        if let Some(known) = self.joints.seen.get(&(sender, receiver, store)) {
            return Ok(Rc::clone(known));
        }
        let (mut found, mut taken) = (FxHashSet::default(), Vec::new());
        for from in self.rows(sender).with_store(store).to_vec() {
            for to in self.rows(receiver).with_store(store).to_vec() {
                let joint = self.together((sender, from), (receiver, to))?;
                for (turn, changes) in &joint.turns {
                    let is_seen = |(column, _): &&(Column, u32)| self.is_of_store(*column);
                    let seen: Vec<(Column, u32)> = changes.iter().filter(is_seen).copied().collect();
                    if found.insert((turn.clone(), seen.clone())) {
                        taken.push((turn.clone(), seen));
                    }
                }
            }
        }
        let taken = Rc::new(taken);
        self.joints.seen.insert((sender, receiver, store), Rc::clone(&taken));
        Ok(taken)
    }

    /// What a sender and a receiver do together from two rows with the same store.
    fn together(&mut self, sender: At, receiver: At) -> Outcome<Rc<Joint>> {
        if let Some(known) = self.joints.known.get(&(sender, receiver)) {
            return Ok(Rc::clone(known));
        }
        let pair = (sender.0, receiver.0);
        let [ours, theirs] = [sender, receiver].map(|(process, _)| self.rows(process).columns);
        let layout = self.joints.layouts.entry(pair).or_insert_with(|| {
            let mut positions: FxHashMap<Column, usize> = ours.iter().copied().zip(0..).collect();
            let is_new = |&at: &usize| !ours.contains(&theirs[at]);
            let added: Vec<usize> = (0..theirs.len()).filter(is_new).collect();
            positions.extend(added.iter().map(|&at| theirs[at]).zip(ours.len()..));
            PairColumns { positions, added }
        });
        let [ours, theirs] = [sender, receiver].map(|(process, row)| &self.rows[process.index()].list[row as usize]);
        let row: Vec<u32> = ours.iter().copied().chain(layout.added.iter().map(|&at| theirs[at])).collect();
        let view = View { columns: &layout.positions, row: &row };
        let movers = Movers::Two { sender: sender.0, receiver: receiver.0 };
        let attempts = self.stepper.attempts(movers, view)?;
        let mut turns = Vec::new();
        for stepped in &attempts.steps {
            let changes = self.stepper.changes(stepped, view).or_else(|what| {
                let movers = names(self.numbering.model, &movers.processes());
                let step = words::step(self.numbering, &stepped.by);
                words::refused(
                    format!("steps of {movers} have to stay within what is listed"),
                    format!("{step} from {} {what}", self.stepper.show(view)),
                )
            })?;
            turns.push((Turn::Step(stepped.by.clone()), changes));
        }
        let failing = attempts.faults.iter().map(|(by, _)| by.clone());
        let enabled = attempts.steps.iter().map(|stepped| stepped.by.clone()).chain(failing).collect();
        let joint = Rc::new(Joint { turns, enabled });
        self.joints.known.insert((sender, receiver), Rc::clone(&joint));
        Ok(joint)
    }

    /// Whether a process has a rendezvous with another, whichever sends, that begins with an action of it that counts.
    fn has_with(&mut self, one: At, other: At, labels: Option<&[String]>, idle_counts: bool) -> Outcome<bool> {
        for (sender, receiver) in [(one, other), (other, one)] {
            if !self.joints.pairs.contains(&(sender.0, receiver.0)) {
                continue;
            }
            let joint = self.together(sender, receiver)?;
            let model = self.numbering.model;
            let counts = |by: &Move| {
                by.first().action_of(one.0).is_some_and(|action| {
                    let action = &model.actions[action];
                    (idle_counts || !matches!(action.kind, ActionKind::Idle))
                        && labels.is_none_or(|labels| action.labels.iter().any(|label| labels.contains(label)))
                })
            };
            if joint.enabled.iter().any(counts) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The rows of a process at the store of a row of another, which is where it is.
    fn rows_beside(&self, process: ProcessId, (focus, row): At) -> Vec<u32> {
        match process == focus {
            true => vec![row],
            false => self.rows(process).with_store(self.rows(focus).stores[row as usize]).to_vec(),
        }
    }

    /// Whether a process has a partner that leaves it without a rendezvous that counts, whichever row it is in beside the focus: one for each.
    fn is_left_alone(&mut self, one: At, at: At, labels: Option<&[String]>, idle_counts: bool) -> Outcome<bool> {
        for partner in self.joints.partners(one.0) {
            let mut is_free = false;
            for row in self.rows_beside(partner, at) {
                if !self.has_with(one, (partner, row), labels, idle_counts)? {
                    is_free = true;
                    break;
                }
            }
            if !is_free {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a process may stutter at a row of the focus, where partners decide it.
    pub fn may_stutter(&mut self, process: ProcessId, at: At) -> Outcome<bool> {
        for row in self.rows_beside(process, at) {
            if self.waits(process, row)? && self.is_left_alone((process, row), at, None, true)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a process may have no step that counts at a row of the focus, alone or in a rendezvous.
    pub fn may_be_unable(&mut self, process: ProcessId, labels: Option<&[String]>, at: At) -> Outcome<bool> {
        for row in self.rows_beside(process, at) {
            if !self.is_able(process, row, labels)? && self.is_left_alone((process, row), at, labels, false)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether it may be at a row of the focus that no process has a step but leaving `idle`. Where there are too many choices, it may.
    pub fn may_all_be_unable(&mut self, at: At, budget: &Budget) -> Outcome<bool> {
        let mut left: Vec<Vec<u32>> = Vec::new();
        for process in self.numbering.model.processes.ids() {
            let mut unable = Vec::new();
            for row in self.rows_beside(process, at) {
                if !self.is_able(process, row, None)? {
                    unable.push(row);
                }
            }
            left.push(unable);
        }
        let mut has_changed = true;
        while has_changed {
            budget.check(0)?;
            has_changed = false;
            for process in self.numbering.model.processes.ids() {
                let mut kept = Vec::new();
                for &row in &left[process.index()] {
                    if self.fits_all((process, row), &left)? {
                        kept.push(row);
                    }
                }
                has_changed |= kept.len() < left[process.index()].len();
                left[process.index()] = kept;
            }
        }
        let (mut n_tried, mut chosen) = (0, Vec::new());
        self.choose(&left, &mut chosen, &mut n_tried)
    }

    /// Whether each partner has a row left with which there is no rendezvous.
    fn fits_all(&mut self, one: At, left: &[Vec<u32>]) -> Outcome<bool> {
        for partner in self.joints.partners(one.0) {
            let mut fits = false;
            for &row in &left[partner.index()] {
                fits = fits || !self.has_with(one, (partner, row), None, false)?;
            }
            if !fits {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the processes after those that are chosen have rows without a rendezvous among all of them.
    fn choose(&mut self, left: &[Vec<u32>], chosen: &mut Vec<u32>, n_tried: &mut usize) -> Outcome<bool> {
        let process = ProcessId::new(chosen.len());
        let Some(rows) = left.get(process.index()) else { return Ok(true) };
        'rows: for &row in rows {
            *n_tried += 1;
            if *n_tried > MOST_TRIED {
                return Ok(true);
            }
            for (other, &theirs) in chosen.iter().enumerate() {
                if self.has_with((process, row), (ProcessId::new(other), theirs), None, false)? {
                    continue 'rows;
                }
            }
            chosen.push(row);
            if self.choose(left, chosen, n_tried)? {
                return Ok(true);
            }
            chosen.pop();
        }
        Ok(false)
    }
}
