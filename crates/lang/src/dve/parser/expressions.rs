//! Expressions: precedence climbing, as in C.
//!
//! DIVINE's own grammar puts `||` and `&&` on one level, and `|`, `&` and `^` on another, all of them associating to the left;
//! its manual has them as C does. Where the two readings differ the text is read as C reads it, with a warning.

use base::{Diagnostic, Span};
use model::machine::MachineOp;

use super::super::ast::{BinaryOp, Expr, ExprKind, Name, UnaryOp};
use super::{MAX_HEIGHT, Parse, Parser, TokenKind};
use crate::codes::dve as code;

/// How tightly an operator binds, and which operators share a level in DIVINE's grammar.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Binding {
    level: u8,
    group: u8,
}

/// An operand, and the operator at its top if it stands there without parentheses.
struct Operand {
    expr: Expr,
    open: Option<Binding>,
}

impl Parser<'_> {
    /// An expression.
    pub fn expression(&mut self) -> Parse<Expr> {
        Ok(self.nested(|parser| parser.binary(0))?.expr)
    }

    /// Expressions with commas between them.
    pub fn expressions(&mut self) -> Parse<Vec<Expr>> {
        let mut all = vec![self.expression()?];
        while self.eat(TokenKind::Comma).is_some() {
            all.push(self.expression()?);
        }
        Ok(all)
    }

    /// An expression whose operators bind at least as tightly as the level says.
    fn binary(&mut self, least: u8) -> Parse<Operand> {
        let mut left = self.unary()?;
        while let Some((op, binding)) = self.operator().filter(|(_, binding)| binding.level >= least) {
            let sign = self.bump();
            let right = self.binary(binding.level + 1)?;
            if right.open.is_some_and(|inner| inner.group == binding.group && inner.level > binding.level) {
                self.warn_of_mixture(sign, right.expr.span);
            }
            let span = left.expr.span.to(right.expr.span);
            let height = left.expr.height.max(right.expr.height) + 1;
            let kind = ExprKind::Binary(op, Box::new(left.expr), Box::new(right.expr));
            left = Operand { expr: self.within_height(Expr { kind, span, height })?, open: Some(binding) };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parse<Operand> {
        let op = match self.peek() {
            TokenKind::Minus => UnaryOp::Minus,
            TokenKind::Tilde => UnaryOp::Complement,
            // Only a send mark in old versions; nothing else can stand here.
            TokenKind::Bang => UnaryOp::Not,
            TokenKind::Word if self.at_word("not") => UnaryOp::Not,
            _ => return Ok(Operand { expr: self.primary()?, open: None }),
        };
        let start = self.bump();
        let inner = self.nested(Self::unary)?.expr;
        let (span, height) = (start.to(inner.span), inner.height + 1);
        let expr = self.within_height(Expr { kind: ExprKind::Unary(op, Box::new(inner)), span, height })?;
        Ok(Operand { expr, open: None })
    }

    fn primary(&mut self) -> Parse<Expr> {
        let leaf = |kind, span| Expr { kind, span, height: 1 };
        match self.peek() {
            TokenKind::Number => {
                let span = self.span();
                let number = self.number(span)?;
                Ok(leaf(ExprKind::Number(number), self.bump()))
            }
            TokenKind::LeftParen => {
                let open = self.bump();
                let inner = self.expression()?;
                let close = self.closing(TokenKind::RightParen, (open, "("), "`)`")?;
                Ok(Expr { span: open.to(close), ..inner })
            }
            TokenKind::Word if matches!(self.word(), "true" | "false") => {
                let truth = self.at_word("true");
                Ok(leaf(ExprKind::Truth(truth), self.bump()))
            }
            TokenKind::Word => self.named(),
            _ => Err(self.unexpected("an expression")),
        }
    }

    /// `x`, `a[e]`, `P.l`, `P->x`, `P->a[e]`.
    fn named(&mut self) -> Parse<Expr> {
        let first = self.name("an expression")?;
        match self.peek() {
            TokenKind::Dot => {
                self.bump();
                let location = self.name("a location")?;
                let span = first.span.to(location.span);
                Ok(Expr { kind: ExprKind::At { process: first, location }, span, height: 1 })
            }
            TokenKind::Arrow => {
                self.bump();
                let name = self.name("a variable")?;
                self.read(Some(first), name)
            }
            _ => self.read(None, first),
        }
    }

    fn read(&mut self, owner: Option<Name>, name: Name) -> Parse<Expr> {
        let start = owner.as_ref().map_or(name.span, |owner| owner.span);
        let index = self.index()?;
        let span = start.to(self.previous_span());
        let height = index.as_ref().map_or(1, |index| index.height + 1);
        let kind = ExprKind::Read { owner, name, index: index.map(Box::new) };
        self.within_height(Expr { kind, span, height })
    }

    /// `[e]`, if it stands here.
    pub fn index(&mut self) -> Parse<Option<Expr>> {
        let Some(open) = self.eat(TokenKind::LeftBracket) else { return Ok(None) };
        let index = self.expression()?;
        self.closing(TokenKind::RightBracket, (open, "["), "`]`")?;
        Ok(Some(index))
    }

    /// The partner of a bracket, parenthesis or brace.
    pub fn closing(&mut self, kind: TokenKind, (open, sign): (Span, &str), shown: &str) -> Parse<Span> {
        if let Some(close) = self.eat(kind) {
            return Ok(close);
        }
        let message = format!("expected {shown}, found {}", self.found());
        let diagnostic = Diagnostic::error(code::UNCLOSED, self.span(), message);
        Err(self.fail(diagnostic.note(open, format!("this `{sign}` is open"))))
    }

    fn number(&mut self, span: Span) -> Parse<i64> {
        let digits = &self.text[span.range()];
        let message = match digits.parse::<i64>() {
            Ok(number) if number <= i64::from(i32::MAX) => return Ok(number),
            _ if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                format!("{digits} is too large; numbers go up to {}", i32::MAX)
            }
            _ => format!("`{digits}` is no number"),
        };
        let diagnostic = Diagnostic::error(code::BAD_NUMBER, span, message);
        Err(self.fail(diagnostic.help("numbers are written in decimal digits")))
    }

    fn within_height(&mut self, expr: Expr) -> Parse<Expr> {
        if expr.height <= MAX_HEIGHT {
            return Ok(expr);
        }
        let message = format!("this expression has more than {MAX_HEIGHT} operators in a row");
        Err(self.fail(Diagnostic::error(code::TOO_DEEP, expr.span, message)))
    }

    fn warn_of_mixture(&mut self, sign: Span, right: Span) {
        let message = "operators that bind differently in DIVINE's grammar and in its manual";
        let diagnostic = Diagnostic::warning(code::MIXED_OPERATORS, sign, message)
            .note(right, "this is taken first, as in C; an old DIVINE takes what stands before it first")
            .help("write parentheses");
        self.log.add(diagnostic);
    }

    /// The operator between operands that stands here.
    fn operator(&self) -> Option<(BinaryOp, Binding)> {
        let machine = BinaryOp::Machine;
        let (op, level) = match self.peek() {
            TokenKind::Or => (BinaryOp::Or, 2),
            TokenKind::And => (BinaryOp::And, 3),
            TokenKind::BitOr => (machine(MachineOp::BitOr), 4),
            TokenKind::BitXor => (machine(MachineOp::BitXor), 5),
            TokenKind::BitAnd => (machine(MachineOp::BitAnd), 6),
            TokenKind::Equal => (BinaryOp::Equal, 7),
            TokenKind::Unequal => (BinaryOp::NotEqual, 7),
            TokenKind::Less => (BinaryOp::Less, 8),
            TokenKind::LessEqual => (BinaryOp::LessEqual, 8),
            TokenKind::Greater => (BinaryOp::Greater, 8),
            TokenKind::GreaterEqual => (BinaryOp::GreaterEqual, 8),
            TokenKind::ShiftLeft => (machine(MachineOp::ShiftLeft), 9),
            TokenKind::ShiftRight => (machine(MachineOp::ShiftRight), 9),
            TokenKind::Plus => (BinaryOp::Add, 10),
            TokenKind::Minus => (BinaryOp::Subtract, 10),
            TokenKind::Star => (BinaryOp::Multiply, 11),
            TokenKind::Slash => (machine(MachineOp::Quotient), 11),
            TokenKind::Percent => (machine(MachineOp::Rest), 11),
            TokenKind::Word => match self.word() {
                "imply" => (BinaryOp::Imply, 1),
                "or" => (BinaryOp::Or, 2),
                "and" => (BinaryOp::And, 3),
                _ => return None,
            },
            _ => return None,
        };
        let group = match level {
            2 | 3 => 2,
            4..=6 => 4,
            other => other,
        };
        Some((op, Binding { level, group }))
    }
}
