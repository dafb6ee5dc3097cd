//! `sim --interactive`: the user is the scheduler.
//!
//! In: one word a line on the standard input. Out: after each, the state and a numbered list of the steps that can be taken.
//! It works line by line, on a terminal as well as in a pipe; the end of the input ends it.

use std::io::{self, BufRead};

use driver::check::Program;
use driver::simulation::{self, Simulation};
use model::eval::{self, Step};
use report::{Page, Style, replay, sim};

use crate::failure::Failure;
use crate::options::DisplayOptions;
use crate::status::ExitStatus;
use crate::terminal;

const HELP: &str = "a number takes that step, u undoes one, s shows the whole state, q quits\n";

/// Steps through a program until the user has enough.
pub fn run(program: &Program, display: &DisplayOptions) -> Result<ExitStatus, Failure> {
    let initial = eval::initial_states(&program.model).next();
    let initial = initial.ok_or_else(|| Failure::from("the program has no initial state".to_owned()))?;
    let simulation = Simulation::new(&program.model, initial);
    let mut stepper = Stepper { program, simulation, choices: Vec::new(), style: terminal::style_for_stdout(display) };
    let first = HELP.to_owned() + &stepper.look();
    terminal::print(&first)?;
    let mut input = io::stdin().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        let n_read = input.read_until(b'\n', &mut line).map_err(|error| format!("<stdin>: {error}"))?;
        let words = String::from_utf8_lossy(&line);
        match Word::read(words.trim()) {
            _ if n_read == 0 => break,
            Word::Quit => break,
            word => terminal::print(&stepper.obey(word))?,
        }
    }
    terminal::print("\n")?;
    Ok(ExitStatus::AsExpected)
}

/// What the user wants.
enum Word {
    Take(usize),
    Undo,
    State,
    Quit,
    Help,
    Unknown(String),
}

impl Word {
    fn read(word: &str) -> Self {
        match word {
            "u" | "undo" => Word::Undo,
            "s" | "state" => Word::State,
            "q" | "quit" | "exit" => Word::Quit,
            "" | "?" | "h" | "help" => Word::Help,
            number => number.parse().map_or_else(|_| Word::Unknown(number.to_owned()), Word::Take),
        }
    }
}

struct Stepper<'p> {
    program: &'p Program,
    simulation: Simulation<'p>,
    /// The steps that were last listed.
    choices: Vec<Step>,
    style: Style,
}

impl Stepper<'_> {
    fn obey(&mut self, word: Word) -> String {
        match word {
            Word::Take(number) => self.take(number),
            Word::Undo if self.simulation.undo() => self.look(),
            Word::Undo => "there is nothing to undo\n> ".to_owned(),
            Word::State => replay::whole_state(&self.program.model, self.simulation.state(), &self.style) + "> ",
            Word::Unknown(word) => {
                let word: String = report::text::clean(&word).chars().take(40).collect();
                format!("`{word}` is not one of these: {HELP}> ")
            }
            Word::Help | Word::Quit => format!("{HELP}> "),
        }
    }

    fn take(&mut self, number: usize) -> String {
        let Some(step) = number.checked_sub(1).and_then(|index| self.choices.get(index)).cloned() else {
            return format!("there is no step {number}; there are {}\n> ", self.choices.len());
        };
        match step.result.clone() {
            Err(fault) => format!("this step is an error of the program: {}\n> ", fault.fault),
            Ok(after) => {
                let before = self.simulation.state().clone();
                self.simulation.take(step.by.clone(), after);
                let nth = self.simulation.n_steps();
                sim::step_line(self.page(), nth, &before, &step) + &self.look()
            }
        }
    }

    /// The present state, what is wrong in it, and the steps that can be taken.
    fn look(&mut self) -> String {
        let model = &self.program.model;
        self.choices = self.simulation.choices();
        let state = self.simulation.state();
        let mut text = sim::state_line(model, state, &self.style);
        match self.simulation.decides(&simulation::watched_by_default(model)) {
            Ok(None) => {}
            Ok(Some(decision)) => {
                text += &format!("here {} is violated\n", model.properties[decision.property].name);
            }
            Err((property, reason)) => {
                text += &format!("here {} has no value: {reason}\n", model.properties[property].name);
            }
        }
        text + &sim::choices(self.page(), state, &self.choices) + "> "
    }

    fn page(&self) -> Page<'_> {
        Page { model: &self.program.model, source: &self.program.source, style: &self.style }
    }
}
