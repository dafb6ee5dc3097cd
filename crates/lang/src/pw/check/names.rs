//! Looking names up, and suggestions for those that are not found.

use base::diagnostic::nearest_name;
use base::{Diagnostic, Span};
use model::process::FamilyId;
use model::variable::{Storage, VarId};

use super::scope::{Base, Meaning, Scope};
use super::symbols::Symbol;
use super::{Checker, Standpoint};
use crate::codes::check as code;
use crate::pw::ast::Ident;

/// How many diagnostics may come with suggestions.
const MAX_SUGGESTIONS: usize = 500;

/// What a bare name stands for.
pub(super) enum Named<'a> {
    /// Something bound on the way down.
    Bound(Meaning<'a>),
    /// The index of the family whose text this is.
    Index(FamilyId),
    /// A variable of the family or procedure; `None` if its declaration is wrong.
    Local(Option<VarId>),
    /// A declaration of the program.
    Symbol(Symbol),
}

impl<'a> Checker<'a> {
    /// What a bare name stands for, with where it is declared. Values of enumerations are not looked at.
    pub(super) fn lookup(&self, name: &str, scope: &Scope<'a>) -> Option<(Named<'a>, Span)> {
        if let Some((meaning, declared)) = scope.bound(name) {
            return Some((Named::Bound(meaning.clone()), declared));
        }
        let (locals, index) = match scope.base {
            Base::Program => (None, None),
            Base::Family(id) => (Some(self.symbols.family(id)), Some(id)),
            Base::Procedure(id) => (Some(self.symbols.procedure(id)), None),
        };
        if let Some(&var) = locals.and_then(|locals| locals.vars.get(name)) {
            let declared = var.map_or(Span::default(), |var| self.model.vars[var].span);
            return Some((Named::Local(var), declared));
        }
        if let Some(id) = index
            && let Some(index) = self.symbols.indices[id.index()].filter(|index| index.name.name == name)
        {
            return Some((Named::Index(id), index.name.span));
        }
        self.symbols.names.get(name).map(|&(symbol, declared)| (Named::Symbol(symbol), declared))
    }

    /// Warns of a name that hides another one.
    pub fn warn_hidden(&mut self, name: &'a Ident, scope: &Scope<'a>) {
        let what = match self.lookup(&name.name, scope) {
            None => return,
            Some((Named::Bound(Meaning::Argument(..) | Meaning::Anything), span)) => ("a parameter", span),
            Some((Named::Bound(_), span)) => ("a variable bound further out", span),
            Some((Named::Index(_), span)) => ("the index of this process", span),
            Some((Named::Local(_), span)) => ("a variable of this text", span),
            Some((Named::Symbol(_), span)) => ("a name of the program", span),
        };
        let message = format!("`{}` hides {}", name.name, what.0);
        let warning = Diagnostic::warning(code::HIDDEN_NAME, name.span, message).note(what.1, "this one");
        self.report(warning.help("choose another name, so that a reader sees which one is meant"));
    }

    /// Reports a name that stands for nothing here.
    pub(super) fn report_unknown(&mut self, name: &Ident, scope: &Scope<'a>) {
        let owners: Vec<(FamilyId, VarId)> = self.owners_of(&name.name);
        if let [(family, var), ..] = owners[..] {
            self.report_needs_owner(name, family, var);
            return;
        }
        let message = format!("there is no `{}` here", name.name);
        let diagnostic = Diagnostic::error(code::UNKNOWN_NAME, name.span, message);
        if matches!(&*name.name, "self" | "_pid" | "pid" | "this" | "me") {
            let help = "a process knows its own index: `i` in `process P[i in 0..<N]`";
            self.report(diagnostic.help(help));
            return;
        }
        if name.name == "pc" {
            self.report(diagnostic.help("where a process stands is asked with `@`: `P[i]@crit`"));
            return;
        }
        let is_index = self.symbols.indices.iter().flatten().any(|index| index.name.name == name.name);
        if is_index && scope.base == Base::Program {
            let help = format!("to speak of every process, write `forall {}: …`", name.name);
            self.report(diagnostic.help(help));
            return;
        }
        let is_label = self.symbols.families.iter().any(|family| family.labels.contains_key(&*name.name));
        self.report(match is_label {
            true => diagnostic.help(format!("`{0}` is a label; to ask who stands there, write `P[i]@{0}`", name.name)),
            false => self.with_nearest(diagnostic, name, self.visible_names(scope)),
        });
    }

    /// Suggests the known name that is nearest to the one that is not, if one is near.
    pub fn with_nearest<'n>(
        &self,
        diagnostic: Diagnostic,
        name: &Ident,
        known: impl IntoIterator<Item = &'n str>,
    ) -> Diagnostic {
        // In a file with thousands of errors nobody reads suggestions, and finding them takes time.
        if self.diagnostics.len() > MAX_SUGGESTIONS {
            return diagnostic;
        }
        match nearest_name(&name.name, known) {
            Some(near) => diagnostic.suggest(format!("did you mean `{near}`?"), name.span, near),
            None => diagnostic,
        }
    }

    /// The variables of families that have this name.
    pub(super) fn owners_of(&self, name: &str) -> Vec<(FamilyId, VarId)> {
        let of_family = |family: FamilyId| self.symbols.family(family).vars.get(name).copied().flatten();
        let ids = self.model.families.ids();
        ids.filter_map(|family| of_family(family).map(|var| (family, var))).collect()
    }

    fn report_needs_owner(&mut self, name: &Ident, family: FamilyId, var: VarId) {
        let (of, declared) = (&self.model.families[family], self.model.vars[var].span);
        let owner = match &of.index {
            Some(index) => format!("{}[{}]", of.name, index.name),
            None => of.name.clone(),
        };
        let message = format!("`{}` belongs to each process of `{}`", name.name, of.name);
        let mut diagnostic =
            Diagnostic::error(code::WHOSE_VARIABLE, name.span, message).note(declared, "declared here");
        diagnostic = match (self.standpoint, self.model.vars[var].storage) {
            (Standpoint::Family(_) | Standpoint::Procedure(_), Storage::Local(_)) => {
                diagnostic.help("others do not see a `local`; make it `public`, and say whose is meant")
            }
            _ => diagnostic.suggest("say whose is meant", name.span, format!("{owner}.{}", name.name)),
        };
        self.report(diagnostic);
    }

    fn visible_names(&self, scope: &Scope<'a>) -> Vec<&str> {
        let mut names: Vec<&str> = scope.bound_names().collect();
        match scope.base {
            Base::Program => {}
            Base::Family(id) => {
                names.extend(self.symbols.family(id).vars.keys());
                names.extend(self.model.families[id].index.as_ref().map(|index| index.name.as_str()));
            }
            Base::Procedure(id) => names.extend(self.symbols.procedure(id).vars.keys()),
        }
        names.extend(self.symbols.names.keys());
        names.extend(self.symbols.enum_values.keys());
        names
    }
}
