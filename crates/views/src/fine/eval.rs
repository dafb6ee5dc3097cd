//! The value of an expression where nothing is known of a state but one process.
//!
//! In: the local state of the process that moves, and answers about the rest. Out: a value, or what has to be asked. A quantifier over the
//! family is computed once for the process itself and once for any other, whose columns are asked for; its own value is then a question, too, whose
//! answer says something about all others or about some. Where a process is named of whom nothing is known, every value is possible.

use std::iter::successors;

use base::Span;
use model::expr::{Access, BinaryOp, Domain, Expr, ExprKind, Quantified, Quantifier, Whose};
use model::process::{FamilyId, ProcessId};
use model::types::ScalarType;
use model::value::Value;
use model::variable::{CellId, Storage};

use super::datum::{Answers, Choice, Conjunction, Datum, Need, QuantifierFact, Stop, Unknown, Witnesses};
use crate::layout::{ElementArray, LocalColumn, SharedColumn, is_over};
use crate::sight::{Ground, arithmetic};

/// A type of more values is not gone through.
const MOST_VALUES: u128 = 1024;

/// Who moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mover {
    /// A process of the family.
    Member,
    /// A process of another family.
    Outsider(ProcessId),
    /// Nobody: a property.
    Nobody,
}

/// Where a scalar part of a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// In a shared column.
    Shared(usize),
    /// In a column of the process that moves.
    Mine(usize),
    /// In a column of a bound process.
    Of(u8, usize),
    /// In a process of whom nothing is known.
    Lost,
}

/// A computation.
pub struct Eval<'m> {
    /// The program.
    pub ground: Ground<'m>,
    /// Who moves.
    pub mover: Mover,
    /// Its local state now.
    pub local: Vec<Datum>,
    /// The shared columns that the step has written.
    pub written: Vec<(usize, Datum)>,
    /// The answers so far.
    pub answers: Answers,
    /// The values of bound variables, outermost first.
    pub bound: Vec<Datum>,
    /// How many processes are bound.
    pub n_bound: u8,
    /// How many quantifiers are around.
    pub depth: u8,
    /// How many guesses were made.
    pub n_guesses: u32,
    /// How many quantifiers were met.
    pub n_quantified: u32,
    /// Whether a process of a quantifier may be a fault.
    pub may_fault: bool,
}

/// A value, or why there is none.
pub type Evaluated<T> = Result<T, Stop>;

impl<'m> Eval<'m> {
    /// A computation at its start.
    pub fn new(ground: Ground<'m>, mover: Mover, local: &[Datum], answers: Answers) -> Eval<'m> {
        // The process that a loop takes is bound, too.
        let n_bound = u8::from(mover == Mover::Member);
        Eval {
            ground,
            mover,
            local: local.to_vec(),
            written: Vec::new(),
            answers,
            bound: Vec::new(),
            n_bound,
            depth: 0,
            n_guesses: 0,
            n_quantified: 0,
            may_fault: false,
        }
    }

    /// The answer to a question, or the question.
    fn ask(&self, unknown: Unknown, choices: impl FnOnce() -> Vec<Choice>) -> Evaluated<Datum> {
        match self.answers.iter().find(|(known, _)| *known == unknown) {
            Some((_, datum)) => Ok(*datum),
            None => Err(Stop::Need(Box::new(Need { unknown, choices: choices() }))),
        }
    }

    /// A number below `n`, any.
    pub fn guess(&mut self, n: usize) -> Evaluated<usize> {
        self.n_guesses += 1;
        let unknown = Unknown::Guess(self.depth, self.n_guesses);
        match self.ask(unknown, || (0..n as i64).map(|at| Datum::int(at).into()).collect())? {
            Datum::Value(Value::Int(at)) => Ok(at as usize),
            _ => Err(Stop::Blocked),
        }
    }

    fn guess_truth(&mut self) -> Evaluated<bool> {
        Ok(self.guess(2)? == 1)
    }

    /// The value of an expression.
    pub fn value(&mut self, expr: &'m Expr) -> Evaluated<Datum> {
        let model = self.ground.model;
        match &expr.kind {
            ExprKind::Const(value) => match value {
                Value::Process(id) if self.ground.layout.is_member(model, *id) => Err(Stop::Outside(expr.span)),
                value => Ok(Datum::Value(*value)),
            },
            ExprKind::Parameter(id) => Ok(Datum::int(model.parameters[*id].value)),
            ExprKind::Myself => self.myself(expr.span),
            ExprKind::Bound(var) => self.bound.get(var.0 as usize).copied().ok_or(Stop::Outside(expr.span)),
            ExprKind::Read(access) => {
                let location = self.locate(access)?;
                self.load(location, model.vars[access.var].ty.scalar(), access.span)
            }
            ExprKind::At { who, places, .. } => self.at(who, places, expr.span),
            ExprKind::Not(inner) => Ok(Datum::truth(!self.truth(inner)?)),
            ExprKind::Negate(inner) => self.number(inner)?.checked_neg().map(Datum::int).ok_or(Stop::Fault),
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right, expr.span),
            ExprKind::If(test, yes, no) => match self.truth(test)? {
                true => self.value(yes),
                false => self.value(no),
            },
            ExprKind::Quantified(quantified) => self.quantified(quantified, expr.span),
            ExprKind::IndexOf(inner) => match self.value(inner)? {
                Datum::Value(Value::Process(id)) => Ok(Datum::int(model.processes[id].index)),
                Datum::Value(Value::None) => Err(Stop::Fault),
                // The index of a process of the family is only compared, or used as an index: the process stands for it.
                other => Ok(other),
            },
            ExprKind::ToProcess(family, inner) => {
                let value = self.value(inner)?;
                self.to_process(*family, value, inner.span)
            }
        }
    }

    fn at(&mut self, who: &'m Expr, places: &[model::control::PlaceId], span: Span) -> Evaluated<Datum> {
        let model = self.ground.model;
        let control = match self.value(who)? {
            Datum::Me => self.local[0],
            Datum::Bound(one) => self.column(one, 0, None, span)?,
            Datum::Value(Value::Process(id)) => {
                let column = self.ground.layout.shared_column(SharedColumn::Control(id));
                let column = column.ok_or(Stop::Outside(span))?;
                let family = model.processes[id].family;
                self.shared(column, || places_of(model, family).map(Choice::from).collect())?
            }
            Datum::Value(Value::None) => return Err(Stop::Fault),
            Datum::Value(_) | Datum::Place(_) => return Err(Stop::Outside(span)),
            Datum::Stranger(_) | Datum::Another | Datum::Someone => return self.guess_truth().map(Datum::truth),
        };
        Ok(Datum::truth(places.iter().any(|&place| control == Datum::Place(place))))
    }

    /// The value of a boolean expression.
    pub fn truth(&mut self, expr: &'m Expr) -> Evaluated<bool> {
        match self.value(expr)? {
            Datum::Value(Value::Bool(truth)) => Ok(truth),
            _ => Err(Stop::Outside(expr.span)),
        }
    }

    /// The value of a numeric expression.
    pub fn number(&mut self, expr: &'m Expr) -> Evaluated<i64> {
        match self.value(expr)? {
            Datum::Value(Value::Int(number)) => Ok(number),
            Datum::Value(Value::None) => Err(Stop::Fault),
            _ => Err(Stop::Outside(expr.span)),
        }
    }

    /// Who moves, as a value.
    pub fn myself(&self, span: Span) -> Evaluated<Datum> {
        match self.mover {
            Mover::Member => Ok(Datum::Me),
            Mover::Outsider(id) => Ok(Datum::Value(Value::Process(id))),
            Mover::Nobody => Err(Stop::Outside(span)),
        }
    }

    fn to_process(&self, family: FamilyId, value: Datum, span: Span) -> Evaluated<Datum> {
        let (model, layout) = (self.ground.model, self.ground.layout);
        match value {
            Datum::Place(_) => Err(Stop::Outside(span)),
            Datum::Value(Value::None) => Ok(value),
            Datum::Value(Value::Process(id)) if model.processes[id].family == family => Ok(value),
            Datum::Value(Value::Process(_)) => Err(Stop::Fault),
            Datum::Value(Value::Int(index)) if family != layout.family => {
                let process = model.families[family].process_at(index).ok_or(Stop::Fault)?;
                Ok(Datum::Value(Value::Process(process)))
            }
            Datum::Value(_) => Err(Stop::Outside(span)),
            _ if family == layout.family => Ok(value),
            // Whether the other family has a process of its index depends on which process it is.
            _ => Err(Stop::Outside(span)),
        }
    }

    /// Where an access leads, its indices checked.
    pub fn locate(&mut self, access: &'m Access) -> Evaluated<Location> {
        let Ground { model, layout, .. } = self.ground;
        let outside = || Stop::Outside(access.span);
        let owner = match &access.whose {
            Whose::Shared => None,
            Whose::Frame => return Err(outside()),
            Whose::Mine => Some(self.myself(access.span)?),
            Whose::Of(who) => Some(self.value(who)?),
        };
        let var = &model.vars[access.var];
        let row = layout.rows.get(&access.var).copied();
        let mut offset = 0;
        let mut row_of = None;
        for (dimension, (index, len)) in access.indices.iter().zip(var.ty.dimensions()).enumerate() {
            match self.value(index)? {
                Datum::Value(Value::Int(number)) if row != Some(dimension) => match usize::try_from(number) {
                    Ok(position) if position < len => offset = offset * len + position,
                    _ => return Err(Stop::Fault),
                },
                Datum::Value(Value::None) => return Err(Stop::Fault),
                Datum::Value(_) | Datum::Place(_) => return Err(Stop::Outside(index.span)),
                process if row == Some(dimension) => row_of = Some(process),
                _ => return Err(Stop::Outside(index.span)),
            }
        }
        let of = |process: Datum, column: usize| match process {
            Datum::Me => Location::Mine(column),
            Datum::Bound(one) => Location::Of(one, column),
            _ => Location::Lost,
        };
        let id = match owner {
            None => None,
            Some(Datum::Value(Value::Process(id))) => Some(id),
            Some(Datum::Value(Value::None)) => return Err(Stop::Fault),
            Some(Datum::Value(_) | Datum::Place(_)) => return Err(outside()),
            // With such an array a process keeps something about each other one.
            Some(_) if row_of.is_some() => return Err(outside()),
            Some(process) => {
                let is_own = matches!(var.storage, Storage::Public(of) | Storage::Local(of) if of == layout.family);
                let column = layout.local_column(LocalColumn::Own(var.offset + offset)).filter(|_| is_own);
                return Ok(of(process, column.ok_or_else(outside)?));
            }
        };
        match row_of {
            Some(process) => {
                let column = LocalColumn::Element(ElementArray { var: access.var, owner: id }, offset);
                Ok(of(process, layout.local_column(column).ok_or_else(outside)?))
            }
            None => {
                let first = id.map_or(0, |id| model.processes[id].first_cell) + var.offset;
                let column = layout.shared_column(SharedColumn::Cell(CellId::new(first + offset)));
                Ok(Location::Shared(column.ok_or_else(outside)?))
            }
        }
    }

    /// What is at a location.
    pub fn load(&mut self, location: Location, ty: ScalarType, span: Span) -> Evaluated<Datum> {
        match location {
            Location::Mine(column) => {
                match self.ground.layout.scans.iter().find(|scan| scan.counter == column) {
                    None => Ok(self.local[column]),
                    Some(scan) if self.local[scan.taken] == Datum::truth(true) => self.target(),
                    // The first step of a loop may be taken from outside of it: then nobody knows whom it takes.
                    Some(_) => Err(Stop::Outside(span)),
                }
            }
            Location::Of(one, column) => self.column(one, column, Some(ty), span),
            Location::Lost => {
                let values = self.values(ty, Datum::Someone, span)?;
                let at = self.guess(values.len())?;
                Ok(values[at])
            }
            Location::Shared(column) => {
                let values = self.values(ty, Datum::Stranger(column), span)?;
                let mine =
                    (self.mover == Mover::Member && values.contains(&Datum::Stranger(column))).then_some(Datum::Me);
                self.shared(column, || values.into_iter().chain(mine).map(Choice::from).collect())
            }
        }
    }

    /// What a shared column holds now.
    pub fn shared(&self, column: usize, choices: impl FnOnce() -> Vec<Choice>) -> Evaluated<Datum> {
        match self.written.iter().rev().find(|(written, _)| *written == column) {
            Some((_, datum)) => Ok(*datum),
            None => self.ask(Unknown::Shared(column), choices),
        }
    }

    /// Whom the loop over the family takes now.
    pub fn target(&self) -> Evaluated<Datum> {
        self.ask(Unknown::Target, || vec![Datum::Me.into(), Datum::Bound(0).into()])
    }

    /// What a column of a bound process holds.
    fn column(&mut self, one: u8, column: usize, ty: Option<ScalarType>, span: Span) -> Evaluated<Datum> {
        let model = self.ground.model;
        let values = match ty {
            Some(ty) => {
                let mut values = self.values(ty, Datum::Another, span)?;
                if values.contains(&Datum::Another) {
                    values.push(Datum::Me);
                }
                values
            }
            None => places_of(model, self.ground.layout.family).collect(),
        };
        let found = self.ask(Unknown::Column(one, column), || values.into_iter().map(Choice::from).collect())?;
        Ok(match found {
            Datum::Me => Datum::Bound(one),
            Datum::Another => Datum::Someone,
            other => other,
        })
    }

    /// The values of a type, with `process` for the processes of the family.
    pub fn values(&self, ty: ScalarType, process: Datum, span: Span) -> Evaluated<Vec<Datum>> {
        let (model, layout) = (self.ground.model, self.ground.layout);
        let of_family = matches!(ty, ScalarType::Pid(of) | ScalarType::PidOrNone(of) if of == layout.family);
        if !of_family && ty != ScalarType::Lock && ty.n_values(model.type_context()) > MOST_VALUES {
            return Err(Stop::Outside(span));
        }
        let mut values = match ty {
            ScalarType::Pid(_) if of_family => Vec::new(),
            ScalarType::PidOrNone(_) if of_family => vec![Datum::Value(Value::None)],
            _ => {
                let is_other = |value: &Value| !matches!(value, Value::Process(id) if layout.is_member(model, *id));
                ty.values(model.type_context()).filter(is_other).map(Datum::Value).collect()
            }
        };
        if of_family || ty == ScalarType::Lock {
            values.push(process);
        }
        Ok(values)
    }

    fn binary(&mut self, op: BinaryOp, left: &'m Expr, right: &'m Expr, span: Span) -> Evaluated<Datum> {
        use BinaryOp::{And, Equal, Greater, GreaterEqual, Iff, Implies, Less, LessEqual, NotEqual, Or};
        Ok(match op {
            And => Datum::truth(self.truth(left)? && self.truth(right)?),
            Or => Datum::truth(self.truth(left)? || self.truth(right)?),
            Implies => Datum::truth(!self.truth(left)? || self.truth(right)?),
            Iff => Datum::truth(self.truth(left)? == self.truth(right)?),
            Equal | NotEqual => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                Datum::truth(self.equal(left, right, span)? == (op == Equal))
            }
            Less | LessEqual | Greater | GreaterEqual => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                let (left, right) = match (left, right) {
                    (Datum::Value(Value::Int(left)), Datum::Value(Value::Int(right))) => (left, right),
                    (Datum::Value(Value::None), _) | (_, Datum::Value(Value::None)) => return Err(Stop::Fault),
                    (Datum::Me, Datum::Me) => (0, 0),
                    (Datum::Bound(one), Datum::Bound(other)) if one == other => (0, 0),
                    // Nothing else is known of the order of processes.
                    (left, right) if left.is_process() && right.is_process() => {
                        return self.guess_truth().map(Datum::truth);
                    }
                    _ => return Err(Stop::Outside(span)),
                };
                Datum::truth(match op {
                    Less => left < right,
                    LessEqual => left <= right,
                    Greater => left > right,
                    _ => left >= right,
                })
            }
            _ => Datum::int(arithmetic(op, self.number(left)?, self.number(right)?).ok_or(Stop::Fault)?),
        })
    }

    /// Whether two values are the same. A process of the family is compared with processes only.
    pub fn equal(&mut self, left: Datum, right: Datum, span: Span) -> Evaluated<bool> {
        use Datum::{Another, Bound, Me, Someone, Stranger};
        match (left, right) {
            (Me, Me) => Ok(true),
            (Bound(one), Bound(other)) if one == other => Ok(true),
            // A quantifier goes over all others, and whom a loop takes is one of these.
            (Bound(0), Bound(_)) | (Bound(_), Bound(0)) if self.mover == Mover::Member => self.guess_truth(),
            (Bound(_), Bound(_)) => Ok(false),
            (Me, Bound(_) | Stranger(_) | Another) | (Bound(_) | Stranger(_) | Another, Me) => Ok(false),
            (Stranger(one), Stranger(other)) if one == other => Ok(true),
            (Stranger(column), Bound(one)) | (Bound(one), Stranger(column)) if self.mover == Mover::Nobody => {
                let bound = (0..self.n_bound).map(Bound).chain([Stranger(column)]);
                Ok(self.ask(Unknown::Who(column), || bound.map(Choice::from).collect())? == Bound(one))
            }
            (Stranger(_) | Another | Someone, other) | (other, Stranger(_) | Another | Someone)
                if other.is_process() =>
            {
                self.guess_truth()
            }
            (Datum::Value(left), Datum::Value(right)) => Ok(left == right),
            (Datum::Value(Value::Int(_)), _) | (_, Datum::Value(Value::Int(_))) => Err(Stop::Outside(span)),
            _ => Ok(false),
        }
    }

    /// The values that a bound variable takes, where these are not the processes of the family.
    pub fn domain(&mut self, domain: &'m Domain) -> Evaluated<Vec<Datum>> {
        let model = self.ground.model;
        Ok(match domain {
            Domain::Family(family) if *family == self.ground.layout.family => {
                return Err(Stop::Outside(Span::default()));
            }
            Domain::Family(family) => {
                model.families[*family].processes().map(|id| Datum::Value(Value::Process(id))).collect()
            }
            Domain::Range(lo, hi) => {
                let (lo, hi) = (self.number(lo)?, self.number(hi)?);
                successors(Some(lo), |&at| at.checked_add(1)).take_while(|&at| at <= hi).map(Datum::int).collect()
            }
            Domain::Enum(id) => {
                let n_values = model.enums[*id].values.len() as u32;
                (0..n_values).map(|at| Datum::Value(Value::Enum(*id, at))).collect()
            }
        })
    }

    /// Gives a bound variable its value.
    pub fn bind(&mut self, binding: &model::expr::Binding, value: Datum) {
        self.bound.truncate(binding.var.0 as usize);
        self.bound.push(value);
    }

    fn quantified(&mut self, quantified: &'m Quantified, span: Span) -> Evaluated<Datum> {
        let family = self.ground.layout.family;
        let n_over = quantified.bindings.iter().filter(|binding| is_over(&binding.domain, family)).count();
        if n_over > 0 {
            let is_mixed = n_over < quantified.bindings.len();
            let is_wide = self.mover == Mover::Nobody && n_over > 2;
            if quantified.quantifier == Quantifier::Count || is_mixed || is_wide {
                return Err(Stop::Outside(span));
            }
            return self.over_family(quantified).map(Datum::truth);
        }
        let outer = self.bound.clone();
        let mut count = 0;
        let mut decided = None;
        self.instances(quantified, 0, &mut |holds| {
            count += i64::from(holds);
            match quantified.quantifier {
                Quantifier::Forall if !holds => decided = Some(false),
                Quantifier::Exists if holds => decided = Some(true),
                _ => {}
            }
            decided.is_some()
        })?;
        self.bound = outer;
        Ok(match quantified.quantifier {
            Quantifier::Count => Datum::int(count),
            Quantifier::Forall => Datum::truth(decided.unwrap_or(true)),
            Quantifier::Exists => Datum::truth(decided.unwrap_or(false)),
        })
    }

    fn instances(
        &mut self,
        quantified: &'m Quantified,
        at: usize,
        stop: &mut dyn FnMut(bool) -> bool,
    ) -> Evaluated<bool> {
        let Some(binding) = quantified.bindings.get(at) else {
            return Ok(match self.instance(quantified)? {
                Some(holds) => stop(holds),
                None => false,
            });
        };
        for value in self.domain(&binding.domain)? {
            self.bind(binding, value);
            if self.instances(quantified, at + 1, stop)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What the body is for the values that are bound; `None` where they are left out.
    fn instance(&mut self, quantified: &'m Quantified) -> Evaluated<Option<bool>> {
        if let Some(filter) = &quantified.filter
            && !self.truth(filter)?
        {
            return Ok(None);
        }
        self.truth(&quantified.body).map(Some)
    }

    /// A quantifier over the family: what any process makes of it, then which truth value it has.
    fn over_family(&mut self, quantified: &'m Quantified) -> Evaluated<bool> {
        let n_bindings = quantified.bindings.len();
        if self.depth > 0 || self.mover != Mover::Nobody && n_bindings > 1 {
            let filter = quantified.filter.as_ref();
            self.may_fault |= quantified.body.can_fault() || filter.is_some_and(Expr::can_fault);
            return self.guess_truth();
        }
        self.n_quantified += 1;
        let unknown = Unknown::Quantified(self.n_quantified);
        let known = self.answers.iter().find(|(known, _)| *known == unknown);
        if let Some((_, Datum::Value(Value::Bool(truth)))) = known {
            return Ok(*truth);
        }
        // A forall is false, an exists true, because of some processes.
        let decisive = quantified.quantifier == Quantifier::Exists;
        let mut shown: Vec<Witnesses> = Vec::new();
        let mut rest: Vec<Conjunction> = Vec::new();
        let mut must_be_shown = false;
        for roles in roles(n_bindings, self.mover == Mover::Member) {
            let first = self.n_bound;
            let n_others = roles.iter().filter_map(|role| *role).max().map_or(0, |most| most + 1);
            let ways = self.ways(quantified, &roles)?;
            let is_shown = |way: &BodyOutcome| way.truth == Some(decisive) && !way.is_fault;
            must_be_shown |= n_others == 0 && !ways.is_empty() && ways.iter().all(is_shown);
            for way in ways {
                let processes: Vec<Conjunction> = (0..n_others).map(|one| way.of(first + one)).collect();
                if way.truth == Some(decisive) || way.is_fault {
                    shown.push(Witnesses { processes: processes.clone(), names: way.names(first) });
                }
                if (way.truth != Some(decisive) || way.is_fault) && n_others == 1 && n_bindings == 1 {
                    rest.extend(processes);
                }
            }
        }
        let mut choices = Vec::new();
        let all = QuantifierFact::All(rest);
        if !must_be_shown {
            let told = (n_bindings == 1).then_some(all);
            choices.push(Choice { datum: Datum::truth(!decisive), told });
        }
        if !shown.is_empty() {
            choices.push(Choice { datum: Datum::truth(decisive), told: Some(QuantifierFact::Some(shown)) });
        }
        Err(Stop::Need(Box::new(Need { unknown, choices })))
    }

    /// All ways through the body of a quantifier whose variables are these processes: `Me`, or others by number.
    fn ways(&mut self, quantified: &'m Quantified, roles: &[Option<u8>]) -> Evaluated<Vec<BodyOutcome>> {
        let first = self.n_bound;
        let n_others = roles.iter().filter_map(|role| *role).max().map_or(0, |most| most + 1);
        let mut found = Vec::new();
        let mut open: Vec<Answers> = vec![Vec::new()];
        while let Some(inner) = open.pop() {
            let mut eval = Eval {
                ground: self.ground,
                mover: self.mover,
                local: self.local.clone(),
                written: self.written.clone(),
                answers: [&self.answers[..], &inner[..]].concat(),
                bound: self.bound.clone(),
                n_bound: first + n_others,
                depth: 1,
                n_guesses: 0,
                n_quantified: 0,
                may_fault: false,
            };
            for (binding, role) in quantified.bindings.iter().zip(roles) {
                eval.bind(binding, role.map_or(Datum::Me, |one| Datum::Bound(first + one)));
            }
            let is_inner = |unknown: Unknown| match unknown {
                Unknown::Column(one, _) => one >= first,
                Unknown::Guess(depth, _) => depth > 0,
                Unknown::Who(_) => true,
                Unknown::Shared(_) | Unknown::Target | Unknown::Quantified(_) => false,
            };
            let instance = eval.instance(quantified);
            self.may_fault |= eval.may_fault;
            match instance {
                Ok(truth) => found.push(BodyOutcome { answers: inner, truth, is_fault: false }),
                Err(Stop::Fault) => {
                    self.may_fault = true;
                    found.push(BodyOutcome { answers: inner, truth: None, is_fault: true });
                }
                Err(Stop::Need(need)) if is_inner(need.unknown) => {
                    open.extend(need.choices.iter().map(|choice| {
                        let mut inner = inner.clone();
                        inner.push((need.unknown, choice.datum));
                        inner
                    }));
                }
                Err(stop) => return Err(stop),
            }
        }
        Ok(found)
    }
}

/// A way through the body of a quantifier.
struct BodyOutcome {
    answers: Answers,
    /// What the body is there; `None` where these processes are left out.
    truth: Option<bool>,
    is_fault: bool,
}

impl BodyOutcome {
    /// What is known of a bound process.
    fn of(&self, one: u8) -> Conjunction {
        let column = |(unknown, datum): &(Unknown, Datum)| match unknown {
            Unknown::Column(who, column) if *who == one => Some((*column, *datum)),
            _ => None,
        };
        self.answers.iter().filter_map(column).collect()
    }

    fn names(&self, first: u8) -> Vec<(usize, Option<u8>)> {
        let name = |(unknown, datum): &(Unknown, Datum)| match (unknown, datum) {
            (Unknown::Who(column), Datum::Bound(one)) => Some((*column, Some(one - first))),
            (Unknown::Who(column), _) => Some((*column, None)),
            _ => None,
        };
        self.answers.iter().filter_map(name).collect()
    }
}

/// All ways in which `n` variables can be processes: `None` is the one that moves, others are numbered in the order in which they come.
fn roles(n: usize, with_me: bool) -> Vec<Vec<Option<u8>>> {
    let mut found: Vec<Vec<Option<u8>>> = vec![Vec::new()];
    for _ in 0..n {
        found = found
            .into_iter()
            .flat_map(|roles| {
                let next = roles.iter().filter_map(|role| *role).max().map_or(0, |most| most + 1);
                let me = with_me.then_some(None);
                (0..=next).map(Some).chain(me).map(move |role| [&roles[..], &[role]].concat()).collect::<Vec<_>>()
            })
            .collect();
    }
    found
}

fn places_of(model: &model::Model, family: FamilyId) -> impl Iterator<Item = Datum> + '_ {
    let is_its = move |place: &model::control::Place| place.scope == model::control::TextOwner::Family(family);
    model.places.entries().filter(move |(_, place)| is_its(place)).map(|(id, _)| Datum::Place(id))
}
