//! What the tests of exports share: programs, and where other tools are.

#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::Command;

use base::SourceFile;
use model::Model;
use testkit::skip::{Needs, skipped};

/// A program of `examples/`, with some parameters.
pub struct Example {
    pub name: String,
    pub source: SourceFile,
    pub model: Model,
}

/// All examples at the least values of their parameters.
pub fn examples() -> Vec<Example> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|suffix| suffix == "pw"));
    paths.sort();
    paths.iter().map(|path| example(path, &[])).collect()
}

/// One program file.
pub fn example(path: &Path, parameters: &[(String, i64)]) -> Example {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    load(&name, &std::fs::read_to_string(path).unwrap(), parameters)
}

/// A program in some language, by the suffix of its name.
pub fn load(name: &str, text: &str, parameters: &[(String, i64)]) -> Example {
    let source = SourceFile::new(name, text);
    let loaded = lang::load(&source, parameters).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
    Example { name: name.to_owned(), source, model: loaded.model }
}

/// Whether a program can be run; says so where it cannot.
pub fn is_there(program: &str, argument: &str) -> bool {
    let found = Command::new(program).arg(argument).output().is_ok();
    if !found {
        skipped(Needs::Program(program));
    }
    found
}

/// How many cases a campaign has: `PIECEWISE_CASES`, or so many.
pub fn n_cases(usual: usize) -> usize {
    std::env::var("PIECEWISE_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}
