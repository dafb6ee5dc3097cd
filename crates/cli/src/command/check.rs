//! `check`: programs in, verdicts out.
//!
//! Everything that can be wrong with the call is said before any work starts: the method, the parameters, the files to read
//! and to write, the names of properties. A program that is refused does not stop the others; the exit status tells.

pub mod farm;
mod show;

use std::time::Instant;

use driver::check::{Check, CheckLimits, Checked, Program};
use driver::every_n::{self, EverySizeAnswers};
use driver::instances::Request;
use driver::load::{Batch, Loaded, Refusal};
use driver::methods;
use driver::mistake::Mistake;
use driver::select::{self, Glob};
use driver::teach::{every_size, other_n, teach, teach_vacuity};
use engine::denied::Denied;
use engine::{Method, PropertyId};
use explain::Explained;
use model::Model;
use report::document::EventDocument;
use report::{Files, Item, Style};

use super::search::{self, Part};
use crate::decided::Decided;
use crate::failure::Failure;
use crate::kept::{Keeper, Kind};
use crate::live::{Listeners, Live, Stream};
use crate::options::{self, CheckOptions, DisplayOptions};
use crate::output::Outputs;
use crate::progress::Progress;
use crate::report_page::{Pictures, ReportPage, Reported};
use crate::status::ExitStatus;
use crate::{instance, limits, messages, terminal};
use farm::FarmQuestions;
use show::Presentation;

/// Checks the programs. A call that cannot be done gives a document with its errors, where one is asked for.
pub fn run(options: &CheckOptions, display: &DisplayOptions) -> Result<ExitStatus, Failure> {
    let outputs = Outputs::new(&options.output, display)?;
    // A stream makes its file anew, so programs are spared before anything is read.
    outputs.spare(options.files.iter().filter_map(|path| path.to_str()))?;
    let stream = outputs.stream()?;
    let done = check_all(options, display, (&outputs, stream.as_ref()));
    let status = match &done {
        Ok(status) => *status,
        Err(failure) => {
            if let Some(stream) = &stream {
                let error = |message| stream.write(&EventDocument::Error { message });
                failure.messages().into_iter().for_each(error);
            }
            outputs.write_failure(failure)?;
            failure.status()
        }
    };
    if let Some(stream) = &stream {
        stream.write(&EventDocument::End { status: status.code() });
    }
    done
}

fn check_all(
    options: &CheckOptions,
    display: &DisplayOptions,
    (outputs, stream): (&Outputs, Option<&Stream>),
) -> Result<ExitStatus, Failure> {
    let mut checkers = checkers(options)?;
    let (request, named) = promela(options)?;
    let (limits, guard) = limits::of(&options.limits);
    let decided = Decided::new(limits.time.is_some() || limits.memory_bytes.is_some());
    let denied: Vec<Denied> = options.deny.iter().map(|kind| kind.0).collect();
    let guarantees = options.show.contains(&options::ShowOption::Guarantees);
    let teller = show::teller(decided.clone(), denied.clone(), (display.clone(), guarantees));
    guard.leaves(outputs.last_documents().told_by(teller), stream);
    if options.hosts.secret.is_some() {
        guard.tells(search::tell_limit);
    }
    let limits = CheckLimits { disk: options.disk.disk.clone(), ..limits };
    let request = request.for_every_size(options.all_n);
    let batch = driver::load::load(&options.files, &request)?;
    guard.allow_for(programs(&batch).len() * checkers.len());
    if options.all_n {
        every_n_allowed(&batch)?;
    }
    outputs.spare(batch.items.iter().map(|item| item.source().name()))?;
    let globs: Vec<Glob> = options.property.iter().chain(&named).map(Glob::new).collect();
    let questions = questions(&batch, &globs)?;
    let keeper = |kind, path| Keeper::new(kind, path, (&programs(&batch), checkers.len() > 1));
    let traces = options.trace.as_deref().map(|path| keeper(Kind::Traces, path)).transpose()?;
    let proofs = options.proof.as_deref().map(|path| keeper(Kind::Proofs, path)).transpose()?;
    let report = options.report.as_deref().map(ReportPage::new).transpose()?;
    messages::batch(&batch, "nothing was checked", display);
    let mut joined = None;
    if search::is_asked(options, batch.items.len()) {
        let program = match (&programs(&batch)[..], batch.items.len()) {
            ([program], 1) => Program::clone(program),
            _ => return Err("one search on many hosts is about one instance of one program".to_owned().into()),
        };
        match search::join(options, &program, &questions[0], &limits)? {
            Part::Member(status) => return Ok(status),
            Part::Whole(search) => {
                checkers = vec![search.checker()];
                joined = Some(search);
            }
        }
    } else if let Some(file) = &options.hosts.hosts {
        guard.leave_time_to_others();
        let asked = FarmQuestions { batch, questions, limits, hosts: farm::hosts(file)? };
        return asked.check(options, outputs, Progress::new(options.output.progress, display.quiet));
    }
    let is_one = batch.items.len() * checkers.len() == 1;
    let checker = Checker {
        checkers,
        all_n: options.all_n,
        limits,
        progress: Progress::new(options.output.progress, display.quiet),
        stream,
        style: terminal::style_for_stderr(display),
        fail_fast: options.fail_fast,
        decided: &decided,
        traces,
        proofs,
        report,
        teaches: options.report.is_some()
            || denied.iter().any(|kind| kind.needs_insight())
            || !display.quiet && (outputs.has_document() || is_one || display.verbose),
        denied,
    };
    let outcomes = checker.check_all(batch, questions)?;
    if let Some(why) = joined.and_then(|joined| joined.refused()) {
        return Err(why.into());
    }
    if let Some(report) = &checker.report {
        report.write(outcomes.iter().map(Outcome::reported))?;
    }
    let status = ExitStatus::of_all(outcomes.iter().map(Outcome::status));
    Presentation { outcomes: &outcomes, display, guarantees, errors: &[], status }.write(outputs)?;
    Ok(status)
}

/// The request with what is asked of programs in Promela, and the properties that `--ltl` names or gives.
fn promela(options: &CheckOptions) -> Result<(Request, Vec<String>), Failure> {
    let request = instance::request(&options.instance)?.with_goals(&options.goal.goals);
    let mut reading = request.reading().clone();
    let mut named = Vec::new();
    for one in &options.promela.ltl {
        if is_block_name(one) {
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

/// Whether what `--ltl` says is the name of a block, and not a formula.
fn is_block_name(text: &str) -> bool {
    text.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
}

/// The methods of the call, each with its settings.
fn checkers(options: &CheckOptions) -> Result<Vec<Box<dyn driver::checker::Checker>>, Failure> {
    let mut methods: Vec<Method> = Vec::new();
    for name in &options.method {
        let method = methods::find(name)?;
        if options.all_n && !matches!(method, Method::Auto | Method::Views | Method::Propagate) {
            return Err(
                format!("`--all-n` goes with methods `views` and `propagate`, and `{name}` is about one size").into()
            );
        }
        if methods.contains(&method) {
            return Err(format!("method `{name}` is named twice").into());
        }
        methods.push(method);
    }
    if options.all_n && methods.len() > 1 {
        return Err("`--all-n` goes with one method".to_owned().into());
    }
    let configured = |&method: &Method| methods::configured(method, &options.set).map_err(Failure::Input);
    methods.iter().map(configured).collect()
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
struct Checker<'a> {
    /// One for each method, in the order of the call.
    checkers: Vec<Box<dyn driver::checker::Checker>>,
    /// Whether questions are about every size.
    all_n: bool,
    limits: CheckLimits,
    progress: Progress,
    /// Where events go.
    stream: Option<&'a Stream>,
    /// How what is announced looks.
    style: Style,
    /// Whether everything ends with the first unexpected verdict.
    fail_fast: bool,
    /// Who notes what is decided.
    decided: &'a Decided,
    traces: Option<Keeper>,
    proofs: Option<Keeper>,
    report: Option<ReportPage>,
    /// Whether more is found out about each answer: where it is shown, or asked for.
    teaches: bool,
    /// What counts as not expected whatever the verdict.
    denied: Vec<Denied>,
}

impl Checker<'_> {
    fn check_all(&self, batch: Batch, questions: Vec<Vec<PropertyId>>) -> Result<Vec<Outcome>, Failure> {
        let n_runs = programs(&batch).len() * self.checkers.len();
        let mut questions = questions.into_iter();
        let (mut outcomes, mut nth) = (Vec::new(), 0);
        for item in batch.items {
            let program = match item {
                Loaded::Refused(refusal) => {
                    self.decided.refuse(&refusal);
                    self.tell_refused(&refusal);
                    outcomes.push(Outcome::Refused(refusal));
                    continue;
                }
                Loaded::Program(program) => program,
            };
            let asked = questions.next().unwrap_or_default();
            let first = outcomes.len();
            let mut program = Some(program);
            for (at, checker) in self.checkers.iter().enumerate() {
                nth += 1;
                // The last method has the program itself: a copy of many cells takes room.
                let is_last = at + 1 == self.checkers.len();
                let own = if is_last { program.take().map(|own| *own) } else { program.as_deref().cloned() };
                let Some(program) = own.filter(|_| !asked.is_empty()) else { continue };
                for outcome in self.check(program, &asked, (nth, n_runs), &**checker)? {
                    let is_unexpected = outcome.status() == ExitStatus::NotAsExpected;
                    outcomes[first..].iter().try_for_each(|before| agree(before, &outcome))?;
                    outcomes.push(outcome);
                    if self.fail_fast && is_unexpected {
                        return Ok(outcomes);
                    }
                }
            }
        }
        Ok(outcomes)
    }

    fn tell_refused(&self, refusal: &Refusal) {
        if let Some(stream) = self.stream {
            let file = refusal.source.name().to_owned();
            let diagnostics = report::json::messages(&refusal.source, &refusal.diagnostics);
            stream.write(&EventDocument::Refused { file, diagnostics });
        }
    }

    /// Checks one program by one method, which is the nth of so many. Answers about every size may be about the program at two sizes.
    fn check(
        &self,
        program: Program,
        questions: &[PropertyId],
        position: (usize, usize),
        checker: &dyn driver::checker::Checker,
    ) -> Result<Vec<Outcome>, Failure> {
        let watcher = self.progress.watch_one_of(&program.model, position, questions.len(), self.limits.time);
        let begun = Instant::now();
        let limits = CheckLimits { cancel: self.limits.cancel.child(), ..self.limits.clone() };
        let listeners =
            Listeners { stream: self.stream, style: &self.style, fail_fast: self.fail_fast, decided: self.decided };
        let live = Live::new((&program, checker.name()), watcher, listeners, limits.cancel.clone());
        live.start(questions);
        let EverySizeAnswers { other, mut checked, mut kept } = match self.all_n {
            true => every_n::check(&program, questions, &limits, &live)?,
            false => {
                let check = Check { model: &program.model, questions, checker, limits: &limits };
                EverySizeAnswers { other: None, checked: check.run_of(&program, &live)?, kept: None }
            }
        };
        checked.method = checker.name();
        if let Some(kept) = &mut kept {
            kept.method = checker.name();
            live.keep((&program, kept), (other.as_ref().unwrap_or(&program), &checked));
        }
        live.finish(other.as_ref().unwrap_or(&program), &mut checked);
        if !self.all_n {
            let check = Check { model: &program.model, questions, checker, limits: &self.limits };
            match self.teaches {
                true => {
                    teach(&check, &mut checked)?;
                    every_size::look(&program, &mut checked, &self.limits_left(begun));
                }
                false => teach_vacuity(&check, &mut checked)?,
            }
        }
        let mut outcomes = Vec::new();
        if let Some(kept) = kept {
            outcomes.push(self.outcome(program.clone(), kept, begun)?);
        }
        outcomes.push(self.outcome(other.unwrap_or(program), checked, begun)?);
        Ok(outcomes)
    }

    /// Answers with all that is shown beside them.
    fn outcome(&self, program: Program, mut checked: Checked, begun: Instant) -> Result<Outcome, Failure> {
        checked.results.iter_mut().for_each(|result| result.deny(&self.denied));
        self.tell_denied(&program, &checked);
        let mut run = program.explained(checked, &self.limits_left(begun));
        if self.teaches && !self.all_n {
            other_n::observe(&mut run, &self.limits_left(begun));
        }
        let written = |keeper: &Option<Keeper>| match keeper {
            Some(keeper) => keeper.write(&run),
            None => Ok(Default::default()),
        };
        let mut files = Files { traces: written(&self.traces)?, ..Files::default() };
        self.decided.written(&files);
        files.proofs = written(&self.proofs)?;
        self.decided.written(&files);
        let pictures = self.report.as_ref().and_then(|report| report.pictures(&run, &self.limits_left(begun)));
        Ok(Outcome::Checked(Box::new(run), files, pictures))
    }

    fn tell_denied(&self, program: &Program, checked: &Checked) {
        let Some(stream) = self.stream else { return };
        for result in checked.results.iter().filter(|result| !result.denied.is_empty()) {
            let about = report::json::about(&program.source, &program.model, checked.method);
            let property = program.model.properties[result.property].name.clone();
            let denied = result.denied.iter().map(|kind| kind.name().to_owned()).collect();
            stream.write(&EventDocument::Denied { about, property, denied });
        }
    }
}

impl Checker<'_> {
    /// The limits for what follows the answers to a program that was begun then.
    fn limits_left(&self, begun: Instant) -> CheckLimits {
        CheckLimits { time: self.limits.time.map(|limit| limit.saturating_sub(begun.elapsed())), ..self.limits.clone() }
    }
}

/// Methods that are compared have to agree about each property, at one size.
fn agree(before: &Outcome, after: &Outcome) -> Result<(), Failure> {
    let (Outcome::Checked(before, ..), Outcome::Checked(after, ..)) = (before, after) else { return Ok(()) };
    if before.model.parameters != after.model.parameters {
        return Ok(());
    }
    for result in &after.results {
        let same = before.results.iter().find(|other| other.property == result.property);
        if let Some(mistake) = same.and_then(|other| Mistake::between(&after.model, other, result)) {
            return Err(mistake.into());
        }
    }
    Ok(())
}

/// A program without parameters has no other sizes; all such programs are named.
fn every_n_allowed(batch: &Batch) -> Result<(), Failure> {
    let wrong: Vec<String> = programs(batch).iter().filter_map(|program| every_n::refusal(program)).collect();
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
