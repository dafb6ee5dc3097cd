//! How many questions of a farm are answered, on the standard error.
//!
//! In: each answer as it comes. Out: as for a search here (`progress.rs`): a line redrawn in place on a terminal, a plain line every few seconds elsewhere, or one JSON object a line.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget};
use report::numbers::{counted, duration};
use serde_json::json;

use crate::progress::{INTERVAL, PATIENCE, Progress};
use crate::terminal;

/// Shows the answers of a farm; what is on the terminal goes when it is dropped.
pub struct FarmProgress {
    progress: Progress,
    started: Instant,
    shown: Mutex<Shown>,
}

/// What is shown.
struct Shown {
    /// When the next plain line is due.
    next_line: Instant,
    /// The line on the terminal, once the farm is not a short one.
    bar: Option<ProgressBar>,
}

impl FarmProgress {
    /// Nothing is answered yet.
    pub fn new(progress: Progress) -> Self {
        let started = Instant::now();
        FarmProgress { progress, started, shown: Mutex::new(Shown { next_line: started + INTERVAL, bar: None }) }
    }

    /// So many of all questions are answered.
    pub fn answered(&self, n_answered: usize, n_questions: usize) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let questions = counted(n_questions as u64, "question", "questions");
        let line = format!("{n_answered} of {questions} answered, {}", duration(self.started.elapsed()));
        match self.progress {
            Progress::Silent => {}
            Progress::Json => {
                let seconds = self.started.elapsed().as_secs_f64();
                let event =
                    json!({"event": "answered", "answered": n_answered, "questions": n_questions, "seconds": seconds});
                terminal::complain(&format!("{event}\n"));
            }
            Progress::Plain if Instant::now() >= shown.next_line => {
                shown.next_line = Instant::now() + INTERVAL;
                terminal::complain(&format!("{line}\n"));
            }
            Progress::Terminal if self.started.elapsed() >= PATIENCE => {
                let bar = shown.bar.get_or_insert_with(|| {
                    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
                    bar.enable_steady_tick(std::time::Duration::from_millis(120));
                    bar
                });
                bar.set_message(format!("{line}; Ctrl-C keeps what is done"));
            }
            Progress::Plain | Progress::Terminal => {}
        }
    }

    /// Says something that stays.
    pub fn note(&self, text: &str) {
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        match &shown.bar {
            Some(bar) => bar.suspend(|| terminal::complain(text)),
            None => terminal::complain(text),
        }
    }
}

impl Drop for FarmProgress {
    fn drop(&mut self) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bar) = shown.bar.take() {
            bar.finish_and_clear();
        }
    }
}
