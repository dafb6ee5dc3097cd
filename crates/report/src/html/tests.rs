//! What must be true of every report: tags match, links lead somewhere, ids are unique, the documents inside are
//! right, and nothing from outside is markup.

use std::collections::BTreeSet;

use base::SourceFile;
use engine::Verdict;
use engine::run::Run;
use evidence::Evidence;
use serde_json::Value as Json;

use super::film::{Film, MOST_STEPS};
use super::{Checked, Entry, page};
use crate::Files;
use crate::testing::{
    broken_lock, counter, explained, large_broken_lock, lasso, mux_sem, philosophers, stuck, without_text,
};

/// The page of these runs, checked.
fn shown(runs: &[Run]) -> String {
    let files = Files::default();
    let runs: Vec<_> = runs.iter().map(explained).collect();
    let entries: Vec<Entry<'_>> =
        runs.iter().map(|run| Entry::Checked(Checked { run, files: &files, graphs: None })).collect();
    let html = page(&entries);
    assert!(html.starts_with("<!doctype html>\n") && html.ends_with("</html>\n"));
    if let Err(why) = well_formed(&html) {
        panic!("{why}");
    }
    html
}

/// The text of the element with this id.
fn inside<'h>(html: &'h str, id: &str) -> &'h str {
    let start = html.find(&format!("id=\"{id}\">")).unwrap() + id.len() + 6;
    &html[start..start + html[start..].find("</script>").unwrap()]
}

fn documents(html: &str) -> [Json; 2] {
    ["result", "page"].map(|id| serde_json::from_str(inside(html, id)).unwrap())
}

/// Whether tags match, ids are unique, and addresses inside the page lead somewhere.
fn well_formed(html: &str) -> Result<(), String> {
    const VOID: [&str; 5] = ["meta", "br", "input", "link", "hr"];
    let (mut open, mut ids, mut links): (Vec<String>, BTreeSet<String>, Vec<String>) = Default::default();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        let end = tag_end(rest).ok_or("a tag does not end")?;
        let (tag, after) = (&rest[..end], &rest[end + 1..]);
        rest = after;
        if tag.starts_with('!') {
            continue;
        }
        let name: String = tag.trim_start_matches('/').chars().take_while(|c| c.is_ascii_alphanumeric()).collect();
        if tag.starts_with('/') {
            let last = open.pop();
            if last.as_deref() != Some(&name) {
                return Err(format!("</{name}> closes {last:?}"));
            }
            continue;
        }
        let value = |key: &str| tag.split_once(&format!(" {key}=\"")).and_then(|(_, rest)| rest.split('"').next());
        if let Some(id) = value("id")
            && !ids.insert(id.to_owned())
        {
            return Err(format!("two elements have the id {id}"));
        }
        links.extend(value("href").map(str::to_owned));
        if name == "script" || name == "style" {
            let close = rest.find(&format!("</{name}>")).ok_or("a script does not end")?;
            rest = &rest[close + name.len() + 3..];
        } else if !VOID.contains(&name.as_str()) && !tag.ends_with('/') {
            open.push(name);
        }
    }
    if !open.is_empty() {
        return Err(format!("not closed: {open:?}"));
    }
    let lost = links.iter().find(|link| *link != "#" && !link.strip_prefix('#').is_some_and(|id| ids.contains(id)));
    lost.map_or(Ok(()), |link| Err(format!("{link} leads nowhere")))
}

/// Where a tag ends, outside its quotes.
fn tag_end(text: &str) -> Option<usize> {
    let mut quoted = false;
    text.char_indices().find_map(|(at, letter)| match letter {
        '"' => {
            quoted = !quoted;
            None
        }
        '>' if !quoted => Some(at),
        _ => None,
    })
}

fn whole_document(run: &Run) -> Json {
    let (run, files) = (explained(run), Files::default());
    let items = [crate::Item::Checked(&run, &files)];
    crate::json::value_of(&crate::json::document(&items, crate::item::status(&items)))
}

#[test]
fn every_kind_of_result_is_shown_and_the_result_document_is_inside() {
    for run in [mux_sem(2), broken_lock(2), philosophers(3), counter(), stuck(), large_broken_lock(12)] {
        let expected = whole_document(&run);
        let html = shown(&[run]);
        let [result, _] = documents(&html);
        assert_eq!(result, expected);
    }
}

#[test]
fn what_a_script_steps_through_is_what_the_document_says() {
    let html = shown(&[broken_lock(2)]);
    let [result, data] = documents(&html);
    let steps = result["runs"][0]["results"][0]["counterexample"]["steps"].as_array().unwrap();
    let film = &data["traces"]["r0-p0"];
    assert_eq!(film["steps"].as_array().unwrap().len(), steps.len());
    for (explanation, step) in film["steps"].as_array().unwrap().iter().zip(steps) {
        assert_eq!(explanation["line"], step["line"]);
        assert_eq!(explanation["statement"], step["action"]);
        let name = &film["processes"][explanation["by"].as_u64().unwrap() as usize];
        assert_eq!(*name, step["process"]);
    }
    assert_eq!(film["lines"].as_array().unwrap().len(), steps.len() + 1);
    assert_eq!(html.matches("<tr data-step=").count(), steps.len() + 1);
    for words in ["Likely cause", "another process can move between these", "mutex is false", "↓ trace (ITF)"] {
        assert!(html.contains(words), "no {words}");
    }
}

#[test]
fn a_sweep_has_an_overview_with_plots_and_their_figures() {
    let html = shown(&[mux_sem(2), mux_sem(3), mux_sem(4)]);
    for words in [
        "<h2 id=\"overview-h\">",
        "Time in seconds",
        "Global states",
        "The figures as a table",
        "href=\"#r2-p0\"",
        "data-of=\"N = 3\"",
    ] {
        assert!(html.contains(words), "no {words}");
    }
    let [result, _] = documents(&html);
    assert_eq!(result["runs"].as_array().unwrap().len(), 3);
}

#[test]
fn a_refused_file_stands_beside_the_others() {
    let source = SourceFile::new("bad<.pw", "program {");
    let Err(diagnostics) = lang::load(&source, &[]) else { panic!("it is wrong") };
    let (run, files) = (explained(&broken_lock(2)), Files::default());
    let checked = Entry::Checked(Checked { run: &run, files: &files, graphs: None });
    let refused = Entry::Refused { source: &source, diagnostics: &diagnostics };
    for entries in [vec![refused], vec![checked, refused]] {
        let html = page(&entries);
        well_formed(&html).unwrap();
        assert!(html.contains("bad&lt;.pw") && html.contains("1 file refused"), "{html}");
    }
}

/// A text that would be markup, a script, an attribute or the end of one where it is not escaped.
const HOSTILE: &str = "</script><script>alert(1)</script>\" onload='x' <!-- ${a} `b` \u{202e}";

#[test]
fn hostile_names_and_texts_stay_text() {
    for mut run in [broken_lock(2), philosophers(3), counter(), mux_sem(2)] {
        run.model.name = HOSTILE.to_owned();
        run.model.doc = format!("{HOSTILE}\n\n{HOSTILE}");
        for process in run.model.processes.ids().collect::<Vec<_>>() {
            run.model.processes[process].name = format!("{HOSTILE}[{}]", process.index());
        }
        for place in run.model.places.ids().collect::<Vec<_>>() {
            run.model.places[place].name = HOSTILE.to_owned();
        }
        for statement in run.model.statements.ids().collect::<Vec<_>>() {
            run.model.statements[statement].text = HOSTILE.to_owned();
        }
        for var in run.model.vars.ids().collect::<Vec<_>>() {
            run.model.vars[var].name = HOSTILE.to_owned();
        }
        for cell in run.model.cells.ids().collect::<Vec<_>>() {
            run.model.cells[cell].name = HOSTILE.to_owned();
        }
        for property in run.model.properties.ids().collect::<Vec<_>>() {
            run.model.properties[property].name = format!("{HOSTILE}{}", property.index());
            run.model.properties[property].text = HOSTILE.to_owned();
        }
        run.source = SourceFile::new(HOSTILE, run.source.text().replace("skip;", &format!("skip; // {HOSTILE}")));
        let html = shown(&[run]);
        assert!(!html.contains("<script>alert") && !html.contains("\u{202e}\">"), "{html}");
        assert_eq!(html.matches("<script").count(), html.matches("</script>").count());
        let [result, _] = documents(&html);
        assert_eq!(result["runs"][0]["program"], HOSTILE);
    }
}

#[test]
fn a_lasso_has_its_bracket_and_who_was_able_to_move() {
    let (mut run, trace) = lasso();
    run.results.truncate(1);
    run.results[0].verdict =
        Verdict::Violated(Evidence::Trace(evidence::Trace { end: evidence::TraceEnd::Loop, ..trace }));
    let html = shown(&[run]);
    for words in ["In the loop of 4 turns", "enabled in", "class=\"loop\"", "↺ for ever: back to step 1", "┌▶", "└─"]
    {
        assert!(html.contains(words), "no {words}");
    }
    let [_, data] = documents(&html);
    assert_eq!(data["traces"]["r0-p0"]["loop"], 1);
}

/// The attributes of elements that begin like this, as numbers, and the text after each.
fn numbers<'h, const N: usize>(html: &'h str, tag: &str, keys: [&str; N]) -> Vec<([f64; N], &'h str)> {
    let parts = html.split(tag).skip(1);
    let attribute = |part: &str, key: &str| -> f64 {
        part.split_once(&format!(" {key}=\"")).unwrap().1.split('"').next().unwrap().parse().unwrap()
    };
    parts
        .map(|part| {
            let text = part.split_once('>').unwrap().1.split('<').next().unwrap();
            (keys.map(|key| attribute(part, key)), text)
        })
        .collect()
}

#[test]
fn marks_never_cover_what_stands_in_a_bar() {
    let html = shown(&[broken_lock(2)]);
    let marks = numbers(&html, "<circle class=\"read\"", ["cx", "cy", "r"]);
    assert!(!marks.is_empty(), "steps of it read");
    for ([x, base], text) in numbers(&html, "</rect><text", ["x", "y"]) {
        let right = x + 7.3 * text.chars().count() as f64;
        let covers = |[cx, cy, r]: [f64; 3]| cx + r > x && cx - r < right && cy + r > base - 9.0 && cy - r < base + 2.0;
        assert!(!marks.iter().any(|(mark, _)| covers(*mark)), "{text} at {x} {base}");
    }
}

#[test]
fn a_long_run_is_drawn_in_part_and_says_so() {
    let (mut run, round) = lasso();
    let mut trace = round.clone();
    while trace.n_steps() < 1000 {
        trace.states.extend_from_slice(&round.states[2..]);
        trace.turns.extend_from_slice(&round.turns[1..]);
    }
    trace.loop_from = None;
    trace.end = evidence::TraceEnd::State;
    let n_steps = trace.n_steps();
    run.results.truncate(1);
    run.results[0].verdict = Verdict::Violated(Evidence::Trace(trace));
    let explanation = explained(&run);
    let film =
        Film::of(&explanation, &explanation.results[0], explanation.explained_trace(&explanation.results[0]).unwrap());
    assert_eq!((film.steps.len(), film.first), (MOST_STEPS, n_steps - MOST_STEPS));
    for lane in film.lanes() {
        let ends: Vec<[usize; 2]> = lane.bars.iter().map(|bar| [bar.from, bar.to]).collect();
        assert!(ends[0][0] == 0 && ends[ends.len() - 1][1] == MOST_STEPS, "{ends:?}");
        assert!(ends.windows(2).all(|pair| pair[1][0] == pair[0][1] + 1), "bars have no gaps");
    }
    let html = shown(&[run]);
    assert!(html.contains(&format!("The first {} steps are not drawn", n_steps - MOST_STEPS)), "it is said");
    assert_eq!(html.matches("<tr data-step=").count(), MOST_STEPS + 1);
}

#[test]
fn random_programs_are_shown() {
    testkit::for_each_program(60, testkit::RandomFeatures::everything(), |_, model| {
        let Some(run) = without_text(model) else { return Ok(()) };
        let expected = whole_document(&run);
        let files = Files::default();
        let html = page(&[Entry::Checked(Checked { run: &explained(&run), files: &files, graphs: None })]);
        well_formed(&html)?;
        if documents(&html)[0] == expected { Ok(()) } else { Err("another document".to_owned()) }
    });
}
