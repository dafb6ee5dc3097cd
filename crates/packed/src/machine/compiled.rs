//! The machine's work on states of each width, compiled once.
//!
//! What is generic over the width is compiled again in every crate that uses it. The machine is the largest such part and four crates
//! run it, so its entries for each width are in a table here, and a [`Scratch`](super::Scratch) knows those of its own. The widths are those of [`crate::width`].

use std::any::Any;
use std::ops::ControlFlow;

use model::control::ActionId;
use model::process::ProcessId;

use super::{Machine, Scratch, Sink, SyncWith};
use crate::packing::Packed;
use crate::width::MAX_WORDS;

/// Whether there was anything to show, unless the sink ended it.
type ExpandResult = ControlFlow<(), bool>;

/// The process that steps, and its partners.
type Moving = (ProcessId, SyncWith);

/// The entries of the machine for states of `W` words.
#[derive(Clone, Copy)]
pub(super) struct Compiled<const W: usize> {
    /// All that leaves a state.
    pub all: fn(&Machine<'_>, &Packed<W>, &Scratch<W>, &mut dyn Sink<W>) -> ExpandResult,
    /// The steps of one process.
    pub process: fn(&Machine<'_>, ProcessId, &Packed<W>, &Scratch<W>, &mut dyn Sink<W>) -> ExpandResult,
    /// What a process can do in some company.
    pub with: fn(&Machine<'_>, Moving, &Packed<W>, &Scratch<W>, &mut dyn Sink<W>) -> ExpandResult,
    /// The same, for some actions only.
    pub some: fn(&Machine<'_>, Moving, &Packed<W>, ActionFilter<'_, W>, &mut dyn Sink<W>) -> ExpandResult,
}

/// The registers, and which actions are wanted.
type ActionFilter<'w, const W: usize> = (&'w Scratch<W>, &'w dyn Fn(ActionId) -> bool);

impl<const W: usize> Compiled<W> {
    const ENTRIES: Compiled<W> = Compiled {
        all: |machine, state, scratch, sink| machine.run_all(state, scratch, sink),
        process: |machine, process, state, scratch, sink| machine.run_process(process, state, scratch, sink),
        with: |machine, moving, state, scratch, sink| machine.run_with(moving, state, scratch, sink),
        some: |machine, moving, state, wanted, sink| machine.run_steps(moving, state, wanted, sink),
    };

    /// The entries for this width.
    ///
    /// # Panics
    /// If it is none of [`crate::width`].
    pub fn of_width() -> Compiled<W> {
        *entries(W).downcast_ref().expect("the table has this width at its number")
    }
}

/// The entries for a width. Not generic, so that no other crate compiles them again.
fn entries(width: usize) -> &'static dyn Any {
    match width {
        #[cfg(not(debug_assertions))]
        1 => &Compiled::<1>::ENTRIES,
        #[cfg(not(debug_assertions))]
        2 => &Compiled::<2>::ENTRIES,
        #[cfg(not(debug_assertions))]
        3 => &Compiled::<3>::ENTRIES,
        4 => &Compiled::<4>::ENTRIES,
        #[cfg(not(debug_assertions))]
        8 => &Compiled::<8>::ENTRIES,
        #[cfg(not(debug_assertions))]
        16 => &Compiled::<16>::ENTRIES,
        32 => &Compiled::<32>::ENTRIES,
        MAX_WORDS => &Compiled::<MAX_WORDS>::ENTRIES,
        _ => unreachable!("{width} is no width that programs are run with"),
    }
}
