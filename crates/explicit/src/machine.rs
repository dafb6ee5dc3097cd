//! The machine: runs compiled steps on packed states.
//!
//! In: a packed state. Out: to a [`Sink`], each transition that leaves it once, and each step that is a fault. Where a step
//! chooses, every choice is followed to its end by recursion on copies of the few words of the state; nothing is allocated.
//! Steps whose paths may coincide are told apart before the sink sees them.

use std::cell::Cell;
use std::collections::HashSet;
use std::ops::ControlFlow;

use model::control::StatementId;
use model::eval;
use model::process::ProcessId;
use rustc_hash::FxBuildHasher;

use crate::code::{
    Address, Choice, Code, Effect, Instruction, PointSteps, RESULT, ReceiveTarget, Step, SyncStep, Target,
};
use crate::codec::Codec;
use crate::packing::{Numbers, Packed};
use crate::term::{Faulty, TermId, View};

/// Whether to go on.
pub type Flow = ControlFlow<()>;

/// Takes what leaves a state.
pub trait Sink<const W: usize> {
    /// A transition: who moves, and where to.
    fn successor(&mut self, process: ProcessId, next: &Packed<W>) -> Flow;

    /// So many steps of the process are faults, all different.
    fn faults(&mut self, _process: ProcessId, _n_faults: u64) -> Flow {
        Flow::Continue(())
    }

    /// Called now and then in the course of a step with very many paths, with how many bytes are held for it.
    fn pause(&mut self, _bytes: u64) -> Flow {
        Flow::Continue(())
    }

    /// A call stack has no number any more; the search cannot go on.
    fn out_of_stacks(&mut self) {}
}

/// A compiled program with what it needs to run.
pub struct Machine<'m> {
    /// Between packed states and those of `eval`.
    pub codec: &'m Codec<'m>,
    /// The code.
    pub code: Code,
}

/// What a machine needs while it runs, one for each thread.
pub struct Scratch<const W: usize> {
    registers: Vec<Cell<i64>>,
    /// An empty set, kept for its memory.
    known: Cell<KnownSet<W>>,
}

/// A transition of steps that may repeat it: the statements, and the successor.
type Known<const W: usize> = (StatementId, Option<(ProcessId, StatementId)>, Packed<W>);

type KnownSet<const W: usize> = HashSet<Known<W>, FxBuildHasher>;

/// A set that has grown larger is not kept: to clear it takes as long as it is large.
const MAX_KEPT: usize = 256;

/// In the middle of a step the sink is asked after so many paths.
const PAUSE_EVERY: usize = 1024;

/// The paths of one process from one state.
struct Paths<'a, const W: usize, S> {
    sink: &'a mut S,
    process: ProcessId,
    n_faults: u64,
    n_successors: u64,
    /// What was found so far, if paths may coincide.
    known: Option<KnownSet<W>>,
    /// The statements of the step at hand.
    statement: StatementId,
    partner: Option<(ProcessId, StatementId)>,
}

impl<const W: usize, S: Sink<W>> Paths<'_, W, S> {
    fn successor(&mut self, next: &Packed<W>) -> Flow {
        if let Some(known) = &mut self.known
            && !known.insert((self.statement, self.partner, *next))
        {
            return Flow::Continue(());
        }
        self.n_successors += 1;
        self.sink.successor(self.process, next)
    }

    fn pause(&mut self) -> Flow {
        let n_held = self.known.as_ref().map_or(0, HashSet::capacity);
        self.sink.pause((n_held * size_of::<Known<W>>()) as u64)
    }
}

impl Machine<'_> {
    /// What a thread needs to run the machine.
    pub fn scratch<const W: usize>(&self) -> Scratch<W> {
        Scratch { registers: vec![Cell::new(0); self.code.n_registers as usize], known: Cell::default() }
    }

    /// What the call stacks take in memory.
    pub fn stack_bytes(&self) -> u64 {
        if self.code.continuations.is_empty() {
            return 0;
        }
        self.codec.stacks.iter().map(|stacks| stacks.bytes()).sum()
    }

    /// Whether a term holds in a state.
    pub fn test<const W: usize>(&self, term: TermId, state: &Packed<W>, scratch: &Scratch<W>) -> Result<bool, Faulty> {
        self.code.terms.test(term, View { state, registers: &scratch.registers })
    }

    /// Shows the sink all that leaves the state; whether there is anything.
    pub fn expand<const W: usize, S: Sink<W>>(
        &self,
        state: &Packed<W>,
        scratch: &Scratch<W>,
        sink: &mut S,
    ) -> ControlFlow<(), bool> {
        let mut can_move = false;
        for process in 0..self.code.points.len() {
            can_move |= self.expand_process(ProcessId::new(process), state, scratch, sink)?;
        }
        ControlFlow::Continue(can_move)
    }

    /// Shows the sink the steps of one process; whether there are any.
    pub fn expand_process<const W: usize, S: Sink<W>>(
        &self,
        process: ProcessId,
        state: &Packed<W>,
        scratch: &Scratch<W>,
        sink: &mut S,
    ) -> ControlFlow<(), bool> {
        let point = self.point(process, state);
        let Some(first) = self.code.steps[point.first as usize..point.end as usize].first() else {
            return ControlFlow::Continue(false);
        };
        let mut paths = Paths {
            sink,
            process,
            n_faults: 0,
            n_successors: 0,
            known: point.may_repeat.then(|| scratch.known.take()),
            statement: first.statement,
            partner: None,
        };
        for step in &self.code.steps[point.first as usize..point.end as usize] {
            self.take(step, state, scratch, &mut paths)?;
        }
        let Paths { n_faults, n_successors, known, .. } = paths;
        if let Some(mut known) = known
            && known.capacity() <= MAX_KEPT
        {
            known.clear();
            scratch.known.set(known);
        }
        let can_move = n_faults + n_successors > 0;
        if n_faults > 0 {
            let n_faults = self.distinct_faults(n_faults, process, state);
            sink.faults(process, n_faults)?;
        }
        ControlFlow::Continue(can_move)
    }

    /// Whether a state in which nobody can move is a deadlock: somebody waits.
    pub fn somebody_waits<const W: usize>(&self, state: &Packed<W>) -> bool {
        (0..self.code.points.len()).any(|process| self.point(ProcessId::new(process), state).waits)
    }

    /// The control point of a process.
    pub fn point<const W: usize>(&self, process: ProcessId, state: &Packed<W>) -> PointSteps {
        let number = self.codec.layout.control[process.index()].raw(state);
        self.code.points[process.index()][number as usize]
    }

    /// The positions of the steps of a process whose guards are true, or a fault.
    pub fn steps_that_may_be_enabled<const W: usize>(
        &self,
        process: ProcessId,
        state: &Packed<W>,
        scratch: &Scratch<W>,
    ) -> impl Iterator<Item = usize> {
        let point = self.point(process, state);
        let may_be_enabled = |&step: &usize| self.is_enabled(&self.code.steps[step], state, scratch) != Ok(false);
        (point.first as usize..point.end as usize).filter(may_be_enabled)
    }

    /// How many of the faults differ. Faults are rare, and only `eval` knows what they are.
    fn distinct_faults<const W: usize>(&self, n_faults: u64, process: ProcessId, state: &Packed<W>) -> u64 {
        if n_faults == 1 {
            return 1;
        }
        let steps = eval::steps_of(self.codec.model, &self.codec.unpack(state), process);
        steps.iter().filter(|step| step.result.is_err()).count() as u64
    }

    #[inline]
    fn take<const W: usize, S: Sink<W>>(
        &self,
        step: &Step,
        state: &Packed<W>,
        scratch: &Scratch<W>,
        paths: &mut Paths<'_, W, S>,
    ) -> Flow {
        match self.is_enabled(step, state, scratch) {
            Ok(false) => return Flow::Continue(()),
            Ok(true) => {}
            Err(Faulty) => {
                paths.n_faults += 1;
                return Flow::Continue(());
            }
        }
        paths.statement = step.statement;
        if let Some(sync) = &step.sync {
            return match &**sync {
                SyncStep::Send(..) => self.meet(step, state, scratch, paths),
                // A receiver moves when a sender does; only a fault in its guard is its own.
                SyncStep::Receive(..) => Flow::Continue(()),
            };
        }
        match &step.effect {
            Effect::Writes(first, more) => {
                let mut next = *state;
                first.apply(&mut next);
                for write in more {
                    write.apply(&mut next);
                }
                paths.successor(&next)
            }
            Effect::Code(address) => self.run(*address, None, *state, scratch, paths),
        }
    }

    #[inline]
    fn is_enabled<const W: usize>(&self, step: &Step, state: &Packed<W>, scratch: &Scratch<W>) -> Result<bool, Faulty> {
        if !step.test.holds(state) || !step.more_tests.iter().all(|test| test.holds(state)) {
            return Ok(false);
        }
        step.condition.map_or(Ok(true), |condition| self.test(condition, state, scratch))
    }

    /// Runs code to the end of every path; `then` is code to go on with.
    fn run<const W: usize, S: Sink<W>>(
        &self,
        mut address: Address,
        mut then: Option<Address>,
        mut state: Packed<W>,
        scratch: &Scratch<W>,
        paths: &mut Paths<'_, W, S>,
    ) -> Flow {
        loop {
            let instruction = &self.code.instructions[address as usize];
            address += 1;
            let outcome = match instruction {
                Instruction::Done => match then.take() {
                    Some(rest) => {
                        address = rest;
                        Ok(true)
                    }
                    None => return paths.successor(&state),
                },
                Instruction::Any(choice) => {
                    let choice = &self.code.choices[*choice as usize];
                    return self.choose(choice, (address, then), &state, scratch, paths);
                }
                Instruction::Fork(fork) => {
                    let fork = &self.code.forks[*fork as usize];
                    let kept = Kept::new(scratch, fork.n_live);
                    for &target in &fork.targets {
                        kept.restore(scratch);
                        self.run(target, then, state, scratch, paths)?;
                    }
                    return Flow::Continue(());
                }
                Instruction::Push(process, site) => {
                    let process = ProcessId::new(*process as usize);
                    let Some(()) = self.push(process, *site, &mut state) else {
                        paths.sink.out_of_stacks();
                        return Flow::Break(());
                    };
                    Ok(true)
                }
                Instruction::Pop(process) => {
                    let site = self.codec.pop(ProcessId::new(*process as usize), &mut state);
                    address = self.code.continuations[site as usize];
                    Ok(true)
                }
                plain => self.execute(plain, &mut address, &mut state, &scratch.registers),
            };
            match outcome {
                Ok(true) => {}
                Ok(false) => return Flow::Continue(()),
                Err(Faulty) => {
                    paths.n_faults += 1;
                    return Flow::Continue(());
                }
            }
        }
    }

    /// Executes an instruction that neither forks nor ends the path; whether the path goes on.
    #[inline]
    fn execute(
        &self,
        instruction: &Instruction,
        address: &mut Address,
        state: &mut [u64],
        registers: &[Cell<i64>],
    ) -> Result<bool, Faulty> {
        let terms = &self.code.terms;
        let view = View { state, registers };
        match instruction {
            Instruction::Require(test) => return terms.test(*test, view),
            Instruction::Check(test) => return if terms.test(*test, view)? { Ok(true) } else { Err(Faulty) },
            Instruction::CheckRange(register, numbers) => check(*numbers, registers[*register as usize].get())?,
            Instruction::Fail => return Err(Faulty),
            Instruction::Write(write) => write.apply(state),
            Instruction::Put(target, value) => {
                let number = terms.number(*value, view)?;
                self.put(*target, number, state, registers);
            }
            Instruction::Store(target, value, numbers) => {
                let number = terms.number(*value, view)?;
                check(self.code.numbers[*numbers as usize], number)?;
                self.put(*target, number, state, registers);
            }
            Instruction::Let(register, value) => registers[*register as usize].set(terms.number(*value, view)?),
            Instruction::Locate(register, locator) => {
                registers[*register as usize].set(i64::from(terms.locate(*locator, view)?));
            }
            Instruction::Unless(test, otherwise) => {
                if !terms.test(*test, view)? {
                    *address = *otherwise;
                }
            }
            Instruction::Jump(target) => *address = *target,
            Instruction::Enter(register, first, last, exit) => {
                let (first, last) = (terms.number(*first, view)?, terms.number(*last, view)?);
                registers[*register as usize].set(first);
                registers[*register as usize + 1].set(last);
                if first > last {
                    *address = *exit;
                }
            }
            Instruction::Again(register, body) => {
                let counter = &registers[*register as usize];
                if counter.get() < registers[*register as usize + 1].get() {
                    counter.set(counter.get() + 1);
                    *address = *body;
                }
            }
            Instruction::Any(_)
            | Instruction::Fork(_)
            | Instruction::Push(..)
            | Instruction::Pop(_)
            | Instruction::Done => unreachable!("`run` does these itself"),
        }
        Ok(true)
    }

    fn put(&self, target: Target, number: i64, state: &mut [u64], registers: &[Cell<i64>]) {
        let field = match target {
            Target::Field(field) => field,
            Target::Located(register) => self.code.terms.field(registers[register as usize].get() as u32),
        };
        field.put(state, number);
    }

    fn push(&self, process: ProcessId, site: u32, state: &mut [u64]) -> Option<()> {
        let frames = self.codec.layout.frames[process.index()].as_ref().expect("the process calls procedures");
        let below = frames.stack.raw(state) as u32;
        let stack = self.codec.push(process, site, below, state)?;
        frames.stack.put(state, i64::from(stack));
        Some(())
    }

    /// Goes on with each number of a choice.
    fn choose<const W: usize, S: Sink<W>>(
        &self,
        choice: &Choice,
        (address, then): (Address, Option<Address>),
        state: &Packed<W>,
        scratch: &Scratch<W>,
        paths: &mut Paths<'_, W, S>,
    ) -> Flow {
        let kept = Kept::new(scratch, choice.n_live);
        let Ok((numbers, reaches_beyond)) = self.numbers_of(choice, state, scratch) else {
            paths.n_faults += 1;
            return Flow::Continue(());
        };
        if reaches_beyond {
            paths.n_faults += 1;
        }
        for (n_before, number) in numbers.iter().enumerate() {
            if n_before % PAUSE_EVERY == PAUSE_EVERY - 1 {
                paths.pause()?;
            }
            kept.restore(scratch);
            let mut next = *state;
            self.put(choice.target, number, &mut next, &scratch.registers);
            self.run(address, then, next, scratch, paths)?;
        }
        Flow::Continue(())
    }

    /// The numbers to choose from, and whether bounds were given that reach beyond those that fit.
    fn numbers_of<const W: usize>(
        &self,
        choice: &Choice,
        state: &Packed<W>,
        scratch: &Scratch<W>,
    ) -> Result<(Numbers, bool), Faulty> {
        let Some((lo, hi)) = choice.bounds else { return Ok((choice.numbers, false)) };
        let view = View { state, registers: &scratch.registers };
        let (lo, hi) = (self.code.terms.number(lo, view)?, self.code.terms.number(hi, view)?);
        if lo > hi {
            return Ok((Numbers::between(1, 0), false));
        }
        let (lo, hi) = (lo.saturating_add(choice.offset), hi.saturating_add(choice.offset));
        // `none` is in no range of indices; where there is no gap, `after_gap` is the least number.
        let least = choice.numbers.after_gap;
        let reaches_beyond = lo < least || hi > choice.numbers.hi;
        Ok((Numbers::between(lo.max(least), hi.min(choice.numbers.hi)), reaches_beyond))
    }

    /// A sender's step with each receiver that can take part.
    fn meet<const W: usize, S: Sink<W>>(
        &self,
        sender: &Step,
        state: &Packed<W>,
        scratch: &Scratch<W>,
        paths: &mut Paths<'_, W, S>,
    ) -> Flow {
        let me = paths.process;
        for partner in (0..self.code.points.len()).map(ProcessId::new).filter(|&partner| partner != me) {
            let point = self.point(partner, state);
            if !point.has_sync {
                continue;
            }
            for receiver in &self.code.steps[point.first as usize..point.end as usize] {
                let Some(mut next) = self.pass(sender, receiver, state, scratch) else { continue };
                paths.partner = Some((partner, receiver.statement));
                match &mut next {
                    Err(Faulty) => paths.n_faults += 1,
                    Ok(next) => self.run(code_of(receiver), Some(code_of(sender)), *next, scratch, paths)?,
                }
                paths.partner = None;
            }
        }
        Flow::Continue(())
    }

    /// The state in which the values have been passed; `None` where the two do not meet.
    fn pass<const W: usize>(
        &self,
        sender: &Step,
        receiver: &Step,
        state: &Packed<W>,
        scratch: &Scratch<W>,
    ) -> Option<Result<Packed<W>, Faulty>> {
        let (Some(SyncStep::Send(channel, values)), Some(SyncStep::Receive(other, targets))) =
            (sender.sync.as_deref(), receiver.sync.as_deref())
        else {
            return None;
        };
        if channel != other || self.is_enabled(receiver, state, scratch) != Ok(true) {
            return None;
        }
        let view = View { state, registers: &scratch.registers };
        let terms = &self.code.terms;
        let store = || {
            let mut next = *state;
            for (&value, &(target, numbers)) in values.iter().zip(targets) {
                let number = terms.number(value, view)?;
                let field = match target {
                    ReceiveTarget::Field(field) => field,
                    ReceiveTarget::Computed(locator) => terms.field(terms.locate(locator, view)?),
                    ReceiveTarget::Fault => return Err(Faulty),
                };
                check(numbers, number)?;
                field.put(&mut next, number);
            }
            Ok(next)
        };
        Some(store())
    }
}

fn code_of(step: &Step) -> Address {
    match step.effect {
        Effect::Code(address) => address,
        Effect::Writes(..) => unreachable!("the sides of a rendezvous are code"),
    }
}

fn check(numbers: Numbers, number: i64) -> Result<(), Faulty> {
    if numbers.contains(number) { Ok(()) } else { Err(Faulty) }
}

/// Registers to be restored before each choice: those of loops around it. There rarely are any.
struct Kept(Vec<i64>);

impl Kept {
    fn new<const W: usize>(scratch: &Scratch<W>, n_live: u32) -> Self {
        if n_live <= RESULT + 1 {
            return Kept(Vec::new());
        }
        Kept(scratch.registers[..n_live as usize].iter().map(Cell::get).collect())
    }

    fn restore<const W: usize>(&self, scratch: &Scratch<W>) {
        for (register, &number) in scratch.registers.iter().zip(&self.0) {
            register.set(number);
        }
    }
}
