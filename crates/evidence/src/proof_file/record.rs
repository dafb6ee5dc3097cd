//! The document as the file has it: ids with names beside them.

use std::collections::BTreeMap;
use std::io;

use model::Model;
use model::fairness::FairnessId;
use model::process::ProcessId;
use model::variable::CellId;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::FORMAT;
use super::fingerprint::fingerprint;
use super::propagation_record::{NameWriter, RefutationRecord, SightsRecord};
use super::pushdown_record::PushdownRecord;
use super::ranks::{FocusRecord, focus_record};
use crate::Certificate;
use crate::certificate::{
    Claim, ClaimedSymmetry, Column, ControlPoint, Exchanged, Fact, LocalFact, Member, NoFairRun, ProcessDimension,
    Refutation, SplitInvariant, StateSet, Variant, ViolationName,
};
use crate::counting::CountingRecord;
use crate::crowd::{Branch, CrowdSum};
use crate::fine::FineRecord;
use crate::implied::{Cut, Implied};
use crate::itf::value::scalar_to_json;
use crate::plain::AutomatonNames;
use crate::pushdown::PushdownProof;
use crate::rings::RingsRecord;
use crate::scope::Scope;
use crate::views::ViewsRecord;

/// The whole file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProofDocument {
    pub format: String,
    pub program: String,
    pub parameters: BTreeMap<String, i64>,
    pub fingerprint: String,
    pub property: String,
    pub method: String,
    /// For which sizes it is a proof; a file that does not say is about its instance.
    #[serde(default, skip_serializing_if = "Scope::is_instance")]
    pub scope: Scope,
    pub facts: Vec<FactRecord>,
    /// How the last fact implies the property, where it does so part by part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub implies: Vec<ImpliedRecord>,
    /// Absent in files that were written by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// A part of a property, and the processes from which it follows.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) enum ImpliedRecord {
    Clause { cuts: Vec<Cut>, from: Vec<NamedId> },
    NoFault { movers: Vec<NamedId>, from: Vec<NamedId> },
    NoRace { movers: [Vec<NamedId>; 2], from: Vec<NamedId> },
    NoDeadlock { from: Vec<Vec<NamedId>> },
}

/// A fact. Each kind of claim has its own keys; one that is missing or too many is found when it is read.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FactRecord {
    pub claim: ClaimRecord,
    pub uses: Vec<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub k: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symmetry: Option<SymmetryRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processes: Option<Vec<ProcessRecord>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub members: Option<Vec<MemberRecord>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub violation: Option<ViolationRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub automaton: Option<AutomatonNames>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<VariantRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foci: Option<Vec<FocusRecord>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swaps: Option<Vec<(NamedId, NamedId)>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pushdown: Option<PushdownRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sights: Option<SightsRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refutation: Option<RefutationRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub views: Option<ViewsRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rings: Option<RingsRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fine: Option<FineRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counting: Option<CountingRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crowd: Option<CrowdRecord>,
}

impl FactRecord {
    /// A fact without any claim yet.
    fn new(claim: ClaimRecord, uses: &[usize]) -> Self {
        FactRecord {
            claim,
            uses: uses.to_vec(),
            k: None,
            symmetry: None,
            processes: None,
            members: None,
            violation: None,
            automaton: None,
            variant: None,
            foci: None,
            swaps: None,
            pushdown: None,
            sights: None,
            refutation: None,
            views: None,
            rings: None,
            fine: None,
            counting: None,
            crowd: None,
        }
    }
}

/// A refutation for every size.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CrowdRecord {
    pub sums: Vec<CrowdSum>,
    pub branches: Vec<Branch>,
}

/// The permutations under which members have images.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SymmetryRecord {
    pub dimensions: Vec<DimensionRecord>,
}

/// A dimension of an array with an element for each process of a family.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DimensionRecord {
    pub array: NamedId,
    pub dimension: usize,
    pub family: NamedId,
}

/// A way to violate a temporal property.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ViolationRecord {
    pub part: Vec<usize>,
    pub instance: Vec<(String, String)>,
    pub fairness: Vec<NamedId>,
}

/// What is demanded of runs.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum VariantRecord {
    OneProcess,
    EveryProcess { mark: Option<usize> },
}

/// What a fact claims.
#[derive(Serialize, Deserialize)]
pub(super) enum ClaimRecord {
    #[serde(rename = "split-invariant")]
    SplitInvariant,
    #[serde(rename = "no-fair-run")]
    NoFairRun,
    #[serde(rename = "pushdown")]
    Pushdown,
    #[serde(rename = "sights")]
    Sights,
    #[serde(rename = "refutation")]
    Refutation,
    #[serde(rename = "exchanged")]
    Exchanged,
    #[serde(rename = "crowd")]
    Crowd,
    #[serde(rename = "views")]
    Views,
    #[serde(rename = "rings")]
    Rings,
    #[serde(rename = "fine")]
    Fine,
    #[serde(rename = "counting")]
    Counting,
}

/// The local states of a process.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProcessRecord {
    pub process: NamedId,
    pub points: Vec<PointRecord>,
    pub exposed: Vec<LocalFactRecord>,
    pub blocks: Vec<Vec<bool>>,
}

/// An id, and the name that the user knows it by.
#[derive(Serialize, Deserialize)]
pub(super) struct NamedId(pub usize, pub String);

/// A control point: its place, and its counters with their values.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PointRecord {
    pub place: NamedId,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counters: Vec<(NamedId, Json)>,
}

/// An exposed fact.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LocalFactRecord {
    /// At one of these points.
    At(Vec<NamedId>),
    /// The cell has this value.
    Cell(NamedId, Json),
    /// All facts of one of the lists.
    OneOf(Vec<Vec<LocalFactRecord>>),
}

/// An invariant.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MemberRecord {
    pub of: Vec<NamedId>,
    pub columns: Vec<ColumnRecord>,
    pub states: StatesRecord,
}

/// A column.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ColumnRecord {
    Cell(NamedId),
    Control(NamedId),
    Exposed(NamedId),
}

/// A set of view states.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StatesRecord {
    Rows(Vec<Vec<u32>>),
    Diagram { order: Vec<(usize, u32)>, nodes: Vec<(u32, u32, u32)> },
}

impl ProofDocument {
    /// The document of a certificate that fits the Model, still without a digest.
    pub fn new(model: &Model, certificate: &Certificate, method: &str) -> Self {
        ProofDocument {
            format: FORMAT.to_owned(),
            program: model.name.clone(),
            parameters: model.numbers().map(|(name, value)| (name.to_owned(), value)).collect(),
            fingerprint: fingerprint(model, &certificate.property),
            property: certificate.property.clone(),
            method: method.to_owned(),
            scope: certificate.scope.clone(),
            facts: certificate.facts.iter().map(|fact| RecordWriter { model }.fact(fact)).collect(),
            implies: certificate.implies.iter().map(|part| RecordWriter { model }.implied(part)).collect(),
            digest: None,
        }
    }

    /// A number that distinguishes what is claimed: FNV-1a over its text.
    pub fn digest_of_claims(&self) -> String {
        let mut hash = Hash(0xcbf2_9ce4_8422_2325);
        serde_json::to_writer(&mut hash, &self.facts).expect("plain data can be hashed");
        serde_json::to_writer(&mut hash, &self.implies).expect("plain data can be hashed");
        if !self.scope.is_instance() {
            serde_json::to_writer(&mut hash, &self.scope).expect("plain data can be hashed");
        }
        format!("{:016x}", hash.0)
    }
}

struct RecordWriter<'a> {
    model: &'a Model,
}

impl RecordWriter<'_> {
    fn fact(&self, fact: &Fact) -> FactRecord {
        match &fact.claim {
            Claim::SplitInvariant(invariant) => self.split_invariant(invariant, &fact.uses),
            Claim::NoFairRun(claim) => self.no_fair_run(claim, &fact.uses),
            Claim::Pushdown(claim) => self.pushdown(claim, &fact.uses),
            Claim::Sights(sights) => FactRecord {
                sights: Some(NameWriter(self.model).sights(sights)),
                ..FactRecord::new(ClaimRecord::Sights, &fact.uses)
            },
            Claim::Refutation(claim) => self.refutation(claim, &fact.uses),
            Claim::Exchanged(claim) => self.exchanged(claim, &fact.uses),
            Claim::Views(claim) => {
                FactRecord { views: Some(ViewsRecord::new(claim)), ..FactRecord::new(ClaimRecord::Views, &fact.uses) }
            }
            Claim::Fine(claim) => {
                FactRecord { fine: Some(FineRecord::new(claim)), ..FactRecord::new(ClaimRecord::Fine, &fact.uses) }
            }
            Claim::Counting(claim) => FactRecord {
                counting: Some(CountingRecord::new(claim)),
                ..FactRecord::new(ClaimRecord::Counting, &fact.uses)
            },
            Claim::Rings(claim) => {
                FactRecord { rings: RingsRecord::new(claim), ..FactRecord::new(ClaimRecord::Rings, &fact.uses) }
            }
            Claim::Crowd(claim) => FactRecord {
                violation: Some(self.violation(&claim.violation)),
                automaton: Some(claim.automaton.clone()),
                crowd: Some(CrowdRecord { sums: claim.sums.clone(), branches: claim.branches.clone() }),
                ..FactRecord::new(ClaimRecord::Crowd, &fact.uses)
            },
        }
    }

    fn implied(&self, part: &Implied) -> ImpliedRecord {
        let named = |list: &[ProcessId]| list.iter().map(|&process| self.process(process)).collect::<Vec<NamedId>>();
        match part {
            Implied::Clause { cuts, from } => ImpliedRecord::Clause { cuts: cuts.clone(), from: named(from) },
            Implied::NoFault { movers, from } => ImpliedRecord::NoFault { movers: named(movers), from: named(from) },
            Implied::NoRace { movers: [one, other], from } => {
                ImpliedRecord::NoRace { movers: [named(one), named(other)], from: named(from) }
            }
            Implied::NoDeadlock { from } => {
                ImpliedRecord::NoDeadlock { from: from.iter().map(|group| named(group)).collect() }
            }
        }
    }

    fn refutation(&self, claim: &Refutation, uses: &[usize]) -> FactRecord {
        let names = NameWriter(self.model);
        let refutation = RefutationRecord {
            members: claim.members.iter().map(|&process| names.process(process)).collect(),
            cells: claim.cells.iter().map(|&cell| names.cell(cell)).collect(),
            controls: claim.controls.iter().map(|&process| names.process(process)).collect(),
            steps: names.steps(&claim.steps),
        };
        FactRecord {
            violation: Some(self.violation(&claim.violation)),
            automaton: Some(claim.automaton.clone()),
            refutation: Some(refutation),
            ..FactRecord::new(ClaimRecord::Refutation, uses)
        }
    }

    fn exchanged(&self, claim: &Exchanged, uses: &[usize]) -> FactRecord {
        let swap = |&[one, other]: &[ProcessId; 2]| (self.process(one), self.process(other));
        FactRecord {
            violation: Some(self.violation(&claim.violation)),
            swaps: Some(claim.swaps.iter().map(swap).collect()),
            symmetry: Some(self.symmetry(&claim.symmetry)),
            ..FactRecord::new(ClaimRecord::Exchanged, uses)
        }
    }

    fn pushdown(&self, claim: &PushdownProof, uses: &[usize]) -> FactRecord {
        let pushdown = Some(PushdownRecord::new(self.model, claim));
        FactRecord { pushdown, ..FactRecord::new(ClaimRecord::Pushdown, uses) }
    }

    fn no_fair_run(&self, claim: &NoFairRun, uses: &[usize]) -> FactRecord {
        let variant = match claim.variant {
            Variant::OneProcess => VariantRecord::OneProcess,
            Variant::EveryProcess { mark } => VariantRecord::EveryProcess { mark },
        };
        let foci = claim.foci.iter().map(|focus| focus_record(focus, self.process(focus.process)));
        FactRecord {
            violation: Some(self.violation(&claim.violation)),
            automaton: Some(claim.automaton.clone()),
            variant: Some(variant),
            foci: Some(foci.collect()),
            ..FactRecord::new(ClaimRecord::NoFairRun, uses)
        }
    }

    fn split_invariant(&self, invariant: &SplitInvariant, uses: &[usize]) -> FactRecord {
        let SplitInvariant { k, points, exposed, members, symmetry } = invariant;
        let lists = self.model.processes.ids().zip(points.iter().zip(exposed));
        let processes = lists.map(|(process, (points, exposed))| ProcessRecord {
            process: self.process(process),
            points: points.iter().map(|point| self.point(point)).collect(),
            exposed: exposed.facts.iter().map(|fact| self.local_fact(fact, points)).collect(),
            blocks: exposed.blocks.clone(),
        });
        FactRecord {
            k: Some(*k),
            symmetry: symmetry.as_ref().map(|symmetry| self.symmetry(symmetry)),
            processes: Some(processes.collect()),
            members: Some(members.iter().map(|member| self.member(member)).collect()),
            ..FactRecord::new(ClaimRecord::SplitInvariant, uses)
        }
    }

    fn symmetry(&self, symmetry: &ClaimedSymmetry) -> SymmetryRecord {
        let dimension = |one: &ProcessDimension| DimensionRecord {
            array: NamedId(one.var.index(), self.model.vars[one.var].name.clone()),
            dimension: one.dimension,
            family: NamedId(one.family.index(), self.model.families[one.family].name.clone()),
        };
        SymmetryRecord { dimensions: symmetry.dimensions.iter().map(dimension).collect() }
    }

    fn violation(&self, name: &ViolationName) -> ViolationRecord {
        let pair = |&pair: &FairnessId| NamedId(pair.index(), self.model.fairness[pair].name.clone());
        ViolationRecord {
            part: name.part.clone(),
            instance: name.instance.clone(),
            fairness: name.fairness.iter().map(pair).collect(),
        }
    }

    fn process(&self, process: ProcessId) -> NamedId {
        NamedId(process.index(), self.model.processes[process].name.clone())
    }

    fn cell(&self, cell: CellId) -> NamedId {
        NamedId(cell.index(), self.model.cells[cell].name.clone())
    }

    fn point(&self, point: &ControlPoint) -> PointRecord {
        let counter = |(cell, value): &(CellId, _)| (self.cell(*cell), scalar_to_json(self.model, *value));
        PointRecord {
            place: NamedId(point.place.index(), self.model.places[point.place].name.clone()),
            counters: point.counters.iter().map(counter).collect(),
        }
    }

    fn local_fact(&self, fact: &LocalFact, points: &[ControlPoint]) -> LocalFactRecord {
        match fact {
            LocalFact::Control(numbers) => {
                let name = |number: usize| self.model.places[points[number].place].name.clone();
                LocalFactRecord::At(numbers.iter().map(|&number| NamedId(number, name(number))).collect())
            }
            LocalFact::Cell(cell, value) => LocalFactRecord::Cell(self.cell(*cell), scalar_to_json(self.model, *value)),
            LocalFact::OneOf(lists) => {
                let list = |list: &Vec<LocalFact>| list.iter().map(|fact| self.local_fact(fact, points)).collect();
                LocalFactRecord::OneOf(lists.iter().map(list).collect())
            }
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
