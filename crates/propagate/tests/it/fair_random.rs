//! Random fair systems of one size, made for what refutations rest on: rings and lines of neighbours, stars around one cell, families beside each other, locks that know their
//! owner, cells that others read, processes that look where others are; under every form of fairness. What is proved holds in the
//! whole product, the checker accepts each proof, and refuses it for the property without an assumption that it needs.
//!
//! `PIECEWISE_PROGRAMS=20000 cargo test -p piecewise-propagate --test it fair_random -- --nocapture` asks about more programs than usual.

use std::time::{Duration, Instant};

use audit::certificate;
use audit::temporal::TurnGraph;
use base::{Budget, SourceFile};
use engine::{Engine, Silent, Task, Verdict};
use evidence::certificate::Claim;
use evidence::{Certificate, Evidence};
use model::Model;
use model::fairness::FairnessId;
use model::property::{Property, PropertyKind};
use propagate::Propagate;
use testkit::Product;
use testkit::choices::Choices;

/// A statement about a fork.
type Written = fn(&str) -> String;

/// Products with more states are not searched.
const MOST_STATES: usize = 2_500;

/// The same where there are crowds.
const MOST_OF_CROWDS: usize = 2_000;

/// What a family has in common with others.
struct Family {
    name: &'static str,
    n_processes: usize,
    /// What the cell of a process starts with.
    start: &'static str,
    /// Resources that a process takes and gives back, as `(take, give)`, and tests and effects on cells that it sees.
    resources: Vec<(String, String)>,
    tests: Vec<String>,
    effects: Vec<String>,
}

struct Writer<'c> {
    choices: &'c mut Choices,
}

impl Writer<'_> {
    fn pick(&mut self, items: &[String]) -> String {
        self.choices.pick(items).clone()
    }

    fn word(&mut self, items: &[&str]) -> String {
        (*self.choices.pick(items)).to_owned()
    }

    /// Declarations, and a family around one cell.
    fn star(&mut self) -> (String, Vec<Family>) {
        let n_processes = 2 + self.choices.below(4);
        let declared = "  shared d: 0..=2;\n  shared s: sem = 1;\n  shared m: lock;\n  shared p: pid(P)? = none;\n";
        let resources = [
            ("acquire s", "release s"),
            ("acquire m", "release m"),
            ("atomic { await p == none; p = i; }", "p = none"),
            ("atomic { await d == 0; d = 1; }", "d = 0"),
            ("atomic { await d < 2; d = d + 1; }", "d = d - 1"),
        ];
        let family = Family {
            name: "P",
            n_processes,
            start: "",
            resources: resources.iter().map(|(take, give)| ((*take).to_owned(), (*give).to_owned())).collect(),
            tests: ["d == 0", "d == 1", "p == none", "p == i", "s > 0", "m.owner == none"].map(str::to_owned).to_vec(),
            effects: ["d = 0", "d = 1", "p = i", "p = none", "skip"].map(str::to_owned).to_vec(),
        };
        (declared.to_owned(), vec![family])
    }

    /// Neighbours that share cells, in a ring or on a line; the first one may take them in the other order.
    fn ring(&mut self) -> (String, Vec<Family>) {
        let n_processes = 2 + self.choices.below(4);
        let is_ring = self.choices.chance(70);
        let n_cells = if is_ring { n_processes } else { n_processes + 1 };
        let kind = self.word(&["lock", "bool", "sem = 1", "bool"]);
        let declared = format!(
            "  shared f: [{}; {n_cells}]{};\n",
            kind.trim_end_matches(" = 1"),
            if kind.starts_with("sem") { " = 1" } else { "" }
        );
        let (take, give): (Written, Written) = match kind.as_str() {
            "bool" => (|at| format!("atomic {{ await !f[{at}]; f[{at}] = true; }}"), |at| format!("f[{at}] = false")),
            _ => (|at| format!("acquire f[{at}]"), |at| format!("release f[{at}]")),
        };
        let (left, right) = match self.choices.below(3) {
            0 => ("i".to_owned(), format!("(i + 1) % {n_cells}")),
            1 => ("if i == 0 then 1 else i".to_owned(), format!("if i == 0 then 0 else (i + 1) % {n_cells}")),
            _ => (
                format!("if i % 2 == 0 then i else (i + 1) % {n_cells}"),
                format!("if i % 2 == 0 then (i + 1) % {n_cells} else i"),
            ),
        };
        let cells = [left, right];
        let (mut tests, mut effects) = (Vec::new(), vec!["skip".to_owned()]);
        if kind == "bool" {
            for cell in &cells {
                tests.extend([format!("f[{cell}]"), format!("!f[{cell}]")]);
                effects.extend([format!("f[{cell}] = true"), format!("f[{cell}] = false")]);
            }
        } else {
            tests.push("true".to_owned());
        }
        let resources = cells.iter().map(|cell| (take(cell), give(cell))).collect();
        (declared, vec![Family { name: "P", n_processes, start: "", resources, tests, effects }])
    }

    /// Two families that share some of their cells.
    fn mixed(&mut self) -> (String, Vec<Family>) {
        let declared = "  shared g: bool;\n  shared s: sem = 1;\n  shared r: 0..=3;\n";
        let one = |name, n_processes, resources: &[(&str, &str)], tests: &[&str], effects: &[&str]| Family {
            name,
            n_processes,
            start: "",
            resources: resources.iter().map(|(take, give)| ((*take).to_owned(), (*give).to_owned())).collect(),
            tests: tests.iter().map(|&text| text.to_owned()).collect(),
            effects: effects.iter().map(|&text| text.to_owned()).collect(),
        };
        let first = one(
            "P",
            1 + self.choices.below(3),
            &[("atomic { await !g; g = true; }", "g = false"), ("atomic { await r < 3; r = r + 1; }", "r = r - 1")],
            &["!g", "r == 0", "r < 3"],
            &["skip", "g = false"],
        );
        let second = one(
            "Q",
            1 + self.choices.below(2),
            &[
                ("acquire s", "release s"),
                ("atomic { await !g; g = true; }", "g = false"),
                ("atomic { await r == 0 && !g; g = true; }", "g = false"),
            ],
            &["!g", "s > 0", "r == 0"],
            &["skip", "r = 0"],
        );
        (declared.to_owned(), vec![first, second])
    }

    /// Four to six processes that are alike, and maybe one or two others; nobody sees what belongs to another one.
    fn crowd(&mut self) -> (String, Vec<Family>) {
        let declared = "  shared d: 0..=2;\n  shared s: sem = 1;\n  shared g: bool;\n";
        let text = |items: &[&str]| items.iter().map(|&text| text.to_owned()).collect::<Vec<String>>();
        let resources = [
            ("acquire s", "release s"),
            ("atomic { await !g; g = true; }", "g = false"),
            ("atomic { await d == 0; d = 1; }", "d = 0"),
            ("atomic { await d < 2; d = d + 1; }", "d = d - 1"),
            ("atomic { if d == 0 { acquire s; } d = d + 1; }", "atomic { d = d - 1; if d == 0 { release s; } }"),
        ];
        let family = |choices: &mut Choices, name, n_processes| {
            let mut resources = resources.to_vec();
            let first = choices.below(resources.len());
            resources.swap(0, first);
            Family {
                name,
                n_processes,
                start: "",
                resources: resources.iter().map(|(take, give)| ((*take).to_owned(), (*give).to_owned())).collect(),
                tests: text(&["d == 0", "d < 2", "!g", "s > 0", "g"]),
                effects: text(&["d = 0", "g = true", "g = false", "skip"]),
            }
        };
        let mut families = vec![family(self.choices, "P", 4)];
        if self.choices.chance(40) {
            families.push(family(self.choices, "Q", 1));
        }
        families[0].n_processes += self.choices.below(if families.len() == 1 { 3 } else { 2 });
        if let Some(other) = families.get_mut(1) {
            other.n_processes += self.choices.below(2);
        }
        (declared.to_owned(), families)
    }

    /// Processes that meet: neighbours in a ring that hand something on, or some that ask one or two others.
    fn meeting(&mut self) -> (String, Vec<Family>) {
        let text = |items: &[&str]| items.iter().map(|&text| text.to_owned()).collect::<Vec<String>>();
        let pairs = |items: &[(&str, &str)]| -> Vec<(String, String)> {
            items.iter().map(|(take, give)| ((*take).to_owned(), (*give).to_owned())).collect()
        };
        let tests = text(&["a", "!a", "g", "!g"]);
        let effects = text(&["skip", "a = true", "a = false", "g = true", "g = false"]);
        if self.choices.chance(50) {
            let n_processes = 2 + self.choices.below(3);
            let declared = format!("  shared g: bool;\n  chan c[{n_processes}]: [0] of (bool);\n");
            let next = format!("c[(i + 1) % {n_processes}]");
            let (into, what) = (self.word(&["a", "_", "= true", "a"]), self.word(&["a", "true", "!a", "true"]));
            let take = format!("if !a {{ receive c[i]({into}); }}");
            let give = match self.choices.below(3) {
                0 => format!("send {next}({what})"),
                1 => format!("if a {{ send {next}({what}); a = false; }}"),
                _ => "a = false".to_owned(),
            };
            let resources =
                vec![(take.clone(), give), (format!("receive c[i]({into})"), format!("send {next}({what})"))];
            let start = *self.choices.pick(&[" = i == 0", " = i == 0", " = i != 0", ""]);
            return (declared, vec![Family { name: "P", n_processes, start, resources, tests, effects }]);
        }
        let declared = "  shared g: bool;\n  chan get: [0] of (bool);\n  chan put: [0] of (bool);\n";
        // What is asked and what is given go together, one by one.
        let mut asks = pairs(&[
            ("send get(true)", "send put(a)"),
            ("send get(a)", "send put(true)"),
            ("receive put(a)", "send get(a)"),
            ("send get(false)", "receive put(= true)"),
        ]);
        let mut gives = pairs(&[
            ("receive get(_)", "receive put(_)"),
            ("receive get(= false)", "receive put(a)"),
            ("send put(true)", "receive get(_)"),
            ("receive get(a)", "send put(!a)"),
        ]);
        let first = self.choices.below(asks.len());
        asks.swap(0, first);
        gives.swap(0, if self.choices.chance(75) { first } else { self.choices.below(asks.len()) });
        let mut family = |name, most, resources: Vec<(String, String)>| {
            let n_processes = 1 + self.choices.below(most);
            Family { name, n_processes, start: "", resources, tests: tests.clone(), effects: effects.clone() }
        };
        (declared.to_owned(), vec![family("P", 3, asks), family("Q", 2, gives)])
    }

    /// The statements of a process that meets others: mostly it asks and gives back, or takes and hands on.
    fn meeting_body(&mut self, family: &Family) -> Vec<String> {
        if self.choices.chance(30) {
            return self.body(family);
        }
        let close = |text: &str| if text.ends_with('}') { text.to_owned() } else { format!("{text};") };
        let (take, give) = &family.resources[0];
        let mut lines = vec![close(take), "skip;".to_owned(), close(give)];
        if self.choices.chance(40) {
            lines.insert(0, if self.choices.chance(50) { "idle;".to_owned() } else { self.statement(family) });
        }
        lines
    }

    fn statement(&mut self, family: &Family) -> String {
        match self.choices.below(8) {
            0 => "idle;".to_owned(),
            1 => format!("await {};", self.pick(&family.tests)),
            2 => format!("atomic {{ await {}; {}; }}", self.pick(&family.tests), self.pick(&family.effects)),
            3 => format!("{};", self.pick(&family.effects)),
            4 => "a = !a;".to_owned(),
            5 => match self.choices.below(3) {
                0 => format!("await forall k in 0..<{}: k == i || !{}[k].a;", family.n_processes, family.name),
                1 => format!("await {}[0]@l0 || {}[0].a;", family.name, family.name),
                _ => "skip;".to_owned(),
            },
            _ => {
                let (take, give) = self.choices.pick(&family.resources).clone();
                let text = if self.choices.chance(50) { take } else { give };
                if text.ends_with('}') { text } else { format!("{text};") }
            }
        }
    }

    /// The statements of a process: mostly something is taken and given back, or two things.
    fn body(&mut self, family: &Family) -> Vec<String> {
        let close = |text: &str| if text.ends_with('}') { text.to_owned() } else { format!("{text};") };
        if self.choices.chance(25) {
            return (0..2 + self.choices.below(3)).map(|_| self.statement(family)).collect();
        }
        let mut lines = vec![if self.choices.chance(70) { "idle;".to_owned() } else { self.statement(family) }];
        let taken: Vec<(String, String)> = match self.choices.chance(50) {
            true => family.resources.iter().take(2).cloned().collect(),
            false => vec![self.choices.pick(&family.resources).clone()],
        };
        lines.extend(taken.iter().map(|(take, _)| close(take)));
        lines.push(if self.choices.chance(70) { "skip;".to_owned() } else { self.statement(family) });
        lines.extend(taken.iter().rev().map(|(_, give)| close(give)));
        if self.choices.chance(15) {
            let at = self.choices.below(lines.len());
            lines[at] = self.statement(family);
        }
        lines
    }

    fn formula(&mut self, families: &[(Family, usize)]) -> String {
        let (family, n_lines) = &families[self.choices.below(families.len())];
        let (name, n_processes) = (family.name, family.n_processes);
        let label = |choices: &mut Choices| format!("l{}", choices.below(*n_lines));
        let (from, to) = (label(self.choices), label(self.choices));
        let over = format!("forall j in 0..<{n_processes}");
        let some = format!("exists j in 0..<{n_processes}");
        match self.choices.below(16) {
            12 => format!("({some}: {name}[j]@{from}) ~> ({some}: {name}[j]@{to})"),
            13 => format!("always eventually {over}: !{name}[j]@{from}"),
            14 => format!("({over}: {name}[j]@{from}) ~> !{name}[0]@{from} && ({some}: {name}[j]@{to})"),
            15 => format!("eventually always ({some}: {name}[j]@{from})"),
            0 => format!("{over}: always eventually {name}[j]@{to}"),
            1 => format!("{over}: (eventually always {name}[j]@{from}) || always eventually {name}[j]@{to}"),
            2 => format!("{over}: {name}[j]@{from} ~> !{name}[j]@{from}"),
            3 => format!("always eventually exists j in 0..<{n_processes}: {name}[j]@{to}"),
            4 => format!("{over}: always ({name}[j]@{from} => ({name}[j]@{from} until {name}[j]@{to}))"),
            5 => format!("({name}[0]@{from} && {name}[{}]@{from}) ~> {name}[0]@{to}", n_processes - 1),
            6 => format!(
                "eventually always {}",
                self.pick(&family.tests)
                    .replace("p == i", "p != none")
                    .replace("(i", "(0")
                    .replace("i %", "0 %")
                    .replace("i ==", "0 ==")
                    .replace("else i", "else 0")
                    .replace("then i", "then 0")
                    .replace("[i]", "[0]")
                    .replace('a', &format!("{name}[0].a"))
            ),
            _ => format!("{over}: {name}[j]@{from} ~> {name}[j]@{to}"),
        }
    }

    fn fairness(&mut self, families: &[(Family, usize)]) -> String {
        let mut under: Vec<String> = Vec::new();
        let whole = self.word(&["weak", "weak", "every", "progress", "strong"]);
        if self.choices.chance(90) {
            match whole.as_str() {
                "progress" => under.push(whole),
                form => under.extend(families.iter().map(|(family, _)| format!("{form} {}[*]", family.name))),
            }
        }
        for _ in 0..self.choices.below(4) {
            let (family, n_lines) = &families[self.choices.below(families.len())];
            let form = self.word(&["strong", "strong", "weak"]);
            let who = if self.choices.chance(85) {
                "*".to_owned()
            } else {
                self.choices.below(family.n_processes).to_string()
            };
            under.push(format!("{form} {}[{who}]@l{}", family.name, self.choices.below(*n_lines)));
        }
        if self.choices.chance(25) {
            let (family, n_lines) = &families[self.choices.below(families.len())];
            let (name, n_processes) = (family.name, family.n_processes);
            let [one, other] = [(); 2].map(|()| self.choices.below(*n_lines));
            let some = |label: usize| format!("(exists j in 0..<{n_processes}: {name}[j]@l{label})");
            under.push(match self.choices.below(4) {
                0 => format!("strong {} => false", some(one)),
                1 => format!("weak forall j in 0..<{n_processes}: !{name}[j]@l{one}"),
                2 => format!("strong {} => {}", some(one), some(other)),
                _ => format!("strong {} => {name}[0]@l{other}", some(one)),
            });
        }
        let mut text = under.join(", ");
        if !text.is_empty() && self.choices.chance(10) {
            let (family, n_lines) = &families[0];
            text = format!("{text} or strong {}[0]@l{}", family.name, self.choices.below(*n_lines));
        }
        if text.is_empty() { text } else { format!(" under {text}") }
    }

    fn program(&mut self) -> String {
        let (declared, families) = match self.choices.below(3) {
            0 => self.ring(),
            1 => self.star(),
            _ => self.mixed(),
        };
        self.text(&declared, families)
    }

    fn text(&mut self, declared: &str, families: Vec<Family>) -> String {
        let mut text = format!("program random {{\n{declared}");
        let mut written = Vec::new();
        for family in families {
            let body = if declared.contains("chan ") { self.meeting_body(&family) } else { self.body(&family) };
            let lines: Vec<String> =
                body.iter().enumerate().map(|(at, line)| format!("      l{at}: {line}\n")).collect();
            text.push_str(&format!(
                "  process {}[i in 0..<{}] {{\n    public a: bool{};\n    loop {{\n{}    }}\n  }}\n",
                family.name,
                family.n_processes,
                family.start,
                lines.concat()
            ));
            written.push((family, body.len()));
        }
        for property in 0..3 {
            let (formula, under) = (self.formula(&written), self.fairness(&written));
            text.push_str(&format!("  property p{property}: {formula}{under};\n"));
        }
        text.push_str("}\n");
        text
    }
}

#[derive(Default, Debug)]
struct Tally {
    programs: usize,
    proved: usize,
    open: usize,
    false_ones: usize,
    refused_without: usize,
    /// Proofs in which one process stands for others.
    crowded: usize,
    most_states: usize,
    /// So many tests of compatibility at most.
    most_tests: usize,
    /// Where the time goes: the search of the product, the method, the check of proofs.
    searching: Duration,
    proving: Duration,
    checking: Duration,
}

/// How long something takes, and what comes of it.
fn timed<T>(total: &mut Duration, work: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let found = work();
    *total += started.elapsed();
    found
}

fn is_false((graph, model, product): (&TurnGraph, &Model, &Product), property: &Property) -> Option<bool> {
    let PropertyKind::Temporal(formula) = &property.kind else { return None };
    graph.is_violated((model, &product.states), formula, &property.under).ok()?
}

/// The property without an assumption, and the proof as if it were about that.
fn without(property: &Property, proof: &Certificate, dropped: FairnessId) -> (Property, Certificate) {
    let (mut property, mut proof) = (property.clone(), proof.clone());
    property.under.any_of.iter_mut().for_each(|pairs| pairs.retain(|pair| *pair != dropped));
    for fact in &mut proof.facts {
        match &mut fact.claim {
            Claim::Refutation(claim) => claim.violation.fairness.retain(|pair| *pair != dropped),
            Claim::Exchanged(claim) => claim.violation.fairness.retain(|pair| *pair != dropped),
            _ => {}
        }
    }
    (property, proof)
}

/// The crowds of a proof.
fn crowds(proof: &Certificate) -> Option<&[Vec<model::process::ProcessId>]> {
    proof
        .facts
        .iter()
        .find_map(|fact| if let Claim::Sights(sights) = &fact.claim { Some(&sights.crowds[..]) } else { None })
}

fn ask(text: &str, choices: &mut Choices, tally: &mut Tally) {
    let Ok(loaded) = lang::load(&SourceFile::new("random.pw", text), &[]) else { return };
    let model = loaded.model;
    let Some(product) = timed(&mut tally.searching, || Product::explore(&model, tally.most_states)) else { return };
    // All properties are about one graph, which takes most of the time to make.
    let graph = timed(&mut tally.searching, || TurnGraph::new(&model, &product.states));
    let searched = (&graph, &model, &product);
    tally.programs += 1;
    for (id, property) in model.properties.entries() {
        let Some(is_violated) = timed(&mut tally.searching, || is_false(searched, property)) else { continue };
        let mut engine = Propagate::default();
        // Nearly all that is proved is proved with little effort.
        engine.config.tests = tally.most_tests;
        if engine.supports(&model, id).is_err() {
            continue;
        }
        let task = Task { model: &model, properties: vec![id], budget: Budget::unlimited(), n_threads: 1 };
        let answers = timed(&mut tally.proving, || engine.run(&task, &Silent));
        let answer = answers.unwrap_or_else(|wrong| panic!("{wrong}\n{text}")).remove(0);
        match answer.verdict {
            Verdict::Holds(Evidence::Certificate(proof)) => {
                assert!(!is_violated, "{} is proved, and false\n{text}", property.name);
                let check = || certificate::check(&model, property, &proof, &Budget::unlimited());
                let checked = timed(&mut tally.checking, check);
                checked.unwrap_or_else(|wrong| panic!("{}: {wrong}\n{text}", property.name));
                tally.proved += 1;
                tally.crowded += usize::from(crowds(&proof).is_some_and(|crowds| !crowds.is_empty()));
                let assumed: Vec<FairnessId> = property.under.any_of.iter().flatten().copied().collect();
                if assumed.is_empty() {
                    continue;
                }
                let (less, changed) = without(property, &proof, *choices.pick(&assumed));
                if timed(&mut tally.searching, || is_false(searched, &less)) == Some(true) {
                    let found = certificate::check(&model, &less, &changed, &Budget::unlimited());
                    assert!(found.is_err(), "{} without an assumption is accepted\n{text}", property.name);
                    tally.refused_without += 1;
                }
            }
            Verdict::Unknown(_) if is_violated => tally.false_ones += 1,
            Verdict::Unknown(_) => {
                if std::env::var("PIECEWISE_SHOW").is_ok() {
                    println!("{} is open\n{text}", property.name);
                }
                tally.open += 1;
            }
            other => panic!("{other:?}\n{text}"),
        }
    }
}

#[test]
fn fair_systems_of_neighbours_and_crowds() {
    let number = |name: &str, usual: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (n, seed) = (number("PIECEWISE_PROGRAMS", 80), number("PIECEWISE_SEED", 0));
    let most_tests = number("PIECEWISE_TESTS", 2_000) as usize;
    let mut tally = Tally { most_tests, most_states: MOST_STATES, ..Tally::default() };
    for at in 0..n {
        let mut choices = Choices::from_seed(seed * 1_000_003 + at + 1);
        let text = Writer { choices: &mut choices }.program();
        ask(&text, &mut choices, &mut tally);
        if (at + 1).is_multiple_of(100) {
            println!("{tally:?}");
        }
    }
    println!("{tally:?}");
    assert!(tally.programs as u64 > n / 2 && tally.proved > 20 && tally.false_ones > 20, "{tally:?}");
    assert!(tally.refused_without > 3, "{tally:?}");
}

#[test]
fn fair_systems_of_processes_that_meet() {
    let number = |name: &str, usual: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (n, seed) = (number("PIECEWISE_PROGRAMS", 60), number("PIECEWISE_SEED", 0));
    let most_tests = number("PIECEWISE_TESTS", 500) as usize;
    let mut tally = Tally { most_tests, most_states: MOST_STATES, ..Tally::default() };
    for at in 0..n {
        let mut choices = Choices::from_seed(seed * 1_000_003 + at + 900_000_001);
        let mut writer = Writer { choices: &mut choices };
        let (declared, families) = writer.meeting();
        let text = writer.text(&declared, families);
        ask(&text, &mut choices, &mut tally);
        if (at + 1).is_multiple_of(100) {
            println!("{tally:?}");
        }
    }
    println!("{tally:?}");
    assert!(tally.programs as u64 > n / 3 && tally.proved > 20 && tally.false_ones > 20, "{tally:?}");
    assert!(tally.refused_without > 3, "{tally:?}");
}

#[test]
fn fair_systems_of_alike_processes() {
    let number = |name: &str, usual: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (n, seed) = (number("PIECEWISE_PROGRAMS", 40), number("PIECEWISE_SEED", 0));
    let most_tests = number("PIECEWISE_TESTS", 200) as usize;
    let mut tally = Tally { most_tests, most_states: MOST_OF_CROWDS, ..Tally::default() };
    for at in 0..n {
        let mut choices = Choices::from_seed(seed * 1_000_003 + at + 500_000_001);
        let mut writer = Writer { choices: &mut choices };
        let (declared, families) = writer.crowd();
        let text = writer.text(&declared, families);
        ask(&text, &mut choices, &mut tally);
        if (at + 1).is_multiple_of(100) {
            println!("{tally:?}");
        }
    }
    println!("{tally:?}");
    assert!(tally.programs as u64 > n / 4 && tally.crowded > 3 && tally.false_ones > 5, "{tally:?}");
}
