//! Types of variables, with the limits on their sizes.

use base::{Diagnostic, Span};
use model::process::FamilyId;
use model::types::{ScalarType, Type};

use super::Checker;
use super::symbols::Symbol;
use crate::codes::check as code;
use crate::pw::ast::{self, Ident, RangeEnd, TypeKind};

/// How many values a range type may have.
const MAX_RANGE: i128 = 1 << 32;

/// How many cells a variable, and a whole program, may have.
pub(crate) const MAX_CELLS: usize = 1_000_000;

/// Words that people from other languages write for types.
const FOREIGN_TYPES: &[(&str, &str)] = &[
    ("int", "0..=255"),
    ("integer", "0..=255"),
    ("byte", "0..=255"),
    ("short", "0..=255"),
    ("nat", "0..=255"),
    ("boolean", "bool"),
    ("bit", "0..=1"),
    ("mutex", "lock"),
    ("semaphore", "sem"),
];

impl<'a> Checker<'a> {
    /// A type as written; reports what is wrong with it.
    pub fn type_of(&mut self, ty: &'a ast::Type) -> Option<Type> {
        let TypeKind::Array { element, length } = &ty.kind else {
            return self.scalar_type(ty).map(Type::Scalar);
        };
        let len = self.constant_number(length, "the length of an array");
        let element = self.type_of(element);
        let (len, element) = (len?, element?);
        if len < 1 {
            let message = format!("an array has at least one element, but this length is {len}");
            self.report(Diagnostic::error(code::BAD_ARRAY_LENGTH, length.span, message));
            return None;
        }
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let n_cells = element.n_cells().saturating_mul(len);
        if n_cells > MAX_CELLS {
            let message = format!("this array has more than {MAX_CELLS} cells");
            let help = "a state holds all of them; choose a smaller array";
            self.report(Diagnostic::error(code::BAD_ARRAY_LENGTH, ty.span, message).help(help));
            return None;
        }
        Some(Type::Array { element: Box::new(element), len })
    }

    /// A type of one cell as written; reports what is wrong with it.
    pub fn scalar_type(&mut self, ty: &'a ast::Type) -> Option<ScalarType> {
        match &ty.kind {
            TypeKind::Bool => Some(ScalarType::Bool),
            TypeKind::Range(range) => self.range_type(range),
            TypeKind::Named(name) => self.named_type(name),
            TypeKind::Pid { family, optional } => {
                let family = self.pid_family(family.as_ref(), ty.span)?;
                Some(if *optional { ScalarType::PidOrNone(family) } else { ScalarType::Pid(family) })
            }
            TypeKind::Sem { bound: None } => Some(ScalarType::Semaphore { max: 1 }),
            TypeKind::Sem { bound: Some(bound) } => {
                let max = self.constant_number(bound, "the bound of a semaphore")?;
                if max < 1 || i128::from(max) >= MAX_RANGE {
                    let message = format!("a semaphore counts to at least 1 and less than {MAX_RANGE}, not to {max}");
                    self.report(Diagnostic::error(code::BAD_RANGE, bound.span, message));
                    return None;
                }
                Some(ScalarType::Semaphore { max })
            }
            TypeKind::Lock => Some(ScalarType::Lock),
            TypeKind::Set(_) => {
                self.report(Diagnostic::error(code::WRONG_TYPE, ty.span, "one value is needed here, not a set"));
                None
            }
            TypeKind::Array { .. } => {
                self.report(Diagnostic::error(code::WRONG_TYPE, ty.span, "one value is needed here, not an array"));
                None
            }
        }
    }

    fn range_type(&mut self, range: &'a ast::Range) -> Option<ScalarType> {
        let lo = self.constant_number(&range.low, "the bound of a type");
        let hi = self.constant_number(&range.high, "the bound of a type");
        let (lo, hi) = (lo?, hi?);
        let last = match range.end {
            RangeEnd::Excluded => i128::from(hi) - 1,
            RangeEnd::Included => i128::from(hi),
        };
        let size = last - i128::from(lo) + 1;
        if size < 1 {
            let message = format!("this range has no values: it goes from {lo} to {last}");
            self.report(Diagnostic::error(code::BAD_RANGE, range.span, message));
            return None;
        }
        if size > MAX_RANGE {
            let message = format!("this range has {size} values; a variable may have at most {MAX_RANGE}");
            let help = "states are explored one by one; choose the smallest range that shows the behaviour";
            self.report(Diagnostic::error(code::BAD_RANGE, range.span, message).help(help));
            return None;
        }
        let hi = i64::try_from(last).ok()?;
        Some(ScalarType::Range { lo, hi })
    }

    fn named_type(&mut self, name: &'a Ident) -> Option<ScalarType> {
        match self.symbols.names.get(&*name.name).map(|&(symbol, _)| symbol) {
            Some(Symbol::Enum(id)) => return Some(ScalarType::Enum(id)),
            Some(Symbol::Broken) => return None,
            _ => {}
        }
        let message = format!("there is no type `{}`", name.name);
        let mut diagnostic = Diagnostic::error(code::UNKNOWN_TYPE, name.span, message);
        let mut known = vec!["bool", "pid", "sem", "lock"];
        known.extend(self.model.enums.iter().map(|of| of.name.as_str()));
        let foreign = FOREIGN_TYPES.iter().find(|(word, _)| word.eq_ignore_ascii_case(&name.name));
        if let Some((_, ours)) = foreign {
            diagnostic = diagnostic.suggest("every type is finite; here it is written", name.span, *ours);
        } else {
            diagnostic = self.with_nearest(diagnostic, name, known);
        }
        if diagnostic.helps.is_empty() {
            let all = "types are `bool`, ranges, `pid`, `pid?`, `sem`, `lock`, arrays, `set of …`, and those that `enum`, `struct` and `type` declare";
            diagnostic = diagnostic.help(all);
        }
        self.report(diagnostic);
        None
    }

    /// The family of `pid` or `pid(P)`; reports where it is not clear which.
    pub fn pid_family(&mut self, family: Option<&'a Ident>, span: Span) -> Option<FamilyId> {
        let Some(name) = family else {
            let one = self.one_family();
            if one.is_none() {
                self.report_which_family(span);
            }
            return one;
        };
        self.family_named(name)
    }

    /// The family or single process of this name; reports where there is none.
    pub fn family_named(&mut self, name: &'a Ident) -> Option<FamilyId> {
        match self.symbols.names.get(&*name.name).map(|&(symbol, _)| symbol) {
            Some(Symbol::Family(id)) => Some(id),
            Some(Symbol::Broken) => None,
            _ => {
                let message = format!("there is no process `{}`", name.name);
                let known = self.model.families.iter().map(|family| family.name.as_str());
                let diagnostic = Diagnostic::error(code::UNKNOWN_NAME, name.span, message);
                self.report(self.with_nearest(diagnostic, name, known));
                None
            }
        }
    }

    fn report_which_family(&mut self, span: Span) {
        let indexed: Vec<String> =
            self.model.families.iter().filter(|of| of.index.is_some()).map(|of| of.name.clone()).collect();
        let message = match indexed.is_empty() {
            true => "`pid` is an index of a process family, and the program has none",
            false => "the program has several process families: say whose `pid` this is",
        };
        let diagnostic = indexed.iter().fold(Diagnostic::error(code::WHICH_PID, span, message), |diagnostic, name| {
            let optional = if self.source.slice(span).ends_with('?') { "?" } else { "" };
            diagnostic.suggest(format!("a process of `{name}`"), span, format!("pid({name}){optional}"))
        });
        self.report(diagnostic);
    }
}
