//! `cargo xtask bench auto`: the default method beside every single one.
//!
//! In: every property of the examples at their least sizes, and the BEEM models where they are there. Out: how often `auto` took more than
//! twice the best single method and 50 ms, the questions for which it did, and the slowest ones. Every method is asked that could show that
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
const PATIENCE_SECONDS: f64 = 60.0;

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
        self.best.is_some_and(|(_, seconds)| self.auto.seconds > 2.0 * seconds + ALLOWED_SECONDS)
    }

    fn line(&self) -> String {
        let auto = format!("{:.2} s by `{}`", self.auto.seconds, self.auto.method);
        let best =
            self.best.map_or_else(|| String::from("none faster"), |(name, time)| format!("`{name}` {time:.2} s"));
        let name = Path::new(&self.asked.file).file_stem().unwrap_or_default().to_string_lossy();
        let mark = if self.is_too_slow() { " *" } else { "" };
        format!("| {name} | {} | {} | {auto}{mark} | {best} |\n", self.asked.property, self.auto.verdict)
    }
}

/// Runs the benchmark, prints its table, and writes it down if asked to.
pub fn run(root: &Path, writes: bool) -> ExitCode {
    document::finish(root, "auto", measure_all(root), writes)
}

fn measure_all(root: &Path) -> Result<String, String> {
    let binary = Binary::build(root)?;
    let mut rows = Vec::new();
    for asked in questions(root)? {
        eprintln!("bench: {} {}", asked.file, asked.property);
        rows.push(measure(&binary, asked)?);
    }
    Ok(section(rows))
}

/// Every property of every program.
fn questions(root: &Path) -> Result<Vec<AutoQuestion>, String> {
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
        for property in &load(&file, &text)?.properties {
            asked.push(AutoQuestion { file: file.clone(), property: property.name.clone() });
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
        binary.run(&BinaryCall { file, property, method, parameters: vec![String::from("-q")], seconds })
    };
    let auto = run("auto", PATIENCE_SECONDS)?;
    let mut best: Option<(&'static str, f64)> = None;
    // No method can be fast enough to show that this was slow.
    if auto.seconds > ALLOWED_SECONDS {
        for method in single_methods() {
            let limit = best.map_or(auto.seconds, |(_, seconds)| seconds);
            let ran = run(method, limit)?;
            if ran.verdict == "unknown" {
                continue;
            }
            if auto.verdict != "unknown" && ran.verdict != auto.verdict {
                let (file, property) = (&asked.file, &asked.property);
                return Err(format!("{file} {property}: {} by auto, {} by {method}", auto.verdict, ran.verdict));
            }
            if ran.seconds < limit {
                best = Some((method, ran.seconds));
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
    let n_at_once = rows.iter().filter(|row| row.auto.seconds <= ALLOWED_SECONDS).count();
    let n_open = rows.iter().filter(|row| row.auto.verdict == "unknown").count();
    let mut text = format!(
        "## The default method beside all others\n\n`cargo xtask bench auto`, on {}. Every property of every example at its \
        least size, and of {} BEEM models, {} questions in all: `auto` answers {n_at_once} of them within 50 ms. {} It takes more than twice the best single method and \
        50 ms for {n_slow}, marked `*`. Seconds are of the whole command, with the audit; the slowest:\n\n\
        | program | property | verdict | `auto` | best single method |\n|---|---|---|--:|--:|\n",
        machine::describe(),
        BEEM.len(),
        rows.len(),
        if n_open == 0 {
            String::from("None is left open.")
        } else {
            format!("{n_open} are left open after a minute.")
        },
    );
    rows.sort_by(|one, other| {
        (other.is_too_slow(), other.auto.seconds)
            .partial_cmp(&(one.is_too_slow(), one.auto.seconds))
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
        let asked = || AutoQuestion { file: "examples/lock.pw".to_owned(), property: "mutex".to_owned() };
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
                .contains("| lock | mutex | holds | 0.26 s by `mono` * | `tmmc` 0.10 s |")
        );
    }
}
