//! Questions about whole states: where a program starts, who can move, deadlocks, races, rendezvous.

use crate::common::{Bench, bench, start};
use model::Model;
use model::control::StmtKind;
use model::eval::{
    able, able_by, initial_faults, initial_states, is_deadlock, is_terminated, n_initial_states, race, stuck_processes,
};
use model::process::ProcessId;
use model::types::{ScalarType, Type};
use model::variable::{Init, VarId};
use testkit::draft::{array_type, range_type};
use testkit::expr::*;
use testkit::text::*;
use testkit::{Draft, Product, show};

fn acquire(access: model::expr::Access) -> TextStatement {
    atomic(vec![stmt(StmtKind::Acquire(access))])
}

#[test]
fn cells_are_laid_out_shared_first_then_process_by_process() {
    let model = bench().model(vec![skip()]);
    let names: Vec<&str> = model.cells.iter().map(|cell| cell.name.as_str()).collect();
    let expected = "x y b a[0] a[1] g[0][0] g[0][1] g[1][0] g[1][1] s m turn last c \
                    P[0].level P[0].l P[1].level P[1].l";
    assert_eq!(names.join(" "), expected);
    assert_eq!(model.n_shared_cells, 14);
    let firsts: Vec<usize> = model.processes.iter().map(|process| process.first_cell).collect();
    assert_eq!(firsts, [14, 16]);
}

#[test]
fn any_starts_anywhere_and_is_never_enumerated_in_advance() {
    let starts = |ty: Type, init: Init| {
        let mut draft = Draft::new();
        draft.shared("v", ty, init);
        let model = draft.finish();
        let first: Vec<String> = initial_states(&model)
            .take(5)
            .map(|state| state.cells.iter().map(|&cell| model::print::value(&model, cell)).collect())
            .collect();
        format!("{} of {}", first.join(" "), n_initial_states(&model))
    };
    let bits = |len| array_type(Type::Scalar(ScalarType::Bool), len);
    let digits = |len| array_type(range_type(0, 2), len);
    assert_eq!(starts(range_type(2, 4), Init::First), "2 of 1");
    assert_eq!(starts(range_type(2, 4), Init::Any), "2 3 4 of 3");
    assert_eq!(starts(digits(2), Init::Any), "00 01 02 10 11 of 9");
    assert_eq!(starts(digits(2), Init::Fill(int(2))), "22 of 1");
    let mixed = Init::Elements(vec![Init::Any, Init::Fill(int(1))]);
    assert_eq!(starts(digits(2), mixed), "01 11 21 of 3");
    assert!(starts(bits(127), Init::Any).ends_with(&(1_u128 << 127).to_string()));
    assert!(starts(bits(128), Init::Any).ends_with(&u128::MAX.to_string()));
    assert!(starts(range_type(i64::MIN, i64::MAX), Init::Any).ends_with("of 18446744073709551616"));
}

#[test]
fn faulty_initial_values_are_told() {
    let mut draft = Draft::new();
    let p = draft.family("P", 3);
    draft.local(p, "v", range_type(0, 1), Init::Fill(index_of(me())));
    let faults: Vec<String> = initial_faults(&draft.finish()).iter().map(|fault| fault.fault.to_string()).collect();
    assert_eq!(faults, ["2 is outside the type of `P[2].v`"]);
}

/// Names of the processes.
fn names(model: &Model, processes: &[ProcessId]) -> String {
    let names: Vec<&str> = processes.iter().map(|&process| model.processes[process].name.as_str()).collect();
    names.join(" ")
}

#[test]
fn idle_is_neither_able_nor_stuck_and_never_a_deadlock() {
    let who = |text: Vec<TextStatement>| {
        let model = bench().model(text);
        let state = start(&model);
        let able: Vec<ProcessId> = model.processes.ids().filter(|&process| able(&model, &state, process)).collect();
        let stuck = names(&model, &stuck_processes(&model, &state));
        format!("able: {}; stuck: {stuck}; deadlock: {}", names(&model, &able), is_deadlock(&model, &state))
    };
    assert_eq!(who(vec![skip()]), "able: P[0] P[1]; stuck: ; deadlock: false");
    assert_eq!(who(vec![idle()]), "able: ; stuck: ; deadlock: false");
    assert_eq!(who(vec![]), "able: ; stuck: ; deadlock: false");
    assert_eq!(who(vec![wait(truth(false))]), "able: ; stuck: P[0] P[1]; deadlock: true");
    // An error is a step: no deadlock there.
    let fault = || equal(binary(model::expr::BinaryOp::Divide, int(1), int(0)), int(1));
    assert_eq!(who(vec![wait(fault())]), "able: P[0] P[1]; stuck: ; deadlock: false");
    let choice = TextStatement::Either(vec![vec![idle()], vec![wait(truth(false))]]);
    assert_eq!(who(vec![choice]), "able: ; stuck: ; deadlock: false");
    // P[0] is stuck, but P[1] can leave idle.
    let mut b = bench();
    let single = b.draft.single("Monitor");
    b.draft.text(single, vec![idle()]);
    let model = b.model(vec![wait(truth(false))]);
    let state = start(&model);
    assert_eq!(names(&model, &stuck_processes(&model, &state)), "P[0] P[1]");
    assert!(!is_deadlock(&model, &state));
}

#[test]
fn able_by_labels_looks_at_the_steps_that_carry_them() {
    let choice = TextStatement::Either(vec![
        vec![wait(truth(false)).label("a")],
        vec![skip().label("b")],
        vec![idle().label("c")],
    ]);
    let model = bench().model(vec![choice]);
    let state = start(&model);
    let by = |label: &str| able_by(&model, &state, ProcessId::new(0), &[label.to_string()]);
    assert_eq!([by("a"), by("b"), by("c")], [false, true, false]);
    assert!(!is_terminated(&model, &state, ProcessId::new(0)));
}

#[test]
fn two_that_take_two_locks_in_opposite_order_deadlock() {
    let mut draft = Draft::new();
    let (left, right) = (draft.single("Left"), draft.single("Right"));
    let lock = |draft: &mut Draft, name| draft.shared(name, Type::Scalar(ScalarType::Lock), Init::First);
    let (m, n) = (lock(&mut draft, "m"), lock(&mut draft, "n"));
    draft.text(left, vec![acquire(shared(m)), acquire(shared(n))]);
    draft.text(right, vec![acquire(shared(n)), acquire(shared(m))]);
    let model = draft.finish();
    let product = Product::explore(&model, 100).unwrap();
    assert_eq!((product.states.len(), product.n_transitions(), product.depth()), (6, 6, 2));
    // Both hold one; or one has both and has ended, and the other waits for it.
    assert_eq!(product.deadlocks.len(), 3);
    let terminated = |at: &usize| model.processes.ids().any(|p| is_terminated(&model, &product.states[*at], p));
    assert_eq!(product.deadlocks.iter().filter(|at| terminated(at)).count(), 2);
}

/// The race on the variable in the initial state, as `cell: process reads|writes, …`.
fn race_of(make: impl FnOnce(&Bench) -> (VarId, Vec<TextStatement>)) -> String {
    let bench = bench();
    let (var, text) = make(&bench);
    let model = bench.model(text);
    let Some(race) = race(&model, &start(&model), var) else { return "none".to_string() };
    let side = |side: model::eval::Contender| {
        format!("{} {}", model.processes[side.process].name, if side.writes { "writes" } else { "reads" })
    };
    format!("{}: {}, {}", model.cells[race.cell].name, side(race.contenders[0]), side(race.contenders[1]))
}

#[test]
fn a_race_is_two_enabled_steps_on_one_cell_one_of_them_writing() {
    let mine_of_a = |b: &Bench| element(shared(b.a), index_of(me()));
    assert_eq!(race_of(|b| (b.x, vec![assign(shared(b.x), int(0))])), "x: P[0] writes, P[1] writes");
    assert_eq!(race_of(|b| (b.x, vec![assign(shared(b.y), read(shared(b.x)))])), "none");
    assert_eq!(race_of(|b| (b.a, vec![assign(mine_of_a(b), int(0))])), "none");
    // Guards count: each reads the other's element in its test.
    let all_zero = |b: &Bench| {
        let each = equal(read(element(shared(b.a), index_of(bound(0)))), int(0));
        quantified(model::expr::Quantifier::Forall, 0, model::expr::Domain::Family(b.p), each)
    };
    assert_eq!(
        race_of(|b| (b.a, vec![assign(mine_of_a(b), int(1)).when(all_zero(b))])),
        "a[1]: P[0] reads, P[1] writes"
    );
    // A step that is not enabled touches nothing.
    assert_eq!(race_of(|b| (b.x, vec![assign(shared(b.x), int(0)).when(truth(false))])), "none");
    let blocked = |b: &Bench| atomic(vec![set(shared(b.x), int(0)), stmt(StmtKind::Await(truth(false)))]);
    assert_eq!(race_of(|b| (b.x, vec![blocked(b)])), "none");
    // The index expression is read, too.
    assert_eq!(
        race_of(|b| (
            b.x,
            vec![TextStatement::Either(vec![
                vec![assign(element(shared(b.a), read(shared(b.x))), int(1))],
                vec![assign(shared(b.x), int(1))],
            ])]
        )),
        "x: P[0] reads, P[1] writes"
    );
}

/// A sender, a receiver and a second receiver on one channel.
fn meeting(make: impl FnOnce(&mut Draft) -> (Vec<TextStatement>, Vec<TextStatement>, Vec<TextStatement>)) -> String {
    let mut draft = Draft::new();
    let families = [draft.single("S"), draft.single("R"), draft.single("Q")];
    let (s, r, q) = make(&mut draft);
    for (family, text) in families.into_iter().zip([s, r, q]) {
        draft.text(family, text);
    }
    let model = draft.finish();
    show::all_steps(&model, &start(&model))
}

#[test]
fn a_rendezvous_is_one_step_of_two_processes() {
    let variables = |draft: &mut Draft| {
        let x = draft.shared("x", range_type(0, 3), Init::Fill(int(1)));
        let a = draft.shared("a", array_type(range_type(0, 9), 3), Init::First);
        (draft.channel("c"), x, a)
    };
    // The value and the index are those of the old state; the receiver's body comes before the sender's.
    let shown = meeting(|draft| {
        let (c, x, a) = variables(draft);
        let x_now = || read(shared(x));
        let sends = send(c, vec![add(x_now(), int(4))], vec![set(element(shared(a), int(0)), x_now())]);
        let receives = receive(c, vec![element(shared(a), x_now())], vec![set(shared(x), int(3))]);
        (vec![sends], vec![receives], vec![])
    });
    assert_eq!(shown, "S: x 1 => 3, a[0] 0 => 3, a[1] 0 => 5, S@end, R@end");
    // Each partner is a step of its own; nobody meets himself; a lone side waits.
    let shown = meeting(|draft| {
        let (c, x, _) = variables(draft);
        (
            vec![send(c, vec![int(2)], vec![])],
            vec![receive(c, vec![shared(x)], vec![])],
            vec![receive(c, vec![shared(x)], vec![])],
        )
    });
    assert_eq!(shown, "S: x 1 => 2, S@end, R@end | S: x 1 => 2, S@end, Q@end");
    let shown = meeting(|draft| {
        let (c, _, _) = variables(draft);
        (vec![send(c, vec![], vec![])], vec![receive(c, vec![], vec![]).when(truth(false))], vec![])
    });
    assert_eq!(shown, "nothing");
    // A value that the receiver's variable does not have is a fault; so is a guard of either side.
    let shown = meeting(|draft| {
        let (c, x, _) = variables(draft);
        (vec![send(c, vec![int(4)], vec![])], vec![receive(c, vec![shared(x)], vec![])], vec![])
    });
    assert_eq!(shown, "S fails: 4 is outside the type of `x`");
    let shown = meeting(|draft| {
        let (c, x, _) = variables(draft);
        let zero = equal(binary(model::expr::BinaryOp::Divide, int(1), int(0)), int(1));
        (vec![send(c, vec![int(4)], vec![])], vec![receive(c, vec![shared(x)], vec![]).when(zero)], vec![])
    });
    assert_eq!(shown, "R fails: division by zero");
}

#[test]
fn both_sides_of_a_rendezvous_are_able() {
    let mut draft = Draft::new();
    let (s, r, q) = (draft.single("S"), draft.single("R"), draft.single("Q"));
    let c = draft.channel("c");
    draft.text(s, vec![send(c, vec![], vec![])]);
    draft.text(r, vec![receive(c, vec![], vec![]).label("here")]);
    draft.text(q, vec![send(c, vec![], vec![]).when(truth(false))]);
    let model = draft.finish();
    let state = start(&model);
    let able: Vec<bool> = model.processes.ids().map(|process| able(&model, &state, process)).collect();
    assert_eq!(able, [true, true, false]);
    assert!(able_by(&model, &state, ProcessId::new(1), &["here".to_string()]));
}

#[test]
fn mux_sem_is_mutual_exclusion_with_the_known_counts() {
    let mut draft = Draft::new();
    let p = draft.family("P", 3);
    let x = draft.shared("x", Type::Scalar(ScalarType::Semaphore { max: 1 }), Init::Fill(int(1)));
    let leave = atomic(vec![stmt(StmtKind::Release(shared(x)))]).label("leave");
    let text = vec![skip().label("noncrit"), acquire(shared(x)).label("trying"), skip().label("crit"), leave];
    draft.text(p, vec![TextStatement::Loop(text)]);
    let model = draft.finish();
    let product = Product::explore(&model, 1000).unwrap();
    // With x = 1 everybody is at noncrit or trying (8 states); with x = 0 one of three is at crit or leave (24).
    assert_eq!((product.states.len(), product.deadlocks.len(), product.n_faults()), (32, 0, 0));
    let inside = |state: &model::eval::State| {
        model.processes.ids().filter(|&process| model.places[state.place(process)].name == "crit").count()
    };
    assert_eq!(product.distance_to(|state| inside(state) == 2), None);
    let nearest = product.distance_to(|state| inside(state) == 1).unwrap();
    assert_eq!((nearest.n_steps, nearest.n_switches), (2, 0));
}
