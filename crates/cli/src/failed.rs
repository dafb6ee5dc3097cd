//! The documents of a call that could not be done, or that a limit ended: what is wrong, in the words of each format.
//!
//! In: the messages, which are on the standard error, too, and the exit status. Out: a text; none in formats for people, and none where events were written as they happened.

use std::env;
use std::path::PathBuf;

use report::{csv, explore, github, graph, json, junit, proof_check, sarif};

use crate::options::CheckFormat;
use crate::status::ExitStatus;

/// Which document a place is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentKind {
    /// Of `check`, in a format.
    Check(CheckFormat),
    /// Of `explore`, in JSON.
    Explore,
    /// Of `graph`, in JSON.
    Graph,
    /// Of `proof check`, in JSON.
    ProofCheck,
}

impl DocumentKind {
    /// The document of a call that could not be done.
    pub fn failed(self, messages: &[String], status: ExitStatus) -> Option<String> {
        let value = match self {
            DocumentKind::Check(format) => return document(format, messages, status),
            DocumentKind::Explore => json::value_of(&explore::failed(messages, status.code())),
            DocumentKind::Graph => json::value_of(&graph::failed(messages, status.code())),
            DocumentKind::ProofCheck => json::value_of(&proof_check::failed(messages, status.code())),
        };
        Some(format!("{value:#}\n"))
    }
}

/// The document of `check` in a format.
fn document(format: CheckFormat, messages: &[String], status: ExitStatus) -> Option<String> {
    match format {
        CheckFormat::Human | CheckFormat::Jsonl => None,
        CheckFormat::Json => Some(format!("{:#}\n", json::value_of(&json::failed(messages, status.code())))),
        CheckFormat::Csv => Some(csv::failed(messages)),
        CheckFormat::Junit => Some(junit::failed(messages)),
        CheckFormat::Github => Some(github::failed(messages)),
        CheckFormat::Sarif => {
            let arguments: Vec<String> =
                env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
            let directory = env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
            let call = sarif::Call {
                items: &[],
                errors: messages,
                directory: &directory,
                arguments: &arguments,
                exit_status: status.code(),
                explain: &|_| None,
            };
            Some(format!("{:#}\n", sarif::document(&call)))
        }
    }
}
