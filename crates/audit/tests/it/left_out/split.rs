//! Split invariants of programs of which steps or starts are left out: one member for each set of processes, or one for all its images; beside sums, or alone.

use std::collections::{BTreeMap, BTreeSet};

use audit::certificate;
use base::{Budget, SourceFile};
use evidence::Scope;
use evidence::certificate::{
    Additive, Certificate, Claim, ClaimedSymmetry, Column, ControlPoint, Exposed, Fact, Member, ProcessDimension,
    Sights, SplitInvariant, StateSet,
};
use evidence::implied::{Cut, Implied};
use evidence::propagation::{CellWeights, LocalWeight, ProcessSight, ProcessWeights};
use model::Model;
use model::control::PlaceId;
use model::eval::State;
use model::expr::ExprKind;
use model::process::{FamilyId, ProcessId};
use model::property::{Property, PropertyKind};
use model::value::Value;
use model::variable::{CellId, Role, Storage, VarId};
use testkit::Product;
use testkit::choices::Choices;
use testkit::local::subsets;

use super::runs::Omission;
use super::sums::{Counted, sums};
use super::writer::{Words, Writer};
use super::{Batch, Tally, is_violated};

/// Larger products are passed over.
const MOST_STATES: usize = 400;

/// A permutation of processes: where each goes.
type Exchange = Vec<ProcessId>;

/// A program, and what a split invariant says of it.
struct Frame<'m> {
    model: &'m Model,
    k: usize,
    /// The array whose elements go where processes go, if the invariant speaks of images.
    row: Option<VarId>,
}

impl Frame<'_> {
    fn all(&self) -> Vec<ProcessId> {
        self.model.processes.ids().collect()
    }

    fn counters(&self, process: ProcessId) -> Vec<CellId> {
        self.own(process).filter(|&cell| self.is_counter(cell)).collect()
    }

    fn own(&self, process: ProcessId) -> impl Iterator<Item = CellId> + use<> {
        let first = self.model.processes[process].first_cell;
        let n_cells = self.model.families[self.model.processes[process].family].n_cells;
        (first..first + n_cells).map(CellId::new)
    }

    fn is_counter(&self, cell: CellId) -> bool {
        matches!(self.model.vars[self.model.cells[cell].var].role, Role::Counter(_))
    }

    /// Cells that everybody sees, what belongs to some processes, and their control.
    fn columns(&self, member: &[ProcessId]) -> Vec<Column> {
        let is_seen = |cell: &CellId| {
            let declared = &self.model.cells[*cell];
            let is_open = matches!(self.model.vars[declared.var].storage, Storage::Shared | Storage::Public(_));
            !self.is_counter(*cell) && (is_open || declared.owner.is_some_and(|owner| member.contains(&owner)))
        };
        let cells = self.model.cells.ids().filter(is_seen).map(Column::Cell);
        cells.chain(member.iter().map(|&process| Column::Control(process))).collect()
    }

    fn point(&self, state: &State, process: ProcessId) -> ControlPoint {
        let counters = self.counters(process).into_iter().map(|cell| (cell, state.cells[cell.index()])).collect();
        ControlPoint { place: state.place(process), counters }
    }

    /// What a permutation makes of a state.
    fn moved(&self, state: &State, exchange: &Exchange) -> State {
        let value = |value: Value| match value {
            Value::Process(id) => Value::Process(exchange[id.index()]),
            other => other,
        };
        let mut moved = state.clone();
        moved.cells.iter_mut().for_each(|cell| *cell = value(*cell));
        for process in self.model.processes.ids() {
            let to = exchange[process.index()];
            for (from, to) in self.own(process).zip(self.own(to)) {
                moved.cells[to.index()] = value(state.cells[from.index()]);
            }
            moved.stacks[to.index()] = state.stacks[process.index()].clone();
        }
        if let Some(row) = self.row {
            let cells: Vec<CellId> = self.model.cells_of(row, None).collect();
            for (at, from) in cells.iter().enumerate() {
                moved.cells[cells[exchange[at].index()].index()] = value(state.cells[from.index()]);
            }
        }
        moved
    }

    /// All permutations of the first family's processes.
    fn exchanges(&self) -> Vec<Exchange> {
        let members: Vec<ProcessId> = self.model.families[FamilyId::new(0)].processes().collect();
        let mut found: Vec<Vec<ProcessId>> = vec![Vec::new()];
        for _ in &members {
            let longer = |one: &Vec<ProcessId>| -> Vec<Vec<ProcessId>> {
                { members.iter().filter(|member| !one.contains(member)) }
                    .map(|&member| [&one[..], &[member]].concat())
                    .collect()
            };
            found = found.iter().flat_map(longer).collect();
        }
        let others = self.all().into_iter().skip(members.len()).collect::<Vec<_>>();
        found.into_iter().map(|one| [one, others.clone()].concat()).collect()
    }
}

/// The members that are given, each with the states that it is made of.
struct Given {
    members: Vec<(Vec<ProcessId>, Vec<State>)>,
}

/// A row before points have numbers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Value(u64),
    Point(PlaceId, Vec<Value>),
}

fn parts(frame: &Frame<'_>, state: &State, columns: &[Column]) -> Vec<Part> {
    let part = |column: &Column| match column {
        Column::Cell(cell) => {
            let ty = frame.model.cells[*cell].ty;
            Part::Value(ty.position(state.cells[cell.index()], frame.model.type_context()).expect("it is of the type"))
        }
        Column::Control(process) | Column::Exposed(process) => {
            let point = frame.point(state, *process);
            Part::Point(point.place, point.counters.into_iter().map(|(_, value)| value).collect())
        }
    };
    columns.iter().map(part).collect()
}

impl Given {
    /// The invariant; with images, every process has the points of the first of its family.
    fn invariant(&self, frame: &Frame<'_>, has_images: bool) -> SplitInvariant {
        let mut points: Vec<BTreeSet<PointKey>> = vec![BTreeSet::new(); frame.model.processes.len()];
        for (_, states) in &self.members {
            for state in states {
                for process in frame.all() {
                    let point = frame.point(state, process);
                    let of = if has_images {
                        frame.model.families[frame.model.processes[process].family].first
                    } else {
                        process
                    };
                    let back = swapped(of, process);
                    let values = point.counters.iter().map(|&(_, value)| back(value)).collect();
                    points[of.index()].insert((point.place, values));
                }
            }
        }
        let of = |process: ProcessId| match has_images {
            true => frame.model.families[frame.model.processes[process].family].first,
            false => process,
        };
        let points: Vec<Vec<ControlPoint>> = { frame.all().into_iter() }
            .map(|process| {
                let forth = swapped(of(process), process);
                let point = |(place, values): &PointKey| ControlPoint {
                    place: *place,
                    counters: frame
                        .counters(process)
                        .into_iter()
                        .zip(values.iter().map(|&value| forth(value)))
                        .collect(),
                };
                points[of(process).index()].iter().map(point).collect()
            })
            .collect();
        let member = |(processes, states): &(Vec<ProcessId>, Vec<State>)| {
            let columns = frame.columns(processes);
            let number = |(column, part): (&Column, Part)| match (column, part) {
                (Column::Control(process), Part::Point(place, values)) => {
                    let is_it = |point: &ControlPoint| {
                        point.place == place && point.counters.iter().map(|(_, value)| value).eq(values.iter())
                    };
                    points[process.index()].iter().position(is_it).expect("it was collected") as u32
                }
                (_, Part::Value(number)) => number as u32,
                _ => unreachable!("control has points"),
            };
            let row =
                |state: &State| columns.iter().zip(parts(frame, state, &columns)).map(number).collect::<Vec<u32>>();
            let rows: BTreeSet<Vec<u32>> = states.iter().map(row).collect();
            Member {
                processes: processes.clone(),
                columns: columns.clone(),
                states: StateSet::Rows(rows.into_iter().collect()),
            }
        };
        let dimensions = frame.row.map(|var| ProcessDimension { var, dimension: 0, family: FamilyId::new(0) });
        SplitInvariant {
            k: frame.k,
            exposed: vec![Exposed::default(); frame.model.processes.len()],
            members: self.members.iter().map(member).collect(),
            symmetry: has_images.then(|| ClaimedSymmetry { dimensions: dimensions.into_iter().collect() }),
            points,
        }
    }

    /// Whether every choice of processes of a state is in its member, or in one of which that one is an image.
    fn has(&self, frame: &Frame<'_>, known: &[BTreeSet<Vec<Part>>], state: &State, exchanges: &[Exchange]) -> bool {
        subsets(&frame.all(), frame.k).into_iter().all(|set| {
            exchanges.iter().any(|exchange| {
                let mut image: Vec<ProcessId> = set.iter().map(|one| exchange[one.index()]).collect();
                image.sort_unstable();
                let at = self.members.iter().position(|(member, _)| *member == image);
                at.is_some_and(|at| {
                    let parts = parts(frame, &frame.moved(state, exchange), &frame.columns(&image));
                    known[at].contains(&parts)
                })
            })
        })
    }

    fn known(&self, frame: &Frame<'_>) -> Vec<BTreeSet<Vec<Part>>> {
        let of = |(member, states): &(Vec<ProcessId>, Vec<State>)| {
            let columns = frame.columns(member);
            states.iter().map(|state| parts(frame, state, &columns)).collect()
        };
        self.members.iter().map(of).collect()
    }
}

/// A control point, whosever it is: a place with the values of counters.
type PointKey = (PlaceId, Vec<Value>);

/// What the exchange of two processes makes of a value.
fn swapped(one: ProcessId, other: ProcessId) -> impl Fn(Value) -> Value {
    move |value| match value {
        Value::Process(id) if id == one => Value::Process(other),
        Value::Process(id) if id == other => Value::Process(one),
        value => value,
    }
}

/// What some process weighs by its place, or a cell by its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Thing {
    Cell(CellId, Value),
    Process(ProcessId, PlaceId),
}

fn things(frame: &Frame<'_>, state: &State) -> Counted<Thing> {
    let cells = (0..frame.model.n_shared_cells).map(|cell| Thing::Cell(CellId::new(cell), state.cells[cell]));
    let places = frame.all().into_iter().map(|process| Thing::Process(process, state.place(process)));
    cells.chain(places).map(|thing| (thing, 1)).collect()
}

/// What processes see, with sums that are the same in these states.
fn sights(frame: &Frame<'_>, states: &[&State], n_sums: usize) -> Sights {
    let counted: Vec<Counted<Thing>> = states.iter().map(|state| things(frame, state)).collect();
    let of = |process: ProcessId| {
        let is_seen = |cell: &CellId| {
            let declared = &frame.model.cells[*cell];
            let is_open = matches!(frame.model.vars[declared.var].storage, Storage::Shared | Storage::Public(_));
            is_open && declared.owner != Some(process)
        };
        ProcessSight { cells: frame.model.cells.ids().filter(is_seen).collect(), controls: Vec::new() }
    };
    let additive = sums(&counted, 0, n_sums).into_iter().map(|sum| {
        let mut cells: BTreeMap<CellId, Vec<(Value, i64)>> = BTreeMap::new();
        let mut processes: BTreeMap<ProcessId, Vec<LocalWeight>> = BTreeMap::new();
        for (&thing, &weight) in &sum.weights {
            match thing {
                Thing::Cell(cell, value) => cells.entry(cell).or_default().push((value, weight)),
                Thing::Process(process, place) => {
                    let local = LocalWeight { place, values: Vec::new(), weight: -weight };
                    processes.entry(process).or_default().push(local);
                }
            }
        }
        cells.retain(|_, weights| weights.iter().any(|(_, weight)| *weight != 0));
        processes.retain(|_, weights| weights.iter().any(|local| local.weight != 0));
        Additive {
            constant: -sum.constant,
            cells: cells.into_iter().map(|(cell, weights)| CellWeights { cell, weights }).collect(),
            groups: Vec::new(),
            processes: { processes.into_iter() }
                .map(|(process, weights)| ProcessWeights { process, cells: Vec::new(), weights })
                .collect(),
        }
    });
    Sights { seen: frame.all().into_iter().map(of).collect(), additive: additive.collect(), crowds: Vec::new() }
}

/// Whether a sum is right in a state.
fn is_right(sum: &Additive, state: &State) -> bool {
    let cell = |one: &CellWeights| {
        one.weights.iter().find(|(value, _)| *value == state.cells[one.cell.index()]).map(|found| found.1)
    };
    let local = |one: &ProcessWeights| {
        one.weights.iter().find(|local| local.place == state.place(one.process)).map(|found| found.weight)
    };
    let left: Option<Vec<i64>> = sum.cells.iter().map(cell).collect();
    let right: Option<Vec<i64>> = sum.processes.iter().map(local).collect();
    matches!((left, right), (Some(left), Some(right)) if sum.constant + left.iter().sum::<i64>() == right.iter().sum::<i64>())
}

/// The ways in which a property is said to follow: whole, or by some instances of its quantifier, each from the processes that it binds.
fn implied(frame: &Frame<'_>, property: &Property, choices: &mut Choices) -> Vec<Implied> {
    let all = frame.all();
    let whole = vec![Implied::Clause { cuts: Vec::new(), from: all.clone() }];
    let PropertyKind::Invariant(expr) = &property.kind else { return whole };
    let ExprKind::Quantified(quantified) = &expr.kind else { return whole };
    if choices.chance(40) {
        return whole;
    }
    let members: Vec<ProcessId> = frame.model.families[FamilyId::new(0)].processes().collect();
    let n = quantified.bindings.len();
    let mut found = Vec::new();
    let chosen = (0..1 + choices.below(3)).map(|_| (0..n).map(|_| *choices.pick(&members)).collect::<Vec<_>>());
    for bound in chosen.collect::<BTreeSet<_>>() {
        let name = |process: &ProcessId| frame.model.processes[*process].name.clone();
        let choice =
            quantified.bindings.iter().map(|binding| binding.name.clone()).zip(bound.iter().map(name)).collect();
        found.push(Implied::Clause { cuts: vec![Cut::Instance(choice)], from: all.clone() });
    }
    found
}

fn compare(text: &str, n: i64, tally: &mut Tally, choices: &mut Choices) {
    let Ok(loaded) = lang::load(&SourceFile::new("r.pw", text), &[("N".to_owned(), n)]) else { return };
    let model = &loaded.model;
    let Some(product) = Product::explore(model, MOST_STATES) else { return };
    tally.programs += 1;
    let row = model.vars.entries().find(|(_, var)| var.name == "row").map(|(id, _)| id);
    for round in 0..12 {
        let omission = if round < 3 { Omission::Nothing } else { Omission::random(model, &product, choices) };
        let kept = omission.kept(model, &product);
        let states: Vec<&State> =
            product.states.iter().zip(&kept).filter_map(|(state, kept)| kept.then_some(state)).collect();
        if states.is_empty() {
            continue;
        }
        let kind = choices.below(3);
        let frame = Frame { model, k: 1 + choices.below(2), row: row.filter(|_| choices.chance(85)) };
        let (has_images, has_sums) = (kind == 0, kind == 1);
        let frame = if has_images { frame } else { Frame { row: None, ..frame } };
        let exchanges = if has_images { frame.exchanges() } else { vec![frame.all()] };
        let given = match has_images {
            false => {
                let all = || states.iter().map(|&state| state.clone()).collect::<Vec<_>>();
                Given { members: subsets(&frame.all(), frame.k).into_iter().map(|set| (set, all())).collect() }
            }
            true => images(&frame, &states, &exchanges, choices),
        };
        let known = given.known(&frame);
        let sights = has_sums.then(|| {
            let all: Vec<&State> = product.states.iter().collect();
            sights(&frame, if choices.chance(60) { &all } else { &states }, 1 + choices.below(4))
        });
        let sums_hold = sights
            .iter()
            .all(|sights| sights.additive.iter().all(|sum| product.states.iter().all(|state| is_right(sum, state))));
        let is_whole = sums_hold && product.states.iter().all(|state| given.has(&frame, &known, state, &exchanges));
        let invariant = given.invariant(&frame, has_images);
        let mut facts: Vec<Fact> =
            sights.map(|sights| Fact { claim: Claim::Sights(sights), uses: Vec::new() }).into_iter().collect();
        facts.push(Fact { claim: Claim::SplitInvariant(invariant), uses: (0..facts.len()).collect() });
        let check = |property: &Property, implies: Vec<Implied>| {
            let proof =
                Certificate { property: property.name.clone(), scope: Scope::Instance, facts: facts.clone(), implies };
            certificate::check(model, property, &proof, &Budget::unlimited().with_looks(20_000))
        };
        let whole = vec![Implied::Clause { cuts: Vec::new(), from: frame.all() }];
        let sure = model.properties.iter().find(|one| one.name == "sure").expect("it is asked");
        let accepted = check(sure, whole);
        tally.note(accepted.is_ok(), is_whole);
        assert!(accepted.is_err() || is_whole, "N = {n}: what {omission:?} leaves out is not seen: {facts:?}\n{text}");
        if accepted.is_ok() {
            for property in model.properties.iter() {
                let is_of_states = matches!(property.kind, PropertyKind::Invariant(_) | PropertyKind::Reachable(_));
                if is_of_states && is_violated(model, &product, &property.kind) {
                    let implies = implied(&frame, property, choices);
                    tally.false_refused += 1;
                    let found = check(property, implies.clone());
                    assert!(found.is_err(), "N = {n}: {} is violated: {implies:?} {facts:?}\n{text}", property.name);
                }
            }
        }
    }
}

/// One member for each choice of families, of any processes, with all images of its states under permutations that keep its processes together.
fn images(frame: &Frame<'_>, states: &[&State], exchanges: &[Exchange], choices: &mut Choices) -> Given {
    let sets = subsets(&frame.all(), frame.k);
    let choice =
        |set: &Vec<ProcessId>| -> Vec<FamilyId> { set.iter().map(|one| frame.model.processes[*one].family).collect() };
    let all: BTreeSet<Vec<FamilyId>> = sets.iter().map(choice).collect();
    let mut members = Vec::new();
    for families in all {
        let fitting: Vec<&Vec<ProcessId>> = sets.iter().filter(|set| choice(set) == families).collect();
        let set = (*choices.pick(&fitting)).clone();
        let keeps = |exchange: &&Exchange| set.iter().all(|one| set.contains(&exchange[one.index()]));
        let keeping: Vec<&Exchange> = exchanges.iter().filter(keeps).collect();
        let of = |state: &&State| keeping.iter().map(|exchange| frame.moved(state, exchange)).collect::<Vec<_>>();
        let mut all: Vec<State> = states.iter().flat_map(of).collect();
        all.sort_unstable();
        all.dedup();
        members.push((set, all));
    }
    Given { members }
}

#[test]
fn what_split_invariants_leave_out_is_seen() {
    let mut tally = Tally::default();
    for seed in Batch::of(60).seeds() {
        let mut choices = Choices::from_seed(seed);
        let words = Words { names: choices.chance(50), loops: choices.chance(30), numbered: choices.chance(30) };
        let text = Writer { choices: &mut choices, words, n_labels: 0 }.program();
        for n in 2..=3 {
            compare(&text, n, &mut tally, &mut choices);
        }
    }
    println!("{tally:?}");
    assert!(
        tally.programs > 20 && tally.whole_accepted > 20 && tally.partial_refused > 100 && tally.false_refused > 20,
        "{tally:?}"
    );
}

/// Who receives is said never to get on: the sum says so, if nobody counts what the receiver weighs after a turn of the sender.
#[test]
fn what_the_partner_of_a_joint_turn_weighs_is_counted() {
    let text = "program meet { chan h: [0] of (bool); process P { loop { s: send h(true); t: skip; } }
        process Q { loop { r: receive h(_); q: skip; } } invariant never: !Q@q; allow deadlock; }";
    let model = lang::load(&SourceFile::new("meet.pw", text), &[]).unwrap_or_else(|wrong| panic!("{wrong:?}")).model;
    let product = Product::explore(&model, MOST_STATES).unwrap();
    let [p, q] = [0, 1].map(ProcessId::new);
    let frame = Frame { model: &model, k: 1, row: None };
    let (start, met) = (product.states[0].clone(), product.states[1].clone());
    assert!(product.edges[0].iter().any(|(by, to)| by.partner.is_some() && *to == 1));
    let weight = |state: &State, weight| LocalWeight { place: state.place(q), values: Vec::new(), weight };
    let weights = |of_met: i64| vec![weight(&start, 0), weight(&met, of_met)];
    let check = |of_met: i64, rows_of_q: Vec<State>| {
        let given = Given { members: vec![(vec![p], vec![start.clone(), met.clone()]), (vec![q], rows_of_q)] };
        let processes = vec![ProcessWeights { process: q, cells: Vec::new(), weights: weights(of_met) }];
        let sum = Additive { constant: 0, cells: Vec::new(), groups: Vec::new(), processes };
        let seen = [q, p].map(|other| ProcessSight { cells: Vec::new(), controls: vec![other] });
        let sights = Sights { seen: seen.into(), additive: vec![sum], crowds: Vec::new() };
        let facts = vec![
            Fact { claim: Claim::Sights(sights), uses: Vec::new() },
            Fact { claim: Claim::SplitInvariant(given.invariant(&frame, false)), uses: vec![0] },
        ];
        let property = model.properties.iter().find(|one| one.name == "never").unwrap();
        let implies = vec![Implied::Clause { cuts: Vec::new(), from: vec![p, q] }];
        let proof = Certificate { property: property.name.clone(), scope: Scope::Instance, facts, implies };
        certificate::check(&model, property, &proof, &Budget::unlimited())
    };
    assert!(check(1, vec![start.clone()]).is_err(), "the receiver's weight is not counted");
    // A sum that weighs nothing is true, and excludes nothing: then what follows is refused.
    let refused = check(0, vec![start.clone()]).unwrap_err().to_string();
    assert!(refused.contains("every step has to keep the invariant of Q"), "{refused}");
}
