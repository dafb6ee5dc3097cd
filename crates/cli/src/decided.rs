//! What is decided so far in a call of `check`, for the documents of a call that is ended from outside.
//!
//! In: each verdict when it is known, and all results of a run when it is through. Out: runs, in which what is not decided says which limit ended the
//! call. Nothing is shared with whoever is at work on a run: what keeps that one busy keeps nobody else waiting.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use base::{Budget, CancelToken, StopReason};
use driver::check::{Checked, Program};
use driver::load::Refusal;
use engine::denied::Denied;
use engine::insight::Insight;
use engine::run::{Audit, PropertyResult};
use engine::{PropertyId, Statistics, Verdict};
use explain::Explained;
use report::Files;

/// What is decided so far; clones are the same.
#[derive(Clone)]
pub struct Decided {
    /// `None` where no limit ends the call, so that nobody asks.
    known: Option<Arc<Mutex<Vec<Known>>>>,
}

/// What came of one program by one method, so far.
enum Known {
    Refused(Refusal),
    Run(Box<KnownRun>),
}

struct KnownRun {
    program: Program,
    method: &'static str,
    asked: Vec<PropertyId>,
    results: Vec<PropertyResult>,
    begun: Instant,
    /// What it took, once all is decided.
    time: Option<Duration>,
    files: Files,
}

/// What came of one program, for who has to write it down now.
pub enum LastOutcome {
    /// Its text was refused.
    Refused(Refusal),
    /// It was checked, perhaps not to the end; its evidence is in these files.
    Checked(Box<Explained>, Files),
}

impl Decided {
    /// Nothing is decided yet. It is noted where limits may end the call.
    pub fn new(is_limited: bool) -> Decided {
        Decided { known: is_limited.then(Arc::default) }
    }

    fn known(&self) -> Option<MutexGuard<'_, Vec<Known>>> {
        Some(self.known.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn note(&self, note: impl FnOnce(&mut KnownRun)) {
        if let Some(mut known) = self.known()
            && let Some(Known::Run(run)) = known.last_mut()
        {
            note(run);
        }
    }

    /// A text is no program.
    pub fn refuse(&self, refusal: &Refusal) {
        if let Some(mut known) = self.known() {
            known.push(Known::Refused(refusal.clone()));
        }
    }

    /// A program is asked these questions from now on.
    pub fn begin(&self, program: &Program, method: &'static str, asked: &[PropertyId]) {
        if let Some(mut known) = self.known() {
            known.push(Known::Run(Box::new(KnownRun {
                program: program.clone(),
                method,
                asked: asked.to_vec(),
                results: Vec::new(),
                begun: Instant::now(),
                time: None,
                files: Files::default(),
            })));
        }
    }

    /// A verdict about the program that was begun last.
    pub fn add(&self, result: &PropertyResult) {
        self.note(|run| {
            if run.results.iter().all(|known| known.property != result.property) {
                run.results.push(result.clone());
            }
        });
    }

    /// All results about it; it may be another instance by now.
    pub fn complete(&self, program: &Program, checked: &Checked) {
        self.note(|run| {
            // A copy of many cells takes room.
            if !is_same_instance(&run.program, program) {
                run.program = program.clone();
            }
            run.results.clone_from(&checked.results);
            run.time = Some(checked.time);
        });
    }

    /// All results about the program that was begun last, where the other ones are about another instance of it.
    pub fn part(&self, (program, kept): (&Program, &Checked), (other, checked): (&Program, &Checked)) {
        let asked = |checked: &Checked| checked.results.iter().map(|result| result.property).collect::<Vec<_>>();
        self.note(|run| run.asked = asked(kept));
        self.complete(program, kept);
        self.begin(other, checked.method, &asked(checked));
    }

    /// The evidence that was written so far.
    pub fn written(&self, files: &Files) {
        self.note(|run| run.files.clone_from(files));
    }

    /// What came of the programs that were begun, now that the call is ended.
    pub fn outcomes(&self, reason: &StopReason, denied: &[Denied]) -> Vec<LastOutcome> {
        let outcome = |known: &Known| match known {
            Known::Refused(refusal) => LastOutcome::Refused(refusal.clone()),
            Known::Run(run) => {
                let mut checked = run.checked(reason);
                checked.results.iter_mut().for_each(|result| result.deny(denied));
                // There is no time to find out more.
                let nothing_more = Budget::new(Some(Duration::ZERO), None, CancelToken::default());
                let explained = Explained::new(run.program.clone().into_run(checked), &nothing_more);
                LastOutcome::Checked(Box::new(explained), run.files.clone())
            }
        };
        self.known().map_or_else(Vec::new, |known| known.iter().map(outcome).collect())
    }
}

/// Whether two instances of a program are surely the same.
fn is_same_instance(one: &Program, other: &Program) -> bool {
    let sizes = |program: &Program| program.model.parameters.iter().map(|one| one.value).collect::<Vec<_>>();
    one.source.name() == other.source.name() && one.given == other.given && sizes(one) == sizes(other)
}

impl KnownRun {
    fn checked(&self, reason: &StopReason) -> Checked {
        let time = self.time.unwrap_or_else(|| self.begun.elapsed());
        let open = |property| PropertyResult {
            property,
            method: self.method,
            verdict: Verdict::Unknown(reason.clone()),
            audit: Audit::NotDone,
            statistics: Statistics { time, ..Statistics::default() },
            insight: Insight::default(),
            denied: Vec::new(),
        };
        let result = |&property: &PropertyId| {
            let known = self.results.iter().find(|known| known.property == property);
            known.cloned().unwrap_or_else(|| open(property))
        };
        let results = self.asked.iter().map(result).collect();
        Checked { results, time, processor_time: None, method: self.method }
    }
}

#[cfg(test)]
mod tests {
    use base::SourceFile;
    use driver::load::{self, Loaded};
    use evidence::{Evidence, Exploration};

    use super::*;

    #[test]
    fn what_was_decided_is_there_and_what_was_not_says_why() {
        let text = "program p { process A { skip; } invariant one: true; invariant two: true; allow deadlock; }";
        let Loaded::Program(program) = load::instance(&SourceFile::new("p.pw", text), &[]) else { panic!("refused") };
        let asked: Vec<PropertyId> = program.model.properties.ids().collect();
        let decided = Decided::new(true);
        decided.begin(&program, "mono", &asked);
        let limit = StopReason::TimeLimit(Duration::from_secs(2));
        let seen = Exploration { states: 2, transitions: 1, deadlocks: 1, errors: 0, depth: 1, complete: true };
        let open = decided.outcomes(&limit, &[]);
        let [LastOutcome::Checked(run, _)] = &open[..] else { panic!("one run") };
        assert!(run.results.iter().all(|result| result.verdict == Verdict::Unknown(limit.clone())));
        let verdict = Verdict::Holds(Evidence::Exploration(seen));
        decided.add(&PropertyResult { verdict: verdict.clone(), audit: Audit::Accepted, ..run.results[1].clone() });
        let then = decided.outcomes(&limit, &[]);
        let [LastOutcome::Checked(run, _)] = &then[..] else { panic!("one run") };
        assert_eq!(run.results.len(), asked.len());
        assert_eq!(run.results[1].verdict, verdict);
        assert!(run.results[1].audit.is_accepted());
        assert_eq!(run.results[0].verdict, Verdict::Unknown(limit));
    }
}
