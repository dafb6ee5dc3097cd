//! The last line of several: how many properties have which verdict.

use engine::Verdict;
use engine::run::Run;

use crate::numbers::{counted, duration};
use crate::style::{Ink, Mark, Style};

/// How many properties have which verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Those that hold.
    pub hold: u64,
    /// Those that hold only because what they speak of never happens.
    pub vacuous: u64,
    /// Those that hold or never happen, which no independent code checked.
    pub unaudited: u64,
    /// Those that are violated.
    pub violated: u64,
    /// Those that are not decided.
    pub unknown: u64,
    /// Those whose verdict is the expected one.
    pub as_expected: u64,
    /// Those whose verdict is another one than expected.
    pub unexpected: u64,
}

/// Counts the verdicts of runs.
pub fn tally<'a>(runs: impl IntoIterator<Item = &'a Run>) -> Tally {
    let mut tally = Tally::default();
    for run in runs {
        for result in &run.results {
            match result.verdict {
                Verdict::Holds(_) => tally.hold += 1,
                Verdict::Violated(_) => tally.violated += 1,
                Verdict::Unknown(_) => tally.unknown += 1,
            }
            tally.vacuous += u64::from(result.insight.is_vacuous() == Some(true));
            tally.unaudited += u64::from(result.unaudited().is_some());
            match result.as_expected(&run.model) {
                Some(true) => tally.as_expected += 1,
                Some(false) => tally.unexpected += 1,
                None => {}
            }
        }
    }
    tally
}

impl Tally {
    /// How many properties there are.
    pub fn total(&self) -> u64 {
        self.hold + self.violated + self.unknown
    }

    /// `7 hold, 3 violated`, and what is not as expected.
    pub fn words(&self) -> String {
        let mut parts = Vec::new();
        for (number, one, many) in [
            (self.hold, "holds", "hold"),
            (self.violated, "violated", "violated"),
            (self.unknown, "unknown", "unknown"),
        ] {
            if number > 0 {
                parts.push(counted(number, one, many));
            }
            if one == "holds" && self.vacuous > 0 {
                parts.push(format!("{} of them vacuous", self.vacuous));
            }
        }
        if self.unaudited > 0 {
            parts.push(format!("{} unaudited", self.unaudited));
        }
        let verdicts = parts.join(", ");
        match (self.unexpected, self.unknown) {
            (0, 0) => format!("{verdicts}; all as expected"),
            (0, _) => verdicts,
            (unexpected, _) => format!("{verdicts}; {unexpected} not as expected"),
        }
    }

    /// What the whole is, for its mark and colour.
    pub fn mark(&self) -> (Mark, Ink) {
        match (self.unexpected, self.unknown) {
            (0, 0) => (Mark::Holds, Ink::Good),
            (0, _) => (Mark::Unknown, Ink::Doubt),
            _ => (Mark::Violated, Ink::Bad),
        }
    }
}

/// The closing line of a run.
pub fn line(run: &Run, style: &Style) -> String {
    let tally = tally([run]);
    let (mark, ink) = tally.mark();
    let total = counted(tally.total(), "property", "properties");
    let verdicts = format!("{} {total}: {}", style.mark(mark), tally.words());
    format!("{}   {}\n", style.paint(ink, &verdicts), style.paint(Ink::Dim, &duration(run.time)))
}
