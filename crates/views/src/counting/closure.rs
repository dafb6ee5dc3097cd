//! The least set of views that is closed under steps, where sums say what can happen.
//!
//! In: a roster and sums. Out: views, the sums that every step keeps, and where a step may be a fault. A step that would break a sum takes the
//! sum away; a new view changes what can happen in its shared part, so that the steps there are taken once more.

use std::collections::{BTreeMap, BTreeSet};

use base::{Budget, Span, StopReason};
use evidence::counting::{CellSum, SumWeight};
use evidence::views::{LocalColumn, SharedColumn};
use model::control::{Action, ActionId};
use model::process::FamilyId;
use model::size::Size;
use model::value::Value;
use model::variable::{CellId, Init};
use rustc_hash::{FxHashMap, FxHashSet};

use super::form::{Fact, Form, Term};
use super::look::{Halt, Look, Scene, Who};
use super::roster::{ClassMember, CountingItem, CountingView, Roster};
use super::signs::sign_fact;
use super::solve::{Row, may_hold};
use super::step::shifted;
use super::walk::NOT_TAKEN;
use crate::choices::Choices;

/// Why there is no set of views.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A limit was reached.
    Stopped(StopReason),
    /// The text does something that is not followed here.
    Outside(Span),
    /// There are too many views.
    TooMany,
}

/// How a step changes the class of its mover, and cells that may be sums.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edge {
    /// Who moves.
    pub member: ClassMember,
    /// Its class before.
    pub from: Vec<CountingItem>,
    /// Its class after.
    pub to: Vec<CountingItem>,
    /// How much each cell changes, where that is known.
    pub changes: Vec<Option<i64>>,
}

/// A sum, with its weights at hand.
#[derive(Clone, Debug)]
pub struct Weighed {
    /// The cells, and how often each is added.
    pub cells: Vec<(CellId, i64)>,
    /// The constant.
    pub constant: i64,
    /// What classes add.
    pub weights: FxHashMap<(ClassMember, Vec<CountingItem>), i64>,
}

impl Weighed {
    fn of(&self, member: ClassMember, class: &[CountingItem]) -> i64 {
        self.weights.get(&(member, class.to_vec())).copied().unwrap_or(0)
    }

    /// The sum as a claim.
    pub fn listed(&self) -> CellSum {
        let weights = self.weights.iter().filter(|(_, weight)| **weight != 0);
        let mut weights: Vec<SumWeight> =
            weights.map(|((of, class), &weight)| SumWeight { of: *of, class: class.clone(), weight }).collect();
        weights.sort_by(|one, other| (one.of, &one.class).cmp(&(other.of, &other.class)));
        CellSum { cells: self.cells.clone(), constant: self.constant, weights }
    }
}

/// The views while they are found.
pub struct Closure<'a, 'm> {
    /// What views consist of.
    pub roster: &'a Roster<'m>,
    /// The cells that may be sums.
    pub cells: Vec<CellId>,
    /// The sums that no step has broken.
    pub sums: Vec<Weighed>,
    /// The views.
    pub views: Vec<CountingView>,
    /// Those of initial states.
    pub starts: Vec<CountingView>,
    /// The positions of views with the same shared part, names of processes aside.
    pub groups: Vec<Vec<usize>>,
    /// How steps change classes.
    pub edges: BTreeSet<Edge>,
    /// Where a step may be a fault.
    pub faults: BTreeSet<Span>,
    known: FxHashSet<CountingView>,
    group_of: FxHashMap<Vec<CountingItem>, usize>,
    weights: Vec<Vec<i64>>,
    dirty: BTreeSet<usize>,
    broken: BTreeSet<usize>,
    budget: &'a Budget,
    n_ways: usize,
    n_systems: std::cell::Cell<usize>,
}

/// The views that are closed under steps.
///
/// # Errors
/// A limit, or something that is not followed here.
pub fn close<'a, 'm>(
    roster: &'a Roster<'m>,
    sums: Vec<Weighed>,
    budget: &'a Budget,
) -> Result<Closure<'a, 'm>, Failure> {
    let mut closure = Closure {
        roster,
        cells: quantities(roster),
        sums,
        views: Vec::new(),
        starts: Vec::new(),
        groups: Vec::new(),
        edges: BTreeSet::new(),
        faults: BTreeSet::new(),
        known: FxHashSet::default(),
        group_of: FxHashMap::default(),
        weights: Vec::new(),
        dirty: BTreeSet::new(),
        broken: BTreeSet::new(),
        budget,
        n_ways: 0,
        n_systems: std::cell::Cell::new(0),
    };
    for &family in &roster.many {
        for view in closure.initial(family)? {
            closure.insert(view)?;
        }
    }
    closure.starts = closure.views.clone();
    closure.run()?;
    Ok(closure)
}

/// The cells whose content may be a sum over processes: those that are counted, and shared ones of which something can be counted.
pub fn quantities(roster: &Roster<'_>) -> Vec<CellId> {
    let is_quantity = |cell: &CellId| {
        let declared = &roster.model.cells[*cell];
        roster.counted.contains(cell)
            || declared.owner.is_none() && !matches!(declared.ty, model::types::ScalarType::Enum(_))
    };
    roster.unowned().into_iter().filter(is_quantity).collect()
}

/// What a component counts for in a sum.
pub fn number_of(item: CountingItem) -> Option<i64> {
    match item {
        CountingItem::Value(Value::Int(number)) => Some(number),
        CountingItem::Value(Value::Bool(truth)) => Some(i64::from(truth)),
        CountingItem::Value(Value::None) => Some(0),
        CountingItem::Value(Value::Process(_)) | CountingItem::Slot(_) | CountingItem::Other(_) => Some(1),
        CountingItem::Value(Value::Enum(..))
        | CountingItem::Place(_)
        | CountingItem::Offset(..)
        | CountingItem::Any => None,
    }
}

impl<'m> Closure<'_, 'm> {
    fn initial(&mut self, family: FamilyId) -> Result<Vec<CountingView>, Failure> {
        let mut choices = Choices::default();
        let mut found = Vec::new();
        loop {
            self.pace()?;
            match start(self.roster, family, &mut choices) {
                Ok(view) => found.push(view),
                Err(Halt::Blocked) => {}
                Err(Halt::Fault(span) | Halt::Outside(span)) => return Err(Failure::Outside(span)),
            }
            if !choices.advance() {
                return Ok(found);
            }
        }
    }

    fn insert(&mut self, view: CountingView) -> Result<(), Failure> {
        if self.known.contains(&view) {
            return Ok(());
        }
        if self.views.len() >= self.roster.config.counted_views {
            return Err(Failure::TooMany);
        }
        let key = blind(self.roster, &Scene::of(&view));
        let n_groups = self.groups.len();
        let group = *self.group_of.entry(key).or_insert(n_groups);
        if group == n_groups {
            self.groups.push(Vec::new());
        }
        self.groups[group].push(self.views.len());
        self.dirty.insert(group);
        let class = Roster::class(&view.local);
        let weights = self.sums.iter().map(|sum| sum.of(ClassMember::Family(view.family), &class)).collect();
        self.weights.push(weights);
        self.known.insert(view.clone());
        self.views.push(view);
        Ok(())
    }

    fn run(&mut self) -> Result<(), Failure> {
        loop {
            while let Some(group) = self.dirty.pop_first() {
                for at in self.groups[group].clone() {
                    self.expand(at, group)?;
                }
            }
            if self.broken.is_empty() {
                return Ok(());
            }
            let broken = std::mem::take(&mut self.broken);
            let keep: Vec<bool> = (0..self.sums.len()).map(|at| !broken.contains(&at)).collect();
            let mut kept = keep.iter();
            self.sums.retain(|_| kept.next() == Some(&true));
            for weights in &mut self.weights {
                let mut kept = keep.iter();
                weights.retain(|_| kept.next() == Some(&true));
            }
            self.dirty.extend(0..self.groups.len());
        }
    }

    /// The views that unseen processes may have beside those of a scene.
    pub fn unseen(&self, scene: &Scene) -> Vec<usize> {
        let Some(&group) = self.group_of.get(&blind(self.roster, scene)) else { return Vec::new() };
        let fits = |at: &usize| scene.with(&self.views[*at]).is_some();
        self.groups[group].iter().copied().filter(fits).collect()
    }

    /// All steps of a view's process, of single processes, and of others with the same shared part.
    fn expand(&mut self, at: usize, group: usize) -> Result<(), Failure> {
        let view = self.views[at].clone();
        let scene = Scene::of(&view);
        let unseen = self.unseen(&scene);
        self.steps(&scene, Who::Slot(0), &unseen)?;
        for process in self.roster.singles.clone() {
            self.steps(&scene, Who::Single(process), &unseen)?;
        }
        for other in self.groups[group].clone() {
            if let Some(scene) = scene.with(&self.views[other]) {
                let unseen = self.unseen(&scene);
                self.steps(&scene, Who::Slot(1), &unseen)?;
            }
        }
        Ok(())
    }

    fn steps(&mut self, scene: &Scene, who: Who, unseen: &[usize]) -> Result<(), Failure> {
        let place = match who {
            Who::Slot(slot) => Some(scene.seen[slot as usize].1[0]),
            Who::Single(id) => self.roster.shared_column(SharedColumn::Control(id)).map(|column| scene.shared[column]),
            Who::Nobody => None,
        };
        let Some(CountingItem::Place(place)) = place else { return Ok(()) };
        let actions: Vec<ActionId> = self.roster.model.places[place].actions.clone();
        actions.into_iter().try_for_each(|action| self.step((scene, who), &self.roster.text.actions[action], unseen))
    }

    fn step(&mut self, (scene, who): (&Scene, Who), action: &'m Action, unseen: &[usize]) -> Result<(), Failure> {
        let mut choices = Choices::default();
        loop {
            self.pace()?;
            let found = {
                let views: Vec<&CountingView> = unseen.iter().map(|&at| &self.views[at]).collect();
                let mut look = Look {
                    roster: self.roster,
                    scene: scene.clone(),
                    me: who,
                    bound: Vec::new(),
                    choices: &mut choices,
                    unseen: &views,
                    stored: BTreeMap::new(),
                    facts: Vec::new(),
                    counts: Vec::new(),
                    is_inner: false,
                    before: scene,
                };
                let done = look.act(action).and_then(|()| look.show_signs(action));
                self.judge(look, done, unseen)?
            };
            match found {
                Found::Nothing => {}
                Found::Fault(span) => drop(self.faults.insert(span)),
                Found::View { view, edge, broken } => {
                    self.broken.extend(broken);
                    if let Some(edge) = edge {
                        self.edges.insert(edge);
                    }
                    self.insert(view)?;
                }
            }
            if !choices.advance() {
                return Ok(());
            }
        }
    }

    /// What comes of one way through a step.
    fn judge(&self, look: Look<'_, 'm>, done: Result<(), Halt>, unseen: &[usize]) -> Result<Found, Failure> {
        let before = look.before;
        let state = (before, unseen);
        let known = (&look.facts[..], &look.counts[..]);
        let can_be = |more: &[Fact]| self.may_be(state, (&[known.0, more].concat(), known.1));
        match done {
            Ok(()) => {}
            Err(Halt::Blocked) => return Ok(Found::Nothing),
            Err(Halt::Fault(span)) if self.faults.contains(&span) => return Ok(Found::Nothing),
            Err(Halt::Fault(span)) => {
                return Ok(if can_be(&[]) { Found::Fault(span) } else { Found::Nothing });
            }
            Err(Halt::Outside(_)) if !can_be(&[]) => return Ok(Found::Nothing),
            Err(Halt::Outside(span)) => return Err(Failure::Outside(span)),
        }
        let (member, from, to) = self.classes(&look);
        let mut broken = Vec::new();
        let mut changes: BTreeMap<CellId, i64> = BTreeMap::new();
        for &cell in look.stored.keys() {
            if let Some(change) = look.change(cell) {
                changes.insert(cell, change);
            }
        }
        for (at, sum) in self.sums.iter().enumerate() {
            let wanted = sum.of(member, &to) - sum.of(member, &from);
            let is_kept = self.excess(&look, (sum, wanted), &changes).is_some_and(|excess| match excess {
                Excess::Known(excess) => excess == 0,
                Excess::Open(facts) => facts.into_iter().all(|fact| !can_be(&[fact])),
            });
            if !is_kept {
                broken.push(at);
            } else if let [(cell, times @ (1 | -1))] = sum.cells[..]
                && self.roster.counted.contains(&cell)
            {
                changes.insert(cell, wanted * times);
            }
        }
        let change = |cell: CellId| match look.stored.contains_key(&cell) {
            true => changes.get(&cell).copied(),
            false => Some(0),
        };
        let view = project(&look.scene, change);
        let is_own = look.me != Who::Slot(1);
        if !is_own {
            broken.clear();
        }
        let edge = is_own.then(|| {
            let changes = self.cells.iter().map(|&cell| match self.roster.counted.contains(&cell) {
                true => change(cell),
                false => self.shown_change(&look, cell),
            });
            Edge { member, from, to, changes: changes.collect() }
        });
        let is_new = !self.known.contains(&view)
            || !broken.is_empty()
            || self.sums.is_empty() && edge.as_ref().is_some_and(|edge| !self.edges.contains(edge));
        match is_new && can_be(&[]) {
            true => Ok(Found::View { view, edge, broken }),
            false => Ok(Found::Nothing),
        }
    }

    /// Who moves, and its class before and after.
    fn classes(&self, look: &Look<'_, 'm>) -> (ClassMember, Vec<CountingItem>, Vec<CountingItem>) {
        match look.me {
            Who::Single(id) => {
                let class = |scene: &Scene| self.roster.single_class(id, &scene.shared);
                (ClassMember::Single(id), class(look.before), class(&look.scene))
            }
            Who::Slot(slot) => {
                let class = |scene: &Scene| Roster::class(&scene.seen[slot as usize].1);
                let family = look.scene.seen[slot as usize].0;
                (ClassMember::Family(family), class(look.before), class(&look.scene))
            }
            Who::Nobody => (ClassMember::Family(self.roster.many[0]), Vec::new(), Vec::new()),
        }
    }

    fn excess(
        &self,
        look: &Look<'_, 'm>,
        (sum, wanted): (&Weighed, i64),
        changes: &BTreeMap<CellId, i64>,
    ) -> Option<Excess> {
        let mut excess = Form::number(wanted.checked_neg()?);
        for &(cell, times) in &sum.cells {
            let change = match (look.stored.get(&cell), changes.get(&cell)) {
                _ if !self.roster.counted.contains(&cell) => Form::number(self.shown_change(look, cell)?),
                (None, _) => Form::default(),
                (_, Some(change)) => Form::number(*change),
                (Some(form), None) => form.as_ref()?.plus(&Form::term(Term::Cell(cell)), -1)?,
            };
            excess = excess.plus(&change, times)?;
        }
        if let Some(known) = excess.known() {
            return Some(Excess::Known(known));
        }
        let one = Form::number(1);
        let less = Form::default().plus(&excess, -1)?.plus(&one, -1)?;
        Some(Excess::Open([excess.plus(&one, -1)?, less].map(|form| Fact { form, is_zero: false })))
    }

    fn shown_change(&self, look: &Look<'_, 'm>, cell: CellId) -> Option<i64> {
        let column = self.roster.shared_column(SharedColumn::Cell(cell))?;
        Some(number_of(look.scene.shared[column])? - number_of(look.before.shared[column])?)
    }

    fn pace(&mut self) -> Result<(), Failure> {
        self.n_ways += 1;
        if self.n_ways > self.roster.config.counted_ways || self.n_systems.get() > self.roster.config.counted_systems {
            return Err(Failure::TooMany);
        }
        if self.n_ways.is_multiple_of(256) {
            self.check_limits()?;
        }
        Ok(())
    }

    /// Whether a limit is reached.
    ///
    /// # Errors
    /// The limit.
    pub fn check_limits(&self) -> Result<(), Failure> {
        self.budget.check((self.views.len() * 512) as u64).map_err(Failure::Stopped)
    }

    /// Whether there may be a state with the processes of a scene, unseen ones with these views, and these facts.
    pub fn may_be(&self, state: (&Scene, &[usize]), known: (&[Fact], &[Vec<i64>])) -> bool {
        self.n_systems.set(self.n_systems.get() + 1);
        System::new(self, state, known.1).may_hold(known.0)
    }
}

enum Found {
    Nothing,
    Fault(Span),
    View { view: CountingView, edge: Option<Edge>, broken: Vec<usize> },
}

/// By how much the cells of a sum change more than they should.
enum Excess {
    Known(i64),
    /// What would be so if it were more, or less, than by nothing.
    Open([Fact; 2]),
}

/// The shared part without the names of processes, and without numbers of which not everybody has to know the same.
fn blind(roster: &Roster<'_>, scene: &Scene) -> Vec<CountingItem> {
    let blind = |(column, item): (&SharedColumn, &CountingItem)| match (column, item) {
        (_, CountingItem::Slot(slot)) => CountingItem::Other(scene.seen[*slot as usize].0),
        (SharedColumn::Cell(cell), _) if roster.may_be_far(roster.model.cells[*cell].var) => CountingItem::Any,
        (_, other) => *other,
    };
    let signs = scene.shared.iter().skip(roster.shared.len()).copied();
    roster.shared.iter().zip(&scene.shared).map(blind).chain(signs).collect()
}

/// What the first process sees after a step.
fn project(scene: &Scene, change: impl Fn(CellId) -> Option<i64> + Copy) -> CountingView {
    let seen = |item: &CountingItem| match item {
        CountingItem::Slot(slot) if *slot > 0 => CountingItem::Other(scene.seen[*slot as usize].0),
        other => shifted(*other, change),
    };
    let (family, local) = &scene.seen[0];
    CountingView {
        family: *family,
        shared: scene.shared.iter().map(seen).collect(),
        local: local.iter().map(seen).collect(),
    }
}

/// An initial view of a process of the family, by one way through what is open.
fn start<'m>(roster: &Roster<'m>, family: FamilyId, choices: &mut Choices) -> Result<CountingView, Halt> {
    let process = roster.member(family).ok_or(Halt::Outside(roster.model.families[family].span))?;
    let nothing = Scene { shared: Vec::new(), seen: Vec::new() };
    let scene = Scene { shared: Vec::new(), seen: vec![(family, vec![CountingItem::Any])] };
    let mut look = Look {
        roster,
        scene,
        me: Who::Nobody,
        bound: Vec::new(),
        choices,
        unseen: &[],
        stored: BTreeMap::new(),
        facts: Vec::new(),
        counts: Vec::new(),
        is_inner: true,
        before: &nothing,
    };
    for &column in &roster.shared {
        let item = match column {
            SharedColumn::Cell(cell) => first(&mut look, cell)?,
            _ => CountingItem::Any,
        };
        look.scene.shared.push(item);
    }
    let mut local = Vec::new();
    for &column in &roster.local[&family] {
        local.push(match (column, roster.local_cell(process, column)) {
            (LocalColumn::Taken(_), _) => NOT_TAKEN,
            (_, Some(cell)) => first(&mut look, cell)?,
            (_, None) => CountingItem::Any,
        });
    }
    look.scene.seen[0].1 = local;
    for &single in &roster.singles {
        look.me = Who::Single(single);
        look.follow(&roster.text.families[roster.model.processes[single].family].entry)?;
    }
    look.me = Who::Slot(0);
    look.follow(&roster.text.families[family].entry)?;
    look.first_signs()?;
    let scene = look.scene;
    Ok(project(&scene, |_| Some(0)))
}

/// What a cell starts with.
fn first(look: &mut Look<'_, '_>, cell: CellId) -> Result<CountingItem, Halt> {
    let roster = look.roster;
    let declared = &roster.model.cells[cell];
    let var = &roster.text.vars[declared.var];
    if roster.counts_walk(cell) {
        return Ok(NOT_TAKEN);
    }
    if let Some(number) = roster.first_number(cell) {
        return Ok(number.known().map_or(CountingItem::Any, |number| CountingItem::Value(Value::Int(number))));
    }
    if roster.bounds(declared.var).is_some() {
        return match (&var.init, roster.is_unbounded(declared.var)) {
            (Init::Any, false) => item(look, declared.ty, var.span),
            _ => Err(Halt::Outside(var.span)),
        };
    }
    let starts = model::eval::initial_states(roster.model).next();
    let value = starts.map(|state| state.cells[cell.index()]);
    match (&var.init, value) {
        (Init::Any, _) | (_, Some(Value::Process(_)) | None) => item(look, declared.ty, var.span),
        (_, Some(value)) => Ok(CountingItem::Value(value)),
    }
}

/// Any value of a type, as a component of a view.
fn item(look: &mut Look<'_, '_>, ty: model::types::ScalarType, span: Span) -> Result<CountingItem, Halt> {
    use super::look::Val;
    Ok(match look.any(ty, span)? {
        Val::Truth(truth) => CountingItem::Value(Value::Bool(truth)),
        Val::Number(form) => form.known().map_or(CountingItem::Any, |number| CountingItem::Value(Value::Int(number))),
        Val::Unknown => CountingItem::Any,
        Val::Name(id, at) => CountingItem::Value(Value::Enum(id, at)),
        Val::Nobody => CountingItem::Value(Value::None),
        Val::Single(id) => CountingItem::Value(Value::Process(id)),
        Val::Slot(slot) => CountingItem::Slot(slot),
        Val::Unseen(family) | Val::Someone(family, _) => CountingItem::Other(family),
    })
}

/// The question how many processes of each view there may be, and by how much counted cells are above their least values.
struct System<'a, 'm> {
    closure: &'a Closure<'a, 'm>,
    scene: &'a Scene,
    unseen: &'a [usize],
    counts: &'a [Vec<i64>],
    counted: Vec<CellId>,
}

impl<'a, 'm> System<'a, 'm> {
    fn new(closure: &'a Closure<'_, 'm>, (scene, unseen): (&'a Scene, &'a [usize]), counts: &'a [Vec<i64>]) -> Self {
        System { closure, scene, unseen, counts, counted: closure.roster.counted.iter().copied().collect() }
    }

    /// The row of a form; `None` where it does not fit into 64 bits.
    fn row(&self, form: &Form, is_zero: bool) -> Option<Row> {
        let mut row = self.empty(is_zero);
        row.constant = form.constant;
        for (term, &times) in &form.terms {
            match term {
                Term::Cell(cell) => self.add_cell(&mut row, *cell, times)?,
                Term::Size(parameter) => {
                    let is_sized = |family: &&FamilyId| matches!(self.closure.roster.text.families[**family].size, Size::Parameter(of) if of == *parameter);
                    let family = *self.closure.roster.many.iter().find(is_sized)?;
                    self.add_size(&mut row, family, times)?;
                }
                Term::Unseen(at) => {
                    for (one, weight) in row.coefficients.iter_mut().zip(&self.counts[*at]) {
                        *one = one.checked_add(weight.checked_mul(times)?)?;
                    }
                }
            }
        }
        Some(row)
    }

    fn empty(&self, is_zero: bool) -> Row {
        Row { coefficients: vec![0; self.unseen.len() + self.counted.len()], constant: 0, is_zero }
    }

    fn add_size(&self, row: &mut Row, family: FamilyId, times: i64) -> Option<()> {
        let n_seen = self.scene.seen.iter().filter(|(of, _)| *of == family).count() as i64;
        let n_seen = n_seen + self.closure.roster.n_named(family);
        row.constant = row.constant.checked_add(n_seen.checked_mul(times)?)?;
        for (one, &at) in row.coefficients.iter_mut().zip(self.unseen) {
            if self.closure.views[at].family == family {
                *one = one.checked_add(times)?;
            }
        }
        Some(())
    }

    fn add_cell(&self, row: &mut Row, cell: CellId, times: i64) -> Option<()> {
        let roster = self.closure.roster;
        let unknown = self.unseen.len() + self.counted.iter().position(|&one| one == cell)?;
        row.coefficients[unknown] = row.coefficients[unknown].checked_add(times)?;
        let (least, _) = roster.bounds(roster.model.cells[cell].var)?;
        let least = self.row(&least, false)?;
        row.constant = row.constant.checked_add(least.constant.checked_mul(times)?)?;
        for (one, more) in row.coefficients.iter_mut().zip(&least.coefficients) {
            *one = one.checked_add(more.checked_mul(times)?)?;
        }
        Some(())
    }

    fn add_sum(&self, row: &mut Row, at: usize, times: i64) -> Option<()> {
        let closure = self.closure;
        let sum = &closure.sums[at];
        let mut constant = sum.constant;
        for &single in &closure.roster.singles {
            let class = closure.roster.single_class(single, &self.scene.shared);
            constant = constant.checked_add(sum.of(ClassMember::Single(single), &class))?;
        }
        for (family, local) in &self.scene.seen {
            constant = constant.checked_add(sum.of(ClassMember::Family(*family), &Roster::class(local)))?;
        }
        row.constant = row.constant.checked_add(constant.checked_mul(times)?)?;
        for (one, &view) in row.coefficients.iter_mut().zip(self.unseen) {
            *one = one.checked_add(closure.weights[view][at].checked_mul(times)?)?;
        }
        Some(())
    }

    /// The rows of all that is always so.
    fn always(&self) -> Option<Vec<Row>> {
        let closure = self.closure;
        let roster = closure.roster;
        let mut rows = Vec::new();
        for &family in &roster.many {
            let mut size = self.empty(true);
            self.add_size(&mut size, family, 1)?;
            match roster.text.families[family].size {
                Size::Fixed(n) => {
                    size.constant -= n as i64;
                    rows.push(size);
                }
                Size::Parameter(parameter) => {
                    let declared = &roster.text.parameters[parameter];
                    rows.push(Row { constant: size.constant - declared.least, is_zero: false, ..size.clone() });
                    if let Some(greatest) = declared.greatest {
                        let coefficients = size.coefficients.iter().map(|one| -one).collect();
                        rows.push(Row { coefficients, constant: greatest - size.constant, is_zero: false });
                    }
                    let same = self.row(&Form::term(Term::Size(parameter)), true)?;
                    let coefficients = size.coefficients.iter().zip(&same.coefficients).map(|(a, b)| a - b).collect();
                    rows.push(Row { coefficients, constant: size.constant - same.constant, is_zero: true });
                }
                _ => {}
            }
        }
        for (at, sum) in closure.sums.iter().enumerate() {
            let mut row = self.empty(true);
            self.add_sum(&mut row, at, -1)?;
            for &(cell, times) in &sum.cells {
                match roster.shared_column(SharedColumn::Cell(cell)) {
                    None => self.add_cell(&mut row, cell, times)?,
                    Some(column) => {
                        let number = number_of(self.scene.shared[column])?;
                        row.constant = row.constant.checked_add(number.checked_mul(times)?)?;
                    }
                }
            }
            rows.push(row);
        }
        for (form, sign) in roster.signs.iter().zip(self.scene.shared.iter().skip(roster.shared.len())) {
            let fact = sign_fact(form, *sign)?;
            rows.push(self.row(&fact.form, fact.is_zero)?);
        }
        for &cell in &roster.counted {
            let (_, greatest) = roster.bounds(roster.model.cells[cell].var)?;
            rows.push(self.row(&greatest.plus(&Form::term(Term::Cell(cell)), -1)?, false)?);
        }
        Some(rows)
    }

    fn may_hold(&self, facts: &[Fact]) -> bool {
        let rows = || {
            let mut rows = self.always()?;
            for fact in facts {
                rows.push(self.row(&fact.form, fact.is_zero)?);
            }
            Some(rows)
        };
        rows().is_none_or(|rows| may_hold(&merged(&rows)))
    }
}

/// The rows with one unknown for all that have the same coefficients.
fn merged(rows: &[Row]) -> Vec<Row> {
    let n_unknowns = rows.first().map_or(0, |row| row.coefficients.len());
    let column = |at: usize| rows.iter().map(|row| row.coefficients[at]).collect::<Vec<i64>>();
    let columns: BTreeSet<Vec<i64>> = (0..n_unknowns).map(column).collect();
    let row = |(at, row): (usize, &Row)| Row {
        coefficients: columns.iter().map(|column| column[at]).collect(),
        ..row.clone()
    };
    rows.iter().enumerate().map(row).collect()
}
