//! The audit of answers: evidence is checked, by code that no engine shares, before a verdict is shown.
//!
//! In: a program, and one answer after the other. Out: the results, with what the audit came to. Evidence that it refuses is an
//! [`AuditFailure`]: we are wrong, and the verdict is not shown.

use std::fmt;
use std::sync::Arc;

use audit::certificate::CertificateError;
use audit::{AuditError, Recount, Recounted, SearchedAgain};
use base::{Budget, Feature, StopReason, Unsupported};
use engine::error::title;
use engine::insight::Insight;
use engine::run::{Audit, PropertyResult};
use engine::{Answer, Observer, PropertyId, Silent, Verdict};
use evidence::{Certificate, Evidence, Exploration, Scope, SymbolicSearch};
use model::Model;
use model::property::PropertyKind;

use crate::confrontation::{EFFORT, RunSample, is_claim};
use crate::mistake::Mistake;
use crate::watchdog::Attendant;

/// Products of at most this many states are searched again, which takes a fraction of a second.
const MOST_RECOUNTED: usize = 3000;

/// An audit may take this part of what a time limit may be passed by, where an engine has used up its time.
pub(crate) const AUDIT_RESERVE: f64 = 0.45;

/// A check of a proof has this part of it to notice by itself that a limit is reached.
const AUDIT_GRACE: f64 = 0.1;

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

/// Whether a verdict is about the program at the size that it has here.
fn speaks_of(model: &Model, verdict: &Verdict) -> bool {
    let (Verdict::Holds(Evidence::Certificate(proof)) | Verdict::Violated(Evidence::Certificate(proof))) = verdict
    else {
        return true;
    };
    match &proof.scope {
        Scope::Instance => true,
        Scope::AllSizes { parameter, from, .. } => {
            model.parameters.iter().find(|one| one.name == *parameter).is_none_or(|here| here.value >= *from)
        }
    }
}

/// Audits the answers of one run; a product is searched again at most once.
pub struct Auditor<'m> {
    model: &'m Model,
    /// What may be used for checking proofs.
    budget: Budget,
    /// `Some(None)` once the product has turned out to be larger than an exploration claims.
    recount: Option<SearchedAgain<'m>>,
    /// A few runs, which claims are confronted with.
    runs: Option<RunSample>,
}

impl<'m> Auditor<'m> {
    /// Audits answers about a program within a budget.
    pub fn new(model: &'m Model, budget: Budget) -> Self {
        Auditor { model, budget, recount: None, runs: None }
    }

    /// The same auditor, within another budget.
    pub fn within(&mut self, budget: Budget) -> &mut Self {
        self.budget = budget;
        self
    }

    /// The result that an answer comes to.
    ///
    /// # Errors
    /// Evidence that fails its audit.
    pub fn audit(&mut self, method: &'static str, answer: Answer) -> Result<PropertyResult, Box<Mistake>> {
        let Answer { property, verdict, statistics } = answer;
        let (verdict, accepted) = self.judge(property, verdict);
        let accepted = accepted.and_then(|audit| self.confront(property, &verdict, audit));
        let answer = Answer { property, verdict, statistics };
        match accepted {
            Ok(audit) => Ok(PropertyResult {
                property: answer.property,
                method: answer.statistics.method.unwrap_or(method),
                verdict: answer.verdict,
                audit,
                statistics: answer.statistics,
                insight: Insight::default(),
                denied: Vec::new(),
            }),
            Err(error) => Err(AuditFailure {
                program: title(self.model),
                property: self.model.properties[answer.property].name.clone(),
                method: answer.statistics.method.unwrap_or(method),
                verdict: word(&answer.verdict),
                error,
            }
            .into()),
        }
    }

    /// What the audit came to, unless a run contradicts the claim. What was searched again needs no further runs, and a claim about larger sizes
    /// than this one is contradicted by no run of this one.
    fn confront(&mut self, property: PropertyId, verdict: &Verdict, audit: Audit) -> Result<Audit, AuditError> {
        let property = &self.model.properties[property];
        if audit == Audit::Accepted || !is_claim(verdict, &property.kind) || !speaks_of(self.model, verdict) {
            return Ok(audit);
        }
        let runs = self.runs.get_or_insert_with(|| RunSample::of(self.model, &EFFORT));
        match runs.against(self.model, property, &EFFORT) {
            None => Ok(audit),
            Some(found) => Err(AuditError::new(format!("nothing decides `{}` otherwise", property.name), found)),
        }
    }

    /// The verdict again, and what the audit says of it. A proof is handed to the checker's thread, since its check may have to be left.
    fn judge(&mut self, property: PropertyId, verdict: Verdict) -> (Verdict, Result<Audit, AuditError>) {
        let is_goal = matches!(self.model.properties[property].kind, PropertyKind::Reachable(_));
        match verdict {
            Verdict::Holds(Evidence::Certificate(proof)) if !is_goal => {
                let (proof, audit) = self.check_proof(property, proof);
                (Verdict::Holds(Evidence::Certificate(proof)), audit)
            }
            Verdict::Violated(Evidence::Certificate(proof)) if is_goal => {
                let (proof, audit) = self.check_proof(property, proof);
                (Verdict::Violated(Evidence::Certificate(proof)), audit)
            }
            other => {
                let audit = self.accepts(property, &other);
                (other, audit)
            }
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
            // One that can show it was checked already.
            Evidence::Certificate(_) => Err(AuditError::new("a local proof shows it", "only a run can")),
        }
    }

    /// The proof again, and what the checker says of it, if it does not refuse it.
    fn check_proof(
        &self,
        property: PropertyId,
        proof: Box<Certificate>,
    ) -> (Box<Certificate>, Result<Audit, AuditError>) {
        if let Err(reason) = self.budget.check(0) {
            return (proof, Ok(Audit::Stopped(reason)));
        }
        let proof: Arc<Certificate> = Arc::from(proof);
        let attendant = Attendant { model: self.model, budget: &self.budget, observer: &Silent, grace: AUDIT_GRACE };
        let (handed, budget) = (Arc::clone(&proof), self.budget.clone());
        let check = move |model: &Model, _: &dyn Observer| {
            audit::certificate::check(model, &model.properties[property], &handed, &budget)
        };
        let audit = match attendant.run(check) {
            Err(left) => Ok(Audit::Stopped(left.reason)),
            Ok(Ok(checked)) => Ok(Audit::Proof(checked.obligations)),
            Ok(Err(CertificateError::Stopped(reason))) => Ok(Audit::Stopped(reason)),
            Ok(Err(CertificateError::NotSupported(why))) => {
                Ok(Audit::Stopped(Unsupported::about(Feature::Checking, why).into()))
            }
            Ok(Err(error)) => Err(AuditError::new("a local proof shows it", error.to_string())),
        };
        // A check that was left still has its hands on the proof.
        (Box::new(Arc::unwrap_or_clone(proof)), audit)
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
        match self.recount() {
            Ok(SearchedAgain::All(recount)) => Ok(match recount.check_claim(property)? {
                Recounted::Agrees => Audit::Accepted,
                Recounted::TooLarge => Audit::NotDone,
            }),
            Ok(SearchedAgain::TooManyStates | SearchedAgain::TooManyWays) | Err(_) => Ok(Audit::NotDone),
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

    /// The product, searched again when it is first asked for.
    fn recount(&mut self) -> Result<&SearchedAgain<'m>, StopReason> {
        let again = match self.recount.take() {
            Some(again) => again,
            None => Recount::within(self.model, MOST_RECOUNTED, &self.budget)?,
        };
        Ok(self.recount.insert(again))
    }

    fn recounted(
        &mut self,
        states: u64,
        check: impl FnOnce(&Recount<'_>) -> Result<Recounted, AuditError>,
    ) -> Result<Audit, AuditError> {
        if states > MOST_RECOUNTED as u64 {
            return Ok(Audit::NotDone);
        }
        match self.recount() {
            Ok(SearchedAgain::All(recount)) => Ok(match check(recount)? {
                Recounted::Agrees => Audit::Accepted,
                Recounted::TooLarge => Audit::NotDone,
            }),
            // A search that could not be repeated in time, or with so many ways to take a step, is one that was not repeated.
            Ok(SearchedAgain::TooManyWays) | Err(_) => Ok(Audit::NotDone),
            Ok(SearchedAgain::TooManyStates) => Err(AuditError::new(
                format!("there are {states} reachable states"),
                format!("there are more than {MOST_RECOUNTED}"),
            )),
        }
    }
}

pub(crate) fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Holds(_) => "holds",
        Verdict::Violated(_) => "is violated",
        Verdict::Unknown(_) => "is not decided",
    }
}
