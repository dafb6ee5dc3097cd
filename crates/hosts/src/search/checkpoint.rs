//! Levels on disk, so that a search whose host is lost goes on where it was.
//!
//! In: the states of each level that is closed, at each worker. Out: the levels of an earlier search, dealt out to the workers of this one, however many there are. A worker appends the
//! states of a level to one file, and then a line to another: the level, how many states there are by then, their checksum, what was counted. Every line has a checksum of its own, and
//! every level a line, even where a worker got nothing; so what was cut off or changed is noticed, and the least last level of all workers counts. A resumed search writes files of its own
//! beside those that it reads, and removes these when it has caught up.

use std::fs::{self, File};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use packed::packing::Packed;
use serde::{Deserialize, Serialize};

use super::net::Net;
use super::part::{Counts, Part};
use crate::call::version;

/// The directories of searches begin so; a number follows, larger for later ones.
const SEARCH: &str = "search-";

/// States are read so many at a time.
const READ_BATCH: usize = 4096;

/// Where levels are kept.
#[derive(Clone, Debug)]
pub struct Store {
    /// The directory, on the disk of each host.
    pub directory: PathBuf,
    /// The fingerprint of program, parameters and questions.
    pub settings: [u8; 32],
    /// Whether to go on with what is there.
    pub resumes: bool,
}

/// The first line of a worker's file of levels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Header {
    version: String,
    settings: String,
    /// Words of a state.
    words: usize,
    worker: usize,
    workers: usize,
}

/// A line for a level that is closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Line {
    level: u64,
    /// How many states the worker has, this level included.
    states: u64,
    /// The checksum of the states of this level.
    checksum: u64,
    counts: Counts,
    /// By question: whether it was hit when this level was found.
    decided: Vec<bool>,
}

/// What a process sees of one worker's files.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct WorkerFiles {
    search: u64,
    worker: usize,
    workers: usize,
    lines: Vec<Line>,
}

/// What a process sees of the directory, or why it cannot be used.
type Scan = Result<Vec<WorkerFiles>, String>;

/// What all workers do about the directory.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Decision {
    /// The number of this search.
    search: u64,
    source: Option<Source>,
}

/// The earlier search that is gone on with.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Source {
    search: u64,
    last_level: u64,
    /// By worker of the earlier search, the worker that reads its files.
    readers: Vec<usize>,
    /// By level: what was counted, and what was hit.
    counts: Vec<Counts>,
    decided: Vec<Vec<bool>>,
}

/// The levels of an earlier search, as far as this worker has to do with them.
pub struct EarlierLevels {
    /// The last level of all.
    pub last_level: u64,
    /// The files that this worker reads.
    pub files: Vec<KeptFile>,
    /// By level: what was counted by then, all workers together.
    pub counts: Vec<Counts>,
    /// By level: the questions that were hit.
    pub decided: Vec<Vec<bool>>,
}

impl Store {
    /// Looks at what is there, together with all workers, and begins files of this search.
    ///
    /// # Errors
    /// A sentence: what is there is of another program, or is not to be gone on with, or cannot be read.
    pub fn open(
        &self,
        net: &mut Net<'_>,
        n_threads: usize,
        n_words: usize,
    ) -> Result<(Keeper, Option<EarlierLevels>), String> {
        // One worker of each process looks.
        let looks = net.me().is_multiple_of(n_threads);
        let scan: Option<Scan> = looks.then(|| self.scan(n_words));
        let scans = net.gather(&scan);
        let decision = (net.me() == 0).then(|| self.decide(&scans));
        let Decision { search, source } = net.tell_all(decision.as_ref())?;
        let keeper = Keeper::create(self, net, (search, n_words));
        let wrong = net.gather(&keeper.as_ref().err().cloned());
        let wrong = (net.me() == 0).then(|| wrong.into_iter().flatten().next());
        if let Some(why) = net.tell_all(wrong.as_ref()) {
            return Err(why);
        }
        let kept = source.map(|source| {
            let mine = (0..source.readers.len()).filter(|&worker| source.readers[worker] == net.me());
            let seen = scan.and_then(Result::ok).unwrap_or_default();
            let file = |worker: usize| {
                let seen = seen.iter().find(|seen| seen.search == source.search && seen.worker == worker);
                let path = self.directory.join(format!("{SEARCH}{}", source.search)).join(states_name(worker));
                KeptFile { path, n_words, lines: seen.map(|seen| seen.lines.clone()).unwrap_or_default() }
            };
            let files = mine.map(file).collect();
            EarlierLevels { last_level: source.last_level, files, counts: source.counts, decided: source.decided }
        });
        Ok((keeper?, kept))
    }

    /// What there is in the directory.
    fn scan(&self, n_words: usize) -> Scan {
        if self.directory.exists() && !self.directory.is_dir() {
            return Err(format!("{} is not a directory, and a checkpoint needs one", self.directory.display()));
        }
        fs::create_dir_all(&self.directory).map_err(|error| cannot_write(&self.directory, &error))?;
        let mut seen = Vec::new();
        for (search, path) in searches(&self.directory)? {
            for worker in 0.. {
                let levels = path.join(levels_name(worker));
                let Ok(text) = fs::read(&levels) else {
                    // Files of other workers may be on other hosts.
                    if worker >= most_workers(&path) { break } else { continue }
                };
                let Some(header) = text.split(|&byte| byte == b'\n').next().and_then(checked::<Header>) else {
                    continue;
                };
                if header.version != version() {
                    return Err(format!(
                        "{} has a checkpoint of version {}, and this is {}",
                        self.directory.display(),
                        header.version,
                        version()
                    ));
                }
                if header.settings != hex(&self.settings) || header.words != n_words {
                    return Err(format!(
                        "{} has a checkpoint of another program, or of other parameters or questions",
                        self.directory.display()
                    ));
                }
                let lines = text.split(|&byte| byte == b'\n').skip(1).map_while(checked::<Line>);
                let lines = lines.enumerate().map_while(|(level, line)| (line.level == level as u64).then_some(line));
                let lines = sound(&path.join(states_name(worker)), n_words, lines.collect());
                seen.push(WorkerFiles { search, worker, workers: header.workers, lines });
            }
        }
        if !seen.is_empty() && !self.resumes {
            return Err(format!("{} has a checkpoint already; `--resume` goes on with it", self.directory.display()));
        }
        Ok(seen)
    }

    /// Chooses the search that went furthest among those of which all files are there.
    fn decide(&self, scans: &[Option<Scan>]) -> Result<Decision, String> {
        let mut all: Vec<(usize, &WorkerFiles)> = Vec::new();
        for (reader, scan) in scans.iter().enumerate() {
            match scan {
                Some(Err(why)) => return Err(why.clone()),
                Some(Ok(seen)) => all.extend(seen.iter().map(|seen| (reader, seen))),
                None => {}
            }
        }
        let newest = all.iter().map(|(_, seen)| seen.search).max().unwrap_or(0);
        let sources = (1..=newest).filter_map(|search| source(search, &all));
        Ok(Decision { search: newest + 1, source: sources.max_by_key(|source| (source.last_level, source.search)) })
    }
}

/// An earlier search, if the files of all its workers are there, each with a level.
fn source(search: u64, all: &[(usize, &WorkerFiles)]) -> Option<Source> {
    let of_it: Vec<&(usize, &WorkerFiles)> = all.iter().filter(|(_, seen)| seen.search == search).collect();
    let n_workers = of_it.first()?.1.workers;
    let by_worker: Vec<&(usize, &WorkerFiles)> = (0..n_workers)
        .map(|worker| {
            let found = of_it.iter().filter(|(_, seen)| seen.worker == worker && seen.workers == n_workers);
            found.copied().max_by_key(|(_, seen)| seen.lines.len())
        })
        .collect::<Option<_>>()?;
    let n_levels = by_worker.iter().map(|(_, seen)| seen.lines.len()).min()?;
    let last_level = (n_levels as u64).checked_sub(1)?;
    let level = |level: usize| by_worker.iter().map(move |(_, seen)| &seen.lines[level]);
    let counts = (0..n_levels).map(|at| {
        level(at).fold(Counts::default(), |mut sum, line| {
            sum.add(line.counts);
            sum
        })
    });
    let n_questions = by_worker[0].1.lines[0].decided.len();
    let decided = (0..n_levels).map(|at| {
        (0..n_questions).map(|question| level(at).any(|line| line.decided.get(question) == Some(&true))).collect()
    });
    Some(Source {
        search,
        last_level,
        readers: by_worker.iter().map(|(reader, _)| *reader).collect(),
        counts: counts.collect(),
        decided: decided.collect(),
    })
}

/// The lines whose states are there as they were written.
fn sound(path: &Path, n_words: usize, lines: Vec<Line>) -> Vec<Line> {
    let mut file = KeptFile { path: path.to_owned(), n_words, lines };
    let n_sound = (0..file.lines.len()).take_while(|&level| file.check_level(level)).count();
    file.lines.truncate(n_sound);
    file.lines
}

fn states_name(worker: usize) -> String {
    format!("worker-{worker}.states")
}

fn levels_name(worker: usize) -> String {
    format!("worker-{worker}.levels")
}

/// The searches of a directory, by number.
fn searches(directory: &Path) -> Result<Vec<(u64, PathBuf)>, String> {
    let entries = fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let number = |path: &Path| path.file_name()?.to_str()?.strip_prefix(SEARCH)?.parse().ok();
    let mut found: Vec<(u64, PathBuf)> =
        entries.flatten().filter_map(|entry| Some((number(&entry.path())?, entry.path()))).collect();
    found.sort();
    Ok(found)
}

/// One more than the largest worker of whom there are files.
fn most_workers(directory: &Path) -> usize {
    let number = |path: &Path| -> Option<usize> {
        path.file_name()?.to_str()?.strip_prefix("worker-")?.strip_suffix(".levels")?.parse().ok()
    };
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| number(&entry.path())).max().map_or(0, |most| most + 1)
}

/// A text with its checksum before it.
fn with_checksum(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).expect("lines are plain data");
    format!("{:016x} {text}\n", checksum_of_bytes(text.as_bytes()))
}

/// A line whose checksum is right.
fn checked<T: for<'a> Deserialize<'a>>(line: &[u8]) -> Option<T> {
    let (sum, text) = line.split_at_checked(16)?;
    let sum = u64::from_str_radix(std::str::from_utf8(sum).ok()?, 16).ok()?;
    let text = text.strip_prefix(b" ")?;
    if sum != checksum_of_bytes(text) {
        return None;
    }
    serde_json::from_slice(text).ok()
}

fn checksum_of_bytes(bytes: &[u8]) -> u64 {
    bytes.iter().fold(bytes.len() as u64, |sum, &byte| mixed(sum, u64::from(byte)))
}

/// A checksum with one word more.
fn mixed(sum: u64, word: u64) -> u64 {
    let product = u128::from(sum ^ word ^ 0x2436_a885_a308_d313) * 0x9e37_79b9_7f4a_7c15;
    product as u64 ^ (product >> 64) as u64
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The file of one worker of an earlier search.
pub struct KeptFile {
    path: PathBuf,
    n_words: usize,
    lines: Vec<Line>,
}

impl KeptFile {
    /// Whether the states of a level are as they were written.
    fn check_level(&mut self, level: usize) -> bool {
        self.read_level::<1>(level, |_| ()).is_ok()
    }

    /// Shows the states of a level, some at a time.
    ///
    /// # Errors
    /// A file that was changed since it was looked at.
    pub fn read_level<const W: usize>(
        &mut self,
        level: usize,
        mut show: impl FnMut(&[Packed<W>]),
    ) -> Result<(), String> {
        let Some(line) = self.lines.get(level) else { return Ok(()) };
        let before = level.checked_sub(1).and_then(|before| self.lines.get(before)).map_or(0, |line| line.states);
        let read = (|| -> std::io::Result<u64> {
            let mut file = File::open(&self.path)?;
            file.seek(SeekFrom::Start(before * self.n_words as u64 * 8))?;
            let mut left = line.states.saturating_sub(before) as usize;
            let mut sum = 0;
            let mut bytes = vec![0; READ_BATCH * self.n_words * 8];
            while left > 0 {
                let n_states = left.min(READ_BATCH);
                let bytes = &mut bytes[..n_states * self.n_words * 8];
                file.read_exact(bytes)?;
                let word = |chunk: &[u8]| chunk.try_into().map_or(0, u64::from_le_bytes);
                let words: Vec<u64> = bytes.chunks_exact(8).map(word).collect();
                sum = words.iter().fold(sum, |sum, &word| mixed(sum, word));
                let widened = |chunk: &[u64]| std::array::from_fn(|at| chunk.get(at).copied().unwrap_or(0));
                let states: Vec<Packed<W>> = words.chunks_exact(self.n_words).map(widened).collect();
                show(&states);
                left -= n_states;
            }
            Ok(sum)
        })();
        match read {
            Ok(sum) if sum == line.checksum => Ok(()),
            Ok(_) => Err(format!("{} is not as it was written", self.path.display())),
            Err(error) => Err(format!("{}: {error}", self.path.display())),
        }
    }
}

/// Writes the levels of one worker.
pub struct Keeper {
    /// The directory of all searches, and that of this one.
    directory: PathBuf,
    own: PathBuf,
    /// The number of this search.
    search: u64,
    states: File,
    levels: File,
    n_words: usize,
    n_states: u64,
}

impl Keeper {
    fn create(store: &Store, net: &Net<'_>, (search, n_words): (u64, usize)) -> Result<Self, String> {
        let own = store.directory.join(format!("{SEARCH}{search}"));
        let header = Header {
            version: version().to_owned(),
            settings: hex(&store.settings),
            words: n_words,
            worker: net.me(),
            workers: net.n_workers(),
        };
        let created = (|| {
            fs::create_dir_all(&own)?;
            let states = File::create(own.join(states_name(net.me())))?;
            let mut levels = File::create(own.join(levels_name(net.me())))?;
            levels.write_all(with_checksum(&header).as_bytes())?;
            Ok(Keeper {
                directory: store.directory.clone(),
                own: own.clone(),
                search,
                states,
                levels,
                n_words,
                n_states: 0,
            })
        })();
        created.map_err(|error: std::io::Error| cannot_write(&own, &error))
    }

    /// Appends a level, and waits until it is on the disk.
    ///
    /// # Errors
    /// Why it cannot be written.
    pub fn write_level<const W: usize>(
        &mut self,
        level: usize,
        part: &Part<'_, W>,
        counts: Counts,
        decided: &[bool],
    ) -> Result<(), String> {
        let written = (|| {
            let mut writer = BufWriter::with_capacity(1 << 18, &self.states);
            let (mut sum, mut n_states) = (0, 0);
            for state in part.states(level) {
                n_states += 1;
                let state = state.map_err(|reason| std::io::Error::other(reason.to_string()))?;
                for &word in &state[..self.n_words] {
                    sum = mixed(sum, word);
                    writer.write_all(&word.to_le_bytes())?;
                }
            }
            writer.flush()?;
            drop(writer);
            self.states.sync_data()?;
            self.n_states += n_states;
            let line =
                Line { level: level as u64, states: self.n_states, checksum: sum, counts, decided: decided.to_vec() };
            self.levels.write_all(with_checksum(&line).as_bytes())?;
            self.levels.sync_data()
        })();
        written.map_err(|error: std::io::Error| cannot_write(&self.own, &error))
    }

    /// A directory for what memory has no room for; it goes with the search.
    pub fn overflow_directory(&self, worker: usize) -> PathBuf {
        self.own.join(format!("worker-{worker}.spill"))
    }

    /// Removes earlier searches, with which this one has caught up.
    pub fn forget_earlier(&self) {
        for (number, path) in searches(&self.directory).unwrap_or_default() {
            if number < self.search {
                // Another process of this host may have removed it.
                fs::remove_dir_all(&path).ok();
            }
        }
    }

    /// Ends the search: of one that is complete nothing is left to go on with.
    pub fn end(self, is_complete: bool) {
        if is_complete {
            fs::remove_dir_all(&self.own).ok();
            self.forget_earlier();
        }
    }
}

fn cannot_write(path: &Path, error: &std::io::Error) -> String {
    let why = match error.kind() {
        std::io::ErrorKind::StorageFull => "no space is left".to_owned(),
        _ => error.to_string(),
    };
    format!("its checkpoint in {} cannot be written: {why}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_was_cut_or_changed_is_no_line() {
        let line = Line { level: 3, states: 17, checksum: 9, counts: Counts::default(), decided: vec![true] };
        let text = with_checksum(&line);
        let text = text.trim_end().as_bytes();
        assert_eq!(checked::<Line>(text), Some(line));
        for length in 0..text.len() {
            assert_eq!(checked::<Line>(&text[..length]), None, "{length}");
        }
        for at in 0..text.len() {
            let mut changed = text.to_vec();
            changed[at] ^= 4;
            assert_eq!(checked::<Line>(&changed), None, "{at}");
        }
    }

    #[test]
    fn the_least_last_level_of_all_workers_counts_and_all_must_be_there() {
        let line = |level: u64| Line {
            level,
            states: level,
            checksum: 0,
            counts: Counts { transitions: 2, ..Counts::default() },
            decided: vec![level == 1],
        };
        let seen = |search, worker, n_levels| WorkerFiles {
            search,
            worker,
            workers: 2,
            lines: (0..n_levels).map(line).collect(),
        };
        let (a, b, c) = (seen(1, 0, 5), seen(1, 1, 3), seen(2, 0, 9));
        let found = source(1, &[(0, &a), (1, &b), (0, &c)]).unwrap();
        assert_eq!((found.last_level, found.readers), (2, vec![0, 1]));
        assert_eq!(found.counts[2].transitions, 4);
        assert_eq!(found.decided, [[false], [true], [false]]);
        assert!(source(2, &[(0, &c)]).is_none(), "worker 1 is missing");
        let nothing = seen(3, 1, 0);
        assert!(source(3, &[(0, &seen(3, 0, 2)), (1, &nothing)]).is_none());
    }
}
