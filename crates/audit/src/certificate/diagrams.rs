//! Obligations discharged on decision diagrams, for sets too large to list.
//!
//! In: a split invariant of the right shape. Each member becomes a diagram over the bits of its columns; steps become guarded
//! changes to constants ([`step`]), made from the Model without `eval`'s help but by its rules. A change `c` with guard `g`
//! keeps a member `theta` if `theta & g` lies within `theta` with `c` put in: no successor set is ever built. The library is
//! not the engines' one, and neither is the encoding.

mod algebra;
mod implication;
mod step;
mod value;
mod variables;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use base::Budget;
use biodivine_lib_bdd::{Bdd, BddVariable};
use evidence::certificate::{Column, LocalFact};
use model::Model;
use model::eval::Move;
use model::process::ProcessId;
use model::property::{Property, PropertyKind};
use model::variable::VarId;

use self::algebra::Algebra;
use self::step::{Command, Commands, Follower};
use self::value::Evaluator;
use self::variables::Variables;
use super::claimed::{Claimed, Image, column_name, names, subsets};
use super::clause::{Clause, Mentions, Splitter};
use super::initial::factors;
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
    /// The variable whose touches are asked for.
    watched: Option<VarId>,
}

/// A set with the columns that it speaks of.
#[derive(Clone)]
struct Drawn {
    set: Bdd,
    columns: BTreeSet<Column>,
}

/// A change as a member sees it, with the states (of the movers and those around them) in which it can happen.
struct Change {
    numbers: Vec<(Column, u32)>,
    guard: Bdd,
    by: Move,
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

    fn model(&self) -> &'a Model {
        self.claimed.model()
    }

    /// The states in which a process's block is that of its local state.
    fn exposure(&self, process: ProcessId) -> Outcome<Bdd> {
        let numbering = &self.claimed.numbering;
        let mut all = self.variables.empty();
        for block in 0..numbering.n_values(Column::Exposed(process)) as u32 {
            let mut states = self.variables.equals(Column::Exposed(process), block);
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
                self.algebra.or(&all, &self.variables.equals(Column::Control(process), point))
            })
        };
        match fact {
            LocalFact::Control(points) => control(points.iter().map(|&point| point as u32).collect()),
            LocalFact::Cell(cell, value) if numbering.own_cells(process).contains(cell) => {
                Ok(self.variables.equals(Column::Cell(*cell), numbering.number_of(*cell, *value)))
            }
            LocalFact::Cell(counter, value) => {
                let n_points = numbering.points(process).len() as u32;
                let there = |&point: &u32| numbering.counter_at(process, point, *counter) == Some(*value);
                control((0..n_points).filter(there).collect())
            }
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

    /// The members within these processes, where those of `fixed` stand at these points; their control is left out.
    fn within(&mut self, processes: &[ProcessId], fixed: &[(Column, u32)]) -> Outcome<Vec<Drawn>> {
        let sets = subsets(processes, self.claimed.k);
        sets.map(|set| self.member(&set).map(|drawn| self.fixed(&drawn, fixed))).collect()
    }

    fn fixed(&self, drawn: &Drawn, fixed: &[(Column, u32)]) -> Drawn {
        let mut columns = drawn.columns.clone();
        let set = self.variables.restricted(&drawn.set, fixed);
        fixed.iter().for_each(|(column, _)| {
            columns.remove(column);
        });
        Drawn { set, columns }
    }

    /// The conjunction of sets, without the columns that nobody wants.
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
    fn witness(&self, drawn: &Drawn, fixed: &[(Column, u32)], columns: &BTreeSet<Column>) -> Vec<u32> {
        let valuation = drawn.set.sat_witness();
        let number = |column: &Column| {
            let known = fixed.iter().find(|(fixed, _)| fixed == column).map(|(_, number)| *number);
            known.unwrap_or_else(|| valuation.as_ref().map_or(0, |valuation| self.variables.number(*column, valuation)))
        };
        columns.iter().map(number).collect()
    }

    fn show(&self, drawn: &Drawn, fixed: &[(Column, u32)]) -> String {
        let columns: BTreeSet<Column> =
            drawn.columns.iter().copied().chain(fixed.iter().map(|(column, _)| *column)).collect();
        let row = self.witness(drawn, fixed, &columns);
        words::view(&self.claimed.numbering, &columns.into_iter().collect::<Vec<_>>(), &row)
    }

    /// Refuses a step that touches what the processes, in these states, are not said to see.
    fn check_view(&self, movers: Movers, from: &Drawn, fixed: &[(Column, u32)], commands: &Commands) -> Outcome<()> {
        for (&column, states) in &commands.footprint {
            let known = from.columns.contains(&column) || fixed.iter().any(|(fixed, _)| *fixed == column);
            if known || !self.algebra.meet(&from.set, states)? {
                continue;
            }
            let movers = names(self.model(), &movers.processes());
            let touching = Drawn { set: self.algebra.and(&from.set, states)?, columns: from.columns.clone() };
            return words::refused(
                format!("the view of {movers} has to have {}", column_name(self.model(), column)),
                format!("a step of {movers} touches it from {}", self.show(&touching, fixed)),
            );
        }
        Ok(())
    }

    /// The changes that the movers make from these points, as far as the member sees them.
    fn changes(
        &mut self,
        (movers, points): (Movers, &[u32]),
        from: &Drawn,
        member: &BTreeSet<Column>,
        needed: &BTreeSet<Column>,
    ) -> Outcome<Vec<Change>> {
        let mut changes: Vec<Change> = Vec::new();
        let mut alike: HashMap<Vec<(Column, u32)>, usize> = HashMap::new();
        let commands = self.commands(movers, points)?;
        for Command { by, guard, changes: changed } in &commands.steps {
            let set = self.algebra.and(&from.set, guard)?;
            if set.is_false() {
                continue;
            }
            let numbers = match changed {
                Ok(changed) => {
                    changed.iter().filter(|(column, _)| member.contains(column)).copied().collect::<Vec<_>>()
                }
                Err(what) => {
                    let movers = names(self.model(), &movers.processes());
                    let obligation = format!("steps of {movers} have to stay within what is listed");
                    let step = words::step(&self.claimed.numbering, *by);
                    let shown = self.show(&Drawn { set, columns: from.columns.clone() }, &[]);
                    return words::refused(obligation, format!("{step} from {shown} {what}"));
                }
            };
            if numbers.is_empty() {
                continue;
            }
            let seen =
                self.projected(Drawn { set, columns: from.columns.clone() }, |column| needed.contains(&column))?;
            match alike.get(&numbers) {
                Some(&at) => changes[at].guard = self.algebra.or(&changes[at].guard, &seen.set)?,
                None => {
                    alike.insert(numbers.clone(), changes.len());
                    changes.push(Change { numbers, guard: seen.set, by: *by });
                }
            }
        }
        Ok(changes)
    }

    fn induction_at(&mut self, member: &[ProcessId], movers: Movers, points: &[u32]) -> Outcome<()> {
        let k = self.claimed.k;
        let moving = movers.processes();
        let fixed: Vec<(Column, u32)> =
            moving.iter().map(|&process| Column::Control(process)).zip(points.iter().copied()).collect();
        let rest = member.iter().copied().filter(|process| !moving.contains(process));
        let base = union(&moving, &rest.take(k.saturating_sub(moving.len())).collect::<Vec<_>>());
        let everybody = union(member, &moving);
        let everything = Drawn { set: self.variables.full(), columns: BTreeSet::new() };
        let within = self.within(&base, &fixed)?;
        let from = self.join(everything, &within, |_| true)?;
        if from.set.is_false() {
            return Ok(());
        }
        let commands = self.commands(movers, points)?;
        self.check_view(movers, &from, &fixed, &commands)?;
        let beside = subsets(&everybody, k).filter(|set| !set.iter().all(|one| base.contains(one)));
        let beside = beside.map(|set| self.member(&set).map(|drawn| self.fixed(&drawn, &fixed)));
        let beside: Vec<Drawn> = beside.collect::<Outcome<_>>()?;
        let theta = self.member(member)?;
        let mut needed = theta.columns.clone();
        beside.iter().for_each(|drawn| needed.extend(&drawn.columns));
        for change in self.changes((movers, points), &from, &theta.columns, &needed)? {
            let columns = from.columns.intersection(&needed).copied().collect();
            let before = self.join(Drawn { set: change.guard.clone(), columns }, &beside, |column| {
                theta.columns.contains(&column)
            })?;
            let kept = self.variables.restricted(&theta.set, &change.numbers);
            if !self.algebra.within(&before.set, &kept)? {
                return self.not_kept((member, &theta), &change, (before, &fixed), &kept);
            }
        }
        Ok(())
    }

    fn not_kept(
        &self,
        (member, theta): (&[ProcessId], &Drawn),
        change: &Change,
        (before, fixed): (Drawn, &[(Column, u32)]),
        kept: &Bdd,
    ) -> Outcome<()> {
        let numbering = &self.claimed.numbering;
        let wrong = Drawn { set: self.algebra.and_not(&before.set, kept)?, columns: before.columns };
        let columns: Vec<Column> = theta.columns.iter().copied().collect();
        let row = self.witness(&wrong, fixed, &theta.columns);
        let after: Vec<u32> = columns
            .iter()
            .zip(&row)
            .map(|(column, &number)| {
                change.numbers.iter().find(|(changed, _)| changed == column).map_or(number, |(_, number)| *number)
            })
            .collect();
        let (names, step) = (names(self.model(), member), words::step(numbering, change.by));
        let (before, after) = (words::view(numbering, &columns, &row), words::view(numbering, &columns, &after));
        words::refused(
            format!("every step has to keep the invariant of {names}"),
            format!("{step} leads from {before} to {after}, which is not in it"),
        )
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
        let listed: Vec<Column> = columns.iter().copied().collect();
        let factors = factors(&self.claimed.numbering, &listed).or_else(|what| words::refused(obligation(), what))?;
        let mut start = self.variables.full();
        for factor in factors {
            let mut some = self.variables.empty();
            for row in &factor.rows {
                let numbers: Vec<(Column, u32)> =
                    factor.positions.iter().map(|&at| listed[at]).zip(row.iter().copied()).collect();
                some = self.algebra.or(&some, &self.variables.all(&numbers))?;
            }
            start = self.algebra.and(&start, &some)?;
        }
        if self.algebra.within(&start, &set)? {
            return Ok(());
        }
        let outside = Drawn { set: self.algebra.and_not(&start, &set)?, columns };
        let shown = self.show(&outside, &[]);
        words::refused(obligation(), format!("the program can start in {shown}, which is not in it"))
    }

    fn induction(&mut self, member: &[ProcessId], movers: Movers) -> Outcome<()> {
        for points in self.all_points(&movers.processes()) {
            self.induction_at(member, movers, &points)?;
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

    fn no_deadlock(&mut self, movers: &[Movers]) -> Outcome<()> {
        self.check_no_deadlock(movers)
    }
}
