//! Terms in DVE, where truth values are 0 and 1, and nothing says `if`.

use base::Span;

use super::DveWriter;
use crate::ExportRefusal;
use crate::term::{Term, TermKind, TermOp, VarNo};

impl DveWriter<'_> {
    /// An expression of a statement.
    pub fn print_for(&mut self, term: &Term, span: Span) -> String {
        match term.kind() {
            TermKind::Number(number) if *number < 0 => format!("(0 - {})", number.unsigned_abs()),
            TermKind::Number(number) => number.to_string(),
            TermKind::Truth(truth) => i64::from(*truth).to_string(),
            TermKind::Read(read) => {
                let index: Vec<String> = read.index.iter().map(|index| self.print_for(index, span)).collect();
                format!("{}{}", self.layout.var(read.var), self.flat_index(read.var, &index))
            }
            TermKind::At(process, nodes) => {
                let name = &self.layout.processes[process.index()];
                let at: Vec<String> =
                    nodes.iter().map(|&node| format!("{name}.{}", self.layout.node(*process, node))).collect();
                format!("({})", at.join(" || "))
            }
            TermKind::Not(inner) => match inner.kind() {
                TermKind::Binary(TermOp::Equal, left, right) => self.infix("!=", left, right, span),
                _ => format!("(not {})", self.print_for(inner, span)),
            },
            TermKind::Negate(inner) => format!("(0 - {})", self.print_for(inner, span)),
            TermKind::Choice(test, yes, no) => {
                let (is_evaluated, test) = (can_fail(yes) || can_fail(no), self.print_for(test, span));
                let is_truth = yes.is_truth();
                let (yes, no) = (self.print_for(yes, span), self.print_for(no, span));
                if is_truth {
                    return format!("(({test} && {yes}) || ((not {test}) && {no}))");
                }
                if is_evaluated {
                    let why = "this chooses between values that may fail, and DVE would look at both";
                    self.problems.push(ExportRefusal::new(span, why));
                }
                format!("({test} * {yes} + (1 - {test}) * {no})")
            }
            TermKind::Binary(op, left, right) => {
                let symbol = match op {
                    TermOp::And => "&&",
                    TermOp::Or => "||",
                    TermOp::Equal => "==",
                    TermOp::Less => "<",
                    TermOp::LessEqual => "<=",
                    TermOp::Add => "+",
                    TermOp::Subtract => "-",
                    TermOp::Multiply => "*",
                    TermOp::Machine(op) => op.symbol(),
                };
                self.infix(symbol, left, right, span)
            }
        }
    }

    fn infix(&mut self, symbol: &str, left: &Term, right: &Term, span: Span) -> String {
        format!("({} {symbol} {})", self.print_for(left, span), self.print_for(right, span))
    }

    /// The index of an element in the array with one dimension.
    pub fn flat_index(&self, var: VarNo, index: &[String]) -> String {
        let dimensions = &self.flat.vars[var].dimensions;
        let Some((first, rest)) = index.split_first() else { return String::new() };
        let whole = rest
            .iter()
            .zip(&dimensions[1..])
            .fold(first.clone(), |whole, (index, len)| format!("({whole} * {len} + {index})"));
        format!("[{whole}]")
    }
}

/// Whether evaluating the term where it is not meant may fail.
fn can_fail(term: &Term) -> bool {
    let mut found = false;
    term.visit(&mut |part| match part.kind() {
        TermKind::Read(read) => found |= read.index.iter().any(|index| index.as_number().is_none()),
        TermKind::Binary(TermOp::Machine(_), _, right) => found |= right.as_number().is_none_or(|number| number == 0),
        _ => {}
    });
    found
}
