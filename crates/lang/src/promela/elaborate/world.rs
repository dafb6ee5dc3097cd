//! What exists at the start: values of variables, channels, processes.
//!
//! In: the program and its graphs. Out: a [`World`], computed by running declarations, and the `atomic` of `run`s with which `init` begins,
//! before anything else can move. It is computed on numbers, by direct interpretation.

use std::collections::HashMap;

use base::Span;

use super::super::ast::{Basic, Query};
use super::super::graph::{Does, Edge, Graph, NodeId};
use super::super::program::{Expr, ExprKind, LeafId, Op, Pattern, ProctypeId, Program, Ref, Start};
use super::super::values;

/// How many statements of `init` are run before the start.
const MAX_STEPS: usize = 20_000;
/// How many steps these may be.
const MAX_PASSED: usize = 100;

/// A channel; its number is its position plus one.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    pub name: String,
    pub capacity: usize,
    pub fields: Vec<Basic>,
    /// The messages at the start, first one first.
    pub contents: Vec<Vec<i64>>,
    /// The process that it dies with; `None` for a global one.
    pub owner: Option<Owner>,
    pub span: Span,
}

/// Whose a channel is. Processes of several proctypes that may have one pid share what they declare alike, as SPIN gives it the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub pid: i64,
    /// How many channels the process has declared before.
    pub n_before: usize,
}

/// A process, or the place for one that a `run` may start.
#[derive(Clone, Debug)]
pub(super) struct Instance {
    pub proctype: ProctypeId,
    pub pid: i64,
    /// Whether it exists at the start.
    pub exists: bool,
    /// What its variables start with, element by element.
    pub values: HashMap<LeafId, Vec<i64>>,
    /// Where it starts.
    pub place: NodeId,
}

/// What exists at the start.
#[derive(Clone, Debug, Default)]
pub(super) struct World {
    pub globals: HashMap<LeafId, Vec<i64>>,
    pub channels: Vec<Channel>,
    pub instances: Vec<Instance>,
    /// Whether what is sent to a full buffer is lost.
    pub is_lossy: bool,
    /// What came before: `init` has taken these steps already.
    pub passed: Vec<World>,
}

/// Something that cannot be computed before the start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unknown(pub Span);

type Known<T> = Result<T, Unknown>;

impl World {
    /// Variables, channels, `active` processes and `init`.
    pub fn new(program: &Program, graphs: &[Graph]) -> Known<World> {
        let mut world = World::default();
        for (leaf, declared) in program.leaves.iter().enumerate() {
            if declared.owner.is_none() {
                let eye = Eye { program, graphs, locals: &HashMap::new(), pid: 0 };
                let values = world.start_of(leaf, (eye, None))?;
                world.globals.insert(leaf, values);
            }
        }
        for (id, proctype) in program.proctypes.iter().enumerate() {
            for _ in 0..proctype.n_active {
                let arguments = vec![0; proctype.parameters.len()];
                world.create(program, graphs, id, &arguments)?;
            }
        }
        Ok(world)
    }

    /// Makes a process with the next pid.
    pub fn create(
        &mut self,
        program: &Program,
        graphs: &[Graph],
        proctype: ProctypeId,
        arguments: &[i64],
    ) -> Known<usize> {
        let pid = self.instances.len() as i64;
        let declared = &program.proctypes[proctype];
        let mut locals: HashMap<LeafId, Vec<i64>> = HashMap::new();
        for &leaf in &declared.leaves {
            let values = match declared.parameters.iter().position(|&parameter| parameter == leaf) {
                Some(position) => vec![values::cut(arguments[position], program.leaves[leaf].bounds())],
                None => {
                    let owner = format!("{}[{pid}]", declared.name);
                    self.start_of(leaf, (Eye { program, graphs, locals: &locals, pid }, Some(&owner)))?
                }
            };
            locals.insert(leaf, values);
        }
        let place = graphs[proctype].entry;
        self.instances.push(Instance { proctype, pid, exists: true, values: locals, place });
        Ok(self.instances.len() - 1)
    }

    fn start_of(&mut self, leaf: LeafId, (eye, owner): (Eye<'_>, Option<&str>)) -> Known<Vec<i64>> {
        let declared = &eye.program.leaves[leaf];
        let n_elements = declared.n_elements();
        let bounds = declared.bounds();
        Ok(match &declared.init {
            Start::Zero => vec![0; n_elements],
            Start::Value(value) => {
                let value = values::cut(self.value(value, eye)?, bounds);
                vec![value; n_elements]
            }
            Start::List(list) => {
                let mut found = Vec::new();
                for value in list.iter().take(n_elements) {
                    found.push(values::cut(self.value(value, eye)?, bounds));
                }
                found.resize(n_elements, 0);
                found
            }
            Start::Channel { capacity, fields } => {
                let first = self.channels.len() as i64 + 1;
                let name = owner.map_or_else(|| declared.name.clone(), |owner| format!("{owner}.{}", declared.name));
                let mine = |one: &&Channel| one.owner.is_some_and(|owner| owner.pid == eye.pid);
                let n_mine = self.channels.iter().filter(mine).count();
                for at in 0..n_elements {
                    let name = if declared.dims.is_empty() { name.clone() } else { format!("{name}[{at}]") };
                    let (capacity, fields, span) = (*capacity, fields.clone(), declared.span);
                    let owner = owner.map(|_| Owner { pid: eye.pid, n_before: n_mine + at });
                    self.channels.push(Channel { name, capacity, fields, contents: Vec::new(), owner, span });
                }
                (first..first + n_elements as i64).collect()
            }
        })
    }

    /// The number of a channel of a process that a `run` may start: that of the same one of another process that may have the pid, if there is one.
    pub fn own_channel(&mut self, wanted: Channel) -> i64 {
        let is_same = |known: &Channel| {
            (known.owner, known.capacity, &known.fields) == (wanted.owner, wanted.capacity, &wanted.fields)
        };
        let at = self.channels.iter().position(is_same).unwrap_or(self.channels.len());
        match self.channels.get_mut(at) {
            Some(known) => known.name = format!("{}, {}", known.name, wanted.name),
            None => self.channels.push(wanted),
        }
        at as i64 + 1
    }

    /// The value of an expression.
    pub fn value(&self, expr: &Expr, eye: Eye<'_>) -> Known<i64> {
        let unknown = Unknown(expr.span);
        Ok(match &expr.kind {
            ExprKind::Const(value) => *value,
            ExprKind::Read(one) => self.read(one, eye)?,
            ExprKind::Not(inner) => i64::from(self.value(inner, eye)? == 0),
            ExprKind::Negate(inner) => values::wrap(-self.value(inner, eye)?),
            ExprKind::Complement(inner) => !self.value(inner, eye)?,
            ExprKind::Binary(op, left, right) => {
                let left = self.value(left, eye)?;
                match op {
                    super::super::ast::BinaryOp::And if left == 0 => 0,
                    super::super::ast::BinaryOp::Or if left != 0 => 1,
                    _ => values::apply(*op, left, self.value(right, eye)?).ok_or(unknown)?,
                }
            }
            ExprKind::If(test, yes, no) => {
                let chosen = if self.value(test, eye)? != 0 { yes } else { no };
                self.value(chosen, eye)?
            }
            ExprKind::Pid => eye.pid,
            ExprKind::NrPr => self.instances.len() as i64,
            ExprKind::Query(query, channel) => {
                let channel = &self.channels[self.channel(channel, eye)?];
                let (len, capacity) = (channel.contents.len(), channel.capacity);
                match query {
                    Query::Len => len as i64,
                    Query::Full => i64::from(len == capacity && capacity > 0),
                    Query::Empty => i64::from(len == 0),
                    Query::NotFull => i64::from(len < capacity || capacity == 0),
                    Query::NotEmpty => i64::from(len > 0),
                }
            }
            ExprKind::Poll { channel, is_random, patterns } => {
                let contents = &self.channels[self.channel(channel, eye)?].contents;
                let looked_at = if *is_random { contents.len() } else { 1 };
                let mut found = false;
                for message in contents.iter().take(looked_at) {
                    found |= self.matches(message, patterns, eye)?;
                }
                i64::from(found)
            }
            ExprKind::At { proctype, pid, label } => {
                let pid = pid.as_ref().map(|pid| self.value(pid, eye)).transpose()?;
                let is_meant = |one: &&Instance| one.proctype == *proctype && pid.is_none_or(|pid| one.pid == pid);
                // Without a pid the first process of the proctype is meant, as in SPIN; nobody is nowhere.
                let meant = self.instances.iter().find(is_meant);
                i64::from(meant.is_some_and(|one| eye.graphs[*proctype].labels.get(label) == Some(&one.place)))
            }
            _ => return Err(unknown),
        })
    }

    fn matches(&self, message: &[i64], patterns: &[Pattern], eye: Eye<'_>) -> Known<bool> {
        for (field, pattern) in message.iter().zip(patterns) {
            if let Pattern::Match(expr) = pattern
                && self.value(expr, eye)? != *field
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub fn channel(&self, one: &Ref, eye: Eye<'_>) -> Known<usize> {
        let number = self.read(one, eye)?;
        usize::try_from(number - 1).ok().filter(|&at| at < self.channels.len()).ok_or(Unknown(one.span))
    }

    fn read(&self, one: &Ref, eye: Eye<'_>) -> Known<i64> {
        let at = self.position(one, eye)?;
        let row = match eye.program.leaves[one.leaf].owner {
            None => self.globals.get(&one.leaf),
            Some(_) => eye.locals.get(&one.leaf),
        };
        row.and_then(|row| row.get(at)).copied().ok_or(Unknown(one.span))
    }

    /// The position of an element in the row of its leaf.
    fn position(&self, one: &Ref, eye: Eye<'_>) -> Known<usize> {
        let mut at = 0;
        for (index, &len) in one.indices.iter().zip(&eye.program.leaves[one.leaf].dims) {
            let index = self.value(index, eye)?;
            let index = usize::try_from(index).ok().filter(|&index| index < len).ok_or(Unknown(one.span))?;
            at = at * len + index;
        }
        Ok(at)
    }

    /// Runs `init` while it is alone and has no choice, up to the end of the step in which it starts others. What exists afterwards, if that
    /// can be computed.
    pub fn after_init(&self, program: &Program, graphs: &[Graph]) -> Option<World> {
        let [init] = &self.instances[..] else { return None };
        if !program.proctypes[init.proctype].is_init {
            return None;
        }
        let graph = &graphs[init.proctype];
        let mut world = World { passed: vec![self.clone()], ..self.clone() };
        let mut has_run = false;
        for _ in 0..MAX_STEPS {
            let Some(edge) = world.only_edge(program, graphs, graph).ok()? else {
                // It waits within its block: others move.
                return has_run.then_some(world);
            };
            has_run |= matches!(edge.does, Does::Op(Op::Run { .. }));
            world.perform(program, graphs, edge).ok()?;
            world.instances[0].place = edge.target;
            if graph.goes_on(edge) {
                continue;
            }
            if has_run {
                return Some(world);
            }
            if world.passed.len() >= MAX_PASSED {
                return None;
            }
            let here = World { passed: Vec::new(), ..world.clone() };
            world.passed.push(here);
        }
        None
    }

    /// The one edge that `init` can take, if it can take one.
    fn only_edge<'g>(&self, program: &Program, graphs: &[Graph], graph: &'g Graph) -> Known<Option<&'g Edge>> {
        let init = &self.instances[0];
        let eye = Eye { program, graphs, locals: &init.values, pid: init.pid };
        let node = &graph.nodes[init.place];
        let mut found: Option<&Edge> = None;
        for edge in &node.edges {
            let unknown = Unknown(edge.span);
            let is_executable = match &edge.does {
                _ if !edge.escapes.is_empty() || edge.d_step.is_some() => return Err(unknown),
                Does::Op(Op::Guard(expr)) => self.value(expr, eye)? != 0,
                Does::Op(Op::Send { channel, is_sorted: false, .. }) => {
                    let channel = &self.channels[self.channel(channel, eye)?];
                    let is_full = channel.contents.len() >= channel.capacity;
                    if channel.capacity == 0 || is_full && self.is_lossy {
                        return Err(unknown);
                    }
                    !is_full
                }
                Does::Op(Op::Send { .. } | Op::Receive { .. }) => return Err(unknown),
                Does::Op(_) => true,
                Does::Else(of) if *of == init.place => found.is_none(),
                Does::Else(_) => return Err(unknown),
            };
            if is_executable && found.replace(edge).is_some() {
                return Err(unknown);
            }
        }
        Ok(found)
    }

    fn perform(&mut self, program: &Program, graphs: &[Graph], edge: &Edge) -> Known<()> {
        let Does::Op(op) = &edge.does else { return Ok(()) };
        let locals = self.instances[0].values.clone();
        let eye = Eye { program, graphs, locals: &locals, pid: self.instances[0].pid };
        match op {
            Op::Skip | Op::Print | Op::Guard(_) => {}
            Op::Assert(expr) => {
                if self.value(expr, eye)? == 0 {
                    return Err(Unknown(expr.span));
                }
            }
            Op::Assign(pairs) => {
                for (target, value) in pairs {
                    let value = self.value(value, eye)?;
                    self.store(target, value, eye)?;
                }
            }
            Op::Run { proctype, arguments, result, .. } => {
                let values = arguments.iter().map(|argument| self.value(argument, eye)).collect::<Known<Vec<_>>>()?;
                let created = self.create(program, graphs, *proctype, &values)?;
                if let Some(result) = result {
                    let value = self.value(&result.value.with_started(created as i64), eye)?;
                    self.store(&result.target, value, eye)?;
                }
            }
            Op::Send { channel, values, .. } => {
                let at = self.channel(channel, eye)?;
                let values = values.iter().map(|value| self.value(value, eye)).collect::<Known<Vec<_>>>()?;
                let fields = self.channels[at].fields.clone();
                if fields.len() != values.len() {
                    return Err(Unknown(edge.span));
                }
                let values = values.into_iter().chain(std::iter::repeat(0));
                let cut =
                    |(at, value): (usize, i64)| values::cut(value, super::super::program::field_bounds(&fields, at));
                self.channels[at].contents.push(values.take(fields.len()).enumerate().map(cut).collect());
            }
            Op::Receive { .. } | Op::SetPriority { .. } | Op::Event { .. } => return Err(Unknown(edge.span)),
        }
        Ok(())
    }

    fn store(&mut self, target: &Ref, value: i64, eye: Eye<'_>) -> Known<()> {
        let at = self.position(target, eye)?;
        let declared = &eye.program.leaves[target.leaf];
        let value = values::cut(value, declared.bounds());
        let row = match declared.owner {
            None => self.globals.get_mut(&target.leaf),
            Some(_) => self.instances[0].values.get_mut(&target.leaf),
        };
        *row.and_then(|row| row.get_mut(at)).ok_or(Unknown(target.span))? = value;
        Ok(())
    }
}

/// From where an expression is looked at.
#[derive(Clone, Copy)]
pub(super) struct Eye<'w> {
    pub program: &'w Program,
    pub graphs: &'w [Graph],
    /// The variables of the process.
    pub locals: &'w HashMap<LeafId, Vec<i64>>,
    pub pid: i64,
}
