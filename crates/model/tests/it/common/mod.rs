//! A small program with a variable of each kind, in which tests put one text.

#![allow(dead_code)]

use model::Model;
use model::eval::{State, initial_states};
use model::process::FamilyId;
use model::types::{EnumId, ScalarType, Type};
use model::variable::{Init, VarId};
use testkit::draft::{array_type, range_type};
use testkit::expr::int;
use testkit::text::TextStatement;
use testkit::{Draft, show};

/// Two processes `P[0]`, `P[1]` and the variables.
pub struct Bench {
    pub draft: Draft,
    pub p: FamilyId,
    pub color: EnumId,
    /// `shared x: 0..=3 = 1`
    pub x: VarId,
    /// `shared y: 0..=3 = 2`
    pub y: VarId,
    /// `shared b: bool`
    pub b: VarId,
    /// `shared a: [0..=3; 2]`
    pub a: VarId,
    /// `shared g: [[0..=3; 2]; 2]`
    pub g: VarId,
    /// `shared s: sem(2) = 1`
    pub s: VarId,
    /// `shared m: lock`
    pub m: VarId,
    /// `shared turn: pid`
    pub turn: VarId,
    /// `shared last: pid?`
    pub last: VarId,
    /// `shared c: Color`, one of `red`, `green`
    pub c: VarId,
    /// `public level: 0..=3` of each process
    pub level: VarId,
    /// `local l: -2..=2` of each process, `0` at first
    pub l: VarId,
}

pub fn bench() -> Bench {
    let mut draft = Draft::new();
    let color = draft.enumeration("Color", &["red", "green"]);
    let p = draft.family("P", 2);
    let small = range_type(0, 3);
    let scalar = Type::Scalar;
    Bench {
        x: draft.shared("x", small.clone(), Init::Fill(int(1))),
        y: draft.shared("y", small.clone(), Init::Fill(int(2))),
        b: draft.shared("b", scalar(ScalarType::Bool), Init::First),
        a: draft.shared("a", array_type(small.clone(), 2), Init::First),
        g: draft.shared("g", array_type(array_type(small.clone(), 2), 2), Init::First),
        s: draft.shared("s", scalar(ScalarType::Semaphore { max: 2 }), Init::Fill(int(1))),
        m: draft.shared("m", scalar(ScalarType::Lock), Init::First),
        turn: draft.shared("turn", scalar(ScalarType::Pid(p)), Init::First),
        last: draft.shared("last", scalar(ScalarType::PidOrNone(p)), Init::First),
        c: draft.shared("c", scalar(ScalarType::Enum(color)), Init::First),
        level: draft.public(p, "level", small, Init::First),
        l: draft.local(p, "l", range_type(-2, 2), Init::Fill(int(0))),
        p,
        color,
        draft,
    }
}

impl Bench {
    /// The program in which every process has this text.
    pub fn model(mut self, text: Vec<TextStatement>) -> Model {
        self.draft.text(self.p, text);
        self.draft.finish()
    }

    /// The first steps of `P[0]` when every process has this text.
    pub fn first_steps(self, text: Vec<TextStatement>) -> String {
        let model = self.model(text);
        let state = start(&model);
        let process = model.processes.ids().next().expect("there is one");
        let shown: Vec<String> = model::eval::steps_of(&model, &state, process)
            .iter()
            .map(|step| show::step(&model, &state, step))
            .collect();
        if shown.is_empty() { "nothing".to_string() } else { shown.join(" | ") }
    }
}

/// The first initial state.
pub fn start(model: &Model) -> State {
    initial_states(model).next().expect("there is one")
}

/// The only run of the first process, as far as it goes, up to `limit` steps: one line for each step.
pub fn run_alone(model: &Model, limit: usize) -> Vec<String> {
    let process = model.processes.ids().next().expect("there is one");
    let mut state = start(model);
    let mut lines = Vec::new();
    while lines.len() < limit {
        let steps = model::eval::steps_of(model, &state, process);
        let [step] = steps.as_slice() else {
            assert!(steps.is_empty(), "the run branches: {steps:?}");
            break;
        };
        lines.push(show::step(model, &state, step));
        match &step.result {
            Ok(next) => state = next.clone(),
            Err(_) => break,
        }
    }
    lines
}
