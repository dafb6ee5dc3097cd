//! The text of an automaton to tokens.
//!
//! In: a text. Out: its tokens with their spans, and a diagnostic for each character that means nothing.

use base::{Diagnostic, Span};

/// The code of all that is wrong with an automaton; the table of codes has the same.
pub const UNEXPECTED: &str = "E0101";

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoaTokenKind {
    /// A word with a colon after it, which belongs to it.
    HeaderName,
    /// A word.
    Word,
    /// `@word`
    Alias,
    /// Digits.
    Number,
    /// A text in quotes.
    Text,
    /// `--BODY--`
    Body,
    /// `--END--`
    End,
    /// `--ABORT--`
    Abort,
    /// One of `[ ] { } ( ) ! & |`.
    Sign(char),
}

/// A token and its span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HoaToken {
    /// What it is.
    pub kind: HoaTokenKind,
    /// Its span in the text.
    pub span: Span,
}

/// Cuts a text into tokens.
pub fn tokens(text: &str) -> (Vec<HoaToken>, Vec<Diagnostic>) {
    let (mut tokens, mut diagnostics) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        if rest.starts_with("/*") {
            at += comment(rest);
            continue;
        }
        match token(rest, first) {
            Some((kind, length)) => {
                tokens.push(HoaToken { kind, span: Span::new(at, at + length) });
                at += length;
            }
            None => {
                let length = first.len_utf8();
                let message = format!("`{}` means nothing here", first.escape_debug());
                diagnostics.push(Diagnostic::error(UNEXPECTED, Span::new(at, at + length), message));
                at += length;
            }
        }
    }
    (tokens, diagnostics)
}

/// The kind and the length of the token that a text begins with.
fn token(rest: &str, first: char) -> Option<(HoaTokenKind, usize)> {
    let marks = [("--BODY--", HoaTokenKind::Body), ("--END--", HoaTokenKind::End), ("--ABORT--", HoaTokenKind::Abort)];
    if let Some((word, kind)) = marks.into_iter().find(|(word, _)| rest.starts_with(word)) {
        return Some((kind, word.len()));
    }
    let while_word = |from: usize| from + rest[from..].find(|c: char| !is_word_part(c)).unwrap_or(rest.len() - from);
    match first {
        '[' | ']' | '{' | '}' | '(' | ')' | '!' | '&' | '|' => Some((HoaTokenKind::Sign(first), 1)),
        '0'..='9' => Some((HoaTokenKind::Number, rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()))),
        '@' => Some((HoaTokenKind::Alias, while_word(1))),
        '"' => Some((HoaTokenKind::Text, text_length(rest))),
        _ if first.is_ascii_alphabetic() || first == '_' => {
            let length = while_word(0);
            match rest[length..].starts_with(':') {
                true => Some((HoaTokenKind::HeaderName, length + 1)),
                false => Some((HoaTokenKind::Word, length)),
            }
        }
        _ => None,
    }
}

fn is_word_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-' || c == '.'
}

/// The length of a text in quotes; to the end where nothing closes it, which reading its parts will report.
fn text_length(rest: &str) -> usize {
    let mut is_escaped = false;
    for (offset, c) in rest.char_indices().skip(1) {
        if c == '"' && !is_escaped {
            return offset + 1;
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    rest.len()
}

/// The length of a comment; comments nest.
fn comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}
