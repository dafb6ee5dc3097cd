//! What views need not show: contents that nobody reads before they are written again.
//!
//! In: a Model and its layout. Out: rules that hide a column of one process where control, or another column of the same process, says that it
//! is dead: by backward liveness over pairs of a place and a value of that other column. A hidden column may hold anything, so a
//! rule that hides too much makes views coarser, never wrong; nobody has to trust the analysis.

use std::collections::BTreeSet;

pub use evidence::views::{Hiding, ViewColumn};
use model::Model;
use model::control::{Action, Next, PlaceId, Stmt, StmtKind, TextOwner};
use model::expr::{Access, BinaryOp, Expr, ExprKind, Whose};
use model::process::{FamilyId, ProcessId};
use model::property::PropertyKind;
use model::statements::statements;
use model::value::Value;
use model::variable::{CellId, Storage, VarId};
use model::visit::{each_part, each_text};

use crate::configuration::{Configuration, Item};
use crate::layout::{Layout, LocalColumn, SharedColumn, holds_members};

/// Only columns of at most so many values say what is dead.
const MOST_CASES: u128 = 16;

/// What the rules hide, and these columns everywhere.
pub fn with_veils(rules: &[Hiding], veiled: &BTreeSet<ViewColumn>) -> Vec<Hiding> {
    let is_left = |rule: &&Hiding| !veiled.contains(&rule.what) && rule.when.is_none_or(|when| !veiled.contains(&when));
    let veils = veiled.iter().map(|&what| Hiding { what, when: None, is: Vec::new() });
    rules.iter().filter(is_left).cloned().chain(veils).collect()
}

/// Hides what the rules of the layout hide.
pub fn hide(layout: &Layout, config: &mut Configuration) {
    for rule in &layout.hidden {
        match rule.what {
            ViewColumn::Shared(what) => {
                let is_hidden = match rule.when {
                    None => true,
                    Some(ViewColumn::Shared(when)) => rule.is.contains(&config.shared[when]),
                    Some(ViewColumn::Local(_)) => false,
                };
                if is_hidden {
                    config.shared[what] = Item::Hidden;
                }
            }
            ViewColumn::Local(what) => {
                for local in config.slots.iter_mut().flatten() {
                    let is_hidden = match rule.when {
                        None => true,
                        Some(ViewColumn::Shared(when)) => rule.is.contains(&config.shared[when]),
                        Some(ViewColumn::Local(when)) => rule.is.contains(&local[when]),
                    };
                    if is_hidden {
                        local[what] = Item::Hidden;
                    }
                }
            }
        }
    }
}

/// The rules for a program and what is asked about it.
pub fn rules(model: &Model, layout: &Layout) -> Vec<Hiding> {
    let seen_by_others = seen_by_others(model);
    let mut rules: Vec<Hiding> = Vec::new();
    for (id, var) in model.vars.entries() {
        let (Storage::Local(family) | Storage::Public(family)) = var.storage else { continue };
        let is_counter = model.loops.iter().any(|one| one.counter == id);
        if var.ty.n_cells() != 1 || seen_by_others.contains(&id) || is_counter {
            continue;
        }
        let dead = Liveness { model, family, var: id };
        let found = dead.by_place().or_else(|| dead.by_case());
        let Some((when, is)) = found else { continue };
        for owner in owners(model, layout, family) {
            let columns = (column(model, layout, (id, owner)), when_column(model, layout, (when, owner)));
            let (Some(what), Some(when)) = columns else { continue };
            let clashes = |rule: &Hiding| rule.what == when || rule.when == Some(what);
            if !rules.iter().any(clashes) {
                rules.push(Hiding { what, when: Some(when), is: is.clone() });
            }
        }
    }
    rules
}

/// What tells that a variable is dead: control, or another variable of the process.
#[derive(Clone, Copy)]
enum When {
    Place,
    Case(VarId),
}

/// Whose copies of a family's variables have columns: every process of another family, or none in particular.
fn owners(model: &Model, layout: &Layout, family: FamilyId) -> Vec<Option<ProcessId>> {
    match family == layout.family {
        true => vec![None],
        false => model.families[family].processes().map(Some).collect(),
    }
}

fn column(model: &Model, layout: &Layout, (var, owner): (VarId, Option<ProcessId>)) -> Option<ViewColumn> {
    let offset = model.vars[var].offset;
    match owner {
        None => layout.local_column(LocalColumn::Own(offset)).map(ViewColumn::Local),
        Some(process) => {
            let cell = CellId::new(model.processes[process].first_cell + offset);
            layout.shared_column(SharedColumn::Cell(cell)).map(ViewColumn::Shared)
        }
    }
}

fn when_column(model: &Model, layout: &Layout, (when, owner): (When, Option<ProcessId>)) -> Option<ViewColumn> {
    match (when, owner) {
        (When::Case(var), owner) => column(model, layout, (var, owner)),
        (When::Place, None) => Some(ViewColumn::Local(0)),
        (When::Place, Some(process)) => layout.shared_column(SharedColumn::Control(process)).map(ViewColumn::Shared),
    }
}

/// The variables that somebody else than their owner reads or writes.
fn seen_by_others(model: &Model) -> BTreeSet<VarId> {
    let mut found = BTreeSet::new();
    let mut note = |access: &Access| {
        if !matches!(access.whose, Whose::Mine) {
            found.insert(access.var);
        }
    };
    let mut look = |expr: &Expr| {
        each_part(expr, &mut |part| {
            if let ExprKind::Read(access) = &part.kind {
                note(access);
            }
        });
    };
    each_text(model, &mut look);
    for property in model.properties.iter() {
        match &property.kind {
            PropertyKind::Invariant(expr) | PropertyKind::Reachable(expr) => look(expr),
            _ => {}
        }
    }
    for action in model.actions.iter() {
        let targets = statements(&action.body).flat_map(Stmt::targets);
        found.extend(targets.filter(|target| !matches!(target.whose, Whose::Mine)).map(|target| target.var));
    }
    found
}

/// What an action does with a variable first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum First {
    Reads,
    Writes,
    Neither,
}

struct Liveness<'m> {
    model: &'m Model,
    family: FamilyId,
    var: VarId,
}

impl Liveness<'_> {
    fn actions(&self) -> impl Iterator<Item = &Action> {
        self.model.actions.iter().filter(|action| action.scope == TextOwner::Family(self.family))
    }

    fn places(&self) -> BTreeSet<PlaceId> {
        let mut places: BTreeSet<PlaceId> = self.actions().map(|action| action.source).collect();
        self.actions().for_each(|action| places.extend(self.targets(&action.next)));
        places.extend(self.targets(&self.model.families[self.family].entry));
        places
    }

    /// The places at which the variable is dead.
    fn by_place(&self) -> Option<(When, Vec<Item>)> {
        let live = self.live(None);
        let dead: Vec<Item> =
            { self.places().into_iter() }.filter(|&place| !live.contains(&(place, None))).map(Item::Place).collect();
        (!dead.is_empty()).then_some((When::Place, dead))
    }

    /// Another variable of the process, and the values at which this one is dead.
    fn by_case(&self) -> Option<(When, Vec<Item>)> {
        let model = self.model;
        let own = |storage: Storage| matches!(storage, Storage::Local(of) | Storage::Public(of) if of == self.family);
        let mut best: Option<(When, Vec<Item>)> = None;
        for (case, var) in model.vars.entries() {
            let ty = var.ty.scalar();
            let names = model.families.ids().any(|family| holds_members(ty, family));
            let is_other = case != self.var && own(var.storage) && var.ty.n_cells() == 1;
            if !is_other || names || ty.n_values(model.type_context()) > MOST_CASES {
                continue;
            }
            let live = self.live(Some(case));
            let places = self.places();
            let is_dead = |value: &Value| places.iter().all(|&place| !live.contains(&(place, Some(*value))));
            let dead: Vec<Item> = ty.values(model.type_context()).filter(is_dead).map(Item::Value).collect();
            if dead.len() > best.as_ref().map_or(0, |(_, is)| is.len()) {
                best = Some((When::Case(case), dead));
            }
        }
        best
    }

    /// Where the variable is read before it is written: a place, and a value of the other variable.
    fn live(&self, case: Option<VarId>) -> BTreeSet<(PlaceId, Option<Value>)> {
        let model = self.model;
        let values: Vec<Option<Value>> = match case {
            None => vec![None],
            Some(case) => model.vars[case].ty.scalar().values(model.type_context()).map(Some).collect(),
        };
        let mut live = BTreeSet::new();
        loop {
            let before = live.len();
            for action in self.actions() {
                let first = self.first(action);
                let targets = self.targets(&action.next);
                for &value in &values {
                    if let (Some(case), Some(value)) = (case, value)
                        && is_refuted(action, case, value)
                    {
                        continue;
                    }
                    let after = case.map_or(vec![None], |case| values_after(action, case, value, &values));
                    let leads =
                        || targets.iter().any(|&place| after.iter().any(|&value| live.contains(&(place, value))));
                    if first == First::Reads || first == First::Neither && leads() {
                        live.insert((action.source, value));
                    }
                }
            }
            if live.len() == before {
                return live;
            }
        }
    }

    fn targets(&self, next: &Next) -> BTreeSet<PlaceId> {
        let mut found = BTreeSet::new();
        let mut entered = BTreeSet::new();
        let mut open = vec![next];
        while let Some(next) = open.pop() {
            match next {
                Next::To(place) => drop(found.insert(*place)),
                Next::Enter { enter, skip } => {
                    open.push(skip);
                    if entered.insert(*enter) {
                        open.push(&self.model.loops[*enter].body);
                    }
                }
                Next::Again { again, done } => {
                    open.push(done);
                    if entered.insert(*again) {
                        open.push(&self.model.loops[*again].body);
                    }
                }
                Next::Leave { then, .. } => open.push(then),
            }
        }
        found
    }

    fn reads(&self, expr: &Expr) -> bool {
        let mut found = false;
        each_part(expr, &mut |part| {
            found |= matches!(&part.kind, ExprKind::Read(access) if access.var == self.var);
        });
        found
    }

    /// What an action does first; bounds of loops over places count as read by every action.
    fn first(&self, action: &Action) -> First {
        let is_bound = self.model.loops.iter().any(|one| match &one.domain {
            model::expr::Domain::Range(lo, hi) => self.reads(lo) || self.reads(hi),
            _ => false,
        });
        if is_bound || action.guard.as_ref().is_some_and(|guard| self.reads(guard)) {
            return First::Reads;
        }
        self.first_of(&action.body)
    }

    fn first_of(&self, body: &[Stmt]) -> First {
        for statement in body {
            let found = match &statement.kind {
                StmtKind::Assign(stores) => {
                    let reads = |(target, value): &(Access, Expr)| self.reads(value) || self.reaches(target);
                    match stores.iter().any(reads) {
                        true => First::Reads,
                        false if stores.iter().any(|(target, _)| target.var == self.var) => First::Writes,
                        false => First::Neither,
                    }
                }
                StmtKind::AssignAny(target, range) => {
                    match self.reaches(target) || range.iter().any(|(lo, hi)| self.reads(lo) || self.reads(hi)) {
                        true => First::Reads,
                        false if target.var == self.var => First::Writes,
                        false => First::Neither,
                    }
                }
                StmtKind::Await(test) | StmtKind::Assert(test) if self.reads(test) => First::Reads,
                StmtKind::Await(_) | StmtKind::Assert(_) => First::Neither,
                StmtKind::Acquire(target) | StmtKind::Release(target) => {
                    match target.var == self.var || self.reaches(target) {
                        true => First::Reads,
                        false => First::Neither,
                    }
                }
                StmtKind::If(test, _, _) if self.reads(test) => First::Reads,
                StmtKind::If(_, yes, no) => self.branches(&[yes, no]),
                StmtKind::Either(blocks) => self.branches(&blocks.iter().collect::<Vec<_>>()),
                StmtKind::For(_, block) => match self.first_of(block) {
                    First::Reads => First::Reads,
                    First::Writes | First::Neither => First::Neither,
                },
            };
            if found != First::Neither {
                return found;
            }
        }
        First::Neither
    }

    fn branches(&self, blocks: &[&Vec<Stmt>]) -> First {
        let found: Vec<First> = blocks.iter().map(|block| self.first_of(block)).collect();
        match found.contains(&First::Reads) {
            true => First::Reads,
            false if found.iter().all(|one| *one == First::Writes) => First::Writes,
            false => First::Neither,
        }
    }

    /// Whether the variable is read to find out where an access leads.
    fn reaches(&self, target: &Access) -> bool {
        let whose = match &target.whose {
            Whose::Of(who) => self.reads(who),
            _ => false,
        };
        whose || target.indices.iter().any(|index| self.reads(index))
    }
}

/// Whether an action cannot be taken where a variable of its process has a value.
fn is_refuted(action: &Action, case: VarId, value: Value) -> bool {
    let awaits = action.body.iter().map_while(|statement| match &statement.kind {
        StmtKind::Await(test) => Some(Some(test)),
        StmtKind::AssignAny(target, _) if target.var != case => Some(None),
        _ => None,
    });
    action.guard.iter().chain(awaits.flatten()).any(|test| refutes(test, case, value))
}

fn refutes(test: &Expr, case: VarId, value: Value) -> bool {
    let is_case = |expr: &Expr| matches!(&expr.kind, ExprKind::Read(access) if access.var == case);
    match &test.kind {
        ExprKind::Binary(BinaryOp::And, left, right) => refutes(left, case, value) || refutes(right, case, value),
        ExprKind::Binary(BinaryOp::Or, left, right) => refutes(left, case, value) && refutes(right, case, value),
        ExprKind::Binary(op @ (BinaryOp::Equal | BinaryOp::NotEqual), left, right) => {
            let constant = match (&left.kind, &right.kind) {
                (_, ExprKind::Const(constant)) if is_case(left) => constant,
                (ExprKind::Const(constant), _) if is_case(right) => constant,
                _ => return false,
            };
            (*constant == value) != (*op == BinaryOp::Equal)
        }
        ExprKind::Read(_) if is_case(test) => value == Value::Bool(false),
        ExprKind::Not(inner) if is_case(inner) => value == Value::Bool(true),
        _ => false,
    }
}

/// The values that a variable may have after an action.
fn values_after(action: &Action, case: VarId, value: Option<Value>, all: &[Option<Value>]) -> Vec<Option<Value>> {
    let n_writes = statements(&action.body).flat_map(Stmt::targets).filter(|target| target.var == case).count();
    if n_writes == 0 {
        return vec![value];
    }
    let constants = action.body.iter().filter_map(|statement| match &statement.kind {
        StmtKind::Assign(stores) => stores.iter().find(|(target, _)| target.var == case),
        _ => None,
    });
    let constants: Vec<Option<Value>> = constants
        .filter_map(|(_, value)| match &value.kind {
            ExprKind::Const(value) => Some(Some(*value)),
            _ => None,
        })
        .collect();
    match (n_writes, &constants[..]) {
        (1, [constant]) => vec![*constant],
        _ => all.to_vec(),
    }
}
