//! A pushdown system as a Model.
//!
//! The shared state is a shared variable `q`, each thread a process. The bottom symbol of a stack is a place of the process's own
//! text; the symbols above it are places of a procedure that every push calls, entering it at the symbol that is pushed. A rule is
//! one step: an overwrite moves to a place, a push calls and goes on at the symbol below, a pop returns; at the bottom a pop leads
//! to the place of the empty stack. Calls that leave the same symbol are one site, so that a state of the Model is a configuration:
//! the shared state and the stacks of symbols. Procedures have no variables. Where a spec looks below the top of a stack, there is a
//! procedure for each of the symbols below that it can tell apart, so that a place says all that it asks.

use std::collections::{BTreeMap, HashMap};

use base::{SourceFile, Span};
use model::Model;
use model::control::{
    Action, ActionId, ActionKind, Next, Place, PlaceId, Procedure, Statement, StatementId, Stmt, StmtKind, TextOwner,
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
        look: model::variable::VariableLook::Plain,
        indices_after: Vec::new(),
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
            texts: Vec::new(),
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

/// The symbols below the one that is pushed, as far as they are told apart: what tells a procedure from others.
type Below = Vec<u32>;

/// A text while its places are made.
struct Text {
    scope: TextOwner,
    /// The symbols below its top that are told apart.
    below: Below,
    places: HashMap<u32, PlaceId>,
    /// The first call that goes on at each of the symbols.
    sites: HashMap<u32, ActionId>,
    /// Symbols whose rules are not yet steps.
    open: Vec<u32>,
    /// The place of the empty stack, at the bottom.
    empty: Option<PlaceId>,
}

impl Text {
    fn new(scope: TextOwner, below: Below) -> Text {
        Text { scope, below, places: HashMap::new(), sites: HashMap::new(), open: Vec::new(), empty: None }
    }
}

struct Lowering<'a> {
    model: &'a mut Model,
    state: VarId,
    thread: &'a Thread,
    family: FamilyId,
    /// How many symbols of a stack specs look at.
    depth: usize,
    /// By what stands below: the number of the text.
    procedures: HashMap<Below, usize>,
    /// The thread's own text, and those of its procedures.
    texts: Vec<Text>,
    /// The statement of each rule.
    statements: Vec<StatementId>,
    symbols: Symbols,
}

/// The thread's own text.
const OWN: usize = 0;

impl Lowering<'_> {
    fn thread(mut self, stack: &[u32]) -> Result<Symbols, TooLarge> {
        for rule in &self.thread.rules {
            self.statements.push(self.model.statements.push(Statement { text: rule.text.clone(), span: rule.span }));
        }
        let family = self.family;
        let scope = TextOwner::Family(family);
        self.texts.push(Text::new(scope, Vec::new()));
        let empty = self.place(scope, "-".to_owned());
        self.texts[OWN].empty = Some(empty);
        // A thread that has rules for the empty stack never ends there.
        let goes_on = self.thread.rules.iter().any(|rule| rule.top.is_none());
        let end = if goes_on { self.place(scope, "end".to_owned()) } else { empty };
        let entry = match stack {
            [] => empty,
            _ => self.build(OWN, stack)?,
        };
        // Rules for the empty stack are steps only where a stack can be empty: a site stands where control gets.
        let mut is_empty_met = stack.is_empty();
        let mut has_empty_rules = false;
        loop {
            if is_empty_met && !has_empty_rules {
                has_empty_rules = true;
                self.rules_for_empty(empty)?;
            }
            let Some(text) = self.texts.iter().position(|text| !text.open.is_empty()) else { break };
            self.fill(text)?;
            is_empty_met |= text == OWN && self.pops_to_empty();
        }
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
        Ok(self.symbols)
    }

    /// The place of a text from which the stack is built, one call after the other, the bottom first: where to start.
    fn build(&mut self, text: usize, stack: &[u32]) -> Result<PlaceId, TooLarge> {
        let (&bottom, upper) = stack.split_last().expect("there is something to build");
        let after = self.symbol(text, bottom);
        if upper.is_empty() {
            return Ok(after);
        }
        let scope = self.texts[text].scope;
        let start = self.place(scope, "start".to_owned());
        let callee = self.callee(text, bottom);
        let entry = self.build(callee, upper)?;
        let statement = self.model.statements.push(Statement { text: "start".to_owned(), span: self.thread.span });
        let kind = self.push(text, callee, (entry, bottom));
        self.action((scope, start, statement), (None, Vec::new()), kind, after)?;
        Ok(start)
    }

    /// Whether a rule of a symbol at the bottom pops it.
    fn pops_to_empty(&self) -> bool {
        let pops = |rule: &Rule| {
            rule.word == Word::Pop && rule.top.is_some_and(|top| self.texts[OWN].places.contains_key(&top))
        };
        self.thread.rules.iter().any(pops)
    }

    /// Makes steps of the rules of all symbols of a text.
    fn fill(&mut self, text: usize) -> Result<(), TooLarge> {
        while let Some(symbol) = self.texts[text].open.pop() {
            let place = self.texts[text].places[&symbol];
            for at in 0..self.thread.rules.len() {
                if self.thread.rules[at].top == Some(symbol) {
                    self.rule(text, place, at)?;
                }
            }
        }
        Ok(())
    }

    fn rules_for_empty(&mut self, empty: PlaceId) -> Result<(), TooLarge> {
        for at in 0..self.thread.rules.len() {
            if self.thread.rules[at].top.is_none() {
                self.rule(OWN, empty, at)?;
            }
        }
        Ok(())
    }

    /// A rule as a step from a place.
    fn rule(&mut self, text: usize, place: PlaceId, at: usize) -> Result<(), TooLarge> {
        let rule = &self.thread.rules[at];
        let (kind, next) = match rule.word {
            Word::Pop => match self.texts[text].empty {
                Some(empty) => (ActionKind::Plain, empty),
                None => (ActionKind::Return { value: None }, place),
            },
            Word::One(symbol) => (ActionKind::Plain, self.symbol(text, symbol)),
            Word::Two(top, below) => {
                let next = self.symbol(text, below);
                let callee = self.callee(text, below);
                let entry = self.symbol(callee, top);
                (self.push(text, callee, (entry, below)), next)
            }
        };
        let effect = self.effect(rule);
        self.action((self.texts[text].scope, place, self.statements[at]), effect, kind, next)
    }

    /// The call that pushes: from a text into the text of a procedure, at a place of it, with a symbol that is left below.
    fn push(&mut self, text: usize, callee: usize, (entry, below): (PlaceId, u32)) -> ActionKind {
        let TextOwner::Procedure(procedure) = self.texts[callee].scope else {
            unreachable!("a call is into a procedure")
        };
        // The action that is made next; calls that leave the same symbol go on alike.
        let this = ActionId::new(self.model.actions.len());
        let site = *self.texts[text].sites.entry(below).or_insert(this);
        ActionKind::Call {
            procedure,
            arguments: Vec::new(),
            result: None,
            entry: Some(Next::To(entry)),
            site: (site != this).then_some(site),
        }
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
        (scope, source, statement): (TextOwner, PlaceId, StatementId),
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
    fn symbol(&mut self, text: usize, symbol: u32) -> PlaceId {
        if let Some(&known) = self.texts[text].places.get(&symbol) {
            return known;
        }
        let place = self.place(self.texts[text].scope, symbol.to_string());
        let text = &mut self.texts[text];
        if let (TextOwner::Procedure(procedure), true) = (text.scope, text.places.is_empty()) {
            self.model.procedures[procedure].entry = Next::To(place);
        }
        text.places.insert(symbol, place);
        text.open.push(symbol);
        self.symbols.push((place, [&[symbol], &text.below[..]].concat()));
        place
    }

    fn place(&mut self, scope: TextOwner, name: String) -> PlaceId {
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

    /// The text above a symbol that is left in a text.
    fn callee(&mut self, text: usize, left: u32) -> usize {
        let below: Below = [&[left], &self.texts[text].below[..]].concat().into_iter().take(self.depth - 1).collect();
        if let Some(&known) = self.procedures.get(&below) {
            return known;
        }
        let shown = below.iter().map(|symbol| format!(".{symbol}")).collect::<String>();
        let procedure = self.model.procedures.push(Procedure {
            name: format!("+{shown}"),
            vars: Vec::new(),
            n_parameters: 0,
            result: None,
            // Calls say where they enter; its first place is set when it is made.
            entry: Next::To(PlaceId::new(0)),
            n_slots: 0,
            doc: String::new(),
            span: self.thread.span,
        });
        let number = self.texts.len();
        self.texts.push(Text::new(TextOwner::Procedure(procedure), below.clone()));
        self.procedures.insert(below, number);
        number
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
