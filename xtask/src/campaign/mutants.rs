//! Changed certificates and changed programs: what the checker accepts must be true.
//!
//! In: a program and a certificate about it. Out: how many changed ones the checker accepts and refuses, and which of the accepted
//! prove what brute force contradicts. A certificate is changed as the document that it is on disk, whatever its format says: an element
//! of a list is lost, doubled or exchanged with another, a number or a name is another one. A program is changed in one word of one line.

use std::time::Duration;

use audit::certificate;
use base::{Budget, CancelToken};
use driver::{proof, select};
use evidence::proof_file::ProofFile;
use evidence::scope::Scope;
use evidence::{Certificate, proof_file};
use model::Model;
use model::property::PropertyKind;
use serde_json::Value as Json;
use testkit::changes;
use testkit::choices::Choices;

use super::case::{CampaignCase, Right, model_of};
use super::judge::includes_instance;

/// The check of a changed proof checks its budget so often at most; one that takes longer is refused.
const MOST_LOOKS: u64 = 20_000;
const LONGEST: Duration = Duration::from_secs(60);

/// So many changes of each kind for a certificate.
const N_CHANGED_PROOFS: usize = 3;
const N_CHANGED_PROGRAMS: usize = 1;

/// What came of changing a certificate or its program.
#[derive(Default)]
pub struct MutantResult {
    pub n_accepted: u64,
    pub n_refused: u64,
    /// What was accepted and is false, in words.
    pub wrong: Vec<String>,
}

/// Changes a certificate, and the program that it is about.
pub fn try_all(case: &CampaignCase, certificate: &Certificate, method: &str, seed: u64) -> MutantResult {
    let mut tried = MutantResult::default();
    let mut choices = Choices::from_seed(seed ^ 0x5EED ^ (method.len() as u64) << 32);
    let text = proof_file::to_text(&case.model, certificate, method);
    if let Ok(mut document) = serde_json::from_str::<Json>(&text) {
        if let Some(head) = document.as_object_mut() {
            head.remove("digest");
        }
        for _ in 0..N_CHANGED_PROOFS {
            changed_proof(case, document.clone(), &mut choices, &mut tried);
        }
    }
    if case.is_text {
        for _ in 0..N_CHANGED_PROGRAMS {
            changed_program(case, certificate, &mut choices, &mut tried);
        }
    }
    tried
}

/// What may be used for checking one changed proof.
fn budget() -> Budget {
    Budget::new(Some(LONGEST), None, CancelToken::default()).with_looks(MOST_LOOKS)
}

fn changed_proof(case: &CampaignCase, mut document: Json, choices: &mut Choices, tried: &mut MutantResult) {
    let mut path = String::new();
    let before = document.clone();
    for _ in 0..=choices.below(2) {
        path.push(' ');
        if let Some(facts) = document.get_mut("facts") {
            change(facts, choices, &mut path);
        }
    }
    if document == before {
        return;
    }
    let Ok(file) = ProofFile::parse(document.to_string().as_bytes()) else {
        tried.n_refused += 1;
        return;
    };
    let scope = file.scope().clone();
    match proof::check(file, &case.model, &budget()) {
        Ok((property, _)) => {
            tried.n_accepted += 1;
            let name = &case.model.properties[property].name;
            if !is_proved_of(case, property.index(), &scope) {
                tried
                    .wrong
                    .push(format!("the checker accepts a certificate of `{name}` changed at{path}, and it is false"));
            }
        }
        Err(_) => tried.n_refused += 1,
    }
}

/// Whether what a certificate claims is right, at the other sizes that it speaks of, too.
fn is_proved_of(case: &CampaignCase, property: usize, scope: &Scope) -> bool {
    let is_right = |right: Right| is_proved(&case.model, property, right);
    let elsewhere = match scope {
        Scope::AllSizes { parameter, from, .. } if case.is_text => {
            case.sizes(parameter).counterexample(*from, property, is_right)
        }
        _ => None,
    };
    (!includes_instance(case, scope) || is_right(case.right[property])) && elsewhere.is_none()
}

/// Whether what a certificate of the property proves is right.
fn is_proved(model: &Model, property: usize, right: Right) -> bool {
    match model.properties.iter().nth(property).map(|property| &property.kind) {
        Some(PropertyKind::Reachable(_)) => right.violated,
        _ => right.holds,
    }
}

/// Changes one thing in a document, at a random place.
fn change(node: &mut Json, choices: &mut Choices, path: &mut String) {
    match node {
        Json::Array(items) if !items.is_empty() => {
            let at = choices.below(items.len());
            match choices.below(10) {
                0 => {
                    path.push_str(&format!("[-{at}]"));
                    items.remove(at);
                }
                1 => {
                    path.push_str(&format!("[+{at}]"));
                    items.push(items[at].clone());
                }
                2 => {
                    let other = choices.below(items.len());
                    path.push_str(&format!("[{at}<->{other}]"));
                    items.swap(at, other);
                }
                _ => {
                    path.push_str(&format!("[{at}]"));
                    change(&mut items[at], choices, path);
                }
            }
        }
        Json::Object(fields) if !fields.is_empty() => {
            let names: Vec<String> = fields.keys().cloned().collect();
            let name = choices.pick(&names);
            path.push_str(&format!(".{name}"));
            if let Some(field) = fields.get_mut(name) {
                change(field, choices, path);
            }
        }
        Json::Number(number) => {
            let old = number.as_i64().unwrap_or(0);
            let new = [old + 1, old - 1, 0, 1, 2][choices.below(5)];
            path.push_str(&format!("={new}"));
            *node = Json::from(new.max(0));
        }
        Json::Bool(truth) => {
            path.push_str("=!");
            *truth = !*truth;
        }
        Json::Array(items) => items.push(Json::from(0)),
        Json::String(text) => {
            // `P[0].x` becomes `P[1].x`.
            *text = match choices.below(2) {
                0 => text.replace('0', "2").replace('1', "0").replace('2', "1"),
                _ => text.replace('1', "2"),
            };
            path.push_str(&format!("={text}"));
        }
        Json::Null | Json::Object(_) => {}
    }
}

fn changed_program(case: &CampaignCase, certificate: &Certificate, choices: &mut Choices, tried: &mut MutantResult) {
    let Some(text) = changes::program(&case.text, choices) else { return };
    let Some(model) = model_of(&text) else { return };
    let Ok(property) = select::find(&model, &certificate.property) else { return };
    match certificate::check(&model, &model.properties[property], certificate, &budget()) {
        Ok(_) => {
            tried.n_accepted += 1;
            let Ok(changed) = CampaignCase::of_model(model, text, true) else { return };
            if !is_proved_of(&changed, property.index(), &certificate.scope) {
                let line = changed.text.lines().find(|line| !case.text.contains(*line)).unwrap_or("a line less");
                tried.wrong.push(format!("the checker accepts the certificate for a program with `{}`", line.trim()));
            }
        }
        Err(_) => tried.n_refused += 1,
    }
}
