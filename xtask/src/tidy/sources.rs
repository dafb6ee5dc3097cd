//! What a Rust file must look like: a header, limits of size, nothing left undone.
//!
//! In: the sources. Out: findings for files without a `//!` header, files and functions that are too long (tests are not
//! counted), `unwrap` outside tests, and leftovers anywhere. The file is parsed, so that words in strings and comments do not
//! count as code.

use std::collections::BTreeSet;

use proc_macro2::LineColumn;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Block, Item, ItemMod, Signature};

use super::TidyFinding;
use super::tree::TextTree;

/// The most lines of a file, tests not counted.
const FILE_LIMIT: usize = 800;
/// The most lines of a function.
const FUNCTION_LIMIT: usize = 100;
/// The most lines of `main`.
const MAIN_LIMIT: usize = 30;

/// Checks every Rust file.
pub fn check(tree: &TextTree) -> Vec<TidyFinding> {
    let mut findings = Vec::new();
    let parsed: Vec<_> = tree.rust_files().map(|(path, text)| (path, text, syn::parse_file(text))).collect();
    let mut test_files = BTreeSet::new();
    for (path, _, file) in &parsed {
        if let Ok(file) = file {
            test_files.extend(outside_test_modules(path, &file.items));
        }
    }
    for (path, text, file) in &parsed {
        findings.extend(text_rules(path, text));
        findings.extend(examples_that_nobody_runs(tree, path, text));
        findings.extend(tests_that_nobody_runs(tree, path, text));
        let Ok(file) = file else {
            findings.push(TidyFinding::new(path, 0, "the file cannot be parsed"));
            continue;
        };
        let in_tests = is_test_path(path) || test_files.contains(*path);
        let mut visitor = Visitor { path, in_tests, test_lines: 0, findings: Vec::new() };
        visitor.visit_file(file);
        let n_lines = text.lines().count() - visitor.test_lines;
        if !in_tests && n_lines > FILE_LIMIT {
            let what = format!("{n_lines} lines without tests; the limit is {FILE_LIMIT}: split by idea");
            visitor.findings.push(TidyFinding::new(path, 0, what));
        }
        findings.append(&mut visitor.findings);
    }
    findings
}

/// Rules on the text itself.
fn text_rules(path: &str, text: &str) -> Vec<TidyFinding> {
    let mut findings = Vec::new();
    if !text.starts_with("//!") {
        findings.push(TidyFinding::new(
            path,
            1,
            "begin with `//!`: what it is, what goes in, what comes out, the method",
        ));
    }
    // Put together here, so that this file does not find itself.
    let leftovers = [concat!("FIX", "ME"), concat!("XX", "X")];
    for (index, line) in text.lines().enumerate() {
        for word in leftovers.iter().filter(|word| line.contains(**word)) {
            let what = format!("`{word}`: a doubt is an issue and an `Unknown`, never a note in the code");
            findings.push(TidyFinding::new(path, index + 1, what));
        }
    }
    findings
}

/// An example in a comment is a test, unless the manifest leaves these out (which spares a crate without examples a run of rustdoc).
fn examples_that_nobody_runs(tree: &TextTree, path: &str, text: &str) -> Option<TidyFinding> {
    let (package, _) = path.split_once("/src/")?;
    if !tree.get(&format!("{package}/Cargo.toml"))?.contains("doctest = false") {
        return None;
    }
    let opens = |line: &str| {
        let line = line.trim_start();
        line.strip_prefix("///").or(line.strip_prefix("//!")).is_some_and(|rest| rest.trim_start().starts_with("```"))
    };
    let line = text.lines().position(opens)?;
    Some(TidyFinding::new(
        path,
        line + 1,
        format!("nobody runs this example: remove `doctest = false` from {package}/Cargo.toml"),
    ))
}

/// A test within a crate is run, unless the manifest leaves these out (which spares a crate whose tests are all in `tests` a second build).
fn tests_that_nobody_runs(tree: &TextTree, path: &str, text: &str) -> Option<TidyFinding> {
    let (package, _) = path.split_once("/src/")?;
    let manifest = tree.get(&format!("{package}/Cargo.toml"))?;
    if !manifest.lines().any(|line| line == "test = false") {
        return None;
    }
    let line = text.lines().position(|line| line.trim_start().starts_with("#[test]"))?;
    let what = format!(
        "nobody runs this test: remove `test = false` from {package}/Cargo.toml, or move it to {package}/tests"
    );
    Some(TidyFinding::new(path, line + 1, what))
}

/// Whether the file's place says that it holds tests.
pub fn is_test_path(path: &str) -> bool {
    let folders = ["tests", "benches", "fuzz"];
    path.split('/').any(|part| folders.contains(&part)) || path.ends_with("/tests.rs")
}

/// The files of `#[cfg(test)] mod name;`.
fn outside_test_modules(path: &str, items: &[Item]) -> Vec<String> {
    let folder = match path.rsplit_once('/') {
        Some((folder, "lib.rs" | "main.rs" | "mod.rs")) => folder.to_owned(),
        _ => path.trim_end_matches(".rs").to_owned(),
    };
    let modules = items.iter().filter_map(|item| match item {
        Item::Mod(module) if module.content.is_none() && is_for_tests(&module.attrs) => Some(module.ident.to_string()),
        _ => None,
    });
    modules.flat_map(|name| [format!("{folder}/{name}.rs"), format!("{folder}/{name}/mod.rs")]).collect()
}

/// `#[test]`, `#[cfg(test)]`, `#[cfg(any(test, …))]`.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg") && {
                let condition = attribute.meta.require_list().map(|list| list.tokens.to_string());
                condition.is_ok_and(|condition| condition.split(|c: char| !c.is_alphanumeric()).any(|w| w == "test"))
            }
    })
}

/// Walks one file.
struct Visitor<'a> {
    path: &'a str,
    /// Whether what is being visited is compiled for tests only.
    in_tests: bool,
    /// Lines of inline test modules so far.
    test_lines: usize,
    findings: Vec<TidyFinding>,
}

impl Visitor<'_> {
    fn find(&mut self, at: LineColumn, what: impl Into<String>) {
        self.findings.push(TidyFinding::new(self.path, at.line, what));
    }

    /// The length of a function is that of its text from `fn` to the closing brace, documentation not counted.
    fn function(&mut self, signature: &Signature, block: &Block) {
        let (start, end) = (signature.fn_token.span.start(), block.brace_token.span.close().end());
        let n_lines = end.line - start.line + 1;
        let limit = if signature.ident == "main" { MAIN_LIMIT } else { FUNCTION_LIMIT };
        if !self.in_tests && n_lines > limit {
            self.find(start, format!("`{}` has {n_lines} lines; the limit is {limit}", signature.ident));
        }
    }

    /// Visits with the knowledge of whether this is for tests.
    fn within(&mut self, attributes: &[Attribute], visit: impl FnOnce(&mut Self)) {
        let outside = self.in_tests;
        self.in_tests |= is_for_tests(attributes);
        visit(self);
        self.in_tests = outside;
    }
}

impl<'ast> Visit<'ast> for Visitor<'_> {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if !self.in_tests && is_for_tests(&module.attrs) && module.content.is_some() {
            self.test_lines += module.span().end().line - module.span().start().line + 1;
        }
        self.within(&module.attrs, |visitor| visit::visit_item_mod(visitor, module));
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.within(&function.attrs, |visitor| {
            visitor.function(&function.sig, &function.block);
            visit::visit_item_fn(visitor, function);
        });
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.within(&function.attrs, |visitor| {
            visitor.function(&function.sig, &function.block);
            visit::visit_impl_item_fn(visitor, function);
        });
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if attribute.path().is_ident("ignore") {
            self.find(attribute.span().start(), "no ignored tests: assert today's behaviour and say what is wrong");
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if !self.in_tests && call.method == "unwrap" && call.args.is_empty() {
            self.find(call.method.span().start(), "no `unwrap` outside tests: `expect(\"why it cannot fail\")`");
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let name = call.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        if ["todo", "unimplemented", "dbg"].contains(&name.as_str()) {
            self.find(call.span().start(), format!("`{name}!` is a leftover"));
        }
        // Arguments of macros are tokens, not expressions.
        if !self.in_tests && call.tokens.to_string().replace(' ', "").contains(".unwrap()") {
            self.find(call.span().start(), "no `unwrap` outside tests: `expect(\"why it cannot fail\")`");
        }
        visit::visit_macro(self, call);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(files: &[(&str, &str)]) -> Vec<String> {
        check(&TextTree::of(files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_file_begins_with_its_header() {
        assert!(findings(&[("a.rs", "//! Good.\nfn f() {}\n")]).is_empty());
        assert_eq!(findings(&[("a.rs", "fn f() {}\n")]).len(), 1);
        assert_eq!(findings(&[("a.rs", "//! Bad.\nfn f( {}\n")]), ["a.rs: the file cannot be parsed"]);
    }

    #[test]
    fn long_files_are_found_and_tests_are_not_counted() {
        let code = "const X: u8 = 1;\n".repeat(799);
        assert!(findings(&[("a.rs", &format!("//! H.\n{code}"))]).is_empty());
        assert_eq!(
            findings(&[("a.rs", &format!("//! H.\n{code}const Y: u8 = 1;\n"))]),
            ["a.rs: 801 lines without tests; the limit is 800: split by idea"]
        );
        let tests = "#[cfg(test)]\nmod tests {\n    fn f() {}\n}\n";
        assert!(findings(&[("a.rs", &format!("//! H.\n{code}{tests}"))]).is_empty());
        let long_tests = ("src/long.rs", format!("//! H.\n{code}{code}"));
        let lib = ("src/lib.rs", "//! H.\n#[cfg(test)]\nmod long;\n");
        assert!(findings(&[lib, (long_tests.0, &long_tests.1)]).is_empty());
    }

    #[test]
    fn long_functions_are_found() {
        let function = |name: &str, lines: usize| format!("//! H.\nfn {name}() {{\n{}}}\n", "    f();\n".repeat(lines));
        assert!(findings(&[("a.rs", &function("f", 98))]).is_empty());
        assert_eq!(findings(&[("a.rs", &function("f", 99))]), ["a.rs:2: `f` has 101 lines; the limit is 100"]);
        assert_eq!(findings(&[("a.rs", &function("main", 29))]), ["a.rs:2: `main` has 31 lines; the limit is 30"]);
        let method = format!("//! H.\nimpl T {{ fn g() {{\n{} }} }}\n", "f();\n".repeat(100));
        assert_eq!(findings(&[("a.rs", &method)]).len(), 1);
    }

    #[test]
    fn unwrap_is_for_tests() {
        let what = "no `unwrap` outside tests: `expect(\"why it cannot fail\")`";
        assert_eq!(findings(&[("a.rs", "//! H.\nfn f() { g().unwrap(); }\n")]), [format!("a.rs:2: {what}")]);
        assert_eq!(findings(&[("a.rs", "//! H.\nfn f() { println!(\"{}\", g().unwrap()); }\n")]).len(), 1);
        assert!(findings(&[("a.rs", "//! H.\n#[cfg(test)]\nmod t { fn f() { g().unwrap(); } }\n")]).is_empty());
        assert!(findings(&[("a.rs", "//! H.\n#[test]\nfn f() { g().unwrap(); }\n")]).is_empty());
        assert!(findings(&[("tests/a.rs", "//! H.\nfn f() { g().unwrap(); }\n")]).is_empty());
        assert!(findings(&[("a.rs", "//! H.\n/// Not `.unwrap()`.\nfn f() {}\n")]).is_empty());
    }

    #[test]
    fn examples_are_run() {
        let example = ("crates/a/src/lib.rs", "//! H.\n\n/// ```\n/// a::f();\n/// ```\npub fn f() {}\n");
        let manifest = |text| ("crates/a/Cargo.toml", text);
        assert!(findings(&[example, manifest("[lib]\nname = \"a\"\n")]).is_empty());
        let what = "nobody runs this example: remove `doctest = false` from crates/a/Cargo.toml";
        let found = findings(&[example, manifest("[lib]\nname = \"a\"\ndoctest = false\n")]);
        assert_eq!(found, [format!("crates/a/src/lib.rs:3: {what}")]);
    }

    #[test]
    fn a_test_that_nobody_runs_is_found() {
        let test = ("crates/a/src/b.rs", "//! H.\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() {}\n}\n");
        let manifest = |text| ("crates/a/Cargo.toml", text);
        assert!(findings(&[test, manifest("[lib]\nname = \"a\"\n")]).is_empty());
        let what =
            "nobody runs this test: remove `test = false` from crates/a/Cargo.toml, or move it to crates/a/tests";
        let found = findings(&[test, manifest("[lib]\nname = \"a\"\ntest = false\n")]);
        assert_eq!(found, [format!("crates/a/src/b.rs:4: {what}")]);
    }

    #[test]
    fn leftovers_are_found_everywhere() {
        assert_eq!(findings(&[("a.rs", "//! H.\nfn f() { todo!() }\n")]), ["a.rs:2: `todo!` is a leftover"]);
        let ignored = "//! H.\n#[test]\n#[ignore]\nfn f() {}\n";
        assert_eq!(findings(&[("tests/a.rs", ignored)]).len(), 1);
        let note = format!("//! H.\n// {}: later\n", concat!("FIX", "ME"));
        assert_eq!(findings(&[("a.rs", &note)]).len(), 1);
    }
}
