//! Promela: programs mean what SPIN says they mean.
//!
//! States are counted on the reference semantics (`model::eval`) and compared with SPIN's own numbers: those of small programs here, and those of
//! the collected models in `../shared/promela`, where these are there.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use base::SourceFile;
use lang::promela::{Reading, included, load};
use model::Model;
use model::eval::{State, initial_states, is_deadlock, steps};
use model::property::{Formula, PropertyKind};
use model::value::Value;

/// Larger models are compared by `cargo xtask promela`.
const MOST_STATES: usize = 800;

/// What the whole product has.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    states: usize,
    errors: bool,
    deadlock: bool,
}

fn explore(model: &Model, most: usize) -> Option<Seen> {
    let mut seen: HashSet<State> = initial_states(model).collect();
    let mut open: VecDeque<State> = seen.iter().cloned().collect();
    let (mut errors, mut deadlock) = (false, false);
    while let Some(state) = open.pop_front() {
        deadlock |= is_deadlock(model, &state);
        for step in steps(model, &state) {
            match step.result {
                Err(_) => errors = true,
                Ok(next) => {
                    if seen.insert(next.clone()) {
                        open.push_back(next);
                    }
                }
            }
        }
        if seen.len() > most {
            return None;
        }
    }
    Some(Seen { states: seen.len(), errors, deadlock })
}

fn read(text: &str, like_spin: bool) -> (Model, usize) {
    let source = SourceFile::new("p.pml", text);
    match load(&source, &[], &Reading { like_spin, ..Reading::default() }) {
        Ok(loaded) => (loaded.model, loaded.n_before as usize),
        Err(refused) => panic!("{text}: {:?}", refused[0].diagnostics),
    }
}

/// The states of a program, as SPIN counts, and whether there are errors and invalid end states.
fn check(text: &str, states: usize, errors: bool, deadlock: bool) {
    let (model, n_before) = read(text, true);
    let seen = explore(&model, 10_000).expect("it is small");
    assert_eq!((seen.states + n_before, seen.deadlock), (states, deadlock), "{text}");
    // As SPIN counts, failed assertions are passed over.
    let (plain, _) = read(text, false);
    let seen = explore(&plain, 10_000).expect("it is small");
    assert_eq!(seen.errors, errors, "{text}");
}

/// All counts are SPIN's.
#[test]
fn the_preprocessor_reads_what_that_of_c_reads() {
    check("byte x;\nactive proctype A() { // comment \\\nx = 1;\nassert(x == 0) }", 3, false, false);
    // SPIN itself knows no octal numbers.
    let conditions = ["010 == 8", "1UL > 0 && 0x10L == 16", "(0 ? 2 : 3) == 3 && +1"];
    for condition in conditions {
        let text = format!("#if {condition}\nbyte x;\n#endif\nactive proctype A() {{ x = 010; assert(x == 10) }}");
        check(&text, 4, false, false);
    }
}

#[test]
fn who_has_a_higher_priority_moves_first() {
    let fixed = "byte x, s; \
        active proctype A() priority 4 { { x == 1; s = 1 } unless { x == 2; s = 2 }; d_step { x == 3; x = 4; s = 5 }; \
            if :: x == 4 -> s = 6 :: else -> s = 7 fi } \
        active proctype B() priority 2 { x = 1; x = 2; x = 3; x = 5 } \
        active proctype C() priority 3 { do :: s == 2 -> s = 3 :: s == 6 -> break :: s == 7 -> break od; timeout; x = 0 }";
    check(fixed, 16, false, false);
    let within_atomic = "chan q = [1] of { byte }; byte r; \
        active proctype Hi() priority 10 { byte v; do :: q?v -> r = v; if :: v == 3 -> break :: else fi od } \
        active proctype Lo() priority 2 { q!1; r = 7; q!2; atomic { q!3; r = 8; r = 9 }; r = 10 } \
        active proctype Mid() priority 2 provided (r != 7) { do :: r > 8 -> break :: r < 8 -> skip od }";
    check(within_atomic, 38, false, false);
    let same = "byte x; active proctype A() priority 1 { do :: x++ :: x == 2 -> break od } \
        active proctype B() priority 1 { x = 0 }";
    check(same, 775, false, false);
}

#[test]
fn priorities_are_set_asked_for_and_given_with_a_run() {
    let set = "byte cnt, x; \
        active proctype A() priority 5 { byte i; do :: i < 2 -> i++; cnt++ :: x > 0 -> break od; set_priority(1, 7); cnt++ } \
        active proctype B() priority 3 { x = 1; atomic { x = 2; cnt = 0; x = 3 }; _priority = 6; \
            assert(get_priority(0) == 5); x = get_priority(2) } \
        active proctype C() { cnt == 0; x = 9; timeout -> cnt = 7 }";
    check(set, 15, false, true);
    let run = "byte n; proctype W(byte k) { do :: n < 4 -> n = n + k :: else -> break od } \
        init { atomic { run W(1) priority 2; run W(2) priority 3; run W(1) priority 2 }; n = 9 }";
    check(run, 20, false, false);
    // The priority of a proctype is not that of a `run`.
    let asked = "byte x; proctype P() priority 5 { x = get_priority(_pid) } init { run P(); x == 1 }";
    check(asked, 7, false, false);
    check("active proctype A() { set_priority(7, 0); set_priority(0, 3) }", 4, false, false);
    check("active proctype A() { set_priority(0, 0) }", 1, true, false);
}

#[test]
fn a_process_may_ask_whether_another_one_is_enabled() {
    let asks = "byte x; chan q = [1] of { byte }; \
        active proctype P() { x == 1; q!1; if :: x == 2 -> q?_ :: x == 3 -> skip fi; x = 5 } \
        active proctype Q() { do :: !enabled(0) -> x = (x + 1) % 4 :: enabled(0) -> if :: x = 1 :: x = 3 fi :: x == 5 -> break od }";
    check(asks, 65, false, false);
    let meets = "chan c = [0] of { byte }; active proctype P() { c!1 } active proctype Q() { enabled(0); c?_ }";
    let refused = lang::promela::load(&SourceFile::new("t.pml", meets), &[], &Reading::default());
    assert!(refused.is_err_and(|refused| refused[0].diagnostics[0].code == "E0912"));
}

#[test]
fn a_d_proctype_has_no_choice() {
    let counts = |last: &str| format!("byte x; active D_proctype A() {{ do :: x < 3 -> x++ :: {last} -> break od }}");
    check(&counts("x > 1"), 11, true, false);
    check(&counts("x > 2"), 9, false, false);
    check(&counts("else"), 9, false, false);
    let meets = |pattern: &str| {
        format!(
            "chan c = [0] of {{ byte }}; byte x; proctype B() {{ c!2; c!1 }} \
            D_proctype A(byte k) {{ do :: c?2 -> x = k :: c?{pattern} -> break od }} init {{ atomic {{ run B(); run A(3) }} }}"
        )
    };
    check(&meets("2"), 6, true, true);
    check(&meets("1"), 8, false, false);
}

/// As SPIN reads it: the pid of the process that is started stands for the `run`.
#[test]
fn a_run_may_stand_in_a_value_that_is_stored() {
    let text = "byte y, z; proctype P(byte k) { z = z + k } init { y = 3 * run P(2) - 1; z == 2; y = (run P(1) > 0 -> y + 1 : 9); \
        z == 3; y = -run P(4); assert(y == 255) }";
    check(text, 49, true, false);
    for refused in ["assert(run P(1))", "y = run P(run P(1))", "y = run P(1) + run P(2)", "(run P(1) + 1)"] {
        let text = format!("byte y; proctype P(byte k) {{ skip }} init {{ {refused} }}");
        let refused = lang::promela::load(&SourceFile::new("t.pml", text.as_str()), &[], &Reading::default());
        assert!(refused.is_err_and(|refused| refused[0].diagnostics[0].code == "E0912"), "{text}");
    }
}

#[test]
fn processes_may_look_at_who_moved_last() {
    let last = "byte x; active proctype P() { do :: x = _last od } \
        active proctype Q() { do :: _last == 0 -> x = 3 :: x == 1 -> break od }";
    check(last, 14, false, false);
    // Each statement of an `atomic` is one after which somebody has moved last; a `d_step` is one statement.
    let within = "byte x; byte r; active proctype P() { atomic { x = 1; x < 5; _last == _pid; r = 1 } } \
        active proctype Q() { x = 2; x = 3 }";
    check(within, 14, false, false);
    let asserted = "byte x; active proctype P() { false } \
        active proctype Q() { atomic { x = 1; if :: _last == _pid -> assert(false) :: else fi } }";
    check(asserted, 3, true, true);
    check("active proctype Q() { byte x; d_step { x = 1; x = 2; assert(_last == 0) } }", 3, false, false);
}

#[test]
fn the_order_of_events_is_that_of_the_trace() {
    let trace = "mtype = { a, b }; chan q = [2] of { mtype, byte }; chan z = [1] of { byte }; \
        trace { do :: q!a,_; q?a,_ :: z!3 od } \
        active proctype P() { q!a,1; z!3; q!a,2; q!b,1 } \
        active proctype Q() { mtype m; byte v; do :: q?m,v :: z?_ :: timeout -> break od }";
    check(trace, 26, true, false);
    let notrace = "mtype = { a, b }; chan q = [2] of { mtype }; notrace { q!a; q!b; q!a } \
        active proctype P() { if :: q!a :: q!b fi; q!b; if :: q!a :: q!b fi } \
        active proctype Q() { do :: q?_ od }";
    check(notrace, 16, true, true);
    let meetings = "mtype = { a, b }; chan q = [0] of { mtype, byte }; \
        active proctype P() { if :: q!a,1 :: q!a,1; q!b,2 :: q!a,1; q!a,1; q!b,3 fi } \
        active proctype Q() { byte x; mtype m; end: do :: q?m,x :: q?b,x od } \
        trace { do :: q!a,1 :: q?a,_ :: q!b,3 :: q?b,3 od }";
    check(meetings, 9, true, false);
}

#[test]
fn a_trace_may_have_too_many_values_for_a_single_field_only() {
    let single = "chan q = [1] of { byte }; active proctype P() { q!1 }";
    check(&format!("{single} trace {{ q!1,2 }}"), 3, true, false);
    check(&format!("{single} trace {{ q!1,0 }}"), 3, false, false);
    let two = "chan q = [1] of { byte, byte }; active proctype P() { q!1,2 } trace { q!1,2,3 }";
    let refused = lang::promela::load(&SourceFile::new("t.pml", two), &[], &Reading::default());
    assert!(refused.is_err_and(|refused| refused[0].diagnostics[0].code == "E0907"));
}

/// A run may not end before its trace does; as SPIN counts, that is no state of its own.
#[test]
fn a_trace_that_is_not_complete_is_an_invalid_end() {
    let text = |ways: &str| {
        format!(
            "chan q = [1] of {{ byte }}; trace {{ q!1; end: q!2; q!3 }} \
            active proctype P() {{ q!1; if {ways} fi }} active proctype Q() {{ byte i; end: do :: q?i od }}"
        )
    };
    let has_deadlock = |text: &str| explore(&read(text, false).0, 10_000).expect("it is small").deadlock;
    assert!(!has_deadlock(&text(":: skip")));
    assert!(has_deadlock(&text(":: q!2")));
    assert!(!has_deadlock(&text(":: q!2; q!3")));
    assert!(has_deadlock(&text(":: q!2; timeout")));
    assert!(!has_deadlock(&text(":: q!2; timeout; q!3")));
}

#[test]
fn a_channel_that_is_never_made_is_an_error_when_it_is_used() {
    check("chan STDIN; int c; init { do :: STDIN?c -> if :: c == -1 -> break :: else fi od }", 1, true, false);
}

#[test]
fn who_is_not_provided_for_waits_within_its_atomic() {
    let text = "bool on = 1; byte x; \
        active proctype P() provided (on) { atomic { x = 1; if :: x == 2 -> x = 3 :: else -> x = 4 fi; x = 5; on = 0; \
            do :: x == 6 -> break :: else -> x = 6 od; x = 7 } } \
        active proctype Q() { do :: x < 9 -> on = 1; x == 7; break od }";
    check(text, 11, false, true);
}

/// SPIN reports a wrong number of fields when it comes to it, and goes on.
#[test]
fn too_few_values_are_0_and_too_few_patterns_are_errors() {
    check("chan q = [1] of { byte, byte }; active proctype P() { byte x; q!1; q?x; x = 1 }", 5, true, false);
    check("chan q = [1] of { byte, byte }; active proctype P() { byte x; q!1,2; q?x; x = 1 }", 5, true, false);
    check("chan q = [1] of { byte }; active proctype P() { byte x, y; q!1; q?x,y; x = 1 }", 5, true, false);
    check("chan q = [1] of { byte }; active proctype P() { byte x, y; q!1; q?x,y; y == 0; x = 1 }", 6, true, false);
    check("chan q = [1] of { byte }; active proctype P() { byte x, y; q!1; q?[x,y]; x = 1 }", 5, false, false);
    let meets = |receive: &str, send: &str| {
        format!(
            "chan q = [0] of {{ byte, byte }}; active proctype P() {{ byte x, y; {receive}; x = 1 }} \
            active proctype Q() {{ {send} }}"
        )
    };
    check(&meets("q?x", "q!1,2"), 6, true, false);
    check(&meets("q?x,y", "q!1; skip"), 8, true, false);
}

#[test]
fn steps_are_basic_statements_and_deaths() {
    check("byte x; active proctype P() { x = 1; x = 2 }", 4, false, false);
    check("byte x; active proctype P() { do :: x < 3 -> x++ :: else -> break od }", 9, false, false);
    check("byte x; active proctype P() { x == 1 }", 1, false, true);
}

#[test]
fn what_is_stored_is_cut_to_its_type() {
    check("byte x = 255; active proctype P() { x++; assert(x == 0) }", 4, false, false);
    check("bit a[2]; active proctype P() { a[1] = 3; assert(a[1] == 3) }", 4, false, false);
    check("short x = 32767; active proctype P() { x++; assert(x > 0) }", 4, true, false);
    // A field has one bit in an array of structures, too, unless it is an array itself.
    let text = "typedef R { bit c; bool d[2] }; R r[2]; active proctype P() { r[1].c = 2; r[1].d[0] = 2; assert(r[1].c == 0 && r[1].d[0] == 2) }";
    check(text, 5, false, false);
}

#[test]
fn an_atomic_block_is_one_step_unless_it_waits() {
    check("byte x; active proctype P() { atomic { x = 1; x = 2; x = 3 } }", 3, false, false);
    check(
        "byte x, y; active proctype P() { atomic { x = 1; y == 1; x = 2 } } active proctype Q() { x == 1; y = 1 }",
        8,
        false,
        false,
    );
}

#[test]
fn the_end_of_a_line_ends_a_statement() {
    check("byte x, y; active proctype P() { x = 2\n y = x\n -y\n x\n !(y == 7)\n y++ }", 8, false, false);
    let text = "chan q = [1] of { byte }; byte y = 1; active proctype P() { q!3\n (y == 1)\n q?y\n (y == 3) }";
    check(text, 6, false, false);
}

#[test]
fn an_inline_returns_a_value_and_a_list_may_stand_in_parentheses() {
    let inline = "inline most(a, b) { if :: a > b -> return a :: else -> return b fi }";
    check(&format!("byte r; {inline} active proctype P() {{ r = most(2, 5); assert(r == 5) }}"), 5, false, false);
    let text =
        "chan q = [1] of { byte, byte }; byte x, y; active proctype P() { q!1,2; q?(x,y); assert(x == 1 && y == 2) }";
    check(text, 5, false, false);
}

#[test]
fn elements_without_a_value_start_with_the_last_one_that_is_given() {
    let declared = "typedef T { byte a[3] = { 1, 2 } }; T t; byte a[4] = { 1, 2 };";
    let body = "byte l[3] = { 7 }; assert(a[3] == 2 && a[1] == 2 && l[2] == 7 && t.a[2] == 2); a[0] = l[1]";
    check(&format!("{declared} active proctype P() {{ {body} }}"), 4, false, false);
    let rows = "typedef T { byte a[3] = { 1, 2 } }; T t[2];";
    check(&format!("{rows} active proctype P() {{ assert(t[1].a[0] == 1 && t[1].a[2] == 2) }}"), 3, false, false);
}

/// SPIN takes a local variable for the global one of its name, where an inline behind that has a parameter of this name.
#[test]
fn a_local_variable_with_the_name_of_a_global_one_and_of_a_parameter_is_the_global_one() {
    let inline = "inline f(x) { x = 1; y = x + 1 }\n";
    let first = "active proctype P() { byte x = 3; f(x); assert(x == 1 || x == 9); y = x; if :: true -> byte x = 4; y = x + 1 fi }\n";
    let second = "active proctype Q() { byte z; f(z); x = 9; assert(z == 1) }";
    check(&format!("byte x = 7;\nbyte y;\n{inline}{first}{second}"), 110, false, false);
    // Without the inline it is a local one.
    check("byte x = 7; active proctype P() { byte x = 3; assert(x == 3); x = 4 }", 4, false, false);
}

#[test]
fn a_word_may_go_on_behind_the_end_of_a_line() {
    check("byte co\\\nunt;\nactive proctype P() { cou\\\nnt = 3; assert(count == 3) }", 4, false, false);
}

#[test]
fn everything_that_is_not_there_is_found_in_one_run() {
    let text = "c_decl { int a; }\nc_state \"int b\" \"Global\"\nbyte x;\ninline g(a) { a = 1 }\n\
        active proctype P() {\n c_code { now.x = 'a'; if (x) { x++; } };\n do\n :: c_expr { now.x > 3 } -> x = f(3)\n\
        :: h(x, 3); x = 4\n od;\n gg(x)\n x = 5;\n y = 3\n}\n";
    let source = SourceFile::new("p.pml", text);
    let refused = load(&source, &[], &Reading::default()).expect_err("much is missing");
    let found: Vec<(&str, u32)> =
        { refused[0].diagnostics.iter() }.map(|one| (one.code, source.line_col(one.primary.span.start).line)).collect();
    let expected = [("E0912", 1), ("E0912", 2), ("E0912", 6), ("E0912", 8), ("E0905", 8), ("E0905", 9), ("E0905", 11)];
    assert_eq!(found, expected);
    assert!(format!("{:?}", refused[0].diagnostics[6]).contains("did you mean `g`?"));
    // What is sent may have its other fields in parentheses, and a condition may stand on the next line.
    check("mtype = { m }; chan q = [1] of { mtype, byte }; active proctype P() { q!m(3); q?m(_) }", 4, false, false);
    check("byte x;\nactive proctype P() { !x\n(x == 0)\nx = 1 }", 5, false, false);
}

#[test]
fn escapes_of_an_option_and_around_it_are_tried_together() {
    let program = |body: &str| format!("byte x, y; active proctype P() {{ {body} }}");
    check(&program("do :: { { y = 1 } unless { x = 3 } } unless { x = 4 } od"), 3, false, false);
    check(&program("do :: { { y = 1; y = 2 } unless { x = 3 } } unless { x = 4 } od"), 3, false, false);
    check(&program("{ do :: { y = 1 } unless { x = 3 } od } unless { x = 4 }; x = 9"), 5, false, false);
    // Elsewhere the outer one comes first.
    check(&program("{ { y = 1; y = 2; y = 3 } unless { x = 3 } } unless { x = 4 }; x = 9"), 4, false, false);
}

#[test]
fn labels_of_one_name_are_kept_apart_by_their_blocks() {
    // An inline with a label is called more than once; `P@out` is the first of them.
    let inline = "inline f(v) { if :: x == v -> goto out :: else fi; x = v; out: skip }";
    let text = format!("byte x; {inline} active proctype P() {{ f(1); f(2); f(2); x = 7 }}");
    check(&format!("{text} active proctype Q() {{ (P@out) -> assert(x != 2) }}"), 35, true, true);
    // A jump in an inline within another one leads to the label of the call around it,
    let inner = "inline g() { if :: x == 3 -> goto out; :: else -> x = 10 fi; x = 11; x = 12 }";
    let outer = "inline f(v) { x = v; g(); x = 99; out: x = x + 1 }";
    let body = "f(1); x = 50; f(2); f(3); x = 7";
    check(&format!("byte x; {inner} {outer} active proctype P() {{ {body} }}"), 21, false, false);
    // and where there is none, to the last one that stands anywhere.
    let last = "inline f(v) { x = v; out: x = x + 1 }";
    let body = "f(1); x = x + 3; f(2); if :: x < 200 -> x = x + 8; goto out :: else fi";
    check(&format!("byte x; {last} active proctype P() {{ {body} }}"), 74, false, false);
    let twice = "active proctype P() { if :: skip -> L: skip :: skip -> L: skip fi }";
    let refused = lang::promela::load(&SourceFile::new("t.pml", twice), &[], &Reading::default());
    assert!(refused.is_err(), "a label stands twice in one block");
}

#[test]
fn a_jump_behind_an_atomic_block_leaves_it() {
    let other = "active proctype Q() { x = 0 }";
    let again =
        |body: &str| format!("byte x; active proctype P() {{ again: atomic {{ {body} }}; goto again }} {other}");
    check(&again("x = 1; x = 2"), 6, false, false);
    check(&again("if :: x = 1 :: x < 3 -> x = 2 fi"), 9, false, false);
    check(&again("x = 3; do :: x > 1 -> x-- :: else -> break od"), 6, false, false);
    let middle = "x = 1; L: x = (x + 1) % 5; x = (x + 1) % 5";
    check(&format!("byte x; active proctype P() {{ atomic {{ {middle} }}; goto L }} {other}"), 18, false, false);
    let two = "atomic { x = 1; x = 2 }; goto L; atomic { x = 3; L: x = 4; x = 5 }; x = 7";
    check(&format!("byte x; active proctype P() {{ {two} }} {other}"), 20, false, false);
}

#[test]
fn a_d_step_that_has_begun_does_not_ask_what_is_provided() {
    let text = "byte x; active proctype P() provided (x < 2) { do :: d_step { x = 1; x = 3; x = x - 2; x = 2 } od }";
    check(text, 2, false, true);
    let claim = "never { do :: true :: x == 1 -> break od }";
    assert!(!claim_fails(&format!("{text} {claim}")), "x is not 1 between");
}

#[test]
fn what_comes_back_to_the_beginning_of_a_d_step_is_within_it() {
    let rest = "; x = 4 } active proctype Q() { ok = 1 }";
    let inside = "d_step { if :: do :: x < 3 -> x++; ok = 0 :: else -> break od fi }";
    check(&format!("byte x; bool ok = 1; active proctype P() provided (ok) {{ {inside} {rest}"), 11, false, true);
    let text = "byte x; bool ok = 1; active proctype P() provided (ok) { \
        d_step { do :: x < 2 -> x++; ok = 0 :: else -> break od; x = 7 }; x = 9 } \
        active proctype Q() { ok = 1; ok = 1; assert(x != 2) }";
    check(text, 19, false, true);
    let claim = "never { do :: true :: x == 1 -> break od }";
    assert!(!claim_fails(&format!("{text} {claim}")), "x is not 1 between");
    // An escape is tried before a `d_step`, not within it.
    let text = "byte x; active proctype P() { d_step { do :: x == 0 -> x = 2 :: x == 2 -> break od; x = 3 } \
        unless { x == 2 -> x = 5 }; x = 4 } active proctype Q() { x == 4 -> x = 7 }";
    check(text, 7, false, false);
    let text =
        "byte x; active proctype P() { if :: d_step { x == 0 -> x = 2 } unless { x == 0 -> x = 5 } :: x == 9 fi }";
    check(text, 4, false, false);
}

#[test]
fn a_loop_with_an_escape_has_an_entry_where_it_has_a_label_or_begins_a_block() {
    let loops = "{ do :: n == 0 -> n = 1 :: n == 1 -> n = 2 od } unless { n == 2 -> n = 5 }";
    let twice = |before: &str, after: &str| {
        let jump = "if :: n == 5 -> n = 1; goto again :: n == 5 -> skip fi";
        format!("byte n; active proctype P() {{ again: n = 0; {before} {loops} {after}; {jump}; n = 6 }}")
    };
    check(&twice("", ""), 14, false, false);
    let text = "chan ctl = [0] of { mtype }; mtype = { stop, go }; byte w; active proctype W() { \
        L: { do :: w < 3 -> w++ :: w == 3 -> w = 0 od } unless { ctl?stop }; ctl?go; goto L } \
        active proctype B() { ctl!stop; assert(w <= 3); ctl!go; ctl!stop }";
    check(text, 37, false, true);
    // Where it closes an `atomic`, its end is a place within.
    for body in ["{ c!1 } unless { n == 2 -> n = 5 }", "{ n == 2 } unless { c!1 }"] {
        let text = format!(
            "byte n; chan c = [0] of {{ byte }}; active proctype P() {{ n = 0; atomic {{ n = 1; {body} }}; n = 6 }} \
            active proctype X() {{ byte v; c?v; n = 3; n = 2 }}"
        );
        check(&text, 19, false, false);
    }
}

#[test]
fn a_channel_dies_with_its_process() {
    let give = "byte x; chan g = [1] of { chan }; proctype P() { chan c = [1] of { byte }; g!c; x = 1 }";
    let init =
        |what: &str| format!("{give} init {{ chan d; byte v; run P(); g?d; x == 1 -> x = 2; (_nr_pr == 1); {what} }}");
    let fails = |text: &str| explore(&read(text, false).0, 10_000).expect("it is small").errors;
    for what in ["d!1", "nfull(d)", "d??[2]"] {
        assert!(fails(&init(&format!("if :: {what} -> x = 4 :: x == 2 -> x = 3 fi"))), "{what}");
    }
    check(&init("if :: d?[1] -> x = 4 :: x == 2 -> x = 3 fi"), 16, false, false);
    let text = format!("{give} init {{ chan d; run P(); run P(); g?d; d!1; g?d; d!2; x = 3 }}");
    assert!(fails(&text), "one of them may have died");
    // Where there are channels without a buffer, SPIN looks whether this is one before it receives.
    let what = "if :: d?v; x = 4 :: x == 2 -> x = 3 fi";
    check(&init(what), 16, false, false);
    assert!(fails(&init(what).replace("[1] of { byte }", "[0] of { byte }")));
    // Another process with the pid has the same channel.
    let either = "if :: run P() :: run R() fi; g?d";
    let text = format!(
        "{give} proctype R() {{ chan c = [1] of {{ byte }}; g!c; x = 1 }} \
        init {{ chan d; {either}; x == 1 -> x = 2; (_nr_pr == 1); {either}; x = 3 }}"
    );
    check(&text, 42, false, false);
}

#[test]
fn what_is_stored_in_the_write_only_variable_is_forgotten() {
    check("byte x = 2; active proctype P() { _ = x; x = 1 }", 4, false, false);
}

#[test]
fn variables_of_a_process_that_has_died_are_0() {
    let claim = |test: &str| format!("never {{ do :: true :: {test} -> break od }}");
    let ends = "byte y; active proctype P() { byte x = 1; y = 2 }";
    assert!(claim_fails(&format!("{ends} {}", claim("(y == 2 && P:x == 0)"))));
    assert!(claim_fails(&format!("active proctype P() {{ byte x = 1 }} {}", claim("(P:x == 0)"))));
    // Only the youngest dies.
    let waits = "active proctype Q() { do :: skip od }";
    assert!(!claim_fails(&format!("{ends} {waits} {}", claim("(P:x == 0)"))));
}

#[test]
fn a_sorted_send_compares_values_that_are_not_cut_yet() {
    let text = "chan k = [3] of { byte, bit }; byte x; active proctype P() { k!!1,1; k!!1,-1; k!!0,2; k?x,_; k?x,1; \
        assert(len(k) == 1) }";
    check(text, 8, false, false);
    let text = "chan k = [2] of { byte, bit }; active proctype P() { k!!1,0; k!!1,3; k?1,1 }";
    check(text, 3, false, true);
}

#[test]
fn the_else_of_an_escape_is_tried_first() {
    let program = |escape: &str| {
        format!("byte x, y; active proctype P() {{ do :: {{ x = 1 - x }} unless {{ if {escape} fi }}; od }}")
    };
    check(&program(":: y < 2 -> y++ :: else -> y = 7"), 10, false, false);
    check(&program(":: else -> y = 7 :: y < 2 -> y++"), 10, false, false);
}

#[test]
fn a_channel_that_a_started_process_is_given_at_its_declaration_is_known() {
    let started = |declared: &str| {
        format!(
            "chan q = [1] of {{ byte }}; init {{ run W(2, q) }} active proctype P() {{ skip }} \
             proctype W(byte e; chan c) {{ {declared} c1!(2 * len(q)) }}"
        )
    };
    check(&started("chan c1 = q;"), 13, false, false);
    check(&started("chan c1 = c;"), 13, false, false);
    check(&started("chan c1 = (e == 2 -> c : q);"), 13, false, false);
}

#[test]
fn numbers_of_elements_and_processes_may_be_variables_that_start_so() {
    check("byte n = 2; byte a[n]; active [n] proctype P() { a[_pid] = 1 }", 7, false, false);
}

#[test]
fn a_choice_of_numbers_is_one_step_only_where_spin_writes_it_out() {
    let text =
        "byte a_b, c; inline pick(v) { select (v : 0 .. 2) } active proctype P() { select (a_b : 0 .. 2); pick(c) }";
    check(text, 42, false, false);
}

#[test]
fn what_is_received_at_a_meeting_is_cut_and_stored_from_the_left() {
    let sender = "active proctype S()";
    let text = format!(
        "chan r = [0] of {{ int }}; byte b; {sender} {{ r!300 }} active proctype R() {{ r?b; assert(b == 44) }}"
    );
    check(&text, 5, false, false);
    let text = format!(
        "chan r = [0] of {{ byte, byte }}; byte a[2]; byte k; {sender} {{ r!1,7 }} active proctype R() {{ r?k,a[k]; assert(a[1] == 7) }}"
    );
    check(&text, 5, false, false);
}

#[test]
fn a_channel_without_a_buffer_is_never_full() {
    let text = "chan r = [0] of { byte }; byte b; active proctype S() { r!3 } \
        active proctype R() { if :: r?b :: full(r) -> b = 9 fi; assert(nfull(r)) }";
    check(text, 5, false, false);
}

#[test]
fn a_timeout_may_stand_in_a_condition_and_before_an_escape() {
    let other = "active proctype Q() { x = 1; x = 2 }";
    check(&format!("byte x; active proctype P() {{ (timeout || x == 2); x = 7 }} {other}"), 9, false, false);
    let escape = "{ x == 3; x = 4 } unless { timeout -> x = 9 }";
    check(&format!("byte x; active proctype P() {{ {escape} }} {other}"), 7, false, false);
}

/// Whether a run that stays in the accepting places of the first claim is there: what a claim of safety says is found by its last place.
fn claim_fails(text: &str) -> bool {
    let (model, _) = read(text, false);
    let claim = model.properties.iter().find_map(|property| match &property.kind {
        PropertyKind::Temporal(Formula::NeverAccepts(automaton)) => Some(automaton),
        _ => None,
    });
    let claim = claim.expect("there is a claim");
    let mut seen: HashSet<(State, usize)> = initial_states(&model).map(|state| (state, claim.initial)).collect();
    let mut open: Vec<(State, usize)> = seen.iter().cloned().collect();
    while let Some((state, location)) = open.pop() {
        let read_on = claim.edges.iter().filter(|edge| edge.source == location);
        let read_on = read_on.filter(|edge| {
            let is_true = |guard| model::eval::evaluate(&model, &state, guard, None) == Ok(Value::Bool(true));
            edge.guard.as_ref().is_none_or(is_true)
        });
        let targets: Vec<usize> = read_on.map(|edge| edge.target).collect();
        if targets.iter().any(|&target| claim.locations[target].accepting) {
            return true;
        }
        let ahead: Vec<State> = steps(&model, &state).into_iter().filter_map(|step| step.result.ok()).collect();
        for next in ahead {
            for &target in &targets {
                if seen.insert((next.clone(), target)) {
                    open.push((next.clone(), target));
                }
            }
        }
    }
    false
}

#[test]
fn a_place_has_the_number_that_spin_gives_it() {
    let body = "do :: x < 2 -> x++; if :: x = 2 :: skip; skip; x = 0 fi :: else -> break od; { x = 1; x = 2 }; \
                atomic { x = 3; if :: x = 4 :: x = 5 fi }; goto l; x = 9; l: x = 6";
    let asks = "n = pc_value(0); n = pc_value(_pid) % 3; n = pc_value(7) + 1";
    check(&format!("byte x, n; active proctype A() {{ {body} }} active proctype B() {{ {asks} }}"), 108, false, false);
    // The observer tells places apart by what their numbers leave.
    let body = "goto a; a: progress_b: goto c; c: x = 3; d_step { x = 1; x = 2 }; for (n : 1 .. 2) { x = n }; \
                { do :: x > 0 -> x-- :: break od }";
    let asks = "byte k; do :: k = pc_value(0) % 5 :: k = pc_value(0) / 7 od";
    check(&format!("byte x, n; active proctype A() {{ {body} }} active proctype B() {{ {asks} }}"), 90, false, false);
    let refused = |body: &str| {
        let text = format!("byte x; active proctype P() {{ x = 1 }} active proctype Q() {{ {body} }}");
        load(&SourceFile::new("p.pml", text), &[], &Reading::default()).is_err()
    };
    assert!(refused("atomic { x = 2; x = pc_value(1) }"));
    assert!(refused("{ x = pc_value(0) } unless { x == 1 }"));
    assert!(!refused("atomic { x = pc_value(1); x = 2 }"));
}

#[test]
fn a_look_into_a_process_may_begin_a_statement() {
    check(
        "byte x; active [2] proctype A() { byte n; n = 2; x++ } active proctype B() { A[1]:n == 2; A:n == 2; x = 9 }",
        43,
        false,
        false,
    );
}

#[test]
fn a_claim_that_reads_what_cannot_be_read_is_violated() {
    let asked = |formula: &str| {
        let text = format!("chan q; byte x, a[2]; active proctype P() {{ x = 1; x = 2 }} ltl p {{ {formula} }}");
        let (model, _) = read(&text, false);
        let property = model.properties.iter().find(|property| property.name == "p").expect("it is asked").clone();
        (model, property.kind)
    };
    let fails_in_some_state = |formula: &str| {
        let (model, kind) = asked(formula);
        let PropertyKind::Invariant(invariant) = kind else { panic!("{formula} is no invariant") };
        let mut state = initial_states(&model).next();
        let mut values = Vec::new();
        while let Some(here) = state {
            values.push(model::eval::evaluate(&model, &here, &invariant, None).expect("it can be read"));
            state = steps(&model, &here).into_iter().find_map(|step| step.result.ok());
        }
        values.contains(&Value::Bool(false))
    };
    assert!(fails_in_some_state("[] (len(q) == 0)"));
    assert!(fails_in_some_state("[] (x < 2 || q?[1])"));
    assert!(!fails_in_some_state("[] (x < 3 || q?[1])"));
    assert!(fails_in_some_state("[] (a[x] == 0)"));
    assert!(!fails_in_some_state("[] (x > 1 || a[x] == 0)"));
    assert!(fails_in_some_state("[] (6 / (x - 1) != 1)"));
    assert!(!fails_in_some_state("[] (x == 1 || 6 / (x - 1) != 1)"));
    // The automaton reads it in the first state, whatever that is.
    assert!(fails_in_some_state("<> (empty(q))"));
    assert!(fails_in_some_state("[] <> (len(q) == 0 && x == 1)"));
    assert!(fails_in_some_state("(x == 0) U (len(q) == 1)"));
    // What it reads first depends on how it is made.
    assert!(matches!(asked("[] ((x == 7) -> <> (len(q) == 0))").1, PropertyKind::Temporal(_)));
    assert!(matches!(asked("<> (x == 1 && len(q) == 0)").1, PropertyKind::Temporal(_)));
    let never = |claim: &str| {
        let text = format!("chan q; byte x; active proctype P() {{ x = 1; x = 2 }} never {{ {claim} }}");
        claim_fails(&text)
    };
    assert!(never("do :: len(q) == 1 :: else od"));
    assert!(never("do :: x == 2 && len(q) == 1 :: else od"));
    assert!(!never("do :: x == 3 && len(q) == 1 :: else od"));
}

#[test]
fn a_claim_counts_the_accept_labels_of_processes_while_it_reads() {
    let fails = |claim: &str| {
        let process = "do :: x = 1; accept_x: x = 0 od";
        claim_fails(&format!("byte x; active proctype P() {{ {process} }} never {{ {claim} }}"))
    };
    assert!(fails("do :: true od"));
    assert!(fails("do :: x == 0 :: x == 1 od"));
    // It ends before somebody is there.
    assert!(!fails("do :: x == 0 od"));
}

#[test]
fn a_failure_within_an_atomic_counts_once_for_each_way_to_it() {
    // As often as `pan -c0` reports it.
    for (body, n_failures) in [
        ("atomic { x = 3; if :: x = 3 :: x = 4 :: x = 4 fi; assert(x == 0); if :: x = 1 :: x = 2 fi }", 3),
        ("atomic { assert(x == 1); if :: x = 0 :: x = 1 fi }", 1),
        ("atomic { assert(x == 1); if :: x = 0 -> goto l :: x = 1 -> goto m fi }; l: x = 1; m: x = 2", 1),
        ("atomic { x = 2; if :: assert(x == 1) :: assert(x == 3) fi; x = 3 }", 2),
        ("atomic { x = 2; if :: x = 3 :: x = 4 fi; if :: x == 3 -> assert(x == 1) :: assert(x == 3) fi; x = 3 }", 2),
        // One of the two always fails, and each only where the other one does not go on.
        ("atomic { assert(x == 1); if :: y == 0 -> x = 0 :: y == 1 -> x = 1 fi }", 1),
    ] {
        let (model, _) = read(&format!("byte x, y; active proctype P() {{ {body} }}"), false);
        let first = initial_states(&model).next().expect("it starts");
        let n_found = steps(&model, &first).iter().filter(|step| step.result.is_err()).count();
        assert_eq!(n_found, n_failures, "{body}");
    }
}

#[test]
fn an_atomic_of_a_claim_reads_one_state() {
    let fails = |claim: &str| {
        claim_fails(&format!("byte x; active proctype P() {{ x = 1; x = 2; x = 3; x = 4 }} never {{ {claim} }}"))
    };
    assert!(fails("do :: atomic { (x == 2) -> assert(!(x == 2)) } :: else od"));
    assert!(fails("do :: atomic { (x == 2) -> assert(x == 3) } :: (1) od"));
    assert!(!fails("do :: atomic { (x == 2) -> assert(x == 2) } :: else od"));
    // It waits within for the next state.
    assert!(!fails("do :: atomic { (x == 2) -> (x == 3) -> assert(x == 3) } :: x < 4 od"));
    assert!(fails("do :: atomic { (x == 2) -> (x == 3) -> assert(x == 4) } :: x < 4 od"));
}

#[test]
fn a_comparison_behind_a_temporal_sign_needs_parentheses() {
    let formula = |text: &str| {
        let text = format!("byte x; active proctype P() {{ x = 1 }} ltl p {{ {text} }}");
        load(&SourceFile::new("p.pml", text), &[], &Reading::default()).is_ok()
    };
    assert!(!formula("[] x < 3"));
    assert!(!formula("<> x == 1 && [] (x < 3)"));
    assert!(formula("[] (x < 3) && ! x == 1 && (x & 1) == 0"));
    assert!(formula("[] (x < 3) <-> <> (x == 1)"));
    assert!(formula("(x == 0) <-> (x == 1);"));
    assert!(formula("[] ((x == 0 || !(x > 1)) == (x < 2))"));
    assert!(!formula("([] (x < 2)) == 1"));
}

#[test]
fn a_jump_to_the_beginning_of_its_atomic_leaves_it() {
    let other = "active proctype Q() { y = 1; y = 2 }";
    let text = "byte x, y; active proctype P() { L1: atomic { x = (x + 1) % 3; goto L1 } }";
    check(&format!("{text} {other}"), 12, false, false);
    let text =
        "byte x, y; active proctype P() { L1: atomic { x = (x + 1) % 3; if :: x < 2 -> goto L1 :: else fi; x = 7 } }";
    check(&format!("{text} {other}"), 13, false, false);
}

#[test]
fn end_labels_are_valid_ends() {
    check("byte x; active proctype P() { end: x == 1 }", 1, false, false);
}

#[test]
fn messages_are_read_in_order_and_matched() {
    check("chan q = [2] of { byte }; byte x; active proctype P() { q!1; q!2; q?x; assert(x == 1) }", 6, false, false);
    check("mtype = { a, b }; chan q = [1] of { mtype }; active proctype P() { q!a; q?b }", 2, false, true);
    check("chan q = [0] of { byte }; byte x; active proctype P() { q!7 } active proctype Q() { q?x }", 4, false, false);
}

#[test]
fn a_declaration_behind_a_statement_is_a_step() {
    let text = "byte n; active proctype P() { do :: n < 3 -> byte w[2]; byte l; assert(w[0] == 0 && l == 0); w[0]++; w[1]++; l++; n++ \
        :: else -> break od; assert(w[1] == 3); n = 9 }";
    check(text, 29, false, false);
    check("byte x; active proctype P() { skip; byte k; x = 1 }", 5, false, false);
}

#[test]
fn an_else_at_the_head_of_an_option_waits_for_the_options_before_it() {
    let text = "byte x; active proctype P() { if :: x = 1 :: if :: x == 5 -> skip :: else -> assert(false) fi fi }";
    check(text, 3, false, false);
    check("byte x; active proctype P() { if :: if :: else fi :: x++ fi }", 5, false, false);
    let of = |option: &str| {
        format!("byte x; active proctype P() {{ do :: x == 1 -> x = 3 :: {option} :: x > 4 -> break od }}")
    };
    check(&of("{ else -> x++ }"), 1012, false, false);
    check(&of("d_step { else -> x++ }"), 758, false, false);
    // The `else` of an `if` within a `d_step` looks at this `if` only.
    check(&of("d_step { if :: x == 2 -> x = 9 :: else -> x++ fi }"), 759, false, false);
    check(&of("x == 7 -> break :: else -> x++"), 11, false, false);
}

#[test]
fn an_else_beside_a_send_without_a_buffer_waits_for_a_receiver() {
    let sends = "chan c = [0] of { byte }; byte x, y; active proctype A() { if :: c!1 -> x = 1 :: else -> x = 2 fi }";
    check(sends, 4, false, false);
    check(&format!("{sends} active proctype B() {{ byte v; if :: c?v -> y = 1 :: y = 2 fi }}"), 15, false, false);
    let text = "chan c = [0] of { byte }; byte x, y; \
        active proctype A() { do :: c!x -> x++ :: x == 3 -> break :: else -> y++; y < 5 od } \
        active proctype B() { byte v; do :: c?1 -> y = 1 :: c?eval(y) -> v=1 :: y == 4 -> break od }";
    check(text, 102, false, true);
}

#[test]
fn who_receives_at_a_meeting_does_not_look_at_its_escapes() {
    let text = "chan c = [0] of { byte }; chan ex = [1] of { bit }; byte got; \
        active proctype A() { byte v; do :: { c?v; got = v; v = 0 } unless { ex?_ -> got = 99; break } od } \
        active proctype B() { c!1; c!2; if :: ex!1 :: skip fi; c!3 }";
    check(text, 31, false, true);
}

#[test]
fn a_d_step_that_begins_with_a_choice_needs_one_of_its_conditions() {
    let text = "byte x; active proctype P() { d_step { if :: x = 1 :: x == 5 -> skip fi } }";
    check(text, 1, false, true);
}

#[test]
fn what_init_passes_before_the_start_is_counted_once() {
    check("byte x; proctype P() { skip } init { do :: _nr_pr < 3 -> run P() od }", 10, false, false);
}

#[test]
fn a_loop_over_a_part_of_an_array_counts_the_elements_of_the_array() {
    let text = "typedef R { byte v[3] }; R r[2]; active proctype P() { byte j; for (j in r[0].v) { r[0].v[j] = 1 }; \
        assert(j == 2 && r[0].v[2] == 0) }";
    let (model, _) = read(text, false);
    assert!(!explore(&model, 100).expect("it is small").errors);
}

#[test]
fn a_loop_over_an_element_of_an_array_of_channels_takes_its_messages() {
    let text = "typedef R { byte a; bit b }; chan c[3] = [2] of { R }; R r, s; int i; byte n; \
        active proctype A() { r.a = 5; c[1]!r; for (s in c[1]) { n = n + s.a } assert(n == 5); \
        for (i in c) { n++ } assert(n == 8); for (i in c[1]) { n++ } assert(n == 11) }";
    check(text, 36, false, false);
}

#[test]
fn an_array_within_a_message_is_as_many_fields_as_it_has_elements() {
    let text = "typedef R { byte a; byte f[2] }; chan c = [2] of { R }; R r, q; byte n; active proctype A() { \
        r.a = 5; r.f[0] = 1; r.f[1] = 2; c!r; c?q; assert(q.a == 5); assert(q.f[1] == 2); n = q.f[0] }";
    check(text, 10, false, false);
    let text = "typedef V { byte x[2]; byte y }; chan q = [3] of { V }; V a, b; active proctype P() { a.x[0] = 1; a.y = 9; \
        q!!a; a.x[0] = 0; a.x[1] = 3; q!!a; q?b; assert(b.x[1] == 3); if :: q??[eval(1),_,9] -> skip fi }";
    check(text, 12, false, false);
}

#[test]
fn the_first_element_of_what_is_no_array_is_the_variable() {
    check("byte x; active proctype A() { byte l; x[0] = 1; l[0] = 3; assert(x == 1 && l == 3) }", 5, false, false);
}

#[test]
fn a_send_with_too_few_values_is_an_error() {
    let (model, _) = read("chan c = [1] of { byte, byte }; active proctype A() { c!1; skip }", false);
    assert!(explore(&model, 100).expect("it is small").errors);
}

#[test]
fn a_jump_is_a_step_first_in_a_block_and_out_of_an_atomic() {
    check("byte x; active proctype P() { skip; goto L; x = 1; L: skip }", 4, false, false);
    check("byte x; active proctype P() { skip; atomic { goto L }; x = 1; L: skip }", 5, false, false);
    check("byte x; active proctype P() { do :: skip; { break } od }", 4, false, false);
    let text = "chan c = [0] of { byte }; active proctype P() { do :: atomic { c!1; break } od; L: skip } \
        active proctype Q() { c?_ }";
    check(text, 8, false, false);
}

#[test]
fn a_jump_from_one_atomic_into_another_does_not_stop() {
    let text = "byte x; active proctype P() { atomic { x = 1; goto M }; x = 9; atomic { x = 2; M: x = 3; x = 4 } } \
        active proctype Q() { x == 1 -> x = 7 }";
    check(text, 2, false, true);
}

#[test]
fn a_process_that_is_not_provided_for_does_not_die() {
    check("byte x; active proctype P() provided (x <= 1) { x = 1; x++ }", 3, false, false);
}

#[test]
fn behind_a_failed_assertion_there_may_be_end_states() {
    let (model, _) = read("byte x; active proctype P() { x = 1; assert(x == 2); x = 5; x == 3 }", false);
    let seen = explore(&model, 100).expect("it is small");
    assert_eq!((seen.errors, seen.deadlock), (true, true));
}

#[test]
fn a_skip_behind_a_skip_is_dropped_within_an_option() {
    check("byte x; active proctype P() { skip; skip; x = 1 }", 5, false, false);
    check("byte x; active proctype P() { if :: skip; skip; x = 1 fi }", 4, false, false);
    check("byte x; active proctype P() { do :: skip; skip od }", 2, false, false);
}

#[test]
fn a_block_whose_only_statement_is_wrong_is_not_empty() {
    for (text, expected) in [
        ("inline f() { f() } active proctype P() { f() }", ["E0913"].as_slice()),
        ("active proctype P() { printf(\"abc) }", &["E0902"]),
        ("active proctype P() { }", &["E0901"]),
    ] {
        let refused = load(&SourceFile::new("p.pml", text), &[], &Reading::default()).expect_err(text);
        let codes: Vec<&str> = refused[0].diagnostics.iter().map(|one| one.code).collect();
        assert_eq!(codes[..expected.len()], *expected, "{text}");
    }
}

#[test]
fn a_text_that_grows_too_large_is_refused_and_not_read() {
    let mut text = String::from("#define A0 x x x x x x x x x x\n");
    for at in 1..12 {
        text += &format!("#define A{at} {}\n", vec![format!("A{}", at - 1); 10].join(" "));
    }
    text += "active proctype P() { A11 }\n";
    let refused = load(&SourceFile::new("p.pml", text), &[], &Reading::default()).expect_err("it is too large");
    assert!(refused[0].diagnostics.len() < 10);
    assert!(refused[0].diagnostics.iter().any(|one| one.code == "E0913"));
    // An argument is expanded once, however often its parameter stands in the macro, and no further once there is too much.
    for (body, n_nested) in [("x x x x x x x x", 30), ("x x", 40), ("#x x x x", 60)] {
        let (calls, ends) = ("G(".repeat(n_nested), ")".repeat(n_nested));
        let text = format!("#define G(x) {body}\nactive proctype P() {{ {calls}skip;{ends} }}\n");
        let refused = load(&SourceFile::new("p.pml", text), &[], &Reading::default()).expect_err("it is too large");
        assert!(refused[0].diagnostics.iter().any(|one| one.code == "E0913"));
    }
    let many = "skip; ".repeat(50_000);
    let text = format!("inline f(a) {{ {} }}\nactive proctype P() {{ f({many}) }}\n", "a; ".repeat(50_000));
    let refused = load(&SourceFile::new("p.pml", text), &[], &Reading::default()).expect_err("it is too large");
    assert!(refused[0].diagnostics.iter().any(|one| one.code == "E0913"));
}

#[test]
fn an_assertion_of_a_claim_that_never_holds_is_an_error() {
    let (model, _) = read("active proctype P() { skip } never { do :: assert(0 == 1) od }", false);
    let never = model.properties.iter().find(|property| property.name == "never").expect("it is asked");
    let PropertyKind::Temporal(Formula::NeverAccepts(automaton)) = &never.kind else { panic!("it is an automaton") };
    assert!(automaton.edges.iter().any(|edge| edge.source == automaton.initial && edge.guard.is_none()));
}

#[test]
fn an_escape_disables_the_other_options_too() {
    let text = "byte x, l; active proctype P() { if :: { x = 0 } unless { skip } :: l++ fi }";
    check(text, 3, false, false);
    let text = "byte x; active proctype P() { { { skip; skip } unless { x == 1 -> x = 3 } } unless { x == 1 -> x = 2 } } \
        active proctype Q() { x = 1 }";
    check(text, 15, false, false);
    let text = "byte x; chan c = [1] of { byte }; active proctype P() { { x = 1; { x = 2 } unless { c?1 }; x = 3 } \
        unless { c?2 }; x = 4 } active proctype Q() { if :: c!1 :: c!2 fi }";
    check(text, 40, false, false);
}

#[test]
fn processes_are_started_within_a_step_and_by_each_other() {
    let text =
        "byte x; proctype W(byte i) { x = x + i } active proctype P() { x = 1; atomic { run W(1); run W(2); x = 3 } }";
    let (model, _) = read(text, true);
    assert!(explore(&model, 1000).is_some());
    let text = "proctype F(byte n; chan up) { chan down = [1] of { byte }; byte r; if :: n <= 1 -> up!1 \
        :: else -> run F(n - 1, down); down?r; up!n * r fi } \
        init { chan c = [1] of { byte }; byte r; run F(4, c); c?r; assert(r == 24) }";
    let (model, _) = read(text, false);
    assert!(!explore(&model, 10_000).expect("it is small").errors);
}

#[test]
fn how_many_processes_a_loop_starts_follows_from_what_bounds_its_counter() {
    // The number of rounds is a minimum of a number that changes and one that does not.
    let text = "byte w, n; proctype leaf() { atomic { n++ } } proctype unit() { byte i, k; k = (2 <= w -> 2 : w); \
        for (i : 0 .. k - 1) { run leaf() } } init { if :: w = 1 :: w = 7 fi; run unit(); _nr_pr == 1; assert(n <= 2) }";
    check(text, 58, false, false);
    // So it is where a process that is started counts from 0, up to a number that it compared with another one before.
    let text = "byte n; proctype leaf() { n = 1 } proctype mid(byte w) { byte i; if :: w > 2 -> w = 2 :: else fi; \
        do :: i < w -> run leaf(); i++ :: else -> break od } init { byte a; if :: a = 1 :: a = 9 fi; run mid(a) }";
    let (model, _) = read(text, true);
    assert!(explore(&model, 1000).is_some());
}

#[test]
fn a_claim_may_ask_who_moved_last() {
    // Who receives at a meeting moved last, and so did who starts another process.
    let program = "chan c = [0] of { byte }; byte x; active proctype A() { do :: c!1 :: x = 1 - x od } \
        active proctype B() { byte v; do :: atomic { c?v; v = 0 } od } proctype W() { x = 2 } \
        active proctype D() { run W(); skip } ";
    check(&format!("{program} ltl j {{ [] (_last <= 3) }}"), 48, false, false);
    for (pid, is_met) in [(3, true), (4, false)] {
        let claim = format!("never {{ do :: _last == {pid} -> break :: else od }}");
        assert_eq!(claim_fails(&format!("{program} {claim}")), is_met, "{claim}");
    }
    let lock = "bool flag[2]; byte turn, n; active [2] proctype P() { again: flag[_pid] = 1; turn = _pid; \
        (flag[1-_pid] == 0 || turn == 1 - _pid); cs: n++; n--; flag[_pid] = 0; goto again } ltl g { []<> (_last == 1) \
        && []<> P[0]@cs }";
    check(lock, 50, false, false);
    let text = "chan c = [0] of { byte }; byte x; init { atomic { run A(); run B() } } \
        proctype A() { byte k; do :: atomic { c!1; x = 1 } :: k < 2 -> k++ od } \
        proctype B() { byte v; do :: c?v; x = 0 :: d_step { x == 1 -> x = 2 } od } ltl p { []<> (_last == 1) }";
    check(text, 46, false, false);
}

#[test]
fn what_is_not_read_is_refused() {
    for (text, code) in [
        ("active proctype P() { c_code { x; } }", "E0912"),
        (
            "chan q = [0] of { byte }; active proctype P() { byte x; q?x unless { q?eval(x) } } active proctype Q() { q!1 }",
            "E0912",
        ),
        ("proctype P() { skip } init { do :: run P() od }", "E0911"),
        ("byte x; active proctype P() { atomic { x = 1; { goto L } unless { x == 2 } }; x = 9; L: x = 4 }", "E0912"),
        ("byte a[2]; active proctype P() { _ = a[1] }", "E0912"),
    ] {
        let refused = load(&SourceFile::new("p.pml", text), &[], &Reading::default()).expect_err(text);
        assert!(refused[0].diagnostics.iter().any(|one| one.code == code), "{text}: {:?}", refused[0].diagnostics);
    }
}

fn files(folder: &Path, text: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = included(text);
    while let Some(name) = open.pop() {
        if let Ok(text) = fs::read_to_string(folder.join(&name))
            && !found.contains_key(&name)
        {
            open.extend(included(&text));
            found.insert(name, text);
        }
    }
    found
}

fn collection() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/promela")
}

/// One model with what SPIN says: file, flags, states, assertions, end states.
fn row(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut is_quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(String::new()),
            _ => fields.last_mut().unwrap().push(letter),
        }
    }
    fields
}

#[test]
fn collected_models_have_the_states_and_verdicts_that_spin_finds() {
    let Ok(index) = fs::read_to_string(collection().join("index.csv")) else { return };
    let (mut n_read, mut n_counted) = (0, 0);
    let mut wrong = Vec::new();
    for line in index.lines().skip(1) {
        let fields = row(line);
        let path = collection().join(&fields[0]);
        let text = fs::read_to_string(&path).unwrap();
        let includes = files(path.parent().unwrap(), &text);
        let macros = fields[4].split_whitespace().filter_map(|flag| flag.strip_prefix("-D"));
        let value = |text: &str| match text.split_once('=') {
            Some((name, value)) => (name.to_owned(), value.parse().unwrap_or(1)),
            None => (text.to_owned(), 1),
        };
        let given: Vec<(String, i64)> = macros.map(value).collect();
        let source = SourceFile::new(fields[0].clone(), text);
        let like_spin = Reading { like_spin: true, includes: includes.clone(), ..Reading::default() };
        let Ok(loaded) = load(&source, &given, &like_spin) else { continue };
        n_read += 1;
        let Ok(expected) = fields[6].parse::<usize>() else { continue };
        if expected > MOST_STATES {
            continue;
        }
        let Some(seen) = explore(&loaded.model, MOST_STATES + 10) else {
            wrong.push(format!("{}: more states than {expected}", fields[0]));
            continue;
        };
        n_counted += 1;
        let states = seen.states + loaded.n_before as usize;
        let plain = Reading { includes, ..Reading::default() };
        let plain = load(&source, &given, &plain).expect("it is read in the other way");
        let errors = explore(&plain.model, MOST_STATES + 10).is_some_and(|seen| seen.errors);
        let violated = |is_violated: bool| if is_violated { "violated" } else { "holds" };
        let verdicts = [(violated(errors), &fields[8]), (violated(seen.deadlock), &fields[10])];
        let differs = verdicts.iter().any(|(found, expected)| *expected != "open" && found != *expected);
        if states != expected || differs {
            wrong.push(format!("{}: {states} states, {verdicts:?}; SPIN has {expected}", fields[0]));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(n_read >= LEAST_READ && n_counted >= LEAST_COUNTED, "{n_read} are read, {n_counted} compared");
}

/// How many of the collected models are read, and how many of them are small enough to be compared here.
const LEAST_READ: usize = 60;
const LEAST_COUNTED: usize = 40;

#[test]
fn names_of_messages_are_shown_by_kind() {
    let text = "mtype = { ok }; mtype:light = { red, green }; mtype:light l = red; mtype m = ok; chan q = [1] of { mtype:light, mtype }; \
        active proctype P() { mtype:light k; k = l; q!k,m }";
    let (model, _) = read(text, false);
    let name = |wanted: &str, value: i64| {
        let var = model.vars.iter().find(|var| var.name == wanted).expect("it is a variable");
        var.shown.get(&value).cloned().unwrap_or_default()
    };
    assert_eq!(["l", "m", "k", "q.1", "q.2"].map(|var| name(var, 1)), ["green", "ok", "green", "green", "ok"]);
    assert_eq!((name("l", 2), name("m", 2)), ("red".into(), String::new()));
}

#[test]
fn lossy_channels_lose_what_is_sent_to_a_full_one() {
    // With `spin -m` it has 114 states, without 47.
    let text = "chan q = [1] of { byte, byte }; byte n; byte a[2]; byte i; active proctype S() { do :: n < 3 -> q!n,a[i]; n++ :: n == 3 -> break od; \
        if :: q!!1,1 -> i = 1 :: full(q) -> i = 2 fi } active proctype R() { byte x, y; do :: q?x,y :: n == 3 && empty(q) -> break od }";
    let source = SourceFile::new("p.pml", text);
    let reading = Reading { like_spin: true, is_lossy: true, ..Reading::default() };
    let loaded =
        load(&source, &[], &reading).map_err(|refused| format!("{:?}", refused[0].diagnostics)).expect("it is read");
    let seen = explore(&loaded.model, 10_000).expect("it is small");
    assert_eq!((seen.states, seen.errors, seen.deadlock), (114, false, false));
    // Nobody looks at what is lost, and `init` does not wait.
    let text =
        "chan q = [1] of { byte }; byte a[2], i = 2; proctype P() { skip } init { atomic { q!1; q!a[i]; run P() } }";
    let loaded = load(&SourceFile::new("p.pml", text), &[], &reading)
        .map_err(|refused| format!("{:?}", refused[0].diagnostics))
        .expect("it is read");
    let seen = explore(&loaded.model, 10_000).expect("it is small");
    assert_eq!((seen.states + loaded.n_before as usize, seen.errors, seen.deadlock), (5, false, false));
}

#[test]
fn escapes_that_send_at_a_meeting_may_stand_beside_receives() {
    // Whether an escape sends depends on who receives, and not on the escapes there.
    let rest = "active proctype R() { byte x; do :: q?x od }";
    let buffered =
        "chan q = [0] of { byte }; chan c = [1] of { byte }; active proctype P() { byte b; { c??2 } unless { q!b } }";
    let meeting = "chan q = [0] of { byte }; active proctype P() { byte b; { q?b } unless { q!b } }";
    let variable = "chan q = [0] of { byte }; chan c = [1] of { byte }; chan v; \
        active proctype P() { byte b; if :: v = q :: v = c fi; { v?b } unless { q!b } }";
    for (text, expected) in [(buffered, 2), (meeting, 2)] {
        let (model, n_before) = read(&format!("{text} {rest}"), true);
        let seen = explore(&model, 10_000).expect("it is small");
        assert_eq!((seen.states + n_before, seen.errors, seen.deadlock), (expected, false, true), "{text}");
    }
    let source = SourceFile::new("p.pml", format!("{variable} {rest}"));
    let refused = load(&source, &[], &Reading::default()).expect_err("it depends on itself");
    assert!(format!("{:?}", refused[0].diagnostics).contains("depends on itself"));
}
