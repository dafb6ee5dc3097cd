//! Temporal properties on the distributed graph: one way catch them young (Černá and Pelánek 2003), with marks on edges and Streett pairs.
//!
//! In: the temporal properties of a search that is complete. Out, at worker 0: for each a run that violates it, or that there is none. Each way to violate a property is a product with an automaton, whose
//! nodes belong to workers by their hash (`nodes.rs`). Until nothing changes, nodes are dropped that a mark does not reach which they need, and then nodes to which no edge leads any more.
//!
//! Why that is right. A node of a fair component is never dropped: each mark that the component has reaches it inside the component; of the pairs whose marks it does not have all its nodes are free; and an edge of the component
//! leads to it. Where something remains, look at a strongly connected part of it to which no edge of what remains leads from outside. Every node has a predecessor, so the part has an edge. All marks that are
//! demanded reach its nodes, from edges that can only be in the part; and so does the mark of each pair of which one of its nodes is not free. So the part is a fair component.
//!
//! What remains goes to worker 0, where the run is found (`lasso.rs`); the way to it is walked back through the levels of the product.

use std::time::{Duration, Instant};

use engine::meter::Meter;
use engine::{PropertyId, Silent};
use model::Model;
use model::property::PropertyKind;
use packed::codec::Codec;
use packed::compile::Compiler;
use packed::initial::widened;
use packed::machine::Machine;
use packed::packing::Packed;
use packed::width::{ForWidth, with_width};
use product::liveness::predicates::Predicates;
use product::liveness::rules::ViolationRules;
use product::liveness::turns::TurnTaker;
use serde::{Deserialize, Serialize};
use temporal::Violation;

use super::lasso::{self, PackedLasso, PackedTurn};
use super::levels::Plan;
use super::net::Net;
use super::nodes::{Leaver, Nodes, Pass};
use super::secret::fingerprint;
use super::stop::Stop;

/// So many nodes go to worker 0 at most, where the run through them is found.
const MOST_HOME: u64 = 1 << 22;

/// What was found out about a temporal property.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FairFinding {
    /// The answer.
    pub answer: FairAnswer,
    /// When it was found out.
    pub time: Duration,
}

/// An answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum FairAnswer {
    /// No fair run violates it.
    Holds,
    /// This one does.
    Violated(PackedLasso),
    /// A limit was reached.
    Unknown(Stop),
    /// Two things that cannot both be true: what has to be so, and what was found.
    Contradiction(String, String),
}

/// The ways to violate each temporal property that is asked, the same at all workers.
pub struct FairQuestions {
    /// By property.
    ways: Vec<Result<Vec<Violation>, Stop>>,
}

/// What a worker says of the ways to violate a property.
type Summary = Result<[u8; 32], Stop>;

impl FairQuestions {
    /// Makes the automata, at each worker, and makes sure that all have the same.
    ///
    /// # Errors
    /// Workers that do not.
    pub fn new(plan: &Plan, net: &mut Net<'_>) -> Result<Self, String> {
        if plan.temporal.is_empty() {
            return Ok(FairQuestions { ways: Vec::new() });
        }
        let budget = &plan.budgets[net.me() % plan.n_threads];
        let ways = |&id: &PropertyId| match &plan.model.properties[id].kind {
            PropertyKind::Temporal(formula) => {
                temporal::violations(&plan.model, &plan.model.properties[id], formula, budget)
                    .map_err(|reason| Stop::new(&reason))
            }
            _ => Ok(Vec::new()),
        };
        let mut ways: Vec<Result<Vec<Violation>, Stop>> = plan.temporal.iter().map(ways).collect();
        let summary = |ways: &Result<Vec<Violation>, Stop>| -> Summary {
            let ways = ways.as_ref().map_err(Clone::clone)?;
            let text = |way: &Violation| {
                let keys: Vec<&String> = way.propositions.iter().map(|proposition| &proposition.key).collect();
                format!("{:?} {keys:?} {:?} {}", way.automaton, way.fairness, way.real_steps_only)
            };
            let texts: Vec<String> = ways.iter().map(text).collect();
            Ok(fingerprint(&texts.iter().map(String::as_bytes).collect::<Vec<_>>()))
        };
        let all = net.gather(&ways.iter().map(summary).collect::<Vec<Summary>>());
        let agreed = (net.me() == 0).then(|| agreed(&all, plan));
        let agreed: Result<Vec<Option<Stop>>, String> = net.tell_all(agreed.as_ref());
        for (ways, stop) in ways.iter_mut().zip(agreed?) {
            if let Some(stop) = stop {
                *ways = Err(stop);
            }
        }
        Ok(FairQuestions { ways })
    }

    /// The tests of states that the properties need, compiled, by number.
    pub fn predicates(&self, model: &Model, compiler: &mut Compiler<'_, '_>) -> Predicates {
        let mut predicates = Predicates::new(model);
        for way in self.ways.iter().flatten().flatten() {
            predicates.add(compiler, way);
        }
        predicates
    }

    /// Answers the properties, where all states are known; these tests have no value in one of them.
    pub fn decide(&self, plan: &Plan, net: &mut Net<'_>, codec: &Codec<'_>, faulty: &[bool]) -> Decided {
        let job = Job { questions: self, plan, net, codec, faulty };
        // One word more for the state of the automaton.
        with_width(codec.layout.n_words + 1, job).unwrap_or_else(|reason| {
            let unknown = || FairFinding { answer: FairAnswer::Unknown(Stop::new(&reason)), time: Duration::default() };
            Decided { findings: self.ways.iter().map(|_| unknown()).collect(), peak_bytes: 0 }
        })
    }
}

/// What workers agree on, by property: nothing where all have the same, or the limit that one of them reached.
fn agreed(all: &[Vec<Summary>], plan: &Plan) -> Result<Vec<Option<Stop>>, String> {
    let of_property = |at: usize| {
        let host = |worker: usize, stop: &Stop| stop.clone().on(plan.host_of(worker));
        let stop =
            all.iter().enumerate().find_map(|(worker, one)| one[at].as_ref().err().map(|stop| host(worker, stop)));
        match stop.is_some() || all.iter().all(|one| one[at] == all[0][at]) {
            true => Ok(stop),
            false => Err("the processes made different automata of the same property".to_owned()),
        }
    };
    (0..plan.temporal.len()).map(of_property).collect()
}

/// What came of the temporal properties.
pub struct Decided {
    /// By property; the runs are at worker 0.
    pub findings: Vec<FairFinding>,
    /// The most memory that a product took at this worker.
    pub peak_bytes: u64,
}

impl Decided {
    /// Whether nothing is left to be found out.
    pub fn is_whole(&self) -> bool {
        !self.findings.iter().any(|finding| matches!(finding.answer, FairAnswer::Unknown(_)))
    }
}

struct Job<'j, 'n, 'w> {
    questions: &'j FairQuestions,
    plan: &'j Plan,
    net: &'n mut Net<'w>,
    codec: &'j Codec<'j>,
    faulty: &'j [bool],
}

impl ForWidth for Job<'_, '_, '_> {
    type Output = Decided;

    fn run<const W: usize>(mut self) -> Decided {
        let started = Instant::now();
        let mut compiler = Compiler::new(self.codec);
        let predicates = self.questions.predicates(self.codec.model, &mut compiler);
        let machine = Machine { codec: self.codec, code: compiler.finish() };
        let mut decided = Decided { findings: Vec::new(), peak_bytes: 0 };
        for ways in &self.questions.ways {
            let answer = match ways {
                Err(stop) => FairAnswer::Unknown(stop.clone()),
                Ok(ways) => self.decide::<W>(&machine, &predicates, ways, &mut decided.peak_bytes),
            };
            decided.findings.push(FairFinding { answer, time: started.elapsed() });
        }
        decided
    }
}

/// What all workers know of a number, or the limit that one of them reached.
type Agreed = Result<u64, Stop>;

impl Job<'_, '_, '_> {
    /// Looks for a fair run in each product.
    fn decide<const W: usize>(
        &mut self,
        machine: &Machine<'_>,
        predicates: &Predicates,
        ways: &[Violation],
        peak_bytes: &mut u64,
    ) -> FairAnswer {
        for way in ways {
            let rules = ViolationRules::new(predicates, way);
            if rules.tests().any(|test| self.faulty.get(test) == Some(&true)) {
                return FairAnswer::Unknown(Stop::new(&product::liveness::no_value()));
            }
            let budget = &self.plan.budgets[self.net.me() % self.plan.n_threads];
            let meter = Meter::new(budget, &Silent);
            let leaver = Leaver::<W>::new(machine, rules, TurnTaker::new(machine, predicates));
            let mut nodes = Nodes::new(leaver, &meter, self.net);
            let answer = self.search(&mut nodes).unwrap_or_else(FairAnswer::Unknown);
            *peak_bytes = meter.peak_bytes().max(*peak_bytes);
            if !matches!(answer, FairAnswer::Holds) {
                return answer;
            }
        }
        FairAnswer::Holds
    }

    /// Looks for a fair run in a product.
    fn search<const W: usize>(&mut self, nodes: &mut Nodes<'_, '_, W>) -> Result<FairAnswer, Stop> {
        let mut depth = 0;
        loop {
            let n_nodes = nodes.begin_level();
            if self.sum(nodes, n_nodes)? == 0 {
                break;
            }
            nodes.expand(depth, self.net);
            depth += 1;
        }
        nodes.begin_with_sources();
        let n_remaining = loop {
            self.pass(nodes, Pass::Removal)?;
            if self.sum(nodes, u64::from(nodes.is_contradicted()))? > 0 {
                let (expected, found) = ("edges lead to nodes that were found before", "one leads elsewhere");
                return Ok(FairAnswer::Contradiction(expected.to_owned(), found.to_owned()));
            }
            let n_remaining = self.sum(nodes, nodes.n_alive())?;
            if n_remaining == 0 {
                return Ok(FairAnswer::Holds);
            }
            nodes.begin_marks();
            self.pass(nodes, Pass::Marks)?;
            nodes.begin_with_unmarked();
            if self.sum(nodes, nodes.n_queued())? == 0 {
                break n_remaining;
            }
        };
        match n_remaining > MOST_HOME {
            true => Err(Stop::Remains(n_remaining)),
            false => self.violated(nodes),
        }
    }

    /// Runs a pass until no worker has anything left.
    fn pass<const W: usize>(&mut self, nodes: &mut Nodes<'_, '_, W>, pass: Pass) -> Result<(), Stop> {
        while self.sum(nodes, nodes.n_queued())? > 0 {
            nodes.run(pass, self.net);
        }
        Ok(())
    }

    /// The sum of a number of all workers; or the limit that one of them reached.
    fn sum<const W: usize>(&mut self, nodes: &Nodes<'_, '_, W>, number: u64) -> Agreed {
        let said = (number, nodes.meter.reason().as_ref().map(Stop::new));
        // All come to the same conclusion, since all see the same.
        let all: Vec<(u64, Option<Stop>)> = self.net.share(&said);
        self.put_together(&all)
    }

    fn put_together(&self, all: &[(u64, Option<Stop>)]) -> Agreed {
        let stops = all.iter().enumerate().filter_map(|(worker, (_, stop))| Some((worker, stop.as_ref()?)));
        // Whoever reached a limit first told the others to stop.
        match stops.min_by_key(|(_, stop)| **stop == Stop::Cancelled) {
            Some((worker, stop)) => Err(stop.clone().on(self.plan.host_of(worker))),
            None => Ok(all.iter().map(|(number, _)| number).sum()),
        }
    }

    /// Something remains: the run through it, at worker 0.
    fn violated<const W: usize>(&mut self, nodes: &mut Nodes<'_, '_, W>) -> Result<FairAnswer, Stop> {
        let remaining = self.bring_home(nodes);
        let found = (self.net.me() == 0).then(|| {
            let found = lasso::find(&mut nodes.leaver, remaining, nodes.meter);
            found.map_err(|reason| Stop::new(&reason).on(self.plan.host_of(0)))
        });
        let start = found.as_ref().map(|found| match found {
            Ok(found) => Ok(found.as_ref().map(|found| (found.depth, found.start.to_vec()))),
            Err(stop) => Err(stop.clone()),
        });
        let start: Result<Option<(usize, Vec<u64>)>, Stop> = self.net.tell_all(start.as_ref());
        let Some((depth, start)) = start? else {
            let (expected, found) = ("what remains of a product has a fair component", "none was found in it");
            return Ok(FairAnswer::Contradiction(expected.to_owned(), found.to_owned()));
        };
        let way = self.walk_back(nodes, widened(&start), depth)?;
        let Some(way) = way else {
            let (expected, found) = ("a node of a level has a predecessor in the level before", "one has none");
            return Ok(FairAnswer::Contradiction(expected.to_owned(), found.to_owned()));
        };
        // At the others the run is empty, and nobody looks at it.
        let turns = found.and_then(Result::ok).flatten().map_or_else(Vec::new, |found| found.turns);
        self.put_run_together(nodes, &way, turns)
    }

    /// Brings what remains to worker 0, with levels.
    fn bring_home<const W: usize>(&mut self, nodes: &Nodes<'_, '_, W>) -> Vec<(usize, Packed<W>)> {
        let mut words: Vec<u64> = Vec::new();
        for (depth, node) in nodes.alive() {
            words.push(depth as u64);
            words.extend_from_slice(node);
            if words.len() > 512 * (W + 1) {
                self.net.send(0, std::mem::take(&mut words));
            }
        }
        if !words.is_empty() {
            self.net.send(0, words);
        }
        let mut remaining = Vec::new();
        self.net.close(|words| {
            let entry = |entry: &[u64]| (entry[0] as usize, std::array::from_fn(|at| entry[at + 1]));
            remaining.extend(words.chunks_exact(W + 1).map(entry));
        });
        remaining
    }

    /// The nodes from an initial one to `start`, at worker 0; `None` where there is no such way.
    fn walk_back<const W: usize>(
        &mut self,
        nodes: &mut Nodes<'_, '_, W>,
        start: Packed<W>,
        depth: usize,
    ) -> Result<Option<Vec<Packed<W>>>, Stop> {
        let mut way = vec![start];
        for depth in (0..depth).rev() {
            let least = nodes.least_before(way.last().unwrap_or(&start), depth);
            self.sum(nodes, 0)?;
            let all: Vec<Option<Vec<u64>>> = self.net.share(&least.map(|node| node.to_vec()));
            match all.into_iter().flatten().min() {
                Some(node) => way.push(widened(&node)),
                None => return Ok(None),
            }
        }
        way.reverse();
        Ok(Some(way))
    }

    /// The whole run: the turns on the way to the loop, and those of the loop.
    fn put_run_together<const W: usize>(
        &self,
        nodes: &mut Nodes<'_, '_, W>,
        way: &[Packed<W>],
        turning: Vec<PackedTurn>,
    ) -> Result<FairAnswer, Stop> {
        let n_words = self.codec.layout.n_words;
        let mut turns = Vec::new();
        for pair in way.windows(2) {
            nodes.leaver.leave(&pair[0]).map_err(|reason| Stop::new(&reason))?;
            let edges = &nodes.leaver.edges;
            let nth = edges.targets.iter().position(|target| *target == pair[1]);
            let nth = nth.expect("the node before was found by this edge");
            turns.push(PackedTurn { state: pair[0][..n_words].to_vec(), turn: edges.turns[nth] });
        }
        let loop_from = turns.len();
        turns.extend(turning);
        Ok(FairAnswer::Violated(PackedLasso { turns, loop_from }))
    }
}
