//! A certificate in the user's words: what each process may rely on, where, and which lines the proof did not need.
//!
//! In: a Model and a certificate that proves one of its properties. Out: a [`LocalProof`]: sentences as values, each true in every view state of the
//! proof's sets. `tree` finds out which numbers a set does not distinguish, `sums` adds sums of cells, `cover` says a set in few exclusions, `fold`
//! makes sentences of them, `words` knows the names; `formula` is what a sentence is, `render` writes it, `check` judges it with `truth` on the states of
//! `view_state`; `mirror` leaves out what is said of two processes both ways round, `lines` reads the program's text, `statement` says what does not depend on the size.

mod assertion;
mod check;
mod cover;
mod fold;
pub mod formula;
mod lines;
mod member;
mod mirror;
pub mod render;
mod scene;
mod sentence;
mod statement;
pub mod story;
mod sums;
mod tree;
pub mod truth;
mod view_state;
mod why;
mod words;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use base::{Budget, SourceFile};
use evidence::Certificate;
use evidence::certificate::{Column, LocalFact, Member, SplitInvariant, StateSet};
use evidence::rings::Network;
use evidence::scope::Scope;
use model::Model;
use model::process::ProcessId;

use check::SentenceJudge;
use member::{ClassRows, MemberSentences};
use words::{InvariantWords, ProcessNames};

pub use assertion::{Assertion, AtPlaces, MemberAssertion};
pub use lines::SourceStep;
pub use scene::Only;
pub use statement::statement;
pub use story::Story;
pub use why::why;

/// More members than this get no sentences one by one.
const MOST_MEMBERS: usize = 150;

/// Members are put into sentences until they have so many numbers together, each counted once for each column beside it: how long that takes.
const MOST_NUMBERS: usize = 4_000_000;

/// A proof in words.
#[derive(Clone, Debug)]
pub struct LocalProof {
    /// How many processes each invariant speaks of.
    pub k: usize,
    /// How many processes there are.
    pub n_processes: usize,
    /// What is said, for each group of members with the same sentences.
    pub parts: Vec<MemberAssertion>,
    /// Whether neighbours in the ring of processes are called `i + 1` and `i - 1`.
    pub is_ring: bool,
    /// The members that are too large for sentences, by their processes' names.
    pub unexplained: Vec<String>,
    /// The facts about processes that all others may see, with a letter for the process.
    pub exposed: Vec<ShownExposure>,
    /// Steps of others that touch what some process relies on.
    pub interfering_steps: Vec<SourceStep>,
    /// The lines whose steps matter to the proof, and those of declarations.
    pub used_lines: BTreeSet<u32>,
    /// The lines whose steps do not.
    pub unused_lines: BTreeSet<u32>,
    /// Whether few processes represent all: then it says nothing about lines.
    pub is_scene: bool,
    /// The least size of which the sentences are true, where they are about every size.
    pub from: Option<(String, i64)>,
}

/// An exposed fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownExposure {
    /// The processes that expose it, each with the fact in its own name.
    pub of: Vec<(String, String)>,
    /// The fact with a letter for the process.
    pub text: String,
}

/// A member, and the sentences about it.
struct ExplainedMember<'m> {
    member: &'m Member,
    sentences: MemberSentences,
}

impl LocalProof {
    /// The proof in words; `None` for a certificate that states nothing. Members for which the time does not suffice are left out, sentences for which
    /// it does not suffice are left out. Where the program's language has no invariants no sentence is written as one.
    pub fn of(model: &Model, source: &SourceFile, certificate: &Certificate, budget: &Budget) -> Option<LocalProof> {
        let mut proof = LocalProof::in_sentences(model, source, certificate, budget)?;
        if !has_invariants(source) {
            proof.parts.iter_mut().for_each(MemberAssertion::drop_expressions);
        }
        Some(proof)
    }

    fn in_sentences(
        model: &Model,
        source: &SourceFile,
        certificate: &Certificate,
        budget: &Budget,
    ) -> Option<LocalProof> {
        let Some(invariant) = certificate.invariant() else { return LocalProof::of_scenes(model, certificate, budget) };
        let words = InvariantWords::new(model, invariant);
        let mut proof = LocalProof { k: invariant.k, exposed: exposures(&words), ..LocalProof::empty(model) };
        let members = proof.tell(&words, budget);
        proof.judge(&words, budget);
        if proof.unexplained.is_empty() {
            lines::fill(&words, source, &members, &mut proof);
        }
        if let Some(first) = proof.parts.first_mut() {
            first.say_sums(model, story::sums(model, certificate));
        }
        Some(proof)
    }

    fn empty(model: &Model) -> LocalProof {
        LocalProof {
            k: 1,
            n_processes: model.processes.len(),
            parts: Vec::new(),
            is_ring: false,
            unexplained: Vec::new(),
            exposed: Vec::new(),
            interfering_steps: Vec::new(),
            used_lines: BTreeSet::new(),
            unused_lines: BTreeSet::new(),
            is_scene: false,
            from: None,
        }
    }

    /// Whether some sentence is about a neighbour.
    pub fn names_neighbours(&self) -> bool {
        let is_neighbour = |who: &formula::NamedProcess| matches!(who, formula::NamedProcess::After(..));
        self.parts.iter().flat_map(|part| part.claims()).any(|claim| claim.named().iter().any(is_neighbour))
    }

    /// A proof in which few processes represent all.
    fn of_scenes(model: &Model, certificate: &Certificate, budget: &Budget) -> Option<LocalProof> {
        let parts = scene::parts(model, certificate, budget)?;
        let k = { certificate.views() }.or_else(|| certificate.crowd()).map_or(1, |proof| proof.k);
        let from = match &certificate.scope {
            Scope::AllSizes { parameter, from, .. } => Some((parameter.clone(), *from)),
            Scope::Instance => None,
        };
        let unexplained = if parts.is_empty() { vec!["all processes".to_owned()] } else { Vec::new() };
        let is_ring = certificate.rings().is_some_and(|proof| proof.network == Network::Line);
        Some(LocalProof { k, parts, is_ring, unexplained, is_scene: true, from, ..LocalProof::empty(model) })
    }

    /// Puts members into words, those that read the same together; the sentences about each.
    fn tell<'m>(&mut self, words: &InvariantWords<'m>, budget: &Budget) -> Vec<ExplainedMember<'m>> {
        let invariant = words.invariant;
        let mut all = Vec::new();
        let mut n_numbers = 0;
        for (at, member) in invariant.members.iter().enumerate() {
            if let StateSet::Rows(rows) = &member.states {
                n_numbers += rows.len() * member.columns.len() * member.columns.len();
            }
            let is_too_many = invariant.members.len() > MOST_MEMBERS
                || n_numbers > MOST_NUMBERS
                || !self.unexplained.is_empty()
                || budget.check(0).is_err();
            let rows = if is_too_many { None } else { ClassRows::new(words, member) };
            let Some((sentences, rows)) = rows.and_then(|rows| Some((rows.sentences()?, rows))) else {
                self.unexplained.push(names(words.model, &member.processes));
                continue;
            };
            MemberAssertion::new(words.model, (at, member), &sentences, rows.called()).add_to(&mut self.parts);
            all.push(ExplainedMember { member, sentences });
        }
        if self.parts.len() > 2 && self.unexplained.is_empty() {
            self.describe_ring(words.model, invariant);
        }
        self.parts.iter_mut().for_each(|part| part.name_all(words.model, invariant));
        all
    }

    /// Where processes sit in a ring, the same may be said of all with words like "the next one".
    fn describe_ring(&mut self, model: &Model, invariant: &SplitInvariant) {
        let mut parts = Vec::new();
        for (at, member) in invariant.members.iter().enumerate() {
            let [process] = member.processes[..] else { return };
            let words = InvariantWords::around(model, invariant, model.processes[process].family);
            let rows = ClassRows::new(&words, member).map(ClassRows::with_neighbours);
            let Some((sentences, rows)) = rows.and_then(|rows| Some((rows.sentences()?, rows))) else { return };
            MemberAssertion::new(model, (at, member), &sentences, rows.called()).add_to(&mut parts);
        }
        if parts.len() < self.parts.len() {
            self.parts = parts;
            self.is_ring = true;
        }
    }

    /// Keeps the sentences that are true in all view states of which they are said. What is not true of all processes of which it is said with
    /// letters is said again of single ones; what is said of one process only is said with its own number.
    fn judge(&mut self, words: &InvariantWords<'_>, budget: &Budget) {
        let judge = SentenceJudge { model: words.model, invariant: words.invariant, budget };
        let mut kept = Vec::new();
        for part in std::mem::take(&mut self.parts) {
            let is_one = !part.is_all && part.members.len() == 1;
            if !is_one && part.is_accepted(&judge) {
                kept.push(part);
                continue;
            }
            // Nothing is said of members for which the time did not suffice.
            if budget.check(0).is_err() {
                self.unexplained.extend(part.members);
                continue;
            }
            for said in part.said.clone() {
                let member = &words.invariant.members[said.member];
                let rows = ClassRows::new(words, member).map(ClassRows::by_number);
                let Some((sentences, rows)) = rows.and_then(|rows| Some((rows.sentences()?, rows))) else {
                    self.unexplained.push(names(words.model, &member.processes));
                    continue;
                };
                let mut single = MemberAssertion::new(words.model, (said.member, member), &sentences, rows.called());
                single.name_single(words.model, member);
                single.keep_accepted(&judge);
                kept.push(single);
            }
        }
        self.parts = kept;
    }
}

/// Whether the program is in Piecewise's own language; what comes from a pipe is.
fn has_invariants(source: &SourceFile) -> bool {
    let name = source.name().rsplit(['/', '\\']).next().unwrap_or_default();
    name.rsplit_once('.').is_none_or(|(_, suffix)| suffix == "pw")
}

/// A fact about a process in words; with a letter for the process, or by its name.
fn fact_text(words: &InvariantWords<'_>, process: ProcessId, fact: &LocalFact, letter: Option<&str>) -> String {
    let nobody = ProcessNames::default();
    let names = if letter.is_some() { nobody.with(words.model, process) } else { nobody };
    let letters: Vec<String> = letter.into_iter().chain(["l", "m", "n"]).map(str::to_owned).collect();
    render::text(words.model, &letters, &words.fact(process, fact, &names))
}

/// The exposed facts, each once.
fn exposures(words: &InvariantWords<'_>) -> Vec<ShownExposure> {
    let mut found: Vec<ShownExposure> = Vec::new();
    for (process, exposed) in words.model.processes.ids().zip(&words.invariant.exposed) {
        for fact in &exposed.facts {
            let text = fact_text(words, process, fact, Some("k"));
            let own = (words.model.processes[process].name.clone(), fact_text(words, process, fact, None));
            match found.iter_mut().find(|known| known.text == text) {
                Some(known) => known.of.push(own),
                None => found.push(ShownExposure { of: vec![own], text }),
            }
        }
    }
    found
}

/// A round of refinement in words: what was exposed, each fact once, and the state that made it necessary.
pub fn round(model: &Model, certificate: &Certificate, round: &engine::Exposure) -> String {
    let Some(invariant) = certificate.invariant() else { return String::new() };
    let words = InvariantWords::new(model, invariant);
    let mut facts: Vec<String> = Vec::new();
    for (process, fact) in &round.facts {
        let text = fact_text(&words, *process, fact, Some("k"));
        if !facts.contains(&text) {
            facts.push(text);
        }
    }
    let facts = facts.join(", ");
    match &round.because {
        Some(state) => format!("{facts}, since nothing excluded  {}", crate::names::state_line(model, state)),
        None => facts,
    }
}

/// Processes by name: `P[0]`, `P[0] and P[1]`.
fn names(model: &Model, processes: &[ProcessId]) -> String {
    let names: Vec<&str> = processes.iter().map(|&process| model.processes[process].name.as_str()).collect();
    match &names[..] {
        [.., _] if names.len() == model.processes.len() && names.len() > 3 => "all processes".to_owned(),
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => names.concat(),
    }
}

/// The cells that columns show.
fn cells(columns: &[Column]) -> BTreeSet<model::variable::CellId> {
    let cells = columns.iter().filter_map(|column| if let Column::Cell(cell) = column { Some(*cell) } else { None });
    cells.collect()
}
