//! A split invariant whose shape is right: numbers in range, one member for each set of processes, the columns it must have.
//!
//! In: a Model and a split invariant as the proof has it. Out: the members by their processes, given ones and their images
//! under permutations of processes, or the first thing that is wrong, in words. Whether the invariant *holds* is not checked
//! here.

use std::collections::{BTreeMap, HashMap, HashSet};

use evidence::certificate::{Column, Member, SplitInvariant, StateSet};
use model::Model;
use model::process::{FamilyId, ProcessId};
use model::property::PropertyKind;
use model::variable::Role;

use super::numbering::{Numbering, name};
use super::symmetry::{Kept, Orbit, Permutation, Symmetry};
use super::{CertificateError, Outcome};

/// The most processes that one member may speak of, if it does not speak of all.
const MOST_INDICES: usize = 3;

/// A split invariant whose shape is right.
pub(super) struct Claimed<'a> {
    /// What its numbers mean.
    pub numbering: Numbering<'a>,
    /// How many processes each member speaks of.
    pub k: usize,
    /// The given members by their processes, ascending: all of them, or one for each choice of families.
    pub listed: BTreeMap<Vec<ProcessId>, &'a Member>,
    /// The permutations of processes under which members have images, if that is what the invariant says.
    pub symmetry: Option<Symmetry<'a>>,
}

/// A member, or its image under a permutation of processes.
pub(super) struct Image<'a> {
    /// What a view state consists of.
    pub columns: Vec<Column>,
    /// The view states before the permutation.
    pub states: &'a StateSet,
    /// For each column what its numbers become, where the permutation changes them.
    pub renumbering: Vec<Option<Vec<u32>>>,
}

impl<'a> Claimed<'a> {
    /// Checks the shape.
    pub fn new(model: &'a Model, property: &PropertyKind, claimed: &'a SplitInvariant) -> Outcome<Self> {
        let malformed = CertificateError::Malformed;
        let numbering = checked_head(model, claimed).map_err(malformed)?;
        let symmetry = { claimed.symmetry.as_ref() }
            .map(|stated| Symmetry::new(model, property, claimed, stated))
            .transpose()
            .map_err(CertificateError::NotSymmetric)?;
        let listed = checked_members(&numbering, claimed).map_err(malformed)?;
        let claimed = Claimed { numbering, k: claimed.k, listed, symmetry };
        claimed.check_complete().map_err(malformed)?;
        Ok(claimed)
    }

    /// The program.
    pub fn model(&self) -> &'a Model {
        self.numbering.model
    }

    /// There is one member for each set of processes, or for each choice of families.
    fn check_complete(&self) -> Result<(), String> {
        let model = self.model();
        let missing = |set: &[ProcessId]| Err(format!("there is no invariant of {}", names(model, set)));
        let all: Vec<ProcessId> = model.processes.ids().collect();
        let Some(symmetry) = &self.symmetry else {
            let found = subsets(&all, self.k).find(|set| !self.listed.contains_key(set));
            return found.map_or(Ok(()), |set| missing(&set));
        };
        let mut choices: HashMap<Vec<FamilyId>, &Vec<ProcessId>> = HashMap::new();
        for set in self.listed.keys() {
            if let Some(other) = choices.insert(symmetry.choice(set), set) {
                let (one, other) = (names(model, set), names(model, other));
                return Err(format!("the invariants of {one} and of {other} are images of each other"));
            }
        }
        // The first processes of each family represent all choices.
        let first = model.processes.ids().filter(|&process| {
            let family = &model.families[model.processes[process].family];
            process.index() - family.first.index() < self.k
        });
        let first: Vec<ProcessId> = first.collect();
        let found = subsets(&first, self.k).find(|set| !choices.contains_key(&symmetry.choice(set)));
        found.map_or(Ok(()), |set| missing(&set))
    }

    /// The member of these processes.
    pub fn member(&self, set: &[ProcessId]) -> Image<'a> {
        match (&self.symmetry, self.listed.get(set)) {
            (_, Some(member)) => Image {
                columns: member.columns.clone(),
                states: &member.states,
                renumbering: vec![None; member.columns.len()],
            },
            (Some(symmetry), None) => {
                let listed =
                    symmetry.representative(set, self.listed.keys()).expect("every choice of families is listed");
                self.image(listed, &symmetry.exchange(listed, set))
            }
            (None, None) => unreachable!("every member is listed"),
        }
    }

    /// The image of a given member under a permutation.
    pub fn image(&self, listed: &[ProcessId], exchange: &Permutation) -> Image<'a> {
        let member = self.listed[listed];
        let symmetry = self.symmetry.as_ref().expect("exchanges are made where the invariant says so");
        let renumbered = |&column: &Column| symmetry.renumbering(&self.numbering, exchange, column);
        Image {
            columns: member.columns.iter().map(|&column| symmetry.column(exchange, column)).collect(),
            states: &member.states,
            renumbering: member.columns.iter().map(renumbered).collect(),
        }
    }

    /// What a case, given by its processes in some order, has in common with its images under permutations that keep the set together: where
    /// there are none, all of it.
    pub fn orbit(&self, case: &[ProcessId], set: &[ProcessId]) -> Orbit {
        let kept = match self.symmetry {
            Some(_) => Kept { fixed: &[], set },
            None => Kept { fixed: case, set },
        };
        Orbit::of(self.model(), case, kept)
    }

    /// How many view states the given members have together; a diagram counts as many as it has paths, `None` where these
    /// are more than `limit`.
    pub fn n_states(&self, limit: usize) -> Option<usize> {
        let mut total: usize = 0;
        for member in self.listed.values() {
            total += match &member.states {
                StateSet::Rows(rows) => rows.len(),
                StateSet::Diagram { order, nodes } => count_states(order.len(), nodes, limit)?,
            };
            if total > limit {
                return None;
            }
        }
        Some(total)
    }
}

fn checked_head<'a>(model: &'a Model, claimed: &'a SplitInvariant) -> Result<Numbering<'a>, String> {
    let (k, n_processes) = (claimed.k, model.processes.len());
    if k == 0 || k > MOST_INDICES && k != n_processes {
        return Err(format!("its invariants speak of {k} processes each; 1 to {MOST_INDICES} are possible, or all"));
    }
    if k > n_processes {
        return Err(format!("its invariants speak of {k} processes each; the program has {n_processes}"));
    }
    Numbering::new(model, claimed)
}

fn checked_members<'a>(
    numbering: &Numbering<'_>,
    claimed: &'a SplitInvariant,
) -> Result<BTreeMap<Vec<ProcessId>, &'a Member>, String> {
    let mut listed = BTreeMap::new();
    for member in &claimed.members {
        check_processes(numbering.model, claimed.k, &member.processes)?;
        let names = names(numbering.model, &member.processes);
        check_columns(numbering, member).map_err(|what| format!("the invariant of {names}: {what}"))?;
        check_states(numbering, member).map_err(|what| format!("the invariant of {names}: {what}"))?;
        if listed.insert(member.processes.clone(), member).is_some() {
            return Err(format!("there are two invariants of {names}"));
        }
    }
    Ok(listed)
}

/// Processes in the user's names.
pub(super) fn names(model: &Model, processes: &[ProcessId]) -> String {
    let names: Vec<&str> = processes.iter().map(|&process| name(model, process)).collect();
    names.join(", ")
}

/// All subsets with `k` elements, in lexicographic order.
pub(super) fn subsets(items: &[ProcessId], k: usize) -> impl Iterator<Item = Vec<ProcessId>> + use<> {
    let items = items.to_vec();
    let mut next = (k <= items.len()).then(|| (0..k).collect::<Vec<usize>>());
    std::iter::from_fn(move || {
        let current = next.take()?;
        let mut following = current.clone();
        if let Some(at) = (0..k).rev().find(|&at| following[at] < items.len() - (k - at)) {
            following[at] += 1;
            (at + 1..k).for_each(|later| following[later] = following[later - 1] + 1);
            next = Some(following);
        }
        Some(current.into_iter().map(|at| items[at]).collect())
    })
}

/// How many bits the numbers of a column take.
pub(super) fn n_bits(n_values: u128) -> u32 {
    u128::BITS - n_values.saturating_sub(1).leading_zeros()
}

fn check_processes(model: &Model, k: usize, processes: &[ProcessId]) -> Result<(), String> {
    if let Some(process) = processes.iter().find(|&&process| model.processes.get(process).is_none()) {
        return Err(format!("there is no process number {}", process.index()));
    }
    let names = names(model, processes);
    if processes.len() != k {
        return Err(format!("the invariant of {names} speaks of {} processes, not of {k}", processes.len()));
    }
    if !processes.is_sorted_by(|one, other| one < other) {
        return Err(format!("the invariant of {names} does not name its processes in ascending order"));
    }
    Ok(())
}

fn check_columns(numbering: &Numbering<'_>, member: &Member) -> Result<(), String> {
    let model = numbering.model;
    let mut seen = HashSet::new();
    for &column in &member.columns {
        let known = match column {
            Column::Cell(cell) => model.cells.get(cell).is_some(),
            Column::Control(process) | Column::Exposed(process) => model.processes.get(process).is_some(),
        };
        if !known {
            return Err("a column names a cell or process that the program does not have".to_owned());
        }
        if !seen.insert(column) {
            return Err(format!("column {} is listed twice", column_name(model, column)));
        }
        if let Column::Cell(cell) = column
            && matches!(model.vars[model.cells[cell].var].role, Role::Counter(_))
        {
            return Err(format!("`{}` counts a loop and is part of control", model.cells[cell].name));
        }
        if numbering.n_values(column) > 1 << u32::BITS && matches!(member.states, StateSet::Rows(_)) {
            let name = column_name(model, column);
            return Err(format!("{name} has more than 2^32 values, and its states are listed one by one"));
        }
    }
    for &process in &member.processes {
        let own = numbering.own_cells(process).iter().map(|&cell| Column::Cell(cell));
        if let Some(missing) = own.chain([Column::Control(process)]).find(|column| !seen.contains(column)) {
            return Err(format!("column {} is missing", column_name(model, missing)));
        }
    }
    Ok(())
}

fn check_states(numbering: &Numbering<'_>, member: &Member) -> Result<(), String> {
    let sizes: Vec<u128> = member.columns.iter().map(|&column| numbering.n_values(column)).collect();
    match &member.states {
        StateSet::Rows(rows) => check_rows(numbering.model, member, &sizes, rows),
        StateSet::Diagram { order, nodes } => check_diagram(&sizes, order, nodes),
    }
}

fn check_rows(model: &Model, member: &Member, sizes: &[u128], rows: &[Vec<u32>]) -> Result<(), String> {
    for (at, row) in rows.iter().enumerate() {
        if row.len() != sizes.len() {
            return Err(format!("row {at} has {} numbers for {} columns", row.len(), sizes.len()));
        }
        if let Some(column) = (0..row.len()).find(|&column| u128::from(row[column]) >= sizes[column]) {
            let name = column_name(model, member.columns[column]);
            return Err(format!("row {at}: {} is out of range for {name}, which has {}", row[column], sizes[column]));
        }
        if at > 0 && rows[at - 1] >= *row {
            return Err(format!("row {at} does not come after row {} in ascending order", at - 1));
        }
    }
    Ok(())
}

fn check_diagram(sizes: &[u128], order: &[(usize, u32)], nodes: &[(u32, u32, u32)]) -> Result<(), String> {
    let mut seen = HashSet::new();
    for &(column, bit) in order {
        if sizes.get(column).is_none_or(|&size| bit >= n_bits(size)) {
            return Err(format!("the diagram looks at bit {bit} of column {column}, which there is not"));
        }
        if !seen.insert((column, bit)) {
            return Err(format!("the diagram orders bit {bit} of column {column} twice"));
        }
    }
    let all: u64 = sizes.iter().map(|&size| u64::from(n_bits(size))).sum();
    if order.len() as u64 != all {
        return Err(format!("the diagram orders {} bits where there are {all}", order.len()));
    }
    let mut known = HashSet::new();
    for (at, &(position, low, high)) in nodes.iter().enumerate() {
        if position as usize >= order.len() {
            return Err(format!("node {at} of the diagram looks at position {position} of {}", order.len()));
        }
        for child in [low, high] {
            let deeper = match child.checked_sub(2) {
                None => true,
                Some(child) => (child as usize) < at && nodes[child as usize].0 > position,
            };
            if !deeper {
                return Err(format!("node {at} of the diagram has a child that is not below it"));
            }
        }
        if low == high || !known.insert((position, low, high)) {
            return Err(format!("node {at} of the diagram is redundant: the diagram is not reduced"));
        }
    }
    Ok(())
}

/// How many assignments of the bits are in the diagram; `None` where these are more than `limit`.
fn count_states(n_bits: usize, nodes: &[(u32, u32, u32)], limit: usize) -> Option<usize> {
    let most = limit as u128 + 1;
    let double = |count: u128, levels: usize| {
        count.checked_shl(levels.min(127) as u32).filter(|shifted| shifted >> levels.min(127) == count).unwrap_or(most)
    };
    let level = |child: u32| child.checked_sub(2).map_or(n_bits, |at| nodes[at as usize].0 as usize);
    let mut counts: Vec<u128> = Vec::with_capacity(nodes.len());
    for &(position, low, high) in nodes {
        let below = |child: u32| {
            let count = match child.checked_sub(2) {
                None => u128::from(child),
                Some(at) => counts[at as usize],
            };
            double(count, level(child) - position as usize - 1)
        };
        counts.push((below(low) + below(high)).min(most));
    }
    let (root, top) = counts.last().map_or((1, n_bits), |&count| (count, nodes[nodes.len() - 1].0 as usize));
    usize::try_from(double(root, top)).ok().filter(|&count| count <= limit)
}

/// A column in the user's names.
pub(super) fn column_name(model: &Model, column: Column) -> String {
    match column {
        Column::Cell(cell) => format!("`{}`", model.cells[cell].name),
        Column::Control(process) => format!("the control of {}", name(model, process)),
        Column::Exposed(process) => format!("what {} exposes", name(model, process)),
    }
}
