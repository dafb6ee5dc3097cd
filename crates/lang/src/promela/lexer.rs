//! Characters to tokens, before the preprocessor.
//!
//! In: a text and the offset of its first byte in the [`SourceMap`](super::sources::SourceMap). Out: all tokens, ends of lines among
//! them, since directives end there. Comments are white space, and a `\` at the end of a line joins two lines. Nothing is refused here: a
//! character that means nothing becomes a token of its own, at which the parser reports it.

use std::sync::Arc;

use base::Span;

/// What a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name or keyword.
    Name(Arc<str>),
    /// A number; a character in quotes is one, too.
    Number(i64),
    /// A number that SPIN and the preprocessor of C read differently: `010`, `1L`. The parser sees what SPIN reads.
    Literal(Arc<str>),
    /// A number that does not fit in 64 bits.
    BadNumber,
    /// A text in quotes, without them.
    Text(Arc<str>),
    /// A sign, such as `->`.
    Sign(&'static str),
    /// A character that means nothing, or a text, character or comment without its end.
    Stray(Stray),
    /// The end of a line.
    Line,
    /// The end of the text.
    End,
}

/// What is wrong with a stray token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stray {
    /// A character that means nothing.
    Character(char),
    /// A text or a character without its closing quote.
    Quote,
    /// A comment without its end.
    Comment,
}

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub kind: Kind,
    pub span: Span,
    /// Whether white space stands before it.
    pub spaced: bool,
    /// Whether a line begins with it, once macros are expanded.
    pub starts_line: bool,
}

impl Token {
    /// Whether it is this sign.
    pub fn is(&self, sign: &str) -> bool {
        matches!(self.kind, Kind::Sign(own) if own == sign)
    }

    /// The text of a name.
    pub fn name(&self) -> Option<&str> {
        match &self.kind {
            Kind::Name(name) => Some(name),
            _ => None,
        }
    }

    /// As it is written.
    pub fn text(&self) -> String {
        match &self.kind {
            Kind::Name(name) => name.to_string(),
            Kind::Number(number) => number.to_string(),
            Kind::Literal(digits) => digits.to_string(),
            Kind::BadNumber => "a number".into(),
            Kind::Text(text) => format!("\"{text}\""),
            Kind::Sign(sign) => (*sign).to_string(),
            Kind::Stray(Stray::Character(character)) => character.to_string(),
            Kind::Stray(Stray::Quote) => "\"".into(),
            Kind::Stray(Stray::Comment) => "/*".into(),
            Kind::Line | Kind::End => String::new(),
        }
    }
}

/// All signs, longer ones before their beginnings.
const SIGNS: [&str; 45] = [
    "->", "::", "..", "++", "--", "==", "!=", "<=", ">=", "&&", "||", "<<", ">>", "!!", "??", "##", "\\/", "/\\", "(",
    ")", "{", "}", "[", "]", ";", ",", ".", ":", "=", "+", "-", "*", "/", "%", "&", "|", "^", "~", "!", "?", "<", ">",
    "@", "#", "$",
];

/// All tokens of a text, with the end of the text last.
pub(super) fn tokens(text: &str, base: usize) -> Vec<Token> {
    let mut lexer = Lexer { text, at: 0, base, spaced: false, found: Vec::new() };
    while lexer.at < text.len() {
        lexer.one();
    }
    lexer.push(Kind::Line, text.len());
    lexer.push(Kind::End, text.len());
    lexer.found
}

struct Lexer<'t> {
    text: &'t str,
    /// The byte that is read next.
    at: usize,
    base: usize,
    /// Whether white space was read since the last token.
    spaced: bool,
    found: Vec<Token>,
}

impl Lexer<'_> {
    fn push(&mut self, kind: Kind, start: usize) {
        let span = Span::new(self.base + start, self.base + self.at);
        self.found.push(Token { kind, span, spaced: self.spaced, starts_line: false });
        self.spaced = false;
    }

    fn one(&mut self) {
        let start = self.at;
        let rest = &self.text[start..];
        let Some(first) = rest.chars().next() else { return };
        if let Some(joined) = line_continuation(rest) {
            self.at += joined;
            self.spaced = true;
        } else if first == '\n' {
            self.at += 1;
            self.push(Kind::Line, start);
        } else if first.is_whitespace() {
            self.at += first.len_utf8();
            self.spaced = true;
        } else if rest.starts_with("/*") {
            self.comment(rest, start);
        } else if rest.starts_with("//") {
            self.at += line_comment(rest);
            self.spaced = true;
        } else if first.is_ascii_alphabetic() || first == '_' {
            let name = self.spliced_name();
            self.push(Kind::Name(name.into()), start);
        } else if first.is_ascii_digit() {
            self.number(rest, start);
        } else if first == '"' || first == '\'' {
            self.quoted(rest, first, start);
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            self.at += sign.len();
            self.push(Kind::Sign(sign), start);
        } else {
            self.at += first.len_utf8();
            self.push(Kind::Stray(Stray::Character(first)), start);
        }
    }

    /// A name, also where `\\` at the end of a line stands within it.
    fn spliced_name(&mut self) -> String {
        let is_part = |part: char| part.is_ascii_alphanumeric() || part == '_';
        let mut name = String::new();
        loop {
            let rest = &self.text[self.at..];
            let length = rest.find(|part: char| !is_part(part)).unwrap_or(rest.len());
            name.push_str(&rest[..length]);
            self.at += length;
            let joined =
                line_continuation(&rest[length..]).filter(|&joined| rest[length + joined..].starts_with(is_part));
            match joined {
                Some(joined) => self.at += joined,
                None => return name,
            }
        }
    }

    fn comment(&mut self, rest: &str, start: usize) {
        match rest[2..].find("*/") {
            Some(length) => {
                self.at += length + 4;
                self.spaced = true;
            }
            None => {
                self.at += 2;
                self.push(Kind::Stray(Stray::Comment), start);
                self.at = self.text.len();
            }
        }
    }

    fn number(&mut self, rest: &str, start: usize) {
        let length = rest.find(|part: char| !part.is_ascii_alphanumeric()).unwrap_or(rest.len());
        self.at += length;
        let digits = &rest[..length];
        let is_octal = length > 1 && digits.starts_with('0') && digits.bytes().all(|digit| digit.is_ascii_digit());
        match is_octal || digits.ends_with(SUFFIXES) {
            true => self.push(Kind::Literal(digits.into()), start),
            false => self.push(read_number(digits), start),
        }
    }

    fn quoted(&mut self, rest: &str, quote: char, start: usize) {
        let mut is_escaped = false;
        let mut end = None;
        for (at, character) in rest.char_indices().skip(1) {
            match character {
                '\n' => break,
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = true,
                _ if character == quote => {
                    end = Some(at);
                    break;
                }
                _ => {}
            }
        }
        let Some(end) = end else {
            self.at += 1;
            self.push(Kind::Stray(Stray::Quote), start);
            self.at += rest.find('\n').map_or(rest.len(), |line| line) - 1;
            return;
        };
        self.at += end + 1;
        let inside = &rest[1..end];
        match (quote, character_value(inside)) {
            ('"', _) => self.push(Kind::Text(inside.into()), start),
            (_, Some(value)) => self.push(Kind::Number(value), start),
            (_, None) => self.push(Kind::Stray(Stray::Quote), start),
        }
    }
}

/// What C puts behind the digits of a number.
const SUFFIXES: [char; 4] = ['u', 'U', 'l', 'L'];

/// A number as SPIN reads it.
pub(super) fn read_number(digits: &str) -> Kind {
    let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None => digits.parse().ok(),
    };
    value.map_or(Kind::BadNumber, Kind::Number)
}

/// A number as the preprocessor of C reads it: `010` is 8, and `1UL` is 1.
pub(super) fn number_of_c(digits: &str) -> Option<i64> {
    let plain = digits.trim_end_matches(SUFFIXES);
    match plain.strip_prefix('0') {
        Some(octal) if !octal.is_empty() && !octal.starts_with(['x', 'X']) => i64::from_str_radix(octal, 8).ok(),
        _ => match read_number(plain) {
            Kind::Number(value) => Some(value),
            _ => None,
        },
    }
}

/// The length of a comment up to the end of its line, which a `\` before it moves to that of the next one.
fn line_comment(rest: &str) -> usize {
    let mut end = 0;
    for line in rest.split_inclusive('\n') {
        let said = line.strip_suffix('\n').unwrap_or(line);
        if line.len() == said.len() || !said.trim_end_matches([' ', '\t', '\r']).ends_with('\\') {
            return end + said.len();
        }
        end += line.len();
    }
    end
}

/// The number of a character in single quotes.
fn character_value(inside: &str) -> Option<i64> {
    let mut characters = inside.chars();
    let value = match (characters.next()?, characters.next()) {
        ('\\', Some('n')) => 10,
        ('\\', Some('t')) => 9,
        ('\\', Some('r')) => 13,
        ('\\', Some('0')) => 0,
        ('\\', Some(escaped)) => i64::from(u32::from(escaped)),
        (plain, None) => i64::from(u32::from(plain)),
        _ => return None,
    };
    characters.next().is_none().then_some(value)
}

/// The length of a `\` with the end of the line after it.
fn line_continuation(rest: &str) -> Option<usize> {
    let after = rest.strip_prefix('\\')?;
    let blank = after.len() - after.trim_start_matches([' ', '\t', '\r']).len();
    after[blank..].starts_with('\n').then_some(blank + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> = tokens(text, 0).iter().map(Token::text).filter(|text| !text.is_empty()).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn signs_are_as_long_as_possible() {
        check("q!!x->y--1", &["q", "!!", "x", "->", "y", "--", "1"]);
        check("[]<>p /* c */ a\\\n&& b // d", &["[", "]", "<", ">", "p", "a", "&&", "b"]);
        check("'a' '\\n' \"x\\\"y\" 0x1f", &["97", "10", "\"x\\\"y\"", "31"]);
        check("a // b \\\n c \\ \n d\ne // f \\", &["a", "e"]);
    }

    #[test]
    fn numbers_of_c_have_octal_digits_and_suffixes() {
        let read = ["8", "010", "0x1fUL", "1L", "0", "00", "09", "1e"].map(number_of_c);
        assert_eq!(read, [Some(8), Some(8), Some(31), Some(1), Some(0), Some(0), None, None]);
        check("010 1L 0 0x10", &["010", "1L", "0", "16"]);
        assert_eq!([read_number("010"), read_number("1L")], [Kind::Number(10), Kind::BadNumber]);
    }

    #[test]
    fn what_has_no_end_is_a_token() {
        check("a /* b", &["a", "/*"]);
        check("\"b\nc", &["\"", "c"]);
    }
}
