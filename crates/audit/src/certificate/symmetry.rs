//! Permutations of processes: what they make of columns and numbers, and which cases represent all their images.
//!
//! In: a Model, and what a certificate says about permutations of processes within their families: they move the processes'
//! own cells, control and blocks, values that name processes, and the elements of the stated dimensions of arrays. That such a
//! permutation takes initial states to initial states and steps to steps is not believed: for permutations of which all
//! others are composed, every text of the program has to be its own image (`image`). An invariant
//! that lists one member for each choice of families means all images of it; they are well defined if the listed one does not
//! change under the permutations that keep its processes together, which is checked. Then an obligation holds for all images
//! if it holds for one.

mod image;
#[cfg(test)]
mod tests;
mod total;

use std::collections::{BTreeMap, BTreeSet};

use evidence::certificate::{self, Column, ControlPoint, LocalFact, ProcessDimension, SplitInvariant};
use model::Model;
use model::control::TextOwner;
use model::expr::Expr;
use model::process::{Family, FamilyId, ProcessId};
use model::property::PropertyKind;
use model::types::ScalarType;
use model::value::Value;
use model::variable::{CellId, VarId};

use super::numbering::{Numbering, name};
use image::{Images, Reader, Sort};
use total::Total;

pub(super) use total::AnySize;

/// Where each process goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Permutation(Vec<ProcessId>);

/// The permutations of processes within their families, under which the program is its own image.
pub(super) struct Symmetry<'m> {
    model: &'m Model,
    /// The dimensions of arrays that processes index, with their family.
    dimensions: BTreeMap<(VarId, usize), FamilyId>,
    /// Whether the property is symmetric in all processes.
    property_alike: bool,
}

impl Permutation {
    /// Where a process goes.
    pub fn of(&self, process: ProcessId) -> ProcessId {
        self.0[process.index()]
    }
}

impl<'m> Symmetry<'m> {
    /// The permutations that the certificate states, if every text of the program is its own image under them and the numbering
    /// of control points and blocks is the same for all processes of a family; otherwise why not.
    pub fn new(
        model: &'m Model,
        property: &PropertyKind,
        claimed: &SplitInvariant,
        stated: &certificate::ClaimedSymmetry,
    ) -> Result<Self, String> {
        let symmetry = Self::stated(model, property, stated)?;
        symmetry.check_numbering(claimed)?;
        Ok(symmetry)
    }

    /// The permutations that are stated, if every text of the program is its own image under them.
    pub fn stated(
        model: &'m Model,
        property: &PropertyKind,
        stated: &certificate::ClaimedSymmetry,
    ) -> Result<Self, String> {
        let mut symmetry = Symmetry { model, dimensions: dimensions(model, stated)?, property_alike: true };
        for family in model.families.iter().filter(|family| family.count() > 1) {
            for permutation in symmetry.generators(family) {
                let images = Images { model, permutation: &permutation, dimensions: &symmetry.dimensions };
                images.program().map_err(|why| {
                    format!("the processes of {} cannot be exchanged for one another: {why}", family.name)
                })?;
                if let PropertyKind::Invariant(expr) | PropertyKind::Reachable(expr) = property {
                    symmetry.property_alike = symmetry.property_alike && images.property(expr).is_ok();
                }
            }
        }
        Ok(symmetry)
    }

    /// The permutation that exchanges processes of one family for one another, two at a time, the first two first.
    pub fn swapped(&self, swaps: &[[ProcessId; 2]]) -> Result<Permutation, String> {
        let family = |process: ProcessId| self.model.processes.get(process).map(|process| process.family);
        let mut goes: Vec<ProcessId> = self.model.processes.ids().collect();
        for &[one, other] in swaps {
            if family(one).is_none() || family(one) != family(other) {
                return Err("two processes that are not of one family are exchanged for one another".to_owned());
            }
            for goes in &mut goes {
                *goes = match *goes {
                    to if to == one => other,
                    to if to == other => one,
                    to => to,
                };
            }
        }
        Ok(Permutation(goes))
    }

    /// What a permutation makes of an expression that no process reads, with so many variables bound around it of which it has none.
    pub fn image(&self, permutation: &Permutation, expr: &Expr, n_bound: usize) -> Result<Expr, String> {
        let images = Images { model: self.model, permutation, dimensions: &self.dimensions };
        images.image(expr, &Reader { scope: None, bound: vec![Sort::Plain; n_bound] })
    }

    /// Permutations of which all others of the family's processes are composed.
    fn generators(&self, family: &Family) -> Vec<Permutation> {
        let all: Vec<ProcessId> = family.processes().collect();
        let swap = all.get(..2).map(|two| self.round(two));
        let round = (all.len() > 2).then(|| self.round(&all));
        swap.into_iter().chain(round).collect()
    }

    /// Whether the property is symmetric in all processes.
    pub fn property_alike(&self) -> bool {
        self.property_alike
    }

    /// Each process has the control points, facts and blocks of the first of its family.
    fn check_numbering(&self, claimed: &SplitInvariant) -> Result<(), String> {
        for family in &self.model.families {
            for process in family.processes() {
                let exchange = self.exchange(&[family.first], &[process]);
                let (first, this) = (family.first.index(), process.index());
                let points = claimed.points[first].iter().map(|point| self.moved_point(&exchange, point));
                let facts = claimed.exposed[first].facts.iter().map(|fact| self.moved_fact(&exchange, fact));
                let alike = points.eq(claimed.points[this].iter().cloned())
                    && facts.eq(claimed.exposed[this].facts.iter().cloned())
                    && claimed.exposed[first].blocks == claimed.exposed[this].blocks;
                if !alike {
                    let names = [name(self.model, family.first), name(self.model, process)];
                    return Err(format!("{} and {} do not have the same points and blocks", names[0], names[1]));
                }
            }
        }
        // A fact that names another process would have to be moved with it.
        let names_other = |(process, exposed): (ProcessId, &evidence::certificate::Exposed)| {
            exposed.facts.iter().flat_map(LocalFact::plain).any(|fact| match fact {
                LocalFact::Cell(_, Value::Process(named)) => {
                    *named != process && self.model.families[self.model.processes[*named].family].count() > 1
                }
                LocalFact::Cell(..) | LocalFact::Control(_) | LocalFact::OneOf(_) => false,
            })
        };
        match self.model.processes.ids().zip(&claimed.exposed).find(|&pair| names_other(pair)) {
            Some((process, _)) => {
                Err(format!("{} exposes a fact that names another process", name(self.model, process)))
            }
            None => Ok(()),
        }
    }

    fn moved_point(&self, exchange: &Permutation, point: &ControlPoint) -> ControlPoint {
        let counters = point.counters.iter().map(|&(cell, value)| (self.cell(exchange, cell), moved(exchange, value)));
        ControlPoint { place: point.place, counters: counters.collect() }
    }

    fn moved_fact(&self, exchange: &Permutation, fact: &LocalFact) -> LocalFact {
        fact.map(&|plain| match plain {
            LocalFact::Cell(cell, value) => LocalFact::Cell(self.cell(exchange, *cell), moved(exchange, *value)),
            other => other.clone(),
        })
    }

    /// A permutation that takes some processes, family by family in their order, to others.
    pub fn exchange(&self, from: &[ProcessId], to: &[ProcessId]) -> Permutation {
        let mut goes: Vec<ProcessId> = self.model.processes.ids().collect();
        for family in &self.model.families {
            let ordered = |first: &[ProcessId]| -> Vec<ProcessId> {
                let (inside, outside): (Vec<ProcessId>, Vec<ProcessId>) =
                    family.processes().partition(|process| first.contains(process));
                [inside, outside].concat()
            };
            for (one, other) in ordered(from).into_iter().zip(ordered(to)) {
                goes[one.index()] = other;
            }
        }
        Permutation(goes)
    }

    /// Permutations that keep a set of processes together, and from which all others that do are composed: in each family,
    /// among those inside and among those outside, a transposition and a cycle of all.
    pub fn keeping(&self, set: &[ProcessId]) -> Vec<Permutation> {
        let mut found = Vec::new();
        for family in &self.model.families {
            let (inside, outside): (Vec<ProcessId>, Vec<ProcessId>) =
                family.processes().partition(|process| set.contains(process));
            for class in [inside, outside] {
                if class.len() >= 2 {
                    found.push(self.round(&class[..2]));
                }
                if class.len() >= 3 {
                    found.push(self.round(&class));
                }
            }
        }
        found
    }

    /// Each process of the list goes to the next one, the last one to the first.
    pub fn round(&self, list: &[ProcessId]) -> Permutation {
        let mut goes: Vec<ProcessId> = self.model.processes.ids().collect();
        for (at, process) in list.iter().enumerate() {
            goes[process.index()] = list[(at + 1) % list.len()];
        }
        Permutation(goes)
    }

    /// The given set of processes of which this one is an image.
    pub fn representative<'s>(
        &self,
        set: &[ProcessId],
        listed: impl Iterator<Item = &'s Vec<ProcessId>>,
    ) -> Option<&'s Vec<ProcessId>> {
        let choice = self.choice(set);
        { listed }.find(|listed| self.choice(listed) == choice)
    }

    /// The families of some processes, in order.
    pub fn choice(&self, set: &[ProcessId]) -> Vec<FamilyId> {
        let mut families: Vec<FamilyId> = set.iter().map(|&process| self.model.processes[process].family).collect();
        families.sort_unstable();
        families
    }

    /// Whether, of all sequences into which permutations that keep the set together take this one, it is the first.
    pub fn is_first(&self, sequence: &[ProcessId], set: &[ProcessId]) -> bool {
        let mut seen: BTreeSet<ProcessId> = BTreeSet::new();
        sequence.iter().all(|&process| {
            let family = &self.model.families[self.model.processes[process].family];
            let alike = |other: &ProcessId| set.contains(other) == set.contains(&process) && !seen.contains(other);
            let is_next = seen.contains(&process) || family.processes().find(alike) == Some(process);
            seen.insert(process);
            is_next
        })
    }

    /// Of all sequences into which permutations take this one, the first.
    pub fn first_image(&self, sequence: &[ProcessId]) -> Vec<ProcessId> {
        let mut goes: BTreeMap<ProcessId, ProcessId> = BTreeMap::new();
        let mut of = |process: ProcessId| {
            if let Some(&to) = goes.get(&process) {
                return to;
            }
            let family = self.model.processes[process].family;
            let n_before = goes.keys().filter(|&&other| self.model.processes[other].family == family).count();
            let to = self.model.families[family].processes().nth(n_before).unwrap_or(process);
            goes.insert(process, to);
            to
        };
        sequence.iter().map(|&process| of(process)).collect()
    }

    /// Where a column goes.
    pub fn column(&self, exchange: &Permutation, column: Column) -> Column {
        match column {
            Column::Cell(cell) => Column::Cell(self.cell(exchange, cell)),
            Column::Control(process) => Column::Control(exchange.of(process)),
            Column::Exposed(process) => Column::Exposed(exchange.of(process)),
        }
    }

    /// What the numbers of a column become; `None` where they stay.
    pub fn renumbering(&self, numbering: &Numbering<'_>, exchange: &Permutation, column: Column) -> Option<Vec<u32>> {
        let Column::Cell(cell) = column else { return None };
        match self.model.cells[cell].ty {
            ScalarType::Pid(_) | ScalarType::PidOrNone(_) | ScalarType::Lock => {
                let n_values = numbering.n_values(column) as u32;
                let renumbered = |number| numbering.number_of(cell, moved(exchange, numbering.value_of(cell, number)));
                Some((0..n_values).map(renumbered).collect())
            }
            ScalarType::Bool | ScalarType::Range { .. } | ScalarType::Semaphore { .. } | ScalarType::Enum(_) => None,
        }
    }

    fn cell(&self, exchange: &Permutation, cell: CellId) -> CellId {
        let declared = &self.model.cells[cell];
        let cells: Vec<CellId> = self.model.cells_of(declared.var, declared.owner).collect();
        let mut offset = cell.index() - cells[0].index();
        // The last index varies fastest.
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
        for (dimension, index) in indices.iter_mut().enumerate() {
            if let Some(&family) = self.dimensions.get(&(declared.var, dimension)) {
                let first = self.model.families[family].first.index();
                *index = exchange.of(ProcessId::new(first + *index)).index() - first;
            }
        }
        let moved = indices.iter().zip(&lens).fold(0, |offset, (index, len)| offset * len + index);
        let owner = declared.owner.map(|owner| exchange.of(owner));
        self.model.cells_of(declared.var, owner).nth(moved).expect("the indices are those of the array")
    }
}

/// The stated dimensions, each with as many elements as its family has processes, numbered in the same way.
fn dimensions(
    model: &Model,
    stated: &certificate::ClaimedSymmetry,
) -> Result<BTreeMap<(VarId, usize), FamilyId>, String> {
    let mut found = BTreeMap::new();
    for &ProcessDimension { var, dimension, family } in &stated.dimensions {
        let (Some(array), Some(members)) = (model.vars.get(var), model.families.get(family)) else {
            return Err("an array or family that there is not is said to be moved".to_owned());
        };
        let index = members.index.as_ref().filter(|index| index.first == 0);
        if index.is_none() || array.ty.dimensions().get(dimension) != Some(&members.count()) {
            let (array, family) = (&array.name, &members.name);
            return Err(format!("dimension {dimension} of `{array}` has not one element for each process of {family}"));
        }
        if found.insert((var, dimension), family).is_some() {
            return Err(format!("dimension {dimension} of `{}` is stated twice", array.name));
        }
    }
    Ok(found)
}

/// Whether an expression surely has a value in every state, however many processes the family has, read in this scope, where the
/// variables bound around it yield processes of these families, or else no processes.
pub(super) fn surely_has_value(
    model: &Model,
    any_size: AnySize<'_>,
    expr: &Expr,
    scope: Option<TextOwner>,
    bound: &[Option<FamilyId>],
) -> bool {
    let identity = Permutation(model.processes.ids().collect());
    let images = Images { model, permutation: &identity, dimensions: &BTreeMap::new() };
    let sorts = bound.iter().map(|family| family.map_or(Sort::Plain, Sort::Process)).collect();
    Total { images: &images, any_size: Some(any_size) }.is_total(expr, &Reader { scope, bound: sorts })
}

/// What a value becomes.
fn moved(exchange: &Permutation, value: Value) -> Value {
    match value {
        Value::Process(process) => Value::Process(exchange.of(process)),
        other => other,
    }
}
