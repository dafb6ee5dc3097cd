//! Exposed facts and sets of whole states, for completion.
//!
//! In: facts about local states. Out: local sets in which all processes see them, as a partition of each process's local states into
//! blocks. Sets of whole states do not mention exposed blocks: these follow from the local states.

use base::{Feature, StopReason, Unsupported};
use compose::backend::{Deciding, Join, Prime, Refinable};
use evidence::certificate::{Exposed, LocalFact};
use model::eval::State;
use model::process::ProcessId;
use model::property::PropertyKind;
use model::variable::Storage;

use crate::bdd::{Bdd, OutOfNodes};
use crate::encoding::FieldContent;
use crate::local::LocalSets;

impl Refinable for LocalSets<'_> {
    fn expose(&mut self, facts: &[(ProcessId, LocalFact)]) -> Result<bool, StopReason> {
        let mut new = false;
        for (process, fact) in facts {
            let split = self.split_blocks(*process, fact);
            new |= self.bdd(split)?;
            let room = self.system().encoding.field(FieldContent::Exposed(*process)).n_values as usize;
            if self.exposed[process.index()].blocks.len() > room {
                let name = &self.system().model.processes[*process].name;
                return Err(Unsupported::about(Feature::ManyBlocks, name).into());
            }
        }
        if new {
            self.refresh_commands()?;
        }
        Ok(new)
    }

    fn exposed(&self) -> Vec<(ProcessId, LocalFact)> {
        let of =
            |process: ProcessId| self.exposed[process.index()].facts.iter().map(move |fact| (process, fact.clone()));
        self.system().model.processes.ids().flat_map(of).collect()
    }

    fn initial_states(&mut self) -> Result<Bdd, StopReason> {
        let exposed = self.bdd(self.exposed_bits())?;
        self.bdd(self.system().encoding.space.exists(&self.system().initial, &exposed))
    }

    fn deciding(&mut self, property: &PropertyKind) -> Result<Deciding<Bdd>, StopReason> {
        let Deciding { decided, faulty } = self.decided_and_faulty(property)?;
        let exposed = self.bdd(self.exposed_bits())?;
        let space = &self.system().encoding.space;
        let plain = |set: &Bdd| self.bdd(space.exists(set, &exposed));
        Ok(Deciding { decided: plain(&decided)?, faulty: plain(&faulty)? })
    }

    fn within(&mut self, states: &Bdd, join: Join<'_, Bdd>) -> Result<Bdd, StopReason> {
        let tie = self.tied()?;
        let space = &self.system().encoding.space;
        let mut rest = self.bdd(space.and(states, &tie))?;
        for (_, local) in join {
            rest = self.bdd(space.and(&rest, local))?;
        }
        let exposed = self.bdd(self.exposed_bits())?;
        self.bdd(space.exists(&rest, &exposed))
    }

    fn before(&mut self, states: &Bdd, join: Join<'_, Bdd>) -> Result<Bdd, StopReason> {
        let space = &self.system().encoding.space;
        let mut before = space.empty();
        for command in self.system().commands() {
            let one = self.bdd(self.system().before(command, states))?;
            before = self.bdd(space.or(&before, &one))?;
        }
        let exposed = self.bdd(self.exposed_bits())?;
        let before = self.bdd(space.exists(&before, &exposed))?;
        self.within(&before, join)
    }

    fn sample(&mut self, states: &Bdd) -> Option<State> {
        self.system().pick(states)
    }

    fn successor_within(&mut self, state: &State, sets: &[Bdd]) -> Result<Option<State>, StopReason> {
        match self.system().encoding.has_choices() {
            true => self.bdd(self.system().successor_within(state, sets)),
            false => Ok(self.enumerated_successor_within(state, sets)),
        }
    }

    fn contains(&self, states: &Bdd, state: &State) -> bool {
        states.contains(&self.system().vector(state))
    }

    fn prime_facts(&mut self, inside: &Bdd, state: &State) -> Result<Prime<Bdd>, StopReason> {
        let vector = self.system().vector(state);
        let encoding = &self.system().encoding;
        let parts = encoding
            .parts()
            .iter()
            .copied()
            .filter(|part| !matches!(part, FieldContent::Exposed(_) | FieldContent::Turn));
        let (shared, local): (Vec<FieldContent>, Vec<FieldContent>) = parts.partition(|&part| self.is_shared(part));
        // Vectors that are no states do no harm.
        let space = &encoding.space;
        let loose = self.bdd(space.not(&self.system().valid).and_then(|invalid| space.or(inside, &invalid)))?;
        let facts = self.bdd(self.needed(&loose, &shared, (&local, &vector)))?;
        let around = self.bdd(self.needed(&loose, &facts, (&shared, &vector)))?;
        let value = |part: &FieldContent| encoding.field(*part).read(&vector);
        let set = |parts: &[FieldContent]| encoding.assignment(parts.iter().map(|part| (*part, value(part))));
        let (satisfying, around) = (space.set_of(&self.bdd(set(&facts))?), space.set_of(&self.bdd(set(&around))?));
        let inside = self.bdd(space.and(&satisfying, &around))?;
        Ok(Prime { facts: facts.iter().map(|part| self.fact(*part, value(part))).collect(), satisfying, inside })
    }
}

impl LocalSets<'_> {
    /// Nothing is exposed any more.
    pub(crate) fn forget_exposed(&mut self) -> Result<(), StopReason> {
        let all = self.system().encoding.space.all();
        for (exposed, blocks) in self.exposed.iter_mut().zip(&mut self.blocks) {
            *exposed = Exposed { facts: Vec::new(), blocks: vec![Vec::new()] };
            *blocks = vec![all.clone()];
        }
        self.refresh_commands()
    }

    /// Splits the blocks of a process by a fact; whether some block was split.
    fn split_blocks(&mut self, process: ProcessId, fact: &LocalFact) -> Result<bool, OutOfNodes> {
        let holds = self.holds(process, fact)?;
        let space = &self.system().encoding.space;
        let old = &self.exposed[process.index()];
        let mut exposed = Exposed { facts: old.facts.clone(), blocks: Vec::new() };
        exposed.facts.push(fact.clone());
        let mut blocks = Vec::new();
        let valid = &self.system().valid;
        for (states, truths) in self.blocks[process.index()].iter().zip(&old.blocks) {
            for (part, truth) in [(space.and(states, &holds)?, true), (space.minus(states, &holds)?, false)] {
                if !space.and(&part, valid)?.is_empty() {
                    blocks.push(part);
                    exposed.blocks.push(truths.iter().copied().chain([truth]).collect());
                }
            }
        }
        let new = blocks.len() > self.blocks[process.index()].len();
        if new {
            self.blocks[process.index()] = blocks;
            self.exposed[process.index()] = exposed;
        }
        Ok(new)
    }

    /// The states in which a fact about a process holds.
    fn holds(&self, process: ProcessId, fact: &LocalFact) -> Result<Bdd, OutOfNodes> {
        let encoding = &self.system().encoding;
        match fact {
            LocalFact::Control(points) => {
                encoding.one_of(FieldContent::Control(process), points.iter().map(|&point| point as u64))
            }
            LocalFact::Cell(cell, value) => {
                let position = encoding.position(*cell, *value).expect("facts are about values of the cell's type");
                encoding.equals(FieldContent::Cell(*cell), position)
            }
            LocalFact::OneOf(lists) => {
                let mut some = encoding.space.empty();
                for list in lists {
                    let mut all = encoding.space.all();
                    for fact in list {
                        all = encoding.space.and(&all, &self.holds(process, fact)?)?;
                    }
                    some = encoding.space.or(&some, &all)?;
                }
                Ok(some)
            }
        }
    }

    fn fact(&self, part: FieldContent, value: u64) -> (ProcessId, LocalFact) {
        match part {
            FieldContent::Control(process) => (process, LocalFact::Control(vec![value as usize])),
            FieldContent::Cell(cell) => {
                let owner = self.system().model.cells[cell].owner.expect("local cells have an owner");
                (owner, LocalFact::Cell(cell, self.system().encoding.value(cell, value)))
            }
            FieldContent::Exposed(_) | FieldContent::Turn => unreachable!("neither blocks nor turns are local parts"),
        }
    }

    /// The parts that have to be as in the vector for all vectors that agree with it on these and on the fixed ones to be in the
    /// set, by leaving out one after the other.
    fn needed(
        &self,
        set: &Bdd,
        fixed: &[FieldContent],
        (parts, vector): (&[FieldContent], &[bool]),
    ) -> Result<Vec<FieldContent>, OutOfNodes> {
        let (encoding, space) = (&self.system().encoding, &self.system().encoding.space);
        let value = |&part: &FieldContent| (part, encoding.field(part).read(vector));
        let set = space.restrict(set, &encoding.assignment(fixed.iter().map(value))?)?;
        // What the way of the vector through the diagram does not ask about can be left out, all of it at once.
        let asked = set.asked(vector);
        let is_asked = |&part: &FieldContent| encoding.field(part).bits().any(|bit| asked.contains(&bit));
        let mut kept: Vec<FieldContent> = parts.iter().copied().filter(is_asked).collect();
        for part in kept.clone() {
            let without = kept.iter().filter(|&&other| other != part).map(value);
            if space.restrict(&set, &encoding.assignment(without)?)?.is_all() {
                kept.retain(|&other| other != part);
            }
        }
        Ok(kept)
    }

    fn is_shared(&self, part: FieldContent) -> bool {
        let model = self.system().model;
        match part {
            FieldContent::Cell(cell) => {
                !matches!(model.vars[model.cells[cell].var].storage, Storage::Local(_) | Storage::Frame(_))
            }
            FieldContent::Control(_) | FieldContent::Exposed(_) | FieldContent::Turn => false,
        }
    }

    fn exposed_bits(&self) -> Result<crate::bdd::Cube, OutOfNodes> {
        self.system().encoding.bits(self.system().model.processes.ids().map(FieldContent::Exposed))
    }
}
