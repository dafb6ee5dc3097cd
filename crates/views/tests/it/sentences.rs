//! Proofs by counting in sentences: each is true in every reachable state at small sizes, and says how many processes are where.

use base::{Budget, SourceFile};
use engine::{Engine, Silent, Task, Verdict};
use evidence::{Certificate, Evidence};
use explain::proof::LocalProof;
use explain::proof::formula::LetterMeaning;
use explain::proof::truth::{WholeState, truth};
use model::Model;
use model::eval::{State, evaluate};
use model::property::PropertyKind;
use model::value::Value;
use testkit::Product;
use views::ByViews;

/// How many sentences a proof has; each of them is true in these states, of all processes of which it is said.
pub fn all_true(model: &Model, text: &str, certificate: &Certificate, states: &[State]) -> usize {
    let source = SourceFile::new("p.pw", text);
    let Some(proof) = LocalProof::of(model, &source, certificate, &Budget::unlimited()) else { return 0 };
    let mut n_claims = 0;
    for part in &proof.parts {
        for claim in part.claims() {
            n_claims += 1;
            for choice in part.choices(model) {
                let meaning = LetterMeaning::new(model, &choice);
                let wrong = states.iter().find(|state| truth(&meaning, &claim, &WholeState(state)) != Some(true));
                assert!(wrong.is_none(), "{}, for {choice:?}: {claim:?} in {wrong:?}\n{text}", part.whom);
            }
        }
    }
    n_claims
}

/// The sentences, written into the program as invariants, are invariants of it, and true.
fn read_back(text: &str, given: &[(String, i64)], (model, proof): (&Model, &Certificate)) {
    let source = SourceFile::new("p.pw", text);
    let told = LocalProof::of(model, &source, proof, &Budget::unlimited()).unwrap();
    let sentences = told.parts.iter().flat_map(|part| part.sentences());
    let expressions: Vec<String> = sentences.filter_map(|(_, one)| one.expression.clone()).collect();
    assert!(!expressions.is_empty());
    let invariants = (0..).zip(&expressions).map(|(nth, said)| format!("invariant said_{nth}: {said};\n"));
    let body = text.trim_end().strip_suffix('}').unwrap();
    let source = SourceFile::new("said.pw", format!("{body}{}}}", invariants.collect::<String>()));
    let loaded = lang::load(&source, given).unwrap_or_else(|wrong| panic!("{:?}\n{}", wrong[0], source.text())).model;
    let product = Product::explore(&loaded, 200_000).unwrap();
    for property in loaded.properties.iter().filter(|property| property.name.starts_with("said_")) {
        let PropertyKind::Invariant(expr) = &property.kind else { panic!("no invariant") };
        let is_true = |state: &State| evaluate(&loaded, state, expr, None) == Ok(Value::Bool(true));
        assert!(product.states.iter().all(is_true), "{}", property.text);
    }
}

/// The sentences of a proof for every size of an example, at a size.
fn sentences(name: &str, property: &str, given: &[(&str, i64)]) -> Vec<String> {
    let path = format!("{}/../../examples/{name}.pw", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    let given: Vec<(String, i64)> = given.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    let model = lang::load(&SourceFile::new(&path, &text), &given).unwrap_or_else(|wrong| panic!("{wrong:?}")).model;
    let asked = model.properties.entries().find(|(_, one)| one.name == property).unwrap().0;
    let task = Task { model: &model, properties: vec![asked], budget: Budget::unlimited(), n_threads: 1 };
    let verdict = ByViews::for_every_size().run(&task, &Silent).unwrap().remove(0).verdict;
    let Verdict::Holds(Evidence::Certificate(proof)) = verdict else { panic!("{name}.{property}: {verdict:?}") };
    assert!(proof.counting().is_some());
    let product = Product::explore(&model, 200_000).unwrap_or_else(|| panic!("{name} is too large"));
    all_true(&model, &text, &proof, &product.states);
    read_back(&text, &given, (&model, &proof));
    let told = LocalProof::of(&model, &SourceFile::new(&path, &text), &proof, &Budget::unlimited()).unwrap();
    let mut found: Vec<String> = Vec::new();
    for part in &told.parts {
        found.extend(part.always.iter().map(|one| format!("{}: {}", part.whom, one.text)));
        for place in &part.places {
            found
                .extend(place.says.iter().map(|one| format!("{} at {}: {}", part.whom, place.at.join(", "), one.text)));
        }
    }
    found
}

#[test]
fn sums_and_places_are_told() {
    for (name, property, given, said) in [
        ("adders", "total", &[("N", 3)][..], "count(k"),
        ("readers_writers", "exclusive", &[("R", 2), ("W", 2)], "count("),
        ("permits", "sum", &[("N", 3), ("K", 2)], "count("),
        ("bounded_buffer", "bounds", &[("Size", 2), ("Producers", 2), ("Consumers", 2)], "count("),
    ] {
        let found = sentences(name, property, given);
        println!("{name}: {found:#?}");
        assert!(found.iter().any(|one| one.contains(said)), "{name}: {found:#?}");
    }
}
