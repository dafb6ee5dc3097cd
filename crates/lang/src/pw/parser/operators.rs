//! How tightly operators bind, and what is said where the text leaves it open.
//!
//! Loosest first: `=> <=> ~>` (neither mixed nor chained), the until family (neither mixed nor chained), `xor`, `||`,
//! `&&`, comparisons (not chained), `+ -`, `* / %`, `as`. Operators before an operand bind tightest, but temporal
//! operators and the word `not` take a whole comparison: `always x == 0` is what it looks like. Quantifiers and `if
//! then else` reach as far right as they can.

use super::super::ast::{BinaryOp, Expr, ExprKind, UnaryOp};
use super::{Parser, TokenKind, words};
use crate::codes::syntax as code;
use base::{Applicability, Diagnostic, Edit, Help, Span};

/// How tightly an operator between operands binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Implication,
    Until,
    Xor,
    Or,
    And,
    Comparison,
    Sum,
    Product,
    Cast,
    Unary,
}

impl Level {
    /// The level of an operator.
    pub fn of(op: BinaryOp) -> Level {
        use BinaryOp::*;
        match op {
            Implies | Iff | LeadsTo => Level::Implication,
            Until | WeakUntil | Releases | StrongReleases => Level::Until,
            Xor => Level::Xor,
            Or => Level::Or,
            And => Level::And,
            Equal | Unequal | Less | LessEqual | Greater | GreaterEqual => Level::Comparison,
            Add | Subtract => Level::Sum,
            Multiply | Divide | Modulo => Level::Product,
        }
    }

    /// The level of what may stand to the right of an operator of this level without parentheses.
    pub fn tighter(self) -> Level {
        match self {
            Level::Implication => Level::Until,
            Level::Until => Level::Xor,
            Level::Xor => Level::Or,
            Level::Or => Level::And,
            Level::And => Level::Comparison,
            Level::Comparison => Level::Sum,
            Level::Sum => Level::Product,
            Level::Product => Level::Cast,
            Level::Cast | Level::Unary => Level::Unary,
        }
    }

    /// Whether several operators of the level may follow each other without parentheses.
    pub fn chains(self) -> bool {
        !matches!(self, Level::Implication | Level::Until | Level::Comparison)
    }
}

impl Parser<'_> {
    /// The operator between operands that stands here.
    pub(super) fn infix(&self) -> Option<BinaryOp> {
        let op = match self.peek() {
            TokenKind::Implies | TokenKind::Arrow => BinaryOp::Implies,
            TokenKind::Iff => BinaryOp::Iff,
            TokenKind::LeadsTo | TokenKind::LongArrow => BinaryOp::LeadsTo,
            TokenKind::Xor => BinaryOp::Xor,
            TokenKind::Or => BinaryOp::Or,
            TokenKind::And => BinaryOp::And,
            TokenKind::Equal | TokenKind::Assign => BinaryOp::Equal,
            TokenKind::Unequal | TokenKind::Diamond => BinaryOp::Unequal,
            TokenKind::Less => BinaryOp::Less,
            TokenKind::LessEqual => BinaryOp::LessEqual,
            TokenKind::Greater => BinaryOp::Greater,
            TokenKind::GreaterEqual => BinaryOp::GreaterEqual,
            TokenKind::Plus => BinaryOp::Add,
            TokenKind::Minus => BinaryOp::Subtract,
            TokenKind::Star => BinaryOp::Multiply,
            TokenKind::Slash => BinaryOp::Divide,
            TokenKind::Percent => BinaryOp::Modulo,
            TokenKind::Word => return self.infix_word(),
            _ => return None,
        };
        Some(op)
    }

    fn infix_word(&self) -> Option<BinaryOp> {
        let op = words::infix_word(self.word_at(0))?;
        let separates = op == BinaryOp::Or && self.context.or_separates;
        let is_statement_word = Level::of(op) == Level::Until && !self.context.is_formula;
        (!separates && !is_statement_word).then_some(op)
    }

    /// Complains about an operator that is understood, but is not the right one.
    pub(super) fn check_infix(&mut self) {
        let (span, text) = (self.span(), self.slice(self.span()));
        let diagnostic = match self.peek() {
            // As in TLA+.
            TokenKind::Assign if self.peek_at(1) == TokenKind::Less && self.span_at(1).start == span.end => {
                let whole = self.bump().to(self.span());
                Diagnostic::error(code::FOREIGN_OPERATOR, whole, "`=<` is no operator here").fix(
                    "write `<=` for \"at most\"",
                    whole,
                    "<=",
                )
            }
            TokenKind::Assign => {
                let message = "expected `==` in an expression, found `=`";
                Diagnostic::error(code::ASSIGNMENT_IN_EXPRESSION, span, message)
                    .at("this assigns; an expression compares")
                    .fix("write `==`", span, "==")
            }
            TokenKind::LongArrow => {
                let message = "`-->` means \"leads to\" in some languages and \"implies\" in others";
                Diagnostic::error(code::AMBIGUOUS_ARROW, span, message)
                    .suggest("write `~>` for \"leads to\"", span, "~>")
                    .suggest("write `=>` for \"implies\"", span, "=>")
            }
            TokenKind::Diamond if text == "<>" && self.previous_word() == "E" && !self.declared.contains("E") => {
                let message = "whether some state is reached is asked by `reachable`, not by `E<>`";
                Diagnostic::error(code::FOREIGN_OPERATOR, span, message).help("write `reachable NAME: …;`")
            }
            TokenKind::Diamond if text == "<>" => Diagnostic::error(
                code::FOREIGN_OPERATOR,
                span,
                "`<>` between operands is no operator here",
            )
            .fix("write `!=` for \"unequal\"", span, "!="),
            _ => return,
        };
        self.report(diagnostic);
    }

    /// Reports `a op b op c`, where the operators do not say how they group.
    pub(super) fn report_chain(&mut self, first: &Expr, later: (BinaryOp, Span), last: &Expr) {
        let ExprKind::Binary { op, op_span, left, right } = &first.kind else { return };
        let (a, b, c) = (left.span, right.span, last.span);
        let (one, two) = (self.slice(*op_span), self.slice(later.1));
        let (code, message) = match Level::of(*op) {
            Level::Implication if *op == later.0 => {
                (code::IMPLICATION_CHAIN, format!("`a {one} b {two} c` can be read in two ways"))
            }
            Level::Implication => {
                (code::IMPLICATION_CHAIN, format!("`{one}` and `{two}` do not mix without parentheses"))
            }
            Level::Until => (code::UNTIL_CHAIN, format!("`a {one} b {two} c` can be read in two ways")),
            _ => (code::COMPARISON_CHAIN, format!("comparisons do not chain: `a {one} b {two} c`")),
        };
        let diagnostic = Diagnostic::error(code, later.1, message);
        let diagnostic = if code == code::COMPARISON_CHAIN {
            let joined = format!("{} && {}", self.slice(b), self.slice(b));
            diagnostic.suggest("join two comparisons with `&&`", b, joined)
        } else {
            let [a_text, b_text, c_text] = [a, b, c].map(|span| shorten(self.slice(span)));
            let mut diagnostic = diagnostic;
            let left_first = format!("either `({a_text} {one} {b_text}) {two} {c_text}`");
            let right_first = format!("or `{a_text} {one} ({b_text} {two} {c_text})`");
            diagnostic.helps.push(parenthesise(left_first, a.to(b)));
            diagnostic.helps.push(parenthesise(right_first, b.to(c)));
            diagnostic
        };
        self.report(diagnostic);
    }

    /// Warns of `always a => b`, which is `(always a) => b`. Conjunctions and disjunctions draw a warning only if the
    /// right side is no temporal formula: `always a && eventually b` is what it looks like.
    pub(super) fn warn_of_tight_operator(&mut self, op: BinaryOp, left: &Expr, right: &Expr) {
        let ExprKind::Unary { op: unary, op_span, operand } = &left.kind else { return };
        let level = Level::of(op);
        let is_doubtful = level <= Level::Until || (level <= Level::And && !right.is_temporal());
        if !unary.is_temporal() || !is_doubtful {
            return;
        }
        let word = self.slice(*op_span);
        let message = format!("`{word}` binds tighter: only what stands before the operator is under it");
        let mut diagnostic = Diagnostic::warning(code::TIGHT_TEMPORAL_OPERATOR, left.span, message);
        let whole = format!("if `{word}` is meant for all of it, write `{word} (…)`");
        diagnostic.helps.push(parenthesise(whole, operand.span.to(right.span)));
        diagnostic.helps.push(parenthesise(format!("if not, write `({word} …)`"), left.span));
        self.log.add(diagnostic);
    }

    /// Warns of `next` in a formula.
    pub(super) fn warn_of_next(&mut self, op: UnaryOp, span: Span) {
        if op == UnaryOp::Next && self.context.is_formula {
            let message =
                format!("`{}` speaks of the very next point of the run, stand-stills included", self.slice(span));
            let warning = Diagnostic::warning(code::NEXT, span, message)
                .help("an extra step of any process changes the answer; `until` and `eventually` are robust");
            self.log.add(warning);
        }
    }
}

fn parenthesise(text: String, span: Span) -> Help {
    let at = |offset| Span { start: offset, end: offset };
    let edits = vec![
        Edit { span: at(span.start), replacement: "(".to_string() },
        Edit { span: at(span.end), replacement: ")".to_string() },
    ];
    Help { text, edits, applicability: Applicability::Possible }
}

/// A piece of text that fits into a message.
fn shorten(text: &str) -> String {
    let is_short = text.chars().count() <= 30 && !text.contains('\n');
    if is_short { text.to_string() } else { "…".to_string() }
}
