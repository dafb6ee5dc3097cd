//! The rules of a SARIF document: what each finding is an instance of.
//!
//! A rule for each kind of property, for what is not decided and for what is vacuous, always in this order; then one for each code of the
//! front-end that was drawn.

use base::Diagnostic;
use serde_json::{Value as Json, json};

/// The rule of properties that are not decided.
pub const NOT_DECIDED: &str = "not-decided";
/// The rule of properties that say nothing.
pub const VACUOUS: &str = "vacuous";

/// What there is to say about a code of the front-end.
#[derive(Clone, Copy, Debug)]
pub struct CodeText {
    /// The rule that was broken, in one line.
    pub title: &'static str,
    /// Why the rule exists and what to do.
    pub explanation: &'static str,
}

/// One row of the table.
struct RuleRow {
    id: &'static str,
    name: &'static str,
    level: &'static str,
    short: &'static str,
    help: &'static str,
}

const ROWS: [RuleRow; 8] = [
    RuleRow {
        id: "invariant",
        name: "Invariant",
        level: "error",
        short: "An invariant does not have its expected verdict",
        help: "An invariant is to be true in every reachable state. The code flow leads from an initial state to one in which it is \
            false, one thread flow for each process; the order of execution is the order of the steps.",
    },
    RuleRow {
        id: "reachable",
        name: "Reachable",
        level: "error",
        short: "A state that should be reachable is not",
        help: "A `reachable` holds if some run gets to a state in which its expression is true. All reachable states were looked at, \
            or a proof excludes it.",
    },
    RuleRow {
        id: "property",
        name: "TemporalProperty",
        level: "error",
        short: "A temporal property does not have its expected verdict",
        help: "A temporal property is to be true of every run that is fair in the sense of its assumptions. The code flow is a run \
            that ends in a loop; the run goes round in it for ever.",
    },
    RuleRow {
        id: "race_free",
        name: "RaceFree",
        level: "error",
        short: "Two processes can access a variable at once, one of them writing",
        help: "Protect the accesses by a lock, or make them one step.",
    },
    RuleRow {
        id: "no_errors",
        name: "NoErrors",
        level: "error",
        short: "A step of the program is an error",
        help: "A value outside its type, an index outside its array, a division by zero, a failed assertion, a wrong release. The \
            code flow ends at the step that errs.",
    },
    RuleRow {
        id: "deadlock_free",
        name: "DeadlockFree",
        level: "error",
        short: "A state is reachable in which nobody can move and somebody is stuck",
        help: "The code flow ends at the places where processes wait. A process may wait for ever at `idle`; `allow deadlock;` \
            switches the question off.",
    },
    RuleRow {
        id: NOT_DECIDED,
        name: "NotDecided",
        level: "warning",
        short: "A property is not decided",
        help: "A limit was reached, or the chosen method cannot decide it. This is no error of the program, and no proof of it either. \
            Try a longer --timeout, another --method, or a smaller -N.",
    },
    RuleRow {
        id: VACUOUS,
        name: "Vacuous",
        level: "warning",
        short: "A property holds only because what it speaks of never happens",
        help: "The condition of the property is true in no reachable state, so that it says nothing. Most often the program does not \
            get where it should.",
    },
];

/// The rules of one document.
pub struct Rules {
    /// The codes that were drawn, after the rows of the table.
    codes: Vec<(&'static str, bool, Option<CodeText>)>,
}

impl Rules {
    /// The rules for these messages.
    pub fn new<'a>(
        diagnostics: impl Iterator<Item = &'a Diagnostic>,
        explain: &dyn Fn(&str) -> Option<CodeText>,
    ) -> Self {
        let mut codes: Vec<(&'static str, bool, Option<CodeText>)> = Vec::new();
        for diagnostic in diagnostics {
            if !codes.iter().any(|(code, ..)| *code == diagnostic.code) {
                codes.push((diagnostic.code, diagnostic.is_error(), explain(diagnostic.code)));
            }
        }
        Rules { codes }
    }

    /// The position of a rule.
    pub fn position(&self, id: &str) -> usize {
        let in_table = ROWS.iter().position(|row| row.id == id);
        let drawn = || self.codes.iter().position(|(code, ..)| *code == id).map(|at| at + ROWS.len());
        in_table.or_else(drawn).expect("every kind of property has a row, and every code that was drawn is listed")
    }

    /// All rules.
    pub fn document(&self) -> Json {
        let rows = ROWS.iter().map(|row| {
            json!({
                "id": row.id,
                "name": row.name,
                "shortDescription": { "text": format!("{}.", row.short) },
                "fullDescription": { "text": format!("{}. {}", row.short, row.help) },
                "help": { "text": row.help },
                "defaultConfiguration": { "level": row.level },
                "properties": { "tags": ["concurrency", "model-checking"] },
            })
        });
        let codes = self.codes.iter().map(|(code, is_error, text)| {
            let (title, help) = match text {
                Some(text) => (text.title, text.explanation),
                None => ("the text is no program", "piecewise explain tells more about codes"),
            };
            json!({
                "id": code,
                "shortDescription": { "text": title },
                "fullDescription": { "text": format!("{title}\n\n{help}") },
                "help": { "text": format!("{help}\n\npiecewise explain {code} shows an example.") },
                "defaultConfiguration": { "level": if *is_error { "error" } else { "warning" } },
                "properties": { "tags": ["language"] },
            })
        });
        rows.chain(codes).collect()
    }
}
