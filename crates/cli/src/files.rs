//! Files that the tool writes: whole or not at all.
//!
//! A text is written beside its target under a passing name and then renamed, so that nobody ever sees half of it. Whether a
//! target can be written is asked before any work starts. A call that ends at once takes its passing files with it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use driver::files::FileError;

/// A file that can be written, as far as can be said beforehand.
#[derive(Clone, Debug)]
pub struct Target {
    /// The path, as the user gave it.
    path: PathBuf,
    /// What is renamed over; links are followed, so that they stay links.
    real_path: PathBuf,
    /// A pipe or a device is written through, not replaced.
    is_stream: bool,
}

impl Target {
    /// Asks whether the file can be written; changes nothing.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn new(path: &Path) -> Result<Self, FileError> {
        let from_io = |error: io::Error| FileError::from_io(path, &error);
        let real_path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let mut is_stream = false;
        match fs::metadata(path) {
            Ok(what) if what.is_dir() => return Err(FileError::new(path, "this is a directory")),
            Ok(what) if what.permissions().readonly() => return Err(FileError::new(path, "the file is read-only")),
            Ok(what) => is_stream = !what.is_file(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(from_io(error)),
        }
        if real_path.file_name().is_none() {
            return Err(FileError::new(path, "this is not the name of a file"));
        }
        if is_stream {
            OpenOptions::new().append(true).open(path).map_err(from_io)?;
        } else {
            let (passing, _file) = create_beside(&real_path).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => FileError::new(path, "the directory does not exist"),
                _ => from_io(error),
            })?;
            passing.remove().map_err(from_io)?;
        }
        Ok(Target { path: path.to_owned(), real_path, is_stream })
    }

    /// The path, as the user gave it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the whole text, or leaves what was there.
    ///
    /// # Errors
    /// What the system says.
    pub fn write(&self, text: &str) -> Result<(), FileError> {
        let result = if self.is_stream { self.write_through(text) } else { self.replace(text) };
        result.map_err(|error| FileError::from_io(&self.path, &error))
    }

    fn write_through(&self, text: &str) -> io::Result<()> {
        OpenOptions::new().append(true).open(&self.path)?.write_all(text.as_bytes())
    }

    fn replace(&self, text: &str) -> io::Result<()> {
        let (passing, mut file) = create_beside(&self.real_path)?;
        let written = (|| {
            file.write_all(text.as_bytes())?;
            if let Ok(old) = fs::metadata(&self.real_path) {
                file.set_permissions(old.permissions())?;
            }
            file.sync_all()?;
            passing.rename(&self.real_path)
        })();
        if written.is_err() {
            passing.remove().ok();
        }
        written
    }
}

/// A directory to write files into; made if it is not there.
#[derive(Clone, Debug)]
pub struct TargetDirectory(PathBuf);

impl TargetDirectory {
    /// Makes the directory and asks whether files can be written there.
    ///
    /// # Errors
    /// Why they cannot.
    pub fn new(path: &Path) -> Result<Self, FileError> {
        if path.exists() && !path.is_dir() {
            return Err(FileError::new(path, "this is not a directory"));
        }
        fs::create_dir_all(path).map_err(|error| FileError::from_io(path, &error))?;
        let probe = create_beside(&path.join("probe")).and_then(|(passing, _file)| passing.remove());
        probe.map_err(|error| FileError::from_io(path, &error))?;
        Ok(TargetDirectory(path.to_owned()))
    }

    /// Writes a file of this name and returns its path.
    ///
    /// # Errors
    /// What the system says.
    pub fn write(&self, name: &str, text: &str) -> Result<PathBuf, FileError> {
        let path = self.0.join(name);
        Target::new(&path)?.write(text)?;
        Ok(path)
    }
}

/// The passing files that are there now.
static PASSING: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn passing_files() -> MutexGuard<'static, Vec<PathBuf>> {
    PASSING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file under a passing name; it is renamed or removed before the call ends, however it ends.
struct Passing(PathBuf);

impl Passing {
    fn rename(&self, target: &Path) -> io::Result<()> {
        let mut files = passing_files();
        fs::rename(&self.0, target)?;
        files.retain(|file| *file != self.0);
        Ok(())
    }

    fn remove(&self) -> io::Result<()> {
        let mut files = passing_files();
        files.retain(|file| *file != self.0);
        fs::remove_file(&self.0)
    }
}

/// Ends the process at once, without leaving half a file behind.
pub fn exit_at_once(status: i32) -> ! {
    // Nobody can make another file while this is held.
    let files = passing_files();
    for file in files.iter() {
        fs::remove_file(file).ok();
    }
    std::process::exit(status)
}

/// Creates an empty file in the directory of `path`, under a name that nobody else uses.
fn create_beside(path: &Path) -> io::Result<(Passing, File)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut files = passing_files();
    let mut attempt = 0;
    loop {
        let passing = path.with_file_name(format!(".{name}.{}-{attempt}.part", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&passing) {
            Ok(file) => {
                files.push(passing.clone());
                return Ok((Passing(passing), file));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 100 => attempt += 1,
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn asking_leaves_nothing_behind_and_writing_leaves_the_file_only() {
        let scratch = tempfile::tempdir().unwrap();
        let target = Target::new(&scratch.path().join("out.json")).unwrap();
        assert!(names(scratch.path()).is_empty());
        target.write("one").unwrap();
        target.write("two").unwrap();
        assert_eq!(names(scratch.path()), ["out.json"]);
        assert_eq!(fs::read_to_string(scratch.path().join("out.json")).unwrap(), "two");
    }

    #[test]
    fn what_cannot_be_written_is_said_beforehand() {
        let scratch = tempfile::tempdir().unwrap();
        let why = |path: PathBuf| Target::new(&path).unwrap_err().why;
        assert_eq!(why(scratch.path().to_owned()), "this is a directory");
        assert_eq!(why(scratch.path().join("no/such/out.json")), "the directory does not exist");
        fs::write(scratch.path().join("file"), "").unwrap();
        assert_eq!(TargetDirectory::new(&scratch.path().join("file")).unwrap_err().why, "this is not a directory");
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_links_and_devices_are_written_through() {
        let scratch = tempfile::tempdir().unwrap();
        let (file, link) = (scratch.path().join("file"), scratch.path().join("link"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        Target::new(&link).unwrap().write("new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        Target::new(Path::new("/dev/null")).unwrap().write("gone").unwrap();
    }

    #[test]
    fn a_directory_is_made_and_written_into() {
        let scratch = tempfile::tempdir().unwrap();
        let directory = TargetDirectory::new(&scratch.path().join("a/b")).unwrap();
        let path = directory.write("x.itf.json", "{}").unwrap();
        assert_eq!(fs::read_to_string(path).unwrap(), "{}");
    }
}
