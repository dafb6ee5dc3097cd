//! Random programs of interchangeable processes with random fairness: what is proved for every size holds at each of the sizes 2, 3 and 4 that can be
//! searched, and the checker accepts each proof; and none for the program with a fairness assumption less that is false.
//!
//! `PIECEWISE_PROGRAMS=5000 cargo test -p piecewise-propagate --test it every_random` asks about more programs than usual.

use audit::certificate;
use audit::temporal::is_violated;
use base::{Budget, SourceFile};
use engine::{Engine, Silent, Task, Verdict};
use evidence::{Certificate, Evidence};
use model::Model;
use model::property::{Property, PropertyKind};
use propagate::Propagate;
use testkit::Product;
use testkit::choices::Choices;

struct Writer<'c> {
    choices: &'c mut Choices,
    /// Whether processes look at each other, and at all others.
    looks: bool,
}

impl Writer<'_> {
    fn pick(&mut self, items: &[&str]) -> String {
        (*self.choices.pick(items)).to_owned()
    }

    fn guard(&mut self) -> String {
        let c = self.choices.below(2);
        let simple = ["p == none", "p == i", "p != none", "s > 0", "q == i", "q == none", "q != i", "m.owner == none"];
        let looking = ["forall k: k == i || !P[k].a", "exists k: k != i && P[k].a", "forall k: P[k].a"];
        match self.choices.below(if self.looks { 6 } else { 4 }) {
            0 => format!("d == {c}"),
            1 => "a".to_owned(),
            2 | 3 => self.pick(&simple),
            _ => self.pick(&looking),
        }
    }

    fn effect(&mut self) -> String {
        let c = self.choices.below(2);
        let pids = ["p = i;", "p = none;", "q = i;", "q = p;", "p = q;", "q = none;", "q = any;"];
        match self.choices.below(5) {
            0 => format!("d = {c};"),
            1 => format!("a = {};", c == 0),
            _ => self.pick(&pids),
        }
    }

    fn statement(&mut self, label: usize) -> String {
        match self.choices.below(9) {
            0 | 1 => format!("l{label}: acquire s;"),
            2 | 3 => format!("l{label}: release s;"),
            4 => format!("l{label}: {}", self.pick(&["acquire m;", "release m;"])),
            5 => format!("l{label}: {}", self.pick(&["skip;", "idle;"])),
            6 => format!("l{label}: atomic {{ await {}; {} }}", self.guard(), self.effect()),
            7 => format!("l{label}: await {};", self.guard()),
            _ => format!("l{label}: {}", self.effect()),
        }
    }

    /// The statements of a process: often a lock that is taken and given back in some order.
    fn body(&mut self, n: usize) -> Vec<String> {
        let mut lines: Vec<String> = (0..n).map(|label| self.statement(label)).collect();
        let locks = [
            ("acquire s;", "release s;"),
            ("acquire m;", "release m;"),
            ("atomic { await p == none; p = i; }", "p = none;"),
            ("atomic { await p == none; p = i; q = i; }", "p = none;"),
            ("atomic { await d == 0; d = 1; }", "d = 0;"),
        ];
        if self.choices.chance(75) {
            let (take, give) = *self.choices.pick(&locks);
            lines[1] = format!("l1: {take}");
            lines[n - 1] = format!("l{}: {give}", n - 1);
        }
        lines
    }

    fn program(&mut self) -> String {
        let n = 3 + self.choices.below(3);
        let body = self.body(n).join("\n      ");
        let labels: Vec<String> = (0..n).map(|label| format!("l{label}")).collect();
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        let mut text = format!(
            "program random(N: 2..) {{
  shared d: 0..=1;
  shared s: sem = 1;
  shared m: lock;
  shared p: pid? = none;
  shared q: pid? = none;

  process P[i in 0..<N] {{
    public a: bool;
    loop {{
      {body}
    }}
  }}
"
        );
        for property in 0..3 {
            let (from, to) = (self.pick(&labels), self.pick(&labels));
            let formula = match self.choices.below(5) {
                0 => format!("forall i: always eventually P[i]@{to}"),
                1 => format!("always eventually {}", self.pick(&["s > 0", "p == none", "m.owner == none", "d == 0"])),
                2 => format!("forall i: (eventually always P[i]@{from}) || always eventually P[i]@{to}"),
                _ => format!("forall i: P[i]@{from} ~> P[i]@{to}"),
            };
            let mut under: Vec<String> = Vec::new();
            if self.choices.chance(85) {
                under.push(self.pick(&["every P[*]", "every P[*]", "weak P[*]", "progress"]));
            }
            for _ in 0..self.choices.below(3) {
                let form = self.pick(&["strong", "strong", "weak"]);
                let who = if self.choices.chance(90) { "P[*]" } else { "P[0]" };
                under.push(format!("{form} {who}@{}", self.pick(&labels)));
            }
            let under = if under.is_empty() { String::new() } else { format!(" under {}", under.join(", ")) };
            text.push_str(&format!("  property p{property}: {formula}{under};\n"));
        }
        text.push_str("}\n");
        text
    }
}

fn load(text: &str, size: i64) -> Option<Model> {
    let source = SourceFile::new("random.pw", text);
    lang::load(&source, &[("N".to_owned(), size)]).ok().map(|loaded| loaded.model)
}

/// Whether a property holds at sizes 2, 3 and 4, as far as they can be searched: the size at which it does not.
fn fails_at(text: &str, property: &str) -> Option<i64> {
    (2..=4).find(|&size| {
        let Some(model) = load(text, size) else { return false };
        let Some(product) = Product::explore(&model, if size == 4 { 3_000 } else { 20_000 }) else { return false };
        let asked = model.properties.iter().find(|one| one.name == property).expect("the property is there");
        let PropertyKind::Temporal(formula) = &asked.kind else { return false };
        is_violated(&model, &product.states, formula, &asked.under) == Ok(Some(true))
    })
}

/// The property without an assumption, and the proof as if it were about that.
fn without(model: &Model, property: &Property, proof: &Certificate, name: &str) -> Option<(Property, Certificate)> {
    let (mut property, mut proof) = (property.clone(), proof.clone());
    let is_form = |id: &model::fairness::FairnessId| model.fairness[*id].name.starts_with(name);
    if !property.under.any_of.iter().flatten().any(&is_form) {
        return None;
    }
    property.under.any_of.iter_mut().for_each(|pairs| pairs.retain(|id| !is_form(id)));
    for fact in &mut proof.facts {
        if let evidence::certificate::Claim::Crowd(claim) = &mut fact.claim {
            claim.violation.fairness.retain(|id| !is_form(id));
        }
    }
    Some((property, proof))
}

/// Whether the property is false at size 2 with the assumptions that are left.
fn is_false(model: &Model, property: &Property) -> bool {
    let PropertyKind::Temporal(formula) = &property.kind else { return false };
    let Some(product) = Product::explore(model, 20_000) else { return false };
    is_violated(model, &product.states, formula, &property.under) == Ok(Some(true))
}

#[derive(Default, Debug)]
struct Tally {
    programs: usize,
    proved: usize,
    open: usize,
    false_ones: usize,
    refused_without: usize,
}

fn ask(text: &str, tally: &mut Tally) {
    let Some(model) = load(text, 2) else { return };
    tally.programs += 1;
    let about_runs = |(_, one): &(_, &Property)| matches!(one.kind, PropertyKind::Temporal(_));
    for (id, property) in model.properties.entries().filter(about_runs) {
        let task = Task { model: &model, properties: vec![id], budget: Budget::unlimited(), n_threads: 1 };
        let verdict = Propagate::for_every_size().run(&task, &Silent).unwrap_or_else(|wrong| panic!("{wrong}\n{text}"));
        let failing = fails_at(text, &property.name);
        match &verdict[0].verdict {
            Verdict::Holds(Evidence::Certificate(proof)) => {
                assert_eq!(failing, None, "{} is proved, and false at this size\n{text}", property.name);
                certificate::check(&model, property, proof, &Budget::unlimited())
                    .unwrap_or_else(|wrong| panic!("{}: {wrong}\n{text}", property.name));
                tally.proved += 1;
                for form in ["every", "weak", "strong"] {
                    let Some((less, changed)) = without(&model, property, proof, form) else { continue };
                    if is_false(&model, &less) {
                        let found = certificate::check(&model, &less, &changed, &Budget::unlimited());
                        assert!(found.is_err(), "{} without `{form}` is accepted\n{text}", property.name);
                        tally.refused_without += 1;
                    }
                }
            }
            Verdict::Unknown(_) if failing.is_none() => tally.open += 1,
            Verdict::Unknown(_) => tally.false_ones += 1,
            other => panic!("{other:?}\n{text}"),
        }
    }
}

#[test]
fn what_is_proved_for_every_size_holds_at_small_ones() {
    let n: u64 = std::env::var("PIECEWISE_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(120);
    let seed: u64 = std::env::var("PIECEWISE_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut tally = Tally::default();
    for at in 0..n {
        let mut choices = Choices::from_seed(seed * 1_000_003 + at + 1);
        let looks = choices.chance(30);
        let text = Writer { choices: &mut choices, looks }.program();
        ask(&text, &mut tally);
    }
    println!("{tally:?}");
    assert!(tally.programs as u64 > n / 2 && tally.proved > 20 && tally.false_ones > 20, "{tally:?}");
    assert!(tally.refused_without > 3, "{tally:?}");
}
