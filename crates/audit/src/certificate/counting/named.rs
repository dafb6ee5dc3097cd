//! Processes at the ends of a family that a proof says are not like the others, as the checker sees them.
//!
//! In: how many of the first and of the last ones. Out: who that is at the size at hand, and what numbers say about indices at every size. Of
//! a process that is like the others nothing is known but that its index is neither among the first nor among the last so many.

use evidence::counting::NamedEnds;
use model::expr::{BinaryOp, Expr};
use model::process::{FamilyId, ProcessId};
use model::size::{Linear, Size};
use model::variable::CellId;

use super::cast::{Cast, refuse};
use super::{CertificateError, Outcome};

impl Cast<'_> {
    /// Makes those who are named single ones: different ones, each family once, and somebody is left in it.
    pub(super) fn name(&mut self) -> Outcome<()> {
        for (at, ends) in self.named.clone().into_iter().enumerate() {
            let is_again = self.named[..at].iter().any(|other| other.family == ends.family);
            if is_again || !self.crowds.contains(&ends.family) {
                return Err(CertificateError::Malformed("it names processes of no family".to_owned()));
            }
            let all: Vec<ProcessId> = self.model.families[ends.family].processes().collect();
            let n_named = ends.first.checked_add(ends.last).filter(|&n_named| n_named < all.len());
            if n_named.is_none() {
                return refuse("it names all processes of a family");
            }
            self.singles.extend(&all[..ends.first]);
            self.singles.extend(&all[all.len() - ends.last..]);
        }
        Ok(())
    }

    fn ends(&self, family: FamilyId) -> NamedEnds {
        let found = self.named.iter().find(|ends| ends.family == family).copied();
        found.unwrap_or(NamedEnds { family, first: 0, last: 0 })
    }

    pub(super) fn n_named(&self, family: FamilyId) -> i64 {
        let NamedEnds { first, last, .. } = self.ends(family);
        (first + last) as i64
    }

    /// Whether a claim about these sizes leaves somebody in every family beside those who are named.
    pub(super) fn leaves_somebody(&self, claimed: Option<(model::size::ParameterId, i64)>) -> bool {
        self.named.iter().all(|ends| match self.written.families[ends.family].size {
            Size::Parameter(id) => {
                let least = match claimed {
                    Some((parameter, from)) if parameter == id => from,
                    Some(_) => self.written.parameters[id].least,
                    None => self.model.parameters[id].value,
                };
                least > self.n_named(ends.family)
            }
            _ => true,
        })
    }

    /// The named processes of a family of many.
    pub(super) fn named_in(&self, family: FamilyId) -> Vec<ProcessId> {
        let is_in = |id: &ProcessId| self.crowds.contains(&family) && self.model.processes[*id].family == family;
        self.singles.iter().copied().filter(is_in).collect()
    }

    /// The first process of a family that is like the others.
    pub(super) fn like_others(&self, family: FamilyId) -> Option<ProcessId> {
        let mut all = self.model.families[family].processes();
        all.find(|&one| !self.singles.contains(&one))
    }

    /// The size of a family, as written.
    fn size(&self, family: FamilyId) -> Option<Linear> {
        self.written.families[family].size.linear()
    }

    /// The index of a single process at every size.
    pub(super) fn index(&self, single: ProcessId) -> Option<Linear> {
        let one = &self.model.processes[single];
        let ends = self.ends(one.family);
        let is_at_end = self.crowds.contains(&one.family) && one.index >= ends.first as i64;
        match is_at_end {
            true => {
                let back = self.model.families[one.family].count() as i64 - one.index;
                self.size(one.family)?.plus(&Linear::number(back), -1)
            }
            false => Some(Linear::number(one.index)),
        }
    }

    /// A number that the text writes down, with values of parameters that are no sizes.
    fn written_number(&self, expr: &Expr) -> Option<Linear> {
        let linear = Linear::of(expr)?;
        let mut number = Linear::number(linear.constant);
        for (&id, &times) in &linear.multiples {
            let value = match self.sizes.contains(&id) {
                true => Linear::parameter(id),
                false => Linear::number(self.model.parameters[id].value),
            };
            number = number.plus(&value, times)?;
        }
        Some(number)
    }

    /// The named process of a family whose index the text writes down.
    pub(super) fn written_process(&self, family: FamilyId, index: &Expr) -> Option<ProcessId> {
        let number = self.written_number(index)?;
        let is_meant = |id: &ProcessId| self.index(*id).as_ref() == Some(&number);
        self.named_in(family).into_iter().find(is_meant)
    }

    /// Whether a constant is one of the first ones of its family, or the one of a family of one.
    pub(super) fn is_constant(&self, process: ProcessId) -> bool {
        let one = &self.model.processes[process];
        !self.crowds.contains(&one.family) || one.index < self.ends(one.family).first as i64
    }

    /// What a comparison `index op number` is for every process of the family that is like the others; `None` where it is not the same for all.
    pub(super) fn all_compare(&self, family: FamilyId, op: BinaryOp, number: &Expr) -> Option<bool> {
        let number = self.written_number(number)?;
        let ends = self.ends(family);
        let least = Linear::number(ends.first as i64);
        let greatest = self.size(family)?.plus(&Linear::number(ends.last as i64 + 1), -1)?;
        let known = |linear: Option<Linear>| linear.filter(|one| one.multiples.is_empty()).map(|one| one.constant);
        // How far the number is above the least index, and above the greatest one.
        let above_least = known(number.clone().plus(&least, -1));
        let above_greatest = known(number.plus(&greatest, -1));
        let are_greater = above_least.is_some_and(|by| by < 0);
        let are_not_less = above_least.is_some_and(|by| by <= 0);
        let are_less = above_greatest.is_some_and(|by| by > 0);
        let are_not_greater = above_greatest.is_some_and(|by| by >= 0);
        let (yes, no) = match op {
            BinaryOp::Equal => (false, are_greater || are_less),
            BinaryOp::NotEqual => (are_greater || are_less, false),
            BinaryOp::Less => (are_less, are_not_less),
            BinaryOp::LessEqual => (are_not_greater, are_greater),
            BinaryOp::Greater => (are_greater, are_not_greater),
            BinaryOp::GreaterEqual => (are_not_less, are_less),
            _ => (false, false),
        };
        match (yes, no) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            _ => None,
        }
    }

    /// What a comparison `index op number` is for a single process, where that is the same at every size.
    pub(super) fn one_compares(&self, single: ProcessId, op: BinaryOp, number: &Expr) -> Option<bool> {
        let more = self.index(single)?.plus(&self.written_number(number)?, -1)?;
        let order = more.multiples.is_empty().then(|| more.constant.cmp(&0))?;
        match op {
            BinaryOp::Equal => Some(order.is_eq()),
            BinaryOp::NotEqual => Some(order.is_ne()),
            BinaryOp::Less => Some(order.is_lt()),
            BinaryOp::LessEqual => Some(order.is_le()),
            BinaryOp::Greater => Some(order.is_gt()),
            BinaryOp::GreaterEqual => Some(order.is_ge()),
            _ => None,
        }
    }

    /// Whose element of an array for processes a cell is.
    pub(super) fn has_element(&self, cell: CellId) -> Option<ProcessId> {
        let var = self.model.cells[cell].var;
        let &(family, _) = self.rows.get(&var)?;
        let mut all = self.model.families[family].processes();
        all.find(|&one| self.elements(one, var).contains(&cell))
    }

    /// The elements of an array that a process has, in their order.
    pub(super) fn elements(&self, process: ProcessId, var: model::variable::VarId) -> Vec<CellId> {
        let Some(&(_, dimension)) = self.rows.get(&var) else { return Vec::new() };
        let declared = &self.model.vars[var];
        let dimensions: Vec<usize> = declared.ty.dimensions().into_iter().collect();
        let inner: usize = dimensions[dimension + 1..].iter().product();
        let index = self.model.processes[process].index as usize;
        let is_its = |at: &usize| at / inner % dimensions[dimension] == index;
        (0..declared.ty.n_cells()).filter(is_its).map(|at| CellId::new(declared.offset + at)).collect()
    }
}
