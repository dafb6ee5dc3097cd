//! The parts of random Promela programs: declarations, statements, expressions, questions.

use super::{Asked, Node, Process, Promela};
use crate::choices::Choices;

/// A channel that statements may use.
#[derive(Clone, Debug)]
struct Channel {
    name: &'static str,
    declared: &'static str,
    fields: &'static [Field],
    has_buffer: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Number,
    Name,
    Channel,
}

/// The channels to choose from.
const CHANNELS: &[Channel] = &[
    Channel { name: "q", declared: "chan q = [1] of { byte };", fields: &[Field::Number], has_buffer: true },
    Channel { name: "r", declared: "chan r = [0] of { byte };", fields: &[Field::Number], has_buffer: false },
    Channel {
        name: "w",
        declared: "chan w = [2] of { mtype, byte };",
        fields: &[Field::Name, Field::Number],
        has_buffer: true,
    },
    Channel {
        name: "v",
        declared: "chan v = [0] of { mtype, bit };",
        fields: &[Field::Name, Field::Number],
        has_buffer: false,
    },
    Channel { name: "z", declared: "chan z = [3] of { bit };", fields: &[Field::Number], has_buffer: true },
    Channel { name: "qs[0]", declared: "chan qs[2] = [1] of { byte };", fields: &[Field::Number], has_buffer: true },
    Channel {
        name: "rs[1]",
        declared: "chan rs[2] = [0] of { short, bool };",
        fields: &[Field::Number, Field::Number],
        has_buffer: false,
    },
    Channel {
        name: "k",
        declared: "chan k = [2] of { short, bit, byte };",
        fields: &[Field::Number, Field::Number, Field::Number],
        has_buffer: true,
    },
    Channel { name: "qc", declared: "chan qc = [1] of { chan };", fields: &[Field::Channel], has_buffer: true },
];

/// The variables to choose from: how each is declared, and the names of its elements.
const VARIABLES: &[(&str, &[&str])] = &[
    ("byte x;", &["x"]),
    ("byte y = 254;", &["y"]),
    ("bit b;", &["b"]),
    ("bool f = true;", &["f"]),
    ("short s = 32766;", &["s"]),
    ("short s2 = -32768;", &["s2"]),
    ("int i = 2147483646;", &["i"]),
    ("int n = -3;", &["n"]),
    ("unsigned u : 3;", &["u"]),
    ("byte a[2];", &["a[0]", "a[1]", "a[x & 1]"]),
    ("bit ba[2];", &["ba[0]", "ba[1]"]),
    ("mtype m = A;", &["m"]),
    ("typedef T { byte g; bit h[2] }; T t;", &["t.g", "t.h[1]"]),
    ("typedef U { short c; byte d[2] }; U us[2];", &["us[0].c", "us[1].d[0]", "us[x & 1].d[1]"]),
    ("int l[2] = { 2, 1 };", &["l[0]", "l[1]"]),
    ("pid pp;", &["pp"]),
];

/// What stands around a statement.
#[derive(Clone, Copy, Default)]
struct Place {
    depth: usize,
    in_loop: bool,
    in_d_step: bool,
    /// Whether the statement is first in an option.
    is_head: bool,
}

/// A program under construction.
pub(super) struct Maker<'c> {
    choices: &'c mut Choices,
    numbers: Vec<String>,
    locals: Vec<String>,
    channels: Vec<Channel>,
    /// The labels of the process at hand, and those that are jumped to.
    n_labels: usize,
    jumps: Vec<String>,
    /// A proctype that `run` may start, with its parameter.
    can_run: bool,
    /// Whether `run` was used.
    runs: bool,
    has_inline: bool,
    watched: Vec<String>,
    progress: bool,
    accept: bool,
    n_left: usize,
}

impl Maker<'_> {
    pub(super) fn new(choices: &mut Choices) -> Maker<'_> {
        Maker {
            choices,
            numbers: Vec::new(),
            locals: Vec::new(),
            channels: Vec::new(),
            n_labels: 0,
            jumps: Vec::new(),
            can_run: false,
            runs: false,
            has_inline: false,
            watched: Vec::new(),
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
            if declared.contains("[x & 1]") || names.iter().any(|name| name.contains("[x & 1]")) {
                self.declare(&mut globals, "byte x;", &["x"]);
            }
            self.declare(&mut globals, declared, names);
        }
        for _ in 0..self.choices.below(4) {
            let channel = self.choices.pick(CHANNELS).clone();
            if !globals.iter().any(|line| line == channel.declared) {
                globals.push(channel.declared.into());
                self.channels.push(channel);
            }
        }
        if self.choices.chance(15) {
            globals.push("inline twice(e, k) { e = e + k; if :: e == 3 -> e = 0 :: else fi; x0 = k }".into());
            self.has_inline = true;
        }
        let question = self.choices.below(10);
        self.progress = question == 8;
        self.accept = question == 9;
        let mut processes = Vec::new();
        self.can_run = self.choices.chance(30);
        let n_processes = 1 + self.choices.below(3);
        for at in 0..n_processes {
            let head = self.head(at);
            processes.push(self.process(head));
        }
        if self.can_run {
            let init_first = self.choices.chance(50);
            let body = self.init();
            let init = Process { head: "init".into(), body };
            let at = if init_first { 0 } else { processes.len() };
            processes.insert(at, init);
            let n_parameters = self.choices.below(2);
            self.locals = vec!["e".into()];
            let mut worker = self.process(String::new());
            worker.head = if n_parameters == 0 { "proctype W(byte e)".into() } else { "proctype W(byte e) ".into() };
            processes.push(worker);
        }
        let asked = match question {
            0 => None,
            1..=6 => Some(Asked::Ltl(self.formula())),
            7 => Some(Asked::Never(self.never())),
            8 => Some(Asked::Progress),
            _ => Some(Asked::Acceptance),
        };
        Promela { globals, processes, asked }
    }

    fn declare(&mut self, globals: &mut Vec<String>, declared: &str, names: &[&str]) {
        if !globals.iter().any(|line| line == declared) {
            globals.push(declared.to_owned());
            self.numbers.extend(names.iter().map(|name| (*name).to_owned()));
        }
    }

    fn head(&mut self, at: usize) -> String {
        let many = if self.choices.chance(25) { " [2]" } else { "" };
        let provided =
            if self.choices.chance(4) { format!(" provided ({})", self.shared_test()) } else { String::new() };
        format!("active{many} proctype P{at}(){provided}")
    }

    fn shared_test(&mut self) -> String {
        let locals = std::mem::take(&mut self.locals);
        let test = self.test(1);
        self.locals = locals;
        test
    }

    fn init(&mut self) -> Vec<Node> {
        self.locals.clear();
        self.jumps.clear();
        let mut body = Vec::new();
        if self.choices.chance(20) {
            body.push(self.simple());
        }
        let runs: Vec<Node> =
            (0..1 + self.choices.below(2)).map(|_| Node::Line(format!("run W({})", self.choices.below(3)))).collect();
        match self.choices.below(3) {
            0 => body.push(Node::Block { head: "atomic".into(), body: runs, escape: None }),
            1 => body.extend(runs),
            _ => {
                let mut inner = runs;
                let last = self.simple();
                inner.push(last);
                body.push(Node::Block { head: "atomic".into(), body: inner, escape: None });
            }
        }
        if self.choices.chance(30) {
            body.push(Node::Line("(_nr_pr == 1)".into()));
        }
        if self.choices.chance(40) {
            let last = self.simple();
            body.push(last);
        }
        body
    }

    fn process(&mut self, head: String) -> Process {
        let parameters: Vec<String> = self.locals.drain(..).collect();
        let mut body = Vec::new();
        self.jumps.clear();
        self.n_labels = 0;
        if self.choices.chance(50) {
            let declared =
                *self.choices.pick(&["byte e1;", "short e1 = 3;", "bit e1;", "int e1 = -1;", "byte e1 = x0;"]);
            body.push(Node::Line(declared.trim_end_matches(';').into()));
            self.locals.push("e1".into());
        }
        self.locals.extend(parameters);
        self.n_left = 3 + self.choices.below(9);
        let n_statements = 1 + self.choices.below(4);
        for at in 0..n_statements {
            let label = self.label(at);
            let node = self.statement(Place::default());
            body.push(labelled(label, node));
        }
        if self.choices.chance(50) {
            // Most processes go round.
            let inner = std::mem::take(&mut body);
            let (first, rest): (Vec<Node>, Vec<Node>) =
                inner.into_iter().partition(|node| matches!(node, Node::Line(line) if is_declaration(line)));
            body = first;
            body.push(Node::Choice { label: String::new(), word: "do", options: vec![rest] });
        }
        // What is jumped to must exist.
        let used: Vec<String> = std::mem::take(&mut self.jumps);
        for label in used {
            if !mentions(&body, &format!("{label}:")) {
                body.push(Node::Line(format!("{label}: skip")));
            }
        }
        self.locals.clear();
        Process { head, body }
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
        self.n_labels += 1;
        let label = if role == "L" { format!("L{at}") } else { format!("{role}_{at}") };
        self.watched.push(label.clone());
        format!("{label}: ")
    }

    fn body(&mut self, place: Place, most: usize) -> Vec<Node> {
        let n_statements = 1 + self.choices.below(most);
        (0..n_statements).map(|at| self.statement(Place { is_head: place.is_head && at == 0, ..place })).collect()
    }

    fn statement(&mut self, place: Place) -> Node {
        self.n_left = self.n_left.saturating_sub(1);
        let deeper = Place { depth: place.depth + 1, ..place };
        if self.n_left == 0 || place.depth > 3 {
            return self.simple();
        }
        match self.choices.below(24) {
            0..=5 => self.simple(),
            6 | 7 => Node::Line(self.test(2)),
            8..=10 if !place.in_d_step => self.talk(),
            8 if !self.channels.is_empty() => self.buffered_talk(),
            11..=13 => self.choice("if", deeper),
            14 if !place.in_d_step => self.choice("do", deeper),
            15 | 16 if !place.in_d_step => {
                let body = self.body(Place { is_head: place.is_head, ..deeper }, 4);
                Node::Block { head: "atomic".into(), body, escape: None }
            }
            17 if !place.in_d_step => {
                let inner = Place { in_d_step: true, in_loop: false, is_head: false, ..deeper };
                let body = self.body(inner, 3);
                Node::Block { head: "d_step".into(), body, escape: None }
            }
            18 if !place.in_d_step => self.rare(deeper),
            19 if place.in_loop => Node::Line("break".into()),
            20 if !place.in_d_step => self.jump(),
            21 => Node::Line(format!("assert({})", self.test(1))),
            22 if !place.in_d_step && !place.is_head => Node::Line("timeout".into()),
            23 => Node::Line("printf(\"%d\\n\", x0)".into()),
            _ => self.simple(),
        }
    }

    fn rare(&mut self, place: Place) -> Node {
        match self.choices.below(7) {
            0 => {
                let body = self.body(Place { is_head: false, ..place }, 3);
                let escape = self.body(Place { is_head: false, ..place }, 2);
                Node::Block { head: String::new(), body, escape: Some(escape) }
            }
            1 => Node::Line(format!("select (x0 : {} .. 2)", self.choices.below(2))),
            2 => {
                let body = self.body(Place { is_head: false, ..place }, 2);
                Node::Block { head: "for (x0 : 0 .. 1)".into(), body, escape: None }
            }
            3 if self.has_inline => {
                let target = self.target();
                Node::Line(format!("twice({target}, {})", self.choices.below(3)))
            }
            4 if self.can_run && !self.runs => {
                self.runs = true;
                Node::Line("run W(1)".into())
            }
            5 => {
                let name = format!("d{}", self.n_left);
                self.locals.push(name.clone());
                Node::Line(format!("byte {name} = {}", self.choices.below(3)))
            }
            _ => {
                let body = self.body(Place { is_head: place.is_head, ..place }, 3);
                Node::Block { head: String::new(), body, escape: None }
            }
        }
    }

    fn jump(&mut self) -> Node {
        let at = self.choices.below(4);
        let label = format!("L{at}");
        self.jumps.push(label.clone());
        Node::Line(format!("goto {label}"))
    }

    fn choice(&mut self, word: &'static str, place: Place) -> Node {
        let is_loop = word == "do";
        let inner = Place { in_loop: place.in_loop || is_loop, is_head: true, ..place };
        let n_options = 1 + self.choices.below(3);
        let mut options: Vec<Vec<Node>> = (0..n_options)
            .map(|_| {
                let mut body = Vec::new();
                if self.choices.chance(50) {
                    body.push(Node::Line(self.test(1)));
                }
                let here = Place { is_head: body.is_empty(), ..inner };
                body.extend(self.body(here, 2));
                body
            })
            .collect();
        if self.choices.chance(35) || (place.in_d_step && self.choices.chance(80)) {
            let mut body = vec![Node::Line("else".into())];
            if is_loop && self.choices.chance(60) {
                body.push(Node::Line("break".into()));
            } else if self.choices.chance(50) {
                body.push(self.simple());
            }
            options.push(body);
        } else if !place.in_d_step && self.choices.chance(12) {
            let simple = self.simple();
            options.push(vec![Node::Line("timeout".into()), simple]);
        }
        Node::Choice { label: String::new(), word, options }
    }

    /// An assignment or `skip`.
    fn simple(&mut self) -> Node {
        let target = self.target();
        Node::Line(match self.choices.below(8) {
            0 => "skip".into(),
            1 | 2 => format!("{target} = {}", self.choices.below(3)),
            3 => format!("{target}++"),
            4 => format!("{target}--"),
            5 => format!("{target} = ({} + 1) % 3", self.operand()),
            _ => format!("{target} = {}", self.number(2)),
        })
    }

    fn target(&mut self) -> String {
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
                if channel.has_buffer { format!("len({})", channel.name) } else { "1".into() }
            }
            _ => self.target(),
        }
    }

    fn number(&mut self, depth: usize) -> String {
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

    fn test(&mut self, depth: usize) -> String {
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

    fn asked_channel(&mut self) -> String {
        let channel = self.choices.pick(&self.channels).clone();
        if !channel.has_buffer {
            return "(x0 < 2)".into();
        }
        match self.choices.below(6) {
            0 => format!("empty({})", channel.name),
            1 => format!("full({})", channel.name),
            2 => format!("nempty({})", channel.name),
            3 => format!("nfull({})", channel.name),
            4 => format!("{}?[{}]", channel.name, self.patterns(&channel, true)),
            _ => format!("{}??[{}]", channel.name, self.patterns(&channel, true)),
        }
    }

    fn talk(&mut self) -> Node {
        if self.channels.is_empty() {
            return self.simple();
        }
        let channel = self.choices.pick(&self.channels).clone();
        if !channel.has_buffer {
            return Node::Line(match self.choices.below(2) {
                0 => format!("{}!{}", channel.name, self.values(&channel)),
                _ => format!("{}?{}", channel.name, self.patterns(&channel, false)),
            });
        }
        self.talk_on(&channel)
    }

    fn buffered_talk(&mut self) -> Node {
        match self.channels.iter().find(|channel| channel.has_buffer).cloned() {
            Some(channel) => self.talk_on(&channel),
            None => self.simple(),
        }
    }

    fn talk_on(&mut self, channel: &Channel) -> Node {
        let name = channel.name;
        Node::Line(match self.choices.below(9) {
            0..=2 => format!("{name}!{}", self.values(channel)),
            3 => format!("{name}!!{}", self.values(channel)),
            4 | 5 => format!("{name}?{}", self.patterns(channel, false)),
            6 => format!("{name}??{}", self.patterns(channel, false)),
            7 => format!("{name}?<{}>", self.patterns(channel, false)),
            _ => format!("{name}??<{}>", self.patterns(channel, false)),
        })
    }

    fn values(&mut self, channel: &Channel) -> String {
        let value = |field: &Field, maker: &mut Self| match field {
            Field::Number => maker.number(1),
            Field::Name => (*maker.choices.pick(&["A", "B", "C"])).into(),
            Field::Channel => "qc".into(),
        };
        let values: Vec<String> = channel.fields.iter().map(|field| value(field, self)).collect();
        match values.as_slice() {
            [first, rest @ ..] if !rest.is_empty() && channel.fields[0] == Field::Name && self.choices.chance(40) => {
                format!("{first}({})", rest.join(", "))
            }
            _ => values.join(", "),
        }
    }

    fn patterns(&mut self, channel: &Channel, only_asks: bool) -> String {
        let pattern = |field: &Field, maker: &mut Self| match (field, maker.choices.below(5)) {
            (_, 0) => "_".to_owned(),
            (Field::Channel, _) => "_".to_owned(),
            (Field::Name, _) => (*maker.choices.pick(&["A", "B"])).into(),
            (_, 1) => maker.choices.below(3).to_string(),
            (_, 2) => format!("eval({})", maker.target()),
            _ if only_asks => maker.choices.below(3).to_string(),
            _ => maker.target(),
        };
        let patterns: Vec<String> = channel.fields.iter().map(|field| pattern(field, self)).collect();
        patterns.join(", ")
    }

    fn formula(&mut self) -> String {
        let (a, b) = (self.shared_test(), self.shared_test());
        match self.choices.below(10) {
            0 => format!("[] {a}"),
            1 => format!("<> {a}"),
            2 | 3 => format!("[]<> {a}"),
            4 => format!("<>[] {a}"),
            5 => format!("[]({a} -> <> {b})"),
            6 => format!("({a}) U ({b})"),
            7 => format!("([]<> {a}) -> ([]<> {b})"),
            8 => format!("([]<> {a}) -> (<> {b})"),
            _ => format!("always (({a}) implies (eventually ({b})))"),
        }
    }

    fn never(&mut self) -> String {
        let (a, b) = (self.shared_test(), self.shared_test());
        match self.choices.below(4) {
            0 => format!("do :: {a} -> break :: else od; accept_all: do :: {b} od"),
            1 => {
                format!("T0: if :: {a} -> goto accept_S :: true -> goto T0 fi; accept_S: if :: {b} -> goto accept_S fi")
            }
            2 => format!("do :: {a} :: {b} -> break od"),
            _ => format!("do :: assert({a}) od"),
        }
    }
}

fn is_declaration(line: &str) -> bool {
    ["byte ", "short ", "bit ", "int "].iter().any(|word| line.starts_with(word))
}

fn labelled(label: String, node: Node) -> Node {
    match node {
        // A declaration has no label.
        Node::Line(line) if is_declaration(&line) => Node::Line(line),
        Node::Line(line) => Node::Line(label + &line),
        Node::Choice { word, options, .. } => Node::Choice { label, word, options },
        Node::Block { head, body, escape } => Node::Block { head: label + &head, body, escape },
    }
}

fn mentions(body: &[Node], text: &str) -> bool {
    body.iter().any(|node| match node {
        Node::Line(line) => line.contains(text),
        Node::Choice { label, options, .. } => {
            label.contains(text) || options.iter().any(|option| mentions(option, text))
        }
        Node::Block { head, body, escape } => {
            head.contains(text) || mentions(body, text) || escape.as_ref().is_some_and(|body| mentions(body, text))
        }
    })
}
