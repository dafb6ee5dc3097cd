//! The text of a formula to tokens.
//!
//! In: a text. Out: tokens with their spans, and a diagnostic for each character that means nothing. A name takes its index, its fields and its place with it
//! (`P[0].level`, `P[i]@{crit, leave}`): to a formula it is one atom. A text in quotes is an atom, too.

use base::{Diagnostic, Span};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LtlTokenKind {
    /// A name with what belongs to it, or a word that is an operator.
    Word,
    /// Digits.
    Number,
    /// A text in double quotes.
    Quoted,
    /// An operator, written in one of its ways.
    Symbol,
    /// `(`
    Open,
    /// `)`
    Close,
}

/// A token and its span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LtlToken {
    /// What it is.
    pub kind: LtlTokenKind,
    /// Its span in the text.
    pub span: Span,
}

/// A character that belongs to no token; the table of codes has the same.
pub const UNKNOWN_CHARACTER: &str = "E0119";
/// Something opened and not closed.
pub const UNCLOSED: &str = "E0104";

/// All operators that are not words, longest first.
const SYMBOLS: [&str; 46] = [
    "<-->", "<->", "<=>", "-->", "->", "=>", "<>", "<=", "<", ">=", ">", "==", "=", "!=", "~>", "&&", "&", "||", "|",
    "/\\", "\\/", "[]", "()", "!", "~", "^", "*", "+", "□", "⬜", "◻", "◇", "⋄", "♢", "○", "◯", "∧", "∨", "¬", "→",
    "⇒", "↔", "⇔", "⊕", "≠", "≤",
];

/// Cuts a text into tokens.
pub fn tokens(text: &str) -> (Vec<LtlToken>, Vec<Diagnostic>) {
    let mut lexer = Lexer { text, at: 0, diagnostics: Vec::new() };
    let mut tokens = Vec::new();
    while let Some(token) = lexer.next_token() {
        tokens.push(token);
    }
    (tokens, lexer.diagnostics)
}

struct Lexer<'a> {
    text: &'a str,
    /// The offset of what comes next.
    at: usize,
    diagnostics: Vec<Diagnostic>,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn next_token(&mut self) -> Option<LtlToken> {
        loop {
            let skipped = self.rest().len() - self.rest().trim_start().len();
            self.at += skipped;
            let start = self.at;
            let first = self.rest().chars().next()?;
            let kind = match first {
                '"' => self.quoted(),
                '0'..='9' => {
                    self.take_while(|c| c.is_ascii_digit());
                    Some(LtlTokenKind::Number)
                }
                _ if is_name_start(first) => {
                    self.take_while(is_name_part);
                    self.suffixes();
                    Some(LtlTokenKind::Word)
                }
                _ => self.symbol(first),
            };
            if let Some(kind) = kind {
                return Some(LtlToken { kind, span: Span::new(start, self.at) });
            }
        }
    }

    fn take_while(&mut self, is_wanted: impl Fn(char) -> bool) {
        let length = self.rest().find(|c| !is_wanted(c)).unwrap_or(self.rest().len());
        self.at += length;
    }

    fn symbol(&mut self, first: char) -> Option<LtlTokenKind> {
        let symbol = SYMBOLS.iter().find(|symbol| self.rest().starts_with(**symbol));
        if let Some(symbol) = symbol {
            self.at += symbol.len();
            return Some(LtlTokenKind::Symbol);
        }
        let start = self.at;
        self.at += first.len_utf8();
        match first {
            '(' => Some(LtlTokenKind::Open),
            ')' => Some(LtlTokenKind::Close),
            _ => {
                let message = format!("`{}` means nothing in a formula", first.escape_debug());
                let help = "atoms that are more than a name stand in quotes: \"x + y > 1\"";
                self.diagnostics
                    .push(Diagnostic::error(UNKNOWN_CHARACTER, Span::new(start, self.at), message).help(help));
                None
            }
        }
    }

    fn quoted(&mut self) -> Option<LtlTokenKind> {
        let start = self.at;
        let mut is_escaped = false;
        for (offset, c) in self.rest().char_indices().skip(1) {
            match c {
                '"' if !is_escaped => {
                    self.at += offset + 1;
                    return Some(LtlTokenKind::Quoted);
                }
                _ => is_escaped = c == '\\' && !is_escaped,
            }
        }
        self.at = self.text.len();
        let span = Span::new(start, start + 1);
        self.diagnostics.push(Diagnostic::error(UNCLOSED, span, "the text in quotes has no end").at("begins here"));
        Some(LtlTokenKind::Quoted)
    }

    /// `[…]`, `.name`, `@name` and `@{…}` right after a name.
    fn suffixes(&mut self) {
        loop {
            let rest = self.rest();
            let mut after = rest.chars().skip(1);
            let begins_name = after.next().is_some_and(is_name_start);
            if rest.starts_with('[') && !rest.starts_with("[]") || rest.starts_with("@{") {
                if !self.brackets() {
                    return;
                }
            } else if begins_name && (rest.starts_with('.') || rest.starts_with('@')) {
                self.at += 1;
                self.take_while(is_name_part);
            } else {
                return;
            }
        }
    }

    /// Takes `[…]` or `@{…}` to its partner; says so where there is none.
    fn brackets(&mut self) -> bool {
        let start = self.at;
        let mut depth = 0;
        for (offset, c) in self.rest().char_indices() {
            match c {
                '[' | '{' => depth += 1,
                ']' | '}' => depth -= 1,
                _ => {}
            }
            if depth == 0 && offset > 0 {
                self.at += offset + 1;
                return true;
            }
        }
        let message = "a bracket after a name has no partner";
        self.diagnostics.push(Diagnostic::error(UNCLOSED, Span::new(start, start + 1), message).at("opened here"));
        self.at = self.text.len();
        false
    }
}

/// Whether a name may begin so.
pub fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// Whether a name may go on so.
pub fn is_name_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '\''
}
