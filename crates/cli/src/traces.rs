//! Traces on disk: one ITF file for each counterexample and witness, `MODEL.PROPERTY.itf.json`.

use std::collections::BTreeSet;
use std::path::Path;

use driver::check::Program;
use engine::Verdict;
use engine::run::Run;
use evidence::{Evidence, Trace, itf};
use model::Model;
use report::json::TraceFiles;

use crate::failure::Failure;
use crate::files::TargetDirectory;

/// Writes the traces of runs into a directory.
pub struct TraceWriter {
    directory: TargetDirectory,
    /// Whether some program is checked in several instances; then file names tell them apart.
    is_sweep: bool,
}

impl TraceWriter {
    /// Makes the directory and asks whether it can be written.
    ///
    /// # Errors
    /// Why not; or two programs whose traces would have the same names.
    pub fn new(path: &Path, programs: &[&Program]) -> Result<Self, Failure> {
        let source_of = |program: &Program| program.source.name().to_owned();
        let is_sweep = programs.windows(2).any(|pair| source_of(pair[0]) == source_of(pair[1]));
        let mut taken: Vec<(String, &str)> = Vec::new();
        for program in programs {
            let prefix = prefix(program.source.name(), &program.model, is_sweep);
            if let Some((_, other)) = taken.iter().find(|(name, _)| *name == prefix) {
                let name = program.source.name();
                return Err(
                    format!("the traces of {other} and {name} would have the same names; check them apart").into()
                );
            }
            taken.push((prefix, program.source.name()));
        }
        Ok(TraceWriter { directory: TargetDirectory::new(path)?, is_sweep })
    }

    /// Writes the traces of a run.
    ///
    /// # Errors
    /// What the system says.
    pub fn write(&self, run: &Run) -> Result<TraceFiles, Failure> {
        let prefix = prefix(run.source.name(), &run.model, self.is_sweep);
        let mut files = TraceFiles::new();
        let mut taken = BTreeSet::new();
        for result in &run.results {
            let Some(trace) = trace(&result.verdict) else { continue };
            let property = &run.model.properties[result.property].name;
            let mut name = format!("{prefix}.{}", plain(property));
            while !taken.insert(name.clone()) {
                name.push('_');
            }
            let document = itf::to_itf(&run.model, &run.source, property, trace);
            let path = self.directory.write(&format!("{name}.itf.json"), &itf::to_text(&document))?;
            files.insert(result.property, path.display().to_string());
        }
        Ok(files)
    }
}

fn trace(verdict: &Verdict) -> Option<&Trace> {
    match verdict {
        Verdict::Holds(Evidence::Trace(trace)) | Verdict::Violated(Evidence::Trace(trace)) => Some(trace),
        _ => None,
    }
}

/// The file's name without its ending; in a sweep with the parameters.
fn prefix(source_name: &str, model: &Model, is_sweep: bool) -> String {
    let stem = Path::new(source_name).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let parameters = model.parameters.iter().map(|given| format!(".{}{}", given.name, given.value));
    if is_sweep { stem + &parameters.collect::<String>() } else { stem }
}

/// A name without what is special to a shell or a file system: `race_free x` becomes `race_free_x`.
fn plain(name: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "_-".contains(letter);
    name.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect()
}
