//! The errors and warnings found so far.
//!
//! At most one error is kept per place in the text, since a second one there is nearly always a consequence of the
//! first, and at most [`SHOWN`] errors and as many warnings in all; of the others only the number is told.

use crate::codes::syntax as code;
use base::Diagnostic;

/// How many errors are shown.
pub(crate) const SHOWN: usize = 20;

/// The diagnostics of one run.
#[derive(Default)]
pub(crate) struct Log {
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    n_errors: usize,
    /// Index of the token at which the last error was reported.
    last_position: Option<usize>,
}

impl Log {
    /// Keeps a diagnostic.
    pub fn add(&mut self, diagnostic: Diagnostic) {
        if !diagnostic.is_error() {
            if self.warnings.len() < SHOWN {
                self.warnings.push(diagnostic);
            }
            return;
        }
        self.n_errors += 1;
        if self.errors.len() < SHOWN {
            self.errors.push(diagnostic);
        }
    }

    /// Keeps an error at a token, unless the last error was there, too.
    pub fn add_at(&mut self, position: usize, diagnostic: Diagnostic) {
        if self.last_position != Some(position) {
            self.last_position = Some(position);
            self.add(diagnostic);
        }
    }

    /// How many errors there were, shown or not.
    pub fn n_errors(&self) -> usize {
        self.n_errors
    }

    /// All diagnostics in the order of the text. If there are more errors than are shown, the last one says how many.
    pub fn finish(self) -> Vec<Diagnostic> {
        let n_hidden = self.n_errors - self.errors.len();
        let mut all = self.errors;
        all.extend(self.warnings);
        all.sort_by_key(|diagnostic| diagnostic.primary.span.start);
        if n_hidden > 0
            && let Some(place) = all.last().map(|diagnostic| diagnostic.primary.span)
        {
            let message = format!("and {n_hidden} more error{}", if n_hidden == 1 { "" } else { "s" });
            all.push(Diagnostic::error(code::MORE_ERRORS, place, message).help("repair the first ones and try again"));
        }
        all
    }
}
