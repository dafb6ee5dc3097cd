//! Numbers of view states in the user's names: places, values, variables, exposed facts.
//!
//! In: a column and some of its numbers. Out: what it says that the column has one of them, as short as it can be said. A process
//! may be shown under a letter (`P[i]`, `P[k]`); then so are the array elements and values that it indexes and names.

use std::collections::BTreeMap;

use evidence::certificate::{Column, ControlPoint, LocalFact, SplitInvariant};
use model::Model;
use model::control::PlaceId;
use model::print;
use model::process::{FamilyId, ProcessId};
use model::symmetry::process_dimensions;
use model::types::ScalarType;
use model::value::Value;
use model::variable::{CellId, VarId};

use crate::text::clean;

/// Points at which a block can be, and facts about variables, each with whether it holds there.
type Alternative = (Vec<u32>, Vec<(usize, bool)>);

/// Processes that are shown under a letter.
pub(super) type Names = [(ProcessId, String)];

/// The words for one invariant.
pub(super) struct Words<'a> {
    /// The program.
    pub model: &'a Model,
    /// The invariant.
    pub invariant: &'a SplitInvariant,
    /// The dimensions of arrays that processes index.
    dimensions: BTreeMap<(VarId, usize), FamilyId>,
    /// Processes that are called by their distance from another one: `i + 1`.
    neighbours: Vec<(ProcessId, String)>,
}

impl<'a> Words<'a> {
    /// The words for an invariant of the program.
    pub fn new(model: &'a Model, invariant: &'a SplitInvariant) -> Self {
        let mut dimensions = BTreeMap::new();
        for family in model.families.ids() {
            dimensions.extend(process_dimensions(model, family).into_iter().map(|dimension| (dimension, family)));
        }
        Words { model, invariant, dimensions, neighbours: Vec::new() }
    }

    /// Words that call the neighbours of a process, in the ring of its family, by their distance from it; arrays as long as the
    /// family are rings, too.
    pub fn around(model: &'a Model, invariant: &'a SplitInvariant, process: ProcessId, letter: &str) -> Self {
        let mut words = Words::new(model, invariant);
        let id = model.processes[process].family;
        let (first, count) = (model.families[id].first.index(), model.families[id].count());
        let at = process.index() - first;
        let neighbour = |distance: usize| ProcessId::new(first + (at + distance) % count);
        if count > 2 {
            words.neighbours.push((neighbour(1), format!("{letter} + 1")));
            words.neighbours.push((neighbour(count - 1), format!("{letter} - 1")));
        }
        for (var, declared) in model.vars.entries() {
            let lens = declared.ty.dimensions().into_iter().enumerate();
            let rings = lens.filter(|(_, len)| *len == count).map(|(dimension, _)| ((var, dimension), id));
            for (dimension, family) in rings {
                words.dimensions.entry(dimension).or_insert(family);
            }
        }
        words
    }

    /// What a process is called, if by a letter.
    fn letter<'n>(&'n self, process: ProcessId, names: &'n Names) -> Option<&'n String> {
        let is_it = |(one, _): &&(ProcessId, String)| *one == process;
        let found = names.iter().find(is_it).or_else(|| self.neighbours.iter().find(is_it));
        found.map(|(_, letter)| letter)
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

    /// A process: `P[i]`, `P[0]`, `Monitor`.
    pub fn process(&self, process: ProcessId, names: &Names) -> String {
        let family = &self.model.families[self.model.processes[process].family];
        match self.letter(process, names) {
            Some(letter) if family.index.is_some() => format!("{}[{letter}]", clean(&family.name)),
            _ => clean(&self.model.processes[process].name),
        }
    }

    /// A cell: `x`, `flag[k]`, `P[k].level`.
    pub fn cell(&self, cell: CellId, names: &Names) -> String {
        let declared = &self.model.cells[cell];
        let var = &self.model.vars[declared.var];
        let owner = declared.owner.map(|owner| self.process(owner, names) + ".").unwrap_or_default();
        let indices: String = self
            .indices(cell)
            .into_iter()
            .enumerate()
            .map(|(dimension, index)| {
                let letter =
                    self.index_process(declared.var, dimension, index).and_then(|process| self.letter(process, names));
                format!("[{}]", letter.cloned().unwrap_or_else(|| index.to_string()))
            })
            .collect();
        format!("{owner}{}{indices}", clean(&var.name))
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

    /// The process that an index means, where processes index the dimension.
    fn index_process(&self, var: VarId, dimension: usize, index: usize) -> Option<ProcessId> {
        let family = &self.model.families[*self.dimensions.get(&(var, dimension))?];
        (index < family.count()).then(|| ProcessId::new(family.first.index() + index))
    }

    /// The processes that a statement about the column would name.
    pub fn mentions(&self, column: Column, inside: &[u32], present: &[u32]) -> Vec<ProcessId> {
        let mut found = match column {
            Column::Control(process) | Column::Exposed(process) => vec![process],
            Column::Cell(cell) => {
                let declared = &self.model.cells[cell];
                let indices = self.indices(cell).into_iter().enumerate();
                let named = indices.filter_map(|(dimension, at)| self.index_process(declared.var, dimension, at));
                let outside = present.len() - inside.len();
                // A value is spelled out where it, or all but it, is meant.
                let spelled: Vec<u32> = match (inside.len(), outside) {
                    (1, _) => inside.to_vec(),
                    (_, 1) => present.iter().copied().filter(|number| !inside.contains(number)).collect(),
                    _ => Vec::new(),
                };
                let values = spelled.into_iter().filter_map(|number| match self.value_of(cell, number) {
                    Some(Value::Process(process)) => Some(process),
                    _ => None,
                });
                declared.owner.into_iter().chain(named).chain(values).collect()
            }
        };
        found.sort_unstable();
        found.dedup();
        found
    }

    fn value_of(&self, cell: CellId, number: u32) -> Option<Value> {
        self.model.cells[cell].ty.values(self.model.type_context()).nth(number as usize)
    }

    fn value(&self, value: Value, names: &Names) -> String {
        match value {
            Value::Process(process) => match self.letter(process, names) {
                // Where values are shown by index, so is the letter.
                Some(letter) if print::value(self.model, value).parse::<i64>().is_ok() => letter.clone(),
                Some(_) => self.process(process, names),
                None => print::value(self.model, value),
            },
            other => print::value(self.model, other),
        }
    }

    /// That a column has one of the numbers `inside`, of those that it can have at all.
    pub fn says(&self, column: Column, inside: &[u32], present: &[u32], names: &Names) -> String {
        match column {
            Column::Cell(cell) => self.cell_says(cell, inside, present, names),
            Column::Control(process) => self.stands(process, inside, present, names),
            Column::Exposed(process) => match self.points_of_blocks(process, inside, present) {
                Some((inside, present)) => self.stands(process, &inside, &present, names),
                None => self.facts_say(process, inside, present, names),
            },
        }
    }

    fn cell_says(&self, cell: CellId, inside: &[u32], present: &[u32], names: &Names) -> String {
        let (name, ty) = (self.cell(cell, names), self.model.cells[cell].ty);
        let outside: Vec<u32> = present.iter().copied().filter(|number| !inside.contains(number)).collect();
        let text = |number: u32| self.value_of(cell, number).map_or(String::new(), |value| self.value(value, names));
        let is_number = matches!(ty, ScalarType::Range { .. } | ScalarType::Semaphore { .. });
        match (inside, &outside[..], ty) {
            ([], ..) => "false".to_owned(),
            (_, [], _) => "true".to_owned(),
            ([only], _, ScalarType::Bool) => {
                if text(*only) == "true" {
                    name
                } else {
                    format!("!{name}")
                }
            }
            ([only], _, ScalarType::Lock) => match self.value_of(cell, *only) {
                Some(Value::Process(owner)) => format!("{name} held by {}", self.process(owner, names)),
                _ => format!("{name} free"),
            },
            (_, [only], ScalarType::Lock) => match self.value_of(cell, *only) {
                Some(Value::Process(owner)) => format!("{name} not held by {}", self.process(owner, names)),
                _ => format!("{name} held"),
            },
            ([only], ..) => format!("{name} == {}", text(*only)),
            (_, [only], _) => format!("{name} != {}", text(*only)),
            ([.., last], [first, ..], _) if is_number && last < first => format!("{name} <= {}", text(*last)),
            ([first, ..], [.., last], _) if is_number && last < first => format!("{name} >= {}", text(*first)),
            _ => {
                let (sense, numbers) =
                    if inside.len() <= outside.len() { ("in", inside) } else { ("not in", &outside[..]) };
                let values: Vec<String> = numbers.iter().map(|&number| text(number)).collect();
                format!("{name} {sense} {{{}}}", values.join(", "))
            }
        }
    }

    /// The points behind exposed blocks, where blocks tell of places only.
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
    fn stands(&self, process: ProcessId, inside: &[u32], present: &[u32], names: &Names) -> String {
        let outside: Vec<u32> = present.iter().copied().filter(|point| !inside.contains(point)).collect();
        let (here, there) = (self.places(process, inside, present), self.places(process, &outside, present));
        if here.is_empty() {
            return "false".to_owned();
        }
        if there.is_empty() {
            return "true".to_owned();
        }
        let (sign, places) = if here.len() <= there.len() { ("", here) } else { ("!", there) };
        let who = self.process(process, names);
        match &places[..] {
            [only] => format!("{sign}{who}@{only}"),
            several => format!("{sign}{who}@{{{}}}", several.join(", ")),
        }
    }

    /// The names of points: of their places, with the counters of loops where only some of a place's points are meant.
    pub fn places(&self, process: ProcessId, points: &[u32], present: &[u32]) -> Vec<String> {
        let all = &self.invariant.points[process.index()];
        let place_of = |point: u32| all[point as usize].place;
        let mut found: Vec<String> = Vec::new();
        for &point in points {
            let mut alike = present.iter().filter(|&&other| place_of(other) == place_of(point));
            let name = self.place(process, place_of(point));
            let text =
                if alike.all(|other| points.contains(other)) { name } else { self.counted(name, &all[point as usize]) };
            if !found.contains(&text) {
                found.push(text);
            }
        }
        found
    }

    fn counted(&self, name: String, point: &ControlPoint) -> String {
        let counters: Vec<String> = point.counters.iter().map(|(_, value)| print::value(self.model, *value)).collect();
        if counters.is_empty() { name } else { format!("{name}[{}]", counters.join(", ")) }
    }

    fn place(&self, process: ProcessId, place: PlaceId) -> String {
        let declared = &self.model.places[place];
        let is_end = place == self.model.families[self.model.processes[process].family].end;
        if is_end && declared.labels.is_empty() { "end".to_owned() } else { clean(&declared.name) }
    }

    /// An exposed fact: `P[k]@{crit, leave}`, `P[k].y == 1`.
    pub fn fact(&self, process: ProcessId, fact: &LocalFact, names: &Names) -> String {
        match fact {
            LocalFact::Control(points) => {
                let points: Vec<u32> = points.iter().map(|&point| point as u32).collect();
                let all: Vec<u32> = (0..self.invariant.points[process.index()].len() as u32).collect();
                self.stands(process, &points, &all, names)
            }
            LocalFact::Cell(cell, value) => match value {
                Value::Bool(true) => self.cell(*cell, names),
                Value::Bool(false) => format!("!{}", self.cell(*cell, names)),
                other => format!("{} == {}", self.cell(*cell, names), self.value(*other, names)),
            },
            LocalFact::OneOf(lists) => {
                let all = |facts: &Vec<LocalFact>| {
                    let texts: Vec<String> = facts.iter().map(|fact| self.fact(process, fact, names)).collect();
                    if texts.is_empty() { "true".to_owned() } else { texts.join(" && ") }
                };
                match &lists.iter().map(all).collect::<Vec<String>>()[..] {
                    [] => "false".to_owned(),
                    [only] if !only.contains(" && ") => only.clone(),
                    several => format!("({})", several.join(" || ")),
                }
            }
        }
    }

    /// Blocks by the facts that hold in them.
    fn facts_say(&self, process: ProcessId, inside: &[u32], present: &[u32], names: &Names) -> String {
        let exposed = &self.invariant.exposed[process.index()];
        let block = |number: u32| &exposed.blocks[number as usize];
        let outside: Vec<u32> = present.iter().copied().filter(|number| !inside.contains(number)).collect();
        for (nth, fact) in exposed.facts.iter().enumerate() {
            let holds = |of: &[u32], truth: bool| of.iter().all(|&number| block(number)[nth] == truth);
            if holds(inside, true) && holds(&outside, false) {
                return self.fact(process, fact, names);
            }
            if holds(inside, false) && holds(&outside, true) {
                return negated(&self.fact(process, fact, names));
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
        let texts: Vec<String> = alternatives
            .into_iter()
            .map(|(mut points, cells)| {
                points.sort_unstable();
                points.dedup();
                let place = self.stands(process, &points, &all, names);
                let place = (place != "true").then_some(place);
                let cells = cells.into_iter().map(|(fact, holds)| {
                    let text = self.fact(process, &exposed.facts[fact], names);
                    if holds { text } else { negated(&text) }
                });
                place.into_iter().chain(cells).collect::<Vec<_>>().join(" && ")
            })
            .collect();
        match &texts[..] {
            [only] if !only.contains(" && ") => only.clone(),
            several => format!("({})", several.join(" || ")),
        }
    }

    /// The points at which a block can be, and the facts about variables that it takes to tell it from other blocks.
    fn alternative(&self, process: ProcessId, block: &[bool], others: &[u32]) -> Alternative {
        let exposed = &self.invariant.exposed[process.index()];
        let mut needed: Vec<usize> = (0..exposed.facts.len()).collect();
        let is_cell = |fact: &usize| !matches!(exposed.facts[*fact], LocalFact::Control(_));
        let told_apart = |needed: &[usize]| {
            let differs = |other: &u32| needed.iter().any(|&fact| exposed.blocks[*other as usize][fact] != block[fact]);
            others.iter().all(differs)
        };
        // Facts about variables are left out before those about places, of which several can be said at once.
        for fact in (0..exposed.facts.len()).filter(is_cell) {
            let fewer: Vec<usize> = needed.iter().copied().filter(|&one| one != fact).collect();
            if told_apart(&fewer) {
                needed = fewer;
            }
        }
        let cells = needed.iter().copied().filter(is_cell).map(|fact| (fact, block[fact])).collect();
        let places_matter = {
            let only_cells: Vec<usize> = needed.iter().copied().filter(is_cell).collect();
            !told_apart(&only_cells)
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

/// The negation of a fact, as it is said.
fn negated(text: &str) -> String {
    if text.starts_with('(') {
        return format!("!{text}");
    }
    match text.split_once(" == ") {
        Some((name, value)) => format!("{name} != {value}"),
        None => text.strip_prefix('!').map_or_else(|| format!("!{text}"), str::to_owned),
    }
}
