//! What a permutation of processes makes of the text of a program.
//!
//! In: a Model, a permutation of processes within their families, and the dimensions of arrays whose elements it moves. Out: for
//! every initial value, action, loop and property its *image*, a text that does in the permuted state what the original does in
//! the state itself: a named process becomes the process that it goes to, an element of a moved dimension likewise, and `self`
//! stays `self`, since the image is read by the process that the reader goes to. A program is symmetric if every text is its own image.
//!
//! There is no image of a text that makes a number of a process, takes processes in their order, or indexes a moved dimension by a
//! number that changes; this is said instead. Images are made from the definition of evaluation and of states; nothing that an
//! engine uses to find out what is symmetric is used here.

use std::collections::BTreeMap;

use model::Model;
use model::control::{Action, ActionKind, ReceivePattern, Stmt, StmtKind, SyncSide, TextOwner};
use model::expr::{Access, BinaryOp, Binding, Domain, Expr, ExprKind, Quantified, Quantifier, Whose};
use model::process::{FamilyId, ProcessId};
use model::types::ScalarType;
use model::value::Value;
use model::variable::{Init, Storage, Var, VarId};

use super::Permutation;
use super::total::Total;

/// Why a text has no image, or another one than itself; in words.
pub(super) type Objection = String;

/// What an expression yields, as far as its form shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// A process of the family, or `none`.
    Process(FamilyId),
    /// A process of a family that its form does not show, or `none`.
    SomeProcess,
    /// `none`.
    NoProcess,
    /// A number, truth value or value of an enumeration: no permutation changes it.
    Plain,
}

/// The texts of a program under one permutation.
pub(super) struct Images<'a> {
    pub model: &'a Model,
    pub permutation: &'a Permutation,
    /// The dimensions of arrays whose elements go where the processes of the family go.
    pub dimensions: &'a BTreeMap<(VarId, usize), FamilyId>,
}

/// Who reads a text, and what the variables bound around it yield.
#[derive(Clone)]
pub(super) struct Reader {
    /// Whose text it is; `None` for a property, which no process reads.
    pub scope: Option<TextOwner>,
    /// The bound variables, outermost first.
    pub bound: Vec<Sort>,
}

impl Images<'_> {
    /// Every declaration, action and loop of the program is its own image.
    pub fn program(&self) -> Result<(), Objection> {
        for (id, var) in self.model.vars.entries() {
            self.starts_alike(id, var).map_err(|why| format!("{why} where `{}` starts", var.name))?;
        }
        for action in &self.model.actions {
            let text = || &self.model.statements[action.statement].text;
            self.action(action).map_err(|why| format!("{why} in `{}`", text()))?;
        }
        for counted in &self.model.loops {
            let name = || &self.model.vars[counted.counter].name;
            self.in_order(&counted.domain, &reader(counted.scope))
                .map_err(|why| format!("{why} in the loop over `{}`", name()))?;
        }
        Ok(())
    }

    /// The expression of a property is its own image.
    pub fn property(&self, expr: &Expr) -> Result<(), Objection> {
        self.same(expr, &Reader { scope: None, bound: Vec::new() })
    }

    /// Whether the permutation may move processes of the family.
    pub fn moves(&self, family: FamilyId) -> bool {
        self.model.families[family].count() > 1
    }

    fn action(&self, action: &Action) -> Result<(), Objection> {
        let reader = &reader(action.scope);
        action.guard.iter().try_for_each(|guard| self.same(guard, reader))?;
        match action.sync.as_ref().map(|sync| &sync.side) {
            None => {}
            Some(SyncSide::Send(values)) => values.iter().try_for_each(|value| self.same(value, reader))?,
            Some(SyncSide::Receive(patterns)) => patterns.iter().try_for_each(|pattern| match pattern {
                ReceivePattern::Into(target) => self.same_access(target, reader),
                ReceivePattern::Equal(value) => self.same(value, reader),
                ReceivePattern::Ignored => Ok(()),
            })?,
        }
        self.body(&action.body, reader)?;
        match &action.kind {
            ActionKind::Plain | ActionKind::Idle => Ok(()),
            ActionKind::Return { value } => value.iter().try_for_each(|value| self.same(value, reader)),
            ActionKind::Call { arguments, result, .. } => {
                arguments.iter().try_for_each(|argument| self.same(argument, reader))?;
                result.iter().try_for_each(|target| self.same_access(target, reader))
            }
        }
    }

    fn body(&self, body: &[Stmt], reader: &Reader) -> Result<(), Objection> {
        body.iter().try_for_each(|stmt| self.stmt(stmt, reader))
    }

    fn stmt(&self, stmt: &Stmt, reader: &Reader) -> Result<(), Objection> {
        match &stmt.kind {
            StmtKind::Assign(pairs) => pairs.iter().try_for_each(|(target, value)| {
                self.same_access(target, reader)?;
                self.same(value, reader)
            }),
            StmtKind::AssignAny(target, None) => self.same_access(target, reader),
            StmtKind::AssignAny(target, Some((lo, hi))) => {
                self.same_access(target, reader)?;
                if self.holds_processes(target.var) {
                    return Err("a range of numbers is taken for processes".to_owned());
                }
                self.same(lo, reader)?;
                self.same(hi, reader)
            }
            StmtKind::Await(test) | StmtKind::Assert(test) => self.same(test, reader),
            StmtKind::Acquire(target) | StmtKind::Release(target) => self.same_access(target, reader),
            StmtKind::If(test, yes, no) => {
                self.same(test, reader)?;
                self.body(yes, reader)?;
                self.body(no, reader)
            }
            StmtKind::Either(blocks) => blocks.iter().try_for_each(|block| self.body(block, reader)),
            StmtKind::For(binding, block) if self.is_extremum_of_all(binding, block) => Ok(()),
            StmtKind::For(binding, block) => {
                self.in_order(&binding.domain, reader)?;
                let mut inside = reader.clone();
                inside.bind(binding.var.0 as usize, sort_of_domain(&binding.domain));
                self.body(block, &inside)
            }
        }
    }

    /// Whether a loop over all processes of a family keeps the greatest, or the least, of an own cell and a cell of each of them. In whatever order it takes them, it
    /// ends with the same: where it comes to the own cell, that changes nothing. No value is a fault, since the own cell can have all that the others can.
    fn is_extremum_of_all(&self, binding: &Binding, block: &[Stmt]) -> bool {
        let Domain::Family(family) = binding.domain else { return false };
        let [Stmt { kind: StmtKind::Assign(pairs), .. }] = block else { return false };
        let [(target, Expr { kind: ExprKind::Binary(BinaryOp::Min | BinaryOp::Max, left, right), .. })] = &pairs[..]
        else {
            return false;
        };
        let (ExprKind::Read(one), ExprKind::Read(other)) = (&left.kind, &right.kind) else { return false };
        let others = if one == target { other } else { one };
        if !matches!(target.whose, Whose::Mine) || (one != target && other != target) {
            return false;
        }
        let Whose::Of(who) = &others.whose else { return false };
        let is_counter = |expr: &Expr| matches!(expr.kind, ExprKind::Bound(var) if var == binding.var);
        let is_each = match &who.kind {
            ExprKind::ToProcess(of, each) => {
                let number = matches!(&each.kind, ExprKind::IndexOf(inner) if is_counter(inner));
                *of == family && (is_counter(each) || number)
            }
            _ => is_counter(who),
        };
        let has_range = |access: &Access| match self.model.vars[access.var].ty.scalar() {
            ScalarType::Range { lo, hi } if self.model.vars[access.var].ty.dimensions().is_empty() => Some((lo, hi)),
            _ => None,
        };
        let (Some(own), Some(theirs)) = (has_range(target), has_range(others)) else { return false };
        let belongs =
            matches!(self.model.vars[others.var].storage, Storage::Public(of) | Storage::Local(of) if of == family);
        is_each
            && belongs
            && own.0 <= theirs.0
            && theirs.1 <= own.1
            && others.indices.is_empty()
            && target.indices.is_empty()
    }

    /// The values of the domain are taken one after the other, and the image takes the same ones in the same order.
    fn in_order(&self, domain: &Domain, reader: &Reader) -> Result<(), Objection> {
        match domain {
            Domain::Family(family) if self.moves(*family) => {
                Err(format!("the processes of {} are taken in their order", self.model.families[*family].name))
            }
            Domain::Family(_) | Domain::Enum(_) => Ok(()),
            Domain::Range(lo, hi) => {
                self.same(lo, reader)?;
                self.same(hi, reader)
            }
        }
    }

    /// The initial values of a variable are those of its image.
    fn starts_alike(&self, id: VarId, var: &Var) -> Result<(), Objection> {
        let scope = match var.storage {
            Storage::Shared => None,
            Storage::Public(family) | Storage::Local(family) => Some(TextOwner::Family(family)),
            Storage::Frame(procedure) => Some(TextOwner::Procedure(procedure)),
        };
        let at = Start { var: id, scope, first_is_process: self.first_is_process(var), depth: 0 };
        self.start(at, &var.init)
    }

    fn start(&self, at: Start, init: &Init) -> Result<(), Objection> {
        match init {
            Init::Any => Ok(()),
            Init::First if at.first_is_process => Err("the first process is meant".to_owned()),
            Init::First => Ok(()),
            Init::Fill(value) => self.same(value, &Reader { scope: at.scope, bound: Vec::new() }),
            Init::Elements(elements) => {
                let inner = Start { depth: at.depth + 1, ..at };
                elements.iter().try_for_each(|element| self.start(inner, element))?;
                let Some(&family) = self.dimensions.get(&(at.var, at.depth)) else { return Ok(()) };
                // Every element is its own image, so the element at which it arrives has to be the same.
                let differs = |&(position, element): &(usize, &Init)| {
                    elements.get(self.element(family, position)) != Some(element)
                };
                match elements.iter().enumerate().find(differs) {
                    Some((position, _)) => Err(format!("element {position} is not like the others")),
                    None => Ok(()),
                }
            }
        }
    }

    /// Whether `Init::First` names a process that the permutation may move.
    fn first_is_process(&self, var: &Var) -> bool {
        matches!(var.ty.scalar(), ScalarType::Pid(family) if self.moves(family))
    }

    fn holds_processes(&self, var: VarId) -> bool {
        match self.model.vars[var].ty.scalar() {
            ScalarType::Pid(family) | ScalarType::PidOrNone(family) => self.moves(family),
            ScalarType::Lock => true,
            ScalarType::Bool | ScalarType::Range { .. } | ScalarType::Semaphore { .. } | ScalarType::Enum(_) => false,
        }
    }

    fn same(&self, expr: &Expr, reader: &Reader) -> Result<(), Objection> {
        let image = self.image(expr, reader)?;
        if image == *expr { Ok(()) } else { Err("one process, or the element of one process, is named".to_owned()) }
    }

    fn same_access(&self, access: &Access, reader: &Reader) -> Result<(), Objection> {
        let image = self.access(access, reader)?;
        if image == *access { Ok(()) } else { Err("one process, or the element of one process, is named".to_owned()) }
    }

    /// The image of an expression.
    pub fn image(&self, expr: &Expr, reader: &Reader) -> Result<Expr, Objection> {
        let inner = |part: &Expr| self.image(part, reader).map(Box::new);
        let kind = match &expr.kind {
            ExprKind::Const(value) => ExprKind::Const(super::moved(self.permutation, *value)),
            ExprKind::Parameter(id) => ExprKind::Parameter(*id),
            ExprKind::Myself => ExprKind::Myself,
            ExprKind::Bound(var) => ExprKind::Bound(*var),
            ExprKind::Read(access) => ExprKind::Read(self.access(access, reader)?),
            // A process and the one that it goes to have one text, with the same places.
            ExprKind::At { who, places, labels } => {
                ExprKind::At { who: inner(who)?, places: places.clone(), labels: labels.clone() }
            }
            ExprKind::Not(part) => ExprKind::Not(inner(part)?),
            ExprKind::Negate(part) => ExprKind::Negate(inner(part)?),
            ExprKind::If(test, yes, no) => ExprKind::If(inner(test)?, inner(yes)?, inner(no)?),
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right, reader)?,
            ExprKind::Quantified(quantified) => ExprKind::Quantified(Box::new(self.quantified(quantified, reader)?)),
            ExprKind::IndexOf(who) => match self.sort(who, reader) {
                Sort::Process(family) if self.moves(family) => return Err(self.as_number(family)),
                Sort::SomeProcess => return Err("the index of a process is used as a number".to_owned()),
                Sort::Process(_) | Sort::NoProcess | Sort::Plain => ExprKind::IndexOf(inner(who)?),
            },
            ExprKind::ToProcess(family, part) => ExprKind::ToProcess(*family, self.to_process(*family, part, reader)?),
        };
        Ok(Expr { kind, span: expr.span })
    }

    /// Numbers of two processes of one family are equal just where the processes are.
    fn binary(&self, op: BinaryOp, left: &Expr, right: &Expr, reader: &Reader) -> Result<ExprKind, Objection> {
        if let (BinaryOp::Equal | BinaryOp::NotEqual, ExprKind::IndexOf(one), ExprKind::IndexOf(other)) =
            (op, &left.kind, &right.kind)
            && let Sort::Process(family) = self.sort(one, reader)
            && self.sort(other, reader) == Sort::Process(family)
        {
            let index = |who: &Expr, span| {
                let kind = ExprKind::IndexOf(Box::new(self.image(who, reader)?));
                Ok::<_, Objection>(Box::new(Expr { kind, span }))
            };
            return Ok(ExprKind::Binary(op, index(one, left.span)?, index(other, right.span)?));
        }
        Ok(ExprKind::Binary(op, Box::new(self.image(left, reader)?), Box::new(self.image(right, reader)?)))
    }

    /// What becomes of the operand where a number or process is taken for a process of the family.
    fn to_process(&self, family: FamilyId, part: &Expr, reader: &Reader) -> Result<Box<Expr>, Objection> {
        if self.sort(part, reader) != Sort::Plain || !self.moves(family) {
            return self.image(part, reader).map(Box::new);
        }
        let kind = match &part.kind {
            ExprKind::IndexOf(who) if self.sort(who, reader) == Sort::Process(family) => {
                ExprKind::IndexOf(Box::new(self.image(who, reader)?))
            }
            ExprKind::Const(Value::Int(index)) => {
                let goes = |process| self.model.processes[self.permutation.of(process)].index;
                let image = self.model.families[family].process_at(*index).map_or(*index, goes);
                ExprKind::Const(Value::Int(image))
            }
            _ => return Err(format!("a number is taken for a process of {}", self.model.families[family].name)),
        };
        Ok(Box::new(Expr { kind, span: part.span }))
    }

    /// A quantifier over processes asks the same of the same processes, in another order: no instance may be a fault where another
    /// one decides.
    fn quantified(&self, quantified: &Quantified, reader: &Reader) -> Result<Quantified, Objection> {
        let Quantified { quantifier, bindings, filter, body } = quantified;
        let reader = &mut reader.clone();
        let mut images = Vec::new();
        for binding in bindings {
            let domain = match &binding.domain {
                Domain::Range(lo, hi) => {
                    Domain::Range(Box::new(self.image(lo, reader)?), Box::new(self.image(hi, reader)?))
                }
                fixed => fixed.clone(),
            };
            reader.bind(binding.var.0 as usize, sort_of_domain(&domain));
            images.push(model::expr::Binding { var: binding.var, name: binding.name.clone(), domain });
        }
        let over_processes =
            bindings.iter().any(|binding| matches!(binding.domain, Domain::Family(family) if self.moves(family)));
        let total = Total { images: self, any_size: None };
        let has_value =
            total.is_total(body, reader) && filter.as_ref().is_none_or(|filter| total.is_total(filter, reader));
        if over_processes && *quantifier != Quantifier::Count && !has_value {
            return Err("a quantifier takes processes in their order, and one of them may fail".to_owned());
        }
        let filter = filter.as_ref().map(|filter| self.image(filter, reader)).transpose()?;
        Ok(Quantified { quantifier: *quantifier, bindings: images, filter, body: self.image(body, reader)? })
    }

    fn access(&self, access: &Access, reader: &Reader) -> Result<Access, Objection> {
        let whose = match &access.whose {
            Whose::Of(who) => Whose::Of(Box::new(self.image(who, reader)?)),
            own => own.clone(),
        };
        let mut indices = Vec::new();
        for (dimension, index) in access.indices.iter().enumerate() {
            indices.push(match self.dimensions.get(&(access.var, dimension)) {
                Some(&family) => self.moved_index(access.var, family, index, reader)?,
                None => self.image(index, reader)?,
            });
        }
        Ok(Access { var: access.var, whose, indices, span: access.span })
    }

    /// The index of the element that goes where the processes of the family go.
    fn moved_index(&self, var: VarId, family: FamilyId, index: &Expr, reader: &Reader) -> Result<Expr, Objection> {
        let kind = match &index.kind {
            ExprKind::IndexOf(who) if self.sort(who, reader) == Sort::Process(family) => {
                ExprKind::IndexOf(Box::new(self.image(who, reader)?))
            }
            ExprKind::Const(Value::Int(position)) => {
                let image = usize::try_from(*position).map_or(*position, |at| self.element(family, at) as i64);
                ExprKind::Const(Value::Int(image))
            }
            _ => {
                let (array, family) = (&self.model.vars[var].name, &self.model.families[family].name);
                return Err(format!(
                    "`{array}`, whose elements belong to the processes of {family}, is indexed by a number"
                ));
            }
        };
        Ok(Expr { kind, span: index.span })
    }

    /// Where the element at a position goes, of a dimension whose elements go where the processes of the family go.
    fn element(&self, family: FamilyId, position: usize) -> usize {
        let family = &self.model.families[family];
        match position < family.count() {
            true => self.permutation.of(ProcessId::new(family.first.index() + position)).index() - family.first.index(),
            false => position,
        }
    }

    /// What an expression yields.
    pub fn sort(&self, expr: &Expr, reader: &Reader) -> Sort {
        match &expr.kind {
            ExprKind::Const(Value::Process(process)) => Sort::Process(self.model.processes[*process].family),
            ExprKind::Const(Value::None) => Sort::NoProcess,
            ExprKind::Myself => match reader.scope {
                Some(TextOwner::Family(family)) => Sort::Process(family),
                Some(TextOwner::Procedure(_)) | None => Sort::SomeProcess,
            },
            ExprKind::Bound(var) => reader.bound.get(var.0 as usize).copied().unwrap_or(Sort::SomeProcess),
            ExprKind::Read(access) => match self.model.vars[access.var].ty.scalar() {
                ScalarType::Pid(family) | ScalarType::PidOrNone(family) => Sort::Process(family),
                ScalarType::Lock => Sort::SomeProcess,
                ScalarType::Bool | ScalarType::Range { .. } | ScalarType::Semaphore { .. } | ScalarType::Enum(_) => {
                    Sort::Plain
                }
            },
            ExprKind::If(_, yes, no) => self.sort(yes, reader).or(self.sort(no, reader)),
            ExprKind::ToProcess(family, _) => Sort::Process(*family),
            ExprKind::Const(Value::Bool(_) | Value::Int(_) | Value::Enum(..))
            | ExprKind::Parameter(_)
            | ExprKind::At { .. }
            | ExprKind::Not(_)
            | ExprKind::Negate(_)
            | ExprKind::Binary(..)
            | ExprKind::Quantified(_)
            | ExprKind::IndexOf(_) => Sort::Plain,
        }
    }

    fn as_number(&self, family: FamilyId) -> Objection {
        format!("the index of a process of {} is used as a number", self.model.families[family].name)
    }
}

impl Sort {
    /// What yields one or the other.
    fn or(self, other: Sort) -> Sort {
        match (self, other) {
            (one, other) if one == other => one,
            (Sort::NoProcess, process) | (process, Sort::NoProcess) if process != Sort::Plain => process,
            _ => Sort::SomeProcess,
        }
    }
}

impl Reader {
    /// Binds the variable at this depth.
    pub fn bind(&mut self, depth: usize, sort: Sort) {
        self.bound.truncate(depth);
        self.bound.push(sort);
    }
}

/// The position of an initial value in a variable.
#[derive(Clone, Copy)]
struct Start {
    var: VarId,
    /// Who evaluates it.
    scope: Option<TextOwner>,
    /// Whether the first value of the type is a process that moves.
    first_is_process: bool,
    /// How many dimensions are around it.
    depth: usize,
}

fn reader(scope: TextOwner) -> Reader {
    Reader { scope: Some(scope), bound: Vec::new() }
}

/// What a variable that ranges over the domain yields.
pub(super) fn sort_of_domain(domain: &Domain) -> Sort {
    match domain {
        Domain::Family(family) => Sort::Process(*family),
        Domain::Range(..) | Domain::Enum(_) => Sort::Plain,
    }
}
