//! A pushdown system as a Model.
//!
//! The shared state is a shared variable `q`, each thread a process. The bottom symbol of a stack is a place of the process's own
//! text; a symbol that is pushed starts a procedure, whose places are the symbols that may stand there after it. A rule is one step: an
//! overwrite moves to a place, a push calls and goes on at the symbol below, a pop returns; at the bottom a pop leads to the place of
//! the empty stack. Procedures have no variables. Where a spec looks below the top of a stack, there is a procedure for each of the
//! symbols below that it can tell apart, so that a place says all that it asks.

use std::collections::{BTreeMap, HashMap};

use base::{SourceFile, Span};
use model::Model;
use model::control::{
    Action, ActionKind, Next, Place, PlaceId, Procedure, ProcedureId, Scope, Statement, StatementId, Stmt, StmtKind,
};
use model::expr::{Access, BinaryOp, Expr, ExprKind, Whose};
use model::fairness::Assumptions;
use model::process::{Family, FamilyId, Process, ProcessId};
use model::property::{Expected, Property, PropertyKind};
use model::size::Size;
use model::types::{ScalarType, Type};
use model::value::Value;
use model::variable::{Init, Role, Storage, Var, VarId};

use super::reader::{Configuration, Rule, System, Thread, Word};

/// A system with more steps than this, rules counted for each procedure in which they apply, is refused.
const MOST_ACTIONS: usize = 2_000_000;

/// The system has too many steps; the thread at which that was found.
pub(super) struct TooLarge(pub Span);

/// Makes the Model.
pub(super) fn lower(
    source: &SourceFile,
    system: &System,
    start: &Configuration,
    specs: &[(String, Configuration)],
) -> Result<Model, TooLarge> {
    let name = source.name().rsplit(['/', '\\']).next().unwrap_or_default();
    let name = name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned();
    let mut model = Model { name, ..Model::default() };
    let ty = Type::Scalar(ScalarType::Range { lo: 0, hi: i64::from(system.n_states) - 1 });
    let initial = constant(start.state.unwrap_or(0));
    let state = model.vars.push(Var {
        name: "q".to_owned(),
        storage: Storage::Shared,
        role: Role::Declared,
        ty,
        init: Init::Fill(initial),
        offset: 0,
        shown: BTreeMap::new(),
        doc: String::new(),
        span: Span::default(),
    });
    let mut looked_at: Vec<Symbols> = Vec::new();
    for (number, thread) in system.threads.iter().enumerate() {
        let specs = specs.iter().filter_map(|(_, spec)| spec.stacks.get(number)?.as_ref());
        let depth = specs.map(Vec::len).max().unwrap_or(1).max(1);
        let stack = start.stacks[number].clone().unwrap_or_default();
        let lowering = Lowering {
            model: &mut model,
            state,
            thread,
            family: FamilyId::new(number),
            depth,
            procedures: HashMap::new(),
            open: Vec::new(),
            statements: Vec::new(),
            symbols: Symbols::new(),
        };
        looked_at.push(lowering.thread(&stack)?);
    }
    for (name, spec) in specs {
        model.properties.push(question(state, name, spec, &looked_at));
    }
    if specs.is_empty() {
        let none = String::new;
        let kind = PropertyKind::NoErrors;
        model.properties.push(property("no_errors".to_owned(), kind, none()));
    }
    model.lay_out();
    Ok(model)
}

/// The places of a thread: for each, its symbol and those below it that are told apart.
type Symbols = Vec<(PlaceId, Vec<u32>)>;

/// What tells a procedure from others: the symbol that is pushed, and those below it.
type Key = (u32, Vec<u32>);

/// A text while its places are made.
struct Text {
    scope: Scope,
    /// The symbols below its top that are told apart.
    below: Vec<u32>,
    places: HashMap<u32, PlaceId>,
    /// Symbols whose rules are not yet steps.
    open: Vec<u32>,
    /// The place of the empty stack, at the bottom.
    empty: Option<PlaceId>,
}

struct Lowering<'a> {
    model: &'a mut Model,
    state: VarId,
    thread: &'a Thread,
    family: FamilyId,
    /// How many symbols of a stack specs look at.
    depth: usize,
    procedures: HashMap<Key, ProcedureId>,
    /// Procedures whose places are not yet made.
    open: Vec<(ProcedureId, Key)>,
    /// The statement of each rule.
    statements: Vec<StatementId>,
    symbols: Symbols,
}

impl Lowering<'_> {
    fn thread(mut self, stack: &[u32]) -> Result<Symbols, TooLarge> {
        for rule in &self.thread.rules {
            self.statements.push(self.model.statements.push(Statement { text: rule.text.clone(), span: rule.span }));
        }
        let family = self.family;
        let scope = Scope::Family(family);
        let mut own = Text { scope, below: Vec::new(), places: HashMap::new(), open: Vec::new(), empty: None };
        let empty = self.place(scope, "-".to_owned());
        own.empty = Some(empty);
        // A thread that has rules for the empty stack never ends there.
        let goes_on = self.thread.rules.iter().any(|rule| rule.top.is_none());
        let end = if goes_on { self.place(scope, "end".to_owned()) } else { empty };
        let entry = match stack {
            [] => empty,
            [bottom] => self.symbol(&mut own, *bottom),
            [.., bottom] => {
                let after = self.symbol(&mut own, *bottom);
                self.build(scope, &stack[..stack.len() - 1], (&[*bottom], after))?
            }
        };
        self.rules_for_empty(&mut own, empty)?;
        self.fill(&mut own)?;
        let number = family.index() + 1;
        let name = format!("T{number}");
        self.model.families.push(Family {
            name: name.clone(),
            index: None,
            size: Size::One,
            vars: Vec::new(),
            entry: Next::To(entry),
            end,
            first: ProcessId::new(family.index()),
            n_cells: 0,
            doc: self.thread.doc.clone(),
            span: self.thread.span,
        });
        self.model.processes.push(Process { family, index: 0, name, first_cell: 0 });
        while let Some((procedure, (symbol, below))) = self.open.pop() {
            let scope = Scope::Procedure(procedure);
            let mut text = Text { scope, below, places: HashMap::new(), open: Vec::new(), empty: None };
            let entry = self.symbol(&mut text, symbol);
            self.model.procedures[procedure].entry = Next::To(entry);
            self.fill(&mut text)?;
        }
        Ok(self.symbols)
    }

    /// Places that build the upper part of the first stack, one call after the other: where to start.
    fn build(&mut self, scope: Scope, upper: &[u32], (lower, after): (&[u32], PlaceId)) -> Result<PlaceId, TooLarge> {
        let start = self.place(scope, "start".to_owned());
        let (&symbol, rest) = upper.split_last().expect("there is something to build");
        let below: Vec<u32> = lower.iter().copied().take(self.depth - 1).collect();
        let procedure = match rest {
            [] => self.procedure(symbol, &below),
            _ => {
                // A procedure of its own, whose text begins with the next call.
                let procedure = self.new_procedure(symbol);
                let scope = Scope::Procedure(procedure);
                let mut text =
                    Text { scope, below: below.clone(), places: HashMap::new(), open: Vec::new(), empty: None };
                let after = self.symbol(&mut text, symbol);
                let lower = [&[symbol], lower].concat();
                let entry = self.build(scope, rest, (&lower, after))?;
                self.model.procedures[procedure].entry = Next::To(entry);
                self.fill(&mut text)?;
                procedure
            }
        };
        let statement = self.model.statements.push(Statement { text: "start".to_owned(), span: self.thread.span });
        let kind = ActionKind::Call { procedure, arguments: Vec::new(), result: None };
        self.action((scope, start, statement), (None, Vec::new()), kind, after)?;
        Ok(start)
    }

    /// Makes steps of the rules of all symbols of a text.
    fn fill(&mut self, text: &mut Text) -> Result<(), TooLarge> {
        while let Some(symbol) = text.open.pop() {
            let place = text.places[&symbol];
            for at in 0..self.thread.rules.len() {
                if self.thread.rules[at].top == Some(symbol) {
                    self.rule(text, place, at)?;
                }
            }
        }
        Ok(())
    }

    fn rules_for_empty(&mut self, text: &mut Text, empty: PlaceId) -> Result<(), TooLarge> {
        for at in 0..self.thread.rules.len() {
            if self.thread.rules[at].top.is_none() {
                self.rule(text, empty, at)?;
            }
        }
        Ok(())
    }

    /// A rule as a step from a place.
    fn rule(&mut self, text: &mut Text, place: PlaceId, at: usize) -> Result<(), TooLarge> {
        let rule = &self.thread.rules[at];
        let (kind, next) = match rule.word {
            Word::Pop => match text.empty {
                Some(empty) => (ActionKind::Plain, empty),
                None => (ActionKind::Return { value: None }, place),
            },
            Word::One(symbol) => (ActionKind::Plain, self.symbol(text, symbol)),
            Word::Two(top, below) => {
                let next = self.symbol(text, below);
                let below: Vec<u32> = [&[below], &text.below[..]].concat().into_iter().take(self.depth - 1).collect();
                let procedure = self.procedure(top, &below);
                (ActionKind::Call { procedure, arguments: Vec::new(), result: None }, next)
            }
        };
        let effect = self.effect(rule);
        self.action((text.scope, place, self.statements[at]), effect, kind, next)
    }

    /// The guard and the body of a rule: the shared state before and after.
    fn effect(&self, rule: &Rule) -> (Option<Expr>, Vec<Stmt>) {
        let access = || Access { var: self.state, whose: Whose::Shared, indices: Vec::new(), span: rule.span };
        let read = Expr { kind: ExprKind::Read(access()), span: rule.span };
        let guard = equal(read, Expr { span: rule.span, ..constant(rule.state) });
        let body = match rule.state == rule.next_state {
            true => Vec::new(),
            false => {
                let value = Expr { span: rule.span, ..constant(rule.next_state) };
                vec![Stmt { kind: StmtKind::Assign(vec![(access(), value)]), span: rule.span }]
            }
        };
        (Some(guard), body)
    }

    fn action(
        &mut self,
        (scope, source, statement): (Scope, PlaceId, StatementId),
        (guard, body): (Option<Expr>, Vec<Stmt>),
        kind: ActionKind,
        next: PlaceId,
    ) -> Result<(), TooLarge> {
        if self.model.actions.len() >= MOST_ACTIONS {
            return Err(TooLarge(self.thread.span));
        }
        let labels = self.model.places[source].labels.clone();
        let next = Next::To(next);
        let action = self.model.actions.push(Action {
            scope,
            source,
            statement,
            labels,
            guard,
            sync: None,
            body,
            kind,
            next,
            goes_on: false,
            when_nobody: false,
        });
        self.model.places[source].actions.push(action);
        Ok(())
    }

    /// The place of a symbol in a text.
    fn symbol(&mut self, text: &mut Text, symbol: u32) -> PlaceId {
        if let Some(&known) = text.places.get(&symbol) {
            return known;
        }
        let place = self.place(text.scope, symbol.to_string());
        text.places.insert(symbol, place);
        text.open.push(symbol);
        self.symbols.push((place, [&[symbol], &text.below[..]].concat()));
        place
    }

    fn place(&mut self, scope: Scope, name: String) -> PlaceId {
        let labels = vec![name.clone()];
        self.model.places.push(Place {
            scope,
            labels,
            name,
            actions: Vec::new(),
            may_end: false,
            span: self.thread.span,
        })
    }

    /// The procedure that starts where a symbol is pushed.
    fn procedure(&mut self, symbol: u32, below: &[u32]) -> ProcedureId {
        let key = (symbol, below.to_vec());
        if let Some(&known) = self.procedures.get(&key) {
            return known;
        }
        let procedure = self.new_procedure(symbol);
        self.procedures.insert(key.clone(), procedure);
        self.open.push((procedure, key));
        procedure
    }

    fn new_procedure(&mut self, symbol: u32) -> ProcedureId {
        self.model.procedures.push(Procedure {
            name: format!("+{symbol}"),
            vars: Vec::new(),
            n_parameters: 0,
            result: None,
            // Its place is made when its text is.
            entry: Next::To(PlaceId::new(0)),
            n_slots: 0,
            doc: String::new(),
            span: self.thread.span,
        })
    }
}

/// The question whether a bad state is never reached.
fn question(state: VarId, name: &str, spec: &Configuration, threads: &[Symbols]) -> Property {
    let span = Span::default();
    let read = || {
        let access = Access { var: state, whose: Whose::Shared, indices: Vec::new(), span };
        Expr { kind: ExprKind::Read(access), span }
    };
    let at = |number: usize, stack: &Vec<u32>| {
        let fits = |symbols: &&(PlaceId, Vec<u32>)| symbols.1.starts_with(stack);
        let places = threads[number].iter().filter(fits).map(|(place, _)| *place).collect();
        let who = Expr { kind: ExprKind::Const(Value::Process(ProcessId::new(number))), span };
        let labels = vec![stack.iter().map(u32::to_string).collect::<Vec<_>>().join(".")];
        Expr { kind: ExprKind::At { who: Box::new(who), places, labels }, span }
    };
    let stacks = spec.stacks.iter().enumerate().filter_map(|(number, stack)| Some(at(number, stack.as_ref()?)));
    let parts = spec.state.map(|state| equal(read(), constant(state))).into_iter().chain(stacks);
    let bad = parts
        .reduce(|left, right| Expr { kind: ExprKind::Binary(BinaryOp::And, Box::new(left), Box::new(right)), span });
    let bad = bad.unwrap_or(Expr { kind: ExprKind::Const(Value::Bool(true)), span });
    let never = Expr { kind: ExprKind::Not(Box::new(bad)), span };
    property(name.to_owned(), PropertyKind::Invariant(never), format!("{} is not reached", spec.text))
}

fn property(name: String, kind: PropertyKind, text: String) -> Property {
    Property {
        name,
        kind,
        under: Assumptions::none(),
        expected: Expected::Holds,
        text,
        doc: String::new(),
        span: Span::default(),
    }
}

fn constant(number: u32) -> Expr {
    Expr { kind: ExprKind::Const(Value::Int(i64::from(number))), span: Span::default() }
}

fn equal(left: Expr, right: Expr) -> Expr {
    let span = left.span.to(right.span);
    Expr { kind: ExprKind::Binary(BinaryOp::Equal, Box::new(left), Box::new(right)), span }
}
