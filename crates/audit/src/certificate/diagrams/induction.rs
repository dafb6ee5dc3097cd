//! Step and non-interference on diagrams.
//!
//! In: a member, and movers at their control points. A change `c` with guard `g` keeps the member `theta` if `theta & g` lies
//! within `theta` with `c` put in; `g` is first projected to what the member and those beside it can see, and changes that
//! look alike to them are taken together. What movers do looks the same to many members, so it is kept.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use biodivine_lib_bdd::Bdd;
use evidence::certificate::Column;
use model::eval::Link;
use model::process::ProcessId;

use super::step::{Command, Commands};
use super::{Diagrams, Drawn, controls};
use crate::certificate::claimed::{column_name, names, subsets};
use crate::certificate::movers::{Movers, union};
use crate::certificate::{Outcome, words};

/// Movers at their control points, among processes of whose values there are combinations.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Source {
    pub movers: Movers,
    pub points: Vec<u32>,
    pub base: Vec<ProcessId>,
}

/// What is shown of a change: the columns of the state before, and those of the state after.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct ChangeColumns {
    before: BTreeSet<Column>,
    after: BTreeSet<Column>,
}

/// A change as a member sees it, with the states (of the movers and those around them) in which it can happen.
pub(super) struct Change {
    numbers: Vec<(Column, u64)>,
    /// The columns whose new numbers are in the guard.
    carried: Vec<Column>,
    guard: Bdd,
    by: Link,
}

impl Diagrams<'_> {
    /// Refuses a step that touches what the processes, in these states, are not said to see.
    fn check_view(&self, movers: Movers, from: &Drawn, fixed: &[(Column, u64)], commands: &Commands) -> Outcome<()> {
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

    /// The combinations of values for the processes around the movers; the views are checked to have what the movers touch.
    fn source(&mut self, source: &Source) -> Outcome<Rc<Drawn>> {
        if let Some(from) = self.sources.get(source) {
            return Ok(from.clone());
        }
        let fixed = controls(&source.movers.processes(), &source.points);
        let within = self.within(&source.base, &fixed)?;
        let from = self.join(self.everything(), &within, |_| true)?;
        let commands = self.commands(source.movers, &source.points)?;
        self.check_view(source.movers, &from, &fixed, &commands)?;
        let from = Rc::new(from);
        self.sources.insert(source.clone(), from.clone());
        Ok(from)
    }

    /// The changes that the movers make, as far as they are shown.
    fn changes(&mut self, source: &Source, shown: ChangeColumns) -> Outcome<Rc<Vec<Change>>> {
        let key = (source.clone(), shown);
        if let Some(changes) = self.changes.get(&key) {
            return Ok(changes.clone());
        }
        let shown = &key.1;
        let from = self.source(source)?;
        let mut changes: Vec<Change> = Vec::new();
        type Shape = (Vec<(Column, u64)>, Vec<Column>);
        let mut alike: HashMap<Shape, usize> = HashMap::new();
        let commands = self.commands(source.movers, &source.points)?;
        for Command { by, guard, changes: changed, carried } in &commands.steps {
            let set = self.algebra.and(&from.set, guard)?;
            if set.is_false() {
                continue;
            }
            let numbers: Vec<(Column, u64)> = match changed {
                Ok(changed) => changed.iter().filter(|(column, _)| shown.after.contains(column)).copied().collect(),
                Err(what) => {
                    let movers = names(self.model(), &source.movers.processes());
                    let obligation = format!("steps of {movers} have to stay within what is listed");
                    let step = words::link(&self.claimed.numbering, *by);
                    let start = self.show(&Drawn { set, columns: from.columns.clone() }, &[]);
                    return words::refused(obligation, format!("{step} from {start} {what}"));
                }
            };
            let (carried, hidden): (Vec<Column>, Vec<Column>) =
                carried.iter().partition(|column| shown.after.contains(column));
            if numbers.is_empty() && carried.is_empty() {
                continue;
            }
            let before = Drawn { set, columns: from.columns.clone() };
            let guard = self.projected(before, |column| shown.before.contains(&column))?.set;
            let hidden: Vec<_> = hidden.iter().flat_map(|&column| self.variables.next(column)).copied().collect();
            let guard = self.algebra.exists(&guard, &hidden)?;
            match alike.get(&(numbers.clone(), carried.clone())) {
                Some(&at) => changes[at].guard = self.algebra.or(&changes[at].guard, &guard)?,
                None => {
                    alike.insert((numbers.clone(), carried.clone()), changes.len());
                    changes.push(Change { numbers, carried, guard, by: *by });
                }
            }
        }
        let changes = Rc::new(changes);
        self.changes.insert(key, changes.clone());
        Ok(changes)
    }

    /// Checks that the movers keep a member, from these points.
    pub(super) fn induction_at(&mut self, member: &[ProcessId], source: &Source) -> Outcome<()> {
        let fixed = controls(&source.movers.processes(), &source.points);
        let from = self.source(source)?;
        if from.set.is_false() {
            return Ok(());
        }
        let everybody = union(member, &source.movers.processes());
        let beside = subsets(&everybody, self.claimed.k).filter(|set| !set.iter().all(|one| source.base.contains(one)));
        let beside = beside.map(|set| self.member(&set).map(|drawn| self.fixed(&drawn, &fixed)));
        let beside: Vec<Drawn> = beside.collect::<Outcome<_>>()?;
        let theta = self.member(member)?;
        let is_needed = |column: &Column| {
            theta.columns.contains(column) || beside.iter().any(|drawn| drawn.columns.contains(column))
        };
        let before: BTreeSet<Column> = from.columns.iter().copied().filter(is_needed).collect();
        let changeable = from.columns.iter().copied().chain(fixed.iter().map(|(column, _)| *column));
        let after: BTreeSet<Column> = changeable.filter(|column| theta.columns.contains(column)).collect();
        for change in self.changes(source, ChangeColumns { before: before.clone(), after })?.iter() {
            let start = Drawn { set: change.guard.clone(), columns: before.clone() };
            let before = self.join(start, &beside, |column| theta.columns.contains(&column))?;
            let kept = self.variables.restricted(&theta.set, &change.numbers);
            let kept = self.variables.shifted(&kept, &change.carried, &self.algebra)?;
            if !self.algebra.within(&before.set, &kept)? {
                return self.not_kept((member, &theta), change, (before, &fixed), &kept);
            }
        }
        Ok(())
    }

    fn not_kept(
        &self,
        (member, theta): (&[ProcessId], &Drawn),
        change: &Change,
        (before, fixed): (Drawn, &[(Column, u64)]),
        kept: &Bdd,
    ) -> Outcome<()> {
        let numbering = &self.claimed.numbering;
        let wrong = Drawn { set: self.algebra.and_not(&before.set, kept)?, columns: before.columns };
        let columns: Vec<Column> = theta.columns.iter().copied().collect();
        let row = self.witness(&wrong, fixed, &theta.columns);
        let valuation = wrong.set.sat_witness();
        let after: Vec<u64> = columns
            .iter()
            .zip(&row)
            .map(|(column, &number)| match &valuation {
                Some(valuation) if change.carried.contains(column) => self.variables.next_number(*column, valuation),
                _ => change.numbers.iter().find(|(changed, _)| changed == column).map_or(number, |(_, number)| *number),
            })
            .collect();
        let (names, step) = (names(self.model(), member), words::link(numbering, change.by));
        let (before, after) = (words::view(numbering, &columns, &row), words::view(numbering, &columns, &after));
        words::refused(
            format!("every step has to keep the invariant of {names}"),
            format!("{step} leads from {before} to {after}, which is not in it"),
        )
    }
}
