//! Places in expressions: `P[i]@crit`, `P[i]@{crit, leave}`, `Monitor@busy`, `@crit`.

use base::{Diagnostic, Span};
use model::control::TextOwner as TextScope;
use model::expr::{Expr, ExprKind};
use model::process::FamilyId;

use super::{Checker, Path, Scope, Standpoint, Ty, Typed};
use crate::codes::check as code;
use crate::pw::ast::{self, Ident};

/// The place of a process that has terminated, unless a label has that name.
const END: &str = "end";

/// More labels are not listed.
const MOST_LABELS: usize = 8;

/// Whether a place is named by the line, or line and column, of its statement.
fn is_line(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_digit())
}

impl<'a> Checker<'a> {
    pub(super) fn at(
        &mut self,
        process: Option<&'a ast::Expr>,
        places: &'a ast::Places,
        scope: &Scope<'a>,
        span: Span,
    ) -> Typed {
        let Some(process) = process else { return self.at_own(places, span) };
        let path = self.path(process, scope, None);
        let (family, who) = match path {
            Path::Process(family, who) => (family, who),
            path => {
                let typed = self.path_value(path, process.span);
                match typed.ty {
                    Ty::Pid(family) | Ty::PidOrNone(family) => (family, typed.expr),
                    Ty::Poison => return self.poison(span),
                    ty => {
                        let message = format!("only a process stands at places, but this is {}", self.describe(ty));
                        self.report(Diagnostic::error(code::WRONG_TYPE, process.span, message));
                        return self.poison(span);
                    }
                }
            }
        };
        if !self.are_labels_of(family, places) {
            return self.poison(span);
        }
        match self.standpoint {
            Standpoint::Property | Standpoint::Hint => {
                let texts: Vec<TextScope> = self.symbols.texts_of(family).collect();
                self.at_places(who, &texts, places, span)
            }
            Standpoint::Family(own) if self.is_myself(family, &who) => {
                let myself = self.node(ExprKind::Myself, process.span);
                self.at_places(myself, &[TextScope::Family(own)], places, span)
            }
            Standpoint::Family(_) | Standpoint::Procedure(_) => {
                let message = "where other processes stand is not visible to a process";
                let diagnostic = Diagnostic::error(code::FOREIGN_PLACE_READ, span, message);
                let help = "let the other process tell by a `public` variable; properties may speak of all places";
                self.report(diagnostic.help(help));
                self.poison(span)
            }
            Standpoint::Constant | Standpoint::Initial(_) => {
                self.report(Diagnostic::error(
                    code::NOT_CONSTANT,
                    span,
                    "a constant is needed here, but places change",
                ));
                self.poison(span)
            }
        }
    }

    /// `@crit`: the process that evaluates.
    fn at_own(&mut self, places: &'a ast::Places, span: Span) -> Typed {
        let (text, known): (TextScope, Vec<&str>) = match self.standpoint {
            Standpoint::Family(own) => {
                (TextScope::Family(own), self.symbols.family(own).labels.keys().copied().collect())
            }
            Standpoint::Procedure(own) => {
                (TextScope::Procedure(own), self.symbols.procedure(own).labels.keys().copied().collect())
            }
            _ => {
                let message = "`@` without a process speaks of the process whose text it stands in";
                self.report(
                    Diagnostic::error(code::PLACE_OF_NOBODY, span, message).help("say which process: `P[i]@…`"),
                );
                return self.poison(span);
            }
        };
        let unknown: Vec<&Ident> = places.labels.iter().filter(|label| !known.contains(&&*label.name)).collect();
        for label in &unknown {
            self.report_unknown_label(label, "this text", &known);
        }
        if !unknown.is_empty() {
            return self.poison(span);
        }
        let myself = self.node(ExprKind::Myself, span);
        self.at_places(myself, &[text], places, span)
    }

    fn at_places(&mut self, who: Expr, texts: &[TextScope], places: &'a ast::Places, span: Span) -> Typed {
        let labels: Vec<String> = places.labels.iter().map(|label| label.name.clone()).collect();
        let carrying = |label: &String| self.symbols.places_in(texts.iter().copied(), label);
        let mut places: Vec<_> = labels.iter().flat_map(carrying).collect();
        for text in texts {
            // `P[i]@end`, where no label has that name: it has terminated.
            if let TextScope::Family(family) = *text
                && labels.iter().any(|label| label == END)
                && !self.symbols.has_label(family, END)
            {
                places.push(self.model.families[family].end);
            }
        }
        places.sort();
        places.dedup();
        Typed::new(self.node(ExprKind::At { who: Box::new(who), places, labels }, span), Ty::Bool)
    }

    /// Whether a process of the family can stand at all of the labels; reports those at which it cannot.
    pub(crate) fn are_labels_of(&mut self, family: FamilyId, places: &ast::Places) -> bool {
        let mut all_known = true;
        for label in places.labels.iter().filter(|label| !self.is_place_of(family, &label.name)).collect::<Vec<_>>() {
            all_known = false;
            let mut known: Vec<&str> = self.symbols.family(family).labels.keys().copied().collect();
            known.extend(self.symbols.procedures.iter().flat_map(|procedure| procedure.labels.keys()));
            let text = format!("`{}`", self.model.families[family].name);
            known.sort_unstable();
            self.report_unknown_label(label, &text, &known);
        }
        all_known
    }

    /// Whether a process of the family can stand there: a label, or the end of its text.
    fn is_place_of(&self, family: FamilyId, label: &str) -> bool {
        let sees_all = matches!(self.standpoint, Standpoint::Property | Standpoint::Hint);
        let by_line = || !self.symbols.places_in(self.symbols.texts_of(family), label).is_empty();
        self.symbols.has_label(family, label) || sees_all && (label == END || is_line(label) && by_line())
    }

    fn report_unknown_label(&mut self, label: &Ident, text: &str, known: &[&str]) {
        let message = match is_line(&label.name) {
            true => format!("{text} has no statement without a label that starts at {}", label.name),
            false => format!("{text} has no label `{}`", label.name),
        };
        let mut diagnostic = self.with_nearest(
            Diagnostic::error(code::UNKNOWN_LABEL, label.span, message),
            label,
            known.iter().copied(),
        );
        let elsewhere = self.model.families.ids().find_map(|other| {
            let declared = self.symbols.family(other).labels.get(&*label.name)?;
            Some((*declared, self.model.families[other].name.clone()))
        });
        if diagnostic.helps.is_empty() && !is_line(&label.name) && elsewhere.is_none() {
            diagnostic = match known {
                [] => {
                    let help = format!("it has no labels; write `{}:` before the statement that is meant", label.name);
                    diagnostic.help(help)
                }
                labels if labels.len() <= MOST_LABELS => {
                    diagnostic.help(format!("its labels are `{}`", labels.join("`, `")))
                }
                _ => diagnostic,
            };
        }
        if let Some((declared, name)) = elsewhere {
            diagnostic = diagnostic.note(declared, format!("a label of `{name}`"));
        }
        self.report(diagnostic);
    }
}
