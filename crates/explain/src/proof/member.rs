//! The invariant of one process, or of a few together, in sentences.
//!
//! In: a member of a split invariant. Out: what holds at every place of the processes, and for one process what else holds at each of
//! its places; places with the same sentences are put together. The sentences say exactly what the set says, except that the block which a
//! process exposes of itself is left out: it follows from the place of the process.

use std::collections::BTreeSet;

use evidence::certificate::{Column, Member};
use model::Model;
use model::process::ProcessId;

use super::cover::{Exclusion, RowSet};
use super::fold::Folder;
use super::formula::{Letter, NamedProcess, PlaceName, SentenceFormula};
use super::sentence::{ColumnLiteral, Sentence, Subject};
use super::sums::SumColumn;
use super::tree::{ClassRowSet, Tree};
use super::words::{InvariantWords, ProcessNames};

/// More rows than this, over classes of numbers, are not put into sentences.
const MOST_ROWS: usize = 4_000;
/// More pairs of columns, times rows, are not compared.
const MOST_WORK: usize = 20_000_000;
/// Letters for processes, as far as the program does not use them.
const LETTERS: [&str; 10] = ["k", "l", "m", "n", "p", "q", "r", "s", "t", "u"];

/// What a member says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MemberSentences {
    /// What holds at every place of the processes.
    pub always: Vec<Spoken>,
    /// What else holds at places of the one process.
    pub places: Vec<HoldsAtPlaces>,
    /// Places at which the process never is.
    pub unreached: Vec<PlaceName>,
    /// The columns that some sentence speaks of.
    pub columns: Vec<Column>,
    /// For each of these columns the classes of numbers that no sentence distinguishes.
    pub classes: Vec<Vec<Vec<u32>>>,
}

/// A sentence as a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spoken {
    /// What it says.
    pub formula: SentenceFormula,
    /// The columns that it speaks of.
    pub columns: Vec<Column>,
}

impl MemberSentences {
    /// How many tests the sentences have together.
    fn n_atoms(&self) -> usize {
        let at_places = self.places.iter().flat_map(|at| &at.said);
        self.always.iter().chain(at_places).map(|spoken| spoken.formula.n_atoms()).sum()
    }

    /// The classes of a column, if some sentence speaks of it.
    pub fn classes_of(&self, column: Column) -> Option<&[Vec<u32>]> {
        let at = self.columns.iter().position(|&known| known == column)?;
        Some(&self.classes[at])
    }
}

/// What holds at some places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HoldsAtPlaces {
    /// The places.
    pub spots: Vec<PlaceName>,
    /// The points, as numbers of the control column.
    pub points: Vec<u32>,
    /// What holds there.
    pub said: Vec<Spoken>,
}

/// What the processes of a member are called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Called {
    /// The processes that have a letter, in the order of the letters.
    pub own: Vec<ProcessId>,
    /// The names of all letters: first theirs, then those of quantifiers.
    pub letters: Vec<String>,
}

/// A member as rows over classes of numbers.
pub(super) struct ClassRows<'a> {
    words: &'a InvariantWords<'a>,
    member: &'a Member,
    columns: Vec<Column>,
    /// Sums of these.
    sums: Vec<SumColumn>,
    /// Classes of the columns, then of the sums.
    classes: ClassRowSet,
    /// The letters.
    called: Called,
    /// What the member's processes, and those around them, are called.
    names: ProcessNames,
}

impl<'a> ClassRows<'a> {
    /// The member as rows; `None` where they are too many to be read.
    pub fn new(words: &'a InvariantWords<'a>, member: &'a Member) -> Option<Self> {
        let sizes = member.columns.iter().map(|&column| words.size(column)).collect::<Option<Vec<u32>>>()?;
        let order = canonical(words, member);
        let mut tree = Tree::new(&sizes, &member.states)?;
        for (at, column) in member.columns.iter().enumerate() {
            if matches!(column, Column::Exposed(process) if member.processes.contains(process)) {
                tree = tree.forget(at)?;
            }
        }
        let found = tree.classes(MOST_ROWS)?;
        let numbers = order.iter().map(|&column| found.numbers[column].clone()).collect();
        let rows = found.rows.iter().map(|row| order.iter().map(|&column| row[column]).collect());
        let mut rows: Vec<Vec<usize>> = rows.collect();
        rows.sort_unstable();
        let classes = ClassRowSet { numbers, rows };
        let work = member.columns.len() * member.columns.len() * classes.rows.len();
        if work > MOST_WORK || classes.numbers.iter().any(|classes| classes.len() > 64) {
            return None;
        }
        let called = letters(words.model, &member.processes);
        let names = ProcessNames { called: Vec::new(), next: 0 };
        let names = called.own.iter().fold(names, |names, &process| names.with(words.model, process));
        let columns: Vec<Column> = order.iter().map(|&column| member.columns[column]).collect();
        let sums = SumColumn::find(words, &columns, &classes);
        let mut found = ClassRows { words, member, columns, sums, classes, called, names };
        found.add_sums();
        Some(found)
    }

    /// Adds the classes of the sums to the rows.
    fn add_sums(&mut self) {
        for sum in &self.sums {
            self.classes.numbers.push(sum.numbers());
            self.classes.rows.iter_mut().for_each(|row| row.push(sum.class(row)));
        }
    }

    /// The same without sums.
    fn without_sums(&self) -> Self {
        let n_columns = self.columns.len();
        let numbers = self.classes.numbers[..n_columns].to_vec();
        let rows = self.classes.rows.iter().map(|row| row[..n_columns].to_vec()).collect();
        ClassRows {
            sums: Vec::new(),
            classes: ClassRowSet { numbers, rows },
            columns: self.columns.clone(),
            called: self.called.clone(),
            names: self.names.clone(),
            ..*self
        }
    }

    /// What is excluded since it is no sum: nobody needs to say so.
    fn definitions(&self) -> Vec<Exclusion> {
        let at = |nth: usize| self.columns.len() + nth;
        let of = |(nth, sum): (usize, &SumColumn)| sum.definition(at(nth), self.classes.numbers[at(nth)].len());
        self.sums.iter().enumerate().flat_map(of).collect()
    }

    /// The same, with each process named by its own number: for what is said of these processes only, and of none of their images.
    pub fn by_number(mut self) -> Self {
        self.called.own.clear();
        self.names.called.iter_mut().for_each(|(process, who)| *who = NamedProcess::Process(*process));
        self
    }

    /// The same, with the neighbours of the process in the ring of its family named by their distance from it.
    pub fn with_neighbours(mut self) -> Self {
        let [process] = self.called.own[..] else { return self };
        let model = self.words.model;
        let family = model.processes[process].family;
        let (first, count) = (model.families[family].first.index(), model.families[family].count());
        let after = |distance| ProcessId::new(first + (process.index() - first + distance) % count);
        if count > 2 {
            let letter = Letter { at: 0, family };
            self.names.called.push((after(1), NamedProcess::After(letter, 1)));
            self.names.called.push((after(count - 1), NamedProcess::After(letter, -1)));
        }
        self
    }

    /// What the member's processes are called.
    pub fn called(&self) -> &Called {
        &self.called
    }

    fn subject(&self) -> Subject<'_> {
        Subject {
            words: self.words,
            columns: &self.columns,
            sums: &self.sums,
            numbers: &self.classes.numbers,
            letters: &self.called.letters,
        }
    }

    fn sizes(&self) -> Vec<usize> {
        self.classes.numbers.iter().map(Vec::len).collect()
    }

    /// What the member says; `None` where that takes too many sentences.
    pub fn sentences(&self) -> Option<MemberSentences> {
        if self.sums.is_empty() {
            return self.all_sentences();
        }
        // Sums are a way to say it, not always the shorter one.
        let ways = [self.all_sentences(), self.without_sums().all_sentences()];
        ways.into_iter().flatten().min_by_key(MemberSentences::n_atoms)
    }

    fn all_sentences(&self) -> Option<MemberSentences> {
        let subject = self.subject();
        let control = match self.member.processes[..] {
            [process] => self.columns.iter().position(|&column| column == Column::Control(process)),
            _ => None,
        };
        let general = self.general(&subject, control)?;
        let sentences = self.general_sentences(&subject, control, &general);
        let mut columns: Vec<usize> = sentences.iter().flat_map(Sentence::columns).collect();
        let mut found = MemberSentences {
            always: sentences.iter().map(|sentence| self.spoken(&subject, sentence)).collect(),
            places: Vec::new(),
            unreached: Vec::new(),
            columns: Vec::new(),
            classes: Vec::new(),
        };
        if let Some(control) = control {
            columns.extend(self.places(&subject, control, &general, &mut found)?);
        }
        columns = columns.into_iter().flat_map(|column| subject.read_by(column)).collect();
        columns.sort_unstable();
        columns.dedup();
        found.classes = columns.iter().map(|&column| self.classes.numbers[column].clone()).collect();
        found.columns = columns.into_iter().map(|column| self.columns[column]).collect();
        Some(found)
    }

    /// The sentence as a formula, with the columns that it speaks of.
    fn spoken(&self, subject: &Subject<'_>, sentence: &Sentence) -> Spoken {
        let columns = sentence.columns().into_iter().flat_map(|column| subject.read_by(column));
        Spoken {
            formula: subject.formula(sentence, &self.names),
            columns: columns.map(|column| self.columns[column]).collect(),
        }
    }

    /// What is said of the member as a whole: everything, or for one process what does not depend on its place.
    fn general(&self, subject: &Subject<'_>, control: Option<usize>) -> Option<Vec<Exclusion>> {
        let sizes = self.sizes();
        let occurring = self.occurring(&self.classes.rows);
        let folder = self.folder(subject, &occurring);
        let set = RowSet { sizes: &sizes, rows: &self.classes.rows };
        let all = set.exclusions(&self.definitions(), &|one| folder.kind(one))?;
        let Some(control) = control else { return Some(all) };
        let speaks = |one: &Exclusion| one.iter().any(|(column, _)| *column == control);
        let kinds: BTreeSet<String> = all.iter().filter(|one| !speaks(one)).map(|one| folder.kind(one)).collect();
        let is_general =
            |one: &Exclusion| !speaks(one) || kinds.contains(&folder.kind(one)) || folder.names_no_process(one);
        Some(all.into_iter().filter(is_general).collect())
    }

    fn folder<'s>(&'s self, subject: &'s Subject<'s>, occurring: &'s [u64]) -> Folder<'s> {
        Folder { subject, occurring, own: &self.called.own, names: &self.names }
    }

    fn general_sentences(&self, subject: &Subject<'_>, control: Option<usize>, general: &[Exclusion]) -> Vec<Sentence> {
        let occurring = self.occurring(&self.classes.rows);
        // The places at which the process never is are said beside the table of its places.
        let is_place = |one: &&Exclusion| one.len() == 1 && Some(one[0].0) == control;
        let shown: Vec<Exclusion> = general.iter().filter(|one| !is_place(one)).cloned().collect();
        self.folder(subject, &occurring).sentences(&shown)
    }

    /// The classes that occur in rows, for each column, as bits.
    fn occurring(&self, rows: &[Vec<usize>]) -> Vec<u64> {
        let mut bits = vec![0; self.classes.numbers.len()];
        rows.iter().for_each(|row| row.iter().zip(&mut bits).for_each(|(&class, bits)| *bits |= 1_u64 << class));
        bits
    }

    /// What holds at each place; the columns that are spoken of.
    fn places(
        &self,
        subject: &Subject<'_>,
        control: usize,
        general: &[Exclusion],
        into: &mut MemberSentences,
    ) -> Option<Vec<usize>> {
        let process = self.member.processes[0];
        let all_points: Vec<u32> = (0..self.words.size(Column::Control(process))?).collect();
        let mut columns = Vec::new();
        let mut found: Vec<HoldsAtPlaces> = Vec::new();
        for (class, points) in self.classes.numbers[control].iter().enumerate() {
            let rows: Vec<Vec<usize>> = self.classes.rows.iter().filter(|row| row[control] == class).cloned().collect();
            if rows.is_empty() {
                into.unreached.extend(self.words.spots(process, points, &all_points, &self.names));
                continue;
            }
            let sentences = self.at_place(subject, control, &rows, general)?;
            columns.extend(sentences.iter().flat_map(Sentence::columns));
            let said: Vec<Spoken> = sentences.iter().map(|sentence| self.spoken(subject, sentence)).collect();
            match found.iter_mut().find(|known| known.said == said) {
                Some(known) => known.points.extend(points),
                None => found.push(HoldsAtPlaces { spots: Vec::new(), points: points.clone(), said }),
            }
        }
        let reached: Vec<u32> = found.iter().flat_map(|known| known.points.iter().copied()).collect();
        for known in &mut found {
            known.points.sort_unstable();
            known.spots = self.words.spots(process, &known.points, &reached, &self.names);
        }
        into.places = found;
        into.places.sort_by_key(|at| at.points.first().copied());
        Some(columns)
    }

    /// What holds in these rows, all of one place: first what single columns have, then what else is not said in general.
    fn at_place(
        &self,
        subject: &Subject<'_>,
        control: usize,
        rows: &[Vec<usize>],
        general: &[Exclusion],
    ) -> Option<Vec<Sentence>> {
        let sizes = self.sizes();
        let (anywhere, here) = (self.occurring(&self.classes.rows), self.occurring(rows));
        let set = RowSet { sizes: &sizes, rows };
        // Of a cell with one value, the sum says nothing new.
        let is_plain = |column: usize| {
            let parts = subject.read_by(column);
            parts.len() == 1 || parts.into_iter().all(|part| here[part].count_ones() > 1)
        };
        let narrower = |column: &usize| *column != control && anywhere[*column] != here[*column] && is_plain(*column);
        let literal =
            |column| Sentence::Literal(ColumnLiteral { column, inside: here[column], present: anywhere[column] });
        let units: Vec<Sentence> = (0..sizes.len()).filter(narrower).map(literal).collect();
        let mut sentences = self.folder(subject, &anywhere).folded(units);
        let folder = self.folder(subject, &here);
        let fixed: Vec<Exclusion> = general.iter().cloned().chain(set.single()).chain(self.definitions()).collect();
        let more = set.exclusions(&fixed, &|one| folder.kind(one))?;
        sentences.extend(folder.sentences(&more));
        Some(sentences)
    }
}

/// The columns in an order that is the same for members that are images of each other: the own ones, shared ones, those of others.
fn canonical(words: &InvariantWords<'_>, member: &Member) -> Vec<usize> {
    let rank = |&at: &usize| {
        let own = |process: ProcessId| !member.processes.contains(&process);
        match member.columns[at] {
            Column::Control(process) => (own(process), false, Some(process), 0, 0),
            Column::Exposed(process) => (own(process), true, Some(process), 1, 0),
            Column::Cell(cell) => {
                let declared = &words.model.cells[cell];
                let is_shared = declared.owner.is_none();
                let not_own = declared.owner.is_some_and(own);
                (not_own, !is_shared && not_own, declared.owner, 2, cell.index())
            }
        }
    };
    let mut order: Vec<usize> = (0..member.columns.len()).collect();
    order.sort_by_key(rank);
    order
}

/// Letters for the processes of a member, and further ones for others.
pub(super) fn letters(model: &Model, own: &[ProcessId]) -> Called {
    let taken = |letter: &str| model.vars.iter().any(|var| var.name == letter);
    let index_of = |process: ProcessId| model.families[model.processes[process].family].index.as_ref();
    let mut called = Called { own: Vec::new(), letters: Vec::new() };
    // Where all processes are examined together, none is the own one.
    let own = if own.len() == model.processes.len() && own.len() > 1 { &[] } else { own };
    for &process in own {
        let Some(index) = index_of(process) else { continue };
        let candidates = [index.name.as_str(), "i", "j"].into_iter().chain(LETTERS);
        let is_free = |letter: &&str| !taken(letter) && !called.letters.iter().any(|used| used == letter);
        if let Some(letter) = { candidates }.find(is_free) {
            called.own.push(process);
            called.letters.push(letter.to_owned());
        }
    }
    let free = LETTERS.iter().filter(|letter| !taken(letter) && !called.letters.iter().any(|used| used == *letter));
    let others: Vec<String> = free.map(|letter| (*letter).to_owned()).collect();
    called.letters.extend(others);
    called
}

#[cfg(test)]
impl ClassRows<'_> {
    /// A row of classes that the sentences allow and the set does not have, or the other way round; by trying all.
    pub fn wrong(&self) -> Option<String> {
        let subject = self.subject();
        let control = match self.member.processes[..] {
            [process] => self.columns.iter().position(|&column| column == Column::Control(process)),
            _ => None,
        };
        let general = self.general(&subject, control)?;
        let always = self.general_sentences(&subject, control, &general);
        let sizes = self.sizes();
        let n_points: usize = sizes.iter().product();
        if n_points > 20_000 {
            return None;
        }
        let mut at_places: Vec<Option<Vec<Sentence>>> = Vec::new();
        if let Some(control) = control {
            for class in 0..sizes[control] {
                let rows: Vec<Vec<usize>> =
                    self.classes.rows.iter().filter(|row| row[control] == class).cloned().collect();
                at_places.push(if rows.is_empty() { None } else { self.at_place(&subject, control, &rows, &general) });
            }
        }
        let mut row = vec![0; sizes.len()];
        for nth in 0..n_points {
            let mut rest = nth;
            for (class, size) in row.iter_mut().zip(&sizes) {
                *class = rest % size;
                rest /= size;
            }
            // What is no sum is nobody's to say.
            let is_sum = |(at, sum): (usize, &SumColumn)| row[self.columns.len() + at] == sum.class(&row);
            if !self.sums.iter().enumerate().all(is_sum) {
                continue;
            }
            let at_place = match control {
                Some(control) => {
                    at_places[row[control]].as_ref().is_some_and(|all| all.iter().all(|one| one.holds(&row)))
                }
                None => true,
            };
            let said = at_place && always.iter().all(|one| one.holds(&row));
            if said != self.classes.rows.contains(&row) {
                return Some(format!("{row:?} is said to be {said}: {always:?} {at_places:?}"));
            }
        }
        None
    }
}
