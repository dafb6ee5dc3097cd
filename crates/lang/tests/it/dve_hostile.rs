//! DVE that nobody should write: each text is refused in words, or accepted; none makes the front-end fail, or work for long.

use crate::support::{Choices, any_text};
use base::SourceFile;

/// A model with every part of the language.
const SAMPLE: &str = "
const byte N = 3, T[2] = {1, 2}; int x = -N, a[N] = {1, 2}; byte y; channel c, d; channel {byte, int} q[2]; channel {byte} r[0];
process P { byte v = 2, w[4]; state idle, wait_, crit; init idle; commit wait_; assert crit: x >= 0 && y != 1, idle: v;
  trans idle -> wait_ { guard x + v * 2 == T[y] || not Q.l1, w[v] < 3; sync c!x + 1; effect x = -x, a[v % N] = ~3 & 7; },
    -> idle { sync q!{v, 3 << 1}; }, wait_ -> crit { sync d?; effect y = (y + 1) / 2; }, crit -> idle { sync r!9; }; }
process Q { int z; state l1, l2; init l1; trans l1 -> l2 { sync c?z; }, l2 -> l1 { sync d!; }, l1 -> l1 { sync q?{z, x}; },
    l2 -> l2 { sync r?y; effect z = P.crit imply (x | 1 ^ 2); }; }
process W { state p, g; init p; accept g; trans p -> p {}, p -> g { guard P->v == 2 && P.crit; }, g -> g { guard not P.crit; }; }
system async property W;
";

const NUMBERS: [&str; 8] = ["0", "1", "255", "256", "32768", "2147483647", "2147483648", "99999999999999999999"];

fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut in_word = false;
    for letter in text.chars() {
        let belongs = letter.is_alphanumeric() || letter == '_';
        match tokens.last_mut() {
            Some(token) if belongs && in_word => token.push(letter),
            _ => tokens.push(letter.to_string()),
        }
        in_word = belongs;
    }
    tokens
}

fn mutant(choices: &mut Choices) -> String {
    let mut text = tokens(SAMPLE);
    for _ in 0..1 + choices.below(4) {
        let at = choices.below(text.len());
        match choices.below(7) {
            0 => drop(text.remove(at)),
            1 => text[at] = choices.pick(&NUMBERS).to_string(),
            2 => text.truncate(at + 1),
            3 => text[at] = choices.pick(&["{", "}", "(", ")", ";", ",", "->", "!", "/*", "é", "\\", "$"]).to_string(),
            4 => text.insert(at, text[choices.below(text.len())].clone()),
            _ => text[at] = text[choices.below(text.len())].clone(),
        }
    }
    text.concat()
}

/// Loads a text and, if it is right, takes some steps.
fn try_out(text: &str) {
    let file = SourceFile::new("t.dve", text);
    match lang::load(&file, &[]) {
        Err(diagnostics) => {
            assert!(diagnostics.iter().any(base::Diagnostic::is_error), "refused without an error: {text}");
            assert!(diagnostics.len() <= 41, "too much is said");
        }
        Ok(loaded) => {
            let mut state = model::eval::initial_states(&loaded.model).next();
            for _ in 0..20 {
                let Some(current) = state else { break };
                state = model::eval::steps(&loaded.model, &current).into_iter().find_map(|step| step.result.ok());
            }
        }
    }
}

#[test]
fn mutants_are_refused_or_have_a_meaning() {
    for seed in 0..1500 {
        try_out(&mutant(&mut Choices::from_seed(seed)));
    }
}

#[test]
fn any_text_is_refused_in_words() {
    for seed in 0..1500 {
        let text = any_text(&mut Choices::from_seed(seed));
        try_out(&text);
    }
}

#[test]
fn the_sample_itself_is_right() {
    let loaded = lang::load(&SourceFile::new("t.dve", SAMPLE), &[]);
    let codes: Vec<&str> = match &loaded {
        Ok(loaded) => loaded.warnings.iter().map(|one| one.code).collect(),
        Err(diagnostics) => diagnostics.iter().map(|one| one.code).collect(),
    };
    assert!(loaded.is_ok(), "{codes:?}");
    assert_eq!(codes, ["W0601"]);
}

#[test]
fn deep_and_long_texts_are_taken_or_refused() {
    let with = |expression: &str| {
        format!("byte x; process P {{ state s; init s; trans s -> s {{ guard {expression}; }}; }} system async;")
    };
    let is_right = |text: &str| lang::load(&SourceFile::new("t.dve", text), &[]).is_ok();
    assert!(is_right(&with(&vec!["x"; 450].join(" && "))));
    assert!(!is_right(&with(&vec!["x"; 60_000].join(" + "))));
    assert!(!is_right(&with(&format!("{}x", "not ".repeat(60_000)))));
    assert!(!is_right(&with(&format!("{}x{}", "(".repeat(60_000), ")".repeat(60_000)))));
    assert!(!is_right(&with(&format!("{}x{}", "x[".repeat(60_000), "]".repeat(60_000)))));
    assert!(!is_right(&"{".repeat(100_000)));
    assert!(!is_right(&"process P {".repeat(20_000)));
    let transitions = vec!["s -> s { effect x = 1 - x; }"; 20_000].join(", ");
    assert!(is_right(&format!("byte x; process P {{ state s; init s; trans {transitions}; }} system async;")));
    let many = (0..200).map(|at| format!("byte v{at}[10000];")).collect::<String>();
    assert!(!is_right(&format!("{many} process P {{ state s; init s; }} system async;")));
}
