//! Flows: sums of weights of all processes and cells that no step changes, modulo a number or as they are.
//!
//! In: a program as a [`Skeleton`]. Out: flows. A process weighs by its local state, a cell by what it holds; that a step leaves the sum as it is, is one linear
//! equation in the weights, and so is that every initial state has the sum 0. [`solutions`] solves them as they are, and modulo each number modulo which they
//! have other solutions ([`moduli`]), and the number of values of each cell: tickets taken modulo M give "next - serving is the number of those who hold one,
//! modulo M", whatever the cells could hold besides. A number may be composite. At first local states weigh alike that differ in numbers alone, so that the solutions are few.

use std::collections::{BTreeMap, BTreeSet};

use evidence::fine::{FineContent, FineFlow, FlowCell, FlowWeight};
use model::value::Value;
use rustc_hash::{FxHashMap, FxHashSet};

use super::datum::Datum;
use super::kernel::{Term, gcd, moduli, reduced, solutions};
use super::skeleton::{Edge, Skeleton};
use crate::layout::SharedColumn;
use crate::sight::Ground;

const MOST_MODULUS: u128 = 256;
/// Flows with larger weights are left out, and those beyond so many.
const MOST_WEIGHT: i64 = 1_000;
/// Which local states may weigh differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Grain {
    /// Those that differ in more than numbers.
    Places,
    /// All.
    States,
}

/// A sum that is 0 in every reachable state.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Sums count modulo this; as they are where it is 0.
    pub modulus: i64,
    /// For each local state what a process in it adds.
    pub states: Vec<i64>,
    /// What shared columns add.
    pub cells: Vec<WeighedCell>,
}

/// What a shared column adds to a sum.
#[derive(Clone, Debug)]
pub struct WeighedCell {
    /// The column.
    pub column: usize,
    /// For contents what they add, `FineContent::Other` for any process of the family; others add nothing.
    pub weights: FxHashMap<FineContent, i64>,
}

impl WeighedCell {
    /// What a content adds.
    pub fn weight(&self, content: FineContent) -> i64 {
        let content = match content {
            FineContent::Slot(_) => FineContent::Other,
            other => other,
        };
        self.weights.get(&content).copied().unwrap_or(0)
    }

    /// What any content may add.
    pub fn all(&self) -> Vec<i64> {
        self.weights.values().copied().chain([0]).collect()
    }
}

impl Flow {
    /// The flow as a claim.
    pub fn certified(&self, ground: Ground<'_>) -> FineFlow {
        let cell = |cell: &WeighedCell| {
            let mut weights: Vec<FlowWeight> =
                cell.weights.iter().map(|(&content, &weight)| FlowWeight { content, weight }).collect();
            weights.sort_unstable_by_key(|one| one.content);
            FlowCell { cell: ground.layout.shared[cell.column], weights }
        };
        let cells = self.cells.iter().map(cell).collect();
        FineFlow { modulus: self.modulus, constant: 0, states: self.states.clone(), cells }
    }
}

/// What is in a datum, as flows weigh it.
fn content(datum: Datum) -> FineContent {
    match datum {
        Datum::Value(value) => FineContent::Value(value),
        Datum::Place(place) => FineContent::Place(place),
        _ => FineContent::Other,
    }
}

/// The unknowns: one for each kind of local state, then one for each content of each column that is written.
struct Unknowns {
    kinds: Vec<usize>,
    contents: BTreeMap<usize, BTreeMap<FineContent, usize>>,
    n: usize,
}

impl Unknowns {
    fn new(ground: Ground<'_>, skeleton: &Skeleton, grain: Grain) -> Unknowns {
        let mut known: FxHashMap<Vec<Option<Datum>>, usize> = FxHashMap::default();
        let mut kinds = Vec::new();
        for state in &skeleton.states {
            let is_kept = |datum: &Datum| grain == Grain::States || !matches!(datum, Datum::Value(Value::Int(_)));
            let kind = state.iter().map(|datum| is_kept(datum).then_some(*datum)).collect();
            let next = known.len();
            kinds.push(*known.entry(kind).or_insert(next));
        }
        let mut found: BTreeMap<usize, BTreeSet<FineContent>> = BTreeMap::new();
        for &(column, _) in skeleton.edges.iter().flat_map(|edge| &edge.writes) {
            if !matches!(ground.layout.shared[column], SharedColumn::Taken(..)) {
                found.entry(column).or_default();
            }
        }
        let in_edge = |edge: &'_ Edge| edge.guards.iter().chain(&edge.writes).copied().collect::<Vec<_>>();
        for (column, datum) in skeleton.edges.iter().flat_map(in_edge) {
            if let Some(contents) = found.get_mut(&column) {
                contents.insert(content(datum));
            }
        }
        for (&column, contents) in &mut found {
            contents.extend(skeleton.shared_starts[column].iter().map(|&datum| content(datum)));
        }
        let mut n = known.len();
        let mut contents = BTreeMap::new();
        for (column, of) in found {
            let first = n;
            n += of.len();
            contents.insert(column, of.into_iter().zip(first..).collect());
        }
        Unknowns { kinds, contents, n }
    }

    /// That initial states have the sum 0, and that steps do not change it.
    fn equations(&self, skeleton: &Skeleton) -> Vec<Vec<Term>> {
        let mut zero: BTreeSet<usize> = skeleton.starts.iter().map(|&state| self.kinds[state as usize]).collect();
        for (&column, contents) in &self.contents {
            zero.extend(skeleton.shared_starts[column].iter().map(|&datum| contents[&content(datum)]));
        }
        let mut found: FxHashSet<Vec<Term>> = FxHashSet::default();
        for edge in &skeleton.edges {
            let mut terms: BTreeMap<usize, i64> = BTreeMap::new();
            let mut add = |unknown: usize, factor: i64| *terms.entry(unknown).or_default() += factor;
            if let (Some(from), Some(to)) = (edge.from, edge.to) {
                add(self.kinds[to as usize], 1);
                add(self.kinds[from as usize], -1);
            }
            for &(column, datum) in &edge.writes {
                let Some(contents) = self.contents.get(&column) else { continue };
                match edge.guards.iter().find(|(one, _)| *one == column) {
                    Some(&(_, before)) => {
                        add(contents[&content(datum)], 1);
                        add(contents[&content(before)], -1);
                    }
                    // Whatever it held adds the same: what initial contents add.
                    None => zero.extend(contents.values()),
                }
            }
            let terms = terms.into_iter().filter(|&(_, factor)| factor != 0);
            let equation: Vec<Term> = terms.map(|(unknown, factor)| Term { unknown, factor }).collect();
            if !equation.is_empty() {
                found.insert(equation);
            }
        }
        let zero = zero.into_iter().map(|unknown| vec![Term { unknown, factor: 1 }]);
        let mut found: Vec<Vec<Term>> = found.into_iter().collect();
        found.sort_unstable();
        zero.chain(found).collect()
    }

    fn flow(&self, modulus: i64, weights: &[i64]) -> Flow {
        let mut cells = Vec::new();
        for (&column, contents) in &self.contents {
            let weights = contents.iter().map(|(&content, &unknown)| (content, weights[unknown]));
            let weights: FxHashMap<FineContent, i64> = weights.filter(|(_, weight)| *weight != 0).collect();
            if !weights.is_empty() {
                cells.push(WeighedCell { column, weights });
            }
        }
        Flow { modulus, states: self.kinds.iter().map(|&kind| weights[kind]).collect(), cells }
    }
}

/// Flows of a program, those with few weights first.
pub fn flows(ground: Ground<'_>, skeleton: &Skeleton, grain: Grain) -> Vec<Flow> {
    let unknowns = Unknowns::new(ground, skeleton, grain);
    if unknowns.n > ground.config.sum_weights {
        return Vec::new();
    }
    let equations = unknowns.equations(skeleton);
    let context = ground.model.type_context();
    let n_values = |column: &usize| match ground.layout.shared[*column] {
        SharedColumn::Cell(cell) => Some(ground.model.cells[cell].ty.n_values(context)),
        SharedColumn::Control(_) | SharedColumn::Taken(..) => None,
    };
    // Those that the equations ask for come first.
    let asked = moduli(unknowns.n, &equations).into_iter().filter_map(|modulus| u128::try_from(modulus).ok());
    let mut moduli: Vec<u128> = asked.filter(|modulus| (2..=MOST_MODULUS).contains(modulus)).collect();
    let sizes: BTreeSet<u128> = unknowns.contents.keys().filter_map(n_values).collect();
    for size in sizes.into_iter().filter(|size| (2..=MOST_MODULUS).contains(size)) {
        if !moduli.contains(&size) {
            moduli.push(size);
        }
    }
    let mut exact: Vec<Vec<i64>> = Vec::new();
    let mut found: Vec<(usize, Flow)> = Vec::new();
    for modulus in
        [0].into_iter().chain(moduli.into_iter().map(|modulus| modulus as i64)).take(ground.config.sum_moduli)
    {
        for solution in solutions(unknowns.n, &equations, modulus).unwrap_or_default() {
            let weights = simplest(&solution, modulus);
            if weights.iter().any(|weight| weight.abs() > MOST_WEIGHT) {
                continue;
            }
            if modulus == 0 {
                exact.push(weights.clone());
            } else if exact.iter().any(|exact| is_multiple(&weights, exact, modulus)) {
                continue;
            }
            let n_weights = weights.iter().filter(|&&weight| weight != 0).count();
            found.push((n_weights, unknowns.flow(modulus, &weights)));
        }
    }
    found.sort_by_key(|(n_weights, _)| *n_weights);
    found.truncate(ground.config.sums);
    found.into_iter().map(|(_, flow)| flow).collect()
}

/// The same flow with weights near 0: divided by what divides all, or, modulo a number, multiplied by what has an inverse.
fn simplest(solution: &[i64], modulus: i64) -> Vec<i64> {
    if modulus == 0 {
        let divisor = solution.iter().fold(0, |divisor, &weight| gcd(divisor, weight)).max(1);
        return solution.iter().map(|weight| weight / divisor).collect();
    }
    let times = |factor: i64| -> Vec<i64> {
        let near = |weight: i64| if 2 * weight > modulus { weight - modulus } else { weight };
        solution.iter().map(|&weight| near(reduced(factor * weight, modulus))).collect()
    };
    let factors = (1..modulus).filter(|&factor| gcd(factor, modulus) == 1);
    let best = factors.map(times).min_by_key(|weights| weights.iter().map(|weight| weight.abs()).sum::<i64>());
    best.unwrap_or_else(|| solution.to_vec())
}

/// Whether a flow modulo a number says no more than another one.
fn is_multiple(weights: &[i64], exact: &[i64], modulus: i64) -> bool {
    let Some(at) = (0..weights.len()).find(|&at| weights[at] != 0) else { return true };
    (1..modulus).any(|factor| {
        let is_same = |(one, other): (&i64, &i64)| reduced(one - factor * other, modulus) == 0;
        is_same((&weights[at], &exact[at])) && weights.iter().zip(exact).all(is_same)
    })
}
