//! Packed states: a few words, a bit field for each part.
//!
//! Every value is coded as a number, so that compiled expressions compute with `i64` alone: truth values as 0 and 1,
//! enumerations by position, `none` as 0 and a process as its id plus 1. A field holds a number less the least one that it
//! can have, in as many bits as its range needs, and never straddles two words. Where the least number (`none`) is apart
//! from the others, the gap between takes no bits.

use base::{Feature, StopReason, Unsupported};
use model::Model;
use model::process::{FamilyId, ProcessId};
use model::types::{ScalarType, TypeContext};
use model::value::Value;

/// A state of the whole program in `W` words.
pub type Packed<const W: usize> = [u64; W];

/// Some bits of one word that hold a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// Which word.
    pub word: u32,
    /// Where the field begins in it.
    pub shift: u32,
    /// As many ones as the field has bits.
    pub mask: u64,
    /// The number for the content 0.
    pub zero: i64,
    /// What any other content is added to.
    pub base: i64,
}

impl Field {
    /// The content.
    pub fn raw(self, state: &[u64]) -> u64 {
        (state[self.word as usize] >> self.shift) & self.mask
    }

    /// The number.
    pub fn get(self, state: &[u64]) -> i64 {
        self.number(self.raw(state))
    }

    /// The number that a content encodes.
    pub fn number(self, raw: u64) -> i64 {
        if raw == 0 { self.zero } else { (raw as i64).wrapping_add(self.base) }
    }

    /// Makes `number` the content.
    pub fn put(self, state: &mut [u64], number: i64) {
        let word = &mut state[self.word as usize];
        *word = (*word & !self.in_place(self.mask)) | self.in_place(self.raw_of(number));
    }

    /// The content that encodes a number, if one does.
    pub fn raw_of(self, number: i64) -> u64 {
        if number == self.zero { 0 } else { number.wrapping_sub(self.base) as u64 & self.mask }
    }

    /// A content at its position in its word.
    pub fn in_place(self, raw: u64) -> u64 {
        raw << self.shift
    }
}

/// The numbers that code the values of a type: from `lo` to `hi`, but for those between `lo` and `after_gap`.
///
/// Only `pid?` of a family that is not the first has a gap, between `none` and the family's processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NumberRange {
    /// The least.
    pub lo: i64,
    /// The greatest.
    pub hi: i64,
    /// The least but for `lo`.
    pub after_gap: i64,
}

impl NumberRange {
    /// The numbers from `lo` to `hi`.
    pub fn between(lo: i64, hi: i64) -> Self {
        NumberRange { lo, hi, after_gap: lo }
    }

    /// Those of a type.
    pub fn of(ty: ScalarType, context: TypeContext<'_>) -> Self {
        let members = |family| {
            let belongs = |id: &ProcessId| context.processes[*id].family == family;
            let mut ids = context.processes.ids().filter(belongs);
            let first = ids.next().map_or(0, ProcessId::index);
            let last = ids.next_back().map_or(first, ProcessId::index);
            (first as i64 + 1, last as i64 + 1)
        };
        match ty {
            ScalarType::Bool => NumberRange::between(0, 1),
            ScalarType::Range { lo, hi } => NumberRange::between(lo, hi),
            ScalarType::Semaphore { max } => NumberRange::between(0, max),
            ScalarType::Enum(id) => NumberRange::between(0, context.enums[id].values.len() as i64 - 1),
            ScalarType::Lock => NumberRange::between(0, context.processes.len() as i64),
            ScalarType::Pid(family) => {
                let (first, last) = members(family);
                NumberRange::between(first, last)
            }
            ScalarType::PidOrNone(family) => {
                let (first, last) = members(family);
                NumberRange { lo: 0, hi: last, after_gap: first }
            }
        }
    }

    /// Whether the number codes a value of the type.
    pub fn contains(self, number: i64) -> bool {
        self.lo <= number && number <= self.hi && (number == self.lo || number >= self.after_gap)
    }

    /// All of them, in the order of the type's values.
    pub fn iter(self) -> impl Iterator<Item = i64> {
        (self.lo..=self.hi).filter(move |&number| number == self.lo || number >= self.after_gap)
    }

    /// The greatest content of a field for them.
    pub fn max_raw(self) -> u64 {
        self.hi.wrapping_sub(self.base()) as u64
    }

    /// What a content other than 0 is added to in a field for them.
    fn base(self) -> i64 {
        if self.after_gap > self.lo { self.after_gap - 1 } else { self.lo }
    }
}

/// The number that codes a value.
pub fn encode(value: Value) -> i64 {
    match value {
        Value::Bool(truth) => i64::from(truth),
        Value::Int(number) => number,
        Value::Enum(_, at) => i64::from(at),
        Value::None => 0,
        Value::Process(id) => id.index() as i64 + 1,
    }
}

/// The value of a type that a number codes.
pub fn decode(number: i64, ty: ScalarType) -> Value {
    match ty {
        ScalarType::Bool => Value::Bool(number != 0),
        ScalarType::Range { .. } | ScalarType::Semaphore { .. } => Value::Int(number),
        ScalarType::Enum(id) => Value::Enum(id, number as u32),
        ScalarType::Pid(_) | ScalarType::PidOrNone(_) | ScalarType::Lock => match number {
            0 => Value::None,
            _ => Value::Process(ProcessId::new(number as usize - 1)),
        },
    }
}

/// The position of a value, coded as a number, among those of its type.
pub fn position(number: i64, ty: ScalarType, model: &Model) -> u32 {
    let first = |family: FamilyId| model.families[family].first.index() as i64;
    let at = match ty {
        ScalarType::Range { lo, .. } => number.wrapping_sub(lo),
        ScalarType::Pid(family) => number - 1 - first(family),
        ScalarType::PidOrNone(family) if number > 0 => number - first(family),
        ScalarType::Bool
        | ScalarType::Enum(_)
        | ScalarType::Semaphore { .. }
        | ScalarType::Lock
        | ScalarType::PidOrNone(_) => number,
    };
    at as u32
}

/// Whether the values of these types can be numbered in a proof with explicit sets.
///
/// # Errors
/// A type has more values than the numbers of an explicit proof.
pub fn numbers_fit(model: &Model, types: impl IntoIterator<Item = ScalarType>) -> Result<(), StopReason> {
    let is_wide = |ty: ScalarType| ty.n_values(model.type_context()) > 1 << u32::BITS;
    match types.into_iter().any(is_wide) {
        false => Ok(()),
        true => Err(Unsupported::about(Feature::Numbers, "values of a cell").into()),
    }
}

/// Gives out fields: each in the first word that has room for it.
#[derive(Default)]
pub struct FieldAllocator {
    /// How many bits of each word are used.
    used: Vec<u32>,
    /// Words before this one are full.
    first_open: usize,
}

impl FieldAllocator {
    /// A field for numbers.
    pub fn field(&mut self, numbers: NumberRange) -> Field {
        let n_bits = 64 - numbers.max_raw().leading_zeros();
        Field { zero: numbers.lo, base: numbers.base(), ..self.bits(n_bits) }
    }

    /// A field of so many bits, at most 64.
    pub fn bits(&mut self, n_bits: u32) -> Field {
        let found = (self.first_open..self.used.len()).find(|&word| self.used[word] + n_bits <= 64);
        let word = found.unwrap_or_else(|| {
            self.used.push(0);
            self.used.len() - 1
        });
        let shift = self.used[word];
        self.used[word] += n_bits;
        while self.used.get(self.first_open) == Some(&64) {
            self.first_open += 1;
        }
        let mask = if n_bits == 0 { 0 } else { u64::MAX >> (64 - n_bits) };
        // The shift of an empty field may be 64, which no shift instruction takes; it has nothing to find there.
        Field { word: word as u32, shift: if n_bits == 0 { 0 } else { shift }, mask, zero: 0, base: 0 }
    }

    /// How many bits of each word are used.
    pub fn used_bits(&self) -> impl Iterator<Item = u32> {
        self.used.iter().copied()
    }

    /// How many words are needed, at least 1.
    pub fn n_words(&self) -> usize {
        self.used.len().max(1)
    }
}

#[cfg(test)]
mod tests {
    use base::IdVec;

    use super::*;

    #[test]
    fn fields_keep_what_is_put_and_leave_their_neighbours_alone() {
        let mut allocator = FieldAllocator::default();
        let ranges = [(0, 1), (-3, 4), (5, 5), (0, 1 << 40), (i64::MIN, i64::MAX), (0, 0x7_ffff), (7, 9)];
        let fields = ranges.map(|(lo, hi)| allocator.field(NumberRange::between(lo, hi)));
        assert_eq!(allocator.n_words(), 3);
        let mut state = vec![0; allocator.n_words()];
        for (field, (_, hi)) in fields.iter().zip(ranges) {
            field.put(&mut state, hi);
        }
        for (field, (lo, hi)) in fields.iter().zip(ranges) {
            assert_eq!(field.get(&state), hi);
            field.put(&mut state, lo);
            assert_eq!(field.get(&state), lo);
        }
        assert_eq!(state, vec![0; 3]);
    }

    #[test]
    fn numbers_with_a_gap_are_none_and_the_processes_of_the_family() {
        let numbers = NumberRange { lo: 0, hi: 4, after_gap: 3 };
        assert_eq!(numbers.iter().collect::<Vec<_>>(), [0, 3, 4]);
        assert_eq!((-1..6).filter(|&number| numbers.contains(number)).collect::<Vec<_>>(), [0, 3, 4]);
        assert_eq!(NumberRange::between(3, 2).iter().count(), 0);
        assert_eq!(NumberRange::between(2, 2).iter().collect::<Vec<_>>(), [2]);
        assert_eq!(NumberRange::between(i64::MAX - 1, i64::MAX).iter().count(), 2);
    }

    #[test]
    fn a_gap_takes_no_bits() {
        let mut allocator = FieldAllocator::default();
        let numbers = NumberRange { lo: 0, hi: 43, after_gap: 42 };
        let field = allocator.field(numbers);
        assert_eq!((field.mask, numbers.max_raw()), (3, 2));
        let mut state = [0];
        for number in numbers.iter() {
            field.put(&mut state, number);
            assert_eq!(field.get(&state), number);
        }
        assert_eq!(NumberRange { lo: 0, hi: 3, after_gap: 1 }.max_raw(), 3);
    }

    #[test]
    fn values_of_a_type_come_back_in_order() {
        let enums = IdVec::new();
        let processes = IdVec::new();
        let context = TypeContext { enums: &enums, processes: &processes };
        for ty in [ScalarType::Bool, ScalarType::Range { lo: -2, hi: 3 }, ScalarType::Semaphore { max: 2 }] {
            let decoded: Vec<Value> = NumberRange::of(ty, context).iter().map(|number| decode(number, ty)).collect();
            assert_eq!(decoded, ty.values(context).collect::<Vec<_>>());
            assert!(decoded.iter().all(|&value| decode(encode(value), ty) == value));
        }
    }
}
