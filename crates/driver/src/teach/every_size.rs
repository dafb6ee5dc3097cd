//! Whether what holds at one size holds at every size: a proof beside the answer, checked as all proofs are.
//!
//! In: a program with the answers to its questions. Out: for each property that holds, and whose answer is about this size only, the sizes that a proof for every size covers, where
//! one is found in a moment by the methods that prove something for every size (`every_n`). Smaller sizes are searched, as with `--all-n`. The answer itself does not depend on any of this.

use std::time::Duration;

use engine::run::PropertyResult;
use engine::{PropertyId, Verdict};
use model::property::PropertyKind;

use crate::check::{CheckLimits, Checked, Program};
use crate::every_n;

/// What the processors may work on this, beside a half of what the answers took.
const A_BIT: Duration = Duration::from_millis(40);

/// More is not spent on it.
const MOST: Duration = Duration::from_secs(1);

/// Notes beside the answers which of them hold at every size.
pub fn look(program: &Program, checked: &mut Checked, limits: &CheckLimits) {
    let worked = checked.processor_time.unwrap_or(checked.time);
    let most = (worked / 2 + A_BIT).min(MOST);
    let is_asked = |result: &&PropertyResult| {
        let kind = &program.model.properties[result.property].kind;
        let is_about_all = !matches!(kind, PropertyKind::Reachable(_));
        let is_checked = result.audit.is_accepted() && result.verdict.scope().is_instance();
        matches!(result.verdict, Verdict::Holds(_)) && is_about_all && is_checked
    };
    let asked: Vec<PropertyId> = checked.results.iter().filter(is_asked).map(|result| result.property).collect();
    if asked.is_empty() || limits.time.is_some_and(|left| left < most) {
        return;
    }
    // A proof that its audit refuses is none; campaigns look for these (`cargo xtask campaign`), and the answer at this size is valid without it.
    let Ok(found) = every_n::in_a_moment(program, &asked, limits, most) else { return };
    for (property, scope) in found {
        let result = checked.results.iter_mut().find(|result| result.property == property);
        result.into_iter().for_each(|result| result.insight.every_size = Some(scope.clone()));
    }
}
