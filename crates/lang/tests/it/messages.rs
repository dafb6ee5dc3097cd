//! What is said about slips of the pen and habits from other languages: code, place, message, and the helps after `|`.

use base::SourceFile;
use lang::pw;

fn check(text: &str, expected: &[&str]) {
    let file = SourceFile::new("t", text);
    let shown: Vec<String> = pw::parse(&file)
        .diagnostics
        .iter()
        .map(|diagnostic| {
            let place = file.line_col(diagnostic.primary.span.start);
            let helps: String = diagnostic.helps.iter().map(|help| format!(" | {}", help.text)).collect();
            format!("{} {}:{} {}{helps}", diagnostic.code, place.line, place.col, diagnostic.message)
        })
        .collect();
    assert_eq!(shown, expected, "in {text}");
}

/// The statements of a process, which begin in column 25.
fn check_statements(text: &str, expected: &[&str]) {
    check(&format!("program t {{ process P {{ {text} }} }}"), expected);
}

#[test]
fn several_errors_in_one_run() {
    check(
        "program t {\n  shared x: 0..5;\n  process P {\n    await x = 1\n    y := 2;\n    awiat y;\n  }\n  invarant i: x => y => z;\n}",
        &[
            "E0111 2:13 a range must say whether it includes its end | `0..<5` ends before 5 | `0..=5` includes 5",
            "E0103 4:13 expected `==` in an expression, found `=` | write `==`",
            "E0102 4:16 a `;` is missing | add `;`",
            "E0116 5:7 `:=` is no operator here | write `y = …`",
            "E0105 6:5 `awiat` begins no statement | write `await`",
            "E0106 8:3 `invarant` begins no declaration | write `invariant`",
            "E0107 8:22 `a => b => c` can be read in two ways | either `(x => y) => z` | or `x => (y => z)`",
        ],
    );
}

#[test]
fn arrays_of_channels_have_their_length_behind_their_name() {
    check(
        "program t {\n  chan c: [N; [2] of (bool)];\n  process P { skip; }\n}",
        &[
            "E0101 2:13 expected `]`, found `;`: the length of an array of channels stands behind its name | write `chan c[…]: [capacity] of (…);`",
        ],
    );
    check(
        "program t {\n  chan c: [N][2] of (bool);\n  process P { skip; }\n}",
        &[
            "E0101 2:14 expected `of`, found `[`: the length of an array of channels stands behind its name | write `chan c[N]: [capacity] of (…);`",
        ],
    );
}

#[test]
fn types_of_messages_stand_in_parentheses() {
    check(
        "program t {\n  chan c: [0] of pid(P);\n  chan d: [1] of bool, pid(P)?;\n  process P[i in 0..<2] { skip; }\n}",
        &[
            "E0101 2:18 expected `(` and the types of a message, found `pid` | write `(pid(P))`",
            "E0101 3:18 expected `(` and the types of a message, found `bool` | write `(bool, pid(P)?)`",
        ],
    );
}

#[test]
fn statements_of_other_languages() {
    check_statements(
        "lock(m); unlock(m);",
        &[
            "E0105 1:25 `lock` begins no statement | write `acquire`",
            "E0105 1:34 `unlock` begins no statement | write `release`",
        ],
    );
    check_statements("f(1);", &["E0105 1:25 a procedure is called with `call` | write `call f(…)`"]);
    check_statements(
        "m = Msg { kind: ask };",
        &["E0101 1:33 expected `;`, found `{` | the fields of a struct stand in parentheses: `Msg(kind: …)`"],
    );
    check_statements(
        "send c(Msg { kind: ask });",
        &[
            "E0101 1:36 expected `,` or the end of the list, found `{` | the fields of a struct stand in parentheses: `Msg(kind: …)`",
        ],
    );
    check_statements(
        "await x =< 1 && y =< 2;",
        &[
            "E0116 1:33 `=<` is no operator here | write `<=` for \"at most\"",
            "E0116 1:43 `=<` is no operator here | write `<=` for \"at most\"",
        ],
    );
    check_statements("x++;", &["E0116 1:26 `++` is no operator here | write `x = x + 1`"]);
    check_statements(
        "if x { skip; } elsif y { skip; }",
        &["E0105 1:40 expected `else if`, found `elsif` | write `else if`"],
    );
    check_statements(
        "{ skip; }",
        &[
            "E0101 1:25 expected a statement, found `{` | if it is meant to be one step, write `atomic { … }` | otherwise leave the braces out: statements stand one after the other",
        ],
    );
    check_statements("if x then { skip; }", &["E0101 1:30 expected `{`, found the keyword `then` | leave out `then`"]);
    check_statements(
        "while x y = 1; z = ;",
        &[
            "E0101 1:33 expected `{`, found `y` | the parts of a statement stand in braces, even if there is only one statement in them",
            "E0101 1:44 expected an expression, found `;`",
        ],
    );
    check_statements("x = 1 skip;", &["E0102 1:30 a `;` is missing | add `;`"]);
    check_statements("a: b:", &["E0112 1:28 the label `b` names no statement | add `skip;`"]);
}

#[test]
fn declarations_of_other_languages() {
    check(
        "program t { shared int x = 0; enum E { a b } proc g(): bool { skip; } }",
        &[
            "E0101 1:24 the name comes first, then its type | write `x: 0..=255`",
            "E0101 1:42 expected `,` or `}`, found `b` | add `,`",
            "E0101 1:54 expected `->` before the type of the result, found `:` | write `->`",
        ],
    );
    check(
        "program t { process P(i) { skip; } shared z: bool[3]; }",
        &[
            "E0101 1:22 expected `{`, found `(` | the index of a family stands in brackets: `process P[i in 0..<N]`",
            "E0101 1:50 the type of an array stands in brackets | write `[bool; N]` for an array of N elements",
        ],
    );
    check("progam t { }", &["E0124 1:1 expected `program`, found `progam` | write `program`"]);
}

#[test]
fn misspelt_operators_and_arrays_the_other_way_round() {
    check(
        "program t { property p: eventualy P@a; }",
        &["E0101 1:35 expected `;`, found `P` | did you mean `eventually`?"],
    );
    check("program t { shared eventualy: bool; property p: eventualy x; }", &["E0101 1:59 expected `;`, found `x`"]);
    check(
        "program t { shared m: [N]bool; }",
        &[
            "E0101 1:25 expected `;` and the length of the array, found `]` | first what an element is, then how many there are: `[T; N]`",
        ],
    );
}

/// What is said of the whole program, whichever stage says it.
fn check_program(text: &str, expected: &[&str]) {
    let file = SourceFile::new("t.pw", text);
    let diagnostics = match lang::load(&file, &[]) {
        Ok(loaded) => loaded.warnings,
        Err(diagnostics) => diagnostics,
    };
    let shown: Vec<String> = diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.code.starts_with('E'))
        .map(|diagnostic| {
            let helps: String = diagnostic.helps.iter().map(|help| format!(" | {}", help.text)).collect();
            format!("{} {}{helps}", diagnostic.code, diagnostic.message)
        })
        .collect();
    assert_eq!(shown, expected, "in {text}");
}

#[test]
fn questions_of_something_else() {
    let start = "program t { enum D { a, b } enum G { c, d } shared s: set of D; shared n: 0..=3; chan q: [1] of (bool); \
        process P { l: insert s(a); n = 1; send q(true); receive q(_); }";
    let program = |rest: &str| format!("{start} invariant i: {rest}; }}");
    check_program(&program("size(s) + len(q) + n >= 0 && (empty(s) || empty(q) || full(q) || b in s)"), &[]);
    check_program(&program("size(n) > 0"), &["E0312 `size` is asked of sets, and this is none"]);
    check_program(&program("size(q) > 0"), &["E0312 `size` is asked of sets, and this is a channel | write `len`"]);
    check_program(&program("len(s) > 0"), &["E0312 `len` is asked of channels, and this is a set | write `size`"]);
    check_program(&program("full(n)"), &["E0312 `full` is asked of channels, and this is none"]);
    check_program(&program("c in s"), &["E0203 this set has values of `D`, but this is a value of `G`"]);
    check_program(&program("P@m"), &["E0310 `P` has no label `m` | its labels are `l`"]);
    let unlabelled = "program t { process P { skip; } invariant i: !P@crit; }";
    check_program(
        unlabelled,
        &["E0310 `P` has no label `crit` | it has no labels; write `crit:` before the statement that is meant"],
    );
}

#[test]
fn operator_letters() {
    check(
        "program t { shared F: bool; property p: F x; }",
        &[
            "E0101 1:43 expected `;`, found `x` | `F` is declared, so it is no operator; write `always`, `eventually` or `next`",
        ],
    );
    check(
        "program t { property p: always G; }",
        &["E0101 1:33 expected an expression, found `;` | `G` is a temporal operator, since no such name is declared"],
    );
}

#[test]
fn a_temporal_operator_before_a_conjunction_is_doubtful_only_if_the_rest_is_no_formula() {
    let property = |formula: &str| format!("program t {{ property p: {formula}; }}");
    check(&property("always a && eventually b"), &[]);
    check(&property("(always a) && b"), &[]);
    let warning = "W0101 1:25 `always` binds tighter: only what stands before the operator is under it \
        | if `always` is meant for all of it, write `always (…)` | if not, write `(always …)`";
    check(&property("always a && b"), &[warning]);
    check(&property("always a => eventually b"), &[warning]);
}

/// The first help of each error, its edits made: the text that is meant.
fn mended(text: &str) -> String {
    let file = SourceFile::new("t", text);
    let mut edits: Vec<base::Edit> = Vec::new();
    for diagnostic in pw::parse(&file).diagnostics {
        assert!(!diagnostic.helps.is_empty(), "{} in {text}", diagnostic.message);
        edits.extend(diagnostic.helps[0].edits.clone());
    }
    assert!(!edits.is_empty(), "nothing to mend in {text}");
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.span.start));
    let mut mended = text.to_owned();
    edits.iter().for_each(|edit| mended.replace_range(edit.span.range(), &edit.replacement));
    mended
}

#[test]
fn what_is_proposed_for_slips_from_other_languages_is_right() {
    // Promela and C: types first, messages by signs, arrows, an enumeration that is assigned, types of messages without parentheses.
    for text in [
        "program t { shared byte x = 0; process P { x = 1; } }",
        "program t { bool x = true; process P { x = false; } }",
        "program t { process P { int x = 0; x = 1; } }",
        "program t { chan c: [2] of (bool); process P { c!true; } process Q { local x: bool; c?x; c?_; c?eval(true); } }",
        "program t { chan c: [2] of (bool, bool); process P { c!(true, false); } process Q { local x: bool; c?x,_; } }",
        "program t { struct M { int kind; bool b } shared m: M; process P { m.b = true; } }",
        "program t { struct M { k: bool, b: bool } shared m: M; process P { m->b = true; } }",
        "program t { enum E = {a, b}; shared e: E; process P { e = b; } }",
        "program t { chan c: [1] of bool; process P { send c(true); } }",
        "program t { chan c: [1] of (bool); process P { receive c(true); } }",
    ] {
        let mended = mended(text);
        let file = SourceFile::new("t", &mended);
        let loaded = pw::read(&file).and_then(|text| text.instance(&file, &[]));
        assert!(loaded.is_ok(), "{text}\n{mended}\n{:?}", loaded.err());
    }
}

#[test]
fn what_has_no_word_here_is_told_in_words() {
    let wrong = std::cell::RefCell::new(Vec::new());
    let told = |text: &str, help: &str| {
        let file = SourceFile::new("t", text);
        let found = match pw::read(&file) {
            Ok(read) => read.instance(&file, &[]).err().unwrap_or_default(),
            Err(found) => found,
        };
        let shown = |one: &base::Diagnostic| one.helps.first().map_or(one.message.clone(), |help| help.text.clone());
        let helps: Vec<String> = found.iter().map(shown).collect();
        if helps != [help] {
            wrong.borrow_mut().push(format!("{text}\n  {helps:?}"));
        }
    };
    let statement = |text: &str, help: &str| {
        told(
            &format!("program t {{ shared x: 0..=3; shared s: set of pid; process P[i in 0..<2] {{ {text} }} }}"),
            help,
        );
    };
    statement("do :: x < 3 -> x = x + 1 od", "write `loop { either { await e; … } or { … } }`; `break` leaves it");
    statement("switch (x) { case 1: skip; }", "write `if x == a { … } else if x == b { … }`");
    statement("for (k = 0; k < 3; k++) { skip; }", "write `for k in 0..<3 { … }`");
    statement("x = x < 2 ? 1 : 0;", "a choice between two values is written `if c then a else b`");
    statement("x = x mod 2;", "the remainder is written `%`");
    statement("x = x >> 1;", "there are no shifts; write `/ 2`");
    statement("s.insert(i);", "write `insert s(k);`");
    statement("s.add(i);", "write `insert s(k);`");
    statement("s = s + {i};", "sets change one element at a time: `insert s(k);`, `remove s(k);`");
    statement("if |s| == 2 { skip; }", "how many elements a set has is written `size(s)`");
    statement("x = self;", "a process knows its own index: `i` in `process P[i in 0..<N]`");
    statement("await x == _pid;", "a process knows its own index: `i` in `process P[i in 0..<N]`");
    told(
        "program t { active [2] proctype P() { skip; } }",
        "write `process P[i in 0..<2] { … }`, or `process P { … }` for a single one",
    );
    told("program t { process P { skip; } ltl p { [] true } }", "write `property p: always …;`, or `invariant p: …;`");
    told("program t { shared x: bool; process P { x = true; } property q: E<> x; }", "write `reachable NAME: …;`");
    told(
        "program t { process P[i in 0..<2] { c: skip; } invariant m: count(P@c) < 2; }",
        "say whose place is meant, and of how many: `count(i: P[i]@crit)`",
    );
    told("program t { process P[i in 0..<2] { c: skip; } invariant m: !P[0].c; }", "ask whether it stands there");
    assert!(wrong.borrow().is_empty(), "{}", wrong.borrow().join("\n"));
}

#[test]
fn quantifiers_of_tla_are_named() {
    check(
        "program t { process P { skip; } invariant q: \\A i in P: true; }",
        &["E0119 1:46 `\\` means nothing here | for all: `forall i in P: …`", "E0101 1:49 expected `;`, found `i`"],
    );
}

#[test]
fn compare_and_swap_stands_where_a_test_does() {
    check_program(
        "program t { shared x: 0..=1; process P { if cas(x, 0, 1) && x == 1 { skip; } } }",
        &[
            "E0202 `cas` changes a variable, so it is no part of an expression | write `if cas(x, a, b) { … }`, `while !cas(x, a, b) { … }`, `await cas(x, a, b);` or `done = cas(x, a, b);`",
        ],
    );
    check_program(
        "program t { shared x: 0..=1; process P { if cas(x, 0) { skip; } } }",
        &[
            "E0202 `cas` has three parts: a variable, the value that it should have, and the one that it gets | write `cas(x, 0, 1)`",
        ],
    );
}

#[test]
fn what_people_write_about_sets_and_channels_is_answered() {
    let set = |statement: &str, expected: &str| {
        check(&format!("program t {{ shared s: set of 0..<3;\nprocess P {{ {statement} skip; }} }}"), &[expected]);
    };
    set("insert 1 into s;", "E0101 2:20 expected the name of a channel or set, found `1`");
    set("insert s into s;", "E0101 2:22 expected `(`, found `into` | write `insert s(s);`");
    set("if s contains 1 { skip; }", "E0101 2:18 expected `{`, found `contains` | write `k in s`");
    set("s = s union s;", "E0101 2:19 expected `;`, found `union` | write `atomic { for k in t { insert s(k); } }`");
    set("await s subset s;", "E0101 2:21 expected `;`, found `subset` | write `forall k in s: k in t`");
    check(
        "program t { chan c of (bool); process P { skip; } }",
        &[
            "E0101 1:20 expected `:`, found `of`: how many messages the channel holds stands behind a colon | write `chan c: [1] of (…);`",
        ],
    );
}

#[test]
fn slips_of_quantifiers_loops_and_numbers_are_answered() {
    let invariant = |text: &str, expected: &str| {
        check(&format!("program t(N: 2..) {{ process P[i in 0..<N] {{ skip; }}\ninvariant p: {text}; }}"), &[expected]);
    };
    invariant(
        "forall (i: true)",
        "E0101 2:21 expected a name to bind, found `(` | write `forall i: …`, without parentheses around the name",
    );
    invariant(
        "forall i < j: true",
        "E0101 2:23 expected `:`, found `<` | write `forall i != j: i < j => …`, or `exists i != j: i < j && …`",
    );
    invariant("all i: true", "E0101 2:18 expected `;`, found `i` | write `forall i: …`");
    check_program(
        "program t(N: 2..) { process P[i in 0..<N] { skip; } invariant p: i == 0; }",
        &["E0202 there is no `i` here | to speak of every process, write `forall i: …`"],
    );
    check_program(
        "program t(N: 2..) { process P[i in 0..<N] { for k in N { skip; } } }",
        &[
            "E0312 a loop goes through numbers, the processes of a family, the values of an enumeration, or the elements of a set | write `for k in 0..<N { … }`",
        ],
    );
    check_statements(
        "for k = 0..<3 { skip; }",
        &["E0101 1:31 expected `in`, found `=` | write `for k in 0..<3 { … }`"],
    );
    check_statements(
        "either { skip; } | { skip; }",
        &["E0101 1:42 expected `or`, found `|` | the branches of `either` are joined by `or`"],
    );
    check_statements(
        "repeat { skip; } until true;",
        &[
            "E0105 1:25 `repeat` begins no statement | write `loop { … if e { break; } }`",
            "E0105 1:42 `until` begins no statement | write `loop { … if e { break; } }`",
        ],
    );
    check(
        "program t { shared x: 0..=1; process P { x = *; } never p: x == 1; }",
        &[
            "E0101 1:46 expected an expression, found `*` | any value is written `x = any;`, or `x = any 0..=3;`",
            "E0106 1:51 `never` begins no declaration | write `invariant p: !(…);` for what never happens",
        ],
    );
}
