//! Proofs for every size by views of interchangeable processes, and by counting them: edited so that they say less than is true, in just the way that the
//! row names. The checker refuses each, since the property is false.

use base::{Budget, SourceFile};
use driver::methods;
use engine::{Silent, Task, Verdict};
use evidence::Evidence;
use evidence::certificate::{Certificate, Claim};
use evidence::counting::{CountingView, Item as CountingItem};
use evidence::views::{Item, SharedColumn, View};
use model::Model;
use model::control::PlaceId;
use model::value::Value;

const TRUE: Value = Value::Bool(true);

fn load(text: &str) -> Model {
    match lang::load(&SourceFile::new("crowds.pw", text), &[]) {
        Ok(loaded) => loaded.model,
        Err(diagnostics) => panic!("{diagnostics:?}\n{text}"),
    }
}

fn ask(method: &str, model: &Model, property: &str) -> Verdict {
    let properties = vec![driver::select::find(model, property).unwrap()];
    let task = Task { model, properties, budget: Budget::unlimited(), n_threads: 1 };
    methods::checker(methods::find(method).unwrap()).check(&task, &Silent).unwrap().remove(0).verdict
}

fn proof(model: &Model, property: &str) -> Certificate {
    match ask("views", model, property) {
        Verdict::Holds(Evidence::Certificate(certificate)) => *certificate,
        other => panic!("{property}: {other:?}"),
    }
}

/// That the property is false of the program, and that the checker does not accept the certificate of another one for it.
fn check_refused(leaves_out: &str, model: &Model, property: &str, mut certificate: Certificate) {
    let truth = ask("mono", model, property);
    assert!(matches!(truth, Verdict::Violated(_)), "{leaves_out}: {truth:?}");
    certificate.property = property.to_owned();
    let id = driver::select::find(model, property).unwrap();
    let checked = audit::certificate::check(model, &model.properties[id], &certificate, &Budget::unlimited());
    assert!(checked.is_err(), "the checker does not see {leaves_out}: {checked:?}");
}

fn place(model: &Model, label: &str) -> PlaceId {
    model.places.entries().find(|(_, place)| place.name == label).unwrap().0
}

/// The column of a shared variable that has one cell.
fn column(model: &Model, columns: &[SharedColumn], name: &str) -> usize {
    let is_it = |column: &SharedColumn| matches!(column, SharedColumn::Cell(cell) if model.vars[model.cells[*cell].var].name == name);
    columns.iter().position(is_it).unwrap()
}

/// Leaves the views that are wanted, of a proof of something else.
fn with_views(certificate: &mut Certificate, is_wanted: impl Fn(&[SharedColumn], &View) -> bool) {
    let Some(Claim::Views(proof)) = certificate.facts.last_mut().map(|fact| &mut fact.claim) else {
        panic!("no views")
    };
    let n_before = proof.views.len();
    let shared = &proof.shared;
    proof.views.retain(|view| is_wanted(shared, view));
    assert!(proof.views.len() < n_before, "nothing is left out");
}

/// A single process looks at the element that its own array has for somebody whom a cell names.
const ELEMENTS: &str = "program elements(N: 2..) { shared bad: bool; shared cur: pid(P)? = none;
    process P[i in 0..<N] { s: await cur != none && cur != i; away: await false; }
    process Home { local got: [bool; N];
      a: cur = any; w: await cur != none; b: got[cur] = true; c: if got[cur] { x: bad = true; } }
    allow deadlock;
    invariant p: !(bad && exists j in P: P[j]@away); }";

#[test]
fn whoever_is_named_is_looked_at_in_arrays_of_single_processes() {
    let model = load(ELEMENTS);
    let mut certificate = proof(&model, "no_errors");
    with_views(&mut certificate, |columns, view| {
        let [bad, cur] = ["bad", "cur"].map(|name| view.shared[column(&model, columns, name)]);
        let is_cur = matches!(cur, Item::Slot(slot) if view.slots[slot as usize].is_some());
        bad != Item::Value(TRUE) || is_cur
    });
    check_refused("elements of whoever is named", &model, "p", certificate);
}

/// What `w` holds is known to the process that it was copied from, and to nobody else.
const COPIED: &str = "program copied(N: 2..) { shared cnt: 0..=N; shared x: pid(P); shared got, bad: bool;
    process P[i in 0..<N] { public n: 0..=30;
      k: cnt += 1; a: n = 5; b: if x == i { five: await false; } else { y: await got; z: bad = true; } }
    process S { local w: 0..=30; s1: await P[x].n >= 5; s2: w = P[x].n; s3: got = true; }
    allow deadlock;
    invariant counted: cnt <= N;
    invariant p: forall i in P: !(bad && P[i]@five); }";

#[test]
fn processes_that_know_more_or_less_of_a_number_are_parts_of_one_state() {
    let model = load(COPIED);
    let mut certificate = proof(&model, "counted");
    let five = place(&model, "five");
    let Some(Claim::Counting(proof)) = certificate.facts.last_mut().map(|fact| &mut fact.claim) else {
        panic!("it is not counted")
    };
    let counted = proof.counted.clone();
    let columns: Vec<SharedColumn> = { model.cells.entries() }
        .filter(|(id, cell)| {
            let is_single = |owner| model.families[model.processes[owner].family].count() == 1;
            cell.owner.is_none_or(is_single) && !counted.contains(id)
        })
        .map(|(id, _)| SharedColumn::Cell(id))
        .collect();
    let bad = column(&model, &columns, "bad");
    let n_before = proof.views.len();
    let is_bad = |view: &CountingView| {
        view.local[0] == CountingItem::Place(five) && view.shared[bad] == CountingItem::Value(TRUE)
    };
    proof.views.retain(|view| !is_bad(view));
    assert!(proof.views.len() < n_before, "nothing is left out");
    check_refused("who knows less of a number", &model, "p", certificate);
}
