//! Proofs about few of any number of processes, in words: views, windows of neighbours, views of single cells.
//!
//! In: a certificate whose sets show some processes that represent all. Out: a [`CertificateScene`] for each set, in which columns are called as sentences
//! call them: `i` is a process that is seen, `k` and `l` are others that are, ids are one of these or *another* process. `views`, `rings`, `fine` and
//! `counting` make scenes of the four kinds of certificates; `tell` finds sentences, `judge` decides which of them are true in all rows.
//!
//! What is said of `i` and of `k` is said of any two processes: the rows are closed under permutations of those that are seen.

mod counting;
mod fine;
mod judge;
mod local;
mod only;
mod rings;
mod tell;
mod terms;
mod views;

use base::Budget;
use evidence::Certificate;
use model::Model;
use model::control::PlaceId;
use model::points::Points;
use model::process::{FamilyId, ProcessId};
use model::types::ScalarType;
use model::value::Value;

use super::assertion::MemberAssertion;
use super::formula::{
    CellTerm, IndexName, Letter, NamedProcess, PlaceName, QuantifiedSentence, SentenceFormula, Test, ValueTerm,
};

pub(super) use counting::CountedCrowd;
pub(super) use fine::local_blocks;
pub(super) use judge::is_true;
pub(super) use local::Blocks;
pub use only::Only;
pub(super) use tell::relettered;
pub(super) use terms::CellNames;
pub(super) use views::{in_order, orders};

/// More points than this are not examined.
const MOST_POINTS: usize = 5_000;

/// A set of a certificate, with words for its columns.
#[derive(Clone, Debug)]
pub(super) struct CertificateScene {
    /// The family whose processes are seen.
    pub family: FamilyId,
    /// How many letters denote seen processes.
    pub n_letters: usize,
    /// Which processes the first letter denotes.
    pub only: Only,
    /// What it shows besides these, where that is not everything: `last[1]`.
    pub beside: Option<String>,
    /// The columns.
    pub columns: Vec<Shown>,
    /// The rows: what each column shows.
    pub rows: Vec<Vec<SceneEntry>>,
    /// Whether the certificate's set has columns that sentences cannot speak of.
    pub is_cut: bool,
    /// Other families of any number of processes, which have no names.
    pub nameless: Vec<FamilyId>,
}

/// What a column shows.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shown {
    /// The place of a process.
    Place(NamedProcess),
    /// What a cell has.
    Cell(CellTerm, ScalarType),
    /// In which block of local states a process is.
    Block(NamedProcess, local::Blocks),
    /// Whether there is a process, seen or not, of which something is so.
    Somebody(QuantifiedSentence),
}

/// The content of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum SceneEntry {
    /// A place.
    Place(PlaceId),
    /// A value that names no process of the family.
    Value(Value),
    /// A process that has a name here.
    Process(NamedProcess),
    /// A process of the family that has none.
    Another,
    /// A block of local states.
    Block(u32),
    /// It may be anything.
    Hidden,
}

/// What a certificate says that is about few of many processes; `None` for other certificates.
pub(super) fn parts(model: &Model, certificate: &Certificate, budget: &Budget) -> Option<Vec<MemberAssertion>> {
    let scenes = scenes(model, certificate)?;
    let mut parts: Vec<MemberAssertion> = Vec::new();
    for scene in &scenes {
        let Some(part) = tell::part(model, scene, budget) else { continue };
        part.add_to(&mut parts);
    }
    // Sums over all processes hold in the whole state, and in no view: they were compared with each of the views.
    if let Some(first) = parts.first_mut() {
        first.say_always(model, super::story::sums(model, certificate));
    }
    parts.iter_mut().for_each(|part| part.name_scene(model));
    Some(parts)
}

/// The scenes of a certificate; `None` where it is of another kind.
pub(super) fn scenes(model: &Model, certificate: &Certificate) -> Option<Vec<CertificateScene>> {
    if let Some(proof) = certificate.views().or_else(|| certificate.crowd()) {
        return views::scenes(model, proof);
    }
    if let Some(proof) = certificate.rings() {
        return rings::scenes(model, proof);
    }
    if let Some(proof) = certificate.counting() {
        return counting::scenes(model, proof);
    }
    fine::scenes(model, certificate.fine()?)
}

impl CertificateScene {
    /// A letter for a seen process.
    pub fn letter(&self, at: usize) -> NamedProcess {
        NamedProcess::Letter(Letter { at, family: self.family })
    }

    /// Whether processes of a family have no names of their own here.
    fn has_members(&self, family: FamilyId) -> bool {
        family == self.family || self.nameless.contains(&family)
    }

    /// The row with the processes that are seen permuted: the letter at a position becomes that of the order.
    pub fn permuted(&self, row: &[SceneEntry], order: &[usize]) -> Option<Vec<SceneEntry>> {
        let mut found = row.to_vec();
        for (shown, entry) in self.columns.iter().zip(row) {
            let to = self.columns.iter().position(|one| *one == shown.permuted(order))?;
            found[to] = entry.permuted(order);
        }
        Some(found)
    }

    /// All that a column may contain.
    fn universe(&self, model: &Model, column: usize) -> Vec<SceneEntry> {
        let mut found = match &self.columns[column] {
            Shown::Place(NamedProcess::Process(process)) => places(model, *process),
            Shown::Place(_) => places(model, model.families[self.family].first),
            Shown::Cell(_, ty) => self.values(model, *ty),
            Shown::Block(_, blocks) => blocks.numbers().map(SceneEntry::Block).collect(),
            Shown::Somebody(_) => [false, true].map(|truth| SceneEntry::Value(Value::Bool(truth))).to_vec(),
        };
        let seen = self.rows.iter().map(|row| row[column]).filter(|entry| *entry != SceneEntry::Hidden);
        for entry in seen {
            if !found.contains(&entry) {
                found.push(entry);
            }
        }
        found
    }

    /// The values of a type, with those that name processes of the family by their names.
    fn values(&self, model: &Model, ty: ScalarType) -> Vec<SceneEntry> {
        if ty.n_values(model.type_context()) > 64 {
            return Vec::new();
        }
        let is_member =
            |value: &Value| matches!(value, Value::Process(id) if self.has_members(model.processes[*id].family));
        let values: Vec<Value> = ty.values(model.type_context()).collect();
        let mut entries: Vec<SceneEntry> =
            values.iter().filter(|value| !is_member(value)).map(|&one| SceneEntry::Value(one)).collect();
        let is_of = |family: FamilyId, value: &Value| matches!(value, Value::Process(id) if model.processes[*id].family == family);
        if values.iter().any(|value| is_of(self.family, value)) {
            entries.extend((0..self.n_letters).map(|at| SceneEntry::Process(self.letter(at))));
        }
        if values.iter().any(is_member) {
            entries.push(SceneEntry::Another);
        }
        entries
    }

    /// That a column shows one of the entries `inside`, of those that it shows at all; `None` where there are no words for it.
    pub fn says(&self, column: usize, inside: &[SceneEntry], outside: &[SceneEntry]) -> Option<SentenceFormula> {
        if inside.is_empty() || outside.is_empty() {
            return Some(SentenceFormula::Constant(outside.is_empty()));
        }
        match &self.columns[column] {
            Shown::Place(who) => {
                let spots =
                    |entries: &[SceneEntry]| entries.iter().filter_map(SceneEntry::spot).collect::<Vec<PlaceName>>();
                let (here, there) = (spots(inside), spots(outside));
                Some(match here.len() <= there.len() {
                    true => SentenceFormula::At(*who, here),
                    false => SentenceFormula::Not(Box::new(SentenceFormula::At(*who, there))),
                })
            }
            Shown::Cell(term, ty) => cell_says(term, *ty, inside, outside),
            Shown::Block(who, blocks) => {
                let numbers =
                    |entries: &[SceneEntry]| entries.iter().filter_map(SceneEntry::block).collect::<Vec<u32>>();
                blocks.says(*who, &numbers(inside), &numbers(outside))
            }
            Shown::Somebody(what) => {
                let there_is = SentenceFormula::Quantified(what.clone());
                Some(match inside {
                    [SceneEntry::Value(Value::Bool(false))] => SentenceFormula::Not(Box::new(there_is)),
                    _ => there_is,
                })
            }
        }
    }
}

impl Shown {
    /// The column of other processes, where those that are seen are permuted.
    fn permuted(&self, order: &[usize]) -> Shown {
        match self {
            Shown::Place(who) => Shown::Place(permuted(*who, order)),
            Shown::Block(who, blocks) => Shown::Block(permuted(*who, order), blocks.clone()),
            Shown::Somebody(_) => self.clone(),
            Shown::Cell(term, ty) => {
                let index = |index: &IndexName| match *index {
                    IndexName::Of(who) => IndexName::Of(permuted(who, order)),
                    number @ IndexName::Number(_) => number,
                };
                let indices = term.indices.iter().map(index).collect();
                let owner = term.owner.map(|who| permuted(who, order));
                Shown::Cell(CellTerm { var: term.var, owner, indices }, *ty)
            }
        }
    }
}

fn permuted(who: NamedProcess, order: &[usize]) -> NamedProcess {
    match who {
        NamedProcess::Letter(letter) => {
            NamedProcess::Letter(Letter { at: order.get(letter.at).copied().unwrap_or(letter.at), ..letter })
        }
        other => other,
    }
}

/// The places at which a process can be, as far as its text says.
fn places(model: &Model, process: ProcessId) -> Vec<SceneEntry> {
    let Some(points) = Points::of(model, process, MOST_POINTS) else { return Vec::new() };
    let mut found: Vec<PlaceId> = points.points.iter().map(|point| point.place).collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(SceneEntry::Place).collect()
}

fn cell_says(
    term: &CellTerm,
    ty: ScalarType,
    inside: &[SceneEntry],
    outside: &[SceneEntry],
) -> Option<SentenceFormula> {
    let is_number = matches!(ty, ScalarType::Range { .. } | ScalarType::Semaphore { .. });
    let int = |entry: Option<&SceneEntry>| match entry {
        Some(SceneEntry::Value(Value::Int(number))) if is_number => Some(*number),
        _ => None,
    };
    if inside.len() > 1 && outside.len() > 1 {
        if let (Some(last), Some(first)) = (int(inside.last()), int(outside.first()))
            && last < first
        {
            return Some(SentenceFormula::Cell(term.clone(), Test::AtMost(last)));
        }
        if let (Some(first), Some(last)) = (int(inside.first()), int(outside.last()))
            && last < first
        {
            return Some(SentenceFormula::Cell(term.clone(), Test::AtLeast(first)));
        }
    }
    let list = |entries: &[SceneEntry]| entries.iter().map(SceneEntry::value).collect::<Option<Vec<ValueTerm>>>();
    let yes = list(inside).map(|values| SentenceFormula::Cell(term.clone(), Test::In(values)));
    let no = list(outside).map(|values| SentenceFormula::Cell(term.clone(), Test::NotIn(values)));
    if inside.len() <= outside.len() { yes.or(no) } else { no.or(yes) }
}

impl SceneEntry {
    /// The entry where the processes that are seen are permuted.
    fn permuted(self, order: &[usize]) -> SceneEntry {
        match self {
            SceneEntry::Process(who) => SceneEntry::Process(permuted(who, order)),
            other => other,
        }
    }

    fn spot(&self) -> Option<PlaceName> {
        match self {
            SceneEntry::Place(place) => Some(PlaceName { place: *place, counters: None }),
            _ => None,
        }
    }

    pub fn value(&self) -> Option<ValueTerm> {
        match self {
            SceneEntry::Value(Value::Process(id)) => Some(ValueTerm::Process(NamedProcess::Process(*id))),
            SceneEntry::Value(value) => Some(ValueTerm::Plain(*value)),
            SceneEntry::Process(who) => Some(ValueTerm::Process(*who)),
            _ => None,
        }
    }

    fn block(&self) -> Option<u32> {
        match self {
            SceneEntry::Block(number) => Some(*number),
            _ => None,
        }
    }
}
