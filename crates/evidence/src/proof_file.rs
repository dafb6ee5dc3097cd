//! Certificates on disk: one JSON document, `piecewise-proof/5`.
//!
//! The head names the program, its parameters, a fingerprint of what the program means, the property and the method, so that a
//! proof of another program or instance is refused. Every id is beside the user's name for it, and both must agree with
//! the Model. A digest over the facts distinguishes a file that was edited or damaged from one that Piecewise wrote; a file without
//! one was written by hand. Whether the proof *holds* is for `audit` to say, and rests on neither.
//!
//! [`to_text`] and [`read`] are inverse to each other. A caller that has no Model yet asks [`ProofFile`] which one it needs.

mod fingerprint;
mod layout;
mod propagation_record;
mod pushdown_record;
mod ranks;
mod read;
mod record;

use std::fmt;

use model::Model;
use serde::Serialize;

use crate::Certificate;
use layout::ProofFormatter;
use record::ProofDocument;

pub use read::{ProofFile, read};

/// Files larger than this are refused.
pub const MOST_BYTES: usize = 1 << 30;

/// The name and version of the format.
pub const FORMAT: &str = "piecewise-proof/5";

/// Earlier versions, whose proofs did not say what a checker needs to know: which elements permutations move, which violation of a
/// property is meant, which part of it follows from which processes, and what the states of its automaton are.
const OLDER: [&str; 4] = ["piecewise-proof/1", "piecewise-proof/2", "piecewise-proof/3", "piecewise-proof/4"];

/// A certificate as text: one line for each point, column and row, so that files can be compared line by line.
pub fn to_text(model: &Model, certificate: &Certificate, method: &str) -> String {
    let mut document = ProofDocument::new(model, certificate, method);
    document.digest = Some(document.digest_of_claims());
    let mut out = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, ProofFormatter::default());
    document.serialize(&mut serializer).expect("plain data can be written to memory");
    out.push(b'\n');
    String::from_utf8(out).expect("JSON is UTF-8")
}

/// Why a file is not a certificate for the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProofError {
    /// It is larger than [`MOST_BYTES`].
    TooLarge(usize),
    /// It is not JSON, or ends too early.
    NotJson(String),
    /// It is JSON, and not a proof.
    NotAProof(String),
    /// It is a proof in an earlier version of the format.
    Older(String),
    /// It is a proof about another program or another instance of this one.
    AnotherProgram(String),
    /// It is about a property that the program does not have.
    NoSuchProperty(String),
    /// An id or name in it does not fit the program.
    DoesNotFit(String),
    /// It was changed after it was written.
    Edited,
}

impl fmt::Display for ProofError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProofError::TooLarge(size) => {
                write!(f, "the file has {} MB; proofs of more than {} MB are not read", size >> 20, MOST_BYTES >> 20)
            }
            ProofError::NotJson(what) => write!(f, "not a JSON file: {what}"),
            ProofError::NotAProof(what) => write!(f, "not a proof in the format {FORMAT}: {what}"),
            ProofError::Older(version) => write!(
                f,
                "the proof is written in the older format {version}, which left out what the checker needs; this version \
                 reads {FORMAT}: prove the property again with `check --proof`"
            ),
            ProofError::AnotherProgram(what) => write!(f, "the proof belongs to another program: {what}"),
            ProofError::NoSuchProperty(name) => {
                write!(f, "the proof is about `{name}`, which the program does not ask")
            }
            ProofError::DoesNotFit(what) => write!(f, "the proof does not fit the program: {what}"),
            ProofError::Edited => write!(f, "the proof was changed after it was written: its digest does not match"),
        }
    }
}

impl std::error::Error for ProofError {}

#[cfg(test)]
mod tests;
