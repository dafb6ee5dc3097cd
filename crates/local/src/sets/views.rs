//! What each process sees, as masks over packed states, and which processes can change what.
//!
//! In: a program and how much of the shared store processes see. A process sees its control, its own cells, and the shared and
//! public cells that it mentions (or all of them).

use std::collections::HashSet;

use compose::backend::Movers;
use compose::symmetry::Symmetry;
use engine::SharedView;
use model::Model;
use model::control::{ChannelId, SyncSide, TextOwner};
use model::footprint;
use model::process::{FamilyId, ProcessId};
use model::variable::CellId;
use model::view::{View, visible_cells};

use packed::codec::Codec;
use packed::packing::Packed;
use packed::words::{add, and, or};

/// What each process sees, and the movers.
pub struct ViewMasks<const W: usize> {
    /// How much of the shared store processes see.
    pub views: SharedView,
    /// By process: its view, all of it and the shared and public cells that it sees.
    pub of: Vec<View>,
    /// By process: the bits of all that it sees.
    masks: Vec<Packed<W>>,
    /// By process: the bits of what its steps may change, but for its control.
    written: Vec<Packed<W>>,
    /// All that can take a step.
    pub movers: Vec<Movers>,
}

impl<const W: usize> ViewMasks<W> {
    /// What the processes of a program see.
    pub fn new(codec: &Codec<'_>, views: SharedView) -> Self {
        let model = codec.model;
        let all = visible_cells(model);
        let mut sight =
            ViewMasks { views, of: Vec::new(), masks: Vec::new(), written: Vec::new(), movers: movers(model) };
        for process in model.processes.ids() {
            let footprints = footprint::footprints(model, process);
            let cells = match views {
                SharedView::Whole => all.clone(),
                SharedView::Mentioned => footprint::visible(model, &footprints),
            };
            let view = View::of(cells, &[process]);
            let first = model.processes[process].first_cell;
            let own = first..first + model.families[model.processes[process].family].n_cells;
            let field = |cell: usize| codec.layout.locations[cell].0;
            let mut mask = [0; W];
            own.map(field).for_each(|field| add(&mut mask, field));
            view.cells.iter().for_each(|cell| add(&mut mask, field(cell.index())));
            add(&mut mask, codec.layout.control[process.index()]);
            if let Some(frames) = &codec.layout.frames[process.index()] {
                frames.room.iter().chain([&frames.stack]).for_each(|&field| add(&mut mask, field));
            }
            let mut written = [0; W];
            let changed = footprints.iter().flat_map(|found| &found.writes);
            changed.for_each(|cell| add(&mut written, field(cell.index())));
            sight.of.push(view);
            sight.masks.push(mask);
            sight.written.push(written);
        }
        sight
    }

    /// Lets every process see some bits more.
    pub fn add_for_all(&mut self, bits: &Packed<W>) {
        self.masks.iter_mut().for_each(|mask| *mask = or(mask, bits));
    }

    /// The bits of what a group sees.
    pub fn mask(&self, group: &[ProcessId]) -> Packed<W> {
        group.iter().fold([0; W], |mask, process| or(&mask, &self.masks[process.index()]))
    }

    /// Whether a group sees a cell.
    pub fn sees(&self, model: &Model, group: &[ProcessId], cell: CellId) -> bool {
        let owner = model.cells[cell].owner;
        owner.is_some_and(|owner| group.contains(&owner))
            || group.iter().any(|process| self.of[process.index()].cells.contains(&cell))
    }

    /// Whether a step of the movers can change anything that the group sees.
    pub fn interferes(&self, movers: Movers, group: &[ProcessId]) -> bool {
        let mask = self.mask(group);
        movers.processes().any(|process| {
            group.contains(&process) || and(&self.written[process.index()], &mask).iter().any(|&word| word != 0)
        })
    }

    /// Whether permutations of processes take the view of a process to the view of its image.
    pub fn is_symmetric(&self, model: &Model, symmetry: &Symmetry<'_>) -> bool {
        if self.views == SharedView::Whole {
            return true;
        }
        symmetry.keeping(&[]).iter().all(|permutation| {
            model.processes.ids().all(|process| {
                let image = permutation.of(process);
                let seen = &self.of[image.index()].cells;
                let cells = &self.of[process.index()].cells;
                cells.len() == seen.len() && cells.iter().all(|&cell| seen.contains(&symmetry.cell(permutation, cell)))
            })
        })
    }
}

/// Every process, and every sender with every receiver on a channel that both name.
fn movers(model: &Model) -> Vec<Movers> {
    let mut sends: HashSet<(FamilyId, ChannelId)> = HashSet::new();
    let mut receives: HashSet<(FamilyId, ChannelId)> = HashSet::new();
    for action in &model.actions {
        if let (TextOwner::Family(family), Some(sync)) = (action.scope, &action.sync) {
            match sync.side {
                SyncSide::Send(_) => sends.insert((family, sync.channel)),
                SyncSide::Receive(_) => receives.insert((family, sync.channel)),
            };
        }
    }
    let mut all: Vec<Movers> = model.processes.ids().map(|process| Movers { process, partner: None }).collect();
    for &(family, channel) in &sends {
        for process in model.families[family].processes() {
            let receivers = receives.iter().filter(|(_, other)| *other == channel);
            for partner in receivers.flat_map(|&(family, _)| model.families[family].processes()) {
                if partner != process {
                    all.push(Movers { process, partner: Some(partner) });
                }
            }
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}
