//! Which processes a `run` may start: places for them, with the pids that they may get.
//!
//! In: the processes that exist at the start. Out: for every `run` that one of them may take, the pids that the new process may have, and an
//! [`Instance`] for each proctype and pid. How often a process takes a `run` is found by following its graph (`follow.rs`);
//! a `run` in a loop that does not end that way needs a bound from the user.

// A diagnostic ends the reading: how large it is does not matter.
#![allow(clippy::result_large_err)]

use std::collections::{BTreeMap, BTreeSet, HashSet};

use base::{Diagnostic, Span};

use super::super::graph::{Does, Graph, NodeId};
use super::super::program::{LeafId, Op, ProctypeId, Program};
use super::follow::{Facts, Follower};
use super::world::{Channel, Instance, Owner, World};
use crate::codes::promela as code;

/// How many processes SPIN can have.
pub(super) const MAX_PROCESSES: usize = 255;

/// A `run` in the text: a place of a proctype's graph and the position of the edge there.
pub(super) type Site = (ProctypeId, NodeId, usize);

/// What `run`s do.
#[derive(Clone, Debug, Default)]
pub(super) struct Creation {
    /// The pids that the process of a `run` may get.
    pub pids: BTreeMap<Site, BTreeSet<i64>>,
    /// The proctype that each `run` starts.
    pub started: BTreeMap<Site, ProctypeId>,
    /// The arguments that are known at a site, for the pid that goes with them.
    pub arguments: BTreeMap<(Site, i64), Vec<BTreeSet<Option<i64>>>>,
}

impl Creation {
    /// Whether processes are created while the program runs.
    pub fn is_dynamic(&self) -> bool {
        !self.pids.is_empty()
    }
}

/// One `run` that a process may take.
pub(super) struct Event {
    pub site: Site,
    pub proctype: ProctypeId,
    /// How many the process has started before.
    pub n_before: usize,
    pub arguments: Vec<Option<i64>>,
}

/// How elaboration treats creation.
pub(super) struct Bounds<'b> {
    /// How many processes of a proctype may be started, where the text does not say it.
    pub instances: &'b [(String, usize)],
    /// Whether a pid is free again after a death.
    pub deaths: bool,
    /// The global variables that nothing changes.
    pub constants: &'b HashSet<LeafId>,
    /// How many places for processes there are besides those at the start, whatever the text says.
    pub places: Option<usize>,
}

/// Finds what is created, and adds the places for it.
pub(super) fn creation(
    program: &Program,
    graphs: &[Graph],
    world: &mut World,
    bounds: &Bounds<'_>,
) -> Result<Creation, Diagnostic> {
    let n_first = world.instances.len();
    if let Some(n_places) = bounds.places {
        return with_places(program, graphs, world, n_places);
    }
    let mut all: Vec<(i64, Vec<Event>)> = Vec::new();
    for instance in &world.instances {
        all.push((instance.pid, events(program, graphs, instance, (world, bounds))?));
    }
    let direct: usize = all.iter().map(|(_, events)| most(events)).sum();
    let created: BTreeSet<ProctypeId> =
        all.iter().flat_map(|(_, events)| events.iter().map(|event| event.proctype)).collect();
    let has_runs = |&proctype: &ProctypeId| {
        graphs[proctype].nodes.iter().any(|node| node.edges.iter().any(|edge| is_run(&edge.does)))
    };
    let is_alone = all.iter().filter(|(_, events)| !events.is_empty()).count() <= 1 && !created.iter().any(has_runs);
    let mut found = Creation::default();
    let mut wanted: BTreeSet<(ProctypeId, i64)> = BTreeSet::new();
    if is_alone {
        for (creator, events) in &all {
            for event in events {
                let last = (n_first + event.n_before) as i64;
                let first = if bounds.deaths { creator + 1 } else { last };
                found.add(event, first..=last, &mut wanted);
            }
        }
    } else {
        nested(program, graphs, (world, bounds), &mut all, direct)?;
        let total: usize = all.iter().map(|(_, events)| most(events)).sum();
        let last = (n_first + total) as i64 - 1;
        for (creator, events) in &all {
            for event in events {
                let first = if bounds.deaths { creator + 1 } else { n_first as i64 };
                found.add(event, first..=last, &mut wanted);
            }
        }
    }
    fits(world.instances.len() + wanted.len())?;
    add_places(program, graphs, world, &wanted);
    Ok(found)
}

/// So many places for processes: each may be taken by every proctype that is started at all.
fn with_places(
    program: &Program,
    graphs: &[Graph],
    world: &mut World,
    n_places: usize,
) -> Result<Creation, Diagnostic> {
    let n_first = world.instances.len();
    let mut found = Creation::default();
    let mut wanted: BTreeSet<(ProctypeId, i64)> = BTreeSet::new();
    let mut open: Vec<ProctypeId> = world.instances.iter().map(|instance| instance.proctype).collect();
    let mut seen: BTreeSet<ProctypeId> = open.iter().copied().collect();
    let creates = |id: ProctypeId| graphs[id].nodes.iter().any(|node| node.edges.iter().any(|edge| is_run(&edge.does)));
    let creators = world.instances.iter().filter(|instance| creates(instance.proctype));
    let first = creators.map(|instance| instance.pid + 1).min().unwrap_or(0);
    let last = (n_first + n_places) as i64 - 1;
    while let Some(creator) = open.pop() {
        for (node, edges) in graphs[creator].nodes.iter().enumerate() {
            for (at, edge) in edges.edges.iter().enumerate() {
                let Does::Op(Op::Run { proctype, arguments, .. }) = &edge.does else { continue };
                let arguments = arguments.iter().map(super::super::resolve::constant).collect();
                let event = Event { site: (creator, node, at), proctype: *proctype, n_before: 0, arguments };
                found.add(&event, first..=last, &mut wanted);
                if seen.insert(*proctype) {
                    open.push(*proctype);
                }
            }
        }
    }
    fits(world.instances.len() + wanted.len())?;
    add_places(program, graphs, world, &wanted);
    Ok(found)
}

fn fits(n_places: usize) -> Result<(), Diagnostic> {
    if n_places <= 4 * MAX_PROCESSES {
        return Ok(());
    }
    let message = format!("there are places for {n_places} processes");
    Err(Diagnostic::error(code::TOO_LARGE, Span::default(), message))
}

impl Creation {
    fn add(&mut self, event: &Event, pids: std::ops::RangeInclusive<i64>, wanted: &mut BTreeSet<(ProctypeId, i64)>) {
        self.started.insert(event.site, event.proctype);
        for pid in pids {
            self.pids.entry(event.site).or_default().insert(pid);
            wanted.insert((event.proctype, pid));
            let known = self.arguments.entry((event.site, pid)).or_default();
            known.resize(event.arguments.len(), BTreeSet::new());
            known.iter_mut().zip(&event.arguments).for_each(|(known, &value)| {
                known.insert(value);
            });
        }
    }
}

/// A process that another one starts.
struct Child {
    proctype: ProctypeId,
    pid: i64,
    /// What is known of its arguments.
    arguments: Vec<Option<i64>>,
}

/// Adds the creations of those that are created.
fn nested(
    program: &Program,
    graphs: &[Graph],
    (world, bounds): (&World, &Bounds<'_>),
    all: &mut Vec<(i64, Vec<Event>)>,
    direct: usize,
) -> Result<(), Diagnostic> {
    let mut queue: Vec<Child> = Vec::new();
    // What starts at one site with other arguments is one more child, up to as many as there can be.
    let children = |creator: i64, events: &[Event]| {
        let mut counts: BTreeMap<ProctypeId, usize> = BTreeMap::new();
        let n_created = most(events);
        let mut found = Vec::new();
        for event in events {
            let count = counts.entry(event.proctype).or_default();
            *count += 1;
            let arguments = event.arguments.clone();
            match *count <= n_created {
                true => found.push(Child { proctype: event.proctype, pid: creator + 1, arguments }),
                false => found.iter_mut().filter(|child| child.proctype == event.proctype).for_each(|child| {
                    child.arguments.iter_mut().zip(&arguments).for_each(|(known, value)| {
                        if known != value {
                            *known = None;
                        }
                    });
                }),
            }
        }
        found
    };
    for (creator, events) in all.iter() {
        queue.extend(children(*creator, events));
    }
    let mut n_created = direct;
    while let Some(Child { proctype, pid, arguments }) = queue.pop() {
        let instance = unborn(program, graphs, proctype, pid);
        let events = events_of((program, graphs), (&instance, &arguments), (world, bounds))?;
        if events.is_empty() {
            continue;
        }
        n_created += most(&events);
        let limit = bounds.instances.iter().map(|(_, count)| count).sum::<usize>();
        if n_created > MAX_PROCESSES {
            if limit > 0 {
                break;
            }
            let name = &program.proctypes[proctype].name;
            return Err(unbounded(name, program.proctypes[proctype].span));
        }
        queue.extend(children(pid, &events));
        all.push((pid, events));
    }
    Ok(())
}

fn most(events: &[Event]) -> usize {
    events.iter().map(|event| event.n_before + 1).max().unwrap_or(0)
}

fn is_run(does: &Does) -> bool {
    matches!(does, Does::Op(Op::Run { .. }))
}

fn add_places(program: &Program, graphs: &[Graph], world: &mut World, wanted: &BTreeSet<(ProctypeId, i64)>) {
    for &(proctype, pid) in wanted {
        let exists = world.instances.iter().any(|known| (known.proctype, known.pid) == (proctype, pid));
        if exists {
            continue;
        }
        let mut instance = unborn(program, graphs, proctype, pid);
        // Channels of its own exist from the start, empty.
        let mut n_before = 0;
        for &leaf in &program.proctypes[proctype].leaves {
            let declared = &program.leaves[leaf];
            if let super::super::program::Start::Channel { capacity, fields } = &declared.init {
                let mut row = Vec::new();
                for at in 0..declared.n_elements() {
                    let index = if declared.dims.is_empty() { String::new() } else { format!("[{at}]") };
                    let name = format!("{}[{pid}].{}{index}", program.proctypes[proctype].name, declared.name);
                    let owner = Some(Owner { pid, n_before });
                    let (capacity, fields, span) = (*capacity, fields.clone(), declared.span);
                    n_before += 1;
                    row.push(world.own_channel(Channel { name, capacity, fields, contents: Vec::new(), owner, span }));
                }
                instance.values.insert(leaf, row);
            }
        }
        world.instances.push(instance);
    }
}

fn unborn(program: &Program, graphs: &[Graph], proctype: ProctypeId, pid: i64) -> Instance {
    let leaves = &program.proctypes[proctype].leaves;
    let values = leaves.iter().map(|&leaf| (leaf, vec![0; program.leaves[leaf].n_elements()])).collect();
    Instance { proctype, pid, exists: false, values, place: graphs[proctype].entry }
}

fn unbounded(name: &str, span: Span) -> Diagnostic {
    let message = format!("how many processes `{name}` there will be is not known");
    let help = format!("say how many there may be at once: `--instances {name}=4`");
    Diagnostic::error(code::INSTANCES, span, message).help(help)
}

/// The `run`s that a process may take.
fn events(
    program: &Program,
    graphs: &[Graph],
    instance: &Instance,
    (world, bounds): (&World, &Bounds<'_>),
) -> Result<Vec<Event>, Diagnostic> {
    events_of((program, graphs), (instance, &[]), (world, bounds))
}

/// The same of a process with these arguments, as far as they are known.
fn events_of(
    (program, graphs): (&Program, &[Graph]),
    (instance, arguments): (&Instance, &[Option<i64>]),
    (world, bounds): (&World, &Bounds<'_>),
) -> Result<Vec<Event>, Diagnostic> {
    let graph = &graphs[instance.proctype];
    if !graph.nodes.iter().any(|node| node.edges.iter().any(|edge| is_run(&edge.does))) {
        return Ok(Vec::new());
    }
    let mut follower = Follower { program, graph, instance, constants: bounds.constants, world, intervals: true };
    let limit = |proctype: ProctypeId| {
        let name = &program.proctypes[proctype].name;
        bounds.instances.iter().find(|(given, _)| given == name).map(|(_, count)| *count)
    };
    let vague: Facts = instance.values.keys().map(|&leaf| (leaf, follower.unknown(leaf))).collect();
    let exact: Facts = match instance.exists {
        true => instance.values.iter().map(|(&leaf, row)| (leaf, row.iter().map(|&at| (at, at)).collect())).collect(),
        false => follower.newborn(vague.clone(), arguments),
    };
    let mut last = None;
    for (facts, intervals) in [(exact.clone(), true), (exact, false), (vague.clone(), true), (vague, false)] {
        follower.intervals = intervals;
        match follower.follow(facts, &limit) {
            Ok(events) => return Ok(events),
            Err(failed) => last = Some(failed),
        }
    }
    let (name, span) = last.unwrap_or_default();
    Err(unbounded(&name, span))
}
