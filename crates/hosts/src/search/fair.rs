//! Temporal properties on the distributed graph: one way catch them young (Černá and Pelánek 2003), with marks on edges and Streett pairs.
//!
//! In: the temporal properties of a search that is complete. Out, at worker 0: for each a run that violates it, or that there is none. Each way to violate a property is a product with an automaton, whose
//! nodes belong to workers by their hash (`nodes.rs`). Until nothing changes, nodes are dropped that a mark does not reach which they need, and then nodes to which no edge leads any more.
//!
//! Why that is right. A node of a fair component is never dropped: each mark that the component has reaches it inside the component; of the pairs whose marks it does not have all its nodes are free; and an edge of the component
//! leads to it. Where something remains, look at a strongly connected part of it to which no edge of what remains leads from outside. Every node has a predecessor, so the part has an edge. All marks that are
//! demanded reach its nodes, from edges that can only be in the part; and so does the mark of each pair of which one of its nodes is not free. So the part is a fair component.
//!
//! What remains goes to worker 0, where the run is found (`lasso.rs`); the way to it is walked back through the levels of the product. Where little remains ([`FairSettings::soon_home`]) it goes there before the next round, since
//! rounds are many where things can be undone one after the other only, and each takes all edges again; worker 0 finds out whether a fair component is in it. Every one of the product is, since none of their nodes is ever dropped.

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
use packed::spill::Overflow;
use packed::width::{ForWidth, with_width};
use product::liveness::alike;
use product::liveness::predicates::Predicates;
use product::liveness::rules::ViolationRules;
use product::liveness::turns::TurnTaker;
use serde::{Deserialize, Serialize};
use temporal::Violation;

use super::edges::Leaver;
use super::lasso::{self, PackedLasso, PackedTurn};
use super::levels::Plan;
use super::net::Net;
use super::nodes::in_memory::NodesInMemory;
use super::nodes::on_disk::NodesOnDisk;
use super::nodes::{Nodes, Pass};
use super::secret::fingerprint;
use super::stop::Stop;

/// Where the nodes of products are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FairSettings {
    /// Whether they are on disk at once, and not where memory is short.
    pub on_disk: bool,
    /// So many of them go to worker 0 at most, where the run through them is found.
    pub most_home: u64,
    /// So many go there before it is known whether a fair loop is among them, rather than taking more rounds to tell.
    pub soon_home: u64,
}

impl Default for FairSettings {
    fn default() -> Self {
        // With 250 bytes for each node and its edges, worker 0 holds 256 MB more for a while.
        FairSettings { on_disk: false, most_home: 1 << 22, soon_home: 1 << 20 }
    }
}

/// Where more remains, a loop is looked for near so many nodes at most, among so many nodes around each, the smaller numbers first.
const MOST_SEEDS: usize = 8;
const NEARBY: [usize; 4] = [1 << 8, 1 << 12, 1 << 16, 1 << 20];

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

/// The ways to violate each temporal property that is asked, one of all that are alike; the same at all workers.
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
                let all = temporal::violations(&plan.model, &plan.model.properties[id], formula, budget);
                let all = all.map_err(|reason| Stop::new(&reason))?;
                Ok(alike::representatives(&plan.model, &all).into_iter().cloned().collect())
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

    /// Answers the properties, where all states are known.
    pub fn decide(&self, plan: &Plan, net: &mut Net<'_>, codec: &Codec<'_>, known: FairStart<'_>) -> Decided {
        // All have room on disk, or nobody goes there.
        let is_on_disk = net.share(&(known.overflow.is_some(), known.is_on_disk));
        let overflow = known.overflow.filter(|_| is_on_disk.iter().all(|(has_room, _)| *has_room));
        let is_on_disk = is_on_disk.iter().any(|(_, is_on_disk)| *is_on_disk);
        let job = Job { questions: self, plan, net, codec, known: FairStart { overflow, is_on_disk, ..known } };
        // One word more for the state of the automaton.
        with_width(codec.layout.n_words + 1, job).unwrap_or_else(|reason| {
            let unknown = || FairFinding { answer: FairAnswer::Unknown(Stop::new(&reason)), time: Duration::default() };
            Decided { findings: self.ways.iter().map(|_| unknown()).collect(), peak_bytes: 0 }
        })
    }
}

/// What a worker knows when all states are known.
#[derive(Clone, Debug)]
pub struct FairStart<'k> {
    /// By test of temporal properties: whether it has no value in some state.
    pub faulty: &'k [bool],
    /// Where nodes go that memory has no room for, if anywhere.
    pub overflow: Option<Overflow>,
    /// Whether they go there at once.
    pub is_on_disk: bool,
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
    known: FairStart<'j>,
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
            if rules.tests().any(|test| self.known.faulty.get(test) == Some(&true)) {
                return FairAnswer::Unknown(Stop::new(&product::liveness::no_value()));
            }
            let answer = self.look_for_run::<W>(machine, predicates, way, peak_bytes);
            let answer = answer.unwrap_or_else(FairAnswer::Unknown);
            if !matches!(answer, FairAnswer::Holds) {
                return answer;
            }
        }
        FairAnswer::Holds
    }

    /// Looks for a fair run in a product: in memory, and on disk where memory has no room for its nodes.
    fn look_for_run<const W: usize>(
        &mut self,
        machine: &Machine<'_>,
        predicates: &Predicates,
        way: &Violation,
        peak_bytes: &mut u64,
    ) -> Result<FairAnswer, Stop> {
        let budget = &self.plan.budgets[self.net.me() % self.plan.n_threads];
        let leaver =
            || Leaver::<W>::new(machine, ViolationRules::new(predicates, way), TurnTaker::new(machine, predicates));
        if !self.known.is_on_disk {
            let meter = Meter::new(budget, &Silent);
            let answer = self.search(&mut NodesInMemory::new(leaver(), &meter, self.net));
            *peak_bytes = meter.peak_bytes().max(*peak_bytes);
            // All have seen the same limit.
            match answer {
                Err(stop) if stop.is_memory() && self.known.overflow.is_some() => self.known.is_on_disk = true,
                answer => return answer,
            }
        }
        let Some(overflow) = self.known.overflow.clone() else { return Err(Stop::Cancelled) };
        // What was held in memory is given back.
        budget.release();
        let meter = Meter::new(budget, &Silent);
        let answer = self.search(&mut NodesOnDisk::new(leaver(), &meter, self.net, overflow));
        *peak_bytes = meter.peak_bytes().max(*peak_bytes);
        answer
    }

    /// Looks for a fair run in a product.
    fn search<'a, const W: usize>(&mut self, nodes: &mut impl Nodes<'a, W>) -> Result<FairAnswer, Stop> {
        let mut depth = 0;
        loop {
            let n_nodes = nodes.begin_level();
            if self.sum(nodes, n_nodes)? == 0 {
                break;
            }
            nodes.expand(depth, self.net);
            depth += 1;
        }
        nodes.end_levels(self.net);
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
            if self.has_room_for(nodes, n_remaining) {
                match self.run_at_home(nodes) {
                    // The rounds need no more room than they have.
                    Err(stop) if stop.is_memory() => {}
                    found => return found.map(|found| found.unwrap_or(FairAnswer::Holds)),
                }
            }
            nodes.begin_marks();
            self.pass(nodes, Pass::Marks)?;
            nodes.begin_with_unmarked();
            if self.sum(nodes, nodes.n_queued())? == 0 {
                break n_remaining;
            }
        };
        let too_many = match n_remaining <= self.plan.fair.most_home {
            true => match self.violated(nodes) {
                // Some of them may have room.
                Err(stop) if stop.is_memory() => stop,
                answer => return answer,
            },
            false => Stop::Remains(n_remaining),
        };
        self.violated_nearby(nodes, too_many)
    }

    /// Runs a pass until no worker has anything left.
    fn pass<'a, const W: usize>(&mut self, nodes: &mut impl Nodes<'a, W>, pass: Pass) -> Result<(), Stop> {
        while self.sum(nodes, nodes.n_queued())? > 0 {
            nodes.run(pass, self.net);
        }
        Ok(())
    }

    /// The sum of a number of all workers; or the limit that one of them reached.
    fn sum<'a, const W: usize>(&mut self, nodes: &impl Nodes<'a, W>, number: u64) -> Agreed {
        let said = (number, nodes.meter().reason().as_ref().map(Stop::new));
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

    /// Whether so many nodes with their edges, of which it is not known yet whether a fair loop is among them, may go to worker 0.
    fn has_room_for<'a, const W: usize>(&mut self, nodes: &impl Nodes<'a, W>, n_remaining: u64) -> bool {
        let has_room = (self.net.me() == 0).then(|| {
            let is_little = n_remaining <= self.plan.fair.soon_home;
            is_little && nodes.meter().permits(n_remaining * lasso::bytes_of_node::<W>(nodes.n_mark_words())).is_ok()
        });
        self.net.tell_all(has_room.as_ref())
    }

    /// Something remains, and has a fair loop: the run through it, at worker 0.
    fn violated<'a, const W: usize>(&mut self, nodes: &mut impl Nodes<'a, W>) -> Result<FairAnswer, Stop> {
        let (expected, found) = ("what remains of a product has a fair component", "none was found in it");
        let contradiction = || FairAnswer::Contradiction(expected.to_owned(), found.to_owned());
        Ok(self.run_at_home(nodes)?.unwrap_or_else(contradiction))
    }

    /// The run through a fair loop of what remains, found by worker 0; `None` where there is none.
    fn run_at_home<'a, const W: usize>(&mut self, nodes: &mut impl Nodes<'a, W>) -> Result<Option<FairAnswer>, Stop> {
        let remaining = self.bring_home(nodes);
        let found = (self.net.me() == 0).then(|| {
            // A limit that is reached here ends the search for this run alone.
            let meter = self.meter_beside(nodes);
            let found = lasso::find(nodes.leaver(), remaining, &meter);
            nodes.meter().add(meter.peak_bytes() - meter.bytes());
            nodes.meter().remove(meter.peak_bytes() - meter.bytes());
            found.map_err(|reason| Stop::new(&reason).on(self.plan.host_of(0)))
        });
        let start = found.as_ref().map(|found| match found {
            Ok(found) => Ok(found.as_ref().map(|found| (found.depth, found.start.to_vec()))),
            Err(stop) => Err(stop.clone()),
        });
        let start: Result<Option<(usize, Vec<u64>)>, Stop> = self.net.tell_all(start.as_ref());
        let Some((depth, start)) = start? else { return Ok(None) };
        // At the others the run is empty, and nobody looks at it.
        let turns = found.and_then(Result::ok).flatten().map_or_else(Vec::new, |found| found.turns);
        self.run_by_way_of(nodes, (depth, widened(&start)), (Vec::new(), turns)).map(Some)
    }

    /// More remains than worker 0 has room for: a loop near some of the nodes that are nearest to the initial states, if there is one. Else what was too many.
    fn violated_nearby<'a, const W: usize>(
        &mut self,
        nodes: &mut impl Nodes<'a, W>,
        too_many: Stop,
    ) -> Result<FairAnswer, Stop> {
        let mut least: Option<(usize, Packed<W>)> = None;
        nodes.show_alive(&mut |depth, node| {
            let is_less = least.is_none_or(|known| (depth, *node) < known);
            least = if is_less { Some((depth, *node)) } else { least };
        });
        let seeds = self.net.share(&least.map(|(depth, node)| (depth, node.to_vec())));
        let mut seeds: Vec<(usize, Packed<W>)> =
            seeds.into_iter().flatten().map(|(depth, node)| (depth, widened(&node))).collect();
        seeds.sort_unstable();
        seeds.truncate(MOST_SEEDS);
        let found = (self.net.me() == 0).then(|| -> Result<Option<(usize, lasso::NearLoop<W>)>, Stop> {
            for n_most in NEARBY {
                for (nth, (_, seed)) in seeds.iter().enumerate() {
                    let meter = self.meter_beside(nodes);
                    let near = lasso::find_near(nodes.leaver(), seed, n_most, &meter);
                    if let Some(near) = near.map_err(|reason| Stop::new(&reason).on(self.plan.host_of(0)))? {
                        return Ok(Some((nth, near)));
                    }
                }
            }
            Ok(None)
        });
        let seed = found.as_ref().map(|found| found.as_ref().map(|near| near.as_ref().map(|(nth, _)| *nth)));
        let seed = seed.map(|seed| seed.map_err(Clone::clone));
        let seed: Result<Option<usize>, Stop> = self.net.tell_all(seed.as_ref());
        let Some(nth) = seed? else { return Err(too_many) };
        let near = found.and_then(Result::ok).flatten();
        let turns = near.map_or_else(Default::default, |(_, near)| (near.before, near.found.turns));
        self.run_by_way_of(nodes, seeds[nth], turns)
    }

    /// The run to a node of a level, and from there, after some turns, round a loop.
    fn run_by_way_of<'a, const W: usize>(
        &mut self,
        nodes: &mut impl Nodes<'a, W>,
        (depth, node): (usize, Packed<W>),
        (before, turning): (Vec<PackedTurn>, Vec<PackedTurn>),
    ) -> Result<FairAnswer, Stop> {
        let Some(way) = self.walk_back(nodes, node, depth)? else {
            let (expected, found) = ("a node of a level has a predecessor in the level before", "one has none");
            return Ok(FairAnswer::Contradiction(expected.to_owned(), found.to_owned()));
        };
        let mut turns = self.turns_of(nodes, &way)?;
        turns.extend(before);
        let loop_from = turns.len();
        turns.extend(turning);
        Ok(FairAnswer::Violated(PackedLasso { turns, loop_from }))
    }

    /// A meter for what worker 0 holds beside its nodes.
    fn meter_beside<'a, const W: usize>(&self, nodes: &impl Nodes<'a, W>) -> Meter<'_> {
        let meter = Meter::new(&self.plan.budgets[0], &Silent);
        meter.add(nodes.meter().bytes());
        meter
    }

    /// Brings what remains to worker 0, with levels.
    fn bring_home<'a, const W: usize>(&mut self, nodes: &mut impl Nodes<'a, W>) -> Vec<(usize, Packed<W>)> {
        let mut words: Vec<u64> = Vec::new();
        nodes.show_alive(&mut |depth, node| {
            words.push(depth as u64);
            words.extend_from_slice(node);
            if words.len() > 512 * (W + 1) {
                self.net.send(0, std::mem::take(&mut words));
            }
        });
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
    fn walk_back<'a, const W: usize>(
        &mut self,
        nodes: &mut impl Nodes<'a, W>,
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

    /// The turns on a way through nodes.
    fn turns_of<'a, const W: usize>(
        &self,
        nodes: &mut impl Nodes<'a, W>,
        way: &[Packed<W>],
    ) -> Result<Vec<PackedTurn>, Stop> {
        let n_words = self.codec.layout.n_words;
        let mut turns = Vec::new();
        for pair in way.windows(2) {
            nodes.leaver().leave(&pair[0]).map_err(|reason| Stop::new(&reason))?;
            let edges = &nodes.leaver().edges;
            let nth = edges.targets.iter().position(|target| *target == pair[1]);
            let nth = nth.expect("the node before was found by this edge");
            turns.push(PackedTurn { state: pair[0][..n_words].to_vec(), turn: edges.turns[nth] });
        }
        Ok(turns)
    }
}
