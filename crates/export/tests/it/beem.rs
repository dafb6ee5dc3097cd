//! Programs of the BEEM collection, where it is there: SPIN counts the states that brute force counts, and the text comes back through DVE.

use std::path::Path;
use std::process::Command;

use crate::common::{example, is_there, load};
use export::{TargetLanguage, export, promela};
use testkit::Product;
use testkit::skip::{Needs, skipped};

/// Small ones, with channels and without.
const MODELS: [&str; 7] = ["phils.1", "needham.1", "fischer.1", "train-gate.1", "bakery.2", "msmie.1", "collision.1"];

fn states_in_spin(text: &str, claim: &str) -> usize {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("model.pml"), text).unwrap();
    let run = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).current_dir(folder.path()).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    // Without -o2 SPIN leaves out variables that nobody reads.
    run("spin", &["-o2", "-a", "model.pml"]);
    run("gcc", &["-w", "-O0", "-DNOREDUCE", "-o", "pan", "pan.c"]);
    let said = run("./pan", &["-a", "-m1000000", "-N", claim]);
    let line = said.lines().find(|line| line.contains("states, stored")).unwrap_or_else(|| panic!("{said}\n{text}"));
    line.split_whitespace().next().unwrap().parse().unwrap()
}

#[test]
fn models_have_as_many_states_elsewhere() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/beem/models");
    if !folder.exists() {
        skipped(Needs::Data("beem"));
        return;
    }
    let spin_is_there = is_there("spin", "-V") && is_there("gcc", "--version");
    for name in MODELS {
        let path = folder.join(format!("{name}.dve"));
        let one = example(&path, &[]);
        let Some(product) = Product::explore(&one.model, 6_000) else {
            println!("skipped: {name} is too large for brute force");
            continue;
        };
        let back = export(&one.model, &one.source, TargetLanguage::Dve).unwrap_or_else(|why| panic!("{name}: {why:?}"));
        let again = Product::explore(&load("back.dve", &back, &[]).model, 6_000);
        assert_eq!(again.map(|again| again.states.len()), Some(product.states.len()), "{name} through DVE");
        let program = promela::program(&one.model, &one.source).unwrap_or_else(|why| panic!("{name}: {why:?}"));
        if spin_is_there && product.n_faults() == 0 {
            let claim = program.claims.iter().find(|claim| claim.property == "no_errors").unwrap();
            assert_eq!(states_in_spin(&program.text, &claim.name), product.states.len(), "{name} in SPIN");
        }
        println!("{name}: {} states", product.states.len());
    }
}
