//! Families, variables with their types and initial values, and the heads of processes and procedures.

use super::{ExprPlace, ExprScope, Home, Length, ProgramWriter, Scalar, TextFamily, TextVariable};

/// Ranges of 32 bits, and ranges near the ends of 64 bits.
const WIDE: [(i64, i64); 6] = [
    (0, 4_294_967_295),
    (-2_147_483_648, 2_147_483_647),
    (0, 2_147_483_647),
    (i64::MAX - 5, i64::MAX),
    (-i64::MAX, -i64::MAX + 4),
    (i64::MAX - 4_294_967_295, i64::MAX),
];

impl ProgramWriter<'_> {
    pub(super) fn declare_families(&mut self) {
        self.add_family("P", "i", "N");
        if self.choices.chance(self.profile.second_family) {
            self.add_family("Q", "k", "M");
        }
        if self.choices.chance(self.profile.single_process) {
            let size = "1".to_owned();
            self.families.push(TextFamily { name: "S", index: None, count: 1, size });
        }
    }

    fn add_family(&mut self, name: &'static str, index: &'static str, parameter: &str) {
        let count = 2 + usize::from(self.choices.chance(self.profile.third_process));
        // The second family is small: products multiply.
        let count = if name == "Q" { 1 + self.choices.below(2) } else { count };
        let is_parameter = self.choices.chance(self.profile.size_is_parameter);
        let size = if is_parameter { parameter.to_owned() } else { count.to_string() };
        self.families.push(TextFamily { name, index: Some(index), count, size });
    }

    pub(super) fn declare_variables(&mut self) {
        self.line("enum Color { red, green, blue }");
        let n_shared = 1 + self.choices.below(3);
        for at in 0..n_shared {
            self.variable(&format!("s{at}"), Home::Shared);
        }
        if self.choices.chance(self.profile.locks) {
            let scalar = if self.choices.chance(50) { Scalar::Lock } else { Scalar::Semaphore(1) };
            let lengths = if self.choices.chance(15) { vec![Length::Family(0)] } else { Vec::new() };
            self.declare(TextVariable {
                name: "m".to_owned(),
                scalar,
                lengths,
                home: Home::Shared,
                is_hidden: false,
                is_fixed: false,
            });
        }
        if self.profile.bundles > 0 {
            self.declare_bundles();
        }
        if self.profile.words > 0 {
            self.declare_words();
        }
    }

    /// A variable of random type; returns nothing, since expressions find it among all.
    pub(super) fn variable(&mut self, name: &str, home: Home) {
        let lengths = self.lengths();
        let scalar = self.scalar();
        let is_hidden = self.choices.chance(self.profile.unmentioned);
        let is_fixed = self.choices.chance(self.profile.unwritten);
        self.declare(TextVariable { name: name.to_owned(), scalar, lengths, home, is_hidden, is_fixed });
    }

    fn declare(&mut self, variable: TextVariable) {
        let class = match variable.home {
            Home::Shared => "shared",
            Home::Public(_) => "public",
            Home::Local(_) | Home::Frame => "local",
        };
        let element = self.type_text(variable.scalar);
        let ty = variable.lengths.iter().rev().fold(element, |element, &length| match length {
            Length::Family(family) => format!("[{element}; {}]", self.families[family].size),
            Length::Number(number) => format!("[{element}; {number}]"),
        });
        let init = self.init(&variable);
        self.line(&format!("{class} {}: {ty}{init};", variable.name));
        self.variables.push(variable);
    }

    fn lengths(&mut self) -> Vec<Length> {
        if !self.choices.chance(self.profile.arrays) {
            return Vec::new();
        }
        let n_dimensions = 1 + usize::from(self.choices.chance(self.profile.second_dimension));
        (0..n_dimensions).map(|_| self.one_length()).collect()
    }

    fn one_length(&mut self) -> Length {
        let families = self.indexed();
        match self.choices.chance(self.profile.dimension_of_family) {
            true => Length::Family(*self.choices.pick(&families)),
            false => Length::Number(2 + self.choices.below(2)),
        }
    }

    fn scalar(&mut self) -> Scalar {
        if self.choices.chance(self.profile.wide) {
            let (lo, hi) = *self.choices.pick(&WIDE);
            return Scalar::Range { lo, hi };
        }
        if self.choices.chance(self.profile.pids) {
            let families = self.indexed();
            let family = *self.choices.pick(&families);
            return if self.choices.chance(50) { Scalar::PidOrNone(family) } else { Scalar::Pid(family) };
        }
        match self.choices.below(8) {
            0..=3 => Scalar::Bool,
            7 => Scalar::Color,
            _ => {
                let lo = -(self.choices.below(6) as i64 / 5);
                Scalar::Range { lo, hi: lo + 1 + self.choices.below(2) as i64 }
            }
        }
    }

    fn type_text(&self, scalar: Scalar) -> String {
        match scalar {
            Scalar::Bool => "bool".to_owned(),
            Scalar::Range { lo, hi } => format!("{lo}..={hi}"),
            Scalar::Color => "Color".to_owned(),
            Scalar::Pid(family) => format!("pid({})", self.families[family].name),
            Scalar::PidOrNone(family) => format!("pid({})?", self.families[family].name),
            Scalar::Semaphore(max) => format!("sem({max})"),
            Scalar::Lock => "lock".to_owned(),
        }
    }

    fn init(&mut self, variable: &TextVariable) -> String {
        let n_cells: usize = variable.lengths.iter().map(|&length| self.length(length)).product();
        let may_start_anywhere = !variable.scalar.is_wide() && n_cells <= 2 && variable.scalar != Scalar::Lock;
        if may_start_anywhere && self.choices.chance(self.profile.any_initial) {
            return " = any".to_owned();
        }
        match variable.scalar {
            Scalar::Semaphore(max) => format!(" = {max}"),
            Scalar::Lock => String::new(),
            _ if !self.choices.chance(60) => String::new(),
            Scalar::Pid(family) | Scalar::PidOrNone(family) => match variable.home {
                // The processes stay symmetric where the initial value is the first of its type, or each one's own.
                Home::Public(owner) | Home::Local(owner) if owner == family => {
                    format!(" = {}", self.families[family].index.expect("pids are of indexed families"))
                }
                _ if self.choices.chance(self.numbers_in_text) => {
                    let count = self.families[family].count;
                    format!(" = {}", self.choices.below(count))
                }
                _ => String::new(),
            },
            scalar => format!(" = {}", self.constant(scalar)),
        }
    }

    /// A procedure whose only parameter falls with each call of itself.
    pub(super) fn procedure(&mut self) {
        if !self.choices.chance(self.profile.procedures) {
            return;
        }
        self.open("proc f(d: 0..=2) -> 0..=2");
        if self.choices.chance(50) {
            self.variable("w", Home::Frame);
        }
        let scope = ExprScope::new(ExprPlace::Procedure);
        let n_statements = 1 + self.choices.below(2);
        self.statements(&scope, n_statements, 1);
        if self.choices.chance(50) {
            self.open("if d > 0");
            self.line("call f(d - 1);");
            self.close();
        }
        if !self.choices.chance(self.profile.faults_in_text / 2) {
            let value = self.value(Scalar::Range { lo: 0, hi: 2 }, &scope);
            self.line(&format!("return {value};"));
        }
        self.close();
        self.has_procedure = true;
    }

    /// A process: its variables, then its text.
    pub(super) fn process(&mut self, family: usize) {
        let declared = &self.families[family];
        let head = match declared.index {
            Some(index) => format!("process {}[{index} in 0..<{}]", declared.name, declared.size),
            None => format!("process {}", declared.name),
        };
        self.open(&head);
        if self.choices.chance(self.profile.public) {
            self.variable(&format!("p{family}"), Home::Public(family));
        }
        if self.choices.chance(self.profile.local) {
            self.variable(&format!("v{family}"), Home::Local(family));
        }
        let scope = ExprScope::new(ExprPlace::Family(family));
        let n_statements = 1 + self.choices.below(self.profile.n_statements);
        let is_loop = self.choices.chance(75);
        if is_loop {
            self.open("loop");
        }
        self.start_of_text(&scope);
        self.labelled("skip;", &scope);
        self.statements(&scope, n_statements, 2);
        if is_loop {
            self.close();
        }
        self.close();
    }
}
