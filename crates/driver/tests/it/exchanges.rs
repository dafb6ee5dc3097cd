//! Proofs in which one process stands for all of its family, shown for programs in which it cannot: the checker refuses each.
//!
//! A row is a program with a proof, what becomes of the program, and what becomes of the proof. Everything that the listed processes have to show still
//! holds afterwards, and the property is false: only the check of permutations stands between such a proof and a wrong verdict.

use base::{Budget, SourceFile};
use driver::methods;
use engine::{Silent, Task, Verdict};
use evidence::certificate::{Certificate, Claim, Column, ControlPoint, Exposed, LocalFact, SplitInvariant, StateSet};
use evidence::implied::{Cut, Implied};
use evidence::{Evidence, Scope};
use model::Model;
use model::process::ProcessId;
use model::value::Value;

/// A program with a proof, and what is changed.
struct Row {
    /// What the checker would not see.
    leaves_out: &'static str,
    program: &'static str,
    property: &'static str,
    /// A word of the program, and what stands for it in the one that the proof is shown for.
    word: &'static str,
    other: &'static str,
    /// What is changed in the proof.
    edit: fn(&Model, &mut SplitInvariant),
}

const ROWS: [Row; 10] = [
    Row {
        leaves_out: "permutations beside the exchange of the first two",
        program: "program r { process P[i in 0..<3] { a: await P[i]@bad; bad: skip; }
         invariant p: forall i: !P[i]@bad; allow deadlock; }",
        property: "p",
        word: "await P[i]@bad",
        other: "await P[2] == P[i]",
        edit: |_, _| {},
    },
    Row {
        leaves_out: "that the points of all processes are numbered alike",
        program: "program r { process P[i in 0..<2] { loop { a: skip; c: skip; } }
         invariant p: forall i != j: !(P[i]@c && P[j]@c && P[i]@a); }",
        property: "p",
        word: " && P[i]@a",
        other: "",
        edit: numbered_otherwise,
    },
    Row {
        leaves_out: "that exchanging the others does not change what is known of one",
        program: "program r { shared x: [bool; 3];
         process P[i in 0..<3] { loop { a: x[i] = true; b: await exists k in P: x[k]; } }
         invariant p: forall i != j in P: forall k in P: k == i || k == j || !(x[i] && x[j] && x[k] && P[i]@a && P[i]@b); }",
        property: "p",
        word: " && P[i]@a && P[i]@b",
        other: "",
        edit: |model, invariant| keep_rows(model, invariant, "x[2]", 0),
    },
    Row {
        leaves_out: "that loops take processes in their order",
        program: "program r { shared last: pid(P)? = none;
         process P[i in 0..<2] { s: atomic { last = none; } c: skip; }
         invariant p: forall i: P[i]@c => last != i; }",
        property: "p",
        word: "last = none; }",
        other: "for k in 0..<2 { last = k; } }",
        edit: |model, invariant| also_value(model, invariant, "last", 2),
    },
    Row {
        leaves_out: "that quantifiers stop at the first process that decides them",
        program: "program r { shared x: [0..=1; 2];
         process P[i in 0..<2] { a: x[i] = 1; s: await exists k in P: 1 * x[k] == 1; } }",
        property: "no_errors",
        word: "1 * x",
        other: "1 / x",
        edit: |_, _| {},
    },
    Row {
        leaves_out: "that a number names a process",
        program: "program r { shared x: 0..=1 = 1;
         process P[i in 0..<2] { a: await x == 0; bad: skip; }
         invariant p: forall i: !P[i]@bad; allow deadlock; }",
        property: "p",
        word: "await x == 0",
        other: "await P[x] == P[i]",
        edit: |_, _| {},
    },
    Row {
        leaves_out: "that a number picks an element that belongs to a process",
        program: "program r { shared f: [bool; 2]; shared x: 0..=1;
         process P[i in 0..<2] { a: f[i] = true; t: await !f[i] && x == 0 && exists k in P: f[k]; bad: skip; }
         invariant p: forall i: !P[i]@bad; allow deadlock; }",
        property: "p",
        word: "!f[i] && x == 0 && exists k in P: f[k]",
        other: "!f[x]",
        edit: |_, _| {},
    },
    Row {
        leaves_out: "that an index may lie outside of an array, for one process and not for another",
        program: "program r { shared b: [bool; 2] = [false, true]; shared x: [0..=2; 2] = 2;
         process P[i in 0..<2] { a: x[i] = 1; s: await exists k in P: x[k] == 1 || b[0] || b[1]; } }",
        property: "no_errors",
        word: "x[k] == 1 || b[0] || b[1]",
        other: "b[x[k]]",
        edit: |_, _| {},
    },
    Row {
        leaves_out: "that the property names one process",
        program: "program r { process P[i in 0..<2] { loop { a: skip; c: skip; } }
         invariant p: forall i in P: i == 0 || !(P[i]@c && P[i]@a); }",
        property: "p",
        word: " && P[i]@a",
        other: "",
        edit: |_, _| {},
    },
    Row {
        leaves_out: "that the elements of an array start differently",
        program: "program r { shared x: [bool; 2] = [false, false];
         process P[i in 0..<2] { loop { a: skip; b: x[i] = false; } }
         invariant p: forall i in P: !x[i]; }",
        property: "p",
        word: "[false, false]",
        other: "[false, true]",
        edit: |_, _| {},
    },
];

/// The second process says `end` where the first one says `c`, and the reverse.
fn numbered_otherwise(model: &Model, invariant: &mut SplitInvariant) {
    for (process, points) in model.processes.ids().zip(&mut invariant.points) {
        let end = model.families[model.processes[process].family].end;
        if points.iter().all(|point| point.place != end) {
            points.push(ControlPoint { place: end, counters: Vec::new() });
        }
    }
    let at = |name: &str| {
        let is_named = |point: &ControlPoint| model.places[point.place].name == name;
        invariant.points[1].iter().position(is_named).expect("there is such a place")
    };
    let (c, end) = (at("c"), invariant.points[1].len() - 1);
    invariant.points[1].swap(c, end);
}

/// The column of a cell in the member of the first process.
fn column(model: &Model, invariant: &SplitInvariant, cell: &str) -> usize {
    let is_it = |column: &Column| matches!(column, Column::Cell(id) if model.cells[*id].name == cell);
    invariant.members[0].columns.iter().position(is_it).unwrap_or_else(|| panic!("`{cell}` is not seen"))
}

fn rows(invariant: &mut SplitInvariant) -> &mut Vec<Vec<u32>> {
    match &mut invariant.members[0].states {
        StateSet::Rows(rows) => rows,
        StateSet::Diagram { .. } => panic!("small sets are listed"),
    }
}

/// Keeps the states of the first process in which a cell has this value.
fn keep_rows(model: &Model, invariant: &mut SplitInvariant, cell: &str, value: u32) {
    let column = column(model, invariant, cell);
    rows(invariant).retain(|row| row[column] == value);
}

/// Adds the states of the first process with another value of a cell.
fn also_value(model: &Model, invariant: &mut SplitInvariant, cell: &str, value: u32) {
    let column = column(model, invariant, cell);
    let rows = rows(invariant);
    let mut more = rows.clone();
    more.iter_mut().for_each(|row| row[column] = value);
    rows.extend(more);
    rows.sort();
    rows.dedup();
}

fn load(text: &str) -> Model {
    match lang::load(&SourceFile::new("exchanges.pw", text), &[]) {
        Ok(loaded) => loaded.model,
        Err(diagnostics) => panic!("{diagnostics:?}\n{text}"),
    }
}

/// The proof of a property by one process at a time, in which the first stands for all.
fn proof(model: &Model, property: &str) -> Certificate {
    let properties = vec![driver::select::find(model, property).unwrap()];
    let task = Task { model, properties, budget: Budget::unlimited(), n_threads: 1 };
    let answers = methods::checker(methods::find("tmmc").unwrap()).check(&task, &Silent).unwrap();
    match answers.into_iter().next().map(|answer| answer.verdict) {
        Some(Verdict::Holds(Evidence::Certificate(certificate))) => *certificate,
        other => panic!("{property}: {other:?}"),
    }
}

/// The same proof with instances of the property left whole, so that it is one of another text of them, too.
fn by_instances(certificate: &mut Certificate) {
    for part in &mut certificate.implies {
        if let Implied::Clause { cuts, .. } = part {
            let n_instances = cuts.iter().take_while(|cut| matches!(cut, Cut::Instance(_))).count();
            cuts.truncate(n_instances);
        }
    }
    certificate.implies.dedup();
}

#[test]
fn one_process_stands_for_all_only_where_all_are_alike() {
    let mut accepted = Vec::new();
    for Row { leaves_out, program, property, word, other, edit } in ROWS {
        assert_eq!(program.matches(word).count(), 1, "{word}: {program}");
        let (model, changed) = (load(program), load(&program.replace(word, other)));
        let mut certificate = proof(&model, property);
        by_instances(&mut certificate);
        assert_eq!(certificate.scope, Scope::Instance);
        let Some(Claim::SplitInvariant(invariant)) = certificate.facts.last_mut().map(|fact| &mut fact.claim) else {
            panic!("{leaves_out}: no invariant")
        };
        assert!(invariant.symmetry.is_some() && invariant.k == 1, "{leaves_out}: every process is listed");
        assert_eq!(invariant.members[0].processes, [ProcessId::new(0)]);
        edit(&changed, invariant);
        let mono = methods::checker(methods::find("mono").unwrap());
        let id = driver::select::find(&changed, property).unwrap();
        let task = Task { model: &changed, properties: vec![id], budget: Budget::unlimited(), n_threads: 1 };
        let truth = mono.check(&task, &Silent).unwrap().remove(0).verdict;
        assert!(matches!(truth, Verdict::Violated(_)), "{leaves_out}: {truth:?}");
        let checked = audit::certificate::check(&changed, &changed.properties[id], &certificate, &Budget::unlimited());
        accepted.extend(checked.ok().map(|_| leaves_out));
    }
    assert!(accepted.is_empty(), "the checker does not see {accepted:#?}");
}

/// What a fact is about goes where its process goes; a process that it names would have to be moved with it, which no proof does.
#[test]
fn facts_that_name_other_processes_are_not_moved() {
    let model = load(
        "program r { process P[i in 0..<2] { local w: pid(P)?; loop { a: w = i; b: w = none; } }
         invariant p: forall i: !(P[i]@a && P[i]@b); }",
    );
    let id = driver::select::find(&model, "p").unwrap();
    let own_cell =
        |process: ProcessId| model.cells.ids().find(|&cell| model.cells[cell].owner == Some(process)).unwrap();
    let other = |process: ProcessId| ProcessId::new(1 - process.index());
    let checked = |value: &dyn Fn(ProcessId) -> Value| {
        let mut certificate = proof(&model, "p");
        let Some(Claim::SplitInvariant(invariant)) = certificate.facts.last_mut().map(|fact| &mut fact.claim) else {
            panic!("no invariant")
        };
        assert!(invariant.symmetry.is_some());
        for (process, exposed) in model.processes.ids().zip(&mut invariant.exposed) {
            let facts = vec![LocalFact::Cell(own_cell(process), value(process))];
            *exposed = Exposed { facts, blocks: vec![vec![false], vec![true]] };
        }
        audit::certificate::check(&model, &model.properties[id], &certificate, &Budget::unlimited())
    };
    let of_nobody = checked(&|_| Value::None);
    assert!(of_nobody.is_ok(), "{of_nobody:?}");
    let of_itself = checked(&Value::Process);
    assert!(of_itself.is_ok(), "{of_itself:?}");
    let of_another = checked(&|process| Value::Process(other(process)));
    assert!(
        of_another.as_ref().is_err_and(|error| error.to_string().contains("names another process")),
        "{of_another:?}"
    );
}
