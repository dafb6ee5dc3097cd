//! Proofs one process at a time that rest on sums: semaphores, counters, flags. What is proved is true by a search of the product, the checker accepts each
//! proof, refuses edited sums, and accepts no proof of one program for another of which the property is false.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use audit::certificate::{self, CertificateError};
use base::{Budget, SourceFile};
use driver::methods;
use engine::{Engine, PropertyId, Silent, Statistics, Task, Verdict};
use evidence::Evidence;
use evidence::certificate::{Certificate, Claim, Fact, Sights, StateSet};
use local::fair::{ExplicitFll, LivenessRule, PrunedFll};
use model::Model;
use model::value::Value;
use propagate::Propagate;
use testkit::changes;
use testkit::choices::Choices;

fn load(text: &str) -> Model {
    match lang::load(&SourceFile::new("sums.pw", text), &[]) {
        Ok(loaded) => loaded.model,
        Err(diagnostics) => panic!("{diagnostics:?}\n{text}"),
    }
}

fn example(name: &str, parameters: &[(&str, i64)]) -> Model {
    let path = format!("{}/../../examples/{name}.pw", env!("CARGO_MANIFEST_DIR"));
    let source = SourceFile::new(&path, std::fs::read_to_string(&path).expect("the example is there"));
    let parameters: Vec<(String, i64)> = parameters.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    lang::load(&source, &parameters).unwrap_or_else(|wrong| panic!("{name}: {wrong:?}")).model
}

fn asked(method: &str, model: &Model, property: PropertyId) -> (Verdict, Statistics) {
    // By work and not by the clock.
    let budget = Budget::unlimited().with_looks(10_000);
    let task = Task { model, properties: vec![property], budget, n_threads: 1 };
    let answer = methods::checker(methods::find(method).unwrap()).check(&task, &Silent).unwrap().remove(0);
    (answer.verdict, answer.statistics)
}

fn certificate_of(verdict: &Verdict) -> Option<&Certificate> {
    match verdict {
        Verdict::Holds(Evidence::Certificate(proof)) | Verdict::Violated(Evidence::Certificate(proof)) => Some(proof),
        _ => None,
    }
}

fn sums(proof: &mut Certificate) -> Option<&mut Sights> {
    let mut claims = proof.facts.iter_mut().map(|fact| &mut fact.claim);
    claims.find_map(|claim| if let Claim::Sights(sights) = claim { Some(sights) } else { None })
}

fn check(model: &Model, property: PropertyId, proof: &Certificate) -> Result<(), CertificateError> {
    let budget = Budget::unlimited().with_looks(40_000);
    certificate::check(model, &model.properties[property], proof, &budget).map(|_| ())
}

/// That a method proves a property by an invariant that rests on sums.
fn check_proved(method: &str, model: &Model, property: &str) -> Certificate {
    let id = driver::select::find(model, property).unwrap();
    let (verdict, _) = asked(method, model, id);
    let mut proof = certificate_of(&verdict).unwrap_or_else(|| panic!("{property} by {method}: {verdict:?}")).clone();
    assert!(sums(&mut proof).is_some_and(|sights| !sights.additive.is_empty()), "{property} by {method}");
    check(model, id, &proof).unwrap_or_else(|wrong| panic!("{property} by {method}: {wrong}"));
    proof
}

#[test]
fn one_process_at_a_time_is_enough_where_sums_tie_semaphores_to_places() {
    for method in ["tmmc", "split"] {
        check_proved(method, &example("mux_sem", &[("N", 2)]), "mutex");
        check_proved(method, &example("mux_sem", &[("N", 8)]), "mutex");
        check_proved(method, &example("permits", &[("N", 4), ("K", 2)]), "at_most");
        check_proved(method, &example("permits", &[("N", 4), ("K", 2)]), "sum");
        check_proved(method, &example("readers_writers", &[("R", 3), ("W", 2)]), "counted");
    }
}

/// Of deadlocks the checker hears of no sums: where a rendezvous is looked at, pairs that a sum excludes are not left out.
#[test]
fn a_deadlock_is_not_excluded_by_sums() {
    let model = load(
        "program meeting { shared s: sem(1) = 1; chan h: [0] of (bool);
         process P { loop { send h(true); acquire s; release s; } }
         process Q { loop { receive h(_); acquire s; release s; } } deadlock_free; }",
    );
    let id = driver::select::find(&model, "deadlock_free").unwrap();
    for method in ["tmmc", "split"] {
        let (verdict, _) = asked(method, &model, id);
        assert!(!matches!(verdict, Verdict::Violated(_)), "{method}");
        if let Some(proof) = certificate_of(&verdict) {
            check(&model, id, proof).unwrap_or_else(|wrong| panic!("{method}: {wrong}"));
        }
    }
}

/// Whoever has a permit gives it back, since one is missing as long as it has it: without the sum, others would have to show that they have none.
const PERMIT: &str = "program permit { shared s: sem(2) = 2;
    process P[i in 0..<5] { loop { out: idle; get: acquire s; use: await s < 2; give: release s; } }
    property used: P[0]@use ~> P[0]@give under weak P[*];
    invariant given: P[0]@use => s < 2; }";

#[test]
fn nothing_is_exposed_where_a_sum_says_it() {
    let model = load(PERMIT);
    let id = driver::select::find(&model, "used").unwrap();
    for method in ["fll-b", "fll-a"] {
        check_proved(method, &model, "used");
        let (_, statistics) = asked(method, &model, id);
        assert_eq!(statistics.refinements, Some(0), "{method}");
    }
    check_proved("tmmc", &model, "given");
}

/// The queue of `clh` needs many facts, and fewer where sums stay beside them (33 rounds without, 17 with them).
#[test]
fn sums_stay_beside_what_is_exposed() {
    let model = example("clh", &[("N", 2)]);
    let id = driver::select::find(&model, "live").unwrap();
    let task = Task { model: &model, properties: vec![id], budget: Budget::unlimited(), n_threads: 1 };
    let answer = methods::checker(methods::find("fll-b").unwrap()).check(&task, &Silent).unwrap().remove(0);
    let mut proof = certificate_of(&answer.verdict).expect("a proof").clone();
    assert!(sums(&mut proof).is_some_and(|sights| !sights.additive.is_empty()));
    assert!(answer.statistics.refinements.is_some_and(|rounds| (4..25).contains(&rounds)));
    certificate::check(&model, &model.properties[id], &proof, &Budget::unlimited()).unwrap();
    // Without the sums the invariant is not closed.
    proof.facts.iter_mut().for_each(|fact| fact.uses.clear());
    assert!(certificate::check(&model, &model.properties[id], &proof, &Budget::unlimited()).is_err());
}

/// What is wrong, and how it gets so.
type Edit<'e> = (&'static str, &'e dyn Fn(&mut Certificate));

#[test]
fn edited_sums_and_invariants_are_refused() {
    let model = example("permits", &[("N", 3), ("K", 2)]);
    let id = driver::select::find(&model, "at_most").unwrap();
    let proof = check_proved("tmmc", &model, "at_most");
    let edits: [Edit<'_>; 7] = [
        ("another constant", &|proof| sums(proof).unwrap().additive.iter_mut().for_each(|sum| sum.constant += 1)),
        ("another weight of a cell", &|proof| {
            for sum in &mut sums(proof).unwrap().additive {
                sum.cells[0].weights.iter_mut().for_each(|(_, weight)| *weight *= 2);
            }
        }),
        ("other weights of a process", &|proof| {
            for sum in &mut sums(proof).unwrap().additive {
                sum.processes[0].weights.iter_mut().for_each(|local| local.weight = 1 - local.weight);
            }
        }),
        ("a process is left out", &|proof| {
            sums(proof).unwrap().additive.iter_mut().for_each(|sum| _ = sum.processes.pop());
        }),
        ("no sum is used", &|proof| proof.facts.iter_mut().for_each(|fact| fact.uses.clear())),
        ("the processes are a crowd", &|proof| {
            sums(proof).unwrap().crowds = vec![model.processes.ids().collect()];
        }),
        ("no row with a cell at its first value", &|proof| {
            for fact in &mut proof.facts {
                let Some(invariant) = fact.claim.split_invariant_mut() else { continue };
                let StateSet::Rows(rows) = &mut invariant.members[0].states else { panic!("rows are listed") };
                let n_before = rows.len();
                rows.retain(|row| row[0] != 0);
                assert!(rows.len() < n_before);
            }
        }),
    ];
    for (what, edit) in edits {
        let mut edited = proof.clone();
        edit(&mut edited);
        assert!(check(&model, id, &edited).is_err(), "{what}");
    }
    // A value without a weight says nothing, and contradicts nothing.
    let mut unlisted = proof.clone();
    for sum in &mut sums(&mut unlisted).unwrap().additive {
        sum.cells[0].weights.retain(|(value, _)| *value != Value::Int(0));
    }
    assert!(check(&model, id, &unlisted).is_err(), "a value without a weight");
}

/// Writes programs that take and give back.
struct Writer<'c> {
    choices: &'c mut Choices,
}

impl Writer<'_> {
    fn taking(&mut self, resource: usize) -> String {
        let sloppy = self.choices.chance(8);
        match resource {
            0 => "acquire s;".to_owned(),
            1 if sloppy => "c = c + 1;".to_owned(),
            1 => "atomic { await c < 2; c = c + 1; }".to_owned(),
            _ if sloppy => "b = true;".to_owned(),
            _ => "atomic { await !b; b = true; }".to_owned(),
        }
    }

    fn giving(&mut self, resource: usize) -> String {
        match resource {
            _ if self.choices.chance(8) => "skip;".to_owned(),
            0 => "release s;".to_owned(),
            1 => "atomic { await c > 0; c = c - 1; }".to_owned(),
            _ => "b = false;".to_owned(),
        }
    }

    fn body(&mut self) -> String {
        let mut lines = vec![if self.choices.chance(60) { "idle;" } else { "skip;" }.to_owned()];
        let mut held: Vec<usize> = Vec::new();
        while lines.len() < 4 {
            let resource = self.choices.below(3);
            match held.pop() {
                Some(one) if self.choices.chance(50) => lines.push(self.giving(one)),
                one => {
                    held.extend(one);
                    held.push(resource);
                    lines.push(self.taking(resource));
                    let looks = ["skip;", "await s < 2;", "await c > 0;", "await b;", "m = !m;"];
                    if self.choices.chance(40) {
                        lines.push((*self.choices.pick(&looks)).to_owned());
                    }
                }
            }
        }
        while let Some(one) = held.pop() {
            let giving = self.giving(one);
            lines.push(giving);
        }
        let labelled: Vec<String> = lines.iter().enumerate().map(|(at, line)| format!("l{at}: {line}")).collect();
        format!("local m: bool; loop {{ {} }}", labelled.join("\n"))
    }

    fn place(&mut self) -> String {
        format!("l{}", self.choices.below(4))
    }

    fn program(&mut self) -> String {
        let n = 2 + self.choices.below(2);
        let mut text = format!(
            "program random {{ shared s: sem(2) = {}; shared c: 0..=3; shared b: bool;\n process P[i in 0..<{n}] {{ {} }}\n",
            1 + self.choices.below(2),
            self.body(),
        );
        if self.choices.chance(30) {
            text += &format!(" process Q {{ {} }}\n", self.body());
        }
        text += " allow deadlock;\n";
        for at in 0..3 {
            let (one, other, k) = (self.place(), self.place(), 1 + self.choices.below(2));
            text += &match self.choices.below(5) {
                0 => format!(" invariant i{at}: forall i != j: !(P[i]@{one} && P[j]@{other});\n"),
                1 => format!(" invariant i{at}: count(i: P[i]@{{{one}, {other}}}) <= {k};\n"),
                2 => format!(" invariant i{at}: P[0]@{one} => s < 2;\n"),
                3 => format!(" invariant i{at}: forall i: P[i]@{one} => c > 0;\n"),
                _ => format!(" invariant i{at}: s == 0 => exists i: P[i]@{{{one}, {other}}};\n"),
            };
        }
        for at in 0..3 {
            let (one, other) = (self.place(), self.place());
            let asked = match self.choices.below(4) {
                0 => format!("forall i: P[i]@{one} ~> P[i]@{other}"),
                1 => format!("always eventually P[0]@{one}"),
                2 => "always eventually s > 0".to_owned(),
                _ => format!("P[0]@{one} ~> P[0]@{other}"),
            };
            let fair = match self.choices.below(4) {
                0 => "weak P[*]".to_owned(),
                1 => "strong P[*], weak P[*]".to_owned(),
                2 => format!("strong P[*]@{one}, every P[*]"),
                _ => "every P[*]".to_owned(),
            };
            text += &format!(" property t{at}: {asked} under {fair};\n");
        }
        text + "}\n"
    }
}

#[derive(Default, Debug)]
struct Tally {
    programs: usize,
    /// By method, what was proved, and what of it by sums.
    proved: BTreeMap<&'static str, (usize, usize)>,
    edited_refused: usize,
    others_refused: usize,
    others_true: usize,
}

/// Whether a property holds, if a search of the product says so.
fn is_true(model: &Model, property: PropertyId) -> Option<bool> {
    match asked("mono", model, property).0 {
        Verdict::Holds(_) => Some(true),
        Verdict::Violated(_) => Some(false),
        Verdict::Unknown(_) => None,
    }
}

#[test]
fn random_programs_that_take_and_give_back() {
    let number = |name: &str, usual: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (n, seed) = (number("PIECEWISE_PROGRAMS", 60), number("PIECEWISE_SEED", 0));
    let mut tally = Tally::default();
    for at in 0..n {
        let mut choices = Choices::from_seed(seed * 1_000_003 + at + 1);
        let text = Writer { choices: &mut choices }.program();
        let Ok(loaded) = lang::load(&SourceFile::new("random.pw", &text), &[]) else { continue };
        let model = loaded.model;
        tally.programs += 1;
        for (id, property) in model.properties.entries() {
            let Some(truth) = is_true(&model, id) else { continue };
            for method in ["tmmc", "split", "fll-a", "fll-b"] {
                if methods::find(method).unwrap().supports(&model, id).is_err() {
                    continue;
                }
                let (verdict, _) = asked(method, &model, id);
                let found = match verdict {
                    Verdict::Holds(_) => true,
                    Verdict::Violated(_) => false,
                    Verdict::Unknown(_) => continue,
                };
                assert_eq!(found, truth, "{} by {method}\n{text}", property.name);
                let Some(proof) = certificate_of(&verdict) else { continue };
                match check(&model, id, proof) {
                    Ok(()) => {}
                    Err(CertificateError::Stopped(_)) => continue,
                    Err(wrong) => panic!("{} by {method}: {wrong}\n{text}", property.name),
                }
                let mut edited = proof.clone();
                let counts = tally.proved.entry(method).or_default();
                counts.0 += 1;
                let Some(sights) = sums(&mut edited) else { continue };
                counts.1 += 1;
                sights.additive[0].constant += 1;
                assert!(check(&model, id, &edited).is_err(), "{} with another sum\n{text}", property.name);
                tally.edited_refused += 1;
                for _ in 0..4 {
                    let Some(changed) = changes::program(&text, &mut choices) else { continue };
                    compare_with_another(&changed, &property.name, proof, &mut tally);
                }
            }
        }
        if (at + 1).is_multiple_of(100) {
            println!("{tally:?}");
        }
    }
    println!("{tally:?}");
    assert!(tally.programs as u64 > n / 2 && tally.others_refused > 20, "{tally:?}");
    // Every process has to refute the violation by `fll-a`, which sums alone seldom do.
    let by_sums = |method: &str| tally.proved.get(method).map_or(0, |(_, by_sums)| *by_sums);
    assert!(["tmmc", "split", "fll-b"].into_iter().all(|method| by_sums(method) > 3), "{tally:?}");
}

/// The checker does not accept the proof for another program, unless the property is true of it.
fn compare_with_another(text: &str, property: &str, proof: &Certificate, tally: &mut Tally) {
    let Ok(loaded) = lang::load(&SourceFile::new("changed.pw", text), &[]) else { return };
    let model = loaded.model;
    let Ok(id) = driver::select::find(&model, property) else { return };
    match check(&model, id, proof) {
        Err(_) => tally.others_refused += 1,
        Ok(()) => {
            let truth = is_true(&model, id);
            assert_ne!(truth, Some(false), "{property} is accepted\n{text}");
            tally.others_true += 1;
        }
    }
}

/// What `propagate` refuted before it gave up is part of a proof by ranks, which shows the rest.
#[test]
fn what_was_refuted_before_is_not_shown_again() {
    let model = example("philosophers", &[("N", 5)]);
    let id = driver::select::find(&model, "live").unwrap();
    let task = Task { model: &model, properties: vec![id], budget: Budget::unlimited(), n_threads: 1 };
    let found = (1..400).find_map(|most| {
        let mut engine = Propagate::default();
        (engine.config.tests, engine.config.first_tests, engine.config.together) = (most, 1, 0);
        let shown = RefCell::new(Vec::new());
        engine.run_and_show(&task, &Silent, &|_, facts| *shown.borrow_mut() = facts).unwrap();
        let shown = shown.into_inner();
        shown.iter().any(|fact| matches!(fact.claim, Claim::Refutation(_))).then_some(shown)
    });
    let found = found.expect("some ways to violate it are refuted before the end");
    let n_refuted = found.iter().filter(|fact| matches!(fact.claim, Claim::Refutation(_))).count();
    let rounds = |shown: Vec<Fact>| {
        let fll = ExplicitFll::new(LivenessRule::FllB);
        let engine = PrunedFll { fll, sums: |_, _| None, shown: Some(Arc::new(move |_| shown.clone())) };
        let answer = engine.run(&task, &Silent).unwrap().remove(0);
        let proof = certificate_of(&answer.verdict).expect("a proof").clone();
        check(&model, id, &proof).unwrap();
        (answer.statistics.refinements.unwrap(), proof)
    };
    let ((without, _), (with, proof)) = (rounds(Vec::new()), rounds(found));
    println!("{n_refuted} ways refuted, {without} rounds without and {with} with them");
    let n_used = proof.facts.iter().filter(|fact| matches!(fact.claim, Claim::Refutation(_))).count();
    let n_ranked = proof.facts.iter().filter(|fact| matches!(fact.claim, Claim::NoFairRun(_))).count();
    assert!(n_used > 0 && n_ranked > 0 && with < without, "{n_used} refuted, {n_ranked} ranked");
    // A refutation of one way is none of another.
    let mut forged = proof.clone();
    let names: Vec<_> =
        forged.facts.iter().filter_map(|fact| fact.claim.no_fair_run()).map(|one| one.violation.clone()).collect();
    for fact in &mut forged.facts {
        if let Claim::Refutation(refutation) = &mut fact.claim {
            refutation.violation = names[0].clone();
        }
    }
    assert!(check(&model, id, &forged).is_err());
}
