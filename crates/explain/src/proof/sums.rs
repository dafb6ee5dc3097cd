//! Sums and differences of two cells as columns of their own: what is said of `a + b` need not be said of each value of `a`.
//!
//! In: rows over classes of numbers. Out: a [`SumColumn`] for each two cells with numbers whose sum (or difference) has few values in the rows, and the
//! rows with its class added. What the sum of two numbers is, is given: [`SumColumn::definition`] excludes everything else, and no sentence says it.

use evidence::certificate::Column;
use model::types::ScalarType;
use model::value::Value;

use super::cover::{Exclusion, all};
use super::formula::{SentenceFormula, Test, ValueTerm};
use super::tree::ClassRowSet;
use super::words::{InvariantWords, ProcessNames};

/// No more sums than this are added to the columns of a member.
const MOST_SUMS: usize = 3;
/// Cells with fewer values that occur are not added: single values say as much.
const FEWEST_VALUES: usize = 3;

/// The sum or difference of two cells.
#[derive(Clone, Debug)]
pub(super) struct SumColumn {
    /// The first cell's column.
    pub one: usize,
    /// The second cell's column.
    pub other: usize,
    /// How often the second is added: once, or it is subtracted.
    times: i64,
    /// The sum of each class of the two columns.
    sums: Vec<Vec<Option<i64>>>,
    /// The sum that number 0 denotes.
    least: i64,
    /// The sums that occur, ascending: a class each. All others are one more.
    occurring: Vec<i64>,
}

impl SumColumn {
    /// The sums and differences of columns that have few values in the rows, those with fewest first.
    pub fn find(words: &InvariantWords<'_>, columns: &[Column], set: &ClassRowSet) -> Vec<SumColumn> {
        let values: Vec<Option<Vec<Option<i64>>>> =
            (0..columns.len()).map(|column| class_values(words, columns[column], column, set)).collect();
        let mut found: Vec<SumColumn> = Vec::new();
        for one in 0..columns.len() {
            for other in one + 1..columns.len() {
                let (Some(first), Some(second)) = (&values[one], &values[other]) else { continue };
                for times in [1, -1] {
                    found.extend(SumColumn::new((one, first), (other, second), times, set));
                }
            }
        }
        found.sort_by_key(|sum| sum.occurring.len());
        found.truncate(MOST_SUMS);
        found
    }

    fn new(
        (one, first): (usize, &[Option<i64>]),
        (other, second): (usize, &[Option<i64>]),
        times: i64,
        set: &ClassRowSet,
    ) -> Option<SumColumn> {
        let add = |a: Option<i64>, b: Option<i64>| a?.checked_add(b?.checked_mul(times)?);
        let sums: Vec<Vec<Option<i64>>> = first.iter().map(|&a| second.iter().map(|&b| add(a, b)).collect()).collect();
        let mut occurring = set.rows.iter().map(|row| sums[row[one]][row[other]]).collect::<Option<Vec<i64>>>()?;
        occurring.sort_unstable();
        occurring.dedup();
        let known = |values: &[Option<i64>]| values.iter().flatten().count();
        // Of independent numbers there are nearly as many sums as numbers of both; where one is at most the other, half as many.
        let is_few = 2 * occurring.len() <= known(first) + known(second);
        let least = sums.iter().flatten().flatten().copied().min()?;
        (is_few && occurring.len() < 64).then_some(SumColumn { one, other, times, sums, least, occurring })
    }

    /// The class of the sum in a row.
    pub fn class(&self, row: &[usize]) -> usize {
        let sum = self.sums[row[self.one]][row[self.other]];
        let at = sum.and_then(|sum| self.occurring.binary_search(&sum).ok());
        at.unwrap_or(self.occurring.len())
    }

    /// The numbers of each class: how much more than the least sum it is.
    pub fn numbers(&self) -> Vec<Vec<u32>> {
        let number = |sum: i64| u32::try_from(sum - self.least).unwrap_or(u32::MAX);
        let mut classes: Vec<Vec<u32>> = self.occurring.iter().map(|&sum| vec![number(sum)]).collect();
        let mut others: Vec<u32> = { self.sums.iter().flatten().flatten() }
            .filter(|sum| self.occurring.binary_search(sum).is_err())
            .map(|&sum| number(sum))
            .collect();
        others.sort_unstable();
        others.dedup();
        if !others.is_empty() {
            classes.push(others);
        }
        classes
    }

    /// What is excluded since it is no sum, where this is the column `at` with so many classes.
    pub fn definition(&self, at: usize, n_classes: usize) -> Vec<Exclusion> {
        let mut found = Vec::new();
        for (a, row) in self.sums.iter().enumerate() {
            for (b, sum) in row.iter().enumerate().filter(|(_, sum)| sum.is_some()) {
                let class = sum.and_then(|sum| self.occurring.binary_search(&sum).ok());
                let bit = 1_u64 << class.unwrap_or(self.occurring.len());
                found.push(vec![(self.one, 1 << a), (self.other, 1 << b), (at, all(n_classes) & !bit)]);
            }
        }
        found.retain(|one: &Exclusion| one[2].1 != 0);
        found
    }

    /// That the sum has one of the numbers `inside`, of those that it can have at all.
    pub fn says(
        &self,
        (words, columns): (&InvariantWords<'_>, &[Column]),
        inside: &[u32],
        present: &[u32],
        names: &ProcessNames,
    ) -> SentenceFormula {
        let outside: Vec<u32> = present.iter().copied().filter(|number| !inside.contains(number)).collect();
        let sum = |number: u32| self.least + i64::from(number);
        let list = |numbers: &[u32]| -> Vec<ValueTerm> {
            numbers.iter().map(|&number| ValueTerm::Plain(Value::Int(sum(number)))).collect()
        };
        let term = |column: usize| match columns[column] {
            Column::Cell(cell) => Some(words.cell(cell, names)),
            Column::Control(_) | Column::Exposed(_) => None,
        };
        let (Some(one), Some(other)) = (term(self.one), term(self.other)) else {
            return SentenceFormula::Constant(true);
        };
        let passes = |test: Test| SentenceFormula::Sum(vec![(1, one.clone()), (self.times, other.clone())], test);
        match (inside, &outside[..]) {
            ([], _) => SentenceFormula::Constant(false),
            (_, []) => SentenceFormula::Constant(true),
            ([_], _) => passes(Test::In(list(inside))),
            (_, [_]) => passes(Test::NotIn(list(&outside))),
            ([.., last], [first, ..]) if last < first => passes(Test::AtMost(sum(*last))),
            ([first, ..], [.., last]) if last < first => passes(Test::AtLeast(sum(*first))),
            _ if inside.len() <= outside.len() => passes(Test::In(list(inside))),
            _ => passes(Test::NotIn(list(&outside))),
        }
    }
}

/// The value of each class that occurs, where the column is a cell with numbers of which enough occur, each distinguished from all others.
fn class_values(words: &InvariantWords<'_>, column: Column, at: usize, set: &ClassRowSet) -> Option<Vec<Option<i64>>> {
    let Column::Cell(cell) = column else { return None };
    let ty = words.model.cells[cell].ty;
    if !matches!(ty, ScalarType::Range { .. } | ScalarType::Semaphore { .. }) {
        return None;
    }
    let values: Vec<Value> = ty.values(words.model.type_context()).collect();
    let mut found: Vec<Option<i64>> = vec![None; set.numbers[at].len()];
    for row in &set.rows {
        let [number] = set.numbers[at][row[at]][..] else { return None };
        let Value::Int(value) = values.get(number as usize)? else { return None };
        found[row[at]] = Some(*value);
    }
    (found.iter().flatten().count() >= FEWEST_VALUES).then_some(found)
}
