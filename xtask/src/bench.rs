//! Benchmarks, as `cargo xtask bench NAME`; each writes its section of `docs/benchmarks.md`.
//!
//! `auto` compares the default method with all others, and `auto --learn` makes its table of shares. `safety` and `liveness` measure local proofs, `beem` the BEEM models, `pushdown` path edges, `promela` Promela models beside SPIN, `reduction` reduced searches beside whole ones, `instructions` what callgrind counts, `hosts` one search in several processes; see there. `mono` measures the whole-product search beside SPIN's, on the same graphs.
//!
//! In: the programs of `examples/` that have twins in `benches/spin/`. Out: a table of states, states per second and bytes
//! per state of both tools, on the terminal, and with `--write` in `docs/benchmarks.md`. States and transitions must be
//! equal, or the benchmark fails. Without SPIN, Piecewise is measured alone, and that is said.

mod aims;
pub mod auto;
pub mod beem;
mod binary;
mod clock;
mod document;
mod fair_spin;
pub mod hosts;
pub mod instructions;
pub mod learn;
pub mod liveness;
mod machine;
mod mono_table;
mod neighbours;
mod papers;
mod piecewise;
pub mod promela;
pub mod pushdown;
pub mod question;
pub mod reduction;
pub mod safety;
mod spin;
pub mod views;

use std::path::Path;
use std::process::ExitCode;

use mono_table::MonoRow;
use piecewise::Piecewise;
use spin::{Reduction, Spin};

/// A protocol, its size, and the options with which SPIN searches it.
pub struct BenchCase {
    /// The name of the program and of its twin.
    model: &'static str,
    /// The number of processes.
    size: u32,
    /// The depth of SPIN's stack.
    depth: u32,
    /// The logarithm of the size of SPIN's hash table.
    table_bits: u32,
}

const CASES: [BenchCase; 5] = [
    BenchCase { model: "filter", size: 5, depth: 100_000, table_bits: 20 },
    BenchCase { model: "philosophers", size: 8, depth: 300_000, table_bits: 19 },
    BenchCase { model: "philosophers", size: 10, depth: 6_000_000, table_bits: 23 },
    BenchCase { model: "mux_sem", size: 16, depth: 300_000, table_bits: 21 },
    BenchCase { model: "szymanski", size: 6, depth: 10_000, table_bits: 20 },
];

/// What one search of one tool took.
#[derive(Clone, Copy, Debug)]
struct Measured {
    states: u64,
    transitions: u64,
    /// Processor time of all threads, where the system reports it, else time on the clock.
    cpu_seconds: f64,
    /// Time on the clock.
    seconds: f64,
    /// What the states and their table take.
    bytes: u64,
}

/// Runs the benchmark of this name.
pub fn run(root: &Path, name: &str, writes: bool) -> ExitCode {
    match name {
        "mono" => run_mono(root, writes),
        "safety" => question::run(&safety::SAFETY, root, writes),
        "liveness" => question::run(&liveness::LIVENESS, root, writes),
        "beem" => beem::run(root, writes),
        "pushdown" => pushdown::run(root, writes),
        "instructions" => instructions::run(root, writes),
        "hosts" => hosts::run(root, writes),
        "views" => views::run(root, writes),
        "promela" => promela::run(root, writes),
        "reduction" => reduction::run(root, writes),
        _ => {
            eprintln!(
                "bench: there is no `{name}`; there are auto, mono, safety, liveness, beem, pushdown, instructions, hosts, views, promela and reduction"
            );
            ExitCode::from(2)
        }
    }
}

/// Runs the benchmark, prints its table, and writes it down if asked to.
fn run_mono(root: &Path, writes: bool) -> ExitCode {
    match measure_all(root) {
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
        Ok(rows) => {
            let text = mono_table::section(&rows, &machine::describe());
            println!("\n{text}");
            if writes && let Err(error) = document::write(root, "mono", &text) {
                eprintln!("bench: {error}");
                return ExitCode::FAILURE;
            }
            ExitCode::SUCCESS
        }
    }
}

fn measure_all(root: &Path) -> Result<Vec<MonoRow>, String> {
    let spin = Spin::find(root);
    if let Err(missing) = &spin {
        eprintln!("bench: {missing}; Piecewise is measured alone");
    }
    let mut rows = Vec::new();
    for case in &CASES {
        eprintln!("bench: {} N = {}", case.model, case.size);
        let piecewise = Piecewise::load(root, case)?;
        let row = MonoRow {
            name: format!("{} N = {}", case.model, case.size),
            one: piecewise.measure(1)?,
            two: piecewise.measure(2)?,
            spin: spin.as_ref().ok().map(|spin| spin.measure(case, Reduction::None)).transpose()?,
        };
        row.check()?;
        rows.push(row);
    }
    Ok(rows)
}

/// Measures until the times are long enough to be no noise; the mean.
fn repeatedly(mut measure: impl FnMut() -> Result<Measured, String>) -> Result<Measured, String> {
    const ENOUGH_SECONDS: f64 = 1.0;
    const MOST_RUNS: usize = 10;
    let mut runs = vec![measure()?];
    while runs.iter().map(|run| run.cpu_seconds).sum::<f64>() < ENOUGH_SECONDS && runs.len() < MOST_RUNS {
        runs.push(measure()?);
    }
    let mean = |part: fn(&Measured) -> f64| runs.iter().map(part).sum::<f64>() / runs.len() as f64;
    // The clock counts hundredths: runs that take less together are taken for one.
    let cpu_seconds = mean(|run| run.cpu_seconds).max(0.01 / runs.len() as f64);
    Ok(Measured { cpu_seconds, seconds: mean(|run| run.seconds), ..runs[0] })
}
