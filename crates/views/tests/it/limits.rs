//! Limits are looked at before there is a first step: where processes may start in very many ways.

use base::{Budget, SourceFile, StopReason};
use engine::{Engine, Silent, Task, Verdict};
use views::ByViews;

/// Each of two processes starts in one of a million ways.
const MANY_STARTS: &str = "program t(N: 2..) {
  shared l: bool;
  process P[i in 0..<N] { public a: [0..=9; 6] = any; loop { s: atomic { await !l; l = true; } c: l = false; } }
  invariant mutex: forall i != j: !(P[i]@c && P[j]@c) || P[i].a[0] == 12;
}";

#[test]
fn very_many_ways_to_start_do_not_outlast_a_limit() {
    let loaded = lang::load(&SourceFile::new("t.pw", MANY_STARTS), &[]).unwrap();
    let properties = loaded.model.properties.ids().collect();
    let task = Task { model: &loaded.model, properties, budget: Budget::unlimited().with_looks(100), n_threads: 1 };
    for engine in [ByViews::for_every_size(), ByViews::default()] {
        for answer in engine.run(&task, &Silent).unwrap() {
            assert!(matches!(answer.verdict, Verdict::Unknown(StopReason::TimeLimit(_))), "{:?}", answer.verdict);
        }
    }
}
