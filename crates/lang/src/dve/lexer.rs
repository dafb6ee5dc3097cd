//! Text to tokens.
//!
//! In: the text of a `.dve` file, or of a goal. Out: its tokens with their spans, without comments, and diagnostics for
//! characters that mean nothing. Words stay words; the parser knows which of them are keywords.

use base::{Diagnostic, Span};
use logos::{Lexer, Logos};

use crate::codes::dve as code;

/// A token and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub kind: TokenKind,
    pub span: Span,
}

/// The kinds of tokens.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[logos(skip r"[ \t\r\n\f\u{feff}]+")]
#[logos(skip r"\\\r?\n")]
pub(super) enum TokenKind {
    #[regex(r"[A-Za-z_][A-Za-z0-9_$#]*")]
    Word,
    #[regex(r"[0-9][0-9A-Za-z_]*")]
    Number,
    /// Never left in the tokens.
    #[regex(r"//[^\n]*", allow_greedy = true)]
    #[token("/*", block_comment)]
    Comment,
    #[token("{")]
    LeftBrace,
    #[token("}")]
    RightBrace,
    #[token("(")]
    LeftParen,
    #[token(")")]
    RightParen,
    #[token("[")]
    LeftBracket,
    #[token("]")]
    RightBracket,
    #[token(";")]
    Semicolon,
    #[token(":")]
    Colon,
    #[token(",")]
    Comma,
    #[token(".")]
    Dot,
    #[token("->")]
    Arrow,
    #[token("=")]
    Assign,
    #[token("!")]
    Bang,
    #[token("?")]
    Question,
    #[token("~")]
    Tilde,
    #[token("==")]
    Equal,
    #[token("!=")]
    Unequal,
    #[token("<")]
    Less,
    #[token("<=")]
    LessEqual,
    #[token(">")]
    Greater,
    #[token(">=")]
    GreaterEqual,
    #[token("<<")]
    ShiftLeft,
    #[token(">>")]
    ShiftRight,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("%")]
    Percent,
    #[token("&&")]
    And,
    #[token("||")]
    Or,
    #[token("&")]
    BitAnd,
    #[token("|")]
    BitOr,
    #[token("^")]
    BitXor,
    /// After the last token.
    End,
}

/// All tokens of a text in its order, without comments and characters that mean nothing; a [`TokenKind::End`] last.
pub(super) fn tokens(text: &str) -> (Vec<Token>, Vec<Diagnostic>) {
    let mut tokens: Vec<Token> = Vec::new();
    let mut diagnostics = Vec::new();
    let mut unknown: Option<Span> = None;
    for (result, range) in TokenKind::lexer(text).spanned() {
        let span = Span::new(range.start, range.end);
        match result {
            Ok(TokenKind::Comment) => {
                if text[range.clone()].starts_with("/*") && !is_closed(&text[range]) {
                    diagnostics.push(unclosed_comment(span));
                }
            }
            Ok(kind) => tokens.push(Token { kind, span }),
            Err(()) => match &mut unknown {
                Some(run) if run.end == span.start => run.end = span.end,
                _ => {
                    diagnostics.extend(unknown.map(|run| unknown_characters(text, run)));
                    unknown = Some(span);
                }
            },
        }
    }
    diagnostics.extend(unknown.map(|run| unknown_characters(text, run)));
    tokens.push(Token { kind: TokenKind::End, span: Span::new(text.len(), text.len()) });
    (tokens, diagnostics)
}

/// Moves past the rest of a `/* … */`; such comments do not nest, as in C.
fn block_comment(lexer: &mut Lexer<'_, TokenKind>) {
    let rest = lexer.remainder();
    lexer.bump(rest.find("*/").map_or(rest.len(), |end| end + 2));
}

fn is_closed(comment: &str) -> bool {
    comment[2..].ends_with("*/")
}

fn unclosed_comment(span: Span) -> Diagnostic {
    let opener = Span { start: span.start, end: span.start + 2 };
    Diagnostic::error(code::UNCLOSED, opener, "this comment has no end")
        .at("`*/` is missing")
        .help("end the comment with `*/`, or write `//`, which reaches to the end of the line")
}

fn unknown_characters(text: &str, span: Span) -> Diagnostic {
    let shown: String = text[span.range()].chars().take(12).flat_map(char::escape_debug).collect();
    Diagnostic::error(code::UNKNOWN_CHARACTER, span, format!("`{shown}` means nothing here"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> String {
        let kinds: Vec<String> = tokens(text).0.iter().map(|token| format!("{:?}", token.kind)).collect();
        kinds.join(" ")
    }

    #[test]
    fn long_signs_are_one_token() {
        assert_eq!(kinds("a->b c!=d e!f"), "Word Arrow Word Word Unequal Word Word Bang Word End");
        assert_eq!(kinds("a<<1>=b&&c&d"), "Word ShiftLeft Number GreaterEqual Word And Word BitAnd Word End");
    }

    #[test]
    fn comments_and_continued_lines_are_white_space() {
        assert_eq!(kinds("a // b\n/* c /* d */ e \\\n f$#1"), "Word Word Word End");
        let (tokens, diagnostics) = tokens("a /* b");
        assert_eq!((tokens.len(), diagnostics.len()), (2, 1));
    }

    #[test]
    fn neighbouring_unknown_characters_are_one_error() {
        let (_, diagnostics) = tokens("a @@@ b \u{1F600}");
        let messages: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
        assert_eq!(messages, ["`@@@` means nothing here", "`\u{1F600}` means nothing here"]);
    }
}
