//! `export`: a program in the language of another tool.

use driver::instances::Request;
use export::{Refusal, Target};

use crate::failure::Failure;
use crate::instance;
use crate::options::{DisplayOptions, ExportOptions, ExportTarget, Format, OutputOptions, ProgressMode};
use crate::output::Output;
use crate::status::ExitStatus;

/// Writes one instance of a program in another language.
pub fn run(options: &ExportOptions, display: &DisplayOptions) -> Result<ExitStatus, Failure> {
    let request = Request::new(options.instance.sizes, options.instance.given.clone())?;
    let sink = OutputOptions { format: Format::Human, output: options.output.clone(), progress: ProgressMode::None };
    let output = Output::new(&sink, display)?;
    let program = instance::load(&options.file, &instance::single(&request)?, &[], display)?;
    let target = match options.to {
        ExportTarget::Promela => Target::Promela,
        ExportTarget::Smv => Target::Smv,
        ExportTarget::Dve => Target::Dve,
        ExportTarget::Dot => Target::Dot,
    };
    match export::export(&program.model, &program.source, target) {
        Ok(text) => output.write(&text)?,
        Err(refusals) => {
            let tell = |refusal: &Refusal| {
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
