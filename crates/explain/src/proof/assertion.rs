//! Sentences about members of a proof with their texts, which processes they are about, and which of them hold.
//!
//! In: the sentences about a member. Out: a [`MemberAssertion`]; parts with the same sentences become one, and the judge decides which sentences stay.

use evidence::certificate::{Column, Member, SplitInvariant};
use model::Model;
use model::process::{FamilyId, ProcessId};
use model::variable::VariableLook;

use super::check::{MemberSentence, SentenceJudge};
use super::formula::{Letter, NamedProcess, PlaceName, QuantifiedSentence, Quantity, SentenceFormula};
use super::lines::SourceStep;
use super::member::{Called, MemberSentences, Spoken};
use super::scene::Only;
use super::{mirror, names, render};
use crate::text::clean;

/// A sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assertion {
    /// What it says.
    pub formula: SentenceFormula,
    /// The same for people.
    pub text: String,
    /// The same for all processes that it is about, as an invariant in the program's language; `None` where that cannot be said so.
    pub expression: Option<String>,
    /// For each member that it is about the columns that it speaks of.
    pub(super) columns: Vec<Vec<Column>>,
}

/// What else holds at some places of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtPlaces {
    /// The places' names.
    pub at: Vec<String>,
    /// The places.
    pub spots: Vec<PlaceName>,
    /// What holds there.
    pub says: Vec<Assertion>,
}

/// The sentences about some members.
#[derive(Clone, Debug)]
pub struct MemberAssertion {
    /// The members' processes, by name.
    pub members: Vec<String>,
    /// What the member is called in the texts: `i`, `i and j`, `Monitor`.
    pub letters: String,
    /// Which processes it is about: `process i, for every i`.
    pub whom: String,
    /// Whether it is about all processes of their families.
    pub is_all: bool,
    /// What holds at every place of the processes.
    pub always: Vec<Assertion>,
    /// What else holds at places of a single process.
    pub places: Vec<AtPlaces>,
    /// Places at which the process never is.
    pub unreached: Vec<String>,
    /// How many sentences are left out, since they were not found to be true in all view states.
    pub n_left_out: usize,
    /// For each of the [`MemberAssertion::sentences`], the steps of others that touch what it speaks of.
    pub touched_by: Vec<Vec<SourceStep>>,
    /// The members, each with the processes that the letters denote.
    pub(super) said: Vec<MemberSentence>,
    /// The names of the letters.
    letter_names: Vec<String>,
    /// The process at whose places something holds.
    stands: Option<NamedProcess>,
    /// The families of the member's processes.
    families: Vec<FamilyId>,
    never_at: Vec<PlaceName>,
    /// Which processes of the family it is about, where few represent many.
    pub only: Only,
    /// What it is about besides, where that is not everything.
    beside: Option<String>,
    /// Whether more is true than these words can say.
    pub is_cut: bool,
}

/// The sentences about a scene.
#[derive(Clone, Debug, Default)]
pub(super) struct SceneSays {
    /// What holds at every place of the process.
    pub always: Vec<SentenceFormula>,
    /// What else holds at places.
    pub places: Vec<(Vec<PlaceName>, Vec<SentenceFormula>)>,
    /// Places at which the process never is.
    pub never_at: Vec<PlaceName>,
    /// Sentences that were not found to be true.
    pub n_left_out: usize,
    /// Whether more is true than the sentences say.
    pub is_cut: bool,
}

impl MemberAssertion {
    /// The sentences about a member.
    pub(super) fn new(
        model: &Model,
        (at, member): (usize, &Member),
        sentences: &MemberSentences,
        called: &Called,
    ) -> Self {
        let letter_names = called.letters.clone();
        let assertion = |spoken: &Spoken| Assertion {
            text: render::text(model, &letter_names, &spoken.formula),
            formula: spoken.formula.clone(),
            expression: None,
            columns: vec![spoken.columns.clone()],
        };
        let place = |spot: &PlaceName| spot_name(model, &letter_names, spot);
        let position = |process: &ProcessId| called.own.iter().position(|own| own == process);
        let name = |process: &ProcessId| match position(process) {
            Some(at) => letter_names[at].clone(),
            None => clean(&model.processes[*process].name),
        };
        let stands = match member.processes[..] {
            [process] => Some(position(&process).map_or(NamedProcess::Process(process), |at| {
                NamedProcess::Letter(Letter { at, family: model.processes[process].family })
            })),
            _ => None,
        };
        MemberAssertion {
            members: vec![names(model, &member.processes)],
            letters: member.processes.iter().map(name).collect::<Vec<_>>().join(" and "),
            whom: String::new(),
            is_all: false,
            always: sentences.always.iter().map(assertion).collect(),
            places: sentences
                .places
                .iter()
                .map(|places| AtPlaces {
                    at: places.spots.iter().map(place).collect(),
                    spots: places.spots.clone(),
                    says: places.said.iter().map(assertion).collect(),
                })
                .collect(),
            unreached: sentences.unreached.iter().map(place).collect(),
            n_left_out: 0,
            touched_by: Vec::new(),
            said: vec![MemberSentence { member: at, own: called.own.clone() }],
            letter_names,
            stands,
            families: member.processes.iter().map(|&process| model.processes[process].family).collect(),
            never_at: sentences.unreached.clone(),
            only: Only::All,
            beside: None,
            is_cut: false,
        }
    }

    /// The sentences about a process of a family that represents many.
    pub(super) fn of_scene(model: &Model, family: FamilyId, says: SceneSays, letter_names: Vec<String>) -> Self {
        let assertion = |formula: &SentenceFormula| Assertion {
            text: render::text(model, &letter_names, formula),
            formula: formula.clone(),
            expression: None,
            columns: Vec::new(),
        };
        let place = |spot: &PlaceName| spot_name(model, &letter_names, spot);
        let at_places = |(spots, said): &(Vec<PlaceName>, Vec<SentenceFormula>)| AtPlaces {
            at: spots.iter().map(place).collect(),
            spots: spots.clone(),
            says: said.iter().map(assertion).collect(),
        };
        MemberAssertion {
            members: vec![format!("{}[*]", clean(&model.families[family].name))],
            letters: letter_names[0].clone(),
            whom: String::new(),
            is_all: false,
            always: says.always.iter().map(assertion).collect(),
            places: says.places.iter().map(at_places).collect(),
            unreached: says.never_at.iter().map(place).collect(),
            n_left_out: says.n_left_out,
            touched_by: Vec::new(),
            said: Vec::new(),
            letter_names,
            stands: Some(NamedProcess::Letter(Letter { at: 0, family })),
            families: vec![family],
            never_at: says.never_at,
            only: Only::All,
            beside: None,
            is_cut: says.is_cut,
        }
    }

    /// Adds what holds in every view.
    pub(super) fn say_always(&mut self, model: &Model, formulas: Vec<SentenceFormula>) {
        let said = formulas.into_iter().map(|formula| {
            let text = render::text(model, &self.letter_names, &formula);
            Assertion { formula, text, expression: None, columns: Vec::new() }
        });
        let said: Vec<Assertion> = said.collect();
        self.always.splice(0..0, said);
    }

    /// Adds sums over all processes, which an earlier fact of the proof says.
    pub(super) fn say_sums(&mut self, model: &Model, formulas: Vec<SentenceFormula>) {
        let letters = ["i", "k"].map(str::to_owned);
        let said = formulas.into_iter().map(|formula| {
            let text = render::text(model, &letters, &formula);
            let expression = render::expression(model, &letters, &formula);
            Assertion { formula, text, expression, columns: Vec::new() }
        });
        let said: Vec<Assertion> = said.filter(|one| !one.text.is_empty()).collect();
        // Steps keep a sum both sides of which they change.
        self.touched_by.splice(0..0, said.iter().map(|_| Vec::new()));
        self.always.splice(0..0, said);
    }

    /// The same, said of some processes of the family, and of these cells.
    pub(super) fn about(self, only: Only, beside: Option<String>) -> Self {
        MemberAssertion { only, beside, ..self }
    }

    /// Names the processes that it is about, where one process represents many.
    pub(super) fn name_scene(&mut self, model: &Model) {
        let [family] = self.families[..] else { return };
        let declared = &model.families[family];
        let letter = self.letter_names[0].clone();
        let is_only = model.families.iter().filter(|family| family.index.is_some()).count() == 1;
        let process = match is_only {
            true => format!("process {letter}"),
            false => format!("{}[{letter}]", clean(&declared.name)),
        };
        let beside = self.beside.as_ref().map(|cells| format!(" beside {cells}")).unwrap_or_default();
        let size = render::size_name(model, family);
        let condition = self.only.condition(&letter, &size);
        self.is_all = condition.is_none();
        self.whom = match &condition {
            None => format!("{process}{beside}, for every {letter}"),
            Some(condition) => format!("{process}{beside}, where {condition}"),
        };
        let Some(condition) = condition else {
            self.write_expressions(model, &[family]);
            return;
        };
        self.members = vec![format!("{}[{letter}], {condition}", clean(&declared.name))];
        self.write_expressions(model, &[]);
        let domain = if is_only { String::new() } else { format!(" in {}", clean(&declared.name)) };
        for one in self.assertions_mut() {
            let closed = |text: String| format!("forall {letter}{domain}: ({condition}) => ({text})");
            one.expression = one.expression.take().map(closed);
        }
    }

    /// Adds the part to one that says the same, or to the end.
    pub(super) fn add_to(self, parts: &mut Vec<MemberAssertion>) {
        match parts.iter_mut().find(|known| known.reads_like(&self)) {
            Some(known) => {
                known.members.extend(self.members.clone());
                known.said.extend(self.said.clone());
                let columns: Vec<_> = self.sentences().iter().map(|(_, one)| one.columns.clone()).collect();
                known.assertions_mut().zip(columns).for_each(|(one, columns)| one.columns.extend(columns));
                known.only.extend(&self.only);
                known.is_cut |= self.is_cut;
            }
            None => parts.push(self),
        }
    }

    /// Says nothing as an invariant.
    pub(super) fn drop_expressions(&mut self) {
        self.assertions_mut().for_each(|one| one.expression = None);
    }

    /// All sentences in their order.
    fn assertions_mut(&mut self) -> impl Iterator<Item = &mut Assertion> {
        self.always.iter_mut().chain(self.places.iter_mut().flat_map(|at| &mut at.says))
    }

    fn reads_like(&self, other: &MemberAssertion) -> bool {
        let formulas = |part: &MemberAssertion| {
            let always: Vec<SentenceFormula> = part.always.iter().map(|one| one.formula.clone()).collect();
            let places: Vec<(Vec<PlaceName>, Vec<SentenceFormula>)> = part
                .places
                .iter()
                .map(|at| (at.spots.clone(), at.says.iter().map(|one| one.formula.clone()).collect()))
                .collect();
            (part.families.clone(), always, places, part.never_at.clone(), part.stands, part.beside.clone())
        };
        formulas(self) == formulas(other)
    }

    /// Leaves out what speaks of variables that the user did not write.
    fn drop_hidden(&mut self, model: &Model) {
        let is_shown =
            |formula: &SentenceFormula| !formula.mentions(&|var| model.vars[var].look == VariableLook::Hidden);
        self.always.retain(|one| is_shown(&one.formula));
        self.places.iter_mut().for_each(|at| at.says.retain(|one| is_shown(&one.formula)));
    }

    /// Names the processes that it is about, where that is of several processes.
    pub(super) fn name_all(&mut self, model: &Model, invariant: &SplitInvariant) {
        self.drop_hidden(model);
        let families: Vec<FamilyId> = self.said[0].own.iter().map(|&process| model.processes[process].family).collect();
        let is_symmetric = invariant.symmetry.is_some();
        self.is_all = is_symmetric || self.said.len() == n_choices(model, &families);
        let k = invariant.members[self.said[0].member].processes.len();
        let is_same = families.windows(2).all(|pair| pair[0] == pair[1]);
        let names = &self.letter_names[..families.len()];
        let process = |at: usize| format!("{}[{}]", clean(&model.families[families[at]].name), names[at]);
        let is_only = model.families.iter().filter(|family| family.index.is_some()).count() == 1;
        self.whom = match (k, names) {
            (k, []) if k > 1 && k == model.processes.len() => "all processes together".to_owned(),
            (_, []) => self.members[0].clone(),
            (1, [one]) if self.is_all && is_only => format!("process {one}, for every {one}"),
            (1, [one]) if self.is_all => format!("{}, for every {one}", process(0)),
            (k, names) if self.is_all && is_same && is_only && k == names.len() => {
                format!("processes {}, for every {}", names.join(" and "), names.join(" != "))
            }
            // Members have their processes in ascending order.
            (k, names) if is_same && is_only && k == names.len() && self.said.len() == invariant.members.len() => {
                format!("processes {}, for every {}", names.join(" and "), names.join(" < "))
            }
            (_, names) if self.is_all => {
                let different = if is_same { " != " } else { ", " };
                format!("{}, for every {}", self.called(model), names.join(different))
            }
            _ => self.listed(),
        };
        if self.is_all && is_same && families.len() == 2 {
            self.drop_mirrored();
        }
        if self.is_all {
            self.write_expressions(model, &families);
        }
    }

    /// Leaves out what is said of the two processes the other way round, since it is said for every choice of them.
    fn drop_mirrored(&mut self) {
        let formulas: Vec<&SentenceFormula> = self.always.iter().map(|one| &one.formula).collect();
        let mut is_mirrored = mirror::mirrored(&formulas).into_iter();
        self.always.retain(|_| !is_mirrored.next().unwrap_or(false));
    }

    /// The member with its letters: `Prod[i] and Cons`.
    fn called(&self, model: &Model) -> String {
        let own = &self.said[0].own;
        let process = |(at, process): (usize, &ProcessId)| {
            let family = &model.families[model.processes[*process].family];
            format!("{}[{}]", clean(&family.name), self.letter_names[at])
        };
        let lettered: Vec<String> = own.iter().enumerate().map(process).collect();
        let mut others: Vec<String> = self.letters.split(" and ").map(str::to_owned).collect();
        others.retain(|name| !self.letter_names[..own.len()].contains(name));
        [lettered, others].concat().join(" and ")
    }

    fn listed(&self) -> String {
        match &self.members[..] {
            [only] => clean(only),
            several if several.len() <= 6 => {
                let names: Vec<String> = several.iter().map(|name| clean(name)).collect();
                format!("{} ({})", self.letters, names.join("; "))
            }
            several => format!("{} ({} and {} others)", self.letters, clean(&several[0]), several.len() - 1),
        }
    }

    /// Says that it is about one member, whose processes are named by their numbers.
    pub(super) fn name_single(&mut self, model: &Model, member: &Member) {
        self.drop_hidden(model);
        self.letters = self.members[0].clone();
        self.whom = clean(&self.members[0]);
        self.stands = match member.processes[..] {
            [process] => Some(NamedProcess::Process(process)),
            _ => None,
        };
        self.write_expressions(model, &[]);
    }

    /// Writes every sentence as an invariant, for all processes that letters denote.
    fn write_expressions(&mut self, model: &Model, families: &[FamilyId]) {
        let close = |formula: SentenceFormula| {
            let closed = closed(families, formula);
            render::expression(model, &self.letter_names, &closed)
        };
        let always: Vec<Option<String>> = self.always.iter().map(|one| close(one.formula.clone())).collect();
        let places: Vec<Vec<Option<String>>> = self
            .places
            .iter()
            .map(|at| at.says.iter().map(|one| close(self.at_spots(&at.spots, &one.formula))).collect())
            .collect();
        self.always.iter_mut().zip(always).for_each(|(one, text)| one.expression = text);
        for (at, texts) in self.places.iter_mut().zip(places) {
            at.says.iter_mut().zip(texts).for_each(|(one, text)| one.expression = text);
        }
    }

    /// That a sentence holds where the process is at some places.
    fn at_spots(&self, spots: &[PlaceName], formula: &SentenceFormula) -> SentenceFormula {
        match self.stands {
            Some(who) => {
                SentenceFormula::Implies(Box::new(SentenceFormula::At(who, spots.to_vec())), Box::new(formula.clone()))
            }
            None => formula.clone(),
        }
    }

    /// Everything that is claimed, each as one formula.
    pub fn claims(&self) -> Vec<SentenceFormula> {
        let always = self.always.iter().map(|one| one.formula.clone());
        let at_places =
            self.places.iter().flat_map(|at| at.says.iter().map(|one| self.at_spots(&at.spots, &one.formula)));
        always.chain(at_places).chain(self.never()).collect()
    }

    /// That the process is never at some places.
    fn never(&self) -> Option<SentenceFormula> {
        let who = self.stands.filter(|_| !self.never_at.is_empty())?;
        Some(SentenceFormula::Not(Box::new(SentenceFormula::At(who, self.never_at.clone()))))
    }

    /// The processes that the letters denote: one choice for each member, or for each of its images.
    pub fn choices(&self, model: &Model) -> Vec<Vec<ProcessId>> {
        if self.said.is_empty() {
            let family = &model.families[self.families[0]];
            let admitted = family
                .processes()
                .filter(|process| self.only.admits(process.index() - family.first.index(), family.count()));
            return admitted.map(|process| vec![process]).collect();
        }
        if !self.is_all {
            return self.said.iter().map(|said| said.own.clone()).collect();
        }
        let mut choices: Vec<Vec<ProcessId>> = vec![Vec::new()];
        for &process in &self.said[0].own {
            let family = &model.families[model.processes[process].family];
            let longer = |choice: &Vec<ProcessId>| {
                let others = family.processes().filter(|other| !choice.contains(other)).collect::<Vec<_>>();
                others.into_iter().map(|other| [&choice[..], &[other]].concat()).collect::<Vec<_>>()
            };
            choices = choices.iter().flat_map(longer).collect();
        }
        choices
    }

    /// Whether every claim is true in all view states of all members that it is about.
    pub(super) fn is_accepted(&self, judge: &SentenceJudge<'_>) -> bool {
        judge.accepts(&self.claims(), &self.said).into_iter().all(|is_accepted| is_accepted)
    }

    /// Keeps the sentences that are true in all view states, and counts the others.
    pub(super) fn keep_accepted(&mut self, judge: &SentenceJudge<'_>) {
        let accepted = judge.accepts(&self.claims(), &self.said);
        self.n_left_out = accepted.iter().filter(|is_accepted| !**is_accepted).count();
        // In the order of the claims.
        let mut accepted = accepted.into_iter();
        let mut is_next = || accepted.next().unwrap_or(false);
        self.always.retain(|_| is_next());
        self.places.iter_mut().for_each(|at| at.says.retain(|_| is_next()));
        if self.never().is_some() && !is_next() {
            self.unreached.clear();
            self.never_at.clear();
        }
    }

    /// All sentences in their order, each with the places at which it holds; none for what holds everywhere.
    pub fn sentences(&self) -> Vec<(String, &Assertion)> {
        let everywhere = self.always.iter().map(|one| (String::new(), one));
        let at_places = self.places.iter().flat_map(|at| {
            let names = at.at.join(", ");
            at.says.iter().map(move |one| (names.clone(), one))
        });
        everywhere.chain(at_places).collect()
    }
}

/// How many choices of different processes there are, one for each of these families.
fn n_choices(model: &Model, families: &[FamilyId]) -> usize {
    let mut n_choices: usize = 1;
    for (at, family) in families.iter().enumerate() {
        let taken = families[..at].iter().filter(|other| *other == family).count();
        n_choices = n_choices.saturating_mul(model.families[*family].count() - taken);
    }
    n_choices
}

/// The formula for all choices of processes for its first letters.
fn closed(families: &[FamilyId], formula: SentenceFormula) -> SentenceFormula {
    // Two of one family are bound together, as people write it.
    if let [one, other] = families
        && one == other
    {
        let (letters, except) = (vec![0, 1], Vec::new());
        return SentenceFormula::Quantified(QuantifiedSentence {
            quantity: Quantity::ForAll,
            letters,
            family: *one,
            except,
            body: Box::new(formula),
        });
    }
    families.iter().enumerate().rev().fold(formula, |body, (at, family)| {
        let earlier = families[..at].iter().enumerate().filter(|(_, other)| *other == family);
        let except = earlier.map(|(at, family)| NamedProcess::Letter(Letter { at, family: *family })).collect();
        let (quantity, letters) = (Quantity::ForAll, vec![at]);
        SentenceFormula::Quantified(QuantifiedSentence {
            quantity,
            letters,
            family: *family,
            except,
            body: Box::new(body),
        })
    })
}

fn spot_name(model: &Model, letters: &[String], spot: &PlaceName) -> String {
    // The place without the process before it.
    let at = SentenceFormula::At(NamedProcess::Process(ProcessId::new(0)), vec![spot.clone()]);
    let text = render::text(model, letters, &at);
    text.split_once('@').map_or(text.clone(), |(_, place)| place.to_owned())
}
