//! Sentences as values: about cells and control, with letters for processes.
//!
//! A [`SentenceFormula`] means exactly what its text says: `render` writes it, `truth` evaluates it, on whole states and on view states of which only a
//! part is known. Letters are positions: first those of the processes whose invariant it is, then those that quantifiers bind.

use std::collections::BTreeSet;

use model::Model;
use model::control::PlaceId;
use model::process::{FamilyId, ProcessId};
use model::value::Value;
use model::variable::{CellId, VarId};

/// A process, as a sentence names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NamedProcess {
    /// One and the same process.
    Process(ProcessId),
    /// The process that a letter denotes.
    Letter(Letter),
    /// The process that comes so many places after that of a letter, in the ring of its family; before it, where the number is negative.
    After(Letter, i64),
    /// A process beside that of a letter in the binary tree of its family.
    TreePosition(Letter, TreePosition),
}

/// The position of a process in a binary tree, seen from another one; the first process is the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TreePosition {
    /// The parent.
    Parent,
    /// The left child.
    Left,
    /// The right child.
    Right,
}

impl TreePosition {
    /// The position of the kin of the process at a position; `None` where it has none.
    fn of(self, position: usize) -> Option<usize> {
        match self {
            TreePosition::Parent => Some(position.checked_sub(1)? / 2),
            TreePosition::Left => Some(2 * position + 1),
            TreePosition::Right => Some(2 * position + 2),
        }
    }
}

/// A letter that denotes processes of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Letter {
    /// Which one: its position among all letters of the sentence.
    pub at: usize,
    /// The family.
    pub family: FamilyId,
}

/// The index of an array's element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IndexName {
    /// A number.
    Number(usize),
    /// The position of a process in its family.
    Of(NamedProcess),
}

/// A cell: `x`, `flag[k]`, `P[k].level`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CellTerm {
    /// The variable.
    pub var: VarId,
    /// Whose copy; `None` for a shared one.
    pub owner: Option<NamedProcess>,
    /// One for each dimension.
    pub indices: Vec<IndexName>,
}

/// A value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ValueTerm {
    /// A value that names no process.
    Plain(Value),
    /// A process.
    Process(NamedProcess),
}

/// The sentence about a cell's value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Test {
    /// It is one of these.
    In(Vec<ValueTerm>),
    /// It is none of these.
    NotIn(Vec<ValueTerm>),
    /// It is a number, and this or smaller.
    AtMost(i64),
    /// It is a number, and this or larger.
    AtLeast(i64),
}

/// A place, in every round of the loops around it or in one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PlaceName {
    /// The place.
    pub place: PlaceId,
    /// The counters of the process's loops, where one round is meant.
    pub counters: Option<Vec<(VarId, ValueTerm)>>,
}

/// What a quantifier says of the instances of its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Quantity {
    /// All of them are true.
    ForAll,
    /// Some of them is true.
    Exists,
    /// At most so many of them are true.
    AtMost(usize),
}

/// A quantified sentence: its letters denote different processes of a family.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QuantifiedSentence {
    /// The sentence.
    pub quantity: Quantity,
    /// The letters that it binds: one or two.
    pub letters: Vec<usize>,
    /// The family.
    pub family: FamilyId,
    /// The processes that are left out.
    pub except: Vec<NamedProcess>,
    /// The sentence about each choice of processes.
    pub body: Box<SentenceFormula>,
}

/// How many processes there are of some kinds, together with cells that hold numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcessTally {
    /// Cells that hold numbers, each with how often it is added.
    pub cells: Vec<(i64, CellTerm)>,
    /// What processes are counted, each with how often one is added.
    pub counts: Vec<(i64, CountedProcesses)>,
    /// Sums count modulo this; as they are where it is 0.
    pub modulus: i64,
    /// The sum.
    pub total: i64,
    /// Whether the sum may be more.
    pub is_least: bool,
}

/// How many processes of a family do something.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CountedProcesses {
    /// The letter for the process.
    pub letter: usize,
    /// The family.
    pub family: FamilyId,
    /// What it does.
    pub body: Box<SentenceFormula>,
}

/// A sentence.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SentenceFormula {
    /// True or false.
    Constant(bool),
    /// A cell's value passes a test.
    Cell(CellTerm, Test),
    /// A sum of cells that hold numbers, each with how often it is added, passes a test.
    Sum(Vec<(i64, CellTerm)>, Test),
    /// A process is at one of these places.
    At(NamedProcess, Vec<PlaceName>),
    /// The opposite.
    Not(Box<SentenceFormula>),
    /// All of these.
    All(Vec<SentenceFormula>),
    /// One of these.
    Any(Vec<SentenceFormula>),
    /// The first implies the second.
    Implies(Box<SentenceFormula>, Box<SentenceFormula>),
    /// Both or none.
    Iff(Box<SentenceFormula>, Box<SentenceFormula>),
    /// Said of processes of a family.
    Quantified(QuantifiedSentence),
    /// A sum over processes and cells.
    Tally(ProcessTally),
}

impl SentenceFormula {
    /// Whether it speaks of such a variable.
    pub fn mentions(&self, is_meant: &dyn Fn(VarId) -> bool) -> bool {
        match self {
            SentenceFormula::Constant(_) | SentenceFormula::At(..) => false,
            SentenceFormula::Cell(term, _) => is_meant(term.var),
            SentenceFormula::Sum(terms, _) => terms.iter().any(|(_, term)| is_meant(term.var)),
            SentenceFormula::Not(inner) => inner.mentions(is_meant),
            SentenceFormula::All(parts) | SentenceFormula::Any(parts) => {
                parts.iter().any(|part| part.mentions(is_meant))
            }
            SentenceFormula::Implies(one, other) | SentenceFormula::Iff(one, other) => {
                one.mentions(is_meant) || other.mentions(is_meant)
            }
            SentenceFormula::Quantified(quantified) => quantified.body.mentions(is_meant),
            SentenceFormula::Tally(tally) => {
                tally.cells.iter().any(|(_, term)| is_meant(term.var))
                    || tally.counts.iter().any(|(_, counted)| counted.body.mentions(is_meant))
            }
        }
    }

    /// How many tests it has: each place of a process, and each test of a cell.
    pub fn n_atoms(&self) -> usize {
        match self {
            SentenceFormula::Constant(_) => 0,
            SentenceFormula::Cell(..) => 1,
            SentenceFormula::Sum(terms, _) => terms.len(),
            SentenceFormula::At(_, spots) => spots.len(),
            SentenceFormula::Not(inner) => inner.n_atoms(),
            SentenceFormula::All(parts) | SentenceFormula::Any(parts) => {
                parts.iter().map(SentenceFormula::n_atoms).sum()
            }
            SentenceFormula::Implies(one, other) | SentenceFormula::Iff(one, other) => one.n_atoms() + other.n_atoms(),
            SentenceFormula::Quantified(quantified) => quantified.body.n_atoms(),
            SentenceFormula::Tally(tally) => {
                tally.cells.len() + tally.counts.iter().map(|(_, one)| one.body.n_atoms()).sum::<usize>()
            }
        }
    }

    /// All of the parts; the part itself where there is one.
    pub fn all(mut parts: Vec<SentenceFormula>) -> SentenceFormula {
        if parts.len() == 1 { parts.remove(0) } else { SentenceFormula::All(parts) }
    }

    /// One of the parts; the part itself where there is one.
    pub fn any(mut parts: Vec<SentenceFormula>) -> SentenceFormula {
        if parts.len() == 1 { parts.remove(0) } else { SentenceFormula::Any(parts) }
    }

    /// The opposite, as short as it can be said.
    pub fn negated(self) -> SentenceFormula {
        match self {
            SentenceFormula::Constant(truth) => SentenceFormula::Constant(!truth),
            SentenceFormula::Not(inner) => *inner,
            SentenceFormula::Cell(cell, Test::In(values)) => SentenceFormula::Cell(cell, Test::NotIn(values)),
            SentenceFormula::Cell(cell, Test::NotIn(values)) => SentenceFormula::Cell(cell, Test::In(values)),
            SentenceFormula::Sum(terms, Test::In(values)) => SentenceFormula::Sum(terms, Test::NotIn(values)),
            SentenceFormula::Sum(terms, Test::NotIn(values)) => SentenceFormula::Sum(terms, Test::In(values)),
            other => SentenceFormula::Not(Box::new(other)),
        }
    }

    /// Everything that it names, by a constant or by a letter.
    pub fn named(&self) -> BTreeSet<NamedProcess> {
        let mut found = BTreeSet::new();
        self.collect_named(&mut found);
        found
    }

    fn collect_named(&self, found: &mut BTreeSet<NamedProcess>) {
        match self {
            SentenceFormula::Constant(_) => {}
            SentenceFormula::Cell(cell, test) => {
                found.extend(cell.named());
                if let Test::In(values) | Test::NotIn(values) = test {
                    found.extend(values.iter().filter_map(ValueTerm::process));
                }
            }
            SentenceFormula::Sum(terms, _) => terms.iter().for_each(|(_, term)| found.extend(term.named())),
            SentenceFormula::At(who, spots) => {
                found.insert(*who);
                let counters = spots.iter().flat_map(|spot| spot.counters.iter().flatten());
                found.extend(counters.filter_map(|(_, value)| value.process()));
            }
            SentenceFormula::Not(inner) => inner.collect_named(found),
            SentenceFormula::All(parts) | SentenceFormula::Any(parts) => {
                parts.iter().for_each(|part| part.collect_named(found))
            }
            SentenceFormula::Implies(one, other) | SentenceFormula::Iff(one, other) => {
                one.collect_named(found);
                other.collect_named(found);
            }
            SentenceFormula::Quantified(quantified) => {
                found.extend(quantified.except.iter().copied());
                quantified.body.collect_named(found);
            }
            SentenceFormula::Tally(tally) => {
                tally.cells.iter().for_each(|(_, term)| found.extend(term.named()));
                tally.counts.iter().for_each(|(_, counted)| counted.body.collect_named(found));
            }
        }
    }
}

impl CellTerm {
    /// Its owner, and the processes whose element it is.
    fn named(&self) -> impl Iterator<Item = NamedProcess> {
        let index = |index: &IndexName| match index {
            IndexName::Of(who) => Some(*who),
            IndexName::Number(_) => None,
        };
        self.owner.into_iter().chain(self.indices.iter().filter_map(index))
    }
}

impl ValueTerm {
    /// The process that it names, if it names one.
    pub fn process(&self) -> Option<NamedProcess> {
        match self {
            ValueTerm::Plain(_) => None,
            ValueTerm::Process(who) => Some(*who),
        }
    }
}

/// What letters denote.
#[derive(Clone, Debug)]
pub struct LetterMeaning<'a> {
    /// The program.
    pub model: &'a Model,
    /// The process of each letter, as far as it is bound.
    letters: Vec<Option<ProcessId>>,
}

impl<'a> LetterMeaning<'a> {
    /// The first letters denote these processes.
    pub fn new(model: &'a Model, own: &[ProcessId]) -> Self {
        LetterMeaning { model, letters: own.iter().copied().map(Some).collect() }
    }

    /// The same with more letters bound.
    pub fn with(&self, letters: &[usize], processes: &[ProcessId]) -> Self {
        let mut more = self.clone();
        for (&letter, &process) in letters.iter().zip(processes) {
            if more.letters.len() <= letter {
                more.letters.resize(letter + 1, None);
            }
            more.letters[letter] = Some(process);
        }
        more
    }

    /// The process that is meant; `None` for a letter that is not bound.
    pub fn process(&self, who: NamedProcess) -> Option<ProcessId> {
        let is_meant =
            |letter: Letter| move |process: &ProcessId| self.model.processes[*process].family == letter.family;
        let of = |letter: Letter| self.letters.get(letter.at).copied().flatten().filter(is_meant(letter));
        match who {
            NamedProcess::Process(process) => Some(process),
            NamedProcess::Letter(letter) => of(letter),
            NamedProcess::After(letter, distance) => {
                let process = of(letter)?;
                let family = &self.model.families[letter.family];
                let position = (process.index() - family.first.index()) as i64 + distance;
                let position = position.rem_euclid(family.count() as i64) as usize;
                Some(ProcessId::new(family.first.index() + position))
            }
            NamedProcess::TreePosition(letter, position) => {
                let process = of(letter)?;
                let family = &self.model.families[letter.family];
                let position = position.of(process.index() - family.first.index())?;
                (position < family.count()).then(|| ProcessId::new(family.first.index() + position))
            }
        }
    }

    /// The cell that is meant.
    pub fn cell(&self, term: &CellTerm) -> Option<CellId> {
        let owner = term.owner.map(|who| self.process(who));
        let owner = match owner {
            None => None,
            Some(known) => Some(known?),
        };
        let lens = self.model.vars[term.var].ty.dimensions();
        let mut offset = 0;
        for (index, len) in term.indices.iter().zip(&lens) {
            let number = match *index {
                IndexName::Number(number) => number,
                IndexName::Of(who) => {
                    let process = self.process(who)?;
                    process.index() - self.model.families[self.model.processes[process].family].first.index()
                }
            };
            offset = offset * len + Some(number).filter(|number| number < len)?;
        }
        self.model.cells_of(term.var, owner).nth(offset)
    }

    /// The value that is meant.
    pub fn value(&self, term: &ValueTerm) -> Option<Value> {
        match term {
            ValueTerm::Plain(value) => Some(*value),
            ValueTerm::Process(who) => self.process(*who).map(Value::Process),
        }
    }

    /// The choices of processes over which a quantifier goes.
    pub fn choices(&self, quantified: &QuantifiedSentence) -> Option<Vec<Vec<ProcessId>>> {
        let except = quantified.except.iter().map(|&who| self.process(who)).collect::<Option<Vec<ProcessId>>>()?;
        let family = &self.model.families[quantified.family];
        let free: Vec<ProcessId> = family.processes().filter(|process| !except.contains(process)).collect();
        let mut choices: Vec<Vec<ProcessId>> = vec![Vec::new()];
        for _ in &quantified.letters {
            let longer = |choice: &Vec<ProcessId>| {
                let others = free.iter().filter(|process| !choice.contains(process));
                others.map(|&process| [&choice[..], &[process]].concat()).collect::<Vec<_>>()
            };
            choices = choices.iter().flat_map(longer).collect();
        }
        Some(choices)
    }
}
