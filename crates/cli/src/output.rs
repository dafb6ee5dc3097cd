//! Where results go: the standard output, or files that are whole or not there.
//!
//! [`Output`] is one such place; [`Outputs`] are the places of a call that wants several formats at once. Everything about them that can be wrong is
//! said before any work starts.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use base::StopReason;
use driver::files::{FileError, SOURCE_ENDINGS};
use report::Style;

use crate::failed::DocumentKind;
use crate::failure::Failure;
use crate::files::Target;
use crate::formats::Requested;
use crate::live::Stream;
use crate::options::{CheckFormat, CheckOutputOptions, DisplayOptions};
use crate::status::ExitStatus;
use crate::terminal;

/// Where results go, and how they look there.
pub struct Output {
    /// The file; `None` for the standard output.
    target: Option<Target>,
    /// The document that is written there, where the command has one alone.
    document: Option<DocumentKind>,
    pen: Pen,
    /// How text is dressed.
    pub style: Style,
}

impl Output {
    /// Asks whether the file can be written, before any work starts.
    pub fn new(file: Option<&Path>, display: &DisplayOptions) -> Result<Self, Failure> {
        let target = file.map(Target::new).transpose()?;
        let style = match target {
            Some(_) => terminal::style_for_file(display),
            None => terminal::style_for_stdout(display),
        };
        Ok(Output { target, document: None, pen: Pen::default(), style })
    }

    /// The same place, for a document that is there however the call ends.
    pub fn for_document(self, document: Option<DocumentKind>) -> Self {
        Output { document, ..self }
    }

    /// The document of a call that is ended from outside.
    pub fn last_document(&self) -> LastDocuments {
        let path = self.target.as_ref().map(|target| target.path().to_owned());
        let spared = path.as_deref().is_some_and(has_program_name);
        let place = |document| LastPlace { document, path, style: self.style };
        let places = self.document.filter(|_| !spared).map(place);
        LastDocuments { places: places.into_iter().collect(), pen: self.pen.clone(), teller: None }
    }

    /// What a command ends with, whose document says so where it could not be done.
    ///
    /// # Errors
    /// What the command says.
    pub fn ended(&self, done: Result<ExitStatus, Failure>) -> Result<ExitStatus, Failure> {
        if let Err(failure) = &done {
            let last = self.last_document();
            drop(last.put(last.failed(&failure.messages(), failure.status())));
        }
        done
    }

    /// Writes everything that there is to write.
    pub fn write(&self, text: &str) -> Result<(), Failure> {
        match &self.target {
            Some(target) => Ok(target.write(text)?),
            None => Ok(terminal::print(text)?),
        }
    }

    /// Writes a JSON document, with a line end.
    pub fn write_json(&self, document: &serde_json::Value) -> Result<(), Failure> {
        let mut written = self.pen.take();
        written.extend(self.document);
        self.write(&format!("{document:#}\n"))
    }
}

/// The formats of a call, each with its place.
pub struct Outputs {
    all: Vec<(CheckFormat, Output)>,
    /// Where GitHub wants the summary of the job, if annotations are asked for on GitHub.
    summary: Option<PathBuf>,
    pen: Pen,
}

/// Who holds it writes documents; those that are written.
#[derive(Clone, Default)]
struct Pen(Arc<Mutex<Vec<DocumentKind>>>);

impl Pen {
    fn take(&self) -> MutexGuard<'_, Vec<DocumentKind>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The documents of a call that is ended from outside, because a limit is about to be passed.
pub struct LastDocuments {
    places: Vec<LastPlace>,
    pen: Pen,
    teller: Option<Teller>,
}

/// Where a document goes, and how text looks there.
struct LastPlace {
    document: DocumentKind,
    /// The file; `None` for the standard output.
    path: Option<PathBuf>,
    style: Style,
}

/// Says what was decided before a call is ended: the text of each document, and how the call ends then.
pub type Teller = Arc<dyn Fn(&StopReason, &str, &[(DocumentKind, Style)]) -> LastWords + Send + Sync>;

/// What is written at last.
pub struct LastWords {
    /// One for each document, in their order.
    pub texts: Vec<Option<String>>,
    /// How the call ends.
    pub status: ExitStatus,
}

impl LastDocuments {
    /// The same for a call that has something to tell.
    pub fn told_by(self, teller: Teller) -> LastDocuments {
        LastDocuments { teller: Some(teller), ..self }
    }

    /// Says why the call is ended, and what was decided before if that can be put into words in so much time, in each document that is not written
    /// yet; returns how the call ends. Nobody writes after it: the pen is not given back.
    pub fn write(&self, (reason, why): (&StopReason, &str), at_most: Duration) -> ExitStatus {
        let words =
            self.told(reason, why, at_most).unwrap_or_else(|| self.failed(&[why.to_owned()], ExitStatus::Undecided));
        let status = words.status;
        std::mem::forget(self.put(words));
        status
    }

    /// What the teller says, unless it takes too long.
    fn told(&self, reason: &StopReason, why: &str, at_most: Duration) -> Option<LastWords> {
        let teller = Arc::clone(self.teller.as_ref()?);
        let places: Vec<(DocumentKind, Style)> =
            self.places.iter().map(|place| (place.document, place.style)).collect();
        let (reason, why) = (reason.clone(), why.to_owned());
        let (sender, words) = mpsc::channel();
        let tell = move || drop(sender.send(teller(&reason, &why, &places)));
        thread::Builder::new().name(String::from("last words")).spawn(tell).ok()?;
        words.recv_timeout(at_most).ok()
    }

    fn failed(&self, why: &[String], status: ExitStatus) -> LastWords {
        LastWords { texts: self.places.iter().map(|place| place.document.failed(why, status)).collect(), status }
    }

    fn put(&self, words: LastWords) -> MutexGuard<'_, Vec<DocumentKind>> {
        let mut written = self.pen.take();
        for (LastPlace { document, path, .. }, text) in self.places.iter().zip(words.texts) {
            if written.contains(document) {
                continue;
            }
            written.push(*document);
            let Some(text) = text else { continue };
            // There is nobody left whom to tell that it failed.
            match path {
                Some(path) => drop(Target::new(path).and_then(|target| target.write(&text))),
                None => drop(terminal::print(&text)),
            }
        }
        written
    }
}

impl Outputs {
    /// Asks whether everything can be written.
    ///
    /// # Errors
    /// Two formats for one place, and files that cannot be written: all of it at once.
    pub fn new(options: &CheckOutputOptions, display: &DisplayOptions) -> Result<Self, Failure> {
        let mut wrong = crowded(&options.formats);
        let has_own = options.formats.iter().all(|one| one.file.is_some());
        if let Some(file) = options.output.as_ref().filter(|_| has_own) {
            wrong.push(format!("nothing is left to write to {}: every format has a file", file.display()));
        }
        let mut all: Vec<(CheckFormat, Output)> = Vec::new();
        let mut files: Vec<PathBuf> = Vec::new();
        for requested in &options.formats {
            let file = requested.file.as_deref().or(options.output.as_deref());
            match Output::new(file, display) {
                Ok(output) => all.push((requested.format, output)),
                Err(Failure::Input(messages)) => wrong.extend(messages),
                Err(other) => return Err(other),
            }
            if let Some(file) = requested.file.as_deref().map(real) {
                if files.contains(&file) || options.output.as_deref().map(real).as_ref() == Some(&file) {
                    wrong.push(format!("{}: two formats cannot go to the same file", file.display()));
                }
                files.push(file);
            }
        }
        let annotates = all.iter().any(|(format, _)| *format == CheckFormat::Github);
        let summary =
            env::var_os("GITHUB_STEP_SUMMARY").filter(|path| annotates && !path.is_empty()).map(PathBuf::from);
        if let Some(Err(error)) = summary.as_deref().map(|path| append(path, "")) {
            wrong.push(format!("the summary of GITHUB_STEP_SUMMARY cannot be written: {error}"));
        }
        if wrong.is_empty() { Ok(Outputs { all, summary, pen: Pen::default() }) } else { Err(Failure::Input(wrong)) }
    }

    /// Refuses to write over the programs of the call.
    ///
    /// # Errors
    /// Each file that is a program.
    pub fn spare<'a>(&self, programs: impl Iterator<Item = &'a str>) -> Result<(), Failure> {
        let targets: Vec<PathBuf> = self.files().collect();
        let wrong = programs.filter(|program| targets.contains(&real(Path::new(program))));
        let mut wrong: Vec<String> =
            wrong.map(|program| format!("{program}: results would replace the program")).collect();
        wrong.dedup();
        if wrong.is_empty() { Ok(()) } else { Err(Failure::Input(wrong)) }
    }

    fn files(&self) -> impl Iterator<Item = PathBuf> {
        self.all.iter().filter_map(|(_, output)| output.target.as_ref()).map(|target| real(target.path()))
    }

    /// Where events go, if they are asked for; the file is made anew.
    ///
    /// # Errors
    /// What the system says.
    pub fn stream(&self) -> Result<Option<Stream>, Failure> {
        let found = self.all.iter().find(|(format, _)| *format == CheckFormat::Jsonl);
        if let Some(path) = found.and_then(|(_, output)| output.target.as_ref()).map(Target::path)
            && has_program_name(path)
        {
            return Err(
                format!("{}: this is the name of a program; events need a file of their own", path.display()).into()
            );
        }
        let stream = found.map(|(_, output)| Stream::new(output.target.as_ref().map(Target::path)));
        Ok(stream.transpose()?)
    }

    /// Writes the documents of a call that could not be done, where some are asked for.
    ///
    /// # Errors
    /// What the system says.
    pub fn write_failure(&self, failure: &Failure) -> Result<(), Failure> {
        let (messages, status) = (failure.messages(), failure.status());
        // A program may be what the call would have replaced.
        let spared = |output: &Output| output.target.as_ref().is_some_and(|target| has_program_name(target.path()));
        self.write(|format, output| match spared(output) {
            true => None,
            false => DocumentKind::Check(format).failed(&messages, status),
        })
    }

    /// The documents of a call that is ended from outside.
    pub fn last_documents(&self) -> LastDocuments {
        let places = self.all.iter().map(|(format, output)| LastPlace {
            document: DocumentKind::Check(*format),
            path: output.target.as_ref().map(|target| target.path().to_owned()),
            style: output.style,
        });
        let is_program = |place: &LastPlace| place.path.as_deref().is_some_and(has_program_name);
        let places = places.filter(|place| !is_program(place)).collect();
        LastDocuments { places, pen: self.pen.clone(), teller: None }
    }

    /// Whether one of the formats is a document, for which everything is found out.
    pub fn has_document(&self) -> bool {
        self.all.iter().any(|(format, _)| *format != CheckFormat::Human)
    }

    /// Writes every format; what cannot be written does not keep the others from being written.
    ///
    /// # Errors
    /// What the system says, for each.
    pub fn write(&self, text: impl Fn(CheckFormat, &Output) -> Option<String>) -> Result<(), Failure> {
        let mut wrong = Vec::new();
        for (format, output) in &self.all {
            let Some(text) = text(*format, output) else { continue };
            let mut written = self.pen.take();
            written.push(DocumentKind::Check(*format));
            match output.write(&text) {
                Ok(()) => {}
                Err(Failure::Input(messages)) => wrong.extend(messages),
                Err(other) => return Err(other),
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(Failure::Input(wrong)) }
    }

    /// Adds to the summary of the job, if GitHub wants one.
    ///
    /// # Errors
    /// What the system says.
    pub fn write_summary(&self, text: impl Fn() -> String) -> Result<(), Failure> {
        match &self.summary {
            Some(path) => Ok(append(path, &text())?),
            None => Ok(()),
        }
    }
}

/// The formats that want the standard output at once. Annotations are lines of a log, and stand below a text for people.
fn crowded(formats: &[Requested]) -> Vec<String> {
    let mut formats: Vec<CheckFormat> = formats.iter().filter(|one| one.file.is_none()).map(|one| one.format).collect();
    if formats.contains(&CheckFormat::Human) {
        formats.retain(|&format| format != CheckFormat::Github);
    }
    if formats.len() < 2 {
        return Vec::new();
    }
    let names = formats.iter().map(|format| format!("{format:?}").to_lowercase());
    let names = names.collect::<Vec<_>>().join(" and ");
    vec![format!("{names} cannot both go to the standard output; write FORMAT=FILE for all but one")]
}

/// Whether a file's name has the ending of programs.
fn has_program_name(path: &Path) -> bool {
    let is_known = |ending: &std::ffi::OsStr| SOURCE_ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known));
    path.extension().is_some_and(is_known)
}

/// What a path leads to; a file that is not there yet is where its directory is.
fn real(path: &Path) -> PathBuf {
    if let Ok(found) = fs::canonicalize(path) {
        return found;
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (fs::canonicalize(parent), path.file_name()) {
        (Ok(parent), Some(name)) => parent.join(name),
        _ => path.to_owned(),
    }
}

/// Adds a text to the end of a file, at once.
fn append(path: &Path, text: &str) -> Result<(), FileError> {
    let written =
        OpenOptions::new().append(true).create(true).open(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| FileError::from_io(path, &error))
}
