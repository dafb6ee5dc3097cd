//! Programs that are often right: classic rings, chains and trees with a few places where one of several texts stands, of which the first is the classic one.
//! What is proved for every size is true at each size that can be searched, every window of every reachable state is one of the proof's, and the checker accepts
//! the proof and refuses changed ones.
//!
//! `RINGS_PROGRAMS=50 cargo test -p piecewise-rings --test it skeletons -- --nocapture` asks about fifty times as many programs, and says how many were
//! proved, how many true ones stayed open, and how many are false.

use audit::temporal;
use base::Budget;
use engine::{Engine, Silent, Task, Verdict};
use evidence::certificate::{Certificate, Claim};
use evidence::rings::{Network, RingsProof};
use evidence::{Evidence, Scope};
use model::Model;
use model::property::{Property, PropertyKind};
use rings::ByRings;
use rings::instance::{Arrangement, Instance, WindowPosition};
use rings::ring::Ring;
use testkit::Product;
use testkit::choices::Choices;

use crate::in_a_moment;
use crate::random::{is_violated, load};

/// Two forks each, of two kinds; one who is turned, or none.
const FORKS: &str = "program r(N: 2..) {
  shared f: [⟦lock¦lock¦bool⟧; N];
  define right(i) = (i + 1) % N;
  define one(i) = if ⟦i == 0¦i % 2 == 1¦i == N - 1¦i < 0⟧ then right(i) else i;
  define two(i) = if ⟦i == 0¦i % 2 == 1¦i == N - 1¦i < 0⟧ then i else right(i);
  process P[i in 0..<N] { loop {
    l0: ⟦idle¦skip⟧;
    l1: TAKE(one);
    l2: ⟦TAKE(two)¦skip⟧;
    l3: ⟦skip¦idle⟧;
    l4: ⟦GIVE(two)¦skip⟧;
    l5: GIVE(one);
  } }
  invariant v: forall i: !(P[i]@l3 && P[(i + 1) % N]@l3);
  property p: forall i: P[i]@l1 ~> P[i]@l3 under weak P[*], strong P[*]@l1, ⟦strong¦weak⟧ P[*]@l2;
  property q: forall i: P[i]@l3 ~> P[i]@l0 under weak P[*];
}";

/// Something that goes round.
const TOKENS: &str = "program r(N: 2..) {
  shared c: [bool; N];
  process P[i in 0..<N] { local x: bool = ⟦i == 0¦i == N - 1¦i % 2 == 0¦false⟧; loop {
    l0: atomic { await x || c[i]; ⟦x = true; c[i] = false;¦x = true;¦x = false; c[i] = false;⟧ }
    l1: ⟦skip¦idle¦either { l2: skip; } or { l6: skip; }⟧;
    l3: atomic { ⟦x = false;¦skip;⟧ c[⟦(i + 1) % N¦(i + N - 1) % N¦i⟧] = true; }
    l4: skip;
  } }
  invariant v: forall i != j: !(P[i]@l1 && P[j]@l1);
  property p: forall i: always eventually P[i]@l1 under ⟦weak¦every⟧ P[*];
  property q: forall i: P[i]@l1 ~> P[i]@l4 under weak P[*];
}";

/// Something that goes round, and two elements for each process, of which one may be where it stops.
const ROWS: &str = "program r(N: 3..) {
  shared c: [[bool; 2]; N];
  process P[i in 0..<N] {
    l0: if ⟦i == 0¦i == N - 1⟧ { c[i][0] = true; }
    loop {
      l1: atomic { await c[i][0]; c[i][0] = false; if ⟦i < 0¦i == 3¦i == 3¦i == 1⟧ { c[(i + 1) % N][1] = true; } else { c[(i + 1) % N][0] = true; } }
      l2: ⟦skip¦idle⟧;
    }
  }
  invariant v: forall i != j: !(c[i][0] && c[j][0]);
  property p: forall i: always eventually P[i]@l2 under weak P[*];
}";

/// Stages that rise and fall.
const STAGES: &str = "program r(N: 3..) {
  process P[i in 0..<N] { public up: bool ⟦¦= i == 0¦= i % 2 == 0⟧; loop {
    l0: atomic { await (⟦i == 0¦i < 0⟧ || P[(i + N - 1) % N].up) && (⟦i == N - 1¦i < 0⟧ || !P[(i + 1) % N].up); up = true; }
    l1: atomic { await (⟦i == 0 || !P[(i + N - 1) % N].up¦true⟧) && (⟦i == N - 1¦i < 0⟧ || P[(i + 1) % N].up); up = false; }
  } }
  invariant v: forall i: P[i]@l1 => P[i].up;
  property p: forall i: P[i]@l0 ~> P[i]@l1 under ⟦weak¦every⟧ P[*];
  property q: forall i: always eventually P[i]@l0 under weak P[*];
}";

/// Requests to the left, grants to the right.
const REQUESTS: &str = "program r(N: 2..) {
  shared a: [bool; N]; shared g: [bool; N];
  process P[i in 0..<N] { loop {
    l0: ⟦if i == N - 1 { own: idle; } else { called: await a[i + 1]; }¦if i < N - 1 { called: await a[i + 1]; }⟧
    l1: ⟦if i > 0 { l2: a[i] = true; l3: await g[i]; }¦if i > 0 { l2: a[i] = true; l3: skip; }⟧
    l4: if i < N - 1 { l5: g[i + 1] = true; l6: ⟦await !a[i + 1]¦skip⟧; l7: g[i + 1] = false; }
    l8: if i > 0 { l9: a[i] = ⟦false¦true⟧; lb: ⟦await !g[i]¦skip⟧; }
  } }
  invariant v: forall i: i > 0 && P[i]@l4 => g[i];
  property p: forall i: P[i]@l3 ~> P[i]@l4 under weak P[*];
  property q: forall i: P[i]@l5 ~> P[i]@l8 under ⟦weak¦every⟧ P[*];
}";

/// Cars and gaps.
const ROAD: &str = "program r(N: 2..) {
  shared c: [0..=2; N];
  process P[i in 0..<N] {
    l0: c[i] = if ⟦i % 2 == 0¦i == 0¦i > 0¦i == N - 1⟧ then 2 else ⟦1¦1¦2⟧;
    loop { l1: atomic { await c[i] == 2 && c[(i + 1) % N] == 1; c[i] = 1; c[(i + 1) % N] = ⟦2¦2¦1⟧; } }
  }
  invariant v: forall i: P[i]@l1 => c[i] > 0;
  property p: forall i: always eventually c[i] == 1 under weak P[*];
}";

/// A number that follows that of the left neighbour.
const FOLLOW: &str = "program r(N: 2..) {
  process P[i in 0..<N] { public x: 0..=⟦1¦2⟧ = ⟦any¦0⟧; loop {
    l0: atomic { await ⟦if i == 0 then x == P[(i + N - 1) % N].x else x != P[(i + N - 1) % N].x¦x != P[(i + N - 1) % N].x⟧;
      if i == 0 { x = ⟦(x + 1) % 2¦0⟧; } else { x = P[(i + N - 1) % N].x; } }
    l1: skip;
  } }
  property p: forall i: always eventually P[i]@l1 under weak P[*];
}";

/// Arbiters in a tree.
const ARBITERS: &str = "program r(N: ⟦1¦2¦3⟧..) {
  shared a: [bool; N]; shared g: [bool; N];
  process P[i in 0..<N] { local t: bool; loop {
    if 2 * i + 1 >= N {
      l0: ⟦idle¦skip⟧; l1: a[i] = true; l2: await ⟦i == 0 || g[i]¦g[i]⟧; l3: skip; l4: a[i] = false; l5: ⟦await i == 0 || !g[i]¦skip⟧;
    } else {
      k0: await a[2 * i + 1] || (2 * i + 2 < N && a[2 * i + 2]);
      k1: if i > 0 { k2: a[i] = true; k3: ⟦await g[i]¦skip⟧; }
      k4: if a[2 * i + 1] && (⟦!t¦true⟧ || 2 * i + 2 >= N || !a[2 * i + 2]) {
        k5: g[2 * i + 1] = true; k6: ⟦await !a[2 * i + 1]¦skip⟧; k7: atomic { g[2 * i + 1] = false; t = true; }
      } else {
        k8: g[2 * i + 2] = true; k9: await !a[2 * i + 2]; ka: atomic { g[2 * i + 2] = false; t = ⟦false¦true⟧; }
      }
      kb: if i > 0 { kc: a[i] = false; kd: ⟦await !g[i]¦skip⟧; }
    }
  } }
  invariant v: forall i != j: !(P[i]@l3 && P[j]@l3);
  invariant w: forall i: i > 0 && P[i]@{l3, k5, k8} => g[i];
  property p: forall i: P[i]@l2 ~> P[i]@l3 under weak P[*];
}";

/// Forks between parents and children.
const EDGES: &str = "program r(N: 1..) {
  shared f: [⟦lock¦bool⟧; N];
  process P[i in 0..<N] { loop {
    l0: ⟦idle¦skip⟧;
    l1: if ⟦i > 0¦i % 2 == 1¦i > 0 && 2 * i + 1 < N⟧ { l2: TAKE(me); }
    l3: if 2 * i + ⟦2¦1⟧ < N { l4: TAKE(child); }
    l5: skip;
    l6: if 2 * i + ⟦2¦1⟧ < N { l7: GIVE(child); }
    l8: if ⟦i > 0¦i % 2 == 1¦i > 0 && 2 * i + 1 < N⟧ { l9: ⟦GIVE(me)¦skip⟧; }
  } }
  define me(i) = i;
  define child(i) = ⟦2 * i + 2¦2 * i + 1⟧;
  invariant v: forall i: P[i]@l2 => ⟦i > 0¦i % 2 == 1¦2 * i + 1 < N⟧;
  property p: forall i: P[i]@l1 ~> P[i]@l5 under weak P[*], strong P[*]@l2, ⟦strong¦weak⟧ P[*]@l4;
}";

/// A wave that goes down to the leaves and comes back.
const WAVES: &str = "program r(N: 1..) {
  process P[i in 0..<N] { public down: bool; public up: bool; loop {
    l0: atomic { await ⟦i == 0 || P[(i - 1) / 2].down != down¦i > 0⟧; down = !down; }
    l1: atomic {
      await ⟦(2 * i + 1 >= N || P[2 * i + 1].up == down)¦2 * i + 1 >= N || P[2 * i + 1].up¦true⟧ && ⟦(2 * i + 2 >= N || P[2 * i + 2].up == down)¦true⟧;
      up = ⟦down¦!up⟧;
    }
  } }
  invariant v: forall i: 2 * i + 2 < N && P[i]@l0 => P[i].up == P[2 * i + 1].up;
  invariant w: forall i: i > 0 && P[i]@l1 => P[i].down == P[(i - 1) / 2].down;
  property p: forall i: always eventually P[i]@l1 under ⟦weak¦every⟧ P[*];
}";

/// A text with one of the alternatives at each place: mostly the first one, and the same everywhere where the same alternatives stand.
fn expanded(skeleton: &str, choices: &mut Choices) -> String {
    let mut chosen: Vec<(String, String)> = Vec::new();
    let mut text = String::new();
    for (at, part) in skeleton.split('⟦').enumerate() {
        let (alternatives, rest) = if at == 0 { ("", part) } else { part.split_once('⟧').unwrap() };
        let known = chosen.iter().find(|(all, _)| all == alternatives).map(|(_, one)| one.clone());
        let one = known.unwrap_or_else(|| {
            let all: Vec<&str> = alternatives.split('¦').collect();
            let one = if choices.chance(65) { all[0] } else { choices.pick(&all) };
            chosen.push((alternatives.to_owned(), one.to_owned()));
            one.to_owned()
        });
        text = text + &one + rest;
    }
    let is_lock = text.contains("[lock; N]");
    for who in ["one", "two", "me", "child"] {
        let (take, give) = match is_lock {
            true => (format!("acquire f[{who}(i)]"), format!("release f[{who}(i)]")),
            false => (format!("atomic {{ await !f[{who}(i)]; f[{who}(i)] = true; }}"), format!("f[{who}(i)] = false")),
        };
        text = text.replace(&format!("TAKE({who})"), &take).replace(&format!("GIVE({who})"), &give);
    }
    text.replace("};", "}")
}

#[derive(Default, Debug)]
struct Tally {
    programs: usize,
    proved: usize,
    proved_runs: usize,
    /// True at all sizes that were searched, and not proved.
    open: usize,
    false_ones: usize,
    refused: usize,
    windows: usize,
}

fn fails(model: &Model, product: &Product, property: &Property) -> bool {
    match &property.kind {
        PropertyKind::Temporal(formula) => {
            temporal::is_violated(model, &product.states, formula, &property.under) == Ok(Some(true))
        }
        kind => is_violated(model, product, kind),
    }
}

/// Whether every window of every reachable state is one of the proof's; how many were looked at.
fn windows_are_listed(model: &Model, product: &Product, proof: &RingsProof) -> usize {
    let ring = match proof.network {
        Network::Line => Ring::new(model, &[]),
        Network::Tree => Ring::tree(model),
    };
    let rows = ring.unwrap().rows;
    let size = model.processes.len();
    let (naming, reach) = (std::collections::BTreeSet::new(), proof.least..=proof.greatest);
    let arrangement = Arrangement { network: proof.network, rows: &rows, naming: &naming, reach };
    let instance = Instance::new(model.clone(), &arrangement).unwrap();
    let mut n_windows = 0;
    for at in 0..size {
        let stand = WindowPosition { at, span: proof.greatest - proof.least };
        let of = |index: usize| match proof.network {
            Network::Line => proof.distances.type_of(index % size, size),
            Network::Tree => rings::heap::type_of(index, size),
        };
        let word: Vec<_> = (at..at + proof.width).map(of).collect();
        let set = proof.windows.iter().find(|set| set.word == word).expect("a window for each word");
        let window = instance.window(proof.width, stand);
        assert_eq!(window.items, set.items);
        for state in &product.states {
            n_windows += 1;
            let seen = instance.read(state, &window.parts, stand);
            assert!(set.states.contains(&seen), "{seen:?} is not listed");
        }
    }
    n_windows
}

/// Proofs that say too much: without a state, of another kind of network, of other types.
fn changed(proof: &Certificate, choices: &mut Choices) -> Vec<Certificate> {
    let with = |change: &mut dyn FnMut(&mut RingsProof)| {
        let mut changed = proof.clone();
        let Claim::Rings(claim) = &mut changed.facts[0].claim else { panic!("no windows") };
        change(claim);
        changed
    };
    let fewer = with(&mut |claim| {
        let window = choices.below(claim.windows.len());
        let states = &mut claim.windows[window].states;
        states.remove(choices.below(states.len()));
    });
    let other = with(&mut |claim| {
        claim.network = if claim.network == Network::Tree { Network::Line } else { Network::Tree };
    });
    let without = with(&mut |claim| drop(claim.windows.pop()));
    vec![fewer, other, without]
}

fn ask(text: &str, tally: &mut Tally, choices: &mut Choices) {
    let Some(model) = load(text, 3) else {
        panic!("{:?}\n{text}", lang::load(&base::SourceFile::new("r.pw", text), &[]).err())
    };
    tally.programs += 1;
    let instances: Vec<(Model, Product)> = (1..=6)
        .filter_map(|n| {
            let model = load(text, n)?;
            let product = Product::explore(&model, 2_500)?;
            Some((model, product))
        })
        .collect();
    for (id, property) in model.properties.entries() {
        let budget = in_a_moment();
        let task = Task { model: &model, properties: vec![id], budget, n_threads: 1 };
        let answers = ByRings::for_every_size().run(&task, &Silent).unwrap();
        let at_size = |instance: &Model| -> Property {
            instance.properties.iter().find(|one| one.name == property.name).unwrap().clone()
        };
        let failing = instances.iter().find(|(model, product)| fails(model, product, &at_size(model)));
        let failing = failing.map(|(model, _)| model.processes.len() as i64);
        let Verdict::Holds(Evidence::Certificate(proof)) = &answers[0].verdict else {
            tally.open += usize::from(failing.is_none());
            tally.false_ones += usize::from(failing.is_some());
            continue;
        };
        tally.proved += 1;
        tally.proved_runs += usize::from(matches!(property.kind, PropertyKind::Temporal(_)));
        let Scope::AllSizes { from, .. } = proof.scope else { panic!("it is about every size") };
        let claim = proof.rings().unwrap();
        for (instance, product) in instances.iter().filter(|(model, _)| model.processes.len() as i64 >= from) {
            let size = instance.processes.len();
            assert!(!fails(instance, product, &at_size(instance)), "{} is false at {size}\n{text}", property.name);
            tally.windows += windows_are_listed(instance, product, claim);
        }
        let check = |proof: &Certificate| audit::certificate::check(&model, property, proof, &Budget::unlimited());
        check(proof).unwrap_or_else(|wrong| panic!("{}: {wrong}\n{text}", property.name));
        tally.refused += changed(proof, choices).iter().filter(|proof| check(proof).is_err()).count();
    }
}

fn campaign(seed: u64, n_programs: u64, skeleton: &str) -> Tally {
    let factor: u64 = std::env::var("RINGS_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut tally = Tally::default();
    for at in 0..n_programs * factor {
        let mut choices = Choices::from_seed(seed * 1_000_000 + at);
        let text = expanded(skeleton, &mut choices);
        ask(&text, &mut tally, &mut choices);
    }
    println!("{seed}: {tally:?}");
    tally
}

#[test]
fn rings_that_are_often_right_agree_with_brute_force() {
    for (seed, skeleton) in [(31, FORKS), (32, TOKENS), (33, STAGES), (35, ROAD), (36, FOLLOW)] {
        let tally = campaign(seed, 3, skeleton);
        assert!(tally.proved > 3 && tally.refused > 2, "{seed}: {tally:?}");
    }
}

#[test]
fn rings_with_several_elements_for_each_process_agree_with_brute_force() {
    let tally = campaign(37, 8, ROWS);
    assert!(tally.proved > 8 && tally.refused > 2 && tally.false_ones > 0, "{tally:?}");
}

#[test]
fn chains_that_are_often_right_agree_with_brute_force() {
    let tally = campaign(34, 4, REQUESTS);
    assert!(tally.proved > 3 && tally.refused > 2, "{tally:?}");
}

#[test]
fn trees_agree_with_brute_force() {
    for (seed, skeleton) in [(41, ARBITERS), (42, EDGES), (43, WAVES)] {
        let tally = campaign(seed, 4, skeleton);
        assert!(tally.proved > 3 && tally.refused > 2 && tally.windows > 100, "{seed}: {tally:?}");
    }
}

/// What is false only where a node has one child, at a right child with children, far down, or at the root alone.
#[test]
fn what_is_false_in_some_trees_only_is_not_proved() {
    for (asked, body) in [
        (
            "no_errors",
            "shared a: [bool; N]; process P[i in 0..<N] { loop { if 2 * i + 1 < N { a[2 * i + 2] = true; } } }",
        ),
        ("no_errors", "shared a: [bool; N]; process P[i in 0..<N] { loop { a[(i - 1) / 2] = true; } }"),
        (
            "v",
            "shared a: [bool; N]; process P[i in 0..<N] { loop { a[i] = 2 * i + 2 < N && i % 2 == 0 && i > 0; } }
             invariant v: forall i: !a[i];",
        ),
        (
            "v",
            "shared a: [bool; N]; process P[i in 0..<N] { loop { a[i] = 2 * i + 1 >= N && i == 0; } }
             invariant v: forall i: !a[i];",
        ),
        (
            "v",
            "process P[i in 0..<N] { public v: 0..=4; loop {
               if i > 0 { v = if P[(i - 1) / 2].v < 4 then P[(i - 1) / 2].v + 1 else 4; } } }
             invariant v: forall i: P[i].v < 4;",
        ),
        (
            "v",
            "process P[i in 0..<N] { public r: bool = i == 0; public s: bool; loop {
               l0: if i > 0 { l1: s = P[(i - 1) / 2].r; } l2: skip; } }
             invariant v: forall i: P[i]@l2 && i > 0 => P[i].s;",
        ),
    ] {
        let text = format!("program r(N: 1..) {{ {body} }}");
        let model = load(&text, 3).unwrap();
        let (id, _) = model.properties.entries().find(|(_, one)| one.name == asked).unwrap();
        let task = Task { model: &model, properties: vec![id], budget: Budget::unlimited(), n_threads: 1 };
        let answers = ByRings::for_every_size().run(&task, &Silent).unwrap();
        assert!(matches!(answers[0].verdict, Verdict::Unknown(_)), "{asked}: {:?}\n{text}", answers[0].verdict);
    }
}
