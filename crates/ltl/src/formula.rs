//! Formulas: shared nodes in a store, over atoms that are only numbers.
//!
//! A [`Formulas`] holds each formula once: equal formulas have equal ids, and the parts of a formula have smaller ids than the
//! formula. So work on formulas goes through ids in order, without recursion, and no depth of nesting is too much for it.
//! What an atom means is its owner's business; [`Atoms`] keeps names beside the numbers.

use base::{Id, IdVec};
use rustc_hash::FxHashMap;

/// An atom: something that is true or false at each point of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Atom {
    /// How people call it; any text.
    pub name: String,
}

/// The number of an atom.
pub type AtomId = Id<Atom>;

/// Atoms by number and by name.
#[derive(Clone, Debug, Default)]
pub struct Atoms {
    atoms: IdVec<Atom>,
    by_name: FxHashMap<String, AtomId>,
}

impl Atoms {
    /// No atoms yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The atom with this name; a new one if there is none.
    pub fn named(&mut self, name: &str) -> AtomId {
        if let Some(&id) = self.by_name.get(name) {
            return id;
        }
        let id = self.atoms.push(Atom { name: name.to_owned() });
        self.by_name.insert(name.to_owned(), id);
        id
    }

    /// The atom with this name, if there is one.
    pub fn find(&self, name: &str) -> Option<AtomId> {
        self.by_name.get(name).copied()
    }

    /// The name of an atom; a made-up one for an atom of another table.
    pub fn name(&self, atom: AtomId) -> std::borrow::Cow<'_, str> {
        match self.atoms.get(atom) {
            Some(atom) => atom.name.as_str().into(),
            None => format!("atom{}", atom.index()).into(),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.atoms.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.atoms.is_empty()
    }

    /// All atoms, in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = AtomId> + ExactSizeIterator + use<> {
        self.atoms.ids()
    }
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unary {
    /// `!f`
    Not,
    /// At the next point.
    Next,
    /// Now and for ever.
    Always,
    /// Now or later.
    Eventually,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Binary {
    /// `f => g`
    Implies,
    /// `f <=> g`
    Iff,
    /// One of them, not both.
    Xor,
    /// The right one comes, the left one holds until then.
    Until,
    /// The left one holds until the right one comes, or for ever.
    WeakUntil,
    /// The right one holds up to and including the point at which the left one comes, or for ever.
    Releases,
    /// As `Releases`, and the left one comes.
    StrongReleases,
    /// Always, the left one is followed by the right one, now or later.
    LeadsTo,
}

/// A formula: its operator and its parts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Formula {
    /// Always true.
    True,
    /// Never true.
    False,
    /// An atom.
    Atom(AtomId),
    /// An operator and its operand.
    Unary(Unary, FormulaId),
    /// An operator and its operands.
    Binary(Binary, FormulaId, FormulaId),
    /// All of them.
    And(Box<[FormulaId]>),
    /// Some of them.
    Or(Box<[FormulaId]>),
}

impl Formula {
    /// The parts, from the left.
    pub fn parts(&self) -> impl Iterator<Item = FormulaId> + '_ {
        let (few, many): ([Option<FormulaId>; 2], &[FormulaId]) = match self {
            Formula::True | Formula::False | Formula::Atom(_) => ([None; 2], &[]),
            Formula::Unary(_, part) => ([Some(*part), None], &[]),
            Formula::Binary(_, left, right) => ([Some(*left), Some(*right)], &[]),
            Formula::And(parts) | Formula::Or(parts) => ([None; 2], parts),
        };
        few.into_iter().flatten().chain(many.iter().copied())
    }
}

/// The number of a formula in its store.
pub type FormulaId = Id<Formula>;

/// A store of formulas.
#[derive(Clone, Debug)]
pub struct Formulas {
    nodes: IdVec<Formula>,
    ids: FxHashMap<Formula, FormulaId>,
}

impl Formulas {
    /// `true`, which every store holds.
    pub const TRUE: usize = 0;
    /// `false`, which every store holds.
    pub const FALSE: usize = 1;

    /// A store with `true` and `false`.
    pub fn new() -> Self {
        let mut store = Formulas { nodes: IdVec::new(), ids: FxHashMap::default() };
        store.add(Formula::True);
        store.add(Formula::False);
        store
    }

    /// The formula with this id.
    pub fn get(&self, id: FormulaId) -> &Formula {
        &self.nodes[id]
    }

    /// How many formulas there are, parts included.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Never: `true` and `false` are always there.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The id of a formula whose parts are in this store.
    pub fn add(&mut self, formula: Formula) -> FormulaId {
        if let Some(&id) = self.ids.get(&formula) {
            return id;
        }
        let id = self.nodes.push(formula.clone());
        self.ids.insert(formula, id);
        id
    }

    /// `true` or `false`.
    pub fn constant(&self, value: bool) -> FormulaId {
        FormulaId::new(if value { Self::TRUE } else { Self::FALSE })
    }

    /// An atom.
    pub fn atom(&mut self, atom: AtomId) -> FormulaId {
        self.add(Formula::Atom(atom))
    }

    /// An operator and its operand, as they are.
    pub fn unary(&mut self, operator: Unary, operand: FormulaId) -> FormulaId {
        self.add(Formula::Unary(operator, operand))
    }

    /// An operator and its operands, as they are.
    pub fn binary(&mut self, operator: Binary, left: FormulaId, right: FormulaId) -> FormulaId {
        self.add(Formula::Binary(operator, left, right))
    }

    /// All of them, in any number; nested ones are taken apart, constants and repetitions go.
    pub fn and(&mut self, parts: impl IntoIterator<Item = FormulaId>) -> FormulaId {
        self.join(parts, true)
    }

    /// Some of them, in any number; nested ones are taken apart, constants and repetitions go.
    pub fn or(&mut self, parts: impl IntoIterator<Item = FormulaId>) -> FormulaId {
        self.join(parts, false)
    }

    fn join(&mut self, parts: impl IntoIterator<Item = FormulaId>, is_and: bool) -> FormulaId {
        let (unit, zero) = (self.constant(is_and), self.constant(!is_and));
        let mut joined = Vec::new();
        for part in parts {
            match (self.get(part), is_and) {
                (Formula::And(inner), true) | (Formula::Or(inner), false) => joined.extend_from_slice(inner),
                _ if part == unit => {}
                _ => joined.push(part),
            }
        }
        joined.sort_unstable();
        joined.dedup();
        if joined.contains(&zero) {
            return zero;
        }
        match joined[..] {
            [] => unit,
            [only] => only,
            _ if is_and => self.add(Formula::And(joined.into())),
            _ => self.add(Formula::Or(joined.into())),
        }
    }

    /// The formula and all its parts, each once, parts first.
    pub fn with_parts(&self, root: FormulaId) -> Vec<FormulaId> {
        let mut is_part = vec![false; root.index() + 1];
        is_part[root.index()] = true;
        for index in (0..=root.index()).rev() {
            if is_part[index] {
                self.get(FormulaId::new(index)).parts().for_each(|part| is_part[part.index()] = true);
            }
        }
        (0..=root.index()).filter(|&index| is_part[index]).map(FormulaId::new).collect()
    }

    /// The atoms of a formula, in order.
    pub fn atoms_of(&self, root: FormulaId) -> Vec<AtomId> {
        let atom = |part: FormulaId| match self.get(part) {
            Formula::Atom(atom) => Some(*atom),
            _ => None,
        };
        let mut atoms: Vec<AtomId> = self.with_parts(root).into_iter().filter_map(atom).collect();
        atoms.sort_unstable();
        atoms
    }
}

impl Default for Formulas {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_formulas_are_one() {
        let mut atoms = Atoms::new();
        let mut formulas = Formulas::new();
        let (p, q) = (atoms.named("p"), atoms.named("q"));
        assert_eq!(atoms.named("p"), p);
        let (p, q) = (formulas.atom(p), formulas.atom(q));
        let left = formulas.and([p, q]);
        let right = formulas.and([q, p, q]);
        assert_eq!(left, right);
        let no = formulas.constant(false);
        assert_eq!(formulas.and([p, no]), no);
        assert_eq!(formulas.or([p, no]), p);
        assert_eq!(formulas.and([]), formulas.constant(true));
        assert_eq!(formulas.with_parts(left).len(), 3);
    }
}
