//! What predicates may hold for a focus, as sets of what it sees.
//!
//! In: predicates of fairness assumptions, taken apart, and propositions. Out: the view states of the focus at which some
//! choice of the local states of the others, each in its set at this store, makes them true.

use base::{Coarse, Feature, StopReason};
use compose::fair::conditions::support;
use compose::fair::may::May;
use model::expr::Expr;
use model::process::ProcessId;
use model::value::Value;
use temporal::Proposition;

use crate::bdd::{Bdd, OutOfNodes};
use crate::local::LocalSets;

/// What a focus sees of the others.
pub struct OthersGuess<'g, 'm> {
    /// The local sets.
    pub sets: &'g LocalSets<'m>,
    /// By process.
    pub thetas: &'g [Bdd],
    /// The process that knows its own local state.
    pub focus: ProcessId,
}

impl OthersGuess<'_, '_> {
    /// Where a predicate may hold.
    pub fn may(&self, may: &May) -> Result<Bdd, StopReason> {
        let space = &self.sets.system().encoding.space;
        match may {
            May::Truth { expr, wanted, processes, .. } => self.expression((expr, &[]), *wanted, processes),
            May::Unable(process, labels) => {
                let unable = self.sets.system().unable(*process, labels.as_deref());
                self.sets.bdd(unable.and_then(|unable| self.seen(unable, &[*process])))
            }
            // Programs with rendezvous are left to explicit sets.
            May::NobodyAble(_) => Err(Feature::Rendezvous.into()),
            May::All(parts) => parts.iter().try_fold(space.all(), |all, part| {
                let one = self.may(part)?;
                self.sets.bdd(space.and(&all, &one))
            }),
            May::Any(parts) => parts.iter().try_fold(space.empty(), |any, part| {
                let one = self.may(part)?;
                self.sets.bdd(space.or(&any, &one))
            }),
        }
    }

    /// Where a proposition holds; what it says about local states is exposed.
    pub fn proposition(&self, proposition: &Proposition) -> Result<Bdd, StopReason> {
        let processes = support(self.sets.system().model, proposition);
        self.expression((&proposition.expr, &proposition.bound), true, &processes)
    }

    /// Where an expression may have a truth value, some of whose processes' local states are not seen.
    fn expression(
        &self,
        (expr, bound): (&Expr, &[Value]),
        wanted: bool,
        processes: &[ProcessId],
    ) -> Result<Bdd, StopReason> {
        let system = self.sets.system();
        let space = &system.encoding.space;
        let truth = system.truth_of(expr, bound)?;
        let faulty = self.sets.bdd(self.seen(truth.fault.clone(), processes))?;
        if !self.sets.bdd(space.and(&faulty, &self.thetas[self.focus.index()]))?.is_empty() {
            return Err(Coarse::NoValueInRuns.into());
        }
        let states = match wanted {
            true => Ok(truth.yes),
            false => space.or(&truth.yes, &truth.fault).and_then(|rest| space.not(&rest)),
        };
        self.sets.bdd(states.and_then(|states| self.seen(states, processes)))
    }

    /// What the focus sees of states in which the local states of some processes matter.
    fn seen(&self, states: Bdd, processes: &[ProcessId]) -> Result<Bdd, OutOfNodes> {
        let encoding = &self.sets.system().encoding;
        let others = processes.iter().filter(|&&process| process != self.focus);
        others.into_iter().try_fold(states, |states, &process| {
            let hidden = encoding.bits(self.sets.local_parts(process))?;
            encoding.space.and_exists(&states, &self.thetas[process.index()], &hidden)
        })
    }
}
