//! A violation at another size than the one that was loaded does not replace what is proved for every size.

use std::time::Duration;

use base::{CancelToken, SourceFile};
use driver::check::{CheckLimits, Checked};
use driver::every_n::{self, EverySizeAnswers};
use driver::load::Loaded;
use engine::{Silent, Verdict};
use evidence::Evidence;
use evidence::scope::Scope;
use model::Model;

/// With one process alone it does not show that processes are alike; the counter is wrong at every size.
const TEXT: &str = "program kept(N: 1..) {
  shared x: 0..=1; shared n: 0..=2;
  process P[i in 0..<N] { loop {
    take: atomic { await x == 0; x = 1; }
    crit: n = min(n + 1, 2);
    out:  x = 0; } }
  invariant mutex: forall i != j: !(P[i]@crit && P[j]@crit);
  invariant few: n <= 1;
}";

fn answers(n: i64) -> (Model, EverySizeAnswers) {
    let source = SourceFile::new("kept.pw", TEXT);
    let Loaded::Program(program) = driver::load::instance(&source, &[("N".to_owned(), n)]) else { panic!("{TEXT}") };
    let questions: Vec<_> = { program.model.properties.entries() }
        .filter(|(_, property)| ["mutex", "few"].contains(&property.name.as_str()))
        .map(|(id, _)| id)
        .collect();
    let limits = CheckLimits {
        time: Some(Duration::from_secs(60)),
        memory_bytes: None,
        disk: None,
        n_threads: 1,
        cancel: CancelToken::default(),
    };
    let answers = every_n::check(&program, &questions, &limits, &Silent).unwrap();
    (program.model, answers)
}

fn said(model: &Model, checked: &Checked) -> Vec<String> {
    let word = |verdict: &Verdict| match verdict {
        Verdict::Holds(Evidence::Certificate(proof)) if matches!(proof.scope, Scope::AllSizes { .. }) => "every N",
        Verdict::Violated(_) => "violated",
        _ => "else",
    };
    let results = checked.results.iter();
    results.map(|result| format!("{}: {}", model.properties[result.property].name, word(&result.verdict))).collect()
}

#[test]
fn proofs_stay_where_something_else_is_violated_at_another_size() {
    let (model, found) = answers(3);
    let other = found.other.expect("the counter is wrong with one process");
    assert_eq!(other.model.parameters.iter().next().map(|parameter| parameter.value), Some(1));
    assert_eq!(said(&other.model, &found.checked), ["few: violated"]);
    let kept = found.kept.expect("who is inside is proved of every size");
    assert_eq!(said(&model, &kept), ["mutex: every N"]);
    // Each question is answered once.
    assert!(found.checked.results.iter().all(|result| other.model.properties[result.property].name != "mutex"));
}

#[test]
fn nothing_is_kept_where_all_is_about_one_size() {
    let (model, found) = answers(1);
    assert!(found.kept.is_none() && found.other.is_none_or(|other| other.model.parameters.len() == 1));
    assert!(said(&model, &found.checked).contains(&"few: violated".to_owned()));
}
