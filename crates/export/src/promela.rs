//! Promela, for SPIN.
//!
//! In: a Model. Out: a text in which each process is a loop over its steps, each a `d_step` with its guard first, and each property is an
//! `ltl` formula or a `never` claim, with the commands that check it. The control location of a process is a variable, so that states are those
//! of the Model, one for one, and a claim can speak of everything. A step that fails sets `error` and stops everything; a claim about
//! runs leaves such runs out. Without a definition only real steps are there; `RUNS` adds turns in which a process
//! stutters, `TURNS` also records which process was scheduled, for claims about fairness, and `REAL` lets the last state go on where no process is enabled.
//!
//! `expression.rs` prints terms, `sequence.rs` puts simultaneous updates in an order, `claim.rs` makes claims, `fairness.rs` and
//! `never.rs` those that need more than SPIN's own translation.

mod claim;
mod expression;
mod fairness;
mod never;
pub(crate) mod sequence;

use std::fmt::Write;

use base::SourceFile;
use model::Model;
use model::process::ProcessId;
use model::types::ScalarType;

use crate::ExportRefusal;
use crate::flat::{self, Flat, FlatStep, FlatVar, StepPart};
use crate::layout::{self, TextNames, one_line, step_words};
use crate::names::NameTable;
use crate::question::Questions;
pub use claim::{SpinClaim, TurnsAllowed};
pub(crate) use expression::type_of;
use fairness::TurnKinds;
use sequence::Assignment;

/// A variable that starts with one of more values than this counts up to it.
const MOST_WAYS: u128 = 256;

/// Words of Promela, of C, and of the C that SPIN writes.
const RESERVED: &[&str] = &[
    "active",
    "assert",
    "atomic",
    "bit",
    "bool",
    "break",
    "byte",
    "c_code",
    "c_decl",
    "c_expr",
    "c_state",
    "c_track",
    "chan",
    "d_step",
    "do",
    "D_proctype",
    "else",
    "empty",
    "enabled",
    "eval",
    "false",
    "fi",
    "for",
    "full",
    "get_priority",
    "goto",
    "hidden",
    "if",
    "in",
    "init",
    "inline",
    "int",
    "len",
    "local",
    "ltl",
    "mtype",
    "nempty",
    "never",
    "nfull",
    "notrace",
    "np_",
    "od",
    "of",
    "pc_value",
    "pid",
    "print",
    "printf",
    "printm",
    "priority",
    "proctype",
    "provided",
    "return",
    "run",
    "select",
    "set_priority",
    "short",
    "show",
    "skip",
    "timeout",
    "trace",
    "true",
    "typedef",
    "unless",
    "unsigned",
    "xr",
    "xs",
    "always",
    "eventually",
    "next",
    "until",
    "stronguntil",
    "weakuntil",
    "release",
    "implies",
    "equivalent",
    "U",
    "V",
    "W",
    "X",
    "R",
    "F",
    "G",
    "auto",
    "case",
    "char",
    "const",
    "continue",
    "default",
    "double",
    "enum",
    "extern",
    "float",
    "long",
    "register",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "union",
    "void",
    "volatile",
    "while",
    "restrict",
    "asm",
    "typeof",
    "linux",
    "unix",
    "i386",
    "errno",
    "stdin",
    "stdout",
    "stderr",
    "final",
    "max",
    "min",
    "mix",
    "rand",
    "rot",
    "getframe",
    "q_sz",
    "wasnew",
    "uchar",
    "ushort",
    "uint",
    "ulong",
    "now",
    "bool_",
    "Addproc",
    "Air0",
    "Air1",
    "Air2",
    "Air3",
    "Air4",
    "IfNotBlocked",
    "Max",
    "Offsetof",
    "PanSource",
    "SpinVersion",
    "StackSize",
    "TargetQ_Full",
    "TargetQ_NotFull",
    "UnBlock",
    "G_int",
    "G_long",
    "P__Q",
    "iam_alive",
    "onstack_put",
    "onstack_zap",
    "pthread_equal",
    "tr_2_src",
    "index",
    "last",
    "stack",
    "none_",
    "error",
    "started",
    "start_anywhere",
    "taken",
    "RUNS",
    "TURNS",
    "REAL",
];

/// A program in Promela.
#[derive(Clone, Debug)]
pub struct PromelaProgram {
    /// The text.
    pub text: String,
    /// What it claims, in the order of the properties.
    pub claims: Vec<SpinClaim>,
}

/// The program in Promela.
///
/// # Errors
/// Everything that prevents it.
pub fn program(model: &Model, source: &SourceFile) -> Result<PromelaProgram, Vec<ExportRefusal>> {
    let flat = Flat::of(model)?;
    let mut names = NameTable::new(RESERVED).avoiding_capitals();
    let layout = TextNames::new(model, &flat, &mut names);
    let mut questions = Questions { model, flat: &flat, problems: Vec::new() };
    let turns = TurnKinds::of(model, &flat, &mut questions);
    let mut writer = PromelaWriter {
        model,
        source,
        flat: &flat,
        layout: &layout,
        turns: &turns,
        out: String::new(),
        runs: Vec::new(),
        n_temporaries: 0,
    };
    let mut claims = Vec::new();
    for property in model.properties.iter() {
        claims.extend(claim::claims(&writer, &mut questions, &mut names, property));
    }
    let Questions { mut problems, .. } = questions;
    if !problems.is_empty() {
        problems.sort();
        problems.dedup();
        return Err(problems);
    }
    writer.runs = claims.iter().map(|claim| claim.runs).collect();
    writer.header(&claims);
    writer.declarations();
    let declarations = std::mem::take(&mut writer.out);
    writer.processes();
    writer.claims(&claims);
    let body = std::mem::take(&mut writer.out);
    let hidden: String = (0..writer.n_temporaries).map(|at| format!("hidden int temporary_{at};\n")).collect();
    Ok(PromelaProgram { text: format!("{declarations}{hidden}\n{body}"), claims })
}

/// Writes the text.
/// What `pan -f` has to be compiled with for so many processes, if anything: it has room for six, the one that starts them and the claim among them, and for four more with each number.
fn many_fair(n_processes: usize) -> String {
    match (n_processes + 4).div_ceil(4) {
        0..=2 => String::new(),
        fours => format!(" -DNFAIR={fours}"),
    }
}

struct PromelaWriter<'m> {
    model: &'m Model,
    source: &'m SourceFile,
    flat: &'m Flat,
    layout: &'m TextNames,
    turns: &'m TurnKinds,
    out: String,
    /// What the claims need.
    runs: Vec<TurnsAllowed>,
    /// How many temporary variables simultaneous updates need.
    n_temporaries: usize,
}

/// Writes a line; writing to a string does not fail.
macro_rules! put {
    ($out:expr, $($words:tt)*) => {
        let _ = writeln!($out, $($words)*);
    };
}

impl PromelaWriter<'_> {
    fn header(&mut self, claims: &[SpinClaim]) {
        put!(self.out, "/* {}", one_line(&layout::title(self.model)));
        put!(self.out, " * made from {} by piecewise export --to promela", one_line(self.source.name()));
        put!(self.out, " *");
        put!(
            self.out,
            " * Each step of the program is one d_step. A step that fails sets `error`, and nothing happens afterwards."
        );
        put!(self.out, " * To check a property with SPIN, this text being model.pml (`errors: 0`, without");
        put!(self.out, " * `Search not completed`, means that the claim holds):");
        for claim in claims {
            put!(self.out, " *");
            put!(self.out, " *   {}", claim.title);
            let fair = if claim.weakly_fair { many_fair(self.model.processes.len()) } else { String::new() };
            put!(self.out, " *     spin {}-a model.pml && gcc -O2 -DNOREDUCE{fair} -o pan pan.c", claim.defines());
            put!(self.out, " *     ./pan -a {}-m1000000 -N {}", if claim.weakly_fair { "-f " } else { "" }, claim.name);
        }
        put!(self.out, " */");
        put!(self.out, "");
    }

    fn declarations(&mut self) {
        for (id, words) in self.model.enums.entries() {
            put!(self.out, "/* line {}: enum {} */", layout::line(self.source, words.span), one_line(&words.name));
            for (at, word) in self.layout.words[id.index()].iter().enumerate() {
                put!(self.out, "#define {word} {at}");
            }
        }
        if self.flat.vars.iter().any(|var| matches!(var.ty, ScalarType::PidOrNone(_) | ScalarType::Lock)) {
            put!(self.out, "#define {} {}", self.layout.none, self.model.processes.len());
        }
        for (id, var) in self.flat.vars.entries() {
            self.variable(self.layout.var(id), var);
        }
        for process in self.model.processes.ids() {
            self.control(process);
        }
        if self.flat.can_fail() {
            put!(self.out, "bool error = false;");
        }
        if self.flat.starts_anywhere() {
            put!(self.out, "bool started = false;");
        }
        if self.runs.contains(&TurnsAllowed::Turns) {
            put!(self.out, "#ifdef TURNS");
            put!(self.out, "byte taken = 0; /* the kind of the last turn */");
            put!(self.out, "#define TAKEN(kind) ; taken = kind");
            put!(self.out, "#else");
            put!(self.out, "#define TAKEN(kind)");
            put!(self.out, "#endif");
        }
    }

    fn variable(&mut self, name: &str, var: &FlatVar) {
        let ty = match (var.ty, var.bounds) {
            (ScalarType::Bool, _) => "bool",
            (_, (lo, hi)) if lo >= 0 && hi <= 255 => "byte",
            (_, (lo, hi)) if lo >= i64::from(i16::MIN) && hi <= i64::from(i16::MAX) => "short",
            _ => "int",
        };
        let words = format!("/* line {}: {} */", layout::line(self.source, var.span), one_line(&var.display));
        let constant = |at: usize| match (var.ty, var.init[at]) {
            (ScalarType::Bool, start) => (start == Some(1)).to_string(),
            (ty, start) => self.layout.constant(start.unwrap_or(var.bounds.0), Some(ty)),
        };
        if var.dimensions.is_empty() {
            put!(self.out, "{ty} {name} = {}; {words}", constant(0));
            return;
        }
        let n_elements: usize = var.dimensions.iter().product();
        let values: Vec<String> = (0..n_elements).map(constant).collect();
        let list = if values.iter().all(|value| *value == values[0]) {
            values[0].clone()
        } else {
            format!("{{ {} }}", values.join(", "))
        };
        put!(self.out, "{ty} {name}[{n_elements}] = {list}; {words}");
    }

    fn control(&mut self, process: ProcessId) {
        let nodes = &self.layout.nodes[process.index()];
        put!(self.out, "");
        if !self.layout.shares_nodes[process.index()] {
            put!(self.out, "/* where {} can stand */", one_line(&self.model.processes[process].name));
            for (at, node) in nodes.iter().enumerate() {
                put!(self.out, "#define {node} {at}");
            }
        }
        let ty = if nodes.len() <= 256 { "byte" } else { "short" };
        let entry = &nodes[self.flat.entries[process.index()].index()];
        put!(self.out, "{ty} {} = {entry};", self.layout.control(process));
    }

    fn processes(&mut self) {
        if self.flat.starts_anywhere() {
            self.start();
        }
        let mut conditions = Vec::new();
        if self.flat.starts_anywhere() {
            conditions.push("started");
        }
        if self.flat.can_fail() {
            conditions.push("!error");
        }
        let provided =
            if conditions.is_empty() { String::new() } else { format!(" provided ({})", conditions.join(" && ")) };
        for (process, declared) in self.model.processes.entries() {
            let family = &self.model.families[declared.family];
            let name = &self.layout.processes[process.index()];
            put!(
                self.out,
                "/* line {}: process {} */",
                layout::line(self.source, family.span),
                one_line(&declared.name)
            );
            put!(self.out, "active proctype {name}(){provided} {{");
            put!(self.out, "  do");
            let before = self.out.len();
            for step_idx in 0..self.flat.steps.len() {
                if self.flat.steps[step_idx].movers[0].process == process {
                    self.step(step_idx);
                }
            }
            self.faults(process);
            if self.out.len() == before {
                // It has nothing to do, and SPIN reads no empty loops.
                put!(self.out, "  :: false");
            }
            self.stutter(process);
            put!(self.out, "  od");
            put!(self.out, "}}");
            put!(self.out, "");
        }
    }

    /// Variables that start anywhere get their values in one atomic sequence, before anything else happens.
    fn start(&mut self) {
        put!(self.out, "/* variables that start anywhere */");
        put!(self.out, "active proctype start_anywhere() {{");
        put!(self.out, "  atomic {{");
        for (id, var) in self.flat.vars.entries() {
            for (offset, start) in var.init.iter().enumerate() {
                if start.is_none() {
                    let index = if var.dimensions.is_empty() { String::new() } else { format!("[{offset}]") };
                    let target = format!("{}{index}", self.layout.var(id));
                    if let ScalarType::Range { lo, hi } = var.ty
                        && var.ty.n_values(self.model.type_context()) > MOST_WAYS
                    {
                        let [lo, hi] = [lo, hi].map(|end| self.layout.constant(end, Some(var.ty)));
                        put!(self.out, "    {target} = {lo}; do :: {target} < {hi} -> {target}++ :: break od;");
                        continue;
                    }
                    let values = var.ty.values(self.model.type_context()).map(|value| {
                        let number = flat::number_of(self.model, value);
                        match var.ty {
                            ScalarType::Bool => (number != 0).to_string(),
                            ty => self.layout.constant(number, Some(ty)),
                        }
                    });
                    let ways: Vec<String> = values.map(|value| format!(":: {target} = {value}")).collect();
                    put!(self.out, "    if {} fi;", ways.join(" "));
                }
            }
        }
        put!(self.out, "    started = true");
        put!(self.out, "  }};");
        put!(self.out, "  false");
        put!(self.out, "}}");
        put!(self.out, "");
    }

    fn step(&mut self, step_idx: usize) {
        let step: &FlatStep = &self.flat.steps[step_idx];
        let assignments = sequence::in_order(self.flat, &step.updates);
        let mut does: Vec<String> = Vec::new();
        let mut used: Vec<usize> = Vec::new();
        for assignment in &assignments {
            does.push(match assignment {
                Assignment::Keep(number, value) => {
                    self.n_temporaries = self.n_temporaries.max(number + 1);
                    used.push(*number);
                    format!("temporary_{number} = {}", self.print(value))
                }
                Assignment::Store(update) => {
                    let ty = self.flat.vars[update.var].ty;
                    format!("{} = {}", self.element(update.var, &update.index), self.print_as(&update.value, Some(ty)))
                }
                Assignment::Restore(update, value, index) => {
                    let index = index.iter().map(|index| match index {
                        Ok(constant) => self.print(constant),
                        Err(number) => format!("temporary_{number}"),
                    });
                    let index = self.flat_index(update.var, &index.collect::<Vec<_>>());
                    format!("{}{index} = temporary_{value}", self.layout.var(update.var))
                }
            });
        }
        // They are no part of a state, also for tools that do not know `hidden`.
        does.extend(used.iter().map(|number| format!("temporary_{number} = 0")));
        for mover in &step.movers {
            if mover.source != mover.target {
                let node = self.layout.node(mover.process, mover.target);
                does.push(format!("{} = {node}", self.layout.control(mover.process)));
            }
        }
        if does.is_empty() {
            does.push("skip".to_string());
        }
        put!(self.out, "  /* {} */", step_words(self.model, self.source, &step.movers));
        let guard = self.guarded(&step.movers, &self.print_tight(&step.guard), step.guard.is(true));
        let kind = self.taken(self.turns.of_step(step_idx));
        put!(self.out, "  :: d_step {{ {guard} -> {}{kind} }}", does.join("; "));
    }

    /// Records the kind of a turn, where some claim depends on it.
    fn taken(&self, kind: usize) -> String {
        if self.runs.contains(&TurnsAllowed::Turns) { format!(" TAKEN({kind})") } else { String::new() }
    }

    fn guarded(&self, movers: &[StepPart], guard: &str, is_true: bool) -> String {
        let at_sources = movers.iter().map(|mover| {
            format!("{} == {}", self.layout.control(mover.process), self.layout.node(mover.process, mover.source))
        });
        let mut parts: Vec<String> = at_sources.collect();
        if !is_true {
            parts.push(guard.to_string());
        }
        parts.join(" && ")
    }

    fn faults(&mut self, process: ProcessId) {
        for fault in self.flat.faults.iter().filter(|fault| fault.movers[0].process == process) {
            let words = step_words(self.model, self.source, &fault.movers);
            put!(self.out, "  /* {words}: fails */");
            let condition = self.print_tight(&fault.condition);
            let guard = self.guarded(&fault.movers, &condition, fault.condition.is(true));
            put!(self.out, "  :: d_step {{ {guard} -> error = true }}");
        }
    }

    fn stutter(&mut self, process: ProcessId) {
        let still = flat::may_stutter(self.flat, process);
        let has_stutters = self.runs.iter().any(|runs| matches!(runs, TurnsAllowed::Stutters | TurnsAllowed::Turns));
        if has_stutters && !still.is(false) {
            put!(self.out, "#ifdef RUNS");
            put!(self.out, "  /* stands still */");
            let kind = self.taken(self.turns.of_stutter(process));
            put!(self.out, "  :: d_step {{ {} -> skip{kind} }}", self.print(&still));
            put!(self.out, "#endif");
        }
        if process.index() == 0 && self.runs.contains(&TurnsAllowed::Real) {
            let is_blocked = |process: ProcessId| flat::takes_part(self.flat, process, |_| true).negation();
            let none_enabled = crate::term::Term::all(self.model.processes.ids().map(is_blocked));
            if !none_enabled.is(false) {
                put!(self.out, "#ifdef REAL");
                put!(self.out, "  /* nobody can move: the last state goes on */");
                put!(self.out, "  :: d_step {{ {} -> skip }}", self.print(&none_enabled));
                put!(self.out, "#endif");
            }
        }
    }

    fn claims(&mut self, claims: &[SpinClaim]) {
        for claim in claims {
            for define in claim.needs() {
                put!(self.out, "#ifdef {define}");
            }
            put!(self.out, "/* {} */", claim.title);
            put!(self.out, "{}", claim.text);
            for _ in claim.needs() {
                put!(self.out, "#endif");
            }
            put!(self.out, "");
        }
    }
}
