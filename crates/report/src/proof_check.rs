//! What `proof check` says: whether every obligation of a proof holds, and which one does not.

use std::time::Duration;

use base::{SourceFile, StopReason};
use evidence::certificate::DischargedObligations;
use explain::names::parameters;
use model::Model;
use model::property::PropertyKind;
use serde_json::{Value as Json, json};

use crate::document::ObligationsDocument;
use crate::json::{parameters as parameters_json, reason, tool, value_of};
use crate::numbers::{counted, duration};
use crate::style::{Ink, Mark, Style};
use crate::text::{clean, hang};

/// A proof that was judged.
#[derive(Clone, Copy, Debug)]
pub struct Judged<'a> {
    /// The name of the proof's file.
    pub proof: &'a str,
    /// The program's text.
    pub source: &'a SourceFile,
    /// The program.
    pub model: &'a Model,
    /// What is proved.
    pub property: &'a str,
    /// The method that found the proof.
    pub method: &'a str,
    /// The judgement.
    pub outcome: Outcome<'a>,
    /// How long it took.
    pub time: Duration,
}

/// A judgement.
#[derive(Clone, Copy, Debug)]
pub enum Outcome<'a> {
    /// Every obligation holds; so many there were.
    Accepted(&'a DischargedObligations),
    /// One does not.
    DoesNotHold {
        /// What has to be so.
        obligation: &'a str,
        /// What is the case instead.
        finding: &'a str,
    },
    /// It was not judged.
    Undecided(&'a StopReason),
}

/// The judgement for people.
pub fn text(judged: &Judged<'_>, quiet: bool, style: &Style) -> String {
    let columns = style.width.min(80);
    let (mark, ink, head) = match judged.outcome {
        Outcome::Accepted(_) => {
            (Mark::Holds, Ink::Good, format!("proof accepted: {} {}", claim(judged), instance(judged)))
        }
        Outcome::DoesNotHold { .. } => {
            let head = format!("the proof does not hold: it does not show that {}", claim(judged));
            (Mark::Violated, Ink::Bad, head)
        }
        Outcome::Undecided(_) => (Mark::Unknown, Ink::Doubt, "the proof was not checked to the end".to_owned()),
    };
    let lead = format!("{} ", style.mark(mark));
    let head = hang(&lead, &clean(head.trim_end()), columns);
    let mut out: String = head.lines().map(|line| style.paint(ink, line) + "\n").collect();
    if quiet {
        return out;
    }
    match judged.outcome {
        Outcome::Accepted(obligations) => {
            out.push_str(&hang("  ", &obligation_words(obligations), columns));
            let done = format!("found by {}, checked without it in {}", clean(judged.method), duration(judged.time));
            out.push_str(&format!("  {}\n", style.paint(Ink::Dim, &done)));
        }
        Outcome::DoesNotHold { obligation, finding } => {
            out.push_str(&hang("  it has to be so:  ", &clean(obligation), columns));
            out.push_str(&hang("  it is not so:     ", &clean(finding), columns));
            out.push_str(&hang("  ", "this says nothing about the property: it may hold, with another proof", columns));
        }
        Outcome::Undecided(reason) => out.push_str(&hang("  ", &clean(&reason.to_string()), columns)),
    }
    out
}

/// `mutex holds`, `contend is never reached`.
fn claim(judged: &Judged<'_>) -> String {
    let property = judged.model.properties.iter().find(|property| property.name == judged.property);
    let is_goal = property.is_some_and(|property| matches!(property.kind, PropertyKind::Reachable(_)));
    format!("{} {}", judged.property, if is_goal { "is never reached" } else { "holds" })
}

/// `in mux_sem, N = 4`.
fn instance(judged: &Judged<'_>) -> String {
    let parameters = parameters(judged.model);
    let name = &judged.model.name;
    if parameters.is_empty() { format!("in {name}") } else { format!("in {name}, {parameters}") }
}

/// How many obligations of which kind there were.
pub fn obligation_words(obligations: &DischargedObligations) -> String {
    let DischargedObligations { symmetry, initiality, step, non_interference, implication, ranks } = *obligations;
    let parts = [
        (symmetry, "that processes are alike", "that processes are alike"),
        (initiality, "of initiality", "of initiality"),
        (step, "own step", "own steps"),
        (non_interference, "step of others", "steps of others"),
        (implication, "that implies the property", "that imply the property"),
        (ranks, "of ranks", "of ranks"),
    ];
    let parts = parts.into_iter().filter(|(number, ..)| *number > 0);
    let parts: Vec<String> = parts.map(|(number, one, many)| counted(number as u64, one, many)).collect();
    let total = counted(obligations.total() as u64, "obligation holds", "obligations hold");
    format!("{total}: {}", parts.join(", "))
}

/// The name of the document's shape.
pub const SCHEMA: &str = "piecewise-proof-check/1";

/// The judgement as a document, `piecewise-proof-check/1`.
pub fn document(judged: &Judged<'_>, status: u8) -> Json {
    let (verdict, obligations, failure, why) = match judged.outcome {
        Outcome::Accepted(obligations) => {
            ("accepted", value_of(&obligations_document(obligations)), Json::Null, Json::Null)
        }
        Outcome::DoesNotHold { obligation, finding } => {
            let failure = json!({ "obligation": obligation, "finding": finding });
            ("does-not-hold", Json::Null, failure, Json::Null)
        }
        Outcome::Undecided(stopped) => ("unknown", Json::Null, Json::Null, value_of(&reason(stopped))),
    };
    json!({
        "schema": SCHEMA,
        "status": status,
        "errors": [],
        "tool": value_of(&tool()),
        "proof": judged.proof,
        "model": judged.source.name(),
        "program": judged.model.name,
        "parameters": parameters_json(judged.model),
        "property": judged.property,
        "method": judged.method,
        "verdict": verdict,
        "accepted": verdict == "accepted",
        "obligations": obligations,
        "failure": failure,
        "reason": why,
        "seconds": judged.time.as_secs_f64(),
    })
}

/// The counts by kind.
pub fn obligations_document(obligations: &DischargedObligations) -> ObligationsDocument {
    ObligationsDocument {
        total: obligations.total(),
        symmetry: obligations.symmetry,
        initiality: obligations.initiality,
        step: obligations.step,
        non_interference: obligations.non_interference,
        implication: obligations.implication,
        ranks: obligations.ranks,
    }
}
