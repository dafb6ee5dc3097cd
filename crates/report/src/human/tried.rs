//! What was tried on a question, where methods raced: with `-v`, one line for all of them.

use std::time::Duration;

use base::{Coarse, StopReason};
use engine::run::PropertyResult;
use engine::{Attempt, AttemptOutcome};

use crate::numbers::duration;
use crate::style::{Ink, Style};
use crate::text::hang;

/// Every method that was tried, in the order in which they ended, with how long each took and what came of it.
pub fn line(result: &PropertyResult, style: &Style) -> String {
    if result.statistics.tried.is_empty() {
        return String::new();
    }
    let parts: Vec<String> = together(&result.statistics.tried)
        .into_iter()
        .map(|(last, took)| format!("{} {} ({})", last.method, word(&last.outcome), duration(took)))
        .collect();
    let text = hang("  Tried                ", &parts.join("; "), style.width.min(80));
    text.lines().map(|line| style.paint(Ink::Dim, line) + "\n").collect()
}

/// The last attempt of each method, and what all its attempts took.
pub fn together(tried: &[Attempt]) -> Vec<(&Attempt, Duration)> {
    let is_last =
        |&(index, attempt): &(usize, &Attempt)| tried[index + 1..].iter().all(|later| later.method != attempt.method);
    let took = |attempt: &Attempt| tried.iter().filter(|one| one.method == attempt.method).map(|one| one.took).sum();
    tried.iter().enumerate().filter(is_last).map(|(_, attempt)| (attempt, took(attempt))).collect()
}

/// What came of an attempt, in a few words.
pub fn word(outcome: &AttemptOutcome) -> &'static str {
    match outcome {
        AttemptOutcome::Decided => "decided it",
        AttemptOutcome::Overtaken => "was overtaken",
        AttemptOutcome::Open(reason) => match reason {
            StopReason::Cancelled | StopReason::FailFast => "was stopped",
            StopReason::TimeLimit(_) => "ran out of time",
            StopReason::MemoryLimit(_) | StopReason::NodeLimit(_) => "ran out of memory",
            StopReason::AutomatonLimit(_) => "had too large an automaton",
            StopReason::TooCoarse(Coarse::SomeRuns) => "found no run",
            StopReason::TooCoarse(_) | StopReason::Left(_) | StopReason::Allowed(_) => "was too coarse",
            StopReason::NotSupported(_) => "does not answer it",
            StopReason::PropertyError(_) => "met an expression without a value",
            StopReason::OnHost { .. } => "reached a limit on one host",
            StopReason::Disk(_) => "ran out of disk",
            StopReason::HostLost { .. } => "lost a host",
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::philosophers;

    #[test]
    fn each_method_is_named_once_with_all_that_it_took() {
        let mut run = philosophers(3);
        assert_eq!(line(&run.results[0], &Style::default()), "");
        let attempt = |method, millis, outcome| Attempt {
            method,
            ended: Duration::from_millis(millis),
            took: Duration::from_millis(millis),
            outcome,
        };
        let limit = StopReason::TimeLimit(Duration::from_secs(1));
        run.results[0].statistics.tried = vec![
            attempt("tmmc", 10, AttemptOutcome::Open(base::Coarse::OneProcess.into())),
            attempt("forward", 500, AttemptOutcome::Open(limit)),
            attempt("mono", 900, AttemptOutcome::Overtaken),
            attempt("forward", 1500, AttemptOutcome::Decided),
        ];
        let text = line(&run.results[0], &Style::default());
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(
            words,
            "Tried tmmc was too coarse (0.01 s); mono was overtaken (0.90 s); forward decided it (2.0 s)"
        );
    }
}
