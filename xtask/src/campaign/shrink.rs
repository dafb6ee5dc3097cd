//! Findings made small: lines and braces are taken out of the text as long as the same is wrong.
//!
//! In: a program, and what is wrong with one method's answer. Out: a smaller program with the same fault, and the finding about it.

use super::asked::Respondent;
use super::case::CampaignCase;
use super::judge::{self, CampaignFinding, FindingKind};
use super::mutants;

/// So many smaller texts are tried.
const MOST_TRIED: usize = 1500;

/// So often a changed certificate is searched for in a smaller program.
const N_CHANGES: u64 = 40;

/// The smallest program found in which the same is wrong.
pub fn smallest(case: &CampaignCase, seed: u64, finding: CampaignFinding) -> (String, CampaignFinding) {
    if !case.is_text {
        return (case.text.clone(), finding);
    }
    let mut best = (case.text.clone(), finding);
    let mut n_tried = 0;
    let mut progress = true;
    while progress && n_tried < MOST_TRIED {
        progress = false;
        for candidate in smaller(&best.0) {
            n_tried += 1;
            if n_tried > MOST_TRIED {
                break;
            }
            if let Some(finding) = again(&candidate, seed, &best.1) {
                best = (candidate, finding);
                progress = true;
                break;
            }
        }
    }
    best
}

/// The same fault in another text.
fn again(text: &str, seed: u64, finding: &CampaignFinding) -> Option<CampaignFinding> {
    let case = CampaignCase::of_text(text.to_owned()).ok()?;
    let method = Respondent::find(finding.method).ok()?;
    let all: Vec<_> = case.model.properties.ids().collect();
    match judge::ask_about(method, &case, &all) {
        Err(found) => (found.kind == finding.kind && plain(&found.what) == plain(&finding.what)).then_some(found),
        Ok(results) => match finding.kind {
            FindingKind::WrongVerdict | FindingKind::Undecided => {
                let wrong = |result| {
                    judge::wrong(&case, method, result).or_else(|| judge::wrong_elsewhere(&case, method, result))
                };
                results.iter().find_map(wrong)
            }
            FindingKind::AcceptedMutant => results.iter().find_map(|result| {
                let certificate = judge::proof(result)?;
                let mut changes =
                    (0..N_CHANGES).map(|at| mutants::try_all(&case, certificate, method.name(), seed + at));
                let what = changes.find_map(|tried| tried.wrong.into_iter().next())?;
                let property = Some(case.model.properties[result.property].name.clone());
                Some(CampaignFinding { property, what, ..finding.clone() })
            }),
            FindingKind::RefusedEvidence | FindingKind::Panic => None,
        },
    }
}

/// What a finding says without names and numbers, which change with the program; of a panic, where it was.
fn plain(what: &str) -> String {
    let outside = what.split('`').step_by(2).collect::<String>();
    outside.chars().filter(|letter| !letter.is_ascii_digit()).take(300).collect()
}

/// Smaller texts, the boldest first: without some lines, without the braces around some, with a smaller number.
fn smaller(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let without = |cut: &dyn Fn(usize) -> bool| {
        let kept = lines.iter().enumerate().filter(|(at, _)| !cut(*at)).map(|(_, line)| *line);
        kept.collect::<Vec<_>>().join("\n") + "\n"
    };
    let mut texts = Vec::new();
    let mut size = lines.len() / 2;
    while size > 0 {
        texts.extend((0..lines.len()).step_by(size).map(|start| without(&|at| at >= start && at < start + size)));
        size /= 2;
    }
    for (open, line) in lines.iter().enumerate().filter(|(_, line)| line.ends_with('{')) {
        let depth = indentation(line);
        let close = (open + 1..lines.len()).find(|&at| indentation(lines[at]) == depth && lines[at].trim() == "}");
        if let Some(close) = close {
            texts.push(without(&|at| (open..=close).contains(&at)));
            let is_frame = |at: usize| indentation(lines[at]) == depth && (open..=close).contains(&at);
            texts.push(without(&is_frame));
        }
    }
    for (word, other) in
        [("N: 3..", "N: 2.."), ("0..<3", "0..<2"), ("; 3]", "; 2]"), (" = any", ""), ("if *", "either")]
    {
        if text.contains(word) {
            texts.push(text.replacen(word, other, 1));
        }
    }
    texts
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}
