//! Variables of 32 bits: methods that list states do not list the values of a type.

use base::{CancelToken, SourceFile};
use driver::check::{Check, CheckLimits};
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
    let limits =
        CheckLimits { time: None, memory_bytes: None, disk: None, n_threads: 1, cancel: CancelToken::default() };
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

/// A program with wide cells. What is not so is called `not_…`; whoever is named here decides everything that is asked of it. What the other
/// methods say is asked of the command, whose limits end what takes too much.
struct Case {
    text: &'static str,
    deciders: &'static [&'static str],
}

const DIAGRAMS: &[&str] = &["forward", "backward", "completion"];

const CASES: [Case; 4] = [
    // Any value, and arithmetic on it.
    Case {
        text: "program free { shared x: 0..=4294967295; \
            process P { loop { a: x = any; b: atomic { if x >= 10 { x = x - 10; } else { x = x + 4294967286; } } } } \
            reachable top: P@b && x == 4294967295; \
            invariant not_small: P@a => x < 4294967286; }",
        deciders: DIAGRAMS,
    },
    // Two wide cells compared and added.
    Case {
        text: "program pair { shared x: 0..=4294967295; shared y: 0..=4294967295; \
            process P { loop { a: x = any; b: atomic { if x < 4294967295 { y = x + 1; } else { y = x; } } c: skip; } } \
            process Q { loop { d: skip; } } \
            invariant above: P@c => x <= y; \
            invariant near: P@c => y - x <= 1; \
            invariant not_less: P@c => x < y; }",
        deciders: DIAGRAMS,
    },
    // Rows of an array, one for each process.
    Case {
        text: "program rows(N: 2..) { shared a: [0..=4294967295; N]; \
            process P[i in 0..<N] { loop { w: a[i] = any 5..=4000000000; r: a[i] = 0; } } \
            invariant clean: forall i: P[i]@w => a[i] == 0; \
            invariant bounded: forall i: a[i] <= 4000000000; \
            invariant not_apart: forall i != j: a[i] != a[j] || a[i] == 0; }",
        deciders: DIAGRAMS,
    },
    // Wide locals, and a maximum of them.
    Case {
        text: "program best(N: 2..) { shared best: 0..=4294967295; \
            process P[i in 0..<N] { local v: 0..=4294967295; \
              loop { a: v = any; b: atomic { if v > best { best = v; } } c: skip; } } \
            invariant highest: forall i: P[i]@c => best >= P[i].v; \
            invariant not_mine: forall i: P[i]@c => best == P[i].v; }",
        deciders: DIAGRAMS,
    },
];

#[test]
fn diagrams_decide_what_wide_cells_do() {
    for Case { text, deciders } in CASES {
        let given = if text.contains("N:") { vec![("N".to_owned(), 2)] } else { Vec::new() };
        let program = match load::instance(&SourceFile::new("wide.pw", text), &given) {
            Loaded::Program(program) => program,
            Loaded::Refused(refusal) => panic!("{text}: {:?}", refusal.diagnostics),
        };
        let model = &program.model;
        for declared in methods::available().filter(|declared| deciders.contains(&declared.name)) {
            let method = declared.method;
            let supported = |id: &PropertyId| method.supports(model, *id).is_ok();
            let questions: Vec<PropertyId> = model.properties.ids().filter(supported).collect();
            let limits = CheckLimits {
                time: None,
                memory_bytes: Some(1 << 30),
                disk: None,
                n_threads: 1,
                cancel: CancelToken::default(),
            };
            let checker = methods::checker(method);
            let check = Check { model, questions: &questions, checker: &*checker, limits: &limits };
            let checked = check.run(&Silent).unwrap_or_else(|mistake| panic!("{text}, {}: {mistake:?}", declared.name));
            for result in checked.results {
                let name = &model.properties[result.property].name;
                let asked = format!("{text}, {}, {name}", declared.name);
                match result.verdict {
                    Verdict::Holds(_) => assert!(!name.starts_with("not_"), "{asked}: holds"),
                    Verdict::Violated(_) => assert!(name.starts_with("not_"), "{asked}: violated"),
                    Verdict::Unknown(why) => panic!("{asked}: {why}"),
                }
            }
        }
    }
}
