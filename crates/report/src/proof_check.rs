//! What `proof check` says: whether every obligation of a proof holds, and which one does not.

use std::collections::BTreeMap;
use std::time::Duration;

use base::{SourceFile, StopReason};
use evidence::Scope;
use evidence::certificate::DischargedObligations;
use explain::names::parameters;
use model::Model;
use model::property::PropertyKind;
use schemars::{JsonSchema, Schema, schema_for};
use serde::Serialize;

use crate::document::{ObligationsDocument, Reason, ScopeDocument, Tool};
use crate::json::{parameter_map, reason, scope, tool};
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
    /// The sizes that the proof is known to be about.
    pub scope: &'a Scope,
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

/// `in mux_sem, N = 4`, or `in mux_sem, for every N ≥ 2`.
fn instance(judged: &Judged<'_>) -> String {
    let name = &judged.model.name;
    if let Scope::AllSizes { parameter, .. } = judged.scope {
        let others = judged.model.numbers().filter(|(name, _)| name != parameter);
        let others: String = others.map(|(name, value)| format!(", {name} = {value}")).collect();
        return format!("in {name}, for {}{others}", judged.scope);
    }
    let parameters = parameters(judged.model);
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

/// The JSON schema of the document.
pub fn json_schema() -> Schema {
    schema_for!(ProofCheckDocument)
}

/// Everything that came of a call.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ProofCheckDocument {
    /// `piecewise-proof-check/1`.
    pub schema: String,
    /// The exit status of the call: 0 the proof is accepted, 1 it does not hold, 2 wrong input, 3 a limit was reached, 4 an internal error.
    pub status: u8,
    /// Who wrote it.
    pub tool: Tool,
    /// What is wrong with the call, the proof or the program; empty where the proof could be judged.
    pub errors: Vec<String>,
    /// The proof's file; null, as all that follows, where it could not be judged.
    pub proof: Option<String>,
    /// The program's file.
    pub model: Option<String>,
    /// The program's name.
    pub program: Option<String>,
    /// The parameters of the instance.
    pub parameters: Option<BTreeMap<String, i64>>,
    /// The sizes that an accepted proof is about.
    pub scope: Option<ScopeDocument>,
    /// What is proved.
    pub property: Option<String>,
    /// The method that found the proof.
    pub method: Option<String>,
    /// `accepted`, `does-not-hold` or `unknown`.
    pub verdict: Option<String>,
    /// Whether it is accepted.
    pub accepted: Option<bool>,
    /// How many obligations hold, of an accepted proof.
    pub obligations: Option<ObligationsDocument>,
    /// The obligation that does not hold.
    pub failure: Option<FailedObligation>,
    /// Why it was not judged to the end.
    pub reason: Option<Reason>,
    /// How long it took.
    pub seconds: Option<f64>,
}

/// An obligation that does not hold.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FailedObligation {
    /// What has to be so.
    pub obligation: String,
    /// What is the case instead.
    pub finding: String,
}

/// The judgement as a document.
pub fn document(judged: &Judged<'_>, status: u8) -> ProofCheckDocument {
    let undecided = failed(&[], status);
    let (verdict, outcome) = match judged.outcome {
        Outcome::Accepted(obligations) => {
            let (obligations, scope) = (Some(obligations_document(obligations)), Some(scope(judged.scope.clone())));
            ("accepted", ProofCheckDocument { obligations, scope, ..undecided })
        }
        Outcome::DoesNotHold { obligation, finding } => {
            let failure = FailedObligation { obligation: obligation.to_owned(), finding: finding.to_owned() };
            ("does-not-hold", ProofCheckDocument { failure: Some(failure), ..undecided })
        }
        Outcome::Undecided(stopped) => ("unknown", ProofCheckDocument { reason: Some(reason(stopped)), ..undecided }),
    };
    ProofCheckDocument {
        proof: Some(judged.proof.to_owned()),
        model: Some(judged.source.name().to_owned()),
        program: Some(judged.model.name.clone()),
        parameters: Some(parameter_map(judged.model)),
        property: Some(judged.property.to_owned()),
        method: Some(judged.method.to_owned()),
        verdict: Some(verdict.to_owned()),
        accepted: Some(verdict == "accepted"),
        seconds: Some(judged.time.as_secs_f64()),
        ..outcome
    }
}

/// The document of a call that could not be done.
pub fn failed(errors: &[String], status: u8) -> ProofCheckDocument {
    ProofCheckDocument {
        schema: SCHEMA.to_owned(),
        status,
        tool: tool(),
        errors: errors.to_vec(),
        proof: None,
        model: None,
        program: None,
        parameters: None,
        scope: None,
        property: None,
        method: None,
        verdict: None,
        accepted: None,
        obligations: None,
        failure: None,
        reason: None,
        seconds: None,
    }
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
