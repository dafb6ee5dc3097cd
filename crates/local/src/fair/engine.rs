//! Methods `ll`, `fll-a` and `fll-b` with explicit sets.

use std::cell::OnceCell;
use std::sync::Arc;
use std::time::Instant;

use base::{Budget, StopReason};
pub use compose::fair::LivenessRule;
use compose::fair::backend::{
    AbstractPoint, AbstractRun, AbstractTurn, AutomatonChoice, FairBackend, FairRunQuery, Transitions, WrittenProof,
};
use compose::fair::conditions::{AssumptionPair, Conditions, support};
use compose::fair::locals::{LocalState, Locals};
use compose::fair::{self, Decided, FairOptions};
use compose::sums::Sums;
use engine::{
    Answer, Contradiction, Engine, EngineError, Event, Halt, Method, Observer, PropertyId, SharedView, Silent,
    Statistics, Task, Verdict,
};
use evidence::certificate::{Fact, LocalFact, NoFairRun, Variant as Claimed};
use evidence::plain::AutomatonNames;
use evidence::propagation::Sights;
use model::Model;
use model::process::ProcessId;
use rustc_hash::FxHashMap;
use temporal::{Proposition, Violation};

use super::claim::Claimable;
use super::process::{FocusNodes, StoreTurns};
use super::product::{FocusEdge, FocusProduct, LocalAtom, ProductParts, RunQuery};
use super::sets::FairSets;
use crate::ids::BlockId;
use crate::sets::bits::for_each_bit;
use engine::meter::Meter;
use packed::codec::{Codec, UnrollLimits};
use packed::compile::Compiler;
use packed::machine::Machine;
use packed::term::TermId;
use packed::width::{ForWidth, with_coarse_width};
use streett::emptiness::{FairGraph, fair_component};
use streett::{lasso, ranks};

/// Local proofs of temporal properties, explicit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExplicitFll {
    /// Which method.
    pub rule: LivenessRule,
    /// Sets that take more are given up, whatever the budget.
    pub cap_bytes: u64,
}

impl ExplicitFll {
    /// With no limit but the budget's.
    pub fn new(rule: LivenessRule) -> Self {
        ExplicitFll { rule, cap_bytes: u64::MAX }
    }
}

/// The same, but that sums are looked for where something would have to be exposed, and leave out what they exclude.
#[derive(Clone)]
pub struct PrunedFll {
    /// Without sums.
    pub fll: ExplicitFll,
    /// Finds sums, each with a proof.
    pub sums: SumSearch,
    /// What was shown of a property by others, which need not be shown again.
    pub shown: Option<Arc<ShownBefore>>,
}

/// The facts about a property that were shown before: sums first, then ways to violate it that no fair run has.
pub type ShownBefore = dyn Fn(PropertyId) -> Vec<Fact> + Send + Sync;

/// Finds the sums of a program, if there are any.
pub type SumSearch = fn(&Model, &Budget) -> Option<Sights>;

impl Engine for PrunedFll {
    fn method(&self) -> Method {
        self.fll.method()
    }

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Vec<Answer>, EngineError> {
        let found: OnceCell<Option<Sights>> = OnceCell::new();
        let search = || found.get_or_init(|| (self.sums)(task.model, &task.budget)).clone();
        let shown = |property| self.shown.as_ref().map_or_else(Vec::new, |shown| shown(property));
        self.fll.with_help(task, observer, Help { sums: Some(&search), shown: &shown })
    }
}

impl Engine for ExplicitFll {
    fn method(&self) -> Method {
        self.rule.method()
    }

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Vec<Answer>, EngineError> {
        self.with_help(task, observer, Help { sums: None, shown: &|_| Vec::new() })
    }
}

/// What others found out.
#[derive(Clone, Copy)]
struct Help<'h> {
    /// Finds sums.
    sums: Option<&'h dyn Fn() -> Option<Sights>>,
    /// What was shown of a property.
    shown: &'h dyn Fn(PropertyId) -> Vec<Fact>,
}

impl ExplicitFll {
    fn with_help(&self, task: &Task<'_>, observer: &dyn Observer, help: Help<'_>) -> Result<Vec<Answer>, EngineError> {
        let mistaken = |property, wrong| EngineError::new(self.name(), (task.model, property), wrong);
        let answer = |&property: &PropertyId| {
            self.answer(task, property, (observer, help)).map_err(|contradiction| mistaken(property, contradiction))
        };
        task.properties.iter().map(answer).collect()
    }

    fn answer(
        &self,
        task: &Task<'_>,
        property: PropertyId,
        (observer, help): (&dyn Observer, Help<'_>),
    ) -> Result<Answer, Contradiction> {
        let started = Instant::now();
        let (decided, mut statistics) =
            self.decide(task, property, (observer, help)).unwrap_or_else(|halt| (Err(halt), Statistics::default()));
        statistics.time = started.elapsed();
        let verdict = match decided {
            Err(halt) => Verdict::Unknown(halt.stopped()?),
            Ok(decided) => {
                observer.event(Event::Decided(property));
                decided.verdict(&mut statistics)
            }
        };
        let answer = Answer { property, verdict, statistics };
        observer.answered(&answer);
        Ok(answer)
    }

    fn decide(
        &self,
        task: &Task<'_>,
        property: PropertyId,
        (observer, help): (&dyn Observer, Help<'_>),
    ) -> Result<Worked, Halt> {
        let shown = (help.shown)(property);
        let conditions = Conditions::new(task.model, property, &task.budget)?;
        let locals = Locals::new(task.model)?;
        let codec = Codec::within(task.model, UnrollLimits::default(), &task.budget);
        let work = FllWork {
            method: *self,
            codec: &codec,
            task,
            observer,
            sums: help.sums,
            shown: &shown,
            conditions: &conditions,
            locals: &locals,
        };
        Ok(with_coarse_width(codec.layout.n_words, work)?)
    }
}

/// What came of a property, and what it took.
type Worked = (Result<Decided, Halt>, Statistics);

struct FllWork<'w> {
    method: ExplicitFll,
    codec: &'w Codec<'w>,
    task: &'w Task<'w>,
    observer: &'w dyn Observer,
    sums: Option<&'w dyn Fn() -> Option<Sights>>,
    shown: &'w [Fact],
    conditions: &'w Conditions<'w>,
    locals: &'w Locals<'w>,
}

impl ForWidth for FllWork<'_> {
    type Output = Worked;

    fn run<const W: usize>(self) -> Worked {
        let mut compiler = Compiler::new(self.codec);
        let questions = CompiledProperty::new(&mut compiler, self.conditions);
        let machine = Machine { codec: self.codec, code: compiler.finish() };
        let limits = (&self.task.budget, self.method.cap_bytes);
        let sets = FairSets::<W>::new(&machine, (self.conditions, self.locals), limits);
        let meter = Meter::new(&self.task.budget, &Silent);
        let mut backend = Explicit { sets, questions: &questions, meter: &meter, turns: None };
        let way = FairOptions {
            variant: self.method.rule.variant(),
            budget: &self.task.budget,
            observer: self.observer,
            sums: self.sums,
            shown: self.shown,
        };
        let decided = fair::decide(&mut backend, (self.conditions, self.locals), &way);
        (decided, backend.statistics())
    }
}

/// The compiled expressions of a property.
struct CompiledProperty {
    /// By violation: its propositions, for the small automaton and for the plain one.
    atoms: [Vec<Vec<LocalAtom>>; 2],
    /// The expressions in fairness assumptions, by number.
    exprs: Vec<TermId>,
}

impl CompiledProperty {
    fn new(compiler: &mut Compiler<'_, '_>, conditions: &Conditions<'_>) -> Self {
        let mut known: FxHashMap<String, LocalAtom> = FxHashMap::default();
        let mut atom = |proposition: &Proposition| {
            let made = known.entry(proposition.key.clone()).or_insert_with(|| {
                let term = compiler.property_instance(&proposition.expr, &proposition.bound);
                (term, support(conditions.model, proposition))
            });
            made.clone()
        };
        let atoms = [&conditions.violations, &conditions.plain].map(|violations| {
            let of = |violation: &Violation| violation.propositions.iter().map(&mut atom).collect();
            violations.iter().map(of).collect()
        });
        let mut numbered = Vec::new();
        for pair in &conditions.pairs {
            let parts = pair.always.iter().chain(&pair.before);
            parts.for_each(|may| may.for_each_expr(&mut |number, expr| numbered.push((number, expr))));
        }
        numbered.sort_by_key(|(number, _)| *number);
        CompiledProperty { atoms, exprs: numbered.into_iter().map(|(_, expr)| compiler.property(expr)).collect() }
    }
}

/// The explicit backend.
struct Explicit<'e, const W: usize> {
    sets: FairSets<'e, W>,
    questions: &'e CompiledProperty,
    meter: &'e Meter<'e>,
    /// All turns by store and the must turns, made when they are asked for.
    turns: Option<(StoreTurns, StoreTurns)>,
}

impl<const W: usize> FairBackend for Explicit<'_, W> {
    fn forget(&mut self) -> Result<(), StopReason> {
        self.sets.forget_exposed();
        self.turns = None;
        Ok(())
    }

    fn expose(&mut self, facts: &[(ProcessId, LocalFact)]) -> Result<bool, StopReason> {
        self.turns = None;
        let mut new = false;
        for (process, fact) in facts {
            new |= self.sets.expose_fact(*process, fact);
        }
        Ok(new)
    }

    fn close(&mut self) -> Result<(), StopReason> {
        self.turns = None;
        self.sets.compute()
    }

    fn fair_run(
        &mut self,
        focus: ProcessId,
        query: FairRunQuery,
        turns: Transitions,
    ) -> Result<Option<AbstractRun>, Halt> {
        let meter = self.meter;
        Ok(self.with_product(focus, query, turns, |product| {
            let component = fair_component(product, meter)?;
            Ok(component.map(|component| shown(product, &lasso::through(product, &component))))
        })?)
    }

    fn block_of(&self, process: ProcessId, local: &LocalState) -> usize {
        self.sets.plain_block(process, local).map_or(usize::MAX, BlockId::index)
    }

    fn locals_at(&mut self, process: ProcessId, point: &AbstractPoint) -> Result<Vec<LocalState>, StopReason> {
        let Some(store) = self.sets.store_of(&point.state, &point.blocks) else { return Ok(Vec::new()) };
        let mut numbers = Vec::new();
        for_each_bit(self.sets.at(process, store), |local| numbers.push(local));
        Ok(numbers.into_iter().map(|local| self.sets.plain_local(process, local).clone()).collect())
    }

    fn prove(&mut self, violation: usize, focus_accepts: bool, foci: &[ProcessId]) -> Result<WrittenProof, StopReason> {
        let query = FairRunQuery { violation, focus_accepts, automaton: AutomatonChoice::Reference };
        let meter = self.meter;
        let (mut ranked, mut open) = (Vec::new(), Vec::new());
        for &focus in foci {
            let found = self.with_product(focus, query, Transitions::May, |product| {
                let own_mark = focus_accepts.then(|| product.n_demanded() - 1);
                let ranks = ranks::ranks(product, own_mark, meter)?;
                Ok(ranks.map(|ranks| Claimable::new(product, &ranks)))
            })?;
            match found {
                Some(found) => ranked.push((focus, found)),
                None => open.push(focus),
            }
        }
        if !open.is_empty() {
            return Ok(WrittenProof::Open(open));
        }
        let (invariant, places) = self.sets.certify()?;
        let focus = |(process, found): (ProcessId, Claimable)| found.focus(process, &places[process.index()]);
        let n_marks = self.sets.conditions.plain[violation].automaton.n_marks;
        let variant = match focus_accepts {
            true => Claimed::EveryProcess { mark: (n_marks > 0).then_some(0) },
            false => Claimed::OneProcess,
        };
        let foci = ranked.into_iter().map(focus).collect();
        let conditions = self.sets.conditions;
        let all = conditions.automata[violation].names(conditions.model);
        let violation = conditions.names[violation].clone();
        let claim = NoFairRun { violation, automaton: AutomatonNames::default(), variant, foci };
        Ok(WrittenProof::Proof(invariant, Box::new(claim.with_names_of(&all))))
    }

    fn prune(&mut self, sums: Option<&Sights>) -> bool {
        let found = sums.and_then(|sums| Sums::new(sums.clone()));
        let is_done = found.is_some() == sums.is_some();
        self.turns = None;
        self.sets.prune(found);
        is_done
    }

    fn statistics(&self) -> Statistics {
        let sizes = self.sets.locals.model.processes.ids().map(|process| Some(self.sets.n_states(process)));
        Statistics {
            peak_memory_bytes: Some(self.sets.peak_bytes().max(self.meter.peak_bytes())),
            local_states: Some(sizes.collect()),
            views: Some(SharedView::Whole),
            ..Statistics::default()
        }
    }
}

impl<'e, const W: usize> Explicit<'e, W> {
    /// Calls a function with the product of an abstract process and an automaton.
    fn with_product<T>(
        &mut self,
        focus: ProcessId,
        query: FairRunQuery,
        turns: Transitions,
        consume: impl FnOnce(&FocusProduct<'_, 'e, W>) -> Result<T, StopReason>,
    ) -> Result<T, StopReason> {
        if self.turns.is_none() {
            let all = StoreTurns::new(&mut self.sets)?;
            let must = all.must();
            self.turns = Some((all, must));
        }
        let (all, must) = self.turns.as_ref().expect("just made");
        let by_store = self.sets.is_pruned().then_some(all);
        let nodes = FocusNodes::new(&mut self.sets, focus, (turns, by_store))?;
        let none = StoreTurns::none(self.sets.stores.len());
        let conditions = self.sets.conditions;
        let [small, plain] = &self.questions.atoms;
        let (violations, atoms) = match query.automaton {
            AutomatonChoice::Simplified => (&conditions.violations, small),
            AutomatonChoice::Reference => (&conditions.plain, plain),
        };
        let violation = &violations[query.violation];
        let pair = |at: usize| -> (usize, &AssumptionPair) { (at, &conditions.pairs[at]) };
        let asked = RunQuery {
            automaton: &violation.automaton,
            atoms: &atoms[query.violation],
            pairs: conditions.pairs_of(violation).into_iter().map(pair).collect(),
            focus_accepts: query.focus_accepts,
        };
        let turns = match turns {
            _ if by_store.is_some() => &none,
            Transitions::Must => must,
            Transitions::May => all,
        };
        let parts = ProductParts { nodes: &nodes, turns, terms: &self.questions.exprs };
        consume(&FocusProduct::new(&mut self.sets, &parts, &asked)?)
    }
}

/// A lasso of the product in plain terms.
fn shown<const W: usize>(product: &FocusProduct<'_, '_, W>, lasso: &lasso::FairLasso) -> AbstractRun {
    let (sets, focus) = (product.sets, product.nodes.focus);
    let mut run = AbstractRun { focus, points: Vec::new(), turns: Vec::new(), loop_from: lasso.stem.len() };
    for &(node, edge) in lasso.stem.iter().chain(&lasso.turning) {
        let (store, local) = product.nodes.list[product.base(node).index()];
        let store = sets.stores[store.index()];
        let blocks = sets.vectors[store.blocks.index()].iter().map(|block| block.index()).collect();
        run.points.push(AbstractPoint { state: sets.plain_state(store.cells, Some((focus, local))), blocks });
        run.turns.push(match product.edge(node, edge) {
            FocusEdge::Own(own) => {
                let (turn, kind) = sets.classes[own.class.index()].clone();
                AbstractTurn {
                    mover: turn.process(),
                    partner: turn.step().and_then(|by| by.partner).map(|(partner, _)| partner),
                    own: Some(turn),
                    satisfied: sets.kinds[kind.index()].clone(),
                    is_must: own.is_must,
                }
            }
            FocusEdge::Other(turn) => AbstractTurn {
                mover: turn.mover,
                partner: turn.partner,
                own: None,
                satisfied: sets.kinds[turn.kind.index()].clone(),
                is_must: turn.is_must,
            },
        });
    }
    run
}
