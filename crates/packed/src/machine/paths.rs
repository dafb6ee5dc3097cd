//! The paths of one process out of one state, each transition passed to the sink once.

use std::collections::HashSet;

use model::control::StatementId;
use model::process::ProcessId;
use rustc_hash::FxBuildHasher;

use super::chain::Marked;
use super::{Flow, Scratch, Sink, SyncWith};
use crate::packing::Packed;

/// A transition of steps that may repeat it: the statements, and the successor.
type KnownTransition<const W: usize> = (StatementId, Option<(ProcessId, StatementId)>, Packed<W>);

/// Transitions that the sink has seen.
pub(super) type KnownSet<const W: usize> = HashSet<KnownTransition<W>, FxBuildHasher>;

/// A set that has grown larger is not kept: to clear it takes as long as it is large.
pub(super) const MAX_KEPT: usize = 256;

/// The paths of one process from one state.
pub(super) struct Paths<'a, const W: usize> {
    /// Where transitions go.
    pub sink: &'a mut dyn Sink<W>,
    /// Registers.
    pub scratch: &'a Scratch<W>,
    /// The process that steps.
    pub process: ProcessId,
    /// Its partners.
    pub company: SyncWith,
    /// By which mark.
    pub marked: Marked,
    /// How many paths were a fault.
    pub n_faults: u64,
    /// How many transitions the sink has seen.
    pub n_successors: u64,
    /// What was found so far, if paths may coincide.
    pub known: Option<KnownSet<W>>,
    /// The statement of the step at hand.
    pub statement: StatementId,
    /// The partner in it, and the partner's statement.
    pub partner: Option<(ProcessId, StatementId)>,
}

impl<const W: usize> Paths<'_, W> {
    /// A path that ends in a state.
    #[inline]
    pub fn successor(&mut self, next: &Packed<W>) -> Flow {
        if let Some(known) = &mut self.known
            && !known.insert((self.statement, self.partner, *next))
        {
            return Flow::Continue(());
        }
        self.n_successors += 1;
        self.sink.successor(self.process, next)
    }

    /// Asks whether to go on.
    pub fn pause(&mut self) -> Flow {
        let n_held = self.known.as_ref().map_or(0, HashSet::capacity);
        self.sink.pause((n_held * size_of::<KnownTransition<W>>()) as u64)
    }
}
