//! A file of any language to its Models: the one door to all front-ends.
//!
//! In: a source file. Out: a [`ProgramText`], read once; from it, for each choice of values for its parameters, a Model with warnings,
//! or everything that is wrong. Which language it is, the suffix of the file's name says; a new front-end is a new row here.

use base::{Diagnostic, SourceFile, Span};

use crate::codes::check::{UNKNOWN_LANGUAGE, UNKNOWN_PARAMETER};
use crate::dve::{self, Goal, Refused};
use crate::pds;
use crate::promela::{self, Reading};
use crate::pw;

pub use crate::pw::{Loaded, ParameterRange};

/// The languages that are read.
#[derive(Clone, Debug)]
enum Language {
    /// The Piecewise language, `.pw`.
    Piecewise(Box<pw::Text>),
    /// DIVINE's language, `.dve`.
    Dve,
    /// Concurrent pushdown systems, `.pds`.
    Pushdown,
    /// SPIN's language, `.pml`.
    Promela(Box<Reading>),
}

/// The suffixes of files in Promela.
pub const PROMELA_SUFFIXES: [&str; 7] = ["pml", "prom", "promela", "spin", "pm", "pr", "prm"];

/// A program text that was read once. Its instances are made from it, one for each size that is asked for.
#[derive(Clone, Debug)]
pub struct ProgramText {
    source: SourceFile,
    /// What is to be reached besides what the text says.
    goals: Vec<Goal>,
    language: Language,
}

impl ProgramText {
    /// Reads a text. Goals are expressions over the names of a file in DVE; for a pushdown system, where it starts and what is bad.
    ///
    /// # Errors
    /// What its parser reports.
    pub fn read(source: &SourceFile, goals: &[Goal]) -> Result<ProgramText, Vec<Diagnostic>> {
        ProgramText::read_with(source, goals, &Reading::default())
    }

    /// The same, with what a program in Promela needs besides its text.
    ///
    /// # Errors
    /// What its parser reports.
    pub fn read_with(source: &SourceFile, goals: &[Goal], reading: &Reading) -> Result<ProgramText, Vec<Diagnostic>> {
        let name = source.name().rsplit(['/', '\\']).next().unwrap_or_default();
        let language = match name.rsplit_once('.').map(|(_, suffix)| suffix) {
            // Without a suffix it may come from a pipe.
            None | Some("pw") => Language::Piecewise(Box::new(pw::read(source)?)),
            Some("dve") => Language::Dve,
            Some("pds") => Language::Pushdown,
            Some(suffix) if PROMELA_SUFFIXES.contains(&suffix) => Language::Promela(Box::new(reading.clone())),
            Some(suffix) => return Err(vec![unknown_language(suffix)]),
        };
        Ok(ProgramText { source: source.clone(), goals: goals.to_vec(), language })
    }

    /// The file that it was read from.
    pub fn source(&self) -> &SourceFile {
        &self.source
    }

    /// The parameters with the values that they may have.
    ///
    /// # Errors
    /// What is wrong with their declarations.
    pub fn parameters(&self) -> Result<Vec<ParameterRange>, Vec<Diagnostic>> {
        match &self.language {
            Language::Piecewise(text) => text.parameters(&self.source),
            Language::Promela(reading) => Ok(promela::parameters(&self.source, reading)),
            Language::Dve | Language::Pushdown => Ok(Vec::new()),
        }
    }

    /// What keeps the program from being asked about every number of its processes, where its language can say it.
    pub fn obstacle(&self, given: &[(String, i64)]) -> Option<String> {
        match &self.language {
            Language::Promela(reading) => promela::obstacle(&self.source, given, reading),
            Language::Piecewise(_) | Language::Dve | Language::Pushdown => None,
        }
    }

    /// The Model with these values for the parameters. A parameter that is not given takes its least value. The errors come with the
    /// warnings, in the order of the text.
    ///
    /// # Errors
    /// The texts that are refused: the file, or some of the goals.
    pub fn instance(&self, parameters: &[(String, i64)]) -> Result<Loaded, Vec<Refused>> {
        let refused = |diagnostics| vec![Refused { source: self.source.clone(), diagnostics }];
        match &self.language {
            Language::Piecewise(text) => text.instance(&self.source, parameters).map_err(refused),
            Language::Dve => {
                no_parameters(parameters).map_err(refused)?;
                dve::load(&self.source, &self.goals)
            }
            Language::Pushdown => {
                no_parameters(parameters).map_err(refused)?;
                pds::load(&self.source, &self.goals)
            }
            Language::Promela(reading) => promela::load(&self.source, parameters, reading),
        }
    }
}

/// Whether a file of this name is a Promela program.
pub fn is_promela(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, suffix)| PROMELA_SUFFIXES.contains(&suffix))
}

/// Reads a file and makes one Model, with these values for its parameters.
///
/// # Errors
/// Everything that is wrong, with the warnings, in the order of the text.
pub fn load(source: &SourceFile, parameters: &[(String, i64)]) -> Result<Loaded, Vec<Diagnostic>> {
    // Without goals only the file itself can be refused.
    let all = |refused: Vec<Refused>| refused.into_iter().flat_map(|one| one.diagnostics).collect();
    ProgramText::read(source, &[])?.instance(parameters).map_err(all)
}

/// The same, with goals among the properties.
///
/// # Errors
/// The texts that are refused: the file, or some of the goals.
pub fn load_with_goals(
    source: &SourceFile,
    parameters: &[(String, i64)],
    goals: &[Goal],
) -> Result<Loaded, Vec<Refused>> {
    let refused = |diagnostics| vec![Refused { source: source.clone(), diagnostics }];
    ProgramText::read(source, goals).map_err(refused)?.instance(parameters)
}

/// The parameters of a file with the values that they may have.
///
/// # Errors
/// What its parser reports, and what is wrong with the declarations of its parameters.
pub fn parameters(source: &SourceFile) -> Result<Vec<ParameterRange>, Vec<Diagnostic>> {
    ProgramText::read(source, &[])?.parameters()
}

fn no_parameters(parameters: &[(String, i64)]) -> Result<(), Vec<Diagnostic>> {
    let unknown = |(name, _): &(String, i64)| {
        let message = format!("there is no parameter `{name}`");
        let diagnostic = Diagnostic::error(UNKNOWN_PARAMETER, Span::default(), message);
        diagnostic.help("files in this language have no parameters")
    };
    let wrong: Vec<Diagnostic> = parameters.iter().map(unknown).collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

fn unknown_language(suffix: &str) -> Diagnostic {
    let message = format!("files that end in `.{suffix}` are not read");
    let diagnostic = Diagnostic::error(UNKNOWN_LANGUAGE, Span::default(), message);
    diagnostic
        .help("a program in the Piecewise language ends in `.pw`, one in DVE in `.dve`, a pushdown system in `.pds`, one in Promela in `.pml`")
}
