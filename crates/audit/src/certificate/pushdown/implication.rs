//! What local states of several processes imply together: clauses, no races, no deadlocks.
//!
//! Local states that agree on what processes see in common are joined as tables; each table has only what the question reads and
//! what is compared with others.

use base::Budget;
use evidence::certificate::Column;
use evidence::implied::Implied;
use model::control::TextOwner;
use model::eval::{Control, Frame, State, initial_states};
use model::expr::Expr;
use model::process::ProcessId;
use model::property::PropertyKind;
use model::value::Value;
use model::variable::CellId;

use super::{Ability, Checker};
use crate::certificate::clause::{Clause, Mentions, Splitter, Wanted};
use crate::certificate::coverage::ClauseCoverage;
use crate::certificate::listing::implication::{evaluate, merge};
use crate::certificate::listing::table::{Heading, Table};
use crate::certificate::numbering::value_of;
use crate::certificate::{CertificateError, Outcome, words};

/// Cells that no process sees may have any value; at most so many valuations are tried.
const MOST_WAYS: u128 = 1 << 16;

/// The heading of a cell.
fn cell_heading(cell: CellId) -> Heading {
    Heading::Column(Column::Cell(cell))
}

/// The heading of what is asked about a process: a place, or what it can do.
fn own_heading(process: ProcessId) -> Heading {
    Heading::Column(Column::Control(process))
}

/// The headings of the two halves of what is exposed.
fn exposed_headings() -> [Heading; 2] {
    [0, 1].map(|half| Heading::Column(Column::Exposed(ProcessId::new(half))))
}

impl Checker<'_> {
    /// The property follows from the local states, its clauses from those of the processes that the proof names.
    pub(super) fn implication(&mut self, property: &PropertyKind, implies: &[Implied], budget: &Budget) -> Outcome<()> {
        let is_by_clauses = matches!(property, PropertyKind::Invariant(_) | PropertyKind::Reachable(_));
        if !is_by_clauses && !implies.is_empty() {
            let what = "path edges of all processes imply the property together, and it names parts";
            return Err(CertificateError::Malformed(what.to_owned()));
        }
        match property {
            PropertyKind::Invariant(expr) => self.clauses((expr, Wanted::True), implies, budget),
            PropertyKind::Reachable(expr) => self.clauses((expr, Wanted::False), implies, budget),
            // Faults were looked for where steps were taken.
            PropertyKind::NoErrors => {
                self.discharged.implication += self.threads.len();
                Ok(())
            }
            PropertyKind::RaceFree(_) => self.no_races(),
            PropertyKind::DeadlockFree => self.no_deadlock(),
            PropertyKind::Temporal(_) => {
                let why = "path edges say nothing about temporal properties";
                Err(CertificateError::NotSupported(why.to_owned()))
            }
        }
    }

    fn clauses(&mut self, asked: (&Expr, Wanted), implies: &[Implied], budget: &Budget) -> Outcome<()> {
        let splitter = Splitter::new(self.model);
        ClauseCoverage::new(&splitter, false, budget).clauses(asked, implies, &mut |clause, from| {
            self.discharged.implication += 1;
            let mentions = splitter.mentions(clause)?;
            self.clause(clause, &mentions, from)
        })
    }

    fn clause(&mut self, clause: &Clause<'_>, mentions: &Mentions, concerned: &[ProcessId]) -> Outcome<()> {
        let is_known = |process: &ProcessId| self.model.processes.get(*process).is_some();
        let is_named = |process: &ProcessId| concerned.contains(process);
        let is_ordered = concerned.is_sorted_by(|one, other| one < other);
        if !concerned.iter().all(is_known) || !is_ordered || !mentions.processes.iter().all(is_named) {
            let text = clause.text(self.model);
            let what = format!("`{text}` does not follow from the processes that it names: it is about others");
            return Err(CertificateError::Malformed(what));
        }
        let sees = |process: &ProcessId, cell: &CellId| self.threads[process.index()].positions.contains_key(cell);
        let is_hidden = |cell: &CellId| !concerned.iter().any(|process| sees(process, cell));
        let hidden: Vec<CellId> = mentions.cells.iter().copied().filter(is_hidden).collect();
        let wanted = |heading: Heading| match heading {
            Heading::Column(Column::Cell(cell)) => mentions.cells.contains(&cell),
            Heading::Column(Column::Control(process)) => mentions.processes.contains(&process),
            _ => false,
        };
        let place = |checker: &Self, process: ProcessId, state: usize| {
            let thread = &checker.threads[process.index()];
            match thread.proof.tops[thread.proof.states[state].top as usize].control {
                Control::At(place) => Some(place.index() as u32),
                Control::Calling(_) => None,
            }
        };
        let joined = self.joined(concerned, wanted, place)?;
        let mut state = initial_states(self.model).next().expect("a program has an initial state");
        for at in 0..joined.len() {
            self.meter.step(0)?;
            self.show_row(&mut state, &joined, at);
            if let Some(what) = self.violated(clause, &mut state, &hidden)? {
                let obligation = format!("`{}` has to follow from the local states", clause.text(self.model));
                return words::refused(obligation, format!("{what} in {}", self.row_words(&joined, at)));
            }
        }
        Ok(())
    }

    /// The join of the local states of some processes, under the wanted headings; `own` gives the number that represents a local state.
    fn joined(
        &mut self,
        concerned: &[ProcessId],
        wanted: impl Fn(Heading) -> bool,
        own: impl Fn(&Self, ProcessId, usize) -> Option<u32>,
    ) -> Outcome<Table> {
        let mut all = Table::unit();
        let mut tables = Vec::new();
        for &process in concerned {
            let thread = &self.threads[process.index()];
            let compared = |cell: CellId| {
                let others = concerned.iter().filter(|&&other| other != process);
                others.into_iter().any(|other| self.threads[other.index()].positions.contains_key(&cell))
            };
            let cells: Vec<CellId> = thread
                .proof
                .cells
                .iter()
                .copied()
                .filter(|&cell| compared(cell) || wanted(cell_heading(cell)))
                .collect();
            let mut headings: Vec<Heading> = cells.iter().map(|&cell| cell_heading(cell)).collect();
            headings.extend(exposed_headings());
            headings.push(own_heading(process));
            let keeps_own = wanted(own_heading(process));
            let mut table = Table::new(headings);
            for (state, row) in thread.proof.states.iter().enumerate() {
                let Some(number) = own(self, process, state) else { continue };
                let mut numbers: Vec<u32> = cells.iter().map(|cell| row.cells[thread.positions[cell]]).collect();
                numbers.extend([row.exposed as u32, (row.exposed >> 32) as u32]);
                numbers.push(if keeps_own { number } else { 0 });
                table.insert(&numbers);
            }
            tables.push(table);
        }
        for (at, table) in tables.iter().enumerate() {
            let later = |heading: Heading| tables[at + 1..].iter().any(|later| later.position(heading).is_some());
            all = all.join(table, |heading| wanted(heading) || later(heading), &mut self.meter)?;
        }
        Ok(all)
    }

    /// Makes the state show what a row says.
    fn show_row(&self, state: &mut State, table: &Table, at: usize) {
        for (position, column) in table.columns() {
            let number = table.row(at)[position];
            match column {
                Column::Cell(cell) => state.cells[cell.index()] = value_of(self.model, cell, number),
                Column::Control(process) => {
                    let place = model::control::PlaceId::new(number as usize);
                    let slots = match self.model.places[place].scope {
                        TextOwner::Family(_) => Vec::new(),
                        TextOwner::Procedure(procedure) => {
                            let vars =
                                self.model.procedures[procedure].vars.iter().map(|&var| &self.model.vars[var].ty);
                            let first = |ty: &model::types::Type| {
                                ty.scalar().first_value(self.model.type_context()).expect("types have values")
                            };
                            vars.flat_map(|ty| vec![first(ty); ty.n_cells()]).collect()
                        }
                    };
                    state.stacks[process.index()] = vec![Frame { control: Control::At(place), slots }];
                }
                Column::Exposed(_) => {}
            }
        }
    }

    fn row_words(&self, table: &Table, at: usize) -> String {
        let part = |(position, column): (usize, Column)| {
            let number = table.row(at)[position];
            match column {
                Column::Cell(cell) => {
                    let value = model::print::value(self.model, value_of(self.model, cell, number));
                    Some(format!("{} = {value}", self.model.cells[cell].name))
                }
                Column::Control(process) => {
                    let place = &self.model.places[model::control::PlaceId::new(number as usize)];
                    Some(format!("{}@{}", self.model.processes[process].name, place.name))
                }
                Column::Exposed(_) => None,
            }
        };
        table.columns().filter_map(part).collect::<Vec<_>>().join(", ")
    }

    /// What is wrong with the clause in the state, for some value of the cells that no process sees.
    fn violated(&mut self, clause: &Clause<'_>, state: &mut State, hidden: &[CellId]) -> Outcome<Option<String>> {
        let values = |cell: CellId| self.model.cells[cell].ty.values(self.model.type_context());
        let n_values = |cell: CellId| self.model.cells[cell].ty.n_values(self.model.type_context());
        if hidden.iter().fold(1_u128, |n, &cell| n.saturating_mul(n_values(cell))) > MOST_WAYS {
            let why = "the property speaks of cells that nobody sees and that have too many values";
            return Err(CertificateError::NotSupported(why.to_owned()));
        }
        let mut ways: Vec<Vec<Value>> = vec![Vec::new()];
        for &cell in hidden {
            ways = ways.iter().flat_map(|way| values(cell).map(|value| [way.clone(), vec![value]].concat())).collect();
        }
        for way in ways {
            hidden.iter().zip(way).for_each(|(cell, value)| state.cells[cell.index()] = value);
            if let Some(what) = evaluate(self.model, state, clause) {
                return Ok(Some(what));
            }
            self.meter.step(0)?;
        }
        Ok(None)
    }

    /// No two processes touch one cell at once, one of them writing.
    fn no_races(&mut self) -> Outcome<()> {
        let mut sets: Vec<Vec<(CellId, bool)>> = Vec::new();
        let mut numbers: Vec<Vec<Option<u32>>> = Vec::new();
        for abilities in &self.abilities {
            let number = |ability: &Ability| {
                if ability.touches.is_empty() {
                    return None;
                }
                let mut touches = ability.touches.clone();
                touches.sort_unstable();
                Some(sets.iter().position(|known| *known == touches).unwrap_or_else(|| {
                    sets.push(touches);
                    sets.len() - 1
                }) as u32)
            };
            numbers.push(abilities.iter().map(number).collect());
        }
        let everybody: Vec<ProcessId> = self.model.processes.ids().collect();
        for (at, &one) in everybody.iter().enumerate() {
            for &other in &everybody[at + 1..] {
                self.discharged.implication += 1;
                let own = |_: &Self, process: ProcessId, state: usize| numbers[process.index()][state];
                let wanted = |heading| heading == own_heading(one) || heading == own_heading(other);
                let pairs = self.joined(&[one, other], wanted, own)?;
                for row in pairs.rows() {
                    let (ours, theirs) = (&sets[row[0] as usize], &sets[row[1] as usize]);
                    let clash =
                        ours.iter().find(|our| theirs.iter().any(|their| our.0 == their.0 && (our.1 || their.1)));
                    if let Some((cell, _)) = clash {
                        let name = |process: ProcessId| &self.model.processes[process].name;
                        let obligation = format!(
                            "{} and {} may not access `{}` at once",
                            name(one),
                            name(other),
                            self.model.cells[*cell].name
                        );
                        return words::refused(
                            obligation,
                            "two of their local states agree on all that both see and can",
                        );
                    }
                }
            }
        }
        Ok(())
    }

    /// There is no combination in which no process is enabled and some process is stuck.
    fn no_deadlock(&mut self) -> Outcome<()> {
        self.discharged.implication += 1;
        let everybody: Vec<ProcessId> = self.model.processes.ids().collect();
        let mut tables = Vec::new();
        for &process in &everybody {
            let thread = &self.threads[process.index()];
            let end = self.model.families[self.model.processes[process].family].end;
            let seen = |cell: &CellId| thread.proof.store.contains(cell);
            let cells: Vec<CellId> = thread.proof.cells.iter().copied().filter(seen).collect();
            let mut headings: Vec<Heading> = cells.iter().map(|&cell| cell_heading(cell)).collect();
            headings.extend(exposed_headings());
            let (mut blocked, mut stuck) = (Table::new(headings.clone()), Table::new(headings));
            for (state, row) in thread.proof.states.iter().enumerate() {
                if self.abilities[process.index()][state].moves {
                    continue;
                }
                let mut numbers: Vec<u32> = cells.iter().map(|cell| row.cells[thread.positions[cell]]).collect();
                numbers.extend([row.exposed as u32, (row.exposed >> 32) as u32]);
                blocked.insert(&numbers);
                if thread.proof.tops[row.top as usize].control != Control::At(end) {
                    stuck.insert(&numbers);
                }
            }
            tables.push((blocked, stuck));
        }
        let (mut all, mut stuck) = (Table::unit(), Table::new(Vec::new()));
        for (at, (blocked, stuck_here)) in tables.iter().enumerate() {
            let needed = |heading: Heading| tables[at + 1..].iter().any(|(later, _)| later.position(heading).is_some());
            let mut now = stuck.join(blocked, needed, &mut self.meter)?;
            let fresh = all.join(stuck_here, needed, &mut self.meter)?;
            all = all.join(blocked, needed, &mut self.meter)?;
            merge(&mut now, &fresh);
            stuck = now;
        }
        match stuck.len() {
            0 => Ok(()),
            _ => words::refused(
                "the local states of all processes have to exclude a deadlock",
                "there is a combination of them in which nobody can move and somebody is stuck",
            ),
        }
    }
}
