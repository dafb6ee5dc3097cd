//! Interchangeable processes whose indices, ids and numbers get into data in other ways than by name: an index that is stored as a number, one that names a
//! process of another family, numbers that count processes, structs, sets and channels of ids, numbers that a single process copies, one constant
//! that distinguishes a process, constants and bounds that are no sums of the size.
//!
//! A program has a few of these, so that products stay small.

use super::{SizedKind, SizedWriter};

/// What there is to be chosen from: the letter by which statements ask for it, and how it is declared.
const PARTS: [(char, &str); 13] = [
    ('n', "shared n: 0..<N;"),
    ('t', "shared t: 0..=N;"),
    ('r', "struct R { who: pid(P)?, bit: 0..=1 } shared r: R;"),
    ('w', "shared w: set of pid(P);"),
    ('h', "chan mail: [1] of (pid(P));"),
    ('l', "chan mail: lossy [1] of (0..=1, pid(P));"),
    ('p', "shared p: pid(P)? = none;"),
    ('q', "shared q: pid(P);"),
    ('a', "shared a: [0..=1; N] = any; initially exists k: a[k] == 1;"),
    ('b', "shared a: [0..=1; N] = [k: if k == 0 then 1 else 0];"),
    ('k', "const K = count(k in P: true);"),
    ('m', "const K = max(k in 0..<N: k) + 1;"),
    ('z', "shared z: N * N..=100;"),
];

/// Tests of a process `i`, each with the part that it needs.
const TESTS: [(char, &str); 27] = [
    ('n', "n == i"),
    ('n', "n != i && c[n] == 0"),
    ('n', "n < N - 1"),
    ('t', "t == N"),
    ('t', "t > 1"),
    ('t', "t == count(k: c[k] == 1)"),
    ('r', "r.who == i"),
    ('r', "r == R(i, 1)"),
    ('r', "r.who != none && c[r.who] == 1"),
    ('w', "i in w"),
    ('w', "size(w) > 1"),
    ('h', "empty(mail)"),
    ('l', "len(mail) == 1"),
    ('p', "p != none && P[p].x == 1"),
    ('q', "P[q].x == 1"),
    ('a', "a[i] == 1"),
    ('b', "a[i] == 1"),
    ('k', "K != 2"),
    ('m', "K > 2"),
    ('z', "z != 4"),
    ('Q', "Q[i].f"),
    ('Q', "(exists j in Q: Q[j].f)"),
    ('Q', "(forall j in Q: !Q[j].f)"),
    (' ', "sum(k in 0..<N: c[k]) > 1"),
    (' ', "max(k in P: P[k].x) == 0"),
    (' ', "i != P[0]"),
    (' ', "(exists k: k != i && c[k] == 1)"),
];

/// Steps of a process `i`, each with the part that it needs.
const STEPS: [(char, &str); 29] = [
    ('n', "n = i;"),
    ('n', "n = any;"),
    ('n', "n = if n == N - 1 then 0 else n + 1;"),
    ('t', "t += 1;"),
    ('t', "atomic { await t > 0; t -= 1; }"),
    ('t', "t = 0;"),
    ('r', "r = R(i, 1);"),
    ('r', "r.who = none;"),
    ('r', "if cas(r.bit, 0, 1) { x = 1; } else { x = 0; }"),
    ('w', "insert w(i);"),
    ('w', "remove w(i);"),
    ('w', "some k in w { c[k] = 1; }"),
    ('h', "send mail(i);"),
    ('h', "receive mail(= i);"),
    ('l', "send mail(1, i);"),
    ('l', "receive mail(_, = i);"),
    ('p', "if cas(p, none, i) { x = 1; }"),
    ('p', "atomic { await p == i; p = none; }"),
    ('q', "q = any;"),
    ('q', "c[q] = 1;"),
    ('a', "a[i] = 0;"),
    ('b', "a[i] = 0;"),
    ('k', "x = K % 2;"),
    ('m', "c[i] = K % 2;"),
    ('z', "x = z % 2;"),
    (' ', "c[0] = 1;"),
    (' ', "some k in P where c[k] == 1 { c[k] = 0; x = 1; }"),
    (' ', "for k in 0..<N { if c[k] == 1 { x = 1; } }"),
    (' ', "atomic { let old = x; x = c[i]; c[i] = old; }"),
];

/// Steps of a single process beside the family.
const SINGLE: [(char, &str); 9] = [
    ('q', "v = P[q].y;"),
    ('q', "atomic { await P[q].y >= 5; v = P[q].y; }"),
    ('p', "atomic { await p != none; v = P[p].y; c[p] = 1; }"),
    ('t', "v = t;"),
    ('n', "c[n] = 1;"),
    ('h', "receive mail(k);"),
    (' ', "atomic { k = any; await k != none && seen[k]; seen[k] = false; }"),
    (' ', "atomic { k = any; await k != none; seen[k] = c[k] == 1; }"),
    (' ', "atomic { await v >= 5; for k in 0..<N { c[k] = 0; } }"),
];

/// Invariants beside those of every kind.
const INVARIANTS: [(char, &str); 13] = [
    ('n', "forall i: P[i]@l1 => n == i"),
    ('t', "t == count(i: P[i]@l1)"),
    ('t', "t <= N"),
    ('r', "forall i: r.who == i => c[i] == 1"),
    ('w', "forall i: i in w => P[i]@l1"),
    ('h', "len(mail) == 0"),
    ('p', "forall i: p == i => P[i].x == 1"),
    ('q', "forall i: q == i => !P[i]@l1"),
    ('Q', "forall i in P: P[i]@l1 => exists j in Q: Q[j].f"),
    ('k', "K == 2"),
    ('m', "K <= 2"),
    ('z', "z == 4"),
    (' ', "sum(k in 0..<N: c[k]) <= 1"),
];

impl SizedWriter<'_> {
    /// The whole program but for its last brace.
    pub(super) fn numbers(&mut self) {
        debug_assert_eq!(self.kind, SizedKind::Numbers);
        let mut parts: Vec<char> = Vec::new();
        let least = self.pick(&["2", "2", "2", "3"]);
        self.line(format!("program sized(N: {least}..) {{"));
        self.line("  shared c: [0..=1; N];");
        for _ in 0..1 + self.choices.below(2) {
            let &(letter, declared) = self.choices.pick(&PARTS);
            // Both arrays are `a`, both channels `mail`, both constants `K`.
            let is_double = |twins: [char; 2]| twins.contains(&letter) && twins.iter().any(|twin| parts.contains(twin));
            if !parts.contains(&letter) && !is_double(['a', 'b']) && !is_double(['h', 'l']) && !is_double(['k', 'm']) {
                parts.push(letter);
                self.line(format!("  {declared}"));
            }
        }
        self.has.x = true;
        self.line("  process P[i in 0..<N] {");
        self.line("    public x: 0..=1;");
        let has_single = self.choices.chance(35);
        if has_single {
            self.line("    public y: 0..=30;");
        }
        if self.choices.chance(25) {
            parts.push('Q');
        }
        let is_loop = self.choices.chance(60);
        if is_loop {
            self.line("    loop {");
        }
        self.n_labels = 2 + self.choices.below(2);
        for label in 0..self.n_labels {
            let step = self.one(&STEPS, &parts);
            let test = self.one(&TESTS, &parts);
            let step = match self.choices.below(6) {
                0 => "x = 1 - x;".to_owned(),
                1 if has_single => "y = 5;".to_owned(),
                _ => step,
            };
            let line = match self.choices.below(4) {
                0 => format!("      l{label}: await {test};"),
                1 => format!("      l{label}: if {test} {{ {step} }}"),
                2 => format!("      l{label}: atomic {{ if {test} {{ c[i] = 1; }} else {{ c[i] = 0; }} }}"),
                _ => format!("      l{label}: {step}"),
            };
            self.line(line);
        }
        if is_loop {
            self.line("    }");
        }
        self.line("  }");
        if parts.contains(&'Q') {
            let size = self.pick(&["2", "3", "N"]);
            self.line(format!("  process Q[j in 0..<{size}] {{ public f: bool; loop {{ f = !f; }} }}"));
        }
        if has_single {
            self.line("  process S { local v: 0..=30; local k: pid(P)? = none; local seen: [bool; N] = true;");
            for label in 0..1 + self.choices.below(2) {
                let step = self.one(&SINGLE, &parts);
                self.line(format!("    h{label}: {step}"));
            }
            self.line("  }");
        }
        self.random_properties(3);
        for at in 0..2 {
            let body = self.one(&INVARIANTS, &parts);
            self.line(format!("  invariant u{at}: {body};"));
        }
        if parts.contains(&'Q') {
            // With two families it has to be said which one is meant.
            for (open, said) in [("i: ", "i in P: "), ("j: ", "j in P: "), ("k: ", "k in P: ")] {
                for word in ["forall ", "exists ", "count(", "i != "] {
                    let change = |line: &String| line.replace(&format!("{word}{open}"), &format!("{word}{said}"));
                    self.lines = self.lines.iter().map(change).collect();
                }
            }
        }
    }

    /// One of some texts whose part is there.
    fn one(&mut self, texts: &[(char, &str)], parts: &[char]) -> String {
        let fitting: Vec<&str> =
            texts.iter().filter(|(part, _)| *part == ' ' || parts.contains(part)).map(|(_, text)| *text).collect();
        // What is special is meant more often than what every program may have.
        let special: Vec<&str> = texts.iter().filter(|(part, _)| parts.contains(part)).map(|(_, text)| *text).collect();
        match special.is_empty() || self.choices.chance(30) {
            true => self.pick(&fitting),
            false => self.pick(&special),
        }
    }
}
