//! What is no Promela: embedded C, and calls of inlines that are not there.
//!
//! Each is reported at its place and read over, so that what is wrong behind it is found in the same run.

use base::Diagnostic;
use base::diagnostic::nearest_name;

use super::super::ast::ExprKind;
use super::super::lexer::Kind;
use super::{Parse, Parser};
use crate::codes::promela as code;

/// The words that begin embedded C.
const EMBEDDED: [&str; 5] = ["c_code", "c_decl", "c_expr", "c_state", "c_track"];

impl Parser<'_> {
    /// Whether embedded C begins here.
    pub(super) fn is_embedded(&self) -> bool {
        self.token().name().is_some_and(|word| EMBEDDED.contains(&word))
    }

    /// Reports embedded C, and reads over it: `c_code [condition] { … }`, `c_state "int x" "Global"`.
    pub(super) fn embedded(&mut self) {
        let word = self.token().text();
        self.not_read(word);
        self.advance();
        while matches!(self.token().kind, Kind::Text(_)) {
            self.advance();
        }
        if self.is("[") {
            self.skip_brackets(["[", "]"]);
        }
        if self.is("{") {
            self.skip_brackets(["{", "}"]);
        }
    }

    /// Reads over what stands between two brackets.
    fn skip_brackets(&mut self, [opening, closing]: [&str; 2]) {
        let mut depth = 0usize;
        while !self.at_end() {
            depth += usize::from(self.is(opening));
            depth -= usize::from(self.is(closing));
            self.advance();
            if depth == 0 {
                return;
            }
        }
    }

    /// The call of an inline that is not there, or stands behind it in the text, where a name has its arguments on the same line.
    pub(super) fn unknown_call(&mut self, start: usize) -> Parse<ExprKind> {
        let (name, span) = (self.tokens[start].text(), self.tokens[start].span);
        let near = nearest_name(&name, self.shared.inlines.keys().map(String::as_str)).map(str::to_owned);
        let mut words = self.tokens.windows(2).skip(self.at);
        let comes_later = words.any(|pair| pair[0].name() == Some("inline") && pair[1].name() == Some(&name));
        let message = format!("there is no inline or macro `{name}`");
        let mut diagnostic = Diagnostic::error(code::UNKNOWN_NAME, span, message);
        if comes_later {
            diagnostic = diagnostic.help("an inline must stand before its calls");
        } else if let Some(near) = near {
            diagnostic = diagnostic.suggest(format!("did you mean `{near}`?"), span, near);
        }
        self.error(diagnostic);
        self.skip_brackets(["(", ")"]);
        Ok(ExprKind::Number(1))
    }
}
