//! Random programs of interchangeable processes, small enough that all their states are listed.
//!
//! In: choices. Out: a text with a parameter `N`: a shared number, cells that name processes, an array with an element for each process, perhaps a lock, a
//! semaphore and another process; steps that read, compare, count and write these in few words; properties, the first of which is true.

use testkit::choices::Choices;

/// What programs may have.
#[derive(Clone, Copy)]
pub struct Words {
    /// Cells that name processes, and processes that are compared.
    pub names: bool,
    /// Loops over the family.
    pub loops: bool,
    /// Processes that are named by numbers.
    pub numbered: bool,
}

pub struct Writer<'c> {
    pub choices: &'c mut Choices,
    pub words: Words,
    pub n_labels: usize,
}

impl Writer<'_> {
    fn pick(&mut self, items: &[&str]) -> String {
        (*self.choices.pick(items)).to_owned()
    }

    fn about(&mut self, who: &str) -> String {
        let c = self.choices.below(3);
        match self.choices.below(3) {
            0 => format!("P[{who}].a == {c}"),
            1 => format!("P[{who}].a < {c}"),
            _ => format!("row[{who}] == {}", c % 2),
        }
    }

    fn told(&mut self, who: &str) -> String {
        match self.choices.below(3) {
            0 => self.about(who),
            _ => format!("P[{who}]@l{}", self.choices.below(2)),
        }
    }

    fn quantified(&mut self) -> String {
        let body = self.about("k");
        match self.choices.below(8) {
            0 => format!("(forall k: {body})"),
            1 => format!("(exists k: {body})"),
            2 if self.words.names => format!("(forall k != i: {body} || t[1] == k)"),
            3 if self.words.names => format!("(exists k != i: {body} && p == k)"),
            4 => format!("(forall k: k > i || {body} || d == 0)"),
            5 if self.words.numbered => format!("(forall k: k == 0 || {body})"),
            6 => format!("(exists k != i: {body})"),
            _ => format!("(forall k != i: {body})"),
        }
    }

    fn guard(&mut self) -> String {
        let c = self.choices.below(2);
        match self.choices.below(14) {
            0 | 1 => format!("d == {c}"),
            2 | 3 => format!("a == {c}"),
            4 => format!("row[i] == {c}"),
            5 if self.words.numbered => self.pick(&["i == 0", "i != 0", "P[0].a == 1", "row[0] == 0"]),
            6 if self.words.names => self.pick(&["p == i", "p == none", "r == i || r == p", "r == none", "p != r"]),
            7 if self.words.names => format!("t[{c}] {} i", self.choices.pick(&["==", "!="])),
            8 if self.words.names => format!("t[0] {} t[1]", self.choices.pick(&["==", "!="])),
            9 if self.words.names => format!("p != none && {}", self.about("p")),
            10 if self.words.names => format!("r != none && {} && t[0] != r", self.about("r")),
            _ => self.quantified(),
        }
    }

    fn effect(&mut self) -> String {
        let c = self.choices.below(3);
        match self.choices.below(18) {
            0 | 1 => format!("a = {c};"),
            2 | 3 => format!("d = {c};"),
            4 => format!("row[i] = {};", c % 2),
            5 => "d = (d + 1) % 3;".to_owned(),
            6 => format!("a = any 0..={c};"),
            7 => "d = any;".to_owned(),
            8 => format!("either {{ a = {c}; }} or {{ d = {c}; }}"),
            9 if self.words.names => self.pick(&["p = i;", "p = none;", "p = t[1];", "p = r;"]),
            10 if self.words.names => format!("t[{}] = any;", c % 2),
            11 if self.words.names => format!("t[{}] = i;", c % 2),
            12 if self.words.names => self.pick(&["r = p;", "r = i;", "r = any;", "r = none;", "r = t[0];"]),
            13 if self.words.names => "if r != none { t[0] = r; }".to_owned(),
            14 | 15 if self.words.names => format!("if p != none {{ row[p] = {}; }}", c % 2),
            16 if self.words.loops => format!("for k in P {{ row[k] = {}; }}", c % 2),
            _ => "skip;".to_owned(),
        }
    }

    fn statement(&mut self) -> String {
        let label = self.n_labels;
        self.n_labels += 1;
        match self.choices.below(12) {
            0 => format!("l{label}: if {} {{ goto l{}; }}", self.guard(), self.choices.below(2)),
            1 if self.words.loops => {
                let (test, other) = (self.about("k"), self.guard());
                let more = self.pick(&["", "|| k == i ", "|| k != i "]);
                format!("for k in P {{ l{label}: await {test} {more}|| {other}; }}")
            }
            2 if self.words.loops => {
                let test = self.about("k");
                let then =
                    self.pick(&["a = 1;", "d = 1;", "row[i] = 1;", if self.words.names { "p = k;" } else { "a = 2;" }]);
                format!("for k in P {{ l{label}: if {test} {{ {then} }} else {{ break; }} }}")
            }
            3 if self.words.loops => {
                let effect = self.effect();
                format!("for k in P {{ l{label}: if k != i {{ m{label}: {effect} }} }}")
            }
            4 => format!("l{label}: atomic {{ acquire m; {} }} n{label}: release m;", self.effect()),
            5 => format!("l{label}: acquire s; {} n{label}: release s;", self.effect()),
            6 => {
                let (one, other) = (self.effect(), self.effect());
                format!("either {{ l{label}: {one} }} or {{ m{label}: {other} }}")
            }
            _ => format!("l{label}: atomic {{ await {}; {} {} }}", self.guard(), self.effect(), self.effect()),
        }
    }

    /// A program; a text that the front-end refuses is none.
    pub fn program(&mut self) -> String {
        let start = self.pick(&["", " = none", " = any"]);
        let (any, own) = (self.pick(&["", "", " = any"]), self.pick(&["", "", " = 1", " = any"]));
        let known = self.pick(&[" = none", " = i", " = any", " = none"]);
        let n = 2 + self.choices.below(3);
        let body: Vec<String> = (0..n).map(|_| self.statement()).collect();
        let mut text = format!(
            "program r(N: 2..) {{ shared d: 0..=2{any}; shared row: [0..=1; N]; shared m: lock; shared s: sem(1) = 1;\n"
        );
        if self.words.names {
            text += &format!("shared p: pid? = none; shared t: [pid?; 2]{start};\n");
        }
        let local = if self.words.names { format!("local r: pid?{known};") } else { String::new() };
        text +=
            &format!("process P[i in 0..<N] {{ public a: 0..=2{own}; {local} loop {{\n{}\n}} }}\n", body.join("\n"));
        if self.choices.chance(30) {
            let test = self.quantified().replace("k != i", "k != 0 || true").replace("k > i", "d == 1");
            let effect =
                self.pick(&["d = 2;", "d = (d + 1) % 3;", if self.words.names { "t[1] = p;" } else { "d = 1;" }]);
            text += &format!("process H {{ loop {{ h: await {test}; g: {effect} }} }}\n");
        }
        text += "  invariant sure: d <= 2;\n  allow deadlock;\n";
        for at in 0..3 {
            let (one, other) = (self.told("i"), self.told("j"));
            text += &format!("  invariant v{at}: forall i != j: !({one} && {other});\n");
        }
        let (one, c) = (self.told("i"), self.choices.below(3));
        text += &format!("  invariant w: d == {c} => exists i: {one};\n  invariant u: forall i: d == {c} => {one};\n");
        let (one, other) = (self.told("i"), self.told("j"));
        text += &format!("  invariant o: forall i, j in P: !({one} && {other});\n");
        text += "  invariant f: d == 0 || 6 / (d - 1) > 0;\n";
        if self.words.names {
            text += &format!("  invariant x: forall i: p == i => {one};\n");
            text += &format!("  invariant z: t[0] == none || p == none || forall i: t[0] == i => {one};\n");
            text += &format!("  reachable y: exists i != j: p == i && t[1] == j && {one};\n");
            let apart = "p != none && t[0] != none && p != t[0]";
            text += &format!("  reachable q: {apart} && exists i: p != i && t[0] != i && {one};\n");
        }
        text + "}\n"
    }
}
