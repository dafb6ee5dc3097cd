//! Homogeneous linear equations in whole numbers, modulo a number or as they are.
//!
//! In: equations and a modulus, prime or not; 0 for none. Out: vectors that generate all solutions. All vectors are cut down by one equation after the
//! other: Euclid's algorithm on what the equation comes to at the generators leaves one of them at which that is not 0; of this one the multiples are
//! left at which it is a multiple of the modulus. Over the integers modulo a number these are the solutions that a Howell form of the equations gives (J. A.
//! Howell, "Spans in the module (Z_m)^s", Linear and Multilinear Algebra 19, 1986), without a division by what has no inverse.

use std::collections::BTreeSet;

/// A summand of an equation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Term {
    /// The unknown.
    pub unknown: usize,
    /// Its factor.
    pub factor: i64,
}

/// Vectors that generate the solutions of equations in `n` unknowns, none of them 0; `None` where numbers get too large.
pub fn solutions(n: usize, equations: &[Vec<Term>], modulus: i64) -> Option<Vec<Vec<i64>>> {
    solve(n, equations, modulus, &mut |_| {})
}

/// The numbers modulo which equations have solutions that come from none in whole numbers: what an equation comes to at the one vector that it leaves out of
/// those that solve all equations before it, as these are the multiples that it would need.
pub fn moduli(n: usize, equations: &[Vec<Term>]) -> BTreeSet<i64> {
    let mut found = BTreeSet::new();
    let _ = solve(n, equations, 0, &mut |value| {
        if value.unsigned_abs() > 1 {
            found.insert(value.saturating_abs());
        }
    });
    found
}

fn solve(n: usize, equations: &[Vec<Term>], modulus: i64, left_out: &mut dyn FnMut(i64)) -> Option<Vec<Vec<i64>>> {
    let unit = |at: usize| (0..n).map(|one| i64::from(one == at)).collect::<Vec<i64>>();
    let mut generators: Vec<Vec<i64>> = (0..n).map(unit).collect();
    for equation in equations {
        let value = |generator: &Vec<i64>| {
            equation.iter().try_fold(0i64, |sum, term| {
                let summand = term.factor.checked_mul(generator[term.unknown])?;
                Some(reduced(sum.checked_add(summand)?, modulus))
            })
        };
        let mut values: Vec<i64> = generators.iter().map(value).collect::<Option<_>>()?;
        let Some(last) = leave_one(&mut generators, &mut values, modulus)? else { continue };
        left_out(values[last]);
        // Modulo nothing only the multiple by 0 solves the equation.
        let factor = if modulus == 0 { 0 } else { modulus / gcd(values[last], modulus) };
        generators[last].iter_mut().for_each(|one| *one = reduced(*one * factor, modulus));
        if generators[last].iter().all(|&one| one == 0) {
            generators.swap_remove(last);
        }
    }
    Some(generators)
}

/// Adds multiples of generators to others until all values but one are 0; which one, if there is any. `None` where numbers get too large.
fn leave_one(generators: &mut [Vec<i64>], values: &mut [i64], modulus: i64) -> Option<Option<usize>> {
    loop {
        let left = (0..values.len()).filter(|&at| values[at] != 0);
        let Some(least) = left.min_by_key(|&at| values[at].unsigned_abs()) else { return Some(None) };
        let (by, value) = (generators[least].clone(), values[least]);
        let mut is_alone = true;
        for at in (0..values.len()).filter(|&at| at != least) {
            let factor = values[at] / value;
            if factor != 0 {
                for (one, other) in generators[at].iter_mut().zip(&by) {
                    *one = reduced(one.checked_sub(factor.checked_mul(*other)?)?, modulus);
                }
                values[at] -= factor * value;
            }
            is_alone &= values[at] == 0;
        }
        if is_alone {
            return Some(Some(least));
        }
    }
}

/// The remainder; the number itself modulo 0.
pub fn reduced(number: i64, modulus: i64) -> i64 {
    if modulus == 0 { number } else { number.rem_euclid(modulus) }
}

/// The greatest common divisor.
pub fn gcd(one: i64, other: i64) -> i64 {
    let (mut one, mut other) = (one.abs(), other.abs());
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Term, moduli, reduced, solutions};

    /// All sums of multiples of vectors.
    fn span(n: usize, generators: &[Vec<i64>], modulus: i64) -> BTreeSet<Vec<i64>> {
        let mut found = BTreeSet::from([vec![0; n]]);
        for generator in generators {
            let mut next = found.clone();
            for factor in 1..modulus {
                for vector in &found {
                    let sum = |(one, other): (&i64, &i64)| reduced(one + factor * other, modulus);
                    next.insert(vector.iter().zip(generator).map(sum).collect());
                }
            }
            found = next;
        }
        found
    }

    #[test]
    fn generators_span_all_solutions_modulo_primes_and_others() {
        let mut seed = 7u64;
        let mut next = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        let mut n_sizes = BTreeSet::new();
        for _ in 0..400 {
            let modulus = 2 + next(11) as i64;
            let n = 1 + next(3) as usize;
            let equations: Vec<Vec<Term>> = (0..next(4))
                .map(|_| (0..n).map(|unknown| Term { unknown, factor: next(13) as i64 - 6 }).collect())
                .collect();
            let solves = |vector: &Vec<i64>| {
                equations.iter().all(|equation| {
                    reduced(equation.iter().map(|term| term.factor * vector[term.unknown]).sum(), modulus) == 0
                })
            };
            let all = span(
                n,
                &(0..n).map(|at| (0..n).map(|one| i64::from(one == at)).collect()).collect::<Vec<_>>(),
                modulus,
            );
            let expected: BTreeSet<Vec<i64>> = all.into_iter().filter(solves).collect();
            let found = solutions(n, &equations, modulus).unwrap();
            assert_eq!(span(n, &found, modulus), expected, "modulo {modulus}: {equations:?}");
            n_sizes.insert(expected.len());
        }
        assert!(n_sizes.len() > 15, "{n_sizes:?}");
    }

    #[test]
    fn equations_say_modulo_which_numbers_they_have_more_solutions() {
        let equation = |factors: [i64; 2]| {
            let terms = factors.iter().enumerate().filter(|(_, factor)| **factor != 0);
            terms.map(|(unknown, &factor)| Term { unknown, factor }).collect::<Vec<Term>>()
        };
        // x = -x; x + y = 0 and x - 5 y = 0 leave 6 y = 0.
        assert_eq!(moduli(2, &[equation([2, 0])]), BTreeSet::from([2]));
        assert_eq!(moduli(2, &[equation([1, 1]), equation([1, -5])]), BTreeSet::from([6]));
        assert_eq!(moduli(2, &[equation([1, 1]), equation([2, 3])]), BTreeSet::new());
        for (first, second) in [([2, 0], [0, 3]), ([4, 2], [2, 4]), ([1, 1], [1, -5]), ([3, 1], [0, 0])] {
            let equations: Vec<Vec<Term>> =
                [first, second].map(equation).into_iter().filter(|one: &Vec<Term>| !one.is_empty()).collect();
            let exact = solutions(2, &equations, 0).unwrap();
            let all = moduli(2, &equations);
            for modulus in 2..13 {
                let more = span(2, &solutions(2, &equations, modulus).unwrap(), modulus) != span(2, &exact, modulus);
                let is_said = all.iter().any(|one| super::gcd(*one, modulus) > 1);
                assert_eq!(more, is_said, "{equations:?} modulo {modulus}: {all:?}");
            }
        }
    }

    #[test]
    fn modulo_nothing_equations_leave_whole_numbers() {
        let equation =
            |factors: [i64; 3]| factors.iter().enumerate().map(|(unknown, &factor)| Term { unknown, factor }).collect();
        let found = solutions(3, &[equation([2, 3, 0]), equation([0, 5, -1])], 0).unwrap();
        assert_eq!(found.len(), 1);
        let sign = found[0][0].signum();
        assert_eq!(found[0].iter().map(|one| one * sign).collect::<Vec<_>>(), [3, -2, -10]);
        assert_eq!(solutions(1, &[vec![Term { unknown: 0, factor: 4 }]], 0), Some(Vec::new()));
        assert_eq!(solutions(1, &[vec![Term { unknown: 0, factor: 4 }]], 6), Some(vec![vec![3]]));
    }
}
