//! A small deterministic fuzzing of every reader: programs in four languages, formulas, automata, traces, proofs.
//!
//! Inputs are mutations of the examples, of a real trace and real proofs, and random bytes, all from a seed; `PIECEWISE_FUZZ_SEED` gives
//! another one, `PIECEWISE_FUZZ_CASES` more cases, `PIECEWISE_FUZZ_SECONDS` as many as there is time for. What fails prints its seed, which fails again.

mod readers;

use std::fs;
use std::time::{Duration, Instant};

use crate::support::Place;

/// Enough for a run of the tests; the fuzz targets go on for ever.
const CASES: u64 = 800;

#[test]
fn any_bytes_as_a_program() {
    let texts: Vec<Vec<u8>> = crate::support::examples().iter().map(|path| fs::read(path).unwrap()).collect();
    fuzz("program", &texts, readers::program);
}

#[test]
fn any_bytes_as_a_trace() {
    let place = Place::with("lock.pw", readers::LOCK);
    place.run("check lock.pw --trace out").exits(0);
    let texts = vec![place.read("out/lock.mutex.itf.json").into(), place.read("out/lock.inside.itf.json").into()];
    fuzz("trace", &texts, readers::trace);
}

#[test]
fn any_bytes_as_a_proof() {
    let place = Place::with("semaphore.pw", readers::SEMAPHORE);
    let mut texts: Vec<Vec<u8>> = Vec::new();
    for (method, property) in [("completion", "mutex"), ("pairwise", "mutex"), ("fll-b", "live")] {
        place.run(&format!("check semaphore.pw --method {method} --property {property} --proof {method}")).exits(0);
        let written =
            fs::read_dir(place.path().join(method)).unwrap().map(|entry| fs::read_to_string(entry.unwrap().path()));
        // Without its digest a changed proof is judged by what it says.
        let without_digest = |text: String| {
            let lines = text.lines().filter(|line| !line.trim_start().starts_with("\"digest\""));
            lines.collect::<Vec<_>>().join("\n").into_bytes()
        };
        texts.extend(written.map(|text| without_digest(text.unwrap())));
    }
    assert_eq!(texts.len(), 3, "each method writes a proof");
    fuzz("proof", &texts, readers::proof_file);
}

#[test]
fn any_bytes_as_a_program_in_promela() {
    readers::promela(PROMELA.as_bytes());
    fuzz("promela", &[PROMELA.into()], readers::promela);
}

#[test]
fn any_bytes_as_a_program_in_dve() {
    fuzz("dve", &[DVE.into()], readers::dve);
}

#[test]
fn any_bytes_as_a_pushdown_system() {
    let pds = [PDS, INIT, SPEC].join(readers::BETWEEN);
    readers::pds(pds.as_bytes());
    fuzz("pds", &[pds.into_bytes()], readers::pds);
}

#[test]
fn any_bytes_as_a_formula() {
    let formulas = ["[](p -> <> q) && !(p U (q W X r))", "forall i: always (a => eventually b)", "G F \"x y\" | a M b"];
    fuzz("formula", &formulas.map(Vec::from), readers::formula);
}

#[test]
fn any_bytes_as_an_automaton() {
    fuzz("automaton", &[HOA.into()], readers::automaton);
}

/// A program in Promela, one in DVE, a pushdown system, an automaton: small, and with most of what their formats have.
const PROMELA: &str = include_str!("support/sample.pml");
const DVE: &str = include_str!("support/sample.dve");
const PDS: &str = include_str!("support/sample.pds");
const INIT: &str = include_str!("support/sample.init");
const SPEC: &str = include_str!("support/sample.spec");
const HOA: &str = include_str!("support/sample.hoa");

#[test]
fn very_large_and_very_deep_inputs_are_refused_in_words() {
    for (name, text) in [
        ("parentheses", format!("program p {{ invariant i: {}true{}; }}", "(".repeat(100_000), ")".repeat(100_000))),
        ("open", format!("program p {{ invariant i: {}", "(".repeat(100_000))),
        ("negations", format!("program p {{ invariant i: {}true; }}", "!".repeat(100_000))),
        (
            "blocks",
            format!("program p {{ process A {{ {} skip; {} }} }}", "if true {".repeat(50_000), "}".repeat(50_000)),
        ),
        ("sum", format!("program p {{ invariant i: 0 == {}1; }}", "1 + ".repeat(200_000))),
        ("arrays", format!("program p {{ shared x: {}bool{}; }}", "[".repeat(20_000), "; 2]".repeat(20_000))),
        ("range", "program p { shared x: 0..<4611686018427387904; process A { x = 1; } }".to_owned()),
        ("array", "program p { shared x: [bool; 4611686018427387904]; process A { skip; } }".to_owned()),
        ("family", "program p { process A[i in 0..<4611686018427387904] { skip; } }".to_owned()),
        ("comment", "/*".repeat(100_000)),
        ("long", "// 0123456789\n".repeat(800_000)),
        ("one line", "a ".repeat(1_000_000)),
        ("nothing", String::new()),
        ("zeros", "\0".repeat(1000)),
    ] {
        println!("{name}");
        readers::program(text.as_bytes());
    }
    for text in
        ["[".repeat(1_000_000), "{\"states\":".repeat(100_000), "[]".to_owned(), String::new(), "9".repeat(100_000)]
    {
        readers::trace(text.as_bytes());
    }
}

fn fuzz(what: &str, texts: &[Vec<u8>], check: fn(&[u8])) {
    let from_environment = |name| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let seed = from_environment("PIECEWISE_FUZZ_SEED").unwrap_or(1);
    let seconds = from_environment("PIECEWISE_FUZZ_SECONDS").map(Duration::from_secs);
    let cases = from_environment("PIECEWISE_FUZZ_CASES").unwrap_or(if seconds.is_some() { u64::MAX } else { CASES });
    let started = Instant::now();
    let mut n_cases = 0;
    for case in 0..cases {
        if seconds.is_some_and(|seconds| started.elapsed() > seconds) {
            break;
        }
        let seed = seed.wrapping_add(case);
        let bytes = Mutator(seed).mutate(texts);
        let _hint = Hint { what, seed };
        check(&bytes);
        n_cases += 1;
    }
    println!("{n_cases} cases of {what} from seed {seed}");
}

/// Says which seed fails, if one does.
struct Hint<'a> {
    what: &'a str,
    seed: u64,
}

impl Drop for Hint<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Hint { what, seed } = self;
            eprintln!("{what} fails with PIECEWISE_FUZZ_SEED={seed} PIECEWISE_FUZZ_CASES=1");
        }
    }
}

/// Words that mutations insert.
const WORDS: [&str; 48] = [
    "program",
    "process",
    "shared",
    "public",
    "local",
    "invariant",
    "property",
    "reachable",
    "race_free",
    "forall",
    "exists",
    "count",
    "loop",
    "for",
    "in",
    "if",
    "else",
    "either",
    "or",
    "atomic",
    "await",
    "acquire",
    "release",
    "call",
    "return",
    "goto",
    "break",
    "any",
    "none",
    "pid",
    "pid?",
    "sem",
    "lock",
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    ";",
    ":",
    "..<",
    "..=",
    "..",
    "@",
    "under",
    "expect violated",
    "9223372036854775807",
];

/// SplitMix64, and what it does to texts.
struct Mutator(u64);

impl Mutator {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    fn mutate(&mut self, texts: &[Vec<u8>]) -> Vec<u8> {
        if self.below(20) == 0 {
            let length = self.below(300);
            return (0..length).map(|_| self.next() as u8).collect();
        }
        let mut bytes = texts[self.below(texts.len())].clone();
        for _ in 0..=self.below(6) {
            self.change(&mut bytes, texts);
        }
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>, texts: &[Vec<u8>]) {
        let at = self.below(bytes.len() + 1);
        let longest = [3, 12, 200][self.below(3)];
        let end = (at + self.below(longest)).min(bytes.len());
        match self.below(8) {
            0 => drop(bytes.drain(at..end)),
            1 => {
                let copy = bytes[at..end].to_vec();
                bytes.splice(at..at, copy);
            }
            2 => {
                let word = format!(" {} ", WORDS[self.below(WORDS.len())]);
                bytes.splice(at..at, word.into_bytes());
            }
            3 => {
                let word = WORDS[self.below(WORDS.len())];
                bytes.splice(at..end, word.bytes());
            }
            4 => bytes.truncate(at),
            5 => {
                let other = &texts[self.below(texts.len())];
                let from = self.below(other.len());
                let to = (from + self.below(longest)).min(other.len());
                bytes.splice(at..end, other[from..to].iter().copied());
            }
            6 => {
                let number = [0, 1, 2, 7, -1, i64::MAX, i64::MIN][self.below(7)];
                bytes.splice(at..end, number.to_string().into_bytes());
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << self.below(8);
                }
            }
        }
    }
}
