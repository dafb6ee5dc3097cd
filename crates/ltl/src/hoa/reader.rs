//! Reads automata.
//!
//! In: a text in the format. Out: the automaton, its atoms and its name, or everything that is wrong, each with its place. After an error
//! reading goes on with the next line of the header, or with the next state.

use base::{Diagnostic, SourceFile, Span};

use super::lexer::{self, HoaToken, HoaTokenKind, UNEXPECTED};
use super::{body, header};
use crate::automaton::Automaton;
use crate::diagram::Diagrams;
use crate::formula::Atoms;

/// How many errors are worth reporting.
const MAX_ERRORS: usize = 20;
/// The most nodes of decision diagrams for the labels of one automaton.
const MAX_NODES: usize = 1 << 20;

/// An automaton that was read.
#[derive(Clone, Debug)]
pub struct HoaDocument {
    /// The automaton; its atoms are numbered as in the text.
    pub automaton: Automaton,
    /// The names of its atoms.
    pub atoms: Atoms,
    /// Its own name; may be empty.
    pub name: String,
}

/// Reads an automaton.
///
/// # Errors
/// Everything that is wrong with the text, in its order.
pub fn read(file: &SourceFile) -> Result<HoaDocument, Vec<Diagnostic>> {
    let (tokens, diagnostics) = lexer::tokens(file.text());
    let mut reader = HoaReader { file, tokens, at: 0, diagnostics, diagrams: Diagrams::new(MAX_NODES) };
    let header = header::read(&mut reader);
    let automaton = body::read(&mut reader, &header);
    let mut diagnostics = reader.diagnostics;
    diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span);
    diagnostics.truncate(MAX_ERRORS);
    match automaton {
        Some(automaton) if diagnostics.is_empty() => {
            Ok(HoaDocument { automaton, atoms: header.atoms, name: header.name })
        }
        _ => Err(diagnostics),
    }
}

/// The tokens, and what is wrong with them so far.
pub struct HoaReader<'a> {
    file: &'a SourceFile,
    tokens: Vec<HoaToken>,
    at: usize,
    /// What is wrong.
    pub diagnostics: Vec<Diagnostic>,
    /// For labels, over the numbers of atoms.
    pub diagrams: Diagrams,
}

/// There is an error, and it has been reported.
pub struct Reported;

/// A part of the text, unless something was wrong with it.
pub type Parsed<T> = Result<T, Reported>;

impl HoaReader<'_> {
    /// The next token.
    pub fn peek(&self) -> Option<HoaToken> {
        self.tokens.get(self.at).copied()
    }

    /// The kind of the next token.
    pub fn peek_kind(&self) -> Option<HoaTokenKind> {
        self.peek().map(|token| token.kind)
    }

    /// Takes the next token if it is of this kind.
    pub fn take(&mut self, kind: HoaTokenKind) -> Option<HoaToken> {
        let token = self.peek().filter(|token| token.kind == kind)?;
        self.at += 1;
        Some(token)
    }

    /// Goes behind the next token.
    pub fn skip(&mut self) {
        self.at += 1;
    }

    /// Takes a token of this kind.
    pub fn expect(&mut self, kind: HoaTokenKind, what: &str) -> Parsed<HoaToken> {
        self.take(kind).ok_or_else(|| self.unexpected(what))
    }

    /// Takes a number.
    pub fn number(&mut self, what: &str) -> Parsed<u32> {
        let token = self.expect(HoaTokenKind::Number, what)?;
        self.text(token).parse().map_err(|_| self.error(token.span, "this number is too large"))
    }

    /// Takes a text in quotes, and unquotes it.
    pub fn quoted(&mut self, what: &str) -> Parsed<String> {
        let token = self.expect(HoaTokenKind::Text, what)?;
        let text = self.text(token);
        let Some(inner) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).filter(|_| text.len() > 1)
        else {
            return Err(self.error(
                Span::new(token.span.start as usize, token.span.start as usize + 1),
                "the text in quotes has no end",
            ));
        };
        let mut plain = String::new();
        let mut is_escaped = false;
        for c in inner.chars() {
            if c == '\\' && !is_escaped {
                is_escaped = true;
            } else {
                plain.push(c);
                is_escaped = false;
            }
        }
        Ok(plain)
    }

    /// The text of a token.
    pub fn text(&self, token: HoaToken) -> &str {
        self.file.slice(token.span)
    }

    /// The span of the next token.
    pub fn here(&self) -> Span {
        let end = self.file.text().len();
        self.peek().map_or(Span::new(end, end), |token| token.span)
    }

    /// Reports that something else was expected here.
    pub fn unexpected(&mut self, wanted: &str) -> Reported {
        let found = match self.peek() {
            Some(token) => format!("`{}`", self.text(token).chars().take(40).collect::<String>()),
            None => "the end".to_owned(),
        };
        self.error(self.here(), format!("expected {wanted}, found {found}"))
    }

    /// Reports an error at a place.
    pub fn error(&mut self, span: Span, message: impl Into<String>) -> Reported {
        self.diagnostics.push(Diagnostic::error(UNEXPECTED, span, message));
        Reported
    }
}
