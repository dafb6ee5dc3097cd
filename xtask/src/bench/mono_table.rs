//! The table of the whole-product benchmark, as the section that shows it.

use std::fmt::Write;

use super::Measured;

/// One protocol at one size.
pub struct MonoRow {
    /// What was searched.
    pub name: String,
    /// By Piecewise, with one thread.
    pub one: Measured,
    /// By Piecewise, with two.
    pub two: Measured,
    /// By SPIN, if it is there.
    pub spin: Option<Measured>,
}

impl MonoRow {
    /// All searches saw the same graph.
    pub fn check(&self) -> Result<(), String> {
        let size = |measured: &Measured| (measured.states, measured.transitions);
        for other in std::iter::once(&self.two).chain(&self.spin) {
            if size(other) != size(&self.one) {
                let (found, expected) = (size(other), size(&self.one));
                return Err(format!("{}: {found:?} states and transitions, not {expected:?}", self.name));
            }
        }
        Ok(())
    }

    fn line(&self) -> String {
        let rate = |measured: &Measured| measured.states as f64 / measured.cpu_seconds / 1e6;
        let size = |measured: &Measured| measured.bytes as f64 / measured.states as f64;
        let (spin_rate, spin_size, faster, smaller) = match &self.spin {
            None => ("–".to_owned(), "–".to_owned(), "–".to_owned(), "–".to_owned()),
            Some(spin) => (
                format!("{:.2}", rate(spin)),
                format!("{:.0}", size(spin)),
                format!("{:.1}×", rate(&self.one) / rate(spin)),
                format!("{:.1}×", size(spin) / size(&self.one)),
            ),
        };
        format!(
            "| {} | {} | {spin_rate} | {:.2} | {faster} | {spin_size} | {:.1} | {smaller} | {:.2}× |",
            self.name,
            grouped(self.one.states),
            rate(&self.one),
            size(&self.one),
            self.one.seconds / self.two.seconds,
        )
    }
}

/// A number with spaces between thousands.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// The whole section.
pub fn section(rows: &[MonoRow], machine: &str) -> String {
    let mut text = String::from(HEAD);
    for row in rows {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{}", row.line());
    }
    let _ = write!(text, "\nMeasured on a machine with {machine}.\n{NOTES}");
    text
}

const HEAD: &str = "## The whole product, beside SPIN

Made by `cargo xtask bench mono --write`. The same protocols, explored to the end by `piecewise explore` and by SPIN without partial-order reduction. The Promela twins and
SPIN's options are in `benches/spin/`; both tools see the same graph, and the benchmark fails if a count of states or transitions differs.

| protocol | states | SPIN, M states/s | Piecewise, M states/s | faster | SPIN, bytes/state | Piecewise, bytes/state | smaller | `-j 2` |
|---|--:|--:|--:|--:|--:|--:|--:|--:|
";

const NOTES: &str = "
- States per second are of processor time on one core, so that they do not depend on what else the machine does; each search is
  repeated until it has taken a second in sum.
- Bytes per state are those of the states and of the hash table. SPIN's stack for depth-first search, which Piecewise does not have,
  is left out; what Piecewise takes is its own account of its data.
- `-j 2` is the gain in time on the clock with two threads, which does depend on what else the machine does.
- SPIN searches depth first with its default hash function, compiled with `-O2`. Piecewise searches breadth first, so that a
  counterexample is shortest.
";

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(states: u64, seconds: f64, bytes: u64) -> Measured {
        Measured { states, transitions: 2 * states, cpu_seconds: seconds, seconds, bytes }
    }

    #[test]
    fn both_tools_stand_side_by_side() {
        let row = MonoRow {
            name: "p N = 2".to_owned(),
            one: measured(2_000_000, 1.0, 32_000_000),
            two: measured(2_000_000, 0.5, 32_000_000),
            spin: Some(measured(2_000_000, 4.0, 128_000_000)),
        };
        assert_eq!(row.check(), Ok(()));
        assert_eq!(row.line(), "| p N = 2 | 2 000 000 | 0.50 | 2.00 | 4.0× | 64 | 16.0 | 4.0× | 2.00× |");
        let alone = MonoRow { spin: None, ..row };
        assert_eq!(alone.line(), "| p N = 2 | 2 000 000 | – | 2.00 | – | – | 16.0 | – | 2.00× |");
    }

    #[test]
    fn different_graphs_are_refused() {
        let (one, other) = (measured(10, 1.0, 1), measured(11, 1.0, 1));
        let row = MonoRow { name: "p".to_owned(), one, two: one, spin: Some(other) };
        assert_eq!(row.check(), Err("p: (11, 22) states and transitions, not (10, 20)".to_owned()));
    }
}
