//! Random statements of rings, chains, trees, crowds, and of clients with a process that serves them.

use super::{Has, SizedKind, SizedWriter};

impl SizedWriter<'_> {
    /// The whole program but for its last brace.
    pub(super) fn statements(&mut self) {
        let chance = |writer: &mut Self, percent| writer.choices.chance(percent);
        let is_crowd = !self.is_in_order();
        self.has = Has {
            x: chance(self, 70),
            g: self.kind != SizedKind::Trees && chance(self, if is_crowd { 60 } else { 25 }),
            p: is_crowd && chance(self, 50),
            q: is_crowd && chance(self, 30),
            m: chance(self, 25),
            d: chance(self, 35),
            w: is_crowd && chance(self, 20),
            home: self.kind == SizedKind::Broadcasts,
        };
        let least = self.pick(&["2", "2", "2", "3", "4"]);
        self.line(format!("program sized(N: {least}..) {{"));
        self.declarations();
        self.line("  process P[i in 0..<N] {");
        if self.has.x {
            let start = match self.is_in_order() {
                true => self.pick(&["", "", " = if i == 0 then 1 else 0", " = any", " = if i % 2 == 0 then 1 else 0"]),
                false => self.pick(&["", "", "", " = any"]),
            };
            self.line(format!("    public x: 0..=1{start};"));
        }
        let is_loop = self.choices.chance(80);
        if is_loop {
            self.line("    loop {");
        }
        self.n_labels = 2 + self.choices.below(3);
        for label in 0..self.n_labels {
            let statement = self.statement(label);
            self.line(format!("      {statement}"));
        }
        if is_loop {
            self.line("    }");
        }
        self.line("  }");
        if self.has.home {
            self.home();
        }
        self.random_properties(4);
    }

    fn declarations(&mut self) {
        let start = match self.is_in_order() {
            true => self.pick(&["", "", "", " = any"]),
            false => self.pick(&["", "", "", "", " = any"]),
        };
        self.line(format!("  shared c: [0..=1; N]{start};"));
        if self.has.g {
            let high = 1 + self.choices.below(2);
            self.line(format!("  shared g: 0..={high};"));
        }
        if self.has.d {
            self.line("  shared d: [[0..=1; 2]; N];");
        }
        if self.has.w {
            self.line("  shared w: set of pid(P);");
        }
        if self.has.p {
            self.line("  shared p: pid(P)? = none;");
        }
        if self.has.q {
            self.line("  shared q: pid(P);");
        }
        if self.has.m {
            let ty = if self.is_in_order() { "[lock; N]" } else { "lock" };
            self.line(format!("  shared m: {ty};"));
        }
    }

    /// An index of a process near `who`.
    pub(super) fn near(&mut self, who: &str) -> String {
        match self.kind {
            SizedKind::Rings => match self.choices.below(8) {
                0..=2 => format!("({who} + 1) % N"),
                3 | 4 => format!("({who} + N - 1) % N"),
                5 => self.choices.pick(&["0", "N - 1"]).to_string(),
                6 if self.choices.chance(30) => format!("({who} + 2) % N"),
                _ => who.to_owned(),
            },
            SizedKind::Trees => match self.choices.below(6) {
                0 | 1 => format!("if {who} == 0 then {who} else ({who} - 1) / 2"),
                2 => format!("if 2 * {who} + 1 < N then 2 * {who} + 1 else {who}"),
                3 => format!("if 2 * {who} + 2 < N then 2 * {who} + 2 else {who}"),
                _ => who.to_owned(),
            },
            SizedKind::Chains => match self.choices.below(7) {
                0..=2 => format!("if {who} == 0 then 0 else {who} - 1"),
                3 | 4 => format!("if {who} == N - 1 then {who} else {who} + 1"),
                5 => self.choices.pick(&["0", "N - 1"]).to_string(),
                _ => who.to_owned(),
            },
            _ => match self.choices.below(6) {
                0 if self.has.q => "q".to_owned(),
                _ => who.to_owned(),
            },
        }
    }

    fn position(&mut self) -> String {
        if self.kind == SizedKind::Trees {
            return self.pick(&["i == 0", "i > 0", "i % 2 == 0", "2 * i + 1 < N", "2 * i + 2 < N", "2 * i + 1 >= N"]);
        }
        self.pick(&["i == 0", "i == N - 1", "i % 2 == 0", "i > 0", "i < N - 1", "i == 1", "N % 2 == 0"])
    }

    /// Something about a process; `who` is an index.
    pub(super) fn about(&mut self, who: &str) -> String {
        let number = self.choices.below(2);
        match self.choices.below(3) {
            0 if self.has.x => format!("P[{who}].x == {number}"),
            1 if self.has.x => format!("P[{who}].x != {number}"),
            2 if self.has.d && self.choices.chance(60) => format!("d[{who}][{}] == {number}", self.choices.below(2)),
            _ => format!("c[{who}] == {number}"),
        }
    }

    fn quantified(&mut self) -> String {
        let quantifier = self.pick(&["forall", "exists"]);
        let body = self.about("k");
        let joint = if quantifier == "forall" { "=>" } else { "&&" };
        match self.choices.below(5) {
            0 | 1 => format!("({quantifier} k: {body})"),
            2 => format!("({quantifier} k: k != i {joint} {body})"),
            3 => format!("({quantifier} k: k < i {joint} {body})"),
            _ => format!("({quantifier} k: k > i {joint} {body})"),
        }
    }

    fn guard(&mut self) -> String {
        let number = self.choices.below(2);
        match self.choices.below(10) {
            0 | 1 => {
                let near = self.near("i");
                self.about(&near)
            }
            2 if self.has.x => format!("x == {number}"),
            3 | 4 if self.is_in_order() => self.position(),
            5 if self.is_in_order() => format!("({} || c[i] == {number})", self.position()),
            6 if self.has.g => format!("g == {number}"),
            7 if self.has.p => self.pick(&["p == i", "p == none", "p != i", "p != none"]),
            8 if self.has.q => self.pick(&["q == i", "q != i"]),
            9 if self.has.w => self.pick(&["i in w", "!(i in w)", "empty(w)", "(exists k: k in w && k != i)"]),
            3..=5 => self.quantified(),
            _ => self.about("i"),
        }
    }

    fn effect(&mut self) -> String {
        let number = self.choices.below(2);
        match self.choices.below(14) {
            12 if self.has.d => {
                let (near, row) = (self.near("i"), self.choices.below(2));
                format!("d[{near}][{row}] = {number};")
            }
            // From one element to another.
            13 if self.has.d => {
                let (near, row) = (self.near("i"), self.choices.below(2));
                format!("d[{near}][{row}] = d[i][{}];", self.choices.below(2))
            }
            13 if self.has.w => self.pick(&["insert w(i);", "remove w(i);", "w = {};"]),
            0..=2 => format!("c[{}] = {number};", self.near("i")),
            3 if self.has.x => format!("x = {number};"),
            4 if self.has.x => format!("x = c[{}];", self.near("i")),
            5 if self.has.x => format!("c[{}] = x;", self.near("i")),
            6 if self.has.g => format!("g = {number};"),
            7 if self.has.p => self.pick(&["p = i;", "p = none;"]),
            8 if self.has.q => self.pick(&["q = i;", "q = any;"]),
            9 if !self.is_in_order() => format!("for k in 0..<N {{ c[k] = {number}; }}"),
            10 if !self.is_in_order() && self.has.g => {
                let test = self.about("k");
                format!("for k in 0..<N {{ if {test} {{ g = {number}; }} }}")
            }
            11 if self.has.g && self.choices.chance(40) => self.pick(&["g += 1;", "g -= 1;", "g = 1 - g;"]),
            _ => format!("c[i] = {number};"),
        }
    }

    fn statement(&mut self, label: usize) -> String {
        if self.has.m && self.choices.chance(25) {
            let at = if self.is_in_order() { format!("[{}]", self.near("i")) } else { String::new() };
            let word = if label.is_multiple_of(2) { "acquire" } else { "release" };
            return format!("l{label}: {word} m{at};");
        }
        match self.choices.below(9) {
            0 => format!("l{label}: if {} {{ goto l{}; }}", self.guard(), self.choices.below(label + 1)),
            1 => format!("l{label}: {}", self.effect()),
            2 => format!("l{label}: atomic {{ {} {} }}", self.effect(), self.effect()),
            3 => format!("l{label}: await {};", self.guard()),
            4 => format!("l{label}: skip;"),
            5 => format!("l{label}: atomic {{ if {} {{ {} }} }}", self.guard(), self.effect()),
            _ => format!("l{label}: atomic {{ await {}; {} {} }}", self.guard(), self.effect(), self.effect()),
        }
    }

    /// A process that picks one of the others and does something for it, or for all.
    fn home(&mut self) {
        self.line("  process S {");
        self.line("    local k: pid(P)? = none;");
        self.line("    local seen: [bool; N];");
        self.line("    loop {");
        self.line("      h0: either {");
        for at in 0..2 + self.choices.below(2) {
            if at > 0 {
                self.line("      } or {");
            }
            let (test, number) = (self.about("k"), self.choices.below(2));
            let seen = self.pick(&["", "", " && seen[k]", " && !seen[k]"]);
            let all =
                self.pick(&["", "", " && forall j: !seen[j]", " && exists j: c[j] == 1", " && forall j: c[j] == 0"]);
            let effect = match self.choices.below(6) {
                0 => "seen[k] = true;".to_owned(),
                1 => "seen[k] = false;".to_owned(),
                2 if self.has.g => format!("g = {number};"),
                3 if self.has.p => self.pick(&["p = k;", "p = none;"]),
                _ => format!("c[k] = {number};"),
            };
            let wide = match self.choices.below(6) {
                0 => format!(" for j in 0..<N {{ c[j] = {number}; }}"),
                1 => " for j in 0..<N { seen[j] = false; }".to_owned(),
                2 => format!(" for j in 0..<N {{ seen[j] = c[j] == {number}; }}"),
                _ => String::new(),
            };
            self.line(format!(
                "        atomic {{ k = any; await k != none; await {test}{seen}{all}; {effect}{wide} k = none; }}"
            ));
        }
        self.line("      }");
        self.line("    }");
        self.line("  }");
    }
}
