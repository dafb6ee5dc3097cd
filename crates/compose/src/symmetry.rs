//! Permutations of processes: which groups represent all, and the images of cells and values.
//!
//! In: a Model all of whose families `model::symmetry` finds symmetric. A permutation of processes within their families takes
//! steps to steps and initial states to initial states, so it takes the strongest invariant of a group to that of the group's
//! image: one group for each choice of families is enough, and of the movers beside it one for each way in which
//! permutations that keep the group together can distinguish them.

use std::collections::{BTreeMap, HashSet};

use evidence::certificate::ProcessDimension;
use model::Model;
use model::process::{FamilyId, ProcessId};
use model::property::PropertyKind;
use model::symmetry::{asymmetries, expr_asymmetries, process_dimensions};
use model::value::Value;
use model::variable::{CellId, VarId};

/// Where each process goes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Permutation(Vec<ProcessId>);

impl Permutation {
    /// Where a process goes.
    pub fn of(&self, process: ProcessId) -> ProcessId {
        self.0[process.index()]
    }

    /// Where a group goes, ascending.
    pub fn group(&self, group: &[ProcessId]) -> Vec<ProcessId> {
        let mut image: Vec<ProcessId> = group.iter().map(|&process| self.of(process)).collect();
        image.sort_unstable();
        image
    }

    /// What a value becomes.
    pub fn value(&self, value: Value) -> Value {
        match value {
            Value::Process(process) => Value::Process(self.of(process)),
            other => other,
        }
    }
}

/// The permutations that a program allows.
#[derive(Clone, Debug)]
pub struct Symmetry<'m> {
    model: &'m Model,
    /// The dimensions of arrays that processes index, with their family.
    dimensions: BTreeMap<(VarId, usize), FamilyId>,
}

impl<'m> Symmetry<'m> {
    /// All permutations of processes within their families; `None` where the program distinguishes some, or has no family of two.
    pub fn of(model: &'m Model) -> Option<Self> {
        let mut dimensions = BTreeMap::new();
        let mut families = model.families.entries().filter(|(_, family)| family.count() > 1).peekable();
        families.peek()?;
        for (id, _) in families {
            if !asymmetries(model, id).is_empty() {
                return None;
            }
            dimensions.extend(process_dimensions(model, id).into_iter().map(|dimension| (dimension, id)));
        }
        Some(Symmetry { model, dimensions })
    }

    /// What a certificate says about these permutations.
    pub fn claim(&self) -> evidence::certificate::ClaimedSymmetry {
        let dimension = |(&(var, dimension), &family)| ProcessDimension { var, dimension, family };
        evidence::certificate::ClaimedSymmetry { dimensions: self.dimensions.iter().map(dimension).collect() }
    }

    /// Whether a property is symmetric in all processes.
    pub fn leaves(&self, property: &PropertyKind) -> bool {
        match property {
            PropertyKind::Invariant(expr) | PropertyKind::Reachable(expr) => {
                let families = self.model.families.entries().filter(|(_, family)| family.count() > 1);
                families.into_iter().all(|(id, _)| expr_asymmetries(self.model, id, expr).is_empty())
            }
            PropertyKind::NoErrors | PropertyKind::DeadlockFree | PropertyKind::RaceFree(_) => true,
            PropertyKind::Temporal(_) => false,
        }
    }

    /// The group of first processes that has as many of each family.
    pub fn representative(&self, group: &[ProcessId]) -> Vec<ProcessId> {
        let mut taken: BTreeMap<FamilyId, usize> = BTreeMap::new();
        let first = |&process: &ProcessId| {
            let family = self.model.processes[process].family;
            let n_taken = taken.entry(family).or_default();
            *n_taken += 1;
            ProcessId::new(self.model.families[family].first.index() + *n_taken - 1)
        };
        let mut found: Vec<ProcessId> = group.iter().map(first).collect();
        found.sort_unstable();
        found
    }

    /// The processes of which every choice of `k` families has a group.
    pub fn first_processes(&self, k: usize) -> Vec<ProcessId> {
        let is_first = |&process: &ProcessId| {
            let family = &self.model.families[self.model.processes[process].family];
            process.index() - family.first.index() < k
        };
        self.model.processes.ids().filter(is_first).collect()
    }

    /// A permutation that takes some processes, family by family in their order, to others.
    pub fn permutation(&self, from: &[ProcessId], to: &[ProcessId]) -> Permutation {
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

    /// Generators of the permutations that keep a group together: in each family, among those
    /// inside and among those outside, a transposition and a cycle of all.
    pub fn keeping(&self, group: &[ProcessId]) -> Vec<Permutation> {
        let mut found = Vec::new();
        for family in &self.model.families {
            let (inside, outside): (Vec<ProcessId>, Vec<ProcessId>) =
                family.processes().partition(|process| group.contains(process));
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
    fn round(&self, list: &[ProcessId]) -> Permutation {
        let mut goes: Vec<ProcessId> = self.model.processes.ids().collect();
        for (at, process) in list.iter().enumerate() {
            goes[process.index()] = list[(at + 1) % list.len()];
        }
        Permutation(goes)
    }

    /// Whether, of all sequences into which permutations that keep the group together take this one, it is the first.
    pub fn is_first(&self, sequence: &[ProcessId], group: &[ProcessId]) -> bool {
        let mut seen: HashSet<ProcessId> = HashSet::new();
        sequence.iter().all(|&process| {
            let family = &self.model.families[self.model.processes[process].family];
            let alike = |other: &ProcessId| group.contains(other) == group.contains(&process) && !seen.contains(other);
            let is_next = seen.contains(&process) || family.processes().find(alike) == Some(process);
            seen.insert(process);
            is_next
        })
    }

    /// Where a cell goes.
    pub fn cell(&self, permutation: &Permutation, cell: CellId) -> CellId {
        let declared = &self.model.cells[cell];
        let mut cells = self.model.cells_of(declared.var, declared.owner);
        let first = cells.next().expect("the cell is one of them");
        let mut offset = cell.index() - first.index();
        let lens = self.model.vars[declared.var].ty.dimensions();
        // The last index varies fastest.
        let mut indices = vec![0; lens.len()];
        for (index, len) in indices.iter_mut().zip(&lens).rev() {
            *index = offset % len;
            offset /= len;
        }
        for (dimension, index) in indices.iter_mut().enumerate() {
            if let Some(&family) = self.dimensions.get(&(declared.var, dimension)) {
                let first = self.model.families[family].first.index();
                *index = permutation.of(ProcessId::new(first + *index)).index() - first;
            }
        }
        let moved = indices.iter().zip(&lens).fold(0, |offset, (index, len)| offset * len + index);
        let owner = declared.owner.map(|owner| permutation.of(owner));
        self.model.cells_of(declared.var, owner).nth(moved).expect("the indices are those of the array")
    }
}
