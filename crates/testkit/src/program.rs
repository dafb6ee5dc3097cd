//! Random programs as texts of the `.pw` language, with their properties, by [`Profile`].
//!
//! In: [`Choices`] and a profile. Out: a text, one statement and one property a line, so that a person with a wrong answer can
//! take lines away. Texts are well typed but for a few; expressions may have no value where the profile says so. Unlike the drafts of
//! [`crate::random`], which are Models, these programs come in through the front-end, as those of users do.

mod bundles;
mod declarations;
mod expressions;
mod fairness;
pub mod profile;
mod properties;
mod statements;
mod words;

use crate::choices::Choices;
pub use profile::{PROFILES, Profile};

/// A random program.
pub fn text(choices: &mut Choices, profile: &Profile) -> String {
    let writer = ProgramWriter {
        choices,
        profile,
        families: Vec::new(),
        variables: Vec::new(),
        labels: Vec::new(),
        has_procedure: false,
        numbers_in_text: profile.numbers_in_text,
        numbers_left: 0,
        n_labels: 0,
        lines: Vec::new(),
        depth: 1,
    };
    writer.program()
}

/// A program while it is written.
struct ProgramWriter<'c> {
    choices: &'c mut Choices,
    profile: &'c Profile,
    families: Vec<TextFamily>,
    variables: Vec<TextVariable>,
    /// The labels so far, each with its text.
    labels: Vec<(ExprPlace, String)>,
    has_procedure: bool,
    /// How often a text names processes by numbers, in percent.
    numbers_in_text: usize,
    /// How many more numbers may name processes in texts that name none otherwise.
    numbers_left: usize,
    n_labels: usize,
    /// The lines of the program so far.
    lines: Vec<String>,
    /// How far the next line is indented.
    depth: usize,
}

/// Processes with one text.
struct TextFamily {
    name: &'static str,
    /// The name of the index in the text; `None` for a single process.
    index: Option<&'static str>,
    count: usize,
    /// The size as the text says it.
    size: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scalar {
    Bool,
    Range { lo: i64, hi: i64 },
    Color,
    Pid(usize),
    PidOrNone(usize),
    Semaphore(i64),
    Lock,
}

impl Scalar {
    /// Whether its values are too many to go through.
    fn is_wide(self) -> bool {
        matches!(self, Scalar::Range { lo, hi } if hi.saturating_sub(lo) > 100 || hi > 1 << 20)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Length {
    Family(usize),
    Number(usize),
}

/// Which processes have copies of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Home {
    Shared,
    Public(usize),
    Local(usize),
    Frame,
}

#[derive(Clone, Debug)]
struct TextVariable {
    name: String,
    scalar: Scalar,
    lengths: Vec<Length>,
    home: Home,
    /// No text mentions it.
    is_hidden: bool,
    /// No text writes it.
    is_fixed: bool,
}

/// Where an expression is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExprPlace {
    Family(usize),
    Procedure,
    Property,
}

/// What a bound variable or a counter ranges over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Over {
    Family(usize),
    Numbers { lo: i64, hi: i64 },
}

/// What expressions can speak of.
#[derive(Clone, Debug)]
struct ExprScope {
    place: ExprPlace,
    /// Bound variables and counters around.
    bound: Vec<(String, Over)>,
    /// Whether the statement is a part of an `atomic` one.
    in_atomic: bool,
}

impl ExprScope {
    fn new(place: ExprPlace) -> Self {
        ExprScope { place, bound: Vec::new(), in_atomic: false }
    }

    fn with(&self, name: &str, over: Over) -> Self {
        let mut inner = self.clone();
        inner.bound.push((name.to_owned(), over));
        inner
    }
}

impl ProgramWriter<'_> {
    fn program(mut self) -> String {
        self.declare_families();
        if self.profile.one_number > 0 && self.choices.chance(self.profile.one_number) {
            self.numbers_left = 1;
        }
        if self.choices.chance(self.profile.one_way) {
            self.numbers_in_text = if self.choices.chance(self.profile.numbers_in_text) { 100 } else { 0 };
        }
        self.declare_variables();
        self.procedure();
        for family in 0..self.families.len() {
            self.process(family);
        }
        self.properties();
        let parameters: Vec<String> = self
            .families
            .iter()
            .filter(|family| family.size.starts_with(char::is_alphabetic))
            .map(|family| format!("{}: {}..", family.size, family.count))
            .collect();
        let head = if parameters.is_empty() { String::new() } else { format!("({})", parameters.join(", ")) };
        format!("program random{head} {{\n{}\n}}\n", self.lines.join("\n"))
    }

    fn line(&mut self, text: &str) {
        self.lines.push(format!("{}{text}", "  ".repeat(self.depth)));
    }

    fn open(&mut self, head: &str) {
        self.line(&format!("{head} {{"));
        self.depth += 1;
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.line("}");
    }

    fn reopen(&mut self, middle: &str) {
        self.depth -= 1;
        self.line(&format!("}} {middle} {{"));
        self.depth += 1;
    }

    /// The families with an index.
    fn indexed(&self) -> Vec<usize> {
        (0..self.families.len()).filter(|&family| self.families[family].index.is_some()).collect()
    }

    fn length(&self, length: Length) -> usize {
        match length {
            Length::Family(family) => self.families[family].count,
            Length::Number(number) => number,
        }
    }

    /// One of several texts; `None` where there is none.
    fn one_of(&mut self, mut texts: Vec<String>) -> Option<String> {
        if texts.is_empty() {
            return None;
        }
        let at = self.choices.below(texts.len());
        Some(texts.swap_remove(at))
    }
}
