//! Path edges counted, for measurements.

use base::{Budget, StopReason};
use engine::SharedView;
use model::Model;

use crate::exposed::ExposedBits;
use crate::saturate::Saturation;
use local::sets::views::ViewMasks;
use packed::codec::{Codec, UnrollLimits};
use packed::compile::Compiler;
use packed::machine::Machine;
use packed::width::{ForWidth, with_coarse_width};

/// How many facts there are, and what they take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathEdges {
    /// Path edges of all processes.
    pub path_edges: u64,
    /// Local states of all processes.
    pub local_states: u64,
    /// Guarantees of all processes.
    pub guarantees: u64,
    /// What all data takes.
    pub bytes: u64,
}

/// The path edges of a program, with nothing exposed.
///
/// # Errors
/// A limit that was reached.
pub fn path_edges(model: &Model, budget: &Budget) -> Result<PathEdges, StopReason> {
    let codec = Codec::new(model, UnrollLimits { least_stack_bits: 32, ..UnrollLimits::default() });
    with_coarse_width(codec.layout.n_words, Counting { codec: &codec, budget })?
}

struct Counting<'c> {
    codec: &'c Codec<'c>,
    budget: &'c Budget,
}

impl ForWidth for Counting<'_> {
    type Output = Result<PathEdges, StopReason>;

    fn run<const W: usize>(self) -> Self::Output {
        let machine = Machine { codec: self.codec, code: Compiler::new(self.codec).finish() };
        let sight = ViewMasks::<W>::new(self.codec, SharedView::Mentioned);
        let mut saturation = Saturation::new(&machine, &sight, ExposedBits::new(self.codec, &[]), self.budget);
        saturation.run()?;
        Ok(PathEdges {
            path_edges: saturation.n_path_edges(),
            local_states: saturation.threads.iter().map(|thread| thread.states.len() as u64).sum(),
            guarantees: saturation.threads.iter().map(|thread| thread.guarantee.len() as u64).sum(),
            bytes: saturation.bytes,
        })
    }
}
