//! Questions about combinations of view states: truth of expressions, faults, deadlocks, races.
//!
//! Each question is put to the combinations of the processes that it is about, projected to the bits that it reads, so that
//! few are left; those are evaluated by `eval` or by the machine.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::rc::Rc;

use base::StopReason;
use compose::backend::{Answered, Join, Movers};
use compose::question::{Pattern, Question};
use model::eval::{self, State, Viewpoint};
use model::process::ProcessId;
use model::value::Value;
use model::variable::{CellId, VarId};

use super::{LocalSets, Rows, alone};
use packed::machine::{Flow, Sink, SyncWith};
use packed::packing::Packed;
use packed::words::{add, and, or};

/// Cells that no process sees may have any value; at most so many valuations are tried.
const MOST_VALUATIONS: u128 = 1 << 12;

/// Sets of groups that are combined.
type Sets<'s, const W: usize> = Join<'s, Rc<Rows<W>>>;

impl<const W: usize> LocalSets<'_, W> {
    /// What the join says about a question.
    pub(crate) fn answer(&self, question: &Question, join: Sets<'_, W>) -> Result<Answered, StopReason> {
        match &question.pattern {
            Pattern::Truth { expr, bound, wanted } => self.truth(question, join, |model, state| {
                let mut view = Viewpoint::new(model, state, None);
                view.bound.clone_from(bound);
                view.truth(expr).map(|truth| truth == *wanted).map_err(|fault| fault.fault.to_string())
            }),
            Pattern::Fault(process) => self.fault(*process, join),
            Pattern::Deadlock => self.deadlock(join),
            Pattern::Race(var, a, b) => self.race(*var, [*a, *b], join),
        }
    }

    fn truth(
        &self,
        question: &Question,
        join: Sets<'_, W>,
        asked: impl Fn(&model::Model, &State) -> Result<bool, String>,
    ) -> Result<Answered, StopReason> {
        let (model, layout) = (self.model(), &self.machine.codec.layout);
        let mut needed = [0; W];
        for &process in &question.processes {
            add(&mut needed, layout.control[process.index()]);
        }
        question.cells.iter().for_each(|cell| add(&mut needed, layout.locations[cell.index()].0));
        let together: Vec<ProcessId> = join.iter().flat_map(|(group, _)| group.iter().copied()).collect();
        let hidden: Vec<CellId> =
            question.cells.iter().copied().filter(|&cell| !self.sight.sees(model, &together, cell)).collect();
        let n_valuations = hidden
            .iter()
            .fold(1_u128, |n, &cell| n.saturating_mul(model.cells[cell].ty.n_values(model.type_context())));
        if n_valuations > MOST_VALUATIONS {
            return Ok(Answered::Maybe);
        }
        for row in self.combinations(join, &needed)?.iter() {
            let mut state = self.machine.codec.unpack(row);
            let mut answered = Answered::No;
            for_each_valuation(model, &hidden, &mut state, &mut |state| match asked(model, state) {
                Ok(true) => answered = Answered::Maybe,
                Ok(false) => {}
                Err(words) => answered = Answered::Fault(words),
            });
            if answered != Answered::No {
                return Ok(answered);
            }
            self.meter.tick(0)?;
        }
        Ok(Answered::No)
    }

    /// The sets of the groups within some processes, and others where these are fewer than a group has.
    fn within<'s>(&self, join: Sets<'s, W>, processes: &[ProcessId]) -> Vec<(&'s [ProcessId], &'s Rc<Rows<W>>)> {
        let k = join.first().map_or(0, |(group, _)| group.len());
        let mut chosen = processes.to_vec();
        for process in self.model().processes.ids() {
            if chosen.len() < k && !chosen.contains(&process) {
                chosen.push(process);
            }
        }
        join.iter().filter(|(group, _)| group.iter().all(|process| chosen.contains(process))).copied().collect()
    }

    fn fault(&self, process: ProcessId, join: Sets<'_, W>) -> Result<Answered, StopReason> {
        for &movers in self.sight.movers.iter().filter(|movers| movers.process == process) {
            let moving: Vec<ProcessId> = movers.processes().collect();
            let combinations = self.combinations(&self.within(join, &moving), &self.sight.mask(&moving))?;
            for row in combinations.iter() {
                if self.first_of(movers, row, false) {
                    return Ok(Answered::Maybe);
                }
                self.meter.tick(combinations.bytes())?;
            }
        }
        Ok(Answered::No)
    }

    /// Whether the movers have a step: any, or a fault.
    fn first_of(&self, movers: Movers, row: &Packed<W>, any: bool) -> bool {
        let sync_with = movers.partner.map_or(SyncWith::Nobody, SyncWith::Receiver);
        let mut first = FirstStep { any, found: false };
        let flow = self.machine.expand_with((movers.process, sync_with), row, &self.scratch, &mut first);
        first.found || (any && flow == ControlFlow::Continue(true))
    }

    fn race(&self, var: VarId, contenders: [ProcessId; 2], join: Sets<'_, W>) -> Result<Answered, StopReason> {
        let Some(watch) = self.races.get(&var) else { return Ok(Answered::Maybe) };
        let combinations = self.combinations(&self.within(join, &contenders), &self.sight.mask(&contenders))?;
        let meets = !self.model().channels.is_empty();
        for row in combinations.iter() {
            let [ours, theirs] = contenders.map(|process| {
                let steps = self.machine.steps_that_may_be_enabled(process, row, &self.scratch);
                steps.flat_map(|step| watch.touches[step].iter().copied()).collect::<Vec<_>>()
            });
            let clash = ours
                .iter()
                .any(|our| theirs.iter().any(|their| our.cell == their.cell && (our.writes || their.writes)));
            // The partner of a rendezvous is not considered: it may race.
            let races = || eval::race(self.model(), &alone(self.machine, row, &contenders), var).is_some();
            if clash && (meets || races()) {
                return Ok(Answered::Maybe);
            }
            self.meter.tick(combinations.bytes())?;
        }
        Ok(Answered::No)
    }

    /// Combines the view states in which no process is enabled, group by group; those in which some process is stuck are kept apart.
    fn deadlock(&self, join: Sets<'_, W>) -> Result<Answered, StopReason> {
        let tables = self.blocked(join)?;
        let (mut all, mut stuck) = (Rows::default(), Rows::default());
        all.insert([0; W]);
        let mut seen = [0; W];
        let mut counted: BTreeSet<ProcessId> = BTreeSet::new();
        // What later groups see, group by group.
        let mut needed = vec![[0; W]; tables.len() + 1];
        for (at, (processes, _)) in tables.iter().enumerate().rev() {
            needed[at] = or(&needed[at + 1], &self.sight.mask(processes));
        }
        for ((processes, rows), later) in tables.iter().zip(&needed[1..]) {
            let mask = self.sight.mask(processes);
            let mut waiting = Rows::default();
            let new = || processes.iter().filter(|process| !counted.contains(process));
            for row in rows.iter().filter(|row| new().any(|&process| self.machine.point(process, row).waits)) {
                waiting.insert(*row);
            }
            let mut now = self.joined_two((&stuck, &seen), (rows, &mask), later)?;
            let fresh = self.joined_two((&all, &seen), (&waiting, &mask), later)?;
            all = self.joined_two((&all, &seen), (rows, &mask), later)?;
            now.extend(fresh.iter());
            stuck = now;
            seen = and(&or(&seen, &mask), later);
            counted.extend(processes);
        }
        Ok(if stuck.is_empty() { Answered::No } else { Answered::Maybe })
    }

    /// The groups, and the pairs that could have a rendezvous where groups are single processes, with the view states in which none of them is enabled.
    fn blocked(&self, join: Sets<'_, W>) -> Result<Vec<(Vec<ProcessId>, Rows<W>)>, StopReason> {
        let mut sources: Vec<(Vec<ProcessId>, Rc<Rows<W>>)> =
            join.iter().map(|(group, set)| (group.to_vec(), Rc::clone(set))).collect();
        let k = join.first().map_or(0, |(group, _)| group.len());
        let apart = |movers: &&Movers| movers.processes().count() > k;
        for movers in self.sight.movers.iter().filter(apart) {
            let mut pair: Vec<ProcessId> = movers.processes().collect();
            pair.sort_unstable();
            // What sums exclude is not left out: of deadlocks a proof says nothing with them.
            let sets = self.within(join, &pair);
            let tables: Vec<(Packed<W>, &Rows<W>)> =
                sets.iter().map(|(group, set)| (self.sight.mask(group), set.as_ref())).collect();
            let rows = self.joined(&tables, &self.sight.mask(&pair))?;
            sources.push((pair, Rc::new(rows)));
        }
        let mut blocked = Vec::new();
        for (processes, rows) in sources {
            let within = |movers: &&Movers| movers.processes().all(|process| processes.contains(&process));
            let within: Vec<Movers> = self.sight.movers.iter().filter(within).copied().collect();
            let mut kept = Rows::default();
            for row in rows.iter() {
                if !within.iter().any(|&movers| self.first_of(movers, row, true)) {
                    kept.insert(*row);
                }
                self.meter.tick(kept.bytes())?;
            }
            blocked.push((processes, kept));
        }
        // Neighbours in this order share most.
        blocked.sort_by_key(|(processes, _)| processes.last().copied());
        Ok(blocked)
    }
}

/// Whether there is a step, or a fault.
struct FirstStep {
    any: bool,
    found: bool,
}

impl<const W: usize> Sink<W> for FirstStep {
    fn successor(&mut self, _process: ProcessId, _next: &Packed<W>) -> Flow {
        self.found |= self.any;
        if self.any { Flow::Break(()) } else { Flow::Continue(()) }
    }

    fn faults(&mut self, _process: ProcessId, _n_faults: u64) -> Flow {
        self.found = true;
        Flow::Break(())
    }
}

/// Shows the state with each way in which some cells can be.
fn for_each_valuation(model: &model::Model, cells: &[CellId], state: &mut State, show: &mut dyn FnMut(&State)) {
    let Some((&cell, rest)) = cells.split_first() else { return show(state) };
    let values: Vec<Value> = model.cells[cell].ty.values(model.type_context()).collect();
    for value in values {
        state.cells[cell.index()] = value;
        for_each_valuation(model, rest, state, show);
    }
}
