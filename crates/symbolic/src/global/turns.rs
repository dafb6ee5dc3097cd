//! Turns as edges of diagrams: each command of each process, and stutters; and the fairness conditions on them.
//!
//! In: a [`SymbolicSystem`] and a violation. Out: its edges with the processes of each, and one condition for each fairness pair. A
//! process stutters only where it has no part in any step, a faulty one included, or at `idle`. Which process stutters
//! is distinguished only where a condition depends on it. A turn of several actions is a path of edges through vectors that are no states (`under_way`): what
//! is asked of states is asked where a turn begins, and again and again one must begin.

use base::StopReason;
use model::Model;
use model::eval::{self, Link, State, Turn};
use model::expr::Expr;
use model::fairness::{EdgePredicate, StatePredicate};
use model::process::ProcessId;
use model::value::Value;
use temporal::Violation;

use crate::bdd::{Bdd, OutOfNodes};
use crate::commands::{GuardedCommand, StepTests};
use crate::fair::{EdgeFilter, EdgeRelation, FairnessCondition};
use crate::system::SymbolicSystem;

/// The tests of steps that fairness assumptions of a program make.
pub fn step_tests(model: &Model) -> StepTests {
    let mut tests = Vec::new();
    for often in model.fairness.iter().flat_map(|pair| &pair.often) {
        if let EdgePredicate::Moves(process, Some(labels)) = often {
            let test = (*process, labels.clone());
            if !tests.contains(&test) {
                tests.push(test);
            }
        }
    }
    StepTests(tests)
}

/// The turns of a program.
pub struct ProgramTurns<'a, 'm> {
    system: &'a SymbolicSystem<'m>,
    tests: StepTests,
    /// For each process where it may stutter.
    still: Vec<Bdd>,
}

/// The turns of which runs consist that can violate a property in one way.
pub struct TurnEdges {
    /// The edges; stutters first.
    pub edges: Vec<EdgeRelation>,
    /// What each of them is.
    kinds: Vec<TurnKind>,
}

/// What an edge is.
enum TurnKind {
    /// A process stutters; which one, where that is distinguished.
    Still(Option<ProcessId>),
    /// The step of a process, with a partner, that satisfies some of the tests; or an action of it.
    Step(ProcessId, Option<ProcessId>, Vec<usize>),
    /// A step of several actions is over.
    End,
}

impl TurnKind {
    fn is_part(&self, process: ProcessId) -> bool {
        match self {
            TurnKind::Still(who) => *who == Some(process),
            TurnKind::Step(mover, partner, _) => *mover == process || *partner == Some(process),
            TurnKind::End => false,
        }
    }

    fn is_step(&self) -> bool {
        matches!(self, TurnKind::Step(..))
    }

    fn of(command: &GuardedCommand) -> TurnKind {
        match command.by {
            Some(_) => TurnKind::Step(command.process, command.partner, command.satisfied.clone()),
            None => TurnKind::End,
        }
    }
}

impl<'a, 'm> ProgramTurns<'a, 'm> {
    /// Finds out where each process may stutter.
    pub fn new(system: &'a SymbolicSystem<'m>, tests: StepTests) -> Result<Self, StopReason> {
        let still = system.model.processes.ids().map(|process| system.stutter_states(process));
        let still = still.collect::<Result<_, _>>().map_err(|_| system.out_of_nodes())?;
        Ok(ProgramTurns { system, tests, still })
    }

    /// The steps of all processes.
    pub fn steps(&self) -> Vec<EdgeRelation> {
        self.system.commands().map(|command| self.step(command)).collect()
    }

    fn step(&self, command: &GuardedCommand) -> EdgeRelation {
        let update = Some(command.change.clone());
        EdgeRelation { guard: command.guard.clone(), update, mover: Some(command.process) }
    }

    /// The turns of which a violation's runs consist.
    pub fn of(&self, violation: &Violation) -> Result<TurnEdges, StopReason> {
        let space = &self.system.encoding.space;
        let pairs = violation.fairness.iter().flat_map(|&id| &self.system.model.fairness[id].often);
        let distinguishes_stutters = pairs.into_iter().any(|often| matches!(often, EdgePredicate::Scheduled(_)));
        let mut still: Vec<(TurnKind, Bdd)> = match distinguishes_stutters {
            true => self
                .still
                .iter()
                .enumerate()
                .map(|(nth, set)| (TurnKind::Still(Some(ProcessId::new(nth))), set.clone()))
                .collect(),
            false => vec![(TurnKind::Still(None), self.bdd(space.any(&self.still))?)],
        };
        for (_, set) in &mut still {
            *set = self.bdd(space.and(set, &self.system.at_rest))?;
        }
        if violation.real_steps_only {
            let moving = self.bdd(self.system.moving())?;
            for (_, set) in &mut still {
                *set = self.bdd(space.minus(set, &moving))?;
            }
        }
        let still = still.into_iter().map(|(kind, guard)| (EdgeRelation { guard, update: None, mover: None }, kind));
        let kinds = self.system.commands().map(TurnKind::of);
        let (edges, kinds) = still.chain(self.steps().into_iter().zip(kinds)).unzip();
        Ok(TurnEdges { edges, kinds })
    }

    /// A turn of the reference semantics that some edges, one after the other, stand for.
    pub fn turn(&self, turns: &TurnEdges, edges: &[usize], (state, next): (&State, &State)) -> Option<Turn> {
        let model = self.system.model;
        let is_link = |kind: &TurnKind, link: Link| match kind {
            TurnKind::Step(process, partner, satisfied) => {
                link.process == *process
                    && link.partner.map(|(partner, _)| partner) == *partner
                    && self.tests.satisfied_by(model, &link) == *satisfied
            }
            TurnKind::Still(_) | TurnKind::End => false,
        };
        let kinds = || edges.iter().map(|&edge| &turns.kinds[edge]).filter(|kind| !matches!(kind, TurnKind::End));
        let is_meant = |turn: &Turn| match turn {
            Turn::StandStill(process) => match kinds().next() {
                Some(TurnKind::Still(who)) => who.is_none_or(|who| who == *process),
                _ => false,
            },
            Turn::Step(by) => {
                by.links().count() == kinds().count() && kinds().zip(by.links()).all(|(kind, link)| is_link(kind, link))
            }
        };
        let mut all = eval::likely_turns(model, state, Some(next)).into_iter();
        all.find(|(turn, after)| after == next && is_meant(turn)).map(|(turn, _)| turn)
    }

    /// What the fairness of a violation demands, pair by pair.
    pub fn conditions(
        &self,
        violation: &Violation,
        turns: &TurnEdges,
        reached: &Bdd,
    ) -> Result<Vec<FairnessCondition>, StopReason> {
        let space = &self.system.encoding.space;
        let under_way = self.bdd(space.not(&self.system.at_rest))?;
        let mut conditions = Vec::new();
        if self.system.encoding.has_turns() {
            let from = Some(self.system.at_rest.clone());
            let begins = EdgeFilter { from, ..EdgeFilter::default() };
            conditions.push(FairnessCondition { free: None, filters: vec![begins] });
        }
        for &id in &violation.fairness {
            let pair = &self.system.model.fairness[id];
            let free = pair.always.as_ref().map(|always| self.states(always, reached)).transpose()?;
            // A step that is under way changes nothing about what stays so.
            let free = free.map(|free| self.bdd(space.or(&free, &under_way))).transpose()?;
            let (mut filters, mut edges) = (Vec::new(), Vec::new());
            for often in &pair.often {
                match often {
                    EdgePredicate::Before(predicate) => {
                        let from = self.bdd(space.and(&self.states(predicate, reached)?, &self.system.at_rest))?;
                        filters.push(EdgeFilter { from: Some(from), ..EdgeFilter::default() });
                    }
                    EdgePredicate::Scheduled(process) => edges.extend(turns.which(|kind| kind.is_part(*process))),
                    EdgePredicate::Moves(process, labels) => {
                        let labels = labels.clone().map(|labels| (*process, labels));
                        let test = labels.and_then(|test| self.tests.0.iter().position(|known| *known == test));
                        edges.extend(turns.which(|kind| match (kind, test) {
                            (TurnKind::Step(_, _, satisfied), Some(test)) => satisfied.contains(&test),
                            _ => kind.is_step() && kind.is_part(*process),
                        }));
                    }
                    EdgePredicate::SomebodyMoves => edges.extend(turns.which(TurnKind::is_step)),
                }
            }
            edges.sort_unstable();
            edges.dedup();
            filters.push(EdgeFilter { edges: Some(edges), ..EdgeFilter::default() });
            conditions.push(FairnessCondition { free, filters });
        }
        Ok(conditions)
    }

    /// Where a predicate of a fairness assumption holds.
    fn states(&self, predicate: &StatePredicate, reached: &Bdd) -> Result<Bdd, StopReason> {
        let (model, space) = (self.system.model, &self.system.encoding.space);
        match predicate {
            StatePredicate::Holds(expr) => self.truth(expr, &[], reached),
            StatePredicate::Fails(expr) => {
                let truth = self.truth(expr, &[], reached)?;
                self.bdd(space.not(&truth))
            }
            StatePredicate::Unable(process, labels) => self.bdd(self.system.unable(*process, labels.as_deref())),
            StatePredicate::NobodyAble => {
                let all = model.processes.ids().try_fold(space.all(), |all, process| {
                    let one = self.system.unable(process, None)?;
                    space.and(&all, &one)
                });
                self.bdd(all)
            }
        }
    }

    /// Where an expression is true, with values for the bound variables around it.
    ///
    /// # Errors
    /// It has no value in some reachable state.
    pub fn truth(&self, expr: &Expr, bound: &[Value], reached: &Bdd) -> Result<Bdd, StopReason> {
        let system = self.system;
        let truth = system.truth_of(expr, bound)?;
        let space = &system.encoding.space;
        let reached = self.bdd(space.and(reached, &system.at_rest))?;
        if !self.bdd(space.and(&truth.fault, &reached))?.is_empty() {
            let why = "evaluating it fails in a reachable state: an error".to_owned();
            return Err(StopReason::PropertyError(why));
        }
        Ok(truth.yes)
    }

    fn bdd<T>(&self, result: Result<T, OutOfNodes>) -> Result<T, StopReason> {
        result.map_err(|_| self.system.out_of_nodes())
    }
}

impl TurnEdges {
    fn which(&self, wanted: impl Fn(&TurnKind) -> bool) -> impl Iterator<Item = usize> {
        (0..self.kinds.len()).filter(move |&nth| wanted(&self.kinds[nth]))
    }
}
