//! Runs of schedulers for temporal properties: beside the automaton of what violates the property, until the run goes round in a way that is fair.
//!
//! In: temporal properties. Out: a lasso for each of which one was found. Each turn is chosen by a scheduler, among those after which the automaton can still read on; the automaton goes where
//! runs can be accepted as soon as it can. Where a state of program and automaton comes back, the turns between are a loop: it violates the property if every mark of the automaton
//! was on one of them, and every fairness pair had its demand met or was free of it all along. When each was last is known, so a loop is judged without going round it again.

use engine::Answer;
use evidence::{Trace, TraceEnd};
use model::Model;
use model::eval::Turn;
use model::process::ProcessId;
use model::property::PropertyKind;
use model::value::Value;
use packed::compile::Compiler;
use packed::hash::hash;
use packed::initial::InitialStates;
use packed::machine::{Machine, Scratch};
use packed::packing::Packed;
use rustc_hash::{FxHashMap, FxHashSet};
use temporal::Violation;

use super::ScheduleJob;
use super::scheduler::Scheduler;
use crate::liveness::alike;
use crate::liveness::predicates::{Predicates, StateTest};
use crate::liveness::product::parts_of;
use crate::liveness::rules::{AutomatonMove, ViolationRules};
use crate::liveness::turns::{LeavingTurns, TurnTaker, has};

/// So many ways to violate a property are looked at, of those that are not alike.
const MOST_VIOLATIONS: usize = 3;

/// Follows schedulers for each temporal property of a job.
pub fn search<const W: usize>(job: &ScheduleJob<'_>) -> Vec<Answer> {
    let model = job.model();
    let mut answers = Vec::new();
    for &property in &job.runs {
        let PropertyKind::Temporal(formula) = &model.properties[property].kind else { continue };
        let violations = temporal::violations(model, &model.properties[property], formula, job.budget);
        let Ok(violations) = violations else { continue };
        let mut violations = alike::representatives(model, &violations);
        violations.truncate(MOST_VIOLATIONS);
        let mut compiler = Compiler::new(job.codec);
        let mut predicates = Predicates::new(model);
        violations.iter().for_each(|violation| predicates.add(&mut compiler, violation));
        let machine = Machine { codec: job.codec, code: compiler.finish() };
        let schedulers = Scheduler::all(model.processes.len(), job.config.random);
        let mut lassos = schedulers.iter().flat_map(|scheduler| {
            let (machine, predicates) = (&machine, &predicates);
            violations.iter().flat_map(move |violation| {
                let round =
                    move |hold| AutomatonRun::<W>::new(machine, predicates, violation, (scheduler.clone(), hold));
                Hold::ALL.into_iter().filter_map(move |hold| round(hold)?.lasso(job))
            })
        });
        answers.extend(lassos.next().map(|trace| job.found(property, trace)));
    }
    answers
}

/// Which processes take no steps that they could take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hold {
    Nobody,
    /// Those that the property names, where runs can be accepted: so nothing happens that it waits for.
    Named,
    /// Those of which no assumption of fairness speaks, where others have some: they may stop for ever.
    Unassumed,
}

impl Hold {
    const ALL: [Hold; 3] = [Hold::Nobody, Hold::Named, Hold::Unassumed];

    /// The processes; `None` where there are none to be held.
    fn processes(self, model: &Model, violation: &Violation) -> Option<Vec<ProcessId>> {
        let held: Vec<ProcessId> = match self {
            Hold::Nobody => return Some(Vec::new()),
            Hold::Named => {
                let named = violation.propositions.iter().flat_map(|proposition| &proposition.bound);
                let process = |value: &Value| match value {
                    Value::Process(process) => Some(*process),
                    _ => None,
                };
                named.filter_map(process).collect()
            }
            Hold::Unassumed => {
                let owners = violation.fairness.iter().filter_map(|&id| model.fairness[id].owner);
                let owners: FxHashSet<ProcessId> = owners.collect();
                if owners.is_empty() {
                    return None;
                }
                model.processes.ids().filter(|process| !owners.contains(process)).collect()
            }
        };
        (!held.is_empty()).then_some(held)
    }
}

/// A run beside an automaton.
struct AutomatonRun<'r, const W: usize> {
    machine: &'r Machine<'r>,
    scratch: Scratch<W>,
    turns: TurnTaker<'r>,
    rules: ViolationRules<'r>,
    predicates: &'r Predicates,
    scheduler: Scheduler,
    /// Processes that take no steps, though they stand still where they have none; and why.
    held: Vec<ProcessId>,
    hold: Hold,
    /// Processes whose turn it was when they had only steps that would satisfy the property: they stand still as soon as they have none.
    owed: Vec<ProcessId>,
    /// For each state of the automaton whether runs that stay around it can be accepted.
    can_accept: Vec<bool>,
    nodes: Vec<AutomatonNode<W>>,
    taken: Vec<Turn>,
    /// By hash of a node: when it was there first and last.
    known: FxHashMap<u64, [usize; 2]>,
    /// By mark of the automaton: after how many turns it was last on one.
    marked: Vec<usize>,
    /// By pair: after how many turns its demand was last met, or it last was not free of it.
    met: Vec<usize>,
    bound: Vec<usize>,
    /// By class of steps, and by process that stands still: the pairs whose demand is met.
    met_by_class: Vec<Vec<usize>>,
    met_by_still: FxHashMap<usize, Vec<usize>>,
}

/// A state of the program and of the automaton.
#[derive(Clone, Copy, PartialEq, Eq)]
struct AutomatonNode<const W: usize> {
    state: Packed<W>,
    automaton: u32,
}

/// A turn, and where it leads.
struct NextTurn<const W: usize> {
    turn: Turn,
    /// The class of the step, if it is one.
    class: Option<usize>,
    state: Packed<W>,
    automaton: AutomatonMove,
}

impl<'r, const W: usize> AutomatonRun<'r, W> {
    /// A run that begins; `None` where there is no initial state, or nobody to be held.
    fn new(
        machine: &'r Machine<'r>,
        predicates: &'r Predicates,
        violation: &'r Violation,
        (scheduler, hold): (Scheduler, Hold),
    ) -> Option<Self> {
        let held = hold.processes(machine.codec.model, violation)?;
        let rules = ViolationRules::new(predicates, violation);
        let first = AutomatonNode { state: InitialStates::new(machine.codec).next()?, automaton: rules.initial() };
        Some(AutomatonRun {
            machine,
            scratch: machine.scratch(),
            turns: TurnTaker::new(machine, predicates),
            predicates,
            scheduler,
            held,
            hold,
            owed: Vec::new(),
            can_accept: parts_of(&violation.automaton).0.iter().map(Option::is_some).collect(),
            nodes: vec![first],
            taken: Vec::new(),
            known: FxHashMap::default(),
            marked: vec![0; rules.n_marks()],
            met: vec![0; rules.n_pairs()],
            bound: vec![0; rules.n_pairs()],
            met_by_class: Vec::new(),
            met_by_still: FxHashMap::default(),
            rules,
        })
    }

    /// Follows the scheduler until the run goes round in a way that violates the property.
    fn lasso(mut self, job: &ScheduleJob<'_>) -> Option<Trace> {
        let mut leaving = LeavingTurns::default();
        for _ in 0..job.n_steps() {
            let bytes = self.nodes.capacity() * size_of::<AutomatonNode<W>>();
            if !job.meter.may_go_on(bytes as u64) {
                return None;
            }
            if let Some(first) = self.closes() {
                return Some(self.shown(first));
            }
            let node = self.nodes[self.taken.len()];
            self.turns.take(&node.state, &self.scratch, &mut leaving).ok()?;
            if self.rules.tests().any(|test| leaving.faulty.contains(&test)) {
                return None;
            }
            let next = self.next(node, &leaving)?;
            self.go(next, &leaving);
        }
        None
    }

    /// Since when the turns are a loop that violates the property, if they are one.
    fn closes(&mut self) -> Option<usize> {
        let now = self.taken.len();
        let node = self.nodes[now];
        let key = hash(&node.state) ^ u64::from(node.automaton).rotate_left(32);
        let times = self.known.entry(key).or_insert([now; 2]);
        let before = *times;
        times[1] = now;
        // Two different nodes of one hash are rare; they are told apart here, and a loop may be missed.
        before.into_iter().find(|&since| since < now && self.nodes[since] == node && self.is_fair_since(since))
    }

    /// Whether the turns since then, again and again, are a run that violates the property.
    fn is_fair_since(&self, since: usize) -> bool {
        self.marked.iter().all(|&last| last > since)
            && self.met.iter().zip(&self.bound).all(|(&met, &bound)| met > since || bound <= since)
    }

    /// The next turn: one with which the automaton goes where runs can be accepted, if it can go there now; else any.
    fn next(&mut self, node: AutomatonNode<W>, leaving: &LeavingTurns<W>) -> Option<NextTurn<W>> {
        let letter = self.rules.letter(|test| leaving.holds(test));
        let mut moves = self.rules.moves(letter, node.automaton).iter();
        let can_go_there = moves.any(|(target, _)| self.can_accept[*target as usize]);
        let there = if can_go_there { self.turn(node, leaving, (letter, true)) } else { None };
        there.or_else(|| self.turn(node, leaving, (letter, false)))
    }

    /// A turn of the process whose turn it is, if the automaton can read on after it; else of the next one. The automaton reads a letter, and maybe has to go where runs can be accepted.
    fn turn(
        &mut self,
        node: AutomatonNode<W>,
        leaving: &LeavingTurns<W>,
        (letter, is_there): (u32, bool),
    ) -> Option<NextTurn<W>> {
        let may_stand = self.rules.n_still(&leaving.still, leaving.steps.len()) > 0;
        let may_stand = |process: &ProcessId| may_stand && has(&leaving.still, process.index());
        if let Some(at) = self.owed.iter().position(may_stand)
            && let Some(automaton) = self.automaton_move((letter, is_there), node.automaton, &node.state)
        {
            let process = self.owed.swap_remove(at);
            return Some(NextTurn { turn: Turn::StandStill(process), class: None, state: node.state, automaton });
        }
        let mover = |&(class, _): &(u32, Packed<W>)| self.turns.classes[class as usize].process();
        let mut steps: Vec<(ProcessId, usize)> =
            leaving.steps.iter().enumerate().map(|(at, step)| (mover(step), at)).collect();
        steps.sort_unstable();
        for _ in 0..self.machine.codec.model.processes.len() {
            let process = self.scheduler.process();
            let first = steps.partition_point(|&(mover, _)| mover < process);
            let own = &steps[first..first + steps[first..].partition_point(|&(mover, _)| mover == process)];
            let n_steps = own.len();
            let is_time = self.hold == Hold::Unassumed || self.can_accept[node.automaton as usize];
            let is_held = is_time && self.held.contains(&process);
            let own = if is_held { &[] } else { own };
            let chosen = self.scheduler.choose(own.len());
            for nth in 0..own.len() {
                let (class, state) = leaving.steps[own[(chosen + nth) % own.len()].1];
                if let Some(automaton) = self.automaton_move((letter, is_there), node.automaton, &state) {
                    let turn = self.turns.classes[class as usize].clone();
                    return Some(NextTurn { turn, class: Some(class as usize), state, automaton });
                }
            }
            if may_stand(&process)
                && let Some(automaton) = self.automaton_move((letter, is_there), node.automaton, &node.state)
            {
                self.scheduler.skip();
                return Some(NextTurn { turn: Turn::StandStill(process), class: None, state: node.state, automaton });
            }
            if n_steps > 0 && !self.owed.contains(&process) {
                self.owed.push(process);
            }
            self.scheduler.skip();
        }
        None
    }

    /// Where the automaton goes, if it can read on in the state: where runs can be accepted, with as many marks as it can.
    fn automaton_move(
        &mut self,
        (letter, is_there): (u32, bool),
        automaton: u32,
        state: &Packed<W>,
    ) -> Option<AutomatonMove> {
        let after = self.letter(state)?;
        let moves = self.rules.moves(letter, automaton).iter();
        let moves = moves.filter(|(target, _)| !is_there || self.can_accept[*target as usize]);
        let reads_on = moves.filter(|(target, _)| !self.rules.moves(after, *target).is_empty());
        reads_on.max_by_key(|(target, marks)| (self.can_accept[*target as usize], marks.len())).cloned()
    }

    /// The letter of a state; `None` where a proposition has no value.
    fn letter(&mut self, state: &Packed<W>) -> Option<u32> {
        let mut holds: Vec<usize> = Vec::new();
        for &test in self.rules.atoms() {
            let StateTest::Term(term) = self.predicates.states[test] else { return None };
            if self.machine.test(term, state, &self.scratch).ok()? {
                holds.push(test);
            }
        }
        Some(self.rules.letter(|test| holds.contains(&test)))
    }

    /// Takes a turn.
    fn go(&mut self, next: NextTurn<W>, leaving: &LeavingTurns<W>) {
        let model = self.machine.codec.model;
        let NextTurn { turn, class, state, automaton: (automaton, marks) } = next;
        let now = self.taken.len() + 1;
        marks.into_iter().for_each(|mark| self.marked[mark] = now);
        for pair in self.rules.met_before(|test| leaving.holds(test)) {
            self.met[pair] = now;
        }
        for pair in (0..self.bound.len()).filter(|&pair| !self.rules.is_free(pair, |test| leaving.holds(test))) {
            self.bound[pair] = now;
        }
        let process = turn.process();
        let met = match class {
            Some(class) => {
                while self.met_by_class.len() <= class {
                    let of_class = &self.turns.classes[self.met_by_class.len()];
                    self.met_by_class.push(self.rules.met_by(model, of_class));
                }
                &self.met_by_class[class]
            }
            None => {
                let rules = &self.rules;
                self.met_by_still.entry(process.index()).or_insert_with(|| rules.met_by(model, &turn))
            }
        };
        met.iter().for_each(|&pair| self.met[pair] = now);
        let from = self.location(process, &self.nodes[now - 1].state);
        let to = self.location(process, &state);
        if class.is_some() {
            self.scheduler.moved(from, to);
        }
        self.taken.push(turn);
        self.nodes.push(AutomatonNode { state, automaton });
    }

    fn location(&self, process: ProcessId, state: &Packed<W>) -> u64 {
        self.machine.codec.layout.control[process.index()].raw(state)
    }

    /// The lasso in the user's terms.
    fn shown(self, first: usize) -> Trace {
        let codec = self.machine.codec;
        let states = self.nodes.iter().map(|node| codec.unpack(&node.state)).collect();
        Trace { states, turns: self.taken, end: TraceEnd::Loop, loop_from: Some(first) }
    }
}
