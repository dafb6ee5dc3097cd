//! Invariants of pairs of processes as a certificate, where two that share nothing are not given pair by pair.
//!
//! In: the local states of each process, and the joint states of those that share something. Out: a split invariant of all pairs.
//! What two processes see that share nothing is any local state of the one with any of the other: as a decision diagram that is the
//! one's below the other's, and no larger than both.

use std::rc::Rc;

use base::StopReason;
use evidence::certificate::{Column, Member, SplitInvariant, StateSet};
use model::process::ProcessId;
use rustc_hash::FxHashMap;

use super::{LocalSets, Rows};

/// Groups of processes with their states.
type Groups<'g, const W: usize> = &'g [(Vec<ProcessId>, Rc<Rows<W>>)];

impl<const W: usize> LocalSets<'_, W> {
    /// The certificate of all pairs.
    pub(crate) fn invariant_of_pairs(
        &self,
        singles: Groups<'_, W>,
        pairs: Groups<'_, W>,
    ) -> Result<SplitInvariant, StopReason> {
        let all = singles.iter().chain(pairs);
        let representative: Vec<(&[ProcessId], &Rc<Rows<W>>)> =
            all.map(|(group, rows)| (group.as_slice(), rows)).collect();
        let k = singles.len().min(2);
        let certificate = self.invariant(k, &representative)?;
        let (alone, mut members): (Vec<Member>, Vec<Member>) =
            certificate.members.into_iter().partition(|member| member.processes.len() == 1);
        if k < 2 {
            return Ok(SplitInvariant { members: alone, ..certificate });
        }
        let n_values = |column: Column| self.n_values(column, &certificate.points);
        for (at, one) in alone.iter().enumerate() {
            for other in &alone[at + 1..] {
                let processes = [one.processes[0], other.processes[0]];
                if !members.iter().any(|member| member.processes == processes) {
                    members.push(product(one, other, &n_values));
                }
            }
        }
        members.sort_by(|one, other| one.processes.cmp(&other.processes));
        Ok(SplitInvariant { k: 2, members, ..certificate })
    }

    /// How many numbers a column has.
    fn n_values(&self, column: Column, points: &[Vec<evidence::certificate::ControlPoint>]) -> u64 {
        let model = self.model();
        match column {
            Column::Cell(cell) => {
                u64::try_from(model.cells[cell].ty.n_values(model.type_context())).unwrap_or(u64::MAX)
            }
            Column::Control(process) => points[process.index()].len() as u64,
            Column::Exposed(_) => 1,
        }
    }
}

/// Any state of one member with any of the other. Columns that they have in common have one value only.
fn product(one: &Member, other: &Member, n_values: &dyn Fn(Column) -> u64) -> Member {
    let other = &without_columns(other, &one.columns);
    let columns: Vec<Column> = one.columns.iter().chain(&other.columns).copied().collect();
    let bits = |column: Column| u64::BITS - n_values(column).saturating_sub(1).leading_zeros();
    let mut order = Vec::new();
    for (at, &column) in columns.iter().enumerate() {
        order.extend((0..bits(column)).map(|bit| (at, bit)));
    }
    let n_upper: u32 = one.columns.iter().map(|&column| bits(column)).sum();
    let mut builder = DiagramBuilder::default();
    let lower = builder.add(&rows_of(other, &bits), (0, n_upper), 1);
    builder.add(&rows_of(one, &bits), (0, 0), lower);
    let processes = [&one.processes[..], &other.processes[..]].concat();
    Member { processes, columns, states: StateSet::Diagram { order, nodes: builder.nodes } }
}

/// A member without some columns.
fn without_columns(member: &Member, left_out: &[Column]) -> Member {
    let kept: Vec<usize> = (0..member.columns.len()).filter(|&at| !left_out.contains(&member.columns[at])).collect();
    let StateSet::Rows(rows) = &member.states else { unreachable!("local states are listed") };
    let mut rows: Vec<Vec<u32>> = rows.iter().map(|row| kept.iter().map(|&at| row[at]).collect()).collect();
    rows.sort_unstable();
    rows.dedup();
    let columns = kept.iter().map(|&at| member.columns[at]).collect();
    Member { processes: member.processes.clone(), columns, states: StateSet::Rows(rows) }
}

/// The rows of a member as bits, the highest of each column first.
fn rows_of(member: &Member, bits: &dyn Fn(Column) -> u32) -> Vec<Vec<bool>> {
    let StateSet::Rows(rows) = &member.states else { unreachable!("local states are listed") };
    let of = |row: &Vec<u32>| {
        let parts = row.iter().zip(&member.columns).flat_map(|(&number, &column)| {
            let n_bits = bits(column);
            (0..n_bits).map(move |bit| (number >> (n_bits - 1 - bit)) & 1 == 1)
        });
        parts.collect()
    };
    rows.iter().map(of).collect()
}

/// A reduced diagram under construction, children first.
#[derive(Default)]
struct DiagramBuilder {
    nodes: Vec<(u32, u32, u32)>,
    known: FxHashMap<(u32, u32, u32), u32>,
}

impl DiagramBuilder {
    /// The diagram of sorted rows from a bit on, whose bits begin at a position of the order; full sets end in `then`.
    fn add(&mut self, rows: &[Vec<bool>], (bit, start): (usize, u32), then: u32) -> u32 {
        match rows.first() {
            None => 0,
            Some(row) if bit == row.len() => then,
            Some(_) => {
                let split = rows.partition_point(|row| !row[bit]);
                let low = self.add(&rows[..split], (bit + 1, start), then);
                let high = self.add(&rows[split..], (bit + 1, start), then);
                self.node(start + bit as u32, low, high)
            }
        }
    }

    fn node(&mut self, position: u32, low: u32, high: u32) -> u32 {
        if low == high {
            return low;
        }
        *self.known.entry((position, low, high)).or_insert_with(|| {
            self.nodes.push((position, low, high));
            self.nodes.len() as u32 + 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(process: usize, rows: &[&[u32]]) -> Member {
        let columns = vec![Column::Control(ProcessId::new(process)), Column::Exposed(ProcessId::new(process))];
        let rows = rows.iter().map(|row| row.to_vec()).collect();
        Member { processes: vec![ProcessId::new(process)], columns, states: StateSet::Rows(rows) }
    }

    #[test]
    fn a_product_has_all_combinations_and_no_others() {
        let ones: [&[u32]; 3] = [&[0, 2], &[1, 0], &[4, 3]];
        let others: [&[u32]; 2] = [&[2, 1], &[3, 1]];
        let n_values = |column: Column| if matches!(column, Column::Control(_)) { 5 } else { 4 };
        let found = product(&member(0, &ones), &member(1, &others), &n_values);
        let StateSet::Diagram { order, nodes } = &found.states else { panic!("a diagram") };
        assert_eq!(order.len(), 10);
        let has = |numbers: [u32; 4]| {
            let mut at = nodes.len() as u32 + 1;
            while at > 1 {
                let (position, low, high) = nodes[at as usize - 2];
                let (column, bit) = order[position as usize];
                let n_bits = if column % 2 == 0 { 3 } else { 2 };
                at = if (numbers[column] >> (n_bits - 1 - bit)) & 1 == 1 { high } else { low };
            }
            at == 1
        };
        for a in 0..8 {
            for b in 0..4 {
                for c in 0..8 {
                    for d in 0..4 {
                        let expected = ones.contains(&&[a, b][..]) && others.contains(&&[c, d][..]);
                        assert_eq!(has([a, b, c, d]), expected);
                    }
                }
            }
        }
    }
}
