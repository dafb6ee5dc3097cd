//! All ways through a computation with choices, one after the other: each way is computed anew with the next choices, but for loops over
//! the family inside a step, whose ends are kept for the ways that come to the same loop with the same values.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::alike::Columns;
use crate::configuration::{Configuration, Item, Slot};
use crate::hiding::ViewColumn;
use crate::sight::Halt;

/// Everything that a loop inside a step may lead to.
pub(crate) type Ends = Vec<Result<Configuration, Halt>>;

/// The same, and which hidden columns its rounds read.
#[derive(Clone, Debug)]
pub(crate) struct LoopEnds {
    pub ends: Ends,
    pub hidden: Vec<ViewColumn>,
}

/// All that the ends of a loop inside a step depend on; its process is the same on all ways.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LoopEntry {
    /// Where its text is.
    pub text: usize,
    /// What is known of the state.
    pub config: Configuration,
    /// The values of bound variables.
    pub bound: Vec<Item>,
}

/// The choices of one way.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// What was chosen, out of how many.
    taken: Vec<(usize, usize)>,
    at: usize,
    /// The ends of loops that this way and earlier ones came to.
    pub(crate) ends: FxHashMap<LoopEntry, Rc<LoopEnds>>,
    /// Of this process it is noted which columns are read, on all ways.
    pub(crate) watched: Option<Slot>,
    pub(crate) read: Columns,
}

impl Choices {
    /// The first choices, where it is noted what is read of a process.
    pub(crate) fn watching(watched: Option<Slot>) -> Choices {
        Choices { watched, ..Choices::default() }
    }

    /// A number below `n`; 0 where there is nothing to choose.
    pub fn choose(&mut self, n: usize) -> usize {
        if n < 2 {
            return 0;
        }
        if self.at == self.taken.len() {
            self.taken.push((0, n));
        }
        self.at += 1;
        self.taken[self.at - 1].0
    }

    /// Notes what is read of the process that is watched.
    pub(crate) fn watch(&mut self, slot: Slot, column: usize) {
        if self.watched == Some(slot) {
            self.read |= 1 << column;
        }
    }

    /// Goes on to the next way; whether there is one.
    pub fn advance(&mut self) -> bool {
        self.at = 0;
        while let Some((chosen, n)) = self.taken.pop() {
            if chosen + 1 < n {
                self.taken.push((chosen + 1, n));
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_is_taken_once() {
        let mut choices = Choices::default();
        let mut ways = Vec::new();
        loop {
            let first = choices.choose(3);
            ways.push((first, if first == 1 { choices.choose(2) } else { 9 }));
            if !choices.advance() {
                break;
            }
        }
        assert_eq!(ways, [(0, 9), (1, 0), (1, 1), (2, 9)]);
    }
}
