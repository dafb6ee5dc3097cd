//! What is found out beside the verdicts: remedies that help, assumptions that are needed, conditions that never happen.

use base::{CancelToken, SourceFile};
use driver::check::{Check, CheckLimits, Checked};
use driver::load::{self, Loaded};
use driver::methods;
use driver::teach::teach;
use engine::Silent;
use engine::insight::{AssumedOutcome, Insight, Need, Reached};
use model::Model;

fn model(text: &str) -> Model {
    match load::instance(&SourceFile::new("p.pw", text), &[]) {
        Loaded::Program(program) => program.model,
        Loaded::Refused(refusal) => panic!("{:?}", refusal.diagnostics),
    }
}

/// What is found out about a property of the program.
fn insight(text: &str, property: &str) -> Insight {
    insight_by("mono", text, property)
}

fn insight_by(method: &str, text: &str, property: &str) -> Insight {
    let model = model(text);
    let questions: Vec<_> =
        model.properties.entries().filter(|(_, one)| one.name == property).map(|(id, _)| id).collect();
    let limits =
        CheckLimits { time: None, memory_bytes: None, disk: None, n_threads: 1, cancel: CancelToken::default() };
    let checker = methods::checker(methods::find(method).expect("it is there"));
    let check = Check { model: &model, questions: &questions, checker: &*checker, limits: &limits };
    let mut checked: Checked = check.run(&Silent).expect("the audit accepts it");
    // A busy machine must not change what is tried.
    checked.results[0].statistics.time = std::time::Duration::from_millis(900);
    teach(&check, &mut checked).expect("the audit accepts it");
    checked.results.remove(0).insight
}

/// A semaphore with a property about it.
fn mux_sem(property: &str) -> String {
    format!(
        "program p {{ shared x: sem = 1; shared y: 0..=3;
        process P[i in 0..<2] {{ loop {{ noncrit: idle; trying: acquire x; crit: skip; leave: release x; }} }}
        process M {{ m: await y == 2; busy: skip; }}
        {property} }}"
    )
}

const LIVE: &str = "forall i: P[i]@trying ~> P[i]@crit";

/// What helps, and all that is assumed then.
fn cure(under: &str) -> Option<(Vec<String>, String)> {
    let found = insight(&mux_sem(&format!("property live: {LIVE}{under};")), "live");
    found.cure().map(|remedy| (remedy.added.clone(), remedy.under.clone()))
}

#[test]
fn a_violated_property_says_which_assumptions_would_mend_it() {
    let strong = "strong P[*]@trying".to_owned();
    let (added, under) = cure(" under weak P[*]").expect("strong fairness helps");
    assert_eq!((added, under), (vec![strong.clone()], "weak P[*], strong P[*]@trying".to_owned()));
    let (added, _) = cure("").expect("both help");
    assert_eq!(added, ["weak P[*]".to_owned(), strong.clone()]);
    let (_, under) = cure(" under weak P[*] or every P[*]").expect("strong fairness helps");
    assert_eq!(under, "((weak P[*]) or (every P[*])), strong P[*]@trying");
    assert_eq!(cure(" under weak P[*], strong P[*]@trying"), None, "it holds");
}

/// What is said to help does: the line that is to be written is one, and the property holds with it.
#[test]
fn the_line_to_write_can_be_written() {
    for under in ["", " under every P[*]", " under weak P[*] or every P[*]", " under progress"] {
        let (_, under) = cure(under).expect("something helps");
        let found = insight(&mux_sem(&format!("property live: {LIVE} under {under};")), "live");
        assert!(found.remedies.is_empty() && !found.assumptions.is_empty(), "{under}: {found:?}");
    }
}

#[test]
fn where_fairness_does_not_help_that_is_said() {
    let found = insight(&mux_sem("property hopeless: eventually y == 3;"), "hopeless");
    assert!(matches!(found.remedies[0].outcome, AssumedOutcome::Violated(_)), "{found:?}");
    assert_eq!(found.cure(), None);
}

#[test]
fn a_property_that_holds_says_which_assumptions_it_needs() {
    let text = mux_sem(&format!("property live: {LIVE} under progress, weak P[*], strong P[*]@trying, every M;"));
    let found = insight(&text, "live");
    let needs: Vec<(&str, bool)> = (found.assumptions.iter())
        .map(|assumption| (assumption.text.as_str(), matches!(assumption.need, Need::Needed(1..))))
        .collect();
    let expected = [("progress", false), ("weak P[*]", true), ("strong P[*]@trying", true), ("every M", false)];
    assert_eq!(needs, expected);
    assert_eq!(found.assumptions[0].need, Need::NotNeeded);
    assert_eq!(found.is_vacuous(), Some(false));
}

/// What is assumed of one process is assumed of each, too, and so is assumed without it.
#[test]
fn an_assumption_that_another_one_contains_is_not_needed() {
    for (under, expected) in [
        ("weak P[0], weak P[*], strong P[*]@trying", vec!["weak P[0] -", "weak P[*] +", "strong P[*]@trying +"]),
        ("weak P[*], strong P[*]@trying, weak P[1]", vec!["weak P[*] +", "strong P[*]@trying +"]),
        ("weak P[0], weak P[1], strong P[*]@trying", vec!["weak P[0] +", "weak P[1] +", "strong P[*]@trying +"]),
    ] {
        let found = insight(&mux_sem(&format!("property live: {LIVE} under {under};")), "live");
        let sign = |need: &Need| match need {
            Need::Needed(_) => '+',
            Need::NotNeeded => '-',
            Need::Unknown => '?',
        };
        let needs: Vec<String> =
            found.assumptions.iter().map(|one| format!("{} {}", one.text, sign(&one.need))).collect();
        assert_eq!(needs, expected, "{under}");
    }
}

#[test]
fn what_never_happens_is_found() {
    let check = |property: &str, text: &str, variables: &[&str], reached: Reached| {
        let found = insight(&mux_sem(property), "p");
        let trigger = &found.triggers[0];
        assert_eq!((trigger.text.as_str(), trigger.reached), (text, reached), "{property}");
        assert_eq!(trigger.variables, variables, "{property}");
        assert_eq!(found.is_vacuous(), Some(matches!(reached, Reached::Never | Reached::NoInstance)));
        assert_eq!(found.triggers.len(), 1, "{property}");
    };
    check("invariant p: forall i != j: !(P[i]@crit && P[j]@crit);", "P[i]@crit", &["i"], Reached::Always);
    check("invariant p: M@busy => y == 2;", "M@busy", &[], Reached::Never);
    check("invariant p: forall i != j: i == j => P[i]@crit;", "i == j", &["i", "j"], Reached::Never);
    // What is asked of nobody happens all the same: `P[0]@noncrit` is where it begins.
    check(
        "property p: forall i: forall k in 1..=0: P[i]@noncrit ~> x == k;",
        "P[i]@noncrit",
        &["i", "k"],
        Reached::NoInstance,
    );
    check(
        "invariant p: forall k in 3..=2, i: P[i]@noncrit => y == k;",
        "P[i]@noncrit",
        &["k", "i"],
        Reached::NoInstance,
    );
    check("property p: M@busy ~> y == 3;", "M@busy", &[], Reached::Never);
    check("property p: always (x == 0 => eventually true);", "x == 0", &[], Reached::Always);
    check(
        "property p: always forall i: (i == 0 && P[i]@crit => x == 0);",
        "i == 0 && P[i]@crit",
        &["i"],
        Reached::Sometimes,
    );
    check("property p: forall i: forall k in 0..=1: P[i]@crit ~> x <= k + 1;", "P[i]@crit", &["i"], Reached::Always);
    for no_condition in ["invariant p: x <= 1;", "property p: always x <= 1;", "invariant p: !(x == 2);"] {
        assert!(insight(&mux_sem(no_condition), "p").triggers.is_empty(), "{no_condition}");
    }
}

/// Of more instances than anybody waits for it is asked whether there is one.
#[test]
fn many_instances_are_asked_together() {
    let text = "program p { shared x: 0..=9; process P[i in 0..<5] { a: x = 1; }
        invariant p: forall v, w in 0..=9: !(x == v && x == w && v < w); }";
    let found = insight(text, "p");
    assert_eq!(found.triggers.iter().map(|one| one.reached).collect::<Vec<_>>()[0], Reached::Sometimes);
    let text = "program p { shared x: 0..=99; process P[i in 0..<2] { a: x = 1; } invariant p: forall v in 0..=99: x == v => v <= 1; }";
    assert_eq!(insight(text, "p").triggers[0].reached, Reached::AtLeastOnce);
}

/// What is asked to teach was not written in the text, so that what is said of every size says nothing about it.
#[test]
fn methods_for_every_size_are_asked_what_was_not_written() {
    let text = "program p(N: 2.. = 90) { shared x: sem = 1;
        process P[i in 0..<N] { loop { noncrit: idle; trying: acquire x; crit: skip; leave: release x; } }
        invariant mutex: forall i, j: P[i]@crit && P[j]@crit => i == j; }";
    let found = insight_by("views", text, "mutex");
    assert!(found.triggers.iter().all(|trigger| trigger.reached != Reached::Never), "{found:?}");
    let text = "program p(N: 2.. = 90) { shared x: sem = 1;
        process P[i in 0..<N] { public f: bool; loop { noncrit: idle; trying: acquire x; crit: skip; leave: release x; } }
        invariant quiet: forall i: P[i].f => P[i]@crit; }";
    let found = insight_by("views", text, "quiet");
    assert!(found.triggers.iter().all(|trigger| trigger.reached != Reached::Always), "{found:?}");
}
