//! One program, one instance: its questions go to an engine, every answer through the audit.
//!
//! In: a [`Program`], the questions, an engine, what may be used. Out: one result for each question, in the order of the
//! questions; a question that the engine does not answer gets `Unknown` with the engine's reason. Evidence that fails its
//! audit ends everything with an [`AuditFailure`]: we are wrong, and nobody may see the verdict.

use std::fmt;
use std::time::{Duration, Instant};

use audit::certificate::CertificateError;
use audit::{AuditError, Recount, Recounted};
use base::{Budget, CancelToken, Diagnostic, SourceFile, StopReason};
use engine::insight::Insight;
use engine::run::{Audit, PropertyResult, Run};
use engine::{Answer, Engine, Observer, PropertyId, Statistics, Task, Verdict};
use evidence::{Certificate, Evidence, Exploration, SymbolicSearch};
use model::Model;
use model::property::PropertyKind;

/// Products of at most this many states are searched again, which takes a fraction of a second.
const MOST_RECOUNTED: usize = 3000;

/// A loaded instance of a program.
#[derive(Debug)]
pub struct Program {
    /// The text, with the name that the user gave for it.
    pub source: SourceFile,
    /// The checked program.
    pub model: Model,
    /// What the front-end warns of.
    pub warnings: Vec<Diagnostic>,
}

impl Program {
    /// The program with its results.
    pub fn into_run(self, checked: Checked) -> Run {
        let Program { source, model, warnings } = self;
        Run { source, model, warnings, results: checked.results, time: checked.time }
    }
}

/// What a check, or any search, may use.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The longest time.
    pub time: Option<Duration>,
    /// The most memory of the search, in bytes.
    pub memory_bytes: Option<u64>,
    /// How many threads may run, at least 1.
    pub n_threads: usize,
    /// Cancelled when the user wants to end.
    pub cancel: CancelToken,
}

impl Limits {
    /// A budget that counts from now.
    pub fn budget(&self) -> Budget {
        Budget::new(self.time, self.memory_bytes, self.cancel.clone())
    }
}

/// The answers to all questions.
#[derive(Debug)]
pub struct Checked {
    /// One for each question, in their order.
    pub results: Vec<PropertyResult>,
    /// How long it took.
    pub time: Duration,
}

/// Evidence that its own audit refused: both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditFailure {
    /// The program's name and parameters.
    pub program: String,
    /// The property.
    pub property: String,
    /// The method that answered.
    pub method: &'static str,
    /// What it answered.
    pub verdict: &'static str,
    /// What the audit says.
    pub error: AuditError,
}

impl fmt::Display for AuditFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AuditFailure { program, property, method, verdict, error } = self;
        write!(
            f,
            "in {program}, method `{method}` answers that `{property}` {verdict}, and the audit refuses it: {error}"
        )
    }
}

/// What is to be checked, and how.
#[derive(Clone, Copy)]
pub struct Check<'a> {
    /// The program.
    pub model: &'a Model,
    /// The questions.
    pub questions: &'a [PropertyId],
    /// Who answers them.
    pub engine: &'a dyn Engine,
    /// What may be used.
    pub limits: &'a Limits,
}

impl Check<'_> {
    /// Answers the questions and audits the answers.
    ///
    /// # Errors
    /// Evidence that fails its audit.
    pub fn run(self, observer: &dyn Observer) -> Result<Checked, Box<AuditFailure>> {
        let Check { model, questions, engine, limits } = self;
        let started = Instant::now();
        let (supported, refused) = sort_out(model, questions, engine);
        let mut answers = Vec::new();
        if !supported.is_empty() {
            let task = Task { model, properties: supported, budget: limits.budget(), n_threads: limits.n_threads };
            answers = engine.run(&task, observer);
        }
        answers.extend(refused);
        let mut auditor = Auditor { model, budget: limits.budget(), recount: None };
        let mut results = Vec::new();
        for &question in questions {
            let found = answers.iter().position(|answer| answer.property == question);
            let answer = answers.swap_remove(found.expect("an engine answers every question that it is asked"));
            results.push(auditor.audit(engine.name(), answer)?);
        }
        Ok(Checked { results, time: started.elapsed() })
    }
}

/// The questions that the engine answers, and the answers to the others.
fn sort_out(model: &Model, questions: &[PropertyId], engine: &dyn Engine) -> (Vec<PropertyId>, Vec<Answer>) {
    let (mut supported, mut refused) = (Vec::new(), Vec::new());
    for &property in questions {
        match engine.supports(model, property) {
            Ok(()) => supported.push(property),
            Err(reason) => refused.push(not_asked(property, reason)),
        }
    }
    (supported, refused)
}

fn not_asked(property: PropertyId, reason: StopReason) -> Answer {
    Answer { property, verdict: Verdict::Unknown(reason), statistics: Statistics::default() }
}

/// Audits the answers of one run; a product is searched again at most once.
struct Auditor<'m> {
    model: &'m Model,
    /// What may be used for checking proofs.
    budget: Budget,
    /// `Some(None)` once the product has turned out to be larger than an exploration claims.
    recount: Option<Option<Recount<'m>>>,
}

impl Auditor<'_> {
    fn audit(&mut self, method: &'static str, answer: Answer) -> Result<PropertyResult, Box<AuditFailure>> {
        match self.accepts(answer.property, &answer.verdict) {
            Ok(audit) => Ok(PropertyResult {
                property: answer.property,
                method: answer.statistics.method.unwrap_or(method),
                verdict: answer.verdict,
                audit,
                statistics: answer.statistics,
                insight: Insight::default(),
            }),
            Err(error) => Err(Box::new(AuditFailure {
                program: title(self.model),
                property: self.model.properties[answer.property].name.clone(),
                method: answer.statistics.method.unwrap_or(method),
                verdict: word(&answer.verdict),
                error,
            })),
        }
    }

    /// Whether the evidence was checked; where it cannot be checked it is at least of the right kind.
    ///
    /// A run shows that something happens and a search that nothing does, so a `reachable` that holds needs a run, and so
    /// does anything else that is violated.
    fn accepts(&mut self, property: PropertyId, verdict: &Verdict) -> Result<Audit, AuditError> {
        let is_reachable = matches!(self.model.properties[property].kind, PropertyKind::Reachable(_));
        let (evidence, happens) = match verdict {
            Verdict::Unknown(_) => return Ok(Audit::NotDone),
            Verdict::Holds(evidence) => (evidence, is_reachable),
            Verdict::Violated(evidence) => (evidence, !is_reachable),
        };
        match evidence {
            Evidence::Trace(trace) if happens => audit::replay(self.model, property, trace).map(|()| Audit::Accepted),
            Evidence::Exploration(exploration) if !happens => self.search_again(property, exploration),
            Evidence::Symbolic(seen) if !happens => self.search_set_again(property, seen),
            Evidence::Reduced(part) if !happens => self.search_all(property, part),
            Evidence::Trace(_) => Err(AuditError::new("one run shows it", "only a search of all runs can")),
            Evidence::Exploration(_) | Evidence::Symbolic(_) | Evidence::Reduced(_) => {
                Err(AuditError::new("a search shows it", "only a run can"))
            }
            Evidence::Certificate(certificate) if !happens => self.check_proof(property, certificate),
            Evidence::Certificate(_) => Err(AuditError::new("a local proof shows it", "only a run can")),
        }
    }

    /// What the checker says of a proof, if it does not refuse it.
    fn check_proof(&self, property: PropertyId, certificate: &Certificate) -> Result<Audit, AuditError> {
        let asked = &self.model.properties[property];
        match audit::certificate::check(self.model, asked, certificate, &self.budget) {
            Ok(checked) => Ok(Audit::Proof(checked.obligations)),
            Err(CertificateError::Stopped(reason)) => Ok(Audit::Stopped(reason)),
            Err(CertificateError::NotSupported(why)) => Ok(Audit::Stopped(StopReason::NotSupported(why))),
            Err(error) => Err(AuditError::new("a local proof shows it", error.to_string())),
        }
    }

    /// Searches all of which a part was searched, where it is small enough.
    fn search_all(&mut self, property: PropertyId, part: &Exploration) -> Result<Audit, AuditError> {
        if !part.complete {
            let claim = "a search that did not see everything decides the property";
            return Err(AuditError::new(claim, "states that were not seen may decide it otherwise"));
        }
        if part.states > MOST_RECOUNTED as u64 {
            return Ok(Audit::NotDone);
        }
        match self.recount.get_or_insert_with(|| Recount::of(self.model, MOST_RECOUNTED)) {
            Some(recount) => Ok(match recount.check_claim(property)? {
                Recounted::Agrees => Audit::Accepted,
                Recounted::TooLarge => Audit::NotDone,
            }),
            None => Ok(Audit::NotDone),
        }
    }

    /// Searches again what is small enough for that.
    fn search_again(&mut self, property: PropertyId, exploration: &Exploration) -> Result<Audit, AuditError> {
        if !exploration.complete {
            let claim = "a search that did not see everything decides the property";
            return Err(AuditError::new(claim, "states that were not seen may decide it otherwise"));
        }
        self.recounted(exploration.states, |recount| recount.check(property, exploration))
    }

    /// The same where at most the number of states is known.
    fn search_set_again(&mut self, property: PropertyId, seen: &SymbolicSearch) -> Result<Audit, AuditError> {
        match *seen {
            SymbolicSearch::Whole { states } => {
                self.recounted(states.unwrap_or(u64::MAX), |recount| recount.check_symbolic(property, seen))
            }
            SymbolicSearch::Local => Ok(Audit::NotDone),
        }
    }

    fn recounted(
        &mut self,
        states: u64,
        check: impl FnOnce(&Recount<'_>) -> Result<Recounted, AuditError>,
    ) -> Result<Audit, AuditError> {
        if states > MOST_RECOUNTED as u64 {
            return Ok(Audit::NotDone);
        }
        match self.recount.get_or_insert_with(|| Recount::of(self.model, MOST_RECOUNTED)) {
            Some(recount) => Ok(match check(recount)? {
                Recounted::Agrees => Audit::Accepted,
                Recounted::TooLarge => Audit::NotDone,
            }),
            None => Err(AuditError::new(
                format!("there are {states} reachable states"),
                format!("there are more than {MOST_RECOUNTED}"),
            )),
        }
    }
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Holds(_) => "holds",
        Verdict::Violated(_) => "is violated",
        Verdict::Unknown(_) => "is not decided",
    }
}

/// `mux_sem, N = 4`.
fn title(model: &Model) -> String {
    let parameters = model.parameters.iter().map(|given| format!(", {} = {}", given.name, given.value));
    format!("{}{}", model.name, parameters.collect::<String>())
}

#[cfg(test)]
mod tests {
    use engine::Silent;
    use evidence::{Trace, TraceEnd};
    use model::eval;

    use super::*;
    use crate::load::{self, Loaded};
    use crate::select;

    /// Two states, one step from 0 to 1.
    const TEXT: &str = "program p { shared x: 0..=1; process A { x = 1; } \
        invariant low: x == 0; invariant fine: x <= 1; reachable one: x == 1; reachable two: x == 2; }";

    /// Says what it is told to say.
    struct Parrot(Verdict);

    impl Engine for Parrot {
        fn name(&self) -> &'static str {
            "parrot"
        }

        fn supports(&self, model: &Model, property: PropertyId) -> Result<(), StopReason> {
            match model.properties[property].kind {
                PropertyKind::DeadlockFree => Err(StopReason::NotSupported("parrots do not wait".to_owned())),
                _ => Ok(()),
            }
        }

        fn run(&self, task: &Task<'_>, _observer: &dyn Observer) -> Vec<Answer> {
            let answer = |&property: &PropertyId| Answer {
                property,
                verdict: self.0.clone(),
                statistics: Statistics::default(),
            };
            task.properties.iter().rev().map(answer).collect()
        }
    }

    fn program() -> Program {
        match load::instance(&SourceFile::new("p.pw", TEXT), &[]) {
            Loaded::Program(program) => *program,
            Loaded::Refused(refusal) => panic!("{:?}", refusal.diagnostics),
        }
    }

    fn limits() -> Limits {
        Limits { time: None, memory_bytes: None, n_threads: 1, cancel: CancelToken::default() }
    }

    fn search() -> Evidence {
        let exploration = Exploration { states: 2, transitions: 1, deadlocks: 0, errors: 0, depth: 1, complete: true };
        Evidence::Exploration(exploration)
    }

    fn run(model: &Model) -> Evidence {
        let first = eval::initial_states(model).next().unwrap();
        let step = eval::steps(model, &first).remove(0);
        let states = vec![first, step.result.unwrap()];
        Evidence::Trace(Trace::finite(states, vec![step.by], TraceEnd::State))
    }

    /// Whether the answer is accepted for each property of the name.
    fn accepted(name: &str, verdict: Verdict) -> Result<bool, String> {
        let program = program();
        let questions = [select::find(&program.model, name).unwrap()];
        let check = Check { model: &program.model, questions: &questions, engine: &Parrot(verdict), limits: &limits() };
        check.run(&Silent).map(|checked| checked.results[0].audit.is_accepted()).map_err(|failure| failure.to_string())
    }

    #[test]
    fn true_answers_pass_and_are_audited() {
        let model = program().model;
        assert_eq!(accepted("low", Verdict::Violated(run(&model))), Ok(true));
        assert_eq!(accepted("fine", Verdict::Holds(search())), Ok(true));
        assert_eq!(accepted("one", Verdict::Holds(run(&model))), Ok(true));
        assert_eq!(accepted("two", Verdict::Violated(search())), Ok(true));
        assert_eq!(accepted("low", Verdict::Unknown(StopReason::Cancelled)), Ok(false));
    }

    #[test]
    fn false_answers_are_internal_errors_that_show_both_sides() {
        let model = program().model;
        let failure = accepted("low", Verdict::Holds(search())).unwrap_err();
        assert!(
            failure.contains("in p, method `parrot` answers that `low` holds, and the audit refuses it"),
            "{failure}"
        );
        assert!(failure.contains("the reference semantics says"), "{failure}");
        for (name, verdict) in [
            ("fine", Verdict::Violated(run(&model))),
            ("fine", Verdict::Holds(run(&model))),
            ("low", Verdict::Violated(search())),
            ("one", Verdict::Violated(search())),
            ("one", Verdict::Violated(run(&model))),
            ("two", Verdict::Holds(run(&model))),
            ("two", Verdict::Holds(search())),
        ] {
            assert!(accepted(name, verdict.clone()).is_err(), "{name} {verdict:?}");
        }
    }

    #[test]
    fn searches_that_saw_too_little_or_too_much_are_refused() {
        let changed = |change: fn(&mut Exploration)| {
            let Evidence::Exploration(mut exploration) = search() else { unreachable!() };
            change(&mut exploration);
            accepted("fine", Verdict::Holds(Evidence::Exploration(exploration)))
        };
        assert!(changed(|seen| seen.states = 1).is_err());
        assert!(changed(|seen| seen.transitions = 2).is_err());
        assert!(changed(|seen| seen.complete = false).is_err());
        assert_eq!(changed(|seen| seen.states = 1 << 40), Ok(false), "too large to be searched again");
    }

    #[test]
    fn a_proof_whose_check_reaches_a_limit_is_not_called_audited() {
        let program = program();
        let questions = [select::find(&program.model, "fine").unwrap()];
        let run = |engine: &dyn Engine, limits: &Limits| {
            let check = Check { model: &program.model, questions: &questions, engine, limits };
            check.run(&Silent).unwrap().results.remove(0)
        };
        let proved = run(&*crate::methods::find("split").unwrap().engine(), &limits());
        assert!(matches!(proved.audit, Audit::Proof(_)), "{:?}", proved.audit);
        let hasty = Limits { time: Some(Duration::ZERO), ..limits() };
        let stopped = run(&Parrot(proved.verdict), &hasty);
        assert_eq!(stopped.audit, Audit::Stopped(StopReason::TimeLimit(Duration::ZERO)));
        assert!(matches!(stopped.verdict, Verdict::Holds(_)));
    }

    #[test]
    fn what_the_engine_does_not_answer_is_unknown_with_its_reason() {
        let program = program();
        let questions: Vec<PropertyId> = program.model.properties.ids().collect();
        let engine = Parrot(Verdict::Unknown(StopReason::Cancelled));
        let check = Check { model: &program.model, questions: &questions, engine: &engine, limits: &limits() };
        let checked = check.run(&Silent).unwrap();
        assert_eq!(checked.results.iter().map(|result| result.property).collect::<Vec<_>>(), questions);
        let deadlock = select::find(&program.model, "deadlock_free").unwrap();
        let answer = checked.results.iter().find(|result| result.property == deadlock).unwrap();
        assert_eq!(answer.verdict, Verdict::Unknown(StopReason::NotSupported("parrots do not wait".to_owned())));
    }
}
