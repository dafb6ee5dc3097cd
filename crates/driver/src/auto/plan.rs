//! Which methods `auto` tries on a Model, beside and after each other.
//!
//! In: a Model, and how many threads there are. Out: rows of methods. Rows run beside each other, the methods of a row one after the
//! other, each for a while; a row that is through begins again with more time for those that had too little. The search of the whole product has a row of its own and all
//! threads that are allowed; local methods with listed sets have another, from the coarsest to the finest; methods with decision diagrams
//! the third. Small programs are decided before (`small.rs`). A method is asked what it supports, so the same rows answer safety
//! and temporal properties.

use std::sync::Arc;
use std::time::Duration;

use engine::Engine;
use local::fair::Rule;
use local::{Local, Ls3};
use model::{Model, symmetry};
use product::{Mono, Stubborn};
use propagate::Propagate;
use pushdown::Pushdown;
use symbolic::engines::Symbolic;
use symbolic::reach::Direction;

use super::Config;
use crate::checker::SharedEngine;
use crate::listed_first::ListedFirst;

/// Methods that are tried one after the other.
pub struct Row {
    /// The methods, in their order.
    pub steps: Vec<Step>,
    /// How many threads each may use.
    pub n_threads: usize,
    /// How many times longer turns are in each further round.
    pub turn_growth: u32,
}

/// A method in a row.
pub struct Step {
    /// The method.
    pub engine: SharedEngine,
    /// What it has in the first round; `None` where it may go on to the end.
    pub first_turn: Option<Duration>,
    /// Whether questions are asked one by one, so that one which is hard does not keep the others waiting.
    pub one_by_one: bool,
}

impl Step {
    fn one_by_one(self) -> Step {
        Step { one_by_one: true, ..self }
    }
}

/// The rows for a Model. One thread walks through all of them in turn.
pub fn rows(model: &Model, n_threads: usize, config: &Config) -> Vec<Row> {
    let turn_growth = u32::try_from(config.turn_growth).unwrap_or(u32::MAX);
    let row = |steps, n_threads| Row { steps, n_threads, turn_growth };
    let plan = Plan { model, config };
    let (product, listed, drawn) = (plan.whole_product(), plan.listed(), plan.drawn());
    if n_threads > 1 {
        return vec![row(vec![product], n_threads), row(listed, 1), row(drawn, 1)];
    }
    let product = Step { first_turn: Some(config.first_search), ..product };
    let steps = std::iter::once(product).chain(listed).chain(drawn);
    vec![row(steps.collect(), 1)]
}

/// What the steps are made for.
struct Plan<'p> {
    model: &'p Model,
    config: &'p Config,
}

impl Plan<'_> {
    fn step(&self, engine: impl Engine + Send + Sync + 'static) -> Step {
        Step { engine: Arc::new(engine), first_turn: Some(self.config.first_turn), one_by_one: false }
    }

    /// The search of the whole product, to the end.
    fn whole_product(&self) -> Step {
        Step { first_turn: None, ..self.step(Mono) }
    }

    /// Local methods with listed sets. Where processes are alike, one pair stands for all, which joint searches do not know.
    fn listed(&self) -> Vec<Step> {
        let most_pairs = self.config.joint_states as u64;
        let graphs = |with_witness| self.step(Ls3 { with_witness, most_pairs });
        let pairs = || self.step(ListedFirst::k_index(2));
        let mut steps = Vec::new();
        if !self.model.procedures.is_empty() {
            // Stacks may have no bound, and other local methods know nothing of them.
            steps.push(self.step(Pushdown::default()));
        }
        steps.push(self.step(Local { k: 1, cap_bytes: self.config.local_sets.0 }));
        let is_crowded = self.model.processes.len() > self.config.paired_processes;
        if is_crowded {
            steps.push(pairs());
        } else if has_alike(self.model) {
            steps.extend([pairs(), graphs(false), graphs(true)]);
        } else {
            steps.extend([graphs(false), graphs(true), pairs()]);
        }
        if !is_crowded {
            steps.push(self.step(Stubborn));
        }
        steps.push(self.step(Propagate::default()).one_by_one());
        steps.push(self.step(ListedFirst::fair(Rule::FllB)).one_by_one());
        steps.push(self.step(ListedFirst::k_index(3)));
        steps.push(self.step(ListedFirst::fair(Rule::FllA)).one_by_one());
        steps
    }

    /// Methods with decision diagrams.
    fn drawn(&self) -> Vec<Step> {
        vec![
            self.step(Symbolic::Reach(Direction::Forward)),
            self.step(Symbolic::Global).one_by_one(),
            self.step(Symbolic::Completion),
        ]
    }
}

/// Whether some processes can be exchanged for one another.
fn has_alike(model: &Model) -> bool {
    model.families.entries().any(|(id, family)| family.count() > 1 && symmetry::asymmetries(model, id).is_empty())
}
