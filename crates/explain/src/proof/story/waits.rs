//! Who waits for whom in a ring, chain or tree of any size, found in the windows of a proof.
//!
//! In: windows of one process each with all that it touches, by types. Out: a story. Each window state is a state of the program at a size at which all types occur, as far
//! as the window shows it; the reference semantics says whether its process can move there. Where it cannot, the cell that tells such states
//! apart from those in which it can is what it waits for, and whoever the cell names, or else whoever writes it, is waited for; the windows of that
//! process which agree on the cell say where it stands meanwhile.

use std::collections::{BTreeMap, BTreeSet};

use base::Budget;
use evidence::Certificate;
use evidence::rings::Network;
use model::Model;
use model::control::PlaceId;
use model::footprint::footprints;
use model::process::ProcessId;
use model::types::ScalarType;
use model::value::Value;
use model::variable::CellId;

use super::super::formula::{Kin, Letter, Meaning, Who};
use super::super::member::letters;
use super::super::render;
use super::super::scene::{Entry, Only, Scene, Shown, scenes};
use super::chains::{Chains, Link, Node};
use super::ground::Ground;
use super::{Picture, Story, WaitLine, size_parameter};
use crate::text::clean;

/// More window states than this are not looked at.
const MOST_ROWS: usize = 4_000;

/// The story; `None` where it cannot be told.
pub(super) fn story(model: &Model, certificate: &Certificate, budget: &Budget) -> Option<Story> {
    let proof = certificate.rings()?;
    let (parameter, from) = size_parameter(model, certificate)?;
    let distances = proof.distances;
    let least = match proof.network {
        Network::Line => (distances.left + distances.right + 2 * distances.modulus.max(1)) as i64 + 2,
        Network::Tree => 12,
    };
    // A multiple of the modulus, so that neighbours across the seam are as they are elsewhere.
    let size = multiple(from.max(least), distances.modulus.max(1) as i64);
    let ground = Ground::new(model.resized(parameter, size)?)?;
    let scenes = scenes(model, certificate)?;
    if scenes.iter().map(|scene| scene.rows.len()).sum::<usize>() > MOST_ROWS {
        return None;
    }
    let names = letters(model, &[model.families[proof.family].first]).letters;
    let processes = ground.processes(proof.family);
    let writes: Vec<BTreeSet<CellId>> = { processes.iter() }
        .map(|&process| footprints(&ground.model, process).into_iter().flat_map(|found| found.writes).collect())
        .collect();
    let mut finder = Finder {
        model,
        ground: &ground,
        scenes: &scenes,
        names: &names,
        writes,
        links: Vec::new(),
        network: proof.network,
    };
    let mut out = Story::default();
    let mut resting: Vec<(usize, Vec<PlaceId>)> = Vec::new();
    for scene in 0..scenes.len() {
        budget.check(0).ok()?;
        resting.push((scene, finder.look(scene, &mut out)?));
    }
    let is_marked = |scene: usize| match &scenes[scene].only {
        Only::Line(distances, types) => types.iter().any(|of| distances.is_marked(*of) == Some(true)),
        Only::All | Only::Tree(_) => false,
    };
    let chains = Chains {
        links: &finder.links,
        network: proof.network,
        is_marked: &is_marked,
        has_seam: scenes.iter().any(|scene| matches!(&scene.only, Only::Line(of, _) if of.left + of.right > 0)),
    };
    out.lines = chains.told(&|node| finder.node_name(node), &|scene| finder.who_text(scene));
    out.picture = finder.picture();
    Some(out)
}

/// The least multiple of a number that is not less.
fn multiple(least: i64, of: i64) -> i64 {
    (least + of - 1) / of * of
}

struct Finder<'a> {
    model: &'a Model,
    ground: &'a Ground,
    scenes: &'a [Scene],
    names: &'a [String],
    /// What each process writes.
    writes: Vec<BTreeSet<CellId>>,
    links: Vec<Link>,
    network: Network,
}

impl Finder<'_> {
    /// Looks at the places of one type; those at which it never waits. `None` where something is not known.
    fn look(&mut self, at: usize, out: &mut Story) -> Option<Vec<PlaceId>> {
        let scene = &self.scenes[at];
        let control = scene.columns.iter().position(|shown| *shown == Shown::Place(scene.letter(0)))?;
        let admitted = self.admitted(at);
        let first = *admitted.first()?;
        let mut places: BTreeMap<PlaceId, [Vec<usize>; 2]> = BTreeMap::new();
        for (nth, row) in scene.rows.iter().enumerate() {
            let Entry::Place(place) = row[control] else { return None };
            let filled = self.ground.filled(scene, row, &[first])?;
            let waits = self.ground.waits(&filled, first)?;
            places.entry(place).or_default()[usize::from(waits)].push(nth);
        }
        let mut resting = Vec::new();
        for (place, [free, stuck]) in places {
            if stuck.is_empty() {
                resting.push(place);
                continue;
            }
            let line = self.wait((at, place), (&free, &stuck), &admitted)?;
            out.waits.push(line);
        }
        Some(resting)
    }

    /// The processes of a type.
    fn admitted(&self, scene: usize) -> Vec<ProcessId> {
        let Scene { family, only, .. } = &self.scenes[scene];
        let all = self.ground.processes(*family);
        let count = all.len();
        all.into_iter().enumerate().filter(|(at, _)| only.admits(*at, count)).map(|(_, process)| process).collect()
    }

    fn scene_of(&self, process: ProcessId) -> Option<usize> {
        (0..self.scenes.len()).find(|&scene| self.admitted(scene).contains(&process))
    }

    fn wait(
        &mut self,
        (at, place): (usize, PlaceId),
        (free, stuck): (&[usize], &[usize]),
        admitted: &[ProcessId],
    ) -> Option<WaitLine> {
        let scene = &self.scenes[at];
        let apart = told_apart(scene, free, stuck);
        let holds = match &apart {
            Some((column, inside, outside)) => {
                render::text(self.model, self.names, &scene.says(*column, inside, outside)?)
            }
            None => String::new(),
        };
        let mut whom: BTreeMap<Who, BTreeSet<PlaceId>> = BTreeMap::new();
        let mut links: Vec<Link> = Vec::new();
        for &process in admitted {
            for &row in stuck {
                let filled = self.ground.filled(scene, &scene.rows[row], &[process])?;
                // The cell that makes the difference, or all that the process looks at.
                let cells = match apart.as_ref().map(|(column, ..)| &scene.columns[*column]) {
                    Some(Shown::Cell(term, _)) => {
                        BTreeSet::from([Meaning::new(&self.ground.model, &[process]).cell(term)?])
                    }
                    _ => self.ground.asked(&filled, process)?,
                };
                for cell in cells {
                    let value = filled.state.cells[cell.index()];
                    for other in self.waited_for(process, cell, value) {
                        let to = self.scene_of(other)?;
                        let who = self.name_of(process, other);
                        for place_there in self.places_with(to, other, (cell, value))? {
                            whom.entry(who).or_default().insert(place_there);
                            let way = other.index() as i64 - process.index() as i64;
                            let (from, to) = (Node { scene: at, place }, Node { scene: to, place: place_there });
                            let link = Link { from, to, way: self.way(way), wraps: self.wraps(way) };
                            if !links.contains(&link) {
                                links.push(link);
                            }
                        }
                    }
                }
            }
        }
        self.links.extend(links);
        let said = whom.iter().map(|(who, places)| {
            let names: Vec<String> = places.iter().map(|&place| render::place_name(self.model, place)).collect();
            let name = match who {
                Who::Process(_) => "another process".to_owned(),
                who => self.process_text(*who),
            };
            format!("{name}, who is then at {}", names.join(", "))
        });
        Some(WaitLine {
            who: self.who_text(at),
            at: render::place_name(self.model, place),
            holds,
            whom: said.collect(),
        })
    }

    /// Whom a process waits for: who holds a lock, or else all others who write the cell.
    fn waited_for(&self, process: ProcessId, cell: CellId, value: Value) -> Vec<ProcessId> {
        let family = self.ground.processes(self.scenes[0].family);
        let is_lock = self.ground.model.cells[cell].ty == ScalarType::Lock;
        match value {
            Value::Process(other) if other != process && is_lock => vec![other],
            _ => { family.iter().zip(&self.writes) }
                .filter(|(other, writes)| **other != process && writes.contains(&cell))
                .map(|(other, _)| *other)
                .collect(),
        }
    }

    /// Where a process can stand while a cell that it sees has a value; anywhere, where it does not see it.
    fn places_with(
        &self,
        scene: usize,
        process: ProcessId,
        (cell, value): (CellId, Value),
    ) -> Option<BTreeSet<PlaceId>> {
        let scene = &self.scenes[scene];
        let mut found = BTreeSet::new();
        for row in &scene.rows {
            let filled = self.ground.filled(scene, row, &[process])?;
            if !filled.cells.contains(&cell) || filled.state.cells[cell.index()] == value {
                found.insert(filled.state.place(process));
            }
        }
        Some(found)
    }

    fn count(&self) -> i64 {
        self.ground.processes(self.scenes[0].family).len() as i64
    }

    fn wraps(&self, way: i64) -> bool {
        self.network == Network::Line && way.abs() > self.count() / 2
    }

    /// The way to a neighbour, the short way round.
    fn way(&self, way: i64) -> i64 {
        match self.wraps(way) {
            true => way - way.signum() * self.count(),
            false => way,
        }
    }

    /// What a process calls another one.
    fn name_of(&self, process: ProcessId, other: ProcessId) -> Who {
        let family = self.scenes[0].family;
        let letter = Letter { at: 0, family };
        let first = self.ground.model.families[family].first.index();
        let (here, there) = (process.index() - first, other.index() - first);
        match self.network {
            Network::Line => Who::After(letter, self.way(there as i64 - here as i64)),
            Network::Tree if here > 0 && there == (here - 1) / 2 => Who::Kin(letter, Kin::Parent),
            Network::Tree if there == 2 * here + 1 => Who::Kin(letter, Kin::Left),
            Network::Tree if there == 2 * here + 2 => Who::Kin(letter, Kin::Right),
            Network::Tree => Who::Process(other),
        }
    }

    fn process_text(&self, who: Who) -> String {
        render::process(self.model, self.names, who)
    }

    /// `Phil[i], i > 0`.
    fn who_text(&self, scene: usize) -> String {
        let Scene { family, only, .. } = &self.scenes[scene];
        let name = format!("{}[{}]", clean(&self.model.families[*family].name), self.names[0]);
        let size = render::size_name(self.model, *family);
        match only.condition(&self.names[0], &size) {
            Some(condition) => format!("{name}, {condition}"),
            None => name,
        }
    }

    fn node_name(&self, node: Node) -> String {
        render::place_name(self.model, node.place)
    }

    /// A box for each type and place that waits or is waited for.
    fn picture(&self) -> Picture {
        let mut nodes: Vec<Node> = Vec::new();
        for node in self.links.iter().flat_map(|link| [link.from, link.to]) {
            if !nodes.contains(&node) {
                nodes.push(node);
            }
        }
        nodes.sort();
        let position = |node: Node| nodes.iter().position(|one| *one == node).unwrap_or(0);
        let mut arrows: Vec<(usize, usize, String)> = Vec::new();
        for link in &self.links {
            let words = match (self.network, link.way) {
                (Network::Line, way) if way > 0 => format!("{} + {way}", self.names[0]),
                (Network::Line, way) => format!("{} - {}", self.names[0], -way),
                (Network::Tree, way) if way < 0 => "parent".to_owned(),
                (Network::Tree, _) => "child".to_owned(),
            };
            let arrow = (position(link.from), position(link.to), words);
            if !arrows.contains(&arrow) {
                arrows.push(arrow);
            }
        }
        let waits = |at: usize| arrows.iter().any(|(from, ..)| *from == at);
        let ends = (0..nodes.len()).filter(|&at| !waits(at)).collect();
        let text = |node: &Node| vec![self.who_text(node.scene), format!("at {}", self.node_name(*node))];
        Picture { boxes: nodes.iter().map(text).collect(), ends, arrows }
    }
}

/// The cell that tells the states in which a process waits from those in which it can move, with what it has in each. It has to change before the process
/// can move.
fn told_apart(scene: &Scene, free: &[usize], stuck: &[usize]) -> Option<(usize, Vec<Entry>, Vec<Entry>)> {
    let of = |rows: &[usize], column: usize| -> Vec<Entry> {
        let found: BTreeSet<Entry> = rows.iter().map(|&row| scene.rows[row][column]).collect();
        found.into_iter().collect()
    };
    let cells = (0..scene.columns.len()).filter(|&column| matches!(scene.columns[column], Shown::Cell(..)));
    { cells }.find_map(|column| {
        let (inside, outside) = (of(stuck, column), of(free, column));
        let is_apart = !free.is_empty() && !inside.iter().any(|entry| outside.contains(entry));
        is_apart.then_some((column, inside, outside))
    })
}
