//! Results as a table for spreadsheets (`--format csv`): one row for each file, instance, method and property.
//!
//! RFC 4180, with a line of names first. What a method does not have is empty. Seconds are those until the verdict was known; processor
//! seconds are those of the whole run.

use engine::Verdict;
use engine::run::PropertyResult;
use explain::Explained;

use crate::item::Item;
use crate::json::verdict_word;

const NAMES: &str = "file,parameters,property,method,verdict,expected,as_expected,seconds,processor_seconds,states,memory_bytes,audited,decided_by,reason";

/// The whole table.
pub fn table(items: &[Item<'_>]) -> String {
    let mut out = format!("{NAMES}\n");
    for item in items {
        match item {
            Item::Checked(run, _) => run.results.iter().for_each(|result| out += &row(run, result)),
            Item::Refused(source, _) => {
                out += &line(&[source.name(), "", "", "", "refused", "", "false", "", "", "", "", "", "", "refused"]);
            }
        }
    }
    out
}

/// The table of a call that could not be done, or not to its end: what came of programs before, and a row for each thing that is wrong.
pub fn failed(items: &[Item<'_>], errors: &[String]) -> String {
    let row = |error: &String| line(&["", "", "", "", "error", "", "false", "", "", "", "", "", "", error]);
    table(items) + &errors.iter().map(row).collect::<String>()
}

fn row(run: &Explained, result: &PropertyResult) -> String {
    let statistics = &result.statistics;
    let parameters = run.model.numbers().map(|(name, value)| format!("{name}={value}"));
    let parameters = parameters.collect::<Vec<_>>().join(" ");
    let property = &run.model.properties[result.property];
    let expected = match property.expected {
        model::property::Expected::Holds => "holds",
        model::property::Expected::Violated => "violated",
    };
    let number = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
    let local = statistics.local_states.as_ref().and_then(|sets| sets.iter().copied().sum::<Option<u64>>());
    let seconds = statistics.first_known.unwrap_or(statistics.time).as_secs_f64();
    let reason = match &result.verdict {
        Verdict::Unknown(reason) => reason.code(),
        _ => "",
    };
    line(&[
        run.source.name(),
        &parameters,
        &property.name,
        run.method,
        verdict_word(&result.verdict).as_str(),
        expected,
        if result.as_expected(&run.model) == Some(true) { "true" } else { "false" },
        &format!("{seconds:.6}"),
        &run.processor_time.map(|time| format!("{:.2}", time.as_secs_f64())).unwrap_or_default(),
        &number(statistics.global_states.filter(|&states| states > 0).or(local)),
        &number(statistics.peak_memory_bytes),
        if result.audit.is_accepted() { "true" } else { "false" },
        result.method,
        reason,
    ])
}

fn line(fields: &[&str]) -> String {
    let field = |text: &&str| match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => (*text).to_owned(),
    };
    fields.iter().map(field).collect::<Vec<_>>().join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Files;
    use crate::testing::{broken_lock, explained};

    #[test]
    fn every_result_is_a_row_with_as_many_fields_as_there_are_names() {
        let (run, files) = (explained(&broken_lock(2)), Files::default());
        let text = table(&[Item::Checked(&run, &files)]);
        let n_fields = |line: &str| line.split(',').count();
        assert_eq!(text.lines().count(), 1 + run.results.len());
        assert!(text.lines().all(|line| n_fields(line) == n_fields(NAMES)), "{text}");
        assert!(text.contains("broken_lock.pw,N=2,"), "{text}");
    }

    #[test]
    fn what_has_commas_or_quotes_stands_in_quotes() {
        assert_eq!(line(&["a,b", "c", "say \"x\""]), "\"a,b\",c,\"say \"\"x\"\"\"\n");
    }
}
