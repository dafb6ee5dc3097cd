//! States on disk, where memory is short: closed levels as sorted runs, and membership found out in bulk.
//!
//! In: the states that a search found while a level was expanded, in any order and with repetitions. Out: those that are in no level so far, as the next level. Nothing is looked up
//! state by state: what was found is sorted in portions, and merged with the sorted runs of all levels so far, once a level (delayed duplicate detection; Korf 2003). Levels are also one behind the other in a
//! file of their own, so that their steps can be taken and runs can be walked back. A state takes the words that the program uses, in each of the two.
//!
//! Files have no name once they are open, where the system allows it, so that nothing is left of them however the program ends; elsewhere they are removed at the end.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::packing::Packed;

/// So many runs are there at most before some are merged.
const MOST_RUNS: usize = 16;

/// Bytes that a reader or writer holds.
const BUFFER: usize = 1 << 16;

/// Where states go, and what may be held in memory on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overflow {
    /// The directory.
    pub directory: PathBuf,
    /// States go there when they take more bytes in memory.
    pub most_bytes: u64,
}

/// A part of a search's states on disk.
pub struct Spill<const W: usize> {
    directory: PathBuf,
    n_words: usize,
    /// So many states are sorted at once.
    portion: usize,
    /// All closed levels, one behind the other.
    levels: Spool,
    /// Where each level begins among them, and where the last one ends.
    level_starts: Vec<u64>,
    /// All states of closed levels, sorted; no state is in two of them.
    closed: Vec<Spool>,
    /// What was found of the level that is being filled, sorted; a state may be in several.
    found: Vec<Spool>,
}

impl<const W: usize> Spill<W> {
    /// Nothing on disk yet, for states of so many words.
    ///
    /// # Errors
    /// What the system says.
    pub fn new(n_words: usize, overflow: &Overflow) -> io::Result<Self> {
        fs::create_dir_all(&overflow.directory)?;
        let portion = (overflow.most_bytes / 4) as usize / size_of::<Packed<W>>();
        Ok(Spill {
            directory: overflow.directory.clone(),
            n_words,
            portion: portion.clamp(1 << 10, 1 << 22),
            levels: Spool::create(&overflow.directory)?,
            level_starts: vec![0],
            closed: Vec::new(),
            found: Vec::new(),
        })
    }

    /// How many states the closed levels have.
    pub fn n_states(&self) -> u64 {
        self.levels.n_states
    }

    /// How many states a level has.
    pub fn level_len(&self, depth: usize) -> u64 {
        self.level(depth).map_or(0, |(first, end)| end - first)
    }

    /// Takes a level over from memory: its states are new, each once. They keep their order, since some of their steps may be taken already.
    ///
    /// # Errors
    /// What the system says.
    pub fn add_level(&mut self, states: impl Iterator<Item = Packed<W>>) -> io::Result<()> {
        let (mut levels, mut portion) = (self.levels.writer(self.n_words), Vec::new());
        let mut sorted = Vec::new();
        for state in states {
            levels.write(&state)?;
            portion.push(state);
            if portion.len() == self.portion {
                sorted.push(self.sorted(&mut portion)?);
            }
        }
        let n_states = levels.finish()?;
        self.levels.n_states = n_states;
        self.level_starts.push(n_states);
        sorted.push(self.sorted(&mut portion)?);
        self.closed.extend(sorted);
        self.merge_closed()
    }

    /// Notes states that were found; they may be known, and may be noted again.
    ///
    /// # Errors
    /// What the system says.
    pub fn note(&mut self, states: impl Iterator<Item = Packed<W>>) -> io::Result<()> {
        let mut portion = Vec::new();
        for state in states {
            portion.push(state);
            if portion.len() == self.portion {
                let run = self.sorted(&mut portion)?;
                self.note_run(run)?;
            }
        }
        let run = self.sorted(&mut portion)?;
        self.note_run(run)
    }

    fn note_run(&mut self, run: Spool) -> io::Result<()> {
        if run.n_states > 0 {
            self.found.push(run);
        }
        if self.found.len() >= MOST_RUNS {
            let merged = self.merged(&self.found)?;
            self.found = vec![merged];
        }
        Ok(())
    }

    /// Closes the level: what was found and is in no level so far.
    ///
    /// # Errors
    /// What the system says.
    pub fn close_level(&mut self) -> io::Result<()> {
        let mut fresh = Spool::create(&self.directory)?;
        let mut found = Merge::<W>::open(&self.found, self.n_words)?;
        let mut closed = Merge::<W>::open(&self.closed, self.n_words)?;
        let (mut level, mut run) = (self.levels.writer(self.n_words), fresh.writer(self.n_words));
        let mut known = closed.next()?;
        while let Some(state) = found.next()? {
            while known.is_some_and(|known| known < state) {
                known = closed.next()?;
            }
            if known != Some(state) {
                level.write(&state)?;
                run.write(&state)?;
            }
        }
        let (n_states, n_fresh) = (level.finish()?, run.finish()?);
        self.levels.n_states = n_states;
        self.level_starts.push(n_states);
        fresh.n_states = n_fresh;
        self.closed.push(fresh);
        self.found.clear();
        self.merge_closed()
    }

    /// The states of a level, always in the same order.
    pub fn states(&self, depth: usize) -> SpilledStates<W> {
        let (first, end) = self.level(depth).unwrap_or((0, 0));
        self.levels.states(self.n_words, (first, end))
    }

    /// Some states of a level, at most so many, behind so many of them.
    ///
    /// # Errors
    /// What the system says.
    pub fn stretch(&self, depth: usize, n_before: u64, n_most: usize) -> io::Result<Vec<Packed<W>>> {
        let Some((first, end)) = self.level(depth) else { return Ok(Vec::new()) };
        let first = end.min(first + n_before);
        let mut states = self.levels.states(self.n_words, (first, end.min(first + n_most as u64)));
        let mut stretch = Vec::with_capacity(n_most);
        while let Some(state) = states.next()? {
            stretch.push(state);
        }
        Ok(stretch)
    }

    /// Where a level begins and ends.
    fn level(&self, depth: usize) -> Option<(u64, u64)> {
        Some((*self.level_starts.get(depth)?, *self.level_starts.get(depth + 1)?))
    }

    /// Keeps the number of runs, and of open files, small: the shorter half becomes one, so that long ones are rarely copied.
    fn merge_closed(&mut self) -> io::Result<()> {
        if self.closed.len() < MOST_RUNS {
            return Ok(());
        }
        self.closed.sort_by_key(|run| std::cmp::Reverse(run.n_states));
        let shorter = self.closed.split_off(MOST_RUNS / 2);
        let n_shorter: u64 = shorter.iter().map(|run| run.n_states).sum();
        let merged = self.merged(&shorter)?;
        debug_assert_eq!(merged.n_states, n_shorter, "no state is in two levels");
        self.closed.push(merged);
        Ok(())
    }

    fn merged(&self, runs: &[Spool]) -> io::Result<Spool> {
        let mut merge = Merge::<W>::open(runs, self.n_words)?;
        let mut merged = Spool::create(&self.directory)?;
        let mut writer = merged.writer(self.n_words);
        while let Some(state) = merge.next()? {
            writer.write(&state)?;
        }
        merged.n_states = writer.finish()?;
        Ok(merged)
    }

    /// Sorts states and writes each once; none are left.
    fn sorted(&self, states: &mut Vec<Packed<W>>) -> io::Result<Spool> {
        states.sort_unstable();
        states.dedup();
        let mut run = Spool::create(&self.directory)?;
        let mut writer = run.writer(self.n_words);
        states.iter().try_for_each(|state| writer.write(state))?;
        run.n_states = writer.finish()?;
        states.clear();
        Ok(run)
    }
}

/// States in a file without a name.
struct Spool {
    file: Arc<File>,
    n_states: u64,
    /// The name, where the system does not let go of it.
    path: Option<PathBuf>,
}

impl Spool {
    fn create(directory: &Path) -> io::Result<Self> {
        // Names are free again at once, so that the first will do nearly always.
        for number in 0_u64.. {
            let path = directory.join(format!("piecewise-{}-{number}", std::process::id()));
            match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
                Ok(file) => {
                    let is_gone = cfg!(unix) && fs::remove_file(&path).is_ok();
                    return Ok(Spool { file: Arc::new(file), n_states: 0, path: (!is_gone).then_some(path) });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Writes behind what is there.
    fn writer(&self, n_words: usize) -> SpillWriter {
        let buffer = Vec::with_capacity(BUFFER + 8 * n_words);
        SpillWriter { file: Arc::clone(&self.file), n_words, n_written: self.n_states, n_states: self.n_states, buffer }
    }

    /// The states from one position to another.
    fn states<const W: usize>(&self, n_words: usize, (first, end): (u64, u64)) -> SpilledStates<W> {
        SpilledStates { file: Arc::clone(&self.file), n_words, next: first, end, buffer: Vec::new(), at: 0 }
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // The search does not go on with it, and an error here changes nothing.
            fs::remove_file(path).ok();
        }
    }
}

/// Writes states behind each other.
struct SpillWriter {
    file: Arc<File>,
    n_words: usize,
    /// So many states are in the file.
    n_written: u64,
    /// So many with those that wait.
    n_states: u64,
    buffer: Vec<u8>,
}

impl SpillWriter {
    fn write(&mut self, state: &[u64]) -> io::Result<()> {
        state[..self.n_words].iter().for_each(|word| self.buffer.extend_from_slice(&word.to_le_bytes()));
        self.n_states += 1;
        if self.buffer.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut file = &*self.file;
        file.seek(SeekFrom::Start(self.n_written * 8 * self.n_words as u64))?;
        file.write_all(&self.buffer)?;
        self.buffer.clear();
        self.n_written = self.n_states;
        Ok(())
    }

    /// How many states there are now.
    fn finish(mut self) -> io::Result<u64> {
        self.flush()?;
        Ok(self.n_states)
    }
}

/// States of a file, one after the other.
pub struct SpilledStates<const W: usize> {
    file: Arc<File>,
    n_words: usize,
    /// The first state that was not read.
    next: u64,
    /// Behind the last one.
    end: u64,
    buffer: Vec<u8>,
    /// What of the buffer was given.
    at: usize,
}

impl<const W: usize> SpilledStates<W> {
    /// The next state; `None` at the end.
    ///
    /// # Errors
    /// What the system says, and a file that ends too early.
    #[expect(clippy::should_implement_trait, reason = "reading may fail")]
    pub fn next(&mut self) -> io::Result<Option<Packed<W>>> {
        let n_bytes = 8 * self.n_words;
        if self.at == self.buffer.len() {
            let n_states = (self.end - self.next).min((BUFFER / n_bytes).max(1) as u64);
            if n_states == 0 {
                return Ok(None);
            }
            self.buffer.resize(n_states as usize * n_bytes, 0);
            let mut file = &*self.file;
            // Readers and writers of a file share its position.
            file.seek(SeekFrom::Start(self.next * n_bytes as u64))?;
            file.read_exact(&mut self.buffer)?;
            self.next += n_states;
            self.at = 0;
        }
        let mut state = [0; W];
        let (words, _) = self.buffer[self.at..self.at + n_bytes].as_chunks::<8>();
        for (word, bytes) in state.iter_mut().zip(words) {
            *word = u64::from_le_bytes(*bytes);
        }
        self.at += n_bytes;
        Ok(Some(state))
    }
}

/// Sorted runs, read together in order; repetitions are left out.
struct Merge<const W: usize> {
    /// Each run with its next state.
    heads: Vec<(Option<Packed<W>>, SpilledStates<W>)>,
}

impl<const W: usize> Merge<W> {
    fn open(runs: &[Spool], n_words: usize) -> io::Result<Self> {
        let head = |run: &Spool| -> io::Result<(Option<Packed<W>>, SpilledStates<W>)> {
            let mut states = run.states(n_words, (0, run.n_states));
            Ok((states.next()?, states))
        };
        Ok(Merge { heads: runs.iter().map(head).collect::<io::Result<_>>()? })
    }

    fn next(&mut self) -> io::Result<Option<Packed<W>>> {
        let Some(least) = self.heads.iter().filter_map(|(head, _)| *head).min() else { return Ok(None) };
        for (head, states) in &mut self.heads {
            if *head == Some(least) {
                *head = states.next()?;
            }
        }
        Ok(Some(least))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn level(spill: &Spill<4>, depth: usize) -> Vec<Packed<4>> {
        let mut states = spill.states(depth);
        std::iter::from_fn(|| states.next().unwrap()).collect()
    }

    /// Random states, noted in random portions, against sets in memory.
    #[test]
    fn levels_are_what_is_new() {
        let directory = std::env::temp_dir().join(format!("piecewise-test-{}", std::process::id()));
        let overflow = Overflow { directory: directory.clone(), most_bytes: 0 };
        let mut spill = Spill::<4>::new(3, &overflow).unwrap();
        spill.portion = 7;
        let mut random = 1u64;
        let mut number = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % below
        };
        let mut known: BTreeSet<Packed<4>> = (0..50).map(|at| [at, 7, u64::MAX - at, 0]).collect();
        spill.add_level(known.iter().rev().copied()).unwrap();
        assert_eq!(level(&spill, 0), known.iter().rev().copied().collect::<Vec<_>>(), "the order stays");
        assert_eq!(spill.stretch(0, 48, 1).unwrap(), [[1, 7, u64::MAX - 1, 0]]);
        for depth in 1..60 {
            let mut fresh = BTreeSet::new();
            for _ in 0..number(40) {
                let portion: Vec<Packed<4>> = (0..number(30)).map(|_| [number(900), number(3), 1, 0]).collect();
                fresh.extend(portion.iter().copied().filter(|state| !known.contains(state)));
                spill.note(portion.into_iter()).unwrap();
            }
            spill.close_level().unwrap();
            assert_eq!(level(&spill, depth), fresh.iter().copied().collect::<Vec<_>>(), "level {depth}");
            assert_eq!(spill.level_len(depth), fresh.len() as u64);
            known.extend(fresh);
            assert_eq!(spill.n_states(), known.len() as u64);
            assert!(spill.closed.len() < MOST_RUNS, "runs are merged");
        }
        #[cfg(unix)]
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 0, "files have no names");
        drop(spill);
        fs::remove_dir(&directory).unwrap();
    }
}
