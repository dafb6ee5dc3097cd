//! Shared cells that name a process, such as the one that has the token: random rings in which they are passed on, and now and then taken from afar, against
//! brute force, of states and of runs; and proofs shown for other programs, in which they would be wrong: the checker refuses them.
//!
//! `RINGS_PROGRAMS=50 cargo test -p piecewise-rings --test it naming` asks about fifty times as many programs.

use std::fmt::Write;

use base::Budget;
use engine::{Engine, Silent, Task, Verdict};
use evidence::Evidence;
use evidence::certificate::{Certificate, Claim};
use evidence::rings::{RingItem, RingsProof};
use model::Model;
use rings::ByRings;
use testkit::choices::Choices;

use crate::random::load;
use crate::{lasting, random};

struct Writer<'c> {
    choices: &'c mut Choices,
}

impl Writer<'_> {
    fn pick(&mut self, items: &[&str]) -> String {
        (*self.choices.pick(items)).to_owned()
    }

    fn cell(&mut self) -> String {
        self.pick(&["t", "t", "t", "u"])
    }

    fn near(&mut self) -> String {
        self.pick(&["i", "i", "i", "(i + 1) % N", "(i + N - 1) % N"])
    }

    fn guard(&mut self) -> String {
        match self.choices.below(6) {
            0..=2 => format!("{} == {}", self.cell(), self.near()),
            3 => format!("{} != {}", self.cell(), self.near()),
            4 => format!("x == {}", self.choices.below(2)),
            _ => format!("c[i] == {}", self.choices.below(2)),
        }
    }

    fn effect(&mut self) -> String {
        match self.choices.below(4) {
            0 => format!("x = {};", self.choices.below(2)),
            1 => format!("c[{}] = {};", self.near(), self.choices.below(2)),
            _ => "skip;".to_owned(),
        }
    }

    /// Whoever has a cell passes it on; now and then somebody takes one, from near or from afar.
    fn pass(&mut self) -> String {
        let (cell, to) = (self.cell(), self.near());
        match self.choices.below(8) {
            0..=4 => format!("await {cell} == i; {cell} = {to};"),
            5 => format!("await {cell} == (i + N - 1) % N; {cell} = {to};"),
            6 => format!("if {cell} == i {{ {cell} = {to}; }}"),
            _ => format!("{cell} = {to};"),
        }
    }

    fn statement(&mut self, label: usize) -> String {
        match self.choices.below(6) {
            0 => format!("l{label}: if {} {{ goto l{}; }}", self.guard(), self.choices.below(2)),
            1 | 2 => format!("l{label}: atomic {{ {} {} }}", self.pass(), self.effect()),
            3 => format!("l{label}: atomic {{ await {}; {} }}", self.guard(), self.pass()),
            _ => format!("l{label}: atomic {{ await {}; {} {} }}", self.guard(), self.effect(), self.effect()),
        }
    }

    /// Most of the time as in a token ring: waiting, using, passing on.
    fn process(&mut self) -> String {
        let mut text = format!(
            "process P[i in 0..<N] {{ public x: 0..=1{}; loop {{\n",
            self.pick(&["", " = if i == 0 then 1 else 0"])
        );
        let usual = ["l0: await t == i;", "l1: skip;", "l2: t = (i + 1) % N;"];
        for (label, usual) in usual.iter().enumerate() {
            let statement = if self.choices.chance(35) { self.statement(label) } else { (*usual).to_owned() };
            writeln!(text, "  {statement}").unwrap();
        }
        text + "  l3: skip;\n} }\n"
    }

    fn told(&mut self, who: &str) -> String {
        match self.choices.below(6) {
            0 => format!("P[{who}].x == {}", self.choices.below(2)),
            1 => format!("{} == {who}", self.cell()),
            2 => format!("{} != {who}", self.cell()),
            _ => format!("P[{who}]@l{}", self.choices.below(4)),
        }
    }

    fn program(&mut self, is_about_runs: bool) -> String {
        let mut text = format!(
            "program r(N: {}..) {{ shared t: pid; shared u: pid; shared c: [0..=1; N];\n{}",
            2 + self.choices.below(2),
            self.process()
        );
        for at in 0..3 {
            let (one, other) = (self.told("i"), self.told("i"));
            let line = if is_about_runs {
                let formula = match self.choices.below(3) {
                    0 => format!("always eventually {one}"),
                    1 => "always eventually t == i".to_owned(),
                    _ => format!("{one} ~> {other}"),
                };
                let under =
                    self.pick(&["every P[*]", "weak P[*]", "weak P[*], strong P[*]@l1", "weak P[0]", "progress"]);
                format!("  property p{at}: forall i: {formula} under {under};")
            } else {
                let next = self.told("(i + 1) % N");
                let two = self.told("j");
                match at {
                    0 => format!("  invariant v: forall i: {one} => {other};"),
                    1 => format!("  invariant w: forall i: !({one} && {next});"),
                    _ => format!("  invariant y: forall i != j: !({one} && {two});"),
                }
            };
            writeln!(text, "{line}").unwrap();
        }
        text + "  invariant inside: forall i: P[i]@l1 => t == i;\n  invariant alone: forall i != j: !(P[i]@l1 && P[j]@l1);\n}\n"
    }
}

fn n_programs(usual: u64) -> u64 {
    usual * std::env::var("RINGS_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

#[test]
fn rings_that_pass_on_who_has_something_agree_with_brute_force() {
    let mut tally = random::Tally::default();
    for at in 0..n_programs(25) {
        let mut choices = Choices::from_seed(31_000_000 + at);
        let text = Writer { choices: &mut choices }.program(false);
        random::compare(&text, &mut tally, &mut choices);
    }
    println!("{tally:?}");
    assert!(tally.programs > 15 && tally.proved > 15 && tally.flows > 2 && tally.refused > 5, "{tally:?}");
}

#[test]
fn runs_of_rings_that_pass_on_who_has_something_agree_with_brute_force() {
    let mut tally = lasting::Tally::default();
    for at in 0..n_programs(6) {
        let mut choices = Choices::from_seed(32_000_000 + at);
        let text = Writer { choices: &mut choices }.program(true);
        lasting::ask(&text, &mut tally, &mut choices);
    }
    println!("{tally:?}");
    assert!(tally.programs > 3 && tally.proved > 1, "{tally:?}");
}

/// A program with a proof, and another one, in which the property is false.
struct Shown {
    leaves_out: &'static str,
    program: &'static str,
    property: &'static str,
    word: &'static str,
    other: &'static str,
    edit: fn(&mut RingsProof),
}

const SHOWN: [Shown; 6] = [
    Shown {
        leaves_out: "that whoever takes the token from afar changes what others see",
        program: "program r(N: 3..) { shared t: pid;
         process P[i in 0..<N] { loop { either { wait: await t == i; crit: skip; leave: t = (i + 1) % N; } or { nop: atomic { await t == i; t = i; } } } }
         invariant p: forall i: P[i]@crit => t == i; }",
        property: "p",
        word: "await t == i; t = i;",
        other: "t = i;",
        edit: |_| {},
    },
    Shown {
        leaves_out: "how far away those are with whom it is compared",
        program: "program r(N: 4..) { shared t: pid;
         process P[i in 0..<N] { loop { wait: await t == i; leave: t = (i + 1) % N; look: await t != (i + 1) % N || t == (i + 1) % N; seen: skip; } }
         invariant p: forall i: P[i]@seen => P[i]@seen; }",
        property: "p",
        word: "t != (i + 1) % N || t == (i + 1) % N; seen: skip; } }
         invariant p: forall i: P[i]@seen => P[i]@seen;",
        other: "t == (i + 2) % N; seen: skip; } }
         invariant p: forall i: !P[i]@seen;",
        edit: |_| {},
    },
    Shown {
        leaves_out: "whom the cell names at first",
        program: "program r(N: 3..) { shared t: pid;
         process P[i in 0..<N] { loop { wait: await t == i; crit: skip; } }
         invariant p: forall i: P[i]@crit => i == 0; }",
        property: "p",
        word: "shared t: pid",
        other: "shared t: pid = any",
        edit: |_| {},
    },
    Shown {
        leaves_out: "the steps of whoever sees that the token is its own",
        program: "program r(N: 3..) { shared t: pid;
         process P[i in 0..<N] { loop { wait: await t == i; crit: skip; leave: t = (i + 1) % N; } }
         invariant p: forall i: P[i]@crit => t == i; }",
        property: "p",
        word: " => t == i; }",
        other: " => t != i; }",
        edit: |proof| {
            for window in &mut proof.windows {
                let own = window.items.iter().position(|item| matches!(item, RingItem::Element(_, 0, _))).unwrap();
                window.states.retain(|state| state[own] != evidence::rings::RingValue::Value(model::value::Value::Bool(true)));
            }
        },
    },
    Shown {
        leaves_out: "that windows do not see whether a neighbour has it",
        program: "program r(N: 3..) { shared t: pid;
         process P[i in 0..<N] { loop { wait: await t == i; crit: skip; leave: t = (i + 1) % N; } }
         invariant p: forall i: P[i]@crit => t == i; }",
        property: "p",
        word: "await t == i",
        other: "await t == i",
        edit: |proof| {
            for window in &mut proof.windows {
                let at = window.items.iter().position(|item| matches!(item, RingItem::Element(_, 1, _))).unwrap();
                window.items.remove(at);
                for state in &mut window.states {
                    state.remove(at);
                }
                window.states.sort();
                window.states.dedup();
            }
        },
    },
    Shown {
        leaves_out: "what else is done with the process that is named",
        program: "program r(N: 3..) { shared t: pid; shared c: [0..=1; N];
         process P[i in 0..<N] { loop { wait: await t == i; set: c[i] = 0; leave: t = (i + 1) % N; } }
         invariant p: forall i: c[i] == 0; }",
        property: "p",
        word: "set: c[i] = 0; leave: t = (i + 1) % N; } }",
        other: "leave: t = (i + 1) % N; set: c[t] = 1; } }",
        edit: |_| {},
    },
];

fn answer(model: &Model, property: &str) -> Verdict {
    let (id, _) = model.properties.entries().find(|(_, one)| one.name == property).unwrap();
    let task = Task { model, properties: vec![id], budget: Budget::unlimited(), n_threads: 1 };
    ByRings::for_every_size().run(&task, &Silent).unwrap().remove(0).verdict
}

#[test]
fn proofs_shown_for_other_programs_are_refused() {
    for Shown { leaves_out, program, property, word, other, edit } in SHOWN {
        assert!(program.contains(word), "{leaves_out}");
        let model = load(program, 5).unwrap();
        let verdict = answer(&model, property);
        let Verdict::Holds(Evidence::Certificate(proof)) = verdict else { panic!("{leaves_out}: {verdict:?}") };
        let asked = |model: &Model| model.properties.iter().find(|one| one.name == property).unwrap().clone();
        audit::certificate::check(&model, &asked(&model), &proof, &Budget::unlimited()).unwrap();
        let changed = load(&program.replace(word, other), 5).unwrap_or_else(|| panic!("{leaves_out}: no program"));
        let mut forged: Certificate = (*proof).clone();
        let Claim::Rings(claim) = &mut forged.facts[0].claim else { panic!("no windows") };
        edit(claim);
        let found = audit::certificate::check(&changed, &asked(&changed), &forged, &Budget::unlimited());
        assert!(found.is_err(), "the checker does not see {leaves_out}");
        if word != other {
            assert!(!matches!(answer(&changed, property), Verdict::Holds(_)), "{leaves_out}");
        }
    }
}

#[test]
fn who_may_take_it_from_afar_is_no_neighbour() {
    let text = "program r(N: 2..) { shared t: pid;
     process P[i in 0..<N] { loop { take: t = i; crit: skip; } }
     invariant p: forall i: P[i]@crit => t == i; }";
    assert!(matches!(answer(&load(text, 4).unwrap(), "p"), Verdict::Unknown(_)));
}
