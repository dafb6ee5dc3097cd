//! Programs that nobody should write: each is refused in words, or accepted; none makes the front-end fail, or work for long.

use crate::product::facts;
use crate::support::{Choices, Generator};
use base::SourceFile;

/// The examples, as material for mutants.
fn examples() -> Vec<String> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let Ok(entries) = std::fs::read_dir(&folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    let programs = paths.iter().filter(|path| path.extension().is_some_and(|suffix| suffix == "pw"));
    programs.filter_map(|path| std::fs::read_to_string(path).ok()).collect()
}

/// Words and signs of a text, comments left out.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    for line in text.lines() {
        let mut is_word = false;
        for letter in line.split("//").next().unwrap_or_default().chars() {
            let belongs = letter.is_alphanumeric() || letter == '_';
            let is_operator = |token: &String| {
                !token.starts_with(|first: char| first.is_alphanumeric() || "(){}[];,".contains(first))
            };
            match tokens.last_mut() {
                Some(token) if belongs && is_word => token.push(letter),
                Some(token)
                    if !letter.is_whitespace()
                        && !belongs
                        && !is_word
                        && !"(){}[];,@!-".contains(letter)
                        && is_operator(token) =>
                {
                    token.push(letter);
                }
                _ if letter.is_whitespace() => {}
                _ => tokens.push(letter.to_string()),
            }
            if letter.is_whitespace() {
                tokens.push(String::new());
            }
            is_word = belongs;
        }
    }
    tokens.retain(|token| !token.is_empty());
    tokens
}

const NUMBERS: [&str; 6] = ["0", "1", "9223372036854775807", "4611686018427387904", "2147483648", "65536"];

fn mutant(choices: &mut Choices, material: &[Vec<String>]) -> String {
    let mut text = material[choices.below(material.len())].clone();
    let is_word = |token: &String| token.starts_with(|first: char| first.is_alphabetic());
    for _ in 0..1 + choices.below(3) {
        let at = choices.below(text.len());
        let words: Vec<usize> = (0..text.len()).filter(|&at| is_word(&text[at])).collect();
        match choices.below(8) {
            0 => drop(text.remove(at)),
            1 => text[at] = choices.pick(&NUMBERS).to_string(),
            2 => text[at] = text[choices.below(text.len())].clone(),
            3 => {
                let other = &material[choices.below(material.len())];
                text[at] = other[choices.below(other.len())].clone();
            }
            _ => {
                let (to, from) = (words[choices.below(words.len())], words[choices.below(words.len())]);
                text[to] = text[from].clone();
            }
        }
    }
    text.join(" ")
}

#[test]
fn programs_without_sense_are_refused_in_words() {
    for seed in 0..300 {
        let (tokens, _) = Generator::program(seed);
        let _ = lang::load(&SourceFile::new("t.pw", tokens.join(" ")), &[]);
    }
}

#[test]
fn mutants_of_examples_are_refused_or_have_a_meaning() {
    let material: Vec<Vec<String>> = examples().iter().map(|text| tokens(text)).collect();
    assert!(!material.is_empty(), "there are examples");
    for seed in 0..300 {
        let text = mutant(&mut Choices::from_seed(seed), &material);
        if let Ok(loaded) = lang::load(&SourceFile::new("t.pw", text), &[]) {
            let model = loaded.model;
            let mut state = model::eval::initial_states(&model).next();
            for _ in 0..20 {
                let Some(current) = state else { break };
                state = model::eval::steps(&model, &current).into_iter().find_map(|step| step.result.ok());
            }
        }
    }
}

fn repeated(part: impl Fn(usize) -> String, count: usize) -> String {
    (0..count).map(part).collect()
}

#[test]
fn deep_and_long_programs_are_taken_or_refused() {
    let conjunction = vec!["x"; 450].join(" && ");
    let long = format!("program p {{ shared x: bool; process P {{ x = true; }} invariant a: {conjunction}; }}");
    assert_eq!(facts(&long), "2 states, 1 transitions");
    let temporal = vec!["eventually x"; 450].join(" || ");
    let long = format!("program p {{ shared x: bool; process P {{ x = true; }} property a: {temporal}; }}");
    assert_eq!(facts(&long), "2 states, 1 transitions");
    let chain = repeated(|at| format!("define d{}(a) = !d{at}(a); ", at + 1), 2000);
    assert_eq!(
        facts(&format!("program p {{ shared x: bool; define d0(a) = a; {chain} process P {{ x = d2000(x); }} }}")),
        "E0507"
    );
    let doubling = repeated(|at| format!("define d{}(a) = d{at}(d{at}(a)); ", at + 1), 40);
    assert_eq!(
        facts(&format!(
            "program p {{ shared x: bool; define d0(a) = a && a; {doubling} process P {{ x = d40(x); }} }}"
        )),
        "E0507"
    );
    let temporal = repeated(|at| format!("define d{}(a) = d{at}(a) && d{at}(a); ", at + 1), 40);
    assert_eq!(
        facts(&format!(
            "program p {{ shared x: bool; define d0(a) = always a; {temporal} process P {{ x = true; }} property q: d40(x); }}"
        )),
        "E0507"
    );
    let loops = format!("program p {{ process P {{ {} skip; {} }} }}", "loop { ".repeat(150), "} ".repeat(150));
    assert_eq!(facts(&loops), "1 states, 1 transitions");
    let loops = format!(
        "program p {{ process P {{ {} skip; {} }} }}",
        repeated(|at| format!("for k{at} in 0..<9 {{ "), 90),
        "} ".repeat(90)
    );
    assert_eq!(facts(&loops), "E0508");
    let empty = "for k in 0..<i { skip; } ".repeat(300);
    assert!(facts(&format!("program p {{ process P[i in 0..<2] {{ {empty} }} }}")).starts_with("E0508"));
    let statements = "x = !x; ".repeat(20_000);
    assert!(
        facts(&format!("program p {{ shared x: bool; process P {{ goto end; {statements} end: skip; }} }}"))
            .starts_with("2 states")
    );
}

#[test]
fn numbers_at_the_ends_of_their_range_are_kept_or_refused() {
    let max = "9223372036854775807";
    let program = |declaration: &str, rest: &str| {
        facts(&format!("program p {{ {declaration} process P[i in 0..<2] {{ {rest} }} }}"))
    };
    assert_eq!(program(&format!("shared x: {max}..={max};"), "x = x; await -x - 1 < 0;"), "9 states, 12 transitions");
    assert_eq!(program(&format!("shared x: 0..={max};"), "skip;"), "E0503");
    assert_eq!(program(&format!("shared x: -{max}..={max};"), "skip;"), "E0503");
    assert_eq!(program(&format!("const K = {max} + 1;"), "skip;"), "E0210");
    assert_eq!(program(&format!("const K = {max} * 2 - 1; shared a: [bool; K];"), "skip;"), "E0210");
    assert_eq!(program("const K = 1 / (2 - 2); shared a: [bool; K];", "skip;"), "E0210");
    assert_eq!(program(&format!("shared a: [[bool; {max}]; {max}];"), "skip;"), "E0504");
    assert_eq!(program("", &format!("for k in 0..={max} {{ skip; }}")), "E0508");
    assert_eq!(program("", &format!("for k in {max}..={max} {{ skip; }}")), "4 states, 4 transitions");
    assert_eq!(program("", &format!("await forall k in -{max}..={max}: k > 0;")), "E0508");
    assert_eq!(program("", "for k in 4 / i..<5 { skip; }"), "E0503");
    assert_eq!(
        facts(&format!("program p {{ process P[i in {max} - 1..={max}] {{ skip; }} }}")),
        "4 states, 4 transitions"
    );
    assert_eq!(facts(&format!("program p {{ process P[i in -{max}..={max}] {{ skip; }} }}")), "E0505");
    assert_eq!(facts(&format!("program p(N: {max}..) {{ process P[i in 0..=N] {{ skip; }} }}")), "E0505");
    assert_eq!(facts("program p { process P[i in 0..<9999] { skip; } process Q[i in 0..<9999] { skip; } }"), "E0505");
    assert_eq!(program(&format!("shared s: sem({max}) = {max};"), "skip;"), "E0503");
}

#[test]
fn one_mistake_is_reported_once() {
    assert_eq!(facts("program p { shared a: [bool; unknown]; process P { a[0] = a[1] && a; } }"), "E0202");
    assert_eq!(
        facts("program p { const K = L; const L = K; shared a: [bool; K]; process P { a[K] = true; } }"),
        "E0214"
    );
    assert_eq!(facts("program p { process P[i in 0..<M] { public k: 0..<M; P[3].k = P[2].k; } }"), "E0202 E0202");
    assert_eq!(facts("program p { define f(x) = y + x; process P { await f(1) > 0 && f(2) < f(3); } }"), "E0202");
    assert_eq!(facts("program p { proc f(a: T) { return; } process P { call f(1); } }"), "E0221");
    assert_eq!(facts("program p { enum E { } shared e: E; process P { e = e; } }"), "E0220");
    assert_eq!(facts("program p { process P { l: loop { goto l; } await y; } }"), "E0112 E0306 E0202");
    assert_eq!(facts("program p { }"), "1 states, 0 transitions");
}
