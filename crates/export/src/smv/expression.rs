//! Terms in SMV. Elements of arrays are variables of their own, so an index that changes is a case for each element.

use model::machine::MachineOp;
use model::types::ScalarType;

use super::Writer;
use crate::flat::position;
use crate::promela::type_of;
use crate::term::{Kind, Op, Read, Term};

impl Writer<'_> {
    /// An expression.
    pub fn print(&self, term: &Term) -> String {
        self.print_as(term, None)
    }

    /// An expression whose constants are of a type.
    pub fn print_as(&self, term: &Term, ty: Option<ScalarType>) -> String {
        match term.kind() {
            Kind::Number(number) => self.layout.constant(*number, ty),
            Kind::Truth(truth) => truth.to_string().to_uppercase(),
            Kind::Read(read) => self.element(read),
            Kind::At(process, nodes) => {
                let control = self.layout.control(*process);
                match &nodes[..] {
                    [only] => format!("{control} = {}", self.layout.node(*process, *only)),
                    several => {
                        let names: Vec<&str> = several.iter().map(|&node| self.layout.node(*process, node)).collect();
                        format!("{control} in {{{}}}", names.join(", "))
                    }
                }
            }
            Kind::Not(inner) => match inner.kind() {
                Kind::Binary(Op::Equal, left, right) if !left.is_truth() => self.comparison("!=", left, right),
                _ => format!("!({})", self.print(inner)),
            },
            Kind::Negate(inner) => format!("(-{})", self.operand(inner, None)),
            Kind::Choice(test, yes, no) => {
                let (yes, no) = (self.print_as(yes, ty), self.print_as(no, ty));
                format!("(case {} : {yes}; TRUE : {no}; esac)", self.print(test))
            }
            Kind::Binary(op, left, right) => match op {
                Op::And => format!("{} & {}", self.part(left, Op::And), self.part(right, Op::And)),
                Op::Or => format!("{} | {}", self.part(left, Op::Or), self.part(right, Op::Or)),
                Op::Equal if left.is_truth() => {
                    format!("({} <-> {})", self.operand(left, None), self.operand(right, None))
                }
                Op::Equal => self.comparison("=", left, right),
                Op::Less => self.comparison("<", left, right),
                Op::LessEqual => self.comparison("<=", left, right),
                Op::Add => self.arithmetic("+", left, right),
                Op::Subtract => self.arithmetic("-", left, right),
                Op::Multiply => self.arithmetic("*", left, right),
                Op::Machine(op) => {
                    let symbol = if *op == MachineOp::Rest { "mod" } else { op.symbol() };
                    // NuSMV divides by every value of the right side, whatever a guard says.
                    let zero = Term::number(0);
                    let safe = Term::choice(&right.equal(&zero), &Term::number(1), right);
                    self.arithmetic(symbol, left, &safe)
                }
            },
        }
    }

    fn element(&self, read: &Read) -> String {
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

    fn part(&self, term: &Term, chain: Op) -> String {
        match term.kind() {
            Kind::Binary(op, ..) if *op == chain => self.print(term),
            _ => self.operand(term, None),
        }
    }

    fn comparison(&self, symbol: &str, left: &Term, right: &Term) -> String {
        let ty = type_of(self.flat, left).or_else(|| type_of(self.flat, right));
        format!("({} {symbol} {})", self.operand(left, ty), self.operand(right, ty))
    }

    fn operand(&self, term: &Term, ty: Option<ScalarType>) -> String {
        match term.kind() {
            Kind::Binary(Op::And | Op::Or, ..) | Kind::At(..) => format!("({})", self.print_as(term, ty)),
            Kind::Number(number) if *number < 0 => format!("({number})"),
            _ => self.print_as(term, ty),
        }
    }
}
