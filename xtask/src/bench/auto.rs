//! `cargo xtask bench auto`: the default method beside every single one.
//!
//! In: every property of the examples at their least sizes and at larger ones, as far as some single method answers within 2 s, and the BEEM models where they are there. Out: how often
//! `auto` took more than twice the best single method and 50 ms of the processor, the questions for which it did, and the slowest ones. Every method is asked that could show that
//! it was too slow: with the time that it had to answer in. A verdict that differs from that of `auto` ends the benchmark.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use base::SourceFile;
use model::Model;

use super::binary::{Binary, BinaryCall, Ran};
use super::{document, machine};

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

/// So many of the slowest questions are shown.
const MOST_ROWS: usize = 25;

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

/// What `auto` took, and the best single method that answered in less time.
struct AutoRow {
    asked: AutoQuestion,
    auto: Ran,
    best: Option<(&'static str, f64)>,
}

impl AutoRow {
    /// Whether some method was so much faster.
    fn is_too_slow(&self) -> bool {
        self.best.is_some_and(|(_, seconds)| self.auto.cpu_seconds > 2.0 * seconds + ALLOWED_SECONDS)
    }

    /// Whether nobody is known to answer it in time.
    fn is_out_of_reach(&self) -> bool {
        match self.best {
            Some((_, seconds)) => seconds > SINGLE_SECONDS,
            None => self.auto.verdict == "unknown" || self.auto.cpu_seconds > SINGLE_SECONDS,
        }
    }

    fn line(&self) -> String {
        let auto = match self.auto.verdict.as_str() {
            "unknown" => format!("{:.2} s", self.auto.cpu_seconds),
            _ => format!("{:.2} s by `{}`", self.auto.cpu_seconds, self.auto.method),
        };
        let best =
            self.best.map_or_else(|| String::from("none faster"), |(name, time)| format!("`{name}` {time:.2} s"));
        let name = Path::new(&self.asked.file).file_stem().unwrap_or_default().to_string_lossy();
        let mark = if self.is_too_slow() { " *" } else { "" };
        let size = self.asked.size.map_or_else(String::new, |size| size.to_string());
        format!("| {name} | {size} | {} | {} | {auto}{mark} | {best} |\n", self.asked.property, self.auto.verdict)
    }
}

/// Runs the benchmark, prints its table, and writes it down if asked to.
pub fn run(root: &Path, writes: bool) -> ExitCode {
    document::finish(root, "auto", measure_all(root), writes)
}

fn measure_all(root: &Path) -> Result<String, String> {
    let binary = Binary::build(root)?;
    let mut rows = Vec::new();
    for sizes in questions(root)? {
        for asked in sizes {
            eprintln!("bench: {} {} {:?}", asked.file, asked.property, asked.size);
            let row = measure(&binary, asked)?;
            if row.is_out_of_reach() {
                break;
            }
            rows.push(row);
        }
    }
    Ok(section(rows))
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
    let run = |method: &'static str, seconds: f64| {
        let (file, property) = (asked.file.clone(), asked.property.as_str());
        let size = asked.size.map(|size| format!("-N{size}"));
        let parameters = std::iter::once(String::from("-q")).chain(size).collect();
        let seconds = BUSY * seconds;
        binary.run(&BinaryCall { file, property, method, parameters, seconds })
    };
    let auto = run("auto", PATIENCE_SECONDS)?;
    let mut best: Option<(&'static str, f64)> = None;
    // No method can be fast enough to show that this was slow.
    if auto.cpu_seconds > ALLOWED_SECONDS {
        for method in single_methods() {
            let limit = best.map_or(auto.cpu_seconds.min(SINGLE_SECONDS), |(_, seconds)| seconds);
            let ran = run(method, limit)?;
            if ran.verdict == "unknown" {
                continue;
            }
            if auto.verdict != "unknown" && ran.verdict != auto.verdict {
                let (file, property) = (&asked.file, &asked.property);
                return Err(format!("{file} {property}: {} by auto, {} by {method}", auto.verdict, ran.verdict));
            }
            if ran.cpu_seconds < limit {
                best = Some((method, ran.cpu_seconds));
            }
        }
    }
    Ok(AutoRow { asked, auto, best })
}

/// Every method but `auto`.
pub(super) fn single_methods() -> impl Iterator<Item = &'static str> {
    driver::methods::available().map(|method| method.name).filter(|&name| name != "auto")
}

fn section(mut rows: Vec<AutoRow>) -> String {
    let n_slow = rows.iter().filter(|row| row.is_too_slow()).count();
    let is_slower =
        |row: &&AutoRow| row.best.is_some_and(|(_, seconds)| row.auto.cpu_seconds > 4.0 * seconds + ALLOWED_SECONDS);
    let n_slower = rows.iter().filter(is_slower).count();
    let n_at_once = rows.iter().filter(|row| row.auto.cpu_seconds <= ALLOWED_SECONDS).count();
    let n_open = rows.iter().filter(|row| row.auto.verdict == "unknown").count();
    let mut text = format!(
        "## The default method beside all others\n\n`cargo xtask bench auto`, on {}. Every property of every example at its \
        least size and at N = 4, 8, 16, 40 and 100 as far as some method answers within 2 s, and of {} BEEM models, {} questions in all: `auto` answers {n_at_once} of them within 50 ms. {} It takes more than twice the best single method and \
        50 ms for {n_slow}, marked `*`, and more than four times for {n_slower}. Seconds are of the processor, of the whole command, with the audit; the slowest:\n\n\
        | program | N | property | verdict | `auto` | best single method |\n|---|--:|---|---|--:|--:|\n",
        machine::describe(),
        BEEM.len(),
        rows.len(),
        if n_open == 0 { String::from("None is left open.") } else { format!("{n_open} are left open.") },
    );
    rows.sort_by(|one, other| {
        (other.is_too_slow(), other.auto.cpu_seconds)
            .partial_cmp(&(one.is_too_slow(), one.auto.cpu_seconds))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    for row in rows.iter().take(MOST_ROWS.max(n_slow)) {
        // Writing to a string does not fail.
        let _ = write!(text, "{}", row.line());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_slow_is_more_than_twice_the_best_and_a_moment() {
        let ran = |seconds| Ran {
            verdict: "holds".to_owned(),
            method: "mono".to_owned(),
            reason: None,
            audited: true,
            seconds,
            cpu_seconds: seconds,
            peak_bytes: None,
        };
        let asked =
            || AutoQuestion { file: "examples/lock.pw".to_owned(), property: "mutex".to_owned(), size: Some(8) };
        let row = |auto, best: Option<f64>| AutoRow {
            asked: asked(),
            auto: ran(auto),
            best: best.map(|time| ("tmmc", time)),
        };
        assert!(!row(0.24, Some(0.1)).is_too_slow());
        assert!(row(0.26, Some(0.1)).is_too_slow());
        assert!(!row(9.0, None).is_too_slow());
        assert!(
            section(vec![row(0.26, Some(0.1))])
                .contains("| lock | 8 | mutex | holds | 0.26 s by `mono` * | `tmmc` 0.10 s |")
        );
    }
}
