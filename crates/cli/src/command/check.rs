//! `check`: programs in, verdicts out.
//!
//! Everything that can be wrong with the call is said before any work starts: the method, the parameters, the files to read
//! and to write, the names of properties. A program that is refused does not stop the others; the exit status tells.

mod farm;
mod show;

use std::time::Instant;

use driver::check::{Check, Limits, Program};
use driver::every_n;
use driver::instances::Request;
use driver::load::{Batch, Loaded, Refusal};
use driver::methods;
use driver::select::{self, Glob};
use driver::teach::{other_n, teach};
use engine::denied::Denied;
use engine::{Method, PropertyId};
use explain::Explained;
use model::Model;
use report::{Files, Item};

use crate::failure::Failure;
use crate::kept::{Keeper, Kind};
use crate::options::{self, CheckOptions, DisplayOptions};
use crate::output::Outputs;
use crate::progress::Progress;
use crate::report_page::{Pictures, ReportPage, Reported};
use crate::status::ExitStatus;
use crate::{instance, limits, messages};
use farm::Asked;
use show::Shown;

/// Checks the programs.
pub fn run(options: &CheckOptions, display: &DisplayOptions) -> Result<ExitStatus, Failure> {
    let method = methods::find(&options.method)?;
    if options.all_n && !matches!(method, Method::Auto | Method::Views | Method::Propagate) {
        let name = method.name();
        return Err(
            format!("`--all-n` goes with methods `views` and `propagate`, and `{name}` is about one size").into()
        );
    }
    let checker = methods::configured(method, &options.set).map_err(Failure::Input)?;
    let (request, named) = promela(options)?;
    let outputs = Outputs::new(&options.output, display)?;
    let (limits, guard) = limits::of(&options.limits);
    let batch = driver::load::load(&options.files, &request)?;
    guard.allow_for(programs(&batch).len());
    if options.all_n {
        every_n_allowed(&batch)?;
    }
    outputs.spare(batch.items.iter().map(|item| item.source().name()))?;
    let globs: Vec<Glob> = options.property.iter().chain(&named).map(Glob::new).collect();
    let questions = questions(&batch, &globs)?;
    let keeper = |kind, path| Keeper::new(kind, path, &programs(&batch));
    let traces = options.trace.as_deref().map(|path| keeper(Kind::Traces, path)).transpose()?;
    let proofs = options.proof.as_deref().map(|path| keeper(Kind::Proofs, path)).transpose()?;
    let report = options.report.as_deref().map(ReportPage::new).transpose()?;
    messages::batch(&batch, "nothing was checked", display);
    if let Some(file) = &options.hosts.hosts {
        let asked = Asked { batch, questions, limits, hosts: farm::hosts(file)? };
        return asked.check(options, &outputs);
    }
    let denied: Vec<Denied> = options.deny.iter().map(|kind| kind.0).collect();
    let checker = Checker {
        checker,
        all_n: options.all_n,
        limits,
        progress: Progress::new(options.output.progress, display.quiet),
        traces,
        proofs,
        report,
        teaches: options.report.is_some()
            || denied.iter().any(|kind| kind.needs_insight())
            || !display.quiet && (outputs.has_document() || batch.items.len() == 1 || display.verbose),
        denied,
    };
    let outcomes = checker.check_all(batch, questions)?;
    if let Some(report) = &checker.report {
        report.write(outcomes.iter().map(Outcome::reported))?;
    }
    let status = ExitStatus::of_all(outcomes.iter().map(Outcome::status));
    let guarantees = options.show.contains(&options::Shown::Guarantees);
    Shown { outcomes: &outcomes, display, guarantees, status }.write(&outputs)?;
    Ok(status)
}

/// The request with what is asked of programs in Promela, and the properties that `--ltl` names or gives.
fn promela(options: &CheckOptions) -> Result<(Request, Vec<String>), Failure> {
    let request = instance::request(&options.instance)?.with_goals(&options.goal.goals);
    let mut reading = request.reading().clone();
    let mut named = Vec::new();
    for one in &options.promela.ltl {
        let is_name = one.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
        if is_name {
            named.push(one.clone());
        } else {
            named.push(lang::promela::given_name(reading.formulas.len()));
            reading.formulas.push(one.clone());
        }
    }
    reading.is_fair = options.promela.fair == Some(options::Fair::Weak);
    reading.is_strongly_fair = options.promela.fair == Some(options::Fair::Strong);
    reading.progress = options.promela.progress_cycles;
    Ok((request.with_reading(reading), named))
}

/// What came of one program.
enum Outcome {
    /// It was checked; its evidence is in these files, and these are the pictures for a report.
    Checked(Box<Explained>, Files, Option<Pictures>),
    /// It was refused, and the messages were shown.
    Refused(Refusal),
}

impl Outcome {
    fn item(&self) -> Item<'_> {
        match self {
            Outcome::Checked(run, files, _) => Item::Checked(run, files),
            Outcome::Refused(refusal) => Item::Refused(&refusal.source, &refusal.diagnostics),
        }
    }

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
}

/// How everything is checked.
struct Checker {
    checker: Box<dyn driver::checker::Checker>,
    /// Whether questions are about every size.
    all_n: bool,
    limits: Limits,
    progress: Progress,
    traces: Option<Keeper>,
    proofs: Option<Keeper>,
    report: Option<ReportPage>,
    /// Whether more is found out about each answer: where it is shown, or asked for.
    teaches: bool,
    /// What counts as not expected whatever the verdict.
    denied: Vec<Denied>,
}

impl Checker {
    fn check_all(&self, batch: Batch, questions: Vec<Vec<PropertyId>>) -> Result<Vec<Outcome>, Failure> {
        let n_programs = programs(&batch).len();
        let mut questions = questions.into_iter();
        let (mut outcomes, mut nth) = (Vec::new(), 0);
        for item in batch.items {
            match item {
                Loaded::Refused(refusal) => outcomes.push(Outcome::Refused(refusal)),
                Loaded::Program(program) => {
                    let asked = questions.next().unwrap_or_default();
                    nth += 1;
                    if !asked.is_empty() {
                        outcomes.push(self.check(*program, &asked, (nth, n_programs))?);
                    }
                }
            }
        }
        Ok(outcomes)
    }

    /// Checks one program, which is the nth of so many.
    fn check(&self, program: Program, questions: &[PropertyId], position: (usize, usize)) -> Result<Outcome, Failure> {
        let watcher = self.progress.watch_one_of(&program.model, position, questions.len(), self.limits.time);
        let begun = Instant::now();
        let (other, mut checked) = match self.all_n {
            true => every_n::check(&program, questions, &self.limits, &watcher)?,
            false => {
                let check = Check { model: &program.model, questions, checker: &*self.checker, limits: &self.limits };
                let mut checked = check.run(&watcher)?;
                if self.teaches {
                    teach(&check, &mut checked)?;
                }
                (None, checked)
            }
        };
        checked.results.iter_mut().for_each(|result| result.deny(&self.denied));
        drop(watcher);
        let mut run = other.unwrap_or(program).explained(checked, &self.limits_left(begun));
        if self.teaches && !self.all_n {
            other_n::observe(&mut run, &self.limits_left(begun));
        }
        let written = |keeper: &Option<Keeper>| match keeper {
            Some(keeper) => keeper.write(&run),
            None => Ok(Default::default()),
        };
        let files = Files { traces: written(&self.traces)?, proofs: written(&self.proofs)? };
        let pictures = self.report.as_ref().and_then(|report| report.pictures(&run, &self.limits_left(begun)));
        Ok(Outcome::Checked(Box::new(run), files, pictures))
    }
}

impl Checker {
    /// The limits for what follows the answers to a program that was begun then.
    fn limits_left(&self, begun: Instant) -> Limits {
        Limits { time: self.limits.time.map(|limit| limit.saturating_sub(begun.elapsed())), ..self.limits.clone() }
    }
}

/// A program without parameters has no other sizes; all such programs are named.
fn every_n_allowed(batch: &Batch) -> Result<(), Failure> {
    let wrong: Vec<String> = programs(batch).iter().filter_map(|program| every_n::refusal(&program.model)).collect();
    if wrong.is_empty() { Ok(()) } else { Err(Failure::Input(wrong)) }
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
