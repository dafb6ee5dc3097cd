//! Numbers of view states as formulas: places, values, variables, exposed facts.
//!
//! In: a column and some of its numbers. Out: what it says that the column has one of them, as short as it can be said. A process
//! may be called by a letter (`P[i]`, `P[k]`); then so are the array elements and values that it indexes and names. All other
//! processes of a family together are said by a quantifier, never by listing them.

use std::collections::BTreeMap;

use evidence::certificate::{Column, ControlPoint, LocalFact, SplitInvariant};
use model::Model;
use model::process::{FamilyId, ProcessId};
use model::symmetry::process_dimensions;
use model::types::ScalarType;
use model::value::Value;
use model::variable::{CellId, VarId};

use super::formula::{
    CellTerm, IndexName, Letter, NamedProcess, PlaceName, QuantifiedSentence, Quantity, SentenceFormula, Test,
    ValueTerm,
};

/// Points at which a block can be, and facts about variables, each with whether it holds there.
type Alternative = (Vec<u32>, Vec<(usize, bool)>);

/// What processes are called.
#[derive(Clone, Debug, Default)]
pub(super) struct ProcessNames {
    /// The processes that are called by a letter.
    pub called: Vec<(ProcessId, NamedProcess)>,
    /// The first letter that is not used yet.
    pub next: usize,
}

impl ProcessNames {
    /// The same with the next letter for one more process, or for one that had another name.
    pub fn with(&self, model: &Model, process: ProcessId) -> ProcessNames {
        let letter = Letter { at: self.next, family: model.processes[process].family };
        let others = self.called.iter().filter(|(one, _)| *one != process).copied();
        ProcessNames { called: others.chain([(process, NamedProcess::Letter(letter))]).collect(), next: self.next + 1 }
    }

    /// The same without a process.
    pub fn without(&self, process: ProcessId) -> ProcessNames {
        let called = self.called.iter().filter(|(one, _)| *one != process).copied().collect();
        ProcessNames { called, next: self.next }
    }

    fn who(&self, process: ProcessId) -> NamedProcess {
        let found = self.called.iter().find(|(one, _)| *one == process);
        found.map_or(NamedProcess::Process(process), |(_, who)| *who)
    }

    fn is_called(&self, process: ProcessId) -> bool {
        self.called.iter().any(|(one, _)| *one == process)
    }
}

/// Values of a cell, as they are said.
#[derive(Default)]
struct Listed {
    /// One by one.
    values: Vec<ValueTerm>,
    /// All processes of these families, or all that are not called by a letter.
    families: Vec<(FamilyId, Vec<NamedProcess>)>,
}

impl Listed {
    fn n_pieces(&self) -> usize {
        self.values.len() + self.families.len()
    }
}

/// The words for one invariant.
pub(super) struct InvariantWords<'a> {
    /// The program.
    pub model: &'a Model,
    /// The invariant.
    pub invariant: &'a SplitInvariant,
    /// The dimensions of arrays that processes index.
    dimensions: BTreeMap<(VarId, usize), FamilyId>,
}

impl<'a> InvariantWords<'a> {
    /// The words for an invariant of the program.
    pub fn new(model: &'a Model, invariant: &'a SplitInvariant) -> Self {
        let mut dimensions = BTreeMap::new();
        for family in model.families.ids() {
            dimensions.extend(process_dimensions(model, family).into_iter().map(|dimension| (dimension, family)));
        }
        InvariantWords { model, invariant, dimensions }
    }

    /// Words in which arrays as long as a family are indexed by its processes, too.
    pub fn around(model: &'a Model, invariant: &'a SplitInvariant, family: FamilyId) -> Self {
        let mut words = InvariantWords::new(model, invariant);
        let count = model.families[family].count();
        for (var, declared) in model.vars.entries() {
            let lens = declared.ty.dimensions().into_iter().enumerate();
            for (dimension, _) in lens.filter(|(_, len)| *len == count) {
                words.dimensions.entry((var, dimension)).or_insert(family);
            }
        }
        words
    }

    /// How many numbers a column has; `None` for a cell with very many values.
    pub fn size(&self, column: Column) -> Option<u32> {
        match column {
            Column::Cell(cell) => {
                let n_values = self.model.cells[cell].ty.n_values(self.model.type_context());
                u32::try_from(n_values).ok().filter(|&size| size <= 4096)
            }
            Column::Control(process) => u32::try_from(self.invariant.points[process.index()].len()).ok(),
            Column::Exposed(process) => u32::try_from(self.invariant.exposed[process.index()].blocks.len().max(1)).ok(),
        }
    }

    /// A cell: `x`, `flag[k]`, `P[k].level`.
    pub fn cell(&self, cell: CellId, names: &ProcessNames) -> CellTerm {
        let declared = &self.model.cells[cell];
        let index = |(dimension, index): (usize, usize)| {
            let process = self.index_process(declared.var, dimension, index);
            match process.map(|process| names.who(process)) {
                Some(who @ (NamedProcess::Letter(_) | NamedProcess::After(..) | NamedProcess::TreePosition(..))) => {
                    IndexName::Of(who)
                }
                Some(NamedProcess::Process(_)) | None => IndexName::Number(index),
            }
        };
        CellTerm {
            var: declared.var,
            owner: declared.owner.map(|owner| names.who(owner)),
            indices: self.indices(cell).into_iter().enumerate().map(index).collect(),
        }
    }

    /// The indices of a cell within its variable; the last one varies fastest.
    fn indices(&self, cell: CellId) -> Vec<usize> {
        let declared = &self.model.cells[cell];
        let first = self.model.cells_of(declared.var, declared.owner).next().map_or(0, |first| first.index());
        let mut offset = cell.index() - first;
        let lens = self.model.vars[declared.var].ty.dimensions();
        let mut indices: Vec<usize> = lens
            .iter()
            .rev()
            .map(|len| {
                let index = offset % len;
                offset /= len;
                index
            })
            .collect();
        indices.reverse();
        indices
    }

    /// The process that an index means, where processes index the dimension. Elements of a set that have names are no processes.
    fn index_process(&self, var: VarId, dimension: usize, index: usize) -> Option<ProcessId> {
        let declared = &self.model.vars[var];
        let has_names = declared.look.elements().is_some_and(|names| !names.is_empty());
        if has_names && dimension + 1 == declared.ty.dimensions().len() {
            return None;
        }
        let family = &self.model.families[*self.dimensions.get(&(var, dimension))?];
        (index < family.count()).then(|| ProcessId::new(family.first.index() + index))
    }

    /// The processes whose elements a cell is, besides its owner.
    pub fn indexed_by(&self, cell: CellId) -> Vec<ProcessId> {
        let var = self.model.cells[cell].var;
        let indices = self.indices(cell).into_iter().enumerate();
        indices.filter_map(|(dimension, index)| self.index_process(var, dimension, index)).collect()
    }

    fn value(&self, value: Value, names: &ProcessNames) -> ValueTerm {
        match value {
            Value::Process(process) => ValueTerm::Process(names.who(process)),
            other => ValueTerm::Plain(other),
        }
    }

    /// That a column has one of the numbers `inside`, of those that it can have at all.
    pub fn says(&self, column: Column, inside: &[u32], present: &[u32], names: &ProcessNames) -> SentenceFormula {
        match column {
            Column::Cell(cell) => self.cell_says(cell, inside, present, names),
            Column::Control(process) => self.stands(process, inside, present, names),
            Column::Exposed(process) => match self.points_of_blocks(process, inside, present) {
                Some((inside, present)) => self.stands(process, &inside, &present, names),
                None => self.facts_say(process, inside, present, names),
            },
        }
    }

    fn cell_says(&self, cell: CellId, inside: &[u32], present: &[u32], names: &ProcessNames) -> SentenceFormula {
        let ty = self.model.cells[cell].ty;
        let values: Vec<Value> = ty.values(self.model.type_context()).collect();
        let of = |numbers: &[u32]| -> Vec<Value> {
            numbers.iter().filter_map(|&number| values.get(number as usize).copied()).collect()
        };
        let outside: Vec<u32> = present.iter().copied().filter(|number| !inside.contains(number)).collect();
        let (inside, outside) = (of(inside), of(&outside));
        let term = self.cell(cell, names);
        let is_number = matches!(ty, ScalarType::Range { .. } | ScalarType::Semaphore { .. });
        match (&inside[..], &outside[..]) {
            ([], _) => return SentenceFormula::Constant(false),
            (_, []) => return SentenceFormula::Constant(true),
            ([_], _) | (_, [_]) => {}
            ([.., Value::Int(last)], [Value::Int(first), ..]) if is_number && last < first => {
                return SentenceFormula::Cell(term, Test::AtMost(*last));
            }
            ([Value::Int(first), ..], [.., Value::Int(last)]) if is_number && last < first => {
                return SentenceFormula::Cell(term, Test::AtLeast(*first));
            }
            _ => {}
        }
        let (yes, no) = (self.listed(&inside, names), self.listed(&outside, names));
        if yes.n_pieces() <= no.n_pieces() { self.one_of(&term, &yes, names) } else { self.none_of(&term, &no, names) }
    }

    /// Values as they are said: processes one by one, or all of a family, or all that are not called by a letter.
    fn listed(&self, values: &[Value], names: &ProcessNames) -> Listed {
        let mut listed = Listed::default();
        let has = |process: ProcessId| values.contains(&Value::Process(process));
        let others = values.iter().filter(|value| !matches!(value, Value::Process(_)));
        listed.values.extend(others.map(|&value| self.value(value, names)));
        for (id, family) in self.model.families.entries() {
            let inside: Vec<ProcessId> = family.processes().filter(|&process| has(process)).collect();
            let unnamed: Vec<ProcessId> = family.processes().filter(|&process| !names.is_called(process)).collect();
            let one = |process: &ProcessId| ValueTerm::Process(names.who(*process));
            if inside.len() == family.count() && family.count() > 1 {
                listed.families.push((id, Vec::new()));
            } else if !unnamed.is_empty()
                && family.count() > 1
                && values.len() > 1
                && unnamed.iter().all(|process| has(*process))
            {
                let named = family.processes().filter(|&process| names.is_called(process));
                let except = named.map(|process| names.who(process)).collect();
                listed.families.push((id, except));
                listed.values.extend(inside.iter().filter(|process| names.is_called(**process)).map(one));
            } else {
                listed.values.extend(inside.iter().map(one));
            }
        }
        listed
    }

    fn one_of(&self, term: &CellTerm, listed: &Listed, names: &ProcessNames) -> SentenceFormula {
        let single =
            (!listed.values.is_empty()).then(|| SentenceFormula::Cell(term.clone(), Test::In(listed.values.clone())));
        let of_family = |(family, except): &(FamilyId, Vec<NamedProcess>)| {
            self.of_family((*family, except), Quantity::Exists, term, names)
        };
        SentenceFormula::any(single.into_iter().chain(listed.families.iter().map(of_family)).collect())
    }

    fn none_of(&self, term: &CellTerm, listed: &Listed, names: &ProcessNames) -> SentenceFormula {
        let single = (!listed.values.is_empty())
            .then(|| SentenceFormula::Cell(term.clone(), Test::NotIn(listed.values.clone())));
        let of_family = |(family, except): &(FamilyId, Vec<NamedProcess>)| {
            self.of_family((*family, except), Quantity::ForAll, term, names)
        };
        SentenceFormula::all(single.into_iter().chain(listed.families.iter().map(of_family)).collect())
    }

    /// `exists k != i: m == k`, or `forall k != i: m != k`.
    fn of_family(
        &self,
        (family, except): (FamilyId, &[NamedProcess]),
        quantity: Quantity,
        term: &CellTerm,
        names: &ProcessNames,
    ) -> SentenceFormula {
        let value = vec![ValueTerm::Process(NamedProcess::Letter(Letter { at: names.next, family }))];
        let test = if quantity == Quantity::Exists { Test::In(value) } else { Test::NotIn(value) };
        SentenceFormula::Quantified(QuantifiedSentence {
            quantity,
            letters: vec![names.next],
            family,
            except: except.to_vec(),
            body: Box::new(SentenceFormula::Cell(term.clone(), test)),
        })
    }

    /// The points behind exposed blocks, where blocks depend on places only.
    fn points_of_blocks(&self, process: ProcessId, inside: &[u32], present: &[u32]) -> Option<(Vec<u32>, Vec<u32>)> {
        let exposed = &self.invariant.exposed[process.index()];
        let block_of = |point: usize| -> Option<usize> {
            let facts = exposed.facts.iter().map(|fact| holds_at(fact, point)).collect::<Option<Vec<bool>>>()?;
            exposed.blocks.iter().position(|block| *block == facts)
        };
        let n_points = self.invariant.points[process.index()].len();
        let blocks: Vec<usize> = (0..n_points).map(block_of).collect::<Option<_>>()?;
        let points =
            |of: &[u32]| (0..n_points as u32).filter(|&at| of.contains(&(blocks[at as usize] as u32))).collect();
        Some((points(inside), points(present)))
    }

    /// `P[k]@{crit, leave}`, or `!P[k]@trying` where that is shorter.
    fn stands(&self, process: ProcessId, inside: &[u32], present: &[u32], names: &ProcessNames) -> SentenceFormula {
        let outside: Vec<u32> = present.iter().copied().filter(|point| !inside.contains(point)).collect();
        let here = self.spots(process, inside, present, names);
        let there = self.spots(process, &outside, present, names);
        let who = names.who(process);
        match (here.len(), there.len()) {
            (0, _) => SentenceFormula::Constant(false),
            (_, 0) => SentenceFormula::Constant(true),
            (n_here, n_there) if n_here <= n_there => SentenceFormula::At(who, here),
            _ => SentenceFormula::Not(Box::new(SentenceFormula::At(who, there))),
        }
    }

    /// Points: by their places, with the counters of loops where only some of a place's points are meant.
    pub fn spots(&self, process: ProcessId, points: &[u32], present: &[u32], names: &ProcessNames) -> Vec<PlaceName> {
        let all = &self.invariant.points[process.index()];
        let place_of = |point: u32| all[point as usize].place;
        let mut found: Vec<PlaceName> = Vec::new();
        for &point in points {
            let mut alike = present.iter().filter(|&&other| place_of(other) == place_of(point));
            let is_whole = alike.all(|other| points.contains(other));
            let counters = (!is_whole).then(|| self.counters(&all[point as usize], names));
            let spot = PlaceName { place: place_of(point), counters };
            if !found.contains(&spot) {
                found.push(spot);
            }
        }
        found
    }

    fn counters(&self, point: &ControlPoint, names: &ProcessNames) -> Vec<(VarId, ValueTerm)> {
        let counter = |&(cell, value): &(CellId, Value)| (self.model.cells[cell].var, self.value(value, names));
        point.counters.iter().map(counter).collect()
    }

    /// An exposed fact: `P[k]@{crit, leave}`, `P[k].y == 1`.
    pub fn fact(&self, process: ProcessId, fact: &LocalFact, names: &ProcessNames) -> SentenceFormula {
        match fact {
            LocalFact::Control(points) => {
                let points: Vec<u32> = points.iter().map(|&point| point as u32).collect();
                let all: Vec<u32> = (0..self.invariant.points[process.index()].len() as u32).collect();
                self.stands(process, &points, &all, names)
            }
            LocalFact::Cell(cell, value) => {
                SentenceFormula::Cell(self.cell(*cell, names), Test::In(vec![self.value(*value, names)]))
            }
            LocalFact::OneOf(lists) => {
                let all = |facts: &Vec<LocalFact>| {
                    SentenceFormula::all(facts.iter().map(|fact| self.fact(process, fact, names)).collect())
                };
                SentenceFormula::any(lists.iter().map(all).collect())
            }
        }
    }

    /// Blocks by the facts that hold in them.
    fn facts_say(&self, process: ProcessId, inside: &[u32], present: &[u32], names: &ProcessNames) -> SentenceFormula {
        let exposed = &self.invariant.exposed[process.index()];
        let block = |number: u32| &exposed.blocks[number as usize];
        let outside: Vec<u32> = present.iter().copied().filter(|number| !inside.contains(number)).collect();
        for (nth, fact) in exposed.facts.iter().enumerate() {
            let holds = |of: &[u32], truth: bool| of.iter().all(|&number| block(number)[nth] == truth);
            if holds(inside, true) && holds(&outside, false) {
                return self.fact(process, fact, names);
            }
            if holds(inside, false) && holds(&outside, true) {
                return self.fact(process, fact, names).negated();
            }
        }
        let mut alternatives: Vec<Alternative> = Vec::new();
        for &number in inside {
            let (points, cells) = self.alternative(process, block(number), &outside);
            match alternatives.iter_mut().find(|(_, known)| *known == cells) {
                Some((known, _)) => known.extend(points),
                None => alternatives.push((points, cells)),
            }
        }
        let all: Vec<u32> = (0..self.invariant.points[process.index()].len() as u32).collect();
        let said = |(mut points, cells): Alternative| {
            points.sort_unstable();
            points.dedup();
            let place = self.stands(process, &points, &all, names);
            let place = (place != SentenceFormula::Constant(true)).then_some(place);
            let cells = cells.into_iter().map(|(fact, holds)| {
                let said = self.fact(process, &exposed.facts[fact], names);
                if holds { said } else { said.negated() }
            });
            SentenceFormula::all(place.into_iter().chain(cells).collect())
        };
        SentenceFormula::any(alternatives.into_iter().map(said).collect())
    }

    /// The points at which a block can be, and the facts about variables that distinguish it from other blocks.
    fn alternative(&self, process: ProcessId, block: &[bool], others: &[u32]) -> Alternative {
        let exposed = &self.invariant.exposed[process.index()];
        let mut needed: Vec<usize> = (0..exposed.facts.len()).collect();
        let is_cell = |fact: &usize| !matches!(exposed.facts[*fact], LocalFact::Control(_));
        let distinguishing = |needed: &[usize]| {
            let differs = |other: &u32| needed.iter().any(|&fact| exposed.blocks[*other as usize][fact] != block[fact]);
            others.iter().all(differs)
        };
        // Facts about variables are left out before those about places, of which several can be said at once.
        for fact in (0..exposed.facts.len()).filter(is_cell) {
            let fewer: Vec<usize> = needed.iter().copied().filter(|&one| one != fact).collect();
            if distinguishing(&fewer) {
                needed = fewer;
            }
        }
        let cells = needed.iter().copied().filter(is_cell).map(|fact| (fact, block[fact])).collect();
        let places_matter = {
            let only_cells: Vec<usize> = needed.iter().copied().filter(is_cell).collect();
            !distinguishing(&only_cells)
        };
        let fits = |point: &u32| {
            exposed.facts.iter().zip(block).all(|(fact, holds)| match fact {
                LocalFact::Control(points) => !places_matter || points.contains(&(*point as usize)) == *holds,
                LocalFact::Cell(..) | LocalFact::OneOf(_) => true,
            })
        };
        ((0..self.invariant.points[process.index()].len() as u32).filter(fits).collect(), cells)
    }
}

/// Whether a fact holds of a process at a point, where that depends on nothing else.
pub(super) fn holds_at(fact: &LocalFact, point: usize) -> Option<bool> {
    let is_place = |fact: &&LocalFact| matches!(fact, LocalFact::Control(_));
    let at = |fact: &LocalFact| matches!(fact, LocalFact::Control(points) if points.contains(&point));
    fact.plain().iter().all(is_place).then(|| fact.holds(&at))
}
