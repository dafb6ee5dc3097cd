//! Who is behind each method, and methods by their names on the command line.
//!
//! What the methods answer, and what they do not follow, is declared in `engine::methods`. A name that no method has is refused, with
//! the nearest one.

use std::sync::Arc;

use base::diagnostic::nearest_name;
use engine::Engine;
use engine::methods::{Declaration, METHODS, Method};
use explicit::fair::Rule;
use explicit::local::{Local, Ls3};
use symbolic::engines::Symbolic;
use symbolic::reach::Direction;

use crate::auto::Auto;
use crate::checker::{Checker, Single};
use crate::listed_first::ListedFirst;

/// Who answers questions by a method.
pub fn checker(method: Method) -> Box<dyn Checker> {
    match method {
        Method::Auto => Box::new(Auto::default()),
        Method::Mono => one(explicit::Mono),
        Method::Stubborn => one(explicit::Stubborn),
        Method::Forward => one(Symbolic::Reach(Direction::Forward)),
        Method::Backward => one(Symbolic::Reach(Direction::Backward)),
        Method::Split => one(Symbolic::KIndex(1)),
        Method::Completion => one(Symbolic::Completion),
        Method::Pairwise => one(ListedFirst::k_index(2)),
        Method::Triple => one(ListedFirst::k_index(3)),
        Method::Tmmc => one(Local::new(1)),
        Method::Ls3 => one(Ls3 { with_witness: false, most_pairs: u64::MAX }),
        Method::Ls3Plus => one(Ls3 { with_witness: true, most_pairs: u64::MAX }),
        Method::Pushdown => one(explicit::pushdown::Pushdown),
        Method::Global => one(Symbolic::Global),
        Method::Ll => one(ListedFirst::fair(Rule::Ll)),
        Method::FllA => one(ListedFirst::fair(Rule::FllA)),
        Method::FllB => one(ListedFirst::fair(Rule::FllB)),
    }
}

fn one(engine: impl Engine + Send + Sync + 'static) -> Box<dyn Checker> {
    Box::new(Single(Arc::new(engine)))
}

/// The methods of this version.
pub fn available() -> impl Iterator<Item = &'static Declaration> {
    METHODS.iter()
}

/// The method of this name.
///
/// # Errors
/// A name that no method has; the sentence names those that there are.
pub fn find(name: &str) -> Result<Method, String> {
    let names = || available().map(|declared| format!("`{}`", declared.name)).collect::<Vec<_>>().join(", ");
    match available().find(|declared| declared.name == name) {
        Some(declared) => Ok(declared.method),
        None => Err(match nearest_name(name, available().map(|declared| declared.name)) {
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
        assert_eq!(find("mono"), Ok(Method::Mono));
        let error = |name| find(name).unwrap_err();
        let all = "`auto`, `mono`, `stubborn`, `forward`, `backward`, `split`, `completion`, `pairwise`, `triple`, `tmmc`, `ls3`, \
            `ls3+`, `pushdown`, `global`, `ll`, `fll-a`, `fll-b`";
        assert_eq!(error("mnoo"), "there is no method `mnoo`; did you mean `mono`?");
        assert_eq!(error("magic"), format!("there is no method `magic`; this version has {all}"));
    }

    #[test]
    fn the_engine_behind_a_name_has_that_name() {
        for declared in available() {
            assert_eq!(checker(declared.method).name(), declared.name);
        }
    }
}
