//! Whether a sentence is true, where it may not be known of every cell and every process what they have and at which place they are.
//!
//! In: a [`SentenceFormula`], what its letters denote, and [`StateKnowledge`]: a whole state, or a view state that shows a part of one. Out: its truth, or
//! `None` where that depends on what is not known: three-valued logic, and where all that is unknown is the local state of one process, an evaluation
//! in each local state in which that process can be. It knows nothing of how sentences are found, so that it can judge them.

use std::collections::BTreeSet;

use model::control::PlaceId;
use model::eval::State;
use model::process::ProcessId;
use model::value::Value;
use model::variable::CellId;

use super::formula::{
    CellTerm, LetterMeaning, PlaceName, ProcessTally, QuantifiedSentence, Quantity, SentenceFormula, Test,
};

/// What is known of a state.
pub trait StateKnowledge: Sized {
    /// What a cell has, if that is known.
    fn value(&self, cell: CellId) -> Option<Value>;

    /// The place of a process, if that is known.
    fn place(&self, process: ProcessId) -> Option<PlaceId>;

    /// The cases of which one is so, each with more known about a process; none where they are too many to be enumerated.
    fn cases(&self, process: ProcessId) -> Vec<Self>;
}

/// A whole state: everything is known.
pub struct WholeState<'a>(pub &'a State);

impl StateKnowledge for WholeState<'_> {
    fn value(&self, cell: CellId) -> Option<Value> {
        self.0.cells.get(cell.index()).copied()
    }

    fn place(&self, process: ProcessId) -> Option<PlaceId> {
        Some(self.0.place(process))
    }

    fn cases(&self, _process: ProcessId) -> Vec<Self> {
        Vec::new()
    }
}

/// Whether a formula is true; `None` where that is not known.
pub fn truth(meaning: &LetterMeaning<'_>, formula: &SentenceFormula, facts: &impl StateKnowledge) -> Option<bool> {
    let found = match formula {
        SentenceFormula::Constant(truth) => Some(*truth),
        SentenceFormula::Cell(term, test) => passes(meaning, test, facts.value(meaning.cell(term)?)),
        SentenceFormula::Sum(terms, test) => passes(meaning, test, sum(meaning, terms, facts).map(Value::Int)),
        SentenceFormula::At(who, spots) => stands(meaning, meaning.process(*who)?, spots, facts),
        SentenceFormula::Not(inner) => truth(meaning, inner, facts).map(|inner| !inner),
        SentenceFormula::All(parts) => all(parts.iter().map(|part| truth(meaning, part, facts))),
        SentenceFormula::Any(parts) => any(parts.iter().map(|part| truth(meaning, part, facts))),
        SentenceFormula::Implies(one, other) => {
            let not_one = truth(meaning, one, facts).map(|one| !one);
            any([not_one, truth(meaning, other, facts)].into_iter())
        }
        SentenceFormula::Iff(one, other) => Some(truth(meaning, one, facts)? == truth(meaning, other, facts)?),
        SentenceFormula::Quantified(quantified) => of_quantified(meaning, quantified, facts),
        SentenceFormula::Tally(tally) => of_tally(meaning, tally, facts),
    };
    found.or_else(|| by_cases(meaning, formula, facts))
}

fn all(parts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut known = Some(true);
    for part in parts {
        match part {
            Some(false) => return Some(false),
            Some(true) => {}
            None => known = None,
        }
    }
    known
}

fn any(parts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    all(parts.map(|part| part.map(|truth| !truth))).map(|truth| !truth)
}

fn passes(meaning: &LetterMeaning<'_>, test: &Test, value: Option<Value>) -> Option<bool> {
    let value = value?;
    let number = match value {
        Value::Int(number) => Some(number),
        _ => None,
    };
    match test {
        Test::In(terms) => any(terms.iter().map(|term| Some(meaning.value(term)? == value))),
        Test::NotIn(terms) => all(terms.iter().map(|term| Some(meaning.value(term)? != value))),
        Test::AtMost(most) => number.map(|number| number <= *most),
        Test::AtLeast(least) => number.map(|number| number >= *least),
    }
}

fn stands(
    meaning: &LetterMeaning<'_>,
    process: ProcessId,
    spots: &[PlaceName],
    facts: &impl StateKnowledge,
) -> Option<bool> {
    let place = facts.place(process)?;
    any(spots.iter().filter(|spot| spot.place == place).map(|spot| {
        let Some(counters) = &spot.counters else { return Some(true) };
        all(counters.iter().map(|(var, term)| {
            let cell = meaning.model.cells_of(*var, Some(process)).next()?;
            Some(facts.value(cell)? == meaning.value(term)?)
        }))
    }))
}

fn of_quantified(
    meaning: &LetterMeaning<'_>,
    quantified: &QuantifiedSentence,
    facts: &impl StateKnowledge,
) -> Option<bool> {
    let choices = meaning.choices(quantified)?;
    let instance = |choice: &Vec<ProcessId>| truth(&meaning.with(&quantified.letters, choice), &quantified.body, facts);
    match quantified.quantity {
        Quantity::ForAll => all(choices.iter().map(instance)),
        Quantity::Exists => any(choices.iter().map(instance)),
        Quantity::AtMost(most) => {
            let truths: Vec<Option<bool>> = choices.iter().map(instance).collect();
            let n_true = truths.iter().filter(|truth| **truth == Some(true)).count();
            let n_unknown = truths.iter().filter(|truth| truth.is_none()).count();
            match n_true > most {
                true => Some(false),
                false => (n_true + n_unknown <= most).then_some(true),
            }
        }
    }
}

/// What cells have together, each added so often; `None` where one is not known, or holds no number.
fn sum(meaning: &LetterMeaning<'_>, terms: &[(i64, CellTerm)], facts: &impl StateKnowledge) -> Option<i64> {
    terms.iter().try_fold(0_i64, |sum, (times, term)| match facts.value(meaning.cell(term)?)? {
        Value::Int(number) => sum.checked_add(times.checked_mul(number)?),
        _ => None,
    })
}

fn of_tally(meaning: &LetterMeaning<'_>, tally: &ProcessTally, facts: &impl StateKnowledge) -> Option<bool> {
    let mut sum = sum(meaning, &tally.cells, facts)?;
    for (times, counted) in &tally.counts {
        for process in meaning.model.families[counted.family].processes() {
            let is_counted = truth(&meaning.with(&[counted.letter], &[process]), &counted.body, facts)?;
            sum += if is_counted { *times } else { 0 };
        }
    }
    let sum = if tally.modulus == 0 { sum } else { sum.rem_euclid(tally.modulus) };
    Some(if tally.is_least { sum >= tally.total } else { sum == tally.total })
}

/// The truth in every case in which the one process can be of which too little is known.
fn by_cases(meaning: &LetterMeaning<'_>, formula: &SentenceFormula, facts: &impl StateKnowledge) -> Option<bool> {
    let mut unknown = BTreeSet::new();
    unknowns(meaning, formula, facts, &mut unknown)?;
    let mut unknown = unknown.into_iter();
    let (process, None) = (unknown.next()?, unknown.next()) else { return None };
    let cases = facts.cases(process);
    let first = truth(meaning, formula, cases.first()?)?;
    cases[1..].iter().all(|case| truth(meaning, formula, case) == Some(first)).then_some(first)
}

/// The processes of whose local states a formula needs to know more; `None` where it needs something else.
fn unknowns(
    meaning: &LetterMeaning<'_>,
    formula: &SentenceFormula,
    facts: &impl StateKnowledge,
    found: &mut BTreeSet<ProcessId>,
) -> Option<()> {
    match formula {
        SentenceFormula::Constant(_) => {}
        SentenceFormula::Cell(term, _) => {
            let cell = meaning.cell(term)?;
            if facts.value(cell).is_none() {
                found.insert(meaning.model.cells[cell].owner?);
            }
        }
        SentenceFormula::At(who, _) => {
            let process = meaning.process(*who)?;
            if facts.place(process).is_none() {
                found.insert(process);
            }
        }
        SentenceFormula::Not(inner) => unknowns(meaning, inner, facts, found)?,
        SentenceFormula::All(parts) | SentenceFormula::Any(parts) => {
            parts.iter().try_for_each(|part| unknowns(meaning, part, facts, found))?;
        }
        SentenceFormula::Implies(one, other) | SentenceFormula::Iff(one, other) => {
            unknowns(meaning, one, facts, found)?;
            unknowns(meaning, other, facts, found)?;
        }
        SentenceFormula::Quantified(quantified) => {
            for choice in meaning.choices(quantified)? {
                unknowns(&meaning.with(&quantified.letters, &choice), &quantified.body, facts, found)?;
            }
        }
        SentenceFormula::Sum(..) | SentenceFormula::Tally(_) => return None,
    }
    Some(())
}
