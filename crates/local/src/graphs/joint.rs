//! The joint states of two processes that share something, kept from round to round.
//!
//! Two local states that belong together agree on all that both processes see: they are of one **class**. Within its class each
//! local state has a position, and a local state's partners are a set of bits, one for each position of the other side. A step
//! of one process that the other does not see takes all partners along at once, however many there are: invisible steps cost a
//! few words, not a pair each. What is new is expanded once (semi-naive); both sides are kept, so that either can step.
//!
//! The rules. `J` has the initial states. For `(s, t)` in `J` and a step of the first process from `s` to `s'` by `a`: where
//! `a` is external to the second, `t` takes over from `s'` what both see, which is a transition of the second process's graph,
//! and the two are in `J`; otherwise `(s', t)` is. The same the other way round, and for steps that the two take together.
//! For an action of a third process, a transition from `s` to `s'` in the first graph: where the action is not external to the
//! second process, `(s', t)` is in `J` (the case that the paper's algorithm has forgotten); where it is, every transition by the
//! same action from `t` to a `t'` that agrees with `s'` makes `(s', t')` one. With witnesses, the last two are left to `witness.rs`
//! where the third process is one that shares something with both.

use rustc_hash::FxHashMap;

use super::actions::{ActionNumber, Actions};
use super::graph::{LocalEdge, Offer, ProcessGraph, RendezvousEdge, meetings_of};
use engine::meter::Meter;
use packed::machine::{Flow, Machine, Scratch};
use packed::packing::Packed;
use packed::words::{and, is_zero, or, without};

/// The budget is checked after so many local states.
const CHECK_EVERY: u32 = 1024;

/// A set of positions within a class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassBits {
    first: u64,
    /// Positions from the 65th on.
    more: Vec<u64>,
}

impl ClassBits {
    fn set(&mut self, at: u32) -> bool {
        let word = match at / 64 {
            0 => &mut self.first,
            word => {
                if self.more.len() < word as usize {
                    self.more.resize(word as usize, 0);
                }
                &mut self.more[word as usize - 1]
            }
        };
        let bit = 1 << (at % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    fn has(&self, at: u32) -> bool {
        let word = match at / 64 {
            0 => self.first,
            word => self.more.get(word as usize - 1).copied().unwrap_or(0),
        };
        (word >> (at % 64)) & 1 != 0
    }

    fn is_empty(&self) -> bool {
        self.first == 0 && self.more.iter().all(|&word| word == 0)
    }

    fn bytes(&self) -> u64 {
        8 * self.more.capacity() as u64
    }

    /// The positions of this set that are not in the other.
    fn without(&self, other: &ClassBits) -> ClassBits {
        let other_more = |at: usize| other.more.get(at).copied().unwrap_or(0);
        let more = self.more.iter().enumerate().map(|(at, word)| word & !other_more(at)).collect();
        ClassBits { first: self.first & !other.first, more }
    }

    /// The positions, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        std::iter::once(&self.first).chain(&self.more).zip(0..).flat_map(|(&word, at)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros();
                left &= left.wrapping_sub(1);
                (bit < 64).then_some(64 * at + bit)
            })
        })
    }
}

/// One of the two processes.
#[derive(Default)]
struct JointSide {
    /// By local state: its class, and its position there.
    places: Vec<(u32, u32)>,
    /// By local state: its partners, as positions of the other side within the class.
    partners: Vec<ClassBits>,
    /// By local state: those of them that were not expanded.
    fresh: Vec<ClassBits>,
    /// Local states with fresh partners.
    open: Vec<u32>,
    /// By class: the local states.
    members: Vec<Vec<u32>>,
    /// How much of the graph's log, and of its meetings, was read.
    n_read: usize,
    n_rendezvous: usize,
}

/// The joint states of two processes.
pub struct Joint<const W: usize> {
    /// The processes, ascending.
    pub processes: [usize; 2],
    /// The bits that both see.
    common: Packed<W>,
    classes: FxHashMap<Packed<W>, u32>,
    sides: [JointSide; 2],
    /// Pairs of which the partner has no number yet: the side that has one, its local state, and the other's.
    waiting: Vec<(usize, u32, Packed<W>)>,
    /// Meetings that were found, with the targets of both.
    rendezvous: Vec<JointStep<W>>,
    /// Pairs that are new since witnesses were computed, where the method uses witnesses.
    pub news: Option<Vec<(u32, u32)>>,
    /// What others say: pairs to add.
    pub inbox: Vec<(u32, u32)>,
    /// What was found for the graphs of the two.
    pub offers: [Vec<Offer<W>>; 2],
    /// Whether a step that the two take together may be a fault.
    pub faults: bool,
    n_pairs: u64,
    bytes: u64,
}

/// A step that the two processes take together.
#[derive(Clone, Copy, Debug)]
pub struct JointStep<const W: usize> {
    /// The action.
    pub action: ActionNumber,
    /// The local states before.
    pub before: [u32; 2],
    /// The combined state after.
    pub after: Packed<W>,
}

/// What joint searches read, and do not change.
pub struct Surroundings<'s, const W: usize> {
    /// The program.
    pub machine: &'s Machine<'s>,
    /// Its actions.
    pub actions: &'s Actions<W>,
    /// The graphs so far.
    pub graphs: &'s [ProcessGraph<W>],
    /// The limits.
    pub meter: &'s Meter<'s>,
    /// Whether steps of third processes need a witness.
    pub with_witness: bool,
}

impl<const W: usize> Joint<W> {
    /// No joint states.
    pub fn new(processes: [usize; 2], actions: &Actions<W>, with_news: bool) -> Self {
        Joint {
            processes,
            common: actions.common(processes[0], processes[1]),
            classes: FxHashMap::default(),
            sides: Default::default(),
            waiting: Vec::new(),
            rendezvous: Vec::new(),
            news: with_news.then(Vec::new),
            inbox: Vec::new(),
            offers: Default::default(),
            faults: false,
            n_pairs: 0,
            bytes: 0,
        }
    }

    /// How many joint states there are.
    pub fn n_pairs(&self) -> u64 {
        self.n_pairs
    }

    /// All joint states.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..self.sides[0].partners.len() as u32).flat_map(|one| self.partners(0, one).map(move |other| (one, other)))
    }

    /// The partners of a local state of one side.
    pub fn partners(&self, side: usize, state: u32) -> impl Iterator<Item = u32> + '_ {
        let here = &self.sides[side];
        let known = here.partners.get(state as usize);
        let class = here.places.get(state as usize).map_or(0, |place| place.0);
        let members = self.sides[1 - side].members.get(class as usize).map_or(&[][..], Vec::as_slice);
        known.into_iter().flat_map(ClassBits::iter).map(move |at| members[at as usize])
    }

    /// Whether two local states belong together.
    pub fn contains(&self, one: u32, other: u32) -> bool {
        let [ours, theirs] = &self.sides;
        match (ours.places.get(one as usize), theirs.places.get(other as usize)) {
            (Some(&(class, _)), Some(&(their_class, position))) => {
                class == their_class && ours.partners[one as usize].has(position)
            }
            _ => false,
        }
    }

    /// Which side a process is.
    pub fn side_of(&self, process: usize) -> usize {
        usize::from(self.processes[1] == process)
    }

    /// Whether there is anything to do, before the graphs have grown.
    pub fn is_idle(&self, graphs: &[ProcessGraph<W>]) -> bool {
        let up_to_date = |(side, process): (&JointSide, usize)| {
            side.open.is_empty()
                && side.n_read == graphs[process].log.len()
                && side.n_rendezvous == graphs[process].meeting_log.len()
        };
        self.inbox.is_empty()
            && self.waiting.is_empty()
            && self.rendezvous.is_empty()
            && self.sides.iter().zip(self.processes).all(up_to_date)
    }

    /// About how much there is to do.
    pub fn n_open(&self, graphs: &[ProcessGraph<W>]) -> usize {
        let of = |(side, process): (&JointSide, usize)| side.open.len() + graphs[process].log.len() - side.n_read;
        self.inbox.len() + self.waiting.len() + self.sides.iter().zip(self.processes).map(of).sum::<usize>()
    }

    /// Steps that the two were found to take together since the last time.
    pub fn take_rendezvous(&mut self) -> Vec<JointStep<W>> {
        std::mem::take(&mut self.rendezvous)
    }

    /// Gives classes and positions to local states that are new.
    pub fn number_states(&mut self, graphs: &[ProcessGraph<W>]) {
        for side in 0..2 {
            let graph = &graphs[self.processes[side]];
            for at in self.sides[side].places.len()..graph.states.len() {
                let key = and(graph.states.row(at as u32), &self.common);
                let n_classes = self.classes.len() as u32;
                let class = *self.classes.entry(key).or_insert(n_classes);
                if class == n_classes {
                    self.sides.iter_mut().for_each(|side| side.members.push(Vec::new()));
                }
                let side = &mut self.sides[side];
                let members = &mut side.members[class as usize];
                side.places.push((class, members.len() as u32));
                members.push(at as u32);
                side.partners.push(ClassBits::default());
                side.fresh.push(ClassBits::default());
            }
        }
    }

    /// Adds a pair of local states, of one class, given from one side.
    #[inline]
    fn insert(&mut self, side: usize, state: u32, partner: u32) {
        let position = self.sides[1 - side].places[partner as usize].1;
        if !self.sides[side].partners[state as usize].set(position) {
            return;
        }
        self.mark(side, state, position);
        let own = self.sides[side].places[state as usize].1;
        self.sides[1 - side].partners[partner as usize].set(own);
        self.mark(1 - side, partner, own);
        self.n_pairs += 1;
        if let Some(news) = &mut self.news {
            news.push(if side == 0 { (state, partner) } else { (partner, state) });
        }
    }

    fn mark(&mut self, side: usize, state: u32, position: u32) {
        let side = &mut self.sides[side];
        let fresh = &mut side.fresh[state as usize];
        if fresh.is_empty() {
            side.open.push(state);
        }
        fresh.set(position);
    }

    /// Adds all of some partners of a local state, which has the same class as theirs.
    fn insert_all(&mut self, side: usize, state: u32, partners: &ClassBits) {
        let added = partners.without(&self.sides[side].partners[state as usize]);
        let class = self.sides[side].places[state as usize].0;
        for position in added.iter() {
            let partner = self.sides[1 - side].members[class as usize][position as usize];
            self.insert(side, state, partner);
        }
    }

    /// Applies the rules until nothing is new, as far as the graphs go.
    pub fn search(&mut self, around: &Surroundings<'_, W>, scratch: &Scratch<W>) -> Flow {
        self.number_states(around.graphs);
        for (one, other) in std::mem::take(&mut self.inbox) {
            self.insert(0, one, other);
        }
        for (side, state, partner) in std::mem::take(&mut self.waiting) {
            let known = around.graphs[self.processes[1 - side]].states.position(&partner);
            self.insert(side, state, known.expect("what was offered is in the graph by now"));
        }
        self.read_logs(around);
        let mut n_looks = 0;
        while let Some((side, state)) = self.next_open() {
            let fresh = std::mem::take(&mut self.sides[side].fresh[state as usize]);
            self.own_steps(around, side, state, &fresh);
            let graph = &around.graphs[self.processes[side]];
            for &edge in &graph.external[state as usize] {
                self.third(around, (side, state), edge, (&fresh, side == 0));
            }
            for &meeting in &graph.meetings[state as usize] {
                self.third_rendezvous(around, (side, state), meeting, &fresh);
            }
            if side == 0 {
                self.together(around, state, &fresh, scratch);
            }
            n_looks += 1;
            if n_looks % CHECK_EVERY == 0 {
                self.count(around.meter);
                if !around.meter.may_go_on(0) {
                    return Flow::Break(());
                }
            }
        }
        self.count(around.meter);
        Flow::Continue(())
    }

    fn next_open(&mut self) -> Option<(usize, u32)> {
        (0..2).find_map(|side| self.sides[side].open.pop().map(|state| (side, state)))
    }

    /// Combines what is new in the graphs with the pairs that are there.
    fn read_logs(&mut self, around: &Surroundings<'_, W>) {
        for side in 0..2 {
            let graph = &around.graphs[self.processes[side]];
            for at in self.sides[side].n_read..graph.log.len() {
                let (state, edge) = graph.log[at];
                let partners = self.sides[side].partners[state as usize].clone();
                self.third(around, (side, state), edge, (&partners, true));
            }
            self.sides[side].n_read = graph.log.len();
            for at in self.sides[side].n_rendezvous..graph.meeting_log.len() {
                let (state, meeting) = graph.meeting_log[at];
                let partners = self.sides[side].partners[state as usize].clone();
                self.third_rendezvous(around, (side, state), meeting, &partners);
            }
            self.sides[side].n_rendezvous = graph.meeting_log.len();
        }
    }

    /// The process's own steps, with some partners.
    fn own_steps(&mut self, around: &Surroundings<'_, W>, side: usize, state: u32, partners: &ClassBits) {
        let [mine, other] = [self.processes[side], self.processes[1 - side]];
        let graph = &around.graphs[mine];
        for &(action, target) in graph.own(state) {
            if !around.actions.is_external(other, action) {
                self.insert_all(side, target, partners);
                continue;
            }
            let class = self.sides[side].places[state as usize].0;
            for position in partners.iter() {
                let partner = self.sides[1 - side].members[class as usize][position as usize];
                let row = around.graphs[other].states.row(partner);
                let after = or(&without(row, &self.common), &and(graph.states.row(target), &self.common));
                self.offer(around, (side, target), Offer { from: partner, action, to: after });
            }
        }
    }

    /// The other process sees this transition while one goes to `target`: it belongs to its graph, and the two go together.
    fn offer(&mut self, around: &Surroundings<'_, W>, (side, target): (usize, u32), offer: Offer<W>) {
        let graph = &around.graphs[self.processes[1 - side]];
        match graph.states.position(&offer.to) {
            Some(partner) => {
                if !graph.has_external(offer.from, offer.action, partner) {
                    self.offers[1 - side].push(offer);
                }
                self.insert(side, target, partner);
            }
            None => {
                self.offers[1 - side].push(offer);
                self.waiting.push((side, target, offer.to));
            }
        }
    }

    /// A transition of one graph by an action of a third process, with some partners. Where both see the action, one side
    /// speaks for both; `matches` says whether this one does.
    fn third(
        &mut self,
        around: &Surroundings<'_, W>,
        (side, state): (usize, u32),
        (action, target): LocalEdge,
        (partners, matches): (&ClassBits, bool),
    ) {
        let [mine, other] = [self.processes[side], self.processes[1 - side]];
        let actions = around.actions;
        // What the two do alone or together, and what this process does with a third one, have rules of their own.
        if actions.takes_part(other, action) || actions.takes_part(mine, action) {
            return;
        }
        let (mover, partner) = actions.movers[action as usize];
        if around.with_witness && partner.is_none() && actions.shares(mover.index(), other) {
            return;
        }
        if !actions.is_external(other, action) {
            self.insert_all(side, target, partners);
            return;
        }
        if !matches {
            return;
        }
        let class = self.sides[side].places[state as usize].0;
        let target_class = self.sides[side].places[target as usize].0;
        for position in partners.iter() {
            let partner = self.sides[1 - side].members[class as usize][position as usize];
            for &(_, their_target) in around.graphs[other].external_by(partner, action) {
                if self.sides[1 - side].places[their_target as usize].0 == target_class {
                    self.insert(side, target, their_target);
                }
            }
        }
    }

    /// This process steps together with a third one, with some partners.
    fn third_rendezvous(
        &mut self,
        around: &Surroundings<'_, W>,
        (side, state): (usize, u32),
        meeting: RendezvousEdge,
        partners: &ClassBits,
    ) {
        let [mine, other] = [self.processes[side], self.processes[1 - side]];
        let (actions, graphs) = (around.actions, around.graphs);
        let third = meeting.partner as usize;
        if third == other {
            return;
        }
        let seen = actions.common(third, other);
        let before = graphs[third].states.row(meeting.before);
        let after = or(graphs[mine].states.row(meeting.target), graphs[third].states.row(meeting.after));
        let taken = or(&self.common, &seen);
        let class = self.sides[side].places[state as usize].0;
        for position in partners.iter() {
            let partner = self.sides[1 - side].members[class as usize][position as usize];
            let row = graphs[other].states.row(partner);
            if !is_zero(&and(&xor(row, before), &seen)) {
                continue;
            }
            if actions.is_external(other, meeting.action) {
                let to = or(&without(row, &taken), &and(&after, &taken));
                self.offer(around, (side, meeting.target), Offer { from: partner, action: meeting.action, to });
            } else {
                self.insert(side, meeting.target, partner);
            }
        }
    }

    /// Steps that the two take together, with some partners of a local state of the first.
    fn together(&mut self, around: &Surroundings<'_, W>, state: u32, partners: &ClassBits, scratch: &Scratch<W>) {
        let [one, other] = self.processes;
        let ways = [(one, other), (other, one)];
        let (actions, machine) = (around.actions, around.machine);
        if !ways.iter().any(|&(from, to)| actions.can_rendezvous(from, to)) {
            return;
        }
        let row = around.graphs[one].states.row(state);
        if !machine.point(around.graphs[one].process, row).has_sync {
            return;
        }
        let class = self.sides[0].places[state as usize].0;
        for position in partners.iter() {
            let partner = self.sides[1].members[class as usize][position as usize];
            let combined = or(row, around.graphs[other].states.row(partner));
            for (from, to) in ways.into_iter().filter(|&(from, to)| actions.can_rendezvous(from, to)) {
                let movers = (around.graphs[from].process, around.graphs[to].process);
                let (found, faults) = meetings_of(machine, actions, movers, (&combined, scratch));
                self.faults |= faults;
                let rendezvous = |(action, after)| JointStep { action, before: [state, partner], after };
                self.rendezvous.extend(found.into_iter().map(rendezvous));
            }
        }
    }

    /// Adds the pair that a step of both leads to, once their graphs have it.
    pub fn add_after(&mut self, targets: [u32; 2]) {
        self.inbox.push((targets[0], targets[1]));
    }

    fn count(&mut self, meter: &Meter<'_>) {
        let bits: u64 = self.sides.iter().flat_map(|side| &side.partners).map(ClassBits::bytes).sum();
        let states: usize = self.sides.iter().map(|side| side.places.len()).sum();
        let offers: usize = self.offers.iter().map(Vec::len).sum();
        let news = self.news.as_ref().map_or(0, Vec::len) * 8;
        let each = size_of::<Offer<W>>();
        let now = 2 * bits + (states * 90 + offers * each + news + self.waiting.len() * each) as u64;
        meter.add(now.saturating_sub(self.bytes));
        meter.remove(self.bytes.saturating_sub(now));
        self.bytes = now;
    }
}

fn xor<const W: usize>(a: &Packed<W>, b: &Packed<W>) -> Packed<W> {
    std::array::from_fn(|word| a[word] ^ b[word])
}
