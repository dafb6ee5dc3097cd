//! Facts about local stores that all processes see, as bits of a word behind the packed state.
//!
//! In: facts about processes (the place of the top frame, the value of an own cell). Out: a bit for each; a process that steps brings its own
//! bits up to date. The bits are part of every process's store, so that what a process guarantees may depend on them. A fact never
//! speaks of a stack below its top frame: only finitely many facts about a process are ever distinguished.

use evidence::pushdown::{ExposedFact, LocalPart};
use model::control::TextOwner;
use model::process::ProcessId;
use model::value::Value;

use packed::codec::Codec;
use packed::packing::{Field, Packed, encode};

/// No more facts than this are exposed: they have one word.
pub const MOST_FACTS: usize = 64;

/// The bits of some facts.
#[derive(Clone, Debug, Default)]
pub struct ExposedBits {
    /// The word behind those of the layout.
    word: usize,
    /// By process: the bits.
    bits: Vec<Vec<Bit>>,
    /// All bits that are used.
    used: u64,
}

#[derive(Clone, Debug)]
struct Bit {
    /// The bit in the word.
    mask: u64,
    /// The field that the fact is about.
    field: Field,
    /// The contents of the field with which the fact holds, ascending.
    holds: Vec<u64>,
    /// The control points at which the field means what the fact is about; all where this is not given.
    only_at: Option<(Field, Vec<bool>)>,
}

impl ExposedBits {
    /// The bits of some facts, at most [`MOST_FACTS`].
    pub fn new(codec: &Codec<'_>, facts: &[ExposedFact]) -> Self {
        let mut exposed =
            ExposedBits { word: codec.layout.n_words, bits: vec![Vec::new(); codec.model.processes.len()], used: 0 };
        for (at, fact) in facts.iter().enumerate() {
            let mask = 1 << at;
            exposed.used |= mask;
            exposed.bits[fact.process.index()].push(bit(codec, fact, mask));
        }
        exposed
    }

    /// Adds the bits to a mask.
    pub fn add_to<const W: usize>(&self, mask: &mut Packed<W>) {
        if self.used != 0 {
            mask[self.word] |= self.used;
        }
    }

    /// The facts that hold in a row.
    pub fn bits_of<const W: usize>(&self, row: &Packed<W>) -> u64 {
        if self.used == 0 { 0 } else { row[self.word] & self.used }
    }

    /// The fields that facts are about.
    pub fn fields(&self) -> impl Iterator<Item = Field> {
        self.bits.iter().flatten().map(|bit| bit.field)
    }

    /// Brings the bits of a process up to date.
    #[inline]
    pub fn refresh<const W: usize>(&self, process: ProcessId, row: &mut Packed<W>) {
        for bit in &self.bits[process.index()] {
            let is_meant = bit.only_at.as_ref().is_none_or(|(control, points)| points[control.raw(row) as usize]);
            let holds = is_meant && bit.holds.binary_search(&bit.field.raw(row)).is_ok();
            row[self.word] = if holds { row[self.word] | bit.mask } else { row[self.word] & !bit.mask };
        }
    }
}

fn bit(codec: &Codec<'_>, fact: &ExposedFact, mask: u64) -> Bit {
    match &fact.part {
        LocalPart::Place(places) => {
            let points = &codec.plan.points[fact.process.index()];
            let holds =
                (0..).zip(points.iter()).filter(|(_, point)| places.contains(&point.place)).map(|(at, _)| at).collect();
            Bit { mask, field: codec.layout.control[fact.process.index()], holds, only_at: None }
        }
        LocalPart::Cell(cell, values) => {
            let field = codec.layout.locations[cell.index()].0;
            let holds = contents(field, values);
            Bit { mask, field, holds, only_at: None }
        }
        LocalPart::Slot(procedure, slot, values) => {
            let frames = codec.layout.frames[fact.process.index()].as_ref();
            let first = frames.and_then(|frames| frames.first_slot.get(procedure).copied());
            let first = first.expect("facts are about procedures that the process calls");
            let field = codec.layout.locations[first as usize + slot].0;
            let holds = contents(field, values);
            let points = &codec.plan.points[fact.process.index()];
            let is_meant = |point: &packed::points::PackedPoint| {
                codec.model.places[point.place].scope == TextOwner::Procedure(*procedure)
            };
            let only_at = (codec.layout.control[fact.process.index()], points.iter().map(is_meant).collect());
            Bit { mask, field, holds, only_at: Some(only_at) }
        }
    }
}

/// The contents of a field that encode some values, ascending.
fn contents(field: Field, values: &[Value]) -> Vec<u64> {
    let mut contents: Vec<u64> = values.iter().map(|&value| field.raw_of(encode(value))).collect();
    contents.sort_unstable();
    contents
}
