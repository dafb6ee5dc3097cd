//! Proofs by windows of neighbours, and by views of a few cells, edited or shown for another program in which the property is false: the checker
//! refuses each, for the one reason that the row names.

use std::sync::Arc;

use base::{Budget, SourceFile};
use driver::checker::{Checker, Single};
use driver::methods;
use engine::{Silent, Task, Verdict};
use evidence::certificate::{Certificate, Claim, Fact};
use evidence::fine::{FineContent, FineProof, FineState, FineView, LocalItem};
use evidence::rings::{Network, RingItem, RingValue, RingWeight, RingsProof, tree};
use evidence::views::{LocalColumn, SharedColumn};
use evidence::{Evidence, Scope};
use model::Model;
use model::value::Value;
use rings::ByRings;

/// A program with a proof, and what is changed.
struct Row {
    /// What the checker would not see.
    leaves_out: &'static str,
    program: &'static str,
    property: &'static str,
    word: &'static str,
    other: &'static str,
    edit: fn(&mut RingsProof),
}

const RINGS: [Row; 6] = [
    Row {
        leaves_out: "how windows start",
        program: "program r(N: 2..) { shared a: [bool; N] = false;
         process P[i in 0..<N] { loop { l: a[(i + 1) % N] = false; m: skip; } }
         invariant p: forall i: !a[i]; }",
        property: "p",
        word: "bool; N] = false",
        other: "bool; N] = true",
        edit: |_| {},
    },
    Row {
        leaves_out: "steps of the window's own processes",
        program: "program r(N: 2..) { shared a: [bool; N];
         process P[i in 0..<N] { public x: 0..=1; loop { l: a[(i + 1) % N] = true; m: x = 0; } }
         invariant p: forall i: P[i].x == 0; }",
        property: "p",
        word: "m: x = 0",
        other: "m: x = 1",
        edit: |_| {},
    },
    Row {
        leaves_out: "steps of neighbours",
        program: "program r(N: 3..) { shared a: [bool; N];
         process P[i in 0..<N] { loop { l: a[(i + 1) % N] = true; m: if a[i] { bad: skip; } } }
         invariant p: forall i: !(P[i]@bad && !a[i]); }",
        property: "p",
        word: " && !a[i]",
        other: "",
        edit: without_own,
    },
    Row {
        leaves_out: "steps that fail",
        program: "program r(N: 2..) { shared a: [bool; N];
         process P[i in 0..<N] { loop { l: a[(i + 1) % N] = true; m: assert a[i] || !a[i]; } } }",
        property: "no_errors",
        word: "a[i] || !a[i]",
        other: "!a[i]",
        edit: |_| {},
    },
    Row {
        leaves_out: "what windows say of the property",
        program: "program r(N: 3..) { shared a: [bool; N];
         process P[i in 0..<N] { loop { l: a[(i + 1) % N] = true; m: if a[i] { bad: skip; } } }
         invariant p: forall i: !(P[i]@bad && !a[i]); }",
        property: "p",
        word: " && !a[i]",
        other: "",
        edit: |_| {},
    },
    Row {
        leaves_out: "elements of one process that are seen at different distances",
        program: "program r(N: 5..) { shared a: [[bool; 2]; N];
         process P[i in 0..<N] {
           start: if i == 0 { a[i][0] = true; }
           loop { go: atomic { await a[i][0]; a[i][0] = false;
             if i == 3 { a[(i + 1) % N][1] = true; a[(i + 1) % N][0] = true; } else { a[(i + 1) % N][0] = true; } } } } }",
        property: "deadlock_free",
        word: "[1] = true; a[(i + 1) % N][0] = true",
        other: "[1] = true; a[(i + 1) % N][0] = false",
        edit: with_both_rows,
    },
];

/// Sums that count the second element of each process like the first, and no window in which two of them are true.
fn with_both_rows(proof: &mut RingsProof) {
    for flow in &mut proof.flows {
        let more = flow.weights.iter().filter_map(|(weight, times)| match weight {
            RingWeight::Element(var, 0, value) => Some((RingWeight::Element(*var, 1, *value), *times)),
            _ => None,
        });
        let more: Vec<_> = more.collect();
        flow.weights.extend(more);
    }
    assert!(!proof.flows.is_empty());
    for window in &mut proof.windows {
        let is_token = |(item, value): (&RingItem, &RingValue)| {
            matches!(item, RingItem::Element(..)) && *value == RingValue::Value(Value::Bool(true))
        };
        let items = &window.items;
        window.states.retain(|state| items.iter().zip(state).filter(|&one| is_token(one)).count() < 2);
    }
}

/// No window in which the element of its first process is true.
fn without_own(proof: &mut RingsProof) {
    for window in &mut proof.windows {
        let own = window.items.iter().position(|item| matches!(item, RingItem::Element(_, 0, _)));
        let own = own.expect("a process sees its own element");
        window.states.retain(|state| state[own] != RingValue::Value(Value::Bool(true)));
    }
}

/// The filter lock, of which views of a few cells prove mutual exclusion at one size, and what becomes of it.
const FILTER: &str = "program filter(N: 3..) { shared last: [pid; N];
    process P[i in 0..<N] { public level: 0..<N;
      loop {
        noncrit: idle;
        for l in 1..<N { climb: level = l; mark: last[l] = i; wait: await last[l] != i || forall k != i: P[k].level < l; }
        crit: skip; leave: level = 0; } }
    invariant mutex: forall i != j: !(P[i]@crit && P[j]@crit); }";

const FILTERS: [(&str, &str, &str); 3] = [
    ("steps", "P[k].level < l", "P[k].level < l + 1"),
    ("what views say of the property", "P[j]@crit", "P[j]@climb"),
    ("how processes start", "loop {\n        noncrit", "goto crit; loop {\n        noncrit"),
];

/// A loop over all others, in which all are looked at; a proof of it does not hold where the one that the loop takes is left out.
const SCAN: &str = "program scan(N: 2..) { shared x: 0..<N;
    process P[i in 0..<N] { public flag: bool;
      loop { s: flag = true;
        for k in 0..<N { v: if k != i { w: await forall j: j == i || !P[j].flag; } }
        crit: skip; u: flag = false; } }
    invariant mutex: forall i != j: !(P[i]@crit && P[j]@crit); }";

fn load(text: &str) -> Model {
    match lang::load(&SourceFile::new("windows.pw", text), &[]) {
        Ok(loaded) => loaded.model,
        Err(diagnostics) => panic!("{diagnostics:?}\n{text}"),
    }
}

fn ask(checker: &dyn Checker, model: &Model, property: &str) -> Verdict {
    let properties = vec![driver::select::find(model, property).unwrap()];
    let task = Task { model, properties, budget: Budget::unlimited(), n_threads: 1 };
    checker.check(&task, &Silent).unwrap().remove(0).verdict
}

fn proof(checker: &dyn Checker, model: &Model, property: &str) -> Certificate {
    match ask(checker, model, property) {
        Verdict::Holds(Evidence::Certificate(certificate)) => *certificate,
        other => panic!("{property}: {other:?}"),
    }
}

/// That the property is false of the program, and that the checker does not accept the certificate.
fn check_refused(leaves_out: &str, changed: &Model, property: &str, certificate: &Certificate) {
    let mono = methods::checker(methods::find("mono").unwrap());
    let truth = ask(&*mono, changed, property);
    assert!(matches!(truth, Verdict::Violated(_)), "{leaves_out}: {truth:?}");
    let id = driver::select::find(changed, property).unwrap();
    let checked = audit::certificate::check(changed, &changed.properties[id], certificate, &Budget::unlimited());
    assert!(checked.is_err(), "the checker does not see {leaves_out}: {checked:?}");
}

#[test]
fn windows_prove_what_they_are_about() {
    let checker = Single(Arc::new(ByRings::for_every_size()));
    for Row { leaves_out, program, property, word, other, edit } in RINGS {
        assert_eq!(program.matches(word).count(), 1, "{word}: {program}");
        let (model, changed) = (load(program), load(&program.replace(word, other)));
        let mut certificate = proof(&checker, &model, property);
        let Some(Claim::Rings(windows)) = certificate.facts.last_mut().map(|fact| &mut fact.claim) else {
            panic!("{leaves_out}: no windows")
        };
        edit(windows);
        check_refused(leaves_out, &changed, property, &certificate);
    }
}

/// Who is asked about one size has the proof for every size, too.
#[test]
fn windows_prove_the_size_that_is_asked() {
    let text = include_str!("../../../../examples/milner.pw");
    let given = [("N".to_owned(), 50)];
    let model = lang::load(&SourceFile::new("milner.pw", text), &given).unwrap().model;
    let proved = proof(&*methods::checker(methods::find("views").unwrap()), &model, "one_token");
    assert!(proved.rings().is_some(), "{:?}", proved.scope);
    let property = driver::select::find(&model, "one_token").unwrap();
    audit::certificate::check(&model, &model.properties[property], &proved, &Budget::unlimited()).unwrap();
}

#[test]
fn views_of_cells_prove_what_they_are_about() {
    let checker = methods::checker(methods::find("views").unwrap());
    for (leaves_out, word, other) in FILTERS {
        assert_eq!(FILTER.matches(word).count(), 1, "{word}");
        let certificate = proof(&*checker, &load(FILTER), "mutex");
        assert!(certificate.fine().is_some(), "{leaves_out}: no views of cells");
        check_refused(leaves_out, &load(&FILTER.replace(word, other)), "mutex", &certificate);
    }
}

#[test]
fn whom_a_loop_takes_is_one_of_those_a_quantifier_is_about() {
    let checker = methods::checker(methods::find("views").unwrap());
    let (word, other) = ("j == i || !P", "j == i || j == k || !P");
    assert_eq!(SCAN.matches(word).count(), 1);
    let certificate = proof(&*checker, &load(SCAN), "mutex");
    assert!(certificate.fine().is_some(), "no views of cells");
    check_refused("whom a loop takes", &load(&SCAN.replace(word, other)), "mutex", &certificate);
}

/// Two loops over all processes at once: the first step of the outer one is taken from the place before it, so that it is not known to be under way.
const TWO_LOOPS: &str = "program loops(N: 2..) { shared last: pid;
    process P[i in 0..<N] {
      either { for a in P { q: last = i; for b in P { s: if a != b { w: skip; } else { y: skip; } } t: skip; } }
      or { z: skip; } }
    invariant p: forall i: !P[i]@w; }";

/// All local states but those where two loops take different processes: closed, if both take the same one.
#[test]
fn two_loops_at_once_do_not_take_the_same_process() {
    let model = load(TWO_LOOPS);
    let (family, members) = model.families.entries().next().unwrap();
    let own = (0..members.n_cells).map(LocalColumn::Own);
    let taken = model.loops.ids().map(LocalColumn::Taken);
    let local: Vec<LocalColumn> = [LocalColumn::Control].into_iter().chain(own).chain(taken).collect();
    let places = model.places.entries().filter(|(_, place)| !place.labels.iter().any(|label| label == "w"));
    let state = |place, inner| {
        let counters = (0..members.n_cells).map(|_| LocalItem::Value(Value::None));
        let taken = [false, inner].map(|is_under_way| LocalItem::Value(Value::Bool(is_under_way)));
        [LocalItem::Place(place)].into_iter().chain(counters).chain(taken).collect()
    };
    let states = places.flat_map(|(place, _)| [state(place, false), state(place, true)]).collect();
    let claim = Claim::Fine(FineProof { family, local, states, views: Vec::new(), is_joint: false, flows: Vec::new() });
    let facts = vec![Fact { claim, uses: Vec::new() }];
    let certificate = Certificate { property: "p".to_owned(), scope: Scope::Instance, facts, implies: Vec::new() };
    check_refused("whom the outer loop takes", &model, "p", &certificate);
}

/// Views without a state are closed under all steps, and exclude everything; but no program starts in them.
#[test]
fn views_of_cells_start_somewhere() {
    let checker = methods::checker(methods::find("views").unwrap());
    let mut certificate = proof(&*checker, &load(FILTER), "mutex");
    let Some(Claim::Fine(views)) = certificate.facts.last_mut().map(|fact| &mut fact.claim) else {
        panic!("no views of cells")
    };
    views.views.iter_mut().for_each(|view| view.theta.clear());
    let changed = load(&FILTER.replace("P[j]@crit", "P[j]@climb"));
    check_refused("how views start", &changed, "mutex", &certificate);
}

/// A right child writes what its parent's other child waits for: without the windows of that one after the step nothing but this step leads out of a window.
const SIBLINGS: &str = "program siblings(N: 3..) { shared a: [0..=1; N];
    process P[i in 0..<N] { loop { l: if i > 0 {
      if i % 2 == 0 { m: a[(i - 1) / 2] = 1; } else { o: await a[(i - 1) / 2] == 1; bad: skip; } } } }
    invariant p: forall i: !P[i]@bad; allow deadlock; }";

/// A second column of a cell would never be written: every state in which the cell has changed would be excluded.
#[test]
fn views_of_cells_show_a_cell_once() {
    let model = load(
        "program deep { shared a: 0..=4; process P[i in 0..<3] { loop { up: a = (a + 1) % 5; } } invariant low: a <= 3; }",
    );
    let cell = SharedColumn::Cell(model.cells.ids().next().unwrap());
    let family = model.families.ids().next().unwrap();
    let place = LocalItem::Place(model.places.ids().next().unwrap());
    let number = |number: i64| FineContent::Value(Value::Int(number));
    let theta =
        (0..=4).map(|held| FineState { cells: vec![number(held), number(0)], blocks: vec![0], taken: vec![false] });
    let view = FineView { cells: vec![cell, cell], k: 1, blocks: vec![0], theta: theta.collect() };
    let views = FineProof {
        family,
        local: vec![LocalColumn::Control],
        states: vec![vec![place]],
        views: vec![view],
        is_joint: false,
        flows: Vec::new(),
    };
    let facts = vec![Fact { claim: Claim::Fine(views), uses: Vec::new() }];
    let mut certificate =
        Certificate { property: "low".to_owned(), scope: Scope::Instance, facts, implies: Vec::new() };
    check_refused("that a cell is shown twice", &model, "low", &certificate);
    // With one column the views are true, and say nothing of what is false.
    let Some(Claim::Fine(views)) = certificate.facts.first_mut().map(|fact| &mut fact.claim) else { unreachable!() };
    views.views[0].cells.pop();
    views.views[0].theta.iter_mut().for_each(|state| state.cells.truncate(1));
    certificate.property = "no_errors".to_owned();
    let id = driver::select::find(&model, "no_errors").unwrap();
    audit::certificate::check(&model, &model.properties[id], &certificate, &Budget::unlimited()).unwrap();
}

/// Who waits is asked about itself, too, and decides; but who is asked before it may have no value.
#[test]
fn who_is_asked_before_the_mover_may_be_a_fault() {
    let model = load(
        "program before(N: 2..) { process P[i in 0..<N] { public x: 0..=1 = 1;
           loop { a: x = 1 - x; b: await exists j: j == i || 1 / P[j].x > 0; } }
         invariant fine: forall i: P[i].x >= 0; }",
    );
    let mut certificate = proof(&*methods::checker(methods::find("views").unwrap()), &model, "fine");
    assert!(certificate.fine().is_some(), "no views of cells");
    certificate.property = "no_errors".to_owned();
    check_refused("a fault of somebody before the one that moves", &model, "no_errors", &certificate);
}

#[test]
fn a_parents_other_child_is_heard() {
    let model = load(SIBLINGS);
    let mut certificate = proof(&Single(Arc::new(ByRings::for_every_size())), &model, "no_errors");
    certificate.property = "p".to_owned();
    assert_eq!(certificate.rings().map(|windows| windows.network), Some(Network::Tree));
    let id = driver::select::find(&model, "p").unwrap();
    let checked = audit::certificate::check(&model, &model.properties[id], &certificate, &Budget::unlimited());
    assert!(checked.is_err(), "the windows show what is bad");
    let Some(Claim::Rings(windows)) = certificate.facts.last_mut().map(|fact| &mut fact.claim) else {
        panic!("no windows")
    };
    for window in windows.windows.iter_mut().filter(|window| window.word[0].left > 0 && window.word[0].residue == 1) {
        let above = window.items.iter().position(|item| matches!(item, RingItem::Element(_, tree::PARENT, _)));
        let above = above.expect("a child sees what it waits for");
        window.states.retain(|state| state[above] == RingValue::Value(Value::Int(0)));
    }
    check_refused("a step of the parent's other child", &model, "p", &certificate);
}

/// What bounds windows is among the settings of the methods that ask them.
#[test]
fn windows_go_as_far_as_their_settings_say() {
    let text = include_str!("../../../../examples/milner.pw");
    let model = lang::load(&SourceFile::new("milner.pw", text), &[("N".to_owned(), 50)]).unwrap().model;
    let asked = |given: &str| {
        let method = methods::find("views").unwrap();
        ask(&*methods::configured(method, &[given.to_owned()]).ok().unwrap(), &model, "one_token")
    };
    assert!(matches!(asked("window-processes=3"), Verdict::Holds(_)));
    // Whoever chooses has two ways.
    let verdict = asked("window-ways=1");
    assert!(matches!(verdict, Verdict::Unknown(_)), "{verdict:?}");
}
