//! One row of offsets for a file and everything that it includes, and which macros stand where.
//!
//! In: texts, as the preprocessor meets them. Out: for a span, the file that it lies in. The main file comes first, so that a span within
//! it is one of the file itself; each inclusion gets offsets of its own behind it. A span of an included text is shown in its own
//! file; where only the main file can be shown, the `#include` stands for it.

use base::{Diagnostic, SourceFile, Span};

/// A text that is included.
#[derive(Clone, Debug)]
struct Included {
    /// Where its offsets start.
    base: usize,
    file: SourceFile,
    /// The directive.
    directive: Span,
}

/// A macro that is used in the text.
#[derive(Clone, Debug)]
struct MacroUse {
    span: Span,
    name: String,
    definition: Span,
}

/// All texts of a program.
#[derive(Clone, Debug)]
pub(super) struct SourceMap {
    main: SourceFile,
    included: Vec<Included>,
    macros: Vec<MacroUse>,
    /// Behind the last offset in use.
    end: usize,
}

/// A diagnostic and the text that it speaks of.
pub(super) struct Placed {
    pub source: SourceFile,
    pub diagnostic: Diagnostic,
}

impl SourceMap {
    /// A program of one file.
    pub fn new(main: SourceFile) -> Self {
        let end = main.text().len() + 1;
        SourceMap { main, included: Vec::new(), macros: Vec::new(), end }
    }

    /// Adds an included text; the offset of its first byte.
    pub fn include(&mut self, file: SourceFile, directive: Span) -> usize {
        let base = self.end;
        self.end += file.text().len() + 1;
        self.included.push(Included { base, file, directive });
        base
    }

    /// Remembers that a macro is used.
    pub fn macro_use(&mut self, span: Span, name: &str, definition: Span) {
        self.macros.push(MacroUse { span, name: name.to_string(), definition });
    }

    /// The name and text of the file that contains a span, and the span within it.
    fn locate(&self, span: Span) -> (&SourceFile, Span, Option<&Included>) {
        let found = self.included.iter().rev().find(|one| one.base <= span.start as usize);
        match found {
            None => (&self.main, span, None),
            Some(one) => {
                let shift = |offset: u32| (offset as usize).saturating_sub(one.base).min(one.file.text().len());
                (&one.file, Span::new(shift(span.start), shift(span.end)), Some(one))
            }
        }
    }

    /// The span in the main file: of an included text, the directive.
    pub fn in_main(&self, span: Span) -> Span {
        let (mut span, mut included) = (span, self.locate(span).2);
        while let Some(one) = included {
            span = one.directive;
            included = self.locate(span).2;
        }
        span
    }

    /// The text of a span.
    pub fn slice(&self, span: Span) -> &str {
        let (file, span, _) = self.locate(span);
        file.text().get(span.range()).unwrap_or_default()
    }

    /// The line of a span in its own file.
    pub fn line(&self, span: Span) -> u32 {
        let (file, span, _) = self.locate(span);
        file.line_col(span.start).line
    }

    /// A diagnostic with the text that it speaks of; what it says about other texts becomes words.
    pub fn place(&self, diagnostic: Diagnostic) -> Placed {
        let diagnostic = self.name_macro(diagnostic);
        let (file, span, included) = self.locate(diagnostic.primary.span);
        let home = included.map(|one| one.base);
        let mut placed = Diagnostic { secondary: Vec::new(), ..diagnostic.clone() };
        placed.primary.span = span;
        for label in diagnostic.secondary {
            let (other, span, theirs) = self.locate(label.span);
            if theirs.map(|one| one.base) == home {
                placed = placed.note(span, label.text);
            } else {
                let line = other.line_col(span.start).line;
                placed = placed.help(format!("{} at line {line} of {}", label.text, other.name()));
            }
        }
        for help in &mut placed.helps {
            help.edits.retain(|edit| self.locate(edit.span).2.map(|one| one.base) == home);
            for edit in &mut help.edits {
                edit.span = self.locate(edit.span).1;
            }
        }
        Placed { source: file.clone(), diagnostic: placed }
    }

    /// A warning, shown in the main file.
    pub fn in_main_file(&self, diagnostic: Diagnostic) -> Diagnostic {
        let included = self.locate(diagnostic.primary.span).2.is_some();
        if !included {
            return self.place(diagnostic).diagnostic;
        }
        let Placed { source, diagnostic: placed } = self.place(diagnostic.clone());
        let line = source.line_col(placed.primary.span.start).line;
        let message = format!("{}, at line {line} of {}", diagnostic.message, source.name());
        let mut shown = Diagnostic { message, secondary: Vec::new(), helps: Vec::new(), ..diagnostic };
        shown.primary.span = self.in_main(shown.primary.span);
        shown
    }

    /// Says that a place is the use of a macro.
    fn name_macro(&self, diagnostic: Diagnostic) -> Diagnostic {
        let span = diagnostic.primary.span;
        let covers = |one: &&MacroUse| one.span.start <= span.start && span.end <= one.span.end;
        let innermost = self.macros.iter().filter(covers).min_by_key(|one| one.span.end - one.span.start);
        match innermost {
            Some(one) if diagnostic.secondary.iter().all(|label| label.span != one.definition) => {
                let text = format!("in the expansion of `{}`", one.name);
                diagnostic.note(one.definition, text)
            }
            _ => diagnostic,
        }
    }
}
