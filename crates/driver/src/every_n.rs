//! `--all-n`: questions about every size of a program.
//!
//! In: a program, and questions. Out: for each question a proof for every size from the least one on, whose smaller sizes are checked by search; or
//! a violation at a small size; or why neither was found, with the line that prevents it. Where a violation shows at another size than
//! the one that was loaded, the program at that size comes back with the answers.

use std::sync::Arc;
use std::time::{Duration, Instant};

use base::{Feature, SourceFile, StopReason, Unsupported};
use engine::run::{Audit, PropertyResult};
use engine::{Event, Observer, PropertyId, Silent, Task, Verdict};
use evidence::{Evidence, Scope};
use model::Model;
use model::property::PropertyKind;
use model::template::FragmentReason;
use product::Mono;
use propagate::Propagate;
use rings::ByRings;
use views::ByViews;

use crate::auto::{Race, RaceEntry, RaceStanding, Shares};
use crate::check::{Check, CheckLimits, Checked, Program};
use crate::checker::{SharedEngine, Single};
use crate::confrontation::{EFFORT, LeastSizes};
use crate::load::{self, Loaded};
use crate::mistake::Mistake;
use crate::select;

/// A search of a small size for a violation that views do not exclude may take this long.
const SEARCH: Duration = Duration::from_secs(2);

/// A search of the size at hand before anything dear is tried.
const AT_ONCE: Duration = Duration::from_millis(50);

/// So many sizes, from the least one on, are searched.
const SEARCHED_SIZES: i64 = 3;

/// Of so many sizes those beyond are only glanced at: some programs go wrong with five processes, and are small.
const GLANCED_SIZES: i64 = 6;

/// How long one of them is searched at most.
const GLANCE: Duration = Duration::from_millis(200);

/// The method that proofs for every size are found with.
const METHOD: &str = "views";

/// The methods that prove something for every size, each by its name, apart from what `--all-n` makes of them.
pub fn provers() -> [(&'static str, Single); 4] {
    [
        ("views --all-n", Single(Arc::new(ByViews::for_every_size()))),
        ("propagate --all-n", Single(Arc::new(Propagate::for_every_size()))),
        ("rings --all-n", Single(Arc::new(ByRings::for_every_size()))),
        ("rings of runs --all-n", Single(Arc::new(ByRings::of_runs()))),
    ]
}

/// Why a program cannot be asked about every size, before anything is done.
pub fn refusal(program: &Program) -> Option<String> {
    let name = &program.model.name;
    if !program.model.parameters.is_empty() {
        return None;
    }
    let why = program.text.obstacle(&program.given).map_or_else(String::new, |why| format!(": {why}"));
    Some(format!("`--all-n` is about the parameters of a program, and `{name}` has none{why}"))
}

/// The answers to questions about every size.
#[derive(Debug)]
pub struct EverySizeAnswers {
    /// The program at another size, where the answers are about that one.
    pub other: Option<Program>,
    /// The answers.
    pub checked: Checked,
    /// What is proved of the program that was loaded, and not at the other size: where one question is violated there, others are still proved.
    pub kept: Option<Checked>,
}

/// Answers the questions for every size.
///
/// # Errors
/// A mistake of ours: evidence that fails its audit, an engine that contradicts itself.
pub fn check(
    program: &Program,
    questions: &[PropertyId],
    limits: &CheckLimits,
    observer: &dyn Observer,
) -> Result<EverySizeAnswers, Box<Mistake>> {
    let started = Instant::now();
    let asking = EveryNAttempt { questions, limits, started };
    let mut results = asking.prove(program, observer)?;
    let found = asking.find_violation(program, &results)?;
    let mut kept = Vec::new();
    let smaller = match found {
        Some((smaller, found)) => {
            no_contradiction(program, &results, (&smaller, &found))?;
            let before = std::mem::replace(&mut results, found);
            kept = keep_proofs(&program.model, before, (&smaller.model, &mut results));
            Some(smaller)
        }
        None => {
            let larger = asking.ask_of_two(program, &results)?;
            if let Some((larger, found)) = &larger {
                no_contradiction(program, &results, (larger, found))?;
            }
            let (larger, found) = larger.map_or((None, results), |(larger, found)| (Some(larger), found));
            results = found;
            for result in &mut results {
                asking.search_here(larger.as_ref().unwrap_or(program), result, SEARCH)?;
            }
            larger
        }
    };
    results.iter_mut().for_each(|result| asking.name_limit(result));
    results.iter_mut().for_each(for_one_size);
    let answers = |results| Checked { results, time: started.elapsed(), processor_time: None, method: METHOD };
    let kept = (!kept.is_empty()).then(|| answers(kept));
    Ok(EverySizeAnswers { other: smaller, checked: answers(results), kept })
}

/// No answer at another size is the opposite of a proof that is about that size, too: one of the two would be wrong, and so would we.
fn no_contradiction(
    program: &Program,
    proofs: &[PropertyResult],
    (other, answers): (&Program, &[PropertyResult]),
) -> Result<(), Box<Mistake>> {
    let is_about_it = |proof: &&PropertyResult| {
        let is_included = |scope: &Scope| other.model.parameters.iter().any(|one| scope.includes(&one.name, one.value));
        scope_of(proof).is_some_and(is_included)
    };
    for proof in proofs.iter().filter(is_about_it) {
        let name = &program.model.properties[proof.property].name;
        let is_same = |answer: &&PropertyResult| other.model.properties[answer.property].name == *name;
        let mistake = answers.iter().filter(is_same).find_map(|answer| Mistake::between(&other.model, proof, answer));
        mistake.map_or(Ok(()), Err)?;
    }
    Ok(())
}

/// Takes out the answers that are open at another size of the program where they were proved for every size before; these proofs.
fn keep_proofs(
    model: &Model,
    before: Vec<PropertyResult>,
    (other, after): (&Model, &mut Vec<PropertyResult>),
) -> Vec<PropertyResult> {
    let mut is_replaced = |result: &PropertyResult| {
        let name = &model.properties[result.property].name;
        let is_open = |one: &PropertyResult| {
            other.properties[one.property].name == *name && matches!(one.verdict, Verdict::Unknown(_))
        };
        let at = after.iter().position(is_open);
        at.map(|at| after.remove(at)).is_some()
    };
    let proofs = before.into_iter().filter(|result| matches!(scope_of(result), Some(Scope::AllSizes { .. })));
    proofs.filter(|result| is_replaced(result)).collect()
}

/// Methods that are proposed where a size prevents a proof answer at one size.
fn for_one_size(result: &mut PropertyResult) {
    if let Verdict::Unknown(StopReason::NotSupported(missing)) = &mut result.verdict
        && missing.feature == Feature::Sizes
    {
        missing.about.push_str(" (one size is asked about without `--all-n`)");
    }
}

/// Which of some questions are proved for every size by no more work than this. Smaller sizes are searched; what cannot be searched in time is not proved.
///
/// # Errors
/// A mistake of ours: evidence that fails its audit, an engine that contradicts itself.
pub fn in_a_moment(
    program: &Program,
    questions: &[PropertyId],
    limits: &CheckLimits,
    most: Duration,
) -> Result<Vec<(PropertyId, Scope)>, Box<Mistake>> {
    let Some(declared) = sized(&program.model).filter(|_| program.model.template.is_some()) else {
        return Ok(Vec::new());
    };
    let (model, started) = (&program.model, Instant::now());
    let engines: [SharedEngine; 4] = [
        Arc::new(ByViews::for_every_size()),
        Arc::new(ByRings::for_every_size()),
        Arc::new(Propagate::for_every_size()),
        Arc::new(ByRings::of_runs()),
    ];
    let steps = engines.map(|engine| RaceEntry { engine, shares: Shares::same(1.0), n_threads: 1, one_by_one: false });
    let task = Task { model, properties: questions.to_vec(), budget: limits.budget(), n_threads: 1 };
    let mut race = Race::new(&task, &Silent, RaceStanding::new(model, questions), Default::default());
    race.compete(&steps, Some(most));
    let time = Some(limits.time.map_or(SEARCH, |left| left.saturating_sub(started.elapsed()).min(SEARCH)));
    let asking = EveryNAttempt { questions, limits: &CheckLimits { time, ..limits.clone() }, started: Instant::now() };
    let mut found = Vec::new();
    let mut sizes = LeastSizes::of(program, &EFFORT);
    for mut result in race.results()? {
        sizes.confront(&result)?;
        asking.complete(program, &mut result)?;
        if let (Verdict::Holds(_), Some(scope)) = (&result.verdict, scope_of(&result))
            && result.audit.is_accepted()
            && scope.covers_from(declared.least)
        {
            found.push((result.property, scope.clone()));
        }
    }
    Ok(found)
}

/// Passes on how far a proof is. A proof is not the answer yet: smaller sizes are to be checked.
struct Unannounced<'o>(&'o dyn Observer);

impl Observer for Unannounced<'_> {
    fn event(&self, event: Event) {
        self.0.event(event);
    }
}

struct EveryNAttempt<'a> {
    questions: &'a [PropertyId],
    limits: &'a CheckLimits,
    started: Instant,
}

impl EveryNAttempt<'_> {
    fn left(&self) -> CheckLimits {
        let time = self.limits.time.map(|limit| limit.saturating_sub(self.started.elapsed()));
        CheckLimits { time, ..self.limits.clone() }
    }

    /// Whether there is no time left: then nothing more is begun.
    fn is_over(&self) -> bool {
        self.left().time.is_some_and(|left| left.is_zero())
    }

    /// A method that was stopped had what was left of the time; the limit is the whole of it.
    fn name_limit(&self, result: &mut PropertyResult) {
        if let (Verdict::Unknown(StopReason::TimeLimit(named)), Some(limit)) = (&mut result.verdict, self.limits.time) {
            *named = limit;
        }
    }

    /// Proofs for every size, their smaller sizes searched.
    fn prove(&self, program: &Program, observer: &dyn Observer) -> Result<Vec<PropertyResult>, Box<Mistake>> {
        let is_about_runs =
            |&&question: &&PropertyId| matches!(program.model.properties[question].kind, PropertyKind::Temporal(_));
        let (runs, states): (Vec<&PropertyId>, Vec<&PropertyId>) = self.questions.iter().partition(is_about_runs);
        let methods = [
            (states, Single(Arc::new(ByViews::for_every_size()))),
            (runs, Single(Arc::new(Propagate::for_every_size()))),
        ];
        let mut results = Vec::new();
        for (questions, checker) in methods {
            let questions: Vec<PropertyId> = questions.into_iter().copied().collect();
            let limits = self.left();
            let check = Check { model: &program.model, questions: &questions, checker: &checker, limits: &limits };
            if !questions.is_empty() {
                results.extend(check.run_of(program, &Unannounced(observer))?.results);
            }
        }
        let position = |one: &PropertyResult| self.questions.iter().position(|&question| question == one.property);
        results.sort_by_key(position);
        // What is false is often false at once, and is not to be proved in vain.
        for result in results.iter_mut().filter(|result| is_searched(&program.model, result)) {
            self.search_here(program, result, AT_ONCE)?;
        }
        self.prove_rings(program, &mut results)?;
        for result in &mut results {
            self.complete(program, result)?;
            say_where(program, result);
        }
        Ok(results)
    }

    /// What views leave open, asked of windows of neighbours.
    fn prove_rings(&self, program: &Program, results: &mut [PropertyResult]) -> Result<(), Box<Mistake>> {
        let open = results.iter().filter(|result| is_open(&program.model, result)).map(|result| result.property);
        let is_about_runs =
            |question: &PropertyId| matches!(program.model.properties[*question].kind, PropertyKind::Temporal(_));
        let (runs, states): (Vec<PropertyId>, Vec<PropertyId>) = open.partition(is_about_runs);
        let mut answers = Vec::new();
        if self.is_over() {
            return Ok(());
        }
        for (questions, engine) in [(states, ByRings::for_every_size()), (runs, ByRings::of_runs())] {
            let (checker, limits) = (Single(Arc::new(engine)), self.left());
            let check = Check { model: &program.model, questions: &questions, checker: &checker, limits: &limits };
            if !questions.is_empty() {
                answers.extend(check.run_of(program, &Silent)?.results);
            }
        }
        for found in answers {
            let Some(result) = results.iter_mut().find(|result| result.property == found.property) else { continue };
            // What views say of a violation that they allow is more than that windows allow one.
            let says_more = matches!(result.verdict, Verdict::Unknown(StopReason::Allowed(_)));
            let is_better = match &found.verdict {
                Verdict::Unknown(reason) => !matches!(reason, StopReason::NotSupported(_)) && !says_more,
                Verdict::Holds(_) | Verdict::Violated(_) => true,
            };
            if is_better {
                *result = found;
            }
        }
        Ok(())
    }

    /// Checks the sizes below those that a proof is about. One that cannot be checked leaves the question open.
    fn complete(&self, program: &Program, result: &mut PropertyResult) -> Result<(), Box<Mistake>> {
        let Some(Scope::AllSizes { parameter, from, .. }) = scope_of(result).cloned() else { return Ok(()) };
        let Some(declared) = program.model.parameters.iter().find(|one| one.name == parameter) else { return Ok(()) };
        for size in declared.least..from {
            let found = self.search(program, (&parameter, size), result.property, self.left())?;
            let is_same = |other: &PropertyResult| {
                matches!(
                    (&other.verdict, &result.verdict),
                    (Verdict::Holds(_), Verdict::Holds(_)) | (Verdict::Violated(_), Verdict::Violated(_))
                )
            };
            match found {
                Some(found) if is_same(&found) => {
                    if !found.audit.is_accepted() {
                        result.audit = Audit::NotDone;
                    }
                    if let Some(Scope::AllSizes { checked, .. }) = scope_mut(result) {
                        checked.push(size);
                    }
                }
                found => {
                    let reason = match found.map(|found| found.verdict) {
                        Some(Verdict::Unknown(reason)) => reason,
                        _ => Unsupported::about(Feature::Sizes, format!("{parameter} = {size} is not like the others"))
                            .into(),
                    };
                    result.verdict = Verdict::Unknown(reason);
                    result.audit = Audit::NotDone;
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// One question at another size, answered by search.
    fn search(
        &self,
        program: &Program,
        size: (&str, i64),
        question: PropertyId,
        limits: CheckLimits,
    ) -> Result<Option<PropertyResult>, Box<Mistake>> {
        let Some(other) = at_size(program, size) else { return Ok(None) };
        let name = &program.model.properties[question].name;
        let Ok(question) = select::find(&other.model, name) else { return Ok(None) };
        let checker = Single(Arc::new(Mono));
        let check = Check { model: &other.model, questions: &[question], checker: &checker, limits: &limits };
        Ok(check.run(&Silent)?.results.pop())
    }

    /// Searches for a size at which an open question is answered by a run against it; then all questions are answered at that size.
    fn find_violation(
        &self,
        program: &Program,
        results: &[PropertyResult],
    ) -> Result<Option<(Program, Vec<PropertyResult>)>, Box<Mistake>> {
        let open: Vec<&PropertyResult> = results.iter().filter(|result| is_searched(&program.model, result)).collect();
        let Some(declared) = sized(&program.model) else { return Ok(None) };
        if open.is_empty() {
            return Ok(None);
        }
        let sizes = declared.least..declared.least + GLANCED_SIZES;
        for size in sizes.filter(|&size| declared.allows(size)) {
            let most = if size < declared.least + SEARCHED_SIZES { SEARCH } else { GLANCE };
            for result in &open {
                if self.is_over() {
                    return Ok(None);
                }
                let left = self.left();
                let limits = CheckLimits { time: Some(left.time.map_or(most, |time| time.min(most))), ..left };
                let found = self.search(program, (&declared.name, size), result.property, limits)?;
                if !found.is_some_and(|found| matches!(found.verdict, Verdict::Violated(_))) {
                    continue;
                }
                if size == declared.value {
                    return Ok(None);
                }
                let Some(other) = at_size(program, (&declared.name, size)) else { return Ok(None) };
                let mut answers = self.prove(&other, &Silent)?;
                for answer in &mut answers {
                    self.search_here(&other, answer, SEARCH)?;
                }
                return Ok(Some((other, answers)));
            }
        }
        Ok(None)
    }

    /// With one process it does not show whether processes are alike: what is open then, where no size was given, is asked of the least size with two. The
    /// answers are those of that size, if they are more.
    fn ask_of_two(
        &self,
        program: &Program,
        results: &[PropertyResult],
    ) -> Result<Option<(Program, Vec<PropertyResult>)>, Box<Mistake>> {
        let Ok(sized) = model::template::sized_family(&program.model) else { return Ok(None) };
        let declared = &program.model.parameters[sized.parameter];
        let is_given = program.given.iter().any(|(name, _)| *name == declared.name);
        let has_two = |program: &Program| program.model.families[sized.family].count() >= 2;
        let n_open = |results: &[PropertyResult]| results.iter().filter(|one| is_open(&program.model, one)).count();
        if is_given || has_two(program) || n_open(results) == 0 || self.is_over() {
            return Ok(None);
        }
        let sizes = (declared.value + 1..=declared.value + SEARCHED_SIZES).filter(|&size| declared.allows(size));
        let mut larger = sizes.filter_map(|size| at_size(program, (&declared.name, size)));
        let Some(larger) = larger.find(has_two) else { return Ok(None) };
        let answers = self.prove(&larger, &Silent)?;
        Ok((n_open(&answers) < n_open(results)).then_some((larger, answers)))
    }

    /// What is open, searched at the program's own size: a run against it, or for a `reachable`, is the answer; that there is none is not.
    fn search_here(&self, program: &Program, result: &mut PropertyResult, most: Duration) -> Result<(), Box<Mistake>> {
        if !matches!(result.verdict, Verdict::Unknown(_)) || self.is_over() {
            return Ok(());
        }
        let left = self.left();
        let limits = CheckLimits { time: Some(left.time.map_or(most, |time| time.min(most))), ..left };
        let checker = Single(Arc::new(Mono));
        let questions = [result.property];
        let check = Check { model: &program.model, questions: &questions, checker: &checker, limits: &limits };
        if let Some(found) = check.run(&Silent)?.results.pop()
            && let Verdict::Holds(Evidence::Trace(_)) | Verdict::Violated(Evidence::Trace(_)) = &found.verdict
        {
            *result = found;
        }
        Ok(())
    }
}

/// Whether a search of small sizes may answer what views left open.
fn is_searched(model: &Model, result: &PropertyResult) -> bool {
    let kind = &model.properties[result.property].kind;
    matches!(result.verdict, Verdict::Unknown(_)) && !matches!(kind, PropertyKind::Reachable(_))
}

/// Whether a question that windows may answer is open.
fn is_open(model: &Model, result: &PropertyResult) -> bool {
    let kind = &model.properties[result.property].kind;
    matches!(result.verdict, Verdict::Unknown(_)) && !matches!(kind, PropertyKind::RaceFree(_))
}

fn sized(model: &Model) -> Option<&model::Parameter> {
    let sized = model::template::sized_family(model).ok()?;
    Some(&model.parameters[sized.parameter])
}

fn scope_of(result: &PropertyResult) -> Option<&Scope> {
    match &result.verdict {
        Verdict::Holds(Evidence::Certificate(proof)) | Verdict::Violated(Evidence::Certificate(proof)) => {
            Some(&proof.scope)
        }
        _ => None,
    }
}

fn scope_mut(result: &mut PropertyResult) -> Option<&mut Scope> {
    match &mut result.verdict {
        Verdict::Holds(Evidence::Certificate(proof)) | Verdict::Violated(Evidence::Certificate(proof)) => {
            Some(&mut proof.scope)
        }
        _ => None,
    }
}

/// The program with another value of a parameter.
pub(crate) fn at_size(program: &Program, (parameter, size): (&str, i64)) -> Option<Program> {
    let declared = program.model.parameters.iter().map(|one| (one.name.clone(), one.value));
    let is_declared = |name: &str| program.model.parameters.iter().any(|one| one.name == name);
    // A macro of Promela that the call gives need not be a parameter of the Model.
    let given = declared.chain(program.given.iter().filter(|(name, _)| !is_declared(name)).cloned());
    let given: Vec<(String, i64)> =
        given.map(|(name, value)| if name == parameter { (name, size) } else { (name, value) }).collect();
    match load::instances_of(&program.text, &given).pop()? {
        Loaded::Program(program) => Some(*program),
        Loaded::Refused(_) => None,
    }
}

/// Names the line that puts a program or a property outside the fragment.
fn say_where(program: &Program, result: &mut PropertyResult) {
    let Verdict::Unknown(StopReason::NotSupported(missing)) = &mut result.verdict else { return };
    if missing.feature != Feature::Sizes {
        return;
    }
    // Neighbours are followed where the processes differ by where they stand: then the program is not what stands in the way.
    if fragment_beside_names(&program.model).is_err()
        && rings::engine::is_inside(&program.model)
        && let Some(reason) = rings::engine::obstacle(&program.model, result.property)
    {
        missing.about = match reason.span.is_empty() {
            true => reason.text,
            false => format!("line {}: {}", line(&program.source, reason.span.start), reason.text),
        };
        return;
    }
    let reason = match &program.model.properties[result.property].kind {
        PropertyKind::Temporal(_) => views::fragment::fragment(&program.model).err(),
        _ => views::engine::obstacle(&program.model, result.property),
    };
    if let Some(reason) = reason
        && !reason.span.is_empty()
    {
        let placed =
            |reason: &FragmentReason| format!("line {}: {}", line(&program.source, reason.span.start), reason.text);
        missing.about = placed(&reason);
        // Other programs are proved by counting.
        if !matches!(program.model.properties[result.property].kind, PropertyKind::Temporal(_)) {
            match views::engine::uncounted(&program.model) {
                None => missing.about += "; nor does counting processes exclude a violation",
                Some(other) if !other.span.is_empty() && other.text != reason.text => {
                    missing.about += &format!("; and processes are not counted: {}", placed(&other));
                }
                Some(_) => {}
            }
        }
    }
}

/// Whether the processes of a program are interchangeable, but for few that it names.
fn fragment_beside_names(model: &Model) -> Result<(), FragmentReason> {
    let mut found = Ok(());
    for n_named in 0..=views::fragment::MOST_NAMED {
        found = views::fragment::fragment_beside(model, n_named).map(drop);
        if found.is_ok() {
            break;
        }
    }
    found
}

fn line(source: &SourceFile, offset: u32) -> u32 {
    source.line_col(offset).line
}

#[cfg(test)]
mod tests {
    use base::CancelToken;
    use evidence::{Trace, TraceEnd};
    use model::eval::initial_states;

    use super::*;

    const TEXT: &str =
        "program p(N: 2..) { shared x: sem = 1; process P[i in 0..<N] { loop { a: acquire x; b: release x; } }
        invariant mutex: forall i != j: !(P[i]@b && P[j]@b); }";

    fn program(size: i64) -> Program {
        match load::instance(&SourceFile::new("p.pw", TEXT), &[("N".to_owned(), size)]) {
            Loaded::Program(program) => *program,
            Loaded::Refused(refusal) => panic!("{:?}", refusal.diagnostics),
        }
    }

    /// Where one question is false at another size, all are answered there; an answer against a proof that is about that size is no answer.
    #[test]
    fn a_proof_for_every_size_beside_a_run_against_it_is_a_mistake() {
        let (proved, other) = (program(2), program(3));
        let limits =
            CheckLimits { time: None, memory_bytes: None, disk: None, n_threads: 1, cancel: CancelToken::default() };
        let mutex = [select::find(&proved.model, "mutex").unwrap()];
        let proofs = check(&proved, &mutex, &limits, &Silent).unwrap().checked.results;
        assert!(scope_of(&proofs[0]).is_some_and(|scope| scope.includes("N", 3)));
        let start = initial_states(&other.model).next().unwrap();
        let mut against = proofs.clone();
        against[0].verdict =
            Verdict::Violated(Evidence::Trace(Trace::finite(vec![start], Vec::new(), TraceEnd::State)));
        let mistake = no_contradiction(&proved, &proofs, (&other, &against)).unwrap_err();
        assert!(mistake.to_string().contains("says that it holds"), "{mistake}");
        // A size that the proof is not about, and the same answer.
        let mut from_four = proofs.clone();
        if let Some(Scope::AllSizes { from, .. }) = scope_mut(&mut from_four[0]) {
            *from = 4;
        }
        no_contradiction(&proved, &from_four, (&other, &against)).unwrap();
        no_contradiction(&proved, &proofs, (&other, &proofs)).unwrap();
    }
}
