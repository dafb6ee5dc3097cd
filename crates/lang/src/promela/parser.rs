//! Tokens to syntax tree.
//!
//! In: what the preprocessor leaves. Out: the tree, as far as it can be read, and what is wrong. Recursive descent, with C's precedences for
//! expressions. After an error the parser goes on behind the next `;` or `}`, so that one run reports several errors. A call of an
//! `inline` is read from the tokens of its body with the arguments in place of the parameters.
//!
//! `declarations.rs` reads what stands at the top level, `statements.rs` bodies, `expressions.rs` expressions, `formulas.rs` `ltl` blocks;
//! `labels.rs` keeps labels of one name apart.

mod declarations;
mod embedded;
mod expressions;
mod formulas;
mod labels;
mod loops;
mod statements;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use base::{Diagnostic, Span};

use super::ast::{File, Name, VarRef};
use super::lexer::{Kind, Stray, Token};
use super::sources::SourceMap;
use crate::codes::promela as code;
use crate::log::Log;
use labels::LabelScopes;

/// How deep blocks, expressions and calls of inlines may be nested.
const MAX_DEPTH: usize = 200;
/// How many tokens calls of inlines may add.
const MAX_INLINED: usize = 1_000_000;
/// A longer statement is shortened where steps are shown.
const MAX_TEXT: usize = 100;

/// Words that mean something, and so are no names.
const KEYWORDS: [&str; 53] = [
    "D_proctype",
    "_priority",
    "active",
    "assert",
    "atomic",
    "bit",
    "bool",
    "break",
    "byte",
    "chan",
    "d_step",
    "do",
    "else",
    "empty",
    "enabled",
    "eval",
    "fi",
    "for",
    "full",
    "get_priority",
    "goto",
    "hidden",
    "if",
    "init",
    "inline",
    "int",
    "len",
    "local",
    "mtype",
    "nempty",
    "never",
    "nfull",
    "notrace",
    "od",
    "of",
    "pc_value",
    "pid",
    "printf",
    "printm",
    "priority",
    "proctype",
    "provided",
    "run",
    "select",
    "set_priority",
    "short",
    "show",
    "skip",
    "timeout",
    "trace",
    "typedef",
    "unless",
    "unsigned",
];

/// Parts of Promela that are not read.
const NOT_READ: [&str; 6] = ["c_code", "c_decl", "c_expr", "c_state", "c_track", "float"];

/// An error that was reported; the parser goes on elsewhere.
pub(super) struct Broken;

type Parse<T> = Result<T, Broken>;

/// An `inline`.
#[derive(Clone, Debug)]
struct Inline {
    parameters: Vec<String>,
    body: Arc<[Token]>,
    span: Span,
}

/// The reader of one row of tokens.
struct Parser<'a> {
    tokens: Arc<[Token]>,
    at: usize,
    /// How deep the construct that is read is nested.
    depth: usize,
    /// How many parentheses are open since the last brace; outside of bodies there always is one.
    parens: usize,
    /// The inlines that are being read, outermost first.
    calls: Vec<String>,
    /// The variable that takes what the inline that is being read returns.
    result: Option<VarRef>,
    shared: &'a mut Shared,
    map: &'a SourceMap,
}

/// What the readers of inlines share with the reader of the file.
#[derive(Default)]
struct Shared {
    log: Log,
    inlines: HashMap<String, Inline>,
    /// The names of all proctypes, wherever they stand.
    proctypes: HashSet<String>,
    /// The names of those whose text has begun: before a `:` they are no labels.
    begun: HashSet<String>,
    /// The kinds of names of messages, in the order in which they are met.
    message_kinds: Vec<String>,
    /// The names of global variables that are parameters of an inline behind them.
    global_names: Vec<String>,
    /// Whether the first value of a send is read, behind which others may stand in parentheses.
    is_sending: bool,
    n_inlined: usize,
    labels: LabelScopes,
    /// How many errors were reported at tokens, to tell places apart.
    last_error: Option<Span>,
}

/// Reads a program.
pub(super) fn parse(tokens: Vec<Token>, map: &SourceMap) -> (File, Vec<Diagnostic>) {
    let words = tokens.windows(2).filter(|pair| matches!(pair[0].name(), Some("proctype" | "D_proctype")));
    let proctypes = words.filter_map(|pair| pair[1].name().map(str::to_owned)).collect();
    let mut shared = Shared { proctypes, ..Shared::default() };
    let mut parser = Parser::new(tokens.into(), &mut shared, map);
    let file = parser.file();
    (file, shared.log.finish())
}

impl<'a> Parser<'a> {
    fn new(tokens: Arc<[Token]>, shared: &'a mut Shared, map: &'a SourceMap) -> Self {
        Parser { tokens, at: 0, depth: 0, parens: 1, calls: Vec::new(), result: None, shared, map }
    }

    fn token(&self) -> &Token {
        self.ahead(0)
    }

    /// A token further on; behind the end, the end.
    fn ahead(&self, n_tokens: usize) -> &Token {
        self.tokens.get(self.at + n_tokens).unwrap_or_else(|| self.tokens.last().expect("the end is a token"))
    }

    fn span(&self) -> Span {
        self.token().span
    }

    /// The span from a token that was read to the last one that was.
    fn since(&self, start: usize) -> Span {
        let first = self.tokens.get(start).map_or(self.span(), |token| token.span);
        match self.at.checked_sub(1).and_then(|last| self.tokens.get(last)) {
            Some(last) if last.span.start >= first.start => first.to(last.span),
            // An included text or an inline comes from elsewhere.
            _ => first,
        }
    }

    fn is(&self, sign: &str) -> bool {
        self.token().is(sign)
    }

    fn is_word(&self, word: &str) -> bool {
        self.token().name() == Some(word)
    }

    fn at_end(&self) -> bool {
        self.token().kind == Kind::End
    }

    fn advance(&mut self) {
        if !self.at_end() {
            self.at += 1;
        }
    }

    fn eat(&mut self, sign: &str) -> bool {
        let found = self.is(sign);
        if found {
            self.advance();
        }
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    /// Whether a statement ends here because its line does: SPIN takes the end of a line for a `;` behind what can end a statement, outside
    /// of parentheses.
    fn line_ends(&self) -> bool {
        let Some(last) = self.at.checked_sub(1).and_then(|last| self.tokens.get(last)) else { return false };
        let can_end = match &last.kind {
            Kind::Name(word) => {
                !KEYWORDS.contains(&&**word) || matches!(&**word, "od" | "fi" | "else" | "break" | "skip")
            }
            Kind::Number(_) => true,
            Kind::Sign(sign) => matches!(*sign, "}" | ")" | "]" | "++" | "--"),
            _ => false,
        };
        can_end && self.parens == 0 && self.token().starts_line
    }

    /// Reads what stands between parentheses.
    fn in_parens<T>(&mut self, read: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        self.parens += 1;
        let result = read(self);
        self.parens -= 1;
        result
    }

    fn expect(&mut self, sign: &str) -> Parse<()> {
        if self.eat(sign) { Ok(()) } else { Err(self.unexpected(&format!("`{sign}`"))) }
    }

    /// A bracket that closes another one.
    fn close(&mut self, sign: &str, opened: Span) -> Parse<()> {
        if self.eat(sign) {
            return Ok(());
        }
        if self.at_end() {
            let message = format!("this has no closing `{sign}`");
            return Err(self.error(Diagnostic::error(code::UNCLOSED, opened, message)));
        }
        Err(self.unexpected(&format!("`{sign}`")))
    }

    /// A name that is no keyword.
    fn name(&mut self, what: &str) -> Parse<Name> {
        let span = self.span();
        match self.token().name() {
            Some(text) if KEYWORDS.contains(&text) => {
                let message = format!("{what} is expected here; `{text}` is a word of the language");
                Err(self.error(Diagnostic::error(code::UNEXPECTED, span, message)))
            }
            Some(text) if NOT_READ.contains(&text) => Err(self.not_read(text.to_owned())),
            Some(text) => {
                let name = Name { text: text.to_owned(), span };
                self.advance();
                Ok(name)
            }
            None => Err(self.unexpected(what)),
        }
    }

    fn error(&mut self, diagnostic: Diagnostic) -> Broken {
        let span = diagnostic.primary.span;
        if self.shared.last_error != Some(span) {
            self.shared.last_error = Some(span);
            self.shared.log.add(diagnostic);
        }
        Broken
    }

    fn unexpected(&mut self, wanted: &str) -> Broken {
        let token = self.token().clone();
        let span = token.span;
        let diagnostic = match token.kind {
            Kind::End => Diagnostic::error(code::UNEXPECTED, span, format!("{wanted} is missing at the end")),
            Kind::Stray(Stray::Comment) => Diagnostic::error(code::UNCLOSED, span, "this comment has no end"),
            Kind::Stray(Stray::Quote) => Diagnostic::error(code::UNCLOSED, span, "this quotation has no end"),
            Kind::BadNumber => Diagnostic::error(code::UNEXPECTED, span, "this number is not read")
                .help("numbers are decimal, or hexadecimal after `0x`, and fit in 64 bits"),
            _ => {
                let message = format!("{wanted} is expected here, not `{}`", token.text());
                Diagnostic::error(code::UNEXPECTED, span, message)
            }
        };
        self.error(diagnostic)
    }

    fn not_read(&mut self, what: impl Into<String>) -> Broken {
        let what = what.into();
        let message = format!("`{what}` is not read");
        let mut diagnostic = Diagnostic::error(code::NOT_READ, self.span(), message);
        if what.starts_with("c_") {
            diagnostic = diagnostic.help("write in Promela what it does: SPIN passes it on to the C compiler unread");
        }
        self.error(diagnostic)
    }

    /// Goes one level deeper with the reader.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= MAX_DEPTH {
            let message = format!("this is nested more than {MAX_DEPTH} deep");
            let diagnostic = Diagnostic::error(code::TOO_LARGE, self.span(), message);
            return Err(self.error(diagnostic));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Skips to behind the next separator of this level, or to the bracket that closes it.
    fn recover(&mut self) {
        let mut depth = 0usize;
        while !self.at_end() {
            match self.token().kind {
                Kind::Sign("{" | "(" | "[") => depth += 1,
                Kind::Sign("}" | ")" | "]") if depth == 0 => return,
                Kind::Sign("}" | ")" | "]") => depth -= 1,
                Kind::Sign(";" | "->") if depth == 0 => {
                    self.advance();
                    return;
                }
                Kind::Sign("::") if depth == 0 => return,
                Kind::Name(ref word) if depth == 0 && matches!(&**word, "od" | "fi") => return,
                _ => {}
            }
            self.advance();
        }
    }

    /// What stands between two tokens, on one line.
    fn text_since(&self, start: usize) -> String {
        let tokens = &self.tokens[start.min(self.at)..self.at];
        let mut text = String::new();
        for (at, token) in tokens.iter().enumerate() {
            let is_tight = |token: &Token| matches!(token.kind, Kind::Sign("(" | "[" | ")" | "]" | "," | ";" | "."));
            if at > 0
                && token.spaced
                && !(token.is(")") || token.is("]"))
                && !(is_tight(&tokens[at - 1]) && is_tight(token))
            {
                text.push(' ');
            }
            text.push_str(&token.text());
        }
        if text.chars().count() > MAX_TEXT {
            text = text.chars().take(MAX_TEXT - 1).chain(['…']).collect();
        }
        text
    }
}
