//! From exclusions to sentences: implications, equivalences, and quantifiers where the same holds of all processes.
//!
//! In: boxes that contain no view state. Out: sentences whose conjunction says the same. Two sentences are instances of one if they
//! read the same once their processes are called by letters; a quantifier is put in only where every process of the family has its
//! instance.

use std::collections::BTreeSet;

use evidence::certificate::Column;
use model::process::ProcessId;

use super::cover::{Exclusion, all};
use super::formula::{Letter, NamedProcess, SentenceFormula};
use super::render;
use super::sentence::{ColumnLiteral, Instances, Sentence, Subject};
use super::words::ProcessNames;

/// Makes sentences of exclusions.
pub(super) struct Folder<'a> {
    /// What the sentences are about.
    pub subject: &'a Subject<'a>,
    /// The classes that occur, for each column, as bits.
    pub occurring: &'a [u64],
    /// The processes whose invariant it is.
    pub own: &'a [ProcessId],
    /// What these, and processes around them, are called.
    pub names: &'a ProcessNames,
}

impl Folder<'_> {
    /// The sentences.
    pub fn sentences(&self, exclusions: &[Exclusion]) -> Vec<Sentence> {
        self.folded(exclusions.iter().map(|one| self.sentence(one)).collect())
    }

    /// The sentences, with equivalences and quantifiers where they say the same.
    pub fn folded(&self, sentences: Vec<Sentence>) -> Vec<Sentence> {
        let alone = self.fold_singles(merge_opposites(sentences), false);
        let folded = self.fold_singles(self.fold_pairs(alone), true);
        let mut merged = self.merge_equivalences(folded);
        // What is said of few comes before what is said of all.
        merged.sort_by_cached_key(|one| (is_quantified(one), self.subject.text(one, self.names)));
        merged
    }

    /// Whether an exclusion names processes only as it names all of them.
    pub fn names_no_process(&self, exclusion: &Exclusion) -> bool {
        self.free(&self.sentence(exclusion)).is_empty()
    }

    /// What kind of exclusion it is: how it reads where all processes have one name.
    pub fn kind(&self, exclusion: &Exclusion) -> String {
        let model = self.subject.words.model;
        let everybody = model
            .processes
            .entries()
            .map(|(process, declared)| (process, NamedProcess::Letter(Letter { at: 0, family: declared.family })));
        let names = ProcessNames { called: everybody.collect(), next: 1 };
        let text = |&part: &(usize, u64)| {
            render::text(model, self.subject.letters, &self.subject.literal(&self.literal(part), &names))
        };
        let mut parts: Vec<String> = exclusion.iter().map(text).collect();
        parts.sort_unstable();
        parts.join("; ")
    }

    fn literal(&self, (column, bits): (usize, u64)) -> ColumnLiteral {
        let present = self.occurring[column];
        ColumnLiteral { column, inside: bits & present, present }
    }

    fn negated(&self, (column, bits): (usize, u64)) -> ColumnLiteral {
        let present = self.occurring[column];
        ColumnLiteral { column, inside: present & !bits, present }
    }

    fn is_place(&self, column: usize) -> bool {
        matches!(self.subject.columns.get(column), Some(Column::Control(_) | Column::Exposed(_)))
    }

    /// The sentence of one exclusion.
    fn sentence(&self, exclusion: &Exclusion) -> Sentence {
        if let [(column, bits)] = exclusion[..] {
            // Here the numbers that never occur are what is meant.
            let present = all(self.subject.numbers[column].len());
            return Sentence::Literal(ColumnLiteral { column, inside: present & !bits, present });
        }
        if let Some(sentence) = self.with_exists(exclusion) {
            return sentence;
        }
        let (mut places, mut cells): (Exclusion, Exclusion) =
            exclusion.iter().partition(|(column, _)| self.is_place(*column));
        // The own process comes first, and what is claimed is last: about others rather than about what is shared.
        places.sort_by_key(|(column, _)| (self.rank(*column), *column));
        cells.sort_by_key(|(column, _)| (self.rank(*column), *column));
        let Some((claim, conditions)) = cells.split_last() else {
            return Sentence::NotAll(places.into_iter().map(|part| Sentence::Literal(self.literal(part))).collect());
        };
        let conditions = places.iter().chain(conditions).map(|&part| Sentence::Literal(self.literal(part)));
        Sentence::Implies(conditions.collect(), vec![Sentence::Literal(self.negated(*claim))])
    }

    /// The own process's columns, then what is shared, then those of others.
    fn rank(&self, column: usize) -> usize {
        let owner = |at: usize| match self.subject.columns[at] {
            Column::Control(process) | Column::Exposed(process) => Some(process),
            Column::Cell(cell) => self.subject.words.model.cells[cell].owner,
        };
        let rank = |at: usize| match owner(at) {
            Some(process) if self.own.contains(&process) => 0,
            None => 1,
            Some(_) => 2,
        };
        self.subject.read_by(column).into_iter().map(rank).max().unwrap_or(2)
    }

    /// An exclusion that says the same of every process: one of them does otherwise.
    fn with_exists(&self, exclusion: &Exclusion) -> Option<Sentence> {
        let model = self.subject.words.model;
        let template = |&part: &(usize, u64)| -> Option<(ProcessId, SentenceFormula)> {
            let literal = self.negated(part);
            let nobody = ProcessNames { called: Vec::new(), next: self.names.next };
            match self.subject.mentions(&literal, &nobody)[..] {
                [process] if self.is_place(part.0) => {
                    Some((process, self.subject.literal(&literal, &nobody.with(model, process))))
                }
                _ => None,
            }
        };
        let templates: Vec<Option<(ProcessId, SentenceFormula)>> = exclusion.iter().map(template).collect();
        let (first, text) = templates.iter().flatten().next()?;
        let is_in = |one: &Option<(ProcessId, SentenceFormula)>| one.as_ref().is_some_and(|(_, other)| other == text);
        let processes: Vec<ProcessId> =
            templates.iter().filter(|one| is_in(one)).flatten().map(|(process, _)| *process).collect();
        // Of two processes, that not both do something is said as of any two.
        if processes.len() < 2 || exclusion.len() == 2 {
            return None;
        }
        let except = self.covers(*first, &processes.iter().copied().collect())?;
        let sentences = exclusion.iter().zip(&templates).filter(|(_, one)| is_in(one));
        let sentences = sentences.map(|(&part, _)| Sentence::Literal(self.negated(part))).collect();
        let processes = processes.into_iter().map(|process| vec![process]).collect();
        let exists = Sentence::Exists(Instances { processes, sentences, except });
        let rest = exclusion.iter().zip(&templates).filter(|(_, one)| !is_in(one));
        let conditions: Vec<Sentence> = rest.map(|(&part, _)| Sentence::Literal(self.literal(part))).collect();
        Some(if conditions.is_empty() { exists } else { Sentence::Implies(conditions, vec![exists]) })
    }

    /// Whether these are all processes of the family of the first (`Some(None)`), or all but the own one (`Some(own)`).
    #[expect(clippy::option_option, reason = "no quantifier, one over all, and one over the others are three answers")]
    fn covers(&self, first: ProcessId, processes: &BTreeSet<ProcessId>) -> Option<Option<NamedProcess>> {
        let model = self.subject.words.model;
        let family = &model.families[model.processes[first].family];
        let everybody: BTreeSet<ProcessId> = family.processes().collect();
        if everybody.len() > 1 && *processes == everybody {
            return Some(None);
        }
        let [own] = self.own else { return None };
        let called = self.names.called.iter().find(|(process, _)| process == own).map(|(_, who)| *who)?;
        let others: BTreeSet<ProcessId> = everybody.iter().copied().filter(|process| process != own).collect();
        (everybody.contains(own) && !others.is_empty() && *processes == others).then_some(Some(called))
    }

    /// The processes that a sentence names outside its quantifiers.
    fn free(&self, sentence: &Sentence) -> BTreeSet<ProcessId> {
        let of_all =
            |parts: &[Sentence]| parts.iter().flat_map(|part| self.free(part)).collect::<BTreeSet<ProcessId>>();
        match sentence {
            Sentence::Literal(literal) => self.subject.mentions(literal, self.names).into_iter().collect(),
            Sentence::Implies(conditions, claims) => of_all(conditions).union(&of_all(claims)).copied().collect(),
            Sentence::NotAll(parts) => of_all(parts),
            Sentence::Iff(one, other) => self.free(one).union(&self.free(other)).copied().collect(),
            Sentence::ForAll(_) | Sentence::Exists(_) | Sentence::AtMostOne(_) => BTreeSet::new(),
        }
    }

    /// Puts `forall k` before what is said of each process, alone or together with the own one.
    fn fold_singles(&self, sentences: Vec<Sentence>, with_own: bool) -> Vec<Sentence> {
        let mut groups: Vec<(SentenceFormula, Vec<(ProcessId, Sentence)>)> = Vec::new();
        let mut out = Vec::new();
        for sentence in sentences {
            match self.varying(&sentence, with_own) {
                Some((process, text)) => match groups.iter_mut().find(|(known, _)| *known == text) {
                    Some((_, members)) => members.push((process, sentence)),
                    None => groups.push((text, vec![(process, sentence)])),
                },
                None => out.push(sentence),
            }
        }
        for (_, members) in groups {
            let processes: BTreeSet<ProcessId> = members.iter().map(|(process, _)| *process).collect();
            match self.covers(members[0].0, &processes).filter(|_| processes.len() == members.len()) {
                Some(except) => {
                    let (processes, sentences) =
                        members.into_iter().map(|(process, sentence)| (vec![process], sentence)).unzip();
                    out.push(Sentence::ForAll(Instances { processes, sentences, except }));
                }
                None => out.extend(members.into_iter().map(|(_, sentence)| sentence)),
            }
        }
        out
    }

    /// The one process that a sentence is about, besides the own one, and the sentence with a letter for it.
    fn varying(&self, sentence: &Sentence, with_own: bool) -> Option<(ProcessId, SentenceFormula)> {
        let free: Vec<ProcessId> = self.free(sentence).into_iter().collect();
        let own = |process: &ProcessId| self.own.contains(process);
        let process = match (&free[..], with_own) {
            ([process], false) => *process,
            ([one, other], true) if own(one) && !own(other) => *other,
            ([one, other], true) if own(other) && !own(one) => *one,
            _ => return None,
        };
        // With a letter of its own, the own process would not read like the others.
        let names = self.names.without(process).with(self.subject.words.model, process);
        Some((process, self.subject.formula(sentence, &names)))
    }

    /// Puts `forall k != l`, or `forall k in P: forall l in Q`, before what is said of each two processes.
    fn fold_pairs(&self, sentences: Vec<Sentence>) -> Vec<Sentence> {
        let model = self.subject.words.model;
        let nobody = ProcessNames { called: Vec::new(), next: self.names.next };
        let read = |sentence: &Sentence, one: ProcessId, other: ProcessId| {
            self.subject.formula(sentence, &nobody.with(model, one).with(model, other))
        };
        type Pair = (Vec<ProcessId>, Sentence);
        let mut groups: Vec<(SentenceFormula, Vec<Pair>)> = Vec::new();
        let mut out = Vec::new();
        for sentence in sentences {
            let free: Vec<ProcessId> = self.free(&sentence).into_iter().collect();
            let [one, other] = free[..] else {
                out.push(sentence);
                continue;
            };
            let (forth, back) = (read(&sentence, one, other), read(&sentence, other, one));
            let mut add =
                |text: &SentenceFormula, pair: Vec<ProcessId>| match groups.iter_mut().find(|(known, _)| known == text)
                {
                    Some((_, members)) => members.push((pair, sentence.clone())),
                    None => groups.push((text.clone(), vec![(pair, sentence.clone())])),
                };
            add(&forth, vec![one, other]);
            add(&back, vec![other, one]);
        }
        let mut said: Vec<Sentence> = Vec::new();
        let mut unfolded: Vec<Sentence> = Vec::new();
        for (_, members) in groups {
            // Read the other way round, the same may have been said before.
            if members.iter().all(|(_, sentence)| said.contains(sentence)) {
                continue;
            }
            if self.is_all_pairs(&members) {
                said.extend(members.iter().map(|(_, sentence)| sentence.clone()));
                let (processes, sentences) = members.into_iter().unzip();
                out.push(Sentence::ForAll(Instances { processes, sentences, except: None }));
                continue;
            }
            let processes: BTreeSet<ProcessId> = members.iter().flat_map(|(pair, _)| pair.iter().copied()).collect();
            let pairs: BTreeSet<&Vec<ProcessId>> = members.iter().map(|(pair, _)| pair).collect();
            let complete = pairs.len() == processes.len() * (processes.len() - 1);
            let first_of = members[0].0[0];
            match self.covers(first_of, &processes).filter(|_| complete) {
                Some(except) => {
                    said.extend(members.iter().map(|(_, sentence)| sentence.clone()));
                    out.push(self.pairs_sentence(members, except));
                }
                None => unfolded.extend(members.into_iter().map(|(_, sentence)| sentence)),
            }
        }
        let mut kept: Vec<Sentence> = Vec::new();
        for sentence in unfolded {
            if !said.contains(&sentence) && !kept.contains(&sentence) {
                kept.push(sentence);
            }
        }
        out.extend(kept);
        out
    }

    /// Whether these are all pairs of a process of one family and a process of another.
    fn is_all_pairs(&self, members: &[(Vec<ProcessId>, Sentence)]) -> bool {
        let model = self.subject.words.model;
        let family = |at: usize| model.processes[members[0].0[at]].family;
        let everybody = |at: usize| model.families[family(at)].processes().collect::<BTreeSet<ProcessId>>();
        let seen = |at: usize| members.iter().map(|(pair, _)| pair[at]).collect::<BTreeSet<ProcessId>>();
        let pairs: BTreeSet<&Vec<ProcessId>> = members.iter().map(|(pair, _)| pair).collect();
        family(0) != family(1)
            && (0..2).all(|at| seen(at) == everybody(at))
            && pairs.len() == members.len()
            && pairs.len() == everybody(0).len() * everybody(1).len()
            && pairs.len() > 1
    }

    fn pairs_sentence(&self, members: Vec<(Vec<ProcessId>, Sentence)>, except: Option<NamedProcess>) -> Sentence {
        let nobody = ProcessNames { called: Vec::new(), next: self.names.next };
        if let Sentence::NotAll(parts) = &members[0].1
            && let [one, other] = &parts[..]
        {
            let alone = |part: &Sentence| {
                let process = self.free(part).into_iter().next()?;
                Some((process, self.subject.formula(part, &nobody.with(self.subject.words.model, process))))
            };
            let alike = alone(one).map(|(_, text)| text) == alone(other).map(|(_, text)| text);
            if alike {
                let mut instances: Vec<(ProcessId, Sentence)> = Vec::new();
                for (_, sentence) in &members {
                    let Sentence::NotAll(parts) = sentence else { continue };
                    for part in parts {
                        if let Some((process, _)) = alone(part)
                            && !instances.iter().any(|(known, _)| *known == process)
                        {
                            instances.push((process, part.clone()));
                        }
                    }
                }
                instances.sort_by_key(|(process, _)| *process);
                let (processes, sentences) = instances.into_iter().map(|(process, part)| (vec![process], part)).unzip();
                return Sentence::AtMostOne(Instances { processes, sentences, except });
            }
        }
        let (processes, sentences) = members.into_iter().unzip();
        Sentence::ForAll(Instances { processes, sentences, except })
    }

    /// `forall k: A(k) => B` and `B => exists k: A(k)` become `B <=> exists k: A(k)`.
    fn merge_equivalences(&self, sentences: Vec<Sentence>) -> Vec<Sentence> {
        let mut out = sentences;
        let mut at = 0;
        while at < out.len() {
            let found = self.some_condition(&out[at]).and_then(|(exists, claim)| {
                let back = Sentence::Implies(vec![claim.clone()], vec![exists.clone()]);
                let wanted = self.subject.formula(&back, self.names);
                let position = out.iter().position(|other| {
                    matches!(other, Sentence::Implies(..)) && self.subject.formula(other, self.names) == wanted
                })?;
                Some((position, Sentence::Iff(Box::new(claim), Box::new(exists))))
            });
            if let Some((position, merged)) = found {
                out[at] = merged;
                out.remove(position);
                at = 0;
                continue;
            }
            at += 1;
        }
        out
    }

    /// `forall k: A(k) => B` as `(exists k: A(k)) => B`.
    fn some_condition(&self, sentence: &Sentence) -> Option<(Sentence, Sentence)> {
        let Sentence::ForAll(Instances { processes, sentences, except }) = sentence else { return None };
        let mut conditions = Vec::new();
        let mut common: Option<&Sentence> = None;
        for one in sentences {
            let Sentence::Implies(condition, claim) = one else { return None };
            let ([condition], [claim]) = (&condition[..], &claim[..]) else { return None };
            if common.is_some_and(|known| known != claim) {
                return None;
            }
            common = Some(claim);
            conditions.push(condition.clone());
        }
        let instances = Instances { processes: processes.clone(), sentences: conditions, except: *except };
        Some((Sentence::Exists(instances), common?.clone()))
    }
}

fn is_quantified(sentence: &Sentence) -> bool {
    matches!(sentence, Sentence::ForAll(_) | Sentence::Exists(_) | Sentence::AtMostOne(_))
}

/// `A => B` and `!A => !B` become `A <=> B`.
fn merge_opposites(sentences: Vec<Sentence>) -> Vec<Sentence> {
    let parts = |sentence: &Sentence| match sentence {
        Sentence::Implies(conditions, claims) => match (&conditions[..], &claims[..]) {
            ([Sentence::Literal(condition)], [Sentence::Literal(claim)]) => Some((*condition, *claim)),
            _ => None,
        },
        _ => None,
    };
    let opposite = |one: ColumnLiteral| ColumnLiteral { inside: one.present & !one.inside, ..one };
    let mut out: Vec<Sentence> = Vec::new();
    for sentence in sentences {
        let merged = parts(&sentence).and_then(|(condition, claim)| {
            let wanted = (opposite(condition), opposite(claim));
            out.iter().position(|other| parts(other) == Some(wanted))
        });
        match (merged, parts(&sentence)) {
            (Some(at), Some((condition, claim))) => {
                // Said in the sense that has fewer classes.
                let fewer = condition.inside.count_ones() * 2 > condition.present.count_ones();
                let (condition, claim) =
                    if fewer { (opposite(condition), opposite(claim)) } else { (condition, claim) };
                out[at] = Sentence::Iff(Box::new(Sentence::Literal(condition)), Box::new(Sentence::Literal(claim)));
            }
            _ => out.push(sentence),
        }
    }
    out
}
