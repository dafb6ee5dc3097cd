//! Random programs: every production of the grammar, as lists of tokens, and texts made of them.

// Each test file that includes this one uses a part of it.
#![allow(dead_code)]

pub use testkit::choices::Choices;

/// Any text: words of the language, signs, letters of several scripts, blanks.
pub fn any_text(choices: &mut Choices) -> String {
    let length = choices.below(200);
    let ranges = [
        (0x20, 0x7e),
        (0x20, 0x7e),
        (0xa0, 0x2ff),
        (0x370, 0x1fff),
        (0x2000, 0x2bff),
        (0x4e00, 0x9fff),
        (0x1_f300, 0x1_faff),
    ];
    let mut letter = || {
        let &(least, greatest) = choices.pick(&ranges);
        u32::try_from(choices.between(least, greatest)).ok().and_then(char::from_u32).unwrap_or(' ')
    };
    (0..length).map(|_| letter()).collect()
}

/// Writes the tokens of a random program. Names need not mean anything: only the syntax is right.
pub struct Generator {
    pub choices: Choices,
    tokens: Vec<String>,
}

const NAMES: [&str; 8] = ["x", "y", "flag", "turn", "idle", "level", "next", "m"];
const LABELS: [&str; 6] = ["crit", "a", "release", "noncrit_long", "if", "t"];
const ENOUGH: usize = 0;

impl Generator {
    pub fn program(seed: u64) -> (Vec<String>, Choices) {
        let mut generator = Generator { choices: Choices::from_seed(seed), tokens: Vec::new() };
        generator.write("program t ( N : 2.. , K : 1 ..= 8 , L : 0 ..< N + 1 ) {");
        // All names are declared, so that `next` and `idle` are names.
        generator.write("shared x , y , flag , turn , idle , level , next , m : bool ;");
        for _ in 0..1 + generator.choices.below(6) {
            generator.item();
        }
        generator.write("}");
        (generator.tokens, generator.choices)
    }

    pub fn formula(seed: u64) -> Vec<String> {
        let mut generator = Generator { choices: Choices::from_seed(seed), tokens: Vec::new() };
        let depth = 1 + generator.choices.below(4);
        generator.expr(depth);
        // The operator is printed as `next`, which is a name here.
        generator.tokens.iter().map(|token| if token == "X" { "F".to_string() } else { token.clone() }).collect()
    }

    fn write(&mut self, text: &str) {
        self.tokens.extend(text.split_whitespace().map(str::to_string));
    }

    fn one_of(&mut self, words: &[&str]) {
        let word = *self.choices.pick(words);
        self.write(word);
    }

    fn sometimes(&mut self, text: &str) {
        if self.choices.below(2) == 0 {
            self.write(text);
        }
    }

    /// One or more, with something between them.
    fn list(&mut self, between: &str, write_one: impl Fn(&mut Self)) {
        write_one(self);
        while self.choices.below(3) == 0 {
            self.write(between);
            write_one(self);
        }
    }

    fn item(&mut self) {
        match self.choices.below(13) {
            0 => {
                self.write("const K");
                self.sometimes(": 0 ..= 7");
                self.write("=");
                self.expr(2);
                self.write(";");
            }
            1 => {
                self.write("enum Vote {");
                self.list(",", |g| g.one_of(&["yes", "no", "none", "idle"]));
                self.sometimes(",");
                self.write("}");
            }
            2 => {
                self.write("define busy");
                self.sometimes("( k , l )");
                self.write("=");
                self.expr(3);
                self.write(";");
            }
            3 => self.variable("shared"),
            4 | 5 => {
                self.write("process P");
                self.sometimes("[ i in 0 ..< N ]");
                self.write("{");
                self.body();
                self.write("}");
            }
            6 => {
                self.write("proc f ( a : bool , b :");
                self.ty(2);
                self.write(")");
                self.sometimes("-> 0 ..= 3");
                self.write("{");
                self.body();
                self.write("}");
            }
            7 | 8 => self.property(),
            9 => {
                self.write("fairness default {");
                self.list(";", Self::assumption);
                self.write("; }");
            }
            10 => {
                self.write("hint expose P [ * ] @ crit ,");
                self.expr(1);
                self.write(";");
            }
            11 => {
                self.one_of(&["no_errors", "deadlock_free"]);
                self.sometimes("expect violated");
                self.write(";");
            }
            _ => self.write("allow deadlock ;"),
        }
    }

    fn variable(&mut self, class: &str) {
        self.write(class);
        self.list(",", |g| g.one_of(&NAMES));
        self.write(":");
        self.ty(2);
        match self.choices.below(4) {
            0 => self.write("= any"),
            1 => {
                self.write("=");
                self.expr(1);
            }
            _ => {}
        }
        self.write(";");
    }

    fn ty(&mut self, depth: usize) {
        match self.choices.below(if depth == ENOUGH { 8 } else { 9 }) {
            0 => self.write("bool"),
            1 => self.write("0 ..< N"),
            2 => self.write("- 1 ..= K * 2"),
            3 => self.write("Vote"),
            4 => self.one_of(&["pid", "pid ( P )", "pid ?", "pid ( P ) ?"]),
            5 => self.write("sem"),
            6 => self.write("sem ( K + 1 )"),
            7 => self.write("lock"),
            _ => {
                self.write("[");
                self.ty(depth - 1);
                self.write(";");
                self.expr(1);
                self.write("]");
            }
        }
    }

    fn property(&mut self) {
        match self.choices.below(4) {
            0 => {
                self.write("invariant safe :");
                self.expr(3);
            }
            1 => {
                self.write("reachable there :");
                self.expr(2);
            }
            2 => {
                self.write("race_free");
                self.list(",", |g| g.one_of(&["x", "P [ * ] . y", "level [ 1 ]"]));
            }
            _ => {
                self.write("property live :");
                self.expr(3);
                if self.choices.below(2) == 0 {
                    self.write("under");
                    self.list(",", |g| g.list("or", Self::group));
                }
            }
        }
        self.sometimes("expect holds");
        self.write(";");
    }

    fn group(&mut self) {
        if self.choices.below(4) == 0 {
            self.write("(");
            self.list(",", Self::assumption);
            self.write(")");
        } else {
            self.assumption();
        }
    }

    fn assumption(&mut self) {
        match self.choices.below(8) {
            0 => self.write("progress"),
            1 => self.one_of(&["every P [ * ]", "every P [ 0 ]", "every Monitor"]),
            2 => self.one_of(&["weak P [ * ]", "weak P [ * ] @ { a , crit }", "weak P [ 1 ] @ a"]),
            3 => self.one_of(&["strong P [ * ]", "strong P [ * ] @ crit", "justice x", "compassion P [ * ]"]),
            4 => {
                self.write("weak (");
                self.expr(2);
                self.write(")");
            }
            5 => {
                self.write("strong x == 1 => (");
                self.expr(2);
                self.write(")");
            }
            6 => self.write("weak ( P [ 0 ] @ a )"),
            _ => self.write("scheduler"),
        }
    }

    fn body(&mut self) {
        while self.choices.below(3) == 0 {
            self.variable("local");
        }
        self.statements(3);
    }

    fn statements(&mut self, depth: usize) {
        for _ in 0..self.choices.below(4) {
            self.statement(depth);
        }
    }

    fn block(&mut self, depth: usize) {
        self.write("{");
        self.statements(depth - 1);
        self.write("}");
    }

    fn statement(&mut self, depth: usize) {
        let kind = self.choices.below(if depth == ENOUGH { 11 } else { 18 });
        let is_place = !(8..=10).contains(&kind);
        if is_place && self.choices.below(3) == 0 {
            self.one_of(&LABELS);
            self.write(":");
        }
        match kind {
            0 => self.write("skip ;"),
            1 => self.write("idle ;"),
            2 => self.assignment(),
            3 => {
                self.one_of(&["await", "assert"]);
                self.expr(2);
                self.write(";");
            }
            4 => {
                self.one_of(&["acquire", "release"]);
                self.one_of(&["m", "x [ 1 ]"]);
                self.write(";");
            }
            5 => {
                self.sometimes("x =");
                self.write("call f (");
                self.list(",", |g| g.expr(1));
                self.write(") ;");
            }
            6 => self.write("return ;"),
            7 => {
                self.write("return");
                self.expr(1);
                self.write(";");
            }
            8 => self.write("goto crit ;"),
            9 => self.write("break ;"),
            10 => self.write("continue ;"),
            11 | 12 => {
                self.write("if");
                if self.choices.below(4) == 0 {
                    self.write("*");
                } else {
                    self.expr(2);
                }
                self.block(depth);
                while self.choices.below(3) == 0 {
                    self.write("else if");
                    self.expr(1);
                    self.block(depth);
                }
                if self.choices.below(2) == 0 {
                    self.write("else");
                    self.block(depth);
                }
            }
            13 => {
                self.write("either");
                self.block(depth);
                self.write("or");
                self.list("or", |g| g.block(depth));
            }
            14 => {
                self.write("while");
                self.expr(1);
                self.block(depth);
            }
            15 => {
                self.write("loop { skip ;");
                self.statements(depth - 1);
                self.write("}");
            }
            16 => {
                self.write("for k in 0 ..< N - 1");
                self.block(depth);
            }
            _ => {
                self.write("atomic");
                self.block(depth);
            }
        }
    }

    fn assignment(&mut self) {
        match self.choices.below(4) {
            0 => {
                self.write("x , level [ 1 ] =");
                self.expr(1);
                self.write(",");
                self.expr(1);
            }
            1 => self.write("flag [ i ] [ 2 ] = any"),
            2 => self.write("next = any 0 ..= 3 + 4"),
            _ => {
                self.one_of(&["x", "idle", "next [ x ]", "P . y"]);
                self.write("=");
                self.expr(3);
            }
        }
        self.write(";");
    }

    fn expr(&mut self, depth: usize) {
        if depth == ENOUGH {
            return self.atom();
        }
        match self.choices.below(12) {
            0..=2 => {
                self.operand(depth);
                self.one_of(&[
                    "+", "-", "*", "/", "%", "&&", "||", "and", "or", "=>", "<=>", "~>", "==", "!=", "<", "<=", ">",
                    ">=", "xor", "->", "/\\", "\\/", "∧", "|", "iff", "^",
                ]);
                self.operand(depth);
            }
            3 => {
                // Operators that chain, without parentheses.
                let op = *self.choices.pick(&["+", "*", "&&", "or", "-"]);
                self.operand(depth);
                self.write(op);
                self.operand(depth);
                self.write(op);
                self.operand(depth);
            }
            4 => {
                self.one_of(&["!", "-", "not", "- -", "! -", "~"]);
                self.operand(depth);
            }
            5 => {
                self.one_of(&["always", "eventually", "[ ]", "<>", "G", "F", "X", "GF", "□"]);
                self.expr(depth - 1);
            }
            6 => {
                self.one_of(&[
                    "forall i :",
                    "forall i != j :",
                    "exists i , j :",
                    "forall v , w in 0 ..< W :",
                    "exists k != 0 :",
                    "forall i in P , j in 1 ..= 2 :",
                ]);
                self.expr(depth - 1);
            }
            7 => {
                self.write("if");
                self.expr(depth - 1);
                self.write("then");
                self.expr(depth - 1);
                self.write("else");
                self.expr(depth - 1);
            }
            8 => {
                self.one_of(&[
                    "count ( i :",
                    "count ( r in 0 ..< R :",
                    "min ( 1 ,",
                    "busy ( x ,",
                    "[",
                    "[ 1 , 2 , ",
                    "(",
                ]);
                let closer = if self.tokens.iter().rev().find(|t| *t == "(" || *t == "[").is_some_and(|t| t == "[") {
                    "]"
                } else {
                    ")"
                };
                self.expr(depth - 1);
                self.write(closer);
            }
            9 => {
                self.operand(depth);
                self.one_of(&["as pid", "as pid ( P )"]);
            }
            _ => self.atom(),
        }
    }

    /// An operand, mostly in parentheses, so that operators may stand in it.
    fn operand(&mut self, depth: usize) {
        if self.choices.below(3) == 0 {
            return self.atom();
        }
        self.write("(");
        self.expr(depth - 1);
        self.write(")");
    }

    fn atom(&mut self) {
        self.one_of(&[
            "0",
            "17",
            "1_000",
            "true",
            "false",
            "none",
            "x",
            "flag [ i ]",
            "next [ x + 1 ] [ 2 ]",
            "P [ i ] @ crit",
            "Monitor @ { a , if }",
            "@ crit",
            "Vote . none",
            "m . owner",
            "P [ k ] . level",
            "idle",
            "[ 1 ; N ]",
        ]);
    }
}

/// Joins tokens with random blanks, line ends and comments.
pub fn scatter(tokens: &[String], choices: &mut Choices) -> String {
    let mut text = String::new();
    for (n, token) in tokens.iter().enumerate() {
        text.push_str(token);
        match choices.below(24) {
            0 => text.push_str("\n\n\n   "),
            1 => text.push_str(&format!(" // line {n}  \n")),
            2 => text.push_str(&format!(" /* block {n} */ ")),
            3 => text.push_str(&format!("\n  // own {n}\n")),
            4 => text.push_str(&format!("\r\n /// doc {n}\n/// more\n")),
            5 => text.push_str(&format!("\n/* two\n   lines {n} */")),
            6..=9 => text.push('\n'),
            _ => text.push(' '),
        }
    }
    text
}
