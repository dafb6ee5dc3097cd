//! Tokens to syntax tree: recursive descent that goes on after an error.
//!
//! In: the text of a file, or of a goal. Out: the tree and the diagnostics. This file holds the cursor, what is expected and
//! how errors are recorded; the grammar is in its submodules. A function that returns [`Failed`] has reported why; whoever
//! owns a list catches it, skips to where the next element begins, and goes on.

mod declarations;
mod expressions;
mod processes;

use base::{Diagnostic, SourceFile, Span};

use super::ast::{Expr, File, Name};
use super::lexer::{self, Token, TokenKind};
use crate::codes::dve as code;
use crate::log::Log;

/// How deeply parentheses and operators before operands may be nested.
const MAX_DEPTH: usize = 200;

/// How high the tree of an expression may be: `a + b + c` is a tree of height 3.
const MAX_HEIGHT: usize = 500;

/// The words that are no names.
const KEYWORDS: [&str; 28] = [
    "guard", "sync", "async", "effect", "process", "state", "init", "accept", "commit", "trans", "system", "true",
    "false", "and", "or", "not", "imply", "int", "byte", "const", "channel", "property", "buchi", "genbuchi",
    "streett", "rabin", "muller", "assert",
];

/// Something could not be parsed, and that has been reported.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failed;

type Parse<T> = Result<T, Failed>;

/// Parses a whole file.
pub(super) fn parse_file(source: &SourceFile) -> (File, Vec<Diagnostic>) {
    let mut parser = Parser::new(source.text());
    let file = parser.file();
    (file, parser.log.finish())
}

/// Parses a goal: one expression, with or without a `;`.
pub(super) fn parse_goal(source: &SourceFile) -> (Option<Expr>, Vec<Diagnostic>) {
    let mut parser = Parser::new(source.text());
    let goal = parser.goal().ok();
    (goal, parser.log.finish())
}

struct Parser<'s> {
    text: &'s str,
    tokens: Vec<Token>,
    /// Index of the token to be read next; never beyond the last one.
    position: usize,
    /// How many parentheses and the like are open around the cursor.
    depth: usize,
    log: Log,
}

impl<'s> Parser<'s> {
    fn new(text: &'s str) -> Self {
        let (tokens, diagnostics) = lexer::tokens(text);
        let mut log = Log::default();
        diagnostics.into_iter().for_each(|diagnostic| log.add(diagnostic));
        Parser { text, tokens, position: 0, depth: 0, log }
    }

    fn goal(&mut self) -> Parse<Expr> {
        let goal = self.expression()?;
        self.eat(TokenKind::Semicolon);
        if self.at(TokenKind::End) { Ok(goal) } else { Err(self.unexpected("the end of the goal")) }
    }

    // The cursor.

    fn peek(&self) -> TokenKind {
        self.tokens[self.position].kind
    }

    fn peek_at(&self, offset: usize) -> TokenKind {
        self.tokens.get(self.position + offset).map_or(TokenKind::End, |token| token.kind)
    }

    fn span(&self) -> Span {
        self.tokens[self.position].span
    }

    /// Where the last token that was read ends.
    fn previous_span(&self) -> Span {
        self.tokens[self.position.saturating_sub(1)].span
    }

    /// The word at the cursor; empty where there is none.
    fn word(&self) -> &'s str {
        if self.at(TokenKind::Word) { &self.text[self.span().range()] } else { "" }
    }

    fn at(&self, kind: TokenKind) -> bool {
        self.peek() == kind
    }

    fn at_word(&self, word: &str) -> bool {
        self.word() == word
    }

    fn bump(&mut self) -> Span {
        let span = self.span();
        if !self.at(TokenKind::End) {
            self.position += 1;
        }
        span
    }

    fn eat(&mut self, kind: TokenKind) -> Option<Span> {
        self.at(kind).then(|| self.bump())
    }

    fn eat_word(&mut self, word: &str) -> Option<Span> {
        self.at_word(word).then(|| self.bump())
    }

    fn expect(&mut self, kind: TokenKind, shown: &str) -> Parse<Span> {
        self.eat(kind).ok_or_else(|| self.unexpected(shown))
    }

    /// A name that the user chose. A keyword there is reported and taken for one.
    fn name(&mut self, expected: &str) -> Parse<Name> {
        if !self.at(TokenKind::Word) {
            return Err(self.unexpected(expected));
        }
        let text = self.word().to_string();
        if KEYWORDS.contains(&text.as_str()) {
            let message = format!("expected {expected}, but `{text}` is a keyword");
            return Err(self.fail(Diagnostic::error(code::RESERVED_WORD, self.span(), message)));
        }
        Ok(Name { text, span: self.bump() })
    }

    /// Names with commas between them.
    fn names(&mut self, expected: &str) -> Parse<Vec<Name>> {
        let mut names = vec![self.name(expected)?];
        while self.eat(TokenKind::Comma).is_some() {
            names.push(self.name(expected)?);
        }
        Ok(names)
    }

    /// The `;` at the end of something. Where the next thing begins it is only missing.
    fn semicolon(&mut self) -> Parse<()> {
        if self.eat(TokenKind::Semicolon).is_some() {
            return Ok(());
        }
        let begins_something = KEYWORDS.contains(&self.word());
        if begins_something || matches!(self.peek(), TokenKind::RightBrace | TokenKind::End) {
            let end = Span { start: self.previous_span().end, end: self.previous_span().end };
            self.report(Diagnostic::error(code::UNEXPECTED, end, "a `;` is missing").fix("add `;`", end, ";"));
            return Ok(());
        }
        Err(self.unexpected("`;`"))
    }

    /// Parses something that is nested in something else.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= MAX_DEPTH {
            let message = format!("this is nested more than {MAX_DEPTH} deep");
            return Err(self.fail(Diagnostic::error(code::TOO_DEEP, self.span(), message)));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// Skips to a token of one of the kinds, or to a word that begins something new, outside braces.
    fn skip_to(&mut self, kinds: &[TokenKind], words: &[&str]) {
        let mut depth = 0_usize;
        while !self.at(TokenKind::End) {
            if depth == 0 && (kinds.contains(&self.peek()) || words.contains(&self.word())) {
                return;
            }
            match self.peek() {
                TokenKind::LeftBrace => depth += 1,
                TokenKind::RightBrace => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.bump();
        }
    }

    // Errors.

    /// Reports an error, unless one was reported at this token before.
    fn report(&mut self, diagnostic: Diagnostic) {
        self.log.add_at(self.position, diagnostic);
    }

    fn fail(&mut self, diagnostic: Diagnostic) -> Failed {
        self.report(diagnostic);
        Failed
    }

    fn unexpected(&mut self, expected: &str) -> Failed {
        let message = format!("expected {expected}, found {}", self.found());
        self.fail(Diagnostic::error(code::UNEXPECTED, self.span(), message))
    }

    /// What stands here, in words.
    fn found(&self) -> String {
        match self.peek() {
            TokenKind::End => "the end of the text".to_string(),
            TokenKind::Word if KEYWORDS.contains(&self.word()) => format!("the keyword `{}`", self.word()),
            _ => {
                let shown: String = self.text[self.span().range()].chars().take(40).collect();
                format!("`{shown}`")
            }
        }
    }
}
