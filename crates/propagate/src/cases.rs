//! Rules that distinguish cases by processes, and the contradiction of sums.
//!
//! A holder (E): where an additive invariant says that some other process weighs something, for ever, and none that weighs nothing gets a
//! weight, the processes that weigh something become fewer at most, so one of them is among them for ever. Scheduling: of finitely many
//! processes one is scheduled infinitely often. Sums (I): the two sides of an additive invariant have no value in common.

use std::collections::BTreeSet;

use engine::Halt;
use evidence::propagation::{HolderCase, RefutationStep};
use model::process::ProcessId;

use crate::refute::{End, Refuter, Sets, Split, Version};
use crate::weights::share_of;

/// A sum by which, as the set of a spot has it, other processes hold something all the time.
#[derive(Clone, Copy)]
pub(crate) struct Holding {
    spot: usize,
    invariant: usize,
}

impl Refuter<'_, '_> {
    /// The sums by which others hold something all the time, by the sets of these spots.
    pub(crate) fn holders(&mut self, sets: &Sets, spots: &[usize]) -> Result<Vec<Holding>, Halt> {
        let mut found = Vec::new();
        for &spot in spots {
            if sets.current[spot].is_none() || self.is_crowd(spot) {
                continue;
            }
            let sums = self.shop.views.list[self.view(spot)].sums.iter().filter(|sum| sum.is_told());
            for invariant in sums.map(|sum| sum.invariant).collect::<Vec<usize>>() {
                if self.somebody_holds(spot, invariant, sets)? {
                    found.push(Holding { spot, invariant });
                }
            }
        }
        Ok(found)
    }

    /// Whether others weigh something at all rows of a set.
    fn somebody_holds(&mut self, spot: usize, invariant: usize, sets: &Sets) -> Result<bool, Halt> {
        let edges = self.base_edges(spot, sets)?;
        let graph = self.shop.graph(self.view(spot))?;
        let shares = &self.shop.views.list[self.view(spot)].shares;
        let rest = |row: u32| share_of(&shares[row as usize], invariant).and_then(|share| share.rest);
        let holds = |row: u32| rest(row).is_some_and(|rest| rest >= 1);
        Ok(edges.iter().all(|edge| holds(graph.graph.arc(edge).from) && holds(graph.graph.arc(edge).to)))
    }

    /// A case for each other process that may hold something for ever; `None` where one that holds nothing may get something.
    pub(crate) fn holder_cases(
        &mut self,
        Holding { spot, invariant }: Holding,
        sets: &Sets,
    ) -> Result<Option<Split>, Halt> {
        let members = self.shop.views.list[self.view(spot)].members.clone();
        let holders = self.shop.views.weights.holders(invariant).into_iter();
        let holders: Vec<ProcessId> =
            { holders }.filter(|one| !members.contains(one) && self.has_set(*one, sets)).collect();
        let mut by: Vec<Version> = sets.current[spot].into_iter().collect();
        let (mut cases, mut processes) = (Vec::new(), Vec::new());
        for process in holders {
            let other = process.index();
            by.extend(sets.current[other]);
            let kept = self.compatible_edges(spot, other, sets)?;
            let graph = self.shop.graph(other)?;
            let weights = self.shop.row_weights(process, invariant);
            let raises = |edge: usize| {
                let arc = graph.graph.arc(edge);
                weights[arc.from as usize] <= 0 && weights[arc.to as usize] > 0
            };
            if kept.iter().any(raises) {
                return Ok(None);
            }
            let holds = |edge: usize| {
                let arc = graph.graph.arc(edge);
                weights[arc.from as usize] > 0 && weights[arc.to as usize] > 0
            };
            let mut held = kept;
            held.retain(holds);
            let (mut case, process, held) = match self.is_crowd(other) {
                false => (sets.clone(), process, held),
                true => {
                    let Some((case, one)) = self.single(other, sets)? else { return Ok(None) };
                    (case, one, self.moved((other, one.index()), &held)?)
                }
            };
            case.queue = [process.index()].into();
            case.current[process.index()] = Some(self.begin(held));
            cases.push(case);
            processes.push(process);
        }
        let of = self.named(spot);
        let step = Box::new(move |proofs: Vec<Vec<RefutationStep>>| RefutationStep::Holder {
            of,
            invariant,
            cases: named_cases(&processes, proofs),
        });
        Ok(Some(Split { by, cases, step }))
    }

    /// A case for each process: it is scheduled infinitely often.
    pub(crate) fn somebody(&mut self, sets: &Sets) -> Result<Option<Split>, Halt> {
        let all: Vec<ProcessId> =
            self.shop.views.model.processes.ids().filter(|&process| self.has_set(process, sets)).collect();
        let (mut cases, mut processes) = (Vec::new(), Vec::new());
        for process in all {
            let (mut case, process) = match self.is_crowd(process.index()) {
                false => (sets.clone(), process),
                true => {
                    let Some(found) = self.single(process.index(), sets)? else { return Ok(None) };
                    found
                }
            };
            case.queue = [process.index()].into();
            case.scheduled = Some(process);
            cases.push(case);
            processes.push(process);
        }
        let step = Box::new(move |proofs: Vec<Vec<RefutationStep>>| {
            RefutationStep::Scheduled(named_cases(&processes, proofs))
        });
        Ok(Some(Split { by: Vec::new(), cases, step }))
    }

    /// An invariant whose sides have no value in common.
    pub(crate) fn unequal(&mut self, sets: &Sets) -> Result<Option<End>, Halt> {
        // All that is known of the others is what is true in the beginning, too.
        let known = (0..sets.current.len()).filter(|&spot| sets.current[spot].is_some());
        let touched: BTreeSet<usize> =
            known.flat_map(|spot| &self.shop.views.list[self.view(spot)].sums).map(|sum| sum.invariant).collect();
        for invariant in touched {
            let mut by = Vec::new();
            let (left, right) =
                (self.left_range(invariant, sets, &mut by)?, self.right_range(invariant, sets, &mut by)?);
            if left.1 < right.0 || right.1 < left.0 {
                return Ok(Some(End::Unequal { invariant, by }));
            }
        }
        Ok(None)
    }

    /// What the cells of an invariant can weigh together: each term by the sets of all views that show its cells.
    fn left_range(&mut self, invariant: usize, sets: &Sets, by: &mut Vec<Version>) -> Result<(i64, i64), Halt> {
        let constant = self.shop.views.weights.constant(invariant);
        let mut range = (constant, constant);
        for (term, cells) in self.shop.views.weights.terms(invariant).into_iter().enumerate() {
            let mut of_term = self.shop.views.weights.term_range(invariant, term);
            let viewers = cells.first().map_or(&[][..], |&cell| self.shop.views.viewers(cell)).iter();
            let spots: Vec<usize> = viewers.map(|viewer| viewer.index()).chain([self.root()]).collect();
            for spot in spots {
                let Some(version) = sets.current[spot] else { continue };
                let items = &self.shop.views.list[self.view(spot)].items;
                if !cells.iter().all(|cell| items.binary_search(cell).is_ok()) {
                    continue;
                }
                let range = self.range(spot, sets, |views, view, row| {
                    let view = &views.list[view];
                    let at = (&view.items[..], &view.rows[row as usize][..]);
                    views.weights.term_weight(invariant, term, at).unwrap_or(0)
                })?;
                of_term = (of_term.0.max(range.0), of_term.1.min(range.1));
                by.push(version);
            }
            range = (range.0 + of_term.0, range.1 + of_term.1);
        }
        Ok(range)
    }

    /// What the processes of an invariant can weigh together.
    fn right_range(&mut self, invariant: usize, sets: &Sets, by: &mut Vec<Version>) -> Result<(i64, i64), Halt> {
        let mut sum = (0, 0);
        for process in self.shop.views.weights.holders(invariant) {
            if !self.has_set(process, sets) {
                continue;
            }
            let spot = process.index();
            let n_processes = self.n_at(spot, sets);
            let range = match sets.current[spot] {
                None => self.shop.views.weights.process_range(invariant, process),
                Some(version) => {
                    by.push(version);
                    self.range(spot, sets, |views, view, row| {
                        let view = &views.list[view];
                        views.weights.weight(invariant, process, (&view.items, &view.rows[row as usize])).unwrap_or(0)
                    })?
                }
            };
            sum = (sum.0 + n_processes * range.0, sum.1 + n_processes * range.1);
        }
        Ok(sum)
    }

    /// The least and the greatest weight at rows of a set.
    fn range(
        &mut self,
        spot: usize,
        sets: &Sets,
        weight: impl Fn(&crate::views::Views<'_>, usize, u32) -> i64,
    ) -> Result<(i64, i64), Halt> {
        let edges = self.base_edges(spot, sets)?;
        let view = self.view(spot);
        let graph = self.shop.graph(view)?;
        let mut is_row = vec![false; graph.graph.n_nodes()];
        edges.iter().for_each(|edge| is_row[graph.graph.arc(edge).from as usize] = true);
        let rows = (0..).zip(is_row).filter(|(_, is_row)| *is_row);
        let weights = rows.map(|(row, _)| weight(&self.shop.views, view, row));
        Ok(weights.fold((i64::MAX, i64::MIN), |(least, most), weight| (least.min(weight), most.max(weight))))
    }
}

fn named_cases(processes: &[ProcessId], proofs: Vec<Vec<RefutationStep>>) -> Vec<HolderCase> {
    processes.iter().zip(proofs).map(|(&process, steps)| HolderCase { process, steps }).collect()
}
