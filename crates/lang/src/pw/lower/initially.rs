//! `initially e;`: what has to hold in initial states, beside what each variable starts with.
//!
//! In: the declarations. Out: the conditions in the Model, and errors where no state is left, or where there are too many to look at each.

use base::Diagnostic;
use model::eval::{MOST_CONSTRAINED, initial_states, n_initial_states};

use crate::codes::check as code;
use crate::pw::ast::Item;
use crate::pw::check::{Base, Checker, Scope, Standpoint};

/// Puts the conditions into the Model.
pub(super) fn lower(checker: &mut Checker<'_>) {
    let program = checker.program;
    for item in &program.items {
        let Item::Initially(condition) = item else { continue };
        if condition.is_temporal() {
            let message = "`initially` is about one state, not about a run";
            checker.report(Diagnostic::error(code::BAD_INITIAL_VALUE, condition.span, message));
            continue;
        }
        let scope = Scope::new(Base::Program);
        let condition = checker.standing(Standpoint::Property, |checker| checker.condition(condition, &scope));
        checker.model.initially.push(condition);
    }
}

/// Reports conditions that nothing satisfies, or that would have to be asked of too many states. The Model is laid out.
pub(super) fn check(checker: &mut Checker<'_>) {
    let Some(span) = checker.model.initially.first().map(|condition| condition.span) else { return };
    let instance = checker.model.clone().at_size();
    let n_candidates = n_initial_states(&instance);
    if n_candidates > MOST_CONSTRAINED as u128 {
        let message =
            format!("`initially` chooses from {n_candidates} states here; at most {MOST_CONSTRAINED} are looked at");
        let diagnostic = Diagnostic::error(code::BAD_INITIAL_VALUE, span, message);
        checker.report(diagnostic.help("let fewer variables start with `any`, or choose a smaller size"));
    } else if !checker.diagnostics.has_errors() && initial_states(&instance).next().is_none() {
        let diagnostic = Diagnostic::error(code::BAD_INITIAL_VALUE, span, "no state satisfies this initially");
        checker.report(diagnostic.help("variables start with one value unless they are declared with `= any`"));
    }
}
