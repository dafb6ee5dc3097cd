//! Pushdown systems from text to audited verdicts: random ones beside a search of their own, and the published ones.

use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};

use base::{CancelToken, SourceFile};
use driver::check::{Check, CheckLimits};
use driver::load::{self, Loaded};
use driver::methods;
use engine::{Silent, Verdict};
use lang::dve::Goal;
use model::Model;
use testkit::skip::{Needs, skipped};

/// A rule: state, top (`None` is empty), next state, what stands in place of the top, top first.
type Rule = (u32, Option<u32>, u32, Vec<u32>);

/// A system as the test makes it.
#[derive(Clone, Debug)]
struct System {
    n_states: u32,
    threads: Vec<Vec<Rule>>,
    start: (u32, Vec<Vec<u32>>),
    /// Shared state, and how stacks begin at their tops; `None` is any.
    bad: (u32, Vec<Option<Vec<u32>>>),
}

impl System {
    fn text(&self) -> String {
        let mut text = format!("{} # states\n", self.n_states);
        for rules in &self.threads {
            text += "PDA 0 3\n";
            for (state, top, next, word) in rules {
                let top = top.map_or("-".to_owned(), |top| top.to_string());
                let word = if word.is_empty() { "-".to_owned() } else { joined(word, " ") };
                text += &format!("{state} {top} -> {next} {word}\n");
            }
        }
        text
    }

    fn model(&self) -> Model {
        let stack = |stack: &Vec<u32>| if stack.is_empty() { "-".to_owned() } else { joined(stack, ".") };
        let init: Vec<String> = self.start.1.iter().map(stack).collect();
        let spec: Vec<String> = self.bad.1.iter().map(|one| one.as_ref().map_or("-".to_owned(), stack)).collect();
        let beside = [
            goal("init", &format!("{}|{}", self.start.0, init.join(","))),
            goal("spec", &format!("{}|{}\n", self.bad.0, spec.join(","))),
        ];
        let loaded = lang::load_with_goals(&SourceFile::new("s.pds", self.text()), &[], &beside);
        loaded.unwrap_or_else(|wrong| panic!("{wrong:?}")).model
    }

    /// Whether a bad state is reachable with stacks of bounded height.
    fn reaches(&self, highest: usize) -> bool {
        let begins =
            |(stack, bad): (&Vec<u32>, &Option<Vec<u32>>)| bad.as_ref().is_none_or(|bad| stack.starts_with(bad));
        let is_bad =
            |(state, stacks): &(u32, Vec<Vec<u32>>)| *state == self.bad.0 && stacks.iter().zip(&self.bad.1).all(begins);
        self.configurations(highest, usize::MAX).iter().any(is_bad)
    }

    /// How many configurations there are; `None` where there are more than `most`.
    fn n_configurations(&self, most: usize) -> Option<u64> {
        let found = self.configurations(usize::MAX, most).len();
        (found <= most).then_some(found as u64)
    }

    /// The reachable configurations with stacks of bounded height, or a few more than `most` of them.
    fn configurations(&self, highest: usize, most: usize) -> HashSet<(u32, Vec<Vec<u32>>)> {
        let mut known = HashSet::from([self.start.clone()]);
        let mut open = VecDeque::from([self.start.clone()]);
        while let Some((state, stacks)) = open.pop_front().filter(|_| known.len() <= most) {
            for (thread, rules) in self.threads.iter().enumerate() {
                for (from, top, next, word) in rules {
                    if *from != state || *top != stacks[thread].first().copied() {
                        continue;
                    }
                    let mut stacks = stacks.clone();
                    let rest = stacks[thread].iter().skip(usize::from(top.is_some()));
                    stacks[thread] = word.iter().chain(rest).copied().collect();
                    if stacks[thread].len() <= highest && known.insert((*next, stacks.clone())) {
                        open.push_back((*next, stacks));
                    }
                }
            }
        }
        known
    }
}

fn joined(numbers: &[u32], by: &str) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(by)
}

fn goal(name: &str, text: &str) -> Goal {
    Goal { name: name.to_owned(), source: SourceFile::new(format!("s.{name}"), text) }
}

/// `Some(true)` where the bad state is reachable, by a method whose evidence is audited.
fn reached(model: &Model, method: &str) -> Option<bool> {
    let limits = CheckLimits {
        time: Some(std::time::Duration::from_secs(20)),
        memory_bytes: Some(1 << 30),
        disk: None,
        n_threads: 1,
        cancel: CancelToken::default(),
    };
    let questions: Vec<_> = model.properties.ids().collect();
    let checker = methods::checker(methods::find(method).unwrap());
    let check = Check { model, questions: &questions, checker: &*checker, limits: &limits };
    let checked = check.run(&Silent).unwrap_or_else(|failure| panic!("{failure}"));
    match checked.results[0].verdict {
        Verdict::Holds(_) => Some(false),
        Verdict::Violated(_) => Some(true),
        Verdict::Unknown(_) => None,
    }
}

/// Numbers without much pattern.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(n)) as u32
    }
}

fn random_system(random: &mut Random) -> System {
    let n_states = 2 + random.below(2);
    let mut threads = Vec::new();
    for _ in 0..2 {
        let rules = (0..4 + random.below(5)).map(|_| {
            let top = if random.below(8) == 0 { None } else { Some(random.below(4)) };
            let n_symbols = [1, 0, 2, 1, 2][random.below(5) as usize];
            let word = (0..n_symbols).map(|_| random.below(4)).collect();
            (random.below(n_states), top, random.below(n_states), word)
        });
        threads.push(rules.collect());
    }
    let stack = |random: &mut Random, most: u32| (0..random.below(most)).map(|_| random.below(4)).collect::<Vec<u32>>();
    let start = (0, vec![stack(random, 4), stack(random, 3)]);
    let part = |random: &mut Random| {
        if random.below(3) == 0 { None } else { Some((0..1 + random.below(2)).map(|_| random.below(4)).collect()) }
    };
    let bad = (random.below(n_states), vec![part(random), part(random)]);
    System { n_states, threads, start, bad }
}

#[test]
fn random_systems_are_answered_as_by_a_search_of_their_own() {
    let mut random = Random(11);
    let mut counts = [0; 3];
    for _ in 0..80 {
        let system = random_system(&mut random);
        let found = reached(&system.model(), "pushdown");
        let expected = system.reaches(4);
        counts[found.map_or(2, usize::from)] += 1;
        match found {
            Some(true) => {}
            Some(false) => assert!(!expected, "{system:?}"),
            None => {}
        }
        if expected {
            assert_eq!(found, Some(true), "{system:?}");
        }
        // A run that the other search misses needs higher stacks.
        if found == Some(true) && !expected {
            assert!(system.reaches(9), "{system:?}");
        }
    }
    assert!(counts[0] > 15 && counts[1] > 5, "never, reached, open: {counts:?}");
}

#[test]
fn configurations_are_counted_each_once() {
    let mut random = Random(5);
    let mut n_compared = 0;
    for _ in 0..400 {
        let mut system = random_system(&mut random);
        // A higher first stack is built by steps of its own.
        system.start.1.iter_mut().for_each(|stack| stack.truncate(1));
        let Some(n_configurations) = system.n_configurations(500) else { continue };
        let limits =
            CheckLimits { time: None, memory_bytes: None, disk: None, n_threads: 1, cancel: CancelToken::default() };
        let explored = driver::explore::explore(&system.model(), &limits, &Silent);
        assert!(explored.exploration.complete, "{system:?}");
        assert_eq!(explored.exploration.states, n_configurations, "{system:?}");
        n_compared += u64::from(n_configurations > 5);
    }
    assert!(n_compared > 30, "{n_compared}");
}

#[test]
fn a_small_system_is_read_as_it_is_written() {
    let text = "2\n# one\nPDA 0 2\n0 0 -> 0 1 2\n0 1 -> 1 -\n1 2 -> 0 0 # again\nPDA 5 6\n1 5 -> 1 6\n";
    let ask = |spec: &str| {
        let beside = [goal("init", "0|0,5"), goal("spec", spec)];
        let loaded = lang::load_with_goals(&SourceFile::new("s.pds", text), &[], &beside);
        reached(&loaded.unwrap_or_else(|wrong| panic!("{wrong:?}")).model, "pushdown")
    };
    for (spec, expected) in [
        ("1|2,6", true),
        ("0|1.2,-", true),
        ("0|1.1,-", false),
        ("1|1,-", false),
        ("1|-,6", true),
        ("0|0,6", true),
        ("0|0.2,-", false),
        ("-|-,-", true),
    ] {
        assert_eq!(ask(spec), Some(expected), "{spec}");
    }
}

fn published(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/pushdown").join(name);
    if !path.exists() {
        skipped(Needs::Data("pushdown"));
        return None;
    }
    Some(path)
}

#[test]
fn published_bluetooth_systems_reach_the_bad_state() {
    for name in ["Bluetooth1-11", "Bluetooth1-12", "Bluetooth1-21"] {
        let Some(path) = published(&format!("01_Bluetooth-1/{name}.pds")) else { return };
        let loaded = load::load(&[path], &driver::instances::Request::new(None, Vec::new()).unwrap()).unwrap();
        let Loaded::Program(program) = &loaded.items[0] else { panic!("{name} is read") };
        assert_eq!(reached(&program.model, "pushdown"), Some(true), "{name}");
    }
}

/// Files without a `.spec`: some states of each, as a search of their own finds them.
#[test]
fn published_systems_are_read_and_answered() {
    for (name, goal, expected) in [
        ("06_K-Indcution/k-induction", "1|6,9", Some(true)),
        ("06_K-Indcution/k-induction", "0|-,-", Some(true)),
        ("06_K-Indcution/k-induction", "1|3,10", Some(false)),
        ("07_Proc-2/proc-2", "1|6,-,-,-", Some(true)),
        ("07_Proc-2/proc-2", "1|6,-,8,-", Some(false)),
        ("07_Proc-2/proc-2", "2|-,-,-,-", Some(false)),
        ("09_Dekker/dekker", "1|-,-", Some(true)),
        ("09_Dekker/dekker", "128|34,-", Some(false)),
    ] {
        let Some(path) = published(&format!("{name}.pds")) else { return };
        let request = driver::instances::Request::new(None, Vec::new()).unwrap().with_goals(&[goal.to_owned()]);
        let loaded = load::load(&[path], &request).unwrap();
        let Loaded::Program(program) = &loaded.items[0] else { panic!("{name} is read: {loaded:?}") };
        assert_eq!(reached(&program.model, "pushdown"), expected, "{name} {goal}");
    }
}

#[test]
fn what_stands_beside_is_found_and_missed() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("s.pds");
    std::fs::write(&path, "1\nPDA 0 1\n0 0 -> 0 1\n").unwrap();
    let request = driver::instances::Request::new(None, Vec::new()).unwrap();
    let refused = |expected: &str| {
        let batch = load::load(std::slice::from_ref(&path), &request).unwrap();
        let Loaded::Refused(refusal) = &batch.items[0] else { panic!("{expected}") };
        let found = &refusal.diagnostics[0];
        assert!(found.message.contains(expected), "{}", found.message);
    };
    refused("there is no `s.init`");
    std::fs::write(scratch.path().join("s.init"), "0|x").unwrap();
    refused("`x` is no stack symbol");
    std::fs::write(scratch.path().join("s.init"), "0|0").unwrap();
    std::fs::write(scratch.path().join("s.spec"), "garbage").unwrap();
    refused("a state has a `|`");
    std::fs::write(scratch.path().join("s.spec"), "0|1").unwrap();
    let batch = load::load(std::slice::from_ref(&path), &request).unwrap();
    let Loaded::Program(program) = &batch.items[0] else { panic!("it is read") };
    assert_eq!(reached(&program.model, "auto"), Some(true));
}
