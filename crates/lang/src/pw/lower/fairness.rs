//! Fairness: assumptions as pairs over the edges of a run.
//!
//! In: `under …` and `fairness` declarations. Out: pairs in the Model, each once, and for each property a disjunction of sets of
//! them. `P[*]` is one assumption for each index; commas mean all, `or` means one of.

use std::collections::{HashMap, HashSet};

use base::{Diagnostic, Span};
use model::expr::ExprKind;
use model::fairness::{Assumptions, EdgePredicate, FairnessId, FairnessPair, StatePredicate};
use model::process::{FamilyId, ProcessId};
use model::visit::each_part;

use crate::codes::check as code;
use crate::pw::ast::{self, FairnessItem, FairnessKind, Item, PatternIndex, Places, ProcessPattern};
use crate::pw::check::{Base, Checker, Scope, Standpoint, Ty};

/// How many alternatives the assumptions of one property may have, written out.
const MAX_ALTERNATIVES: usize = 1_000;

/// All that is known about fairness while properties are lowered.
#[derive(Default)]
pub(super) struct FairnessSets<'a> {
    declared: HashMap<&'a str, &'a ast::FairnessDecl>,
    /// The pairs that were made, by their names, which say all about them.
    made: HashMap<String, FairnessId>,
    /// The sets that are being looked into.
    open: HashSet<&'a str>,
}

/// The form of an assumption about a process.
#[derive(Clone, Copy)]
enum Form {
    Every,
    Weak,
    Strong,
}

impl Form {
    fn word(self) -> &'static str {
        match self {
            Form::Every => "every",
            Form::Weak => "weak",
            Form::Strong => "strong",
        }
    }
}

/// The same program, in which `weak x` of something that is no process is the predicate `x`. Which it is cannot be known
/// before all declarations are.
pub(in crate::pw) fn with_predicates(program: &ast::Program) -> ast::Program {
    let mut program = program.clone();
    let names: HashSet<String> = program
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Process(declared) => Some(declared.name.name.clone()),
            _ => None,
        })
        .collect();
    for item in &mut program.items {
        match item {
            Item::Fairness(declared) => declared.items.iter_mut().for_each(|item| settle(item, &names)),
            Item::Property(declared) => {
                let assumptions = declared.under.as_mut().and_then(|under| under.assumptions.as_mut());
                if let Some(assumptions) = assumptions {
                    settle_all(assumptions, &names);
                }
            }
            _ => {}
        }
    }
    program
}

fn settle_all(assumptions: &mut ast::Assumptions, processes: &HashSet<String>) {
    match assumptions {
        ast::Assumptions::One(item) => settle(item, processes),
        ast::Assumptions::All(parts) | ast::Assumptions::Either(parts) => {
            parts.iter_mut().for_each(|part| settle_all(part, processes));
        }
    }
}

fn settle(item: &mut FairnessItem, processes: &HashSet<String>) {
    let FairnessKind::Weak { process: pattern, places: None } = &item.kind else { return };
    if processes.contains(&pattern.name.name) {
        return;
    }
    let name = ast::Expr { kind: ast::ExprKind::Name(pattern.name.clone()), span: pattern.name.span };
    let kind = match &pattern.index {
        None => name.kind,
        Some(PatternIndex::One(index)) => ast::ExprKind::Index { base: Box::new(name), index: Box::new(index.clone()) },
        Some(PatternIndex::All) => return,
    };
    item.kind = FairnessKind::WeakPredicate(ast::Expr { kind, span: pattern.span });
}

impl<'a> FairnessSets<'a> {
    /// Enters the declared sets, and checks them all.
    pub fn declare(checker: &mut Checker<'a>) -> Self {
        let mut sets = FairnessSets::default();
        let program = checker.program;
        let declared = program.items.iter().filter_map(|item| match item {
            Item::Fairness(declared) => Some(declared),
            _ => None,
        });
        for set in declared.clone() {
            if let Some(first) = sets.declared.get(&*set.name.name) {
                let message = format!("two fairness sets are called `{}`", set.name.name);
                checker.report(
                    Diagnostic::error(code::DECLARED_TWICE, set.name.span, message)
                        .note(first.name.span, "the first one"),
                );
            } else {
                sets.declared.insert(&set.name.name, set);
            }
        }
        // A set that no property uses is checked, too; its pairs stay out of the Model.
        for set in declared {
            let n_pairs = checker.model.fairness.len();
            sets.set(checker, set);
            if checker.model.fairness.len() > n_pairs {
                sets.made.retain(|_, id| id.index() < n_pairs);
                checker.model.fairness = checker.model.fairness.iter().take(n_pairs).cloned().collect();
                checker.model.forms.for_each.retain(|id| id.index() < n_pairs);
            }
        }
        sets
    }

    /// What a property assumes.
    pub fn of_property(&mut self, checker: &mut Checker<'a>, under: Option<&'a ast::Under>) -> Assumptions {
        let any_of = match under {
            Some(ast::Under { assumptions: Some(assumptions), span }) => self.alternatives(checker, assumptions, *span),
            Some(ast::Under { assumptions: None, .. }) => return Assumptions::none(),
            None => match self.declared.get("default").copied() {
                Some(default) => vec![self.set(checker, default)],
                None => return Assumptions::none(),
            },
        };
        let tidy = |mut pairs: Vec<FairnessId>| {
            pairs.sort();
            pairs.dedup();
            pairs
        };
        Assumptions { any_of: any_of.into_iter().map(tidy).collect() }
    }

    /// The sets of pairs of which one is assumed.
    fn alternatives(
        &mut self,
        checker: &mut Checker<'a>,
        assumptions: &'a ast::Assumptions,
        span: Span,
    ) -> Vec<Vec<FairnessId>> {
        match assumptions {
            ast::Assumptions::One(item) => vec![self.item(checker, item)],
            ast::Assumptions::Either(parts) => {
                parts.iter().flat_map(|part| self.alternatives(checker, part, span)).collect()
            }
            ast::Assumptions::All(parts) => {
                let mut product: Vec<Vec<FairnessId>> = vec![Vec::new()];
                for part in parts {
                    let choices = self.alternatives(checker, part, span);
                    if product.len().saturating_mul(choices.len()) > MAX_ALTERNATIVES {
                        let message = format!("written out, this has more than {MAX_ALTERNATIVES} alternatives");
                        checker.report(Diagnostic::error(code::TOO_MANY_COPIES, span, message));
                        return product;
                    }
                    let join = |left: &Vec<FairnessId>, right: &Vec<FairnessId>| [&left[..], &right[..]].concat();
                    product =
                        product.iter().flat_map(|left| choices.iter().map(move |right| join(left, right))).collect();
                }
                product
            }
        }
    }

    fn set(&mut self, checker: &mut Checker<'a>, set: &'a ast::FairnessDecl) -> Vec<FairnessId> {
        if !self.open.insert(&set.name.name) {
            let message = format!("the fairness set `{}` contains itself", set.name.name);
            checker.report(Diagnostic::error(code::FAIRNESS_IN_ITSELF, set.name.span, message));
            return Vec::new();
        }
        let pairs = set.items.iter().flat_map(|item| self.item(checker, item)).collect();
        self.open.remove(&*set.name.name);
        pairs
    }

    fn item(&mut self, checker: &mut Checker<'a>, item: &'a FairnessItem) -> Vec<FairnessId> {
        match &item.kind {
            FairnessKind::Progress => vec![self.progress(checker, item.span)],
            FairnessKind::Every(pattern) => self.of_processes(checker, Form::Every, pattern, None),
            FairnessKind::Weak { process, places } => self.of_processes(checker, Form::Weak, process, places.as_ref()),
            FairnessKind::Strong { process, places } => {
                self.of_processes(checker, Form::Strong, process, places.as_ref())
            }
            FairnessKind::WeakPredicate(predicate) => {
                let name = format!("weak {}", checker.text(predicate.span));
                let predicate = state_predicate(checker, predicate);
                let often = vec![EdgePredicate::Before(StatePredicate::Holds(predicate))];
                vec![self.push(checker, FairnessPair { owner: None, always: None, often, name, span: item.span })]
            }
            FairnessKind::StrongPredicates { condition, response } => {
                let name = format!("strong {} => {}", checker.text(condition.span), checker.text(response.span));
                let condition = state_predicate(checker, condition);
                let response = state_predicate(checker, response);
                let always = Some(StatePredicate::Fails(condition));
                let often = vec![EdgePredicate::Before(StatePredicate::Holds(response))];
                vec![self.push(checker, FairnessPair { owner: None, always, often, name, span: item.span })]
            }
            FairnessKind::Set(name) => match self.declared.get(&*name.name).copied() {
                Some(set) => self.set(checker, set),
                None => {
                    let message = format!("there is no fairness set `{}`", name.name);
                    let diagnostic = Diagnostic::error(code::UNKNOWN_FAIRNESS, name.span, message);
                    let diagnostic = checker.with_nearest(diagnostic, name, self.declared.keys().copied());
                    checker.report(match diagnostic.helps.is_empty() {
                        true => diagnostic.help(format!("declare it: `fairness {} {{ weak P[*]; }}`", name.name)),
                        false => diagnostic,
                    });
                    Vec::new()
                }
            },
        }
    }

    fn push(&mut self, checker: &mut Checker<'a>, pair: FairnessPair) -> FairnessId {
        *self.made.entry(pair.name.clone()).or_insert_with(|| checker.model.fairness.push(pair))
    }

    fn progress(&mut self, checker: &mut Checker<'a>, span: Span) -> FairnessId {
        let nobody = EdgePredicate::Before(StatePredicate::NobodyAble);
        let often = vec![nobody, EdgePredicate::SomebodyMoves];
        self.push(checker, FairnessPair { owner: None, always: None, often, name: "progress".into(), span })
    }

    /// One assumption for each process that the pattern names.
    fn of_processes(
        &mut self,
        checker: &mut Checker<'a>,
        form: Form,
        pattern: &'a ProcessPattern,
        places: Option<&'a Places>,
    ) -> Vec<FairnessId> {
        let Some(Matching { family, processes, is_another_elsewhere }) = matching(checker, pattern) else {
            return Vec::new();
        };
        if let Some(places) = places
            && !checker.are_labels_of(family, places)
        {
            return Vec::new();
        }
        let labels: Option<Vec<String>> =
            places.map(|places| places.labels.iter().map(|label| label.name.clone()).collect());
        let at = match labels.as_deref() {
            None => String::new(),
            Some([label]) => format!("@{label}"),
            Some(labels) => format!("@{{{}}}", labels.join(", ")),
        };
        let is_for_each = matches!(pattern.index, Some(PatternIndex::All));
        let mut made = Vec::new();
        for process in processes {
            let name = format!("{} {}{at}", form.word(), checker.model.processes[process].name);
            let unable = StatePredicate::Unable(process, labels.clone());
            let moves = EdgePredicate::Moves(process, labels.clone());
            let (always, often) = match form {
                Form::Every => (None, vec![EdgePredicate::Scheduled(process)]),
                Form::Weak => (None, vec![EdgePredicate::Before(unable), moves]),
                Form::Strong => (Some(unable), vec![moves]),
            };
            let pair = FairnessPair { owner: Some(process), always, often, name, span: pattern.span };
            let n_pairs = checker.model.fairness.len();
            let id = self.push(checker, pair);
            let is_new = checker.model.fairness.len() > n_pairs;
            // A pair that somebody also writes for the one process is not for each, wherever it is used.
            match is_for_each {
                true if is_new => drop(checker.model.forms.for_each.insert(id)),
                true => {}
                false => drop(checker.model.forms.for_each.remove(&id)),
            }
            // Nor does a pair belong to a process that is its own at this size only: proofs for every size make use of those that have an owner.
            if is_another_elsewhere {
                checker.model.fairness[id].owner = None;
            }
            made.push(id);
        }
        made
    }
}

/// A boolean expression about one state, in which nothing that the property binds is visible.
fn state_predicate<'a>(checker: &mut Checker<'a>, predicate: &'a ast::Expr) -> model::expr::Expr {
    checker.standing(Standpoint::Property, |checker| checker.condition(predicate, &Scope::new(Base::Program)))
}

/// The processes that a pattern names.
struct Matching {
    family: FamilyId,
    processes: Vec<ProcessId>,
    /// Whether a parameter changes which process that is, as in `weak P[N - 2]`.
    is_another_elsewhere: bool,
}

impl Matching {
    /// The same at every size.
    fn of(family: FamilyId, processes: Vec<ProcessId>) -> Self {
        Matching { family, processes, is_another_elsewhere: false }
    }
}

fn matching<'a>(checker: &mut Checker<'a>, pattern: &'a ProcessPattern) -> Option<Matching> {
    let name = &pattern.name;
    let family = checker.family_named(name)?;
    let is_single = checker.model.families[family].index.is_none();
    let declared = checker.model.families[family].span;
    match &pattern.index {
        Some(PatternIndex::All) if !is_single => {
            Some(Matching::of(family, checker.model.families[family].processes().collect()))
        }
        None if is_single => Some(Matching::of(family, vec![checker.model.families[family].first])),
        None => {
            let end = Span { start: name.span.end, end: name.span.end };
            let message = format!("`{}` is a family of processes: say which ones", name.name);
            let diagnostic = Diagnostic::error(code::WHICH_PROCESS, name.span, message).note(declared, "declared here");
            checker.report(diagnostic.fix("all of them", end, "[*]"));
            None
        }
        Some(_) if is_single => {
            let message = format!("`{}` is a single process, which has no index", name.name);
            let diagnostic =
                Diagnostic::error(code::WHICH_PROCESS, pattern.span, message).note(declared, "declared here");
            checker.report(diagnostic.fix("name it without an index", pattern.span, name.name.clone()));
            None
        }
        Some(PatternIndex::One(index)) => {
            let typed = checker.standing(Standpoint::Constant, |checker| {
                let scope = Scope::new(Base::Program);
                checker.value(index, &scope, Some(Ty::Int))
            });
            let who = checker.need_process(typed, family)?;
            let mut is_another_elsewhere = false;
            each_part(&who, &mut |part| {
                is_another_elsewhere |= matches!(part.kind, ExprKind::Parameter(_) | ExprKind::Quantified(_));
            });
            match checker.constant_value(&who)? {
                model::value::Value::Process(id) => {
                    Some(Matching { is_another_elsewhere, ..Matching::of(family, vec![id]) })
                }
                _ => None,
            }
        }
        Some(PatternIndex::All) => None,
    }
}
