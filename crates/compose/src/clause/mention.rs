//! What an expression may read, at most: the processes whose places or locals it names, and cells.

use std::collections::{BTreeSet, HashSet};

use model::control::{PlaceId, TextOwner};
use model::expr::{Access, Expr, ExprKind, Whose};
use model::process::ProcessId;
use model::value::Value;
use model::variable::{CellId, Storage};

use super::{Splitter, as_process, is_constant};

/// What an expression may read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mentions {
    /// The processes whose control location or own cells it may read.
    pub processes: BTreeSet<ProcessId>,
    /// The cells.
    pub cells: BTreeSet<CellId>,
    /// One entry for each `P@{…}` in the expression: the process and the places that it tests.
    pub places: BTreeSet<(ProcessId, Vec<PlaceId>)>,
}

impl Splitter<'_> {
    /// Adds what an expression may read where its bound variables have these values.
    pub(crate) fn mention(&self, expr: &Expr, bound: &[Value], into: &mut Mentions) {
        match &expr.kind {
            ExprKind::Const(_) | ExprKind::Parameter(_) | ExprKind::Myself | ExprKind::Bound(_) => {}
            ExprKind::Read(access) => self.mention_access(access, bound, into),
            ExprKind::At { who, places, .. } => {
                let asked: Vec<ProcessId> = match is_constant(who) {
                    true => self.constant(who, bound).and_then(as_process).into_iter().collect(),
                    false => {
                        let scopes: HashSet<TextOwner> =
                            places.iter().map(|&place| self.model.places[place].scope).collect();
                        scopes.into_iter().flat_map(|scope| self.processes_of(scope)).collect()
                    }
                };
                into.places.extend(asked.iter().map(|&process| (process, places.clone())));
                into.processes.extend(asked);
                self.mention(who, bound, into);
            }
            ExprKind::Not(inner)
            | ExprKind::Negate(inner)
            | ExprKind::IndexOf(inner)
            | ExprKind::ToProcess(_, inner) => self.mention(inner, bound, into),
            ExprKind::Binary(_, a, b) => [a, b].into_iter().for_each(|part| self.mention(part, bound, into)),
            ExprKind::If(test, yes, no) => {
                [test, yes, no].into_iter().for_each(|part| self.mention(part, bound, into));
            }
            ExprKind::Quantified(quantified) => {
                let visited = self.bind_each(&quantified.bindings, bound.to_vec(), None, &mut |instance| {
                    if let Some(filter) = &quantified.filter {
                        self.mention(filter, &instance, into);
                        if self.constant(filter, &instance) == Some(Value::Bool(false)) {
                            return;
                        }
                    }
                    self.mention(&quantified.body, &instance, into);
                });
                if visited.is_none() {
                    // Its range changes with the state: it may read anything.
                    into.processes.extend(self.model.processes.ids());
                    into.cells.extend(self.model.cells.ids());
                    for process in self.model.processes.ids() {
                        let every = |(place, declared): (PlaceId, &model::control::Place)| {
                            (declared.scope == TextOwner::Family(self.model.processes[process].family)).then_some(place)
                        };
                        let places = self.model.places.entries().filter_map(every);
                        into.places.extend(places.map(|place| (process, vec![place])));
                    }
                }
            }
        }
    }

    fn mention_access(&self, access: &Access, bound: &[Value], into: &mut Mentions) {
        access.indices.iter().for_each(|index| self.mention(index, bound, into));
        let owners: Vec<Option<ProcessId>> = match (&access.whose, self.model.vars[access.var].storage) {
            (Whose::Of(who), Storage::Public(family) | Storage::Local(family)) => {
                self.mention(who, bound, into);
                match is_constant(who) {
                    true => self.constant(who, bound).and_then(as_process).map(Some).into_iter().collect(),
                    false => self.model.families[family].processes().map(Some).collect(),
                }
            }
            (_, Storage::Shared) => vec![None],
            _ => Vec::new(),
        };
        into.processes.extend(owners.iter().flatten());
        let positions = self.positions(access, bound);
        for owner in owners {
            let cells: Vec<CellId> = self.model.cells_of(access.var, owner).collect();
            into.cells.extend(positions.iter().filter_map(|&at| cells.get(at)));
        }
    }

    /// The positions within the variable that the indices may lead to.
    fn positions(&self, access: &Access, bound: &[Value]) -> Vec<usize> {
        let dimensions = self.model.vars[access.var].ty.dimensions();
        access.indices.iter().zip(dimensions).fold(vec![0], |starts, (index, len)| {
            let range = match (is_constant(index), self.constant(index, bound)) {
                (true, Some(Value::Int(at))) => {
                    usize::try_from(at).ok().filter(|&at| at < len).map_or(0..0, |at| at..at + 1)
                }
                (true, _) => 0..0,
                (false, _) => 0..len,
            };
            starts.iter().flat_map(|&start| range.clone().map(move |at| start * len + at)).collect()
        })
    }

    fn processes_of(&self, scope: TextOwner) -> Vec<ProcessId> {
        match scope {
            TextOwner::Family(family) => self.model.families[family].processes().collect(),
            TextOwner::Procedure(_) => self.model.processes.ids().collect(),
        }
    }
}
