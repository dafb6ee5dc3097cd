//! What bounds views, as settings of the method.
//!
//! A proof that ends at one of them leaves the question open; nothing that they bound is claimed. Numbers that belong to how something is represented, or to how often limits are looked at, stand where they are used.

use std::sync::LazyLock;

engine::config! {
    /// What bounds views.
    pub struct Config {
        /// The most processes in a view.
        pub processes: usize = 3,
        /// Views of one process, where more may be tried, take so many steps: where these do not do, views of two decide sooner.
        pub steps_of_one: usize = 20_000,
        /// Views of more than one process take so many steps with all columns, before some are left out.
        pub steps_at_first: usize = 5_000,
        /// Views that hide nothing, for deadlocks that others do not exclude, take so many steps.
        pub steps_to_show: usize = 100_000,
        /// Views of two that are more than this are not made wider.
        pub views_to_widen: usize = 400,
        /// So often columns are shown again, as the admitted violation asks for.
        pub turns: usize = 6,
        /// Tries to complete a view to a state in which nobody can move.
        pub trials: usize = 300_000,
        /// Views of cells: local states of a process that are listed. The checker goes through them two by two.
        pub cell_locals: usize = 1_200,
        /// Views of cells: steps that are listed.
        pub cell_steps: usize = 200_000,
        /// Views of cells: states of one view.
        pub cell_states: usize = 10_000,
        /// Views of cells: steps of others that are looked at, for one view.
        pub cell_scenes: usize = 20_000,
        /// Views of cells, with sums: states of one view.
        pub cell_states_with_sums: usize = 50_000,
        /// Views of cells, with sums: steps of others that are looked at, for one view.
        pub cell_scenes_with_sums: usize = 250_000,
        /// Views of cells: questions to other views whether they have room for a step.
        pub cell_questions: usize = 400_000,
        /// Views of cells: choices in the search for a violating state that all views admit.
        pub cell_choices: usize = 2_000,
        /// Views of cells: with more local states than this they are not all told apart.
        pub cell_locals_apart: usize = 100,
        /// Views of cells: with more local states than this no two cells are put into one view.
        pub cell_locals_merged: usize = 64,
        /// Sums of views of cells: unknown weights.
        pub sum_weights: usize = 400,
        /// Sums of views of cells: numbers modulo which they are looked for.
        pub sum_moduli: usize = 6,
        /// Sums of views of cells that are used together.
        pub sums: usize = 8,
        /// Views of processes that are counted.
        pub counted_views: usize = 1_500,
        /// Ways of steps from views of processes that are counted.
        pub counted_ways: usize = 400_000,
        /// Systems of linear constraints on how many processes there are of each view. Counted references that the last one frees, with the owner's, take more than
        /// 4000 of them and a quarter of a second; programs of which nothing is proved cost up to a second.
        pub counted_systems: usize = 12_000,
        /// Tries to complete a view of processes that are counted to a state in which nobody can move.
        pub counted_trials: usize = 20_000,
    }
}

/// The usual ones.
pub static USUAL: LazyLock<Config> = LazyLock::new(Config::default);
