//! `proof check`: a proof from a file, checked by code that no engine shares.
//!
//! The file says which program, which parameters and which property it is about. Exit status 0 says that every obligation of
//! the proof holds, 1 that one does not, 2 that the file is no proof about the program, 3 that a limit was reached.

use std::time::Instant;

use driver::check::Program;
use driver::files;
use driver::proof::{self, Rejection};
use evidence::proof_file::{self, ProofFile};
use report::proof_check::{self as view, Judged, Outcome};

use crate::failure::Failure;
use crate::options::{DisplayOptions, Format, ProofCheckOptions, ProofCommand, ProofOptions};
use crate::output::Output;
use crate::status::ExitStatus;
use crate::{instance, limits};

/// Does what is to be done with a proof.
pub fn run(options: &ProofOptions, display: &DisplayOptions) -> Result<ExitStatus, Failure> {
    match &options.command {
        ProofCommand::Check(options) => check(options, display),
    }
}

fn check(options: &ProofCheckOptions, display: &DisplayOptions) -> Result<ExitStatus, Failure> {
    let name = options.proof.display().to_string();
    let request = instance::request(&options.instance)?;
    let given = instance::single(&request)?;
    let output = Output::new(options.output.output.as_deref(), display)?;
    let (limits, _guard) = limits::of(&options.limits);
    let budget = limits.budget();
    let bytes = files::read_at_most(&options.proof, proof_file::MOST_BYTES as u64)?;
    let file = ProofFile::parse(&bytes).map_err(|error| format!("{name}: {error}"))?;
    drop(bytes);
    same_instance(&name, &file, &given)?;
    let parameters: Vec<(String, i64)> = file.parameters().map(|(name, value)| (name.to_owned(), value)).collect();
    let program = load(&name, options, &parameters, display)?;
    let (property, method) = (file.property().to_owned(), file.method().to_owned());
    let started = Instant::now();
    let judged = proof::check(file, &program.model, &budget);
    let outcome = match &judged {
        Ok((_, checked)) => Outcome::Accepted(&checked.obligations),
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
        outcome,
        time: started.elapsed(),
    };
    match options.output.format {
        Format::Json => output.write_json(&view::document(&judged))?,
        Format::Human => output.write(&view::text(&judged, display.quiet, &output.style))?,
    }
    Ok(match judged.outcome {
        Outcome::Accepted(_) => ExitStatus::AsExpected,
        Outcome::DoesNotHold { .. } => ExitStatus::NotAsExpected,
        Outcome::Undecided(_) => ExitStatus::Undecided,
    })
}

/// A call that gives parameters must give those of the proof.
fn same_instance(name: &str, file: &ProofFile, given: &[(String, i64)]) -> Result<(), Failure> {
    let written = |parameter: &str| file.parameters().find(|(name, _)| *name == parameter).map(|(_, value)| value);
    let wrong = given.iter().filter_map(|(parameter, value)| match written(parameter) {
        Some(same) if same == *value => None,
        Some(other) => Some(format!("{name}: the proof is about {parameter} = {other}, not {parameter} = {value}")),
        None => Some(format!("{name}: the proof is about a program without a parameter `{parameter}`")),
    });
    let wrong: Vec<String> = wrong.collect();
    if wrong.is_empty() { Ok(()) } else { Err(Failure::Input(wrong)) }
}

/// The program in the instance that the proof is about.
fn load(
    name: &str,
    options: &ProofCheckOptions,
    parameters: &[(String, i64)],
    display: &DisplayOptions,
) -> Result<Program, Failure> {
    // Parameters that the program does not have, or not these values of, make it another program.
    let declared = driver::load::declared_parameters(&options.file)?;
    for (parameter, value) in parameters {
        let Some(declared) = &declared else { break };
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
    instance::load(
        &options.file,
        parameters,
        &instance::request(&options.instance)?.with_goals(&options.goal.goals),
        display,
    )
}
