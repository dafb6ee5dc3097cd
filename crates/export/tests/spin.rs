//! SPIN's verdicts on exported programs are those of their authors, and of brute force.
//!
//! Skipped, in words, where SPIN or a C compiler is missing. `PIECEWISE_CASES` sets how many examples are tried.

#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;
use std::process::Command;

use common::{Example, example, examples, is_there, n_cases};
use export::promela::{self, Claim, Program, Runs};
use model::property::{Expected, PropertyKind};

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
fn ask(program: &Program, wanted: impl Fn(&Claim) -> bool, defines: &[&str]) -> Vec<(Claim, Answer)> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("model.pml"), &program.text).unwrap();
    let mut arguments = defines.to_vec();
    arguments.extend(["-a", "model.pml"]);
    let said = run(folder.path(), "spin", &arguments);
    assert!(!said.contains("Error") && !said.contains("syntax error"), "{said}\n{}", program.text);
    run(folder.path(), "gcc", &["-w", "-O0", "-DNOREDUCE", "-o", "pan", "pan.c"]);
    let asked: Vec<&Claim> = program.claims.iter().filter(|claim| wanted(claim)).collect();
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
fn compare(example: &Example, program: &Program, answers: &[(Claim, Answer)]) -> Vec<String> {
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

fn check(example: &Example, program: &Program) -> Vec<String> {
    let is_real = |claim: &Claim| claim.runs == Runs::Real;
    let needs = |runs: Runs| program.claims.iter().any(|claim| claim.runs == runs);
    let defines: &[&str] = match () {
        () if needs(Runs::Turns) => &["-DRUNS", "-DTURNS"],
        () if needs(Runs::Standing) => &["-DRUNS"],
        () => &[],
    };
    let mut answers = ask(program, |claim| !is_real(claim), defines);
    if needs(Runs::Real) {
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
    let n_asked = n_cases(14);
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
        let asked = ask(&program, |claim| claim.property == "no_errors", &[]);
        let product = testkit::Product::explore(&one.model, 100_000).unwrap();
        assert_eq!(asked[0].1.n_states, product.states.len() as u64, "{name}");
    }
}
