//! Proofs by counting checked: every obligation of `evidence::counting`, for every size at once.
//!
//! In: a Model, a property, views and sums. Out: how many obligations hold, or the first that does not. `cast` is what declarations say, `stage`
//! and `acts` are what the written text means where few processes are seen, `named` are processes at the ends of families, `rounds` loops over families, `system` decides whether there can be so many of the others, `signs` are
//! those of sums that views show, `blocked` is about deadlocks.

mod acts;
mod blocked;
mod cast;
mod named;
mod rounds;
mod signs;
mod stage;
mod system;

use std::collections::{BTreeMap, BTreeSet};

use base::Budget;
use evidence::certificate::DischargedObligations;
use evidence::counting::{ClassMember, CountingItem, CountingProof, CountingView};
use evidence::scope::Scope;
use evidence::views::{LocalColumn, SharedColumn};
use model::Model;
use model::control::ActionId;
use model::expr::{BinaryOp, Domain, Expr, ExprKind, Quantified, Quantifier};
use model::process::FamilyId;
use model::property::PropertyKind;
use model::size::{Linear, Size};
use model::types::ScalarType;
use model::value::Value;
use model::variable::{CellId, Init};

use super::{CertificateError, Outcome, races, words};
use cast::{Cast, GREATEST, refuse};
use stage::{Path, Player, Role, Stage, Stop, Thing, how_many};
use system::{Demand, Lin, Unknown, at_least, exactly, satisfiable};

/// How far a number that is shown may be from a counted one.
const FAR: i64 = 2;

/// Properties that speak of more processes at once are not followed.
const MOST_BOUND: usize = 3;

/// Checks every obligation of a proof by counting.
pub(super) fn check(
    model: &Model,
    (name, property): (&str, &PropertyKind),
    (scope, proof): (&Scope, &CountingProof),
    budget: &Budget,
) -> Outcome<DischargedObligations> {
    let race = races::asked(model, (name, property))?;
    let cast = Cast::new(model, proof)?;
    let is_backed = match scope {
        Scope::Instance => cast.leaves_somebody(None),
        Scope::AllSizes { parameter, from, .. } => {
            let is_meant = |id: &&model::size::ParameterId| model.parameters[**id].name == *parameter;
            cast.sizes
                .iter()
                .find(is_meant)
                .is_some_and(|&id| *from >= model.parameters[id].least && cast.leaves_somebody(Some((id, *from))))
        }
    };
    if !is_backed {
        return Err(CertificateError::Malformed(format!("it claims {scope}")));
    }
    let mut checker = Checker::new(&cast, proof, budget)?;
    checker.starts()?;
    checker.steps()?;
    match &race {
        Some(no_race) => checker.never(no_race, false, &[])?,
        None => checker.implies(name, property)?,
    }
    Ok(checker.discharged)
}

/// A sum with its weights at hand.
struct Total {
    cells: Vec<(CellId, i64)>,
    constant: i64,
    weights: BTreeMap<(ClassMember, Vec<CountingItem>), i64>,
}

impl Total {
    fn weight(&self, member: ClassMember, class: Vec<CountingItem>) -> i64 {
        self.weights.get(&(member, class)).copied().unwrap_or(0)
    }
}

struct Checker<'a, 'm> {
    cast: &'a Cast<'m>,
    views: Vec<CountingView>,
    known: BTreeSet<CountingView>,
    /// The numbers of views by what they share, names of processes aside.
    alike: BTreeMap<Vec<CountingItem>, Vec<usize>>,
    totals: Vec<Total>,
    can_fault: Option<ActionId>,
    discharged: DischargedObligations,
    budget: &'a Budget,
    n_paths: usize,
}

impl<'a, 'm> Checker<'a, 'm> {
    fn new(cast: &'a Cast<'m>, proof: &CountingProof, budget: &'a Budget) -> Outcome<Checker<'a, 'm>> {
        let malformed = |what: &str| Err(CertificateError::Malformed(what.to_owned()));
        for view in &proof.views {
            if !cast.crowds.contains(&view.family) || !fits(cast, view) {
                return malformed("a view has not the shape of a view");
            }
        }
        let mut totals = Vec::new();
        for sum in &proof.sums {
            let is_number = |(cell, _): &(CellId, i64)| {
                cast.counted.contains(cell) || cast.shared_at(SharedColumn::Cell(*cell)).is_some()
            };
            if !sum.cells.iter().all(is_number) {
                return malformed("a sum is about a cell that is not shared");
            }
            // Far within 64 bits, so that no sum of a few of them is beyond.
            let numbers = sum.cells.iter().map(|one| one.1).chain(sum.weights.iter().map(|one| one.weight));
            if !numbers.chain([sum.constant]).all(is_small) {
                return malformed("a sum has numbers that are too large");
            }
            // A weight of what no process ever is would be passed over here, and may be read by others.
            if sum.weights.iter().any(|one| one.class != Cast::class_of(&one.class)) {
                return malformed("a sum weighs what is no class");
            }
            let weights: BTreeMap<_, _> =
                sum.weights.iter().map(|one| ((one.of, one.class.clone()), one.weight)).collect();
            if weights.len() != sum.weights.len() {
                return malformed("a sum gives one class two weights");
            }
            totals.push(Total { cells: sum.cells.clone(), constant: sum.constant, weights });
        }
        let known = proof.views.iter().cloned().collect();
        let mut alike: BTreeMap<Vec<CountingItem>, Vec<usize>> = BTreeMap::new();
        for (at, view) in proof.views.iter().enumerate() {
            alike.entry(nameless(cast, &Stage::alone(view))).or_default().push(at);
        }
        let discharged = DischargedObligations::default();
        let views = proof.views.clone();
        Ok(Checker { cast, views, known, alike, totals, can_fault: None, discharged, budget, n_paths: 0 })
    }

    fn pace(&mut self) -> Outcome<()> {
        self.n_paths += 1;
        if self.n_paths.is_multiple_of(128) {
            self.budget.check(0)?;
        }
        Ok(())
    }

    /// Every process starts with a view, and every sum is right at first.
    fn starts(&mut self) -> Outcome<()> {
        let mut starts: Vec<CountingView> = Vec::new();
        for &family in &self.cast.crowds {
            let mut next = Some(Path::default());
            while let Some(mut path) = next {
                self.pace()?;
                self.discharged.initiality += 1;
                match start(self.cast, family, &mut path) {
                    Ok(view) if self.known.contains(&view) => starts.push(view),
                    Ok(_) => {
                        return words::refused(
                            "every process has to start as one of the views shows it",
                            "there is an initial state in which one does not",
                        );
                    }
                    Err(Stop::Never) => {}
                    Err(_) => return refuse("what processes start with is not followed"),
                }
                next = path.turn();
            }
        }
        let mut classes: BTreeMap<FamilyId, BTreeSet<Vec<CountingItem>>> = BTreeMap::new();
        for view in &starts {
            classes.entry(view.family).or_default().insert(Cast::class_of(&view.local));
        }
        starts.iter().try_for_each(|view| self.right_at_first(view, &classes))
    }

    /// With this shared part, and each family at its start, the sums are right for every size.
    fn right_at_first(
        &self,
        view: &CountingView,
        classes: &BTreeMap<FamilyId, BTreeSet<Vec<CountingItem>>>,
    ) -> Outcome<()> {
        for total in &self.totals {
            let mut excess = Some(Linear::number(total.constant));
            for &single in &self.cast.singles {
                let weight = total.weight(ClassMember::Single(single), self.cast.class_of_single(single, &view.shared));
                excess = excess.and_then(|sum| sum.plus(&Linear::number(weight), 1));
            }
            for (&family, classes) in classes {
                // However they start, they weigh the same.
                let weights: BTreeSet<i64> =
                    classes.iter().map(|class| total.weight(ClassMember::Family(family), class.clone())).collect();
                let named = Linear::number(self.cast.n_named(family));
                let size = self.cast.written.families[family].size.linear().and_then(|size| size.plus(&named, -1));
                excess = match (excess, size, weights.len(), weights.first()) {
                    (Some(sum), Some(size), 1, Some(&weight)) => sum.plus(&size, weight),
                    _ => None,
                };
            }
            for &(cell, times) in &total.cells {
                let number = match self.cast.shared_at(SharedColumn::Cell(cell)) {
                    None => self.cast.start(cell),
                    Some(at) => amount(view.shared[at]).map(Linear::number),
                };
                excess = excess.zip(number).and_then(|(sum, number)| sum.plus(&number, times.checked_neg()?));
            }
            // Parameters that are no sizes are numbers.
            let is_right = excess.is_some_and(|excess| {
                let is_size = |id: &&model::size::ParameterId| self.cast.sizes.contains(*id);
                excess.multiples.keys().filter(is_size).count() == 0
                    && excess.value(&self.cast.model.parameters) == Some(0)
            });
            if !is_right {
                return words::refused("every sum has to be right at first", "one is not");
            }
        }
        Ok(())
    }

    /// The views of those who may be behind a stage.
    fn behind(&self, stage: &Stage) -> Vec<usize> {
        let alike = self.alike.get(&nameless(self.cast, stage)).into_iter().flatten().copied();
        alike.filter(|&view| stage.joined(&self.views[view]).is_some()).collect()
    }

    fn steps(&mut self) -> Outcome<()> {
        for at in 0..self.views.len() {
            let stage = Stage::alone(&self.views[at]);
            let behind = self.behind(&stage);
            let roles = self.cast.singles.iter().map(|&single| Role::Single(single)).chain([Role::Actor(0)]);
            for role in roles.collect::<Vec<_>>() {
                self.all_steps(&stage, role, &behind)?;
            }
            for &other in &behind {
                if let Some(pair) = stage.joined(&self.views[other]) {
                    let behind = self.behind(&pair);
                    self.all_steps(&pair, Role::Actor(1), &behind)?;
                }
            }
        }
        Ok(())
    }

    fn all_steps(&mut self, stage: &Stage, role: Role, behind: &[usize]) -> Outcome<()> {
        let place = match role {
            Role::Actor(at) => Some(stage.actors[at].1[0]),
            Role::Single(single) => self.cast.shared_at(SharedColumn::Control(single)).map(|at| stage.shared[at]),
            Role::Nobody => None,
        };
        let Some(CountingItem::Place(place)) = place else { return Ok(()) };
        for action in self.cast.model.places[place].actions.clone() {
            match role {
                Role::Actor(1) => self.discharged.non_interference += 1,
                _ => self.discharged.step += 1,
            }
            let mut next = Some(Path::default());
            while let Some(mut path) = next {
                self.pace()?;
                self.one_way(stage, (role, action), behind, &mut path)?;
                next = path.turn();
            }
        }
        Ok(())
    }

    fn one_way(
        &mut self,
        stage: &Stage,
        (role, action): (Role, ActionId),
        behind: &[usize],
        path: &mut Path,
    ) -> Outcome<()> {
        let mut player = Player {
            cast: self.cast,
            before: stage,
            stage: stage.clone(),
            role,
            bound: Vec::new(),
            path,
            views: &self.views,
            behind,
            written: BTreeMap::new(),
            demands: Vec::new(),
            within: false,
        };
        let end = player.take(&self.cast.written.actions[action]).and_then(|()| player.show_signs());
        let Player { stage: after, written, demands, .. } = player;
        let can_be = |more: Option<Demand>| self.can_be(stage, behind, &demands, more);
        match end {
            Ok(()) => {}
            Err(Stop::Never) => return Ok(()),
            Err(Stop::Fault) => {
                if self.can_fault.is_none() && can_be(None) {
                    self.can_fault = Some(action);
                }
                return Ok(());
            }
            Err(Stop::Lost(span)) if can_be(None) => {
                return refuse(format!("the text at byte {} is not followed, or tells processes apart", span.start));
            }
            Err(Stop::Lost(_)) => return Ok(()),
        }
        let mut changes: BTreeMap<CellId, Option<i64>> = BTreeMap::new();
        for (&cell, lin) in &written {
            let change = lin.clone().and_then(|lin| lin.and(-1, &Lin::unknown(Unknown::Cell(cell))));
            changes.insert(cell, change.and_then(|change| change.settled()));
        }
        let mut all_kept = true;
        for total in &self.totals {
            let due = self.due(total, role, (stage, &after));
            let excess = self.excess(total, due, (stage, &after), &written);
            let is_kept = excess.is_some_and(|excess| match excess.settled() {
                Some(number) => number == 0,
                None => {
                    let more = excess.clone().and(-1, &Lin::just(1)).map(at_least);
                    let less = Lin::default().and(-1, &excess).and_then(|lin| lin.and(-1, &Lin::just(1))).map(at_least);
                    more.zip(less).is_some_and(|(more, less)| !can_be(Some(more)) && !can_be(Some(less)))
                }
            });
            // What another process weighs afterwards is what its own view shows, in which this is asked, too.
            all_kept &= is_kept || role == Role::Actor(1);
            if let [(cell, times)] = total.cells[..]
                && is_kept
                && times.abs() == 1
                && written.contains_key(&cell)
            {
                changes.insert(cell, Some(due * times));
            }
        }
        let seen = self.seen(&after, &changes);
        if (!all_kept || !self.known.contains(&seen)) && can_be(None) {
            let text = &self.cast.model.statements[self.cast.model.actions[action].statement].text;
            return match all_kept {
                true => words::refused("every step leads to a view again", format!("one by `{text}` does not")),
                false => words::refused("every step keeps every sum", format!("one by `{text}` does not")),
            };
        }
        Ok(())
    }

    /// By how much the cells of a sum have to change, by who acts.
    fn due(&self, total: &Total, role: Role, (before, after): (&Stage, &Stage)) -> i64 {
        let weight = |stage: &Stage| match role {
            Role::Actor(at) => {
                let (family, local) = &stage.actors[at];
                total.weight(ClassMember::Family(*family), Cast::class_of(local))
            }
            Role::Single(single) => {
                total.weight(ClassMember::Single(single), self.cast.class_of_single(single, &stage.shared))
            }
            Role::Nobody => 0,
        };
        weight(after) - weight(before)
    }

    /// By how much more than that they do.
    fn excess(
        &self,
        total: &Total,
        due: i64,
        (before, after): (&Stage, &Stage),
        written: &BTreeMap<CellId, Option<Lin>>,
    ) -> Option<Lin> {
        let mut excess = Lin::just(due.checked_neg()?);
        for &(cell, times) in &total.cells {
            let change = match (self.cast.shared_at(SharedColumn::Cell(cell)), written.get(&cell)) {
                (Some(at), _) => Lin::just(amount(after.shared[at])? - amount(before.shared[at])?),
                (None, None) => continue,
                (None, Some(lin)) => lin.clone()?.and(-1, &Lin::unknown(Unknown::Cell(cell)))?,
            };
            excess = excess.and(times, &change)?;
        }
        Some(excess)
    }

    /// What the first on stage sees after a step that changes counted cells.
    fn seen(&self, stage: &Stage, changes: &BTreeMap<CellId, Option<i64>>) -> CountingView {
        let seen = |item: &CountingItem| match *item {
            CountingItem::Slot(at) if at > 0 => CountingItem::Other(stage.actors[at as usize].0),
            CountingItem::Offset(cell, by) => {
                let change = changes.get(&cell).copied().unwrap_or(Some(0));
                match change.and_then(|change| by.checked_sub(change)) {
                    Some(by) if by.abs() <= FAR => CountingItem::Offset(cell, by),
                    _ => CountingItem::Any,
                }
            }
            other => other,
        };
        let (family, local) = &stage.actors[0];
        CountingView {
            family: *family,
            shared: stage.shared.iter().map(seen).collect(),
            local: local.iter().map(seen).collect(),
        }
    }

    /// Whether there may be a state with this stage, those behind it, and what is demanded.
    fn can_be(&self, stage: &Stage, behind: &[usize], demands: &[Demand], more: Option<Demand>) -> bool {
        match self.always(stage, behind) {
            Some(always) => {
                let all: Vec<Demand> = always.into_iter().chain(demands.iter().cloned()).chain(more).collect();
                satisfiable(&all)
            }
            None => true,
        }
    }

    /// What is so in every state.
    fn always(&self, stage: &Stage, behind: &[usize]) -> Option<Vec<Demand>> {
        let cast = self.cast;
        let count = |family: FamilyId| {
            let mut all = how_many(family, stage, &self.views, behind);
            all.constant += cast.n_named(family);
            all
        };
        let mut sizes: BTreeMap<model::size::ParameterId, Lin> = BTreeMap::new();
        let mut demands = Vec::new();
        for &family in &cast.crowds {
            match cast.written.families[family].size {
                Size::Fixed(n) => demands.push(exactly(count(family).and(-1, &Lin::just(n as i64))?)),
                Size::Parameter(parameter) => {
                    let declared = &cast.written.parameters[parameter];
                    demands.push(at_least(count(family).and(-1, &Lin::just(declared.least))?));
                    if let Some(most) = declared.greatest {
                        demands.push(at_least(Lin::just(most).and(-1, &count(family))?));
                    }
                    match sizes.get(&parameter) {
                        Some(same) => demands.push(exactly(count(family).and(-1, same)?)),
                        None => drop(sizes.insert(parameter, count(family))),
                    }
                }
                _ => return None,
            }
        }
        let linear = |linear: &Linear| {
            linear.multiples.iter().try_fold(Lin::just(linear.constant), |sum, (id, &times)| match sizes.get(id) {
                Some(size) => sum.and(times, size),
                None => sum.and(times, &Lin::just(cast.model.parameters[*id].value)),
            })
        };
        for &cell in &cast.counted {
            let [least, most] = cast.bounds(cast.model.cells[cell].var)?;
            let content = Lin::unknown(Unknown::Cell(cell));
            demands.push(at_least(content.clone().and(-1, &linear(&least)?)?));
            demands.push(at_least(linear(&most)?.and(-1, &content)?));
        }
        for (sign, shown) in cast.signs.iter().zip(cast.signs_on(&stage.shared)) {
            let size = |id: &model::size::ParameterId| sizes.get(id).cloned();
            demands.push(signs::demand(
                signs::number(sign, |cell| Some(Lin::unknown(Unknown::Cell(cell))), size)?,
                *shown,
            )?);
        }
        for total in &self.totals {
            demands.push(exactly(self.balance(total, stage, behind)?));
        }
        Some(demands)
    }

    /// The cells of a sum less the weights of all processes.
    fn balance(&self, total: &Total, stage: &Stage, behind: &[usize]) -> Option<Lin> {
        let mut balance = Lin::just(total.constant.checked_neg()?);
        for &(cell, times) in &total.cells {
            let content = match self.cast.shared_at(SharedColumn::Cell(cell)) {
                Some(at) => Lin::just(amount(stage.shared[at])?),
                None => Lin::unknown(Unknown::Cell(cell)),
            };
            balance = balance.and(times, &content)?;
        }
        for &single in &self.cast.singles {
            let class = self.cast.class_of_single(single, &stage.shared);
            balance = balance.and(-total.weight(ClassMember::Single(single), class), &Lin::just(1))?;
        }
        for (family, local) in &stage.actors {
            balance = balance.and(-total.weight(ClassMember::Family(*family), Cast::class_of(local)), &Lin::just(1))?;
        }
        for &view in behind {
            let CountingView { family, local, .. } = &self.views[view];
            let weight = total.weight(ClassMember::Family(*family), Cast::class_of(local));
            balance = balance.and(-weight, &Lin::unknown(Unknown::Views(view)))?;
        }
        Some(balance)
    }

    /// Nothing that the views and sums allow violates the property.
    fn implies(&mut self, name: &str, property: &PropertyKind) -> Outcome<()> {
        let at = self.cast.model.properties.iter().position(|one| one.name == name);
        let written = at.map(|at| &self.cast.written.properties[base::Id::new(at)].kind);
        let (expr, bad) = match (property, written) {
            (PropertyKind::NoErrors, _) => {
                self.discharged.implication += 1;
                let Some(action) = self.can_fault else { return Ok(()) };
                let text = &self.cast.model.statements[self.cast.model.actions[action].statement].text;
                return words::refused("no step may be a fault", format!("`{text}` may be one"));
            }
            (PropertyKind::DeadlockFree, _) => return self.no_deadlock(),
            (PropertyKind::Invariant(_), Some(PropertyKind::Invariant(expr))) => (expr, false),
            (PropertyKind::Reachable(_), Some(PropertyKind::Reachable(expr))) => (expr, true),
            _ => {
                let what = "counting says nothing about this kind of property";
                return Err(CertificateError::NotSupported(what.to_owned()));
            }
        };
        self.never(expr, bad, &[])
    }

    /// The expression is never this, whichever processes the quantifiers that were passed take.
    fn never(&mut self, expr: &'m Expr, bad: bool, outer: &[&'m Quantified]) -> Outcome<()> {
        match &expr.kind {
            ExprKind::Not(inner) => return self.never(inner, !bad, outer),
            ExprKind::Binary(BinaryOp::And, left, right) if !bad => {
                self.never(left, bad, outer)?;
                return self.never(right, bad, outer);
            }
            ExprKind::Binary(BinaryOp::Or, left, right) if bad => {
                self.never(left, bad, outer)?;
                return self.never(right, bad, outer);
            }
            ExprKind::Quantified(quantified) => {
                let wanted = if bad { Quantifier::Exists } else { Quantifier::Forall };
                let is_crowd =
                    |domain: &Domain| matches!(domain, Domain::Family(family) if self.cast.crowds.contains(family));
                if quantified.quantifier == wanted && quantified.bindings.iter().all(|one| is_crowd(&one.domain)) {
                    return self.never(&quantified.body, bad, &[outer, &[quantified]].concat());
                }
            }
            _ => {}
        }
        let families: Vec<FamilyId> = { outer.iter().flat_map(|one| &one.bindings) }
            .filter_map(|binding| match &binding.domain {
                Domain::Family(family) => Some(*family),
                _ => None,
            })
            .collect();
        if families.len() > MOST_BOUND {
            return Err(CertificateError::NotSupported("the property speaks of many processes at once".to_owned()));
        }
        // Every family has a process.
        let first = families.first().copied().unwrap_or(self.cast.crowds[0]);
        for at in (0..self.views.len()).filter(|&at| self.views[at].family == first).collect::<Vec<_>>() {
            let stage = Stage::alone(&self.views[at]);
            let named = self.cast.named_in(first).into_iter().filter(|_| !families.is_empty()).map(Thing::Single);
            for one in named.chain([Thing::Actor(0)]).collect::<Vec<_>>() {
                self.whoever(&stage, (&families, &[one]), (expr, bad, outer))?;
            }
        }
        Ok(())
    }

    fn whoever(
        &mut self,
        stage: &Stage,
        (families, taken): (&[FamilyId], &[Thing]),
        asked: (&'m Expr, bool, &[&'m Quantified]),
    ) -> Outcome<()> {
        if taken.len() >= families.len() {
            return self.not_here(stage, &taken[..families.len()], asked);
        }
        let family = families[taken.len()];
        let named = self.cast.named_in(family).into_iter().map(Thing::Single);
        let actors = (0..stage.actors.len()).filter(|&actor| stage.actors[actor].0 == family).map(Thing::Actor);
        for one in actors.chain(named).collect::<Vec<_>>() {
            self.whoever(stage, (families, &[taken, &[one]].concat()), asked)?;
        }
        for view in self.behind(stage).into_iter().filter(|&view| self.views[view].family == family).collect::<Vec<_>>()
        {
            if let Some(more) = stage.joined(&self.views[view]) {
                self.whoever(&more, (families, &[taken, &[Thing::Actor(stage.actors.len())]].concat()), asked)?;
            }
        }
        Ok(())
    }

    fn not_here(
        &mut self,
        stage: &Stage,
        taken: &[Thing],
        (expr, bad, outer): (&'m Expr, bool, &[&'m Quantified]),
    ) -> Outcome<()> {
        self.discharged.implication += 1;
        let behind = self.behind(stage);
        let mut next = Some(Path::default());
        while let Some(mut path) = next {
            self.pace()?;
            let mut player = Player {
                cast: self.cast,
                before: stage,
                stage: stage.clone(),
                role: Role::Nobody,
                bound: taken.to_vec(),
                path: &mut path,
                views: &self.views,
                behind: &behind,
                written: BTreeMap::new(),
                demands: Vec::new(),
                within: false,
            };
            let mut filters = outer.iter().filter_map(|one| one.filter.as_ref());
            let is_meant = filters.try_fold(true, |is, filter| Ok(is && player.is(filter)?));
            let found = is_meant.and_then(|is_meant| Ok(is_meant && player.is(expr)? == bad));
            let is_bad = match found {
                Ok(is_bad) => is_bad,
                Err(Stop::Never) => false,
                Err(Stop::Fault) => true,
                Err(Stop::Lost(_)) => return refuse("the property is not followed, or tells processes apart"),
            };
            let demands = player.demands;
            if is_bad && self.can_be(stage, &behind, &demands, None) {
                return words::refused("no processes may violate the property", "some that views and sums allow do");
            }
            next = path.turn();
        }
        Ok(())
    }
}

/// What is shared, names of processes aside, and numbers that one process may know better than another one.
fn nameless(cast: &Cast<'_>, stage: &Stage) -> Vec<CountingItem> {
    let nameless = |(column, item): (&SharedColumn, &CountingItem)| match (*column, *item) {
        (_, CountingItem::Slot(at)) => CountingItem::Other(stage.actors[at as usize].0),
        (SharedColumn::Cell(cell), _) if cast.is_relative(cast.model.cells[cell].var) => CountingItem::Any,
        (_, other) => other,
    };
    cast.shared.iter().zip(&stage.shared).map(nameless).chain(cast.signs_on(&stage.shared).iter().copied()).collect()
}

/// What a component adds to a sum of cells.
fn amount(item: CountingItem) -> Option<i64> {
    match item {
        CountingItem::Value(Value::Int(number)) => Some(number),
        CountingItem::Value(Value::Bool(is)) => Some(if is { 1 } else { 0 }),
        CountingItem::Value(Value::None) => Some(0),
        CountingItem::Slot(_) | CountingItem::Other(_) | CountingItem::Value(Value::Process(_)) => Some(1),
        _ => None,
    }
}

/// Whether sums of a few such numbers are far within 64 bits.
fn is_small(number: i64) -> bool {
    (-GREATEST..=GREATEST).contains(&number)
}

/// Whether every component of a view is of the kind that its column shows.
fn fits(cast: &Cast<'_>, view: &CountingView) -> bool {
    let is_place =
        |item: &CountingItem| matches!(item, CountingItem::Place(place) if place.index() < cast.model.places.len());
    let is_content = |item: &CountingItem| match item {
        CountingItem::Place(_) => false,
        CountingItem::Slot(slot) => *slot == 0,
        CountingItem::Other(family) => cast.crowds.contains(family),
        CountingItem::Offset(cell, by) => cast.counted.contains(cell) && is_small(*by),
        CountingItem::Value(Value::Int(number)) => is_small(*number),
        CountingItem::Value(Value::Process(id)) => id.index() < cast.model.processes.len() && !cast.is_crowd(*id),
        CountingItem::Value(_) | CountingItem::Any => true,
    };
    let local = &cast.local[&view.family];
    view.shared.len() == cast.shared.len() + cast.signs.len()
        && cast.signs_on(&view.shared).iter().all(signs::is_sign)
        && view.local.len() == local.len()
        && view.shared.iter().zip(&cast.shared).all(|(item, column)| match column {
            SharedColumn::Control(_) => is_place(item),
            _ => is_content(item),
        })
        && view.local.iter().zip(local).all(|(item, column)| match *column {
            LocalColumn::Control => is_place(item),
            LocalColumn::Taken(id) => cast.is_mark(id, *item),
            LocalColumn::Own(_) | LocalColumn::Element(..) => is_content(item),
        })
}

/// How a process of the family starts, by one path.
fn start(cast: &Cast<'_>, family: FamilyId, path: &mut Path) -> Result<CountingView, Stop> {
    let blank = vec![CountingItem::Any; cast.local[&family].len()];
    let before = Stage { shared: Vec::new(), actors: Vec::new() };
    let stage = Stage { shared: vec![CountingItem::Any; cast.shared.len()], actors: vec![(family, blank)] };
    let mut player = Player {
        cast,
        before: &before,
        stage,
        role: Role::Nobody,
        bound: Vec::new(),
        path,
        views: &[],
        behind: &[],
        written: BTreeMap::new(),
        demands: Vec::new(),
        within: true,
    };
    for (at, column) in cast.shared.iter().enumerate() {
        if let SharedColumn::Cell(cell) = column {
            player.stage.shared[at] = at_first(&mut player, *cell)?;
        }
    }
    let process = cast.like_others(family).ok_or(Stop::Lost(base::Span::default()))?;
    for (at, column) in cast.local[&family].iter().enumerate() {
        let cell = match column {
            LocalColumn::Own(offset) => Some(CellId::new(cast.model.processes[process].first_cell + offset)),
            LocalColumn::Element(row, position) => cast.elements(process, row.var).get(*position).copied(),
            LocalColumn::Control => None,
            LocalColumn::Taken(_) => {
                player.stage.actors[0].1[at] = rounds::UNMARKED;
                None
            }
        };
        if let Some(cell) = cell {
            player.stage.actors[0].1[at] = at_first(&mut player, cell)?;
        }
    }
    for &single in &cast.singles {
        player.role = Role::Single(single);
        player.go(&cast.written.families[cast.model.processes[single].family].entry)?;
    }
    player.role = Role::Actor(0);
    player.go(&cast.written.families[family].entry)?;
    player.first_signs()?;
    let Stage { shared, mut actors } = player.stage;
    let local = actors.pop().map(|(_, local)| local).unwrap_or_default();
    Ok(CountingView { family, shared, local })
}

/// What a cell holds at first.
fn at_first(player: &mut Player<'_, '_>, cell: CellId) -> Result<CountingItem, Stop> {
    let cast = player.cast;
    let declared = &cast.model.cells[cell];
    let lost = Stop::Lost(cast.model.vars[declared.var].span);
    if cast.says_turn(cell) {
        return Ok(rounds::UNMARKED);
    }
    if cast.bounds(declared.var).is_some() {
        if let Some(start) = cast.start(cell) {
            let is_size = |id: &model::size::ParameterId| cast.sizes.contains(id);
            return Ok(match start.multiples.keys().any(is_size) {
                true => CountingItem::Any,
                false => CountingItem::Value(Value::Int(start.value(&cast.model.parameters).ok_or(lost)?)),
            });
        }
        let (lo, hi) = cast.width(declared.var).ok_or(lost)?;
        if hi - lo >= stage::FEW {
            return Ok(CountingItem::Any);
        }
        return Ok(CountingItem::Value(Value::Int(lo + player.path.pick((hi - lo + 1) as usize) as i64)));
    }
    let is_any = matches!(cast.written.vars[declared.var].init, Init::Any);
    let names = matches!(declared.ty, ScalarType::Pid(_));
    let value = model::eval::initial_states(cast.model).next().map(|state| state.cells[cell.index()]);
    match value {
        Some(value) if !is_any && !names && !matches!(value, Value::Process(_)) => Ok(CountingItem::Value(value)),
        _ => Ok(match player.any_of(declared.ty).ok_or(lost)? {
            Thing::Actor(_) => CountingItem::Slot(0),
            Thing::Behind(family) => CountingItem::Other(family),
            other => acts::shown(&other)?,
        }),
    }
}
