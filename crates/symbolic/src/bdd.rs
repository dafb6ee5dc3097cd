//! Binary decision diagrams. This is the one module that names the library behind them (`oxidd`).
//!
//! A [`Space`] owns the nodes; a [`Bdd`] is a set of bit vectors in it. Every operation that makes nodes can run out of
//! them: it then collects garbage, tries once more, and returns [`OutOfNodes`] as an ordinary value.

use std::cell::Cell;
use std::collections::HashMap;

use oxidd::bdd::{BDDFunction, BDDManagerRef, new_manager};
use oxidd::util::num::F64;
use oxidd::util::{AllocResult, OptBool};
use oxidd::{
    BooleanFunction, BooleanFunctionQuant, BooleanOperator, Function, FunctionSubst, HasLevel, Manager, ManagerRef,
    Node, Subst,
};

/// The nodes are used up, garbage collected or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfNodes;

/// A set of bit vectors.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Bdd(BDDFunction);

/// A set of bits to quantify over, or a partial assignment to restrict by: a conjunction of literals.
#[derive(Clone, PartialEq, Eq)]
pub struct Cube(BDDFunction);

/// For some bits the set that takes their place.
pub struct Renaming(Subst<BDDFunction>);

/// What an entry of the cache takes, measured.
const CACHE_ENTRY_BYTES: u64 = 32;

/// Garbage is left alone while there are fewer nodes than this.
const FEW: usize = 1 << 18;

/// Where the nodes live; bits are numbered from 0, which is also their order from the top.
pub struct Space {
    manager: BDDManagerRef,
    n_bits: u32,
    /// How many nodes there is room for.
    capacity: usize,
    top: BDDFunction,
    bottom: BDDFunction,
    /// For each bit whether sets of states never depend on it.
    auxiliary: Vec<bool>,
    /// With more nodes than this it is time to collect garbage.
    crowded: Cell<usize>,
}

/// Nodes take memory when they are made, the cache does at once.
fn cache_entries(n_nodes: usize) -> usize {
    (n_nodes / 2).clamp(1 << 10, 1 << 21).next_power_of_two()
}

impl Space {
    /// What a space takes at once that has room for so many nodes, in bytes.
    pub fn bytes_at_once(n_nodes: usize) -> u64 {
        cache_entries(n_nodes) as u64 * CACHE_ENTRY_BYTES
    }

    /// A space of `n_bits` bits with room for `n_nodes` nodes.
    pub fn new(n_bits: u32, n_nodes: usize) -> Self {
        let manager = new_manager(n_nodes, cache_entries(n_nodes), 1);
        manager.with_manager_exclusive(|manager| manager.add_vars(n_bits));
        let (top, bottom) = manager.with_manager_shared(|manager| (BDDFunction::t(manager), BDDFunction::f(manager)));
        let auxiliary = vec![false; n_bits as usize];
        Space { manager, n_bits, capacity: n_nodes, top, bottom, auxiliary, crowded: Cell::new(FEW) }
    }

    /// The same, where sets of states never depend on some bits.
    #[must_use]
    pub fn with_auxiliary(mut self, bits: &[u32]) -> Self {
        bits.iter().for_each(|&bit| self.auxiliary[bit as usize] = true);
        self
    }

    /// The set of all states that are as the vector says.
    pub fn single(&self, vector: &[bool]) -> Result<Bdd, OutOfNodes> {
        let literals = vector.iter().enumerate().filter(|(bit, _)| !self.auxiliary[*bit]);
        Ok(self.set_of(&self.cube(literals.map(|(bit, &value)| (bit as u32, value)))?))
    }

    /// All bit vectors.
    pub fn all(&self) -> Bdd {
        Bdd(self.top.clone())
    }

    /// No bit vector.
    pub fn empty(&self) -> Bdd {
        Bdd(self.bottom.clone())
    }

    /// How many bits there are.
    pub fn n_bits(&self) -> u32 {
        self.n_bits
    }

    /// How many nodes there is room for.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// How many nodes are in use, those of garbage included.
    pub fn n_nodes(&self) -> usize {
        self.manager.with_manager_shared(|manager| manager.approx_num_inner_nodes())
    }

    /// Frees the nodes that no set uses.
    pub fn collect_garbage(&self) {
        self.manager.with_manager_shared(|manager| manager.gc());
    }

    /// Frees the nodes that no set uses, if many were made since that was last done: sets in few nodes stay near each other.
    pub fn tidy(&self) {
        if self.n_nodes() > self.crowded.get() {
            self.collect_garbage();
            self.crowded.set(FEW.max(3 * self.n_nodes()));
        }
    }

    /// The conjunction of literals, bit and value.
    pub fn cube(&self, literals: impl IntoIterator<Item = (u32, bool)>) -> Result<Cube, OutOfNodes> {
        let mut literals: Vec<_> = literals.into_iter().collect();
        // From the bottom up each conjunction makes one node.
        literals.sort_unstable_by(|a, b| b.cmp(a));
        literals.into_iter().try_fold(Cube(self.top.clone()), |Cube(rest), (bit, value)| {
            let literal = self.retry(|| {
                self.manager.with_manager_shared(|manager| match value {
                    true => BDDFunction::var(manager, bit),
                    false => BDDFunction::not_var(manager, bit),
                })
            })?;
            Ok(Cube(self.retry(|| literal.0.and(&rest))?.0))
        })
    }

    /// The set of bits, to quantify over.
    pub fn bits(&self, bits: impl IntoIterator<Item = u32>) -> Result<Cube, OutOfNodes> {
        self.cube(bits.into_iter().map(|bit| (bit, true)))
    }

    /// The vectors in both.
    pub fn and(&self, a: &Bdd, b: &Bdd) -> Result<Bdd, OutOfNodes> {
        self.retry(|| a.0.and(&b.0))
    }

    /// The vectors in either.
    pub fn or(&self, a: &Bdd, b: &Bdd) -> Result<Bdd, OutOfNodes> {
        self.retry(|| a.0.or(&b.0))
    }

    /// The vectors not in the set.
    pub fn not(&self, a: &Bdd) -> Result<Bdd, OutOfNodes> {
        self.retry(|| a.0.not())
    }

    /// The vectors in the first and not in the second.
    pub fn minus(&self, a: &Bdd, b: &Bdd) -> Result<Bdd, OutOfNodes> {
        self.retry(|| b.0.imp_strict(&a.0))
    }

    /// The vectors in both or in neither.
    pub fn same(&self, a: &Bdd, b: &Bdd) -> Result<Bdd, OutOfNodes> {
        self.retry(|| a.0.equiv(&b.0))
    }

    /// The vectors in any of the sets.
    pub fn any<'a>(&self, sets: impl IntoIterator<Item = &'a Bdd>) -> Result<Bdd, OutOfNodes> {
        sets.into_iter().try_fold(self.empty(), |union, set| self.or(&union, set))
    }

    /// The vectors that some change of the bits brings into the set.
    pub fn exists(&self, a: &Bdd, bits: &Cube) -> Result<Bdd, OutOfNodes> {
        self.retry(|| a.0.exists(&bits.0))
    }

    /// The vectors that every change of the bits leaves in the set.
    pub fn forall(&self, a: &Bdd, bits: &Cube) -> Result<Bdd, OutOfNodes> {
        self.retry(|| a.0.forall(&bits.0))
    }

    /// `exists` of the intersection, without building it.
    pub fn and_exists(&self, a: &Bdd, b: &Bdd, bits: &Cube) -> Result<Bdd, OutOfNodes> {
        self.retry(|| a.0.apply_exists(BooleanOperator::And, &b.0, &bits.0))
    }

    /// The vectors that lie in the set once the cube's bits have the cube's values; those bits no longer matter.
    pub fn restrict(&self, a: &Bdd, cube: &Cube) -> Result<Bdd, OutOfNodes> {
        self.retry(|| a.0.restrict(&cube.0))
    }

    /// A renaming that puts sets in the place of bits. Made once and used often: what was computed with it is remembered.
    pub fn renaming(&self, pairs: impl IntoIterator<Item = (u32, Bdd)>) -> Renaming {
        let (bits, sets): (Vec<u32>, Vec<BDDFunction>) = pairs.into_iter().map(|(bit, Bdd(set))| (bit, set)).unzip();
        Renaming(Subst::new(bits, sets))
    }

    /// The vectors that lie in the set once each bit is as the renaming says.
    pub fn rename(&self, a: &Bdd, renaming: &Renaming) -> Result<Bdd, OutOfNodes> {
        self.retry(|| a.0.substitute(&renaming.0))
    }

    /// The cube as the set of vectors that extend it.
    pub fn set_of(&self, cube: &Cube) -> Bdd {
        Bdd(cube.0.clone())
    }

    /// One vector of the set, bit by bit; bits that do not matter are 0. `None` if the set is empty.
    pub fn pick(&self, a: &Bdd) -> Option<Vec<bool>> {
        let cube = a.0.pick_cube(|_, _, _| false)?;
        Some(cube.into_iter().map(|bit| bit == OptBool::True).collect())
    }

    /// How many vectors over all bits are in the set.
    pub fn count(&self, a: &Bdd) -> f64 {
        let mut cache = oxidd::util::SatCountCache::<F64, std::collections::hash_map::RandomState>::default();
        a.0.sat_count(self.n_bits, &mut cache).0
    }

    fn retry(&self, operation: impl Fn() -> AllocResult<BDDFunction>) -> Result<Bdd, OutOfNodes> {
        if let Ok(done) = operation() {
            return Ok(Bdd(done));
        }
        self.collect_garbage();
        // With hardly any room left each operation would first collect garbage, for little: then it is time for more memory.
        if self.n_nodes() > self.capacity / 8 * 7 {
            return Err(OutOfNodes);
        }
        operation().map(Bdd).map_err(|_| OutOfNodes)
    }
}

impl Bdd {
    /// Whether no vector is in the set.
    pub fn is_empty(&self) -> bool {
        !self.0.satisfiable()
    }

    /// Whether all vectors are in the set.
    pub fn is_all(&self) -> bool {
        self.0.valid()
    }

    /// How many nodes the set takes.
    pub fn n_nodes(&self) -> usize {
        self.0.node_count()
    }

    /// Whether the vector is in the set.
    pub fn contains(&self, vector: &[bool]) -> bool {
        self.0.eval(vector.iter().enumerate().map(|(bit, &value)| (bit as u32, value)))
    }

    /// The bits that are tested on the path of the vector through the diagram, ascending.
    pub fn asked(&self, vector: &[bool]) -> Vec<u32> {
        let mut bits = Vec::new();
        let mut here = self.clone();
        while let Some((high, low)) = here.0.cofactors() {
            bits.push(here.top_bit());
            here = Bdd(if vector[bits[bits.len() - 1] as usize] { high } else { low });
        }
        bits
    }

    /// The nodes below this one, for permutation: children first, each (bit, low, high) with children as positions in the
    /// list plus 2, 0 and 1 being the empty set and the full one. The last is the set itself.
    pub fn table(&self) -> Vec<(u32, usize, usize)> {
        let mut rows = Vec::new();
        self.tabulate(&mut rows, &mut HashMap::new());
        rows
    }

    // The library counts references inside a function; its hash and equality do not read them.
    #[expect(clippy::mutable_key_type)]
    fn tabulate(&self, rows: &mut Vec<(u32, usize, usize)>, seen: &mut HashMap<Bdd, usize>) -> usize {
        if self.is_empty() {
            return 0;
        }
        if self.is_all() {
            return 1;
        }
        if let Some(&row) = seen.get(self) {
            return row;
        }
        let (high, low) = self.0.cofactors().expect("only the two constants have no children");
        let (low, high) = (Bdd(low).tabulate(rows, seen), Bdd(high).tabulate(rows, seen));
        rows.push((self.top_bit(), low, high));
        seen.insert(self.clone(), rows.len() + 1);
        rows.len() + 1
    }

    /// How many assignments to these bits are in the set, which does not depend on other bits; `None` where there are too many
    /// to count.
    pub fn count_over(&self, bits: &[u32]) -> Option<u64> {
        let mut bits = bits.to_vec();
        bits.sort_unstable();
        let table = self.table();
        let depth = |row: usize| match row {
            0 | 1 => bits.len(),
            _ => bits.partition_point(|&bit| bit < table[row - 2].0),
        };
        let mut counts: Vec<u64> = vec![0, 1];
        for (at, &(_, low, high)) in table.iter().enumerate() {
            let below = |child: usize| {
                let skipped = depth(child) - depth(at + 2) - 1;
                let factor = 1_u64.checked_shl(skipped as u32).filter(|_| skipped < 64);
                if counts[child] == 0 { Some(0) } else { counts[child].checked_mul(factor?) }
            };
            counts.push(below(low)?.checked_add(below(high)?)?);
        }
        let root = if self.is_empty() { 0 } else { counts.len() - 1 };
        let above = depth(root);
        if counts[root] == 0 {
            Some(0)
        } else {
            counts[root].checked_mul(1_u64.checked_shl(above as u32).filter(|_| above < 64)?)
        }
    }

    /// All assignments to these bits that are in the set, as vectors of `n_bits` bits; other bits are 0. At most `most` of them.
    pub fn vectors(&self, bits: &[u32], n_bits: usize, most: usize) -> Vec<Vec<bool>> {
        let mut bits = bits.to_vec();
        bits.sort_unstable();
        let table = self.table();
        let root = if self.is_empty() { 0 } else { table.len() + 1 };
        let mut vectors = Vec::new();
        // A row of the table, how many of the bits are decided, and the vector so far.
        let mut open = vec![(root, 0, vec![false; n_bits])];
        while let Some((row, decided, vector)) = open.pop().filter(|_| vectors.len() < most) {
            let here = (row >= 2).then(|| table[row - 2]);
            match (row, bits.get(decided)) {
                (0, _) => {}
                (_, None) => vectors.push(vector),
                (_, Some(&bit)) => {
                    let (low, high) =
                        here.filter(|node| node.0 == bit).map_or((row, row), |(_, low, high)| (low, high));
                    // What is empty is not kept: with it there would be a vector for each bit that is decided.
                    if high != 0 {
                        let mut with = vector.clone();
                        with[bit as usize] = true;
                        open.push((high, decided + 1, with));
                    }
                    if low != 0 {
                        open.push((low, decided + 1, vector));
                    }
                }
            }
        }
        vectors
    }

    fn top_bit(&self) -> u32 {
        self.0.with_manager_shared(|manager, edge| match manager.get_node(edge) {
            Node::Inner(node) => manager.level_to_var(node.level()),
            Node::Terminal(_) => unreachable!("only the two constants have no bit"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bit(space: &Space, bit: u32) -> Bdd {
        space.set_of(&space.cube([(bit, true)]).unwrap())
    }

    #[test]
    fn operations_are_those_of_sets_of_vectors() {
        let space = Space::new(3, 1 << 12);
        let (a, b) = (bit(&space, 0), bit(&space, 1));
        let only_a = space.minus(&a, &b).unwrap();
        assert!(only_a.contains(&[true, false, false]) && !only_a.contains(&[true, true, false]));
        assert_eq!(space.count(&only_a), 2.0);
        assert!(space.exists(&only_a, &space.bits([0]).unwrap()).unwrap() == space.not(&b).unwrap());
        assert!(space.restrict(&only_a, &space.cube([(1, true)]).unwrap()).unwrap().is_empty());
        assert_eq!(space.pick(&only_a), Some(vec![true, false, false]));
        assert_eq!(space.pick(&space.empty()), None);
    }

    #[test]
    fn renaming_puts_sets_in_the_place_of_bits_all_at_once() {
        let space = Space::new(3, 1 << 12);
        let (a, b) = (bit(&space, 0), bit(&space, 1));
        let only_a = space.minus(&a, &b).unwrap();
        let swap = space.renaming([(0, b.clone()), (1, a.clone())]);
        assert!(space.rename(&only_a, &swap).unwrap() == space.minus(&b, &a).unwrap());
    }

    #[test]
    fn the_table_lists_children_first() {
        let space = Space::new(3, 1 << 12);
        let both = space.and(&bit(&space, 0), &bit(&space, 2)).unwrap();
        assert_eq!(both.table(), vec![(2, 0, 1), (0, 0, 2)]);
    }

    #[test]
    fn counts_and_lists_the_assignments_of_some_bits() {
        let space = Space::new(4, 1 << 12);
        let either = space.or(&bit(&space, 1), &bit(&space, 3)).unwrap();
        assert_eq!(either.count_over(&[1, 3]), Some(3));
        assert_eq!(either.count_over(&[0, 1, 3]), Some(6));
        assert_eq!(either.vectors(&[3, 1], 4, 9).len(), 3);
        assert!(either.vectors(&[0, 1, 3], 4, 9).iter().all(|vector| either.contains(vector)));
        assert_eq!(space.all().count_over(&[0, 1]), Some(4));
        assert_eq!(space.empty().count_over(&[0, 1]), Some(0));
        assert_eq!(space.all().count_over(&(0..70).collect::<Vec<u32>>()), None);
    }

    #[test]
    fn too_few_nodes_is_an_answer() {
        let space = Space::new(40, 64);
        let parity = (0..40).try_fold(space.empty(), |parity, at| {
            let same = space.same(&parity, &bit(&space, at))?;
            space.not(&same)
        });
        assert_eq!(parity.err(), Some(OutOfNodes));
    }
}
