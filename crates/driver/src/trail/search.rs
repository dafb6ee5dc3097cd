//! The search for the run that a printed trail describes.
//!
//! In: the printed steps, and a Model in which every statement is an action of its own. Out: the run. The search goes link by link: within a step that
//! goes on, only the process that has control moves, and each of its actions is compared with the next line at once, so that a loop within an
//! `atomic` is no more than its lines. A line names a process by pid and proctype, a line of the text and a statement; the process must be the same,
//! the others, whose spelling differs, decide between several actions. The search goes on where little differs and few lines are missing, and
//! may go back.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::rc::Rc;

use base::SourceFile;
use evidence::{Trace, TraceEnd};
use model::Model;
use model::control::{Action, ActionId};
use model::eval::{self, Link, Move, State, Step, StepFault};
use model::process::ProcessId;
use model::property::PropertyKind;
use model::value::Value;
use model::variable::{Cell, CellId};

use super::TrailError;
use super::printed::{Printed, SaidEnd, Trail, bare, is_jump};

/// More states than this, and so many for each line, are not tried.
const MOST_TRIED: usize = 200_000;
const MOST_TRIED_PER_LINE: usize = 4;
/// How many states are tried for another end, once there is a run that has all lines.
const MOST_FURTHER: usize = 5_000;
/// How many lines further on a difference of one is worth: what went wrong is looked for nearby first.
const LINES_FOR_ONE: usize = 10;
/// How much more another run may differ from the lines than the first one that has all of them.
const MOST_DIFFERENT: usize = 5;
/// What a step costs of which no line is there, or a line that is no step.
const UNPRINTED: usize = 2;
/// What the text is of a step that no statement stands for.
const SILENT: &str = "end of block";

/// What is followed, and in what.
pub(super) struct Following<'m> {
    pub model: &'m Model,
    pub source: &'m SourceFile,
    /// The lines, with the cycle as often as it is to be followed.
    pub steps: &'m [Printed],
    pub trail: &'m Trail,
    /// How many lines a round of the cycle has.
    pub round: usize,
}

/// What differences between a line and a statement cost.
#[derive(Clone, Copy)]
struct Costs {
    other_line: usize,
    other_text: usize,
}

impl Costs {
    /// `pan -r` gives the line of what statements are taken together with, `spin` that of the statement, whose macros it has expanded.
    fn of(trail: &Trail) -> Self {
        match trail.merges {
            true => Costs { other_line: 1, other_text: 4 },
            false => Costs { other_line: 4, other_text: 2 },
        }
    }
}

/// A state on the way.
struct TrailNode {
    state: Rc<State>,
    /// Who goes on in the same step.
    holder: Option<ProcessId>,
    /// What led to it, and where from.
    by: Option<Link>,
    parent: Option<usize>,
    /// How many lines were followed.
    position: usize,
    cost: usize,
    /// Of which process the last line was.
    last: Option<ProcessId>,
}

/// What can be done next, and what it costs.
struct Way {
    taken: Taken,
    /// How many lines it is.
    length: usize,
    cost: usize,
}

enum Taken {
    /// A line that is no step here.
    Line,
    Link(Link, Result<State, StepFault>),
}

pub(super) struct TrailSearch<'m> {
    following: Following<'m>,
    costs: Costs,
    /// The Model with every link a step of its own.
    single: Model,
    nodes: Vec<TrailNode>,
    /// The best first.
    open: BinaryHeap<(Reverse<usize>, usize, usize)>,
    furthest: usize,
}

impl<'m> TrailSearch<'m> {
    pub fn new(following: Following<'m>) -> Self {
        let mut single = following.model.clone();
        single.actions.iter_mut().for_each(|action| action.goes_on = false);
        let costs = Costs::of(following.trail);
        TrailSearch { following, costs, single, nodes: Vec::new(), open: BinaryHeap::new(), furthest: 0 }
    }

    /// The run; it ends as the text says where a run does.
    pub fn run(mut self) -> Result<Trace, TrailError> {
        for state in eval::initial_states(self.following.model) {
            let state = Rc::new(state);
            self.push(TrailNode { state, holder: None, by: None, parent: None, position: 0, cost: 0, last: None });
        }
        let n_lines = self.following.steps.len();
        let most = MOST_TRIED + MOST_TRIED_PER_LINE * n_lines;
        let mut seen: HashSet<(usize, Option<ProcessId>, Rc<State>)> = HashSet::new();
        // The first run that has all lines, where none ends as the text says.
        let (mut complete, mut n_further) = (None, 0);
        let (mut failing, mut most_cost) = (None, usize::MAX);
        while let Some((_, _, at)) = self.open.pop() {
            let TrailNode { position, holder, cost, .. } = self.nodes[at];
            if !seen.insert((position, holder, Rc::clone(&self.nodes[at].state))) {
                continue;
            }
            if self.nodes.len() > most {
                break;
            }
            // Nor is another run looked for that differs much more than one that has all lines.
            if cost > most_cost {
                continue;
            }
            if position == n_lines && holder.is_none() {
                if let Some(end) = self.ended(at) {
                    return Ok(end);
                }
                complete = complete.or(Some(at));
                most_cost = most_cost.min(cost + MOST_DIFFERENT);
            }
            if complete.is_some() || failing.is_some() {
                n_further += 1;
                if n_further > MOST_FURTHER {
                    break;
                }
            }
            let mut ways = self.ways(at);
            // What every way costs decides nothing.
            let least = ways.iter().map(|way| way.cost).min().unwrap_or(0);
            for Way { taken, length, cost: more } in ways.drain(..) {
                let (position, cost) = (position + length, cost + more - least);
                match taken {
                    Taken::Line => {
                        let (state, last) = (Rc::clone(&self.nodes[at].state), self.nodes[at].last);
                        self.push(TrailNode { state, holder, by: None, parent: Some(at), position, cost, last });
                    }
                    Taken::Link(by, Err(fault)) => {
                        let may_fail = !matches!(self.following.trail.says, Some(SaidEnd::EndState));
                        if position == n_lines && may_fail {
                            let found = self.trace(at, Some((by, fault)));
                            if self.has_globals(at) {
                                return Ok(found);
                            }
                            failing = failing.or(Some(found));
                        }
                    }
                    Taken::Link(by, Ok(next)) => {
                        let holder = by.leaves_turn_to(self.following.model);
                        let holder = holder.filter(|&holder| !self.plain_steps(&next, holder).is_empty());
                        let last = Some(by.partner.map_or(by.process, |(partner, _)| partner));
                        let state = Rc::new(next);
                        self.push(TrailNode { state, holder, by: Some(by), parent: Some(at), position, cost, last });
                    }
                }
            }
        }
        if let Some(found) = failing {
            return Ok(found);
        }
        if let Some(at) = complete {
            return Ok(self.trace(at, None));
        }
        if self.nodes.len() > most {
            return Err(TrailError::TooMany(most));
        }
        match self.following.steps.get(self.furthest).or(self.following.steps.last()) {
            Some(step) => Err(TrailError::Refused(Box::new(step.clone()))),
            None => Err(TrailError::Empty),
        }
    }

    fn push(&mut self, node: TrailNode) {
        self.furthest = self.furthest.max(node.position);
        let missing = self.following.steps.len() - node.position.min(self.following.steps.len());
        // Of equal ones the latest first: the search goes on where it is.
        self.open.push((Reverse(node.cost * LINES_FOR_ONE + missing), node.position, self.nodes.len()));
        self.nodes.push(node);
    }

    /// The steps of one link of a process that need not wait for all others.
    fn plain_steps(&self, state: &State, process: ProcessId) -> Vec<Step> {
        let steps = eval::steps_of(&self.single, state, process).into_iter();
        steps.filter(|step| !step.by.first().is_when_nobody(&self.single)).collect()
    }

    /// What can be done next.
    fn ways(&self, at: usize) -> Vec<Way> {
        let node = &self.nodes[at];
        let printed = self.following.steps.get(node.position);
        let mut ways = Vec::new();
        for process in self.following.model.processes.ids() {
            let goes_on = node.holder == Some(process);
            let is_meant = printed.is_some_and(|printed| self.is_of(process, printed));
            let may_be_unprinted = is_meant || node.last == Some(process) || goes_on;
            if node.holder.is_some_and(|holder| holder != process)
                || !(is_meant || may_be_unprinted || printed.is_none())
            {
                continue;
            }
            let steps = match goes_on {
                true => self.plain_steps(&node.state, process),
                false => eval::steps_of(&self.single, &node.state, process),
            };
            for step in steps {
                let link = step.by.first();
                if let Some(cost) = self.unprinted(node, (link, process), &step) {
                    let taken = Taken::Link(link, step.result.clone());
                    ways.push(Way { taken, length: 0, cost });
                }
                if let Some((length, cost)) = self.matched(link, node.position).filter(|(length, _)| *length > 0) {
                    ways.push(Way { taken: Taken::Link(link, step.result), length, cost });
                }
            }
        }
        if printed.is_some_and(|printed| printed.is_jump() || (printed.statement == "(1)" && !printed.ends())) {
            ways.push(Way { taken: Taken::Line, length: 1, cost: 2 * UNPRINTED });
        }
        ways
    }

    /// What a step costs of which no line is there; none where there should be one.
    fn unprinted(&self, node: &TrailNode, (link, process): (Link, ProcessId), step: &Step) -> Option<usize> {
        let text = self.text(link.action);
        if text == SILENT || is_jump(text) {
            return Some(UNPRINTED);
        }
        let is_at_end = node.position == self.following.steps.len();
        let goes_on = node.holder == Some(process);
        let last = node.position.checked_sub(1).map(|before| &self.following.steps[before]);
        if is_at_end && step.result.is_err() {
            // `pan -r` does not print the step that fails, and `spin` says nothing of a `d_step` that blocks.
            let is_unsaid = self.following.trail.says.is_none() && goes_on;
            return if is_unsaid { Some(0) } else { self.failure_cost(text) };
        }
        if goes_on && (last.is_some_and(Printed::is_d_step) || is_at_end) {
            return Some(usize::from(!last.is_some_and(Printed::is_d_step)));
        }
        // What is taken together with the statement before can always be taken.
        let action: &Action = &self.single.actions[link.action];
        let is_free = action.guard.is_none() && link.partner.is_none() && text != "-end-";
        let is_after = node.last == Some(process) && node.position > 0;
        // Nor does it print the statements that are taken together with the one that fails.
        let may_fail = is_at_end && matches!(self.following.trail.says, Some(SaidEnd::Error(_)));
        (self.following.trail.merges && ((is_free && is_after) || may_fail)).then_some(UNPRINTED)
    }

    /// What an error costs at the end of the lines; none where the text does not say that the run ends in one.
    fn failure_cost(&self, text: &str) -> Option<usize> {
        let Some(SaidEnd::Error(what)) = &self.following.trail.says else { return None };
        let is_other = match what.strip_prefix("assertion violated") {
            Some(condition) => text.strip_prefix("assert").is_none_or(|mine| bare(mine) != bare(condition)),
            None => false,
        };
        Some(usize::from(is_other) * self.costs.other_text)
    }

    /// How many lines a link is, and what differs; none where it is of other processes.
    fn matched(&self, link: Link, position: usize) -> Option<(usize, usize)> {
        let (mut length, mut cost) = (0, 0);
        for (process, action) in std::iter::once((link.process, link.action)).chain(link.partner) {
            // A process that is started does nothing that is printed.
            if self.text(action).starts_with("start ") {
                continue;
            }
            let Some(printed) = self.following.steps.get(position + length) else { break };
            cost += self.differs(printed, process, action)?;
            length += 1;
        }
        Some((length, cost))
    }

    fn text(&self, action: ActionId) -> &str {
        &self.single.statements[self.single.actions[action].statement].text
    }

    /// Whether a line may be of a process.
    fn is_of(&self, process: ProcessId, printed: &Printed) -> bool {
        let (proctype, pid) = name_and_pid(&self.single.processes[process].name);
        let is_it = printed.ends() || printed.proctype.as_deref().is_none_or(|one| one == proctype);
        is_it && pid.is_none_or(|pid| pid == printed.pid)
    }

    /// What differs between a line and an action of a process; none where it cannot be of it.
    fn differs(&self, printed: &Printed, process: ProcessId, action: ActionId) -> Option<usize> {
        if !self.is_of(process, printed) {
            return None;
        }
        let text = self.text(action);
        let ends = text == "-end-";
        if ends || printed.ends() {
            let (proctype, _) = name_and_pid(&self.single.processes[process].name);
            let is_other = printed.proctype.as_deref().is_some_and(|one| one != proctype);
            return (ends && printed.ends()).then_some(usize::from(is_other));
        }
        if is_jump(text) && printed.is_jump() {
            return Some(0);
        }
        // A jump is no other statement, nor is another statement a jump.
        if text == SILENT || printed.is_jump() {
            return printed.is_jump().then_some(UNPRINTED);
        }
        let span = self.single.statements[self.single.actions[action].statement].span;
        let name = self.following.source.name();
        let is_main = |file: &str| name.ends_with(file) || file.ends_with(name);
        let line = self.following.source.line_col(span.start).line;
        // A statement of an included file stands where this is included; `pan -r` prints its line there with the name of the program.
        let is_included = self.following.source.line(line).trim_start().starts_with('#');
        let is_line = |(file, number): &(String, u32)| is_included || !is_main(file) || *number == line;
        let other_line = !printed.line.as_ref().is_none_or(is_line);
        let other_text = !printed.is_d_step() && bare(text) != bare(&printed.statement);
        Some(usize::from(other_line) * self.costs.other_line + usize::from(other_text) * self.costs.other_text)
    }

    /// The run to here, if it ends as the text says.
    fn ended(&self, at: usize) -> Option<Trace> {
        let model = self.following.model;
        if self.following.trail.cycle.is_some() {
            // Another run with the same lines may be the one that is meant.
            return self.lasso(at).filter(|trace| !super::ending::decided(model, trace).is_empty());
        }
        if !self.has_globals(at) {
            return None;
        }
        match &self.following.trail.says {
            Some(SaidEnd::EndState) if !eval::is_deadlock(model, &self.nodes[at].state) => None,
            // A claim's error is seen by its state.
            Some(SaidEnd::Error(_)) if !self.is_refuted(at) => None,
            _ => Some(self.trace(at, None)),
        }
    }

    /// Whether global variables hold here what is printed at the end.
    fn has_globals(&self, at: usize) -> bool {
        let model = self.following.model;
        let globals = &self.following.trail.globals;
        let is_as_printed = |(name, value): &(String, String)| {
            let is_it = |cell: &&Cell| cell.owner.is_none() && cell.name == *name;
            let known = model.cells.iter().position(|cell| is_it(&cell));
            let is_told_once = globals.iter().filter(|(other, _)| other == name).count() == 1;
            let Some(position) = known.filter(|_| is_told_once) else { return true };
            match self.nodes[at].state.cells[position] {
                Value::Int(number) => {
                    let shown = &model.vars[model.cells[CellId::new(position)].var].shown;
                    number.to_string() == *value || shown.get(&number).is_some_and(|name| name == value)
                }
                _ => true,
            }
        };
        globals.iter().all(is_as_printed)
    }

    /// Whether an invariant is false here.
    fn is_refuted(&self, at: usize) -> bool {
        let model = self.following.model;
        let is_false = |kind: &PropertyKind| match kind {
            PropertyKind::Invariant(expr) => {
                eval::evaluate(model, &self.nodes[at].state, expr, None) == Ok(Value::Bool(false))
            }
            _ => false,
        };
        model.properties.iter().any(|property| is_false(&property.kind))
    }

    /// The run to here, where it has come back to a state in which an earlier round was over.
    fn lasso(&self, at: usize) -> Option<Trace> {
        let start = self.following.trail.cycle?;
        let end = self.nodes[at].position;
        if self.following.round == 0 {
            return self.standing_still(at);
        }
        let mut before = self.nodes[at].parent;
        while let Some(node) = before {
            let TrailNode { position, holder, state, parent, .. } = &self.nodes[node];
            if *position < start {
                return None;
            }
            if holder.is_none() && end - position >= self.following.round && *state == self.nodes[at].state {
                let (mut trace, from) = (self.trace(at, None), self.trace(node, None).n_steps());
                if from == trace.n_steps() {
                    return self.standing_still(at);
                }
                (trace.end, trace.loop_from) = (TraceEnd::Loop, Some(from));
                return Some(trace);
            }
            before = *parent;
        }
        None
    }

    /// The run to here, where nobody can move: the last state stays for ever.
    fn standing_still(&self, at: usize) -> Option<Trace> {
        super::ending::for_ever(self.following.model, self.trace(at, None), (0, 0))
    }

    /// The run to a node; one within a step is left at the step before.
    fn trace(&self, last: usize, fault: Option<(Link, StepFault)>) -> Trace {
        let mut path = Vec::new();
        let mut at = Some(last);
        while let Some(node) = at {
            path.push(node);
            at = self.nodes[node].parent;
        }
        path.reverse();
        let mut states = vec![(*self.nodes[path[0]].state).clone()];
        let (mut steps, mut links): (Vec<Move>, Vec<Link>) = (Vec::new(), Vec::new());
        for &node in &path {
            let TrailNode { by, holder, state, .. } = &self.nodes[node];
            links.extend(by);
            if holder.is_none()
                && let Some(by) = joined(&mut links)
            {
                steps.push(by);
                states.push((**state).clone());
            }
        }
        let end = match fault {
            Some((link, fault)) => {
                links.push(link);
                joined(&mut links).map_or(TraceEnd::State, |by| TraceEnd::Fault { by, fault })
            }
            None if states.last().is_some_and(|state| eval::is_deadlock(self.following.model, state)) => {
                TraceEnd::Deadlock
            }
            None => TraceEnd::State,
        };
        Trace::finite(states, steps, end)
    }
}

/// Links as one step.
fn joined(links: &mut Vec<Link>) -> Option<Move> {
    let mut links = links.drain(..);
    let first = links.next()?;
    Some(Move { then: links.collect(), ..first.into() })
}

/// The proctype of a process, and its pid where it is not the only one.
fn name_and_pid(name: &str) -> (&str, Option<i64>) {
    match name.strip_suffix(']').and_then(|name| name.rsplit_once('[')) {
        Some((proctype, pid)) => (proctype, pid.parse().ok()),
        None => (name, None),
    }
}
