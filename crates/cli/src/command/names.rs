//! `names`: the properties of programs, one a line, for completion scripts.

use std::path::PathBuf;

use driver::instances::Request;
use driver::load::{self, Loaded};

use crate::failure::Failure;
use crate::status::ExitStatus;
use crate::terminal;

/// Prints the names; what cannot be read or is wrong has none.
pub fn run(files: &[PathBuf]) -> Result<ExitStatus, Failure> {
    let request = Request::new(None, Vec::new())?;
    for file in files {
        for loaded in load::load_instance(file, &[], &request).unwrap_or_default() {
            let Loaded::Program(program) = loaded else { continue };
            for property in program.model.properties.iter() {
                terminal::print(&format!("{}\n", property.name))?;
            }
        }
    }
    Ok(ExitStatus::AsExpected)
}
