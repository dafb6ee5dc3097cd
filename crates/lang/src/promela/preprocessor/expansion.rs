//! Expansion of macros.
//!
//! In: tokens without directives. Out: the same with macros replaced. Arguments are expanded first, then put for the parameters, then the
//! result is read again; a macro is not expanded within itself. `#p` makes a text of an argument and `a ## b` one word of two.

use base::{Diagnostic, Span};

use super::super::lexer::{Kind, Token, tokens};
use super::{MAX_DEPTH, Macro, Preprocessor, span_of};
use crate::codes::promela as code;

impl Preprocessor<'_> {
    /// Replaces macros; `active` are those whose expansion this is part of.
    pub(super) fn expand(&mut self, input: Vec<Token>, active: &mut Vec<String>) -> Vec<Token> {
        let mut output: Vec<Token> = Vec::with_capacity(input.len());
        let mut at = 0;
        // Whether a line begins with what comes next.
        let mut at_line = false;
        while at < input.len() && !self.is_full {
            let token = &input[at];
            let found = token.name().filter(|name| !active.iter().any(|one| one == name));
            let found = found.and_then(|name| self.macros.get(name).map(|known| (name.to_owned(), known.clone())));
            let is_called = input.get(at + 1).is_some_and(|next| next.is("("));
            match found {
                Some((name, known)) if known.parameters.is_none() || is_called => {
                    let first = output.len();
                    at_line |= token.starts_line;
                    at += self.replace((&name, &known), &input[at..], active, &mut output);
                    if active.is_empty() {
                        // What a macro becomes stands on one line.
                        at_line = on_one_line(&mut output[first..], at_line);
                    }
                }
                _ => {
                    let starts_line = token.starts_line || at_line;
                    output.push(Token { starts_line, ..token.clone() });
                    at_line = false;
                    at += 1;
                }
            }
            self.limit_tokens(output.len());
        }
        output
    }

    /// Expands the macro at the start of the tokens; how many tokens its use has.
    fn replace(
        &mut self,
        (name, known): (&str, &Macro),
        input: &[Token],
        active: &mut Vec<String>,
        output: &mut Vec<Token>,
    ) -> usize {
        let (length, arguments) = match &known.parameters {
            None => (1, Vec::new()),
            Some(_) => match arguments(&input[1..]) {
                Some((length, arguments)) => (length + 1, arguments),
                None => {
                    let message = format!("the arguments of `{name}` have no end");
                    self.report(Diagnostic::error(code::UNCLOSED, input[0].span, message));
                    return input.len();
                }
            },
        };
        let span = input[0].span.to(input[length - 1].span);
        let parameters = known.parameters.as_deref().unwrap_or_default();
        let is_empty = parameters.is_empty() && arguments.iter().all(Vec::is_empty);
        if known.parameters.is_some() && arguments.len() != parameters.len() && !is_empty {
            let message = format!("`{name}` takes {} arguments, not {}", parameters.len(), arguments.len());
            let mut diagnostic = Diagnostic::error(code::WRONG_NUMBER, span, message);
            if let Some(definition) = known.definition {
                diagnostic = diagnostic.note(definition, "defined here");
            }
            self.report(diagnostic);
            return length;
        }
        if active.len() >= MAX_DEPTH {
            let message = format!("macros are expanded more than {MAX_DEPTH} deep");
            self.report(Diagnostic::error(code::TOO_LARGE, span, message));
            self.is_full = true;
            return length;
        }
        if let (Some(definition), true) = (known.definition, active.is_empty()) {
            self.map.macro_use(span, name, definition);
        }
        let replaced = self.substitute(known, &arguments, span, active);
        active.push(name.to_owned());
        output.extend(self.expand(replaced, active));
        active.pop();
        length
    }

    fn substitute(
        &mut self,
        known: &Macro,
        arguments: &[Vec<Token>],
        span: Span,
        active: &mut Vec<String>,
    ) -> Vec<Token> {
        let parameters = known.parameters.as_deref().unwrap_or_default();
        let position = |token: &Token| {
            let at = parameters.iter().position(|parameter| token.name() == Some(parameter))?;
            (at < arguments.len()).then_some(at)
        };
        // However often a parameter stands there, its argument is expanded once, and once made a text.
        let mut expanded: Vec<Option<Vec<Token>>> = vec![None; arguments.len()];
        let mut texts: Vec<Option<Kind>> = vec![None; arguments.len()];
        let mut replaced: Vec<Token> = Vec::new();
        let mut at = 0;
        while at < known.body.len() && !self.is_full {
            let token = &known.body[at];
            let next = known.body.get(at + 1);
            at += 1;
            if let (true, Some(given)) = (token.is("#"), next.and_then(position)) {
                let kind = texts[given].get_or_insert_with(|| text_of(&arguments[given])).clone();
                replaced.push(Token { kind, span, spaced: true, starts_line: false });
                at += 1;
                continue;
            }
            if let (true, Some(right)) = (token.is("##"), next) {
                let given = position(right).map(|given| arguments[given].clone());
                paste(&mut replaced, given.unwrap_or_else(|| vec![Token { span, ..right.clone() }]), span);
                at += 1;
                self.limit_tokens(replaced.len());
                continue;
            }
            match position(token) {
                // Beside `##` an argument stands as it is given.
                Some(given) if next.is_some_and(|next| next.is("##")) => replaced.extend_from_slice(&arguments[given]),
                Some(given) => {
                    let tokens =
                        expanded[given].take().unwrap_or_else(|| self.expand(arguments[given].clone(), active));
                    replaced.extend_from_slice(&tokens);
                    expanded[given] = Some(tokens);
                }
                None => replaced.push(Token { span, ..token.clone() }),
            }
            self.limit_tokens(replaced.len());
        }
        replaced
    }
}

/// Marks the first token as the first of its line, if it is, and no other; whether there was none to mark.
fn on_one_line(tokens: &mut [Token], starts_line: bool) -> bool {
    for (at, token) in tokens.iter_mut().enumerate() {
        token.starts_line = starts_line && at == 0;
    }
    starts_line && tokens.is_empty()
}

/// The arguments in parentheses, and how many tokens they have with these. Only parentheses keep commas together.
fn arguments(input: &[Token]) -> Option<(usize, Vec<Vec<Token>>)> {
    let mut depth = 0usize;
    let mut arguments = vec![Vec::new()];
    for (at, token) in input.iter().enumerate() {
        match token.kind {
            Kind::Sign("(") => depth += 1,
            Kind::Sign(")") => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return Some((at + 1, arguments));
        }
        match (depth, &token.kind) {
            (1, Kind::Sign(",")) => arguments.push(Vec::new()),
            _ if at == 0 => {}
            _ => arguments.last_mut()?.push(token.clone()),
        }
    }
    None
}

/// What `#p` becomes: the argument as a text.
fn text_of(argument: &[Token]) -> Kind {
    let words: Vec<String> = argument.iter().map(Token::text).collect();
    Kind::Text(words.join(" ").into())
}

/// Makes one word of the last token and the first one on the right.
fn paste(left: &mut Vec<Token>, right: Vec<Token>, span: Span) {
    let mut right = right.into_iter();
    let pasted = left.pop().map(|token| token.text()).unwrap_or_default()
        + &right.next().map(|token| token.text()).unwrap_or_default();
    let kinds = tokens(&pasted, 0).into_iter().filter(|token| !matches!(token.kind, Kind::Line | Kind::End));
    left.extend(kinds.map(|token| Token { span, ..token }));
    left.extend(right);
}

impl Preprocessor<'_> {
    /// The tokens of a condition, with `defined` answered and macros expanded.
    pub(super) fn expand_condition(&mut self, input: &[Token]) -> Vec<Token> {
        let mut answered = Vec::new();
        let mut rest = input.iter();
        while let Some(token) = rest.next() {
            if token.name() != Some("defined") {
                answered.push(token.clone());
                continue;
            }
            let mut asked = rest.next();
            let is_parenthesised = asked.is_some_and(|next| next.is("("));
            if is_parenthesised {
                asked = rest.next();
                rest.next();
            }
            let known = asked.and_then(Token::name).is_some_and(|name| self.macros.contains_key(name));
            answered.push(Token { kind: Kind::Number(i64::from(known)), ..token.clone() });
        }
        let span = span_of(&answered);
        let expanded = self.expand(answered, &mut Vec::new());
        if self.symbol.is_some() && expanded.iter().any(|token| token.name() == self.symbol) {
            self.decides.get_or_insert(span);
        }
        expanded.into_iter().map(|token| Token { span, ..token }).collect()
    }
}
