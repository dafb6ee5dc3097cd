//! What symbolic sets imply: clauses, no faults, no races, no deadlocks.

use std::collections::{BTreeMap, BTreeSet};

use biodivine_lib_bdd::Bdd;
use evidence::certificate::Column;
use model::control::ActionKind;
use model::process::ProcessId;

use super::value::{Evaluator, Scene, Truth};
use super::{Diagrams, Drawn, controls};
use crate::certificate::claimed::names;
use crate::certificate::clause::{Clause, Literal, Mentions, Wanted};
use crate::certificate::movers::Movers;
use crate::certificate::{Outcome, words};

impl Diagrams<'_> {
    pub(super) fn check_clause(
        &mut self,
        clause: &Clause<'_>,
        mentions: &Mentions,
        concerned: &[ProcessId],
    ) -> Outcome<()> {
        let mut violation = self.violation(clause)?;
        // A cell that no process concerned sees may have any value, but of its type.
        for &cell in mentions.cells.iter().filter(|&&cell| self.variables.has(Column::Cell(cell))) {
            let column = Column::Cell(cell);
            violation.set = self.algebra.and(&violation.set, &self.variables.valid(column, &self.algebra)?)?;
            violation.columns.insert(column);
        }
        violation.columns.extend(mentions.processes.iter().map(|&process| Column::Control(process)));
        let mentioned = violation.columns.clone();
        let sets = self.within(concerned, &[])?;
        let found = self.join(violation, &sets, |column| mentioned.contains(&column))?;
        if found.set.is_false() {
            return Ok(());
        }
        let model = self.model();
        words::refused(
            format!("`{}` has to follow from the invariants of {}", clause.text(model), names(model, concerned)),
            format!("it is not true in {}", self.show(&found, &[])),
        )
    }

    /// The states in which the clause is false or has no value.
    fn violation(&mut self, clause: &Clause<'_>) -> Outcome<Drawn> {
        let mut evaluator = Evaluator {
            numbering: &self.claimed.numbering,
            variables: &self.variables,
            algebra: &self.algebra,
            footprint: BTreeMap::new(),
            watched: None,
            touched: Vec::new(),
        };
        let mut wrong = self.variables.empty();
        let mut open = self.variables.full();
        let mut look = |literal: &Literal<'_>, under: &Bdd| -> Outcome<(Bdd, Bdd, Bdd)> {
            let scene = Scene { bound: literal.bound.to_vec(), ..Scene::default() };
            let Truth { yes, no, faults } = evaluator.truth(literal.expr, &scene, under)?;
            let failed =
                faults.iter().try_fold(self.variables.empty(), |all, (_, states)| self.algebra.or(&all, states))?;
            Ok(match literal.demand {
                Wanted::True => (yes, no, failed),
                Wanted::False => (no, yes, failed),
                Wanted::HasValue => (self.algebra.or(&yes, &no)?, self.variables.empty(), failed),
            })
        };
        for condition in &clause.conditions {
            let (met, _, failed) = look(condition, &open)?;
            wrong = self.algebra.or(&wrong, &failed)?;
            open = met;
        }
        let (_, missed, failed) = look(&clause.claim, &open)?;
        wrong = self.algebra.or(&wrong, &self.algebra.or(&missed, &failed)?)?;
        Ok(Drawn { set: wrong, columns: BTreeSet::new() })
    }

    pub(super) fn check_no_fault(&mut self, movers: Movers, concerned: &[ProcessId]) -> Outcome<()> {
        for points in self.all_points(&movers.processes()) {
            let commands = self.commands(movers, &points)?;
            for (by, fault, states) in &commands.faults {
                let fixed = controls(&movers.processes(), &points);
                let start = Drawn { set: states.clone(), columns: commands.footprint.keys().copied().collect() };
                let within = self.within(concerned, &fixed)?;
                let found = self.join(start, &within, |_| true)?;
                if !found.set.is_false() {
                    let step = words::link(&self.claimed.numbering, *by);
                    let finding = format!("{step} fails ({fault}) in {}", self.show(&found, &fixed));
                    return words::refused("no step may fail", finding);
                }
            }
        }
        Ok(())
    }

    pub(super) fn check_no_race(&mut self, [one, other]: [Movers; 2], concerned: &[ProcessId]) -> Outcome<()> {
        for ours in self.all_points(&one.processes()) {
            let our_commands = self.commands(one, &ours)?;
            if our_commands.touches.is_empty() {
                continue;
            }
            let our_points = controls(&one.processes(), &ours);
            for theirs in self.all_points(&other.processes()) {
                let their_points = controls(&other.processes(), &theirs);
                let their_commands = self.commands(other, &theirs)?;
                let contradict = |(column, number): &(Column, u64)| {
                    our_points.iter().any(|(ours, at)| ours == column && at != number)
                };
                if their_commands.touches.is_empty() || their_points.iter().any(contradict) {
                    continue;
                }
                let fixed: Vec<(Column, u64)> = [our_points.as_slice(), &their_points].concat();
                let within = self.within(concerned, &fixed)?;
                for (our_step, our) in &our_commands.touches {
                    for (their_step, their) in &their_commands.touches {
                        let same_step = one == other && our_step == their_step;
                        let races =
                            our.cell == their.cell && our.process != their.process && (our.writes || their.writes);
                        if same_step || !races {
                            continue;
                        }
                        let both = self.algebra.and(&our.states, &their.states)?;
                        let columns =
                            our_commands.footprint.keys().chain(their_commands.footprint.keys()).copied().collect();
                        let found = self.join(Drawn { set: both, columns }, &within, |_| true)?;
                        if !found.set.is_false() {
                            let names = names(self.model(), &[our.process, their.process]);
                            let cell = &self.model().cells[our.cell].name;
                            let obligation = format!("{names} may not access `{cell}` at once");
                            return words::refused(obligation, format!("they can in {}", self.show(&found, &fixed)));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    pub(super) fn check_no_deadlock(&mut self, movers: &[Movers], members: &[Vec<ProcessId>]) -> Outcome<()> {
        let sets = self.blocked_sets(movers, members)?;
        // Combinations of the sets so far: all of them, and those in which some process is stuck.
        let nothing = Drawn { set: self.variables.empty(), columns: BTreeSet::new() };
        let (mut all, mut stuck) = (self.everything(), nothing);
        let mut counted: BTreeSet<ProcessId> = BTreeSet::new();
        for (at, (processes, drawn)) in sets.iter().enumerate() {
            let mut waiting = self.variables.empty();
            for &process in processes.iter().filter(|&&process| counted.insert(process)) {
                waiting = self.algebra.or(&waiting, &self.waiting(process)?)?;
            }
            let needed = |column: Column| sets[at + 1..].iter().any(|(_, later)| later.columns.contains(&column));
            let columns: BTreeSet<Column> = all.columns.union(&drawn.columns).copied().collect();
            let joined = self.algebra.and(&all.set, &drawn.set)?;
            let before = self.algebra.and(&stuck.set, &drawn.set)?;
            let now = self.algebra.or(&before, &self.algebra.and(&joined, &waiting)?)?;
            all = self.projected(Drawn { set: joined, columns: columns.clone() }, needed)?;
            stuck = self.projected(Drawn { set: now, columns }, needed)?;
        }
        if stuck.set.is_false() {
            return Ok(());
        }
        let finding = "there is a combination of their values in which nobody can move and somebody is stuck";
        words::refused("the invariants of all processes have to exclude a deadlock", finding)
    }

    /// The members, and the pairs that could have a rendezvous, without the states in which some process is enabled.
    fn blocked_sets(&mut self, movers: &[Movers], members: &[Vec<ProcessId>]) -> Outcome<Vec<(Vec<ProcessId>, Drawn)>> {
        let mut sets: Vec<(Vec<ProcessId>, Drawn)> = Vec::new();
        for processes in members {
            let drawn = self.member(processes)?;
            sets.push((processes.clone(), drawn));
        }
        for movers in movers.iter().filter(|movers| movers.processes().len() > self.claimed.k) {
            let columns = movers.processes().into_iter().map(Column::Control).collect();
            sets.push((movers.processes(), Drawn { set: self.variables.full(), columns }));
        }
        for &movers in movers {
            let moving = movers.processes();
            let mut enabled = self.variables.empty();
            let mut looked_at: BTreeSet<Column> = BTreeSet::new();
            for points in self.all_points(&moving) {
                let commands = self.commands(movers, &points)?;
                looked_at.extend(commands.footprint.keys().filter(|&&column| self.variables.has(column)));
                let here = self.variables.all(&controls(&moving, &points));
                enabled = self.algebra.or(&enabled, &self.algebra.and(&here, &commands.enabled)?)?;
            }
            // One member is enough: one that sees the movers sees all that they read.
            if let Some((_, drawn)) = sets.iter_mut().find(|(set, _)| moving.iter().all(|one| set.contains(one))) {
                drawn.set = self.algebra.and_not(&drawn.set, &enabled)?;
                drawn.columns.extend(looked_at);
            }
        }
        sets.sort_by_key(|(processes, _)| processes.last().copied());
        Ok(sets)
    }

    /// The states in which a process has neither ended nor is at `idle`, nor where it may wait for ever.
    fn waiting(&self, process: ProcessId) -> Outcome<Bdd> {
        let model = self.model();
        let end = model.families[model.processes[process].family].end;
        let mut waiting = self.variables.empty();
        for (point, number) in self.claimed.numbering.points(process).iter().zip(0..) {
            let is_idle = |&action: &model::control::ActionId| matches!(model.actions[action].kind, ActionKind::Idle);
            let place = &model.places[point.place];
            if point.place != end && !place.may_end && !place.actions.iter().any(is_idle) {
                waiting = self.algebra.or(&waiting, &self.variables.equals(Column::Control(process), number))?;
            }
        }
        Ok(waiting)
    }
}
