//! What a host is asked, and how it is reached.
//!
//! In: a [`Request`]: files and the words of a call. Out: what the call printed, and how it ended. The host is a child of this process that runs
//! the same program, or one that ssh starts elsewhere; either way the request is the first line of its standard input, and the host ends when
//! that input ends, so that nothing stays behind where this process dies.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::{env, fs, thread};

use serde::{Deserialize, Serialize};

use crate::file::Host;

/// The command that carries out requests.
pub const COMMAND: &str = "host";

/// A word of a call that begins so names a file of the request.
pub const SENT: &str = "@/";

/// The program that reaches other hosts, where it is not `ssh`.
const SSH: &str = "PIECEWISE_SSH";

/// The longest request, so that what is no request does not fill the memory.
const LONGEST: u64 = 1 << 30;

/// What a host is asked to do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// The version of the program that asks.
    pub version: String,
    /// The words of the call; none where only the version is asked for.
    pub words: Vec<String>,
    /// Files that the words name.
    pub files: Vec<SentFile>,
    /// What the processes of a search know and nobody else does.
    pub secret: Option<String>,
}

/// A file that goes with a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentFile {
    /// Its path below the directory of the request.
    pub name: String,
    /// What it says.
    pub text: String,
}

impl Request {
    /// A request by this version of the program.
    pub fn new(words: Vec<String>) -> Self {
        Request { version: version().to_owned(), words, ..Request::default() }
    }

    /// Reads the first line of an input.
    ///
    /// # Errors
    /// What is no request, or one of another version.
    pub fn read(input: &mut impl BufRead) -> Result<Self, String> {
        let mut line = String::new();
        input.take(LONGEST).read_line(&mut line).map_err(|error| format!("no request could be read: {error}"))?;
        let request: Request = serde_json::from_str(&line).map_err(|error| format!("this is no request: {error}"))?;
        match request.version == version() {
            true => Ok(request),
            false => Err(other_version("the caller", &request.version)),
        }
    }

    /// Writes the files below a directory; the words of the call, with paths in place of names.
    ///
    /// # Errors
    /// What the system says, and names that lead elsewhere.
    pub fn unpack(&self, directory: &Path) -> Result<Vec<String>, String> {
        for file in &self.files {
            let path = Path::new(&file.name);
            if !path.components().all(|part| matches!(part, Component::Normal(_))) {
                return Err(format!("`{}` is not the name of a sent file", file.name));
            }
            let path = directory.join(path);
            let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, &file.text));
            written.map_err(|error| format!("{}: {error}", path.display()))?;
        }
        let placed = |word: &String| match word.strip_prefix(SENT) {
            Some(name) => directory.join(name).display().to_string(),
            None => word.clone(),
        };
        Ok(self.words.iter().map(placed).collect())
    }
}

/// The version of this program, which hosts compare before they work together.
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Two versions that differ, in words.
pub fn other_version(who: &str, theirs: &str) -> String {
    format!("{who} has version {theirs} of piecewise, and this is {}; all hosts need the same", version())
}

/// A directory for the files of a request; it goes when this does.
pub struct Unpacked(PathBuf);

impl Unpacked {
    /// An empty directory that nobody else uses or may read.
    ///
    /// # Errors
    /// What the system says.
    pub fn new() -> Result<Self, String> {
        let place = env::temp_dir();
        for attempt in 0..100 {
            let path = place.join(format!("piecewise-{}-{attempt}", std::process::id()));
            match make_private(&path) {
                Ok(()) => return Ok(Unpacked(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(format!("{}: {error}", path.display())),
            }
        }
        Err(format!("no directory could be made in {}", place.display()))
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Unpacked {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).ok();
    }
}

fn make_private(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// A host that carries out a request.
pub struct Called {
    child: Arc<Mutex<Child>>,
    /// The host ends when this does.
    input: Option<ChildStdin>,
    output: Option<thread::JoinHandle<Vec<u8>>>,
    messages: thread::JoinHandle<Vec<u8>>,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The exit status; `None` where a signal ended it.
    pub status: Option<i32>,
    /// What it printed.
    pub output: String,
    /// What it said on its standard error.
    pub messages: String,
}

/// Ends a call from another thread.
#[derive(Clone)]
pub struct Killer(Arc<Mutex<Child>>);

impl Killer {
    /// Ends the process; what ssh started elsewhere ends since its input does.
    pub fn kill(&self) {
        let mut child = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // It may have ended by itself.
        child.kill().ok();
    }
}

impl Called {
    /// Starts a host on a request.
    ///
    /// # Errors
    /// Why it could not be started.
    pub fn start(host: &Host, request: &Request) -> Result<Self, String> {
        let mut command = command(host, &[])?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| {
            format!("host {host} could not be reached: {}: {error}", command.get_program().to_string_lossy())
        })?;
        let mut input = child.stdin.take().ok_or("the host has no input")?;
        let (output, messages) = (child.stdout.take(), child.stderr.take());
        let (output, messages) = (gather(output), gather(messages));
        let mut line = serde_json::to_string(request).map_err(|error| error.to_string())?;
        line.push('\n');
        // A host that ends before it has read its request says why.
        input.write_all(line.as_bytes()).and_then(|()| input.flush()).ok();
        Ok(Called { child: Arc::new(Mutex::new(child)), input: Some(input), output: Some(output), messages })
    }

    /// Who can end it.
    pub fn killer(&self) -> Killer {
        Killer(Arc::clone(&self.child))
    }

    /// Waits until it ends.
    pub fn wait(mut self) -> Ended {
        // The output ends with the process; to wait for the process itself would keep everybody from killing it.
        let output = self.output.take().and_then(|output| output.join().ok()).unwrap_or_default();
        let messages = self.messages.join().unwrap_or_default();
        drop(self.input.take());
        let status = self.child.lock().unwrap_or_else(PoisonError::into_inner).wait().ok();
        Ended {
            status: status.as_ref().and_then(ExitStatus::code),
            output: String::from_utf8_lossy(&output).into_owned(),
            messages: String::from_utf8_lossy(&messages).trim().to_owned(),
        }
    }
}

fn gather(stream: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            // What was read before an error counts.
            stream.read_to_end(&mut bytes).ok();
        }
        bytes
    })
}

/// The process that is, or reaches, a host; ssh has some words more.
pub(crate) fn command(host: &Host, more: &[String]) -> Result<Command, String> {
    if host.is_local() {
        let own = env::current_exe().map_err(|error| format!("this program is not found: {error}"))?;
        let program = host.program.as_ref().map_or(own, PathBuf::from);
        let mut command = Command::new(program);
        command.arg(COMMAND);
        return Ok(command);
    }
    let mut command = Command::new(env::var_os(SSH).unwrap_or_else(|| OsString::from("ssh")));
    let options = ["BatchMode=yes", "ConnectTimeout=10", "ServerAliveInterval=5", "ServerAliveCountMax=3"];
    for option in options {
        command.arg("-o").arg(option);
    }
    command.args(more);
    command.arg("--").arg(&host.name).arg(host.program.as_deref().unwrap_or("piecewise")).arg(COMMAND);
    Ok(command)
}

/// Ends this process when its standard input ends, since then whoever asked is gone.
pub fn end_with_input(input: BufReader<impl Read + Send + 'static>, end: impl FnOnce() + Send + 'static) {
    let wait = move || {
        let mut input = input;
        let mut some = [0; 64];
        while matches!(input.read(&mut some), Ok(n) if n > 0) {}
        end();
    };
    // Without a thread nobody watches, and the process ends with its work.
    thread::Builder::new().name("caller".to_owned()).spawn(wait).ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_one_line_and_of_this_version() {
        let mut request = Request::new(vec!["check".into(), "@/0/a.pw".into(), "-D".into(), "N=2".into()]);
        request.files.push(SentFile { name: "0/a.pw".into(), text: "program a {\n}".into() });
        let line = serde_json::to_string(&request).unwrap();
        assert!(!line.contains('\n'));
        assert_eq!(Request::read(&mut line.as_bytes()), Ok(request.clone()));
        let place = Unpacked::new().unwrap();
        let words = request.unpack(place.path()).unwrap();
        assert_eq!(fs::read_to_string(&words[1]).unwrap(), "program a {\n}");
        assert_eq!(words[3], "N=2");
        let path = place.path().to_owned();
        drop(place);
        assert!(!path.exists());
    }

    #[test]
    fn other_versions_and_wrong_names_are_refused_in_words() {
        let other = Request { version: "9.9.9".into(), ..Request::default() };
        let said = Request::read(&mut serde_json::to_string(&other).unwrap().as_bytes()).unwrap_err();
        assert!(said.starts_with("the caller has version 9.9.9 of piecewise, and this is "), "{said}");
        assert!(Request::read(&mut &b"hello\n"[..]).unwrap_err().starts_with("this is no request"));
        for name in ["../x", "/etc/passwd", "a/../../b"] {
            let file = SentFile { name: name.into(), text: String::new() };
            let request = Request { files: vec![file], ..Request::default() };
            assert!(request.unpack(Path::new("/nonexistent")).unwrap_err().ends_with("is not the name of a sent file"));
        }
    }
}
