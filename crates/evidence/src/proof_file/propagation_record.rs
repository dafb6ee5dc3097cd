//! Refutations and additive invariants as the file has them.

use model::Model;
use model::process::ProcessId;
use model::variable::CellId;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::read::{ProofReader, text};
use super::record::NamedId;
use crate::itf::value::scalar_to_json;
use crate::propagation::{
    Additive, CellWeights, EdgeOwner, GroupWeights, HolderCase, LocalWeight, NodePoint, ProcessSight, ProcessWeights,
    RefutationCase, RefutationStep, Sights,
};

/// What processes see, and additive invariants.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SightsRecord {
    processes: Vec<SightRecord>,
    additive: Vec<AdditiveRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    crowds: Vec<Vec<NamedId>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SightRecord {
    process: NamedId,
    sees: Vec<NamedId>,
    looks_at: Vec<NamedId>,
}

/// An additive invariant.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AdditiveRecord {
    constant: i64,
    cells: Vec<CellRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    groups: Vec<GroupRecord>,
    processes: Vec<WeightsRecord>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CellRecord {
    cell: NamedId,
    weights: Vec<(Json, i64)>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupRecord {
    cells: Vec<NamedId>,
    weights: Vec<(Vec<Json>, i64)>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WeightsRecord {
    process: NamedId,
    cells: Vec<NamedId>,
    weights: Vec<(NamedId, Vec<Json>, i64)>,
}

/// The view of a property and the steps of a refutation.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RefutationRecord {
    pub members: Vec<NamedId>,
    pub cells: Vec<NamedId>,
    pub controls: Vec<NamedId>,
    pub steps: Vec<StepRecord>,
}

/// A process, or none for the property.
type SpotRecord = Option<NamedId>;

/// A step.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StepRecord {
    Fair(SpotRecord),
    Compatible { from: SpotRecord, to: SpotRecord },
    Split { of: SpotRecord, cases: Vec<CaseRecord> },
    Holder { of: SpotRecord, invariant: usize, cases: Vec<HolderRecord> },
    Scheduled(Vec<HolderRecord>),
    Unequal(usize),
    Single(NamedId),
}

/// Fair components: a point in the first one, and points in the others.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CaseRecord {
    row: Vec<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state: Option<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    more: Vec<NodeRecord>,
    steps: Vec<StepRecord>,
}

/// A node of a set.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NodeRecord {
    row: Vec<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state: Option<u32>,
}

/// A process.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HolderRecord {
    process: NamedId,
    steps: Vec<StepRecord>,
}

/// Writes names beside ids.
pub(super) struct NameWriter<'a>(pub &'a Model);

impl NameWriter<'_> {
    /// A process.
    pub fn process(&self, process: ProcessId) -> NamedId {
        NamedId(process.index(), self.0.processes[process].name.clone())
    }

    /// A cell.
    pub fn cell(&self, cell: CellId) -> NamedId {
        NamedId(cell.index(), self.0.cells[cell].name.clone())
    }

    /// What processes see.
    pub fn sights(&self, sights: &Sights) -> SightsRecord {
        let sight = |(process, sight): (ProcessId, &ProcessSight)| SightRecord {
            process: self.process(process),
            sees: sight.cells.iter().map(|&cell| self.cell(cell)).collect(),
            looks_at: sight.controls.iter().map(|&process| self.process(process)).collect(),
        };
        SightsRecord {
            processes: self.0.processes.ids().zip(&sights.seen).map(sight).collect(),
            additive: sights.additive.iter().map(|one| self.additive(one)).collect(),
            crowds: sights.crowds.iter().map(|crowd| crowd.iter().map(|&one| self.process(one)).collect()).collect(),
        }
    }

    fn additive(&self, invariant: &Additive) -> AdditiveRecord {
        let cell = |one: &CellWeights| CellRecord {
            cell: self.cell(one.cell),
            weights: one.weights.iter().map(|&(value, weight)| (scalar_to_json(self.0, value), weight)).collect(),
        };
        let scalars = |values: &[model::value::Value]| values.iter().map(|&one| scalar_to_json(self.0, one)).collect();
        let group = |one: &GroupWeights| GroupRecord {
            cells: one.cells.iter().map(|&cell| self.cell(cell)).collect(),
            weights: one.weights.iter().map(|(values, weight)| (scalars(values), *weight)).collect(),
        };
        let local = |one: &LocalWeight| {
            let place = NamedId(one.place.index(), self.0.places[one.place].name.clone());
            (place, scalars(&one.values), one.weight)
        };
        let process = |one: &ProcessWeights| WeightsRecord {
            process: self.process(one.process),
            cells: one.cells.iter().map(|&cell| self.cell(cell)).collect(),
            weights: one.weights.iter().map(local).collect(),
        };
        AdditiveRecord {
            constant: invariant.constant,
            cells: invariant.cells.iter().map(cell).collect(),
            groups: invariant.groups.iter().map(group).collect(),
            processes: invariant.processes.iter().map(process).collect(),
        }
    }

    /// Steps.
    pub fn steps(&self, steps: &[RefutationStep]) -> Vec<StepRecord> {
        steps.iter().map(|step| self.step(step)).collect()
    }

    fn spot(&self, spot: EdgeOwner) -> SpotRecord {
        match spot {
            EdgeOwner::Property => None,
            EdgeOwner::Process(process) => Some(self.process(process)),
        }
    }

    fn step(&self, step: &RefutationStep) -> StepRecord {
        let holder =
            |case: &HolderCase| HolderRecord { process: self.process(case.process), steps: self.steps(&case.steps) };
        let point = |point: &NodePoint| NodeRecord { row: point.row.clone(), state: point.state };
        let case = |case: &RefutationCase| {
            let (first, more) = case.points.split_first().map_or((None, &[][..]), |(first, more)| (Some(first), more));
            CaseRecord {
                row: first.map(|first| first.row.clone()).unwrap_or_default(),
                state: first.and_then(|first| first.state),
                more: more.iter().map(point).collect(),
                steps: self.steps(&case.steps),
            }
        };
        match step {
            RefutationStep::Fair(spot) => StepRecord::Fair(self.spot(*spot)),
            RefutationStep::Compatible { from, to } => {
                StepRecord::Compatible { from: self.spot(*from), to: self.spot(*to) }
            }
            RefutationStep::Split { of, cases } => {
                StepRecord::Split { of: self.spot(*of), cases: cases.iter().map(case).collect() }
            }
            RefutationStep::Holder { of, invariant, cases } => StepRecord::Holder {
                of: self.spot(*of),
                invariant: *invariant,
                cases: cases.iter().map(holder).collect(),
            },
            RefutationStep::Scheduled(cases) => StepRecord::Scheduled(cases.iter().map(holder).collect()),
            RefutationStep::Unequal(invariant) => StepRecord::Unequal(*invariant),
            RefutationStep::Single(process) => StepRecord::Single(self.process(*process)),
        }
    }
}

impl ProofReader<'_> {
    /// What processes see.
    pub(super) fn sights(&self, record: &SightsRecord) -> Result<Sights, String> {
        let n_processes = self.model.processes.len();
        if record.processes.len() != n_processes {
            return Err(format!("it lists {} processes, the program has {n_processes}", record.processes.len()));
        }
        let sight = |(process, one): (ProcessId, &SightRecord)| {
            if self.process(&one.process)? != process {
                return Err(format!("its processes are not in the order of the program: {}", text(&one.process)));
            }
            Ok(ProcessSight {
                cells: one.sees.iter().map(|cell| self.cell(cell)).collect::<Result<_, String>>()?,
                controls: one.looks_at.iter().map(|process| self.process(process)).collect::<Result<_, String>>()?,
            })
        };
        let processes = self.model.processes.ids().zip(&record.processes);
        Ok(Sights {
            seen: processes.map(sight).collect::<Result<_, String>>()?,
            additive: record.additive.iter().map(|one| self.additive(one)).collect::<Result<_, String>>()?,
            crowds: { record.crowds.iter() }
                .map(|crowd| crowd.iter().map(|process| self.process(process)).collect())
                .collect::<Result<_, String>>()?,
        })
    }

    fn additive(&self, record: &AdditiveRecord) -> Result<Additive, String> {
        let cell = |one: &CellRecord| {
            let cell = self.cell(&one.cell)?;
            let weights = one.weights.iter().map(|(value, weight)| Ok((self.value(cell, value)?, *weight)));
            Ok(CellWeights { cell, weights: weights.collect::<Result<_, String>>()? })
        };
        let group = |one: &GroupRecord| {
            let cells = one.cells.iter().map(|cell| self.cell(cell)).collect::<Result<Vec<CellId>, String>>()?;
            let weights = one.weights.iter().map(|(values, weight)| Ok((self.values(&cells, values)?, *weight)));
            Ok(GroupWeights { weights: weights.collect::<Result<_, String>>()?, cells })
        };
        let process = |one: &WeightsRecord| {
            let cells = one.cells.iter().map(|cell| self.cell(cell)).collect::<Result<Vec<CellId>, String>>()?;
            let local = |(place, values, weight): &(NamedId, Vec<Json>, i64)| {
                let values = self.values(&cells, values)?;
                Ok(LocalWeight { place: self.place(place)?, values, weight: *weight })
            };
            let weights = one.weights.iter().map(local).collect::<Result<_, String>>()?;
            Ok(ProcessWeights { process: self.process(&one.process)?, cells: cells.clone(), weights })
        };
        Ok(Additive {
            constant: record.constant,
            cells: record.cells.iter().map(cell).collect::<Result<_, String>>()?,
            groups: record.groups.iter().map(group).collect::<Result<_, String>>()?,
            processes: record.processes.iter().map(process).collect::<Result<_, String>>()?,
        })
    }

    /// A value for each cell.
    fn values(&self, cells: &[CellId], values: &[Json]) -> Result<Vec<model::value::Value>, String> {
        if values.len() != cells.len() {
            return Err("a weight has not one value for each cell".to_owned());
        }
        cells.iter().zip(values).map(|(&cell, value)| self.value(cell, value)).collect()
    }

    /// Steps.
    pub(super) fn steps(&self, records: Vec<StepRecord>) -> Result<Vec<RefutationStep>, String> {
        records.into_iter().map(|record| self.step(record)).collect()
    }

    fn spot(&self, record: &SpotRecord) -> Result<EdgeOwner, String> {
        record.as_ref().map_or(Ok(EdgeOwner::Property), |process| self.process(process).map(EdgeOwner::Process))
    }

    fn step(&self, record: StepRecord) -> Result<RefutationStep, String> {
        let case = |case: CaseRecord| {
            let more = case.more.into_iter().map(|point| NodePoint { row: point.row, state: point.state });
            let points = std::iter::once(NodePoint { row: case.row, state: case.state }).chain(more).collect();
            Ok(RefutationCase { points, steps: self.steps(case.steps)? })
        };
        Ok(match record {
            StepRecord::Fair(spot) => RefutationStep::Fair(self.spot(&spot)?),
            StepRecord::Compatible { from, to } => {
                RefutationStep::Compatible { from: self.spot(&from)?, to: self.spot(&to)? }
            }
            StepRecord::Split { of, cases } => RefutationStep::Split {
                of: self.spot(&of)?,
                cases: cases.into_iter().map(case).collect::<Result<_, String>>()?,
            },
            StepRecord::Holder { of, invariant, cases } => {
                RefutationStep::Holder { of: self.spot(&of)?, invariant, cases: self.holders(cases)? }
            }
            StepRecord::Scheduled(cases) => RefutationStep::Scheduled(self.holders(cases)?),
            StepRecord::Unequal(invariant) => RefutationStep::Unequal(invariant),
            StepRecord::Single(process) => RefutationStep::Single(self.process(&process)?),
        })
    }

    fn holders(&self, records: Vec<HolderRecord>) -> Result<Vec<HolderCase>, String> {
        let case = |case: HolderRecord| {
            Ok(HolderCase { process: self.process(&case.process)?, steps: self.steps(case.steps)? })
        };
        records.into_iter().map(case).collect()
    }
}
