//! Promela, the language of SPIN, `.pml`.
//!
//! In: the text of a file, the files that it may include, and values for macros. Out: the Model with warnings, or everything that is wrong, each
//! with the text that it speaks of. `preprocessor.rs` makes tokens, `parser.rs` the syntax tree (`ast.rs`), `resolve.rs` looks names up
//! (`program.rs`), `graph.rs` makes places and steps, `elaborate.rs` the Model. `docs/promela.md` says what is read and what it means.

mod ast;
mod elaborate;
mod graph;
mod lexer;
mod numbers;
mod parametric;
mod parser;
mod places;
mod preprocessor;
mod program;
mod resolve;
mod sizes;
mod sources;
mod values;

use std::collections::{BTreeMap, HashSet};

use base::{Diagnostic, SourceFile, Span};
use model::Model;

use crate::codes::syntax::FILE_TOO_LONG;
use crate::dve::Refused;
use crate::pw::{Loaded, MAX_FILE_LENGTH, ParameterRange};
use graph::Style;
pub use places::Decide;
use sources::{Placed, SourceMap};

/// The files that a program may include, by their path from the folder of the program.
pub type Includes = BTreeMap<String, String>;

/// How a program is read, besides its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The files that it may include.
    pub includes: Includes,
    /// Count states as `pan -E -A -c0` does: deaths are steps, blocks that begin with a loop have an entry, failed assertions are passed over.
    pub like_spin: bool,
    /// Every statement is an action of its own, deaths are steps, and nothing happens before the start: to follow what SPIN printed.
    pub single_steps: bool,
    /// How many processes of a proctype a `run` in a loop may start.
    pub instances: Vec<(String, usize)>,
    /// Whether what is sent to a full buffer is lost, as `spin -m`; otherwise who sends waits.
    pub is_lossy: bool,
    /// Whether temporal properties assume weak fairness, as `pan -f`.
    pub is_fair: bool,
    /// Whether temporal properties assume strong fairness: who can move again and again does.
    pub is_strongly_fair: bool,
    /// Whether to ask for progress, as `pan -l`.
    pub progress: bool,
    /// Whether the macro that is the number of processes becomes a parameter of the Model, where the text allows that.
    pub for_every_size: bool,
    /// Formulas besides the `ltl` blocks of the text; their properties are `given`, `given_2` and so on.
    pub formulas: Vec<String>,
    /// How it is found out whether so many processes are enough, if not on the reference semantics.
    pub decide: Option<Decide>,
}

/// The name of the property of a formula that the call gives, by its position.
pub fn given_name(at: usize) -> String {
    if at == 0 { "given".into() } else { format!("given_{}", at + 1) }
}

/// The paths of the files that a text includes, whatever its conditions say.
pub fn included(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.lines() {
        let Some(rest) = line.trim_start().strip_prefix('#') else { continue };
        let Some(rest) = rest.trim_start().strip_prefix("include") else { continue };
        let mut parts = rest.split('"');
        if let (Some(before), Some(name)) = (parts.next(), parts.next())
            && before.trim().is_empty()
        {
            found.push(name.to_owned());
        }
    }
    found
}

/// The macros of a program that are numbers, which a call can give other values.
pub fn parameters(source: &SourceFile, reading: &Reading) -> Vec<ParameterRange> {
    let read = preprocessor::preprocess(source, reading, &[]);
    let (least, greatest) = (i64::from(i32::MIN), Some(i64::from(i32::MAX)));
    let range = |(name, _)| ParameterRange { name, least, greatest, sizes: Vec::new() };
    read.numbers.into_iter().map(range).collect()
}

/// What keeps a program from being asked about every number of its processes, in words with lines; `None` where nothing does.
pub fn obstacle(source: &SourceFile, given: &[(String, i64)], reading: &Reading) -> Option<String> {
    let reading = Reading { for_every_size: false, ..reading.clone() };
    let model = load(source, given, &reading).ok()?.model;
    let other = |given: &[(String, i64)]| load(source, given, &reading).ok().map(|loaded| loaded.model);
    let parametric::NoParameter(macros) = parametric::parametric(&model, (source, &reading), given, other).err()?;
    let line = |span: Span| match span.is_empty() {
        true => String::new(),
        false => format!("line {}: ", source.line_col(span.start).line),
    };
    // A macro that counts no processes is not what was meant, where another one does.
    let counts = |(_, found): &&(String, Vec<sizes::Obstacle>)| !found.iter().any(|one| one.is_no_count);
    let meant = macros.iter().find(counts).or(macros.first());
    let text = |(name, found): &(String, Vec<sizes::Obstacle>)| {
        let why: Vec<String> = found.iter().take(3).map(|one| format!("{}{}", line(one.span), one.text)).collect();
        format!("the number of processes is no parameter of the program, for `{name}`: {}", why.join("; "))
    };
    Some(meant.map_or_else(|| "no macro is the number of processes, as in `active [N] proctype`".to_owned(), text))
}

/// Makes the Model of a program with these values for macros.
///
/// # Errors
/// The texts that are refused: the file itself, or files that it includes.
pub fn load(source: &SourceFile, given: &[(String, i64)], reading: &Reading) -> Result<Loaded, Vec<Refused>> {
    if let Some(diagnostic) = too_long(source) {
        return Err(vec![Refused { source: source.clone(), diagnostics: vec![diagnostic] }]);
    }
    let read = preprocessor::preprocess(source, reading, given);
    let mut diagnostics = read.diagnostics;
    if diagnostics.iter().any(|one| one.is_error() && one.code == crate::codes::promela::TOO_LARGE) {
        return Err(refused(diagnostics, &read.map));
    }
    let model = program(read.tokens, &read.map, (source, reading), &mut diagnostics);
    match model {
        Some((model, n_before)) if !diagnostics.iter().any(Diagnostic::is_error) => {
            let warnings = diagnostics.into_iter().map(|one| read.map.in_main_file(one)).collect();
            let model = if reading.for_every_size { for_every_size(model, source, (given, reading)) } else { model };
            Ok(Loaded { model, warnings, n_before })
        }
        _ => Err(refused(diagnostics, &read.map)),
    }
}

/// The Model with its number of processes for a parameter, if it can be one.
fn for_every_size(model: Model, source: &SourceFile, (given, reading): (&[(String, i64)], &Reading)) -> Model {
    let plain = Reading { for_every_size: false, ..reading.clone() };
    let other = |given: &[(String, i64)]| load(source, given, &plain).ok().map(|loaded| loaded.model);
    parametric::parametric(&model, (source, reading), given, other).unwrap_or(model)
}

fn program(
    tokens: Vec<lexer::Token>,
    map: &SourceMap,
    (source, reading): (&SourceFile, &Reading),
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<(Model, u64)> {
    let fine = |diagnostics: &[Diagnostic]| !diagnostics.iter().any(Diagnostic::is_error);
    let (file, more) = parser::parse(tokens, map);
    diagnostics.extend(more);
    if !fine(diagnostics) {
        return None;
    }
    let resolved = resolve::resolve(&file);
    diagnostics.extend(resolved.diagnostics);
    if !fine(diagnostics) {
        return None;
    }
    let mut graphs = Vec::new();
    for (id, proctype) in resolved.program.proctypes.iter().enumerate() {
        let named = resolved.named_labels.iter().filter(|(owner, _)| *owner == id);
        let named: HashSet<String> = named.map(|(_, label)| label.clone()).collect();
        let block_entries = reading.like_spin || resolved.program.asks_state_numbers.is_some();
        let style = Style { block_entries, named: &named, is_claim: false };
        let (graph, more) = graph::build((&proctype.body, proctype.end_number), style);
        diagnostics.extend(more);
        if let Some(span) = graph.unreached() {
            let message = "this statement is never reached";
            diagnostics.push(Diagnostic::warning(crate::codes::promela::UNREACHABLE, span, message));
        }
        graphs.push(graph);
    }
    if !fine(diagnostics) {
        return None;
    }
    let options = elaborate::Options {
        deaths: reading.like_spin || reading.single_steps,
        single_steps: reading.single_steps,
        is_lossy: reading.is_lossy,
        is_fair: reading.is_fair,
        is_strongly_fair: reading.is_strongly_fair,
        progress: reading.progress,
        ignores_assertions: reading.like_spin,
        places: places_given(reading, &resolved.program, diagnostics),
        marks_full: false,
    };
    let made = |options: &elaborate::Options| elaborate::elaborate(&resolved.program, &graphs, map, options);
    let mut elaborated = made(&options);
    let is_unbounded = |one: &Diagnostic| one.code == crate::codes::promela::INSTANCES;
    if elaborated.diagnostics.iter().any(is_unbounded)
        && let Some(bounded) = places::enough(&options, reading.decide, made)
    {
        elaborated = bounded;
    }
    diagnostics.extend(elaborated.diagnostics);
    let model = Model { name: model_name(source), ..elaborated.model };
    fine(diagnostics).then_some((model, elaborated.n_before as u64))
}

/// How many places for processes the call asks for.
fn places_given(reading: &Reading, program: &program::Program, diagnostics: &mut Vec<Diagnostic>) -> Option<usize> {
    for (name, _) in &reading.instances {
        if !program.proctypes.iter().any(|proctype| proctype.name == *name) {
            let known = program.proctypes.iter().map(|proctype| proctype.name.as_str());
            let message = format!("`--instances {name}`: there is no proctype `{name}`");
            let mut diagnostic = Diagnostic::error(crate::codes::promela::INSTANCES, Span::default(), message);
            if let Some(near) = base::diagnostic::nearest_name(name, known) {
                diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
            }
            diagnostics.push(diagnostic);
        }
    }
    (!reading.instances.is_empty()).then(|| reading.instances.iter().map(|(_, count)| count).sum())
}

/// Each diagnostic with the text that it speaks of; the file itself comes first.
fn refused(diagnostics: Vec<Diagnostic>, map: &SourceMap) -> Vec<Refused> {
    let mut found: Vec<Refused> = Vec::new();
    for diagnostic in diagnostics {
        let Placed { source, diagnostic } = map.place(diagnostic);
        match found.iter_mut().find(|one| one.source.name() == source.name()) {
            Some(one) => one.diagnostics.push(diagnostic),
            None => found.push(Refused { source, diagnostics: vec![diagnostic] }),
        }
    }
    for one in &mut found {
        one.diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span);
    }
    found.retain(|one| one.diagnostics.iter().any(Diagnostic::is_error));
    found
}

fn too_long(source: &SourceFile) -> Option<Diagnostic> {
    let length = source.text().len();
    (length > MAX_FILE_LENGTH).then(|| {
        let message = format!("this file has {length} bytes; at most {} MB are read", MAX_FILE_LENGTH >> 20);
        Diagnostic::error(FILE_TOO_LONG, Span::default(), message)
    })
}

/// The name of the file without its folder and its suffix.
fn model_name(source: &SourceFile) -> String {
    let name = source.name().rsplit(['/', '\\']).next().unwrap_or_default();
    name.rsplit_once('.').map_or(name, |(name, _)| name).to_string()
}
