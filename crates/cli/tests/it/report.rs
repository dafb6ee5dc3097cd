//! `--report`: a page that is whole, carries the result document, and works in a real browser.
//!
//! The browser is Debian's chromium, without a window. A copy of the report gets a script of the test's own at its end, which clicks, presses keys and
//! writes what it finds into the page; the page as it is then comes back as text. Where there is no chromium, these tests say so and do nothing.

#![cfg(unix)]

use std::fs;
use std::process::{Command, Stdio};

use crate::limits::{interrupt, start};
use crate::support::{Place, Told, root};
use serde_json::Value as Json;
use testkit::skip::{Needs, skipped};

const LOCK: &str = include_str!("support/lock.pw");

fn place() -> Place {
    let place = Place::with("lock.pw", LOCK);
    for name in ["mux_sem.pw", "flags_test_then_set.pw"] {
        place.write(name, fs::read(root().join("examples").join(name)).unwrap());
    }
    place
}

/// A document inside a page.
fn inside(html: &str, id: &str) -> Json {
    let mark = format!("<script type=\"application/json\" id=\"{id}\">");
    let start = html.find(&mark).unwrap() + mark.len();
    serde_json::from_str(&html[start..start + html[start..].find("</script>").unwrap()]).unwrap()
}

#[test]
fn the_document_inside_is_the_result_document() {
    let place = place();
    for line in ["lock.pw -N 3", "mux_sem.pw -N 2", "mux_sem.pw -N 3 --method completion", "lock.pw -N 2..3", "."] {
        let told = place.run(&format!("check {line} --format json --report r.html"));
        assert!([0, 1, 3].contains(&told.status), "{line}: {}", told.err);
        let html = place.read("r.html");
        assert_eq!(inside(&html, "result"), told.json(), "{line}");
        assert!(html.starts_with("<!doctype html>") && html.ends_with("</html>\n"), "{line}");
        // Traces to download name the site of their format; what the browser reads as a page names none.
        let page = html
            .split("<script type=\"application/json\"")
            .map(|part| part.split_once("</script>").map_or(part, |(_, rest)| rest));
        let page: String = page.collect();
        for address in ["http://", "https://", " src=", "@import", "url(h", "<link"] {
            assert!(!page.contains(address), "{line}: {address}");
        }
    }
    assert_eq!(place.names(), ["flags_test_then_set.pw", "lock.pw", "mux_sem.pw", "r.html"]);
}

#[test]
fn a_report_beside_text_does_not_change_the_verdicts_or_say_warnings_twice() {
    let place = place();
    let alone = place.run("check lock.pw -N 2 -q").exits(0);
    let beside = place.run("check lock.pw -N 2 -q --report r.html").exits(0);
    assert_eq!((alone.out, alone.err), (beside.out, beside.err));
    place.write("bad.pw", "program {");
    place.run("check bad.pw lock.pw --report r.html").exits(2);
    assert!(place.read("r.html").contains("1 file refused"));
}

#[test]
fn what_cannot_be_written_is_said_before_the_work_starts() {
    let place = place();
    place
        .run("check lock.pw --report no/such/r.html --progress json")
        .exits(2)
        .complains("the directory does not exist");
    let told = place.run("check lock.pw --report . --progress json").exits(2).complains("this is a directory");
    assert!(told.out.is_empty() && !told.err.contains("\"event\""), "{}", told.err);
    place.run("check --report lock.pw mux_sem.pw").exits(2).complains("the name of a program");
    assert_eq!(place.read("lock.pw"), LOCK);
}

#[test]
fn an_interrupt_leaves_a_whole_report_of_what_was_done() {
    let place = Place::with(
        "endless.pw",
        "program endless {
  process P[i in 0..<30] {
    local x: 0..<1000000;
    loop { either { x = (x + 1) % 1000000; } or { x = (x + 7) % 1000000; } }
  }
  invariant fine: true;
}
",
    );
    let child = start(&place, "check endless.pw --method mono --report r.html --progress json");
    interrupt(&child);
    Told::new(&child.wait_with_output().unwrap()).exits(3);
    let html = place.read("r.html");
    assert_eq!(inside(&html, "result")["runs"][0]["results"][0]["reason"]["code"], "cancelled");
    assert!(html.ends_with("</html>\n"));
    assert_eq!(place.names(), ["endless.pw", "r.html"]);
}

/// Notes what goes wrong in a page: errors, messages of errors, anything that it tries to fetch.
const WATCH: &str = "<script>
window.wrong = [];
addEventListener('error', (event) => wrong.push('error: ' + event.message));
addEventListener('unhandledrejection', (event) => wrong.push('rejected: ' + event.reason));
document.addEventListener('securitypolicyviolation', (event) => wrong.push('fetches ' + event.blockedURI));
console.error = (...all) => wrong.push('console: ' + all.join(' '));
</script>";

/// What the scripts of the tests use.
const TOOLS: &str = "
const one = (selector) => document.querySelector(selector);
const all = (selector) => [...document.querySelectorAll(selector)];
const seen = (selector) => all(selector).filter((element) => element.getClientRects().length > 0);
const press = (key, target = document.body) => target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
const later = (time) => new Promise((done) => setTimeout(done, time));
const luminance = (color) => {
  const [r, g, b] = color.match(/[\\d.]+/g).map(Number).slice(0, 3).map((part) => part / 255).map((part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (one, other) => {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
};
const behind = (element) => {
  for (let at = element; at; at = at.parentElement) {
    const color = getComputedStyle(at).backgroundColor;
    if (!/, 0\\)$/.test(color) && color !== 'transparent') return color;
  }
  return 'rgb(255, 255, 255)';
};
const faint = () => seen('body *').filter((element) => !element.closest('svg') && [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim()))
  .filter((element) => contrast(getComputedStyle(element).color, behind(element)) < 4.5)
  .map((element) => `${element.tagName}.${element.className} ${element.textContent.slice(0, 30)}`);
";

/// Opens a report in a browser, runs a script there, and returns what it found; `None` where there is no browser.
fn browse(place: &Place, report: &str, (address, columns): (&str, u32), script: &str) -> Option<Json> {
    if Command::new("chromium").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
        skipped(Needs::Program("chromium"));
        return None;
    }
    let html = place.read(report).replacen("<head>", &format!("<head>{WATCH}"), 1);
    let run = format!(
        "<pre id=\"found\"></pre><script>{TOOLS}(async () => {{ let found; try {{ found = await (async () => {{ {script} }})(); }} catch (error) {{ found = {{ failed: String(error.stack) }}; }}
         found.wrong = wrong; found.fetched = performance.getEntriesByType('resource').length; one('#found').textContent = btoa(unescape(encodeURIComponent(JSON.stringify(found)))); }})();</script></body>"
    );
    let opened = place.write("opened.html", html.replacen("</body>", &run, 1));
    let profile = Place::new();
    let output = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"])
        .args([
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
            "--virtual-time-budget=8000",
            "--dump-dom",
        ])
        .arg(format!("--window-size={columns},900"))
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("file://{}{address}", opened.display()))
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    let coded = dom.split("<pre id=\"found\">").nth(1).and_then(|rest| rest.split("</pre>").next());
    let Some(coded) = coded.filter(|coded| !coded.is_empty()) else {
        panic!("the browser found nothing: {}\n{}", String::from_utf8_lossy(&output.stderr), dom.len());
    };
    let found: Json = serde_json::from_slice(&decoded(coded)).unwrap();
    assert_eq!(found["failed"], Json::Null, "{found}");
    assert_eq!(found["wrong"], Json::Array(Vec::new()), "something went wrong in the page");
    assert_eq!(found["fetched"], 0, "the page fetched something");
    Some(found)
}

/// Base 64, which no entity of HTML disturbs.
fn decoded(text: &str) -> Vec<u8> {
    let digit = |letter: u8| {
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".bytes().position(|known| known == letter)
    };
    let mut out = Vec::new();
    for four in text.bytes().filter_map(digit).collect::<Vec<_>>().chunks(4) {
        let bits = four.iter().enumerate().fold(0_u32, |bits, (at, digit)| bits | (*digit as u32) << (18 - 6 * at));
        out.extend(bits.to_be_bytes()[1..four.len()].iter().copied());
    }
    out
}

#[test]
fn a_counterexample_is_stepped_through() {
    let place = place();
    place.run("check flags_test_then_set.pw --report r.html -q").exits(0);
    let script = "
      const panel = '.panel.current ';
      const now = () => one(panel + '.now').textContent;
      const at = () => one(panel + 'input[type=range]').value;
      const chips = () => Object.fromEntries(seen(panel + '.row.here').map((row) => [row.dataset.line, [...row.querySelectorAll('.chip')].map((chip) => chip.textContent).join(' ')]));
      const found = { panels: seen('.panel').length, start: [at(), chips()], closed: !one(panel + '.all-steps').open };
      press('Home'); press('ArrowRight'); found.right = [at(), now(), chips()];
      press('End'); found.end = [at(), now(), chips()];
      const values = () => seen(panel + '.values tbody tr').map((row) => row.textContent);
      found.whole = values();
      press('ArrowLeft'); found.left = at(); found.changed = values();
      one(panel + '.only').click(); found.every = values();
      one(panel + '.only').click();
      press('ArrowRight'); press('ArrowRight'); found.stays = at();
      press('Home'); found.home = [at(), getComputedStyle(one(panel + '.cursor')).transform];
      one(panel + '[data-do=next]').click(); found.button = at();
      const slider = one(panel + 'input[type=range]'); slider.value = 4; slider.dispatchEvent(new Event('input')); found.slider = [at(), now()];
      one(panel + '.all-steps').open = true; one(panel + '.steps tr[data-step=\"2\"]').click(); found.row = [at(), seen(panel + '.now-row').length];
      press(' '); await later(2000); found.played = at();
      press(' '); const paused = at(); await later(2000); found.paused = at() === paused;
      found.files = all('a[data-file]').every((link) => link.href.startsWith('blob:'));
      const trace = await (await (async () => new Response(document.getElementById('r0-p2-file').textContent))()).json(); found.states = trace.states.length;
      found.faint = faint();
      document.documentElement.dataset.theme = 'dark'; found.faint_dark = faint();
      return found;";
    let Some(found) = browse(&place, "r.html", ("#r0-p2", 1280), script) else { return };
    assert_eq!(found["panels"], 1, "one panel is shown");
    assert_eq!(found["start"], serde_json::json!(["6", { "13": "P[0] P[1]" }]), "a run opens at its end");
    assert_eq!(found["closed"], true);
    assert_eq!(found["right"][0], "1");
    assert!(found["right"][1].as_str().unwrap().contains("P[0]: noncrit → test · idle line 10"), "{found}");
    assert_eq!(found["right"][2], serde_json::json!({ "10": "P[1]", "11": "P[0]" }));
    assert!(found["end"][1].as_str().unwrap().contains("mutex is false"), "{found}");
    assert_eq!(found["end"][2], serde_json::json!({ "13": "P[0] P[1]" }));
    assert_eq!(found["whole"], serde_json::json!(["P[0].flagF ⇒ T", "P[1].flagT"]), "all of the last state");
    assert_eq!(found["changed"], serde_json::json!(["P[1].flagF ⇒ T"]), "elsewhere what changes");
    assert_eq!(found["every"], serde_json::json!(["P[0].flagF", "P[1].flagF ⇒ T"]));
    assert_eq!((&found["left"], &found["stays"]), (&Json::from("5"), &Json::from("6")));
    assert_eq!(found["home"][0], "0");
    assert_eq!(found["button"], "1");
    assert!(found["slider"][0] == "4" && found["slider"][1].as_str().unwrap().starts_with("step 4 of 6"), "{found}");
    assert_eq!(found["row"], serde_json::json!(["2", 1]));
    assert_eq!(found["played"], "4");
    assert_eq!((&found["paused"], &found["files"]), (&Json::from(true), &Json::from(true)));
    assert_eq!(found["states"], 7, "the trace to download has all states");
    assert_eq!((&found["faint"], &found["faint_dark"]), (&serde_json::json!([]), &serde_json::json!([])));
}

#[test]
fn instances_properties_and_themes_are_switched_and_a_phone_is_wide_enough() {
    let place = place();
    place.run("check mux_sem.pw -N 2..3 --report r.html").exits(0);
    let script = "
      const found = { first: seen('.overview, .run').map((section) => section.id), plots: seen('.plot').length };
      const go = async (address) => { location.hash = address; await later(100); return seen('.run, .overview, .panel').map((part) => part.id); };
      found.property = await go('r0-p6');
      found.lasso = seen('.loop').length + seen('.bracket').length;
      press('End'); const last = one('.panel.current input[type=range]').value;
      found.same = await go('r1');
      found.current = seen('.instances a[aria-current]').map((link) => link.textContent);
      found.graph = await go('r1-graphs'); found.nodes = seen('.states .node').length;
      found.back = await go('overview');
      const background = () => getComputedStyle(document.body).backgroundColor;
      const button = one('#theme'); const colors = [];
      for (let n = 0; n < 3; n += 1) { button.click(); colors.push([button.textContent, background()]); }
      found.themes = colors;
      found.wide = document.documentElement.scrollWidth <= innerWidth;
      await go('r0-p6'); found.wide_trace = document.documentElement.scrollWidth <= innerWidth; found.faint = faint();
      return found;";
    let Some(found) = browse(&place, "r.html", ("", 500), script) else { return };
    assert_eq!(found["first"], serde_json::json!(["overview"]));
    assert!(found["plots"].as_u64() >= Some(2), "time, and states of products or of processes: {found}");
    assert_eq!(found["property"], serde_json::json!(["r0", "r0-p6"]));
    assert_eq!(found["same"], serde_json::json!(["r1", "r1-p6"]), "the same property of another instance");
    assert_eq!(found["current"], serde_json::json!(["N=3"]));
    assert_eq!(found["graph"], serde_json::json!(["r1", "r1-graphs"]));
    assert_eq!(found["back"], serde_json::json!(["overview"]));
    assert!(found["lasso"].as_u64().unwrap() > 0 && found["nodes"].as_u64().unwrap() > 2, "{found}");
    let themes = found["themes"].as_array().unwrap();
    assert_eq!([&themes[0][0], &themes[1][0], &themes[2][0]], ["theme: light", "theme: dark", "theme: auto"]);
    assert_ne!(themes[0][1], themes[1][1], "light and dark differ");
    assert_eq!(
        (&found["wide"], &found["wide_trace"]),
        (&Json::from(true), &Json::from(true)),
        "nothing is cut off at the side"
    );
    assert_eq!(found["faint"], serde_json::json!([]));
}

#[test]
fn a_proof_is_shown_and_hostile_text_runs_nothing() {
    let place = place();
    let text =
        LOCK.replace("/// A lock", "/// <img src=x onerror=\"wrong.push(1)\"><script>wrong.push(2)</script> & A lock");
    place.write(
        "hostile.pw",
        text.replace("crit:    skip;", "crit:    skip; // </script><script>wrong.push(3)</script>"),
    );
    place.run("check hostile.pw mux_sem.pw -N 3 --method completion --property mutex --report r.html");
    let script = "
      const found = { doc: one('#r0 .doc').textContent, images: all('img').length };
      location.hash = 'r1-p0'; await later(100);
      found.folded = seen('.panel.current details:not([open]) summary').map((title) => title.textContent);
      for (const folded of all('details')) folded.open = true;
      found.notes = seen('.note').map((note) => note.textContent);
      found.keeps = seen('.keeps').length;
      found.rounds = seen('.panel.current h4').map((heading) => heading.textContent);
      found.inside = JSON.parse(one('#result').textContent).runs.length;
      return found;";
    let Some(found) = browse(&place, "r.html", ("", 1280), script) else { return };
    assert!(found["doc"].as_str().unwrap().contains("<script>wrong.push(2)</script> & A lock"), "{found}");
    assert_eq!((&found["images"], &found["inside"]), (&Json::from(0), &Json::from(2)));
    let notes = found["notes"].as_array().unwrap();
    assert!(notes.iter().any(|note| note.as_str().unwrap().contains("forall k != i: !P[k]@{crit, leave}")), "{found}");
    assert!(found["keeps"].as_u64().unwrap() >= 4, "{found}");
    assert!(found["folded"][0].as_str().unwrap().starts_with("Interference: 2 steps"), "{found}");
    for heading in ["Source with invariants", "What was exposed", "Certificate"] {
        assert!(found["rounds"].as_array().unwrap().contains(&Json::from(heading)), "{found}");
    }
}

/// What holds everywhere is said once, where the text of a process begins, and not again at each of its places.
#[test]
fn what_holds_everywhere_is_said_once_between_the_lines() {
    let place = Place::new();
    let example = root().join("examples/mux_sem.pw");
    let call = format!("check {} -N 3 --property mutex --method completion --report p.html -q", example.display());
    place.run(&call).exits(0);
    let page = place.read("p.html");
    let notes: Vec<&str> =
        page.split("class=\"note\"").skip(1).map(|one| one.split("</div>").next().unwrap()).collect();
    let with = |words: &str| notes.iter().filter(|note| note.contains(words)).count();
    assert_eq!((with("I1"), with("I2"), with("x == 0")), (1, 1, 3), "{notes:#?}");
}
