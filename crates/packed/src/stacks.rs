//! Call stacks as numbers.
//!
//! The frames of a process below its top one do not change until they are returned to, so they are kept once: a stack is
//! its upper frame (the site of the call and the slots of the caller) on a smaller stack, and equal ones have one number.
//! The packed state holds the number. Recursion may go on for ever; the search ends at the limit of its budget.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

use rustc_hash::FxBuildHasher;

/// A frame that waits for a call to return, and the stack below it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WaitingFrame {
    /// Where it called.
    pub site: u32,
    /// The content of its slots, as in the fields of the layout's room.
    pub slots: Box<[u64]>,
    /// The number of the stack below; 0 where this is the bottom.
    pub below: u32,
}

/// The stacks of one process that were reached so far. May be used from several threads.
#[derive(Default)]
pub struct Stacks {
    known: RwLock<KnownStack>,
    /// What the stacks take in memory; an estimate.
    bytes: AtomicU64,
}

#[derive(Default)]
struct KnownStack {
    /// By number less 1.
    list: Vec<WaitingFrame>,
    numbers: HashMap<WaitingFrame, u32, FxBuildHasher>,
}

impl Stacks {
    /// The number of a stack: the same for equal ones, at least 1. `None` where there are too many.
    pub fn number(&self, upper: WaitingFrame) -> Option<u32> {
        if let Some(&number) = self.known.read().unwrap_or_else(PoisonError::into_inner).numbers.get(&upper) {
            return Some(number);
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let next = u32::try_from(known.list.len() + 1).ok()?;
        let number = *known.numbers.entry(upper.clone()).or_insert(next);
        if number == next {
            // Each frame is held twice, in the list and as a key.
            let bytes = 2 * (size_of::<WaitingFrame>() + size_of_val(&*upper.slots)) + 16;
            self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
            known.list.push(upper);
        }
        Some(number)
    }

    /// The stack with a number.
    pub fn stack(&self, number: u32) -> WaitingFrame {
        self.known.read().unwrap_or_else(PoisonError::into_inner).list[number as usize - 1].clone()
    }

    /// What the stacks take in memory.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_stacks_have_one_number() {
        let stacks = Stacks::default();
        let frame = |site, slot, below| WaitingFrame { site, slots: Box::new([slot]), below };
        let bottom = stacks.number(frame(3, 7, 0)).unwrap();
        let upper = stacks.number(frame(3, 7, bottom)).unwrap();
        assert_eq!((bottom, upper), (1, 2));
        assert_eq!(stacks.number(frame(3, 7, 0)), Some(1));
        assert_eq!(stacks.number(frame(3, 8, 0)), Some(3));
        assert_eq!(stacks.stack(upper), frame(3, 7, bottom));
    }
}
