//! Bodies to graphs: places, where a process stands between steps, and edges, its basic statements.
//!
//! In: the body of a proctype. Out: its [`Graph`], place for place and edge for edge as SPIN has it. `if` and `do` are one place with the first
//! steps of all options; an `if` at the head of an option lends its steps. `goto` and `break` are no steps, except first in an option
//! or with a label that matters. Graphs are built from the end of a body to its beginning; labels are places that are filled in later.

use std::collections::{HashMap, HashSet};

use base::{Diagnostic, Span};

use super::numbers;
use super::program::{Expr, ExprKind, Op, Stmt, StmtKind};
use crate::codes::promela as code;

/// Names a place of a graph.
pub(super) type NodeId = usize;
/// Names an `atomic` or `d_step` block: the outermost one counts.
pub(super) type BlockId = usize;

/// What is shown for a step that no statement stands for.
const SILENT: &str = "end of block";

/// A body as a graph.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    pub nodes: Vec<Node>,
    pub entry: NodeId,
    /// The end of the text.
    pub end: NodeId,
    /// Where each label stands.
    pub labels: HashMap<String, NodeId>,
}

/// A place.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub edges: Vec<Edge>,
    pub labels: Vec<String>,
    /// The block that it lies in.
    pub block: Option<BlockId>,
    /// Whether it lies within a `d_step`, behind its first statement.
    pub in_d_step: bool,
    /// Whether it is where its block begins.
    is_entry: bool,
    /// The number that SPIN gives to the place.
    pub number: usize,
    pub span: Span,
}

/// A step.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub does: Does,
    pub target: NodeId,
    /// The block that its statement lies in.
    pub block: Option<BlockId>,
    /// Whether its statement lies within a `d_step`.
    pub d_step: Option<BlockId>,
    /// The first places of the escapes (`unless`) that come before it.
    pub escapes: Vec<NodeId>,
    /// The first place of the escape that it begins.
    pub escape: Option<NodeId>,
    /// Whether no statement of the text stands for it.
    pub is_silent: bool,
    /// Whether it is a `goto`.
    is_goto: bool,
    /// Whether it is the last in its block: what follows is another step, also where a `goto` behind the block leads back into it.
    is_exit: bool,
    /// Whether it is the `else` of an `if` within its `d_step`, and looks at nothing outside.
    is_else_of_d_step: bool,
    pub text: String,
    pub span: Span,
}

/// What a step does.
#[derive(Clone, Debug)]
pub(super) enum Does {
    Op(Op),
    /// Taken where no edge of this place that comes before it is executable.
    Else(NodeId),
}

impl Graph {
    /// The edges that the `else` of a place looks at: SPIN tries them before it. They are all others, unless the `else` stands in an `if`, a
    /// block or an `atomic` at the head of an option that others follow. The `else` with which an escape begins is tried first of all.
    pub fn before_else(&self, node: NodeId, taken: &Edge) -> Vec<&Edge> {
        if taken.escape.is_some() {
            return Vec::new();
        }
        let is_it = |edge: &Edge| matches!(edge.does, Does::Else(_)) && edge.span == taken.span;
        let edges = self.nodes[node].edges.iter().take_while(|edge| !is_it(edge));
        edges.filter(|edge| !taken.is_else_of_d_step || edge.d_step == taken.d_step).collect()
    }
}

impl Graph {
    /// Whether the process goes on after the edge, in the same step: within its block, or by a jump into the middle of another one. A `goto`
    /// to where its own block begins leaves the block.
    pub fn goes_on(&self, edge: &Edge) -> bool {
        let target = &self.nodes[edge.target];
        let stays = target.block == edge.block && !edge.is_goto;
        edge.block.is_some() && !edge.is_exit && (stays || (target.block.is_some() && !target.is_entry))
    }
}

impl Graph {
    /// Whether a process at a place is within a region that it has begun.
    pub fn has_begun(&self, node: NodeId) -> bool {
        self.nodes[node].block.is_some() && !self.nodes[node].is_entry
    }

    /// Whether a process may come to its end.
    pub fn may_end(&self) -> bool {
        self.reached()[self.end]
    }

    /// The places that some way leads to.
    pub fn reached(&self) -> Vec<bool> {
        let mut seen = vec![false; self.nodes.len()];
        let mut open = vec![self.entry];
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut seen[node], true) {
                open.extend(self.nodes[node].edges.iter().map(|edge| edge.target));
            }
        }
        seen
    }

    /// The first statement that no way leads to.
    pub fn unreached(&self) -> Option<Span> {
        let seen = self.reached();
        let spans = |is_seen: bool| {
            let nodes = self.nodes.iter().zip(&seen).filter(move |(_, seen)| **seen == is_seen);
            nodes.flat_map(|(node, _)| &node.edges).filter(|edge| !edge.is_silent).map(|edge| edge.span)
        };
        let reached: HashSet<Span> = spans(true).collect();
        spans(false).filter(|span| !reached.contains(span)).min()
    }
}

/// How graphs are built.
#[derive(Clone, Copy)]
pub(super) struct Style<'n> {
    /// Blocks that begin with a loop have an entry place of their own, as SPIN counts.
    pub block_entries: bool,
    /// The labels of this proctype that `P@l` names.
    pub named: &'n HashSet<String>,
    /// Whether it is a claim, of which every step counts.
    pub is_claim: bool,
}

/// Builds the graph of a body.
pub(super) fn build((body, end_number): (&[Stmt], usize), style: Style<'_>) -> (Graph, Vec<Diagnostic>) {
    let mut builder =
        Builder { style, drafts: Vec::new(), labels: HashMap::new(), n_blocks: 0, diagnostics: Vec::new() };
    let end_span = body.last().map_or(Span::default(), |last| Span { start: last.span.end, end: last.span.end });
    let end = builder.place(&Context::default(), end_span);
    builder.drafts[end].number = end_number;
    let entry = builder.sequence(body, end, &Context::default());
    builder.finish(entry, end)
}

/// A place while the graph is built.
#[derive(Clone, Debug, Default)]
struct Draft {
    items: Vec<Item>,
    labels: Vec<String>,
    block: Option<BlockId>,
    in_d_step: bool,
    is_entry: bool,
    number: usize,
    span: Span,
    /// The place that this one is.
    alias: Option<NodeId>,
    /// Whether something was put here.
    is_known: bool,
    /// Whether it stands for a jump that is a step only where it leaves its block.
    is_jump: bool,
    /// Whether SPIN does not make this jump where it is a step.
    is_lost: bool,
    /// The first places of the escapes that it stands in, the outermost first.
    around: Vec<NodeId>,
}

impl Draft {
    /// The first places of the escapes around it, the outermost first.
    fn escapes(&self) -> impl Iterator<Item = NodeId> {
        self.items.iter().filter_map(|item| match item {
            Item::Escape(escape) => Some(*escape),
            Item::Edge(_) | Item::Lent(_) => None,
        })
    }
}

#[derive(Clone, Debug)]
enum Item {
    Edge(Edge),
    /// All edges of another place.
    Lent(NodeId),
    /// All edges of the first place of an escape.
    Escape(NodeId),
}

/// What stands around a statement.
#[derive(Clone, Debug, Default)]
struct Context {
    block: Option<BlockId>,
    d_step: Option<BlockId>,
    /// Where `break` leads.
    exit: Option<NodeId>,
    /// The `if` or `do` at the head of one of whose options the statement stands.
    head_of: Option<NodeId>,
    /// The `d_step` that this `if` or `do` stands in.
    head_d_step: Option<BlockId>,
    /// Whether the statement is the first one of a block, which lends its steps as an option does.
    opens_block: bool,
    /// What follows the outermost `atomic` or `d_step`.
    exit_of_block: Option<NodeId>,
    escapes: Vec<NodeId>,
}

struct Builder<'n> {
    style: Style<'n>,
    drafts: Vec<Draft>,
    labels: HashMap<String, NodeId>,
    n_blocks: usize,
    diagnostics: Vec<Diagnostic>,
}

impl Builder<'_> {
    fn place(&mut self, around: &Context, span: Span) -> NodeId {
        let mut draft = Draft { block: around.block, span, is_known: true, ..Draft::default() };
        draft.in_d_step = around.d_step.is_some();
        draft.around.clone_from(&around.escapes);
        draft.items = around.escapes.iter().map(|&escape| Item::Escape(escape)).collect();
        self.drafts.push(draft);
        self.drafts.len() - 1
    }

    fn numbered(&mut self, number: usize, around: &Context, span: Span) -> NodeId {
        let node = self.place(around, span);
        self.drafts[node].number = number;
        node
    }

    /// The place of a label, which may not be built yet.
    fn label(&mut self, name: &str) -> NodeId {
        if let Some(&node) = self.labels.get(name) {
            return node;
        }
        self.drafts.push(Draft::default());
        let node = self.drafts.len() - 1;
        self.labels.insert(name.to_owned(), node);
        node
    }

    fn edge(&mut self, from: NodeId, does: Does, target: NodeId, (statement, around): (&Stmt, &Context)) {
        let edge = Edge {
            does,
            target,
            block: around.block,
            d_step: around.d_step,
            escapes: around.escapes.clone(),
            escape: None,
            is_silent: statement.text == SILENT,
            is_goto: matches!(statement.kind, StmtKind::Goto(_)),
            is_exit: around.exit_of_block == Some(target) && !matches!(statement.kind, StmtKind::Goto(_)),
            is_else_of_d_step: around.d_step.is_some() && around.d_step == around.head_d_step,
            text: statement.text.clone(),
            span: statement.span,
        };
        self.drafts[from].items.push(Item::Edge(edge));
    }

    /// The first place of statements that lead to `next`.
    fn sequence(&mut self, body: &[Stmt], next: NodeId, around: &Context) -> NodeId {
        let mut target = next;
        for (position, statement) in body.iter().enumerate().rev() {
            let is_head = position == 0;
            let here = Context {
                head_of: around.head_of.filter(|_| is_head),
                opens_block: around.opens_block && is_head,
                ..around.clone()
            };
            target = self.statement(statement, target, &here);
        }
        target
    }

    fn statement(&mut self, statement: &Stmt, next: NodeId, around: &Context) -> NodeId {
        let span = statement.span;
        let node = match &statement.kind {
            StmtKind::Op(op) => {
                let node = self.numbered(statement.number, around, span);
                self.edge(node, Does::Op(op.clone()), next, (statement, around));
                node
            }
            StmtKind::Else => self.else_step(statement, next, around),
            StmtKind::Goto(label) => {
                let target = self.label(label);
                self.jump(statement, target, around)
            }
            StmtKind::Break => match around.exit {
                Some(exit) => self.jump(statement, exit, around),
                None => {
                    let message = "this `break` is not within a `do`";
                    self.diagnostics.push(Diagnostic::error(code::LABEL, span, message));
                    next
                }
            },
            StmtKind::If(options) => {
                let node = self.numbered(statement.number, around, span);
                self.options(options, (node, next), &Context { ..around.clone() });
                node
            }
            StmtKind::Do(options) => {
                let node = self.numbered(statement.number, around, span);
                self.options(options, (node, node), &Context { exit: Some(next), ..around.clone() });
                node
            }
            StmtKind::Block(inner) => {
                let entry = self.sequence(inner, next, &Context { opens_block: true, ..around.clone() });
                let entry = self.block_entry(inner, entry, around);
                self.drafts[entry].number = statement.number;
                entry
            }
            StmtKind::Atomic(inner) => {
                let entry = self.atomic(inner, next, around);
                self.drafts[entry].number = statement.number;
                entry
            }
            StmtKind::DStep(inner) => {
                let entry = self.d_step(inner, next, around);
                self.drafts[entry].number = statement.number;
                entry
            }
            StmtKind::Unless(main, escape) => {
                let plain = Context { opens_block: false, ..around.clone() };
                let escape = self.sequence(escape, next, &Context { head_of: None, ..plain.clone() });
                let escapes = around.escapes.iter().copied().chain([escape]).collect();
                let guarded = Context { escapes, ..plain };
                let entry = self.sequence(main, next, &guarded);
                self.lost_jump(statement, entry, around);
                match statement.labels.is_empty() {
                    true => entry,
                    false => self.block_entry(main, entry, &guarded),
                }
            }
        };
        self.attach(&statement.labels, node);
        node
    }

    /// Within an `atomic` SPIN makes no step of a jump out of it that stands first before an `unless`: the process stays there for ever, and
    /// its escape is not tried. Only where the `unless` begins its block, an option, or has a label, the jump is made.
    fn lost_jump(&mut self, statement: &Stmt, entry: NodeId, around: &Context) {
        let is_plain = around.head_of.is_none() && !around.opens_block && statement.labels.is_empty();
        if is_plain && around.block.is_some() && self.drafts[entry].is_jump {
            self.drafts[entry].is_lost = true;
        }
    }

    fn attach(&mut self, labels: &[String], node: NodeId) {
        for label in labels {
            let place = self.label(label);
            if place != node {
                self.drafts[place].alias = Some(node);
            }
            self.drafts[place].is_known = true;
            self.drafts[node].labels.push(label.clone());
        }
    }

    fn options(&mut self, options: &[Vec<Stmt>], (node, next): (NodeId, NodeId), around: &Context) {
        let head = Context { head_of: Some(node), head_d_step: around.d_step, ..around.clone() };
        // SPIN tries an `else` after all other options.
        let is_else = |option: &&Vec<Stmt>| matches!(option.first().map(|first| &first.kind), Some(StmtKind::Else));
        let (last, first): (Vec<&Vec<Stmt>>, Vec<&Vec<Stmt>>) = options.iter().partition(is_else);
        for option in first.into_iter().chain(last) {
            let option = if self.style.is_claim { option.clone() } else { without_repeated_skips(option) };
            let first = self.sequence(&option, next, &head);
            self.drafts[node].items.push(Item::Lent(first));
        }
    }

    fn else_step(&mut self, statement: &Stmt, next: NodeId, around: &Context) -> NodeId {
        let node = self.numbered(statement.number, around, statement.span);
        match around.head_of {
            Some(of) => self.edge(node, Does::Else(of), next, (statement, around)),
            None => {
                let message = "`else` stands first in an option of `if` or `do`";
                self.diagnostics.push(Diagnostic::error(code::ELSE, statement.span, message));
            }
        }
        node
    }

    /// A jump is a step where it is first in an option or a block, leaves an `atomic`, or has a label that matters.
    fn jump(&mut self, statement: &Stmt, target: NodeId, around: &Context) -> NodeId {
        let matters = |label: &String| {
            let has_role = ["end", "progress", "accept"].iter().any(|role| label.starts_with(role));
            has_role || self.style.named.contains(label)
        };
        let is_step = around.head_of.is_some() || around.opens_block || statement.labels.iter().any(matters);
        if !is_step && (around.block.is_none() || around.d_step.is_some()) {
            return target;
        }
        let node = self.numbered(numbers::of_jump(statement), around, statement.span);
        self.edge(node, Does::Op(Op::Skip), target, (statement, around));
        self.drafts[node].is_jump = !is_step;
        node
    }

    fn atomic(&mut self, inner: &[Stmt], next: NodeId, around: &Context) -> NodeId {
        let block = self.block_of(around);
        let exit_of_block = around.exit_of_block.or(Some(next));
        let inside = Context { block: Some(block), opens_block: true, exit_of_block, ..around.clone() };
        let entry = match closes_with_choice(inner) {
            // The end of the choice is a place of its own, left by a silent step.
            Some(last) if around.block.is_none() => {
                let around_close = Context { head_of: None, opens_block: false, ..inside.clone() };
                let close = self.numbered(numbers::behind(last), &around_close, last.span);
                let silent = Stmt { text: SILENT.into(), labels: Vec::new(), ..last.clone() };
                self.edge(close, Does::Op(Op::Skip), next, (&silent, &inside));
                self.sequence(inner, close, &inside)
            }
            _ => self.sequence(inner, next, &inside),
        };
        let entry = self.block_entry(inner, entry, &inside);
        let first = self.resolve(entry);
        self.drafts[first].is_entry |= self.drafts[first].block == Some(block) && around.block.is_none();
        entry
    }

    /// A `d_step` is entered by a place of its own: what comes back to its first statement is within it, and asks neither for an escape nor for
    /// what is `provided`.
    fn d_step(&mut self, inner: &[Stmt], next: NodeId, around: &Context) -> NodeId {
        let block = self.block_of(around);
        if around.d_step.is_some() {
            return self.sequence(inner, next, &Context { opens_block: false, ..around.clone() });
        }
        let begun = Context {
            block: Some(block),
            d_step: Some(self.n_blocks),
            opens_block: false,
            exit_of_block: around.exit_of_block.or(Some(next)),
            escapes: Vec::new(),
            ..around.clone()
        };
        self.n_blocks += 1;
        let first = self.sequence(inner, next, &begun);
        let entry = self.place(&Context { block: Some(block), ..around.clone() }, self.drafts[first].span);
        self.drafts[entry].items.push(Item::Lent(first));
        self.drafts[entry].is_entry |= around.block.is_none();
        entry
    }

    fn block_of(&mut self, around: &Context) -> BlockId {
        around.block.unwrap_or_else(|| {
            self.n_blocks += 1;
            self.n_blocks - 1
        })
    }

    /// As SPIN counts, a block that begins with a loop is entered by a place of its own.
    fn block_entry(&mut self, inner: &[Stmt], entry: NodeId, around: &Context) -> NodeId {
        if !self.style.block_entries || !begins_with_loop(inner) {
            return entry;
        }
        let span = self.drafts[entry].span;
        let node = self.place(around, span);
        self.drafts[node].items = vec![Item::Lent(entry)];
        node
    }

    fn resolve(&self, mut node: NodeId) -> NodeId {
        for _ in 0..self.drafts.len() {
            match self.drafts[node].alias {
                Some(other) => node = other,
                None => break,
            }
        }
        node
    }

    /// The edges of a place and of those that lend theirs to it; `escape`: the escape through which they come.
    fn edges_of(&self, node: NodeId, path: &mut Vec<NodeId>, (escape, found): (Option<NodeId>, &mut Vec<Edge>)) {
        let node = self.resolve(node);
        // An escape is lent by its statement and by the choices around it: once is enough.
        if path.contains(&node) {
            return;
        }
        path.push(node);
        let own: Vec<NodeId> = self.drafts[node].escapes().map(|escape| self.resolve(escape)).collect();
        for item in &self.drafts[node].items {
            match item {
                Item::Lent(other) => {
                    let n_before = found.len();
                    self.edges_of(*other, path, (escape, found));
                    // The statements of a `d_step` have no escapes, but the place where it is entered has.
                    for edge in &mut found[n_before..] {
                        let missing = own.iter().filter(|escape| !edge.escapes.contains(escape)).copied();
                        edge.escapes.splice(0..0, missing.collect::<Vec<_>>());
                    }
                }
                Item::Escape(other) => {
                    let escape = escape.or(Some(self.resolve(*other)));
                    self.edges_of(*other, path, (escape, found));
                }
                Item::Edge(edge) => {
                    let does = match &edge.does {
                        // Also where an inner `if` lends it an `else` looks at the whole place.
                        Does::Else(_) => Does::Else(path[0]),
                        other => other.clone(),
                    };
                    let escapes = edge.escapes.iter().map(|&escape| self.resolve(escape)).collect();
                    found.push(Edge { does, escapes, escape, target: self.resolve(edge.target), ..edge.clone() });
                }
            }
        }
    }

    /// The edges of a place with the escapes that come before each: one that is executable disables all other edges of the place, whatever
    /// option they stand in; of several the one of the last option comes first, and the outer before the inner. Where an `unless` stands at the
    /// head of an option, its escape and those around it are tried together, as by `pan`, which copies them in one.
    fn with_escapes(&self, node: NodeId) -> Vec<Edge> {
        let mut edges = Vec::new();
        self.edges_of(node, &mut Vec::new(), (None, &mut edges));
        let around: Vec<NodeId> =
            self.drafts[self.resolve(node)].around.iter().map(|&escape| self.resolve(escape)).collect();
        let mut groups: Vec<Vec<NodeId>> = Vec::new();
        for edge in edges.iter().filter(|edge| edge.escape.is_none()) {
            let is_new = |escape: &&NodeId| !groups.iter().any(|group| group.contains(escape));
            let added: Vec<NodeId> = edge.escapes.iter().rev().filter(is_new).copied().collect();
            let is_lent = edge.escapes.last().is_some_and(|inner| !around.contains(inner));
            match is_lent {
                true if !added.is_empty() => groups.insert(0, added),
                true => {}
                false => added.into_iter().for_each(|escape| groups.insert(0, vec![escape])),
            }
        }
        for edge in &mut edges {
            let is_its_own = |group: &&Vec<NodeId>| edge.escape.is_some_and(|escape| group.contains(&escape));
            let before = groups.iter().take_while(|group| !is_its_own(group));
            edge.escapes = before.flatten().copied().collect();
        }
        edges
    }

    /// Jumps that stay in their block, or lead into the middle of another one, are no steps.
    fn skip_jumps(&mut self) {
        for node in 0..self.drafts.len() {
            let jump = self.drafts[node].items.iter().find_map(|item| match item {
                Item::Edge(edge) => Some((self.resolve(edge.target), edge.is_goto)),
                Item::Lent(_) | Item::Escape(_) => None,
            });
            if let Some((target, is_goto)) = jump.filter(|&(target, _)| self.drafts[node].is_jump && target != node)
                && self.drafts[target].block.is_some()
                && ((self.drafts[target].block == self.drafts[node].block && !is_goto) || !self.drafts[target].is_entry)
            {
                self.drafts[node].alias = Some(target);
            }
        }
    }

    fn finish(mut self, entry: NodeId, end: NodeId) -> (Graph, Vec<Diagnostic>) {
        self.skip_jumps();
        for draft in self.drafts.iter().filter(|draft| draft.is_lost && draft.alias.is_none()) {
            let message = "a jump out of an `atomic` that stands first before an `unless` is not read";
            let help = "SPIN stays there for ever: write `skip` before the jump";
            self.diagnostics.push(Diagnostic::error(code::NOT_READ, draft.span, message).help(help));
        }
        let mut nodes = Vec::new();
        for (id, draft) in self.drafts.clone().iter().enumerate() {
            let edges = if draft.alias.is_none() { self.with_escapes(id) } else { Vec::new() };
            let mut elses = edges.iter().filter(|edge| matches!(edge.does, Does::Else(_)) && !edge.is_else_of_d_step);
            if let (Some(first), Some(second)) = (elses.next(), elses.next()) {
                let message = "two `else` stand at one place: an `if` at the head of an option lends its steps";
                let diagnostic = Diagnostic::error(code::ELSE, second.span, message).note(first.span, "the other one");
                self.diagnostics.push(diagnostic);
            }
            let Draft { labels, block, in_d_step, is_entry, number, span, .. } = draft.clone();
            nodes.push(Node { edges, labels, block, in_d_step, is_entry, number, span });
        }
        let labels = self.labels.iter().map(|(name, &node)| (name.clone(), self.resolve(node))).collect();
        // A label that stands at a jump belongs to the place that the jump leads to.
        for (id, draft) in self.drafts.iter().enumerate() {
            let target = self.resolve(id);
            if target != id {
                let missing: Vec<String> =
                    draft.labels.iter().filter(|label| !nodes[target].labels.contains(label)).cloned().collect();
                nodes[target].labels.extend(missing);
            }
        }
        let graph = Graph { nodes, entry: self.resolve(entry), end: self.resolve(end), labels };
        self.jumps_across(&graph);
        (graph, self.diagnostics)
    }

    /// No jump leads into or out of a `d_step`.
    fn jumps_across(&mut self, graph: &Graph) {
        for node in &graph.nodes {
            for edge in &node.edges {
                let enters = edge.d_step.is_none() && graph.nodes[edge.target].in_d_step;
                if enters {
                    let message = "a jump leads into the middle of a `d_step`";
                    self.diagnostics.push(Diagnostic::error(code::LABEL, edge.span, message));
                }
            }
        }
    }
}

/// An option without what SPIN drops of it: the second and further of `skip`s and texts in a row, where these are `skip`s without a label and
/// neither first nor last in the option.
fn without_repeated_skips(option: &[Stmt]) -> Vec<Stmt> {
    let is_true = |expr: &Expr| matches!(expr.kind, ExprKind::Const(1));
    let mut kept: Vec<Stmt> = Vec::new();
    let mut n_in_row = 0;
    for (position, statement) in option.iter().enumerate() {
        let (is_skip, is_text) = match &statement.kind {
            StmtKind::Op(Op::Guard(expr)) => (is_true(expr), false),
            StmtKind::Op(Op::Print) => (true, true),
            _ => (false, false),
        };
        n_in_row = if is_skip && statement.labels.is_empty() { n_in_row + 1 } else { 0 };
        let is_inner = position > 0 && position + 1 < option.len();
        if n_in_row < 2 || is_text || !is_inner {
            kept.push(statement.clone());
        }
    }
    kept
}

/// Whether the first statement is a loop, or one with an escape.
fn begins_with_loop(body: &[Stmt]) -> bool {
    body.first().is_some_and(|first| match &first.kind {
        StmtKind::Do(_) => true,
        StmtKind::Unless(main, _) => begins_with_loop(main),
        _ => false,
    })
}

/// The `if`, `do` or `unless` that closes a block.
fn closes_with_choice(body: &[Stmt]) -> Option<&Stmt> {
    let last = body.last()?;
    match &last.kind {
        StmtKind::If(_) | StmtKind::Do(_) | StmtKind::Unless(..) => Some(last),
        StmtKind::Block(inner) | StmtKind::Atomic(inner) => closes_with_choice(inner),
        _ => None,
    }
}
