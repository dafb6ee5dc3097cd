//! Programs in the languages of other tools.
//!
//! In: a checked Model, its source, a [`TargetLanguage`]. Out: a text, or everything that prevents it. What is written means what
//! `model::eval` means, step by step; where a language cannot say that, the program is refused, in words. [`flat`] is the form between:
//! [`promela`], [`smv`] and [`dve`] print it; [`dot`] draws the control of the Model itself.

pub mod dot;
pub mod dve;
pub mod flat;
mod layout;
mod names;
pub mod promela;
mod question;
pub mod smv;
pub mod term;

use base::{SourceFile, Span};
use model::Model;

/// The languages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetLanguage {
    /// Promela, for SPIN.
    Promela,
    /// SMV, for NuSMV and nuXmv.
    Smv,
    /// DVE, for DIVINE, LTSmin, ITS-tools and Piecewise itself.
    Dve,
    /// A drawing of each process's control, for Graphviz.
    Dot,
}

/// Something that cannot be exported, and its place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExportRefusal {
    /// Where; empty where it has no place in the text.
    pub span: Span,
    /// Why, in words.
    pub why: String,
}

impl ExportRefusal {
    pub(crate) fn new(span: Span, why: impl Into<String>) -> Self {
        ExportRefusal { span, why: why.into() }
    }
}

/// The program in the language of the target.
///
/// # Errors
/// Everything that prevents it.
pub fn export(model: &Model, source: &SourceFile, target: TargetLanguage) -> Result<String, Vec<ExportRefusal>> {
    match target {
        TargetLanguage::Promela => promela::program(model, source).map(|program| program.text),
        TargetLanguage::Smv => smv::text(model, source),
        TargetLanguage::Dve => dve::text(model, source),
        TargetLanguage::Dot => Ok(dot::text(model, source)),
    }
}
