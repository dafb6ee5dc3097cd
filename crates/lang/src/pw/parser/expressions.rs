//! Expressions and formulas: operands, what follows them, and the operators around them.

use super::super::ast::{
    BinaryOp, Expr, ExprKind, Extremum, Ident, Members, NamedField, Places, Quantifier, TypeKind, UnaryOp,
};
use super::operators::Level;
use super::{Context, MAX_HEIGHT, Parse, Parser, Role, TokenKind, words};
use crate::codes::syntax as code;
use base::{Diagnostic, Span};

/// How places may be named.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    /// By their labels only.
    ByLabel,
    /// By their labels, or by the line (and column) of their statements.
    OrByLine,
}

/// An expression with what the rest of its expression needs to know.
pub(super) struct Operand {
    pub expr: Expr,
    /// Whether it stands in parentheses.
    pub has_parens: bool,
    /// The height of its tree.
    pub height: usize,
}

impl Operand {
    fn new(kind: ExprKind, span: Span, height: usize) -> Self {
        Operand { expr: Expr { kind, span }, has_parens: false, height }
    }
}

impl Parser<'_> {
    /// A whole expression.
    pub(super) fn expr(&mut self) -> Parse<Expr> {
        Ok(self.binary(Level::Implication)?.expr)
    }

    /// An expression in which nothing binds looser than a level.
    pub(super) fn expr_at(&mut self, level: Level) -> Parse<Expr> {
        Ok(self.binary(level)?.expr)
    }

    /// An expression in parentheses, brackets or braces: what could not stand around them may stand in them.
    pub(super) fn enclosed<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        let context = Context { or_separates: false, ..self.context };
        self.nested(|parser| parser.within(context, parse))
    }

    /// Operands and the operators between them that bind at least as tightly as `loosest`.
    pub(super) fn binary(&mut self, loosest: Level) -> Parse<Operand> {
        let mut left = self.operand()?;
        let mut has_reported_chain = false;
        loop {
            if self.at_word("as") && loosest <= Level::Cast {
                left = self.as_pid(left)?;
                continue;
            }
            if self.at_word("in") && loosest <= Level::Comparison {
                left = self.membership(left)?;
                continue;
            }
            let Some(op) = self.infix() else { return Ok(left) };
            let level = Level::of(op);
            if level < loosest {
                return Ok(left);
            }
            self.check_infix();
            let op_span = self.bump_as(Role::Infix);
            let right = self.binary(level.tighter())?;
            if !level.chains() && !left.has_parens && is_binary_of(&left.expr, level) {
                if !has_reported_chain {
                    self.report_chain(&left.expr, (op, op_span), &right.expr);
                }
                has_reported_chain = true;
            } else if !left.has_parens {
                self.warn_of_tight_operator(op, &left.expr, &right.expr);
            }
            left = self.combine(op, op_span, left, right)?;
        }
    }

    fn combine(&mut self, op: BinaryOp, op_span: Span, left: Operand, right: Operand) -> Parse<Operand> {
        let span = left.expr.span.to(right.expr.span);
        let height = left.height.max(right.height) + 1;
        let kind = ExprKind::Binary { op, op_span, left: Box::new(left.expr), right: Box::new(right.expr) };
        self.limited(Operand::new(kind, span, height))
    }

    /// Refuses a tree that is too high.
    pub(super) fn limited(&mut self, operand: Operand) -> Parse<Operand> {
        if operand.height <= MAX_HEIGHT {
            return Ok(operand);
        }
        let message = format!("this expression has more than {MAX_HEIGHT} operators in a row");
        let end = self.previous_end();
        let diagnostic = Diagnostic::error(code::TOO_DEEP, end, message)
            .help("give parts of it a name with `define`, or put parentheses around halves of it");
        Err(self.fail(diagnostic))
    }

    /// `x in s`, `x in {a, b}`, `x in 0..<3`
    fn membership(&mut self, element: Operand) -> Parse<Operand> {
        let start = element.expr.span;
        self.bump_as(Role::Infix);
        let after = self.span();
        let (members, height) = if self.at(TokenKind::LeftBrace) {
            let mut height = 1;
            let span = self.span();
            let kind = self.set_literal(&mut height)?;
            (Members::Set(Box::new(Expr { kind, span: self.since(span) })), height)
        } else {
            let low = self.binary(Level::Sum)?;
            match self.at_range_dots() {
                true => {
                    let (range, height) = self.range_after(after, low)?;
                    (Members::Range(Box::new(range)), height)
                }
                false => (Members::Set(Box::new(low.expr)), low.height),
            }
        };
        let height = element.height.max(height) + 1;
        let kind = ExprKind::In { element: Box::new(element.expr), members };
        self.limited(Operand::new(kind, self.since(start), height))
    }

    /// `{a, b}`
    pub(super) fn set_literal(&mut self, height: &mut usize) -> Parse<ExprKind> {
        self.bump();
        let (elements, highest) = self.enclosed(|parser| parser.list_until(TokenKind::RightBrace))?;
        *height = highest + 1;
        self.expect(TokenKind::RightBrace, "`,` or `}`")?;
        Ok(ExprKind::Set(elements))
    }

    fn as_pid(&mut self, operand: Operand) -> Parse<Operand> {
        let start = operand.expr.span;
        self.bump_as(Role::Infix);
        let ty = self.ty()?;
        let family = match ty.kind {
            TypeKind::Pid { family, optional: false } => family,
            _ => {
                let message = "only `as pid` and `as pid(P)` can stand here";
                return Err(self.fail(Diagnostic::error(code::UNEXPECTED, ty.span, message)));
            }
        };
        let height = operand.height + 1;
        let kind = ExprKind::AsPid { operand: Box::new(operand.expr), family };
        self.limited(Operand::new(kind, self.since(start), height))
    }

    /// One operand: an operator before another operand, or a simple one with the indices and fields that follow it.
    fn operand(&mut self) -> Parse<Operand> {
        let start = self.span();
        match self.peek() {
            TokenKind::Not => self.prefix(&[UnaryOp::Not], Level::Unary),
            TokenKind::Minus => self.prefix(&[UnaryOp::Negate], Level::Unary),
            TokenKind::Box => self.prefix(&[UnaryOp::Always], Level::Comparison),
            TokenKind::Diamond => self.prefix(&[UnaryOp::Eventually], Level::Comparison),
            TokenKind::Circle => self.prefix(&[UnaryOp::Next], Level::Comparison),
            TokenKind::LeftBracket if self.peek_at(1) == TokenKind::RightBracket => {
                self.bump();
                self.prefix_since(start, &[UnaryOp::Always], Level::Comparison)
            }
            TokenKind::Word => self.word_operand(),
            _ => {
                let operand = self.simple_operand()?;
                self.postfix(operand)
            }
        }
    }

    fn word_operand(&mut self) -> Parse<Operand> {
        let word = self.word_at(0);
        let is_declared = self.declared.contains(word);
        match word {
            "not" => return self.prefix(&[UnaryOp::Not], Level::Comparison),
            "forall" | "exists" => return self.nested(Self::quantified),
            "if" => return self.nested(Self::conditional),
            // UPPAAL's `A[] p` and `A<> p`.
            "A" if !is_declared && self.is_always_or_eventually(1) => {
                self.bump();
                return self.operand();
            }
            _ => {}
        }
        if !is_declared && let Some(operators) = words::prefix_word(word) {
            return self.prefix(&operators, Level::Comparison);
        }
        let operand = self.simple_operand()?;
        self.postfix(operand)
    }

    fn is_always_or_eventually(&self, ahead: usize) -> bool {
        let is_box =
            self.peek_at(ahead) == TokenKind::LeftBracket && self.peek_at(ahead + 1) == TokenKind::RightBracket;
        is_box || self.peek_at(ahead) == TokenKind::Diamond
    }

    /// Operators in one token, outermost first, and their operand.
    fn prefix(&mut self, operators: &[UnaryOp], level: Level) -> Parse<Operand> {
        let start = self.span();
        self.prefix_since(start, operators, level)
    }

    fn prefix_since(&mut self, start: Span, operators: &[UnaryOp], level: Level) -> Parse<Operand> {
        self.bump_as(Role::Prefix);
        let op_span = self.since(start);
        let Operand { mut expr, mut height, .. } = self.nested(|parser| parser.binary(level))?;
        for &op in operators.iter().rev() {
            self.warn_of_next(op, op_span);
            let span = start.to(expr.span);
            expr = Expr { kind: ExprKind::Unary { op, op_span, operand: Box::new(expr) }, span };
            height += 1;
        }
        self.limited(Operand { expr, has_parens: false, height })
    }

    /// `if c then a else b`
    fn conditional(&mut self) -> Parse<Operand> {
        let start = self.bump();
        let condition = self.binary(Level::Implication)?;
        self.expect_word("then")?;
        let then = self.binary(Level::Implication)?;
        self.expect_word("else")?;
        let otherwise = self.binary(Level::Implication)?;
        let height = condition.height.max(then.height).max(otherwise.height) + 1;
        let [condition, then, otherwise] = [condition, then, otherwise].map(|operand| Box::new(operand.expr));
        let kind = ExprKind::If { condition, then, otherwise };
        self.limited(Operand::new(kind, self.since(start), height))
    }

    /// An operand without what may follow it.
    fn simple_operand(&mut self) -> Parse<Operand> {
        let start = self.span();
        let mut height = 1;
        let kind = match self.peek() {
            TokenKind::Number => ExprKind::Int(self.number()),
            TokenKind::LeftParen => return self.parenthesised(),
            TokenKind::LeftBracket => self.array(&mut height)?,
            TokenKind::At => {
                self.bump();
                ExprKind::At { process: None, places: self.places(Named::OrByLine)? }
            }
            TokenKind::Word => self.word(&mut height)?,
            TokenKind::LeftBrace if self.follows_equality() => self.set_literal(&mut height)?,
            _ => return Err(self.no_expression()),
        };
        self.limited(Operand::new(kind, self.since(start), height))
    }

    fn parenthesised(&mut self) -> Parse<Operand> {
        let opener = self.bump();
        let inner = self.enclosed(|parser| parser.binary(Level::Implication))?;
        let closer = self.close(opener, TokenKind::RightParen)?;
        let expr = Expr { kind: inner.expr.kind, span: opener.to(closer) };
        Ok(Operand { expr, has_parens: true, height: inner.height })
    }

    fn word(&mut self, height: &mut usize) -> Parse<ExprKind> {
        let word = self.word_at(0);
        let is_called = self.peek_at(1) == TokenKind::LeftParen;
        let is_declared = self.declared.contains(word);
        match word {
            "true" | "false" => {
                self.bump();
                Ok(ExprKind::Bool(word == "true"))
            }
            "TRUE" | "FALSE" if !is_declared => {
                self.bump();
                Ok(ExprKind::Bool(word == "TRUE"))
            }
            "none" => {
                self.bump();
                Ok(ExprKind::None)
            }
            "count" | "sum" | "min" | "max" if is_called && (word == "count" || self.binds()) => {
                let quantifier = match word {
                    "count" => Quantifier::Count,
                    "sum" => Quantifier::Sum,
                    "min" => Quantifier::Least,
                    _ => Quantifier::Greatest,
                };
                self.nested(|parser| parser.counted(quantifier, height))
            }
            "min" | "max" if is_called => {
                self.bump();
                let extremum = if word == "min" { Extremum::Min } else { Extremum::Max };
                let operands = self.arguments(height)?;
                if operands.is_empty() {
                    let message = format!("`{word}` needs values to choose from");
                    return Err(self.fail(Diagnostic::error(code::UNEXPECTED, self.previous_end(), message)));
                }
                Ok(ExprKind::Extremum { extremum, operands })
            }
            _ if words::is_reserved(word) || (words::is_keyword(word) && !is_declared) => Err(self.no_expression()),
            _ => {
                let name = self.any_word();
                if !is_called {
                    return Ok(ExprKind::Name(name));
                }
                if self.peek_at(1) == TokenKind::Word && self.peek_at(2) == TokenKind::Colon {
                    return self.nested(|parser| parser.record(name, height));
                }
                let arguments = self.arguments(height)?;
                Ok(ExprKind::Apply { name, arguments })
            }
        }
    }

    /// `(kind: ask, from: i)` after the name of a struct.
    #[inline(never)]
    fn record(&mut self, name: Ident, height: &mut usize) -> Parse<ExprKind> {
        let opener = self.bump_as(Role::Tight);
        let (fields, highest) = self.enclosed(|parser| {
            let (mut fields, mut highest) = (Vec::new(), 0);
            while !parser.at(TokenKind::RightParen) {
                let name = parser.ident("the name of a field")?;
                parser.expect(TokenKind::Colon, "`:`")?;
                let operand = parser.binary(Level::Implication)?;
                highest = highest.max(operand.height);
                fields.push(NamedField { name, value: operand.expr });
                if parser.eat(TokenKind::Comma).is_none() {
                    break;
                }
            }
            Ok((fields, highest))
        })?;
        self.close(opener, TokenKind::RightParen)?;
        *height = (*height).max(highest + 1);
        Ok(ExprKind::Record { name, fields })
    }

    /// Whether what follows the word at hand binds a name: `(k in …` or `(k: …`.
    fn binds(&self) -> bool {
        let follows = self.peek_at(3) == TokenKind::Colon || self.word_at(3) == "in";
        self.peek_at(2) == TokenKind::Word && follows
    }

    /// `(e, …)` after a name.
    pub(super) fn arguments(&mut self, height: &mut usize) -> Parse<Vec<Expr>> {
        self.mark(Role::Tight);
        let opener = self.expect(TokenKind::LeftParen, "`(`")?;
        let (arguments, highest) = self.enclosed(|parser| parser.list_until(TokenKind::RightParen))?;
        self.close(opener, TokenKind::RightParen)?;
        *height = (*height).max(highest + 1);
        Ok(arguments)
    }

    /// Expressions with commas between them, and the height of the highest.
    fn list_until(&mut self, end: TokenKind) -> Parse<(Vec<Expr>, usize)> {
        let (mut list, mut highest) = (Vec::new(), 0);
        while !self.at(end) {
            let operand = self.binary(Level::Implication)?;
            highest = highest.max(operand.height);
            list.push(operand.expr);
            if self.eat(TokenKind::Comma).is_none() {
                break;
            }
        }
        Ok((list, highest))
    }

    /// `[a, b]` or `[e; n]`
    fn array(&mut self, height: &mut usize) -> Parse<ExprKind> {
        let opener = self.bump();
        if self.at(TokenKind::Word) && self.peek_at(1) == TokenKind::Colon {
            let variable = self.ident("the name of an index")?;
            self.bump();
            let value = self.enclosed(|parser| parser.binary(Level::Implication))?;
            *height = value.height + 1;
            self.close(opener, TokenKind::RightBracket)?;
            return Ok(ExprKind::ByIndex { variable, value: Box::new(value.expr) });
        }
        let (mut elements, highest) = self.enclosed(|parser| parser.list_until(TokenKind::RightBracket))?;
        *height = highest + 1;
        let is_repeat = elements.len() == 1 && self.at(TokenKind::Semicolon);
        if !is_repeat {
            self.close(opener, TokenKind::RightBracket)?;
            return Ok(ExprKind::Array(elements));
        }
        self.bump();
        let length = self.enclosed(|parser| parser.binary(Level::Implication))?;
        *height = (*height).max(length.height + 1);
        self.close(opener, TokenKind::RightBracket)?;
        let value = Box::new(elements.remove(0));
        Ok(ExprKind::Repeat { value, length: Box::new(length.expr) })
    }

    /// Indices, fields and places after an operand.
    fn postfix(&mut self, mut operand: Operand) -> Parse<Operand> {
        loop {
            let start = operand.expr.span;
            let height = operand.height + 1;
            operand = match self.peek() {
                TokenKind::LeftBracket if self.peek_at(1) != TokenKind::RightBracket => {
                    let opener = self.bump_as(Role::Tight);
                    let index = self.enclosed(Self::index)?;
                    self.close(opener, TokenKind::RightBracket)?;
                    let height = height.max(index.height + 1);
                    let kind = ExprKind::Index { base: Box::new(operand.expr), index: Box::new(index.expr) };
                    Operand::new(kind, self.since(start), height)
                }
                TokenKind::Dot => {
                    self.bump();
                    // The parts of a channel's messages have numbers: `c.1`.
                    if !matches!(self.peek(), TokenKind::Word | TokenKind::Number) {
                        return Err(self.unexpected("a name after `.`"));
                    }
                    let name = self.slice(self.span()).to_owned();
                    let field = Ident { name, span: self.bump() };
                    let kind = ExprKind::Field { base: Box::new(operand.expr), field };
                    Operand::new(kind, self.since(start), height)
                }
                TokenKind::At => {
                    self.bump_as(Role::Tight);
                    let places = self.places(Named::OrByLine)?;
                    let kind = ExprKind::At { process: Some(Box::new(operand.expr)), places };
                    Operand::new(kind, self.since(start), height)
                }
                _ => return Ok(operand),
            };
            operand = self.limited(operand)?;
        }
    }

    fn index(&mut self) -> Parse<Operand> {
        if !(self.at(TokenKind::Star) && self.peek_at(1) == TokenKind::RightBracket) {
            return self.binary(Level::Implication);
        }
        let span = self.span();
        if !self.context.allows_star {
            let message = "`[*]` stands only in fairness assumptions, hints and `race_free`";
            let diagnostic = Diagnostic::error(code::MISPLACED_STAR, span, message)
                .help("bind the index with a quantifier: `forall i: P[i]…`");
            self.report(diagnostic);
        }
        self.bump();
        Ok(Operand::new(ExprKind::Star, span, 1))
    }

    /// `crit` or `{crit, leave}` after an `@`; in expressions also `9` and `9:7`, the place of the statement that starts there.
    pub(super) fn places(&mut self, named: Named) -> Parse<Places> {
        let start = self.span();
        if self.eat(TokenKind::LeftBrace).is_none() {
            let label = self.place_name(named)?;
            return Ok(Places { labels: vec![label], span: self.since(start) });
        }
        let labels = self.labels_in_braces(named);
        if labels.is_err() {
            self.skip_places();
        }
        Ok(Places { labels: labels?, span: self.since(start) })
    }

    #[inline(never)]
    fn place_name(&mut self, named: Named) -> Parse<Ident> {
        if named == Named::ByLabel || !self.at(TokenKind::Number) {
            return self.label();
        }
        let start = self.span();
        self.bump();
        if self.at(TokenKind::Colon) && self.peek_at(1) == TokenKind::Number && self.span().start == start.end {
            self.bump_as(Role::Tight);
            self.bump_as(Role::Tight);
        }
        let span = self.since(start);
        Ok(Ident { name: self.slice(span).to_owned(), span })
    }

    fn labels_in_braces(&mut self, named: Named) -> Parse<Vec<Ident>> {
        let mut labels = vec![self.place_name(named)?];
        while self.eat(TokenKind::Comma).is_some() && !self.at(TokenKind::RightBrace) {
            labels.push(self.place_name(named)?);
        }
        self.expect(TokenKind::RightBrace, "`,` or `}`")?;
        Ok(labels)
    }

    /// A number; one that cannot be read is reported and counts as 0.
    fn number(&mut self) -> i64 {
        let text = self.slice(self.span());
        let digits: String = text.chars().filter(|&c| c != '_').collect();
        let value = digits.parse().unwrap_or_else(|_| {
            let is_whole = digits.bytes().all(|byte| byte.is_ascii_digit());
            let diagnostic = if is_whole {
                Diagnostic::error(code::BAD_NUMBER, self.span(), "this number is too large")
                    .help(format!("numbers go up to {}", i64::MAX))
            } else {
                Diagnostic::error(code::BAD_NUMBER, self.span(), "this is neither a number nor a name")
                    .help("numbers are written with decimal digits; a name begins with a letter or `_`")
            };
            self.report(diagnostic);
            0
        });
        self.bump();
        value
    }
}

fn is_binary_of(expr: &Expr, level: Level) -> bool {
    matches!(&expr.kind, ExprKind::Binary { op, .. } if Level::of(*op) == level)
}
