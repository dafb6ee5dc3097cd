//! Path edges of programs with procedures: how many a second, what each takes, and how they grow.
//!
//! In: a program whose shared store, locals and frames can be made larger one by one, and Simple(n) of the paper. Out: a table with path
//! edges per second and bytes per path edge, and beside each step of growth what the bound `n G^3 L^3 F + n^2 G^2` would allow.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

use base::{Budget, SourceFile};
use model::Model;
use pushdown::{PathEdges, path_edges};

use super::clock::{ClockOwner, Stopwatch};
use super::{document, machine};

/// A program in which every procedure can be entered in every store, and stays there for every store and local.
const GROWING: &str = "program growing(N: 1.., G: 2.., L: 1.., F: 1..) {
  shared x: 0..<G;

  proc walk(f: 0..<F) {
    local l: 0..<L;

    loop {
      either { l = (l + 1) % L; }
      or     { x = (x + 1) % G; }
      or     { call walk((f + 1) % F); }
      or     { return; }
    }
  }

  process P[i in 0..<N] { call walk(0); }
}";

/// Threads, shared stores, locals, frames.
#[derive(Clone, Copy, Debug)]
struct PushdownSize {
    n: i64,
    g: i64,
    l: i64,
    f: i64,
}

impl PushdownSize {
    /// What the bound of the rules allows.
    fn bound(self) -> f64 {
        let [n, g, l, f] = [self.n, self.g, self.l, self.f].map(|number| number as f64);
        n * g.powi(3) * l.powi(3) * f + n * n * g * g
    }
}

struct PushdownRow {
    name: String,
    found: PathEdges,
    seconds: f64,
    /// How much more than the row before: path edges, time, the bound.
    growth: Option<(f64, f64, f64)>,
}

/// Runs the benchmark, prints its table, and writes it down if asked to.
pub fn run(root: &Path, writes: bool) -> ExitCode {
    document::finish(root, "pushdown", measure_all(root), writes)
}

fn measure_all(root: &Path) -> Result<String, String> {
    let base = PushdownSize { n: 2, g: 16, l: 8, f: 4 };
    let series: [(&str, Vec<PushdownSize>); 4] = [
        ("shared store", [16, 32, 64, 128].map(|g| PushdownSize { g, ..base }).to_vec()),
        ("locals", [8, 16, 32, 64].map(|l| PushdownSize { l, ..base }).to_vec()),
        ("frames", [4, 8, 16, 32].map(|f| PushdownSize { f, ..base }).to_vec()),
        ("threads", [2, 4, 8, 16].map(|n| PushdownSize { n, ..base }).to_vec()),
    ];
    let mut tables: Vec<(String, Vec<PushdownRow>)> = Vec::new();
    for (title, sizes) in series {
        let mut rows: Vec<PushdownRow> = Vec::new();
        let mut before: Option<PushdownSize> = None;
        for size in sizes {
            eprintln!("bench: {title}, {size:?}");
            let model = load("growing.pw", GROWING, &[("N", size.n), ("G", size.g), ("L", size.l), ("F", size.f)])?;
            let (found, seconds) = measure(&model)?;
            let growth = rows.last().zip(before).map(|(last, before)| {
                let edges = found.path_edges as f64 / last.found.path_edges as f64;
                (edges, seconds / last.seconds, size.bound() / before.bound())
            });
            let name = format!("n = {}, G = {}, L = {}, F = {}", size.n, size.g, size.l, size.f);
            rows.push(PushdownRow { name, found, seconds, growth });
            before = Some(size);
        }
        tables.push((format!("growing {title}"), rows));
    }
    let text = std::fs::read_to_string(root.join("examples/simple.pw")).map_err(|error| error.to_string())?;
    let mut simple = Vec::new();
    for n in [2, 3, 25, 50, 100, 200] {
        let (found, seconds) = measure(&load("simple.pw", &text, &[("N", n)])?)?;
        simple.push(PushdownRow { name: format!("Simple({n})"), found, seconds, growth: None });
    }
    Ok(section(&tables, &simple))
}

fn load(name: &str, text: &str, parameters: &[(&str, i64)]) -> Result<Model, String> {
    let given: Vec<(String, i64)> = parameters.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let loaded = lang::load(&SourceFile::new(name, text), &given);
    loaded.map(|loaded| loaded.model).map_err(|wrong| format!("{name}: {}", wrong[0].message))
}

/// Measures until the time is long enough to be no noise; the mean.
fn measure(model: &Model) -> Result<(PathEdges, f64), String> {
    const ENOUGH_SECONDS: f64 = 0.5;
    const MOST_RUNS: usize = 20;
    let (mut seconds, mut n_runs) = (0.0, 0);
    loop {
        let watch = Stopwatch::start(ClockOwner::Ours);
        let found = path_edges(model, &Budget::unlimited()).map_err(|stop| stop.to_string())?;
        seconds += watch.stop(ClockOwner::Ours).0;
        n_runs += 1;
        if seconds >= ENOUGH_SECONDS || n_runs == MOST_RUNS {
            return Ok((found, seconds / n_runs as f64));
        }
    }
}

fn section(tables: &[(String, Vec<PushdownRow>)], simple: &[PushdownRow]) -> String {
    let mut out = String::from("## Path edges of programs with procedures\n\n");
    let _ = writeln!(
        out,
        "`cargo xtask bench pushdown --write`, on {}; processor time of one thread. The program walks by recursion without end: `G` \
         shared stores, `L` locals and `F` frames, every procedure entered in every store. Beside the growth of path edges and time from \
         row to row stands what the bound n·G³·L³·F + n²·G² would allow.\n",
        machine::describe()
    );
    for (title, rows) in tables {
        let _ = writeln!(
            out,
            "| {title} | path edges | local states | seconds | path edges/s | bytes each | edges × | time × | bound × |"
        );
        out.push_str("|---|--:|--:|--:|--:|--:|--:|--:|--:|\n");
        for row in rows {
            let growth = row
                .growth
                .map_or("| | ".to_owned(), |(edges, time, bound)| format!("{edges:.1} | {time:.1} | {bound:.1}"));
            let _ = writeln!(
                out,
                "| {} | {} | {} | {:.4} | {:.1} million | {:.1} | {growth} |",
                row.name,
                row.found.path_edges,
                row.found.local_states,
                row.seconds,
                row.found.path_edges as f64 / row.seconds / 1e6,
                row.found.bytes as f64 / row.found.path_edges as f64,
            );
        }
        out.push('\n');
    }
    out.push_str("| the paper's example | local states each | guarantees each | seconds |\n|---|--:|--:|--:|\n");
    for row in simple {
        let n: u64 = row.name.trim_start_matches("Simple(").trim_end_matches(')').parse().unwrap_or(1);
        let _ = writeln!(
            out,
            "| {} | {} | {} | {:.4} |",
            row.name,
            row.found.local_states / n,
            row.found.guarantees / n,
            row.seconds
        );
    }
    out
}
