//! Partial-order reduction: pinned sizes, and the verdicts of the full search on random systems.

use std::cell::Cell;

use base::{Budget, SourceFile, StopReason};
use engine::{Answer, Engine, Silent, Task, Verdict};
use evidence::Evidence;
use model::Model;
use model::property::PropertyKind;
use model::value::Value;
use product::{Mono, Stubborn, StubbornBesidePlain, StubbornByText};
use testkit::choices::Choices;
use testkit::promela::Promela;
use testkit::questions::{add, happens, with_questions};
use testkit::systems::Features;
use testkit::{Beyond, Product, RandomFeatures, for_each_program};

const NO_STACKS: RandomFeatures = RandomFeatures {
    procedures: false,
    rendezvous: true,
    any_initial: true,
    faults: true,
    n_statements: 4,
    beyond: Beyond::NOTHING,
};

fn load(name: &str, text: &str, n: i64) -> Model {
    let given = if text.contains("N:") { vec![("N".to_string(), n)] } else { Vec::new() };
    match lang::load(&SourceFile::new(name, text), &given) {
        Ok(loaded) => loaded.model,
        Err(diagnostics) => panic!("{name}: {diagnostics:?}"),
    }
}

/// The Model of a random system.
fn system(seed: u64, features: Features) -> Model {
    load("random.dve", &testkit::systems::text(seed, features), 0)
}

fn ask(model: &Model, wanted: impl Fn(&PropertyKind) -> bool) -> Vec<Answer> {
    let properties = model.properties.entries().filter(|(_, one)| wanted(&one.kind)).map(|(id, _)| id).collect();
    let task = Task { model, properties, budget: Budget::unlimited(), n_threads: 1 };
    Stubborn.run(&task, &Silent).unwrap()
}

fn states(model: &Model) -> u64 {
    let answers = ask(model, |kind| matches!(kind, PropertyKind::DeadlockFree));
    answers[0].statistics.global_states.expect("they are counted")
}

const PHILOSOPHERS: &str = "program phil(N: 2..) {
    shared taken: [bool; N];
    process P[i in 0..<N] {
        loop {
            left:  atomic { await !taken[i]; taken[i] = true; }
            right: atomic { await !taken[(i + 1) % N]; taken[(i + 1) % N] = true; }
            eaten: taken[i] = false;
            leave: taken[(i + 1) % N] = false;
        }
    }
    allow deadlock;
}";

/// The whole products have 80, 728 and 6 560 states.
#[test]
fn philosophers_are_reduced() {
    for (n, reduced) in [(4, 38), (6, 92), (8, 170)] {
        let mut model = load("phil.pw", PHILOSOPHERS, n);
        add(&mut model, "never", PropertyKind::DeadlockFree);
        let found = Stubborn.run(&everything(&model), &Silent).unwrap();
        // The search ends at the deadlock; a program without that question goes to the end.
        assert!(found.iter().all(|answer| !matches!(answer.verdict, Verdict::Unknown(_))));
        assert_eq!(to_the_end(&model), reduced, "N = {n}");
    }
}

/// The states of a reduced search that keeps deadlocks and does not end at one.
fn to_the_end(model: &Model) -> u64 {
    product::reduced_size(model, &Budget::unlimited(), &Silent).expect("there are no limits").states
}

/// A limit ends the search, whatever was left out before.
#[test]
fn a_limit_ends_the_search() {
    let text = "program count() {
        shared x: 0..<1000 = 0;
        shared y: 0..<1000 = 0;
        process P { loop { a: x = (x + 1) % 1000; } }
        process Q { loop { b: y = (x + y + 1) % 1000; } }
    }";
    let model = load("count.pw", text, 0);
    let budget = Budget::new(None, Some(100_000), base::CancelToken::default());
    let stopped = product::reduced_size(&model, &budget, &Silent).expect_err("a million states have no room");
    assert!(matches!(stopped, StopReason::MemoryLimit(_)), "{stopped:?}");
}

/// Where the text leaves out nothing and local state graphs are too large, everything is searched.
#[test]
fn what_cannot_be_reduced_is_searched_whole() {
    let text = "program count() {
        shared x: 0..<300 = 0;
        shared y: 0..<300 = 0;
        process P { loop { a: x = (x + y + 1) % 300; } }
        process Q { loop { b: y = (x + y + 1) % 300; } }
    }";
    let model = load("count.pw", text, 0);
    let (full, _, _) = product::explore(&model, &Budget::unlimited(), 1, &Silent);
    let found = product::reduced_size(&model, &Budget::unlimited(), &Silent).expect("there are no limits");
    assert_eq!((found.states, found.depth), (full.states, full.depth));
}

/// A send and a receive of one channel commute, so that of a row of processes that pass on what they receive one moves at a time; two receivers of one channel do not.
#[test]
fn sends_and_receives_of_a_channel_commute() {
    let text = |n_receivers: usize| {
        format!(
            "chan p = [3] of {{ byte }}; chan q = [3] of {{ byte }};
             active proctype A() {{ byte i; do :: i < 3 -> p!i; i++ :: else -> break od }}
             active proctype B() {{ byte x; byte n; do :: n < 3 -> p?x; q!x; n++ :: else -> break od }}
             active [{n_receivers}] proctype C() {{ byte y; byte m; do :: m < 3 -> q?y; m++ :: else -> break od }}"
        )
    };
    let sizes = |n_receivers: usize| {
        let model = load("pass.pml", &text(n_receivers), 0);
        let (full, _, _) = product::explore(&model, &Budget::unlimited(), 1, &Silent);
        let found = product::reduced_size(&model, &Budget::unlimited(), &Silent).expect("there are no limits");
        assert_eq!(found.deadlocks, full.deadlocks);
        (full.states, found.states)
    };
    let (full, reduced) = sizes(1);
    assert!(10 * reduced < full, "{reduced} of {full} states");
    let (full, reduced) = sizes(2);
    assert!(reduced < full && 100 * reduced > full, "{reduced} of {full} states");
}

/// Six threads on a lock: 3 645 states, of which a prototype needed 454.
#[test]
fn threads_on_a_lock_are_reduced() {
    let text = "program lock(N: 2..) {
        shared m: lock;
        process P[i in 0..<N] { loop { a: skip; b: skip; c: acquire m; d: skip; e: release m; } }
    }";
    let model = load("lock.pw", text, 6);
    let (full, _, _) = product::explore(&model, &Budget::unlimited(), 1, &Silent);
    assert_eq!(full.states, 3_645);
    assert_eq!(states(&model), 35);
}

fn everything(model: &Model) -> Task<'_> {
    let properties = model.properties.ids().filter(|&id| Stubborn.supports(model, id).is_ok()).collect();
    Task { model, properties, budget: Budget::unlimited(), n_threads: 2 }
}

/// Whether some state decides the property, whatever has no value in others.
fn decides(model: &Model, product: &Product, kind: &PropertyKind) -> bool {
    let is = |expr, wanted: bool| {
        let decides = |state| model::eval::evaluate(model, state, expr, None) == Ok(Value::Bool(wanted));
        product.states.iter().any(decides)
    };
    match kind {
        PropertyKind::Invariant(expr) => is(expr, false),
        PropertyKind::Reachable(expr) => is(expr, true),
        kind => happens(model, product, kind),
    }
}

/// Every question alone and all together: the verdicts of the full search, runs that are real, no state too many.
fn compare(bare: &Model, product: &Product, seed: u64, tally: &Tally) -> Result<(), String> {
    let model = with_questions(bare, &mut Choices::from_seed(seed));
    let ids: Vec<_> = model.properties.ids().collect();
    let mut asked: Vec<Vec<_>> = ids.iter().map(|&id| vec![id]).collect();
    asked.push(ids);
    for properties in asked {
        let task = Task { model: &model, properties, budget: Budget::unlimited(), n_threads: 1 };
        // By local state graphs, which are small here, and by the text alone.
        let by_graphs = Stubborn.run(&task, &Silent).unwrap();
        let by_text = StubbornByText.run(&task, &Silent).unwrap();
        let beside_plain = StubbornBesidePlain.run(&task, &Silent).unwrap();
        for answer in by_graphs.into_iter().chain(by_text).chain(beside_plain) {
            let property = &model.properties[answer.property];
            let complaint = |what: &str| Err(format!("{} of {} asked: {what}", property.name, task.properties.len()));
            let happens = happens(&model, product, &property.kind);
            let seen = answer.statistics.global_states.unwrap_or(0) as usize;
            if seen > product.states.len() {
                return complaint("more states than there are");
            }
            match answer.verdict {
                Verdict::Holds(Evidence::Trace(trace)) | Verdict::Violated(Evidence::Trace(trace)) if happens => {
                    if let Err(error) = audit::replay(&model, answer.property, &trace) {
                        return complaint(&error.to_string());
                    }
                    tally.runs.set(tally.runs.get() + 1);
                }
                Verdict::Holds(Evidence::Reduced(_)) | Verdict::Violated(Evidence::Reduced(_)) if !happens => {
                    tally.full.set(tally.full.get() + product.states.len());
                    tally.reduced.set(tally.reduced.get() + seen);
                }
                Verdict::Unknown(StopReason::PropertyError(_)) if !decides(&model, product, &property.kind) => {}
                other => return complaint(&format!("a wrong verdict: {other:?}")),
            }
        }
    }
    Ok(())
}

#[derive(Default)]
struct Tally {
    runs: Cell<usize>,
    /// The states of products that were searched to the end, and those that reduction needed.
    full: Cell<usize>,
    reduced: Cell<usize>,
}

#[test]
fn verdicts_on_random_programs_are_those_of_the_full_search() {
    let tally = Tally::default();
    for_each_program(1_000, NO_STACKS, |_, bare| {
        let Some(product) = Product::explore(bare, 300) else { return Ok(()) };
        compare(bare, &product, product.states.len() as u64, &tally)
    });
    if std::env::var("PIECEWISE_CASES").is_err() {
        assert!(tally.runs.get() > 300, "{} runs", tally.runs.get());
    }
}

/// Receivers of certain values, and places to end at.
#[test]
fn verdicts_beyond_texts_are_those_of_the_full_search() {
    let tally = Tally::default();
    let beyond = Beyond { patterns: true, end_places: true, ..Beyond::NOTHING };
    for_each_program(600, RandomFeatures { beyond, ..NO_STACKS }, |_, bare| {
        let Some(product) = Product::explore(bare, 300) else { return Ok(()) };
        compare(bare, &product, product.states.len() as u64, &tally)
    });
    assert!(tally.runs.get() > 200, "{} runs", tally.runs.get());
}

/// Steps over several actions, and actions for where nobody can move, too.
#[test]
fn verdicts_with_steps_that_go_on_are_those_of_the_full_search() {
    let tally = Tally::default();
    for_each_program(1_500, RandomFeatures { beyond: Beyond::everything(), ..NO_STACKS }, |_, bare| {
        let Some(product) = Product::explore(bare, 300) else { return Ok(()) };
        compare(bare, &product, product.states.len() as u64, &tally)
    });
    assert!(tally.runs.get() > 200, "{} runs", tally.runs.get());
}

/// Programs for SPIN: buffered channels, `atomic`, `timeout`, processes that are started. Brute force takes too long on them, so the search of the whole product is believed.
#[test]
fn verdicts_on_random_promela_are_those_of_the_whole_product() {
    let (mut n_compared, mut n_all, mut n_reduced) = (0, 0, 0);
    for seed in 0..100 {
        let text = Promela::random(&mut Choices::from_seed(seed)).text();
        let Ok(loaded) = lang::load(&SourceFile::new("random.pml", &*text), &[]) else { continue };
        let model = loaded.model;
        let small = Budget::new(None, Some(300_000), base::CancelToken::default());
        let (full, _, None) = product::explore(&model, &small, 1, &Silent) else { continue };
        let Ok(reduced) = product::reduced_size(&model, &Budget::unlimited(), &Silent) else { continue };
        assert_eq!(reduced.deadlocks, full.deadlocks, "seed {seed}: {text}");
        assert!(reduced.states <= full.states, "seed {seed}: {text}");
        (n_compared, n_all, n_reduced) = (n_compared + 1, n_all + full.states, n_reduced + reduced.states);
        let task = everything(&model);
        let verdicts = |engine: &dyn Engine| -> Vec<&'static str> {
            let answers = engine.run(&task, &Silent).unwrap();
            { answers.iter() }
                .map(|answer| match answer.verdict {
                    Verdict::Holds(_) => "holds",
                    Verdict::Violated(_) => "violated",
                    Verdict::Unknown(_) => "unknown",
                })
                .collect()
        };
        assert_eq!(verdicts(&Stubborn), verdicts(&Mono), "seed {seed}: {text}");
        assert_eq!(verdicts(&StubbornByText), verdicts(&Mono), "seed {seed}: {text}");
    }
    assert!(n_compared > 15, "{n_compared} programs");
    assert!(n_reduced < n_all, "{n_reduced} of {n_all} states");
}

#[test]
fn verdicts_on_random_systems_are_those_of_the_full_search() {
    let tally = Tally::default();
    let setting = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let first = setting("PIECEWISE_SEED").unwrap_or(0);
    for seed in first..first + setting("PIECEWISE_CASES").unwrap_or(1_500) {
        for (rendezvous, watching) in [(false, false), (true, false), (true, true)] {
            let features = Features { rendezvous, watching };
            let model = system(seed, features);
            let Some(product) = Product::explore(&model, 600) else { continue };
            if let Err(complaint) = compare(&model, &product, seed, &tally) {
                panic!("seed {seed}: {complaint}\n{}", testkit::systems::text(seed, features));
            }
        }
    }
    assert!(tally.reduced.get() < tally.full.get(), "nothing was reduced");
}

#[test]
fn temporal_properties_and_races_are_refused_with_the_reason() {
    let text = "program p(N: 1..) { shared x: 0..=1; process P[i in 0..<N] { loop { a: x = 1; b: x = 0; } }
        property live: always eventually x == 1; race_free x; }";
    let model = load("p.pw", text, 2);
    let reason = |wanted: fn(&PropertyKind) -> bool| {
        let found = model.properties.entries().find(|(_, one)| wanted(&one.kind)).expect("it is there").0;
        Stubborn.supports(&model, found).expect_err("it is refused").to_string()
    };
    assert!(reason(|kind| matches!(kind, PropertyKind::Temporal(_))).contains("temporal"));
    assert!(reason(|kind| matches!(kind, PropertyKind::RaceFree(_))).contains("races"));
}
