//! Files that are read: from the paths of the call to bytes.
//!
//! In: files and directories. Out: the paths of programs, in the order of the call, directories in the order of their names,
//! and the bytes of each; or one [`FileError`] for each path that cannot be used.

use std::fmt;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The endings of the files that a directory is searched for.
pub const SOURCE_ENDINGS: [&str; 4] = ["pw", "dve", "pds", "pml"];

/// The path that means the standard input.
pub const STDIN: &str = "-";
/// What the standard input is called in messages.
pub const STDIN_NAME: &str = "<stdin>";

/// The largest file that is read at all, in bytes; front-ends and readers of traces have their own limits below it.
const MOST_BYTES: u64 = 256 << 20;

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
        if path == Path::new(STDIN) {
            files.push(path.clone());
            continue;
        }
        match fs::metadata(path) {
            Err(error) => errors.push(FileError::from_io(path, &error)),
            Ok(what) if what.is_dir() => match files_below(path) {
                Err(error) => errors.push(error),
                Ok(found) if found.is_empty() => {
                    let endings = SOURCE_ENDINGS.map(|ending| format!("`.{ending}`")).join(", ");
                    let endings = endings.replace(", `.pml`", " or `.pml`");
                    errors.push(FileError::new(path, format!("there is no {endings} file in this directory")));
                }
                Ok(found) => files.extend(found),
            },
            Ok(_) => files.push(path.clone()),
        }
    }
    if errors.is_empty() { Ok(files) } else { Err(errors) }
}

/// Reads the whole of a file, within the size that programs and traces can have.
///
/// # Errors
/// What is missing, unreadable, a directory, or too large.
pub fn read(path: &Path) -> Result<Vec<u8>, FileError> {
    read_at_most(path, MOST_BYTES)
}

/// Reads the whole of a file, if it has at most so many bytes.
///
/// # Errors
/// What is missing, unreadable, a directory, or too large.
pub fn read_at_most(path: &Path, most_bytes: u64) -> Result<Vec<u8>, FileError> {
    let from_io = |error: io::Error| FileError::from_io(path, &error);
    if path == Path::new(STDIN) {
        let bytes = read_all(io::stdin().lock(), most_bytes).map_err(from_io)?;
        return bytes.ok_or_else(|| FileError::new(path, format!("there is more than {} MB", most_bytes >> 20)));
    }
    let file = fs::File::open(path).map_err(from_io)?;
    if file.metadata().map_err(from_io)?.is_dir() {
        return Err(FileError::new(path, "this is a directory"));
    }
    let bytes = read_all(file, most_bytes).map_err(from_io)?;
    bytes.ok_or_else(|| FileError::new(path, format!("the file is larger than {} MB", most_bytes >> 20)))
}

/// Reads from any reader to its end, the standard input say; `None` where there is more than a program or trace can have.
///
/// The limit is on what is read, not on what the system says about the size: a device may have no end.
///
/// # Errors
/// What the system says.
pub fn read_stream(reader: impl Read) -> io::Result<Option<Vec<u8>>> {
    read_all(reader, MOST_BYTES)
}

fn read_all(reader: impl Read, most_bytes: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    reader.take(most_bytes + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= most_bytes).then_some(bytes))
}

/// How many files a program in Promela may include.
const MOST_INCLUDED: usize = 500;

/// The files that a program in Promela includes, at any depth, by their paths from its folder; one that is not there is left out.
pub fn included(path: &Path, text: &str) -> lang::promela::Includes {
    let mut found = lang::promela::Includes::new();
    let is_promela = path
        .extension()
        .and_then(|ending| ending.to_str())
        .is_some_and(|ending| lang::PROMELA_SUFFIXES.contains(&ending));
    if !is_promela {
        return found;
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut open = lang::promela::included(text);
    while let Some(name) = open.pop() {
        if found.contains_key(&name) || found.len() >= MOST_INCLUDED {
            continue;
        }
        let Ok(bytes) = read_at_most(&folder.join(&name), lang::pw::MAX_FILE_LENGTH as u64) else { continue };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let beside = name.rsplit_once('/').map(|(folder, _)| format!("{folder}/")).unwrap_or_default();
        open.extend(lang::promela::included(&text).into_iter().map(|inner| format!("{beside}{inner}")));
        found.insert(name, text);
    }
    found
}

/// Why a larger file is refused.
pub fn too_large() -> String {
    format!("the file is larger than {} MB", MOST_BYTES >> 20)
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
            [
                "there is no such file",
                "there is no `.pw`, `.dve`, `.pds` or `.pml` file in this directory",
                "there is no such file"
            ]
        );
    }

    #[test]
    fn directories_and_endless_files_are_not_read() {
        let scratch = tempfile::tempdir().unwrap();
        assert_eq!(read(scratch.path()).unwrap_err().why, "this is a directory");
        assert_eq!(read(&scratch.path().join("none")).unwrap_err().why, "there is no such file");
        assert!(read_stream(io::repeat(b'a')).unwrap().is_none());
    }
}
