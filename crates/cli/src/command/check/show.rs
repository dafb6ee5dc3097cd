//! What `check` shows, in each format.

use std::env;
use std::path::PathBuf;

use lang::codes;
use report::human::{Context, Verbosity};
use report::sarif::{self, CodeText};
use report::{Files, Item, Style, csv, github, human, json, junit, table};

use super::Outcome;
use crate::failure::Failure;
use crate::options::{CheckFormat, DisplayOptions};
use crate::output::Outputs;
use crate::status::ExitStatus;

/// What is shown, and how much of it.
pub struct Presentation<'a> {
    /// What came of the programs.
    pub outcomes: &'a [Outcome],
    /// How results are shown.
    pub display: &'a DisplayOptions,
    /// Whether the guarantees of processes are shown.
    pub guarantees: bool,
    /// How the call ends.
    pub status: ExitStatus,
}

impl Presentation<'_> {
    /// Writes every format to its place.
    pub fn write(&self, outputs: &Outputs) -> Result<(), Failure> {
        let items: Vec<Item<'_>> = self.outcomes.iter().map(Outcome::item).collect();
        let directory = env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        let written = outputs.write(|format, output| match format {
            CheckFormat::Human => self.human(&items, &output.style),
            CheckFormat::Json => Some(format!("{:#}\n", json::value_of(&json::document(&items, self.status.code())))),
            // Events were written when they happened.
            CheckFormat::Jsonl => None,
            CheckFormat::Csv => Some(csv::table(&items)),
            CheckFormat::Sarif => {
                let arguments: Vec<String> =
                    env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
                let exit_status = self.status.code();
                let call = sarif::Call {
                    items: &items,
                    errors: &[],
                    directory: &directory,
                    arguments: &arguments,
                    exit_status,
                    explain: &explain,
                };
                Some(format!("{:#}\n", sarif::document(&call)))
            }
            CheckFormat::Junit => Some(junit::document(&items)),
            CheckFormat::Github => Some(github::commands(&items, &directory)),
        });
        written.and(outputs.write_summary(|| github::summary(&items)))
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

fn explain(code: &str) -> Option<CodeText> {
    codes::find(code).map(|row| CodeText { title: row.title, explanation: row.explanation })
}

fn verbosity(display: &DisplayOptions) -> Verbosity {
    match (display.quiet, display.verbose) {
        (true, _) => Verbosity::Quiet,
        (_, true) => Verbosity::Verbose,
        _ => Verbosity::Normal,
    }
}
