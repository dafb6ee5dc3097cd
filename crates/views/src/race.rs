//! Races as states: what must never be so where no two processes may be about to touch one cell of a variable.
//!
//! In: a program and a variable. Out: an expression that is true in every state without a race on it, and maybe false in some others. A process is taken to be about to touch
//! what an action at its place mentions, if what the action tests first is true; two accesses may mean one cell unless their indices, of which the step changes nothing
//! before, are different. Then views, and sums, answer as they do of an invariant.

use std::collections::BTreeSet;

use base::Span;
use engine::PropertyId;
use model::Model;
use model::control::{Action, Next, PlaceId, Stmt, StmtKind, TextOwner};
use model::expr::{Access, BinaryOp, Binding, BoundVar, Domain, Expr, ExprKind, Quantified, Quantifier, Whose};
use model::process::FamilyId;
use model::property::PropertyKind;
use model::size::Size;
use model::types::ScalarType;
use model::value::Value;
use model::variable::{Storage, VarId};
use model::visit::{each_child_mut, each_part};

/// Places at which a process may be about to touch a cell.
#[derive(Clone, Debug, PartialEq)]
struct Toucher {
    places: Vec<PlaceId>,
    /// What is true there if it does.
    tests: Vec<Expr>,
    /// Whose copy it is, and its indices; `None` where it may be any cell.
    cell: Option<Vec<Key>>,
    writes: bool,
}

/// A part of what says which cell is meant.
#[derive(Clone, Debug, PartialEq)]
struct Key {
    /// A number, or the process whose index the number is.
    expr: Expr,
    /// The family of that process.
    family: Option<FamilyId>,
}

/// What a property asks at every size, races as what is true where there are none.
pub fn as_states(model: &Model, property: PropertyId) -> PropertyKind {
    let written = model.template();
    let kind = &written.properties[property].kind;
    let no_race = match kind {
        PropertyKind::RaceFree(var) => excluded(written, *var).map(PropertyKind::Invariant),
        _ => None,
    };
    no_race.unwrap_or_else(|| kind.clone())
}

/// What is true wherever there is no race on the variable; `None` where steps are not those of one process alone.
pub(crate) fn excluded(model: &Model, var: VarId) -> Option<Expr> {
    if !model.procedures.is_empty() || !model.channels.is_empty() || model.goes_on() {
        return None;
    }
    let touching = |family: FamilyId| (family, touchers(model, (family, var)));
    let (many, few): (Vec<_>, Vec<_>) =
        model.families.ids().map(touching).partition(|(family, _)| is_sized(model, *family));
    let mut parts = Vec::new();
    for (at, one) in many.iter().enumerate() {
        parts.push(of_family(model, one, &few));
        parts.extend(many[at + 1..].iter().map(|other| beside(model, (&[one.0], one), other)));
    }
    for (at, one) in few.iter().enumerate() {
        parts.push(of_family(model, one, &few[at + 1..]));
    }
    Some(all(parts))
}

fn is_sized(model: &Model, family: FamilyId) -> bool {
    matches!(model.template().families[family].size, Size::Parameter(_))
}

type Touching = (FamilyId, Vec<Toucher>);

/// That no two processes of a family race, nor one of it and one of the others.
fn of_family(model: &Model, one: &Touching, others: &[Touching]) -> Expr {
    let (family, touchers) = one;
    let [i, j] = [bound(0), bound(1)];
    let differ = expr(ExprKind::Binary(BinaryOp::NotEqual, Box::new(i.clone()), Box::new(j.clone())));
    let apart = all(pairs(touchers, touchers).map(|pair| never(pair, (&i, &j))).collect());
    let mut parts = Vec::new();
    let mut bindings = vec![*family];
    if !is_true(&apart) {
        bindings.push(*family);
        parts.push(expr(ExprKind::Binary(BinaryOp::Implies, Box::new(differ), Box::new(apart))));
    }
    parts.extend(others.iter().map(|other| beside(model, (&bindings, one), other)));
    quantified(model, &bindings, 0, all(parts))
}

/// That the first of the processes that are bound, or one that is not bound yet, does not race with one of another family.
fn beside(model: &Model, (bindings, one): (&[FamilyId], &Touching), other: &Touching) -> Expr {
    let is_alone = bindings.len() == 1 && is_sized(model, other.0);
    let n_bound = if is_alone { 1 } else { bindings.len() };
    let body = all(pairs(&one.1, &other.1).map(|pair| never(pair, (&bound(0), &bound(n_bound)))).collect());
    let inner = quantified(model, &[other.0], n_bound, body);
    if is_alone { quantified(model, &[one.0], 0, inner) } else { inner }
}

/// Two touchers of which one writes.
fn pairs<'t>(ones: &'t [Toucher], others: &'t [Toucher]) -> impl Iterator<Item = [&'t Toucher; 2]> {
    let all = ones.iter().flat_map(move |one| others.iter().map(move |other| [one, other]));
    all.filter(|[one, other]| one.writes || other.writes)
}

/// That two processes are not both about to touch one cell.
fn never([one, other]: [&Toucher; 2], (i, j): (&Expr, &Expr)) -> Expr {
    let mut parts = vec![at(one, i), at(other, j)];
    for (toucher, who) in [(one, i), (other, j)] {
        parts.extend(toucher.tests.iter().map(|test| by(test, who)));
    }
    if let (Some(mine), Some(theirs)) = (&one.cell, &other.cell) {
        parts.extend(mine.iter().zip(theirs).map(|(mine, theirs)| same((mine, i), (theirs, j))));
    }
    expr(ExprKind::Not(Box::new(all(parts))))
}

fn at(toucher: &Toucher, who: &Expr) -> Expr {
    expr(ExprKind::At { who: Box::new(who.clone()), places: toucher.places.clone(), labels: Vec::new() })
}

/// Whether two keys are the same: as processes where both are of one family, otherwise as numbers.
fn same((mine, i): (&Key, &Expr), (theirs, j): (&Key, &Expr)) -> Expr {
    let is_one_family = mine.family.is_some() && mine.family == theirs.family;
    let told = |key: &Key, who: &Expr| match key.family {
        Some(_) if !is_one_family => expr(ExprKind::IndexOf(Box::new(by(&key.expr, who)))),
        _ => by(&key.expr, who),
    };
    expr(ExprKind::Binary(BinaryOp::Equal, Box::new(told(mine, i)), Box::new(told(theirs, j))))
}

/// An expression of a process's text about the process that another one yields.
fn by(text: &Expr, who: &Expr) -> Expr {
    let mut told = text.clone();
    fn tell(part: &mut Expr, who: &Expr) {
        match &mut part.kind {
            ExprKind::Myself => *part = who.clone(),
            ExprKind::Read(access) if matches!(access.whose, Whose::Mine) => {
                access.whose = Whose::Of(Box::new(who.clone()));
                access.indices.iter_mut().for_each(|index| tell(index, who));
            }
            _ => each_child_mut(part, &mut |child| tell(child, who)),
        }
    }
    tell(&mut told, who);
    told
}

fn expr(kind: ExprKind) -> Expr {
    Expr { kind, span: Span::default() }
}

fn bound(at: usize) -> Expr {
    expr(ExprKind::Bound(BoundVar(at as u32)))
}

fn all(parts: Vec<Expr>) -> Expr {
    let and = |left, right| expr(ExprKind::Binary(BinaryOp::And, Box::new(left), Box::new(right)));
    let parts = parts.into_iter().filter(|part| !is_true(part));
    parts.reduce(and).unwrap_or_else(|| expr(ExprKind::Const(Value::Bool(true))))
}

fn is_true(expr: &Expr) -> bool {
    expr.kind == ExprKind::Const(Value::Bool(true))
}

/// The body for all processes of these families.
fn quantified(model: &Model, families: &[FamilyId], n_before: usize, body: Expr) -> Expr {
    if is_true(&body) {
        return body;
    }
    let bindings = families.iter().enumerate().map(|(at, &family)| Binding {
        var: BoundVar((n_before + at) as u32),
        name: model.families[family].name.clone(),
        domain: Domain::Family(family),
    });
    let quantified = Quantified { quantifier: Quantifier::Forall, bindings: bindings.collect(), filter: None, body };
    expr(ExprKind::Quantified(Box::new(quantified)))
}

/// Where processes of a family may be about to touch the variable.
fn touchers(model: &Model, (family, var): (FamilyId, VarId)) -> Vec<Toucher> {
    let mut found: Vec<Toucher> = Vec::new();
    for action in model.actions.iter().filter(|action| action.scope == TextOwner::Family(family)) {
        let mut touches = Touches { model, family, var, stored: stored(&action.body), found: Vec::new() };
        touches.action(action);
        let tests = tests(action);
        for (cell, writes) in touches.found {
            let one = Toucher { places: vec![action.source], tests: tests.clone(), cell, writes };
            match found.iter_mut().find(|other| Toucher { places: one.places.clone(), ..(*other).clone() } == one) {
                Some(other) if other.places.contains(&action.source) => {}
                Some(other) => other.places.push(action.source),
                None => found.push(one),
            }
        }
    }
    found
}

/// What an action tests before it does anything else, as far as that looks at no process that is not named.
fn tests(action: &Action) -> Vec<Expr> {
    let first = action.body.iter().map_while(|statement| match &statement.kind {
        StmtKind::Await(test) => Some(test),
        _ => None,
    });
    action.guard.iter().chain(first).filter(|test| !binds(test)).cloned().collect()
}

/// Whether an expression has bound variables.
fn binds(expr: &Expr) -> bool {
    let mut is_found = false;
    each_part(expr, &mut |part| {
        is_found |= matches!(part.kind, ExprKind::Quantified(_) | ExprKind::Bound(_));
    });
    is_found
}

/// The variables that statements store into.
fn stored(body: &[Stmt]) -> BTreeSet<VarId> {
    let mut found = BTreeSet::new();
    each_statement(body, &mut |statement| match &statement.kind {
        StmtKind::Assign(stores) => found.extend(stores.iter().map(|(target, _)| target.var)),
        StmtKind::AssignAny(target, _) | StmtKind::Acquire(target) | StmtKind::Release(target) => {
            found.insert(target.var);
        }
        _ => {}
    });
    found
}

fn each_statement(body: &[Stmt], visit: &mut dyn FnMut(&Stmt)) {
    for statement in body {
        visit(statement);
        match &statement.kind {
            StmtKind::If(_, yes, no) => {
                each_statement(yes, visit);
                each_statement(no, visit);
            }
            StmtKind::Either(blocks) => blocks.iter().for_each(|block| each_statement(block, visit)),
            StmtKind::For(_, block) => each_statement(block, visit),
            _ => {}
        }
    }
}

/// The accesses of an action to a variable.
struct Touches<'m> {
    model: &'m Model,
    /// Whose text it is.
    family: FamilyId,
    var: VarId,
    /// What the action stores into.
    stored: BTreeSet<VarId>,
    found: Vec<(Option<Vec<Key>>, bool)>,
}

impl Touches<'_> {
    fn action(&mut self, action: &Action) {
        action.guard.iter().for_each(|guard| self.reads(guard));
        each_statement(&action.body, &mut |statement| self.statement(statement));
        self.loops(action);
    }

    fn statement(&mut self, statement: &Stmt) {
        match &statement.kind {
            StmtKind::Assign(stores) => stores.iter().for_each(|(target, value)| {
                self.writes(target);
                self.reads(value);
            }),
            StmtKind::AssignAny(target, range) => {
                self.writes(target);
                range.iter().for_each(|(lo, hi)| [lo, hi].into_iter().for_each(|end| self.reads(end)));
            }
            StmtKind::Await(test) | StmtKind::Assert(test) | StmtKind::If(test, ..) => self.reads(test),
            StmtKind::Acquire(target) | StmtKind::Release(target) => self.writes(target),
            StmtKind::For(binding, _) => self.domain(&binding.domain),
            StmtKind::Either(_) => {}
        }
    }

    /// What a step reads where it goes through a loop: any of the text's, for one may begin with another one.
    fn loops(&mut self, action: &Action) {
        if !matches!(action.next, Next::To(_)) {
            let of_text = self.model.loops.iter().filter(|one| one.scope == action.scope);
            of_text.for_each(|one| self.domain(&one.domain));
        }
    }

    fn domain(&mut self, domain: &Domain) {
        if let Domain::Range(lo, hi) = domain {
            self.reads(lo);
            self.reads(hi);
        }
    }

    fn reads(&mut self, expr: &Expr) {
        let mut found = Vec::new();
        each_part(expr, &mut |part| {
            if let ExprKind::Read(access) = &part.kind
                && access.var == self.var
            {
                found.push(access.clone());
            }
        });
        for access in found {
            self.touch(&access, false);
        }
    }

    fn writes(&mut self, target: &Access) {
        if let Whose::Of(who) = &target.whose {
            self.reads(who);
        }
        target.indices.iter().for_each(|index| self.reads(index));
        if target.var == self.var {
            self.touch(target, true);
        }
    }

    fn touch(&mut self, access: &Access, writes: bool) {
        let owner = match &access.whose {
            Whose::Shared | Whose::Frame => None,
            Whose::Mine => Some(expr(ExprKind::Myself)),
            Whose::Of(who) => Some((**who).clone()),
        };
        let owner = owner.map(|who| Key { family: Some(self.owner()), expr: who });
        let keys: Vec<Key> = owner.into_iter().chain(access.indices.iter().map(|index| self.key(index))).collect();
        let is_fixed = keys.iter().all(|key| !binds(&key.expr) && !self.changes(&key.expr));
        let cell = is_fixed.then_some(keys);
        if !self.found.contains(&(cell.clone(), writes)) {
            self.found.push((cell, writes));
        }
    }

    /// The family whose processes have a copy each.
    fn owner(&self) -> FamilyId {
        match self.model.vars[self.var].storage {
            Storage::Public(family) | Storage::Local(family) => family,
            Storage::Shared | Storage::Frame(_) => self.family,
        }
    }

    fn key(&self, index: &Expr) -> Key {
        if let ExprKind::IndexOf(who) = &index.kind {
            let family = match &who.kind {
                ExprKind::Myself => Some(self.family),
                ExprKind::Read(access) => match self.model.vars[access.var].ty.scalar() {
                    ScalarType::Pid(family) | ScalarType::PidOrNone(family) => Some(family),
                    _ => None,
                },
                _ => None,
            };
            if family.is_some() {
                return Key { expr: (**who).clone(), family };
            }
        }
        Key { expr: index.clone(), family: None }
    }

    /// Whether the step may change what an expression reads before it is evaluated.
    fn changes(&self, expr: &Expr) -> bool {
        let mut is_found = false;
        each_part(expr, &mut |part| {
            if let ExprKind::Read(access) = &part.kind {
                is_found |= self.stored.contains(&access.var);
            }
        });
        is_found
    }
}
