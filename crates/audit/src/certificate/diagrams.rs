//! Obligations discharged on decision diagrams, for sets too large to list.
//!
//! In: a split invariant of the right shape. Each member becomes a diagram over the bits of its columns; steps become guarded
//! changes ([`step`]), made from the Model without `eval`'s help but by its rules. A change `c` with guard `g` keeps a member
//! `theta` if `theta & g` lies within `theta` with `c` put in: no successor set is ever built. Where `c` gives a column of many
//! values a number that depends on the state, `g` depends on the bits after the step, and these are put in. The library is not
//! the engines' one, and neither is the encoding, nor the arithmetic.

mod algebra;
mod content;
mod implication;
mod induction;
mod step;
mod store;
mod value;
mod variables;
mod word;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use base::Budget;
use biodivine_lib_bdd::{Bdd, BddVariable};
use evidence::certificate::{Column, LocalFact};
use model::Model;
use model::process::ProcessId;
use model::property::{Property, PropertyKind};
use model::variable::VarId;

use self::algebra::Algebra;
use self::induction::{Change, ChangeColumns, Source};
use self::step::{Commands, Follower};
use self::value::Evaluator;
use self::variables::Variables;
use super::claimed::{Claimed, Image, names, subsets};
use super::clause::{Clause, Mentions, Splitter};
use super::initial::{Start, fact_cells_of, factors, start_of};
use super::movers::{Movers, union};
use super::obligations::{Discharge, not_invariant};
use super::symmetry::Permutation;
use super::{CertificateError, Outcome, words};

/// The members of a split invariant as diagrams.
pub(super) struct Diagrams<'a> {
    claimed: &'a Claimed<'a>,
    algebra: Algebra<'a>,
    variables: Variables,
    /// The members as far as they were asked for, each without states that contradict what its own processes expose.
    members: HashMap<Vec<ProcessId>, Drawn>,
    /// What movers do from their control points, as far as it was asked for.
    commands: HashMap<(Movers, Vec<u32>), Rc<Commands>>,
    /// The combinations from which they do it.
    sources: HashMap<Source, Rc<Drawn>>,
    /// What they do, as some columns show it; the same for many members.
    changes: HashMap<(Source, ChangeColumns), Rc<Vec<Change>>>,
    /// The variable whose touches are asked for.
    watched: Option<VarId>,
}

/// A set with the columns that it speaks of.
#[derive(Clone)]
struct Drawn {
    set: Bdd,
    columns: BTreeSet<Column>,
}

impl<'a> Diagrams<'a> {
    /// Draws all members.
    pub fn new(claimed: &'a Claimed<'a>, property: &Property, budget: &'a Budget) -> Outcome<Self> {
        let model = claimed.model();
        let exposing = model.processes.ids().filter(|&process| claimed.numbering.is_exposed(process));
        let mut further: Vec<Column> = exposing.map(Column::Exposed).collect();
        let (expr, watched) = match &property.kind {
            PropertyKind::Invariant(expr) | PropertyKind::Reachable(expr) => (Some(expr), None),
            PropertyKind::RaceFree(var) => (None, Some(*var)),
            _ => (None, None),
        };
        if let Some(expr) = expr {
            let mentions = Splitter::new(model).mentions_of(expr)?;
            further.extend(mentions.cells.into_iter().map(Column::Cell));
        }
        let variables = Variables::new(claimed, &further)
            .map_err(|what| CertificateError::NotSupported(format!("{what}, too many for decision diagrams")))?;
        Ok(Diagrams {
            claimed,
            algebra: Algebra::new(budget),
            variables,
            members: HashMap::new(),
            commands: HashMap::new(),
            sources: HashMap::new(),
            changes: HashMap::new(),
            watched,
        })
    }

    /// A member.
    fn member(&mut self, processes: &[ProcessId]) -> Outcome<Drawn> {
        if let Some(drawn) = self.members.get(processes) {
            return Ok(drawn.clone());
        }
        let drawn = self.draw(processes, &self.claimed.member(processes))?;
        self.members.insert(processes.to_vec(), drawn.clone());
        Ok(drawn)
    }

    /// Draws a member, without numbers beyond their range, and with what its own processes expose.
    fn draw(&self, processes: &[ProcessId], member: &Image<'_>) -> Outcome<Drawn> {
        if !member.columns.iter().all(|&column| self.variables.has(column)) {
            let what = "it is about so many processes at once that decision diagrams are not drawn for all";
            return Err(CertificateError::NotSupported(what.to_owned()));
        }
        let set = self.variables.read(member, &self.algebra)?;
        let mut drawn = Drawn { set, columns: member.columns.iter().copied().collect() };
        for &column in &member.columns {
            let valid = self.variables.valid(column, &self.algebra)?;
            drawn.set = self.algebra.and(&drawn.set, &valid)?;
        }
        for (&column, renumbering) in member.columns.iter().zip(&member.renumbering) {
            if let Some(renumbering) = renumbering {
                drawn.set = self.variables.renumbered(&drawn.set, column, renumbering, &self.algebra)?;
            }
        }
        for &process in processes.iter().filter(|&&process| self.claimed.numbering.is_exposed(process)) {
            drawn.set = self.algebra.and(&drawn.set, &self.exposure(process)?)?;
            drawn.columns.insert(Column::Exposed(process));
        }
        Ok(drawn)
    }

    /// The initial states as some columns show them; an error in words where an initial local state is not in the proof.
    fn initial(&self, columns: &BTreeSet<Column>) -> Outcome<Result<Bdd, String>> {
        let related = match self.related(columns) {
            Ok(related) => related,
            Err(what) => return Ok(Err(what)),
        };
        let listed: Vec<Column> = columns.difference(&related).copied().collect();
        let factors = match factors(&self.claimed.numbering, &listed) {
            Ok(factors) => factors,
            Err(what) => return Ok(Err(what)),
        };
        let mut start = self.variables.full();
        for factor in factors {
            let mut some = self.variables.empty();
            for row in &factor.rows {
                let numbers: Vec<(Column, u64)> = factor
                    .positions
                    .iter()
                    .map(|&at| listed[at])
                    .zip(row.iter().map(|&number| u64::from(number)))
                    .collect();
                some = self.algebra.or(&some, &self.variables.all(&numbers))?;
            }
            start = self.algebra.and(&start, &some)?;
        }
        if related.is_empty() {
            return Ok(Ok(start));
        }
        match self.initial_of(&related)? {
            Err(what) => Ok(Err(what)),
            Ok(set) => {
                let hidden: Vec<BddVariable> =
                    related.difference(columns).flat_map(|&column| self.variables.of(column)).copied().collect();
                let set = self.algebra.exists(&set, &hidden)?;
                Ok(Ok(self.algebra.and(&start, &set)?))
            }
        }
    }

    /// The columns whose initial numbers are too many to list, and with what is exposed of them all that it depends on.
    fn related(&self, columns: &BTreeSet<Column>) -> Result<BTreeSet<Column>, String> {
        let numbering = &self.claimed.numbering;
        let is_anywhere = |column: Column| {
            Ok(self.variables.is_wide(column) && matches!(start_of(numbering, column)?, Start::Anywhere))
        };
        let mut related = BTreeSet::new();
        for &column in columns {
            if let Column::Exposed(process) = column {
                let about: Vec<Column> = fact_cells_of(numbering, process).map(Column::Cell).collect();
                let is_tied = about.iter().map(|&cell| is_anywhere(cell)).collect::<Result<Vec<bool>, String>>()?;
                if is_tied.contains(&true) {
                    related.extend(about.into_iter().chain([column, Column::Control(process)]));
                }
            } else if is_anywhere(column)? {
                related.insert(column);
            }
        }
        Ok(related)
    }

    /// The initial states as some columns show them, column by column.
    fn initial_of(&self, columns: &BTreeSet<Column>) -> Outcome<Result<Bdd, String>> {
        if !columns.iter().all(|&column| self.variables.has(column)) {
            let what = "it is about so many processes at once that decision diagrams are not drawn for all";
            return Err(CertificateError::NotSupported(what.to_owned()));
        }
        let mut start = self.variables.full();
        for &column in columns.iter().filter(|column| !matches!(column, Column::Exposed(_))) {
            let set = match start_of(&self.claimed.numbering, column) {
                Ok(Start::At(number)) => self.variables.equals(column, number),
                Ok(Start::Anywhere) => self.variables.valid(column, &self.algebra)?,
                Err(what) => return Ok(Err(what)),
            };
            start = self.algebra.and(&start, &set)?;
        }
        for &column in columns {
            let Column::Exposed(process) = column else { continue };
            let exposure = self.exposure(process)?;
            let in_some_block = self.algebra.exists(&exposure, self.variables.of(column))?;
            if !self.algebra.within(&start, &in_some_block)? {
                let name = &self.model().processes[process].name;
                return Ok(Err(format!("{name} starts in a local state that is in no exposed block")));
            }
            start = self.algebra.and(&start, &exposure)?;
        }
        Ok(Ok(start))
    }

    fn model(&self) -> &'a Model {
        self.claimed.model()
    }

    /// The states in which a process's block is that of its local state.
    fn exposure(&self, process: ProcessId) -> Outcome<Bdd> {
        let numbering = &self.claimed.numbering;
        let mut all = self.variables.empty();
        for block in 0..numbering.n_values(Column::Exposed(process)) as u32 {
            let mut states = self.variables.equals(Column::Exposed(process), u64::from(block));
            for (fact, &holds) in numbering.facts(process).iter().zip(numbering.block(process, block)) {
                let condition = self.fact(process, fact)?;
                states = if holds {
                    self.algebra.and(&states, &condition)?
                } else {
                    self.algebra.and_not(&states, &condition)?
                };
            }
            all = self.algebra.or(&all, &states)?;
        }
        Ok(all)
    }

    fn fact(&self, process: ProcessId, fact: &LocalFact) -> Outcome<Bdd> {
        let numbering = &self.claimed.numbering;
        let control = |points: Vec<u32>| {
            points.into_iter().try_fold(self.variables.empty(), |all, point| {
                self.algebra.or(&all, &self.variables.equals(Column::Control(process), u64::from(point)))
            })
        };
        match fact {
            LocalFact::Control(points) => control(points.iter().map(|&point| point as u32).collect()),
            LocalFact::Cell(cell, value) if numbering.own_cells(process).contains(cell) => {
                Ok(self.variables.equals(Column::Cell(*cell), numbering.wide_number_of(*cell, *value)))
            }
            LocalFact::Cell(counter, value) => {
                let n_points = numbering.points(process).len() as u32;
                let there = |&point: &u32| numbering.counter_at(process, point, *counter) == Some(*value);
                control((0..n_points).filter(there).collect())
            }
            LocalFact::OneOf(lists) => lists.iter().try_fold(self.variables.empty(), |some, list| {
                let all = list
                    .iter()
                    .try_fold(self.variables.full(), |all, fact| self.algebra.and(&all, &self.fact(process, fact)?))?;
                self.algebra.or(&some, &all)
            }),
        }
    }

    /// What movers do from these points.
    fn commands(&mut self, movers: Movers, points: &[u32]) -> Outcome<Rc<Commands>> {
        let key = (movers, points.to_vec());
        if let Some(commands) = self.commands.get(&key) {
            return Ok(commands.clone());
        }
        let mut evaluator = Evaluator {
            numbering: &self.claimed.numbering,
            variables: &self.variables,
            algebra: &self.algebra,
            footprint: BTreeMap::new(),
            watched: self.watched,
            touched: Vec::new(),
        };
        let commands = Rc::new(Follower { evaluator: &mut evaluator }.commands(movers, points)?);
        self.commands.insert(key, commands.clone());
        Ok(commands)
    }

    /// The numbers of all control points of the processes, together.
    fn all_points(&self, processes: &[ProcessId]) -> Vec<Vec<u32>> {
        processes.iter().fold(vec![Vec::new()], |tuples, &process| {
            let n_points = self.claimed.numbering.points(process).len() as u32;
            tuples
                .iter()
                .flat_map(|tuple| (0..n_points).map(move |point| [tuple.as_slice(), &[point]].concat()))
                .collect()
        })
    }

    /// The members within these processes, where those of `fixed` are at these points; their control is left out.
    fn within(&mut self, processes: &[ProcessId], fixed: &[(Column, u64)]) -> Outcome<Vec<Drawn>> {
        let sets = subsets(processes, self.claimed.k);
        sets.map(|set| self.member(&set).map(|drawn| self.fixed(&drawn, fixed))).collect()
    }

    fn fixed(&self, drawn: &Drawn, fixed: &[(Column, u64)]) -> Drawn {
        let mut columns = drawn.columns.clone();
        let set = self.variables.restricted(&drawn.set, fixed);
        fixed.iter().for_each(|(column, _)| {
            columns.remove(column);
        });
        Drawn { set, columns }
    }

    /// The set of all states, which speaks of no column.
    fn everything(&self) -> Drawn {
        Drawn { set: self.variables.full(), columns: BTreeSet::new() }
    }

    /// The conjunction of sets, without the columns that are not wanted.
    fn join(&self, start: Drawn, sets: &[Drawn], wanted: impl Fn(Column) -> bool) -> Outcome<Drawn> {
        let mut joined = start;
        for (at, drawn) in sets.iter().enumerate() {
            joined.set = self.algebra.and(&joined.set, &drawn.set)?;
            joined.columns.extend(&drawn.columns);
            let later = |column: Column| sets[at + 1..].iter().any(|later| later.columns.contains(&column));
            joined = self.projected(joined, |column| wanted(column) || later(column))?;
            if joined.set.is_false() {
                break;
            }
        }
        Ok(joined)
    }

    fn projected(&self, drawn: Drawn, wanted: impl Fn(Column) -> bool) -> Outcome<Drawn> {
        let (kept, dropped): (BTreeSet<Column>, BTreeSet<Column>) =
            drawn.columns.iter().partition(|&&column| wanted(column));
        let variables: Vec<BddVariable> =
            dropped.iter().flat_map(|&column| self.variables.of(column)).copied().collect();
        Ok(Drawn { set: self.algebra.exists(&drawn.set, &variables)?, columns: kept })
    }

    /// All columns as they are somewhere in the set.
    fn witness(&self, drawn: &Drawn, fixed: &[(Column, u64)], columns: &BTreeSet<Column>) -> Vec<u64> {
        let valuation = drawn.set.sat_witness();
        let number = |column: &Column| {
            let known = fixed.iter().find(|(fixed, _)| fixed == column).map(|(_, number)| *number);
            known.unwrap_or_else(|| valuation.as_ref().map_or(0, |valuation| self.variables.number(*column, valuation)))
        };
        columns.iter().map(number).collect()
    }

    fn show(&self, drawn: &Drawn, fixed: &[(Column, u64)]) -> String {
        let columns: BTreeSet<Column> =
            drawn.columns.iter().copied().chain(fixed.iter().map(|(column, _)| *column)).collect();
        let row = self.witness(drawn, fixed, &columns);
        words::view(&self.claimed.numbering, &columns.into_iter().collect::<Vec<_>>(), &row)
    }
}

impl Discharge for Diagrams<'_> {
    fn invariance(&mut self, member: &[ProcessId], exchange: &Permutation) -> Outcome<()> {
        let theta = self.member(member)?;
        let image = self.draw(member, &self.claimed.image(member, exchange))?;
        let same = theta.columns == image.columns
            && self.algebra.within(&theta.set, &image.set)?
            && self.algebra.within(&image.set, &theta.set)?;
        if same { Ok(()) } else { not_invariant(self.model(), member) }
    }

    fn initiality(&mut self, member: &[ProcessId]) -> Outcome<()> {
        let model = self.model();
        let obligation = || format!("the invariant of {} has to contain every initial state", names(model, member));
        let Drawn { set, columns } = self.member(member)?;
        let start = self.initial(&columns)?.or_else(|what| words::refused(obligation(), what))?;
        if self.algebra.within(&start, &set)? {
            return Ok(());
        }
        let outside = Drawn { set: self.algebra.and_not(&start, &set)?, columns };
        let shown = self.show(&outside, &[]);
        words::refused(obligation(), format!("the program can start in {shown}, which is not in it"))
    }

    fn induction(&mut self, member: &[ProcessId], movers: Movers) -> Outcome<()> {
        let moving = movers.processes();
        let rest = member.iter().copied().filter(|process| !moving.contains(process));
        let around: Vec<ProcessId> = rest.take(self.claimed.k.saturating_sub(moving.len())).collect();
        let base = union(&moving, &around);
        for points in self.all_points(&moving) {
            self.induction_at(member, &Source { movers, points, base: base.clone() })?;
        }
        Ok(())
    }

    fn clause(&mut self, clause: &Clause<'_>, mentions: &Mentions, concerned: &[ProcessId]) -> Outcome<()> {
        self.check_clause(clause, mentions, concerned)
    }

    fn no_fault(&mut self, movers: Movers, concerned: &[ProcessId]) -> Outcome<()> {
        self.check_no_fault(movers, concerned)
    }

    fn no_race(&mut self, _var: VarId, contenders: [Movers; 2], concerned: &[ProcessId]) -> Outcome<()> {
        self.check_no_race(contenders, concerned)
    }

    fn no_deadlock(&mut self, movers: &[Movers], members: &[Vec<ProcessId>]) -> Outcome<()> {
        self.check_no_deadlock(movers, members)
    }
}

/// The control locations of the processes, as columns.
fn controls(processes: &[ProcessId], points: &[u32]) -> Vec<(Column, u64)> {
    processes
        .iter()
        .map(|&process| Column::Control(process))
        .zip(points.iter().map(|&point| u64::from(point)))
        .collect()
}
