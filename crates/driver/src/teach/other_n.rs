//! Whether the next two sizes are proved by the same invariants: an observation, and no proof for all sizes.
//!
//! In: the results of a check. Out: for each property whose proof can be said in sentences that name neither the size nor single processes
//! (`explain::proof::statement`), the next two sizes of N where the same method proves it with literally the same ones. Each
//! property may take as long as its own proof took, and a moment; what is not found out in that time is not said. Nothing of this changes a verdict.

use std::time::{Duration, Instant};

use engine::insight::OtherSizes;
use engine::run::PropertyResult;
use engine::{Silent, Verdict};
use evidence::Evidence;
use explain::proof::statement;
use lang::ProgramText;

use super::{A_MOMENT, LONG};
use crate::check::{Check, Checked, Limits, Program};
use crate::instances::SIZE_PARAMETER;
use crate::load::{self, Loaded};
use crate::{methods, select};

/// Proofs that take longer than this to be put into words are not compared: those of the next sizes would take longer still.
const LONGEST_TELLING: Duration = Duration::from_millis(100);

/// A proof that took less than the first may have the second: as with other questions, only a machine that stalls lets it take this long.
const QUICK: (Duration, Duration) = (Duration::from_millis(30), Duration::from_millis(600));

/// All properties together may take this long beside what their proofs took.
const TOGETHER: Duration = Duration::from_secs(1);

/// How many sizes are looked at.
const N_SIZES: i64 = 2;

/// Looks at the next sizes of a program whose questions were answered, within what is left of the limits.
pub fn observe(program: &Program, limits: &Limits, checked: &mut Checked) {
    let started = Instant::now();
    let proofs: Duration = checked.results.iter().map(|result| result.statistics.time).sum();
    let all = limits.time.map_or(proofs + TOGETHER, |left| left.min(proofs + TOGETHER));
    let mut next: Option<Vec<(i64, Program)>> = None;
    for result in &mut checked.results {
        let Verdict::Holds(Evidence::Certificate(proof)) = &result.verdict else { continue };
        let begun = Instant::now();
        let share = share(result).min(all.saturating_sub(started.elapsed()));
        if result.statistics.time > LONG || share.is_zero() || limits.cancel.is_cancelled() {
            continue;
        }
        let Some(said) = statement(&program.model, &program.source, proof) else { continue };
        if begun.elapsed() > LONGEST_TELLING {
            continue;
        }
        let next = next.get_or_insert_with(|| next_sizes(program).unwrap_or_default());
        let asking = Asking { program, limits, deadline: begun + share };
        let is_same = |(_, larger): &(i64, Program)| asking.statement_of(larger, result).as_ref() == Some(&said);
        if next.len() as i64 == N_SIZES && next.iter().all(is_same) {
            result.insight.other_sizes = Some(OtherSizes {
                parameter: SIZE_PARAMETER.to_owned(),
                same_for: next.iter().map(|(size, _)| *size).collect(),
            });
        }
    }
}

/// How long may be spent on one property.
fn share(result: &PropertyResult) -> Duration {
    let (quick, enough) = QUICK;
    let time = result.statistics.time;
    if time < quick { enough } else { time.saturating_add(A_MOMENT) }
}

/// The program at the next sizes, as far as it allows them.
fn next_sizes(program: &Program) -> Option<Vec<(i64, Program)>> {
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
struct Asking<'a> {
    program: &'a Program,
    limits: &'a Limits,
    deadline: Instant,
}

impl Asking<'_> {
    /// The sentences by which the method proves the property at another size, if it does in time. Evidence that fails its audit is no proof.
    fn statement_of(&self, larger: &Program, result: &PropertyResult) -> Option<String> {
        let time = self.deadline.saturating_duration_since(Instant::now());
        if time.is_zero() {
            return None;
        }
        let limits = Limits { time: Some(time), ..self.limits.clone() };
        let question = select::find(&larger.model, &self.program.model.properties[result.property].name).ok()?;
        let checker = methods::checker(methods::find(result.method).ok()?);
        let check = Check { model: &larger.model, questions: &[question], checker: &*checker, limits: &limits };
        let mut checked = check.run(&Silent).ok()?;
        match checked.results.pop()?.verdict {
            Verdict::Holds(Evidence::Certificate(proof)) => statement(&larger.model, &larger.source, &proof),
            _ => None,
        }
    }
}
