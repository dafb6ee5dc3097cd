//! The contract between engines and the rest.
//!
//! A [`Task`] goes in: a Model, the questions, what may be used. [`Event`]s come out while it runs, and one [`Answer`] for
//! each question, or an [`EngineError`] where the engine contradicts itself. An engine does not print, open files, read flags or
//! keep globals.

pub mod denied;
pub mod error;
pub mod graph;
pub mod insight;
pub mod meter;
pub mod methods;
pub mod run;
pub mod settings;

use std::time::Duration;

use base::{Budget, Id, StopReason};
use evidence::certificate::LocalFact;
use evidence::{Evidence, Scope};
use model::Model;
use model::eval::State;
use model::process::ProcessId;
use model::property::Property;

pub use error::{Contradiction, EngineError, Halt};
pub use methods::Method;
use settings::Settings;

/// Names a property of a Model.
pub type PropertyId = Id<Property>;

/// What an engine is asked.
#[derive(Clone, Debug)]
pub struct Task<'a> {
    /// The program.
    pub model: &'a Model,
    /// The questions.
    pub properties: Vec<PropertyId>,
    /// What may be used.
    pub budget: Budget,
    /// How many threads may run, at least 1.
    pub n_threads: usize,
}

impl Task<'_> {
    /// None of the questions is decided, for this reason.
    pub fn undecided(&self, reason: &StopReason) -> Vec<Answer> {
        let statistics = Statistics { time: self.budget.elapsed(), ..Statistics::default() };
        let unknown = |&property: &PropertyId| {
            let verdict = Verdict::Unknown(reason.clone());
            Answer { property, verdict, statistics: statistics.clone() }
        };
        self.properties.iter().map(unknown).collect()
    }
}

/// The answer to one question: no claim without evidence.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The property holds.
    Holds(Evidence),
    /// The property does not hold.
    Violated(Evidence),
    /// It was not decided.
    Unknown(StopReason),
}

impl Verdict {
    /// For which sizes it is true. What is not decided is not decided for this instance.
    pub fn scope(&self) -> Scope {
        match self {
            Verdict::Holds(evidence) | Verdict::Violated(evidence) => evidence.scope(),
            Verdict::Unknown(_) => Scope::Instance,
        }
    }
}

/// A verdict with what it took.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The question.
    pub property: PropertyId,
    /// The answer.
    pub verdict: Verdict,
    /// What it took.
    pub statistics: Statistics,
}

/// What an answer took. What an engine does not have is `None`.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    /// The method that decided, where one method calls others.
    pub method: Option<&'static str>,
    /// Time until the question was decided.
    pub time: Duration,
    /// Time until the verdict was first known and audited, counted from the start of the check; better evidence may have come later.
    pub first_known: Option<Duration>,
    /// The most memory that the engine's data took, in bytes.
    pub peak_memory_bytes: Option<u64>,
    /// States of the whole product that were stored.
    pub global_states: Option<u64>,
    /// Transitions of the whole product that were taken.
    pub global_transitions: Option<u64>,
    /// How deep the search went.
    pub depth: Option<u64>,
    /// The most nodes that decision diagrams took.
    pub peak_nodes: Option<u64>,
    /// How many rounds of refinement a local proof took.
    pub refinements: Option<u64>,
    /// The sizes of the local sets, in the order of the proof's members; `None` for one that is too large to count.
    pub local_states: Option<Vec<Option<u64>>>,
    /// What each process saw of the shared store, where a method works with local sets.
    pub views: Option<SharedView>,
    /// What a local proof had to expose, round by round.
    pub exposures: Vec<Exposure>,
    /// The methods that were tried, in the order in which they ended, where one method calls others.
    pub tried: Vec<Attempt>,
}

/// A method that was tried on a question, beside or before others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The method.
    pub method: &'static str,
    /// When it ended, counted from the start of all of them.
    pub ended: Duration,
    /// How long it took, with the audit of what it answered.
    pub took: Duration,
    /// What came of it.
    pub outcome: AttemptOutcome,
}

/// What came of trying a method on a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// It decided the question.
    Decided,
    /// It did not, for this reason.
    Open(StopReason),
    /// It was stopped, because another one had decided the question.
    Overtaken,
}

/// One round of refinement: what processes expose to each other from then on, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Exposure {
    /// The facts, each about the local state of one process; control points are numbered as in the certificate.
    pub facts: Vec<(ProcessId, LocalFact)>,
    /// A state that the local sets did not exclude, which only the facts distinguish from harmless ones.
    pub because: Option<State>,
    /// The distance from `because` to a state that violates the property; 0 where it violates the property itself.
    pub steps: usize,
}

/// What a process sees of the shared store in a local set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedView {
    /// The shared and public cells that it mentions.
    Mentioned,
    /// All shared and public cells.
    Whole,
}

/// What happens while an engine runs.
#[derive(Clone, Debug)]
pub enum Event {
    /// How far a search of the whole product is; sent a few times a second at most.
    Searching {
        /// States stored.
        states: u64,
        /// States of the current level not yet expanded, and those of the next one.
        frontier: u64,
        /// Steps from the initial states.
        depth: u64,
        /// What the engine's data takes.
        memory_bytes: u64,
    },
    /// How far a method is that works with sets of states as decision diagrams; sent a few times a second at most.
    Proving {
        /// Rounds of refinement, or of images.
        rounds: u64,
        /// Facts that processes expose to each other so far.
        exposed: u64,
        /// Nodes of decision diagrams in use.
        nodes: u64,
        /// What the engine's data takes.
        memory_bytes: u64,
    },
    /// A question is decided; more may be open.
    Decided(PropertyId),
}

/// Receives the events of an engine; may be called from any of its threads.
pub trait Observer: Sync {
    /// Something happened.
    fn event(&self, event: Event);

    /// An answer that will stay, while others are open: it counts even where the engine is stopped before it is through.
    fn answered(&self, _answer: &Answer) {}

    /// A guess of how much work is left, as a part of what was done.
    fn left(&self, _part: f64) {}

    /// An audited verdict that will stay, while others are open: it may be shown at once. Better evidence for it may come later.
    fn known(&self, _result: &run::PropertyResult) {}
}

/// Ignores all events.
pub struct Silent;

impl Observer for Silent {
    fn event(&self, _event: Event) {}
}

/// A method that answers questions.
pub trait Engine {
    /// The method.
    fn method(&self) -> Method;

    /// The method's name on the command line.
    fn name(&self) -> &'static str {
        self.method().name()
    }

    /// What bounds it, where a user may give it other values.
    fn settings(&mut self) -> Option<&mut dyn Settings> {
        None
    }

    /// Whether the method answers this question at all, by what it declares.
    ///
    /// # Errors
    /// What it does not follow.
    fn supports(&self, model: &Model, property: PropertyId) -> Result<(), StopReason> {
        self.method().supports(model, property)
    }

    /// One answer for each property of the task, in the order of the task. The properties are supported ones.
    ///
    /// # Errors
    /// The engine contradicts itself: it is wrong, and none of its verdicts may be shown.
    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Vec<Answer>, EngineError>;
}
