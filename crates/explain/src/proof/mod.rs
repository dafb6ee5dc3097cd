//! A certificate in the user's words: what each process may rely on, where, and what the proof did not look at.
//!
//! In: a Model and a certificate that proves one of its properties. Out: a [`LocalProof`]: plain data that the terminal and the
//! JSON document both show. `tree` finds out which numbers a set does not tell apart, `cover` says a set in few exclusions, `fold`
//! makes sentences of them, `words` knows the names, `lines` looks at the program's text, `statement` says what does not depend on the size.

mod cover;
mod fold;
mod lines;
mod member;
mod sentence;
mod statement;
mod tree;
mod why;
mod words;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use base::{Budget, SourceFile};
use evidence::Certificate;
use evidence::certificate::{Column, Member, SplitInvariant, StateSet};
use model::Model;
use model::process::ProcessId;

use member::{Rows, Told};
use words::Words;

pub use lines::Step;
pub use statement::statement;
pub use why::why;

/// More members than this are not told one by one.
const MOST_MEMBERS: usize = 150;

/// Members are told until they have so many numbers together, each counted once for each column beside it: how long telling takes.
const MOST_NUMBERS: usize = 4_000_000;

/// A proof in words.
#[derive(Clone, Debug)]
pub struct LocalProof {
    /// How many processes each invariant speaks of.
    pub k: usize,
    /// How many processes there are.
    pub n_processes: usize,
    /// What is said, for each group of members of which the same is said.
    pub parts: Vec<Part>,
    /// Whether neighbours in the ring of processes are called `i + 1` and `i - 1`.
    pub is_ring: bool,
    /// The members that are too large to be told, by their processes' names.
    pub untold: Vec<String>,
    /// The facts about processes that all others may look at, with a letter for the process.
    pub exposed: Vec<Exposure>,
    /// Steps of others that touch what somebody relies on.
    pub disturbances: Vec<Step>,
    /// The lines whose steps matter to the proof, and those of declarations.
    pub used_lines: BTreeSet<u32>,
    /// The lines whose steps do not.
    pub unused_lines: BTreeSet<u32>,
}

/// An exposed fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exposure {
    /// The processes that expose it, each with the fact in its own name.
    pub of: Vec<(String, String)>,
    /// The fact with a letter for the process.
    pub text: String,
}

/// What is said of some members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The members' processes, by name.
    pub members: Vec<String>,
    /// What the member is called in the texts: `i`, `i and j`, `Monitor`.
    pub letters: String,
    /// Whether it stands for all members.
    pub is_all: bool,
    /// What holds wherever the processes stand.
    pub always: Vec<String>,
    /// What else holds at places of a single process.
    pub places: Vec<(Vec<String>, Vec<String>)>,
    /// Places at which the process never stands.
    pub unreached: Vec<String>,
    /// For each of the [`Part::sentences`], the steps of others that touch what it speaks of.
    pub touched_by: Vec<Vec<Step>>,
    /// The columns of the first member that each of the sentences speaks of.
    subjects: Vec<Vec<Column>>,
}

impl LocalProof {
    /// The proof in words; `None` for a certificate that states nothing. Members for which the time does not suffice are not told.
    pub fn of(model: &Model, source: &SourceFile, certificate: &Certificate, budget: &Budget) -> Option<LocalProof> {
        let invariant = certificate.invariant()?;
        let words = Words::new(model, invariant);
        let mut explanation = LocalProof {
            k: invariant.k,
            n_processes: model.processes.len(),
            parts: Vec::new(),
            is_ring: false,
            untold: Vec::new(),
            exposed: exposures(&words),
            disturbances: Vec::new(),
            used_lines: BTreeSet::new(),
            unused_lines: BTreeSet::new(),
        };
        let told = explanation.tell(&words, invariant, budget);
        explanation.name_singles(&words, invariant);
        if explanation.untold.is_empty() {
            lines::look(&words, source, &told, &mut explanation);
        }
        Some(explanation)
    }

    /// Puts members into words, those that read the same together; what was told of each.
    fn tell<'m>(
        &mut self,
        words: &Words<'_>,
        invariant: &'m SplitInvariant,
        budget: &Budget,
    ) -> Vec<(&'m Member, Told)> {
        let mut all: Vec<(&Member, Told)> = Vec::new();
        let mut n_numbers = 0;
        for member in &invariant.members {
            if let StateSet::Rows(rows) = &member.states {
                n_numbers += rows.len() * member.columns.len() * member.columns.len();
            }
            let is_too_many = invariant.members.len() > MOST_MEMBERS
                || n_numbers > MOST_NUMBERS
                || !self.untold.is_empty()
                || budget.check(0).is_err();
            let rows = if is_too_many { None } else { Rows::new(words, member) };
            let Some((told, letters)) = rows.and_then(|rows| Some((rows.told()?, rows.letters()))) else {
                self.untold.push(names(words.model, &member.processes));
                continue;
            };
            add(&mut self.parts, Part::new(words.model, member, &told, letters));
            all.push((member, told));
        }
        if self.parts.len() > 2 && self.untold.is_empty() {
            self.tell_around(words.model, invariant);
        }
        let n_members = invariant.members.len();
        self.parts
            .iter_mut()
            .for_each(|part| part.is_all = invariant.symmetry.is_some() || part.members.len() == n_members);
        all
    }

    /// Where processes sit in a ring, the same may be said of all with words like "the next one".
    fn tell_around(&mut self, model: &Model, invariant: &SplitInvariant) {
        let mut parts = Vec::new();
        for member in &invariant.members {
            let Some((told, letters)) = Rows::around(model, invariant, member) else { return };
            add(&mut parts, Part::new(model, member, &told, letters));
        }
        if parts.len() < self.parts.len() {
            self.parts = parts;
            self.is_ring = true;
        }
    }
}

impl Part {
    fn new(model: &Model, member: &Member, told: &Told, letters: String) -> Self {
        let mut part = Part {
            members: vec![names(model, &member.processes)],
            letters,
            is_all: false,
            always: Vec::new(),
            places: Vec::new(),
            unreached: told.unreached.clone(),
            touched_by: Vec::new(),
            subjects: Vec::new(),
        };
        part.say(told);
        part
    }

    /// Takes over the sentences.
    fn say(&mut self, told: &Told) {
        self.always = told.always.clone();
        self.places = told.places.iter().map(|at| (at.at.clone(), at.texts.clone())).collect();
        self.subjects = told.subjects.iter().chain(told.places.iter().flat_map(|at| &at.subjects)).cloned().collect();
    }

    /// All sentences in their order, each with the places at which it is said; none for what holds everywhere.
    pub fn sentences(&self) -> Vec<(String, &str)> {
        let everywhere = self.always.iter().map(|text| (String::new(), text.as_str()));
        let at_places = self.places.iter().flat_map(|(at, texts)| {
            let at = at.join(", ");
            texts.iter().map(move |text| (at.clone(), text.as_str()))
        });
        everywhere.chain(at_places).collect()
    }

    fn reads_like(&self, other: &Part) -> bool {
        let saying =
            |part: &Part| (part.letters.clone(), part.always.clone(), part.places.clone(), part.unreached.clone());
        saying(self) == saying(other)
    }
}

/// Adds what is said of a member to what reads the same.
fn add(parts: &mut Vec<Part>, part: Part) {
    match parts.iter_mut().find(|known| known.reads_like(&part)) {
        Some(known) => known.members.extend(part.members),
        None => parts.push(part),
    }
}

impl LocalProof {
    /// What is said of one process only is said with its own number.
    fn name_singles(&mut self, words: &Words<'_>, invariant: &SplitInvariant) {
        let is_one = |part: &&mut Part| !part.is_all && part.members.len() == 1;
        for part in self.parts.iter_mut().filter(is_one) {
            let member =
                invariant.members.iter().find(|member| names(words.model, &member.processes) == part.members[0]);
            let told = member.and_then(|member| Rows::new(words, member)?.by_number().told());
            if let Some(told) = told {
                part.letters = part.members[0].clone();
                part.say(&told);
            }
        }
    }
}

/// The exposed facts, each once.
fn exposures(words: &Words<'_>) -> Vec<Exposure> {
    let mut found: Vec<Exposure> = Vec::new();
    for (process, exposed) in words.model.processes.ids().zip(&words.invariant.exposed) {
        for fact in &exposed.facts {
            let text = words.fact(process, fact, &[(process, "k".to_owned())]);
            let own = (words.model.processes[process].name.clone(), words.fact(process, fact, &[]));
            match found.iter_mut().find(|known| known.text == text) {
                Some(known) => known.of.push(own),
                None => found.push(Exposure { of: vec![own], text }),
            }
        }
    }
    found
}

/// A round of refinement in words: what was exposed, each fact once, and the state that made it necessary.
pub fn round(model: &Model, certificate: &Certificate, round: &engine::Exposure) -> String {
    let Some(invariant) = certificate.invariant() else { return String::new() };
    let words = Words::new(model, invariant);
    let mut facts: Vec<String> = Vec::new();
    for (process, fact) in &round.facts {
        let text = words.fact(*process, fact, &[(*process, "k".to_owned())]);
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
