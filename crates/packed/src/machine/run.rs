//! Running the code of a step to the end of every path.
//!
//! In: an address and a state. Out: to the paths of the process, every state in which the code can end. Where the code
//! chooses, each choice is followed by recursion on a copy of the state's words.

use std::cell::Cell;

use model::process::ProcessId;

use super::paths::Paths;
use super::{Flow, Machine};
use crate::code::{Address, CompiledChoice, Instruction, RESULT, StoreTarget};
use crate::packing::{NumberRange, Packed};
use crate::term::{Faulty, TermInput};

/// In the middle of a step the sink is asked after so many choices.
const PAUSE_EVERY: usize = 1024;

impl Machine<'_> {
    /// Runs code to the end of every path; `then` is code to go on with.
    pub(super) fn run<const W: usize>(
        &self,
        mut address: Address,
        mut then: Option<Address>,
        mut state: Packed<W>,
        paths: &mut Paths<'_, W>,
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
                    return self.choose(choice, (address, then), &state, paths);
                }
                Instruction::Fork(fork) => {
                    let fork = &self.code.forks[*fork as usize];
                    let kept = SavedRegisters::new(&paths.scratch.registers, fork.n_live);
                    for &target in &fork.targets {
                        kept.restore(&paths.scratch.registers);
                        self.run(target, then, state, paths)?;
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
                plain => self.execute(plain, &mut address, &mut state, &paths.scratch.registers),
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
    #[inline(always)]
    fn execute(
        &self,
        instruction: &Instruction,
        address: &mut Address,
        state: &mut [u64],
        registers: &[Cell<i64>],
    ) -> Result<bool, Faulty> {
        let terms = &self.code.terms;
        let view = TermInput { state, registers };
        match instruction {
            Instruction::Require(test) => return terms.test(*test, view),
            Instruction::Check(test) => return if terms.test(*test, view)? { Ok(true) } else { Err(Faulty) },
            Instruction::CheckRange(register, numbers) => check(*numbers, registers[*register as usize].get())?,
            Instruction::Fail => return Err(Faulty),
            Instruction::Write(write) => write.apply(state),
            Instruction::Copy(copy) => copy.apply(state),
            Instruction::Add(change) => return if change.apply(state) { Ok(true) } else { Err(Faulty) },
            Instruction::Put(target, value) => {
                let number = terms.part(*value, view)?;
                self.put(*target, number, state, registers);
            }
            Instruction::Store(target, value, numbers) => {
                let number = terms.part(*value, view)?;
                check(self.code.numbers[*numbers as usize], number)?;
                self.put(*target, number, state, registers);
            }
            Instruction::Let(register, value) => registers[*register as usize].set(terms.part(*value, view)?),
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

    fn put(&self, target: StoreTarget, number: i64, state: &mut [u64], registers: &[Cell<i64>]) {
        let field = match target {
            StoreTarget::Field(field) => field,
            StoreTarget::Located(register) => self.code.terms.field(registers[register as usize].get() as u32),
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
    fn choose<const W: usize>(
        &self,
        choice: &CompiledChoice,
        (address, then): (Address, Option<Address>),
        state: &Packed<W>,
        paths: &mut Paths<'_, W>,
    ) -> Flow {
        let registers = &paths.scratch.registers;
        let kept = SavedRegisters::new(registers, choice.n_live);
        let Ok((numbers, reaches_beyond)) = self.numbers_of(choice, state, registers) else {
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
            kept.restore(registers);
            let mut next = *state;
            self.put(choice.target, number, &mut next, registers);
            self.run(address, then, next, paths)?;
        }
        Flow::Continue(())
    }

    /// The numbers to choose from, and whether bounds were given that reach beyond those that fit.
    fn numbers_of(
        &self,
        choice: &CompiledChoice,
        state: &[u64],
        registers: &[Cell<i64>],
    ) -> Result<(NumberRange, bool), Faulty> {
        let Some((lo, hi)) = choice.bounds else { return Ok((choice.numbers, false)) };
        let view = TermInput { state, registers };
        let (lo, hi) = (self.code.terms.number(lo, view)?, self.code.terms.number(hi, view)?);
        if lo > hi {
            return Ok((NumberRange::between(1, 0), false));
        }
        let (lo, hi) = (lo.saturating_add(choice.offset), hi.saturating_add(choice.offset));
        // `none` is in no range of indices; where there is no gap, `after_gap` is the least number.
        let least = choice.numbers.after_gap;
        let reaches_beyond = lo < least || hi > choice.numbers.hi;
        Ok((NumberRange::between(lo.max(least), hi.min(choice.numbers.hi)), reaches_beyond))
    }
}

/// A fault where the number is none of these.
pub(super) fn check(numbers: NumberRange, number: i64) -> Result<(), Faulty> {
    if numbers.contains(number) { Ok(()) } else { Err(Faulty) }
}

/// Registers to be restored before each choice: those of loops around it. There rarely are any.
struct SavedRegisters(Vec<i64>);

impl SavedRegisters {
    fn new(registers: &[Cell<i64>], n_live: u32) -> Self {
        if n_live <= RESULT + 1 {
            return SavedRegisters(Vec::new());
        }
        SavedRegisters(registers[..n_live as usize].iter().map(Cell::get).collect())
    }

    fn restore(&self, registers: &[Cell<i64>]) {
        for (register, &number) in registers.iter().zip(&self.0) {
            register.set(number);
        }
    }
}
