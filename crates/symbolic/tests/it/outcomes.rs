//! Statements with many outcomes: messages of bytes, and sums of several small cells.

use crate::faults::words;

/// A receive moves all messages up: as many outcomes as three bytes have values together.
#[test]
fn messages_of_bytes_are_received() {
    let text = "program s { chan c: [2] of (0..=255); shared n: 0..=255;
                process S { local i: 0..=255; while i < 5 { a: send c(i); i = i + 1; } }
                process R { local x: 0..=255; loop { b: receive c(x); n = x; } }
                invariant p: n < 5; }";
    assert_eq!(words(text), ["holds"; 5]);
    assert_eq!(words(&text.replace("n < 5", "n < 4"))[..2], ["violated"; 2]);
}

/// Cells of a hundred values are cases; four of them together have too many outcomes, and are bits then.
#[test]
fn too_many_outcomes_of_small_cells_are_bits() {
    let text = "program s { shared a: 0..=99; shared b: 0..=99; shared c: 0..=99; shared d: 0..=99;
                process P { loop { s: atomic { a = b; b = c; c = d; d = a; } } }
                process Q { loop { t: atomic { if d < 3 { d = d + 1; } } } }
                invariant p: a <= 3; }";
    assert_eq!(words(text), ["holds"; 5]);
    assert_eq!(words(&text.replace("a <= 3", "a <= 2"))[..2], ["violated"; 2]);
}

/// No element is meant, so nothing is chosen: the values of a wide type are not gone through.
#[test]
fn a_choice_for_no_element_of_a_wide_array_is_a_fault() {
    for any in ["any", "any 0..=1", "any x..=1"] {
        let text = format!(
            "program s {{ shared a: [0..=4294967295; 2]; shared k: 2..=3; shared x: 0..=1;
             process P {{ s: a[k] = {any}; }}
             invariant p: a[x] == 0; }}"
        );
        assert_eq!(words(&text), ["holds"; 5]);
    }
}
