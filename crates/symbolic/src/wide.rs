//! Cells with too many values to list, and which of them belong together.
//!
//! In: a Model. Out: its wide cells in groups. The values of a wide cell are bits of a number, never cases. Two wide cells that are
//! compared, added or copied need their bits side by side in the order of the diagrams: apart, `x == y` of two numbers of 32 bits
//! takes 2³² nodes, side by side 96. Cells that never occur in one expression are kept apart, where sets of them are
//! products of small diagrams.

use std::collections::BTreeSet;

use model::Model;
use model::control::{Action, ReceivePattern, Stmt, StmtKind, SyncSide};
use model::eval::{State, evaluate, initial_states};
use model::expr::{Access, BinaryOp, Domain, Expr, ExprKind, Whose};
use model::process::ProcessId;
use model::property::{Formula, PropertyKind};
use model::statements::statements;
use model::types::ScalarType;
use model::value::Value;
use model::variable::{CellId, Role, Storage};

/// Cells with at most this many values have a case for each.
///
/// Measured on counters that are raised and compared: up to twice as many values commands with constant updates are as fast as arithmetic on bits
/// or faster. Bytes are copied from place to place, which has as many outcomes as pairs of values, and so are bits.
pub const MOST_ENUMERATED: u128 = 128;

/// The wide cells of a program.
#[derive(Clone, Debug, Default)]
pub struct Wide {
    /// Groups of cells that occur together in some expression.
    pub groups: Vec<Vec<CellId>>,
    /// The cells that some step gives any value.
    pub chosen: BTreeSet<CellId>,
}

impl Wide {
    /// The cells with more than `most_enumerated` values.
    pub fn of(model: &Model, most_enumerated: u128) -> Wide {
        let is_wide = |cell: CellId| {
            let declared = &model.cells[cell];
            let is_number = matches!(declared.ty, ScalarType::Range { .. } | ScalarType::Semaphore { .. });
            let is_counter = matches!(model.vars[declared.var].role, Role::Counter(_));
            is_number && !is_counter && declared.ty.n_values(model.type_context()) > most_enumerated
        };
        let cells: Vec<CellId> = model.cells.ids().filter(|&cell| is_wide(cell)).collect();
        let Some(state) = initial_states(model).next().filter(|_| !cells.is_empty()) else { return Wide::default() };
        let mut cooccurrence =
            Cooccurrence { model, state, leaders: model.cells.ids().collect(), chosen: BTreeSet::new() };
        cooccurrence.of_program(&is_wide);
        let mut groups: Vec<Vec<CellId>> = Vec::new();
        for &cell in &cells {
            let leader = cooccurrence.leader(cell);
            match groups.iter_mut().find(|group| cooccurrence.leaders[group[0].index()] == leader) {
                Some(group) => group.push(cell),
                None => groups.push(vec![cell]),
            }
        }
        let chosen = cooccurrence.chosen.into_iter().filter(|&cell| is_wide(cell)).collect();
        Wide { groups, chosen }
    }

    /// Whether a cell is one of them.
    pub fn contains(&self, cell: CellId) -> bool {
        self.groups.iter().flatten().any(|&wide| wide == cell)
    }
}

/// Which cells occur together, as a forest: each cell names one of its group.
struct Cooccurrence<'m> {
    model: &'m Model,
    /// Any state, for expressions that do not depend on it.
    state: State,
    leaders: Vec<CellId>,
    chosen: BTreeSet<CellId>,
}

/// Whether a cell is wide.
type IsWide<'w> = &'w dyn Fn(CellId) -> bool;

impl Cooccurrence<'_> {
    /// All texts, for each process, and all properties.
    fn of_program(&mut self, is_wide: IsWide<'_>) {
        let model = self.model;
        for (process, declared) in model.processes.entries() {
            let scope = model::control::TextOwner::Family(declared.family);
            for action in model.actions.iter().filter(|action| action.scope == scope) {
                self.of_action(action, process, is_wide);
            }
        }
        for property in &model.properties {
            match &property.kind {
                PropertyKind::Invariant(expr) | PropertyKind::Reachable(expr) => self.of_truth(expr, None, is_wide),
                PropertyKind::Temporal(formula) => self.of_formula(formula, is_wide),
                PropertyKind::RaceFree(_) | PropertyKind::NoErrors | PropertyKind::DeadlockFree => {}
            }
        }
        for pair in &model.fairness {
            let before = pair.often.iter().filter_map(|often| match often {
                model::fairness::EdgePredicate::Before(predicate) => Some(predicate),
                _ => None,
            });
            for predicate in before.chain(&pair.always) {
                if let model::fairness::StatePredicate::Holds(expr) | model::fairness::StatePredicate::Fails(expr) =
                    predicate
                {
                    self.of_truth(expr, None, is_wide);
                }
            }
        }
    }

    fn of_action(&mut self, action: &Action, me: ProcessId, is_wide: IsWide<'_>) {
        if let Some(guard) = &action.guard {
            self.of_truth(guard, Some(me), is_wide);
        }
        self.of_block(&action.body, me, is_wide);
        // What is sent occurs with what receives it, in any receiver.
        let Some(SyncSide::Send(values)) = action.sync.as_ref().map(|sync| &sync.side) else { return };
        let model = self.model;
        let channel = action.sync.as_ref().map(|sync| sync.channel);
        for (receiver, declared) in model.processes.entries() {
            let scope = model::control::TextOwner::Family(declared.family);
            for other in model.actions.iter().filter(|other| other.scope == scope) {
                let Some(sync) = other.sync.as_ref().filter(|sync| Some(sync.channel) == channel) else { continue };
                let SyncSide::Receive(targets) = &sync.side else { continue };
                for (value, pattern) in values.iter().zip(targets) {
                    let mut cells = match pattern {
                        ReceivePattern::Into(target) => self.cells_of(target, Some(receiver), is_wide),
                        ReceivePattern::Equal(wanted) => {
                            let mut cells = Vec::new();
                            self.numbers_in(wanted, Some(receiver), is_wide, &mut cells);
                            cells
                        }
                        ReceivePattern::Ignored => continue,
                    };
                    self.numbers_in(value, Some(me), is_wide, &mut cells);
                    self.join(&cells);
                }
            }
        }
    }

    fn of_block(&mut self, block: &[Stmt], me: ProcessId, is_wide: IsWide<'_>) {
        for stmt in statements(block) {
            match &stmt.kind {
                StmtKind::Assign(pairs) => {
                    for (access, value) in pairs {
                        let mut cells = self.cells_of(access, Some(me), is_wide);
                        self.numbers_in(value, Some(me), is_wide, &mut cells);
                        self.join(&cells);
                    }
                }
                StmtKind::AssignAny(access, range) => {
                    let mut cells = self.cells_of(access, Some(me), is_wide);
                    self.chosen.extend(cells.iter().flatten());
                    for end in range.iter().flat_map(|(lo, hi)| [lo, hi]) {
                        self.numbers_in(end, Some(me), is_wide, &mut cells);
                    }
                    self.join(&cells);
                }
                StmtKind::Await(test) | StmtKind::Assert(test) | StmtKind::If(test, ..) => {
                    self.of_truth(test, Some(me), is_wide);
                }
                StmtKind::Acquire(_) | StmtKind::Release(_) | StmtKind::Either(_) | StmtKind::For(..) => {}
            }
        }
    }

    fn of_formula(&mut self, formula: &Formula, is_wide: IsWide<'_>) {
        match formula {
            Formula::Now(expr) => self.of_truth(expr, None, is_wide),
            Formula::Not(inner) | Formula::Unary(_, inner) => self.of_formula(inner, is_wide),
            Formula::Boolean(_, a, b) | Formula::Binary(_, a, b) => {
                self.of_formula(a, is_wide);
                self.of_formula(b, is_wide);
            }
            Formula::Quantified { filter, body, .. } => {
                filter.iter().for_each(|filter| self.of_truth(filter, None, is_wide));
                self.of_formula(body, is_wide);
            }
            Formula::NeverAccepts(automaton) => {
                let guards = automaton.edges.iter().filter_map(|edge| edge.guard.as_ref());
                guards.for_each(|guard| self.of_truth(guard, None, is_wide));
            }
        }
    }

    /// A boolean expression: what is in one comparison occurs together.
    fn of_truth(&mut self, expr: &Expr, me: Option<ProcessId>, is_wide: IsWide<'_>) {
        use BinaryOp::{And, Iff, Implies, Or};
        match &expr.kind {
            ExprKind::Binary(And | Or | Implies | Iff, a, b) => {
                self.of_truth(a, me, is_wide);
                self.of_truth(b, me, is_wide);
            }
            ExprKind::Not(inner) => self.of_truth(inner, me, is_wide),
            ExprKind::If(test, yes, no) => {
                [test, yes, no].into_iter().for_each(|part| self.of_truth(part, me, is_wide));
            }
            ExprKind::Quantified(quantified) => {
                quantified.filter.iter().for_each(|filter| self.of_truth(filter, me, is_wide));
                self.of_truth(&quantified.body, me, is_wide);
            }
            _ => {
                let mut cells = Vec::new();
                self.numbers_in(expr, me, is_wide, &mut cells);
                self.join(&cells);
            }
        }
    }

    /// The wide cells that an expression reads, access by access. What is within tests occurs together there.
    fn numbers_in(&mut self, expr: &Expr, me: Option<ProcessId>, is_wide: IsWide<'_>, into: &mut Vec<Vec<CellId>>) {
        match &expr.kind {
            ExprKind::Const(_)
            | ExprKind::Parameter(_)
            | ExprKind::Myself
            | ExprKind::Bound(_)
            | ExprKind::At { .. } => {}
            ExprKind::Read(access) => into.extend(self.cells_of(access, me, is_wide)),
            ExprKind::Not(inner)
            | ExprKind::Negate(inner)
            | ExprKind::IndexOf(inner)
            | ExprKind::ToProcess(_, inner) => self.numbers_in(inner, me, is_wide, into),
            ExprKind::Binary(_, a, b) => [a, b].into_iter().for_each(|part| self.numbers_in(part, me, is_wide, into)),
            ExprKind::If(test, yes, no) => {
                self.of_truth(test, me, is_wide);
                [yes, no].into_iter().for_each(|part| self.numbers_in(part, me, is_wide, into));
            }
            ExprKind::Quantified(quantified) => {
                self.of_truth(&quantified.body, me, is_wide);
                for binding in &quantified.bindings {
                    if let Domain::Range(lo, hi) = &binding.domain {
                        [lo, hi].into_iter().for_each(|end| self.numbers_in(end, me, is_wide, into));
                    }
                }
            }
        }
    }

    /// The wide cells that an access can mean, as one entry; and what its indices compare.
    fn cells_of(&mut self, access: &Access, me: Option<ProcessId>, is_wide: IsWide<'_>) -> Vec<Vec<CellId>> {
        for index in &access.indices {
            self.of_truth(index, me, is_wide);
        }
        let model = self.model;
        let owners: Vec<Option<ProcessId>> = match (&access.whose, model.vars[access.var].storage) {
            (Whose::Shared, _) => vec![None],
            (Whose::Mine, _) => vec![me],
            (Whose::Of(_), Storage::Public(family) | Storage::Local(family)) => {
                model.families[family].processes().map(Some).collect()
            }
            (Whose::Of(_) | Whose::Frame, _) => return Vec::new(),
        };
        let offsets = self.offsets(access, me);
        let cells = owners.into_iter().flat_map(|owner| {
            let cells: Vec<CellId> = model.cells_of(access.var, owner).collect();
            offsets.iter().filter_map(|&at| cells.get(at).copied()).collect::<Vec<CellId>>()
        });
        let wide: Vec<CellId> = cells.filter(|&cell| is_wide(cell)).collect();
        if wide.is_empty() { Vec::new() } else { vec![wide] }
    }

    /// The elements that an access can mean: one, where its indices do not depend on the state.
    fn offsets(&self, access: &Access, me: Option<ProcessId>) -> Vec<usize> {
        let dimensions = self.model.vars[access.var].ty.dimensions();
        access.indices.iter().zip(dimensions).fold(vec![0], |starts, (index, len)| {
            let known = is_constant(index).then(|| evaluate(self.model, &self.state, index, me).ok()).flatten();
            let range = match known {
                Some(Value::Int(at)) => usize::try_from(at).ok().filter(|&at| at < len).map_or(0..0, |at| at..at + 1),
                _ => 0..len,
            };
            starts.iter().flat_map(|&start| range.clone().map(move |at| start * len + at)).collect()
        })
    }

    /// Two accesses or more occur together in one expression.
    fn join(&mut self, accesses: &[Vec<CellId>]) {
        if accesses.len() < 2 {
            return;
        }
        let mut cells = accesses.iter().flatten();
        let Some(&first) = cells.next() else { return };
        for &cell in cells {
            let (one, other) = (self.leader(first), self.leader(cell));
            self.leaders[one.index().max(other.index())] = one.min(other);
        }
    }

    fn leader(&mut self, cell: CellId) -> CellId {
        let mut at = cell;
        while self.leaders[at.index()] != at {
            at = self.leaders[at.index()];
        }
        self.leaders[cell.index()] = at;
        at
    }
}

/// Whether the value does not depend on the state.
fn is_constant(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Const(_) | ExprKind::Parameter(_) | ExprKind::Myself => true,
        ExprKind::IndexOf(inner) | ExprKind::ToProcess(_, inner) | ExprKind::Negate(inner) => is_constant(inner),
        ExprKind::Binary(_, a, b) => is_constant(a) && is_constant(b),
        _ => false,
    }
}
