//! A proof from a file, checked against a program by `audit`, behind which there is no engine.
//!
//! In: the bytes of a proof, and the program that it is said to be about. Out: what was checked, and for which sizes, or why it is not accepted.

use std::fmt;

use audit::certificate::{self, CertificateError, Checked};
use audit::{Recount, Recounted};
use base::{Budget, Feature, StopReason, Unsupported};
use engine::{Observer, PropertyId, Silent};
use evidence::Scope;
use evidence::proof_file::{ProofError, ProofFile};
use model::Model;

use crate::check::Program;
use crate::confrontation::{EFFORT, LeastSizes, RunSample};
use crate::every_n::at_size;
use crate::select;
use crate::watchdog::{Attendant, ENGINE_GRACE};

/// A size below those that a proof is about is searched up to so many states.
const MOST_SEARCHED: usize = 100_000;

/// Why a proof is not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// It is no proof, or none about this program.
    File(ProofError),
    /// It is one whose parts do not fit the program; in words.
    DoesNotFit(String),
    /// It is one, and does not hold.
    DoesNotHold {
        /// What has to be so.
        obligation: String,
        /// What is the case instead.
        finding: String,
    },
    /// It was not judged.
    Undecided(StopReason),
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rejection::File(error) => error.fmt(f),
            Rejection::DoesNotFit(what) => write!(f, "the proof does not fit the program: {what}"),
            Rejection::DoesNotHold { obligation, finding } => write!(f, "{obligation}, but {finding}"),
            Rejection::Undecided(reason) => reason.fmt(f),
        }
    }
}

impl From<CertificateError> for Rejection {
    fn from(error: CertificateError) -> Self {
        match error {
            CertificateError::Malformed(what) => Rejection::DoesNotFit(what),
            CertificateError::Refused(certificate::Refusal { obligation, finding }) => {
                Rejection::DoesNotHold { obligation, finding }
            }
            CertificateError::NotSymmetric(finding) => {
                let obligation = "processes that the proof takes for alike have to be alike".to_owned();
                Rejection::DoesNotHold { obligation, finding }
            }
            CertificateError::NotSupported(why) => {
                Rejection::Undecided(Unsupported::about(Feature::Checking, why).into())
            }
            CertificateError::Stopped(reason) => Rejection::Undecided(reason),
        }
    }
}

/// Checks every obligation of a proof, and says which property it proves.
///
/// # Errors
/// Why the proof is not accepted.
pub fn check(file: ProofFile, model: &Model, budget: &Budget) -> Result<(PropertyId, Checked), Rejection> {
    let within = budget.clone();
    let attendant = Attendant { model, budget, observer: &Silent, grace: ENGINE_GRACE };
    let judged = attendant.run(move |model: &Model, _: &dyn Observer| judge(file, model, &within));
    judged.unwrap_or_else(|left| Err(Rejection::Undecided(left.reason)))
}

fn judge(file: ProofFile, model: &Model, budget: &Budget) -> Result<(PropertyId, Checked), Rejection> {
    let certificate = file.certificate(model).map_err(Rejection::File)?;
    let property = select::find(model, &certificate.property).map_err(Rejection::DoesNotFit)?;
    let checked = certificate::check(model, &model.properties[property], &certificate, budget)?;
    if is_below(model, &certificate.scope) {
        search(model, property, budget)?;
    } else if let Some(finding) = RunSample::of(model, &EFFORT).against(model, &model.properties[property], &EFFORT) {
        return Err(contradicted(finding));
    }
    Ok((property, checked))
}

fn contradicted(finding: String) -> Rejection {
    Rejection::DoesNotHold { obligation: "no run may contradict a proof".to_owned(), finding }
}

/// The scope of a proof from a file that was checked, as far as it is known to be true: sizes that the file says were searched are searched again, and
/// those that cannot be are left out.
///
/// # Errors
/// That the property does not hold at one of them, or that a run contradicts it at one of the least sizes that the proof is about.
pub fn confirmed(program: &Program, property: PropertyId, scope: Scope, budget: &Budget) -> Result<Scope, Rejection> {
    let Scope::AllSizes { parameter, from, checked: stated } = scope else { return Ok(scope) };
    let confronted = LeastSizes::of(program, &EFFORT).claimed(property, (&parameter, from));
    confronted.map_err(|(_, error)| contradicted(error.finding))?;
    let name = &program.model.properties[property].name;
    let is_allowed = |size: i64| program.model.parameters.iter().any(|one| one.name == parameter && one.allows(size));
    let mut checked = Vec::new();
    for size in stated.into_iter().filter(|&size| size < from && is_allowed(size)) {
        if budget.check(0).is_err() {
            break;
        }
        let Some(other) = at_size(program, (&parameter, size)) else { continue };
        let Ok(question) = select::find(&other.model, name) else { continue };
        match search(&other.model, question, budget) {
            Ok(()) => checked.push(size),
            Err(Rejection::Undecided(_)) => {}
            Err(wrong) => return Err(wrong),
        }
    }
    Ok(Scope::AllSizes { parameter, from, checked })
}

/// A size that the call names is one of those that a proof is about, as far as that is confirmed, and no run of it contradicts the proof.
///
/// # Errors
/// That the proof says nothing of that size, or a run of it against the proof.
pub fn stands_at(
    program: &Program,
    property: PropertyId,
    (scope, (parameter, size)): (&Scope, (&str, i64)),
) -> Result<(), Rejection> {
    let is_sized = matches!(scope, Scope::AllSizes { parameter: sized, .. } if sized == parameter);
    // The size of the program at hand was looked at where the proof was checked.
    if !is_sized || program.model.parameters.iter().any(|one| one.name == parameter && one.value == size) {
        return Ok(());
    }
    if !scope.includes(parameter, size) {
        let why = format!("it is about {scope}, and {parameter} = {size} was not searched");
        return Err(Rejection::Undecided(Unsupported::about(Feature::Checking, why).into()));
    }
    let confronted = LeastSizes::of(program, &EFFORT).claimed(property, (parameter, size));
    confronted.map_err(|(_, error)| contradicted(error.finding))
}

/// Whether a claim for every size from some on is about larger sizes than the one at hand.
fn is_below(model: &Model, scope: &Scope) -> bool {
    let Scope::AllSizes { parameter, from, .. } = scope else { return false };
    !model.parameters.iter().any(|one| one.name == *parameter && one.value >= *from)
}

/// A size that a proof is not about is searched, on the reference semantics.
fn search(model: &Model, property: PropertyId, budget: &Budget) -> Result<(), Rejection> {
    let undecided = || {
        let why = "it is about larger sizes, and this one is too large to be searched".to_owned();
        Rejection::Undecided(Unsupported::about(Feature::Checking, why).into())
    };
    let found =
        Recount::within(model, MOST_SEARCHED, budget).map_err(Rejection::Undecided)?.all().ok_or_else(undecided)?;
    match found.check_claim(property) {
        Ok(Recounted::Agrees) => Ok(()),
        Ok(Recounted::TooLarge) => Err(undecided()),
        Err(error) => Err(Rejection::DoesNotHold {
            obligation: "the property has to hold at sizes that the proof is not about".to_owned(),
            finding: error.to_string(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use base::{CancelToken, SourceFile};
    use engine::Verdict;
    use evidence::{Certificate, Evidence, proof_file};
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::check::{Check, CheckLimits};
    use crate::load::{self, Loaded};
    use crate::methods;

    /// Two processes and a semaphore; `mutex` holds, `never` does not.
    const TEXT: &str = "program p { shared x: sem = 1; process P[i in 0..<2] { \
        loop { a: acquire x; b: release x; } } \
        invariant mutex: forall i != j: !(P[i]@b && P[j]@b); invariant never: forall i: !P[i]@b; }";

    fn model() -> Model {
        match load::instance(&SourceFile::new("p.pw", TEXT), &[]) {
            Loaded::Program(program) => program.model,
            Loaded::Refused(refusal) => panic!("{:?}", refusal.diagnostics),
        }
    }

    /// The proof of `mutex` by a method, without its digest.
    fn proof(model: &Model, method: &str) -> Json {
        let questions = [select::find(model, "mutex").unwrap()];
        let limits =
            CheckLimits { time: None, memory_bytes: None, disk: None, n_threads: 1, cancel: CancelToken::default() };
        let checker = methods::checker(methods::find(method).unwrap());
        let checked = Check { model, questions: &questions, checker: &*checker, limits: &limits }.run(&Silent).unwrap();
        let Verdict::Holds(Evidence::Certificate(certificate)) = &checked.results[0].verdict else {
            panic!("{method} proves it")
        };
        let mut proof: Json = serde_json::from_str(&proof_file::to_text(model, certificate, method)).unwrap();
        proof.as_object_mut().unwrap().remove("digest");
        proof
    }

    fn judged(model: &Model, proof: &Json) -> Result<(PropertyId, Checked), Rejection> {
        let file = ProofFile::parse(proof.to_string().as_bytes()).map_err(Rejection::File)?;
        check(file, model, &Budget::unlimited())
    }

    /// Every document that differs from this one in one value: a leaf is another one, a list loses or doubles an element.
    fn mutants(proof: &Json) -> Vec<Json> {
        let mut paths = Vec::new();
        collect(proof, String::new(), &mut paths);
        let mut mutants = Vec::new();
        for path in paths {
            let old = proof.pointer(&path).unwrap();
            let mut replace = |new: Json| {
                let mut mutant = proof.clone();
                *mutant.pointer_mut(&path).unwrap() = new;
                mutants.push(mutant);
            };
            match old {
                Json::Number(number) => {
                    let number = number.as_i64().unwrap();
                    [0, 1, 2, number + 1, number - 1, 1 << 40, -1].iter().for_each(|new| replace(json!(new)));
                    replace(json!("x"));
                }
                Json::Bool(truth) => replace(json!(!truth)),
                Json::String(_) => ["", "x", "mutex", "never", "P[0]", "b"].iter().for_each(|new| replace(json!(new))),
                Json::Array(items) => {
                    for at in 0..items.len() {
                        let changed = |change: &dyn Fn(&mut Vec<Json>)| {
                            let mut items = items.clone();
                            change(&mut items);
                            Json::Array(items)
                        };
                        replace(changed(&|items| drop(items.remove(at))));
                        replace(changed(&|items| items.insert(at, items[at].clone())));
                        replace(changed(&|items| items.swap(0, at)));
                    }
                    replace(json!([]));
                }
                Json::Object(_) => replace(json!({})),
                Json::Null => {}
            }
        }
        mutants
    }

    fn collect(json: &Json, path: String, into: &mut Vec<String>) {
        match json {
            Json::Array(items) => {
                items.iter().enumerate().for_each(|(at, item)| collect(item, format!("{path}/{at}"), into))
            }
            Json::Object(fields) => {
                fields.iter().for_each(|(key, item)| collect(item, format!("{path}/{key}"), into));
            }
            _ => {}
        }
        into.push(path);
    }

    /// No change makes a proof of what is false, and every change is either refused in words or proves what is true.
    #[test]
    fn thousands_of_changed_files_prove_nothing_that_is_false() {
        let model = model();
        let (mut n_accepted, mut n_refused, mut n_wrong) = (0, 0, 0);
        for method in ["completion", "pairwise", "forward"] {
            let proof = proof(&model, method);
            assert!(judged(&model, &proof).is_ok(), "{method}");
            for mut mutant in mutants(&proof) {
                match judged(&model, &mutant) {
                    Ok((property, _)) => {
                        assert_eq!(model.properties[property].name, "mutex", "{mutant}");
                        n_accepted += 1;
                    }
                    Err(Rejection::DoesNotHold { .. }) => n_refused += 1,
                    Err(wrong) => {
                        assert!(!wrong.to_string().is_empty());
                        n_wrong += 1;
                    }
                }
                // The same facts under the name of a property that is false; the fingerprint is that property's.
                let renamed = Certificate {
                    property: "never".to_owned(),
                    scope: evidence::Scope::Instance,
                    facts: Vec::new(),
                    implies: Vec::new(),
                };
                let head: Json = serde_json::from_str(&proof_file::to_text(&model, &renamed, method)).unwrap();
                mutant["property"] = head["property"].clone();
                mutant["fingerprint"] = head["fingerprint"].clone();
                assert!(judged(&model, &mutant).is_err(), "{mutant}");
            }
        }
        let counts = (n_accepted, n_refused, n_wrong);
        assert!(n_refused > 50 && n_wrong > 1000, "accepted, refused, no proof: {counts:?}");
    }
}
