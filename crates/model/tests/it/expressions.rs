//! Values of expressions: exact arithmetic, early stops, conversions, quantifiers.

use crate::common::{Bench, bench, start};
use model::eval::{Viewpoint, evaluate};
use model::expr::{BinaryOp, Domain, Expr, Quantifier};
use model::print;
use model::process::ProcessId;
use model::value::Value;
use testkit::expr::*;
use testkit::text::skip;

/// The value for `P[1]` in the initial state, or the fault.
fn check(make: impl FnOnce(&Bench) -> Expr, expected: &str) {
    let bench = bench();
    let expr = make(&bench);
    let model = bench.model(vec![skip().label("here")]);
    let state = start(&model);
    let shown = match evaluate(&model, &state, &expr, Some(ProcessId::new(1))) {
        Ok(value) => print::value(&model, value),
        Err(fault) => fault.fault.to_string(),
    };
    assert_eq!(shown, expected, "{}", print::expr(&model, &expr));
}

#[test]
fn arithmetic_is_exact_and_euclidean() {
    use BinaryOp::*;
    let (min, max) = (i64::MIN, i64::MAX);
    let cases = [
        (Add, 2, 3, "5"),
        (Add, max, 1, "a number beyond 64 bits"),
        (Subtract, min, 1, "a number beyond 64 bits"),
        (Multiply, max, 2, "a number beyond 64 bits"),
        (Multiply, max, 1, "9223372036854775807"),
        (Divide, 7, 2, "3"),
        (Divide, -7, 2, "-4"),
        (Divide, 7, -2, "-3"),
        (Divide, -7, -2, "4"),
        (Divide, min, -1, "a number beyond 64 bits"),
        (Divide, 1, 0, "division by zero"),
        (Remainder, 7, 2, "1"),
        (Remainder, -7, 2, "1"),
        (Remainder, 7, -2, "1"),
        (Remainder, min, -1, "0"),
        (Remainder, 1, 0, "division by zero"),
        (Min, 2, -3, "-3"),
        (Max, 2, -3, "2"),
        (Less, 1, 2, "true"),
        (LessEqual, 2, 2, "true"),
        (Greater, 1, 2, "false"),
        (GreaterEqual, 1, 2, "false"),
        (Equal, 1, 1, "true"),
        (NotEqual, 1, 1, "false"),
    ];
    for (op, a, b, expected) in cases {
        check(|_| binary(op, int(a), int(b)), expected);
    }
    check(|_| negate(int(min)), "a number beyond 64 bits");
    check(|_| negate(int(5)), "-5");
}

#[test]
fn boolean_operators_stop_where_the_left_side_decides() {
    use BinaryOp::*;
    let fault = || equal(binary(Divide, int(1), int(0)), int(0));
    let cases = [
        (And, false, "false"),
        (And, true, "division by zero"),
        (Or, true, "true"),
        (Or, false, "division by zero"),
        (Implies, false, "true"),
        (Implies, true, "division by zero"),
        (Iff, true, "division by zero"),
    ];
    for (op, left, expected) in cases {
        check(|_| binary(op, truth(left), fault()), expected);
    }
    check(|_| binary(Iff, truth(false), truth(false)), "true");
    check(|_| either_value(truth(true), int(1), binary(Divide, int(1), int(0))), "1");
    check(|_| either_value(truth(false), binary(Divide, int(1), int(0)), int(2)), "2");
    check(|_| not(fault()), "division by zero");
}

#[test]
fn processes_and_numbers_are_converted_where_it_is_written() {
    check(|_| me(), "1");
    check(|_| equal(me(), int(1)), "false");
    check(|_| equal(index_of(me()), int(1)), "true");
    check(|bench| equal(to_process(bench.p, int(1)), me()), "true");
    check(|bench| to_process(bench.p, int(2)), "index 2 is outside `P`, which has 2 elements");
    check(|bench| to_process(bench.p, int(-1)), "index -1 is outside `P`, which has 2 elements");
    check(|bench| to_process(bench.p, read(shared(bench.last))), "none");
    check(|bench| index_of(read(shared(bench.last))), "`none` used as a number or a process");
    check(|bench| read(of(bench.level, read(shared(bench.last)))), "`none` used as a number or a process");
    check(|bench| read(of(bench.level, to_process(bench.p, int(0)))), "0");
}

#[test]
fn indices_are_checked_in_every_dimension() {
    check(|bench| read(element(shared(bench.a), int(1))), "0");
    check(|bench| read(element(shared(bench.a), int(2))), "index 2 is outside `a`, which has 2 elements");
    let grid = |bench: &Bench, i, j| read(element(element(shared(bench.g), int(i)), int(j)));
    check(|bench| grid(bench, 1, 1), "0");
    check(|bench| grid(bench, 1, 3), "index 3 is outside `g[1]`, which has 2 elements");
    check(|bench| grid(bench, -1, 0), "index -1 is outside `g`, which has 2 elements");
}

#[test]
fn quantifiers_run_in_order_and_stop_early() {
    use Quantifier::*;
    // 1 / q0 == 1 fails at 0, holds at 1, is false at 2.
    let inverse = || equal(binary(BinaryOp::Divide, int(1), bound(0)), int(1));
    check(|_| quantified(Forall, 0, range(1, 1), inverse()), "true");
    check(|_| quantified(Forall, 0, range(1, 3), inverse()), "false");
    check(|_| quantified(Exists, 0, range(1, 3), inverse()), "true");
    check(|_| quantified(Exists, 0, range(2, 3), inverse()), "false");
    check(|_| quantified(Exists, 0, range(0, 3), inverse()), "division by zero");
    check(|_| quantified(Exists, 0, range(-1, 3), negative_inverse()), "true");
    check(|_| quantified(Count, 0, range(1, 3), inverse()), "1");
    check(|_| quantified(Count, 0, range(0, 3), inverse()), "division by zero");
    check(|_| quantified(Forall, 0, range(1, 0), truth(false)), "true");
    check(|_| quantified(Exists, 0, range(1, 0), truth(true)), "false");
    check(|bench| quantified(Count, 0, Domain::Enum(bench.color), truth(true)), "2");
    check(|bench| quantified(Count, 0, Domain::Family(bench.p), equal(bound(0), me())), "1");

    fn negative_inverse() -> Expr {
        equal(binary(BinaryOp::Divide, int(1), bound(0)), int(-1))
    }
}

#[test]
fn filters_leave_instances_out_and_inner_ranges_see_outer_variables() {
    let distinct = |bench: &Bench, body| {
        let bindings = vec![binding(0, Domain::Family(bench.p)), binding(1, Domain::Family(bench.p))];
        filtered(Quantifier::Count, bindings, Some(binary(BinaryOp::NotEqual, bound(0), bound(1))), body)
    };
    check(|bench| distinct(bench, truth(true)), "2");
    let triangle = || {
        let inner = Domain::Range(Box::new(int(0)), Box::new(bound(0)));
        filtered(Quantifier::Count, vec![binding(0, range(0, 2)), binding(1, inner)], None, truth(true))
    };
    check(|_| triangle(), "6");
}

#[test]
fn an_instance_of_a_quantifier_can_be_looked_at() {
    let bench = bench();
    let model = bench.model(vec![skip()]);
    let state = start(&model);
    let mut view = Viewpoint::new(&model, &state, None);
    view.bound = vec![Value::Int(5), Value::Int(6)];
    assert_eq!(view.value(&add(bound(0), bound(1))), Ok(Value::Int(11)));
    let nested = quantified(Quantifier::Count, 2, range(1, 6), equal(bound(2), bound(1)));
    assert_eq!(view.value(&add(nested, bound(1))), Ok(Value::Int(7)));
}

#[test]
fn expressions_are_shown_in_the_users_names() {
    type Make<'a> = &'a dyn Fn(&Bench) -> Expr;
    let show = |make: Make<'_>| {
        let bench = bench();
        let expr = make(&bench);
        print::expr(&bench.model(vec![skip()]), &expr)
    };
    use BinaryOp::*;
    let cases: [(Make<'_>, &str); 12] = [
        (&|b| binary(Multiply, add(int(1), int(2)), read(shared(b.x))), "(1 + 2) * x"),
        (&|_| binary(Subtract, int(1), binary(Subtract, int(2), int(3))), "1 - (2 - 3)"),
        (&|_| binary(Subtract, binary(Subtract, int(1), int(2)), int(-3)), "1 - 2 - -3"),
        (&|b| not(equal(read(shared(b.m)), me())), "!(m.owner == i)"),
        (&|b| read(element(shared(b.a), index_of(me()))), "a[i]"),
        (&|b| read(of(b.level, to_process(b.p, int(1)))), "P[1].level"),
        (&|_| standing(me(), vec![], &["a", "b"]), "@{a, b}"),
        (&|b| standing(to_process(b.p, int(0)), vec![], &["a"]), "P[0]@a"),
        (
            &|b| {
                let bindings = vec![binding(0, Domain::Family(b.p)), binding(1, Domain::Family(b.p))];
                let body = not(standing(bound(0), vec![], &["crit"]));
                filtered(Quantifier::Forall, bindings, Some(binary(NotEqual, bound(0), bound(1))), body)
            },
            "forall q0 != q1: !P[q0]@crit",
        ),
        (
            &|_| {
                let exists = quantified(Quantifier::Exists, 0, range(0, 2), equal(bound(0), int(1)));
                binary(And, exists, binary(Implies, truth(true), truth(false)))
            },
            "(exists q0 in 0..=2: q0 == 1) && (true => false)",
        ),
        (&|b| equal(read(shared(b.c)), constant(Value::Enum(b.color, 1))), "c == green"),
        (&|_| binary(Max, negate(negate(int(1))), int(2)), "max(-(-1), 2)"),
    ];
    for (make, expected) in cases {
        assert_eq!(show(make), expected);
    }
}
