//! Compiled steps: what the machine runs.
//!
//! A [`CompiledStep`] is one action of one process at one control point. Most are a comparison of words and a change of words, and
//! need no code at all. The others have a little program of [`Instruction`]s; where it chooses, the machine follows every
//! choice to the end.

use model::control::{ActionId, ChannelId, StatementId};
use model::process::ProcessId;

use crate::packing::{Field, NumberRange};
use crate::term::{LocatorId, TermId, TermPool, WordTest};

/// A position in the code.
pub type Address = u32;

/// The number of a register. Register 0 takes the result of a procedure to its caller.
pub type Register = u32;

/// The register with which a procedure gives its result.
pub const RESULT: Register = 0;

/// A change of one word: `word & keep | set`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordWrite {
    /// Which word.
    pub word: u32,
    /// The bits that stay.
    pub keep: u64,
    /// The bits that are set.
    pub set: u64,
}

impl WordWrite {
    /// The change that makes a number the content of a field.
    pub fn new(field: Field, number: i64) -> Self {
        let keep = !field.in_place(field.mask);
        WordWrite { word: field.word, keep, set: field.in_place(field.raw_of(number)) }
    }

    /// This change and then another of the same word.
    pub fn then(self, later: WordWrite) -> Self {
        WordWrite { word: self.word, keep: self.keep & later.keep, set: self.set & later.keep | later.set }
    }

    /// Makes the change.
    pub fn apply(self, state: &mut [u64]) {
        let word = &mut state[self.word as usize];
        *word = *word & self.keep | self.set;
    }
}

/// Contents of fields that are copied as they are: bits of a word go to a word, which may be the same. What moves up in a buffer is one or two of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitCopy {
    /// The word that is written.
    pub to: u32,
    /// The word that is read.
    pub from: u32,
    /// How far the bits move to the right, around the end of the word.
    pub turn: u32,
    /// The bits that are written.
    pub written: u64,
    /// Those of them that are copied; the others become 0.
    pub copied: u64,
}

impl BitCopy {
    /// The copy of a field's content into another, where the same content means the same number in both and fits.
    pub fn new(to: Field, from: Field) -> Option<Self> {
        let is_same = to.zero == from.zero && to.base == from.base && from.mask & !to.mask == 0;
        // What is empty is not a bit anywhere.
        (is_same && from.mask != 0).then(|| BitCopy {
            to: to.word,
            from: from.word,
            turn: (from.shift + 64 - to.shift) % 64,
            written: to.in_place(to.mask),
            copied: to.in_place(from.mask),
        })
    }

    /// This copy and then another, where they are one.
    pub fn then(self, later: BitCopy) -> Option<Self> {
        let is_alike = self.to == later.to && self.from == later.from && self.turn == later.turn;
        let reads = later.copied.rotate_left(later.turn);
        let is_apart = self.written & later.written == 0 && (self.from != self.to || reads & self.written == 0);
        (is_alike && is_apart).then_some(BitCopy {
            written: self.written | later.written,
            copied: self.copied | later.copied,
            ..self
        })
    }

    /// Makes the copy.
    #[inline]
    pub fn apply(self, state: &mut [u64]) {
        let bits = state[self.from as usize].rotate_right(self.turn) & self.copied;
        let word = &mut state[self.to as usize];
        *word = *word & !self.written | bits;
    }
}

/// A constant that is added to the content of a field, where the content is between two bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldAdd {
    /// Which word.
    pub word: u32,
    /// Where the field begins in it.
    pub shift: u32,
    /// As many ones as the field has bits.
    pub mask: u32,
    /// What is added.
    pub add: i32,
    /// The least content to which it is added.
    pub least: u32,
    /// The greatest.
    pub most: u32,
}

impl FieldAdd {
    /// A constant added to the number of a field where the sum is one of these numbers, if they are a range without a gap; `None` too where no sum is.
    pub fn new(field: Field, add: i64, numbers: NumberRange) -> Option<Self> {
        let has_range = field.zero == field.base && numbers.lo == field.base && numbers.after_gap <= numbers.lo;
        let mask = u32::try_from(field.mask).ok().filter(|mask| has_range && mask.leading_zeros() > 0)?;
        let add = i32::try_from(add).ok()?;
        let span = numbers.hi.checked_sub(numbers.lo)?.min(i64::from(mask));
        let (least, most) = ((-i64::from(add)).max(0), span.checked_sub(i64::from(add))?.min(i64::from(mask)));
        (least <= most).then_some(FieldAdd {
            word: field.word,
            shift: field.shift,
            mask,
            add,
            least: least as u32,
            most: most as u32,
        })
    }

    /// Makes the change; whether the content is within the bounds.
    #[inline]
    pub fn apply(self, state: &mut [u64]) -> bool {
        let word = &mut state[self.word as usize];
        let raw = (*word >> self.shift) as u32 & self.mask;
        if raw < self.least || raw > self.most {
            return false;
        }
        // The sum fits into the field, so that nothing is carried beyond it.
        *word = word.wrapping_add((i64::from(self.add) as u64) << self.shift);
        true
    }
}

/// Where a number is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreTarget {
    /// In a field.
    Field(Field),
    /// At the location in a register.
    Located(Register),
}

/// One instruction.
#[derive(Clone, Debug, PartialEq)]
pub enum Instruction {
    /// Where the term does not hold the path is no path.
    Require(TermId),
    /// Where the term does not hold the path is a fault.
    Check(TermId),
    /// Where the register's number is none of these the path is a fault.
    CheckRange(Register, NumberRange),
    /// The path is a fault.
    Fail,
    /// Changes a word.
    Write(WordWrite),
    /// Copies bits.
    Copy(BitCopy),
    /// Adds to a field; beyond its bounds the path is a fault.
    Add(FieldAdd),
    /// Stores a number that surely fits.
    Put(StoreTarget, TermId),
    /// Stores a number; a fault where it is not one of those at this position of `Code::numbers`.
    Store(StoreTarget, TermId, u32),
    /// Gives a register its number.
    Let(Register, TermId),
    /// Gives a register a location.
    Locate(Register, LocatorId),
    /// Goes on with each of the numbers of a choice, at this position of `Code::choices`.
    Any(u32),
    /// Goes on at each of some addresses, at this position of `Code::forks`.
    Fork(u32),
    /// Goes on at the address where the term does not hold.
    Unless(TermId, Address),
    /// Goes on at the address.
    Jump(Address),
    /// Starts a loop: this register at the first, the next at the last number; or goes on at the address if there is none.
    Enter(Register, TermId, TermId, Address),
    /// The next number of a loop, and back to the address; or on.
    Again(Register, Address),
    /// A process leaves its frame waiting at a site; the room for slots is cleared.
    Push(u32, u32),
    /// A process drops its frame and goes on where the caller waits.
    Pop(u32),
    /// The end of the program.
    Done,
}

/// A choice of a number.
#[derive(Clone, Debug, PartialEq)]
pub struct CompiledChoice {
    /// Where it is stored.
    pub target: StoreTarget,
    /// The numbers that fit there.
    pub numbers: NumberRange,
    /// The bounds within which to choose, if some are given; a bound that does not fit is a fault besides.
    pub bounds: Option<(TermId, TermId)>,
    /// What makes a bound a number: processes are given by their index.
    pub offset: i64,
    /// How many registers must be kept.
    pub n_live: u32,
}

/// Addresses to go on at.
#[derive(Clone, Debug, PartialEq)]
pub struct Fork {
    /// The addresses.
    pub targets: Vec<Address>,
    /// How many registers must be kept.
    pub n_live: u32,
}

/// One action of one process at one control point.
#[derive(Clone, Debug)]
pub struct CompiledStep {
    /// Fails where the step is not enabled.
    pub test: WordTest,
    /// So do these.
    pub more_tests: Box<[WordTest]>,
    /// So does this; it may be a fault.
    pub condition: Option<TermId>,
    /// What the step does.
    pub effect: CompiledEffect,
    /// The action.
    pub action: ActionId,
    /// The statement that it comes from.
    pub statement: StatementId,
    /// Its side of a rendezvous.
    pub sync: Option<Box<SyncStep>>,
    /// Whether it is only for where no process is enabled otherwise.
    pub when_nobody: bool,
}

/// What a step does.
#[derive(Clone, Debug)]
pub enum CompiledEffect {
    /// Changes these words, the first and more.
    Writes(WordWrite, Box<[WordWrite]>),
    /// Runs the code from this address.
    Code(Address),
}

/// One side of a rendezvous.
#[derive(Clone, Debug)]
pub enum SyncStep {
    /// Sends the values of the terms.
    Send(ChannelId, Vec<TermId>),
    /// Receives numbers so.
    Receive(ChannelId, Vec<ReceiveTarget>),
}

/// What is done with a received number.
#[derive(Clone, Copy, Debug)]
pub enum ReceiveTarget {
    /// It goes into a field that has these numbers.
    Field(Field, NumberRange),
    /// It goes to a computed location that has these numbers.
    Computed(LocatorId, NumberRange),
    /// The location is a fault.
    Fault,
    /// The rendezvous is possible only where it is equal to the term's.
    Equal(TermId),
    /// Nothing.
    Ignored,
}

/// A step as the machine tries it, in a rendezvous with a certain step of a partner.
#[derive(Clone, Debug)]
pub struct Move {
    /// Fails where it is not enabled.
    pub test: WordTest,
    /// The step, in `Code::steps`.
    pub step: u32,
    /// The partner's side, where it is a rendezvous whose receivers are known beforehand.
    pub meeting: Option<Box<Meeting>>,
}

/// What a sender and a receiver do together.
#[derive(Clone, Debug)]
pub struct Meeting {
    /// The receiver.
    pub partner: ProcessId,
    /// The step of the receiver, in `Code::steps`.
    pub receiver: u32,
    /// They fail where the rendezvous is not possible.
    pub more_tests: Box<[WordTest]>,
    /// Whether values have to be evaluated and stored.
    pub passes: bool,
    /// All else that changes, where it is known; else the code of both sides runs.
    pub writes: Option<Box<[WordWrite]>>,
}

/// The steps of one control point.
#[derive(Clone, Copy, Debug, Default)]
pub struct PointSteps {
    /// The first of them in `Code::steps`.
    pub first: u32,
    /// Behind the last of them.
    pub end: u32,
    /// The first of their moves in `Code::moves`.
    pub first_move: u32,
    /// Behind the last of their moves that are not only for where no process is enabled otherwise.
    pub end_move: u32,
    /// Behind the last of those that are.
    pub end_marked: u32,
    /// Whether two of their paths may be one transition: equal in statement and successor.
    pub may_repeat: bool,
    /// Whether some of them are sides of a rendezvous.
    pub has_sync: bool,
    /// Whether a process that is here and not enabled is stuck.
    pub waits: bool,
    /// Whether some of them may go on with another action.
    pub chains: bool,
    /// Whether some of them, or of their partners, are only for where no process is enabled otherwise.
    pub marks: bool,
}

/// The processes that have a step that receives, by channel.
pub fn receivers(n_channels: usize, steps: &[CompiledStep], points: &[Vec<PointSteps>]) -> Vec<Vec<ProcessId>> {
    let mut receivers: Vec<Vec<ProcessId>> = vec![Vec::new(); n_channels];
    for (process, points) in points.iter().enumerate() {
        let process = ProcessId::new(process);
        for point in points.iter().filter(|point| point.has_sync) {
            for step in &steps[point.first as usize..point.end as usize] {
                if let Some(SyncStep::Receive(channel, _)) = step.sync.as_deref()
                    && receivers[channel.index()].last() != Some(&process)
                {
                    receivers[channel.index()].push(process);
                }
            }
        }
    }
    receivers
}

/// All that was compiled.
pub struct Code {
    /// The expressions.
    pub terms: TermPool,
    /// The programs, one behind the other.
    pub instructions: Vec<Instruction>,
    /// What `Instruction::Any` chooses from.
    pub choices: Vec<CompiledChoice>,
    /// What `Instruction::Fork` goes on at.
    pub forks: Vec<Fork>,
    /// What `Instruction::Store` checks against.
    pub numbers: Vec<NumberRange>,
    /// The steps, those of one control point together.
    pub steps: Vec<CompiledStep>,
    /// The same as they are tried, those of one control point together.
    pub moves: Vec<Move>,
    /// By process and control point.
    pub points: Vec<Vec<PointSteps>>,
    /// By channel: the processes that receive from it somewhere.
    pub receivers: Vec<Vec<ProcessId>>,
    /// By site of a call: where the caller goes on when it returns.
    pub continuations: Vec<Address>,
    /// How many registers there are.
    pub n_registers: u32,
    /// Whether some steps are only for where no process is enabled otherwise.
    pub has_marks: bool,
    /// By action: whether its process goes on after it in the same step.
    pub goes_on: Vec<bool>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packing::FieldAllocator;

    /// Pseudo-random numbers, the same in each run.
    fn numbers(seed: u64) -> impl Iterator<Item = u64> {
        let next = |x: &u64| Some(x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407));
        std::iter::successors(Some(seed), next).map(|x| x >> 33)
    }

    /// A row of fields, which begins somewhere in a word.
    fn row(allocator: &mut FieldAllocator, n_bits: u32, len: usize) -> Vec<Field> {
        (0..len).map(|_| allocator.field(NumberRange::between(0, (1 << n_bits) - 1))).collect()
    }

    #[test]
    fn copies_taken_together_are_copies_one_after_the_other() {
        let mut random = numbers(5);
        let mut n_joined = 0;
        for _ in 0..2_000 {
            let mut allocator = FieldAllocator::default();
            allocator.bits(random.next().unwrap() as u32 % 20);
            let n_bits = random.next().unwrap() as u32 % 9 + 1;
            let fields = row(&mut allocator, n_bits, 14);
            // Up, down, or anyhow.
            let kind = random.next().unwrap() % 3;
            let pairs: Vec<(Field, Field)> = (0..13)
                .map(|at| match kind {
                    0 => (fields[at], fields[at + 1]),
                    1 => (fields[at + 1], fields[at]),
                    _ => (fields[random.next().unwrap() as usize % 14], fields[random.next().unwrap() as usize % 14]),
                })
                .collect();
            let mut joined: Vec<BitCopy> = Vec::new();
            for &(to, from) in &pairs {
                let copy = BitCopy::new(to, from).unwrap();
                match joined.last().and_then(|last| last.then(copy)) {
                    Some(both) => *joined.last_mut().unwrap() = both,
                    None => joined.push(copy),
                }
            }
            n_joined += pairs.len() - joined.len();
            let mut expected: Vec<u64> =
                (0..allocator.n_words()).map(|_| random.next().unwrap() << 33 | random.next().unwrap()).collect();
            let mut found = expected.clone();
            for (to, from) in &pairs {
                let number = from.get(&expected);
                to.put(&mut expected, number);
            }
            joined.iter().for_each(|copy| copy.apply(&mut found));
            assert_eq!(found, expected, "{pairs:?}");
        }
        assert!(n_joined > 5_000, "{n_joined}");
    }

    #[test]
    fn contents_of_other_numbers_are_not_copied() {
        let mut allocator = FieldAllocator::default();
        let [small, large, other] =
            [(0, 3), (0, 9), (1, 4)].map(|(lo, hi)| allocator.field(NumberRange::between(lo, hi)));
        assert!(BitCopy::new(small, large).is_none() && BitCopy::new(small, other).is_none());
        let mut state = [0];
        small.put(&mut state, 3);
        large.put(&mut state, 9);
        BitCopy::new(large, small).unwrap().apply(&mut state);
        assert_eq!((small.get(&state), large.get(&state), other.get(&state)), (3, 3, 1));
    }

    #[test]
    fn a_sum_is_stored_where_it_is_one_of_the_numbers() {
        for (lo, hi) in [(0, 1), (0, 7), (-3, 9), (0, 255), (5, 5)] {
            let numbers = NumberRange::between(lo, hi);
            let mut allocator = FieldAllocator::default();
            allocator.bits(7);
            let (field, neighbour) = (allocator.field(numbers), allocator.bits(9));
            for add in -12..12 {
                for number in lo..=hi {
                    let mut state = [0];
                    field.put(&mut state, number);
                    neighbour.put(&mut state, 300);
                    let mut expected = state;
                    let fits = numbers.contains(number + add);
                    if fits {
                        field.put(&mut expected, number + add);
                    }
                    let Some(change) = FieldAdd::new(field, add, numbers) else {
                        assert!((lo..=hi).all(|number| !numbers.contains(number + add)));
                        continue;
                    };
                    assert_eq!((change.apply(&mut state), state), (fits, expected), "{number} + {add} in {lo}..{hi}");
                }
            }
        }
        assert!(FieldAdd::new(FieldAllocator::default().bits(64), 1, NumberRange::between(0, i64::MAX)).is_none());
    }
}
