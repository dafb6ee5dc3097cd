//! Processes that are not like the others of their family: the first and the last few of it.
//!
//! In: how many of the first and of the last processes of a family are named. Out: which processes of the instance these are, their indices as
//! numbers that are right at every size, and how the index of any other process compares with a number. Named processes are single ones, as
//! those of families of one.
//!
//! **Soundness.** With `a` first and `b` last ones named and a size of at least `a + b + 1`, these are `a + b` different processes, their indices are
//! `0, …, a - 1` and `N - b, …, N - 1`, and every other process has an index from `a` to `N - b - 1`; nothing else is said of such an index. A process of
//! the instance that a constant names is taken for one of the first ones only: what is the last one here, is not at other sizes.

use std::collections::BTreeMap;

use evidence::counting::NamedEnds;
use evidence::views::{ElementArray, LocalColumn};
use model::expr::{BinaryOp, Expr, ExprKind};
use model::process::{FamilyId, ProcessId};
use model::property::PropertyKind;
use model::size::Size;
use model::template::FragmentReason;
use model::value::Value;
use model::variable::{CellId, VarId};
use model::visit::{each_part, each_text};

use super::form::{Form, Term};
use super::roster::Roster;

/// At most so many processes at an end of a family are named.
const MOST_NAMED: usize = 2;

/// The processes that the text or the properties tell from others by a number.
pub fn mentioned(roster: &Roster<'_>, questions: &[&PropertyKind]) -> Vec<NamedEnds> {
    let mut found = Mentioned { roster, ends: BTreeMap::new() };
    each_text(roster.text, &mut |expr| found.look(expr));
    for question in questions {
        if let PropertyKind::Invariant(expr) | PropertyKind::Reachable(expr) = question {
            found.look(expr);
        }
    }
    found.ends.into_iter().map(|(family, (first, last))| NamedEnds { family, first, last }).collect()
}

struct Mentioned<'a, 'm> {
    roster: &'a Roster<'m>,
    ends: BTreeMap<FamilyId, (usize, usize)>,
}

impl Mentioned<'_, '_> {
    fn look(&mut self, expr: &Expr) {
        each_part(expr, &mut |part| match &part.kind {
            ExprKind::Const(Value::Process(id)) => {
                let process = &self.roster.model.processes[*id];
                self.keep(process.family, (usize::try_from(process.index + 1).unwrap_or(0), 0));
            }
            ExprKind::ToProcess(family, index) => self.note(*family, BinaryOp::Equal, index),
            ExprKind::Binary(op, left, right) => {
                for (process, number, op) in [(left, right, *op), (right, left, super::look::turned(*op))] {
                    if let Some(family) = self.family(process) {
                        self.note(family, op, number);
                    }
                }
            }
            ExprKind::Read(access) => {
                if let Some(&(family, dimension)) = self.roster.rows.get(&access.var)
                    && let Some(index) = access.indices.get(dimension)
                {
                    self.note(family, BinaryOp::Equal, index);
                }
            }
            _ => {}
        });
    }

    /// The family of the process whose index an expression is. Who has it at hand does not say in which family it is where there are several.
    fn family(&self, expr: &Expr) -> Option<FamilyId> {
        let ExprKind::IndexOf(_) = &expr.kind else { return None };
        match self.roster.many[..] {
            [family] => Some(family),
            _ => None,
        }
    }

    /// An index is compared with a number: which processes at the ends of the family that tells from the others.
    fn note(&mut self, family: FamilyId, op: BinaryOp, number: &Expr) {
        let roster = self.roster;
        let Some(form) = roster.form(number) else { return };
        let size = roster.size_of(family);
        let from_end = size.and_then(|size| size.plus(&form, -1)).and_then(|form| form.known());
        // Below `c` there are `c` processes, and `c` itself is one more where it is told from those above, too.
        let (below, above) = match op {
            BinaryOp::Less | BinaryOp::GreaterEqual => (0, 0),
            BinaryOp::LessEqual | BinaryOp::Greater => (1, -1),
            _ => (1, 0),
        };
        let count = |c: i64| usize::try_from(c).unwrap_or(0);
        match (form.known(), from_end) {
            (Some(c), _) => self.keep(family, (count(c.saturating_add(below)), 0)),
            (None, Some(c)) => self.keep(family, (0, count(c.saturating_add(above)))),
            (None, None) => {}
        }
    }

    fn keep(&mut self, family: FamilyId, (first, last): (usize, usize)) {
        let is_kept = self.roster.many.contains(&family) && first <= MOST_NAMED && last <= MOST_NAMED;
        if is_kept && first + last > 0 {
            let ends = self.ends.entry(family).or_default();
            *ends = (ends.0.max(first), ends.1.max(last));
        }
    }
}

impl Roster<'_> {
    /// Makes the named processes single ones.
    pub(super) fn name(&mut self) -> Result<(), FragmentReason> {
        for ends in self.named.clone() {
            let family = &self.model.families[ends.family];
            let n_named = ends.first + ends.last;
            if !self.many.contains(&ends.family) || family.count() <= n_named {
                let text = format!("`{}` has no more processes than are named", family.name);
                return Err(FragmentReason { text, span: family.span });
            }
            // The claim is about sizes of the first family from so many on; others have to be larger in any case.
            let is_large = match self.text.families[ends.family].size {
                Size::Parameter(id) => {
                    self.many.first() == Some(&ends.family) || self.text.parameters[id].least > n_named as i64
                }
                _ => true,
            };
            if !is_large {
                let text = format!("there may be no more processes of `{}` than are named", family.name);
                return Err(FragmentReason { text, span: family.span });
            }
            let n = family.count();
            let is_named = |at: &usize| *at < ends.first || *at >= n - ends.last;
            let named = family.processes().enumerate().filter(|(at, _)| is_named(at)).map(|(_, process)| process);
            self.singles.extend(named);
        }
        Ok(())
    }

    fn ends(&self, family: FamilyId) -> (usize, usize) {
        self.named.iter().find(|ends| ends.family == family).map_or((0, 0), |ends| (ends.first, ends.last))
    }

    /// How many processes of a family are named.
    pub fn n_named(&self, family: FamilyId) -> i64 {
        let (first, last) = self.ends(family);
        (first + last) as i64
    }

    /// The named processes of a family.
    pub fn named_of(&self, family: FamilyId) -> Vec<ProcessId> {
        let is_of = |id: &&ProcessId| self.model.processes[**id].family == family && self.many.contains(&family);
        self.singles.iter().filter(is_of).copied().collect()
    }

    /// A process of the family that is like the others.
    pub fn member(&self, family: FamilyId) -> Option<ProcessId> {
        self.model.families[family].processes().find(|&process| self.is_member(process))
    }

    /// How many processes a family has.
    fn size_of(&self, family: FamilyId) -> Option<Form> {
        match self.text.families[family].size {
            Size::Parameter(parameter) => Some(Form::term(Term::Size(parameter))),
            Size::Fixed(n) => Some(Form::number(n as i64)),
            _ => None,
        }
    }

    /// The index of a single process, at every size.
    pub fn index_of(&self, process: ProcessId) -> Option<Form> {
        let declared = &self.model.processes[process];
        let (first, _) = self.ends(declared.family);
        if !self.many.contains(&declared.family) || declared.index < first as i64 {
            return Some(Form::number(declared.index));
        }
        let from_end = self.model.families[declared.family].count() as i64 - declared.index;
        self.size_of(declared.family)?.plus(&Form::number(from_end), -1)
    }

    /// The named process of a family whose index is written down.
    pub fn written_process(&self, family: FamilyId, index: &Expr) -> Option<ProcessId> {
        let index = self.form(index)?;
        self.named_of(family).into_iter().find(|&process| self.index_of(process).as_ref() == Some(&index))
    }

    /// Whether a constant names a process that is single at every size.
    pub fn is_named_constant(&self, process: ProcessId) -> bool {
        let declared = &self.model.processes[process];
        !self.many.contains(&declared.family) || declared.index < self.ends(declared.family).0 as i64
    }

    /// What comes of comparing the index of a process that is like the others of its family with a number; `None` where that depends on the process.
    pub fn compare_index(&self, family: FamilyId, op: BinaryOp, number: &Form) -> Option<bool> {
        let (first, last) = self.ends(family);
        let above = Form::number(first as i64).plus(number, -1)?.known();
        let greatest = self.size_of(family)?.plus(&Form::number(last as i64 + 1), -1)?;
        let below = number.plus(&greatest, -1)?.known();
        let is_above = |by: i64| above.is_some_and(|above| above >= by);
        let is_below = |by: i64| below.is_some_and(|below| below >= by);
        match op {
            BinaryOp::Equal if is_above(1) || is_below(1) => Some(false),
            BinaryOp::NotEqual if is_above(1) || is_below(1) => Some(true),
            BinaryOp::Greater if is_above(1) => Some(true),
            BinaryOp::Greater if is_below(0) => Some(false),
            BinaryOp::GreaterEqual if is_above(0) => Some(true),
            BinaryOp::GreaterEqual if is_below(1) => Some(false),
            BinaryOp::Less if is_below(1) => Some(true),
            BinaryOp::Less if is_above(0) => Some(false),
            BinaryOp::LessEqual if is_below(0) => Some(true),
            BinaryOp::LessEqual if is_above(1) => Some(false),
            _ => None,
        }
    }

    /// Whose element a cell of an array with elements for each process is.
    pub fn element_owner(&self, cell: CellId) -> Option<ProcessId> {
        let var = self.model.cells[cell].var;
        let &(family, dimension) = self.rows.get(&var)?;
        let declared = &self.model.vars[var];
        let dimensions = declared.ty.dimensions();
        let inner: usize = dimensions[dimension + 1..].iter().product();
        let index = (cell.index() - declared.offset) / inner % dimensions[dimension];
        self.model.families[family].process_at(index as i64)
    }

    /// The element of an array for a process, at an offset within what the process has of it.
    pub fn element_of(&self, process: ProcessId, var: VarId, at: usize) -> Option<CellId> {
        self.local_cell(process, LocalColumn::Element(ElementArray { var, owner: None }, at))
    }
}
