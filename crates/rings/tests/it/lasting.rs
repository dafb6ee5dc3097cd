//! Temporal properties of random rings and chains: what is proved for every size holds at each size up to 5 that can be searched, and the checker accepts
//! the proof; it refuses each that says more.
//!
//! `RINGS_PROGRAMS=50 cargo test -p piecewise-rings --test it lasting` asks about fifty times as many programs.

use std::fmt::Write;

use audit::temporal::is_violated;
use base::{Budget, SourceFile};
use engine::{Engine, Silent, Task, Verdict};
use evidence::certificate::{Certificate, Claim};
use evidence::{Evidence, Scope};
use model::Model;
use model::property::{Property, PropertyKind};
use rings::ByRings;
use testkit::Product;
use testkit::choices::Choices;

use crate::in_a_moment;
use crate::random::{Kinds, Writer, load};

/// What a program is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    /// Anything.
    Any(Kinds),
    /// Two resources beside each process, taken in an order that depends on where it stands.
    Forks,
    /// Something that is handed on.
    Tokens,
}

impl Writer<'_> {
    /// Two forks, as locks or as bits, and who takes which first.
    fn forks(&mut self) -> String {
        let turned = self.pick(&["i == 0", "i == 0", "i % 2 == 1", "i == N - 1", "i < 0"]);
        let is_lock = self.choices.chance(70);
        let ends = self.choices.chance(30);
        let right = if ends { "(if i == N - 1 then i else i + 1)" } else { "(i + 1) % N" };
        let (one, other) = (format!("(if {turned} then {right} else i)"), format!("(if {turned} then i else {right})"));
        let (ty, take, give) = match is_lock {
            true => ("lock", "acquire f[AT];", "release f[AT];"),
            false => ("bool", "atomic { await !f[AT]; f[AT] = true; }", "f[AT] = false;"),
        };
        let at = |text: &str, place: &str| text.replace("AT", place);
        let idle = if self.choices.chance(70) { "idle;" } else { "skip;" };
        let last = if self.choices.chance(85) { at(give, &one) } else { "skip;".to_owned() };
        let second = if ends { format!("if i < N - 1 {{ l9: {} }}", at(take, &other)) } else { at(take, &other) };
        let back = if ends { format!("if i < N - 1 {{ l8: {} }}", at(give, &other)) } else { at(give, &other) };
        let take = at(take, &one);
        format!(
            "shared f: [{ty}; N]; process P[i in 0..<N] {{ loop {{
  l0: {idle}
  l1: {take}
  l2: {second}
  l3: skip;
  l4: {back}
  l5: {last}
}} }}\n"
        )
    }

    fn handed_on(&mut self) -> String {
        let first = self.pick(&["i == 0", "i == 0", "i == N - 1", "i % 2 == 0", "false", "true"]);
        let door = self.pick(&["c[i]", "c[i]", "c[(i + 1) % N]"]);
        let next = self.pick(&["c[(i + 1) % N]", "c[(i + 1) % N]", "c[(i + N - 1) % N]"]);
        let waits = if self.choices.chance(30) { format!("&& !{next}") } else { String::new() };
        let keeps = self.pick(&["skip;", "skip;", "x = any;", "idle;"]);
        format!(
            "shared c: [bool; N]; process P[i in 0..<N] {{ local x: bool = {first}; local has: bool = {first}; loop {{
  l0: atomic {{ await has || {door}; has = true; {door} = false; }}
  l1: {keeps}
  l2: if x {{ l3: skip; }}
  l4: atomic {{ await true {waits}; has = false; {next} = true; }}
  l5: skip;
}} }}\n"
        )
    }

    fn anything(&mut self) -> String {
        let shared = if self.kinds.shared { "shared g: 0..=1;" } else { "" };
        let locks = if self.kinds.locks { "shared m: [lock; N];" } else { "" };
        let start = self.pick(&["", "= if i == 0 then 1 else 0", "= any"]);
        let mut text = format!(
            "shared c: [0..=1; N]; {shared} {locks}\nprocess P[i in 0..<N] {{ public x: 0..=1 {start}; loop {{\n"
        );
        for label in 0..3 {
            writeln!(text, "  {}", self.statement(label)).unwrap();
        }
        text += "  l3: skip;\n";
        if self.kinds.locks {
            text += "  l4: if x == 1 { l6: release m[i]; }\n";
        }
        text + "  l5: skip;\n} }\n"
    }

    fn runs(&mut self, family: Family) -> String {
        let body = match family {
            Family::Any(_) => self.anything(),
            Family::Forks => self.forks(),
            Family::Tokens => self.handed_on(),
        };
        let mut text = format!("program r(N: 2..) {{ {body}");
        for at in 0..3 {
            let (from, to) = (self.choices.below(4), self.choices.below(4));
            let formula = match self.choices.below(6) {
                0 => format!("always eventually P[i]@l{to}"),
                1 => format!("(eventually always P[i]@l{from}) || always eventually P[i]@l{to}"),
                2 if family == Family::Forks => "P[i]@l1 ~> P[i]@l3".to_owned(),
                _ => format!("P[i]@l{from} ~> P[i]@l{to}"),
            };
            let mut under =
                vec![self.pick(&["every P[*]", "weak P[*]", "weak P[*]", "weak P[*]", "progress", "weak P[0]"])];
            if self.choices.chance(60) {
                let who = self.pick(&["P[*]", "P[*]", "P[*]", "P[0]"]);
                under.push(format!("strong {who}@l1, strong {who}@l2"));
            }
            if self.choices.chance(10) {
                under.clear();
            }
            let under = if under.is_empty() { String::new() } else { format!(" under {}", under.join(", ")) };
            writeln!(text, "  property p{at}: forall i: {formula}{under};").unwrap();
        }
        text + "}\n"
    }
}

#[derive(Default, Debug)]
pub(crate) struct Tally {
    pub(crate) programs: usize,
    pub(crate) proved: usize,
    /// True at the sizes that were searched.
    open: usize,
    false_ones: usize,
    refused: usize,
}

/// The least size, among those that can be searched, at which a property is false.
fn fails_at(text: &str, from: i64, property: &str) -> (Option<i64>, usize) {
    let mut n_searched = 0;
    let failing = (from..=5).find(|&size| {
        let Some(model) = load(text, size) else { return false };
        let Some(product) = Product::explore(&model, 3_000) else { return false };
        n_searched += 1;
        let asked = model.properties.iter().find(|one| one.name == property).unwrap();
        let PropertyKind::Temporal(formula) = &asked.kind else { return false };
        is_violated(&model, &product.states, formula, &asked.under) == Ok(Some(true))
    });
    (failing, n_searched)
}

/// Proofs that say too much: of a smaller size, and without a state.
fn changed(proof: &Certificate, choices: &mut Choices) -> Vec<Certificate> {
    let mut smaller = proof.clone();
    if let Scope::AllSizes { from, .. } = &mut smaller.scope {
        let Claim::Rings(claim) = &proof.facts[0].claim else { panic!("no windows") };
        *from = claim.from();
    }
    let mut fewer = proof.clone();
    let Claim::Rings(claim) = &mut fewer.facts[0].claim else { panic!("no windows") };
    let window = choices.below(claim.windows.len());
    let states = &mut claim.windows[window].states;
    states.remove(choices.below(states.len()));
    vec![smaller, fewer]
}

pub(crate) fn ask(text: &str, tally: &mut Tally, choices: &mut Choices) {
    let Some(model) = load(text, 3) else { return };
    tally.programs += 1;
    let about_runs = |(_, one): &(_, &Property)| matches!(one.kind, PropertyKind::Temporal(_));
    for (id, property) in model.properties.entries().filter(about_runs) {
        let budget = in_a_moment();
        let task = Task { model: &model, properties: vec![id], budget, n_threads: 1 };
        let answers = ByRings::for_every_size().run(&task, &Silent).unwrap();
        let Verdict::Holds(Evidence::Certificate(proof)) = &answers[0].verdict else {
            let (failing, _) = fails_at(text, 4, &property.name);
            tally.open += usize::from(failing.is_none());
            tally.false_ones += usize::from(failing.is_some());
            continue;
        };
        tally.proved += 1;
        let Scope::AllSizes { from, .. } = proof.scope else { panic!("it is about every size") };
        let (failing, _) = fails_at(text, from, &property.name);
        assert_eq!(failing, None, "{} is proved, and false at this size\n{text}", property.name);
        let check = |proof: &Certificate| audit::certificate::check(&model, property, proof, &Budget::unlimited());
        check(proof).unwrap_or_else(|wrong| panic!("{}: {wrong}\n{text}", property.name));
        tally.refused += changed(proof, choices).iter().filter(|proof| check(proof).is_err()).count();
    }
}

fn campaign(seed: u64, n_programs: u64, family: Family) -> Tally {
    let factor: u64 = std::env::var("RINGS_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut tally = Tally::default();
    for at in 0..n_programs * factor {
        let mut choices = Choices::from_seed(seed * 1_000_000 + at);
        let kinds = if let Family::Any(kinds) = family { kinds } else { Kinds::default() };
        let text = Writer { choices: &mut choices, kinds }.runs(family);
        ask(&text, &mut tally, &mut choices);
    }
    println!("{tally:?}");
    tally
}

#[test]
fn runs_of_rings_agree_with_brute_force() {
    assert!(campaign(11, 8, Family::Any(Kinds::default())).programs > 4);
}

#[test]
fn runs_of_rings_of_several_types_agree_with_brute_force() {
    assert!(campaign(12, 6, Family::Any(Kinds { types: true, ..Kinds::default() })).programs > 3);
}

#[test]
fn runs_of_chains_agree_with_brute_force() {
    assert!(campaign(13, 6, Family::Any(Kinds { chain: true, types: true, ..Kinds::default() })).programs > 3);
}

#[test]
fn runs_of_rings_with_a_shared_cell_agree_with_brute_force() {
    assert!(campaign(14, 6, Family::Any(Kinds { shared: true, ..Kinds::default() })).programs > 3);
}

#[test]
fn runs_of_rings_with_forks_agree_with_brute_force() {
    let tally = campaign(15, 6, Family::Forks);
    assert!(tally.programs > 3, "{tally:?}");
}

#[test]
fn runs_of_rings_with_tokens_agree_with_brute_force() {
    let tally = campaign(16, 5, Family::Tokens);
    assert!(tally.programs > 3, "{tally:?}");
}

#[test]
fn philosophers_and_token_rings_are_proved_for_every_size() {
    for (name, property) in
        [("philosophers", "live"), ("token_links", "served"), ("token_ring", "visits"), ("token_ring", "served")]
    {
        let path = format!("{}/../../examples/{name}.pw", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).unwrap();
        let model: Model = lang::load(&SourceFile::new("r.pw", text.as_str()), &[("N".to_owned(), 5)]).unwrap().model;
        let (id, asked) = model.properties.entries().find(|(_, one)| one.name == property).unwrap();
        let task = Task { model: &model, properties: vec![id], budget: Budget::unlimited(), n_threads: 1 };
        let answers = ByRings::default().run(&task, &Silent).unwrap();
        let Verdict::Holds(Evidence::Certificate(proof)) = &answers[0].verdict else {
            panic!("{name}: {:?}", answers[0].verdict);
        };
        audit::certificate::check(&model, asked, proof, &Budget::unlimited()).unwrap();
    }
}
