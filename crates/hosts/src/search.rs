//! One search in the memories of many hosts, on timely dataflow.
//!
//! In: a program with its questions, and which process of which hosts this is. Out, at process 0: what was explored, and the runs that decide questions. `secret.rs` and `mesh.rs` connect
//! the processes and make sure that they belong together; `cluster.rs` runs the workers and notices when a process is lost; `net.rs` is what workers tell each other, round by round;
//! `part.rs` is one worker's part of the states (`recent.rs` those that it saw lately); `levels.rs` is the search, and `checkpoint.rs` keeps its levels on disk. `fair.rs` answers temporal properties on the same graph: `nodes.rs` is one worker's part of a
//! product, `edges.rs` finds its edges, `rows.rs` is where they are on disk, `lasso.rs` the run through what remains of it. `launch.rs` starts the processes, again where one is lost, and `message.rs` is
//! what it hears from process 0; `answers.rs` makes verdicts of an outcome.

mod answers;
mod checkpoint;
mod cluster;
mod edges;
mod fair;
mod lasso;
mod launch;
mod levels;
mod mesh;
mod message;
mod net;
mod nodes;
mod part;
mod recent;
mod rows;
mod secret;
mod stop;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use base::{Budget, StopReason};
use engine::PropertyId;
use model::Model;
use packed::width::{ForWidth, with_width};
use serde::{Deserialize, Serialize};

pub use answers::{OnHosts, Searcher};
pub use cluster::{SILENCE, explains_panic};
pub use fair::{FairAnswer, FairFinding, FairSettings};
pub use lasso::{PackedLasso, PackedTurn, TurnNumber};
pub use launch::{Launch, News};
pub use levels::{Finding, HostShare, Outcome};
pub use mesh::PATIENCE;
pub use message::{Message, Progress, Teller};
pub use secret::{Secret, VARIABLE as SECRET_VARIABLE};
pub use stop::Stop;

use crate::file::Host;
use levels::Plan;
use mesh::Member;
use net::Net;

/// A search, as one of its processes sees it.
#[derive(Clone, Debug)]
pub struct Search {
    /// The program.
    pub model: Arc<Model>,
    /// The program's text, which all processes must agree on.
    pub text: String,
    /// The questions; none where everything is counted.
    pub asked: Vec<PropertyId>,
    /// What this process may use.
    pub budget: Budget,
    /// The hosts; process i runs on the i-th.
    pub hosts: Vec<Host>,
    /// Which process this is.
    pub process: usize,
    /// How many threads each process has.
    pub n_threads: usize,
    /// What only the processes of this search know; one process needs none.
    pub secret: Option<Secret>,
    /// Where levels are kept.
    pub checkpoint: Option<PathBuf>,
    /// Whether to go on with levels that are there.
    pub resumes: bool,
    /// Where the nodes of temporal properties are.
    pub fair: FairSettings,
    /// How long to wait until all processes are connected.
    pub patience: Duration,
    /// Whether the processes reach each other by tunnels, all of them on the loopback address.
    pub is_tunnelled: bool,
    /// Hears that all are connected.
    pub connected: Option<fn()>,
    /// Hears of each process that is turned away, in words.
    pub turned_away: Option<fn(&str)>,
    /// Hears of each level, at process 0.
    pub teller: Option<Teller>,
}

/// Why a search has no outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Failure {
    /// Something about the call is wrong, in a sentence.
    Refused(String),
    /// A host was lost.
    Lost {
        /// Its name.
        host: String,
        /// What is known of it.
        why: String,
    },
    /// A limit was reached, and the processes did not end by themselves.
    Stopped(Stop),
}

impl Failure {
    /// The same as a reason for `unknown`.
    ///
    /// # Errors
    /// A call that is wrong.
    pub fn reason(&self) -> Result<StopReason, String> {
        match self {
            Failure::Refused(why) => Err(why.clone()),
            Failure::Lost { host, why } => Ok(StopReason::HostLost { host: host.clone(), why: why.clone() }),
            Failure::Stopped(stop) => Ok(stop.reason()),
        }
    }
}

/// Whether a program can be searched by several processes.
///
/// # Errors
/// A sentence with the names of its procedures: call stacks are numbered as they are met, so that their numbers differ from process to process.
pub fn supports(model: &Model) -> Result<(), String> {
    let names: Vec<String> = model.procedures.iter().map(|procedure| format!("`{}`", procedure.name)).collect();
    match names.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "`{}` has procedures ({}), and a search on many hosts or with a checkpoint does not follow call stacks; ask without `--hosts` and `--checkpoint`, or by `--method pushdown`",
            model.name,
            names.join(", ")
        )),
    }
}

/// How many words states have in memory.
struct Width;

impl ForWidth for Width {
    type Output = u64;

    fn run<const W: usize>(self) -> u64 {
        W as u64
    }
}

impl Search {
    /// What all processes, and the levels on disk, must agree on: the program, its parameters and the questions.
    fn settings(&self) -> [u8; 32] {
        let parameters: Vec<String> =
            self.model.parameters.iter().map(|one| format!("{}={}", one.name, one.value)).collect();
        let asked: Vec<String> = self.asked.iter().map(|id| self.model.properties[*id].name.clone()).collect();
        let layout = packed::codec::Codec::new(&self.model, packed::codec::UnrollLimits::default()).layout;
        let layout = format!("{} {:?} {:?}", layout.n_words, layout.control, layout.locations);
        let parts = [&self.text, &self.model.name, &parameters.join(","), &asked.join(","), &layout];
        secret::fingerprint(&parts.map(|part| part.as_bytes()))
    }

    /// In how many words states and nodes of products are sent, which depends on how a process was built.
    fn widths(&self) -> [u8; 16] {
        let n_words = packed::codec::Codec::new(&self.model, packed::codec::UnrollLimits::default()).layout.n_words;
        let width = |n_words: usize| with_width(n_words, Width).unwrap_or_default();
        let mut widths = [0; 16];
        widths[..8].copy_from_slice(&width(n_words).to_le_bytes());
        widths[8..].copy_from_slice(&width(n_words + 1).to_le_bytes());
        widths
    }

    /// Takes part in the search. Only process 0 has an outcome.
    ///
    /// # Errors
    /// A call that is wrong, or a host that was lost; then the process should end soon, since threads may be left.
    pub fn run(self) -> Result<Option<Outcome>, Failure> {
        let settings = self.settings();
        let mesh = match self.hosts.len() {
            ..=1 => None,
            n_processes => {
                let secret = self.secret.clone();
                let secret = secret.ok_or_else(|| {
                    let why =
                        format!("the processes of a search need a secret: set {SECRET_VARIABLE} to the same for all");
                    Failure::Refused(why)
                })?;
                let workers = (n_processes * self.n_threads).to_le_bytes();
                let agreed = secret::fingerprint(&[&settings, &workers, &self.widths()]);
                let member = Member {
                    hosts: self.hosts.clone(),
                    process: self.process,
                    settings: agreed,
                    secret,
                    patience: self.patience,
                    budget: self.budget.clone(),
                    is_tunnelled: self.is_tunnelled,
                    turned_away: self.turned_away,
                };
                Some(member.connect()?)
            }
        };
        if let Some(hear) = self.connected {
            hear();
        }
        let names: Vec<String> = self.hosts.iter().map(|host| host.name.clone()).collect();
        let resumes = self.resumes;
        let disk = self.checkpoint.map(|directory| checkpoint::Store { directory, settings, resumes });
        let is_temporal = |id: &PropertyId| answers::is_temporal(&self.model, *id);
        let (temporal, asked) = self.asked.iter().copied().partition(is_temporal);
        let plan = Plan {
            model: Arc::clone(&self.model),
            asked,
            temporal,
            budgets: self.budget.shared_by(self.n_threads),
            hosts: names.clone(),
            n_threads: self.n_threads,
            disk,
            fair: self.fair,
            teller: self.teller,
        };
        let n_threads = self.n_threads;
        let work = move |worker: &mut timely::worker::Worker| levels::work(&plan, &mut Net::new(worker, n_threads));
        match cluster::run(n_threads, (self.process, mesh), work) {
            Ok(results) => results.into_iter().next().unwrap_or(Ok(None)).map_err(Failure::Refused),
            Err(lost) => {
                let why = match lost.is_silent {
                    true => format!("it gave no sign of life for {} s", SILENCE.as_secs()),
                    false => "its process ended, or the connection to it".to_owned(),
                };
                Err(Failure::Lost { host: names.get(lost.process).cloned().unwrap_or_default(), why })
            }
        }
    }
}
