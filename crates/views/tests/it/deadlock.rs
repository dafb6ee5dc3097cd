//! Deadlocks that views and sums exclude for every size, those that they do not, and proofs of other programs shown to the checker.

use std::time::Duration;

use base::{Budget, SourceFile};
use engine::{Engine, Silent, Task, Verdict};
use evidence::Evidence;
use evidence::certificate::Certificate;
use model::Model;
use views::ByViews;

fn load(text: &str, n: i64) -> Model {
    let given = [("N".to_owned(), n)];
    lang::load(&SourceFile::new("d.pw", text), &given).unwrap_or_else(|wrong| panic!("{text}: {wrong:?}")).model
}

fn example(name: &str) -> String {
    std::fs::read_to_string(format!("{}/../../examples/{name}.pw", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// The proof of a property, accepted by the checker.
fn proof(model: &Model, name: &str) -> Option<Certificate> {
    let asked = model.properties.entries().find(|(_, one)| one.name == name).unwrap().0;
    let budget = Budget::new(Some(Duration::from_secs(60)), None, Default::default());
    let task = Task { model, properties: vec![asked], budget, n_threads: 1 };
    let answer = ByViews::for_every_size().run(&task, &Silent).unwrap().remove(0);
    let Verdict::Holds(Evidence::Certificate(proof)) = answer.verdict else { return None };
    let checked = audit::certificate::check(model, &model.properties[asked], &proof, &Budget::unlimited());
    checked.unwrap_or_else(|error| panic!("the checker refuses {name}: {error}"));
    Some(*proof)
}

fn is_free(text: &str) -> bool {
    proof(&load(text, 3), "deadlock_free").is_some()
}

/// Whether a size has a deadlock.
fn has_deadlock(text: &str, n: i64) -> bool {
    let model = load(text, n);
    let product = testkit::Product::explore(&model, 20_000).unwrap();
    product.states.iter().any(|state| model::eval::is_deadlock(&model, state))
}

fn program(shared: &str, body: &str) -> String {
    format!("program d(N: 2..) {{ {shared} process P[i in 0..<N] {{ {body} }} }}")
}

#[test]
fn locks_whose_holder_goes_on_have_no_deadlock() {
    for name in ["mux_sem", "mux_sem_last", "lamport_fast", "permits", "adders", "readers_writers", "mesi", "burns"] {
        let text = example(name);
        let model = lang::load(&SourceFile::new(name, &text), &[]).unwrap().model;
        assert!(proof(&model, "deadlock_free").is_some(), "{name}");
    }
}

#[test]
fn what_everybody_waits_for_has_to_come() {
    let lock = program("shared m: lock;", "loop { a: acquire m; b: skip; c: release m; }");
    let barrier = program("shared n: 0..=N;", "come: n += 1; wait: await n == N; go: skip;");
    let first =
        program("shared f: [bool; N];", "loop { a: f[i] = true; b: await forall k: k < i => !f[k]; c: f[i] = false; }");
    let last =
        program("shared f: [bool; N];", "loop { a: f[i] = true; b: await forall k: k > i => !f[k]; c: f[i] = false; }");
    let ends = program("shared d: bool;", "a: d = true; b: await d;");
    for text in [&lock, &barrier, &first, &last, &ends] {
        assert!(is_free(text), "{text}");
        assert!((2..5).all(|n| !has_deadlock(text, n)), "{text}");
    }
}

/// Programs that do have deadlocks, some of them from three processes on, aimed at what is not seen: rounds of loops inside a step that block,
/// witnesses, two quantifiers that are false together only, processes that a cell names, the last one that waits for nobody, semaphores that
/// somebody keeps, and processes that have come to their end.
fn deadlocks() -> Vec<(String, i64)> {
    let flags = "shared f: [bool; N]; shared g: [bool; N];";
    vec![
        (
            program(
                "shared m: lock; shared n: lock;",
                "loop { either { a: acquire m; b: acquire n; } or { c: acquire n; d: acquire m; } e: release m; h: release n; }",
            ),
            2,
        ),
        (program(flags, "a: f[i] = true; b: atomic { for k in 0..<N { if k != i { await !f[k]; } } g[i] = true; }"), 2),
        (program(flags, "a: f[i] = true; b: await (exists k: k != i && f[k]) => (forall k: g[k]);"), 2),
        (program(flags, "a: f[i] = true; b: await exists k: k != i && !f[k];"), 2),
        (program(flags, "a: f[i] = true; b: await forall k: k < i => g[k];"), 2),
        (program(flags, "a: f[i] = true; b: await forall k != i: !f[k]; c: f[i] = false;"), 2),
        (
            program(
                "shared p: pid?; shared f: [bool; N];",
                "a: p = i; b: await p != i; c: f[i] = true; d: await p == none || f[p];",
            ),
            2,
        ),
        (program("shared s: sem = 1;", "either { a: acquire s; b: skip; } or { c: acquire s; d: release s; }"), 2),
        (program("shared n: 0..=N;", "come: n += 1; wait: await n + 1 == N; go: n -= 1; back: await n == N;"), 2),
        (program("shared d: 0..=3;", "a: atomic { if d < 3 { d += 1; } } b: await d < 3;"), 3),
    ]
}

#[test]
fn no_deadlock_is_proved_absent_and_none_that_is_forged_is_accepted() {
    for (text, from) in deadlocks() {
        assert!((from..5).all(|n| has_deadlock(&text, n)), "{text}");
        assert!(!is_free(&text), "{text}");
        // The same views, which are right, as a proof of what they do not say.
        let model = load(&text, 3);
        let Some(views) = proof(&model, "no_errors") else { continue };
        let forged = Certificate { property: "deadlock_free".to_owned(), ..views };
        let asked = model.properties.iter().find(|one| one.name == "deadlock_free").unwrap();
        assert!(audit::certificate::check(&model, asked, &forged, &Budget::unlimited()).is_err(), "{text}");
    }
}

/// There is none at the sizes that are searched beside a claim; the first comes with six or seven processes.
#[test]
fn deadlocks_of_many_processes_only_are_not_proved_absent() {
    let permits =
        "one: atomic { await free > 0; free -= 1; } two: atomic { await free > 0; free -= 1; } back: free += 2;";
    let last = "a: atomic { left -= 1; if left == 5 { half = true; } } b: await !half || left == 0; c: await !half;";
    let counted = "public c: 0..=1; a: c = 1; b: if count(k: P[k].c == 1) > 5 { stuck = true; } d: await !stuck;";
    let somebody = "public c: bool; a: atomic { c = true; if x < 6 { x += 1; } } b: await x < 6 || exists k: !P[k].c;";
    for text in [
        program("shared free: 0..=6 = 6;", permits),
        program("shared left: 0..=N = N; shared half: bool;", last),
        program("shared got: 0..=N;", "a: got += 1; b: await got < 6;"),
        program("shared stuck: bool;", counted),
        program("shared x: 0..=6;", somebody),
    ] {
        assert!(!has_deadlock(&text, 4) && has_deadlock(&text, 6), "{text}");
        assert!(!is_free(&text), "{text}");
    }
}

#[test]
fn views_that_are_missing_are_refused() {
    let text = program("shared m: lock;", "loop { a: acquire m; b: skip; c: release m; }");
    let model = load(&text, 3);
    let asked = model.properties.iter().find(|one| one.name == "deadlock_free").unwrap();
    let whole = proof(&model, "deadlock_free").unwrap();
    let n_views = whole.views().unwrap().views.len();
    for at in 0..n_views {
        let mut fewer = whole.clone();
        let evidence::certificate::Claim::Views(claim) = &mut fewer.facts[0].claim else { panic!("another claim") };
        claim.views.remove(at);
        assert!(audit::certificate::check(&model, asked, &fewer, &Budget::unlimited()).is_err(), "without view {at}");
    }
}

/// Producers and consumers, whose room and goods are counted, with what they do at `put` and `get`.
fn two_families(producer: &str, consumer: &str) -> String {
    format!(
        "program d(N: 2.., M: 2..) {{ shared room: sem(2) = 2; shared goods: sem(2) = 0; shared m: lock; \
         process P[i in 0..<N] {{ loop {{ {producer} }} }} process C[j in 0..<M] {{ loop {{ {consumer} }} }} }}"
    )
}

/// What one family waits for is what the other one has: somebody of each is blocked in a deadlock.
#[test]
fn families_that_wait_for_each_other_are_looked_at_together() {
    let (put, get) = (
        "a: acquire room; b: acquire m; c: release m; d: release goods;",
        "e: acquire goods; f: acquire m; g: release m; h: release room;",
    );
    let right = two_families(put, get);
    assert!(is_free(&right), "{right}");
    assert!((2..4).all(|n| !has_deadlock(&right, n)), "{right}");
    let buffer = lang::load(&SourceFile::new("bounded_buffer", example("bounded_buffer")), &[]).unwrap().model;
    assert!(proof(&buffer, "deadlock_free").is_some());
    for (put, get) in [
        // The lock is taken before what is waited for.
        ("b: acquire m; a: acquire room; c: release m; d: release goods;", get),
        (put, "f: acquire m; e: acquire goods; g: release m; h: release room;"),
        // Nobody gives room back, or goods; or both wait for goods.
        (put, "e: acquire goods; f: acquire m; g: release m;"),
        ("a: acquire room; b: acquire m; c: release m;", get),
        ("a: acquire goods; b: skip; d: release goods;", get),
        // Room is taken twice.
        (
            "a: acquire room; x: acquire room; b: skip; d: release goods; y: release goods;",
            "e: acquire goods; k: acquire goods; h: release room; l: release room;",
        ),
    ] {
        let wrong = two_families(put, get);
        assert!(has_deadlock(&wrong, 3), "{wrong}");
        assert!(!is_free(&wrong), "{wrong}");
        let model = load(&wrong, 3);
        let Some(views) = proof(&model, "no_errors") else { continue };
        let forged = Certificate { property: "deadlock_free".to_owned(), ..views };
        let asked = model.properties.iter().find(|one| one.name == "deadlock_free").unwrap();
        assert!(audit::certificate::check(&model, asked, &forged, &Budget::unlimited()).is_err(), "{wrong}");
    }
}

/// A server that has answered need not know any more whom; what it was told is shown where that proves that the client goes on.
#[test]
fn whoever_was_answered_goes_on() {
    let text = |end: &str| {
        format!(
            "program d(N: 2..) {{ chan ask: [1] of (pid(P)); chan grant[N]: [1] of (bool); chan done: [1] of (bool); \
             process P[i in 0..<N] {{ loop {{ a: send ask(i); b: receive grant[i](_); c: skip; {end} }} }} \
             process S {{ local c: pid(P); loop {{ get: receive ask(c); give: send grant[c](true); back: receive done(_); }} }} }}"
        )
    };
    let right = text("d: send done(true);");
    assert!(is_free(&right), "{right}");
    assert!(!has_deadlock(&right, 2) && !has_deadlock(&right, 3));
    let wrong = text("d: skip;");
    assert!(has_deadlock(&wrong, 2) && !is_free(&wrong), "{wrong}");
}
