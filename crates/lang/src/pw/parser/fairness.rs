//! Fairness: `under …` and `fairness name { … }`.
//!
//! Commas join assumptions, `or` separates alternatives and binds tighter; a group stands in parentheses. So a
//! predicate that is a disjunction is written with `||`, or with `or` in parentheses.

use super::super::ast::{
    Assumptions, BinaryOp, Doc, Expr, ExprKind, FairnessDecl, FairnessItem, FairnessKind, PatternIndex, Places,
    ProcessPattern, Under,
};
use super::expressions::Named;
use super::operators::Level;
use super::{Context, Parse, Parser, Role, TokenKind};
use crate::codes::syntax as code;
use base::Diagnostic;

impl Parser<'_> {
    /// `under a, b or c`, `under none`
    pub(super) fn under(&mut self) -> Parse<Under> {
        let start = self.bump();
        let context = Context { or_separates: true, ..self.context };
        let assumptions = self.within(context, |parser| {
            let is_none = parser.at_word("none");
            if !is_none {
                return Ok(Some(parser.all_of()?));
            }
            parser.bump();
            if parser.at(TokenKind::Comma) || parser.at_word("or") {
                let message = "`under none` assumes nothing, so it stands alone";
                return Err(parser.fail(Diagnostic::error(code::BAD_FAIRNESS, parser.span(), message)));
            }
            Ok(None)
        })?;
        Ok(Under { assumptions, span: self.since(start) })
    }

    fn all_of(&mut self) -> Parse<Assumptions> {
        let mut parts = vec![self.one_of()?];
        while self.eat(TokenKind::Comma).is_some() {
            parts.push(self.one_of()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Assumptions::All(parts) })
    }

    fn one_of(&mut self) -> Parse<Assumptions> {
        let mut parts = vec![self.group()?];
        while self.at_word("or") {
            self.bump_as(Role::Infix);
            parts.push(self.group()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Assumptions::Either(parts) })
    }

    fn group(&mut self) -> Parse<Assumptions> {
        if !self.at(TokenKind::LeftParen) {
            return Ok(Assumptions::One(self.fairness_item()?));
        }
        let opener = self.bump();
        let inner = self.nested(Self::all_of)?;
        self.close(opener, TokenKind::RightParen)?;
        Ok(inner)
    }

    /// `fairness name { weak P[*]; strong P[*]@half; }`
    pub(super) fn fairness_decl(&mut self, doc: Option<Doc>) -> Parse<FairnessDecl> {
        let start = self.bump();
        let name = self.ident("the name of the fairness set")?;
        self.open_brace(Role::ListOpen, "")?;
        let mut items = Vec::new();
        while !self.at_end_of_braces() {
            let before = self.position;
            self.mark(Role::Start);
            match self.fairness_entry() {
                Ok(item) => items.push(item),
                Err(super::Failed) => self.skip_statement(),
            }
            if self.position == before {
                self.bump();
            }
        }
        self.close_brace(Role::ListClose, "a fairness assumption or `}`")?;
        Ok(FairnessDecl { doc, name, items, span: self.since(start) })
    }

    fn fairness_entry(&mut self) -> Parse<FairnessItem> {
        let context = Context { or_separates: true, ..self.context };
        let item = self.within(context, Self::fairness_item)?;
        if self.at_word("or") {
            let diagnostic = Diagnostic::error(code::BAD_FAIRNESS, self.span(), "a fairness set has no alternatives")
                .help("all assumptions of a set are made at once; alternatives stand in `under a or b`")
                .help("in a predicate write `||`, or parentheses: `weak (p or q)`");
            return Err(self.fail(diagnostic));
        }
        let is_last = self.at(TokenKind::RightBrace);
        if !is_last && self.eat(TokenKind::Comma).is_none() {
            self.semicolon()?;
        }
        Ok(item)
    }

    fn fairness_item(&mut self) -> Parse<FairnessItem> {
        let start = self.span();
        // `weak` alone may be the name of a set; before anything else it is the keyword.
        let is_alone = self.ends_assumption(1);
        let kind = match self.word_at(0) {
            "progress" if is_alone => {
                self.bump();
                FairnessKind::Progress
            }
            "every" | "unconditional" if !is_alone => {
                self.bump();
                self.every()?
            }
            "weak" | "justice" if !is_alone => {
                self.bump();
                self.weak()?
            }
            "strong" | "compassion" if !is_alone => {
                self.bump();
                self.strong()?
            }
            "" => return Err(self.unexpected("a fairness assumption")),
            _ if is_alone => FairnessKind::Set(self.ident("the name of a fairness set")?),
            _ => return Err(self.unknown_assumption()),
        };
        Ok(FairnessItem { kind, span: self.since(start) })
    }

    fn unknown_assumption(&mut self) -> super::Failed {
        let word = self.word_at(0);
        let message = format!("`{word}` begins no fairness assumption");
        let diagnostic = Diagnostic::error(code::BAD_FAIRNESS, self.span(), message);
        let known = ["progress", "every", "weak", "strong"];
        let diagnostic = match base::diagnostic::nearest_name(word, known) {
            Some(meant) => diagnostic.suggest(format!("write `{meant}`"), self.span(), meant),
            None => {
                diagnostic.help("they are `progress`, `every P[*]`, `weak …`, `strong …`, and names of fairness sets")
            }
        };
        self.fail(diagnostic)
    }

    fn every(&mut self) -> Parse<FairnessKind> {
        if !self.at(TokenKind::Word) {
            return Err(self.unexpected("a process, as in `every P[*]`"));
        }
        let process = self.process_pattern()?;
        if self.at(TokenKind::At) {
            let message = "`every` is about being scheduled, not about the steps at a label";
            let diagnostic = Diagnostic::error(code::BAD_FAIRNESS, self.span(), message)
                .help("write `weak P[*]@l` or `strong P[*]@l` for the step at a label");
            return Err(self.fail(diagnostic));
        }
        Ok(FairnessKind::Every(process))
    }

    fn weak(&mut self) -> Parse<FairnessKind> {
        if self.begins_pattern() {
            let (process, places) = self.pattern_with_places()?;
            return Ok(FairnessKind::Weak { process, places });
        }
        Ok(FairnessKind::WeakPredicate(self.expr()?))
    }

    fn strong(&mut self) -> Parse<FairnessKind> {
        if self.begins_pattern() {
            let (process, places) = self.pattern_with_places()?;
            return Ok(FairnessKind::Strong { process, places });
        }
        let condition = self.expr_at(Level::Until)?;
        if self.infix() == Some(BinaryOp::Implies) {
            self.bump_as(Role::Infix);
            let response = self.expr_at(Level::Until)?;
            return Ok(FairnessKind::StrongPredicates { condition, response });
        }
        match condition {
            Expr { kind: ExprKind::Binary { op: BinaryOp::Implies, left, right, .. }, .. } => {
                Ok(FairnessKind::StrongPredicates { condition: *left, response: *right })
            }
            Expr { span, .. } => {
                let diagnostic =
                    Diagnostic::error(code::BAD_FAIRNESS, span, "`strong` of a predicate needs two: `p => q`")
                        .help("`strong p => q` means: if p again and again, then q again and again")
                        .help("`weak p` means: p again and again");
                Err(self.fail(diagnostic))
            }
        }
    }

    /// Whether a process with or without index and label stands here, and nothing more. A name that the program does
    /// not declare as a process begins a predicate, unless a `[*]` follows it.
    fn begins_pattern(&self) -> bool {
        let has_star = self.peek_at(1) == TokenKind::LeftBracket && self.peek_at(2) == TokenKind::Star;
        if !self.at(TokenKind::Word) || !(has_star || self.declared.is_process(self.word_at(0))) {
            return false;
        }
        let after_index = self.after_group(1, TokenKind::LeftBracket, TokenKind::RightBracket);
        let mut end = after_index;
        if self.peek_at(end) == TokenKind::At {
            let after_braces = self.after_group(end + 1, TokenKind::LeftBrace, TokenKind::RightBrace);
            end = if after_braces == end + 1 { end + 2 } else { after_braces };
        }
        self.ends_assumption(end)
    }

    /// The place after a group in brackets that begins `ahead`; `ahead` itself if there is none.
    fn after_group(&self, ahead: usize, open: TokenKind, close: TokenKind) -> usize {
        if self.peek_at(ahead) != open {
            return ahead;
        }
        let (mut at, mut depth) = (ahead, 0usize);
        loop {
            let kind = self.peek_at(at);
            depth += usize::from(kind == open);
            depth -= usize::from(kind == close);
            at += 1;
            if depth == 0 || matches!(kind, TokenKind::End | TokenKind::Semicolon) {
                return at;
            }
        }
    }

    /// Whether nothing of an assumption stands `ahead` tokens further on.
    fn ends_assumption(&self, ahead: usize) -> bool {
        use TokenKind::{Comma, End, RightBrace, RightParen, Semicolon};
        let is_closed = matches!(self.peek_at(ahead), Comma | Semicolon | RightParen | RightBrace | End);
        is_closed || matches!(self.word_at(ahead), "or" | "expect" | "under")
    }

    fn pattern_with_places(&mut self) -> Parse<(ProcessPattern, Option<Places>)> {
        let process = self.process_pattern()?;
        if !self.at(TokenKind::At) {
            return Ok((process, None));
        }
        self.bump_as(Role::Tight);
        Ok((process, Some(self.places(Named::ByLabel)?)))
    }

    /// `P[*]`, `P[0]`, `Monitor`
    fn process_pattern(&mut self) -> Parse<ProcessPattern> {
        let name = self.ident("the name of a process")?;
        let start = name.span;
        let mut index = None;
        if self.at(TokenKind::LeftBracket) {
            let opener = self.bump_as(Role::Tight);
            index = Some(match self.eat(TokenKind::Star) {
                Some(_) => PatternIndex::All,
                None => PatternIndex::One(self.enclosed(Self::expr)?),
            });
            self.close(opener, TokenKind::RightBracket)?;
        }
        Ok(ProcessPattern { name, index, span: self.since(start) })
    }
}
