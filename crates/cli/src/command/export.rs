//! `export`: a program in the language of another tool.

use std::path::PathBuf;

use export::{ExportRefusal, TargetLanguage};

use crate::failure::Failure;
use crate::options::{DisplayOptions, ExportOptions, ExportTarget};
use crate::output::Output;
use crate::status::ExitStatus;
use crate::{instance, limits};

/// Writes one instance of a program in another language.
pub fn run(options: &ExportOptions, display: &DisplayOptions) -> Result<ExitStatus, Failure> {
    let _guarded = limits::of_call(options.limits);
    let request = instance::request(&options.instance)?;
    let is_program = |output: &PathBuf| {
        output.canonicalize().ok().is_some_and(|path| options.file.canonicalize().is_ok_and(|file| file == path))
    };
    if let Some(output) = options.output.as_ref().filter(|output| is_program(output)) {
        return Err(format!("{}: this is the program itself, which would be replaced", output.display()).into());
    }
    let output = Output::new(options.output.as_deref(), display)?;
    let program = instance::load(&options.file, &instance::single(&request)?, &request, display)?;
    let target = match options.to {
        ExportTarget::Promela => TargetLanguage::Promela,
        ExportTarget::Smv => TargetLanguage::Smv,
        ExportTarget::Dve => TargetLanguage::Dve,
        ExportTarget::Dot => TargetLanguage::Dot,
    };
    match export::export(&program.model, &program.source, target) {
        Ok(text) => output.write(&text)?,
        Err(refusals) => {
            let tell = |refusal: &ExportRefusal| {
                let at = program.source.line_col(refusal.span.start);
                match refusal.span.is_empty() {
                    true => format!("{}: {}", program.source.name(), refusal.why),
                    false => format!("{}:{}:{}: {}", program.source.name(), at.line, at.col, refusal.why),
                }
            };
            return Err(Failure::Input(refusals.iter().map(tell).collect()));
        }
    }
    Ok(ExitStatus::AsExpected)
}
