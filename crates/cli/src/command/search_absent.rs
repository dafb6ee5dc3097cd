//! What a build without the feature `search` says about one search on many hosts.

use base::StopReason;
use driver::check::{CheckLimits, Program};
use driver::checker::Checker;
use engine::{Observer, PropertyId};

use super::explore::Explored;
use crate::failure::Failure;
use crate::options::{CheckOptions, ExploreOptions, HostOptions};
use crate::status::ExitStatus;

const ABSENT: &str = "this piecewise was built without the search on many hosts; build it with `cargo build --release --features search`";

/// What comes of a call that takes part in a search.
pub enum Part<T> {
    /// This call has the outcome.
    Whole(T),
    /// Another one has it.
    #[expect(dead_code, reason = "only a build with the feature takes part in a search")]
    Member(ExitStatus),
}

/// Who answers questions on many hosts: nobody.
pub enum Joined {}

impl Joined {
    /// Who answers.
    pub fn checker(&self) -> Box<dyn Checker> {
        match *self {}
    }

    /// What turned out to be wrong with the call.
    pub fn refused(&self) -> Option<String> {
        match *self {}
    }
}

/// Whether `check` is to search: only where the call cannot mean anything else.
pub fn is_asked(options: &CheckOptions, _n_programs: usize) -> bool {
    options.hosts.are_about_one_search()
}

/// Whether `explore` is to search on many hosts.
pub fn is_asked_to_explore(options: &HostOptions) -> bool {
    options.hosts.is_some() || options.are_about_one_search()
}

/// Nobody is told.
pub fn tell_limit(_reason: &StopReason) {}

/// Refuses.
pub fn explore(
    _options: &ExploreOptions,
    _program: &Program,
    _limits: &CheckLimits,
    _observer: &dyn Observer,
) -> Result<Part<Explored>, Failure> {
    Err(ABSENT.to_owned().into())
}

/// Refuses.
pub fn join(
    _options: &CheckOptions,
    _program: &Program,
    _questions: &[PropertyId],
    _limits: &CheckLimits,
) -> Result<Part<Joined>, Failure> {
    Err(ABSENT.to_owned().into())
}
