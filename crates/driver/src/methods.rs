//! The methods, in one table: their names on the command line, what they answer, and who is behind each.
//!
//! A name that no method has is refused, with the nearest one.

use std::sync::Arc;

use base::diagnostic::nearest_name;
use engine::Engine;
use explicit::fair::Rule;
use explicit::local::{Local, Ls3};
use symbolic::engines::Symbolic;
use symbolic::reach::Direction;

use crate::auto::Auto;
use crate::checker::{Checker, Single};
use crate::listed_first::{FairListedFirst, ListedFirst};

/// A way to answer questions.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// The name on the command line and in the result document.
    pub name: &'static str,
    /// What it answers, for `--help`.
    pub answers: &'static str,
    /// Makes who answers.
    checker: fn() -> Box<dyn Checker>,
}

impl Method {
    /// Who answers questions by this method.
    pub fn checker(&self) -> Box<dyn Checker> {
        (self.checker)()
    }
}

const fn here(name: &'static str, answers: &'static str, checker: fn() -> Box<dyn Checker>) -> Method {
    Method { name, answers, checker }
}

fn one(engine: impl Engine + Send + Sync + 'static) -> Box<dyn Checker> {
    Box::new(Single(Arc::new(engine)))
}

fn auto() -> Box<dyn Checker> {
    Box::new(Auto::default())
}

fn mono() -> Box<dyn Checker> {
    one(explicit::Mono)
}

fn stubborn() -> Box<dyn Checker> {
    one(explicit::Stubborn)
}

fn forward() -> Box<dyn Checker> {
    one(Symbolic::Reach(Direction::Forward))
}

fn backward() -> Box<dyn Checker> {
    one(Symbolic::Reach(Direction::Backward))
}

fn split() -> Box<dyn Checker> {
    one(Symbolic::KIndex(1))
}

fn pairwise() -> Box<dyn Checker> {
    one(ListedFirst { k: 2 })
}

fn tmmc() -> Box<dyn Checker> {
    one(Local::new(1))
}

fn ls3() -> Box<dyn Checker> {
    one(Ls3 { with_witness: false, most_pairs: u64::MAX })
}

fn ls3_plus() -> Box<dyn Checker> {
    one(Ls3 { with_witness: true, most_pairs: u64::MAX })
}

fn triple() -> Box<dyn Checker> {
    one(ListedFirst { k: 3 })
}

fn completion() -> Box<dyn Checker> {
    one(Symbolic::Completion)
}

fn global() -> Box<dyn Checker> {
    one(Symbolic::Global)
}

fn ll() -> Box<dyn Checker> {
    one(FairListedFirst { rule: Rule::Ll })
}

fn fll_a() -> Box<dyn Checker> {
    one(FairListedFirst { rule: Rule::FllA })
}

fn fll_b() -> Box<dyn Checker> {
    one(FairListedFirst { rule: Rule::FllB })
}

fn pushdown() -> Box<dyn Checker> {
    one(explicit::pushdown::Pushdown)
}

/// All methods.
static METHODS: [Method; 17] = [
    here("auto", "everything; picks, and says what it did", auto),
    here("mono", "safety and temporal properties, on the whole product, explicit states", mono),
    here("stubborn", "safety, on the whole product with partial-order reduction, explicit states", stubborn),
    here("forward", "safety, on the whole product, with BDDs", forward),
    here("backward", "safety, on the whole product, with BDDs", backward),
    here("split", "safety: the strongest split invariant alone", split),
    here("completion", "safety: split invariants with refinement", completion),
    here("pairwise", "safety: two-index split invariants", pairwise),
    here("triple", "safety: three-index split invariants", triple),
    here("tmmc", "safety: thread-modular, explicit", tmmc),
    here("ls3", "safety: local state graphs by joint search of two processes", ls3),
    here("ls3+", "safety: the same, with a witness for what third processes do", ls3_plus),
    here("pushdown", "safety with procedures and unbounded stacks", pushdown),
    here("global", "temporal properties on the whole product, with BDDs", global),
    here("ll", "temporal properties, local, with refinement; no fairness but `every`", ll),
    here("fll-a", "temporal properties under fairness, local, with refinement: for every process", fll_a),
    here("fll-b", "temporal properties under fairness, local, with refinement: for one process", fll_b),
];

/// The methods of this version.
pub fn available() -> impl Iterator<Item = &'static Method> {
    METHODS.iter()
}

/// The method of this name.
///
/// # Errors
/// A name that no method has; the sentence names those that there are.
pub fn find(name: &str) -> Result<&'static Method, String> {
    let names = || available().map(|method| format!("`{}`", method.name)).collect::<Vec<_>>().join(", ");
    match METHODS.iter().find(|method| method.name == name) {
        Some(method) => Ok(method),
        None => Err(match nearest_name(name, available().map(|method| method.name)) {
            Some(near) => format!("there is no method `{name}`; did you mean `{near}`?"),
            None => format!("there is no method `{name}`; this version has {}", names()),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_found_or_unknown() {
        assert_eq!(find("mono").map(|method| method.name), Ok("mono"));
        let error = |name| find(name).unwrap_err();
        let all = "`auto`, `mono`, `stubborn`, `forward`, `backward`, `split`, `completion`, `pairwise`, `triple`, `tmmc`, `ls3`, \
            `ls3+`, `pushdown`, `global`, `ll`, `fll-a`, `fll-b`";
        assert_eq!(error("mnoo"), "there is no method `mnoo`; did you mean `mono`?");
        assert_eq!(error("magic"), format!("there is no method `magic`; this version has {all}"));
    }
}
