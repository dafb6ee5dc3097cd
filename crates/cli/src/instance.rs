//! One instance of one program, for the commands that work on one.

use std::path::Path;

use driver::check::Program;
use driver::instances::{Request, SIZE_PARAMETER};
use driver::load::{self, Loaded};
use lang::promela::Reading;

use crate::failure::Failure;
use crate::messages;
use crate::options::{DisplayOptions, InstanceOptions};

/// What the call says about instances, as a request.
///
/// # Errors
/// A parameter that is given twice.
pub fn request(options: &InstanceOptions) -> Result<Request, Failure> {
    let reading = Reading { instances: options.instances.clone(), is_lossy: options.lossy, ..Reading::default() };
    Ok(Request::new(options.sizes.clone(), options.given.clone())?.with_reading(reading))
}

/// The parameters of the one instance that is asked for.
///
/// # Errors
/// A sweep.
pub fn single(request: &Request) -> Result<Vec<(String, i64)>, Failure> {
    let mut given = Vec::new();
    for (name, sizes) in request.parameters() {
        if sizes.is_sweep() {
            let option = if name == SIZE_PARAMETER { format!("-N {sizes}") } else { format!("-D {name}={sizes}") };
            return Err(format!("this command works on one instance; {option} is a sweep").into());
        }
        given.extend(sizes.values().map(|size| (name.to_owned(), size)));
    }
    Ok(given)
}

/// Loads the program; what is wrong with it, or looks unintended, is said on the standard error.
///
/// # Errors
/// A file that cannot be read, or is refused.
pub fn load(
    path: &Path,
    given: &[(String, i64)],
    request: &Request,
    display: &DisplayOptions,
) -> Result<Program, Failure> {
    let mut wrong = Vec::new();
    for loaded in load::load_instance(path, given, request)? {
        match loaded {
            Loaded::Program(program) => {
                messages::warnings(&program, display);
                return Ok(*program);
            }
            Loaded::Refused(refusal) => {
                messages::refusal(&refusal, "nothing was done", display);
                wrong.extend(messages::lines(&refusal));
            }
        }
    }
    Err(Failure::Told(wrong))
}
