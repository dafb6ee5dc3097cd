//! Concurrent pushdown systems, `.pds`, with `.init` and `.spec` beside them (the format of the CUBA benchmarks, PLDI 2018).
//!
//! In: the text of a file, where it starts, and what is bad. Out: the Model with warnings, or everything that is wrong, each with the
//! text that it speaks of. `reader.rs` reads lines, `lower.rs` makes the Model: shared states are a shared variable, threads are
//! processes, stack symbols are places, and a symbol that is pushed starts a procedure. `docs/pushdown.md` says what is read.

mod lower;
mod reader;

use base::{Diagnostic, SourceFile, Span};

use crate::codes::pds as code;
use crate::dve::{Goal, Refused};
use crate::log::Log;
use crate::pw::{Loaded, MAX_FILE_LENGTH};
use reader::{Configuration, System};

/// The name of the text that says where a system starts.
pub const INIT: &str = "init";

/// The name of the text that says what is bad.
pub const SPEC: &str = "spec";

/// Makes the Model of a file. Among the texts beside it, the one called [`INIT`] says where it starts, all others what is bad.
///
/// # Errors
/// The texts that are refused.
pub fn load(source: &SourceFile, beside: &[Goal]) -> Result<Loaded, Vec<Refused>> {
    let mut refusals: Vec<Refused> = Vec::new();
    if source.text().len() > MAX_FILE_LENGTH {
        let message =
            format!("this file has {} bytes; at most {} MB are read", source.text().len(), MAX_FILE_LENGTH >> 20);
        let diagnostics = vec![Diagnostic::error(crate::codes::syntax::FILE_TOO_LONG, Span::default(), message)];
        return Err(vec![Refused { source: source.clone(), diagnostics }]);
    }
    let mut log = Log::default();
    let system = reader::system(source, &mut log);
    let init = beside.iter().find(|text| text.name == INIT);
    if init.is_none() {
        log.add(missing_init(source, &system));
    }
    let n_errors = log.n_errors();
    let mut warnings = log.finish();
    if n_errors > 0 {
        refusals.push(Refused { source: source.clone(), diagnostics: std::mem::take(&mut warnings) });
    }
    // Stacks of a system that could not be read are not compared with it.
    let known = (n_errors == 0).then_some(&system);
    let mut read = |text: &Goal, empty: bool| {
        let mut log = Log::default();
        let found = reader::configuration(&text.source, (known, empty), &mut log);
        if log.n_errors() > 0 {
            refusals.push(Refused { source: text.source.clone(), diagnostics: log.finish() });
        }
        found
    };
    let start = init.and_then(|text| read(text, true));
    let specs: Vec<(&Goal, Option<Configuration>)> =
        beside.iter().filter(|text| text.name != INIT).map(|text| (text, read(text, false))).collect();
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let start = start.expect("what cannot be read is refused");
    let specs: Vec<(String, Configuration)> =
        specs.into_iter().filter_map(|(text, spec)| Some((text.name.clone(), spec?))).collect();
    if specs.is_empty() {
        let message = "nothing says which states are bad, so that only `no_errors` is asked";
        let warning = Diagnostic::warning(code::NO_SPEC, Span::new(0, 0), message);
        warnings.push(warning.help(format!(
            "write a state such as `{}` into `{}`",
            start.text,
            beside_name(source, SPEC)
        )));
    }
    match lower::lower(source, &system, &start, &specs) {
        Ok(model) => Ok(Loaded { model, warnings, n_before: 0 }),
        Err(lower::TooLarge(span)) => {
            let message = "the system is too large: its rules are too many steps";
            let diagnostics = vec![Diagnostic::error(crate::codes::syntax::FILE_TOO_LONG, span, message)];
            Err(vec![Refused { source: source.clone(), diagnostics }])
        }
    }
}

fn missing_init(source: &SourceFile, system: &System) -> Diagnostic {
    let name = beside_name(source, INIT);
    let span = system.threads.first().map_or(Span::new(0, 0), |thread| thread.span);
    let message = format!("there is no `{name}`, which says where the threads start");
    let stacks = system.threads.iter().map(|thread| thread.first.to_string()).collect::<Vec<_>>().join(",");
    let example = if stacks.is_empty() { "0".to_owned() } else { format!("0|{stacks}") };
    let diagnostic = Diagnostic::error(code::NO_INIT, span, message);
    diagnostic.help(format!("write the shared state and one stack for each thread into it, such as `{example}`"))
}

/// The name of a file beside another one.
fn beside_name(source: &SourceFile, ending: &str) -> String {
    let name = source.name().rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    format!("{stem}.{ending}")
}
