//! Braces without a partner.
//!
//! In: the tokens of a file. Out: at most one diagnostic about an opening brace that is never closed, or about the first
//! closing brace that closes nothing. Which of several open braces lacks its partner is guessed from the indentation, as a
//! reader would: the first pair whose two lines are indented differently is the suspect. Parentheses and brackets are the
//! parser's business, since they do not reach beyond a statement.

use super::lexer::{Token, TokenKind};
use crate::codes::syntax as code;
use base::{Diagnostic, SourceFile, Span};

/// Looks for a brace without a partner.
pub(crate) fn unpaired_brace(file: &SourceFile, tokens: &[Token]) -> Option<Diagnostic> {
    let mut open: Vec<Span> = Vec::new();
    let mut suspect: Option<(Span, Span)> = None;
    for token in tokens {
        match token.kind {
            TokenKind::LeftBrace => open.push(token.span),
            TokenKind::RightBrace => match open.pop() {
                Some(opener) if suspect.is_none() && is_suspicious(file, opener, token.span) => {
                    suspect = Some((opener, token.span));
                }
                Some(_) => {}
                None => return Some(closes_nothing(token.span)),
            },
            _ => {}
        }
    }
    let outermost = *open.last()?;
    let message = "this `{` is never closed";
    Some(match suspect {
        None => Diagnostic::error(code::UNCLOSED, outermost, message).help("add the missing `}`"),
        Some((opener, closer)) => Diagnostic::error(code::UNCLOSED, opener, message)
            .note(closer, "this `}` closes it, but is indented differently")
            .help("add the missing `}`"),
    })
}

fn closes_nothing(span: Span) -> Diagnostic {
    Diagnostic::error(code::UNCLOSED, span, "this `}` closes nothing").suggest("remove it", span, "")
}

/// Whether a closing brace that begins its line is indented differently from its opening brace's line.
fn is_suspicious(file: &SourceFile, opener: Span, closer: Span) -> bool {
    let (open_line, close) = (file.line_col(opener.start).line, file.line_col(closer.start));
    let close_indent = indentation(file.line(close.line));
    let begins_line = close.col as usize == close_indent + 1;
    open_line != close.line && begins_line && indentation(file.line(open_line)) != close_indent
}

fn indentation(line: &str) -> usize {
    line.chars().take_while(|c| c.is_whitespace()).count()
}
