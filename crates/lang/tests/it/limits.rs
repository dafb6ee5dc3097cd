//! Huge and deep inputs: an answer in words, without overflowing the stack and in time that grows with the length only.

use base::SourceFile;
use lang::pw;

/// Parses and formats `text`; the codes of all errors, each once.
fn codes(text: String) -> Vec<&'static str> {
    let file = SourceFile::new("t", text);
    let parsed = pw::parse(&file);
    assert_eq!(pw::format(&file).is_err(), parsed.has_errors());
    let mut codes: Vec<&str> = parsed
        .diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.is_error())
        .map(|diagnostic| diagnostic.code)
        .collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

fn statement(text: String) -> String {
    format!("program t {{ process A {{ {text} }} }}")
}

fn invariant(text: String) -> String {
    format!("program t {{ invariant i: {text}; }}")
}

const MANY: usize = 100_000;

#[test]
fn deep_nesting_is_refused() {
    let check = |text: String, expected: &str| assert_eq!(codes(text), [expected]);
    check(invariant(format!("{}x{}", "(".repeat(MANY), ")".repeat(MANY))), "E0131");
    check(invariant(format!("{}x{}", "a[".repeat(MANY), "]".repeat(MANY))), "E0131");
    check(invariant(format!("{}x", "!".repeat(MANY))), "E0131");
    check(invariant(format!("{}x", "always ".repeat(MANY))), "E0131");
    check(invariant(format!("{}x", "forall i: ".repeat(MANY))), "E0131");
    check(invariant(format!("forall i in P{}: x", ", i in P".repeat(MANY))), "E0131");
    check(invariant(format!("{}x{}", "if a then ".repeat(MANY), " else b".repeat(MANY))), "E0131");
    check(invariant(format!("{}x{}", "f(".repeat(MANY), ")".repeat(MANY))), "E0131");
    check(invariant(format!("{}x{}", "[".repeat(MANY), "]".repeat(MANY))), "E0131");
    check(statement(format!("{}skip;{}", "loop {".repeat(MANY), "}".repeat(MANY))), "E0131");
    check(statement(format!("if a {{}} {}", "else if a {} ".repeat(MANY))), "E0131");
    check(format!("program t {{ shared x: {}bool{}; }}", "[".repeat(MANY), "; 2]".repeat(MANY)), "E0131");
    check(format!("program t {{ property p: x under {}a{}; }}", "(".repeat(MANY), ")".repeat(MANY)), "E0131");
}

#[test]
fn long_chains_are_refused() {
    for op in ["+", "&&", "||", "xor", "*", "-"] {
        assert_eq!(codes(invariant(format!("x{}", format!(" {op} x").repeat(MANY)))), ["E0131"]);
    }
    assert_eq!(codes(invariant(format!("x{}", "[0]".repeat(MANY)))), ["E0131"]);
    assert_eq!(codes(invariant(format!("x{}", ".y".repeat(MANY)))), ["E0131"]);
    assert_eq!(codes(invariant(format!("x{}", " as pid".repeat(MANY)))), ["E0131"]);
    // Each level is within the limits; all of them together are not, wherever the next one stands.
    let chain = |start: &str| format!("{start}{}", " + 1".repeat(400));
    for (open, close) in
        [("count(k in 0..<", ": true)"), ("count(k != 0 + ", ": true)"), ("max(", ")"), ("a[", "]"), ("[", "]")]
    {
        let text = (0..50).fold("x".to_string(), |text, _| format!("({open}{}{close})", chain(&text)));
        assert_eq!(codes(invariant(text)), ["E0131"], "{open}");
    }
}

#[test]
fn chains_that_a_program_may_have_are_accepted() {
    assert!(codes(invariant(format!("x{}", " && x == 1 + y".repeat(490)))).is_empty());
    assert!(codes(invariant(format!("{}x{}", "(".repeat(190), ")".repeat(190)))).is_empty());
}

#[test]
fn long_lists_are_fine() {
    assert!(codes(statement("skip; ".repeat(MANY / 5))).is_empty());
    assert!(codes(statement("if x { skip; } else { skip; }\n".repeat(MANY / 5))).is_empty());
    assert!(codes(statement(format!("either {{}} {}", "or {} ".repeat(MANY / 5)))).is_empty());
    assert!(codes(statement(format!("{} skip;", "a: ".repeat(MANY / 5)))).is_empty());
    assert!(codes(format!("{}\nprogram t {{ }}", "// comment\n".repeat(MANY / 5))).is_empty());
    assert!(codes(format!("program t {{ property p: x under a{}; }}", ", a or b".repeat(MANY / 5))).is_empty());
}

#[test]
fn garbage_is_answered() {
    for garbage in
        ["{", "}", "{}", "(", ")", ";", "$", "\"", "/*", "weak P[", "a:", "=", "x => ", "\n}", "if ", "é", "program"]
    {
        let n_times = (1 << 17) / garbage.len();
        assert!(!codes(garbage.repeat(n_times)).is_empty(), "{garbage}");
        assert!(!codes(format!("program t {{ process A {{ {}", garbage.repeat(n_times))).is_empty(), "{garbage}");
        assert!(
            !codes(format!("program t {{ property p: a under {}", garbage.repeat(n_times))).is_empty(),
            "{garbage}"
        );
    }
}

#[test]
fn a_file_that_is_too_long_is_not_read() {
    assert_eq!(codes("x".repeat(pw::MAX_FILE_LENGTH + 1)), ["E0130"]);
}
