//! Random rings and chains against brute force: nothing is proved that is violated at any small size; the checker accepts every proof, and
//! none that was changed unless it is still one.

use std::fmt::Write;

use base::{Budget, SourceFile};
use engine::{Engine, Silent, Task, Verdict};
use evidence::Evidence;
use evidence::certificate::{Certificate, Claim};
use model::Model;
use model::property::PropertyKind;
use model::value::Value;
use rings::ByRings;
use testkit::Product;
use testkit::choices::Choices;

use crate::in_a_moment;

/// What may occur in the programs of a campaign.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Kinds {
    /// The first process, the last one, or odd ones differ.
    pub(crate) types: bool,
    /// The ends are no neighbours.
    pub(crate) chain: bool,
    /// There is a cell of all.
    pub(crate) shared: bool,
    /// There are locks between neighbours.
    pub(crate) locks: bool,
    /// Ones go from place to place.
    pub(crate) tokens: bool,
}

pub(crate) struct Writer<'c> {
    pub(crate) choices: &'c mut Choices,
    pub(crate) kinds: Kinds,
}

impl Writer<'_> {
    pub(crate) fn pick(&mut self, items: &[&str]) -> String {
        (*self.choices.pick(items)).to_owned()
    }

    fn element(&mut self) -> String {
        match (self.kinds.chain, self.choices.below(3)) {
            (_, 0) => "c[i]".to_owned(),
            (false, 1) => "c[(i + 1) % N]".to_owned(),
            (false, _) => self.pick(&["c[(i + N - 1) % N]", "c[(i + 1) % N]"]),
            (true, _) => "c[if i == 0 then 0 else i - 1]".to_owned(),
        }
    }

    pub(crate) fn position(&mut self) -> String {
        self.pick(&["i == 0", "i == N - 1", "i % 2 == 0", "i > 0", "i < N - 1"])
    }

    fn guard(&mut self) -> String {
        let n = self.choices.below(2);
        match self.choices.below(7) {
            0 | 1 => format!("{} == {n}", self.element()),
            2 => format!("x == {n}"),
            3 if self.kinds.types => self.position(),
            4 if self.kinds.types => format!("({} || x == {n})", self.position()),
            5 if self.kinds.shared => format!("g == {n}"),
            _ if self.kinds.chain => format!("(i == 0 || P[i - 1].x == {n})"),
            _ => format!("P[(i + 1) % N].x == {n}"),
        }
    }

    fn effect(&mut self) -> String {
        let n = self.choices.below(2);
        match self.choices.below(7) {
            0..=2 => format!("{} = {n};", self.element()),
            3 => format!("x = {n};"),
            4 => format!("x = {};", self.element()),
            5 if self.kinds.shared => format!("g = {n};"),
            _ => format!("{} = x;", self.element()),
        }
    }

    /// A one is taken, or put down; now and then one more is made, or one is lost.
    fn token(&mut self) -> String {
        let place = self.pick(&["c[i]", "c[(i + 1) % N]"]);
        match self.choices.below(9) {
            0..=3 => format!("atomic {{ await {place} == 1 && x == 0; {place} = 0; x = 1; }}"),
            4..=6 => format!("atomic {{ await x == 1; x = 0; {place} = 1; }}"),
            7 => format!("atomic {{ if x == 1 {{ x = 0; {place} = 1; }} }}"),
            _ => format!("{place} = x;"),
        }
    }

    pub(crate) fn statement(&mut self, label: usize) -> String {
        if self.kinds.tokens {
            // Take, use, pass on: most of the time.
            return match (self.choices.below(6), label) {
                (0, _) => format!("l{label}: {}", self.token()),
                (_, 0) => "l0: atomic { await x == 1 || c[i] == 1; x = 1; c[i] = 0; }".to_owned(),
                (_, 1) => "l1: skip;".to_owned(),
                (1, _) => format!("l{label}: c[(i + 1) % N] = 1;"),
                (_, 2) => "l2: atomic { x = 0; c[(i + 1) % N] = 1; }".to_owned(),
                _ => format!("l{label}: skip;"),
            };
        }
        match self.choices.below(if self.kinds.locks { 7 } else { 5 }) {
            0 => format!("l{label}: if {} {{ goto l{}; }}", self.guard(), self.choices.below(2)),
            1 => format!("l{label}: atomic {{ {} {} }}", self.effect(), self.effect()),
            5 => format!("l{label}: acquire m[i];"),
            6 => format!("l{label}: acquire m[(i + 1) % N];"),
            _ => format!("l{label}: atomic {{ await {}; {} {} }}", self.guard(), self.effect(), self.effect()),
        }
    }

    pub(crate) fn told(&mut self, who: &str) -> String {
        let n = self.choices.below(2);
        match self.choices.below(4) {
            0 => format!("P[{who}].x == {n}"),
            1 => format!("c[{who}] == {n}"),
            _ => format!("P[{who}]@l{}", self.choices.below(3)),
        }
    }

    fn program(&mut self) -> String {
        let shared = if self.kinds.shared { "shared g: 0..=1;" } else { "" };
        let locks = if self.kinds.locks { "shared m: [lock; N];" } else { "" };
        let start = match self.choices.below(4) {
            _ if self.kinds.tokens => "= if i == 0 then 1 else 0".to_owned(),
            0 => "= if i == 0 then 1 else 0".to_owned(),
            1 => "= any".to_owned(),
            _ => String::new(),
        };
        let mut text = format!("program r(N: 2..) {{ shared c: [0..=1; N]; {shared} {locks}\n");
        writeln!(text, "process P[i in 0..<N] {{ public x: 0..=1 {start}; loop {{").unwrap();
        let n = 3 + self.choices.below(2);
        for label in 0..n {
            writeln!(text, "  {}", self.statement(label)).unwrap();
        }
        if self.kinds.locks {
            text += "  u0: if x == 1 { release m[i]; }\n";
        }
        text += "} }\n";
        for at in 0..3 {
            let (one, other) = (self.told("i"), self.told("j"));
            writeln!(text, "  invariant v{at}: forall i != j: !({one} && {other});").unwrap();
        }
        let next = if self.kinds.chain { "i" } else { "(i + 1) % N" };
        let (one, other) = (self.told("i"), self.told(next));
        writeln!(text, "  invariant w: forall i: !({one} && {other});").unwrap();
        let (one, other) = (self.told("i"), self.told("i"));
        writeln!(text, "  invariant y: forall i: {one} => {other};\n}}").unwrap();
        text
    }
}

pub(crate) fn load(text: &str, n: i64) -> Option<Model> {
    lang::load(&SourceFile::new("r.pw", text), &[("N".to_owned(), n)]).ok().map(|loaded| loaded.model)
}

pub(crate) fn is_violated(model: &Model, product: &Product, kind: &PropertyKind) -> bool {
    match kind {
        PropertyKind::Invariant(expr) => product
            .states
            .iter()
            .any(|state| !matches!(model::eval::evaluate(model, state, expr, None), Ok(Value::Bool(true)))),
        PropertyKind::NoErrors => product.faults.iter().any(|faults| !faults.is_empty()),
        PropertyKind::DeadlockFree => product.states.iter().any(|state| model::eval::is_deadlock(model, state)),
        _ => false,
    }
}

#[derive(Default, Debug)]
pub(crate) struct Tally {
    pub(crate) programs: usize,
    pub(crate) proved: usize,
    missed: usize,
    pub(crate) refused: usize,
    pub(crate) flows: usize,
}

/// A change of a proof: a state is gone, a weight differs, the window is another.
fn changed(proof: &Certificate, choices: &mut Choices) -> Certificate {
    let mut changed = proof.clone();
    let Claim::Rings(claim) = &mut changed.facts[0].claim else { panic!("no windows") };
    match choices.below(4) {
        0 if !claim.flows.is_empty() => claim.flows[0].total += 1,
        1 => claim.greatest = (claim.greatest - 1).max(0),
        2 => claim.distances.left = claim.distances.left.saturating_sub(1),
        _ => {
            let window = choices.below(claim.windows.len());
            let states = &mut claim.windows[window].states;
            if !states.is_empty() {
                states.remove(choices.below(states.len()));
            }
        }
    }
    changed
}

pub(crate) fn compare(text: &str, tally: &mut Tally, choices: &mut Choices) {
    let Some(model) = load(text, 3) else { return };
    let task =
        Task { model: &model, properties: model.properties.ids().collect(), budget: in_a_moment(), n_threads: 1 };
    let answers = ByRings::for_every_size().run(&task, &Silent).unwrap();
    let instances: Vec<(i64, Model, Product)> = (2..=6)
        .filter_map(|n| {
            let model = load(text, n)?;
            let product = Product::explore(&model, 6_000)?;
            Some((n, model, product))
        })
        .collect();
    tally.programs += 1;
    for answer in answers {
        let property = &model.properties[answer.property];
        let Verdict::Holds(Evidence::Certificate(proof)) = &answer.verdict else {
            let holds = instances.iter().all(|(_, model, product)| !is_violated(model, product, &property.kind));
            tally.missed += usize::from(holds && instances.len() >= 3);
            continue;
        };
        tally.proved += 1;
        let from = proof.rings().unwrap().from();
        tally.flows += usize::from(!proof.rings().unwrap().flows.is_empty());
        for (n, instance, product) in instances.iter().filter(|(n, ..)| *n >= from) {
            let same = instance.properties.iter().find(|other| other.name == property.name).unwrap();
            assert!(!is_violated(instance, product, &same.kind), "{} is violated at N = {n}\n{text}", same.name);
        }
        let check = |proof: &Certificate| audit::certificate::check(&model, property, proof, &Budget::unlimited());
        if let Err(error) = check(proof) {
            panic!("the checker refuses {}: {error}\n{text}", property.name);
        }
        let other = changed(proof, choices);
        if other != **proof {
            tally.refused += usize::from(check(&other).is_err());
        }
    }
}

fn campaign(seed: u64, n_programs: u64, kinds: Kinds) -> Tally {
    let factor: u64 = std::env::var("RINGS_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut tally = Tally::default();
    for at in 0..n_programs * factor {
        let mut choices = Choices::from_seed(seed * 1_000_000 + at);
        let text = Writer { choices: &mut choices, kinds }.program();
        compare(&text, &mut tally, &mut choices);
    }
    let Tally { programs, proved, missed, refused, flows } = &tally;
    println!(
        "{programs} programs, {proved} proved ({flows} with flows), {missed} true at small sizes and open, {refused} changed proofs refused"
    );
    tally
}

#[test]
fn rings_agree_with_brute_force() {
    let tally = campaign(1, 12, Kinds::default());
    assert!(tally.programs > 5 && tally.proved > 10 && tally.refused > 5);
}

#[test]
fn rings_of_several_types_agree_with_brute_force() {
    assert!(campaign(2, 8, Kinds { types: true, ..Kinds::default() }).proved > 5);
}

#[test]
fn chains_agree_with_brute_force() {
    assert!(campaign(3, 8, Kinds { chain: true, types: true, ..Kinds::default() }).proved > 5);
}

#[test]
fn rings_with_a_shared_cell_agree_with_brute_force() {
    assert!(campaign(4, 8, Kinds { shared: true, ..Kinds::default() }).proved > 5);
}

#[test]
fn rings_with_locks_agree_with_brute_force() {
    assert!(campaign(5, 8, Kinds { locks: true, ..Kinds::default() }).proved > 2);
}

#[test]
fn rings_with_tokens_agree_with_brute_force() {
    let tally = campaign(6, 12, Kinds { tokens: true, ..Kinds::default() });
    assert!(tally.proved > 5 && tally.flows > 2, "{} proved, {} with flows", tally.proved, tally.flows);
}
