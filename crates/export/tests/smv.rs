//! NuSMV's verdicts on exported programs are those of their authors. Skipped, in words, where NuSMV is not installed.

#![allow(clippy::unwrap_used)]

mod common;

use std::process::Command;

use common::{Example, examples, is_there, n_cases};
use export::{Target, export};
use model::property::{Expected, PropertyKind};

/// What NuSMV says of each property, in its order; `None` where that takes too long.
fn verdicts(text: &str) -> Option<Vec<bool>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.smv");
    std::fs::write(&path, text).unwrap();
    let script = folder.path().join("script");
    let commands =
        "set input_file MODEL\ngo\ncheck_invar\ncheck_ltlspec\nquit\n".replace("MODEL", &path.to_string_lossy());
    std::fs::write(&script, commands).unwrap();
    let output = Command::new("timeout").args(["20", "NuSMV", "-dcx", "-source"]).arg(&script).output().unwrap();
    if output.status.code() == Some(124) {
        return None;
    }
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{text}");
    let verdict = |line: &str| {
        (line.starts_with("-- invariant") || line.starts_with("-- specification")).then(|| line.ends_with("is true"))
    };
    Some(said.lines().filter_map(verdict).collect())
}

fn check(one: &Example) -> Vec<String> {
    let Ok(text) = export(&one.model, &one.source, Target::Smv) else { return Vec::new() };
    let is_temporal = |kind: &PropertyKind| matches!(kind, PropertyKind::Temporal(_));
    let (runs, states): (Vec<_>, Vec<_>) =
        one.model.properties.iter().partition(|property| is_temporal(&property.kind));
    let Some(answers) = verdicts(&text) else {
        println!("{}: not decided in time", one.name);
        return Vec::new();
    };
    if answers.len() != one.model.properties.len() {
        return vec![format!("{}: {} answers to {} properties", one.name, answers.len(), one.model.properties.len())];
    }
    let differs = |(property, answer): (&&model::property::Property, &bool)| {
        let holds = answer ^ matches!(property.kind, PropertyKind::Reachable(_));
        (holds != (property.expected == Expected::Holds)).then(|| format!("{}: {}: {answer}", one.name, property.name))
    };
    states.iter().chain(&runs).zip(&answers).filter_map(differs).collect()
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
