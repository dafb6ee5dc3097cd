//! Cases by fair components (S): one for each, or for some of them together.
//!
//! In: the set of a spot. Out: a case for each of its fair components, refuted. A run stays in one of them, so it stays in the union of any to which that one
//! belongs. Many components differ in what does not matter: a process that waits for the ticket that is served waits for its holder, however many others
//! wait behind. So components that agree on some item of the view are treated together first, and one by one only where that does not help.

use std::collections::{BTreeMap, VecDeque};

use engine::Halt;
use evidence::propagation::{NodePoint, RefutationCase, RefutationStep};
use streett::EdgeBits;

use crate::refute::{End, Node, Refuter, Sets};

/// As many components as this are treated one by one.
const FEW: usize = 3;

/// Components with the refutation of them all together.
struct Done {
    points: Vec<NodePoint>,
    node: Node,
}

impl Refuter<'_, '_> {
    /// Refutes the fair components of a set, where there are several; `Some(None)` where one is left.
    pub(crate) fn components(&mut self, spot: usize, sets: &Sets, depth: usize) -> Result<Option<Option<Node>>, Halt> {
        let components = self.fair_components(spot, sets)?;
        if components.len() < 2 {
            return Ok(None);
        }
        let mut open: Vec<EdgeBits> = components;
        let mut done = Vec::new();
        if spot == self.root() && open.len() > FEW {
            self.together(spot, sets, &mut open, &mut done)?;
        }
        for component in open {
            let points = vec![self.point(spot, &component)?];
            let case = self.component_case(spot, sets, component);
            match self.begun_case(case, depth)? {
                Some(node) => done.push(Done { points, node }),
                None => return Ok(Some(None)),
            }
        }
        let of = self.named(spot);
        let (points, cases): (Vec<Vec<NodePoint>>, Vec<Node>) =
            done.into_iter().map(|done| (done.points, done.node)).unzip();
        let step = Box::new(move |proofs: Vec<Vec<RefutationStep>>| {
            let case = |(points, steps): (&Vec<NodePoint>, Vec<RefutationStep>)| RefutationCase {
                points: points.clone(),
                steps,
            };
            RefutationStep::Split { of, cases: points.iter().zip(proofs).map(case).collect() }
        });
        let by = sets.current[spot].into_iter().collect();
        Ok(Some(Some(Node { steps: Vec::new(), end: End::Cases { by, cases, step } })))
    }

    /// The case of some components.
    fn component_case(&mut self, spot: usize, sets: &Sets, edges: EdgeBits) -> Sets {
        let mut case = Sets { queue: VecDeque::from([spot]), ..sets.clone() };
        case.current[spot] = Some(self.begin(edges));
        case
    }

    /// Refutes components together that agree on an item, for one item after the other; those that are left stay open.
    fn together(
        &mut self,
        spot: usize,
        sets: &Sets,
        open: &mut Vec<EdgeBits>,
        done: &mut Vec<Done>,
    ) -> Result<(), Halt> {
        for place in 0..self.shop.views.list[self.view(spot)].items.len() {
            let mut groups: BTreeMap<u32, Vec<EdgeBits>> = BTreeMap::new();
            let mut left = Vec::new();
            for component in open.drain(..) {
                match self.agreed(spot, place, &component)? {
                    Some(number) => groups.entry(number).or_default().push(component),
                    None => left.push(component),
                }
            }
            let says_something = groups.len() > 1;
            for group in groups.into_values() {
                let refuted = match says_something && group.len() > 1 {
                    true => self.group(spot, sets, &group)?,
                    false => None,
                };
                match refuted {
                    Some(refuted) => done.push(refuted),
                    None => left.extend(group),
                }
            }
            *open = left;
            if open.len() <= FEW {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Refutes some components together, with little effort.
    fn group(&mut self, spot: usize, sets: &Sets, group: &[EdgeBits]) -> Result<Option<Done>, Halt> {
        let mut union = group[0].clone();
        group[1..].iter().for_each(|component| union.unite(component));
        let case = self.component_case(spot, sets, union);
        let Some(node) = self.quick_case(case)? else { return Ok(None) };
        let points = group.iter().map(|component| self.point(spot, component)).collect::<Result<_, Halt>>()?;
        Ok(Some(Done { points, node }))
    }

    /// The rows of the view at which edges of a set begin.
    fn row(&mut self, spot: usize, edge: usize) -> Result<u32, Halt> {
        let product = self.question.product;
        match spot == self.root() {
            true => Ok(product.nodes[product.graph.arc(edge).from as usize].0),
            false => Ok(self.shop.graph(spot)?.graph.arc(edge).from),
        }
    }

    /// What an item contains at all rows of a component, if that is one number.
    fn agreed(&mut self, spot: usize, place: usize, component: &EdgeBits) -> Result<Option<u32>, Halt> {
        let view = self.view(spot);
        let mut agreed = None;
        for edge in component.iter() {
            let row = self.row(spot, edge)?;
            let number = self.shop.views.list[view].rows[row as usize][place];
            if *agreed.get_or_insert(number) != number {
                return Ok(None);
            }
        }
        Ok(agreed)
    }

    /// A point in a component.
    fn point(&mut self, spot: usize, component: &EdgeBits) -> Result<NodePoint, Halt> {
        let first = component.iter().next().unwrap_or_default();
        let row = self.row(spot, first)?;
        let product = self.question.product;
        let state = (spot == self.root()).then(|| product.nodes[product.graph.arc(first).from as usize].1);
        Ok(NodePoint { row: self.shop.views.list[self.view(spot)].rows[row as usize].to_vec(), state })
    }
}
