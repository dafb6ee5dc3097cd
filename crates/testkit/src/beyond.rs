//! Marks that the drafts' texts cannot say: steps that go on, actions for where no process is enabled otherwise, places to end at, patterns.
//!
//! In: a finished random Model, and which marks to put. Out: the same Model with some of its actions and places marked.

use model::Model;
use model::control::{ReceivePattern, SyncSide};
use model::expr::Expr;
use model::types::{ScalarType, Type};
use model::variable::Storage;

use crate::choices::Choices;
use crate::expr::{int, read, shared};

/// Which marks a random Model gets.
#[derive(Clone, Copy, Debug)]
pub struct Beyond {
    /// `Action::goes_on`.
    pub chains: bool,
    /// `Action::when_nobody`.
    pub when_nobody: bool,
    /// Receivers of certain values.
    pub patterns: bool,
    /// `Place::may_end`.
    pub end_places: bool,
}

impl Beyond {
    /// None.
    pub const NOTHING: Beyond = Beyond { chains: false, when_nobody: false, patterns: false, end_places: false };

    /// All of them.
    pub fn everything() -> Self {
        Beyond { chains: true, when_nobody: true, patterns: true, end_places: true }
    }
}

/// Marks some actions and places.
pub fn mark(choices: &mut Choices, wanted: Beyond, model: &mut Model) {
    let numbers = wanted_values(model);
    for action in model.actions.iter_mut() {
        action.goes_on = wanted.chains && choices.chance(35);
        action.when_nobody = wanted.when_nobody && choices.chance(15);
        if let Some(SyncSide::Receive(patterns)) = action.sync.as_mut().map(|sync| &mut sync.side)
            && wanted.patterns
        {
            for pattern in patterns {
                match choices.below(4) {
                    0 | 1 => *pattern = ReceivePattern::Equal(choices.pick(&numbers).clone()),
                    2 => *pattern = ReceivePattern::Ignored,
                    _ => {}
                }
            }
        }
    }
    for place in model.places.iter_mut() {
        place.may_end = wanted.end_places && choices.chance(25);
    }
}

/// What received numbers are compared with.
fn wanted_values(model: &Model) -> Vec<Expr> {
    let is_number = |ty: &Type| matches!(ty, Type::Scalar(ScalarType::Range { .. }));
    let shared_numbers = model.vars.entries().filter(|(_, var)| var.storage == Storage::Shared && is_number(&var.ty));
    (0..3).map(int).chain(shared_numbers.map(|(id, _)| read(shared(id)))).collect()
}

/// The marks, for a failing Model that is shown.
pub fn show(model: &Model) -> String {
    let mut lines = Vec::new();
    for (id, action) in model.actions.entries() {
        let text = &model.statements[action.statement].text;
        let place = &model.places[action.source].name;
        if action.goes_on || action.when_nobody || action.has_patterns() {
            let marks = (action.goes_on, action.when_nobody, &action.sync);
            lines.push(format!("action {} at {place}, `{text}`: (goes on, when nobody, sync) = {marks:?}", id.index()));
        }
    }
    let ends = model.places.iter().filter(|place| place.may_end).map(|place| place.name.as_str());
    lines.push(format!("may end: {}", ends.collect::<Vec<&str>>().join(", ")));
    lines.join("\n")
}
