//! States on disk, where memory is short: closed levels as sorted runs, and membership found out in bulk.
//!
//! In: the states that a worker found while a level was expanded, in any order and with repetitions. Out: those that are in no level so far, as the next level. Nothing is looked up
//! state by state: what was found is sorted, and merged with the sorted runs of all levels so far, once a level (delayed duplicate detection; Korf 2003). Each level stays in a file of its own, too, so that
//! its steps can be taken and runs can be walked back. Everything is removed when the search ends.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

use packed::packing::Packed;

/// So many runs are merged into one.
const MOST_RUNS: usize = 16;

/// Bytes that a reader or writer holds.
const BUFFER: usize = 1 << 16;

/// Sorted states in a file, each once.
struct Run {
    path: PathBuf,
}

/// A worker's states on disk.
pub struct Spill<const W: usize> {
    directory: PathBuf,
    /// All states of closed levels; no state is in two of them.
    closed: Vec<Run>,
    /// What was found of the level that is being filled; a state may be in several.
    found: Vec<Run>,
    /// How many states each level has.
    level_lens: Vec<u64>,
    /// Numbers the files.
    n_files: usize,
}

impl<const W: usize> Spill<W> {
    /// Nothing on disk yet, in a directory of its own.
    ///
    /// # Errors
    /// What the system says.
    pub fn new(directory: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(&directory)?;
        Ok(Spill { directory, closed: Vec::new(), found: Vec::new(), level_lens: Vec::new(), n_files: 0 })
    }

    /// How many states the closed levels have.
    pub fn n_states(&self) -> u64 {
        self.level_lens.iter().sum()
    }

    /// How many states a level has.
    pub fn level_len(&self, depth: usize) -> u64 {
        self.level_lens.get(depth).copied().unwrap_or(0)
    }

    /// Takes a level over from memory: its states are new, each once. They keep their order there, since some of their steps may be taken already.
    ///
    /// # Errors
    /// What the system says.
    pub fn add_level(&mut self, mut states: Vec<Packed<W>>) -> io::Result<()> {
        let path = self.level_path(self.level_lens.len());
        write_all(&path, &states)?;
        states.sort_unstable();
        let run = self.write_run(&states)?;
        self.closed.push(run);
        self.level_lens.push(states.len() as u64);
        self.merge_closed()
    }

    /// Notes states that were found; they may be known, and may be noted again.
    ///
    /// # Errors
    /// What the system says.
    pub fn note(&mut self, mut states: Vec<Packed<W>>) -> io::Result<()> {
        states.sort_unstable();
        let run = self.write_run(&states)?;
        self.found.push(run);
        if self.found.len() >= MOST_RUNS {
            let merged = self.merged(&self.found)?;
            remove(std::mem::replace(&mut self.found, vec![merged.run]));
        }
        Ok(())
    }

    /// Closes the level: what was found and is in no level so far.
    ///
    /// # Errors
    /// What the system says.
    pub fn close_level(&mut self) -> io::Result<()> {
        let path = self.level_path(self.level_lens.len());
        let fresh = self.next_path();
        let (mut level, mut run) = (writer(&path)?, writer(&fresh)?);
        let mut found = Merge::<W>::open(&self.found)?;
        let mut closed = Merge::<W>::open(&self.closed)?;
        let (mut n_states, mut known) = (0, closed.next()?);
        while let Some(state) = found.next()? {
            while known.is_some_and(|known| known < state) {
                known = closed.next()?;
            }
            if known != Some(state) {
                write_state(&mut level, &state)?;
                write_state(&mut run, &state)?;
                n_states += 1;
            }
        }
        level.flush()?;
        run.flush()?;
        self.closed.push(Run { path: fresh });
        remove(std::mem::take(&mut self.found));
        self.level_lens.push(n_states);
        self.merge_closed()
    }

    /// The states of a level, always in the same order.
    ///
    /// # Errors
    /// What the system says.
    pub fn level(&self, depth: usize) -> io::Result<States<W>> {
        match depth < self.level_lens.len() {
            true => States::open(&self.level_path(depth)),
            false => Ok(States { file: None }),
        }
    }

    /// The states of a level after so many of them.
    ///
    /// # Errors
    /// What the system says.
    pub fn level_from(&self, depth: usize, n_before: u64) -> io::Result<States<W>> {
        let mut states = self.level(depth)?;
        if let Some(file) = &mut states.file {
            file.seek(SeekFrom::Start(n_before * size_of::<Packed<W>>() as u64))?;
        }
        Ok(states)
    }

    /// Keeps the number of runs, and of open files, small.
    fn merge_closed(&mut self) -> io::Result<()> {
        if self.closed.len() >= MOST_RUNS {
            let merged = self.merged(&self.closed)?;
            debug_assert_eq!(merged.n_states, self.n_states(), "no state is in two levels");
            remove(std::mem::replace(&mut self.closed, vec![merged.run]));
        }
        Ok(())
    }

    fn merged(&self, runs: &[Run]) -> io::Result<Merged> {
        // A new run came before every merge, so that the name is free.
        let path = self.directory.join(format!("run-{}-merged", self.n_files));
        let mut merge = Merge::<W>::open(runs)?;
        let mut writer = writer(&path)?;
        let mut n_states = 0;
        while let Some(state) = merge.next()? {
            write_state(&mut writer, &state)?;
            n_states += 1;
        }
        writer.flush()?;
        Ok(Merged { run: Run { path }, n_states })
    }

    fn write_run(&mut self, states: &[Packed<W>]) -> io::Result<Run> {
        let path = self.next_path();
        write_all(&path, states)?;
        Ok(Run { path })
    }

    fn next_path(&mut self) -> PathBuf {
        self.n_files += 1;
        self.directory.join(format!("run-{}", self.n_files))
    }

    fn level_path(&self, depth: usize) -> PathBuf {
        self.directory.join(format!("level-{depth}"))
    }
}

impl<const W: usize> Drop for Spill<W> {
    fn drop(&mut self) {
        // Nobody goes on with it: checkpoints are elsewhere.
        fs::remove_dir_all(&self.directory).ok();
    }
}

/// Runs that became one.
struct Merged {
    run: Run,
    n_states: u64,
}

fn remove(runs: Vec<Run>) {
    for run in runs {
        // What cannot be removed now goes with the directory.
        fs::remove_file(&run.path).ok();
    }
}

fn writer(path: &std::path::Path) -> io::Result<BufWriter<File>> {
    Ok(BufWriter::with_capacity(BUFFER, File::create(path)?))
}

fn write_all<const W: usize>(path: &std::path::Path, states: &[Packed<W>]) -> io::Result<()> {
    let mut writer = writer(path)?;
    states.iter().try_for_each(|state| write_state(&mut writer, state))?;
    writer.flush()
}

fn write_state<const W: usize>(writer: &mut impl Write, state: &Packed<W>) -> io::Result<()> {
    writer.write_all(bytemuck::cast_slice(state))
}

/// States of a file, one after the other.
pub struct States<const W: usize> {
    file: Option<BufReader<File>>,
}

impl<const W: usize> States<W> {
    fn open(path: &std::path::Path) -> io::Result<Self> {
        Ok(States { file: Some(BufReader::with_capacity(BUFFER, File::open(path)?)) })
    }

    /// The next state; `None` at the end.
    ///
    /// # Errors
    /// What the system says, and a file that ends within a state.
    pub fn next(&mut self) -> io::Result<Option<Packed<W>>> {
        let Some(file) = &mut self.file else { return Ok(None) };
        let mut words = [0u64; W];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
        let n_first = file.read(bytes)?;
        if n_first == 0 {
            return Ok(None);
        }
        file.read_exact(&mut bytes[n_first..])?;
        Ok(Some(words))
    }
}

/// Sorted runs, read together in order; repetitions are left out.
struct Merge<const W: usize> {
    /// Each run with its next state.
    heads: Vec<(Option<Packed<W>>, States<W>)>,
}

impl<const W: usize> Merge<W> {
    fn open(runs: &[Run]) -> io::Result<Self> {
        let head = |run: &Run| -> io::Result<(Option<Packed<W>>, States<W>)> {
            let mut states = States::open(&run.path)?;
            Ok((states.next()?, states))
        };
        Ok(Merge { heads: runs.iter().map(head).collect::<io::Result<_>>()? })
    }

    fn next(&mut self) -> io::Result<Option<Packed<W>>> {
        let Some(least) = self.heads.iter().filter_map(|(head, _)| *head).min() else { return Ok(None) };
        for (head, states) in &mut self.heads {
            // A run has no repetitions once it is sorted and merged, but one of `found` may.
            while *head == Some(least) {
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

    fn level(spill: &Spill<2>, depth: usize) -> Vec<Packed<2>> {
        let mut states = spill.level(depth).unwrap();
        std::iter::from_fn(|| states.next().unwrap()).collect()
    }

    /// Random states, noted in random portions, against sets in memory.
    #[test]
    fn levels_are_what_is_new() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("spill");
        let mut spill = Spill::<2>::new(directory.clone()).unwrap();
        let mut random = 1u64;
        let mut number = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % below
        };
        let mut known: BTreeSet<Packed<2>> = (0..50).map(|at| [at, 7]).collect();
        spill.add_level(known.iter().rev().copied().collect()).unwrap();
        assert_eq!(level(&spill, 0), known.iter().rev().copied().collect::<Vec<_>>(), "the order stays");
        assert_eq!(spill.level_from(0, 48).unwrap().next().unwrap(), Some([1, 7]));
        for depth in 1..60 {
            let mut fresh = BTreeSet::new();
            for _ in 0..number(40) {
                let portion: Vec<Packed<2>> = (0..number(30)).map(|_| [number(900), number(3)]).collect();
                fresh.extend(portion.iter().copied().filter(|state| !known.contains(state)));
                spill.note(portion).unwrap();
            }
            spill.close_level().unwrap();
            assert_eq!(level(&spill, depth), fresh.iter().copied().collect::<Vec<_>>(), "level {depth}");
            assert_eq!(spill.level_len(depth), fresh.len() as u64);
            known.extend(fresh);
            assert_eq!(spill.n_states(), known.len() as u64);
        }
        assert!(fs::read_dir(&directory).unwrap().count() < 60 + 2 * MOST_RUNS, "runs are merged");
        drop(spill);
        assert!(!directory.exists());
    }
}
