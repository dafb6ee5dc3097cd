//! What is known of states, on disk: rows of words, sorted by the words of their state.
//!
//! In: rows, in any order; those of the same state are combined. Out: each state once, in order ([`RowSorter`], [`SortedRows`]); a table of such rows, which is read and changed in its
//! order, or brought together with sorted changes ([`RowTable`]); and rows one behind the other ([`RowQueue`]). Nothing is looked up row by row: changes are gathered, sorted in portions, merged, and then meet the table
//! in one reading, which leaves out blocks that no change is about (external sorting; for graphs: Edelkamp and Jabbar 2006, Barnat, Brim and Šimeček 2007).

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes that a reader or writer holds.
const BUFFER: usize = 1 << 16;

/// So many runs are there at most before they are merged.
const MOST_RUNS: usize = 16;

/// Rows in a file without a name, one behind the other, of which nothing is left however the program ends.
struct RowFile {
    file: Arc<File>,
    n_rows: u64,
}

impl RowFile {
    fn create(directory: &Path) -> io::Result<Self> {
        Ok(RowFile { file: Arc::new(tempfile::tempfile_in(directory)?), n_rows: 0 })
    }

    fn writer(&self) -> BufWriter<Arc<File>> {
        BufWriter::with_capacity(BUFFER, Arc::clone(&self.file))
    }
}

fn write_row(writer: &mut impl Write, row: &[u64]) -> io::Result<()> {
    row.iter().try_for_each(|word| writer.write_all(&word.to_le_bytes()))
}

/// What rows look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowShape {
    /// So many words of a row, the first ones, are its key.
    pub n_key: usize,
    /// So many words it has.
    pub n_words: usize,
}

/// Adds what a second row with the same key says, behind the key, to the first.
pub type CombineRows = fn(&mut [u64], &[u64]);

/// Sorts rows.
pub struct RowSorter {
    directory: PathBuf,
    shape: RowShape,
    combine: CombineRows,
    /// Rows that are in no run yet.
    portion: Vec<u64>,
    /// So many words are sorted at once.
    most_words: usize,
    runs: Vec<RowFile>,
}

impl RowSorter {
    /// A sorter of rows of this shape that holds so many bytes in memory, about.
    pub fn new(directory: &Path, shape: RowShape, most_bytes: u64, combine: CombineRows) -> Self {
        let most_words = (most_bytes / 8).clamp(1 << 10, 1 << 25) as usize / shape.n_words * shape.n_words;
        let most_words = most_words.max(shape.n_words);
        RowSorter { directory: directory.to_owned(), shape, combine, portion: Vec::new(), most_words, runs: Vec::new() }
    }

    /// Adds a row: its key, and what stands behind it.
    ///
    /// # Errors
    /// What the system says.
    pub fn push(&mut self, key: &[u64], rest: &[u64]) -> io::Result<()> {
        debug_assert_eq!((key.len(), key.len() + rest.len()), (self.shape.n_key, self.shape.n_words));
        self.portion.extend_from_slice(key);
        self.portion.extend_from_slice(rest);
        if self.portion.len() < self.most_words {
            return Ok(());
        }
        let rows = self.sorted_portion();
        let mut run = RowFile::create(&self.directory)?;
        let mut writer = run.writer();
        write_row(&mut writer, &rows)?;
        writer.flush()?;
        run.n_rows = (rows.len() / self.shape.n_words) as u64;
        self.runs.push(run);
        if self.runs.len() == MOST_RUNS { self.merge_runs() } else { Ok(()) }
    }

    /// The rows of the portion in order, each key once; the portion is empty then.
    fn sorted_portion(&mut self) -> Vec<u64> {
        let RowShape { n_key, n_words } = self.shape;
        let portion = std::mem::take(&mut self.portion);
        let mut order: Vec<&[u64]> = portion.chunks_exact(n_words).collect();
        order.sort_unstable_by(|a, b| a[..n_key].cmp(&b[..n_key]));
        let mut rows: Vec<u64> = Vec::with_capacity(portion.len());
        for row in order {
            match rows.len().checked_sub(n_words) {
                Some(last) if rows[last..last + n_key] == row[..n_key] => {
                    (self.combine)(&mut rows[last + n_key..], &row[n_key..]);
                }
                _ => rows.extend_from_slice(row),
            }
        }
        rows
    }

    /// Makes one run of all.
    fn merge_runs(&mut self) -> io::Result<()> {
        let mut merged = RowFile::create(&self.directory)?;
        let mut writer = merged.writer();
        let runs = std::mem::take(&mut self.runs);
        let mut sorted = SortedRows::new(runs, Vec::new(), self.shape, self.combine)?;
        while let Some(row) = sorted.next()? {
            write_row(&mut writer, row)?;
            merged.n_rows += 1;
        }
        writer.flush()?;
        self.runs.push(merged);
        Ok(())
    }

    /// All rows in order.
    ///
    /// # Errors
    /// What the system says.
    pub fn finish(mut self) -> io::Result<SortedRows> {
        let rows = self.sorted_portion();
        SortedRows::new(self.runs, rows, self.shape, self.combine)
    }
}

/// Rows in order, each key once.
pub struct SortedRows {
    cursors: Vec<RowCursor>,
    shape: RowShape,
    combine: CombineRows,
    /// The row that was given last.
    row: Vec<u64>,
    /// The runs that the cursors read.
    _runs: Vec<RowFile>,
}

impl SortedRows {
    fn new(runs: Vec<RowFile>, rows: Vec<u64>, shape: RowShape, combine: CombineRows) -> io::Result<Self> {
        let in_memory = RowCursor { file: None, n_words: shape.n_words, next: 0, end: 0, buffer: rows, at: 0 };
        let mut cursors = vec![in_memory];
        for run in &runs {
            let mut cursor = RowCursor::new(run, shape.n_words);
            cursor.fill()?;
            cursors.push(cursor);
        }
        Ok(SortedRows { cursors, shape, combine, row: Vec::new(), _runs: runs })
    }

    /// The next row; `None` at the end.
    ///
    /// # Errors
    /// What the system says, and a file that ends too early.
    pub fn next(&mut self) -> io::Result<Option<&[u64]>> {
        let n_key = self.shape.n_key;
        let heads = self.cursors.iter().enumerate().filter_map(|(at, cursor)| Some((at, cursor.head()?)));
        let Some((first, head)) = heads.min_by(|(_, a), (_, b)| a[..n_key].cmp(&b[..n_key])) else { return Ok(None) };
        self.row.clear();
        self.row.extend_from_slice(head);
        self.cursors[first].advance()?;
        for cursor in &mut self.cursors {
            // A run has each key once.
            if let Some(head) = cursor.head()
                && head[..n_key] == self.row[..n_key]
            {
                (self.combine)(&mut self.row[n_key..], &head[n_key..]);
                cursor.advance()?;
            }
        }
        Ok(Some(&self.row))
    }
}

/// Reads rows one after the other; where there is no file, those in the buffer.
struct RowCursor {
    file: Option<Arc<File>>,
    n_words: usize,
    /// The first row that was not read, and behind the last one.
    next: u64,
    end: u64,
    buffer: Vec<u64>,
    /// What of the buffer was given.
    at: usize,
}

impl RowCursor {
    fn new(spool: &RowFile, n_words: usize) -> Self {
        RowCursor {
            file: Some(Arc::clone(&spool.file)),
            n_words,
            next: 0,
            end: spool.n_rows,
            buffer: Vec::new(),
            at: 0,
        }
    }

    /// The row at which it stands.
    fn head(&self) -> Option<&[u64]> {
        self.buffer.get(self.at..self.at + self.n_words)
    }

    fn advance(&mut self) -> io::Result<()> {
        self.at += self.n_words;
        if self.at >= self.buffer.len() { self.fill() } else { Ok(()) }
    }

    fn fill(&mut self) -> io::Result<()> {
        let n_rows = (self.end - self.next).min(rows_of_a_block(self.n_words) as u64);
        self.buffer.clear();
        self.at = 0;
        if let Some(file) = &self.file {
            read_rows(file, self.next, n_rows as usize * self.n_words, self.n_words, &mut self.buffer)?;
        }
        self.next += n_rows;
        Ok(())
    }
}

fn rows_of_a_block(n_words: usize) -> usize {
    (BUFFER / 8 / n_words).max(1)
}

/// Reads so many words from a row on. Readers and writers of a file share its position.
fn read_rows(mut file: &File, row: u64, n_read: usize, n_words: usize, words: &mut Vec<u64>) -> io::Result<()> {
    let mut bytes = vec![0; 8 * n_read];
    file.seek(SeekFrom::Start(row * 8 * n_words as u64))?;
    file.read_exact(&mut bytes)?;
    words.clear();
    words.extend(bytes.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes)));
    Ok(())
}

/// SortedRows rows in a file, which may change but for their keys.
pub struct RowTable {
    spool: RowFile,
    shape: RowShape,
    /// The first key of each block, one behind the other.
    firsts: Vec<u64>,
}

impl RowTable {
    /// A table of sorted rows, each made of a row of another shape with the same keys.
    ///
    /// # Errors
    /// What the system says.
    pub fn new(
        directory: &Path,
        shape: RowShape,
        mut rows: SortedRows,
        mut make: impl FnMut(&[u64], &mut Vec<u64>),
    ) -> io::Result<Self> {
        let mut table = RowTable { spool: RowFile::create(directory)?, shape, firsts: Vec::new() };
        let mut writer = table.spool.writer();
        let mut row = Vec::new();
        while let Some(from) = rows.next()? {
            row.clear();
            make(from, &mut row);
            debug_assert_eq!(row.len(), shape.n_words);
            if table.spool.n_rows.is_multiple_of(rows_of_a_block(shape.n_words) as u64) {
                table.firsts.extend_from_slice(&row[..shape.n_key]);
            }
            write_row(&mut writer, &row)?;
            table.spool.n_rows += 1;
        }
        writer.flush()?;
        Ok(table)
    }

    /// How many rows there are.
    pub fn n_rows(&self) -> u64 {
        self.spool.n_rows
    }

    fn n_blocks(&self) -> usize {
        self.firsts.len() / self.shape.n_key
    }

    /// The first key of a block.
    fn first(&self, block: usize) -> Option<&[u64]> {
        self.firsts.get(block * self.shape.n_key..(block + 1) * self.shape.n_key)
    }

    fn read(&self, block: usize, words: &mut Vec<u64>) -> io::Result<()> {
        let row = (block * rows_of_a_block(self.shape.n_words)) as u64;
        let n_rows = (self.spool.n_rows - row).min(rows_of_a_block(self.shape.n_words) as u64);
        read_rows(&self.spool.file, row, n_rows as usize * self.shape.n_words, self.shape.n_words, words)
    }

    fn write(&self, block: usize, words: &[u64]) -> io::Result<()> {
        let row = (block * rows_of_a_block(self.shape.n_words)) as u64;
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut file = &*self.spool.file;
        file.seek(SeekFrom::Start(row * 8 * self.shape.n_words as u64))?;
        file.write_all(&bytes)
    }

    /// Shows all rows in order; `visit` may change what stands behind the key, and says whether it did.
    ///
    /// # Errors
    /// What the system says, and what `visit` does.
    pub fn scan(&mut self, mut visit: impl FnMut(&mut [u64]) -> io::Result<bool>) -> io::Result<()> {
        let mut words = Vec::new();
        for block in 0..self.n_blocks() {
            self.read(block, &mut words)?;
            let mut is_changed = false;
            for row in words.chunks_exact_mut(self.shape.n_words) {
                is_changed |= visit(row)?;
            }
            if is_changed {
                self.write(block, &words)?;
            }
        }
        Ok(())
    }

    /// Brings changes to the rows with their keys: `apply` gets a row, and what stands behind the key of the change. How many changes are about a row that is not there.
    ///
    /// # Errors
    /// What the system says, and what `apply` does.
    pub fn change(
        &mut self,
        mut changes: SortedRows,
        mut apply: impl FnMut(&mut [u64], &[u64]) -> io::Result<()>,
    ) -> io::Result<u64> {
        let RowShape { n_key, n_words } = self.shape;
        let (mut words, mut at, mut block, mut n_lost) = (Vec::new(), 0, None, 0);
        while let Some(change) = changes.next()? {
            let key = &change[..n_key];
            // The block in which the key would be: the last one that begins with it, or before it.
            let wanted = self.block_of(key, block.unwrap_or(0));
            if block != wanted {
                if let Some(block) = block {
                    self.write(block, &words)?;
                }
                block = wanted;
                at = 0;
                if let Some(block) = block {
                    self.read(block, &mut words)?;
                }
            }
            while at < words.len() && words[at..at + n_key] < *key {
                at += n_words;
            }
            match words.get_mut(at..at + n_words).filter(|row| row[..n_key] == *key) {
                Some(row) if block.is_some() => apply(row, &change[n_key..])?,
                _ => n_lost += 1,
            }
        }
        if let Some(block) = block {
            self.write(block, &words)?;
        }
        Ok(n_lost)
    }

    /// The block that has a key if one has, among those from a block on.
    fn block_of(&self, key: &[u64], from: usize) -> Option<usize> {
        let (mut low, mut high) = (from, self.n_blocks());
        // All blocks before `low` begin with the key or before it, none from `high` on does.
        while low < high {
            let middle = low.midpoint(high);
            match self.first(middle) {
                Some(first) if first <= key => low = middle + 1,
                _ => high = middle,
            }
        }
        low.checked_sub(1)
    }
}

/// Rows one behind the other.
pub struct RowQueue {
    spool: RowFile,
    n_words: usize,
    writer: BufWriter<Arc<File>>,
}

impl RowQueue {
    /// An empty queue of rows of so many words.
    ///
    /// # Errors
    /// What the system says.
    pub fn new(directory: &Path, n_words: usize) -> io::Result<Self> {
        let spool = RowFile::create(directory)?;
        let writer = spool.writer();
        Ok(RowQueue { spool, n_words, writer })
    }

    /// How many rows there are.
    pub fn n_rows(&self) -> u64 {
        self.spool.n_rows
    }

    /// Adds a row.
    ///
    /// # Errors
    /// What the system says.
    pub fn push(&mut self, row: &[u64]) -> io::Result<()> {
        debug_assert_eq!(row.len(), self.n_words);
        self.spool.n_rows += 1;
        write_row(&mut self.writer, row)
    }

    /// Shows all rows, the first one first.
    ///
    /// # Errors
    /// What the system says, and what `visit` does.
    pub fn drain(mut self, mut visit: impl FnMut(&[u64]) -> io::Result<()>) -> io::Result<()> {
        self.writer.flush()?;
        let mut cursor = RowCursor::new(&self.spool, self.n_words);
        cursor.fill()?;
        while let Some(row) = cursor.head() {
            visit(row)?;
            cursor.advance()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn add(sum: &mut [u64], more: &[u64]) {
        sum[0] += more[0];
    }

    /// Random rows against a map in memory: sorted and combined, then changed, by portions so small that there are many runs and blocks.
    #[test]
    fn rows_are_sorted_combined_and_changed() {
        let directory = std::env::temp_dir().join(format!("piecewise-rows-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let shape = RowShape { n_key: 2, n_words: 3 };
        let mut random = 1u64;
        let mut number = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % below
        };
        let mut sorter = RowSorter::new(&directory, shape, 0, add);
        let mut known: BTreeMap<[u64; 2], u64> = BTreeMap::new();
        for _ in 0..40_000 {
            let (key, more) = ([number(40), number(300)], number(9));
            *known.entry(key).or_default() += more;
            sorter.push(&key, &[more]).unwrap();
        }
        assert!(!sorter.runs.is_empty());
        let mut table =
            RowTable::new(&directory, shape, sorter.finish().unwrap(), |from, row| row.extend_from_slice(from))
                .unwrap();
        assert!(table.n_blocks() > 3 && table.n_rows() == known.len() as u64);
        let rows = |table: &mut RowTable| {
            let mut rows = BTreeMap::new();
            table.scan(|row| Ok(rows.insert([row[0], row[1]], row[2]).is_some())).unwrap();
            rows
        };
        assert_eq!(rows(&mut table), known);
        for n_changes in [1, 5, 3_000, 0] {
            let mut changes = RowSorter::new(&directory, shape, 0, add);
            let mut lost = std::collections::BTreeSet::new();
            for _ in 0..n_changes {
                let (key, more) = ([number(42), number(310)], number(9));
                changes.push(&key, &[more]).unwrap();
                match known.get_mut(&key) {
                    Some(sum) => *sum += more,
                    None => drop(lost.insert(key)),
                }
            }
            let n_lost = table.change(changes.finish().unwrap(), |row, more| {
                row[2] += more[0];
                Ok(())
            });
            assert_eq!(n_lost.unwrap(), lost.len() as u64);
            assert_eq!(rows(&mut table), known);
        }
        let mut queue = RowQueue::new(&directory, 3).unwrap();
        table.scan(|row| queue.push(row).map(|()| false)).unwrap();
        let mut seen = BTreeMap::new();
        let mut note = |row: &[u64]| seen.insert([row[0], row[1]], row[2]);
        queue.drain(|row| note(row).map_or(Ok(()), |_| Err(io::ErrorKind::AlreadyExists.into()))).unwrap();
        assert_eq!(seen, known);
        #[cfg(unix)]
        std::fs::remove_dir(&directory).unwrap();
    }
}
