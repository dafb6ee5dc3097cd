//! The frame of the report: what it is about and how it went, then a section for each run, then the documents inside.
//!
//! Sections and panels are ordinary parts of the page with addresses of their own; a script shows one at a time, and
//! on paper all are there.

use base::{Diagnostic, SourceFile};
use engine::run::Run;
use explain::names::{parameters, parameters_with_origin, property_title};
use serde_json::{Map, Value as Json, json};

use super::escape::{code, escaped, script_json};
use super::property::{self, label};
use super::results::{MANY, overview, programs};
use super::{Checked, Entry, graph};
use crate::human::tally;
use crate::item::{self, Item};
use crate::json as document;
use crate::numbers::{counted, duration};
use crate::style::{Ink, Style};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// Details of runs are shown until the page has this size; of the rest the table says the verdicts.
const MOST_BYTES: usize = 24_000_000;
/// A larger result document is put into the page without the steps of traces and the sentences of proofs.
const MOST_DOCUMENT_BYTES: usize = 16_000_000;

/// The whole report.
pub fn page(entries: &[Entry<'_>]) -> String {
    let mut traces = Map::new();
    let mut sections = String::new();
    for (at, entry) in entries.iter().enumerate() {
        sections.push_str(&match entry {
            Entry::Refused { source, diagnostics } => refused(source, diagnostics, at),
            Entry::Checked(checked) if sections.len() > MOST_BYTES => too_many(checked, at),
            Entry::Checked(checked) => section(checked, at, &mut traces),
        });
    }
    let title = title(entries);
    let (result, shortened) = result_document(entries);
    let note = if shortened {
        "<p class=\"left-out\">The result document is too large for this page: here it is without the steps of traces \
         and the sentences of proofs; \
         <code>--format json</code> writes all of it.</p>\n"
    } else {
        ""
    };
    let traces = json!({ "traces": traces });
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'; img-src data:\">\n\
         <meta name=\"generator\" content=\"piecewise {version}\">\n<title>{title} · \
         Piecewise</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#main\">Skip to the results</a>\n{MARKERS}{head}{nav}<main id=\"main\" \
         tabindex=\"-1\">\n{note}{overview}{sections}</main>\n{foot}\
         <script type=\"application/json\" id=\"result\">{result}</script>\n<script type=\"application/json\" \
         id=\"page\">{traces}</script>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        version = env!("CARGO_PKG_VERSION"),
        title = escaped(&title),
        head = head(entries, &title),
        nav = instances(entries),
        overview = overview(entries),
        foot = foot(),
        result = script_json(&result),
        traces = script_json(&traces),
    )
}

/// The tips of arrows, for all drawings.
const MARKERS: &str = "<svg width=\"0\" height=\"0\" class=\"defs\" aria-hidden=\"true\"><defs>\
 <marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" \
 markerHeight=\"7\" orient=\"auto-start-reverse\"><path class=\"tip\" d=\"M0 0 L8 4 L0 8 z\"/></marker></defs></svg>\n";

fn checked_runs<'e, 'a>(entries: &'e [Entry<'a>]) -> impl Iterator<Item = &'e Checked<'a>> {
    entries.iter().filter_map(|entry| if let Entry::Checked(checked) = entry { Some(checked) } else { None })
}

/// What the report is about: a program and its instance, or how many.
fn title(entries: &[Entry<'_>]) -> String {
    match (entries, &programs(entries)[..]) {
        ([Entry::Checked(one)], _) => {
            let instance = parameters(&one.run.model);
            let name = &one.run.model.name;
            if instance.is_empty() { name.clone() } else { format!("{name}, {instance}") }
        }
        (_, [(name, _)]) => checked_runs(entries).next().map_or((*name).to_owned(), |one| one.run.model.name.clone()),
        (_, several) => counted(several.len() as u64, "program", "programs"),
    }
}

/// The verdict over everything, and what can be done with the page.
fn head(entries: &[Entry<'_>], title: &str) -> String {
    let tally = tally(checked_runs(entries).map(|one| &**one.run));
    let (mark, ink) = tally.mark();
    let n_refused = entries.len() - checked_runs(entries).count();
    let mut words = match tally.total() {
        0 => "nothing was checked".to_owned(),
        total => format!("{}: {}", counted(total, "property", "properties"), tally.words()),
    };
    let (mut tone, mut sign) = (
        match ink {
            Ink::Good => "tone-good",
            Ink::Bad => "tone-bad",
            _ => "tone-doubt",
        },
        Style::default().mark(mark),
    );
    if n_refused > 0 {
        words.push_str(&format!("; {} refused", counted(n_refused as u64, "file", "files")));
        (tone, sign) = ("tone-bad", "✘");
    }
    let time = duration(checked_runs(entries).map(|one| one.run.time).sum());
    format!(
        "<header class=\"top\"><div class=\"about\"><p class=\"brand\">Piecewise</p><h1>{}</h1>\n\
         <p class=\"sum {tone}\"><span aria-hidden=\"true\">{sign}</span> {} <span class=\"dim\">{time}</span></p>\
         </div>\n\
         <div class=\"tools\" hidden><a data-file=\"result\" download=\"result.json\" href=\"#\">↓ JSON</a>\
         <button type=\"button\" id=\"theme\">theme: auto</button></div></header>\n",
        escaped(title),
        escaped(&words),
    )
}

/// Links to the sections, where there are several.
const MOST_TABS: usize = 8;

fn instances(entries: &[Entry<'_>]) -> String {
    if entries.len() < 2 {
        return String::new();
    }
    let mut out =
        String::from("<nav class=\"instances\" aria-label=\"instances\"><a href=\"#overview\">Overview</a>\n");
    let groups = programs(entries);
    // The table of many programs or instances has a link to each; a wall of them helps nobody.
    if groups.len() >= MANY || entries.len() > MOST_TABS {
        return out + "</nav>\n";
    }
    for (name, instances) in &groups {
        let is_sweep = instances.len() > 1;
        if groups.len() > 1 && is_sweep {
            out.push_str(&format!("<span class=\"file\">{}</span>\n", escaped(name)));
        }
        for &at in instances {
            let words = match &entries[at] {
                Entry::Refused { .. } => format!("{name} (refused)"),
                Entry::Checked(checked) => {
                    let instance = parameters(&checked.run.model).replace(" = ", "=");
                    let by_method = checked_runs(entries).any(|one| one.run.method != checked.run.method);
                    let method = if by_method { format!(" {}", checked.run.method) } else { String::new() };
                    let instance = instance + &method;
                    if is_sweep { instance } else { format!("{} {instance}", checked.run.model.name) }
                }
            };
            out.push_str(&format!("<a href=\"#r{at}\">{}</a>\n", escaped(words.trim_end())));
        }
    }
    out + "</nav>\n"
}

/// Everything about one run.
fn section(checked: &Checked<'_>, at: usize, traces: &mut Map<String, Json>) -> String {
    let run = checked.run;
    let mut out = format!("<section class=\"run\" id=\"r{at}\" aria-labelledby=\"r{at}-h\">\n{}", run_heading(run, at));
    let graphs = checked.graphs.map_or(String::new(), |(method, found)| graph::html(&run.model, method, found));
    out.push_str(&format!(
        "<div class=\"columns\">\n<nav class=\"properties\" aria-label=\"properties\"><ul>\n{}</ul>\
         </nav>\n<div class=\"panels\">\n",
        links(run, at, !graphs.is_empty())
    ));
    if run.results.is_empty() {
        out.push_str("<p>Nothing was asked: no property matches.</p>\n");
    }
    for nth in 0..run.results.len() {
        let panel = property::panel(checked, at, nth);
        out.push_str(&panel.html);
        if let Some(trace) = panel.trace {
            traces.insert(property::id(at, nth), trace);
        }
    }
    if !graphs.is_empty() {
        out.push_str(&format!(
            "<article class=\"panel\" id=\"r{at}-graphs\" aria-labelledby=\"r{at}-graphs-h\" \
             tabindex=\"-1\">\n<h3 id=\"r{at}-graphs-h\">Local states</h3>\n{graphs}</article>\n"
        ));
    }
    if !run.warnings.is_empty() {
        out.push_str(&format!(
            "<article class=\"panel\" id=\"r{at}-warnings\" aria-labelledby=\"r{at}-warnings-h\" \
             tabindex=\"-1\">\n<h3 id=\"r{at}-warnings-h\">Warnings</h3>\n{}</article>\n",
            messages(&run.source, &run.warnings)
        ));
    }
    out + "</div>\n</div>\n</section>\n"
}

fn run_heading(run: &Run, at: usize) -> String {
    let instance = parameters_with_origin(&run.model);
    let instance = if instance.is_empty() {
        String::new()
    } else {
        format!(" <span class=\"instance\">{}</span>", escaped(&instance))
    };
    let mut doc = String::new();
    let mut paragraphs = run.model.doc.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty());
    if let Some(first) = paragraphs.next() {
        let rest: String = paragraphs.map(|paragraph| format!("<p>{}</p>\n", escaped(paragraph.trim()))).collect();
        let more = if rest.is_empty() {
            String::new()
        } else {
            format!("<details class=\"doc\"><summary>about this program</summary>\n{rest}</details>\n")
        };
        doc = format!("<p class=\"doc\">{}</p>\n{more}", escaped(first.trim()));
    }
    format!(
        "<h2 id=\"r{at}-h\">{}{instance} <span class=\"file\">{}</span></h2>\n{doc}",
        escaped(&run.model.name),
        escaped(run.source.name())
    )
}

fn links(run: &Run, at: usize, has_graphs: bool) -> String {
    let mut out = String::new();
    for (nth, result) in run.results.iter().enumerate() {
        let (tone, mark, word) = label(run, result);
        let unexpected = if result.as_expected(&run.model) == Some(false) { " !" } else { "" };
        out.push_str(&format!(
            "<li><a href=\"#{}\" class=\"{}\"><span class=\"mark\" aria-hidden=\"true\">{mark}</span>\
             <span class=\"name\">{}{unexpected}</span><span class=\"word\">{}</span></a></li>\n",
            property::id(at, nth),
            tone.class(),
            escaped(&property_title(&run.model, result.property)),
            word.to_lowercase(),
        ));
    }
    if has_graphs {
        out.push_str(&format!(
            "<li><a href=\"#r{at}-graphs\"><span class=\"mark\" aria-hidden=\"true\">◇</span>\
             <span class=\"name\">Local states</span></a></li>\n"
        ));
    }
    if !run.warnings.is_empty() {
        out.push_str(&format!(
            "<li><a href=\"#r{at}-warnings\" class=\"tone-doubt\"><span class=\"mark\" aria-hidden=\"true\">⚠</span>\
             <span class=\"name\">{}</span></a></li>\n",
            counted(run.warnings.len() as u64, "warning", "warnings")
        ));
    }
    out
}

/// A run of which only the verdicts are said.
fn too_many(checked: &Checked<'_>, at: usize) -> String {
    let run = checked.run;
    let row = |result: &engine::run::PropertyResult| {
        let (tone, mark, word) = label(run, result);
        format!(
            "<li class=\"{}\">{mark} {} <strong>{}</strong></li>\n",
            tone.class(),
            word.to_lowercase(),
            escaped(&property_title(&run.model, result.property))
        )
    };
    let rows: String = run.results.iter().map(row).collect();
    format!(
        "<section class=\"run\" id=\"r{at}\" aria-labelledby=\"r{at}-h\">\n{}<ul>{rows}</ul>\n<p \
         class=\"left-out\">The page would be too large with more about it; \
         a report on this program alone has everything.</p>\n</section>\n",
        run_heading(run, at)
    )
}

/// A program that was refused: why.
fn refused(source: &SourceFile, diagnostics: &[Diagnostic], at: usize) -> String {
    format!(
        "<section class=\"run\" id=\"r{at}\" aria-labelledby=\"r{at}-h\">\n<h2 id=\"r{at}-h\">{}</h2>\n<p \
         class=\"tone-bad\"><strong>✘ It was refused; nothing was checked.</strong></p>\n{}</section>\n",
        escaped(source.name()),
        messages(source, diagnostics)
    )
}

fn messages(source: &SourceFile, diagnostics: &[Diagnostic]) -> String {
    let item = |one: &Diagnostic| {
        let at = source.line_col(one.primary.span.start);
        let kind = if one.is_error() { "error" } else { "warning" };
        let helps: String = one.helps.iter().map(|help| format!("<br>help: {}", escaped(&help.text))).collect();
        format!(
            "<li><strong>{kind} {}</strong>, line {}: {}{helps}<br>{}</li>\n",
            one.code,
            at.line,
            escaped(&one.message),
            code(source.line(at.line).trim())
        )
    };
    format!("<ul class=\"messages\">\n{}</ul>\n", diagnostics.iter().take(200).map(item).collect::<String>())
}

fn foot() -> String {
    format!(
        "<footer><p>piecewise {} · this page is one file and fetches nothing · keys: <kbd>←</kbd> <kbd>→</kbd> step, \
         <kbd>Home</kbd> <kbd>End</kbd> first and last, \
         <kbd>space</kbd> plays</p></footer>\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// The result document, as `--format json` writes it; without its longest parts where it is too large, which is said.
fn result_document(entries: &[Entry<'_>]) -> (Json, bool) {
    let items: Vec<Item<'_>> = entries.iter().map(Entry::item).collect();
    let mut result = document::value_of(&document::document(&items, item::status(&items)));
    let is_large = result.to_string().len() > MOST_DOCUMENT_BYTES;
    if is_large {
        shorten(&mut result);
        result["shortened"] = json!(true);
    }
    (result, is_large)
}

fn shorten(result: &mut Json) {
    for run in result["runs"].as_array_mut().into_iter().flatten() {
        shorten(run);
    }
    for one in result["results"].as_array_mut().into_iter().flatten() {
        for key in ["counterexample", "witness", "guarantees"] {
            one[key] = Json::Null;
        }
        one["invariants"] = json!([]);
    }
}
