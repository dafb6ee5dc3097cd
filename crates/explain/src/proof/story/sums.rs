//! Sums of a proof as sentences: `x + count(k: P[k]@{crit, leave}) == 1`.
//!
//! In: what each view adds to both sides, or what local states and cells weigh. Out: the same in words, where the processes that are counted can be named by where they are or
//! what they have, and the cells are numbers, times something, and a constant. Each view, each local state and each number of a cell is compared with the words.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use evidence::counting::{CellSum, ClassMember, CountingItem, CountingProof, SumWeight};
use evidence::crowd::CrowdSum;
use evidence::fine::{FineContent, FineFlow, FineProof, FlowCell, FlowWeight};
use evidence::propagation::{Additive, ProcessWeights};
use evidence::rings::{ConservedSum, RingItem, RingValue, RingWeight, RingsProof};
use evidence::views::{SharedColumn, ViewsProof};
use model::Model;
use model::process::FamilyId;
use model::types::ScalarType;
use model::value::Value;

use super::super::formula::{
    CellTerm, CountedProcesses, Letter, NamedProcess, PlaceName, ProcessTally, QuantifiedSentence, Quantity,
    SentenceFormula, Test,
};
use super::super::scene::{
    Blocks, CellNames, CertificateScene, CountedCrowd, SceneEntry, Shown, in_order, local_blocks,
};

/// The sum as a sentence; `None` where there are no words for it.
pub(super) fn tally(model: &Model, views: &ViewsProof, sum: &CrowdSum) -> Option<SentenceFormula> {
    let scene = in_order(model, views)?;
    if scene.rows.len() != sum.left.len() || sum.left.len() != sum.right.len() {
        return None;
    }
    let most = *sum.right.iter().max()?;
    if most < 1 || sum.right.iter().any(|adds| *adds != 0 && *adds != most) {
        return None;
    }
    let letter = Letter { at: 1, family: views.family };
    let body = counted(&scene, NamedProcess::Letter(letter), &|row| sum.right[row] == most)?;
    let (cells, constant) = linear(&scene, &sum.left)?;
    let cells = cells.into_iter().map(|(times, term)| (-times, term)).collect();
    let counts = vec![(most, CountedProcesses { letter: 1, family: views.family, body: Box::new(body) })];
    Some(SentenceFormula::Tally(ProcessTally { cells, counts, modulus: 0, total: constant, is_least: false }))
}

/// A sum of numbers in cells, and of processes of whole families by their places, as a sentence; `None` where it weighs anything else.
pub(super) fn additive(model: &Model, sum: &Additive) -> Option<SentenceFormula> {
    if !sum.groups.is_empty() {
        return None;
    }
    let (mut cells, mut total) = (Vec::new(), sum.constant);
    for weighed in &sum.cells {
        let number = |value: &Value| if let Value::Int(number) = value { Some(*number) } else { None };
        let points = weighed.weights.iter().map(|(value, weight)| Some((number(value)?, *weight)));
        let points = points.collect::<Option<Vec<(i64, i64)>>>()?;
        let (&(x, y), rest) = points.split_first()?;
        // Numbers near the ends of 64 bits have no words.
        let times = match rest.first() {
            Some(&(other, weight)) => weight.checked_sub(y)?.checked_div(other.checked_sub(x)?)?,
            None => 0,
        };
        let constant = y.checked_sub(times.checked_mul(x)?)?;
        if !points.iter().all(|&(x, y)| times.checked_mul(x).and_then(|many| many.checked_add(constant)) == Some(y)) {
            return None;
        }
        total = total.checked_add(constant)?;
        let declared = &model.cells[weighed.cell];
        if declared.owner.is_some() || !model.vars[declared.var].ty.dimensions().is_empty() {
            return None;
        }
        if times != 0 {
            cells.push((times.checked_neg()?, CellTerm { var: declared.var, owner: None, indices: Vec::new() }));
        }
    }
    let mut counts = Vec::new();
    let mut weighed: BTreeMap<FamilyId, Vec<&ProcessWeights>> = BTreeMap::new();
    for one in &sum.processes {
        weighed.entry(model.processes[one.process].family).or_default().push(one);
    }
    for (family, members) in weighed {
        let first = *members.first()?;
        let is_alike = |one: &&ProcessWeights| one.cells.is_empty() && one.weights == first.weights;
        if !members.iter().all(is_alike) || members.len() != model.families[family].processes().count() {
            return None;
        }
        let mut places: BTreeMap<i64, Vec<PlaceName>> = BTreeMap::new();
        for local in first.weights.iter().filter(|local| local.weight != 0) {
            places.entry(local.weight).or_default().push(PlaceName { place: local.place, counters: None });
        }
        for (weight, places) in places {
            let own = NamedProcess::Letter(Letter { at: 1, family });
            let body = Box::new(SentenceFormula::At(own, places));
            counts.push((weight, CountedProcesses { letter: 1, family, body }));
        }
    }
    // The same sum may be there twice, with all signs turned.
    if cells.iter().map(|(times, _)| times).chain(counts.iter().map(|(times, _)| times)).next()? < &0 {
        cells.iter_mut().for_each(|(times, _)| *times = -*times);
        counts.iter_mut().for_each(|(times, _)| *times = -*times);
        total = total.checked_neg()?;
    }
    Some(SentenceFormula::Tally(ProcessTally { cells, counts, modulus: 0, total, is_least: false }))
}

/// What processes have in common whose rows are meant, and no others have.
pub(super) fn counted(
    scene: &CertificateScene,
    who: NamedProcess,
    is_meant: &dyn Fn(usize) -> bool,
) -> Option<SentenceFormula> {
    let own = scene.letter(0);
    let columns: Vec<usize> = (0..scene.columns.len()).filter(|&column| scene.letters_of(column) == 1).collect();
    let mut blocks = Blocks { columns: Vec::new(), states: Vec::new(), block_of: Vec::new(), own };
    blocks.columns = columns.iter().map(|&column| Some(scene.columns[column].clone())).collect();
    for (at, row) in scene.rows.iter().enumerate() {
        let state: Vec<SceneEntry> = columns.iter().map(|&column| row[column]).collect();
        let block = u32::from(is_meant(at));
        match blocks.states.iter().position(|known| *known == state) {
            Some(known) if blocks.block_of[known] != block => return None,
            Some(_) => {}
            None => {
                blocks.states.push(state);
                blocks.block_of.push(block);
            }
        }
    }
    blocks.says(who, &[1], &[0])
}

/// `a * x + b` for a shared number `x`, that is so in every row; or a constant.
fn linear(scene: &CertificateScene, left: &[i64]) -> Option<(Vec<(i64, CellTerm)>, i64)> {
    let first = *left.first()?;
    if left.iter().all(|value| *value == first) {
        return Some((Vec::new(), first));
    }
    scene.columns.iter().enumerate().find_map(|(column, shown)| {
        let Shown::Cell(term, _) = shown else { return None };
        if scene.letters_of(column) != 0 {
            return None;
        }
        let numbers = scene.rows.iter().map(|row| match row[column] {
            SceneEntry::Value(Value::Int(number)) => Some(number),
            _ => None,
        });
        let numbers: Vec<i64> = numbers.collect::<Option<_>>()?;
        let other = (1..numbers.len()).find(|&at| numbers[at] != numbers[0])?;
        let (run, rise) = (numbers[other] - numbers[0], left[other] - left[0]);
        let times = (rise % run == 0).then(|| rise / run)?;
        let constant = left[0] - times * numbers[0];
        let fits = numbers.iter().zip(left).all(|(number, left)| times * number + constant == *left);
        fits.then(|| (vec![(times, term.clone())], constant))
    })
}

/// A flow as a sentence: how many processes are somewhere, and how many elements have something, with their weights; `None` where there are no words.
pub(super) fn flow(model: &Model, proof: &RingsProof, flow: &ConservedSum) -> Option<SentenceFormula> {
    let letter = Letter { at: 1, family: proof.family };
    let terms = CellNames { model, family: proof.family };
    let counted = |body: SentenceFormula| CountedProcesses { letter: 1, family: proof.family, body: Box::new(body) };
    let mut counts: Vec<(i64, CountedProcesses)> = Vec::new();
    // What processes weigh, by their place and what they have.
    let locals = local_weights(proof, flow)?;
    let states: Vec<Vec<SceneEntry>> =
        locals.keys().map(|values| values.iter().map(entry).collect::<Option<_>>()).collect::<Option<_>>()?;
    let own = NamedProcess::Letter(letter);
    let n_columns = states.first().map_or(0, Vec::len);
    let columns =
        std::iter::once(Some(Shown::Place(own))).chain((1..n_columns).map(|at| terms.own(at - 1, own))).collect();
    let block_of: Vec<u32> = locals.values().map(|weight| u32::try_from(*weight).ok()).collect::<Option<_>>()?;
    let blocks = Blocks { columns, states, block_of, own };
    let weights: Vec<u32> = blocks.numbers().collect();
    for &weight in weights.iter().filter(|weight| **weight > 0) {
        let others: Vec<u32> = weights.iter().copied().filter(|other| *other != weight).collect();
        if others.is_empty() {
            return None;
        }
        counts.push((i64::from(weight), counted(blocks.says(own, &[weight], &others)?)));
    }
    // What elements weigh.
    let mut elements: BTreeMap<(model::variable::VarId, usize, u64), Vec<SceneEntry>> = BTreeMap::new();
    for (weight, times) in flow.weights.iter().filter(|(_, times)| *times > 0) {
        match weight {
            RingWeight::Local(..) => {}
            RingWeight::Shared(..) => return None,
            RingWeight::Element(_, _, RingValue::Neighbour(_) | RingValue::Place(_)) => return None,
            RingWeight::Element(var, at, RingValue::Value(value)) => {
                elements.entry((*var, *at, *times)).or_default().push(SceneEntry::Value(*value));
            }
        }
    }
    for ((var, at, times), entries) in elements {
        let Shown::Cell(term, ty) = terms.element(var, None, at, own)? else { return None };
        // A fact about all processes is no news.
        if ty.n_values(model.type_context()) as usize == entries.len() {
            return None;
        }
        let values = entries.iter().map(SceneEntry::value).collect::<Option<Vec<_>>>()?;
        counts.push((i64::try_from(times).ok()?, counted(SentenceFormula::Cell(term, Test::In(values)))));
    }
    let total = i64::try_from(flow.total).ok()?;
    (!counts.is_empty()).then_some(SentenceFormula::Tally(ProcessTally {
        cells: Vec::new(),
        counts,
        modulus: 0,
        total,
        is_least: flow.at_least,
    }))
}

/// A sum of views of few cells as a sentence, modulo a number where it is so; `None` where there are no words.
pub(super) fn fine(model: &Model, proof: &FineProof, flow: &FineFlow) -> Option<SentenceFormula> {
    let reduced = |weight: i64| reduced(weight, flow.modulus);
    let terms = CellNames { model, family: proof.family };
    let (mut cells, mut total) = (Vec::new(), flow.constant);
    for weighed in &flow.cells {
        let SharedColumn::Cell(cell) = weighed.cell else { return None };
        let Shown::Cell(term, ScalarType::Range { lo, hi }) = terms.cell(cell)? else { return None };
        let line = line(weighed, lo..=hi, flow.modulus)?;
        total = total.checked_sub(line.constant)?;
        if line.times != 0 {
            cells.push((line.times, term));
        }
    }
    let weights: Vec<i64> = flow.states.iter().map(|&weight| reduced(weight)).collect();
    let different: Vec<i64> = weights.iter().copied().collect::<BTreeSet<i64>>().into_iter().collect();
    let letter = Letter { at: 1, family: proof.family };
    let own = NamedProcess::Letter(letter);
    let number = |weight: &i64| different.binary_search(weight).ok().and_then(|at| u32::try_from(at).ok());
    let block_of: Vec<u32> = weights.iter().map(number).collect::<Option<_>>()?;
    let blocks = local_blocks(&terms, proof, block_of, own);
    let mut counts = Vec::new();
    for block in blocks.numbers().filter(|&block| different[block as usize] != 0) {
        let others: Vec<u32> = blocks.numbers().filter(|&other| other != block).collect();
        let body = Box::new(blocks.says(own, &[block], &others).filter(|_| !others.is_empty())?);
        counts.push((different[block as usize], CountedProcesses { letter: 1, family: proof.family, body }));
    }
    let is_turned = cells.iter().map(|(times, _)| times).chain(counts.iter().map(|(times, _)| times)).next()? < &0;
    if is_turned {
        total = total.checked_neg()?;
        cells.iter_mut().for_each(|(times, _)| *times = reduced(-*times));
        counts.iter_mut().for_each(|(times, _)| *times = reduced(-*times));
    }
    let total = if flow.modulus == 0 { total } else { total.rem_euclid(flow.modulus) };
    let tally = ProcessTally { cells, counts, modulus: flow.modulus, total, is_least: false };
    Some(SentenceFormula::Tally(tally))
}

/// A sum of a proof by counting as a sentence: numbers are together a constant and the weights of all processes; a lock that is held by as many as are somewhere
/// says that at most one is. `None` where there are no words.
pub(super) fn counting(model: &Model, proof: &CountingProof, sum: &CellSum) -> Option<SentenceFormula> {
    // Those that the text names are counted by themselves, and sentences count all of a family.
    if !proof.named.is_empty() {
        return None;
    }
    let crowd = CountedCrowd::new(model, proof);
    let is_of_family = |weight: &&SumWeight| matches!(weight.of, ClassMember::Family(_));
    if !sum.weights.iter().filter(|weight| weight.weight != 0).all(|weight| is_of_family(&weight)) {
        return None;
    }
    let mut counts = Vec::new();
    for &family in &crowd.families {
        counts.extend(weighed(&crowd, family, sum)?);
    }
    let terms = CellNames { model, family: *crowd.families.first()? };
    let mut cells: Vec<(i64, CellTerm)> = Vec::new();
    let mut n_held = 0;
    for &(cell, times) in &sum.cells {
        match terms.cell(cell)? {
            Shown::Cell(term, ScalarType::Range { .. } | ScalarType::Semaphore { .. }) => cells.push((times, term)),
            Shown::Cell(..) => n_held += 1,
            _ => return None,
        }
    }
    if n_held > 0 {
        // A lock, an id or a truth value is 0 or 1.
        let [(weight, counted)] = &counts[..] else { return None };
        let is_one = sum.cells.len() == 1 && sum.cells[0].1 == *weight && sum.constant == 0;
        return is_one.then(|| {
            SentenceFormula::Quantified(QuantifiedSentence {
                quantity: Quantity::AtMost(1),
                letters: vec![counted.letter],
                family: counted.family,
                except: Vec::new(),
                body: counted.body.clone(),
            })
        });
    }
    let counts: Vec<(i64, CountedProcesses)> =
        counts.into_iter().map(|(weight, counted)| Some((weight.checked_neg()?, counted))).collect::<Option<_>>()?;
    let (mut tally, first) = {
        let first = cells.first().map(|(times, _)| *times)?;
        let total = sum.constant;
        (ProcessTally { cells, counts, modulus: 0, total, is_least: false }, first)
    };
    if first < 0 {
        tally.total = tally.total.checked_neg()?;
        tally.cells.iter_mut().for_each(|(times, _)| *times = -*times);
        tally.counts.iter_mut().for_each(|(times, _)| *times = -*times);
    }
    (!tally.counts.is_empty()).then_some(SentenceFormula::Tally(tally))
}

/// Which processes of a family weigh how much in a sum, by their views: each class that occurs is compared with the words. `None` where there are none.
fn weighed(crowd: &CountedCrowd<'_>, family: FamilyId, sum: &CellSum) -> Option<Vec<(i64, CountedProcesses)>> {
    let letter = Letter { at: 1, family };
    let own = NamedProcess::Letter(letter);
    let plain = |item: &CountingItem| match *item {
        CountingItem::Place(place) => Some(SceneEntry::Place(place)),
        CountingItem::Value(value @ (Value::Bool(_) | Value::Int(_) | Value::Enum(..))) => {
            Some(SceneEntry::Value(value))
        }
        _ => None,
    };
    let mut classes: Vec<Vec<Option<SceneEntry>>> = Vec::new();
    let mut weights: Vec<i64> = Vec::new();
    for view in crowd.proof.views.iter().filter(|view| view.family == family) {
        let class: Vec<Option<SceneEntry>> = view.local.iter().map(plain).collect();
        if !classes.contains(&class) {
            let is_its = |weight: &&SumWeight| {
                let entries: Vec<Option<SceneEntry>> = weight.class.iter().map(plain).collect();
                weight.of == ClassMember::Family(family) && entries == class
            };
            weights.push(sum.weights.iter().find(is_its).map_or(0, |weight| weight.weight));
            classes.push(class);
        }
    }
    // A column that is not always plain tells nothing apart.
    let mut columns = crowd.shown_local(family, own);
    for (at, column) in columns.iter_mut().enumerate() {
        if classes.iter().any(|class| class.get(at).is_none_or(Option::is_none)) {
            *column = None;
        }
    }
    let states = classes.iter().map(|class| class.iter().map(|entry| entry.unwrap_or(SceneEntry::Hidden)).collect());
    let different: BTreeSet<i64> = weights.iter().copied().collect();
    let different: Vec<i64> = different.into_iter().collect();
    let number = |weight: &i64| different.binary_search(weight).ok().and_then(|at| u32::try_from(at).ok());
    let block_of: Vec<u32> = weights.iter().map(number).collect::<Option<_>>()?;
    let blocks = Blocks { columns, states: states.collect(), block_of, own };
    let mut counts = Vec::new();
    for block in blocks.numbers().filter(|&block| different[block as usize] != 0) {
        let others: Vec<u32> = blocks.numbers().filter(|&other| other != block).collect();
        let body = Box::new(blocks.says(own, &[block], &others).filter(|_| !others.is_empty())?);
        counts.push((different[block as usize], CountedProcesses { letter: 1, family, body }));
    }
    Some(counts)
}

/// The number nearest to 0 that is the same modulo another; the number itself, where that is 0.
fn reduced(number: i64, modulus: i64) -> i64 {
    match modulus {
        0 => number,
        _ => {
            let least = number.rem_euclid(modulus);
            if least > modulus / 2 { least - modulus } else { least }
        }
    }
}

/// `times * x + constant`.
struct Line {
    times: i64,
    constant: i64,
}

/// What a cell adds as a line over its numbers, modulo a number; `None` where it is none, or the numbers are very many.
fn line(weighed: &FlowCell, numbers: RangeInclusive<i64>, modulus: i64) -> Option<Line> {
    const MOST_NUMBERS: i64 = 4096;
    let adds = |number: i64| {
        let is_it = |weight: &&FlowWeight| weight.content == FineContent::Value(Value::Int(number));
        weighed.weights.iter().find(is_it).map_or(0, |weight| weight.weight)
    };
    let (lo, hi) = numbers.clone().into_inner();
    let is_small = |number: i64| number.unsigned_abs() < 1 << 31;
    let are_small = weighed.weights.iter().all(|weight| is_small(weight.weight)) && is_small(lo) && is_small(hi);
    if !are_small || hi - lo >= MOST_NUMBERS {
        return None;
    }
    let times = if lo < hi { reduced(adds(lo + 1) - adds(lo), modulus) } else { 0 };
    let constant = adds(lo).checked_sub(times.checked_mul(lo)?)?;
    let fits = |number: i64| {
        let differs = adds(number) - times * number - constant;
        if modulus == 0 { differs == 0 } else { differs.rem_euclid(modulus) == 0 }
    };
    numbers.into_iter().all(fits).then_some(Line { times, constant })
}

/// What each local state weighs; `None` where that depends on the type of the process.
fn local_weights(proof: &RingsProof, flow: &ConservedSum) -> Option<BTreeMap<Vec<RingValue>, u64>> {
    let mut found: BTreeMap<Vec<RingValue>, u64> = BTreeMap::new();
    for set in &proof.windows {
        let of = *set.word.first()?;
        let own: Vec<usize> = { set.items.iter().enumerate() }
            .filter(|(_, item)| matches!(item, RingItem::Control(0) | RingItem::Own(0, _)))
            .map(|(at, _)| at)
            .collect();
        for state in &set.states {
            let values: Vec<RingValue> = own.iter().map(|&at| state[at]).collect();
            let is_it = |(weight, _): &&(RingWeight, u64)| matches!(weight, RingWeight::Local(at, local) if *at == of && *local == values);
            let weight = flow.weights.iter().find(is_it).map_or(0, |(_, times)| *times);
            if *found.entry(values).or_insert(weight) != weight {
                return None;
            }
        }
    }
    Some(found)
}

fn entry(value: &RingValue) -> Option<SceneEntry> {
    match value {
        RingValue::Value(value) => Some(SceneEntry::Value(*value)),
        RingValue::Place(place) => Some(SceneEntry::Place(*place)),
        RingValue::Neighbour(_) => None,
    }
}
