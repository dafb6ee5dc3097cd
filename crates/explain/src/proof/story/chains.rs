//! Chains of processes that wait for each other, and where they end.
//!
//! In: links, from a type of process at a place to the process that it waits for, and the place of that one. Out: sentences. A chain that never ends repeats a type at a place, so it
//! goes round a cycle of links for ever. Where no link is on a cycle, chains are short. Where all links on cycles lead the same way, a chain goes
//! that way for ever: it comes to an end of a chain or tree, or round the ring past the first process, which has to be on a cycle then, too.

use std::collections::BTreeSet;

use evidence::rings::Network;
use model::control::PlaceId;

use super::StoryLine;

/// A type of process, by its scene, at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WaitingType {
    pub scene: usize,
    pub place: PlaceId,
}

/// A process may wait for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MayWait {
    pub from: WaitingType,
    pub to: WaitingType,
    /// How far to the right; negative to the left, or up a tree.
    pub way: i64,
    /// Whether it goes past the end of the numbers.
    pub wraps: bool,
}

/// All links.
pub(super) struct WaitingChains<'a> {
    pub links: &'a [MayWait],
    pub network: Network,
    /// Whether a type is that of the process after the seam of a ring.
    pub is_marked: &'a dyn Fn(usize) -> bool,
    /// Whether there is such a type.
    pub has_seam: bool,
    /// A sum over all processes that would be 0 if all of them waited so.
    pub sum_of: &'a dyn Fn(&[WaitingType]) -> Option<String>,
}

impl WaitingChains<'_> {
    /// Why waiting ends; nothing where that does not follow from which process waits for which.
    pub fn sentences(&self, place: &dyn Fn(WaitingType) -> String, who: &dyn Fn(usize) -> String) -> Vec<StoryLine> {
        if self.links.is_empty() {
            return vec![line("nobody ever waits: whoever has a turn moves".to_owned())];
        }
        let round: Vec<&MayWait> = self.links.iter().filter(|link| self.reaches(link.to, link.from)).collect();
        if round.is_empty() {
            let longest = self.links.iter().map(|link| self.longest(link.from)).max().unwrap_or(0);
            return vec![line(format!(
                "no chain of processes that wait for each other is longer than {longest}: at its end is somebody who can move"
            ))];
        }
        let (to_right, to_left) = (round.iter().all(|link| link.way > 0), round.iter().all(|link| link.way < 0));
        if !to_right && !to_left {
            return Vec::new();
        }
        let places: BTreeSet<String> = round.iter().map(|link| place(link.from)).collect();
        let places: Vec<String> = places.into_iter().collect();
        let places = places.join(", ");
        let goes_round = round.iter().any(|link| link.wraps);
        match self.network {
            Network::Tree => {
                let (way, end) = if to_left {
                    ("up, from child to parent", "the root, which has none")
                } else {
                    ("down, from parent to child", "a leaf, which has none")
                };
                vec![line(format!(
                    "a long chain of processes that wait for each other (at {places}) goes {way}, and ends at {end}"
                ))]
            }
            Network::Line if !goes_round && !self.links.iter().any(|link| link.wraps) => {
                let (way, end) = if to_right { ("i + 1", "last") } else { ("i - 1", "first") };
                vec![line(format!(
                    "a long chain of processes that wait for each other (at {places}) goes from i to {way}, and ends at the {end} process at the latest"
                ))]
            }
            Network::Line => self.past_the_seam(&round, to_right, &places, (place, who)),
        }
    }

    /// In a ring a chain would go round past the first process for ever.
    fn past_the_seam(
        &self,
        round: &[&MayWait],
        to_right: bool,
        places: &str,
        (place, who): (&dyn Fn(WaitingType) -> String, &dyn Fn(usize) -> String),
    ) -> Vec<StoryLine> {
        let is_marked = |node: WaitingType| (self.is_marked)(node.scene);
        let way = if to_right { "i + 1" } else { "i - 1" };
        // From neighbour to neighbour it comes to all processes.
        let nodes: BTreeSet<WaitingType> = round.iter().map(|link| link.from).collect();
        if round.iter().all(|link| link.way.abs() == 1)
            && let Some(sum) = (self.sum_of)(&nodes.into_iter().collect::<Vec<_>>())
        {
            return vec![
                line(format!(
                    "a chain of processes that wait for each other (at {places}) goes from i to {way}; if it went all round, everybody would wait"
                )),
                line(format!("but {sum}, to which nobody adds who waits: so somebody moves, and the chain with it")),
            ];
        }
        if !self.has_seam || round.iter().any(|link| is_marked(link.from) || is_marked(link.to)) {
            return Vec::new();
        }
        // The control location of the process after the seam while a process on such a chain waits for it.
        let on_cycle = |node: WaitingType| round.iter().any(|link| link.from == node);
        let met: BTreeSet<WaitingType> =
            self.links.iter().filter(|link| on_cycle(link.from) && is_marked(link.to)).map(|link| link.to).collect();
        let mut lines = vec![line(format!(
            "a long chain of processes that wait for each other (at {places}) goes from i to {way}, and would have to go round past {}",
            self.marked_name(who)
        ))];
        if met.is_empty() {
            lines.push(line(format!("nobody on such a chain waits for {}, so it ends before", self.marked_name(who))));
            return lines;
        }
        let names: Vec<String> = met.iter().map(|node| place(*node)).collect();
        let longest = met.iter().map(|node| self.longest(*node)).max().unwrap_or(0);
        let end = match longest {
            0 => "where it never waits: it moves on, and the chain with it".to_owned(),
            more => format!("from where no chain is longer than {more}: somebody can move, and the chain with it"),
        };
        lines.push(line(format!("{} is waited for there only at {}, {end}", self.marked_name(who), names.join(", "))));
        lines
    }

    fn marked_name(&self, who: &dyn Fn(usize) -> String) -> String {
        let scenes: BTreeSet<usize> = self.links.iter().flat_map(|link| [link.from.scene, link.to.scene]).collect();
        let marked = scenes.into_iter().find(|&scene| (self.is_marked)(scene));
        marked.map_or_else(|| "the first process".to_owned(), |scene| format!("the process {}", who(scene)))
    }

    fn next(&self, node: WaitingType) -> impl Iterator<Item = WaitingType> {
        self.links.iter().filter(move |link| link.from == node).map(|link| link.to)
    }

    fn reaches(&self, from: WaitingType, to: WaitingType) -> bool {
        let mut seen = BTreeSet::from([from]);
        let mut open = vec![from];
        while let Some(node) = open.pop() {
            if node == to {
                return true;
            }
            open.extend(self.next(node).filter(|next| seen.insert(*next)));
        }
        false
    }

    /// The most links from a node that is on no cycle and leads to none.
    fn longest(&self, node: WaitingType) -> usize {
        self.next(node).map(|next| 1 + self.longest(next)).max().unwrap_or(0)
    }
}

fn line(text: String) -> StoryLine {
    StoryLine { depth: 0, text }
}
