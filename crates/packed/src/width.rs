//! Code for each width of a packed state.
//!
//! Everything that touches states is compiled for several numbers of words, so that a state is a value of known size. A
//! program takes the smallest that is wide enough. Without optimisation for a release there are few widths, since each takes
//! its time to compile.

use base::{Feature, StopReason, Unsupported};

/// Work that is compiled for each width.
pub trait ForWidth {
    /// What it yields.
    type Output;

    /// Does the work with states of `W` words.
    fn run<const W: usize>(self) -> Self::Output;
}

/// The most words that a state may have.
pub const MAX_WORDS: usize = 1024;

/// Does the work with the smallest width for so many words.
pub fn with_width<T: ForWidth>(n_words: usize, work: T) -> Result<T::Output, StopReason> {
    Ok(match n_words {
        #[cfg(not(debug_assertions))]
        0 | 1 => work.run::<1>(),
        #[cfg(not(debug_assertions))]
        2 => work.run::<2>(),
        #[cfg(not(debug_assertions))]
        3 => work.run::<3>(),
        0..=4 => work.run::<4>(),
        #[cfg(not(debug_assertions))]
        5..=8 => work.run::<8>(),
        #[cfg(not(debug_assertions))]
        9..=16 => work.run::<16>(),
        5..=32 => work.run::<32>(),
        33..=MAX_WORDS => work.run::<MAX_WORDS>(),
        _ => return Err(too_wide(n_words)),
    })
}

/// Does the work with one of a few widths, for work of which many copies would not pay.
pub fn with_coarse_width<T: ForWidth>(n_words: usize, work: T) -> Result<T::Output, StopReason> {
    Ok(match n_words {
        #[cfg(not(debug_assertions))]
        0..=2 => work.run::<2>(),
        0..=4 => work.run::<4>(),
        5..=32 => work.run::<32>(),
        33..=MAX_WORDS => work.run::<MAX_WORDS>(),
        _ => return Err(too_wide(n_words)),
    })
}

fn too_wide(n_words: usize) -> StopReason {
    let (kilobytes, most) = (n_words / 128, MAX_WORDS / 128);
    Unsupported::about(Feature::WideStates, format!("{kilobytes} kB, and explicit states have at most {most} kB"))
        .into()
}
