//! Why a command cannot do its work. Each failure has its words and its exit status.

use std::io;

use driver::files::FileError;
use driver::mistake::Mistake;

use crate::crash;
use crate::status::ExitStatus;
use crate::terminal;

/// A command that cannot do its work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The call, or a file that it names, is wrong: one sentence for each thing that is.
    Input(Vec<String>),
    /// The input is wrong, and the messages about it are on the standard error already; here they are in a line each, for documents.
    Told(Vec<String>),
    /// We are wrong.
    Internal(String),
}

impl Failure {
    /// Says it on the standard error and returns the exit status.
    pub fn tell(&self) -> ExitStatus {
        match self {
            Failure::Input(messages) => messages.iter().for_each(terminal::error),
            Failure::Told(_) => {}
            Failure::Internal(what) => terminal::complain(&crash::internal_error(what)),
        }
        self.status()
    }

    /// What it says.
    pub fn messages(&self) -> Vec<String> {
        match self {
            Failure::Input(messages) | Failure::Told(messages) => messages.clone(),
            Failure::Internal(what) => vec![what.clone()],
        }
    }

    /// The exit status.
    pub fn status(&self) -> ExitStatus {
        match self {
            Failure::Input(_) | Failure::Told(_) => ExitStatus::BadInput,
            Failure::Internal(_) => ExitStatus::Internal,
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

impl From<Box<Mistake>> for Failure {
    fn from(mistake: Box<Mistake>) -> Self {
        Failure::Internal(mistake.to_string())
    }
}

/// The standard output cannot be written, and not because its reader went away.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        format!("the standard output cannot be written: {error}").into()
    }
}

#[cfg(test)]
mod tests {
    use engine::{Contradiction, EngineError};

    use super::*;

    #[test]
    fn an_engine_that_contradicts_itself_is_status_4_with_what_to_send() {
        let error = EngineError {
            method: "global",
            program: "mux_sem, N = 4".to_owned(),
            property: "live".to_owned(),
            contradiction: Contradiction::new("there is a run", "there is none"),
        };
        let failure = Failure::from(Box::new(Mistake::Contradiction(error)));
        assert_eq!(failure.status(), ExitStatus::Internal);
        assert_eq!(failure.status().code(), 4);
        let Failure::Internal(what) = failure else { panic!("{failure:?}") };
        let words = crash::internal_error(&what);
        for part in
            ["mux_sem, N = 4", "`global`", "`live`", "there is a run, but there is none", "report it with the program"]
        {
            assert!(words.contains(part), "{part} is missing in {words}");
        }
    }
}
