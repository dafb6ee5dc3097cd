//! Views of one process each of proofs by counting as scenes, one for each family.
//!
//! Counted numbers are in no view, and what views say of their signs has no words here: the sums say the rest. A number that is told by how far it is from a counted
//! one is not known. Processes that the text names at the end of a family have other numbers at other sizes, so that nothing is said of them by name.

use evidence::counting::{CountingItem, CountingProof, CountingView, NamedEnds};
use evidence::rings::{Distances, ProcessType};
use evidence::views::{ElementArray, LocalColumn, SharedColumn};
use model::Model;
use model::control::TextOwner;
use model::expr::Domain;
use model::process::{FamilyId, ProcessId};
use model::value::Value;
use model::variable::{CellId, Storage};

use super::terms::CellNames;
use super::{CertificateScene, Only, SceneEntry, Shown};
use crate::proof::formula::{Letter, NamedProcess};

/// The scenes; `None` where a view shows what there is not.
pub(super) fn scenes(model: &Model, proof: &CountingProof) -> Option<Vec<CertificateScene>> {
    let crowd = CountedCrowd::new(model, proof);
    crowd.families.iter().map(|&family| crowd.scene(family)).collect()
}

/// A proof, and whose views it has.
pub(in crate::proof) struct CountedCrowd<'a> {
    pub model: &'a Model,
    pub proof: &'a CountingProof,
    /// The families of any number of processes: there are views of each.
    pub families: Vec<FamilyId>,
}

impl<'a> CountedCrowd<'a> {
    pub fn new(model: &'a Model, proof: &'a CountingProof) -> CountedCrowd<'a> {
        let mut families: Vec<FamilyId> = proof.views.iter().map(|view| view.family).collect();
        families.sort_unstable();
        families.dedup();
        CountedCrowd { model, proof, families }
    }
}

impl CountedCrowd<'_> {
    fn ends(&self, family: FamilyId) -> NamedEnds {
        let named = self.proof.named.iter().find(|ends| ends.family == family).copied();
        named.unwrap_or(NamedEnds { family, first: 0, last: 0 })
    }

    /// Whether a process is of no family, or one of the first of it that the proof names: then it is the same at every size.
    fn is_same_at_every_size(&self, process: ProcessId) -> bool {
        let Some(declared) = self.model.processes.as_slice().get(process.index()) else { return false };
        let first = usize::try_from(declared.index).is_ok_and(|index| index < self.ends(declared.family).first);
        !self.families.contains(&declared.family) || first
    }

    /// Whether it is a process of a family, and like the others there.
    fn is_member(&self, process: ProcessId) -> bool {
        let declared = &self.model.processes[process];
        let NamedEnds { first, last, .. } = self.ends(declared.family);
        let position = process.index().saturating_sub(self.model.families[declared.family].first.index());
        let count = self.model.families[declared.family].count();
        self.families.contains(&declared.family) && position >= first && position + last < count
    }

    /// The process whose cell it is, or for which an array has it.
    fn owner(&self, cell: CellId) -> Option<ProcessId> {
        let declared = &self.model.cells[cell];
        let of_row = || {
            let row = self.proof.rows.iter().find(|row| row.var == declared.var)?;
            let first = self.model.cells_of(declared.var, None).next()?;
            let lens = self.model.vars[declared.var].ty.dimensions();
            let inner: usize = lens.get(row.dimension + 1..)?.iter().product();
            let at = (cell.index() - first.index()) / inner.max(1) % lens.get(row.dimension)?.max(&1);
            self.model.families[row.family].processes().nth(at)
        };
        declared.owner.or_else(of_row)
    }

    /// The columns of what is shared, in the order of the views.
    fn shared(&self) -> Vec<SharedColumn> {
        let is_shown = |cell: &CellId| {
            !self.proof.counted.contains(cell) && !self.owner(*cell).is_some_and(|owner| self.is_member(owner))
        };
        let cells = self.model.cells.ids().filter(is_shown).map(SharedColumn::Cell);
        let mut singles: Vec<ProcessId> = Vec::new();
        for (_, family) in self.model.families.entries().filter(|(id, _)| !self.families.contains(id)) {
            singles.extend(family.processes());
        }
        for ends in &self.proof.named {
            singles.extend(self.model.families[ends.family].processes().filter(|&process| !self.is_member(process)));
        }
        cells.chain(singles.into_iter().map(SharedColumn::Control)).collect()
    }

    /// The columns of a local state.
    pub fn local(&self, family: FamilyId) -> Vec<LocalColumn> {
        let mut columns = vec![LocalColumn::Control];
        columns.extend((0..self.model.families[family].n_cells).map(LocalColumn::Own));
        let mut rows: Vec<_> = self.proof.rows.iter().filter(|row| row.family == family).collect();
        rows.sort_by_key(|row| row.var);
        for row in rows {
            let ty = &self.model.vars[row.var].ty;
            let n_elements = ty.n_cells() / ty.dimensions()[row.dimension].max(1);
            let array = ElementArray { var: row.var, owner: None };
            columns.extend((0..n_elements).map(|at| LocalColumn::Element(array, at)));
        }
        // Whether loops of processes that are no members have taken the process.
        let is_followed = |scope: TextOwner| matches!(scope, TextOwner::Family(of) if !self.families.contains(&of) && self.model.families[of].count() == 1);
        let goes_over = |domain: &Domain| matches!(domain, Domain::Family(of) if *of == family);
        let ends = self.ends(family);
        if ends.first + ends.last == 0 {
            let loops = self.model.loops.entries();
            let followed = loops.filter(|(_, one)| is_followed(one.scope) && goes_over(&one.domain));
            columns.extend(followed.map(|(id, _)| LocalColumn::Taken(id)));
        }
        columns
    }

    /// The columns of a local state in words; `None` where sentences do not speak of one.
    pub fn shown_local(&self, family: FamilyId, who: NamedProcess) -> Vec<Option<Shown>> {
        let terms = CellNames { model: self.model, family };
        let shown = |column: &LocalColumn| match *column {
            LocalColumn::Control => Some(Shown::Place(who)),
            LocalColumn::Own(cell) => terms.own(cell, who),
            LocalColumn::Element(row, at) => terms.element(row.var, row.owner, at, who),
            LocalColumn::Taken(_) => None,
        };
        self.local(family).iter().map(shown).collect()
    }

    fn scene(&self, family: FamilyId) -> Option<CertificateScene> {
        let who = NamedProcess::Letter(Letter { at: 0, family });
        let terms = CellNames { model: self.model, family };
        let local = self.shown_local(family, who);
        let shared = self.shared();
        let views: Vec<&CountingView> = self.proof.views.iter().filter(|view| view.family == family).collect();
        let is_shaped = |view: &&CountingView| {
            view.local.len() == local.len() && view.shared.len() == shared.len() + self.proof.signs.len()
        };
        if !views.iter().all(is_shaped) {
            return None;
        }
        let of_shared = |column: &SharedColumn| match *column {
            SharedColumn::Cell(cell) if self.owner(cell).is_none_or(|owner| self.is_same_at_every_size(owner)) => {
                let is_shared = matches!(self.model.vars[self.model.cells[cell].var].storage, Storage::Shared);
                // An element that a named process has is none of a number.
                terms.cell(cell).filter(|_| !is_shared || self.owner(cell).is_none())
            }
            SharedColumn::Control(process) if self.is_same_at_every_size(process) => {
                Some(Shown::Place(NamedProcess::Process(process)))
            }
            _ => None,
        };
        let said: Vec<Option<Shown>> = local.into_iter().chain(shared.iter().map(of_shared)).collect();
        let item = |view: &CountingView, at: usize| match at.checked_sub(view.local.len()) {
            None => view.local[at],
            Some(at) => view.shared[at],
        };
        // Of processes that are not the same at every size nothing is said by name.
        let is_nameable = |at: &usize| {
            views.iter().all(|view| match item(view, *at) {
                CountingItem::Value(Value::Process(id)) => self.is_same_at_every_size(id),
                _ => true,
            })
        };
        let kept: Vec<usize> = (0..said.len()).filter(|&at| said[at].is_some()).filter(is_nameable).collect();
        let entry = |view: &CountingView, at: usize| match item(view, at) {
            CountingItem::Value(value) => SceneEntry::Value(value),
            CountingItem::Place(place) => SceneEntry::Place(place),
            CountingItem::Slot(_) => SceneEntry::Process(who),
            CountingItem::Other(_) => SceneEntry::Another,
            CountingItem::Offset(..) | CountingItem::Any => SceneEntry::Hidden,
        };
        let mut rows: Vec<Vec<SceneEntry>> =
            views.iter().map(|view| kept.iter().map(|&at| entry(view, at)).collect()).collect();
        rows.sort_unstable();
        rows.dedup();
        let NamedEnds { first, last, .. } = self.ends(family);
        let only = match (first, last) {
            (0, 0) => Only::All,
            (left, right) => {
                let distances = Distances { left, right, modulus: 1 };
                Only::Line(distances, vec![ProcessType { left, right, residue: 0 }])
            }
        };
        let others: Vec<FamilyId> = self.families.iter().copied().filter(|other| *other != family).collect();
        Some(CertificateScene {
            family,
            n_letters: 1,
            only,
            beside: None,
            is_cut: kept.len() < said.len() || !self.proof.signs.is_empty(),
            columns: kept.into_iter().filter_map(|at| said[at].clone()).collect(),
            rows,
            nameless: others,
        })
    }
}
