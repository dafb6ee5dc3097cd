//! `cargo xtask bench instructions`: how many instructions ten questions take, as callgrind counts them.
//!
//! In: the released program, with one thread. Out: a table of millions of instructions, which do not depend on how busy the machine is, beside those that
//! `docs/benchmarks.md` has. A question that takes more than 3 % more than before fails the benchmark; with `--write` the new numbers are kept.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode};

use super::binary::Binary;
use super::document;

/// More than this is a loss.
const ALLOWED: f64 = 1.03;

/// The questions: the program, the property, the method, and the size where there is one.
const QUESTIONS: [(&str, &str, &str, Option<u32>); 10] = [
    ("mux_sem", "mutex", "mono", Some(12)),
    ("mux_sem", "mutex", "pairwise", Some(100)),
    ("szymanski", "mutex", "mono", Some(5)),
    ("szymanski", "mutex", "forward", Some(6)),
    ("philosophers", "neighbours", "tmmc", Some(50)),
    ("philosophers", "live", "mono", Some(5)),
    ("philosophers", "live", "global", Some(4)),
    ("philosophers", "deadlock_free", "stubborn", Some(6)),
    ("mux_sem_first", "live", "fll-b", Some(10)),
    ("recursive_lock", "mutex", "pushdown", None),
];

/// Runs the benchmark, prints its table, and writes it down if asked to.
pub fn run(root: &Path, writes: bool) -> ExitCode {
    match measure_all(root, writes) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether no question takes much more than before, or the new numbers were written.
fn measure_all(root: &Path, writes: bool) -> Result<bool, String> {
    let binary = Binary::build(root)?;
    let before = std::fs::read_to_string(root.join("docs/benchmarks.md")).map_err(|error| error.to_string())?;
    let mut text = String::from(
        "## Instructions\n\nMade by `cargo xtask bench instructions --write`: millions of instructions of the whole command with `-q -j 1`, counted by callgrind. \
         They do not depend on how busy the machine is; without writing, the command fails where a question takes more than 3 % more.\n\n\
         | program | N | property | method | million instructions |\n|---|--:|---|---|--:|\n",
    );
    let mut is_fine = true;
    for (name, property, method, size) in QUESTIONS {
        let millions = count(&binary, root, (name, property, method, size))?;
        let size = size.map_or(String::new(), |size| size.to_string());
        let key = format!("| {name} | {size} | {property} | {method} |");
        if let Some(known) = known(&before, &key).filter(|&known| millions > known * ALLOWED) {
            eprintln!("bench: {name} {property} by {method}: {millions:.1} million instructions, {known:.1} before");
            is_fine = false;
        }
        // Writing to a string does not fail.
        let _ = writeln!(text, "{key} {millions:.1} |");
    }
    println!("\n{text}");
    if writes {
        document::write(root, "instructions", &text)?;
    }
    Ok(is_fine || writes)
}

/// Millions of instructions that a question takes.
fn count(
    binary: &Binary,
    root: &Path,
    (name, property, method, size): (&str, &str, &str, Option<u32>),
) -> Result<f64, String> {
    let folder = tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
    let mut command = Command::new("valgrind");
    command.arg("--tool=callgrind").arg(format!("--callgrind-out-file={}", folder.path().join("out").display()));
    command.arg(binary.path()).arg("check").arg(format!("examples/{name}.pw"));
    command.args(["--property", property, "--method", method, "-q", "-j", "1"]);
    if let Some(size) = size {
        command.args(["-N", &size.to_string()]);
    }
    let ran = command.current_dir(root).output().map_err(|error| format!("valgrind cannot be run: {error}"))?;
    let said = String::from_utf8_lossy(&ran.stderr);
    collected(&said).ok_or_else(|| format!("callgrind does not say how much {name} took: {said}"))
}

/// `==42== Collected : 1234567`, in millions.
fn collected(said: &str) -> Option<f64> {
    let line = said.lines().find_map(|line| line.split_once("Collected : "))?;
    Some(line.1.trim().parse::<f64>().ok()? / 1e6)
}

/// What the document has in the row that begins so.
fn known(document: &str, key: &str) -> Option<f64> {
    let row = document.lines().find_map(|line| line.strip_prefix(key))?;
    row.trim_matches([' ', '|']).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_from_callgrind_and_from_the_document() {
        assert_eq!(collected("==42== \n==42== Collected : 1234500000\n"), Some(1234.5));
        assert_eq!(collected("nothing"), None);
        let document = "| mux_sem | 12 | mutex | mono | 512.5 |\n";
        assert_eq!(known(document, "| mux_sem | 12 | mutex | mono |"), Some(512.5));
        assert_eq!(known(document, "| mux_sem | 13 | mutex | mono |"), None);
    }
}
