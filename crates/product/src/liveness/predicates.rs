//! What propositions and fairness assumptions look at: predicates on states and on turns, each once.
//!
//! In: violations. Out: numbered tests of states, which become bits of each state of the graph, and numbered tests of turns,
//! which become bits of each class of edges.

use model::Model;
use model::control::{ActionId, ActionKind};
use model::eval::Turn;
use model::fairness::{EdgePredicate, FairnessPair, StatePredicate};
use model::process::ProcessId;
use rustc_hash::FxHashMap;
use temporal::Violation;

use packed::compile::Compiler;
use packed::term::TermId;

/// A test of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateTest {
    /// The term holds.
    Term(TermId),
    /// The process has an enabled step other than leaving `idle` (with labels: one that carries one of them).
    Able(ProcessId, Option<Vec<String>>),
    /// Some process has.
    SomebodyAble,
}

/// A test of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnTest {
    /// The process has a part in it.
    Scheduled(ProcessId),
    /// The process moves (with labels: by a step that carries one of them).
    Moves(ProcessId, Option<Vec<String>>),
    /// Somebody moves.
    SomebodyMoves,
}

/// A state test and the truth that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateLiteral {
    /// The number of the test.
    pub test: usize,
    /// Whether it must hold.
    pub wanted: bool,
}

/// A fairness pair over tests.
#[derive(Clone, Debug)]
pub struct TestPair {
    /// From some point on, always.
    pub always: Option<StateLiteral>,
    /// Again and again, in the state before a turn.
    pub before: Vec<StateLiteral>,
    /// Again and again, a turn of which one of these tests is true.
    pub turns: Vec<usize>,
}

/// All tests.
pub struct Predicates {
    /// Tests of states, by number.
    pub states: Vec<StateTest>,
    /// Tests of turns, by number.
    pub turns: Vec<TurnTest>,
    /// For each proposition's key, its test.
    by_key: FxHashMap<String, usize>,
    /// By fairness pair of the Model, where it is used.
    pairs: Vec<Option<TestPair>>,
}

impl Predicates {
    /// No tests yet.
    pub fn new(model: &Model) -> Self {
        Predicates {
            states: Vec::new(),
            turns: Vec::new(),
            by_key: FxHashMap::default(),
            pairs: vec![None; model.fairness.len()],
        }
    }

    /// Adds what a violation looks at.
    pub fn add(&mut self, compiler: &mut Compiler<'_, '_>, violation: &Violation) {
        for proposition in &violation.propositions {
            if !self.by_key.contains_key(&proposition.key) {
                let term = compiler.property_instance(&proposition.expr, &proposition.bound);
                let test = self.state_test(StateTest::Term(term));
                self.by_key.insert(proposition.key.clone(), test);
            }
        }
        for &id in &violation.fairness {
            if self.pairs[id.index()].is_none() {
                let pair = &compiler.model().fairness[id];
                self.pairs[id.index()] = Some(self.pair(compiler, pair));
            }
        }
    }

    /// The tests of a violation's propositions, by atom.
    pub fn atoms(&self, violation: &Violation) -> Vec<usize> {
        violation.propositions.iter().map(|proposition| self.by_key[&proposition.key]).collect()
    }

    /// The pairs of a violation.
    pub fn pairs(&self, violation: &Violation) -> Vec<&TestPair> {
        let pair = |id: &model::fairness::FairnessId| self.pairs[id.index()].as_ref().expect("the pair was added");
        violation.fairness.iter().map(pair).collect()
    }

    fn pair(&mut self, compiler: &mut Compiler<'_, '_>, pair: &FairnessPair) -> TestPair {
        let always = pair.always.as_ref().map(|always| self.literal(compiler, always));
        let (mut before, mut turns) = (Vec::new(), Vec::new());
        for often in &pair.often {
            match often {
                EdgePredicate::Before(predicate) => before.push(self.literal(compiler, predicate)),
                EdgePredicate::Scheduled(process) => turns.push(self.turn_test(TurnTest::Scheduled(*process))),
                EdgePredicate::Moves(process, labels) => {
                    turns.push(self.turn_test(TurnTest::Moves(*process, labels.clone())));
                }
                EdgePredicate::SomebodyMoves => turns.push(self.turn_test(TurnTest::SomebodyMoves)),
            }
        }
        TestPair { always, before, turns }
    }

    fn literal(&mut self, compiler: &mut Compiler<'_, '_>, predicate: &StatePredicate) -> StateLiteral {
        match predicate {
            StatePredicate::Holds(expr) => {
                let term = compiler.property(expr);
                StateLiteral { test: self.state_test(StateTest::Term(term)), wanted: true }
            }
            StatePredicate::Fails(expr) => {
                let term = compiler.property(expr);
                StateLiteral { test: self.state_test(StateTest::Term(term)), wanted: false }
            }
            StatePredicate::Unable(process, labels) => {
                StateLiteral { test: self.state_test(StateTest::Able(*process, labels.clone())), wanted: false }
            }
            StatePredicate::NobodyAble => {
                StateLiteral { test: self.state_test(StateTest::SomebodyAble), wanted: false }
            }
        }
    }

    fn state_test(&mut self, test: StateTest) -> usize {
        position_or_push(&mut self.states, test)
    }

    fn turn_test(&mut self, test: TurnTest) -> usize {
        position_or_push(&mut self.turns, test)
    }
}

fn position_or_push<T: PartialEq>(list: &mut Vec<T>, item: T) -> usize {
    list.iter().position(|known| *known == item).unwrap_or_else(|| {
        list.push(item);
        list.len() - 1
    })
}

impl StateTest {
    /// Whether a step that can be taken makes the test true.
    pub fn is_shown_by(&self, model: &Model, turn: &Turn) -> bool {
        let counts = |process: ProcessId, labels: &Option<Vec<String>>| {
            turn.first_action_of(process)
                .is_some_and(|action| !is_idle(model, action) && carries(model, action, labels))
        };
        match self {
            StateTest::Term(_) => false,
            StateTest::Able(process, labels) => counts(*process, labels),
            StateTest::SomebodyAble => turn.first_processes().any(|process| counts(process, &None)),
        }
    }
}

impl TurnTest {
    /// Whether it tells stand-stills of different processes apart.
    pub fn tells_who(&self) -> bool {
        matches!(self, TurnTest::Scheduled(_))
    }

    /// Whether it is true of a turn.
    pub fn is_true_of(&self, model: &Model, turn: &Turn) -> bool {
        match self {
            TurnTest::Scheduled(process) => turn.processes().contains(process),
            TurnTest::Moves(process, labels) => turn.actions_of(*process).any(|action| carries(model, action, labels)),
            TurnTest::SomebodyMoves => turn.step().is_some(),
        }
    }
}

fn is_idle(model: &Model, action: ActionId) -> bool {
    matches!(model.actions[action].kind, ActionKind::Idle)
}

fn carries(model: &Model, action: ActionId, labels: &Option<Vec<String>>) -> bool {
    let carried = &model.actions[action].labels;
    labels.as_ref().is_none_or(|labels| carried.iter().any(|label| labels.contains(label)))
}
