//! Rendezvous in abstract processes, explicit: joint turns of two processes, and what they keep a process from.
//!
//! In: local states of two processes at the same store. Out: the rendezvous in which one sends to the other, each computed once, with the
//! cells and both local states after it. Whether a process may stutter, or cannot take a step that counts, depends on its partners, too: it
//! may where each of them has a local state at the store with which the two have no rendezvous. Local states of different processes at one store are
//! chosen one by one, so this is exact; that no process is enabled may hold where each process has local states left after all are taken away
//! that have a step, or a rendezvous with whatever is left of a partner.

use std::ops::ControlFlow;
use std::rc::Rc;

use base::StopReason;
use model::Model;
use model::control::{ActionId, ActionKind, ChannelId, SyncSide};
use model::eval::{self, Turn};
use model::process::ProcessId;
use packed::machine::SyncWith;
use rustc_hash::{FxHashMap, FxHashSet};

use super::sets::{FairSets, StepCollector, only};
use crate::ids::{CellsId, ClassId, LocalId, StoreId};
use crate::sets::bits::for_each_bit;

/// A process in a local state.
pub type Placed = (ProcessId, LocalId);

/// A rendezvous, as far as both processes' own states and the cells go.
#[derive(Clone, Copy, Debug)]
pub struct JointTurn {
    /// The class: both processes and their actions.
    pub class: ClassId,
    /// The cells' values afterwards.
    pub cells: CellsId,
    /// The sender afterwards.
    pub sender: Placed,
    /// The receiver afterwards.
    pub receiver: Placed,
}

/// The rendezvous of a sender and a receiver at given cells in given local states.
#[derive(Clone, Debug)]
pub struct EnabledJointTurns {
    /// Those that lead somewhere.
    pub turns: Rc<[JointTurn]>,
    /// Whether there is one, be it a fault.
    pub is_enabled: bool,
    /// Whether one is a fault.
    pub is_faulty: bool,
}

/// The channels on which a process can send and receive somewhere.
#[derive(Clone, Debug, Default)]
struct Offers {
    sends: FxHashSet<ChannelId>,
    receives: FxHashSet<ChannelId>,
}

impl Offers {
    fn add(&mut self, model: &Model, action: ActionId) {
        let Some(sync) = &model.actions[action].sync else { return };
        match sync.side {
            SyncSide::Send(_) => self.sends.insert(sync.channel),
            SyncSide::Receive(_) => self.receives.insert(sync.channel),
        };
    }
}

/// Who can have a rendezvous with whom, and those that were asked for.
#[derive(Default)]
pub struct Rendezvous {
    /// By process: those with which it may have one, whichever sends.
    partners: Vec<Vec<ProcessId>>,
    /// By process and control point.
    offers: Vec<Vec<Offers>>,
    known: FxHashMap<(Placed, Placed, CellsId), EnabledJointTurns>,
    nothing: Option<EnabledJointTurns>,
}

impl Rendezvous {
    /// Those of a program; `place` gives the actions at each control point of a process.
    pub fn new(model: &Model, points: impl Fn(ProcessId) -> Vec<Vec<ActionId>>) -> Self {
        if model.channels.is_empty() {
            return Rendezvous { partners: vec![Vec::new(); model.processes.len()], ..Rendezvous::default() };
        }
        let offers_at = |actions: &Vec<ActionId>| {
            let mut offers = Offers::default();
            actions.iter().for_each(|&action| offers.add(model, action));
            offers
        };
        let offers: Vec<Vec<Offers>> =
            model.processes.ids().map(|process| points(process).iter().map(offers_at).collect()).collect();
        let sends_to = |one: ProcessId, other: ProcessId| {
            let sent = offers[one.index()].iter().flat_map(|offers| &offers.sends);
            let received = |channel| offers[other.index()].iter().any(|offers| offers.receives.contains(channel));
            one != other && sent.into_iter().any(received)
        };
        let partners_of = |one| {
            model.processes.ids().filter(|&other| sends_to(one, other) || sends_to(other, one)).collect::<Vec<_>>()
        };
        let partners = model.processes.ids().map(partners_of).collect();
        let nothing = EnabledJointTurns { turns: Rc::new([]), is_enabled: false, is_faulty: false };
        Rendezvous { partners, offers, known: FxHashMap::default(), nothing: Some(nothing) }
    }

    /// The processes with which one may have a rendezvous.
    pub fn partners(&self, process: ProcessId) -> &[ProcessId] {
        &self.partners[process.index()]
    }

    /// What those that were asked for take.
    pub fn bytes(&self) -> u64 {
        self.known.capacity() as u64 * 96
    }
}

impl<const W: usize> FairSets<'_, W> {
    /// The local states of a process at a store; of one that is fixed, that alone.
    pub fn listed_at(&self, process: ProcessId, store: StoreId, fixed: Option<Placed>) -> Vec<LocalId> {
        match fixed {
            Some((focus, local)) if focus == process => vec![local],
            _ => {
                let mut found = Vec::new();
                for_each_bit(self.at(process, store), |local| found.push(local));
                found
            }
        }
    }

    /// The rendezvous in which one process sends to another, computed once.
    pub fn joint_turns(
        &mut self,
        sender: Placed,
        receiver: Placed,
        cells: CellsId,
    ) -> Result<EnabledJointTurns, StopReason> {
        let [from, to] = [sender, receiver].map(|(process, local)| {
            let point = self.plain_local(process, local).point;
            (process.index(), point)
        });
        let offers = &self.rendezvous.offers;
        if offers[from.0][from.1].sends.is_disjoint(&offers[to.0][to.1].receives) {
            return Ok(self.rendezvous.nothing.clone().expect("processes with offers have it"));
        }
        let key = (sender, receiver, cells);
        if let Some(known) = self.rendezvous.known.get(&key) {
            return Ok(known.clone());
        }
        let mut from = *self.cells.row(cells);
        for (process, local) in [sender, receiver] {
            let own = self.local_rows[process.index()].row(local);
            from.iter_mut().zip(own).for_each(|(word, own)| *word |= own);
        }
        let mut found = StepCollector::new(self.budget);
        let with = (sender.0, SyncWith::Receiver(receiver.0));
        let moved = self.machine.expand_with(with, &from, &self.scratch, &mut found);
        if let Some(stop) = found.stopped {
            return Err(stop);
        }
        let mut turns = Vec::new();
        for (by, next) in found.steps {
            let class = self.class(Turn::Step(by));
            let cells = self.cells.number(only(&next, &self.cells_mask)).0;
            let [sender, receiver] = [sender.0, receiver.0].map(|process| {
                let mask = self.local_masks[process.index()];
                (process, self.local_rows[process.index()].number(only(&next, &mask)).0)
            });
            turns.push(JointTurn { class, cells, sender, receiver });
        }
        let is_enabled = !matches!(moved, ControlFlow::Continue(false));
        let enabled = EnabledJointTurns { turns: turns.into(), is_enabled, is_faulty: found.is_faulty };
        self.rendezvous.known.insert(key, enabled.clone());
        Ok(enabled)
    }

    /// The store after a rendezvous.
    pub fn joint_target(&mut self, here: StoreId, turn: JointTurn) -> StoreId {
        let mut blocks = self.stores[here.index()].blocks;
        for (process, local) in [turn.sender, turn.receiver] {
            let block = self.block(process, local);
            blocks = self.changed_vector(blocks, process, block);
        }
        self.store_at(turn.cells, blocks)
    }

    /// The rendezvous of two processes at a store, in both directions.
    pub fn together(
        &mut self,
        one: Placed,
        other: Placed,
        cells: CellsId,
    ) -> Result<[EnabledJointTurns; 2], StopReason> {
        Ok([self.joint_turns(one, other, cells)?, self.joint_turns(other, one, cells)?])
    }

    /// Whether two processes have a rendezvous, be it a fault.
    fn have_rendezvous(&mut self, one: Placed, other: Placed, cells: CellsId) -> Result<bool, StopReason> {
        Ok(self.together(one, other, cells)?.iter().any(|turns| turns.is_enabled))
    }

    /// Whether a process that has no step of its own may stutter, and whether it must: some local states of its partners, or all, give it no
    /// rendezvous. One process may be fixed.
    pub fn stutters(
        &mut self,
        one: Placed,
        store: StoreId,
        fixed: Option<Placed>,
    ) -> Result<StutterChoice, StopReason> {
        let cells = self.stores[store.index()].cells;
        let mut choice = StutterChoice { may: true, must: true };
        for partner in self.rendezvous.partners(one.0).to_vec() {
            let (mut n_free, mut n_all) = (0, 0);
            for local in self.listed_at(partner, store, fixed) {
                n_all += 1;
                n_free += usize::from(!self.have_rendezvous(one, (partner, local), cells)?);
            }
            choice.may &= n_free > 0;
            choice.must &= n_free == n_all;
        }
        Ok(choice)
    }

    /// Whether a process in a local state may have no step that counts at a store, alone or in a rendezvous; one process may be fixed.
    pub fn may_be_unable(
        &mut self,
        one: Placed,
        labels: Option<&[String]>,
        (store, fixed): (StoreId, Option<Placed>),
    ) -> Result<bool, StopReason> {
        let cells = self.stores[store.index()].cells;
        if self.is_able_alone(one, labels, cells)? {
            return Ok(false);
        }
        for partner in self.rendezvous.partners(one.0).to_vec() {
            let mut is_free = false;
            for local in self.listed_at(partner, store, fixed) {
                if !self.is_able_with(one, labels, (partner, local), cells)? {
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

    /// Whether it may be that no process has a step but leaving `idle`, as far as each two partners tell.
    pub fn may_all_be_unable(&mut self, store: StoreId, fixed: Option<Placed>) -> Result<bool, StopReason> {
        let cells = self.stores[store.index()].cells;
        let mut left: Vec<Vec<LocalId>> = Vec::new();
        for process in self.locals.model.processes.ids() {
            let mut unable = Vec::new();
            for local in self.listed_at(process, store, fixed) {
                if !self.is_able_alone((process, local), None, cells)? {
                    unable.push(local);
                }
            }
            left.push(unable);
        }
        loop {
            if left.iter().any(Vec::is_empty) {
                return Ok(false);
            }
            let n_before: usize = left.iter().map(Vec::len).sum();
            for process in self.locals.model.processes.ids() {
                let mut kept = Vec::new();
                for &local in &left[process.index()] {
                    if self.fits((process, local), &left, cells)? {
                        kept.push(local);
                    }
                }
                left[process.index()] = kept;
            }
            if left.iter().map(Vec::len).sum::<usize>() == n_before {
                return Ok(true);
            }
        }
    }

    /// Whether each partner has a local state left with which there is no rendezvous.
    fn fits(&mut self, one: Placed, left: &[Vec<LocalId>], cells: CellsId) -> Result<bool, StopReason> {
        for partner in self.rendezvous.partners(one.0).to_vec() {
            let mut is_free = false;
            for &local in &left[partner.index()] {
                is_free = is_free || !self.have_rendezvous(one, (partner, local), cells)?;
            }
            if !is_free {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a process has a step by itself other than leaving `idle`, with one of the labels if there are any.
    pub fn is_able_alone(
        &mut self,
        (process, local): Placed,
        labels: Option<&[String]>,
        cells: CellsId,
    ) -> Result<bool, StopReason> {
        let enabled_turns = self.enabled_turns(process, cells, local)?;
        if enabled_turns.is_faulty {
            return Ok(self.is_able_in_eval(process, labels, (cells, &[(process, local)])));
        }
        let turns = enabled_turns.turns.iter().map(|turn| turn.class);
        Ok(turns.into_iter().any(|class| self.counts(class, process, labels)))
    }

    /// Whether a process that has no such step by itself has a rendezvous with another that counts.
    fn is_able_with(
        &mut self,
        one: Placed,
        labels: Option<&[String]>,
        other: Placed,
        cells: CellsId,
    ) -> Result<bool, StopReason> {
        let both = self.together(one, other, cells)?;
        if both.iter().any(|turns| turns.is_faulty) {
            return Ok(self.is_able_in_eval(one.0, labels, (cells, &[one, other])));
        }
        let mut turns = both.iter().flat_map(|turns| turns.turns.iter());
        Ok(turns.any(|turn| self.counts(turn.class, one.0, labels)))
    }

    /// Whether a turn begins with a step of the process that counts.
    fn counts(&self, class: ClassId, process: ProcessId, labels: Option<&[String]>) -> bool {
        let action = |id: ActionId| {
            let action = &self.locals.model.actions[id];
            !matches!(action.kind, ActionKind::Idle)
                && labels.is_none_or(|labels| action.labels.iter().any(|label| labels.contains(label)))
        };
        self.classes[class.index()].0.first_action_of(process).is_some_and(action)
    }

    /// A fault is an enabled step without a turn: only `eval` knows which. All but those that are placed have ended.
    fn is_able_in_eval(
        &mut self,
        process: ProcessId,
        labels: Option<&[String]>,
        (cells, placed): (CellsId, &[Placed]),
    ) -> bool {
        let state = self.plain_state(cells, None);
        let plain: Vec<_> =
            placed.iter().map(|&(process, local)| (process, self.plain_local(process, local).clone())).collect();
        let state = self.locals.with_others_ended(&state, &plain);
        match labels {
            None => eval::able(self.locals.model, &state, process),
            Some(labels) => eval::able_by(self.locals.model, &state, process, labels),
        }
    }
}

/// Whether some choice of its partners' local states lets a process stutter, and whether all do.
#[derive(Clone, Copy, Debug)]
pub struct StutterChoice {
    /// Some.
    pub may: bool,
    /// All.
    pub must: bool,
}
