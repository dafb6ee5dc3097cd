//! Properties in SMV: `INVARSPEC` for states, `LTLSPEC` for runs, and fairness.

use std::fmt::Write;

use model::fairness::{Assumptions, EdgePredicate, FairnessId};
use model::process::ProcessId;
use model::property::{Automaton, BinaryTemporal, BooleanOp, Expected, Formula, Property, PropertyKind, UnaryTemporal};

use super::SmvWriter;
use crate::ExportRefusal;
use crate::flat;
use crate::layout::{one_line, property_words};
use crate::names::NameTable;
use crate::question::{Logic, Questions, step_is, stutter_is};
use crate::term::Term;

/// What is asked, and the variables that it needs.
#[derive(Clone, Debug, Default)]
pub struct Specifications {
    /// Declarations of automata.
    pub variables: String,
    /// Relations of automata, fairness, and the properties.
    pub text: String,
}

/// All properties.
pub fn specifications(writer: &SmvWriter<'_>, questions: &mut Questions<'_>, names: &mut NameTable) -> Specifications {
    let mut found = Specifications::default();
    let shared = shared_fairness(writer);
    if let Some(set) = &shared {
        let _ = writeln!(found.text, "-- fairness, the same for all temporal properties");
        for &id in set {
            let pair = &writer.model.fairness[id];
            let often = often(writer, questions, id);
            let _ = writeln!(found.text, "-- {}", one_line(&pair.name));
            let _ = match &pair.always {
                None => writeln!(found.text, "JUSTICE {often};"),
                Some(always) => {
                    let again = writer.print(&questions.state_predicate(always).negation());
                    writeln!(found.text, "COMPASSION({again}, {often});")
                }
            };
        }
    }
    for property in writer.model.properties.iter() {
        let name = names.fresh(&property.name);
        let _ = writeln!(found.text, "-- {}", title(writer, property));
        let asked = match &property.kind {
            PropertyKind::Invariant(expr) => state(writer, questions.condition(expr, &[])),
            PropertyKind::Reachable(expr) => state(writer, questions.condition(expr, &[]).negation()),
            PropertyKind::DeadlockFree => state(writer, flat::deadlock(writer.model, writer.flat).negation()),
            PropertyKind::RaceFree(var) => state(writer, flat::race(writer.model, writer.flat, *var).negation()),
            PropertyKind::NoErrors if writer.flat.can_fail() => ("INVARSPEC", "!error".to_string()),
            PropertyKind::NoErrors => ("INVARSPEC", "TRUE".to_string()),
            PropertyKind::Temporal(formula) => {
                let premise = premise(writer, questions, property, shared.is_some());
                let formula = match (questions.formula(formula, &[]), formula) {
                    (Some(logic), _) => print(writer, &logic),
                    (None, Formula::NeverAccepts(automaton)) => {
                        refused(writer, questions, (names, &mut found), automaton)
                    }
                    (None, _) => {
                        let why = "an automaton stands inside a formula";
                        questions.problems.push(ExportRefusal::new(property.span, why));
                        continue;
                    }
                };
                ("LTLSPEC", premise.map_or(formula.clone(), |premise| format!("({premise}) -> ({formula})")))
            }
        };
        let _ = writeln!(found.text, "{} NAME {name} := {};", asked.0, asked.1);
    }
    found
}

fn state(writer: &SmvWriter<'_>, term: Term) -> (&'static str, String) {
    ("INVARSPEC", writer.print(&term))
}

fn title(writer: &SmvWriter<'_>, property: &Property) -> String {
    let meaning = match (&property.kind, property.expected) {
        (PropertyKind::Reachable(_), Expected::Holds) => {
            "; asked as unreachable: false is expected, with the way there"
        }
        (PropertyKind::Reachable(_), Expected::Violated) => "; asked as unreachable, which is expected",
        (_, Expected::Violated) => "; false is expected",
        _ => "",
    };
    one_line(&format!("{}{meaning}", property_words(writer.model, writer.source, property)))
}

/// The assumptions, if all temporal properties make the same ones.
fn shared_fairness(writer: &SmvWriter<'_>) -> Option<Vec<FairnessId>> {
    let is_temporal = |property: &&Property| matches!(property.kind, PropertyKind::Temporal(_));
    let mut under = writer.model.properties.iter().filter(is_temporal).map(|property| &property.under);
    let Assumptions { any_of } = under.next()?;
    let [only] = &any_of[..] else { return None };
    under.all(|other| other.any_of == *any_of).then(|| only.clone()).filter(|only| !only.is_empty())
}

/// What a property assumes of runs: that nothing fails, and fairness.
fn premise(
    writer: &SmvWriter<'_>,
    questions: &mut Questions<'_>,
    property: &Property,
    is_shared: bool,
) -> Option<String> {
    let mut parts = Vec::new();
    if writer.flat.can_fail() {
        parts.push("G !error".to_string());
    }
    if !is_shared && property.under.any_of.iter().all(|set| !set.is_empty()) {
        let mut ways = Vec::new();
        for set in &property.under.any_of {
            let mut pairs = Vec::new();
            for &id in set {
                let again = format!("G F ({})", often(writer, questions, id));
                pairs.push(match &writer.model.fairness[id].always {
                    None => format!("({again})"),
                    Some(always) => {
                        let always = writer.print(&questions.state_predicate(always));
                        format!("((F G ({always})) | {again})")
                    }
                });
            }
            ways.push(format!("({})", pairs.join(" & ")));
        }
        parts.push(format!("({})", ways.join(" | ")));
    }
    (!parts.is_empty()).then(|| parts.join(" & "))
}

/// What an assumption wants again and again.
fn often(writer: &SmvWriter<'_>, questions: &mut Questions<'_>, id: FairnessId) -> String {
    let pair = &writer.model.fairness[id];
    let any = |holds: &dyn Fn(&EdgePredicate) -> bool| pair.often.iter().any(holds);
    let taken = writer
        .flat
        .steps
        .iter()
        .zip(&writer.steps)
        .filter(|(step, _)| any(&|edge| step_is(writer.model, &step.movers, edge)));
    let mut names: Vec<String> = taken.map(|(_, name)| name.clone()).collect();
    let stuttering = writer.model.processes.ids().filter(|&process| any(&|edge| stutter_is(process, edge)));
    names.extend(writer.stutters(stuttering));
    let mut parts = Vec::new();
    if !names.is_empty() {
        parts.push(format!("step in {{{}}}", names.join(", ")));
    }
    for edge in &pair.often {
        if let EdgePredicate::Before(predicate) = edge {
            let predicate = questions.state_predicate(predicate);
            parts.push(format!("({})", writer.print(&predicate)));
        }
    }
    if parts.is_empty() { "FALSE".to_string() } else { parts.join(" | ") }
}

/// A variable that reads runs as the automaton does, and the formula that it does not accept. Only real steps count.
fn refused(
    writer: &SmvWriter<'_>,
    questions: &mut Questions<'_>,
    (names, found): (&mut NameTable, &mut Specifications),
    automaton: &Automaton,
) -> String {
    let name = names.fresh(&format!("{}_at", automaton.name));
    let locations: Vec<String> = automaton
        .locations
        .iter()
        .map(|location| names.fresh(&format!("{}_{}", automaton.name, location.name)))
        .collect();
    let over = names.fresh(&format!("{}_is_over", automaton.name));
    let _ = writeln!(found.variables, "  {name} : {{{}, {over}}};", locations.join(", "));
    let _ = writeln!(found.text, "INIT {name} = {};", locations[automaton.initial]);
    let _ = writeln!(found.text, "TRANS next({name}) = {over}");
    for edge in &automaton.edges {
        let guard = match &edge.guard {
            Some(guard) => format!(" & ({})", writer.print(&questions.condition(guard, &[]))),
            None => String::new(),
        };
        let (source, target) = (&locations[edge.source], &locations[edge.target]);
        let _ = writeln!(found.text, "  | {name} = {source}{guard} & next({name}) = {target}");
    }
    let _ = writeln!(found.text, "  ;");
    let accepting: Vec<&str> = automaton
        .locations
        .iter()
        .zip(&locations)
        .filter(|(location, _)| location.accepting)
        .map(|(_, name)| name.as_str())
        .collect();
    let is_blocked = |process: ProcessId| flat::takes_part(writer.flat, process, |_| true).negation();
    let none_enabled = writer.print(&Term::all(writer.model.processes.ids().map(is_blocked)));
    let still = writer.stutters(writer.model.processes.ids()).join(", ");
    let seen =
        if accepting.is_empty() { "FALSE".to_string() } else { format!("{name} in {{{}}}", accepting.join(", ")) };
    format!("(G (!(step in {{{still}}}) | ({none_enabled}))) -> !(G F {seen})")
}

fn print(writer: &SmvWriter<'_>, logic: &Logic) -> String {
    let list = |parts: &[Logic], joint: &str, empty: &str| match parts {
        [] => empty.to_string(),
        _ => parts.iter().map(|part| format!("({})", print(writer, part))).collect::<Vec<_>>().join(joint),
    };
    match logic {
        Logic::Now(term) => writer.print(term),
        Logic::Not(inner) => format!("!({})", print(writer, inner)),
        Logic::And(parts) => list(parts, " & ", "TRUE"),
        Logic::Or(parts) => list(parts, " | ", "FALSE"),
        Logic::Boolean(op, left, right) => {
            let symbol = if *op == BooleanOp::Iff { "<->" } else { "->" };
            format!("({}) {symbol} ({})", print(writer, left), print(writer, right))
        }
        Logic::Unary(op, inner) => {
            let symbol = match op {
                UnaryTemporal::Always => "G",
                UnaryTemporal::Eventually => "F",
                UnaryTemporal::Next => "X",
            };
            format!("{symbol} ({})", print(writer, inner))
        }
        Logic::Binary(op, left, right) => {
            let (left, right) = (print(writer, left), print(writer, right));
            match op {
                BinaryTemporal::Until => format!("(({left}) U ({right}))"),
                BinaryTemporal::WeakUntil => format!("((({left}) U ({right})) | G ({left}))"),
                BinaryTemporal::Releases => format!("(({left}) V ({right}))"),
                BinaryTemporal::StrongReleases => format!("(({right}) U (({left}) & ({right})))"),
                BinaryTemporal::LeadsTo => format!("G (({left}) -> F ({right}))"),
            }
        }
    }
}
