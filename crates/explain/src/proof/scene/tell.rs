//! What a scene says, in sentences: of one process and what is shared, place by place; and of several processes together.
//!
//! In: a scene. Out: a [`MemberAssertion`]. First comes what is true of what is shared, then what each process finds at its place, then what is true of two and
//! more processes and does not follow from that: `at most one k: …`, and at places `forall k != i: …`. All of it together says what the
//! rows say; where that takes too many words, only the places of processes are said of several. Each sentence passes the judge.

use std::collections::BTreeSet;

use base::Budget;
use evidence::certificate::StateSet;
use model::Model;

use super::super::assertion::{MemberAssertion, SceneSays};
use super::super::cover::{Exclusion, RowSet, all};
use super::super::formula::{
    CellTerm, IndexName, Letter, NamedProcess, PlaceName, QuantifiedSentence, Quantity, SentenceFormula, Test,
    ValueTerm,
};
use super::super::member::letters;
use super::super::render;
use super::super::tree::{ClassRowSet, Tree};
use super::judge;
use super::views::orders;
use super::{CertificateScene, SceneEntry, Shown};

/// More rows than this, over classes of entries, are not put into sentences.
const MOST_ROWS: usize = 4_000;
/// More rows than this are not made where hidden contents may be anything.
const MOST_EXPANDED: usize = 40_000;
/// No reader takes in more sentences about several processes than this.
const MOST_TOGETHER: usize = 16;
/// Sentences of one process at one place, of which there are more than this, are not said.
const MOST_AT_PLACE: usize = 12;

/// What is said of the scene; `None` where it is too large.
pub(super) fn part(model: &Model, scene: &CertificateScene, budget: &Budget) -> Option<MemberAssertion> {
    let first = model.families[scene.family].first;
    let names = letters(model, &[first]).letters;
    let everything: Vec<usize> = (0..scene.columns.len()).collect();
    let table = SceneTable::new(model, scene, &everything);
    let own: Vec<usize> = everything.iter().copied().filter(|&column| scene.letters_of(column) <= 1 << 0).collect();
    let mut says = SceneSays { is_cut: scene.is_cut, ..SceneSays::default() };
    let whole = table.and_then(|table| table.says(model, &names));
    match whole {
        Some(found) => says = SceneSays { is_cut: scene.is_cut, ..found },
        None => {
            says.is_cut = true;
            if let Some(found) = SceneTable::new(model, scene, &own).and_then(|table| table.says(model, &names)) {
                says = SceneSays { is_cut: true, ..found };
            } else {
                each_column(model, scene, &own, &names, &mut says);
            }
            if scene.n_letters > 1 {
                let places: Vec<usize> = everything
                    .iter()
                    .copied()
                    .filter(|&column| matches!(scene.columns[column], Shown::Place(NamedProcess::Letter(_))))
                    .collect();
                if let Some(found) = SceneTable::new(model, scene, &places).and_then(|table| table.says(model, &names))
                {
                    merge(&mut says, found);
                }
            }
        }
    }
    keep_true(scene, &mut says, budget);
    let part = MemberAssertion::of_scene(model, scene.family, says, names);
    Some(part.about(scene.only.clone(), scene.beside.clone()))
}

/// Says of each column alone what it shows at each place of the process.
fn each_column(model: &Model, scene: &CertificateScene, own: &[usize], names: &[String], says: &mut SceneSays) {
    let Some(control) = own.iter().copied().find(|&column| scene.columns[column] == Shown::Place(scene.letter(0)))
    else {
        return;
    };
    for &column in own.iter().filter(|&&column| column != control) {
        if let Some(found) =
            SceneTable::new(model, scene, &[control, column]).and_then(|table| table.says(model, names))
        {
            merge(says, found);
        }
    }
}

/// Adds what was found in another part of the columns: places are split where they are distinguished.
fn merge(says: &mut SceneSays, more: SceneSays) {
    for one in more.always {
        if !says.always.contains(&one) {
            says.always.push(one);
        }
    }
    if says.never_at.is_empty() {
        says.never_at = more.never_at;
    }
    if says.places.is_empty() {
        says.places = more.places;
        return;
    }
    let mut places: Vec<(Vec<PlaceName>, Vec<SentenceFormula>)> = Vec::new();
    for (spots, said) in &says.places {
        for (others, also) in &more.places {
            let both: Vec<PlaceName> = spots.iter().filter(|spot| others.contains(spot)).cloned().collect();
            if !both.is_empty() {
                let also = also.iter().filter(|one| !said.contains(one));
                places.push((both, said.iter().chain(also).cloned().collect()));
            }
        }
    }
    says.places = together(places);
}

/// Places with the same sentences are put together.
fn together(places: Vec<(Vec<PlaceName>, Vec<SentenceFormula>)>) -> Vec<(Vec<PlaceName>, Vec<SentenceFormula>)> {
    let mut found: Vec<(Vec<PlaceName>, Vec<SentenceFormula>)> = Vec::new();
    for (spots, said) in places {
        match found.iter_mut().find(|(_, known)| *known == said) {
            Some((known, _)) => known.extend(spots),
            None => found.push((spots, said)),
        }
    }
    found.iter_mut().for_each(|(spots, _)| spots.sort());
    found.sort_by(|one, other| one.0.cmp(&other.0));
    found
}

/// Keeps the sentences that are true in all rows.
fn keep_true(scene: &CertificateScene, says: &mut SceneSays, budget: &Budget) {
    let mut n_left_out = 0;
    let mut keep = |formula: &SentenceFormula| {
        let is_true = judge::is_true(scene, formula, budget);
        n_left_out += usize::from(!is_true);
        is_true
    };
    says.always.retain(|one| keep(one));
    let own = scene.letter(0);
    let alone = CertificateScene { n_letters: 1, ..scene.clone() }.with(|column| scene.letters_of(column) == 1);
    let is_itself = |there: &SentenceFormula| {
        matches!(there, SentenceFormula::Implies(_, said) if matches!(**said, SentenceFormula::Quantified(_)))
            && judge::is_true(&alone, there, budget)
    };
    for (spots, said) in &mut says.places {
        said.retain(|one| {
            let at = SentenceFormula::At(own, spots.clone());
            let there = SentenceFormula::Implies(Box::new(at), Box::new(one.clone()));
            // That there is such a process is no news to one that is such a process itself.
            keep(&there) && !is_itself(&there)
        });
    }
    if !says.never_at.is_empty()
        && !keep(&SentenceFormula::Not(Box::new(SentenceFormula::At(own, says.never_at.clone()))))
    {
        says.never_at.clear();
    }
    says.n_left_out = n_left_out;
    says.places = together(std::mem::take(&mut says.places));
}

impl CertificateScene {
    /// The seen processes that a column is about, as bits.
    pub fn letters_of(&self, column: usize) -> u64 {
        let bit = |who: &NamedProcess| match who {
            NamedProcess::Letter(letter) | NamedProcess::After(letter, _) | NamedProcess::TreePosition(letter, _) => {
                1_u64 << letter.at
            }
            NamedProcess::Process(_) => 0,
        };
        match &self.columns[column] {
            Shown::Somebody(_) => 0,
            Shown::Place(who) | Shown::Block(who, _) => bit(who),
            Shown::Cell(term, _) => {
                let indices = term.indices.iter().map(|index| match index {
                    IndexName::Of(who) => bit(who),
                    IndexName::Number(_) => 0,
                });
                indices.fold(term.owner.as_ref().map_or(0, bit), |bits, more| bits | more)
            }
        }
    }
}

/// Some columns of a scene, as rows over classes of entries.
struct SceneTable<'a> {
    scene: &'a CertificateScene,
    /// The columns of the scene.
    columns: Vec<usize>,
    /// For each column all that it may contain.
    universe: Vec<Vec<SceneEntry>>,
    classes: ClassRowSet,
}

impl<'a> SceneTable<'a> {
    fn new(model: &Model, scene: &'a CertificateScene, columns: &[usize]) -> Option<SceneTable<'a>> {
        let universe: Vec<Vec<SceneEntry>> = columns.iter().map(|&column| scene.universe(model, column)).collect();
        let mut rows: BTreeSet<Vec<u32>> = BTreeSet::new();
        for row in &scene.rows {
            // What is hidden may be anything.
            let mut open: Vec<Vec<u32>> = vec![Vec::new()];
            for (&column, all) in columns.iter().zip(&universe) {
                let numbers: Vec<u32> = match row[column] {
                    SceneEntry::Hidden => (0..all.len() as u32).collect(),
                    entry => vec![all.iter().position(|known| *known == entry)? as u32],
                };
                open =
                    open.iter().flat_map(|row| numbers.iter().map(|&number| [&row[..], &[number]].concat())).collect();
                if open.len() > MOST_EXPANDED {
                    return None;
                }
            }
            rows.extend(open);
            if rows.len() > MOST_EXPANDED {
                return None;
            }
        }
        let sizes: Vec<u32> = universe.iter().map(|all| all.len() as u32).collect();
        let rows = StateSet::Rows(rows.into_iter().collect());
        let mut classes = Tree::new(&sizes, &rows)?.classes(MOST_ROWS)?;
        classes.rows.sort_unstable();
        let is_small = classes.numbers.iter().all(|classes| classes.len() <= 64);
        is_small.then(|| SceneTable { scene, columns: columns.to_vec(), universe, classes })
    }

    fn sizes(&self) -> Vec<usize> {
        self.classes.numbers.iter().map(Vec::len).collect()
    }

    /// What the rows say; `None` where that takes too many words.
    fn says(&self, model: &Model, names: &[String]) -> Option<SceneSays> {
        let speaker = Speaker { table: self, model, names };
        let control =
            self.columns.iter().position(|&column| self.scene.columns[column] == Shown::Place(self.scene.letter(0)));
        let sizes = self.sizes();
        let of = |bits: u64| -> Vec<usize> {
            (0..self.columns.len()).filter(|&at| self.scene.letters_of(self.columns[at]) & !bits == 0).collect()
        };
        let mut says = SceneSays::default();
        // What is shared is the same in every view.
        let shared = self.exclusions_within(&of(0), &[], &speaker)?;
        let occurring = self.occurring(&self.classes.rows);
        let mut general: Vec<Exclusion> = shared;
        // What each process finds, place by place.
        let mut fixed = general.clone();
        let own = of(1);
        match control {
            None => general.extend(self.exclusions_within(&own, &fixed, &speaker)?),
            Some(control) => {
                let missing = self.exclusions_within(&[control], &[], &speaker)?;
                if let Some(one) = missing.first() {
                    let absent = speaker.entries(control, one[0].1);
                    says.never_at = absent.iter().filter_map(SceneEntry::spot).collect();
                }
                fixed.extend(missing);
                for class in 0..sizes[control] {
                    let rows: Vec<Vec<usize>> =
                        self.classes.rows.iter().filter(|row| row[control] == class).cloned().collect();
                    if rows.is_empty() {
                        continue;
                    }
                    let (said, boxes) = self.at_place(&speaker, (control, &own), &rows, &general)?;
                    fixed.extend(boxes.into_iter().map(|one| with((control, 1 << class), &one)));
                    let spots = speaker.entries(control, 1 << class).iter().filter_map(SceneEntry::spot).collect();
                    says.places.push((spots, said));
                }
            }
        }
        if control.is_none() {
            fixed.clone_from(&general);
        }
        says.always = general.iter().filter_map(|one| speaker.clause(one, &occurring)).collect();
        if self.scene.n_letters > 1 && of(3).len() > own.len() {
            self.of_several(&speaker, control, &fixed, &mut says)?;
        }
        says.always.dedup();
        says.places = together(says.places);
        Some(says)
    }

    /// Boxes over some of the columns that contain no row.
    fn exclusions_within(
        &self,
        columns: &[usize],
        fixed: &[Exclusion],
        speaker: &Speaker<'_>,
    ) -> Option<Vec<Exclusion>> {
        let sizes = self.sizes();
        let sizes: Vec<usize> = columns.iter().map(|&column| sizes[column]).collect();
        let mut rows: Vec<Vec<usize>> =
            self.classes.rows.iter().map(|row| columns.iter().map(|&column| row[column]).collect()).collect();
        rows.sort_unstable();
        rows.dedup();
        let set = RowSet { sizes: &sizes, rows: &rows };
        let inner = |one: &Exclusion| -> Option<Exclusion> {
            one.iter().map(|&(column, bits)| Some((columns.iter().position(|known| *known == column)?, bits))).collect()
        };
        let outer = |one: &Exclusion| -> Exclusion { one.iter().map(|&(at, bits)| (columns[at], bits)).collect() };
        let fixed: Vec<Exclusion> = fixed.iter().filter_map(inner).collect();
        let found = set.exclusions(&fixed, &|one| speaker.kind(&outer(one)))?;
        Some(found.iter().map(outer).collect())
    }

    /// What one process finds in these rows, all of one place, beside what is said in general: as sentences, and as boxes.
    fn at_place(
        &self,
        speaker: &Speaker<'_>,
        (control, own): (usize, &[usize]),
        rows: &[Vec<usize>],
        general: &[Exclusion],
    ) -> Option<(Vec<SentenceFormula>, Vec<Exclusion>)> {
        let (anywhere, here) = (self.occurring(&self.classes.rows), self.occurring(rows));
        let columns: Vec<usize> = own.iter().copied().filter(|&column| column != control).collect();
        let mut said: Vec<SentenceFormula> = Vec::new();
        let mut boxes: Vec<Exclusion> = Vec::new();
        let narrower = columns.iter().copied().filter(|&column| anywhere[column] != here[column]);
        for column in narrower {
            boxes.push(vec![(column, all(self.sizes()[column]) & !here[column])]);
            said.extend(speaker.literal((column, here[column]), anywhere[column]));
        }
        let part = SceneTable {
            scene: self.scene,
            columns: self.columns.clone(),
            universe: self.universe.clone(),
            classes: ClassRowSet { numbers: self.classes.numbers.clone(), rows: rows.to_vec() },
        };
        let set_rows: Vec<Vec<usize>> =
            rows.iter().map(|row| columns.iter().map(|&column| row[column]).collect()).collect();
        let sizes: Vec<usize> = columns.iter().map(|&column| self.sizes()[column]).collect();
        let single = RowSet { sizes: &sizes, rows: &set_rows }.single();
        let single = single.iter().map(|one| one.iter().map(|&(at, bits)| (columns[at], bits)).collect::<Exclusion>());
        let fixed: Vec<Exclusion> = general.iter().cloned().chain(single).collect();
        let more = part.exclusions_within(&columns, &fixed, speaker)?;
        if more.len() > MOST_AT_PLACE {
            return None;
        }
        said.extend(more.iter().filter_map(|one| speaker.clause(one, &here)));
        let more = more.into_iter().chain(fixed.into_iter().filter(|one| one.len() == 1));
        boxes.extend(more);
        Some((said, boxes))
    }

    /// What is true of several processes and does not follow from what each finds.
    fn of_several(
        &self,
        speaker: &Speaker<'_>,
        control: Option<usize>,
        fixed: &[Exclusion],
        says: &mut SceneSays,
    ) -> Option<()> {
        let mut images: Vec<Exclusion> = Vec::new();
        for order in orders(self.scene.n_letters) {
            images.extend(fixed.iter().filter_map(|one| self.renamed(one, &order)));
        }
        images.sort();
        images.dedup();
        let everything: Vec<usize> = (0..self.columns.len()).collect();
        let found = self.exclusions_within(&everything, &images, speaker)?;
        let occurring = self.occurring(&self.classes.rows);
        let mut done: Vec<Exclusion> = Vec::new();
        let mut n_said = 0;
        for one in &found {
            let alike: Vec<Exclusion> =
                orders(self.scene.n_letters).iter().filter_map(|order| self.renamed(one, order)).collect();
            if alike.iter().any(|image| done.contains(image)) {
                continue;
            }
            done.push(one.clone());
            // Said of the process with fewer places.
            let n_places = |one: &&Exclusion| {
                let own = one.iter().find(|(column, _)| Some(*column) == control);
                own.map_or(u32::MAX, |(_, bits)| bits.count_ones())
            };
            let one = alike.iter().min_by_key(n_places).unwrap_or(one);
            n_said += 1;
            if n_said > MOST_TOGETHER {
                return None;
            }
            if let Some(formula) = speaker.at_most(one) {
                says.always.push(formula);
                continue;
            }
            match control.and_then(|control| one.iter().find(|(column, _)| *column == control)) {
                Some(&(control, bits)) => {
                    let rest: Exclusion = one.iter().filter(|(column, _)| *column != control).copied().collect();
                    let Some(formula) = speaker.clause(&rest, &occurring) else { continue };
                    let here = speaker.entries(control, bits);
                    self.say_at(&here, &quantified(self.scene, formula), says);
                }
                None => {
                    says.always.extend(speaker.clause(one, &occurring).map(|formula| quantified(self.scene, formula)))
                }
            }
        }
        Some(())
    }

    /// Adds a sentence at places.
    fn say_at(&self, here: &[SceneEntry], formula: &SentenceFormula, says: &mut SceneSays) {
        let mut places = Vec::new();
        for (spots, said) in std::mem::take(&mut says.places) {
            let is_here = |spot: &PlaceName| here.contains(&SceneEntry::Place(spot.place));
            let (inside, outside): (Vec<PlaceName>, Vec<PlaceName>) = spots.into_iter().partition(is_here);
            if !inside.is_empty() {
                places.push((inside, [&said[..], std::slice::from_ref(formula)].concat()));
            }
            if !outside.is_empty() {
                places.push((outside, said));
            }
        }
        says.places = places;
    }

    /// The box after a permutation of processes: the letter at a position becomes that of the order; `None` where there is no such column or class.
    fn renamed(&self, one: &Exclusion, order: &[usize]) -> Option<Exclusion> {
        let mut found: Exclusion = Vec::new();
        for &(column, bits) in one {
            let shown = self.scene.columns[self.columns[column]].permuted(order);
            let to = self.columns.iter().position(|&column| self.scene.columns[column] == shown)?;
            let mut bits_there = 0;
            for class in (0..64).filter(|class| bits >> class & 1 == 1) {
                for &number in &self.classes.numbers[column][class] {
                    let entry = self.universe[column][number as usize].permuted(order);
                    let number = self.universe[to].iter().position(|known| *known == entry)? as u32;
                    let class = self.classes.numbers[to].iter().position(|class| class.contains(&number))?;
                    bits_there |= 1 << class;
                }
            }
            found.push((to, bits_there));
        }
        found.sort_unstable();
        Some(found)
    }

    /// The classes that occur in rows, for each column, as bits.
    fn occurring(&self, rows: &[Vec<usize>]) -> Vec<u64> {
        let mut bits = vec![0; self.columns.len()];
        rows.iter().for_each(|row| row.iter().zip(&mut bits).for_each(|(&class, bits)| *bits |= 1_u64 << class));
        bits
    }
}

/// The box with one more column.
fn with(more: (usize, u64), one: &Exclusion) -> Exclusion {
    let mut found = one.clone();
    found.push(more);
    found.sort_unstable();
    found
}

/// Boxes as formulas.
struct Speaker<'a> {
    table: &'a SceneTable<'a>,
    model: &'a Model,
    names: &'a [String],
}

impl Speaker<'_> {
    /// The entries of some classes of a column.
    fn entries(&self, column: usize, bits: u64) -> Vec<SceneEntry> {
        let numbers = &self.table.classes.numbers[column];
        let chosen = numbers.iter().enumerate().filter(|(class, _)| bits >> class & 1 == 1);
        let mut found: Vec<u32> = chosen.flat_map(|(_, numbers)| numbers.iter().copied()).collect();
        found.sort_unstable();
        found.into_iter().map(|number| self.table.universe[column][number as usize]).collect()
    }

    /// That a column has one of some classes, of those present.
    fn literal(&self, (column, inside): (usize, u64), present: u64) -> Option<SentenceFormula> {
        let outside = self.entries(column, present & !inside);
        self.table.scene.says(self.table.columns[column], &self.entries(column, inside & present), &outside)
    }

    /// That the box contains no row; `None` where there are no words.
    fn clause(&self, one: &Exclusion, occurring: &[u64]) -> Option<SentenceFormula> {
        if let [(column, bits)] = one[..] {
            let all = all(self.table.sizes()[column]);
            // Among all that may be there, or among what it has here where that differs from what it has elsewhere.
            let present = if bits & occurring[column] == 0 { all } else { occurring[column] };
            return self.literal((column, present & !bits), present);
        }
        let is_place = |column: usize| {
            matches!(self.table.scene.columns[self.table.columns[column]], Shown::Place(_) | Shown::Block(..))
        };
        let (places, cells): (Exclusion, Exclusion) = one.iter().partition(|(column, _)| is_place(*column));
        let condition = |&(column, bits): &(usize, u64)| self.literal((column, bits), occurring[column]);
        let Some((claim, conditions)) = cells.split_last() else {
            let parts = places.iter().map(condition).collect::<Option<Vec<SentenceFormula>>>()?;
            return Some(SentenceFormula::Not(Box::new(SentenceFormula::all(parts))));
        };
        let conditions = places.iter().chain(conditions).map(condition).collect::<Option<Vec<SentenceFormula>>>()?;
        let claim = self.literal((claim.0, occurring[claim.0] & !claim.1), occurring[claim.0])?;
        Some(SentenceFormula::Implies(Box::new(SentenceFormula::all(conditions)), Box::new(claim)))
    }

    /// That at most so many processes are at some places, where that is what a box says.
    fn at_most(&self, one: &Exclusion) -> Option<SentenceFormula> {
        let mut entries: Option<Vec<SceneEntry>> = None;
        for &(column, bits) in one {
            if !matches!(self.table.scene.columns[self.table.columns[column]], Shown::Place(NamedProcess::Letter(_))) {
                return None;
            }
            let here = self.entries(column, bits);
            if entries.as_ref().is_some_and(|known| *known != here) {
                return None;
            }
            entries = Some(here);
        }
        let family = self.table.scene.family;
        let spots = entries?.iter().filter_map(SceneEntry::spot).collect();
        (one.len() > 1).then(|| {
            SentenceFormula::Quantified(QuantifiedSentence {
                quantity: Quantity::AtMost(one.len() - 1),
                letters: vec![1],
                family,
                except: Vec::new(),
                body: Box::new(SentenceFormula::At(NamedProcess::Letter(Letter { at: 1, family }), spots)),
            })
        })
    }

    /// How a box reads where all processes have one name.
    fn kind(&self, one: &Exclusion) -> String {
        let same = vec![self.names[0].clone(); self.names.len()];
        let text = |&(column, bits): &(usize, u64)| {
            let all = all(self.table.sizes()[column]);
            let formula = self.literal((column, bits), all);
            formula.map_or_else(|| format!("{column} {bits}"), |formula| render::text(self.model, &same, &formula))
        };
        let mut parts: Vec<String> = one.iter().map(text).collect();
        parts.sort_unstable();
        parts.join("; ")
    }
}

/// The formula for all choices of the processes that it names beside the first.
fn quantified(scene: &CertificateScene, formula: SentenceFormula) -> SentenceFormula {
    let named: BTreeSet<usize> = formula
        .named()
        .into_iter()
        .filter_map(|who| match who {
            // Beyond the processes in view there is some process, and its index is not known.
            NamedProcess::Letter(letter) if letter.at > 0 && letter.at < scene.n_letters => Some(letter.at),
            _ => None,
        })
        .collect();
    if named.is_empty() {
        return formula;
    }
    // The letters in their order, whichever of those that are seen they were.
    let letters: Vec<usize> = (1..=named.len()).collect();
    let from: Vec<usize> = named.into_iter().collect();
    let body =
        relettered(&formula, &|at| from.iter().position(|known| *known == at).map_or(at, |position| position + 1));
    SentenceFormula::Quantified(QuantifiedSentence {
        quantity: Quantity::ForAll,
        letters,
        family: scene.family,
        except: vec![scene.letter(0)],
        body: Box::new(body),
    })
}

/// The formula with other letters.
pub(in super::super) fn relettered(formula: &SentenceFormula, to: &dyn Fn(usize) -> usize) -> SentenceFormula {
    let who = |who: NamedProcess| match who {
        NamedProcess::Letter(letter) => NamedProcess::Letter(Letter { at: to(letter.at), family: letter.family }),
        other => other,
    };
    let value = |value: &ValueTerm| match *value {
        ValueTerm::Process(process) => ValueTerm::Process(who(process)),
        plain @ ValueTerm::Plain(_) => plain,
    };
    let index = |index: &IndexName| match *index {
        IndexName::Of(process) => IndexName::Of(who(process)),
        number @ IndexName::Number(_) => number,
    };
    let many = |parts: &[SentenceFormula]| parts.iter().map(|part| relettered(part, to)).collect();
    match formula {
        SentenceFormula::Cell(term, test) => {
            let owner = term.owner.map(who);
            let term = CellTerm { var: term.var, owner, indices: term.indices.iter().map(index).collect() };
            let test = match test {
                Test::In(values) => Test::In(values.iter().map(value).collect()),
                Test::NotIn(values) => Test::NotIn(values.iter().map(value).collect()),
                other => other.clone(),
            };
            SentenceFormula::Cell(term, test)
        }
        SentenceFormula::At(process, spots) => SentenceFormula::At(who(*process), spots.clone()),
        SentenceFormula::Not(inner) => SentenceFormula::Not(Box::new(relettered(inner, to))),
        SentenceFormula::All(parts) => SentenceFormula::All(many(parts)),
        SentenceFormula::Any(parts) => SentenceFormula::Any(many(parts)),
        SentenceFormula::Implies(one, other) => {
            SentenceFormula::Implies(Box::new(relettered(one, to)), Box::new(relettered(other, to)))
        }
        SentenceFormula::Iff(one, other) => {
            SentenceFormula::Iff(Box::new(relettered(one, to)), Box::new(relettered(other, to)))
        }
        SentenceFormula::Constant(_)
        | SentenceFormula::Sum(..)
        | SentenceFormula::Quantified(_)
        | SentenceFormula::Tally(_) => formula.clone(),
    }
}
