//! Claims: what SPIN is asked for each property.
//!
//! In: a property. Out: one or more claims, which hold together exactly if the property does (a `reachable` property is claimed to be
//! unreachable). A formula that SPIN can translate in a moment is an `ltl` formula. The other ones, and those under
//! fairness, are `never` claims made by Piecewise, which is a matter of milliseconds where SPIN's translation would not end. Fairness to
//! all processes, weak or unconditional, is what `pan -f` means: in a text with stutters every process can always take a turn.

use base::{Budget, CancelToken};
use model::fairness::{EdgePredicate, FairnessId, StatePredicate};
use model::process::ProcessId;
use model::property::{BinaryTemporal, BooleanOp, Expected, Formula, Property, PropertyKind, UnaryTemporal};
use temporal::Violation;

use super::PromelaWriter;
use super::never::{self, Never};
use crate::ExportRefusal;
use crate::flat;
use crate::layout::{one_line, property_words};
use crate::names::NameTable;
use crate::question::{Logic, Questions};
use crate::term::{Term, TermKind};

/// SPIN translates formulas with so many temporal operators in a moment.
const MOST_TEMPORAL: usize = 6;

/// SPIN reads formulas that are not longer than about this, once it has written out every parenthesis.
const MOST_LETTERS: usize = 600;

/// What SPIN is asked.
#[derive(Clone, Debug)]
pub struct SpinClaim {
    /// The property in the user's words, and what an error means.
    pub title: String,
    /// The name.
    pub name: String,
    /// The name of the property.
    pub property: String,
    /// What runs are examined.
    pub runs: TurnsAllowed,
    /// Whether SPIN's weak fairness is assumed.
    pub weakly_fair: bool,
    /// The claim itself.
    pub text: String,
}

/// Which turns there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnsAllowed {
    /// Real steps only, which is enough for safety.
    Steps,
    /// Stutters, too.
    Stutters,
    /// And which kind of turn was taken last.
    Turns,
    /// Real steps, and the last state for ever where no process is enabled.
    Real,
}

impl SpinClaim {
    /// What SPIN's preprocessor must know.
    pub fn defines(&self) -> &'static str {
        match self.runs {
            TurnsAllowed::Steps => "",
            TurnsAllowed::Stutters => "-DRUNS ",
            TurnsAllowed::Turns => "-DRUNS -DTURNS ",
            TurnsAllowed::Real => "-DREAL ",
        }
    }

    /// The definitions without which the claim makes no sense.
    pub fn needs(&self) -> &'static [&'static str] {
        match self.runs {
            TurnsAllowed::Steps => &[],
            TurnsAllowed::Stutters => &["RUNS"],
            TurnsAllowed::Turns => &["TURNS"],
            TurnsAllowed::Real => &["REAL"],
        }
    }
}

/// The claims of a property.
pub fn claims<'m>(
    writer: &PromelaWriter<'m>,
    questions: &mut Questions<'m>,
    names: &mut NameTable,
    property: &Property,
) -> Vec<SpinClaim> {
    let always = |term: Term| vec![(term, TurnsAllowed::Steps)];
    let claimed = match &property.kind {
        PropertyKind::Invariant(expr) => always(questions.condition(expr, &[])),
        PropertyKind::Reachable(expr) => always(questions.condition(expr, &[]).negation()),
        PropertyKind::DeadlockFree => always(flat::deadlock(writer.model, writer.flat).negation()),
        PropertyKind::RaceFree(var) => always(flat::race(writer.model, writer.flat, *var).negation()),
        PropertyKind::NoErrors => {
            let text = if writer.flat.can_fail() {
                |name: &str| format!("ltl {name} {{ [] (!error) }}")
            } else {
                |name: &str| {
                    format!(
                        "never {name} {{ /* no step can fail */\nclaim_0:\n  if\n  :: (true) -> goto claim_0\n  fi\n}}"
                    )
                }
            };
            let name = names.fresh(&property.name);
            return vec![SpinClaim { text: text(&name), ..claim(writer, property, name, TurnsAllowed::Steps) }];
        }
        PropertyKind::Temporal(formula) => {
            let mut asking = Temporal { writer, questions, names, property };
            return asking.claims(formula);
        }
    };
    let one = |(term, runs): (Term, TurnsAllowed)| {
        let name = names.fresh(&property.name);
        let text = safety(writer, &name, &term);
        SpinClaim { text, ..claim(writer, property, name, runs) }
    };
    claimed.into_iter().map(one).collect()
}

fn claim(writer: &PromelaWriter<'_>, property: &Property, name: String, runs: TurnsAllowed) -> SpinClaim {
    let is_reachable = matches!(property.kind, PropertyKind::Reachable(_));
    let meaning = match (is_reachable, property.expected) {
        (true, Expected::Holds) => "; claimed to be unreachable, an error shows how it is reached, and is expected",
        (true, Expected::Violated) => "; claimed to be unreachable, which is expected",
        (false, Expected::Holds) => "",
        (false, Expected::Violated) => "; expected to be violated: an error",
    };
    let title = one_line(&format!("{}{meaning}", property_words(writer.model, writer.source, property)));
    SpinClaim { title, name, property: property.name.clone(), runs, weakly_fair: false, text: String::new() }
}

/// A claim that a term holds in every state.
fn safety(writer: &PromelaWriter<'_>, name: &str, term: &Term) -> String {
    let holds = writer.print(term);
    let anywhere = writer.flat.starts_anywhere();
    if is_printable(term) && holds.len() <= MOST_LETTERS {
        let inside = if anywhere { format!("!started || ({holds})") } else { holds };
        return format!("ltl {name} {{ [] ({inside}) }}");
    }
    let started = if anywhere { "started && " } else { "" };
    let edges = format!("  :: ({started}!({holds})) -> goto accept_all\n  :: (true) -> goto claim_0");
    let waits = format!("claim_0:\n  if\n{edges}\n  fi;\naccept_all:\n  skip");
    format!("never {name} {{ /* eventually it does not hold */\n{waits}\n}}")
}

/// Whether the term can be part of an `ltl` formula, where `->` means something else and constants are nothing.
fn is_printable(term: &Term) -> bool {
    let mut printable = !matches!(term.kind(), TermKind::Truth(_) | TermKind::Number(_));
    term.visit(&mut |part| printable &= !matches!(part.kind(), TermKind::Choice(_, yes, _) if !yes.is_truth()));
    printable
}

/// A temporal property on its way to claims.
struct Temporal<'a, 'm> {
    writer: &'a PromelaWriter<'m>,
    questions: &'a mut Questions<'m>,
    names: &'a mut NameTable,
    property: &'a Property,
}

impl<'m> Temporal<'_, 'm> {
    fn claims(&mut self, formula: &Formula) -> Vec<SpinClaim> {
        let logic = self.questions.formula(formula, &[]);
        let set = match &self.property.under.any_of[..] {
            [only] => Some(only.clone()),
            _ => None,
        };
        let has_next = logic.as_ref().is_none_or(Logic::has_next);
        let weakly_fair = set.as_ref().is_some_and(|set| !has_next && self.is_weak_for_all(set));
        let is_free = set.as_ref().is_some_and(Vec::is_empty);
        if let Some(logic) = &logic
            && (is_free || weakly_fair)
            && is_simple(logic)
            && let whole = self.whole(&self.logic(logic))
            && whole.len() <= MOST_LETTERS
        {
            let name = self.names.fresh(&self.property.name);
            let text = format!("ltl {name} {{ {whole} }}");
            return vec![SpinClaim {
                text,
                weakly_fair,
                ..claim(self.writer, self.property, name, TurnsAllowed::Stutters)
            }];
        }
        let budget = Budget::new(None, None, CancelToken::default());
        match temporal::violations(self.writer.model, self.property, formula, &budget) {
            Ok(violations) => self.never(violations, weakly_fair),
            Err(reason) => {
                self.questions.problems.push(ExportRefusal::new(self.property.span, reason.to_string()));
                Vec::new()
            }
        }
    }

    fn never(&mut self, violations: Vec<Violation>, weakly_fair: bool) -> Vec<SpinClaim> {
        let n_violations = violations.len();
        let mut found = Vec::new();
        for (at, violation) in violations.into_iter().enumerate() {
            let wanted = match n_violations {
                1 => self.property.name.clone(),
                _ => format!("{}_{}", self.property.name, at + 1),
            };
            let name = self.names.fresh(&wanted);
            let fairness: &[FairnessId] = match (weakly_fair, violation.real_steps_only) {
                (true, _) => &[],
                (false, true) if violation.fairness.iter().all(|&id| self.is_progress(id)) => &[],
                _ => &violation.fairness,
            };
            let conditions: Vec<_> = fairness.iter().map(|&id| self.writer.turns.condition(id).clone()).collect();
            let runs = match () {
                () if violation.real_steps_only => TurnsAllowed::Real,
                () if conditions.iter().any(|condition| !condition.kinds.is_empty()) => TurnsAllowed::Turns,
                () => TurnsAllowed::Stutters,
            };
            if violation.real_steps_only && !fairness.is_empty() {
                let why = "fairness other than progress cannot be assumed of an automaton's runs";
                self.questions.problems.push(ExportRefusal::new(self.property.span, why));
            }
            let atoms: Vec<Term> = violation
                .propositions
                .iter()
                .map(|proposition| self.questions.condition(&proposition.expr, &proposition.bound))
                .collect();
            let instance: Vec<String> = violation
                .instance
                .bindings
                .iter()
                .map(|(name, value)| format!("{name} = {}", model::print::value(self.writer.model, *value)))
                .collect();
            let claimed = Never { automaton: &violation.automaton, atoms: &atoms, conditions: &conditions };
            let mut one = claim(self.writer, self.property, name.clone(), runs);
            if !instance.is_empty() {
                one.title += &format!(" ({})", one_line(&instance.join(", ")));
            }
            match never::text(self.writer, &name, &claimed) {
                Some(text) => found.push(SpinClaim { text, weakly_fair, ..one }),
                None => {
                    let why = format!(
                        "{} strong assumptions are too many for a never claim; fewer processes have fewer",
                        conditions.iter().filter(|condition| condition.always.is_some()).count()
                    );
                    self.questions.problems.push(ExportRefusal::new(self.property.span, why));
                }
            }
        }
        found
    }

    /// `progress`, which runs of real steps satisfy.
    fn is_progress(&self, id: FairnessId) -> bool {
        let pair = &self.writer.model.fairness[id];
        pair.often.iter().any(|edge| matches!(edge, EdgePredicate::SomebodyMoves))
    }

    /// Whether the assumptions are fairness to every process, weak or unconditional, and nothing else.
    fn is_weak_for_all(&self, set: &[FairnessId]) -> bool {
        let of = |id: &FairnessId| self.process_of(*id);
        let processes: Option<Vec<ProcessId>> = set.iter().map(of).collect();
        processes.is_some_and(|named| self.writer.model.processes.ids().all(|process| named.contains(&process)))
    }

    /// The process to which the assumption is fairness as SPIN means it.
    fn process_of(&self, id: FairnessId) -> Option<ProcessId> {
        let pair = &self.writer.model.fairness[id];
        if pair.always.is_some() {
            return None;
        }
        match &pair.often[..] {
            [EdgePredicate::Scheduled(process)] => Some(*process),
            [EdgePredicate::Before(StatePredicate::Unable(process, None)), EdgePredicate::Moves(mover, None)]
            | [EdgePredicate::Moves(mover, None), EdgePredicate::Before(StatePredicate::Unable(process, None))]
                if process == mover && !self.may_rest(*process) =>
            {
                Some(*process)
            }
            _ => None,
        }
    }

    /// Whether a process can stay for ever where it is otherwise enabled.
    fn may_rest(&self, process: ProcessId) -> bool {
        let (model, flat) = (self.writer.model, self.writer.flat);
        flat.nodes[process.index()].iter().any(|node| {
            node.is_idle && model.places[node.place].actions.iter().any(|&action| !flat::is_idle(model, action))
        })
    }

    /// The formula, of runs without errors, from where they start.
    fn whole(&self, formula: &str) -> String {
        let sound =
            if self.writer.flat.can_fail() { format!("(<> error) || ({formula})") } else { formula.to_string() };
        match self.writer.flat.starts_anywhere() {
            true => format!("!started U (started && ({sound}))"),
            false => sound,
        }
    }

    fn logic(&self, logic: &Logic) -> String {
        let list = |parts: &[Logic], joint: &str| {
            parts.iter().map(|part| format!("({})", self.logic(part))).collect::<Vec<_>>().join(joint)
        };
        match logic {
            Logic::Now(term) => self.writer.print(term),
            Logic::Not(inner) => format!("!({})", self.logic(inner)),
            Logic::And(parts) => list(parts, " && "),
            Logic::Or(parts) => list(parts, " || "),
            Logic::Boolean(BooleanOp::Iff, left, right) => {
                format!("({}) <-> ({})", self.logic(left), self.logic(right))
            }
            Logic::Boolean(_, left, right) => format!("({}) -> ({})", self.logic(left), self.logic(right)),
            Logic::Unary(op, inner) => {
                let symbol = match op {
                    UnaryTemporal::Always => "[]",
                    UnaryTemporal::Eventually => "<>",
                    UnaryTemporal::Next => "X",
                };
                format!("{symbol} ({})", self.logic(inner))
            }
            Logic::Binary(op, left, right) => {
                let (left, right) = (self.logic(left), self.logic(right));
                match op {
                    BinaryTemporal::Until => format!("({left}) U ({right})"),
                    BinaryTemporal::WeakUntil => format!("(({left}) U ({right})) || [] ({left})"),
                    BinaryTemporal::Releases => format!("(({right}) U (({left}) && ({right}))) || [] ({right})"),
                    BinaryTemporal::StrongReleases => format!("({right}) U (({left}) && ({right}))"),
                    BinaryTemporal::LeadsTo => format!("[] (({left}) -> <> ({right}))"),
                }
            }
        }
    }
}

/// Whether SPIN can read the formula and translate it in a moment.
fn is_simple(logic: &Logic) -> bool {
    let mut printable = true;
    logic.terms(&mut |term| printable &= is_printable(term));
    printable && !logic.has_next() && logic.n_temporal() <= MOST_TEMPORAL && !has_empty(logic)
}

/// Whether a quantifier over nothing left nothing to write.
fn has_empty(logic: &Logic) -> bool {
    match logic {
        Logic::Now(_) => false,
        Logic::Not(inner) | Logic::Unary(_, inner) => has_empty(inner),
        Logic::And(parts) | Logic::Or(parts) => parts.is_empty() || parts.iter().any(has_empty),
        Logic::Boolean(_, left, right) | Logic::Binary(_, left, right) => has_empty(left) || has_empty(right),
    }
}
