//! The documents of a call, also of one that could not be done, or that a limit ended: what came of programs, and what is wrong, in the words of each format.
//!
//! In: what came of programs, the messages, which are on the standard error, too, and the exit status. Out: a text; none in formats for people, and none where events were written as they happened.

use std::env;
use std::path::PathBuf;

use lang::codes;
use report::sarif::{self, CodeText};
use report::{Item, csv, explore, github, graph, json, junit, proof_check};

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
            DocumentKind::Check(format) => return document(format, &[], messages, status),
            DocumentKind::Explore => json::value_of(&explore::failed(messages, status.code())),
            DocumentKind::Graph => json::value_of(&graph::failed(messages, status.code())),
            DocumentKind::ProofCheck => json::value_of(&proof_check::failed(messages, status.code())),
        };
        Some(format!("{value:#}\n"))
    }
}

/// The document of `check` in a format for scripts: what came of programs, and what is wrong with the call, if something is.
pub fn document(format: CheckFormat, items: &[Item<'_>], messages: &[String], status: ExitStatus) -> Option<String> {
    let directory = env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    match format {
        // Events were written when they happened.
        CheckFormat::Human | CheckFormat::Jsonl => None,
        CheckFormat::Json => Some(format!("{:#}\n", json::value_of(&json::failed(items, messages, status.code())))),
        CheckFormat::Csv => Some(csv::failed(items, messages)),
        CheckFormat::Junit => Some(junit::failed(items, messages)),
        CheckFormat::Github => Some(github::failed((items, &directory), messages)),
        CheckFormat::Sarif => {
            let arguments: Vec<String> =
                env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
            let call = sarif::Call {
                items,
                errors: messages,
                directory: &directory,
                arguments: &arguments,
                exit_status: status.code(),
                explain: &explain,
            };
            Some(format!("{:#}\n", sarif::document(&call)))
        }
    }
}

fn explain(code: &str) -> Option<CodeText> {
    codes::find(code).map(|row| CodeText { title: row.title, explanation: row.explanation })
}
