//! Method `views`: proofs for every number of interchangeable processes, from few processes in a view to more.
//!
//! In: a task. Out: for each property a certificate with views as its claim and every size from some on as its scope, or why there is none:
//! the part of the text that is outside the fragment, or that views of as many processes as are tried do not exclude a violation.

use std::collections::BTreeMap;

use base::{Budget, Coarse, Feature, StopReason, Unsupported};
use engine::settings::Settings;
use engine::{Answer, Engine, EngineError, Event, Method, Observer, PropertyId, Statistics, Task, Verdict};
use evidence::certificate::{Certificate, Claim, Fact};
use evidence::counting::CountingProof;
use evidence::views::{View, ViewsProof};
use evidence::{Evidence, Scope};
use model::Model;
use model::property::PropertyKind;

use crate::config::Config;
use crate::configuration::{Configuration, MANY_NAMED};
use crate::counting::prove::{Counting, least_size};
use crate::deadlock::{self, DeadlockCandidate};
use crate::fine::prove::{Fine, Outcome, layout};
use crate::fine::skeleton::Refusal;
use crate::fixpoint::{CloseLimits, Closed, Failure, Views, close};
use crate::fragment::{Fragment, MOST_NAMED, Question, fragment_beside, question};
use crate::hiding::{rules, with_veils};
use crate::ladder::{Failed, Ladder};
use crate::layout::Layout;
use crate::origin::Reliance;
use crate::pattern::{Found, Pattern, search};
use crate::presence::with_presences;
use crate::race;
use crate::sight::Ground;
use crate::words::in_words;

/// The method.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByViews {
    /// What bounds it.
    pub config: Config,
    /// Whether proofs are wanted that say nothing about the instance at hand, because it is smaller than the views.
    every_size: bool,
    /// Whether columns are left out wherever they may be, and not only of views that take many steps.
    leaves_out: bool,
}

impl ByViews {
    /// Leaves out columns wherever they may be, and not only of views that take many steps: coarser views are tried, and proofs are of such.
    #[must_use]
    pub fn leaving_out_columns(self) -> ByViews {
        ByViews { leaves_out: true, ..self }
    }

    /// For whoever checks smaller sizes by other means.
    pub fn for_every_size() -> ByViews {
        ByViews { every_size: true, ..ByViews::default() }
    }
}

impl Engine for ByViews {
    fn method(&self) -> Method {
        Method::Views
    }

    fn settings(&mut self) -> Option<&mut dyn Settings> {
        Some(&mut self.config)
    }

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Vec<Answer>, EngineError> {
        let ByViews { every_size, leaves_out, config } = *self;
        let mut asking =
            Asking { task, observer, every_size, leaves_out, config: &config, open: Vec::new(), answers: Vec::new() };
        asking.begin();
        for n_named in 0..=MOST_NAMED {
            if asking.open.iter().all(|open| open.is_inside) {
                break;
            }
            match fragment_beside(task.model, n_named) {
                Ok(mut found) => {
                    found.layout.hidden = rules(task.model, &found.layout);
                    asking.sort(&found);
                    asking.climb(&found, self.config.processes);
                    asking.show_all(&found, self.config.processes);
                }
                Err(reason) => asking.leave_open(&outside(reason.text)),
            }
        }
        asking.count();
        if !every_size {
            asking.look_closer();
        }
        Ok(asking.finish())
    }
}

fn outside(text: impl Into<String>) -> StopReason {
    Unsupported::about(Feature::Sizes, text).into()
}

/// How long views are looked at.
#[derive(Clone, Copy)]
struct Steps {
    most: usize,
    /// With how many views it is asked first whether they are of any use.
    first_look: usize,
}

/// A question that is open, and why.
struct Open {
    property: PropertyId,
    /// What is asked of views, as long as it is.
    question: Option<Question>,
    /// Whether views can speak of it.
    is_inside: bool,
    reason: StopReason,
}

struct Asking<'a> {
    task: &'a Task<'a>,
    observer: &'a dyn Observer,
    every_size: bool,
    leaves_out: bool,
    config: &'a Config,
    open: Vec<Open>,
    answers: Vec<Answer>,
}

impl Asking<'_> {
    fn answer(&mut self, property: PropertyId, verdict: Verdict, n_views: Option<usize>) {
        let statistics = Statistics {
            time: self.task.budget.elapsed(),
            local_states: n_views.map(|n| vec![Some(n as u64)]),
            ..Statistics::default()
        };
        let answer = Answer { property, verdict, statistics };
        self.observer.answered(&answer);
        self.observer.event(Event::Decided(property));
        self.answers.push(answer);
    }

    /// Everything is open.
    fn begin(&mut self) {
        let reason: StopReason = Coarse::Views.into();
        let open = |&property: &PropertyId| Open { property, question: None, is_inside: false, reason: reason.clone() };
        self.open = self.task.properties.iter().map(open).collect();
    }

    /// Asks what views with fewer named processes could not speak of.
    fn sort(&mut self, fragment: &Fragment) {
        let model = self.task.model;
        for open in &mut self.open {
            let kinds = (&model.properties[open.property].kind, &model.template().properties[open.property].kind);
            open.question = None;
            if open.is_inside {
                continue;
            }
            match question(model, fragment, kinds.0, kinds.1) {
                Ok(question) => {
                    *open = Open { question: Some(question), is_inside: true, reason: Coarse::Views.into(), ..*open }
                }
                Err(reason) => open.reason = outside(reason.text),
            }
        }
    }

    /// What is outside is open for this reason.
    fn leave_open(&mut self, reason: &StopReason) {
        self.open.iter_mut().filter(|open| !open.is_inside).for_each(|open| open.reason = reason.clone());
    }

    /// What no views decide, asked of views of one process and sums over all.
    fn count(&mut self) {
        let model = self.task.model;
        let is_deadlock = |open: &Open| matches!(model.properties[open.property].kind, PropertyKind::DeadlockFree);
        let is_asked = |open: &Open| is_deadlock(open) || asked(model, open.property).is_some();
        if !self.open.iter().any(is_asked) {
            return;
        }
        let written = |open: &Open| (open.property, race::as_states(model, open.property));
        let kinds: BTreeMap<PropertyId, PropertyKind> = self.open.iter().map(written).collect();
        let Ok(counting) = Counting::new(model, &self.task.budget) else { return };
        let counting = counting.within(*self.config);
        let parameter = counting.parameter();
        if parameter.is_none() && self.every_size {
            return;
        }
        let scope = |proof: &CountingProof| match parameter {
            Some(id) => Scope::AllSizes {
                parameter: model.parameters[id].name.clone(),
                from: least_size(model, id, proof),
                checked: Vec::new(),
            },
            None => Scope::Instance,
        };
        let open: Vec<Open> = std::mem::take(&mut self.open);
        let (asked, rest): (Vec<Open>, Vec<Open>) = open.into_iter().partition(is_asked);
        self.open = rest;
        let proved = counting.prove(&asked.iter().map(|open| &kinds[&open.property]).collect::<Vec<_>>());
        for (at, open) in asked.into_iter().enumerate() {
            match &proved {
                Err(reason) => self.open.push(Open { reason: reason.clone(), ..open }),
                Ok(proved) => match proved.get(&at) {
                    None => self.open.push(open),
                    Some((proof, n_views)) => {
                        let facts = vec![Fact { claim: Claim::Counting(proof.clone()), uses: Vec::new() }];
                        let verdict = self.proved(open.property, scope(proof), facts);
                        self.answer(open.property, verdict, Some(*n_views));
                    }
                },
            }
        }
    }

    /// What no views of every size decide, asked of views of cells at the size at hand.
    fn look_closer(&mut self) {
        let model = self.task.model;
        let Some(layout) = layout(model) else { return };
        let ground = Ground { model, layout: &layout, config: self.config };
        if self.open.is_empty() || !self.open.iter().any(|open| asked(model, open.property).is_some()) {
            return;
        }
        let fine = match Fine::new(ground, &self.task.budget) {
            Ok(fine) => fine,
            Err(Refusal::Stopped(reason)) => {
                self.open.iter_mut().for_each(|open| open.reason = reason.clone());
                return;
            }
            Err(Refusal::Outside(_) | Refusal::TooMany) => return,
        };
        for open in std::mem::take(&mut self.open) {
            let question = asked(model, open.property).map(|question| question.without_counts(layout.family));
            let found = question.map(|question| fine.prove(&question));
            match found {
                Some(Ok(Outcome::Proved(proof, n_states))) => {
                    let facts = vec![Fact { claim: Claim::Fine(*proof), uses: Vec::new() }];
                    let verdict = self.proved(open.property, Scope::Instance, facts);
                    self.answer(open.property, verdict, Some(n_states));
                }
                Some(Err(Refusal::Stopped(reason))) => self.open.push(Open { reason, ..open }),
                Some(Ok(Outcome::Open) | Err(Refusal::Outside(_) | Refusal::TooMany)) | None => self.open.push(open),
            }
        }
    }

    /// For each question one kind of views after the other, the cheapest of all first, until everything is decided.
    fn climb(&mut self, fragment: &Fragment, most: usize) {
        let model = self.task.model;
        let with = with_presences(model, &fragment.layout);
        let mut ladders: BTreeMap<PropertyId, Ladder> = BTreeMap::new();
        for open in &self.open {
            if let Some(question) = &open.question {
                let ladder = Ladder::new(model, &fragment.layout, question, ((self.config, most), &with.present));
                ladders.insert(open.property, ladder.leaving_out(self.leaves_out));
            }
        }
        while let Some(rung) = ladders.values().map(|ladder| &ladder.rung).min().cloned() {
            let mut layout = if rung.says_of_all { with.clone() } else { fragment.layout.clone() };
            layout.hidden = with_veils(&layout.hidden, &rung.veiled);
            let asked: Vec<PropertyId> =
                ladders.iter().filter(|(_, ladder)| ladder.rung == rung).map(|(property, _)| *property).collect();
            let steps = Steps {
                most: asked.iter().map(|property| ladders[property].most_steps()).max().unwrap_or(0),
                first_look: asked.iter().map(|property| ladders[property].first_look()).max().unwrap_or(0),
            };
            let Some(failed) = self.try_views(fragment, &layout, rung.k, (&asked, steps)) else { return };
            ladders.retain(|property, ladder| {
                let is_open = self.open.iter().any(|open| open.property == *property && open.question.is_some());
                is_open && failed.get(property).is_none_or(|why| ladder.climb(why))
            });
        }
    }

    /// Deadlocks that are still open, asked of views that hide nothing: what nobody reads any more may name whoever goes on.
    fn show_all(&mut self, fragment: &Fragment, most: usize) {
        if fragment.layout.hidden.is_empty() {
            return;
        }
        let mut layout = fragment.layout.clone();
        layout.hidden.clear();
        let is_deadlock = |open: &&Open| matches!(open.question, Some(Question::NoDeadlock));
        for k in 1..=most.min(2) {
            let asked: Vec<PropertyId> = self.open.iter().filter(is_deadlock).map(|open| open.property).collect();
            let steps = Steps { most: self.config.steps_to_show, first_look: usize::MAX };
            if asked.is_empty() {
                return;
            }
            let failed = self.try_views(fragment, &layout, k, (&asked, steps));
            if failed.is_none_or(|failed| failed.values().any(|why| matches!(why, Failed::TooDear))) {
                return;
            }
        }
    }

    /// Views of `k` processes, and what came of the questions that they were tried for and did not answer; `None` where a limit was reached. As soon as they admit a violation of
    /// each of these questions it is over.
    fn try_views(
        &mut self,
        fragment: &Fragment,
        layout: &Layout,
        k: usize,
        (asked, steps): (&[PropertyId], Steps),
    ) -> Option<BTreeMap<PropertyId, Failed>> {
        let ground = Ground { model: self.task.model, layout, config: self.config };
        let budget = &self.task.budget;
        let mut failed: BTreeMap<PropertyId, Failed> = BTreeMap::new();
        let mut reasons: BTreeMap<PropertyId, StopReason> = BTreeMap::new();
        let questions: Vec<(PropertyId, Question)> = { self.open.iter() }
            .filter(|open| asked.contains(&open.property))
            .filter_map(|open| Some((open.property, open.question.clone()?)))
            .collect();
        let mut is_of_no_use = |views: &Closed| -> Result<bool, StopReason> {
            for (property, question) in &questions {
                // Whether there may be a deadlock shows when all views are there.
                if matches!(question, Question::NoDeadlock) {
                    return Ok(false);
                }
                if failed.contains_key(property) {
                    continue;
                }
                let Ok(Excluded::No(what, reliance)) = excludes(ground, views, question, budget) else {
                    return Ok(false);
                };
                failed.insert(*property, Failed::Admitted(reliance, views.theta.len()));
                reasons.insert(*property, StopReason::Allowed(what));
            }
            Ok(true)
        };
        let limits = CloseLimits {
            most_steps: steps.most,
            first_look: steps.first_look,
            budget,
            is_of_no_use: &mut is_of_no_use,
        };
        let found = close(ground, k, limits);
        for open in &mut self.open {
            if let Some(reason) = reasons.remove(&open.property) {
                open.reason = reason;
            }
        }
        match found {
            Ok(found) => self.ask(fragment, (ground, &found), asked, &mut failed)?,
            Err(Failure::OfNoUse) => {}
            Err(Failure::TooMany) => {
                too_dear(asked, &mut failed);
            }
            Err(Failure::Outside(_) | Failure::Full) if layout.hidden.iter().any(|rule| rule.when.is_none()) => {
                too_dear(asked, &mut failed);
            }
            Err(failure) => {
                let reason = match failure {
                    Failure::Stopped(reason) => reason,
                    Failure::Full => outside(MANY_NAMED),
                    _ => outside("a step tells processes apart, or chooses from very many numbers"),
                };
                let asked = self.open.iter_mut().filter(|open| open.question.is_some());
                asked.for_each(|open| open.reason = reason.clone());
                return None;
            }
        }
        Some(failed)
    }

    /// Asks views that are closed under steps all questions that they may answer, and says what became of those that they were tried for. `None` where a limit was reached.
    fn ask(
        &mut self,
        fragment: &Fragment,
        (ground, found): (Ground<'_>, &Closed),
        asked: &[PropertyId],
        failed: &mut BTreeMap<PropertyId, Failed>,
    ) -> Option<()> {
        let mut proof: Option<ViewsProof> = None;
        for open in std::mem::take(&mut self.open) {
            let is_asked = asked.contains(&open.property) && !failed.contains_key(&open.property);
            let question = open.question.clone().filter(|question| {
                // Looking for deadlocks takes longer than for other violations.
                is_asked || !asked.contains(&open.property) && !matches!(question, Question::NoDeadlock)
            });
            let Some(question) = question else {
                self.open.push(open);
                continue;
            };
            match excludes(ground, found, &question, &self.task.budget) {
                Ok(Excluded::Yes) => {
                    let proof = proof.get_or_insert_with(|| proof_of(ground, found)).clone();
                    let verdict = self.verdict(fragment, open.property, (proof, found.k));
                    self.answer(open.property, verdict, Some(found.theta.len()));
                }
                Ok(Excluded::No(what, reliance)) if is_asked => {
                    failed.insert(open.property, Failed::Admitted(reliance, found.theta.len()));
                    self.open.push(Open { reason: StopReason::Allowed(what), ..open });
                }
                Ok(Excluded::No(..)) => self.open.push(open),
                Err(reason) => {
                    failed.insert(open.property, Failed::TooDear);
                    self.open.push(Open { reason, ..open });
                }
            }
        }
        self.task.budget.check(0).ok()
    }

    fn verdict(&self, fragment: &Fragment, property: PropertyId, (proof, k): (ViewsProof, usize)) -> Verdict {
        let model = self.task.model;
        let parameter = &model.parameters[fragment.parameter];
        let from = parameter.least.max(k.max(fragment.layout.named.len()) as i64);
        if parameter.value < from && !self.every_size {
            // The instance at hand is smaller than the views.
            return Verdict::Unknown(Coarse::Views.into());
        }
        let scope = Scope::AllSizes { parameter: parameter.name.clone(), from, checked: Vec::new() };
        self.proved(property, scope, vec![Fact { claim: Claim::Views(proof), uses: Vec::new() }])
    }

    fn proved(&self, property: PropertyId, scope: Scope, facts: Vec<Fact>) -> Verdict {
        let property = &self.task.model.properties[property];
        let certificate = Box::new(Certificate { property: property.name.clone(), scope, facts, implies: Vec::new() });
        match property.kind {
            PropertyKind::Reachable(_) => Verdict::Violated(Evidence::Certificate(certificate)),
            _ => Verdict::Holds(Evidence::Certificate(certificate)),
        }
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

/// What did not fail otherwise is too dear.
fn too_dear(asked: &[PropertyId], failed: &mut BTreeMap<PropertyId, Failed>) {
    for &property in asked {
        failed.entry(property).or_insert(Failed::TooDear);
    }
}

/// What a property asks of views of one size; `None` where it is not about states.
fn asked(model: &Model, property: PropertyId) -> Option<Question> {
    match &model.properties[property].kind {
        PropertyKind::Invariant(expr) => Some(Question::Never { expr: expr.clone(), value: false, witnesses: 0 }),
        PropertyKind::Reachable(expr) => Some(Question::Never { expr: expr.clone(), value: true, witnesses: 0 }),
        PropertyKind::NoErrors => Some(Question::NoFault),
        PropertyKind::RaceFree(var) => {
            race::excluded(model, *var).map(|expr| Question::Never { expr, value: false, witnesses: 0 })
        }
        PropertyKind::DeadlockFree | PropertyKind::Temporal(_) => None,
    }
}

/// What views say about what must not be.
enum Excluded {
    Yes,
    /// They do not exclude this, in words; and what it relied on.
    No(String, Reliance),
}

/// Whether views exclude what must not be.
fn excludes(ground: Ground<'_>, views: &Closed, asked: &Question, budget: &Budget) -> Result<Excluded, StopReason> {
    Ok(match asked {
        Question::NoFault => match views.faults.first() {
            None => Excluded::Yes,
            Some(&fault) => {
                let what = format!("`{}` may be a fault", statement(ground.model, fault));
                Excluded::No(what, views.reliance_of_fault())
            }
        },
        Question::NoDeadlock => match deadlock::candidate(ground, views, budget)? {
            None => Excluded::Yes,
            Some(DeadlockCandidate::Blocked(view)) => {
                let what = in_words(ground, &views.shape.unpack(&view));
                Excluded::No(format!("nobody may have a step where {what}"), views.reliance(&view))
            }
            Some(DeadlockCandidate::TooMany) => {
                Excluded::No("there is too much to look at for deadlocks".to_owned(), Reliance::default())
            }
        },
        Question::Never { expr, value, witnesses } => {
            let pattern = Pattern { expr, value: *value, witnesses: *witnesses };
            // The expression lives as long as the question, the program longer.
            match search(ground_of(ground), views, pattern, budget)? {
                Found::Nothing => Excluded::Yes,
                Found::Candidate(row) => {
                    let few = ["one", "two", "three"].get(views.k - 1).unwrap_or(&"few");
                    let what = in_words(ground, &views.shape.unpack(&row));
                    Excluded::No(format!("views of {few} allow {what}"), views.reliance(&row))
                }
                Found::Outside(_) => return Err(outside("the property tells processes apart")),
                Found::Full => return Err(outside(MANY_NAMED)),
            }
        }
    })
}

/// The statement that a place of the text belongs to.
fn statement(model: &Model, at: base::Span) -> &str {
    let contains = |one: &&model::control::Statement| one.span.start <= at.start && at.end <= one.span.end;
    let shortest = model.statements.iter().filter(contains).min_by_key(|one| one.span.end - one.span.start);
    shortest.map_or("a step", |one| &one.text)
}

/// The same ground for a shorter time.
fn ground_of<'s, 'm: 's>(ground: Ground<'m>) -> Ground<'s> {
    Ground { ..ground }
}

/// The views as a claim.
pub fn certified(ground: Ground<'_>, views: &Views) -> ViewsProof {
    claim(ground, views.k, views.theta.iter().map(listed).collect())
}

fn proof_of(ground: Ground<'_>, views: &Closed) -> ViewsProof {
    claim(ground, views.k, views.theta.iter().map(|row| listed(&views.shape.unpack(row))).collect())
}

fn claim(ground: Ground<'_>, k: usize, mut views: Vec<View>) -> ViewsProof {
    views.sort();
    let layout = ground.layout;
    ViewsProof {
        family: layout.family,
        k,
        is_ordered: layout.is_ordered,
        shared: layout.shared.clone(),
        local: layout.local.clone(),
        hidden: layout.hidden.clone(),
        named: layout.named.clone(),
        present: layout.present.clone(),
        views,
    }
}

fn listed(config: &Configuration) -> View {
    View { shared: config.shared.clone(), slots: config.slots.clone() }
}

/// Why processes of a program cannot be counted, with its place; `None` where they can.
pub fn uncounted(model: &Model) -> Option<model::template::FragmentReason> {
    Counting::new(model, &Budget::unlimited()).err()
}

/// Why a program or a property is outside the fragment, with its place; `None` where both are inside.
pub fn obstacle(model: &Model, property: PropertyId) -> Option<model::template::FragmentReason> {
    let kinds = (&model.properties[property].kind, &model.template().properties[property].kind);
    let mut obstacle = None;
    for n_named in 0..=MOST_NAMED {
        let asked = fragment_beside(model, n_named).and_then(|found| question(model, &found, kinds.0, kinds.1));
        obstacle = Some(asked.err()?);
    }
    obstacle
}
