//! Why a command cannot do its work. Each failure has its words and its exit status.

use std::io;

use driver::files::FileError;

use crate::crash;
use crate::status::ExitStatus;
use crate::terminal;

/// A command that cannot do its work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The call, or a file that it names, is wrong: one sentence for each thing that is.
    Input(Vec<String>),
    /// The input is wrong, and the messages about it are on the standard error already.
    Told,
    /// We are wrong.
    Internal(String),
}

impl Failure {
    /// Says it on the standard error and returns the exit status.
    pub fn tell(&self) -> ExitStatus {
        match self {
            Failure::Input(messages) => {
                messages.iter().for_each(terminal::error);
                ExitStatus::BadInput
            }
            Failure::Told => ExitStatus::BadInput,
            Failure::Internal(what) => {
                terminal::complain(&crash::internal_error(what));
                ExitStatus::Internal
            }
        }
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Failure::Input(vec![message])
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        error.to_string().into()
    }
}

impl From<Vec<FileError>> for Failure {
    fn from(errors: Vec<FileError>) -> Self {
        Failure::Input(errors.iter().map(ToString::to_string).collect())
    }
}

/// The standard output cannot be written, and not because its reader went away.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        format!("the standard output cannot be written: {error}").into()
    }
}
