//! The names that a program declares, found before it is parsed.
//!
//! In: the tokens. Out: the set of all words that stand where a name is declared, anywhere in the file, and the set of
//! process names. The parser asks it whether `F` in `F p` is a name or the operator, and whether `weak P[0]` speaks of
//! a process. The scan looks at a token and its neighbours only, so it works on broken files, too.

use super::lexer::{Token, TokenKind};
use std::collections::HashSet;

/// The declared words of one file.
#[derive(Debug, Default)]
pub(crate) struct DeclaredNames<'s> {
    names: HashSet<&'s str>,
    processes: HashSet<&'s str>,
}

impl<'s> DeclaredNames<'s> {
    /// Scans the tokens of a text; comments are not among them.
    pub fn scan(text: &'s str, tokens: &[Token]) -> Self {
        let mut declared = DeclaredNames::default();
        let words = Words { text, tokens };
        for at in 0..tokens.len() {
            match words.word(at) {
                Some("process") => {
                    declared.processes.extend(words.word(at + 1));
                    declared.names.extend(words.word(at + 1));
                }
                Some("shared" | "public" | "local" | "const" | "forall" | "exists" | "for" | "chan") => {
                    declared.add_list(&words, at + 1);
                }
                Some("count") if words.is(at + 1, TokenKind::LeftParen) => declared.add_list(&words, at + 2),
                Some("let" | "some") if words.word(at + 1).is_some() => declared.names.extend(words.word(at + 1)),
                Some("proc") => declared.names.extend(words.word(at + 1)),
                Some("enum" | "define") => {
                    declared.names.extend(words.word(at + 1));
                    let has_list = words.is(at + 2, TokenKind::LeftParen) || words.is(at + 2, TokenKind::LeftBrace);
                    if has_list {
                        declared.add_list(&words, at + 3);
                    }
                }
                Some(name) if words.declares_parameter(at) => {
                    declared.names.insert(name);
                }
                _ => {}
            }
        }
        declared
    }

    /// Whether the word is declared as a variable, constant, parameter, enum value, definition, process, procedure or
    /// index.
    pub fn contains(&self, word: &str) -> bool {
        self.names.contains(word)
    }

    /// Whether the word is declared as a process.
    pub fn is_process(&self, word: &str) -> bool {
        self.processes.contains(word)
    }

    /// Adds `a, b` or `a != b`, beginning at a token.
    fn add_list(&mut self, words: &Words<'s, '_>, mut at: usize) {
        while let Some(name) = words.word(at) {
            self.names.insert(name);
            if !words.is(at + 1, TokenKind::Comma) && !words.is(at + 1, TokenKind::Unequal) {
                return;
            }
            at += 2;
        }
    }
}

struct Words<'s, 't> {
    text: &'s str,
    tokens: &'t [Token],
}

impl<'s> Words<'s, '_> {
    fn is(&self, at: usize, kind: TokenKind) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == kind)
    }

    fn word(&self, at: usize) -> Option<&'s str> {
        let token = self.tokens.get(at).filter(|token| token.kind == TokenKind::Word)?;
        self.text.get(token.span.range())
    }

    /// `(N:` and `, b:` declare parameters; `[i in` and `, j in` declare indices.
    fn declares_parameter(&self, at: usize) -> bool {
        let before = at.checked_sub(1).map(|before| self.tokens[before].kind);
        let is_listed = matches!(before, Some(TokenKind::LeftParen | TokenKind::LeftBracket | TokenKind::Comma));
        is_listed && (self.is(at + 1, TokenKind::Colon) || self.word(at + 1) == Some("in"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pw::lexer;

    fn check(text: &str, expected: &str) {
        let declared = DeclaredNames::scan(text, &lexer::tokens(text).0);
        let mut names: Vec<&str> = declared.names.iter().copied().collect();
        names.sort_unstable();
        assert_eq!(names.join(" "), expected, "in {text}");
    }

    #[test]
    fn every_kind_of_declaration_declares() {
        check("shared next, F: bool;", "F next");
        check("const U = 3; enum G { R, none }", "G R U none");
        check("define V(x, y) = x;", "V x y");
        check("define V = G F p;", "V");
        check("program p(N: 2.., M: 1..) {", "M N");
        check("process P[i in 0..<N] { crit: skip; for k in 0..<3 {", "P i k");
        check("forall W != X: W, exists a, b in 0..<3: a; count(r: r)", "W X a b r");
    }

    #[test]
    fn labels_do_not_declare() {
        check("F: skip; goto G;", "");
    }
}
