//! What a search that goes level by level finds out about its questions.
//!
//! In: what the states of a level and their steps show ([`Hits`]). Out: for each question that is decided the run to it, told at once. A question is decided on the first level
//! that hits it, so the run is shortest. A state in which a property has no value decides nothing: the search goes on past it, and only where it finds nothing else is that what is said. What the search goes through does not matter here: a set of states ([`crate::search`]) or a graph ([`crate::liveness`]).

use std::time::{Duration, Instant};

use base::StopReason;
use compose::question::property_error;
use engine::meter::Meter;
use engine::{Answer, Event};
use evidence::{Exploration, Trace};
use packed::codec::Codec;
use packed::machine::Machine;
use packed::packing::Packed;
use packed::questions::{Hits, StateGoal, StateQuestion};

use crate::expand::OpenQuestions;
use crate::liveness::no_value;
use crate::path::{self, LevelStates, SearchLevels};

/// What is known about a question.
#[derive(Clone, Debug)]
pub struct QuestionFinding {
    /// The run that decides it, or why there is none.
    pub result: Result<Trace, StopReason>,
    /// When it was decided, from the start of the search.
    pub time: Duration,
    /// What was explored by then.
    pub explored: Exploration,
}

/// The questions of a search, with what is known about each.
pub struct Findings<'a> {
    machine: &'a Machine<'a>,
    questions: &'a [StateQuestion],
    meter: &'a Meter<'a>,
    /// When the search began.
    pub started: Instant,
    /// By question: what decided it, if something did.
    pub known: Vec<Option<QuestionFinding>>,
    /// By question: that its expression has no value in a state that was found, and why.
    pub without_value: Vec<Option<StopReason>>,
}

/// How far a search is when questions are decided.
#[derive(Clone, Copy)]
pub struct Reached<'r, const W: usize> {
    /// The states, by level.
    pub levels: &'r dyn LevelStates<W>,
    /// What was explored.
    pub explored: &'r Exploration,
}

impl<'a> Findings<'a> {
    /// Nothing is known yet.
    pub fn new(machine: &'a Machine<'a>, questions: &'a [StateQuestion], meter: &'a Meter<'a>) -> Self {
        let known = questions.iter().map(|_| None).collect();
        let without_value = vec![None; questions.len()];
        Findings { machine, questions, meter, started: Instant::now(), known, without_value }
    }

    /// The questions that nothing has decided.
    pub fn open(&self) -> OpenQuestions<'a> {
        OpenQuestions::new(self.questions, |at| self.known[at].is_none())
    }

    /// Whether every question is decided; not where there is none.
    pub fn are_complete(&self) -> bool {
        !self.questions.is_empty() && self.known.iter().all(Option::is_some)
    }

    /// Tells that nothing will decide what is open, since everything was explored.
    pub fn end(&self) {
        let open = self.questions.iter().zip(&self.known).filter(|(_, finding)| finding.is_none());
        open.for_each(|(question, _)| self.meter.tell(Event::Decided(question.property)));
    }

    /// Makes findings of what the steps of the states of a level show, and the states after them.
    pub fn decide_steps<const W: usize>(&mut self, hits: &Hits<W>, depth: usize, reached: Reached<'_, W>) {
        self.decide(hits, |goal| !matches!(goal, StateGoal::State(..)), (depth, reached));
        self.decide_states(hits, depth + 1, reached);
    }

    /// Makes findings of what the states of a level show.
    pub fn decide_states<const W: usize>(&mut self, hits: &Hits<W>, depth: usize, reached: Reached<'_, W>) {
        self.decide(hits, |goal| matches!(goal, StateGoal::State(..)), (depth, reached));
    }

    fn decide<const W: usize>(
        &mut self,
        hits: &Hits<W>,
        wanted: impl Fn(&StateGoal) -> bool,
        (depth, reached): (usize, Reached<'_, W>),
    ) {
        for (at, question) in self.questions.iter().enumerate().filter(|(_, question)| wanted(&question.goal)) {
            let levels = SearchLevels { machine: self.machine, states: reached.levels, meter: self.meter };
            if self.known[at].is_some() {
                continue;
            }
            if let (Some(state), None) = (&hits.faulty[at], &self.without_value[at]) {
                self.without_value[at] = Some(without_value(self.machine.codec, question, state));
            }
            if !hits.decided[at] {
                continue;
            }
            let result = path::trace(levels, &question.goal, depth);
            let finding = QuestionFinding { result, time: self.started.elapsed(), explored: reached.explored.clone() };
            self.meter.tell(Event::Decided(question.property));
            self.meter.answered(&self.answer_of(&finding, question));
            self.known[at] = Some(finding);
        }
    }

    fn answer_of(&self, finding: &QuestionFinding, question: &StateQuestion) -> Answer {
        finding.answer(self.machine.codec.model, question.property, self.meter)
    }
}

/// Why a property's own expression has no value in a state, which is reachable.
pub fn without_value<const W: usize>(codec: &Codec<'_>, question: &StateQuestion, state: &Packed<W>) -> StopReason {
    let property = &codec.model.properties[question.property].kind;
    property_error(codec.model, property, &codec.unpack(state)).unwrap_or_else(no_value)
}
