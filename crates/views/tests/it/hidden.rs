//! Contents that views do not show: which are dead is found, fewer views prove the same, and no changed rule is accepted.

use base::{Budget, SourceFile};
use engine::{Engine, Silent, Task, Verdict};
use evidence::Evidence;
use evidence::certificate::{Certificate, Claim};
use evidence::views::{Hiding, Item, ViewColumn, ViewsProof};
use model::Model;
use views::ByViews;

/// Tickets whose number is dead outside of the queue; a home whose client is dead where it serves nobody.
const TICKETS: &str = "program t(N: 2..) {
  enum Mode { free, busy }
  shared next: 0..=3; shared now: 0..=3; shared asks: [bool; N];
  process P[i in 0..<N] { local mine: 0..=3; loop {
    draw: atomic { await next < 3; mine, next = next, next + 1; }
    ask:  asks[i] = true;
    wait: await now == mine;
    crit: skip;
    out:  atomic { now = now + 1; asks[i] = false; }
  } }
  process H { local mode: Mode; local who: pid; loop {
    h: either { a: atomic { await mode == free; who = any; await asks[who]; mode = busy; } }
    or { b: atomic { await mode == busy; asks[who] = false; mode = free; } } } }
  invariant mutex: forall i != j: !(P[i]@crit && P[j]@crit);
}";

fn load() -> Model {
    lang::load(&SourceFile::new("t.pw", TICKETS), &[]).unwrap_or_else(|wrong| panic!("{wrong:?}")).model
}

fn proof(model: &Model) -> Certificate {
    let task =
        Task { model, properties: model.properties.ids().take(1).collect(), budget: Budget::unlimited(), n_threads: 1 };
    match ByViews::for_every_size().run(&task, &Silent).unwrap().remove(0).verdict {
        Verdict::Holds(Evidence::Certificate(proof)) => *proof,
        other => panic!("{other:?}"),
    }
}

fn is_accepted(model: &Model, proof: &Certificate) -> bool {
    let property = model.properties.iter().next().unwrap();
    audit::certificate::check(model, property, proof, &Budget::unlimited()).is_ok()
}

#[test]
fn dead_contents_are_hidden_and_no_other_rule_is_accepted() {
    let model = load();
    let found = proof(&model);
    let hidden = found.views().unwrap().hidden.clone();
    assert_eq!(hidden.len(), 2, "{hidden:?}");
    assert!(
        hidden.iter().any(|rule| matches!((rule.what, rule.when), (ViewColumn::Local(_), Some(ViewColumn::Local(0)))))
    );
    assert!(
        hidden
            .iter()
            .any(|rule| matches!((rule.what, rule.when), (ViewColumn::Shared(_), Some(ViewColumn::Shared(_)))))
    );
    assert!(is_accepted(&model, &found));
    type Change = (&'static str, fn(&mut ViewsProof));
    let changes: [Change; 8] = [
        ("no rule", |proof| proof.hidden.clear()),
        ("one rule less", |proof| drop(proof.hidden.pop())),
        ("a value less", |proof| proof.hidden.iter_mut().for_each(|rule| rule.is.truncate(rule.is.len() - 1))),
        ("control hidden", |proof| proof.hidden[0].what = ViewColumn::Local(0)),
        ("a column beyond", |proof| proof.hidden[0].what = ViewColumn::Local(99)),
        ("what is shared by what is local", |proof| {
            let is = vec![Item::Value(model::value::Value::Bool(false))];
            proof.hidden.push(Hiding { what: ViewColumn::Shared(0), when: Some(ViewColumn::Local(2)), is });
        }),
        ("by what is hidden", |proof| {
            let (when, is) = (proof.hidden[0].what, vec![Item::Hidden]);
            proof.hidden.push(Hiding { what: ViewColumn::Local(2), when: Some(when), is });
        }),
        ("hidden without a rule", |proof| {
            for view in &mut proof.views {
                view.shared[0] = Item::Hidden;
            }
        }),
    ];
    for (what, change) in changes {
        let mut changed = found.clone();
        let Claim::Views(proof) = &mut changed.facts[0].claim else { panic!("other facts") };
        change(proof);
        assert!(!is_accepted(&model, &changed), "{what}");
    }
}

/// A rule that hides what matters is a coarser view: accepted where it still proves, never where it does not.
#[test]
fn what_is_hidden_may_be_anything() {
    let model = load();
    let mut found = proof(&model);
    let Claim::Views(proof) = &mut found.facts[0].claim else { panic!("other facts") };
    let next = proof.shared.len() - 1;
    let Item::Place(place) = proof.views[0].shared[next] else { panic!("the last column is where H is") };
    // The ticket that is served is never shown.
    proof.hidden.push(Hiding {
        what: ViewColumn::Shared(1),
        when: Some(ViewColumn::Shared(next)),
        is: vec![Item::Place(place)],
    });
    for view in &mut proof.views {
        view.shared[1] = Item::Hidden;
    }
    proof.views.dedup();
    assert!(!is_accepted(&model, &found));
}
