//! One program at several sizes (`-N 2..20`): how verdict, time and size change with N.
//!
//! In: the runs of a sweep. Out: a [`Sweep`]: for each property its measurements by size, and how they grow (`growth.rs`). The table
//! (`draw.rs`) and the result document are made from it.

mod draw;
mod growth;

use std::time::Duration;

use engine::Verdict;
use engine::run::{PropertyResult, Run};
use evidence::Evidence;

use crate::document::{GrowingDocument, GrowthDocument, PointDocument, SweepDocument};
use crate::json::verdict_word;

pub use draw::draw;
pub(crate) use draw::remarks;
pub use growth::{Growth, growth};

/// Times below this say more about the machine than about the program.
pub(crate) const MEASURABLE: Duration = Duration::from_millis(10);

/// Fewer times than this say little about how time grows.
pub(crate) const FEWEST_TIMES: usize = 4;

/// The runs of one program at several sizes.
#[derive(Clone, Debug)]
pub struct Sweep<'a> {
    /// The runs, in the order of the call.
    pub runs: Vec<&'a Run>,
    /// The parameter that is swept.
    pub parameter: &'a str,
    /// What happened to each property.
    pub rows: Vec<SweepRow<'a>>,
}

/// One property at several sizes.
#[derive(Clone, Debug)]
pub struct SweepRow<'a> {
    /// The property's name.
    pub property: &'a str,
    /// Its measurements.
    pub points: Vec<SweepPoint<'a>>,
}

/// One property at one size.
#[derive(Clone, Debug)]
pub struct SweepPoint<'a> {
    /// The size.
    pub size: i64,
    /// The run that it is from.
    pub run: &'a Run,
    /// The result.
    pub result: &'a PropertyResult,
}

/// What a result had to explore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// So many local states of the process that has most.
    Local(u64),
    /// So many states of the whole product.
    Global(u64),
    /// A run of so many steps; what was explored to find it is not counted.
    Steps(u64),
    /// So many nodes of decision diagrams.
    Nodes(u64),
}

impl Extent {
    /// What is counted, as the result document calls it.
    pub fn kind(self) -> &'static str {
        match self {
            Extent::Local(_) => "local_states",
            Extent::Global(_) => "global_states",
            Extent::Steps(_) => "steps",
            Extent::Nodes(_) => "peak_nodes",
        }
    }

    /// The number.
    pub fn number(self) -> u64 {
        match self {
            Extent::Local(number) | Extent::Global(number) | Extent::Steps(number) | Extent::Nodes(number) => number,
        }
    }
}

impl SweepPoint<'_> {
    /// What the result had to explore, where that is known.
    pub fn extent(&self) -> Option<Extent> {
        let statistics = &self.result.statistics;
        if let Verdict::Holds(Evidence::Trace(trace)) | Verdict::Violated(Evidence::Trace(trace)) = &self.result.verdict
        {
            return Some(Extent::Steps(trace.n_steps() as u64));
        }
        let local =
            statistics.local_states.as_ref().and_then(|sets| sets.iter().copied().collect::<Option<Vec<u64>>>());
        let local = local.and_then(|sets| sets.into_iter().max()).map(Extent::Local);
        let global = statistics.global_states.filter(|&states| states > 0).map(Extent::Global);
        local.or(global).or(statistics.peak_nodes.map(Extent::Nodes))
    }

    /// Whether the property was decided.
    pub fn is_decided(&self) -> bool {
        !matches!(self.result.verdict, Verdict::Unknown(_))
    }
}

impl<'a> Sweep<'a> {
    /// The runs as a sweep, if they are one: of one text, and with one parameter that is different in each.
    pub fn of(runs: &[&'a Run]) -> Option<Self> {
        let first = *runs.first().filter(|_| runs.len() > 1)?;
        let is_same = |run: &&Run| run.source.name() == first.source.name();
        let value = |run: &'a Run, name: &str| run.model.number(name);
        let varies = |name: &str| runs.windows(2).all(|pair| value(pair[0], name) < value(pair[1], name));
        let parameter = first.model.numbers().map(|(name, _)| name).find(|name| varies(name));
        let parameter = parameter.filter(|_| runs.iter().all(is_same))?;
        let mut rows: Vec<SweepRow<'a>> = Vec::new();
        for &run in runs {
            let size = value(run, parameter)?;
            for result in &run.results {
                let property = run.model.properties[result.property].name.as_str();
                let at = rows.iter().position(|row| row.property == property).unwrap_or_else(|| {
                    rows.push(SweepRow { property, points: Vec::new() });
                    rows.len() - 1
                });
                rows[at].points.push(SweepPoint { size, run, result });
            }
        }
        Some(Sweep { runs: runs.to_vec(), parameter, rows })
    }

    /// What one more of the size is: a process, where each adds one.
    pub fn step(&self) -> &str {
        let adds_one = |pair: &[&Run]| pair[0].model.processes.len() + 1 == pair[1].model.processes.len();
        if self.runs.windows(2).all(adds_one) { "process" } else { self.parameter }
    }
}

impl SweepRow<'_> {
    /// How the size of what was explored grows; with what is counted, and the first size for which it is.
    pub fn size_growth(&self) -> Option<(Extent, i64, Growth)> {
        let decided = self.points.iter().filter(|point| point.is_decided());
        let known: Vec<(i64, Extent)> =
            decided.map(|point| Some((point.size, point.extent()?))).collect::<Option<_>>()?;
        let kind = known.last()?.1.kind();
        // A method for small sizes and another one for large ones: the large ones are what matters.
        let from = known.iter().rposition(|(_, extent)| extent.kind() != kind).map_or(0, |at| at + 1);
        let points: Vec<(i64, f64)> =
            known[from..].iter().map(|(size, extent)| (*size, extent.number() as f64)).collect();
        Some((known.last()?.1, known[from].0, growth(&points)?))
    }

    /// How the time grows, from the sizes on for which it can be measured.
    pub fn time_growth(&self) -> Option<Growth> {
        let decided: Vec<_> = self.points.iter().filter(|point| point.is_decided()).collect();
        let time = |point: &SweepPoint<'_>| point.result.statistics.time;
        let from = decided.iter().rposition(|point| time(point) < MEASURABLE).map_or(0, |at| at + 1);
        if decided.len() - from < FEWEST_TIMES {
            return None;
        }
        growth(&decided[from..].iter().map(|point| (point.size, time(point).as_secs_f64())).collect::<Vec<_>>())
    }
}

/// A growth for the result document.
pub(crate) fn growth_document(growth: Growth) -> GrowthDocument {
    let (kind, by) = match growth {
        Growth::Same => ("same", None),
        Growth::By(number) => ("linear", Some(number)),
        Growth::Power(number) => ("power", Some(number)),
        Growth::Factor(number) => ("factor", Some(number)),
    };
    GrowthDocument { growth: kind.to_owned(), by }
}

/// How each property of a sweep grows, for the result document.
pub fn document(sweep: &Sweep<'_>) -> SweepDocument {
    let point = |point: &SweepPoint<'_>| {
        let extent = point.extent();
        PointDocument {
            size: point.size,
            verdict: verdict_word(&point.result.verdict),
            method: point.result.method.to_owned(),
            seconds: point.result.statistics.time.as_secs_f64(),
            counted: extent.map(|extent| extent.kind().to_owned()),
            number: extent.map(Extent::number),
        }
    };
    let row = |row: &SweepRow<'_>| GrowingDocument {
        property: row.property.to_owned(),
        points: row.points.iter().map(point).collect(),
        time: row.time_growth().map(growth_document),
        number: row.size_growth().map(|(_, _, found)| growth_document(found)),
    };
    SweepDocument {
        file: sweep.runs[0].source.name().to_owned(),
        method: sweep.runs[0].method.to_owned(),
        parameter: sweep.parameter.to_owned(),
        properties: sweep.rows.iter().map(row).collect(),
    }
}

#[cfg(test)]
mod tests;
