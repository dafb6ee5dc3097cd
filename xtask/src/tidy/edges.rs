//! Which crate uses which: the manifests must say what ARCHITECTURE.md says.
//!
//! In: the manifests, and the table of crates in ARCHITECTURE.md (first column the crate, second column what it uses). Out: a
//! finding for every edge that only one of them has, for crates that only one of them names, and for members that do not
//! come in the order of the data flow. Dependencies of tests are not edges.

use std::collections::{BTreeMap, BTreeSet};

use toml::Table;

use super::TidyFinding;
use super::tree::TextTree;

const PLAN: &str = "ARCHITECTURE.md";
const ROOT: &str = "Cargo.toml";

/// Each member in the order of the workspace, with the members that it uses.
type CrateEdges = Vec<(String, BTreeSet<String>)>;

/// Checks crate edges, names and order.
pub fn check(tree: &TextTree) -> Vec<TidyFinding> {
    let (members, mut findings) = members(tree);
    let documented = documented(tree.get(PLAN).unwrap_or_default());
    findings.extend(order(&members));
    for (name, uses) in &members {
        let Some((line, written)) = documented.get(name) else {
            findings.push(TidyFinding::new(PLAN, 0, format!("the table of crates does not name `{name}`")));
            continue;
        };
        for used in uses.difference(written) {
            let what = format!("`{name}` uses `{used}`: a new edge is a design change, write it here or remove it");
            findings.push(TidyFinding::new(PLAN, *line, what));
        }
        for unused in written.difference(uses) {
            findings.push(TidyFinding::new(PLAN, *line, format!("`{name}` does not use `{unused}`")));
        }
    }
    for (name, (line, _)) in &documented {
        if members.iter().all(|(member, _)| member != name) {
            findings.push(TidyFinding::new(PLAN, *line, format!("there is no crate `{name}`")));
        }
    }
    findings
}

/// Reads the manifests.
fn members(tree: &TextTree) -> (CrateEdges, Vec<TidyFinding>) {
    let mut findings = Vec::new();
    let root = table(tree, ROOT, &mut findings);
    let workspace = root.get("workspace").and_then(|value| value.as_table()).cloned().unwrap_or_default();
    let paths = workspace.get("members").and_then(|value| value.as_array()).cloned().unwrap_or_default();
    let shared = workspace.get("dependencies").and_then(|value| value.as_table()).cloned().unwrap_or_default();
    let mut edges = CrateEdges::new();
    for path in paths.iter().filter_map(|path| path.as_str()) {
        let manifest_path = format!("{path}/Cargo.toml");
        let manifest = table(tree, &manifest_path, &mut findings);
        let takes_lints = manifest.get("lints").and_then(|lints| lints.get("workspace")).is_some();
        if !takes_lints {
            findings.push(TidyFinding::new(&manifest_path, 0, "write `[lints] workspace = true`"));
        }
        let uses = ["dependencies", "build-dependencies"]
            .iter()
            .filter_map(|kind| manifest.get(*kind)?.as_table())
            .flat_map(Table::keys)
            .filter_map(|key| member_name(shared.get(key)?.get("path")?.as_str()?))
            .collect();
        edges.push((member_name(path).unwrap_or_default(), uses));
    }
    (edges, findings)
}

/// A member is called by its folder.
fn member_name(path: &str) -> Option<String> {
    path.rsplit('/').next().map(str::to_owned)
}

fn table(tree: &TextTree, path: &str, findings: &mut Vec<TidyFinding>) -> Table {
    let text = tree.get(path).unwrap_or_else(|| {
        findings.push(TidyFinding::new(path, 0, "the manifest is missing"));
        ""
    });
    text.parse().unwrap_or_else(|_| {
        findings.push(TidyFinding::new(path, 0, "the manifest cannot be read"));
        Table::new()
    })
}

/// A crate comes after all that it uses.
fn order(members: &CrateEdges) -> Vec<TidyFinding> {
    let position = |name: &str| members.iter().position(|(member, _)| member == name);
    let mut findings = Vec::new();
    for (at, (name, uses)) in members.iter().enumerate() {
        for used in uses.iter().filter(|used| position(used) > Some(at)) {
            let what = format!("`{name}` uses `{used}` and must be listed after it: members stand in data-flow order");
            findings.push(TidyFinding::new(ROOT, 0, what));
        }
    }
    findings
}

/// The rows ``| `crate` | `used`, `used` | …`` of the plan, with their lines.
fn documented(plan: &str) -> BTreeMap<String, (usize, BTreeSet<String>)> {
    let mut rows = BTreeMap::new();
    for (index, line) in plan.lines().enumerate() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let ["", first, second, ..] = cells[..] else { continue };
        let [name] = &quoted(first)[..] else { continue };
        if first == format!("`{name}`") {
            rows.insert(name.clone(), (index + 1, quoted(second).into_iter().collect()));
        }
    }
    rows
}

/// The words between back-ticks.
fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINTS: &str = "[lints]\nworkspace = true\n";

    fn findings(members: &str, b_uses: &str, plan: &str) -> Vec<String> {
        let root = format!(
            "[workspace]\nmembers = [{members}]\n[workspace.dependencies]\na = {{ path = \"crates/a\" }}\nserde = \"1\"\n"
        );
        let b = format!("[dependencies]\n{b_uses}\n{LINTS}");
        let tree =
            TextTree::of(&[(ROOT, &root), ("crates/a/Cargo.toml", LINTS), ("crates/b/Cargo.toml", &b), (PLAN, plan)]);
        check(&tree).iter().map(ToString::to_string).collect()
    }

    const GOOD_PLAN: &str = "| crate | uses |\n|---|---|\n| `a` | – | x |\n| `b` | `a` | y |\n";

    #[test]
    fn manifests_that_agree_with_the_plan_pass() {
        assert!(findings(r#""crates/a", "crates/b""#, "a.workspace = true\nserde = \"1\"", GOOD_PLAN).is_empty());
    }

    #[test]
    fn edges_that_only_one_side_has_are_found() {
        assert_eq!(findings(r#""crates/a", "crates/b""#, "", GOOD_PLAN), ["ARCHITECTURE.md:4: `b` does not use `a`"]);
        let plan = GOOD_PLAN.replace("| `a` | y", "| – | y");
        assert_eq!(
            findings(r#""crates/a", "crates/b""#, "a.workspace = true", &plan),
            ["ARCHITECTURE.md:4: `b` uses `a`: a new edge is a design change, write it here or remove it"]
        );
    }

    #[test]
    fn crates_that_only_one_side_names_are_found() {
        let plan = format!("{GOOD_PLAN}| `c` | – | z |\n");
        assert_eq!(
            findings(r#""crates/a", "crates/b""#, "a.workspace = true", &plan),
            ["ARCHITECTURE.md:5: there is no crate `c`"]
        );
        let plan = GOOD_PLAN.replace("| `a` | – | x |\n", "");
        assert_eq!(
            findings(r#""crates/a", "crates/b""#, "a.workspace = true", &plan),
            ["ARCHITECTURE.md: the table of crates does not name `a`"]
        );
    }

    #[test]
    fn members_stand_after_what_they_use() {
        assert_eq!(
            findings(r#""crates/b", "crates/a""#, "a.workspace = true", GOOD_PLAN),
            ["Cargo.toml: `b` uses `a` and must be listed after it: members stand in data-flow order"]
        );
    }
}
