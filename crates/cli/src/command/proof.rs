//! `proof check` and `proof show`: a proof from a file, checked by code that no engine shares, and put into sentences.
//!
//! The file says which program, which parameters and which property it is about. Exit status 0 says that every obligation of
//! the proof holds, 1 that one does not, 2 that the file is no proof about the program, 3 that a limit was reached.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use driver::check::{Checked, Program};
use driver::files;
use driver::instances::Request;
use driver::methods;
use driver::proof::{self, Rejection};
use engine::insight::Insight;
use engine::run::{Audit, PropertyResult};
use engine::{Statistics, Verdict};
use evidence::proof_file::{self, ProofFile};
use evidence::{Evidence, Scope};
use explain::Explained;
use model::property::PropertyKind;
use report::human::{self, Context};
use report::json::value_of;
use report::proof_check::{self as view, Judged, Outcome};
use report::style::Ink;
use report::{Files, Style};

use crate::failed::DocumentKind;
use crate::failure::Failure;
use crate::options::{DisplayOptions, Format, ProofCheckOptions, ProofCommand, ProofOptions, ProofShowOptions};
use crate::output::Output;
use crate::status::ExitStatus;
use crate::{instance, limits, terminal};

/// Does what is to be done with a proof.
pub fn run(options: &ProofOptions, display: &DisplayOptions) -> Result<ExitStatus, Failure> {
    match &options.command {
        ProofCommand::Check(options) => check(options, display),
        ProofCommand::Show(options) => show(options, display),
    }
}

fn check(options: &ProofCheckOptions, display: &DisplayOptions) -> Result<ExitStatus, Failure> {
    let document = (options.output.format == Format::Json).then_some(DocumentKind::ProofCheck);
    let output = Output::new(options.output.output.as_deref(), display)?.for_document(document);
    output.ended(judge(options, display, &output))
}

fn judge(options: &ProofCheckOptions, display: &DisplayOptions, output: &Output) -> Result<ExitStatus, Failure> {
    let name = options.proof.display().to_string();
    let request = instance::request(&options.instance)?;
    let given = instance::single(&request)?;
    let (limits, guard) = limits::of(&options.limits);
    guard.leaves(output.last_document(), None);
    let budget = limits.budget();
    let bytes = files::read_at_most(&options.proof, proof_file::MOST_BYTES as u64)?;
    let file = ProofFile::parse(&bytes).map_err(|error| format!("{name}: {error}"))?;
    drop(bytes);
    same_instance(&name, &file, &given)?;
    let parameters: Vec<(String, i64)> = file.parameters().map(|(name, value)| (name.to_owned(), value)).collect();
    let program = load(&name, options, (&parameters, file.scope()), display)?;
    let is_allowed = |parameter: &str, size: i64| {
        program.model.parameters.iter().find(|one| one.name == parameter).is_none_or(|one| one.allows(size))
    };
    if let Some((parameter, size)) = given.iter().find(|(parameter, size)| !is_allowed(parameter, *size)) {
        let file = options.file.display();
        return Err(format!("{name}: {file} does not allow {parameter} = {size}").into());
    }
    let (property, method) = (file.property().to_owned(), file.method().to_owned());
    let stated = file.scope().clone();
    let started = Instant::now();
    let judged = proof::check(file, &program.model, &budget).and_then(|(property, checked)| {
        let scope = proof::confirmed(&program, property, stated, &budget)?;
        for (parameter, size) in &given {
            proof::stands_at(&program, property, (&scope, (parameter, *size)))?;
        }
        Ok((checked, scope))
    });
    let scope = judged.as_ref().map_or(&Scope::Instance, |(_, scope)| scope);
    let outcome = match &judged {
        Ok((checked, _)) => Outcome::Accepted(&checked.obligations),
        Err(Rejection::DoesNotHold { obligation, finding }) => Outcome::DoesNotHold { obligation, finding },
        Err(Rejection::Undecided(reason)) => Outcome::Undecided(reason),
        Err(wrong) => return Err(format!("{name}: {wrong}").into()),
    };
    let judged = Judged {
        proof: &name,
        source: &program.source,
        model: &program.model,
        property: &property,
        method: &method,
        scope,
        outcome,
        time: started.elapsed(),
    };
    let status = match judged.outcome {
        Outcome::Accepted(_) => ExitStatus::AsExpected,
        Outcome::DoesNotHold { .. } => ExitStatus::NotAsExpected,
        Outcome::Undecided(_) => ExitStatus::Undecided,
    };
    match options.output.format {
        Format::Json => output.write_json(&value_of(&view::document(&judged, status.code())))?,
        Format::Human => output.write(&view::text(&judged, display.quiet, &output.style))?,
    }
    Ok(status)
}

/// Shows a proof in sentences, once it is checked.
fn show(options: &ProofShowOptions, display: &DisplayOptions) -> Result<ExitStatus, Failure> {
    let name = options.proof.display().to_string();
    let (limits, _guard) = limits::of(&options.limits);
    let budget = limits.budget();
    let bytes = files::read_at_most(&options.proof, proof_file::MOST_BYTES as u64)?;
    let parse = || ProofFile::parse(&bytes).map_err(|error| Failure::from(format!("{name}: {error}")));
    let file = parse()?;
    let path = match &options.file {
        Some(path) => path.clone(),
        None => program_of(&options.proof).ok_or_else(|| {
            format!(
                "{name}: the program `{}` is not beside the proof, nor in one of the directories here; name its file: piecewise proof show {name} MODEL",
                file.program()
            )
        })?,
    };
    let parameters: Vec<(String, i64)> = file.parameters().map(|(name, value)| (name.to_owned(), value)).collect();
    let program = instance::load(&path, &parameters, &about_every_size(Request::default(), file.scope()), display)?;
    let method =
        methods::available().find(|declared| declared.name == file.method()).map_or("proof", |declared| declared.name);
    let started = Instant::now();
    let (property, checked) = match proof::check(file, &program.model, &budget) {
        Ok(accepted) => accepted,
        Err(Rejection::Undecided(reason)) => {
            terminal::error(format!("{name}: not checked: {reason}"));
            return Ok(ExitStatus::Undecided);
        }
        Err(wrong) => return Err(format!("{name}: {wrong}").into()),
    };
    let mut certificate = parse()?.certificate(&program.model).map_err(|error| format!("{name}: {error}"))?;
    certificate.scope =
        proof::confirmed(&program, property, certificate.scope, &budget).map_err(|wrong| format!("{name}: {wrong}"))?;
    let evidence = Evidence::Certificate(Box::new(certificate));
    let is_goal = matches!(program.model.properties[property].kind, PropertyKind::Reachable(_));
    let result = PropertyResult {
        property,
        method,
        verdict: if is_goal { Verdict::Violated(evidence) } else { Verdict::Holds(evidence) },
        audit: Audit::Proof(checked.obligations),
        statistics: Statistics { time: started.elapsed(), ..Statistics::default() },
        insight: Insight::default(),
        denied: Vec::new(),
    };
    let checked = Checked { results: vec![result], time: started.elapsed(), processor_time: None, method };
    let run = program.explained(checked, &limits);
    let paths = [(property, name)].into_iter().collect();
    let context = Context { files: Files { proofs: paths, ..Files::default() }, ..Context::default() };
    let style = terminal::style_for_stdout(display);
    terminal::print(&human::run(&run, &context, &style))?;
    terminal::print(&pasteable(&run, &style))?;
    Ok(ExitStatus::AsExpected)
}

/// The sentences of the proof as invariants of the program.
fn pasteable(run: &Explained, style: &Style) -> String {
    let Some(told) = run.results.first().and_then(|result| run.proof(result)) else { return String::new() };
    let everywhere = told.parts.iter().flat_map(|part| &part.always);
    let places = told.parts.iter().flat_map(|part| &part.places).flat_map(|place| &place.says);
    let mut lines: Vec<&String> = everywhere.chain(places).filter_map(|one| one.expression.as_ref()).collect();
    lines.dedup();
    if lines.is_empty() {
        return String::new();
    }
    let head = format!("The same as invariants, to paste into the program{}", sizes_of(run));
    let mut text = format!("\n  {}\n", style.paint(Ink::Strong, &head));
    for (nth, line) in lines.iter().enumerate() {
        text += &format!("    invariant relied{}: {line};\n", nth + 1);
    }
    text
}

/// Which sizes the sentences of a proof are about, where the program has smaller ones: those were searched, and sentences are none of a search.
fn sizes_of(run: &Explained) -> String {
    let verdict = run.results.first().map(|result| &result.verdict);
    let Some(Verdict::Holds(Evidence::Certificate(proof)) | Verdict::Violated(Evidence::Certificate(proof))) = verdict
    else {
        return String::new();
    };
    let Scope::AllSizes { parameter, from, .. } = &proof.scope else { return String::new() };
    let has_smaller = run.model.parameters.iter().any(|one| one.name == *parameter && one.least < *from);
    if has_smaller { format!(" with {parameter} ≥ {from}") } else { String::new() }
}

/// The program that a proof is named after: `lock.mutex.proof.json` after `lock.pw`, beside it, in the directory above, in this one, or in one of its
/// directories where no other has such a file.
fn program_of(proof: &Path) -> Option<PathBuf> {
    let name = proof.file_name()?.to_str()?;
    let stem = name.split('.').next()?;
    let beside = proof.parent().unwrap_or(Path::new(""));
    let above = beside.join("..");
    let directories = [beside, &above, Path::new("")];
    let candidates = directories.iter().flat_map(|directory| {
        files::SOURCE_ENDINGS.iter().map(move |ending| directory.join(format!("{stem}.{ending}")))
    });
    { candidates }.find(|path| path.is_file()).or_else(|| only_below(stem))
}

/// The one program of this name in the directories of this directory.
fn only_below(stem: &str) -> Option<PathBuf> {
    let directories = fs::read_dir(".").ok()?.filter_map(Result::ok).map(|entry| PathBuf::from(entry.file_name()));
    let candidates = directories.flat_map(|directory| {
        files::SOURCE_ENDINGS.iter().map(move |ending| directory.join(format!("{stem}.{ending}")))
    });
    let mut found = candidates.filter(|path| path.is_file());
    found.next().filter(|_| found.next().is_none())
}

/// A call that gives parameters must give those of the proof, or a size that it is about.
fn same_instance(name: &str, file: &ProofFile, given: &[(String, i64)]) -> Result<(), Failure> {
    let written = |parameter: &str| file.parameters().find(|(name, _)| *name == parameter).map(|(_, value)| value);
    let is_sized = |name: &str| matches!(file.scope(), Scope::AllSizes { parameter, .. } if parameter == name);
    let wrong = given.iter().filter_map(|(parameter, value)| match written(parameter) {
        Some(same) if same == *value || file.scope().includes(parameter, *value) => None,
        Some(_) if is_sized(parameter) => {
            Some(format!("{name}: the proof is about {}, not {parameter} = {value}", file.scope()))
        }
        Some(other) => Some(format!("{name}: the proof is about {parameter} = {other}, not {parameter} = {value}")),
        None => Some(format!("{name}: the proof is about a program without a parameter `{parameter}`")),
    });
    let wrong: Vec<String> = wrong.collect();
    if wrong.is_empty() { Ok(()) } else { Err(Failure::Input(wrong)) }
}

/// How the program of a proof is read: one in Promela has parameters where the proof is for every number of processes.
fn about_every_size(request: Request, scope: &Scope) -> Request {
    request.for_every_size(!scope.is_instance())
}

/// The program in the instance that the proof is about.
fn load(
    name: &str,
    options: &ProofCheckOptions,
    (parameters, scope): (&[(String, i64)], &Scope),
    display: &DisplayOptions,
) -> Result<Program, Failure> {
    // Parameters that the program does not have, or not these values of, make it another program.
    let declared = driver::load::declared_parameters(&options.file)?;
    for (parameter, value) in parameters {
        // A macro of Promela need not be a number of the text; what it makes of the program is compared.
        let Some(declared) = declared.as_ref().filter(|_| !lang::is_promela(&options.file.to_string_lossy())) else {
            break;
        };
        let fits = declared
            .iter()
            .find(|range| range.name == *parameter)
            .is_some_and(|range| driver::load::allows(range, *value));
        if !fits {
            let file = options.file.display();
            return Err(format!(
                "{name}: the proof belongs to another program: it is about {parameter} = {value}, which {file} does not allow"
            )
            .into());
        }
    }
    let request = instance::request(&options.instance)?.with_goals(&options.goal.goals);
    instance::load(&options.file, parameters, &about_every_size(request, scope), display)
}
