//! Program and graphs to Model.
//!
//! In: a resolved program and the graphs of its proctypes. Out: the Model, or what is wrong. What exists at the start is computed (`world.rs`), what
//! `run`s create is bounded (`creation.rs`), processes alike become families (`families.rs`), numbers get ranges (`ranges.rs`). Then each
//! family's edges become moves (`steps.rs`, with `expressions.rs` and `channels.rs`) and these actions (`chains.rs` with `before.rs`,
//! `births.rs`); `questions.rs` makes the properties (with `failing.rs`).

mod before;
mod births;
mod chains;
mod channels;
mod creation;
mod expressions;
mod failing;
mod families;
mod follow;
mod partners;
mod priorities;
mod questions;
mod ranges;
mod steps;
mod terms;
mod trace;
mod world;

use std::collections::{BTreeMap, HashMap, HashSet};

use base::{Diagnostic, Span};
use model::Model;
use model::control::{self, ChannelId, Next, Place, PlaceId, TextOwner};
use model::expr::Expr as ModelExpr;
use model::fairness::FairnessId;
use model::process::{self, FamilyId, IndexRange, Process, ProcessId};
use model::size::Size;
use model::types::{ScalarType, Type};
use model::variable::{Init, Role, Storage, Var, VarId};

use super::ast::{Basic, MtypeKind};
use super::graph::{self, Graph, NodeId};
use super::program::{self, Claim, ExprKind, LeafId, ProctypeId, Program};
use super::sources::SourceMap;
use crate::codes::promela as code;
use crate::log::Log;
use channels::Made;
use creation::{Bounds, Creation};
use families::{ChannelSets, Setting};
use priorities::{Looks, Priorities, Ranks};
use ranges::{Interval, Ranges};
use terms::number;
use world::World;

/// The label of all actions but receives at meetings, which SPIN's fairness does not count.
const OWN: &str = "own";
/// The label of a `run` for which no place is left.
pub(super) const FULL: &str = "full";
/// The property that no place is ever missing.
pub(super) const NEVER_FULL: &str = "never_full";
/// How many cells a state may have.
const MAX_CELLS: usize = 200_000;

/// How a program is elaborated.
#[derive(Clone, Debug, Default)]
pub(super) struct Options {
    /// Whether deaths are steps.
    pub deaths: bool,
    /// Whether every statement is an action of its own, from the first one on.
    pub single_steps: bool,
    /// Whether what is sent to a full buffer is lost.
    pub is_lossy: bool,
    /// Whether runs are weakly fair.
    pub is_fair: bool,
    /// Whether runs are strongly fair.
    pub is_strongly_fair: bool,
    /// Whether to ask for progress.
    pub progress: bool,
    /// Whether failed assertions are passed over, as `pan -A` does.
    pub ignores_assertions: bool,
    /// How many places for processes there are besides those at the start, whatever the text says.
    pub places: Option<usize>,
    /// Whether the only question is whether a place for a process is ever missing.
    pub marks_full: bool,
}

/// What elaboration makes of a program.
pub(super) struct Elaborated {
    pub model: Model,
    pub diagnostics: Vec<Diagnostic>,
    /// How many steps `init` took before the start.
    pub n_before: usize,
}

struct Elaboration<'p> {
    setting: Setting<'p>,
    sets: &'p ChannelSets,
    ranges: &'p Ranges,
    creation: &'p Creation,
    map: &'p SourceMap,
    options: &'p Options,
    model: Model,
    log: Log,
    globals: HashMap<LeafId, VarId>,
    /// By the position of the family and the leaf.
    locals: HashMap<(usize, LeafId), VarId>,
    /// By the position of the family, the channel and the field: what is taken aside at a meeting.
    asides: HashMap<(usize, usize, usize), VarId>,
    made: Vec<Made>,
    /// The meetings in which processes are started.
    starts: BTreeMap<(ProctypeId, i64), ChannelId>,
    /// How many processes there are, where that matters.
    n_processes: Option<VarId>,
    /// The pid of who moved last, where a claim looks at it.
    last: Option<VarId>,
    /// The order of events that is watched.
    trace: Option<trace::Watch>,
    /// What is known of priorities.
    ranks: Ranks,
    /// How many sends without a buffer are being asked for who receives, each because of the one before.
    n_sends_asked: usize,
    /// Whether a place for a process was missing, where that is asked.
    full: Option<VarId>,
    places: HashMap<(usize, NodeId), PlaceId>,
    family_ids: Vec<FamilyId>,
    /// By the position of the instance.
    processes: Vec<ProcessId>,
    fairness: Vec<FairnessId>,
    /// The variables that `P[i]:x` reads.
    seen_from_outside: HashSet<LeafId>,
    /// What was reported once is not reported again.
    reported: HashSet<(&'static str, Span)>,
    n_cells: usize,
}

/// Makes the Model of a program.
pub(super) fn elaborate(program: &Program, graphs: &[Graph], map: &SourceMap, options: &Options) -> Elaborated {
    let failed = |diagnostics| Elaborated { model: Model::default(), diagnostics, n_before: 0 };
    let changed = families::changed(graphs);
    let first = match World::new(program, graphs) {
        Ok(world) => World { is_lossy: options.is_lossy, ..world },
        Err(world::Unknown(span)) => {
            let message = "this start value cannot be computed";
            return failed(vec![Diagnostic::error(code::NOT_CONSTANT, span, message)]);
        }
    };
    if first.instances.is_empty() {
        let message = "no process exists at the start";
        let help = "write `active` before a proctype, or `init { run P() }`";
        return failed(vec![Diagnostic::error(code::NO_PROCESS, Span::default(), message).help(help)]);
    }
    let looks = Looks::of(program, graphs);
    let ahead = first
        .after_init(program, graphs)
        // What it starts may have to move before it goes on.
        .filter(|_| looks.priorities == Priorities::Same && program.trace.is_none())
        .filter(|after| after.passed.iter().all(|before| same_for_claims(program, graphs, before, after)))
        .filter(|_| !options.single_steps && !watches_last(program, graphs))
        // What comes again later would be counted twice.
        .filter(|after| !options.deaths || !comes_back(graphs, after));
    let mut world = ahead.unwrap_or(first);
    let mut options = options.clone();
    options.deaths |= options.places.is_some()
        || needs_deaths(program, graphs)
        || looks.at_others()
        || looks.asks
        || means_the_first(program, graphs, &world)
        || gives_channels_away(program, graphs, &world);
    let constants: HashSet<LeafId> = (0..program.leaves.len())
        .filter(|leaf| program.leaves[*leaf].owner.is_none() && !changed.contains(leaf))
        .collect();
    let bounds = |deaths| Bounds { instances: &[], deaths, constants: &constants, places: options.places };
    let mut trial = world.clone();
    let created = match creation::creation(program, graphs, &mut trial, &bounds(options.deaths)) {
        Ok(created) if created.is_dynamic() && !options.deaths && uses_pids(program, graphs) => {
            // A pid that is free again could be seen.
            options.deaths = true;
            creation::creation(program, graphs, &mut world, &bounds(true))
        }
        other => {
            world = trial;
            other
        }
    };
    let creation = match created {
        Ok(creation) => creation,
        Err(diagnostic) => return failed(vec![diagnostic]),
    };
    let families = families::families(program, &world, &creation, &changed);
    let setting = Setting { program, graphs, world: &world, families: &families, changed: &changed };
    let sets = match ChannelSets::new(setting) {
        Ok(sets) => sets,
        Err(diagnostic) => return failed(vec![diagnostic]),
    };
    let ranges = Ranges::new(setting, &sets);
    let elaboration = Elaboration {
        setting,
        sets: &sets,
        ranges: &ranges,
        creation: &creation,
        map,
        options: &options,
        model: Model::default(),
        log: Log::default(),
        globals: HashMap::new(),
        locals: HashMap::new(),
        asides: HashMap::new(),
        made: Vec::new(),
        starts: BTreeMap::new(),
        n_processes: None,
        last: None,
        trace: None,
        ranks: Ranks::new(looks),
        n_sends_asked: 0,
        full: None,
        places: HashMap::new(),
        family_ids: Vec::new(),
        processes: vec![ProcessId::new(0); world.instances.len()],
        fairness: Vec::new(),
        seen_from_outside: seen_from_outside(program, graphs, looks),
        reported: HashSet::new(),
        n_cells: 0,
    };
    elaboration.model()
}

/// Whether `init` may come back to a place that it has passed before the start.
fn comes_back(graphs: &[Graph], after: &World) -> bool {
    let graph = &graphs[after.instances[0].proctype];
    let passed: HashSet<NodeId> = after.passed.iter().map(|before| before.instances[0].place).collect();
    let mut seen = HashSet::new();
    let mut open = vec![after.instances[0].place];
    while let Some(node) = open.pop() {
        if passed.contains(&node) {
            return true;
        }
        if seen.insert(node) {
            open.extend(graph.nodes[node].edges.iter().map(|edge| edge.target));
        }
    }
    false
}

/// Whether claims see the same at the start and after the first step of `init`, so that this step need not be one.
fn same_for_claims(program: &Program, graphs: &[Graph], before: &World, after: &World) -> bool {
    let nobody = HashMap::new();
    let mut same = true;
    let mut compare = |expr: &super::program::Expr| {
        let eye = world::Eye { program, graphs, locals: &nobody, pid: 0 };
        let is_atom = matches!(
            expr.kind,
            ExprKind::Read(_)
                | ExprKind::NrPr
                | ExprKind::At { .. }
                | ExprKind::Remote { .. }
                | ExprKind::Query(..)
                | ExprKind::Poll { .. }
                | ExprKind::NonProgress
                | ExprKind::Enabled(_)
                | ExprKind::StateNumber(_)
                | ExprKind::Priority(_)
        );
        if !is_atom {
            return;
        }
        same &= match &expr.kind {
            ExprKind::Remote { .. } => false,
            _ => matches!((before.value(expr, eye), after.value(expr, eye)), (Ok(a), Ok(b)) if a == b),
        };
    };
    for claim in &program.claims {
        match claim {
            Claim::Ltl { formula, .. } => {
                if formula.has_next() {
                    return false;
                }
                formula.walk(&mut compare);
            }
            // A `never` claim reads what came before; that must be computed.
            Claim::Never { body, .. } => {
                let mut known = true;
                walk_guards(body, &mut |expr| {
                    let eye = world::Eye { program, graphs, locals: &nobody, pid: 0 };
                    known &= before.value(expr, eye).is_ok();
                });
                if !known {
                    return false;
                }
            }
        }
    }
    same
}

/// Calls `visit` for the conditions of a claim.
fn walk_guards(body: &[super::program::Stmt], visit: &mut impl FnMut(&super::program::Expr)) {
    use super::program::{Op, StmtKind};
    for statement in body {
        match &statement.kind {
            StmtKind::Op(Op::Guard(expr) | Op::Assert(expr)) => visit(expr),
            StmtKind::If(options) | StmtKind::Do(options) => {
                options.iter().for_each(|option| walk_guards(option, visit));
            }
            StmtKind::Atomic(inner) | StmtKind::DStep(inner) | StmtKind::Block(inner) => walk_guards(inner, visit),
            StmtKind::Unless(main, escape) => {
                walk_guards(main, visit);
                walk_guards(escape, visit);
            }
            StmtKind::Op(_) | StmtKind::Else | StmtKind::Goto(_) | StmtKind::Break => {}
        }
    }
}

/// Whether a claim looks at who moved last.
fn watches_last(program: &Program, graphs: &[Graph]) -> bool {
    let mut found = false;
    all_expressions(program, graphs, &mut |expr| found |= matches!(expr.kind, ExprKind::Last));
    found
}

/// Whether deaths can be seen: by `_nr_pr`, `_last`, by who reads a variable of a process that may end, or by a claim that counts steps.
fn needs_deaths(program: &Program, graphs: &[Graph]) -> bool {
    let mut found = false;
    let mut look = |expr: &super::program::Expr| {
        found |= match expr.kind {
            ExprKind::NrPr | ExprKind::Last | ExprKind::StateNumber(_) => true,
            ExprKind::Remote { proctype, .. } => graphs[proctype].may_end(),
            _ => false,
        }
    };
    all_expressions(program, graphs, &mut look);
    let counts = |claim: &Claim| matches!(claim, Claim::Ltl { formula, .. } if formula.has_next());
    found || program.claims.iter().any(counts)
}

/// Whether an older process may get a channel of one that may end: it would use it when there is no such channel any more. What a `run` passes goes to
/// younger ones, and nobody is older than the first.
fn gives_channels_away(program: &Program, graphs: &[Graph], world: &World) -> bool {
    let declares = |id: ProctypeId| {
        let leaves = program.proctypes[id].leaves.iter();
        leaves.into_iter().any(|&leaf| matches!(program.leaves[leaf].init, program::Start::Channel { .. }))
    };
    let is_first = |id: ProctypeId| program.proctypes[id].is_init && world.instances[0].proctype == id;
    let ends = |id: ProctypeId| !is_first(id) && graphs[id].may_end() && declares(id);
    let is_own = |expr: &super::program::Expr| {
        let mut found = false;
        expr.walk(&mut |part| {
            found |= matches!(&part.kind, ExprKind::Read(one)
                if program.leaves[one.leaf].ty == Basic::Chan && program.leaves[one.leaf].owner.is_some());
        });
        found
    };
    let is_local = |target: &program::Ref| {
        let target = &program.leaves[target.leaf];
        target.owner.is_some() && target.ty == Basic::Chan
    };
    let gives = |op: &program::Op| match op {
        program::Op::Send { values, .. } => values.iter().any(is_own),
        program::Op::Assign(pairs) => pairs.iter().any(|(target, value)| !is_local(target) && is_own(value)),
        _ => false,
    };
    let mut edges = graphs.iter().flat_map(|graph| &graph.nodes).flat_map(|node| &node.edges);
    (0..program.proctypes.len()).any(ends) && edges.any(|edge| matches!(&edge.does, graph::Does::Op(op) if gives(op)))
}

/// Whether `P@l` or `P:x` without a pid may mean one of several processes: the first that is still there.
fn means_the_first(program: &Program, graphs: &[Graph], world: &World) -> bool {
    let mut named = HashSet::new();
    all_expressions(program, graphs, &mut |expr| {
        if let ExprKind::At { proctype, pid: None, .. } | ExprKind::Remote { proctype, pid: None, .. } = &expr.kind {
            named.insert(*proctype);
        }
    });
    let n_at_start = |id: ProctypeId| world.instances.iter().filter(|instance| instance.proctype == id).count();
    let n_runs = |id: ProctypeId| {
        let edges = graphs.iter().flat_map(|graph| &graph.nodes).flat_map(|node| &node.edges);
        edges
            .filter(|edge| matches!(&edge.does, graph::Does::Op(program::Op::Run { proctype, .. }) if *proctype == id))
            .count()
    };
    named.into_iter().any(|id| match n_at_start(id) {
        0 => n_runs(id) > 1,
        1 => n_runs(id) > 0 && world.passed.is_empty(),
        _ => true,
    })
}

fn uses_pids(program: &Program, graphs: &[Graph]) -> bool {
    let mut found = false;
    let mut look = |expr: &super::program::Expr| {
        found |= matches!(expr.kind, ExprKind::Pid | ExprKind::At { .. } | ExprKind::Remote { .. })
    };
    all_expressions(program, graphs, &mut look);
    let results = graphs
        .iter()
        .flat_map(|graph| &graph.nodes)
        .flat_map(|node| &node.edges)
        .any(|edge| matches!(&edge.does, super::graph::Does::Op(super::program::Op::Run { result: Some(_), .. })));
    found || results
}

fn seen_from_outside(program: &Program, graphs: &[Graph], looks: Looks) -> HashSet<LeafId> {
    if looks.at_others() || trace::looks_at_timeouts(program, graphs) {
        return (0..program.leaves.len()).filter(|&leaf| program.leaves[leaf].owner.is_some()).collect();
    }
    let mut found = HashSet::new();
    let mut look = |expr: &super::program::Expr| {
        if let ExprKind::Remote { variable, .. } = &expr.kind {
            found.insert(variable.leaf);
        }
    };
    all_expressions(program, graphs, &mut look);
    found.extend(partners::compared_by_receivers(graphs));
    found
}

fn all_expressions(program: &Program, graphs: &[Graph], look: &mut impl FnMut(&super::program::Expr)) {
    for edge in graphs.iter().flat_map(|graph| &graph.nodes).flat_map(|node| &node.edges) {
        if let super::graph::Does::Op(op) = &edge.does {
            op.walk(look);
        }
    }
    for proctype in &program.proctypes {
        proctype.provided.iter().for_each(|condition| condition.walk(look));
    }
    for claim in &program.claims {
        match claim {
            Claim::Ltl { formula, .. } => formula.walk(look),
            Claim::Never { body, .. } => walk_guards(body, &mut |expr| expr.walk(look)),
        }
    }
}

impl Elaboration<'_> {
    fn model(mut self) -> Elaborated {
        self.declare_globals();
        self.declare_channels();
        self.declare_starts();
        self.declare_trace();
        for family in 0..self.setting.families.len() {
            self.declare_family(family);
        }
        if self.n_cells > MAX_CELLS {
            let message = format!("a state has {} cells; at most {MAX_CELLS} are read", self.n_cells);
            self.log.add(Diagnostic::error(code::TOO_LARGE, Span::default(), message));
        } else {
            self.refuse_state_numbers();
            for family in 0..self.setting.families.len() {
                self.texts(family);
            }
            self.declare_end_of_trace();
            self.questions();
        }
        if self.log.n_errors() == 0 {
            self.model.lay_out();
        }
        let n_before = self.setting.world.passed.len();
        Elaborated { model: self.model, diagnostics: self.log.finish(), n_before }
    }

    /// Where `pc_value` would ask for a place whose number is not counted, or that is passed within a step.
    fn refuse_state_numbers(&mut self) {
        let Some(first) = self.setting.program.asks_state_numbers else { return };
        for graph in self.setting.graphs {
            for (node, declared) in graph.nodes.iter().enumerate() {
                for edge in &declared.edges {
                    if !edge.escapes.is_empty() {
                        self.not_read(first, "`pc_value` in a program with `unless`");
                    }
                    let mut asks = false;
                    if let graph::Does::Op(op) = &edge.does {
                        op.walk(&mut |expr| asks |= matches!(expr.kind, ExprKind::StateNumber(_)));
                    }
                    if asks && graph.has_begun(node) {
                        self.not_read(edge.span, "`pc_value` behind the first statement of an `atomic` or `d_step`");
                    }
                }
            }
        }
    }

    fn span(&self, span: Span) -> Span {
        self.map.in_main(span)
    }

    fn not_read(&mut self, span: Span, what: &str) {
        self.report_once(Diagnostic::error(code::NOT_READ, span, format!("{what} is not read")));
    }

    fn report_once(&mut self, diagnostic: Diagnostic) {
        if self.reported.insert((diagnostic.code, diagnostic.primary.span)) {
            self.log.add(diagnostic);
        }
    }

    /// The names of messages of a kind, for display.
    fn message_names(&self, kind: MtypeKind) -> BTreeMap<i64, String> {
        let named = self.setting.program.mtypes.iter().filter(|named| named.kind == kind);
        named.map(|named| (named.value, named.name.clone())).collect()
    }

    fn declare_globals(&mut self) {
        let program = self.setting.program;
        for (leaf, declared) in program.leaves.iter().enumerate() {
            let is_constant_channel = declared.ty == Basic::Chan && !self.setting.changed.contains(&leaf);
            if declared.owner.is_some() || is_constant_channel {
                continue;
            }
            let span = self.span(declared.span);
            let values = self.setting.world.globals[&leaf].clone();
            let var = self.add_var(
                &declared.name,
                (Storage::Shared, span),
                self.ranges.leaf(leaf),
                (&declared.dims, &values),
            );
            self.shown(var, leaf);
            self.globals.insert(leaf, var);
        }
        // A counter of processes where their number matters, or decides who is started next.
        let is_fixed = self.creation.pids.values().all(|pids| pids.len() == 1);
        if self.options.deaths || !is_fixed {
            let world = self.setting.world;
            let n_first = world.instances.iter().filter(|instance| instance.exists).count() as i64;
            let most = world.instances.iter().map(|instance| instance.pid + 1).max().unwrap_or(0);
            let place = (Storage::Shared, Span::default());
            self.n_processes = Some(self.add_var("_nr_pr", place, (0, most), (&[], &[n_first])));
        }
        self.declare_priorities();
        if self.options.marks_full {
            self.full = Some(self.add_var("full", (Storage::Shared, Span::default()), (0, 1), (&[], &[0])));
        }
        if watches_last(self.setting.program, self.setting.graphs) {
            let most = self.setting.world.instances.iter().map(|instance| instance.pid).max().unwrap_or(0);
            self.last = Some(self.add_var("_last", (Storage::Shared, Span::default()), (0, most), (&[], &[0])));
        }
    }

    fn shown(&mut self, var: VarId, leaf: LeafId) {
        if let Basic::Mtype(kind) = self.setting.program.leaves[leaf].ty {
            self.model.vars[var].shown = self.message_names(kind);
        }
    }

    fn declare_starts(&mut self) {
        for (site, pids) in &self.creation.pids {
            let proctype = self.creation.started[site];
            for &pid in pids {
                if self.starts.contains_key(&(proctype, pid)) {
                    continue;
                }
                let declared = &self.setting.program.proctypes[proctype];
                let name = format!("start {}[{pid}]", declared.name);
                let span = self.span(declared.span);
                let channel = self.model.channels.push(control::Channel { name, span });
                self.starts.insert((proctype, pid), channel);
            }
        }
    }

    /// Adds a variable with what its elements start with.
    fn add_var(
        &mut self,
        name: &str,
        (storage, span): (Storage, Span),
        (lo, hi): Interval,
        (dims, values): (&[usize], &[i64]),
    ) -> VarId {
        let fill = |value: i64| Init::Fill(number(value, span));
        let values: Vec<Init> = values.iter().map(|&value| fill(value)).collect();
        self.push_var(name, (storage, span), (lo, hi), (dims, values))
    }

    fn push_var(
        &mut self,
        name: &str,
        (storage, span): (Storage, Span),
        (lo, hi): Interval,
        (dims, values): (&[usize], Vec<Init>),
    ) -> VarId {
        self.n_cells += values.len();
        let scalar = Type::Scalar(ScalarType::Range { lo, hi });
        let ty = dims.iter().rev().fold(scalar, |element, &len| Type::Array { element: Box::new(element), len });
        let init = nested_init(dims, values);
        let (name, doc) = (name.to_owned(), String::new());
        let role = Role::Declared;
        let look = model::variable::VariableLook::Plain;
        let (shown, indices_after) = (BTreeMap::new(), Vec::new());
        self.model.vars.push(Var { name, storage, role, ty, init, offset: 0, shown, look, indices_after, doc, span })
    }

    /// A family with its variables, its processes and its places, without actions.
    fn declare_family(&mut self, position: usize) {
        let family = self.setting.families[position].clone();
        let proctype = &self.setting.program.proctypes[family.proctype];
        let id: FamilyId = self.model.families.next_id();
        let first = self.model.processes.next_id();
        let is_alone = self.is_alone(&family);
        for &at in &family.members {
            let pid = self.setting.world.instances[at].pid;
            let name = if is_alone { proctype.name.clone() } else { format!("{}[{pid}]", proctype.name) };
            let index = if family.members.len() == 1 { 0 } else { pid };
            self.processes[at] = self.model.processes.push(Process { family: id, index, name, first_cell: 0 });
        }
        let span = self.span(proctype.span);
        let vars = self.declare_locals(position, id);
        let end = self.declare_places(position, id);
        let count = family.members.len();
        let index = (count > 1).then(|| IndexRange { name: "_pid".into(), first: family.first_pid, count });
        let name = if count > 1 || is_alone {
            proctype.name.clone()
        } else {
            format!("{}[{}]", proctype.name, family.first_pid)
        };
        self.family_ids.push(id);
        let unborn = self.unborn_of(position);
        let start = self.setting.world.instances[family.members[0]].place;
        let entry = match (family.exists, unborn) {
            (false, Some(unborn)) => unborn,
            _ => self.places[&(position, start)],
        };
        self.model.families.push(process::Family {
            name,
            index,
            size: if count > 1 { Size::Fixed(count) } else { Size::One },
            vars,
            entry: Next::To(entry),
            end,
            first,
            n_cells: 0,
            doc: String::new(),
            span,
        });
    }

    /// Whether a family is one process, the only one of its proctype.
    fn is_alone(&self, family: &families::Family) -> bool {
        let same = self.setting.world.instances.iter().filter(|instance| instance.proctype == family.proctype).count();
        same == 1
    }

    fn declare_locals(&mut self, position: usize, id: FamilyId) -> Vec<VarId> {
        let family = self.setting.families[position].clone();
        let program = self.setting.program;
        let mut vars = Vec::new();
        for &leaf in &program.proctypes[family.proctype].leaves {
            let declared = &program.leaves[leaf];
            let is_scalar_constant =
                family.constants.contains_key(&leaf) && (declared.dims.is_empty() || declared.ty == Basic::Chan);
            if is_scalar_constant || family.offsets.contains_key(&leaf) {
                continue;
            }
            let span = self.span(declared.span);
            let (lo, hi) = self.ranges.leaf(leaf);
            let storage = match self.seen_from_outside.contains(&leaf) {
                true => Storage::Public(id),
                false => Storage::Local(id),
            };
            let values: Vec<Init> =
                (0..declared.n_elements()).map(|at| self.start_of(&family, leaf, (at, span))).collect();
            let var = self.push_var(&declared.name, (storage, span), (lo.min(0), hi.max(0)), (&declared.dims, values));
            self.shown(var, leaf);
            self.locals.insert((position, leaf), var);
            vars.push(var);
        }
        vars
    }

    /// What an element of a variable starts with in each member of a family.
    fn start_of(&self, family: &families::Family, leaf: LeafId, (at, span): (usize, Span)) -> Init {
        let instances = &self.setting.world.instances;
        let value = |member: usize| instances[member].values[&leaf][at];
        let mut expr = number(value(family.members[0]), span);
        if family.members.iter().any(|&member| value(member) != value(family.members[0])) {
            for &member in &family.members[1..] {
                let myself = ModelExpr { kind: model::expr::ExprKind::Myself, span };
                let index = ModelExpr { kind: model::expr::ExprKind::IndexOf(Box::new(myself)), span };
                let is_it = terms::equal(index, number(instances[member].pid, span));
                expr = terms::choose(is_it, number(value(member), span), expr);
            }
        }
        Init::Fill(expr)
    }

    /// The places of a family; the one at which its processes have ended.
    fn declare_places(&mut self, position: usize, id: FamilyId) -> PlaceId {
        let family = &self.setting.families[position];
        let graph = &self.setting.graphs[family.proctype];
        let mut taken: HashMap<String, usize> = HashMap::new();
        // Those where nobody ever stands come last, so that they take no names away.
        let reached = graph.reached();
        let mut order: Vec<NodeId> = (0..graph.nodes.len()).collect();
        order.sort_by_key(|&node| !reached[node]);
        for node in order {
            let declared = &graph.nodes[node];
            let line = self.map.line(declared.span);
            let name = match declared.labels.first() {
                Some(label) => label.clone(),
                None if node == graph.end => "end".into(),
                None => format!("line {line}"),
            };
            let n_same = taken.entry(name.clone()).or_insert(0);
            *n_same += 1;
            let name = if *n_same == 1 { name } else { format!("{name} ({n_same})") };
            // Who is at the end has terminated, unless it is still to die.
            let is_end = node == graph.end && self.options.deaths;
            let may_end = is_end || declared.labels.iter().any(|label| label.starts_with("end"));
            let span = self.span(declared.span);
            let place = self.place(id, name, (declared.labels.clone(), may_end, span));
            self.places.insert((position, node), place);
        }
        let end = self.places[&(position, graph.end)];
        if !self.options.deaths {
            return end;
        }
        let span = self.model.places[end].span;
        self.place(id, "dead".into(), (Vec::new(), true, span))
    }

    fn place(&mut self, id: FamilyId, name: String, (labels, may_end, span): (Vec<String>, bool, Span)) -> PlaceId {
        self.model.places.push(Place { scope: TextOwner::Family(id), labels, name, actions: Vec::new(), may_end, span })
    }

    /// Where members of a family wait to be started; made when it is first asked for.
    fn unborn_of(&mut self, position: usize) -> Option<PlaceId> {
        if !self.is_started(position) {
            return None;
        }
        let key = (position, usize::MAX);
        if let Some(&place) = self.places.get(&key) {
            return Some(place);
        }
        let id = self.family_ids[position];
        let span = self.span(self.setting.program.proctypes[self.setting.families[position].proctype].span);
        let place = self.place(id, "unborn".into(), (Vec::new(), true, span));
        self.places.insert(key, place);
        Some(place)
    }

    /// The actions of a family.
    fn texts(&mut self, position: usize) {
        self.actions(position);
        let unborn = self.unborn_of(position);
        if let Some(unborn) = unborn {
            self.births(position, unborn);
        }
        if self.options.deaths {
            let graph = &self.setting.graphs[self.setting.families[position].proctype];
            let end = self.places[&(position, graph.end)];
            let dead = unborn.unwrap_or(self.model.families[self.family_ids[position]].end);
            self.death(position, (end, dead));
        }
    }
}

fn nested_init(dims: &[usize], values: Vec<Init>) -> Init {
    match dims {
        [] => values.into_iter().next().unwrap_or(Init::First),
        [_, rest @ ..] => {
            if values.windows(2).all(|pair| pair[0] == pair[1]) {
                return values.into_iter().next().unwrap_or(Init::First);
            }
            let size: usize = rest.iter().product();
            let parts = values.chunks(size.max(1)).map(|part| nested_init(rest, part.to_vec()));
            Init::Elements(parts.collect())
        }
    }
}

/// All positions in an array of these lengths, in order.
fn element_positions(dims: &[usize]) -> Vec<Vec<usize>> {
    super::resolve::positions(dims)
}
