//! Local state graphs: pinned sizes, the order of exactness on random systems, rules word by word, and doubles that are refuted.

mod naive;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::time::Duration;

use base::{Budget, CancelToken, SourceFile, StopReason};
use engine::graph::{DrawnState, LocalGraphs};
use engine::{Engine, Silent, Task, Verdict};
use evidence::Evidence;
use local::Ls3;
use local::graphs::{GraphMethod, GraphTask, local_graphs};
use model::Model;
use model::process::ProcessId;
use naive::Rules;
use testkit::choices::Choices;
use testkit::questions::{happens, with_questions};
use testkit::skip::{Needs, skipped};
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

fn found(model: &Model, way: GraphMethod, n_threads: usize) -> LocalGraphs {
    let drawn: Vec<ProcessId> = model.processes.ids().collect();
    let budget = Budget::unlimited();
    let task = GraphTask { model, way, drawn: &drawn, budget: &budget, n_threads };
    let found = local_graphs(&task, &Silent).expect("there are no procedures");
    assert_eq!(found.stopped, None);
    found
}

fn sizes(model: &Model, way: GraphMethod) -> Vec<u64> {
    let budget = Budget::unlimited();
    let task = GraphTask { model, way, drawn: &[], budget: &budget, n_threads: 2 };
    let found = local_graphs(&task, &Silent).expect("there are no procedures");
    found.graphs.iter().map(|graph| graph.n_states).collect()
}

fn load(name: &str, text: &str, given: &[(&str, i64)]) -> Model {
    let given: Vec<(String, i64)> = given.iter().map(|(name, value)| (name.to_string(), *value)).collect();
    match lang::load(&SourceFile::new(name, text), &given) {
        Ok(loaded) => loaded.model,
        Err(diagnostics) => panic!("{name}: {diagnostics:?}"),
    }
}

/// The Model of a random system.
fn system(seed: u64, features: Features) -> Model {
    load("random.dve", &testkit::systems::text(seed, features), &[])
}

/// A local state graph as sets of names: states, and transitions from what to what by whom.
type Named = (BTreeSet<DrawnState>, BTreeSet<(DrawnState, Vec<ProcessId>, String, DrawnState)>);

fn named(found: &LocalGraphs) -> Vec<Named> {
    let of = |graph: &engine::graph::LocalGraph| {
        let drawing = graph.drawing.as_ref().expect("all are drawn");
        let state = |at: u32| drawing.states[at as usize].clone();
        let edge = |edge: &engine::graph::DrawnEdge| {
            (state(edge.from), edge.movers.clone(), edge.text.clone(), state(edge.to))
        };
        (drawing.states.iter().cloned().collect(), drawing.edges.iter().map(edge).collect())
    };
    found.graphs.iter().map(of).collect()
}

/// Each way has all that the more exact ones have: states and transitions.
fn in_order(model: &Model, n_threads: usize) -> Result<Vec<Vec<Named>>, String> {
    let all: Vec<Vec<Named>> = GraphMethod::ALL.into_iter().map(|way| named(&found(model, way, n_threads))).collect();
    for (exact, coarse) in (0..GraphMethod::ALL.len() - 1).map(|at| (at, at + 1)) {
        let names = format!("{} has more than {}", GraphMethod::ALL[exact].name(), GraphMethod::ALL[coarse].name());
        for (process, (one, other)) in all[exact].iter().zip(&all[coarse]).enumerate() {
            if let Some(state) = one.0.difference(&other.0).next() {
                return Err(format!("{names}: process {process} has {state:?}"));
            }
            if let Some(edge) = one.1.difference(&other.1).next() {
                return Err(format!("{names}: process {process} has {edge:?}"));
            }
        }
    }
    Ok(all)
}

const FIGURE_2: &str = "program figure2 {
    shared x: 0..=3; shared y: 0..=1;
    process M1 {
        local z: 0..=12;
        loop {
            a1: atomic { await x > 0; z = x + 1; }
            a2: x = 0;
            a3: atomic { await x > 0; z = z * x; }
            a4: atomic { x = 0; z = 0; }
        }
    }
    process M2 { loop { b1: atomic { await y == 0; x = 2; } b2: atomic { await x == 0; y = 1; } } }
    process M3 { loop { c1: atomic { await y == 1; x = 3; } c2: atomic { await x == 0; y = 0; } } }
}";

#[test]
fn figure_2_of_the_paper() {
    let model = load("figure2.pw", FIGURE_2, &[]);
    assert_eq!(sizes(&model, GraphMethod::Mono), [6, 5, 5]);
    assert_eq!(sizes(&model, GraphMethod::Tmmc), [15, 5, 5]);
    assert_eq!(sizes(&model, GraphMethod::Ls3), [15, 5, 5]);
    assert_eq!(sizes(&model, GraphMethod::Ls3Plus), [6, 5, 5]);
}

/// A local state that only LS3 takes for reachable stands against the invariant: not decided, never violated.
#[test]
fn what_only_unreachable_local_states_violate_is_unknown() {
    let text = FIGURE_2.replace("process M2", "invariant not_four: M1.z != 4; process M2");
    let model = load("figure2.pw", &text, &[]);
    let id = model.properties.entries().find(|(_, one)| one.name == "not_four").expect("it is there").0;
    let verdict = |with_witness| {
        let task = Task { model: &model, properties: vec![id], budget: Budget::unlimited(), n_threads: 1 };
        Ls3 { with_witness, most_pairs: u64::MAX }.run(&task, &Silent).unwrap().remove(0).verdict
    };
    assert!(matches!(verdict(false), Verdict::Unknown(StopReason::TooCoarse(_))), "{:?}", verdict(false));
    assert!(matches!(verdict(true), Verdict::Holds(Evidence::Certificate(_))), "{:?}", verdict(true));
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
}";

#[test]
fn philosophers_have_nine_local_states_each() {
    for n in 3..=5 {
        let model = load("phil.pw", PHILOSOPHERS, &[("N", n)]);
        for (way, states) in
            [(GraphMethod::Mono, 9), (GraphMethod::Ls3Plus, 9), (GraphMethod::Ls3, 9), (GraphMethod::Tmmc, 16)]
        {
            assert_eq!(sizes(&model, way), vec![states; n as usize], "N = {n}, {}", way.name());
        }
    }
}

/// BEEM's models, where they are: the values of the paper's tables and of the description of DVE.
#[test]
fn beem_models_have_the_sizes_of_the_paper() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/beem/models");
    if !std::path::Path::new(folder).is_dir() {
        skipped(Needs::Data("beem"));
        return;
    }
    let expected: [(&str, GraphMethod, &[u64]); 9] = [
        ("phils.1", GraphMethod::Mono, &[9, 9, 9, 9]),
        ("phils.1", GraphMethod::Ls3, &[9, 9, 9, 9]),
        ("phils.1", GraphMethod::Tmmc, &[16, 16, 16, 16]),
        ("peterson.3", GraphMethod::Mono, &[2627, 2421, 2745]),
        ("peterson.3", GraphMethod::Ls3, &[2627, 2421, 2745]),
        ("peterson.3", GraphMethod::Tmmc, &[2997, 2952, 2952]),
        ("szymanski.3", GraphMethod::Mono, &[4311, 4415, 4383, 4352]),
        // The paper prints 5 201 for the first, of rules that lose steps.
        ("szymanski.3", GraphMethod::Ls3, &[5203, 5453, 5598, 5755]),
        ("szymanski.3", GraphMethod::Tmmc, &[5875, 6125, 6250, 6375]),
    ];
    for (name, way, states) in expected {
        let text = std::fs::read_to_string(format!("{folder}/{name}.dve")).expect("the model is there");
        assert_eq!(sizes(&load("beem.dve", &text, &[]), way), states, "{name}, {}", way.name());
    }
}

#[test]
fn the_order_of_exactness_on_random_programs() {
    let n_looked_at = Cell::new(0);
    for_each_program(1_000, NO_STACKS, |_, model| {
        if Product::explore(model, 300).is_none() {
            return Ok(());
        }
        n_looked_at.set(n_looked_at.get() + 1);
        let all = in_order(model, 1)?;
        let ls3 = named(&found(model, GraphMethod::Ls3, 3));
        if ls3 != all[2] { Err("other graphs with three threads".into()) } else { Ok(()) }
    });
    if std::env::var("PIECEWISE_CASES").is_err() {
        assert!(n_looked_at.get() > 500, "only {} programs", n_looked_at.get());
    }
}

const FEATURES: [Features; 3] = [
    Features { rendezvous: false, watching: false },
    Features { rendezvous: true, watching: false },
    Features { rendezvous: true, watching: true },
];

fn cases(n_cases: u64) -> std::ops::Range<u64> {
    let setting = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let first = setting("PIECEWISE_SEED").unwrap_or(0);
    first..first + setting("PIECEWISE_CASES").unwrap_or(n_cases)
}

#[test]
fn the_order_of_exactness_on_random_systems_with_rendezvous() {
    for seed in cases(1_000) {
        for features in FEATURES {
            let model = system(seed, features);
            if let Err(complaint) = in_order(&model, 1) {
                panic!("seed {seed}: {complaint}\n{}", testkit::systems::text(seed, features));
            }
        }
    }
}

fn states_of(model: &Model, way: GraphMethod) -> Vec<BTreeSet<DrawnState>> {
    named(&found(model, way, 1)).into_iter().map(|(states, _)| states).collect()
}

/// Without where others stand: a test for a place where nobody gets is no reason to look.
fn unwatched(graphs: Vec<BTreeSet<DrawnState>>) -> Vec<BTreeSet<DrawnState>> {
    let state = |mut state: DrawnState| {
        state.cells.retain(|(name, _)| !name.ends_with('@'));
        state
    };
    graphs.into_iter().map(|states| states.into_iter().map(state).collect()).collect()
}

#[test]
fn graphs_are_those_of_the_rules() {
    for seed in cases(100) {
        for features in FEATURES {
            let model = system(seed, features);
            let ours = unwatched(states_of(&model, GraphMethod::Ls3));
            if ours != unwatched(naive::local_states(&model, Rules::Sound)) {
                panic!("seed {seed}: other local states\n{}", testkit::systems::text(seed, features));
            }
        }
    }
}

/// Whether a wrong set of rules loses a reachable local state of one of the systems.
fn is_refuted(rules: Rules) -> bool {
    (0..2_000).any(|seed| {
        let model = system(seed, FEATURES[0]);
        let exact = states_of(&model, GraphMethod::Mono);
        exact.iter().zip(naive::local_states(&model, rules)).any(|(exact, found)| !exact.is_subset(&found))
    })
}

#[test]
fn the_printed_rules_are_refuted() {
    assert!(is_refuted(Rules::Printed), "no system shows that a case is missing");
    // The philosophers show it, too.
    let model = load("phil.dve", &beem_philosophers(), &[]);
    let found = naive::local_states(&model, Rules::Printed);
    assert_eq!(found.iter().map(BTreeSet::len).collect::<Vec<_>>(), [8, 8, 8, 8]);
}

#[test]
fn rules_without_self_loops_are_refuted() {
    assert!(is_refuted(Rules::WithoutSelfLoops), "no system shows that self-loops matter");
}

/// Four philosophers as in BEEM.
fn beem_philosophers() -> String {
    let process = |at: usize| {
        let (left, right) = (at, (at + 1) % 4);
        format!(
            "process phil_{at} {{ state think, one, eat, finish; init think;
              trans think -> one {{ guard f{left} == 0; effect f{left} = 1; }},
                    one -> eat {{ guard f{right} == 0; effect f{right} = 1; }},
                    eat -> finish {{ effect f{left} = 0; }}, finish -> think {{ effect f{right} = 0; }}; }}"
        )
    };
    format!("byte f0, f1, f2, f3; {} system async;", (0..4).map(process).collect::<String>())
}

#[test]
fn limits_are_answers() {
    let model = load("phil.pw", PHILOSOPHERS, &[("N", 12)]);
    for way in GraphMethod::ALL {
        let budget = Budget::new(Some(Duration::ZERO), None, CancelToken::default());
        let task = GraphTask { model: &model, way, drawn: &[], budget: &budget, n_threads: 2 };
        let found = local_graphs(&task, &Silent).expect("there are no procedures");
        assert_eq!(found.stopped, Some(StopReason::TimeLimit(Duration::ZERO)), "{}", way.name());
        assert_eq!(found.graphs.len(), 12);
    }
    let small = Budget::new(None, Some(1000), CancelToken::default());
    let task = GraphTask { model: &model, way: GraphMethod::Mono, drawn: &[], budget: &small, n_threads: 1 };
    assert!(matches!(local_graphs(&task, &Silent).map(|found| found.stopped), Ok(Some(StopReason::MemoryLimit(_)))));
}

#[test]
fn programs_with_procedures_are_refused() {
    let model = load("calls.pw", "program calls { shared x: 0..=1; proc f() { x = 1; } process P { call f(); } }", &[]);
    let budget = Budget::unlimited();
    let task = GraphTask { model: &model, way: GraphMethod::Ls3, drawn: &[], budget: &budget, n_threads: 1 };
    assert!(matches!(local_graphs(&task, &Silent), Err(StopReason::NotSupported(_))));
}

/// Proofs and runs of both methods on a program: true, and accepted by the independent checker.
fn verdicts(bare: &Model, product: &Product, tally: &[Cell<usize>; 2]) -> Result<(), String> {
    let model = with_questions(bare, &mut Choices::from_seed(product.states.len() as u64));
    for with_witness in [false, true] {
        let method = Ls3 { with_witness, most_pairs: u64::MAX };
        let properties = model.properties.ids().filter(|&id| method.supports(&model, id).is_ok()).collect();
        let task = Task { model: &model, properties, budget: Budget::unlimited(), n_threads: 1 };
        for answer in method.run(&task, &Silent).map_err(|error| error.to_string())? {
            let property = &model.properties[answer.property];
            let complaint = |what: &str| Err(format!("{} on {}: {what}", method.name(), property.name));
            let happens = happens(&model, product, &property.kind);
            let evidence = match answer.verdict {
                Verdict::Holds(evidence) | Verdict::Violated(evidence) => evidence,
                Verdict::Unknown(_) => continue,
            };
            match evidence {
                Evidence::Trace(trace) if happens => {
                    tally[1].set(tally[1].get() + 1);
                    if let Err(error) = audit::replay(&model, answer.property, &trace) {
                        return complaint(&error.to_string());
                    }
                }
                Evidence::Certificate(proof) if !happens => {
                    tally[0].set(tally[0].get() + 1);
                    if let Err(error) = audit::certificate::check(&model, property, &proof, &Budget::unlimited()) {
                        return complaint(&error.to_string());
                    }
                }
                _ => return complaint("a wrong verdict"),
            }
        }
    }
    Ok(())
}

/// Actions for where nobody can move, patterns, places to end at.
#[test]
fn verdicts_beyond_texts_are_right_and_proofs_pass_the_independent_checker() {
    let tally = [Cell::new(0), Cell::new(0)];
    let beyond = Beyond { chains: false, ..Beyond::everything() };
    for_each_program(250, RandomFeatures { beyond, ..NO_STACKS }, |_, bare| match Product::explore(bare, 400) {
        Some(product) => verdicts(bare, &product, &tally),
        None => Ok(()),
    });
    assert!(tally.iter().all(|count| count.get() > 50), "{tally:?}");
}

#[test]
fn verdicts_are_right_and_proofs_pass_the_independent_checker() {
    let tally = [Cell::new(0), Cell::new(0)];
    for_each_program(150, NO_STACKS, |_, bare| match Product::explore(bare, 400) {
        Some(product) => verdicts(bare, &product, &tally),
        None => Ok(()),
    });
    for seed in cases(150) {
        for features in FEATURES {
            let model = system(seed, features);
            let Some(product) = Product::explore(&model, 600) else { continue };
            if let Err(complaint) = verdicts(&model, &product, &tally) {
                panic!("seed {seed}: {complaint}\n{}", testkit::systems::text(seed, features));
            }
        }
    }
    assert!(tally.iter().all(|count| count.get() > 50), "{tally:?}");
}
