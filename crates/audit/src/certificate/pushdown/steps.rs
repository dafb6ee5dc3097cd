//! What comes of a local state above a frame, by `eval`.
//!
//! In: a local state, and the frame to which it could return. Out: its steps by what they do to the local state, its faults, what is
//! touched. The state that `eval` works on is filled arbitrarily where a local state says nothing; the footprint of the attempt shows
//! whether that could matter, and then the proof is refused. What was once computed is used again for every local state with the same
//! frames that agrees on the footprint: `eval` is deterministic in what it reads.

use std::rc::Rc;

use evidence::pushdown::WaitingCall;
use model::Model;
use model::control::{ActionKind, TextOwner};
use model::eval::{Control, Frame, State, Step, attempts_up_to, initial_states};
use model::variable::{CellId, Role};
use rustc_hash::FxHashMap;

use super::thread::Thread;
use crate::certificate::numbering::{number_of, value_of};
use crate::certificate::{CertificateError, MOST_ATTEMPTS, Outcome, words};

/// What comes of a local state above a frame.
#[derive(Debug, Default)]
pub(super) struct Outcomes {
    /// There is an enabled step; a faulty one is enabled.
    pub moves: bool,
    /// The steps that have a successor.
    pub steps: Vec<Stepped>,
    /// The steps that fail, in words, and how.
    pub faults: Vec<(String, String)>,
    /// The cells that steps touch, and whether they write them.
    pub touches: Vec<(CellId, bool)>,
}

/// A step, by what it does to a local state.
#[derive(Debug)]
pub(super) struct Stepped {
    /// The statement.
    pub text: String,
    pub kind: StepKind,
    /// Positions in a row, with their new numbers.
    pub writes: Vec<(usize, u32)>,
    /// The top frame afterwards.
    pub top: Frame,
}

/// What a step does to the stack.
#[derive(Debug)]
pub(super) enum StepKind {
    Plain,
    /// Leaves this frame waiting.
    Call(WaitingCall),
    Return,
}

/// Takes the steps of one process.
pub(super) struct Stepper<'a> {
    model: &'a Model,
    /// The state that `eval` works on; all other processes have ended.
    state: State,
    /// What is known, by top frame and frame below.
    known: FxHashMap<(u32, Option<u32>), Vec<Pattern>>,
}

/// Outcomes that read the same cells.
struct Pattern {
    /// Positions of the cells in a row.
    looked_at: Vec<usize>,
    /// What came of it, by the numbers there.
    outcomes: FxHashMap<Vec<u32>, Rc<Outcomes>>,
}

impl<'a> Stepper<'a> {
    /// A stepper for the local states of a process.
    pub fn new(model: &'a Model, thread: &Thread<'_>) -> Self {
        let mut state = initial_states(model).next().expect("a program has an initial state");
        for process in model.processes.ids().filter(|&process| process != thread.process) {
            let end = model.families[model.processes[process].family].end;
            state.stacks[process.index()] = vec![Frame { control: Control::At(end), slots: Vec::new() }];
        }
        Stepper { model, state, known: FxHashMap::default() }
    }

    /// What comes of a local state above a frame.
    pub fn outcomes(&mut self, thread: &Thread<'_>, state: u32, frame: Option<u32>) -> Outcome<Rc<Outcomes>> {
        let row = &thread.proof.states[state as usize];
        if let Some(patterns) = self.known.get(&(row.top, frame)) {
            for pattern in patterns {
                let numbers: Vec<u32> = pattern.looked_at.iter().map(|&at| row.cells[at]).collect();
                if let Some(outcomes) = pattern.outcomes.get(&numbers) {
                    return Ok(outcomes.clone());
                }
            }
        }
        let (looked_at, outcomes) = self.evaluate(thread, state, frame)?;
        let numbers = looked_at.iter().map(|&at| row.cells[at]).collect();
        let outcomes = Rc::new(outcomes);
        let patterns = self.known.entry((row.top, frame)).or_default();
        let at = patterns.iter().position(|pattern| pattern.looked_at == looked_at).unwrap_or_else(|| {
            patterns.push(Pattern { looked_at, outcomes: FxHashMap::default() });
            patterns.len() - 1
        });
        patterns[at].outcomes.insert(numbers, outcomes.clone());
        Ok(outcomes)
    }

    fn evaluate(&mut self, thread: &Thread<'_>, state: u32, frame: Option<u32>) -> Outcome<(Vec<usize>, Outcomes)> {
        self.place(thread, state, frame);
        let model = self.model;
        let Some((attempts, footprint)) = attempts_up_to(model, &self.state, thread.process, MOST_ATTEMPTS) else {
            let what = format!("a step chooses from more than {MOST_ATTEMPTS} values, which are not listed");
            return Err(CertificateError::NotSupported(what));
        };
        let name = &model.processes[thread.process].name;
        if let Some(&unseen) = footprint.cells.iter().find(|cell| !thread.positions.contains_key(cell)) {
            let obligation = format!("{name} has to see what its steps look at");
            return words::refused(obligation, format!("it is not said to see `{}`", model.cells[unseen].name));
        }
        if footprint.places.iter().any(|&other| other != thread.process) {
            let obligation = format!("{name} may not look where others stand");
            return words::refused(obligation, "it does");
        }
        let mut looked_at: Vec<usize> = footprint.cells.iter().map(|cell| thread.positions[cell]).collect();
        looked_at.extend(thread.counters.iter().map(|cell| thread.positions[cell]));
        looked_at.sort_unstable();
        looked_at.dedup();
        let mut outcomes = Outcomes { moves: !attempts.is_empty(), ..Outcomes::default() };
        for (step, touched) in attempts {
            let touched = touched.iter().filter(|touch| touch.process == thread.process);
            outcomes.touches.extend(touched.map(|touch| (touch.cell, touch.writes)));
            let text = model.statements[model.actions[step.by.action].statement].text.clone();
            match &step.result {
                Err(fault) => outcomes.faults.push((format!("the step `{text}` of {name}"), fault.fault.to_string())),
                Ok(next) => outcomes.steps.push(self.stepped(thread, text, &step, next)),
            }
        }
        outcomes.touches.sort_unstable();
        outcomes.touches.dedup();
        Ok((looked_at, outcomes))
    }

    /// Makes the state that of a local state above a frame.
    fn place(&mut self, thread: &Thread<'_>, state: u32, frame: Option<u32>) {
        let row = &thread.proof.states[state as usize];
        for (&cell, &number) in thread.proof.cells.iter().zip(&row.cells) {
            self.state.cells[cell.index()] = value_of(self.model, cell, number);
        }
        let below = frame.map(|frame| &thread.proof.waiting[frame as usize]);
        let mut stack = Vec::new();
        if let Some(below) = below {
            for &(cell, value) in &below.counters {
                self.state.cells[cell.index()] = value;
            }
            stack.push(below.frame.clone());
        }
        stack.push(thread.proof.tops[row.top as usize].clone());
        self.state.stacks[thread.process.index()] = stack;
    }

    /// What a step does to the local state. Counters of the own text wait with its frame while a procedure runs.
    fn stepped(&self, thread: &Thread<'_>, text: String, step: &Step, next: &State) -> Stepped {
        let model = self.model;
        let stack = &next.stacks[thread.process.index()];
        let top = stack.last().expect("there is a top frame").clone();
        let is_own = |frame: &Frame| {
            let scope = match frame.control {
                Control::At(place) => model.places[place].scope,
                Control::Calling(action) => model.actions[action].scope,
            };
            matches!(scope, TextOwner::Family(_))
        };
        let in_procedure = !is_own(&top);
        let kind = match model.actions[step.by.action].kind {
            ActionKind::Plain | ActionKind::Idle => StepKind::Plain,
            ActionKind::Return { .. } => StepKind::Return,
            ActionKind::Call { .. } => {
                let frame = stack[stack.len() - 2].clone();
                let counters = thread.counters.iter().filter(|_| is_own(&frame));
                let counters = counters.map(|&cell| (cell, next.cells[cell.index()])).collect();
                StepKind::Call(WaitingCall { frame, counters })
            }
        };
        let number = |&cell: &CellId| {
            let declared = &model.cells[cell];
            let waits = in_procedure
                && declared.owner == Some(thread.process)
                && matches!(model.vars[declared.var].role, Role::Counter(_));
            let value = match declared.ty.first_value(model.type_context()) {
                Some(first) if waits => first,
                _ => next.cells[cell.index()],
            };
            number_of(model, cell, value)
        };
        // Cells that the step does not touch are written with what they hold only where this local state holds it.
        let row_numbers = thread.proof.cells.iter().enumerate().filter(|(_, cell)| {
            next.cells[cell.index()] != self.state.cells[cell.index()] || thread.counters.contains(cell)
        });
        let writes = row_numbers.map(|(at, cell)| (at, number(cell))).collect();
        Stepped { text, kind, writes, top }
    }
}
