//! A set of view states as a tree with shared branches: one level for each column, one child for each number.
//!
//! In: a member of a certificate, explicit or symbolic. Out: the tree, in which equal parts are one node, so that numbers that a set
//! does not distinguish have equal children at every node of their level. Only such classes of numbers are enumerated, which
//! keeps sets readable that have very many states.

use std::collections::HashMap;

use evidence::certificate::StateSet;

/// More nodes than this are not built.
const MOST_NODES: usize = 200_000;
/// The empty set.
const EMPTY: u32 = 0;
/// Everything.
const FULL: u32 = 1;

/// A set over columns of given sizes.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    /// How many numbers each column has.
    sizes: Vec<u32>,
    /// The columns from the top.
    order: Vec<usize>,
    /// The nodes: level and children; the first two are the empty set and everything.
    nodes: Vec<(usize, Vec<u32>)>,
    known: HashMap<(usize, Vec<u32>), u32>,
    root: u32,
}

/// The rows of a set, over classes of numbers that it does not distinguish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClassRowSet {
    /// For each column its classes, each with its numbers; numbers that never occur are a class, too.
    pub numbers: Vec<Vec<Vec<u32>>>,
    /// The rows, each a class for each column.
    pub rows: Vec<Vec<usize>>,
}

impl Tree {
    /// The set of a member; `None` where it is too large.
    pub fn new(sizes: &[u32], states: &StateSet) -> Option<Tree> {
        let mut order: Vec<usize> = Vec::new();
        if let StateSet::Diagram { order: bits, .. } = states {
            let mut next = 0;
            for &(column, bit) in bits {
                if order.last() != Some(&column) {
                    order.push(column);
                    next = 0;
                }
                // Bits that are not read from the highest would need another order, too.
                if bit != next {
                    return None;
                }
                next += 1;
            }
        }
        let mut seen = order.clone();
        seen.sort_unstable();
        seen.dedup();
        // Bits of different columns that are mixed would need another order.
        if seen.len() != order.len() {
            return None;
        }
        order.extend((0..sizes.len()).filter(|column| !seen.contains(column)));
        let nodes = vec![(usize::MAX, Vec::new()); 2];
        let mut tree = Tree { sizes: sizes.to_vec(), order, nodes, known: HashMap::new(), root: EMPTY };
        tree.root = match states {
            StateSet::Rows(rows) => {
                let ordered = |row: &Vec<u32>| tree.order.iter().map(|&column| row[column]).collect();
                let mut rows: Vec<Vec<u32>> = rows.iter().map(ordered).collect();
                rows.sort_unstable();
                tree.of_rows(&rows, 0)?
            }
            StateSet::Diagram { nodes, .. } => {
                let mut drawn = DiagramReading { nodes, starts: Vec::new(), done: HashMap::new() };
                let mut start = 0;
                for &column in &tree.order {
                    drawn.starts.push(start);
                    start += n_bits(tree.sizes[column]);
                }
                drawn.starts.push(start);
                let root = nodes.len().checked_sub(1).map_or(1, |last| last as u32 + 2);
                tree.of_diagram(&mut drawn, root, 0)?
            }
        };
        Some(tree)
    }

    fn node(&mut self, level: usize, children: Vec<u32>) -> Option<u32> {
        if children.iter().all(|child| *child == children[0]) {
            return children.first().copied();
        }
        if let Some(&known) = self.known.get(&(level, children.clone())) {
            return Some(known);
        }
        if self.nodes.len() == MOST_NODES {
            return None;
        }
        let id = self.nodes.len() as u32;
        self.nodes.push((level, children.clone()));
        self.known.insert((level, children), id);
        Some(id)
    }

    /// The set of rows that are sorted and agree on all columns above the level.
    fn of_rows(&mut self, rows: &[Vec<u32>], level: usize) -> Option<u32> {
        if rows.is_empty() {
            return Some(EMPTY);
        }
        let Some(&column) = self.order.get(level) else { return Some(FULL) };
        let mut children = Vec::new();
        for number in 0..self.sizes[column] {
            let start = rows.partition_point(|row| row[level] < number);
            let end = rows.partition_point(|row| row[level] <= number);
            children.push(self.of_rows(&rows[start..end], level + 1)?);
        }
        self.node(level, children)
    }

    fn of_diagram(&mut self, drawn: &mut DiagramReading<'_>, root: u32, level: usize) -> Option<u32> {
        if root < 2 {
            return Some(root);
        }
        if let Some(&done) = drawn.done.get(&(root, level)) {
            return Some(done);
        }
        let column = self.order[level];
        let (start, end) = (drawn.starts[level], drawn.starts[level + 1]);
        let mut children = Vec::new();
        for number in 0..self.sizes[column] {
            let mut at = root;
            while at >= 2 && (drawn.nodes[at as usize - 2].0 as usize) < end {
                let (position, low, high) = drawn.nodes[at as usize - 2];
                let bit = number >> (end - 1 - position as usize) & 1;
                debug_assert!(position as usize >= start, "diagrams are ordered");
                at = if bit == 0 { low } else { high };
            }
            children.push(self.of_diagram(drawn, at, level + 1)?);
        }
        let id = self.node(level, children)?;
        drawn.done.insert((root, level), id);
        Some(id)
    }

    /// The set with any number in this column; `None` where that is too large.
    pub fn forget(mut self, column: usize) -> Option<Tree> {
        let level = self.order.iter().position(|&one| one == column)?;
        self.root = self.forgotten(self.root, level, &mut HashMap::new())?;
        Some(self)
    }

    fn forgotten(&mut self, node: u32, level: usize, done: &mut HashMap<u32, u32>) -> Option<u32> {
        if node < 2 || self.nodes[node as usize].0 > level {
            return Some(node);
        }
        if let Some(&id) = done.get(&node) {
            return Some(id);
        }
        let (own, children) = self.nodes[node as usize].clone();
        let id = if own == level {
            let mut joined = EMPTY;
            for child in children {
                joined = self.union(joined, child, &mut HashMap::new())?;
            }
            joined
        } else {
            let children =
                children.into_iter().map(|child| self.forgotten(child, level, done)).collect::<Option<_>>()?;
            self.node(own, children)?
        };
        done.insert(node, id);
        Some(id)
    }

    fn union(&mut self, one: u32, other: u32, done: &mut HashMap<(u32, u32), u32>) -> Option<u32> {
        match (one, other) {
            (FULL, _) | (_, FULL) => return Some(FULL),
            (EMPTY, same) | (same, EMPTY) => return Some(same),
            _ if one == other => return Some(one),
            _ => {}
        }
        if let Some(&id) = done.get(&(one, other)) {
            return Some(id);
        }
        let level = self.nodes[one as usize].0.min(self.nodes[other as usize].0);
        let n_children = self.sizes[self.order[level]] as usize;
        let mut children = Vec::new();
        for number in 0..n_children {
            let (left, right) = (self.child(one, level, number), self.child(other, level, number));
            children.push(self.union(left, right, done)?);
        }
        let id = self.node(level, children)?;
        done.insert((one, other), id);
        Some(id)
    }

    fn child(&self, node: u32, level: usize, number: usize) -> u32 {
        match &self.nodes[node as usize] {
            (own, children) if node >= 2 && *own == level => children[number],
            _ => node,
        }
    }

    /// The rows over classes of numbers; `None` where there are more than `limit`.
    pub fn classes(&self, limit: usize) -> Option<ClassRowSet> {
        let numbers = self.numbers();
        let mut listing = RowEnumeration { numbers: &numbers, row: vec![0; self.sizes.len()], rows: Vec::new(), limit };
        self.list(self.root, 0, &mut listing)?;
        let mut rows = listing.rows;
        rows.sort_unstable();
        Some(ClassRowSet { numbers, rows })
    }

    /// For each column the classes of its numbers.
    fn numbers(&self) -> Vec<Vec<Vec<u32>>> {
        let mut reached = vec![false; self.nodes.len()];
        let mut open = vec![self.root];
        while let Some(node) = open.pop() {
            if node >= 2 && !std::mem::replace(&mut reached[node as usize], true) {
                open.extend(&self.nodes[node as usize].1);
            }
        }
        let mut level_of = vec![0; self.sizes.len()];
        self.order.iter().enumerate().for_each(|(level, &column)| level_of[column] = level);
        let of_column = |column: usize| {
            let here = (2..self.nodes.len()).filter(|&node| reached[node] && self.nodes[node].0 == level_of[column]);
            let here: Vec<usize> = here.collect();
            let mut classes: Vec<(Vec<u32>, Vec<u32>)> = Vec::new();
            for number in 0..self.sizes[column] {
                let children = here.iter().map(|&node| self.nodes[node].1[number as usize]).collect();
                match classes.iter_mut().find(|(known, _)| *known == children) {
                    Some((_, numbers)) => numbers.push(number),
                    None => classes.push((children, vec![number])),
                }
            }
            classes.into_iter().map(|(_, numbers)| numbers).collect()
        };
        (0..self.sizes.len()).map(of_column).collect()
    }

    fn list(&self, node: u32, level: usize, listing: &mut RowEnumeration<'_>) -> Option<()> {
        if node == EMPTY {
            return Some(());
        }
        let Some(&column) = self.order.get(level) else {
            listing.rows.push(listing.row.clone());
            return (listing.rows.len() <= listing.limit).then_some(());
        };
        for (class, numbers) in listing.numbers[column].iter().enumerate() {
            listing.row[column] = class;
            let child = self.child(node, level, numbers[0] as usize);
            self.list(child, level + 1, listing)?;
        }
        Some(())
    }
}

/// Rows that are being enumerated.
struct RowEnumeration<'a> {
    numbers: &'a [Vec<Vec<u32>>],
    /// The classes above the level that is examined.
    row: Vec<usize>,
    rows: Vec<Vec<usize>>,
    limit: usize,
}

/// A diagram that is being read.
struct DiagramReading<'a> {
    nodes: &'a [(u32, u32, u32)],
    /// The first position of each level's bits, and the end.
    starts: Vec<usize>,
    done: HashMap<(u32, usize), u32>,
}

/// How many bits the numbers of a column take.
fn n_bits(size: u32) -> usize {
    (u32::BITS - size.saturating_sub(1).leading_zeros()) as usize
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn product(sizes: &[u32]) -> Vec<Vec<u32>> {
        sizes.iter().fold(vec![Vec::new()], |rows, &size| {
            let extended = |row: Vec<u32>| (0..size).map(move |number| [row.clone(), vec![number]].concat());
            rows.into_iter().flat_map(extended).collect()
        })
    }

    fn random_rows(sizes: &[u32], seed: u64, percent: u64) -> Vec<Vec<u32>> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut random = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        product(sizes).into_iter().filter(|_| random() % 100 < percent).collect()
    }

    fn expanded(classes: &ClassRowSet) -> BTreeSet<Vec<u32>> {
        let expand = |row: &Vec<usize>| {
            row.iter().enumerate().fold(vec![Vec::new()], |rows: Vec<Vec<u32>>, (column, &class)| {
                let numbers = &classes.numbers[column][class];
                rows.into_iter()
                    .flat_map(|row| numbers.iter().map(move |&number| [row.clone(), vec![number]].concat()))
                    .collect()
            })
        };
        classes.rows.iter().flat_map(expand).collect()
    }

    #[test]
    fn classes_stand_for_exactly_the_rows_listed_or_drawn() {
        let sizes = [3, 2, 5];
        for seed in 0..60 {
            let rows = random_rows(&sizes, seed, 10 + seed);
            let set: BTreeSet<Vec<u32>> = rows.iter().cloned().collect();
            if rows.is_empty() {
                continue;
            }
            let drawn = testkit::local::meaning::drawn(&sizes.map(|size| size as usize), &rows, &[2, 0, 1]);
            for states in [StateSet::Rows(rows.clone()), drawn] {
                let tree = Tree::new(&sizes, &states).unwrap();
                assert_eq!(expanded(&tree.classes(1000).unwrap()), set, "seed {seed}");
                let forgotten = expanded(&tree.forget(1).unwrap().classes(1000).unwrap());
                let known = |row: &Vec<u32>| (0..2).any(|any| set.contains(&vec![row[0], any, row[2]]));
                let expected: BTreeSet<Vec<u32>> = product(&sizes).into_iter().filter(known).collect();
                assert_eq!(forgotten, expected, "seed {seed}");
            }
        }
    }

    #[test]
    fn numbers_that_are_not_told_apart_are_one_class() {
        let rows = [[0, 0], [0, 1], [1, 2]].map(Vec::from).to_vec();
        let classes = Tree::new(&[2, 4], &StateSet::Rows(rows)).unwrap().classes(10).unwrap();
        assert_eq!(classes.numbers, [vec![vec![0], vec![1]], vec![vec![0, 1], vec![2], vec![3]]]);
        assert_eq!(classes.rows, [[0, 0], [1, 1]]);
    }
}
