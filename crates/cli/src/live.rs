//! Verdicts while a program is being checked: announced to people, written as events for scripts, and looked at by `--fail-fast`.
//!
//! In: what the driver tells. Out: a line for each verdict on the standard error where the run is not a short one (`progress`), a line of
//! JSON for each (`--format jsonl`), and the end of the run where a verdict is not the expected one and the user wants to know no more.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use base::{Budget, CancelToken, StopReason};
use driver::check::{Checked, Program};
use driver::files::FileError;
use engine::run::{PropertyResult, Run};
use engine::{Event, Observer, PropertyId, Verdict};
use explain::Explained;
use report::document::EventDocument;
use report::{Files, Style, human, json};

use crate::decided::Decided;
use crate::progress::Watcher;
use crate::status::ExitStatus;
use crate::terminal;

/// Who ends a call from outside waits so often, and so long each time, for an event that is being written.
const ATTEMPTS: usize = 20;
const BETWEEN: Duration = Duration::from_millis(5);

/// Where events go, one a line, each when it happens.
#[derive(Clone)]
pub struct Stream {
    /// The file; `None` for the standard output.
    file: Option<Arc<Mutex<File>>>,
    /// Whether the last event is written: nothing comes after it.
    is_over: Arc<Mutex<bool>>,
}

impl Stream {
    /// A stream to a file, or to the standard output.
    ///
    /// # Errors
    /// Why the file cannot be written.
    pub fn new(path: Option<&Path>) -> Result<Self, FileError> {
        let open = |path: &Path| File::create(path).map_err(|error| FileError::from_io(path, &error));
        let file = path.map(open).transpose()?.map(|file| Arc::new(Mutex::new(file)));
        Ok(Stream { file, is_over: Arc::default() })
    }

    /// Writes one event. Who does not read any more does not want to know.
    pub fn write(&self, event: &EventDocument) {
        let mut is_over = self.is_over.lock().unwrap_or_else(PoisonError::into_inner);
        if !*is_over {
            *is_over = matches!(event, EventDocument::End { .. });
            self.put(event);
        }
    }

    /// Writes the last events of a call that is ended from outside, unless somebody cannot get rid of an event.
    pub fn end(&self, why: &str, status: ExitStatus) {
        for _ in 0..ATTEMPTS {
            match self.is_over.try_lock() {
                Ok(mut is_over) => {
                    if !*is_over {
                        *is_over = true;
                        self.put(&EventDocument::Error { message: why.to_owned() });
                        self.put(&EventDocument::End { status: status.code() });
                    }
                    return;
                }
                Err(_) => thread::sleep(BETWEEN),
            }
        }
    }

    fn put(&self, event: &EventDocument) {
        let line = format!("{}\n", json::value_of(event));
        match &self.file {
            None => drop(terminal::print(&line)),
            Some(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                file.write_all(line.as_bytes()).and_then(|()| file.flush()).ok();
            }
        }
    }
}

/// Who is told about the verdicts of one run.
#[derive(Clone, Copy)]
pub struct Listeners<'a> {
    /// Where events go.
    pub stream: Option<&'a Stream>,
    /// How lines for people are dressed.
    pub style: &'a Style,
    /// Whether the first unexpected verdict ends the run.
    pub fail_fast: bool,
    /// Who notes verdicts for the end of the call.
    pub decided: &'a Decided,
}

/// One run under way.
pub struct Live<'m> {
    program: &'m Program,
    method: &'static str,
    listeners: Listeners<'m>,
    watcher: Watcher<'m>,
    started: Instant,
    /// Ends the run.
    cancel: CancelToken,
    /// Whether it was ended for an unexpected verdict.
    is_ended: AtomicBool,
    /// The questions whose verdicts were told.
    told: Mutex<Vec<PropertyId>>,
    /// The run without results, for who puts a verdict into words.
    run: OnceLock<Run>,
}

impl<'m> Live<'m> {
    /// A run that starts now; the token ends it.
    pub fn new(
        (program, method): (&'m Program, &'static str),
        watcher: Watcher<'m>,
        listeners: Listeners<'m>,
        cancel: CancelToken,
    ) -> Self {
        let (is_ended, told, run) = (AtomicBool::new(false), Mutex::default(), OnceLock::new());
        Live { program, method, listeners, watcher, started: Instant::now(), cancel, is_ended, told, run }
    }

    /// Says which properties are asked for.
    pub fn start(&self, questions: &[PropertyId]) {
        self.listeners.decided.begin(self.program, self.method, questions);
        let Some(stream) = self.listeners.stream else { return };
        let about = json::about(&self.program.source, &self.program.model, self.method);
        let properties = questions.iter().map(|&id| self.program.model.properties[id].name.clone()).collect();
        stream.write(&EventDocument::Start { about, properties });
    }

    /// Tells what was not told before: what is not decided, and what only the end of the run decides. Other properties of a run that was ended
    /// for an unexpected verdict say why they are not decided. The program may be another one than the one that was loaded.
    pub fn finish(self, program: &Program, checked: &mut Checked) {
        if self.is_ended.load(Ordering::Relaxed) {
            for result in &mut checked.results {
                if result.verdict == Verdict::Unknown(StopReason::Cancelled) {
                    result.verdict = Verdict::Unknown(StopReason::FailFast);
                }
            }
        }
        self.listeners.decided.complete(program, checked);
        self.tell(program, checked);
        drop(self.watcher);
    }

    /// Tells what was proved of the program where all else is about another instance of it.
    pub fn keep(&self, kept: (&Program, &Checked), others: (&Program, &Checked)) {
        self.listeners.decided.part(kept, others);
        self.tell(kept.0, kept.1);
    }

    /// Tells what was not told before.
    fn tell(&self, program: &Program, checked: &Checked) {
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stream) = self.listeners.stream {
            for result in checked.results.iter().filter(|result| !told.contains(&result.property)) {
                stream.write(&verdict(program, self.method, result.clone()));
            }
        }
    }

    fn run(&self) -> &Run {
        let nothing =
            || Checked { results: Vec::new(), time: Default::default(), processor_time: None, method: self.method };
        self.run.get_or_init(|| self.program.clone().into_run(nothing()))
    }
}

/// The event of a verdict, with what can be said about it in a moment.
fn verdict(program: &Program, method: &'static str, result: PropertyResult) -> EventDocument {
    let about = json::about(&program.source, &program.model, method);
    let checked = Checked { results: vec![result], time: Default::default(), processor_time: None, method };
    let nothing_more = Budget::new(Some(Default::default()), None, CancelToken::default());
    let run = Explained::new(program.clone().into_run(checked), &nothing_more);
    EventDocument::Verdict { about, result: Box::new(json::result(&run, &run.results[0], &Files::default())) }
}

impl Observer for Live<'_> {
    fn event(&self, event: Event) {
        self.watcher.event(event);
    }

    fn known(&self, result: &PropertyResult) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.contains(&result.property) {
            return;
        }
        told.push(result.property);
        drop(told);
        self.listeners.decided.add(result);
        self.watcher.announce(result.property, human::verdict_line(self.run(), result, self.listeners.style));
        if let Some(stream) = self.listeners.stream {
            let mut result = result.clone();
            result.statistics.first_known = Some(self.started.elapsed());
            stream.write(&verdict(self.program, self.method, result));
        }
        if self.listeners.fail_fast && result.as_expected(&self.program.model) == Some(false) {
            self.is_ended.store(true, Ordering::Relaxed);
            self.cancel.cancel();
        }
    }
}
