//! Sums that no step changes, as the checker counts them, and which parts of states they leave.
//!
//! In: flows of a proof, all moves, parts of states. Out: an objection where a sum is not what the proof says initially or some move changes it; and whether
//! a part of a state can be made whole with the sum that every reachable state has: each sum by itself, and all of them at once ([`Ledger`]). A process that is not
//! shown may be in any listed local state, a cell may hold anything.

use std::collections::BTreeMap;

use evidence::certificate::DischargedObligations;
use evidence::fine::{FineContent, FineFlow};
use evidence::views::SharedColumn;

use super::look::Thing;
use super::moves::Moves;
use super::plan::Plan;
use super::view::Sight;
use crate::certificate::{CertificateError, Outcome, words};

/// Weights, constants and moduli are no larger.
const LARGEST: i64 = 1 << 24;

/// Of more different amounts nothing is concluded.
const MOST_AMOUNTS: usize = 1 << 14;

/// A flow that is well formed.
pub(super) struct Sum<'a> {
    flow: &'a FineFlow,
    n_processes: usize,
    /// What columns add, by what they hold.
    cells: BTreeMap<usize, BTreeMap<FineContent, i64>>,
}

impl<'a> Sum<'a> {
    pub fn new(plan: &Plan<'_>, flow: &'a FineFlow) -> Outcome<Sum<'a>> {
        let malformed = |what: &str| Err(CertificateError::Malformed(what.to_owned()));
        let is_small = |number: &i64| (-LARGEST..=LARGEST).contains(number);
        if !(flow.modulus == 0 || (2..=LARGEST).contains(&flow.modulus)) {
            return malformed("a sum counts modulo a number of at least 2, or as it is");
        }
        if flow.states.len() != plan.states.len() {
            return malformed("a sum has a weight for each local state, and no others");
        }
        if !flow.states.iter().chain([&flow.constant]).all(is_small) {
            return malformed("a weight of a sum is too large");
        }
        let mut cells = BTreeMap::new();
        for cell in &flow.cells {
            let column = plan.shared_at(cell.cell).filter(|_| !matches!(cell.cell, SharedColumn::Taken(..)));
            let Some(column) = column else { return malformed("a sum weighs a cell that is not shared") };
            let mut weights = BTreeMap::new();
            for one in &cell.weights {
                let is_content = !matches!(one.content, FineContent::Slot(_)) && is_small(&one.weight);
                if !is_content || weights.insert(one.content, one.weight).is_some() {
                    return malformed("a content of a cell has two weights, or is none, or its weight is too large");
                }
            }
            if cells.insert(column, weights).is_some() {
                return malformed("a sum weighs a cell twice");
            }
        }
        Ok(Sum { flow, n_processes: plan.n_processes, cells })
    }

    /// A number of which 0 is to be, in one way: the remainder.
    fn counted(&self, amount: i64) -> i64 {
        if self.flow.modulus == 0 { amount } else { amount.rem_euclid(self.flow.modulus) }
    }

    /// Initially the sum is the constant, and no move changes it.
    pub fn check(&self, plan: &Plan<'_>, starts: &[usize], moves: &Moves) -> Outcome<DischargedObligations> {
        let mut found = DischargedObligations::default();
        let mut total = -self.flow.constant;
        let mut kinds: Vec<Vec<i64>> = vec![starts.iter().map(|&state| self.flow.states[state]).collect()];
        for (&column, weights) in &self.cells {
            kinds.push(plan.start_of(column)?.into_iter().map(|thing| weight(weights, thing)).collect());
        }
        let mut is_one = true;
        for (at, kind) in kinds.iter().enumerate() {
            let Some(&first) = kind.first() else { continue };
            is_one &= kind.iter().all(|&other| self.counted(other - first) == 0);
            total += if at == 0 { first * self.n_processes as i64 } else { first };
        }
        found.initiality += 1;
        if !is_one || self.counted(total) != 0 {
            return words::refused("a sum is what the proof says in every initial state", "in some it is not");
        }
        for (one, _) in &moves.moves {
            plan.pace.did_one()?;
            found.step += 1;
            let of = |state: Option<usize>| state.map_or(0, |state| self.flow.states[state]);
            let mut changes = vec![of(one.to) - of(one.from)];
            for &(column, thing) in &one.after {
                let Some(weights) = self.cells.get(&column) else { continue };
                let now = weight(weights, thing);
                let before: Vec<i64> = match one.before.iter().find(|(found, _)| *found == column) {
                    Some(&(_, thing)) => vec![weight(weights, thing)],
                    None => anything(weights),
                };
                changes = changes.iter().flat_map(|change| before.iter().map(move |old| change + now - old)).collect();
                changes.sort_unstable();
                changes.dedup();
            }
            if changes.iter().any(|&change| self.counted(change) != 0) {
                return words::refused("no step changes a sum of weights", "one does");
            }
        }
        Ok(found)
    }

    /// Amounts, each with one of these besides; `None` for any.
    fn with(&self, amounts: Option<Vec<i64>>, more: &[i64]) -> Option<Vec<i64>> {
        let mut found: Vec<i64> = Vec::new();
        for amount in amounts? {
            found.extend(more.iter().map(|one| self.counted(amount + one)));
            if found.len() > MOST_AMOUNTS {
                found.sort_unstable();
                found.dedup();
            }
            if found.len() > MOST_AMOUNTS {
                return None;
            }
        }
        found.sort_unstable();
        found.dedup();
        Some(found)
    }

    /// Whether processes, of which some are known to be in one of some local states and the others are in the last set, and columns, of which some are known, can have
    /// the sum.
    pub fn fits(
        &self,
        (processes, everyone): (&[Vec<usize>], &[usize]),
        held: impl Fn(usize) -> Option<FineContent>,
    ) -> bool {
        let mut amounts = Some(vec![self.counted(-self.flow.constant)]);
        for (&column, weights) in &self.cells {
            let of = |content: FineContent| vec![weights.get(&plain(content)).copied().unwrap_or(0)];
            amounts = self.with(amounts, &held(column).map_or_else(|| anything(weights), of));
        }
        for at in 0..self.n_processes {
            let states = processes.get(at).map_or(everyone, |states| &states[..]);
            let mut weights: Vec<i64> = states.iter().map(|&state| self.flow.states[state]).collect();
            weights.sort_unstable();
            weights.dedup();
            amounts = self.with(amounts, &weights);
        }
        amounts.is_none_or(|amounts| amounts.contains(&0))
    }
}

/// What a column adds.
fn weight(weights: &BTreeMap<FineContent, i64>, thing: Thing) -> i64 {
    let content = match thing {
        Thing::Value(value) => FineContent::Value(value),
        Thing::Place(place) => FineContent::Place(place),
        _ => FineContent::Other,
    };
    weights.get(&content).copied().unwrap_or(0)
}

/// What a column may add, whatever it holds.
fn anything(weights: &BTreeMap<FineContent, i64>) -> Vec<i64> {
    let mut all: Vec<i64> = weights.values().copied().chain([0]).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn plain(content: FineContent) -> FineContent {
    match content {
        FineContent::Slot(_) => FineContent::Other,
        other => other,
    }
}

/// A sum as a view shows it.
pub(super) struct Balance<'a> {
    sum: &'a Sum<'a>,
    /// For each cell of the view what it adds.
    cells: Vec<Option<&'a BTreeMap<FineContent, i64>>>,
    /// For each block what a process in it may add.
    blocks: Vec<Vec<i64>>,
    /// What all else may come to beside so many processes.
    rest: BTreeMap<usize, Option<Vec<i64>>>,
}

impl<'a> Balance<'a> {
    pub fn new(sum: &'a Sum<'a>, sight: &Sight<'_, '_>) -> Balance<'a> {
        let mut blocks = vec![Vec::new(); sight.n_blocks];
        for (&block, &weight) in sight.view.blocks.iter().zip(&sum.flow.states) {
            let block = &mut blocks[block as usize];
            if !block.contains(&weight) {
                block.push(weight);
            }
        }
        let mut all = sum.flow.states.clone();
        all.sort_unstable();
        all.dedup();
        let mut hidden = Some(vec![sum.counted(-sum.flow.constant)]);
        for (_, weights) in sum.cells.iter().filter(|(column, _)| !sight.columns.contains(column)) {
            hidden = sum.with(hidden, &anything(weights));
        }
        let beside = |n: usize| (n..sum.n_processes).fold(hidden.clone(), |amounts, _| sum.with(amounts, &all));
        let k = sight.view.k;
        let rest = [k, k + 1].map(|n| (n, beside(n))).into_iter().collect();
        Balance { sum, cells: sight.columns.iter().map(|column| sum.cells.get(column)).collect(), blocks, rest }
    }

    /// Whether a state may have these cells and processes in these blocks.
    pub fn may_be(&self, cells: &[FineContent], blocks: &[u32]) -> bool {
        let Some(Some(rest)) = self.rest.get(&blocks.len()) else { return true };
        let of = |(weights, &content): (&Option<&BTreeMap<FineContent, i64>>, &FineContent)| {
            weights.and_then(|weights| weights.get(&plain(content)).copied()).unwrap_or(0)
        };
        let mut amounts = Some(vec![self.sum.counted(self.cells.iter().zip(cells).map(of).sum())]);
        for &block in blocks {
            amounts = self.sum.with(amounts, &self.blocks[block as usize]);
        }
        let completes = |amount: &i64| rest.binary_search(&self.sum.counted(-amount)).is_ok();
        amounts.is_none_or(|amounts| amounts.iter().any(completes))
    }
}

/// All sums of a proof at once: an entry is what something adds to each of them.
pub(super) struct Ledger<'a> {
    sums: &'a [Sum<'a>],
}

type Entry = Vec<i64>;

impl<'a> Ledger<'a> {
    pub fn new(sums: &'a [Sum<'a>]) -> Ledger<'a> {
        Ledger { sums }
    }

    /// What is there before anybody is counted.
    fn opening(&self) -> Vec<Entry> {
        vec![self.sums.iter().map(|sum| sum.counted(-sum.flow.constant)).collect()]
    }

    fn of_state(&self, state: usize) -> Entry {
        self.sums.iter().map(|sum| sum.flow.states[state]).collect()
    }

    fn of_states(&self, states: impl IntoIterator<Item = usize>) -> Vec<Entry> {
        let mut entries: Vec<Entry> = states.into_iter().map(|state| self.of_state(state)).collect();
        entries.sort_unstable();
        entries.dedup();
        entries
    }

    /// What a column adds that holds this.
    fn of_content(&self, column: usize, content: FineContent) -> Entry {
        let of = |sum: &Sum<'_>| sum.cells.get(&column).and_then(|weights| weights.get(&plain(content)).copied());
        self.sums.iter().map(|sum| of(sum).unwrap_or(0)).collect()
    }

    /// What a column may add.
    fn of_column(&self, column: usize) -> Vec<Entry> {
        let weighed = self.sums.iter().filter_map(|sum| sum.cells.get(&column)).flat_map(BTreeMap::keys);
        let mut entries: Vec<Entry> = weighed.map(|&content| self.of_content(column, content)).collect();
        // Whatever no sum weighs.
        entries.push(vec![0; self.sums.len()]);
        entries.sort_unstable();
        entries.dedup();
        entries
    }

    fn columns(&self) -> Vec<usize> {
        let mut columns: Vec<usize> = self.sums.iter().flat_map(|sum| sum.cells.keys().copied()).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// Balances, each with one of these entries; `None` for any.
    fn booked(&self, balances: Option<Vec<Entry>>, entries: &[Entry]) -> Option<Vec<Entry>> {
        let balances = balances?;
        if balances.len().saturating_mul(entries.len()) > 16 * MOST_AMOUNTS {
            return None;
        }
        let mut found: Vec<Entry> = Vec::with_capacity(balances.len() * entries.len());
        for balance in &balances {
            for entry in entries {
                let amounts = self.sums.iter().zip(balance.iter().zip(entry));
                found.push(amounts.map(|(sum, (one, other))| sum.counted(one + other)).collect());
            }
        }
        found.sort_unstable();
        found.dedup();
        (found.len() <= MOST_AMOUNTS).then_some(found)
    }

    /// Whether processes, of which some are known to be in one of some local states and the others are in the last set, and columns, of which some are known, can have
    /// all sums.
    pub fn fits(
        &self,
        (processes, everyone): (&[Vec<usize>], &[usize]),
        held: impl Fn(usize) -> Option<FineContent>,
    ) -> bool {
        let Some(first) = self.sums.first() else { return true };
        let mut balances = Some(self.opening());
        for column in self.columns() {
            let entries = held(column).map_or_else(|| self.of_column(column), |one| vec![self.of_content(column, one)]);
            balances = self.booked(balances, &entries);
        }
        for at in 0..first.n_processes {
            let states = processes.get(at).map_or(everyone, |states| &states[..]);
            balances = self.booked(balances, &self.of_states(states.iter().copied()));
        }
        balances.is_none_or(|balances| balances.iter().any(|balance| balance.iter().all(|&amount| amount == 0)))
    }
}

/// All sums as a view shows them.
pub(super) struct ViewLedger<'a> {
    ledger: Ledger<'a>,
    columns: Vec<usize>,
    /// For each block what a process in it may add.
    blocks: Vec<Vec<Entry>>,
    /// What all else may come to beside so many processes.
    rest: BTreeMap<usize, Option<Vec<Entry>>>,
}

impl<'a> ViewLedger<'a> {
    pub fn new(sums: &'a [Sum<'a>], sight: &Sight<'_, '_>) -> ViewLedger<'a> {
        let ledger = Ledger::new(sums);
        let (n_processes, n_states) = sums.first().map_or((0, 0), |sum| (sum.n_processes, sum.flow.states.len()));
        let in_block = |block: usize| {
            let members = sight.view.blocks.iter().enumerate().filter(move |(_, of)| **of as usize == block);
            members.map(|(state, _)| state).collect::<Vec<usize>>()
        };
        let blocks = (0..sight.n_blocks).map(|block| ledger.of_states(in_block(block))).collect();
        let mut hidden = Some(ledger.opening());
        for column in ledger.columns().into_iter().filter(|column| !sight.columns.contains(column)) {
            hidden = ledger.booked(hidden, &ledger.of_column(column));
        }
        let all = ledger.of_states(0..n_states);
        let k = sight.view.k;
        let beside = |n: usize| (n..n_processes).fold(hidden.clone(), |balances, _| ledger.booked(balances, &all));
        let rest = [k, k + 1].map(|n| (n, beside(n))).into_iter().collect();
        ViewLedger { ledger, columns: sight.columns.clone(), blocks, rest }
    }

    /// Whether a state may have these cells and processes in these blocks.
    pub fn may_be(&self, cells: &[FineContent], blocks: &[u32]) -> bool {
        let Some(Some(rest)) = self.rest.get(&blocks.len()) else { return true };
        let sums = self.ledger.sums;
        let mut shown = Some(vec![vec![0; sums.len()]]);
        for (&column, &content) in self.columns.iter().zip(cells) {
            shown = self.ledger.booked(shown, &[self.ledger.of_content(column, content)]);
        }
        for &block in blocks {
            shown = self.ledger.booked(shown, &self.blocks[block as usize]);
        }
        let completes = |amounts: &Entry| {
            let missing: Entry = amounts.iter().zip(sums).map(|(&amount, sum)| sum.counted(-amount)).collect();
            rest.binary_search(&missing).is_ok()
        };
        shown.is_none_or(|shown| shown.iter().any(completes))
    }
}
