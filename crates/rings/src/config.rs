//! What bounds windows of neighbours, as settings of `views` and `propagate`.
//!
//! What is only about the shape of a program (how far a process reaches, which distances are told apart) is no setting: it stands in [`ring`](crate::ring).

engine::config! {
    /// What bounds windows of neighbours.
    pub struct Config {
        /// The most processes in a window of neighbours.
        pub window_processes: usize = 3,
        /// A window of neighbours starts in so many ways, at most.
        pub window_starts: usize = 1 << 16,
        /// A process of a window takes a step in so many ways, at most.
        pub window_ways: usize = 1 << 14,
        /// Edges of the graphs of windows, all together, for temporal properties.
        pub window_edges: usize = 400_000,
        /// Components of windows that are looked at for each temporal property.
        pub window_components: usize = 1_500,
        /// Rounds over all components.
        pub window_rounds: usize = 64,
        /// What a walk around the ring may have seen and counted, for each place where it starts.
        pub window_situations: usize = 400_000,
        /// Sums that windows use together.
        pub window_sums: usize = 4,
        /// Unknown weights of sums: beyond so many, no sum is looked for.
        pub window_weights: usize = 400,
        /// Candidates for sums: elimination is given up beyond so many.
        pub window_candidates: usize = 600,
        /// States of a small size that are searched for what steps do to sums.
        pub window_samples: usize = 1_000,
    }
}
