//! A program text that was read once, from which instances are made.
//!
//! In: a source file. Out: a [`Text`]: its tokens, its tree and what the parser warns of; then, for each size that is asked for, the
//! Model of that instance, or everything that is wrong with it at that size. The text is neither lexed nor parsed again.

use base::{Diagnostic, SourceFile};

use super::lexer::Token;
use super::{Loaded, ParameterRange, ast, elaborate, lower, parser, too_long, unused};

/// A program text that the parser accepted.
#[derive(Clone, Debug)]
pub struct Text {
    /// The tokens without comments, in order.
    pub(super) tokens: Vec<Token>,
    /// The tree, elaborated, in which `weak x` of something that is no process is the predicate `x`.
    pub(super) program: ast::Program,
    /// What the parser warns of.
    warnings: Vec<Diagnostic>,
    /// What is wrong with structs, sets and channels.
    wrong: Vec<Diagnostic>,
    /// Whether a variable has a type that is none: then its uses are not checked.
    lacks_types: bool,
    /// What is declared and not used; said of programs that are otherwise right, since a misspelt use is an error of its own.
    unused: Vec<Diagnostic>,
}

/// Reads a text.
///
/// # Errors
/// What the parser reports; a text with syntax errors is not looked at any further.
pub fn read(source: &SourceFile) -> Result<Text, Vec<Diagnostic>> {
    if let Some(diagnostic) = too_long(source) {
        return Err(vec![diagnostic]);
    }
    let parser::Outcome { program, diagnostics, tokens, .. } = parser::parse(source);
    let program = match program {
        Some(program) if !diagnostics.iter().any(Diagnostic::is_error) => lower::with_predicates(&program),
        _ => return Err(diagnostics),
    };
    let unused = unused::unused(&program);
    let elaborate::Elaborated { program, diagnostics: wrong, lacks_types } = elaborate::elaborate(&program);
    Ok(Text { tokens, program, warnings: diagnostics, wrong, lacks_types, unused })
}

impl Text {
    /// The Model with these values for the parameters; one that is not given takes its least value. `source` is the file that the
    /// text was read from.
    ///
    /// # Errors
    /// Everything that is wrong at this size, with the warnings, in the order of the text.
    pub fn instance(&self, source: &SourceFile, parameters: &[(String, i64)]) -> Result<Loaded, Vec<Diagnostic>> {
        if self.lacks_types {
            return Err(self.warnings.iter().chain(&self.wrong).cloned().collect());
        }
        let (model, more) = match lower::lower(self, source, parameters) {
            Ok(Loaded { model, warnings, .. }) => (self.wrong.is_empty().then_some(model), warnings),
            Err(diagnostics) => (None, diagnostics),
        };
        let mut diagnostics: Vec<Diagnostic> = self.warnings.iter().chain(&self.wrong).cloned().collect();
        diagnostics.extend(more);
        diagnostics.extend(model.iter().flat_map(|_| &self.unused).cloned());
        diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span);
        match model {
            Some(model) => Ok(Loaded { model, warnings: diagnostics, n_before: 0 }),
            None => Err(diagnostics),
        }
    }

    /// The parameters with the values that they may have.
    ///
    /// # Errors
    /// What is wrong with their declarations.
    pub fn parameters(&self, source: &SourceFile) -> Result<Vec<ParameterRange>, Vec<Diagnostic>> {
        lower::parameter_ranges(self, source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pw::lexer::n_runs;

    const TEXT: &str = "program p(N: 2..) { shared a: [bool; N]; \
        process P[i in 0..<N] { loop { await !a[i]; /* now */ a[(i + 1) % N] = true; } } \
        invariant low: forall i: i < N; property again: always eventually a[0] under weak P[*]; }";

    #[test]
    fn a_sweep_reads_its_text_once() {
        let source = SourceFile::new("p.pw", TEXT);
        let before = n_runs();
        let text = read(&source).unwrap();
        assert_eq!(text.parameters(&source).unwrap().len(), 1);
        for size in 2..=20 {
            let model = text.instance(&source, &[("N".to_owned(), size)]).unwrap().model;
            assert_eq!(model.processes.len() as i64, size);
            assert_eq!(model.statements.iter().nth(1).unwrap().text, "a[(i + 1) % N] = true");
        }
        assert_eq!(n_runs() - before, 1, "the lexer ran once");
    }

    #[test]
    fn what_is_wrong_at_one_size_is_reported_at_that_size_only() {
        let source = SourceFile::new("p.pw", "program p(N: 1..) { shared a: [bool; N - 1]; process P { skip; } }");
        let text = read(&source).unwrap();
        let codes = |size: i64| match text.instance(&source, &[("N".to_owned(), size)]) {
            Ok(_) => Vec::new(),
            Err(found) => found.iter().map(|diagnostic| diagnostic.code).collect(),
        };
        assert_eq!(codes(1), [crate::codes::check::BAD_ARRAY_LENGTH]);
        assert!(codes(2).is_empty());
        assert_eq!(codes(0), [crate::codes::check::PARAMETER_RANGE, crate::codes::check::BAD_ARRAY_LENGTH]);
    }
}
