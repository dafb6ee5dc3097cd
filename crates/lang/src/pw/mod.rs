//! The Piecewise language, `.pw`.
//!
//! [`ast`]: the syntax tree. [`parse`]: text to tree, with diagnostics. [`read`]: text to [`Text`], from which [`Text::instance`] makes
//! checked Models.
//! [`format()`]: text to the same text in the usual layout. [`printer`]: expressions and types to text.

pub mod ast;
mod check;
mod declared;
mod delimiters;
mod elaborate;
mod format;
mod lexer;
mod lower;
mod parser;
pub mod printer;
mod source;
mod text;
mod unused;
mod words;

pub use check::ParameterRange;
pub use format::format;
pub use lower::Loaded;
pub use source::{Undecodable, decode};
pub use text::{Text, read};

use crate::codes::syntax as code;
use base::{Diagnostic, SourceFile, Span};

/// The longest file that is read, in bytes.
pub const MAX_FILE_LENGTH: usize = 8 << 20;

/// What [`parse`] finds out about a file.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The tree. If there are errors it may be missing, or lack the parts that could not be parsed.
    pub program: Option<ast::Program>,
    /// Errors and warnings in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

impl Parsed {
    /// Whether the text is refused.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// Parses a file. Never fails: what is wrong is in the diagnostics.
pub fn parse(file: &SourceFile) -> Parsed {
    match too_long(file) {
        Some(diagnostic) => Parsed { program: None, diagnostics: vec![diagnostic] },
        None => {
            let parser::Outcome { program, diagnostics, .. } = parser::parse(file);
            Parsed { program, diagnostics }
        }
    }
}

fn too_long(file: &SourceFile) -> Option<Diagnostic> {
    let length = file.text().len();
    let megabytes = MAX_FILE_LENGTH >> 20;
    (length > MAX_FILE_LENGTH).then(|| {
        let message = format!("this file has {length} bytes; at most {megabytes} MB are read");
        Diagnostic::error(code::FILE_TOO_LONG, Span::new(0, 0), message)
    })
}
