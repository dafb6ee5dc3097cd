//! What a step changes: parts that get constants, and wide cells whose new value depends on the state.
//!
//! In: updates. Out: images and preimages. A guard of a step that carries new values of wide cells depends on their bits after
//! the step, too: it is a relation. An image first forgets what the changed parts were and then takes the new bits for the old
//! ones; without wide cells these are two operations on diagrams.

use std::rc::Rc;

use crate::bdd::{Bdd, Cube, OutOfNodes, Renaming, Space};
use crate::encoding::{Encoding, FieldContent};

/// What a part is after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum After {
    /// It has this value.
    Is(u64),
    /// Its value is in the bits after the step, of which the guard depends.
    Carried,
}

/// Parts with what they become, in the order of the parts.
pub type Updates = Vec<(FieldContent, After)>;

/// Updates as operations on diagrams.
#[derive(Clone)]
pub struct DiagramUpdate {
    /// The bits of the updated parts.
    changed: Cube,
    /// What those with constants are afterwards.
    after: Cube,
    /// The same bit by bit.
    literals: Vec<(u32, bool)>,
    carried: Option<Rc<Carried>>,
}

/// The bits whose new values are carried by the guard.
struct Carried {
    /// Each bit with its bit after the step.
    pairs: Vec<(u32, u32)>,
    /// The bits after the step.
    next: Cube,
    to_next: Renaming,
    to_present: Renaming,
}

type Result<T> = std::result::Result<T, OutOfNodes>;

impl DiagramUpdate {
    /// The change that updates make.
    pub fn new(encoding: &Encoding, updates: &Updates) -> Result<Self> {
        let space = &encoding.space;
        let mut literals = Vec::new();
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for &(part, after) in updates {
            let field = encoding.field(part);
            match after {
                After::Is(value) => literals.extend(field.literals(value)),
                After::Carried => pairs.extend(field.bits().zip(field.next_bits())),
            }
        }
        let carried = match pairs.is_empty() {
            true => None,
            false => Some(Rc::new(Carried::new(space, pairs)?)),
        };
        let changed = encoding.bits(updates.iter().map(|&(part, _)| part))?;
        Ok(DiagramUpdate { changed, after: space.cube(literals.iter().copied())?, literals, carried })
    }

    /// The states after steps from some states, under a guard.
    pub fn image(&self, space: &Space, from: &Bdd, guard: &Bdd) -> Result<Bdd> {
        self.settled(space, &space.and_exists(from, guard, &self.changed)?)
    }

    /// The states after steps that begin in a set, which depends on bits after the step where those are carried.
    pub fn settled_from(&self, space: &Space, before: &Bdd) -> Result<Bdd> {
        self.settled(space, &space.exists(before, &self.changed)?)
    }

    /// The states after steps, given what is kept of the states before.
    pub fn settled(&self, space: &Space, kept: &Bdd) -> Result<Bdd> {
        let after = space.set_of(&self.after);
        match &self.carried {
            None => space.and(kept, &after),
            Some(carried) => space.and(&space.rename(kept, &carried.to_present)?, &after),
        }
    }

    /// The states from which steps, under a guard, lead into a set.
    pub fn preimage(&self, space: &Space, guard: &Bdd, into: &Bdd) -> Result<Bdd> {
        let put = self.put(space, into)?;
        self.before(space, guard, &put)
    }

    /// The vectors that lie in the set once the step is made.
    pub fn put(&self, space: &Space, into: &Bdd) -> Result<Bdd> {
        let put = space.restrict(into, &self.after)?;
        match &self.carried {
            None => Ok(put),
            Some(carried) => space.rename(&put, &carried.to_next),
        }
    }

    /// The states in both sets of vectors, whatever the bits after the step are.
    pub fn before(&self, space: &Space, guard: &Bdd, put: &Bdd) -> Result<Bdd> {
        match &self.carried {
            None => space.and(guard, put),
            Some(carried) => space.and_exists(guard, put, &carried.next),
        }
    }

    /// The bits of the updated parts.
    pub fn changed(&self) -> &Cube {
        &self.changed
    }

    /// The states of a guard, without the bits after the step.
    pub fn enabled(&self, space: &Space, guard: &Bdd) -> Result<Bdd> {
        match &self.carried {
            None => Ok(guard.clone()),
            Some(carried) => space.exists(guard, &carried.next),
        }
    }

    /// Whether the new value of some part is carried.
    pub fn is_carrying(&self) -> bool {
        self.carried.is_some()
    }

    /// The vector after the step, where nothing is carried.
    pub fn after(&self, vector: &[bool]) -> Vec<bool> {
        let mut vector = vector.to_vec();
        for &(bit, value) in &self.literals {
            vector[bit as usize] = value;
        }
        vector
    }

    /// Whether the step leads from one vector to another.
    pub fn leads(&self, guard: &Bdd, from: &[bool], to: &[bool]) -> bool {
        let mut after = self.after(from);
        for &(bit, _) in self.carried.iter().flat_map(|carried| &carried.pairs) {
            after[bit as usize] = to[bit as usize];
        }
        after == to && guard.contains(&self.with_next(from, to))
    }

    /// The vector before a step with what the step carries to the vector after it.
    pub fn with_next(&self, from: &[bool], to: &[bool]) -> Vec<bool> {
        let mut vector = from.to_vec();
        for &(bit, next) in self.carried.iter().flat_map(|carried| &carried.pairs) {
            vector[next as usize] = to[bit as usize];
        }
        vector
    }
}

impl Carried {
    fn new(space: &Space, pairs: Vec<(u32, u32)>) -> Result<Self> {
        let set = |bit: u32| Ok(space.set_of(&space.cube([(bit, true)])?));
        let to_next = pairs.iter().map(|&(bit, next)| Ok((bit, set(next)?))).collect::<Result<Vec<_>>>()?;
        let to_present = pairs.iter().map(|&(bit, next)| Ok((next, set(bit)?))).collect::<Result<Vec<_>>>()?;
        let next = space.bits(pairs.iter().map(|&(_, next)| next))?;
        Ok(Carried { pairs, next, to_next: space.renaming(to_next), to_present: space.renaming(to_present) })
    }
}
