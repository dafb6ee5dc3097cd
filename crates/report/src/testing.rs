//! Programs and runs for this crate's tests: models made by hand with a text beside them, verdicts by brute force.

use std::time::Duration;

use base::{SourceFile, Span, StopReason};
use engine::run::{PropertyResult, Run};
use engine::{PropertyId, Statistics, Verdict};
use evidence::{Evidence, Exploration, Trace, TraceEnd};
use model::control::StmtKind;
use model::eval::{evaluate, race};
use model::expr::{BinaryOp, Binding, BoundVar, Domain, Expr, Quantifier};
use model::process::FamilyId;
use model::property::{Expected, PropertyKind};
use model::types::{ScalarType, Type};
use model::value::Value;
use model::variable::Init;
use model::{Model, Parameter};
use testkit::draft::{array_type, range_type};
use testkit::expr::*;
use testkit::samples::add_property;
use testkit::text::*;
use testkit::{Draft, Product};

/// A binder over a family, by name.
pub fn over(depth: u32, name: &str, family: FamilyId) -> Binding {
    Binding { var: BoundVar(depth), name: name.to_owned(), domain: Domain::Family(family) }
}

/// `forall i != j: !(P[i]@label && P[j]@label)`
pub fn mutual_exclusion(model: &Model, label: &str) -> Expr {
    let family = FamilyId::new(0);
    let places: Vec<_> =
        model.places.entries().filter(|(_, place)| place.labels.iter().any(|l| l == label)).map(|(id, _)| id).collect();
    let at = |who| standing(bound(who), places.clone(), &[label]);
    let both = not(binary(BinaryOp::And, at(0), at(1)));
    let distinct = binary(BinaryOp::NotEqual, bound(0), bound(1));
    filtered(Quantifier::Forall, vec![over(0, "i", family), over(1, "j", family)], Some(distinct), both)
}

/// Gives statements and properties their places in a text: the first line that contains each.
pub fn with_text(mut model: Model, name: &str, text: &str) -> (Model, SourceFile) {
    model.name = name.to_owned();
    let find = |part: &str| text.find(part).map(|at| Span::new(at, at + part.len())).unwrap_or_default();
    for statement in model.statements.iter_mut() {
        statement.span = find(&statement.text);
    }
    for property in model.properties.iter_mut() {
        property.span = find(&format!(" {}:", property.name));
    }
    (model, SourceFile::new(format!("{name}.pw"), text))
}

/// Adds a parameter.
pub fn with_parameter(model: &mut Model, name: &str, value: i64, given: bool) {
    model.parameters.push(Parameter { name: name.to_owned(), value, given });
}

/// Answers every property by brute force; temporal ones are not answered.
pub fn answered(model: Model, source: SourceFile) -> Run {
    let product = Product::explore(&model, 100_000).unwrap();
    let results = model.properties.ids().map(|property| answer(&model, &product, property)).collect();
    Run { source, model, warnings: Vec::new(), results, time: Duration::from_millis(12) }
}

fn answer(model: &Model, product: &Product, property: PropertyId) -> PropertyResult {
    let kind = &model.properties[property].kind;
    let end_at = |at: usize| -> Option<TraceEnd> {
        let state = &product.states[at];
        let is = |expr, wanted| evaluate(model, state, expr, None) == Ok(Value::Bool(wanted));
        match kind {
            PropertyKind::Invariant(expr) => is(expr, false).then_some(TraceEnd::State),
            PropertyKind::Reachable(expr) => is(expr, true).then_some(TraceEnd::State),
            PropertyKind::NoErrors => {
                product.faults[at].first().map(|(by, fault)| TraceEnd::Fault { by: *by, fault: fault.clone() })
            }
            PropertyKind::DeadlockFree => product.deadlocks.contains(&at).then_some(TraceEnd::Deadlock),
            PropertyKind::RaceFree(var) => race(model, state, *var).map(TraceEnd::Race),
            PropertyKind::Temporal(_) => None,
        }
    };
    let found = (0..product.states.len()).find_map(|at| Some((at, end_at(at)?)));
    let trace = found.map(|(at, end)| {
        let (states, moves) = product.run_to(at);
        Trace { states, moves, end, loop_from: None }
    });
    let seen = Exploration {
        states: product.states.len() as u64,
        transitions: product.n_transitions() as u64,
        deadlocks: product.deadlocks.len() as u64,
        errors: product.n_faults() as u64,
        depth: product.depth() as u64,
        complete: true,
    };
    let verdict = match (kind, trace) {
        (PropertyKind::Temporal(_), _) => Verdict::Unknown(StopReason::NotSupported("no method answers it".to_owned())),
        (PropertyKind::Reachable(_), Some(trace)) => Verdict::Holds(Evidence::Trace(trace)),
        (PropertyKind::Reachable(_), None) => Verdict::Violated(Evidence::Exploration(seen.clone())),
        (_, Some(trace)) => Verdict::Violated(Evidence::Trace(trace)),
        (_, None) => Verdict::Holds(Evidence::Exploration(seen.clone())),
    };
    let statistics = Statistics {
        time: Duration::from_millis(4),
        peak_memory_bytes: Some(123_456),
        global_states: Some(seen.states),
        global_transitions: Some(seen.transitions),
        depth: Some(seen.depth),
        ..Statistics::default()
    };
    PropertyResult { property, method: "mono", verdict, audited: true, statistics }
}

/// Test, then set: two steps where one is needed.
pub fn broken_lock(n_processes: usize) -> Run {
    let mut draft = Draft::new();
    let p = draft.family("P", n_processes);
    let flag = draft.shared("flag", array_type(Type::Scalar(ScalarType::Bool), n_processes), Init::First);
    let flag_of = |who| element(shared(flag), index_of(who));
    let nobody = not(read(flag_of(bound(0))));
    let distinct = binary(BinaryOp::NotEqual, bound(0), me());
    let nobody = filtered(Quantifier::Forall, vec![over(0, "k", p)], Some(distinct), nobody);
    draft.text(
        p,
        vec![Text::Loop(vec![
            skip().label("noncrit"),
            wait(nobody).label("test"),
            assign(flag_of(me()), truth(true)).label("set"),
            skip().label("crit"),
            assign(flag_of(me()), truth(false)).label("leave"),
        ])],
    );
    let mut model = draft.finish();
    with_parameter(&mut model, "N", n_processes as i64, true);
    let mutex = mutual_exclusion(&model, "crit");
    add_property(&mut model, "mutex", PropertyKind::Invariant(mutex));
    let text = "/// Test, then set.
program broken_lock(N: 2..) {
  shared flag: [bool; N];

  process P[i in 0..<N] {
    loop {
      noncrit: skip;
      test:    await forall k != i: !flag[k];
      set:     flag[i] = true;
      crit:    skip;
      leave:   flag[i] = false;
    }
  }

  invariant mutex: forall i != j: !(P[i]@crit && P[j]@crit);
}
";
    let (model, source) = with_text(model, "broken_lock", text);
    answered(model, source)
}

/// Mutual exclusion by one semaphore, with a state that is reached, one that is not, and a wrong expectation.
pub fn mux_sem(n_processes: usize) -> Run {
    let mut draft = Draft::new();
    let p = draft.family("P", n_processes);
    let x = draft.shared("x", Type::Scalar(ScalarType::Semaphore { max: 1 }), Init::Fill(int(1)));
    draft.text(
        p,
        vec![Text::Loop(vec![
            skip().label("noncrit"),
            atomic(vec![stmt(StmtKind::Acquire(shared(x)))]).label("trying"),
            skip().label("crit"),
            atomic(vec![stmt(StmtKind::Release(shared(x)))]).label("leave"),
        ])],
    );
    let mut model = draft.finish();
    with_parameter(&mut model, "N", n_processes as i64, false);
    let mutex = mutual_exclusion(&model, "crit");
    add_property(&mut model, "mutex", PropertyKind::Invariant(mutex.clone()));
    add_property(&mut model, "deadlock_free", PropertyKind::DeadlockFree);
    add_property(&mut model, "clash", PropertyKind::Reachable(not(mutex.clone())));
    let odd = add_property(&mut model, "odd", PropertyKind::Invariant(mutex));
    model.properties[odd].expected = Expected::Violated;
    let taken = equal(read(shared(x)), int(0));
    add_property(&mut model, "taken", PropertyKind::Reachable(taken));
    let text = "program mux_sem(N: 2..) {
  shared x: sem = 1;
  process P[i in 0..<N] {
    loop {
      noncrit: skip;
      trying:  acquire x;
      crit:    skip;
      leave:   release x;
    }
  }
  invariant mutex: forall i != j: !(P[i]@crit && P[j]@crit);
  reachable clash: !(forall i != j: !(P[i]@crit && P[j]@crit));
  invariant odd: forall i != j: !(P[i]@crit && P[j]@crit) expect violated;
  reachable taken: x == 0;
}
";
    let (model, source) = with_text(model, "mux_sem", text);
    answered(model, source)
}

/// Philosophers who all take the left fork first.
pub fn philosophers(n_processes: usize) -> Run {
    let mut draft = Draft::new();
    let phil = draft.family("Phil", n_processes);
    let fork = draft.shared(
        "fork",
        array_type(Type::Scalar(ScalarType::Semaphore { max: 1 }), n_processes),
        Init::Fill(int(1)),
    );
    let right = binary(BinaryOp::Remainder, add(index_of(me()), int(1)), int(n_processes as i64));
    let (left, right) = (element(shared(fork), index_of(me())), element(shared(fork), right));
    let acquire = |access| atomic(vec![stmt(StmtKind::Acquire(access))]);
    let release = |access| atomic(vec![stmt(StmtKind::Release(access))]);
    draft.text(
        phil,
        vec![Text::Loop(vec![
            acquire(left.clone()).label("think"),
            acquire(right.clone()).label("half"),
            release(right).label("eat"),
            release(left).label("done"),
        ])],
    );
    let mut model = draft.finish();
    with_parameter(&mut model, "N", n_processes as i64, true);
    add_property(&mut model, "deadlock_free", PropertyKind::DeadlockFree);
    let text = "program philosophers(N: 2..) {\n  shared fork: [sem; N] = 1;\n  // …\n}\n";
    let (model, source) = with_text(model, "philosophers", text);
    answered(model, source)
}

/// Two processes that add to one counter of three values; nobody stops them.
pub fn counter() -> Run {
    let mut draft = Draft::new();
    let p = draft.family("P", 2);
    let x = draft.shared("x", range_type(0, 2), Init::First);
    let t = draft.local(p, "t", range_type(0, 7), Init::First);
    draft.text(
        p,
        vec![Text::Loop(vec![
            assign(mine(t), add(read(mine(t)), int(1))).label("count"),
            assign(shared(x), add(read(shared(x)), read(mine(t)))).label("add"),
        ])],
    );
    let mut model = draft.finish();
    add_property(&mut model, "race_free x", PropertyKind::RaceFree(x));
    add_property(&mut model, "no_errors", PropertyKind::NoErrors);
    let text = "program counter {
  shared x: 0..=2;
  process P[i in 0..<2] {
    local t: 0..=7;
    loop {
      count: t = t + 1;
      add:   x = x + t;
    }
  }
  race_free x;
}
";
    let (mut model, source) = with_text(model, "counter", text);
    // The fault is at the statement's target.
    let at = text.find("x = x + t").unwrap();
    for action in model.actions.iter_mut() {
        for stmt in &mut action.body {
            if let StmtKind::Assign(pairs) = &mut stmt.kind
                && pairs[0].0.var == x
            {
                pairs[0].0.span = Span::new(at, at + 1);
            }
        }
    }
    answered(model, source)
}

/// A model without a text: every line is line 1.
pub fn without_text(model: &Model) -> Option<Run> {
    let mut model = model.clone();
    model.name = "random".to_owned();
    let first = FamilyId::new(0);
    let PropertyExpressions { always, sometimes } = expressions(&model, first);
    add_property(&mut model, "always", PropertyKind::Invariant(always));
    add_property(&mut model, "sometimes", PropertyKind::Reachable(sometimes));
    add_property(&mut model, "no_errors", PropertyKind::NoErrors);
    add_property(&mut model, "deadlock_free", PropertyKind::DeadlockFree);
    let var = model.cells.iter().find(|cell| cell.owner.is_none()).map(|cell| cell.var);
    if let Some(var) = var {
        add_property(&mut model, "race_free", PropertyKind::RaceFree(var));
    }
    Product::explore(&model, 300)?;
    Some(answered(model, SourceFile::new("random.pw", "")))
}

struct PropertyExpressions {
    always: Expr,
    sometimes: Expr,
}

/// Somebody is not at the end; nobody is where it starts.
fn expressions(model: &Model, family: FamilyId) -> PropertyExpressions {
    let end = model.families[family].end;
    let at_end = standing(bound(0), vec![end], &["end"]);
    let all = filtered(Quantifier::Forall, vec![over(0, "i", family)], None, not(at_end.clone()));
    let some = filtered(Quantifier::Exists, vec![over(0, "i", family)], None, at_end);
    PropertyExpressions { always: binary(BinaryOp::And, truth(true), all), sometimes: some }
}

#[test]
fn random_programs_are_shown_within_their_columns() {
    use crate::style::Style;
    use crate::text::width;
    testkit::for_each_program(120, testkit::Shape::everything(), |_, model| {
        let Some(run) = without_text(model) else { return Ok(()) };
        for (columns, ascii) in [(80, false), (70, true)] {
            let style = Style { width: columns, ascii, color: false };
            let text = crate::human::run(&run, &crate::Context::default(), &style);
            let fits = |line: &&str| width(line) <= columns || line.contains("piecewise ");
            if let Some(wide) = text.lines().find(|line| !fits(line)) {
                return Err(format!("a line of {} columns: {wide}", width(wide)));
            }
        }
        let document = crate::json::document(&[(&run, &crate::json::TraceFiles::new())]);
        let results = document["results"].as_array().map_or(0, Vec::len);
        if results == run.results.len() { Ok(()) } else { Err("a result is missing".to_owned()) }
    });
}
