//! DVE, the language of DIVINE and of the BEEM models, `.dve`.
//!
//! In: the text of a file, and goals: expressions over its names that are to be reached. Out: the Model with warnings, or
//! everything that is wrong, each with the text that it speaks of. `ast.rs` is the syntax tree, `parser.rs` makes it of tokens,
//! `lower.rs` looks names up, checks, and makes the Model. `docs/dve.md` says what is read and what it means.

mod ast;
mod lexer;
mod lower;
mod parser;

use base::{Diagnostic, SourceFile, Span};

use crate::codes::syntax::FILE_TOO_LONG;
use crate::pw::{Loaded, MAX_FILE_LENGTH};

/// An expression that is to be reached, and what to call the question.
#[derive(Clone, Debug)]
pub struct Goal {
    /// The name of the property.
    pub name: String,
    /// The expression, with the name of where it comes from.
    pub source: SourceFile,
}

/// A text that is refused, and why.
#[derive(Clone, Debug)]
pub struct Refused {
    /// The text: the file itself, or a goal.
    pub source: SourceFile,
    /// What is wrong with it; at least one error.
    pub diagnostics: Vec<Diagnostic>,
}

/// Makes the Model of a file, with its goals among the properties.
///
/// # Errors
/// The texts that are refused: the file, or some of the goals.
pub fn load(source: &SourceFile, goals: &[Goal]) -> Result<Loaded, Vec<Refused>> {
    let refused = |source: &SourceFile, diagnostics| Refused { source: source.clone(), diagnostics };
    if let Some(diagnostic) = too_long(source) {
        return Err(vec![refused(source, vec![diagnostic])]);
    }
    let (file, mut diagnostics) = parser::parse_file(source);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(vec![refused(source, diagnostics)]);
    }
    let lowered = lower::lower(&file, source);
    diagnostics.extend(lowered.diagnostics);
    diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(vec![refused(source, diagnostics)]);
    }
    let mut asking = lowered.asking;
    let mut refusals = Vec::new();
    for goal in goals {
        let (parsed, mut wrong) = parser::parse_goal(&goal.source);
        if let (Some(parsed), false) = (parsed, wrong.iter().any(Diagnostic::is_error)) {
            wrong.extend(asking.goal(goal, &parsed));
        }
        if wrong.iter().any(Diagnostic::is_error) {
            refusals.push(refused(&goal.source, wrong));
        }
    }
    if refusals.is_empty() {
        Ok(Loaded { model: asking.into_model(), warnings: diagnostics, n_before: 0 })
    } else {
        Err(refusals)
    }
}

fn too_long(source: &SourceFile) -> Option<Diagnostic> {
    let length = source.text().len();
    (length > MAX_FILE_LENGTH).then(|| {
        let message = format!("this file has {length} bytes; at most {} MB are read", MAX_FILE_LENGTH >> 20);
        Diagnostic::error(FILE_TOO_LONG, Span::default(), message)
    })
}
