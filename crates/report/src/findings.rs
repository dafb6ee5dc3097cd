//! Findings for tools, with the results that they are about and all that people are shown about them.

use engine::run::PropertyResult;
use evidence::Trace;
use explain::Explained;
use explain::explained::{ExplainedTrace, trace};
use explain::finding::Finding;

use crate::human::{self, Context};
use crate::style::Style;

/// A finding, and the result that it is about.
#[derive(Clone, Copy, Debug)]
pub struct ReportedFinding<'a> {
    /// The run.
    pub run: &'a Explained,
    /// The result.
    pub result: &'a PropertyResult,
    /// What is to be said about it.
    pub finding: &'a Finding,
}

impl<'a> ReportedFinding<'a> {
    /// All results of a run.
    pub fn all(run: &'a Explained) -> impl Iterator<Item = ReportedFinding<'a>> {
        run.results.iter().map(move |result| ReportedFinding { run, result, finding: run.finding(result) })
    }

    /// Everything that people are shown about it, without colour.
    pub fn text(&self) -> String {
        human::property(self.run, self.result, &Context::default(), &Style::default())
    }

    /// The run that shows it, if there is one.
    pub fn trace(&self) -> Option<&'a Trace> {
        trace(self.result)
    }

    /// The same with its steps.
    pub fn explained_trace(&self) -> Option<ExplainedTrace<'a>> {
        self.run.explained_trace(self.result)
    }
}

#[cfg(test)]
mod tests {
    use base::StopReason;
    use engine::Verdict;
    use engine::run::Run;
    use explain::finding::Urgency;

    use super::*;
    use crate::testing::{broken_lock, counter, explained, mux_sem, philosophers};

    fn messages(run: &Run) -> Vec<(Urgency, String, u32)> {
        let run = explained(run);
        let found = ReportedFinding::all(&run)
            .map(|found| (found.finding.standing, found.finding.message(), found.finding.line));
        found.collect()
    }

    #[test]
    fn a_finding_is_a_sentence_and_a_place() {
        let lock = messages(&broken_lock(2));
        let text =
            "invariant mutex is violated after 6 steps: !(P[i]@crit && P[j]@crit) is false for i = 0, j = 1 (N = 2)";
        assert_eq!(lock, [(Urgency::NotAsExpected, text.to_owned(), 15)]);
        let ends = messages(&counter());
        assert!(ends.iter().any(|(_, text, _)| text.contains(" errs, ")), "{ends:?}");
        let stuck = messages(&philosophers(2));
        assert!(stuck.iter().any(|(_, text, line)| text.contains("nobody can move") && *line > 1), "{stuck:?}");
    }

    #[test]
    fn what_is_not_decided_or_looks_too_good_is_told_apart() {
        let mut run = mux_sem(2);
        run.results[0].verdict = Verdict::Unknown(StopReason::Cancelled);
        let found = messages(&run);
        assert_eq!(
            found[0],
            (Urgency::Undecided, "invariant mutex is not decided: interrupted (N = 2)".to_owned(), found[0].2)
        );
        let standings: Vec<Urgency> = found.iter().map(|(standing, ..)| *standing).collect();
        assert_eq!(standings.iter().filter(|standing| **standing == Urgency::NotAsExpected).count(), 2, "{found:?}");
        assert!(found.iter().any(|(_, text, _)| text.contains("although line")), "{found:?}");
    }
}
