//! Which programs windows can speak of: rings, chains and trees, with the types of their processes and every size that shows all words.
//!
//! In: a Model and the questions. Out: how processes are distinguished, how far each reaches, and the program at all sizes from the least one that windows
//! say something about to the one from which on words repeat; or why not, with the place in the text.

use std::collections::BTreeSet;

use base::Span;
use evidence::rings::{Distances, NeighbourTypes, Network, ProcessType, RingItem, tree};
use model::Model;
use model::footprint;
use model::process::FamilyId;
use model::size::ParameterId;
use model::template::{self, FragmentReason, IndexTest, Neighbours, neighbours};
use model::types::ScalarType;
use model::variable::{Storage, VarId};

use crate::config::Config;
use crate::heap;
use crate::instance::{Arrangement, Instance, WindowPosition};
use crate::named::NamedIndices;

/// Distances from the ends, and moduli, that are distinguished, are at most this.
const MOST_TOLD_APART: i64 = 6;

/// A process reaches at most so far.
const FARTHEST: i64 = 4;

/// Trees whose least size is greater do not show all types.
const LEAST_TREE: i64 = 7;

/// A program of neighbours.
#[derive(Debug)]
pub struct Ring {
    /// The family.
    pub family: FamilyId,
    /// The parameter that is its size.
    pub parameter: ParameterId,
    /// How processes are neighbours.
    pub network: Network,
    /// How processes are distinguished.
    pub distances: Distances,
    /// The least distance at which a process touches something.
    pub least: i64,
    /// The greatest distance.
    pub greatest: i64,
    /// Arrays with elements for processes, with the dimension that processes index.
    pub rows: Vec<(VarId, usize)>,
    /// Shared cells that name a process.
    pub naming: BTreeSet<VarId>,
    /// How far windows go.
    pub config: Config,
}

/// The program at every size that shows words of this width.
#[derive(Debug)]
pub struct Sizes {
    /// How many processes a window has.
    pub width: usize,
    /// How far the processes that touch a window are from it.
    pub span: i64,
    /// The sizes, ascending, without a gap.
    pub instances: Vec<Instance>,
}

impl Ring {
    /// The program as windows see it; `told` are what questions say about a process.
    ///
    /// # Errors
    /// The first reason why they cannot.
    pub fn new(model: &Model, told: &[Neighbours]) -> Result<Ring, FragmentReason> {
        let found = neighbours(model).map_err(first)?;
        let family = found.sized.family;
        is_alone(model, family)?;
        let is_far = |offset: &i64| offset.unsigned_abs() > FARTHEST.unsigned_abs();
        if std::iter::once(&found).chain(told).any(|one| one.offsets.iter().any(is_far)) {
            return Err(plain("a process touches what is far away from it"));
        }
        let mut named = NamedIndices::new(model, found.sized);
        named.look_at_program();
        if let Some(reason) = named.objection {
            return Err(reason);
        }
        if named.distances.iter().any(is_far) {
            return Err(plain("a process touches what is far away from it"));
        }
        let rows = rows(model, found.sized)?;
        let distances = distances(std::iter::once(&found).chain(told))?;
        // Also what no step can come to is written there, and has its distance.
        let written = || found.offsets.iter().chain(&named.distances).copied();
        let (least, mut greatest) = (written().min().unwrap_or(0).min(0), written().max().unwrap_or(0).max(0));
        if !found.naming.is_empty() && least == greatest {
            // There has to be somebody of whom a window does not see whether a cell names it.
            greatest += 1;
        }
        let (parameter, network) = (found.sized.parameter, Network::Line);
        let naming = found.naming.clone();
        let mut ring =
            Ring { family, parameter, network, distances, least, greatest, rows, naming, config: Config::default() };
        ring.reach(model)?;
        if found.has_ends {
            let ends = &mut ring.distances;
            ends.left = ends.left.max(usize::try_from(-ring.least).unwrap_or(0)).max(1);
            ends.right = ends.right.max(usize::try_from(ring.greatest).unwrap_or(0)).max(1);
        }
        Ok(ring)
    }

    /// The program as windows see it, if its processes are those of a binary tree.
    ///
    /// # Errors
    /// The first reason why they are not.
    pub fn tree(model: &Model) -> Result<Ring, FragmentReason> {
        let sized = template::tree(model).map_err(first)?;
        is_alone(model, sized.family)?;
        let rows = rows(model, sized)?;
        let is_row = |id: VarId| rows.iter().any(|(row, _)| *row == id);
        let mut shared = model.vars.entries().filter(|(_, var)| var.storage == Storage::Shared);
        if let Some((_, var)) = shared.find(|(id, _)| !is_row(*id)) {
            return Err(FragmentReason {
                text: format!("`{}` is shared by all processes of the tree", var.name),
                span: var.span,
            });
        }
        if model.parameters[sized.parameter].least > LEAST_TREE {
            return Err(plain("it does not allow small trees"));
        }
        let distances = Distances { left: 1, right: 2, modulus: 2 };
        let (family, parameter, network) = (sized.family, sized.parameter, Network::Tree);
        let naming = BTreeSet::new();
        Ok(Ring {
            family,
            parameter,
            network,
            distances,
            least: 0,
            greatest: 0,
            rows,
            naming,
            config: Config::default(),
        })
    }

    /// How far processes reach, read off a size at which every process and its reach are apart from the other end.
    fn reach(&mut self, model: &Model) -> Result<(), FragmentReason> {
        let Distances { left, right, modulus } = self.distances;
        let size = (left + right + 3 * modulus) as i64 + 4 * FARTHEST + 2;
        let instance =
            self.at(model, size).ok_or_else(|| plain("its size shows in more than the number of processes"))?;
        for at in 0..instance.size {
            let stand = WindowPosition { at, span: size / 2 };
            for part in instance.touched(at) {
                let distance = match instance.item(*part, stand) {
                    RingItem::Control(at) | RingItem::Own(at, _) | RingItem::Element(_, at, _) => at,
                    RingItem::Shared(..) => 0,
                };
                if distance.abs() > FARTHEST {
                    return Err(plain("a process touches what is far away from it"));
                }
                self.least = self.least.min(distance);
                self.greatest = self.greatest.max(distance);
            }
        }
        Ok(())
    }

    fn at(&self, model: &Model, size: i64) -> Option<Instance> {
        let (network, rows, naming, reach) = (self.network, &self.rows[..], &self.naming, self.least..=self.greatest);
        Instance::new(model.resized(self.parameter, size)?, &Arrangement { network, rows, naming, reach })
    }

    /// The difference between the greatest and the least distance.
    pub fn span(&self) -> i64 {
        self.greatest - self.least
    }

    /// The least size that windows of this width say something about.
    pub fn from(&self, width: usize) -> i64 {
        match self.network {
            Network::Line => width as i64 + 2 * self.span(),
            Network::Tree => 1,
        }
    }

    /// The type of a process by its index and the size.
    pub fn type_of(&self, index: usize, size: usize) -> ProcessType {
        match self.network {
            Network::Line => self.distances.type_of(index, size),
            Network::Tree => heap::type_of(index, size),
        }
    }

    /// Every size that shows words of windows of this width and of all that touch them.
    ///
    /// # Errors
    /// The program does not allow them.
    pub fn sizes(&self, model: &Model, width: usize) -> Result<Sizes, FragmentReason> {
        let Distances { left, right, modulus } = self.distances;
        let declared = &model.parameters[self.parameter];
        let from = self.from(width).max(declared.least);
        // Also where the program allows no smaller ones, words and sums repeat only after `modulus` sizes.
        let repeats = (left + right + 3 * modulus) as i64 + 2 * self.from(width);
        let last = match self.network {
            Network::Line => repeats.max(from.saturating_add(2 * modulus as i64)),
            Network::Tree => tree::SIZES as i64,
        };
        let instances: Option<Vec<Instance>> = (from..=last).map(|size| self.at(model, size)).collect();
        let instances = instances.ok_or_else(|| plain("it does not allow every size"))?;
        Ok(Sizes { width, span: self.span(), instances })
    }

    /// The word of so many processes of a ring.
    pub fn word(&self, size: usize, at: usize, width: usize) -> NeighbourTypes {
        (at..at + width).map(|index| self.type_of(index % size, size)).collect()
    }
}

/// There is no other family, and no text reads the control location of another process.
fn is_alone(model: &Model, family: FamilyId) -> Result<(), FragmentReason> {
    if let Some(other) = model.families.entries().find(|(id, _)| *id != family) {
        return Err(FragmentReason {
            text: format!("`{}` stands beside its processes", other.1.name),
            span: other.1.span,
        });
    }
    match footprint::watcher(model) {
        None => Ok(()),
        Some(_) => Err(plain("a process asks where its neighbour stands")),
    }
}

fn plain(text: impl Into<String>) -> FragmentReason {
    FragmentReason { text: text.into(), span: Span::default() }
}

fn first(reasons: Vec<FragmentReason>) -> FragmentReason {
    reasons.into_iter().next().unwrap_or_else(|| plain("it is outside the fragment"))
}

/// The arrays with an element for each process.
fn rows(model: &Model, sized: template::Sized) -> Result<Vec<(VarId, usize)>, FragmentReason> {
    let template = model.template();
    let size = template.families[sized.family].size.linear();
    let mut rows: Vec<(VarId, usize)> = Vec::new();
    for (id, var) in template.vars.entries() {
        let of_size = (0..var.ty.dimensions().len()).filter(|&at| template.length_form(id, at) == size);
        let of_size: Vec<usize> = of_size.collect();
        match (&of_size[..], var.storage) {
            ([], Storage::Shared) if var.ty.scalar() == ScalarType::Lock => {
                let text = format!("`{}` is a lock of all processes, which knows its owner", var.name);
                return Err(FragmentReason { text, span: var.span });
            }
            ([], _) => {}
            ([dimension], Storage::Shared) => rows.push((id, *dimension)),
            _ => {
                let text = format!("`{}` has an element for each two processes", var.name);
                return Err(FragmentReason { text, span: var.span });
            }
        }
    }
    Ok(rows)
}

/// How the tests distinguish processes.
fn distances<'a>(found: impl Iterator<Item = &'a Neighbours>) -> Result<Distances, FragmentReason> {
    let tests: BTreeSet<IndexTest> = found.flat_map(|one| one.tests.iter().copied()).collect();
    let (mut left, mut right, mut modulus) = (0, 0, 1);
    for test in tests {
        match test {
            IndexTest::FromLeft(at) => left = left.max(at.saturating_add(1)),
            IndexTest::FromRight(at) => right = right.max(at.saturating_add(1)),
            IndexTest::Residue(of) => modulus = least_multiple(modulus, of),
        }
        if left > MOST_TOLD_APART || right > MOST_TOLD_APART || modulus > MOST_TOLD_APART {
            return Err(plain("more processes are told apart than windows are made for"));
        }
    }
    let count = |number: i64| usize::try_from(number).unwrap_or(0);
    Ok(Distances { left: count(left), right: count(right), modulus: count(modulus).max(1) })
}

fn least_multiple(a: i64, b: i64) -> i64 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x.max(1)).saturating_mul(b)
}
