//! What tests of counted numbers leave behind: whether `arrived - N` is below 0, 0 or above is part of views.
//!
//! In: the text, and the cells that are counted. Out: the sums of counted cells and sizes that the text compares with each other
//! ([`tested`]); what their signs may be at first, and after a step. A counted number is not shown, so that a process that has passed
//! `await arrived == N` would know nothing of it afterwards; the sign is what it knows.
//!
//! **Soundness.** A sign is a function of what counted cells hold and of the sizes, which are the same for all processes of a state. So a
//! view with signs is still a function of a state and a process, views of processes of one state agree on signs, and the sign that is shown is a
//! true constraint on that state. After a step the sign is that of the number with what the step has stored; each of the three is gone through, with what
//! has to be so for it.

use std::cmp::Ordering;

use evidence::counting::ShownSign;
use model::control::{Action, Stmt, StmtKind};
use model::expr::{BinaryOp, Expr, ExprKind, Whose};
use model::statements::statements;
use model::value::Value;
use model::visit::each_part;

use super::form::{Fact, Form, Term};
use super::look::{Halt, Look, Looked};
use super::roster::{CountingItem, Roster};

/// More signs are not shown: every one may make three views of one.
const MOST_SIGNS: usize = 4;

/// The differences of the two sides of comparisons in the text, where these are sums of counted cells and sizes.
pub fn tested(roster: &Roster<'_>) -> Vec<Form> {
    let mut found: Vec<Form> = Vec::new();
    let mut note = |expr: &Expr| {
        each_part(expr, &mut |part| {
            if let ExprKind::Binary(op, left, right) = &part.kind
                && is_comparison(*op)
                && let Some(form) = difference(roster, left, right)
                && form.terms.keys().any(|term| matches!(term, Term::Cell(_)))
                && !found.contains(&form)
            {
                found.push(form);
            }
        });
    };
    for action in &roster.text.actions {
        action.guard.iter().for_each(&mut note);
        each_test(&action.body, &mut note);
    }
    found.truncate(MOST_SIGNS);
    found
}

/// The same as a claim.
pub fn listed(form: &Form) -> ShownSign {
    let mut sign = ShownSign { constant: form.constant, cells: Vec::new(), sizes: Vec::new() };
    for (term, &times) in &form.terms {
        match term {
            Term::Cell(cell) => sign.cells.push((*cell, times)),
            Term::Size(size) => sign.sizes.push((*size, times)),
            Term::Unseen(_) => {}
        }
    }
    sign
}

/// What a shown sign says; `None` where the item is none.
pub fn sign_fact(form: &Form, sign: CountingItem) -> Option<Fact> {
    let one = Form::number(1);
    match sign {
        CountingItem::Value(Value::Int(0)) => Some(Fact { form: form.clone(), is_zero: true }),
        CountingItem::Value(Value::Int(1)) => Some(Fact { form: form.plus(&one, -1)?, is_zero: false }),
        CountingItem::Value(Value::Int(-1)) => {
            let below = Form::default().plus(form, -1)?.plus(&one, -1)?;
            Some(Fact { form: below, is_zero: false })
        }
        _ => None,
    }
}

fn item(order: Ordering) -> CountingItem {
    CountingItem::Value(Value::Int(order as i64))
}

/// Whether an operator compares.
pub fn is_comparison(op: BinaryOp) -> bool {
    use BinaryOp::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    matches!(op, Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual)
}

fn each_test(body: &[Stmt], note: &mut dyn FnMut(&Expr)) {
    for statement in statements(body) {
        if let StmtKind::Await(test) | StmtKind::Assert(test) | StmtKind::If(test, ..) = &statement.kind {
            note(test);
        }
    }
}

/// The difference of two sums, turned so that its first multiple is above 0: `a == b` and `b == a` are one.
fn difference(roster: &Roster<'_>, left: &Expr, right: &Expr) -> Option<Form> {
    let form = sum(roster, left)?.plus(&sum(roster, right)?, -1)?;
    let is_turned = form.terms.values().next().is_some_and(|&first| first < 0);
    let form = if is_turned { Form::default().plus(&form, -1)? } else { form };
    form.is_small().then_some(form)
}

/// A sum of counted cells, sizes and constants.
fn sum(roster: &Roster<'_>, expr: &Expr) -> Option<Form> {
    match &expr.kind {
        ExprKind::Const(Value::Int(number)) => Some(Form::number(*number)),
        ExprKind::Parameter(id) => Some(roster.parameter(*id)),
        ExprKind::Negate(inner) => Form::default().plus(&sum(roster, inner)?, -1),
        ExprKind::Binary(BinaryOp::Add, left, right) => sum(roster, left)?.plus(&sum(roster, right)?, 1),
        ExprKind::Binary(BinaryOp::Subtract, left, right) => sum(roster, left)?.plus(&sum(roster, right)?, -1),
        ExprKind::Binary(BinaryOp::Multiply, left, right) => {
            let (left, right) = (sum(roster, left)?, sum(roster, right)?);
            match (left.known(), right.known()) {
                (Some(times), _) => Form::default().plus(&right, times),
                (_, Some(times)) => Form::default().plus(&left, times),
                _ => None,
            }
        }
        ExprKind::Read(access) if matches!(access.whose, Whose::Shared) => {
            let dimensions = roster.model.vars[access.var].ty.dimensions();
            let mut position = 0;
            for (index, length) in access.indices.iter().zip(dimensions) {
                let index = usize::try_from(sum(roster, index)?.known()?).ok().filter(|&index| index < length)?;
                position = position * length + index;
            }
            let cell = roster.model.cells_of(access.var, None).nth(position)?;
            roster.counted.contains(&cell).then(|| Form::term(Term::Cell(cell)))
        }
        _ => None,
    }
}

impl<'m> Look<'_, 'm> {
    /// Shows the signs of an initial state, whatever the sizes are: each that may be in turn.
    pub fn first_signs(&mut self) -> Looked<()> {
        for form in &self.roster.signs {
            let signs = self.possible_at_first(form);
            let chosen = self.choose(signs.len());
            self.scene.shared.push(item(*signs.get(chosen).ok_or(Halt::Blocked)?));
        }
        Ok(())
    }

    fn possible_at_first(&self, form: &Form) -> Vec<Ordering> {
        let all = vec![Ordering::Less, Ordering::Equal, Ordering::Greater];
        let mut first = Some(Form::number(form.constant));
        for (term, &times) in &form.terms {
            let number = match term {
                Term::Cell(cell) => self.roster.first_number(*cell),
                other => Some(Form::term(*other)),
            };
            first = first.zip(number).and_then(|(sum, number)| sum.plus(&number, times));
        }
        let Some(first) = first else { return all };
        let never_below = |form: Option<Form>| form.is_some_and(|form| self.roster.is_never_below_zero(&form));
        let less = Form::default().plus(&first, -1);
        let one = Form::number(1);
        let is_above = never_below(first.plus(&one, -1));
        let is_below = never_below(less.as_ref().and_then(|less| less.plus(&one, -1)));
        let (not_below, not_above) = (never_below(Some(first)), never_below(less));
        let is_possible = |order: &Ordering| match order {
            Ordering::Less => !not_below,
            Ordering::Equal => !is_above && !is_below,
            Ordering::Greater => !not_above,
        };
        all.into_iter().filter(is_possible).collect()
    }

    /// Shows the signs after a step that has stored something into their cells.
    pub fn show_signs(&mut self, action: &'m Action) -> Looked<()> {
        let roster = self.roster;
        for (at, form) in roster.signs.iter().enumerate() {
            let cells =
                form.terms.keys().filter_map(|term| if let Term::Cell(cell) = term { Some(*cell) } else { None });
            if !cells.into_iter().any(|cell| self.stored.contains_key(&cell)) {
                continue;
            }
            let order = match self.after(form) {
                Some(now) => self.compare(&now, &Form::default(), roster.text.statements[action.statement].span)?,
                None => [Ordering::Less, Ordering::Equal, Ordering::Greater][self.choose(3)],
            };
            self.scene.shared[roster.shared.len() + at] = item(order);
        }
        Ok(())
    }

    /// A sum of counted cells and sizes with what the step has stored; `None` where that is not known.
    fn after(&self, form: &Form) -> Option<Form> {
        let mut now = Form::number(form.constant);
        for (term, &times) in &form.terms {
            let number = match term {
                Term::Cell(cell) => match self.stored.get(cell) {
                    Some(stored) => stored.clone()?,
                    None => Form::term(*term),
                },
                other => Form::term(*other),
            };
            now = now.plus(&number, times)?;
        }
        Some(now)
    }
}
