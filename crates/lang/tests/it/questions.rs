//! Properties, fairness and hints: what becomes of them in the Model.

use crate::product::{facts, load, model};
use base::Diagnostic;
use model::Model;
use model::expr::Domain;
use model::fairness::{EdgePredicate, FairnessPair, StatePredicate};
use model::property::{Expected, Formula, PropertyKind};

/// A program with one family and a single process, and these declarations.
fn with(declarations: &str) -> String {
    format!(
        "program p(N: 2..) {{
            shared x: bool; shared n: 0..=3;
            process P[i in 0..<N] {{ public level: 0..=3; local deep: bool; loop {{ idle_: idle; a: x = true; b: x = false; }} }}
            process Monitor {{ loop {{ look: await x; seen: skip; }} }}
            {declarations}
        }}"
    )
}

/// The formula with `.` for each expression about the present state.
fn shape(formula: &Formula) -> String {
    match formula {
        Formula::Now(_) => ".".to_string(),
        Formula::Not(inner) => format!("!{}", shape(inner)),
        Formula::Boolean(op, left, right) => format!("({} {op:?} {})", shape(left), shape(right)),
        Formula::Unary(op, inner) => format!("{op:?} {}", shape(inner)),
        Formula::Binary(op, left, right) => format!("({} {op:?} {})", shape(left), shape(right)),
        Formula::Quantified { quantifier, bindings, filter, body } => {
            let names: Vec<String> =
                bindings.iter().map(|binding| format!("{}{}", binding.name, binding.var.0)).collect();
            let filter = if filter.is_some() { " filtered" } else { "" };
            format!("{quantifier:?} {}{filter}: {}", names.join(" "), shape(body))
        }
        Formula::NeverAccepts(_) => unreachable!("the language has formulas, not automata"),
    }
}

fn formula(text: &str) -> String {
    let model = model(&with(&format!("property q: {text};")));
    let property = model.properties.iter().last().expect("there is one");
    match &property.kind {
        PropertyKind::Temporal(formula) => shape(formula),
        other => format!("{other:?}"),
    }
}

#[test]
fn formulas_keep_their_shape() {
    assert_eq!(formula("always eventually x"), "Always Eventually .");
    assert_eq!(formula("forall i: P[i]@a ~> P[i]@b"), "Forall i0: (. LeadsTo .)");
    assert_eq!(formula("always forall i != j: !(P[i]@a && P[j]@a)"), "Always .");
    assert_eq!(formula("always (x => exists i: eventually P[i]@a)"), "Always (. Implies Exists i0: Eventually .)");
    assert_eq!(
        formula("forall i != j: eventually exists k: always (k == i)"),
        "Forall i0 j1 filtered: Eventually Exists k2: Always ."
    );
    assert_eq!(
        formula("(x until n > 1) && !(x W n > 2) || (x R x) xor (x M x)"),
        "!((((. Until .) And !(. WeakUntil .)) Or (. Releases .)) Iff (. StrongReleases .))"
    );
    assert_eq!(
        formula("if x then eventually n == 1 else always x"),
        "((. Implies Eventually .) And (!. Implies Always .))"
    );
}

#[test]
fn definitions_may_speak_of_runs() {
    let defined = with(
        "define often(p) = always eventually p;
         define responds(p, q) = always (p => eventually q);
         define step = often(x);
         property q: forall i: responds(P[i]@a, P[i]@b) && step && often(often(x) || n == 0);",
    );
    let model = model(&defined);
    let PropertyKind::Temporal(formula) = &model.properties.iter().last().expect("there is one").kind else { panic!() };
    assert_eq!(
        shape(formula),
        "Forall i0: ((Always (. Implies Eventually .) And Always Eventually .) And Always Eventually (Always Eventually . Or .))"
    );
    assert_eq!(facts(&with("define often(p) = always p; invariant no: often(x);")), "E0401");
}

#[test]
fn built_in_questions_come_first_unless_they_are_written() {
    let names = |declarations: &str| {
        let model = model(&with(declarations));
        let shown = |property: &model::property::Property| {
            let mark = if property.expected == Expected::Violated { "!" } else { "" };
            format!("{mark}{}", property.name)
        };
        model.properties.iter().map(shown).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(names(""), "no_errors, deadlock_free");
    assert_eq!(names("allow deadlock; reachable up: x expect violated;"), "no_errors, !up");
    assert_eq!(
        names("invariant a: !x; deadlock_free expect violated; race_free x; race_free P[*].level;"),
        "no_errors, a, !deadlock_free, race_free x, race_free P[*].level"
    );
    assert_eq!(names("no_errors expect holds;"), "deadlock_free, no_errors");
    assert_eq!(facts(&with("no_errors; no_errors;")), "E0405");
    assert_eq!(facts(&with("invariant no_errors: !x;")), "E0405");
    assert_eq!(facts(&with("allow deadlock; property deadlock_free: always !x;")), "E0405");
    // With structs in it, a question for each field.
    let structs = "struct Pair { a: bool, b: 0..=3 } struct Msg { kind: 0..=1, pair: Pair } shared ring: [Msg; 3]; process Q { public m: Pair; skip; }";
    assert_eq!(
        names(&format!("{structs} race_free ring, x, Q.m; race_free apart: ring expect violated;")),
        "no_errors, deadlock_free, race_free ring.kind, race_free ring.pair.a, race_free ring.pair.b, race_free x, race_free Q.m.a, race_free Q.m.b, \
         !apart.kind, !apart.pair.a, !apart.pair.b"
    );
}

/// The assumptions of the last property: the sets of pairs, `|` between alternatives.
fn assumed(declarations: &str) -> String {
    let model = model(&with(declarations));
    let property = model.properties.iter().last().expect("there is one");
    let set = |pairs: &Vec<_>| pairs.iter().map(|&id| model.fairness[id].name.clone()).collect::<Vec<_>>().join(", ");
    property.under.any_of.iter().map(set).collect::<Vec<_>>().join(" | ")
}

#[test]
fn fairness_is_multiplied_out() {
    assert_eq!(assumed("property q: eventually x;"), "");
    assert_eq!(
        assumed("property q: eventually x under every P[*], weak Monitor;"),
        "every P[0], every P[1], weak Monitor"
    );
    assert_eq!(
        assumed("property q: eventually x under weak P[0]@{a, b}, strong P[1]@a, strong Monitor;"),
        "weak P[0]@{a, b}, strong P[1]@a, strong Monitor"
    );
    let sets = "fairness a { weak P[0]; progress; } fairness b { a; weak x; } fairness default { every Monitor; }";
    assert_eq!(assumed(&format!("{sets} property q: eventually x;")), "every Monitor");
    assert_eq!(assumed(&format!("{sets} property q: eventually x under none;")), "");
    assert_eq!(assumed(&format!("{sets} property q: eventually x under b;")), "weak P[0], progress, weak x");
    assert_eq!(
        assumed(&format!("{sets} property q: eventually x under every P[1], a or default;")),
        "every P[1], weak P[0], progress | every P[1], every Monitor"
    );
    assert_eq!(
        assumed(&format!("{sets} property q: eventually x under (a, every P[1]) or weak n > 1;")),
        "weak P[0], progress, every P[1] | weak n > 1"
    );
    assert_eq!(
        assumed("property q: eventually x under strong (exists i: P[i].deep) => x, weak (P[0]@a);"),
        "strong (exists i: P[i].deep) => x, weak (P[0]@a)"
    );
}

fn pair(assumption: &str) -> FairnessPair {
    let model: Model = model(&with(&format!("property q: eventually x under {assumption};")));
    model.fairness.iter().next().expect("there is one").clone()
}

#[test]
fn every_form_of_fairness_is_a_pair() {
    use EdgePredicate::{Before, Moves, Scheduled, SomebodyMoves};
    use StatePredicate::{Fails, Holds, NobodyAble, Unable};
    assert!(
        matches!(pair("every P[1]"), FairnessPair { owner: Some(_), always: None, often, .. } if matches!(often[..], [Scheduled(_)]))
    );
    assert!(
        matches!(pair("weak P[1]"), FairnessPair { always: None, often, .. } if matches!(&often[..], [Before(Unable(_, None)), Moves(_, None)]))
    );
    assert!(
        matches!(pair("strong Monitor@look"), FairnessPair { always: Some(Unable(_, Some(_))), often, .. } if matches!(&often[..], [Moves(_, Some(labels))] if labels == &["look"]))
    );
    assert!(
        matches!(pair("progress"), FairnessPair { owner: None, always: None, often, .. } if matches!(&often[..], [Before(NobodyAble), SomebodyMoves]))
    );
    assert!(
        matches!(pair("weak n == 1"), FairnessPair { always: None, often, .. } if matches!(&often[..], [Before(Holds(_))]))
    );
    assert!(
        matches!(pair("strong n == 1 => x"), FairnessPair { always: Some(Fails(_)), often, .. } if matches!(&often[..], [Before(Holds(_))]))
    );
    assert!(
        matches!(pair("weak x"), FairnessPair { owner: None, often, .. } if matches!(&often[..], [Before(Holds(_))]))
    );
}

#[test]
fn wrong_fairness_is_refused() {
    let codes = |under: &str| facts(&with(&format!("property q: eventually x under {under};")));
    assert_eq!(codes("weak P"), "E0211");
    assert_eq!(codes("weak Monitor[0]"), "E0211");
    assert_eq!(codes("weak P[7]"), "E0212");
    assert_eq!(codes("weak P[*]@seen, every Q[*], nobody"), "E0310 E0202 E0402");
    assert_eq!(codes("weak n"), "E0203");
    assert_eq!(facts(&with("property q: forall i: eventually P[i]@a under weak P[i];")), "E0202");
}

#[test]
fn written_ranges_of_a_family_range_over_its_processes() {
    let is_family = |range: &str| {
        let text = format!(
            "program p(N: 2..) {{ const M = N - 1; process P[i in 1..=N] {{ skip; }} process Q {{ skip; }}
             invariant a: forall k in {range}: k > 0 || true; }}"
        );
        let model = model(&text);
        let property = model.properties.iter().last().expect("there is one");
        let PropertyKind::Invariant(expr) = &property.kind else { panic!() };
        let model::expr::ExprKind::Quantified(quantified) = &expr.kind else { panic!() };
        matches!(quantified.bindings[0].domain, Domain::Family(_))
    };
    for same in ["1..=N", "1..<N + 1", "1..=M + 1", "2 - 1..<2 + M", "P"] {
        assert!(is_family(same), "{same}");
    }
    for other in ["1..<N", "0..<N", "1..=2", "0..=N", "1..=N * N"] {
        assert!(!is_family(other), "{other}");
    }
}

#[test]
fn hints_are_about_processes() {
    let hints = |text: &str| {
        let model = model(&with(&format!("hint expose {text};")));
        model.hints.iter().map(|hint| hint.processes.len().to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(hints("P[*]@a, P[*].deep, P[1]@{a, b}, Monitor@seen, P[*].level > 1"), "2 2 1 1 2");
}

#[test]
fn parameters_have_ranges() {
    let ranges = |header: &str| {
        let text = format!("program p({header}) {{ const K = 3; process P[i in 0..<2] {{ skip; }} }}");
        match lang::parameters(&base::SourceFile::new("t.pw", text)) {
            Ok(ranges) => ranges
                .iter()
                .map(|of| format!("{} {} {:?}", of.name, of.least, of.greatest))
                .collect::<Vec<_>>()
                .join(", "),
            Err(diagnostics) => diagnostics.iter().map(|diagnostic| diagnostic.code).collect(),
        }
    };
    assert_eq!(ranges("N: 2.., M: N + 1..=8, L: 0..<K"), "N 2 None, M 3 Some(8), L 0 Some(2)");
    assert_eq!(ranges("N: M.., M: 2.."), "E0210");
    let text = "program p(N: 2..=4, M: N..) { process P[i in 0..<M] { skip; } invariant a: M >= N; }";
    let instance = |given: &[(&str, i64)]| match load(text, given) {
        Ok(loaded) => loaded
            .model
            .parameters
            .iter()
            .map(|of| format!("{}={}{}", of.name, of.value, if of.given { "!" } else { "" }))
            .collect::<Vec<_>>()
            .join(" "),
        Err(diagnostics) => {
            diagnostics.iter().map(|diagnostic: &Diagnostic| diagnostic.message.clone()).collect::<Vec<_>>().join("; ")
        }
    };
    assert_eq!(instance(&[]), "N=2 M=2");
    assert_eq!(instance(&[("N", 3)]), "N=3! M=3");
    assert_eq!(instance(&[("N", 1)]), "`N` is 1, but must be at least 2");
    assert_eq!(instance(&[("N", 5)]), "`N` is 5, but must be at most 4");
    assert_eq!(instance(&[("N", 3), ("M", 2)]), "`M` is 2, but must be at least 3");
    assert_eq!(instance(&[("K", 3)]), "the program has no parameter `K`");
}

#[test]
fn texts_are_shown_on_one_line_without_comments() {
    let model = model(
        "program p {
            shared x: bool;
            process P {
                l: x =   !x   // why
                   && x;
                if x /* as /* Rust */ does */ || !x { skip; }
                atomic { x = true; await x; }
                atomic { x = true; await x; x = false; assert !x; x = true; await x; x = false; }
                while x { }
                either { } or { goto l; }
            }
            invariant a: x
                || !x;
        }",
    );
    let texts: Vec<&str> = model.statements.iter().map(|statement| statement.text.as_str()).collect();
    let wanted = [
        "x = !x && x",
        "if x || !x",
        "skip",
        "atomic { x = true; await x; }",
        "atomic { … }",
        "while x",
        "skip",
        "goto l",
    ];
    assert_eq!(texts, wanted);
    assert_eq!(model.properties.iter().last().map(|property| property.text.as_str()), Some("x || !x"));
}

#[test]
fn cells_have_different_names() {
    let model = model(
        "program p {
            process P[i in 0..<2] {
                local k: bool;
                for j in 0..<2 { skip; }
                for k in 0..<2 { skip; } for j in 0..<2 { skip; }
            }
        }",
    );
    let names: Vec<&str> = model.cells.iter().map(|cell| cell.name.as_str()).collect();
    assert_eq!(names[..4], ["P[0].k", "P[0].j", "P[0].k@5:21", "P[0].j@5:46"]);
}
