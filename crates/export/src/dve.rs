//! DVE, for DIVINE and the tools that read its language, Piecewise among them.
//!
//! In: a Model. Out: one process for each, its nodes as locations, its steps as transitions. Values outside their types, which DVE
//! knows for `byte` and `int` only, are transitions of their own that divide by zero. A rendezvous stays one: its sides are written as
//! they are, because each sees what the other one did. Only real steps count in DVE, so temporal properties of other languages stay
//! comments; an automaton that came from DVE goes back as one.

mod expression;
mod half;

use std::fmt::Write;

use base::SourceFile;
use model::Model;
use model::process::ProcessId;
use model::property::{Automaton, Formula, Property, PropertyKind};
use model::types::ScalarType;

use crate::ExportRefusal;
use crate::flat::{self, Flat, FlatStep, FlatVar};
use crate::layout::{self, TextNames, one_line, step_words};
use crate::names::NameTable;
use crate::promela::sequence::{self, Assignment};
use crate::question::Questions;
use crate::term::Term;

const RESERVED: &[&str] = &[
    "guard", "sync", "async", "effect", "process", "state", "init", "accept", "commit", "trans", "system", "true",
    "false", "and", "or", "not", "imply", "int", "byte", "const", "channel", "property", "buchi", "genbuchi",
    "streett", "rabin", "muller", "assert", "failure",
];

/// What a variable of DVE can hold.
pub(crate) const BYTE: (i64, i64) = (0, 255);
pub(crate) const INT: (i64, i64) = (-32_768, 32_767);

/// The program in DVE.
///
/// # Errors
/// Everything that prevents it.
pub fn text(model: &Model, source: &SourceFile) -> Result<String, Vec<ExportRefusal>> {
    let flat = Flat::of(model)?;
    let mut names = NameTable::new(RESERVED);
    let layout = TextNames::new(model, &flat, &mut names);
    let channels = model.channels.iter().map(|channel| names.fresh(&channel.name)).collect();
    let mut writer =
        DveWriter { model, source, flat: &flat, layout: &layout, channels, problems: Vec::new(), n_temporaries: 0 };
    writer.check();
    let mut questions = Questions { model, flat: &flat, problems: Vec::new() };
    let asked = writer.questions(&mut questions);
    let processes: Vec<String> = model.processes.ids().map(|process| writer.process(process)).collect();
    let automaton = writer.automaton(&mut questions, &mut names);
    let mut problems = std::mem::take(&mut writer.problems);
    problems.append(&mut questions.problems);
    if !problems.is_empty() {
        problems.sort();
        problems.dedup();
        return Err(problems);
    }
    let head = writer.head(&asked);
    let (claimed, system) =
        automaton.map_or((String::new(), String::new()), |(text, name)| (text, format!(" property {name}")));
    Ok(format!("{head}\n{}{claimed}system async{system};\n", processes.concat()))
}

struct DveWriter<'m> {
    model: &'m Model,
    source: &'m SourceFile,
    flat: &'m Flat,
    layout: &'m TextNames,
    channels: Vec<String>,
    problems: Vec<ExportRefusal>,
    n_temporaries: usize,
}

macro_rules! put {
    ($out:expr, $($words:tt)*) => {
        let _ = writeln!($out, $($words)*);
    };
}

impl DveWriter<'_> {
    /// What DVE's variables cannot do.
    fn check(&mut self) {
        for var in self.flat.vars.iter() {
            if var.bounds.0 < INT.0 || var.bounds.1 > INT.1 {
                let why = format!("`{}` does not fit into a variable of DVE: -32768 to 32767", var.display);
                self.problems.push(ExportRefusal::new(var.span, why));
            }
            if var.init.contains(&None) {
                let why = format!("`{}` starts anywhere, and a program in DVE has one initial state", var.display);
                self.problems.push(ExportRefusal::new(var.span, why));
            }
        }
    }

    fn head(&mut self, asked: &[String]) -> String {
        let mut out = String::new();
        put!(out, "// {}", one_line(&layout::title(self.model)));
        put!(out, "// made from {} by piecewise export --to dve", one_line(self.source.name()));
        for one in asked {
            put!(out, "// {one}");
        }
        put!(out, "");
        for (id, var) in self.flat.vars.entries() {
            let ty = if is_byte(var) { "byte" } else { "int" };
            let numbers: Vec<String> = var.init.iter().map(|start| start.unwrap_or(0).to_string()).collect();
            let words = format!("// line {}: {}", layout::line(self.source, var.span), one_line(&var.display));
            let name = self.layout.var(id);
            if var.dimensions.is_empty() {
                put!(out, "{ty} {name} = {}; {words}", numbers[0]);
            } else {
                put!(out, "{ty} {name}[{}] = {{{}}}; {words}", numbers.len(), numbers.join(", "));
            }
        }
        if self.flat.can_fail() {
            put!(out, "byte failure = 0; // dividing by it is how a step fails");
        }
        (0..self.n_temporaries).for_each(|at| {
            put!(out, "int temporary_{at} = 0;");
        });
        if !self.channels.is_empty() {
            put!(out, "channel {};", self.channels.join(", "));
        }
        out
    }

    fn process(&mut self, process: ProcessId) -> String {
        let name = &self.layout.processes[process.index()];
        let nodes = &self.layout.nodes[process.index()];
        let mut out = String::new();
        let declared = &self.model.processes[process];
        let span = self.model.families[declared.family].span;
        put!(out, "// line {}: process {}", layout::line(self.source, span), one_line(&declared.name));
        put!(out, "process {name} {{");
        put!(out, "  state {};", nodes.join(", "));
        put!(out, "  init {};", nodes[self.flat.entries[process.index()].index()]);
        let mut transitions = Vec::new();
        for step in self.flat.steps.iter().filter(|step| step.movers.len() == 1 && step.movers[0].process == process) {
            transitions.push(self.step(step));
        }
        for fault in
            self.flat.faults.iter().filter(|fault| fault.movers.len() == 1 && fault.movers[0].process == process)
        {
            let node = self.layout.node(process, fault.movers[0].source);
            let guard = self.print_for(&fault.condition, self.span_of(&fault.movers));
            let words = step_words(self.model, self.source, &fault.movers);
            transitions.push((
                format!("{words}: fails"),
                format!("{node} -> {node} {{ guard {guard}; effect failure = 1 / failure; }}"),
            ));
        }
        transitions.extend(self.halves(process));
        if !transitions.is_empty() {
            put!(out, "  trans");
            let last = transitions.len() - 1;
            for (at, (words, transition)) in transitions.iter().enumerate() {
                put!(out, "    // {words}");
                put!(out, "    {transition}{}", if at == last { ";" } else { "," });
            }
        }
        put!(out, "}}");
        put!(out, "");
        out
    }

    fn span_of(&self, movers: &[flat::StepPart]) -> base::Span {
        self.model.statements[self.model.actions[movers[0].action].statement].span
    }

    fn step(&mut self, step: &FlatStep) -> (String, String) {
        let mover = &step.movers[0];
        let span = self.span_of(&step.movers);
        let mut effects = Vec::new();
        let mut used = Vec::new();
        for assignment in sequence::in_order(self.flat, &step.updates) {
            effects.push(match assignment {
                Assignment::Keep(number, value) => {
                    self.n_temporaries = self.n_temporaries.max(number + 1);
                    used.push(number);
                    format!("temporary_{number} = {}", self.print_for(&value, span))
                }
                Assignment::Store(update) => {
                    let index: Vec<String> = update.index.iter().map(|index| self.print_for(index, span)).collect();
                    let target = format!("{}{}", self.layout.var(update.var), self.flat_index(update.var, &index));
                    format!("{target} = {}", self.print_for(&update.value, span))
                }
                Assignment::Restore(update, value, index) => {
                    let index: Vec<String> = index
                        .iter()
                        .map(|index| match index {
                            Ok(constant) => self.print_for(constant, span),
                            Err(number) => format!("temporary_{number}"),
                        })
                        .collect();
                    format!(
                        "{}{} = temporary_{value}",
                        self.layout.var(update.var),
                        self.flat_index(update.var, &index)
                    )
                }
            });
        }
        effects.extend(used.iter().map(|number| format!("temporary_{number} = 0")));
        let guard =
            if step.guard.is(true) { String::new() } else { format!(" guard {};", self.print_for(&step.guard, span)) };
        let effect = if effects.is_empty() { String::new() } else { format!(" effect {};", effects.join(", ")) };
        let (from, to) = (self.layout.node(mover.process, mover.source), self.layout.node(mover.process, mover.target));
        (step_words(self.model, self.source, &step.movers), format!("{from} -> {to} {{{guard}{effect} }}"))
    }

    /// What the properties say: conditions as expressions that can be given as goals, the rest in the user's words.
    fn questions(&mut self, questions: &mut Questions<'_>) -> Vec<String> {
        let mut lines = Vec::new();
        for property in self.model.properties.iter() {
            let bad: Option<Term> = match &property.kind {
                PropertyKind::Invariant(expr) => Some(questions.condition(expr, &[]).negation()),
                PropertyKind::Reachable(expr) => Some(questions.condition(expr, &[])),
                PropertyKind::RaceFree(var) => Some(flat::race(self.model, self.flat, *var)),
                _ => None,
            };
            lines.push(one_line(&layout::property_words(self.model, self.source, property)));
            if let Some(bad) = bad {
                let known = self.problems.len();
                let goal = self.print_for(&bad, property.span);
                self.problems.truncate(known);
                let is_goal = matches!(property.kind, PropertyKind::Reachable(_));
                let asked = if is_goal { "holds if this is reached" } else { "is violated if this is reached" };
                lines.push(format!("  {asked}: --goal '{goal}'"));
            }
        }
        lines
    }

    /// An automaton that the program was given with.
    fn automaton(&mut self, questions: &mut Questions<'_>, names: &mut NameTable) -> Option<(String, String)> {
        let of = |property: &Property| match &property.kind {
            PropertyKind::Temporal(Formula::NeverAccepts(automaton)) => Some((**automaton).clone()),
            _ => None,
        };
        let automaton: Automaton = self.model.properties.iter().find_map(of)?;
        let name = names.fresh(&automaton.name);
        let locations: Vec<String> = automaton.locations.iter().map(|location| names.fresh(&location.name)).collect();
        let accepting: Vec<String> = automaton
            .locations
            .iter()
            .zip(&locations)
            .filter(|(location, _)| location.accepting)
            .map(|(_, name)| name.clone())
            .collect();
        let mut out = String::new();
        put!(out, "process {name} {{");
        put!(out, "  state {};", locations.join(", "));
        put!(out, "  init {};", locations[automaton.initial]);
        if !accepting.is_empty() {
            put!(out, "  accept {};", accepting.join(", "));
        }
        let mut transitions = Vec::new();
        for edge in &automaton.edges {
            let guard = edge.guard.as_ref().map(|guard| questions.condition(guard, &[]));
            let guard = guard.map_or(String::new(), |guard| format!(" guard {};", self.print_for(&guard, edge.span)));
            transitions.push(format!("    {} -> {} {{{guard} }}", locations[edge.source], locations[edge.target]));
        }
        if !transitions.is_empty() {
            put!(out, "  trans");
            put!(out, "{};", transitions.join(",\n"));
        }
        put!(out, "}}\n");
        Some((out, name))
    }
}

/// Whether a variable is a `byte`; otherwise it is an `int`.
fn is_byte(var: &FlatVar) -> bool {
    var.ty == ScalarType::Bool || var.bounds.0 >= BYTE.0 && var.bounds.1 <= BYTE.1
}
