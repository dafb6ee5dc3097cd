//! Tables of view states, and their join.
//!
//! A table is a set of rows of numbers under headings. Two tables are joined on the headings that both have; what is not
//! needed any more is dropped at once, so that a join over many processes stays as narrow as what they share.

use std::hash::{BuildHasher, Hasher};

use base::Budget;
use evidence::certificate::Column;
use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHasher};

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
        let mut groups: FxHashMap<Vec<u32>, Vec<u32>> = FxHashMap::default();
        for (at, row) in small.rows().enumerate() {
            let key = small_key.iter().map(|&position| row[position]).collect();
            groups.entry(key).or_default().push(at as u32);
        }
        // From which side, and where there, each number comes.
        let sources: Vec<(bool, usize)> = headings
            .iter()
            .map(|&heading| match large.position(heading) {
                Some(position) => (true, position),
                None => (false, small.position(heading).expect("a wanted heading is in one of the tables")),
            })
            .collect();
        let mut key = Vec::with_capacity(large_key.len());
        let mut shown = vec![0; headings.len()];
        for large_row in large.rows() {
            key.clear();
            key.extend(large_key.iter().map(|&position| large_row[position]));
            let Some(group) = groups.get(&key) else { continue };
            for &at in group {
                let small_row = small.row(at as usize);
                for (number, &(from_large, position)) in shown.iter_mut().zip(&sources) {
                    *number = if from_large { large_row[position] } else { small_row[position] };
                }
                show(&shown)?;
            }
        }
        Ok(())
    }
}

fn hash(row: &[u32]) -> u64 {
    let mut hasher: FxHasher = FxBuildHasher.build_hasher();
    row.iter().for_each(|&number| hasher.write_u32(number));
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
}
