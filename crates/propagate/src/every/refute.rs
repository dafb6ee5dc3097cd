//! Refutation for every size: what one process would do for ever, and what follows for the others.
//!
//! In: the view graph of one process, the product with the automaton of a violation, what fairness demands. Out: branches for a certificate
//! (`evidence::crowd`), or nothing. The focus is one process: the property's, the one that a cell names for ever, or one
//! that adds to a sum for ever. All others together are known by what is compatible with it.

use ::views::configuration::Item;
use base::Budget;
use engine::Halt;
use evidence::crowd::{Branch, Lasting};
use rustc_hash::FxHashMap;
use streett::{EdgeBits, StreettPair};

use super::edges::{Crowd, ME};
use super::pairs::Pairs;
use super::sums::Sum;
use crate::conditions::Product;

/// Larger components are not given in certificates.
const MOST_LISTED: usize = 200;

/// What a refutation is about.
pub struct Matter<'q, 'm> {
    /// The view graph.
    pub crowd: &'q Crowd<'m>,
    /// Sums that hold.
    pub sums: &'q [Sum],
    /// What fairness demands of the edges of a process.
    pub conditions: &'q [StreettPair],
    /// The product with the automaton.
    pub product: &'q Product,
}

/// A refutation on its way.
pub struct Refuter<'q, 'm> {
    matter: Matter<'q, 'm>,
    pairs: Pairs<'q, 'm>,
    budget: &'q Budget,
    most_depth: usize,
    most_tests: usize,
    n_tests: usize,
    /// What was refuted, of a process of which nothing else is known.
    known: FxHashMap<EdgeBits, Vec<Branch>>,
    /// The first component that nothing was found against, by its views.
    pub left: Option<Vec<usize>>,
}

/// A set of edges: of the product, or of the graph.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Product,
    Plain,
}

impl<'q, 'm> Refuter<'q, 'm> {
    /// A refutation.
    pub fn new(matter: Matter<'q, 'm>, budget: &'q Budget, (most_depth, most_tests): (usize, usize)) -> Self {
        let pairs = Pairs::new(matter.crowd, matter.sums);
        Refuter { matter, pairs, budget, most_depth, most_tests, n_tests: 0, known: FxHashMap::default(), left: None }
    }

    /// Branches for all that violates the property, if there are.
    ///
    /// # Errors
    /// A limit.
    pub fn refute(&mut self) -> Result<Option<Vec<Branch>>, Halt> {
        let possible = super::sums::possible(self.matter.crowd, self.matter.sums);
        let product = self.matter.product;
        let is_possible = |edge: usize| {
            let arc = product.graph.arc(edge);
            let view = |node: u32| possible[product.nodes[node as usize].0 as usize];
            view(arc.from) && view(arc.to)
        };
        let all = EdgeBits::where_true(product.graph.n_edges(), is_possible);
        self.tree(Kind::Product, &all, 0)
    }

    fn components(&self, kind: Kind, set: &EdgeBits) -> Vec<EdgeBits> {
        match kind {
            Kind::Product => self.matter.product.graph.fair_components(set, &self.matter.product.conditions),
            Kind::Plain => self.matter.crowd.graph.fair_components(set, self.matter.conditions),
        }
    }

    fn tree(&mut self, kind: Kind, set: &EdgeBits, depth: usize) -> Result<Option<Vec<Branch>>, Halt> {
        if kind == Kind::Plain
            && let Some(known) = self.known.get(set)
        {
            return Ok(Some(known.clone()));
        }
        let mut branches = Vec::new();
        for component in self.components(kind, set) {
            self.budget.check(0)?;
            match self.branch(kind, &component, depth)? {
                Some(branch) => branches.push(branch),
                None => return Ok(None),
            }
        }
        if kind == Kind::Plain {
            self.known.insert(set.clone(), branches.clone());
        }
        Ok(Some(branches))
    }

    fn branch(&mut self, kind: Kind, component: &EdgeBits, depth: usize) -> Result<Option<Branch>, Halt> {
        self.n_tests += 1;
        if self.n_tests > self.most_tests {
            return Ok(None);
        }
        let base = self.base(kind, component);
        let mut others = EdgeBits::none(self.matter.crowd.edges.len());
        let compatible = self.pairs.compatible(&base);
        self.components(Kind::Plain, &compatible).iter().for_each(|one| others.unite(one));
        let because = match self.explained(kind, component, &others, depth)? {
            Some(because) => Some(because),
            None if depth >= self.most_depth => None,
            None => match self.named(&base, &compatible, depth)? {
                Some(because) => Some(because),
                None => self.holder(&base, &others, depth)?,
            },
        };
        let mut views: Vec<usize> = base.iter().map(|edge| self.matter.crowd.edges[edge].from).collect();
        views.sort_unstable();
        views.dedup();
        if because.is_none() && self.left.is_none() {
            self.left = Some(views.clone());
        }
        let (view, state) = self.point(kind, component);
        if views.len() > MOST_LISTED {
            views.clear();
        }
        Ok(because.map(|because| Branch { view, state, views, because }))
    }

    /// The edges of the view graph in a set.
    fn base(&self, kind: Kind, set: &EdgeBits) -> EdgeBits {
        if kind == Kind::Plain {
            return set.clone();
        }
        let mut base = EdgeBits::none(self.matter.crowd.edges.len());
        set.iter().for_each(|edge| base.insert(self.matter.product.base[edge] as usize));
        base
    }

    fn point(&self, kind: Kind, component: &EdgeBits) -> (usize, Option<usize>) {
        let first = component.iter().next().unwrap_or_default();
        match kind {
            Kind::Plain => (self.matter.crowd.edges[first].from, None),
            Kind::Product => {
                let product = self.matter.product;
                let (view, state) = product.nodes[product.graph.arc(first).from as usize];
                (view as usize, Some(state as usize))
            }
        }
    }

    /// Where others do not go together with all of a component: what is left of it.
    fn explained(
        &mut self,
        kind: Kind,
        component: &EdgeBits,
        others: &EdgeBits,
        depth: usize,
    ) -> Result<Option<Lasting>, Halt> {
        let mut left = component.clone();
        for edge in component.iter() {
            let base = if kind == Kind::Plain { edge } else { self.matter.product.base[edge] as usize };
            if !self.pairs.is_explained(base, others) {
                left.remove(edge);
            }
        }
        if left == *component {
            return Ok(None);
        }
        Ok(self.tree(kind, &left, depth)?.map(Lasting::Others))
    }

    /// The process that a cell names for ever.
    fn named(&mut self, base: &EdgeBits, compatible: &EdgeBits, depth: usize) -> Result<Option<Lasting>, Halt> {
        let crowd = self.matter.crowd;
        for column in 0..crowd.ground.layout.shared.len() {
            let stays = |edge: usize| {
                let edge = &crowd.edges[edge];
                match (crowd.views[edge.from].shared[column], crowd.views[edge.to].shared[column]) {
                    (Item::Slot(before), Item::Slot(after)) => {
                        before != ME && after != ME && edge.kept[before as usize] == Some(after)
                    }
                    _ => false,
                }
            };
            if !base.iter().all(stays) {
                continue;
            }
            let is_me = |view: usize| crowd.views[view].shared[column] == Item::Slot(ME);
            let set = EdgeBits::where_true(crowd.edges.len(), |edge| {
                compatible.contains(edge) && is_me(crowd.edges[edge].from) && is_me(crowd.edges[edge].to)
            });
            if let Some(branches) = self.tree(Kind::Plain, &set, depth + 1)? {
                return Ok(Some(Lasting::Named { column, branches }));
            }
        }
        Ok(None)
    }

    /// A process that adds to a sum for ever.
    fn holder(&mut self, base: &EdgeBits, others: &EdgeBits, depth: usize) -> Result<Option<Lasting>, Halt> {
        let crowd = self.matter.crowd;
        for (number, sum) in self.matter.sums.iter().enumerate() {
            let somebody = |view: usize| sum.left[view] - sum.right[view] >= 1;
            if !base.iter().all(|edge| somebody(crowd.edges[edge].from) && somebody(crowd.edges[edge].to)) {
                continue;
            }
            let adds = |edge: usize| (sum.right[crowd.edges[edge].from] > 0, sum.right[crowd.edges[edge].to] > 0);
            if others.iter().any(|edge| adds(edge) == (false, true)) {
                continue;
            }
            let set =
                EdgeBits::where_true(crowd.edges.len(), |edge| others.contains(edge) && adds(edge) == (true, true));
            if let Some(branches) = self.tree(Kind::Plain, &set, depth + 1)? {
                return Ok(Some(Lasting::Holder { sum: number, branches }));
            }
        }
        Ok(None)
    }
}
