//! Why an expression is false (or true) in a state: which part, for which values of the bound names.
//!
//! In: a state and a boolean expression with its value. Out: the smallest part that decides it. A `forall` that fails is
//! stripped and its failing instance named; of a conjunction that fails the failing side is taken; and dually. An implication
//! that fails has two parts, why its left side is true and why its right side is false. What cannot be stripped is shown as it
//! is, with the values of the variables in it.

use model::Model;
use model::eval::{State, Viewpoint};
use model::expr::{Access, BinaryOp, Binding, Expr, ExprKind, Quantified, Quantifier, Whose};
use model::print::{Printer, SetTerm};
use model::process::ProcessId;
use model::value::Value;
use model::variable::VariableLook;

use crate::bundle;
use crate::lengths::lengths_as_written;
use crate::names::short;
use crate::totals::as_written;
use crate::waiting::locate;

/// The part that decides an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecidingPart {
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

/// The parts that together decide a boolean expression which has the value `truth` in the state; most often one.
pub fn why(model: &Model, state: &State, expr: &Expr, truth: bool) -> Vec<DecidingPart> {
    let search = ReasonSearch { view: Viewpoint::new(model, state, None), bindings: Vec::new() };
    let (parts, is_part) = search.narrow(expr, truth);
    parts.into_iter().map(|(search, part, truth)| search.describe(&part, truth, is_part)).collect()
}

/// A deciding part: under which bindings, which expression, with which value.
type PartUnderBindings<'a> = (ReasonSearch<'a>, Expr, bool);

#[derive(Clone)]
struct ReasonSearch<'a> {
    view: Viewpoint<'a>,
    /// The binders passed on the way, with the values of the deciding instance.
    bindings: Vec<(Binding, Value)>,
}

impl<'a> ReasonSearch<'a> {
    /// The deciding parts of an expression that has the value `truth`, and whether they are less than the whole.
    fn narrow(mut self, expr: &Expr, truth: bool) -> (Vec<PartUnderBindings<'a>>, bool) {
        let whole = |search: ReasonSearch<'a>| (vec![(search, expr.clone(), truth)], false);
        match &expr.kind {
            ExprKind::Quantified(quantified)
                if decides_alone(quantified.quantifier, truth)
                    && SetTerm::of(self.view.model, quantified).is_none() =>
            {
                match self.instance(quantified, truth) {
                    Some(values) => {
                        self.bindings.extend(quantified.bindings.iter().cloned().zip(values));
                        (self.narrow(&quantified.body, truth).0, true)
                    }
                    None => whole(self),
                }
            }
            ExprKind::Binary(op, left, right) => match (op, truth) {
                (BinaryOp::And, false) | (BinaryOp::Or, true) => {
                    let deciding = if self.view.truth(left) == Ok(truth) { left } else { right };
                    (self.narrow(deciding, truth).0, true)
                }
                (BinaryOp::And, true) | (BinaryOp::Or, false) => self.both((left, truth), (right, truth), whole),
                (BinaryOp::Implies, false) => self.both((left, true), (right, false), whole),
                _ => whole(self),
            },
            ExprKind::Not(inner) => match self.clone().narrow(inner, !truth) {
                (parts, true) => (parts, true),
                (_, false) => whole(self),
            },
            _ => whole(self),
        }
    }

    /// The parts of both sides, if one of them can be narrowed; otherwise the whole.
    fn both(
        self,
        left: (&Expr, bool),
        right: (&Expr, bool),
        whole: impl FnOnce(Self) -> (Vec<PartUnderBindings<'a>>, bool),
    ) -> (Vec<PartUnderBindings<'a>>, bool) {
        let (mut parts, left_narrowed) = self.clone().narrow(left.0, left.1);
        let (others, right_narrowed) = self.clone().narrow(right.0, right.1);
        if !left_narrowed && !right_narrowed {
            return whole(self);
        }
        parts.extend(others);
        (parts, true)
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

    fn describe(mut self, part: &Expr, truth: bool, is_part: bool) -> DecidingPart {
        let model = self.view.model;
        let names = self.bindings.iter().fold(Printer::new(model), |printer, (binding, _)| printer.bind_name(binding));
        let values = self.bindings.iter().fold(Printer::new(model), |printer, &(_, value)| printer.bind_value(value));
        let (mut names, mut values) = (names, values);
        let bindings = self.bindings.iter();
        let bindings = bindings.map(|(binding, value)| (binding.name.clone(), *value)).collect();
        let mut seen = ExpressionFindings { printer: values.clone(), values: Vec::new(), processes: Vec::new() };
        for (_, value) in &self.bindings {
            seen.note_process(*value);
        }
        self.collect(part, &mut seen);
        let ExpressionFindings { values: found, processes, .. } = seen;
        let written = |text: &str| lengths_as_written(model, &as_written(text));
        let (text, instance) = (written(&names.expr(part)), written(&values.expr(part)));
        DecidingPart { text, instance, truth, bindings, values: found, processes, is_part }
    }

    /// Notes the variables, counts and processes of an expression with their values; goes into no quantifier.
    fn collect(&mut self, expr: &Expr, seen: &mut ExpressionFindings<'_>) {
        match &expr.kind {
            ExprKind::Const(_) | ExprKind::Parameter(_) | ExprKind::Myself | ExprKind::Bound(_) => {}
            ExprKind::Read(access) => {
                match &self.view.model.vars[access.var].look {
                    VariableLook::ChannelLength(_) => self.note_content(access, seen),
                    _ => self.note(expr, seen),
                }
                self.collect_owner(access, seen);
            }
            ExprKind::At { who, .. } => {
                if let Ok(value) = self.view.value(who) {
                    seen.note_process(value);
                }
            }
            ExprKind::Not(inner) | ExprKind::Negate(inner) => self.collect(inner, seen),
            ExprKind::IndexOf(inner) | ExprKind::ToProcess(_, inner) => self.collect(inner, seen),
            // The lower bound of a minimum or maximum belongs to it.
            ExprKind::Binary(BinaryOp::Add, _, right) if is_level(right) => self.note(expr, seen),
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
                } else if let Some(term) = SetTerm::of(self.view.model, quantified) {
                    term.sets().into_iter().for_each(|set| self.note_set(set, seen));
                }
            }
        }
    }

    fn collect_owner(&mut self, access: &Access, seen: &mut ExpressionFindings<'_>) {
        if let Whose::Of(who) = &access.whose
            && let Ok(value) = self.view.value(who)
        {
            seen.note_process(value);
        }
    }

    /// Notes what a set holds; the access is that of one possible element.
    fn note_set(&mut self, element: &Access, seen: &mut ExpressionFindings<'_>) {
        let first = Expr { kind: ExprKind::Const(Value::Int(0)), span: element.span };
        let mut indices = element.indices.clone();
        indices.pop();
        indices.push(first);
        self.note_content(&Access { indices, ..element.clone() }, seen);
    }

    /// Notes the content of what a cell is a part of: a set, or a channel.
    fn note_content(&mut self, access: &Access, seen: &mut ExpressionFindings<'_>) {
        let cell = locate(self.view.model, &mut self.view, access);
        let content = cell.and_then(|cell| bundle::content_of(self.view.model, self.view.state, cell));
        seen.values.extend(content.filter(|entry| !seen.values.contains(entry)));
    }

    fn note(&mut self, expr: &Expr, seen: &mut ExpressionFindings<'_>) {
        if let Ok(value) = self.view.value(expr) {
            let entry = (as_written(&seen.printer.expr(expr)), short(self.view.model, value));
            if !seen.values.contains(&entry) {
                seen.values.push(entry);
            }
        }
    }
}

/// What was found in an expression.
struct ExpressionFindings<'a> {
    printer: Printer<'a>,
    values: Vec<(String, String)>,
    processes: Vec<ProcessId>,
}

impl ExpressionFindings<'_> {
    fn note_process(&mut self, value: Value) {
        if let Value::Process(id) = value
            && !self.processes.contains(&id)
        {
            self.processes.push(id);
        }
    }
}

/// Whether an expression counts the levels that a minimum or maximum is made of.
fn is_level(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Quantified(counted) => matches!(&counted.bindings[..], [only] if only.name == "#"),
        _ => false,
    }
}

/// Whether one instance is enough for the quantifier to have the value.
fn decides_alone(quantifier: Quantifier, truth: bool) -> bool {
    matches!((quantifier, truth), (Quantifier::Forall, false) | (Quantifier::Exists, true))
}

/// The variables in an expression of a process's own text, with their values, for that process.
pub fn values_for(model: &Model, state: &State, expr: &Expr, me: ProcessId) -> Vec<(String, String)> {
    let mut search = ReasonSearch { view: Viewpoint::new(model, state, Some(me)), bindings: Vec::new() };
    // Of a quantified guard that is false, the instance that makes it so.
    let truth = search.view.truth(expr).unwrap_or(false);
    let mut values = Vec::new();
    for (mut search, part, _) in search.narrow(expr, truth).0 {
        let printer = Printer::new(model).as_process(me);
        let printer = search.bindings.iter().fold(printer, |printer, &(_, value)| printer.bind_value(value));
        let mut seen = ExpressionFindings { printer, values: Vec::new(), processes: Vec::new() };
        search.collect(&part, &mut seen);
        values.extend(seen.values.into_iter().filter(|entry| !values.contains(entry)).collect::<Vec<_>>());
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::expr::Domain;
    use model::process::FamilyId;
    use model::types::{ScalarType, Type};
    use model::variable::{Init, VarId};
    use testkit::Draft;
    use testkit::draft::{array_type, range_type};
    use testkit::expr::*;
    use testkit::text::skip;

    use model::expr::BoundVar;

    /// A binder over a family, by name.
    fn over(depth: u32, name: &str, family: FamilyId) -> Binding {
        Binding { var: BoundVar(depth), name: name.to_owned(), domain: Domain::Family(family) }
    }

    /// The deciding part in a state with `x = 2`, `flag = [true, false]`.
    fn check(make: impl Fn(VarId, VarId, FamilyId) -> Expr, truth: bool, expected: &str) {
        let mut draft = Draft::new();
        let p = draft.family("P", 2);
        let x = draft.shared("x", range_type(0, 3), Init::Fill(int(2)));
        let values = vec![Init::Fill(testkit::expr::truth(true)), Init::Fill(testkit::expr::truth(false))];
        let flag = draft.shared("flag", array_type(Type::Scalar(ScalarType::Bool), 2), Init::Elements(values));
        draft.text(p, vec![skip()]);
        let model = draft.finish();
        let state = model::eval::initial_states(&model).next().unwrap();
        let expr = make(x, flag, p);
        assert_eq!(model::eval::evaluate(&model, &state, &expr, None), Ok(Value::Bool(truth)));
        let shown = why(&model, &state, &expr, truth).into_iter().map(|why| {
            let bound: Vec<String> =
                why.bindings.iter().map(|(name, v)| format!("{name}={}", short(&model, *v))).collect();
            let values: Vec<String> = why.values.iter().map(|(name, v)| format!("{name} is {v}")).collect();
            format!("{} [{}] {} | {}", why.text, bound.join(","), why.truth, values.join(", "))
        });
        assert_eq!(shown.collect::<Vec<_>>().join("; "), expected);
    }

    fn flagged(flag: VarId, depth: u32) -> Expr {
        read(element(shared(flag), index_of(bound(depth))))
    }

    #[test]
    fn the_failing_conjunct_is_found() {
        let conjunction = |x: VarId| {
            let small = binary(BinaryOp::Less, read(shared(x)), int(2));
            binary(BinaryOp::And, binary(BinaryOp::And, truth(true), small), truth(true))
        };
        check(|x, _, _| conjunction(x), false, "x < 2 [] false | x is 2");
        check(|x, _, _| not(conjunction(x)), true, "x < 2 [] false | x is 2");
    }

    #[test]
    fn the_failing_instance_is_named() {
        let all = |flag, p| filtered(Quantifier::Forall, vec![over(0, "i", p)], None, flagged(flag, 0));
        check(|_, flag, p| all(flag, p), false, "flag[i] [i=1] false | flag[1] is F");
        check(|_, flag, p| not(all(flag, p)), true, "flag[i] [i=1] false | flag[1] is F");
        let pair = |flag, p: FamilyId| {
            let both = binary(BinaryOp::Implies, flagged(flag, 0), flagged(flag, 1));
            let distinct = binary(BinaryOp::NotEqual, bound(0), bound(1));
            filtered(Quantifier::Forall, vec![over(0, "i", p), over(1, "j", p)], Some(distinct), both)
        };
        let expected = "flag[i] => flag[j] [i=0,j=1] false | flag[0] is T, flag[1] is F";
        check(|_, flag, p| pair(flag, p), false, expected);
    }

    #[test]
    fn both_sides_of_an_implication_are_explained() {
        let some = |flag, p| filtered(Quantifier::Exists, vec![over(0, "i", p)], None, flagged(flag, 0));
        let all = |flag, p| filtered(Quantifier::Forall, vec![over(0, "j", p)], None, flagged(flag, 0));
        let expected = "flag[i] [i=0] true | flag[0] is T; flag[j] [j=1] false | flag[1] is F";
        check(|_, flag, p| binary(BinaryOp::Implies, some(flag, p), all(flag, p)), false, expected);
    }

    #[test]
    fn what_cannot_be_stripped_stays_whole() {
        let none = |x: VarId| {
            let equals = equal(read(shared(x)), bound(0));
            let binding = Binding { var: BoundVar(0), name: "v".to_owned(), domain: range(0, 1) };
            filtered(Quantifier::Exists, vec![binding], None, equals)
        };
        check(|x, _, _| none(x), false, "exists v in 0..=1: x == v [] false | ");
        check(|x, _, _| not(none(x)), true, "!(exists v in 0..=1: x == v) [] true | ");
        let few = |flag, p| {
            let count = quantified(Quantifier::Count, 0, Domain::Family(p), flagged(flag, 0));
            binary(BinaryOp::GreaterEqual, count, int(2))
        };
        check(|_, flag, p| few(flag, p), false, "count(q0: flag[q0]) >= 2 [] false | count(q0: flag[q0]) is 1");
    }
}
