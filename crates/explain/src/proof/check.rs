//! Whether a sentence is true in every view state of a proof's sets: none is printed of which that was not found out.
//!
//! In: a [`SentenceFormula`], the members that it is about, and the processes that its letters denote there. Out: whether it is true in each of their view
//! states, as [`truth`] evaluates it; with a symmetry also in each of the images. A sentence that takes too long to judge does not pass.
//!
//! Only the columns that the sentence reads are examined, and of their numbers only what its tests distinguish; each combination that occurs in the
//! set is evaluated once. Nothing here is shared with what finds the sentences.

use std::collections::{BTreeSet, HashSet};

use base::Budget;
use evidence::certificate::{Column, Member, SplitInvariant, StateSet};
use model::Model;
use model::process::ProcessId;
use model::value::Value;

use super::formula::{CellTerm, IndexName, LetterMeaning, NamedProcess, SentenceFormula, Test, ValueTerm};
use super::truth::truth;
use super::view_state::{MemberView, PartialViewState, ProcessRenaming};

/// Of more images than this only some are examined, and only for sentences that name no process.
const MOST_IMAGES: usize = 64;
/// Sentences that name no process are examined in so many images: by symmetry one would do.
const ENOUGH_IMAGES: usize = 4;
/// More combinations than this are not kept.
const MOST_COMBINATIONS: usize = 300_000;

/// Judges sentences of one invariant.
pub struct SentenceJudge<'a> {
    /// The program.
    pub model: &'a Model,
    /// The invariant.
    pub invariant: &'a SplitInvariant,
    /// What judging may use.
    pub budget: &'a Budget,
}

/// A member that a sentence is about, and the processes that the letters denote.
#[derive(Clone, Debug)]
pub struct MemberSentence {
    /// The member's position.
    pub member: usize,
    /// The processes.
    pub own: Vec<ProcessId>,
}

impl SentenceJudge<'_> {
    /// Which sentences are true in all view states of these members and, where they represent their images, in those of the images.
    pub fn accepts(&self, formulas: &[SentenceFormula], said: &[MemberSentence]) -> Vec<bool> {
        let mut accepted = vec![true; formulas.len()];
        for said in said {
            let images =
                if self.invariant.symmetry.is_some() { self.images(&said.own) } else { vec![said.own.clone()] };
            for (formula, accepted) in formulas.iter().zip(&mut accepted) {
                // What names no process is true in all images if it is true in one.
                *accepted &= images.len() <= MOST_IMAGES || self.names_no_process(formula);
            }
            for (nth, image) in images.iter().take(MOST_IMAGES).enumerate() {
                let permutation = ProcessRenaming::taking(self.model, &said.own, image);
                let member = &self.invariant.members[said.member];
                let Some(view) = MemberView::new(self.model, self.invariant, member, &permutation) else {
                    return vec![false; formulas.len()];
                };
                for (formula, accepted) in formulas.iter().zip(&mut accepted).filter(|(_, accepted)| **accepted) {
                    let is_seen = nth >= ENOUGH_IMAGES && self.names_no_process(formula);
                    *accepted = is_seen || self.is_true_in(formula, member, (&view, image)) == Some(true);
                }
            }
        }
        accepted
    }

    /// All choices of different processes, each of the family of the one for which it is taken; the processes themselves come first.
    fn images(&self, own: &[ProcessId]) -> Vec<Vec<ProcessId>> {
        let mut images: Vec<Vec<ProcessId>> = vec![Vec::new()];
        for &process in own {
            let family = &self.model.families[self.model.processes[process].family];
            let longer = |image: &Vec<ProcessId>| {
                let others = family.processes().filter(|other| !image.contains(other)).collect::<Vec<_>>();
                others.into_iter().map(|other| [&image[..], &[other]].concat()).collect::<Vec<_>>()
            };
            // One more than are examined tells that there are more.
            images = images.iter().flat_map(longer).take(MOST_IMAGES * family.count() + 1).collect();
        }
        let at = images.iter().position(|image| image == own);
        match at {
            Some(at) => images.swap(0, at),
            None => images.insert(0, own.to_vec()),
        }
        images
    }

    /// Whether the sentence reads the same after every permutation of processes: then it is true in all images if it is in one.
    fn names_no_process(&self, formula: &SentenceFormula) -> bool {
        let is_alone = |process: ProcessId| self.model.families[self.model.processes[process].family].count() == 1;
        let is_free = |who: &NamedProcess| match who {
            NamedProcess::Process(process) => is_alone(*process),
            NamedProcess::Letter(_) => true,
            NamedProcess::After(..) | NamedProcess::TreePosition(..) => false,
        };
        formula.named().iter().all(is_free) && self.has_no_fixed_element(formula)
    }

    /// Whether no element is named by a number where elements go with processes, and no process is a plain value.
    fn has_no_fixed_element(&self, formula: &SentenceFormula) -> bool {
        match formula {
            SentenceFormula::Constant(_) | SentenceFormula::At(..) => true,
            SentenceFormula::Cell(term, test) => {
                let is_process = |value: &ValueTerm| matches!(value, ValueTerm::Plain(Value::Process(_)));
                let names = matches!(test, Test::In(values) | Test::NotIn(values) if values.iter().any(is_process));
                !self.is_fixed_element(term) && !names
            }
            SentenceFormula::Sum(terms, _) => !terms.iter().any(|(_, term)| self.is_fixed_element(term)),
            SentenceFormula::Not(inner) => self.has_no_fixed_element(inner),
            SentenceFormula::All(parts) | SentenceFormula::Any(parts) => {
                parts.iter().all(|part| self.has_no_fixed_element(part))
            }
            SentenceFormula::Implies(one, other) | SentenceFormula::Iff(one, other) => {
                self.has_no_fixed_element(one) && self.has_no_fixed_element(other)
            }
            SentenceFormula::Quantified(quantified) => self.has_no_fixed_element(&quantified.body),
            SentenceFormula::Tally(_) => false,
        }
    }

    /// Whether an element is named by a number where elements go with processes.
    fn is_fixed_element(&self, term: &CellTerm) -> bool {
        let moves = |dimension: usize| {
            let dimensions = self.invariant.symmetry.iter().flat_map(|symmetry| &symmetry.dimensions);
            { dimensions }.any(|one| one.var == term.var && one.dimension == dimension)
        };
        let is_fixed = |(at, index): (usize, &IndexName)| matches!(index, IndexName::Number(_)) && moves(at);
        term.indices.iter().enumerate().any(is_fixed)
    }

    /// Whether the sentence is true in every view state of a member's image; `None` where that is not found out.
    fn is_true_in(
        &self,
        formula: &SentenceFormula,
        member: &Member,
        (view, own): (&MemberView<'_>, &[ProcessId]),
    ) -> Option<bool> {
        let meaning = LetterMeaning::new(self.model, own);
        let mut reads = Reads { view, columns: BTreeSet::new(), summed: BTreeSet::new(), atoms: Vec::new() };
        reads.collect(&meaning, formula)?;
        let kinds: Vec<Option<Vec<u32>>> = (0..view.columns.len())
            .map(|column| reads.columns.contains(&column).then(|| reads.kinds(column)))
            .collect();
        let rows = KindRows { kinds: &kinds, budget: self.budget }.of(&member.states)?;
        for (nth, row) in rows.iter().enumerate() {
            if nth % 256 == 0 {
                self.budget.check(0).ok()?;
            }
            if truth(&meaning, formula, &PartialViewState::new(view, row)) != Some(true) {
                return Some(false);
            }
        }
        Some(true)
    }
}

/// What a formula reads of a view.
struct Reads<'f, 'v, 'a> {
    view: &'v MemberView<'a>,
    columns: BTreeSet<usize>,
    /// Those of which every number counts, since they are added to others.
    summed: BTreeSet<usize>,
    /// The tests, each with what letters denote and the column that it reads.
    atoms: Vec<(usize, LetterMeaning<'a>, &'f SentenceFormula)>,
}

impl<'f, 'a> Reads<'f, '_, 'a> {
    /// Notes every test, for every instance of quantifiers; `None` where one reads what the view does not show.
    fn collect(&mut self, meaning: &LetterMeaning<'a>, formula: &'f SentenceFormula) -> Option<()> {
        match formula {
            SentenceFormula::Constant(_) => {}
            SentenceFormula::Cell(term, _) => {
                let column = self.view.column_of_cell(meaning.cell(term)?)?;
                self.note(column, meaning, formula);
            }
            SentenceFormula::Sum(terms, _) => {
                for (_, term) in terms {
                    let column = self.view.column_of_cell(meaning.cell(term)?)?;
                    self.columns.insert(column);
                    self.summed.insert(column);
                }
            }
            SentenceFormula::At(who, _) => {
                let column = self.view.column_of_place(meaning.process(*who)?)?;
                self.note(column, meaning, formula);
            }
            SentenceFormula::Not(inner) => self.collect(meaning, inner)?,
            SentenceFormula::All(parts) | SentenceFormula::Any(parts) => {
                parts.iter().try_for_each(|part| self.collect(meaning, part))?;
            }
            SentenceFormula::Implies(one, other) | SentenceFormula::Iff(one, other) => {
                self.collect(meaning, one)?;
                self.collect(meaning, other)?;
            }
            SentenceFormula::Quantified(quantified) => {
                for choice in meaning.choices(quantified)? {
                    self.collect(&meaning.with(&quantified.letters, &choice), &quantified.body)?;
                }
            }
            SentenceFormula::Tally(_) => return None,
        }
        Some(())
    }

    fn note(&mut self, column: usize, meaning: &LetterMeaning<'a>, formula: &'f SentenceFormula) {
        self.columns.insert(column);
        self.atoms.push((column, meaning.clone(), formula));
    }

    /// For each number of a column the first one that no test distinguishes from it.
    fn kinds(&self, column: usize) -> Vec<u32> {
        let n_numbers = self.view.n_numbers(column) as u32;
        if matches!(self.view.columns[column], Column::Exposed(_)) || self.summed.contains(&column) {
            return (0..n_numbers).collect();
        }
        let atoms: Vec<_> = self.atoms.iter().filter(|(at, ..)| *at == column).collect();
        let mut seen: Vec<(Vec<Option<bool>>, u32)> = Vec::new();
        let mut row = vec![None; self.view.columns.len()];
        let mut kind = |number: u32| {
            row[column] = Some(number);
            let state = PartialViewState::new(self.view, &row);
            let truths: Vec<Option<bool>> =
                atoms.iter().map(|(_, meaning, atom)| truth(meaning, atom, &state)).collect();
            match seen.iter().find(|(known, _)| *known == truths) {
                Some((_, first)) => *first,
                None => {
                    seen.push((truths, number));
                    number
                }
            }
        };
        (0..n_numbers).map(&mut kind).collect()
    }
}

/// Lists the combinations of some columns' kinds of numbers that occur in a set.
struct KindRows<'k> {
    /// For each column that is examined the kind of each number.
    kinds: &'k [Option<Vec<u32>>],
    budget: &'k Budget,
}

impl KindRows<'_> {
    fn of(&self, states: &StateSet) -> Option<HashSet<Vec<Option<u32>>>> {
        match states {
            StateSet::Rows(rows) => self.listed(rows),
            StateSet::Diagram { order, nodes } => self.drawn(order, nodes),
        }
    }

    fn listed(&self, rows: &[Vec<u32>]) -> Option<HashSet<Vec<Option<u32>>>> {
        let mut found = HashSet::new();
        for (nth, row) in rows.iter().enumerate() {
            if nth % 4096 == 0 {
                self.budget.check(0).ok()?;
            }
            let kind = |(kinds, number): (&Option<Vec<u32>>, &u32)| match kinds {
                Some(kinds) => kinds.get(*number as usize).map(|kind| Some(*kind)),
                None => Some(None),
            };
            found.insert(self.kinds.iter().zip(row).map(kind).collect::<Option<Vec<_>>>()?);
            if found.len() > MOST_COMBINATIONS {
                return None;
            }
        }
        Some(found)
    }

    /// Bit by bit from the top: the nodes that are reached, each with the numbers as far as they were read.
    fn drawn(&self, order: &[(usize, u32)], nodes: &[(u32, u32, u32)]) -> Option<HashSet<Vec<Option<u32>>>> {
        let n_bits = |column: usize| {
            let size = self.kinds[column].as_ref().map_or(0, Vec::len) as u32;
            u32::BITS - size.saturating_sub(1).leading_zeros()
        };
        // Bits that the diagram does not have may be anything.
        let mut bits: Vec<(usize, u32)> = order.to_vec();
        for column in (0..self.kinds.len()).filter(|&column| self.kinds[column].is_some()) {
            let missing = (0..n_bits(column)).filter(|bit| !order.contains(&(column, *bit)));
            bits.extend(missing.map(|bit| (column, bit)));
        }
        let root = nodes.len().checked_sub(1).map_or(1, |last| last as u32 + 2);
        let start: Vec<Option<u32>> = self.kinds.iter().map(|kinds| kinds.as_ref().map(|_| 0)).collect();
        let mut reached: HashSet<(u32, Vec<Option<u32>>)> = HashSet::from([(root, start)]);
        for (position, &(column, bit)) in bits.iter().enumerate() {
            self.budget.check(0).ok()?;
            let is_last = !bits[position + 1..].iter().any(|(other, _)| *other == column);
            let mut next = HashSet::new();
            for (node, numbers) in reached {
                let branches = match node.checked_sub(2).and_then(|at| nodes.get(at as usize)) {
                    Some(&(at, low, high)) if at as usize == position => [low, high],
                    _ => [node, node],
                };
                for (value, node) in (0..).zip(branches).filter(|(_, node)| *node != 0) {
                    let mut numbers = numbers.clone();
                    if let Some(kinds) = &self.kinds[column] {
                        let number = numbers[column].unwrap_or(0) | value << (n_bits(column) - 1 - bit);
                        // Codes without a meaning are not in the set.
                        let read = if is_last { kinds.get(number as usize).copied() } else { Some(number) };
                        let Some(read) = read else { continue };
                        numbers[column] = Some(read);
                    }
                    next.insert((node, numbers));
                }
                if next.len() > MOST_COMBINATIONS {
                    return None;
                }
            }
            reached = next;
        }
        Some(reached.into_iter().filter(|(node, _)| *node == 1).map(|(_, numbers)| numbers).collect())
    }
}
