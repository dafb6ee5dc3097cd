//! A name of a type has one meaning, or few: what many types are called says nothing about any of them.
//!
//! In: the sources. Out: a finding for each name that more types have than a reader can keep apart. Types inside functions and modules of tests do not count.

use std::collections::BTreeMap;

use super::TidyFinding;
use super::tree::TextTree;

/// No more types may have one name. Trees of several languages and checkers of several kinds of proofs have reasons to share theirs.
const MOST: usize = 10;

/// Checks the names of all types.
pub fn check(tree: &TextTree) -> Vec<TidyFinding> {
    let mut places: BTreeMap<&str, Vec<(&str, usize)>> = BTreeMap::new();
    for (path, text) in tree.rust_files().filter(|(path, _)| path.contains("src/")) {
        for (index, line) in text.lines().enumerate() {
            if let Some(name) = declared(line) {
                places.entry(name).or_default().push((path, index + 1));
            }
        }
    }
    let too_many = places.iter().filter(|(_, places)| places.len() > MOST);
    let finding = |(name, places): (&&str, &Vec<(&str, usize)>)| {
        let (path, line) = places[places.len() - 1];
        let what = format!("{} types are called `{name}`; give this one, or others, a name of its own", places.len());
        TidyFinding::new(path, line, what)
    };
    too_many.map(finding).collect()
}

/// The type that a line declares at the top of its file.
fn declared(line: &str) -> Option<&str> {
    let line = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
        Some(rest) => rest.strip_prefix(' ')?,
        None => line,
    };
    let rest = ["struct ", "enum ", "trait ", "type "].iter().find_map(|word| line.strip_prefix(word))?;
    rest.split(|c: char| !c.is_alphanumeric()).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_found_where_they_are_declared() {
        let declared = |line| declared(line).unwrap_or("none");
        assert_eq!(declared("pub struct Search<'a> {"), "Search");
        assert_eq!(declared("pub(super) enum Kind {"), "Kind");
        assert_eq!(declared("type Row = Vec<u32>;"), "Row");
        assert_eq!(
            (declared("    struct Inner;"), declared("pub fn f() {}"), declared("structure();")),
            ("none", "none", "none")
        );
    }

    #[test]
    fn a_name_of_many_types_is_found_once() {
        let text = "struct Outcome;\n".repeat(MOST);
        assert!(check(&TextTree::of(&[("a/src/lib.rs", &text)])).is_empty());
        let found = check(&TextTree::of(&[("a/src/lib.rs", &text), ("b/src/lib.rs", "\npub enum Outcome {}\n")]));
        assert_eq!((found.len(), found[0].path.as_str(), found[0].line), (1, "b/src/lib.rs", 2));
    }
}
