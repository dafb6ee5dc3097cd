//! Sentences of a proof: about the columns of a view, with quantifiers over processes.
//!
//! A quantified sentence keeps all its instances; as a formula it is its first one, with letters for the processes that it is about. That the others are
//! its instances is not taken on trust: every formula is judged by `check` before it is shown.

use evidence::certificate::Column;
use model::process::ProcessId;

use super::formula::{LetterMeaning, NamedProcess, QuantifiedSentence, Quantity, SentenceFormula};
use super::render;
use super::sums::SumColumn;
use super::words::{InvariantWords, ProcessNames};

/// What a sentence is about: the columns and their classes of numbers.
pub(super) struct Subject<'a> {
    /// The words.
    pub words: &'a InvariantWords<'a>,
    /// The columns.
    pub columns: &'a [Column],
    /// Sums of these, which come after them.
    pub sums: &'a [SumColumn],
    /// For each column, and each sum, its classes, each with its numbers.
    pub numbers: &'a [Vec<Vec<u32>>],
    /// The letters' names.
    pub letters: &'a [String],
}

/// That a column has a number of one of some classes (as bits), of those that it can have (as bits).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ColumnLiteral {
    pub column: usize,
    pub inside: u64,
    pub present: u64,
}

/// The instances of a quantified sentence.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Instances {
    /// The processes of each instance, one for each letter.
    pub processes: Vec<Vec<ProcessId>>,
    /// The instances.
    pub sentences: Vec<Sentence>,
    /// The process that the quantifier leaves out.
    pub except: Option<NamedProcess>,
}

/// A sentence.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Sentence {
    Literal(ColumnLiteral),
    /// All of the first imply one of the second.
    Implies(Vec<Sentence>, Vec<Sentence>),
    /// Not all of these.
    NotAll(Vec<Sentence>),
    Iff(Box<Sentence>, Box<Sentence>),
    ForAll(Instances),
    Exists(Instances),
    AtMostOne(Instances),
}

impl Subject<'_> {
    /// The numbers of some classes of a column, ascending.
    fn numbers_of(&self, column: usize, classes: u64) -> Vec<u32> {
        let chosen = self.numbers[column].iter().enumerate().filter(|(class, _)| classes >> class & 1 == 1);
        let mut numbers: Vec<u32> = chosen.flat_map(|(_, numbers)| numbers.iter().copied()).collect();
        numbers.sort_unstable();
        numbers
    }

    /// The columns of the view that a column is made of: itself, or those that it is the sum of.
    pub fn read_by(&self, column: usize) -> Vec<usize> {
        match column.checked_sub(self.columns.len()) {
            None => vec![column],
            Some(at) => vec![self.sums[at].one, self.sums[at].other],
        }
    }

    /// The literal as a formula.
    pub fn literal(&self, literal: &ColumnLiteral, names: &ProcessNames) -> SentenceFormula {
        let inside = self.numbers_of(literal.column, literal.inside);
        let present = self.numbers_of(literal.column, literal.present);
        match self.columns.get(literal.column) {
            Some(column) => self.words.says(*column, &inside, &present, names),
            None => self.sums[literal.column - self.columns.len()].says(
                (self.words, self.columns),
                &inside,
                &present,
                names,
            ),
        }
    }

    /// The processes that the literal names, where some of them are called by letters; those that quantifiers range over are not named.
    pub fn mentions(&self, literal: &ColumnLiteral, names: &ProcessNames) -> Vec<ProcessId> {
        let letters = names.called.iter().filter_map(|(process, who)| match who {
            NamedProcess::Letter(letter) => Some((letter.at, *process)),
            NamedProcess::Process(_) | NamedProcess::After(..) | NamedProcess::TreePosition(..) => None,
        });
        let (letters, processes): (Vec<usize>, Vec<ProcessId>) = letters.unzip();
        let meaning = LetterMeaning::new(self.words.model, &[]).with(&letters, &processes);
        let formula = self.literal(literal, names);
        let mut found: Vec<ProcessId> = formula.named().into_iter().filter_map(|who| meaning.process(who)).collect();
        // The indices of a cell are processes even where they are shown as numbers.
        for at in self.read_by(literal.column) {
            if let Column::Cell(cell) = self.columns[at] {
                found.extend(self.words.indexed_by(cell));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The sentence as text.
    pub fn text(&self, sentence: &Sentence, names: &ProcessNames) -> String {
        render::text(self.words.model, self.letters, &self.formula(sentence, names))
    }

    /// The sentence as a formula.
    pub fn formula(&self, sentence: &Sentence, names: &ProcessNames) -> SentenceFormula {
        match sentence {
            Sentence::Literal(literal) => self.literal(literal, names),
            Sentence::Implies(conditions, claims) => {
                let condition = SentenceFormula::all(self.ordered(conditions, names));
                let claim = SentenceFormula::any(self.ordered(claims, names));
                SentenceFormula::Implies(Box::new(condition), Box::new(claim))
            }
            Sentence::NotAll(parts) => SentenceFormula::Not(Box::new(SentenceFormula::all(self.ordered(parts, names)))),
            Sentence::Iff(one, other) => {
                SentenceFormula::Iff(Box::new(self.formula(one, names)), Box::new(self.formula(other, names)))
            }
            Sentence::ForAll(instances) => self.quantified(instances, Quantity::ForAll, names),
            Sentence::Exists(instances) => self.quantified(instances, Quantity::Exists, names),
            Sentence::AtMostOne(instances) => self.quantified(instances, Quantity::AtMost(1), names),
        }
    }

    /// The first instance, with the next letters for its processes.
    fn quantified(&self, instances: &Instances, quantity: Quantity, names: &ProcessNames) -> SentenceFormula {
        let processes = &instances.processes[0];
        let model = self.words.model;
        let named = |processes: &[ProcessId]| {
            processes.iter().fold(names.clone(), |names, &process| names.with(model, process))
        };
        let family = |process: ProcessId| model.processes[process].family;
        if let [one, other] = processes[..]
            && family(one) != family(other)
        {
            // A process without an index has a name of its own, and needs no letter.
            let is_indexed = |process: &ProcessId| model.families[family(*process)].index.is_some();
            let indexed: Vec<ProcessId> = [one, other].into_iter().filter(is_indexed).collect();
            let body = self.formula(&instances.sentences[0], &named(&indexed));
            let quantify = |body, (at, &process): (usize, &ProcessId)| {
                let (letters, family) = (vec![names.next + at], family(process));
                let body = Box::new(body);
                SentenceFormula::Quantified(QuantifiedSentence { quantity, letters, family, except: Vec::new(), body })
            };
            return indexed.iter().enumerate().rev().fold(body, quantify);
        }
        let bound = named(processes);
        SentenceFormula::Quantified(QuantifiedSentence {
            quantity,
            letters: (names.next..names.next + processes.len()).collect(),
            family: family(processes[0]),
            except: instances.except.into_iter().collect(),
            body: Box::new(match &instances.sentences[0] {
                Sentence::Literal(literal) if quantity == Quantity::ForAll => self.of_all(literal, &bound),
                other => self.formula(other, &bound),
            }),
        })
    }

    /// A literal that is said of all processes: that a process is not somewhere, where it is as short to say so.
    fn of_all(&self, literal: &ColumnLiteral, names: &ProcessNames) -> SentenceFormula {
        let opposite = ColumnLiteral { inside: literal.present & !literal.inside, ..*literal };
        match (self.literal(literal, names), self.literal(&opposite, names)) {
            (SentenceFormula::At(who, here), SentenceFormula::At(_, there)) if there.len() <= here.len() => {
                SentenceFormula::Not(Box::new(SentenceFormula::At(who, there)))
            }
            (formula, _) => formula,
        }
    }

    /// Places before values, and each kind in the order of names, so that the same parts always read the same.
    fn ordered(&self, parts: &[Sentence], names: &ProcessNames) -> Vec<SentenceFormula> {
        let mut formulas: Vec<SentenceFormula> = parts.iter().map(|part| self.formula(part, names)).collect();
        formulas.sort_by_cached_key(|formula| {
            let text = render::text(self.words.model, self.letters, formula);
            (!text.contains('@'), text.trim_start_matches(['!', '(']).to_owned())
        });
        formulas
    }
}
impl Sentence {
    /// The columns that it speaks of.
    pub fn columns(&self) -> Vec<usize> {
        let of_all = |parts: &[Sentence]| parts.iter().flat_map(Sentence::columns).collect::<Vec<_>>();
        match self {
            Sentence::Literal(literal) => vec![literal.column],
            Sentence::Implies(conditions, claims) => [of_all(conditions), of_all(claims)].concat(),
            Sentence::NotAll(parts) => of_all(parts),
            Sentence::Iff(one, other) => [one.columns(), other.columns()].concat(),
            Sentence::ForAll(all) | Sentence::Exists(all) | Sentence::AtMostOne(all) => of_all(&all.sentences),
        }
    }

    /// Whether it is true in a row of classes.
    #[cfg(test)]
    pub fn holds(&self, row: &[usize]) -> bool {
        match self {
            Sentence::Literal(literal) => literal.inside >> row[literal.column] & 1 == 1,
            Sentence::Implies(conditions, claims) => {
                !conditions.iter().all(|part| part.holds(row)) || claims.iter().any(|part| part.holds(row))
            }
            Sentence::NotAll(parts) => !parts.iter().all(|part| part.holds(row)),
            Sentence::Iff(one, other) => one.holds(row) == other.holds(row),
            Sentence::ForAll(all) => all.sentences.iter().all(|part| part.holds(row)),
            Sentence::Exists(all) => all.sentences.iter().any(|part| part.holds(row)),
            Sentence::AtMostOne(all) => all.sentences.iter().filter(|part| part.holds(row)).count() <= 1,
        }
    }
}
