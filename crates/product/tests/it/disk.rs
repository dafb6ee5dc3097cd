//! Searches that go on with temporary files when memory runs out see the same as searches in memory, and as brute force.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use base::{Budget, CancelToken, SourceFile, StopReason};
use engine::{Engine, PropertyId, Silent, Task, Verdict};
use evidence::{Evidence, Exploration};
use model::Model;
use model::property::PropertyKind;
use product::{Mono, explore};
use testkit::conditions::ConditionMaker;
use testkit::samples::add_property;
use testkit::{Product, RandomFeatures, for_each_program};

/// A directory of a test's own, which is to be empty at its end.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let directory = std::env::temp_dir().join(format!("piecewise-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        Place(directory)
    }

    fn end(self) {
        // Fails where a file is left.
        std::fs::remove_dir(&self.0).unwrap();
    }
}

fn little(limit: u64, disk: Option<&Path>) -> Budget {
    let budget = Budget::new(None, Some(limit), CancelToken::default());
    disk.map_or(budget.clone(), |directory| budget.with_disk(directory))
}

fn counts(explored: &Exploration) -> (u64, u64, u64, u64, u64, bool) {
    (explored.states, explored.transitions, explored.deadlocks, explored.errors, explored.depth, explored.complete)
}

/// Random programs within so little memory that some of them need the disk.
#[test]
fn random_programs_on_disk_equal_brute_force() {
    const LIMIT: u64 = 40_000;
    let place = Place::new("random-disk");
    let n_on_disk = Cell::new(0);
    for_each_program(150, RandomFeatures::everything(), |_, model| {
        let Some(product) = Product::explore(model, 3_000) else { return Ok(()) };
        let mut conditions = ConditionMaker::new(model, model.cells.len() as u64);
        let mut model = model.clone();
        for n in 0..3 {
            let condition = conditions.condition(2);
            add_property(&mut model, &format!("always{n}"), PropertyKind::Invariant(condition));
        }
        add_property(&mut model, "deadlock_free", PropertyKind::DeadlockFree);
        // Half of the memory is for states.
        let stops = explore(&model, &little(LIMIT / 2, None), 1, &Silent).2.is_some();
        n_on_disk.set(n_on_disk.get() + usize::from(stops));
        let on_disk = |n_threads: u64| little(LIMIT * n_threads, Some(&place.0));
        for n_threads in [1, 3] {
            let (explored, _, stopped) = explore(&model, &on_disk(n_threads as u64), n_threads, &Silent);
            let expected = (
                product.states.len() as u64,
                product.n_transitions() as u64,
                product.deadlocks.len() as u64,
                product.n_faults() as u64,
                product.depth() as u64,
                true,
            );
            if stopped.is_some() || counts(&explored) != expected {
                return Err(format!("{n_threads} threads: {explored:?} {stopped:?}, not {expected:?}"));
            }
            let answers = |budget: Budget| -> Vec<(PropertyId, Result<usize, bool>)> {
                let properties = model.properties.ids().collect();
                let task = Task { model: &model, properties, budget, n_threads };
                let answers = Mono.run(&task, &Silent).unwrap();
                answers.iter().map(|answer| (answer.property, shape(&answer.verdict))).collect()
            };
            let (found, expected) = (answers(on_disk(n_threads as u64)), answers(Budget::unlimited()));
            if found != expected {
                return Err(format!("{n_threads} threads: on disk {found:?}, in memory {expected:?}"));
            }
        }
        Ok(())
    });
    assert!(n_on_disk.get() > 3, "only {} programs needed the disk", n_on_disk.get());
    place.end();
}

/// The length of a run, or whether the property holds without one.
fn shape(verdict: &Verdict) -> Result<usize, bool> {
    match verdict {
        Verdict::Holds(Evidence::Trace(trace)) | Verdict::Violated(Evidence::Trace(trace)) => Ok(trace.n_steps()),
        Verdict::Holds(_) => Err(true),
        Verdict::Violated(_) => Err(false),
        Verdict::Unknown(StopReason::PropertyError(_)) => Ok(usize::MAX),
        Verdict::Unknown(reason) => panic!("{reason}"),
    }
}

/// Three counters of 31 values in states of several words, with the three places of another process.
fn counters() -> Model {
    let text = "program counters {
        shared a: [0..=4000000000; 10];
        process P[i in 0..<3] {
            loop { atomic { if a[i] < 30000000 { a[i] = a[i] + 1000000; } else { a[i] = 0; } } }
        }
        process Q { early: skip; late: skip; }
        invariant small: a[0] + a[1] + a[2] < 75000000;
        invariant bounded: a[0] <= 30000000;
    }";
    match lang::load(&SourceFile::new("test.pw", text), &[]) {
        Ok(loaded) => loaded.model,
        Err(diagnostics) => panic!("{diagnostics:?}"),
    }
}

#[test]
fn states_of_several_words_are_counted_in_memory_and_on_disk() {
    let (model, place) = (counters(), Place::new("words-on-disk"));
    let (in_memory, statistics, _) = explore(&model, &Budget::unlimited(), 1, &Silent);
    assert_eq!(in_memory.states, 3 * 31 * 31 * 31);
    let peak = statistics.peak_memory_bytes.unwrap();
    assert!(peak < 48 << 20, "{peak} bytes for {} states", in_memory.states);
    for n_threads in [1, 2] {
        let budget = little(peak / 4, Some(&place.0));
        let (on_disk, statistics, stopped) = explore(&model, &budget, n_threads, &Silent);
        assert_eq!((counts(&on_disk), stopped), (counts(&in_memory), None));
        assert!(statistics.peak_memory_bytes.unwrap() <= peak / 4);
    }
    let named = model.properties.entries().filter(|(_, property)| !property.text.is_empty());
    let task = Task {
        model: &model,
        properties: named.map(|(id, _)| id).collect(),
        budget: little(peak / 4, Some(&place.0)),
        n_threads: 1,
    };
    let answers = Mono.run(&task, &Silent).unwrap();
    let shapes: Vec<_> = answers
        .iter()
        .map(|answer| (model.properties[answer.property].name.as_str(), shape(&answer.verdict)))
        .filter(|(name, _)| ["small", "bounded"].contains(name))
        .collect();
    assert_eq!(shapes, [("small", Ok(75)), ("bounded", Err(true))]);
    place.end();
}

#[test]
fn a_disk_that_fails_is_a_sentence() {
    let place = Place::new("failing-disk");
    let file = place.0.join("file");
    std::fs::write(&file, "").unwrap();
    let (explored, _, stopped) = explore(&counters(), &little(100_000, Some(&file)), 1, &Silent);
    assert!(!explored.complete);
    let Some(StopReason::Disk(why)) = stopped else { panic!("{stopped:?}") };
    assert!(why.starts_with("states that memory has no room for cannot be kept on disk: "), "{why}");
    std::fs::remove_file(file).unwrap();
    place.end();
}

/// With room for its graph the product is explored once for both kinds of properties, also where there is disk: what is told of the invariant is what the exploration for the temporal one saw.
/// Without, the disk decides the invariant, and the temporal property is left open.
#[test]
fn temporal_properties_and_others_are_explored_once_where_there_is_disk() {
    let text = "program both {
        shared x: [0..=9; 4];
        process P[i in 0..<4] { loop { x[i] = (x[i] + 1) % 10; } }
        invariant small: forall k: x[k] <= 9;
        property again: always eventually x[0] == 0 under weak P[*];
    }";
    let model = lang::load(&SourceFile::new("test.pw", text), &[]).unwrap().model;
    let place = Place::new("both-on-disk");
    let answers = |limit: u64| {
        let asked = ["small", "again"].map(|name| model.properties.ids().find(|id| model.properties[*id].name == name));
        let properties: Vec<PropertyId> = asked.into_iter().flatten().collect();
        let task = Task { model: &model, properties, budget: little(limit, Some(&place.0)), n_threads: 1 };
        Mono.run(&task, &Silent).unwrap()
    };
    let roomy = answers(100 << 20);
    assert!(roomy.iter().all(|answer| matches!(answer.verdict, Verdict::Holds(_))), "{roomy:?}");
    // A search for the invariant alone would take less memory than the graph.
    let taken: Vec<_> = roomy.iter().map(|answer| answer.statistics.peak_memory_bytes).collect();
    let alone = explore(&model, &little(100 << 20, Some(&place.0)), 1, &Silent).1.peak_memory_bytes;
    assert!(taken[0] > alone, "{taken:?}, and {alone:?} for the states alone");
    let tight = answers(200_000);
    assert!(matches!(tight[0].verdict, Verdict::Holds(_)), "{tight:?}");
    assert!(matches!(tight[1].verdict, Verdict::Unknown(StopReason::MemoryLimit(_))), "{tight:?}");
    place.end();
}
