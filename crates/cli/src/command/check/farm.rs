//! `check --hosts`: each question on one of several hosts, and one document of all answers.
//!
//! In: what would be checked here. Out: the same document, in which each result is the one that a host gave. The document is made as if nothing had been
//! decided; then the answers take the places of the open results, so that its shape is that of a call without hosts.

use std::fs;
use std::path::Path;
use std::time::Duration;

use base::{SourceFile, StopReason};
use driver::check::{CheckLimits, Checked, Program};
use driver::files::{self, FileError};
use driver::load::{Batch, Loaded, Refusal};
use engine::insight::Insight;
use engine::run::{Audit, PropertyResult};
use engine::{PropertyId, Statistics, Verdict};
use hosts::call::{Request, SENT, SentFile};
use hosts::farm::{self, Outcome, Question};
use hosts::file::{self, Host};
use report::{Files, Item, dealt, json};
use serde_json::Value as Json;

use super::is_block_name;
use crate::failure::Failure;
use crate::farm_progress::FarmProgress;
use crate::options::{CheckFormat, CheckOptions, Fair, InstanceOptions, PromelaOptions};
use crate::output::Outputs;
use crate::progress::Progress;
use crate::status::ExitStatus;
use crate::terminal;

/// The name of what came by the standard input, where it is sent.
const STDIN_FILE: &str = "stdin.pw";

/// Reads the host file.
///
/// # Errors
/// A file that cannot be read, and lines that are wrong.
pub fn hosts(path: &Path) -> Result<Vec<Host>, Failure> {
    let text = files::read(path)?;
    let named = |why: String| format!("{}: {why}", path.display());
    file::parse(&String::from_utf8_lossy(&text)).map_err(|wrong| Failure::Input(wrong.into_iter().map(named).collect()))
}

/// What is asked, and of whom.
pub struct FarmQuestions {
    /// The programs.
    pub batch: Batch,
    /// For each program that can be checked its questions.
    pub questions: Vec<Vec<PropertyId>>,
    /// What each question may use.
    pub limits: CheckLimits,
    /// The hosts.
    pub hosts: Vec<Host>,
}

/// A program with its questions.
struct Posed {
    program: Box<Program>,
    properties: Vec<PropertyId>,
}

/// What the document is about, in the order of the call.
enum Entry {
    Posed(Posed),
    Refused(Refusal),
}

impl Entry {
    fn questions(&self, options: &CheckOptions) -> Result<Vec<Question>, Failure> {
        match self {
            Entry::Posed(posed) => posed.questions(options),
            Entry::Refused(_) => Ok(Vec::new()),
        }
    }
}

impl FarmQuestions {
    /// Asks the hosts, and writes what they say.
    pub fn check(self, options: &CheckOptions, outputs: &Outputs, progress: Progress) -> Result<ExitStatus, Failure> {
        refuse(options)?;
        let has_refused = self.batch.items.iter().any(|item| matches!(item, Loaded::Refused(_)));
        let mut properties = self.questions.into_iter();
        let mut entries = Vec::new();
        for item in self.batch.items {
            match item {
                Loaded::Refused(refusal) => entries.push(Entry::Refused(refusal)),
                Loaded::Program(program) => {
                    let properties = properties.next().unwrap_or_default();
                    if !properties.is_empty() {
                        entries.push(Entry::Posed(Posed { program, properties }));
                    }
                }
            }
        }
        let questions = entries.iter().map(|one| one.questions(options)).collect::<Result<Vec<_>, _>>()?.concat();
        let reached = farm::compare_versions(self.hosts).map_err(Failure::Input)?;
        reached.notes.iter().for_each(|note| terminal::complain(&format!("note: {note}; it is left out\n")));
        let progress = FarmProgress::new(progress);
        let asked_again = |why: &str| progress.note(&format!("note: {why}\n"));
        let answered = |n_answered: usize, n_questions: usize| progress.answered(n_answered, n_questions);
        let asker = farm::ByCall { time_limit: options.limits.timeout, asked_again: &asked_again, answered: &answered };
        let outcomes = farm::deal(&reached.hosts, &questions, &asker, &self.limits.cancel);
        drop(progress);
        let (mut document, answers) = merged(entries, &outcomes, options, &self.limits)?;
        let refused = has_refused.then_some(ExitStatus::BadInput);
        let status = ExitStatus::of_all(answers.into_iter().map(ExitStatus::of_answer).chain(refused));
        document["status"] = status.code().into();
        outputs.write(|format, output| match format {
            CheckFormat::Json => Some(format!("{document:#}\n")),
            _ => Some(dealt::table(&document, &output.style)),
        })?;
        Ok(status)
    }
}

/// What does not come back from other hosts is refused.
fn refuse(options: &CheckOptions) -> Result<(), Failure> {
    let files = [("--trace", &options.trace), ("--proof", &options.proof), ("--report", &options.report)];
    let mut wrong: Vec<String> = files
        .iter()
        .filter(|(_, path)| path.is_some())
        .map(|(name, _)| format!("`{name}` does not go with `--hosts`; check the property again without it"))
        .collect();
    if options.promela.ltl.iter().filter(|one| !is_block_name(one)).count() > 1 {
        wrong.push(
            "with `--hosts` there is one formula of `--ltl`; ask about the others in calls of their own".to_owned(),
        );
    }
    if options.method.len() > 1 {
        wrong.push("with `--hosts` there is one method".to_owned());
    }
    if options.fail_fast {
        wrong.push("`--fail-fast` does not go with `--hosts`, which asks all questions at once".to_owned());
    }
    let is_known = |format: &CheckFormat| matches!(format, CheckFormat::Human | CheckFormat::Json);
    if options.output.formats.iter().any(|one| !is_known(&one.format)) {
        wrong.push("with `--hosts` results are `human` or `json`".to_owned());
    }
    if wrong.is_empty() { Ok(()) } else { Err(Failure::Input(wrong)) }
}

impl Posed {
    /// One question for each property: the call, here and elsewhere.
    fn questions(&self, options: &CheckOptions) -> Result<Vec<Question>, Failure> {
        let sent = SentProgram::new(&self.program.source)?;
        let values = instance_words(&self.program, &options.instance);
        let weight = weight(&self.program);
        let question = |&property: &PropertyId| {
            let words = |file: &str| call(file, &values, &self.program.model.properties[property].name, options);
            let elsewhere = Request { files: sent.files.clone(), ..Request::new(words(&sent.elsewhere)) };
            let here = match &sent.here {
                Some(path) => Request::new(words(path)),
                None => elsewhere.clone(),
            };
            Question { weight, here, elsewhere }
        };
        Ok(self.properties.iter().map(question).collect())
    }
}

/// How large an instance is, for want of something better: the sum of its parameters, and of what the call gives.
fn weight(program: &Program) -> i64 {
    let parameters = &program.model.parameters;
    let is_parameter = |name: &str| parameters.iter().any(|parameter| parameter.name == name);
    let macros = program.given.iter().filter(|(name, _)| !is_parameter(name)).map(|(_, value)| *value);
    parameters.iter().map(|parameter| parameter.value).chain(macros).fold(0, i64::saturating_add)
}

/// The words that say which instance of a program it is, on every host.
pub fn instance_words(program: &Program, options: &InstanceOptions) -> Vec<String> {
    let mut words = Vec::new();
    let mut add = |name: &str, value: String| words.extend([name.to_owned(), value]);
    let parameters = &program.model.parameters;
    // What a macro of Promela is given is no parameter of the Model, and what is one need not be given.
    match is_pw(Path::new(program.source.name())) {
        true => parameters.iter().for_each(|one| add("-D", format!("{}={}", one.name, one.value))),
        false => program.given.iter().for_each(|(name, value)| add("-D", format!("{name}={value}"))),
    }
    options.instances.iter().for_each(|(name, count)| add("--instances", format!("{name}={count}")));
    if options.lossy {
        words.push("--lossy".to_owned());
    }
    words
}

/// The words about programs in Promela: formulas that have no name in the text, and what is assumed of runs.
pub fn promela_words(options: &PromelaOptions) -> Vec<String> {
    let mut words = Vec::new();
    let mut add = |name: &str, value: &str| words.extend([name.to_owned(), value.to_owned()]);
    options.ltl.iter().filter(|one| !is_block_name(one)).for_each(|formula| add("--ltl", formula));
    match options.fair {
        Some(Fair::Weak) => add("--fair", "weak"),
        Some(Fair::Strong) => add("--fair", "strong"),
        None => {}
    }
    if options.progress_cycles {
        words.push("--progress-cycles".to_owned());
    }
    words
}

/// The words of a call that answers one question about an instance.
fn call(file: &str, instance: &[String], property: &str, options: &CheckOptions) -> Vec<String> {
    let mut words = vec!["check".to_owned(), file.to_owned()];
    words.extend(instance.iter().cloned());
    words.extend(promela_words(&options.promela));
    let mut add = |name: &str, value: String| words.extend([name.to_owned(), value]);
    add("--property", property.to_owned());
    add("--method", options.method.join(","));
    options.set.iter().for_each(|one| add("--set", one.clone()));
    options.goal.goals.iter().for_each(|one| add("--goal", one.clone()));
    options.deny.iter().for_each(|kind| add("--deny", kind.0.name().to_owned()));
    if let Some(time) = options.limits.timeout {
        add("--timeout", format!("{}ms", time.as_millis().max(1)));
    }
    if let Some(bytes) = options.limits.memory {
        add("--memory", bytes.to_string());
    }
    if let Some(threads) = options.limits.threads {
        add("-j", threads.to_string());
    }
    if let Some(directory) = &options.disk.disk {
        add("--disk", directory.display().to_string());
    }
    add("--format", "json".to_owned());
    add("--progress", "none".to_owned());
    if options.all_n {
        words.push("--all-n".to_owned());
    }
    words
}

/// Whether a program is one of Piecewise's own language, as what comes by the standard input is.
pub fn is_pw(path: &Path) -> bool {
    path.as_os_str() == files::STDIN_NAME || path.extension().is_some_and(|ending| ending == "pw")
}

/// A program as it is asked about: by a word of the call here, and by one elsewhere.
pub struct SentProgram {
    /// Its path; `None` where it came by the standard input, so that the text is sent here, too.
    pub here: Option<String>,
    /// Its name among the files.
    pub elsewhere: String,
    /// What is sent.
    pub files: Vec<SentFile>,
}

impl SentProgram {
    /// A program that was read.
    ///
    /// # Errors
    /// What stands beside it and cannot be read.
    pub fn new(source: &SourceFile) -> Result<Self, Failure> {
        let path = Path::new(source.name());
        let is_file = source.name() != files::STDIN_NAME;
        let name = if is_file { path.file_name().unwrap_or_default().to_string_lossy() } else { STDIN_FILE.into() };
        Ok(SentProgram {
            here: is_file.then(|| path.display().to_string()),
            elsewhere: format!("{SENT}{name}"),
            files: sent_files(source)?,
        })
    }
}

/// A program, and what stands beside it under the same name or is included by it.
///
/// # Errors
/// What cannot be read.
pub fn sent_files(source: &SourceFile) -> Result<Vec<SentFile>, Failure> {
    if source.name() == files::STDIN_NAME {
        return Ok(vec![SentFile { name: STDIN_FILE.to_owned(), text: source.text().to_owned() }]);
    }
    let path = Path::new(source.name());
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = fs::read_dir(folder).map_err(|error| FileError::from_io(folder, &error))?;
    let mut sent = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let belongs = Path::new(&name) == path.file_name().unwrap_or_default()
            || name.strip_prefix(&stem).is_some_and(|rest| {
                [".reach", ".spec", ".init"].iter().any(|ending| rest.ends_with(ending)) && rest.starts_with('.')
            });
        if belongs {
            let text = String::from_utf8_lossy(&files::read(&entry.path())?).into_owned();
            sent.push(SentFile { name, text });
        }
    }
    let text = sent.iter().find(|file| Path::new(&file.name) == path.file_name().unwrap_or_default());
    let included = text.map(|file| files::included(path, &file.text)).unwrap_or_default();
    sent.extend(included.into_iter().map(|(name, text)| SentFile { name, text }));
    Ok(sent)
}

/// One document of all answers, and for each whether it is the expected one.
fn merged(
    entries: Vec<Entry>,
    outcomes: &[Outcome],
    options: &CheckOptions,
    limits: &CheckLimits,
) -> Result<(Json, Vec<Option<bool>>), Failure> {
    let mut left = outcomes.iter();
    let (mut runs, mut given) = (Vec::new(), Vec::new());
    for entry in entries {
        let Posed { program, properties } = match entry {
            Entry::Posed(posed) => posed,
            Entry::Refused(refusal) => {
                runs.push(Err(refusal));
                given.push(None);
                continue;
            }
        };
        let outcomes: Vec<&Outcome> = properties.iter().zip(&mut left).map(|(_, outcome)| outcome).collect();
        let results = properties.iter().zip(&outcomes).map(|(&property, outcome)| open(property, outcome)).collect();
        let answers = properties
            .iter()
            .zip(&outcomes)
            .map(|(&property, outcome)| answer(outcome, &program.model.properties[property].name));
        given.push(Some(answers.collect::<Result<Vec<Option<Json>>, Failure>>()?));
        let nothing = Checked { results, time: Duration::ZERO, processor_time: None, method: "auto" };
        runs.push(Ok(program.explained(nothing, limits)));
    }
    let none = Files::default();
    let items = runs.iter().map(|run: &Result<_, Refusal>| match run {
        Ok(run) => Item::Checked(run, &none),
        Err(refusal) => Item::Refused(&refusal.source, &refusal.diagnostics),
    });
    let items: Vec<Item<'_>> = items.collect();
    let mut document = json::value_of(&json::document(&items, 0));
    let mut expected = Vec::new();
    for (run, answers) in dealt::runs(&mut document).into_iter().zip(given) {
        let Some(answers) = answers else { continue };
        run.insert("method".to_owned(), options.method.join(",").into());
        dealt::fill(run, answers);
        expected.extend(dealt::expected(run));
    }
    dealt::add_sweeps(&mut document);
    Ok((document, expected))
}

/// A result that no host gave yet.
fn open(property: PropertyId, outcome: &Outcome) -> PropertyResult {
    let reason = match outcome {
        Outcome::Lost { host, why } => StopReason::HostLost { host: host.clone(), why: why.clone() },
        Outcome::Answered(_) | Outcome::Cancelled => StopReason::Cancelled,
    };
    PropertyResult {
        property,
        method: "auto",
        verdict: Verdict::Unknown(reason),
        audit: Audit::NotDone,
        statistics: Statistics::default(),
        insight: Insight::default(),
        denied: Vec::new(),
    }
}

/// The result that a host gave; `None` where it died.
fn answer(outcome: &Outcome, property: &str) -> Result<Option<Json>, Failure> {
    let Outcome::Answered(ended) = outcome else { return Ok(None) };
    let messages = || ended.messages.lines().map(|line| line.trim_start_matches("error: ").to_owned()).collect();
    match ended.status {
        Some(2) => return Err(Failure::Input(messages())),
        Some(0 | 1 | 3) => {}
        _ => return Err(Failure::Internal(ended.messages.clone())),
    }
    let mut document: Json =
        serde_json::from_str(&ended.output).map_err(|error| Failure::Internal(format!("a host answers: {error}")))?;
    let found = dealt::result(&mut document, property);
    found.map(Some).ok_or_else(|| Failure::Internal(format!("a host does not answer `{property}`")))
}
