//! Which properties are asked for: `--property mutex`, `--property 'live*'`.
//!
//! In: globs and programs. Out: the properties of each program that some glob matches, or a sentence for each glob that
//! matches nothing. A `*` matches any letters, a `?` for one; nothing else is special.

use base::diagnostic::nearest_name;
use engine::PropertyId;
use model::Model;

/// How many names a message lists.
const MOST_NAMES: usize = 12;

/// A pattern over names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(String);

impl Glob {
    /// The pattern as the user writes it.
    pub fn new(pattern: impl Into<String>) -> Self {
        Glob(pattern.into())
    }

    /// The pattern as the user wrote it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the whole name matches.
    ///
    /// The usual two-finger method: after a mismatch the last `*` takes one letter more, so the work is at most the
    /// product of the lengths.
    pub fn matches(&self, name: &str) -> bool {
        let (pattern, name): (Vec<char>, Vec<char>) = (self.0.chars().collect(), name.chars().collect());
        let (mut at, mut seen) = (0, 0);
        let mut star: Option<(usize, usize)> = None;
        while seen < name.len() {
            match pattern.get(at) {
                Some('*') => {
                    star = Some((at, seen));
                    at += 1;
                }
                Some(&letter) if letter == '?' || letter == name[seen] => {
                    at += 1;
                    seen += 1;
                }
                _ => {
                    let Some((star_at, taken)) = star else { return false };
                    star = Some((star_at, taken + 1));
                    (at, seen) = (star_at + 1, taken + 1);
                }
            }
        }
        pattern[at..].iter().all(|&letter| letter == '*')
    }
}

/// The questions that are asked of each program: those that some glob matches, all where there is no glob.
///
/// # Errors
/// A sentence for each glob that matches nothing in any program.
pub fn questions(models: &[&Model], globs: &[Glob]) -> Result<Vec<Vec<PropertyId>>, Vec<String>> {
    let names: Vec<&str> = models.iter().flat_map(|model| model.properties.iter()).map(|of| of.name.as_str()).collect();
    let unmatched = globs.iter().filter(|glob| !names.iter().any(|name| glob.matches(name)));
    let errors: Vec<String> = unmatched.map(|glob| no_match(glob, &names)).collect();
    if !errors.is_empty() {
        return Err(errors);
    }
    let is_asked = |name: &str| globs.is_empty() || globs.iter().any(|glob| glob.matches(name));
    let of_model = |model: &Model| {
        let asked = model.properties.entries().filter(|(_, property)| is_asked(&property.name));
        asked.map(|(id, _)| id).collect()
    };
    Ok(models.iter().map(|model| of_model(model)).collect())
}

/// The property of this name.
///
/// # Errors
/// A sentence with the names that are near.
pub fn find(model: &Model, name: &str) -> Result<PropertyId, String> {
    let found = model.properties.entries().find(|(_, property)| property.name == name);
    found.map(|(id, _)| id).ok_or_else(|| {
        let names: Vec<&str> = model.properties.iter().map(|property| property.name.as_str()).collect();
        no_match(&Glob::new(name), &names)
    })
}

/// A sentence for a glob that matches none of the names.
fn no_match(glob: &Glob, names: &[&str]) -> String {
    let pattern = glob.as_str();
    let near = nearest_name(pattern.trim_matches('*'), names.iter().copied());
    match near {
        Some(name) => format!("no property matches `{pattern}`; did you mean `{name}`?"),
        None => {
            let mut known: Vec<&str> = Vec::new();
            names.iter().for_each(|name| {
                if !known.contains(name) {
                    known.push(name)
                }
            });
            let more = if known.len() > MOST_NAMES { ", …" } else { "" };
            known.truncate(MOST_NAMES);
            format!("no property matches `{pattern}`; there are: {}{more}", known.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks_match_and_the_rest_is_literal() {
        let matches = |pattern: &str, name| Glob::new(pattern).matches(name);
        for (pattern, name) in [
            ("mutex", "mutex"),
            ("*", ""),
            ("*", "live"),
            ("l*e", "live"),
            ("*iv*", "live"),
            ("l??e", "live"),
            ("race_free *", "race_free buffer"),
            ("a*b*c", "aXbXbYc"),
            ("[i]", "[i]"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("mutex", "mutex2"), ("", "x"), ("l?e", "live"), ("a*b", "abc"), ("x*", "")] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn many_stars_do_not_take_exponential_time() {
        let glob = Glob::new("a*".repeat(40) + "b");
        assert!(!glob.matches(&"a".repeat(400)));
    }

    #[test]
    fn a_glob_that_matches_nothing_names_what_is_near() {
        let names = ["mutex", "live", "deadlock_free"];
        assert_eq!(no_match(&Glob::new("mutx"), &names), "no property matches `mutx`; did you mean `mutex`?");
        assert_eq!(
            no_match(&Glob::new("z*"), &names),
            "no property matches `z*`; there are: mutex, live, deadlock_free"
        );
    }
}
