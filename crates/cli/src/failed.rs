//! The documents of a call that could not be done, or that a limit ended: what is wrong, in the words of each format.
//!
//! In: the messages, which are on the standard error, too, and the exit status. Out: a text; none in formats for people, and none where events were written as they happened.

use std::env;
use std::path::PathBuf;

use base::StopReason;
use report::sarif;
use report::{csv, github, json, junit};

use crate::options::CheckFormat;
use crate::status::ExitStatus;

/// The document of a format.
pub fn document(format: CheckFormat, messages: &[String], status: ExitStatus) -> Option<String> {
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

/// The document of a command other than `check` that a limit ended: what it says in any case, and why it says no more.
pub fn ended(begun: &serde_json::Value, reason: &StopReason, why: &str) -> String {
    let mut document = begun.clone();
    document["reason"] = serde_json::json!({ "code": reason.code(), "text": why });
    format!("{document:#}\n")
}
