//! Sums that are the same in some states: linear algebra over the integers modulo a prime.
//!
//! In: for each state how often it has each of some things. Out: weights of these things whose sum is the same in all of the states, modulo a number or as it is.

use std::collections::BTreeMap;

use evidence::fine::{FineContent, FineFlow, FlowCell, FlowWeight};

use super::columns::Columns;

/// How often a state has each thing.
pub type Counted<T> = BTreeMap<T, i64>;

/// Weights, whose sum is this in every state.
#[derive(Clone, Debug)]
pub struct Sum<T> {
    pub modulus: i64,
    pub constant: i64,
    pub weights: BTreeMap<T, i64>,
}

/// Sums as they are are found modulo this, if their weights are small.
const PRIME: i64 = 1_000_003;
const MOST_WEIGHT: i64 = 12;

fn inverse(number: i64, prime: i64) -> i64 {
    let (mut power, mut result, mut exponent) = (number.rem_euclid(prime), 1, prime - 2);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result * power % prime;
        }
        power = power * power % prime;
        exponent >>= 1;
    }
    result
}

/// At most so many sums. The modulus is a prime, or 0 where sums do not wrap around.
pub fn sums<T: Ord + Clone>(states: &[Counted<T>], modulus: i64, most: usize) -> Vec<Sum<T>> {
    let prime = if modulus == 0 { PRIME } else { modulus };
    let things: Vec<T> = states
        .iter()
        .flat_map(|one| one.keys().cloned())
        .collect::<std::collections::BTreeSet<_>>()
        .into_iter()
        .collect();
    // The last unknown is the constant.
    let n = things.len() + 1;
    let mut rows: Vec<Vec<i64>> = Vec::new();
    for state in states {
        let count = |thing: &T| state.get(thing).copied().unwrap_or(0);
        let mut row: Vec<i64> = things.iter().map(count).chain([prime - 1]).map(|one| one.rem_euclid(prime)).collect();
        for known in &rows {
            let lead = known.iter().position(|&one| one != 0).expect("a row is not empty");
            let factor = row[lead];
            (0..n).for_each(|at| row[at] = (row[at] - factor * known[at]).rem_euclid(prime));
        }
        let Some(lead) = row.iter().position(|&one| one != 0) else { continue };
        let factor = inverse(row[lead], prime);
        row.iter_mut().for_each(|one| *one = *one * factor % prime);
        for known in &mut rows {
            let factor = known[lead];
            (0..n).for_each(|at| known[at] = (known[at] - factor * row[at]).rem_euclid(prime));
        }
        rows.push(row);
    }
    let leads: Vec<usize> = rows.iter().filter_map(|row| row.iter().position(|&one| one != 0)).collect();
    let mut found = Vec::new();
    for free in (0..n).rev().filter(|at| !leads.contains(at)) {
        let mut weights = vec![0; n];
        weights[free] = 1;
        for (row, &lead) in rows.iter().zip(&leads) {
            weights[lead] = (-row[free]).rem_euclid(prime);
        }
        if modulus == 0 {
            weights.iter_mut().for_each(|one| *one = if *one > prime / 2 { *one - prime } else { *one });
            if weights.iter().any(|one| one.abs() > MOST_WEIGHT) {
                continue;
            }
        }
        let constant = weights[n - 1];
        let weights = things.iter().cloned().zip(weights).collect();
        found.push(Sum { modulus, constant, weights });
        if found.len() == most {
            break;
        }
    }
    found
}

impl Sum<(usize, Option<FineContent>)> {
    /// As a flow of views of cells: things are local states, by number, and contents of shared columns.
    pub fn flow(&self, columns: &Columns<'_>, n_states: usize) -> FineFlow {
        let states = (0..n_states).map(|state| self.weights.get(&(state, None)).copied().unwrap_or(0)).collect();
        let cell = |at: usize| {
            let weights = self.weights.iter().filter_map(|(&(one, content), &weight)| {
                (one == at && weight != 0).then_some(FlowWeight { content: content?, weight })
            });
            FlowCell { cell: columns.shared[at], weights: weights.collect() }
        };
        let cells = (0..columns.shared.len()).map(cell).filter(|cell| !cell.weights.is_empty()).collect();
        FineFlow { modulus: self.modulus, constant: self.constant, states, cells }
    }
}
