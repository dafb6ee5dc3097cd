//! Steps of two processes: a sender with each receiver that can take part.
//!
//! Values and the cells that receive them are evaluated in the state before the step, and stored; then the receiver's code
//! runs, then the sender's.

use model::process::ProcessId;

use super::paths::Paths;
use super::run::check;
use super::{Flow, Machine, Scratch, SyncWith};
use crate::code::{Address, CompiledEffect, CompiledStep, Meeting, ReceiveTarget, SyncStep};
use crate::packing::Packed;
use crate::term::{Faulty, TermId, TermInput};

impl Machine<'_> {
    /// A sender's step with each receiver that can take part.
    pub(super) fn meet<const W: usize>(
        &self,
        sender: &CompiledStep,
        state: &Packed<W>,
        paths: &mut Paths<'_, W>,
    ) -> Flow {
        let (me, company) = (paths.process, paths.company);
        let Some(SyncStep::Send(channel, _)) = sender.sync.as_deref() else { return Flow::Continue(()) };
        let is_there = |partner: ProcessId| match company {
            SyncWith::Anybody => partner != me,
            SyncWith::Nobody => false,
            SyncWith::Receiver(receiver) => partner == receiver && partner != me,
        };
        for &partner in self.code.receivers[channel.index()].iter().filter(|&&partner| is_there(partner)) {
            let point = self.point(partner, state);
            if !point.has_sync {
                continue;
            }
            for receiver in &self.code.steps[point.first as usize..point.end as usize] {
                if !paths.marked.admits(sender.when_nobody || receiver.when_nobody) {
                    continue;
                }
                let Some(next) = self.pass(sender, receiver, state, paths.scratch) else { continue };
                paths.partner = Some((partner, receiver.statement));
                paths.sink.begins(sender.action, Some((partner, receiver.action)));
                match next {
                    Err(Faulty) => paths.n_faults += 1,
                    Ok(next) => self.run(code_of(receiver), Some(code_of(sender)), next, paths)?,
                }
                paths.partner = None;
            }
        }
        Flow::Continue(())
    }

    /// A sender's step with a certain step of a receiver, where a first test of both holds.
    #[inline]
    pub(super) fn meet_there<const W: usize>(
        &self,
        sender: &CompiledStep,
        meeting: &Meeting,
        state: &Packed<W>,
        paths: &mut Paths<'_, W>,
    ) -> Flow {
        if !meeting.more_tests.iter().all(|test| test.holds(state)) {
            return Flow::Continue(());
        }
        let receiver = &self.code.steps[meeting.receiver as usize];
        for condition in [sender.condition, receiver.condition].into_iter().flatten() {
            // That of the sender is no fault, and one of the receiver is its own.
            if self.test(condition, state, paths.scratch) != Ok(true) {
                return Flow::Continue(());
            }
        }
        let passed =
            if meeting.passes { self.passed(sender, receiver, state, paths.scratch) } else { Some(Ok(*state)) };
        let Some(passed) = passed else { return Flow::Continue(()) };
        paths.statement = sender.statement;
        paths.partner = Some((meeting.partner, receiver.statement));
        paths.sink.begins(sender.action, Some((meeting.partner, receiver.action)));
        match (passed, &meeting.writes) {
            (Err(Faulty), _) => paths.n_faults += 1,
            (Ok(mut next), Some(writes)) => {
                writes.iter().for_each(|write| write.apply(&mut next));
                paths.successor(&next)?;
            }
            (Ok(next), None) => self.run(code_of(receiver), Some(code_of(sender)), next, paths)?,
        }
        paths.partner = None;
        Flow::Continue(())
    }

    /// The state in which the values have been passed; `None` where the rendezvous is not possible.
    fn pass<const W: usize>(
        &self,
        sender: &CompiledStep,
        receiver: &CompiledStep,
        state: &Packed<W>,
        scratch: &Scratch<W>,
    ) -> Option<Result<Packed<W>, Faulty>> {
        let (Some(SyncStep::Send(channel, _)), Some(SyncStep::Receive(other, _))) =
            (sender.sync.as_deref(), receiver.sync.as_deref())
        else {
            return None;
        };
        if channel != other || self.is_enabled(receiver, state, scratch) != Ok(true) {
            return None;
        }
        self.passed(sender, receiver, state, scratch)
    }

    /// The same for two steps of one channel that are enabled.
    fn passed<const W: usize>(
        &self,
        sender: &CompiledStep,
        receiver: &CompiledStep,
        state: &Packed<W>,
        scratch: &Scratch<W>,
    ) -> Option<Result<Packed<W>, Faulty>> {
        let (Some(SyncStep::Send(_, values)), Some(SyncStep::Receive(_, targets))) =
            (sender.sync.as_deref(), receiver.sync.as_deref())
        else {
            return None;
        };
        let view = TermInput { state, registers: &scratch.registers };
        match self.matches(values, targets, view) {
            Ok(true) => Some(self.stored(values, targets, state, scratch)),
            Ok(false) => None,
            Err(Faulty) => Some(Err(Faulty)),
        }
    }

    /// Whether the values are those that the receiver waits for. All are evaluated first, then what receives them, up to the first
    /// that differs.
    fn matches(&self, values: &[TermId], targets: &[ReceiveTarget], view: TermInput<'_>) -> Result<bool, Faulty> {
        if !targets.iter().any(|target| matches!(target, ReceiveTarget::Equal(_))) {
            // What is a fault is found when the values are stored.
            return Ok(true);
        }
        let terms = &self.code.terms;
        for &value in values {
            terms.number(value, view)?;
        }
        for (&value, &target) in values.iter().zip(targets) {
            match target {
                ReceiveTarget::Equal(wanted) if terms.number(wanted, view)? != terms.number(value, view)? => {
                    return Ok(false);
                }
                ReceiveTarget::Computed(locator, _) => drop(terms.locate(locator, view)?),
                ReceiveTarget::Fault => return Err(Faulty),
                ReceiveTarget::Equal(_) | ReceiveTarget::Field(..) | ReceiveTarget::Ignored => {}
            }
        }
        Ok(true)
    }

    /// The state in which the values are where they go.
    fn stored<const W: usize>(
        &self,
        values: &[TermId],
        targets: &[ReceiveTarget],
        state: &Packed<W>,
        scratch: &Scratch<W>,
    ) -> Result<Packed<W>, Faulty> {
        let view = TermInput { state, registers: &scratch.registers };
        let terms = &self.code.terms;
        let mut next = *state;
        for (&value, &target) in values.iter().zip(targets) {
            let number = terms.number(value, view)?;
            let (field, numbers) = match target {
                ReceiveTarget::Field(field, numbers) => (field, numbers),
                ReceiveTarget::Computed(locator, numbers) => (terms.field(terms.locate(locator, view)?), numbers),
                ReceiveTarget::Fault => return Err(Faulty),
                ReceiveTarget::Equal(_) | ReceiveTarget::Ignored => continue,
            };
            check(numbers, number)?;
            field.put(&mut next, number);
        }
        Ok(next)
    }
}

fn code_of(step: &CompiledStep) -> Address {
    match step.effect {
        CompiledEffect::Code(address) => address,
        CompiledEffect::Writes(..) => unreachable!("the sides of a rendezvous are code"),
    }
}
