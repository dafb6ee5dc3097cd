//! One step of each kind of statement, from `x = 1, y = 2`, all else at its first value.

use crate::common::{Bench, bench};
use model::control::StmtKind;
use model::expr::BinaryOp;
use model::value::Value;
use testkit::draft::range_type;
use testkit::expr::*;
use testkit::text::*;

/// The first steps of `P[0]` when its text is this step.
fn check(make: impl FnOnce(&Bench) -> TextStatement, expected: &str) {
    let bench = bench();
    let text = make(&bench);
    assert_eq!(bench.first_steps(vec![text]), expected);
}

#[test]
fn skip_and_idle_only_move() {
    check(|_| skip(), "P[0]: P[0]@end");
    check(|_| idle(), "P[0]: P[0]@end");
}

#[test]
fn assignments_store_what_the_type_has() {
    check(|b| assign(shared(b.x), int(3)), "P[0]: x 1 => 3, P[0]@end");
    check(|b| assign(shared(b.x), int(4)), "P[0] fails: 4 is outside the type of `x`");
    check(|b| assign(shared(b.x), int(-1)), "P[0] fails: -1 is outside the type of `x`");
    check(|b| assign(element(shared(b.a), int(1)), int(9)), "P[0] fails: 9 is outside the type of `a[1]`");
    check(|b| assign(mine(b.l), int(-2)), "P[0]: P[0].l 0 => -2, P[0]@end");
    check(|b| assign(mine(b.l), int(-3)), "P[0] fails: -3 is outside the type of `P[0].l`");
    check(|b| assign(shared(b.last), me()), "P[0]: last none => 0, P[0]@end");
    check(|b| assign(shared(b.turn), read(shared(b.last))), "P[0] fails: none is outside the type of `turn`");
    check(|b| assign(shared(b.c), constant(Value::Enum(b.color, 1))), "P[0]: c red => green, P[0]@end");
}

#[test]
fn a_simultaneous_assignment_reads_before_it_writes() {
    let pairs = |b: &Bench| vec![(shared(b.x), read(shared(b.y))), (shared(b.y), read(shared(b.x)))];
    check(|b| atomic(vec![stmt(StmtKind::Assign(pairs(b)))]), "P[0]: x 1 => 2, y 2 => 1, P[0]@end");
    // a[x] means the old x, so element 1 is written.
    let indexed = |b: &Bench| vec![(shared(b.x), int(0)), (element(shared(b.a), read(shared(b.x))), int(3))];
    check(|b| atomic(vec![stmt(StmtKind::Assign(indexed(b)))]), "P[0]: x 1 => 0, a[1] 0 => 3, P[0]@end");
}

#[test]
fn any_is_every_value_of_the_type_or_range() {
    check(
        |b| atomic(vec![stmt(StmtKind::AssignAny(shared(b.b), None))]),
        "P[0]: P[0]@end | P[0]: b false => true, P[0]@end",
    );
    check(
        |b| atomic(vec![stmt(StmtKind::AssignAny(shared(b.last), None))]),
        "P[0]: P[0]@end | P[0]: last none => 0, P[0]@end | P[0]: last none => 1, P[0]@end",
    );
    let within = |b: &Bench, lo, hi| stmt(StmtKind::AssignAny(shared(b.x), Some((int(lo), int(hi)))));
    check(|b| atomic(vec![within(b, 2, 3)]), "P[0]: x 1 => 2, P[0]@end | P[0]: x 1 => 3, P[0]@end");
    check(|b| atomic(vec![within(b, 3, 2)]), "nothing");
    check(
        |b| atomic(vec![within(b, 3, 1_000_000_000_000)]),
        "P[0]: x 1 => 3, P[0]@end | P[0] fails: 1000000000000 is outside the type of `x`",
    );
    check(
        |b| atomic(vec![stmt(StmtKind::AssignAny(shared(b.last), Some((int(1), int(1)))))]),
        "P[0]: last none => 1, P[0]@end",
    );
}

#[test]
fn any_within_a_range_of_a_wide_type_goes_through_the_range_alone() {
    let mut draft = testkit::Draft::new();
    let wide = draft.shared("w", range_type(0, i64::from(u32::MAX)), model::variable::Init::First);
    let family = draft.single("P");
    draft.text(family, vec![atomic(vec![stmt(StmtKind::AssignAny(shared(wide), Some((int(7), int(8)))))])]);
    let model = draft.finish();
    let first = model::eval::initial_states(&model).next().unwrap();
    assert_eq!(model::eval::steps(&model, &first).len(), 2);
}

#[test]
fn equal_outcomes_of_one_statement_are_one_step() {
    // x = any; x = 2: four paths, one successor.
    check(
        |b| atomic(vec![stmt(StmtKind::AssignAny(shared(b.x), None)), set(shared(b.x), int(2))]),
        "P[0]: x 1 => 2, P[0]@end",
    );
    // Two statements with the same effect are two steps.
    check(
        |b| TextStatement::Either(vec![vec![assign(shared(b.x), int(2))], vec![assign(shared(b.x), int(2))]]),
        "P[0]: x 1 => 2, P[0]@end | P[0]: x 1 => 2, P[0]@end",
    );
}

#[test]
fn await_is_enabled_where_it_holds_and_fails_where_it_cannot_be_evaluated() {
    check(|b| wait(equal(read(shared(b.x)), int(1))), "P[0]: P[0]@end");
    check(|b| wait(equal(read(shared(b.x)), int(0))), "nothing");
    check(|_| wait(equal(binary(BinaryOp::Divide, int(1), int(0)), int(0))), "P[0] fails: division by zero");
}

#[test]
fn assert_fails_where_it_is_false() {
    check(|b| atomic(vec![stmt(StmtKind::Assert(equal(read(shared(b.x)), int(1))))]), "P[0]: P[0]@end");
    check(|_| atomic(vec![stmt(StmtKind::Assert(truth(false)))]), "P[0] fails: the assertion is false");
}

#[test]
fn semaphores_count_and_locks_have_owners() {
    let acquire = |access| stmt(StmtKind::Acquire(access));
    let release = |access| stmt(StmtKind::Release(access));
    check(|b| atomic(vec![acquire(shared(b.s))]), "P[0]: s 1 => 0, P[0]@end");
    check(|b| atomic(vec![acquire(shared(b.s)), acquire(shared(b.s))]), "nothing");
    check(|b| atomic(vec![release(shared(b.s))]), "P[0]: s 1 => 2, P[0]@end");
    check(|b| atomic(vec![release(shared(b.s)), release(shared(b.s))]), "P[0] fails: `s` is released over its bound");
    check(|b| atomic(vec![acquire(shared(b.m))]), "P[0]: m none => 0, P[0]@end");
    check(|b| atomic(vec![acquire(shared(b.m)), release(shared(b.m))]), "P[0]: P[0]@end");
    // Not reentrant: whoever holds it waits for himself.
    check(|b| atomic(vec![acquire(shared(b.m)), acquire(shared(b.m))]), "nothing");
    check(|b| atomic(vec![release(shared(b.m))]), "P[0] fails: `m` is released by a process that does not hold it");
    let owner_is_me = |b: &Bench| equal(read(shared(b.m)), me());
    check(
        |b| atomic(vec![acquire(shared(b.m)), stmt(StmtKind::Assert(owner_is_me(b)))]),
        "P[0]: m none => 0, P[0]@end",
    );
}

#[test]
fn atomic_is_sequential_and_its_awaits_see_what_came_before() {
    let x_is = |b: &Bench, n| stmt(StmtKind::Await(equal(read(shared(b.x)), int(n))));
    check(|b| atomic(vec![set(shared(b.x), int(3)), x_is(b, 3)]), "P[0]: x 1 => 3, P[0]@end");
    check(|b| atomic(vec![set(shared(b.x), int(3)), x_is(b, 1)]), "nothing");
    // The error comes first.
    check(|b| atomic(vec![set(shared(b.x), int(4)), x_is(b, 1)]), "P[0] fails: 4 is outside the type of `x`");
    check(|b| atomic(vec![x_is(b, 0), set(shared(b.x), int(4))]), "nothing");
}

#[test]
fn atomic_blocks_branch_and_repeat() {
    let add_to_x = |b: &Bench, n: Expr| set(shared(b.x), add(read(shared(b.x)), n));
    use model::expr::Expr;
    check(
        |b| {
            atomic(vec![stmt(StmtKind::Either(vec![
                vec![set(shared(b.x), int(0))],
                vec![stmt(StmtKind::Await(truth(false)))],
                vec![set(shared(b.x), int(7))],
                vec![set(shared(b.x), int(2))],
            ]))])
        },
        "P[0]: x 1 => 0, P[0]@end | P[0] fails: 7 is outside the type of `x` | P[0]: x 1 => 2, P[0]@end",
    );
    check(
        |b| {
            let test = equal(read(shared(b.x)), int(1));
            atomic(vec![stmt(StmtKind::If(test, vec![set(shared(b.y), int(0))], vec![set(shared(b.y), int(1))]))])
        },
        "P[0]: y 2 => 0, P[0]@end",
    );
    check(
        |b| {
            let body = vec![add_to_x(b, bound(0))];
            atomic(vec![set(shared(b.x), int(0)), stmt(StmtKind::For(binding(0, range(0, 2)), body))])
        },
        "P[0]: x 1 => 3, P[0]@end",
    );
    // A quantifier inside `for` has the next depth.
    check(
        |b| {
            let count = quantified(model::expr::Quantifier::Count, 1, range(1, 3), equal(bound(1), bound(0)));
            let body = vec![add_to_x(b, count)];
            atomic(vec![set(shared(b.x), int(0)), stmt(StmtKind::For(binding(0, range(2, 5)), body))])
        },
        "P[0]: x 1 => 2, P[0]@end",
    );
}

#[test]
fn tests_are_steps_and_fail_once() {
    let branches =
        |b: &Bench| (vec![assign(shared(b.x), int(0)).label("yes")], vec![assign(shared(b.x), int(2)).label("no")]);
    check(
        |b| {
            let (yes, no) = branches(b);
            TextStatement::If(None, equal(read(shared(b.x)), int(1)), yes, no)
        },
        "P[0]: P[0]@yes",
    );
    check(
        |b| {
            let (yes, no) = branches(b);
            TextStatement::If(None, equal(binary(BinaryOp::Remainder, int(1), int(0)), int(1)), yes, no)
        },
        "P[0] fails: division by zero",
    );
    check(|b| TextStatement::While(None, truth(false), branches(b).0), "P[0]: P[0]@end");
}
