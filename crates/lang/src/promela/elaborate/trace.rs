//! `trace` and `notrace`: sends and receives in an order.
//!
//! In: the graph of the events that a program's trace says. Out: a variable that holds how far it has come, and what each send and receive on a channel that the
//! trace names does with it, in the same step. An event that a `trace` does not have, and the last one of a `notrace`, are errors. A run may end only where
//! the trace may: a process of its own is stuck otherwise. Within a trace only constants are compared.

use std::collections::HashMap;

use base::{Diagnostic, Span};
use model::control::{Action, ActionKind, Next, Statement, Stmt, StmtKind, TextOwner};
use model::expr::{Expr as ModelExpr, ExprKind as ModelKind};
use model::process::{self, Process};
use model::size::Size;
use model::value::Value;
use model::variable::{Storage, VarId};

use super::super::graph::{self, Does, Graph, NodeId, Style};
use super::super::program::{Op, Pattern, Program};
use super::Elaboration;
use super::partners::seen_by;
use super::steps::Move;
use super::terms::{self, all, any, assign, equal, not, number, read, shared};
use super::world::{Eye, World};
use crate::codes::promela as code;

/// One event that a trace has at some place: what happens on which channel, and which fields must have which values.
#[derive(Clone, Debug)]
struct Event {
    is_send: bool,
    channel: usize,
    fields: Vec<Option<i64>>,
}

/// A trace while the Model is made.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    graph: Graph,
    /// By place and position of the edge; an edge without an event takes any.
    events: HashMap<(NodeId, usize), Event>,
    is_negated: bool,
    var: VarId,
    span: Span,
}

impl Watch {
    fn names(&self, channel: usize, is_send: bool) -> bool {
        self.events.values().any(|event| (event.channel, event.is_send) == (channel, is_send))
    }

    /// Whether it looks at what happens on a channel.
    pub fn watches(&self, channel: usize) -> bool {
        self.events.values().any(|event| event.channel == channel)
    }

    /// Whether a field of a channel's messages is compared.
    pub fn compares(&self, channel: usize, field: usize) -> bool {
        let of_channel = self.events.values().filter(|event| event.channel == channel);
        of_channel.into_iter().any(|event| event.fields.get(field).is_some_and(Option::is_some))
    }
}

/// What an event does to the trace.
#[derive(Clone)]
pub(super) struct Watched {
    /// Where an event that the trace does not have is passed over.
    pub lenient: Stmt,
    /// Where it is an error.
    pub strict: Stmt,
}

impl Elaboration<'_> {
    /// Declares how far the trace has come.
    pub(super) fn declare_trace(&mut self) {
        let program = self.setting.program;
        let Some(trace) = &program.trace else { return };
        let style = Style {
            block_entries: self.options.ignores_assertions,
            named: &std::collections::HashSet::new(),
            is_claim: false,
        };
        let (graph, diagnostics) = graph::build((&trace.body, 0), style);
        diagnostics.into_iter().for_each(|diagnostic| self.log.add(diagnostic));
        let mut events = HashMap::new();
        for (node, declared) in graph.nodes.iter().enumerate() {
            for (at, edge) in declared.edges.iter().enumerate() {
                match &edge.does {
                    Does::Op(Op::Event { is_send, channel, patterns }) => {
                        let known = self.channel_of_event(channel);
                        let fields = patterns.iter().map(|pattern| match pattern {
                            Pattern::Match(value) => super::super::resolve::constant(value).map(Some),
                            Pattern::Store(_) | Pattern::Ignore => Some(None),
                        });
                        let fields: Option<Vec<Option<i64>>> = fields.collect();
                        match (known, fields) {
                            (Some(channel), Some(fields)) => {
                                self.right_number_of_fields(channel, fields.len(), edge.span);
                                events.insert((node, at), Event { is_send: *is_send, channel, fields });
                            }
                            _ => self.not_read(edge.span, "a channel or value of a trace that is no constant"),
                        }
                    }
                    Does::Op(Op::Skip) => {}
                    _ => self.not_read(edge.span, "what is neither a send nor a receive in a trace"),
                }
            }
        }
        let most = graph.nodes.len() as i64 - 1;
        let place = (Storage::Shared, self.span(trace.span));
        let var = self.add_var("_event", place, (0, most), (&[], &[graph.entry as i64]));
        self.trace = Some(Watch { graph, events, is_negated: trace.is_negated, var, span: trace.span });
    }

    /// Of a message with a single field further ones are 0, as in SPIN; otherwise more values than there are fields are refused.
    fn right_number_of_fields(&mut self, channel: usize, n_given: usize, span: Span) {
        let channel = &self.setting.world.channels[channel];
        let n_fields = channel.fields.len();
        if n_fields > 1 && n_given > n_fields {
            let message = format!("messages of `{}` have {n_fields} fields, not {n_given}", channel.name);
            let place = channel.span;
            self.report_once(Diagnostic::error(code::WRONG_NUMBER, span, message).note(place, "declared here"));
        }
    }

    fn channel_of_event(&self, channel: &super::super::program::Ref) -> Option<usize> {
        if self.setting.changed.contains(&channel.leaf) {
            return None;
        }
        let nobody = HashMap::new();
        let (program, graphs) = (self.setting.program, self.setting.graphs);
        let world: &World = self.setting.world;
        if !channel.indices.iter().all(|index| super::super::resolve::constant(index).is_some()) {
            return None;
        }
        world.channel(channel, Eye { program, graphs, locals: &nobody, pid: 0 }).ok()
    }

    /// What a send or receive on a channel does to the trace; the values of its message are asked for by field.
    pub(super) fn watched(
        &self,
        (channel, is_send): (usize, bool),
        field: &dyn Fn(usize) -> ModelExpr,
        span: Span,
    ) -> Option<Watched> {
        let watch = self.trace.as_ref().filter(|watch| watch.names(channel, is_send))?;
        let here = || read(shared(watch.var, Vec::new(), span));
        let go = |node: NodeId| assign(vec![(shared(watch.var, Vec::new(), span), number(node as i64, span))], span);
        let wrong = || Stmt { kind: StmtKind::Assert(terms::truth(false, span)), span };
        let n_fields = self.setting.world.channels[channel].fields.len();
        let field = |at: usize| if at < n_fields { field(at) } else { number(0, span) };
        let made = |is_strict: bool| {
            let missed = || match (watch.is_negated, is_strict) {
                (true, _) => vec![go(watch.graph.end)],
                (false, true) => vec![wrong()],
                (false, false) => Vec::new(),
            };
            let mut chosen = missed();
            let reached = watch.graph.reached();
            for (node, declared) in watch.graph.nodes.iter().enumerate().filter(|(node, _)| reached[*node]) {
                let mut then = missed();
                for (at, edge) in declared.edges.iter().enumerate().rev() {
                    let matches = match watch.events.get(&(node, at)) {
                        Some(event) if (event.channel, event.is_send) != (channel, is_send) => continue,
                        Some(event) => {
                            let wanted = event.fields.iter().enumerate();
                            let wanted = wanted.filter_map(|(at, value)| value.map(|value| (at, value)));
                            all(wanted.map(|(at, value)| equal(field(at), number(value, span))), span)
                        }
                        None => terms::truth(true, span),
                    };
                    let ends = watch.is_negated && edge.target == watch.graph.end;
                    let moved = if ends && is_strict { vec![wrong()] } else { vec![go(edge.target)] };
                    then = vec![Stmt { kind: StmtKind::If(matches, moved, then), span }];
                }
                let test = equal(here(), number(node as i64, span));
                if node != watch.graph.end {
                    chosen = vec![Stmt { kind: StmtKind::If(test, then, chosen), span }];
                }
            }
            chosen.into_iter().next().unwrap_or_else(|| go(watch.graph.end))
        };
        Some(Watched { lenient: made(false), strict: made(true) })
    }

    /// A move with what it does to the trace, put at a position of its body; where errors count there is a second one that fails.
    pub(super) fn watched_moves(&self, one: Move, at: usize, watched: Option<Watched>) -> Vec<Move> {
        let Some(Watched { lenient, strict }) = watched else { return vec![one] };
        let with = |stmt: Stmt| {
            let mut one = one.clone();
            one.body.insert(at, stmt);
            one
        };
        match self.options.ignores_assertions {
            true => vec![with(lenient)],
            false => vec![with(lenient), with(strict)],
        }
    }

    /// A process that is stuck where nobody moves any more and the trace has not come to its end.
    pub(super) fn declare_end_of_trace(&mut self) {
        if self.options.ignores_assertions || self.options.single_steps {
            return;
        }
        let Some(watch) = self.trace.clone() else { return };
        let span = self.span(watch.span);
        let reached = watch.graph.reached();
        let may_end = |node: &NodeId| {
            let has_label = watch.graph.nodes[*node].labels.iter().any(|label| label.starts_with("end"));
            *node == watch.graph.end || has_label
        };
        let ends: Vec<NodeId> = (0..watch.graph.nodes.len()).filter(|node| reached[*node]).filter(may_end).collect();
        let here = || read(shared(watch.var, Vec::new(), span));
        let is_over = any(ends.into_iter().map(|node| equal(here(), number(node as i64, span))), span);
        let mut conditions = vec![not(is_over)];
        conditions.extend(self.timeouts().into_iter().map(not));
        let id = self.model.families.next_id();
        let first = self.model.processes.next_id();
        let name = if watch.is_negated { "notrace" } else { "trace" };
        self.model.processes.push(Process { family: id, index: 0, name: name.into(), first_cell: 0 });
        let watching = self.place(id, "watching".into(), (Vec::new(), true, span));
        let stuck = self.place(id, "not complete".into(), (Vec::new(), false, span));
        let end = self.place(id, "end".into(), (Vec::new(), true, span));
        self.model.families.push(process::Family {
            name: name.into(),
            index: None,
            size: Size::One,
            vars: Vec::new(),
            entry: Next::To(watching),
            end,
            first,
            n_cells: 0,
            doc: String::new(),
            span,
        });
        let statement = self.model.statements.push(Statement { text: "the trace is not complete".into(), span });
        let action = self.model.actions.push(Action {
            scope: TextOwner::Family(id),
            source: watching,
            statement,
            labels: vec![super::OWN.to_owned()],
            guard: Some(all(conditions, span)),
            sync: None,
            body: Vec::new(),
            kind: ActionKind::Plain,
            next: Next::To(stuck),
            goes_on: false,
            when_nobody: true,
        });
        self.model.places[watching].actions.push(action);
    }

    /// The conditions under which a process can take a `timeout` where nothing else is executable.
    fn timeouts(&mut self) -> Vec<ModelExpr> {
        let span = Span::default();
        let mut found = Vec::new();
        for family in 0..self.setting.families.len() {
            let graph = &self.setting.graphs[self.setting.families[family].proctype];
            for (node, declared) in graph.nodes.iter().enumerate() {
                for position in 0..declared.edges.len() {
                    for one in self.moves(family, node, position).into_iter().filter(|one| one.when_nobody) {
                        let Some(&place) = self.places.get(&(family, node)) else { continue };
                        for at in self.setting.families[family].members.clone() {
                            let process = self.processes[at];
                            let who = Box::new(terms::constant(Value::Process(process), span));
                            let labels = vec!["timeout".to_owned()];
                            let stands = ModelExpr { kind: ModelKind::At { who, places: vec![place], labels }, span };
                            found.push(terms::and(stands, seen_by(&one.condition(span), process)));
                        }
                    }
                }
            }
        }
        found
    }
}

/// Whether the end of a trace has to look at who waits for a `timeout`.
pub(super) fn looks_at_timeouts(program: &Program, graphs: &[Graph]) -> bool {
    let mut found = false;
    super::all_expressions(program, graphs, &mut |expr| {
        found |= matches!(expr.kind, super::super::program::ExprKind::Timeout);
    });
    found && program.trace.is_some()
}
