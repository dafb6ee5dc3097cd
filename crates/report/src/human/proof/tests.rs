//! Proofs read well on the classics, and say whether they were checked.

use std::time::Duration;

use base::SourceFile;
use engine::run::{Audit, PropertyResult, Run};
use engine::{Statistics, Verdict};
use evidence::Evidence;
use testkit::local::{Expose, LocalDefinition};

use crate::testing::explained;

/// The invariant of `k` processes each, exposing these places, as the proof of a property of an example.
fn proved(name: &str, size: i64, (k, exposed): (usize, &[&str]), property: &str) -> Run {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(format!("{name}.pw"));
    let source = SourceFile::new(format!("{name}.pw"), std::fs::read_to_string(path).unwrap());
    let given: Vec<(String, i64)> = (size > 0).then(|| ("N".to_owned(), size)).into_iter().collect();
    let model = lang::load(&source, &given).unwrap().model;
    let mut local = LocalDefinition { limit: 20_000, ..LocalDefinition::new(&model, k) };
    local.views = model.processes.ids().map(|process| model::footprint::view(&model, process)).collect();
    if !exposed.is_empty() {
        let has = |place: &model::control::Place| place.labels.iter().any(|label| exposed.contains(&label.as_str()));
        let places = model.places.entries().filter(|(_, place)| has(place)).map(|(id, _)| id).collect();
        let fact = Expose::At(places);
        local.exposed.iter_mut().for_each(|facts| facts.push(fact.clone()));
    }
    let certificate = local.certificate(&local.invariant().unwrap(), property);
    let id = model.properties.entries().find(|(_, one)| one.name == property).unwrap().0;
    let result = PropertyResult {
        property: id,
        method: "split",
        verdict: Verdict::Holds(Evidence::Certificate(Box::new(certificate))),
        audit: Audit::Accepted,
        statistics: Statistics::default(),
        insight: engine::insight::Insight::default(),
        denied: Vec::new(),
    };
    Run {
        source,
        model,
        warnings: Vec::new(),
        results: vec![result],
        time: Duration::from_millis(12),
        processor_time: None,
        method: "mono",
    }
}

#[test]
fn the_classics_read_well() {
    for (name, size, how, property) in [
        ("mux_sem", 4, (1, &["crit", "leave"][..]), "mutex"),
        ("peterson", 0, (1, &["crit"][..]), "mutex"),
        ("filter", 2, (1, &["crit"][..]), "mutex"),
        ("philosophers", 3, (1, &[][..]), "neighbours"),
        ("szymanski", 2, (2, &[][..]), "mutex"),
        ("bakery", 2, (2, &[][..]), "mutex"),
        ("ticket", 2, (2, &[][..]), "mutex"),
    ] {
        let run = proved(name, size, how, property);
        let text = crate::human::run(&explained(&run), &crate::Context::default(), &crate::Style::default());
        // A command is not wrapped: it is there to be copied.
        let is_wide = |line: &&str| crate::text::width(line) > 80 && !line.contains("piecewise check ");
        let wide: Vec<&str> = text.lines().filter(is_wide).collect();
        assert!(wide.is_empty(), "{wide:#?}");
        crate::testing::assert_shown(&format!("human__proof__{name}"), &text);
    }
}

#[test]
fn a_proof_that_was_not_checked_says_so() {
    let mut run = proved("mux_sem", 3, (1, &["crit", "leave"][..]), "mutex");
    run.results[0].audit = Audit::Stopped(base::StopReason::TimeLimit(Duration::from_secs(1)));
    let text = crate::human::run(&explained(&run), &crate::Context::default(), &crate::Style::default());
    assert!(text.contains("not checked by independent code: the time limit of 1 s was reached"), "{text}");
    let (run, files) = (explained(&run), crate::Files::default());
    let document = crate::json::value_of(&crate::json::document(&[crate::Item::Checked(&run, &files)], 0));
    let result = &document["runs"][0]["results"][0];
    assert_eq!((&result["audited"], &result["audit_reason"]["code"]), (&false.into(), &"time-limit".into()));
    assert_eq!(result["invariants"][0]["text"], "x == 0 <=> exists k: P[k]@{crit, leave}");
    assert_eq!(result["exposed"][0]["fact"], "P[0]@{crit, leave}");
    assert_eq!(
        (&result["used_lines"], &result["unused_lines"]),
        (&serde_json::json!([10, 15, 17]), &serde_json::json!([14, 16]))
    );
}

#[test]
fn a_proof_in_ascii_and_in_full() {
    let run = proved("mux_sem", 3, (1, &["crit", "leave"][..]), "mutex");
    let style = crate::Style { ascii: true, ..crate::Style::default() };
    let context = crate::Context { verbosity: crate::Verbosity::Verbose, ..crate::Context::default() };
    let text = crate::human::run(&explained(&run), &context, &style);
    assert!(text.is_ascii(), "{text}");
    crate::testing::assert_shown("human__proof__a_proof_in_ascii_and_in_full", &text);
}
