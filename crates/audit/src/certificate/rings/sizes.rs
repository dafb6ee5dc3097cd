//! The program at each size that shows words, and windows of its states.
//!
//! In: a Model, its size parameter, what a certificate claims of types. Out: the program at all sizes from the least claimed one to where words
//! repeat; parts of a state by their distance from a window, and window states read from and written into states.

use base::Budget;
use evidence::rings::{NeighbourTypes, Network, ProcessType, RingItem, RingValue, RingsProof, tree};
use model::Model;
use model::eval::{Control, State, initial_states};
use model::process::ProcessId;
use model::size::ParameterId;
use model::types::ScalarType;
use model::value::Value;
use model::variable::{CellId, VarId};

use super::kin;
use crate::certificate::{CertificateError, Outcome};

/// A tree that is always larger than this does not show all types in the sizes that are looked at.
const LEAST_TREE: i64 = 7;

/// The sizes, and how types are told apart.
pub(super) struct Sizes {
    pub(super) all: Vec<Sized>,
    width: usize,
    network: Network,
    distances: evidence::rings::Distances,
}

/// The program at one size.
pub(super) struct Sized {
    pub(super) model: Model,
    pub(super) count: usize,
    start: State,
    network: Network,
    /// The least distance by which a window names something.
    lowest: i64,
    /// For each array with elements for processes the dimension that they index.
    rows: Vec<(VarId, usize)>,
    /// The shared cells that hold a process: of these a window shows for each near process whether it is the one.
    naming: Vec<CellId>,
}

/// Where a window stands: its first process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) at: usize,
}

impl Sizes {
    pub(super) fn new(model: &Model, size: ParameterId, proof: &RingsProof, budget: &Budget) -> Outcome<Sizes> {
        let distances = proof.distances;
        let refused = |what: &str| CertificateError::NotSupported(what.to_owned());
        if distances.modulus == 0 || proof.width == 0 || proof.width > 4 || proof.least > 0 || proof.greatest < 0 {
            return Err(CertificateError::Malformed("there are no such windows".to_owned()));
        }
        let told_apart = [distances.left, distances.right, distances.modulus];
        if told_apart.iter().any(|&number| number > 12) || proof.greatest - proof.least > 12 {
            return Err(refused("more is told apart than the checker is made for"));
        }
        let from = proof.from().max(model.parameters[size].least);
        if proof.network == Network::Tree && (proof.width > 1 || !proof.flows.is_empty() || from > LEAST_TREE) {
            return Err(refused(
                "trees are checked one process at a time, without flows, and with small ones among them",
            ));
        }
        // Taking out `modulus` processes of the middle that are in no window changes no word.
        let repeats = (distances.left + distances.right + 3 * distances.modulus) as i64 + 2 * proof.from();
        // Beyond that, words and sums repeat after `modulus` sizes, also where the program allows no smaller ones.
        let last = match proof.network {
            Network::Line => repeats.max(from.saturating_add(2 * distances.modulus as i64)),
            Network::Tree => tree::SIZES as i64,
        };
        let mut all = Vec::new();
        for count in from..=last {
            budget.check(0)?;
            let resized =
                model.resized(size, count).ok_or_else(|| refused("the program cannot be had at every size"))?;
            all.push(
                Sized::new(resized, proof.network, proof.least - proof.greatest)
                    .ok_or_else(|| refused("the program has no initial state"))?,
            );
        }
        Ok(Sizes { all, width: proof.width, network: proof.network, distances })
    }

    /// The types of the processes of a window.
    pub(super) fn word(&self, count: usize, at: usize) -> NeighbourTypes {
        (0..self.width).map(|place| self.type_at(count, (at + place) % count)).collect()
    }

    /// The type of a process.
    pub(super) fn type_at(&self, count: usize, index: usize) -> ProcessType {
        if self.network == Network::Tree {
            let children = (1..count).filter(|child| (child - 1) / 2 == index).count();
            return ProcessType { left: usize::from(index > 0), right: children, residue: index % 2 };
        }
        ProcessType {
            left: index.min(self.distances.left),
            right: (count - 1 - index).min(self.distances.right),
            residue: index % self.distances.modulus,
        }
    }
}

impl Sized {
    fn new(model: Model, network: Network, lowest: i64) -> Option<Sized> {
        let start = initial_states(&model).next()?;
        let template = model.template();
        let size = template.families.iter().next()?.size.linear()?;
        let mut rows = Vec::new();
        for (id, var) in template.vars.entries().filter(|(_, var)| var.storage == model::variable::Storage::Shared) {
            let dimensions = 0..var.ty.dimensions().len();
            rows.extend(
                dimensions.filter(|&at| template.length_form(id, at).as_ref() == Some(&size)).map(|at| (id, at)),
            );
        }
        let shared = model.cells.entries().take(model.n_shared_cells);
        let naming = shared.filter(|(_, cell)| matches!(cell.ty, ScalarType::Pid(_))).map(|(id, _)| id).collect();
        Some(Sized { count: model.processes.len(), start, network, lowest, rows, naming, model })
    }

    pub(super) fn start(&self) -> &State {
        &self.start
    }

    pub(super) fn n_own(&self) -> usize {
        self.model.families.iter().next().map_or(0, |family| family.n_cells)
    }

    /// What all processes share.
    pub(super) fn shared(&self) -> Vec<RingItem> {
        let cells = self.model.cells.ids().take(self.model.n_shared_cells).filter(|&cell| !self.is_naming(cell));
        cells.map(|cell| self.item(cell, Spot { at: 0 })).filter(|item| matches!(item, RingItem::Shared(..))).collect()
    }

    /// The shared cells that hold a process.
    pub(super) fn naming(&self) -> &[CellId] {
        &self.naming
    }

    pub(super) fn is_naming(&self, cell: CellId) -> bool {
        self.naming.contains(&cell)
    }

    /// The cell and the process of a statement that the one names the other.
    pub(super) fn named(&self, item: RingItem, spot: Spot) -> Option<(CellId, ProcessId)> {
        let RingItem::Element(var, distance, 0) = item else { return None };
        let cell = self.naming.iter().copied().find(|&cell| self.model.cells[cell].var == var)?;
        Some((cell, ProcessId::new(self.position(spot, distance)?)))
    }

    /// All elements of a process of a tree.
    pub(super) fn elements(&self, at: usize) -> Vec<RingItem> {
        let cells = self.model.cells.ids().take(self.model.n_shared_cells);
        cells
            .map(|cell| self.item(cell, Spot { at }))
            .filter(|item| matches!(item, RingItem::Element(_, 0, _)))
            .collect()
    }

    /// The process at a distance, or with a name in a tree; `None` where there is none.
    pub(super) fn position(&self, spot: Spot, distance: i64) -> Option<usize> {
        match self.network {
            Network::Line => Some((spot.at as i64 + distance).rem_euclid(self.count as i64) as usize),
            Network::Tree => kin::meant(spot.at, distance).filter(|&other| other < self.count),
        }
    }

    /// How far right of the window a position is, by distances that begin at the lowest.
    fn distance(&self, position: usize, spot: Spot) -> i64 {
        if self.network == Network::Tree {
            return kin::name(spot.at, position);
        }
        (position as i64 - spot.at as i64 - self.lowest).rem_euclid(self.count as i64) + self.lowest
    }

    /// How a window names a cell.
    pub(super) fn item(&self, cell: CellId, spot: Spot) -> RingItem {
        let distance = |position: usize| self.distance(position, spot);
        let declared = &self.model.cells[cell];
        if let Some(owner) = declared.owner {
            let first = self.model.processes[owner].first_cell;
            return RingItem::Own(distance(owner.index()), cell.index() - first);
        }
        let var = &self.model.vars[declared.var];
        let within = cell.index() - var.offset;
        match self.rows.iter().find(|(row, _)| *row == declared.var) {
            None => RingItem::Shared(declared.var, within),
            Some(&(_, dimension)) => {
                let lengths = var.ty.dimensions();
                let inner: usize = lengths[dimension + 1..].iter().product();
                let position = within / inner % self.count;
                let rest = within / (inner * self.count) * inner + within % inner;
                RingItem::Element(declared.var, distance(position), rest)
            }
        }
    }

    /// The cell that a window means; `None` for control and for what there is not.
    pub(super) fn cell(&self, item: RingItem, spot: Spot) -> Option<CellId> {
        let number = match item {
            RingItem::Control(_) => return None,
            RingItem::Own(distance, at) => {
                let process = &self.model.processes[ProcessId::new(self.position(spot, distance)?)];
                (at < self.n_own()).then_some(process.first_cell + at)?
            }
            RingItem::Element(var, distance, at) => {
                let &(_, dimension) = self.rows.iter().find(|(row, _)| *row == var)?;
                let declared = &self.model.vars[var];
                let inner: usize = declared.ty.dimensions()[dimension + 1..].iter().product();
                let within = (at / inner * self.count + self.position(spot, distance)?) * inner + at % inner;
                (within < declared.ty.n_cells()).then_some(declared.offset + within)?
            }
            RingItem::Shared(var, at) => {
                let is_shared = var.index() < self.model.vars.len()
                    && self.model.vars[var].storage == model::variable::Storage::Shared
                    && !self.rows.iter().any(|(row, _)| *row == var);
                let declared = is_shared.then(|| &self.model.vars[var])?;
                (at < declared.ty.n_cells()).then_some(declared.offset + at)?
            }
        };
        Some(CellId::new(number))
    }

    pub(super) fn exists(&self, item: RingItem, spot: Spot) -> bool {
        matches!(item, RingItem::Control(_)) || self.cell(item, spot).is_some() || self.named(item, spot).is_some()
    }

    /// Whether a value can stand there.
    pub(super) fn fits(&self, item: RingItem, value: RingValue, (spot, proof): (Spot, &RingsProof)) -> bool {
        if self.named(item, spot).is_some() {
            return matches!(value, RingValue::Value(Value::Bool(_)));
        }
        match (self.cell(item, spot), value) {
            (None, RingValue::Place(place)) => {
                matches!(item, RingItem::Control(_)) && place.index() < self.model.places.len()
            }
            (Some(cell), RingValue::Value(value)) => {
                !matches!(value, Value::Process(_))
                    && self.model.cells[cell].ty.contains(value, self.model.type_context())
            }
            (Some(cell), RingValue::Neighbour(at)) => {
                let span = proof.greatest - proof.least;
                let is_near = match self.network {
                    Network::Line => (-span..proof.width as i64 + span).contains(&at),
                    Network::Tree => self.position(spot, at).is_some(),
                };
                is_near && self.model.cells[cell].ty == ScalarType::Lock && !matches!(item, RingItem::Shared(..))
            }
            _ => false,
        }
    }

    /// The values of items in a state.
    pub(super) fn read(&self, state: &State, items: &[RingItem], spot: Spot) -> Vec<RingValue> {
        let one = |item: &RingItem| match self.cell(*item, spot) {
            None if self.named(*item, spot).is_some() => {
                let is_it = |(cell, who): (CellId, ProcessId)| state.cells[cell.index()] == Value::Process(who);
                RingValue::Value(Value::Bool(self.named(*item, spot).is_some_and(is_it)))
            }
            None => {
                let RingItem::Control(distance) = item else { return RingValue::Value(Value::None) };
                let Some(process) = self.position(spot, *distance) else { return RingValue::Value(Value::None) };
                RingValue::Place(state.place(ProcessId::new(process)))
            }
            Some(cell) => match state.cells[cell.index()] {
                Value::Process(id) => RingValue::Neighbour(self.distance(id.index(), spot)),
                value => RingValue::Value(value),
            },
        };
        items.iter().map(one).collect()
    }

    /// A state with these values.
    pub(super) fn with(&self, items: &[RingItem], values: &[RingValue], spot: Spot) -> State {
        let mut state = self.start.clone();
        for (item, value) in items.iter().zip(values) {
            match (item, value, self.cell(*item, spot)) {
                (RingItem::Control(distance), RingValue::Place(place), _) => {
                    let process = self.position(spot, *distance);
                    if let Some(frame) = process.and_then(|process| state.stacks[process].last_mut()) {
                        frame.control = Control::At(*place);
                    }
                }
                (_, RingValue::Value(value), Some(cell)) => state.cells[cell.index()] = *value,
                (_, RingValue::Neighbour(distance), Some(cell)) => {
                    if let Some(process) = self.position(spot, *distance) {
                        state.cells[cell.index()] = Value::Process(ProcessId::new(process));
                    }
                }
                _ => {}
            }
        }
        for &cell in &self.naming {
            let seen = items.iter().zip(values).filter_map(|(item, value)| {
                self.named(*item, spot).filter(|(of, _)| *of == cell).map(|(_, who)| (who, *value))
            });
            let seen: Vec<(ProcessId, RingValue)> = seen.collect();
            let is_true = |value: RingValue| value == RingValue::Value(Value::Bool(true));
            let meant = seen.iter().find(|(_, value)| is_true(*value)).map(|(who, _)| *who);
            // Or somebody of whom the window says nothing.
            let unseen = self.model.processes.ids().find(|who| seen.iter().all(|(known, _)| known != who));
            if let Some(who) = meant.or(unseen) {
                state.cells[cell.index()] = Value::Process(who);
            }
        }
        state
    }
}
