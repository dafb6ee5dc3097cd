//! The methods, declared once: what each answers, what it does not follow, whether it always decides, its paper.
//!
//! In: a program and a property. Out: whether a method is for them ([`Method::supports`]), or else which ones are ([`advice`]).
//! Help, the table in `docs/methods.md` and every sentence about another method are made from this table; `driver::methods` says
//! which engine is behind each.

mod table;

use base::{Coarse, Feature, StopReason, Unsupported};
use model::Model;
use model::fairness::{EdgePredicate, FairnessPair};
use model::property::PropertyKind;

use crate::PropertyId;

pub use table::METHODS;

/// A method, by its name on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// Picks among the others.
    Auto,
    /// The whole product, explicit.
    Mono,
    /// The whole product with partial-order reduction.
    Stubborn,
    /// Some runs of the product, of few processes or of simple schedulers.
    Schedules,
    /// Images from the initial states, with decision diagrams.
    Forward,
    /// Images from the bad states, with decision diagrams.
    Backward,
    /// One-index invariants, with decision diagrams.
    Split,
    /// Split invariants with refinement.
    Completion,
    /// Two-index invariants.
    Pairwise,
    /// Three-index invariants.
    Triple,
    /// One-index invariants, explicit.
    Tmmc,
    /// Local state graphs.
    Ls3,
    /// The same, with witnesses.
    Ls3Plus,
    /// Views of interchangeable processes, for every number of them.
    Views,
    /// Path edges.
    Pushdown,
    /// Temporal properties on the whole product, with decision diagrams.
    Global,
    /// Temporal properties by refutation, from view to view.
    Propagate,
    /// Temporal properties one process at a time, without fairness but that of scheduling.
    Ll,
    /// Temporal properties one process at a time, for every process.
    FllA,
    /// The same, for some process.
    FllB,
}

/// What a method declares about itself.
#[derive(Clone, Copy, Debug)]
pub struct Declaration {
    /// Which one.
    pub method: Method,
    /// The name on the command line and in the result document.
    pub name: &'static str,
    /// What it answers and how, in one line for `--help`.
    pub answers: &'static str,
    /// The kinds of properties that it answers.
    pub kinds: Kinds,
    /// Whether it decides everything that it supports, given time and memory.
    pub is_complete: bool,
    /// What it does not follow. Some of it shows in the text of the program, the rest on the way.
    pub lacks: &'static [Feature],
    /// The paper that described it.
    pub paper: &'static str,
}

/// The kinds of properties that a method answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kinds {
    /// All.
    All,
    /// All that are not temporal.
    Safety,
    /// The same without races.
    SafetyButRaces,
    /// Temporal ones.
    Temporal,
}

impl Kinds {
    /// In a few words.
    pub fn title(self) -> &'static str {
        match self {
            Kinds::All => "everything",
            Kinds::Safety => "safety",
            Kinds::SafetyButRaces => "safety but races",
            Kinds::Temporal => "temporal properties",
        }
    }

    /// What a property of another kind needs.
    fn missing(self, kind: &PropertyKind) -> Option<Feature> {
        let is_temporal = matches!(kind, PropertyKind::Temporal(_));
        match self {
            Kinds::Safety | Kinds::SafetyButRaces if is_temporal => Some(Feature::Temporal),
            Kinds::SafetyButRaces if matches!(kind, PropertyKind::RaceFree(_)) => Some(Feature::Races),
            Kinds::Temporal if !is_temporal => Some(Feature::Safety),
            _ => None,
        }
    }
}

impl Method {
    /// What it declares about itself.
    pub fn declaration(self) -> &'static Declaration {
        METHODS.iter().find(|declared| declared.method == self).expect("every method has a row, as a test shows")
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        self.declaration().name
    }

    /// Whether the method is for a property of a program, as far as their text shows it.
    ///
    /// # Errors
    /// The first thing that it does not follow.
    pub fn supports(self, model: &Model, property: PropertyId) -> Result<(), StopReason> {
        let declared = self.declaration();
        if let Some(feature) = declared.kinds.missing(&model.properties[property].kind) {
            return Err(feature.into());
        }
        let mut lacks = declared.lacks.iter();
        lacks.find_map(|&feature| shows(feature, model, property)).map_or(Ok(()), |missing| Err(missing.into()))
    }
}

/// What in the text of a program or a property needs something, where that shows in the text.
fn shows(feature: Feature, model: &Model, property: PropertyId) -> Option<Unsupported> {
    match feature {
        Feature::Procedures => (!model.procedures.is_empty()).then(|| feature.into()),
        Feature::Rendezvous => (!model.channels.is_empty()).then(|| feature.into()),
        Feature::Patterns => model.has_patterns().then(|| feature.into()),
        Feature::Chains => model.goes_on().then(|| feature.into()),
        Feature::WholeChains => match model.properties[property].kind {
            PropertyKind::RaceFree(_) if model.goes_on() => Some(feature.into()),
            // A race is a matter of exact enabledness, and such actions are not followed exactly.
            PropertyKind::RaceFree(_) if model.has_when_nobody() => Some(Feature::WhenNobody.into()),
            PropertyKind::NoErrors if model::chain::may_hand_on_for_ever(model) => Some(feature.into()),
            _ => None,
        },
        Feature::ChainedRendezvous => model::chain::may_rendezvous(model).then(|| feature.into()),
        Feature::WhenNobody => model.has_when_nobody().then(|| feature.into()),
        Feature::EndPlaces => {
            let asks = matches!(model.properties[property].kind, PropertyKind::DeadlockFree);
            (asks && model.has_end_places()).then(|| feature.into())
        }
        Feature::Initially => (!model.initially.is_empty()).then(|| feature.into()),
        Feature::Locations => {
            let reader = model::footprint::watcher(model)?;
            Some(Unsupported::about(feature, &model.processes[reader].name))
        }
        Feature::Fairness => {
            let mut pairs = model.properties[property].under.any_of.iter().flatten();
            pairs.any(|&id| !is_scheduling(&model.fairness[id])).then(|| feature.into())
        }
        _ => None,
    }
}

/// Whether the pair demands nothing but that processes are scheduled again and again.
fn is_scheduling(pair: &FairnessPair) -> bool {
    pair.always.is_none() && pair.often.iter().all(|often| matches!(often, EdgePredicate::Scheduled(_)))
}

/// The methods that are named where another one does not decide, those first that are tried first: local ones that decide in the end,
/// then the whole product.
const PREFERRED: [Method; 7] =
    [Method::Completion, Method::FllB, Method::Mono, Method::Pushdown, Method::Forward, Method::Global, Method::Tmmc];

/// More names than this are no advice.
const MOST_ADVISED: usize = 2;

/// The methods to try on a property that was left open for this reason, the first one first. Each supports the property, and has what the
/// reason says was missing.
pub fn advice(reason: &StopReason, model: &Model, property: PropertyId) -> Vec<Method> {
    let is_better = |declared: &Declaration| match reason {
        StopReason::NotSupported(missing) => missing.feature != Feature::Checking && has(declared, missing.feature),
        StopReason::TooCoarse(Coarse::NoValueInRuns) => declared.is_complete && !is_local_about_runs(declared.method),
        StopReason::TooCoarse(_) | StopReason::Left(_) | StopReason::Allowed(_) => declared.is_complete,
        _ => false,
    };
    let fits = |method: &Method| is_better(method.declaration()) && method.supports(model, property).is_ok();
    PREFERRED.into_iter().filter(fits).take(MOST_ADVISED).collect()
}

/// Whether it proves temporal properties one process at a time.
fn is_local_about_runs(method: Method) -> bool {
    matches!(method, Method::Ll | Method::FllA | Method::FllB)
}

/// Whether a method has what another one lacked.
fn has(declared: &Declaration, feature: Feature) -> bool {
    match feature {
        Feature::Temporal => matches!(declared.kinds, Kinds::All | Kinds::Temporal),
        Feature::Safety => declared.kinds != Kinds::Temporal,
        Feature::Races => matches!(declared.kinds, Kinds::All | Kinds::Safety),
        _ => !declared.lacks.contains(&feature),
    }
}

/// Why a property was left open, and what to try instead, in a sentence.
pub fn in_words(reason: &StopReason, model: &Model, property: PropertyId) -> String {
    let names: Vec<String> =
        advice(reason, model, property).into_iter().map(|method| format!("`{}`", method.name())).collect();
    match names.is_empty() {
        true => reason.to_string(),
        false => format!("{reason}; try {}", names.join(" or ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_has_one_row_and_a_paper() {
        let mut names: Vec<&str> = METHODS.iter().map(|declared| declared.name).collect();
        assert!(METHODS.iter().all(|declared| !declared.answers.is_empty() && !declared.paper.is_empty()));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), METHODS.len());
        for declared in &METHODS {
            assert_eq!(declared.method.name(), declared.name);
        }
    }

    /// What the checker cannot judge is no method's business. All else some method of the preferred ones has.
    #[test]
    fn whatever_a_method_lacks_another_one_has() {
        for feature in Feature::ALL.into_iter().filter(|&feature| feature != Feature::Checking) {
            assert!(PREFERRED.iter().any(|method| has(method.declaration(), feature)), "{feature:?}");
            let is_lacked = METHODS.iter().any(|declared| !has(declared, feature));
            assert!(is_lacked, "no method declares that it lacks {feature:?}");
        }
    }
}
