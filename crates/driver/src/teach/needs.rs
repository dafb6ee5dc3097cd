//! Which fairness assumptions of a property that holds it needs: one after the other is left out.
//!
//! In: a temporal property that holds. Out: its assumptions as they are written (`P[*]` is one), each with whether there is a
//! violation without it. What is not needed stays left out, so that those that are needed are enough together.

use engine::PropertyId;
use engine::Verdict;
use engine::insight::{Assumption, Need};
use model::Model;
use model::fairness::{Assumptions, FairnessId, FairnessPair};

use super::{SimilarQuestions, loop_turns};
use crate::mistake::Mistake;

/// More assumptions than this are not examined.
const MOST_ASSUMPTIONS: usize = 8;

/// Pairs that are one assumption in the text.
pub(super) struct Written {
    pub text: String,
    pub pairs: Vec<FairnessId>,
}

/// Tries what happens without each assumption.
pub(super) fn look(asking: &SimilarQuestions<'_>, property: PropertyId) -> Result<Vec<Assumption>, Box<Mistake>> {
    let under = &asking.model.properties[property].under;
    let written = written(asking.model, under);
    if written.len() > MOST_ASSUMPTIONS {
        return Ok(Vec::new());
    }
    let mut kept = under.clone();
    let mut found = Vec::new();
    for assumption in written {
        let need = if asking.is_over() {
            Need::Unknown
        } else {
            let fewer = without(&kept, &assumption.pairs);
            let verdict = asking.ask(&asking.assuming(property, fewer.clone()), property)?;
            match (&verdict, loop_turns(&verdict)) {
                (Verdict::Holds(_), _) => {
                    kept = fewer;
                    Need::NotNeeded
                }
                (_, Some(turns)) => Need::Needed(turns),
                _ => Need::Unknown,
            }
        };
        found.push(Assumption { text: assumption.text, need });
    }
    Ok(found)
}

fn without(under: &Assumptions, left_out: &[FairnessId]) -> Assumptions {
    let kept = |set: &Vec<FairnessId>| set.iter().copied().filter(|pair| !left_out.contains(pair)).collect();
    Assumptions { any_of: under.any_of.iter().map(kept).collect() }
}

/// The assumptions of a property as they are written, in the order of the text.
pub(super) fn written(model: &Model, under: &Assumptions) -> Vec<Written> {
    let mut all: Vec<FairnessId> = under.any_of.iter().flatten().copied().collect();
    all.sort_unstable();
    all.dedup();
    // What is at one place in the text belongs together.
    let form = |pair: &FairnessPair| pair.name.split(' ').next().unwrap_or_default().to_owned();
    let mut groups: Vec<Vec<FairnessId>> = Vec::new();
    for id in all {
        let pair = &model.fairness[id];
        let belongs = |group: &&mut Vec<FairnessId>| {
            let first = &model.fairness[group[0]];
            first.span == pair.span && form(first) == form(pair)
        };
        match groups.iter_mut().find(belongs) {
            Some(group) => group.push(id),
            None => groups.push(vec![id]),
        }
    }
    groups.sort_by_key(|group| model.fairness[group[0]].span.start);
    groups.into_iter().map(|pairs| Written { text: text(model, &pairs), pairs }).collect()
}

/// `strong P[*]@trying` for several of one family or where that is written, the name of a single one.
fn text(model: &Model, pairs: &[FairnessId]) -> String {
    let first = &model.fairness[pairs[0]];
    match first.owner {
        Some(owner) if pairs.len() > 1 || model.forms.for_each.contains(&pairs[0]) => {
            let process = &model.processes[owner];
            first.name.replacen(&process.name, &format!("{}[*]", model.families[process.family].name), 1)
        }
        _ => first.name.clone(),
    }
}
