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
    check_statements("x++;", &["E0116 1:26 `++` is no operator here | write `x = x + 1`"]);
    check_statements(
        "if x { skip; } elsif y { skip; }",
        &["E0105 1:40 expected `else if`, found `elsif` | write `else if`"],
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
            "E0101 1:24 expected `:` and a type, found `x` | the name comes first, then its type: `x: 0..=3`, `flag: [bool; N]`",
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
