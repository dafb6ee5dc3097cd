//! The verdict of one property, by the search of the whole product.

use std::time::Duration;

use base::{Budget, CancelToken};
use engine::{Engine, Silent, Task, Verdict};
use model::Model;

/// The longest time for one search.
const MOST_SECONDS: u64 = 60;
/// The most memory for one search.
const MOST_BYTES: u64 = 1 << 30;

/// The verdict of a property.
pub fn verdict(model: &Model, name: &str) -> &'static str {
    let Some((id, _)) = model.properties.entries().find(|(_, property)| property.name == name) else {
        return "not asked";
    };
    let budget = Budget::new(Some(Duration::from_secs(MOST_SECONDS)), Some(MOST_BYTES), CancelToken::default());
    let task = Task { model, properties: vec![id], budget, n_threads: 2 };
    let answers = product::Mono.run(&task, &Silent);
    let Ok(answers) = answers else { return "an internal error" };
    match answers.first().map(|answer| &answer.verdict) {
        Some(Verdict::Holds(_)) => "holds",
        Some(Verdict::Violated(_)) => "violated",
        _ => "not decided",
    }
}
