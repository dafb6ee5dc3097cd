//! A set of rows as a conjunction of clauses: what cannot be, said with few words (two-level minimisation, many-valued).
//!
//! In: rows over classes of numbers. Out: **exclusions**, each a box of numbers that contains no row, such that what is outside all of
//! them is exactly the set. First come all largest boxes over one and two columns, which are the short sentences; points that these
//! leave over are each enlarged to a box that cannot grow. Then kinds of boxes that the others make superfluous are dropped, a whole
//! kind at a time, so that a sentence about one process is one about all.

use std::cell::Cell;
use std::collections::HashSet;

/// A search for one point that takes more than this many tries is given up.
const MOST_TRIES: usize = 300_000;
/// All searches for one set are given up that compare more points with boxes and rows than this: a fraction of a second.
const MOST_COMPARED: usize = 50_000_000;
/// No reader takes in more boxes than this.
const MOST_BOXES: usize = 3_000;

/// A box that contains no row: for some columns, in ascending order, the classes that it covers, as bits.
pub(super) type Exclusion = Vec<(usize, u64)>;

/// A set of rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowSet<'a> {
    /// How many classes each column has; at most 64.
    pub sizes: &'a [usize],
    /// The rows.
    pub rows: &'a [Vec<usize>],
}

impl RowSet<'_> {
    /// The exclusions, given that `fixed` ones are said already; `None` where there are too many.
    ///
    /// `kind` says which exclusions are of one kind, to be kept or dropped together.
    pub fn exclusions(&self, fixed: &[Exclusion], kind: &dyn Fn(&Exclusion) -> String) -> Option<Vec<Exclusion>> {
        if self.sizes.iter().any(|&size| size > 64) {
            return None;
        }
        let mut boxes: Vec<Exclusion> = self.single();
        boxes.extend(self.double());
        if boxes.len() > MOST_BOXES {
            return None;
        }
        boxes.retain(|one| !fixed.contains(one));
        let compared = Cell::new(0);
        while let Some(point) = self.left_over(&[fixed, &boxes], &compared)? {
            let grown = self.grown(&point);
            compared.set(compared.get() + self.rows.len() * self.sizes.iter().sum::<usize>());
            boxes.push(grown);
            if boxes.len() > MOST_BOXES {
                return None;
            }
        }
        self.without_superfluous(boxes, fixed, kind, &compared)
    }

    /// Classes that no row has, column by column.
    pub fn single(&self) -> Vec<Exclusion> {
        let missing = |column: usize| {
            let present = self.rows.iter().fold(0_u64, |seen, row| seen | 1 << row[column]);
            all(self.sizes[column]) & !present
        };
        let columns = (0..self.sizes.len()).map(|column| (column, missing(column)));
        columns.filter(|(_, missing)| *missing != 0).map(|one| vec![one]).collect()
    }

    /// Largest boxes over two columns that contain no row, and that are not boxes over one.
    fn double(&self) -> Vec<Exclusion> {
        let mut found = Vec::new();
        for one in 0..self.sizes.len() {
            for other in one + 1..self.sizes.len() {
                found.extend(self.rectangles(one, other).into_iter().map(|(a, b)| vec![(one, a), (other, b)]));
            }
        }
        found
    }

    fn rectangles(&self, one: usize, other: usize) -> Vec<(u64, u64)> {
        let mut met = vec![0_u64; self.sizes[one]];
        self.rows.iter().for_each(|row| met[row[one]] |= 1 << row[other]);
        let present = met.iter().fold(0, |seen, &with| seen | with);
        // What is missing beside each class; the missing parts of largest boxes are intersections of these.
        let missing: Vec<u64> = met.iter().map(|&with| if with == 0 { 0 } else { present & !with }).collect();
        let mut parts: Vec<u64> = Vec::new();
        for &start in &missing {
            let mut new: Vec<u64> = parts.iter().map(|part| part & start).chain([start]).collect();
            new.retain(|part| *part != 0 && !parts.contains(part));
            new.sort_unstable();
            new.dedup();
            parts.extend(new);
            if parts.len() > 64 {
                parts.truncate(64);
            }
        }
        let with = |part: u64| {
            let covered = missing.iter().enumerate().filter(|(_, missing)| part & !**missing == 0);
            covered.fold(0_u64, |bits, (class, _)| bits | 1 << class)
        };
        let mut boxes: Vec<(u64, u64)> = parts.iter().map(|&part| (with(part), part)).collect();
        boxes.retain(|(classes, _)| *classes != 0);
        boxes
    }

    /// A point that is not in the set and that nothing excludes. `None` outside: the search took too long.
    #[expect(clippy::option_option, reason = "giving up and finding nothing are different answers")]
    fn left_over(&self, boxes: &[&[Exclusion]], compared: &Cell<usize>) -> Option<Option<Vec<usize>>> {
        let mut ending: Vec<Vec<&Exclusion>> = vec![Vec::new(); self.sizes.len()];
        for one in boxes.iter().copied().flatten() {
            if let Some((last, _)) = one.last() {
                ending[*last].push(one);
            }
        }
        let known: HashSet<&[usize]> = self.rows.iter().map(Vec::as_slice).collect();
        let mut search = CoverSearch { sizes: self.sizes, ending, known, tries: 0, compared };
        search.find(&mut Vec::new())
    }

    /// The point, enlarged column by column to a box that contains no row and that cannot grow.
    fn grown(&self, point: &[usize]) -> Exclusion {
        let mut grown: Vec<u64> = point.iter().map(|&class| 1 << class).collect();
        let meets =
            |grown: &[u64]| self.rows.iter().any(|row| row.iter().zip(grown).all(|(&at, bits)| bits >> at & 1 == 1));
        for column in 0..grown.len() {
            let kept = std::mem::replace(&mut grown[column], all(self.sizes[column]));
            if meets(&grown) {
                grown[column] = kept;
            }
        }
        for column in 0..grown.len() {
            for class in 0..self.sizes[column] {
                let kept = grown[column];
                grown[column] |= 1 << class;
                if meets(&grown) {
                    grown[column] = kept;
                }
            }
        }
        let columns = grown.iter().enumerate().filter(|(column, bits)| **bits != all(self.sizes[*column]));
        columns.map(|(column, &bits)| (column, bits)).collect()
    }

    /// Drops kinds of boxes without which the others still say everything, those with most columns first.
    fn without_superfluous(
        &self,
        mut boxes: Vec<Exclusion>,
        fixed: &[Exclusion],
        kind: &dyn Fn(&Exclusion) -> String,
        compared: &Cell<usize>,
    ) -> Option<Vec<Exclusion>> {
        let mut kinds: Vec<(usize, String)> = boxes.iter().map(|one| (one.len(), kind(one))).collect();
        kinds.sort_by(|one, other| {
            other.0.cmp(&one.0).then_with(|| other.1.len().cmp(&one.1.len())).then(one.1.cmp(&other.1))
        });
        kinds.dedup();
        for (n_columns, shape) in kinds {
            let is_it = |one: &Exclusion| one.len() == n_columns && kind(one) == shape;
            let rest: Vec<Exclusion> = boxes.iter().filter(|one| !is_it(one)).cloned().collect();
            if self.left_over(&[fixed, &rest], compared)?.is_none() {
                boxes = rest;
            }
        }
        Some(boxes)
    }
}

/// All classes of a column.
pub(super) fn all(size: usize) -> u64 {
    if size >= 64 { u64::MAX } else { (1 << size) - 1 }
}

/// A search for a point that nothing excludes.
struct CoverSearch<'a> {
    sizes: &'a [usize],
    /// The exclusions by their last column.
    ending: Vec<Vec<&'a Exclusion>>,
    known: HashSet<&'a [usize]>,
    tries: usize,
    /// What all searches for the set have compared.
    compared: &'a Cell<usize>,
}

impl CoverSearch<'_> {
    #[expect(clippy::option_option, reason = "giving up and finding nothing are different answers")]
    fn find(&mut self, point: &mut Vec<usize>) -> Option<Option<Vec<usize>>> {
        let column = point.len();
        if column == self.sizes.len() {
            return Some((!self.known.contains(point.as_slice())).then(|| point.clone()));
        }
        for class in 0..self.sizes[column] {
            self.tries += 1;
            self.compared.set(self.compared.get() + 1 + self.ending[column].len());
            if self.tries > MOST_TRIES || self.compared.get() > MOST_COMPARED {
                return None;
            }
            point.push(class);
            let inside = |one: &&Exclusion| one.iter().all(|&(column, bits)| bits >> point[column] & 1 == 1);
            if !self.ending[column].iter().any(inside)
                && let Some(found) = self.find(point)?
            {
                return Some(Some(found));
            }
            point.pop();
        }
        Some(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(sizes: &[usize]) -> Vec<Vec<usize>> {
        sizes.iter().fold(vec![Vec::new()], |rows, &size| {
            let extended = |row: Vec<usize>| (0..size).map(move |class| [row.clone(), vec![class]].concat());
            rows.into_iter().flat_map(extended).collect()
        })
    }

    #[test]
    fn what_meets_no_exclusion_is_exactly_the_set() {
        let mut state = 7_u64;
        for case in 0..200 {
            let sizes = [2 + case % 3, 2, 3, 1 + case % 4];
            let percent = 5 + case as u64 % 90;
            let mut random = || {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state
            };
            let rows: Vec<Vec<usize>> = product(&sizes).into_iter().filter(|_| random() % 100 < percent).collect();
            let set = RowSet { sizes: &sizes, rows: &rows };
            let boxes = set.exclusions(&[], &|one| format!("{one:?}")).unwrap();
            let excluded = |point: &Vec<usize>| {
                boxes.iter().any(|one| one.iter().all(|&(column, bits)| bits >> point[column] & 1 == 1))
            };
            let left: Vec<Vec<usize>> = product(&sizes).into_iter().filter(|point| !excluded(point)).collect();
            assert_eq!(left, rows, "case {case}: {boxes:?}");
        }
    }

    #[test]
    fn a_lock_is_said_in_three_kinds_of_sentences() {
        // x, and whether each of four processes is inside.
        let inside = |who: usize| (0..5).map(|at| usize::from(at == who)).collect::<Vec<_>>();
        let mut rows: Vec<Vec<usize>> = (1..5).map(inside).collect();
        rows.push(vec![1, 0, 0, 0, 0]);
        rows.sort();
        let sizes = [2; 5];
        let kind = |one: &Exclusion| format!("{} {}", one[0].0 == 0, one.len());
        let boxes = RowSet { sizes: &sizes, rows: &rows }.exclusions(&[], &kind).unwrap();
        let lens = |len| boxes.iter().filter(|one| one.len() == len).count();
        assert_eq!((lens(2), lens(5), boxes.len()), (4 + 6, 1, 11), "{boxes:?}");
    }
}
