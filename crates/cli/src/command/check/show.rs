//! What `check` shows, in each format.

use std::sync::Arc;

use engine::denied::Denied;
use report::human::{Context, Verbosity};
use report::{Files, Item, Style, github, human, table};

use super::Outcome;
use crate::decided::{Decided, LastOutcome};
use crate::failed::{DocumentKind, document};
use crate::failure::Failure;
use crate::options::{CheckFormat, DisplayOptions};
use crate::output::{LastWords, Outputs, Teller};
use crate::status::ExitStatus;

/// What is shown, and how much of it.
pub struct Presentation<'a> {
    /// What came of the programs.
    pub outcomes: &'a [Outcome],
    /// How results are shown.
    pub display: &'a DisplayOptions,
    /// Whether the guarantees of processes are shown.
    pub guarantees: bool,
    /// What is wrong with the call, if something is.
    pub errors: &'a [String],
    /// How the call ends.
    pub status: ExitStatus,
}

impl Presentation<'_> {
    /// Writes every format to its place.
    pub fn write(&self, outputs: &Outputs) -> Result<(), Failure> {
        let items = self.items();
        let written = outputs.write(|format, output| self.text(&items, format, &output.style));
        written.and(outputs.write_summary(|| github::summary(&items)))
    }

    /// What came of the programs, as reports take it.
    pub fn items(&self) -> Vec<Item<'_>> {
        self.outcomes.iter().map(Outcome::item).collect()
    }

    /// The text of a format.
    pub fn text(&self, items: &[Item<'_>], format: CheckFormat, style: &Style) -> Option<String> {
        match format {
            CheckFormat::Human => self.human(items, style),
            other => document(other, items, self.errors, self.status),
        }
    }

    /// One run in full, several in a table; with `-v` both.
    fn human(&self, items: &[Item<'_>], style: &Style) -> Option<String> {
        let in_full = |item: &Item<'_>| match item {
            Item::Refused(..) => String::new(),
            Item::Checked(run, files) => {
                let files = Files::clone(files);
                human::run(
                    run,
                    &Context { verbosity: verbosity(self.display), files, guarantees: self.guarantees },
                    style,
                )
            }
        };
        match items {
            // The messages are on the standard error, and there is nothing else to say.
            [Item::Refused(..)] => None,
            [one] => Some(in_full(one)),
            several => {
                let mut text = String::new();
                if self.display.verbose || self.guarantees {
                    several.iter().for_each(|item| text += &format!("{}\n", in_full(item)));
                }
                Some(text + &table::draw(several, style))
            }
        }
    }
}

/// Who says what was decided before a limit ended the call, in every format.
pub fn teller(decided: Decided, denied: Vec<Denied>, (display, guarantees): (DisplayOptions, bool)) -> Teller {
    Arc::new(move |reason, why, places| {
        let outcome = |last| match last {
            LastOutcome::Refused(refusal) => Outcome::Refused(refusal),
            LastOutcome::Checked(run, files) => Outcome::Checked(run, files, None),
        };
        let outcomes: Vec<Outcome> = decided.outcomes(reason, &denied).into_iter().map(outcome).collect();
        let status = ExitStatus::of_all(outcomes.iter().map(Outcome::status).chain([ExitStatus::Undecided]));
        let errors = [why.to_owned()];
        let presentation = Presentation { outcomes: &outcomes, display: &display, guarantees, errors: &errors, status };
        let items = presentation.items();
        let text = |(document, style): &(DocumentKind, Style)| match document {
            DocumentKind::Check(CheckFormat::Human) if items.is_empty() => None,
            DocumentKind::Check(format) => presentation.text(&items, *format, style),
            other => other.failed(&errors, status),
        };
        LastWords { texts: places.iter().map(text).collect(), status }
    })
}

fn verbosity(display: &DisplayOptions) -> Verbosity {
    match (display.quiet, display.verbose) {
        (true, _) => Verbosity::Quiet,
        (_, true) => Verbosity::Verbose,
        _ => Verbosity::Normal,
    }
}
