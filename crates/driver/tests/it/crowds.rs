//! Proofs for every size by views of interchangeable processes, and by counting them: edited so that they say less than is true, in just the way that the
//! row names. The checker refuses each, since the property is false.

use base::{Budget, Id, SourceFile};
use driver::methods;
use engine::{Silent, Task, Verdict};
use evidence::certificate::{Certificate, Claim, Fact};
use evidence::counting::{CellSum, ClassMember, CountingItem, CountingProof, CountingView, SumWeight};
use evidence::views::{Item, LocalColumn, Presence, SharedColumn, View, ViewsProof};
use evidence::{Evidence, Scope};
use model::Model;
use model::control::PlaceId;
use model::value::Value;
use model::variable::{Cell, CellId};

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
      a: cur = any; w: await cur != none; b: got[cur] = true; c: atomic { if got[cur] { bad = true; } } }
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
    let columns = shared_columns(&model, &proof.counted);
    let bad = column(&model, &columns, "bad");
    let n_before = proof.views.len();
    let is_bad = |view: &CountingView| {
        view.local[0] == CountingItem::Place(five) && view.shared[bad] == CountingItem::Value(TRUE)
    };
    proof.views.retain(|view| !is_bad(view));
    assert!(proof.views.len() < n_before, "nothing is left out");
    check_refused("who knows less of a number", &model, "p", certificate);
}

/// A program with a proof by counting, and a word of it: with another one the property is false.
struct Borrowed {
    /// What the checker would not see.
    leaves_out: &'static str,
    program: &'static str,
    property: &'static str,
    word: &'static str,
    other: &'static str,
}

const BORROWED: [Borrowed; 16] = [
    Borrowed {
        leaves_out: "how processes start",
        program: "program n(N: 2..) { shared t: 0..=N;
         process P[i in 0..<N] { public x: 0..=1 = 0; a: t += 1; b: skip; }
         allow deadlock; invariant p: forall i: P[i].x == 0; }",
        property: "p",
        word: "0..=1 = 0",
        other: "0..=1 = 1",
    },
    Borrowed {
        leaves_out: "what sums are in the beginning",
        program: "program n(N: 2..) { shared t: 0..=N = 0;
         process P[i in 0..<N] { a: t += 1; b: skip; }
         allow deadlock; invariant p: t == count(i: !P[i]@a); }",
        property: "p",
        word: "0..=N = 0",
        other: "0..=N = 1",
    },
    Borrowed {
        leaves_out: "faults",
        program: "program n(N: 2..) { shared t: 0..=N;
         process P[i in 0..<N] { a: t += 1; b: assert t <= N; } allow deadlock; }",
        property: "no_errors",
        word: "t <= N",
        other: "t < N",
    },
    Borrowed {
        leaves_out: "what the property says",
        program: "program n(N: 2..) { shared t: 0..=N;
         process P[i in 0..<N] { a: t += 1; b: skip; } allow deadlock; invariant p: t <= N; }",
        property: "p",
        word: "t <= N",
        other: "t < N",
    },
    Borrowed {
        leaves_out: "steps that are not followed",
        program: "program n(N: 2..) { shared t: 0..=N; shared y: 0..=3;
         process P[i in 0..<N] { a: t += 1; b: y = 0; } allow deadlock; invariant p: y == 0; }",
        property: "p",
        word: "y = 0",
        other: "y = i",
    },
    Borrowed {
        leaves_out: "that an index is one of another family, too",
        program: "program n(N: 2..) { shared t: 0..=N;
         process Q[k in 0..<2] { public f: bool; loop { q: f = !f; } }
         process P[i in 0..<N] { a: t += 1; b: assert t > N; c: skip; }
         allow deadlock; invariant p: forall i in P: !P[i]@c; }",
        property: "p",
        word: "assert t > N",
        other: "assert Q[i].f || !Q[i].f",
    },
    Borrowed {
        leaves_out: "that elements start differently",
        program: "program n(N: 2..) { shared t: 0..=N; shared e: [0..=1; N] = 0;
         process P[i in 0..<N] { a: t += 1; b: e[i] = 0; } allow deadlock; invariant p: forall i: e[i] == 0; }",
        property: "p",
        word: "N] = 0",
        other: "N] = [k: if k == 0 then 0 else 1]",
    },
    Borrowed {
        leaves_out: "that a quantifier may stop before it comes to a fault",
        program: "program n(N: 2..) { shared t: 0..=N;
         process P[i in 0..<N] { public x: 0..=1; k: t += 1; a: x = 1; b: await t > N; c: skip; }
         allow deadlock; invariant p: forall i: !P[i]@c; }",
        property: "p",
        word: "t > N",
        other: "exists k in P: 6 / P[k].x == 6",
    },
    Borrowed {
        leaves_out: "that what a quantifier asks of one who is not seen is open",
        program: "program n(N: 3..) { shared t: 0..=N; shared x: pid(P);
         process P[i in 0..<N] { public f: bool; k: t += 1; a: f = true; b: await t > N; c: skip; }
         allow deadlock; invariant p: forall i: !P[i]@c; }",
        property: "p",
        word: "t > N",
        other: "exists k in P: k != i && k != x && x != i && P[x].f",
    },
    Borrowed {
        leaves_out: "where one stands who is not seen",
        program: "program n(N: 2..) { shared t: 0..=N; shared x, y: pid(P);
         process P[i in 0..<N] { k: t += 1; b: skip; }
         process S { s: x = any; r: y = any; }
         allow deadlock; invariant p: !(t > N && P[x]@b && P[y]@b && x != y); }",
        property: "p",
        word: "t > N && ",
        other: "",
    },
    Borrowed {
        leaves_out: "that an array has no element for each process",
        program: "program n(N: 4..) { shared t: 0..=N; shared e: [0..=1; N];
         process P[i in 0..<N] { a: t += 1; b: e[i] = 1; } allow deadlock; }",
        property: "no_errors",
        word: "1; N]",
        other: "1; 3]",
    },
    Borrowed {
        leaves_out: "how few processes there may be",
        program: "program n(N: 2..) { shared t: 0..=N;
         process P[i in 0..<N] { a: t += 1; b: skip; } allow deadlock; invariant p: t <= N && N >= 2; }",
        property: "p",
        word: "N >= 2",
        other: "N >= 3",
    },
    Borrowed {
        leaves_out: "what was written before a quantifier",
        program: "program n(N: 3..) { shared o: pid(P)?; shared b: [bool; N]; shared t: 0..=N;
         process P[i in 0..<N] { local w: pid(P); local d: bool;
           loop {
             either { s1: atomic { await o == none && !b[i]; o = i; } }
             or { s2: atomic { await o != i && !d; d = true; b[i] = true; t += 1; } }
             or { s3: w = any; }
             or { s4: atomic { await o != none && o != i && w != i; await exists k: o == k && b[k]; o = w; o = none; } bad: skip; } } }
         allow deadlock; invariant p: forall i: !P[i]@bad; }",
        property: "p",
        word: "await exists k: o == k && b[k]; o = w;",
        other: "o = w; await exists k: o == k && b[k];",
    },
    Borrowed {
        leaves_out: "that a number may not fit",
        program: "program n(N: 2..) { shared t: 0..=N; shared x: 0..=1;
         process P[i in 0..<N] { a: t += 1; b: x = any; } allow deadlock; }",
        property: "no_errors",
        word: "x = any",
        other: "x = t",
    },
    Borrowed {
        leaves_out: "that a number that is not known may not fit",
        program: "program n(N: 2..) { shared t: 0..=N; shared x: 0..=1;
         process P[i in 0..<N] { local u: 0..=30 = any; a: t += 1; b: x = any; } allow deadlock; }",
        property: "no_errors",
        word: "x = any",
        other: "x = u",
    },
    Borrowed {
        leaves_out: "that processes of two families may have one index",
        program: "program n(N: 1..) { shared t: 0..=N;
         process Q[k in 0..<2] { public f: bool; loop { q: f = !f; } }
         process P[i in 0..<N] { a: t += 1; b: await t > N; c: skip; }
         allow deadlock; invariant p: forall i in P: !P[i]@c; }",
        property: "p",
        word: "t > N",
        other: "exists j in 0..<2: j == i",
    },
];

#[test]
fn a_proof_by_counting_is_none_of_another_program() {
    for Borrowed { leaves_out, program, property, word, other } in BORROWED {
        assert_eq!(program.matches(word).count(), 1, "{word}: {program}");
        let certificate = proof(&load(program), property);
        assert!(certificate.counting().is_some(), "{leaves_out}: it is not counted");
        check_refused(leaves_out, &load(&program.replace(word, other)), property, certificate);
    }
}

/// Programs with a deadlock, of which all views are shown for a proof that there is none.
const STUCK: [(&str, &str); 6] = [
    (
        "that a single process is stuck where one who is seen has ended",
        "program d(N: 2..) { shared t: 0..=N; process P[i in 0..<N] { a: t += 1; } process S { s: await t > N; } }",
    ),
    (
        "that those behind the stage are counted without whom they are looked at with",
        "program d(N: 4..) { shared t: 0..=N; process P[i in 0..<N] { public f: bool; k: t += 1;
           either { g: f = true; end h: await count(j in P: P[j].f) >= 4; }
           or { s: skip; w: await count(j in P: P[j].f) < 3; } } }",
    ),
    (
        "that one may be blocked in several ways",
        "program d(N: 2..) { shared t: 0..=N; process P[i in 0..<N] { a: await t == 1; b: t += 1; c: skip; } }",
    ),
    (
        "that one waits for somebody whom a cell names",
        "program d(N: 2..) { shared o: pid(P);
         process P[i in 0..<N] { public f: bool; a: if o == i { e: skip; } else { w: await P[o].f; } } }",
    ),
    (
        "that a process of another family is stuck",
        "program d(N: 2..) { shared g: bool; process P[i in 0..<N] { a: skip; } process S { s: await g; } }",
    ),
    (
        "that others wait for those who have ended",
        "program d(N: 2..) { process P[i in 0..<N] { public f: bool;
           either { a: f = true; } or { s: skip; w: await forall k in P: !P[k].f; } } }",
    ),
];

#[test]
fn views_of_all_that_happens_do_not_exclude_a_deadlock() {
    for (leaves_out, program) in STUCK {
        let model = load(program);
        check_refused(leaves_out, &model, "deadlock_free", proof(&model, "no_errors"));
    }
}

/// Whoever is said to be there, and is not seen, may be what others wait for.
#[test]
fn whoever_is_said_to_be_there_may_block_others() {
    let model = load(
        "program d(N: 2..) { shared c: [0..=1; N];
         process P[i in 0..<N] { either { a: c[i] = 1; } or { s: skip; w: await forall k in P: c[k] == 0; } } }",
    );
    let mut certificate = proof(&model, "no_errors");
    let Some(Claim::Views(views)) = certificate.facts.last_mut().map(|fact| &mut fact.claim) else {
        panic!("no views")
    };
    say_presence(&model, views, "c");
    check_refused("that whoever is said to be there may block others", &model, "deadlock_free", certificate);
}

/// What a single process finds in cells of others, whom other cells name: in the view of somebody else it may be anything.
const NAMED: [(&str, &str); 2] =
    [("that two names may be one", "x == y"), ("what one holds who is not seen", "P[x].f")];

#[test]
fn whoever_is_not_seen_may_be_and_hold_anything() {
    for (leaves_out, test) in NAMED {
        let text = format!(
            "program named(N: 2..) {{ shared t: 0..=N; shared bad: bool; shared x, y: pid(P);
             process P[i in 0..<N] {{ public f: bool; k: t += 1; a: f = true; w: if i != x && i != y {{ away: skip; }} }}
             process S {{ s0: x = any; s1: y = any; s2: atomic {{ if {test} {{ bad = true; }} }} }}
             allow deadlock;
             invariant counted: t <= N;
             invariant p: forall i in P: !(bad && i != x && i != y); }}"
        );
        let model = load(&text);
        let mut certificate = proof(&model, "counted");
        let Some(Claim::Counting(proof)) = certificate.facts.last_mut().map(|fact| &mut fact.claim) else {
            panic!("{leaves_out}: it is not counted")
        };
        let columns = shared_columns(&model, &proof.counted);
        let [bad, x, y] = ["bad", "x", "y"].map(|name| column(&model, &columns, name));
        let n_before = proof.views.len();
        let is_other = |item: CountingItem| matches!(item, CountingItem::Other(_));
        proof.views.retain(|view| {
            view.shared[bad] != CountingItem::Value(TRUE) || !is_other(view.shared[x]) || !is_other(view.shared[y])
        });
        assert!(proof.views.len() < n_before, "{leaves_out}: nothing is left out");
        check_refused(leaves_out, &model, "p", certificate);
    }
}

/// The columns of cells that views by counting show.
fn shared_columns(model: &Model, counted: &[CellId]) -> Vec<SharedColumn> {
    let is_shown = |(id, cell): &(CellId, &Cell)| {
        let is_single = |owner| model.families[model.processes[owner].family].count() == 1;
        cell.owner.is_none_or(is_single) && !counted.contains(id)
    };
    model.cells.entries().filter(is_shown).map(|(id, _)| SharedColumn::Cell(id)).collect()
}

/// A program in which steps wait for somebody, or for nobody; views of one process of it say whether there is one with 1 in the variable.
struct Presences {
    /// What the checker would not see.
    leaves_out: &'static str,
    program: &'static str,
    variable: &'static str,
    /// Whether a view stays: whether it says so of itself, whether it says that there is somebody, whether it is `bad`, whether `q` names its process.
    stays: fn(Told) -> bool,
}

/// What a view of one process tells.
#[derive(Clone, Copy)]
struct Told {
    itself: bool,
    somebody: bool,
    is_bad: bool,
    is_q: bool,
}

const PRESENCES: [Presences; 5] = [
    Presences {
        leaves_out: "that others may start so, where cells start anywhere",
        program: "program v(N: 2..) { shared c: [0..=1; N] = any; shared q: pid(P);
         process P[i in 0..<N] { a: await exists k: c[k] == 1; bad: skip; }
         allow deadlock; invariant p: forall i: c[i] == 1 || !P[i]@bad; }",
        variable: "c",
        stays: |told| told.itself || !told.somebody && !told.is_bad,
    },
    Presences {
        leaves_out: "that there is still somebody after a step of another one",
        program: "program v(N: 2..) { shared c: [0..=1; N]; shared q: pid(P);
         process P[i in 0..<N] { s: either { c[i] = 1; } or { skip; } a: await exists k: c[k] == 1; b: skip; bad: skip; }
         allow deadlock; invariant p: forall i: c[i] == 1 || !P[i]@bad; }",
        variable: "c",
        stays: |told| told.itself || !told.is_bad,
    },
    Presences {
        leaves_out: "that there is nobody after the last one is none",
        program: "program v(N: 2..) { shared c: [0..=1; N] = 1; shared q: pid(P);
         process P[i in 0..<N] { s: c[i] = 0; a: await forall k: c[k] == 0; bad: skip; }
         allow deadlock; invariant p: forall i: !P[i]@bad; }",
        variable: "c",
        stays: |told| told.somebody && !told.is_bad,
    },
    Presences {
        leaves_out: "what a step gives to somebody who is not seen",
        program: "program v(N: 2..) { shared c: [0..=1; N]; shared q: pid(P);
         process P[i in 0..<N] { a: await exists k: c[k] == 1; bad: skip; }
         process S { s: c[q] = 1; }
         allow deadlock; invariant p: forall i in P: q == i || !P[i]@bad; }",
        variable: "c",
        stays: |told| told.is_q || !told.somebody && !told.is_bad,
    },
    Presences {
        leaves_out: "what a loop gives to somebody who is not seen",
        program: "program v(N: 2..) { shared c: [0..=1; N]; shared q: pid(P);
         process P[i in 0..<N] { a: await exists k: c[k] == 1; bad: skip; }
         process S { s: atomic { for k in 0..<N { if k == q { c[k] = 1; } } } }
         allow deadlock; invariant p: forall i in P: q == i || !P[i]@bad; }",
        variable: "c",
        stays: |told| told.is_q || !told.somebody && !told.is_bad,
    },
];

/// Views of one process that say, besides, whether there is somebody with 1 in a column: all that may be said.
fn say_presence(model: &Model, proof: &mut ViewsProof, variable: &str) -> usize {
    let is_it =
        |column: &LocalColumn| matches!(column, LocalColumn::Element(row, _) if model.vars[row.var].name == variable);
    let column = proof.local.iter().position(is_it).unwrap();
    let one = Item::Value(Value::Int(1));
    assert!(proof.k == 1 && proof.present.is_empty() && proof.hidden.is_empty());
    proof.present.push(Presence { column, is: vec![one] });
    let saying = |view: &View| {
        let shows = view.slots.iter().flatten().any(|local| local[column] == one);
        let said = if shows { vec![true] } else { vec![false, true] };
        let with = |said: bool| View {
            shared: [&view.shared[..], &[Item::Value(Value::Bool(said))]].concat(),
            slots: view.slots.clone(),
        };
        said.into_iter().map(with).collect::<Vec<View>>()
    };
    proof.views = proof.views.iter().flat_map(saying).collect();
    column
}

#[test]
fn what_views_say_of_all_processes_is_followed() {
    for Presences { leaves_out, program, variable, stays } in PRESENCES {
        let model = load(program);
        let bad = place(&model, "bad");
        let mut certificate = proof(&model, "no_errors");
        let Some(Claim::Views(proof)) = certificate.facts.last_mut().map(|fact| &mut fact.claim) else {
            panic!("{leaves_out}: no views")
        };
        let column_of_one = say_presence(&model, proof, variable);
        let whole = certificate.clone();
        let id = driver::select::find(&model, "no_errors").unwrap();
        let checked = audit::certificate::check(&model, &model.properties[id], &whole, &Budget::unlimited());
        assert!(checked.is_ok(), "{leaves_out}: {checked:?}");
        with_views(&mut certificate, |columns, view| {
            let (seen, local) = view.slots.iter().enumerate().find_map(|(at, one)| Some((at, one.as_ref()?))).unwrap();
            stays(Told {
                itself: local[column_of_one] == Item::Value(Value::Int(1)),
                somebody: view.shared[columns.len()] == Item::Value(TRUE),
                is_bad: local[0] == Item::Place(bad),
                is_q: view.shared[column(&model, columns, "q")] == Item::Slot(seen as u8),
            })
        });
        check_refused(leaves_out, &model, "p", certificate);
    }
}

/// Loops over all processes inside a step, whose rounds have nothing to do with each other: a word of each, and another one.
const ROUNDS: [Borrowed; 2] = [
    Borrowed {
        leaves_out: "faults of rounds",
        program: "program v(N: 2..) { shared c: [0..=1; N];
         process P[i in 0..<N] { a: c[i] = 1; }
         process S { s: atomic { for k in 0..<N { assert c[k] <= 1; } } } allow deadlock; }",
        property: "no_errors",
        word: "c[k] <= 1",
        other: "c[k] == 0",
    },
    Borrowed {
        leaves_out: "what rounds do",
        program: "program v(N: 2..) { shared c: [0..=1; N];
         process P[i in 0..<N] { a: skip; }
         process S { s: atomic { for k in 0..<N { c[k] = 0; } } } allow deadlock; invariant p: forall i in P: c[i] == 0; }",
        property: "p",
        word: "c[k] = 0",
        other: "c[k] = 1",
    },
];

#[test]
fn rounds_of_loops_inside_a_step_are_followed() {
    for Borrowed { leaves_out, program, property, word, other } in ROUNDS {
        assert_eq!(program.matches(word).count(), 1, "{word}: {program}");
        let certificate = proof(&load(program), property);
        assert!(certificate.views().is_some(), "{leaves_out}: no views");
        check_refused(leaves_out, &load(&program.replace(word, other)), property, certificate);
    }
}

/// A round of the loop writes what all share: what the round of a process that is not seen writes counts, too.
#[test]
fn rounds_that_write_what_all_share_are_not_taken_one_by_one() {
    let model = load(
        "program v(N: 2..) { shared c: [0..=1; N]; shared g: bool;
         process P[i in 0..<N] { a: c[i] = 1; }
         process S { s: atomic { for k in 0..<N { if c[k] == 1 { g = true; } } } }
         allow deadlock; invariant p: forall i in P: g => c[i] == 1; }",
    );
    let mut certificate = proof(&model, "no_errors");
    let Some(Claim::Views(views)) = certificate.facts.last().map(|fact| &fact.claim) else { panic!("no views") };
    let element = views.local.iter().position(|column| matches!(column, LocalColumn::Element(..))).unwrap();
    with_views(&mut certificate, |columns, view| {
        let is_one = view.slots.iter().flatten().all(|local| local[element] == Item::Value(Value::Int(1)));
        view.shared[column(&model, columns, "g")] != Item::Value(TRUE) || is_one
    });
    check_refused("rounds of those who are not seen", &model, "p", certificate);
}

/// Weights near the ends of 64 bits: their sums and negations are no numbers, not other ones with which the sums of a proof come out.
#[test]
fn sums_of_numbers_that_are_too_large_prove_nothing() {
    let model = load(
        "program wrapped(N: 2..) { shared c: 0..=N = N; shared d: 0..=N = N;
         process P[i in 0..<N] { a: skip; evil: skip; }
         invariant p: forall i: !P[i]@evil; }",
    );
    let id = driver::select::find(&model, "p").unwrap();
    let [c, d] = ["c", "d"].map(|name| model.cells.entries().find(|(_, cell)| cell.name == name).unwrap().0);
    let a = place(&model, "a");
    let family = Id::new(0);
    let weights =
        |weight: i64| SumWeight { of: ClassMember::Family(family), class: vec![CountingItem::Place(a)], weight };
    for (times, weight) in [(-(1 << 62), i64::MIN), (1, 2)] {
        let certificate = Certificate {
            property: "p".to_owned(),
            scope: Scope::AllSizes { parameter: "N".to_owned(), from: 2, checked: Vec::new() },
            facts: vec![Fact {
                claim: Claim::Counting(CountingProof {
                    counted: vec![c, d],
                    rows: Vec::new(),
                    views: vec![CountingView { family, shared: Vec::new(), local: vec![CountingItem::Place(a)] }],
                    signs: Vec::new(),
                    named: Vec::new(),
                    sums: vec![CellSum {
                        cells: vec![(c, times), (d, times)],
                        constant: 0,
                        weights: vec![weights(weight)],
                    }],
                }),
                uses: Vec::new(),
            }],
            implies: Vec::new(),
        };
        let checked = audit::certificate::check(&model, &model.properties[id], &certificate, &Budget::unlimited());
        let refusal = checked.expect_err("it is false").to_string();
        assert_eq!(refusal.contains("too large"), weight < 0, "{refusal}");
    }
}

/// Two who wait for a third are stuck where there is none: how many stand behind one of them is not how many stand behind both.
#[test]
fn whoever_is_on_stage_does_not_stand_behind_it() {
    let model = load(
        "program two(N: 2..) {
         process P[i in 0..<N] { public f: bool; loop { a: f = true; w: await count(j in P: P[j].f) != 2; x: f = false; } } }",
    );
    let family = Id::new(0);
    let view = |label: &str, f: bool| CountingView {
        family,
        shared: Vec::new(),
        local: vec![CountingItem::Place(place(&model, label)), CountingItem::Value(Value::Bool(f))],
    };
    let views = vec![view("a", false), view("w", true), view("x", true)];
    let (counted, rows, sums, signs, named) = Default::default();
    let claim = Claim::Counting(CountingProof { counted, rows, views, sums, signs, named });
    let certificate = Certificate {
        property: "deadlock_free".to_owned(),
        scope: Scope::AllSizes { parameter: "N".to_owned(), from: 2, checked: Vec::new() },
        facts: vec![Fact { claim, uses: Vec::new() }],
        implies: Vec::new(),
    };
    let id = driver::select::find(&model, "deadlock_free").unwrap();
    assert!(matches!(ask("mono", &model, "deadlock_free"), Verdict::Violated(_)));
    let checked = audit::certificate::check(&model, &model.properties[id], &certificate, &Budget::unlimited());
    let refusal = checked.expect_err("it is false").to_string();
    assert!(refusal.contains("everybody is blocked"), "{refusal}");
}
