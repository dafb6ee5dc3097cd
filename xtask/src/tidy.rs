//! `cargo xtask tidy`: the rules of the house that a compiler does not know.
//!
//! In: the files of the project. Out: one finding a line, `path:line: what to do`, and status 1 if there is any. Each rule is
//! a function from texts to findings, so that its tests can break it on purpose.

mod checker;
mod codes;
mod documents;
mod edges;
mod names;
mod sources;
mod tree;

use std::fmt;
use std::path::Path;
use std::process::ExitCode;

use tree::TextTree;

/// Something that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TidyFinding {
    /// The file, from the root of the project.
    path: String,
    /// The line, from 1; 0 for the file as a whole.
    line: usize,
    /// What is wrong, and what to do.
    what: String,
}

impl TidyFinding {
    fn new(path: &str, line: usize, what: impl Into<String>) -> Self {
        TidyFinding { path: path.to_owned(), line, what: what.into() }
    }
}

impl fmt::Display for TidyFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.what),
            line => write!(f, "{}:{line}: {}", self.path, self.what),
        }
    }
}

/// Checks everything and prints what it finds.
pub fn run(root: &Path) -> ExitCode {
    let tree = match TextTree::read(root) {
        Ok(tree) => tree,
        Err(error) => {
            eprintln!("tidy: {error}");
            return ExitCode::from(2);
        }
    };
    let mut findings = edges::check(&tree);
    findings.extend(sources::check(&tree));
    findings.extend(names::check(&tree));
    findings.extend(checker::check(&tree));
    findings.extend(codes::check(&tree));
    findings.extend(documents::check(&tree, &cli::options::command()));
    findings.sort();
    findings.iter().for_each(|finding| println!("{finding}"));
    let (n_rust, n_documents) = (tree.rust_files().count(), tree.documents().count());
    println!("tidy: {n_rust} source files, {n_documents} documents, {} findings", findings.len());
    ExitCode::from(u8::from(!findings.is_empty()))
}
