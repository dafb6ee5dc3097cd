//! `cargo xtask campaign [CASES] [FIRST]`: the random comparisons of the tests, at length.
//!
//! In: how many random programs each comparison gets (20 000 unless told), and the first seed. Out: whether all agreed; a disagreement
//! is shrunk and shown by the test that found it, with the seed that makes it again. The comparisons are those tests that draw random
//! programs (`testkit::for_each_program`): a test file that does is found by its text.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// How many programs each comparison gets unless told.
const N_CASES: u64 = 20_000;

/// Runs all comparisons, in the order of the crates.
pub fn run(root: &Path, arguments: &[&str]) -> ExitCode {
    let numbers: Result<Vec<u64>, _> = arguments.iter().map(|text| text.parse()).collect();
    let (cases, first) = match numbers.as_deref() {
        Ok([]) => (N_CASES, 0),
        Ok([cases]) => (*cases, 0),
        Ok([cases, first]) => (*cases, *first),
        _ => {
            eprintln!("usage: cargo xtask campaign [CASES] [FIRST]");
            return ExitCode::from(2);
        }
    };
    let found = match comparisons(root) {
        Ok(found) => found,
        Err(error) => {
            eprintln!("campaign: {error}");
            return ExitCode::FAILURE;
        }
    };
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut failed = Vec::new();
    for (package, test) in &found {
        eprintln!("campaign: {package}, {test}: {cases} programs from seed {first} on");
        let status = Command::new(&cargo)
            .args(["test", "--release", "--package", package, "--test", test])
            .env("PIECEWISE_CASES", cases.to_string())
            .env("PIECEWISE_SEED", first.to_string())
            .current_dir(root)
            .status();
        if !status.is_ok_and(|status| status.success()) {
            failed.push(format!("{package}, {test}"));
        }
    }
    if failed.is_empty() {
        eprintln!("campaign: {} comparisons of {cases} programs each agree", found.len());
        return ExitCode::SUCCESS;
    }
    eprintln!("campaign: failed: {}", failed.join("; "));
    ExitCode::FAILURE
}

/// The tests that draw random programs: package and name.
fn comparisons(root: &Path) -> Result<Vec<(String, String)>, String> {
    let mut found = Vec::new();
    for package in entries(&root.join("crates"))? {
        let tests = package.join("tests");
        if !tests.is_dir() {
            continue;
        }
        for test in entries(&tests)? {
            let draws = std::fs::read_to_string(&test).is_ok_and(|text| text.contains("for_each_program("));
            if let (true, Some("rs"), Some(name)) =
                (draws, test.extension().and_then(|end| end.to_str()), test.file_stem().and_then(|name| name.to_str()))
            {
                let package = package.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                found.push((format!("piecewise-{package}"), name.to_owned()));
            }
        }
    }
    Ok(found)
}

/// What a folder contains, in order.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let listed = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths: Vec<PathBuf> = listed.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_comparisons_are_found() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is in the project");
        let found = comparisons(root).unwrap();
        let has = |package: &str, test: &str| found.contains(&(package.to_owned(), test.to_owned()));
        assert!(has("piecewise-explicit", "fair") && has("piecewise-explicit", "liveness"), "{found:?}");
    }
}
