//! Flows: sums over processes, elements and shared cells that no step changes.
//!
//! In: windows, and the runs of a small size. Out: weights that are not negative, whose sum these runs keep and which is the same in every initial
//! state of every size, or at least something. The method is Farkas' elimination on one equation for each kind of step. The initial states of all sizes that
//! show words are examined: from there on each further process of the middle adds what one before added, which is nothing, or makes the sum more. That windows
//! keep a sum is checked on their states ([`is_kept`]), without those that alone weigh more than all may.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use evidence::rings::{ConservedSum, RingItem, RingValue, RingWeight};
use model::eval::{State, free_cells, n_initial_states, steps_of};
use model::process::ProcessId;
use model::variable::VarId;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::instance::{Part, WindowPosition};
use crate::walk::Weights;
use crate::windows::{Shape, WindowState, Windows};

/// Sums beyond this are not counted.
const GREATEST_TOTAL: u64 = 8;

/// Of sums that grow with the size it is known that they are not below this: that there is something, and something else.
const LEAST_COUNTED: u64 = 2;

/// At which distance from a process the elements of each array are that are counted with it: one at which every window sees them. Elements
/// of one process in several rows may be seen at different distances.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    at: BTreeMap<(VarId, usize), i64>,
}

impl Counted {
    /// The elements that are counted with each process.
    pub fn new(windows: &Windows<'_>) -> Counted {
        let elements = |shape: &Shape| {
            let found = shape.items.iter().filter_map(|item| match item {
                RingItem::Element(var, at, element) => Some((*var, *element, *at)),
                _ => None,
            });
            found.collect::<BTreeSet<(VarId, usize, i64)>>()
        };
        let mut all: Option<BTreeSet<(VarId, usize, i64)>> = None;
        for shape in &windows.shapes {
            let here = elements(shape);
            all = Some(all.map_or(here.clone(), |all| all.intersection(&here).copied().collect()));
        }
        // The nearest one.
        let mut at: BTreeMap<(VarId, usize), i64> = BTreeMap::new();
        for (var, element, distance) in all.unwrap_or_default() {
            let best = at.entry((var, element)).or_insert(distance);
            if distance.abs() < best.abs() {
                *best = distance;
            }
        }
        Counted { at }
    }
}

/// The weights that are counted with the first process of a window, and those of shared cells.
fn terms(counted: &Counted, shape: &Shape, state: &WindowState) -> (Vec<RingWeight>, Vec<RingWeight>) {
    let (mut here, mut shared, mut local) = (Vec::new(), Vec::new(), Vec::new());
    for (item, value) in shape.items.iter().zip(state) {
        match (*item, *value) {
            (RingItem::Control(0) | RingItem::Own(0, _), value) => local.push(value),
            (RingItem::Element(var, at, element), value) if counted.at.get(&(var, element)) == Some(&at) => {
                here.push(RingWeight::Element(var, element, value.shifted(-at)));
            }
            (RingItem::Shared(var, at), RingValue::Value(value)) => shared.push(RingWeight::Shared(var, at, value)),
            _ => {}
        }
    }
    here.push(RingWeight::Local(shape.word[0], local));
    (here, shared)
}

/// What a step changes, as terms.
fn changed(
    counted: &Counted,
    shape: &Shape,
    (before, after): (&WindowState, &WindowState),
) -> BTreeMap<RingWeight, i64> {
    let mut delta: BTreeMap<RingWeight, i64> = BTreeMap::new();
    let mut local = (Vec::new(), Vec::new());
    for ((item, &old), &new) in shape.items.iter().zip(before).zip(after) {
        let weight = |value: RingValue| match (*item, value) {
            (RingItem::Element(var, at, element), value) if counted.at.contains_key(&(var, element)) => {
                Some(RingWeight::Element(var, element, value.shifted(-at)))
            }
            (RingItem::Shared(var, at), RingValue::Value(value)) => Some(RingWeight::Shared(var, at, value)),
            _ => None,
        };
        if matches!(item, RingItem::Control(0) | RingItem::Own(0, _)) {
            local.0.push(old);
            local.1.push(new);
        } else if old != new {
            weight(old).into_iter().for_each(|term| *delta.entry(term).or_default() -= 1);
            weight(new).into_iter().for_each(|term| *delta.entry(term).or_default() += 1);
        }
    }
    if local.0 != local.1 {
        *delta.entry(RingWeight::Local(shape.word[0], local.0)).or_default() -= 1;
        *delta.entry(RingWeight::Local(shape.word[0], local.1)).or_default() += 1;
    }
    delta.retain(|_, times| *times != 0);
    delta
}

/// A candidate: weights, and what each step makes of their sum.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    weights: Vec<i64>,
    rest: Vec<i64>,
}

/// The kinds of steps, as changes of terms, and all terms.
#[derive(Debug, Default)]
struct Steps {
    kinds: BTreeSet<Vec<(RingWeight, i64)>>,
    terms: BTreeSet<RingWeight>,
}

/// The steps that runs of a small size take: the first size that has all types.
fn steps_taken(windows: &Windows<'_>, counted: &Counted) -> Steps {
    let types = |word: &[evidence::rings::ProcessType]| word.iter().copied().collect::<BTreeSet<_>>();
    let all: BTreeSet<_> = windows.shapes.iter().flat_map(|shape| types(&shape.word)).collect();
    let has_all = |size: usize| types(&windows.ring.word(size, 0, size)).is_superset(&all);
    let mut steps = Steps::default();
    let sizes = &windows.sizes.instances;
    let Some(instance) = sizes.iter().find(|instance| has_all(instance.size)).or(sizes.first()) else { return steps };
    let number: FxHashMap<_, usize> = windows.shapes.iter().enumerate().map(|(at, one)| (&one.word, at)).collect();
    let mut known: FxHashSet<State> = FxHashSet::from_iter([instance.first().clone()]);
    let mut open = VecDeque::from([instance.first().clone()]);
    while let Some(state) = open.pop_front() {
        for at in 0..instance.size {
            let stand = WindowPosition { at, span: windows.sizes.span };
            let parts = instance.window(windows.sizes.width, stand).parts;
            let shape = &windows.shapes[number[&windows.ring.word(instance.size, at, windows.sizes.width)]];
            let before = instance.read(&state, &parts, stand);
            let (here, shared) = terms(counted, shape, &before);
            steps.terms.extend(here.into_iter().chain(shared));
            for step in steps_of(&instance.model, &state, ProcessId::new(at)) {
                let Ok(after) = step.result else { continue };
                let delta = changed(counted, shape, (&before, &instance.read(&after, &parts, stand)));
                steps.terms.extend(delta.keys().cloned());
                steps.kinds.insert(delta.into_iter().collect());
                if known.len() < windows.ring.config.window_samples && known.insert(after.clone()) {
                    open.push_back(after);
                }
            }
        }
    }
    steps
}

/// Whether no step from a window that begins with its process changes the sum.
pub fn is_kept(windows: &Windows<'_>, flow: &ConservedSum) -> bool {
    let counted = Counted::new(windows);
    let weigh: BTreeMap<&RingWeight, i64> = flow.weights.iter().map(|(term, times)| (term, *times as i64)).collect();
    windows.shapes.iter().zip(&windows.theta).all(|(shape, set)| {
        set.states.iter().zip(&set.doings).all(|(state, doings)| {
            doings[0].after.iter().all(|after| {
                let delta = changed(&counted, shape, (state, after));
                delta.iter().map(|(term, times)| weigh.get(term).unwrap_or(&0) * times).sum::<i64>() == 0
            })
        })
    })
}

/// All that a window sees of a flow: its processes, and the elements and shared cells that are counted.
pub fn seen_weight(flow: &BTreeMap<RingWeight, u64>, shape: &Shape, state: &WindowState) -> u64 {
    let of = |term: &RingWeight| flow.get(term).copied().unwrap_or(0);
    let mut sum = 0;
    let mut locals: BTreeMap<i64, Vec<RingValue>> = BTreeMap::new();
    for (item, &value) in shape.items.iter().zip(state) {
        match (*item, value) {
            (RingItem::Control(at) | RingItem::Own(at, _), value) => locals.entry(at).or_default().push(value),
            (RingItem::Element(var, at, element), value) => {
                sum += of(&RingWeight::Element(var, element, value.shifted(-at)))
            }
            (RingItem::Shared(var, at), RingValue::Value(value)) => sum += of(&RingWeight::Shared(var, at, value)),
            (RingItem::Shared(..), _) => {}
        }
    }
    let of_type = |(at, local): (i64, Vec<RingValue>)| {
        let place = usize::try_from(at).ok()?;
        // A local state names processes, if it does, by their distance from the process.
        let local = local.into_iter().map(|value| value.shifted(-at)).collect();
        Some(of(&RingWeight::Local(*shape.word.get(place)?, local)))
    };
    sum + locals.into_iter().filter_map(of_type).sum::<u64>()
}

/// Flows that the runs of a small size obey.
pub fn flows(windows: &Windows<'_>) -> Vec<ConservedSum> {
    let counted = Counted::new(windows);
    let Steps { kinds: steps, terms: unknown } = steps_taken(windows, &counted);
    if unknown.len() > windows.ring.config.window_weights {
        return Vec::new();
    }
    let unknown: Vec<RingWeight> = unknown.into_iter().collect();
    let number: BTreeMap<&RingWeight, usize> = unknown.iter().enumerate().map(|(at, one)| (one, at)).collect();
    let steps: Vec<Vec<(RingWeight, i64)>> = steps.into_iter().filter(|step| !step.is_empty()).collect();
    let mut rows: Vec<Row> = (0..unknown.len())
        .map(|at| {
            let mut weights = vec![0; unknown.len()];
            weights[at] = 1;
            Row { weights, rest: vec![0; steps.len()] }
        })
        .collect();
    for (column, step) in steps.iter().enumerate() {
        for (term, times) in step {
            rows[number[term]].rest[column] += times;
        }
    }
    let found = eliminated(rows, steps.len(), windows.ring.config.window_candidates);
    let mut flows: Vec<ConservedSum> = found
        .into_iter()
        .filter_map(|row| {
            let weights = unknown.iter().zip(&row.weights).filter(|(_, times)| **times > 0);
            let weights: Vec<(RingWeight, u64)> = weights.map(|(term, &times)| (term.clone(), times as u64)).collect();
            let Sums { least, greatest } = sums(windows, &counted, &weights)?;
            let at_least = least != greatest || greatest > GREATEST_TOTAL;
            let total = if at_least { least.min(LEAST_COUNTED) } else { least };
            (total > 0 || !at_least).then_some(ConservedSum { weights, total, at_least })
        })
        .collect();
    flows.sort_by_key(|flow| (flow.at_least, flow.total, flow.weights.len()));
    flows
}

/// Farkas' elimination: the rows whose rest is nothing; none where there are too many candidates on the way.
fn eliminated(mut rows: Vec<Row>, n_columns: usize, most: usize) -> Vec<Row> {
    let mut left: BTreeSet<usize> = (0..n_columns).collect();
    loop {
        let cost = |&column: &usize| {
            let plus = rows.iter().filter(|row| row.rest[column] > 0).count();
            let minus = rows.iter().filter(|row| row.rest[column] < 0).count();
            plus * minus
        };
        let Some(column) = left.iter().copied().min_by_key(cost) else { return rows };
        left.remove(&column);
        let (zero, other): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(|row| row.rest[column] == 0);
        let (plus, minus): (Vec<Row>, Vec<Row>) = other.into_iter().partition(|row| row.rest[column] > 0);
        let mut next: BTreeSet<Row> = zero.into_iter().collect();
        for one in &plus {
            for other in &minus {
                next.extend(combined(one, other, column));
                if next.len() > 4 * most {
                    return Vec::new();
                }
            }
        }
        rows = least(next.into_iter().collect());
        if rows.len() > most {
            return Vec::new();
        }
    }
}

/// The sum of multiples of two rows of which a column is nothing; `None` beyond 64 bits.
fn combined(one: &Row, other: &Row, column: usize) -> Option<Row> {
    let (a, b) = (other.rest[column].checked_neg()?, one.rest[column]);
    let mix = |left: &[i64], right: &[i64]| {
        let sums = left.iter().zip(right).map(|(x, y)| x.checked_mul(a)?.checked_add(y.checked_mul(b)?));
        sums.collect::<Option<Vec<i64>>>()
    };
    let mut row = Row { weights: mix(&one.weights, &other.weights)?, rest: mix(&one.rest, &other.rest)? };
    let divisor = row.weights.iter().chain(&row.rest).fold(0, |divisor, &number| common(divisor, number));
    if divisor > 1 {
        row.weights.iter_mut().chain(&mut row.rest).for_each(|number| *number /= divisor);
    }
    Some(row)
}

fn common(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a as i64
}

/// Rows that have no weight beside those of another row are enough.
fn least(rows: Vec<Row>) -> Vec<Row> {
    let support = |row: &Row| row.weights.iter().map(|&weight| weight > 0).collect::<Vec<bool>>();
    let supports: Vec<Vec<bool>> = rows.iter().map(support).collect();
    let is_within = |one: &[bool], other: &[bool]| one.iter().zip(other).all(|(one, other)| !one || *other);
    let mut kept = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let more = (0..rows.len()).any(|other| {
            other != at
                && is_within(&supports[other], &supports[at])
                && (supports[other] != supports[at] || other < at && rows[other].rest == row.rest)
        });
        if !more {
            kept.push(row.clone());
        }
    }
    kept
}

/// The least and the greatest sum in initial states of all sizes that are examined.
struct Sums {
    least: u64,
    greatest: u64,
}

/// The sums in initial states; `None` where there are several for one size.
fn sums(windows: &Windows<'_>, counted: &Counted, weights: &[(RingWeight, u64)]) -> Option<Sums> {
    let weigh: BTreeMap<&RingWeight, u64> = weights.iter().map(|(term, times)| (term, *times)).collect();
    let number: FxHashMap<_, usize> = windows.shapes.iter().enumerate().map(|(at, one)| (&one.word, at)).collect();
    let mut found: Vec<u64> = Vec::new();
    for instance in &windows.sizes.instances {
        // One start: what starts anywhere is for no flow.
        if n_initial_states(&instance.model) != 1 || !free_cells(&instance.model).is_empty() {
            return None;
        }
        let mut sum = 0;
        for at in 0..instance.size {
            let stand = WindowPosition { at, span: windows.sizes.span };
            let parts: Vec<Part> = instance.window(windows.sizes.width, stand).parts;
            let shape = &windows.shapes[number[&windows.ring.word(instance.size, at, windows.sizes.width)]];
            let (here, shared) = terms(counted, shape, &instance.read(instance.first(), &parts, stand));
            let of = |terms: &[RingWeight]| terms.iter().filter_map(|term| weigh.get(term)).sum::<u64>();
            sum += of(&here);
            if at == 0 {
                sum += of(&shared);
            }
        }
        found.push(sum);
    }
    Some(Sums { least: *found.iter().min()?, greatest: *found.iter().max()? })
}

/// The weights of the states of all windows.
pub fn weights(windows: &Windows<'_>, flow: &ConservedSum) -> Weights {
    let counted = Counted::new(windows);
    let weigh: BTreeMap<&RingWeight, u64> = flow.weights.iter().map(|(term, times)| (term, *times)).collect();
    let of = |terms: &[RingWeight]| terms.iter().filter_map(|term| weigh.get(term)).sum::<u64>();
    let mut found = Weights { here: Vec::new(), shared: Vec::new(), total: flow.total, at_least: flow.at_least };
    for (shape, set) in windows.shapes.iter().zip(&windows.theta) {
        let sums: Vec<(Vec<RingWeight>, Vec<RingWeight>)> =
            set.states.iter().map(|state| terms(&counted, shape, state)).collect();
        found.here.push(sums.iter().map(|(here, _)| of(here)).collect());
        found.shared.push(sums.iter().map(|(_, shared)| of(shared)).collect());
    }
    found
}
