//! `sim --interactive`: the user is the scheduler.
//!
//! In: one word a line on the standard input. Out: after each, the state and a numbered list of the steps that can be taken.
//! It works line by line, on a terminal as well as in a pipe; the end of the input ends it.

use std::io::{self, BufRead};
use std::path::Path;

use driver::check::Program;
use driver::select;
use driver::simulation::{self, Simulation, SplitMix64, Watch};
use engine::PropertyId;
use evidence::itf;
use model::eval::{self, Step};
use model::property::PropertyKind;
use report::{Page, Style, replay, sim};

use crate::failure::Failure;
use crate::files::Target;
use crate::options::DisplayOptions;
use crate::status::ExitStatus;
use crate::terminal;

const HELP: &str = "a number takes that step, u undoes one, s shows the whole state, q quits, ? shows all words\n";

const ALL: &str = "\
  3          take step 3
  x, x 20    take a step at random, or twenty; a breakpoint ends it
  u, u 5     undo a step, or five
  r, r 5     take again what was undone
  s          show the whole state
  t          show the run so far
  p EXPR     evaluate an expression over the program's names
  b NAME     stop random steps where this property is decided
  w FILE     write the run so far as ITF
  q          quit
";

/// Where a user begins, and what is kept.
pub struct Session<'m> {
    /// The run that is gone on with, if there is one.
    pub begun: Option<Simulation<'m>>,
    /// Where random steps start.
    pub seed: u64,
    /// The file that the run is written to.
    pub kept: Option<Target>,
}

/// Steps through a program until the user has enough.
pub fn run(program: &Program, session: Session<'_>, display: &DisplayOptions) -> Result<ExitStatus, Failure> {
    let Session { begun, seed, kept } = session;
    let initial = eval::initial_states(&program.model).next();
    let initial = initial.ok_or_else(|| Failure::from("the program has no initial state".to_owned()))?;
    let simulation = begun.unwrap_or_else(|| Simulation::new(&program.model, initial));
    let mut stepper = Stepper {
        program,
        simulation,
        choices: Vec::new(),
        watched: simulation::watched_by_default(&program.model),
        random: SplitMix64::new(seed),
        style: terminal::style_for_stdout(display),
    };
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
    if let Some(target) = kept {
        target.write(&stepper.itf())?;
    }
    terminal::print("\n")?;
    Ok(ExitStatus::AsExpected)
}

/// What the user wants.
enum Word {
    Take(usize),
    Random(usize),
    Undo(usize),
    Redo(usize),
    State,
    Trace,
    Evaluate(String),
    Break(String),
    Write(String),
    Quit,
    Help,
    Unknown(String),
}

impl Word {
    fn read(line: &str) -> Self {
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let times = || if rest.is_empty() { Some(1) } else { rest.parse().ok() };
        match (word, times()) {
            ("u" | "undo", Some(times)) => Word::Undo(times),
            ("x" | "random", Some(times)) => Word::Random(times),
            ("r" | "redo", Some(times)) => Word::Redo(times),
            ("s" | "state", _) if rest.is_empty() => Word::State,
            ("t" | "trace", _) if rest.is_empty() => Word::Trace,
            ("p" | "print", _) if !rest.is_empty() => Word::Evaluate(rest.to_owned()),
            ("b" | "break", _) if !rest.is_empty() => Word::Break(rest.to_owned()),
            ("w" | "write", _) if !rest.is_empty() => Word::Write(rest.to_owned()),
            ("q" | "quit" | "exit", _) if rest.is_empty() => Word::Quit,
            ("" | "?" | "h" | "help", _) if rest.is_empty() => Word::Help,
            _ => line.parse().map_or_else(|_| Word::Unknown(line.to_owned()), Word::Take),
        }
    }
}

struct Stepper<'p> {
    program: &'p Program,
    simulation: Simulation<'p>,
    /// The steps that were last listed.
    choices: Vec<Step>,
    /// The properties that end random steps.
    watched: Vec<PropertyId>,
    random: SplitMix64,
    style: Style,
}

impl Stepper<'_> {
    fn obey(&mut self, word: Word) -> String {
        match word {
            Word::Take(number) => self.take(number),
            Word::Random(times) => self.go(times),
            Word::Undo(times) => match (0..times).take_while(|_| self.simulation.undo()).count() {
                0 => "there is nothing to undo\n> ".to_owned(),
                _ => self.look(),
            },
            Word::Redo(times) => match (0..times).take_while(|_| self.simulation.redo()).count() {
                0 => "there is nothing to take again\n> ".to_owned(),
                _ => self.look(),
            },
            Word::State => replay::whole_state(&self.program.model, self.simulation.state(), &self.style) + "> ",
            Word::Trace => replay::text(self.page(), &self.simulation.so_far()) + "> ",
            Word::Evaluate(text) => {
                let watch = Watch::new(&self.program.source, &self.program.model, &text);
                let value = watch.and_then(|watch| watch.value(self.simulation.state()));
                format!("{}\n> ", report::text::clean(&value.unwrap_or_else(|error| error)))
            }
            Word::Break(name) => match select::find(&self.program.model, &name) {
                Err(error) => format!("{error}\n> "),
                Ok(property) => {
                    self.watched.push(property);
                    format!("random steps stop where {name} is decided\n> ")
                }
            },
            Word::Write(path) => match Target::new(Path::new(&path)).and_then(|target| target.write(&self.itf())) {
                Ok(()) => format!("{path}: {} steps\n> ", self.simulation.n_steps()),
                Err(error) => format!("{error}\n> "),
            },
            Word::Unknown(word) => {
                let word: String = report::text::clean(&word).chars().take(40).collect();
                format!("`{word}` is not one of these: {HELP}> ")
            }
            Word::Help | Word::Quit => format!("{ALL}> "),
        }
    }

    /// Takes steps at random until there are enough, nobody can move, or something is decided.
    fn go(&mut self, times: usize) -> String {
        for nth in 0..times {
            let is_decided = nth > 0 && !matches!(self.simulation.decides(&self.watched), Ok(None));
            if is_decided || !self.simulation.take_random(&mut self.random) {
                break;
            }
        }
        self.look()
    }

    fn itf(&self) -> String {
        let Program { model, source, .. } = self.program;
        let property = match self.simulation.decides(&self.watched) {
            Ok(Some(decision)) => model.properties[decision.property].name.as_str(),
            _ => "",
        };
        itf::to_text(&itf::to_itf(model, source, property, &self.simulation.so_far()))
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
        match self.simulation.decides(&self.watched) {
            Ok(None) => {}
            Ok(Some(decision)) => {
                let property = &model.properties[decision.property];
                let word = if matches!(property.kind, PropertyKind::Reachable(_)) { "reached" } else { "violated" };
                text += &format!("here {} is {word}\n", property.name);
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
