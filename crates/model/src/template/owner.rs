//! Ownership: shared arrays that are parts of their owners' states.
//!
//! In: a template and its family. Out: the shared arrays with one element for each process, which only that process writes. Such an
//! array is a public variable in another dress.

use std::collections::BTreeSet;

use crate::Model;
use crate::control::{Action, ActionKind, ReceivePattern, Stmt, SyncSide, TextOwner};
use crate::expr::{Access, ExprKind};
use crate::process::FamilyId;
use crate::statements::statements;
use crate::types::Type;
use crate::variable::{Storage, VarId};

/// The shared arrays with an element for each process of the family, which no other process writes.
pub fn owned_arrays(model: &Model, family: FamilyId) -> BTreeSet<VarId> {
    let model = model.template();
    let size = model.families[family].size.linear();
    let is_candidate = |id: VarId| {
        let var = &model.vars[id];
        let is_row = matches!(&var.ty, Type::Array { element, .. } if matches!(**element, Type::Scalar(_)));
        var.storage == Storage::Shared && is_row && size.is_some() && model.length_form(id, 0) == size
    };
    let mut owned: BTreeSet<VarId> = model.vars.ids().filter(|&id| is_candidate(id)).collect();
    for action in &model.actions {
        each_written(action, &mut |access| {
            let is_own = action.scope == TextOwner::Family(family)
                && matches!(&access.indices[..], [index]
                    if matches!(&index.kind, ExprKind::IndexOf(who) if matches!(who.kind, ExprKind::Myself)));
            if !is_own {
                owned.remove(&access.var);
            }
        });
    }
    owned
}

fn each_written(action: &Action, visit: &mut dyn FnMut(&Access)) {
    if let Some(SyncSide::Receive(patterns)) = action.sync.as_ref().map(|sync| &sync.side) {
        patterns.iter().filter_map(ReceivePattern::target).for_each(&mut *visit);
    }
    if let ActionKind::Call { result: Some(target), .. } = &action.kind {
        visit(target);
    }
    statements(&action.body).flat_map(Stmt::targets).for_each(visit);
}
