//! Whatever `schedules` finds is a real run, of the random programs that brute force knows whole; and it finds what few processes or simple schedulers do, at sizes that no search reaches.

use std::cell::Cell;

use audit::replay;
use base::{Budget, Coarse, SourceFile, StopReason};
use engine::{Answer, Engine, Silent, Task, Verdict};
use evidence::{Evidence, Trace, TraceEnd};
use model::Model;
use model::property::PropertyKind;
use product::Schedules;
use testkit::temporal::with_temporal;
use testkit::{Product, RandomFeatures, for_each_program};

use crate::search::with_questions;

/// Random programs with larger products are left out.
const MAX_STATES: usize = 60;

fn answers(model: &Model) -> Vec<Answer> {
    let properties = model.properties.ids().collect();
    let task = Task { model, properties, budget: Budget::unlimited(), n_threads: 1 };
    let mut method = Schedules::default();
    // Enough for what is looked for here.
    method.config.steps_each = 8;
    method.config.more_steps = 100;
    method.run(&task, &Silent).unwrap()
}

/// The run in an answer; `None` where none was found.
fn run_of(answer: &Answer) -> Option<&Trace> {
    match &answer.verdict {
        Verdict::Violated(Evidence::Trace(trace)) | Verdict::Holds(Evidence::Trace(trace)) => Some(trace),
        Verdict::Unknown(StopReason::TooCoarse(Coarse::SomeRuns)) => None,
        other => panic!("nothing but a run is an answer: {other:?}"),
    }
}

#[test]
fn runs_are_real_ones_and_violations_of_small_programs_are_mostly_found() {
    for shape in [RandomFeatures::everything(), RandomFeatures::beyond_texts()] {
        let (n_found, n_missed) = (Cell::new(0), Cell::new(0));
        for_each_program(60, RandomFeatures { n_statements: 3, ..shape }, |_, model| {
            let Some(product) = Product::explore(model, MAX_STATES) else { return Ok(()) };
            let asked =
                with_temporal(&with_questions(model), product.states.len() as u64 * 11 + model.places.len() as u64, 3);
            for answer in answers(&asked) {
                let property = &asked.properties[answer.property];
                if let Some(trace) = run_of(&answer) {
                    replay(&asked, answer.property, trace).map_err(|error| format!("{}: {error}", property.name))?;
                    n_found.set(n_found.get() + 1);
                } else if let PropertyKind::Temporal(formula) = &property.kind
                    && let Ok(Some(true)) =
                        audit::temporal::is_violated(&asked, &product.states, formula, &property.under)
                {
                    n_missed.set(n_missed.get() + 1);
                }
            }
            Ok(())
        });
        let (n_found, n_missed) = (n_found.get(), n_missed.get());
        assert!(n_found > 100 && n_missed < n_found, "{n_found} found, {n_missed} missed");
    }
}

fn model(text: &str, n: i64) -> Model {
    lang::load(&SourceFile::new("large.pw", text), &[("N".to_owned(), n)]).unwrap().model
}

fn found(model: &Model, name: &str) -> Trace {
    let answers = answers(model);
    let answer = answers.iter().find(|answer| model.properties[answer.property].name == name).unwrap();
    let trace = run_of(answer).unwrap_or_else(|| panic!("{name} is not decided"));
    replay(model, answer.property, trace).unwrap();
    trace.clone()
}

/// Two processes are enough for a crash; the others go round for ever.
const CRITICAL: &str = "program critical(N: 2..) {
    shared free: bool = true;
    process P[i in 0..<N] {
      loop {
        away:  skip;
        look:  await free;
        take:  free = false;
        crit:  skip;
        leave: free = true;
      }
    }
    invariant mutex: forall i != j: !(P[i]@crit && P[j]@crit);
    property served: forall i: P[i]@look ~> P[i]@crit under every P[*];
    property calm: eventually always free;
}";

/// All have to move before nobody can.
const FORKS: &str = "program forks(N: 2..) {
    shared fork: [bool; N];
    process P[i in 0..<N] {
      first:  atomic { await !fork[i]; fork[i] = true; }
      second: atomic { await !fork[(i + 1) % N]; fork[(i + 1) % N] = true; }
    }
    invariant few: exists i: !P[i]@second;
}";

/// The first one is let in by a process that may never move.
const OPENED: &str = "program opened(N: 2..) {
    shared open: [bool; N];
    shared next: 0..<N;
    process Porter { open[0] = true; }
    process P[i in 0..<N] {
      local mine: 0..<N;
      loop {
        rest:  idle;
        take:  mine, next = next, (next + 1) % N;
        look:  await open[mine];
        crit:  skip;
        leave: open[(mine + 1) % N], open[mine] = true, false;
      }
    }
    property served: forall i: P[i]@look ~> P[i]@crit under weak P[*], weak Porter;
    property shut:   forall i: P[i]@look ~> P[i]@crit under weak P[*];
}";

#[test]
fn who_is_not_assumed_to_move_may_stop_for_ever() {
    for n in [2, 60] {
        let opened = model(OPENED, n);
        assert_eq!(found(&opened, "shut").end, TraceEnd::Loop, "N = {n}");
        let served = answers(&opened).into_iter().find(|answer| opened.properties[answer.property].name == "served");
        assert!(served.is_some_and(|answer| run_of(&answer).is_none()), "it holds, N = {n}");
    }
}

#[test]
fn mistakes_of_many_processes_are_found() {
    let critical = model(CRITICAL, 40);
    let crash = found(&critical, "mutex");
    assert_eq!(crash.end, TraceEnd::State);
    assert!(crash.turns.len() <= 6, "two processes are enough, in {} steps", crash.turns.len());
    for name in ["served", "calm"] {
        assert_eq!(found(&critical, name).end, TraceEnd::Loop, "{name}");
    }
    let forks = model(FORKS, 40);
    assert_eq!(found(&forks, "few").turns.len(), 40, "all processes have to move");
    assert_eq!(found(&forks, "deadlock_free").end, TraceEnd::Deadlock);
}

#[test]
fn what_holds_stays_open() {
    let text = "program lock(N: 2..) {
        shared x: sem = 1;
        process P[i in 0..<N] { loop { enter: acquire x; crit: skip; leave: release x; } }
        invariant mutex: forall i != j: !(P[i]@crit && P[j]@crit);
        property busy: always eventually x == 0;
    }";
    for n in [2, 5] {
        assert!(answers(&model(text, n)).iter().all(|answer| run_of(answer).is_none()), "N = {n}");
    }
}
