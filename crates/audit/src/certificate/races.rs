//! That no two processes race for a variable, as an expression about states.
//!
//! In: a program as it was written, and a variable. Out: an expression that is false wherever a process has a step that reads or writes a cell of the variable and another
//! process one that writes the same cell (`docs/semantics.md`); it may be false elsewhere, too. Every action is looked at with each other one: what the two name of the
//! variable is asked to be of different cells, unless a first test of one of them is false. A cell is told by indices that are read before anything is stored.

use base::Span;
use model::Model;
use model::control::{Action, Next, Stmt, StmtKind, TextOwner};
use model::expr::{Access, BinaryOp, Binding, BoundVar, Domain, Expr, ExprKind, Quantified, Quantifier, Whose};
use model::process::FamilyId;
use model::property::{Property, PropertyKind};
use model::size::Size;
use model::types::ScalarType;
use model::value::Value;
use model::variable::VarId;
use model::visit::{each_child_mut, each_part};

use super::{CertificateError, Outcome};

/// An access to the variable in an action.
struct Use<'m> {
    action: &'m Action,
    access: &'m Access,
    writes: bool,
    /// Whether it stands where nothing is stored before it.
    is_first: bool,
}

/// What has to be true at every size where a property asks for races; `None` where it asks for something else.
pub(super) fn asked(model: &Model, (name, property): (&str, &PropertyKind)) -> Outcome<Option<Expr>> {
    let PropertyKind::RaceFree(var) = property else { return Ok(None) };
    let written = model.template.as_deref().unwrap_or(model);
    let is_it = |one: &&Property| one.name == name && matches!(one.kind, PropertyKind::RaceFree(of) if of == *var);
    match written.properties.iter().find(is_it) {
        Some(_) => no_race(written, *var).map(Some),
        None => Err(CertificateError::NotSupported("the program does not ask for these races".to_owned())),
    }
}

/// What has to be true so that nobody races for the variable.
pub(super) fn no_race(written: &Model, var: VarId) -> Outcome<Expr> {
    if !written.procedures.is_empty() || !written.channels.is_empty() || written.goes_on() || written.has_when_nobody()
    {
        let what = "races of steps that are more than one action of one process are not followed".to_owned();
        return Err(CertificateError::NotSupported(what));
    }
    let mut families: Vec<FamilyId> = written.families.ids().collect();
    families.sort_by_key(|&family| !is_crowd(written, family));
    let uses: Vec<(FamilyId, Vec<Use<'_>>)> =
        families.into_iter().map(|family| (family, uses(written, family, var))).collect();
    let asker = Asker { written };
    let mut demands = Vec::new();
    for (at, mine) in uses.iter().enumerate() {
        let (apart, others) = (asker.apart((mine, 0), (mine, 1)), &uses[at + 1..]);
        let (crowds, rest): (Vec<_>, Vec<_>) = others.iter().partition(|(family, _)| is_crowd(written, *family));
        // Two processes of one family that are asked whether they race are two.
        let taken: Vec<FamilyId> = if apart.is_empty() { vec![mine.0] } else { vec![mine.0, mine.0] };
        let are_one = compare(BinaryOp::Equal, taken_at(0), taken_at(1));
        let mut demanded: Vec<Expr> = Vec::new();
        if !apart.is_empty() {
            demanded.push(make(ExprKind::Binary(BinaryOp::Or, Box::new(are_one), Box::new(every(apart)))));
        }
        for other in rest {
            let apart = asker.apart((mine, 0), (other, taken.len() as u32));
            demanded.extend(for_all(&[other.0], taken.len() as u32, apart));
        }
        demands.extend(for_all(&taken, 0, demanded));
        for other in crowds {
            demands.extend(for_all(&[mine.0, other.0], 0, asker.apart((mine, 0), (other, 1))));
        }
    }
    Ok(every(demands))
}

fn is_crowd(written: &Model, family: FamilyId) -> bool {
    matches!(written.families[family].size, Size::Parameter(_))
}

struct Asker<'m> {
    written: &'m Model,
}

impl Asker<'_> {
    /// For each use of one process and each of another one, what keeps the two from racing.
    fn apart(&self, mine: (&(FamilyId, Vec<Use<'_>>), u32), theirs: (&(FamilyId, Vec<Use<'_>>), u32)) -> Vec<Expr> {
        let mut demands: Vec<Expr> = Vec::new();
        for one in &mine.0.1 {
            for other in theirs.0.1.iter().filter(|other| one.writes || other.writes) {
                let sides = [(mine.0.0, one, taken_at(mine.1)), (theirs.0.0, other, taken_at(theirs.1))];
                let demand = self.keeps_apart(&sides);
                if !demands.contains(&demand) {
                    demands.push(demand);
                }
            }
        }
        demands
    }

    fn keeps_apart(&self, sides: &[(FamilyId, &Use<'_>, Expr); 2]) -> Expr {
        let mut both = Vec::new();
        for (_, used, who) in sides {
            let (who, places) = (Box::new(who.clone()), vec![used.action.source]);
            both.push(make(ExprKind::At { who, places, labels: Vec::new() }));
        }
        for (_, used, who) in sides {
            both.extend(first_tests(used.action).map(|test| of(test, who)));
        }
        let [mine, theirs] = sides;
        if is_fixed(mine.1) && is_fixed(theirs.1) {
            if let (Some(one), Some(other)) = (self.whose(mine), self.whose(theirs)) {
                both.push(compare(BinaryOp::Equal, one, other));
            }
            for (one, other) in mine.1.access.indices.iter().zip(&theirs.1.access.indices) {
                both.push(self.same_index((one, mine), (other, theirs)));
            }
        }
        make(ExprKind::Not(Box::new(every(both))))
    }

    /// The process whose copy is meant.
    fn whose(&self, (_, used, who): &(FamilyId, &Use<'_>, Expr)) -> Option<Expr> {
        match &used.access.whose {
            Whose::Shared | Whose::Frame => None,
            Whose::Mine => Some(who.clone()),
            Whose::Of(owner) => Some(of(owner, who)),
        }
    }

    /// Two indices are one number. Of two processes of one family that is so if they are one process.
    fn same_index(
        &self,
        (one, mine): (&Expr, &(FamilyId, &Use<'_>, Expr)),
        (other, theirs): (&Expr, &(FamilyId, &Use<'_>, Expr)),
    ) -> Expr {
        let (left, right) = (of(one, &mine.2), of(other, &theirs.2));
        let families = (self.indexed(one, mine.0), self.indexed(other, theirs.0));
        match (families, left.kind, right.kind) {
            ((Some(a), Some(b)), ExprKind::IndexOf(left), ExprKind::IndexOf(right)) if a == b => {
                compare(BinaryOp::Equal, *left, *right)
            }
            (_, left, right) => compare(BinaryOp::Equal, make(left), make(right)),
        }
    }

    /// The family of the process whose index an expression of a family's text is.
    fn indexed(&self, index: &Expr, text: FamilyId) -> Option<FamilyId> {
        let ExprKind::IndexOf(who) = &index.kind else { return None };
        match &who.kind {
            ExprKind::Myself => Some(text),
            ExprKind::Read(access) => match self.written.vars[access.var].ty.scalar() {
                ScalarType::Pid(family) | ScalarType::PidOrNone(family) => Some(family),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Whether what says which cell is meant is the same before the step.
fn is_fixed(used: &Use<'_>) -> bool {
    let mut is_fixed = true;
    let mut look = |expr: &Expr| {
        each_part(expr, &mut |part| match &part.kind {
            ExprKind::Bound(_) | ExprKind::Quantified(_) => is_fixed = false,
            ExprKind::Read(access) => is_fixed &= used.is_first || !stores_into(&used.action.body, access.var),
            _ => {}
        });
    };
    used.access.indices.iter().for_each(&mut look);
    if let Whose::Of(owner) = &used.access.whose {
        look(owner);
    }
    is_fixed
}

fn stores_into(body: &[Stmt], var: VarId) -> bool {
    body.iter().any(|statement| match &statement.kind {
        StmtKind::Assign(stores) => stores.iter().any(|(target, _)| target.var == var),
        StmtKind::AssignAny(target, _) | StmtKind::Acquire(target) | StmtKind::Release(target) => target.var == var,
        StmtKind::If(_, yes, no) => stores_into(yes, var) || stores_into(no, var),
        StmtKind::Either(blocks) => blocks.iter().any(|block| stores_into(block, var)),
        StmtKind::For(_, block) => stores_into(block, var),
        StmtKind::Await(_) | StmtKind::Assert(_) => false,
    })
}

/// The tests that come before anything else, each of which is false where the step cannot be taken. What goes through processes or numbers is left out.
fn first_tests(action: &Action) -> impl Iterator<Item = &Expr> {
    let leading = action.body.iter().map_while(|statement| match &statement.kind {
        StmtKind::Await(test) => Some(test),
        _ => None,
    });
    action.guard.iter().chain(leading).filter(|test| {
        let mut is_plain = true;
        each_part(test, &mut |part| is_plain &= !matches!(part.kind, ExprKind::Bound(_) | ExprKind::Quantified(_)));
        is_plain
    })
}

/// All accesses to the variable in the text of a family.
fn uses(written: &Model, family: FamilyId, var: VarId) -> Vec<Use<'_>> {
    let mut found = Vec::new();
    for action in written.actions.iter().filter(|action| action.scope == TextOwner::Family(family)) {
        let mut finder = Finder { action, var, is_first: true, found: &mut found };
        action.guard.iter().for_each(|guard| finder.read(guard));
        finder.is_first = false;
        finder.body(&action.body);
        if !matches!(action.next, Next::To(_)) {
            for counted in written.loops.iter().filter(|one| one.scope == action.scope) {
                finder.domain(&counted.domain);
            }
        }
    }
    found
}

struct Finder<'f, 'm> {
    action: &'m Action,
    var: VarId,
    is_first: bool,
    found: &'f mut Vec<Use<'m>>,
}

impl<'m> Finder<'_, 'm> {
    fn note(&mut self, access: &'m Access, writes: bool) {
        if access.var == self.var {
            self.found.push(Use { action: self.action, access, writes, is_first: self.is_first });
        }
        access.indices.iter().for_each(|index| self.read(index));
        if let Whose::Of(owner) = &access.whose {
            self.read(owner);
        }
    }

    fn read(&mut self, expr: &'m Expr) {
        match &expr.kind {
            ExprKind::Const(_) | ExprKind::Parameter(_) | ExprKind::Myself | ExprKind::Bound(_) => {}
            ExprKind::Read(access) => self.note(access, false),
            ExprKind::At { who: inner, .. }
            | ExprKind::Not(inner)
            | ExprKind::Negate(inner)
            | ExprKind::IndexOf(inner)
            | ExprKind::ToProcess(_, inner) => self.read(inner),
            ExprKind::Binary(_, left, right) => {
                self.read(left);
                self.read(right);
            }
            ExprKind::If(test, yes, no) => [test, yes, no].into_iter().for_each(|part| self.read(part)),
            ExprKind::Quantified(quantified) => {
                quantified.bindings.iter().for_each(|binding| self.domain(&binding.domain));
                quantified.filter.iter().for_each(|filter| self.read(filter));
                self.read(&quantified.body);
            }
        }
    }

    fn domain(&mut self, domain: &'m Domain) {
        if let Domain::Range(lo, hi) = domain {
            self.read(lo);
            self.read(hi);
        }
    }

    fn body(&mut self, body: &'m [Stmt]) {
        for statement in body {
            match &statement.kind {
                StmtKind::Assign(stores) => {
                    for (target, value) in stores {
                        self.note(target, true);
                        self.read(value);
                    }
                }
                StmtKind::AssignAny(target, range) => {
                    self.note(target, true);
                    range.iter().for_each(|(lo, hi)| [lo, hi].into_iter().for_each(|end| self.read(end)));
                }
                StmtKind::Acquire(target) | StmtKind::Release(target) => self.note(target, true),
                StmtKind::Await(test) | StmtKind::Assert(test) => self.read(test),
                StmtKind::If(test, yes, no) => {
                    self.read(test);
                    self.body(yes);
                    self.body(no);
                }
                StmtKind::Either(blocks) => blocks.iter().for_each(|block| self.body(block)),
                StmtKind::For(binding, block) => {
                    self.domain(&binding.domain);
                    self.body(block);
                }
            }
        }
    }
}

/// What a process's text says, of the process that is named.
fn of(text: &Expr, who: &Expr) -> Expr {
    let mut said = text.clone();
    say(&mut said, who);
    said
}

fn say(part: &mut Expr, who: &Expr) {
    if matches!(part.kind, ExprKind::Myself) {
        *part = who.clone();
        return;
    }
    if let ExprKind::Read(access) = &mut part.kind
        && matches!(access.whose, Whose::Mine)
    {
        access.indices.iter_mut().for_each(|index| say(index, who));
        access.whose = Whose::Of(Box::new(who.clone()));
        return;
    }
    each_child_mut(part, &mut |child| say(child, who));
}

fn make(kind: ExprKind) -> Expr {
    Expr { kind, span: Span::default() }
}

fn taken_at(at: u32) -> Expr {
    make(ExprKind::Bound(BoundVar(at)))
}

fn compare(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    make(ExprKind::Binary(op, Box::new(left), Box::new(right)))
}

/// All of them are true.
fn every(demands: Vec<Expr>) -> Expr {
    let mut demands = demands.into_iter();
    let first = demands.next().unwrap_or_else(|| make(ExprKind::Const(Value::Bool(true))));
    demands.fold(first, |all, demand| compare(BinaryOp::And, all, demand))
}

/// The demands on all processes of these families, if there are any.
fn for_all(families: &[FamilyId], n_taken: u32, demands: Vec<Expr>) -> Option<Expr> {
    if demands.is_empty() {
        return None;
    }
    let binding = |(at, &family): (usize, &FamilyId)| Binding {
        var: BoundVar(n_taken + at as u32),
        name: String::new(),
        domain: Domain::Family(family),
    };
    let bindings = families.iter().enumerate().map(binding).collect();
    let body = every(demands);
    Some(make(ExprKind::Quantified(Box::new(Quantified {
        quantifier: Quantifier::Forall,
        bindings,
        filter: None,
        body,
    }))))
}
