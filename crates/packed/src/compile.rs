//! From the Model to code.
//!
//! In: a Model with its control points and layout. Out: `Code`, with the steps of each process at each of its points.
//! The meaning is that of `model::eval`: the same steps, enabled in the same states, with the same successors, and a fault
//! where `eval` has one; only which fault it is, is left to `eval`.
//!
//! `expression.rs` makes terms of expressions, `statement.rs` instructions of bodies, `flow.rs` moves control, `steps.rs`
//! puts the steps together, `moves.rs` makes them quick to try, `touch.rs` says beforehand what a step may touch.

mod expression;
mod flow;
mod moves;
mod statement;
mod steps;
mod touch;

use model::Model;
use model::process::ProcessId;
use model::value::Value;

use crate::code::{
    Address, BitCopy, Code, CompiledChoice, CompiledStep, Fork, Instruction, PointSteps, RESULT, Register, WordWrite,
    receivers,
};
use crate::codec::Codec;
use crate::packing::{NumberRange, encode};
use crate::points::{FoldedCounters, LoopBounds};
use crate::term::{TermId, TermPool};

use moves::MoveMaker;

pub(crate) use flow::leaf_inits;

/// Compiles expressions and actions of one Model.
pub struct Compiler<'c, 'm> {
    model: &'m Model,
    codec: &'c Codec<'m>,
    bounds: LoopBounds<'m>,
    terms: TermPool,
    instructions: Vec<Instruction>,
    choices: Vec<CompiledChoice>,
    forks: Vec<Fork>,
    numbers: Vec<NumberRange>,
    steps: Vec<CompiledStep>,
    points: Vec<Vec<PointSteps>>,
    continuations: Vec<Address>,
    n_registers: Register,
    /// Jumps may lead here and to later addresses: a write is not merged with one before.
    block_start: usize,
    /// Whether a sender may reach one state with one receiver in two ways.
    meetings_may_repeat: bool,
    /// How many instances of quantifiers and loops the expression or statement at hand has been unrolled to.
    n_unrolled: usize,
    /// To how many it may be.
    max_unrolled: usize,
}

/// A property is compiled once, not for each process and point, and may be written out so many times further.
const PROPERTY_FACTOR: usize = 16;

/// The process for which something is compiled, and what is constant there.
#[derive(Clone)]
struct CompileContext {
    /// The process that evaluates; none in properties.
    me: Option<ProcessId>,
    /// The folded counters of the text.
    counters: FoldedCounters,
    /// The bound variables, outermost first.
    bound: Vec<Bound>,
    /// Registers from here on are free.
    next_register: Register,
}

/// The term of a bound variable.
#[derive(Clone, Copy)]
struct Bound {
    term: TermId,
    kind: NumberCode,
}

/// What a number codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NumberCode {
    Process,
    Other,
}

impl CompileContext {
    fn of_process(me: ProcessId, counters: FoldedCounters) -> Self {
        CompileContext { me: Some(me), counters, bound: Vec::new(), next_register: RESULT + 1 }
    }

    fn of_nobody() -> Self {
        CompileContext { me: None, counters: FoldedCounters::new(), bound: Vec::new(), next_register: RESULT + 1 }
    }

    fn myself(&self) -> ProcessId {
        self.me.expect("front-ends let only the text of a process speak of itself")
    }
}

impl<'c, 'm> Compiler<'c, 'm> {
    /// Compiles all steps.
    pub fn new(codec: &'c Codec<'m>) -> Self {
        let model = codec.model;
        let processes = model.processes.iter().map(|process| (process.index, process.first_cell as u32)).collect();
        let mut terms = TermPool::new(&codec.layout.locations, processes);
        for (&field, points) in codec.layout.control.iter().zip(&codec.plan.points) {
            terms.limit(field, points.n_points() as u64 - 1);
        }
        let mut compiler = Compiler {
            model,
            codec,
            bounds: LoopBounds::new(model),
            terms,
            instructions: Vec::new(),
            choices: Vec::new(),
            forks: Vec::new(),
            numbers: Vec::new(),
            steps: Vec::new(),
            points: Vec::new(),
            continuations: Vec::new(),
            n_registers: RESULT + 1,
            block_start: 0,
            meetings_may_repeat: steps::meetings_may_repeat(model),
            n_unrolled: 0,
            max_unrolled: codec.limits.max_unrolled,
        };
        compiler.all_steps();
        compiler.all_continuations();
        compiler
    }

    /// The program.
    pub fn model(&self) -> &'m Model {
        self.model
    }

    /// A condition on states that is evaluated for no process: that of a property.
    pub fn property(&mut self, condition: &model::expr::Expr) -> TermId {
        self.property_instance(condition, &[])
    }

    /// The same, with values for the bound variables around it.
    pub fn property_instance(&mut self, condition: &model::expr::Expr, bound: &[Value]) -> TermId {
        self.n_unrolled = 0;
        self.max_unrolled = self.codec.limits.max_unrolled * PROPERTY_FACTOR;
        let mut context = CompileContext::of_nobody();
        for &value in bound {
            let kind = if matches!(value, Value::Process(_)) { NumberCode::Process } else { NumberCode::Other };
            context.bound.push(Bound { term: self.terms.constant(encode(value)), kind });
        }
        let term = self.expression(condition, &mut context);
        self.max_unrolled = self.codec.limits.max_unrolled;
        self.terms.optimise(term)
    }

    /// Hands over everything.
    pub fn finish(mut self) -> Code {
        let receivers = receivers(self.model.channels.len(), &self.steps, &self.points);
        let receiving = moves::receiving_steps(self.model.channels.len(), &self.steps, &self.points);
        let maker = MoveMaker {
            control: &self.codec.layout.control,
            terms: &self.terms,
            instructions: &self.instructions,
            steps: &self.steps,
            receiving: &receiving,
            receivers_have_marks: steps::Partners::of(self.model).have_marks,
        };
        let moves = maker.all(&mut self.points);
        Code {
            terms: self.terms,
            instructions: self.instructions,
            choices: self.choices,
            forks: self.forks,
            numbers: self.numbers,
            receivers,
            steps: self.steps,
            moves,
            points: self.points,
            continuations: self.continuations,
            n_registers: self.n_registers,
            has_marks: self.model.has_when_nobody(),
            goes_on: self.model.actions.iter().map(|action| action.goes_on).collect(),
        }
    }

    /// Whether so many more instances are written out.
    fn may_unroll(&self, n_more: usize) -> bool {
        self.n_unrolled.saturating_add(n_more) <= self.max_unrolled
            && self.terms.n_terms() < self.codec.limits.max_terms
    }

    /// A free register.
    fn take_register(&mut self, context: &mut CompileContext) -> Register {
        let register = context.next_register;
        context.next_register += 1;
        self.n_registers = self.n_registers.max(context.next_register);
        register
    }

    fn emit(&mut self, instruction: Instruction) {
        self.instructions.push(instruction);
    }

    /// Emits a change of a word, together with the one before where that is possible.
    fn emit_write(&mut self, write: WordWrite) {
        if self.instructions.len() > self.block_start
            && let Some(Instruction::Write(before)) = self.instructions.last_mut()
            && before.word == write.word
        {
            *before = before.then(write);
            return;
        }
        self.emit(Instruction::Write(write));
    }

    /// Emits a copy of bits, together with the one before where that is possible.
    fn emit_copy(&mut self, copy: BitCopy) {
        if self.instructions.len() > self.block_start
            && let Some(Instruction::Copy(before)) = self.instructions.last_mut()
            && let Some(both) = before.then(copy)
        {
            *before = both;
            return;
        }
        self.emit(Instruction::Copy(copy));
    }

    /// The address of the next instruction, to which something jumps.
    fn label(&mut self) -> u32 {
        self.block_start = self.instructions.len();
        self.instructions.len() as u32
    }

    fn numbers_index(&mut self, numbers: NumberRange) -> u32 {
        let known = self.numbers.iter().position(|&other| other == numbers);
        known.unwrap_or_else(|| {
            self.numbers.push(numbers);
            self.numbers.len() - 1
        }) as u32
    }
}
