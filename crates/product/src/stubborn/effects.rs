//! What a compiled step may do, read from its code: where control may go, and which bits it may set or clear.
//!
//! In: the code of a program. Out: for each step the control points that its process may be at afterwards, and two masks: the bits that
//! may be 1 after the step where they were 0, and the other way round. All are supersets; constants in the code make them small,
//! which is what says that only the holder of a lock can free it.

use rustc_hash::FxHashSet;

use packed::code::{Address, CompiledEffect, Instruction, ReceiveTarget, StoreTarget, SyncStep, WordWrite};
use packed::machine::Machine;
use packed::packing::{Field, Packed};
use packed::words::{add, and, or};

/// What a step may do.
#[derive(Clone, Debug)]
pub struct StepEffect<const W: usize> {
    /// The control points of its process afterwards, ascending.
    pub next_points: Vec<u32>,
    /// The bits that it may set.
    pub sets: Packed<W>,
    /// The bits that it may clear.
    pub clears: Packed<W>,
}

/// Reads the effects of steps.
pub struct EffectReader<'e, 'm, const W: usize> {
    /// The program.
    pub machine: &'e Machine<'m>,
    /// By step: the bits that it may write, as its text says.
    pub writes: &'e [Packed<W>],
}

/// Code as far as it was looked through.
struct CodeScan<const W: usize> {
    control: Field,
    next_points: Vec<u32>,
    sets: Packed<W>,
    clears: Packed<W>,
    /// Whether a computed location is written.
    writes_anything: bool,
}

impl<const W: usize> EffectReader<'_, '_, W> {
    /// The effect of a step that a process takes at a control point.
    pub fn effect(&self, step: usize, (process, point): (usize, u32)) -> StepEffect<W> {
        let compiled = &self.machine.code.steps[step];
        let control = self.machine.codec.layout.control[process];
        let mut scan =
            CodeScan { control, next_points: Vec::new(), sets: [0; W], clears: [0; W], writes_anything: false };
        match &compiled.effect {
            CompiledEffect::Writes(first, more) => {
                std::iter::once(first).chain(more).for_each(|write| scan.write(*write));
                if scan.next_points.is_empty() {
                    scan.next_points.push(point);
                }
            }
            CompiledEffect::Code(address) => {
                // A path that says nothing of control stays.
                scan.next_points.push(point);
                self.code(*address, &mut scan);
            }
        }
        if let Some(SyncStep::Receive(_, targets)) = compiled.sync.as_deref() {
            for target in targets {
                match target {
                    ReceiveTarget::Field(field, _) => scan.any_number(*field),
                    ReceiveTarget::Computed(..) => scan.writes_anything = true,
                    ReceiveTarget::Fault | ReceiveTarget::Equal(_) | ReceiveTarget::Ignored => {}
                }
            }
        }
        let CodeScan { mut next_points, sets, clears, writes_anything, .. } = scan;
        next_points.sort_unstable();
        next_points.dedup();
        let written = &self.writes[step];
        let anything = if writes_anything { *written } else { [0; W] };
        StepEffect {
            next_points,
            sets: and(&or(&sets, &anything), written),
            clears: and(&or(&clears, &anything), written),
        }
    }

    /// Looks through all code that may run from an address on.
    fn code(&self, start: Address, scan: &mut CodeScan<W>) {
        let code = &self.machine.code;
        let mut seen: FxHashSet<Address> = FxHashSet::default();
        let mut open = vec![start];
        while let Some(address) = open.pop() {
            if !seen.insert(address) {
                continue;
            }
            let next = address + 1;
            match &code.instructions[address as usize] {
                Instruction::Done | Instruction::Fail => continue,
                Instruction::Jump(target) => {
                    open.push(*target);
                    continue;
                }
                Instruction::Unless(_, target)
                | Instruction::Enter(_, _, _, target)
                | Instruction::Again(_, target) => {
                    open.push(*target);
                }
                Instruction::Fork(fork) => {
                    open.extend(&code.forks[*fork as usize].targets);
                    continue;
                }
                Instruction::Write(write) => scan.write(*write),
                Instruction::Copy(copy) => scan.any_bits(copy.to, copy.written),
                Instruction::Add(change) => scan.any_bits(change.word, u64::from(change.mask) << change.shift),
                Instruction::Put(target, _) | Instruction::Store(target, ..) => scan.store(*target),
                Instruction::Any(choice) => scan.store(code.choices[*choice as usize].target),
                Instruction::Push(..) | Instruction::Pop(_) => scan.writes_anything = true,
                Instruction::Require(_)
                | Instruction::Check(_)
                | Instruction::CheckRange(..)
                | Instruction::Let(..)
                | Instruction::Locate(..) => {}
            }
            open.push(next);
        }
    }
}

impl<const W: usize> CodeScan<W> {
    fn write(&mut self, write: WordWrite) {
        let word = write.word as usize;
        self.sets[word] |= write.set;
        self.clears[word] |= !write.keep & !write.set;
        let control = self.control.in_place(self.control.mask);
        if self.control.word == write.word && control != 0 && write.keep & control == 0 {
            self.next_points.push(((write.set & control) >> self.control.shift) as u32);
        }
    }

    fn any_bits(&mut self, word: u32, bits: u64) {
        self.sets[word as usize] |= bits;
        self.clears[word as usize] |= bits;
    }

    fn store(&mut self, target: StoreTarget) {
        match target {
            StoreTarget::Field(field) => self.any_number(field),
            StoreTarget::Located(_) => self.writes_anything = true,
        }
    }

    fn any_number(&mut self, field: Field) {
        add(&mut self.sets, field);
        add(&mut self.clears, field);
    }
}
