//! Programs and runs for this crate's tests; verdicts by brute force.

use std::path::Path;
use std::time::Duration;

use base::{Budget, SourceFile};
use engine::insight::Insight;
use engine::run::{Audit, PropertyResult, Run};
use engine::{PropertyId, Statistics, Verdict};
use evidence::{Evidence, Exploration, Trace, TraceEnd};
use explain::Explained;
use model::Model;
use model::eval::{evaluate, race};
use model::expr::{BinaryOp, Binding, BoundVar, Domain, Expr, Quantifier};
use model::process::FamilyId;
use model::property::PropertyKind;
use model::value::Value;
use testkit::Product;
use testkit::expr::*;
use testkit::samples::add_property;

/// Compares what is shown with the file of this name in `tests/shown`; `BLESS=1` writes it anew.
#[track_caller]
pub fn assert_shown(name: &str, text: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/shown");
    testkit::blessed::assert_same(&folder.join(format!("{name}.txt")), text);
}

/// The run, explained without limits.
pub fn explained(run: &Run) -> Explained {
    Explained::new(run.clone(), &Budget::unlimited())
}

/// A program with all its properties answered; `N` is given where it is not 0.
pub fn program(name: &str, text: &str, size: i64) -> Run {
    let source = SourceFile::new(name, text);
    let given = if size == 0 { Vec::new() } else { vec![("N".to_owned(), size)] };
    match lang::load(&source, &given) {
        Ok(loaded) => answered(loaded.model, source),
        Err(refused) => panic!("{}", crate::diagnostics::draw(&source, &refused, &crate::Style::default())),
    }
}

/// Answers every property by brute force; temporal ones are not answered.
pub fn answered(model: Model, source: SourceFile) -> Run {
    let product = Product::explore(&model, 100_000).expect("the program is small");
    let results = model.properties.ids().map(|property| answer(&model, &product, property)).collect();
    Run {
        source,
        model,
        warnings: Vec::new(),
        results,
        time: Duration::from_millis(12),
        processor_time: None,
        method: "mono",
    }
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
                product.faults[at].first().map(|(by, fault)| TraceEnd::Fault { by: by.clone(), fault: fault.clone() })
            }
            PropertyKind::DeadlockFree => product.deadlocks.contains(&at).then_some(TraceEnd::Deadlock),
            PropertyKind::RaceFree(var) => race(model, state, *var).map(TraceEnd::Race),
            PropertyKind::Temporal(_) => None,
        }
    };
    let found = (0..product.states.len()).find_map(|at| Some((at, end_at(at)?)));
    let trace = found.map(|(at, end)| {
        let (states, moves) = product.run_to(at);
        Trace::finite(states, moves, end)
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
        (PropertyKind::Temporal(_), _) => Verdict::Unknown(base::Feature::Temporal.into()),
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
    PropertyResult {
        property,
        method: "mono",
        verdict,
        audit: Audit::Accepted,
        statistics,
        insight: Insight::default(),
        denied: Vec::new(),
    }
}

const BROKEN_LOCK: &str = "/// Test, then set.
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

/// Test, then set: two steps where one is needed.
pub fn broken_lock(n_processes: i64) -> Run {
    only(program("broken_lock.pw", BROKEN_LOCK, n_processes), &["mutex"])
}

/// The same with too many processes for brute force; the counterexample is taken step by step.
pub fn large_broken_lock(n_processes: i64) -> Run {
    let source = SourceFile::new("broken_lock.pw", BROKEN_LOCK);
    let model = lang::load(&source, &[("N".to_owned(), n_processes)]).unwrap().model;
    let trace = walk(&model, &[3, 3, 7, 7, 3, 7]);
    let property = model.properties.entries().find(|(_, property)| property.name == "mutex").unwrap().0;
    let verdict = Verdict::Violated(Evidence::Trace(trace));
    let (audit, statistics, insight) = (Audit::Accepted, Statistics::default(), Insight::default());
    let result = PropertyResult { property, method: "mono", verdict, audit, statistics, insight, denied: Vec::new() };
    Run {
        source,
        model,
        warnings: Vec::new(),
        results: vec![result],
        time: Duration::from_millis(12),
        processor_time: None,
        method: "mono",
    }
}

/// The first steps of these processes, one after the other.
pub fn walk(model: &Model, movers: &[usize]) -> Trace {
    let mut state = model::eval::initial_states(model).next().unwrap();
    let (mut states, mut moves) = (vec![state.clone()], Vec::new());
    for &mover in movers {
        let steps = model::eval::steps_of(model, &state, model::process::ProcessId::new(mover));
        state = steps[0].result.clone().unwrap();
        moves.push(steps[0].by.clone());
        states.push(state.clone());
    }
    Trace::finite(states, moves, TraceEnd::State)
}

/// Mutual exclusion by one semaphore, with a state that is reached, one that is not, and a wrong expectation.
pub fn mux_sem(n_processes: i64) -> Run {
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
  deadlock_free;
  reachable clash: exists i != j: P[i]@crit && P[j]@crit;
  invariant odd: forall i != j: !(P[i]@crit && P[j]@crit) expect violated;
  reachable taken: x == 0;
}
";
    only(program("mux_sem.pw", text, n_processes), &["mutex", "deadlock_free", "clash", "odd", "taken"])
}

/// Philosophers that all take the left fork first.
pub fn philosophers(n_processes: i64) -> Run {
    let text = "program philosophers(N: 2..) {
  shared fork: [sem; N] = 1;
  process Phil[i in 0..<N] {
    loop {
      think: acquire fork[i];
      half:  acquire fork[(i + 1) % N];
      eat:   release fork[(i + 1) % N];
      done:  release fork[i];
    }
  }
}
";
    only(program("philosophers.pw", text, n_processes), &["deadlock_free"])
}

/// Two processes that add to one counter of three values, without a bound.
pub fn counter() -> Run {
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
    only(program("counter.pw", text, 0), &["race_free x", "no_errors"])
}

/// The run with these results only, in this order.
fn only(mut run: Run, names: &[&str]) -> Run {
    let position =
        |result: &PropertyResult| names.iter().position(|name| *name == run.model.properties[result.property].name);
    let mut kept: Vec<(usize, PropertyResult)> =
        run.results.iter().filter_map(|result| Some((position(result)?, result.clone()))).collect();
    kept.sort_by_key(|(at, _)| *at);
    assert_eq!(kept.len(), names.len());
    run.results = kept.into_iter().map(|(_, result)| result).collect();
    run
}

/// A lock that is taken twice, one that another process has, a condition that never comes, a process that has ended.
pub fn stuck() -> Run {
    let text = "program stuck {
  shared m: lock;
  shared x: 0..=3;
  process A { once: acquire m; again: acquire m; }
  process B { take: acquire m; }
  process C { wait: await x > 2; }
  process D { set: x = 1; }
}
";
    only(program("stuck.pw", text, 0), &["deadlock_free"])
}

/// A binder over a family, by name.
pub fn over(depth: u32, name: &str, family: FamilyId) -> Binding {
    Binding { var: BoundVar(depth), name: name.to_owned(), domain: Domain::Family(family) }
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

/// Some process is not at the end; no process is where it starts.
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
    testkit::for_each_program(120, testkit::RandomFeatures::everything(), |_, model| {
        let Some(run) = without_text(model) else { return Ok(()) };
        let run = explained(&run);
        for (columns, ascii) in [(80, false), (70, true)] {
            let style = Style { width: columns, ascii, color: false };
            let text = crate::human::run(&run, &crate::Context::default(), &style);
            let fits = |line: &&str| width(line) <= columns || line.contains("piecewise ");
            if let Some(wide) = text.lines().find(|line| !fits(line)) {
                return Err(format!("a line of {} columns: {wide}", width(wide)));
            }
        }
        // However narrow the terminal: something is shown.
        let narrow = Style { width: 1, ascii: false, color: true };
        let verbose = crate::Context { verbosity: crate::Verbosity::Verbose, ..crate::Context::default() };
        if crate::human::run(&run, &verbose, &narrow).is_empty() {
            return Err("nothing is shown".to_owned());
        }
        let document = crate::json::document(&[crate::Item::Checked(&run, &crate::Files::default())], 0);
        let results = document.runs[0].results.len();
        if results == run.results.len() { Ok(()) } else { Err("a result is missing".to_owned()) }
    });
}

/// A run that goes round: P[0] enters and leaves while P[1] tries.
pub fn lasso() -> (Run, Trace) {
    let run = mux_sem(2);
    let trace = Trace { loop_from: Some(1), ..walk(&run.model, &[1, 0, 0, 0, 0]) };
    assert_eq!(trace.states[1], trace.states[5]);
    (run, trace)
}

#[test]
fn the_examples_are_shown_within_eighty_columns() {
    use crate::text::width;
    let mut n_shown = 0;
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|suffix| suffix != "pw") {
            continue;
        }
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let source = SourceFile::new(&name, std::fs::read_to_string(&path).unwrap());
        let Ok(loaded) = lang::load(&source, &[]) else { panic!("{name} is refused") };
        if Product::explore(&loaded.model, 2000).is_none() {
            continue;
        }
        n_shown += 1;
        let text = crate::human::run(
            &explained(&answered(loaded.model, source)),
            &crate::Context::default(),
            &crate::Style::default(),
        );
        let fits = |line: &&str| width(line) <= 80 || line.contains("piecewise ");
        assert_eq!(text.lines().find(|line| !fits(line)), None, "{text}");
        if std::env::var("PIECEWISE_SHOW").is_ok() {
            println!("{text}");
        }
    }
    assert!(n_shown > 20, "only {n_shown} examples are small enough");
}
