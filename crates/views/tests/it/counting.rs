//! Proofs by counting: what is proved for every size, what is not, changed proofs, and random programs against brute force.

use std::fmt::Write;
use std::time::Duration;

use base::{Budget, SourceFile};
use evidence::certificate::{Certificate, Claim, Fact};
use evidence::counting::{CountingItem, CountingProof, NamedEnds};
use evidence::scope::Scope;
use model::Model;
use model::property::PropertyKind;
use model::value::Value;
use testkit::Product;
use testkit::choices::Choices;
use views::counting::prove::{Counting, least_size};
use views::race::as_states;

use crate::sentences::all_true;

fn load(text: &str, given: &[(&str, i64)]) -> Option<Model> {
    let given: Vec<(String, i64)> = given.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    lang::load(&SourceFile::new("c.pw", text), &given).ok().map(|loaded| loaded.model)
}

fn example(name: &str) -> String {
    std::fs::read_to_string(format!("{}/../../examples/{name}.pw", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn budget() -> Budget {
    Budget::new(Some(Duration::from_secs(20)), None, Default::default())
}

/// The proofs that are found, each accepted by the checker, by the name of the property.
fn proofs(model: &Model, about: &str) -> Vec<(String, Certificate)> {
    proofs_with(model, about, false)
}

fn proofs_with(model: &Model, about: &str, signs_first: bool) -> Vec<(String, Certificate)> {
    let budget = budget();
    let kinds: Vec<PropertyKind> = model.properties.ids().map(|property| as_states(model, property)).collect();
    let Ok(counting) = Counting::new(model, &budget) else { return Vec::new() };
    let counting = if signs_first { counting.showing_signs_first() } else { counting };
    let Ok(found) = counting.prove(&kinds.iter().collect::<Vec<_>>()) else { return Vec::new() };
    let scope = |proof: &CountingProof| match counting.parameter() {
        None => Scope::Instance,
        Some(id) => Scope::AllSizes {
            parameter: model.parameters[id].name.clone(),
            from: least_size(model, id, proof),
            checked: Vec::new(),
        },
    };
    let mut proofs = Vec::new();
    for (at, property) in model.properties.iter().enumerate() {
        let Some((proof, _)) = found.get(&at) else { continue };
        let facts = vec![Fact { claim: Claim::Counting(proof.clone()), uses: Vec::new() }];
        let certificate =
            Certificate { property: property.name.clone(), scope: scope(proof), facts, implies: Vec::new() };
        if let Err(error) = audit::certificate::check(model, property, &certificate, &Budget::unlimited()) {
            panic!("the checker refuses {}: {error}\n{about}", property.name);
        }
        proofs.push((property.name.clone(), certificate));
    }
    proofs
}

fn proved(text: &str) -> Vec<String> {
    proofs(&load(text, &[]).unwrap(), text).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn sums_and_several_families_are_proved_for_every_size() {
    for (name, properties) in [
        ("adders", &["no_errors", "counted", "total", "mutex"][..]),
        ("permits", &["no_errors", "at_most", "sum"]),
        ("readers_writers", &["no_errors", "exclusive", "one", "counted"]),
        ("bounded_buffer", &["no_errors", "bounds", "mutex_owner"]),
        ("turnstile", &["no_errors", "exclusive"]),
    ] {
        let found = proved(&example(name));
        assert!(properties.iter().all(|one| found.iter().any(|name| name == one)), "{name}: {found:?}");
    }
}

#[test]
fn broken_twins_are_not_proved() {
    assert_eq!(proved(&example("adders_broken")), ["deadlock_free"]);
    assert!(!proved(&example("readers_writers_broken")).contains(&"exclusive".to_owned()));
}

/// Joins by a counter, by flags; additions by a lock, in one step; other amounts, sums that fall, and copies.
#[test]
fn additions_and_joins_of_other_kinds_are_proved() {
    let atomic = "program a(N: 2..) { shared sum: 0..=N; shared arrived: 0..=N; \
        process P[i in 0..<N] { add: sum += 1; join: arrived += 1; } \
        process Main { wait: await arrived == N; check: assert sum == N; } }";
    let threes = "program a(N: 2..) { shared m: lock; shared sum: 0..=3*N; shared arrived: 0..=N; \
        process P[i in 0..<N] { local t: 0..=3*N; take: acquire m; read: t = sum; add: sum = t + 3; give: release m; \
        join: arrived += 1; } \
        process Main { local r: 0..=3*N; wait: await arrived == N; copy: r = sum; check: assert r == 3 * N; } }";
    let falls = "program a(N: 2..) { shared left: 0..=N = N; shared flag: [bool; N]; \
        process P[i in 0..<N] { work: skip; down: atomic { left -= 1; flag[i] = true; } } \
        invariant c: left == count(i: !flag[i]); invariant d: left == 0 <=> forall i: P[i]@end; }";
    let fixed = "program a { shared sum: 0..=1000; shared left: 0..=100 = 100; \
        process P[i in 0..<100] { add: sum += 1; join: left -= 1; } \
        process Main { wait: await left == 0; check: assert sum == 100; } }";
    for (text, property) in [
        (atomic, "no_errors"),
        (threes, "no_errors"),
        (falls, "c"),
        (falls, "d"),
        (falls, "no_errors"),
        (fixed, "no_errors"),
    ] {
        assert!(proved(text).contains(&property.to_owned()), "{property}: {text}");
    }
    // One adds nothing, or too much, or the join waits for fewer.
    for (right, wrong) in
        [("arrived == N;", "arrived + 1 == N;"), ("sum += 1", "sum += 2"), ("0..=N; shared a", "0..<N; shared a")]
    {
        let broken = atomic.replace(right, wrong);
        assert_ne!(broken, atomic);
        assert!(!proved(&broken).contains(&"no_errors".to_owned()), "{broken}");
    }
}

#[test]
fn changed_proofs_are_refused() {
    let text = example("adders");
    let model = load(&text, &[]).unwrap();
    let (_, certificate) = proofs(&model, &text).into_iter().find(|(name, _)| name == "counted").unwrap();
    let Claim::Counting(proof) = &certificate.facts[0].claim else { panic!("another claim") };
    let property = model.properties.iter().find(|one| one.name == "counted").unwrap();
    let accepts = |proof: CountingProof| {
        let facts = vec![Fact { claim: Claim::Counting(proof), uses: Vec::new() }];
        let changed = Certificate { facts, ..certificate.clone() };
        audit::certificate::check(&model, property, &changed, &budget()).is_ok()
    };
    assert!(accepts(proof.clone()));
    for at in 0..proof.views.len() {
        let mut fewer = proof.clone();
        fewer.views.remove(at);
        assert!(!accepts(fewer), "without {:?}", proof.views[at]);
    }
    for at in 0..proof.sums.len() {
        let mut changed = proof.clone();
        changed.sums[at].constant += 1;
        assert!(!accepts(changed), "another constant");
        for weight in 0..proof.sums[at].weights.len() {
            let mut changed = proof.clone();
            changed.sums[at].weights[weight].weight += 1;
            assert!(!accepts(changed), "another weight");
        }
    }
    assert!(!accepts(CountingProof { sums: Vec::new(), ..proof.clone() }), "without sums");
    let smaller = Certificate {
        scope: Scope::AllSizes { parameter: "N".to_owned(), from: 1, checked: Vec::new() },
        ..certificate.clone()
    };
    assert!(audit::certificate::check(&model, property, &smaller, &budget()).is_err());
}

/// What is known after a test of a counted number: barriers, and queues of so many tasks.
const BARRIER: &str = "program b(N: 2..) { shared arrived: 0..=N; \
    process W[i in 0..<N] { work: skip; arrive: arrived += 1; wait: await arrived == N; after: skip; } \
    invariant safe: forall i, j: !(W[i]@after && W[j]@work); }";
const QUEUE: &str = "program q(N: 2..) { shared next: 0..=4; shared done: 0..=4; shared m: lock; \
    process W[i in 0..<N] { loop { get: acquire m; tst: if next < 4 { inc: next += 1; go: release m; fin: done += 1; } \
    else { rel: release m; break; } } } \
    invariant all: (forall i: W[i]@end) => done == 4; }";

/// References are counted, and whoever gives back the last one frees what they are to; the owner has one, too.
const REFERENCES: &str = "program r(N: 2..) { shared refs: 0..=N + 1 = 1; shared freed: bool; \
    process P[i in 0..<N] { local last: bool; \
    get: atomic { if refs > 0 { refs += 1; } else { goto out; } } use: assert !freed; \
    put: atomic { refs -= 1; last = refs == 0; } was: if last { free: freed = true; } out: skip; } \
    process Owner { local last: bool; drop: atomic { refs -= 1; last = refs == 0; } was: if last { free: freed = true; } } \
    invariant alive: forall i: P[i]@{use, put} => !freed; }";

#[test]
fn tests_of_counted_numbers_are_remembered() {
    for (text, property) in [
        (BARRIER, "safe"),
        (BARRIER, "no_errors"),
        (QUEUE, "all"),
        (QUEUE, "no_errors"),
        (REFERENCES, "no_errors"),
        (REFERENCES, "alive"),
    ] {
        assert!(proved(text).contains(&property.to_owned()), "{property}: {text}");
    }
    for (text, right, wrong, property) in [
        (BARRIER, "arrived == N", "arrived + 1 >= N", "safe"),
        (BARRIER, "work: skip; arrive: arrived += 1;", "arrive: arrived += 1; work: skip;", "safe"),
        (BARRIER, "after: skip;", "after: arrived -= 1; wait2: await arrived == 0; goto work;", "safe"),
        (QUEUE, "next < 4", "next <= 4", "no_errors"),
        (QUEUE, "inc: next += 1; go: release m;", "go: release m; inc: next += 1;", "no_errors"),
        (QUEUE, "done == 4", "done == 3", "all"),
        (REFERENCES, "if refs > 0 { refs += 1; } else { goto out; }", "refs += 1;", "alive"),
        (
            REFERENCES,
            "last = refs == 0; } was: if last { free: freed = true; } out",
            "last = refs <= 1; } was: if last { free: freed = true; } out",
            "alive",
        ),
    ] {
        let broken = text.replace(right, wrong);
        assert_ne!(broken, text);
        assert!(!proved(&broken).contains(&property.to_owned()), "{property}: {broken}");
    }
}

/// The proof of a property, and whether the checker accepts a changed one.
fn changeable(text: &str, name: &str) -> (CountingProof, impl Fn(CountingProof) -> bool) {
    let model = load(text, &[]).unwrap();
    let (_, certificate) = proofs(&model, text).into_iter().find(|(one, _)| one == name).unwrap();
    let Claim::Counting(proof) = certificate.facts[0].claim.clone() else { panic!("another claim") };
    let name = name.to_owned();
    let accepts = move |proof: CountingProof| {
        let property = model.properties.iter().find(|one| one.name == name).unwrap();
        let facts = vec![Fact { claim: Claim::Counting(proof), uses: Vec::new() }];
        let changed = Certificate { facts, ..certificate.clone() };
        audit::certificate::check(&model, property, &changed, &budget()).is_ok()
    };
    (proof, accepts)
}

/// Main joins the threads one after the other.
const JOINS: &str = "program j(N: 2..) { shared m: lock; shared sum: 0..=N; \
    process P[i in 0..<N] { public done: bool; local t: 0..=N; \
    take: acquire m; read: t = sum; add: sum = t + 1; give: release m; fin: done = true; } \
    process Main { for k in P { join: await P[k].done; } check: assert sum == N; } \
    invariant all: Main@check => forall k in P: P[k].done; }";

#[test]
fn joins_one_after_the_other_are_proved() {
    for property in ["no_errors", "deadlock_free", "all"] {
        assert!(proved(JOINS).contains(&property.to_owned()), "{property}: {:?}", proved(JOINS));
    }
    for (right, wrong, property) in [
        ("join: await P[k].done;", "join: await P[k].done || sum == N;", "all"),
        ("join: await P[k].done;", "join: if P[k].done { break; }", "all"),
        ("fin: done = true;", "fin: done = true; undo: done = false;", "all"),
        ("fin: done = true;", "fin: done = true; undo: done = false;", "deadlock_free"),
        ("fin: done = true;", "", "deadlock_free"),
        ("add: sum = t + 1; give: release m;", "give: release m; add: sum = t + 1;", "no_errors"),
    ] {
        let broken = JOINS.replace(right, wrong);
        assert_ne!(broken, JOINS);
        assert!(!proved(&broken).contains(&property.to_owned()), "{property}: {broken}");
    }
}

/// A branch begins with the loop: its first round begins without that the loop is entered.
#[test]
fn a_branch_that_begins_with_a_join_is_not_followed() {
    let text = "program b(N: 2..) { shared x: bool; shared b: [bool; N]; \
        process P[i in 0..<N] { s: b[i] = true; a: await x; c: skip; } \
        process Q { either { e: skip; } or { for k in P { y: BODY } z: x = true; } } \
        invariant p: forall i in P: !P[i]@c; allow deadlock; }";
    for body in ["await b[k];", "skip;"] {
        assert!(!proved(&text.replace("BODY", body)).contains(&"p".to_owned()), "{body}");
    }
}

/// A loop that only one process can be there for: nobody else has its first turn.
#[test]
fn a_join_that_only_one_process_comes_to_is_followed() {
    let text = "program z(N: 1..) { shared m: sem = 1; process P[i in 0..<N] { public f: bool; acquire m; f = true; } \
        process J { await forall k: P[k].f; for k in P { j2: skip; } } }";
    assert!(proved(text).contains(&"no_errors".to_owned()));
}

#[test]
fn changed_marks_are_refused() {
    let (proof, accepts) = changeable(JOINS, "all");
    assert!(accepts(proof.clone()));
    let mut n_changed = 0;
    for at in 0..proof.views.len() {
        let mut fewer = proof.clone();
        fewer.views.remove(at);
        assert!(!accepts(fewer), "without {:?}", proof.views[at]);
        let mark = proof.views[at].local.len() - 1;
        for item in [CountingItem::Value(Value::None), CountingItem::Slot(0), CountingItem::Any] {
            let mut changed = proof.clone();
            changed.views[at].local[mark] = item;
            if changed != proof && !proof.views.contains(&changed.views[at]) {
                assert!(!accepts(changed), "another mark in {:?}", proof.views[at]);
                n_changed += 1;
            }
        }
    }
    assert!(n_changed > 20, "{n_changed}");
}

#[test]
fn changed_signs_are_refused() {
    let (proof, accepts) = changeable(BARRIER, "safe");
    assert!(accepts(proof.clone()) && !proof.signs.is_empty());
    for at in 0..proof.signs.len() {
        let mut changed = proof.clone();
        changed.signs[at].constant += 1;
        assert!(!accepts(changed), "another constant");
        let mut changed = proof.clone();
        changed.signs[at].cells[0].1 = -changed.signs[at].cells[0].1;
        assert!(!accepts(changed), "another multiple");
        let mut changed = proof.clone();
        changed.signs[at].sizes.clear();
        assert!(!accepts(changed), "without the size");
        let mut changed = proof.clone();
        changed.signs.remove(at);
        assert!(!accepts(changed), "without the sign");
    }
    for at in 0..proof.views.len() {
        let mut fewer = proof.clone();
        fewer.views.remove(at);
        assert!(!accepts(fewer), "without {:?}", proof.views[at]);
        let mut turned = proof.clone();
        let sign = turned.views[at].shared.last_mut().unwrap();
        *sign = CountingItem::Value(Value::Int(1));
        assert!(turned == proof || !accepts(turned), "another sign in {:?}", proof.views[at]);
    }
}

/// How many have passed `b`, and a local that names a process: what it holds is no part of a class.
const NAMING: &str = "program a(N: 2..) { shared who: pid(P)? = none; shared c: 0..=N; \
    process P[i in 0..<N] { local seen: pid(P)? = none; loop { a: idle; \
    b: atomic { c = c + 1; seen = who; } d: atomic { await who == none; who = i; } e: who = none; \
    f: atomic { c = c - 1; seen = none; } } } \
    invariant cnt: c == count(i: P[i]@{d, e, f}); }";

/// It would be passed over by the checker, and taken for the weight of the class by whoever puts the sum into words.
#[test]
fn a_weight_of_what_is_no_class_is_refused() {
    let (proof, accepts) = changeable(NAMING, "cnt");
    assert!(accepts(proof.clone()));
    let mut n_changed = 0;
    for (at, sum) in proof.sums.iter().enumerate() {
        for weight in &sum.weights {
            for item in [CountingItem::Value(Value::None), CountingItem::Slot(0)] {
                let mut changed = proof.clone();
                let mut other = weight.clone();
                other.class.iter_mut().filter(|one| **one == CountingItem::Any).for_each(|one| *one = item);
                if other.class == weight.class {
                    continue;
                }
                other.weight += 5;
                changed.sums[at].weights.insert(0, other);
                assert!(!accepts(changed), "{weight:?} with {item:?}");
                n_changed += 1;
            }
        }
    }
    assert!(n_changed >= 2, "{:?}", proof.sums);
}

/// The first or the last process waits for all others, gives something to them, or owns an element of an array.
const LEADER: &str = "program l(N: 2..) { shared arrived: 0..<N; shared go: bool; \
    process P[i in 0..<N] { if i == 0 { lwait: await arrived == N - 1; lgo: go = true; } \
    else { work: skip; add: arrived += 1; fwait: await go; } after: skip; } \
    invariant safe: forall i, j: !(P[i]@after && P[j]@work); invariant named: go => !P[0]@lwait; }";
const LAST: &str = "program l(N: 2..) { shared open: bool; shared busy: bool; shared flag: [bool; N]; \
    process P[i in 0..<N] { if i == N - 1 { open: flag[i] = true; } else { \
    wait: atomic { await flag[N - 1] && !busy; busy = true; } crit: skip; out: busy = false; } } \
    invariant mutex: forall i != j: !(P[i]@crit && P[j]@crit); \
    invariant opened: forall i: P[i]@crit => !P[N - 1]@open; invariant only: forall i: i < N - 1 => !flag[i]; }";
const ENDS: &str = "program l(N: 3..) { shared count: 0..=N; shared seen: pid?; \
    process P[i in 0..<N] { if i > 0 && i < N - 1 { inner: atomic { count += 1; if seen == none { seen = i; } } } \
    else { outer: await count == N - 2; } done: skip; } \
    invariant two: (exists i: P[i]@done && (i == 0 || i == N - 1)) => count == N - 2; \
    invariant inside: seen != 0 && seen != P[N - 1]; }";

#[test]
fn named_processes_beside_counting_are_proved() {
    for (text, property) in [
        (LEADER, "safe"),
        (LEADER, "named"),
        (LEADER, "no_errors"),
        (LEADER, "deadlock_free"),
        (LAST, "mutex"),
        (LAST, "opened"),
        (LAST, "deadlock_free"),
        (ENDS, "no_errors"),
        (ENDS, "two"),
        (ENDS, "inside"),
    ] {
        assert!(proved(text).contains(&property.to_owned()), "{property}: {:?} {text}", proved(text));
    }
    for (text, right, wrong, property) in [
        (LEADER, "arrived == N - 1", "arrived >= 1", "safe"),
        (LEADER, "i == 0", "i <= 1", "no_errors"),
        (LEADER, "i == 0", "i == N - 1", "named"),
        (LEADER, "0..<N; shared", "0..<N-1; shared", "no_errors"),
        (LAST, "&& !busy", "", "mutex"),
        (LAST, "await flag[N - 1]", "await flag[0]", "deadlock_free"),
        (LAST, "i == N - 1", "i == 0", "opened"),
        (ENDS, "count == N - 2; }", "count == N - 3; }", "two"),
        (ENDS, "i > 0 &&", "", "inside"),
        (ENDS, "i > 0 &&", "", "deadlock_free"),
    ] {
        let broken = text.replace(right, wrong);
        assert_ne!(broken, text);
        assert!(!proved(&broken).contains(&property.to_owned()), "{property}: {broken}");
    }
}

#[test]
fn changed_names_are_refused() {
    let (proof, accepts) = changeable(LEADER, "safe");
    assert!(accepts(proof.clone()));
    assert_eq!((proof.named[0].first, proof.named[0].last), (1, 0));
    for (first, last) in [(0, 0), (0, 1), (2, 0), (1, 1), (usize::MAX, 1)] {
        let mut changed = proof.clone();
        changed.named[0] = NamedEnds { first, last, ..proof.named[0] };
        assert!(!accepts(changed), "{first} and {last} are named");
    }
    assert!(!accepts(CountingProof { named: Vec::new(), ..proof.clone() }), "nobody is named");
    let twice = [proof.named.clone(), proof.named.clone()].concat();
    assert!(!accepts(CountingProof { named: twice, ..proof.clone() }), "named twice");
    for at in 0..proof.views.len() {
        let mut fewer = proof.clone();
        fewer.views.remove(at);
        assert!(!accepts(fewer), "without {:?}", proof.views[at]);
    }
}

struct Writer<'c> {
    choices: &'c mut Choices,
    /// Whether processes are named.
    names: bool,
}

impl Writer<'_> {
    fn pick(&mut self, items: &[&str]) -> String {
        (*self.choices.pick(items)).to_owned()
    }

    fn test(&mut self) -> String {
        if self.names && self.choices.chance(40) {
            return self.pick(&[
                "i == 0",
                "i > 0",
                "i != N - 1",
                "i < N - 1",
                "i == N - 1",
                "i <= 1",
                "flag[0]",
                "!flag[N - 1]",
                "who == 0",
                "who != N - 1",
                "P[0].x",
                "!P[N - 1].x",
                "count(k: flag[k] && k != 0) > 0",
                "forall k: k == 0 || flag[k]",
                "arrived == N - 1",
                "forall k: k == N - 1 || !P[k].x",
            ]);
        }
        self.pick(&[
            "sum == N",
            "sum < N",
            "sum > 0",
            "sum == 0",
            "sum == 1",
            "arrived == N",
            "arrived + 1 < N",
            "sum == arrived",
            "t == sum",
            "c > 0",
            "c == 2",
            "b",
            "!b",
            "who == i",
            "who == none",
            "who != i",
            "forall k: flag[k]",
            "exists k: flag[k] && k != i",
            "forall k: k != i => !flag[k]",
            "count(k: flag[k]) < 2",
            "count(k: flag[k]) == arrived",
            "m.owner == none",
            "flag[i]",
        ])
    }

    fn effect(&mut self) -> String {
        if self.names && self.choices.chance(30) {
            return self.pick(&[
                "flag[0] = true;",
                "flag[N - 1] = !flag[0];",
                "who = 0;",
                "who = N - 1;",
                "x = !x;",
                "x = i == 0;",
            ]);
        }
        self.pick(&[
            "sum = sum + 1;",
            "sum = sum - 1;",
            "t = sum;",
            "sum = t;",
            "sum = t + 1;",
            "arrived = arrived + 1;",
            "arrived = 0;",
            "sum = N;",
            "c = c - 1;",
            "c = c + 1;",
            "c = 1;",
            "b = true;",
            "b = false;",
            "b = !b;",
            "flag[i] = true;",
            "flag[i] = false;",
            "who = i;",
            "who = none;",
            "sum, arrived = arrived, sum;",
            "skip;",
        ])
    }

    fn statement(&mut self, label: usize) -> String {
        let step = match self.choices.below(9) {
            0 | 1 => format!("await {};", self.test()),
            2 => "acquire m;".to_owned(),
            3 => "release m;".to_owned(),
            4 => self.pick(&["acquire s;", "release s;"]),
            5 => format!("atomic {{ await {}; {} }}", self.test(), self.effect()),
            6 => format!("atomic {{ {} {} if {} {{ {} }} }}", self.effect(), self.effect(), self.test(), self.effect()),
            _ => self.effect(),
        };
        format!("l{label}: {step}")
    }

    /// Processes that arrive, leave and wait for all, once or round and round.
    fn phases(&mut self) -> String {
        let mut text = "program r(N: 2..) {\n  shared a: 0..=N; shared d: 0..=N = N; shared q: 0..=3; shared b: bool; shared m: lock;\n".to_owned();
        let tests = [
            "a == N",
            "a >= N - 1",
            "d == 0",
            "d <= 1",
            "q < 3",
            "q == 2",
            "a + d == N",
            "b",
            "a > 0",
            "d < N",
            "q != 0",
        ];
        let effects = ["a += 1;", "d -= 1;", "q += 1;", "b = true;", "a += 1; d -= 1;", "d += 1;", "q -= 1;"];
        let n = 3 + self.choices.below(4);
        let step = |writer: &mut Writer<'_>| match writer.choices.below(7) {
            0 | 1 => format!("await {};", writer.pick(&tests)),
            2 => format!("if {} {{ {} }}", writer.pick(&tests), writer.pick(&effects[..4])),
            3 => format!("atomic {{ await {}; {} }}", writer.pick(&tests), writer.pick(&effects)),
            4 => writer.pick(&["acquire m;", "release m;", "skip;"]),
            _ => format!("atomic {{ {} }}", writer.pick(&effects)),
        };
        let body: Vec<String> = (0..n).map(|label| format!("l{label}: {}", step(self))).collect();
        let (open, close) = if self.choices.chance(25) { ("loop {", "}") } else { ("", "") };
        writeln!(text, "  process P[i in 0..<N] {{ {open} {} {close} }}", body.join(" ")).unwrap();
        if self.choices.chance(50) {
            let (test, then) =
                (self.pick(&tests), self.pick(&["b = true;", "assert a == N;", "assert d < N || b;", "q = 0;"]));
            writeln!(text, "  process Main {{ join: await {test}; then: {then} }}").unwrap();
        }
        let label = |writer: &mut Writer<'_>| writer.choices.below(n);
        let (x, y, z) = (label(self), label(self), label(self));
        writeln!(text, "  invariant v0: forall j, k in P: !(P[j]@l{x} && P[k]@l{y});").unwrap();
        writeln!(text, "  invariant v1: b => a == N || d == 0;").unwrap();
        writeln!(text, "  invariant v2: forall k in P: P[k]@l{z} => a > 0 && d < N;").unwrap();
        writeln!(text, "  invariant v3: (exists k in P: P[k]@end) => a == N || d == 0 || q >= 2;").unwrap();
        writeln!(text, "  invariant v4: (forall k in P: P[k]@end) => a + q > 2;").unwrap();
        writeln!(text, "  race_free a, d, q, b;").unwrap();
        writeln!(text, "  reachable v5: exists j != k in P: P[j]@l{z} && P[k]@end;\n}}").unwrap();
        text
    }

    /// What a single process does round by round, and then.
    fn round(&mut self, label: usize) -> String {
        let test = self.pick(&["flag[k]", "!flag[k]", "flag[k] || b", "P[k].x", "who != k", "who == k || flag[k]"]);
        let effect = self.pick(&["b = true;", "who = k;", "sum = sum + 1;", "c = 1;", "skip;", "arrived = 0;"]);
        match self.choices.below(9) {
            0..=3 => format!("for k in P {{ r{label}: await {test}; }}"),
            4 => format!("for k in P {{ r{label}: await {test}; s{label}: {effect} }}"),
            5 => format!("for k in P {{ r{label}: if {test} {{ s{label}: {effect} }} }}"),
            6 => format!("for k in P {{ r{label}: if {test} {{ break; }} s{label}: {effect} }}"),
            7 => format!("for k in P {{ for j in P {{ r{label}: await {test} || flag[j]; }} }}"),
            _ => format!("r{label}: {effect}"),
        }
    }

    /// Processes that are joined one after the other.
    fn rounds(&mut self) -> String {
        let text = self.program();
        let main = text.find("  process Main").unwrap_or_else(|| text.find("  invariant v0").unwrap());
        let n = 1 + self.choices.below(3);
        let rounds: Vec<String> = (0..n).map(|label| self.round(label)).collect();
        let check = self.pick(&["sum == N", "sum == arrived", "count(k in P: flag[k]) == N", "b", "arrived == N"]);
        let (open, close) = if self.choices.chance(25) { ("loop {", "}") } else { ("", "") };
        let mut with = text[..main].to_owned();
        writeln!(with, "  process Main {{ {open} {} then: assert {check} || c == 2; {close} }}", rounds.join(" "))
            .unwrap();
        writeln!(with, "  invariant m0: Main@then => forall k in P: flag[k];").unwrap();
        writeln!(with, "  invariant m1: Main@then => forall k in P: P[k].x || who == k;").unwrap();
        writeln!(with, "  invariant m2: Main@then => forall k in P: !P[k]@l0;").unwrap();
        with + &text[text.find("  invariant v0").unwrap()..]
    }

    fn program(&mut self) -> String {
        let mut text =
            "program r(N: 2..) {\n  shared sum: 0..=N; shared arrived: 0..=N; shared c: 0..=2 = 1; shared b: bool;\n  \
            shared m: lock; shared s: sem(2) = 1; shared flag: [bool; N]; shared who: pid(P)?;\n"
                .to_owned();
        let n = 2 + self.choices.below(4);
        let body: Vec<String> = (0..n).map(|label| self.statement(label)).collect();
        let public = if self.names { "public x: bool;" } else { "" };
        let (open, close) = if self.choices.chance(40) { ("loop {", "}") } else { ("", "") };
        writeln!(text, "  process P[i in 0..<N] {{ local t: 0..=N; {public} {open} {} {close} }}", body.join(" "))
            .unwrap();
        if self.choices.chance(50) {
            let test =
                self.pick(&["arrived == N", "sum == N", "forall k in P: flag[k]", "forall k in P: P[k]@l1", "c == 0"]);
            let check =
                self.pick(&["sum == N", "sum == arrived", "sum <= arrived", "count(k in P: flag[k]) == N", "c <= 1"]);
            writeln!(text, "  process Main {{ local r: 0..=N; join: await {test}; read: r = sum; check: assert {check} || r == 0; }}")
                .unwrap();
        }
        let label = |writer: &mut Writer<'_>| writer.choices.below(n);
        let (a, b, d) = (label(self), label(self), label(self));
        writeln!(text, "  invariant v0: sum <= N && arrived >= 0;").unwrap();
        writeln!(text, "  invariant v1: sum == count(k in P: P[k]@{{l{a}, l{b}}});").unwrap();
        writeln!(text, "  invariant v2: forall j != k in P: !(P[j]@l{a} && P[k]@l{d});").unwrap();
        writeln!(text, "  invariant v3: (forall k in P: P[k]@l{b}) => sum == arrived;").unwrap();
        writeln!(text, "  invariant v4: forall k in P: P[k]@l{d} => who == k || sum < N;").unwrap();
        writeln!(text, "  invariant v5: s + count(k in P: P[k]@l{b}) <= 2;").unwrap();
        writeln!(text, "  invariant v6: m.owner == none => forall k in P: !P[k]@l{d};").unwrap();
        writeln!(text, "  invariant v7: sum == 0 || arrived <= sum;").unwrap();
        if self.names {
            writeln!(text, "  invariant n0: P[0]@l{a} => !P[N - 1]@l{b} || sum > 0;").unwrap();
            writeln!(text, "  invariant n1: forall k: k == 0 || !(P[k]@l{d} && flag[k]);").unwrap();
            writeln!(text, "  invariant n2: flag[0] => who == 0 || arrived < N;").unwrap();
            writeln!(text, "  invariant n3: forall k: k != N - 1 => P[k].x || !P[k]@l{a} || P[0].x;").unwrap();
        }
        writeln!(text, "  race_free sum, arrived, b, flag, who;").unwrap();
        writeln!(text, "  reachable v8: exists j != k in P: who == k && flag[j] && c == 0;\n}}").unwrap();
        text
    }
}

/// Whether the property is violated in the product.
fn is_violated(model: &Model, product: &Product, kind: &PropertyKind) -> bool {
    let holds = |expr| {
        let value = move |state| model::eval::evaluate(model, state, expr, None);
        product.states.iter().map(move |state| matches!(value(state), Ok(Value::Bool(true))))
    };
    match kind {
        PropertyKind::Invariant(expr) => holds(expr).any(|holds| !holds),
        PropertyKind::Reachable(expr) => holds(expr).any(|holds| holds),
        PropertyKind::NoErrors => product.faults.iter().any(|faults| !faults.is_empty()),
        PropertyKind::DeadlockFree => product.states.iter().any(|state| model::eval::is_deadlock(model, state)),
        PropertyKind::RaceFree(var) => {
            product.states.iter().any(|state| model::eval::race(model, state, *var).is_some())
        }
        PropertyKind::Temporal(_) => false,
    }
}

/// What random programs are about, and which part of proofs that aims at.
struct Aim {
    /// The size at which proofs are found; they are compared with brute force at others.
    size: i64,
    signs_first: bool,
    write: fn(&mut Choices) -> String,
    is_met: fn(&CountingProof) -> bool,
}

#[test]
fn random_programs_agree_with_brute_force() {
    let write = |choices: &mut Choices| Writer { choices, names: false }.program();
    compare_random_programs(&Aim { size: 3, signs_first: false, write, is_met: |proof| !proof.sums.is_empty() });
}

#[test]
fn random_programs_with_named_processes_agree_with_brute_force() {
    let write = |choices: &mut Choices| Writer { choices, names: true }.program();
    compare_random_programs(&Aim { size: 5, signs_first: false, write, is_met: |proof| !proof.named.is_empty() });
}

#[test]
fn random_programs_of_phases_agree_with_brute_force() {
    let write = |choices: &mut Choices| Writer { choices, names: false }.phases();
    compare_random_programs(&Aim { size: 3, signs_first: true, write, is_met: |proof| !proof.signs.is_empty() });
}

/// Loops of a single process over the family: views show whom they have taken.
#[test]
fn random_programs_of_rounds_agree_with_brute_force() {
    let write = |choices: &mut Choices| Writer { choices, names: true }.rounds();
    let is_met = |proof: &CountingProof| {
        let is_marked = |item: &CountingItem| matches!(item, CountingItem::Value(Value::Process(_)));
        proof.named.is_empty() && proof.views.iter().any(|view| view.local.iter().any(is_marked))
    };
    compare_random_programs(&Aim { size: 3, signs_first: false, write, is_met });
}

fn compare_random_programs(aim: &Aim) {
    let factor: u64 = std::env::var("VIEWS_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let first: u64 = std::env::var("VIEWS_FIRST").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let (mut n_programs, mut n_proved, mut n_missed, mut n_sums, mut n_met) = (0, 0, 0, 0, 0);
    let mut n_told = 0;
    for seed in first..first + 75 * factor {
        let mut choices = Choices::from_seed(77_000_000 + seed);
        let text = (aim.write)(&mut choices);
        let Some(model) = load(&text, &[("N", aim.size)]) else { continue };
        let instances: Vec<(Model, Product)> = (2..=4)
            .filter_map(|n| {
                let model = load(&text, &[("N", n)])?;
                let product = Product::explore(&model, 6_000)?;
                Some((model, product))
            })
            .collect();
        n_programs += 1;
        let here = Product::explore(&model, 6_000);
        let found = proofs_with(&model, &text, aim.signs_first);
        for property in &model.properties {
            let is_proved = found.iter().find(|(name, _)| *name == property.name);
            let from = match is_proved.map(|(_, certificate)| &certificate.scope) {
                Some(Scope::AllSizes { from, .. }) => *from,
                _ => 0,
            };
            let violated = instances.iter().find(|(instance, product)| {
                if instance.parameters.iter().next().is_some_and(|parameter| parameter.value < from) {
                    return false;
                }
                let same = instance.properties.iter().find(|other| other.name == property.name).unwrap();
                is_violated(instance, product, &same.kind)
            });
            match (is_proved, violated) {
                (Some(_), Some((instance, _))) => {
                    panic!(
                        "{} is violated at N = {}\n{text}",
                        property.name,
                        instance.parameters.iter().next().unwrap().value
                    )
                }
                (Some((_, certificate)), None) => {
                    n_proved += 1;
                    n_sums += certificate.counting().map_or(0, |proof| proof.sums.len());
                    n_met += usize::from(certificate.counting().is_some_and(aim.is_met));
                    if let Some(product) = &here {
                        n_told += all_true(&model, &text, certificate, &product.states);
                    }
                }
                (None, None) => n_missed += 1,
                (None, Some(_)) => {}
            }
        }
    }
    println!("{n_programs} programs, {n_proved} proved with {n_sums} sums, {n_missed} true at small sizes and open");
    println!("{n_met} proofs are what it aims at; {n_told} sentences");
    assert!(n_told > 300, "{n_told} sentences");
    assert!(n_programs > 50 && n_proved > 100 && n_sums > 300, "{n_programs}, {n_proved}, {n_sums}");
    assert!(n_met > 50, "{n_met}");
}
