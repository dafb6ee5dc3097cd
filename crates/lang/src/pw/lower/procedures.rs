//! Which processes call which procedures, directly or through others.
//!
//! A procedure that uses a public variable by its bare name means the caller's own; so all its callers must have it.

use std::collections::HashSet;

use base::Diagnostic;
use model::control::{ProcedureId, TextOwner as TextScope};
use model::process::FamilyId;

use super::steps::CallSite;
use crate::codes::check as code;
use crate::pw::check::Checker;

/// Reports procedures that use a variable which some of their callers do not have.
pub(super) fn check_needs(checker: &mut Checker<'_>, calls: &[CallSite]) {
    let callers: Vec<(FamilyId, HashSet<ProcedureId>)> =
        checker.model.families.ids().map(|family| (family, called_by(family, calls))).collect();
    for need in std::mem::take(&mut checker.symbols.needs) {
        let stranger =
            callers.iter().find(|(family, called)| *family != need.family && called.contains(&need.procedure));
        if let Some((stranger, _)) = stranger {
            let name = |family: FamilyId| &checker.model.families[family].name;
            let var = &checker.model.vars[need.var];
            let message = format!(
                "`{}` belongs to each `{}`, but this procedure is also called by `{}`",
                var.name,
                name(need.family),
                name(*stranger)
            );
            let mut diagnostic =
                Diagnostic::error(code::CALLER_WITHOUT_VARIABLE, need.span, message).note(var.span, "declared here");
            let called_at =
                calls.iter().find(|call| call.from == TextScope::Family(*stranger) && call.procedure == need.procedure);
            if let Some(call) = called_at {
                diagnostic = diagnostic.note(call.span, "called here");
            }
            checker.report(diagnostic.help("pass what is needed as an argument"));
        }
    }
}

/// The procedures that a family's processes call, directly or through others.
fn called_by(family: FamilyId, calls: &[CallSite]) -> HashSet<ProcedureId> {
    let mut found = HashSet::new();
    let mut open = vec![TextScope::Family(family)];
    while let Some(text) = open.pop() {
        for call in calls.iter().filter(|call| call.from == text) {
            if found.insert(call.procedure) {
                open.push(TextScope::Procedure(call.procedure));
            }
        }
    }
    found
}
