//! What came of each program of a call: the rows of every table and document that is about all of them.

use base::{Diagnostic, SourceFile};
use explain::Explained;

use crate::files::Files;
use crate::numbers::counted;

/// One program of a call, in one instance.
#[derive(Clone, Copy, Debug)]
pub enum Item<'a> {
    /// It was checked; its evidence is in these files.
    Checked(&'a Explained, &'a Files),
    /// It was refused: the text, and what is wrong with it.
    Refused(&'a SourceFile, &'a [Diagnostic]),
}

impl<'a> Item<'a> {
    /// The run, where there is one.
    pub fn run(&self) -> Option<&'a Explained> {
        match self {
            Item::Checked(run, _) => Some(run),
            Item::Refused(..) => None,
        }
    }

    /// The text, with the name that the user gave for it.
    pub fn source(&self) -> &'a SourceFile {
        match self {
            Item::Checked(run, _) => &run.source,
            Item::Refused(source, _) => source,
        }
    }

    /// What the front-end says about the text.
    pub fn diagnostics(&self) -> &'a [Diagnostic] {
        match self {
            Item::Checked(run, _) => &run.warnings,
            Item::Refused(_, diagnostics) => diagnostics,
        }
    }
}

/// The exit status of a call with these outcomes: the gravest part counts, and 1 wins over 3.
pub fn status(items: &[Item<'_>]) -> u8 {
    let answers = || {
        let runs = items.iter().filter_map(Item::run);
        runs.flat_map(|run| run.results.iter().map(|result| result.as_expected(&run.model)))
    };
    if items.iter().any(|item| matches!(item, Item::Refused(..))) {
        2
    } else if answers().any(|answer| answer == Some(false)) {
        1
    } else if answers().any(|answer| answer.is_none()) {
        3
    } else {
        0
    }
}

/// What the front-end says, once for each text: a sweep says it again for each instance.
pub(crate) fn all_diagnostics<'a>(items: &[Item<'a>]) -> Vec<(&'a SourceFile, &'a Diagnostic)> {
    let mut found: Vec<(&SourceFile, &Diagnostic)> = Vec::new();
    for item in items {
        for diagnostic in item.diagnostics() {
            let is_known =
                |known: &(&SourceFile, &Diagnostic)| known.0.name() == item.source().name() && known.1 == diagnostic;
            if !found.iter().any(is_known) {
                found.push((item.source(), diagnostic));
            }
        }
    }
    found
}

/// `3 errors`
pub(crate) fn count_errors(diagnostics: &[Diagnostic]) -> String {
    let n_errors = diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).count();
    counted(n_errors as u64, "error", "errors")
}
