//! What expressions come to for one process whose local state is known, as the checker reads them.
//!
//! In: a local state, and decisions about everything else. Out: a value, one for each way through the decisions; what was decided about shared columns and
//! asked of other processes is noted on the way. A quantifier over the family is gone through with every listed local state for the process that
//! it binds. Processes of the family are compared, stored, and used to index what belongs to processes; all else is refused.

use base::StopReason;
use evidence::fine::LocalItem;
use evidence::views::{ElementArray, LocalColumn, SharedColumn};
use model::control::{PlaceId, TextOwner};
use model::expr::{Access, BinaryOp, Binding, Domain, Expr, ExprKind, Quantified, Quantifier, Whose};
use model::process::{FamilyId, ProcessId};
use model::types::ScalarType;
use model::value::Value;
use model::variable::{CellId, Storage};

use super::plan::Plan;
use crate::certificate::defined::has_value;

/// A type of more values is not gone through.
const MOST_VALUES: u128 = 1 << 12;

/// A value, or a process of the family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Thing {
    Value(Value),
    Place(PlaceId),
    /// The process that steps.
    Mover,
    /// One of those who are bound, by position.
    Cast(usize),
    /// Whom the loop over the family takes, if it is not the mover.
    Target,
    /// Whom this shared column names, not the mover.
    Named(usize),
    /// Not the mover.
    NotMover,
    /// Any process.
    Anybody,
}

/// Why a way ends early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    Fault,
    No,
    /// The text does what is not followed.
    Refused,
    /// A limit was reached.
    Stopped(Box<StopReason>),
}

impl From<StopReason> for End {
    fn from(reason: StopReason) -> End {
        End::Stopped(Box::new(reason))
    }
}

/// The decisions of one way.
#[derive(Clone, Debug, Default)]
pub(super) struct Decisions {
    made: Vec<(usize, usize)>,
    at: usize,
}

impl Decisions {
    fn next(&mut self, n: usize) -> usize {
        if n < 2 {
            return 0;
        }
        if self.at == self.made.len() {
            self.made.push((0, n));
        }
        self.at += 1;
        self.made[self.at - 1].0
    }

    /// Turns to the next way; whether there is one.
    pub fn turn(&mut self) -> bool {
        self.at = 0;
        while let Some((made, n)) = self.made.pop() {
            if made + 1 < n {
                self.made.push((made + 1, n));
                return true;
            }
        }
        false
    }
}

/// The process that steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    Member,
    Outsider(ProcessId),
    Nobody,
}

/// Which local states show the value of a quantifier, with whom columns name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Showing {
    pub states: Vec<usize>,
    pub names: Names,
}

/// One way of one computation.
pub(super) struct Look<'a, 'm> {
    pub plan: &'a Plan<'m>,
    pub who: Who,
    pub mine: Vec<LocalItem>,
    pub decisions: Decisions,
    /// Inside a quantifier: decisions that are made anew for each process.
    inner: Option<Decisions>,
    /// What shared columns were found to hold.
    pub found: Vec<(usize, Thing)>,
    pub wrote: Vec<(usize, Thing)>,
    /// Whether the loop over the family takes the mover.
    pub takes_mover: Option<bool>,
    /// The local state of the process that it takes, where that was read.
    pub target: Option<usize>,
    /// Every other process is in these local states.
    pub all: Vec<Vec<bool>>,
    /// Some processes are in these, which decide the first quantifier that some decide.
    pub some: Option<Vec<Showing>>,
    bound: Vec<Thing>,
    cast: Vec<usize>,
    names: Names,
    pub may_fault: bool,
}

pub(super) type Seen<T> = Result<T, End>;

/// For columns which of those who are bound they name, or none of these.
pub(super) type Names = Vec<(usize, Option<usize>)>;

/// Where a scalar part of a variable is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Spot {
    Shared(usize),
    Mine(usize),
    Of(Thing, usize),
}

impl<'a, 'm> Look<'a, 'm> {
    pub fn new(plan: &'a Plan<'m>, who: Who, mine: &[LocalItem], decisions: Decisions) -> Look<'a, 'm> {
        Look {
            plan,
            who,
            mine: mine.to_vec(),
            decisions,
            inner: None,
            found: Vec::new(),
            wrote: Vec::new(),
            takes_mover: None,
            target: None,
            all: Vec::new(),
            some: None,
            bound: Vec::new(),
            cast: Vec::new(),
            names: Vec::new(),
            may_fault: false,
        }
    }

    pub fn decide(&mut self, n: usize) -> Seen<usize> {
        if n == 0 {
            return Err(End::No);
        }
        Ok(match &mut self.inner {
            Some(inner) => inner.next(n),
            None => self.decisions.next(n),
        })
    }

    pub fn value(&mut self, expr: &'m Expr) -> Seen<Thing> {
        let model = self.plan.model;
        match &expr.kind {
            ExprKind::Const(Value::Process(id)) if self.plan.is_member(*id) => Err(End::Refused),
            ExprKind::Const(value) => Ok(Thing::Value(*value)),
            ExprKind::Parameter(id) => Ok(int(model.parameters[*id].value)),
            ExprKind::Myself => self.mover(),
            ExprKind::Bound(var) => self.bound.get(var.0 as usize).copied().ok_or(End::Refused),
            ExprKind::Read(access) => {
                let spot = self.spot(access)?;
                self.read(spot, model.vars[access.var].ty.scalar())
            }
            ExprKind::At { who, places, .. } => {
                let place = match self.value(who)? {
                    Thing::Mover => item(self.mine[0], Thing::Mover),
                    Thing::Value(Value::Process(id)) => {
                        let column = self.plan.shared_at(SharedColumn::Control(id)).ok_or(End::Refused)?;
                        let places = self.plan.places(model.processes[id].family);
                        self.shared(column, &places)?
                    }
                    Thing::Value(Value::None) => return Err(End::Fault),
                    Thing::Value(_) | Thing::Place(_) => return Err(End::Refused),
                    somebody => match self.state_of(somebody)? {
                        Some(state) => item(self.plan.states[state][0], somebody),
                        None => return Ok(truth(self.decide(2)? == 0)),
                    },
                };
                Ok(truth(places.iter().any(|&one| place == Thing::Place(one))))
            }
            ExprKind::Not(inner) => Ok(truth(!self.holds(inner)?)),
            ExprKind::Negate(inner) => self.number(inner)?.checked_neg().map(int).ok_or(End::Fault),
            ExprKind::Binary(op, left, right) => self.operator(*op, left, right),
            ExprKind::If(test, yes, no) => {
                let branch = if self.holds(test)? { yes } else { no };
                self.value(branch)
            }
            ExprKind::Quantified(quantified) => self.quantified(quantified),
            ExprKind::IndexOf(inner) => match self.value(inner)? {
                Thing::Value(Value::Process(id)) => Ok(int(model.processes[id].index)),
                Thing::Value(Value::None) => Err(End::Fault),
                other => Ok(other),
            },
            ExprKind::ToProcess(family, inner) => {
                let value = self.value(inner)?;
                self.as_process(*family, value)
            }
        }
    }

    pub fn holds(&mut self, expr: &'m Expr) -> Seen<bool> {
        match self.value(expr)? {
            Thing::Value(Value::Bool(holds)) => Ok(holds),
            _ => Err(End::Refused),
        }
    }

    pub fn number(&mut self, expr: &'m Expr) -> Seen<i64> {
        match self.value(expr)? {
            Thing::Value(Value::Int(number)) => Ok(number),
            Thing::Value(Value::None) => Err(End::Fault),
            _ => Err(End::Refused),
        }
    }

    pub fn mover(&self) -> Seen<Thing> {
        match self.who {
            Who::Member => Ok(Thing::Mover),
            Who::Outsider(id) => Ok(Thing::Value(Value::Process(id))),
            Who::Nobody => Err(End::Refused),
        }
    }

    fn as_process(&self, family: FamilyId, value: Thing) -> Seen<Thing> {
        let model = self.plan.model;
        match value {
            Thing::Value(Value::None) => Ok(value),
            Thing::Value(Value::Process(id)) => {
                if model.processes[id].family == family {
                    Ok(value)
                } else {
                    Err(End::Fault)
                }
            }
            Thing::Value(Value::Int(index)) if family != self.plan.family => {
                let found = model.families[family].process_at(index);
                found.map(|id| Thing::Value(Value::Process(id))).ok_or(End::Fault)
            }
            Thing::Value(_) | Thing::Place(_) => Err(End::Refused),
            _ if family == self.plan.family => Ok(value),
            // A process means its index, too, and the other family may have a process of that index.
            _ => Err(End::Refused),
        }
    }

    /// The local state of another process; `None` where nothing is known of it.
    fn state_of(&mut self, thing: Thing) -> Seen<Option<usize>> {
        Ok(match thing {
            Thing::Cast(at) => Some(self.cast[at]),
            Thing::Target => {
                if self.target.is_none() {
                    // Whom the loop takes is the same all through the step.
                    self.target = Some(self.decisions.next(self.plan.states.len()));
                }
                self.target
            }
            _ => None,
        })
    }

    pub fn spot(&mut self, access: &'m Access) -> Seen<Spot> {
        let plan = self.plan;
        let var = &plan.model.vars[access.var];
        let owner = match &access.whose {
            Whose::Shared => None,
            Whose::Mine => Some(self.mover()?),
            Whose::Of(who) => Some(self.value(who)?),
            Whose::Frame => return Err(End::Refused),
        };
        let row = plan.rows.get(&access.var).copied();
        let mut element_of = None;
        let mut offset = 0;
        for (dimension, (index, len)) in access.indices.iter().zip(var.ty.dimensions()).enumerate() {
            let value = self.value(index)?;
            match value {
                Thing::Value(Value::None) => return Err(End::Fault),
                Thing::Value(Value::Int(number)) if row != Some(dimension) => {
                    let position = usize::try_from(number).ok().filter(|&position| position < len);
                    offset = offset * len + position.ok_or(End::Fault)?;
                }
                Thing::Value(_) | Thing::Place(_) => return Err(End::Refused),
                _ if row == Some(dimension) => element_of = Some(value),
                _ => return Err(End::Refused),
            }
        }
        let outsider = match owner {
            None => None,
            Some(Thing::Value(Value::Process(id))) => Some(id),
            Some(Thing::Value(Value::None)) => return Err(End::Fault),
            Some(Thing::Value(_) | Thing::Place(_)) => return Err(End::Refused),
            Some(member) => {
                let is_own = matches!(var.storage, Storage::Public(of) | Storage::Local(of) if of == plan.family);
                if !is_own || element_of.is_some() {
                    return Err(End::Refused);
                }
                return self.spot_of(member, LocalColumn::Own(var.offset + offset));
            }
        };
        match element_of {
            Some(member) => {
                self.spot_of(member, LocalColumn::Element(ElementArray { var: access.var, owner: outsider }, offset))
            }
            None => {
                let first = outsider.map_or(0, |id| plan.model.processes[id].first_cell);
                let cell = CellId::new(first + var.offset + offset);
                plan.shared_at(SharedColumn::Cell(cell)).map(Spot::Shared).ok_or(End::Refused)
            }
        }
    }

    fn spot_of(&self, member: Thing, column: LocalColumn) -> Seen<Spot> {
        let column = self.plan.local_at(column).ok_or(End::Refused)?;
        Ok(if member == Thing::Mover { Spot::Mine(column) } else { Spot::Of(member, column) })
    }

    pub fn read(&mut self, spot: Spot, ty: ScalarType) -> Seen<Thing> {
        match spot {
            Spot::Mine(column) => match self.plan.scan_of(column) {
                None => Ok(item(self.mine[column], Thing::Mover)),
                Some(taken) if self.is_scanning(taken) => self.taken_now(),
                // Of a loop that is not under way, as where its first step is taken from outside, nothing says whom it takes.
                Some(_) => Err(End::Refused),
            },
            Spot::Shared(column) => {
                let mut contents = self.contents(ty, Thing::Named(column))?;
                if self.who == Who::Member && contents.contains(&Thing::Named(column)) {
                    contents.push(Thing::Mover);
                }
                self.shared(column, &contents)
            }
            Spot::Of(somebody, column) => match self.state_of(somebody)? {
                Some(state) => Ok(item(self.plan.states[state][column], somebody)),
                None => {
                    let contents = self.contents(ty, Thing::Anybody)?;
                    let at = self.decide(contents.len())?;
                    Ok(contents[at])
                }
            },
        }
    }

    /// What a shared column holds now. What it held before is one decision of the whole way, wherever it is read first.
    fn shared(&mut self, column: usize, contents: &[Thing]) -> Seen<Thing> {
        let known = self.wrote.iter().rev().chain(&self.found).find(|(one, _)| *one == column);
        if let Some((_, thing)) = known {
            return Ok(*thing);
        }
        if contents.is_empty() {
            return Err(End::No);
        }
        let thing = contents[self.decisions.next(contents.len())];
        self.found.push((column, thing));
        Ok(thing)
    }

    /// Whether the loop with this column is under way.
    pub fn is_scanning(&self, taken: usize) -> bool {
        self.mine.get(taken) == Some(&LocalItem::Value(Value::Bool(true)))
    }

    /// Whom the loop over the family that is under way takes now; there is one at most.
    pub fn taken_now(&mut self) -> Seen<Thing> {
        if self.takes_mover.is_none() {
            self.takes_mover = Some(self.decisions.next(2) == 0);
        }
        Ok(if self.takes_mover == Some(true) { Thing::Mover } else { Thing::Target })
    }

    /// The contents that a cell of this type may have.
    pub fn contents(&self, ty: ScalarType, process: Thing) -> Seen<Vec<Thing>> {
        let plan = self.plan;
        let context = plan.model.type_context();
        let names = plan.names_members(ty);
        if !names && ty.n_values(context) > MOST_VALUES {
            return Err(End::Refused);
        }
        let is_other = |value: &Value| !matches!(value, Value::Process(id) if plan.is_member(*id));
        let values = ty.values(context).filter(is_other).map(Thing::Value);
        Ok(values.chain(names.then_some(process)).collect())
    }

    fn operator(&mut self, op: BinaryOp, left: &'m Expr, right: &'m Expr) -> Seen<Thing> {
        use BinaryOp::{And, Equal, Greater, GreaterEqual, Iff, Implies, Less, LessEqual, NotEqual, Or};
        match op {
            And if !self.holds(left)? => Ok(truth(false)),
            Or if self.holds(left)? => Ok(truth(true)),
            Implies if !self.holds(left)? => Ok(truth(true)),
            And | Or | Implies => Ok(truth(self.holds(right)?)),
            Iff => {
                let left = self.holds(left)?;
                Ok(truth(left == self.holds(right)?))
            }
            Equal | NotEqual => {
                let left = self.value(left)?;
                let right = self.value(right)?;
                Ok(truth(self.same(left, right)? == (op == Equal)))
            }
            Less | LessEqual | Greater | GreaterEqual => {
                let left = self.value(left)?;
                let right = self.value(right)?;
                let is_same = left == right && matches!(left, Thing::Mover | Thing::Cast(_) | Thing::Target);
                if is_same {
                    return Ok(truth(matches!(op, LessEqual | GreaterEqual)));
                }
                if is_process(left) && is_process(right) {
                    return Ok(truth(self.decide(2)? == 0));
                }
                let (Thing::Value(left), Thing::Value(right)) = (left, right) else { return Err(End::Refused) };
                if left == Value::None || right == Value::None {
                    return Err(End::Fault);
                }
                let (Value::Int(left), Value::Int(right)) = (left, right) else { return Err(End::Refused) };
                Ok(truth(match op {
                    Less => left < right,
                    LessEqual => left <= right,
                    Greater => left > right,
                    _ => left >= right,
                }))
            }
            _ => {
                let left = self.number(left)?;
                let right = self.number(right)?;
                compute(op, left, right).map(int).ok_or(End::Fault)
            }
        }
    }

    /// Whether two things are the same. Whom a loop takes may be anyone whom a quantifier binds.
    pub fn same(&mut self, left: Thing, right: Thing) -> Seen<bool> {
        if let (Thing::Value(left), Thing::Value(right)) = (left, right) {
            return Ok(left == right);
        }
        match (is_process(left), is_process(right)) {
            (true, true) => {}
            (false, false) => return Err(End::Refused),
            _ => {
                let other = if is_process(left) { right } else { left };
                return if matches!(other, Thing::Value(Value::None | Value::Process(_))) {
                    Ok(false)
                } else {
                    Err(End::Refused)
                };
            }
        }
        let is_mover = |thing: Thing| thing == Thing::Mover;
        match (left, right) {
            (Thing::Anybody, _) | (_, Thing::Anybody) => {}
            _ if is_mover(left) || is_mover(right) => return Ok(left == right),
            (Thing::Cast(_), Thing::Cast(_)) | (Thing::Target, Thing::Target) => return Ok(left == right),
            (Thing::Named(one), Thing::Named(other)) if one == other => return Ok(true),
            (Thing::Named(column), Thing::Cast(at)) | (Thing::Cast(at), Thing::Named(column))
                if self.who == Who::Nobody =>
            {
                return Ok(self.name(column)? == Some(at));
            }
            _ => {}
        }
        Ok(self.decide(2)? == 0)
    }

    /// Which of those who are bound a column names.
    fn name(&mut self, column: usize) -> Seen<Option<usize>> {
        if let Some((_, name)) = self.names.iter().find(|(one, _)| *one == column) {
            return Ok(*name);
        }
        let n = self.cast.len();
        let at = self.decide(n + 1)?;
        let name = (at < n).then_some(at);
        self.names.push((column, name));
        Ok(name)
    }

    pub fn domain(&mut self, domain: &'m Domain) -> Seen<Vec<Thing>> {
        let model = self.plan.model;
        Ok(match domain {
            Domain::Family(family) if *family == self.plan.family => return Err(End::Refused),
            Domain::Family(family) => {
                model.families[*family].processes().map(|id| Thing::Value(Value::Process(id))).collect()
            }
            Domain::Range(lo, hi) => {
                let lo = self.number(lo)?;
                let hi = self.number(hi)?;
                (lo..=hi).map(int).collect()
            }
            Domain::Enum(id) => {
                (0..model.enums[*id].values.len()).map(|at| Thing::Value(Value::Enum(*id, at as u32))).collect()
            }
        })
    }

    pub fn bind(&mut self, binding: &Binding, thing: Thing) {
        self.bound.truncate(binding.var.0 as usize);
        self.bound.push(thing);
    }

    fn quantified(&mut self, quantified: &'m Quantified) -> Seen<Thing> {
        let is_family = |binding: &Binding| matches!(&binding.domain, Domain::Family(of) if *of == self.plan.family);
        let n_family = quantified.bindings.iter().filter(|binding| is_family(binding)).count();
        let outer = self.bound.clone();
        if n_family == 0 {
            let mut values = Vec::new();
            self.each(quantified, 0, &mut values)?;
            self.bound = outer;
            return Ok(match quantified.quantifier {
                Quantifier::Forall => truth(!values.contains(&false)),
                Quantifier::Exists => truth(values.contains(&true)),
                Quantifier::Count => int(values.iter().filter(|&&holds| holds).count() as i64),
            });
        }
        if n_family < quantified.bindings.len() || quantified.quantifier == Quantifier::Count {
            return Err(End::Refused);
        }
        let is_too_much = self.inner.is_some() || n_family > if self.who == Who::Nobody { 2 } else { 1 };
        if is_too_much {
            self.may_fault |= !decides(quantified);
            return Ok(truth(self.decide(2)? == 0));
        }
        let found = self.over_all(quantified);
        self.bound = outer;
        self.cast.clear();
        found.map(truth)
    }

    /// The values of the body, until one decides.
    fn each(&mut self, quantified: &'m Quantified, at: usize, values: &mut Vec<bool>) -> Seen<()> {
        let is_decided = |values: &[bool]| match quantified.quantifier {
            Quantifier::Forall => values.last() == Some(&false),
            Quantifier::Exists => values.last() == Some(&true),
            Quantifier::Count => false,
        };
        let Some(binding) = quantified.bindings.get(at) else {
            if let Some(holds) = self.body(quantified)? {
                values.push(holds);
            }
            return Ok(());
        };
        for thing in self.domain(&binding.domain)? {
            if is_decided(values) {
                return Ok(());
            }
            self.bind(binding, thing);
            self.each(quantified, at + 1, values)?;
        }
        Ok(())
    }

    /// The body for what is bound; `None` where that is left out.
    fn body(&mut self, quantified: &'m Quantified) -> Seen<Option<bool>> {
        if let Some(filter) = &quantified.filter
            && !self.holds(filter)?
        {
            return Ok(None);
        }
        Ok(Some(self.holds(&quantified.body)?))
    }

    /// A quantifier over the family: which local states make it what, then which it is.
    fn over_all(&mut self, quantified: &'m Quantified) -> Seen<bool> {
        let decisive = quantified.quantifier == Quantifier::Exists;
        let n_states = self.plan.states.len();
        let n = quantified.bindings.len();
        let mut rest = vec![false; n_states];
        let mut showing: Vec<Showing> = Vec::new();
        let mut by_mover = false;
        if self.who == Who::Member {
            let outcomes = self.outcomes(quantified, &[Thing::Mover], &[])?;
            by_mover = outcomes.iter().any(|(truth, _)| *truth == Some(decisive));
            // What only may be decided by the mover is open.
            let may_be_other = outcomes.iter().any(|(truth, _)| *truth != Some(decisive));
            if by_mover && may_be_other {
                by_mover = self.decisions.next(2) == 0;
            }
            if by_mover {
                // Who is asked before the mover may be a fault.
                if !decides(quantified) {
                    for one in 0..n_states {
                        self.plan.pace.did_one()?;
                        self.outcomes(quantified, &[Thing::Cast(0)], &[one])?;
                    }
                }
                return Ok(decisive);
            }
        }
        for (one, is_rest) in rest.iter_mut().enumerate() {
            let others: Vec<Vec<usize>> =
                if n == 1 { vec![vec![one]] } else { (0..n_states).map(|other| vec![one, other]).collect() };
            for cast in others {
                self.plan.pace.did_one()?;
                let things: Vec<Thing> = (0..n).map(Thing::Cast).collect();
                for (truth, names) in self.outcomes(quantified, &things, &cast)? {
                    if truth == Some(decisive) {
                        showing.push(Showing { states: cast.clone(), names });
                    } else if n == 1 {
                        *is_rest = true;
                    }
                }
            }
            if n == 2 {
                let things = [Thing::Cast(0), Thing::Cast(0)];
                for (truth, names) in self.outcomes(quantified, &things, &[one])? {
                    if truth == Some(decisive) {
                        showing.push(Showing { states: vec![one], names });
                    }
                }
            }
        }
        let is_decided = !by_mover && !showing.is_empty() && self.decisions.next(2) == 0;
        if is_decided {
            if self.some.is_none() {
                self.some = Some(showing);
            }
            return Ok(decisive);
        }
        if n == 1 {
            self.all.push(rest);
        }
        Ok(!decisive)
    }

    /// All that the body may be for these processes, in these local states.
    fn outcomes(
        &mut self,
        quantified: &'m Quantified,
        things: &[Thing],
        cast: &[usize],
    ) -> Seen<Vec<(Option<bool>, Names)>> {
        let mut found = Vec::new();
        let mut inner = Decisions::default();
        loop {
            self.inner = Some(inner);
            self.cast = cast.to_vec();
            self.names.clear();
            for (binding, thing) in quantified.bindings.iter().zip(things) {
                self.bind(binding, *thing);
            }
            let body = self.body(quantified);
            inner = self.inner.take().unwrap_or_default();
            let mut names = std::mem::take(&mut self.names);
            names.sort_unstable();
            match body {
                Ok(truth) => found.push((truth, names)),
                Err(End::Fault) => {
                    self.may_fault = true;
                    found.extend([(Some(true), names.clone()), (Some(false), names)]);
                }
                Err(End::No) => {}
                Err(end @ (End::Refused | End::Stopped(_))) => return Err(end),
            }
            if !inner.turn() {
                found.sort_unstable();
                found.dedup();
                return Ok(found);
            }
        }
    }
}

fn item(item: LocalItem, whose: Thing) -> Thing {
    match item {
        LocalItem::Value(value) => Thing::Value(value),
        LocalItem::Place(place) => Thing::Place(place),
        LocalItem::Itself => whose,
        LocalItem::Another if whose == Thing::Mover => Thing::NotMover,
        LocalItem::Another => Thing::Anybody,
    }
}

fn is_process(thing: Thing) -> bool {
    !matches!(thing, Thing::Value(_) | Thing::Place(_))
}

pub(super) fn truth(truth: bool) -> Thing {
    Thing::Value(Value::Bool(truth))
}

pub(super) fn int(number: i64) -> Thing {
    Thing::Value(Value::Int(number))
}

fn compute(op: BinaryOp, left: i64, right: i64) -> Option<i64> {
    match op {
        BinaryOp::Add => left.checked_add(right),
        BinaryOp::Subtract => left.checked_sub(right),
        BinaryOp::Multiply => left.checked_mul(right),
        BinaryOp::Divide => {
            if right == 0 {
                None
            } else {
                left.checked_div_euclid(right)
            }
        }
        BinaryOp::Remainder => (right != 0).then(|| left.wrapping_rem_euclid(right)),
        BinaryOp::Min => Some(left.min(right)),
        BinaryOp::Max => Some(left.max(right)),
        BinaryOp::Machine(op) => op.apply(left, right).ok(),
        _ => None,
    }
}

/// Whether a place is of a family's own text.
pub(super) fn is_in(scope: TextOwner, family: FamilyId) -> bool {
    scope == TextOwner::Family(family)
}

/// Whether a quantifier has a value for each process, whatever the state.
fn decides(quantified: &Quantified) -> bool {
    has_value(&quantified.body) && quantified.filter.as_ref().is_none_or(has_value)
}
