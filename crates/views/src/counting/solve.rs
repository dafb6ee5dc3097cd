//! Whether a system of linear constraints has a solution in rational numbers that are not negative.
//!
//! In: rows `Σ a x + b = 0` or `≥ 0`. Out: whether there may be a solution; where numbers become too large, there may be one. The simplex
//! method with Bland's rule, on exact fractions: the sum of what is missing in each row is made as small as it can be.

/// A row: coefficients of the unknowns, and a constant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Row {
    /// The coefficients.
    pub coefficients: Vec<i64>,
    /// The constant.
    pub constant: i64,
    /// Whether the sum is 0; otherwise it is at least 0.
    pub is_zero: bool,
}

/// Whether the rows may have a solution in which no unknown is negative.
pub fn may_hold(rows: &[Row]) -> bool {
    let rows: Vec<&Row> = rows.iter().filter(|row| !is_trivial(row)).collect();
    if rows.iter().any(|row| is_absurd(row)) {
        return false;
    }
    if rows.is_empty() {
        return true;
    }
    minimum_is_zero(&rows).unwrap_or(true)
}

fn is_trivial(row: &Row) -> bool {
    let never_less = !row.is_zero && row.constant >= 0 && row.coefficients.iter().all(|&one| one >= 0);
    never_less || row.constant == 0 && row.coefficients.iter().all(|&one| one == 0)
}

fn is_absurd(row: &Row) -> bool {
    let never_more = row.constant < 0 && row.coefficients.iter().all(|&one| one <= 0);
    never_more || row.is_zero && row.constant > 0 && row.coefficients.iter().all(|&one| one >= 0)
}

/// A fraction, with a positive denominator and no common divisor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fraction(i128, i128);

impl Fraction {
    pub(super) const ZERO: Fraction = Fraction(0, 1);

    pub(super) fn whole(number: i64) -> Fraction {
        Fraction(i128::from(number), 1)
    }

    pub(super) fn is_zero(self) -> bool {
        self.0 == 0
    }

    fn new(above: i128, below: i128) -> Option<Fraction> {
        let divisor = gcd(above.checked_abs()?, below.checked_abs()?).max(1);
        let sign = if below < 0 { -1 } else { 1 };
        (below != 0).then_some(Fraction(sign * (above / divisor), sign * (below / divisor)))
    }

    fn times(self, other: Fraction) -> Option<Fraction> {
        Fraction::new(self.0.checked_mul(other.0)?, self.1.checked_mul(other.1)?)
    }

    fn over(self, other: Fraction) -> Option<Fraction> {
        Fraction::new(self.0.checked_mul(other.1)?, self.1.checked_mul(other.0)?)
    }

    pub(super) fn minus(self, other: Fraction) -> Option<Fraction> {
        let above = self.0.checked_mul(other.1)?.checked_sub(other.0.checked_mul(self.1)?)?;
        Fraction::new(above, self.1.checked_mul(other.1)?)
    }

    fn is_less(self, other: Fraction) -> Option<bool> {
        Some(self.0.checked_mul(other.1)? < other.0.checked_mul(self.1)?)
    }
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The first phase of the simplex method; `None` where a number does not fit.
fn minimum_is_zero(rows: &[&Row]) -> Option<bool> {
    let n_unknowns = rows[0].coefficients.len();
    let n_slack = rows.iter().filter(|row| !row.is_zero).count();
    let n_columns = n_unknowns + n_slack;
    // Each line is a row, with a right side that is not negative; what is missing in it is its basic unknown at first.
    let mut table: Vec<Vec<Fraction>> = Vec::new();
    let mut slack = n_unknowns;
    for row in rows {
        let sign = if row.constant > 0 { -1 } else { 1 };
        let number = |number: i64| Fraction(i128::from(number) * sign, 1);
        let mut line: Vec<Fraction> = row.coefficients.iter().map(|&one| number(one)).collect();
        line.resize(n_columns + 1, Fraction::ZERO);
        if !row.is_zero {
            line[slack] = number(-1);
            slack += 1;
        }
        line[n_columns] = Fraction(-i128::from(row.constant) * sign, 1);
        table.push(line);
    }
    let mut basis: Vec<Option<usize>> = vec![None; rows.len()];
    loop {
        // What a unit of each unknown takes away from all that is missing.
        let missing = |column: usize| {
            let lines = table.iter().zip(&basis).filter(|(_, basic)| basic.is_none());
            lines.map(|(line, _)| line[column]).try_fold(Fraction::ZERO, |sum, one| sum.minus(Fraction(-one.0, one.1)))
        };
        if missing(n_columns)?.0 == 0 {
            return Some(true);
        }
        let mut entering = None;
        for column in (0..n_columns).filter(|column| !basis.contains(&Some(*column))) {
            if missing(column)?.0 > 0 {
                entering = Some(column);
                break;
            }
        }
        let Some(entering) = entering else { return Some(false) };
        let mut leaving: Option<(usize, Fraction)> = None;
        for (at, line) in table.iter().enumerate().filter(|(_, line)| line[entering].0 > 0) {
            let ratio = line[n_columns].over(line[entering])?;
            let key = |at: usize| basis[at].unwrap_or(n_columns + at);
            let is_better = match leaving {
                None => true,
                Some((other, least)) => ratio.is_less(least)? || ratio == least && key(at) < key(other),
            };
            if is_better {
                leaving = Some((at, ratio));
            }
        }
        let (leaving, _) = leaving?;
        pivot(&mut table, leaving, entering)?;
        basis[leaving] = Some(entering);
    }
}

/// Makes a column the unit that has its 1 in this line; `None` where a number does not fit.
pub(super) fn pivot(table: &mut [Vec<Fraction>], at: usize, column: usize) -> Option<()> {
    let by = table[at][column];
    for one in &mut table[at] {
        *one = one.over(by)?;
    }
    let line = table[at].clone();
    for (_, other) in table.iter_mut().enumerate().filter(|(other, _)| *other != at) {
        let times = other[column];
        if times.0 == 0 {
            continue;
        }
        for (one, same) in other.iter_mut().zip(&line) {
            *one = one.minus(times.times(*same)?)?;
        }
    }
    Some(())
}

/// The same direction in whole numbers without a common divisor; `None` where they do not fit.
pub(super) fn whole(direction: &[Fraction]) -> Option<Vec<i64>> {
    let below = direction.iter().try_fold(1i128, |all, one| all.checked_mul(one.1 / gcd(all, one.1)))?;
    let numbers: Vec<i128> = direction.iter().map(|one| one.0.checked_mul(below / one.1)).collect::<Option<_>>()?;
    let divisor = numbers.iter().fold(0, |all, one| gcd(one.abs(), all)).max(1);
    numbers.iter().map(|one| i64::try_from(one / divisor).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(coefficients: &[i64], constant: i64, is_zero: bool) -> Row {
        Row { coefficients: coefficients.to_vec(), constant, is_zero }
    }

    #[test]
    fn small_systems_are_decided() {
        // x + y = 2, x - y = 2 has x = 2, y = 0; with y at least 1 there is none.
        let both = [row(&[1, 1], -2, true), row(&[1, -1], -2, true)];
        assert!(may_hold(&both));
        assert!(!may_hold(&[&both[..], &[row(&[0, 1], -1, false)]].concat()));
        assert!(!may_hold(&[row(&[-1, -2], -1, false)]));
        assert!(may_hold(&[row(&[-1, 2], -1, false)]));
        assert!(!may_hold(&[row(&[], 3, true)]) && may_hold(&[row(&[], 0, true)]));
        // Three processes hold two permits: a + b + c + free = 2.
        assert!(!may_hold(&[row(&[-1, -1], -1, false), row(&[1, 0], 0, false)]));
    }

    #[test]
    fn every_small_system_is_decided_as_by_trying() {
        // Two unknowns, three rows: solutions on a grid of halves and thirds exist where any exist with these coefficients.
        let mut seed = 7u64;
        let mut next = |n: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % n
        };
        for _ in 0..1000 {
            let rows: Vec<Row> = (0..3)
                .map(|_| {
                    let coefficients = (0..2).map(|_| next(5) as i64 - 2).collect();
                    Row { coefficients, constant: next(7) as i64 - 3, is_zero: next(3) == 0 }
                })
                .collect();
            let holds = |x: i64, y: i64, n: i64| {
                rows.iter().all(|row| {
                    let sum = row.coefficients[0] * x + row.coefficients[1] * y + row.constant * n;
                    if row.is_zero { sum == 0 } else { sum >= 0 }
                })
            };
            // Vertices have denominators up to 8.
            let found = (1..=8).any(|n| (0..=14 * n).any(|x| (0..=14 * n).any(|y| holds(x, y, n))));
            assert_eq!(may_hold(&rows), found, "{rows:?}");
        }
    }
}
