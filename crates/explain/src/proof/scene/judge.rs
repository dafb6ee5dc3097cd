//! Whether a sentence is true in every row of a scene: none is printed of which that was not found out.
//!
//! In: a [`SentenceFormula`] whose first letter denotes the first process that is seen, and quantifiers over others. Out: its truth in a row, in
//! three-valued logic: contents that are hidden are not known, nor is anything about processes that are not seen. What holds for all processes that
//! are seen holds for all, since those that are seen may be any; so `forall` and `at most` are decided by the seen ones, where they are
//! enough. Whether there is a further process is decided by the column that says so, or by a process that is seen. Nothing here is shared with what finds the sentences but the names of columns.

use std::cell::Cell;

use base::Budget;

use super::super::formula::{
    CellTerm, IndexName, Letter, NamedProcess, PlaceName, QuantifiedSentence, Quantity, SentenceFormula, Test,
    ValueTerm,
};
use super::local::{renamed, renamed_value};
use super::{CertificateScene, SceneEntry, Shown};

/// More evaluations in local states than this are not made for one sentence.
const MOST_EVALUATIONS: usize = 2_000_000;

/// A row, and a choice of local states of which the row only shows the block.
#[derive(Clone)]
struct SupposedRow<'a> {
    scene: &'a CertificateScene,
    row: &'a [SceneEntry],
    /// A column with a block, and the local state that is supposed.
    locals: Vec<(usize, &'a Vec<SceneEntry>)>,
    looks: &'a Cell<usize>,
}

/// Whether the formula is true in all rows of the scene.
pub(in super::super) fn is_true(scene: &CertificateScene, formula: &SentenceFormula, budget: &Budget) -> bool {
    let looks = Cell::new(0);
    scene.rows.iter().enumerate().all(|(nth, row)| {
        let is_in_time = nth % 256 != 0 || budget.check(0).is_ok();
        is_in_time && SupposedRow { scene, row, locals: Vec::new(), looks: &looks }.decided(formula, &[0]) == Some(true)
    })
}

impl<'a> SupposedRow<'a> {
    /// The truth, by cases of local states where it takes them. `letters` are the seen processes that letters denote.
    fn decided(&self, formula: &SentenceFormula, letters: &[usize]) -> Option<bool> {
        if let Some(known) = self.truth(formula, letters) {
            return Some(known);
        }
        let open = |column: &usize| {
            matches!(self.scene.columns[*column], Shown::Block(..)) && !self.locals.iter().any(|(at, _)| at == column)
        };
        let column = (0..self.scene.columns.len()).find(open)?;
        let (Shown::Block(_, blocks), SceneEntry::Block(block)) = (&self.scene.columns[column], self.row[column])
        else {
            return None;
        };
        let mut found: Option<bool> = None;
        for state in blocks.states_of(block) {
            self.looks.set(self.looks.get() + 1);
            if self.looks.get() > MOST_EVALUATIONS {
                return None;
            }
            let case = SupposedRow { locals: [&self.locals[..], &[(column, state)]].concat(), ..self.clone() };
            let truth = case.decided(formula, letters)?;
            if found.is_some_and(|known| known != truth) {
                return None;
            }
            found = Some(truth);
        }
        found
    }

    fn truth(&self, formula: &SentenceFormula, letters: &[usize]) -> Option<bool> {
        match formula {
            SentenceFormula::Constant(truth) => Some(*truth),
            SentenceFormula::Cell(term, test) => self.passes(self.cell(term, letters)?, test, letters),
            SentenceFormula::At(who, spots) => {
                let place = self.place(self.who(*who, letters)?)?;
                Some(spots.contains(&PlaceName { place, counters: None }))
            }
            SentenceFormula::Not(inner) => self.truth(inner, letters).map(|inner| !inner),
            SentenceFormula::All(parts) => all(parts.iter().map(|part| self.truth(part, letters))),
            SentenceFormula::Any(parts) => any(parts.iter().map(|part| self.truth(part, letters))),
            SentenceFormula::Implies(one, other) => {
                any([self.truth(one, letters).map(|one| !one), self.truth(other, letters)].into_iter())
            }
            SentenceFormula::Iff(one, other) => Some(self.truth(one, letters)? == self.truth(other, letters)?),
            SentenceFormula::Quantified(quantified) => self.of_quantified(quantified, letters),
            SentenceFormula::Sum(..) | SentenceFormula::Tally(_) => None,
        }
    }

    fn of_quantified(&self, quantified: &QuantifiedSentence, letters: &[usize]) -> Option<bool> {
        let QuantifiedSentence { quantity, letters: bound, except, body, family } = quantified;
        if *family != self.scene.family {
            return None;
        }
        let is_said = |shown: &Shown| matches!(shown, Shown::Somebody(known) if known == quantified);
        if let Some(column) = self.scene.columns.iter().position(is_said) {
            return match self.row[column] {
                SceneEntry::Value(model::value::Value::Bool(truth)) => Some(truth),
                _ => None,
            };
        }
        let mut left_out = Vec::new();
        for who in except {
            let NamedProcess::Letter(letter) = who else { return None };
            left_out.push(*letters.get(letter.at)?);
        }
        let free: Vec<usize> = (0..self.scene.n_letters).filter(|seen| !left_out.contains(seen)).collect();
        let n_bound = match quantity {
            Quantity::AtMost(most) => most + 1,
            Quantity::ForAll | Quantity::Exists => bound.len(),
        };
        let mut choices: Vec<Vec<usize>> = vec![Vec::new()];
        for _ in 0..n_bound {
            let longer = |choice: &Vec<usize>| {
                let others = free.iter().filter(|seen| !choice.contains(seen));
                others.map(|&seen| [&choice[..], &[seen]].concat()).collect::<Vec<_>>()
            };
            choices = choices.iter().flat_map(longer).collect();
        }
        // The view shows no process that the sentence could be about.
        if choices.is_empty() {
            return None;
        }
        let with = |places: &[usize], processes: &[usize]| {
            let mut more = letters.to_vec();
            for (&at, &seen) in places.iter().zip(processes) {
                more.resize(more.len().max(at + 1), usize::MAX);
                more[at] = seen;
            }
            self.truth(body, &more)
        };
        match quantity {
            Quantity::ForAll => all(choices.iter().map(|choice| with(bound, choice))),
            Quantity::Exists => choices.iter().any(|choice| with(bound, choice) == Some(true)).then_some(true),
            Quantity::AtMost(_) => {
                let [letter] = bound[..] else { return None };
                let is_all = |choice: &Vec<usize>| all(choice.iter().map(|&seen| with(&[letter], &[seen])));
                any(choices.iter().map(is_all)).map(|some| !some)
            }
        }
    }

    /// The name in the scene of the process that a sentence names.
    fn who(&self, who: NamedProcess, letters: &[usize]) -> Option<NamedProcess> {
        let seen = |letter: Letter| {
            let at = *letters.get(letter.at).filter(|at| **at < self.scene.n_letters)?;
            Some(Letter { at, family: letter.family })
        };
        Some(match who {
            NamedProcess::Process(_) => who,
            NamedProcess::Letter(letter) => NamedProcess::Letter(seen(letter)?),
            NamedProcess::After(letter, distance) => NamedProcess::After(seen(letter)?, distance),
            NamedProcess::TreePosition(letter, position) => NamedProcess::TreePosition(seen(letter)?, position),
        })
    }

    fn place(&self, who: NamedProcess) -> Option<model::control::PlaceId> {
        let place = |entry: SceneEntry| match entry {
            SceneEntry::Place(place) => Some(place),
            _ => None,
        };
        let columns = self.scene.columns.iter().enumerate();
        { columns }.find_map(|(at, shown)| match shown {
            Shown::Place(one) if *one == who => place(self.row[at]),
            Shown::Block(one, blocks) if *one == who => {
                let control = blocks.columns.iter().position(|shown| matches!(shown, Some(Shown::Place(_))))?;
                place(self.local(at)?[control])
            }
            _ => None,
        })
    }

    fn local(&self, column: usize) -> Option<&'a Vec<SceneEntry>> {
        self.locals.iter().find(|(at, _)| *at == column).map(|(_, state)| *state)
    }

    fn cell(&self, term: &CellTerm, letters: &[usize]) -> Option<SceneEntry> {
        let index = |index: &IndexName| match *index {
            IndexName::Of(who) => self.who(who, letters).map(IndexName::Of),
            number @ IndexName::Number(_) => Some(number),
        };
        let owner = match term.owner {
            Some(who) => Some(self.who(who, letters)?),
            None => None,
        };
        let indices = term.indices.iter().map(index).collect::<Option<Vec<IndexName>>>()?;
        let wanted = CellTerm { var: term.var, owner, indices };
        let columns = self.scene.columns.iter().enumerate();
        let found = { columns }.find_map(|(at, shown)| match shown {
            Shown::Cell(known, _) if *known == wanted => Some(self.row[at]),
            Shown::Block(who, blocks) => {
                let is_it = |shown: &Option<Shown>| matches!(shown, Some(Shown::Cell(known, _)) if renamed(known, blocks.own, *who) == wanted);
                let column = blocks.columns.iter().position(is_it)?;
                let entry = self.local(at)?[column];
                Some(if entry == SceneEntry::Process(blocks.own) { SceneEntry::Process(*who) } else { entry })
            }
            _ => None,
        });
        found.filter(|entry| *entry != SceneEntry::Hidden)
    }

    fn passes(&self, entry: SceneEntry, test: &Test, letters: &[usize]) -> Option<bool> {
        let number = match entry {
            SceneEntry::Value(model::value::Value::Int(number)) => Some(number),
            _ => None,
        };
        let equals = |term: &ValueTerm| -> Option<bool> {
            let term = match *term {
                ValueTerm::Process(who) => renamed_value(*term, who, self.who(who, letters)?),
                plain => plain,
            };
            match entry {
                SceneEntry::Another => match term {
                    ValueTerm::Plain(_) | ValueTerm::Process(NamedProcess::Letter(_) | NamedProcess::Process(_)) => {
                        Some(false)
                    }
                    // That process has no name here, and processes that have one are named.
                    ValueTerm::Process(NamedProcess::After(..) | NamedProcess::TreePosition(..)) => None,
                },
                other => Some(other.value() == Some(term)),
            }
        };
        match test {
            Test::In(terms) => any(terms.iter().map(equals)),
            Test::NotIn(terms) => any(terms.iter().map(equals)).map(|some| !some),
            Test::AtMost(most) => number.map(|number| number <= *most),
            Test::AtLeast(least) => number.map(|number| number >= *least),
        }
    }
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
