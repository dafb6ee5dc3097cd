//! The shape of the result document (`--format json`, `piecewise-report/2`), the contract that scripts rely on.
//!
//! The types are the contract: `docs/schema/report.schema.json` is made from them (`json_schema`), and a test compares. Keys are
//! added, never renamed. A number that a method does not have is null, never 0. `json.rs` fills the types in.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, schema_for};
use serde::Serialize;
use serde_json::Value as Json;

/// The name of the document's shape.
pub const SCHEMA: &str = "piecewise-report/2";

/// The JSON schema of the result document.
pub fn json_schema() -> Schema {
    schema_for!(Document)
}

/// The JSON schema of one line of `--format jsonl`.
pub fn event_schema() -> Schema {
    schema_for!(EventDocument)
}

/// Everything that came of a call, for one run or many.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Document {
    /// `piecewise-report/2`.
    pub schema: String,
    /// The exit status of the call: 0 as expected, 1 not, 2 wrong input, 3 not decided, 4 an internal error.
    pub status: u8,
    /// Who wrote it.
    pub tool: Tool,
    /// One for each program, instance and method, in the order of the call.
    pub runs: Vec<RunDocument>,
    /// How properties grow, for each program that was checked at several sizes.
    pub sweeps: Vec<SweepDocument>,
    /// What is wrong with the call, or with us; empty where everything could be done.
    pub errors: Vec<String>,
}

/// One line of `--format jsonl`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum EventDocument {
    /// A program is about to be checked.
    Start {
        /// Which one.
        #[serde(flatten)]
        about: About,
        /// The properties that are asked for.
        properties: Vec<String>,
    },
    /// A verdict is known.
    Verdict {
        /// Of which program.
        #[serde(flatten)]
        about: About,
        /// The verdict; what else is found out about it stands in the document of `--format json`.
        result: Box<ResultDocument>,
    },
    /// A result is not accepted, for what `--deny` names.
    Denied {
        /// Of which program.
        #[serde(flatten)]
        about: About,
        /// The property.
        property: String,
        /// What is refused.
        denied: Vec<String>,
    },
    /// A file is refused.
    Refused {
        /// The file.
        file: String,
        /// Why.
        diagnostics: Vec<Message>,
    },
    /// The call, or the tool, is wrong.
    Error {
        /// In words.
        message: String,
    },
    /// Everything is done; always the last line.
    End {
        /// The exit status of the call.
        status: u8,
    },
}

/// Which run a line is about.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct About {
    /// The file.
    pub file: String,
    /// The parameters of the instance.
    pub parameters: BTreeMap<String, i64>,
    /// The method that was asked for.
    pub method: String,
}

/// The tool and its version.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Tool {
    /// `piecewise`.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// One program in one instance, by one method.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunDocument {
    /// The file, as the call names it.
    pub file: String,
    /// The program's name; null where the file is refused.
    pub program: Option<String>,
    /// The parameters of the instance.
    pub parameters: BTreeMap<String, i64>,
    /// The method that was asked for; null where the file is refused.
    pub method: Option<String>,
    /// One for each property that was asked for.
    pub results: Vec<ResultDocument>,
    /// What the front-end says about the text.
    pub diagnostics: Vec<Message>,
    /// How long it took.
    pub seconds: Option<f64>,
    /// What all processors together worked on it, where the system tells.
    pub processor_seconds: Option<f64>,
}

/// A message about the input.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Message {
    /// `error` or `warning`.
    pub severity: String,
    /// The stable code.
    pub code: String,
    /// In words.
    pub message: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// What to do.
    pub help: Vec<String>,
}

/// What is known about one property.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ResultDocument {
    /// The property's name.
    pub property: String,
    /// Its kind: `invariant`, `reachable`, `property`, `race_free`, `no_errors`, `deadlock_free`.
    pub kind: String,
    /// Where it is declared; null where it need not be.
    pub line: Option<u32>,
    /// `holds`, `violated` or `unknown`.
    pub verdict: VerdictWord,
    /// The verdict that its author expects.
    pub expected: VerdictWord,
    /// Whether it is that, and nothing about it is denied.
    pub as_expected: bool,
    /// What `--deny` refuses about it.
    pub denied: Vec<String>,
    /// The method that decided.
    pub method: String,
    /// The methods that were tried, where they raced.
    pub tried: Vec<Tried>,
    /// Why it is not decided.
    pub reason: Option<Reason>,
    /// Seconds until it was decided.
    pub seconds: f64,
    /// Seconds from the start of the run until the verdict was known; null where it is not decided.
    pub first_known_s: Option<f64>,
    /// The most nodes of decision diagrams.
    pub peak_nodes: Option<u64>,
    /// The most memory of the method's data.
    pub peak_memory_bytes: Option<u64>,
    /// Rounds of refinement.
    pub refinements: Option<u64>,
    /// The facts that processes expose to each other in the proof.
    pub exposed: Vec<ExposedDocument>,
    /// The sizes of local sets; null for one that is too large to count.
    pub local_states: Option<Vec<Option<u64>>>,
    /// What processes see of the shared store: `mentioned` or `whole`.
    pub views: Option<String>,
    /// States of the whole product that were stored.
    pub global_states: Option<u64>,
    /// Its transitions that were taken.
    pub global_transitions: Option<u64>,
    /// How deep the search went.
    pub depth: Option<u64>,
    /// On what the verdict rests: `trace`, `exploration`, `reduced`, `symbolic` or `certificate`; null where there is none.
    pub evidence: Option<String>,
    /// What was explored, where that is the evidence.
    pub exploration: Option<ExplorationDocument>,
    /// What the proof says, in sentences.
    pub invariants: Vec<InvariantDocument>,
    /// Why waiting ends, where that is what the proof is about.
    pub story: Option<StoryDocument>,
    /// What processes guarantee to each other, where path edges are the proof and not too many.
    pub guarantees: Option<Vec<GuaranteeDocument>>,
    /// The lines that the proof needs.
    pub used_lines: Option<Vec<u32>>,
    /// The lines that it does not need.
    pub unused_lines: Option<Vec<u32>>,
    /// The steps of others that touch what somebody relies on.
    pub disturbed_by: Vec<DisturbanceDocument>,
    /// The file that the proof was written to.
    pub proof: Option<String>,
    /// Whether independent code checked every obligation of the proof.
    pub proof_checked: bool,
    /// The file that the trace was written to.
    pub trace: Option<String>,
    /// For which sizes the verdict is true.
    pub scope: ScopeDocument,
    /// Whether independent code accepted the evidence.
    pub audited: bool,
    /// Why not, where there is a verdict.
    pub audit_reason: Option<Reason>,
    /// How many obligations the checker was given.
    pub obligations: Option<ObligationsDocument>,
    /// The run that violates the property.
    pub counterexample: Option<TraceDocument>,
    /// The run that reaches it.
    pub witness: Option<TraceDocument>,
    /// Whether it holds only because what it speaks of never happens; null where that was not found out.
    pub vacuous: Option<bool>,
    /// What has to happen for the property to say something.
    pub triggers: Vec<TriggerDocument>,
    /// What the property assumes, and whether it needs it.
    pub assumptions: Vec<AssumptionDocument>,
    /// Assumptions that exclude the counterexample.
    pub remedies: Vec<RemedyDocument>,
    /// Of a result whose scope is an instance: the sizes that a proof for every size, found beside it and checked, is about.
    pub every_n: Option<ScopeDocument>,
    /// Larger sizes at which the same invariants prove it.
    pub other_n: Option<OtherSizesDocument>,
    /// How large the product is, beside a local proof; null where it was not counted.
    pub product: Option<ProductSizeDocument>,
}

/// How large the product is.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ProductSizeDocument {
    /// So many states, or more than so many.
    pub states: u64,
    /// Whether these are all.
    pub complete: bool,
}

/// A verdict, or an expectation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum VerdictWord {
    /// The property holds.
    Holds,
    /// It does not.
    Violated,
    /// It was not decided.
    Unknown,
}

impl VerdictWord {
    /// The word.
    pub fn as_str(self) -> &'static str {
        match self {
            VerdictWord::Holds => "holds",
            VerdictWord::Violated => "violated",
            VerdictWord::Unknown => "unknown",
        }
    }
}

/// Why something is not so: a stable code, and words.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Reason {
    /// The stable code.
    pub code: String,
    /// In words.
    pub text: String,
}

/// A method that was tried.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Tried {
    /// The method.
    pub method: String,
    /// `decided`, `open` or `overtaken`.
    pub outcome: String,
    /// Why it left the question open.
    pub reason: Option<Reason>,
    /// How long it took.
    pub seconds: f64,
}

/// A fact that a process exposes.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ExposedDocument {
    /// The process.
    pub process: String,
    /// The fact.
    pub fact: String,
}

/// What a search saw.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ExplorationDocument {
    /// States.
    pub states: u64,
    /// Transitions.
    pub transitions: u64,
    /// States in which nobody can move.
    pub deadlocks: u64,
    /// Steps that are errors.
    pub errors: u64,
    /// Steps from the initial states to the last one.
    pub depth: u64,
    /// Whether everything was seen.
    pub complete: bool,
    /// Whether only a part was searched that shows the same.
    pub reduced: bool,
}

/// A sentence of a proof.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct InvariantDocument {
    /// `I1`, where it holds everywhere.
    pub id: Option<String>,
    /// The first process of which it is said.
    pub process: Option<String>,
    /// All processes of which it is said.
    pub processes: Vec<String>,
    /// The letters that stand for them.
    #[serde(rename = "for")]
    pub letters: String,
    /// The places where it holds; empty for everywhere.
    pub at: Vec<String>,
    /// The sentence.
    pub text: String,
    /// The same as an invariant of the program; null where the language cannot say it.
    pub expression: Option<String>,
}

/// Who waits for whom, and why that ends.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StoryDocument {
    /// Who waits where.
    pub waits: Vec<StoryWaitDocument>,
    /// The argument, line by line.
    pub lines: Vec<StoryLineDocument>,
}

/// Where somebody waits.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StoryWaitDocument {
    /// Who: `Phil[i], i > 0`.
    pub who: String,
    /// At which place.
    pub at: String,
    /// While what is so.
    #[serde(rename = "while")]
    pub holds: String,
    /// For whom, and where those stand meanwhile.
    #[serde(rename = "for")]
    pub whom: Vec<String>,
}

/// A sentence of an argument.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StoryLineDocument {
    /// How far it is set in.
    pub depth: usize,
    /// The sentence.
    pub text: String,
}

/// What a process guarantees.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct GuaranteeDocument {
    /// The process.
    pub process: String,
    /// The changes that it makes.
    pub changes: Vec<ChangeDocument>,
    /// Its local states.
    pub local_states: Vec<PlaceDocument>,
    /// How many there are.
    pub n_local_states: usize,
}

/// A change of shared variables.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ChangeDocument {
    /// What changes.
    pub change: String,
    /// From where.
    #[serde(rename = "where")]
    pub place: String,
}

/// A local state.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PlaceDocument {
    /// The place.
    pub at: String,
    /// The values there.
    #[serde(rename = "where")]
    pub values: String,
}

/// A step of another process that touches what is relied on.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DisturbanceDocument {
    /// Its line.
    pub line: u32,
    /// The statement.
    pub action: String,
}

/// For which sizes a verdict is true.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum ScopeDocument {
    /// For this instance.
    Instance,
    /// For every value of the parameter that the program allows.
    All {
        /// The parameter.
        parameter: String,
        /// The least value for which it is proved in one go.
        from: i64,
        /// The smaller values, which were checked one by one.
        checked: Vec<i64>,
    },
}

/// Obligations of a proof, by kind.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ObligationsDocument {
    /// All of them.
    pub total: usize,
    /// That processes are alike.
    pub symmetry: usize,
    /// That initial states are in the sets.
    pub initiality: usize,
    /// That steps of a process stay in them.
    pub step: usize,
    /// That steps of others do.
    pub non_interference: usize,
    /// That the property follows.
    pub implication: usize,
    /// That ranks fall.
    pub ranks: usize,
}

/// A run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TraceDocument {
    /// The first state.
    pub initial: Option<StateDocument>,
    /// The steps.
    pub steps: Vec<StepDocument>,
    /// The number of the state to which the last step leads back.
    pub loop_from: Option<usize>,
    /// What the end shows.
    pub end: EndDocument,
    /// How often another process goes on.
    pub context_switches: usize,
    /// The call stacks at the end, by process.
    pub stacks: BTreeMap<String, Vec<String>>,
}

/// A whole state.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StateDocument {
    /// Where each process is.
    pub at: BTreeMap<String, String>,
    /// All variables; arrays are lists.
    pub variables: BTreeMap<String, Json>,
}

/// One step of a run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StepDocument {
    /// Who moves.
    pub process: String,
    /// Who takes part.
    pub partner: Option<String>,
    /// The statement.
    pub action: String,
    /// Its label.
    pub label: Option<String>,
    /// Its line.
    pub line: u32,
    /// The place before.
    pub from: Option<String>,
    /// The place after.
    pub to: Option<String>,
    /// What it changes.
    pub changed: BTreeMap<String, ChangedDocument>,
    /// True where nobody moves, at the end of a run that goes on for ever.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub stands_still: bool,
}

/// A changed value.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ChangedDocument {
    /// Before; null where there was none.
    pub old: Json,
    /// After.
    pub new: Json,
}

/// What the end of a run shows.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum EndDocument {
    /// A state that decides the property.
    State {
        /// The parts of the expression that do.
        because: Vec<PartDocument>,
    },
    /// The run goes round.
    Loop,
    /// A step is an error.
    Error {
        /// Whose step.
        #[serde(flatten)]
        by: MoveDocument,
        /// What is wrong.
        message: String,
    },
    /// Nobody can move.
    Deadlock {
        /// Who waits.
        stuck: Vec<WaitDocument>,
        /// Who waits for each other in a circle.
        cycle: Option<Vec<String>>,
    },
    /// Two processes are about to access a variable.
    Race {
        /// The variable.
        variable: String,
        /// The two.
        contenders: Vec<ContenderDocument>,
    },
}

/// A part of an expression that decides it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PartDocument {
    /// The part.
    pub part: String,
    /// The part with values for its variables.
    pub instance: String,
    /// Its truth.
    pub is: bool,
    /// The values of its variables.
    #[serde(rename = "for")]
    pub bindings: BTreeMap<String, Json>,
}

/// A statement of a process.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MoveDocument {
    /// The process.
    pub process: String,
    /// The statement.
    pub action: String,
    /// Its label.
    pub label: Option<String>,
    /// Its line.
    pub line: u32,
}

/// A process that waits.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WaitDocument {
    /// The process.
    pub process: String,
    /// Where.
    pub at: String,
    /// For what.
    pub waits_for: String,
    /// Who could give it.
    pub held_by: Vec<String>,
}

/// A process about to access a variable.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ContenderDocument {
    /// Its statement.
    #[serde(flatten)]
    pub by: MoveDocument,
    /// Whether it writes.
    pub writes: bool,
}

/// What has to happen for a property to say something.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TriggerDocument {
    /// What.
    pub condition: String,
    /// The variables in it.
    pub variables: Vec<String>,
    /// `for-all`, `for-some-only`, `for-some`, `never`, `no-instance` or `unknown`.
    pub reached: String,
}

/// An assumption of a property.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AssumptionDocument {
    /// The assumption.
    pub assumption: String,
    /// Whether it is needed; null where that was not found out.
    pub needed: Option<bool>,
    /// The turns of a loop without it.
    pub loop_without: Option<usize>,
}

/// An assumption that excludes the counterexample.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RemedyDocument {
    /// What is added.
    pub added: Vec<String>,
    /// All that is assumed then.
    pub under: String,
    /// What becomes of the property.
    pub verdict: VerdictWord,
    /// The turns of another loop.
    #[serde(rename = "loop")]
    pub turns: Option<usize>,
}

/// Larger sizes.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OtherSizesDocument {
    /// At which the same invariants prove it.
    pub same_for: Vec<i64>,
}

/// How the properties of a program grow.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SweepDocument {
    /// The file.
    pub file: String,
    /// The method that was asked for.
    pub method: String,
    /// The parameter that grows.
    pub parameter: String,
    /// One for each property.
    pub properties: Vec<GrowingDocument>,
}

/// One property at several sizes.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct GrowingDocument {
    /// The property.
    pub property: String,
    /// Its measurements.
    pub points: Vec<PointDocument>,
    /// How its time grows.
    pub time: Option<GrowthDocument>,
    /// How what is counted grows.
    pub number: Option<GrowthDocument>,
}

/// One property at one size.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PointDocument {
    /// The size.
    pub size: i64,
    /// The verdict.
    pub verdict: VerdictWord,
    /// The method that decided.
    pub method: String,
    /// How long it took.
    pub seconds: f64,
    /// What is counted: `local_states`, `global_states`, `peak_nodes` or `steps`.
    pub counted: Option<String>,
    /// How many.
    pub number: Option<u64>,
}

/// How something grows.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct GrowthDocument {
    /// `same`, `linear`, `power` or `factor`.
    pub growth: String,
    /// By how much.
    pub by: Option<f64>,
}
