//! The method: from a property to answers with certificates.

use std::collections::BTreeMap;
use std::time::Instant;

use ::engine::settings::Settings;
use ::engine::{
    Answer, Contradiction, Engine, EngineError, Event, Halt, Method, Observer, PropertyId, SharedView as Shown,
    Statistics, Task, Verdict, config,
};
use ::views::fragment::fragment;
use base::{Coarse, Feature, StopReason, Unsupported};
use evidence::certificate::{Claim, Exchanged, Fact};
use evidence::plain;
use evidence::propagation::{Additive, EdgeOwner, ProcessSight, Refutation, Sights};
use evidence::{Certificate, Evidence, Scope};
use model::Model;
use model::expr::Expr;
use model::process::ProcessId;
use model::property::PropertyKind;
use temporal::exchange::Exchanges;

use crate::additive::{Source, pruned};
use crate::agenda::{Agenda, Attempt, Came};
use crate::conditions::{Product, PropertyView, Reader, property_view, truths};
use crate::crowded;
use crate::crowds::{Crowd, about};
use crate::every::EverySize;
use crate::items::Item;
use crate::lemmas::{looked_at, response};
use crate::refute::{Effort, Leftover, Question, Refuted, Refuter};
use crate::together::{Company, Together};
use crate::views::{Limits, ViewIdx};
use crate::workshop::Workshop;

config! {
    /// What bounds the method.
    pub struct Config {
        /// Tests whether edges of two views go together, for each way to violate the property: philosophers need seven for each of
        /// them, random systems that are not proved went on for seconds without a bound.
        pub tests: usize = 20_000,
        /// The same, to begin with, besides eight for each process that sees something of the property's process: what is learned meanwhile makes most
        /// of the others easy, and with 20 000 each philosophers went round the table for every one of them.
        pub first_tests: usize = 16,
        /// Cases within cases.
        pub depth: usize = 4,
        /// View states, all together.
        pub rows: usize = 200_000,
        /// Edges of view graphs, all together.
        pub edges: usize = 4_000_000,
        /// View states of the property's processes together with others, where something is left without these: for a proof in which two or three processes
        /// have to be looked at at once. 1 for none.
        pub together: usize = 10_000,
    }
}

/// Temporal properties by refutation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Propagate {
    /// What bounds it.
    pub config: Config,
    /// Whether only proofs for every size are wanted.
    every_size: bool,
}

impl Propagate {
    /// For callers that ask about every size.
    pub fn for_every_size() -> Propagate {
        Propagate { every_size: true, ..Propagate::default() }
    }
}

impl Engine for Propagate {
    fn method(&self) -> Method {
        Method::Propagate
    }

    fn settings(&mut self) -> Option<&mut dyn Settings> {
        Some(&mut self.config)
    }

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Vec<Answer>, EngineError> {
        self.run_and_show(task, observer, &|_, _| {})
    }
}

impl Propagate {
    /// Answers as [`Engine::run`] does; and of each property that stays open, what was shown of it: the sums, and ways to violate it that no fair run has.
    ///
    /// # Errors
    /// A contradiction.
    pub fn run_and_show(
        &self,
        task: &Task<'_>,
        observer: &dyn Observer,
        show: &dyn Fn(PropertyId, Vec<Fact>),
    ) -> Result<Vec<Answer>, EngineError> {
        let fragment = fragment(task.model);
        let every = match &fragment {
            Ok(fragment) => EverySize::new(task.model, fragment, &task.budget, self.config),
            Err(reason) => Err(StopReason::from(Unsupported::about(Feature::Sizes, reason.text.clone())).into()),
        };
        let mut prover = Prover {
            config: self.config,
            task,
            shop: None,
            source: Source::Guesses,
            most_tests: LITTLE,
            most_depth: SHALLOW,
            exchanges: Exchanges::of(task.model),
            sizes: None,
            shown: Vec::new(),
            together: Together::default(),
            is_last: false,
            shows: Shows::Property,
        };
        let mut answers = Vec::new();
        for &property in &task.properties {
            let started = Instant::now();
            let mistaken = |wrong| EngineError::new(self.name(), (task.model, property), wrong);
            let mut found = match &every {
                Ok(every) => every.certificate(property),
                Err(halt) => Err(halt.clone()),
            };
            if found.is_err() && !self.every_size {
                found = prover.proof(property);
                if found.is_err() && !prover.shown.is_empty() {
                    show(property, std::mem::take(&mut prover.shown));
                }
            }
            let verdict = match found {
                Ok(certificate) => {
                    observer.event(Event::Decided(property));
                    Verdict::Holds(Evidence::Certificate(Box::new(certificate)))
                }
                Err(halt) => Verdict::Unknown(halt.stopped().map_err(mistaken)?),
            };
            let statistics = match &verdict {
                Verdict::Holds(evidence) if !evidence.scope().is_instance() => Statistics {
                    local_states: every.as_ref().ok().map(|every| vec![Some(every.n_views() as u64)]),
                    ..Statistics::default()
                },
                _ => prover.statistics(),
            };
            let statistics = Statistics { time: started.elapsed(), ..statistics };
            let answer = Answer { property, verdict, statistics };
            observer.answered(&answer);
            answers.push(answer);
        }
        Ok(answers)
    }
}

/// A way to violate a property.
#[derive(Clone, Copy)]
pub(crate) struct Violating<'w> {
    pub small: &'w temporal::Violation,
    pub plain: &'w plain::ReferenceViolation,
}

/// The result of trying to refute a way to violate a property.
pub(crate) enum Attempted {
    /// There is no such fair run, as far as the view of the property.
    Refuted(ViewIdx, Refutation),
    /// Something is left.
    Left {
        /// What.
        what: Leftover,
        /// Whether there were more tests to do.
        was_cut: bool,
    },
}

/// Proves properties of one program.
struct Prover<'t> {
    config: Config,
    task: &'t Task<'t>,
    /// Made for the first property, and again with more invariants where these leave something.
    shop: Option<Proving<'t>>,
    source: Source,
    /// So many tests may be done for one way to violate the property.
    most_tests: usize,
    /// So many cases within cases.
    most_depth: usize,
    /// The permutations of processes, where these are symmetric.
    exchanges: Option<Exchanges<'t>>,
    /// How many view states each process has, in a proof with crowds.
    sizes: Option<Vec<Option<u64>>>,
    /// What the attempt showed that came farthest, of a property that stays open.
    shown: Vec<Fact>,
    /// What may be spent on views of the property's processes together with others.
    together: Together,
    /// Whether all sums are known that are found, so that only larger views may help.
    is_last: bool,
    shows: Shows,
}

/// So many tests are done as long as there are more invariants to be found.
const LITTLE: usize = 2_000;

/// So many cases within cases are tried with the first invariants.
const SHALLOW: usize = 2;

/// The view of a property shows so many processes together before it is tried to look at each by itself.
const MOST_JOINT: usize = 3;

/// Of all view states that there may be, one in so many may be of these together.
const SHARE_OF_JOINT: usize = 4;

/// Whether a proof was given up for something that is left.
fn is_open(found: &Result<Certificate, Halt>) -> bool {
    matches!(found, Err(Halt::Stopped(StopReason::Left(_))))
}

/// The views of a program, with the additive invariants that prune them.
pub(crate) struct Proving<'t> {
    pub shop: Workshop<'t>,
    pub invariants: Vec<Additive>,
}

impl Proving<'_> {
    /// What processes see, for a certificate.
    pub fn sights(&self) -> Sights {
        let model = self.shop.views.model;
        let sight = |process: ProcessId| {
            let first = model.processes[process].first_cell;
            let own = first..first + model.families[model.processes[process].family].n_cells;
            let mut sight = ProcessSight::default();
            for &item in self.shop.views.seen(process) {
                match item {
                    Item::Cell(cell) if !own.contains(&cell.index()) => sight.cells.push(cell),
                    Item::Control(other) if other != process => sight.controls.push(other),
                    _ => {}
                }
            }
            sight
        };
        let seen = model.processes.ids().map(sight).collect();
        Sights { seen, additive: self.invariants.clone(), crowds: Vec::new() }
    }
}

impl<'t> Prover<'t> {
    fn statistics(&self) -> Statistics {
        let sizes = |proving: &Proving<'_>| {
            let processes = self.task.model.processes.len();
            proving.shop.views.list.iter().take(processes).map(|view| Some(view.rows.len() as u64)).collect()
        };
        Statistics {
            local_states: self.sizes.clone().or_else(|| self.shop.as_ref().map(sizes)),
            views: Some(Shown::Mentioned),
            ..Statistics::default()
        }
    }

    fn proving(&mut self) -> Result<&mut Proving<'t>, Halt> {
        if self.shop.is_none() {
            let limits =
                Limits { budget: &self.task.budget, most_rows: self.config.rows, most_edges: self.config.edges };
            let (views, invariants) =
                pruned(self.task.model, self.task.model.processes.ids().collect(), limits, (self.source, &|_| true))?;
            self.shop = Some(Proving { shop: Workshop::new(views, self.config.edges), invariants });
        }
        self.shop.as_mut().ok_or_else(|| Contradiction::new("views are made", "they are not").into())
    }

    /// A proof of a property, or of a formula that implies it.
    fn proof(&mut self, property: PropertyId) -> Result<Certificate, Halt> {
        let has_stronger = match &self.task.model.properties[property].kind {
            PropertyKind::Temporal(formula) => formula.stronger().is_some(),
            _ => false,
        };
        if has_stronger {
            self.shows = Shows::Stronger;
            let found = self.proof_of(property);
            self.shows = Shows::Property;
            match found {
                Err(Halt::Stopped(reason)) if !crate::refute::stopped(&reason) => {}
                found => return found,
            }
        }
        self.proof_of(property)
    }

    /// A proof of what is shown; where the invariants that are at hand leave something, with more.
    fn proof_of(&mut self, property: PropertyId) -> Result<Certificate, Halt> {
        self.sizes = None;
        self.shown.clear();
        if !self.may_lack_value(property)
            && let Some(exchanges) = &self.exchanges
            && let Some(found) = crowded::proof(self.task, self.config, exchanges, (property, self.shows))?
        {
            self.sizes = Some(found.sizes);
            return Ok(found.certificate);
        }
        self.most_tests = self.config.tests.min(LITTLE);
        // More invariants are found sooner than many cases within cases are tried.
        self.most_depth = self.config.depth.min(SHALLOW);
        let mut found = self.certificate(property);
        self.most_depth = self.config.depth;
        let mut was_shallow = true;
        while let Some(more) = self.source.more()
            && is_open(&found)
        {
            let known = self.shop.take();
            self.source = more;
            let has_more = |more: &Proving<'_>| known.as_ref().is_none_or(|known| known.invariants != more.invariants);
            match self.proving().map(|more| has_more(more)) {
                Ok(true) => {
                    found = self.certificate(property);
                    was_shallow = false;
                }
                Err(Halt::Contradiction(wrong)) => return Err(wrong.into()),
                // What takes too much work is not used.
                Ok(false) | Err(Halt::Stopped(_)) => {
                    self.shop = known;
                    if std::mem::take(&mut was_shallow) {
                        found = self.certificate(property);
                    }
                }
            }
        }
        if is_open(&found) {
            (self.together, self.is_last) = (Together::of(self.config.together), true);
            found = self.certificate(property);
            (self.together, self.is_last) = (Together::default(), false);
        }
        if is_open(&found) && (was_shallow || self.most_tests < self.config.tests) {
            self.most_tests = self.config.tests;
            found = self.certificate(property);
        }
        found
    }

    /// A proof of a property.
    fn certificate(&mut self, property: PropertyId) -> Result<Certificate, Halt> {
        let violations = violations(self.task, (property, self.shows))?;
        self.check_values(property)?;
        let proving = self.proving()?;
        proving.shop.forget();
        let sights = proving.sights();
        let mut facts = vec![Fact { claim: Claim::Sights(sights), uses: Vec::new() }];
        if let Err(halt) = with_ways(&violations, |ways| self.refute_all(ways, &mut facts)) {
            if facts.len() > self.shown.len() {
                self.shown = facts;
            }
            return Err(halt);
        }
        let asked = &self.task.model.properties[property];
        Ok(Certificate { property: asked.name.clone(), scope: Scope::Instance, facts, implies: Vec::new() })
    }

    /// The expressions in the assumptions of a property, under every alternative.
    fn assumed(&self, property: PropertyId) -> impl Iterator<Item = &'t Expr> + use<'t> {
        let model = self.task.model;
        let pairs = model.properties[property].under.any_of.iter().flatten();
        pairs.flat_map(|&pair| model.fairness[pair].expressions())
    }

    /// Whether the text of an assumption does not tell that it has a value.
    fn may_lack_value(&self, property: PropertyId) -> bool {
        self.assumed(property).any(Expr::can_fault)
    }

    /// Assumptions have a value in every view state of some view that shows them. A run in which one has none decides nothing, whether or not a
    /// refutation makes use of it.
    fn check_values(&mut self, property: PropertyId) -> Result<(), Halt> {
        let exprs: Vec<&Expr> = self.assumed(property).filter(|expr| expr.can_fault()).collect();
        let views = &mut self.proving()?.shop.views;
        for expr in exprs {
            if !(0..views.list.len()).any(|of| matches!(truths(views, of, expr, &[]), Ok(Some(_)))) {
                return Err(StopReason::from(Coarse::NoValueInRuns).into());
            }
        }
        Ok(())
    }

    /// Refutes all ways to violate a property; what was refuted is a lemma for what follows.
    fn refute_all(&mut self, ways: &[Violating<'_>], facts: &mut Vec<Fact>) -> Result<(), Halt> {
        let first_tests = self.config.first_tests;
        let mut about = Vec::new();
        for way in ways {
            let looked_at = property_view(self.task.model, &way.plain.automaton.atoms);
            let members = looked_at.map(|looked_at| looked_at.members).unwrap_or_default();
            let views = &self.proving()?.shop.views;
            let n_touching: usize = members.iter().map(|member| views.list[member.index()].touching.len()).sum();
            about.push((members, first_tests + 8 * n_touching));
        }
        let mut agenda = Agenda::new(&about, self.most_tests);
        let plain: Vec<&plain::ReferenceViolation> = ways.iter().map(|way| way.plain).collect();
        let images = self.exchanges.as_ref().map_or_else(Vec::new, |exchanges| exchanges.images(&plain));
        // What is not refuted has no image that is, with what is known of all.
        (0..images.len()).filter(|&way| images[way].is_some()).for_each(|way| agenda.skip(way));
        let mut left: BTreeMap<usize, Leftover> = BTreeMap::new();
        loop {
            while let Some(Attempt { way, most_tests }) = agenda.next_attempt() {
                let effort = Effort { budget: &self.task.budget, most_tests, most_depth: self.most_depth };
                match self.attempt(ways[way], effort)? {
                    Attempted::Refuted(view, refutation) => {
                        let near = self.learn(ways[way], (view, refutation), facts)?;
                        agenda.note(way, Came::Refuted(&near));
                        self.images(ways, (way, &images), &mut agenda, facts)?;
                    }
                    Attempted::Left { what, was_cut } => {
                        left.insert(way, what);
                        agenda.note(way, if was_cut { Came::Cut } else { Came::Stuck });
                    }
                }
            }
            let open: Vec<usize> = agenda.open().collect();
            let Some(&first) = open.first() else { return Ok(()) };
            let mut found = None;
            for way in open {
                let near = left.get(&way).map_or(&[][..], |left| &left.near);
                if let Some(refuted) = self.by_several(ways[way], near)? {
                    found = Some((way, refuted));
                    break;
                }
            }
            let Some((way, refuted)) = found else {
                let what = left.remove(&first).map(|left| left.in_words);
                return Err(StopReason::Left(what.unwrap_or_default()).into());
            };
            let near = self.learn(ways[way], refuted, facts)?;
            agenda.note(way, Came::Refuted(&near));
            self.images(ways, (way, &images), &mut agenda, facts)?;
        }
    }

    /// Tries to refute a way to violate the property. Where it speaks of many processes, with what each of these shows of it by itself; the view of all of them
    /// comes last, since it is large.
    fn attempt(&mut self, way: Violating<'_>, effort: Effort<'_>) -> Result<Attempted, Halt> {
        let (edges, most_rows, is_last) = (self.config.edges, self.config.rows / SHARE_OF_JOINT, self.is_last);
        let looked_at = property_view(self.task.model, &way.plain.automaton.atoms);
        let shop = &mut self.proving()?.shop;
        if looked_at.is_none_or(|looked_at| looked_at.members.len() <= MOST_JOINT) {
            return refutation(shop, (way, Company::default()), &[], (effort, edges));
        }
        let is_limit = |reason: &StopReason| !crate::refute::stopped(reason);
        let little =
            Effort { most_tests: effort.most_tests.min(LITTLE), most_depth: effort.most_depth.min(SHALLOW), ..effort };
        let left = match refutation(shop, (way, Company::PARTLY), &[], (little, edges)) {
            Ok(Attempted::Left { what, was_cut }) => Some(Attempted::Left { what, was_cut }),
            Err(Halt::Stopped(reason)) if is_limit(&reason) => None,
            found => return found,
        };
        let left = match left {
            Some(left) if !is_last => return Ok(left),
            left => left,
        };
        match (refutation(shop, (way, Company { most_rows, ..Company::default() }), &[], (effort, edges)), left) {
            (Err(Halt::Stopped(reason)), Some(left)) if is_limit(&reason) => Ok(left),
            (found, _) => found,
        }
    }

    /// A refutation in a view of the property's processes together with some of those near them.
    fn by_several(&mut self, way: Violating<'_>, near: &[ProcessId]) -> Result<Option<(ViewIdx, Refutation)>, Halt> {
        let n_processes = self.task.model.processes.len();
        for with in self.together.choices(near, n_processes) {
            let most_rows = self.together.most_rows();
            if most_rows == 0 {
                break;
            }
            let effort = Effort { budget: &self.task.budget, most_tests: self.most_tests, most_depth: self.most_depth };
            let (edges, company) = (self.config.edges, Company { with: &with, most_rows, is_partly_shown: false });
            let shop = &mut self.proving()?.shop;
            let n_views = shop.views.list.len();
            let found = refutation(shop, (way, company), &[], (effort, edges));
            let n_rows = shop.views.list[n_views..].iter().map(|view| view.rows.len()).sum();
            match found {
                Ok(Attempted::Refuted(view, refutation)) => return Ok(Some((view, refutation))),
                Ok(Attempted::Left { .. }) => self.together.spend(n_rows),
                // There are too many of them.
                Err(Halt::Stopped(reason)) if !crate::refute::stopped(&reason) => self.together.spend(most_rows),
                Err(halt) => return Err(halt),
            }
        }
        Ok(None)
    }

    /// That ways to violate the property are images of one that the last fact refutes are facts, too.
    fn images(
        &mut self,
        ways: &[Violating<'_>],
        (way, images): (usize, &[Option<(usize, Exchanged)>]),
        agenda: &mut Agenda,
        facts: &mut Vec<Fact>,
    ) -> Result<(), Halt> {
        let shown = facts.len() - 1;
        let mut found = Vec::new();
        for (image, claim) in images.iter().enumerate() {
            let Some((_, claim)) = claim.as_ref().filter(|(of, _)| *of == way) else { continue };
            found.push((image, facts.len()));
            facts.push(Fact { claim: Claim::Exchanged(claim.clone()), uses: vec![shown] });
        }
        if agenda.open().next().is_none() {
            return Ok(());
        }
        // Others may be refuted by what was learned of these.
        for (image, fact) in found {
            let near = self.learn_image(ways[image], fact)?;
            agenda.note(image, Came::Refuted(&near));
        }
        Ok(())
    }

    /// The lemma of a fact, in the view of the one process that it is about; the processes whose views show something of it.
    fn learn_image(&mut self, way: Violating<'_>, fact: usize) -> Result<Vec<ProcessId>, Halt> {
        let Some(looked_at) = property_view(self.task.model, &way.plain.automaton.atoms) else {
            return Ok(Vec::new());
        };
        let shop = &mut self.proving()?.shop;
        let [member] = looked_at.members[..] else { return Ok(Vec::new()) };
        if !looked_at.more.iter().all(|item| shop.views.seen(member).contains(item)) {
            return Ok(Vec::new());
        }
        shop.learn(member.index(), way.plain, fact)?;
        Ok(shop.views.list[member.index()].touching.clone())
    }

    /// A refutation is a fact; the processes whose views show something of what was learned.
    fn learn(
        &mut self,
        way: Violating<'_>,
        (view, refutation): (ViewIdx, Refutation),
        facts: &mut Vec<Fact>,
    ) -> Result<Vec<ProcessId>, Halt> {
        let n_processes = self.task.model.processes.len();
        let shop = &mut self.proving()?.shop;
        let mut spots = Vec::new();
        looked_at(&refutation.steps, &mut spots);
        let mut uses = vec![0];
        for spot in spots {
            if let EdgeOwner::Process(process) = spot {
                uses.extend(shop.facts(process.index(), &way.plain.fairness));
            }
        }
        uses.sort_unstable();
        uses.dedup();
        let fact = facts.len();
        facts.push(Fact { claim: Claim::Refutation(refutation), uses });
        if view >= n_processes {
            return self.learn_image(way, fact);
        }
        shop.learn(view, way.plain, fact)?;
        Ok(shop.views.list[view].touching.clone())
    }
}

/// What is shown: the property, or a formula that implies it and falls apart into more parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shows {
    Property,
    Stronger,
}

/// The ways to violate a property, by small automata and by plain ones.
pub(crate) struct Violations {
    small: Vec<temporal::Violation>,
    plain: Vec<plain::ReferenceViolation>,
}

/// The ways to violate a property, or what implies it.
///
/// # Errors
/// A limit, or a contradiction.
pub(crate) fn violations(task: &Task<'_>, (property, shown): (PropertyId, Shows)) -> Result<Violations, Halt> {
    let model = task.model;
    let asked = &model.properties[property];
    let PropertyKind::Temporal(formula) = &asked.kind else {
        return Err(Contradiction::new("a question about runs is a temporal property", "it is not").into());
    };
    let stronger = match shown {
        Shows::Property => None,
        Shows::Stronger => formula.stronger(),
    };
    let formula = stronger.as_ref().unwrap_or(formula);
    let small = temporal::violations(model, asked, formula, &task.budget)?;
    if small.iter().any(|violation| violation.real_steps_only) {
        return Err(StopReason::from(Feature::GivenAutomaton).into());
    }
    let plain = plain::violations(model, asked, formula)?;
    let same = |(a, b): (&temporal::Violation, &plain::ReferenceViolation)| {
        a.instance.bindings == b.instance && a.fairness == b.fairness
    };
    if small.len() != plain.len() || !small.iter().zip(&plain).all(same) {
        let expected = "the small automata and the plain ones of a property are about the same violations";
        return Err(Contradiction::new(expected, "they are not").into());
    }
    Ok(Violations { small, plain })
}

/// Calls a function with the ways to violate a property.
pub(crate) fn with_ways<T>(violations: &Violations, look: impl FnOnce(&[Violating<'_>]) -> T) -> T {
    let ways = violations.small.iter().zip(&violations.plain);
    look(&ways.map(|(small, plain)| Violating { small, plain }).collect::<Vec<_>>())
}

/// A view that shows what a violation begins with, where that is about one process.
fn asked_by(model: &Model, automaton: &plain::ReferenceAutomaton) -> PropertyView {
    let asked = response(automaton).map(|response| response.asked).unwrap_or_default();
    let atoms: Vec<plain::StateCondition> = asked.iter().map(|&(atom, _)| automaton.atoms[atom].clone()).collect();
    property_view(model, &atoms).filter(|view| view.members.len() <= 1).unwrap_or_default()
}

/// Why no fair run violates the property in one way, with the view of the property and of those in its company; or what is left.
///
/// # Errors
/// A limit, or a contradiction.
pub(crate) fn refutation(
    shop: &mut Workshop<'_>,
    (way, company): (Violating<'_>, Company<'_>),
    crowds: &[Crowd],
    (effort, most_edges): (Effort<'_>, usize),
) -> Result<Attempted, Halt> {
    let Violating { small, plain } = way;
    let model = shop.views.model;
    let looked_at = property_view(model, &plain.automaton.atoms);
    let mut looked_at = looked_at.ok_or_else(|| StopReason::from(Feature::ChangingDomain))?;
    let is_partly_shown = company.is_partly_shown;
    if is_partly_shown {
        looked_at = asked_by(model, &plain.automaton);
    }
    looked_at.add(company.with);
    let view = match company.most_rows {
        0 => shop.views.joint(&looked_at.members, &looked_at.more)?,
        most_rows => shop.views.joint_within(&looked_at.members, &looked_at.more, most_rows)?,
    };
    let graph = shop.graph(view)?;
    let conditions = shop.conditions(view, &about(model, crowds, &plain.fairness, None))?;
    let reader = match is_partly_shown {
        true => Reader::partly(&mut shop.views, view, &plain.automaton)?,
        false => Reader::plain(&mut shop.views, view, &plain.automaton)?,
    };
    let product = Product::new((&shop.views.list[view].initial, &graph.graph), &reader, &conditions, most_edges)?;
    if !is_partly_shown {
        let reader = Reader::small(&mut shop.views, view, small)?;
        let other = Product::new((&shop.views.list[view].initial, &graph.graph), &reader, &conditions, most_edges)?;
        let n_edges = graph.graph.n_edges();
        if product.fair_base_edges(n_edges) != other.fair_base_edges(n_edges) {
            let expected = "the small automaton and the plain one of a violation accept the same runs";
            return Err(Contradiction::new(expected, "they do not").into());
        }
    }
    let (automaton, fairness) = (&*plain.automaton, &plain.fairness[..]);
    let question = Question { view, product: &product, automaton, is_partly_shown, fairness, crowds };
    // Few cases within cases first: most proofs need few, and all that fail take the longer the more there may be.
    let mut refuted =
        Refuter::new(shop, &question, Effort { most_depth: 1.min(effort.most_depth), ..effort }).refute()?;
    for most_depth in 2..=effort.most_depth {
        if matches!(refuted, Refuted::Left { .. }) {
            refuted = Refuter::new(shop, &question, Effort { most_depth, ..effort }).refute()?;
        }
    }
    match refuted {
        Refuted::Left { what, was_cut } => Ok(Attempted::Left { what, was_cut }),
        Refuted::Proved(steps) => {
            let seen = |item: &&Item| looked_at.members.iter().any(|&member| shop.views.seen(member).contains(*item));
            let more = looked_at.more.iter().filter(|item| !seen(item));
            let (mut cells, mut controls) = (Vec::new(), Vec::new());
            for item in more {
                match *item {
                    Item::Cell(cell) => cells.push(cell),
                    Item::Control(process) => controls.push(process),
                }
            }
            let violation = plain.name(model);
            let (automaton, members) = (plain::AutomatonNames::default(), looked_at.members);
            let refutation = Refutation { violation, automaton, members, cells, controls, steps };
            Ok(Attempted::Refuted(view, refutation.with_names_of(&plain.automaton.names(model))))
        }
    }
}
