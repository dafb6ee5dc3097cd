//! Tokens to syntax tree: recursive descent that goes on after an error.
//!
//! In: a source file. Out: the tree, the diagnostics, and for each token its role in the layout (for the formatter).
//! This file holds the cursor, what is expected and how errors are recorded; the grammar is in its submodules. A
//! function that returns [`Failed`] has reported why; whoever owns a list (of items, of statements) catches it, skips
//! to where the next element begins, and goes on. Recursion is limited by [`MAX_DEPTH`] and trees by [`MAX_HEIGHT`], so
//! that no input overflows the stack here or in whoever walks the tree.

mod braces;
mod declarations;
mod expressions;
mod fairness;
mod foreign;
mod operators;
mod properties;
mod quantifiers;
mod recovery;
mod statements;
mod types;

use super::ast::{Doc, Ident, Program};
use super::declared::DeclaredNames;
use super::delimiters::{self, Unpaired};
use super::lexer::{self, Token, TokenKind};
use super::words;
use crate::codes::syntax as code;
use crate::log::Log;
use base::{Diagnostic, SourceFile, Span};
pub(crate) use operators::Level;

/// How deeply blocks, parentheses and operators before operands may be nested.
pub(crate) const MAX_DEPTH: usize = 200;

/// How high the tree of an expression may be: `a + b + c` is a tree of height 3.
pub(crate) const MAX_HEIGHT: usize = 500;

/// Something could not be parsed, and that has been reported.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failed;

type Parse<T> = Result<T, Failed>;

/// What a token is in the layout of the text. Words, numbers and separators are `Plain`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Nothing special.
    Plain,
    /// The first token of a declaration, an enum value, a fairness assumption in braces, or a statement (its label, if
    /// it has one).
    Start,
    /// An operator before its operand.
    Prefix,
    /// An operator between its operands.
    Infix,
    /// A bracket, parenthesis or `@` that belongs to the token before it.
    Tight,
    /// The opening brace of a block of statements or declarations.
    BlockOpen,
    /// The closing brace of such a block.
    BlockClose,
    /// The opening brace of an enum or a fairness set.
    ListOpen,
    /// The closing brace of such a list.
    ListClose,
    /// The colon after a label.
    LabelColon,
    /// The colon after the name of a property.
    PropertyColon,
    /// The colon after the names of variables.
    VariableColon,
}

/// What expressions may contain, depending on where they stand.
#[derive(Clone, Copy, Debug, Default)]
struct Context {
    /// Outside processes and procedures: `U`, `until` and their kin are operators between operands.
    is_formula: bool,
    /// Directly in a list of fairness assumptions: there `or` separates assumptions.
    or_separates: bool,
    /// `P[*]` is allowed.
    allows_star: bool,
}

/// All that the parser finds out about a file.
pub(crate) struct Outcome {
    pub program: Option<Program>,
    pub diagnostics: Vec<Diagnostic>,
    /// The role of each token; comments are not among them.
    pub roles: Vec<Role>,
    /// The tokens without comments; the end of the file last.
    pub tokens: Vec<Token>,
}

/// Parses a whole file.
pub(crate) fn parse(file: &SourceFile) -> Outcome {
    let mut parser = Parser::new(file);
    let program = parser.file();
    parser.report_surplus_brace();
    let Parser { log, roles, tokens, .. } = parser;
    Outcome { program, diagnostics: log.finish(), roles, tokens }
}

struct Parser<'s> {
    text: &'s str,
    /// Without comments; the end of the file last.
    tokens: Vec<Token>,
    roles: Vec<Role>,
    /// Doc comments, each with the index of the token that follows it; ascending.
    docs: Vec<(usize, Doc)>,
    declared: DeclaredNames<'s>,
    /// Index of the token to be read next; never beyond the last one.
    position: usize,
    depth: usize,
    context: Context,
    log: Log,
    /// What kind of brace lacks its partner, if one does.
    unpaired: Option<Unpaired>,
    /// Whether an opening brace was missed and reported.
    misses_opening_brace: bool,
}

impl<'s> Parser<'s> {
    fn new(file: &'s SourceFile) -> Self {
        let text = file.text();
        let (all_tokens, lexical_errors) = lexer::tokens(text);
        let (tokens, docs) = split_comments(text, &all_tokens);
        let unpaired = delimiters::unpaired_brace(text, &tokens);
        let mut log = Log::default();
        let (unpaired, never_closed) = unpaired.map_or((None, None), |(kind, diagnostic)| (Some(kind), diagnostic));
        lexical_errors.into_iter().chain(never_closed).for_each(|diagnostic| log.add(diagnostic));
        Parser {
            text,
            roles: vec![Role::Plain; tokens.len()],
            declared: DeclaredNames::scan(text, &tokens),
            tokens,
            docs,
            position: 0,
            depth: 0,
            context: Context::default(),
            log,
            unpaired,
            misses_opening_brace: false,
        }
    }

    // The cursor.

    fn token_at(&self, ahead: usize) -> Token {
        self.tokens[(self.position + ahead).min(self.tokens.len() - 1)]
    }

    fn peek(&self) -> TokenKind {
        self.token_at(0).kind
    }

    fn peek_at(&self, ahead: usize) -> TokenKind {
        self.token_at(ahead).kind
    }

    fn span(&self) -> Span {
        self.token_at(0).span
    }

    fn span_at(&self, ahead: usize) -> Span {
        self.token_at(ahead).span
    }

    fn slice(&self, span: Span) -> &'s str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// The word `ahead` tokens further on; empty if there is no word.
    fn word_at(&self, ahead: usize) -> &'s str {
        let token = self.token_at(ahead);
        if token.kind == TokenKind::Word { self.slice(token.span) } else { "" }
    }

    fn at(&self, kind: TokenKind) -> bool {
        self.peek() == kind
    }

    fn at_word(&self, word: &str) -> bool {
        self.word_at(0) == word
    }

    /// Where the last token that was read ends.
    fn previous_end(&self) -> Span {
        let end = self.position.checked_sub(1).map_or(0, |before| self.tokens[before].span.end);
        Span { start: end, end }
    }

    /// The last token that was read, if it is a word; else empty.
    fn previous_word(&self) -> &'s str {
        let before = self.position.checked_sub(1).map(|before| self.tokens[before]);
        before.filter(|token| token.kind == TokenKind::Word).map_or("", |token| self.slice(token.span))
    }

    /// Whether `==` or `!=` was read last, so that a brace opens a set.
    fn follows_equality(&self) -> bool {
        let before = self.position.checked_sub(1).map(|before| self.tokens[before].kind);
        matches!(before, Some(TokenKind::Equal | TokenKind::Unequal))
    }

    /// From `start` to the end of the last token that was read.
    fn since(&self, start: Span) -> Span {
        Span { start: start.start, end: self.previous_end().end.max(start.start) }
    }

    /// Whether the next token stands on another line than the one before it.
    fn on_new_line(&self) -> bool {
        let between = Span { start: self.previous_end().end, end: self.span().start };
        self.slice(between).contains('\n')
    }

    fn bump(&mut self) -> Span {
        let span = self.span();
        self.position = (self.position + 1).min(self.tokens.len() - 1);
        span
    }

    /// Reads a token and notes its role.
    fn bump_as(&mut self, role: Role) -> Span {
        self.mark(role);
        self.bump()
    }

    /// Notes the role of the next token.
    fn mark(&mut self, role: Role) {
        self.roles[self.position] = role;
    }

    fn eat(&mut self, kind: TokenKind) -> Option<Span> {
        self.at(kind).then(|| self.bump())
    }

    fn eat_word(&mut self, word: &str) -> Option<Span> {
        self.at_word(word).then(|| self.bump())
    }

    fn take_doc(&mut self) -> Option<Doc> {
        let found = self.docs.binary_search_by_key(&self.position, |(at, _)| *at).ok()?;
        Some(self.docs[found].1.clone())
    }

    // What must come.

    fn expect(&mut self, kind: TokenKind, expected: &str) -> Parse<Span> {
        match self.eat(kind) {
            Some(span) => Ok(span),
            None => Err(self.unexpected(expected)),
        }
    }

    fn expect_word(&mut self, word: &str) -> Parse<Span> {
        match self.eat_word(word) {
            Some(span) => Ok(span),
            None => Err(self.unexpected(&format!("`{word}`"))),
        }
    }

    /// The partner of an opening parenthesis or bracket.
    fn close(&mut self, opener: Span, kind: TokenKind) -> Parse<Span> {
        if let Some(span) = self.eat(kind) {
            return Ok(span);
        }
        if let Some(help) = self.struct_in_braces() {
            let message = format!("expected `,` or the end of the list, found {}", self.found());
            self.report(Diagnostic::error(code::UNEXPECTED, self.span(), message).help(help));
            self.skip_braces();
            return self.eat(kind).ok_or(Failed);
        }
        let partner = if kind == TokenKind::RightParen { ")" } else { "]" };
        let message = format!("this `{}` is never closed", self.slice(opener));
        let found = self.found();
        let diagnostic = Diagnostic::error(code::UNCLOSED, opener, message)
            .note(self.span(), format!("expected `{partner}`, found {found}"))
            .suggest(format!("add `{partner}`"), self.previous_end(), partner);
        Err(self.fail(diagnostic))
    }

    /// What to write where the fields of a struct stand in braces, as in other languages.
    fn struct_in_braces(&self) -> Option<String> {
        let name = self.previous_word();
        let is_field = self.peek_at(1) == TokenKind::Word && self.peek_at(2) == TokenKind::Colon;
        let is_struct = self.at(TokenKind::LeftBrace) && is_field && !name.is_empty() && !words::is_reserved(name);
        is_struct.then(|| format!("the fields of a struct stand in parentheses: `{name}({}: …)`", self.word_at(1)))
    }

    /// A name that is declared or used here.
    fn ident(&mut self, expected: &str) -> Parse<Ident> {
        if !self.at(TokenKind::Word) {
            return Err(self.unexpected(expected));
        }
        let word = self.word_at(0);
        if words::is_reserved(word) {
            let message = format!("expected {expected}, but `{word}` is a keyword");
            let diagnostic = Diagnostic::error(code::RESERVED_WORD, self.span(), message);
            let diagnostic = diagnostic.suggest(format!("write `{word}_`, say"), self.span(), format!("{word}_"));
            if self.on_new_line() {
                return Err(self.fail(diagnostic));
            }
            self.report(diagnostic);
        }
        Ok(self.any_word())
    }

    /// A label: any word.
    fn label(&mut self) -> Parse<Ident> {
        if self.at(TokenKind::Word) { Ok(self.any_word()) } else { Err(self.unexpected("a label")) }
    }

    fn any_word(&mut self) -> Ident {
        let name = self.word_at(0).to_string();
        Ident { name, span: self.bump() }
    }

    /// The `;` at the end of a statement or declaration. Where the next line begins something new it is only missing.
    fn semicolon(&mut self) -> Parse<()> {
        if self.eat(TokenKind::Semicolon).is_some() {
            return Ok(());
        }
        // `all i: e` is no label.
        let is_quantifier = matches!(self.previous_word(), "all" | "each" | "every");
        let is_only_missing = self.on_new_line() || (self.begins_something() && !is_quantifier);
        if is_only_missing || matches!(self.peek(), TokenKind::RightBrace | TokenKind::End) {
            let end = self.previous_end();
            let diagnostic =
                Diagnostic::error(code::MISSING_SEMICOLON, end, "a `;` is missing").fix("add `;`", end, ";");
            self.report(diagnostic);
            return Ok(());
        }
        let message = format!("expected `;`, found {}", self.found());
        let mut diagnostic = Diagnostic::error(code::UNEXPECTED, self.span(), message);
        if let Some(help) = self.struct_in_braces().or_else(|| self.said_here()) {
            diagnostic = diagnostic.help(help);
        }
        let before = self.previous_word();
        if words::prefix_word(before).is_some() && self.declared.contains(before) {
            let advice =
                format!("`{before}` is declared, so it is no operator; write `always`, `eventually` or `next`");
            diagnostic = diagnostic.help(advice);
        }
        Err(self.fail(diagnostic))
    }

    /// Parses something that is nested in something else.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        self.check_depth(self.depth + 1)?;
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    fn check_depth(&mut self, depth: usize) -> Parse<()> {
        if depth <= MAX_DEPTH {
            return Ok(());
        }
        let message = format!("this is nested more than {MAX_DEPTH} deep");
        let diagnostic = Diagnostic::error(code::TOO_DEEP, self.span(), message)
            .help("give the inner part a name, with `define` or `proc`");
        Err(self.fail(diagnostic))
    }

    /// Parses something in which expressions may contain other things than around it.
    fn within<T>(&mut self, context: Context, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        let outer = std::mem::replace(&mut self.context, context);
        let result = parse(self);
        self.context = outer;
        result
    }

    // Errors.

    /// Reports an error, unless one was reported at this token before, or the file just ends for want of a brace.
    fn report(&mut self, diagnostic: Diagnostic) {
        let is_old_news = self.unpaired.is_some() && self.at(TokenKind::End);
        if !is_old_news {
            self.log.add_at(self.position, diagnostic);
        }
    }

    fn fail(&mut self, diagnostic: Diagnostic) -> Failed {
        self.report(diagnostic);
        Failed
    }

    fn unexpected(&mut self, expected: &str) -> Failed {
        let message = format!("expected {expected}, found {}", self.found());
        let diagnostic = Diagnostic::error(code::UNEXPECTED, self.span(), message);
        let diagnostic = match self.said_here() {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        };
        self.fail(diagnostic)
    }

    /// Reports that no expression stands here.
    fn no_expression(&mut self) -> Failed {
        let message = format!("expected an expression, found {}", self.found());
        let mut diagnostic = Diagnostic::error(code::UNEXPECTED, self.span(), message);
        let before = self.previous_word();
        let is_letter = before.chars().all(|letter| letter.is_ascii_uppercase());
        if is_letter && words::prefix_word(before).is_some() && !self.declared.contains(before) {
            diagnostic = diagnostic.help(format!("`{before}` is a temporal operator, since no such name is declared"));
        } else if let Some(help) = self.said_here() {
            diagnostic = diagnostic.help(help);
        }
        self.fail(diagnostic)
    }

    /// What stands here, in words.
    fn found(&self) -> String {
        match self.peek() {
            TokenKind::End => "the end of the file".to_string(),
            TokenKind::Word if words::is_reserved(self.word_at(0)) => format!("the keyword `{}`", self.word_at(0)),
            _ => {
                let shown: String = self.slice(self.span()).chars().take(40).collect();
                format!("`{shown}`")
            }
        }
    }
}

/// Takes comments out; doc comments are kept with the index of the token that they stand before.
fn split_comments(text: &str, all: &[Token]) -> (Vec<Token>, Vec<(usize, Doc)>) {
    let mut tokens: Vec<Token> = Vec::with_capacity(all.len());
    let mut docs: Vec<(usize, Doc)> = Vec::new();
    for token in all {
        match token.kind {
            TokenKind::Comment => {}
            TokenKind::DocComment => add_doc_line(text, token.span, tokens.len(), &mut docs),
            _ => tokens.push(*token),
        }
    }
    (tokens, docs)
}

fn add_doc_line(text: &str, span: Span, at: usize, docs: &mut Vec<(usize, Doc)>) {
    let line = text[span.range()].trim_start_matches('/').trim_end();
    let line = line.strip_prefix(' ').unwrap_or(line);
    match docs.last_mut() {
        Some((before, doc)) if *before == at => {
            doc.text.push('\n');
            doc.text.push_str(line);
            doc.span.end = span.end;
        }
        _ => docs.push((at, Doc { text: line.to_string(), span })),
    }
}
