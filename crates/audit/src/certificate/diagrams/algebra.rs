//! Operations on decision diagrams that end: each has a limit of nodes, and asks the budget.

use base::{Budget, Feature, StopReason, Unsupported};
use biodivine_lib_bdd::{Bdd, BddVariable, op_function};

use crate::certificate::Outcome;

/// What a node takes while an operation runs, with its share of the tables.
const BYTES_PER_NODE: u64 = 64;
/// The limit of nodes where memory has none.
const MOST_NODES: usize = 1 << 27;
/// Diagrams up to this size are projected in one go, which has no limit of its own.
const QUICK_PROJECTION: usize = 200_000;

/// Operations within a budget.
pub(super) struct Algebra<'a> {
    budget: &'a Budget,
    node_limit: usize,
}

impl<'a> Algebra<'a> {
    /// Operations within the budget.
    pub fn new(budget: &'a Budget) -> Self {
        let by_memory =
            budget.memory_limit().map(|bytes| usize::try_from(bytes / BYTES_PER_NODE).unwrap_or(usize::MAX));
        Algebra { budget, node_limit: by_memory.unwrap_or(MOST_NODES).min(MOST_NODES) }
    }

    /// Both.
    pub fn and(&self, one: &Bdd, other: &Bdd) -> Outcome<Bdd> {
        self.limited(Bdd::binary_op_with_limit(self.node_limit, one, other, op_function::and))
    }

    /// One of them.
    pub fn or(&self, one: &Bdd, other: &Bdd) -> Outcome<Bdd> {
        self.limited(Bdd::binary_op_with_limit(self.node_limit, one, other, op_function::or))
    }

    /// The first and not the second.
    pub fn and_not(&self, one: &Bdd, other: &Bdd) -> Outcome<Bdd> {
        self.limited(Bdd::binary_op_with_limit(self.node_limit, one, other, op_function::and_not))
    }

    /// Both or none of them.
    pub fn iff(&self, one: &Bdd, other: &Bdd) -> Outcome<Bdd> {
        self.limited(Bdd::binary_op_with_limit(self.node_limit, one, other, op_function::iff))
    }

    /// Exactly one of them.
    pub fn xor(&self, one: &Bdd, other: &Bdd) -> Outcome<Bdd> {
        self.limited(Bdd::binary_op_with_limit(self.node_limit, one, other, op_function::xor))
    }

    /// Whether they have something in common.
    pub fn meet(&self, one: &Bdd, other: &Bdd) -> Outcome<bool> {
        let tasks = self.node_limit.saturating_mul(2);
        Ok(self.limited(Bdd::check_binary_op(tasks, one, other, op_function::and))?.0)
    }

    /// Whether the first is within the second.
    pub fn within(&self, one: &Bdd, other: &Bdd) -> Outcome<bool> {
        let tasks = self.node_limit.saturating_mul(2);
        Ok(!self.limited(Bdd::check_binary_op(tasks, one, other, op_function::and_not))?.0)
    }

    /// Without these variables: there are values for them.
    pub fn exists(&self, set: &Bdd, variables: &[BddVariable]) -> Outcome<Bdd> {
        if variables.is_empty() {
            return Ok(set.clone());
        }
        if set.size() <= QUICK_PROJECTION {
            let projected = set.exists(variables);
            self.budget.check(0)?;
            return Ok(projected);
        }
        variables.iter().try_fold(set.clone(), |set, &variable| {
            let (plain, flipped) = ((&set, None), (&set, Some(variable)));
            self.limited(Bdd::fused_binary_flip_op_with_limit(self.node_limit, plain, flipped, None, op_function::or))
        })
    }

    fn limited<T>(&self, result: Option<T>) -> Outcome<T> {
        self.budget.check(0)?;
        let reason = || match self.budget.memory_limit() {
            Some(bytes) => StopReason::MemoryLimit(bytes),
            None => {
                let why = format!("a decision diagram has more than {} nodes", self.node_limit);
                Unsupported::about(Feature::Checking, why).into()
            }
        };
        Ok(result.ok_or_else(reason)?)
    }
}
