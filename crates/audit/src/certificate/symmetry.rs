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
mod orbit;
#[cfg(test)]
mod tests;
mod total;

use std::collections::BTreeMap;

use evidence::certificate::{self, Column, ControlPoint, LocalFact, ProcessDimension, SplitInvariant};
use model::Model;
use model::control::TextOwner;
use model::expr::Expr;
use model::process::{FamilyId, ProcessId};
use model::property::PropertyKind;
use model::types::ScalarType;
use model::value::Value;
use model::variable::{CellId, VarId};

use super::numbering::{Numbering, name};
use image::{Images, Reader, Sort};
use total::Total;

pub(super) use orbit::{Kept, Orbit};
pub(super) use total::AnySize;

/// Where each process goes, and who goes to each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Permutation {
    goes_to: Vec<ProcessId>,
    comes_from: Vec<ProcessId>,
}

/// The permutations of processes within their families, under which the program is its own image.
pub(super) struct Symmetry<'m> {
    model: &'m Model,
    /// The dimensions of arrays that processes index, with their family.
    dimensions: BTreeMap<(VarId, usize), FamilyId>,
    /// Whether the property is symmetric in all processes.
    property_alike: bool,
}

impl Permutation {
    /// Everybody stays.
    fn identity(model: &Model) -> Self {
        let all: Vec<ProcessId> = model.processes.ids().collect();
        Permutation { goes_to: all.clone(), comes_from: all }
    }

    /// Where a process goes.
    pub fn of(&self, process: ProcessId) -> ProcessId {
        self.goes_to[process.index()]
    }

    /// What this permutation makes of everybody, and then two are exchanged for one another.
    fn and_swap(&mut self, one: ProcessId, other: ProcessId) {
        let [from_one, from_other] = [one, other].map(|place| self.comes_from[place.index()].index());
        self.goes_to.swap(from_one, from_other);
        self.comes_from.swap(one.index(), other.index());
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
            for permutation in symmetry.all_of(&family.processes().collect::<Vec<_>>()) {
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
        if swaps.iter().any(|&[one, other]| family(one).is_none() || family(one) != family(other)) {
            return Err("two processes that are not of one family are exchanged for one another".to_owned());
        }
        Ok(self.composed(swaps.iter().copied()))
    }

    /// One exchange of two processes after the other.
    fn composed(&self, swaps: impl IntoIterator<Item = [ProcessId; 2]>) -> Permutation {
        let mut found = Permutation::identity(self.model);
        swaps.into_iter().for_each(|[one, other]| found.and_swap(one, other));
        found
    }

    /// What a permutation makes of an expression that no process reads, with so many variables bound around it of which it has none.
    pub fn image(&self, permutation: &Permutation, expr: &Expr, n_bound: usize) -> Result<Expr, String> {
        let images = Images { model: self.model, permutation, dimensions: &self.dimensions };
        images.image(expr, &Reader { scope: None, bound: vec![Sort::Plain; n_bound] })
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

    /// A permutation that takes a set of processes to another one with as many of each family: one process after the other changes places with
    /// whoever stands where it is to be, which leaves alone those that are there already.
    pub fn exchange(&self, from: &[ProcessId], to: &[ProcessId]) -> Permutation {
        let mut found = Permutation::identity(self.model);
        for family in self.model.families.ids() {
            let members = |set: &[ProcessId]| -> Vec<ProcessId> {
                set.iter().copied().filter(|&process| self.model.processes[process].family == family).collect()
            };
            for (process, place) in members(from).into_iter().zip(members(to)) {
                found.and_swap(found.of(process), place);
            }
        }
        found
    }

    /// Permutations that keep a set of processes together, and of which all others that do are composed.
    pub fn keeping(&self, set: &[ProcessId]) -> Vec<Permutation> {
        let mut found = Vec::new();
        for family in &self.model.families {
            for inside in [true, false] {
                let class: Vec<ProcessId> = family.processes().filter(|one| set.contains(one) == inside).collect();
                found.extend(self.all_of(&class));
            }
        }
        found
    }

    /// Permutations of which all others of some processes are composed: the first two change places, or all but the first go round. Going
    /// round before and after the change, the first one changes places with anybody; and any two do by way of the first.
    pub fn all_of(&self, processes: &[ProcessId]) -> Vec<Permutation> {
        match processes {
            [] | [_] => Vec::new(),
            [one, other] => vec![self.composed([[*one, *other]])],
            [one, others @ ..] => {
                let round = others.windows(2).map(|two| [two[0], two[1]]);
                vec![self.composed([[*one, others[0]]]), self.composed(round)]
            }
        }
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

    /// Where a cell goes: to the element that is as many rows farther in each stated dimension as its process is.
    fn cell(&self, exchange: &Permutation, cell: CellId) -> CellId {
        let declared = &self.model.cells[cell];
        let first = self.model.cells_of(declared.var, declared.owner).next().expect("the cell is one of them");
        let offset = cell.index() - first.index();
        let mut image = offset;
        // How far apart the elements are whose indices differ by one; the last index varies fastest.
        let mut apart = 1;
        for (dimension, len) in self.model.vars[declared.var].ty.dimensions().into_iter().enumerate().rev() {
            if let Some(&family) = self.dimensions.get(&(declared.var, dimension)) {
                let first = self.model.families[family].first.index();
                let index = offset / apart % len;
                let goes = exchange.of(ProcessId::new(first + index)).index() - first;
                image = image + goes * apart - index * apart;
            }
            apart *= len;
        }
        let owner = declared.owner.map(|owner| exchange.of(owner));
        self.model.cells_of(declared.var, owner).nth(image).expect("the indices are those of the array")
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
    let identity = Permutation::identity(model);
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
