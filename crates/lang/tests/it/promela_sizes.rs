//! Promela programs whose number of processes is a parameter: what is one, what is not, and that the template at another size is the program
//! with another value of the macro.

use std::collections::{HashSet, VecDeque};

use base::SourceFile;
use lang::promela::{Reading, load, obstacle};
use model::Model;
use model::eval::{State, initial_states, steps};
use model::template::sized_family;

fn read(text: &str, given: &[(&str, i64)], for_every_size: bool) -> Model {
    let given: Vec<(String, i64)> = given.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    let reading = Reading { for_every_size, ..Reading::default() };
    match load(&SourceFile::new("p.pml", text), &given, &reading) {
        Ok(loaded) => loaded.model,
        Err(refused) => panic!("{text}: {:?}", refused[0].diagnostics),
    }
}

fn n_states(model: &Model) -> usize {
    let mut seen: HashSet<State> = initial_states(model).collect();
    let mut open: VecDeque<State> = seen.iter().cloned().collect();
    while let Some(state) = open.pop_front() {
        for next in steps(model, &state).into_iter().filter_map(|step| step.result.ok()) {
            if seen.insert(next.clone()) {
                open.push_back(next);
            }
        }
    }
    seen.len()
}

const LOCK: &str = "#define N 2\nbool taken; byte inside; bool want[N];\n\
    active [N] proctype P() { do :: want[_pid] = 1; atomic { !taken -> taken = 1 }; inside++; assert(inside == 1); inside--; \
    taken = 0; want[_pid] = 0 od }\nltl mutex { [] (inside <= 1) }";

#[test]
fn the_template_at_another_size_is_the_program_with_another_value() {
    for text in [LOCK, "#define K 3\nbyte x; active [K] proctype P() { byte t; t = x; x = 1 - t }"] {
        let model = read(text, &[], true);
        let sized = sized_family(&model).unwrap_or_else(|reasons| panic!("{text}: {reasons:?}"));
        let name = model.parameters[sized.parameter].name.clone();
        for size in 1..=4 {
            let resized = model.resized(sized.parameter, size).expect("it has one family");
            assert_eq!(n_states(&resized), n_states(&read(text, &[(&name, size)], false)), "{text} {size}");
        }
    }
}

#[test]
fn a_loop_of_init_that_starts_each_process_is_a_number_of_processes() {
    let of = |start: &str| {
        format!(
            "#define N 3\nbool want[N]; byte x;\nproctype P(byte id) {{ want[id] = 1; x = 1 - x; want[id] = 0 }}\n\
             init {{ byte i; atomic {{ {start} }} }}"
        )
    };
    for start in [
        "i = 0; do :: i < N -> run P(i); i++ :: else -> break od",
        "for (i : 0 .. N - 1) { run P(i) }",
        "byte k = 0; do :: k < N -> run P(k); k++ :: else -> break od",
    ] {
        let text = of(start);
        assert!(sized_family(&read(&text, &[], true)).is_ok(), "{text}");
    }
    for start in [
        "i = 0; do :: i < N -> run P(i); i++ :: i == 2 -> break od",
        "i = 1; do :: i < N -> run P(i); i++ :: else -> break od",
        "i = 0; do :: i < N -> run P(2 - i); i++ :: else -> break od",
        "i = 0; do :: i < N -> run P(i); i++ :: else -> break od; x = i",
        "i = 0; do :: i < N -> run P(i); i++ :: else -> break od; run P(0)",
    ] {
        let text = of(start);
        assert!(read(&text, &[], true).parameters.is_empty(), "{text}");
    }
}

/// Each text depends on its number of processes in another way than by their number: none has a parameter, and the line is named.
#[test]
fn what_depends_on_the_number_in_another_way_has_no_parameter() {
    for (text, why) in [
        ("#define N 2\nbyte x; active [N] proctype P() { x < N -> x++ }", "`N` is used as a number"),
        ("#define N 2\nbyte x; active [N] proctype P() { x = _pid }", "a pid is used as a number"),
        ("#define N 2\nbyte x; active [N] proctype P() { x = _nr_pr }", "`_nr_pr` counts the processes"),
        ("#define N 2\nbool f[N]; active [N] proctype P() { f[1 - _pid] = 1 }", "is indexed by something else"),
        ("#define N 2\nbool f[N]; active [N] proctype P() { byte i; for (i in f) { f[i] = 1 } }", "is indexed by"),
        ("#define N 2\nbool f[N] = { 1, 0 }; active [N] proctype P() { f[_pid] = 1 }", "are given one by one"),
        ("#define N 2\nbyte x; active [N] proctype P() { chan c = [1] of { byte }; c!1 }", "a channel of its own"),
        ("#define N 2\nchan c[N] = [1] of { byte }; active [N] proctype P() { skip }", "are given one by one"),
        ("#define N 2\n#if N > 2\nbyte y;\n#endif\nbyte x; active [N] proctype P() { x = 1 }", "decides which text"),
        (
            "#define N 2\n#define C(a) x ## a\n#define D(a) C(a)\nbyte x2; active [N] proctype P() { D(N) = 1 }",
            "part of other words",
        ),
        ("#define N 2\nbyte x; active [N] proctype P() { x = 1 } active proctype Q() { x = _pid }", "a pid is used"),
        ("#define N 2\nbyte x; active [N] proctype P() { l: x = 1 } ltl p { [] !P[0]@l }", "a particular `P`"),
        ("#define N 2\nbyte x; active [N] proctype P() { accept: x = 1 }", "the label `accept`"),
        ("#define N 2\nchan c = [N] of { byte }; active [N] proctype P() { c!1 }", "`N` is used as a number"),
        (
            "#define N 2\nbyte x; active [N] proctype P() { x = 1 } active [N] proctype Q() { x = 1 }",
            "a second proctype",
        ),
        ("#define N 1\nbyte x; active [N] proctype P() { x = 1 }", "give 2 or more"),
    ] {
        assert!(read(text, &[], true).parameters.is_empty(), "{text}");
        let reading = Reading { for_every_size: true, ..Reading::default() };
        let found = obstacle(&SourceFile::new("p.pml", text), &[], &reading).unwrap_or_default();
        assert!(found.contains(why), "{text}: {found}");
    }
}

#[test]
fn other_macros_keep_their_values() {
    let text = "#define N 2\n#define K 5\nbyte x; active [N] proctype P() { x < K -> x++ }";
    let model = read(text, &[("N", 3), ("K", 1)], true);
    let parameters: Vec<(&str, i64)> = model.parameters.iter().map(|one| (one.name.as_str(), one.value)).collect();
    assert_eq!(parameters, [("N", 3)]);
    assert!(read(text, &[], false).parameters.is_empty());
}
