//! Views finer than a process: what is proved of one size, and that what is wrong is not.

use base::{Budget, SourceFile};
use evidence::Scope;
use evidence::certificate::{Certificate, Claim, Fact};
use evidence::fine::FineProof;
use model::Model;
use model::process::ProcessId;
use model::property::PropertyKind;
use model::value::Value;
use testkit::Product;
use testkit::choices::Choices;
use views::fine::closure::{Closed, Shape};
use views::fine::flows::Grain;
use views::fine::project::{Projector, Standing};
use views::fine::prove::{Fine, Outcome, layout};
use views::fragment::Question;
use views::sight::Ground;

use crate::flows::{Seen, edit};

pub fn load(name: &str, n: i64) -> Model {
    let path = format!("{}/../../examples/{name}.pw", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    lang::load(&SourceFile::new(&path, &text), &[("N".to_owned(), n)]).unwrap().model
}

/// How many states the views of a proof have, if there is a proof.
fn proved(model: &Model, property: &str) -> Option<usize> {
    proof_of(model, property).map(|proof| proof.views.iter().map(|view| view.theta.len()).sum())
}

/// A proof, which the checker accepts.
pub fn proof_of(model: &Model, property: &str) -> Option<FineProof> {
    let property = model.properties.iter().find(|one| one.name == property).unwrap();
    let question = match &property.kind {
        PropertyKind::Invariant(expr) => Question::Never { expr: expr.clone(), value: false, witnesses: 0 },
        PropertyKind::Reachable(expr) => Question::Never { expr: expr.clone(), value: true, witnesses: 0 },
        _ => Question::NoFault,
    };
    let layout = layout(model).unwrap();
    let budget = Budget::unlimited();
    let fine = Fine::new(Ground::new(model, &layout), &budget).unwrap_or_else(|refusal| panic!("{refusal:?}"));
    match fine.prove(&question).unwrap_or_else(|refusal| panic!("{refusal:?}")) {
        Outcome::Proved(proof, _) => {
            accepts(model, &property.name, &proof).unwrap_or_else(|error| panic!("{}: {error}", property.name));
            Some(*proof)
        }
        Outcome::Open => None,
    }
}

pub fn accepts(model: &Model, property: &str, proof: &FineProof) -> Result<(), String> {
    let property = model.properties.iter().find(|one| one.name == property).unwrap();
    let facts = vec![Fact { claim: Claim::Fine(proof.clone()), uses: Vec::new() }];
    let proof = Certificate { property: property.name.clone(), scope: Scope::Instance, facts, implies: Vec::new() };
    let checked = audit::certificate::check(model, property, &proof, &Budget::unlimited());
    checked.map(|_| ()).map_err(|error| error.to_string())
}

/// Rooms with a key and a name on the door each, which is written by whoever has the key.
fn rooms(n: i64, body: &str) -> Model {
    lang::load(&SourceFile::new("rooms.pw", rooms_text("N", body)), &[("N".to_owned(), n)]).unwrap().model
}

fn rooms_text(n_rooms: &str, body: &str) -> String {
    format!(
        "program rooms(N: 2..) {{ shared gate: [pid?; {n_rooms}] = none; shared user: [pid?; {n_rooms}] = none; \
         process P[i in 0..<N] {{ public room: 0..<{n_rooms}; loop {{ pick: room = any; \
         enter: atomic {{ await gate[room] == none; gate[room] = i; }} {body} }} }} \
         invariant noted: forall i: P[i]@use => user[P[i].room] == i; \
         invariant alone: forall i != j: P[i]@use && P[j]@use => P[i].room != P[j].room; }}"
    )
}

const NOTED: &str = "note: user[room] = i; use: skip; wipe: user[room] = none; leave: gate[room] = none;";

#[test]
fn what_is_written_under_locks_of_its_own_is_proved_by_views_closed_together() {
    for n in [2, 3, 5] {
        let model = rooms(n, NOTED);
        let proof = proof_of(&model, "noted").unwrap_or_else(|| panic!("N = {n}"));
        assert!(proof.is_joint && proof.views.iter().all(|view| view.cells.len() == 1), "N = {n}");
        let apart = FineProof { is_joint: false, ..proof.clone() };
        assert!(accepts(&model, "noted", &apart).is_err(), "each view by itself is not closed: N = {n}");
        assert!(proof_of(&model, "alone").is_some(), "N = {n}");
    }
    // The name is wiped, or written, by who has no key; and the views of a proof say nothing about another program.
    for body in [
        "note: user[room] = i; use: skip; leave: gate[room] = none; wipe: user[room] = none;",
        "note: user[room] = i; use: skip; wipe: user[room] = none; leave: gate[room] = none; late: user[room] = i;",
        "early: gate[room] = none; note: user[room] = i; use: skip; wipe: user[room] = none; leave: gate[room] = none;",
    ] {
        assert!([3, 4].into_iter().all(|n| proof_of(&rooms(n, body), "noted").is_none()), "{body}");
    }
    let model = rooms(3, NOTED);
    let proof = proof_of(&model, "noted").unwrap();
    for view in 0..proof.views.len() {
        for state in (view..proof.views[view].theta.len()).step_by(11) {
            let mut fewer = proof.clone();
            fewer.views[view].theta.remove(state);
            assert!(accepts(&model, "noted", &fewer).is_err(), "without state {state} of view {view}");
        }
    }
}

/// Every state of small rooms is in the views, and what is proved by views closed together is true.
#[test]
fn views_closed_together_agree_with_brute_force() {
    let mut tally = Tally::default();
    let bodies = [
        NOTED,
        "note: user[room] = i; use: skip; leave: gate[room] = none; wipe: user[room] = none;",
        "note: user[room] = i; use: skip; wipe: user[room] = none; leave: gate[room] = none; late: user[room] = i;",
        "use: user[room] = i; leave: atomic { user[room] = none; gate[room] = none; }",
        "note: user[room] = i; use: skip; again: user[room] = i; leave: gate[room] = none;",
    ];
    for (at, body) in bodies.iter().enumerate() {
        compare(&rooms_text("1", body), 3, &mut tally, &mut Choices::from_seed(at as u64));
        compare(&rooms_text("2", body), 2, &mut tally, &mut Choices::from_seed(at as u64));
    }
    assert!(tally.programs > 5 && tally.joint > 0, "{} programs, {} proved jointly", tally.programs, tally.joint);
}

#[test]
fn the_filter_lock_takes_as_many_states_for_each_level() {
    for n in [3, 5, 8, 12] {
        assert_eq!(proved(&load("filter", n), "mutex"), Some(20 * (n as usize - 1)), "filter {n}");
    }
    for n in [3, 5, 8] {
        assert_eq!(proved(&load("filter_scan", n), "mutex"), Some(28 * (n as usize - 1)), "filter_scan {n}");
    }
    assert!(proved(&load("filter", 2), "mutex").is_some() && proved(&load("filter_scan", 2), "mutex").is_some());
}

#[test]
fn a_filter_lock_with_one_level_too_few_is_not_proved() {
    for n in [3, 4, 6] {
        assert_eq!(proved(&load("filter_broken", n), "mutex"), None, "{n}");
    }
    let meet = proved(&load("filter", 4), "meet");
    assert_eq!(meet, None, "two processes do meet at a level");
}

/// Random programs with cells that name processes, in arrays and by themselves.
struct Writer<'c> {
    choices: &'c mut Choices,
    has_home: bool,
    n_labels: usize,
}

impl Writer<'_> {
    fn pick(&mut self, items: &[&str]) -> String {
        (*self.choices.pick(items)).to_owned()
    }

    fn about(&mut self, who: &str) -> String {
        let c = self.choices.below(3);
        match self.choices.below(3) {
            0 => format!("P[{who}].a == {c}"),
            1 => format!("P[{who}].a < {c}"),
            _ => format!("row[{who}] == {}", c % 2),
        }
    }

    fn told(&mut self, who: &str) -> String {
        match self.choices.below(3) {
            0 => self.about(who),
            _ => format!("P[{who}]@l{}", self.choices.below(3)),
        }
    }

    fn guard(&mut self) -> String {
        let c = self.choices.below(2);
        match self.choices.below(12) {
            0 => format!("d == {c}"),
            1 => format!("a == {c}"),
            2 => "p == i".to_owned(),
            3 => "p == none".to_owned(),
            4 => format!("t[{c}] != i"),
            5 => format!("t[{c}] == i"),
            6 => format!("t[a % 2] != i || {}", self.quantified()),
            7 => self.about("p"),
            8 => format!("p != none && {} && t[0] != p", self.about("p")),
            9 => "r == i || r == p".to_owned(),
            _ => self.quantified(),
        }
    }

    fn quantified(&mut self) -> String {
        let body = self.about("k");
        match self.choices.below(6) {
            0 => format!("(forall k: {body})"),
            1 => format!("(exists k: {body})"),
            2 => format!("(forall k != i: {body} || t[1] == k)"),
            3 => format!("(forall k: k > i || {body} || d == 0)"),
            4 => format!("(exists k != i: {body})"),
            _ => format!("(forall k != i: {body})"),
        }
    }

    fn effect(&mut self) -> String {
        let c = self.choices.below(3);
        let pick = self.choices.below(13);
        match pick {
            0 | 1 => format!("a = {c};"),
            2 => format!("d = {c};"),
            3 => format!("row[i] = {};", c % 2),
            4 => "p = i;".to_owned(),
            5 => "p = none;".to_owned(),
            6 => "p = t[1];".to_owned(),
            7 => format!("t[{}] = any;", c % 2),
            8 => "d = (d + 1) % 3;".to_owned(),
            9 => "r = p;".to_owned(),
            10 => "if r != none { t[0] = r; }".to_owned(),
            _ => format!("t[{}] = i;", c % 2),
        }
    }

    fn statement(&mut self) -> String {
        let label = self.n_labels;
        self.n_labels += 1;
        match self.choices.below(9) {
            // Whom the loop takes is one of those that the quantifier is about.
            8 => {
                let (test, all) = (self.about("j"), self.pick(&["forall", "exists"]));
                let more = self.pick(&["j == k", "j == i || j == k", "j != k", "j < k"]);
                let joint = if all == "forall" { format!("{more} || {test}") } else { format!("({more}) && {test}") };
                format!("for k in 0..<N {{ l{label}: if k != i {{ m{label}: await {all} j: {joint}; }} }}")
            }
            0 => format!("l{label}: if {} {{ goto l{}; }}", self.guard(), self.choices.below(3)),
            1 => {
                let (test, other) = (self.about("k"), self.guard());
                let more = self.pick(&["", "|| k == i ", "|| p == k "]);
                format!("for k in 0..<N {{ l{label}: await {test} {more}|| {other}; }}")
            }
            2 => {
                let test = self.about("k");
                format!("for k in 0..<N {{ l{label}: if {test} {{ p = k; }} else {{ break; }} }}")
            }
            3 => format!("l{label}: atomic {{ {} {} }}", self.effect(), self.effect()),
            _ => format!("l{label}: atomic {{ await {}; {} {} }}", self.guard(), self.effect(), self.effect()),
        }
    }

    fn program(&mut self) -> String {
        let start = self.pick(&["", " = none"]);
        let n = 3 + self.choices.below(3);
        let body: Vec<String> = (0..n).map(|_| self.statement()).collect();
        let mut text = format!(
            "program r(N: 2..) {{ shared d: 0..=2; shared p: pid? = none; shared t: [pid?; 2]{start}; shared row: [0..=1; N];\n\
             process P[i in 0..<N] {{ public a: 0..=2; local r: pid? = none; loop {{\n{}\n}} }}\n",
            body.join("\n")
        );
        if self.has_home {
            let (test, effect) = (
                self.quantified().replace("k != i", "k != p").replace("k > i", "k != p"),
                self.pick(&["d = 2;", "p = none;", "t[1] = p;"]),
            );
            text += &format!("process H {{ loop {{ h: await {test}; g: {effect} }} }}\n");
        }
        for at in 0..3 {
            let (one, other) = (self.told("i"), self.told("j"));
            text += &format!("  invariant v{at}: forall i != j: !({one} && {other});\n");
        }
        let (one, c) = (self.told("i"), self.choices.below(3));
        text += &format!("  invariant w: d == {c} => exists i: {one};\n  invariant x: forall i: p == i => {one};\n");
        text += &format!("  invariant z: t[0] == none || p == none || forall i: t[0] == i => {one};\n");
        text + &format!("  reachable y: exists i != j: p == i && t[1] == j && {one};\n}}\n")
    }
}

#[derive(Default)]
pub struct Tally {
    pub programs: usize,
    pub looks: usize,
    pub proved: usize,
    pub joint: usize,
    /// Proofs with flows, with flows modulo a number, modulo one that is not a prime; edited flows that were refused.
    pub by_flows: usize,
    pub modular: usize,
    pub composite: usize,
    pub refused: usize,
    pub missed: usize,
}

fn is_violated(model: &Model, product: &Product, kind: &PropertyKind) -> bool {
    let is = |expr, value: bool| {
        product.states.iter().any(|state| model::eval::evaluate(model, state, expr, None) == Ok(Value::Bool(value)))
    };
    match kind {
        PropertyKind::Invariant(expr) => is(expr, false),
        PropertyKind::Reachable(expr) => is(expr, true),
        PropertyKind::NoErrors => product.faults.iter().any(|faults| !faults.is_empty()),
        _ => false,
    }
}

pub fn compare(text: &str, n: i64, tally: &mut Tally, changed: &mut Choices) {
    let Ok(loaded) = lang::load(&SourceFile::new("r.pw", text), &[("N".to_owned(), n)]) else { return };
    let model = &loaded.model;
    let Some(product) = Product::explore(model, 1_000) else { return };
    let layout = layout(model).unwrap();
    let ground = Ground::new(model, &layout);
    let budget = Budget::unlimited();
    let Ok(fine) = Fine::new(ground, &budget) else { return };
    tally.programs += 1;
    let members: Vec<ProcessId> = model.families[layout.family].processes().collect();
    let projector = Projector::new(ground, fine.skeleton());
    let standing: Vec<Vec<Standing>> = { product.states.iter() }
        .map(|state| members.iter().map(|&process| projector.standing(state, process)).collect())
        .collect();
    let pairs: Vec<[usize; 2]> = (0..members.len()).flat_map(|a| (a + 1..members.len()).map(move |b| [a, b])).collect();
    for view in fine.ladder().unwrap().iter().flatten() {
        let tracked = projector.tracked(view);
        for (state, standing) in product.states.iter().zip(&standing) {
            for pair in &pairs {
                tally.looks += 1;
                let look = projector.look((view, &tracked), state, pair.map(|one| standing[one]));
                assert!(look.as_ref().is_some_and(|look| view.theta.contains(look)), "{n}: {look:?} {view:?}\n{text}");
            }
        }
    }
    let states: Vec<Seen<'_>> = product
        .states
        .iter()
        .zip(&standing)
        .map(|(state, standing)| Seen { model, layout: &layout, state, standing })
        .collect();
    for grain in [Grain::Places, Grain::States] {
        for flow in fine.flows(Some(grain)) {
            let flow = flow.certified(ground);
            assert!(states.iter().all(|seen| seen.has(&flow)), "N = {n}: {flow:?}\n{text}");
        }
    }
    for property in &model.properties {
        let question = match &property.kind {
            PropertyKind::Invariant(expr) => Question::Never { expr: expr.clone(), value: false, witnesses: 0 },
            PropertyKind::Reachable(expr) => Question::Never { expr: expr.clone(), value: true, witnesses: 0 },
            PropertyKind::NoErrors => Question::NoFault,
            _ => continue,
        };
        let violated = is_violated(model, &product, &property.kind);
        let Ok(Outcome::Proved(proof, _)) = fine.prove(&question) else {
            tally.missed += usize::from(!violated);
            continue;
        };
        tally.proved += 1;
        tally.joint += usize::from(proof.is_joint);
        tally.note_flows(&proof);
        assert!(!violated, "{} is violated at N = {n}\n{text}", property.name);
        let certificate = |proof: FineProof| {
            let facts = vec![Fact { claim: Claim::Fine(proof), uses: Vec::new() }];
            Certificate { property: property.name.clone(), scope: Scope::Instance, facts, implies: Vec::new() }
        };
        let check = |proof: FineProof| audit::certificate::check(model, property, &certificate(proof), &budget);
        if let Err(error) = check((*proof).clone()) {
            panic!("the checker refuses {} at N = {n}: {error}\n{text}", property.name);
        }
        if !proof.flows.is_empty() {
            let mut edited = (*proof).clone();
            let at = changed.below(edited.flows.len());
            edit(&mut edited.flows[at], changed);
            if !states.iter().all(|seen| seen.has(&edited.flows[at])) {
                tally.refused += 1;
                let flow = edited.flows[at].clone();
                assert!(check(edited).is_err(), "{}, {flow:?}\n{text}", property.name);
            }
        }
        // The same proof of what is violated is refused, and so is one with a state less that some run reaches.
        let wrong = model.properties.iter().find(|other| is_violated(model, &product, &other.kind));
        if let Some(wrong) = wrong {
            let certificate = Certificate { property: wrong.name.clone(), ..certificate((*proof).clone()) };
            assert!(audit::certificate::check(model, wrong, &certificate, &budget).is_err(), "{}\n{text}", wrong.name);
        }
        let mut fewer = (*proof).clone();
        let n_views = fewer.views.len().max(1);
        if let Some(view) = fewer.views.get_mut(changed.below(n_views)) {
            let state = changed.below(product.states.len());
            let shape = Shape {
                cells: view.cells.iter().map(|&cell| layout.shared_column(cell).unwrap()).collect(),
                k: 2,
                blocks: view.blocks.clone(),
                n_blocks: view.blocks.iter().max().map_or(0, |&most| most as usize + 1),
            };
            let closed = Closed { shape, theta: Default::default() };
            let pair = pairs[changed.below(pairs.len())].map(|one| standing[state][one]);
            let look = projector.look((&closed, &projector.tracked(&closed)), &product.states[state], pair);
            let before = view.theta.len();
            view.theta.retain(|one| Some(one) != look.as_ref());
            if view.theta.len() < before {
                assert!(check(fewer).is_err(), "a state was taken from the proof of {}\n{text}", property.name);
            }
        }
    }
}

fn campaign(seed: u64, n_programs: u64, has_home: bool) -> Tally {
    let factor: u64 = std::env::var("VIEWS_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut tally = Tally::default();
    for at in 0..n_programs * factor {
        let mut choices = Choices::from_seed(seed * 1_000_000 + at);
        let text = Writer { choices: &mut choices, has_home, n_labels: 0 }.program();
        for n in 2..=4 {
            compare(&text, n, &mut tally, &mut choices);
        }
    }
    let Tally { programs, looks, proved, joint, missed, .. } = tally;
    println!("{programs} programs, {looks} looks, {proved} proved, {joint} of them jointly, {missed} true and open");
    tally
}

#[test]
fn random_programs_agree_with_brute_force() {
    let tally = campaign(1, 4, false);
    assert!(tally.programs > 2 && tally.looks > 1_000 && tally.proved > 8);
}

#[test]
fn random_programs_with_another_process_agree_with_brute_force() {
    assert!(campaign(2, 8, true).proved > 5);
}
