//! From a formula to an automaton for its negation, by the expansion laws.
//!
//! The negation is written without `not` before anything but atoms. A state of the automaton is a set of formulas that have to be
//! true of the rest of the word. To read a state of the program, each is expanded: `a until b` is `b`, or `a` now and the same
//! again; `a releases b` is `b`, and `a` or the same again. What is left speaks of the present, and is the edge's condition, or of
//! the next point, and is the state that the edge leads to. Each `until` has a mark, which edges carry that do not put it off.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use base::{Feature, StopReason};
use model::expr::{Expr, ExprKind, Quantifier};
use model::property::{BinaryTemporal, BooleanOp, Formula, UnaryTemporal};
use model::value::Value;

use super::{
    BindingScope, ConjunctContext, ReferenceAutomaton, ReferenceEdge, StateCondition, depends_on_state, reads_state,
};

/// More states than this are too many, and more ways to expand one state.
const MOST_STATES: usize = 2_000;
const MOST_EDGES: usize = 200_000;

/// The automaton of the words on which a part of a property is false.
pub(super) fn of_negation(
    scope: &BindingScope<'_>,
    part: &Formula,
    around: &ConjunctContext,
) -> Result<ReferenceAutomaton, StopReason> {
    let mut writer =
        TableauWriter { scope, atoms: Vec::new(), known: HashMap::new(), nodes: Vec::new(), ids: HashMap::new() };
    let negation = writer.write(part, &around.bound, false)?;
    let root = match around.always {
        // Not always: at some point not.
        true => writer.eventually(negation),
        false => negation,
    };
    let is_until = |id: &usize| matches!(writer.nodes[*id], TableauNode::Until(..));
    let untils: Vec<usize> = (0..writer.nodes.len()).filter(is_until).collect();
    let (n_marks, atoms) = (untils.len(), writer.atoms);
    let mut automaton = ReferenceAutomaton { atoms, n_marks, ..ReferenceAutomaton::default() };
    let mut numbers: HashMap<TableauObligations, usize> = HashMap::new();
    let mut open = vec![TableauObligations::from([root])];
    numbers.insert(open[0].clone(), 0);
    let mut n_edges = 0;
    while automaton.states.len() < open.len() {
        let mut expansion = Expansion { nodes: &writer.nodes, found: BTreeSet::new() };
        let here = open[automaton.states.len()].iter().copied().collect();
        expansion.expand(here, StateReading::default())?;
        let mut edges = Vec::new();
        for reading in expansion.found {
            let known = numbers.len();
            let target = *numbers.entry(reading.next.clone()).or_insert_with(|| {
                open.push(reading.next.clone());
                known
            });
            let marks = (0..untils.len()).filter(|&mark| !reading.postponed.contains(&untils[mark])).collect();
            edges.push(ReferenceEdge { literals: reading.literals.into_iter().collect(), marks, target });
        }
        n_edges += edges.len();
        if open.len() > MOST_STATES || n_edges > MOST_EDGES {
            return Err(too_large());
        }
        automaton.states.push(edges);
    }
    automaton.obligations = open.into_iter().map(|state| state.into_iter().collect()).collect();
    (automaton.formulas, automaton.untils) = (writer.nodes, untils);
    Ok(automaton)
}

fn too_large() -> StopReason {
    Feature::Tableau.into()
}

/// A formula without negations but of atoms, by the numbers of its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum TableauNode {
    Constant(bool),
    Literal(usize, bool),
    And(usize, usize),
    Or(usize, usize),
    Next(usize),
    Until(usize, usize),
    Release(usize, usize),
}

/// Writes formulas as nodes.
struct TableauWriter<'s, 'm> {
    scope: &'s BindingScope<'m>,
    atoms: Vec<StateCondition>,
    /// The atoms by what they say, and the values around it: the same wherever it stands in the property.
    known: HashMap<(Expr, Vec<Value>), usize>,
    nodes: Vec<TableauNode>,
    ids: HashMap<TableauNode, usize>,
}

impl TableauWriter<'_, '_> {
    fn node(&mut self, node: TableauNode) -> usize {
        *self.ids.entry(node).or_insert_with(|| {
            self.nodes.push(node);
            self.nodes.len() - 1
        })
    }

    fn eventually(&mut self, inner: usize) -> usize {
        let always = self.node(TableauNode::Constant(true));
        self.node(TableauNode::Until(always, inner))
    }

    fn always(&mut self, inner: usize) -> usize {
        let never = self.node(TableauNode::Constant(false));
        self.node(TableauNode::Release(never, inner))
    }

    /// Both, or where the whole is to be false, one of them.
    fn both(&mut self, left: usize, right: usize, wanted: bool) -> usize {
        self.node(if wanted { TableauNode::And(left, right) } else { TableauNode::Or(left, right) })
    }

    fn until(&mut self, left: usize, right: usize, wanted: bool) -> usize {
        self.node(if wanted { TableauNode::Until(left, right) } else { TableauNode::Release(left, right) })
    }

    /// The formula, or its negation where it is not wanted.
    fn write(&mut self, formula: &Formula, bound: &[Value], wanted: bool) -> Result<usize, StopReason> {
        Ok(match formula {
            Formula::Now(expr) => self.now(expr, bound, wanted),
            Formula::Not(inner) => self.write(inner, bound, !wanted)?,
            Formula::Boolean(op, left, right) => self.boolean(*op, (left, right), bound, wanted)?,
            Formula::Unary(op, inner) => {
                let inner = self.write(inner, bound, wanted)?;
                match (op, wanted) {
                    (UnaryTemporal::Next, _) => self.node(TableauNode::Next(inner)),
                    (UnaryTemporal::Always, true) | (UnaryTemporal::Eventually, false) => self.always(inner),
                    (UnaryTemporal::Always, false) | (UnaryTemporal::Eventually, true) => self.eventually(inner),
                }
            }
            Formula::Binary(op, left, right) => self.binary(*op, (left, right), bound, wanted)?,
            Formula::Quantified { quantifier, bindings, filter, body } => {
                if bindings.iter().any(depends_on_state) {
                    return Err(Feature::ChangingDomain.into());
                }
                let mut instances = Vec::new();
                self.scope.for_each_instance(bindings, bound, &mut |values| instances.push(values.to_vec()));
                let is_forall = *quantifier == Quantifier::Forall;
                let mut all = self.node(TableauNode::Constant(is_forall == wanted));
                for values in instances {
                    let instance = match filter {
                        None => self.write(body, &values, wanted)?,
                        Some(filter) if !reads_state(filter) => match self.scope.truth(filter, &values) {
                            true => self.write(body, &values, wanted)?,
                            false => continue,
                        },
                        Some(filter) => {
                            let (meant, body) =
                                (self.now(filter, &values, is_forall != wanted), self.write(body, &values, wanted)?);
                            self.both(meant, body, is_forall != wanted)
                        }
                    };
                    all = self.both(all, instance, is_forall == wanted);
                }
                all
            }
            Formula::NeverAccepts(_) => {
                return Err(Feature::GivenAutomaton.into());
            }
        })
    }

    fn boolean(
        &mut self,
        op: BooleanOp,
        (left, right): (&Formula, &Formula),
        bound: &[Value],
        wanted: bool,
    ) -> Result<usize, StopReason> {
        let (left_wanted, connect) = match op {
            BooleanOp::And => (wanted, wanted),
            BooleanOp::Or => (wanted, !wanted),
            BooleanOp::Implies => (!wanted, !wanted),
            BooleanOp::Iff => {
                // Both and both not; or, where it is to be false, one and the other not.
                let (one, other) = (self.write(left, bound, true)?, self.write(right, bound, wanted)?);
                let (not_one, not_other) = (self.write(left, bound, false)?, self.write(right, bound, !wanted)?);
                let (both, neither) = (self.both(one, other, true), self.both(not_one, not_other, true));
                return Ok(self.both(both, neither, false));
            }
        };
        let (left, right) = (self.write(left, bound, left_wanted)?, self.write(right, bound, wanted)?);
        Ok(self.both(left, right, connect))
    }

    fn binary(
        &mut self,
        op: BinaryTemporal,
        (left, right): (&Formula, &Formula),
        bound: &[Value],
        wanted: bool,
    ) -> Result<usize, StopReason> {
        if op == BinaryTemporal::LeadsTo {
            let (asked, comes) = (self.write(left, bound, !wanted)?, self.write(right, bound, wanted)?);
            let comes = if wanted { self.eventually(comes) } else { self.always(comes) };
            let answered = self.both(asked, comes, !wanted);
            return Ok(if wanted { self.always(answered) } else { self.eventually(answered) });
        }
        let (left, right) = (self.write(left, bound, wanted)?, self.write(right, bound, wanted)?);
        Ok(match op {
            BinaryTemporal::Until => self.until(left, right, wanted),
            BinaryTemporal::Releases => self.until(left, right, !wanted),
            // The right one releases that one of both holds.
            BinaryTemporal::WeakUntil => {
                let either = self.both(left, right, !wanted);
                self.until(right, either, !wanted)
            }
            BinaryTemporal::StrongReleases => {
                let both = self.both(left, right, wanted);
                self.until(right, both, wanted)
            }
            BinaryTemporal::LeadsTo => unreachable!("`~>` was looked at before"),
        })
    }

    fn now(&mut self, expr: &Expr, bound: &[Value], wanted: bool) -> usize {
        match &expr.kind {
            ExprKind::Not(inner) => self.now(inner, bound, !wanted),
            ExprKind::Const(Value::Bool(truth)) => self.node(TableauNode::Constant(*truth == wanted)),
            _ => {
                let atoms = &mut self.atoms;
                let atom = *self.known.entry((expr.clone(), bound.to_vec())).or_insert_with(|| {
                    atoms.push(StateCondition { expr: expr.clone(), bound: bound.to_vec() });
                    atoms.len() - 1
                });
                self.node(TableauNode::Literal(atom, wanted))
            }
        }
    }
}

/// Formulas that have to be true, by number.
type TableauObligations = BTreeSet<usize>;

/// One way to read a state.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct StateReading {
    next: TableauObligations,
    literals: BTreeMap<usize, bool>,
    /// The `until`s that are put off.
    postponed: TableauObligations,
    /// What was expanded already.
    done: TableauObligations,
}

struct Expansion<'n> {
    nodes: &'n [TableauNode],
    found: BTreeSet<StateReading>,
}

impl Expansion<'_> {
    /// Adds all ways to read a state in which these formulas have to be true besides.
    fn expand(&mut self, mut rest: Vec<usize>, mut reading: StateReading) -> Result<(), StopReason> {
        while let Some(id) = rest.pop() {
            if !reading.done.insert(id) {
                continue;
            }
            match self.nodes[id] {
                TableauNode::Constant(true) => {}
                TableauNode::Constant(false) => return Ok(()),
                TableauNode::Literal(atom, wanted) => {
                    if *reading.literals.entry(atom).or_insert(wanted) != wanted {
                        return Ok(());
                    }
                }
                TableauNode::And(left, right) => rest.extend([left, right]),
                TableauNode::Next(inner) => drop(reading.next.insert(inner)),
                TableauNode::Or(left, right) => {
                    self.expand([rest.as_slice(), &[left]].concat(), reading.clone())?;
                    rest.push(right);
                }
                TableauNode::Until(left, right) => {
                    self.expand([rest.as_slice(), &[right]].concat(), reading.clone())?;
                    rest.push(left);
                    reading.next.insert(id);
                    reading.postponed.insert(id);
                }
                TableauNode::Release(left, right) => {
                    self.expand([rest.as_slice(), &[left, right]].concat(), reading.clone())?;
                    rest.push(right);
                    reading.next.insert(id);
                }
            }
        }
        // How it came about does not matter.
        reading.done.clear();
        self.found.insert(reading);
        if self.found.len() > MOST_EDGES { Err(too_large()) } else { Ok(()) }
    }
}
