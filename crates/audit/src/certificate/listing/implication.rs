//! What explicit view states imply: clauses, no faults, no races, no deadlocks.

use std::rc::Rc;

use evidence::certificate::Column;
use model::control::ActionKind;
use model::eval::{Touch, Viewpoint};
use model::process::ProcessId;
use model::value::Value;
use model::variable::{CellId, VarId};

use super::stepper::View;
use super::table::{Heading, Table};
use super::{Listing, positions};
use crate::certificate::claimed::names;
use crate::certificate::clause::{Clause, Literal, Mentions};
use crate::certificate::movers::Movers;
use crate::certificate::{CertificateError, Outcome, words};

/// Cells that no view shows are tried in at most so many ways.
const MOST_WAYS: u128 = 1 << 20;

impl Listing<'_> {
    pub(super) fn check_clause(
        &mut self,
        clause: &Clause<'_>,
        mentions: &Mentions,
        concerned: &[ProcessId],
    ) -> Outcome<()> {
        let is_mentioned = |column: Column| match column {
            Column::Cell(cell) => mentions.cells.contains(&cell),
            Column::Control(process) => mentions.processes.contains(&process),
            Column::Exposed(_) => false,
        };
        // Counters are mentioned as cells and known through control.
        let combinations = self.combinations(concerned, is_mentioned)?;
        match self.clause_over(clause, mentions, (concerned, &combinations)) {
            Err(CertificateError::Refused(_)) if !self.relative.is_empty() => {
                let relative = self.relative;
                let wanted = |column: Column| is_mentioned(column) || relative.weighs(column);
                let combinations = self.combinations(concerned, wanted)?;
                self.clause_over(clause, mentions, (concerned, &combinations))
            }
            found => found,
        }
    }

    /// A clause at combinations of values.
    fn clause_over(
        &mut self,
        clause: &Clause<'_>,
        mentions: &Mentions,
        (concerned, combinations): (&[ProcessId], &Table),
    ) -> Outcome<()> {
        let columns = positions(combinations);
        let hidden: Vec<CellId> =
            mentions.cells.iter().copied().filter(|&cell| self.is_hidden(cell, &columns)).collect();
        let n_values = |cell: &CellId| self.claimed.numbering.n_values(Column::Cell(*cell));
        if hidden.iter().fold(1, |n: u128, cell| n.saturating_mul(n_values(cell))) > MOST_WAYS {
            let what = "a clause is about cells of so many values, which no view shows, that they are not gone through";
            return Err(CertificateError::NotSupported(what.to_owned()));
        }
        for row in combinations.rows() {
            self.meter.step(0)?;
            let view = View { columns: &columns, row };
            if let Some(what) = self.violated(clause, view, &hidden)?
                && !self.is_excluded(&columns, row)
            {
                let obligation = format!(
                    "`{}` has to follow from the invariants of {}",
                    clause.text(self.model()),
                    names(self.model(), concerned)
                );
                return words::refused(obligation, format!("{what} in {}", self.stepper.show(view)));
            }
        }
        Ok(())
    }

    /// Whether the view says nothing about a cell, so that it may have any value.
    fn is_hidden(&self, cell: CellId, columns: &rustc_hash::FxHashMap<Column, usize>) -> bool {
        let owner = self.model().cells[cell].owner;
        let numbering = &self.claimed.numbering;
        let counts = owner.is_some_and(|owner| {
            !numbering.own_cells(owner).contains(&cell) && columns.contains_key(&Column::Control(owner))
        });
        !counts && !columns.contains_key(&Column::Cell(cell))
    }

    /// What is wrong with the clause in the view, for some value of the cells of which the view says nothing.
    fn violated(&mut self, clause: &Clause<'_>, view: View<'_>, hidden: &[CellId]) -> Outcome<Option<String>> {
        let model = self.model();
        let state = self.stepper.state(view);
        let mut wheels: Vec<Box<dyn Iterator<Item = Value>>> = Vec::new();
        for &cell in hidden {
            let mut values = model.cells[cell].ty.values(model.type_context());
            state.cells[cell.index()] = values.next().expect("types have values");
            wheels.push(values);
        }
        loop {
            if let Some(what) = evaluate(model, state, clause) {
                return Ok(Some(what));
            }
            self.meter.step(0)?;
            // The next assignment of the hidden cells, as an odometer.
            let mut at = hidden.len();
            loop {
                let Some(turning) = at.checked_sub(1) else { return Ok(None) };
                at = turning;
                let cell = hidden[turning];
                if let Some(value) = wheels[turning].next() {
                    state.cells[cell.index()] = value;
                    break;
                }
                wheels[turning] = model.cells[cell].ty.values(model.type_context());
                state.cells[cell.index()] = wheels[turning].next().expect("types have values");
            }
        }
    }

    pub(super) fn check_no_fault(&mut self, movers: Movers, concerned: &[ProcessId]) -> Outcome<()> {
        let combinations = self.combinations(concerned, |_| true)?;
        let columns = positions(&combinations);
        for row in combinations.rows() {
            self.meter.step(0)?;
            let view = View { columns: &columns, row };
            let attempts = self.stepper.attempts(movers, view)?;
            if let Some((by, fault)) = attempts.faults.first()
                && !self.is_excluded(&columns, row)
            {
                let step = words::step(&self.claimed.numbering, by);
                let finding = format!("{step} fails ({}) in {}", fault.fault, self.stepper.show(view));
                return words::refused("no step may fail", finding);
            }
        }
        Ok(())
    }

    pub(super) fn check_no_race(
        &mut self,
        var: VarId,
        [one, other]: [Movers; 2],
        concerned: &[ProcessId],
    ) -> Outcome<()> {
        let model = self.model();
        let combinations = self.combinations(concerned, |_| true)?;
        let columns = positions(&combinations);
        for row in combinations.rows() {
            self.meter.step(0)?;
            let view = View { columns: &columns, row };
            let (ours, theirs) = (self.stepper.attempts(one, view)?, self.stepper.attempts(other, view)?);
            let touched = |touch: &&Touch| model.cells[touch.cell].var == var;
            for (at, our_step) in ours.touches.iter().enumerate() {
                for (their_at, their_step) in theirs.touches.iter().enumerate() {
                    if one == other && at == their_at {
                        continue;
                    }
                    for our in our_step.iter().filter(touched) {
                        let races = |their: &&Touch| {
                            their.cell == our.cell && their.process != our.process && (our.writes || their.writes)
                        };
                        if let Some(their) = their_step.iter().find(races)
                            && !self.is_excluded(&columns, row)
                        {
                            let names = names(model, &[our.process, their.process]);
                            let obligation = format!("{names} may not access `{}` at once", model.cells[our.cell].name);
                            return words::refused(obligation, format!("they can in {}", self.stepper.show(view)));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    pub(super) fn check_no_deadlock(&mut self, movers: &[Movers], members: &[Vec<ProcessId>]) -> Outcome<()> {
        let tables = self.blocked_tables(movers, members)?;
        // Combinations of the tables so far: all of them, and those in which some process is stuck.
        let (mut all, mut stuck) = (Table::unit(), Table::new(Vec::new()));
        let mut counted: Vec<ProcessId> = Vec::new();
        for (at, (processes, table)) in tables.iter().enumerate() {
            let new: Vec<ProcessId> = processes.iter().copied().filter(|process| !counted.contains(process)).collect();
            let needed = |heading: Heading| tables[at + 1..].iter().any(|(_, later)| later.position(heading).is_some());
            let stuck_here = self.stuck_rows(table, &new);
            let mut now = stuck.join(table, needed, &mut self.meter)?;
            let fresh = all.join(&stuck_here, needed, &mut self.meter)?;
            all = all.join(table, needed, &mut self.meter)?;
            merge(&mut now, &fresh);
            stuck = now;
            counted.extend(new);
        }
        if stuck.len() == 0 {
            return Ok(());
        }
        let finding = "there is a combination of their values in which nobody can move and somebody is stuck";
        words::refused("the invariants of all processes have to exclude a deadlock", finding)
    }

    /// The members, and the pairs that could have a rendezvous, without the rows in which some process is enabled.
    fn blocked_tables(
        &mut self,
        movers: &[Movers],
        members: &[Vec<ProcessId>],
    ) -> Outcome<Vec<(Vec<ProcessId>, Rc<Table>)>> {
        let mut sources: Vec<(Vec<ProcessId>, Rc<Table>)> = Vec::new();
        for processes in members {
            let table = self.table(processes)?;
            sources.push((processes.clone(), table));
        }
        for movers in movers.iter().filter(|movers| movers.processes().len() > self.claimed.k) {
            let pair = movers.processes();
            sources.push((pair.clone(), self.combinations(&pair, |_| true)?));
        }
        let mut blocked = Vec::new();
        for (processes, table) in sources {
            let within = |movers: &&Movers| movers.processes().iter().all(|process| processes.contains(process));
            let within: Vec<Movers> = movers.iter().filter(within).copied().collect();
            let columns = positions(&table);
            let mut rows = Table::new(table.headings().to_vec());
            for row in table.rows() {
                self.meter.step(rows.bytes())?;
                let mut moves = false;
                for &movers in &within {
                    moves = moves || self.stepper.attempts(movers, View { columns: &columns, row })?.any();
                }
                if !moves {
                    rows.insert(row);
                }
            }
            blocked.push((processes, Rc::new(rows)));
        }
        // Neighbours in this order share most.
        blocked.sort_by_key(|(processes, _)| processes.last().copied());
        Ok(blocked)
    }

    /// The rows in which one of these processes waits: it has neither ended nor is at `idle`, nor where it may wait for ever.
    fn stuck_rows(&self, table: &Table, processes: &[ProcessId]) -> Table {
        let model = self.model();
        let waits = |process: ProcessId, point: u32| {
            let place = self.claimed.numbering.points(process)[point as usize].place;
            let is_idle = |&action: &model::control::ActionId| matches!(model.actions[action].kind, ActionKind::Idle);
            place != model.families[model.processes[process].family].end
                && !model.places[place].may_end
                && !model.places[place].actions.iter().any(is_idle)
        };
        let columns = positions(table);
        let mut stuck = Table::new(table.headings().to_vec());
        for row in table.rows() {
            if processes.iter().any(|&process| waits(process, row[columns[&Column::Control(process)]])) {
                stuck.insert(row);
            }
        }
        stuck
    }
}

/// Adds the rows of a table with the same headings, perhaps in another order.
pub(in crate::certificate) fn merge(into: &mut Table, from: &Table) {
    let sources: Vec<usize> =
        into.headings().iter().map(|&heading| from.position(heading).expect("the headings are the same")).collect();
    for row in from.rows() {
        let row: Vec<u32> = sources.iter().map(|&at| row[at]).collect();
        into.insert(&row);
    }
}

/// What is wrong with the clause in the state.
pub(in crate::certificate) fn evaluate(
    model: &model::Model,
    state: &model::eval::State,
    clause: &Clause<'_>,
) -> Option<String> {
    let met = |literal: &Literal<'_>| {
        let mut view = Viewpoint::new(model, state, None);
        view.bound = literal.bound.to_vec();
        let truth = view.truth(literal.expr).map_err(|fault| format!("it has no value ({})", fault.fault))?;
        Ok::<bool, String>(literal.demand.is_met_by(truth))
    };
    for condition in &clause.conditions {
        match met(condition) {
            Ok(true) => {}
            Ok(false) => return None,
            Err(what) => return Some(what),
        }
    }
    match met(&clause.claim) {
        Ok(true) => None,
        Ok(false) => Some("it is false".to_owned()),
        Err(what) => Some(what),
    }
}
