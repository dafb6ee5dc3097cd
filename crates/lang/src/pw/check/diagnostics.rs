//! The diagnostics of a run, each once.
//!
//! A definition is checked wherever it is used, so the same mistake can be met many times; it is kept the first time.

use std::collections::HashSet;

use base::{Diagnostic, Span};

/// What is wrong with a program, in the order in which it was found.
#[derive(Default)]
pub(crate) struct Diagnostics {
    found: Vec<Diagnostic>,
    seen: HashSet<(&'static str, Span, String)>,
}

impl Diagnostics {
    /// Keeps a diagnostic if it is new.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if self.seen.insert((diagnostic.code, diagnostic.primary.span, diagnostic.message.clone())) {
            self.found.push(diagnostic);
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.found.len()
    }

    /// Whether the program must be refused.
    pub fn has_errors(&self) -> bool {
        self.found.iter().any(Diagnostic::is_error)
    }

    /// All of them, in the order of the text.
    pub fn into_sorted(mut self) -> Vec<Diagnostic> {
        self.found.sort_by_key(|diagnostic| (diagnostic.primary.span, diagnostic.code));
        self.found
    }
}
