//! Text to tokens.
//!
//! In: the text of a `.pw` file. Out: its tokens with their spans, comments included, and diagnostics for characters
//! that mean nothing. Spellings that mean the same (`&&`, `/\`, `∧`) are one kind of token; words stay words, because
//! most keywords are names where no keyword can stand (see [`super::words`]).

use crate::codes::syntax as code;
use base::{Diagnostic, Span};
use logos::{Lexer, Logos};

/// A token and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub kind: TokenKind,
    pub span: Span,
}

/// The kinds of tokens.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[logos(skip r"[ \t\r\n\f\u{feff}]+")]
pub(crate) enum TokenKind {
    #[regex(r"[\p{XID_Start}_]\p{XID_Continue}*")]
    Word,
    #[regex(r"[0-9][0-9A-Za-z_]*")]
    Number,
    /// `//` to the end of the line, or `/* … */`.
    #[regex(r"//[^\n]*", allow_greedy = true)]
    #[token("/*", block_comment)]
    Comment,
    /// `///` to the end of the line.
    DocComment,
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
    #[token("..")]
    DotDot,
    #[token("..=")]
    DotDotEqual,
    #[token("..<")]
    DotDotLess,
    #[token("@")]
    At,
    #[token("?")]
    Question,
    #[token("=")]
    Assign,
    #[token("==")]
    Equal,
    #[token("!=")]
    #[token("≠")]
    Unequal,
    #[token("<")]
    Less,
    #[token("<=")]
    #[token("≤")]
    LessEqual,
    #[token(">")]
    Greater,
    #[token(">=")]
    #[token("≥")]
    GreaterEqual,
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
    #[token("&")]
    #[token("/\\")]
    #[token("∧")]
    And,
    #[token("||")]
    #[token("|")]
    #[token("\\/")]
    #[token("∨")]
    Or,
    #[token("!")]
    #[token("~")]
    #[token("¬")]
    Not,
    #[token("^")]
    #[token("⊕")]
    Xor,
    #[token("=>")]
    #[token("→")]
    #[token("⇒")]
    Implies,
    /// Before the result of a procedure; between operands it implies.
    #[token("->")]
    Arrow,
    /// Leads to for some, implies for others.
    #[token("-->")]
    LongArrow,
    #[token("<=>")]
    #[token("<->")]
    #[token("<-->")]
    #[token("↔")]
    #[token("⇔")]
    Iff,
    #[token("~>")]
    LeadsTo,
    /// One character for always; `[]` is two tokens.
    #[token("□")]
    #[token("⬜")]
    #[token("◻")]
    Box,
    #[token("<>")]
    #[token("◇")]
    #[token("⋄")]
    #[token("♢")]
    Diamond,
    #[token("○")]
    #[token("◯")]
    Circle,
    /// An operator that assigns in other languages.
    #[token(":=")]
    #[token("+=")]
    #[token("-=")]
    #[token("*=")]
    #[token("/=")]
    #[token("%=")]
    #[token("++")]
    #[token("--")]
    ForeignAssign,
    /// A comment or a text as other languages have them; never left in the tokens.
    #[regex(r"#[^\n]*", allow_greedy = true)]
    #[regex(r#""[^"\n]*"?"#)]
    #[regex(r"'[^'\n]*'?")]
    Foreign,
    /// After the last token.
    End,
}

#[cfg(test)]
thread_local! {
    /// How often this thread made tokens of a text.
    static N_RUNS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// How often this thread made tokens of a text.
#[cfg(test)]
pub(crate) fn n_runs() -> usize {
    N_RUNS.with(std::cell::Cell::get)
}

/// All tokens of a text in its order, comments included, without characters that mean nothing; an [`TokenKind::End`]
/// last.
pub(crate) fn tokens(text: &str) -> (Vec<Token>, Vec<Diagnostic>) {
    #[cfg(test)]
    N_RUNS.with(|n_runs| n_runs.set(n_runs.get() + 1));
    let mut tokens: Vec<Token> = Vec::new();
    let mut diagnostics = Vec::new();
    let mut unknown: Option<Span> = None;
    for (result, range) in TokenKind::lexer(text).spanned() {
        let span = Span::new(range.start, range.end);
        match result {
            Ok(TokenKind::Comment) => {
                let comment = &text[range];
                if comment.starts_with("/*") && !is_closed(comment) {
                    diagnostics.push(unclosed_comment(span));
                }
                tokens.push(Token { kind: comment_kind(comment), span });
            }
            Ok(TokenKind::Foreign) => diagnostics.push(unknown_characters(text, span)),
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

/// Moves past the rest of a `/* … */`; such comments nest, as in Rust.
fn block_comment(lexer: &mut Lexer<'_, TokenKind>) {
    let rest = lexer.remainder();
    lexer.bump(block_comment_length(rest).unwrap_or(rest.len()));
}

/// How many bytes after an opening `/*` its comment has, the closing `*/` included.
fn block_comment_length(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes();
    let (mut depth, mut at) = (1, 0);
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"*/" => depth -= 1,
            b"/*" => depth += 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

fn is_closed(comment: &str) -> bool {
    block_comment_length(&comment[2..]).is_some()
}

fn comment_kind(comment: &str) -> TokenKind {
    let is_doc = comment.starts_with("///") && !comment.starts_with("////");
    if is_doc { TokenKind::DocComment } else { TokenKind::Comment }
}

fn unclosed_comment(span: Span) -> Diagnostic {
    let opener = Span { start: span.start, end: span.start + 2 };
    Diagnostic::error(code::UNCLOSED, opener, "this comment has no end")
        .at("`*/` is missing")
        .help("end the comment with `*/`, or write `//`, which reaches to the end of the line")
}

fn unknown_characters(text: &str, span: Span) -> Diagnostic {
    let escaped = |one: char| match one {
        '\\' | '"' | '\'' => one.to_string(),
        _ => one.escape_debug().to_string(),
    };
    let shown: String = text[span.range()].chars().take(12).map(escaped).collect();
    let diagnostic = Diagnostic::error(code::UNKNOWN_CHARACTER, span, format!("`{shown}` means nothing here"));
    match text[span.range()].chars().next() {
        Some('"' | '\'') => diagnostic.help("there are no texts in the language; declare an `enum` for named values"),
        Some('\\') => match text[span.end as usize..].split(|one: char| !one.is_alphanumeric()).next() {
            Some("A") => diagnostic.help("for all: `forall i in P: …`"),
            Some("E") => diagnostic.help("there is: `exists i in P: …`"),
            Some("in") => diagnostic.help("membership is written `k in s`"),
            _ => diagnostic.help("an element is taken out of a set with `remove s(k);`"),
        },
        Some('#') => diagnostic.help("a comment begins with `//`"),
        _ => diagnostic,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> String {
        let kinds: Vec<String> = tokens(text).0.iter().map(|token| format!("{:?}", token.kind)).collect();
        kinds.join(" ")
    }

    #[test]
    fn spellings_of_one_operator_are_one_kind() {
        assert_eq!(kinds("a && b /\\ c ∧ d & e").matches("And").count(), 4);
        assert_eq!(kinds("0..<N"), "Number DotDotLess Word End");
        assert_eq!(kinds("[]<>p"), "LeftBracket RightBracket Diamond Word End");
        assert_eq!(kinds("P[i]@crit ~> ~x"), "Word LeftBracket Word RightBracket At Word LeadsTo Not Word End");
    }

    #[test]
    fn comments_are_kept_and_told_apart() {
        assert_eq!(
            kinds("a // b\n/// c\n//// d\n/* e /* f */ */ g"),
            "Word Comment DocComment Comment Comment Word End"
        );
    }

    #[test]
    fn neighbouring_unknown_characters_are_one_error() {
        let (_, diagnostics) = tokens("a $$$ b \u{1F600}");
        let messages: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
        assert_eq!(messages, ["`$$$` means nothing here", "`\u{1F600}` means nothing here"]);
    }

    #[test]
    fn a_comment_without_end_reaches_to_the_end_of_the_file() {
        let (tokens, diagnostics) = tokens("a /* b");
        assert_eq!((tokens.len(), diagnostics.len()), (3, 1));
    }
}
