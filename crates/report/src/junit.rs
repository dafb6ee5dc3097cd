//! Results in the JUnit format, which build servers read (`--format junit`).
//!
//! In: what came of the programs of a call. Out: one suite for each program and instance, one case for each property. A verdict that is not the expected
//! one is a failure, with what people are shown about it; a property that is not decided is skipped, which servers do not count as passed; a
//! program that is refused is a suite with one case that is an error.

use base::{Diagnostic, SourceFile};
use explain::Explained;
use explain::finding::Urgency;
use explain::names::parameters;

use crate::diagnostics;
use crate::findings::ReportedFinding;
use crate::item::{Item, count_errors};
use crate::style::Style;

/// The document.
pub fn document(items: &[Item<'_>]) -> String {
    failed(items, &[])
}

/// The document of a call that could not be done, or not to its end: what came of programs before, and a suite with a case for each thing that is wrong.
pub fn failed(items: &[Item<'_>], errors: &[String]) -> String {
    let mut suites: Vec<Suite> = items
        .iter()
        .map(|item| match item {
            Item::Checked(run, _) => checked(run),
            Item::Refused(source, diagnostics) => refused(source, diagnostics),
        })
        .collect();
    suites.extend((!errors.is_empty()).then(|| wrong(errors)));
    let mut all = Counts::default();
    suites.iter().for_each(|suite| all.add(&suite.counts));
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    out.push_str(&format!("<testsuites name=\"piecewise\"{}>\n", all.attributes()));
    suites.iter().for_each(|suite| out.push_str(&suite.text));
    out.push_str("</testsuites>\n");
    out
}

/// What is wrong with a call.
fn wrong(errors: &[String]) -> Suite {
    let n_errors = errors.len() as u64;
    let counts = Counts { tests: n_errors, errors: n_errors, ..Counts::default() };
    let mut cases = String::new();
    for error in errors {
        cases.push_str("    <testcase name=\"can be done\" classname=\"piecewise\" time=\"0.000\">\n");
        cases.push_str(&format!("      <error type=\"call\" message=\"{}\"/>\n    </testcase>\n", escaped(error)));
    }
    let head = format!("  <testsuite name=\"piecewise\"{}>\n", counts.attributes());
    Suite { counts, text: format!("{head}{cases}  </testsuite>\n") }
}

/// One program in one instance.
struct Suite {
    counts: Counts,
    text: String,
}

/// How many cases there are of which kind, and how long they took.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    tests: u64,
    failures: u64,
    errors: u64,
    skipped: u64,
    seconds: f64,
}

impl Counts {
    fn add(&mut self, other: &Counts) {
        self.tests += other.tests;
        self.failures += other.failures;
        self.errors += other.errors;
        self.skipped += other.skipped;
        self.seconds += other.seconds;
    }

    fn attributes(&self) -> String {
        let Counts { tests, failures, errors, skipped, seconds } = self;
        format!(
            " tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\" time=\"{seconds:.3}\""
        )
    }
}

/// A suite with its cases.
fn suite(name: &str, file: &str, (counts, properties, cases): (Counts, String, String)) -> Suite {
    let head = format!("  <testsuite name=\"{}\" file=\"{}\"{}>\n", escaped(name), escaped(file), counts.attributes());
    Suite { counts, text: format!("{head}{properties}{cases}  </testsuite>\n") }
}

fn checked(run: &Explained) -> Suite {
    let file = run.source.name();
    let instance = parameters(&run.model);
    let class = if instance.is_empty() { run.model.name.clone() } else { format!("{} {instance}", run.model.name) };
    let name = if instance.is_empty() { file.to_owned() } else { format!("{file} {instance}") };
    let mut counts = Counts { seconds: run.time.as_secs_f64(), ..Counts::default() };
    let mut cases = String::new();
    for found in ReportedFinding::all(run) {
        counts.tests += 1;
        match found.finding.standing {
            Urgency::AsExpected | Urgency::Vacuous => {}
            Urgency::NotAsExpected => counts.failures += 1,
            Urgency::Undecided => counts.skipped += 1,
        }
        cases.push_str(&case(&found, &class));
    }
    let mut properties = String::new();
    if run.model.numbers().next().is_some() {
        properties.push_str("    <properties>\n");
        for (name, value) in run.model.numbers() {
            properties.push_str(&format!("      <property name=\"{}\" value=\"{value}\"/>\n", escaped(name),));
        }
        properties.push_str("    </properties>\n");
    }
    suite(&name, file, (counts, properties, cases))
}

fn case(found: &ReportedFinding<'_>, class: &str) -> String {
    let attributes = [
        ("name", found.finding.title.clone()),
        ("classname", class.to_owned()),
        ("file", found.run.source.name().to_owned()),
        ("line", found.finding.line.to_string()),
        ("time", format!("{:.3}", found.result.statistics.time.as_secs_f64())),
    ];
    let attributes = attributes.map(|(name, value)| format!(" {name}=\"{}\"", escaped(&value))).concat();
    let property = &found.run.model.properties[found.result.property];
    let message = escaped(&found.finding.message());
    let inside = match found.finding.standing {
        Urgency::NotAsExpected => {
            let (kind, text) = (property.kind.keyword(), escaped_text(&found.text()));
            format!("      <failure type=\"{kind}\" message=\"{message}\">{text}</failure>\n")
        }
        Urgency::Undecided => format!("      <skipped message=\"{message}\"/>\n"),
        Urgency::Vacuous => {
            format!("      <system-out>warning: {}</system-out>\n", escaped_text(&found.finding.message()))
        }
        Urgency::AsExpected => format!(
            "      <system-out>{} (method {})</system-out>\n",
            escaped_text(&found.finding.message()),
            found.result.method
        ),
    };
    format!("    <testcase{attributes}>\n{inside}    </testcase>\n")
}

fn refused(source: &SourceFile, messages: &[Diagnostic]) -> Suite {
    let counts = Counts { tests: 1, errors: 1, ..Counts::default() };
    let first = messages.iter().find(|message| message.is_error()).or(messages.first());
    let (code, line, what) = match first {
        Some(first) => (first.code, source.line_col(first.primary.span.start).line, first.message.as_str()),
        None => ("", 1, "it is refused"),
    };
    let message = escaped(&format!("{}, nothing was checked: line {line}: {what}", count_errors(messages)));
    let text = escaped_text(&diagnostics::draw(source, messages, &Style::default()));
    let file = escaped(source.name());
    let case = format!(
        "    <testcase name=\"is a program\" classname=\"{file}\" file=\"{file}\" line=\"{line}\" time=\"0.000\">\n      \
         <error type=\"{code}\" message=\"{message}\">{text}</error>\n    </testcase>\n"
    );
    suite(source.name(), source.name(), (counts, String::new(), case))
}

/// Text as the value of an attribute; line ends are kept.
fn escaped(text: &str) -> String {
    escaped_text(text).replace('"', "&quot;").replace('\n', "&#10;").replace('\t', "&#9;")
}

/// Text between tags: what XML cannot hold is replaced.
fn escaped_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\r' => out.push_str("&#13;"),
            '\n' | '\t' => out.push(character),
            '\u{0}'..='\u{1F}' | '\u{7F}'..='\u{9F}' | '\u{FFFE}' | '\u{FFFF}' => out.push(char::REPLACEMENT_CHARACTER),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use base::{Span, StopReason};
    use engine::Verdict;

    use super::*;
    use crate::Files;
    use crate::testing::{broken_lock, explained, mux_sem};

    #[test]
    fn suites_are_instances_and_cases_are_properties() {
        let (mut mux, lock, files) = (mux_sem(2), broken_lock(3), Files::default());
        mux.results[0].verdict = Verdict::Unknown(StopReason::Cancelled);
        mux.results.truncate(2);
        let source = SourceFile::new("bad.pw", "program <p>");
        let errors = [Diagnostic::error("E0101", Span::new(8, 9), "expected a name, found `<`")];
        let [mux, lock] = [&mux, &lock].map(explained);
        let items = [Item::Checked(&mux, &files), Item::Checked(&lock, &files), Item::Refused(&source, &errors)];
        crate::testing::assert_shown("junit__suites_are_instances_and_cases_are_properties", &document(&items));
    }

    #[test]
    fn what_xml_cannot_hold_is_replaced() {
        assert_eq!(
            escaped_text("a<b & c>\u{0}\u{1B}[0m\u{FFFF}\t\n"),
            "a&lt;b &amp; c&gt;\u{FFFD}\u{FFFD}[0m\u{FFFD}\t\n"
        );
        assert_eq!(escaped("\"x\"\n\r"), "&quot;x&quot;&#10;&#13;");
    }
}
