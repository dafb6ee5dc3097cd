//! From the paths of a call to loaded instances of programs.
//!
//! In: files and directories, and what the call says about parameters. Out: a [`Batch`]: for each file its instances, or
//! why it is refused. In a call with several files a parameter is given to the programs that have it, and sizes that a
//! program does not allow are left out and named; with one file both are errors.

use std::path::{Path, PathBuf};

use base::diagnostic::nearest_name;
use base::{Budget, CancelToken, Diagnostic, SourceFile};
use engine::{Engine, PropertyId, Silent, Task, Verdict};
use lang::promela::{Decide, Reading};
use lang::{ParameterRange, ProgramText};
use model::{GivenNumber, Model};

use crate::check::Program;
use crate::files::{self, FileError};
use crate::goals::goals_for;
use crate::instances::{Request, SIZE_PARAMETER, SweepSizes};

/// What is loaded, in the order of the call.
#[derive(Debug, Default)]
pub struct Batch {
    /// The instances, and the files that are refused.
    pub items: Vec<Loaded>,
    /// What was left out, one sentence each.
    pub notes: Vec<String>,
}

/// One file, or one instance of it.
#[derive(Debug)]
pub enum Loaded {
    /// An instance that can be checked.
    Program(Box<Program>),
    /// A file that cannot.
    Refused(Refusal),
}

impl Loaded {
    /// The text, with the name that the user gave for it.
    pub fn source(&self) -> &SourceFile {
        match self {
            Loaded::Program(program) => &program.source,
            Loaded::Refused(refusal) => &refusal.source,
        }
    }
}

/// A text that is no program, and why.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The text, as far as it is one.
    pub source: SourceFile,
    /// What is wrong with it; at least one error.
    pub diagnostics: Vec<Diagnostic>,
}

/// Why nothing was loaded.
#[derive(Debug)]
pub enum LoadError {
    /// Paths that cannot be used.
    Files(Vec<FileError>),
    /// A parameter that no program has, or that no program allows.
    Parameters(Vec<String>),
}

/// Loads every instance of every program.
///
/// # Errors
/// Paths that cannot be read, and parameters that fit no program. A file with errors of its own is a [`Refusal`].
pub fn load(paths: &[PathBuf], request: &Request) -> Result<Batch, LoadError> {
    let paths = files::find(paths).map_err(LoadError::Files)?;
    let texts = read_all(&paths, request).map_err(LoadError::Files)?;
    if let [text] = &texts[..] {
        return Ok(load_one(text, request));
    }
    let declared: Vec<Vec<ParameterRange>> = texts.iter().map(declared).collect();
    unknown_parameters(request, &declared).map_err(LoadError::Parameters)?;
    let mut batch = Batch::default();
    for (text, declared) in texts.iter().zip(&declared) {
        load_fitting(text, request, declared, &mut batch);
    }
    if batch.items.is_empty() {
        return Err(LoadError::Parameters(batch.notes));
    }
    Ok(batch)
}

/// Loads one instance of one file, for commands that work on one: a program, or everything that is refused.
///
/// # Errors
/// A path that cannot be read. A sweep has no one instance; the caller refuses it before.
pub fn load_instance(path: &Path, given: &[(String, i64)], request: &Request) -> Result<Vec<Loaded>, FileError> {
    Ok(match read_text(path, request)? {
        Ok(text) => instances_of(&text, given),
        Err(refusal) => vec![Loaded::Refused(refusal)],
    })
}

/// The parameters that a program declares, with the values that each allows; `None` for a text that is no program.
///
/// # Errors
/// A path that cannot be read.
pub fn declared_parameters(path: &Path) -> Result<Option<Vec<ParameterRange>>, FileError> {
    Ok(read_text(path, &Request::default())?.ok().and_then(|text| text.parameters().ok()))
}

/// What a path leads to: a text, which is read once for all its instances, or why there is none.
type ReadText = Result<ProgramText, Refusal>;

fn read_all(paths: &[PathBuf], request: &Request) -> Result<Vec<ReadText>, Vec<FileError>> {
    let (mut texts, mut errors) = (Vec::new(), Vec::new());
    for path in paths {
        match read_text(path, request) {
            Ok(text) => texts.push(text),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(texts) } else { Err(errors) }
}

fn read_text(path: &Path, request: &Request) -> Result<ReadText, FileError> {
    let bytes = files::read(path)?;
    let goals = goals_for(path, request.goals())?;
    let name = if path == Path::new(files::STDIN) { files::STDIN_NAME.to_owned() } else { path.display().to_string() };
    // Comments of old Promela programs are in other alphabets; what is not one is refused at its place.
    let bytes = match lang::is_promela(&name) {
        true => String::from_utf8_lossy(&bytes).into_owned().into_bytes(),
        false => bytes,
    };
    let source = match lang::pw::decode(&name, bytes) {
        Ok(source) => source,
        Err(undecodable) => {
            return Ok(Err(Refusal { source: undecodable.file, diagnostics: vec![undecodable.diagnostic] }));
        }
    };
    let for_every_size = !request.takes_own_sizes() || request.reading().for_every_size;
    let includes = files::included(path, source.text());
    let decide = Some(Decide(decide));
    let reading = Reading { includes, for_every_size, decide, ..request.reading().clone() };
    Ok(ProgramText::read_with(&source, &goals, &reading).map_err(|diagnostics| Refusal { source, diagnostics }))
}

/// What a search of the whole product may take to find out how many processes a program has.
const MOST_BYTES: u64 = 16 << 20;

/// Whether an invariant holds, by a search of the whole product within limits that do not depend on the clock.
pub fn decide(model: &Model, property: PropertyId) -> Option<bool> {
    let budget = Budget::new(None, Some(MOST_BYTES), CancelToken::default());
    let task = Task { model, properties: vec![property], budget, n_threads: 1 };
    let answers = product::Mono.run(&task, &Silent).ok()?;
    match answers.first()?.verdict {
        Verdict::Holds(_) => Some(true),
        Verdict::Violated(_) => Some(false),
        Verdict::Unknown(_) => None,
    }
}

/// The parameters of a program; a text with errors has none that matter, since it is refused.
fn declared(text: &ReadText) -> Vec<ParameterRange> {
    text.as_ref().ok().and_then(|text| text.parameters().ok()).unwrap_or_default()
}

/// The instances that a request asks for, whatever the program allows; the last parameter changes fastest.
fn instances(request: &Request, declared: &[ParameterRange]) -> Vec<Vec<(String, i64)>> {
    let given = request.parameters().map(|(name, sizes)| (name, sizes.values().collect()));
    combinations(given.chain(own_sizes(request, declared)))
}

/// The sizes that the text asks for, of parameters for which the call asks for none.
fn own_sizes<'a>(
    request: &'a Request,
    declared: &'a [ParameterRange],
) -> impl Iterator<Item = (&'a str, Vec<i64>)> + 'a {
    let is_open = |range: &&ParameterRange| {
        request.takes_own_sizes() && !request.parameters().any(|(name, _)| name == range.name)
    };
    let with_sizes = declared.iter().filter(|range| !range.sizes.is_empty()).filter(is_open);
    with_sizes.map(|range| (range.name.as_str(), range.sizes.clone()))
}

fn combinations<'a>(parameters: impl Iterator<Item = (&'a str, Vec<i64>)>) -> Vec<Vec<(String, i64)>> {
    let mut all = vec![Vec::new()];
    for (name, values) in parameters {
        let with = |given: &Vec<(String, i64)>| {
            let one = |&value: &i64| given.iter().cloned().chain([(name.to_owned(), value)]).collect();
            values.iter().map(one).collect::<Vec<Vec<(String, i64)>>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    all
}

/// With one file every parameter must fit; the front-end says what does not.
fn load_one(text: &ReadText, request: &Request) -> Batch {
    let mut batch = Batch::default();
    match text {
        Err(refusal) => batch.items.push(Loaded::Refused(refusal.clone())),
        Ok(text) => {
            for given in instances(request, &text.parameters().unwrap_or_default()) {
                let loaded = instances_of(text, &given);
                // The other instances would be refused for the same reasons, or not be asked for.
                if loaded.iter().any(is_refused) {
                    batch.items = loaded;
                    break;
                }
                batch.items.extend(loaded);
            }
        }
    }
    batch
}

/// With several files a program takes what it declares, and leaves out the sizes that it does not allow.
fn load_fitting(text: &ReadText, request: &Request, declared: &[ParameterRange], batch: &mut Batch) {
    let text = match text {
        Ok(text) => text,
        Err(refusal) => return batch.items.push(Loaded::Refused(refusal.clone())),
    };
    let range = |name: &str| declared.iter().find(|range| range.name == name);
    let mut fitting: Vec<(&str, Vec<i64>)> = Vec::new();
    for (name, sizes) in request.parameters() {
        let Some(allowed) = range(name) else { continue };
        // One value that does not fit is a mistake, which the front-end reports; of a sweep, and of `-N`, what fits is taken.
        let is_sweep = sizes.is_sweep() || name == SIZE_PARAMETER;
        let (fits, left_out): (Vec<i64>, Vec<i64>) =
            sizes.values().partition(|&size| !is_sweep || allows(allowed, size));
        if !left_out.is_empty() {
            batch.notes.push(left_out_note(text.source().name(), sizes, allowed));
        }
        fitting.push((name, fits));
    }
    fitting.extend(own_sizes(request, declared));
    for given in combinations(fitting.into_iter()) {
        let loaded = instances_of(text, &given);
        let stop = loaded.iter().any(is_refused);
        batch.items.extend(loaded);
        if stop {
            break;
        }
    }
}

/// Whether a parameter may have this value.
pub fn allows(range: &ParameterRange, size: i64) -> bool {
    size >= range.least && range.greatest.is_none_or(|greatest| size <= greatest)
}

fn left_out_note(name: &str, sizes: &SweepSizes, allowed: &ParameterRange) -> String {
    let most = allowed.greatest.map(|greatest| format!(" and at most {greatest}")).unwrap_or_default();
    let ParameterRange { name: parameter, least, .. } = allowed;
    format!("{name}: {parameter} must be at least {least}{most}; what {sizes} has beyond that is left out")
}

/// Every parameter of the call must be one of some program.
fn unknown_parameters(request: &Request, declared: &[Vec<ParameterRange>]) -> Result<(), Vec<String>> {
    let names: Vec<&str> = declared.iter().flatten().map(|range| range.name.as_str()).collect();
    let unknown: Vec<String> = request
        .parameters()
        .map(|(name, _)| name)
        .filter(|name| !names.contains(name))
        .map(|name| match nearest_name(name, names.iter().copied()) {
            Some(near) => format!("no program has a parameter `{name}`; did you mean `{near}`?"),
            None => format!("no program has a parameter `{name}`"),
        })
        .collect();
    if unknown.is_empty() { Ok(()) } else { Err(unknown) }
}

/// Loads one instance of a text, without goals.
pub fn instance(source: &SourceFile, given: &[(String, i64)]) -> Loaded {
    match ProgramText::read(source, &[]) {
        Ok(text) => instances_of(&text, given).swap_remove(0),
        Err(diagnostics) => Loaded::Refused(Refusal { source: source.clone(), diagnostics }),
    }
}

/// One instance of a text with its goals, or all texts that are refused; never nothing.
pub(crate) fn instances_of(text: &ProgramText, given: &[(String, i64)]) -> Vec<Loaded> {
    match text.instance(given) {
        Ok(loaded) => {
            let lang::Loaded { mut model, warnings, n_before } = loaded;
            let besides = given.iter().filter(|(name, _)| !model.parameters.iter().any(|one| one.name == *name));
            model.given = besides.map(|(name, value)| GivenNumber { name: name.clone(), value: *value }).collect();
            let (source, text, given) = (text.source().clone(), text.clone(), given.to_vec());
            let program = Program { source, model, warnings, n_before, text, given };
            vec![Loaded::Program(Box::new(program))]
        }
        Err(refused) => {
            let refusal = |one: lang::dve::Refused| Refusal { source: one.source, diagnostics: one.diagnostics };
            refused.into_iter().map(|one| Loaded::Refused(refusal(one))).collect()
        }
    }
}

fn is_refused(loaded: &Loaded) -> bool {
    matches!(loaded, Loaded::Refused(_))
}
