//! `for` and `select`, written out.
//!
//! `for (i : a..b) {…}` is `i = a; do :: i <= b -> …; i++ :: else -> break od`. `select (i : a..b)` with two literals and at most 33
//! values, outside of inlines and for a variable without `_` in its name, is one step with a choice; otherwise it is
//! `i = a; do :: i < b -> i++ :: break od`.

use base::Span;

use super::super::ast::{BinaryOp, Expr, ExprKind, Stmt, StmtKind, VarRef};
use super::declarations::number;
use super::statements::{plain, written};
use super::{Parse, Parser};

/// The most values with which `select` is one step.
const MOST_CHOICES: i64 = 33;

impl Parser<'_> {
    pub(super) fn for_loop(&mut self, body: &mut Vec<Stmt>) -> Parse<()> {
        let start = self.at;
        self.advance();
        let opened = self.span();
        self.expect("(")?;
        let at = self.at;
        let variable = self.variable()?;
        if self.eat_word("in") {
            let container = self.variable()?;
            self.close(")", opened)?;
            self.eat(";");
            let inner = self.block()?;
            let span = self.since(start);
            body.push(written(StmtKind::ForIn { variable, container, body: inner }, span, "for".into()));
            return Ok(());
        }
        let name = self.text_since(at);
        let range = self.in_parens(|parser| parser.range(opened))?;
        self.eat(";");
        let inner = self.block()?;
        body.extend(counted((&variable, &name), range, inner));
        Ok(())
    }

    pub(super) fn select(&mut self, body: &mut Vec<Stmt>) -> Parse<()> {
        let start = self.at;
        self.advance();
        let opened = self.span();
        self.expect("(")?;
        let at = self.at;
        let variable = self.variable()?;
        let name = self.text_since(at);
        let CountedRange { first, last, first_text, last_text } = self.in_parens(|parser| parser.range(opened))?;
        let span = self.since(start);
        if let (&ExprKind::Number(lo), &ExprKind::Number(hi)) = (&first.kind, &last.kind)
            && (0..MOST_CHOICES).contains(&(hi.saturating_sub(lo)))
            && lo >= 0
            && self.calls.is_empty()
            && plain(&variable).is_some_and(|name| !name.text.contains('_'))
        {
            let choose = |value| {
                let kind = StmtKind::Assign(variable.clone(), number(value, span));
                vec![written(kind, span, format!("{name} = {value}"))]
            };
            body.push(written(StmtKind::If((lo..=hi).map(choose).collect()), span, "select".into()));
            return Ok(());
        }
        body.push(assign(&variable, first, (span, format!("{name} = {first_text}"))));
        let below = compare(BinaryOp::Less, &variable, last, span);
        let options = vec![
            vec![
                written(StmtKind::Expr(below), span, format!("{name} < {last_text}")),
                increment(&variable, span, &name),
            ],
            vec![written(StmtKind::Break, span, "break".into())],
        ];
        body.push(written(StmtKind::Do(options), span, "select".into()));
        Ok(())
    }

    fn range(&mut self, opened: Span) -> Parse<CountedRange> {
        self.expect(":")?;
        let start = self.at;
        let first = self.expression()?;
        let first_text = self.text_since(start);
        self.expect("..")?;
        let start = self.at;
        let last = self.expression()?;
        let last_text = self.text_since(start);
        self.close(")", opened)?;
        Ok(CountedRange { first, last, first_text, last_text })
    }
}

/// A range of numbers, with its ends as they are written.
struct CountedRange {
    first: Expr,
    last: Expr,
    first_text: String,
    last_text: String,
}

/// A loop that counts a variable, which is written so.
fn counted((variable, name): (&VarRef, &str), range: CountedRange, inner: Vec<Stmt>) -> Vec<Stmt> {
    let CountedRange { first, last, first_text, last_text } = range;
    let span = first.span;
    let test = compare(BinaryOp::LessEqual, variable, last, span);
    let mut round = vec![written(StmtKind::Expr(test), span, format!("{name} <= {last_text}"))];
    round.extend(inner);
    round.push(increment(variable, span, name));
    let leave = vec![written(StmtKind::Else, span, "else".into()), written(StmtKind::Break, span, "break".into())];
    let start = assign(variable, first, (span, format!("{name} = {first_text}")));
    vec![start, written(StmtKind::Do(vec![round, leave]), span, "for".into())]
}

fn read(variable: &VarRef, span: Span) -> Expr {
    Expr { kind: ExprKind::Var(variable.clone()), span }
}

fn assign(variable: &VarRef, value: Expr, (span, text): (Span, String)) -> Stmt {
    written(StmtKind::Assign(variable.clone(), value), span, text)
}

fn increment(variable: &VarRef, span: Span, name: &str) -> Stmt {
    let kind = ExprKind::Binary(BinaryOp::Add, Box::new(read(variable, span)), Box::new(number(1, span)));
    written(StmtKind::Assign(variable.clone(), Expr { kind, span }), span, format!("{name}++"))
}

fn compare(op: BinaryOp, variable: &VarRef, bound: Expr, span: Span) -> Expr {
    Expr { kind: ExprKind::Binary(op, Box::new(read(variable, span)), Box::new(bound)), span }
}
