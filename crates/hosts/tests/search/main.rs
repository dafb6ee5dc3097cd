//! A search with several workers says what one machine says, also of temporal properties: random programs under random fairness, against method `mono` and brute force.

#![allow(clippy::unwrap_used)]

mod examples;

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use audit::{replay, temporal};
use base::{Budget, CancelToken, SourceFile};
use engine::{Answer, Engine, Observer, Silent, Task, Verdict};
use evidence::Evidence;
use hosts::file;
use hosts::search::{Failure, FairSettings, OnHosts, Outcome, Search, Searcher};
use model::Model;
use model::property::PropertyKind;
use product::Mono;
use testkit::temporal::with_temporal;
use testkit::{Product, RandomFeatures, for_each_program};

const MAX_STATES: usize = 60;

/// A search in this process.
struct Here {
    model: Arc<Model>,
    n_threads: usize,
    budget: Budget,
    fair: FairSettings,
}

impl Searcher for Here {
    fn search(&self, _budget: &Budget, _observer: &dyn Observer) -> Result<Outcome, Failure> {
        let search = Search {
            model: Arc::clone(&self.model),
            text: String::new(),
            asked: self.model.properties.ids().collect(),
            budget: self.budget.clone(),
            hosts: file::parse("local").unwrap(),
            process: 0,
            n_threads: self.n_threads,
            secret: None,
            checkpoint: None,
            resumes: false,
            fair: self.fair,
            patience: Duration::from_secs(1),
            is_tunnelled: false,
            connected: None,
            turned_away: None,
            teller: None,
        };
        Ok(search.run()?.unwrap())
    }
}

/// What so many workers say of all properties of a Model.
fn answers(model: &Model, n_threads: usize, budget: Budget) -> Vec<Answer> {
    answers_with(model, n_threads, budget, FairSettings::default())
}

fn answers_with(model: &Model, n_threads: usize, budget: Budget, fair: FairSettings) -> Vec<Answer> {
    let asked = model.properties.ids().collect();
    let here = Here { model: Arc::new(model.clone()), n_threads, budget, fair };
    OnHosts::new(Box::new(here), asked).run(&task(model), &Silent).unwrap()
}

fn task(model: &Model) -> Task<'_> {
    Task { model, properties: model.properties.ids().collect(), budget: Budget::unlimited(), n_threads: 1 }
}

/// The kind of a verdict, which must be the same; an unknown with its reason.
fn said(answer: &Answer) -> String {
    match &answer.verdict {
        Verdict::Holds(_) => "holds".to_owned(),
        Verdict::Violated(_) => "violated".to_owned(),
        Verdict::Unknown(reason) => reason.to_string(),
    }
}

fn compare(n_programs: u64, shape: RandomFeatures, budget: &Budget, fair: FairSettings) {
    let (n_holds, n_violated, n_far) = (Cell::new(0), Cell::new(0), Cell::new(0));
    for_each_program(n_programs, shape, |_, model| {
        let Some(whole) = Product::explore(model, MAX_STATES) else { return Ok(()) };
        let seed = whole.states.len() as u64 * 7 + model.places.len() as u64;
        let asked = with_temporal(model, seed, 3);
        let alone = Mono.run(&task(&asked), &Silent).unwrap();
        for (ours, theirs) in answers_with(&asked, 1 + seed as usize % 3, budget.clone(), fair).iter().zip(&alone) {
            let property = &asked.properties[ours.property];
            // Where few nodes go home, a loop may be too far from where it is looked for.
            if fair.most_home < FairSettings::default().most_home && said(ours).starts_with("fair runs are among") {
                n_far.set(n_far.get() + 1);
                continue;
            }
            if ours.property != theirs.property || said(ours) != said(theirs) {
                return Err(format!("{}: {} by many workers, {} by one", property.name, said(ours), said(theirs)));
            }
            let PropertyKind::Temporal(formula) = &property.kind else { continue };
            match &ours.verdict {
                Verdict::Violated(Evidence::Trace(trace)) => {
                    replay(&asked, ours.property, trace).map_err(|error| error.to_string())?;
                    n_violated.set(n_violated.get() + 1);
                }
                Verdict::Holds(Evidence::Exploration(explored)) => {
                    let expected = temporal::is_violated(&asked, &whole.states, formula, &property.under);
                    if expected == Ok(Some(true)) || explored.states != whole.states.len() as u64 {
                        return Err(format!("{} holds after {explored:?}, and brute force disagrees", property.name));
                    }
                    n_holds.set(n_holds.get() + 1);
                }
                other => return Err(format!("{}: {other:?}", property.name)),
            }
        }
        Ok(())
    });
    assert!(n_far.get() * 20 <= n_violated.get(), "{n_far:?} runs were not found, {n_violated:?} were");
    assert!(n_holds.get() > 20 && n_violated.get() > 20, "{n_holds:?} hold, {n_violated:?} are violated");
}

/// Nothing goes to worker 0 before it is known that a fair loop is in it.
fn all_rounds() -> FairSettings {
    FairSettings { soon_home: 0, ..FairSettings::default() }
}

#[test]
fn verdicts_of_random_programs_are_those_of_one_machine() {
    compare(
        120,
        RandomFeatures { n_statements: 3, procedures: false, ..RandomFeatures::everything() },
        &Budget::unlimited(),
        all_rounds(),
    );
}

#[test]
fn verdicts_beyond_texts_are_those_of_one_machine() {
    compare(
        120,
        RandomFeatures { n_statements: 3, procedures: false, ..RandomFeatures::beyond_texts() },
        &Budget::unlimited(),
        all_rounds(),
    );
}

/// All that an edge leads to goes to worker 0 at once, or what some rounds leave of it; there may be no fair loop in it.
#[test]
fn verdicts_are_the_same_where_little_remains_and_goes_home_soon() {
    for (shape, soon_home) in [(RandomFeatures::everything(), 1 << 20), (RandomFeatures::beyond_texts(), 12)] {
        let shape = RandomFeatures { n_statements: 3, procedures: false, ..shape };
        compare(60, shape, &Budget::unlimited(), FairSettings { soon_home, ..FairSettings::default() });
    }
}

/// The nodes of products on disk, for which there would be room in memory.
#[test]
fn verdicts_are_the_same_with_nodes_on_disk() {
    let directory = tempfile::tempdir().unwrap();
    let budget = Budget::unlimited().with_disk(directory.path());
    for shape in [RandomFeatures::everything(), RandomFeatures::beyond_texts()] {
        compare(
            60,
            RandomFeatures { n_statements: 3, procedures: false, ..shape },
            &budget,
            FairSettings { on_disk: true, ..all_rounds() },
        );
    }
}

/// More remains than goes home, so that loops are looked for around some nodes.
#[test]
fn runs_are_found_nearby_where_too_much_remains() {
    for shape in [RandomFeatures::everything(), RandomFeatures::beyond_texts()] {
        let few = FairSettings { most_home: 2, ..all_rounds() };
        compare(60, RandomFeatures { n_statements: 3, procedures: false, ..shape }, &Budget::unlimited(), few);
    }
}

const CROWD: &str = "program crowd(N: 2..) {
    shared x: [0..=9; N] = 0;
    shared turn: 0..=9 = 0;
    process P[i in 0..<N] {
        loop { up: x[i] = (x[i] + 1) % 10; if i == 0 { pass: turn = (turn + 1) % 10; } }
    }
    property again:   forall i: always eventually x[i] == 3 under every P[*];
    property unfair:  forall i: always eventually x[i] == 3 expect violated;
    property divided: always eventually 1 / (turn - 5) == 1 under every P[*];
    invariant small:  turn <= 9;
}";

/// A limit in the middle of a product is unknown, with the host; an expression without a value is, too.
#[test]
fn limits_and_faults_of_temporal_properties_are_unknown() {
    let model = lang::load(&SourceFile::new("crowd.pw", CROWD), &[]).unwrap().model;
    let said_by = |budget: Budget, name: &str| {
        let all = answers(&model, 2, budget);
        said(all.iter().find(|answer| model.properties[answer.property].name == name).unwrap())
    };
    let of_name = |name: &str| said_by(Budget::unlimited(), name);
    assert_eq!(["again", "unfair", "small"].map(of_name), ["holds", "violated", "holds"]);
    let faulty = of_name("divided");
    assert!(faulty.contains("evaluating it fails in a reachable state"), "{faulty}");
    // The states have room, and a product with its marks has none.
    let limited = |name: &str| said_by(Budget::new(None, Some(60 << 10), CancelToken::default()), name);
    assert!(limited("again").starts_with("on host local: the memory limit of"), "{}", limited("again"));
    assert_eq!(limited("small"), "holds");
}

/// With room on disk the same limit leaves nothing open.
#[test]
fn nodes_that_memory_has_no_room_for_go_to_disk() {
    let model = lang::load(&SourceFile::new("crowd.pw", CROWD), &[]).unwrap().model;
    let directory = tempfile::tempdir().unwrap();
    for n_threads in [2, 3] {
        let budget = Budget::new(None, Some(60 << 10), CancelToken::default()).with_disk(directory.path());
        let all = answers(&model, n_threads, budget);
        let of_name = |name: &str| said(all.iter().find(|one| model.properties[one.property].name == name).unwrap());
        assert_eq!(["again", "small"].map(of_name), ["holds", "holds"], "{n_threads} threads");
    }
}
