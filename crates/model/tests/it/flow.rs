//! How control moves: loops and their counters, `break`, calls, returns, recursion.

use crate::common::{bench, run_alone, start};
use model::control::{StmtKind, TextOwner};
use model::eval::{Control, State, steps};
use model::expr::{BinaryOp, Domain};
use model::process::ProcessId;
use model::types::{ScalarType, Type};
use model::variable::Init;
use testkit::draft::range_type;
use testkit::expr::*;
use testkit::show;
use testkit::text::*;

const SMALL: ScalarType = ScalarType::Range { lo: 0, hi: 3 };

#[test]
fn a_loop_counts_its_values_and_resets() {
    let mut b = bench();
    let (id, k) = b.draft.counter(TextOwner::Family(b.p), "k", range(1, 3), ScalarType::Range { lo: 1, hi: 3 });
    let body = vec![assign(shared(b.x), read(mine(k))).label("body")];
    let model = b.model(vec![skip().label("first"), TextStatement::For(id, body), skip().label("after")]);
    let expected = [
        "P[0]: P[0]@body",
        "P[0]: P[0].k 1 => 2",
        "P[0]: x 1 => 2, P[0].k 2 => 3",
        "P[0]: x 2 => 3, P[0].k 3 => 1, P[0]@after",
        "P[0]: P[0]@end",
    ];
    assert_eq!(run_alone(&model, 10), expected);
}

#[test]
fn a_process_may_begin_with_a_loop_whose_bounds_are_its_own() {
    let mut b = bench();
    let bounds = Domain::Range(Box::new(index_of(me())), Box::new(int(0)));
    let (id, k) = b.draft.counter(TextOwner::Family(b.p), "k", bounds, SMALL);
    let body = vec![assign(shared(b.y), read(mine(k))).label("body")];
    let model = b.model(vec![TextStatement::For(id, body), skip().label("after")]);
    // P[0] has 0..=0, P[1] has 1..=0, which is empty.
    let state = start(&model);
    let places: Vec<&str> =
        model.processes.ids().map(|process| model.places[state.place(process)].name.as_str()).collect();
    assert_eq!(places, ["body", "after"]);
}

#[test]
fn loops_nest_over_families_and_break_resets() {
    let mut b = bench();
    let family = Domain::Family(b.p);
    let (outer, j) = b.draft.counter(TextOwner::Family(b.p), "j", family, ScalarType::Pid(b.p));
    let (inner, k) = b.draft.counter(TextOwner::Family(b.p), "k", range(2, 3), ScalarType::Range { lo: 2, hi: 3 });
    let leave =
        TextStatement::If(Some("test".to_string()), equal(read(mine(k)), int(3)), vec![TextStatement::Break], vec![]);
    let body = vec![assign(element(shared(b.a), index_of(read(mine(j)))), read(mine(k))).label("store"), leave];
    let model = b.model(vec![TextStatement::For(outer, vec![TextStatement::For(inner, body)])]);
    let expected = [
        "P[0]: a[0] 0 => 2, P[0]@test",
        "P[0]: P[0].k 2 => 3, P[0]@store",
        "P[0]: a[0] 2 => 3, P[0]@test",
        "P[0]: P[0].j 0 => 1, P[0].k 3 => 2, P[0]@store",
        "P[0]: a[1] 0 => 2, P[0]@test",
        "P[0]: P[0].k 2 => 3, P[0]@store",
        "P[0]: a[1] 2 => 3, P[0]@test",
        "P[0]: P[0].j 1 => 0, P[0].k 3 => 2, P[0]@end",
    ];
    assert_eq!(run_alone(&model, 20), expected);
}

#[test]
fn an_empty_loop_is_passed_without_a_step_however_long() {
    let mut b = bench();
    let (none, _) = b.draft.counter(TextOwner::Family(b.p), "k", range(1, 0), SMALL);
    let huge = ScalarType::Range { lo: 0, hi: 1_000_000 };
    let (many, _) = b.draft.counter(TextOwner::Family(b.p), "n", range(0, 1_000_000), huge);
    let model = b.model(vec![skip(), TextStatement::For(none, vec![skip()]), TextStatement::For(many, vec![])]);
    assert_eq!(run_alone(&model, 10), ["P[0]: P[0]@end"]);
}

#[test]
fn while_and_loop_go_back() {
    let b = bench();
    let less = binary(BinaryOp::Less, read(shared(b.x)), int(3));
    let next = assign(shared(b.x), add(read(shared(b.x)), int(1))).label("next");
    let model = b.model(vec![TextStatement::While(Some("test".to_string()), less, vec![next])]);
    let expected = [
        "P[0]: P[0]@next",
        "P[0]: x 1 => 2, P[0]@test",
        "P[0]: P[0]@next",
        "P[0]: x 2 => 3, P[0]@test",
        "P[0]: P[0]@end",
    ];
    assert_eq!(run_alone(&model, 20), expected);
    let b = bench();
    let next = assign(shared(b.x), add(read(shared(b.x)), int(1))).label("next");
    let model = b.model(vec![TextStatement::Loop(vec![next])]);
    let expected = ["P[0]: x 1 => 2", "P[0]: x 2 => 3", "P[0] fails: 4 is outside the type of `x`"];
    assert_eq!(run_alone(&model, 20), expected);
}

#[test]
fn a_call_and_a_return_are_steps_and_the_result_is_stored_by_the_return() {
    let mut b = bench();
    let (f, parameters) = b.draft.procedure("f", &[("n", SMALL)], Some(SMALL));
    let twice = add(read(frame(parameters[0])), read(frame(parameters[0])));
    b.draft.procedure_text(f, vec![give(Some(twice)).label("inside")]);
    let into = element(shared(b.a), read(shared(b.x)));
    let model = b.model(vec![call(f, vec![int(1)], Some(into)).label("before"), skip().label("after")]);
    let expected = ["P[0]: P[0]@(a[x] = call f(1))/inside[1]", "P[0]: a[1] 0 => 2, P[0]@after", "P[0]: P[0]@end"];
    assert_eq!(run_alone(&model, 10), expected);
}

#[test]
fn what_can_go_wrong_in_a_call_is_a_fault_of_its_step() {
    let outcome = |argument: i64, result: Option<i64>, into_x: bool| {
        let mut b = bench();
        let wide = ScalarType::Range { lo: 0, hi: 5 };
        let (f, _) = b.draft.procedure("f", &[("n", SMALL)], Some(wide));
        if let Some(result) = result {
            b.draft.procedure_text(f, vec![give(Some(int(result)))]);
        }
        let into = into_x.then(|| shared(b.x));
        run_alone(&b.model(vec![call(f, vec![int(argument)], into)]), 9).pop().unwrap()
    };
    assert_eq!(outcome(4, Some(0), false), "P[0] fails: 4 is outside the type of `n`");
    assert_eq!(outcome(0, None, false), "P[0] fails: procedure `f` ends without a result");
    assert_eq!(outcome(0, Some(6), false), "P[0] fails: 6 is outside the type of `f()`");
    assert_eq!(outcome(0, Some(5), true), "P[0] fails: 5 is outside the type of `x`");
    assert_eq!(outcome(0, Some(5), false), "P[0]: P[0]@end");
}

#[test]
fn locals_of_a_procedure_start_anew_and_anywhere_if_told() {
    let mut b = bench();
    let (f, parameters) = b.draft.procedure("f", &[("n", SMALL)], None);
    let copy = Init::Fill(add(read(frame(parameters[0])), int(1)));
    let one = b.draft.frame_local(f, "one", range_type(0, 3), copy);
    b.draft.frame_local(f, "free", Type::Scalar(ScalarType::Bool), Init::Any);
    b.draft.procedure_text(f, vec![assign(frame(one), int(0)).label("inside")]);
    let model = b.model(vec![call(f, vec![int(1)], None)]);
    let state = start(&model);
    let called: Vec<State> = steps(&model, &state)[..2].iter().map(|step| step.result.clone().unwrap()).collect();
    let tops: Vec<String> = called.iter().map(|after| show::changes(&model, &state, after)).collect();
    assert_eq!(tops, ["P[0]@(call f(1))/inside[1 2 false]", "P[0]@(call f(1))/inside[1 2 true]"]);
    assert_eq!(
        show::all_steps(&model, &called[0]).split(" | ").next().unwrap(),
        "P[0]: P[0]@(call f(1))/end[1 0 false]"
    );
}

#[test]
fn recursion_has_real_stacks_and_acts_for_the_caller() {
    let mut b = bench();
    let (f, parameters) = b.draft.procedure("f", &[("n", SMALL)], None);
    let n = || read(frame(parameters[0]));
    let deeper = call(f, vec![binary(BinaryOp::Subtract, n(), int(1))], None).label("deeper");
    let bottom = atomic(vec![stmt(StmtKind::Acquire(shared(b.m)))]).label("bottom");
    let test = TextStatement::If(Some("test".to_string()), equal(n(), int(0)), vec![bottom], vec![deeper]);
    b.draft.procedure_text(f, vec![test]);
    let model = b.model(vec![call(f, vec![int(1)], None)]);
    let expected = [
        "P[0]: P[0]@(call f(1))/test[1]",
        "P[0]: P[0]@(call f(1))/deeper[1]",
        "P[0]: P[0]@(call f(1))/(call f(n - 1))[1]/test[0]",
        "P[0]: P[0]@(call f(1))/(call f(n - 1))[1]/bottom[0]",
        "P[0]: m none => 0, P[0]@(call f(1))/(call f(n - 1))[1]/end[0]",
        "P[0]: P[0]@(call f(1))/end[1]",
        "P[0]: P[0]@end",
    ];
    assert_eq!(run_alone(&model, 20), expected);
}

#[test]
fn while_a_call_runs_no_label_of_the_caller_holds() {
    let mut b = bench();
    let (f, _) = b.draft.procedure("f", &[], None);
    b.draft.procedure_text(f, vec![skip().label("inside")]);
    let model = b.model(vec![call(f, vec![], None).label("calling")]);
    let place = |name: &str| model.places.entries().find(|(_, place)| place.name == name).unwrap().0;
    let state = start(&model);
    let called = steps(&model, &state)[0].result.clone().unwrap();
    let at = |state: &State, name: &str| {
        let who = constant(model::value::Value::Process(ProcessId::new(0)));
        let expr = standing(who, vec![place(name)], &[name]);
        model::eval::evaluate(&model, state, &expr, None).unwrap() == model::value::Value::Bool(true)
    };
    assert!(at(&state, "calling") && !at(&state, "inside"));
    assert!(!at(&called, "calling") && at(&called, "inside"));
    assert!(matches!(called.stacks[0][0].control, Control::Calling(_)));
}

#[test]
fn loops_in_procedures_count_in_their_frame() {
    let mut b = bench();
    let (f, _) = b.draft.procedure("f", &[], None);
    let (id, k) = b.draft.counter(TextOwner::Procedure(f), "k", range(0, 1), ScalarType::Range { lo: 0, hi: 1 });
    b.draft.procedure_text(f, vec![TextStatement::For(id, vec![assign(shared(b.x), read(frame(k))).label("body")])]);
    let model = b.model(vec![call(f, vec![], None)]);
    let expected = [
        "P[0]: P[0]@(call f())/body[0]",
        "P[0]: x 1 => 0, P[0]@(call f())/body[1]",
        "P[0]: x 0 => 1, P[0]@(call f())/end[0]",
        "P[0]: P[0]@end",
    ];
    assert_eq!(run_alone(&model, 9), expected);
}
