//! Claims confronted with runs: before a verdict says that nothing violates a property, a little of the program is run.
//!
//! In: a program, and the claim that no reachable state, step or race decides a property otherwise. Out: a run that does, if one is found; then we are wrong,
//! whatever the evidence says. It is no check of evidence and replaces none: it is made by other means than all methods and checkers that leave something out, so that a mistake which
//! an engine and its checker share ends as an internal error and not as a verdict.
//!
//! The runs are those of `model::eval`: the states nearest to an initial one, breadth first, in which few processes of each family take steps, since most mistakes
//! need no more (Lu, Park, Seo and Zhou, ASPLOS 2008); and a few long runs at random, of all processes. Claims about infinite runs are confronted where the whole product is small,
//! with all of its fair runs (`audit::temporal`). A claim about every size is confronted at its least sizes, each read from the text anew.
//! Work is counted in what is read and copied, not by the clock, so that the same call does the same everywhere.

use std::cell::OnceCell;
use std::collections::HashSet;

use audit::temporal::TurnGraph;
use audit::{AuditError, Recount};
use engine::error::title;
use engine::run::PropertyResult;
use engine::{PropertyId, Verdict};
use evidence::{Evidence, Scope};
use model::Model;
use model::eval::{
    Move, State, StepFault, evaluate, free_cells, initial_states, is_deadlock, likely_steps_of, n_initial_states, race,
};
use model::expr::{Domain, Expr, ExprKind};
use model::process::ProcessId;
use model::property::{Property, PropertyKind};
use model::value::Value;
use model::visit::each_part;

use crate::auditor::{AuditFailure, word};
use crate::check::Program;
use crate::every_n::at_size;
use crate::mistake::Mistake;
use crate::select;

/// How much is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunEffort {
    /// What may be looked at and copied, in cells and processes, to take steps: half of it breadth first, half of it at random.
    pub steps: usize,
    /// What may be looked at, in instances of quantifiers, to evaluate one property.
    pub tests: usize,
    /// So many processes of each family move in the search.
    pub movers: usize,
    /// So many runs are made at random.
    pub n_random: usize,
    /// A claim about every size is confronted at so many of them, from the least one on.
    pub n_sizes: i64,
    /// Fair runs are looked for in products of so many cells and processes in all states together.
    pub product: usize,
    /// So often their edges are looked at for one property.
    pub looks: u64,
}

/// What is spent on each claim: less than a millisecond on one about states, a few on one about infinite runs.
pub const EFFORT: RunEffort =
    RunEffort { steps: 6_000, tests: 6_000, movers: 3, n_random: 2, n_sizes: 3, product: 3_000, looks: 400_000 };

/// What a step costs beside what it copies.
const STEP: usize = 6;

/// States of a program that can be reached, each by a run.
pub struct RunSample {
    reached: Vec<ReachedState>,
    /// The first step that was a fault, and the state that it was tried in.
    fault: Option<(usize, Move, StepFault)>,
    /// The whole product, once there was a claim about infinite runs; `None` where it is large.
    product: OnceCell<Option<Box<SmallProduct>>>,
}

/// All reachable states, and the turns between them.
struct SmallProduct {
    states: Vec<State>,
    turn_graph: TurnGraph,
}

impl SmallProduct {
    /// The whole product, if it is small.
    fn of(model: &Model, effort: &RunEffort) -> Option<Box<Self>> {
        let width = model.cells.len() + model.processes.len();
        let most_states = effort.product / width.max(1);
        if n_initial_states(model) > most_states as u128 {
            return None;
        }
        let states = Recount::of(model, most_states)?.into_states();
        let turn_graph = TurnGraph::new(model, &states).looking_at_most(effort.looks);
        Some(Box::new(SmallProduct { states, turn_graph }))
    }
}

/// A state, and how it was reached.
struct ReachedState {
    state: State,
    /// The state before it, and the step between; `None` for an initial state.
    by: Option<(usize, Move)>,
}

impl RunSample {
    /// Runs a little of a program.
    pub fn of(model: &Model, effort: &RunEffort) -> Self {
        let found = RunSample { reached: Vec::new(), fault: None, product: OnceCell::new() };
        let mut sampler = Sampler { model, found };
        // What has to hold initially may leave few of many initial states, which are not searched for here.
        if model.initially.is_empty() && sampler.width() <= effort.steps / 2 {
            sampler.search(effort);
            sampler.wander(effort);
        }
        sampler.found
    }

    /// A run that decides the property otherwise than that nothing violates it or, of a `reachable`, that nothing satisfies it; in words. The Model is that of
    /// the runs.
    pub fn against(&self, model: &Model, property: &Property, effort: &RunEffort) -> Option<String> {
        let Property { kind: property, under, .. } = property;
        if let PropertyKind::Temporal(formula) = property {
            let product = self.product.get_or_init(|| SmallProduct::of(model, effort)).as_ref()?;
            let found = product.turn_graph.is_violated((model, &product.states), formula, under);
            return match found {
                Ok(Some(true)) => Some(format!("a fair run violates it, among {} states", product.states.len())),
                Ok(Some(false) | None) => None,
                Err(fault) => Some(format!("it has no value in a reachable state: {}", fault.fault)),
            };
        }
        if let PropertyKind::NoErrors = property {
            let (at, by, fault) = self.fault.as_ref()?;
            return Some(format!("{}, then {} fails: {}", self.run_text(model, *at), step(model, by), fault.fault));
        }
        let n_processes = model.processes.len();
        let cost = match property {
            PropertyKind::Invariant(expr) | PropertyKind::Reachable(expr) => n_instances(model, expr),
            PropertyKind::DeadlockFree => n_processes,
            PropertyKind::RaceFree(_) => n_processes * STEP,
            PropertyKind::NoErrors | PropertyKind::Temporal(_) => return None,
        };
        let n_tests = effort.tests / cost.max(1);
        if n_tests == 0 {
            return None;
        }
        let stride = self.reached.len().div_ceil(n_tests);
        { (0..self.reached.len()).step_by(stride.max(1)) }.find_map(|at| {
            let what = decided(model, &self.reached[at].state, property)?;
            Some(format!("{} {what}", self.run_text(model, at)))
        })
    }

    /// The run to a state, in words.
    fn run_text(&self, model: &Model, at: usize) -> String {
        let (mut steps, mut at) = (Vec::new(), at);
        while let Some((before, by)) = &self.reached[at].by {
            steps.push(step(model, by));
            at = *before;
        }
        steps.reverse();
        match steps.len() {
            0 => "in an initial state".to_owned(),
            1 => format!("after {}", steps[0]),
            n => format!("after {n} steps ({})", steps.join(", ")),
        }
    }
}

fn step(model: &Model, by: &Move) -> String {
    let statement = &model.statements[model.actions[by.action].statement].text;
    format!("`{statement}` by {}", model.processes[by.process].name)
}

/// What is wrong with a claim about a property in one state.
fn decided(model: &Model, state: &State, property: &PropertyKind) -> Option<String> {
    let is = |expr: &Expr, wanted: bool, what: &str| match evaluate(model, state, expr, None) {
        Ok(Value::Bool(is)) if is == wanted => None,
        Ok(_) => Some(what.to_owned()),
        Err(fault) => Some(format!("it has no value: {}", fault.fault)),
    };
    match property {
        PropertyKind::Invariant(expr) => is(expr, true, "it is false"),
        PropertyKind::Reachable(expr) => is(expr, false, "it is true"),
        PropertyKind::DeadlockFree => is_deadlock(model, state).then(|| "nobody can move".to_owned()),
        PropertyKind::RaceFree(var) => race(model, state, *var)
            .map(|race| format!("two processes are about to touch `{}`", model.cells[race.cell].name)),
        PropertyKind::NoErrors | PropertyKind::Temporal(_) => None,
    }
}

/// Makes runs.
struct Sampler<'m> {
    model: &'m Model,
    found: RunSample,
}

impl Sampler<'_> {
    /// What it costs to read a whole state.
    fn width(&self) -> usize {
        self.model.cells.len() + self.model.processes.len()
    }

    /// The nearest states on runs of few processes.
    fn search(&mut self, effort: &RunEffort) {
        let movers: Vec<ProcessId> =
            self.model.families.iter().flat_map(|family| family.processes().take(effort.movers)).collect();
        let mut left = effort.steps / 2;
        let mut known: HashSet<State> = HashSet::new();
        for state in initial_states(self.model) {
            let Some(rest) = left.checked_sub(self.width()) else { break };
            left = rest;
            known.insert(state.clone());
            self.found.reached.push(ReachedState { state, by: None });
        }
        let mut at = 0;
        while at < self.found.reached.len() {
            for &process in &movers {
                for (by, after) in self.steps(at, process) {
                    let Some(rest) = left.checked_sub(STEP + self.width()) else { return };
                    left = rest;
                    if known.insert(after.clone()) {
                        self.found.reached.push(ReachedState { state: after, by: Some((at, by)) });
                    }
                }
                let Some(rest) = left.checked_sub(STEP) else { return };
                left = rest;
            }
            at += 1;
        }
    }

    /// Runs of all processes, at random.
    fn wander(&mut self, effort: &RunEffort) {
        let mut dice = Dice(0x2545_f491_4f6c_dd1d);
        let n_processes = self.model.processes.len();
        if n_processes == 0 {
            return;
        }
        for _ in 0..effort.n_random {
            let mut left = (effort.steps / 2 / effort.n_random).saturating_sub(self.width());
            self.start(&mut dice);
            let mut at = self.found.reached.len() - 1;
            while let Some(rest) = left.checked_sub(STEP) {
                left = rest;
                let process = ProcessId::new(dice.below(n_processes));
                let mut steps = self.steps(at, process);
                if steps.is_empty() {
                    continue;
                }
                left = left.saturating_sub(steps.len() * self.width());
                let (by, state) = steps.swap_remove(dice.below(steps.len()));
                self.found.reached.push(ReachedState { state, by: Some((at, by)) });
                at = self.found.reached.len() - 1;
            }
        }
    }

    /// An initial state at random.
    fn start(&mut self, dice: &mut Dice) {
        let mut state = initial_states(self.model).next().expect("a program has an initial state");
        let mut free: Vec<_> = free_cells(self.model).into_iter().collect();
        free.sort_unstable();
        for cell in free {
            let ty = self.model.cells[cell].ty;
            let n_values = u64::try_from(ty.n_values(self.model.type_context())).unwrap_or(u64::MAX);
            let value = ty.value_at(dice.next() % n_values.max(1), self.model.type_context());
            state.cells[cell.index()] = value.unwrap_or(state.cells[cell.index()]);
        }
        self.found.reached.push(ReachedState { state, by: None });
    }

    /// The steps of a process from a state, and where they lead. Faults are noted.
    fn steps(&mut self, at: usize, process: ProcessId) -> Vec<(Move, State)> {
        let mut found = Vec::new();
        for step in likely_steps_of(self.model, &self.found.reached[at].state, process, None) {
            match step.result {
                Ok(after) => found.push((step.by, after)),
                Err(fault) => {
                    self.found.fault.get_or_insert((at, step.by, fault));
                }
            }
        }
        found
    }
}

/// Whether a verdict says that something never happens, so that runs could contradict it.
pub fn is_claim(verdict: &Verdict, property: &PropertyKind) -> bool {
    let evidence = match (verdict, property) {
        (Verdict::Violated(evidence), PropertyKind::Reachable(_)) => evidence,
        (Verdict::Holds(_), PropertyKind::Reachable(_)) => return false,
        (Verdict::Holds(evidence), _) => evidence,
        (Verdict::Violated(_) | Verdict::Unknown(_), _) => return false,
    };
    !matches!(evidence, Evidence::Trace(_))
}

/// A program at the least sizes of claims about every size, each read from the text when it is first asked for, with runs.
pub struct LeastSizes<'p> {
    program: &'p Program,
    effort: RunEffort,
    known: Vec<ProgramAtSize>,
    /// The claims that no run contradicts: the property, and from which size on.
    confronted: Vec<(PropertyId, i64)>,
}

/// A program at one size.
struct ProgramAtSize {
    parameter: String,
    size: i64,
    /// `None` where the text is no program at this size.
    program: Option<Box<(Program, RunSample)>>,
}

impl<'p> LeastSizes<'p> {
    /// Nothing is read yet.
    pub fn of(program: &'p Program, effort: &RunEffort) -> Self {
        LeastSizes { program, effort: *effort, known: Vec::new(), confronted: Vec::new() }
    }

    /// Confronts an answer about every size with runs at the least ones. A claim about one size only was confronted where it was audited.
    ///
    /// # Errors
    /// A run against it: a mistake of ours.
    pub fn confront(&mut self, result: &PropertyResult) -> Result<(), Box<Mistake>> {
        let property = &self.program.model.properties[result.property];
        let Scope::AllSizes { parameter, from, .. } = result.verdict.scope() else { return Ok(()) };
        if !is_claim(&result.verdict, &property.kind) || self.confronted.contains(&(result.property, from)) {
            return Ok(());
        }
        self.confronted.push((result.property, from));
        self.claimed(result.property, (&parameter, from)).map_err(|(program, error)| {
            let (property, verdict) = (property.name.clone(), word(&result.verdict));
            AuditFailure { program, property, method: result.method, verdict, error }.into()
        })
    }

    /// Whether runs contradict that nothing decides a property otherwise from some size on.
    ///
    /// # Errors
    /// The program at a size at which one does, by its title, and how.
    pub fn claimed(
        &mut self,
        property: PropertyId,
        (parameter, from): (&str, i64),
    ) -> Result<(), (String, AuditError)> {
        let LeastSizes { program, effort, .. } = *self;
        let name = &program.model.properties[property].name;
        let Some(declared) = program.model.parameters.iter().find(|one| one.name == parameter) else { return Ok(()) };
        let sizes = from..from.saturating_add(effort.n_sizes);
        for size in sizes.filter(|&size| declared.allows(size) && size != declared.value) {
            let Some((other, runs)) = self.at(parameter, size) else { continue };
            let Ok(question) = select::find(&other.model, name) else { continue };
            if let Some(found) = runs.against(&other.model, &other.model.properties[question], &effort) {
                let claim = format!("nothing decides `{name}` otherwise for every {parameter} ≥ {from}");
                return Err((title(&other.model), AuditError::new(claim, format!("{found} at {parameter} = {size}"))));
            }
        }
        Ok(())
    }

    fn at(&mut self, parameter: &str, size: i64) -> Option<&(Program, RunSample)> {
        let is_it = |one: &ProgramAtSize| one.size == size && one.parameter == parameter;
        let at = self.known.iter().position(is_it).unwrap_or_else(|| {
            let program = at_size(self.program, (parameter, size)).map(|program| {
                let runs = RunSample::of(&program.model, &self.effort);
                Box::new((program, runs))
            });
            self.known.push(ProgramAtSize { parameter: parameter.to_owned(), size, program });
            self.known.len() - 1
        });
        self.known[at].program.as_deref()
    }
}

/// How many instances of quantifiers an expression has, at least 1.
fn n_instances(model: &Model, expr: &Expr) -> usize {
    let mut n: usize = 1;
    each_part(expr, &mut |part| {
        let ExprKind::Quantified(quantified) = &part.kind else { return };
        let size = |domain: &Domain| match domain {
            Domain::Family(family) => model.families[*family].count(),
            Domain::Enum(id) => model.enums[*id].values.len(),
            Domain::Range(lo, hi) => match (&lo.kind, &hi.kind) {
                (ExprKind::Const(Value::Int(lo)), ExprKind::Const(Value::Int(hi))) => {
                    usize::try_from(hi.saturating_sub(*lo).saturating_add(1)).unwrap_or(0)
                }
                _ => model.processes.len(),
            },
        };
        let instances = quantified.bindings.iter().fold(1, |n: usize, one| n.saturating_mul(size(&one.domain).max(1)));
        n = n.saturating_mul(instances);
    });
    n
}

/// Numbers at random, the same in every call (xorshift, G. Marsaglia 2003).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use base::{CancelToken, SourceFile};
    use engine::run::Audit;
    use engine::settings::Settings;
    use engine::{Observer, Silent, Task};
    use evidence::Certificate;

    use super::*;
    use crate::check::{Check, CheckLimits};
    use crate::checker::Checker;
    use crate::load::{self, Loaded};

    /// With two processes `few` and `two` hold, with three they do not; `fine` and `all` hold at every size; the rest is false at any.
    const TEXT: &str = "program p(N: 2..) { shared c: 0..=1000; shared m: sem = 1; \
        process P[i in 0..<N] { a: c += 1; b: acquire m; d: skip; } \
        invariant few: c <= 2; invariant low: c == 0; invariant fine: c <= N; \
        invariant apart: forall i != j: !(P[i]@d && P[j]@a); reachable never: c == 2; race_free c; \
        property two: eventually always c == 2 under every P[*]; property all: eventually c == N under every P[*]; \
        property at_once: eventually c == N; }";

    fn program(size: i64) -> Program {
        match load::instance(&SourceFile::new("p.pw", TEXT), &[("N".to_owned(), size)]) {
            Loaded::Program(program) => *program,
            Loaded::Refused(refusal) => panic!("{:?}", refusal.diagnostics),
        }
    }

    /// Returns the verdict that it is given, without any audit.
    struct Forger(Verdict);

    impl Checker for Forger {
        fn name(&self) -> &'static str {
            "forger"
        }

        fn settings(&mut self) -> Option<&mut dyn Settings> {
            None
        }

        fn check(&self, task: &Task<'_>, _: &dyn Observer) -> Result<Vec<PropertyResult>, Box<Mistake>> {
            let result = |&property: &PropertyId| PropertyResult {
                property,
                method: "forger",
                verdict: self.0.clone(),
                audit: Audit::NotDone,
                statistics: Default::default(),
                insight: Default::default(),
                denied: Vec::new(),
            };
            Ok(task.properties.iter().map(result).collect())
        }
    }

    fn for_every_size(name: &str) -> Evidence {
        let scope = Scope::AllSizes { parameter: "N".to_owned(), from: 2, checked: Vec::new() };
        Evidence::Certificate(Box::new(Certificate {
            property: name.to_owned(),
            scope,
            facts: Vec::new(),
            implies: Vec::new(),
        }))
    }

    fn said(name: &str, verdict: Verdict) -> Result<(), String> {
        let program = program(2);
        let questions = [select::find(&program.model, name).unwrap()];
        let limits =
            CheckLimits { time: None, memory_bytes: None, disk: None, n_threads: 1, cancel: CancelToken::default() };
        let check = Check { model: &program.model, questions: &questions, checker: &Forger(verdict), limits: &limits };
        assert!(check.run(&Silent).is_ok(), "without the text nobody knows of other sizes");
        check.run_of(&program, &Silent).map(drop).map_err(|mistake| mistake.to_string())
    }

    #[test]
    fn what_is_false_at_the_next_size_is_no_verdict() {
        assert_eq!(said("fine", Verdict::Holds(for_every_size("fine"))), Ok(()));
        let wrong = said("few", Verdict::Holds(for_every_size("few"))).unwrap_err();
        assert!(wrong.contains("in p, N = 3, method `forger` answers that `few` holds"), "{wrong}");
        assert!(wrong.contains("nothing decides `few` otherwise for every N ≥ 2"), "{wrong}");
        assert!(wrong.contains("`c += 1` by P[") && wrong.contains("it is false at N = 3"), "{wrong}");
        let wrong = said("never", Verdict::Violated(for_every_size("never"))).unwrap_err();
        assert!(wrong.contains("it is true at N = 3"), "{wrong}");
        assert_eq!(said("all", Verdict::Holds(for_every_size("all"))), Ok(()));
        let wrong = said("two", Verdict::Holds(for_every_size("two"))).unwrap_err();
        assert!(wrong.contains("a fair run violates it, among") && wrong.contains("at N = 3"), "{wrong}");
    }

    #[test]
    fn each_kind_of_property_is_confronted() {
        let program = program(2);
        let runs = RunSample::of(&program.model, &EFFORT);
        let against = |name: &str| {
            let id = select::find(&program.model, name).unwrap();
            runs.against(&program.model, &program.model.properties[id], &EFFORT)
        };
        for name in ["few", "fine", "no_errors", "two", "all"] {
            assert_eq!(against(name), None, "{name}");
        }
        for name in ["low", "apart", "never", "deadlock_free", "race_free c", "at_once"] {
            assert!(against(name).is_some(), "{name}");
        }
    }

    /// Whatever the size, about as much is copied; and the same runs are made again.
    #[test]
    fn work_is_bounded_and_the_same_in_every_call() {
        for size in [2, 30, 400] {
            let program = program(size);
            let (one, other) = (RunSample::of(&program.model, &EFFORT), RunSample::of(&program.model, &EFFORT));
            let states = |runs: &RunSample| runs.reached.iter().map(|one| one.state.clone()).collect::<Vec<State>>();
            assert_eq!(states(&one), states(&other));
            let n_initial = 1 + EFFORT.n_random;
            let copied = (one.reached.len() - n_initial) * (program.model.cells.len() + program.model.processes.len());
            assert!(copied <= EFFORT.steps, "{size}: {copied}");
        }
    }
}
