//! NuSMV's verdicts on exported programs are those of their authors. Skipped, in words, where NuSMV is not installed.

use std::process::Command;

use crate::common::{Example, examples, is_there, n_cases};
use base::SourceFile;
use export::{TargetLanguage, export};
use model::property::{Expected, PropertyKind};
use testkit::samples::add_property;
use testkit::temporal::with_temporal;
use testkit::{Product, RandomFeatures};

/// What NuSMV says of each property, in its order; `None` where that takes too long.
fn verdicts(text: &str) -> Option<Vec<bool>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.smv");
    std::fs::write(&path, text).unwrap();
    let script = folder.path().join("script");
    // Checked by name: asked for all at once, NuSMV chooses its own order.
    let name = |line: &str| Some(line.split_once(" NAME ")?.1.split_once(" := ")?.0.to_owned());
    let checks: String = text
        .lines()
        .filter(|line| line.starts_with("LTLSPEC") || line.starts_with("INVARSPEC"))
        .filter_map(name)
        .map(|name| format!("check_property -P {name}\n"))
        .collect();
    let commands = format!("set input_file {}\ngo\n{checks}quit\n", path.display());
    std::fs::write(&script, commands).unwrap();
    let output = Command::new("timeout").args(["20", "NuSMV", "-dcx", "-source"]).arg(&script).output().unwrap();
    if output.status.code() == Some(124) {
        return None;
    }
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{text}");
    // A long formula goes over several lines; its verdict is at the end of the last one.
    let mut found = Vec::new();
    let mut is_open = false;
    for line in said.lines() {
        is_open |= line.starts_with("-- invariant") || line.starts_with("-- specification");
        if is_open && (line.ends_with("is true") || line.ends_with("is false")) {
            found.push(line.ends_with("is true"));
            is_open = false;
        }
    }
    Some(found)
}

fn check(one: &Example) -> Vec<String> {
    let Ok(text) = export(&one.model, &one.source, TargetLanguage::Smv) else { return Vec::new() };
    let Some(answers) = verdicts(&text) else {
        println!("{}: not decided in time", one.name);
        return Vec::new();
    };
    if answers.len() != one.model.properties.len() {
        return vec![format!("{}: {} answers to {} properties", one.name, answers.len(), one.model.properties.len())];
    }
    let differs = |(property, answer): (&model::property::Property, &bool)| {
        let holds = answer ^ matches!(property.kind, PropertyKind::Reachable(_));
        (holds != (property.expected == Expected::Holds)).then(|| format!("{}: {}: {answer}", one.name, property.name))
    };
    one.model.properties.iter().zip(&answers).filter_map(differs).collect()
}

#[test]
fn examples_have_the_verdicts_that_their_authors_expect() {
    if !is_there("NuSMV", "-h") {
        return;
    }
    let only = std::env::var("PIECEWISE_EXAMPLE").unwrap_or_default();
    let all: Vec<Example> = examples().into_iter().filter(|one| one.name.contains(&only)).collect();
    let step = all.len().div_ceil(n_cases(14)).max(1);
    let wrong: Vec<String> = all.iter().step_by(step).flat_map(check).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn random_programs_have_the_verdicts_of_brute_force() {
    if !is_there("NuSMV", "-h") {
        return;
    }
    testkit::for_each_program(20, RandomFeatures { n_statements: 3, ..RandomFeatures::everything() }, |_, model| {
        let Some(product) = Product::explore(model, 60) else { return Ok(()) };
        let mut asked = with_temporal(model, product.states.len() as u64 * 7 + model.places.len() as u64, 3);
        add_property(&mut asked, "no_errors", PropertyKind::NoErrors);
        add_property(&mut asked, "deadlock_free", PropertyKind::DeadlockFree);
        let Ok(text) = export(&asked, &SourceFile::new("random.pw", ""), TargetLanguage::Smv) else { return Ok(()) };
        let Some(answers) = verdicts(&text) else { return Ok(()) };
        let (runs, states) = answers.split_at(answers.len() - 2);
        if states != [product.n_faults() == 0, product.deadlocks.is_empty()] {
            return Err(format!("errors and deadlocks: NuSMV says {states:?}\n{text}"));
        }
        for (property, &answer) in asked.properties.iter().zip(runs) {
            let PropertyKind::Temporal(formula) = &property.kind else { continue };
            let violated = audit::temporal::is_violated(&asked, &product.states, formula, &property.under);
            if let Ok(Some(violated)) = violated
                && violated == answer
            {
                return Err(format!("{}: NuSMV says {answer}\n{text}", property.name));
            }
        }
        Ok(())
    });
}

/// What is stored in a byte keeps its lowest bits, which is a remainder in SMV; other operators on bits are refused.
#[test]
fn numbers_that_are_cut_to_bits_are_remainders() {
    let read = |body: &str| {
        let source = SourceFile::new("m.pml", format!("byte x; short s; active proctype P() {{ do :: {body} od }}"));
        let loaded = lang::promela::load(&source, &[], &lang::promela::Reading::default()).expect("it is read");
        export(&loaded.model, &source, TargetLanguage::Smv)
    };
    let text = read("x++; s = s - 1").expect("bytes wrap");
    assert!(text.contains("((((x + 1) mod 256) + 256) mod 256)"), "{text}");
    assert!(text.contains("mod 65536)"), "{text}");
    assert!(read("x = x ^ 3").is_err());
}
