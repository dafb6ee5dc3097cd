//! Typed ids: an index that remembers what it indexes.
//!
//! `Id<Process>` and `Id<Action>` are both a `u32` at run time, and cannot be confused at compile time. `IdVec<T>` is a
//! vector that is indexed by `Id<T>` only.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// The index of a `T` in its [`IdVec`].
pub struct Id<T> {
    raw: u32,
    what: PhantomData<fn() -> T>,
}

impl<T> Id<T> {
    /// The id with this index.
    ///
    /// # Panics
    /// If there are more than 2³² things, which front-ends refuse long before.
    pub fn new(index: usize) -> Self {
        let raw = u32::try_from(index).expect("front-ends refuse inputs with 2^32 parts");
        Id { raw, what: PhantomData }
    }

    /// The position in the vector.
    pub fn index(self) -> usize {
        self.raw as usize
    }
}

impl<T> Clone for Id<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Id<T> {}
impl<T> PartialEq for Id<T> {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}
impl<T> Eq for Id<T> {}
impl<T> PartialOrd for Id<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> Ord for Id<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.raw.cmp(&other.raw)
    }
}
impl<T> Hash for Id<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.raw.hash(state);
    }
}
impl<T> fmt::Debug for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.raw)
    }
}

/// A vector indexed by [`Id<T>`].
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct IdVec<T> {
    items: Vec<T>,
}

impl<T> IdVec<T> {
    /// An empty vector.
    pub fn new() -> Self {
        IdVec { items: Vec::new() }
    }

    /// Appends an item and returns its id.
    pub fn push(&mut self, item: T) -> Id<T> {
        let id = Id::new(self.items.len());
        self.items.push(item);
        id
    }

    /// The id that the next [`push`](Self::push) will return.
    pub fn next_id(&self) -> Id<T> {
        Id::new(self.items.len())
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is no item.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The item with this id, if there is one.
    pub fn get(&self, id: Id<T>) -> Option<&T> {
        self.items.get(id.index())
    }

    /// The items in order.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// The items in order, to change.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.items.iter_mut()
    }

    /// All ids in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = Id<T>> + ExactSizeIterator + use<T> {
        (0..self.items.len()).map(Id::new)
    }

    /// Ids with their items, in order.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = (Id<T>, &T)> + ExactSizeIterator {
        self.items.iter().enumerate().map(|(index, item)| (Id::new(index), item))
    }

    /// The items as a slice.
    pub fn as_slice(&self) -> &[T] {
        &self.items
    }
}

impl<T> Default for IdVec<T> {
    fn default() -> Self {
        Self::new()
    }
}
impl<T> Index<Id<T>> for IdVec<T> {
    type Output = T;
    fn index(&self, id: Id<T>) -> &T {
        &self.items[id.index()]
    }
}
impl<T> IndexMut<Id<T>> for IdVec<T> {
    fn index_mut(&mut self, id: Id<T>) -> &mut T {
        &mut self.items[id.index()]
    }
}
impl<T> FromIterator<T> for IdVec<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        IdVec { items: items.into_iter().collect() }
    }
}
impl<'a, T> IntoIterator for &'a IdVec<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}
impl<T: fmt::Debug> fmt::Debug for IdVec<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.items).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn push_returns_the_id_of_the_item() {
        let mut names: IdVec<String> = IdVec::new();
        let a = names.push("a".into());
        let b = names.push("b".into());
        assert_eq!((names[a].as_str(), names[b].as_str()), ("a", "b"));
        assert_eq!(names.ids().collect::<Vec<_>>(), vec![a, b]);
        assert_eq!(names.next_id().index(), 2);
    }
}
