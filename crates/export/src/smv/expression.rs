//! Terms in SMV. Elements of arrays are variables of their own, so an index that changes is a case for each element.

use model::machine::MachineOp;
use model::types::ScalarType;

use super::SmvWriter;
use crate::flat::position;
use crate::promela::type_of;
use crate::term::{Term, TermKind, TermOp, VariableRead};

/// What a number is cut to that keeps its lowest bits: `x & 255` is `x` modulo 256.
pub(super) fn cut_to(op: MachineOp, right: &Term) -> Option<i64> {
    let modulus = right.as_number().filter(|_| op == MachineOp::BitAnd)?.checked_add(1)?;
    (modulus > 0 && modulus & (modulus - 1) == 0).then_some(modulus)
}

impl SmvWriter<'_> {
    /// An expression.
    pub fn print(&self, term: &Term) -> String {
        self.print_as(term, None)
    }

    /// An expression whose constants are of a type.
    pub fn print_as(&self, term: &Term, ty: Option<ScalarType>) -> String {
        match term.kind() {
            TermKind::Number(number) => self.layout.constant(*number, ty),
            TermKind::Truth(truth) => truth.to_string().to_uppercase(),
            TermKind::Read(read) => self.element(read),
            TermKind::At(process, nodes) => {
                let control = self.layout.control(*process);
                match &nodes[..] {
                    [only] => format!("{control} = {}", self.layout.node(*process, *only)),
                    several => {
                        let names: Vec<&str> = several.iter().map(|&node| self.layout.node(*process, node)).collect();
                        format!("{control} in {{{}}}", names.join(", "))
                    }
                }
            }
            TermKind::Not(inner) => match inner.kind() {
                TermKind::Binary(TermOp::Equal, left, right) if !left.is_truth() => self.comparison("!=", left, right),
                _ => format!("!({})", self.print(inner)),
            },
            TermKind::Negate(inner) => format!("(-{})", self.operand(inner, None)),
            TermKind::Choice(test, yes, no) => {
                let (yes, no) = (self.print_as(yes, ty), self.print_as(no, ty));
                format!("(case {} : {yes}; TRUE : {no}; esac)", self.print(test))
            }
            TermKind::Binary(op, left, right) => match op {
                TermOp::And => format!("{} & {}", self.part(left, TermOp::And), self.part(right, TermOp::And)),
                TermOp::Or => format!("{} | {}", self.part(left, TermOp::Or), self.part(right, TermOp::Or)),
                TermOp::Equal if left.is_truth() => {
                    format!("({} <-> {})", self.operand(left, None), self.operand(right, None))
                }
                TermOp::Equal => self.comparison("=", left, right),
                TermOp::Less => self.comparison("<", left, right),
                TermOp::LessEqual => self.comparison("<=", left, right),
                TermOp::Add => self.arithmetic("+", left, right),
                TermOp::Subtract => self.arithmetic("-", left, right),
                TermOp::Multiply => self.arithmetic("*", left, right),
                TermOp::Machine(op) if cut_to(*op, right).is_some() => {
                    let modulus = cut_to(*op, right).unwrap_or(1);
                    // The remainder may be negative.
                    format!("((({} mod {modulus}) + {modulus}) mod {modulus})", self.operand(left, None))
                }
                TermOp::Machine(op) => {
                    let symbol = if *op == MachineOp::Rest { "mod" } else { op.symbol() };
                    // NuSMV divides by every value of the right side, whatever a guard says.
                    let zero = Term::number(0);
                    let safe = Term::choice(&right.equal(&zero), &Term::number(1), right);
                    self.arithmetic(symbol, left, &safe)
                }
            },
        }
    }

    fn element(&self, read: &VariableRead) -> String {
        let names = &self.elements[read.var.index()];
        let var = &self.flat.vars[read.var];
        if let Some(offset) = position(&var.dimensions, &read.index) {
            return names[offset].clone();
        }
        let mut cases = String::from("(case ");
        let elements = var.elements();
        for (name, at) in names.iter().zip(&elements).take(names.len() - 1) {
            let here = Term::all(read.index.iter().zip(at).map(|(index, &at)| index.equal(&Term::number(at as i64))));
            if !here.is(false) {
                cases += &format!("{} : {name}; ", self.print(&here));
            }
        }
        cases + &format!("TRUE : {}; esac)", names[names.len() - 1])
    }

    fn arithmetic(&self, symbol: &str, left: &Term, right: &Term) -> String {
        format!("({} {symbol} {})", self.operand(left, None), self.operand(right, None))
    }

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
            TermKind::Binary(TermOp::And | TermOp::Or, ..) | TermKind::At(..) => {
                format!("({})", self.print_as(term, ty))
            }
            TermKind::Number(number) if *number < 0 => format!("({number})"),
            _ => self.print_as(term, ty),
        }
    }
}
