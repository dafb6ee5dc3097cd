//! Packed initial states, one after the other.
//!
//! In: a Model with its layout. Out: its initial states in the order of `eval::initial_states`, lazily: cells that start
//! anywhere count like an odometer, the last one fastest. Where something has to hold initially they are enumerated by `eval` itself.

use model::eval;
use model::variable::{CellId, Init};

use crate::codec::Codec;
use crate::compile::leaf_inits;
use crate::packing::{Field, NumberRange, Packed};

/// The initial states of a program.
pub struct InitialStates<const W: usize> {
    /// The state to give next; `None` when all were given.
    next: Option<Packed<W>>,
    /// The cells that start anywhere.
    wheels: Vec<(Field, NumberRange)>,
    /// The states themselves, where something has to hold initially.
    listed: Option<std::vec::IntoIter<Packed<W>>>,
}

impl<const W: usize> InitialStates<W> {
    /// All of them, each once.
    pub fn new(codec: &Codec<'_>) -> Self {
        let first = eval::initial_states(codec.model).next().map(|state| widened(&codec.pack(&state)));
        let starts_anywhere =
            |(id, init): (CellId, &Init)| matches!(init, Init::Any).then(|| codec.layout.locations[id.index()]);
        let listed = (!codec.model.initially.is_empty()).then(|| {
            let all = eval::initial_states(codec.model).map(|state| widened(&codec.pack(&state)));
            all.collect::<Vec<_>>().into_iter()
        });
        InitialStates { next: first, wheels: cell_inits(codec).filter_map(starts_anywhere).collect(), listed }
    }

    /// One for each way in which the cells with these bits can start.
    pub fn within(codec: &Codec<'_>, mask: &Packed<W>) -> Self {
        let mut states = InitialStates::new(codec);
        // What one process sees may start so, whatever has to hold of all together.
        states.listed = None;
        states.wheels.retain(|(field, _)| mask[field.word as usize] & field.in_place(field.mask) != 0);
        states
    }
}

impl<const W: usize> Iterator for InitialStates<W> {
    type Item = Packed<W>;

    fn next(&mut self) -> Option<Packed<W>> {
        if let Some(listed) = &mut self.listed {
            return listed.next();
        }
        let state = self.next.take()?;
        let mut following = state;
        for (field, numbers) in self.wheels.iter().rev() {
            let number = field.get(&following);
            if number < numbers.hi {
                field.put(&mut following, (number + 1).max(numbers.after_gap));
                self.next = Some(following);
                break;
            }
            field.put(&mut following, numbers.lo);
        }
        Some(state)
    }
}

/// A packed state with zeros behind it.
pub fn widened<const W: usize>(packed: &[u64]) -> Packed<W> {
    let mut words = [0; W];
    words[..packed.len()].copy_from_slice(packed);
    words
}

fn cell_inits<'m>(codec: &Codec<'m>) -> impl Iterator<Item = (CellId, &'m Init)> {
    let model = codec.model;
    let copies = model.vars.entries().flat_map(move |(id, var)| {
        use model::variable::Storage;
        let owners: Vec<_> = match var.storage {
            Storage::Shared => vec![None],
            Storage::Public(family) | Storage::Local(family) => model.families[family].processes().map(Some).collect(),
            Storage::Frame(_) => Vec::new(),
        };
        owners.into_iter().map(move |owner| (id, owner))
    });
    let mut cells: Vec<(CellId, &Init)> = copies
        .flat_map(|(id, owner)| {
            let var = &model.vars[id];
            model.cells_of(id, owner).zip(leaf_inits(&var.init, &var.ty))
        })
        .collect();
    cells.sort_by_key(|(cell, _)| *cell);
    cells.into_iter()
}
