//! Moves: the steps of control points in the form in which the machine tries them.
//!
//! In: all steps. Out: for each control point its moves. A step that one process takes alone is one move. A rendezvous is a move of the sender for each
//! step of another process that receives from the channel, with one test for the control locations of both and what both await, so that the machine does not search receivers that are
//! elsewhere; where nothing but constants is passed and both sides only change words, it is a test of words and a change of words. To receive is no
//! move of the receiver's own, unless its guard may be a fault. Where a step has very many receivers they are searched when it is taken. What is only for where no process is enabled otherwise comes behind the others.

use model::control::ChannelId;
use model::process::ProcessId;

use crate::code::{
    CompiledEffect, CompiledStep, Instruction, Meeting, Move, PointSteps, ReceiveTarget, SyncStep, WordWrite,
};
use crate::machine::Marked;
use crate::packing::Field;
use crate::term::{TermPool, WordTest};

/// A sender with more receivers' steps than this searches them when it steps.
const MOST_MEETINGS: usize = 24;

/// A step of a process at a control point that receives.
pub(super) struct ReceivingStep {
    process: ProcessId,
    point: u32,
    /// The step, in `Code::steps`.
    step: u32,
}

/// By channel: the steps that receive from it.
pub(super) fn receiving_steps(
    n_channels: usize,
    steps: &[CompiledStep],
    points: &[Vec<PointSteps>],
) -> Vec<Vec<ReceivingStep>> {
    let mut receiving: Vec<Vec<ReceivingStep>> = (0..n_channels).map(|_| Vec::new()).collect();
    for (process, points) in points.iter().enumerate() {
        for (number, point) in points.iter().enumerate().filter(|(_, point)| point.has_sync) {
            for step in point.first..point.end {
                if let Some(SyncStep::Receive(channel, _)) = steps[step as usize].sync.as_deref() {
                    let (process, point) = (ProcessId::new(process), number as u32);
                    receiving[channel.index()].push(ReceivingStep { process, point, step });
                }
            }
        }
    }
    receiving
}

/// What moves are made of.
pub(super) struct MoveMaker<'c> {
    /// By process: the field of its control point in a state.
    pub control: &'c [Field],
    /// The expressions.
    pub terms: &'c TermPool,
    /// The code.
    pub instructions: &'c [Instruction],
    /// The steps.
    pub steps: &'c [CompiledStep],
    /// By channel: the steps that receive from it.
    pub receiving: &'c [Vec<ReceivingStep>],
    /// Whether some of their steps are only for where no process is enabled otherwise.
    pub receivers_have_marks: bool,
}

impl MoveMaker<'_> {
    /// The moves of all points, whose ranges are noted there.
    pub fn all(&self, points: &mut [Vec<PointSteps>]) -> Vec<Move> {
        let mut moves = Vec::new();
        for (process, points) in points.iter_mut().enumerate() {
            for point in points {
                let mut found = Vec::new();
                for step in point.first..point.end {
                    self.add(ProcessId::new(process), step, &mut found);
                }
                let first = moves.len() as u32;
                moves.extend(found.iter().filter(|next| self.may_be(next, Marked::No)).cloned());
                let end = moves.len() as u32;
                moves.extend(found.into_iter().filter(|next| self.may_be(next, Marked::Yes)));
                (point.first_move, point.end_move, point.end_marked) = (first, end, moves.len() as u32);
            }
        }
        moves
    }

    /// Whether a move is tried where no process is enabled otherwise, or where one may be; one whose receivers are searched may be both.
    fn may_be(&self, next: &Move, marked: Marked) -> bool {
        let step = &self.steps[next.step as usize];
        let when_nobody = match &next.meeting {
            Some(meeting) => step.when_nobody || self.steps[meeting.receiver as usize].when_nobody,
            None => step.when_nobody,
        };
        let searches = next.meeting.is_none() && matches!(step.sync.as_deref(), Some(SyncStep::Send(..)));
        marked.admits(when_nobody) || searches && !when_nobody && self.receivers_have_marks
    }

    fn add(&self, process: ProcessId, number: u32, moves: &mut Vec<Move>) {
        let step = &self.steps[number as usize];
        let may_fault = step.condition.is_some_and(|condition| self.terms.may_fault(condition));
        let alone = Move { test: step.test, step: number, meeting: None };
        match step.sync.as_deref() {
            Some(SyncStep::Receive(..)) if !may_fault => {}
            Some(SyncStep::Send(channel, _)) if !may_fault => match self.meetings(process, number, *channel) {
                Some(meetings) => moves.extend(meetings),
                None => moves.push(alone),
            },
            _ => moves.push(alone),
        }
    }

    /// The moves of a sender, one for each step that receives from it; `None` where there are too many.
    fn meetings(&self, sender: ProcessId, number: u32, channel: ChannelId) -> Option<Vec<Move>> {
        let receiving = || self.receiving[channel.index()].iter().filter(|one| one.process != sender);
        if receiving().nth(MOST_MEETINGS).is_some() {
            return None;
        }
        Some(receiving().filter_map(|one| self.meeting(number, one)).collect())
    }

    /// The move of a sender with a step of a partner at a point; `None` where what both await excludes each other.
    fn meeting(&self, number: u32, one: &ReceivingStep) -> Option<Move> {
        let &ReceivingStep { process: partner, point, step: receiver } = one;
        let (field, at) = (self.control[partner.index()], u64::from(point));
        let there = WordTest { word: field.word, mask: field.in_place(field.mask), value: field.in_place(at) };
        let sides = [number, receiver].map(|step| &self.steps[step as usize]);
        let awaited = sides.iter().flat_map(|step| std::iter::once(step.test).chain(step.more_tests.iter().copied()));
        let mut tests = joined(std::iter::once(there).chain(awaited))?;
        let test = tests.remove(0);
        let constants = self.passed(sides);
        let known = constants.and_then(|passed| self.writes(passed, sides));
        // What is not known as a whole is passed, and then the code runs, if that is not known either.
        let (passes, writes) = match known {
            Some(writes) => (false, Some(writes)),
            None => (true, self.writes(Vec::new(), sides)),
        };
        let more_tests = tests.into();
        let meeting = Meeting { partner, receiver, more_tests, passes, writes };
        Some(Move { test, step: number, meeting: Some(Box::new(meeting)) })
    }

    /// The changes of words by which the values are passed, where they are constants that fit.
    fn passed(&self, [sender, receiver]: [&CompiledStep; 2]) -> Option<Vec<WordWrite>> {
        let (Some(SyncStep::Send(_, values)), Some(SyncStep::Receive(_, targets))) =
            (sender.sync.as_deref(), receiver.sync.as_deref())
        else {
            return None;
        };
        let pairs = values.iter().zip(targets);
        let write = |(&value, target): (_, &ReceiveTarget)| {
            let number = self.terms.as_constant(value)?;
            match target {
                ReceiveTarget::Field(field, numbers) if numbers.contains(number) => {
                    Some(vec![WordWrite::new(*field, number)])
                }
                ReceiveTarget::Ignored => Some(Vec::new()),
                _ => None,
            }
        };
        Some(pairs.map(write).collect::<Option<Vec<_>>>()?.concat())
    }

    /// All changes of words, where both sides do nothing else.
    fn writes(&self, mut writes: Vec<WordWrite>, [sender, receiver]: [&CompiledStep; 2]) -> Option<Box<[WordWrite]>> {
        for side in [receiver, sender] {
            let CompiledEffect::Code(address) = side.effect else { return None };
            for instruction in &self.instructions[address as usize..] {
                match instruction {
                    Instruction::Write(write) => writes.push(*write),
                    Instruction::Done => break,
                    _ => return None,
                }
            }
        }
        let mut by_word: Vec<WordWrite> = Vec::new();
        for write in writes {
            match by_word.iter_mut().find(|before| before.word == write.word) {
                Some(before) => *before = before.then(write),
                None => by_word.push(write),
            }
        }
        Some(by_word.into())
    }
}

/// One test for each word, that of the first one's word first; `None` where they exclude each other.
fn joined(tests: impl Iterator<Item = WordTest>) -> Option<Vec<WordTest>> {
    let mut by_word: Vec<WordTest> = Vec::new();
    for test in tests.filter(|test| test.mask != 0) {
        match by_word.iter_mut().find(|known| known.word == test.word) {
            Some(known) if (known.value ^ test.value) & known.mask & test.mask != 0 => return None,
            Some(known) => {
                known.mask |= test.mask;
                known.value |= test.value;
            }
            None => by_word.push(test),
        }
    }
    if by_word.is_empty() {
        by_word.push(WordTest::TRUE);
    }
    Some(by_word)
}
