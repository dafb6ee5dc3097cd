//! The preprocessor: directives carried out, macros expanded.
//!
//! In: a file, the files that it may include, and what `-D` gives. Out: the tokens that the parser reads, a [`SourceMap`] and what is wrong.
//! Tokens of a macro's body stand at the macro's use; the map knows where the macro is defined. Arguments keep their own places.
//! A macro is not expanded within its own expansion, as in C. Conditions of `#if` are in `conditions.rs`.

mod conditions;
mod expansion;

use std::collections::HashMap;
use std::sync::Arc;

use base::diagnostic::nearest_name;
use base::{Diagnostic, SourceFile, Span};

use super::lexer::{self, Kind, Token};
use super::sources::SourceMap;
use super::{Includes, Reading};
use crate::codes::promela as code;

/// How deep files may be included in each other, and macros expand.
const MAX_DEPTH: usize = 200;
/// How many tokens a program may have.
const MAX_TOKENS: usize = 1_000_000;

const DIRECTIVES: [&str; 11] =
    ["define", "undef", "if", "ifdef", "ifndef", "elif", "else", "endif", "include", "error", "warning"];

/// What the parser reads.
pub(super) struct Preprocessed {
    pub tokens: Vec<Token>,
    pub map: SourceMap,
    pub diagnostics: Vec<Diagnostic>,
    /// The macros without parameters that are one number, as they stand in the text.
    pub numbers: Vec<(String, i64)>,
    /// Where the macro that is left as a name decides what is read.
    pub decides: Option<Span>,
}

/// A macro.
#[derive(Clone, Debug)]
struct Macro {
    /// The parameters of one that has a parameter list.
    parameters: Option<Vec<String>>,
    body: Arc<[Token]>,
    /// The directive's name part; `None` for one that the call gives.
    definition: Option<Span>,
}

/// One `#if` that has no `#endif` yet.
struct Condition {
    span: Span,
    /// Whether the text around it is read.
    around: bool,
    /// Whether some branch was read already.
    taken: bool,
    /// Whether the current branch is read.
    active: bool,
    has_else: bool,
}

struct Preprocessor<'a> {
    map: SourceMap,
    includes: &'a Includes,
    macros: HashMap<String, Macro>,
    tokens: Vec<Token>,
    diagnostics: Vec<Diagnostic>,
    numbers: Vec<(String, i64)>,
    /// The files that are being read, outermost first.
    open: Vec<String>,
    /// Whether a limit was hit; nothing is read from then on.
    is_full: bool,
    /// The macro that is left as a name.
    symbol: Option<&'a str>,
    /// Where its value decides what is read.
    decides: Option<Span>,
}

/// Reads a file with the macros that the call gives.
pub(super) fn preprocess(source: &SourceFile, reading: &Reading, given: &[(String, i64)]) -> Preprocessed {
    preprocess_with(source, reading, (given, None))
}

/// The same, with one macro that is a number left as a name.
pub(super) fn preprocess_with(
    source: &SourceFile,
    reading: &Reading,
    (given, symbol): (&[(String, i64)], Option<&str>),
) -> Preprocessed {
    let number = |(name, value): &(String, i64)| {
        let token = if symbol == Some(name) { name_token(name) } else { number_token(*value) };
        (name.clone(), Macro { parameters: None, body: Arc::new([token]), definition: None })
    };
    let mut preprocessor = Preprocessor {
        map: SourceMap::new(source.clone()),
        includes: &reading.includes,
        macros: given.iter().map(number).collect(),
        tokens: Vec::new(),
        diagnostics: Vec::new(),
        numbers: Vec::new(),
        open: vec![String::new()],
        is_full: false,
        symbol,
        decides: None,
    };
    preprocessor.file(lexer::tokens(source.text(), 0));
    for (at, formula) in reading.formulas.iter().enumerate() {
        let text = format!("ltl {} {{ {formula} }}\n", super::given_name(at));
        let base = preprocessor.map.include(SourceFile::new("--ltl", text.clone()), Span::default());
        preprocessor.file(lexer::tokens(&text, base));
    }
    let end = source.text().len();
    let span = Span::new(end, end);
    preprocessor.tokens.push(Token { kind: Kind::End, span, spaced: true, starts_line: true });
    let Preprocessor { tokens, map, diagnostics, numbers, decides, .. } = preprocessor;
    Preprocessed { tokens, map, diagnostics, numbers, decides }
}

fn number_token(value: i64) -> Token {
    Token { kind: Kind::Number(value), span: Span::default(), spaced: true, starts_line: false }
}

/// A macro whose body is its own name stays as it is.
fn name_token(name: &str) -> Token {
    Token { kind: Kind::Name(name.into()), ..number_token(0) }
}

impl Preprocessor<'_> {
    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Reads one file.
    fn file(&mut self, tokens: Vec<Token>) {
        let mut conditions: Vec<Condition> = Vec::new();
        let mut run = Vec::new();
        for line in tokens.split(|token| token.kind == Kind::Line) {
            let line = line.strip_suffix(&[]).unwrap_or(line);
            if self.is_full {
                break;
            }
            if line.first().is_some_and(|token| token.is("#")) {
                self.expand_run(&mut run);
                self.directive(line, &mut conditions);
            } else if conditions.last().is_none_or(|condition| condition.active) {
                let first = run.len();
                run.extend(line.iter().filter(|token| token.kind != Kind::End).cloned());
                if let Some(token) = run.get_mut(first) {
                    token.starts_line = true;
                }
            }
        }
        self.expand_run(&mut run);
        for condition in conditions {
            let diagnostic = Diagnostic::error(code::UNCLOSED, condition.span, "this `#if` has no `#endif`");
            self.report(diagnostic);
        }
    }

    fn expand_run(&mut self, run: &mut Vec<Token>) {
        let expanded = self.expand(std::mem::take(run), &mut Vec::new());
        self.tokens.extend(expanded.into_iter().map(|token| match &token.kind {
            Kind::Literal(digits) => Token { kind: lexer::read_number(digits), ..token },
            _ => token,
        }));
        self.limit_tokens(self.tokens.len());
    }

    fn limit_tokens(&mut self, n_tokens: usize) {
        if n_tokens > MAX_TOKENS && !self.is_full {
            self.is_full = true;
            let span = self.tokens.last().map_or(Span::default(), |token| token.span);
            let message = format!("with its macros this program has more than {MAX_TOKENS} words and signs");
            self.report(Diagnostic::error(code::TOO_LARGE, span, message));
        }
    }

    fn directive(&mut self, line: &[Token], conditions: &mut Vec<Condition>) {
        let active = conditions.last().is_none_or(|condition| condition.active);
        let Some(word) = line.get(1) else { return };
        let span = line[0].span.to(line.last().unwrap_or(word).span);
        let rest = &line[2.min(line.len())..];
        match word.name() {
            Some("if" | "ifdef" | "ifndef" | "elif" | "else" | "endif") => {
                self.conditional(word.name().unwrap_or_default(), (line, span), conditions);
            }
            _ if !active => {}
            Some("define") => self.define(rest, span),
            Some("undef") => match rest.first().and_then(Token::name) {
                Some(name) => {
                    self.macros.remove(name);
                }
                None => self.bad(span, "a name stands after `#undef`"),
            },
            Some("include") => self.include(rest, span),
            Some("error") => {
                let text = self.map.slice(span).to_string();
                self.bad(span, format!("the program refuses itself: {}", text.trim_start_matches(['#', ' '])));
            }
            Some("warning" | "pragma" | "line" | "ident") => {}
            // `# 12 "file"` is what a preprocessor that ran before leaves.
            None if matches!(word.kind, Kind::Number(_) | Kind::Literal(_)) => {}
            other => {
                let diagnostic = Diagnostic::error(code::DIRECTIVE, word.span, "this directive is not known");
                let near = other.and_then(|name| nearest_name(name, DIRECTIVES));
                self.report(match near {
                    Some(near) => diagnostic.suggest(format!("did you mean `#{near}`?"), word.span, near),
                    None => diagnostic,
                });
            }
        }
    }

    fn bad(&mut self, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::error(code::DIRECTIVE, span, message));
    }

    fn conditional(&mut self, word: &str, (line, span): (&[Token], Span), conditions: &mut Vec<Condition>) {
        let rest = &line[2..];
        let around = conditions.last().is_none_or(|condition| condition.active);
        let mut is_true = |around: bool| match (word, rest.first().and_then(Token::name)) {
            _ if !around => false,
            ("ifdef", Some(name)) => self.macros.contains_key(name),
            ("ifndef", Some(name)) => !self.macros.contains_key(name),
            ("ifdef" | "ifndef", None) => {
                self.bad(span, format!("a name stands after `#{word}`"));
                false
            }
            _ => self.condition(rest, span),
        };
        if matches!(word, "if" | "ifdef" | "ifndef") {
            let active = is_true(around);
            return conditions.push(Condition { span, around, taken: active, active, has_else: false });
        }
        let Some(last) = conditions.last_mut() else {
            return self.bad(span, format!("there is no `#if` before this `#{word}`"));
        };
        let misplaced = last.has_else && word != "endif";
        match word {
            "elif" => {
                let active = is_true(last.around && !last.taken && !misplaced);
                last.active = active;
                last.taken |= active;
            }
            "else" => {
                last.active = last.around && !last.taken;
                last.taken = true;
                last.has_else = true;
            }
            _ => {
                conditions.pop();
            }
        }
        if misplaced {
            self.bad(span, format!("this `#{word}` comes after the `#else`"));
        }
    }

    fn define(&mut self, rest: &[Token], span: Span) {
        let Some((first, mut body)) = rest.split_first() else {
            return self.bad(span, "a name stands after `#define`");
        };
        let Some(name) = first.name() else { return self.bad(first.span, "a macro is called by a name") };
        let mut parameters = None;
        if body.first().is_some_and(|token| token.is("(") && !token.spaced) {
            let Some(end) = body.iter().position(|token| token.is(")")) else {
                return self.report(Diagnostic::error(code::UNCLOSED, body[0].span, "this parameter list has no end"));
            };
            let names = body[1..end].iter().filter(|token| !token.is(","));
            let Some(names) = names.map(|token| token.name().map(str::to_owned)).collect::<Option<Vec<_>>>() else {
                return self.bad(body[0].span.to(body[end].span), "the parameters of a macro are names");
            };
            parameters = Some(names);
            body = &body[end + 1..];
        }
        let is_given = |known: &Macro| known.definition.is_none();
        if self.macros.get(name).is_some_and(is_given) {
            let is_same = |known: &Macro| {
                known.body.len() == body.len()
                    && known.body.first().map(|one| &one.kind) == body.first().map(|one| &one.kind)
            };
            if self.symbol == Some(name) || self.macros.get(name).is_some_and(is_same) {
                return;
            }
            let message =
                format!("`{name}` is {} here, and the call gives another value", self.map.slice(span_of(body)));
            return self.report(Diagnostic::warning(code::GIVEN_MACRO, first.span, message));
        }
        let number = match body {
            [Token { kind: Kind::Number(value), .. }] => Some(*value),
            [Token { kind: Kind::Literal(digits), .. }] => match lexer::read_number(digits) {
                Kind::Number(value) => Some(value),
                _ => None,
            },
            _ => None,
        };
        let number = number.filter(|_| parameters.is_none());
        if let Some(value) = number
            && !self.numbers.iter().any(|(known, _)| known == name)
        {
            self.numbers.push((name.to_owned(), value));
        }
        let definition = Some(first.span);
        let body = if number.is_some() && self.symbol == Some(name) { [name_token(name)].into() } else { body.into() };
        self.macros.insert(name.to_owned(), Macro { parameters, body, definition });
    }

    fn include(&mut self, rest: &[Token], span: Span) {
        let name = match rest {
            [Token { kind: Kind::Text(name), .. }] => name.to_string(),
            _ => return self.bad(span, "write `#include \"file\"`; a file beside this one is read"),
        };
        let folder = self.open.last().and_then(|file| file.rsplit_once('/')).map(|(folder, _)| folder.to_owned());
        let path = folder.map_or_else(|| name.clone(), |folder| format!("{folder}/{name}"));
        if self.open.contains(&path) {
            let message = format!("`{name}` includes itself");
            return self.report(Diagnostic::error(code::INCLUDE, span, message));
        }
        let Some(text) = self.includes.get(&path) else {
            let message = format!("there is no file `{name}` beside this one");
            return self.report(Diagnostic::error(code::INCLUDE, span, message));
        };
        if self.open.len() >= MAX_DEPTH {
            let message = format!("files are included more than {MAX_DEPTH} deep");
            return self.report(Diagnostic::error(code::TOO_LARGE, span, message));
        }
        let base = self.map.include(SourceFile::new(name, text.clone()), span);
        self.open.push(path);
        self.file(lexer::tokens(text, base));
        self.open.pop();
    }
}

/// From the first to the last token.
fn span_of(tokens: &[Token]) -> Span {
    match (tokens.first(), tokens.last()) {
        (Some(first), Some(last)) => first.span.to(last.span),
        _ => Span::default(),
    }
}
