//! The kernel of a homogeneous system of linear equations over the rationals, by elimination (Gauss and Jordan).
//!
//! In: equations with few terms and whole coefficients. Out: a basis of all solutions, each of whole numbers without a common divisor; or nothing where numbers
//! become too large. An equation is kept as whole numbers, divided by what they have in common.

use std::collections::BTreeMap;

/// An equation: the sum of these coefficients times these unknowns is 0.
pub type Equation = BTreeMap<usize, i64>;

/// Larger numbers are not followed.
const MOST: i128 = 1 << 40;

/// A basis of the solutions, each by unknown.
pub fn kernel(n_unknowns: usize, equations: impl IntoIterator<Item = Equation>) -> Option<Vec<Vec<i64>>> {
    let mut solved = Solved { by_unknown: BTreeMap::new() };
    for equation in equations {
        solved.add(equation.into_iter().map(|(unknown, by)| (unknown, i128::from(by))).collect())?;
    }
    let free = (0..n_unknowns).filter(|unknown| !solved.by_unknown.contains_key(unknown));
    free.map(|unknown| solved.solution(unknown, n_unknowns)).collect()
}

/// Solutions of which each one was made shorter by others, as long as that is possible.
pub fn shortened(mut basis: Vec<Vec<i64>>) -> Vec<Vec<i64>> {
    let length = |one: &[i64]| one.iter().filter(|&&weight| weight != 0).count();
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for at in 0..basis.len() {
            for other in (0..basis.len()).filter(|&other| other != at) {
                let candidates = (0..basis[at].len()).filter(|&one| basis[at][one] != 0 && basis[other][one] != 0);
                let shorter = candidates.filter_map(|one| without(&basis[at], &basis[other], one));
                let best = shorter.min_by_key(|one| length(one)).filter(|one| length(one) < length(&basis[at]));
                if let Some(best) = best {
                    basis[at] = best;
                    changed = true;
                }
            }
        }
    }
    basis
}

/// The sum of multiples of two solutions in which an unknown is 0; `None` where numbers become too large, or nothing is left.
fn without(one: &[i64], other: &[i64], unknown: usize) -> Option<Vec<i64>> {
    let (a, b) = (i128::from(one[unknown]), i128::from(other[unknown]));
    let sum = one.iter().zip(other).map(|(&x, &y)| within(b * i128::from(x) - a * i128::from(y)));
    let sum = sum.collect::<Option<Vec<i128>>>()?;
    let divisor = sum.iter().fold(0, |divisor, &one| gcd(divisor, one));
    // Which way round it points is as it was.
    let divisor = if b < 0 { -divisor } else { divisor };
    (divisor != 0).then(|| sum.iter().map(|one| i64::try_from(one / divisor).ok()).collect())?
}

type Terms = BTreeMap<usize, i128>;

/// Equations of which each determines an unknown that no other one has.
struct Solved {
    by_unknown: BTreeMap<usize, Terms>,
}

impl Solved {
    /// Adds an equation; `None` where numbers become too large.
    fn add(&mut self, mut terms: Terms) -> Option<()> {
        let known: Vec<usize> = terms.keys().copied().filter(|unknown| self.by_unknown.contains_key(unknown)).collect();
        for unknown in known {
            eliminate(&mut terms, unknown, &self.by_unknown[&unknown])?;
        }
        let Some(&unknown) = terms.keys().next() else { return Some(()) };
        for other in self.by_unknown.values_mut().filter(|other| other.contains_key(&unknown)) {
            eliminate(other, unknown, &terms)?;
        }
        self.by_unknown.insert(unknown, terms);
        Some(())
    }

    /// The solution in which one free unknown is not 0, and all others are.
    fn solution(&self, free: usize, n_unknowns: usize) -> Option<Vec<i64>> {
        let concerned =
            || self.by_unknown.iter().filter_map(|(&own, terms)| Some((own, terms[&own], *terms.get(&free)?)));
        let mut common: i128 = 1;
        for (_, own, _) in concerned() {
            common = within(common / gcd(common, own) * own.abs())?;
        }
        let mut solution = vec![0_i128; n_unknowns];
        solution[free] = common;
        for (unknown, own, by) in concerned() {
            solution[unknown] = within(-by * (common / own))?;
        }
        let divisor = solution.iter().fold(0, |divisor, &one| gcd(divisor, one)).max(1);
        solution.into_iter().map(|one| i64::try_from(one / divisor).ok()).collect()
    }
}

/// Takes an unknown out of an equation, by another one that has it.
fn eliminate(terms: &mut Terms, unknown: usize, by: &Terms) -> Option<()> {
    let Some(&own) = terms.get(&unknown) else { return Some(()) };
    let theirs = by[&unknown];
    let divisor = gcd(own, theirs);
    let (times, minus) = (theirs / divisor, own / divisor);
    for one in terms.values_mut() {
        *one = within(*one * times)?;
    }
    for (&other, &one) in by {
        let sum = within(terms.get(&other).copied().unwrap_or(0) - within(one * minus)?)?;
        if sum == 0 {
            terms.remove(&other);
        } else {
            terms.insert(other, sum);
        }
    }
    let divisor = terms.values().fold(0, |divisor, &one| gcd(divisor, one)).max(1);
    terms.values_mut().for_each(|one| *one /= divisor);
    Some(())
}

fn within(number: i128) -> Option<i128> {
    (number.abs() <= MOST).then_some(number)
}

fn gcd(one: i128, other: i128) -> i128 {
    if other == 0 { one.abs() } else { gcd(other, one % other) }
}

#[cfg(test)]
mod tests {
    use testkit::choices::Choices;

    use super::*;

    #[test]
    fn combinations_become_shorter_and_span_the_same() {
        let basis = [vec![1, 2, 3, 1, 0], vec![1, 1, 1, 0, 1]];
        let short = shortened(vec![vec![4, 6, 8, 2, 2], basis[1].clone()]);
        assert_eq!(short[1], basis[1]);
        assert!(short[0].iter().filter(|&&one| one != 0).count() < 5, "{short:?}");
        assert_eq!(shortened(vec![vec![1, 1, 0], vec![1, 0, 1]]), [vec![1, 1, 0], vec![1, 0, 1]]);
    }

    fn value(equation: &Equation, solution: &[i64]) -> i64 {
        equation.iter().map(|(&unknown, &by)| by * solution[unknown]).sum()
    }

    /// How many equations are independent, by elimination modulo a prime: at most as many as over the rationals, and with such small numbers as many.
    fn rank(n_unknowns: usize, equations: &[Equation]) -> usize {
        const PRIME: i64 = 1_000_003;
        let inverse = |one: i64| {
            (0..20).rev().fold(1, |power: i64, bit| {
                let square = power * power % PRIME;
                if (PRIME - 2) >> bit & 1 == 1 { square * one % PRIME } else { square }
            })
        };
        let row = |equation: &Equation| -> Vec<i64> {
            (0..n_unknowns).map(|at| equation.get(&at).copied().unwrap_or(0).rem_euclid(PRIME)).collect()
        };
        let mut rows: Vec<Vec<i64>> = equations.iter().map(row).collect();
        let mut rank = 0;
        for column in 0..n_unknowns {
            let Some(at) = (rank..rows.len()).find(|&at| rows[at][column] != 0) else { continue };
            rows.swap(rank, at);
            let pivot = rows[rank].clone();
            let scale = inverse(pivot[column]);
            for other in rows.iter_mut().skip(rank + 1) {
                let by = other[column] * scale % PRIME;
                other.iter_mut().zip(&pivot).for_each(|(one, own)| *one = (*one - by * own % PRIME).rem_euclid(PRIME));
            }
            rank += 1;
        }
        rank
    }

    #[test]
    fn the_basis_solves_and_is_complete() {
        for seed in 0..300 {
            let mut choices = Choices::from_seed(seed);
            let n_unknowns = 1 + choices.below(9);
            let n_equations = choices.below(9);
            let mut equation = || {
                let terms = (0..1 + choices.below(4)).map(|_| (choices.below(n_unknowns), choices.between(-3, 3)));
                let mut equation: Equation = terms.collect();
                equation.retain(|_, by| *by != 0);
                equation
            };
            let equations: Vec<Equation> = (0..n_equations).map(|_| equation()).collect();
            let basis = kernel(n_unknowns, equations.iter().cloned()).expect("numbers stay small");
            assert!(basis.iter().all(|one| equations.iter().all(|equation| value(equation, one) == 0)), "seed {seed}");
            assert_eq!(basis.len(), n_unknowns - rank(n_unknowns, &equations), "seed {seed}");
            let is_alone = |one: &Vec<i64>| {
                (0..n_unknowns).any(|at| basis.iter().filter(|other| other[at] != 0).count() == 1 && one[at] != 0)
            };
            assert!(basis.iter().all(is_alone), "seed {seed}: they are independent");
        }
    }
}
