//! The points of a text: its statements as a graph, before places are made.
//!
//! In: the block of a process or procedure. Out: a [`Graph`] with one point before each statement, one at the end of each `for`
//! body, and one at the end of the text. A process stands only before statements that take steps (and at the end); `loop`, `for`,
//! `goto`, `break` and `continue` are passed without a step. A label on `loop` or `for` belongs to the first step inside, and is
//! handed down; for `goto` it means the loop itself.

use std::collections::{BTreeMap, HashMap, HashSet};

use base::{Diagnostic, Id, IdVec, Span};
use model::control::{Loop, LoopId, Next, PlaceId, TextOwner as TextScope};
use model::expr::{Domain, Expr, ExprKind};
use model::types::{ScalarType, Type};
use model::value::Value;
use model::variable::{Init, Role, Storage, Var};

use crate::codes::check as code;
use crate::codes::syntax::LABEL_WITHOUT_PLACE;
use crate::pw::ast::{self, Block, Ident, Statement, StatementKind};
use crate::pw::check::{Base, Checker, Meaning, Scope};

/// Names a point of one graph.
pub(super) type PointId<'a> = Id<Point<'a>>;

/// A point of a text.
pub(super) struct Point<'a> {
    /// What follows it.
    pub kind: PointKind<'a>,
    /// The labels that are true there, its own first.
    pub labels: Vec<&'a str>,
    /// Where control goes after what follows it.
    pub after: PointId<'a>,
    /// The `for` loops around it, outermost first.
    pub loops: Vec<LoopId>,
    /// What names mean there.
    pub scope: Scope<'a>,
    /// The statement; at the end, the closing brace.
    pub span: Span,
    /// The block that the statement stands in.
    pub block: Span,
}

/// What follows a point.
#[derive(Clone)]
pub(super) enum PointKind<'a> {
    /// A statement that is one step.
    Step(&'a Statement),
    /// The test of `if` or `while`.
    Test {
        /// The statement.
        statement: &'a Statement,
        /// The test.
        condition: &'a ast::Expr,
        /// Where control goes if it holds.
        yes: PointId<'a>,
        /// Where control goes if it does not.
        no: PointId<'a>,
    },
    /// A free choice; a branch without statements is `None`.
    Either(Vec<Option<PointId<'a>>>),
    /// `loop`, with the start of its body.
    Loop(PointId<'a>),
    /// `for`.
    For(ForPoint<'a>),
    /// The end of the body of a `for`, with the start of the body.
    Again(LoopId, PointId<'a>),
    /// `goto`, `break`, `continue`; without a target if that is wrong.
    Jump(&'a Statement, Option<PointId<'a>>),
    /// The end of the text.
    End,
}

/// A `for` loop.
#[derive(Clone)]
pub(super) struct ForPoint<'a> {
    /// The loop in the Model.
    pub id: LoopId,
    /// The start of its body.
    pub body: PointId<'a>,
    /// Whether its body is surely entered.
    pub is_nonempty: bool,
    /// Whether its counter surely starts with its type's first value.
    pub starts_least: bool,
}

/// The points of one text.
pub(super) struct Graph<'a> {
    /// Whose text it is.
    pub text: TextScope,
    /// The points.
    pub points: IdVec<Point<'a>>,
    /// Where control starts.
    pub entry: PointId<'a>,
    /// The end of the text.
    pub end: PointId<'a>,
    /// The points that labels stand at, for `goto`.
    pub labelled: HashMap<&'a str, PointId<'a>>,
    /// How many values each loop has at most.
    pub loop_sizes: HashMap<LoopId, i64>,
    /// The labels at which a process may wait for ever.
    pub ends: HashSet<&'a str>,
}

/// What surrounds a statement.
#[derive(Clone)]
struct Context<'a> {
    scope: Scope<'a>,
    loops: Vec<LoopId>,
    /// Where `break` and `continue` go.
    innermost: Option<(PointId<'a>, PointId<'a>)>,
    block: Span,
}

struct Builder<'a, 'c> {
    checker: &'c mut Checker<'a>,
    graph: Graph<'a>,
    /// The `goto`s, to be resolved when all labels are known.
    gotos: Vec<(PointId<'a>, &'a Ident)>,
    /// The names of the text's variables and counters.
    names: HashSet<String>,
}

/// Builds the points of a text.
pub(super) fn build<'a>(checker: &mut Checker<'a>, text: TextScope, body: &'a Block) -> Graph<'a> {
    let base = match text {
        TextScope::Family(id) => Base::Family(id),
        TextScope::Procedure(id) => Base::Procedure(id),
    };
    let around = Context { scope: Scope::new(base), loops: Vec::new(), innermost: None, block: body.span };
    let mut points = IdVec::new();
    let closing = Span { start: body.span.end.saturating_sub(1), end: body.span.end };
    let end = points.push(point(PointKind::End, points.next_id(), &around, closing));
    let (labelled, loop_sizes, ends) = (HashMap::new(), HashMap::new(), HashSet::new());
    let graph = Graph { text, points, entry: end, end, labelled, loop_sizes, ends };
    let model = &checker.model;
    let vars = match text {
        TextScope::Family(family) => &model.families[family].vars,
        TextScope::Procedure(procedure) => &model.procedures[procedure].vars,
    };
    let names = vars.iter().map(|&var| model.vars[var].name.clone()).collect();
    let mut builder = Builder { checker, graph, gotos: Vec::new(), names };
    builder.graph.entry = builder.block(body, end, &[], &around);
    builder.resolve_gotos();
    builder.graph
}

fn point<'a>(kind: PointKind<'a>, after: PointId<'a>, around: &Context<'a>, span: Span) -> Point<'a> {
    let (loops, scope) = (around.loops.clone(), around.scope.clone());
    Point { kind, labels: Vec::new(), after, loops, scope, span, block: around.block }
}

impl<'a> Builder<'a, '_> {
    /// The points of a block; returns where it starts. `labels` belong to its first step.
    fn block(
        &mut self,
        block: &'a Block,
        after: PointId<'a>,
        labels: &[&'a Ident],
        around: &Context<'a>,
    ) -> PointId<'a> {
        let around = Context { block: block.span, ..around.clone() };
        let statements = &block.statements;
        let ids: Vec<PointId<'a>> = statements
            .iter()
            .map(|statement| self.graph.points.push(point(PointKind::End, after, &around, statement.span)))
            .collect();
        if statements.is_empty() {
            self.report_no_place(labels);
        }
        for (at, statement) in statements.iter().enumerate() {
            let after = ids.get(at + 1).copied().unwrap_or(after);
            self.graph.points[ids[at]].after = after;
            let own = &statement.labels;
            for label in own {
                self.graph.labelled.entry(&label.name).or_insert(ids[at]);
                if statement.may_end {
                    self.graph.ends.insert(&label.name);
                }
            }
            let handed_down = if at == 0 { labels } else { &[] };
            let labels: Vec<&'a Ident> = own.iter().chain(handed_down.iter().copied()).collect();
            self.statement(ids[at], statement, &labels, &around);
        }
        ids.first().copied().unwrap_or(after)
    }

    fn report_no_place(&mut self, labels: &[&'a Ident]) {
        for label in labels {
            let message = format!("the label `{}` names no place: no step follows it here", label.name);
            let diagnostic = Diagnostic::error(LABEL_WITHOUT_PLACE, label.span, message);
            self.checker.report(diagnostic.help("put it on a `skip;`"));
        }
    }

    fn statement(&mut self, id: PointId<'a>, statement: &'a Statement, labels: &[&'a Ident], around: &Context<'a>) {
        let after = self.graph.points[id].after;
        let kind = match &statement.kind {
            StatementKind::If { condition, then, otherwise } => {
                let yes = self.block(then, after, &[], around);
                let no = otherwise.as_ref().map_or(after, |block| self.block(block, after, &[], around));
                PointKind::Test { statement, condition, yes, no }
            }
            StatementKind::While { condition, body } => {
                let inside = Context { innermost: Some((after, id)), ..around.clone() };
                let yes = self.block(body, id, &[], &inside);
                PointKind::Test { statement, condition, yes, no: after }
            }
            StatementKind::Either { branches } => {
                let branch =
                    |branch: &'a Block| (!branch.statements.is_empty()).then(|| self.block(branch, after, &[], around));
                PointKind::Either(branches.iter().map(branch).collect())
            }
            StatementKind::Loop(body) => {
                let inside = Context { innermost: Some((after, id)), ..around.clone() };
                let body = self.block(body, id, labels, &inside);
                self.graph.points[id].kind = PointKind::Loop(body);
                return;
            }
            StatementKind::For { variable, range, body } => {
                self.graph.points[id].kind = self.for_loop((id, statement), (variable, range, body), labels, around);
                return;
            }
            StatementKind::Goto(label) => {
                self.gotos.push((id, label));
                self.report_no_place(labels);
                PointKind::Jump(statement, None)
            }
            StatementKind::Break | StatementKind::Continue => {
                self.report_no_place(labels);
                PointKind::Jump(statement, self.loop_jump(statement, around))
            }
            _ => PointKind::Step(statement),
        };
        let point = &mut self.graph.points[id];
        if !matches!(kind, PointKind::Jump(..)) {
            point.labels = labels.iter().map(|label| label.name.as_str()).collect();
        }
        point.kind = kind;
    }

    fn loop_jump(&mut self, statement: &'a Statement, around: &Context<'a>) -> Option<PointId<'a>> {
        let is_break = matches!(statement.kind, StatementKind::Break);
        let target = around.innermost.map(|(after, again)| if is_break { after } else { again });
        if target.is_none() {
            let word = if is_break { "break" } else { "continue" };
            let message = format!("`{word}` stands outside any loop");
            self.checker.report(Diagnostic::error(code::OUTSIDE_LOOP, statement.span, message));
        }
        target
    }

    fn for_loop(
        &mut self,
        (id, statement): (PointId<'a>, &'a Statement),
        (variable, range, body): (&'a Ident, &'a ast::Range, &'a Block),
        labels: &[&'a Ident],
        around: &Context<'a>,
    ) -> PointKind<'a> {
        let after = self.graph.points[id].after;
        let standpoint = super::standpoint(self.graph.text);
        let ranged = self.checker.standing(standpoint, |checker| checker.ranged(range, &around.scope));
        self.checker.warn_hidden(variable, &around.scope);
        if body.statements.is_empty() {
            self.report_no_place(labels);
            let warning =
                Diagnostic::warning(code::EMPTY_FOR, statement.span, "this `for` does nothing: its body is empty");
            self.checker.report(warning);
            return PointKind::Jump(statement, Some(after));
        }
        let nothing = || Expr { kind: ExprKind::Const(Value::Int(0)), span: range.span };
        let (domain, scalar) = match &ranged {
            Some(ranged) => (ranged.domain.clone(), ranged.scalar()),
            None => (Domain::Range(Box::new(nothing()), Box::new(nothing())), ScalarType::Range { lo: 0, hi: 0 }),
        };
        let loop_id = self.checker.model.loops.next_id();
        let counter = self.counter(variable, loop_id, scalar);
        let unknown = Next::To(PlaceId::new(0));
        let scope = self.graph.text;
        self.checker.model.loops.push(Loop { scope, counter, domain, body: unknown, span: statement.span });
        self.graph.loop_sizes.insert(loop_id, ranged.as_ref().map_or(1, |ranged| ranged.size.max(1)));

        let meaning = if ranged.is_some() { Meaning::Counter(counter) } else { Meaning::Anything };
        let mut inside = around.clone();
        inside.loops.push(loop_id);
        inside.scope = inside.scope.with(variable, meaning);
        let closing = Span { start: body.span.end.saturating_sub(1), end: body.span.end };
        let again = self.graph.points.push(point(PointKind::End, after, &inside, closing));
        inside.innermost = Some((after, again));
        let body = self.block(body, again, labels, &inside);
        self.graph.points[again].kind = PointKind::Again(loop_id, body);
        PointKind::For(ForPoint {
            id: loop_id,
            body,
            is_nonempty: ranged.as_ref().is_none_or(|ranged| ranged.is_nonempty),
            starts_least: ranged.as_ref().is_none_or(|ranged| ranged.starts_least),
        })
    }

    /// The hidden variable that counts a loop.
    fn counter(&mut self, name: &Ident, id: LoopId, scalar: ScalarType) -> model::variable::VarId {
        let storage = match self.graph.text {
            TextScope::Family(family) => Storage::Local(family),
            TextScope::Procedure(procedure) => Storage::Frame(procedure),
        };
        let shown = self.counter_name(name);
        let model = &mut self.checker.model;
        let counter = model.vars.push(Var {
            name: shown,
            storage,
            role: Role::Counter(id),
            ty: Type::Scalar(scalar),
            init: Init::First,
            offset: 0,
            shown: BTreeMap::new(),
            look: model::variable::VariableLook::Plain,
            indices_after: Vec::new(),
            doc: String::new(),
            span: name.span,
        });
        match self.graph.text {
            TextScope::Family(family) => model.families[family].vars.push(counter),
            TextScope::Procedure(procedure) => model.procedures[procedure].vars.push(counter),
        }
        counter
    }

    /// The loop variable's name; with its place if the text has another variable of that name, since cells are told apart
    /// by their names in traces.
    fn counter_name(&mut self, name: &Ident) -> String {
        if self.names.insert(name.name.clone()) {
            return name.name.clone();
        }
        let at = self.checker.source.line_col(name.span.start);
        format!("{}@{}:{}", name.name, at.line, at.col)
    }

    fn resolve_gotos(&mut self) {
        for (id, label) in std::mem::take(&mut self.gotos) {
            let Some(&target) = self.graph.labelled.get(&*label.name) else {
                self.report_unknown_label(label);
                continue;
            };
            let (from, to) = (&self.graph.points[id].loops, &self.graph.points[target].loops);
            if !from.starts_with(to) {
                let message = format!("`{}` stands inside a `for` that this `goto` is outside of", label.name);
                let into = self.graph.points[target].span;
                let diagnostic = Diagnostic::error(code::INTO_FOR, label.span, message).note(into, "inside the `for`");
                let help = "the loop's variable would have no value; go to the `for` itself, or use `while`";
                self.checker.report(diagnostic.help(help));
                continue;
            }
            if let PointKind::Jump(_, to) = &mut self.graph.points[id].kind {
                *to = Some(target);
            }
        }
    }

    fn report_unknown_label(&mut self, label: &Ident) {
        let message = format!("there is no label `{}` in this text", label.name);
        let diagnostic = Diagnostic::error(code::UNKNOWN_GOTO, label.span, message);
        let known = self.graph.labelled.keys().copied();
        self.checker.report(self.checker.with_nearest(diagnostic, label, known));
    }
}
