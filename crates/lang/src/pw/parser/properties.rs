//! Properties and hints.

use super::super::ast::{Doc, Expectation, Expr, HintDecl, PropertyDecl, PropertyKind, Under};
use super::operators::Level;
use super::{Context, Parse, Parser, Role, TokenKind};
use crate::codes::syntax as code;
use base::Diagnostic;

impl Parser<'_> {
    /// A property that begins with `word`; `race_free x, y;` is two.
    pub(super) fn property_decls(&mut self, word: &str, doc: Option<Doc>) -> Parse<Vec<PropertyDecl>> {
        let start = self.bump();
        let is_built_in = matches!(word, "no_errors" | "deadlock_free");
        let name = match self.peek_at(1) {
            _ if is_built_in => None,
            TokenKind::Colon if self.at(TokenKind::Word) => {
                let name = self.ident("the name of the property")?;
                self.bump_as(Role::PropertyColon);
                Some(name)
            }
            _ if word == "race_free" => None,
            _ => return Err(self.unnamed(word)),
        };
        let kinds = match word {
            "invariant" => vec![PropertyKind::Invariant(self.expr()?)],
            "property" => vec![PropertyKind::Temporal(self.expr()?)],
            "reachable" => vec![PropertyKind::Reachable(self.expr()?)],
            "no_errors" => vec![PropertyKind::NoErrors],
            "deadlock_free" => vec![PropertyKind::DeadlockFree],
            _ => self.race_free_variables()?.into_iter().map(PropertyKind::RaceFree).collect(),
        };
        let (under, expect) = self.property_end(word)?;
        self.semicolon()?;
        let span = self.since(start);
        let declare =
            |kind| PropertyDecl { doc: doc.clone(), kind, name: name.clone(), under: under.clone(), expect, span };
        Ok(kinds.into_iter().map(declare).collect())
    }

    fn unnamed(&mut self, word: &str) -> super::Failed {
        let before = base::Span { start: self.span().start, end: self.span().start };
        let message = format!("expected a name and `:` after `{word}`");
        let diagnostic = Diagnostic::error(code::UNNAMED_PROPERTY, self.span(), message);
        let diagnostic = if self.at(TokenKind::Word) && self.peek_at(1) == TokenKind::LeftBrace {
            diagnostic.help(format!("write `{word} {}: …;`", self.word_at(0)))
        } else if self.at(TokenKind::Colon) {
            diagnostic.suggest("give it a name, under which its verdict is reported", before, " name")
        } else {
            diagnostic.suggest("give it a name, under which its verdict is reported", before, "name: ")
        };
        self.fail(diagnostic)
    }

    fn race_free_variables(&mut self) -> Parse<Vec<Expr>> {
        let context = Context { allows_star: true, ..self.context };
        self.within(context, |parser| {
            let mut variables = vec![parser.expr_at(Level::Unary)?];
            while parser.eat(TokenKind::Comma).is_some() {
                variables.push(parser.expr_at(Level::Unary)?);
            }
            Ok(variables)
        })
    }

    /// `under …` and `expect …`, in any order.
    fn property_end(&mut self, word: &str) -> Parse<(Option<Under>, Option<Expectation>)> {
        let (mut under, mut expect) = (None, None);
        loop {
            let start = self.span();
            if self.at_word("under") && under.is_none() {
                let parsed = self.under()?;
                if word == "property" {
                    under = Some(parsed);
                } else {
                    let message = format!("`{word}` never uses fairness, so `under` means nothing here");
                    let span = self.since(start);
                    let diagnostic = Diagnostic::error(code::FAIRNESS_WITHOUT_USE, span, message);
                    self.log.add(diagnostic.suggest("remove it", span, ""));
                }
            } else if self.at_word("expect") && expect.is_none() {
                expect = Some(self.expectation()?);
            } else {
                return Ok((under, expect));
            }
        }
    }

    fn expectation(&mut self) -> Parse<Expectation> {
        let start = self.bump();
        let holds = match self.word_at(0) {
            "holds" => true,
            "violated" => false,
            _ => {
                let message = format!("expected `holds` or `violated`, found {}", self.found());
                let diagnostic = Diagnostic::error(code::BAD_EXPECTATION, self.span(), message);
                let diagnostic = match self.word_at(0) {
                    "true" | "proved" | "pass" | "passes" | "valid" | "success" => {
                        diagnostic.suggest("write `holds`", self.span(), "holds")
                    }
                    "" => diagnostic,
                    _ => diagnostic.suggest("write `violated`", self.span(), "violated"),
                };
                return Err(self.fail(diagnostic));
            }
        };
        self.bump();
        Ok(Expectation { holds, span: self.since(start) })
    }

    /// `hint expose P[*]@crit, P[*].x;`
    pub(super) fn hint_decl(&mut self, doc: Option<Doc>) -> Parse<HintDecl> {
        let start = self.bump();
        self.expect_word("expose")?;
        let context = Context { allows_star: true, ..self.context };
        let exposed = self.within(context, |parser| {
            let mut exposed = vec![parser.expr()?];
            while parser.eat(TokenKind::Comma).is_some() {
                exposed.push(parser.expr()?);
            }
            Ok(exposed)
        })?;
        self.semicolon()?;
        Ok(HintDecl { doc, exposed, span: self.since(start) })
    }
}
