//! The whole front-end on deep and on random programs: a Model or errors in words, never a panic.

use crate::support::Generator;
use base::SourceFile;
use lang::pw;

/// The codes of the errors, each once; none if the program becomes a Model.
fn codes(text: &str) -> Vec<&'static str> {
    let file = SourceFile::new("t", text);
    let diagnostics = pw::read(&file).and_then(|text| text.instance(&file, &[])).err().unwrap_or_default();
    let mut codes: Vec<&str> = diagnostics.iter().filter(|d| d.is_error()).map(|d| d.code).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

#[test]
fn the_deepest_expressions_become_models() {
    let invariant = |text: String| {
        format!(
            "program t {{ shared x: 0..=3; process A {{ await {text}; }} invariant i: {text}; property p: {text}; }}"
        )
    };
    let check = |text: String| {
        assert!(codes(&invariant(text.clone())).is_empty(), "{:?} in {}", codes(&invariant(text.clone())), &text[..60])
    };
    check(format!("x == 0{}", " && x == 0".repeat(495)));
    check(format!("0 < x{}", " + 1".repeat(495)));
    check(format!("{}x == 1{}", "(".repeat(190), ")".repeat(190)));
    check(format!("{}x == 1{}", "!(".repeat(95), ")".repeat(95)));
    check(format!("{}x == k0", (0..90).map(|k| format!("forall k{k} in 0..<1: ")).collect::<String>()));
    check(format!("{}x == 1{}", "if x == 1 then ".repeat(90), " else false".repeat(90)));
}

#[test]
fn the_deepest_statements_become_models() {
    let process = |text: String| format!("program t {{ shared x: 0..=3; process A {{ {text} }} }}");
    let check = |text: String| assert!(codes(&process(text.clone())).is_empty(), "{:?}", codes(&process(text)));
    check(format!("{}x = 1;{}", "if x == 1 { ".repeat(95), "}".repeat(95)));
    check(format!("{}x = 1;{}", "while x == 1 { ".repeat(95), "}".repeat(95)));
    check(format!("{}x = 1;{}", "loop { ".repeat(95), "}".repeat(95)));
    check(format!("{}x = 1;{}", "atomic { ".repeat(95), "}".repeat(95)));
    check(format!("{}x = 1;{}", "either { skip; } or { ".repeat(95), "}".repeat(95)));
    check(format!("if x == 1 {{}} {}", "else if x == 2 { skip; } ".repeat(95)));
    check("x = 1; ".repeat(20_000));
}

#[test]
fn random_programs_are_answered() {
    for seed in 0..400 {
        let (tokens, _) = Generator::program(seed);
        codes(&tokens.join(" "));
    }
}
