//! Terms in Promela. Arrays have one dimension there, so indices of several are made one.

use model::machine::MachineOp;
use model::types::ScalarType;

use super::PromelaWriter;
use crate::flat::Flat;
use crate::term::{Term, TermKind, TermOp, VarNo};

impl PromelaWriter<'_> {
    /// An expression.
    pub fn print(&self, term: &Term) -> String {
        self.print_as(term, None)
    }

    /// An expression that can be beside `&&`.
    pub fn print_tight(&self, term: &Term) -> String {
        match term.kind() {
            TermKind::Binary(TermOp::Or, ..) | TermKind::Binary(TermOp::Equal, ..) => format!("({})", self.print(term)),
            _ => self.print(term),
        }
    }

    /// A variable, or an element of it.
    pub fn element(&self, var: VarNo, index: &[Term]) -> String {
        let index: Vec<String> = index.iter().map(|index| self.print(index)).collect();
        format!("{}{}", self.layout.var(var), self.flat_index(var, &index))
    }

    /// The index of an element in the array with one dimension.
    pub fn flat_index(&self, var: VarNo, index: &[String]) -> String {
        let dimensions = &self.flat.vars[var].dimensions;
        let Some((first, rest)) = index.split_first() else { return String::new() };
        let whole = rest.iter().zip(&dimensions[1..]).fold(first.clone(), |whole, (index, len)| {
            match (whole.parse::<i64>(), index.parse::<i64>()) {
                (Ok(whole), Ok(index)) => (whole * *len as i64 + index).to_string(),
                _ => format!("({whole}) * {len} + {index}"),
            }
        });
        format!("[{whole}]")
    }

    /// An expression whose constants are of a type.
    pub fn print_as(&self, term: &Term, ty: Option<ScalarType>) -> String {
        match term.kind() {
            TermKind::Number(number) => self.layout.constant(*number, ty),
            TermKind::Truth(truth) => truth.to_string(),
            TermKind::Read(read) => self.element(read.var, &read.index),
            TermKind::At(process, nodes) => {
                let control = self.layout.control(*process);
                let at: Vec<String> =
                    nodes.iter().map(|&node| format!("{control} == {}", self.layout.node(*process, node))).collect();
                format!("({})", at.join(" || "))
            }
            TermKind::Not(inner) => match inner.kind() {
                TermKind::Binary(TermOp::Equal, left, right) if !left.is_truth() => self.comparison("!=", left, right),
                _ => format!("!({})", self.print(inner)),
            },
            TermKind::Negate(inner) => format!("(-{})", self.operand(inner, None)),
            TermKind::Choice(test, yes, no) if yes.is_truth() => {
                let (test, yes, no) = (self.operand(test, None), self.operand(yes, None), self.operand(no, None));
                format!("(({test} && {yes}) || (!{test} && {no}))")
            }
            TermKind::Choice(test, yes, no) => {
                format!("({} -> {} : {})", self.operand(test, None), self.print_as(yes, ty), self.print_as(no, ty))
            }
            TermKind::Binary(op, left, right) => match op {
                TermOp::And => format!("{} && {}", self.part(left, TermOp::And), self.part(right, TermOp::And)),
                TermOp::Or => format!("{} || {}", self.part(left, TermOp::Or), self.part(right, TermOp::Or)),
                TermOp::Equal => self.comparison("==", left, right),
                TermOp::Less => self.comparison("<", left, right),
                TermOp::LessEqual => self.comparison("<=", left, right),
                TermOp::Add => format!("({} + {})", self.operand(left, None), self.operand(right, None)),
                TermOp::Subtract => format!("({} - {})", self.operand(left, None), self.operand(right, None)),
                TermOp::Multiply => format!("({} * {})", self.operand(left, None), self.operand(right, None)),
                TermOp::Machine(op) => {
                    let symbol = match op {
                        MachineOp::Quotient => "/",
                        other => other.symbol(),
                    };
                    format!("({} {symbol} {})", self.operand(left, None), self.operand(right, None))
                }
            },
        }
    }

    /// A part of a chain of `&&` or of `||`.
    fn part(&self, term: &Term, chain: TermOp) -> String {
        match term.kind() {
            TermKind::Binary(op, ..) if *op == chain => self.print(term),
            _ => self.operand(term, None),
        }
    }

    fn comparison(&self, symbol: &str, left: &Term, right: &Term) -> String {
        let ty = type_of(self.flat, left).or_else(|| type_of(self.flat, right));
        format!("({} {symbol} {})", self.operand(left, ty), self.operand(right, ty))
    }

    fn operand(&self, term: &Term, ty: Option<ScalarType>) -> String {
        match term.kind() {
            TermKind::Binary(TermOp::And | TermOp::Or, ..) => format!("({})", self.print_as(term, ty)),
            TermKind::Number(number) if *number < 0 => format!("({number})"),
            _ => self.print_as(term, ty),
        }
    }
}

/// The type of a variable that a term reads, if it is nothing else.
pub fn type_of(flat: &Flat, term: &Term) -> Option<ScalarType> {
    match term.kind() {
        TermKind::Read(read) => Some(flat.vars[read.var].ty),
        TermKind::Choice(_, yes, no) => type_of(flat, yes).or_else(|| type_of(flat, no)),
        _ => None,
    }
}
