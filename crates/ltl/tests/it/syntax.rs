//! Texts to formulas and back, and what is wrong with texts.

use crate::support::{Random, formula, names, parse, seeds, word};
use base::{Diagnostic, SourceFile};
use ltl::syntax::{self, Style, print};
use ltl::{Atoms, Formulas};

/// The text means the formula that the second text shows in keywords.
fn check(text: &str, expected: &str) {
    let (mut formulas, mut atoms) = (Formulas::new(), Atoms::new());
    let root = parse(&mut formulas, &mut atoms, text);
    assert_eq!(print(&formulas, &atoms, root, Style::Keywords), expected, "{text}");
}

fn errors(text: &str) -> Vec<Diagnostic> {
    let result = syntax::parse(&SourceFile::new("formula", text), &mut Formulas::new(), &mut Atoms::new());
    result.expect_err(text)
}

/// The text draws exactly these errors: code, place, message.
fn refuse(text: &str, expected: &[&str]) {
    let describe = |error: &Diagnostic| {
        format!("{} {}..{} {}", error.code, error.primary.span.start, error.primary.span.end, error.message)
    };
    let found: Vec<String> = errors(text).iter().map(describe).collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn all_spellings_of_operators() {
    for text in ["always p", "G p", "[]p", "□p", "⬜ p", "◻p", "Gp", "globally p", "[] (p)"] {
        check(text, "always p");
    }
    for text in ["eventually p", "F p", "<>p", "◇p", "⋄p", "♢p", "Fp"] {
        check(text, "eventually p");
    }
    for text in ["next p", "X p", "()p", "○p", "◯p", "Xp"] {
        check(text, "next p");
    }
    for (texts, word) in [
        (["p until q", "p U q", "p stronguntil q"], "until"),
        (["p weakuntil q", "p W q", "p  W\tq"], "weakuntil"),
        (["p releases q", "p R q", "p V q"], "releases"),
        (["p strongreleases q", "p M q", "(p) M (q)"], "M"),
        (["p ~> q", "p leadsto q", "(p ~> q)"], "~>"),
        (["p => q", "p -> q", "p implies q"], "=>"),
        (["p <=> q", "p <-> q", "p equivalent q"], "<=>"),
        (["p xor q", "p ^ q", "p ⊕ q"], "xor"),
        (["p and q", "p /\\ q", "p * q"], "&&"),
        (["p or q", "p \\/ q", "p + q"], "||"),
    ] {
        texts.into_iter().for_each(|text| check(text, &format!("p {word} q")));
    }
    check("p & q && r ∧ s", "p && q && r && s");
    check("p | q || r ∨ s", "p || q || r || s");
    check("p → q", "p => q");
    check("not p && ~q and ¬r and !s", "!p && !q && !r && !s");
    check("TRUE && p", "p");
    check("X (1 U False)", "next (true until false)");
    check("GFp0 -> FGXp1", "(always eventually p0) => (eventually always next p1)".replace(['(', ')'], "").as_str());
    check("GF(p & q)", "always eventually (p && q)");
}

#[test]
fn operators_bind_as_in_spin_and_spot() {
    check("p U q & r", "(p until q) && r");
    check("p | q & r", "p || (q && r)");
    check("! p U G q", "!p until always q");
    check("p & q -> r | s", "(p && q) => (r || s)");
    check("p xor q | r", "p xor (q || r)");
    check("p -> q U r", "p => (q until r)");
    check("G p -> q", "always p => q");
}

#[test]
fn atoms_are_names_with_all_that_belongs_to_them() {
    check("P[0]@crit ~> P[i + 1]@{crit, leave}", "\"P[0]@crit\" ~> \"P[i + 1]@{crit, leave}\"");
    check("[] x == 0 && y.z!=1", "always \"x == 0\" && \"y.z != 1\"");
    check("p0.loc = cs", "\"p0.loc == cs\"");
    check("\"a \\\"quoted\\\" name\" U Free", "\"a \\\"quoted\\\" name\" until eventually ree");
    check("\"Free\" U \"until\"", "\"Free\" until \"until\"");
    check("U U R", "\"U\" until \"R\"");
    check("FLAG && GRANT", "FLAG && GRANT");
    let (mut formulas, mut atoms) = (Formulas::new(), Atoms::new());
    atoms.named("Free");
    atoms.named("G");
    let root = parse(&mut formulas, &mut atoms, "Free && F G");
    assert_eq!(print(&formulas, &atoms, root, Style::Spot), "\"Free\" & F \"G\"", "declared names win");
}

#[test]
fn values_of_atoms_are_read_as_spot_reads_them() {
    check("p=1 U q=0", "p until !q");
    check("GFp=0 & X \"a b\" = 1", "always eventually !p && next \"a b\"");
    check("p=1Uq=0", "p until !q");
    check("(p=0)WGFq=1", "!p weakuntil always eventually q");
    check("(p)Rq && p=1 M1", "(p releases q) && (p M true)");
    check("p=10", "\"p == 10\"");
    check("p == 1", "\"p == 1\"");
}

#[test]
fn spellings_of_other_tools() {
    let (mut formulas, mut atoms) = (Formulas::new(), Atoms::new());
    let root = parse(&mut formulas, &mut atoms, "P[0]@crit ~> (a W !b) && (c M d)");
    let text = |style| print(&formulas, &atoms, root, style);
    assert_eq!(text(Style::Keywords), "\"P[0]@crit\" ~> ((a weakuntil !b) && (c M d))");
    assert_eq!(text(Style::Spot), "G (\"P[0]@crit\" -> F ((a W !b) & (c M d)))");
    assert_eq!(text(Style::Spin), "[] (p_P_0__crit -> <> ((!b V (a || !b)) && (d U (c && d))))");
}

#[test]
fn printed_formulas_are_read_back() {
    for seed in seeds(2_000) {
        let mut random = Random(seed);
        let (atoms, mut formulas) = (names(4), Formulas::new());
        let size = random.below(15);
        let root = formula(&mut random, &mut formulas, &atoms, size);
        let keywords = print(&formulas, &atoms, root, Style::Keywords);
        assert_eq!(parse(&mut formulas, &mut atoms.clone(), &keywords), root, "seed {seed}: {keywords}");
        for style in [Style::Spot, Style::Spin] {
            let text = print(&formulas, &atoms, root, style);
            let back = parse(&mut formulas, &mut atoms.clone(), &text);
            for _ in 0..5 {
                let word = word(&mut random, 4);
                assert_eq!(word.satisfies(&formulas, back), word.satisfies(&formulas, root), "seed {seed}: {text}");
            }
        }
    }
}

#[test]
fn what_tools_read_differently_is_refused_with_both_readings() {
    refuse("a U b U c", &["E0108 6..7 `a U b U c` can be read in two ways"]);
    refuse("a until b W c", &["E0108 10..11 `a until b W c` can be read in two ways"]);
    refuse("a -> b -> c", &["E0107 7..9 `a -> b -> c` can be read in two ways"]);
    refuse("a => b <=> c", &["E0107 7..10 `a => b <=> c` can be read in two ways"]);
    let text = "G (x & y) U b U c";
    let readings: Vec<String> = errors(text)[0]
        .helps
        .iter()
        .map(|help| {
            let edit = &help.edits[0];
            format!("{}{}{}", &text[..edit.span.start as usize], edit.replacement, &text[edit.span.end as usize..])
        })
        .collect();
    assert_eq!(readings, ["(G (x & y) U b) U c", "G (x & y) U (b U c)"]);
    refuse("a --> b", &["E0117 2..5 `-->` means different things in different tools"]);
}

#[test]
fn mistakes_are_told_with_their_places() {
    refuse("", &["E0101 0..0 expected a formula, found the end"]);
    refuse("(a & (b | c)", &["E0104 0..1 this parenthesis is never closed"]);
    refuse("a & b) | c", &["E0104 5..6 this parenthesis closes nothing"]);
    refuse("a & ", &["E0101 3..3 expected a formula, found the end"]);
    refuse("a b", &["E0101 2..3 expected an operator, found `b`"]);
    refuse(
        "(a b) & (c U) & #",
        &[
            "E0101 3..4 expected an operator or `)`, found `b`",
            "E0101 12..13 expected a formula, found `)`",
            "E0119 16..17 `#` means nothing in a formula",
            "E0101 17..17 expected a formula, found the end",
        ],
    );
    refuse(
        "a U b U c & (d",
        &["E0108 6..7 `a U b U c` can be read in two ways", "E0104 12..13 this parenthesis is never closed"],
    );
    refuse("2 U a", &["E0101 0..1 `2` is neither true nor false"]);
    refuse("\"open", &["E0104 0..1 the text in quotes has no end"]);
    refuse("P[0 & a", &["E0104 1..2 a bracket after a name has no partner"]);
    refuse("a & & b", &["E0101 4..5 expected a formula, found `&`"]);
}

#[test]
fn deep_nesting_is_an_error_and_long_chains_are_fine() {
    for n in [2_000, 100_000] {
        let towers = [
            format!("{}p{}", "(".repeat(n), ")".repeat(n)),
            format!("{}p", "!".repeat(n)),
            format!("{}p", "G F ".repeat(n)),
            format!("{}p", "GF".repeat(n)),
            format!("{}p{}", "p U (".repeat(n), ")".repeat(n)),
            "(".repeat(n),
        ];
        for text in towers {
            let found = errors(&text);
            assert_eq!((found.len(), found[0].code), (1, "E0131"), "{}", &text[..20]);
        }
        let chain = vec!["p & q"; n].join(" | ");
        check(&chain, "p && q");
        let _ = errors(&")".repeat(n));
        let _ = errors(&"p U ".repeat(n));
    }
}

#[test]
fn damaged_texts_never_panic() {
    let pieces = ["(", ")", "U", "->", "G", "[]", "\"", "[", "@{", "é", "==", "1", "-->", "#", "<>", "p", " ", "&"];
    for seed in seeds(20_000) {
        let mut random = Random(seed);
        let text: String = (0..random.below(12)).map(|_| pieces[random.below(pieces.len())]).collect();
        let result = syntax::parse(&SourceFile::new("formula", text.clone()), &mut Formulas::new(), &mut Atoms::new());
        if let Err(found) = result {
            assert!(!found.is_empty(), "{text}");
            for error in found {
                assert!(error.primary.span.end as usize <= text.len(), "{text}");
            }
        }
    }
}
