//! The report: everything about a call in one page that needs nothing else.
//!
//! In: runs, each with the files that were written and, where they are small, its local state graphs. Out: one HTML
//! text. It can be read without scripts, on a phone and on paper; a small script adds choosing, stepping and
//! downloads. The result document is inside, and nothing is fetched from anywhere. `page` is the frame, `results` the
//! tables over all runs, `property` what is said about one property, with `proof`, `trace` (from a `film`, drawn by
//! `lanes`, with its `end`), `source`, `graph` (placed by `layout`), `plot` and `table`; `escape` makes text from
//! outside harmless.

mod end;
mod escape;
mod film;
mod graph;
mod highlight;
mod lanes;
mod layout;
mod page;
mod plot;
mod proof;
mod property;
mod results;
mod source;
mod sweep;
mod table;
mod trace;

#[cfg(test)]
mod tests;

use base::Diagnostic;
use base::SourceFile;
use engine::graph::LocalGraphs;
use explain::Explained;

use crate::files::Files;
use crate::item::Item;

pub use page::page;

/// One program of a call.
#[derive(Clone, Copy, Debug)]
pub enum Entry<'a> {
    /// It was checked.
    Checked(Checked<'a>),
    /// It was refused.
    Refused {
        /// The text.
        source: &'a SourceFile,
        /// Why.
        diagnostics: &'a [Diagnostic],
    },
}

impl<'a> Entry<'a> {
    /// The same without pictures.
    pub fn item(&self) -> Item<'a> {
        match self {
            Entry::Checked(checked) => Item::Checked(checked.run, checked.files),
            Entry::Refused { source, diagnostics } => Item::Refused(source, diagnostics),
        }
    }
}

/// A program that was checked.
#[derive(Clone, Copy, Debug)]
pub struct Checked<'a> {
    /// The results.
    pub run: &'a Explained,
    /// The files that were written.
    pub files: &'a Files,
    /// Local state graphs and how they were found.
    pub graphs: Option<(&'static str, &'a LocalGraphs)>,
}

/// Local state graphs with more states are not drawn.
pub const MOST_STATES_DRAWN: u64 = 40;
