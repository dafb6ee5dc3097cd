//! A file of any language to its Model: the one door to all front-ends.
//!
//! In: a source file and values for its parameters. Out: the Model with warnings, or everything that is wrong. Which language it
//! is, the suffix of the file's name says; a new front-end is a new row here.

use base::{Diagnostic, SourceFile, Span};

use crate::codes::check::{UNKNOWN_LANGUAGE, UNKNOWN_PARAMETER};
use crate::dve::{self, Goal, Refused};
use crate::pds;
use crate::pw;

pub use crate::pw::{Loaded, ParameterRange};

/// The languages that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    /// The Piecewise language, `.pw`.
    Piecewise,
    /// DIVINE's language, `.dve`.
    Dve,
    /// Concurrent pushdown systems, `.pds`.
    Pushdown,
}

/// Reads a file and makes its Model, with these values for its parameters. A parameter that is not given takes its least value.
/// The errors come with the warnings, in the order of the text.
pub fn load(source: &SourceFile, parameters: &[(String, i64)]) -> Result<Loaded, Vec<Diagnostic>> {
    match language_of(source)? {
        Language::Piecewise => {
            let (program, warnings) = parse_piecewise(source)?;
            let (more, loaded) = match pw::lower(&program, source, parameters) {
                Ok(Loaded { model, warnings }) => (warnings, Some(model)),
                Err(diagnostics) => (diagnostics, None),
            };
            let mut diagnostics = warnings;
            diagnostics.extend(more);
            diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span);
            match loaded {
                Some(model) => Ok(Loaded { model, warnings: diagnostics }),
                None => Err(diagnostics),
            }
        }
        Language::Dve => {
            no_parameters(parameters)?;
            // Without goals only the file itself can be refused.
            let all = |refused: Vec<Refused>| refused.into_iter().flat_map(|one| one.diagnostics).collect();
            dve::load(source, &[]).map_err(all)
        }
        Language::Pushdown => {
            no_parameters(parameters)?;
            let all = |refused: Vec<Refused>| refused.into_iter().flat_map(|one| one.diagnostics).collect();
            pds::load(source, &[]).map_err(all)
        }
    }
}

/// The same, with goals among the properties: expressions over the names of a file in DVE; for a pushdown system, where it starts and
/// what is bad.
///
/// # Errors
/// The texts that are refused: the file, or some of the goals.
pub fn load_with_goals(
    source: &SourceFile,
    parameters: &[(String, i64)],
    goals: &[Goal],
) -> Result<Loaded, Vec<Refused>> {
    let refused = |diagnostics| vec![Refused { source: source.clone(), diagnostics }];
    match language_of(source).map_err(refused)? {
        Language::Dve => {
            no_parameters(parameters).map_err(refused)?;
            dve::load(source, goals)
        }
        Language::Pushdown => {
            no_parameters(parameters).map_err(refused)?;
            pds::load(source, goals)
        }
        Language::Piecewise => load(source, parameters).map_err(refused),
    }
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

/// The parameters of a file with the values that they may have.
pub fn parameters(source: &SourceFile) -> Result<Vec<ParameterRange>, Vec<Diagnostic>> {
    match language_of(source)? {
        Language::Piecewise => {
            let (program, _) = parse_piecewise(source)?;
            pw::parameter_ranges(&program, source)
        }
        Language::Dve | Language::Pushdown => Ok(Vec::new()),
    }
}

fn language_of(source: &SourceFile) -> Result<Language, Vec<Diagnostic>> {
    let name = source.name().rsplit(['/', '\\']).next().unwrap_or_default();
    match name.rsplit_once('.').map(|(_, suffix)| suffix) {
        // Without a suffix it may come from a pipe.
        None | Some("pw") => Ok(Language::Piecewise),
        Some("dve") => Ok(Language::Dve),
        Some("pds") => Ok(Language::Pushdown),
        Some(suffix) => {
            let message = format!("files that end in `.{suffix}` are not read");
            let diagnostic = Diagnostic::error(UNKNOWN_LANGUAGE, Span::default(), message);
            let help =
                "a program in the Piecewise language ends in `.pw`, one in DVE in `.dve`, a pushdown system in `.pds`";
            Err(vec![diagnostic.help(help)])
        }
    }
}

/// The tree with its warnings; a text with syntax errors is not looked at any further.
fn parse_piecewise(source: &SourceFile) -> Result<(pw::ast::Program, Vec<Diagnostic>), Vec<Diagnostic>> {
    let parsed = pw::parse(source);
    match (parsed.has_errors(), parsed.program) {
        (false, Some(program)) => Ok((program, parsed.diagnostics)),
        _ => Err(parsed.diagnostics),
    }
}
