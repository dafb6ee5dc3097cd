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
    /// Behind the last of their moves.
    pub end_move: u32,
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
}
