//! A set of view states, in the order in which they came.

use std::marker::PhantomData;

use base::Id;
use hashbrown::HashTable;

use packed::hash::hash;
use packed::packing::Packed;

/// View states of one group.
#[derive(Clone, Debug)]
pub struct Rows<const W: usize> {
    list: Vec<Packed<W>>,
    /// Positions in the list.
    index: HashTable<u32>,
}

impl<const W: usize> Default for Rows<W> {
    fn default() -> Self {
        Rows { list: Vec::new(), index: HashTable::new() }
    }
}

impl<const W: usize> Rows<W> {
    /// Adds a view state; whether it is new.
    pub fn insert(&mut self, row: Packed<W>) -> bool {
        self.number(row).1
    }

    /// Adds view states.
    pub fn extend<'r>(&mut self, rows: impl IntoIterator<Item = &'r Packed<W>>) {
        rows.into_iter().for_each(|row| {
            self.insert(*row);
        });
    }

    /// The position of a view state, which is added if need be; and whether it was.
    pub fn number(&mut self, row: Packed<W>) -> (u32, bool) {
        let list = &self.list;
        let entry = self.index.entry(hash(&row), |&at| list[at as usize] == row, |&at| hash(&list[at as usize]));
        match entry {
            hashbrown::hash_table::Entry::Occupied(known) => (*known.get(), false),
            hashbrown::hash_table::Entry::Vacant(free) => {
                let at = list.len() as u32;
                free.insert(at);
                self.list.push(row);
                (at, true)
            }
        }
    }

    /// The position of a view state, if it is there.
    pub fn position(&self, row: &Packed<W>) -> Option<u32> {
        self.index.find(hash(row), |&at| self.list[at as usize] == *row).copied()
    }

    /// Whether the view state is there.
    pub fn contains(&self, row: &Packed<W>) -> bool {
        self.position(row).is_some()
    }

    /// The view state at a position.
    pub fn row(&self, at: u32) -> &Packed<W> {
        &self.list[at as usize]
    }

    /// All of them, in the order in which they came.
    pub fn iter(&self) -> std::slice::Iter<'_, Packed<W>> {
        self.list.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// What they take.
    pub fn bytes(&self) -> u64 {
        (self.list.capacity() * size_of::<Packed<W>>() + self.index.capacity() * 5) as u64
    }
}

/// Rows of one kind, each with a number of that kind.
pub struct NumberedRows<const W: usize, K> {
    rows: Rows<W>,
    kind: PhantomData<fn() -> K>,
}

impl<const W: usize, K> Default for NumberedRows<W, K> {
    fn default() -> Self {
        NumberedRows { rows: Rows::default(), kind: PhantomData }
    }
}

impl<const W: usize, K> NumberedRows<W, K> {
    /// The number of a row, which is added if need be; and whether it was.
    pub fn number(&mut self, row: Packed<W>) -> (Id<K>, bool) {
        let (at, is_new) = self.rows.number(row);
        (Id::new(at as usize), is_new)
    }

    /// The number of a row, if it is there.
    pub fn position(&self, row: &Packed<W>) -> Option<Id<K>> {
        self.rows.position(row).map(|at| Id::new(at as usize))
    }

    /// The row with a number.
    pub fn row(&self, id: Id<K>) -> &Packed<W> {
        &self.rows.list[id.index()]
    }

    /// All of them, in the order of their numbers.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (Id<K>, &Packed<W>)> {
        self.rows.list.iter().enumerate().map(|(at, row)| (Id::new(at), row))
    }

    /// All numbers.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = Id<K>> + use<W, K> {
        (0..self.rows.len()).map(Id::new)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// What they take.
    pub fn bytes(&self) -> u64 {
        self.rows.bytes()
    }
}
