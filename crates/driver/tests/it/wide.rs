//! Variables of 32 bits: methods that list states do not list the values of a type.

use base::{CancelToken, SourceFile};
use driver::check::{Check, Limits};
use driver::load::{self, Loaded};
use driver::methods;
use engine::{PropertyId, Silent, Verdict};

/// Each process writes one of two values near the ends of the range, in turns; locals are wide, too.
const TEXT: &str = "program wide { shared w: 0..=4294967295; shared turn: bool; \
    process P[i in 0..<2] { local v: -2147483648..=2147483647 = -2147483648; \
      loop { a: atomic { await !turn; w, turn = 4294967295, true; } b: v = any 2147483646..=2147483647; \
        c: atomic { w, turn = 0, false; } } } \
    invariant ends: w == 0 || w == 4294967295; \
    invariant apart: forall i != j: !(P[i]@b && P[j]@b); \
    reachable high: P[1].v == 2147483646; \
    property  back: always (w > 0 => eventually w == 0) under weak P[*]; }";

#[test]
fn methods_that_list_states_decide_what_wide_variables_do() {
    let program = match load::instance(&SourceFile::new("wide.pw", TEXT), &[]) {
        Loaded::Program(program) => program,
        Loaded::Refused(refusal) => panic!("{:?}", refusal.diagnostics),
    };
    let questions: Vec<PropertyId> = program.model.properties.ids().collect();
    let limits = Limits { time: None, memory_bytes: None, n_threads: 1, cancel: CancelToken::default() };
    for (name, n_decided) in [("mono", 6), ("stubborn", 5), ("tmmc", 3)] {
        let checker = methods::checker(methods::find(name).unwrap());
        let check = Check { model: &program.model, questions: &questions, checker: &*checker, limits: &limits };
        let checked = check.run(&Silent).unwrap();
        let violated = checked.results.iter().filter(|result| matches!(result.verdict, Verdict::Violated(_))).count();
        let decided = checked.results.iter().filter(|result| !matches!(result.verdict, Verdict::Unknown(_))).count();
        assert_eq!(violated, 0, "{name}");
        assert!(decided >= n_decided, "{name}: {decided} of {n_decided}");
    }
}
