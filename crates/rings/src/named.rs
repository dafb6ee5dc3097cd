//! Indices that are named outright in a choice, as in `if i == 0 then 1 else i`: each has to mean one distance at every size, whether or not a
//! step can come to it.
//!
//! In: the texts of a program, or what a property says about a process. Out: the distances, or the first index that is none: one that is named by processes
//! which the test around it does not distinguish, or that is not there at the least size.

use base::Span;
use model::Model;
use model::control::Stmt;
use model::expr::{Access, BinaryOp, Expr, ExprKind, Whose};
use model::size::Linear;
use model::statements::statements;
use model::template::{FragmentReason, Sized};
use model::value::Value;
use model::visit::{each_part, each_text};

/// The position of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Position {
    FromLeft(i64),
    /// `N` less this.
    FromRight(i64),
}

/// Searches for named indices.
pub(crate) struct NamedIndices<'m> {
    model: &'m Model,
    sized: Sized,
    /// The distances that were found.
    pub distances: Vec<i64>,
    /// The first index that is none.
    pub objection: Option<FragmentReason>,
}

impl<'m> NamedIndices<'m> {
    /// For the program as it was written.
    pub fn new(model: &'m Model, sized: Sized) -> NamedIndices<'m> {
        NamedIndices { model: model.template(), sized, distances: Vec::new(), objection: None }
    }

    /// Examines everything that the program's texts say.
    pub fn look_at_program(&mut self) {
        let model = self.model;
        each_text(model, &mut |expr| self.look(expr));
        for action in &model.actions {
            self.body(&action.body);
        }
    }

    /// Examines the indices within an expression.
    pub fn look(&mut self, expr: &Expr) {
        each_part(expr, &mut |part| match &part.kind {
            ExprKind::Read(access) => self.access(access),
            ExprKind::ToProcess(_, index) => self.index(index, None),
            _ => {}
        });
    }

    fn body(&mut self, body: &[Stmt]) {
        statements(body).flat_map(Stmt::targets).for_each(|target| self.access(target));
    }

    fn access(&mut self, access: &Access) {
        access.indices.iter().for_each(|index| self.index(index, None));
        if let Whose::Of(who) = &access.whose {
            self.index(who, None);
        }
    }

    /// An index where the tests around it determine the position of the process.
    fn index(&mut self, index: &Expr, at: Option<Position>) {
        match &index.kind {
            ExprKind::ToProcess(_, inner) | ExprKind::IndexOf(inner) => self.index(inner, at),
            ExprKind::If(test, yes, no) => {
                let (met, missed) = self.position(test);
                self.choice(yes, met.or(at));
                self.choice(no, missed.or(at));
            }
            _ => {}
        }
    }

    /// One of the indices between which a test chooses.
    fn choice(&mut self, index: &Expr, at: Option<Position>) {
        let Some(named) = Linear::of(index) else { return self.index(index, at) };
        let least = self.model.parameters[self.sized.parameter].least;
        let named = match (named.constant, named.multiples.is_empty()) {
            (from_left, true) => Some(Position::FromLeft(from_left)).filter(|_| (0..least).contains(&from_left)),
            (rest, false) if named.multiples == Linear::parameter(self.sized.parameter).multiples => {
                Some(Position::FromRight(-rest)).filter(|_| (-least..0).contains(&rest))
            }
            _ => None,
        };
        match (at, named) {
            (Some(at), Some(named)) => self.distances.push(distance(at, named)),
            _ => self.object(index.span),
        }
    }

    fn object(&mut self, span: Span) {
        let text =
            "an index is named outright by processes that are not told apart, or is not there at every size".to_owned();
        self.objection.get_or_insert(FragmentReason { text, span });
    }

    /// The position of a process of which the test holds, and of one of which it does not, if that is one place.
    fn position(&self, test: &Expr) -> (Option<Position>, Option<Position>) {
        let ExprKind::Binary(op, left, right) = &test.kind else { return (None, None) };
        let place = match (is_myself(left), is_myself(right)) {
            (true, false) => self.place(right),
            (false, true) => self.place(left),
            _ => None,
        };
        match op {
            BinaryOp::Equal => (place, None),
            BinaryOp::NotEqual => (None, place),
            _ => (None, None),
        }
    }

    fn place(&self, expr: &Expr) -> Option<Position> {
        match &expr.kind {
            ExprKind::Const(Value::Process(id)) => Some(Position::FromLeft(self.model.processes[*id].index)),
            ExprKind::ToProcess(_, inner) | ExprKind::IndexOf(inner) => self.place(inner),
            _ => {
                let number = Linear::of(expr)?;
                match number.multiples.is_empty() {
                    true => Some(Position::FromLeft(number.constant)),
                    false => (number.multiples == Linear::parameter(self.sized.parameter).multiples)
                        .then_some(Position::FromRight(-number.constant)),
                }
            }
        }
    }
}

fn is_myself(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Myself => true,
        ExprKind::ToProcess(_, inner) | ExprKind::IndexOf(inner) => is_myself(inner),
        _ => false,
    }
}

/// How far it is from one place to another, once round at most.
fn distance(at: Position, named: Position) -> i64 {
    match (at, named) {
        (Position::FromLeft(at), Position::FromLeft(named)) => named - at,
        (Position::FromRight(at), Position::FromRight(named)) => at - named,
        (Position::FromRight(at), Position::FromLeft(named)) => named + at,
        (Position::FromLeft(at), Position::FromRight(named)) => -named - at,
    }
}
