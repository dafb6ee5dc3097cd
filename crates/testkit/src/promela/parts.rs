//! The parts of random Promela programs: processes, statements, expressions.

use super::declared::{Buffer, CHANNELS, DeclaredChannel, LOCALS, MessageField, VARIABLES};
use super::{Promela, PromelaProcess, PromelaQuestion, PromelaStatement};
use crate::choices::Choices;

/// What is around a statement.
#[derive(Clone, Copy, Default)]
struct StatementContext {
    depth: usize,
    in_loop: bool,
    in_d_step: bool,
    /// Whether the statement is first in an option.
    is_head: bool,
}

/// A program under construction.
pub(super) struct PromelaMaker<'c> {
    pub(super) choices: &'c mut Choices,
    numbers: Vec<String>,
    /// Those of fewer than eight bits, of eight, and of more: what is received must fit, since SPIN puts back what was stored.
    narrow: Vec<String>,
    roomy: Vec<String>,
    pub(super) locals: Vec<String>,
    /// The channels that the process at hand may name; the shared ones come first.
    pub(super) channels: Vec<DeclaredChannel>,
    pub(super) n_shared_channels: usize,
    /// Whether there is a variable `m` of type `mtype`.
    pub(super) has_name: bool,
    /// The labels in blocks of the process at hand, and those that are jumped to.
    inner_labels: Vec<String>,
    jumps: Vec<String>,
    /// The proctype at hand, and the first pid of its processes, where it is known.
    process: String,
    first_pid: Option<usize>,
    /// A proctype that `run` may start, with its parameter.
    can_run: bool,
    /// Whether `run` was used.
    runs: bool,
    has_inline: bool,
    /// Names that are declared and that some statements need: `pp`, `a`, `tp`.
    declared: Vec<&'static str>,
    /// Whether the worker takes a channel, too.
    passes_channel: bool,
    /// Places that a claim may ask for.
    pub(super) watched: Vec<String>,
    /// Variables of processes that a claim may ask for.
    pub(super) kept: Vec<String>,
    progress: bool,
    accept: bool,
    n_left: usize,
}

impl PromelaMaker<'_> {
    pub(super) fn new(choices: &mut Choices) -> PromelaMaker<'_> {
        PromelaMaker {
            choices,
            numbers: Vec::new(),
            narrow: Vec::new(),
            roomy: vec!["ms.h".into(), "mt.h".into()],
            locals: Vec::new(),
            channels: Vec::new(),
            n_shared_channels: 0,
            has_name: false,
            inner_labels: Vec::new(),
            jumps: Vec::new(),
            process: String::new(),
            first_pid: None,
            can_run: false,
            runs: false,
            has_inline: false,
            declared: Vec::new(),
            passes_channel: false,
            watched: Vec::new(),
            kept: Vec::new(),
            progress: false,
            accept: false,
            n_left: 0,
        }
    }

    pub(super) fn program(mut self) -> Promela {
        let mut globals = vec!["mtype = { A, B, C };".to_owned(), "byte x0;".to_owned()];
        self.numbers.push("x0".into());
        globals.push("#define LESS(e, k) ((e) < k)".into());
        for _ in 0..1 + self.choices.below(3) {
            let (declared, names) = *self.choices.pick(VARIABLES);
            self.declare(&mut globals, declared, names);
        }
        for _ in 0..self.choices.below(4) {
            let channels = *self.choices.pick(CHANNELS);
            if !globals.iter().any(|line| line == channels.declared) {
                if !channels.needs.is_empty() {
                    self.declare(&mut globals, channels.needs, &["ms.g", "mt.h"]);
                }
                globals.push(channels.declared.into());
                self.channels.extend(channels.each());
                self.declared.push(channels.names[0]);
            }
        }
        self.n_shared_channels = self.channels.len();
        if self.choices.chance(15) {
            globals.push("inline twice(e, k) { e = e + k; if :: e == 3 -> e = 0 :: else fi; x0 = k }".into());
            globals.push("inline both(e) { byte h = 2; twice(h, 1); e = h }".into());
            self.has_inline = true;
        }
        let question = self.choices.below(10);
        self.progress = question == 8;
        self.accept = question == 9;
        let processes = self.processes();
        let asked = match question {
            0 => None,
            1..=6 => Some(PromelaQuestion::Ltl(self.formula())),
            7 => Some(PromelaQuestion::Never(self.never())),
            8 => Some(PromelaQuestion::Progress),
            _ => Some(PromelaQuestion::Acceptance),
        };
        Promela { globals, processes, asked }
    }

    fn processes(&mut self) -> Vec<PromelaProcess> {
        let mut processes = Vec::new();
        self.can_run = self.choices.chance(30);
        let init_first = self.can_run && self.choices.chance(50);
        self.passes_channel = self.can_run && self.choices.chance(40) && self.simple_channel(false).is_some();
        let mut n_pids = usize::from(init_first);
        let n_processes = 1 + self.choices.below(3);
        for at in 0..n_processes {
            self.process = format!("P{at}");
            self.first_pid = Some(n_pids);
            let head = self.head();
            n_pids += if head.contains("[2]") { 2 } else { 1 };
            processes.push(self.process(head));
        }
        if self.can_run {
            let body = self.init();
            let init = PromelaProcess { head: "init".into(), body };
            let at = if init_first { 0 } else { processes.len() };
            processes.insert(at, init);
            self.process = "Worker".into();
            self.first_pid = None;
            self.locals = vec!["e".into()];
            let head = if self.passes_channel {
                self.channels.push(DeclaredChannel {
                    name: "c".into(),
                    fields: &[MessageField::Number],
                    buffer: Buffer::Either,
                });
                "proctype Worker(byte e; chan c)"
            } else {
                "proctype Worker(byte e)"
            };
            processes.push(self.process(head.into()));
        }
        processes
    }

    fn declare(&mut self, globals: &mut Vec<String>, declared: &str, names: &[&str]) {
        if !globals.iter().any(|line| line == declared) {
            globals.push(declared.to_owned());
            self.numbers.extend(names.iter().map(|name| (*name).to_owned()));
            self.note_width(declared, names);
            self.has_name |= declared.starts_with("mtype m ");
            let needed = [("pid pp;", "pp"), ("byte a[2];", "a")];
            self.declared.extend(needed.iter().filter(|(line, _)| *line == declared).map(|(_, name)| name));
        }
    }

    /// Notes which of the names have few bits, and which have many.
    fn note_width(&mut self, declared: &str, names: &[&str]) {
        let begins = |words: &[&str]| words.iter().any(|word| declared.starts_with(word));
        let list = match declared {
            _ if begins(&["bit b;", "bit e1", "bool", "local bool", "unsigned"]) => &mut self.narrow,
            _ if begins(&["short", "int"]) => &mut self.roomy,
            _ => return,
        };
        list.extend(names.iter().map(|name| (*name).to_owned()));
    }

    /// A variable for what is received, of so many bits; none where there is no such variable.
    pub(super) fn room(&mut self, n_bits: usize) -> String {
        let target = self.target();
        let is_narrow = self.narrow.contains(&target) && n_bits > 1;
        if is_narrow || n_bits > 8 && !self.roomy.contains(&target) { "_".into() } else { target }
    }

    fn head(&mut self) -> String {
        let many = if self.choices.chance(25) { " [2]" } else { "" };
        let provided =
            if self.choices.chance(4) { format!(" provided ({})", self.shared_test()) } else { String::new() };
        format!("active{many} proctype {}(){provided}", self.process)
    }

    /// A `run` of the worker.
    fn start(&mut self) -> String {
        let number = self.choices.below(3);
        match self.simple_channel(false) {
            Some(channel) if self.passes_channel => format!("run Worker({number}, {channel})"),
            _ => format!("run Worker({number})"),
        }
    }

    fn init(&mut self) -> Vec<PromelaStatement> {
        self.locals.clear();
        self.jumps.clear();
        let mut body = Vec::new();
        if self.choices.chance(20) {
            body.push(self.simple());
        }
        let runs: Vec<PromelaStatement> =
            (0..1 + self.choices.below(2)).map(|_| PromelaStatement::Line(self.start())).collect();
        match self.choices.below(3) {
            0 => body.push(PromelaStatement::Block { head: "atomic".into(), body: runs, escape: None }),
            1 => body.extend(runs),
            _ => {
                let mut inner = runs;
                let last = self.simple();
                inner.push(last);
                body.push(PromelaStatement::Block { head: "atomic".into(), body: inner, escape: None });
            }
        }
        if self.choices.chance(30) {
            body.push(PromelaStatement::Line("(_nr_pr == 1)".into()));
        }
        if self.choices.chance(40) {
            let last = self.simple();
            body.push(last);
        }
        body
    }

    fn process(&mut self, head: String) -> PromelaProcess {
        let parameters: Vec<String> = self.locals.drain(..).collect();
        self.jumps.clear();
        self.inner_labels.clear();
        let mut body = self.declarations();
        self.locals.extend(parameters);
        self.n_left = 3 + self.choices.below(9);
        let n_statements = 1 + self.choices.below(4);
        for at in 0..n_statements {
            let label = self.label(at);
            let node = self.statement(StatementContext::default());
            let node = labelled(label.clone(), node);
            self.watch(&label, &node);
            body.push(node);
        }
        if self.choices.chance(50) {
            // Most processes go round.
            let inner = std::mem::take(&mut body);
            let (first, mut rest): (Vec<PromelaStatement>, Vec<PromelaStatement>) = inner
                .into_iter()
                .partition(|node| matches!(node, PromelaStatement::Line(line) if is_declaration(line)));
            // SPIN refuses a label at the head of an option.
            if rest.first().is_some_and(has_label) {
                rest.insert(0, PromelaStatement::Line("skip".into()));
            }
            body = first;
            body.push(PromelaStatement::Choice { label: String::new(), word: "do", options: vec![rest] });
        }
        // What is jumped to must exist.
        let used: Vec<String> = std::mem::take(&mut self.jumps);
        for label in used {
            if !mentions(&body, &format!("{label}:")) {
                body.push(PromelaStatement::Line(format!("{label}: skip")));
            }
        }
        self.locals.clear();
        self.channels.truncate(self.n_shared_channels);
        PromelaProcess { head, body }
    }

    /// The first statements of a process.
    fn declarations(&mut self) -> Vec<PromelaStatement> {
        let mut body = Vec::new();
        if self.choices.chance(50) {
            let (declared, names) = *self.choices.pick(LOCALS);
            body.push(PromelaStatement::Line(declared.trim_end_matches(';').into()));
            self.locals.extend(names.iter().map(|name| (*name).to_owned()));
            self.narrow.retain(|name| !name.starts_with('e'));
            self.roomy.retain(|name| !name.starts_with('e'));
            self.note_width(declared, names);
            if !names[0].contains('[') {
                self.kept.push(format!("{}:{}", self.process, names[0]));
            }
        }
        if self.choices.chance(12) {
            let (start, buffer) = match self.simple_channel(false) {
                Some(channel) => (channel, Buffer::Either),
                None => ("[1] of { byte }".to_owned(), Buffer::Some),
            };
            body.push(PromelaStatement::Line(format!("chan c1 = {start}")));
            self.channels.push(DeclaredChannel { name: "c1".into(), fields: &[MessageField::Number], buffer });
        }
        if self.n_shared_channels > 0 && self.choices.chance(5) {
            let name = self.channels[0].name.clone();
            if !name.contains('[') {
                body.push(PromelaStatement::Line(format!("{} {name}", self.choices.pick(&["xr", "xs"]))));
            }
        }
        body
    }

    fn label(&mut self, at: usize) -> String {
        if !self.choices.chance(25) {
            return String::new();
        }
        let role = match self.choices.below(5) {
            0 => "end",
            1 if self.progress => "progress",
            1 | 2 if self.accept => "accept",
            2 if self.progress => "progress",
            _ => "L",
        };
        let label = if role == "L" { format!("L{at}") } else { format!("{role}_{at}") };
        format!("{label}: ")
    }

    /// Lets claims read a label of the process at hand, where it is before the statement.
    fn watch(&mut self, label: &str, node: &PromelaStatement) {
        let Some(label) = label.strip_suffix(": ") else { return };
        if !mentions(std::slice::from_ref(node), &format!("{label}:")) {
            return;
        }
        self.watched.push(format!("{}@{label}", self.process));
        if let Some(pid) = self.first_pid {
            self.watched.push(format!("{}[{pid}]@{label}", self.process));
        }
    }

    fn body(&mut self, place: StatementContext, most: usize) -> Vec<PromelaStatement> {
        let n_statements = 1 + self.choices.below(most);
        let mut body = Vec::new();
        for at in 0..n_statements {
            let node = self.statement(StatementContext { is_head: place.is_head && at == 0, ..place });
            let may_have_label = !(place.in_d_step || place.is_head && at == 0);
            body.push(if may_have_label && self.choices.chance(6) {
                let name = format!("N{}", self.inner_labels.len());
                let label = format!("{name}: ");
                let node = labelled(label.clone(), node);
                self.watch(&label, &node);
                if mentions(std::slice::from_ref(&node), &label) {
                    self.inner_labels.push(name);
                }
                node
            } else {
                node
            });
        }
        body
    }

    fn statement(&mut self, place: StatementContext) -> PromelaStatement {
        self.n_left = self.n_left.saturating_sub(1);
        let deeper = StatementContext { depth: place.depth + 1, ..place };
        if self.n_left == 0 || place.depth > 3 {
            return self.simple();
        }
        match self.choices.below(24) {
            0..=5 => self.simple(),
            6 | 7 => PromelaStatement::Line(self.test(2)),
            8..=10 if !place.in_d_step => self.talk(),
            8 if !self.channels.is_empty() => self.buffered_talk(),
            11..=13 => self.choice("if", deeper),
            14 if !place.in_d_step => self.choice("do", deeper),
            14 => PromelaStatement::Line("do :: x0 < 2 -> x0++ :: else -> break od".into()),
            15 | 16 if !place.in_d_step => {
                let body = self.body(StatementContext { is_head: place.is_head, ..deeper }, 4);
                PromelaStatement::Block { head: "atomic".into(), body, escape: None }
            }
            17 if !place.in_d_step => {
                let inner = StatementContext { in_d_step: true, in_loop: false, is_head: false, ..deeper };
                let body = self.body(inner, 3);
                PromelaStatement::Block { head: "d_step".into(), body, escape: None }
            }
            18 if !place.in_d_step => self.rare(deeper),
            19 if place.in_loop => PromelaStatement::Line("break".into()),
            20 if !place.in_d_step => self.jump(),
            21 => PromelaStatement::Line(format!("assert({})", self.test(1))),
            22 if !place.in_d_step && !place.is_head => PromelaStatement::Line("timeout".into()),
            23 => PromelaStatement::Line("printf(\"%d\\n\", x0)".into()),
            _ => self.simple(),
        }
    }

    fn rare(&mut self, place: StatementContext) -> PromelaStatement {
        match self.choices.below(12) {
            0 => {
                let body = self.body(StatementContext { is_head: false, ..place }, 3);
                let escape = self.body(StatementContext { is_head: false, ..place }, 2);
                PromelaStatement::Block { head: String::new(), body, escape: Some(escape) }
            }
            1 => PromelaStatement::Line(format!("select (x0 : {} .. 2)", self.choices.below(2))),
            7 => {
                let target = self.target();
                PromelaStatement::Line(format!("select (x0 : 0 .. 1 + ({target} & 1))"))
            }
            8 if self.declared.contains(&"a") => {
                let body = self.body(StatementContext { is_head: false, ..place }, 2);
                PromelaStatement::Block { head: "for (x0 in a)".into(), body, escape: None }
            }
            9 if self.declared.contains(&"tp") => {
                let body = self.body(StatementContext { is_head: false, ..place }, 2);
                PromelaStatement::Block { head: "for (ms in tp)".into(), body, escape: None }
            }
            10 | 11 => match (self.simple_channel(true), self.simple_channel(false)) {
                (Some(variable), Some(channel)) => PromelaStatement::Line(format!("{variable} = {channel}")),
                _ => self.simple(),
            },
            2 => {
                let body = self.body(StatementContext { is_head: false, ..place }, 2);
                PromelaStatement::Block { head: "for (x0 : 0 .. 1)".into(), body, escape: None }
            }
            3 if self.has_inline => {
                let target = self.target();
                if self.choices.chance(30) {
                    PromelaStatement::Line(format!("both({target})"))
                } else {
                    PromelaStatement::Line(format!("twice({target}, {})", self.choices.below(3)))
                }
            }
            4 if self.can_run && !self.runs => {
                self.runs = true;
                let start = self.start();
                let is_kept = self.declared.contains(&"pp") && self.choices.chance(60);
                PromelaStatement::Line(if is_kept { format!("pp = {start}") } else { start })
            }
            5 => {
                let name = format!("d{}", self.n_left);
                self.locals.push(name.clone());
                PromelaStatement::Line(format!("byte {name} = {}", self.choices.below(3)))
            }
            _ => {
                let body = self.body(StatementContext { is_head: place.is_head, ..place }, 3);
                PromelaStatement::Block { head: String::new(), body, escape: None }
            }
        }
    }

    fn jump(&mut self) -> PromelaStatement {
        let n_inner = self.inner_labels.len();
        if n_inner > 0 && self.choices.chance(50) {
            return PromelaStatement::Line(format!("goto {}", self.inner_labels[self.choices.below(n_inner)]));
        }
        let at = self.choices.below(4);
        let label = format!("L{at}");
        self.jumps.push(label.clone());
        PromelaStatement::Line(format!("goto {label}"))
    }

    fn choice(&mut self, word: &'static str, place: StatementContext) -> PromelaStatement {
        let is_loop = word == "do";
        let inner = StatementContext { in_loop: place.in_loop || is_loop, is_head: true, ..place };
        let n_options = 1 + self.choices.below(3);
        let mut options: Vec<Vec<PromelaStatement>> = (0..n_options)
            .map(|_| {
                let mut body = Vec::new();
                if self.choices.chance(50) {
                    body.push(PromelaStatement::Line(self.test(1)));
                }
                let here = StatementContext { is_head: body.is_empty(), ..inner };
                body.extend(self.body(here, 2));
                body
            })
            .collect();
        if self.choices.chance(35) || (place.in_d_step && self.choices.chance(80)) {
            let mut body = vec![PromelaStatement::Line("else".into())];
            if is_loop && self.choices.chance(60) {
                body.push(PromelaStatement::Line("break".into()));
            } else if self.choices.chance(50) {
                body.push(self.simple());
            }
            options.push(body);
        } else if !place.in_d_step && self.choices.chance(12) {
            let simple = self.simple();
            options.push(vec![PromelaStatement::Line("timeout".into()), simple]);
        }
        PromelaStatement::Choice { label: String::new(), word, options }
    }

    /// An assignment or `skip`.
    pub(super) fn simple(&mut self) -> PromelaStatement {
        let target = self.target();
        PromelaStatement::Line(match self.choices.below(8) {
            0 => "skip".into(),
            1 | 2 => format!("{target} = {}", self.choices.below(3)),
            3 => format!("{target}++"),
            4 => format!("{target}--"),
            5 => format!("{target} = ({} + 1) % 3", self.operand()),
            _ => format!("{target} = {}", self.number(2)),
        })
    }

    pub(super) fn target(&mut self) -> String {
        let n_locals = self.locals.len();
        if n_locals > 0 && self.choices.chance(30) {
            return self.locals[self.choices.below(n_locals)].clone();
        }
        self.choices.pick(&self.numbers).clone()
    }

    fn operand(&mut self) -> String {
        match self.choices.below(12) {
            0..=2 => self.choices.below(4).to_string(),
            3 => (*self.choices.pick(&["255", "-1", "32767", "65536", "2147483647", "A", "B"])).into(),
            4 if !self.locals.is_empty() => "_pid".into(),
            5 if self.choices.chance(10) => "_nr_pr".into(),
            6 if !self.channels.is_empty() => {
                let channel = self.choices.pick(&self.channels).clone();
                if channel.buffer == Buffer::Some { format!("len({})", channel.name) } else { "1".into() }
            }
            _ => self.target(),
        }
    }

    pub(super) fn number(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.operand();
        }
        match self.choices.below(9) {
            0 | 1 => self.operand(),
            2 | 3 => {
                let op = *self.choices.pick(&["+", "-", "*", "&", "|", "^"]);
                format!("({} {op} {})", self.number(depth - 1), self.number(depth - 1))
            }
            4 => {
                let op = *self.choices.pick(&["/", "%", "<<", ">>"]);
                format!("({} {op} {})", self.number(depth - 1), 1 + self.choices.below(3))
            }
            5 => format!("-{}", self.operand_in_parentheses()),
            6 => format!("(~{})", self.operand_in_parentheses()),
            7 => format!("({} -> {} : {})", self.test(1), self.operand(), self.operand()),
            _ => self.test(depth - 1),
        }
    }

    fn operand_in_parentheses(&mut self) -> String {
        format!("({})", self.operand())
    }

    pub(super) fn test(&mut self, depth: usize) -> String {
        match self.choices.below(10) {
            0..=3 => {
                let op = *self.choices.pick(&["==", "!=", "<", ">", "<=", ">="]);
                format!("({} {op} {})", self.target(), self.choices.below(3))
            }
            4 => format!("LESS({}, 2)", self.operand()),
            5 if depth > 0 => {
                let op = *self.choices.pick(&["&&", "||"]);
                format!("({} {op} {})", self.test(depth - 1), self.test(depth - 1))
            }
            6 if depth > 0 => format!("!({} == 1)", self.target()),
            7 if !self.channels.is_empty() => self.asked_channel(),
            8 => format!("({})", self.number(depth.min(1))),
            _ => {
                let op = *self.choices.pick(&["==", "!=", "<", ">"]);
                format!("({} {op} {})", self.operand(), self.operand())
            }
        }
    }
}

fn is_declaration(line: &str) -> bool {
    let words = ["byte ", "short ", "bit ", "int ", "mtype ", "unsigned ", "local ", "pid ", "chan ", "xr ", "xs "];
    words.iter().any(|word| line.starts_with(word))
}

fn labelled(label: String, node: PromelaStatement) -> PromelaStatement {
    match node {
        // SPIN refuses a label before a declaration, an inline, `select`, `for` and bare braces.
        PromelaStatement::Line(line) if is_declaration(&line) || is_several(&line) => PromelaStatement::Line(line),
        PromelaStatement::Line(line) => PromelaStatement::Line(label + &line),
        PromelaStatement::Choice { word, options, .. } => PromelaStatement::Choice { label, word, options },
        PromelaStatement::Block { head, body, escape } if head.is_empty() || head.starts_with("for") => {
            PromelaStatement::Block { head, body, escape }
        }
        PromelaStatement::Block { head, body, escape } => PromelaStatement::Block { head: label + &head, body, escape },
    }
}

/// Whether a statement begins with a label.
fn has_label(node: &PromelaStatement) -> bool {
    let (PromelaStatement::Line(text)
    | PromelaStatement::Choice { label: text, .. }
    | PromelaStatement::Block { head: text, .. }) = node;
    text.split_once(": ").is_some_and(|(label, _)| label.chars().all(|c| c.is_alphanumeric() || c == '_'))
}

/// Whether a line is several statements.
fn is_several(line: &str) -> bool {
    ["select", "twice", "both"].iter().any(|word| line.starts_with(word))
}

fn mentions(body: &[PromelaStatement], text: &str) -> bool {
    body.iter().any(|node| match node {
        PromelaStatement::Line(line) => line.contains(text),
        PromelaStatement::Choice { label, options, .. } => {
            label.contains(text) || options.iter().any(|option| mentions(option, text))
        }
        PromelaStatement::Block { head, body, escape } => {
            head.contains(text) || mentions(body, text) || escape.as_ref().is_some_and(|body| mentions(body, text))
        }
    })
}
