//! Proofs by counting: what is proved for every size, what is not, changed proofs, and random programs against brute force.

use std::fmt::Write;
use std::time::Duration;

use base::{Budget, SourceFile};
use evidence::certificate::{Certificate, Claim, Fact};
use evidence::counting::CountingProof;
use evidence::scope::Scope;
use model::Model;
use model::property::PropertyKind;
use model::value::Value;
use testkit::Product;
use testkit::choices::Choices;
use views::counting::prove::Counting;

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
    let budget = budget();
    let Ok(counting) = Counting::new(model, &budget) else { return Vec::new() };
    let kinds: Vec<&PropertyKind> = model.template().properties.iter().map(|one| &one.kind).collect();
    let Ok(found) = counting.prove(&kinds) else { return Vec::new() };
    let scope = match counting.parameter() {
        None => Scope::Instance,
        Some(id) => Scope::AllSizes {
            parameter: model.parameters[id].name.clone(),
            from: model.parameters[id].least,
            checked: Vec::new(),
        },
    };
    let mut proofs = Vec::new();
    for (at, property) in model.properties.iter().enumerate() {
        let Some((proof, _)) = found.get(&at) else { continue };
        let facts = vec![Fact { claim: Claim::Counting(proof.clone()), uses: Vec::new() }];
        let certificate =
            Certificate { property: property.name.clone(), scope: scope.clone(), facts, implies: Vec::new() };
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

struct Writer<'c> {
    choices: &'c mut Choices,
}

impl Writer<'_> {
    fn pick(&mut self, items: &[&str]) -> String {
        (*self.choices.pick(items)).to_owned()
    }

    fn test(&mut self) -> String {
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

    fn program(&mut self) -> String {
        let mut text =
            "program r(N: 2..) {\n  shared sum: 0..=N; shared arrived: 0..=N; shared c: 0..=2 = 1; shared b: bool;\n  \
            shared m: lock; shared s: sem(2) = 1; shared flag: [bool; N]; shared who: pid(P)?;\n"
                .to_owned();
        let n = 2 + self.choices.below(4);
        let body: Vec<String> = (0..n).map(|label| self.statement(label)).collect();
        let (open, close) = if self.choices.chance(40) { ("loop {", "}") } else { ("", "") };
        writeln!(text, "  process P[i in 0..<N] {{ local t: 0..=N; {open} {} {close} }}", body.join(" ")).unwrap();
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
        _ => false,
    }
}

#[test]
fn random_programs_agree_with_brute_force() {
    let factor: u64 = std::env::var("VIEWS_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let first: u64 = std::env::var("VIEWS_FIRST").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let (mut n_programs, mut n_proved, mut n_missed, mut n_sums) = (0, 0, 0, 0);
    for seed in first..first + 150 * factor {
        let mut choices = Choices::from_seed(77_000_000 + seed);
        let text = Writer { choices: &mut choices }.program();
        let Some(model) = load(&text, &[("N", 3)]) else { continue };
        let instances: Vec<(Model, Product)> = (2..=4)
            .filter_map(|n| {
                let model = load(&text, &[("N", n)])?;
                let product = Product::explore(&model, 6_000)?;
                Some((model, product))
            })
            .collect();
        n_programs += 1;
        let found = proofs(&model, &text);
        for property in &model.properties {
            let is_proved = found.iter().find(|(name, _)| *name == property.name);
            let violated = instances.iter().find(|(instance, product)| {
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
                }
                (None, None) => n_missed += 1,
                (None, Some(_)) => {}
            }
        }
    }
    println!("{n_programs} programs, {n_proved} proved with {n_sums} sums, {n_missed} true at small sizes and open");
    assert!(n_programs > 100 && n_proved > 150 && n_sums > 60, "{n_programs}, {n_proved}, {n_sums}");
}
