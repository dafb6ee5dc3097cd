//! Whether the next two sizes are proved by the same invariants: an observation, and no proof for all sizes.
//!
//! In: the results of a check. Out: for each property whose proof can be said in sentences that name neither the size nor single processes
//! (`explain::proof::statement`), the next two sizes of N where the same method proves it with literally the same ones. Each
//! property may take as long as its own proof took, and a moment; what is not found out in that time is not said. Nothing of this changes a verdict.

use std::time::{Duration, Instant};

use base::Budget;
use engine::insight::OtherSizes;
use engine::run::{PropertyResult, Run};
use engine::{Silent, Verdict};
use evidence::Evidence;
use explain::Explained;
use explain::proof::{LocalProof, statement};
use lang::ProgramText;
use model::Model;

use super::{A_MOMENT, LONG};
use crate::check::{Check, CheckLimits, Program};
use crate::instances::SIZE_PARAMETER;
use crate::load::{self, Loaded};
use crate::{methods, select};

/// Proofs that take longer than this to be put into words are not compared: those of the next sizes would take longer still.
const LONGEST_TELLING: Duration = Duration::from_millis(500);

/// A proof that took less than the first may have the second: as with other questions, only a machine that stalls lets it take this long.
const QUICK: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(3));

/// All properties together may take this long beside what their proofs took.
const TOGETHER: Duration = Duration::from_secs(3);

/// How many sizes are tried.
const N_SIZES: i64 = 2;

/// Tries the next sizes of a program whose questions were answered, within what is left of the limits; what is observed is noted beside the answers.
pub fn observe(explained: &mut Explained, limits: &CheckLimits) {
    let started = Instant::now();
    let proofs: Duration = explained.results.iter().map(|result| result.statistics.time).sum();
    let all = limits.time.map_or(proofs + TOGETHER, |left| left.min(proofs + TOGETHER));
    let mut next: Option<Vec<(i64, Program)>> = None;
    let mut found = Vec::new();
    for result in &explained.results {
        // A proof for every size says more.
        if result.insight.every_size.is_some() {
            continue;
        }
        // What no independent code checked is no proof to compare others with.
        if !matches!(result.verdict, Verdict::Holds(Evidence::Certificate(_))) || !result.audit.is_accepted() {
            continue;
        }
        let begun = Instant::now();
        let share = share(result).min(all.saturating_sub(started.elapsed()));
        if result.statistics.time > LONG || share.is_zero() || limits.cancel.is_cancelled() {
            continue;
        }
        let said = explained.proof(result).and_then(|proof| statement(&explained.model, proof));
        let Some(said) = said else { continue };
        if begun.elapsed() > LONGEST_TELLING {
            continue;
        }
        let next = next.get_or_insert_with(|| next_sizes(explained).unwrap_or_default());
        let asking = LargerSizes { model: &explained.model, limits, deadline: begun + share };
        let is_same = |(_, larger): &(i64, Program)| asking.statement_of(larger, result).as_ref() == Some(&said);
        if next.len() as i64 == N_SIZES && next.iter().all(is_same) {
            let same_for = next.iter().map(|(size, _)| *size).collect();
            found.push((result.property, OtherSizes { parameter: SIZE_PARAMETER.to_owned(), same_for }));
        }
    }
    found.into_iter().for_each(|(property, sizes)| explained.note_other_sizes(property, sizes));
}

/// How long may be spent on one property.
fn share(result: &PropertyResult) -> Duration {
    let (quick, enough) = QUICK;
    let time = result.statistics.time;
    if time < quick { enough } else { time.saturating_add(A_MOMENT) }
}

/// The program at the next sizes, as far as it allows them.
fn next_sizes(program: &Run) -> Option<Vec<(i64, Program)>> {
    let parameter = program.model.parameters.iter().find(|given| given.name == SIZE_PARAMETER)?;
    let sizes = (1..=N_SIZES).filter_map(|more| parameter.value.checked_add(more));
    let sizes = sizes.filter(|&size| parameter.allows(size));
    let text = ProgramText::read(&program.source, &[]).ok()?;
    let at = |size: i64| {
        let given = program.model.parameters.iter();
        let given = given.map(|one| (one.name.clone(), if one.name == SIZE_PARAMETER { size } else { one.value }));
        match load::instances_of(&text, &given.collect::<Vec<_>>()).pop()? {
            Loaded::Program(program) => Some((size, *program)),
            Loaded::Refused(_) => None,
        }
    };
    sizes.map(at).collect()
}

/// Asks about larger sizes until a deadline.
struct LargerSizes<'a> {
    /// The program at its own size.
    model: &'a Model,
    limits: &'a CheckLimits,
    deadline: Instant,
}

impl LargerSizes<'_> {
    /// The sentences by which the method proves the property at another size, if it does in time. Evidence that fails its audit is no proof.
    fn statement_of(&self, larger: &Program, result: &PropertyResult) -> Option<String> {
        let time = self.deadline.saturating_duration_since(Instant::now());
        if time.is_zero() {
            return None;
        }
        let limits = CheckLimits { time: Some(time), ..self.limits.clone() };
        let question = select::find(&larger.model, &self.model.properties[result.property].name).ok()?;
        let checker = methods::checker(methods::find(result.method).ok()?);
        let check = Check { model: &larger.model, questions: &[question], checker: &*checker, limits: &limits };
        let mut checked = check.run(&Silent).ok()?;
        match checked.results.pop().filter(|result| result.audit.is_accepted())?.verdict {
            Verdict::Holds(Evidence::Certificate(proof)) => {
                let time = self.deadline.saturating_duration_since(Instant::now());
                let budget = Budget::new(Some(time), None, self.limits.cancel.clone());
                statement(&larger.model, &LocalProof::of(&larger.model, &larger.source, &proof, &budget)?)
            }
            _ => None,
        }
    }
}
