//! What every drawing of a program's steps needs.

use base::SourceFile;
use model::Model;

use crate::style::Style;

/// A program, its text, and how it is rendered.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    /// The program.
    pub model: &'a Model,
    /// Its text.
    pub source: &'a SourceFile,
    /// How things are rendered.
    pub style: &'a Style,
}
