//! Every error code has a row in the table, an explanation, and fixtures.
//!
//! In: the table of codes (`lang::codes`) and the sources. Out: a finding for each code that the sources give and the table
//! does not know, for rows without words or with a code that is taken, for codes without a wrong program and the same
//! program put right, and for fixtures of codes that do not exist. That a wrong program draws its code is a test of `lang`.

use std::collections::BTreeSet;

use lang::codes::Code;
use syn::visit::{self, Visit};

use super::TidyFinding;
use super::sources::is_test_path;
use super::tree::TextTree;

const TABLE: &str = "crates/lang/src/codes.rs";
const FIXTURES: &str = "crates/lang/tests/errors";

/// Checks the codes of the front-ends.
pub fn check(tree: &TextTree) -> Vec<TidyFinding> {
    let table: Vec<&Code> = lang::codes::all().collect();
    rows(tree, &table)
}

fn rows(tree: &TextTree, table: &[&Code]) -> Vec<TidyFinding> {
    let mut findings = Vec::new();
    let mut known = BTreeSet::new();
    for row in table {
        let mut report = |what: &str| findings.push(TidyFinding::new(TABLE, 0, format!("{}: {what}", row.code)));
        if !known.insert(row.code) {
            report("the code is taken");
        }
        if !is_code(row.code) {
            report("a code is `E` or `W` and four digits");
        }
        if row.title.trim().is_empty() || row.explanation.trim().is_empty() {
            report("write a title and an explanation");
        }
        for ending in ["", "fixed."] {
            let path = format!("{FIXTURES}/{}.{ending}{}", row.code, row.language);
            if tree.get(&path).is_none() {
                report(&format!("write the fixture {path}"));
            }
        }
    }
    for (path, text) in tree.rust_files().filter(|(path, _)| path.starts_with("crates/") && !is_test_path(path)) {
        let Ok(file) = syn::parse_file(text) else { continue };
        let mut literals = Literals::default();
        literals.visit_file(&file);
        for (code, line) in literals.0.iter().filter(|(code, _)| !known.contains(code.as_str())) {
            findings.push(TidyFinding::new(path, *line, format!("the table of codes has no row for {code}")));
        }
    }
    for (path, _) in tree.files() {
        let name = path.strip_prefix(FIXTURES).and_then(|name| name.strip_prefix('/'));
        let code = name.and_then(|name| name.split('.').next());
        if let Some(code) = code.filter(|code| is_code(code) && !known.contains(code)) {
            findings.push(TidyFinding::new(path, 0, format!("there is no code {code}")));
        }
    }
    findings
}

fn is_code(text: &str) -> bool {
    text.len() == 5 && text.starts_with(['E', 'W']) && text[1..].bytes().all(|byte| byte.is_ascii_digit())
}

/// The string literals of a file that are codes, with their lines; tests may make codes up.
#[derive(Default)]
struct Literals(Vec<(String, usize)>);

impl<'ast> Visit<'ast> for Literals {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if module.ident != "tests" {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_lit_str(&mut self, literal: &'ast syn::LitStr) {
        if is_code(&literal.value()) {
            self.0.push((literal.value(), literal.span().start().line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: Code = Code { code: "E0103", title: "t", explanation: "e", wrong: "", right: "", language: "pw" };

    fn findings(files: &[(&str, &str)], table: &[&Code]) -> Vec<String> {
        rows(&TextTree::of(files), table).iter().map(ToString::to_string).collect()
    }

    const FIXTURE: (&str, &str) = ("crates/lang/tests/errors/E0103.pw", "");
    const FIXED: (&str, &str) = ("crates/lang/tests/errors/E0103.fixed.pw", "");

    #[test]
    fn a_code_has_words_and_fixtures() {
        assert!(findings(&[FIXTURE, FIXED], &[&ROW]).is_empty());
        assert_eq!(
            findings(&[FIXTURE], &[&ROW]),
            ["crates/lang/src/codes.rs: E0103: write the fixture crates/lang/tests/errors/E0103.fixed.pw"]
        );
        assert_eq!(findings(&[FIXTURE, FIXED], &[&Code { explanation: " ", ..ROW }]).len(), 1);
        assert_eq!(findings(&[FIXTURE, FIXED], &[&ROW, &ROW]), ["crates/lang/src/codes.rs: E0103: the code is taken"]);
    }

    #[test]
    fn codes_and_fixtures_outside_the_table_are_found() {
        let source = ("crates/lang/src/x.rs", "const A: &str = \"E0199\";\nmod tests { const B: &str = \"E9999\"; }\n");
        assert_eq!(
            findings(&[FIXTURE, FIXED, source], &[&ROW]),
            ["crates/lang/src/x.rs:1: the table of codes has no row for E0199"]
        );
        assert_eq!(
            findings(&[FIXTURE, FIXED], &[]),
            [
                "crates/lang/tests/errors/E0103.fixed.pw: there is no code E0103",
                "crates/lang/tests/errors/E0103.pw: there is no code E0103"
            ]
        );
    }
}
