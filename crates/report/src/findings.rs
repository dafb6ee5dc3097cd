//! Findings for tools, with all that people are shown about them.

use explain::finding::Finding;

use crate::human::{self, Context};
use crate::style::Style;

/// Everything that people are shown about a finding, without colour.
pub fn text(finding: &Finding<'_>) -> String {
    human::property(finding.run, finding.result, &Context::default(), &Style::default())
}

#[cfg(test)]
mod tests {
    use base::StopReason;
    use engine::Verdict;
    use engine::run::Run;
    use explain::finding::Standing;

    use super::*;
    use crate::testing::{broken_lock, counter, mux_sem, philosophers};

    fn messages(run: &Run) -> Vec<(Standing, String, u32)> {
        Finding::all(run).map(|finding| (finding.standing, finding.message(), finding.line())).collect()
    }

    #[test]
    fn a_finding_is_a_sentence_and_a_place() {
        let lock = messages(&broken_lock(2));
        let text =
            "invariant mutex is violated after 6 steps: !(P[i]@crit && P[j]@crit) is false for i = 0, j = 1 (N = 2)";
        assert_eq!(lock, [(Standing::NotAsExpected, text.to_owned(), 15)]);
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
            (Standing::Undecided, "invariant mutex is not decided: interrupted (N = 2)".to_owned(), found[0].2)
        );
        let standings: Vec<Standing> = found.iter().map(|(standing, ..)| *standing).collect();
        assert_eq!(standings.iter().filter(|standing| **standing == Standing::NotAsExpected).count(), 2, "{found:?}");
        assert!(found.iter().any(|(_, text, _)| text.contains("although line")), "{found:?}");
    }
}
