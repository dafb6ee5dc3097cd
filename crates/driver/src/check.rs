//! One program, one instance: its questions go to a checker, and come back as audited results.
//!
//! In: a [`Program`], the questions, the checker that answers them, what may be used. Out: one result for each question, in the order of the
//! questions. Evidence that fails its audit and engines that contradict themselves end everything with a [`Mistake`]: we are wrong, and
//! the verdict is not shown.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use base::{Budget, CancelToken, Diagnostic, SourceFile};
use engine::run::{PropertyResult, Run};
use engine::{Event, Observer, PropertyId, Task, Verdict};
use explain::Explained;
use lang::ProgramText;
use model::Model;

use crate::checker::Checker;
use crate::confrontation::{EFFORT, LeastSizes};
use crate::mistake::Mistake;

/// Explaining answers may take so long where there is no limit, and so long at least where the check used up its time.
const EXPLAINING: (Duration, Duration) = (Duration::from_secs(5), Duration::from_millis(200));

/// A loaded instance of a program.
#[derive(Clone, Debug)]
pub struct Program {
    /// The text, with the name that the user gave for it.
    pub source: SourceFile,
    /// The checked program.
    pub model: Model,
    /// What the front-end warns of.
    pub warnings: Vec<Diagnostic>,
    /// How many states come before the initial one: see [`lang::Loaded::n_before`].
    pub n_before: u64,
    /// The text that it was read from, for other instances.
    pub text: ProgramText,
    /// The values that the call gives to parameters.
    pub given: Vec<(String, i64)>,
}

impl Program {
    /// The program with its results.
    pub fn into_run(self, checked: Checked) -> Run {
        let Program { source, model, warnings, .. } = self;
        Run {
            source,
            model,
            warnings,
            results: checked.results,
            time: checked.time,
            processor_time: checked.processor_time,
            method: checked.method,
        }
    }

    /// The program with its results, to be explained within what is left of the limits, and in a moment at least.
    pub fn explained(self, checked: Checked, limits: &CheckLimits) -> Explained {
        let (enough, moment) = EXPLAINING;
        let left = limits.time.map_or(enough, |left| left.clamp(moment, enough));
        Explained::new(self.into_run(checked), &Budget::new(Some(left), None, limits.cancel.clone()))
    }
}

/// What a check, or any search, may use.
#[derive(Clone, Debug)]
pub struct CheckLimits {
    /// The longest time.
    pub time: Option<Duration>,
    /// The most memory of the search, in bytes.
    pub memory_bytes: Option<u64>,
    /// A directory for temporary files, where a search of the whole product goes on when memory runs out.
    pub disk: Option<PathBuf>,
    /// How many threads may run, at least 1.
    pub n_threads: usize,
    /// Cancelled when the user wants to end.
    pub cancel: CancelToken,
}

impl CheckLimits {
    /// A budget that counts from now.
    pub fn budget(&self) -> Budget {
        let budget = Budget::new(self.time, self.memory_bytes, self.cancel.clone());
        match &self.disk {
            Some(directory) => budget.with_disk(directory),
            None => budget,
        }
    }
}

/// The answers to all questions.
#[derive(Debug)]
pub struct Checked {
    /// One for each question, in their order.
    pub results: Vec<PropertyResult>,
    /// How long it took.
    pub time: Duration,
    /// What all processors together worked on it, where the system reports it.
    pub processor_time: Option<Duration>,
    /// The method that was asked for.
    pub method: &'static str,
}

/// What is to be checked, and how.
#[derive(Clone, Copy)]
pub struct Check<'a> {
    /// The program.
    pub model: &'a Model,
    /// The questions.
    pub questions: &'a [PropertyId],
    /// The checker that answers them.
    pub checker: &'a dyn Checker,
    /// What may be used.
    pub limits: &'a CheckLimits,
}

impl Check<'_> {
    /// Answers the questions and audits the answers.
    ///
    /// # Errors
    /// A mistake of ours: evidence that fails its audit, an engine that contradicts itself.
    pub fn run(self, observer: &dyn Observer) -> Result<Checked, Box<Mistake>> {
        self.answered(None, observer)
    }

    /// The same of a program with its text: answers about every size are confronted with runs at some of them before they are reported.
    ///
    /// # Errors
    /// As [`run`](Self::run), and a run against an answer.
    pub fn run_of(self, program: &Program, observer: &dyn Observer) -> Result<Checked, Box<Mistake>> {
        self.answered(Some(program), observer)
    }

    fn answered(self, program: Option<&Program>, observer: &dyn Observer) -> Result<Checked, Box<Mistake>> {
        let Check { model, questions, checker, limits } = self;
        let (started, worked_before) = (Instant::now(), processor_time());
        let task = Task { model, properties: questions.to_vec(), budget: limits.budget(), n_threads: limits.n_threads };
        let sizes = program.map(|program| LeastSizes::of(program, &EFFORT));
        let clock =
            Clock { started, observer, known: Mutex::new(KnownAnswers { at: Vec::new(), sizes, mistake: None }) };
        let mut results = checker.check(&task, &clock)?;
        let KnownAnswers { at: known, sizes, mistake } =
            clock.known.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(mistake) = mistake {
            return Err(mistake);
        }
        if let Some(mut sizes) = sizes {
            results.iter().try_for_each(|result| sizes.confront(result))?;
        }
        for result in results.iter_mut().filter(|result| !matches!(result.verdict, Verdict::Unknown(_))) {
            let first = known.iter().find(|(property, _)| *property == result.property);
            result.statistics.first_known = Some(first.map_or_else(|| started.elapsed(), |(_, at)| *at));
        }
        let processor_time = processor_time().zip(worked_before).map(|(now, before)| now.saturating_sub(before));
        Ok(Checked { results, time: started.elapsed(), processor_time, method: checker.name() })
    }
}

/// What all threads of the process have worked so far, from the system's count of hundredths of a second; `None` where there is none.
fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program is in parentheses, and may have spaces.
    let (_, fields) = text.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11);
    let (user, system) = (fields.next()?.parse::<u64>().ok()?, fields.next()?.parse::<u64>().ok()?);
    Some(Duration::from_millis((user + system) * 10))
}

/// Notes when each verdict is first known, and passes on those that no run contradicts.
struct Clock<'o> {
    started: Instant,
    observer: &'o dyn Observer,
    known: Mutex<KnownAnswers<'o>>,
}

/// What is known so far.
struct KnownAnswers<'o> {
    /// When each verdict was first known.
    at: Vec<(PropertyId, Duration)>,
    /// The program at other sizes, which answers about every size are confronted with.
    sizes: Option<LeastSizes<'o>>,
    /// A run against a verdict.
    mistake: Option<Box<Mistake>>,
}

impl Observer for Clock<'_> {
    fn event(&self, event: Event) {
        self.observer.event(event);
    }

    fn known(&self, result: &PropertyResult) {
        let at = self.started.elapsed();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.at.iter().any(|(property, _)| *property == result.property) {
            return;
        }
        known.at.push((result.property, at));
        if let Some(Err(mistake)) = known.sizes.as_mut().map(|sizes| sizes.confront(result)) {
            known.mistake.get_or_insert(mistake);
        }
        if known.mistake.is_none() {
            drop(known);
            self.observer.known(result);
        }
    }
}

#[cfg(test)]
mod tests {
    use base::{Feature, StopReason};
    use engine::run::Audit;
    use engine::{Answer, Contradiction, Engine, EngineError, Method, Silent, Statistics};
    use evidence::{Evidence, Exploration, Trace, TraceEnd};
    use model::eval;
    use model::property::PropertyKind;

    use super::*;
    use crate::checker::Single;
    use crate::load::{self, Loaded};
    use crate::select;

    /// Two states, one step from 0 to 1.
    const TEXT: &str = "program p { shared x: 0..=1; process A { x = 1; } \
        invariant low: x == 0; invariant fine: x <= 1; reachable one: x == 1; reachable two: x == 2; }";

    /// Returns the verdict that it is given.
    struct Parrot(Verdict);

    impl Engine for Parrot {
        fn method(&self) -> Method {
            Method::Mono
        }

        fn name(&self) -> &'static str {
            "parrot"
        }

        fn supports(&self, model: &Model, property: PropertyId) -> Result<(), StopReason> {
            match model.properties[property].kind {
                PropertyKind::DeadlockFree => Err(Feature::Rendezvous.into()),
                _ => Ok(()),
            }
        }

        fn run(&self, task: &Task<'_>, _observer: &dyn Observer) -> Result<Vec<Answer>, EngineError> {
            let answer = |&property: &PropertyId| Answer {
                property,
                verdict: self.0.clone(),
                statistics: Statistics::default(),
            };
            Ok(task.properties.iter().rev().map(answer).collect())
        }
    }

    fn program() -> Program {
        match load::instance(&SourceFile::new("p.pw", TEXT), &[]) {
            Loaded::Program(program) => *program,
            Loaded::Refused(refusal) => panic!("{:?}", refusal.diagnostics),
        }
    }

    fn limits() -> CheckLimits {
        CheckLimits { time: None, memory_bytes: None, disk: None, n_threads: 1, cancel: CancelToken::default() }
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
        let check = Check {
            model: &program.model,
            questions: &questions,
            checker: &Single(std::sync::Arc::new(Parrot(verdict))),
            limits: &limits(),
        };
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
        let run = |checker: &dyn Checker, limits: &CheckLimits| {
            let check = Check { model: &program.model, questions: &questions, checker, limits };
            check.run(&Silent).unwrap().results.remove(0)
        };
        let proved = run(&*crate::methods::checker(Method::Split), &limits());
        assert!(matches!(proved.audit, Audit::Proof(_)), "{:?}", proved.audit);
        let hasty = CheckLimits { time: Some(Duration::ZERO), ..limits() };
        let stopped = run(&Single(std::sync::Arc::new(Parrot(proved.verdict))), &hasty);
        // The audit has a reserve, which may be enough for a proof as small as this one.
        let is_stopped = stopped.audit == Audit::Stopped(StopReason::TimeLimit(Duration::ZERO));
        assert!(is_stopped || matches!(stopped.audit, Audit::Proof(_)), "{:?}", stopped.audit);
        assert!(matches!(stopped.verdict, Verdict::Holds(_)));
    }

    /// Contradicts itself on what it is asked, or answers nothing.
    struct Confused {
        is_silent: bool,
    }

    impl Engine for Confused {
        fn method(&self) -> Method {
            Method::Mono
        }

        fn name(&self) -> &'static str {
            "confused"
        }

        fn run(&self, task: &Task<'_>, _observer: &dyn Observer) -> Result<Vec<Answer>, EngineError> {
            let wrong = || Contradiction::new("two is even", "it is odd");
            match task.properties.first() {
                Some(&property) if !self.is_silent => {
                    Err(EngineError::new(self.name(), (task.model, property), wrong()))
                }
                _ => Ok(Vec::new()),
            }
        }
    }

    #[test]
    fn an_engine_that_contradicts_itself_gives_no_verdict_but_an_internal_error() {
        let program = program();
        let questions = [select::find(&program.model, "fine").unwrap()];
        for (is_silent, said) in [
            (false, "in p, method `confused` contradicts itself on `fine`: two is even, but it is odd"),
            (
                true,
                "in p, method `confused` contradicts itself on `fine`: an engine answers every question that it is \
                 asked, but there is no answer",
            ),
        ] {
            let checker = Single(std::sync::Arc::new(Confused { is_silent }));
            let check = Check { model: &program.model, questions: &questions, checker: &checker, limits: &limits() };
            assert_eq!(check.run(&Silent).unwrap_err().to_string(), said);
        }
    }

    #[test]
    fn what_the_engine_does_not_answer_is_unknown_with_its_reason() {
        let program = program();
        let questions: Vec<PropertyId> = program.model.properties.ids().collect();
        let checker = Single(std::sync::Arc::new(Parrot(Verdict::Unknown(StopReason::Cancelled))));
        let check = Check { model: &program.model, questions: &questions, checker: &checker, limits: &limits() };
        let checked = check.run(&Silent).unwrap();
        assert_eq!(checked.results.iter().map(|result| result.property).collect::<Vec<_>>(), questions);
        let deadlock = select::find(&program.model, "deadlock_free").unwrap();
        let answer = checked.results.iter().find(|result| result.property == deadlock).unwrap();
        assert_eq!(answer.verdict, Verdict::Unknown(Feature::Rendezvous.into()));
    }
}
