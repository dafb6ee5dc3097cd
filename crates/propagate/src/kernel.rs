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
