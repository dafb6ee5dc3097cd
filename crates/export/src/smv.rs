//! SMV, for NuSMV and nuXmv.
//!
//! In: a Model. Out: one module. `step` is a variable that says which step is taken next, by which process; it can only be one that is enabled (`INVAR`),
//! and what each variable becomes depends on it (`TRANS`). Stutters are steps, too, so runs are those of the Model and fairness speaks of `step`;
//! there is no `IVAR`, under which NuSMV 2.6 does not treat `COMPASSION` soundly. A step that fails sets `error`, and then nothing happens any
//! more; properties of runs are about those without. Fairness that all temporal properties share is `JUSTICE` and `COMPASSION`; other fairness
//! is a premise of its property. An automaton is a variable that reads the run and never stops it.
//!
//! Relations are `TRANS` and not `ASSIGN`, because NuSMV refuses an assignment of `x - 1` to a variable that begins at 0, guard or not.

mod expression;
mod spec;

use std::fmt::Write;

use base::SourceFile;
use model::Model;
use model::process::ProcessId;
use model::types::ScalarType;

use crate::ExportRefusal;
use crate::flat::{self, Flat};
use crate::layout::{self, TextNames, one_line, step_words};
use crate::names::NameTable;
use crate::question::Questions;
use crate::term::{Term, TermKind};

const RESERVED: &[&str] = &[
    "MODULE",
    "DEFINE",
    "MDEFINE",
    "CONSTANTS",
    "VAR",
    "IVAR",
    "FROZENVAR",
    "INIT",
    "TRANS",
    "INVAR",
    "SPEC",
    "CTLSPEC",
    "LTLSPEC",
    "PSLSPEC",
    "COMPUTE",
    "NAME",
    "INVARSPEC",
    "FAIRNESS",
    "JUSTICE",
    "COMPASSION",
    "ISA",
    "ASSIGN",
    "CONSTRAINT",
    "SIMPWFF",
    "CTLWFF",
    "LTLWFF",
    "PSLWFF",
    "COMPWFF",
    "IN",
    "MIN",
    "MAX",
    "MIRROR",
    "PRED",
    "PREDICATES",
    "process",
    "array",
    "of",
    "boolean",
    "integer",
    "real",
    "word",
    "word1",
    "bool",
    "signed",
    "unsigned",
    "extend",
    "resize",
    "sizeof",
    "uwconst",
    "swconst",
    "EX",
    "AX",
    "EF",
    "AF",
    "EG",
    "AG",
    "E",
    "F",
    "O",
    "G",
    "H",
    "X",
    "Y",
    "Z",
    "A",
    "U",
    "S",
    "V",
    "T",
    "BU",
    "EBF",
    "ABF",
    "EBG",
    "ABG",
    "case",
    "esac",
    "mod",
    "next",
    "init",
    "union",
    "in",
    "xor",
    "xnor",
    "self",
    "TRUE",
    "FALSE",
    "count",
    "abs",
    "max",
    "min",
    "toint",
    "floor",
    "main",
    "error",
    "step",
    "stopped",
    "running",
    "READ",
    "WRITE",
    "CONST",
    "typeof",
    "time",
    "fun",
    "clock",
    "noncontinuous",
    "URGENT",
    "PARSYNTH",
    "ITYPE",
    "always",
    "eventually",
    "never",
    "until",
    "before",
    "within",
    "abort",
    "and",
    "or",
    "not",
    "forall",
    "release",
    "whilenot",
    "next_event",
    "next_a",
    "next_e",
    "prev",
    "rose",
    "fell",
    "weakuntil",
    "property",
    "assert",
    "inf",
    "rep",
];

/// The program in SMV.
///
/// # Errors
/// Everything that prevents it.
pub fn text(model: &Model, source: &SourceFile) -> Result<String, Vec<ExportRefusal>> {
    let flat = Flat::of(model)?;
    let mut names = NameTable::new(RESERVED);
    let layout = TextNames::new(model, &flat, &mut names);
    let elements = flat.vars.entries().map(|(id, var)| match &var.elements()[..] {
        [only] if only.is_empty() => vec![layout.var(id).to_string()],
        several => {
            let suffix = |index: &Vec<usize>| index.iter().map(|at| format!("_{at}")).collect::<String>();
            several.iter().map(|index| names.fresh(&format!("{}{}", layout.var(id), suffix(index)))).collect()
        }
    });
    let elements = elements.collect();
    let still = model
        .processes
        .ids()
        .map(|process| names.fresh(&format!("{}_stands_still", layout.processes[process.index()])));
    let still: Vec<String> = still.collect();
    let step_name = |at: usize, names: &mut NameTable| {
        let mover = &flat.steps[at].movers[0];
        let node = layout.node(mover.process, mover.source);
        let family = &model.families[model.processes[mover.process].family].name;
        let short = node.strip_prefix(&format!("{}_", crate::names::identifier(family))).unwrap_or(node);
        names.fresh(&format!("{}_{short}_{}", layout.processes[mover.process.index()], at + 1))
    };
    let steps: Vec<String> = (0..flat.steps.len()).map(|at| step_name(at, &mut names)).collect();
    let faults: Vec<String> = (0..flat.faults.len()).map(|at| names.fresh(&format!("fails_{}", at + 1))).collect();
    let mut problems = bit_operators(model, &flat);
    let mut questions = Questions { model, flat: &flat, problems: Vec::new() };
    let mut writer =
        SmvWriter { model, source, flat: &flat, layout: &layout, elements, still, steps, faults, out: String::new() };
    let specs = spec::specifications(&writer, &mut questions, &mut names);
    problems.append(&mut questions.problems);
    if !problems.is_empty() {
        problems.sort();
        problems.dedup();
        return Err(problems);
    }
    writer.header();
    writer.variables(&specs);
    writer.enabled();
    writer.changes();
    writer.out += &specs.text;
    Ok(writer.out)
}

/// Operators on bits, which integers of SMV do not have.
fn bit_operators(model: &Model, flat: &Flat) -> Vec<ExportRefusal> {
    let mut found = Vec::new();
    let mut look = |term: &Term, span| {
        term.visit(&mut |part| {
            if let TermKind::Binary(crate::term::TermOp::Machine(op), _, right) = part.kind()
                && !matches!(op, model::machine::MachineOp::Quotient | model::machine::MachineOp::Rest)
                && expression::cut_to(*op, right).is_none()
            {
                found.push(ExportRefusal::new(
                    span,
                    format!("`{}` works on bits, which integers of SMV do not have", op.symbol()),
                ));
            }
        });
    };
    for step in &flat.steps {
        let span = model.statements[model.actions[step.movers[0].action].statement].span;
        look(&step.guard, span);
        for update in &step.updates {
            look(&update.value, span);
            update.index.iter().for_each(|index| look(index, span));
        }
    }
    for fault in &flat.faults {
        look(&fault.condition, model.statements[model.actions[fault.movers[0].action].statement].span);
    }
    found
}

struct SmvWriter<'m> {
    model: &'m Model,
    source: &'m SourceFile,
    flat: &'m Flat,
    layout: &'m TextNames,
    /// The name of each element of each variable, in layout order.
    elements: Vec<Vec<String>>,
    /// The values of `step`: stutters, steps, faults.
    still: Vec<String>,
    steps: Vec<String>,
    faults: Vec<String>,
    out: String,
}

macro_rules! put {
    ($out:expr, $($words:tt)*) => {
        let _ = writeln!($out, $($words)*);
    };
}

impl SmvWriter<'_> {
    fn header(&mut self) {
        put!(self.out, "-- {}", one_line(&layout::title(self.model)));
        put!(self.out, "-- made from {} by piecewise export --to smv", one_line(self.source.name()));
        put!(self.out, "--");
        put!(
            self.out,
            "-- `step` is the step that is taken next; a process that cannot move, or need not, stands still."
        );
        put!(self.out, "-- To check every property:           NuSMV model.smv");
        put!(self.out, "-- To check one of them:              NuSMV -int model.smv, then go; check_property -P NAME");
        put!(self.out, "MODULE main");
    }

    fn variables(&mut self, specs: &spec::Specifications) {
        put!(self.out, "VAR");
        for (id, var) in self.flat.vars.entries() {
            let ty = match var.ty {
                ScalarType::Bool => "boolean".to_string(),
                _ => format!("{}..{}", var.bounds.0, var.bounds.1),
            };
            let words = format!("-- line {}: {}", layout::line(self.source, var.span), one_line(&var.display));
            for element in &self.elements[id.index()] {
                put!(self.out, "  {element} : {ty}; {words}");
            }
        }
        for process in self.model.processes.ids() {
            let control = self.layout.control(process);
            let words = format!("-- where {} stands", one_line(&self.model.processes[process].name));
            put!(self.out, "  {control} : {{{}}}; {words}", self.layout.nodes[process.index()].join(", "));
        }
        let mut values = [self.steps.clone(), self.still.clone()].concat();
        if self.flat.can_fail() {
            put!(self.out, "  error : boolean;");
            values.extend(self.faults.clone());
            values.push("stopped".to_string());
        }
        put!(self.out, "  step : {{{}}};", values.join(", "));
        self.out += &specs.variables;
        let mut defined = String::new();
        for (id, _) in self.model.enums.entries() {
            for (at, word) in self.layout.words[id.index()].iter().enumerate() {
                put!(defined, "  {word} := {at};");
            }
        }
        put!(defined, "  {} := {};", self.layout.none, self.model.processes.len());
        put!(self.out, "DEFINE");
        self.out += &defined;
        self.starts();
    }

    fn starts(&mut self) {
        put!(self.out, "INIT");
        let mut starts = Vec::new();
        for (id, var) in self.flat.vars.entries() {
            for (element, start) in self.elements[id.index()].iter().zip(&var.init) {
                match (var.ty, start) {
                    (ScalarType::Bool, Some(1)) => starts.push(element.clone()),
                    (ScalarType::Bool, Some(_)) => starts.push(format!("!{element}")),
                    (ty, Some(number)) => {
                        starts.push(format!("{element} = {}", self.layout.constant(*number, Some(ty))))
                    }
                    (_, None) => {}
                }
            }
        }
        for process in self.model.processes.ids() {
            let entry = self.layout.node(process, self.flat.entries[process.index()]);
            starts.push(format!("{} = {entry}", self.layout.control(process)));
        }
        if self.flat.can_fail() {
            starts.push("!error".to_string());
        }
        put!(self.out, "  {};", starts.join("\n  & "));
    }

    /// Which values `step` can have in a state.
    fn enabled(&mut self) {
        put!(self.out, "-- when each step can be taken");
        let at_sources = |movers: &[flat::StepPart]| {
            Term::all(movers.iter().map(|mover| Term::at(mover.process, vec![mover.source])))
        };
        for (name, step) in self.steps.iter().zip(&self.flat.steps) {
            let guard = self.print(&at_sources(&step.movers).and(&step.guard));
            put!(self.out, "-- {}", step_words(self.model, self.source, &step.movers));
            put!(self.out, "INVAR step = {name} -> {guard};");
        }
        for (name, fault) in self.faults.iter().zip(&self.flat.faults) {
            let guard = self.print(&at_sources(&fault.movers).and(&fault.condition));
            put!(self.out, "-- {}: fails", step_words(self.model, self.source, &fault.movers));
            put!(self.out, "INVAR step = {name} -> {guard};");
        }
        for process in self.model.processes.ids() {
            let still = self.print(&flat::may_stutter(self.flat, process));
            put!(self.out, "INVAR step = {} -> {still};", self.still[process.index()]);
        }
        if self.flat.can_fail() {
            put!(self.out, "INVAR error <-> step = stopped;");
        }
    }

    /// What each variable becomes.
    fn changes(&mut self) {
        put!(self.out, "-- what each step changes");
        for (id, var) in self.flat.vars.entries() {
            for (at, (element, index)) in self.elements[id.index()].clone().iter().zip(var.elements()).enumerate() {
                let mut cases = Vec::new();
                for (name, step) in self.steps.iter().zip(&self.flat.steps) {
                    for update in step.updates.iter().filter(|update| update.var == id) {
                        let when = Term::all(
                            update.index.iter().zip(&index).map(|(term, &at)| term.equal(&Term::number(at as i64))),
                        );
                        if !when.is(false) {
                            let and = if when.is(true) { String::new() } else { format!(" & {}", self.print(&when)) };
                            let value = self.print_as(&update.value, Some(var.ty));
                            cases.push(format!("step = {name}{and} : {value};"));
                        }
                    }
                }
                let _ = at;
                self.change(element, &cases, var.ty == ScalarType::Bool);
            }
        }
        for process in self.model.processes.ids() {
            let mut cases = Vec::new();
            for (name, step) in self.steps.iter().zip(&self.flat.steps) {
                for mover in step.movers.iter().filter(|mover| mover.process == process && mover.source != mover.target)
                {
                    cases.push(format!("step = {name} : {};", self.layout.node(process, mover.target)));
                }
            }
            self.change(self.layout.control(process), &cases, false);
        }
        if self.flat.can_fail() {
            let fails =
                format!("step in {{{}}}", [self.faults.clone(), vec!["stopped".to_string()]].concat().join(", "));
            put!(self.out, "TRANS next(error) <-> {fails};");
        }
    }

    fn change(&mut self, name: &str, cases: &[String], is_truth: bool) {
        let same = if is_truth { "<->" } else { "=" };
        if cases.is_empty() {
            put!(self.out, "TRANS next({name}) {same} {name};");
            return;
        }
        put!(self.out, "TRANS next({name}) {same} case");
        for case in cases {
            put!(self.out, "    {case}");
        }
        put!(self.out, "    TRUE : {name};");
        put!(self.out, "  esac;");
    }

    /// The processes whose stutters `step` can be.
    fn stutters(&self, processes: impl Iterator<Item = ProcessId>) -> Vec<String> {
        processes.map(|process| self.still[process.index()].clone()).collect()
    }
}
