//! Processes alike: families, the variables of theirs that are constants, and the channels that variables may hold.
//!
//! In: the world at the start and what is created later. Out: families of processes with one proctype, the same channels and consecutive pids;
//! for every variable that nothing changes its value; for every other variable of type `chan` the numbers of the channels that it may
//! hold, as the least solution of what assignments, messages and arguments pass on.

// A diagnostic ends the reading: how large it is does not matter.
#![allow(clippy::result_large_err)]

use std::collections::{BTreeSet, HashMap, HashSet};

use base::{Diagnostic, Span};

use super::super::ast::Basic;
use super::super::graph::{Does, Graph};
use super::super::program::{Expr, ExprKind, LeafId, Op, Pattern, ProctypeId, Program, Ref, Start};
use super::super::resolve::constant;
use super::creation::{Creation, Site};
use super::world::World;
use crate::codes::promela as code;

/// Processes with one text.
#[derive(Clone, Debug)]
pub(super) struct Family {
    pub proctype: ProctypeId,
    /// Positions in [`World::instances`], with consecutive pids.
    pub members: Vec<usize>,
    pub first_pid: i64,
    /// Whether the members exist at the start.
    pub exists: bool,
    /// The variables that have one value for all members, element by element.
    pub constants: HashMap<LeafId, Vec<i64>>,
    /// The variables that are the pid and a number more.
    pub offsets: HashMap<LeafId, i64>,
}

/// Variables that an edge changes.
pub(super) fn changed(graphs: &[Graph]) -> HashSet<LeafId> {
    let mut found = HashSet::new();
    for edge in graphs.iter().flat_map(|graph| &graph.nodes).flat_map(|node| &node.edges) {
        let Does::Op(op) = &edge.does else { continue };
        match op {
            Op::Assign(pairs) => found.extend(pairs.iter().map(|(target, _)| target.leaf)),
            Op::Run { result, .. } => found.extend(result.iter().map(|result| result.target.leaf)),
            Op::Receive { patterns, .. } => found.extend(patterns.iter().filter_map(|pattern| match pattern {
                Pattern::Store(target) => Some(target.leaf),
                _ => None,
            })),
            _ => {}
        }
    }
    found
}

/// Groups the processes.
pub(super) fn families(
    program: &Program,
    world: &World,
    creation: &Creation,
    changed: &HashSet<LeafId>,
) -> Vec<Family> {
    let known: Vec<HashMap<LeafId, Vec<i64>>> =
        (0..world.instances.len()).map(|at| constants_of(program, world, creation, (at, changed))).collect();
    let mut order: Vec<usize> = (0..world.instances.len()).collect();
    order.sort_by_key(|&at| (world.instances[at].proctype, world.instances[at].pid));
    let channels = |at: usize| {
        let mut rows: Vec<(LeafId, Vec<i64>)> = known[at]
            .iter()
            .filter(|&(&leaf, _)| program.leaves[leaf].ty == Basic::Chan)
            .map(|(&leaf, row)| (leaf, row.clone()))
            .collect();
        rows.sort();
        rows
    };
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for at in order {
        let instance = &world.instances[at];
        let fits = |group: &&mut Vec<usize>| {
            let last = &world.instances[group[group.len() - 1]];
            let same = (last.proctype, last.exists, last.place) == (instance.proctype, instance.exists, instance.place);
            same && last.pid + 1 == instance.pid && channels(group[0]) == channels(at)
        };
        match groups.last_mut().filter(|group| fits(group)) {
            Some(group) => group.push(at),
            None => groups.push(vec![at]),
        }
    }
    groups.sort_by_key(|group| world.instances[group[0]].pid);
    groups.into_iter().map(|members| family(program, world, members, &known)).collect()
}

fn family(program: &Program, world: &World, members: Vec<usize>, known: &[HashMap<LeafId, Vec<i64>>]) -> Family {
    let first = &world.instances[members[0]];
    let mut family = Family {
        proctype: first.proctype,
        first_pid: first.pid,
        exists: first.exists,
        constants: HashMap::new(),
        offsets: HashMap::new(),
        members: members.clone(),
    };
    for &leaf in &program.proctypes[first.proctype].leaves {
        let Some(rows) = members.iter().map(|&at| known[at].get(&leaf)).collect::<Option<Vec<_>>>() else { continue };
        if rows.iter().all(|row| *row == rows[0]) {
            family.constants.insert(leaf, rows[0].clone());
            continue;
        }
        let offset = rows[0][0] - first.pid;
        let follows = |(&at, row): (&usize, &&Vec<i64>)| row.len() == 1 && row[0] - world.instances[at].pid == offset;
        if members.iter().zip(&rows).all(follows) {
            family.offsets.insert(leaf, offset);
        }
    }
    family
}

/// The variables of a process that nothing changes, with their values.
fn constants_of(
    program: &Program,
    world: &World,
    creation: &Creation,
    (at, changed): (usize, &HashSet<LeafId>),
) -> HashMap<LeafId, Vec<i64>> {
    let instance = &world.instances[at];
    let mut found = HashMap::new();
    let is_created = creation
        .pids
        .iter()
        .any(|(site, pids)| run_at(site, creation) == Some(instance.proctype) && pids.contains(&instance.pid));
    for (position, &leaf) in program.proctypes[instance.proctype].leaves.iter().enumerate() {
        let declared = &program.leaves[leaf];
        if changed.contains(&leaf) {
            continue;
        }
        let is_parameter = position < program.proctypes[instance.proctype].parameters.len();
        if !is_created {
            found.insert(leaf, instance.values[&leaf].clone());
        } else if is_parameter {
            let mut values: BTreeSet<Option<i64>> = BTreeSet::new();
            if instance.exists {
                values.insert(Some(instance.values[&leaf][0]));
            }
            for ((site, pid), arguments) in &creation.arguments {
                if *pid == instance.pid && run_at(site, creation) == Some(instance.proctype) {
                    values.extend(arguments[position].iter().copied());
                }
            }
            if let (1, Some(Some(value))) = (values.len(), values.first()) {
                found.insert(leaf, vec![super::super::values::cut(*value, declared.bounds())]);
            }
        } else {
            match &declared.init {
                Start::Zero => found.insert(leaf, vec![0; declared.n_elements()]),
                Start::Channel { .. } => found.insert(leaf, instance.values[&leaf].clone()),
                Start::Value(value) => {
                    constant(value).or_else(|| unchanging(value, world, changed)).and_then(|value| {
                        found.insert(
                            leaf,
                            vec![super::super::values::cut(value, declared.bounds()); declared.n_elements()],
                        )
                    })
                }
                Start::List(_) => None,
            };
        }
    }
    found
}

/// The value of a global variable that nothing changes.
fn unchanging(expr: &Expr, world: &World, changed: &HashSet<LeafId>) -> Option<i64> {
    match &expr.kind {
        ExprKind::Read(one) if one.indices.is_empty() && !changed.contains(&one.leaf) => {
            world.globals.get(&one.leaf)?.first().copied()
        }
        _ => None,
    }
}

fn run_at(site: &Site, creation: &Creation) -> Option<ProctypeId> {
    creation.started.get(site).copied()
}

/// Stands for all numbers that are neither 0 nor channels.
pub(super) const OTHER: i64 = -1;

/// The channels that variables and fields of messages may hold; 0 is none.
#[derive(Clone, Debug, Default)]
pub(super) struct ChannelSets {
    /// By the position of the family (`None` for a global) and the leaf.
    variables: HashMap<(Option<usize>, LeafId), BTreeSet<i64>>,
    /// By the position of the channel and the field.
    fields: HashMap<(usize, usize), BTreeSet<i64>>,
}

/// What channel sets are computed from.
#[derive(Clone, Copy)]
pub(super) struct Setting<'p> {
    pub program: &'p Program,
    pub graphs: &'p [Graph],
    pub world: &'p World,
    pub families: &'p [Family],
    pub changed: &'p HashSet<LeafId>,
}

impl ChannelSets {
    /// Computes all sets.
    pub fn new(setting: Setting<'_>) -> Result<ChannelSets, Diagnostic> {
        let mut sets = ChannelSets::default();
        let Setting { program, world, families, .. } = setting;
        let is_channel = |leaf: LeafId| program.leaves[leaf].ty == Basic::Chan;
        for (&leaf, row) in world.globals.iter().filter(|&(&leaf, _)| is_channel(leaf)) {
            sets.variables.insert((None, leaf), row.iter().copied().collect());
        }
        for (position, family) in families.iter().enumerate() {
            for &leaf in program.proctypes[family.proctype].leaves.iter().filter(|&&leaf| is_channel(leaf)) {
                let rows = family.members.iter().flat_map(|&at| world.instances[at].values[&leaf].iter().copied());
                sets.variables.insert((Some(position), leaf), rows.collect());
            }
        }
        loop {
            let before = sets.size();
            for (position, family) in families.iter().enumerate() {
                for &leaf in program.proctypes[family.proctype].leaves.iter().filter(|&&leaf| is_channel(leaf)) {
                    sets.start(leaf, position, setting)?;
                }
                for edge in setting.graphs[family.proctype].nodes.iter().flat_map(|node| &node.edges) {
                    if let Does::Op(op) = &edge.does {
                        sets.pass_on(op, position, setting)?;
                    }
                }
            }
            if sets.size() == before {
                return Ok(sets);
            }
        }
    }

    fn size(&self) -> usize {
        self.variables.values().chain(self.fields.values()).map(BTreeSet::len).sum()
    }

    /// What a variable may hold when its process is started.
    fn start(&mut self, leaf: LeafId, family: usize, setting: Setting<'_>) -> Result<(), Diagnostic> {
        let values = match &setting.program.leaves[leaf].init {
            _ if setting.families[family].constants.contains_key(&leaf) => return Ok(()),
            Start::Zero | Start::Channel { .. } => return Ok(()),
            Start::Value(value) => std::slice::from_ref(value),
            Start::List(values) => values,
        };
        for value in values {
            let found = self.of(value, family, setting)?;
            self.variables.entry((Some(family), leaf)).or_default().extend(found);
        }
        Ok(())
    }

    fn pass_on(&mut self, op: &Op, family: usize, setting: Setting<'_>) -> Result<(), Diagnostic> {
        let Setting { program, world, families, .. } = setting;
        let owner = |leaf: LeafId| program.leaves[leaf].owner.map(|_| family);
        let is_channel = |leaf: LeafId| program.leaves[leaf].ty == Basic::Chan;
        match op {
            Op::Assign(pairs) => {
                for (target, value) in pairs.iter().filter(|(target, _)| is_channel(target.leaf)) {
                    let found = self.of(value, family, setting)?;
                    self.variables.entry((owner(target.leaf), target.leaf)).or_default().extend(found);
                }
            }
            Op::Run { proctype, arguments, .. } => {
                let parameters = &program.proctypes[*proctype].parameters;
                for (&parameter, argument) in
                    parameters.iter().zip(arguments).filter(|(parameter, _)| is_channel(**parameter))
                {
                    let found = self.of(argument, family, setting)?;
                    for (position, other) in families.iter().enumerate() {
                        if other.proctype == *proctype && !other.constants.contains_key(&parameter) {
                            self.variables.entry((Some(position), parameter)).or_default().extend(&found);
                        }
                    }
                }
            }
            Op::Send { channel, values, .. } => {
                for number in self.held(channel, family, setting) {
                    let Some(at) = position(number, world) else { continue };
                    for (field, value) in values.iter().enumerate() {
                        let found = match (self.of(value, family, setting), world.channels[at].fields.get(field)) {
                            (Err(wrong), Some(Basic::Chan)) => return Err(wrong),
                            // A field of another type may carry the number of a channel, too.
                            (found, _) => found.unwrap_or_else(|_| any_number(setting)),
                        };
                        self.fields.entry((at, field)).or_default().extend(found);
                    }
                }
            }
            Op::Receive { channel, patterns, .. } => {
                for number in self.held(channel, family, setting) {
                    let Some(at) = position(number, world) else { continue };
                    for (field, pattern) in patterns.iter().enumerate() {
                        let Pattern::Store(target) = pattern else { continue };
                        if is_channel(target.leaf) {
                            let found = self.fields.get(&(at, field)).cloned().unwrap_or_default();
                            self.variables.entry((owner(target.leaf), target.leaf)).or_default().extend(found);
                        }
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The channels that an expression may be.
    fn of(&self, expr: &Expr, family: usize, setting: Setting<'_>) -> Result<BTreeSet<i64>, Diagnostic> {
        match &expr.kind {
            ExprKind::Const(number) => {
                let is_channel = (0..=setting.world.channels.len() as i64).contains(number);
                Ok(BTreeSet::from([if is_channel { *number } else { OTHER }]))
            }
            ExprKind::Read(one) if setting.program.leaves[one.leaf].ty == Basic::Chan => {
                Ok(self.held(one, family, setting))
            }
            ExprKind::If(_, yes, no) => {
                let mut found = self.of(yes, family, setting)?;
                found.extend(self.of(no, family, setting)?);
                Ok(found)
            }
            // A number that is passed where a channel could be: any channel, or none.
            ExprKind::Read(_) | ExprKind::Remote { .. } => Ok(any_number(setting)),
            _ => Err(unknown_channel(expr.span)),
        }
    }

    /// The channels that a variable may hold.
    pub fn held(&self, one: &Ref, family: usize, setting: Setting<'_>) -> BTreeSet<i64> {
        let declared = &setting.program.leaves[one.leaf];
        let row = match declared.owner {
            Some(_) => setting.families[family].constants.get(&one.leaf),
            None if setting.changed.contains(&one.leaf) => None,
            None => setting.world.globals.get(&one.leaf),
        };
        let at = one.indices.iter().zip(&declared.dims).try_fold(0usize, |at, (index, &len)| {
            let index = usize::try_from(constant(index)?).ok().filter(|&index| index < len)?;
            Some(at * len + index)
        });
        match (row, at) {
            (Some(row), Some(at)) => row.get(at).into_iter().copied().collect(),
            (Some(row), None) => row.iter().copied().collect(),
            (None, _) => {
                let owner = declared.owner.map(|_| family);
                self.variables.get(&(owner, one.leaf)).cloned().unwrap_or_default()
            }
        }
    }
}

fn any_number(setting: Setting<'_>) -> BTreeSet<i64> {
    (0..=setting.world.channels.len() as i64).chain([OTHER]).collect()
}

/// The position of a channel with a number.
pub(super) fn position(number: i64, world: &World) -> Option<usize> {
    usize::try_from(number - 1).ok().filter(|&at| at < world.channels.len())
}

fn unknown_channel(span: Span) -> Diagnostic {
    let message = "which channel this is cannot be found out before the program runs";
    Diagnostic::error(code::UNKNOWN_CHANNEL, span, message).help("pass channels in variables of type `chan`")
}
