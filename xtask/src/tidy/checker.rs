//! What the checker may use of `model`: data, the reference semantics, and names for messages.
//!
//! In: the sources of `audit`. Out: a finding for every item of `model` that is none of these, and for every method that decides
//! what an engine may leave out. The checker decides by itself what may be left out of a proof (other instances by symmetry,
//! cells outside a view, steps by footprint), so that a mistake of an engine cannot be its own judge.

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{ExprMethodCall, ItemUse, UseTree};

use super::TidyFinding;
use super::tree::TextTree;

/// The modules of `model` that the checker may use, with their functions; types of these modules are data and may all be used.
const ALLOWED: [(&str, &[&str]); 14] = [
    ("control", &[]),
    (
        "eval",
        &[
            "able",
            "attempts_of",
            "attempts_up_to",
            "local_attempts_up_to",
            "evaluate",
            "free_cells",
            "holds",
            "initial_states",
            "is_deadlock",
            "is_idle",
            "is_initial",
            "is_terminated",
            "is_true_of",
            "likely_steps_of",
            "likely_touched_along",
            "likely_touched_by",
            "likely_turns",
            "may_end",
            "race",
            "receptions_of",
            "steps",
            "steps_of",
            "steps_up_to",
            "touched_by",
            "turns",
        ],
    ),
    ("expr", &[]),
    ("fairness", &[]),
    ("instance", &["static_value"]),
    ("machine", &[]),
    ("print", &["formula", "value"]),
    ("process", &[]),
    ("property", &[]),
    ("size", &[]),
    ("types", &[]),
    ("value", &[]),
    ("variable", &[]),
    ("visit", &["each_child_mut", "each_part"]),
];

/// Methods of the Model's types by which engines decide what may be left out.
const REFUSED_METHODS: [&str; 3] = ["can_fault", "can_fault_at_some_size", "spread"];

/// Checks the sources of `audit`, tests aside.
pub fn check(tree: &TextTree) -> Vec<TidyFinding> {
    let mut findings = Vec::new();
    let sources =
        tree.rust_files().filter(|(path, _)| path.starts_with("crates/audit/src/") && !path.ends_with("tests.rs"));
    for (path, text) in sources {
        // A file that cannot be parsed is a finding of `sources`.
        if let Ok(file) = syn::parse_file(text) {
            let mut visitor = CheckerVisitor { path, findings: &mut findings };
            visitor.visit_file(&file);
        }
    }
    findings
}

struct CheckerVisitor<'a> {
    path: &'a str,
    findings: &'a mut Vec<TidyFinding>,
}

impl CheckerVisitor<'_> {
    fn judge(&mut self, names: &[String], line: usize) {
        let [first, module, rest @ ..] = names else { return };
        if first != "model" || is_type(module) {
            return;
        }
        let allowed = ALLOWED.iter().find(|(name, _)| name == module);
        let is_allowed =
            |item: &String| is_type(item) || allowed.is_some_and(|(_, items)| items.contains(&item.as_str()));
        let known = match rest {
            [] | [_] if rest.first().is_some_and(|item| item == "self") => allowed.is_some(),
            [] => allowed.is_some(),
            [item, ..] => allowed.is_some() && is_allowed(item),
        };
        if !known {
            let what = format!(
                "`{}` is not for the checker: it decides from the definition (see xtask/src/tidy/checker.rs)",
                names.join("::")
            );
            self.findings.push(TidyFinding::new(self.path, line, what));
        }
    }

    fn tree(&mut self, tree: &UseTree, before: &[String], line: usize) {
        let with = |name: &syn::Ident| before.iter().cloned().chain([name.to_string()]).collect::<Vec<_>>();
        match tree {
            UseTree::Path(path) => self.tree(&path.tree, &with(&path.ident), line),
            UseTree::Name(name) => self.judge(&with(&name.ident), line),
            UseTree::Rename(rename) => self.judge(&with(&rename.ident), line),
            UseTree::Glob(_) => self.judge(&[before, &["*".to_owned()]].concat(), line),
            UseTree::Group(group) => group.items.iter().for_each(|item| self.tree(item, before, line)),
        }
    }
}

/// Types begin with a capital letter.
fn is_type(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_uppercase())
}

impl<'ast> Visit<'ast> for CheckerVisitor<'_> {
    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.tree(&item.tree, &[], item.span().start().line);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.judge(&names, path.span().start().line);
        visit::visit_path(self, path);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        if REFUSED_METHODS.iter().any(|name| call.method == name) {
            let what = format!(
                "`{}` is how engines decide what to leave out: the checker decides from the definition",
                call.method
            );
            self.findings.push(TidyFinding::new(self.path, call.span().start().line, what));
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        // Tests may compare with anything.
        if !module.attrs.iter().any(|attribute| attribute.path().is_ident("cfg")) {
            visit::visit_item_mod(self, module);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> Vec<String> {
        let tree = TextTree::of(&[("crates/audit/src/a.rs", text)]);
        check(&tree).into_iter().map(|finding| finding.to_string()).collect()
    }

    #[test]
    fn data_and_the_reference_semantics_are_for_the_checker() {
        let text =
            "use model::Model; use model::eval::{State, initial_states, steps}; use model::expr::{Expr, ExprKind};
                    fn f() { model::print::value(m, v); let _: model::eval::State; use model::eval::{self}; }";
        assert_eq!(findings(text), Vec::<String>::new());
    }

    #[test]
    fn what_engines_leave_out_by_is_not() {
        let refused = [
            "use model::symmetry::asymmetries;",
            "use model::{Model, footprint};",
            "use model::footprint::*;",
            "use model::eval::*;",
            "fn f() { model::points::search(m); }",
            "fn f(e: &Expr) -> bool { e.can_fault() }",
        ];
        for text in refused {
            assert_eq!(findings(text).len(), 1, "{text}: {:?}", findings(text));
        }
    }
}
