//! Obligations discharged by listing view states, every step taken by `eval`.
//!
//! In: a split invariant of the right shape, small enough to be explicit. Each member becomes a [`Table`]; what its processes
//! expose is recomputed and added to it, and rows that contradict themselves are of no state and are left out.
//! Combinations of values are joins of tables; they are walked through, not stored, wherever one pass is enough.

pub(super) mod implication;
pub(super) mod stepper;
pub(super) mod table;

use std::rc::Rc;

use base::Budget;
use evidence::certificate::{Column, StateSet};
use model::Model;
use model::eval::Move;
use model::process::ProcessId;
use model::variable::VarId;
use rustc_hash::{FxHashMap, FxHashSet};

use self::stepper::{Stepper, View};
use self::table::{Heading, Meter, Table};
use super::claimed::{Claimed, Image, n_bits, names, subsets};
use super::clause::{Clause, Mentions};
use super::initial::{Factor, factors};
use super::movers::{Movers, union};
use super::obligations::{Discharge, not_invariant};
use super::relative::{Relative, Shown};
use super::symmetry::Permutation;
use super::{Outcome, words};

/// The view states of a split invariant, explicit.
pub(super) struct Listing<'a> {
    claimed: &'a Claimed<'a>,
    /// What earlier facts exclude: nothing needs to be kept or follow there.
    relative: &'a Relative<'a>,
    /// The members' view states, as far as they were asked for.
    tables: FxHashMap<Vec<ProcessId>, Rc<Table>>,
    stepper: Stepper<'a>,
    /// What movers do from the combinations of values for some processes, as far as it was asked for.
    effects: FxHashMap<(Movers, Vec<ProcessId>), Rc<Effects>>,
    meter: Meter<'a>,
}

/// What movers do from the combinations of values for some processes.
struct Effects {
    /// The combinations.
    from: Rc<Table>,
    /// The steps that change something: the row that each starts from, the number of its changes, and its movers.
    steps: Vec<(u32, u32, Move)>,
    /// The changes, each once.
    changes: Vec<Vec<(Column, u32)>>,
    /// All columns that are changed.
    changed: FxHashSet<Column>,
}

impl<'a> Listing<'a> {
    /// The view states of the invariant, not yet enumerated.
    pub fn new(claimed: &'a Claimed<'a>, relative: &'a Relative<'a>, budget: &'a Budget) -> Self {
        let (tables, effects) = (FxHashMap::default(), FxHashMap::default());
        Listing { claimed, relative, tables, stepper: Stepper::new(claimed), effects, meter: Meter::new(budget) }
    }

    /// The view states of a member.
    fn table(&mut self, processes: &[ProcessId]) -> Outcome<Rc<Table>> {
        if let Some(table) = self.tables.get(processes) {
            return Ok(table.clone());
        }
        let table = Rc::new(list(self.claimed, processes, &self.claimed.member(processes), &mut self.meter)?);
        self.meter.kept_bytes += table.bytes();
        self.tables.insert(processes.to_vec(), table.clone());
        Ok(table)
    }

    /// Whether earlier facts say that no reachable state shows a row of these columns.
    fn is_excluded(&self, columns: &FxHashMap<Column, usize>, row: &[u32]) -> bool {
        let shown = |column: Column| columns.get(&column).map(|&at| row[at]);
        self.relative.excludes(&Shown { numbering: &self.claimed.numbering, columns: &shown })
    }

    fn model(&self) -> &'a Model {
        self.claimed.model()
    }

    /// The members whose processes are all among these.
    fn tables_within(&mut self, processes: &[ProcessId]) -> Outcome<Vec<Rc<Table>>> {
        subsets(processes, self.claimed.k).map(|set| self.table(&set)).collect()
    }

    /// All combinations of values for the processes, with the wanted columns only.
    fn combinations(&mut self, processes: &[ProcessId], wanted: impl Fn(Column) -> bool) -> Outcome<Rc<Table>> {
        let tables = self.tables_within(processes)?;
        if let [only] = tables.as_slice()
            && only.columns().all(|(_, column)| wanted(column))
        {
            return Ok(only.clone());
        }
        Ok(Rc::new(self.join(&tables, wanted)?))
    }

    /// The join of the tables, with the wanted columns only.
    fn join(&mut self, tables: &[Rc<Table>], wanted: impl Fn(Column) -> bool) -> Outcome<Table> {
        let mut joined = Table::unit();
        for (at, table) in tables.iter().enumerate() {
            let later = &tables[at + 1..];
            let keep = |heading: Heading| match heading {
                Heading::Column(column) => {
                    wanted(column) || later.iter().any(|table| table.position(heading).is_some())
                }
                Heading::Tag => true,
            };
            joined = joined.join(table, keep, &mut self.meter)?;
        }
        Ok(joined)
    }

    /// What the movers do, from the combinations of values for the processes, which the movers are among.
    fn effects(&mut self, movers: Movers, processes: &[ProcessId]) -> Outcome<Rc<Effects>> {
        let key = (movers, processes.to_vec());
        if let Some(effects) = self.effects.get(&key) {
            return Ok(effects.clone());
        }
        let from = self.combinations(processes, |_| true)?;
        let columns = positions(&from);
        let mut effects = Effects { from: from.clone(), steps: vec![], changes: vec![], changed: FxHashSet::default() };
        let mut numbers: FxHashMap<Vec<(Column, u32)>, u32> = FxHashMap::default();
        for (at, row) in from.rows().enumerate() {
            self.meter.step(0)?;
            let view = View { columns: &columns, row };
            let attempts = self.stepper.attempts(movers, view)?;
            for stepped in &attempts.steps {
                let changes = self.stepper.changes(stepped, view).or_else(|what| {
                    let obligation = format!(
                        "steps of {} have to stay within what is listed",
                        names(self.model(), &movers.processes())
                    );
                    let step = words::step(&self.claimed.numbering, &stepped.by);
                    words::refused(obligation, format!("{step} from {} {what}", self.stepper.show(view)))
                })?;
                if changes.is_empty() {
                    continue;
                }
                effects.changed.extend(changes.iter().map(|(column, _)| *column));
                let number = *numbers.entry(changes).or_insert_with_key(|changes| {
                    effects.changes.push(changes.clone());
                    effects.changes.len() as u32 - 1
                });
                effects.steps.push((at as u32, number, stepped.by.clone()));
            }
        }
        self.meter.kept_bytes += effects.steps.capacity() as u64 * size_of::<(u32, u32, Move)>() as u64;
        let effects = Rc::new(effects);
        self.effects.insert(key, effects.clone());
        Ok(effects)
    }

    fn not_kept<T>(&self, member: &[ProcessId], by: &Move, before: &[u32], after: &[u32]) -> Outcome<T> {
        let columns: Vec<Column> = self.tables[member].columns().map(|(_, column)| column).collect();
        let numbering = &self.claimed.numbering;
        let (names, step) = (names(self.model(), member), words::step(numbering, by));
        let (before, after) = (words::view(numbering, &columns, before), words::view(numbering, &columns, after));
        words::refused(
            format!("every step has to keep the invariant of {names}"),
            format!("{step} leads from {before} to {after}, which is not in it"),
        )
    }
}

impl Discharge for Listing<'_> {
    fn invariance(&mut self, member: &[ProcessId], exchange: &Permutation) -> Outcome<()> {
        let table = self.table(member)?;
        let image = list(self.claimed, member, &self.claimed.image(member, exchange), &mut self.meter)?;
        let sources: Option<Vec<usize>> = table.headings().iter().map(|&heading| image.position(heading)).collect();
        let same = sources.is_some_and(|sources| {
            let mut row = Vec::new();
            image.headings().len() == table.headings().len()
                && image.rows().all(|listed| {
                    row.clear();
                    row.extend(sources.iter().map(|&at| listed[at]));
                    table.contains(&row)
                })
        });
        if same { Ok(()) } else { not_invariant(self.model(), member) }
    }

    fn initiality(&mut self, member: &[ProcessId]) -> Outcome<()> {
        let table = self.table(member)?;
        let columns: Vec<Column> = table.columns().map(|(_, column)| column).collect();
        let model = self.model();
        let obligation = || format!("the invariant of {} has to contain every initial state", names(model, member));
        let factors = factors(&self.claimed.numbering, &columns).or_else(|what| words::refused(obligation(), what))?;
        let mut row = vec![0; columns.len()];
        if !contains_product(&table, &factors, &mut row, &mut self.meter)? {
            let start = words::view(&self.claimed.numbering, &columns, &row);
            return words::refused(obligation(), format!("the program can start in {start}, which is not in it"));
        }
        Ok(())
    }

    fn induction(&mut self, member: &[ProcessId], movers: Movers) -> Outcome<()> {
        let k = self.claimed.k;
        let moving = movers.processes();
        let rest = member.iter().copied().filter(|process| !moving.contains(process));
        let base: Vec<ProcessId> = rest.take(k.saturating_sub(moving.len())).collect();
        let base = union(&moving, &base);
        let everybody = union(member, &moving);
        let effects = self.effects(movers, &base)?;
        let table = self.table(member)?;
        if !table.columns().any(|(_, column)| effects.changed.contains(&column)) {
            return Ok(());
        }
        let beside = subsets(&everybody, k).filter(|set| !set.iter().all(|one| base.contains(one)));
        let within: Vec<Rc<Table>> = beside.map(|set| self.table(&set)).collect::<Outcome<_>>()?;
        let seeds = seeds(&effects, &table, &within, &mut self.meter)?;
        self.check_seeds(member, &effects, seeds, &within)
    }

    fn clause(&mut self, clause: &Clause<'_>, mentions: &Mentions, concerned: &[ProcessId]) -> Outcome<()> {
        self.check_clause(clause, mentions, concerned)
    }

    fn no_fault(&mut self, movers: Movers, concerned: &[ProcessId]) -> Outcome<()> {
        self.check_no_fault(movers, concerned)
    }

    fn no_race(&mut self, var: VarId, contenders: [Movers; 2], concerned: &[ProcessId]) -> Outcome<()> {
        self.check_no_race(var, contenders, concerned)
    }

    fn no_deadlock(&mut self, movers: &[Movers], members: &[Vec<ProcessId>]) -> Outcome<()> {
        self.check_no_deadlock(movers, members)
    }
}

impl Listing<'_> {
    /// Joins what the movers do with the members beside them, the one to be kept last, and looks each successor up in it.
    fn check_seeds(
        &mut self,
        member: &[ProcessId],
        effects: &Effects,
        seeds: Table,
        beside: &[Rc<Table>],
    ) -> Outcome<()> {
        let table = self.table(member)?;
        let is_member = |other: &Rc<Table>| Rc::ptr_eq(other, &table);
        let mut joined = seeds;
        let others: Vec<&Rc<Table>> = beside.iter().filter(|other| !is_member(other)).collect();
        for (at, other) in others.iter().enumerate() {
            let needed = |heading: Heading| {
                let later = others[at + 1..].iter().any(|other| other.position(heading).is_some());
                heading == Heading::Tag || later || table.position(heading).is_some()
            };
            joined = joined.join(other, needed, &mut self.meter)?;
        }
        let columns = positions(&table);
        let mut headings = table.headings().to_vec();
        headings.push(Heading::Tag);
        let own = if beside.iter().any(is_member) { table.clone() } else { Rc::new(Table::unit()) };
        let mut after = Vec::new();
        let mut wrong = None;
        let (relative, numbering) = (self.relative, &self.claimed.numbering);
        let is_excluded = |row: &[u32]| {
            let shown = |column: Column| columns.get(&column).map(|&at| row[at]);
            relative.excludes(&Shown { numbering, columns: &shown })
        };
        let meter = &mut self.meter;
        // By tag what changes in the member.
        let mut changes: FxHashMap<u32, Vec<(usize, u32)>> = FxHashMap::default();
        joined.for_each_joined(&own, &headings, |row| {
            meter.step(0)?;
            let (&tag, before) = row.split_last().expect("the last heading is the tag");
            after.clear();
            after.extend_from_slice(before);
            let changes = changes.entry(tag).or_insert_with(|| {
                let all = &effects.changes[effects.steps[tag as usize].1 as usize];
                all.iter().filter_map(|(column, number)| Some((*columns.get(column)?, *number))).collect()
            });
            changes.iter().for_each(|&(at, number)| after[at] = number);
            if wrong.is_none() && !table.contains(&after) && !is_excluded(&after) {
                wrong = Some((tag, before.to_vec(), after.clone()));
            }
            Ok(())
        })?;
        match wrong {
            None => Ok(()),
            Some((tag, before, after)) => self.not_kept(member, &effects.steps[tag as usize].2, &before, &after),
        }
    }
}

/// What movers do, as far as the member can see it: the columns that it or the tables beside have, and as tag one of the steps
/// with the same changes in the member's columns.
fn seeds(effects: &Effects, member: &Table, beside: &[Rc<Table>], meter: &mut Meter<'_>) -> Outcome<Table> {
    let from = &effects.from;
    let needed = |heading: Heading| {
        member.position(heading).is_some() || beside.iter().any(|table| table.position(heading).is_some())
    };
    let kept: Vec<usize> = (0..from.headings().len()).filter(|&at| needed(from.headings()[at])).collect();
    let headings = kept.iter().map(|&at| from.headings()[at]).chain([Heading::Tag]).collect();
    let mut seeds = Table::new(headings);
    // Changes with the same projection to the member get the number of the first of them.
    let mut alike: FxHashMap<Vec<(Column, u32)>, u32> = FxHashMap::default();
    let seen = |changes: &Vec<(Column, u32)>| -> Vec<(Column, u32)> {
        let visible = |(column, _): &&(Column, u32)| member.position(Heading::Column(*column)).is_some();
        changes.iter().filter(visible).copied().collect()
    };
    let seen: Vec<Vec<(Column, u32)>> = effects.changes.iter().map(seen).collect();
    let mut row = Vec::new();
    for (step, &(at, changes, _)) in effects.steps.iter().enumerate() {
        meter.step(0)?;
        let seen = &seen[changes as usize];
        if seen.is_empty() {
            continue;
        }
        let tag = *alike.entry(seen.clone()).or_insert(step as u32);
        row.clear();
        row.extend(kept.iter().map(|&position| from.row(at as usize)[position]));
        row.push(tag);
        seeds.insert(&row);
    }
    Ok(seeds)
}

/// The position of each column of a table.
fn positions(table: &Table) -> FxHashMap<Column, usize> {
    table.columns().map(|(at, column)| (column, at)).collect()
}

/// The view states of a member as a table: with what its processes expose, without rows that contradict themselves.
fn list(claimed: &Claimed<'_>, processes: &[ProcessId], member: &Image<'_>, meter: &mut Meter<'_>) -> Outcome<Table> {
    let numbering = &claimed.numbering;
    let own = processes.iter().copied().filter(|&process| numbering.is_exposed(process));
    let exposed: Vec<ProcessId> = own.collect();
    let mut columns = member.columns.clone();
    columns.extend(
        exposed.iter().map(|&process| Column::Exposed(process)).filter(|column| !member.columns.contains(column)),
    );
    let mut table = Table::new(columns.iter().copied().map(Heading::Column).collect());
    let position =
        |column: Column| columns.iter().position(|one| *one == column).expect("a member has its own columns");
    let mut row = vec![0; columns.len()];
    for_each_state(claimed, member, &mut |listed| {
        row[..listed.len()].copy_from_slice(listed);
        for &process in &exposed {
            let point = row[position(Column::Control(process))];
            let block = numbering.block_at(process, point, |cell| row[position(Column::Cell(cell))]);
            let at = position(Column::Exposed(process));
            match block {
                Some(block) if at >= listed.len() || row[at] == block => row[at] = block,
                _ => return meter.step(table.bytes()),
            }
        }
        table.insert(&row);
        meter.step(table.bytes())
    })?;
    Ok(table)
}

/// Shows each view state of a member; numbers beyond a column's range have no meaning and are left out.
fn for_each_state(
    claimed: &Claimed<'_>,
    member: &Image<'_>,
    show: &mut dyn FnMut(&[u32]) -> Outcome<()>,
) -> Outcome<()> {
    let mut renumbered = Vec::new();
    let mut show = |row: &[u32]| {
        renumbered.clear();
        let numbers = row.iter().zip(&member.renumbering);
        renumbered.extend(numbers.map(|(&number, new)| new.as_ref().map_or(number, |new| new[number as usize])));
        show(&renumbered)
    };
    match member.states {
        StateSet::Rows(rows) => rows.iter().try_for_each(|row| show(row)),
        StateSet::Diagram { order, nodes } => {
            let sizes: Vec<u128> = member.columns.iter().map(|&column| claimed.numbering.n_values(column)).collect();
            let root = if nodes.is_empty() { 1 } else { nodes.len() as u32 + 1 };
            let mut walk = Walk { order, nodes, sizes: &sizes, row: vec![0; sizes.len()] };
            walk.from(root, 0, &mut show)
        }
    }
}

/// A walk through all states of a diagram.
struct Walk<'d> {
    order: &'d [(usize, u32)],
    nodes: &'d [(u32, u32, u32)],
    sizes: &'d [u128],
    /// The numbers of the bits fixed so far.
    row: Vec<u32>,
}

impl Walk<'_> {
    fn from(&mut self, node: u32, level: usize, show: &mut dyn FnMut(&[u32]) -> Outcome<()>) -> Outcome<()> {
        if node == 0 {
            return Ok(());
        }
        let Some(&(column, bit)) = self.order.get(level) else {
            let valid = self.row.iter().zip(self.sizes).all(|(&number, &size)| u128::from(number) < size);
            return if valid { show(&self.row.clone()) } else { Ok(()) };
        };
        let here = node.checked_sub(2).map(|at| self.nodes[at as usize]).filter(|node| node.0 as usize == level);
        let (low, high) = here.map_or((node, node), |(_, low, high)| (low, high));
        let weight = 1_u32 << (n_bits(self.sizes[column]) - 1 - bit);
        self.from(low, level + 1, show)?;
        self.row[column] += weight;
        self.from(high, level + 1, show)?;
        self.row[column] -= weight;
        Ok(())
    }
}

/// Whether the table has every row of the product; otherwise one that it has not is left in `row`.
fn contains_product(table: &Table, factors: &[Factor], row: &mut [u32], meter: &mut Meter<'_>) -> Outcome<bool> {
    let Some((factor, rest)) = factors.split_first() else {
        meter.step(0)?;
        return Ok(table.contains(row));
    };
    for numbers in &factor.rows {
        for (&position, &number) in factor.positions.iter().zip(numbers) {
            row[position] = number;
        }
        if !contains_product(table, rest, row, meter)? {
            return Ok(false);
        }
    }
    Ok(true)
}
