//! Crowds: processes of one family of which one view represents all, and refutations in which one set does.
//!
//! In: what processes see, and which of them are said to be interchangeable. Out: that they are, by the definition of the program; and replayed refutations in
//! which a set of edges speaks of every process of a crowd. Permutations of a crowd take the program to itself, move nothing but what belongs to its processes,
//! which no other process sees, and change no value. So the view states of one are those of all, and a rule that treats all of them symmetrically leaves sets
//! that are images of each other. The views of two of a crowd are made, so that one shows what another one does.
//!
//! An edge says which process stepped: the process of the view, a certain other one, or *some other one of a crowd*. A process that is singled out leaves its crowd: what
//! was said of all holds of it, and what others saw of some process of the crowd may have been it. Which one is singled out does not matter. At least three always
//! stay in a crowd, so that beside any two there is a third.

pub(super) mod replay;

use std::collections::BTreeSet;

use evidence::certificate::ClaimedSymmetry;
use evidence::propagation::{Additive, ProcessWeights, Sights};
use model::Model;
use model::process::ProcessId;
use model::property::PropertyKind;
use model::types::ScalarType;
use model::variable::CellId;

use super::views::Item;
use crate::certificate::numbering::name;
use crate::certificate::symmetry::Symmetry;
use crate::certificate::{CertificateError, Outcome, words};

/// So many processes stay in a crowd.
const FEWEST: usize = 3;

/// The crowds of a program.
pub(super) struct Crowds<'a> {
    list: Vec<Vec<ProcessId>>,
    /// By process, the crowd that it belongs to.
    of: Vec<Option<usize>>,
    /// There are crowds only where there is one.
    symmetry: Option<Symmetry<'a>>,
}

impl<'a> Crowds<'a> {
    /// The crowds that are claimed, if their processes are interchangeable.
    pub fn new(model: &'a Model, sights: &Sights) -> Outcome<Self> {
        let mut of = vec![None; model.processes.len()];
        if sights.crowds.is_empty() {
            return Ok(Crowds { list: Vec::new(), of, symmetry: None });
        }
        for (number, crowd) in sights.crowds.iter().enumerate() {
            let family = crowd.first().and_then(|first| model.processes.get(*first)).map(|first| first.family);
            for &process in crowd {
                let known = model.processes.get(process).filter(|one| Some(one.family) == family);
                if known.is_none() || of[process.index()].replace(number).is_some() {
                    return malformed("a crowd has to have processes of one family, each in one crowd");
                }
            }
            if crowd.len() < FEWEST {
                return malformed("a crowd has to have three processes or more");
            }
        }
        let stated = ClaimedSymmetry { dimensions: Vec::new() };
        let symmetry =
            Symmetry::stated(model, &PropertyKind::NoErrors, &stated).map_err(CertificateError::NotSymmetric)?;
        let crowds = Crowds { list: sights.crowds.clone(), of, symmetry: Some(symmetry) };
        crowds.check_values(model)?;
        crowds.check_sights(model, sights)?;
        sights.additive.iter().try_for_each(|sum| crowds.check_sum(model, sum))?;
        Ok(crowds)
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether the view of a process is made: of a crowd those of the first two.
    pub fn is_looked_at(&self, process: ProcessId) -> bool {
        self.of[process.index()].is_none_or(|crowd| self.list[crowd][..2].contains(&process))
    }

    /// No value names a process of a crowd.
    fn check_values(&self, model: &Model) -> Outcome<()> {
        let families: BTreeSet<_> = self.list.iter().map(|crowd| model.processes[crowd[0]].family).collect();
        let names = |ty: ScalarType| match ty {
            ScalarType::Pid(family) | ScalarType::PidOrNone(family) => families.contains(&family),
            ScalarType::Lock => true,
            ScalarType::Bool | ScalarType::Range { .. } | ScalarType::Semaphore { .. } | ScalarType::Enum(_) => false,
        };
        match model.cells.iter().find(|cell| names(cell.ty)) {
            Some(cell) => {
                words::refused("no value may name a process of a crowd", format!("{} can name one", cell.name))
            }
            None => Ok(()),
        }
    }

    /// What belongs to a process of a crowd is seen by no other process, and all of a crowd see the same besides, in the same order.
    fn check_sights(&self, model: &Model, sights: &Sights) -> Outcome<()> {
        if sights.seen.len() != model.processes.len() {
            return malformed("it does not say for each process what it sees");
        }
        for (process, sight) in model.processes.ids().zip(&sights.seen) {
            let owners = sight.cells.iter().filter_map(|&cell| model.cells.get(cell)?.owner);
            if { owners }.chain(sight.controls.iter().copied()).any(|owner| self.crowd(owner).is_some()) {
                return words::refused(
                    "nobody may see what belongs to a process of a crowd",
                    format!("{} does", name(model, process)),
                );
            }
        }
        for crowd in &self.list {
            let first = shape(model, sights, crowd[0]);
            if let Some(other) = crowd.iter().find(|&&process| shape(model, sights, process) != first) {
                return words::refused(
                    "processes of a crowd have to see the same",
                    format!("{} sees something else", name(model, *other)),
                );
            }
        }
        Ok(())
    }

    /// All of a crowd weigh the same, and nothing that belongs to one of them is on the left side.
    fn check_sum(&self, model: &Model, sum: &Additive) -> Outcome<()> {
        let cells = sum.cells.iter().map(|one| one.cell).chain(sum.groups.iter().flat_map(|group| group.cells.clone()));
        let owned = { cells }.filter_map(|cell| model.cells.get(cell)?.owner).any(|owner| self.crowd(owner).is_some());
        let of = |process: ProcessId| {
            let own: Vec<CellId> = own_cells(model, process).collect();
            let weighed = |one: &ProcessWeights| {
                let places = one.cells.iter().map(|cell| own.iter().position(|other| other == cell));
                (places.collect::<Vec<_>>(), one.weights.clone())
            };
            sum.processes.iter().filter(|one| one.process == process).map(weighed).collect::<Vec<_>>()
        };
        let differs = |crowd: &Vec<ProcessId>| {
            let first = of(crowd[0]);
            crowd.iter().any(|&process| of(process) != first)
        };
        if owned || self.list.iter().any(differs) {
            return words::refused("processes of a crowd have to weigh the same", "they do not");
        }
        Ok(())
    }

    fn crowd(&self, process: ProcessId) -> Option<usize> {
        *self.of.get(process.index())?
    }
}

fn malformed<T>(what: &str) -> Outcome<T> {
    Err(CertificateError::Malformed(what.to_owned()))
}

fn own_cells(model: &Model, process: ProcessId) -> impl Iterator<Item = CellId> {
    model.cells.entries().filter(move |(_, cell)| cell.owner == Some(process)).map(|(id, _)| id)
}

/// Something that a process sees: of its own, by number, or of others.
#[derive(PartialEq)]
enum Shown {
    Own(Option<usize>),
    Other(Item),
}

/// What a process sees, in the order of its rows, with what is its own by numbers.
fn shape(model: &Model, sights: &Sights, process: ProcessId) -> Vec<Shown> {
    let own: Vec<CellId> = own_cells(model, process).collect();
    let sight = &sights.seen[process.index()];
    let cells = own.iter().chain(&sight.cells).map(|&cell| Item::Cell(cell));
    let controls = sight.controls.iter().chain([&process]).map(|&other| Item::Control(other));
    let items: BTreeSet<Item> = cells.chain(controls).collect();
    let shown = |item: Item| match item {
        Item::Cell(cell) if own.contains(&cell) => Shown::Own(own.iter().position(|&other| other == cell)),
        Item::Control(one) if one == process => Shown::Own(None),
        other => Shown::Other(other),
    };
    items.into_iter().map(shown).collect()
}
