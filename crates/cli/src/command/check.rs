//! `check`: programs in, verdicts out.
//!
//! Everything that can be wrong with the call is said before any work starts: the method, the parameters, the files to read
//! and to write, the names of properties. A program that is refused does not stop the others; the exit status tells.

use driver::check::{Check, Limits, Program};
use driver::instances::Request;
use driver::load::{Batch, Loaded, Refusal};
use driver::methods::{self, Method};
use driver::select::{self, Glob};
use driver::teach::teach;
use engine::PropertyId;
use engine::run::Run;
use model::Model;
use report::human::{Context, Verbosity};
use report::table::Entry;
use report::{Files, human, json, table};

use crate::failure::Failure;
use crate::kept::{Keeper, Kind};
use crate::options::{CheckOptions, DisplayOptions, Format, Shown};
use crate::output::Output;
use crate::progress::Progress;
use crate::report_page::{Pictures, ReportPage, Reported};
use crate::status::ExitStatus;
use crate::{limits, messages};

/// Checks the programs.
pub fn run(options: &CheckOptions, display: &DisplayOptions) -> Result<ExitStatus, Failure> {
    let method = methods::find(&options.method)?;
    let request = Request::new(options.instance.sizes, options.instance.given.clone())?.with_goals(&options.goal.goals);
    let output = Output::new(&options.output, display)?;
    let batch = driver::load::load(&options.files, &request)?;
    let globs: Vec<Glob> = options.property.iter().map(Glob::new).collect();
    let questions = questions(&batch, &globs)?;
    let keeper = |kind, path| Keeper::new(kind, path, &programs(&batch));
    let traces = options.trace.as_deref().map(|path| keeper(Kind::Traces, path)).transpose()?;
    let proofs = options.proof.as_deref().map(|path| keeper(Kind::Proofs, path)).transpose()?;
    let report = options.report.as_deref().map(ReportPage::new).transpose()?;
    messages::batch(&batch, "nothing was checked", display);
    let checker = Checker {
        method,
        limits: limits::of(&options.limits),
        progress: Progress::new(options.output.progress, display.quiet),
        traces,
        proofs,
        report,
        teaches: options.report.is_some()
            || !display.quiet && (output.format == Format::Json || batch.items.len() == 1 || display.verbose),
    };
    let mut outcomes = checker.check_all(batch, questions)?;
    if let Some(report) = &checker.report {
        report.write(outcomes.iter().map(Outcome::reported))?;
    }
    if output.format != Format::Json {
        // They are on the standard error already.
        outcomes.iter_mut().for_each(Outcome::forget_warnings);
    }
    show(&outcomes, &output, (display, options.show.contains(&Shown::Guarantees)))?;
    Ok(ExitStatus::of_all(outcomes.iter().map(Outcome::status)))
}

/// What came of one program.
enum Outcome {
    /// It was checked; its evidence is in these files, and these are the pictures for a report.
    Checked(Box<Run>, Files, Option<Pictures>),
    /// It was refused, and the messages were shown.
    Refused(Refusal),
}

impl Outcome {
    fn status(&self) -> ExitStatus {
        match self {
            Outcome::Refused(_) => ExitStatus::BadInput,
            Outcome::Checked(run, ..) => {
                let answers = run.results.iter().map(|result| result.as_expected(&run.model));
                ExitStatus::of_all(answers.map(ExitStatus::of_answer))
            }
        }
    }

    fn reported(&self) -> Reported<'_> {
        match self {
            Outcome::Refused(refusal) => Reported::Refused(refusal),
            Outcome::Checked(run, files, pictures) => Reported::Checked { run, files, pictures: pictures.as_ref() },
        }
    }

    fn forget_warnings(&mut self) {
        if let Outcome::Checked(run, ..) = self {
            run.warnings.clear();
        }
    }
}

/// How everything is checked.
struct Checker {
    method: &'static Method,
    limits: Limits,
    progress: Progress,
    traces: Option<Keeper>,
    proofs: Option<Keeper>,
    report: Option<ReportPage>,
    /// Whether more is found out about each answer: where it is shown.
    teaches: bool,
}

impl Checker {
    fn check_all(&self, batch: Batch, questions: Vec<Vec<PropertyId>>) -> Result<Vec<Outcome>, Failure> {
        let mut questions = questions.into_iter();
        let mut outcomes = Vec::new();
        for item in batch.items {
            match item {
                Loaded::Refused(refusal) => outcomes.push(Outcome::Refused(refusal)),
                Loaded::Program(program) => {
                    let asked = questions.next().unwrap_or_default();
                    if !asked.is_empty() {
                        outcomes.push(self.check(*program, &asked)?);
                    }
                }
            }
        }
        Ok(outcomes)
    }

    fn check(&self, program: Program, questions: &[PropertyId]) -> Result<Outcome, Failure> {
        let watcher = self.progress.watch(&program.model, questions.len(), self.limits.time);
        let checker = self.method.checker();
        let check = Check { model: &program.model, questions, checker: &*checker, limits: &self.limits };
        let mut checked = check.run(&watcher).map_err(|failure| Failure::Internal(failure.to_string()))?;
        if self.teaches {
            teach(&check, &mut checked).map_err(|failure| Failure::Internal(failure.to_string()))?;
        }
        drop(watcher);
        let run = program.into_run(checked);
        let written = |keeper: &Option<Keeper>| match keeper {
            Some(keeper) => keeper.write(&run),
            None => Ok(Default::default()),
        };
        let files = Files { traces: written(&self.traces)?, proofs: written(&self.proofs)? };
        let pictures = self.report.as_ref().and_then(|report| report.pictures(&run, &self.limits));
        Ok(Outcome::Checked(Box::new(run), files, pictures))
    }
}

fn programs(batch: &Batch) -> Vec<&Program> {
    let items = batch.items.iter();
    items.filter_map(|item| if let Loaded::Program(program) = item { Some(&**program) } else { None }).collect()
}

/// The questions for each program, in their order. Where all programs are refused there is nobody to ask.
fn questions(batch: &Batch, globs: &[Glob]) -> Result<Vec<Vec<PropertyId>>, Failure> {
    let models: Vec<&Model> = programs(batch).iter().map(|program| &program.model).collect();
    if models.is_empty() {
        return Ok(Vec::new());
    }
    select::questions(&models, globs).map_err(Failure::Input)
}

/// Shows the results: one run in full, several in a table; with `-v` both.
fn show(outcomes: &[Outcome], output: &Output, (display, guarantees): (&DisplayOptions, bool)) -> Result<(), Failure> {
    if output.format == Format::Json {
        return show_json(outcomes, output);
    }
    let in_full = |outcome: &Outcome| match outcome {
        Outcome::Refused(_) => String::new(),
        Outcome::Checked(run, files, _) => {
            let context = Context { verbosity: verbosity(display), files: files.clone(), guarantees };
            human::run(run, &context, &output.style)
        }
    };
    match outcomes {
        // The messages are on the standard error, and there is nothing else to say.
        [Outcome::Refused(_)] => Ok(()),
        [one] => output.write(&in_full(one)),
        several => {
            let mut text = String::new();
            if display.verbose || guarantees {
                several.iter().for_each(|outcome| text += &format!("{}\n", in_full(outcome)));
            }
            output.write(&(text + &draw_table(several, output)))
        }
    }
}

fn draw_table(outcomes: &[Outcome], output: &Output) -> String {
    let whys: Vec<String> = outcomes.iter().map(why_refused).collect();
    let entries: Vec<Entry<'_>> = outcomes
        .iter()
        .zip(&whys)
        .map(|(outcome, why)| match outcome {
            Outcome::Checked(run, ..) => Entry::Checked(run),
            Outcome::Refused(refusal) => Entry::Refused { name: refusal.source.name(), why },
        })
        .collect();
    table::draw(&entries, &output.style)
}

fn why_refused(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Checked(..) => String::new(),
        Outcome::Refused(refusal) => messages::count_errors(&refusal.diagnostics),
    }
}

/// A document of what was checked. A file is not written where nothing was.
fn show_json(outcomes: &[Outcome], output: &Output) -> Result<(), Failure> {
    let runs: Vec<(&Run, &Files)> = outcomes
        .iter()
        .filter_map(|outcome| match outcome {
            Outcome::Checked(run, files, _) => Some((&**run, files)),
            Outcome::Refused(_) => None,
        })
        .collect();
    match (&runs[..], outcomes) {
        ([], [Outcome::Refused(refusal)]) if output.is_stdout() => {
            output.write_json(&json::refused(&refusal.source, &refusal.diagnostics))
        }
        ([], _) => Ok(()),
        (runs, _) => output.write_json(&json::document(runs)),
    }
}

fn verbosity(display: &DisplayOptions) -> Verbosity {
    match (display.quiet, display.verbose) {
        (true, _) => Verbosity::Quiet,
        (_, true) => Verbosity::Verbose,
        _ => Verbosity::Normal,
    }
}
