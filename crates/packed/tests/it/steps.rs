//! Packed evaluation equals `model::eval`, state by state, on random programs.
//!
//! Every reachable state of every program is packed and unpacked, and its transitions, faults and deadlocks are compared.

use std::collections::HashMap;

use model::Model;
use model::eval::{self, State};
use model::process::ProcessId;
use model::value::Value;
use packed::codec::{Codec, UnrollLimits};
use packed::compile::Compiler;
use packed::machine::{Flow, Machine, Sink};
use packed::packing::Packed;
use testkit::conditions::ConditionMaker;
use testkit::{Product, RandomFeatures, for_each_program};

/// How many states of a program are looked at.
const MAX_STATES: usize = 2_000;

/// Collects what leaves a state.
#[derive(Default)]
struct Collected<const W: usize> {
    successors: Vec<(ProcessId, Packed<W>)>,
    n_faults: HashMap<ProcessId, u64>,
}

impl<const W: usize> Sink<W> for Collected<W> {
    fn successor(&mut self, process: ProcessId, next: &Packed<W>) -> Flow {
        self.successors.push((process, *next));
        Flow::Continue(())
    }

    fn faults(&mut self, process: ProcessId, n_faults: u64) -> Flow {
        *self.n_faults.entry(process).or_default() += n_faults;
        Flow::Continue(())
    }

    fn pause(&mut self, _bytes: u64) -> Flow {
        Flow::Continue(())
    }

    fn out_of_stacks(&mut self) {}
}

/// Nothing is written out: every loop and every quantifier runs.
const NOTHING_WRITTEN_OUT: UnrollLimits =
    UnrollLimits { max_points: 0, max_unrolled: 0, max_terms: 0, least_stack_bits: 0 };

fn check(model: &Model) -> Result<(), String> {
    let Some(product) = Product::explore(model, MAX_STATES) else { return Ok(()) };
    check_steps(model, &product, UnrollLimits::default())?;
    check_steps(model, &product, NOTHING_WRITTEN_OUT)
}

fn check_steps(model: &Model, product: &Product, limits: UnrollLimits) -> Result<(), String> {
    let codec = Codec::new(model, limits);
    let machine = Machine { codec: &codec, code: Compiler::new(&codec).finish() };
    for (at, state) in product.states.iter().enumerate() {
        let packed = codec.pack(state);
        if codec.unpack(&packed) != *state {
            return Err(format!("unpacked {:?}\nis not {state:?}", codec.unpack(&packed)));
        }
        match packed.len() {
            0..=4 => compare::<4>(&machine, &packed, state, product, at)?,
            _ => compare::<32>(&machine, &packed, state, product, at)?,
        }
    }
    Ok(())
}

fn compare<const W: usize>(
    machine: &Machine<'_>,
    packed: &[u64],
    state: &State,
    product: &Product,
    at: usize,
) -> Result<(), String> {
    let mut words = [0; W];
    words[..packed.len()].copy_from_slice(packed);
    let mut found = Collected::<W>::default();
    let can_move = machine.expand(&words, &machine.scratch(), &mut found).continue_value() == Some(true);
    let codec = machine.codec;
    let mut successors: Vec<(ProcessId, State)> =
        found.successors.iter().map(|(process, next)| (*process, codec.unpack(&next[..packed.len()]))).collect();
    let mut expected: Vec<(ProcessId, State)> =
        product.edges[at].iter().map(|(by, target)| (by.process, product.states[*target].clone())).collect();
    successors.sort();
    expected.sort();
    if successors != expected {
        return Err(format!("in {state:?}\nfound    {successors:?}\nexpected {expected:?}"));
    }
    let mut n_faults: HashMap<ProcessId, u64> = HashMap::new();
    for (by, _) in &product.faults[at] {
        *n_faults.entry(by.process).or_default() += 1;
    }
    if found.n_faults != n_faults {
        return Err(format!("in {state:?}\nfound    {:?}\nexpected {n_faults:?}", found.n_faults));
    }
    let mut alone = Collected::<W>::default();
    for process in codec.model.processes.ids() {
        let _ = machine.expand_process(process, &words, &machine.scratch(), &mut alone);
    }
    alone.successors.sort();
    found.successors.sort();
    if alone.successors != found.successors || alone.n_faults != found.n_faults {
        return Err(format!("in {state:?}\nthe steps of single processes are {:?}", alone.successors));
    }
    let is_deadlock = !can_move && machine.somebody_waits(&words);
    if is_deadlock != eval::is_deadlock(codec.model, state) {
        return Err(format!("in {state:?}\nis it a deadlock? found {is_deadlock}"));
    }
    Ok(())
}

/// Conditions have the value that `eval` gives them, and are a fault where they are there.
fn check_conditions(model: &Model, limits: UnrollLimits) -> Result<(), String> {
    let Some(product) = Product::explore(model, 200) else { return Ok(()) };
    let mut conditions = ConditionMaker::new(model, model.places.len() as u64 * 7 + model.cells.len() as u64);
    let conditions: Vec<_> = (0..20).map(|n| conditions.condition(2 + n % 3)).collect();
    let codec = Codec::new(model, limits);
    let mut compiler = Compiler::new(&codec);
    let terms: Vec<_> = conditions.iter().map(|condition| compiler.property(condition)).collect();
    let machine = Machine { codec: &codec, code: compiler.finish() };
    let scratch = machine.scratch();
    for state in &product.states {
        let packed = codec.pack(state);
        let mut words = [0; 32];
        words[..packed.len()].copy_from_slice(&packed);
        for (condition, &term) in conditions.iter().zip(&terms) {
            let found = machine.test(term, &words, &scratch).ok().map(Value::Bool);
            let expected = eval::evaluate(model, state, condition, None).ok();
            if found != expected {
                let text = model::print::expr(model, condition);
                return Err(format!("{text}\nin {state:?}\nfound {found:?}, expected {expected:?}"));
            }
        }
    }
    Ok(())
}

#[test]
fn packed_conditions_are_those_of_eval() {
    for_each_program(500, RandomFeatures::everything(), |_, model| {
        check_conditions(model, UnrollLimits::default())?;
        check_conditions(model, NOTHING_WRITTEN_OUT)
    });
}

#[test]
fn packed_steps_are_those_of_eval() {
    for_each_program(500, RandomFeatures::everything(), |_, model| check(model));
}

/// Chains, actions for where nobody can move, patterns and places to end at: by the whole state and by single processes.
#[test]
fn packed_steps_beyond_texts_are_those_of_eval() {
    for_each_program(800, RandomFeatures::beyond_texts(), |_, model| check(model));
}
