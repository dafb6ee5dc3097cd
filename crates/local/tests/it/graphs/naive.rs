//! The rules of LS3 word by word, on `model::eval`: what the graphs of the engine are compared with.
//!
//! In: a Model without loops, and [`Rules`]. Out: the local states of each process. Nothing is packed, indexed or incremental: all rules
//! are applied to all facts until nothing is new. Two wrong sets of rules are kept as doubles that random systems must
//! refute: the one that the paper prints, and one that drops external transitions that change nothing.

use std::collections::{BTreeMap, BTreeSet};

use engine::graph::DrawnState;
use model::Model;
use model::eval::{self, Control, Counters, Frame, Move, State};
use model::footprint::{footprint, footprints};
use model::process::ProcessId;
use model::value::Value;
use model::variable::{CellId, Storage};

/// Which rules are applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// LS3, repaired.
    Sound,
    /// As printed: an action of a third process that only one of the two sees is forgotten.
    Printed,
    /// External transitions that change nothing are not kept.
    WithoutSelfLoops,
}

/// One thing that a process sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Cell(CellId),
    Control(ProcessId),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Content {
    Value(Value),
    Frames(Vec<Frame>),
}

/// What a process sees.
type Local = BTreeMap<Part, Content>;

type Pair = (Local, Local);

struct System<'m> {
    model: &'m Model,
    views: Vec<BTreeSet<Part>>,
    start: State,
}

/// The local states of each process, with names.
pub fn local_states(model: &Model, rules: Rules) -> Vec<BTreeSet<DrawnState>> {
    let system = System::new(model);
    let graphs = Search::new(&system, rules).run();
    let ids = model.processes.ids();
    ids.zip(graphs).map(|(process, states)| states.iter().map(|state| system.drawn(process, state)).collect()).collect()
}

impl<'m> System<'m> {
    fn new(model: &'m Model) -> Self {
        let visible =
            |cell: &CellId| matches!(model.vars[model.cells[*cell].var].storage, Storage::Shared | Storage::Public(_));
        let view = |process: ProcessId| {
            let mut parts = BTreeSet::from([Part::Control(process)]);
            parts.extend(model.cells.ids().filter(|&cell| model.cells[cell].owner == Some(process)).map(Part::Cell));
            for found in footprints(model, process) {
                parts.extend(found.cells().into_iter().filter(visible).map(Part::Cell));
                parts.extend(found.looks_at.into_iter().map(Part::Control));
            }
            parts
        };
        let views = model.processes.ids().map(view).collect();
        let start = eval::initial_states(model).next().expect("there is one");
        assert_eq!(eval::n_initial_states(model), 1, "DVE has one initial state");
        System { model, views, start }
    }

    fn project(&self, state: &State, process: usize) -> Local {
        let content = |&part: &Part| match part {
            Part::Cell(cell) => Content::Value(state.cells[cell.index()]),
            Part::Control(other) => Content::Frames(state.stacks[other.index()].clone()),
        };
        self.views[process].iter().map(|part| (*part, content(part))).collect()
    }

    fn filled(&self, locals: &[&Local]) -> State {
        let mut state = self.start.clone();
        for (part, content) in locals.iter().flat_map(|local| local.iter()) {
            match (part, content) {
                (Part::Cell(cell), Content::Value(value)) => state.cells[cell.index()] = *value,
                (Part::Control(other), Content::Frames(frames)) => state.stacks[other.index()] = frames.clone(),
                _ => unreachable!("parts have their own kind of content"),
            }
        }
        state
    }

    /// A process's own steps.
    fn own(&self, process: usize, local: &Local) -> Vec<(Move, Local)> {
        let steps = eval::steps_of(self.model, &self.filled(&[local]), ProcessId::new(process));
        let alone = steps.into_iter().filter(|step| step.by.partner.is_none());
        alone.filter_map(|step| Some((step.by, self.project(&step.result.ok()?, process)))).collect()
    }

    /// Steps that one process takes with another.
    fn together(&self, [sender, receiver]: [usize; 2], [one, other]: [&Local; 2]) -> Vec<(Move, State)> {
        let steps = eval::steps_of(self.model, &self.filled(&[one, other]), ProcessId::new(sender));
        let with = |by: &Move| by.partner.is_some_and(|(partner, _)| partner.index() == receiver);
        let met = steps.into_iter().filter(|step| with(&step.by));
        met.filter_map(|step| Some((step.by, step.result.ok()?))).collect()
    }

    fn writes(&self, by: &Move) -> BTreeSet<Part> {
        let of = |process, action| {
            let writes = footprint(self.model, process, action, &Counters::new()).writes;
            writes.into_iter().map(Part::Cell).chain([Part::Control(process)])
        };
        of(by.process, by.action)
            .chain(by.partner.into_iter().flat_map(|(process, action)| of(process, action)))
            .collect()
    }

    fn is_external(&self, process: usize, by: &Move) -> bool {
        !takes_part(process, by) && !self.writes(by).is_disjoint(&self.views[process])
    }

    fn common(&self, one: usize, other: usize) -> BTreeSet<Part> {
        self.views[one].intersection(&self.views[other]).copied().collect()
    }

    fn drawn(&self, process: ProcessId, local: &Local) -> DrawnState {
        let place = |frames: &[Frame]| match frames.last().expect("the bottom frame").control {
            Control::At(place) => self.model.places[place].name.clone(),
            Control::Calling(_) => unreachable!("no procedures"),
        };
        let mut drawn = DrawnState { place: String::new(), cells: Vec::new() };
        let mut watched = Vec::new();
        for (part, content) in local {
            match (part, content) {
                (Part::Cell(cell), Content::Value(value)) => {
                    let name = self.model.cells[*cell].name.clone();
                    drawn.cells.push((name, model::print::value(self.model, *value)));
                }
                (Part::Control(other), Content::Frames(frames)) if *other == process => drawn.place = place(frames),
                (Part::Control(other), Content::Frames(frames)) => {
                    watched.push((format!("{}@", self.model.processes[*other].name), place(frames)));
                }
                _ => unreachable!("parts have their own kind of content"),
            }
        }
        drawn.cells.extend(watched);
        drawn
    }
}

fn takes_part(process: usize, by: &Move) -> bool {
    by.process.index() == process || by.partner.is_some_and(|(partner, _)| partner.index() == process)
}

/// A local state with some parts taken over from another.
fn overlay(local: &Local, from: &Local, parts: &BTreeSet<Part>) -> Local {
    let mut after = local.clone();
    after.extend(from.iter().filter(|(part, _)| parts.contains(part)).map(|(part, content)| (*part, content.clone())));
    after
}

fn agree(one: &Local, other: &Local) -> bool {
    one.iter().all(|(part, content)| other.get(part).is_none_or(|theirs| theirs == content))
}

/// A meeting as one process keeps it: from where, by what, where to, and the partner before and after.
type Meeting = (Local, Move, Local, usize, Local, Local);

struct Search<'s> {
    system: &'s System<'s>,
    rules: Rules,
    states: Vec<BTreeSet<Local>>,
    external: Vec<BTreeSet<(Local, Move, Local)>>,
    meetings: Vec<Vec<Meeting>>,
    joint: BTreeMap<(usize, usize), BTreeSet<Pair>>,
}

impl<'s> Search<'s> {
    fn new(system: &'s System<'s>, rules: Rules) -> Self {
        let n_processes = system.views.len();
        let initial: Vec<Local> = (0..n_processes).map(|at| system.project(&system.start, at)).collect();
        let meets = |one: usize, other: usize| {
            let of = |at: usize| system.model.processes[ProcessId::new(at)].family;
            let sides = |at: usize, sends: bool| {
                let actions = system.model.actions.iter();
                let own = actions.filter(move |action| action.scope == model::control::TextOwner::Family(of(at)));
                own.filter_map(move |action| action.sync.as_ref())
                    .filter(move |sync| matches!(sync.side, model::control::SyncSide::Send(_)) == sends)
                    .map(|sync| sync.channel)
                    .collect::<Vec<_>>()
            };
            let met = |from, to| sides(from, true).iter().any(|channel| sides(to, false).contains(channel));
            met(one, other) || met(other, one)
        };
        let mut joint = BTreeMap::new();
        for one in 0..n_processes {
            for other in one + 1..n_processes {
                if !system.common(one, other).is_empty() || meets(one, other) {
                    joint.insert((one, other), BTreeSet::from([(initial[one].clone(), initial[other].clone())]));
                }
            }
        }
        let states = initial.into_iter().map(|local| BTreeSet::from([local])).collect();
        let external = vec![BTreeSet::new(); n_processes];
        Search { system, rules, states, external, meetings: vec![Vec::new(); n_processes], joint }
    }

    fn run(mut self) -> Vec<BTreeSet<Local>> {
        loop {
            let before = self.size();
            for process in 0..self.states.len() {
                for local in self.states[process].clone() {
                    let own = self.system.own(process, &local);
                    self.states[process].extend(own.into_iter().map(|(_, next)| next));
                }
            }
            for pair in self.joint.keys().copied().collect::<Vec<_>>() {
                self.pair(pair);
            }
            if self.size() == before {
                return self.states;
            }
        }
    }

    fn size(&self) -> usize {
        let states: usize = self.states.iter().map(BTreeSet::len).sum();
        let edges: usize = self.external.iter().map(BTreeSet::len).sum();
        let meetings: usize = self.meetings.iter().map(Vec::len).sum();
        states + edges + meetings + self.joint.values().map(BTreeSet::len).sum::<usize>()
    }

    fn add_edge(&mut self, process: usize, from: &Local, by: &Move, to: &Local) {
        self.states[process].insert(to.clone());
        if self.rules != Rules::WithoutSelfLoops || from != to {
            self.external[process].insert((from.clone(), by.clone(), to.clone()));
        }
    }

    fn add_meeting(&mut self, process: usize, meeting: Meeting) {
        if !self.meetings[process].contains(&meeting) {
            self.meetings[process].push(meeting);
        }
    }

    fn pair(&mut self, (one, other): (usize, usize)) {
        for (ours, theirs) in self.joint[&(one, other)].clone() {
            let mut found: Vec<Pair> = Vec::new();
            for (me, you, mine, yours) in [(one, other, &ours, &theirs), (other, one, &theirs, &ours)] {
                for (next, partner) in self.moves([me, you], mine, yours) {
                    found.push(if me == one { (next, partner) } else { (partner, next) });
                }
            }
            self.joint.get_mut(&(one, other)).expect("it is there").extend(found);
        }
    }

    /// What becomes of two local states by what the first one's graph shows.
    fn moves(&mut self, [me, you]: [usize; 2], mine: &Local, yours: &Local) -> Vec<Pair> {
        let system = self.system;
        let common = system.common(me, you);
        let mut found = Vec::new();
        for (by, next) in system.own(me, mine) {
            if system.is_external(you, &by) {
                let after = overlay(yours, &next, &common);
                self.add_edge(you, yours, &by, &after);
                found.push((next, after));
            } else {
                found.push((next, yours.clone()));
            }
        }
        for (by, state) in system.together([me, you], [mine, yours]) {
            let (next, after) = (system.project(&state, me), system.project(&state, you));
            self.states[me].insert(next.clone());
            self.states[you].insert(after.clone());
            self.external[me].insert((mine.clone(), by.clone(), next.clone()));
            self.external[you].insert((yours.clone(), by.clone(), after.clone()));
            self.add_meeting(me, (mine.clone(), by.clone(), next.clone(), you, yours.clone(), after.clone()));
            self.add_meeting(you, (yours.clone(), by.clone(), after.clone(), me, mine.clone(), next.clone()));
            found.push((next, after));
        }
        for (from, by, next, third, before, after) in self.meetings[me].clone() {
            if from != *mine || third == you || !agree(&before, yours) {
                continue;
            }
            if system.is_external(you, &by) {
                let to = overlay(&overlay(yours, &next, &common), &after, &system.common(third, you));
                self.add_edge(you, yours, &by, &to);
                found.push((next, to));
            } else {
                found.push((next, yours.clone()));
            }
        }
        for (from, by, next) in self.external[me].clone() {
            if from != *mine || takes_part(me, &by) || takes_part(you, &by) {
                continue;
            }
            if !system.is_external(you, &by) {
                if self.rules != Rules::Printed {
                    found.push((next, yours.clone()));
                }
                continue;
            }
            for (their_from, their_by, their_next) in &self.external[you] {
                if their_from == yours && *their_by == by && agree(&next, their_next) {
                    found.push((next.clone(), their_next.clone()));
                }
            }
        }
        found
    }
}
