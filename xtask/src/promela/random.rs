//! Random programs in Promela, as trees that can be made smaller.
//!
//! In: a seed. Out: a small program: two or three processes, numbers near the ends of their types, channels with and without buffers, blocks
//! that wait, `else`, `timeout`, `run`, and sometimes a formula. Every program is one that SPIN accepts and whose search does not stop early:
//! no index leaves its array, nothing divides by zero, no `d_step` blocks, no `atomic` loops.

use std::fmt::Write;

/// A small generator of numbers.
pub struct Dice(u64);

impl Dice {
    /// One that begins with a seed.
    pub fn new(seed: u64) -> Self {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d);
        for _ in 0..4 {
            dice.below(2);
        }
        dice
    }

    /// A number below a bound.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % bound.max(1) as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Node {
    /// One that fits on a line.
    Line(String),
    /// One with statements inside: what opens it, its options, what closes it.
    Block { open: String, options: Vec<Vec<Node>>, close: String },
}

/// A process.
#[derive(Clone, Debug)]
pub struct Process {
    header: String,
    body: Vec<Node>,
}

/// A program.
#[derive(Clone, Debug)]
pub struct Program {
    globals: Vec<String>,
    processes: Vec<Process>,
    /// A formula.
    pub ltl: Option<String>,
}

impl Program {
    /// The text of the program, without its formula or with it.
    pub fn text(&self, with_ltl: bool) -> String {
        let mut text = String::new();
        for line in &self.globals {
            let _ = writeln!(text, "{line}");
        }
        for process in &self.processes {
            let _ = writeln!(text, "{} {{", process.header);
            lines(&process.body, 1, &mut text);
            text.push_str("}\n");
        }
        if let (true, Some(ltl)) = (with_ltl, &self.ltl) {
            let _ = writeln!(text, "ltl p {{ {ltl} }}");
        }
        text
    }

    /// All programs with one statement or process less.
    pub fn smaller(&self) -> Vec<Program> {
        let mut found = Vec::new();
        for at in 0..self.processes.len() {
            if self.processes.len() > 1 {
                let mut less = self.clone();
                less.processes.remove(at);
                found.push(less);
            }
            for body in smaller(&self.processes[at].body) {
                let mut less = self.clone();
                less.processes[at].body = body;
                found.push(less);
            }
        }
        found
    }
}

fn lines(body: &[Node], depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    for (at, node) in body.iter().enumerate() {
        let end = if at + 1 < body.len() { ";" } else { "" };
        match node {
            Node::Line(line) => {
                let _ = writeln!(text, "{indent}{line}{end}");
            }
            Node::Block { open, options, close } => {
                let _ = writeln!(text, "{indent}{open}");
                for option in options {
                    if close != "}" {
                        let _ = writeln!(text, "{indent}::");
                    }
                    lines(option, depth + 1, text);
                }
                let _ = writeln!(text, "{indent}{close}{end}");
            }
        }
    }
}

/// All bodies with one statement less; none is empty.
fn smaller(body: &[Node]) -> Vec<Vec<Node>> {
    let mut found = Vec::new();
    for at in 0..body.len() {
        if body.len() > 1 {
            let mut less = body.to_vec();
            less.remove(at);
            found.push(less);
        }
        if let Node::Block { open, options, close } = &body[at] {
            let with = |options: Vec<Vec<Node>>| {
                let mut less = body.to_vec();
                less[at] = Node::Block { open: open.clone(), options, close: close.clone() };
                less
            };
            for option in 0..options.len() {
                if options.len() > 1 {
                    let mut fewer = options.clone();
                    fewer.remove(option);
                    found.push(with(fewer));
                }
                for inner in smaller(&options[option]) {
                    let mut fewer = options.clone();
                    fewer[option] = inner;
                    found.push(with(fewer));
                }
            }
            if close == "}" && !open.starts_with("for") {
                let mut less = body.to_vec();
                less.splice(at..=at, options.iter().flatten().cloned());
                found.push(less);
            }
        }
    }
    found
}

/// What a program may use.
struct Writer<'d> {
    dice: &'d mut Dice,
    /// The channels: name, capacity, number of fields.
    channels: Vec<(String, usize, usize)>,
    n_labels: usize,
    /// The labels of the process that is written, and those that are still to be placed.
    labels: Vec<String>,
    has_worker: bool,
    n_runs: usize,
}

/// Where a statement stands.
#[derive(Clone, Copy)]
struct At {
    depth: usize,
    in_atomic: bool,
    in_d_step: bool,
    in_loop: bool,
}

/// Writes a program.
pub fn program(dice: &mut Dice) -> Program {
    let mut globals = vec![
        "mtype = { red, green, blue }".to_owned(),
        format!("byte x = {};", dice.pick(&["0", "1", "254", "255"])),
        format!("short s = {};", dice.pick(&["0", "32766", "-32768"])),
        "bit b; bool flag; mtype m = green;".to_owned(),
        "bit row[2]; int big = 2147483646; unsigned u : 3;".to_owned(),
        "typedef Pair { byte a; short c[2] } Pair pair;".to_owned(),
    ];
    let mut channels = Vec::new();
    for name in ["q", "r"] {
        let (capacity, n_fields) = (dice.below(3), 1 + dice.below(2));
        let fields = if n_fields == 1 { dice.pick(&["byte", "mtype", "short", "bit"]) } else { "mtype, byte" };
        globals.push(format!("chan {name} = [{capacity}] of {{ {fields} }};"));
        channels.push((name.to_owned(), capacity, n_fields));
    }
    let has_worker = dice.chance(30);
    let mut writer = Writer { dice, channels, n_labels: 0, labels: Vec::new(), has_worker, n_runs: 0 };
    let n_processes = 2 + writer.dice.below(2);
    let mut processes = Vec::new();
    if has_worker {
        let body = writer.process(3);
        processes.push(Process { header: "proctype W(byte i; chan c)".into(), body });
    }
    for at in 0..n_processes {
        let length = 2 + writer.dice.below(if n_processes == 2 { 5 } else { 3 });
        let copies = if writer.dice.chance(15) { " [2]" } else { "" };
        let provided = if writer.dice.chance(4) { " provided (x != 1)" } else { "" };
        let mut body = writer.process(length);
        if has_worker && at == 0 {
            let run = Node::Line("run W(3, q)".into());
            let place = writer.dice.below(body.len());
            body.insert(place, run);
        }
        processes.push(Process { header: format!("active{copies} proctype P{at}(){provided}"), body });
    }
    let ltl = writer.dice.chance(40).then(|| formula(writer.dice));
    Program { globals, processes, ltl }
}

fn formula(dice: &mut Dice) -> String {
    let atoms =
        ["(x == 1)", "(s < 0)", "flag", "(b == 1)", "(m == red)", "(len(q) > 0)", "(row[1] == 1)", "(_nr_pr > 2)"];
    let (p, q) = (dice.pick(&atoms), dice.pick(&atoms));
    match dice.below(9) {
        0 => format!("[] {p}"),
        1 => format!("<> {p}"),
        2 => format!("[]<> {p}"),
        3 => format!("<>[] {p}"),
        4 => format!("{p} U {q}"),
        5 => format!("[] ({p} -> <> {q})"),
        6 => format!("X {p}"),
        7 => format!("({p} W {q}) || <> ({p} && X {q})"),
        _ => format!("!({p} V {q})"),
    }
}

impl Writer<'_> {
    fn process(&mut self, length: usize) -> Vec<Node> {
        self.labels.clear();
        let at = At { depth: 0, in_atomic: false, in_d_step: false, in_loop: false };
        let mut body = vec![Node::Line(self.pick(&["byte l", "byte l = 255", "short l", "bit l = 1"]))];
        body.extend(self.sequence(length, at));
        if let Some(label) = self.labels.pop() {
            body.push(Node::Line(format!("{label}: skip")));
        }
        body
    }

    fn pick(&mut self, from: &[&str]) -> String {
        self.dice.pick(from).to_owned()
    }

    fn sequence(&mut self, length: usize, at: At) -> Vec<Node> {
        (0..length.max(1)).map(|_| self.statement(at)).collect()
    }

    fn variable(&mut self) -> String {
        self.pick(&[
            "x",
            "x",
            "l",
            "l",
            "s",
            "b",
            "flag",
            "m",
            "row[1]",
            "row[l % 2]",
            "big",
            "u",
            "pair.a",
            "pair.c[1]",
        ])
    }

    fn value(&mut self, depth: usize) -> String {
        match self.dice.below(if depth == 0 { 9 } else { 14 }) {
            0..=3 => self.variable(),
            4..=6 => self.pick(&["0", "1", "2", "3", "255", "-1"]),
            7 => self.pick(&["red", "blue", "len(q)", "_pid", "_nr_pr"]),
            8 => self.pick(&["true", "32767", "1"]),
            9 => format!("({} + {})", self.value(depth - 1), self.value(depth - 1)),
            10 => format!("({} - {})", self.value(depth - 1), self.value(depth - 1)),
            11 => {
                let op = self.pick(&["*", "&", "|", "^", "<<", ">>"]);
                let right = if op.len() == 2 { self.pick(&["1", "2", "u"]) } else { self.value(depth - 1) };
                format!("({} {op} {right})", self.value(depth - 1))
            }
            12 => format!("({} -> {} : {})", self.condition(depth - 1), self.value(depth - 1), self.value(depth - 1)),
            _ => format!("({} {} {})", self.value(depth - 1), self.pick(&["/", "%"]), self.pick(&["2", "3", "-2"])),
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        match self.dice.below(if depth == 0 { 5 } else { 9 }) {
            0..=3 => {
                let op = self.pick(&["==", "!=", "<", "<=", ">", ">="]);
                format!("({} {op} {})", self.variable(), self.value(0))
            }
            4 => self.pick(&["flag", "b", "true", "(x == 0)"]),
            5 => format!("({} && {})", self.condition(depth - 1), self.condition(depth - 1)),
            6 => format!("({} || {})", self.condition(depth - 1), self.condition(depth - 1)),
            7 => format!("!({})", self.condition(depth - 1)),
            _ => {
                let (name, capacity, n_fields) = self.channel();
                match (capacity, n_fields) {
                    (0, _) => format!("(len({name}) == 0)"),
                    (_, 1) => format!("({name}{}[{}])", self.pick(&["?", "??"]), self.pick(&["1", "eval(l)", "_"])),
                    _ => format!("({name}?[{}, _])", self.pick(&["red", "blue"])),
                }
            }
        }
    }

    fn channel(&mut self) -> (String, usize, usize) {
        let at = self.dice.below(self.channels.len());
        self.channels[at].clone()
    }

    fn assignment(&mut self) -> Node {
        let target = self.variable();
        Node::Line(match self.dice.below(6) {
            0 => format!("{target}++"),
            1 => format!("{target}--"),
            _ => format!("{target} = {}", self.value(2)),
        })
    }

    fn message(&mut self) -> Node {
        let (name, capacity, n_fields) = self.channel();
        let line = if self.dice.chance(50) {
            let sign = if capacity > 0 && self.dice.chance(20) { "!!" } else { "!" };
            match n_fields {
                1 => format!("{name}{sign}{}", self.value(1)),
                _ => format!("{name}{sign}{}({})", self.pick(&["red", "blue", "m"]), self.value(1)),
            }
        } else {
            let sign = if capacity > 0 { self.pick(&["?", "?", "??"]) } else { "?".into() };
            let narrow = capacity == 0;
            let target = if narrow { self.pick(&["big", "_"]) } else { self.variable() };
            let (first, second) =
                (self.pick(&["red", "blue", "m", "_", "eval(m)"]), self.pick(&["1", "big", "_", "eval(l)"]));
            let fields = match n_fields {
                1 => self.one_field(target),
                _ => format!("{first}, {second}"),
            };
            if capacity > 0 && self.dice.chance(10) {
                format!("{name}{sign}<{fields}>")
            } else {
                format!("{name}{sign}{fields}")
            }
        };
        Node::Line(line)
    }

    fn one_field(&mut self, target: String) -> String {
        match self.dice.below(3) {
            0 => target,
            1 => self.pick(&["1", "0", "2"]),
            _ => self.pick(&["eval(x)", "eval(l)", "_"]),
        }
    }

    fn statement(&mut self, at: At) -> Node {
        if at.in_d_step {
            return self.assignment();
        }
        let deep = at.depth >= 3;
        match self.dice.below(if deep { 11 } else { 20 }) {
            0..=4 => self.assignment(),
            5 => Node::Line(format!("({})", self.condition(2))),
            6 | 7 => self.message(),
            8 => Node::Line(format!("assert({})", self.condition(1))),
            9 => Node::Line(self.pick(&["printf(\"x\\n\")", "skip", "xr: skip"]).replace("xr: ", "")),
            10 if self.dice.chance(30) && !at.in_atomic => {
                let label = self.new_label();
                self.labels.push(label.clone());
                let jump = vec![Node::Line(format!("({})", self.condition(1))), Node::Line(format!("goto {label}"))];
                let other = vec![Node::Line("else".into())];
                Node::Block { open: "if".into(), options: vec![jump, other], close: "fi".into() }
            }
            10 => self.assignment(),
            11..=13 => self.choice("if", at),
            14 | 15 if !at.in_atomic => self.choice("do", at),
            14 | 15 => self.choice("if", at),
            16 => {
                let length = 1 + self.dice.below(3);
                let inside = At { depth: at.depth + 1, in_atomic: true, ..at };
                let options = vec![self.sequence(length, inside)];
                Node::Block { open: "atomic {".into(), options, close: "}".into() }
            }
            17 => {
                let mut options = vec![Node::Line(self.pick(&["skip", "(x != 3)", "flag = 1"]))];
                let length = 1 + self.dice.below(2);
                options.extend(self.sequence(length, At { depth: at.depth + 1, in_d_step: true, ..at }));
                Node::Block { open: "d_step {".into(), options: vec![options], close: "}".into() }
            }
            18 if !at.in_atomic && !at.in_loop => {
                let label = self.pick(&["end", "progress", "accept"]) + &self.new_label();
                let Node::Line(line) = self.message() else { return self.assignment() };
                Node::Line(format!("{label}: {line}"))
            }
            18 => self.message(),
            _ if self.dice.chance(40) => {
                let options = vec![self.sequence(1, At { depth: at.depth + 2, in_loop: true, ..at })];
                Node::Block { open: "for (u : 1 .. 2) {".into(), options, close: "}".into() }
            }
            _ => Node::Line(self.pick(&["select (x : 0 .. 2)", "select (l : 1 .. b)"])),
        }
    }

    fn new_label(&mut self) -> String {
        self.n_labels += 1;
        format!("L{}", self.n_labels)
    }

    fn choice(&mut self, word: &str, at: At) -> Node {
        let is_loop = word == "do";
        let inside = At { depth: at.depth + 1, in_loop: at.in_loop || is_loop, ..at };
        let n_options = 1 + self.dice.below(3);
        let mut options = Vec::new();
        let mut has_meeting = false;
        for _ in 0..n_options {
            let first = match self.dice.below(10) {
                0..=3 => Node::Line(format!("({})", self.condition(1))),
                4..=6 => {
                    let message = self.message();
                    if let Node::Line(line) = &message {
                        let name = &line[..1];
                        has_meeting |= self.channels.iter().any(|(own, capacity, _)| own == name && *capacity == 0);
                    }
                    message
                }
                7 if !at.in_atomic && !is_loop => Node::Line("timeout".into()),
                _ => self.statement(inside),
            };
            let mut option = vec![first];
            let length = self.dice.below(2);
            option.extend((0..length).map(|_| self.statement(inside)));
            options.push(option);
        }
        if is_loop {
            options.push(vec![Node::Line(format!("({})", self.condition(1))), Node::Line("break".into())]);
        }
        let has_timeout = options.iter().any(|option| matches!(&option[0], Node::Line(line) if line == "timeout"));
        let has_jump = options.iter().any(|option| matches!(&option[0], Node::Block { .. }));
        if self.dice.chance(40) && !has_meeting && !has_timeout && !has_jump {
            let mut option = vec![Node::Line("else".into())];
            if is_loop {
                option.push(Node::Line("break".into()));
            }
            options.push(option);
        }
        Node::Block { open: word.into(), options, close: if is_loop { "od".into() } else { "fi".into() } }
    }
}
