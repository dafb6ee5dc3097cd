//! Candidates for sums: weights of classes, followed from where processes start along their steps.
//!
//! In: how steps change classes and cells, found without sums. Out: multiples of cells, and weights of classes, that steps keep. The weight of a
//! class is what the cells change by on the way to it; two ways to a class, or back to one, have to agree, which is an equation for the multiples
//! of the cells. All solutions are tried, and each cell by itself, for which the shortest way is believed; whether a candidate is right, the
//! closure with these sums finds out.

use std::collections::VecDeque;

use evidence::views::SharedColumn;
use model::process::FamilyId;
use model::size::Size;
use rustc_hash::FxHashMap;

use super::closure::{Closure, Edge, Weighed, number_of};
use super::form::Term;
use super::roster::{ClassMember, CountingItem, CountingView, Roster};
use super::solve::Fraction;

/// More cells are not looked at together.
const MOST_CELLS: usize = 16;

/// For each cell how much it has changed on the way to a class; `None` where that is not known.
type Way = Vec<Option<i64>>;

/// The same for each class.
type Changes = FxHashMap<(ClassMember, Vec<CountingItem>), Way>;

/// Sums that the steps of a closure suggest.
pub fn candidates(closure: &Closure<'_, '_>) -> Vec<Weighed> {
    let n_cells = closure.cells.len();
    let Some(starts) = (n_cells > 0).then(|| starts(closure)) else { return Vec::new() };
    let ways = ways(closure, &starts);
    let mut choices: Vec<Vec<i64>> = (0..n_cells).map(|at| unit(n_cells, at)).collect();
    if n_cells <= MOST_CELLS {
        choices.extend(together(closure, &starts, &ways));
    }
    let mut found: Vec<Weighed> = Vec::new();
    for multiples in choices {
        if let Some(sum) = candidate(closure, &starts, (&ways, &multiples))
            && !found.iter().any(|other| other.cells == sum.cells)
        {
            found.push(sum);
        }
    }
    found
}

fn unit(n: usize, at: usize) -> Vec<i64> {
    (0..n).map(|one| i64::from(one == at)).collect()
}

/// What each cell starts with: a constant, and so much for each process of a family.
struct Start {
    constant: i64,
    each: Vec<(FamilyId, i64)>,
}

fn starts(closure: &Closure<'_, '_>) -> Vec<Option<Start>> {
    let roster = closure.roster;
    let start = |&cell: &model::variable::CellId| {
        if roster.counted.contains(&cell) {
            let first = roster.first_number(cell)?;
            let each = first.terms.iter().map(|(term, &times)| {
                let Term::Size(parameter) = term else { return None };
                let is_sized = |family: &&FamilyId| {
                    matches!(roster.text.families[**family].size, Size::Parameter(of) if of == *parameter)
                };
                Some((*roster.many.iter().find(is_sized)?, times))
            });
            return Some(Start { constant: first.constant, each: each.collect::<Option<_>>()? });
        }
        let column = roster.shared_column(SharedColumn::Cell(cell))?;
        let mut firsts = closure.starts.iter().map(|view| number_of(view.shared[column]));
        let constant = firsts.next()??;
        firsts.all(|other| other == Some(constant)).then_some(Start { constant, each: Vec::new() })
    };
    closure.cells.iter().map(start).collect()
}

fn first_classes(closure: &Closure<'_, '_>) -> Vec<(ClassMember, Vec<CountingItem>)> {
    let roster = closure.roster;
    let of_view = |view: &CountingView| {
        let singles = roster.singles.iter().map(|&id| (ClassMember::Single(id), roster.single_class(id, &view.shared)));
        singles.chain([(ClassMember::Family(view.family), Roster::class(&view.local))]).collect::<Vec<_>>()
    };
    closure.starts.iter().flat_map(of_view).collect()
}

/// The way to each class.
fn ways(closure: &Closure<'_, '_>, starts: &[Option<Start>]) -> Changes {
    let mut ways = Changes::default();
    let mut open = VecDeque::new();
    for (member, class) in first_classes(closure) {
        // A named process is one of its family, too.
        let family = match member {
            ClassMember::Family(family) => family,
            ClassMember::Single(id) => closure.roster.model.processes[id].family,
        };
        let weight = |start: &Option<Start>| {
            let each = &start.as_ref()?.each;
            Some(each.iter().find(|(of, _)| *of == family).map_or(0, |(_, times)| *times))
        };
        let way = starts.iter().map(weight).collect();
        if ways.insert((member, class.clone()), way).is_none() {
            open.push_back((member, class));
        }
    }
    let mut edges: FxHashMap<(ClassMember, &[CountingItem]), Vec<&Edge>> = FxHashMap::default();
    for edge in &closure.edges {
        edges.entry((edge.member, &edge.from)).or_default().push(edge);
    }
    // Steps of which everything is known first.
    for is_careful in [true, false] {
        let mut open: VecDeque<_> = if is_careful { std::mem::take(&mut open) } else { ways.keys().cloned().collect() };
        while let Some((member, class)) = open.pop_front() {
            let way = ways[&(member, class.clone())].clone();
            for edge in edges.get(&(member, &class[..])).into_iter().flatten() {
                let to = (member, edge.to.clone());
                if ways.contains_key(&to) || is_careful && edge.changes.contains(&None) {
                    continue;
                }
                ways.insert(to.clone(), plus(&way, &edge.changes));
                open.push_back(to);
            }
        }
    }
    ways
}

fn plus(way: &Way, changes: &[Option<i64>]) -> Way {
    way.iter().zip(changes).map(|(one, change)| one.as_ref()?.checked_add((*change)?)).collect()
}

/// Multiples of cells on which all ways agree: the solutions of one equation for each step.
fn together(closure: &Closure<'_, '_>, starts: &[Option<Start>], ways: &Changes) -> Vec<Vec<i64>> {
    let n = starts.len();
    let mut rows: Vec<Vec<i64>> = Vec::new();
    // Where something is not known of a cell, it is left out.
    let leave_out = |at: usize, rows: &mut Vec<Vec<i64>>| {
        let row = unit(n, at);
        if !rows.contains(&row) {
            rows.push(row);
        }
    };
    (0..n).filter(|&at| starts[at].is_none()).for_each(|at| leave_out(at, &mut rows));
    for edge in &closure.edges {
        let from = ways.get(&(edge.member, edge.from.clone()));
        let to = ways.get(&(edge.member, edge.to.clone()));
        let (Some(from), Some(to)) = (from, to) else { continue };
        let mut row = vec![0; n];
        for (at, after) in plus(from, &edge.changes).iter().enumerate() {
            match (after, to[at]) {
                (Some(after), Some(to)) => row[at] = after - to,
                _ => leave_out(at, &mut rows),
            }
        }
        if row.iter().any(|&one| one != 0) && !rows.contains(&row) {
            rows.push(row);
        }
    }
    nullspace(&rows, n).unwrap_or_default()
}

/// A basis of the solutions, in whole numbers; `None` where numbers become too large.
fn nullspace(rows: &[Vec<i64>], n: usize) -> Option<Vec<Vec<i64>>> {
    let mut table: Vec<Vec<Fraction>> =
        rows.iter().map(|row| row.iter().map(|&one| Fraction::whole(one)).collect()).collect();
    let mut pivots: Vec<usize> = Vec::new();
    for column in 0..n {
        let at = pivots.len();
        let Some(found) = (at..table.len()).find(|&row| !table[row][column].is_zero()) else { continue };
        table.swap(at, found);
        super::solve::pivot(&mut table, at, column)?;
        pivots.push(column);
    }
    let mut basis = Vec::new();
    for free in (0..n).filter(|column| !pivots.contains(column)) {
        let mut solution = vec![Fraction::ZERO; n];
        solution[free] = Fraction::whole(1);
        for (row, &pivot) in pivots.iter().enumerate() {
            solution[pivot] = Fraction::ZERO.minus(table[row][free])?;
        }
        basis.push(super::solve::whole(&solution)?);
    }
    Some(basis)
}

fn candidate(
    closure: &Closure<'_, '_>,
    starts: &[Option<Start>],
    (ways, multiples): (&Changes, &[i64]),
) -> Option<Weighed> {
    let used = || multiples.iter().enumerate().filter(|(_, times)| **times != 0);
    let constant = used()
        .try_fold(0i64, |sum, (at, times)| sum.checked_add(starts[at].as_ref()?.constant.checked_mul(*times)?))?;
    let mut weights = FxHashMap::default();
    for (class, way) in ways {
        let weight = used().try_fold(0i64, |sum, (at, times)| sum.checked_add(way[at]?.checked_mul(*times)?));
        if let Some(weight) = weight {
            weights.insert(class.clone(), weight);
        }
    }
    let cells: Vec<_> = used().map(|(at, times)| (closure.cells[at], *times)).collect();
    // A shown cell that no process changes says nothing.
    let is_idle = weights.values().all(|&weight| weight == 0)
        && cells.iter().all(|(cell, _)| !closure.roster.counted.contains(cell));
    (!is_idle).then_some(Weighed { cells, constant, weights })
}
