//! Tables of view states, and their join.
//!
//! A table is a set of rows of numbers under headings. Two tables are joined on the headings that both have; what is not
//! needed any more is dropped at once, so that a join over many processes stays as narrow as what they share.

use std::hash::{BuildHasher, Hasher};

use base::Budget;
use evidence::certificate::Column;
use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHasher};

use crate::certificate::Outcome;

/// What a number in a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::certificate) enum Heading {
    /// A part of a view state.
    Column(Column),
    /// What the row is about; no part of a state.
    Tag,
}

/// A set of rows.
#[derive(Clone, Debug, Default)]
pub(in crate::certificate) struct Table {
    headings: Vec<Heading>,
    /// Row after row.
    numbers: Vec<u32>,
    n_rows: usize,
    /// The positions of the rows, by their hash.
    index: HashTable<u32>,
}

/// Counts work, and asks the budget now and then.
pub(in crate::certificate) struct Meter<'a> {
    budget: &'a Budget,
    n_steps: u32,
    /// What the tables that are kept take, in bytes.
    pub kept_bytes: u64,
}

impl<'a> Meter<'a> {
    /// A meter of the budget.
    pub fn new(budget: &'a Budget) -> Self {
        Meter { budget, n_steps: 0, kept_bytes: 0 }
    }

    /// One small step of work on a table that takes so many bytes.
    pub fn step(&mut self, bytes: u64) -> Outcome<()> {
        self.n_steps = self.n_steps.wrapping_add(1);
        if self.n_steps.is_multiple_of(4096) {
            self.budget.check(self.kept_bytes + bytes)?;
        }
        Ok(())
    }
}

impl Table {
    /// A table without rows.
    pub fn new(headings: Vec<Heading>) -> Self {
        Table { headings, ..Table::default() }
    }

    /// The table of all states, with one empty row.
    pub fn unit() -> Self {
        let mut unit = Table::default();
        unit.insert(&[]);
        unit
    }

    /// What the numbers of a row are.
    pub fn headings(&self) -> &[Heading] {
        &self.headings
    }

    /// The columns among the headings, with the position of each.
    pub fn columns(&self) -> impl Iterator<Item = (usize, Column)> {
        self.headings.iter().enumerate().filter_map(|(at, heading)| match heading {
            Heading::Column(column) => Some((at, *column)),
            Heading::Tag => None,
        })
    }

    /// The position of a heading.
    pub fn position(&self, heading: Heading) -> Option<usize> {
        self.headings.iter().position(|one| *one == heading)
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.n_rows
    }

    /// What the table takes, about.
    pub fn bytes(&self) -> u64 {
        (self.numbers.capacity() * 4 + self.index.capacity() * 5) as u64
    }

    /// A row.
    pub fn row(&self, at: usize) -> &[u32] {
        let width = self.headings.len();
        &self.numbers[at * width..(at + 1) * width]
    }

    /// The rows in the order in which they came.
    pub fn rows(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.n_rows).map(|at| self.row(at))
    }

    /// Whether there is such a row.
    pub fn contains(&self, row: &[u32]) -> bool {
        self.index.find(hash(row), |&at| self.row(at as usize) == row).is_some()
    }

    /// Adds a row; whether it is new.
    pub fn insert(&mut self, row: &[u32]) -> bool {
        debug_assert_eq!(row.len(), self.headings.len());
        if self.contains(row) {
            return false;
        }
        self.numbers.extend_from_slice(row);
        self.n_rows += 1;
        let (numbers, width) = (&self.numbers, self.headings.len());
        let hash_at = |&at: &u32| hash(&numbers[at as usize * width..(at as usize + 1) * width]);
        self.index.insert_unique(hash(row), self.n_rows as u32 - 1, hash_at);
        true
    }

    /// The headings of a join that are wanted: first those of this table.
    fn joined_headings(&self, other: &Table, wanted: impl Fn(Heading) -> bool) -> Vec<Heading> {
        let new = other.headings.iter().filter(|heading| !self.headings.contains(heading));
        self.headings.iter().chain(new).copied().filter(|&heading| wanted(heading)).collect()
    }

    /// The rows of the join, with the wanted headings only.
    pub fn join(&self, other: &Table, wanted: impl Fn(Heading) -> bool, meter: &mut Meter<'_>) -> Outcome<Table> {
        let mut joined = Table::new(self.joined_headings(other, wanted));
        let headings = joined.headings.clone();
        self.for_each_joined(other, &headings, |row| {
            joined.insert(row);
            meter.step(joined.bytes())
        })?;
        Ok(joined)
    }

    /// Shows each row of the join under the given headings; a row may be shown several times.
    pub fn for_each_joined(
        &self,
        other: &Table,
        headings: &[Heading],
        mut show: impl FnMut(&[u32]) -> Outcome<()>,
    ) -> Outcome<()> {
        // The smaller side is indexed, the larger one looked up.
        let (small, large) = if self.len() <= other.len() { (self, other) } else { (other, self) };
        let common: Vec<Heading> =
            small.headings.iter().copied().filter(|heading| large.headings.contains(heading)).collect();
        let key_of = |table: &Table| -> Vec<usize> {
            let position = |heading: &Heading| table.position(*heading).expect("the heading is common");
            common.iter().map(position).collect()
        };
        let (small_key, large_key) = (key_of(small), key_of(large));
        let groups = Groups::new(small, &small_key);
        // From which side, and where there, each number comes. Those that come first are mostly all numbers of the larger side, in their order.
        let sources: Vec<(bool, usize)> = headings
            .iter()
            .map(|&heading| match large.position(heading) {
                Some(position) => (true, position),
                None => (false, small.position(heading).expect("a wanted heading is in one of the tables")),
            })
            .collect();
        let n_copied = sources.iter().enumerate().take_while(|(at, source)| **source == (true, *at)).count();
        let mut shown = vec![0; headings.len()];
        for large_row in large.rows() {
            let mut next = groups.first(large_row, &large_key);
            while let Some(at) = next {
                let small_row = small.row(at as usize);
                shown[..n_copied].copy_from_slice(&large_row[..n_copied]);
                for (number, &(from_large, position)) in shown.iter_mut().zip(&sources).skip(n_copied) {
                    *number = if from_large { large_row[position] } else { small_row[position] };
                }
                show(&shown)?;
                next = groups.after(at);
            }
        }
        Ok(())
    }
}

/// The rows of a table by what they have at some positions.
struct Groups<'t> {
    table: &'t Table,
    key: &'t [usize],
    /// The first row of each group, by the hash of its key.
    firsts: HashTable<u32>,
    /// For each row the next one of its group, or itself where there is none.
    nexts: Vec<u32>,
}

impl<'t> Groups<'t> {
    fn new(table: &'t Table, key: &'t [usize]) -> Self {
        let mut groups = Groups { table, key, firsts: HashTable::new(), nexts: Vec::with_capacity(table.len()) };
        // The last one first, so that each group is in the order of the rows.
        groups.nexts.extend(0..table.len() as u32);
        for at in (0..table.len() as u32).rev() {
            let row = table.row(at as usize);
            let is_same = |&first: &u32| has_same(table.row(first as usize), key, row, key);
            match groups.firsts.find_mut(hash_at(row, key), is_same) {
                Some(first) => groups.nexts[at as usize] = std::mem::replace(first, at),
                None => {
                    let hash_of = |&first: &u32| hash_at(table.row(first as usize), key);
                    groups.firsts.insert_unique(hash_at(row, key), at, hash_of);
                }
            }
        }
        groups
    }

    /// The first row that has at the key what another has at these positions.
    fn first(&self, row: &[u32], positions: &[usize]) -> Option<u32> {
        let is_same = |&first: &u32| has_same(self.table.row(first as usize), self.key, row, positions);
        self.firsts.find(hash_at(row, positions), is_same).copied()
    }

    /// The row of the same group after one.
    fn after(&self, at: u32) -> Option<u32> {
        Some(self.nexts[at as usize]).filter(|&next| next != at)
    }
}

/// Whether two rows have the same numbers at these positions.
fn has_same(one: &[u32], at: &[usize], other: &[u32], there: &[usize]) -> bool {
    at.iter().zip(there).all(|(&at, &there)| one[at] == other[there])
}

fn hash_at(row: &[u32], positions: &[usize]) -> u64 {
    let mut hasher: FxHasher = FxBuildHasher.build_hasher();
    let (pairs, rest) = positions.as_chunks::<2>();
    pairs.iter().for_each(|&[one, other]| hasher.write_u64(u64::from(row[one]) << 32 | u64::from(row[other])));
    rest.iter().for_each(|&one| hasher.write_u32(row[one]));
    hasher.finish()
}

fn hash(row: &[u32]) -> u64 {
    let mut hasher: FxHasher = FxBuildHasher.build_hasher();
    let (pairs, rest) = row.as_chunks::<2>();
    pairs.iter().for_each(|&[one, other]| hasher.write_u64(u64::from(one) << 32 | u64::from(other)));
    rest.iter().for_each(|&one| hasher.write_u32(one));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::variable::CellId;

    fn table(cells: &[usize], rows: &[&[u32]]) -> Table {
        let headings = cells.iter().map(|&cell| Heading::Column(Column::Cell(CellId::new(cell)))).collect();
        let mut table = Table::new(headings);
        rows.iter().for_each(|row| {
            table.insert(row);
        });
        table
    }

    #[test]
    fn tables_are_joined_on_what_they_share() {
        let budget = Budget::unlimited();
        let (left, right) = (table(&[0, 1], &[&[0, 7], &[1, 8]]), table(&[1, 2], &[&[7, 5], &[7, 6], &[9, 4]]));
        for (one, other) in [(&left, &right), (&right, &left)] {
            let all = one.join(other, |_| true, &mut Meter::new(&budget)).unwrap();
            let mut rows: Vec<Vec<u32>> = all
                .rows()
                .map(|row| {
                    let mut row = row.to_vec();
                    row.sort_unstable();
                    row
                })
                .collect();
            rows.sort_unstable();
            assert_eq!(rows, [[0, 5, 7], [0, 6, 7]]);
            let only = |heading| heading == Heading::Column(Column::Cell(CellId::new(0)));
            assert_eq!(one.join(other, only, &mut Meter::new(&budget)).unwrap().rows().collect::<Vec<_>>(), [[0]]);
        }
        let apart = left.join(&table(&[3], &[&[1], &[2]]), |_| true, &mut Meter::new(&budget)).unwrap();
        assert_eq!(apart.len(), 4);
        assert_eq!(Table::unit().join(&left, |_| true, &mut Meter::new(&budget)).unwrap().len(), 2);
        assert_eq!(Table::new(vec![]).join(&left, |_| true, &mut Meter::new(&budget)).unwrap().len(), 0);
    }

    #[test]
    fn a_join_is_what_trying_all_pairs_finds() {
        let budget = Budget::unlimited();
        let mut seed = 1_u32;
        let mut below = |n: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 16) % n
        };
        for _ in 0..200 {
            let mut random = |cells: &[usize]| {
                let n_rows = below(9);
                let rows: Vec<Vec<u32>> = (0..n_rows).map(|_| cells.iter().map(|_| below(3)).collect()).collect();
                table(cells, &rows.iter().map(Vec::as_slice).collect::<Vec<_>>())
            };
            let (one, other) = (random(&[0, 1, 2, 4]), random(&[2, 3, 0]));
            let mut tried: Vec<Vec<u32>> = Vec::new();
            for a in one.rows() {
                let pairs = other.rows().filter(|b| (a[0], a[2]) == (b[2], b[0]));
                tried.extend(pairs.map(|b| vec![a[0], a[1], a[2], b[1], a[3]]));
            }
            tried.sort_unstable();
            let headings: Vec<Heading> = (0..5).map(|cell| Heading::Column(Column::Cell(CellId::new(cell)))).collect();
            let mut joined = Vec::new();
            one.for_each_joined(&other, &headings, |row| {
                joined.push(row.to_vec());
                Ok(())
            })
            .unwrap();
            joined.sort_unstable();
            assert_eq!(joined, tried);
            let n_joined = other.join(&one, |_| true, &mut Meter::new(&budget)).unwrap().len();
            assert_eq!(n_joined, tried.len());
        }
    }
}
