//! Configurations as rows of words: what the fixpoint keeps, compares and joins.
//!
//! In: configurations. Out: the same as one row of words each, in canonical form, with the names of unseen processes numbered as they occur; parts
//! of them with fewer seen processes; all ways in which such a row and a view of one process are parts of the same state. A row
//! is a word for the slots (how many there are, and which are seen), a word for each shared column, and a word for each column of each
//! seen process, slots ascending. Where processes are compared by their order, slots stand in that order.

use std::mem;
use std::rc::Rc;

use base::Id;
use model::value::Value;

use crate::alike::Columns;
use crate::configuration::{Configuration, Item, MOST_SLOTS, Slot};
use crate::hiding::hide;
use crate::layout::{Layout, Presence, ScanColumns};

/// A configuration as words.
pub type Packed = Rc<[u64]>;

/// A set of slots.
pub type Slots = u32;

const TAG: u32 = 61;
const INT: u64 = 0;
const SLOT: u64 = 1;
const TAKEN: u64 = 2;
const PLACE: u64 = 3;
const BOOL: u64 = 4;
const ENUM: u64 = 5;
const SPECIAL: u64 = 6;
const PROCESS: u64 = 7;
const PAYLOAD: u64 = (1 << TAG) - 1;

/// No slot.
const NOWHERE: u8 = u8::MAX;

/// What slots become: the new number of each, or `NOWHERE`.
pub type Moved = [u8; MOST_SLOTS];

fn word(tag: u64, payload: u64) -> u64 {
    tag << TAG | payload
}

const NONE: u64 = SPECIAL << TAG;
const HIDDEN: u64 = SPECIAL << TAG | 1;

/// An item as a word; `None` for numbers of more than 60 bits.
fn encode(item: Item) -> Option<u64> {
    Some(match item {
        Item::Slot(slot) => word(SLOT, u64::from(slot)),
        Item::Taken(bits) => word(TAKEN, u64::from(bits)),
        Item::Place(place) => word(PLACE, place.index() as u64),
        Item::Hidden => HIDDEN,
        Item::Value(Value::None) => NONE,
        Item::Value(Value::Bool(truth)) => word(BOOL, u64::from(truth)),
        Item::Value(Value::Process(id)) => word(PROCESS, id.index() as u64),
        Item::Value(Value::Enum(id, at)) => word(ENUM, (id.index() as u64) << 32 | u64::from(at)),
        Item::Value(Value::Int(number)) if number << 3 >> 3 == number => word(INT, number as u64 & PAYLOAD),
        Item::Value(Value::Int(_)) => return None,
    })
}

fn decode(code: u64) -> Item {
    let payload = code & PAYLOAD;
    match code >> TAG {
        SLOT => Item::Slot(payload as Slot),
        TAKEN => Item::Taken(payload as u32),
        PLACE => Item::Place(Id::new(payload as usize)),
        BOOL => Item::Value(Value::Bool(payload == 1)),
        ENUM => Item::Value(Value::Enum(Id::new((payload >> 32) as usize), payload as u32)),
        PROCESS => Item::Value(Value::Process(Id::new(payload as usize))),
        SPECIAL if payload == 1 => Item::Hidden,
        SPECIAL => Item::Value(Value::None),
        _ => Item::Value(Value::Int((code << 3) as i64 >> 3)),
    }
}

fn tag(code: u64) -> u64 {
    code >> TAG
}

/// A word without the names in it.
fn blind(code: u64) -> u64 {
    match tag(code) {
        SLOT => word(SLOT, 0),
        TAKEN => word(TAKEN, 0),
        _ => code,
    }
}

/// A row with one more seen process.
#[derive(Clone, Debug)]
pub struct Joined {
    /// The row.
    pub packed: Packed,
    /// The process.
    pub newest: Slot,
    /// What the slots of the row that it was joined to have become.
    pub moved: Moved,
}

/// Rows that are written, compared and most often not kept: their room is used again and again.
#[derive(Debug, Default)]
pub struct Scratch {
    /// What a part is taken of.
    whole: Vec<u64>,
    /// One way to write a part.
    candidate: Vec<u64>,
    /// The least one so far.
    least: Vec<u64>,
}

/// How rows are laid out.
#[derive(Clone, Debug)]
pub struct Shape {
    layout: Layout,
    n_shared: usize,
    n_local: usize,
    is_ordered: bool,
    scans: Vec<ScanColumns>,
}

impl Shape {
    /// The shape of the configurations of a layout.
    pub fn new(layout: &Layout) -> Shape {
        Shape {
            layout: layout.clone(),
            n_shared: layout.n_shared(),
            n_local: layout.local.len(),
            is_ordered: layout.is_ordered,
            scans: layout.scans.clone(),
        }
    }

    /// The seen slots.
    pub fn seen(row: &[u64]) -> Slots {
        (row[0] >> 32) as u32
    }

    /// How many slots there are.
    pub fn n_slots(row: &[u64]) -> usize {
        (row[0] & 0xffff_ffff) as usize
    }

    fn shared<'r>(&self, row: &'r [u64]) -> &'r [u64] {
        &row[1..=self.n_shared]
    }

    /// The local state in a seen slot.
    fn local<'r>(&self, row: &'r [u64], slot: Slot) -> &'r [u64] {
        let before = (Shape::seen(row) & ((1 << slot) - 1)).count_ones() as usize;
        let from = 1 + self.n_shared + before * self.n_local;
        &row[from..from + self.n_local]
    }

    /// Where the process in a seen slot is.
    pub fn place(&self, row: &[u64], slot: Slot) -> Item {
        decode(self.local(row, slot)[0])
    }

    /// A shared column.
    pub fn shared_item(&self, row: &[u64], column: usize) -> Item {
        decode(self.shared(row)[column])
    }

    /// What is shared, without the names of processes: rows that differ in it have no state in common.
    pub fn key(&self, row: &[u64]) -> Packed {
        self.shared(row).iter().map(|&code| blind(code)).collect()
    }

    /// Whether a seen process is one of those that a presence is about.
    pub fn has(&self, row: &[u64], slot: Slot, presence: usize) -> bool {
        let Presence { column, is } = &self.layout.present[presence];
        is.contains(&decode(self.local(row, slot)[*column]))
    }

    /// The configuration that a row is.
    pub fn unpack(&self, row: &[u64]) -> Configuration {
        let n_slots = Shape::n_slots(row);
        let seen = Shape::seen(row);
        let local = |slot: Slot| {
            (seen & 1 << slot != 0).then(|| self.local(row, slot).iter().map(|&code| decode(code)).collect())
        };
        Configuration {
            shared: self.shared(row).iter().map(|&code| decode(code)).collect(),
            slots: (0..n_slots as Slot).map(local).collect(),
            order: if self.is_ordered { (0..n_slots as Slot).collect() } else { Vec::new() },
        }
    }

    /// The part of a configuration in which these slots are seen, in canonical form; `None` where a number is too large.
    pub fn pack<'s>(&self, config: &mut Configuration, keep: Slots, scratch: &'s mut Scratch) -> Option<&'s [u64]> {
        hide(&self.layout, config);
        let n_slots = config.slots.len();
        let mut moved = [NOWHERE; MOST_SLOTS];
        let mut at_rank = [NOWHERE; MOST_SLOTS];
        for (slot, moved) in moved.iter_mut().enumerate().take(n_slots) {
            let rank = if self.is_ordered { config.rank(slot as Slot)? } else { slot };
            *moved = rank as u8;
            at_rank[rank] = slot as u8;
        }
        let mut row = mem::take(&mut scratch.whole);
        row.clear();
        row.push(0);
        for item in &config.shared {
            row.push(rename(encode(*item)?, &moved));
        }
        let mut seen = 0;
        for (rank, &slot) in at_rank.iter().enumerate().take(n_slots) {
            if let Some(local) = &config.slots[slot as usize]
                && keep & 1 << slot != 0
            {
                seen |= 1 << rank;
                for item in local {
                    row.push(rename(encode(*item)?, &moved));
                }
            }
        }
        row[0] = u64::from(seen) << 32 | n_slots as u64;
        self.part_in(&row, seen, scratch);
        scratch.whole = row;
        Some(&scratch.least)
    }

    /// The part of a row in which these slots are seen, in canonical form.
    pub fn part(&self, row: &[u64], keep: Slots) -> Packed {
        self.part_in(row, keep, &mut Scratch::default()).into()
    }

    /// The same, to be looked at only.
    pub fn part_in<'s>(&self, row: &[u64], keep: Slots, scratch: &'s mut Scratch) -> &'s [u64] {
        let n_slots = Shape::n_slots(row);
        let mut kept = [0; MOST_SLOTS];
        let mut n_kept = 0;
        for slot in (0..n_slots as Slot).filter(|slot| keep & 1 << slot != 0) {
            kept[n_kept] = slot;
            n_kept += 1;
        }
        let kept = &mut kept[..n_kept];
        let Scratch { candidate, least, .. } = scratch;
        if self.is_ordered {
            let mut stays = keep;
            self.each_word(row, kept, |code| {
                if tag(code) == SLOT {
                    stays |= 1 << (code & PAYLOAD);
                }
            });
            let mut moved = [NOWHERE; MOST_SLOTS];
            let mut next = 0;
            for slot in (0..n_slots).filter(|slot| stays & 1 << slot != 0) {
                moved[slot] = next;
                next += 1;
            }
            self.write(row, kept, (&moved, next), least);
            return least;
        }
        let key = |slot: &Slot| self.local(row, *slot).iter().map(|&code| blind(code));
        kept.sort_by(|a, b| key(a).cmp(key(b)));
        least.clear();
        self.arranged(row, kept, 0, &mut |arranged| {
            let (moved, n) = self.by_occurrence(row, arranged);
            self.write(row, arranged, (&moved, n), candidate);
            if least.is_empty() || candidate < least {
                mem::swap(candidate, least);
            }
        });
        least
    }

    /// What is shown in these columns of the one process that is seen, in canonical form.
    pub(crate) fn showing<'s>(&self, one: &[u64], columns: Columns, scratch: &'s mut Scratch) -> &'s [u64] {
        let mut shown = mem::take(&mut scratch.whole);
        shown.clear();
        shown.extend_from_slice(one);
        for (at, code) in shown[1 + self.n_shared..].iter_mut().enumerate() {
            if columns & 1 << at == 0 {
                *code = HIDDEN;
            }
        }
        self.part_in(&shown, Shape::seen(one), scratch);
        scratch.whole = shown;
        &scratch.least
    }

    /// How many columns a local state has.
    pub(crate) fn n_columns(&self) -> usize {
        self.n_local
    }

    /// Shows every arrangement of slots that differ in names only.
    fn arranged(&self, row: &[u64], slots: &mut [Slot], from: usize, visit: &mut dyn FnMut(&[Slot])) {
        if from + 1 >= slots.len() {
            return visit(slots);
        }
        let is_alike = |a: Slot, b: Slot| {
            let (a, b) = (self.local(row, a), self.local(row, b));
            a.iter().zip(b).all(|(&a, &b)| blind(a) == blind(b))
        };
        for at in from..slots.len() {
            if at > from && !is_alike(slots[from], slots[at]) {
                break;
            }
            slots.swap(from, at);
            self.arranged(row, slots, from + 1, visit);
            slots.swap(from, at);
        }
    }

    fn each_word(&self, row: &[u64], slots: &[Slot], mut visit: impl FnMut(u64)) {
        self.shared(row).iter().for_each(|&code| visit(code));
        slots.iter().for_each(|&slot| self.local(row, slot).iter().for_each(|&code| visit(code)));
    }

    /// The seen slots in this order, then the others by where they are first named.
    fn by_occurrence(&self, row: &[u64], seen: &[Slot]) -> (Moved, u8) {
        let mut moved = [NOWHERE; MOST_SLOTS];
        for (number, &slot) in seen.iter().enumerate() {
            moved[slot as usize] = number as u8;
        }
        let mut next = seen.len() as u8;
        self.each_word(row, seen, |code| {
            let slot = (code & PAYLOAD) as usize;
            if tag(code) == SLOT && moved[slot] == NOWHERE {
                moved[slot] = next;
                next += 1;
            }
        });
        (moved, next)
    }

    /// Writes a row with these slots seen; they stand in the order of their new numbers.
    fn write(&self, row: &[u64], seen: &[Slot], (moved, n_slots): (&Moved, u8), out: &mut Vec<u64>) {
        let mut kept = [NOWHERE; MOST_SLOTS];
        let mut mask: Slots = 0;
        for &slot in seen {
            kept[slot as usize] = moved[slot as usize];
            mask |= 1 << moved[slot as usize];
        }
        out.clear();
        out.push(u64::from(mask) << 32 | u64::from(n_slots));
        self.each_word(row, seen, |code| {
            out.push(match tag(code) {
                SLOT => word(SLOT, u64::from(moved[(code & PAYLOAD) as usize])),
                TAKEN => word(TAKEN, u64::from(rename_bits(code as u32, &kept))),
                _ => code,
            });
        });
    }

    /// All ways to see the process of `one` in the row, too; in this slot, if one is given. `None` where one of them would need more than [`MOST_SLOTS`].
    pub fn join(&self, row: &[u64], one: &[u64], only: Option<Slot>) -> Option<Vec<Joined>> {
        let newest = Shape::seen(one).trailing_zeros() as Slot;
        let mut join = Join { shape: self, row, one, newest, only, found: Vec::new(), is_full: false };
        if let Some(same) = join.forced() {
            let order = if self.is_ordered { (0..Shape::n_slots(row) as Slot).collect() } else { Vec::new() };
            join.place(&Placed { same, n_slots: Shape::n_slots(row), order }, 0);
        }
        (!join.is_full).then_some(join.found)
    }
}

fn rename(code: u64, moved: &Moved) -> u64 {
    match tag(code) {
        SLOT => word(SLOT, u64::from(moved[(code & PAYLOAD) as usize])),
        TAKEN => word(TAKEN, u64::from(rename_bits(code as u32, moved))),
        _ => code,
    }
}

/// The bits of slots that stay, where they are now.
fn rename_bits(bits: u32, moved: &Moved) -> u32 {
    let mut rest = bits;
    let mut renamed = 0;
    while rest != 0 {
        let slot = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        if moved[slot] != NOWHERE {
            renamed |= 1 << moved[slot];
        }
    }
    renamed
}

/// For each slot of the one the slot of the row, or a new one, that is the same process.
#[derive(Clone)]
struct Placed {
    same: Moved,
    n_slots: usize,
    /// All slots by their order, where it matters.
    order: Vec<Slot>,
}

struct Join<'a> {
    shape: &'a Shape,
    row: &'a [u64],
    one: &'a [u64],
    newest: Slot,
    only: Option<Slot>,
    found: Vec<Joined>,
    /// Whether some way needs more slots than there may be.
    is_full: bool,
}

impl Join<'_> {
    /// Which slots are the same because shared cells name them.
    fn forced(&self) -> Option<Moved> {
        let mut same = [NOWHERE; MOST_SLOTS];
        for (&here, &there) in self.shape.shared(self.row).iter().zip(self.shape.shared(self.one)) {
            if tag(here) == SLOT && tag(there) == SLOT {
                let (here, there) = ((here & PAYLOAD) as u8, (there & PAYLOAD) as usize);
                match same[there] {
                    NOWHERE if same.contains(&here) => return None,
                    NOWHERE => same[there] = here,
                    other if other != here => return None,
                    _ => {}
                }
            } else if blind(here) != blind(there) {
                return None;
            }
        }
        Some(same)
    }

    /// Finds a slot for each slot of the one from `at` on.
    fn place(&mut self, placed: &Placed, at: usize) {
        if at == Shape::n_slots(self.one) {
            if self.keeps_order(placed) {
                self.fill(placed);
            }
            return;
        }
        let is_newest = at == self.newest as usize;
        let seen = Shape::seen(self.row);
        let only = self.only;
        let fits =
            |slot: u8| !is_newest || (slot >= 32 || seen & 1 << slot == 0) && only.is_none_or(|only| only == slot);
        if placed.same[at] != NOWHERE {
            if fits(placed.same[at]) {
                self.place(placed, at + 1);
            }
            return;
        }
        for slot in (0..placed.n_slots as u8).filter(|&slot| fits(slot) && !placed.same.contains(&slot)) {
            let mut next = placed.clone();
            next.same[at] = slot;
            self.place(&next, at + 1);
        }
        if is_newest && only.is_some() {
            return;
        }
        if placed.n_slots >= MOST_SLOTS {
            self.is_full = true;
            return;
        }
        let slot = placed.n_slots as u8;
        let positions = if self.shape.is_ordered { placed.order.len() + 1 } else { 1 };
        for position in 0..positions {
            let mut next = placed.clone();
            next.same[at] = slot;
            next.n_slots += 1;
            if self.shape.is_ordered {
                next.order.insert(position, slot);
            }
            self.place(&next, at + 1);
        }
    }

    fn keeps_order(&self, placed: &Placed) -> bool {
        if !self.shape.is_ordered {
            return true;
        }
        let rank = |slot: u8| placed.order.iter().position(|&other| other == slot);
        (0..Shape::n_slots(self.one)).map(|at| rank(placed.same[at])).is_sorted()
    }

    /// Gives the process its local state, with every possibility of what loops have taken.
    fn fill(&mut self, placed: &Placed) {
        let shape = self.shape;
        let mut moved = [NOWHERE; MOST_SLOTS];
        for (slot, moved) in moved.iter_mut().enumerate().take(placed.n_slots) {
            *moved = slot as u8;
        }
        for (number, &slot) in placed.order.iter().enumerate() {
            moved[slot as usize] = number as u8;
        }
        let newest = moved[placed.same[self.newest as usize] as usize];
        // What the slots of the one are now; of what its loops have taken, only itself is kept.
        let mut theirs = [NOWHERE; MOST_SLOTS];
        for at in 0..Shape::n_slots(self.one) {
            theirs[at] = moved[placed.same[at] as usize];
        }
        let mut itself = [NOWHERE; MOST_SLOTS];
        itself[self.newest as usize] = newest;
        let there = |code: u64| match tag(code) {
            TAKEN => word(TAKEN, u64::from(rename_bits(code as u32, &itself))),
            _ => rename(code, &theirs),
        };
        let mut old: Vec<Slot> =
            (0..Shape::n_slots(self.row) as Slot).filter(|slot| Shape::seen(self.row) & 1 << slot != 0).collect();
        old.sort_by_key(|&slot| moved[slot as usize]);
        let mut row = Vec::with_capacity(self.row.len() + shape.n_local);
        row.push(0);
        for (&here, &code) in shape.shared(self.row).iter().zip(shape.shared(self.one)) {
            let here = rename(here, &moved);
            row.push(if tag(here) == TAKEN { here | there(code) } else { here });
        }
        let mut seen: Slots = 1 << newest;
        let mut is_placed = false;
        for slot in old {
            let number = moved[slot as usize];
            seen |= 1 << number;
            if number > newest && !is_placed {
                row.extend(shape.local(self.one, self.newest).iter().map(|&code| there(code)));
                is_placed = true;
            }
            row.extend(shape.local(self.row, slot).iter().map(|&code| rename(code, &moved)));
        }
        if !is_placed {
            row.extend(shape.local(self.one, self.newest).iter().map(|&code| there(code)));
        }
        row[0] = u64::from(seen) << 32 | placed.n_slots as u64;
        self.with_open_bits(row, newest, moved);
    }

    /// Whether loops of others have taken the new process, and whether its loops have taken them, is open.
    fn with_open_bits(&mut self, mut row: Vec<u64>, newest: Slot, moved: Moved) {
        let shape = self.shape;
        let seen = Shape::seen(&row);
        let mut open: Vec<(usize, u64)> = Vec::new();
        for scan in &shape.scans {
            let mut from = 1 + shape.n_shared;
            for slot in (0..32u8).filter(|slot| seen & 1 << slot != 0) {
                if row[from + scan.counter] != NONE {
                    let others = if slot == newest { seen & !(1 << newest) } else { 1 << newest };
                    let bits = (0..32).filter(|bit| others & 1 << bit != 0);
                    open.extend(bits.map(|bit| (from + scan.taken, 1 << bit)));
                }
                from += shape.n_local;
            }
        }
        if open.is_empty() {
            return self.found.push(Joined { packed: row.into(), newest, moved });
        }
        for chosen in 0u32..1 << open.len() {
            for (at, &(word, bit)) in open.iter().enumerate() {
                match chosen & 1 << at != 0 {
                    true => row[word] |= bit,
                    false => row[word] &= !bit,
                }
            }
            self.found.push(Joined { packed: row.as_slice().into(), newest, moved });
        }
    }
}
