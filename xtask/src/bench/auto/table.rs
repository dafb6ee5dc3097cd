//! What `auto` took beside the best single method: a row for each question, and the table of them.
//!
//! In: what was asked and what it took. Out: how many questions are within the bound, and the slowest ones as a table.

use std::fmt::Write as _;
use std::path::Path;

use super::settings::Sample;
use super::{ALLOWED_SECONDS, AutoQuestion, BEEM, SINGLE_SECONDS};
use crate::bench::binary::Ran;
use crate::bench::machine;

/// So many of the slowest questions are shown.
const MOST_ROWS: usize = 25;

/// Processor time is counted in hundredths of a second: a method that took none took this at most.
const TICK_SECONDS: f64 = 0.01;

/// What `auto` took, and the best single method that answered in less time.
pub struct AutoRow {
    pub asked: AutoQuestion,
    pub auto: Ran,
    pub best: Option<(&'static str, f64)>,
}

impl AutoRow {
    /// Whether it took more than twice the best single method and a moment.
    pub fn is_too_slow(&self) -> bool {
        self.is_slower_than(2.0)
    }

    /// Whether it took more than so many times the best single method, and a moment.
    fn is_slower_than(&self, times: f64) -> bool {
        self.best.is_some_and(|(_, seconds)| self.auto.cpu_seconds > times * seconds + ALLOWED_SECONDS)
    }

    /// How many times the best single method it took, beside the moment that is allowed.
    fn times(&self) -> f64 {
        let beside = (self.auto.cpu_seconds - ALLOWED_SECONDS).max(0.0);
        self.best.map_or(0.0, |(_, seconds)| beside / seconds.max(TICK_SECONDS))
    }

    /// Whether nobody is known to answer it in time.
    pub fn is_out_of_reach(&self) -> bool {
        match self.best {
            Some((_, seconds)) => seconds > SINGLE_SECONDS,
            None => self.auto.verdict == "unknown" || self.auto.cpu_seconds > SINGLE_SECONDS,
        }
    }

    /// As a row of the table.
    pub fn line(&self) -> String {
        let auto = match self.auto.verdict.as_str() {
            "unknown" => format!("{:.2} s", self.auto.cpu_seconds),
            _ => format!("{:.2} s by `{}`", self.auto.cpu_seconds, self.auto.method),
        };
        let best =
            self.best.map_or_else(|| String::from("none faster"), |(name, time)| format!("`{name}` {time:.2} s"));
        let name = Path::new(&self.asked.file).file_stem().unwrap_or_default().to_string_lossy();
        let mark = if self.is_too_slow() { " *" } else { "" };
        let size = self.asked.size.map_or_else(String::new, |size| size.to_string());
        format!("| {name} | {size} | {} | {} | {auto}{mark} | {best} |\n", self.asked.property, self.auto.verdict)
    }
}

/// The section of the document.
pub fn section(mut rows: Vec<AutoRow>, sample: Option<Sample>) -> String {
    let n_slow = rows.iter().filter(|row| row.is_too_slow()).count();
    let n_slower = rows.iter().filter(|row| row.is_slower_than(4.0)).count();
    let n_at_once = rows.iter().filter(|row| row.auto.cpu_seconds <= ALLOWED_SECONDS).count();
    let n_open = rows.iter().filter(|row| row.auto.verdict == "unknown").count();
    let worst = rows.iter().map(AutoRow::times).fold(0.0, f64::max);
    let within = 100.0 * (rows.len() - n_slow) as f64 / rows.len().max(1) as f64;
    let call = match sample {
        Some(Sample { n_questions, seed }) => format!("cargo xtask bench auto --sample {n_questions} --seed {seed}"),
        None => String::from("cargo xtask bench auto"),
    };
    let which = match sample {
        Some(Sample { seed, .. }) => format!("{} of them by chance (seed {seed})", rows.len()),
        None => format!("{} questions in all", rows.len()),
    };
    let mut text = format!(
        "## The default method beside all others\n\n`{call}`, on {}. Every property of every example at its \
        least size and at N = 4, 8, 16, 40 and 100 as far as some method answers within 2 s, and of {} BEEM models, {which}: `auto` answers {n_at_once} of them within 50 ms. {} It takes at most twice the best single method and \
        50 ms for {within:.0} % of them; more for {n_slow}, marked `*`, and more than four times as long and 50 ms for {n_slower}; the worst takes {worst:.1} times as long and 50 ms. Seconds are of the processor, of the whole command, with the audit; the slowest:\n\n\
        | program | N | property | verdict | `auto` | best single method |\n|---|--:|---|---|--:|--:|\n",
        machine::describe(),
        BEEM.len(),
        if n_open == 0 { String::from("None is left open.") } else { format!("{n_open} are left open.") },
    );
    let key = |row: &AutoRow| (row.is_too_slow(), if row.is_too_slow() { row.times() } else { row.auto.cpu_seconds });
    rows.sort_by(|one, other| key(other).partial_cmp(&key(one)).unwrap_or(std::cmp::Ordering::Equal));
    for row in rows.iter().take(MOST_ROWS.max(n_slow)) {
        // Writing to a string does not fail.
        let _ = write!(text, "{}", row.line());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(auto: f64, best: Option<f64>) -> AutoRow {
        let auto = Ran {
            verdict: "holds".to_owned(),
            method: "mono".to_owned(),
            reason: None,
            audited: true,
            seconds: auto,
            cpu_seconds: auto,
            peak_bytes: None,
        };
        let asked = AutoQuestion { file: "examples/lock.pw".to_owned(), property: "mutex".to_owned(), size: Some(8) };
        AutoRow { asked, auto, best: best.map(|time| ("tmmc", time)) }
    }

    #[test]
    fn too_slow_is_more_than_twice_the_best_and_a_moment() {
        assert!(!row(0.24, Some(0.1)).is_too_slow());
        assert!(row(0.26, Some(0.1)).is_too_slow());
        assert!(!row(9.0, None).is_too_slow());
        let text = section(vec![row(0.26, Some(0.1))], None);
        assert!(text.contains("| lock | 8 | mutex | holds | 0.26 s by `mono` * | `tmmc` 0.10 s |"), "{text}");
    }

    #[test]
    fn the_share_and_the_worst_are_said_and_what_the_sample_was() {
        let rows = || vec![row(0.01, None), row(0.2, None), row(0.55, Some(0.1)), row(0.24, Some(0.1))];
        let text = section(rows(), Some(Sample { n_questions: 4, seed: 3 }));
        for part in ["--sample 4 --seed 3", "4 of them by chance (seed 3)", "for 75 % of them", "takes 5.0 times"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(section(rows(), None).contains("4 questions in all"));
    }
}
