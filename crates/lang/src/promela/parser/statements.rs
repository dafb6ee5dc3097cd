//! Bodies: statements, blocks, calls of inlines.

use std::collections::HashSet;

use base::{Diagnostic, Span};

use super::super::ast::{BinaryOp, Expr, ExprKind, Name, Stmt, StmtKind, VarRef};
use super::super::lexer::{Kind, Token};
use super::declarations::number;
use super::{Inline, KEYWORDS, MAX_INLINED, NOT_READ, Parse, Parser};
use crate::codes::promela as code;

impl Parser<'_> {
    /// A block in braces.
    pub(super) fn block(&mut self) -> Parse<Vec<Stmt>> {
        let opened = self.span();
        self.expect("{")?;
        let parens = std::mem::take(&mut self.parens);
        let error_before = self.shared.last_error;
        self.shared.labels.enter();
        let body = self.nested(|parser| Ok(parser.sequence(&["}"])));
        self.shared.labels.leave();
        self.parens = parens;
        let body = body?;
        self.close("}", opened)?;
        // What is wrong with the only statement is said already.
        if body.is_empty() && self.shared.last_error == error_before {
            let message = "a block has at least one statement";
            let diagnostic = Diagnostic::error(code::UNEXPECTED, opened, message).help("write `skip`");
            self.error(diagnostic);
        }
        Ok(body)
    }

    /// Statements up to one of these, which is not read.
    fn sequence(&mut self, ends: &[&str]) -> Vec<Stmt> {
        let mut body: Vec<Stmt> = Vec::new();
        while !self.at_end() && !ends.iter().any(|end| self.is(end) || self.is_word(end)) {
            if self.eat(";") || self.eat("->") {
                continue;
            }
            let start = self.at;
            match self.statement(&mut body) {
                Ok(()) => self.separator(start, ends),
                Err(_) => {
                    self.recover();
                    if self.at == start {
                        self.advance();
                    }
                }
            }
        }
        body
    }

    /// What stands between two statements.
    fn separator(&mut self, start: usize, ends: &[&str]) {
        let is_over = self.at_end() || ends.iter().any(|end| self.is(end) || self.is_word(end));
        if is_over || self.eat(";") || self.eat("->") {
            return;
        }
        let last = &self.tokens[self.at.saturating_sub(1)];
        let is_closed = last.is("}") || matches!(last.name(), Some("fi" | "od"));
        if is_closed || self.at == start || self.line_ends() {
            return;
        }
        let before = last.span;
        if self.span().start < before.end || self.starts_statement() {
            let message = "a `;` is missing here";
            let place = Span { start: before.end, end: before.end };
            let diagnostic = Diagnostic::warning(code::SEPARATOR, before, message);
            self.shared.log.add(diagnostic.fix("put `;` here", place, ";"));
        } else {
            self.unexpected("`;`");
            self.recover();
        }
    }

    fn starts_statement(&self) -> bool {
        self.token().name().is_some() || self.is("{") || self.is("(")
    }

    /// Reads one statement with its labels and `unless`.
    fn statement(&mut self, body: &mut Vec<Stmt>) -> Parse<()> {
        let mut labels = Vec::new();
        // `P:x` of a proctype that is known looks into a process.
        let is_label = |word: &str, known: &HashSet<String>| !KEYWORDS.contains(&word) && !known.contains(word);
        while self.token().name().is_some_and(|word| is_label(word, &self.shared.begun))
            && self.ahead(1).is(":")
            && !self.ahead(1).is("::")
        {
            let label = self.name("a label")?;
            labels.push(self.shared.labels.meet(label));
            self.advance();
        }
        if !labels.is_empty() && (self.is("}") || self.is("::") || self.is_word("od") || self.is_word("fi")) {
            // A label at the end of a block stands before nothing.
            let span = self.span();
            body.push(Stmt { labels, kind: StmtKind::Expr(number(1, span)), span, text: "skip".into() });
            return Ok(());
        }
        let first = body.len();
        self.one_statement(body)?;
        if let Some(statement) = body.get_mut(first) {
            statement.labels = labels.into_iter().chain(std::mem::take(&mut statement.labels)).collect();
        }
        // A separator may stand before `unless`.
        if self.is(";") && self.ahead(1).name() == Some("unless") {
            self.advance();
        }
        if self.is_word("unless") {
            let start = self.at;
            self.advance();
            let mut main = body.split_off(first);
            let mut outer = Vec::new();
            if let [Stmt { kind: StmtKind::Block(inner), labels, .. }] = &mut main[..] {
                outer = std::mem::take(labels);
                main = std::mem::take(inner);
            }
            let mut escape = Vec::new();
            self.nested(|parser| parser.statement(&mut escape))?;
            if let [Stmt { kind: StmtKind::Block(inner), .. }] = &mut escape[..] {
                escape = std::mem::take(inner);
            }
            body.push(Stmt {
                labels: outer,
                kind: StmtKind::Unless(main, escape),
                span: self.since(start),
                text: "unless".into(),
            });
        }
        Ok(())
    }

    fn push(&mut self, body: &mut Vec<Stmt>, start: usize, kind: StmtKind) {
        let (span, text) = (self.since(start), self.text_since(start));
        body.push(Stmt { labels: Vec::new(), kind, span, text });
    }

    fn one_statement(&mut self, body: &mut Vec<Stmt>) -> Parse<()> {
        let start = self.at;
        if self.is("{") {
            let inner = self.block()?;
            self.push(body, start, StmtKind::Block(inner));
            return Ok(());
        }
        let word = self.token().name().map(str::to_owned).unwrap_or_default();
        let kind = match &*word {
            "if" => StmtKind::If(self.options("fi")?),
            "do" => StmtKind::Do(self.options("od")?),
            "atomic" => {
                self.advance();
                StmtKind::Atomic(self.block()?)
            }
            "d_step" => {
                self.advance();
                StmtKind::DStep(self.block()?)
            }
            "goto" => {
                self.advance();
                let label = self.name("a label")?;
                StmtKind::Goto(self.shared.labels.meet(label))
            }
            "break" => {
                self.advance();
                StmtKind::Break
            }
            "else" => {
                self.advance();
                StmtKind::Else
            }
            "assert" => {
                self.advance();
                StmtKind::Assert(self.expression()?)
            }
            "printf" | "printm" => self.print()?,
            "set_priority" if self.ahead(1).is("(") => self.set_priority()?,
            "_priority" if self.ahead(1).is("=") => {
                self.advance();
                self.advance();
                StmtKind::SetPriority(None, self.expression()?)
            }
            "return" if !self.calls.is_empty() => self.returned()?,
            "for" => return self.nested(|parser| parser.for_loop(body)),
            "select" => return self.select(body),
            "xr" | "xs" if self.ahead(1).name().is_some() => return self.exclusive(),
            _ if self.is_embedded() => {
                self.embedded();
                StmtKind::Expr(number(1, self.since(start)))
            }
            _ if NOT_READ.contains(&&*word) => return Err(self.not_read(word)),
            _ if self.shared.inlines.contains_key(&word) && self.ahead(1).is("(") => {
                return self.nested(|parser| parser.call(&word, body));
            }
            _ if self.is_declaration() => StmtKind::Declare(self.declaration()?),
            _ => self.simple()?,
        };
        self.push(body, start, kind);
        Ok(())
    }

    fn options(&mut self, end: &str) -> Parse<Vec<Vec<Stmt>>> {
        let opened = self.span();
        self.advance();
        let mut options = Vec::new();
        while self.eat(";") {}
        while self.eat("::") {
            let option = self.nested(|parser| Ok(parser.sequence(&["::", end, "}"])))?;
            if option.is_empty() {
                self.unexpected("a statement");
            }
            options.push(option);
        }
        if options.is_empty() {
            return Err(self.unexpected("`::`"));
        }
        if !self.eat_word(end) {
            let message = format!("this has no closing `{end}`");
            return Err(self.error(Diagnostic::error(code::UNCLOSED, opened, message)));
        }
        Ok(options)
    }

    /// `return e` in an inline: the variable of its call takes the value.
    fn returned(&mut self) -> Parse<StmtKind> {
        let span = self.span();
        self.advance();
        let value = self.expression()?;
        match self.result.clone() {
            Some(result) => Ok(StmtKind::Assign(result, value)),
            None => {
                let message = "this inline returns a value, and its call takes none";
                Err(self
                    .error(Diagnostic::error(code::UNEXPECTED, span, message).help("write `x = …` before the call")))
            }
        }
    }

    /// `set_priority(p, e)`.
    fn set_priority(&mut self) -> Parse<StmtKind> {
        self.advance();
        let opened = self.span();
        self.expect("(")?;
        let pid = self.in_parens(Self::expression)?;
        self.expect(",")?;
        let value = self.in_parens(Self::expression)?;
        self.close(")", opened)?;
        Ok(StmtKind::SetPriority(Some(pid), value))
    }

    fn print(&mut self) -> Parse<StmtKind> {
        self.advance();
        let opened = self.span();
        self.expect("(")?;
        if let Kind::Text(_) = self.token().kind {
            self.advance();
        } else {
            self.in_parens(Self::expression)?;
        }
        while self.eat(",") {
            self.in_parens(Self::expression)?;
        }
        self.close(")", opened)?;
        Ok(StmtKind::Print)
    }

    /// `xr q; xs q`: who receives and sends alone, which is not needed here.
    fn exclusive(&mut self) -> Parse<()> {
        self.advance();
        self.variable()?;
        while self.eat(",") {
            self.variable()?;
        }
        Ok(())
    }

    /// An assignment, a send, a receive or an expression.
    fn simple(&mut self) -> Parse<StmtKind> {
        let start = self.at;
        let is_name = self.token().name().is_some_and(|word| !KEYWORDS.contains(&word) && !is_value(word));
        if is_name {
            let errors = self.shared.last_error;
            let variable = self.variable()?;
            if let Some(kind) = self.after_variable(variable)? {
                return Ok(kind);
            }
            self.shared.last_error = errors;
            self.at = start;
        }
        self.expression().map(StmtKind::Expr)
    }

    fn after_variable(&mut self, variable: VarRef) -> Parse<Option<StmtKind>> {
        let Kind::Sign(sign) = self.token().kind else { return Ok(None) };
        let kind = match sign {
            "=" => {
                self.advance();
                let called = self.token().name().filter(|word| self.shared.inlines.contains_key(*word));
                match called.map(str::to_owned).filter(|_| self.ahead(1).is("(")) {
                    Some(name) => StmtKind::Block(self.nested(|parser| parser.called(&name, Some(variable)))?),
                    None => StmtKind::Assign(variable, self.expression()?),
                }
            }
            // `x` on one line and `!y` on the next are two conditions.
            "!" | "!!" if self.line_ends() => return Ok(None),
            "++" | "--" => {
                let span = variable.span;
                let op = if sign == "++" { BinaryOp::Add } else { BinaryOp::Subtract };
                self.advance();
                let old = Expr { kind: ExprKind::Var(variable.clone()), span };
                let kind = ExprKind::Binary(op, Box::new(old), Box::new(number(1, span)));
                StmtKind::Assign(variable, Expr { kind, span })
            }
            "!" | "!!" => {
                self.advance();
                StmtKind::Send { channel: variable, is_sorted: sign == "!!", values: self.sent()? }
            }
            "?" | "??" if self.ahead(1).is("[") => return Ok(None),
            "?" | "??" => {
                self.advance();
                let opened = self.span();
                let is_copy = self.eat("<");
                let arguments = self.arguments()?;
                if is_copy {
                    self.close(">", opened)?;
                }
                StmtKind::Receive { channel: variable, is_random: sign == "??", is_copy, arguments }
            }
            _ => return Ok(None),
        };
        Ok(Some(kind))
    }

    /// The values of a send: `a, b` or `a(b, c)`.
    fn sent(&mut self) -> Parse<Vec<Expr>> {
        let mut values = Vec::new();
        loop {
            let is_outer = std::mem::replace(&mut self.shared.is_sending, values.is_empty());
            let value = self.expression();
            self.shared.is_sending = is_outer;
            values.push(value?);
            let opened = self.span();
            if values.len() == 1 && !self.line_ends() && self.eat("(") {
                loop {
                    values.push(self.in_parens(Self::expression)?);
                    if !self.eat(",") {
                        break;
                    }
                }
                self.close(")", opened)?;
            }
            if !self.eat(",") {
                return Ok(values);
            }
        }
    }

    /// Puts the body of an inline here, with the arguments for its parameters.
    fn call(&mut self, name: &str, body: &mut Vec<Stmt>) -> Parse<()> {
        let start = self.at;
        let statements = self.called(name, None)?;
        self.push(body, start, StmtKind::Block(statements));
        Ok(())
    }

    /// The statements of an inline; what it returns is stored in `result`.
    fn called(&mut self, name: &str, result: Option<VarRef>) -> Parse<Vec<Stmt>> {
        let span = self.span();
        let inline = self.shared.inlines[name].clone();
        self.advance();
        let arguments = self.call_arguments()?;
        let is_empty = inline.parameters.is_empty() && arguments.iter().all(Vec::is_empty);
        if arguments.len() != inline.parameters.len() && !is_empty {
            let message = format!("`{name}` takes {} arguments, not {}", inline.parameters.len(), arguments.len());
            let diagnostic = Diagnostic::error(code::WRONG_NUMBER, span, message);
            return Err(self.error(diagnostic.note(inline.span, "declared here")));
        }
        if self.calls.iter().any(|call| call == name) {
            let message = format!("inline `{name}` calls itself");
            return Err(self.error(Diagnostic::error(code::TOO_LARGE, span, message)));
        }
        let tokens = self.inlined(&inline, &arguments, span)?;
        let calls = self.calls.iter().cloned().chain([name.to_owned()]).collect();
        let (tokens, depth, map) = (tokens.into(), self.depth, self.map);
        let mut inner = Parser { tokens, at: 0, depth, parens: 0, calls, result, shared: &mut *self.shared, map };
        inner.block()
    }

    fn call_arguments(&mut self) -> Parse<Vec<Vec<Token>>> {
        let opened = self.span();
        self.advance();
        let mut arguments: Vec<Vec<Token>> = vec![Vec::new()];
        let mut depth = 0usize;
        loop {
            match self.token().kind {
                Kind::End => {
                    let message = "these arguments have no closing `)`";
                    return Err(self.error(Diagnostic::error(code::UNCLOSED, opened, message)));
                }
                Kind::Sign(")") if depth == 0 => break,
                Kind::Sign(",") if depth == 0 => {
                    arguments.push(Vec::new());
                    self.advance();
                    continue;
                }
                Kind::Sign("(" | "[" | "{") => depth += 1,
                Kind::Sign(")" | "]" | "}") => depth = depth.saturating_sub(1),
                _ => {}
            }
            let token = self.token().clone();
            arguments.last_mut().expect("there is one").push(token);
            self.advance();
        }
        self.advance();
        Ok(arguments)
    }

    fn inlined(&mut self, inline: &Inline, arguments: &[Vec<Token>], span: Span) -> Parse<Vec<Token>> {
        let mut tokens = Vec::new();
        for token in inline.body.iter() {
            if self.shared.n_inlined + tokens.len() > MAX_INLINED {
                break;
            }
            let position = inline.parameters.iter().position(|parameter| token.name() == Some(parameter));
            // A field of the same name is no parameter.
            let is_field = tokens.last().is_some_and(|last: &Token| last.is("."));
            match position.filter(|_| !is_field).and_then(|position| arguments.get(position)) {
                Some(argument) => {
                    let first = tokens.len();
                    tokens.extend(argument.iter().map(|token| Token { starts_line: false, ..token.clone() }));
                    if let Some(one) = tokens.get_mut(first) {
                        one.starts_line = token.starts_line;
                    }
                }
                None => tokens.push(token.clone()),
            }
        }
        self.shared.n_inlined += tokens.len();
        if self.shared.n_inlined > MAX_INLINED {
            let message = format!("calls of inlines add more than {MAX_INLINED} words and signs");
            return Err(self.error(Diagnostic::error(code::TOO_LARGE, span, message)));
        }
        tokens.push(Token { kind: Kind::End, span, spaced: true, starts_line: false });
        Ok(tokens)
    }
}

fn is_value(word: &str) -> bool {
    matches!(word, "true" | "false" | "np_" | "_pid" | "_nr_pr" | "_last")
}

/// A statement that the parser writes itself.
pub(super) fn written(kind: StmtKind, span: Span, text: String) -> Stmt {
    Stmt { labels: Vec::new(), kind, span, text }
}

/// The name of a variable without parts and index.
pub(super) fn plain(variable: &VarRef) -> Option<&Name> {
    match &variable.parts[..] {
        [part] if part.index.is_none() => Some(&part.name),
        _ => None,
    }
}
