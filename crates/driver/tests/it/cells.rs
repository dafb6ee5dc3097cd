//! Views of cells written by hand for programs in which the property is false: each lacks what one rule of the checker looks for, and nothing else keeps it from being accepted.

use base::{Budget, SourceFile};
use driver::methods;
use engine::{Silent, Task, Verdict};
use evidence::Scope;
use evidence::certificate::{Certificate, Claim, Fact};
use evidence::fine::{FineContent, FineProof, FineState, FineView, LocalItem};
use evidence::views::{LocalColumn, SharedColumn};
use model::Model;
use model::value::Value;

const OTHER: FineContent = FineContent::Other;
const FIRST: FineContent = FineContent::Slot(0);

fn number(number: i64) -> FineContent {
    FineContent::Value(Value::Int(number))
}

fn load(text: &str) -> Model {
    match lang::load(&SourceFile::new("cells.pw", text), &[]) {
        Ok(loaded) => loaded.model,
        Err(diagnostics) => panic!("{diagnostics:?}\n{text}"),
    }
}

/// The place with a label.
fn at(model: &Model, label: &str) -> LocalItem {
    let found = model.places.entries().find(|(_, place)| place.labels.iter().any(|one| one == label));
    LocalItem::Place(found.unwrap_or_else(|| panic!("no place is labelled {label}")).0)
}

/// One view of single processes with all shared cells; each of its states is the contents of these and the number of a block.
fn views(model: &Model, states: Vec<Vec<LocalItem>>, blocks: Vec<u32>, theta: &[(&[FineContent], u32)]) -> FineProof {
    let (family, members) = model.families.entries().next().unwrap();
    let own = (0..members.n_cells).map(LocalColumn::Own);
    let taken = model.loops.ids().map(LocalColumn::Taken);
    let state = |&(cells, block): &(&[FineContent], u32)| FineState {
        cells: cells.to_vec(),
        blocks: vec![block],
        taken: vec![false],
    };
    let cells = model.cells.ids().take(model.n_shared_cells).map(SharedColumn::Cell).collect();
    let view = FineView { cells, k: 1, blocks, theta: theta.iter().map(state).collect() };
    let local = [LocalColumn::Control].into_iter().chain(own).chain(taken).collect();
    FineProof { family, local, states, views: vec![view], is_joint: false, flows: Vec::new() }
}

/// That the property is violated, and that the checker refuses the views, for want of an obligation.
fn check_refused(leaves_out: &str, model: &Model, property: &str, views: FineProof) {
    let id = driver::select::find(model, property).unwrap();
    let task = Task { model, properties: vec![id], budget: Budget::unlimited(), n_threads: 1 };
    let truth = methods::checker(methods::find("mono").unwrap()).check(&task, &Silent).unwrap().remove(0).verdict;
    assert!(matches!(truth, Verdict::Violated(_)), "{leaves_out}: {truth:?}");
    let facts = vec![Fact { claim: Claim::Fine(views), uses: Vec::new() }];
    let certificate = Certificate { property: property.to_owned(), scope: Scope::Instance, facts, implies: Vec::new() };
    let refused = audit::certificate::check(model, &model.properties[id], &certificate, &Budget::unlimited());
    let is_refused = matches!(refused, Err(audit::certificate::CertificateError::Refused(_)));
    assert!(is_refused, "the checker does not see {leaves_out}: {refused:?}");
}

/// Programs of one place, in which `x` is said to be 0 in every state.
#[test]
fn steps_and_starts_that_are_left_out_are_seen() {
    let is_alike = [&[number(0)][..]];
    for (leaves_out, declared, body, more) in [
        ("steps of another family", "0..=1", "a: skip;", "process Q { loop { b: x = 1; } }"),
        ("a second branch", "0..=1", "a: atomic { either { x = 0; } or { x = 1; } }", ""),
        ("any value", "0..=1", "a: x = any;", ""),
        ("a second value of a range", "0..=1", "a: x = any 0..=1;", ""),
        ("a second value to start with", "0..=1 = any", "a: skip;", ""),
        ("steps of a process", "0..=1", "a: x = 1;", ""),
        ("the other order of two processes", "0..=1", "a: atomic { await exists j: j != i && !(j < i); x = 1; }", ""),
    ] {
        let text = format!(
            "program p(N: 2..) {{ shared x: {declared}; process P[i in 0..<N] {{ loop {{ {body} }} }} {more} invariant p: x == 0; }}"
        );
        check_left_out(leaves_out, &text, &is_alike);
    }
    let both = |x: i64| [FIRST, OTHER].map(|one| [FIRST, OTHER].map(|other| [one, other, number(x)])).concat();
    let cells = both(0);
    check_left_out(
        "that two cells may name the same process",
        "program p(N: 2..) { shared t: pid; shared u: pid; shared x: 0..=1;
           process P[i in 0..<N] { loop { a: atomic { await t == u && t != i; x = 1; } } } invariant p: x == 0; }",
        &cells.iter().map(|cells| &cells[..]).collect::<Vec<_>>(),
    );
}

/// That a view of all shared cells, of single processes at the only place `a`, which shows these contents, does not prove `p`.
fn check_left_out(leaves_out: &str, text: &str, theta: &[&[FineContent]]) {
    let model = load(text);
    let theta: Vec<(&[FineContent], u32)> = theta.iter().map(|&cells| (cells, 0)).collect();
    check_refused(leaves_out, &model, "p", views(&model, vec![vec![at(&model, "a")]], vec![0], &theta));
}

#[test]
fn whom_a_cell_names_is_found_in_every_state_in_which_it_does() {
    let text = |test: &str, property: &str| {
        format!(
            "program p(N: 3..) {{ shared t: pid; shared x: 0..=1;
               process P[i in 0..<N] {{ loop {{ a: atomic {{ await {test}; x = 1; }} }} }}
               invariant p: forall i: {property} || x == 0; }}"
        )
    };
    let [first, other] = [FIRST, OTHER].map(|who| move |x| [who, number(x)]);
    // Who is not shown may be the one whom a cell names.
    check_left_out("the step of whom a cell names", &text("t == i", "t == i"), &[&first(0), &other(0), &first(1)]);
    check_left_out("a step beside whom a cell names", &text("t != i", "t == i"), &[&first(0), &other(0), &first(1)]);
    check_left_out("a step of who is not shown", &text("t != i", "t != i"), &[&first(0), &other(0), &other(1)]);
}

/// Who writes may name somebody whom the view does not show.
#[test]
fn a_cell_may_come_to_name_who_is_not_shown() {
    let model = load(
        "program p(N: 2..) { shared t: pid; shared done: 0..=1;
           process P[i in 0..<N] { loop { a: atomic { await done == 0; done = 1; t = any; } b: skip; } }
           invariant p: forall i: !(P[i]@b && t != i); }",
    );
    let states = vec![vec![at(&model, "a")], vec![at(&model, "b")]];
    let contents = [(FIRST, 0, 0), (OTHER, 0, 0), (FIRST, 1, 1), (FIRST, 1, 0), (OTHER, 1, 0)];
    let contents = contents.map(|(who, done, block)| ([who, number(done)], block));
    let theta: Vec<(&[FineContent], u32)> = contents.iter().map(|(cells, block)| (&cells[..], *block)).collect();
    check_refused("any other process", &model, "p", views(&model, states, vec![0, 1], &theta));
}

/// Of joint views the one says that nothing is written, and the other one has room for whoever writes.
#[test]
fn another_view_has_room_for_whom_a_cell_names() {
    let model = load(
        "program p(N: 2..) { shared t: pid; shared x: 0..=1;
           process P[i in 0..<N] { loop { a: atomic { await t == i; x = 1; } } } invariant p: x == 0; }",
    );
    let cells: Vec<SharedColumn> = model.cells.ids().take(2).map(SharedColumn::Cell).collect();
    let view = |cell: SharedColumn, contents: &[FineContent]| {
        let state = |&held: &FineContent| FineState { cells: vec![held], blocks: vec![0, 0], taken: vec![false; 2] };
        FineView { cells: vec![cell], k: 2, blocks: vec![0], theta: contents.iter().map(state).collect() }
    };
    let mut joint = views(&model, vec![vec![at(&model, "a")]], vec![0], &[]);
    joint.views = vec![view(cells[1], &[number(0)]), view(cells[0], &[FIRST, FineContent::Slot(1), OTHER])];
    joint.is_joint = true;
    check_refused("whom a cell names in another view", &model, "p", joint);
}

#[test]
fn local_states_that_are_left_out_are_seen() {
    let truth = |truth| LocalItem::Value(Value::Bool(truth));
    for (leaves_out, declared, body) in [
        ("a local state that a step leads to", "bool", "a: f = true;"),
        ("a local state that only one process starts with", "bool = i == 1", "a: skip;"),
        ("a local state that a process may start with", "bool = any", "a: skip;"),
    ] {
        let model = load(&format!(
            "program p(N: 2..) {{ process P[i in 0..<N] {{ public f: {declared}; loop {{ {body} }} }} invariant p: forall i: !P[i].f; }}"
        ));
        let states = vec![vec![at(&model, "a"), truth(false)]];
        check_refused(leaves_out, &model, "p", views(&model, states, vec![0], &[(&[], 0)]));
    }
}

#[test]
fn steps_that_are_faults_are_seen() {
    for body in ["a: assert x == 1;", "a: x = 1 / x;", "a: x = x + 2;", "a: await forall j: exists k: 1 / P[k].x > 0;"]
    {
        let model =
            load(&format!("program p(N: 2..) {{ process P[i in 0..<N] {{ public x: 0..=1; loop {{ {body} }} }} }}"));
        let states = vec![vec![at(&model, "a"), LocalItem::Value(Value::Int(0))]];
        let mut proof = views(&model, states, vec![0], &[]);
        proof.views.clear();
        check_refused(body, &model, "no_errors", proof);
    }
}

/// Programs in which processes know one of them, or nobody, and do something only where a view leaves open who that is.
#[test]
fn whom_a_process_knows_is_left_open() {
    let none = LocalItem::Value(Value::None);
    let text = |declared: &str, body: &str| {
        format!(
            "program p(N: 3..) {{ shared t: pid; shared x: 0..=1;
               process P[i in 0..<N] {{ public o: {declared}; loop {{ {body} }} }} invariant p: x == 0; }}"
        )
    };
    let theta: [(&[FineContent], u32); 2] = [(&[FIRST, number(0)], 0), (&[OTHER, number(0)], 0)];
    for (leaves_out, declared, body, items) in [
        ("itself, initially", "pid = i", "a: atomic { await o == i; x = 1; }", vec![LocalItem::Another]),
        ("itself, perhaps", "pid = any", "a: atomic { await o == i; x = 1; }", vec![LocalItem::Another]),
        (
            "that two others may be the same",
            "pid = any",
            "a: atomic { await o != i && o == t; x = 1; }",
            vec![LocalItem::Itself, LocalItem::Another],
        ),
        (
            "what the mover only may decide",
            "pid = any",
            "a: atomic { await o != i && t != i && !(exists j: j == i && o == t); x = 1; }",
            vec![LocalItem::Itself, LocalItem::Another],
        ),
        ("itself, of all", "pid?", "a: atomic { o = any; await o == i; x = 1; }", vec![none, LocalItem::Another]),
    ] {
        let model = load(&text(declared, body));
        let states: Vec<Vec<LocalItem>> = items.iter().map(|&item| vec![at(&model, "a"), item]).collect();
        let blocks = vec![0; states.len()];
        check_refused(leaves_out, &model, "p", views(&model, states, blocks, &theta));
    }
}

/// Of a quantifier inside another one nothing is known.
#[test]
fn quantifiers_inside_others_may_be_false() {
    let model = load(
        "program p(N: 2..) { shared x: 0..=1;
           process P[i in 0..<N] { public f: bool; loop { a: atomic { await !(forall j: exists k: P[k].f); x = 1; } } }
           invariant p: x == 0; }",
    );
    let states = vec![vec![at(&model, "a"), LocalItem::Value(Value::Bool(false))]];
    check_refused("an inner quantifier", &model, "p", views(&model, states, vec![0], &[(&[number(0)], 0)]));
}

/// A loop over all processes may take one of which a view says nothing.
#[test]
fn a_loop_may_take_a_process_that_is_not_shown() {
    let model = load(
        "program p(N: 3..) { shared x: 0..=1;
           process P[i in 0..<N] { public f: bool;
             loop { either { set: f = true; } or { go: skip; for k in P { s: x = if k != i && P[k].f then 1 else x; } } } }
           invariant p: forall i: P[i].f || x == 0; }",
    );
    let places = model.places.ids().collect::<Vec<_>>();
    let (truth, none) = (|truth| LocalItem::Value(Value::Bool(truth)), LocalItem::Value(Value::None));
    let n_own = model.families.iter().next().unwrap().n_cells;
    let (mut states, mut blocks) = (Vec::new(), Vec::new());
    for place in places {
        let is_under_way = LocalItem::Place(place) == at(&model, "s");
        for f in [false, true] {
            let own = (0..n_own).map(|cell| if cell == 0 { truth(f) } else { none });
            states.push([LocalItem::Place(place)].into_iter().chain(own).chain([truth(is_under_way)]).collect());
            blocks.push(u32::from(f));
        }
    }
    let theta: [(&[FineContent], u32); 3] = [(&[number(0)], 0), (&[number(0)], 1), (&[number(1)], 1)];
    check_refused("whom a loop takes", &model, "p", views(&model, states, blocks, &theta));
}
