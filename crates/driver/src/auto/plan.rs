//! Which methods `auto` tries on a Model, beside and after each other.
//!
//! In: a Model, and how many threads there are. Out: rows of methods. Rows run beside each other, the methods of a row one after the
//! other, each for a while; a row that is through begins again with more time for those that had too little. The search of the whole product has a row of its own and all
//! threads that are allowed; local methods with listed sets have another, from the coarsest to the finest; methods with decision diagrams
//! the third. Small programs are decided before (`small.rs`). A method is asked what it supports, so the same rows answer safety
//! and temporal properties.

use std::sync::Arc;
use std::time::Duration;

use explicit::fair::Rule;
use explicit::local::{Local, Ls3};
use explicit::pushdown::Pushdown;
use explicit::{Mono, Stubborn};
use model::{Model, symmetry};
use symbolic::engines::Symbolic;
use symbolic::reach::Direction;

use crate::checker::SharedEngine;
use crate::listed_first::ListedFirst;

/// Among more processes there are too many pairs for a joint search of each, and so for what is reduced by them.
const MOST_PROCESSES: usize = 40;

/// What a method has in the first round of its row; four times as much in each further one.
const FIRST_TURN: Duration = Duration::from_millis(800);

/// What the search of the whole product has first where it has to share its only thread.
const FIRST_SEARCH: Duration = Duration::from_millis(100);

/// Local proofs with more joint states take longer to be checked again than the whole product to be searched.
const MOST_PAIRS: u64 = 300_000;

/// Methods that are tried one after the other.
pub struct Row {
    /// The methods, in their order.
    pub steps: Vec<Step>,
    /// How many threads each may use.
    pub n_threads: usize,
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
    fn new(engine: impl Into<SharedEngine>) -> Step {
        Step { engine: engine.into(), first_turn: Some(FIRST_TURN), one_by_one: false }
    }

    fn one_by_one(self) -> Step {
        Step { one_by_one: true, ..self }
    }
}

/// The rows for a Model. One thread walks through all of them in turn.
pub fn rows(model: &Model, n_threads: usize) -> Vec<Row> {
    let product = Row { steps: vec![whole_product()], n_threads };
    let listed = Row { steps: listed(model), n_threads: 1 };
    let drawn = Row { steps: drawn(), n_threads: 1 };
    if n_threads > 1 { vec![product, listed, drawn] } else { vec![in_one([product, listed, drawn])] }
}

fn in_one(rows: [Row; 3]) -> Row {
    let mut steps: Vec<Step> = rows.into_iter().flat_map(|row| row.steps).collect();
    steps[0].first_turn = Some(FIRST_SEARCH);
    Row { steps, n_threads: 1 }
}

/// The search of the whole product, to the end.
fn whole_product() -> Step {
    Step { first_turn: None, ..Step::new(Arc::new(Mono) as SharedEngine) }
}

/// Local methods with listed sets. Where processes are alike, one pair stands for all, which joint searches do not know.
fn listed(model: &Model) -> Vec<Step> {
    let step = |engine: SharedEngine| Step::new(engine);
    let graphs = |with_witness| step(Arc::new(Ls3 { with_witness, most_pairs: MOST_PAIRS }));
    let pairs = || step(Arc::new(ListedFirst::k_index(2)));
    let mut steps = Vec::new();
    if !model.procedures.is_empty() {
        // Stacks may have no bound, and other local methods know nothing of them.
        steps.push(step(Arc::new(Pushdown)));
    }
    steps.push(step(Arc::new(Local { k: 1, cap_bytes: 512 << 20 })));
    let is_crowded = model.processes.len() > MOST_PROCESSES;
    if is_crowded {
        steps.push(pairs());
    } else if has_alike(model) {
        steps.extend([pairs(), graphs(false), graphs(true)]);
    } else {
        steps.extend([graphs(false), graphs(true), pairs()]);
    }
    if !is_crowded {
        steps.push(step(Arc::new(Stubborn)));
    }
    steps.push(step(Arc::new(ListedFirst::fair(Rule::FllB))).one_by_one());
    steps.push(step(Arc::new(ListedFirst::k_index(3))));
    steps.push(step(Arc::new(ListedFirst::fair(Rule::FllA))).one_by_one());
    steps
}

/// Methods with decision diagrams.
fn drawn() -> Vec<Step> {
    let step = |engine: Symbolic| Step::new(Arc::new(engine) as SharedEngine);
    vec![step(Symbolic::Reach(Direction::Forward)), step(Symbolic::Global).one_by_one(), step(Symbolic::Completion)]
}

/// Whether some processes can be exchanged for one another.
fn has_alike(model: &Model) -> bool {
    model.families.entries().any(|(id, family)| family.count() > 1 && symmetry::asymmetries(model, id).is_empty())
}
