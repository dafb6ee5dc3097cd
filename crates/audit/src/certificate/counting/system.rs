//! Whether whole numbers that are not negative can satisfy linear inequalities, by the method of dictionaries with one helper.
//!
//! In: sums over unknowns that are 0, or at least 0. Out: whether there is a rational solution; where numbers do not fit, one is taken for granted.

use std::collections::{BTreeMap, BTreeSet};

use model::variable::CellId;

/// Something that is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unknown {
    /// What a counted cell holds.
    Cell(CellId),
    /// How many unseen processes have the view of this number.
    Views(usize),
}

/// A constant and multiples of unknowns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lin {
    pub constant: i64,
    pub of: BTreeMap<Unknown, i64>,
}

impl Lin {
    pub fn just(constant: i64) -> Lin {
        Lin { constant, of: BTreeMap::new() }
    }

    pub fn unknown(unknown: Unknown) -> Lin {
        Lin { constant: 0, of: BTreeMap::from([(unknown, 1)]) }
    }

    /// The number, where nothing of it is unknown.
    pub fn settled(&self) -> Option<i64> {
        if self.of.is_empty() { Some(self.constant) } else { None }
    }

    /// This and `factor` times the other; `None` beyond 64 bits.
    pub fn and(mut self, factor: i64, other: &Lin) -> Option<Lin> {
        self.constant = self.constant.checked_add(factor.checked_mul(other.constant)?)?;
        for (&unknown, &times) in &other.of {
            let entry = self.of.entry(unknown).or_insert(0);
            *entry = entry.checked_add(factor.checked_mul(times)?)?;
        }
        self.of.retain(|_, times| *times != 0);
        Some(self)
    }
}

/// That a sum is 0, or at least 0.
#[derive(Clone, Debug)]
pub(super) struct Demand {
    pub sum: Lin,
    pub exact: bool,
}

pub(super) fn at_least(sum: Lin) -> Demand {
    Demand { sum, exact: false }
}

pub(super) fn exactly(sum: Lin) -> Demand {
    Demand { sum, exact: true }
}

/// Whether there may be a solution. Counts of processes are not negative; contents of cells may be.
pub(super) fn satisfiable(demands: &[Demand]) -> bool {
    let unknowns: BTreeSet<Unknown> = demands.iter().flat_map(|demand| demand.sum.of.keys().copied()).collect();
    // A number that may be negative is the difference of two that are not.
    let mut columns: Vec<(Unknown, i128)> = Vec::new();
    for unknown in unknowns {
        columns.push((unknown, 1));
        if matches!(unknown, Unknown::Cell(_)) {
            columns.push((unknown, -1));
        }
    }
    let mut lines: Vec<(Vec<i128>, i128)> = Vec::new();
    for demand in demands {
        let line: Vec<i128> = columns
            .iter()
            .map(|(unknown, sign)| sign * i128::from(demand.sum.of.get(unknown).copied().unwrap_or(0)))
            .collect();
        let constant = i128::from(demand.sum.constant);
        if demand.exact {
            lines.push((line.iter().map(|one| -one).collect(), -constant));
        }
        lines.push((line, constant));
    }
    // Columns that say the same are one.
    let n_columns = columns.len();
    let kinds: BTreeSet<Vec<i128>> =
        (0..n_columns).map(|at| lines.iter().map(|(line, _)| line[at]).collect()).collect();
    let lines: Vec<(Vec<i128>, i128)> = lines
        .iter()
        .enumerate()
        .map(|(row, (_, constant))| (kinds.iter().map(|kind| kind[row]).collect(), *constant))
        .collect();
    Dictionary::solve(&lines).unwrap_or(true)
}

/// Each basic unknown is `constants[row] + Σ terms[row][column] * nonbasic[column]`; the last column is the helper at first.
struct Dictionary {
    basic: Vec<usize>,
    nonbasic: Vec<usize>,
    constants: Vec<Ratio>,
    terms: Vec<Vec<Ratio>>,
}

impl Dictionary {
    /// Whether `Σ a x + b ≥ 0` has a solution for all lines: whether the helper that is added to all lines can become 0.
    fn solve(lines: &[(Vec<i128>, i128)]) -> Option<bool> {
        let Some(worst) = (0..lines.len()).min_by_key(|&row| lines[row].1) else { return Some(true) };
        if lines[worst].1 >= 0 {
            return Some(true);
        }
        let n = lines[0].0.len();
        let helper = n + lines.len();
        let mut dictionary = Dictionary {
            basic: (n..n + lines.len()).collect(),
            nonbasic: (0..n).chain([helper]).collect(),
            constants: lines.iter().map(|(_, constant)| Ratio::of(*constant)).collect(),
            terms: lines.iter().map(|(line, _)| line.iter().chain([&1]).map(|&one| Ratio::of(one)).collect()).collect(),
        };
        dictionary.exchange(worst, n)?;
        loop {
            // The helper is basic; it is made smaller by an unknown with a negative multiple in its line.
            let Some(row) = dictionary.basic.iter().position(|&one| one == helper) else { return Some(true) };
            if dictionary.constants[row].above == 0 {
                return Some(true);
            }
            let entering = (0..dictionary.nonbasic.len())
                .filter(|&column| dictionary.terms[row][column].above < 0)
                .min_by_key(|&column| dictionary.nonbasic[column]);
            let Some(entering) = entering else { return Some(false) };
            let mut leaving: Option<(usize, Ratio)> = None;
            for at in (0..dictionary.basic.len()).filter(|&at| dictionary.terms[at][entering].above < 0) {
                let limit = dictionary.constants[at].divided(dictionary.terms[at][entering].negated())?;
                let is_first = match leaving {
                    None => true,
                    Some((other, least)) => match limit.compared(least)? {
                        std::cmp::Ordering::Less => true,
                        // The helper leaves where it can.
                        std::cmp::Ordering::Equal => {
                            at == row || other != row && dictionary.basic[at] < dictionary.basic[other]
                        }
                        std::cmp::Ordering::Greater => false,
                    },
                };
                if is_first {
                    leaving = Some((at, limit));
                }
            }
            let (leaving, _) = leaving?;
            dictionary.exchange(leaving, entering)?;
        }
    }

    /// A basic and a nonbasic unknown take each other's part.
    fn exchange(&mut self, row: usize, column: usize) -> Option<()> {
        let by = self.terms[row][column];
        let inverse = Ratio::of(1).divided(by)?;
        let minus = inverse.negated();
        self.constants[row] = self.constants[row].multiplied(minus)?;
        for at in 0..self.nonbasic.len() {
            self.terms[row][at] = if at == column { inverse } else { self.terms[row][at].multiplied(minus)? };
        }
        let (line, constant) = (self.terms[row].clone(), self.constants[row]);
        for other in (0..self.basic.len()).filter(|&other| other != row) {
            let times = self.terms[other][column];
            self.constants[other] = self.constants[other].added(times.multiplied(constant)?)?;
            for (at, one) in line.iter().enumerate() {
                let more = times.multiplied(*one)?;
                self.terms[other][at] = if at == column { more } else { self.terms[other][at].added(more)? };
            }
        }
        std::mem::swap(&mut self.basic[row], &mut self.nonbasic[column]);
        Some(())
    }
}

#[derive(Clone, Copy)]
struct Ratio {
    above: i128,
    below: i128,
}

impl Ratio {
    fn of(number: i128) -> Ratio {
        Ratio { above: number, below: 1 }
    }

    fn reduced(above: i128, below: i128) -> Option<Ratio> {
        let (mut a, mut b) = (above.unsigned_abs(), below.unsigned_abs());
        while b != 0 {
            (a, b) = (b, a % b);
        }
        let divisor = i128::try_from(a.max(1)).ok()?;
        let sign = below.signum();
        if below == 0 { None } else { Some(Ratio { above: sign * (above / divisor), below: (below / divisor).abs() }) }
    }

    fn negated(self) -> Ratio {
        Ratio { above: -self.above, ..self }
    }

    fn added(self, other: Ratio) -> Option<Ratio> {
        let above = self.above.checked_mul(other.below)?.checked_add(other.above.checked_mul(self.below)?)?;
        Ratio::reduced(above, self.below.checked_mul(other.below)?)
    }

    fn multiplied(self, other: Ratio) -> Option<Ratio> {
        Ratio::reduced(self.above.checked_mul(other.above)?, self.below.checked_mul(other.below)?)
    }

    fn divided(self, other: Ratio) -> Option<Ratio> {
        Ratio::reduced(self.above.checked_mul(other.below)?, self.below.checked_mul(other.above)?)
    }

    fn compared(self, other: Ratio) -> Option<std::cmp::Ordering> {
        Some(self.above.checked_mul(other.below)?.cmp(&other.above.checked_mul(self.below)?))
    }
}

#[cfg(test)]
mod tests {
    use base::Id;

    use super::*;

    fn views(multiples: &[i64], constant: i64) -> Lin {
        let of = multiples.iter().enumerate().filter(|(_, times)| **times != 0);
        Lin { constant, of: of.map(|(at, &times)| (Unknown::Views(at), times)).collect() }
    }

    #[test]
    fn small_systems_are_decided() {
        assert!(satisfiable(&[exactly(views(&[1, 1], -2)), exactly(views(&[1, -1], -2))]));
        let third = at_least(views(&[0, 1], -1));
        assert!(!satisfiable(&[exactly(views(&[1, 1], -2)), exactly(views(&[1, -1], -2)), third]));
        assert!(!satisfiable(&[at_least(views(&[-1, -2], -1))]));
        assert!(satisfiable(&[]) && !satisfiable(&[exactly(Lin::just(3))]));
        // Only cells may be negative.
        let cell = Lin::unknown(Unknown::Cell(Id::new(0)));
        assert!(satisfiable(&[exactly(cell.and(1, &Lin::just(5)).unwrap())]));
        assert!(!satisfiable(&[exactly(views(&[1], 5))]));
    }

    #[test]
    fn systems_are_decided_as_by_trying() {
        let mut seed = 11u64;
        let mut next = |n: u64| {
            seed = seed.wrapping_mul(2862933555777941757).wrapping_add(3037000493);
            (seed >> 33) % n
        };
        for _ in 0..600 {
            let demands: Vec<Demand> = (0..3)
                .map(|_| {
                    let multiples: Vec<i64> = (0..2).map(|_| next(5) as i64 - 2).collect();
                    Demand { sum: views(&multiples, next(7) as i64 - 3), exact: next(3) == 0 }
                })
                .collect();
            let times = |demand: &Demand, at: usize| demand.sum.of.get(&Unknown::Views(at)).copied().unwrap_or(0);
            let holds = |x: i64, y: i64, n: i64| {
                demands.iter().all(|demand| {
                    let sum = times(demand, 0) * x + times(demand, 1) * y + demand.sum.constant * n;
                    if demand.exact { sum == 0 } else { sum >= 0 }
                })
            };
            let found = (1..=8).any(|n| (0..=14 * n).any(|x| (0..=14 * n).any(|y| holds(x, y, n))));
            assert_eq!(satisfiable(&demands), found, "{demands:?}");
        }
    }
}
