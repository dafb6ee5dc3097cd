//! `forall`, `exists` and `count`, and what they bind.

use super::super::ast::{Binders, Domain, Expr, ExprKind, Quantifier};
use super::expressions::Operand;
use super::operators::Level;
use super::{Parse, Parser, Role, TokenKind};

impl Parser<'_> {
    /// `forall i, j in A, k in B: e`: one quantifier per group of names with its own domain.
    pub(super) fn quantified(&mut self) -> Parse<Operand> {
        let start = self.span();
        let quantifier = if self.at_word("forall") { Quantifier::ForAll } else { Quantifier::Exists };
        self.bump();
        let mut highest = 0;
        let mut groups = vec![self.binders(&mut highest)?];
        while groups.last().is_some_and(|group| group.domain.is_some()) && self.eat(TokenKind::Comma).is_some() {
            groups.push(self.binders(&mut highest)?);
            self.check_depth(groups.len())?;
        }
        self.expect(TokenKind::Colon, "`:`")?;
        let body = self.binary(Level::Implication)?;
        let height = body.height.max(highest) + groups.len();
        let expr = groups.into_iter().rev().fold(body.expr, |body, binders| {
            let span = start.to(body.span);
            let kind = ExprKind::Quantified { quantifier, binders: Box::new(binders), body: Box::new(body) };
            Expr { kind, span }
        });
        self.limited(Operand { expr, has_parens: false, height })
    }

    /// `count(r in 0..<R: e)`, `sum(r in 0..<R: e)`, `min(…)`, `max(…)`
    pub(super) fn counted(&mut self, quantifier: Quantifier, height: &mut usize) -> Parse<ExprKind> {
        self.bump();
        let opener = self.bump_as(Role::Tight);
        let mut highest = 0;
        let (binders, body) = self.enclosed(|parser| {
            let binders = parser.binders(&mut highest)?;
            parser.expect(TokenKind::Colon, "`:`")?;
            Ok((binders, parser.binary(Level::Implication)?))
        })?;
        self.close(opener, TokenKind::RightParen)?;
        *height = body.height.max(highest) + 1;
        Ok(ExprKind::Quantified { quantifier, binders: Box::new(binders), body: Box::new(body.expr) })
    }

    /// What stands before the colon; `highest` becomes at least the height of the highest expression in it.
    fn binders(&mut self, highest: &mut usize) -> Parse<Binders> {
        let start = self.span();
        let mut binders = Binders {
            names: vec![self.ident("a name to bind")?],
            distinct: self.at(TokenKind::Unequal),
            other_than: Vec::new(),
            domain: None,
            span: start,
        };
        if binders.distinct {
            self.different_values(&mut binders, highest)?;
        } else {
            while self.eat(TokenKind::Comma).is_some() {
                binders.names.push(self.ident("a name to bind")?);
            }
        }
        if self.eat_word("in").is_some() {
            binders.domain = Some(self.domain(highest)?);
        }
        binders.span = self.since(start);
        Ok(binders)
    }

    /// `!= j`, `!= j != k`, `!= 0`
    fn different_values(&mut self, binders: &mut Binders, highest: &mut usize) -> Parse<()> {
        while self.at(TokenKind::Unequal) {
            self.bump_as(Role::Infix);
            let other = self.binary(Level::Sum)?;
            *highest = (*highest).max(other.height);
            match other.expr.kind {
                ExprKind::Name(name) => binders.names.push(name),
                _ => binders.other_than.push(other.expr),
            }
        }
        Ok(())
    }

    pub(super) fn domain(&mut self, highest: &mut usize) -> Parse<Domain> {
        let start = self.span();
        let low = self.binary(Level::Sum)?;
        if let ExprKind::Name(name) = &low.expr.kind
            && !self.at_range_dots()
        {
            return Ok(Domain::Family(name.clone()));
        }
        if matches!(low.expr.kind, ExprKind::Field { .. } | ExprKind::Index { .. }) && !self.at_range_dots() {
            *highest = (*highest).max(low.height);
            return Ok(Domain::Set(Box::new(low.expr)));
        }
        let (range, height) = self.range_after(start, low)?;
        *highest = (*highest).max(height);
        Ok(Domain::Range(range))
    }
}
