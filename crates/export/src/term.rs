//! Terms: expressions over the variables of a [`crate::flat::Flat`] program, without faults and without short cuts.
//!
//! Everything is a number or a truth value: enumeration values are their positions, processes their numbers, `none` the number
//! after the last process. The constructors compute what is constant and drop comparisons that the bounds of variables decide, so
//! that a reader sees what is left of an expression in one process and one round of its loops.

use std::rc::Rc;

use base::Id;
use model::machine::MachineOp;
use model::process::ProcessId;

/// Names a variable of a flat program.
pub type VarNo = Id<crate::flat::FlatVar>;
/// Names a point of control of one process.
pub type NodeNo = Id<crate::flat::ControlNode>;

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Term(Rc<TermKind>);

/// The shapes of terms.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TermKind {
    /// A number.
    Number(i64),
    /// A truth value.
    Truth(bool),
    /// The content of a variable, or of an element of it.
    Read(VariableRead),
    /// The process is at one of these nodes, in order.
    At(ProcessId, Vec<NodeNo>),
    /// The negation.
    Not(Term),
    /// The number with the other sign.
    Negate(Term),
    /// Two operands.
    Binary(TermOp, Term, Term),
    /// One or the other.
    Choice(Term, Term, Term),
}

/// A read of a variable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VariableRead {
    /// The variable.
    pub var: VarNo,
    /// One number for each dimension.
    pub index: Vec<Term>,
    /// The least and the greatest number that it can hold; (0, 1) for truth values.
    pub bounds: (i64, i64),
    /// Whether it holds truth values.
    pub is_truth: bool,
}

/// Operators with two operands, all as C computes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TermOp {
    /// Both; the right one is evaluated only where the left one holds.
    And,
    /// One of both; the right one is evaluated only where the left one does not hold.
    Or,
    /// The same value.
    Equal,
    /// Less.
    Less,
    /// Less or equal.
    LessEqual,
    /// The sum.
    Add,
    /// The difference.
    Subtract,
    /// The product.
    Multiply,
    /// Bits, shifts, and division that cuts towards zero.
    Machine(MachineOp),
}

impl Term {
    fn new(kind: TermKind) -> Term {
        Term(Rc::new(kind))
    }

    /// What it is.
    pub fn kind(&self) -> &TermKind {
        &self.0
    }

    /// A number.
    pub fn number(number: i64) -> Term {
        Term::new(TermKind::Number(number))
    }

    /// A truth value.
    pub fn truth(truth: bool) -> Term {
        Term::new(TermKind::Truth(truth))
    }

    /// A read of a variable.
    pub fn read(read: VariableRead) -> Term {
        Term::new(TermKind::Read(read))
    }

    /// Whether a process is at one of the nodes.
    pub fn at(process: ProcessId, mut nodes: Vec<NodeNo>) -> Term {
        nodes.sort();
        nodes.dedup();
        if nodes.is_empty() { Term::truth(false) } else { Term::new(TermKind::At(process, nodes)) }
    }

    /// The number, if it is constant.
    pub fn as_number(&self) -> Option<i64> {
        match self.kind() {
            TermKind::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// Whether it is this truth value.
    pub fn is(&self, truth: bool) -> bool {
        *self.kind() == TermKind::Truth(truth)
    }

    /// Whether it is a truth value and no number.
    pub fn is_truth(&self) -> bool {
        match self.kind() {
            TermKind::Truth(_) | TermKind::At(..) | TermKind::Not(_) => true,
            TermKind::Number(_) | TermKind::Negate(_) => false,
            TermKind::Read(read) => read.is_truth,
            TermKind::Binary(op, ..) => {
                matches!(op, TermOp::And | TermOp::Or | TermOp::Equal | TermOp::Less | TermOp::LessEqual)
            }
            TermKind::Choice(_, yes, _) => yes.is_truth(),
        }
    }

    /// The least and the greatest number that it can be, cut to what fits.
    pub fn bounds(&self) -> (i64, i64) {
        let (lo, hi) = self.wide_bounds();
        let cut = |number: i128| number.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64;
        (cut(lo), cut(hi))
    }

    fn wide_bounds(&self) -> (i128, i128) {
        let exact = |number: i64| (i128::from(number), i128::from(number));
        match self.kind() {
            TermKind::Number(number) => exact(*number),
            TermKind::Read(read) => (i128::from(read.bounds.0), i128::from(read.bounds.1)),
            TermKind::Negate(inner) => {
                let (lo, hi) = inner.wide_bounds();
                (-hi, -lo)
            }
            TermKind::Choice(_, yes, no) => {
                let ((a, b), (c, d)) = (yes.wide_bounds(), no.wide_bounds());
                (a.min(c), b.max(d))
            }
            TermKind::Binary(op, left, right) => binary_bounds(*op, left, right),
            TermKind::Truth(_) | TermKind::At(..) | TermKind::Not(_) => (0, 1),
        }
    }

    /// The negation.
    pub fn negation(&self) -> Term {
        match self.kind() {
            TermKind::Truth(truth) => Term::truth(!truth),
            TermKind::Not(inner) => inner.clone(),
            TermKind::Binary(TermOp::Less, left, right) => right.less_equal(left),
            TermKind::Binary(TermOp::LessEqual, left, right) => right.less(left),
            _ => Term::new(TermKind::Not(self.clone())),
        }
    }

    /// Both.
    pub fn and(&self, other: &Term) -> Term {
        match (self.kind(), other.kind()) {
            (TermKind::Truth(true), _) => other.clone(),
            (TermKind::Truth(false), _) | (_, TermKind::Truth(true)) => self.clone(),
            // Whatever the left side is, nothing is left to evaluate.
            (_, TermKind::Truth(false)) => other.clone(),
            _ if self.chain_has(TermOp::And, other) => self.clone(),
            _ if self.chain_has(TermOp::And, &other.negation()) => Term::truth(false),
            _ => Term::new(TermKind::Binary(TermOp::And, self.clone(), other.clone())),
        }
    }

    /// One of both.
    pub fn or(&self, other: &Term) -> Term {
        match (self.kind(), other.kind()) {
            (TermKind::Truth(false), _) => other.clone(),
            (TermKind::Truth(true), _) | (_, TermKind::Truth(false)) => self.clone(),
            (_, TermKind::Truth(true)) => other.clone(),
            (TermKind::At(one, some), TermKind::At(another, more)) if one == another => {
                Term::at(*one, some.iter().chain(more).copied().collect())
            }
            _ if self.chain_has(TermOp::Or, other) => self.clone(),
            _ if self.chain_has(TermOp::Or, &other.negation()) => Term::truth(true),
            _ => Term::new(TermKind::Binary(TermOp::Or, self.clone(), other.clone())),
        }
    }

    /// Whether a part is in a chain of one operator, as `b` in `a && b`.
    fn chain_has(&self, op: TermOp, part: &Term) -> bool {
        let mut chain = self;
        while let TermKind::Binary(found, left, right) = chain.kind() {
            if *found != op || right == part {
                break;
            }
            chain = left;
        }
        chain == part || matches!(chain.kind(), TermKind::Binary(found, _, right) if *found == op && right == part)
    }

    /// All of them.
    pub fn all(terms: impl IntoIterator<Item = Term>) -> Term {
        terms.into_iter().fold(Term::truth(true), |all, term| all.and(&term))
    }

    /// Some of them.
    pub fn any(terms: impl IntoIterator<Item = Term>) -> Term {
        terms.into_iter().fold(Term::truth(false), |any, term| any.or(&term))
    }

    /// The same value; of truth values, both or none.
    pub fn equal(&self, other: &Term) -> Term {
        if self == other {
            return Term::truth(true);
        }
        if let (TermKind::Truth(a), TermKind::Truth(b)) = (self.kind(), other.kind()) {
            return Term::truth(a == b);
        }
        for (one, another) in [(self, other), (other, self)] {
            match one.kind() {
                TermKind::Truth(true) => return another.clone(),
                TermKind::Truth(false) => return another.negation(),
                _ => {}
            }
        }
        if !self.is_truth() {
            let ((a, b), (c, d)) = (self.bounds(), other.bounds());
            if b < c || d < a {
                return Term::truth(false);
            }
        }
        Term::new(TermKind::Binary(TermOp::Equal, self.clone(), other.clone()))
    }

    /// Less.
    pub fn less(&self, other: &Term) -> Term {
        let ((a, b), (c, d)) = (self.bounds(), other.bounds());
        match () {
            () if b < c => Term::truth(true),
            () if a >= d => Term::truth(false),
            () => Term::new(TermKind::Binary(TermOp::Less, self.clone(), other.clone())),
        }
    }

    /// Less or equal.
    pub fn less_equal(&self, other: &Term) -> Term {
        let ((a, b), (c, d)) = (self.bounds(), other.bounds());
        match () {
            () if b <= c => Term::truth(true),
            () if a > d => Term::truth(false),
            () => Term::new(TermKind::Binary(TermOp::LessEqual, self.clone(), other.clone())),
        }
    }

    /// Whether it is between these numbers, both included.
    pub fn between(&self, lo: i64, hi: i64) -> Term {
        Term::number(lo).less_equal(self).and(&self.less_equal(&Term::number(hi)))
    }

    /// One or the other.
    pub fn choice(test: &Term, yes: &Term, no: &Term) -> Term {
        match test.kind() {
            TermKind::Truth(true) => yes.clone(),
            TermKind::Truth(false) => no.clone(),
            _ if yes == no => yes.clone(),
            TermKind::Not(inner) => Term::choice(inner, no, yes),
            _ if yes.is(true) => test.or(no),
            _ if yes.is(false) => test.negation().and(no),
            _ if no.is(false) => test.and(yes),
            _ if no.is(true) => test.negation().or(yes),
            _ => Term::new(TermKind::Choice(test.clone(), yes.clone(), no.clone())),
        }
    }

    /// The number with the other sign.
    pub fn negate(&self) -> Term {
        match self.as_number().and_then(i64::checked_neg) {
            Some(number) => Term::number(number),
            None => Term::new(TermKind::Negate(self.clone())),
        }
    }

    /// A number out of two numbers; the operation is known not to fail where it is evaluated.
    pub fn compute(op: TermOp, left: &Term, right: &Term) -> Term {
        if let (Some(a), Some(b)) = (left.as_number(), right.as_number()) {
            let exact = match op {
                TermOp::Add => a.checked_add(b),
                TermOp::Subtract => a.checked_sub(b),
                TermOp::Multiply => a.checked_mul(b),
                TermOp::Machine(op) => op.apply(a, b).ok(),
                _ => None,
            };
            if let Some(number) = exact {
                return Term::number(number);
            }
        }
        match (op, left.as_number(), right.as_number()) {
            (TermOp::Add, Some(0), _) => right.clone(),
            (TermOp::Add | TermOp::Subtract, _, Some(0)) => left.clone(),
            (TermOp::Add, _, Some(number)) if number < 0 && number > i64::MIN => {
                Term::new(TermKind::Binary(TermOp::Subtract, left.clone(), Term::number(-number)))
            }
            _ => Term::new(TermKind::Binary(op, left.clone(), right.clone())),
        }
    }

    /// Shows every part of it, outermost first.
    pub fn visit(&self, see: &mut impl FnMut(&Term)) {
        see(self);
        match self.kind() {
            TermKind::Number(_) | TermKind::Truth(_) | TermKind::At(..) => {}
            TermKind::Read(read) => read.index.iter().for_each(|index| index.visit(see)),
            TermKind::Not(inner) | TermKind::Negate(inner) => inner.visit(see),
            TermKind::Binary(_, left, right) => {
                left.visit(see);
                right.visit(see);
            }
            TermKind::Choice(test, yes, no) => {
                test.visit(see);
                yes.visit(see);
                no.visit(see);
            }
        }
    }
}

fn binary_bounds(op: TermOp, left: &Term, right: &Term) -> (i128, i128) {
    let ((a, b), (c, d)) = (left.wide_bounds(), right.wide_bounds());
    let cut = |number: i128| number.clamp(i128::from(i64::MIN), i128::from(i64::MAX));
    let (a, b, c, d) = (cut(a), cut(b), cut(c), cut(d));
    match op {
        TermOp::And | TermOp::Or | TermOp::Equal | TermOp::Less | TermOp::LessEqual => (0, 1),
        TermOp::Add => (a + c, b + d),
        TermOp::Subtract => (a - d, b - c),
        TermOp::Multiply => {
            let corners = [a * c, a * d, b * c, b * d];
            (corners.into_iter().min().unwrap_or(0), corners.into_iter().max().unwrap_or(0))
        }
        TermOp::Machine(op) => {
            let known = op.bounds((a as i64, b as i64), (c as i64, d as i64));
            let size = a.abs().max(b.abs());
            match (known, op) {
                (Some((lo, hi)), _) => (i128::from(lo), i128::from(hi)),
                (None, MachineOp::Quotient) => (-size, size),
                (None, MachineOp::Rest) => {
                    let most = size.min(c.abs().max(d.abs()) - 1).max(0);
                    (if a < 0 { -most } else { 0 }, if b > 0 { most } else { 0 })
                }
                (None, MachineOp::ShiftRight) => (a.min(0), b.max(0)),
                (None, MachineOp::BitAnd | MachineOp::BitOr | MachineOp::BitXor) => {
                    // Within the next power of two on both sides.
                    let size = size.max(c.abs()).max(d.abs());
                    let power = (size as u128 + 1).next_power_of_two() as i128;
                    (-power, power - 1)
                }
                (None, MachineOp::ShiftLeft) => (i128::from(i64::MIN), i128::from(i64::MAX)),
            }
        }
    }
}
