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
    let mut is_kept = vec![true; written.len()];
    for (at, assumption) in written.iter().enumerate() {
        // `weak P[0]` beside `weak P[*]` is assumed without it, too.
        let others = written.iter().zip(&is_kept).enumerate().filter(|(other, (_, is_kept))| **is_kept && *other != at);
        let others: Vec<FairnessId> = others.flat_map(|(_, (other, _))| other.pairs.iter().copied()).collect();
        let left_out: Vec<FairnessId> =
            assumption.pairs.iter().copied().filter(|pair| !others.contains(pair)).collect();
        let need = if left_out.is_empty() {
            is_kept[at] = false;
            Need::NotNeeded
        } else if asking.is_over() {
            Need::Unknown
        } else {
            let fewer = without(&kept, &left_out);
            let verdict = asking.ask(&asking.assuming(property, fewer.clone()), property)?;
            match (&verdict, loop_turns(&verdict)) {
                (Verdict::Holds(_), _) => {
                    kept = fewer;
                    is_kept[at] = false;
                    Need::NotNeeded
                }
                (_, Some(turns)) => Need::Needed(turns),
                _ => Need::Unknown,
            }
        };
        found.push(Assumption { text: assumption.text.clone(), need });
    }
    Ok(found)
}

fn without(under: &Assumptions, left_out: &[FairnessId]) -> Assumptions {
    let kept = |set: &Vec<FairnessId>| set.iter().copied().filter(|pair| !left_out.contains(pair)).collect();
    Assumptions { any_of: under.any_of.iter().map(kept).collect() }
}

/// The assumptions of a property as they are written, in the order of the text; one pair may be part of several.
pub(super) fn written(model: &Model, under: &Assumptions) -> Vec<Written> {
    let mut all: Vec<FairnessId> = under.any_of.iter().flatten().copied().collect();
    all.sort_unstable();
    all.dedup();
    // What is at one place in the text belongs together.
    let form = |pair: &FairnessPair| pair.name.split(' ').next().unwrap_or_default().to_owned();
    let mut groups: Vec<Vec<FairnessId>> = Vec::new();
    for &id in &all {
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
    let one = |(at, group): (usize, &Vec<FairnessId>)| match of_each(model, &all, group, &groups[at + 1..]) {
        Some(each) => each,
        None => Written { text: model.fairness[group[0]].name.clone(), pairs: group.clone() },
    };
    groups.iter().enumerate().map(one).collect()
}

/// `strong P[*]@trying`, where that is written. A pair that was written of one process before, too, is kept once, and belongs to both.
fn of_each(model: &Model, all: &[FairnessId], group: &[FairnessId], later: &[Vec<FairnessId>]) -> Option<Written> {
    let first = &model.fairness[group[0]];
    let process = &model.processes[first.owner?];
    let family = &model.families[process.family];
    let names: Vec<String> =
        family.processes().map(|other| first.name.replacen(&process.name, &model.processes[other].name, 1)).collect();
    let is_one = |id: &FairnessId| names.contains(&model.fairness[*id].name);
    let pairs: Vec<FairnessId> = all.iter().copied().filter(is_one).collect();
    let is_made_for_each = model.forms.for_each.contains(&group[0]);
    // What is written of single processes comes before what is written of each, or is part of it.
    let is_last = pairs.len() == names.len() && !later.iter().any(|group| is_one(&group[0]));
    let text = first.name.replacen(&process.name, &format!("{}[*]", family.name), 1);
    (group.len() > 1 || is_made_for_each && is_last).then_some(Written { text, pairs })
}
