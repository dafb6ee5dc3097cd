//! What a run that goes round for ever leaves undone: for which values of the bound names, from when on, and what never comes.
//!
//! In: a lasso, and the temporal property that it violates. Out: a sentence, where the property has one of the common forms under its `forall` and
//! `&&`: `p ~> q`, `always (p => eventually q)`, `always eventually q`, `eventually q`, `eventually always p`, `always p`. The parts are evaluated in every state of the lasso by
//! the reference semantics, so that the sentence is true of this run, however it was found; of other forms nothing is said.

use evidence::Trace;
use model::Model;
use model::eval::{State, Viewpoint};
use model::expr::{Binding, Expr, Quantifier};
use model::print::Printer;
use model::process::ProcessId;
use model::property::{BinaryTemporal, BooleanOp, Formula, UnaryTemporal};
use model::value::Value;

use crate::totals::as_written;

/// More evaluations of parts are not worth a sentence.
const MOST_EVALUATIONS: usize = 200_000;

/// What a lasso leaves undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owed {
    /// In a sentence, with the values of the bound names.
    pub text: String,
    /// The processes among those values.
    pub processes: Vec<ProcessId>,
}

/// What a lasso leaves undone of a formula that it violates.
pub fn owed(model: &Model, formula: &Formula, trace: &Trace) -> Option<Owed> {
    let from = trace.loop_from?;
    let states = &trace.states[..trace.states.len() - 1];
    OwedSearch { model, states, from, bound: Vec::new(), n_left: MOST_EVALUATIONS }.of(formula)
}

struct OwedSearch<'a> {
    model: &'a Model,
    /// The states of the lasso, each once.
    states: &'a [State],
    /// Where its loop begins.
    from: usize,
    /// The values of the names that are bound on the way down.
    bound: Vec<Value>,
    n_left: usize,
}

impl OwedSearch<'_> {
    fn of(&mut self, formula: &Formula) -> Option<Owed> {
        match formula {
            Formula::Quantified { quantifier: Quantifier::Forall, bindings, filter, body } => {
                self.instances(bindings, filter.as_ref(), body)
            }
            // What stands under no temporal operator speaks of the first state.
            Formula::Now(first) => {
                let is_false = !self.truths(first)?[0];
                is_false.then(|| self.said(&format!("{} is false at the start", self.code(first))))
            }
            Formula::Boolean(BooleanOp::And, left, right) => self.of(left).or_else(|| self.of(right)),
            Formula::Binary(BinaryTemporal::LeadsTo, left, right) => self.unanswered(now(left)?, now(right)?),
            Formula::Unary(UnaryTemporal::Always, inner) => match &**inner {
                Formula::Now(always) => {
                    let at = self.truths(always)?.iter().position(|&truth| !truth)?;
                    Some(self.said(&format!("{} is false {}", self.code(always), after(at))))
                }
                Formula::Unary(UnaryTemporal::Eventually, often) => {
                    let often = now(often)?;
                    let truths = self.truths(often)?;
                    if truths[self.from..].contains(&true) {
                        return None;
                    }
                    let often = self.code(often);
                    Some(self.said(&match truths.iter().rposition(|&truth| truth) {
                        Some(last) => format!("{often} for the last time {}", after(last)),
                        None => format!("never {often}"),
                    }))
                }
                Formula::Boolean(BooleanOp::Implies, left, right) => match &**right {
                    Formula::Unary(UnaryTemporal::Eventually, right) => self.unanswered(now(left)?, now(right)?),
                    _ => None,
                },
                _ => None,
            },
            Formula::Unary(UnaryTemporal::Eventually, inner) => match &**inner {
                Formula::Now(once) => {
                    let is_missing = !self.truths(once)?.contains(&true);
                    is_missing.then(|| self.said(&format!("never {}", self.code(once))))
                }
                Formula::Unary(UnaryTemporal::Always, settled) => {
                    let settled = now(settled)?;
                    let at = self.from + self.truths(settled)?[self.from..].iter().position(|&truth| !truth)?;
                    Some(self.said(&format!("{} is false again and again, as {}", self.code(settled), after(at))))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The first instance of a `forall` of which something can be said.
    fn instances(&mut self, bindings: &[Binding], filter: Option<&Expr>, body: &Formula) -> Option<Owed> {
        let Some((binding, inner)) = bindings.split_first() else {
            let is_meant = filter.is_none_or(|filter| self.view(0).truth(filter) == Ok(true));
            return if is_meant { self.of(body) } else { None };
        };
        let depth = self.bound.len();
        let values = self.view(0).domain(&binding.domain).ok()?;
        let mut found = None;
        for value in values {
            self.bound.push(value);
            found = self.instances(inner, filter, body);
            self.bound.truncate(depth);
            if found.is_some() || self.n_left == 0 {
                break;
            }
        }
        found
    }

    /// A state in which the one is true, after which the other never is.
    fn unanswered(&mut self, asked: &Expr, answer: &Expr) -> Option<Owed> {
        let (asked_at, answered_at) = (self.truths(asked)?, self.truths(answer)?);
        if answered_at[self.from..].contains(&true) {
            return None;
        }
        let first = answered_at.iter().rposition(|&truth| truth).map_or(0, |last| last + 1);
        let at = first + asked_at[first..].iter().position(|&truth| truth)?;
        let (asked, answer) = (self.code(asked), self.code(answer));
        Some(self.said(&format!("{asked} {}, and never {answer} from then on", after(at))))
    }

    /// The value of an expression in each state; `None` where it has none, or where that would take long.
    fn truths(&mut self, expr: &Expr) -> Option<Vec<bool>> {
        self.n_left = self.n_left.saturating_sub(self.states.len());
        if self.n_left == 0 {
            return None;
        }
        (0..self.states.len()).map(|at| self.view(at).truth(expr).ok()).collect()
    }

    fn view(&self, at: usize) -> Viewpoint<'_> {
        let mut view = Viewpoint::new(self.model, &self.states[at], None);
        view.bound.clone_from(&self.bound);
        view
    }

    /// An expression with the values of the bound names.
    fn code(&self, expr: &Expr) -> String {
        let printer = Printer::new(self.model);
        let mut printer = self.bound.iter().fold(printer, |printer, &value| printer.bind_value(value));
        format!("`{}`", as_written(&printer.expr(expr)))
    }

    fn said(&self, text: &str) -> Owed {
        let process = |value: &Value| match value {
            Value::Process(process) => Some(*process),
            _ => None,
        };
        Owed { text: text.to_owned(), processes: self.bound.iter().filter_map(process).collect() }
    }
}

/// What a formula says of one state, if that is all that it speaks of.
fn now(formula: &Formula) -> Option<&Expr> {
    match formula {
        Formula::Now(expr) => Some(expr),
        _ => None,
    }
}

fn after(state: usize) -> String {
    match state {
        0 => "at the start".to_owned(),
        step => format!("after step {step}"),
    }
}
