//! `cargo xtask bench auto`: the default method beside every single one.
//!
//! In: every property of the examples at their least sizes and at larger ones, as far as some single method answers within 2 s, and the BEEM models where they are there. Out: how often
//! `auto` took more than twice the best single method and 50 ms of the processor, the questions for which it did, and the slowest ones. Every method is asked that could show that
//! it was too slow: with the time that it had to answer in. A sample (`--sample 60 --seed 1`) takes some of the questions by chance. A verdict that differs from that of `auto` ends the benchmark.

mod settings;
mod table;

use std::path::Path;
use std::process::ExitCode;

use base::SourceFile;
use model::Model;

use super::binary::{Binary, BinaryCall};
use super::document;
use settings::{AutoSettings, Sample};
use table::{AutoRow, section};

/// Twice the best single method, and this.
const ALLOWED_SECONDS: f64 = 0.05;

/// After so many seconds `auto` is given up.
const PATIENCE_SECONDS: f64 = 20.0;

/// What no single method answers in so many seconds is not counted, nor asked at larger sizes.
const SINGLE_SECONDS: f64 = 2.0;

/// Limits are on the clock, and a machine that does other things takes so many times as long.
const BUSY: f64 = 3.0;

/// Sizes beside the least one, of programs whose parameter is N.
const SIZES: [i64; 5] = [4, 8, 16, 40, 100];

/// The BEEM models of the benchmark.
const BEEM: [&str; 16] = [
    "leader_filters.4",
    "synapse.2",
    "lamport.2",
    "msmie.3",
    "peterson.3",
    "cyclic_scheduler.3",
    "phils.4",
    "collision.3",
    "mcs.3",
    "brp.3",
    "iprotocol.3",
    "peterson.4",
    "szymanski.3",
    "at.3",
    "phils.6",
    "anderson.4",
];

/// A property of a program.
struct AutoQuestion {
    file: String,
    property: String,
    /// N, where it is not the least one.
    size: Option<i64>,
}

impl AutoQuestion {
    /// Whether it is another one at a larger size.
    fn is_larger_than(&self, other: &AutoQuestion) -> bool {
        (&self.file, &self.property) == (&other.file, &other.property) && self.size > other.size
    }
}

/// Runs the benchmark as its arguments say, prints its table, and writes it down if asked to.
pub fn run(root: &Path, arguments: &[&str]) -> ExitCode {
    match AutoSettings::parse(arguments) {
        Ok(settings) => document::finish(root, "auto", measure_all(root, settings.sample), settings.writes),
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::from(2)
        }
    }
}

fn measure_all(root: &Path, sample: Option<Sample>) -> Result<String, String> {
    let binary = Binary::build(root)?;
    let questions = questions(root)?;
    let rows = match sample {
        Some(sample) => {
            let drawn = sample.order(questions.into_iter().flatten().collect());
            in_reach(&binary, drawn, sample.n_questions)?
        }
        None => {
            let mut rows = Vec::new();
            for sizes in questions {
                for asked in sizes {
                    let row = measure(&binary, asked)?;
                    if row.is_out_of_reach() {
                        break;
                    }
                    rows.push(row);
                }
            }
            rows
        }
    };
    Ok(section(rows, sample))
}

/// The first so many that some method answers in time; what none does is not asked at larger sizes.
fn in_reach(binary: &Binary, drawn: Vec<AutoQuestion>, n_questions: usize) -> Result<Vec<AutoRow>, String> {
    let (mut rows, mut out_of_reach): (Vec<AutoRow>, Vec<AutoRow>) = (Vec::new(), Vec::new());
    for asked in drawn {
        if rows.len() == n_questions {
            break;
        }
        if out_of_reach.iter().any(|smaller| asked.is_larger_than(&smaller.asked)) {
            continue;
        }
        let row = measure(binary, asked)?;
        let is_out_of_reach = row.is_out_of_reach();
        if is_out_of_reach { &mut out_of_reach } else { &mut rows }.push(row);
    }
    Ok(rows)
}

/// Every property of every program, at one size after the other.
fn questions(root: &Path) -> Result<Vec<Vec<AutoQuestion>>, String> {
    let mut files: Vec<String> = std::fs::read_dir(root.join("examples"))
        .map_err(|error| format!("examples: {error}"))?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".pw"))
        .map(|name| format!("examples/{name}"))
        .collect();
    files.sort();
    let beem = BEEM.iter().map(|name| format!("../shared/beem/models/{name}.dve"));
    let (there, missing): (Vec<String>, Vec<String>) = beem.partition(|file| root.join(file).is_file());
    if !missing.is_empty() {
        eprintln!("bench: {} BEEM models are not here, and left out", missing.len());
    }
    files.extend(there);
    let mut asked = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(root.join(&file)).map_err(|error| format!("{file}: {error}"))?;
        let least = load(&file, &text)?;
        let n = least.parameters.iter().find(|parameter| parameter.name == "N");
        let is_larger = |size: i64| n.is_some_and(|n| size > n.value && n.greatest.is_none_or(|most| size <= most));
        let larger = SIZES.into_iter().filter(|&size| is_larger(size));
        let sizes: Vec<Option<i64>> = std::iter::once(None).chain(larger.map(Some)).collect();
        for property in &least.properties {
            let at = |&size: &Option<i64>| AutoQuestion { file: file.clone(), property: property.name.clone(), size };
            asked.push(sizes.iter().map(at).collect());
        }
    }
    Ok(asked)
}

pub(super) fn load(file: &str, text: &str) -> Result<Model, String> {
    let loaded = lang::load(&SourceFile::new(file, text), &[]);
    loaded.map(|loaded| loaded.model).map_err(|refused| format!("{file}: {:?}", refused.first()))
}

fn measure(binary: &Binary, asked: AutoQuestion) -> Result<AutoRow, String> {
    eprintln!("bench: {} {} {:?}", asked.file, asked.property, asked.size);
    let call = |method: &'static str, seconds: f64| {
        let size = asked.size.map(|size| format!("-N{size}"));
        let parameters = std::iter::once(String::from("-q")).chain(size).collect();
        let (file, property) = (asked.file.clone(), asked.property.as_str());
        BinaryCall { file, property, method, parameters, seconds: BUSY * seconds }
    };
    let auto = binary.run(&call("auto", PATIENCE_SECONDS))?;
    let mut best: Option<(&'static str, f64)> = None;
    // No method can be fast enough to show that this was slow.
    if auto.cpu_seconds > ALLOWED_SECONDS {
        // What won the race is asked first: the others have no more time than that takes.
        let (winner, others): (Vec<_>, Vec<_>) = single_methods().partition(|&name| name == auto.method);
        for method in winner.into_iter().chain(others) {
            let limit = best.map_or(auto.cpu_seconds.min(SINGLE_SECONDS), |(_, seconds)| seconds);
            let asked_alone = call(method, PATIENCE_SECONDS);
            let Some(first) = binary.run_within(&asked_alone, limit)? else { continue };
            if first.verdict == "unknown" {
                continue;
            }
            if auto.verdict != "unknown" && first.verdict != auto.verdict {
                let (file, property) = (&asked.file, &asked.property);
                return Err(format!("{file} {property}: {} by auto, {} by {method}", auto.verdict, first.verdict));
            }
            let ran = binary.run_again(&asked_alone, first)?;
            if ran.cpu_seconds < limit {
                best = Some((method, ran.cpu_seconds));
            }
        }
    }
    let row = AutoRow { asked, auto, best };
    if row.is_too_slow() {
        eprint!("bench: too slow: {}", row.line());
    }
    Ok(row)
}

/// Every method but `auto`.
pub(super) fn single_methods() -> impl Iterator<Item = &'static str> {
    driver::methods::available().map(|method| method.name).filter(|&name| name != "auto")
}
