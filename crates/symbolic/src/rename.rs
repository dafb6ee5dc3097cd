//! Images of diagrams under permutations of processes.
//!
//! In: a permutation of processes that the program allows. Out: where each part goes and what its values become; and sets renamed by
//! putting, for each bit of a part, the bit of the image's old value in its place. Control points and blocks keep their numbers,
//! which is checked before ([`LocalSets::same_numbers`]).

use std::rc::Rc;

use base::StopReason;
use compose::symmetry::{Permutation, Symmetry};
use model::types::ScalarType;
use model::variable::CellId;

use crate::bdd::{Bdd, OutOfNodes, Renaming};
use crate::change::{After, Updates};
use crate::encoding::FieldContent;
use crate::local::LocalSets;

impl LocalSets<'_> {
    /// Whether all processes of a family number their control points in the same way, so that a permutation keeps the numbers.
    pub(crate) fn same_numbers(&self, symmetry: &Symmetry<'_>) -> bool {
        let (model, points) = (self.system().model, &self.system().points);
        let mut pairs = model.families.iter().flat_map(|family| family.processes().map(|this| (family.first, this)));
        pairs.all(|(first, this)| {
            let permutation = symmetry.permutation(&[first], &[this]);
            let (firsts, these) = (points.of(first), points.of(this));
            firsts.len() == these.len()
                && (0..firsts.len()).all(|number| {
                    let (one, other) = (firsts.point(number), these.point(number));
                    let image = |&(cell, value)| (symmetry.cell(&permutation, cell), permutation.value(value));
                    one.place == other.place && one.counters.iter().map(image).eq(other.counters.iter().copied())
                })
        })
    }

    /// Where a part goes.
    pub(crate) fn part_image(
        &self,
        (symmetry, permutation): (&Symmetry<'_>, &Permutation),
        part: FieldContent,
    ) -> FieldContent {
        match part {
            FieldContent::Cell(cell) => FieldContent::Cell(symmetry.cell(permutation, cell)),
            FieldContent::Control(process) => FieldContent::Control(permutation.of(process)),
            FieldContent::Exposed(process) => FieldContent::Exposed(permutation.of(process)),
            FieldContent::Turn => FieldContent::Turn,
        }
    }

    /// What updates become.
    pub(crate) fn updates_image(&self, by: (&Symmetry<'_>, &Permutation), updates: &Updates) -> Updates {
        let image = |&(part, after): &(FieldContent, After)| {
            let after = match after {
                After::Is(value) => After::Is(self.value_image(by.1, part, value)),
                After::Carried => After::Carried,
            };
            (self.part_image(by, part), after)
        };
        let mut updates: Updates = updates.iter().map(image).collect();
        updates.sort_unstable();
        updates
    }

    fn value_image(&self, permutation: &Permutation, part: FieldContent, value: u64) -> u64 {
        let FieldContent::Cell(cell) = part else { return value };
        let encoding = &self.system().encoding;
        match self.names_processes(cell) {
            true => {
                let image = permutation.value(encoding.value(cell, value));
                encoding.position(cell, image).expect("a permutation keeps processes within their families")
            }
            false => value,
        }
    }

    fn names_processes(&self, cell: CellId) -> bool {
        let ty = self.system().model.cells[cell].ty;
        matches!(ty, ScalarType::Pid(_) | ScalarType::PidOrNone(_) | ScalarType::Lock)
    }

    /// The permutation as a renaming of sets.
    pub(crate) fn renaming(&mut self, by: (&Symmetry<'_>, &Permutation)) -> Result<Rc<Renaming>, StopReason> {
        if let Some(renaming) = self.renamings.get(by.1) {
            return Ok(Rc::clone(renaming));
        }
        let pairs = self.bdd(self.bit_images(by))?;
        let renaming = Rc::new(self.system().encoding.space.renaming(pairs));
        self.renamings.insert(by.1.clone(), Rc::clone(&renaming));
        Ok(renaming)
    }

    /// For each bit that changes its place or meaning the set of vectors in whose origin it is set.
    fn bit_images(&self, by: (&Symmetry<'_>, &Permutation)) -> Result<Vec<(u32, Bdd)>, OutOfNodes> {
        let encoding = &self.system().encoding;
        let mut pairs = Vec::new();
        for &part in encoding.parts() {
            let image = self.part_image(by, part);
            let (from, to) = (encoding.field(part), encoding.field(image));
            let names_processes = matches!(part, FieldContent::Cell(cell) if self.names_processes(cell));
            let keeps_values =
                !names_processes || (0..from.n_values as u64).all(|value| self.value_image(by.1, part, value) == value);
            if keeps_values && part == image {
                continue;
            }
            if encoding.is_carried(part) {
                for (bit, image) in from.next_bits().zip(to.next_bits()) {
                    pairs.push((bit, encoding.space.set_of(&encoding.space.bits([image])?)));
                }
            }
            for (at, bit) in from.bits().enumerate() {
                let set = match keeps_values {
                    true => encoding.space.set_of(&encoding.space.bits(to.bits().nth(at))?),
                    false => {
                        let is_set = |value: &u64| from.literals(*value).nth(at).is_some_and(|(_, is_set)| is_set);
                        // Patterns that are no values stay what they are: else a set would get some of them.
                        let patterns = (0..1_u64 << from.bits().count()).filter(is_set);
                        let new_value = |value: u64| match u128::from(value) < from.n_values {
                            true => self.value_image(by.1, part, value),
                            false => value,
                        };
                        encoding.one_of(image, patterns.map(new_value))?
                    }
                };
                pairs.push((bit, set));
            }
        }
        Ok(pairs)
    }
}
