//! A certificate from bytes.
//!
//! Anything may be in the file. The size is examined first, nesting is limited by the JSON reader, the head is compared with
//! the Model before the rest is examined, and every id must be one of the Model's under the name beside it.

use model::Model;
use model::control::PlaceId;
use model::fairness::FairnessId;
use model::process::{FamilyId, ProcessId};
use model::types::Type;
use model::value::Value;
use model::variable::{CellId, VarId};
use serde::Deserialize;
use serde_json::Value as Json;
use serde_json::error::Category;

use super::fingerprint::fingerprint;
use super::ranks::rank_tree;
use super::record::{
    ClaimRecord, ColumnRecord, CrowdRecord, DimensionRecord, FactRecord, ImpliedRecord, LocalFactRecord, MemberRecord,
    NamedId, PointRecord, ProcessRecord, ProofDocument, StatesRecord, SymmetryRecord, VariantRecord, ViolationRecord,
};
use super::{FORMAT, MOST_BYTES, OLDER, ProofError};
use crate::Certificate;
use crate::certificate::{
    Claim, ClaimedSymmetry, Column, ControlPoint, Exchanged, Exposed, Fact, Focus, LocalFact, Member, NoFairRun,
    ProcessDimension, Refutation, SplitInvariant, StateSet, Variant, ViolationName,
};
use crate::crowd::CrowdRefutation;
use crate::implied::Implied;
use crate::itf::value::{brief, from_json};
use crate::pushdown::PushdownProof;
use crate::scope::Scope;

/// A proof as its file has it: which program it is about can be asked before that program is there.
pub struct ProofFile(ProofDocument);

impl ProofFile {
    /// The proof in a file, as far as it is one by itself.
    ///
    /// # Errors
    /// What is not a proof.
    pub fn parse(bytes: &[u8]) -> Result<Self, ProofError> {
        parse(bytes).map(ProofFile)
    }

    /// The program's name.
    pub fn program(&self) -> &str {
        &self.0.program
    }

    /// The program's parameters.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, i64)> {
        self.0.parameters.iter().map(|(name, value)| (name.as_str(), *value))
    }

    /// What it proves.
    pub fn property(&self) -> &str {
        &self.0.property
    }

    /// The method that found it.
    pub fn method(&self) -> &str {
        &self.0.method
    }

    /// For which sizes it is a proof.
    pub fn scope(&self) -> &Scope {
        &self.0.scope
    }

    /// The certificate, if it is about this program.
    ///
    /// # Errors
    /// What does not fit the program.
    pub fn certificate(self, model: &Model) -> Result<Certificate, ProofError> {
        check_program(&self.0, model)?;
        let reader = ProofReader { model };
        let facts = self.0.facts.into_iter().map(|fact| reader.fact(fact));
        let facts = facts.collect::<Result<Vec<Fact>, String>>().map_err(ProofError::DoesNotFit)?;
        let implies = self.0.implies.into_iter().map(|part| reader.implied(part));
        let implies = implies.collect::<Result<Vec<Implied>, String>>().map_err(ProofError::DoesNotFit)?;
        Ok(Certificate { property: self.0.property, scope: self.0.scope, facts, implies })
    }
}

/// The certificate in a file that [`super::to_text`] wrote for the same program.
///
/// # Errors
/// Why it is none.
pub fn read(bytes: &[u8], model: &Model) -> Result<Certificate, ProofError> {
    ProofFile::parse(bytes)?.certificate(model)
}

fn parse(bytes: &[u8]) -> Result<ProofDocument, ProofError> {
    if bytes.len() > MOST_BYTES {
        return Err(ProofError::TooLarge(bytes.len()));
    }
    // The version says how to read the rest, so it is examined first.
    let head: Head = serde_json::from_slice(bytes).map_err(refused)?;
    if head.format != FORMAT {
        return Err(match OLDER.contains(&head.format.as_str()) {
            true => ProofError::Older(head.format),
            false => ProofError::NotAProof(format!("its format is {}", brief(&Json::String(head.format)))),
        });
    }
    let document: ProofDocument = serde_json::from_slice(bytes).map_err(refused)?;
    match &document.digest {
        Some(written) if *written != document.digest_of_claims() => Err(ProofError::Edited),
        _ => Ok(document),
    }
}

/// What every version of the format has.
#[derive(Deserialize)]
struct Head {
    format: String,
}

fn refused(error: serde_json::Error) -> ProofError {
    match error.classify() {
        Category::Eof => ProofError::NotJson(format!("it ends too early ({error})")),
        Category::Syntax | Category::Io => ProofError::NotJson(error.to_string()),
        Category::Data => ProofError::NotAProof(error.to_string()),
    }
}

fn check_program(document: &ProofDocument, model: &Model) -> Result<(), ProofError> {
    let another = |what: String| Err(ProofError::AnotherProgram(what));
    if document.program != model.name {
        let written = brief(&Json::String(document.program.clone()));
        return another(format!("it was written for {written}, this is {}", model.name));
    }
    for (name, value) in model.numbers() {
        let here = format!("this is {name} = {value}");
        match document.parameters.get(name) {
            Some(&written) if written == value => {}
            Some(written) => {
                return another(format!("it was written for {name} = {written}, {here}; give -D {name}={written}"));
            }
            None => return another(format!("it was written without {name}, {here}")),
        }
    }
    if document.parameters.len() != model.numbers().count() {
        return another("it was written for a program with more parameters".to_owned());
    }
    if !model.properties.iter().any(|property| property.name == document.property) {
        return Err(ProofError::NoSuchProperty(brief(&Json::String(document.property.clone()))));
    }
    if document.fingerprint != fingerprint(model, &document.property) {
        return another(format!(
            "what {} does, or what `{}` says, has changed since it was written (comments and layout do not matter)",
            model.name, document.property
        ));
    }
    Ok(())
}

impl FactRecord {
    /// The value of a key, where nothing else is said.
    fn only<T>(mut self, key: &str, take: impl FnOnce(&mut FactRecord) -> Option<T>) -> Result<T, String> {
        let found = take(&mut self).ok_or_else(|| format!("a claim of this kind needs `{key}`"))?;
        let more = self.k.is_some()
            || self.symmetry.is_some()
            || self.processes.is_some()
            || self.members.is_some()
            || self.violation.is_some()
            || self.automaton.is_some()
            || self.variant.is_some()
            || self.foci.is_some()
            || self.swaps.is_some()
            || self.pushdown.is_some()
            || self.sights.is_some()
            || self.refutation.is_some()
            || self.views.is_some()
            || self.rings.is_some()
            || self.fine.is_some()
            || self.counting.is_some()
            || self.crowd.is_some();
        if more { Err(format!("a claim of this kind has nothing but `{key}`")) } else { Ok(found) }
    }
}

/// Ids and values of a program, each under the name beside it.
pub(super) struct ProofReader<'a> {
    pub model: &'a Model,
}

impl ProofReader<'_> {
    fn fact(&self, record: FactRecord) -> Result<Fact, String> {
        let uses = record.uses.clone();
        let claim = match record.claim {
            ClaimRecord::SplitInvariant => Claim::SplitInvariant(self.split_invariant(record)?),
            ClaimRecord::NoFairRun => Claim::NoFairRun(self.no_fair_run(record)?),
            ClaimRecord::Pushdown => Claim::Pushdown(self.pushdown(record)?),
            ClaimRecord::Sights => Claim::Sights(self.sights(&record.only("sights", |record| record.sights.take())?)?),
            ClaimRecord::Refutation => Claim::Refutation(self.refutation(record)?),
            ClaimRecord::Exchanged => Claim::Exchanged(self.exchanged(record)?),
            ClaimRecord::Crowd => Claim::Crowd(self.crowd(record)?),
            ClaimRecord::Views => {
                let views = record.only("views", |record| record.views.take())?;
                Claim::Views(views.proof().ok_or("a column of `views` stands in the wrong part")?)
            }
            ClaimRecord::Fine => {
                let fine = record.only("fine", |record| record.fine.take())?;
                Claim::Fine(fine.proof().ok_or("an item of `fine` stands in the wrong part")?)
            }
            ClaimRecord::Counting => Claim::Counting(record.only("counting", |record| record.counting.take())?.proof()),
            ClaimRecord::Rings => Claim::Rings(record.only("rings", |record| record.rings.take())?.proof()),
        };
        Ok(Fact { claim, uses })
    }

    fn exchanged(&self, mut record: FactRecord) -> Result<Exchanged, String> {
        let violation = record.violation.take().ok_or("an exchange of processes needs `violation`")?;
        let symmetry = record.symmetry.take().ok_or("an exchange of processes needs `symmetry`")?;
        let swaps = record.only("swaps", |record| record.swaps.take())?;
        let swap = |(one, other): &(NamedId, NamedId)| Ok([self.process(one)?, self.process(other)?]);
        Ok(Exchanged {
            violation: self.violation(violation)?,
            swaps: swaps.iter().map(swap).collect::<Result<_, String>>()?,
            symmetry: self.symmetry(&symmetry)?,
        })
    }

    fn crowd(&self, mut record: FactRecord) -> Result<CrowdRefutation, String> {
        let violation = record.violation.take().ok_or("a refutation needs `violation`")?;
        let automaton = record.automaton.take().ok_or("a refutation needs `automaton`")?;
        let CrowdRecord { sums, branches } = record.only("crowd", |record| record.crowd.take())?;
        Ok(CrowdRefutation { violation: self.violation(violation)?, automaton, sums, branches })
    }

    fn refutation(&self, mut record: FactRecord) -> Result<Refutation, String> {
        let violation = record.violation.take().ok_or("a refutation needs `violation`")?;
        let automaton = record.automaton.take().ok_or("a refutation needs `automaton`")?;
        let claim = record.only("refutation", |record| record.refutation.take())?;
        Ok(Refutation {
            violation: self.violation(violation)?,
            automaton,
            members: claim.members.iter().map(|named| self.process(named)).collect::<Result<_, String>>()?,
            cells: claim.cells.iter().map(|named| self.cell(named)).collect::<Result<_, String>>()?,
            controls: claim.controls.iter().map(|named| self.process(named)).collect::<Result<_, String>>()?,
            steps: self.steps(claim.steps)?,
        })
    }

    fn pushdown(&self, record: FactRecord) -> Result<PushdownProof, String> {
        let is_strange = record.k.is_some()
            || record.symmetry.is_some()
            || record.processes.is_some()
            || record.members.is_some()
            || record.violation.is_some()
            || record.automaton.is_some()
            || record.variant.is_some()
            || record.foci.is_some()
            || record.swaps.is_some()
            || record.sights.is_some()
            || record.refutation.is_some()
            || record.views.is_some()
            || record.crowd.is_some();
        match record.pushdown {
            Some(claim) if !is_strange => claim.read(self),
            Some(_) => Err("a claim about path edges has nothing but `pushdown`".to_owned()),
            None => Err("a claim about path edges needs `pushdown`".to_owned()),
        }
    }

    fn no_fair_run(&self, record: FactRecord) -> Result<NoFairRun, String> {
        let strange = [
            ("k", record.k.is_some()),
            ("symmetry", record.symmetry.is_some()),
            ("processes", record.processes.is_some()),
            ("members", record.members.is_some()),
            ("swaps", record.swaps.is_some()),
            ("pushdown", record.pushdown.is_some()),
            ("sights", record.sights.is_some()),
            ("refutation", record.refutation.is_some()),
            ("views", record.views.is_some()),
            ("rings", record.rings.is_some()),
            ("fine", record.fine.is_some()),
            ("counting", record.counting.is_some()),
            ("crowd", record.crowd.is_some()),
        ];
        if let Some((key, _)) = strange.into_iter().find(|(_, is_there)| *is_there) {
            return Err(format!("a claim that there is no fair run has no `{key}`"));
        }
        let missing = |key: &str| format!("a claim that there is no fair run needs `{key}`");
        let variant = match record.variant.ok_or_else(|| missing("variant"))? {
            VariantRecord::OneProcess => Variant::OneProcess,
            VariantRecord::EveryProcess { mark } => Variant::EveryProcess { mark },
        };
        let foci = record.foci.ok_or_else(|| missing("foci"))?.into_iter().map(|focus| {
            let process = self.process(&focus.process)?;
            Ok(Focus { process, nodes: focus.nodes, ranks: rank_tree(focus.trees)? })
        });
        let violation = self.violation(record.violation.ok_or_else(|| missing("violation"))?)?;
        let automaton = record.automaton.ok_or_else(|| missing("automaton"))?;
        Ok(NoFairRun { violation, automaton, variant, foci: foci.collect::<Result<_, String>>()? })
    }

    fn split_invariant(&self, record: FactRecord) -> Result<SplitInvariant, String> {
        let strange = [
            ("violation", record.violation.is_some()),
            ("automaton", record.automaton.is_some()),
            ("variant", record.variant.is_some()),
            ("foci", record.foci.is_some()),
            ("swaps", record.swaps.is_some()),
            ("pushdown", record.pushdown.is_some()),
            ("sights", record.sights.is_some()),
            ("refutation", record.refutation.is_some()),
            ("views", record.views.is_some()),
            ("rings", record.rings.is_some()),
            ("fine", record.fine.is_some()),
            ("counting", record.counting.is_some()),
            ("crowd", record.crowd.is_some()),
        ];
        if let Some((key, _)) = strange.into_iter().find(|(_, is_there)| *is_there) {
            return Err(format!("a split invariant has no `{key}`"));
        }
        let missing = |key: &str| format!("a split invariant needs `{key}`");
        let k = record.k.ok_or_else(|| missing("k"))?;
        let symmetry = record.symmetry.map(|symmetry| self.symmetry(&symmetry)).transpose()?;
        let processes = record.processes.ok_or_else(|| missing("processes"))?;
        let members = record.members.ok_or_else(|| missing("members"))?;
        let n_processes = self.model.processes.len();
        if processes.len() != n_processes {
            return Err(format!("it lists {} processes, the program has {n_processes}", processes.len()));
        }
        let (mut points, mut exposed) = (Vec::new(), Vec::new());
        for (process, listed) in self.model.processes.ids().zip(processes) {
            let ProcessRecord { process: named, points: listed_points, exposed: facts, blocks } = listed;
            if self.process(&named)? != process {
                return Err(format!("its processes are not in the order of the program: {}", text(&named)));
            }
            let listed_points = listed_points.into_iter().map(|point| self.point(point));
            let listed_points = listed_points.collect::<Result<Vec<ControlPoint>, String>>()?;
            let facts = facts.into_iter().map(|fact| self.local_fact(fact, &listed_points));
            exposed.push(Exposed { facts: facts.collect::<Result<_, String>>()?, blocks });
            points.push(listed_points);
        }
        let members = members.into_iter().map(|member| self.member(member)).collect::<Result<_, String>>()?;
        Ok(SplitInvariant { k, points, exposed, members, symmetry })
    }

    fn implied(&self, record: ImpliedRecord) -> Result<Implied, String> {
        let processes =
            |list: &[NamedId]| list.iter().map(|named| self.process(named)).collect::<Result<Vec<_>, String>>();
        Ok(match record {
            ImpliedRecord::Clause { cuts, from } => Implied::Clause { cuts, from: processes(&from)? },
            ImpliedRecord::NoFault { movers, from } => {
                Implied::NoFault { movers: processes(&movers)?, from: processes(&from)? }
            }
            ImpliedRecord::NoRace { movers: [one, other], from } => {
                Implied::NoRace { movers: [processes(&one)?, processes(&other)?], from: processes(&from)? }
            }
            ImpliedRecord::NoDeadlock { from } => {
                Implied::NoDeadlock { from: from.iter().map(|group| processes(group)).collect::<Result<_, String>>()? }
            }
        })
    }

    fn symmetry(&self, record: &SymmetryRecord) -> Result<ClaimedSymmetry, String> {
        let dimension = |one: &DimensionRecord| {
            let array = self.model.vars.as_slice().get(one.array.0).map(|var| var.name.as_str());
            let family = self.model.families.as_slice().get(one.family.0).map(|family| family.name.as_str());
            Ok(ProcessDimension {
                var: self.known(&one.array, "variable", array).map(VarId::new)?,
                dimension: one.dimension,
                family: self.known(&one.family, "family", family).map(FamilyId::new)?,
            })
        };
        Ok(ClaimedSymmetry { dimensions: record.dimensions.iter().map(dimension).collect::<Result<_, String>>()? })
    }

    fn violation(&self, record: ViolationRecord) -> Result<ViolationName, String> {
        let pair = |named: &NamedId| {
            let known = self.model.fairness.as_slice().get(named.0).map(|pair| pair.name.as_str());
            self.known(named, "fairness assumption", known).map(FairnessId::new)
        };
        let fairness = record.fairness.iter().map(pair).collect::<Result<_, String>>()?;
        Ok(ViolationName { part: record.part, instance: record.instance, fairness })
    }

    pub(super) fn process(&self, named: &NamedId) -> Result<ProcessId, String> {
        let known = self.model.processes.as_slice().get(named.0).map(|process| process.name.as_str());
        self.known(named, "process", known).map(ProcessId::new)
    }

    pub(super) fn cell(&self, named: &NamedId) -> Result<CellId, String> {
        let known = self.model.cells.as_slice().get(named.0).map(|cell| cell.name.as_str());
        self.known(named, "variable", known).map(CellId::new)
    }

    pub(super) fn place(&self, named: &NamedId) -> Result<PlaceId, String> {
        match self.model.places.as_slice().get(named.0) {
            // A place without a label is called by its line, which may change.
            Some(place) if place.labels.is_empty() => Ok(PlaceId::new(named.0)),
            place => self.known(named, "place", place.map(|place| place.name.as_str())).map(PlaceId::new),
        }
    }

    /// The id, if this is what the program knows it by.
    pub(super) fn known(&self, named: &NamedId, what: &str, known: Option<&str>) -> Result<usize, String> {
        match known {
            Some(known) if known == named.1 => Ok(named.0),
            Some(known) => Err(format!("{what} {} is {known}, not {}", named.0, text(named))),
            None => Err(format!("there is no {what} {}, which it calls {}", named.0, text(named))),
        }
    }

    pub(super) fn value(&self, cell: CellId, json: &Json) -> Result<Value, String> {
        let mut values = Vec::new();
        let cell = &self.model.cells[cell];
        from_json(self.model, &Type::Scalar(cell.ty), json, &mut values)
            .map_err(|what| format!("{}: {what}", cell.name))?;
        values.pop().ok_or_else(|| format!("{} has no value", cell.name))
    }

    fn point(&self, record: PointRecord) -> Result<ControlPoint, String> {
        let counters = record.counters.iter().map(|(named, json)| {
            let cell = self.cell(named)?;
            Ok((cell, self.value(cell, json)?))
        });
        Ok(ControlPoint { place: self.place(&record.place)?, counters: counters.collect::<Result<_, String>>()? })
    }

    fn local_fact(&self, record: LocalFactRecord, points: &[ControlPoint]) -> Result<LocalFact, String> {
        match record {
            LocalFactRecord::At(named) => {
                let number = |named: &NamedId| match points.get(named.0) {
                    Some(point) if self.model.places[point.place].labels.is_empty() => Ok(named.0),
                    point => {
                        let known = point.map(|point| self.model.places[point.place].name.as_str());
                        self.known(named, "control point", known)
                    }
                };
                Ok(LocalFact::Control(named.iter().map(number).collect::<Result<_, String>>()?))
            }
            LocalFactRecord::Cell(named, json) => {
                let cell = self.cell(&named)?;
                Ok(LocalFact::Cell(cell, self.value(cell, &json)?))
            }
            LocalFactRecord::OneOf(lists) => {
                let list = |list: Vec<LocalFactRecord>| {
                    list.into_iter().map(|fact| self.local_fact(fact, points)).collect::<Result<_, String>>()
                };
                Ok(LocalFact::OneOf(lists.into_iter().map(list).collect::<Result<_, String>>()?))
            }
        }
    }

    fn member(&self, record: MemberRecord) -> Result<Member, String> {
        let column = |column: &ColumnRecord| {
            Ok(match column {
                ColumnRecord::Cell(named) => Column::Cell(self.cell(named)?),
                ColumnRecord::Control(named) => Column::Control(self.process(named)?),
                ColumnRecord::Exposed(named) => Column::Exposed(self.process(named)?),
            })
        };
        Ok(Member {
            processes: record.of.iter().map(|named| self.process(named)).collect::<Result<_, String>>()?,
            columns: record.columns.iter().map(column).collect::<Result<_, String>>()?,
            states: match record.states {
                StatesRecord::Rows(rows) => StateSet::Rows(rows),
                StatesRecord::Diagram { order, nodes } => StateSet::Diagram { order, nodes },
            },
        })
    }
}

/// A name, short enough for a message.
pub(super) fn text(named: &NamedId) -> String {
    brief(&Json::String(named.1.clone()))
}
