//! Messages about the user's input, as data.
//!
//! A [`Diagnostic`] has a stable code, a sentence, labelled spans and helps; a help may carry edits that can be applied to
//! the text. Front-ends collect all diagnostics of a run; `report` renders them.

use crate::source::Span;

/// How serious a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The input is accepted; something looks unintended.
    Warning,
    /// The input is refused.
    Error,
}

/// A span with a few words about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// What is marked.
    pub span: Span,
    /// What to say there; may be empty.
    pub text: String,
}

/// Whether an edit can be applied without a person reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applicability {
    /// The edit surely is what was meant.
    Certain,
    /// The edit is one of several possibilities.
    Possible,
}

/// Replace the text of a span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced; empty to insert.
    pub span: Span,
    /// The text that replaces the span; empty to delete.
    pub replacement: String,
}

/// What the user can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Help {
    /// The advice in words.
    pub text: String,
    /// The edits that carry it out; may be empty.
    pub edits: Vec<Edit>,
    /// Whether the edits can be applied unseen.
    pub applicability: Applicability,
}

/// One message about the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How serious it is.
    pub severity: Severity,
    /// The stable code, such as `E0103`.
    pub code: &'static str,
    /// What is wrong: lower case, no full stop.
    pub message: String,
    /// Where; the place that the message is about.
    pub primary: Label,
    /// Other places that explain it.
    pub secondary: Vec<Label>,
    /// What to do.
    pub helps: Vec<Help>,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, span, message.into())
    }

    /// A warning at a place.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, span, message.into())
    }

    fn new(severity: Severity, code: &'static str, span: Span, message: String) -> Self {
        let primary = Label { span, text: String::new() };
        Diagnostic { severity, code, message, primary, secondary: Vec::new(), helps: Vec::new() }
    }

    /// Says a few words at the primary place.
    pub fn at(mut self, text: impl Into<String>) -> Self {
        self.primary.text = text.into();
        self
    }

    /// Marks another place.
    pub fn note(mut self, span: Span, text: impl Into<String>) -> Self {
        self.secondary.push(Label { span, text: text.into() });
        self
    }

    /// Advises in words only.
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.helps.push(Help { text: text.into(), edits: Vec::new(), applicability: Applicability::Possible });
        self
    }

    /// Advises one replacement that surely is what was meant.
    pub fn fix(self, text: impl Into<String>, span: Span, replacement: impl Into<String>) -> Self {
        self.with_edit(text.into(), span, replacement.into(), Applicability::Certain)
    }

    /// Advises one replacement of several possible ones.
    pub fn suggest(self, text: impl Into<String>, span: Span, replacement: impl Into<String>) -> Self {
        self.with_edit(text.into(), span, replacement.into(), Applicability::Possible)
    }

    fn with_edit(mut self, text: String, span: Span, replacement: String, applicability: Applicability) -> Self {
        self.helps.push(Help { text, edits: vec![Edit { span, replacement }], applicability });
        self
    }

    /// Whether the input must be refused.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// The longest name that is compared with others, in characters.
const MAX_NAME_LENGTH: usize = 100;

/// The name nearest to `wanted` among the candidates, if one is near enough to be a slip of the pen.
pub fn nearest_name<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = wanted.chars().count();
    let limit = (length / 3).max(1);
    // Names of different lengths are as far apart at least; a name of a thousand letters is no typing error.
    let is_comparable = |name: &&str| length <= MAX_NAME_LENGTH && name.chars().count().abs_diff(length) <= limit;
    candidates
        .into_iter()
        .filter(is_comparable)
        .map(|name| (strsim::osa_distance(wanted, name), name))
        // Where every letter differs, the name is another one.
        .filter(|&(distance, name)| distance <= limit && distance < length || name.eq_ignore_ascii_case(wanted))
        .min()
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let names = ["turn", "level", "flag"];
        assert_eq!(nearest_name("trun", names), Some("turn"));
        assert_eq!(nearest_name("levle", names), Some("level"));
        assert_eq!(nearest_name("TURN", names), Some("turn"));
        assert_eq!(nearest_name("semaphore", names), None);
        assert_eq!(nearest_name("y", ["A", "x"]), None);
        assert_eq!(nearest_name("y", ["Y", "x"]), Some("Y"));
    }
}
