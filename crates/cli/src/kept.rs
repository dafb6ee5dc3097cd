//! Evidence on disk: one file for each property that has a trace (`MODEL.PROPERTY.itf.json`) or a proof
//! (`MODEL.PROPERTY.proof.json`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use driver::check::Program;
use engine::run::{PropertyResult, Run};
use engine::{PropertyId, Verdict};
use evidence::{Evidence, itf, proof_file};
use model::Model;

use crate::failure::Failure;
use crate::files::TargetDirectory;

/// What is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Counterexamples and witnesses.
    Traces,
    /// Certificates of local proofs.
    Proofs,
}

impl Kind {
    fn plural(self) -> &'static str {
        match self {
            Kind::Traces => "traces",
            Kind::Proofs => "proofs",
        }
    }

    fn ending(self) -> &'static str {
        match self {
            Kind::Traces => "itf.json",
            Kind::Proofs => "proof.json",
        }
    }

    /// The file's text, if the result has evidence of this kind.
    fn text(self, run: &Run, result: &PropertyResult) -> Option<String> {
        let (Verdict::Holds(evidence) | Verdict::Violated(evidence)) = &result.verdict else { return None };
        match (self, evidence) {
            (Kind::Traces, Evidence::Trace(trace)) => {
                let property = &run.model.properties[result.property].name;
                Some(itf::to_text(&itf::to_itf(&run.model, &run.source, property, trace)))
            }
            (Kind::Proofs, Evidence::Certificate(proof)) => Some(proof_file::to_text(&run.model, proof, result.method)),
            _ => None,
        }
    }
}

/// Writes the evidence of runs into a directory.
pub struct Keeper {
    kind: Kind,
    directory: TargetDirectory,
    /// Whether some program is checked in several instances; then file names tell them apart.
    is_sweep: bool,
    /// Whether programs are checked by several methods; then file names tell them apart, too.
    by_method: bool,
}

impl Keeper {
    /// Makes the directory and asks whether it can be written.
    ///
    /// # Errors
    /// Why not; or two programs whose files would have the same names.
    pub fn new(kind: Kind, path: &Path, (programs, by_method): (&[&Program], bool)) -> Result<Self, Failure> {
        let source_of = |program: &Program| program.source.name().to_owned();
        let is_sweep = programs.windows(2).any(|pair| source_of(pair[0]) == source_of(pair[1]));
        let mut taken: Vec<(String, &str)> = Vec::new();
        for program in programs {
            let prefix = prefix(program.source.name(), &program.model, is_sweep);
            if let Some((_, other)) = taken.iter().find(|(name, _)| *name == prefix) {
                let (what, name) = (kind.plural(), program.source.name());
                return Err(
                    format!("the {what} of {other} and {name} would have the same names; check them apart").into()
                );
            }
            taken.push((prefix, program.source.name()));
        }
        Ok(Keeper { kind, directory: TargetDirectory::new(path)?, is_sweep, by_method })
    }

    /// Writes the evidence of a run; which file is whose.
    ///
    /// # Errors
    /// What the system says.
    pub fn write(&self, run: &Run) -> Result<BTreeMap<PropertyId, String>, Failure> {
        let mut prefix = prefix(run.source.name(), &run.model, self.is_sweep);
        if self.by_method {
            prefix += &format!(".{}", run.method);
        }
        let mut files = BTreeMap::new();
        let mut taken = BTreeSet::new();
        for result in &run.results {
            let Some(text) = self.kind.text(run, result) else { continue };
            let property = &run.model.properties[result.property].name;
            let mut name = format!("{prefix}.{}", plain(property));
            while !taken.insert(name.clone()) {
                name.push('_');
            }
            let path = self.directory.write(&format!("{name}.{}", self.kind.ending()), &text)?;
            files.insert(result.property, path.display().to_string());
        }
        Ok(files)
    }
}

/// The file's name without its ending; in a sweep with the parameters.
fn prefix(source_name: &str, model: &Model, is_sweep: bool) -> String {
    let stem = Path::new(source_name).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let parameters = model.numbers().map(|(name, value)| format!(".{name}{value}"));
    if is_sweep { stem + &parameters.collect::<String>() } else { stem }
}

/// A name without what is special to a shell or a file system: `race_free x` becomes `race_free_x`.
fn plain(name: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "_-".contains(letter);
    name.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect()
}
