//! SPIN's verdicts on exported programs are those of their authors, and of brute force.
//!
//! Skipped, in words, where SPIN or a C compiler is missing. `PIECEWISE_CASES` sets how many examples are tried.

use std::cell::Cell;
use std::path::Path;
use std::process::Command;

use crate::common::{Example, example, examples, is_there, n_cases};
use base::SourceFile;
use export::promela::{self, PromelaProgram, SpinClaim, TurnsAllowed};
use model::Model;
use model::property::{Expected, Property, PropertyKind};
use testkit::samples::add_property;
use testkit::temporal::with_temporal;
use testkit::{Product, RandomFeatures};

/// What SPIN said of a claim.
#[derive(Debug)]
struct Answer {
    holds: bool,
    /// Whether the search came to its end, or to an error.
    is_whole: bool,
    n_states: u64,
}

fn run(folder: &Path, program: &str, arguments: &[&str]) -> String {
    let output = Command::new("timeout").arg("60").arg(program).args(arguments).current_dir(folder).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?} in {}: {said}", folder.display());
    said
}

/// Compiles a program for the turns that these claims need, and asks each.
fn ask(program: &PromelaProgram, wanted: impl Fn(&SpinClaim) -> bool, defines: &[&str]) -> Vec<(SpinClaim, Answer)> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("model.pml"), &program.text).unwrap();
    let mut arguments = defines.to_vec();
    arguments.extend(["-a", "model.pml"]);
    let said = run(folder.path(), "spin", &arguments);
    assert!(!said.contains("Error") && !said.contains("syntax error"), "{said}\n{}", program.text);
    run(folder.path(), "gcc", &["-w", "-O0", "-DNOREDUCE", "-o", "pan", "pan.c"]);
    let asked: Vec<&SpinClaim> = program.claims.iter().filter(|claim| wanted(claim)).collect();
    asked
        .into_iter()
        .map(|claim| {
            let mut arguments = vec!["-a", "-m1000000", "-w16"];
            if claim.weakly_fair {
                arguments.push("-f");
            }
            arguments.extend(["-N", &claim.name]);
            let said = run(folder.path(), "./pan", &arguments);
            let number = |after: &str, before: &str| {
                let text = said.split(after).nth(1).unwrap_or_else(|| panic!("{said}"));
                text.split(before).next().unwrap().trim().parse::<u64>().unwrap_or_else(|_| panic!("{said}"))
            };
            let n_errors = number("errors:", "\n");
            let states = said.lines().find(|line| line.contains("states, stored")).unwrap();
            let n_states = states.split_whitespace().next().unwrap().parse().unwrap();
            let is_whole = !said.contains("Search not completed") && !said.contains("max search depth too small");
            (claim.clone(), Answer { holds: n_errors == 0, is_whole: is_whole || n_errors > 0, n_states })
        })
        .collect()
}

/// Whether all claims together say what is expected of each property.
fn compare(example: &Example, program: &PromelaProgram, answers: &[(SpinClaim, Answer)]) -> Vec<String> {
    let mut wrong = Vec::new();
    for property in example.model.properties.iter() {
        let asked: Vec<_> = answers.iter().filter(|(claim, _)| claim.property == property.name).collect();
        if asked.is_empty() {
            continue;
        }
        if asked.iter().all(|(_, answer)| answer.holds) && asked.iter().any(|(_, answer)| !answer.is_whole) {
            println!("{}: {} not decided", example.name, property.name);
            continue;
        }
        let claimed = asked.iter().all(|(_, answer)| answer.holds);
        let holds = match property.kind {
            PropertyKind::Reachable(_) => !claimed,
            _ => claimed,
        };
        if holds != (property.expected == Expected::Holds) {
            wrong.push(format!("{}: {} {}: {asked:?}", example.name, property.kind.keyword(), property.name));
        }
    }
    if !wrong.is_empty() && std::env::var("PIECEWISE_SHOW").is_ok() {
        println!("{}", program.text);
    }
    wrong
}

fn check(example: &Example, program: &PromelaProgram) -> Vec<String> {
    let is_real = |claim: &SpinClaim| claim.runs == TurnsAllowed::Real;
    let needs = |runs: TurnsAllowed| program.claims.iter().any(|claim| claim.runs == runs);
    let defines: &[&str] = match () {
        () if needs(TurnsAllowed::Turns) => &["-DRUNS", "-DTURNS"],
        () if needs(TurnsAllowed::Stutters) => &["-DRUNS"],
        () => &[],
    };
    let mut answers = ask(program, |claim| !is_real(claim), defines);
    if needs(TurnsAllowed::Real) {
        answers.extend(ask(program, is_real, &["-DREAL"]));
    }
    compare(example, program, &answers)
}

fn tools_are_there() -> bool {
    is_there("spin", "-V") && is_there("gcc", "--version")
}

#[test]
fn examples_have_the_verdicts_that_their_authors_expect() {
    if !tools_are_there() {
        return;
    }
    let (mut wrong, mut refused) = (Vec::new(), Vec::new());
    let only = std::env::var("PIECEWISE_EXAMPLE").unwrap_or_default();
    let all: Vec<Example> = examples().into_iter().filter(|one| one.name.contains(&only)).collect();
    let n_asked = n_cases(9);
    // Spread over the whole list, whatever its length.
    let step = all.len().div_ceil(n_asked).max(1);
    for one in all.iter().step_by(step) {
        match promela::program(&one.model, &one.source) {
            Ok(program) => wrong.extend(check(one, &program)),
            Err(refusals) => refused.push(format!("{}: {refusals:?}", one.name)),
        }
    }
    println!("refused: {refused:#?}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn states_are_counted_alike() {
    if !tools_are_there() {
        return;
    }
    for name in ["mux_sem", "peterson", "bakery_atomic"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../examples/{name}.pw"));
        let one = example(&path, &[]);
        let program = promela::program(&one.model, &one.source).unwrap();
        let asked = ask(&program, |claim| claim.property == "no_errors", &["-o2"]);
        let product = testkit::Product::explore(&one.model, 100_000).unwrap();
        assert_eq!(asked[0].1.n_states, product.states.len() as u64, "{name}");
    }
}

/// A program with questions of every kind, and what brute force says to each: whether it holds, where it can say.
fn with_answers(model: &Model) -> Option<(Model, Vec<Option<bool>>)> {
    let product = Product::explore(model, 60)?;
    let mut asked = with_temporal(model, product.states.len() as u64 * 7 + model.places.len() as u64, 3);
    add_property(&mut asked, "no_errors", PropertyKind::NoErrors);
    add_property(&mut asked, "deadlock_free", PropertyKind::DeadlockFree);
    let is_shared = |var: &model::variable::Var| var.storage == model::variable::Storage::Shared;
    let simple = |var: &model::variable::Var| {
        !matches!(var.ty.scalar(), model::types::ScalarType::Lock | model::types::ScalarType::Semaphore { .. })
    };
    let shared: Vec<_> =
        model.vars.entries().filter(|(_, var)| is_shared(var) && simple(var)).map(|(id, _)| id).collect();
    for id in shared {
        add_property(&mut asked, &format!("race_free {}", model.vars[id].name), PropertyKind::RaceFree(id));
    }
    let answer = |property: &Property| match &property.kind {
        PropertyKind::Temporal(formula) => {
            let violated = audit::temporal::is_violated(&asked, &product.states, formula, &property.under);
            violated.ok().flatten().map(|violated| !violated)
        }
        PropertyKind::NoErrors => Some(product.n_faults() == 0),
        PropertyKind::DeadlockFree => Some(product.deadlocks.is_empty()),
        PropertyKind::RaceFree(var) => {
            Some(product.states.iter().all(|state| model::eval::race(&asked, state, *var).is_none()))
        }
        _ => None,
    };
    let answers = asked.properties.iter().map(answer).collect();
    Some((asked, answers))
}

#[test]
fn random_programs_have_the_verdicts_of_brute_force() {
    if !tools_are_there() {
        return;
    }
    let (n_holds, n_violated) = (Cell::new(0), Cell::new(0));
    // Most programs are refused or too large to be searched by brute force.
    let tried = if std::env::var("PIECEWISE_CASES").is_ok() { 0 } else { 14 };
    testkit::for_each_program(tried, RandomFeatures { n_statements: 3, ..RandomFeatures::everything() }, |_, model| {
        let Some((asked, answers)) = with_answers(model) else { return Ok(()) };
        let source = SourceFile::new("random.pw", "");
        let Ok(program) = promela::program(&asked, &source) else { return Ok(()) };
        let found = ask(&program, |_| true, &["-DRUNS", "-DTURNS"]);
        for (property, expected) in asked.properties.iter().zip(answers) {
            let claims: Vec<_> = found.iter().filter(|(claim, _)| claim.property == property.name).collect();
            let Some(expected) = expected else { continue };
            let holds = claims.iter().all(|(_, answer)| answer.holds);
            let counter = if expected { &n_holds } else { &n_violated };
            counter.set(counter.get() + 1);
            if holds != expected {
                let kind = property.kind.keyword();
                return Err(format!("{kind} {}: brute force says {expected}\n{}", property.name, program.text));
            }
        }
        Ok(())
    });
    println!("{} hold, {} are violated", n_holds.get(), n_violated.get());
    assert!(tried == 0 || n_holds.get() > 0 && n_violated.get() > 0);
}

#[test]
fn names_that_mean_something_elsewhere_are_no_problem() {
    if !tools_are_there() {
        return;
    }
    let text = "program init(N: 2..) {
        enum Word { chan, mtype, EOF, NULL }
        shared byte: 0..=3;
        shared now: bool = any;
        shared error: [0..=1; 2];
        shared taken: Word = EOF;
        shared linux: pid?;
        shared P_0: lock;
        process P[pid_i in 0..<N] {
            local started: bool;
            public state: 0..=2 = 1;
            accept: byte = min(byte + 1, 3);
            progress: error[pid_i % 2] = 1;
            endless: taken = mtype;
            proctype: linux = pid_i;
            atomic_: started = !started;
            d_step: state = 2;
            timeout: acquire P_0;
            goto_: release P_0;
        }
        process printf { last: now = !now; }
        invariant int: byte <= 3;
        invariant ltl: error[0] <= 1 && P_0.owner != none => taken != chan;
        reachable main: taken == mtype && linux == 1 && error[1] == 1;
        property never_: eventually (forall k: P[k].state == 2) under every P[*], every printf;
        property P_0_at: eventually byte == 3 expect violated;
    }";
    let one = crate::common::load("hostile.pw", text, &[]);
    let program = promela::program(&one.model, &one.source).unwrap();
    assert_eq!(check(&one, &program), Vec::<String>::new());
}
