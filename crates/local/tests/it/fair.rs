//! Local verdicts about temporal properties equal those of the whole product, for every rule; every run that is found is replayed,
//! every proof checked.

use std::cell::Cell;

use audit::{certificate, replay};
use base::{Budget, SourceFile, StopReason};
use engine::{Engine, Silent, Task, Verdict};
use evidence::Evidence;
use local::fair::{ExplicitFll, LivenessRule};
use model::Model;
use model::property::PropertyKind;
use product::Mono;
use testkit::temporal::with_temporal;
use testkit::{Beyond, Product, RandomFeatures, for_each_program};

const MAX_STATES: usize = 400;

#[test]
fn verdicts_equal_those_of_the_whole_product() {
    compare_with_the_product(400, RandomFeatures { n_statements: 3, ..RandomFeatures::everything() }, |_| true, 50);
}

/// A rendezvous is one turn of two processes; receivers of certain values, places to wait for ever, and steps of one process that go on among them.
#[test]
fn verdicts_with_rendezvous_equal_those_of_the_whole_product() {
    // Most steps that go on have a rendezvous before or after them.
    for (chains, n_programs, least) in [(false, 800, 20), (true, 1500, 2)] {
        let beyond = Beyond { patterns: true, end_places: true, chains, ..Beyond::NOTHING };
        let shape = RandomFeatures { n_statements: 3, procedures: false, beyond, ..RandomFeatures::everything() };
        compare_with_the_product(n_programs, shape, |model| !model.channels.is_empty(), least);
    }
}

/// Steps that go on over several actions of a process.
#[test]
fn verdicts_beyond_texts_equal_those_of_the_whole_product() {
    let beyond = Beyond { chains: true, ..Beyond::NOTHING };
    compare_with_the_product(
        300,
        RandomFeatures {
            n_statements: 3,
            procedures: false,
            rendezvous: false,
            beyond,
            ..RandomFeatures::everything()
        },
        |_| true,
        50,
    );
}

/// Asks about the programs that are meant; more than `least` properties have to hold, and as many to be violated.
fn compare_with_the_product(n_programs: u64, shape: RandomFeatures, is_meant: impl Fn(&Model) -> bool, least: usize) {
    let counts: [(LivenessRule, Cell<usize>, Cell<usize>); 3] =
        [LivenessRule::Ll, LivenessRule::FllA, LivenessRule::FllB].map(|rule| (rule, Cell::new(0), Cell::new(0)));
    let n_refined = Cell::new(0);
    for_each_program(n_programs, shape, |_, model| {
        if !is_meant(model) {
            return Ok(());
        }
        let Some(product) = Product::explore(model, MAX_STATES) else { return Ok(()) };
        let asked = with_temporal(model, product.states.len() as u64 * 7 + model.places.len() as u64, 3);
        let temporal: Vec<_> =
            asked.properties.entries().filter(|(_, one)| matches!(one.kind, PropertyKind::Temporal(_))).collect();
        for (id, property) in temporal {
            let task = Task { model: &asked, properties: vec![id], budget: Budget::unlimited(), n_threads: 1 };
            let expected = match &Mono.run(&task, &Silent).unwrap()[0].verdict {
                Verdict::Holds(_) => true,
                Verdict::Violated(_) => false,
                Verdict::Unknown(_) => continue,
            };
            for (rule, n_holds, n_violated) in &counts {
                let engine = ExplicitFll::new(*rule);
                if engine.supports(&asked, id).is_err() {
                    continue;
                }
                let answer = engine.run(&task, &Silent).unwrap().remove(0);
                n_refined.set(n_refined.get() + usize::from(answer.statistics.refinements > Some(0)));
                match (&answer.verdict, expected) {
                    (Verdict::Holds(Evidence::Certificate(proof)), true) => {
                        certificate::check(&asked, property, proof, &Budget::unlimited())
                            .map_err(|error| format!("{rule:?}: {error}"))?;
                        n_holds.set(n_holds.get() + 1);
                    }
                    (Verdict::Violated(Evidence::Trace(trace)), false) => {
                        replay(&asked, id, trace).map_err(|error| error.to_string())?;
                        n_violated.set(n_violated.get() + 1);
                    }
                    (Verdict::Unknown(StopReason::PropertyError(_)), _) => {}
                    (found, expected) => {
                        let PropertyKind::Temporal(formula) = &property.kind else { unreachable!() };
                        let text = model::print::formula(&asked, formula);
                        return Err(format!("{rule:?}: {text}: holds: {expected}, found: {found:?}"));
                    }
                }
            }
        }
        Ok(())
    });
    for (rule, n_holds, n_violated) in &counts {
        println!("{rule:?}: {n_holds:?} hold, {n_violated:?} are violated, {n_refined:?} refined");
        let is_enough = n_holds.get() > least && n_violated.get() > least;
        assert!(is_enough, "{rule:?}: {n_holds:?} hold, {n_violated:?} are violated");
    }
    assert!(n_refined.get() > least * 2 / 5, "{n_refined:?} needed refinement");
}

fn example(name: &str, parameters: &[(&str, i64)]) -> Model {
    let path = format!("{}/../../examples/{name}.pw", env!("CARGO_MANIFEST_DIR"));
    let source = SourceFile::new(&path, std::fs::read_to_string(&path).expect("the example is there"));
    let parameters: Vec<(String, i64)> = parameters.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    lang::load(&source, &parameters).unwrap_or_else(|wrong| panic!("{name}: {wrong:?}")).model
}

/// Whether a property holds, and how often the proof or the search for a run had to expose something; the evidence is audited.
fn decided(model: &Model, property: &str, rule: LivenessRule) -> (bool, u64) {
    let (id, asked) = model.properties.entries().find(|(_, one)| one.name == property).expect("the property is there");
    let engine = ExplicitFll::new(rule);
    assert_eq!(engine.supports(model, id), Ok(()), "{property} by {rule:?}");
    let task = Task { model, properties: vec![id], budget: Budget::unlimited(), n_threads: 1 };
    let answer = engine.run(&task, &Silent).unwrap().remove(0);
    let n_rounds = answer.statistics.refinements.expect("local methods count");
    match &answer.verdict {
        Verdict::Holds(Evidence::Certificate(proof)) => {
            certificate::check(model, asked, proof, &Budget::unlimited()).unwrap_or_else(|wrong| panic!("{wrong}"));
            (true, n_rounds)
        }
        Verdict::Violated(Evidence::Trace(trace)) => {
            replay(model, id, trace).unwrap_or_else(|wrong| panic!("{wrong}"));
            (false, n_rounds)
        }
        other => panic!("{property} by {rule:?}: {other:?}"),
    }
}

/// Cohen and Namjoshi (CAV 2008), Table 1: no fairness, nothing exposed, for any number of processes.
#[test]
fn the_semaphore_is_taken_again_and_again_without_refinement() {
    for n in [2, 3, 5, 50] {
        assert_eq!(decided(&example("mux_sem", &[("N", n)]), "busy", LivenessRule::Ll), (true, 0), "N = {n}");
        assert_eq!(
            decided(&example("mux_sem_counter", &[("N", n)]), "busy", LivenessRule::Ll),
            (true, 0),
            "N = {n}, counters"
        );
    }
}

/// CAV 2008, Table 2, and CAV 2010, Tables 1 and 2: scheduling alone is not enough, strong fairness of the one process is.
#[test]
fn a_process_starves_unless_its_request_is_strongly_fair() {
    for n in [2, 3, 5, 8] {
        let model = example("mux_sem_first", &[("N", n)]);
        for rule in [LivenessRule::FllA, LivenessRule::FllB] {
            assert!(decided(&model, "live", rule).0, "N = {n} by {rule:?}");
            assert!(!decided(&model, "unfair", rule).0, "N = {n} by {rule:?}");
        }
        assert!(!decided(&model, "unfair", LivenessRule::Ll).0, "N = {n}");
    }
}

/// CAV 2010, Table 3. The printed assumption of the variant that may stay inside does not suffice: both are needed.
#[test]
fn the_papers_other_protocols_are_decided() {
    for rule in [LivenessRule::FllA, LivenessRule::FllB] {
        let nondet = example("mux_sem_nondet", &[("N", 4)]);
        let verdicts = ["live", "squat", "printed", "one"].map(|name| decided(&nondet, name, rule).0);
        assert_eq!(verdicts, [true, false, false, true], "{rule:?}");
        let philosophers = example("philosophers", &[("N", 3)]);
        assert!(decided(&philosophers, "live", rule).0 && !decided(&philosophers, "snatched", rule).0, "{rule:?}");
        let bakery = example("bakery_atomic", &[("N", 3), ("M", 3)]);
        assert!(decided(&bakery, "live", rule).0, "{rule:?}");
        let term = example("cond_term", &[("N", 2), ("M", 4)]);
        assert!(decided(&term, "ends", rule).0 && !decided(&term, "may_not", rule).0, "{rule:?}");
    }
}

/// More processes, and so more assumptions, than a word has bits.
#[test]
fn seventy_processes_are_told_apart() {
    let model = example("mux_sem_first", &[("N", 70)]);
    assert!(!decided(&model, "unfair", LivenessRule::FllB).0);
}

/// Processes of one family whose loops have different numbers of rounds have different points: what is exposed of one names points of another only by what they are.
#[test]
fn facts_about_loops_are_passed_on_to_processes_with_other_rounds() {
    let text = "program one_bit(N: 2..) {
        shared b: [bool; N];
        process P[i in 0..<N] {
            loop {
                rest: idle;
                set:  b[i] = true;
                low:  for j in 0..<i { if b[j] { back: b[i] = false; wait: await !b[j]; goto set; } }
                high: for j in i + 1..<N { await !b[j]; }
                crit: skip;
                leave: b[i] = false;
            }
        }
        property first: P[0]@set ~> P[0]@crit under weak P[*];
        property some:  (exists i: P[i]@set) ~> (exists i: P[i]@crit) under weak P[*];
    }";
    let model =
        lang::load(&SourceFile::new("one_bit.pw", text), &[("N".to_owned(), 3)]).expect("it is a program").model;
    for rule in [LivenessRule::FllA, LivenessRule::FllB] {
        assert!(decided(&model, "first", rule).0 && decided(&model, "some", rule).0, "{rule:?}");
    }
}
