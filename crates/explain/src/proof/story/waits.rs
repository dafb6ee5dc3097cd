//! Which process waits for which in a ring, chain or tree of any size, found in the windows of a proof.
//!
//! In: windows of one process each with all that it touches, by types. Out: a story. Each window state is a state of the program at a size at which all types occur, as far
//! as the window shows it; the reference semantics says whether its process is enabled there. Where it is not, the cell that distinguishes such states
//! from those in which it is enabled is what it waits for, and the process that the cell names, or else any that writes it, is waited for; the windows of that
//! process which agree on the cell, and on where the first one is, say its place meanwhile; where that is any place, nothing is said. A cell that names a process, and that
//! no other process ever changes, is waited for at whoever it names.

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
use model::variable::{CellId, VarId};

use super::super::formula::{Letter, LetterMeaning, NamedProcess, SentenceFormula, TreePosition};
use super::super::member::letters;
use super::super::render;
use super::super::scene::{CertificateScene, Only, SceneEntry, Shown, is_true, relettered, scenes};
use super::chains::{MayWait, WaitingChains, WaitingType};
use super::ground::Ground;
use super::{Picture, Story, WaitLine, size_parameter};
use crate::text::clean;

/// More window states than this are not examined.
const MOST_ROWS: usize = 4_000;

/// The story; `None` where there is none.
pub(super) fn story(model: &Model, certificate: &Certificate, budget: &Budget) -> Option<Story> {
    let proof = certificate.rings()?;
    let (parameter, from) = size_parameter(model, certificate)?;
    let distances = proof.distances;
    // Together these sizes have processes of all types, and all that can be neighbours.
    let sizes: Vec<i64> = match proof.network {
        Network::Line => {
            let modulus = distances.modulus.max(1);
            let least = from.max((distances.left + distances.right + 2 * modulus) as i64 + 2);
            (least..least + modulus as i64).collect()
        }
        Network::Tree => vec![2, 3, 12, 13, 14],
    };
    let scenes = scenes(model, certificate)?;
    if scenes.iter().map(|scene| scene.rows.len()).sum::<usize>() > MOST_ROWS {
        return None;
    }
    let names = letters(model, &[model.families[proof.family].first]).letters;
    let mut found = WaitsAt::default();
    for size in sizes.into_iter().filter(|&size| model.parameters[parameter].allows(size)) {
        let ground = Ground::new(model.resized(parameter, size)?)?;
        let writes: Vec<BTreeSet<CellId>> = { ground.processes(proof.family).into_iter() }
            .map(|process| footprints(&ground.model, process).into_iter().flat_map(|found| found.writes).collect())
            .collect();
        let mut finder = WaitFinder {
            model,
            ground: &ground,
            scenes: &scenes,
            names: &names,
            writes,
            found: &mut found,
            network: proof.network,
        };
        for scene in 0..scenes.len() {
            budget.check(0).ok()?;
            finder.look(scene)?;
        }
    }
    let teller = WaitStory { model, scenes: &scenes, names: &names, network: proof.network, found: &found };
    let is_marked = |scene: usize| match &scenes[scene].only {
        Only::Line(distances, types) => types.iter().any(|of| distances.is_marked(*of) == Some(true)),
        Only::All | Only::Tree(_) => false,
    };
    let has_seam = |scene: &CertificateScene| matches!(&scene.only, Only::Line(of, _) if of.left + of.right > 0);
    let flows: Vec<SentenceFormula> =
        proof.flows.iter().filter_map(|flow| super::sums::flow(model, proof, flow)).collect();
    let chains = WaitingChains {
        links: &found.links,
        network: proof.network,
        is_marked: &is_marked,
        has_seam: scenes.iter().any(has_seam),
        sum_of: &|nodes| teller.sum_of(nodes, &flows, budget),
    };
    let lines = chains.sentences(&|node| teller.node_name(node), &|scene| teller.who_text(scene));
    Some(Story { waits: teller.waits(), lines, picture: teller.picture() })
}

/// Which process waits where.
#[derive(Default)]
struct WaitsAt {
    waiting: BTreeMap<WaitingType, WaitCondition>,
    links: Vec<MayWait>,
}

/// What a process waits for.
#[derive(Default)]
struct WaitCondition {
    holds: String,
    whom: BTreeMap<AwaitedProcess, BTreeSet<PlaceId>>,
    /// The rows in which it waits.
    stuck: Vec<usize>,
}

/// A process that another one waits for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum AwaitedProcess {
    /// This one.
    Known(NamedProcess),
    /// The one that a shared variable names.
    NamedBy(VarId),
}

struct WaitFinder<'a> {
    model: &'a Model,
    ground: &'a Ground,
    scenes: &'a [CertificateScene],
    names: &'a [String],
    /// What each process writes.
    writes: Vec<BTreeSet<CellId>>,
    found: &'a mut WaitsAt,
    network: Network,
}

impl WaitFinder<'_> {
    /// Examines the places of one type; `None` where something is not known.
    fn look(&mut self, at: usize) -> Option<()> {
        let scene = &self.scenes[at];
        let control = scene.columns.iter().position(|shown| *shown == Shown::Place(scene.letter(0)))?;
        let admitted = self.admitted(at);
        // There are none of this type at this size.
        let Some(&first) = admitted.first() else { return Some(()) };
        let mut places: BTreeMap<PlaceId, [Vec<usize>; 2]> = BTreeMap::new();
        for (nth, row) in scene.rows.iter().enumerate() {
            let SceneEntry::Place(place) = row[control] else { return None };
            let filled = self.ground.filled(scene, row, &[first])?;
            let waits = self.ground.waits(&filled, first)?;
            places.entry(place).or_default()[usize::from(waits)].push(nth);
        }
        for (place, [free, stuck]) in places {
            if !stuck.is_empty() {
                self.wait((at, place), (&free, &stuck), &admitted)?;
            }
        }
        Some(())
    }

    /// The processes of a type.
    fn admitted(&self, scene: usize) -> Vec<ProcessId> {
        let CertificateScene { family, only, .. } = &self.scenes[scene];
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
    ) -> Option<()> {
        let scene = &self.scenes[at];
        let apart = distinguishing(scene, free, stuck);
        let holds = match &apart {
            Some((column, inside, outside)) => {
                render::text(self.model, self.names, &scene.says(*column, inside, outside)?)
            }
            None => String::new(),
        };
        let mut whom: BTreeMap<AwaitedProcess, BTreeSet<PlaceId>> = BTreeMap::new();
        let named_by = apart.as_ref().and_then(|(column, ..)| self.holder_cell(&scene.columns[*column]));
        let mut links: Vec<MayWait> = Vec::new();
        for &process in admitted {
            for &row in stuck {
                let filled = self.ground.filled(scene, &scene.rows[row], &[process])?;
                // The cell that makes the difference, or all that the process reads.
                let cells = match apart.as_ref().map(|(column, ..)| &scene.columns[*column]) {
                    Some(Shown::Cell(term, _)) => {
                        BTreeSet::from([LetterMeaning::new(&self.ground.model, &[process]).cell(term)?])
                    }
                    _ => self.ground.asked(&filled, process)?,
                };
                for cell in cells {
                    let value = filled.state.cells[cell.index()];
                    let awaited = match named_by {
                        Some(_) => self.others(process),
                        None => self.waited_for(process, cell, value),
                    };
                    for other in awaited {
                        let to = self.scene_of(other)?;
                        let (who, value) = match named_by {
                            Some(var) => (AwaitedProcess::NamedBy(var), Value::Process(other)),
                            None => (AwaitedProcess::Known(self.name_of(process, other)), value),
                        };
                        for place_there in self.places_with(to, other, (cell, value), (process, place))? {
                            whom.entry(who.clone()).or_default().insert(place_there);
                            let way = other.index() as i64 - process.index() as i64;
                            let (from, to) =
                                (WaitingType { scene: at, place }, WaitingType { scene: to, place: place_there });
                            let link = MayWait { from, to, way: self.way(way), wraps: self.wraps(way) };
                            if !links.contains(&link) {
                                links.push(link);
                            }
                        }
                    }
                }
            }
        }
        for link in links {
            if !self.found.links.contains(&link) {
                self.found.links.push(link);
            }
        }
        let waiting = self.found.waiting.entry(WaitingType { scene: at, place }).or_default();
        waiting.holds = holds;
        waiting.stuck = stuck.to_vec();
        whom.into_iter().for_each(|(who, places)| waiting.whom.entry(who).or_default().extend(places));
        Some(())
    }

    /// The processes that a process waits for: the holder of a lock, or else all others that write the cell.
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

    /// All others of the family.
    fn others(&self, process: ProcessId) -> Vec<ProcessId> {
        let family = self.ground.processes(self.scenes[0].family);
        family.into_iter().filter(|other| *other != process).collect()
    }

    /// The shared variable of a column, if it names a process, and none but that one ever changes it, as far as the windows say.
    fn holder_cell(&self, shown: &Shown) -> Option<VarId> {
        let Shown::Cell(term, ScalarType::Pid(_)) = shown else { return None };
        let model = &self.ground.model;
        let is_plain = term.owner.is_none() && term.indices.is_empty();
        let cell = LetterMeaning::new(model, &[]).cell(term).filter(|_| is_plain)?;
        let all = self.ground.processes(self.scenes[0].family);
        let mut is_kept = all.len() == model.processes.len();
        for &process in &all {
            let scene = &self.scenes[self.scene_of(process)?];
            for row in &scene.rows {
                let filled = self.ground.filled(scene, row, &[process])?;
                is_kept &= filled.cells.contains(&cell);
                let value = filled.state.cells[cell.index()];
                is_kept &= value == Value::Process(process) || self.ground.keeps(&filled, process, cell)?;
            }
        }
        is_kept.then_some(term.var)
    }

    /// The places at which a process can be while a cell that it sees has a value, and another one is where it waits; any place, where it does not see it.
    fn places_with(
        &self,
        scene: usize,
        process: ProcessId,
        (cell, value): (CellId, Value),
        (waiting, there): (ProcessId, PlaceId),
    ) -> Option<BTreeSet<PlaceId>> {
        let scene = &self.scenes[scene];
        let mut found = BTreeSet::new();
        for row in &scene.rows {
            let filled = self.ground.filled(scene, row, &[process])?;
            let is_there = !filled.places.contains(&waiting) || filled.state.place(waiting) == there;
            if is_there && (!filled.cells.contains(&cell) || filled.state.cells[cell.index()] == value) {
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
    fn name_of(&self, process: ProcessId, other: ProcessId) -> NamedProcess {
        let family = self.scenes[0].family;
        let letter = Letter { at: 0, family };
        let first = self.ground.model.families[family].first.index();
        let (here, there) = (process.index() - first, other.index() - first);
        match self.network {
            Network::Line => NamedProcess::After(letter, self.way(there as i64 - here as i64)),
            Network::Tree if here > 0 && there == (here - 1) / 2 => {
                NamedProcess::TreePosition(letter, TreePosition::Parent)
            }
            Network::Tree if there == 2 * here + 1 => NamedProcess::TreePosition(letter, TreePosition::Left),
            Network::Tree if there == 2 * here + 2 => NamedProcess::TreePosition(letter, TreePosition::Right),
            Network::Tree => NamedProcess::Process(other),
        }
    }
}

/// What was found, in words.
struct WaitStory<'a> {
    model: &'a Model,
    scenes: &'a [CertificateScene],
    names: &'a [String],
    network: Network,
    found: &'a WaitsAt,
}

impl WaitStory<'_> {
    /// Where processes wait, those with the same sentences together.
    fn waits(&self) -> Vec<WaitLine> {
        let mut groups: Vec<(Only, Vec<WaitLine>)> = Vec::new();
        for (at, scene) in self.scenes.iter().enumerate() {
            let of_scene = self.found.waiting.iter().filter(|(node, _)| node.scene == at);
            let lines: Vec<WaitLine> = of_scene.map(|(node, waiting)| self.line(node.place, waiting)).collect();
            match groups.iter_mut().find(|(_, known)| *known == lines) {
                Some((only, _)) => only.extend(&scene.only),
                None => groups.push((scene.only.clone(), lines)),
            }
        }
        let named = |(only, lines): (Only, Vec<WaitLine>)| {
            let who = self.who(&only);
            lines.into_iter().map(move |line| WaitLine { who: who.clone(), ..line })
        };
        groups.into_iter().flat_map(named).collect()
    }

    fn line(&self, place: PlaceId, waiting: &WaitCondition) -> WaitLine {
        let all = self.all_places();
        let said = waiting.whom.iter().map(|(who, places)| {
            let names: Vec<String> = places.iter().map(|&place| render::place_name(self.model, place)).collect();
            let name = match who {
                AwaitedProcess::Known(NamedProcess::Process(_)) => "another process".to_owned(),
                AwaitedProcess::Known(who) => render::process(self.model, self.names, *who),
                AwaitedProcess::NamedBy(var) => {
                    let family = &self.model.families[self.scenes[0].family].name;
                    format!("{}[{}]", clean(family), clean(&self.model.vars[*var].name))
                }
            };
            match *places == all {
                true => name,
                false => format!("{name}, who is then at {}", names.join(", ")),
            }
        });
        let at = render::place_name(self.model, place);
        WaitLine { who: String::new(), at, holds: waiting.holds.clone(), whom: said.collect() }
    }

    /// The places at which processes can be at all, as far as the windows say.
    fn all_places(&self) -> BTreeSet<PlaceId> {
        let of = |scene: &CertificateScene| -> Vec<PlaceId> {
            let control = scene.columns.iter().position(|shown| *shown == Shown::Place(scene.letter(0)));
            let entries = scene.rows.iter().filter_map(|row| Some(row[control?]));
            entries.filter_map(|entry| if let SceneEntry::Place(place) = entry { Some(place) } else { None }).collect()
        };
        self.scenes.iter().flat_map(of).collect()
    }

    /// A sum over all processes to which a process that waits at one of these adds nothing: then not all of them wait.
    fn sum_of(&self, nodes: &[WaitingType], flows: &[SentenceFormula], budget: &Budget) -> Option<String> {
        let adds_nothing = |formula: &&SentenceFormula| {
            let SentenceFormula::Tally(tally) = formula else { return false };
            let is_nothing = |node: &WaitingType| {
                let scene = &self.scenes[node.scene];
                let Some(waiting) = self.found.waiting.get(node) else { return false };
                let rows = waiting.stuck.iter().map(|&row| scene.rows[row].clone()).collect();
                let part = CertificateScene { rows, ..scene.clone() };
                tally.counts.iter().all(|(_, counted)| {
                    let body = relettered(&counted.body, &|at| if at == counted.letter { 0 } else { at });
                    is_true(&part, &SentenceFormula::Not(Box::new(body)), budget)
                })
            };
            tally.total > 0 && tally.modulus == 0 && tally.cells.is_empty() && nodes.iter().all(is_nothing)
        };
        let found = flows.iter().find(adds_nothing)?;
        Some(render::text(self.model, self.names, found))
    }

    /// `Phil[i], i > 0`.
    fn who_text(&self, scene: usize) -> String {
        self.who(&self.scenes[scene].only)
    }

    fn who(&self, only: &Only) -> String {
        let family = self.scenes[0].family;
        let name = format!("{}[{}]", clean(&self.model.families[family].name), self.names[0]);
        match only.condition(&self.names[0], &render::size_name(self.model, family)) {
            Some(condition) => format!("{name}, {condition}"),
            None => name,
        }
    }

    fn node_name(&self, node: WaitingType) -> String {
        render::place_name(self.model, node.place)
    }

    /// A box for each type and place that waits, and one for all places of a type at which it does not.
    fn picture(&self) -> Picture {
        let links = &self.found.links;
        let waits = |node: WaitingType| links.iter().any(|link| link.from == node);
        let mut boxes: Vec<Vec<WaitingType>> = Vec::new();
        let mut nodes: Vec<WaitingType> = links.iter().flat_map(|link| [link.from, link.to]).collect();
        nodes.sort();
        nodes.dedup();
        for node in nodes {
            let known = |one: &&mut Vec<WaitingType>| !waits(node) && one[0].scene == node.scene && !waits(one[0]);
            match boxes.iter_mut().find(known) {
                Some(known) => known.push(node),
                None => boxes.push(vec![node]),
            }
        }
        let position = |node: WaitingType| boxes.iter().position(|one| one.contains(&node)).unwrap_or(0);
        let mut arrows: Vec<(usize, usize, String)> = Vec::new();
        for link in links {
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
        let ends = (0..boxes.len()).filter(|&at| !waits(boxes[at][0])).collect();
        let text = |nodes: &Vec<WaitingType>| {
            let places: Vec<String> = nodes.iter().map(|node| self.node_name(*node)).collect();
            let mut rows = vec![self.who_text(nodes[0].scene), format!("at {}", places.join(", "))];
            if !waits(nodes[0]) {
                rows.push("does not wait".to_owned());
            }
            rows
        };
        Picture { boxes: boxes.iter().map(text).collect(), ends, arrows }
    }
}

/// The cell that distinguishes the states in which a process waits from those in which it is enabled, with what it has in each. It has to change before the process
/// is enabled.
fn distinguishing(
    scene: &CertificateScene,
    free: &[usize],
    stuck: &[usize],
) -> Option<(usize, Vec<SceneEntry>, Vec<SceneEntry>)> {
    let of = |rows: &[usize], column: usize| -> Vec<SceneEntry> {
        let found: BTreeSet<SceneEntry> = rows.iter().map(|&row| scene.rows[row][column]).collect();
        found.into_iter().collect()
    };
    let cells = (0..scene.columns.len()).filter(|&column| matches!(scene.columns[column], Shown::Cell(..)));
    { cells }.find_map(|column| {
        let (inside, outside) = (of(stuck, column), of(free, column));
        let is_apart = !free.is_empty() && !inside.iter().any(|entry| outside.contains(entry));
        is_apart.then_some((column, inside, outside))
    })
}
