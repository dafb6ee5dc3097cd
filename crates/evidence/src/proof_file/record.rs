//! The document as it stands in the file: ids with names beside them.

use std::collections::BTreeMap;
use std::io;

use model::Model;
use model::process::ProcessId;
use model::variable::CellId;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::FORMAT;
use super::fingerprint::fingerprint;
use crate::Certificate;
use crate::certificate::{Claim, Column, ControlPoint, Fact, LocalFact, Member, SplitInvariant, StateSet};
use crate::itf::value::scalar_to_json;

/// The whole file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    pub format: String,
    pub program: String,
    pub parameters: BTreeMap<String, i64>,
    pub fingerprint: String,
    pub property: String,
    pub method: String,
    pub facts: Vec<FactRecord>,
    /// Absent where somebody wrote the file by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// A fact.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FactRecord {
    pub claim: ClaimRecord,
    pub uses: Vec<usize>,
    pub k: usize,
    pub by_symmetry: bool,
    pub processes: Vec<ProcessRecord>,
    pub members: Vec<MemberRecord>,
}

/// What a fact claims.
#[derive(Serialize, Deserialize)]
pub(super) enum ClaimRecord {
    #[serde(rename = "split-invariant")]
    SplitInvariant,
}

/// The local states of a process.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProcessRecord {
    pub process: Named,
    pub points: Vec<PointRecord>,
    pub exposed: Vec<LocalFactRecord>,
    pub blocks: Vec<Vec<bool>>,
}

/// An id, and the name that the user knows it by.
#[derive(Serialize, Deserialize)]
pub(super) struct Named(pub usize, pub String);

/// A control point: its place, and its counters with their values.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PointRecord {
    pub place: Named,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counters: Vec<(Named, Json)>,
}

/// An exposed fact.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LocalFactRecord {
    /// At one of these points.
    At(Vec<Named>),
    /// The cell has this value.
    Cell(Named, Json),
}

/// An invariant.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MemberRecord {
    pub of: Vec<Named>,
    pub columns: Vec<ColumnRecord>,
    pub states: StatesRecord,
}

/// A column.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ColumnRecord {
    Cell(Named),
    Control(Named),
    Exposed(Named),
}

/// A set of view states.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StatesRecord {
    Rows(Vec<Vec<u32>>),
    Diagram { order: Vec<(usize, u32)>, nodes: Vec<(u32, u32, u32)> },
}

impl Document {
    /// The document of a certificate that fits the Model, still without a digest.
    pub fn new(model: &Model, certificate: &Certificate, method: &str) -> Self {
        Document {
            format: FORMAT.to_owned(),
            program: model.name.clone(),
            parameters: model.parameters.iter().map(|one| (one.name.clone(), one.value)).collect(),
            fingerprint: fingerprint(model, &certificate.property),
            property: certificate.property.clone(),
            method: method.to_owned(),
            facts: certificate.facts.iter().map(|fact| Writer { model }.fact(fact)).collect(),
            digest: None,
        }
    }
}

struct Writer<'a> {
    model: &'a Model,
}

impl Writer<'_> {
    fn fact(&self, fact: &Fact) -> FactRecord {
        let Claim::SplitInvariant(SplitInvariant { k, points, exposed, members, by_symmetry }) = &fact.claim;
        let lists = self.model.processes.ids().zip(points.iter().zip(exposed));
        let processes = lists.map(|(process, (points, exposed))| ProcessRecord {
            process: self.process(process),
            points: points.iter().map(|point| self.point(point)).collect(),
            exposed: exposed.facts.iter().map(|fact| self.local_fact(fact, points)).collect(),
            blocks: exposed.blocks.clone(),
        });
        FactRecord {
            claim: ClaimRecord::SplitInvariant,
            uses: fact.uses.clone(),
            k: *k,
            by_symmetry: *by_symmetry,
            processes: processes.collect(),
            members: members.iter().map(|member| self.member(member)).collect(),
        }
    }

    fn process(&self, process: ProcessId) -> Named {
        Named(process.index(), self.model.processes[process].name.clone())
    }

    fn cell(&self, cell: CellId) -> Named {
        Named(cell.index(), self.model.cells[cell].name.clone())
    }

    fn point(&self, point: &ControlPoint) -> PointRecord {
        let counter = |(cell, value): &(CellId, _)| (self.cell(*cell), scalar_to_json(self.model, *value));
        PointRecord {
            place: Named(point.place.index(), self.model.places[point.place].name.clone()),
            counters: point.counters.iter().map(counter).collect(),
        }
    }

    fn local_fact(&self, fact: &LocalFact, points: &[ControlPoint]) -> LocalFactRecord {
        match fact {
            LocalFact::Control(numbers) => {
                let name = |number: usize| self.model.places[points[number].place].name.clone();
                LocalFactRecord::At(numbers.iter().map(|&number| Named(number, name(number))).collect())
            }
            LocalFact::Cell(cell, value) => LocalFactRecord::Cell(self.cell(*cell), scalar_to_json(self.model, *value)),
        }
    }

    fn member(&self, member: &Member) -> MemberRecord {
        let column = |column: &Column| match *column {
            Column::Cell(cell) => ColumnRecord::Cell(self.cell(cell)),
            Column::Control(process) => ColumnRecord::Control(self.process(process)),
            Column::Exposed(process) => ColumnRecord::Exposed(self.process(process)),
        };
        MemberRecord {
            of: member.processes.iter().map(|&process| self.process(process)).collect(),
            columns: member.columns.iter().map(column).collect(),
            states: match &member.states {
                StateSet::Rows(rows) => StatesRecord::Rows(rows.clone()),
                StateSet::Diagram { order, nodes } => {
                    StatesRecord::Diagram { order: order.clone(), nodes: nodes.clone() }
                }
            },
        }
    }
}

/// A number that tells facts apart: FNV-1a over their text.
pub(super) fn digest(facts: &[FactRecord]) -> String {
    let mut hash = Hash(0xcbf2_9ce4_8422_2325);
    serde_json::to_writer(&mut hash, facts).expect("plain data can be hashed");
    format!("{:016x}", hash.0)
}

struct Hash(u64);

impl io::Write for Hash {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = bytes.iter().fold(self.0, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
