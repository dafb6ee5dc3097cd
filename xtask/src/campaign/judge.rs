//! Methods compared with brute force on one program.
//!
//! In: a [`CampaignCase`] and the methods. Out: what is wrong: verdicts that brute force contradicts, evidence that the checker refuses, panics,
//! and changed proofs that the checker accepts of what is false. Each method or prover (`asked.rs`) gets all questions of the program in one call,
//! with one thread, as `driver` asks, audit included.

use std::cell::RefCell;
use std::fmt;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::time::{Duration, Instant};

use base::{Budget, CancelToken, StopReason};
use engine::run::{Audit, PropertyResult};
use engine::{PropertyId, Task, Verdict};
use evidence::scope::Scope;
use evidence::{Certificate, Evidence};
use model::property::PropertyKind;

use super::asked::Respondent;
use super::case::{CampaignCase, Right};
use super::mutants;
use super::tally::CampaignTally;

/// A method checks its budget so often at most for one program; most do a hundredth of it. So what is answered does not depend on how busy
/// the machine is; the clock ends only what does not check.
const MOST_LOOKS: u64 = 20_000;
const LONGEST: Duration = Duration::from_secs(60);
const MOST_MEMORY: u64 = 256 << 20;

/// What is wrong.
#[derive(Clone, Debug)]
pub struct CampaignFinding {
    pub kind: FindingKind,
    pub method: &'static str,
    /// The property, where it is about one.
    pub property: Option<String>,
    /// What was answered, and what is the case.
    pub what: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FindingKind {
    /// A verdict that is not true.
    WrongVerdict,
    /// A verdict whose evidence the checker rejects: it is not shown, and should not have been given.
    RefusedEvidence,
    /// No verdict of a method that would have found one, since the property has no value in some state.
    Undecided,
    Panic,
    /// A changed certificate, or one of a changed program, that the checker accepts of what is false.
    AcceptedMutant,
}

impl FindingKind {
    pub fn word(self) -> &'static str {
        match self {
            FindingKind::WrongVerdict => "wrong",
            FindingKind::RefusedEvidence => "refused",
            FindingKind::Undecided => "undecided",
            FindingKind::Panic => "panic",
            FindingKind::AcceptedMutant => "mutant",
        }
    }
}

impl fmt::Display for CampaignFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let about = self.property.as_ref().map_or(String::new(), |name| format!(", `{name}`"));
        write!(f, "{}: method `{}`{about}: {}", self.kind.word(), self.method, self.what.replace('\n', " "))
    }
}

thread_local! {
    static LAST_PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keeps a panic's message and place instead of printing it.
pub fn note_panic(info: &PanicHookInfo<'_>) {
    LAST_PANIC.with_borrow_mut(|last| *last = info.to_string());
}

/// The methods, and where their verdicts are counted.
pub struct CampaignJudge<'a> {
    pub methods: &'a [Respondent],
    pub tally: &'a mut CampaignTally,
}

impl CampaignJudge<'_> {
    /// Everything that is wrong with the methods' answers about a program.
    pub fn judge(&mut self, case: &CampaignCase, seed: u64) -> Vec<CampaignFinding> {
        let mut findings = Vec::new();
        self.tally.n_properties += case.questions.len() as u64;
        for &method in self.methods {
            let started = Instant::now();
            let results = ask(method, case);
            let took = started.elapsed();
            match results {
                Ok(results) => {
                    for result in &results {
                        self.note_size(case, result);
                        self.tally.note_verdict(method.name(), result);
                        findings.extend(wrong(case, method, result));
                        findings.extend(wrong_elsewhere(case, method, result));
                    }
                    findings.extend(self.changed(case, method, &results, seed));
                }
                Err(finding) => findings.push(finding),
            }
            self.tally.note_time(method.name(), took);
        }
        findings
    }

    /// Counts a claim about every size, and the sizes at which it is compared.
    fn note_size(&mut self, case: &CampaignCase, result: &PropertyResult) {
        if let Some(Scope::AllSizes { parameter, from, .. }) = proof(result).map(|proof| &proof.scope) {
            self.tally.n_every_size += 1;
            self.tally.n_sizes += case.sizes(parameter).count_from(*from) as u64;
        }
    }

    /// What the checker says of changed certificates and programs.
    fn changed(
        &mut self,
        case: &CampaignCase,
        method: Respondent,
        results: &[PropertyResult],
        seed: u64,
    ) -> Vec<CampaignFinding> {
        let mut findings = Vec::new();
        let started = Instant::now();
        let proofs: Vec<_> = results.iter().filter_map(|result| Some((result, proof(result)?))).collect();
        let is_checked = |(result, _): &&(&PropertyResult, _)| matches!(result.audit, Audit::Proof(_));
        self.tally.n_certificates += proofs.iter().filter(is_checked).count() as u64;
        // Of each program two certificates or three are changed: those of other methods at the next one.
        let turn = seed.wrapping_add(method.name().bytes().map(u64::from).sum());
        let chosen = proofs.get(seed as usize % proofs.len().max(1)).filter(|_| turn.is_multiple_of(4));
        if let Some(&(result, certificate)) = chosen {
            let tried = mutants::try_all(case, certificate, method.name(), seed);
            self.tally.n_mutants_accepted += tried.n_accepted;
            self.tally.n_mutants_refused += tried.n_refused;
            findings.extend(tried.wrong.into_iter().map(|what| CampaignFinding {
                kind: FindingKind::AcceptedMutant,
                method: method.name(),
                property: Some(case.model.properties[result.property].name.clone()),
                what,
            }));
        }
        self.tally.mutants_time += started.elapsed();
        findings
    }
}

/// The certificate of a verdict that has one.
pub fn proof(result: &PropertyResult) -> Option<&Certificate> {
    match &result.verdict {
        Verdict::Holds(Evidence::Certificate(certificate)) | Verdict::Violated(Evidence::Certificate(certificate)) => {
            Some(certificate)
        }
        _ => None,
    }
}

/// A method's audited answers to all questions, or what went wrong.
pub fn ask(method: Respondent, case: &CampaignCase) -> Result<Vec<PropertyResult>, CampaignFinding> {
    ask_about(method, case, &case.questions)
}

/// The same about some of the properties.
pub fn ask_about(
    method: Respondent,
    case: &CampaignCase,
    questions: &[PropertyId],
) -> Result<Vec<PropertyResult>, CampaignFinding> {
    let budget = Budget::new(Some(LONGEST), Some(MOST_MEMORY), CancelToken::default()).with_looks(MOST_LOOKS);
    let task = Task { model: &case.model, properties: questions.to_vec(), budget, n_threads: 1 };
    let finding = |kind, what| CampaignFinding { kind, method: method.name(), property: None, what };
    match catch_unwind(AssertUnwindSafe(|| method.check(&task))) {
        Ok(Ok(results)) => Ok(results),
        Ok(Err(failure)) => Err(finding(FindingKind::RefusedEvidence, failure.to_string())),
        Err(_) => Err(finding(FindingKind::Panic, LAST_PANIC.with_borrow(String::clone))),
    }
}

/// The finding that a claim about every size is, if brute force contradicts it at another one.
pub fn wrong_elsewhere(case: &CampaignCase, method: Respondent, result: &PropertyResult) -> Option<CampaignFinding> {
    let Scope::AllSizes { parameter, from, .. } = &proof(result).filter(|_| case.is_text)?.scope else { return None };
    let is_violated = matches!(result.verdict, Verdict::Violated(_));
    let is_right = |right: Right| if is_violated { right.violated } else { right.holds };
    let size = case.sizes(parameter).counterexample(*from, result.property.index(), is_right)?;
    let said = if is_violated { "violated" } else { "holds" };
    Some(CampaignFinding {
        kind: FindingKind::WrongVerdict,
        method: method.name(),
        property: Some(case.model.properties[result.property].name.clone()),
        what: format!(
            "answers `{said}` for every {parameter} from {from} on, and it is not so at {parameter} = {size}"
        ),
    })
}

/// Whether a verdict is about the program at its own size: a proof for every size may begin with a larger one.
fn is_about_instance(case: &CampaignCase, result: &PropertyResult) -> bool {
    proof(result).is_none_or(|proof| includes_instance(case, &proof.scope))
}

/// Whether a scope includes the program at its own size.
pub fn includes_instance(case: &CampaignCase, scope: &Scope) -> bool {
    let Scope::AllSizes { parameter, from, .. } = scope else { return true };
    case.model.parameters.iter().find(|one| one.name == *parameter).is_none_or(|one| one.value >= *from)
}

/// Whether some state decides a property that has no value in others, and the method goes on past those until it has seen all.
fn is_unseen(case: &CampaignCase, method: Respondent, result: &PropertyResult) -> bool {
    let right = case.right[result.property.index()];
    let is_about_states = !matches!(case.model.properties[result.property].kind, PropertyKind::Temporal(_));
    is_about_states && matches!(method.name(), "mono" | "stubborn") && right.holds != right.violated
}

/// The finding that nothing was said but that the property has no value somewhere.
fn unseen(case: &CampaignCase, method: Respondent, result: &PropertyResult) -> CampaignFinding {
    CampaignFinding {
        kind: FindingKind::Undecided,
        method: method.name(),
        property: Some(case.model.properties[result.property].name.clone()),
        what: "says that it has no value, and another state decides it".to_owned(),
    }
}

/// The finding that a verdict is, if brute force contradicts it.
pub fn wrong(case: &CampaignCase, method: Respondent, result: &PropertyResult) -> Option<CampaignFinding> {
    if !is_about_instance(case, result) {
        return None;
    }
    let right = case.right[result.property.index()];
    let (said, is_right) = match &result.verdict {
        Verdict::Holds(_) => ("holds", right.holds),
        Verdict::Violated(_) => ("violated", right.violated),
        Verdict::Unknown(StopReason::PropertyError(_)) if is_unseen(case, method, result) => {
            return Some(unseen(case, method, result));
        }
        Verdict::Unknown(_) => return None,
    };
    if is_right {
        return None;
    }
    let truth = match (right.holds, right.violated) {
        (true, _) => "it holds",
        (_, true) => "it is violated",
        _ => "it has no value in some state",
    };
    let audit =
        if result.audit.is_accepted() { "the checker accepts the evidence" } else { "the evidence is not checked" };
    Some(CampaignFinding {
        kind: FindingKind::WrongVerdict,
        method: method.name(),
        property: Some(case.model.properties[result.property].name.clone()),
        what: format!("answers `{said}` ({}), and {truth}; {audit}", result.method),
    })
}
