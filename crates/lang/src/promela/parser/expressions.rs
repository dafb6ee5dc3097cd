//! Expressions, variables, and arguments of receives.

use base::{Diagnostic, Span};

use super::super::ast::{Argument, BinaryOp, Expr, ExprKind, Part, Query, VarRef};
use super::super::lexer::Kind;
use super::{NOT_READ, Parse, Parser};
use crate::codes::promela as code;

/// How tightly an operator binds, and what it is; C's order.
fn operator(sign: &str) -> Option<(u8, BinaryOp)> {
    Some(match sign {
        "||" => (1, BinaryOp::Or),
        "&&" => (2, BinaryOp::And),
        "|" => (3, BinaryOp::BitOr),
        "^" => (4, BinaryOp::BitXor),
        "&" => (5, BinaryOp::BitAnd),
        "==" => (6, BinaryOp::Equal),
        "!=" => (6, BinaryOp::NotEqual),
        "<" => (7, BinaryOp::Less),
        "<=" => (7, BinaryOp::LessEqual),
        ">" => (7, BinaryOp::Greater),
        ">=" => (7, BinaryOp::GreaterEqual),
        "<<" => (8, BinaryOp::ShiftLeft),
        ">>" => (8, BinaryOp::ShiftRight),
        "+" => (9, BinaryOp::Add),
        "-" => (9, BinaryOp::Subtract),
        "*" => (10, BinaryOp::Multiply),
        "/" => (10, BinaryOp::Divide),
        "%" => (10, BinaryOp::Remainder),
        _ => return None,
    })
}

/// Whether a sign is an operator of expressions that binds more tightly than those of formulas.
pub(super) fn is_within_atoms(sign: &str) -> bool {
    operator(sign).is_some_and(|(strength, _)| strength > AND)
}

/// How tightly `&&` binds.
pub(super) const AND: u8 = 2;

impl Parser<'_> {
    /// An expression.
    pub(super) fn expression(&mut self) -> Parse<Expr> {
        self.binary(0)
    }

    /// An expression of operators that bind more tightly than this.
    pub(super) fn binary(&mut self, least: u8) -> Parse<Expr> {
        let left = self.unary()?;
        self.binary_after(left, least)
    }

    /// Goes on behind a left side.
    pub(super) fn binary_after(&mut self, mut left: Expr, least: u8) -> Parse<Expr> {
        while let Kind::Sign(sign) = self.token().kind
            && let Some((strength, op)) = operator(sign)
            && strength > least
            // `x = y` on one line and `-z` on the next are two statements.
            && !(sign == "-" && self.line_ends())
            // `<->` of a formula.
            && !(sign == "<" && self.ahead(1).is("->") && !self.ahead(1).spaced)
        {
            self.advance();
            let right = self.nested(|parser| parser.binary(strength))?;
            let span = join(left.span, right.span);
            left = Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), span };
        }
        Ok(left)
    }

    pub(super) fn unary(&mut self) -> Parse<Expr> {
        let start = self.at;
        let wrap: fn(Box<Expr>) -> ExprKind = match self.token().kind {
            Kind::Sign("!") => ExprKind::Not,
            Kind::Sign("-") => ExprKind::Negate,
            Kind::Sign("~") => ExprKind::Complement,
            _ => return self.primary(),
        };
        self.advance();
        let inner = self.nested(Self::unary)?;
        Ok(Expr { kind: wrap(Box::new(inner)), span: self.since(start) })
    }

    fn primary(&mut self) -> Parse<Expr> {
        let start = self.at;
        let kind = match self.token().kind.clone() {
            Kind::Number(value) => {
                self.advance();
                ExprKind::Number(value)
            }
            Kind::Sign("(") => return self.parenthesised(),
            Kind::Name(word) => match self.word(&word)? {
                Some(kind) => kind,
                None => return self.variable_expression(),
            },
            _ => return Err(self.unexpected("an expression")),
        };
        Ok(Expr { kind, span: self.since(start) })
    }

    fn parenthesised(&mut self) -> Parse<Expr> {
        self.in_parens(Self::between_parentheses)
    }

    fn between_parentheses(&mut self) -> Parse<Expr> {
        let opened = self.span();
        let start = self.at;
        self.advance();
        let inner = self.nested(Self::expression)?;
        if self.eat("->") {
            let yes = self.nested(Self::expression)?;
            self.expect(":")?;
            let no = self.nested(Self::expression)?;
            self.close(")", opened)?;
            let kind = ExprKind::If(Box::new(inner), Box::new(yes), Box::new(no));
            return Ok(Expr { kind, span: self.since(start) });
        }
        self.close(")", opened)?;
        Ok(Expr { kind: inner.kind, span: self.since(start) })
    }

    /// What a keyword begins; `None` for a name.
    fn word(&mut self, word: &str) -> Parse<Option<ExprKind>> {
        let query = match word {
            "len" => Some(Query::Len),
            "full" => Some(Query::Full),
            "empty" => Some(Query::Empty),
            "nfull" => Some(Query::NotFull),
            "nempty" => Some(Query::NotEmpty),
            _ => None,
        };
        if let (Some(query), true) = (query, self.ahead(1).is("(")) {
            self.advance();
            let opened = self.span();
            self.advance();
            let channel = self.variable()?;
            self.close(")", opened)?;
            return Ok(Some(ExprKind::Query(query, channel)));
        }
        let simple = match word {
            "true" | "skip" => ExprKind::Number(1),
            "false" => ExprKind::Number(0),
            "timeout" => ExprKind::Timeout,
            "np_" => ExprKind::NonProgress,
            "_nr_pr" => ExprKind::NrPr,
            "_last" => ExprKind::Last,
            "_pid" => ExprKind::Pid,
            "_priority" => ExprKind::Priority(None),
            "enabled" if self.ahead(1).is("(") => return Ok(Some(ExprKind::Enabled(self.asked_pid()?))),
            "get_priority" if self.ahead(1).is("(") => return Ok(Some(ExprKind::Priority(Some(self.asked_pid()?)))),
            "pc_value" if self.ahead(1).is("(") => return Ok(Some(ExprKind::StateNumber(self.asked_pid()?))),
            "run" => return self.run().map(Some),
            "eval" => {
                let message = "`eval` stands in the arguments of a receive only";
                return Err(self.error(Diagnostic::error(code::UNEXPECTED, self.span(), message)));
            }
            _ if self.is_embedded() => {
                self.embedded();
                return Ok(Some(ExprKind::Number(1)));
            }
            _ if NOT_READ.contains(&word) => return Err(self.not_read(word)),
            _ => return Ok(None),
        };
        self.advance();
        Ok(Some(simple))
    }

    fn run(&mut self) -> Parse<ExprKind> {
        self.advance();
        let name = self.name("a proctype")?;
        let opened = self.span();
        self.expect("(")?;
        let mut arguments = Vec::new();
        while !self.is(")") && !self.at_end() {
            arguments.push(self.in_parens(Self::expression)?);
            if !self.eat(",") {
                break;
            }
        }
        self.close(")", opened)?;
        let priority = self.priority()?;
        Ok(ExprKind::Run(name, arguments, priority))
    }

    /// `priority n`, if it stands here.
    pub(super) fn priority(&mut self) -> Parse<Option<i64>> {
        if !self.eat_word("priority") {
            return Ok(None);
        }
        match self.token().kind {
            Kind::Number(priority @ 1..=255) => {
                self.advance();
                Ok(Some(priority))
            }
            _ => Err(self.unexpected("a number from 1 to 255")),
        }
    }

    /// What stands between the parentheses of `enabled`, `get_priority` and `pc_value`.
    fn asked_pid(&mut self) -> Parse<Box<Expr>> {
        self.advance();
        let opened = self.span();
        self.expect("(")?;
        let pid = self.nested(|parser| parser.in_parens(Self::expression))?;
        self.close(")", opened)?;
        Ok(Box::new(pid))
    }

    /// A variable, what asks a channel, or a look into another process.
    fn variable_expression(&mut self) -> Parse<Expr> {
        let start = self.at;
        let variable = self.variable()?;
        let kind = match self.token().kind {
            Kind::Sign("@") => {
                self.advance();
                let (process, pid) = self.other_process(variable)?;
                let label = self.name("a label")?;
                ExprKind::At { process, pid, label }
            }
            Kind::Sign(":") if self.is_remote(&variable) => {
                self.advance();
                let (process, pid) = self.other_process(variable)?;
                let variable = self.variable()?;
                ExprKind::Remote { process, pid, variable }
            }
            Kind::Sign("?" | "??") if self.ahead(1).is("[") => {
                let is_random = self.is("??");
                self.advance();
                let opened = self.span();
                self.advance();
                let arguments = self.arguments()?;
                self.close("]", opened)?;
                ExprKind::Poll { channel: variable, is_random, arguments }
            }
            Kind::Sign("(") if self.at == start + 1 && !self.shared.is_sending && !self.line_ends() => {
                self.unknown_call(start)?
            }
            _ => ExprKind::Var(variable),
        };
        Ok(Expr { kind, span: self.since(start) })
    }

    /// Whether `:` here looks into a process: `P[1]:x` or `P:x` where `P` is a proctype.
    fn is_remote(&self, variable: &VarRef) -> bool {
        let is_name = self.ahead(1).name().is_some_and(|word| !super::KEYWORDS.contains(&word));
        let [part] = &variable.parts[..] else { return false };
        is_name && self.shared.proctypes.contains(&part.name.text)
    }

    fn other_process(&mut self, variable: VarRef) -> Parse<(super::Name, Option<Box<Expr>>)> {
        let span = variable.span;
        let mut parts = variable.parts.into_iter();
        match (parts.next(), parts.next()) {
            (Some(Part { name, index }), None) => Ok((name, index.map(Box::new))),
            _ => Err(self.error(Diagnostic::error(code::UNEXPECTED, span, "a process stands before `@` and `:`"))),
        }
    }

    /// `x`, `a[i]`, `s.f[2].g`.
    pub(super) fn variable(&mut self) -> Parse<VarRef> {
        let start = self.at;
        let mut parts = Vec::new();
        loop {
            let name = self.name("a variable")?;
            let opened = self.span();
            let mut index = None;
            if self.eat("[") {
                index = Some(self.nested(|parser| parser.in_parens(Self::expression))?);
                self.close("]", opened)?;
            }
            parts.push(Part { name, index });
            if !self.eat(".") {
                return Ok(VarRef { parts, span: self.since(start) });
            }
        }
    }

    /// The arguments of a receive, with commas between them; after one of them, or alone, a list in parentheses may stand.
    pub(super) fn arguments(&mut self) -> Parse<Vec<Argument>> {
        let mut arguments = Vec::new();
        loop {
            if !self.is("(") {
                arguments.push(self.argument()?);
            }
            if self.is("(") && !self.line_ends() {
                let opened = self.span();
                self.advance();
                arguments.extend(self.nested(|parser| parser.in_parens(Self::arguments))?);
                self.close(")", opened)?;
            }
            if !self.eat(",") {
                return Ok(arguments);
            }
        }
    }

    fn argument(&mut self) -> Parse<Argument> {
        let start = self.at;
        let constant = |parser: &mut Self, kind: ExprKind| {
            let span = parser.since(start);
            Ok(Argument::Match(Expr { kind, span }))
        };
        match self.token().kind.clone() {
            Kind::Name(word) if &*word == "_" => {
                self.advance();
                Ok(Argument::Ignore)
            }
            Kind::Name(word) if &*word == "eval" => {
                self.advance();
                let opened = self.span();
                self.expect("(")?;
                let expression = self.nested(|parser| parser.in_parens(Self::expression))?;
                self.close(")", opened)?;
                Ok(Argument::Match(expression))
            }
            Kind::Name(word) if matches!(&*word, "true" | "skip" | "false") => {
                self.advance();
                constant(self, ExprKind::Number(i64::from(&*word != "false")))
            }
            Kind::Name(word) if &*word == "_pid" => {
                self.advance();
                constant(self, ExprKind::Pid)
            }
            Kind::Name(_) => Ok(Argument::Store(self.variable()?)),
            Kind::Number(value) => {
                self.advance();
                constant(self, ExprKind::Number(value))
            }
            Kind::Sign("-") => {
                self.advance();
                match self.token().kind {
                    Kind::Number(value) => {
                        self.advance();
                        constant(self, ExprKind::Number(-value))
                    }
                    _ => Err(self.unexpected("a number")),
                }
            }
            _ => Err(self.unexpected("a variable, a constant, `eval(…)` or `_`")),
        }
    }
}

/// From the left side to the right one; an operand that comes from elsewhere does not count.
pub(super) fn join(left: Span, right: Span) -> Span {
    if right.start >= left.start { left.to(right) } else { left }
}
