//! Never claims: an automaton and fairness, as a Büchi automaton that SPIN reads.
//!
//! In: an automaton with marks, what its atoms mean, and fairness assumptions. Out: the text of a claim that accepts exactly the fair
//! runs that the automaton accepts. What must happen again and again is waited for one after the other, and the claim accepts when all
//! of it has come. Of an assumption `from some point on always p, or again and again q` the claim guesses, at some point, that `p` holds
//! from then on; so strong assumptions double it.

use std::collections::BTreeMap;
use std::fmt::Write;

use ltl::{Automaton, Edge, StateId};

use super::PromelaWriter;
use super::fairness::PromelaFairness;
use crate::term::Term;

/// A claim with more edges is refused.
const MOST_EDGES: usize = 40_000;

/// Each strong assumption doubles the claim. Under six of them a claim was seen to block in the first state of a program that has a run, for a reason that is not
/// known.
const MOST_STRONG: usize = 4;

/// What a claim says.
pub struct Never<'a> {
    /// Accepts the words that are claimed never to happen.
    pub automaton: &'a Automaton,
    /// What its atoms mean.
    pub atoms: &'a [Term],
    /// What the runs satisfy.
    pub conditions: &'a [PromelaFairness],
}

/// Where a claim is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ClaimState {
    /// Nothing has been guessed yet.
    Before(usize),
    /// These assumptions are guessed to hold by their `always`, and something is waited for.
    Within { state: usize, calm: u32, waits_for: usize },
}

/// Something that must happen again and again.
enum Obligation<'a> {
    Mark(usize),
    Fairness(&'a PromelaFairness),
}

/// The text; `None` where it would be too long.
pub fn text(writer: &PromelaWriter<'_>, name: &str, never: &Never<'_>) -> Option<String> {
    let strong: Vec<&PromelaFairness> =
        never.conditions.iter().filter(|condition| condition.always.is_some()).collect();
    if strong.len() > MOST_STRONG {
        return None;
    }
    let n_edges = never.automaton.n_edges() << strong.len();
    if n_edges * (1 + never.automaton.n_marks + never.conditions.len()) > MOST_EDGES {
        return None;
    }
    let mut claim = NeverClaim { writer, never, strong, numbers: BTreeMap::new(), open: Vec::new() };
    Some(claim.write(name))
}

struct NeverClaim<'a, 'm> {
    writer: &'a PromelaWriter<'m>,
    never: &'a Never<'a>,
    strong: Vec<&'a PromelaFairness>,
    /// The number of each position so far.
    numbers: BTreeMap<ClaimState, usize>,
    /// Positions whose edges are still to be written.
    open: Vec<ClaimState>,
}

impl NeverClaim<'_, '_> {
    fn write(&mut self, name: &str) -> String {
        let mut out = format!("never {name} {{\n");
        let initial = self.never.automaton.initial.index();
        let starts: Vec<ClaimState> = if self.strong.is_empty() {
            vec![ClaimState::Within { state: initial, calm: 0, waits_for: 0 }]
        } else {
            vec![ClaimState::Before(initial)]
        };
        if self.writer.flat.starts_anywhere() {
            // The first state that counts is the first one in which everything has its value.
            let _ = writeln!(out, "claim_start:\n  if\n  :: (!started) -> goto claim_start");
            for &at in &starts {
                self.edges(at, "started && ", &mut out);
            }
            let _ = writeln!(out, "  fi;");
        } else {
            starts.iter().for_each(|&at| {
                self.number(at);
            });
        }
        while let Some(at) = self.open.pop() {
            let _ = writeln!(out, "{}:\n  if", self.label(at));
            self.edges(at, "", &mut out);
            let _ = writeln!(out, "  :: (false) -> skip\n  fi;");
        }
        // A claim that comes here was not satisfied any more.
        out + "  false\n}"
    }

    fn number(&mut self, at: ClaimState) -> usize {
        let next = self.numbers.len();
        let number = *self.numbers.entry(at).or_insert(next);
        if number == next {
            self.open.push(at);
        }
        number
    }

    fn label(&mut self, at: ClaimState) -> String {
        let number = self.number(at);
        let accepts = match at {
            ClaimState::Before(_) => false,
            ClaimState::Within { calm, waits_for, .. } => waits_for == self.obligations(calm).len(),
        };
        if accepts { format!("accept_{number}") } else { format!("claim_{number}") }
    }

    fn obligations(&self, calm: u32) -> Vec<Obligation<'_>> {
        let marks = (0..self.never.automaton.n_marks).map(Obligation::Mark);
        let mut strong_idx = 0;
        let mut found: Vec<Obligation<'_>> = marks.collect();
        for condition in self.never.conditions {
            let mut is_calm = false;
            if condition.always.is_some() {
                is_calm = calm & (1 << strong_idx) != 0;
                strong_idx += 1;
            }
            if !is_calm {
                found.push(Obligation::Fairness(condition));
            }
        }
        found
    }

    fn edges(&mut self, at: ClaimState, when: &str, out: &mut String) {
        let state = match at {
            ClaimState::Before(state) | ClaimState::Within { state, .. } => state,
        };
        let automaton = self.never.automaton;
        for edge in &automaton.states[StateId::new(state)].edges {
            let Some(label) = self.guard(edge) else { continue };
            let target = edge.target.index();
            match at {
                ClaimState::Before(_) => {
                    self.edge(&format!("{when}{label}"), ClaimState::Before(target), out);
                    for calm in 0..1u32 << self.strong.len() {
                        let first = ClaimState::Within { state: target, calm, waits_for: 0 };
                        self.edge(&format!("{when}{label}"), first, out);
                    }
                }
                ClaimState::Within { calm, waits_for, .. } => {
                    let Some(calmly) = self.calm(calm) else { continue };
                    let label = format!("{when}{label}{calmly}");
                    let n_obligations = self.obligations(calm).len();
                    if waits_for == n_obligations {
                        self.edge(&label, ClaimState::Within { state: target, calm, waits_for: 0 }, out);
                        // Something that comes with this very edge counts, too, so that few positions are needed.
                        continue;
                    }
                    let satisfied = match &self.obligations(calm)[waits_for] {
                        Obligation::Mark(mark) => edge.marks.contains(*mark).then(String::new),
                        Obligation::Fairness(condition) => self.often(condition).map(|often| format!(" && {often}")),
                    };
                    if let Some(satisfied) = satisfied {
                        let next = ClaimState::Within { state: target, calm, waits_for: waits_for + 1 };
                        self.edge(&format!("{label}{satisfied}"), next, out);
                    }
                    self.edge(&label, ClaimState::Within { state: target, calm, waits_for }, out);
                }
            }
        }
    }

    fn edge(&mut self, guard: &str, target: ClaimState, out: &mut String) {
        let target = self.label(target);
        let _ = writeln!(out, "  :: ({guard}) -> goto {target}");
    }

    /// What the state satisfies on an edge; `None` where nothing can.
    fn guard(&self, edge: &Edge) -> Option<String> {
        let cubes = edge.label.cubes.iter().map(|cube| {
            Term::all(cube.literals().into_iter().map(|(atom, holds)| {
                let term = &self.never.atoms[atom.index()];
                if holds { term.clone() } else { term.negation() }
            }))
        });
        let label = Term::any(cubes);
        if label.is(false) {
            return None;
        }
        let sound = if self.writer.flat.can_fail() { "!error && " } else { "" };
        Some(format!("{sound}({})", self.writer.print(&label)))
    }

    /// What holds from the guess on; `None` where nothing can.
    fn calm(&self, calm: u32) -> Option<String> {
        let guessed = (0..self.strong.len()).filter(|&at| calm & (1 << at) != 0);
        let all = Term::all(guessed.filter_map(|at| self.strong[at].always.clone()));
        match () {
            () if all.is(false) => None,
            () if all.is(true) => Some(String::new()),
            () => Some(format!(" && ({})", self.writer.print(&all))),
        }
    }

    fn often(&self, condition: &PromelaFairness) -> Option<String> {
        let mut parts: Vec<String> = condition.kinds.iter().map(|kind| format!("taken == {kind}")).collect();
        if !condition.often.is(false) {
            parts.push(format!("({})", self.writer.print(&condition.often)));
        }
        (!parts.is_empty()).then(|| format!("({})", parts.join(" || ")))
    }
}
