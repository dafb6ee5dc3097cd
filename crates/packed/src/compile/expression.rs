//! Expressions to terms.

use model::control::PlaceId;
use model::expr::{Access, Domain, Expr, ExprKind, Quantified, Quantifier, Whose};
use model::process::{FamilyId, ProcessId};
use model::types::ScalarType;
use model::value::Value;
use model::variable::{Role, Storage};

use super::{Bound, CompileContext, Compiler, NumberCode};
use crate::packing::encode;
use crate::term::{Locator, LocatorId, ProcessRange, Quantification, TermId};

/// Where an access leads.
#[derive(Clone, Copy, Debug)]
pub(super) enum AccessLocation {
    /// Always to the same location.
    Fixed(u32),
    /// To a location that depends on the state.
    Computed(LocatorId),
    /// To a fault.
    Fault,
}

impl Compiler<'_, '_> {
    /// The term of an expression.
    pub(super) fn expression(&mut self, expr: &Expr, context: &mut CompileContext) -> TermId {
        match &expr.kind {
            ExprKind::Const(value) => self.terms.constant(encode(*value)),
            ExprKind::Parameter(id) => self.terms.constant(encode(Value::Int(self.model.parameters[*id].value))),
            ExprKind::Myself => self.terms.constant(encode(Value::Process(context.myself()))),
            ExprKind::Bound(var) => context.bound[var.0 as usize].term,
            ExprKind::Read(access) => self.read(access, context),
            ExprKind::At { who, places, .. } => {
                let who = self.expression(who, context);
                self.at(who, places)
            }
            ExprKind::Not(inner) => {
                let inner = self.expression(inner, context);
                self.terms.not(inner)
            }
            ExprKind::Negate(inner) => {
                let inner = self.expression(inner, context);
                self.terms.negate(inner)
            }
            ExprKind::Binary(op, left, right) => {
                let left = self.expression(left, context);
                let right = self.expression(right, context);
                self.terms.binary(*op, left, right)
            }
            ExprKind::If(test, yes, no) => {
                let test = self.expression(test, context);
                let yes = self.expression(yes, context);
                let no = self.expression(no, context);
                self.terms.conditional(test, yes, no)
            }
            ExprKind::Quantified(quantified) => self.quantified(quantified, context),
            ExprKind::IndexOf(inner) => {
                let kind = self.kind(inner, context);
                let inner = self.expression(inner, context);
                if kind == NumberCode::Process { self.terms.index_of(inner) } else { inner }
            }
            ExprKind::ToProcess(family, inner) => {
                let kind = self.kind(inner, context);
                let inner = self.expression(inner, context);
                self.as_process(*family, kind, inner)
            }
        }
    }

    /// Where an access leads.
    pub(super) fn locate(&mut self, access: &Access, context: &mut CompileContext) -> AccessLocation {
        let var = &self.model.vars[access.var];
        let (first, owner) = match (var.storage, &access.whose) {
            (Storage::Frame(procedure), _) => {
                let frames = self.codec.layout.frames[context.myself().index()].as_ref();
                let first = frames.expect("a procedure runs only where it is called").first_slot[&procedure];
                (first + var.offset as u32, None)
            }
            (_, Whose::Shared | Whose::Frame) => (var.offset as u32, None),
            (_, Whose::Mine) => (self.first_cell(context.myself()) + var.offset as u32, None),
            (_, Whose::Of(who)) => {
                let who = self.expression(who, context);
                match self.terms.as_constant(who) {
                    Some(0) => return AccessLocation::Fault,
                    Some(number) => (self.first_cell(ProcessId::new(number as usize - 1)) + var.offset as u32, None),
                    None if self.terms.is_fault(who) => return AccessLocation::Fault,
                    None => (var.offset as u32, Some(who)),
                }
            }
        };
        let lens = var.ty.dimensions();
        let mut indices = Vec::with_capacity(lens.len());
        for (index, len) in access.indices.iter().zip(lens) {
            indices.push((self.expression(index, context), len));
        }
        self.element(first, owner, indices)
    }

    /// What a number that an expression yields codes.
    pub(super) fn kind(&self, expr: &Expr, context: &CompileContext) -> NumberCode {
        match &expr.kind {
            ExprKind::Const(Value::None | Value::Process(_)) | ExprKind::Myself | ExprKind::ToProcess(..) => {
                NumberCode::Process
            }
            ExprKind::Bound(var) => context.bound[var.0 as usize].kind,
            ExprKind::Read(access) => kind_of(self.model.vars[access.var].ty.scalar()),
            ExprKind::If(_, yes, _) => self.kind(yes, context),
            _ => NumberCode::Other,
        }
    }

    /// The first and the last number of a domain; the first is greater where it is empty.
    pub(super) fn domain_ends(
        &mut self,
        domain: &Domain,
        context: &mut CompileContext,
    ) -> (TermId, TermId, NumberCode) {
        match domain {
            Domain::Range(lo, hi) => (self.expression(lo, context), self.expression(hi, context), NumberCode::Other),
            Domain::Family(family) => {
                let range = self.range_of(*family);
                (self.terms.constant(range.first), self.terms.constant(range.last), NumberCode::Process)
            }
            Domain::Enum(id) => {
                let n_values = self.model.enums[*id].values.len() as i64;
                (self.terms.constant(0), self.terms.constant(n_values - 1), NumberCode::Other)
            }
        }
    }

    fn first_cell(&self, process: ProcessId) -> u32 {
        self.model.processes[process].first_cell as u32
    }

    fn element(&mut self, first: u32, owner: Option<TermId>, indices: Vec<(TermId, usize)>) -> AccessLocation {
        let mut offset = Some(0);
        for &(index, len) in &indices {
            match self.terms.as_constant(index) {
                Some(number) => match usize::try_from(number) {
                    Ok(at) if at < len => offset = offset.map(|offset| offset * len + at),
                    _ => return AccessLocation::Fault,
                },
                None if self.terms.is_fault(index) => return AccessLocation::Fault,
                None => offset = None,
            }
        }
        match (offset, owner) {
            (Some(offset), None) => AccessLocation::Fixed(first + offset as u32),
            _ => AccessLocation::Computed(self.terms.locator(Locator { first, owner, indices })),
        }
    }

    fn read(&mut self, access: &Access, context: &mut CompileContext) -> TermId {
        if let Role::Counter(id) = self.model.vars[access.var].role
            && self.codec.plan.folded[id.index()]
        {
            let counter = context.counters.iter().find(|(other, _)| *other == id);
            let &(_, value) = counter.expect("only the text of a loop reads its counter");
            return self.terms.constant(encode(value));
        }
        match self.locate(access, context) {
            AccessLocation::Fixed(location) => {
                let (field, _) = self.codec.layout.locations[location as usize];
                self.terms.read(field)
            }
            AccessLocation::Computed(locator) => self.terms.read_at(locator),
            AccessLocation::Fault => self.terms.fault(),
        }
    }

    /// Whether the top frame of the process that `who` yields is at one of the places.
    fn at(&mut self, who: TermId, places: &[PlaceId]) -> TermId {
        match self.terms.as_constant(who) {
            Some(0) => self.terms.fault(),
            Some(number) => self.process_at(ProcessId::new(number as usize - 1), places),
            None => {
                let processes = self.model.processes.ids();
                let options: Vec<TermId> = processes.map(|process| self.process_at(process, places)).collect();
                self.terms.pick(who, &options)
            }
        }
    }

    fn process_at(&mut self, process: ProcessId, places: &[PlaceId]) -> TermId {
        let points = &self.codec.plan.points[process.index()];
        let there = points.iter().enumerate().filter(|(_, point)| places.contains(&point.place));
        let raws = there.map(|(number, _)| number as u64);
        self.terms.is_one_of(self.codec.layout.control[process.index()], raws)
    }

    fn range_of(&self, family: FamilyId) -> ProcessRange {
        let family = &self.model.families[family];
        let first = family.first.index() as i64 + 1;
        ProcessRange { first, last: first + family.count() as i64 - 1 }
    }

    fn as_process(&mut self, family: FamilyId, kind: NumberCode, inner: TermId) -> TermId {
        let range = self.range_of(family);
        match kind {
            NumberCode::Process => self.terms.process_within(inner, range),
            NumberCode::Other => {
                let first_index = self.model.families[family].index.as_ref().map_or(0, |index| index.first);
                self.terms.process_at(inner, first_index, range)
            }
        }
    }

    fn quantified(&mut self, quantified: &Quantified, context: &mut CompileContext) -> TermId {
        let n_before = self.n_unrolled;
        let depth = context.bound.len();
        let mut instances = Vec::new();
        let written_out = self.instances(quantified, 0, context, &mut instances);
        context.bound.truncate(depth);
        if written_out.is_none() {
            self.n_unrolled = n_before;
            return self.looped(quantified, 0, context);
        }
        match quantified.quantifier {
            Quantifier::Forall => self.terms.and(&instances),
            Quantifier::Exists => self.terms.or(&instances),
            Quantifier::Count => self.terms.count(&instances),
        }
    }

    /// Appends the terms of all instances; `None` where they are too many, or their number is not constant.
    fn instances(
        &mut self,
        quantified: &Quantified,
        level: usize,
        context: &mut CompileContext,
        found: &mut Vec<TermId>,
    ) -> Option<()> {
        let Some(binding) = quantified.bindings.get(level) else {
            found.push(self.instance(quantified, context));
            return Some(());
        };
        let (first, last, kind) = self.domain_ends(&binding.domain, context);
        if self.terms.is_fault(first) || self.terms.is_fault(last) {
            found.push(self.terms.fault());
            return Some(());
        }
        let (first, last) = (self.terms.as_constant(first)?, self.terms.as_constant(last)?);
        for number in first..=last {
            self.n_unrolled += 1;
            if !self.may_unroll(0) {
                return None;
            }
            context.bound.truncate(binding.var.0 as usize);
            let term = self.terms.constant(number);
            context.bound.push(Bound { term, kind });
            self.instances(quantified, level + 1, context, found)?;
        }
        Some(())
    }

    /// The body for the values that are bound: true for `forall` and false for the others where the filter fails.
    fn instance(&mut self, quantified: &Quantified, context: &mut CompileContext) -> TermId {
        let filter = match &quantified.filter {
            None => return self.expression(&quantified.body, context),
            Some(filter) => self.expression(filter, context),
        };
        let is_forall = quantified.quantifier == Quantifier::Forall;
        match self.terms.as_constant(filter) {
            Some(0) => self.terms.truth(is_forall),
            Some(_) => self.expression(&quantified.body, context),
            None => {
                let body = self.expression(&quantified.body, context);
                if is_forall {
                    let outside = self.terms.not(filter);
                    self.terms.or(&[outside, body])
                } else {
                    self.terms.and(&[filter, body])
                }
            }
        }
    }

    /// The quantifier as loops over registers, one in the other.
    fn looped(&mut self, quantified: &Quantified, level: usize, context: &mut CompileContext) -> TermId {
        let Some(binding) = quantified.bindings.get(level) else {
            return self.instance(quantified, context);
        };
        let (first, last, kind) = self.domain_ends(&binding.domain, context);
        let depth = context.bound.len();
        let next_register = context.next_register;
        let register = self.take_register(context);
        context.bound.truncate(binding.var.0 as usize);
        let term = self.terms.register(register);
        context.bound.push(Bound { term, kind });
        let body = self.looped(quantified, level + 1, context);
        context.bound.truncate(depth);
        context.next_register = next_register;
        let quantification = Quantification { quantifier: quantified.quantifier, register, ends: (first, last), body };
        self.terms.quantified(quantification)
    }
}

pub(super) fn kind_of(ty: ScalarType) -> NumberCode {
    match ty {
        ScalarType::Pid(_) | ScalarType::PidOrNone(_) | ScalarType::Lock => NumberCode::Process,
        ScalarType::Bool | ScalarType::Range { .. } | ScalarType::Enum(_) | ScalarType::Semaphore { .. } => {
            NumberCode::Other
        }
    }
}
