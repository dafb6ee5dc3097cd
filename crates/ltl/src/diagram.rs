//! Small binary decision diagrams, for the labels and the successors of automata.
//!
//! A function of boolean variables is one number: equal functions are equal numbers. Diagrams here have tens of variables and at most some
//! thousands of nodes, so nothing is ever freed; a limit on the nodes makes a formula that explodes an ordinary [`StopReason`].

use base::StopReason;
use rustc_hash::FxHashMap;

/// A function of boolean variables, in one [`Diagrams`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Diagram(u32);

/// A variable: its place in the order.
pub type DiagramVariable = u32;

/// Variables and the values that they must have, in order.
pub type Literals = Vec<(DiagramVariable, bool)>;

/// A result, or the reason why there is none.
pub type DiagramResult<T> = Result<T, StopReason>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct DiagramNode {
    variable: DiagramVariable,
    low: Diagram,
    high: Diagram,
}

/// A store of diagrams.
#[derive(Debug)]
pub struct Diagrams {
    nodes: Vec<DiagramNode>,
    unique: FxHashMap<DiagramNode, Diagram>,
    and_cache: FxHashMap<(Diagram, Diagram), Diagram>,
    not_cache: FxHashMap<Diagram, Diagram>,
    /// The most nodes that there may be.
    limit: usize,
}

/// The most cubes of one cover: a state with more edges is of no use.
const MAX_CUBES: usize = 1 << 16;

/// The variable of the two leaves: after all others.
const LEAF: DiagramVariable = DiagramVariable::MAX;

impl Diagrams {
    /// The function that is false everywhere.
    pub const FALSE: Diagram = Diagram(0);
    /// The function that is true everywhere.
    pub const TRUE: Diagram = Diagram(1);

    /// A store of at most so many nodes.
    pub fn new(limit: usize) -> Self {
        let leaf = |value| DiagramNode { variable: LEAF, low: value, high: value };
        Diagrams {
            nodes: vec![leaf(Self::FALSE), leaf(Self::TRUE)],
            unique: FxHashMap::default(),
            and_cache: FxHashMap::default(),
            not_cache: FxHashMap::default(),
            limit,
        }
    }

    /// The function that is true where the variable has the value.
    pub fn literal(&mut self, variable: DiagramVariable, value: bool) -> DiagramResult<Diagram> {
        match value {
            true => self.node(variable, Self::FALSE, Self::TRUE),
            false => self.node(variable, Self::TRUE, Self::FALSE),
        }
    }

    /// True where both are.
    pub fn and(&mut self, f: Diagram, g: Diagram) -> DiagramResult<Diagram> {
        if f == g || g == Self::TRUE {
            return Ok(f);
        }
        if f == Self::TRUE {
            return Ok(g);
        }
        if f == Self::FALSE || g == Self::FALSE {
            return Ok(Self::FALSE);
        }
        let key = (f.min(g), f.max(g));
        if let Some(&known) = self.and_cache.get(&key) {
            return Ok(known);
        }
        let variable = self.top(f, g);
        let (f0, f1) = self.halves(f, variable);
        let (g0, g1) = self.halves(g, variable);
        let (low, high) = (self.and(f0, g0)?, self.and(f1, g1)?);
        let result = self.node(variable, low, high)?;
        self.and_cache.insert(key, result);
        Ok(result)
    }

    /// True where it is not.
    pub fn not(&mut self, f: Diagram) -> DiagramResult<Diagram> {
        if f == Self::FALSE || f == Self::TRUE {
            return Ok(if f == Self::TRUE { Self::FALSE } else { Self::TRUE });
        }
        if let Some(&known) = self.not_cache.get(&f) {
            return Ok(known);
        }
        let DiagramNode { variable, low, high } = self.nodes[f.0 as usize];
        let (low, high) = (self.not(low)?, self.not(high)?);
        let result = self.node(variable, low, high)?;
        self.not_cache.insert(f, result);
        self.not_cache.insert(result, f);
        Ok(result)
    }

    /// True where one of them is.
    pub fn or(&mut self, f: Diagram, g: Diagram) -> DiagramResult<Diagram> {
        let (f, g) = (self.not(f)?, self.not(g)?);
        let none = self.and(f, g)?;
        self.not(none)
    }

    /// True where the first is and the second is not.
    pub fn without(&mut self, f: Diagram, g: Diagram) -> DiagramResult<Diagram> {
        let not_g = self.not(g)?;
        self.and(f, not_g)
    }

    /// The function that is true where all literals are.
    pub fn cube(&mut self, literals: &[(DiagramVariable, bool)]) -> DiagramResult<Diagram> {
        let mut cube = Self::TRUE;
        for &(variable, value) in literals.iter().rev() {
            let literal = self.literal(variable, value)?;
            cube = self.and(literal, cube)?;
        }
        Ok(cube)
    }

    /// Values of variables that make the function true; `None` if there are none.
    pub fn some_point(&self, f: Diagram) -> Option<Literals> {
        let mut point = Vec::new();
        let mut at = f;
        while at != Self::TRUE {
            if at == Self::FALSE {
                return None;
            }
            let DiagramNode { variable, low, high } = self.nodes[at.0 as usize];
            let value = low == Self::FALSE;
            point.push((variable, value));
            at = if value { high } else { low };
        }
        Some(point)
    }

    /// The value of the function at a point; variables that the point does not name are false.
    pub fn value(&self, f: Diagram, point: &[(DiagramVariable, bool)]) -> bool {
        let mut at = f;
        while at != Self::TRUE && at != Self::FALSE {
            let DiagramNode { variable, low, high } = self.nodes[at.0 as usize];
            let is_set = point.binary_search_by_key(&variable, |literal| literal.0).is_ok_and(|index| point[index].1);
            at = if is_set { high } else { low };
        }
        at == Self::TRUE
    }

    /// Prime cubes, none superfluous, that together are the function (Minato and Morreale).
    pub fn cover(&mut self, f: Diagram) -> DiagramResult<Vec<Literals>> {
        let mut cubes = Vec::new();
        self.cover_between(f, f, &mut Vec::new(), &mut cubes)?;
        Ok(cubes)
    }

    /// Cubes that cover `lower` and stay inside `upper`; returns what they cover.
    fn cover_between(
        &mut self,
        lower: Diagram,
        upper: Diagram,
        path: &mut Literals,
        cubes: &mut Vec<Literals>,
    ) -> DiagramResult<Diagram> {
        if lower == Self::FALSE {
            return Ok(Self::FALSE);
        }
        if upper == Self::TRUE {
            if cubes.len() >= MAX_CUBES {
                return Err(StopReason::NodeLimit(self.limit as u64));
            }
            cubes.push(path.clone());
            return Ok(Self::TRUE);
        }
        let variable = self.top(lower, upper);
        let (lower0, lower1) = self.halves(lower, variable);
        let (upper0, upper1) = self.halves(upper, variable);
        let mut half = |this: &mut Self, lower: Diagram, other: Diagram, upper: Diagram, value: bool| {
            let needed = this.without(lower, other)?;
            path.push((variable, value));
            let covered = this.cover_between(needed, upper, path, cubes);
            path.pop();
            covered
        };
        let covered0 = half(self, lower0, upper1, upper0, false)?;
        let covered1 = half(self, lower1, upper0, upper1, true)?;
        let (rest0, rest1) = (self.without(lower0, covered0)?, self.without(lower1, covered1)?);
        let (rest, both) = (self.or(rest0, rest1)?, self.and(upper0, upper1)?);
        let covered = self.cover_between(rest, both, path, cubes)?;
        let (low, high) = (self.or(covered0, covered)?, self.or(covered1, covered)?);
        self.node(variable, low, high)
    }

    fn node(&mut self, variable: DiagramVariable, low: Diagram, high: Diagram) -> DiagramResult<Diagram> {
        if low == high {
            return Ok(low);
        }
        let node = DiagramNode { variable, low, high };
        if let Some(&known) = self.unique.get(&node) {
            return Ok(known);
        }
        if self.nodes.len() >= self.limit {
            return Err(StopReason::NodeLimit(self.limit as u64));
        }
        let diagram = Diagram(u32::try_from(self.nodes.len()).expect("the limit is far below 2^32"));
        self.nodes.push(node);
        self.unique.insert(node, diagram);
        Ok(diagram)
    }

    fn top(&self, f: Diagram, g: Diagram) -> DiagramVariable {
        self.nodes[f.0 as usize].variable.min(self.nodes[g.0 as usize].variable)
    }

    /// The function where the variable, at or above its top, is false, and where it is true.
    fn halves(&self, f: Diagram, variable: DiagramVariable) -> (Diagram, Diagram) {
        let node = self.nodes[f.0 as usize];
        if node.variable == variable { (node.low, node.high) } else { (f, f) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_functions_are_equal_numbers() {
        let mut diagrams = Diagrams::new(1000);
        let (a, b) = (diagrams.literal(0, true).unwrap(), diagrams.literal(1, true).unwrap());
        let both = diagrams.and(a, b).unwrap();
        let not_both = diagrams.not(both).unwrap();
        let (not_a, not_b) = (diagrams.not(a).unwrap(), diagrams.not(b).unwrap());
        assert_eq!(diagrams.or(not_a, not_b), Ok(not_both));
        assert_eq!(diagrams.without(both, a), Ok(Diagrams::FALSE));
        assert_ne!(diagrams.without(a, both), Ok(Diagrams::FALSE));
        assert!(diagrams.value(both, &[(0, true), (1, true)]) && !diagrams.value(both, &[(1, true)]));
        assert_eq!(diagrams.some_point(both), Some(vec![(0, true), (1, true)]));
        assert_eq!(diagrams.some_point(Diagrams::FALSE), None);
    }

    #[test]
    fn covers_are_prime() {
        let mut diagrams = Diagrams::new(1000);
        let (a, b) = (diagrams.literal(0, true).unwrap(), diagrams.literal(1, true).unwrap());
        let either = diagrams.or(a, b).unwrap();
        let mut cubes = diagrams.cover(either).unwrap();
        cubes.sort();
        assert_eq!(cubes, [vec![(0, true)], vec![(1, true)]]);
        assert_eq!(diagrams.cover(Diagrams::TRUE), Ok(vec![vec![]]));
        assert_eq!(diagrams.cover(Diagrams::FALSE), Ok(vec![]));
    }

    #[test]
    fn a_limit_is_an_answer() {
        let mut diagrams = Diagrams::new(4);
        let (a, b) = (diagrams.literal(0, true).unwrap(), diagrams.literal(1, true).unwrap());
        assert_eq!(diagrams.and(a, b), Err(StopReason::NodeLimit(4)));
    }
}
