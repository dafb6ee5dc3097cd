//! In which order the ways to violate a property are tried, and with how much effort.
//!
//! In: whose views each way is about. Out: one attempt after the other, until all ways are refuted, or nothing is left to try. Each way gets a little effort
//! first. What was refuted is a lemma, so that processes that see something of its process are tried again: one that waits for another that waits
//! for others is refuted after these, in whatever order they are in the program. Where nothing more is learned, single ways get more effort, and all others
//! as much as turned out to be worth it.

use std::collections::VecDeque;

use model::process::ProcessId;
use rustc_hash::FxHashMap;

/// One attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The way.
    pub way: usize,
    /// So many tests of compatibility at most.
    pub most_tests: usize,
}

/// What came of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Came<'p> {
    /// The way is refuted, which may help where these processes are tried.
    Refuted(&'p [ProcessId]),
    /// Nothing more can be done with what is known.
    Stuck,
    /// There were more tests to do.
    Cut,
}

/// The ways that are open.
pub struct Agenda {
    ways: Vec<Entry>,
    /// The ways that are about a process.
    of_process: FxHashMap<ProcessId, Vec<usize>>,
    queue: VecDeque<usize>,
    /// Whether something was refuted since all open ways were tried.
    has_learned: bool,
    /// Whether the last pass over all of them was from the first to the last.
    was_forward: bool,
    most_tests: usize,
    /// How many more tests may be done beyond the first efforts before something is refuted.
    spare_tests: usize,
    /// The largest effort by which a way was refuted.
    worth_it: usize,
}

struct Entry {
    is_open: bool,
    is_queued: bool,
    was_cut: bool,
    most_tests: usize,
}

impl Agenda {
    /// Of each way the processes that it is about, and how many tests its first attempts may do; no attempt does more than `most_tests`.
    pub fn new(ways: &[(Vec<ProcessId>, usize)], most_tests: usize) -> Self {
        let mut of_process: FxHashMap<ProcessId, Vec<usize>> = FxHashMap::default();
        for (at, (members, _)) in ways.iter().enumerate() {
            members.iter().for_each(|&member| of_process.entry(member).or_default().push(at));
        }
        let way =
            |first: usize| Entry { is_open: true, is_queued: true, was_cut: false, most_tests: first.min(most_tests) };
        Agenda {
            queue: (0..ways.len()).collect(),
            ways: ways.iter().map(|(_, first)| way(*first)).collect(),
            of_process,
            has_learned: false,
            was_forward: true,
            most_tests,
            spare_tests: 2 * most_tests,
            worth_it: 0,
        }
    }

    /// The next attempt; `None` where nothing is left to try.
    pub fn next_attempt(&mut self) -> Option<Attempt> {
        // What is the image of another is not tried.
        self.queue.retain(|&way| self.ways[way].is_open);
        if self.queue.is_empty() && std::mem::take(&mut self.has_learned) {
            self.was_forward = !self.was_forward;
            let all: Vec<usize> = (0..self.ways.len()).collect();
            match self.was_forward {
                true => all.into_iter().for_each(|way| self.enqueue(way)),
                false => all.into_iter().rev().for_each(|way| self.enqueue(way)),
            }
        }
        if self.queue.is_empty() {
            let can_do_more = |way: &Entry| way.is_open && way.was_cut && way.most_tests < self.most_tests;
            let cut = self.ways.iter().position(can_do_more).filter(|_| self.spare_tests > 0)?;
            let tests = self.ways[cut].most_tests.saturating_mul(4).min(self.most_tests);
            self.ways[cut].most_tests = tests;
            self.spare_tests = self.spare_tests.saturating_sub(tests);
            self.enqueue(cut);
        }
        let way = self.queue.pop_front()?;
        self.ways[way].is_queued = false;
        Some(Attempt { way, most_tests: self.ways[way].most_tests })
    }

    /// Notes what came of an attempt.
    pub fn note(&mut self, way: usize, came: Came<'_>) {
        match came {
            Came::Refuted(near) => {
                self.ways[way].is_open = false;
                self.has_learned = true;
                // What was worth it for one is for the others.
                let tests = self.ways[way].most_tests;
                if tests > self.worth_it {
                    self.worth_it = tests;
                    self.ways.iter_mut().for_each(|other| other.most_tests = other.most_tests.max(tests));
                }
                self.spare_tests = 2 * self.most_tests;
                let near: Vec<usize> =
                    near.iter().filter_map(|one| self.of_process.get(one)).flatten().copied().collect();
                near.into_iter().for_each(|way| self.enqueue(way));
            }
            Came::Stuck => self.ways[way].was_cut = false,
            Came::Cut => self.ways[way].was_cut = true,
        }
    }

    /// Does not try a way, which is the image of another.
    pub fn skip(&mut self, way: usize) {
        self.ways[way].is_open = false;
    }

    /// The ways that are open.
    pub fn open(&self) -> impl Iterator<Item = usize> {
        (0..self.ways.len()).filter(|&way| self.ways[way].is_open)
    }

    fn enqueue(&mut self, way: usize) {
        if self.ways[way].is_open && !std::mem::replace(&mut self.ways[way].is_queued, true) {
            self.queue.push_back(way);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ways in a row, of which each one is refuted once the next one is: how many attempts it takes.
    fn attempts(n: usize) -> usize {
        let ways: Vec<(Vec<ProcessId>, usize)> = (0..n).map(|at| (vec![ProcessId::new(at)], 10)).collect();
        let mut agenda = Agenda::new(&ways, 100);
        let mut is_refuted = vec![false; n];
        let mut n_attempts = 0;
        while let Some(Attempt { way, .. }) = agenda.next_attempt() {
            n_attempts += 1;
            let can = way + 1 == n || is_refuted[way + 1];
            is_refuted[way] = can;
            let near: Vec<ProcessId> = way.checked_sub(1).into_iter().map(ProcessId::new).collect();
            agenda.note(way, if can { Came::Refuted(&near) } else { Came::Stuck });
        }
        assert_eq!(agenda.open().next(), None);
        n_attempts
    }

    #[test]
    fn whoever_waits_for_others_is_refuted_after_them_with_two_attempts_at_most() {
        assert_eq!([1, 10, 1000].map(attempts), [1, 19, 1999]);
    }

    #[test]
    fn one_that_was_cut_gets_more_effort_within_bounds() {
        let mut agenda = Agenda::new(&[(Vec::new(), 10), (Vec::new(), 10)], 100);
        let mut seen = Vec::new();
        while let Some(attempt) = agenda.next_attempt() {
            seen.push((attempt.way, attempt.most_tests));
            agenda.note(attempt.way, if attempt.way == 0 { Came::Stuck } else { Came::Cut });
        }
        assert_eq!(seen, [(0, 10), (1, 10), (1, 40), (1, 100)]);
        assert_eq!(agenda.open().next(), Some(0));
    }

    #[test]
    fn images_are_not_looked_at() {
        let mut agenda = Agenda::new(&[(Vec::new(), 10), (Vec::new(), 10), (Vec::new(), 10)], 100);
        agenda.skip(1);
        let mut seen = Vec::new();
        while let Some(Attempt { way, .. }) = agenda.next_attempt() {
            seen.push(way);
            agenda.note(way, if way == 0 { Came::Refuted(&[]) } else { Came::Stuck });
        }
        assert_eq!(seen, [0, 2, 2], "what was learned may help");
        assert_eq!(agenda.open().next(), Some(2));
    }

    #[test]
    fn what_was_worth_it_for_one_is_for_the_others() {
        let ways: Vec<(Vec<ProcessId>, usize)> = (0..20).map(|_| (Vec::new(), 10)).collect();
        let mut agenda = Agenda::new(&ways, 100);
        let mut n_large = 0;
        while let Some(attempt) = agenda.next_attempt() {
            n_large += usize::from(attempt.most_tests == 100);
            agenda.note(attempt.way, if attempt.most_tests == 100 { Came::Refuted(&[]) } else { Came::Cut });
        }
        assert_eq!((agenda.open().next(), n_large), (None, 20));
    }
}
