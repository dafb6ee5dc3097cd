//! Runs the binary as a user would, in a directory of its own.

// Each test binary uses a part of this.
#![allow(dead_code, clippy::unwrap_used)]

pub mod usage;

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// What a call printed, and how it ended.
#[derive(Clone, Debug)]
pub struct Told {
    /// The exit status; -1 where a signal ended it.
    pub status: i32,
    /// The standard output.
    pub out: String,
    /// The standard error.
    pub err: String,
}

impl Told {
    /// From what the system says.
    pub fn new(output: &Output) -> Self {
        Told {
            status: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Asserts the exit status, showing everything where it is another.
    #[track_caller]
    pub fn exits(self, status: i32) -> Self {
        assert_eq!(self.status, status, "\n--- stdout\n{}\n--- stderr\n{}", self.out, self.err);
        self
    }

    /// Asserts that the standard error has these words.
    #[track_caller]
    pub fn complains(self, words: &str) -> Self {
        assert!(self.err.contains(words), "no `{words}` in\n--- stderr\n{}\n--- stdout\n{}", self.err, self.out);
        self
    }

    /// Asserts that the standard output has these words.
    #[track_caller]
    pub fn prints(self, words: &str) -> Self {
        assert!(self.out.contains(words), "no `{words}` in\n--- stdout\n{}\n--- stderr\n{}", self.out, self.err);
        self
    }

    /// The standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}\n{}", self.out))
    }
}

/// A directory in which calls are made; it goes when the test ends.
pub struct Place(tempfile::TempDir);

impl Place {
    /// An empty directory.
    pub fn new() -> Self {
        Place(tempfile::tempdir().unwrap())
    }

    /// A directory with one file.
    pub fn with(name: &str, text: &str) -> Self {
        let place = Place::new();
        place.write(name, text);
        place
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file and returns its path.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// Reads a file.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap()
    }

    /// The names of the files in the directory, in order.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// A call that is not yet made.
    pub fn command(&self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_piecewise"));
        command.args(arguments).current_dir(self.path()).stdin(Stdio::null());
        for name in ["RUST_BACKTRACE", "NO_COLOR", "COLUMNS", "LC_ALL", "LC_CTYPE", "LANG"] {
            command.env_remove(name);
        }
        command
    }

    /// Makes a call; the words are separated by spaces.
    pub fn run(&self, line: &str) -> Told {
        Told::new(&self.command(line.split_whitespace()).output().unwrap())
    }

    /// Makes a call with a text on its standard input.
    pub fn run_with_input(&self, line: &str, input: impl AsRef<[u8]>) -> Told {
        let mut command = self.command(line.split_whitespace());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A call that does not read its input closes the pipe, which is no error here.
        child.stdin.take().unwrap().write_all(input.as_ref()).ok();
        Told::new(&child.wait_with_output().unwrap())
    }
}

/// The root of the project.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The examples, in the order of their names.
pub fn examples() -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(root().join("examples"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "pw"))
        .collect();
    paths.sort();
    paths
}
