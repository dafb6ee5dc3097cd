//! Checks of proofs keep their limits: each row is a proof whose check has much to do before it comes to what is wrong with it, so that
//! with few looks at the budget it has to be stopped, and without a limit it is refused.

use std::sync::Arc;

use audit::certificate::CertificateError;
use base::{Budget, SourceFile, StopReason};
use driver::checker::{Checker, Single};
use engine::{Silent, Task, Verdict};
use evidence::certificate::{Certificate, Claim, Fact};
use evidence::fine::{FineContent, FineProof, FineState, FineView, LocalItem};
use evidence::views::{LocalColumn, SharedColumn};
use evidence::{Evidence, Scope};
use model::Model;
use model::value::Value;
use rings::ByRings;

fn load(text: &str) -> Model {
    match lang::load(&SourceFile::new("limits.pw", text), &[]) {
        Ok(loaded) => loaded.model,
        Err(diagnostics) => panic!("{diagnostics:?}\n{text}"),
    }
}

/// That the check of a wrong proof is stopped by so many looks at the budget, and comes to what is wrong without a limit.
fn check_stopped(model: &Model, certificate: &Certificate, n_looks: u64) {
    let id = driver::select::find(model, &certificate.property).unwrap();
    let check = |budget| audit::certificate::check(model, &model.properties[id], certificate, &budget);
    let stopped = check(Budget::unlimited().with_looks(n_looks));
    let is_stopped = matches!(stopped, Err(CertificateError::Stopped(StopReason::TimeLimit(_))));
    assert!(is_stopped, "after {n_looks} looks: {stopped:?}");
    let whole = check(Budget::unlimited());
    assert!(matches!(whole, Err(CertificateError::Refused(_) | CertificateError::Malformed(_))), "{whole:?}");
}

/// A view of three cells that may start with anything, without the last of 4096 ways to start.
#[test]
fn how_views_of_cells_start_is_checked_within_limits() {
    let model = load(
        "program free(N: 2..) { shared a: 0..=15 = any; shared b: 0..=15 = any; shared c: 0..=15 = any;
           process P[i in 0..<N] { loop { only: skip; } } invariant fine: a + b + c <= 45; }",
    );
    let number = |number: i64| FineContent::Value(Value::Int(number));
    let all = (0..16 * 16 * 16 - 1).map(|at| [at / 256, at / 16 % 16, at % 16].map(number).to_vec());
    let theta = all.map(|cells| FineState { cells, blocks: vec![0], taken: vec![false] }).collect();
    let cells = model.cells.ids().take(3).map(SharedColumn::Cell).collect();
    let place = model.places.entries().find(|(_, place)| place.labels.iter().any(|label| label == "only")).unwrap().0;
    let views = FineProof {
        family: model.families.ids().next().unwrap(),
        local: vec![LocalColumn::Control],
        states: vec![vec![LocalItem::Place(place)]],
        views: vec![FineView { cells, k: 1, blocks: vec![0], theta }],
        is_joint: false,
        flows: Vec::new(),
    };
    let facts = vec![Fact { claim: Claim::Fine(views), uses: Vec::new() }];
    let certificate = Certificate { property: "fine".to_owned(), scope: Scope::Instance, facts, implies: Vec::new() };
    check_stopped(&model, &certificate, 10);
}

/// Windows of which one is listed twice: before that is seen, the program is made at each size that shows words.
#[test]
fn sizes_of_windows_are_made_within_limits() {
    let model = load(
        "program r(N: 2..) { shared a: [bool; N];
           process P[i in 0..<N] { loop { l: a[(i + 1) % N] = false; m: skip; } } invariant p: forall i: !a[i]; }",
    );
    let properties = vec![driver::select::find(&model, "p").unwrap()];
    let task = Task { model: &model, properties, budget: Budget::unlimited(), n_threads: 1 };
    let answer = Single(Arc::new(ByRings::for_every_size())).check(&task, &Silent).unwrap().remove(0);
    let Verdict::Holds(Evidence::Certificate(mut certificate)) = answer.verdict else { panic!("{:?}", answer.verdict) };
    let Some(Claim::Rings(windows)) = certificate.facts.last_mut().map(|fact| &mut fact.claim) else {
        panic!("no windows")
    };
    windows.windows.push(windows.windows[0].clone());
    check_stopped(&model, &certificate, 1);
}
