//! What was decided where, when methods raced: by local proofs, on a part of the whole product, or on all of it.

use engine::Verdict;
use engine::run::{PropertyResult, Run};

use crate::style::{Ink, Style};
use crate::text::{clean, hang};

/// A line on which questions were decided where, where methods raced or reduction had a part in it.
pub fn line(run: &Run, style: &Style) -> String {
    let is_decided = |result: &&PropertyResult| !matches!(result.verdict, Verdict::Unknown(_));
    let decided: Vec<&PropertyResult> = run.results.iter().filter(is_decided).collect();
    let is_told = |result: &&PropertyResult| !result.statistics.tried.is_empty() || result.method == "stubborn";
    if !decided.iter().any(is_told) {
        return String::new();
    }
    let mut methods: Vec<&str> = Vec::new();
    for result in &decided {
        if !methods.contains(&result.method) {
            methods.push(result.method);
        }
    }
    let part = |method: &&str| {
        let names = decided.iter().filter(|result| result.method == *method);
        let names: Vec<String> = names.map(|result| clean(&run.model.properties[result.property].name)).collect();
        format!("{} ({method}): {}", place(method), names.join(", "))
    };
    let text = match methods[..] {
        [only] => format!("{} ({only})", place(only)),
        _ => methods.iter().map(part).collect::<Vec<_>>().join("; "),
    };
    let text = hang("  decided ", &text, style.width.min(80));
    text.lines().map(|line| style.paint(Ink::Dim, line) + "\n").collect()
}

/// What a method searches.
fn place(method: &str) -> &'static str {
    match method {
        "stubborn" => "on the reduced whole product",
        "schedules" => "on some runs",
        "mono" | "forward" | "backward" | "global" => "on the whole product",
        _ => "locally",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::philosophers;

    #[test]
    fn it_is_said_where_methods_raced_or_reduction_had_a_part() {
        let mut run = philosophers(3);
        assert_eq!(line(&run, &Style::default()), "");
        run.results[0].method = "stubborn";
        let text = line(&run, &Style::default());
        assert!(text.starts_with("  decided on the reduced whole product (stubborn)"), "{text}");
    }
}
