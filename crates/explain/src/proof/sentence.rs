//! Sentences of a proof: what is said about the columns of a view, with quantifiers over processes.
//!
//! A quantified sentence keeps all its instances, so that it can be evaluated; it is shown by its first one, with letters for the
//! processes that it is about.

use model::process::ProcessId;

use super::words::{Names, Words};
use evidence::certificate::Column;

/// What a sentence is about: the columns and their classes of numbers.
pub(super) struct Subject<'a> {
    /// The words.
    pub words: &'a Words<'a>,
    /// The columns.
    pub columns: &'a [Column],
    /// For each column its classes, each with its numbers.
    pub numbers: &'a [Vec<Vec<u32>>],
}

/// That a column has a number of one of some classes (as bits), of those that it can have (as bits).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Literal {
    pub column: usize,
    pub inside: u64,
    pub present: u64,
}

/// The instances of a quantified sentence.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Instances {
    /// The letters.
    pub letters: Vec<String>,
    /// The processes of each instance, one for each letter.
    pub processes: Vec<Vec<ProcessId>>,
    /// The instances.
    pub sentences: Vec<Sentence>,
    /// The letter of the process that the quantifier leaves out.
    pub except: Option<String>,
}

/// A sentence.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Sentence {
    Literal(Literal),
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
    pub fn numbers_of(&self, column: usize, classes: u64) -> Vec<u32> {
        let chosen = self.numbers[column].iter().enumerate().filter(|(class, _)| classes >> class & 1 == 1);
        let mut numbers: Vec<u32> = chosen.flat_map(|(_, numbers)| numbers.iter().copied()).collect();
        numbers.sort_unstable();
        numbers
    }

    /// The literal as text.
    pub fn literal(&self, literal: &Literal, names: &Names) -> String {
        let inside = self.numbers_of(literal.column, literal.inside);
        let present = self.numbers_of(literal.column, literal.present);
        self.words.says(self.columns[literal.column], &inside, &present, names)
    }

    /// The processes that the literal names.
    pub fn mentions(&self, literal: &Literal) -> Vec<ProcessId> {
        let inside = self.numbers_of(literal.column, literal.inside);
        let present = self.numbers_of(literal.column, literal.present);
        self.words.mentions(self.columns[literal.column], &inside, &present)
    }

    /// The sentence as text.
    pub fn text(&self, sentence: &Sentence, names: &Names) -> String {
        match sentence {
            Sentence::Literal(literal) => self.literal(literal, names),
            Sentence::Implies(conditions, claims) => {
                let (condition, claim) = (self.joined(conditions, " && ", names), self.joined(claims, " || ", names));
                format!("{condition} => {claim}")
            }
            Sentence::NotAll(parts) => format!("!({})", self.joined(parts, " && ", names)),
            Sentence::Iff(one, other) => {
                format!("{} <=> {}", self.text(one, names), self.text(other, names))
            }
            Sentence::ForAll(instances) => self.for_all(instances, names),
            Sentence::Exists(instances) => {
                let (letters, body) = self.instance(instances, names);
                match &instances.except {
                    Some(own) => format!("exists {letters} != {own}: {body}"),
                    None => format!("exists {letters}: {body}"),
                }
            }
            Sentence::AtMostOne(instances) => {
                let (letters, body) = self.instance(instances, names);
                match &instances.except {
                    Some(own) => format!("at most one {letters} != {own}: {body}"),
                    None => format!("at most one {letters}: {body}"),
                }
            }
        }
    }

    /// `forall k != i: …`; what is said of nobody else is said so.
    fn for_all(&self, instances: &Instances, names: &Names) -> String {
        let (letters, body) = self.instance(instances, names);
        let nobody = self.said_of_nobody(instances, &body, names);
        match (&instances.except, nobody, instances.letters.len()) {
            (Some(_), Some(opposite), _) => format!("no other {opposite}"),
            (None, Some(opposite), _) => format!("no {letters}: {opposite}"),
            (Some(own), None, 1) => format!("forall {letters} != {own}: {body}"),
            (Some(own), None, _) => format!("forall {letters} other than {own}: {body}"),
            (None, None, _) => format!("forall {letters}: {body}"),
        }
    }

    /// The opposite of a literal that is said of all, where that is as short and needs no negation.
    fn said_of_nobody(&self, instances: &Instances, body: &str, names: &Names) -> Option<String> {
        let Sentence::Literal(literal) = instances.sentences[0] else { return None };
        let opposite = Sentence::Literal(Literal { inside: literal.present & !literal.inside, ..literal });
        let (_, text) = self.instance(&Instances { sentences: vec![opposite], ..instances.clone() }, names);
        let is_plain = !text.starts_with('!') && !text.contains("!=") && !text.contains(" not ");
        (is_plain && text.len() <= body.len()).then_some(text)
    }

    /// The letters and the first instance.
    fn instance(&self, instances: &Instances, names: &Names) -> (String, String) {
        let Instances { letters, processes, sentences, .. } = instances;
        let mut bound: Vec<(ProcessId, String)> = processes[0].iter().copied().zip(letters.iter().cloned()).collect();
        bound.extend(names.iter().filter(|(process, _)| !processes[0].contains(process)).cloned());
        (letters.join(" != "), self.text(&sentences[0], &bound))
    }

    fn joined(&self, parts: &[Sentence], between: &str, names: &Names) -> String {
        let text = |part: &Sentence| {
            let text = self.text(part, names);
            let is_open = !matches!(part, Sentence::Literal(_)) && parts.len() > 1;
            if is_open { format!("({text})") } else { text }
        };
        let mut texts: Vec<String> = parts.iter().map(text).collect();
        // Places before values, and each kind in the order of names, so that the same parts always read the same.
        texts.sort_by_key(|text| (!text.contains('@'), text.trim_start_matches(['!', '(']).to_owned()));
        texts.join(between)
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
