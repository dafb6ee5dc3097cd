//! The backend: split invariants and abstract processes as diagrams.

use std::cell::Cell;
use std::sync::Arc;

use base::{Budget, Feature, StopReason, Unsupported};
use compose::backend::{Backend, Refinable};
use compose::fair::backend::{
    AbstractPoint, AbstractRun, AbstractTurn, AutomatonChoice, FairBackend, FairRunQuery, Transitions, WrittenProof,
};
use compose::fair::conditions::Conditions;
use compose::fair::locals::{LocalState, Locals};
use compose::k_index::KIndexPlan;
use engine::{Contradiction, Halt, SharedView, Statistics};
use evidence::certificate::LocalFact;
use model::eval::{State, Turn};
use model::process::ProcessId;

use super::predicates::OthersGuess;
use super::store_turns::{FocusTurns, StoreTurn, focus_turns, store_turns};
use crate::bdd::Bdd;
use crate::encoding::FieldContent;
use crate::fair::lasso::{Leg, SymbolicLasso};
use crate::fair::violation::{RunSearchResult, RunsWanted};
use crate::fair::{self, EdgeFilter, GuardedMove, SymbolicGraph};
use crate::local::LocalSets;
use crate::meter::NodeMeter;
use crate::watchdog::Gauge;

/// Local states of one process at one store are enumerated up to here.
const MOST_LOCALS: usize = 1 << 16;

/// What was asked of an abstract process.
type RunQuestion = (ProcessId, FairRunQuery, Transitions);

/// Abstract processes as diagrams.
pub struct SymbolicProcesses<'d, 'm> {
    sets: LocalSets<'m>,
    conditions: &'d Conditions<'m>,
    locals: &'d Locals<'m>,
    budget: &'d Budget,
    gauge: &'d Arc<Gauge>,
    peak_nodes: Cell<u64>,
    /// By process: its initial view states.
    initial: Vec<Bdd>,
    /// By process: its view states, once they are computed.
    thetas: Vec<Bdd>,
    /// The turns of all processes as changes of the store.
    turns: Vec<StoreTurn>,
    /// What was found for what is exposed now.
    known: Vec<(RunQuestion, Option<AbstractRun>)>,
}

impl<'d, 'm> SymbolicProcesses<'d, 'm> {
    /// With local sets in which nothing is exposed.
    pub fn new(
        sets: LocalSets<'m>,
        (conditions, locals): (&'d Conditions<'m>, &'d Locals<'m>),
        (budget, gauge): (&'d Budget, &'d Arc<Gauge>),
    ) -> Self {
        SymbolicProcesses {
            sets,
            conditions,
            locals,
            budget,
            gauge,
            peak_nodes: Cell::new(0),
            initial: Vec::new(),
            thetas: Vec::new(),
            turns: Vec::new(),
            known: Vec::new(),
        }
    }

    fn find(&self, (focus, query, allowed): RunQuestion) -> Result<Option<AbstractRun>, Halt> {
        let violation = match query.automaton {
            AutomatonChoice::Simplified => &self.conditions.violations[query.violation],
            AutomatonChoice::Reference => &self.conditions.plain[query.violation],
        };
        let space = &self.sets.system().encoding.space;
        let turns = focus_turns(&self.sets, self.conditions, (focus, &self.turns), allowed);
        let turns = self.sets.bdd(turns)?;
        let guess = OthersGuess { sets: &self.sets, thetas: &self.thetas, focus };
        let atoms = violation.propositions.iter().map(|one| guess.proposition(one)).collect::<Result<Vec<_>, _>>()?;
        let mut conditions = Vec::new();
        for pair in self.conditions.pairs_of(violation) {
            conditions.push(self.condition(&guess, &turns, pair)?);
        }
        let meter = NodeMeter {
            system: self.sets.system(),
            budget: self.budget,
            gauge: self.gauge,
            peak_nodes: &self.peak_nodes,
        };
        let pause = || meter.pause();
        let moves = self.sets.bdd(GuardedMove::of(&violation.automaton, space, &atoms))?;
        let n_states = violation.automaton.states.len();
        let graph = SymbolicGraph { space, edges: &turns.edges, moves, n_states, pause: &pause };
        let own = turns.which(|kind| kind.mover == focus);
        let wanted = RunsWanted {
            automaton: &violation.automaton,
            conditions: &conditions,
            own: query.focus_accepts.then_some(own.as_slice()),
            initial: &self.initial[focus.index()],
            reached: (allowed == Transitions::May).then_some(&self.thetas[focus.index()]),
        };
        match graph.find(&wanted)? {
            RunSearchResult::Nothing => Ok(None),
            RunSearchResult::Lasso(lasso) => match self.shown(focus, &turns, &lasso) {
                Some(run) => Ok(Some(run)),
                None => Err(contradiction("the reference semantics has no such turns").into()),
            },
            RunSearchResult::Broken => Err(contradiction("there is no way through them").into()),
        }
    }

    /// What a fairness assumption demands of the abstract process of a focus.
    fn condition(
        &self,
        guess: &OthersGuess<'_, '_>,
        turns: &FocusTurns,
        pair: usize,
    ) -> Result<fair::FairnessCondition, StopReason> {
        let declared = &self.conditions.pairs[pair];
        let free = declared.always.as_ref().map(|always| guess.may(always)).transpose()?;
        let mut filters = Vec::new();
        for before in &declared.before {
            filters.push(EdgeFilter { from: Some(guess.may(before)?), ..EdgeFilter::default() });
        }
        filters.push(EdgeFilter {
            edges: Some(turns.which(|kind| kind.satisfied.contains(&pair))),
            ..EdgeFilter::default()
        });
        Ok(fair::FairnessCondition { free, filters })
    }

    /// A lasso in plain terms; `None` where diagrams and reference semantics differ.
    fn shown(&self, focus: ProcessId, turns: &FocusTurns, lasso: &SymbolicLasso) -> Option<AbstractRun> {
        let legs: Vec<&Leg> = lasso.stem.iter().chain(&lasso.turning).collect();
        let loop_from = lasso.stem.len();
        let mut run = AbstractRun { focus, points: Vec::new(), turns: Vec::new(), loop_from };
        run.points = legs.iter().map(|leg| self.point(&leg.node.vector)).collect();
        for (at, leg) in legs.iter().enumerate() {
            let kind = &turns.kinds[leg.edge];
            let next = &run.points[run.after(at)];
            let own = match kind.mover == focus {
                true => Some(self.own_turn(focus, &kind.satisfied, (&run.points[at].state, &next.state))?),
                false => None,
            };
            let after = &legs[run.after(at)].node.vector;
            let update = turns.edges[leg.edge].update.as_ref();
            let both =
                update.map_or_else(|| leg.node.vector.clone(), |change| change.with_next(&leg.node.vector, after));
            let is_must = kind.must.as_ref().is_none_or(|must| must.contains(&both));
            run.turns.push(AbstractTurn {
                mover: kind.mover,
                partner: None,
                own,
                satisfied: kind.satisfied.clone(),
                is_must,
            });
        }
        Some(run)
    }

    fn point(&self, vector: &[bool]) -> AbstractPoint {
        let encoding = &self.sets.system().encoding;
        let block = |process: ProcessId| match self.sets.exposed[process.index()].blocks.len() {
            0 | 1 => 0,
            _ => encoding.field(FieldContent::Exposed(process)).read(vector) as usize,
        };
        let blocks = self.locals.model.processes.ids().map(block).collect();
        AbstractPoint { state: self.sets.system().decode(vector), blocks }
    }

    /// A turn of the focus on the reference semantics that leads from one state to another.
    fn own_turn(&self, focus: ProcessId, satisfied: &[usize], (state, next): (&State, &State)) -> Option<Turn> {
        let local = self.locals.read(focus, next);
        let mut turns = self.locals.turns_of(focus, state, Some(next)).into_iter();
        let found = turns.find(|(turn, after)| {
            self.conditions.satisfied_by(turn) == satisfied
                && self.locals.read(focus, after) == local
                && self.locals.same_store(after, next)
        });
        found.map(|(turn, _)| turn)
    }

    /// The bits of a local state.
    fn local_values(&self, process: ProcessId, local: &LocalState) -> Vec<(FieldContent, u64)> {
        let encoding = &self.sets.system().encoding;
        let cells = self.locals.cells(process).iter().zip(&local.cells);
        let cell = |(&cell, &value)| Some((FieldContent::Cell(cell), encoding.position(cell, value)?));
        cells.filter_map(cell).chain([(FieldContent::Control(process), local.point as u64)]).collect()
    }

    /// The values of everything that all processes see at a point.
    fn store(&self, point: &AbstractPoint) -> Vec<(FieldContent, u64)> {
        let encoding = &self.sets.system().encoding;
        let is_seen = |part: &FieldContent| self.sets.sees(&[], *part);
        let value = |part: FieldContent| match part {
            FieldContent::Cell(cell) => encoding.position(cell, point.state.cells[cell.index()]),
            FieldContent::Exposed(process) => Some(point.blocks[process.index()] as u64),
            FieldContent::Control(_) | FieldContent::Turn => None,
        };
        let parts = encoding.parts().iter().copied().filter(is_seen);
        parts.filter_map(|part| Some((part, value(part)?))).collect()
    }
}

impl FairBackend for SymbolicProcesses<'_, '_> {
    fn forget(&mut self) -> Result<(), StopReason> {
        self.known.clear();
        self.sets.forget_exposed()
    }

    fn expose(&mut self, facts: &[(ProcessId, LocalFact)]) -> Result<bool, StopReason> {
        self.known.clear();
        Refinable::expose(&mut self.sets, facts)
    }

    fn close(&mut self) -> Result<(), StopReason> {
        self.known.clear();
        let plan = KIndexPlan::of_all(&self.sets, 1, self.budget)?;
        let initial = plan.groups.iter().map(|group| self.sets.initial(group));
        self.initial = initial.collect::<Result<Vec<Bdd>, _>>()?;
        self.thetas = self.initial.clone();
        self.sets.close_split(&plan, &mut self.thetas, self.budget)?;
        self.turns.clear();
        for (process, theta) in self.locals.model.processes.ids().zip(&self.thetas) {
            let turns = store_turns(&self.sets, self.conditions, (process, theta));
            self.turns.extend(self.sets.bdd(turns)?);
        }
        Ok(())
    }

    fn fair_run(
        &mut self,
        focus: ProcessId,
        query: FairRunQuery,
        turns: Transitions,
    ) -> Result<Option<AbstractRun>, Halt> {
        let asked = (focus, query, turns);
        if let Some((_, found)) = self.known.iter().find(|(known, _)| *known == asked) {
            return Ok(found.clone());
        }
        let found = self.find(asked)?;
        self.known.push((asked, found.clone()));
        Ok(found)
    }

    fn block_of(&self, process: ProcessId, local: &LocalState) -> usize {
        let encoding = &self.sets.system().encoding;
        let mut vector = vec![false; encoding.space.n_bits() as usize];
        for (part, value) in self.local_values(process, local) {
            encoding.field(part).literals(value).for_each(|(bit, is_set)| vector[bit as usize] = is_set);
        }
        let blocks = &self.sets.blocks[process.index()];
        blocks.iter().position(|block| block.contains(&vector)).unwrap_or(usize::MAX)
    }

    fn locals_at(&mut self, process: ProcessId, point: &AbstractPoint) -> Result<Vec<LocalState>, StopReason> {
        let encoding = &self.sets.system().encoding;
        let here = encoding.assignment(self.store(point));
        let theta = &self.thetas[process.index()];
        let there = self.sets.bdd(here.and_then(|here| encoding.space.restrict(theta, &here)))?;
        let mut bits: Vec<u32> =
            self.sets.local_parts(process).into_iter().flat_map(|part| encoding.field(part).bits()).collect();
        bits.sort_unstable();
        let read = |vector: &Vec<bool>| {
            let content = |&cell| encoding.value(cell, encoding.field(FieldContent::Cell(cell)).read(vector));
            LocalState {
                point: encoding.field(FieldContent::Control(process)).read(vector) as usize,
                cells: self.locals.cells(process).iter().map(content).collect(),
            }
        };
        if there.count_over(&bits).is_none_or(|n_states| n_states > MOST_LOCALS as u64) {
            let name = &self.locals.model.processes[process].name;
            return Err(Unsupported::about(Feature::ManyBlocks, name).into());
        }
        Ok(there.vectors(&bits, encoding.space.n_bits() as usize, MOST_LOCALS).iter().map(read).collect())
    }

    fn prove(
        &mut self,
        _violation: usize,
        _focus_accepts: bool,
        _foci: &[ProcessId],
    ) -> Result<WrittenProof, StopReason> {
        Ok(WrittenProof::TooLarge)
    }

    fn statistics(&self) -> Statistics {
        let sizes = self.locals.model.processes.ids().zip(&self.thetas);
        let sizes = sizes.map(|(process, theta)| self.sets.n_states(&[process], theta)).collect();
        let peak_nodes = self.peak_nodes.get().max(self.sets.peak_nodes());
        Statistics {
            peak_nodes: Some(peak_nodes),
            peak_memory_bytes: Some(self.sets.system().bytes(peak_nodes)),
            local_states: Some(sizes),
            views: Some(SharedView::Whole),
            ..Statistics::default()
        }
    }
}

fn contradiction(found: &str) -> Contradiction {
    Contradiction::new("decision diagrams contain a fair run of an abstract process", found)
}
