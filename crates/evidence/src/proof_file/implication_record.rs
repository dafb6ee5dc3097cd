//! What follows from whose invariants, as it stands in the file.

use model::Model;
use model::process::ProcessId;
use serde::{Deserialize, Serialize};

use super::read::Reader;
use super::record::Named;
use crate::implication::{Clause, Demand, Implied, Literal, Part};

/// A part of the property, and the processes from whose invariants it follows.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ImpliedRecord {
    part: PartRecord,
    pub from: Vec<Named>,
}

/// What has to be so.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PartRecord {
    Clause {
        #[serde(rename = "if")]
        conditions: Vec<LiteralRecord>,
        #[serde(rename = "then")]
        claim: LiteralRecord,
    },
    NoFault(Vec<Named>),
    NoRace(Vec<Named>, Vec<Named>),
    NoDeadlock,
}

/// A demand on an instance of a part of the property's expression.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LiteralRecord {
    path: Vec<usize>,
    bound: Vec<String>,
    demand: DemandRecord,
}

/// What is demanded.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum DemandRecord {
    True,
    False,
    HasValue,
}

impl ImpliedRecord {
    /// The record of a part.
    pub fn new(model: &Model, implied: &Implied) -> Self {
        let named = |&process: &ProcessId| Named(process.index(), model.processes[process].name.clone());
        let all = |processes: &[ProcessId]| processes.iter().map(named).collect();
        let part = match &implied.part {
            Part::Clause(Clause { conditions, claim }) => PartRecord::Clause {
                conditions: conditions.iter().map(LiteralRecord::new).collect(),
                claim: LiteralRecord::new(claim),
            },
            Part::NoFault(movers) => PartRecord::NoFault(all(movers)),
            Part::NoRace(one, other) => PartRecord::NoRace(all(one), all(other)),
            Part::NoDeadlock => PartRecord::NoDeadlock,
        };
        ImpliedRecord { part, from: all(&implied.from) }
    }

    /// The part, if its processes are the program's.
    pub fn read(self, reader: &Reader<'_>) -> Result<Implied, String> {
        let all =
            |named: &[Named]| named.iter().map(|one| reader.process(one)).collect::<Result<Vec<ProcessId>, String>>();
        let part = match self.part {
            PartRecord::Clause { conditions, claim } => Part::Clause(Clause {
                conditions: conditions.into_iter().map(LiteralRecord::read).collect(),
                claim: claim.read(),
            }),
            PartRecord::NoFault(movers) => Part::NoFault(all(&movers)?),
            PartRecord::NoRace(one, other) => Part::NoRace(all(&one)?, all(&other)?),
            PartRecord::NoDeadlock => Part::NoDeadlock,
        };
        Ok(Implied { part, from: all(&self.from)? })
    }
}

impl LiteralRecord {
    fn new(literal: &Literal) -> Self {
        let demand = match literal.demand {
            Demand::True => DemandRecord::True,
            Demand::False => DemandRecord::False,
            Demand::HasValue => DemandRecord::HasValue,
        };
        LiteralRecord { path: literal.path.clone(), bound: literal.bound.clone(), demand }
    }

    fn read(self) -> Literal {
        let demand = match self.demand {
            DemandRecord::True => Demand::True,
            DemandRecord::False => Demand::False,
            DemandRecord::HasValue => Demand::HasValue,
        };
        Literal { path: self.path, bound: self.bound, demand }
    }
}
