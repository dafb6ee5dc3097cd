//! Source files: from the paths of the call to named texts.
//!
//! In: files and directories. Out: a [`SourceFile`] for each program, in the order of the call, directories in the order of
//! their names; or one [`FileError`] for each path that cannot be used. Every path is looked at before any is used.

use std::fmt;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use base::SourceFile;

/// The endings of the files that a directory is searched for.
pub const SOURCE_ENDINGS: [&str; 1] = ["pw"];

/// The largest source text, in bytes. People write far smaller ones; spans count in 32 bits.
const MOST_BYTES: u64 = 64 << 20;

/// A path that cannot be used, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// The path, as the user gave it.
    pub path: PathBuf,
    /// What is wrong with it: lower case, no full stop.
    pub why: String,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.why)
    }
}

impl FileError {
    /// A path with what is wrong with it.
    pub fn new(path: &Path, why: impl Into<String>) -> Self {
        FileError { path: path.to_owned(), why: why.into() }
    }

    /// What the system says about a path, in words that do not depend on the system.
    pub fn from_io(path: &Path, error: &io::Error) -> Self {
        let why = match error.kind() {
            io::ErrorKind::NotFound => "there is no such file".to_owned(),
            io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
            io::ErrorKind::IsADirectory => "this is a directory".to_owned(),
            io::ErrorKind::NotADirectory => "a part of the path is not a directory".to_owned(),
            io::ErrorKind::StorageFull => "no space is left".to_owned(),
            io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only".to_owned(),
            _ => error.to_string().to_lowercase(),
        };
        FileError::new(path, why)
    }
}

/// Replaces each directory by the source files in it, at any depth, in the order of their names.
///
/// # Errors
/// All paths that do not exist, cannot be read, or are directories without a source file.
pub fn find(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Vec<FileError>> {
    let (mut files, mut errors) = (Vec::new(), Vec::new());
    for path in paths {
        match fs::metadata(path) {
            Err(error) => errors.push(FileError::from_io(path, &error)),
            Ok(what) if what.is_dir() => match files_below(path) {
                Err(error) => errors.push(error),
                Ok(found) if found.is_empty() => {
                    let endings = SOURCE_ENDINGS.map(|ending| format!("`.{ending}`")).join(" or ");
                    errors.push(FileError::new(path, format!("there is no {endings} file in this directory")));
                }
                Ok(found) => files.extend(found),
            },
            Ok(_) => files.push(path.clone()),
        }
    }
    if errors.is_empty() { Ok(files) } else { Err(errors) }
}

/// Reads one text.
///
/// # Errors
/// What is missing, unreadable, a directory, too large, or not UTF-8.
pub fn read(path: &Path) -> Result<SourceFile, FileError> {
    let text = read_text(path)?;
    Ok(SourceFile::new(path.display().to_string(), text))
}

/// Reads the whole of a file as text, within the size that programs and traces can have.
///
/// # Errors
/// As for [`read`].
pub fn read_text(path: &Path) -> Result<String, FileError> {
    let from_io = |error: io::Error| FileError::from_io(path, &error);
    let file = fs::File::open(path).map_err(from_io)?;
    if file.metadata().map_err(from_io)?.is_dir() {
        return Err(FileError::new(path, "this is a directory"));
    }
    read_limited(file).map_err(|error| match error {
        ReadError::Io(error) => from_io(error),
        ReadError::Words(why) => FileError::new(path, why),
    })
}

/// Reads a text from any reader, the standard input say.
///
/// # Errors
/// A sentence: what cannot be read, is too large, or is not UTF-8.
pub fn read_stream(reader: impl Read) -> Result<String, String> {
    read_limited(reader).map_err(|error| match error {
        ReadError::Io(error) => error.to_string(),
        ReadError::Words(why) => why,
    })
}

enum ReadError {
    Io(io::Error),
    Words(String),
}

/// The limit is on what is read, not on what the system says about the size: a device may have no end.
fn read_limited(reader: impl Read) -> Result<String, ReadError> {
    let mut bytes = Vec::new();
    reader.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(ReadError::Io)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(ReadError::Words(format!("the file is larger than {} MB", MOST_BYTES >> 20)));
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..good].iter().filter(|&&byte| byte == b'\n').count() + 1;
        ReadError::Words(format!("the file is not UTF-8 text: the byte at offset {good} (line {line}) cannot be read"))
    })
}

fn files_below(directory: &Path) -> Result<Vec<PathBuf>, FileError> {
    let from_io = |error: io::Error| FileError::from_io(directory, &error);
    let entries = fs::read_dir(directory).map_err(from_io)?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>().map_err(from_io)?;
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        // A link to a directory is not followed, so that a loop of links ends.
        let what = fs::symlink_metadata(&path).map_err(|error| FileError::from_io(&path, &error))?;
        if what.is_dir() {
            files.extend(files_below(&path)?);
        } else if is_source(&path) && !path.is_dir() {
            files.push(path);
        }
    }
    Ok(files)
}

fn is_source(path: &Path) -> bool {
    path.extension().and_then(|ending| ending.to_str()).is_some_and(|ending| SOURCE_ENDINGS.contains(&ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_searched_in_the_order_of_names() {
        let scratch = tempfile::tempdir().unwrap();
        fs::create_dir(scratch.path().join("b")).unwrap();
        for name in ["c.pw", "b/x.pw", "a.pw", "notes.md"] {
            fs::write(scratch.path().join(name), "").unwrap();
        }
        let found = find(&[scratch.path().to_owned()]).unwrap();
        let names: Vec<_> =
            found.iter().map(|path| path.strip_prefix(scratch.path()).unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["a.pw", "b/x.pw", "c.pw"]);
    }

    #[test]
    fn every_bad_path_is_named() {
        let scratch = tempfile::tempdir().unwrap();
        let paths = [scratch.path().join("none.pw"), scratch.path().to_owned(), scratch.path().join("gone.pw")];
        let errors = find(&paths).unwrap_err();
        let whys: Vec<_> = errors.iter().map(|error| error.why.as_str()).collect();
        assert_eq!(
            whys,
            ["there is no such file", "there is no `.pw` file in this directory", "there is no such file"]
        );
    }

    #[test]
    fn bytes_that_are_no_text_are_refused_with_their_place() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("x.pw");
        fs::write(&path, b"program\n\xff\xfe").unwrap();
        let why = read(&path).unwrap_err().why;
        assert_eq!(why, "the file is not UTF-8 text: the byte at offset 8 (line 2) cannot be read");
        assert_eq!(read(scratch.path()).unwrap_err().why, "this is a directory");
        assert!(read_stream(io::repeat(b'a')).unwrap_err().starts_with("the file is larger than"));
    }
}
