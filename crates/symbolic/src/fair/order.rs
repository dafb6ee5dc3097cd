//! The order in which relations are applied until none brings anything new.
//!
//! The relations of one mover are applied until they bring nothing, then those of the next. Sets that are closed under
//! what one process does have much smaller diagrams than those on the way there.

use std::ops::Range;

use model::process::ProcessId;

/// Which relation is next.
pub struct RelationOrder {
    /// The relations of each mover.
    groups: Vec<Range<usize>>,
    group: usize,
    edge: usize,
    /// How many relations of the group, one after the other, brought nothing.
    n_idle: usize,
    /// Whether the group has brought anything since it was entered.
    has_brought: bool,
    /// How many groups, one after the other, are closed.
    n_closed: usize,
}

impl RelationOrder {
    /// Begins with the first mover; given is whose each relation is.
    pub fn new(movers: impl IntoIterator<Item = Option<ProcessId>>) -> Self {
        let mut groups: Vec<Range<usize>> = Vec::new();
        let mut last = None;
        for (nth, mover) in movers.into_iter().enumerate() {
            match groups.last_mut() {
                Some(group) if last == Some(mover) => group.end = nth + 1,
                _ => groups.push(nth..nth + 1),
            }
            last = Some(mover);
        }
        RelationOrder { groups, group: 0, edge: 0, n_idle: 0, has_brought: false, n_closed: 0 }
    }

    /// The relation to apply now; `None` when all are closed.
    pub fn edge(&self) -> Option<usize> {
        (self.n_closed < self.groups.len()).then_some(self.edge)
    }

    /// The relation was applied: whether it brought anything.
    pub fn applied(&mut self, brought: bool) {
        self.has_brought |= brought;
        self.n_idle = if brought { 0 } else { self.n_idle + 1 };
        let group = self.groups[self.group].clone();
        self.edge = if self.edge + 1 == group.end { group.start } else { self.edge + 1 };
        if self.n_idle < group.len() {
            return;
        }
        self.n_closed = if self.has_brought { 1 } else { self.n_closed + 1 };
        self.group = (self.group + 1) % self.groups.len();
        self.edge = self.groups[self.group].start;
        (self.n_idle, self.has_brought) = (0, false);
    }
}
