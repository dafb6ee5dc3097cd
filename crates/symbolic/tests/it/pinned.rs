//! Values of the papers, and limits, on programs in the user's language.

use std::time::Duration;

use base::{Budget, CancelToken, SourceFile, StopReason};
use compose::completion::{Completed, CompletionOptions, RefinementRound, Stages, complete};
use compose::symmetry::Symmetry;
use engine::{Answer, Engine, PropertyId, SharedView, Silent, Task, Verdict};
use evidence::Evidence;
use evidence::certificate::LocalFact;
use model::Model;
use model::eval::initial_states;
use model::expr::Expr;
use model::property::PropertyKind;
use model::value::Value;
use symbolic::engines::Symbolic;
use symbolic::local::LocalSets;
use symbolic::reach::SearchDirection;
use symbolic::system::SymbolicSystem;

fn load(text: &str, n: Option<i64>) -> Model {
    let parameters: Vec<(String, i64)> = n.map(|n| (String::from("N"), n)).into_iter().collect();
    lang::load(&SourceFile::new("test.pw", text), &parameters).expect("the program is right").model
}

/// The invariant of a program that has one.
fn invariant(model: &Model) -> (PropertyId, &Expr) {
    let mut found = model.properties.entries().filter_map(|(id, property)| match &property.kind {
        PropertyKind::Invariant(expr) => Some((id, expr)),
        _ => None,
    });
    found.next().expect("there is one")
}

fn rounds(model: &Model, stages: Stages, with_symmetry: bool) -> Vec<RefinementRound> {
    let property = &model.properties[invariant(model).0].kind;
    let system = SymbolicSystem::new(model, &vec![64; model.processes.len()], 1 << 16).expect("fits");
    let mut sets = LocalSets::new(system, SharedView::Mentioned).expect("fits");
    let symmetry = Symmetry::of(model).filter(|_| with_symmetry);
    let way = CompletionOptions { symmetry: symmetry.as_ref(), stages, budget: &Budget::unlimited() };
    match complete(&mut sets, property, way, |_| {}) {
        Ok(Completed::Proved { rounds, .. }) => rounds,
        _ => panic!("there is a proof"),
    }
}

/// The place that a fact is about, by process.
fn places(model: &Model, round: &RefinementRound) -> Vec<String> {
    let place = |(process, fact): &(model::process::ProcessId, LocalFact)| match fact {
        LocalFact::Control(points) => {
            let points: Vec<String> = (points.iter())
                .map(|&point| {
                    let all = model::points::Points::of(model, *process, 100).expect("few points");
                    model.places[all.points.as_slice()[point].place].name.clone()
                })
                .collect();
            format!("{}@{}", model.processes[*process].name, points.join(","))
        }
        LocalFact::Cell(cell, value) => format!("{} = {value:?}", model.cells[*cell].name),
        LocalFact::OneOf(_) => format!("{fact:?}"),
    };
    round.exposed.iter().map(place).collect()
}

const MUX_SEM: &str = "program mux_sem(N: 2..) {
  shared x: sem = 1;
  process P[i in 0..<N] { loop { idling: skip; trying: acquire x; crit: skip; leave: release x; } }
  invariant mutex: forall i != j: !(P[i]@crit && P[j]@crit);
}";

/// Section 3.3 of "Local proofs for global safety properties". The initial states are the first stage; the third one violates the
/// property. Exposed are the critical places; then, one layer of predecessors further each time, the trying ones and the idling
/// ones; iteration 3 is a proof.
#[test]
fn completion_of_the_semaphore_is_that_of_the_paper() {
    let model = load(MUX_SEM, Some(2));
    let rounds = rounds(&model, Stages::Each, false);
    let exposed: Vec<Vec<String>> = rounds.iter().map(|round| places(&model, round)).collect();
    let both = |place: &str| vec![format!("P[0]@{place}"), format!("P[1]@{place}")];
    assert_eq!(exposed, [both("crit"), both("trying"), both("idling"), vec![]]);
    assert_eq!(rounds[0].violated_at.map(|before| before + 1), Some(3));
    assert_eq!(rounds[3].violated_at, None);
    assert_eq!(rounds.iter().map(|round| round.layers).collect::<Vec<_>>(), [0, 1, 1, 0]);
    let steps = rounds.iter().map(|round| round.because.as_ref().map(|(_, steps)| *steps));
    assert_eq!(steps.collect::<Vec<_>>(), [Some(0), Some(1), Some(2), None]);
}

#[test]
fn one_process_stands_for_all_in_the_completion_of_the_semaphore() {
    let model = load(MUX_SEM, Some(5));
    let (alone, alike) = (rounds(&model, Stages::Last, false), rounds(&model, Stages::Last, true));
    assert_eq!(places(&model, &alone[0]), places(&model, &alike[0]));
    assert!(alike[0].because.as_ref().is_some_and(|(_, steps)| *steps == 0), "two are in the critical section");
}

/// Two processes with two bits each: no single bit of an error state is essential, so that a rule that changes one variable at a
/// time finds nothing to expose; prime implicants do.
#[test]
fn prime_implicants_go_on_where_single_variables_are_stuck() {
    let model = load(
        "program two_bits {
           shared x: bool;
           process P[i in 0..<2] {
             local a: bool; local b: bool;
             loop { go: atomic { await !x; x = true; a = true; b = true; } }
           }
           invariant apart: !((P[0].a || P[0].b) && (P[1].a || P[1].b));
         }",
        None,
    );
    let mut error = initial_states(&model).next().expect("there is one");
    error.cells.iter_mut().for_each(|cell| *cell = Value::Bool(true));
    let (_, apart) = invariant(&model);
    for local in 1..error.cells.len() {
        let mut changed = error.clone();
        changed.cells[local] = Value::Bool(false);
        assert_eq!(model::eval::evaluate(&model, &changed, apart, None), Ok(Value::Bool(false)), "still an error");
    }
    let rounds = rounds(&model, Stages::Each, false);
    assert_eq!(rounds.len(), 2, "one refinement: {rounds:?}");
    assert_eq!(rounds[0].exposed.len(), 2, "one fact of each process");
}

fn answer(method: Symbolic, model: &Model, budget: Budget) -> Answer {
    let properties = vec![invariant(model).0];
    method.run(&Task { model, properties, budget, n_threads: 1 }, &Silent).unwrap().remove(0)
}

#[test]
fn what_was_exposed_and_why_is_told_with_the_answer() {
    let model = load(MUX_SEM, Some(3));
    let answer = answer(Symbolic::Completion, &model, Budget::unlimited());
    let Verdict::Holds(Evidence::Certificate(_)) = &answer.verdict else { panic!("{:?}", answer.verdict) };
    // Three places were exposed one after the other, and then put together.
    assert_eq!((answer.statistics.refinements, answer.statistics.exposures.len()), (Some(3), 1));
    let first = &answer.statistics.exposures[0];
    assert_eq!(first.facts.len(), 3);
    let because = first.because.as_ref().expect("there is a reason");
    let (_, mutex) = invariant(&model);
    assert_eq!(model::eval::evaluate(&model, because, mutex, None), Ok(Value::Bool(false)));
    assert_eq!(answer.statistics.views, Some(SharedView::Mentioned));
}

/// However many processes there are, it matters of each whether it is inside: 2 (N + 1) local states, where the product has (N + 1) 2^N states.
#[test]
fn the_proof_of_the_semaphore_stays_small() {
    for n in [4, 9, 14] {
        let model = load(MUX_SEM, Some(n));
        let answer = answer(Symbolic::Completion, &model, Budget::unlimited());
        let facts: Vec<&LocalFact> = answer.statistics.exposures[0].facts.iter().map(|(_, fact)| fact).collect();
        assert!(facts.iter().all(|fact| matches!(fact, LocalFact::Control(points) if points.len() == 2)), "{facts:?}");
        let each = answer.statistics.local_states.expect("the sets are counted");
        assert!(!each.is_empty() && each.iter().all(|size| *size == Some(2 * (n as u64 + 1))), "{each:?}");
    }
}

/// Counters whose sum is fixed by nothing: diagrams that grow for long.
const HARD: &str = "program hard {
  shared s: [0..=15; 12];
  process P[i in 0..<6] {
    local a: 0..=15; local b: 0..=15; local c: 0..=15;
    loop { step: either { a = any; } or { b = (a * a + b) % 16; } or { c = (a + b * c) % 16; }
                   or { s[i] = (a * b + c) % 16; } or { s[i + 6] = s[(a + b) % 12]; } }
  }
  invariant never: !(P[0].a == 3 && P[1].b == 5 && P[2].c == 7 && s[3] == 9 && P[4].a == 1 && s[11] == 4 && s[0] == 3);
}";

#[test]
fn limits_are_honoured_whatever_the_method_is_at() {
    let model = load(HARD, None);
    let methods = [
        Symbolic::Reach(SearchDirection::Forward),
        Symbolic::Reach(SearchDirection::Backward),
        Symbolic::KIndex(1),
        Symbolic::KIndex(2),
        Symbolic::Completion,
    ];
    for method in methods {
        let limit = Duration::from_millis(300);
        let found = answer(method, &model, Budget::new(Some(limit), None, CancelToken::default()));
        if let Verdict::Unknown(stop) = &found.verdict {
            assert!(matches!(stop, StopReason::TimeLimit(_) | StopReason::TooCoarse(_)), "{method:?}: {stop:?}");
        }
        let cancel = CancelToken::default();
        cancel.cancel();
        let found = answer(method, &model, Budget::new(None, None, cancel));
        assert_eq!(found.verdict, Verdict::Unknown(StopReason::Cancelled), "{method:?}");
    }
}

#[test]
fn out_of_nodes_is_unknown_with_the_reason() {
    let model = load(HARD, None);
    let budget = Budget::new(Some(Duration::from_secs(20)), Some(1 << 20), CancelToken::default());
    let found = answer(Symbolic::Reach(SearchDirection::Forward), &model, budget);
    assert!(
        matches!(found.verdict, Verdict::Unknown(StopReason::NodeLimit(_) | StopReason::MemoryLimit(_))),
        "{:?}",
        found.verdict
    );
}
