//! Why an expression is false (or true) in a state: which part, for which values of the bound names.
//!
//! In: a state and a boolean expression with its value. Out: the smallest part that decides it. A `forall` that fails is
//! stripped and its failing instance named; of a conjunction that fails the failing side is taken; and dually. What cannot be
//! stripped is shown as it is, with the values of the variables in it.

use model::Model;
use model::eval::{State, Viewpoint};
use model::expr::{Access, BinaryOp, Binding, Expr, ExprKind, Quantified, Quantifier, Whose};
use model::print::Printer;
use model::process::ProcessId;
use model::value::Value;

use crate::names::short;

/// The part that decides an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    /// The part, with the names of its bound variables.
    pub text: String,
    /// The same part with their values: `!(P[0]@crit && P[1]@crit)`.
    pub instance: String,
    /// Its value.
    pub truth: bool,
    /// The bound names and their values, outermost first.
    pub bindings: Vec<(String, Value)>,
    /// Variables and counts of the part, with their values.
    pub values: Vec<(String, String)>,
    /// The processes that the part speaks of.
    pub processes: Vec<ProcessId>,
    /// Whether the part is smaller than the whole.
    pub is_part: bool,
}

/// The part that decides a boolean expression which has the value `truth` in the state.
pub fn why(model: &Model, state: &State, expr: &Expr, truth: bool) -> Why {
    let mut search = Search { view: Viewpoint::new(model, state, None), bindings: Vec::new() };
    let (part, truth, is_part) = search.narrow(expr, truth);
    search.describe(&part, truth, is_part)
}

struct Search<'a> {
    view: Viewpoint<'a>,
    /// The binders passed on the way, with the values of the deciding instance.
    bindings: Vec<(Binding, Value)>,
}

impl Search<'_> {
    /// The deciding part of an expression that has the value `truth`, and whether it is a proper part.
    fn narrow(&mut self, expr: &Expr, truth: bool) -> (Expr, bool, bool) {
        match &expr.kind {
            ExprKind::Quantified(quantified) if decides_alone(quantified.quantifier, truth) => {
                match self.instance(quantified, truth) {
                    Some(values) => {
                        self.bindings.extend(quantified.bindings.iter().cloned().zip(values));
                        let (part, truth, _) = self.narrow(&quantified.body, truth);
                        (part, truth, true)
                    }
                    None => (expr.clone(), truth, false),
                }
            }
            ExprKind::Binary(BinaryOp::And, left, right) if !truth => self.side(left, right, truth),
            ExprKind::Binary(BinaryOp::Or, left, right) if truth => self.side(left, right, truth),
            ExprKind::Not(inner) => match self.narrow(inner, !truth) {
                (part, truth, true) => (part, truth, true),
                _ => (expr.clone(), truth, false),
            },
            _ => (expr.clone(), truth, false),
        }
    }

    /// The side of a connective that alone has the value.
    fn side(&mut self, left: &Expr, right: &Expr, truth: bool) -> (Expr, bool, bool) {
        let deciding = if self.view.truth(left) == Ok(truth) { left } else { right };
        let (part, truth, _) = self.narrow(deciding, truth);
        (part, truth, true)
    }

    /// The values of the first instance whose body has the value; the bound variables stay set to them.
    fn instance(&mut self, quantified: &Quantified, truth: bool) -> Option<Vec<Value>> {
        let outer = self.view.bound.len();
        let found = self.find(quantified, &quantified.bindings, truth);
        match found {
            true => Some(self.view.bound[outer..].to_vec()),
            false => {
                self.view.bound.truncate(outer);
                None
            }
        }
    }

    fn find(&mut self, quantified: &Quantified, bindings: &[Binding], truth: bool) -> bool {
        let Some((binding, inner)) = bindings.split_first() else {
            let meant = quantified.filter.as_ref().is_none_or(|filter| self.view.truth(filter) == Ok(true));
            return meant && self.view.truth(&quantified.body) == Ok(truth);
        };
        let Ok(values) = self.view.domain(&binding.domain) else { return false };
        let depth = self.view.bound.len();
        for value in values {
            self.view.bound.truncate(depth);
            self.view.bound.push(value);
            if self.find(quantified, inner, truth) {
                return true;
            }
        }
        self.view.bound.truncate(depth);
        false
    }

    fn describe(mut self, part: &Expr, truth: bool, is_part: bool) -> Why {
        let model = self.view.model;
        let names = self.bindings.iter().fold(Printer::new(model), |printer, (binding, _)| printer.bind_name(binding));
        let values = self.bindings.iter().fold(Printer::new(model), |printer, &(_, value)| printer.bind_value(value));
        let (mut names, mut values) = (names, values);
        let bindings = self.bindings.iter();
        let bindings = bindings.map(|(binding, value)| (binding.name.clone(), *value)).collect();
        let mut seen = Seen { printer: values.clone(), values: Vec::new(), processes: Vec::new() };
        for (_, value) in &self.bindings {
            seen.note_process(*value);
        }
        self.collect(part, &mut seen);
        let Seen { values: found, processes, .. } = seen;
        Why { text: names.expr(part), instance: values.expr(part), truth, bindings, values: found, processes, is_part }
    }

    /// Notes the variables, counts and processes of an expression with their values; goes into no quantifier.
    fn collect(&mut self, expr: &Expr, seen: &mut Seen<'_>) {
        match &expr.kind {
            ExprKind::Const(_) | ExprKind::Myself | ExprKind::Bound(_) => {}
            ExprKind::Read(access) => {
                self.note(expr, seen);
                self.collect_owner(access, seen);
            }
            ExprKind::At { who, .. } => {
                if let Ok(value) = self.view.value(who) {
                    seen.note_process(value);
                }
            }
            ExprKind::Not(inner) | ExprKind::Negate(inner) => self.collect(inner, seen),
            ExprKind::IndexOf(inner) | ExprKind::ToProcess(_, inner) => self.collect(inner, seen),
            ExprKind::Binary(_, left, right) => {
                self.collect(left, seen);
                self.collect(right, seen);
            }
            ExprKind::If(test, yes, no) => {
                self.collect(test, seen);
                let taken = if self.view.truth(test) == Ok(true) { yes } else { no };
                self.collect(taken, seen);
            }
            ExprKind::Quantified(quantified) => {
                if quantified.quantifier == Quantifier::Count {
                    self.note(expr, seen);
                }
            }
        }
    }

    fn collect_owner(&mut self, access: &Access, seen: &mut Seen<'_>) {
        if let Whose::Of(who) = &access.whose
            && let Ok(value) = self.view.value(who)
        {
            seen.note_process(value);
        }
    }

    fn note(&mut self, expr: &Expr, seen: &mut Seen<'_>) {
        if let Ok(value) = self.view.value(expr) {
            let entry = (seen.printer.expr(expr), short(self.view.model, value));
            if !seen.values.contains(&entry) {
                seen.values.push(entry);
            }
        }
    }
}

/// What was found in an expression.
struct Seen<'a> {
    printer: Printer<'a>,
    values: Vec<(String, String)>,
    processes: Vec<ProcessId>,
}

impl Seen<'_> {
    fn note_process(&mut self, value: Value) {
        if let Value::Process(id) = value
            && !self.processes.contains(&id)
        {
            self.processes.push(id);
        }
    }
}

/// Whether one instance is enough for the quantifier to have the value.
fn decides_alone(quantifier: Quantifier, truth: bool) -> bool {
    matches!((quantifier, truth), (Quantifier::Forall, false) | (Quantifier::Exists, true))
}

/// The variables in an expression of a process's own text, with their values, for that process.
pub fn values_for(model: &Model, state: &State, expr: &Expr, me: ProcessId) -> Vec<(String, String)> {
    let mut search = Search { view: Viewpoint::new(model, state, Some(me)), bindings: Vec::new() };
    // Of a quantified guard that is false, the instance that makes it so.
    let truth = search.view.truth(expr).unwrap_or(false);
    let (part, ..) = search.narrow(expr, truth);
    let bound = search.bindings.iter().fold(Printer::new(model).as_process(me), |p, &(_, value)| p.bind_value(value));
    let mut seen = Seen { printer: bound, values: Vec::new(), processes: Vec::new() };
    search.collect(&part, &mut seen);
    seen.values
}
