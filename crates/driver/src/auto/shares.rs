//! Shares: which part of the work a method has beside others.
//!
//! In: what a method has worked. Out: how far it is, measured by its share: of two methods the one that is less far is the next to work. A method that succeeds soon or not at
//! all has a larger share at first than later.

use std::time::Duration;

/// What a method has of the work, beside the shares of others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    first: f64,
    later: f64,
}

impl Shares {
    /// The same share all the time.
    pub fn same(share: f64) -> Self {
        Shares { first: share, later: share }
    }

    /// From the table: `8`, or `8,2` where it is less later.
    pub fn parse(word: &str) -> Option<Self> {
        let (first, later) = word.split_once(',').unwrap_or((word, word));
        Some(Shares { first: first.parse().ok()?, later: later.parse().ok()? })
    }

    /// The share at first.
    pub fn first(self) -> f64 {
        self.first
    }

    /// The larger share of two at each time.
    pub fn max(self, other: Shares) -> Self {
        Shares { first: self.first.max(other.first), later: self.later.max(other.later) }
    }

    /// What two have together.
    pub fn plus(self, other: Shares) -> Self {
        Shares { first: self.first + other.first, later: self.later + other.later }
    }

    /// At least so much at first.
    pub fn first_at_least(self, least: f64) -> Self {
        Shares { first: self.first.max(least), ..self }
    }

    /// At least so much after a quick attempt.
    pub fn later_at_least(self, least: f64) -> Self {
        Shares { later: self.later.max(least), ..self }
    }

    /// At most so much after a quick attempt.
    pub fn later_at_most(self, most: f64) -> Self {
        Shares { later: self.later.min(most), ..self }
    }

    /// What each of so many has that work with it together.
    pub fn divided(self, parts: usize) -> Self {
        let part = |share: f64| share / parts.max(1) as f64;
        Shares { first: part(self.first), later: part(self.later) }
    }

    /// How far it is when it has worked so long; the first share is for a quick attempt of this length.
    pub fn progress(self, worked: Duration, quick: Duration) -> f64 {
        let (early, late) = (worked.min(quick), worked.saturating_sub(quick));
        early.as_secs_f64() / self.first + late.as_secs_f64() / self.later
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quick_attempt_counts_less_than_what_follows() {
        let (quick, shares) = (Duration::from_millis(12), Shares::parse("4,1").unwrap());
        let at = |milliseconds| (shares.progress(Duration::from_millis(milliseconds), quick) * 1000.0).round() as u64;
        assert_eq!([at(0), at(8), at(12), at(22)], [0, 2, 3, 13]);
        assert_eq!(Shares::parse("4"), Some(Shares::same(4.0)));
        assert_eq!(Shares::parse("4,x"), None);
    }
}
