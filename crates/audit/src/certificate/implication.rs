//! The parts of a property that a certificate states: whether they are parts at all, and whether together they are the property.
//!
//! In: a property and what is stated of it ([`Implied`]). Out: each part as something that can be put to sets of view states, with
//! the processes from whose invariants it is said to follow; or what is missing, since the parts do not make up the property. A
//! part may name any processes that it looks at, and more; whether it follows from them is asked later.

use std::collections::HashSet;

use base::Budget;
use evidence::implication::{Demand, Implied, Part};
use model::Model;
use model::process::ProcessId;
use model::property::PropertyKind;

use super::claimed::names;
use super::clause::Clause;
use super::cover::Cover;
use super::movers::Movers;
use super::symmetry::Symmetry;
use super::terms::{Mentions, Terms};
use super::{CertificateError, Outcome, words};

/// What has to follow.
pub(super) enum Demanded<'e> {
    /// A clause of an invariant, and what it looks at.
    Clause(Clause<'e>, Mentions),
    /// No step of the movers fails.
    NoFault(Movers),
    /// No steps of both access one cell at once, one of them writing.
    NoRace([Movers; 2]),
    /// Somebody can move, or nobody is stuck.
    NoDeadlock,
}

/// A part, with the processes from whose invariants it is said to follow.
pub(super) struct Stated<'e> {
    pub demanded: Demanded<'e>,
    pub from: &'e [ProcessId],
}

/// The program and its property.
pub(super) struct Implication<'e> {
    pub terms: &'e Terms<'e>,
    pub property: &'e PropertyKind,
    /// Everybody who can move.
    pub movers: &'e [Movers],
    /// How many processes an invariant speaks of.
    pub k: usize,
    /// The permutations under which the program is its own image, where invariants stand for their images.
    pub symmetry: Option<&'e Symmetry<'e>>,
    pub budget: &'e Budget,
}

impl<'e> Implication<'e> {
    /// The parts, if they are parts of the property and make it up.
    pub fn parts(&self, stated: &'e [Implied]) -> Outcome<Vec<Stated<'e>>> {
        let parts = stated.iter().map(|implied| self.part(implied)).collect::<Outcome<Vec<Stated<'e>>>>()?;
        match self.property {
            PropertyKind::Invariant(expr) => self.covers(&parts, expr, Demand::True),
            PropertyKind::Reachable(expr) => self.covers(&parts, expr, Demand::False),
            PropertyKind::NoErrors => self.all_steps(&parts),
            PropertyKind::RaceFree(_) => self.all_races(&parts),
            PropertyKind::DeadlockFree if parts.is_empty() => not_said("that somebody can move"),
            PropertyKind::DeadlockFree => Ok(()),
            PropertyKind::Temporal(_) => match parts.is_empty() {
                true => Ok(()),
                false => malformed("parts of a temporal property are named by the claims about runs"),
            },
        }?;
        Ok(parts)
    }

    fn model(&self) -> &'e Model {
        self.terms.model
    }

    fn part(&self, implied: &'e Implied) -> Outcome<Stated<'e>> {
        let Implied { part, from } = implied;
        self.budget.check(0)?;
        self.check_processes(from)?;
        let demanded = match (part, self.property) {
            (Part::Clause(clause), PropertyKind::Invariant(expr) | PropertyKind::Reachable(expr)) => {
                let clause = Clause::stated(self.terms, expr, clause)?;
                let mentions = clause.mentions(self.terms)?;
                Demanded::Clause(clause, mentions)
            }
            (Part::NoFault(movers), PropertyKind::NoErrors) => Demanded::NoFault(self.movers(movers)?),
            (Part::NoRace(one, other), PropertyKind::RaceFree(_)) if one != other || one.len() > 1 => {
                Demanded::NoRace([self.movers(one)?, self.movers(other)?])
            }
            (Part::NoDeadlock, PropertyKind::DeadlockFree) => Demanded::NoDeadlock,
            _ => return malformed("it states a part of another kind of property"),
        };
        let needed: Vec<ProcessId> = match &demanded {
            Demanded::Clause(_, mentions) => mentions.processes.iter().copied().collect(),
            Demanded::NoFault(movers) => movers.processes(),
            Demanded::NoRace(both) => both.iter().flat_map(|movers| movers.processes()).collect(),
            Demanded::NoDeadlock => self.model().processes.ids().collect(),
        };
        if let Some(&missing) = needed.iter().find(|process| !from.contains(process)) {
            let what = self.text(&demanded);
            let (from, missing) = (names(self.model(), from), names(self.model(), &[missing]));
            return words::refused(
                format!("{what} has to follow from the invariants of {from}"),
                format!("it depends on {missing}"),
            );
        }
        Ok(Stated { demanded, from })
    }

    fn text(&self, demanded: &Demanded<'_>) -> String {
        let of = |movers: &Movers| names(self.model(), &movers.sequence());
        match demanded {
            Demanded::Clause(clause, _) => format!("`{}`", clause.text(self.model())),
            Demanded::NoFault(movers) => format!("that no step of {} fails", of(movers)),
            Demanded::NoRace([one, other]) => format!("that {} and {} do not race", of(one), of(other)),
            Demanded::NoDeadlock => "that somebody can move".to_owned(),
        }
    }

    fn check_processes(&self, from: &[ProcessId]) -> Outcome<()> {
        if let Some(process) = from.iter().find(|&&process| self.model().processes.get(process).is_none()) {
            return malformed(&format!("there is no process number {}", process.index()));
        }
        if !from.is_sorted_by(|one, other| one < other) {
            return malformed("a part of the property does not name its processes in ascending order");
        }
        if from.len() < self.k {
            let (names, k) = (names(self.model(), from), self.k);
            return malformed(&format!("a part of the property names fewer than {k} processes: {names}"));
        }
        Ok(())
    }

    /// The movers with these parts in a step.
    fn movers(&self, sequence: &[ProcessId]) -> Outcome<Movers> {
        let found = self.movers.iter().find(|movers| movers.sequence() == sequence);
        found.copied().map_or_else(|| malformed("it states something of a step that nobody can take"), Ok)
    }

    /// The clauses make up the expression of the property.
    fn covers(&self, parts: &[Stated<'e>], expr: &'e model::expr::Expr, demand: Demand) -> Outcome<()> {
        let clause = |part: &Stated<'e>| match &part.demanded {
            Demanded::Clause(clause, _) => Some(clause.clone()),
            _ => None,
        };
        let clauses: Vec<Clause<'e>> = parts.iter().filter_map(clause).collect();
        let alike = self.symmetry.filter(|symmetry| symmetry.property_alike());
        Cover::new(self.terms, &clauses, alike, self.budget).check(expr, demand)
    }

    /// Something is said of every step, or of an image of it.
    fn all_steps(&self, parts: &[Stated<'e>]) -> Outcome<()> {
        let step = |part: &Stated<'e>| match part.demanded {
            Demanded::NoFault(movers) => Some(self.image(&movers.sequence())),
            _ => None,
        };
        let said: HashSet<Vec<ProcessId>> = parts.iter().filter_map(step).collect();
        match self.movers.iter().find(|movers| !said.contains(&self.image(&movers.sequence()))) {
            Some(&missing) => not_said(&self.text(&Demanded::NoFault(missing))),
            None => Ok(()),
        }
    }

    /// Something is said of every two steps, or of an image of them.
    fn all_races(&self, parts: &[Stated<'e>]) -> Outcome<()> {
        let pair = |one: Movers, other: Movers| {
            // How many take part in each step, so that a meeting is not taken for two steps.
            let sizes = (one.processes().len(), other.processes().len());
            (sizes, self.image(&[one.sequence(), other.sequence()].concat()))
        };
        let mut said = HashSet::new();
        for part in parts {
            if let Demanded::NoRace([one, other]) = part.demanded {
                said.extend([pair(one, other), pair(other, one)]);
            }
        }
        for (at, &one) in self.movers.iter().enumerate() {
            for &other in &self.movers[at..] {
                self.budget.check(0)?;
                // One process takes one step at a time.
                let is_race = one != other || one.processes().len() > 1;
                if is_race && !said.contains(&pair(one, other)) {
                    return not_said(&self.text(&Demanded::NoRace([one, other])));
                }
            }
        }
        Ok(())
    }

    /// The processes, each called as the first of its family that has not occurred before where these stand for all.
    fn image(&self, sequence: &[ProcessId]) -> Vec<ProcessId> {
        let Some(symmetry) = self.symmetry else { return sequence.to_vec() };
        symmetry.renamed(sequence)
    }
}

fn not_said<T>(what: &str) -> Outcome<T> {
    words::refused("what is stated has to make up the property", format!("{what} is not stated"))
}

fn malformed<T>(what: &str) -> Outcome<T> {
    Err(CertificateError::Malformed(what.to_owned()))
}
