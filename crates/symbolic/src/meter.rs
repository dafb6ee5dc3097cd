//! What diagrams take while fair runs are searched for: noted, reported, and compared with the limit.

use std::cell::Cell;
use std::sync::atomic::Ordering;

use base::{Budget, StopReason};

use crate::system::SymbolicSystem;
use crate::watchdog::Gauge;

/// Watches what the diagrams take.
pub(crate) struct NodeMeter<'a, 'm> {
    /// Whose nodes are counted.
    pub system: &'a SymbolicSystem<'m>,
    /// What may be used.
    pub budget: &'a Budget,
    /// Where others read how far the work is.
    pub gauge: &'a Gauge,
    /// The most nodes seen in use.
    pub peak_nodes: &'a Cell<u64>,
}

impl NodeMeter<'_, '_> {
    /// Asked after each image.
    pub fn pause(&self) -> Result<(), StopReason> {
        let space = &self.system.encoding.space;
        space.tidy();
        let n_nodes = space.n_nodes() as u64;
        let bytes = self.system.bytes(n_nodes);
        self.gauge.rounds.fetch_add(1, Ordering::Relaxed);
        self.gauge.nodes.store(n_nodes, Ordering::Relaxed);
        self.gauge.memory_bytes.store(bytes, Ordering::Relaxed);
        self.peak_nodes.set(self.peak_nodes.get().max(n_nodes));
        self.budget.check(bytes)
    }
}
