//! What brute force finds out about a program, on one line.

// Each test file that includes this one uses a part of it.
#![allow(dead_code)]

use base::{Diagnostic, SourceFile};
use lang::Loaded;
use model::Model;
use model::eval::{State, evaluate};
use model::expr::Expr;
use model::property::PropertyKind;
use model::value::Value;
use testkit::Product;

/// Loads a program.
pub fn load(text: &str, parameters: &[(&str, i64)]) -> Result<Loaded, Vec<Diagnostic>> {
    let parameters: Vec<(String, i64)> = parameters.iter().map(|&(name, value)| (name.to_string(), value)).collect();
    lang::load(&SourceFile::new("test.pw", text), &parameters)
}

/// The Model of a program that is right.
pub fn model(text: &str) -> Model {
    load(text, &[]).unwrap_or_else(|diagnostics| panic!("{text}\n{diagnostics:#?}")).model
}

/// States, transitions, deadlocks, faulty steps; the invariants and goals that are true; the codes of warnings. For a
/// program that is wrong, the codes of its diagnostics.
pub fn facts(text: &str) -> String {
    facts_with(text, &[])
}

/// The facts of an instance.
pub fn facts_with(text: &str, parameters: &[(&str, i64)]) -> String {
    let codes = |found: &[Diagnostic]| found.iter().map(|diagnostic| diagnostic.code).collect::<Vec<_>>().join(" ");
    let loaded = match load(text, parameters) {
        Ok(loaded) => loaded,
        Err(diagnostics) => return codes(&diagnostics),
    };
    let product = Product::explore(&loaded.model, 20_000).expect("test programs are small");
    let mut facts = format!("{} states, {} transitions", product.states.len(), product.n_transitions());
    for (count, what) in [(product.deadlocks.len(), "deadlocks"), (product.n_faults(), "faults")] {
        if count > 0 {
            facts += &format!(", {count} {what}");
        }
    }
    let names: Vec<String> = true_properties(&loaded.model, &product);
    if !names.is_empty() {
        facts += &format!(": {}", names.join(" "));
    }
    // Programs as small as these leave much unused.
    let told = |warning: &&Diagnostic| warning.code != lang::codes::check::UNUSED;
    let warnings: Vec<Diagnostic> = loaded.warnings.iter().filter(told).cloned().collect();
    if !warnings.is_empty() {
        facts += &format!("; {}", codes(&warnings));
    }
    facts
}

fn true_properties(model: &Model, product: &Product) -> Vec<String> {
    let is_true = |expr: &Expr, state: &State| {
        evaluate(model, state, expr, None).expect("properties have values") == Value::Bool(true)
    };
    let holds = |kind: &PropertyKind| match kind {
        PropertyKind::Invariant(expr) => product.states.iter().all(|state| is_true(expr, state)),
        PropertyKind::Reachable(expr) => product.states.iter().any(|state| is_true(expr, state)),
        _ => false,
    };
    let names = model.properties.iter().filter(|property| holds(&property.kind)).map(|property| property.name.clone());
    names.collect()
}

/// Two programs with the same whole product, counted.
pub fn same(left: &str, right: &str) {
    let count = |text| facts(text).split([':', ';']).next().map(str::to_string);
    assert_eq!(count(left), count(right), "\n{left}\n{right}");
}
