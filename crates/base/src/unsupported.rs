//! What methods do not follow, and what their over-approximations cannot decide: reasons as data, with their sentences in one table.
//!
//! In: a reason, and the name of what it is about. Out: the sentence for people. A sentence names no method: which one to take instead
//! follows from what the methods declare (`engine::methods`), for the program and the property at hand.

use std::fmt;

/// What a question or a program asks of a method that does not have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Feature {
    /// The property is temporal.
    Temporal,
    /// The property is not temporal.
    Safety,
    /// The property is about races.
    Races,
    /// The property is given as an automaton.
    GivenAutomaton,
    /// The property assumes more fairness than that of scheduling.
    Fairness,
    /// A fairness assumption depends on many processes at once.
    WideFairness,
    /// A quantifier around temporal operators ranges over values that change.
    ChangingDomain,
    /// The property has a large tableau, on which proofs of temporal properties rest.
    Tableau,
    /// The program calls procedures.
    Procedures,
    /// The program has channels.
    Rendezvous,
    /// A receiver takes certain values only, or ignores one.
    Patterns,
    /// A step goes on over several actions.
    Chains,
    /// A step goes on over several actions, and the question is about all that it does at once.
    WholeChains,
    /// A step goes on before or after a rendezvous.
    ChainedRendezvous,
    /// An action is enabled only where no other process is.
    WhenNobody,
    /// Processes may wait for ever at some places, and the property is freedom from deadlock.
    EndPlaces,
    /// Something has to hold initially, beside what each cell may start with.
    Initially,
    /// A process reads the control locations of others; about its name.
    Locations,
    /// A process has loops with many rounds; about its name.
    LongLoops,
    /// There is a call in a loop with many rounds.
    LongLoopAroundCall,
    /// A cell has many values; about its name.
    ManyValues,
    /// A statement has many outcomes; about its text.
    ManyOutcomes,
    /// A quantifier, or a loop within a step, has many rounds.
    ManyRounds,
    /// Which cells two processes access together in a state.
    SharedAccess,
    /// A proof needs larger views than the checker computes.
    WholeViews,
    /// A state is wide; about how wide it is.
    WideStates,
    /// Something has to be numbered of which there is too much; about what.
    Numbers,
    /// The proof is long; about how long.
    LongProof,
    /// Many local states of a process have to be distinguished; about its name.
    ManyBlocks,
    /// The program or the property does not speak of interchangeable processes, whatever their number; about what prevents it.
    Sizes,
    /// The checker cannot judge a proof; about why, in a sentence.
    Checking,
}

impl Feature {
    /// All of them.
    pub const ALL: [Feature; 31] = [
        Feature::Temporal,
        Feature::Safety,
        Feature::Races,
        Feature::GivenAutomaton,
        Feature::Fairness,
        Feature::WideFairness,
        Feature::ChangingDomain,
        Feature::Tableau,
        Feature::Procedures,
        Feature::Rendezvous,
        Feature::Patterns,
        Feature::Chains,
        Feature::WholeChains,
        Feature::ChainedRendezvous,
        Feature::WhenNobody,
        Feature::EndPlaces,
        Feature::Initially,
        Feature::Locations,
        Feature::LongLoops,
        Feature::LongLoopAroundCall,
        Feature::ManyValues,
        Feature::ManyOutcomes,
        Feature::ManyRounds,
        Feature::SharedAccess,
        Feature::WholeViews,
        Feature::WideStates,
        Feature::Numbers,
        Feature::LongProof,
        Feature::ManyBlocks,
        Feature::Sizes,
        Feature::Checking,
    ];

    /// Whether it is a matter of size, found on the way, and not of what a program or a property says.
    pub fn is_size(self) -> bool {
        match self {
            Feature::WideFairness
            | Feature::Tableau
            | Feature::LongLoops
            | Feature::LongLoopAroundCall
            | Feature::ManyValues
            | Feature::ManyOutcomes
            | Feature::ManyRounds
            | Feature::WideStates
            | Feature::Numbers
            | Feature::LongProof
            | Feature::ManyBlocks => true,
            Feature::Temporal
            | Feature::Safety
            | Feature::Races
            | Feature::GivenAutomaton
            | Feature::Fairness
            | Feature::ChangingDomain
            | Feature::Procedures
            | Feature::Rendezvous
            | Feature::Patterns
            | Feature::Chains
            | Feature::WholeChains
            | Feature::ChainedRendezvous
            | Feature::WhenNobody
            | Feature::EndPlaces
            | Feature::Initially
            | Feature::Locations
            | Feature::SharedAccess
            | Feature::WholeViews
            | Feature::Sizes
            | Feature::Checking => false,
        }
    }

    /// The sentence; `{}` is replaced by what it is about.
    pub fn sentence(self) -> &'static str {
        match self {
            Feature::Temporal => "this method answers safety, not temporal properties",
            Feature::Safety => "this method answers temporal properties, not safety",
            Feature::Races => {
                "races show where two processes can move at once, and this method does not look at all such states"
            }
            Feature::GivenAutomaton => "the property is given as an automaton, which reads real steps only",
            Feature::Fairness => "this method knows no fairness but `every`",
            Feature::WideFairness => "a fairness assumption depends on too many processes at once",
            Feature::ChangingDomain => "a temporal quantifier ranges over values that change",
            Feature::Tableau => "the checker's automaton for the property is too large",
            Feature::Procedures => "procedures have stacks, which this method does not follow",
            Feature::Rendezvous => "processes meet in a rendezvous, which this method does not follow",
            Feature::Patterns => "a receiver takes certain values only, which this method does not follow",
            Feature::Chains => "a step goes on over several statements, which this method does not follow",
            Feature::WholeChains => {
                "all that a step does after its first statement matters here, of which this method sees only a part"
            }
            Feature::ChainedRendezvous => {
                "a step goes on before or after a rendezvous, so that more than two processes may take part in it"
            }
            Feature::WhenNobody => "a statement waits until nobody else can move, which this method does not follow",
            Feature::EndPlaces => {
                "processes may wait for ever at some places, which this method does not tell from being stuck"
            }
            Feature::Initially => {
                "`initially` relates what several cells start with, which only a search of the whole product follows"
            }
            Feature::Locations => "`{}` reads the control locations of others, which local proofs do not follow",
            Feature::LongLoops => "the loops of `{}` have too many rounds to be unrolled",
            Feature::LongLoopAroundCall => "a loop around a call has too many rounds to be unrolled",
            Feature::ManyValues => "`{}` has too many values to be exposed to all processes",
            Feature::ManyOutcomes => "`{}` has too many different outcomes for decision diagrams",
            Feature::ManyRounds => "a quantifier or a loop within a step has too many rounds for decision diagrams",
            Feature::SharedAccess => {
                "two processes come close to a race, but this method does not know which cells they access together"
            }
            Feature::WholeViews => {
                "the views of all processes together exclude a violation, those that the checker reads do not"
            }
            Feature::WideStates => "a state of this program takes {}",
            Feature::Numbers => "there are more {} than can be numbered",
            Feature::LongProof => "a proof with more than {} is not written",
            Feature::ManyBlocks => "more local states of `{}` have to be told apart than there is room for",
            Feature::Sizes => "this cannot be shown for every number of processes: {}",
            Feature::Checking => "{}",
        }
    }

    /// A few words for tables of what a method does not follow.
    pub fn title(self) -> &'static str {
        match self {
            Feature::Temporal => "temporal properties",
            Feature::Safety => "safety",
            Feature::Races => "races",
            Feature::GivenAutomaton => "automata as properties",
            Feature::Fairness => "fairness but `every`",
            Feature::WideFairness => "fairness about very many processes at once",
            Feature::ChangingDomain => "temporal quantifiers over changing values",
            Feature::Tableau => "formulas with very large automata",
            Feature::Procedures => "procedures",
            Feature::Rendezvous => "rendezvous",
            Feature::Patterns => "receiving certain values only",
            Feature::Chains => "steps that go on over several statements",
            Feature::WholeChains => "races and endless steps where steps go on",
            Feature::ChainedRendezvous => "steps that go on before or after a rendezvous",
            Feature::WhenNobody => "waiting until nobody else can move",
            Feature::EndPlaces => "places to wait for ever",
            Feature::Initially => "`initially`",
            Feature::Locations => "processes that read control locations of others",
            Feature::LongLoops => "very long loops",
            Feature::LongLoopAroundCall => "very long loops around calls",
            Feature::ManyValues => "formulas about local cells of very many values",
            Feature::ManyOutcomes => "statements of very many outcomes",
            Feature::ManyRounds => "very long quantifiers",
            Feature::SharedAccess => "races that depend on values",
            Feature::WholeViews => "proofs beyond the checker's views",
            Feature::WideStates => "very wide states",
            Feature::Numbers => "billions of states",
            Feature::LongProof => "very long proofs",
            Feature::ManyBlocks => "very many exposed local states",
            Feature::Sizes => "processes that are not interchangeable",
            Feature::Checking => "what the checker cannot judge",
        }
    }
}

/// A reason why a method does not answer a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// What the method does not have.
    pub feature: Feature,
    /// What the sentence is about, where it names something.
    pub about: String,
}

impl Unsupported {
    /// A reason that names a part of the program, or a number.
    pub fn about(feature: Feature, about: impl Into<String>) -> Self {
        Unsupported { feature, about: about.into() }
    }
}

impl From<Feature> for Unsupported {
    fn from(feature: Feature) -> Self {
        Unsupported { feature, about: String::new() }
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.feature.sentence().replace("{}", &self.about))
    }
}

/// What a method's abstraction keeps that does not decide the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Coarse {
    /// What one process sees.
    OneProcess,
    /// What two processes see.
    TwoProcesses,
    /// What three processes see.
    ThreeProcesses,
    /// Groups of processes, smaller than those that the question is about.
    LargeQuestion,
    /// Local state graphs.
    LocalGraphs,
    /// Joint states of two processes, of which there are too many.
    ManyPairs,
    /// Path edges.
    PathEdges,
    /// What a few of any number of interchangeable processes see.
    Views,
    /// Views of a few processes, which allow a state in which the property has no value.
    NoValue,
    /// What one process sees of a run, which allows a state in which the property or a fairness assumption has no value.
    NoValueInRuns,
    /// Some of the runs.
    SomeRuns,
}

impl Coarse {
    /// All of them.
    pub const ALL: [Coarse; 11] = [
        Coarse::OneProcess,
        Coarse::TwoProcesses,
        Coarse::ThreeProcesses,
        Coarse::LargeQuestion,
        Coarse::LocalGraphs,
        Coarse::ManyPairs,
        Coarse::PathEdges,
        Coarse::Views,
        Coarse::NoValue,
        Coarse::NoValueInRuns,
        Coarse::SomeRuns,
    ];

    /// The sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            Coarse::OneProcess => "what one process sees does not exclude a violation, which may not be a real one",
            Coarse::TwoProcesses => "what two processes see does not exclude a violation, which may not be a real one",
            Coarse::ThreeProcesses => {
                "what three processes see does not exclude a violation, which may not be a real one"
            }
            Coarse::LargeQuestion => "the property is about more processes at once than are looked at together",
            Coarse::LocalGraphs => "local states that may not be reachable do not exclude a violation",
            Coarse::Views => {
                "what few of any number of processes see does not exclude a violation, which may not be a real one"
            }
            Coarse::NoValue => {
                "what few processes see does not exclude that the property has no value, in a state that may not be reachable"
            }
            Coarse::NoValueInRuns => {
                "what one process sees does not exclude that the property or a fairness assumption has no value, in a state that \
                 may not be reachable"
            }
            Coarse::SomeRuns => "none of the runs that were tried decides it, and there are others",
            Coarse::ManyPairs => "there are too many joint states of two processes",
            Coarse::PathEdges => {
                "path edges do not exclude a violation, and no run was found that shows one; `public` and `hint expose` \
                 say what matters"
            }
        }
    }
}

impl fmt::Display for Coarse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.sentence())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_name_what_they_are_about() {
        let said = Unsupported::about(Feature::Locations, "P[1]").to_string();
        assert_eq!(said, "`P[1]` reads the control locations of others, which local proofs do not follow");
        for feature in Feature::ALL {
            let said = Unsupported::about(feature, "x").to_string();
            assert!(!said.is_empty() && !said.contains("{}") && !said.ends_with('.'), "{said}");
        }
    }
}
