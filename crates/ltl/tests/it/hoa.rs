//! Automata as text: what is written is read back, what others write is read, and what is malformed is refused, never a panic.

use crate::support::{Random, formula, names, seeds, show, word};
use base::{Budget, SourceFile};
use ltl::{Acceptance, Bits, Formulas, Lasso, Translation, hoa, translate};

fn read(text: &str) -> Result<hoa::HoaDocument, Vec<String>> {
    let describe = |error: &base::Diagnostic| {
        format!("{}..{} {}", error.primary.span.start, error.primary.span.end, error.message)
    };
    hoa::read(&SourceFile::new("automaton.hoa", text)).map_err(|errors| errors.iter().map(describe).collect())
}

#[test]
fn written_automata_are_read_back() {
    for seed in seeds(500) {
        let mut random = Random(seed);
        let (atoms, mut formulas) = (names(3), Formulas::new());
        let size = 1 + random.below(8);
        let root = formula(&mut random, &mut formulas, &atoms, size);
        let acceptance = [Acceptance::Generalised, Acceptance::Buchi, Acceptance::StateBuchi][random.below(3)];
        let translation = Translation { acceptance, ..Translation::default() };
        let automaton = translate(&mut formulas, root, &translation, &Budget::unlimited()).expect("small");
        let text = hoa::write(&automaton, &atoms, &show(&formulas, &atoms, root));
        let back = read(&text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
        assert_eq!(
            (back.automaton.states.len(), back.automaton.n_edges()),
            (automaton.states.len(), automaton.n_edges())
        );
        assert_eq!(hoa::write(&back.automaton, &back.atoms, &back.name), text);
        for _ in 0..10 {
            let word = word(&mut random, 3);
            // Atoms that the automaton does not use are not written, so the numbers differ.
            let number = |atom: usize| back.atoms.find(&format!("p{atom}")).map(|id| id.index());
            let renamed: Vec<Bits> =
                word.letters().iter().map(|letter| letter.iter().filter_map(number).collect()).collect();
            let (stem, cycle) = renamed.split_at(word.loop_from());
            let renamed = Lasso::new(stem.to_vec(), cycle.to_vec()).expect("a loop");
            assert_eq!(back.automaton.accepts(&renamed), automaton.accepts(&word), "seed {seed}\n{text}");
        }
    }
}

/// `p0` at the first and the second letter of a loop of two.
fn accepts(document: &hoa::HoaDocument, cycle: [bool; 2]) -> bool {
    let letter = |value: bool| if value { Bits::below(1) } else { Bits::new() };
    document.automaton.accepts(&Lasso::new(vec![], cycle.map(letter).to_vec()).expect("a loop"))
}

const GF_P: &str = r#"HOA: v1
name: "GFp"
States: 2
Start: 0
AP: 1 "p"
acc-name: Buchi
Acceptance: 1 Inf(0)
properties: trans-labels explicit-labels state-acc complete
/* a comment /* in a comment */ */
--BODY--
State: 0 "waits"
[!0] 0
[0] 1
State: 1 {0}
[!0] 0
[0] 1
--END--
"#;

#[test]
fn other_spellings_of_the_format() {
    let implicit =
        "HOA: v1 States: 2 Start: 0 AP: 1 \"p\" Acceptance: 1 Inf(0) --BODY-- State: 0 0 1 State: 1 {0} 0 1 --END--";
    let aliases = "HOA: v1 Start: 0 AP: 1 \"p\" Alias: @a 0 Alias: @b !@a Acceptance: 1 Inf(0) --BODY-- State: 0 [@b|f] 0 [@a&t] 0 {0} --END--";
    let negated = "HOA: v1 Start: 7 AP: 1 \"p\" Acceptance: 1 Inf(!0) --BODY-- State: 7 [!0] 7 {0} [0] 7 --END--";
    let labelled_states = "HOA: v1 Start: 0 Start: 1 AP: 1 \"p\" Acceptance: 1 (Inf(0)) --BODY-- State: [!0] 0 0 1 State: [0] 1 {0} 0 1 --END--";
    for text in [GF_P, implicit, aliases, negated, labelled_states] {
        let document = read(text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
        assert!(accepts(&document, [true, false]) && accepts(&document, [true, true]), "{text}");
        assert!(!accepts(&document, [false, false]), "{text}");
    }
    assert_eq!(read(GF_P).map(|document| document.name).as_deref(), Ok("GFp"));
    let nothing = read("HOA: v1 AP: 0 Acceptance: 0 t --BODY-- --END--").expect("an automaton without initial state");
    assert!(!accepts(&nothing, [true, true]));
}

/// The text draws exactly these errors.
fn check(text: &str, expected: &[&str]) {
    let found = read(text).map(|_| ()).expect_err(text);
    assert_eq!(found, expected, "{text}");
}

#[test]
fn what_is_not_read_is_refused_with_its_place() {
    check(
        "",
        &[
            "0..0 expected `HOA: v1`, found the end",
            "0..0 expected a line of the header, or `--BODY--`, found the end",
            "0..0 the header has no `Acceptance:`",
            "0..0 expected `State:` or `--END--`, found the end",
        ],
    );
    let with = |condition: &str, body: &str| {
        format!("HOA: v1 AP: 1 \"p\" Start: 0 Acceptance: {condition} --BODY-- {body} --END--")
    };
    let only = "only generalised Büchi conditions are read: `t`, or sets as `Inf(0) & Inf(1)`";
    check(&with("2 Fin(0)&Inf(1)", ""), &[&format!("41..44 {only}")]);
    check(&with("2 Inf(0)|Inf(1)", ""), &[&format!("47..48 {only}")]);
    check(&with("1 Inf(1)", ""), &["45..46 there is no acceptance set 1"]);
    check(&with("0 t", "State: 0 [1] 0"), &["62..63 there is no atom number 1"]);
    check(&with("0 t", "State: 0 [0] 0&1"), &["66..67 alternating automata are not read"]);
    check(
        &with("0 t", "State: 0 [0 0 State: 0 {1} State: x"),
        &[
            "64..65 expected `]`, found `0`",
            "73..74 this state stands here for the second time",
            "86..87 expected the number of a state, found `x`",
        ],
    );
    check(
        &with("0 t", "State: 0 0"),
        &["61..62 edges without labels list all letters: there must be 2^1, and there are 1"],
    );
    check(
        "HOA: v1 Acceptance: 0 t Colour: red --BODY-- --END--",
        &["24..31 `Colour:` is not known, and may change what the automaton means"],
    );
    check(
        "HOA: v1 States: 1 Acceptance: 0 t --BODY-- State: 1 --END-- more",
        &[
            "50..51 there is no state 1: the header says `States: 1`",
            "60..64 nothing may stand after the first automaton",
        ],
    );
    check("HOA: v1 AP: 2 \"p\" Acceptance: 0 t --BODY-- --END--", &["14..17 2 atoms were announced, and there are 1"]);
    let deep = format!("State: 0 [{}0{}] 0", "(".repeat(100_000), ")".repeat(100_000));
    assert!(read(&with("0 t", &deep)).is_err());
}

#[test]
fn damaged_texts_never_panic() {
    let pieces =
        ["(", "[", "{", "!", "&", "State:", "--END--", "99999999999999", "\"", "/*", "é", "Inf", "@x", "Alias:"];
    let mut n_accepted = 0;
    for seed in seeds(5_000) {
        let mut random = Random(seed);
        let mut text: Vec<char> = GF_P.chars().collect();
        for _ in 0..1 + random.below(4) {
            let at = random.below(text.len());
            match random.below(3) {
                0 => drop(text.drain(at..text.len().min(at + 1 + random.below(20)))),
                1 => drop(text.splice(at..at, pieces[random.below(pieces.len())].chars())),
                _ => {
                    let other = random.below(text.len());
                    text.swap(at, other);
                }
            }
        }
        let text: String = text.into_iter().collect();
        match read(&text) {
            Ok(_) => n_accepted += 1,
            Err(errors) => assert!(!errors.is_empty(), "seed {seed}: refused without a reason"),
        }
    }
    assert!(n_accepted > 0, "harmless damage is harmless");
}
