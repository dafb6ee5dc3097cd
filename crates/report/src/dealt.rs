//! Documents whose results came from several hosts.
//!
//! In: the result document of a call, and results of other documents. Out: the document with these results in their places, and a table of it. Everything here
//! works on documents, since that is what hosts send.

use serde_json::{Map, Value as Json, json};

use crate::json::value_of;
use crate::numbers::{counted, duration};
use crate::style::{Ink, Mark, Style};
use crate::sweep::{FEWEST_TIMES, Growth, MEASURABLE, growth, growth_document};
use crate::text::{clean, pad, width};

/// The runs of a document.
pub fn runs(document: &mut Json) -> Vec<&mut Map<String, Json>> {
    let has_runs = document.get("runs").is_some();
    match (has_runs, document) {
        (true, Json::Object(fields)) => {
            let runs = fields.get_mut("runs").and_then(Json::as_array_mut);
            runs.into_iter().flatten().filter_map(Json::as_object_mut).collect()
        }
        (false, Json::Object(fields)) => vec![fields],
        _ => Vec::new(),
    }
}

/// The result for a property, taken out of a document.
pub fn result(document: &mut Json, property: &str) -> Option<Json> {
    let is_asked = |result: &&mut Json| result["property"] == property;
    runs(document)
        .into_iter()
        .filter_map(|run| run.get_mut("results")?.as_array_mut())
        .flatten()
        .find(is_asked)
        .map(Json::take)
}

/// Puts results in the places of those that were open; a run has taken as long as all of them.
pub fn fill(run: &mut Map<String, Json>, answers: Vec<Option<Json>>) {
    if let Some(results) = run.get_mut("results").and_then(Json::as_array_mut) {
        for (open, answer) in results.iter_mut().zip(answers) {
            if let Some(answer) = answer {
                *open = answer;
            }
        }
    }
    let seconds: f64 = results(run).iter().filter_map(|result| result["seconds"].as_f64()).sum();
    if run.contains_key("seconds") {
        run.insert("seconds".to_owned(), json!(seconds));
    }
}

/// For each result of a run whether it is the expected one; `None` where it is not decided.
pub fn expected(run: &Map<String, Json>) -> Vec<Option<bool>> {
    let is_expected = |result: &Json| (result["verdict"] != "unknown").then(|| result["as_expected"] == true);
    results(run).iter().map(is_expected).collect()
}

fn results(run: &Map<String, Json>) -> &[Json] {
    run.get("results").and_then(Json::as_array).map_or(&[], Vec::as_slice)
}

/// Says how properties grow, for each program that was checked at several sizes.
pub fn add_sweeps(document: &mut Json) {
    if document.get("sweeps").is_none() {
        return;
    }
    let all: Vec<Map<String, Json>> = runs(document).into_iter().map(|run| run.clone()).collect();
    let found: Vec<Json> = all.chunk_by(|one, other| text_of(one) == text_of(other)).filter_map(sweep).collect();
    document["sweeps"] = json!(found);
}

/// The file of a run.
fn text_of(run: &Map<String, Json>) -> Option<&Json> {
    run.get("file").or(run.get("model"))
}

fn value(run: &Map<String, Json>, parameter: &str) -> Option<i64> {
    run.get("parameters")?.get(parameter)?.as_i64()
}

fn sweep(runs: &[Map<String, Json>]) -> Option<Json> {
    let first = runs.first().filter(|_| runs.len() > 1)?;
    let varies = |name: &&String| runs.windows(2).all(|pair| value(&pair[0], name) < value(&pair[1], name));
    let parameter = first.get("parameters")?.as_object()?.keys().find(varies)?;
    let mut rows: Vec<(&Json, Vec<SizeResult>)> = Vec::new();
    for run in runs {
        let size = value(run, parameter)?;
        for result in results(run) {
            let at = rows.iter().position(|(property, _)| **property == result["property"]).unwrap_or_else(|| {
                rows.push((&result["property"], Vec::new()));
                rows.len() - 1
            });
            rows[at].1.push(SizeResult::new(size, result));
        }
    }
    let row = |(property, points): &(&Json, Vec<SizeResult>)| {
        json!({
            "property": property,
            "points": points.iter().map(SizeResult::document).collect::<Vec<_>>(),
            "time": time_growth(points).map(|growth| value_of(&growth_document(growth))),
            "number": number_growth(points).map(|growth| value_of(&growth_document(growth))),
        })
    };
    let properties: Vec<Json> = rows.iter().map(row).collect();
    Some(
        json!({ "file": text_of(first), "method": first.get("method"), "parameter": parameter, "properties": properties }),
    )
}

/// A result at a size.
struct SizeResult<'a> {
    size: i64,
    result: &'a Json,
    /// What was counted, and how many there are.
    extent: Option<(&'static str, u64)>,
}

impl<'a> SizeResult<'a> {
    fn new(size: i64, result: &'a Json) -> Self {
        let steps = ["counterexample", "witness"].iter().find_map(|key| result[*key]["steps"].as_array());
        let local = result["local_states"]
            .as_array()
            .and_then(|sets| sets.iter().map(Json::as_u64).collect::<Option<Vec<_>>>());
        let local = local.and_then(|sets| sets.into_iter().max()).map(|most| ("local_states", most));
        let global =
            result["global_states"].as_u64().filter(|&states| states > 0).map(|states| ("global_states", states));
        let nodes = result["peak_nodes"].as_u64().map(|nodes| ("peak_nodes", nodes));
        let extent = steps.map(|steps| ("steps", steps.len() as u64)).or(local).or(global).or(nodes);
        SizeResult { size, result, extent }
    }

    fn is_decided(&self) -> bool {
        self.result["verdict"] != "unknown"
    }

    fn seconds(&self) -> f64 {
        self.result["seconds"].as_f64().unwrap_or(0.0)
    }

    fn document(&self) -> Json {
        json!({
            "size": self.size,
            "verdict": self.result["verdict"],
            "method": self.result["method"],
            "seconds": self.result["seconds"],
            "counted": self.extent.map(|(kind, _)| kind),
            "number": self.extent.map(|(_, number)| number),
        })
    }
}

fn number_growth(points: &[SizeResult<'_>]) -> Option<Growth> {
    let decided = points.iter().filter(|point| point.is_decided());
    let known: Vec<_> = decided.map(|point| Some((point.size, point.extent?))).collect::<Option<_>>()?;
    let kind = known.last()?.1.0;
    let from = known.iter().rposition(|(_, (other, _))| *other != kind).map_or(0, |at| at + 1);
    growth(&known[from..].iter().map(|(size, (_, number))| (*size, *number as f64)).collect::<Vec<_>>())
}

fn time_growth(points: &[SizeResult<'_>]) -> Option<Growth> {
    let decided: Vec<_> = points.iter().filter(|point| point.is_decided()).collect();
    let is_short = |point: &&SizeResult<'_>| point.seconds() < MEASURABLE.as_secs_f64();
    let from = decided.iter().rposition(is_short).map_or(0, |at| at + 1);
    if decided.len() - from < FEWEST_TIMES {
        return None;
    }
    growth(&decided[from..].iter().map(|point| (point.size, point.seconds())).collect::<Vec<_>>())
}

/// One row for each result, and a last line with the counts.
pub fn table(document: &Json, style: &Style) -> String {
    let mut document = document.clone();
    let (mut rows, mut counts) = (Vec::new(), [0u64; 3]);
    for run in runs(&mut document) {
        for result in results(run) {
            let nth = ["holds", "violated"].iter().position(|verdict| result["verdict"] == *verdict).unwrap_or(2);
            counts[nth] += 1;
            rows.push((named(run), text(&result["property"]), cell(result, style)));
        }
    }
    let program = rows.iter().map(|(program, ..)| width(program)).max().unwrap_or(0);
    let property = rows.iter().map(|(_, property, _)| width(property)).max().unwrap_or(0);
    let mut out = String::new();
    for (name, asked, (cell, ink)) in &rows {
        let line = format!("{}  {}  {}", pad(name, program), pad(asked, property), style.paint(*ink, cell));
        out.push_str(line.trim_end());
        out.push('\n');
    }
    let words = ["hold", "violated", "unknown"].iter().zip(counts).filter(|(_, count)| *count > 0);
    let words: Vec<String> = words.map(|(word, count)| format!("{count} {word}")).collect();
    out + &format!("\n{}: {}\n", counted(rows.len() as u64, "check", "checks"), words.join(", "))
}

/// `lock N=3`.
fn named(run: &Map<String, Json>) -> String {
    let name = run.get("program").or(run.get("model")).map(text).unwrap_or_default();
    let parameters = run.get("parameters").and_then(Json::as_object).into_iter().flatten();
    parameters.fold(name, |name, (parameter, value)| format!("{name} {}={value}", clean(parameter)))
}

fn cell(result: &Json, style: &Style) -> (String, Ink) {
    let seconds = std::time::Duration::try_from_secs_f64(result["seconds"].as_f64().unwrap_or(0.0)).unwrap_or_default();
    let steps = result["counterexample"]["steps"].as_array().map(|steps| counted(steps.len() as u64, "step", "steps"));
    let (mark, detail) = match result["verdict"].as_str() {
        Some("holds") => (Mark::Holds, duration(seconds)),
        Some("violated") => (Mark::Violated, steps.unwrap_or_else(|| "never".to_owned())),
        _ => (Mark::Unknown, text(&result["reason"]["code"])),
    };
    let (ink, unexpected) = match (result["verdict"] == "unknown", result["as_expected"] == true) {
        (true, _) => (Ink::Doubt, ""),
        (_, true) => (Ink::Good, ""),
        (_, false) => (Ink::Bad, " !"),
    };
    (format!("{} {detail}{unexpected}", style.mark(mark)), ink)
}

fn text(value: &Json) -> String {
    clean(value.as_str().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_take_the_places_of_open_results() {
        let open = |name: &str| json!({"property": name, "verdict": "unknown", "reason": {"code": "host-lost"}, "seconds": 0.0});
        let mut document = json!({"runs": [
            {"program": "a", "parameters": {"N": 2}, "results": [open("p"), open("q")], "seconds": 0.0},
            {"program": "a", "parameters": {"N": 3}, "results": [open("p")], "seconds": 0.0},
        ], "sweeps": []});
        let mut answered = json!({"results": [
            {"property": "p", "verdict": "holds", "as_expected": true, "seconds": 0.5},
        ]});
        let answer = result(&mut answered, "p");
        assert!(answer.is_some() && result(&mut answered, "r").is_none());
        let mut all = Vec::new();
        for (run, answers) in runs(&mut document).into_iter().zip([vec![answer, None], vec![None]]) {
            fill(run, answers);
            all.extend(expected(run));
        }
        assert_eq!(all, [Some(true), None, None]);
        assert_eq!(document["runs"][0]["seconds"], 0.5);
        add_sweeps(&mut document);
        assert_eq!(document["sweeps"][0]["parameter"], "N");
        assert_eq!(document["sweeps"][0]["properties"][0]["points"][1]["size"], 3);
        let shown = table(&document, &Style::default());
        assert!(shown.contains("a N=2  p") && shown.contains("? host-lost"), "{shown}");
        assert!(shown.ends_with("3 checks: 1 hold, 2 unknown\n"), "{shown}");
    }
}
