//! The exit status: one number for scripts.
//!
//! Each part of a call has a status; the call has the gravest of them. The order is: internal error, wrong input, not as
//! expected, not decided, as expected. So 1 wins over 3, and nothing that failed ever exits 0.

use std::process::ExitCode;

/// What the process tells its caller, the mildest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExitStatus {
    /// Every property has its expected verdict.
    AsExpected,
    /// A limit was reached, or the chosen method cannot decide.
    Undecided,
    /// Some property has not its expected verdict.
    NotAsExpected,
    /// The input or the call is wrong.
    BadInput,
    /// We are wrong: evidence that failed its own audit, say.
    Internal,
}

impl ExitStatus {
    /// The number.
    pub fn code(self) -> u8 {
        match self {
            ExitStatus::AsExpected => 0,
            ExitStatus::NotAsExpected => 1,
            ExitStatus::BadInput => 2,
            ExitStatus::Undecided => 3,
            ExitStatus::Internal => 4,
        }
    }

    /// The status of one answer: whether it is the expected one, `None` where it is not decided.
    pub fn of_answer(as_expected: Option<bool>) -> Self {
        match as_expected {
            Some(true) => ExitStatus::AsExpected,
            Some(false) => ExitStatus::NotAsExpected,
            None => ExitStatus::Undecided,
        }
    }

    /// The status of the whole, from its parts.
    pub fn of_all(parts: impl IntoIterator<Item = ExitStatus>) -> Self {
        parts.into_iter().max().unwrap_or(ExitStatus::AsExpected)
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        ExitCode::from(status.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gravest_part_wins_and_one_wins_over_three() {
        let of = |answers: &[Option<bool>]| {
            ExitStatus::of_all(answers.iter().map(|&answer| ExitStatus::of_answer(answer))).code()
        };
        assert_eq!(of(&[]), 0);
        assert_eq!(of(&[Some(true), Some(true)]), 0);
        assert_eq!(of(&[Some(true), None]), 3);
        assert_eq!(of(&[None, Some(false), Some(true)]), 1);
        assert_eq!(ExitStatus::of_all([ExitStatus::NotAsExpected, ExitStatus::BadInput]).code(), 2);
        assert_eq!(ExitStatus::of_all([ExitStatus::BadInput, ExitStatus::Internal]).code(), 4);
    }
}
