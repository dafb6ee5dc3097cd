//! Programs with cells of 32 bits: every method answers rightly or says that it does not know, within its limits.

use crate::support::Place;

/// What is not so is called `not_…`.
const PROGRAMS: [&str; 2] = [
    // Signed numbers, products, negation, division.
    "program signed { shared s: -2147483648..=2147483647; \
            process P { a: s = any -100..=100; b: s = s * s; c: s = -s; d: s = s / 3; e: s = s % 7; f: skip; } \
            invariant squares: P@d => s <= 0 && s >= -10000; \
            invariant no_square: s != -9999; \
            invariant rest: P@f => s >= 0 && s < 7; \
            invariant not_even: P@c => s != 9801; }",
    // A wide cell that starts anywhere, and a semaphore with many units.
    "program units { shared s: sem(4294967295) = 2; shared x: 0..=4294967295 = any; \
            process P[i in 0..<2] { loop { a: acquire s; b: skip; c: release s; } } \
            invariant few: s <= 2; \
            reachable far: x == 3000000000 && s == 0; }",
];

const METHODS: [&str; 7] = ["forward", "split", "tmmc", "stubborn", "fll-b", "views", "auto"];

#[test]
fn methods_are_right_about_wide_cells_or_say_that_they_do_not_know() {
    for text in PROGRAMS {
        let place = Place::with("wide.pw", text);
        for method in METHODS {
            let told = place.run(&format!("check wide.pw --method {method} --timeout 1s --memory 500M -q"));
            assert!([0, 1, 3].contains(&told.status), "{text}, {method}: {}{}", told.out, told.err);
            for line in told.out.lines() {
                let is_wrong = match line.contains("not_") {
                    true => line.contains("PROVED") || line.contains("HOLDS"),
                    false => line.contains("VIOLATED"),
                };
                assert!(!is_wrong, "{text}, {method}: {line}");
            }
        }
    }
}
