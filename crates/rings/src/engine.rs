//! Rings, chains and trees of every size: windows of one process, of two and of three, until everything is decided.
//!
//! In: a task. Out: for each property a certificate with windows as its claim and every size from some on as its scope, or why there is none: what
//! puts the program or the property outside the fragment, or that windows do not exclude a violation.

use base::{Coarse, Feature, StopReason, Unsupported};
use engine::settings::Settings;
use engine::{Answer, Engine, EngineError, Event, Method, Observer, PropertyId, Statistics, Task, Verdict};
use evidence::certificate::{Certificate, Claim, Fact};
use evidence::rings::{ConservedSum, Network, RingsProof, WindowSet};
use evidence::{Evidence, Scope};
use model::Model;
use model::property::PropertyKind;
use model::template::{FragmentReason, Neighbours, has_branches};

use crate::config::Config;
use crate::flows::{flows, is_kept, weights};
use crate::question::{Question, RingQuestion, asked, shown};
use crate::refute::is_refuted;
use crate::ring::Ring;
use crate::tree;
use crate::walk::{Wanted, Weights, exists};
use crate::windows::{Failure, ProcessSteps, Windows};

/// The engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByRings {
    /// Whether proofs are wanted that say nothing about the instance at hand, because it is smaller than what they are about.
    every_size: bool,
    /// Whether the questions are about runs.
    of_runs: bool,
    config: Config,
}

impl ByRings {
    /// For questions about runs of every size.
    pub fn of_runs() -> ByRings {
        ByRings { every_size: true, of_runs: true, ..ByRings::default() }
    }

    /// For questions about runs of the instance at hand.
    pub fn of_runs_here() -> ByRings {
        ByRings { of_runs: true, ..ByRings::default() }
    }

    /// For questions about states of the instance at hand.
    pub fn here() -> ByRings {
        ByRings::default()
    }

    /// The same, with other settings.
    #[must_use]
    pub fn within(self, config: Config) -> ByRings {
        ByRings { config, ..self }
    }

    /// For callers that check smaller sizes by other means.
    pub fn for_every_size() -> ByRings {
        ByRings { every_size: true, ..ByRings::default() }
    }
}

impl Engine for ByRings {
    fn method(&self) -> Method {
        if self.of_runs { Method::Propagate } else { Method::Views }
    }

    fn settings(&mut self) -> Option<&mut dyn Settings> {
        Some(&mut self.config)
    }

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Vec<Answer>, EngineError> {
        let ByRings { every_size, config, .. } = *self;
        let mut asking = Asking { task, observer, every_size, config, open: Vec::new(), answers: Vec::new() };
        asking.sort();
        asking.climb();
        Ok(asking.finish())
    }
}

fn outside(reason: &FragmentReason) -> StopReason {
    Unsupported::about(Feature::Sizes, reason.text.clone()).into()
}

/// A question that is open, and why.
struct Open {
    property: PropertyId,
    asked: RingQuestion,
    reason: StopReason,
}

struct Asking<'a> {
    task: &'a Task<'a>,
    observer: &'a dyn Observer,
    every_size: bool,
    config: Config,
    open: Vec<Open>,
    answers: Vec<Answer>,
}

impl Asking<'_> {
    fn answer(&mut self, property: PropertyId, verdict: Verdict, n_states: Option<usize>) {
        let statistics = Statistics {
            time: self.task.budget.elapsed(),
            local_states: n_states.map(|n| vec![Some(n as u64)]),
            ..Statistics::default()
        };
        let answer = Answer { property, verdict, statistics };
        self.observer.answered(&answer);
        self.observer.event(Event::Decided(property));
        self.answers.push(answer);
    }

    /// Puts aside what windows say nothing about.
    fn sort(&mut self) {
        for &property in &self.task.properties {
            let kind = &self.task.model.template().properties[property].kind;
            match asked((self.task.model, network_of(self.task.model)), kind) {
                Ok(asked) => self.open.push(Open { property, asked, reason: Coarse::Views.into() }),
                Err(reason) => self.answer(property, Verdict::Unknown(outside(&reason)), None),
            }
        }
    }

    fn leave(&mut self, reason: &StopReason) {
        self.open.iter_mut().for_each(|open| open.reason = reason.clone());
    }

    /// Windows of one process, of two, and so on, until everything is decided.
    fn climb(&mut self) {
        // A window shows what one process does to its neighbours, not what two do at once.
        if !self.task.model.channels.is_empty() {
            return self.leave(&Feature::Rendezvous.into());
        }
        let told: Vec<_> = self.open.iter().flat_map(|open| open.asked.told.iter().cloned()).collect();
        let ring = match ring_of(self.task.model, &told, self.config) {
            Ok(ring) => ring,
            Err(reason) => return self.leave(&outside(&reason)),
        };
        let widest = if ring.network == Network::Tree { 1 } else { self.config.window_processes };
        for width in 1..=widest {
            if self.open.is_empty() {
                return;
            }
            let sizes = match ring.sizes(self.task.model, width) {
                Ok(sizes) => sizes,
                Err(reason) => return self.leave(&outside(&reason)),
            };
            let asked = Windows::closed(&ring, &sizes, &self.task.budget).and_then(|windows| {
                self.ask(&windows, &[]);
                if self.open.is_empty() {
                    return Ok(());
                }
                let (windows, flows) = self.within_flows(windows)?;
                if !flows.is_empty() {
                    self.ask(&windows, &flows);
                }
                Ok(())
            });
            match asked {
                Ok(()) => {}
                Err(Failure::Stopped(reason)) => return self.leave(&reason),
                Err(Failure::Outside) => {
                    let text = "a process does what depends on more than where it stands".to_owned();
                    return self.leave(&outside(&FragmentReason { text, span: base::Span::default() }));
                }
            }
        }
    }

    /// Flows that windows keep among themselves, and the windows that are left then.
    fn within_flows<'w>(&self, windows: Windows<'w>) -> Result<(Windows<'w>, Vec<ConservedSum>), Failure> {
        let mut kept = if windows.ring.network == Network::Tree { Vec::new() } else { flows(&windows) };
        kept.truncate(self.config.window_sums);
        let mut windows = windows;
        while !kept.is_empty() {
            windows = Windows::closed_within(windows.ring, windows.sizes, (&kept, &self.task.budget))?;
            let n_before = kept.len();
            kept.retain(|flow| is_kept(&windows, flow));
            if kept.len() == n_before {
                break;
            }
        }
        Ok((windows, kept))
    }

    fn ask(&mut self, windows: &Windows<'_>, flows: &[ConservedSum]) {
        for open in std::mem::take(&mut self.open) {
            match self.is_excluded(windows, &open, flows) {
                Ok(true) => {
                    let verdict = self.verdict(open.property, certified(windows, flows.to_vec()));
                    self.answer(open.property, verdict, Some(windows.n_states()));
                }
                Ok(false) => self.open.push(open),
                Err(reason) => self.open.push(Open { reason, ..open }),
            }
        }
    }

    /// Whether windows exclude a violation.
    fn is_excluded(&self, windows: &Windows<'_>, open: &Open, flows: &[ConservedSum]) -> Result<bool, StopReason> {
        let of = |test: fn(&ProcessSteps) -> bool| {
            let first = |doings: &Vec<ProcessSteps>| doings.first().is_some_and(test);
            windows.theta.iter().map(|set| set.doings.iter().map(first).collect()).collect::<Vec<Vec<bool>>>()
        };
        let flows: Vec<Weights> = flows.iter().map(|flow| weights(windows, flow)).collect();
        let wanted = match &open.asked.question {
            Question::NoFault => return Ok(!of(|doing| doing.is_faulty).into_iter().flatten().any(|faulty| faulty)),
            Question::Runs => return is_refuted(windows, (self.task.model, open.property), &flows, &self.task.budget),
            Question::NoDeadlock => {
                Wanted { allowed: of(|doing| doing.is_blocked), signs: vec![of(|doing| doing.is_busy)], flows }
            }
            Question::Never(signs) => {
                let Some(signs) = shown(windows, open.property.index(), signs) else { return Ok(false) };
                let allowed = windows.theta.iter().map(|set| vec![true; set.states.len()]).collect();
                Wanted { allowed, signs, flows }
            }
        };
        match windows.ring.network {
            Network::Line => Ok(!exists(windows, &wanted, &self.task.budget)?),
            Network::Tree => Ok(!tree::exists(windows, &wanted, &self.task.budget)?),
        }
    }

    fn verdict(&self, property: PropertyId, proof: RingsProof) -> Verdict {
        let model = self.task.model;
        let sized = model::template::sized_family(model);
        let Ok(sized) = sized else { return Verdict::Unknown(Coarse::Views.into()) };
        let parameter = &model.parameters[sized.parameter];
        // Windows side by side must agree on the mover, where runs are compared.
        let is_about_runs = matches!(model.properties[property].kind, PropertyKind::Temporal(_));
        let from = parameter.least.max(if is_about_runs { proof.from_of_runs() } else { proof.from() });
        if parameter.value < from && !self.every_size {
            return Verdict::Unknown(Coarse::Views.into());
        }
        let scope = Scope::AllSizes { parameter: parameter.name.clone(), from, checked: Vec::new() };
        let facts = vec![Fact { claim: Claim::Rings(proof), uses: Vec::new() }];
        let name = model.properties[property].name.clone();
        Verdict::Holds(Evidence::Certificate(Box::new(Certificate {
            property: name,
            scope,
            facts,
            implies: Vec::new(),
        })))
    }

    fn finish(mut self) -> Vec<Answer> {
        for open in std::mem::take(&mut self.open) {
            self.answer(open.property, Verdict::Unknown(open.reason), None);
        }
        let position = |answer: &Answer| self.task.properties.iter().position(|&asked| asked == answer.property);
        self.answers.sort_by_key(position);
        self.answers
    }
}

/// The windows as a claim.
pub fn certified(windows: &Windows<'_>, flows: Vec<ConservedSum>) -> RingsProof {
    let sets = windows.shapes.iter().zip(&windows.theta).map(|(shape, set)| {
        let mut states = set.states.clone();
        states.sort();
        WindowSet { word: shape.word.clone(), items: shape.items.clone(), states }
    });
    RingsProof {
        family: windows.ring.family,
        network: windows.ring.network,
        distances: windows.ring.distances,
        least: windows.ring.least,
        greatest: windows.ring.greatest,
        width: windows.sizes.width,
        windows: sets.collect(),
        flows,
    }
}

/// Whether the program is a ring, chain or tree, whatever is asked about it.
pub fn is_inside(model: &Model) -> bool {
    ring_of(model, &[], Config::default()).is_ok()
}

/// Why a program or a property is outside the fragment, with its place; `None` where both are inside.
pub fn obstacle(model: &Model, property: PropertyId) -> Option<FragmentReason> {
    let kind: &PropertyKind = &model.template().properties[property].kind;
    match asked((model, network_of(model)), kind) {
        Err(reason) => Some(reason),
        Ok(found) => ring_of(model, &found.told, Config::default()).err(),
    }
}

/// Trees name parents and children.
fn network_of(model: &Model) -> Network {
    if has_branches(model) { Network::Tree } else { Network::Line }
}

fn ring_of(model: &Model, told: &[Neighbours], config: Config) -> Result<Ring, FragmentReason> {
    let ring = match network_of(model) {
        Network::Line => Ring::new(model, told),
        Network::Tree => Ring::tree(model),
    };
    ring.map(|ring| Ring { config, ..ring })
}
