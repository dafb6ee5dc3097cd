//! What stands after a dot: `P[k].x`, `m.owner`, `Vote.none`. Who may look at whose variables is decided here.

use base::{Diagnostic, Span};
use model::expr::{Expr, ExprKind, Whose};
use model::process::FamilyId;
use model::value::Value;
use model::variable::{Storage, VarId};

use super::{Checker, Path, Standpoint, Ty, Typed, VariablePath};
use crate::codes::check as code;
use crate::pw::ast::Ident;

impl<'a> Checker<'a> {
    pub(super) fn field_path(&mut self, base: Path, field: &'a Ident, span: Span) -> Path {
        match base {
            Path::Enum(id) => match self.model.enums[id].values.iter().position(|value| *value == field.name) {
                Some(at) => Path::Value(self.constant_of(Value::Enum(id, at as u32), Ty::Enum(id), span)),
                None => {
                    let of = self.model.enums[id].clone();
                    self.report_unknown_field(&format!("`{}`", of.name), field, of.values.iter().map(String::as_str))
                }
            },
            Path::Process(family, who) => self.member_path(family, who, field, span),
            Path::Family(family) => {
                let family_span = Span { start: span.start, end: field.span.start.saturating_sub(1) };
                self.report_missing_index(family, family_span);
                Path::Poison
            }
            Path::Variable(variable) if self.is_lock(&variable) && field.name == "owner" => {
                let access = variable.access();
                let owner = Typed::new(self.node(ExprKind::Read(access), span), Ty::Owner);
                Path::Value(owner)
            }
            Path::Variable(variable) if self.is_lock(&variable) => {
                let name = format!("`{}`", self.model.vars[variable.var].name);
                self.report_unknown_field(&name, field, ["owner"].into_iter())
            }
            Path::Variable(variable) => {
                let value = self.read(variable);
                self.value_field(value, field, span)
            }
            Path::Value(value) => self.value_field(value, field, span),
            Path::Poison => Path::Poison,
        }
    }

    /// `turn.x` for a process id `turn`.
    fn value_field(&mut self, value: Typed, field: &'a Ident, span: Span) -> Path {
        match value.ty {
            Ty::Pid(family) | Ty::PidOrNone(family) => self.member_path(family, value.expr, field, span),
            Ty::Poison => Path::Poison,
            ty => {
                let message = format!("{} has no `{}`", self.describe(ty), field.name);
                self.report(Diagnostic::error(code::UNKNOWN_FIELD, field.span, message));
                Path::Poison
            }
        }
    }

    fn report_unknown_field<'n>(&mut self, of: &str, field: &Ident, known: impl Iterator<Item = &'n str>) -> Path {
        let known: Vec<&str> = known.collect();
        let diagnostic = Diagnostic::error(code::UNKNOWN_FIELD, field.span, format!("{of} has no `{}`", field.name));
        let diagnostic = self.with_nearest(diagnostic, field, known.iter().copied());
        self.report(match &known[..] {
            [only] if diagnostic.helps.is_empty() => diagnostic.suggest(format!("it has `{only}`"), field.span, *only),
            _ => diagnostic,
        });
        Path::Poison
    }

    /// `P[k].x`: a variable of a process.
    fn member_path(&mut self, family: FamilyId, who: Expr, field: &'a Ident, span: Span) -> Path {
        let Some(&var) = self.symbols.family(family).vars.get(&*field.name) else {
            let of = format!("`{}`", self.model.families[family].name);
            if self.symbols.family(family).labels.contains_key(&*field.name) {
                let dot = Span { start: field.span.start - 1, end: field.span.start };
                let message = format!("{of} has no variable `{}`; it is a label", field.name);
                let diagnostic = Diagnostic::error(code::UNKNOWN_FIELD, field.span, message);
                self.report(match self.source.slice(dot) {
                    "." => diagnostic.suggest("ask whether it stands there", dot, "@"),
                    _ => diagnostic.help(format!("write `@{}`", field.name)),
                });
                return Path::Poison;
            }
            let known: Vec<&str> = self.symbols.family(family).vars.keys().copied().collect();
            return self.report_unknown_field(&of, field, known.into_iter());
        };
        let Some(var) = var else { return Path::Poison };
        if !self.may_read_state(span) {
            return Path::Poison;
        }
        let is_own = self.is_myself(family, &who);
        let in_program = matches!(self.standpoint, Standpoint::Family(_) | Standpoint::Procedure(_));
        if in_program && !is_own && matches!(self.model.vars[var].storage, Storage::Local(_)) {
            self.report_foreign_local(var, family, field);
            return Path::Poison;
        }
        let whose = if is_own { Whose::Mine } else { Whose::Of(Box::new(who)) };
        Path::Variable(VariablePath { var, whose, indices: Vec::new(), span })
    }

    fn report_foreign_local(&mut self, var: VarId, family: FamilyId, field: &Ident) {
        let declared = self.model.vars[var].span;
        let word = self.symbols.declarations.get(&var).copied().unwrap_or(declared);
        let word = Span { start: word.start, end: word.start + "local".len() as u32 };
        let owner = &self.model.families[family].name;
        let message = format!("`{}` is local to each `{owner}`; other processes cannot read it", field.name);
        let diagnostic =
            Diagnostic::error(code::FOREIGN_LOCAL_READ, field.span, message).note(declared, "declared here");
        let is_word = self.source.slice(word) == "local";
        self.report(match is_word {
            true => diagnostic.fix("make it readable, not writable, by others", word, "public"),
            false => diagnostic.help("declare it `public`: readable, not writable, by others"),
        });
    }
}
