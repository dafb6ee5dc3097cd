//! Braces of blocks and lists. Where one is missing, the parser goes on as if it were there.

use super::super::delimiters::Unpaired;
use super::{Parse, Parser, Role, TokenKind};
use crate::codes::syntax as code;
use base::{Diagnostic, Span};

impl Parser<'_> {
    /// An opening brace. If the file has a closing brace too many, the opening one was forgotten here.
    pub(super) fn open_brace(&mut self, role: Role, advice: &str) -> Parse<Span> {
        if self.at(TokenKind::LeftBrace) {
            return Ok(self.bump_as(role));
        }
        if let Some(Unpaired::Closing { last, .. }) = self.unpaired {
            let end = self.previous_end();
            let diagnostic = Diagnostic::error(code::UNCLOSED, end, "a `{` is missing")
                .note(last, "so this `}` closes nothing")
                .suggest("add `{`", end, " {");
            self.report(diagnostic);
            self.misses_opening_brace = true;
            return Ok(end);
        }
        let message = format!("expected `{{`, found {}", self.found());
        let mut diagnostic = Diagnostic::error(code::UNEXPECTED, self.span(), message);
        match self.said_here() {
            Some(help) => diagnostic = diagnostic.help(help),
            None if !advice.is_empty() => diagnostic = diagnostic.help(advice),
            None => {}
        }
        Err(self.fail(diagnostic))
    }

    /// The closing brace. If the file has an opening brace too many, the next declaration closes the block as well.
    pub(super) fn close_brace(&mut self, role: Role, expected: &str) -> Parse<()> {
        if self.is_closed_by_item() {
            return Ok(());
        }
        self.mark(role);
        self.expect(TokenKind::RightBrace, expected).map(|_| ())
    }

    /// Whether a declaration stands here because a closing brace before it was forgotten.
    pub(super) fn is_closed_by_item(&self) -> bool {
        self.unpaired == Some(Unpaired::Opening) && self.begins_item()
    }

    /// Whether a list or block in braces ends here.
    pub(super) fn at_end_of_braces(&self) -> bool {
        matches!(self.peek(), TokenKind::RightBrace | TokenKind::End) || self.is_closed_by_item()
    }

    /// Reports a closing brace too many, unless it turned out that an opening one is missing.
    pub(super) fn report_surplus_brace(&mut self) {
        let Some(Unpaired::Closing { last, suspect }) = self.unpaired else { return };
        if self.misses_opening_brace {
            return;
        }
        self.log.add(match suspect {
            None => Diagnostic::error(code::UNCLOSED, last, "this `}` closes nothing").suggest("remove it", last, ""),
            Some((opener, closer)) => Diagnostic::error(code::UNCLOSED, closer, "there is a `}` too many")
                .at("this one is indented differently from the `{` that it closes")
                .note(opener, "here")
                .note(last, "this `}` closes nothing"),
        });
    }
}
