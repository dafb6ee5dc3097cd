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
        let (first, last) = self.in_parens(|parser| parser.range(opened))?;
        self.eat(";");
        let inner = self.block()?;
        let span = first.span;
        body.extend(counted(&variable, first, last, inner, span));
        Ok(())
    }

    pub(super) fn select(&mut self, body: &mut Vec<Stmt>) -> Parse<()> {
        let start = self.at;
        self.advance();
        let opened = self.span();
        self.expect("(")?;
        let variable = self.variable()?;
        let (first, last) = self.in_parens(|parser| parser.range(opened))?;
        let (span, text) = (self.since(start), self.text_since(start));
        if let (&ExprKind::Number(lo), &ExprKind::Number(hi)) = (&first.kind, &last.kind)
            && (0..MOST_CHOICES).contains(&(hi.saturating_sub(lo)))
            && lo >= 0
            && self.calls.is_empty()
            && plain(&variable).is_some_and(|name| !name.text.contains('_'))
        {
            let choose =
                |value| vec![written(StmtKind::Assign(variable.clone(), number(value, span)), span, text.clone())];
            body.push(written(StmtKind::If((lo..=hi).map(choose).collect()), span, text.clone()));
            return Ok(());
        }
        let name = name_of(&variable);
        body.push(assign(&variable, first, span));
        let below = compare(BinaryOp::Less, &variable, last, span);
        let options = vec![
            vec![written(StmtKind::Expr(below), span, text), increment(&variable, span, &name)],
            vec![written(StmtKind::Break, span, "break".into())],
        ];
        body.push(written(StmtKind::Do(options), span, "select".into()));
        Ok(())
    }

    fn range(&mut self, opened: Span) -> Parse<(Expr, Expr)> {
        self.expect(":")?;
        let first = self.expression()?;
        self.expect("..")?;
        let last = self.expression()?;
        self.close(")", opened)?;
        Ok((first, last))
    }
}

/// A loop that counts.
fn counted(variable: &VarRef, first: Expr, last: Expr, inner: Vec<Stmt>, span: Span) -> Vec<Stmt> {
    let name = name_of(variable);
    let test = compare(BinaryOp::LessEqual, variable, last, span);
    let mut round = vec![written(StmtKind::Expr(test), span, format!("{name} in range"))];
    round.extend(inner);
    round.push(increment(variable, span, &name));
    let leave = vec![written(StmtKind::Else, span, "else".into()), written(StmtKind::Break, span, "break".into())];
    let start = assign(variable, first, span);
    vec![start, written(StmtKind::Do(vec![round, leave]), span, "for".into())]
}

fn name_of(variable: &VarRef) -> String {
    plain(variable).map_or_else(|| "i".to_owned(), |name| name.text.clone())
}

fn read(variable: &VarRef, span: Span) -> Expr {
    Expr { kind: ExprKind::Var(variable.clone()), span }
}

fn assign(variable: &VarRef, value: Expr, span: Span) -> Stmt {
    let text = format!("{} = …", name_of(variable));
    written(StmtKind::Assign(variable.clone(), value), span, text)
}

fn increment(variable: &VarRef, span: Span, name: &str) -> Stmt {
    let kind = ExprKind::Binary(BinaryOp::Add, Box::new(read(variable, span)), Box::new(number(1, span)));
    written(StmtKind::Assign(variable.clone(), Expr { kind, span }), span, format!("{name}++"))
}

fn compare(op: BinaryOp, variable: &VarRef, bound: Expr, span: Span) -> Expr {
    Expr { kind: ExprKind::Binary(op, Box::new(read(variable, span)), Box::new(bound)), span }
}
