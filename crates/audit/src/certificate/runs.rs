//! Claims that no run is fair and violates the property, checked by enumeration.
//!
//! In: a split invariant that was checked, and a claim of ranks over it, whose rule is on top of `evidence::ranks`. Out: nothing, or
//! why it is refused. The abstract process of each focus is made anew from the rows of the invariant: turns are taken by `eval`
//! (`turns.rs`, those of two processes in `rendezvous.rs`), what may hold at a node is found by trying the view states of the others (`may.rs`), and the automaton is the
//! checker's own (`evidence::plain`). Then every edge is compared with the ranks (`ranks.rs`).

mod may;
mod ranks;
mod rendezvous;
mod turns;

use std::collections::hash_map::Entry;

use base::Budget;
use evidence::certificate::{Column, Focus, NoFairRun, StateSet, Variant};
use evidence::plain::ReferenceViolation;
use model::Model;
use model::eval::Turn;
use model::expr::Expr;
use model::fairness::EdgePredicate;
use model::process::ProcessId;
use model::value::Value;
use rustc_hash::{FxHashMap, FxHashSet};

use self::may::{Judge, May};
use self::ranks::{Carried, Graph};
use self::turns::{Rows, Turns};
use super::claimed::{Claimed, column_name};
use super::initial::factors;
use super::named::Named;
use super::numbering::name;
use super::propagation::conditions::expressions;
use super::{CertificateError, Outcome, words};

/// The invariant that a claim of ranks is about, which was checked.
#[derive(Clone, Copy)]
pub(super) struct Over<'o> {
    pub claimed: &'o Claimed<'o>,
    /// Whether it rests on sums. A turn that leads out of it, as far as one process sees, is of no run then.
    pub is_relative: bool,
}

/// Checks a claim about one way to violate the property; how many abstract processes there were.
pub(super) fn check(
    over: Over<'_>,
    violation: &ReferenceViolation,
    claim: &NoFairRun,
    budget: &Budget,
) -> Outcome<usize> {
    let claimed = over.claimed;
    let model = claimed.model();
    let named = Named::new(model, &violation.automaton, &claim.automaton)?;
    let variant = check_shape(model, &named, claim).map_err(CertificateError::Malformed)?;
    let rows = listed(claimed).map_err(CertificateError::Malformed)?;
    let mut turns = Turns::new(claimed, rows);
    let mut judge = Judge::new(model, budget);
    let conditions = Conditions::new(model, violation, &mut judge)?;
    check_values(model, violation, &mut |expr, bound| {
        let focus = claim.foci.first().map_or(ProcessId::new(0), |focus| focus.process);
        judge.check_value((expr, bound), &mut turns, focus)
    })?;
    let mut met = MetPairs::default();
    for focus in &claim.foci {
        budget.check(0)?;
        let mut process =
            Process { over, claimed, violation, conditions: &conditions, named: &named, variant, focus, budget, met };
        process.check(&mut turns, &mut judge)?;
        met = process.met;
    }
    Ok(claim.foci.len())
}

/// What the automaton reads and what is assumed have a value in every state: a run in which one of them has none decides nothing.
fn check_values(
    model: &Model,
    violation: &ReferenceViolation,
    check: &mut dyn FnMut(&Expr, &[Value]) -> Outcome<()>,
) -> Outcome<()> {
    for atom in &violation.automaton.atoms {
        check(&atom.expr, &atom.bound)?;
    }
    for &pair in &violation.fairness {
        expressions(&model.fairness[pair]).into_iter().try_for_each(|expr| check(expr, &[]))?;
    }
    Ok(())
}

/// The foci are those that the variant asks for; the variant with the checker's own mark.
fn check_shape(model: &Model, named: &Named, claim: &NoFairRun) -> Result<Variant, String> {
    let mut foci: Vec<ProcessId> = claim.foci.iter().map(|focus| focus.process).collect();
    if let Some(unknown) = foci.iter().find(|&&focus| model.processes.get(focus).is_none()) {
        return Err(format!("there is no process number {}", unknown.index()));
    }
    let n_foci = foci.len();
    foci.sort_unstable();
    foci.dedup();
    if foci.len() != n_foci {
        return Err("a process is looked at twice".to_owned());
    }
    match claim.variant {
        Variant::OneProcess if foci.is_empty() => Err("no process is looked at".to_owned()),
        Variant::OneProcess => Ok(Variant::OneProcess),
        Variant::EveryProcess { mark } => {
            if let Some(left) = model.processes.ids().find(|process| !foci.contains(process)) {
                return Err(format!("{} is not looked at", name(model, left)));
            }
            let Some(position) = mark else { return Ok(Variant::EveryProcess { mark: None }) };
            let own = named.mark(position).ok_or_else(|| format!("its table has no mark {position}"))?;
            Ok(Variant::EveryProcess { mark: Some(own) })
        }
    }
}

/// The rows of all processes, if the invariant is explicit and all processes see the whole store.
fn listed<'a>(claimed: &Claimed<'a>) -> Result<Vec<Rows<'a>>, String> {
    let model = claimed.model();
    if claimed.k != 1 || claimed.symmetry.is_some() {
        return Err("ranks need an invariant of each single process".to_owned());
    }
    let cells = claimed.numbering.visible_cells().map(Column::Cell);
    let exposed = model.processes.ids().filter(|&process| claimed.numbering.is_exposed(process));
    let store: Vec<Column> = cells.chain(exposed.map(Column::Exposed)).collect();
    let mut all = Vec::new();
    for process in model.processes.ids() {
        let member = claimed.listed[&vec![process]];
        let of = name(model, process);
        if let Some(missing) = store.iter().find(|column| !member.columns.contains(column)) {
            return Err(format!("the invariant of {of} does not see {}", column_name(model, *missing)));
        }
        let is_own = |column: &Column| match column {
            Column::Cell(cell) => claimed.numbering.own_cells(process).contains(cell),
            Column::Control(other) => *other == process,
            Column::Exposed(_) => false,
        };
        if let Some(hidden) = member.columns.iter().find(|column| !store.contains(column) && !is_own(column)) {
            return Err(format!("the invariant of {of} sees {}", column_name(model, *hidden)));
        }
        let StateSet::Rows(rows) = &member.states else {
            return Err(format!("the invariant of {of} is not listed row by row"));
        };
        all.push(Rows::new(&member.columns, rows));
    }
    turns::number_stores(&mut all, &store);
    Ok(all)
}

/// What a violation demands of runs, prepared.
struct Conditions {
    /// For each atom of the automaton that it is true, and that it is false.
    atoms: Vec<[May; 2]>,
    /// For each fairness pair what holds always, and what holds before a turn again and again.
    pairs: Vec<(Option<May>, Vec<May>)>,
}

impl Conditions {
    fn new(model: &Model, violation: &ReferenceViolation, judge: &mut Judge<'_>) -> Outcome<Self> {
        let mut atoms = Vec::new();
        for atom in &violation.automaton.atoms {
            let truth = judge.truth(&atom.expr, &atom.bound, true)?;
            atoms.push([judge.truth(&atom.expr, &atom.bound, false)?, truth]);
        }
        let mut pairs = Vec::new();
        for &pair in &violation.fairness {
            let pair = &model.fairness[pair];
            let always = pair.always.as_ref().map(|always| judge.predicate(always)).transpose()?;
            let mut before = Vec::new();
            for often in &pair.often {
                if let EdgePredicate::Before(predicate) = often {
                    before.push(judge.predicate(predicate)?);
                }
            }
            pairs.push((always, before));
        }
        Ok(Conditions { atoms, pairs })
    }
}

/// Sets of fairness pairs, by number.
#[derive(Default)]
struct MetPairs {
    sets: Vec<Vec<usize>>,
    numbers: FxHashMap<Vec<usize>, u32>,
    /// The pairs that ask for a turn itself, by turn.
    of_turn: FxHashMap<Turn, u32>,
    /// What two sets have together.
    unions: FxHashMap<(u32, u32), u32>,
}

impl MetPairs {
    fn number(&mut self, set: Vec<usize>) -> u32 {
        let next = self.sets.len() as u32;
        let number = *self.numbers.entry(set.clone()).or_insert(next);
        if number == next {
            self.sets.push(set);
        }
        number
    }

    fn union(&mut self, one: u32, other: u32) -> u32 {
        if let Some(&known) = self.unions.get(&(one, other)) {
            return known;
        }
        let mut set = [&self.sets[one as usize][..], &self.sets[other as usize]].concat();
        set.sort_unstable();
        set.dedup();
        let number = self.number(set);
        self.unions.insert((one, other), number);
        number
    }
}

/// The position of each node: a row and a state of the automaton.
type NodeNumbers = FxHashMap<(u32, u32), u32>;

/// What edges carry, by the state of the automaton, the reading there, whether it is an own turn with its mark, and the set of pairs.
type CarriedNumbers = FxHashMap<(u32, usize, bool, u32), u32>;

/// The abstract process of a focus.
struct Process<'p> {
    over: Over<'p>,
    claimed: &'p Claimed<'p>,
    violation: &'p ReferenceViolation,
    conditions: &'p Conditions,
    named: &'p Named,
    variant: Variant,
    focus: &'p Focus,
    budget: &'p Budget,
    met: MetPairs,
}

/// What may hold at a row of the focus.
struct Here {
    /// For each atom whether it may be false, and whether it may be true.
    atoms: Vec<[bool; 2]>,
    /// The pairs that the row is free of.
    free: Vec<bool>,
    /// What turns lead to, each once.
    moves: Vec<RowMove>,
}

/// What a turn from a row leads to.
struct RowMove {
    /// The row after it.
    target: u32,
    /// Whether the focus takes it.
    is_own: bool,
    /// The pairs whose mark it carries, by number.
    pairs: u32,
    /// One such turn.
    turn: Turn,
}

impl Process<'_> {
    fn check(&mut self, turns: &mut Turns<'_>, judge: &mut Judge<'_>) -> Outcome<()> {
        let (nodes, numbers) = self.numbered(turns)?;
        self.check_initial(turns, &numbers)?;
        let mut graph = Graph::default();
        let mut known: FxHashMap<u32, Here> = FxHashMap::default();
        let mut carried: CarriedNumbers = FxHashMap::default();
        for &(row, state) in &nodes {
            self.budget.check(0)?;
            let here = match known.entry(row) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(self.look(turns, judge, row)?),
            };
            graph.open(here.free.clone());
            self.edges(turns, here, (row, state), (&numbers, &mut carried, &mut graph))?;
        }
        let shown = |node: usize| {
            let (row, state) = nodes[node];
            format!("{} where {} is to come", self.show(turns, row), self.state_name(state as usize))
        };
        let obligation = |what: String| format!("in the runs that {} sees, {what}", self.focus_name());
        ranks::check(&graph, self.named, &self.focus.ranks).map_err(|wrong| match wrong {
            ranks::Wrong::Shape(what) => {
                CertificateError::Malformed(format!("the ranks of {}: {what}", self.focus_name()))
            }
            ranks::Wrong::Edge { from, to, what } => CertificateError::Refused(super::Refusal {
                obligation: obligation(what),
                finding: format!("there is a turn from {} to {}", shown(from), shown(to)),
            }),
        })
    }

    fn focus_name(&self) -> &str {
        name(self.claimed.model(), self.focus.process)
    }

    fn show(&self, turns: &Turns<'_>, row: u32) -> String {
        let rows = turns.rows(self.focus.process);
        words::view(&self.claimed.numbering, rows.columns, &rows.list[row as usize])
    }

    /// The formulas that make a state of the automaton.
    fn state_name(&self, state: usize) -> String {
        let mut names = self.violation.automaton.names(self.claimed.model());
        names.states.swap_remove(state).into_iter().collect::<Vec<String>>().join(" and ")
    }

    /// The nodes with the checker's own states, and the position of each.
    fn numbered(&self, turns: &Turns<'_>) -> Outcome<(Vec<(u32, u32)>, NodeNumbers)> {
        let n_rows = turns.rows(self.focus.process).list.len();
        let (mut nodes, mut numbers) = (Vec::new(), FxHashMap::default());
        for (at, &(row, position)) in self.focus.nodes.iter().enumerate() {
            let own = self.named.state(position as usize).filter(|_| (row as usize) < n_rows);
            let node = own.map(|state| (row, state as u32));
            if node.is_none_or(|node| numbers.insert(node, at as u32).is_some()) {
                let what = if node.is_some() { "is listed twice" } else { "does not exist" };
                return Err(CertificateError::Malformed(format!(
                    "node {at} of {}, row {row} with state {position} of its table, {what}",
                    self.focus_name()
                )));
            }
            nodes.extend(node);
        }
        Ok((nodes, numbers))
    }

    fn check_initial(&self, turns: &Turns<'_>, numbers: &NodeNumbers) -> Outcome<()> {
        let rows = turns.rows(self.focus.process);
        let obligation = || format!("the nodes of {} have to contain every initial one", self.focus_name());
        let factors =
            factors(&self.claimed.numbering, rows.columns).or_else(|what| words::refused(obligation(), what))?;
        let mut starts = vec![vec![0; rows.columns.len()]];
        for factor in &factors {
            let mut more = Vec::new();
            for start in &starts {
                for numbers in &factor.rows {
                    let mut start: Vec<u32> = start.clone();
                    factor.positions.iter().zip(numbers).for_each(|(&position, &number)| start[position] = number);
                    more.push(start);
                }
                self.budget.check(0)?;
            }
            starts = more;
        }
        for start in starts {
            let row = rows.numbers.get(start.as_slice());
            if !row.is_some_and(|&row| numbers.contains_key(&(row, 0))) {
                let start = words::view(&self.claimed.numbering, rows.columns, &start);
                return words::refused(obligation(), format!("a run can start in {start}"));
            }
        }
        Ok(())
    }

    /// What may hold at a row, and what turns lead to from there.
    fn look(&mut self, turns: &mut Turns<'_>, judge: &mut Judge<'_>, row: u32) -> Outcome<Here> {
        let at = (self.focus.process, row);
        let mut atoms = Vec::new();
        for [not, truth] in &self.conditions.atoms {
            atoms.push([judge.may_hold(not, turns, at)?, judge.may_hold(truth, turns, at)?]);
        }
        let (mut before, mut free) = (Vec::new(), Vec::new());
        for (number, (always, often)) in self.conditions.pairs.iter().enumerate() {
            for predicate in often {
                if judge.may_hold(predicate, turns, at)? {
                    before.push(number);
                    break;
                }
            }
            free.push(match always {
                Some(always) => judge.may_hold(always, turns, at)?,
                None => false,
            });
        }
        let before = self.met.number(before);
        let moves = self.moves(turns, row, before)?;
        Ok(Here { atoms, free, moves })
    }

    /// What turns lead to from a row, at which turns carry the marks of these pairs before they are taken.
    fn moves(&mut self, turns: &mut Turns<'_>, row: u32, before: u32) -> Outcome<Vec<RowMove>> {
        let model = self.claimed.model();
        let mut known: FxHashSet<(u32, bool, u32)> = FxHashSet::default();
        let (mut moves, mut all) = (Vec::new(), Vec::new());
        let focus = self.focus.process;
        for mover in model.processes.ids() {
            let taken = if mover == focus { turns.own(mover, row)? } else { turns.seen(mover, focus, row)? };
            let stutter = turns.may_stutter(mover, (focus, row))?.then(|| (Turn::StandStill(mover), Vec::new()));
            all.extend(taken.iter().cloned().chain(stutter));
        }
        all.extend(turns.joint((focus, row))?.iter().cloned());
        for (turn, changes) in all {
            let is_own = turn.processes().contains(&focus);
            let Some(target) = self.target(turns, row, (&turn, &changes))? else { continue };
            let met = self.met_by(model, &turn);
            let pairs = self.met.union(before, met);
            if known.insert((target, is_own, pairs)) {
                moves.push(RowMove { target, is_own, pairs, turn });
            }
        }
        Ok(moves)
    }

    /// Adds the edges that leave a node.
    fn edges(
        &self,
        turns: &Turns<'_>,
        here: &Here,
        (row, state): (u32, u32),
        (numbers, carried, graph): (&NodeNumbers, &mut CarriedNumbers, &mut Graph),
    ) -> Outcome<()> {
        for (at, reading) in self.violation.automaton.states[state as usize].iter().enumerate() {
            if !reading.literals.iter().all(|&(atom, wanted)| here.atoms[atom][usize::from(wanted)]) {
                continue;
            }
            for RowMove { target, is_own, pairs, turn } in &here.moves {
                let Some(&to) = numbers.get(&(*target, reading.target as u32)) else {
                    return self.not_closed(turns, (row, turn), (*target, reading.target));
                };
                let own = match self.variant {
                    // `OneProcess` demands no own mark: every edge counts as carrying it.
                    Variant::OneProcess => true,
                    Variant::EveryProcess { mark } => *is_own && mark.is_none_or(|mark| reading.marks.contains(&mark)),
                };
                let carries = *carried.entry((state, at, own, *pairs)).or_insert_with(|| {
                    let pairs = self.met.sets[*pairs as usize].clone();
                    graph.carries(Carried { marks: reading.marks.clone(), own, pairs })
                });
                graph.add(to, carries);
            }
        }
        graph.close();
        Ok(())
    }

    /// The row that the focus is in after a turn; `None` where no run takes the turn.
    fn target(&self, turns: &Turns<'_>, row: u32, (turn, changes): (&Turn, &[(Column, u32)])) -> Outcome<Option<u32>> {
        let rows = turns.rows(self.focus.process);
        let mut after = rows.list[row as usize].clone();
        for (column, number) in changes {
            after[rows.positions[column]] = *number;
        }
        match rows.numbers.get(after.as_slice()) {
            Some(&target) => Ok(Some(target)),
            None if self.over.is_relative => Ok(None),
            None => {
                let numbering = &self.claimed.numbering;
                let after = words::view(numbering, rows.columns, &after);
                let before = self.show(turns, row);
                words::refused(
                    format!("every step has to keep the invariant of {}", self.focus_name()),
                    format!("{} leads from {before} to {after}, which is not in it", words::turn(numbering, turn)),
                )
            }
        }
    }

    /// The pairs that ask for a turn itself, by number.
    fn met_by(&mut self, model: &Model, turn: &Turn) -> u32 {
        if let Some(&known) = self.met.of_turn.get(turn) {
            return known;
        }
        let pairs = (0..self.violation.fairness.len()).filter(|&pair| self.is_met(model, pair, turn));
        let set = pairs.collect();
        let number = self.met.number(set);
        self.met.of_turn.insert(turn.clone(), number);
        number
    }

    /// Whether a turn itself is what a pair asks for.
    fn is_met(&self, model: &Model, pair: usize, turn: &Turn) -> bool {
        model.fairness[self.violation.fairness[pair]].often.iter().any(|often| match often {
            EdgePredicate::Before(_) => false,
            EdgePredicate::Scheduled(process) => turn.processes().contains(process),
            EdgePredicate::Moves(process, None) => turn.actions_of(*process).next().is_some(),
            EdgePredicate::Moves(process, Some(labels)) => turn
                .actions_of(*process)
                .any(|action| model.actions[action].labels.iter().any(|label| labels.contains(label))),
            EdgePredicate::SomebodyMoves => turn.step().is_some(),
        })
    }

    fn not_closed(&self, turns: &Turns<'_>, (row, turn): (u32, &Turn), (to, state): (u32, usize)) -> Outcome<()> {
        let turn = words::turn(&self.claimed.numbering, turn);
        let (before, after) = (self.show(turns, row), self.show(turns, to));
        words::refused(
            format!("the nodes of {} have to contain all that a run can get to", self.focus_name()),
            format!(
                "{turn} leads from {before} to {after} where {} is to come, which is no node",
                self.state_name(state)
            ),
        )
    }
}
