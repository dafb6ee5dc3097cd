//! The engine behind each method, and methods by their names on the command line.
//!
//! What the methods answer, and what they do not follow, is declared in `engine::methods`. A name that no method has is refused, with
//! the nearest one.

use std::sync::Arc;

use base::diagnostic::nearest_name;
use engine::methods::{Declaration, METHODS, Method};
use engine::settings::{Setting, SettingError};
use local::fair::LivenessRule;
use local::{ExplicitKIndex, Ls3, PrunedKIndex};
use symbolic::engines::{Symbolic, Tuned};
use symbolic::reach::SearchDirection;

use crate::auto::Auto;
use crate::checker::{Checker, SharedEngine, Single};
use crate::explicit_then_symbolic::ExplicitThenSymbolic;
use crate::with_sums::WithSums;

/// The checker that answers questions by a method.
pub fn checker(method: Method) -> Box<dyn Checker> {
    match engine(method) {
        Some(engine) => Box::new(Single(engine)),
        None => Box::new(Auto::default()),
    }
}

/// The engine behind a method; `auto` has none of its own.
pub(crate) fn engine(method: Method) -> Option<SharedEngine> {
    Some(match method {
        Method::Auto => return None,
        Method::Mono => Arc::new(product::Mono),
        Method::Stubborn => Arc::new(product::Stubborn),
        Method::Schedules => Arc::new(product::Schedules::default()),
        Method::Forward => symbolic_engine(Symbolic::Reach(SearchDirection::Forward)),
        Method::Backward => symbolic_engine(Symbolic::Reach(SearchDirection::Backward)),
        Method::Split => Arc::new(WithSums::new(Tuned::from(Symbolic::KIndex(1)), |_, sums| {
            Arc::new(PrunedKIndex { sets: ExplicitKIndex::new(1), sums })
        })),
        Method::Completion => symbolic_engine(Symbolic::Completion),
        Method::Pairwise => Arc::new(ExplicitThenSymbolic::k_index(2)),
        Method::Triple => Arc::new(ExplicitThenSymbolic::k_index(3)),
        Method::Tmmc => Arc::new(with_sums(ExplicitKIndex::new(1))),
        Method::Ls3 => Arc::new(Ls3 { with_witness: false, most_pairs: u64::MAX }),
        Method::Ls3Plus => Arc::new(Ls3 { with_witness: true, most_pairs: u64::MAX }),
        Method::Views => Arc::new(crate::viewing::Viewing::default()),
        Method::Pushdown => Arc::new(pushdown::Pushdown::default()),
        Method::Global => symbolic_engine(Symbolic::Global),
        Method::Propagate => Arc::new(crate::propagating::Propagating::default()),
        Method::Ll => Arc::new(ExplicitThenSymbolic::fair(LivenessRule::Ll)),
        Method::FllA => Arc::new(ExplicitThenSymbolic::fair(LivenessRule::FllA)),
        Method::FllB => Arc::new(ExplicitThenSymbolic::fair(LivenessRule::FllB)),
    })
}

/// Thread-modular checking, with sums where it is too coarse without.
pub(crate) fn with_sums(plain: ExplicitKIndex) -> WithSums<ExplicitKIndex> {
    WithSums::new(plain, |sets, sums| Arc::new(PrunedKIndex { sets: *sets, sums }))
}

fn symbolic_engine(method: Symbolic) -> SharedEngine {
    Arc::new(Tuned::from(method))
}

/// What a user may set of a method, with the usual values.
pub fn settings(method: Method) -> Vec<Setting> {
    checker(method).settings().map(|settings| settings.list()).unwrap_or_default()
}

/// The checker that answers questions by a method where some of its settings have other values: `NAME=VALUE` for each.
///
/// # Errors
/// What is no setting of the method, or no value of it; one sentence for each.
pub fn configured(method: Method, given: &[String]) -> Result<Box<dyn Checker>, Vec<String>> {
    let mut checker = checker(method);
    let wrong: Vec<String> = given.iter().filter_map(|one| set(&mut *checker, method, one).err()).collect();
    if wrong.is_empty() { Ok(checker) } else { Err(wrong) }
}

fn set(checker: &mut dyn Checker, method: Method, given: &str) -> Result<(), String> {
    let Some((name, value)) = given.split_once('=') else {
        return Err(format!("`--set {given}` has no value; write `--set NAME=VALUE`"));
    };
    let (name, value) = (name.trim(), value.trim());
    let Some(settings) = checker.settings() else {
        return Err(format!("method `{}` has no settings", method.name()));
    };
    settings.set(name, value).map_err(|error| match error {
        SettingError::Value(how) => format!("`{value}` is no value of `{name}`; {how}"),
        SettingError::Unknown => {
            let names: Vec<String> = settings.list().into_iter().map(|setting| setting.name).collect();
            let message = format!("method `{}` has no setting `{name}`", method.name());
            match nearest_name(name, names.iter().map(String::as_str)) {
                Some(near) => format!("{message}; did you mean `{near}`?"),
                None => format!("{message}; it has {}", names.join(", ")),
            }
        }
    })
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
        let all = "`auto`, `mono`, `stubborn`, `schedules`, `forward`, `backward`, `split`, `completion`, `pairwise`, `triple`, `tmmc`, `ls3`, \
            `ls3+`, `views`, `pushdown`, `global`, `propagate`, `ll`, `fll-a`, `fll-b`";
        assert_eq!(error("mnoo"), "there is no method `mnoo`; did you mean `mono`?");
        assert_eq!(error("magic"), format!("there is no method `magic`; this version has {all}"));
    }

    #[test]
    fn settings_are_made_or_refused_in_words() {
        let wrong = |method, given: &str| configured(method, &[given.to_owned()]).err().unwrap_or_default().join("\n");
        assert_eq!(wrong(Method::Pushdown, "rounds=3"), "");
        assert_eq!(wrong(Method::Completion, "first-nodes=4096"), "");
        assert_eq!(wrong(Method::Pushdown, "rounds"), "`--set rounds` has no value; write `--set NAME=VALUE`");
        assert_eq!(
            wrong(Method::Pushdown, "rounds=none"),
            "`none` is no value of `rounds`; write a whole number from 1 on"
        );
        let near = "method `pushdown` has no setting `round`; did you mean `rounds`?";
        assert_eq!(wrong(Method::Pushdown, "round=3"), near);
        assert_eq!(wrong(Method::Mono, "rounds=3"), "method `mono` has no settings");
        let mut checker = configured(Method::Auto, &["moment=1s".to_owned()]).unwrap_or_else(|_| panic!("it is one"));
        let listed = checker.settings().map(|settings| settings.list()).unwrap_or_default();
        assert!(listed.iter().any(|setting| setting.name == "moment" && setting.value == "1s"), "{listed:?}");
    }

    #[test]
    fn settings_of_one_method_have_names_of_their_own() {
        for declared in available() {
            let listed: Vec<String> = settings(declared.method).into_iter().map(|setting| setting.name).collect();
            let distinct: std::collections::BTreeSet<&String> = listed.iter().collect();
            assert_eq!(distinct.len(), listed.len(), "{}: {listed:?}", declared.name);
        }
    }

    #[test]
    fn the_engine_behind_a_name_has_that_name() {
        for declared in available() {
            assert_eq!(checker(declared.method).name(), declared.name);
        }
    }
}
