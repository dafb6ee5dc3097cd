//! Names looked up: syntax tree to [`Program`].
//!
//! In: the tree. Out: leaves, expressions over them, bodies as trees of operations, and everything that is wrong. Scopes are blocks.
//! Declarations disappear: what the leading ones of a process give is a start value, what others give is an assignment, a step.
//!
//! `symbols.rs` declares, `expressions.rs` resolves expressions and variables, `statements.rs` bodies.

mod expressions;
mod statements;
mod symbols;

pub(super) use expressions::{constant, positions};

use std::collections::{HashMap, HashSet};

use base::{Diagnostic, Span};

use super::ast::{self, File, MtypeKind, Name, Unit};
use super::numbers;
use super::program::{self, Claim, Formula, LeafId, MessageName, Proctype, ProctypeId, Program};
use crate::codes::promela as code;
use crate::log::Log;
use symbols::{Scope, Variable};

/// How many elements all variables may have.
const MAX_ELEMENTS: usize = 100_000;
/// How many processes SPIN can have.
const MAX_PROCESSES: i64 = 255;

/// A program with its names looked up.
pub(super) struct Resolved {
    pub program: Program,
    /// The labels that `P@l` names.
    pub named_labels: HashSet<(ProctypeId, String)>,
    pub diagnostics: Vec<Diagnostic>,
}

struct Resolver<'f> {
    file: &'f File,
    program: Program,
    log: Log,
    /// The scopes from the outermost to the current one.
    scopes: Vec<Scope>,
    typedefs: HashMap<String, &'f [ast::Declaration]>,
    proctypes: HashMap<String, ProctypeId>,
    mtypes: HashMap<String, i64>,
    /// How many names of each kind of messages there are.
    mtype_counts: HashMap<MtypeKind, i64>,
    /// The proctype that is being resolved.
    owner: Option<ProctypeId>,
    /// The names that mean global variables there in any case.
    global_names: &'f [String],
    /// The leaves of that proctype.
    own_leaves: Vec<LeafId>,
    named_labels: HashSet<(ProctypeId, String)>,
    /// The labels of each proctype.
    labels: Vec<HashSet<String>>,
    /// The variables of each proctype's outermost block, for looks from outside.
    locals: Vec<Scope>,
    n_elements: usize,
    in_claim: bool,
    in_trace: bool,
    /// Whether a `run` may stand in the expression that is read, and which one does.
    run_within: RunWithin,
}

/// The `run` of an expression: there is at most one.
#[derive(Default)]
enum RunWithin {
    #[default]
    MayNotStand,
    MayStand,
    Found(Box<program::Op>),
}

/// Looks all names up.
pub(super) fn resolve(file: &File) -> Resolved {
    let mut resolver = Resolver {
        file,
        program: Program::default(),
        log: Log::default(),
        scopes: vec![Scope::default()],
        typedefs: HashMap::new(),
        proctypes: HashMap::new(),
        mtypes: HashMap::new(),
        mtype_counts: HashMap::new(),
        owner: None,
        global_names: &[],
        own_leaves: Vec::new(),
        named_labels: HashSet::new(),
        labels: Vec::new(),
        locals: Vec::new(),
        n_elements: 0,
        in_claim: false,
        in_trace: false,
        run_within: RunWithin::default(),
    };
    resolver.declare_types();
    resolver.declare_proctypes();
    resolver.globals_and_bodies();
    resolver.claims();
    let Resolver { program, named_labels, log, .. } = resolver;
    Resolved { program, named_labels, diagnostics: log.finish() }
}

impl<'f> Resolver<'f> {
    fn report(&mut self, diagnostic: Diagnostic) {
        self.log.add(diagnostic);
    }

    fn not_read(&mut self, span: Span, what: &str) {
        self.report(Diagnostic::error(code::NOT_READ, span, format!("{what} is not read")));
    }

    /// Names of messages and `typedef`s may be used before they stand in the text.
    fn declare_types(&mut self) {
        for unit in &self.file.units {
            match unit {
                Unit::Mtype { kind, names } => self.mtype(*kind, names),
                Unit::Typedef { name, fields } => {
                    let earlier = self.typedefs.insert(name.text.clone(), fields);
                    if earlier.is_some() {
                        let message = format!("`{}` is a type already", name.text);
                        self.report(Diagnostic::error(code::DECLARED_TWICE, name.span, message));
                    }
                }
                _ => {}
            }
        }
    }

    /// The first name of a list has the greatest number; a further list goes on above.
    fn mtype(&mut self, kind: MtypeKind, names: &[Name]) {
        let before = self.mtype_counts.get(&kind).copied().unwrap_or(0);
        let n_names = names.len() as i64;
        for (at, name) in names.iter().enumerate() {
            let value = before + n_names - at as i64;
            if self.mtypes.insert(name.text.clone(), value).is_some() {
                let message = format!("`{}` is the name of a message already", name.text);
                self.report(Diagnostic::error(code::DECLARED_TWICE, name.span, message));
            }
            self.program.mtypes.push(MessageName { kind, name: name.text.clone(), value });
            if value > 255 {
                self.report(Diagnostic::error(code::TOO_LARGE, name.span, "there are more than 255 names of messages"));
            }
        }
        self.mtype_counts.insert(kind, before + n_names);
    }

    fn declare_proctypes(&mut self) {
        for unit in &self.file.units {
            let Unit::Proctype(declared) = unit else { continue };
            let id = self.program.proctypes.len();
            if self.proctypes.insert(declared.name.text.clone(), id).is_some() {
                let message = format!("`{}` is a proctype already", declared.name.text);
                self.report(Diagnostic::error(code::DECLARED_TWICE, declared.name.span, message));
            }
            self.program.proctypes.push(Proctype {
                name: declared.name.text.clone(),
                is_init: declared.is_init,
                is_deterministic: declared.is_deterministic,
                n_active: 0,
                parameters: Vec::new(),
                leaves: Vec::new(),
                priority: declared.priority.unwrap_or(program::DEFAULT_PRIORITY),
                provided: None,
                body: Vec::new(),
                end_number: 0,
                span: declared.name.span,
            });
            let mut labels = HashSet::new();
            collect_labels(&declared.body, &mut labels);
            self.labels.push(labels);
        }
        if self.program.proctypes.is_empty() {
            let message = "this program has no process";
            let help = "write `active proctype P() { … }` or `init { … }`";
            self.report(Diagnostic::error(code::NO_PROCESS, Span::default(), message).help(help));
        }
    }

    /// Parameters first, since a `run` may stand before its proctype; then everything in the order of the text.
    fn globals_and_bodies(&mut self) {
        let file = self.file;
        let mut position = 0;
        for unit in &file.units {
            if let Unit::Proctype(declared) = unit {
                self.signature(position, declared);
                position += 1;
            }
        }
        position = 0;
        for unit in &file.units {
            match unit {
                Unit::Global(declared) => self.global(declared),
                Unit::Proctype(declared) => {
                    self.body(position, declared);
                    position += 1;
                }
                _ => {}
            }
        }
    }

    fn signature(&mut self, id: ProctypeId, declared: &'f ast::Proctype) {
        self.owner = Some(id);
        self.global_names = &declared.global_names;
        self.own_leaves.clear();
        self.scopes.push(Scope::default());
        for parameter in &declared.parameters {
            let before = self.own_leaves.len();
            self.variable(parameter);
            for &leaf in &self.own_leaves[before..] {
                self.program.leaves[leaf].is_parameter = true;
            }
        }
        self.program.proctypes[id].parameters = self.own_leaves.clone();
        self.program.proctypes[id].leaves = self.own_leaves.clone();
        let scope = self.scopes.pop().unwrap_or_default();
        self.locals.push(scope);
        let is_first = true;
        let n_active = match &declared.active {
            None => i64::from(declared.is_init && is_first),
            Some(None) => 1,
            Some(Some(count)) => self.start_value_of(count).or_else(|| self.constant_of(count)).unwrap_or(1),
        };
        if !(0..=MAX_PROCESSES).contains(&n_active) {
            let message = format!("there cannot be {n_active} processes; SPIN has at most {MAX_PROCESSES}");
            self.report(Diagnostic::error(code::TOO_LARGE, declared.name.span, message));
        }
        self.program.proctypes[id].n_active = n_active.clamp(0, MAX_PROCESSES) as usize;
        self.owner = None;
    }

    fn body(&mut self, id: ProctypeId, declared: &'f ast::Proctype) {
        self.owner = Some(id);
        self.global_names = &declared.global_names;
        self.own_leaves = self.program.proctypes[id].leaves.clone();
        self.scopes.push(self.locals[id].clone());
        self.program.proctypes[id].provided = declared.provided.as_ref().and_then(|expr| self.expression(expr));
        let mut body = self.outermost(&declared.body);
        self.program.proctypes[id].end_number = numbers::count(&mut body);
        self.program.proctypes[id].body = body;
        self.program.proctypes[id].leaves = std::mem::take(&mut self.own_leaves);
        self.locals[id] = self.scopes.pop().unwrap_or_default();
        self.owner = None;
    }

    fn claims(&mut self) {
        self.in_claim = true;
        let mut n_unnamed = 0;
        for unit in &self.file.units {
            match unit {
                Unit::Ltl(ltl) => {
                    let name = ltl.name.as_ref().map_or_else(|| format!("ltl_{n_unnamed}"), |name| name.text.clone());
                    n_unnamed += usize::from(ltl.name.is_none());
                    if let Some(formula) = self.formula(&ltl.formula) {
                        self.program.claims.push(Claim::Ltl { name, formula, span: ltl.span });
                    }
                }
                Unit::Never { body, span, name } => {
                    let name = name.as_ref().map_or_else(|| "never".to_owned(), |name| name.text.clone());
                    self.scopes.push(Scope::default());
                    let body = self.statements(body);
                    self.scopes.pop();
                    self.program.claims.push(Claim::Never { name, body, span: *span });
                }
                Unit::Trace { body, is_negated, span } => self.trace(body, *is_negated, *span),
                _ => {}
            }
        }
    }

    fn trace(&mut self, body: &'f [ast::Stmt], is_negated: bool, span: Span) {
        if self.program.trace.is_some() {
            self.report(Diagnostic::error(code::DECLARED_TWICE, span, "there is a `trace` already"));
        }
        (self.in_claim, self.in_trace) = (false, true);
        self.scopes.push(Scope::default());
        let body = self.statements(body);
        self.scopes.pop();
        (self.in_claim, self.in_trace) = (true, false);
        self.program.trace = Some(program::Trace { body, is_negated, span });
    }

    /// A formula over this program's names.
    fn formula(&mut self, formula: &ast::Formula) -> Option<Formula> {
        use ast::FormulaKind;
        Some(match &formula.kind {
            FormulaKind::Now(expr) => Formula::Now(self.expression(expr)?),
            FormulaKind::Not(inner) => Formula::Not(Box::new(self.formula(inner)?)),
            FormulaKind::Next(inner) => Formula::Next(Box::new(self.formula(inner)?)),
            FormulaKind::Always(inner) => Formula::Always(Box::new(self.formula(inner)?)),
            FormulaKind::Eventually(inner) => Formula::Eventually(Box::new(self.formula(inner)?)),
            FormulaKind::Binary(op, left, right) => {
                let (left, right) = (self.formula(left), self.formula(right));
                Formula::Binary(*op, Box::new(left?), Box::new(right?))
            }
        })
    }

    fn look_up(&self, name: &str) -> Option<&Variable> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }
}

fn collect_labels(body: &[ast::Stmt], labels: &mut HashSet<String>) {
    use ast::StmtKind;
    for statement in body {
        labels.extend(statement.labels.iter().map(|label| label.text.clone()));
        match &statement.kind {
            StmtKind::If(options) | StmtKind::Do(options) => {
                options.iter().for_each(|option| collect_labels(option, labels));
            }
            StmtKind::Atomic(inner) | StmtKind::DStep(inner) | StmtKind::Block(inner) => {
                collect_labels(inner, labels);
            }
            StmtKind::ForIn { body, .. } => collect_labels(body, labels),
            StmtKind::Unless(main, escape) => {
                collect_labels(main, labels);
                collect_labels(escape, labels);
            }
            _ => {}
        }
    }
}
