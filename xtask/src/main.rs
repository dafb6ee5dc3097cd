//! Chores of the project, as `cargo xtask CHORE`.
//!
//! `tidy` checks the rules of the house that a compiler does not know; `bench` measures Piecewise beside other tools;
//! `beem` compares the BEEM models with the published numbers, `promela` the Promela models with SPIN's; `campaign` compares every method with brute force on random programs;
//! `fuzz` shows every reader mutated inputs.

mod beem;
mod bench;
mod campaign;
mod fuzz;
mod promela;
mod tidy;

use std::path::Path;
use std::process::ExitCode;

/// What is said where a call is wrong.
const USAGE: &str = "\
usage: cargo xtask tidy                   check the rules of the house
       cargo xtask bench auto [--sample K [--seed S]] [--write]
                                          measure `auto` beside every single method, on K questions by chance or on all
       cargo xtask bench auto --learn     measure the methods anew, and make the shares of `auto` of that
       cargo xtask bench mono [--write]   measure the whole-product search beside SPIN's
       cargo xtask bench safety [--write] measure local proofs beside the whole product
       cargo xtask bench liveness [--write] the same for temporal properties under fairness
       cargo xtask bench beem [--write]   measure searches and local graphs of the BEEM models
       cargo xtask bench pushdown [--write] measure path edges of programs with procedures
       cargo xtask bench views [--write]  measure proofs by views, for every size and for one
       cargo xtask bench promela [--write] measure searches of the largest Promela models beside SPIN's
       cargo xtask bench instructions [--write] count the instructions of ten questions
       cargo xtask bench hosts [--write]        measure one search in several threads and processes
       cargo xtask beem [LIMIT]            compare the BEEM models with the reference counts
       cargo xtask promela [LIMIT] [NAME]    compare the Promela models with SPIN's counts and verdicts
       cargo xtask promela random [COUNT] [SEED]  random programs against SPIN itself
       cargo xtask promela trails [COUNT] [SEED]  trails that SPIN prints of random programs, followed
       cargo xtask campaign [--programs N] [--seed S] [--profile P] [--method M] [--seconds T]
                                          every method on random programs against brute force
       cargo xtask fuzz all|TARGET [--seconds N]  the readers on mutated inputs
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the project");
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["tidy"] => tidy::run(root),
        ["beem"] => beem::run(root, None),
        ["beem", limit] => beem::run(root, Some(limit)),
        ["campaign", ref arguments @ ..] => campaign::run(root, arguments),
        ["fuzz", ref arguments @ ..] => fuzz::run(root, arguments),
        ["promela", ref arguments @ ..] => promela::run(root, arguments),
        ["bench", "auto", "--learn"] => bench::learn::run(root),
        ["bench", "auto", ref arguments @ ..] => bench::auto::run(root, arguments),
        ["bench", name] => bench::run(root, name, false),
        ["bench", name, "--write"] => bench::run(root, name, true),
        _ => {
            eprint!("{USAGE}");
            ExitCode::from(2)
        }
    }
}
