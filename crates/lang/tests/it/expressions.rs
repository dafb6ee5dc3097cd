//! How expressions group: each is printed with all of its parentheses.

use base::SourceFile;
use lang::pw::ast::{Expr, ExprKind, Item, PropertyKind};
use lang::pw::{parse, printer};

/// Parses the expression as a property and shows its tree, every operator in parentheses.
fn check(text: &str, expected: &str) {
    check_in("", text, expected);
}

/// Likewise, with declarations before the property.
fn check_in(declarations: &str, text: &str, expected: &str) {
    let program = format!("program t {{ {declarations} property p: {text}; }}");
    let parsed = parse(&SourceFile::new("t", program));
    let errors: Vec<_> = parsed.diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).collect();
    assert!(errors.is_empty(), "{text}: {errors:?}");
    let program = parsed.program.expect("a program without errors");
    let Some(Item::Property(property)) = program.items.last() else { panic!("no property in {text}") };
    let PropertyKind::Temporal(formula) = &property.kind else { panic!("no formula in {text}") };
    assert_eq!(grouped(formula), expected, "in {text}");
}

fn grouped(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Unary { op, operand, .. } => format!("({} {})", printer::unary_op_text(*op), grouped(operand)),
        ExprKind::Binary { op, left, right, .. } => {
            format!("({} {} {})", grouped(left), printer::binary_op_text(*op), grouped(right))
        }
        ExprKind::If { condition, then, otherwise } => {
            format!("(if {} then {} else {})", grouped(condition), grouped(then), grouped(otherwise))
        }
        ExprKind::Quantified { binders, body, .. } => {
            let names: Vec<&str> = binders.names.iter().map(|name| name.name.as_str()).collect();
            format!("(Q {}: {})", names.join(","), grouped(body))
        }
        ExprKind::Index { base, index } => format!("{}[{}]", grouped(base), grouped(index)),
        ExprKind::AsPid { operand, .. } => format!("({} as pid)", grouped(operand)),
        _ => printer::expr_to_string(expr),
    }
}

#[test]
fn operators_bind_as_in_rust() {
    check("a + b * c - d", "((a + (b * c)) - d)");
    check("a || b && c", "(a || (b && c))");
    check("a == b && c < d + 1", "((a == b) && (c < (d + 1)))");
    check("!a && -b < c", "((! a) && ((- b) < c))");
    check("a - b - c", "((a - b) - c)");
    check("a xor b || c", "(a xor (b || c))");
    check("-x as pid == y", "(((- x) as pid) == y)");
}

#[test]
fn temporal_operators_take_a_comparison() {
    check("always eventually x == 0", "(always (eventually (x == 0)))");
    check("always x == 0 && y", "((always (x == 0)) && y)");
    check("always a => b", "((always a) => b)");
    check("!always a", "(! (always a))");
    check("a => always b || c", "(a => ((always b) || c))");
    check("a until b || c", "(a until (b || c))");
    check("a => b until c", "(a => (b until c))");
    check("not a == b && c", "((! (a == b)) && c)");
    check("! a == b", "((! a) == b)");
}

#[test]
fn all_spellings_are_understood() {
    check("G F p", "(always (eventually p))");
    check("GF p", "(always (eventually p))");
    check("[]<> p", "(always (eventually p))");
    check("□◇p", "(always (eventually p))");
    check("A[] p", "(always p)");
    check("X p", "(next p)");
    check("a U b", "(a until b)");
    check("a W b", "(a weakuntil b)");
    check("a R b", "(a releases b)");
    check("a V b", "(a releases b)");
    check("a M b", "(a M b)");
    check("a release b", "(a releases b)");
    check("a leadsto b", "(a ~> b)");
    check("a ~> b", "(a ~> b)");
    check("a -> b", "(a => b)");
    check("a <-> b", "(a <=> b)");
    check("a implies b", "(a => b)");
    check("a iff b", "(a <=> b)");
    check("a /\\ b \\/ ~c", "((a && b) || (! c))");
    check("a & b | not c", "((a && b) || (! c))");
    check("a and b or not c", "((a && b) || (! c))");
    check("a ^ TRUE", "(a xor true)");
}

#[test]
fn a_declared_name_wins_where_an_operand_stands() {
    check_in("shared F: bool;", "F && G F", "(F && (always F))");
    check_in("shared U: bool;", "U U U", "(U until U)");
    check_in("enum G { F, X }", "x == G.F", "(x == G.F)");
    check_in("shared next: [pid?; 3];", "next[0] == none", "(next[0] == none)");
    check_in("shared count: 0..=3;", "count == count(i: true)", "(count == (Q i: true))");
    check_in("process R { skip; } process W { skip; }", "R@a W W@b", "(R@a weakuntil W@b)");
    check_in("enum State { idle, release }", "s == idle || s == release", "((s == idle) || (s == release))");
}

#[test]
fn quantifiers_reach_as_far_right_as_they_can() {
    check("forall i: a => b", "(Q i: (a => b))");
    check("a && forall i != j: b || c", "(a && (Q i,j: (b || c)))");
    check("always forall i: a => eventually b", "(always (Q i: (a => (eventually b))))");
    check("forall v, w in 0..<W: v == w", "(Q v,w: (v == w))");
    check("forall i in 0..<N, j in P: a", "(Q i: (Q j: a))");
    check("exists k != 0: a", "(Q k: a)");
    check("if a then b else c && d", "(if a then b else (c && d))");
    check("1 + if a then b else c + d", "(1 + (if a then b else (c + d)))");
}

#[test]
fn places_fields_and_indices_follow_their_operand() {
    check("P[i]@crit && Monitor@{busy, idle}", "(P[i]@crit && Monitor@{busy, idle})");
    check("@crit", "@crit");
    check("!P[k].level[2][i + 1] == m.owner", "((! P[k].level[2][(i + 1)]) == m.owner)");
    check("near(i, j + 1) && min(a, b) < max(1, 2, 3)", "(near(i, j + 1) && (min(a, b) < max(1, 2, 3)))");
    check("x == [1, 2, 3] || x == [0; N]", "((x == [1, 2, 3]) || (x == [0; N]))");
    check("f(x)[3].y@z", "f(x)[3].y@z");
    check("x as pid(P) == 3 as pid", "((x as pid) == (3 as pid))");
}
