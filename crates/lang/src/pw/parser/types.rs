//! Types and ranges.

use super::super::ast::{ExprKind, Range, RangeEnd, Type, TypeKind};
use super::expressions::Operand;
use super::operators::Level;
use super::{Parse, Parser, Role, TokenKind};
use crate::codes::syntax as code;
use base::{Diagnostic, Span};

impl Parser<'_> {
    /// A type.
    pub(super) fn ty(&mut self) -> Parse<Type> {
        let start = self.span();
        let kind = match self.word_at(0) {
            _ if self.at(TokenKind::LeftBracket) => self.nested(Self::array_type)?,
            _ if self.is_range_dots(1) => self.named_or_range()?,
            "bool" => {
                self.bump();
                TypeKind::Bool
            }
            "lock" => {
                self.bump();
                TypeKind::Lock
            }
            "pid" => self.pid_type()?,
            "sem" => self.sem_type()?,
            "set" if self.word_at(1) == "of" => {
                self.bump();
                self.bump();
                TypeKind::Set(Box::new(self.nested(Self::ty)?))
            }
            _ => self.named_or_range()?,
        };
        let ty = Type { kind, span: self.since(start) };
        if self.at(TokenKind::LeftBracket) && !self.on_new_line() {
            let message = "the type of an array stands in brackets";
            let shown = self.slice(ty.span);
            let diagnostic = Diagnostic::error(code::UNEXPECTED, self.span(), message)
                .help(format!("write `[{shown}; N]` for an array of N elements"));
            return Err(self.fail(diagnostic));
        }
        Ok(ty)
    }

    fn array_type(&mut self) -> Parse<TypeKind> {
        let opener = self.bump();
        let element = Box::new(self.ty()?);
        if self.at(TokenKind::RightBracket) && matches!(self.peek_at(1), TokenKind::Word | TokenKind::Number) {
            let length = self.slice(element.span);
            let message = format!("expected `;` and the length of the array, found {}", self.found());
            let help = format!("first what an element is, then how many there are: `[T; {length}]`");
            return Err(self.fail(Diagnostic::error(code::UNEXPECTED, self.span(), message).help(help)));
        }
        self.expect(TokenKind::Semicolon, "`;` and the length of the array")?;
        let length = Box::new(self.enclosed(Self::expr)?);
        self.close(opener, TokenKind::RightBracket)?;
        Ok(TypeKind::Array { element, length })
    }

    fn pid_type(&mut self) -> Parse<TypeKind> {
        self.bump();
        let mut family = None;
        if self.at(TokenKind::LeftParen) {
            let opener = self.bump_as(Role::Tight);
            family = Some(self.ident("the name of a process family")?);
            self.close(opener, TokenKind::RightParen)?;
        }
        let optional = self.eat(TokenKind::Question).is_some();
        Ok(TypeKind::Pid { family, optional })
    }

    fn sem_type(&mut self) -> Parse<TypeKind> {
        self.bump();
        if !self.at(TokenKind::LeftParen) {
            return Ok(TypeKind::Sem { bound: None });
        }
        let opener = self.bump_as(Role::Tight);
        let bound = Some(Box::new(self.enclosed(Self::expr)?));
        self.close(opener, TokenKind::RightParen)?;
        Ok(TypeKind::Sem { bound })
    }

    fn named_or_range(&mut self) -> Parse<TypeKind> {
        let start = self.span();
        if !self.may_begin_range() {
            return Err(self.unexpected("a type"));
        }
        let low = self.binary(Level::Sum)?;
        match &low.expr.kind {
            ExprKind::Name(name) if !self.at_range_dots() => Ok(TypeKind::Named(name.clone())),
            _ => Ok(TypeKind::Range(Box::new(self.range_after(start, low)?.0))),
        }
    }

    fn may_begin_range(&self) -> bool {
        matches!(self.peek(), TokenKind::Word | TokenKind::Number | TokenKind::Minus | TokenKind::LeftParen)
    }

    /// `low..<high` or `low..=high`
    pub(super) fn range(&mut self) -> Parse<Range> {
        let start = self.span();
        let low = self.binary(Level::Sum)?;
        Ok(self.range_after(start, low)?.0)
    }

    /// The rest of a range; and the height of the higher of its two ends.
    pub(super) fn range_after(&mut self, start: Span, low: Operand) -> Parse<(Range, usize)> {
        let dots = self.span();
        let end = match self.peek() {
            TokenKind::DotDotEqual => RangeEnd::Included,
            TokenKind::DotDotLess | TokenKind::DotDot => RangeEnd::Excluded,
            _ => return Err(self.unexpected("`..<` or `..=`")),
        };
        let is_bare = self.at(TokenKind::DotDot);
        self.bump();
        let high = self.binary(Level::Sum)?;
        let height = low.height.max(high.height);
        let (low, high, span) = (low.expr, high.expr, self.since(start));
        if is_bare {
            let (low, high) = (self.slice(low.span), self.slice(high.span));
            let diagnostic = Diagnostic::error(code::BARE_RANGE, span, "a range must say whether it includes its end")
                .suggest(format!("`{low}..<{high}` ends before {high}"), dots, "..<")
                .suggest(format!("`{low}..={high}` includes {high}"), dots, "..=");
            self.log.add(diagnostic);
        }
        Ok((Range { low, high, end, span }, height))
    }

    /// Whether a range goes on here.
    pub(super) fn at_range_dots(&self) -> bool {
        self.is_range_dots(0)
    }

    fn is_range_dots(&self, ahead: usize) -> bool {
        matches!(self.peek_at(ahead), TokenKind::DotDot | TokenKind::DotDotEqual | TokenKind::DotDotLess)
    }
}
