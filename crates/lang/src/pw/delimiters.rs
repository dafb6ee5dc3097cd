//! Braces without a partner.
//!
//! In: the tokens of a file. Out: at most one diagnostic about an opening brace that is never closed, or about the
//! first closing brace that closes nothing. Which of several open braces lacks its partner is guessed from the
//! indentation, as a reader would: the first pair whose two lines are indented differently is the suspect. Where indentation
//! says nothing, a declaration inside of a process does: the brace around it should have been closed before. Parentheses
//! and brackets are the parser's business, since they do not reach beyond a statement.

use super::lexer::{Token, TokenKind};
use crate::codes::syntax as code;
use base::{Diagnostic, Span};

/// A brace and the line that it stands on.
#[derive(Clone, Copy)]
struct Brace {
    span: Span,
    line: usize,
    /// How far the line is indented.
    indent: usize,
    begins_line: bool,
}

/// What kind of brace lacks its partner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unpaired {
    /// An opening one.
    Opening,
    /// A closing one.
    Closing {
        /// The first that finds nothing to close.
        last: Span,
        /// The first pair before it whose lines are indented differently.
        suspect: Option<(Span, Span)>,
    },
}

/// Words that begin a declaration of the program, followed by a name, and no statement.
const DECLARE: [&str; 9] =
    ["invariant", "reachable", "property", "process", "proc", "shared", "chan", "enum", "struct"];

/// Looks for a brace without a partner. An opening one is ready to be reported; a closing one may yet turn out to be due to
/// an opening one that was forgotten.
pub(crate) fn unpaired_brace(text: &str, tokens: &[Token]) -> Option<(Unpaired, Option<Diagnostic>)> {
    let mut open: Vec<Brace> = Vec::new();
    let mut suspect: Option<(Span, Span)> = None;
    let mut inside: Option<(Span, Span)> = None;
    let mut here = Brace { span: Span::default(), line: 0, indent: 0, begins_line: true };
    for (nth, token) in tokens.iter().enumerate() {
        advance(&mut here, text, token.span);
        // The first brace is the program's.
        if inside.is_none() && open.len() > 1 && declares(text, tokens, nth) {
            inside = open.last().map(|around| (around.span, token.span));
        }
        match token.kind {
            TokenKind::LeftBrace => open.push(here),
            TokenKind::RightBrace => match open.pop() {
                Some(opener) if suspect.is_none() && is_suspicious(opener, here) => {
                    suspect = Some((opener.span, here.span));
                }
                Some(_) => {}
                None => return Some((Unpaired::Closing { last: token.span, suspect }, None)),
            },
            _ => {}
        }
    }
    let innermost = open.last()?.span;
    Some((Unpaired::Opening, Some(never_closed(innermost, suspect, inside))))
}

/// Whether a declaration of the program begins with a token.
fn declares(text: &str, tokens: &[Token], nth: usize) -> bool {
    let word = |nth: usize| tokens.get(nth).filter(|token| token.kind == TokenKind::Word);
    let is_declaring = |token: &Token| text.get(token.span.range()).is_some_and(|word| DECLARE.contains(&word));
    let begins =
        |token: &Token| matches!(token.kind, TokenKind::LeftBrace | TokenKind::RightBrace | TokenKind::Semicolon);
    word(nth).is_some_and(is_declaring)
        && word(nth + 1).is_some()
        && nth.checked_sub(1).is_some_and(|before| begins(&tokens[before]))
}

fn never_closed(innermost: Span, suspect: Option<(Span, Span)>, inside: Option<(Span, Span)>) -> Diagnostic {
    let message = "this `{` is never closed";
    match (suspect, inside) {
        (None, None) => Diagnostic::error(code::UNCLOSED, innermost, message).help("add the missing `}`"),
        (None, Some((around, declared))) => Diagnostic::error(code::UNCLOSED, around, message)
            .note(declared, "this declares something of the program: a `}` is missing before it")
            .help("add the missing `}`"),
        (Some((opener, closer)), _) => Diagnostic::error(code::UNCLOSED, opener, message)
            .note(closer, "this `}` closes it, but is indented differently")
            .help("add the missing `}`"),
    }
}

/// Moves on to the next token.
fn advance(here: &mut Brace, text: &str, span: Span) {
    let between = text.get(here.span.end as usize..span.start as usize).unwrap_or("");
    let n_line_ends = between.matches('\n').count();
    let is_first = here.span == Span::default();
    here.begins_line = n_line_ends > 0 || is_first;
    if here.begins_line {
        here.indent = between.rsplit('\n').next().map_or(0, |blanks| blanks.chars().count());
    }
    here.line += n_line_ends;
    here.span = span;
}

/// Whether a closing brace that begins its line is indented differently from its opening brace's line.
fn is_suspicious(opener: Brace, closer: Brace) -> bool {
    closer.begins_line && opener.line != closer.line && opener.indent != closer.indent
}
