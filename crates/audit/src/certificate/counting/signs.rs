//! Signs of sums of counted cells and sizes, which views show, as the checker sees them.
//!
//! In: the sums that a proof names, and a step or an initial state. Out: which signs they may have. All processes of a state have the same
//! counted cells and sizes before them, so that what is shown is a demand on both, and views of one state show the same.

use std::cmp::Ordering;

use base::Span;
use evidence::counting::{CountingItem, ShownSign};
use model::size::{Linear, ParameterId};
use model::value::Value;
use model::variable::CellId;

use super::stage::{Player, Stop, Told};
use super::system::{Demand, Lin, Unknown, at_least, exactly};

/// Whether an item is a sign.
pub(super) fn is_sign(item: &CountingItem) -> bool {
    matches!(item, CountingItem::Value(Value::Int(-1..=1)))
}

/// The number whose sign is shown.
pub(super) fn number(
    sign: &ShownSign,
    cell: impl Fn(CellId) -> Option<Lin>,
    size: impl Fn(&ParameterId) -> Option<Lin>,
) -> Option<Lin> {
    let mut number = Lin::just(sign.constant);
    for (id, times) in &sign.cells {
        number = number.and(*times, &cell(*id)?)?;
    }
    for (id, times) in &sign.sizes {
        number = number.and(*times, &size(id)?)?;
    }
    Some(number)
}

/// What a shown sign demands.
pub(super) fn demand(number: Lin, shown: CountingItem) -> Option<Demand> {
    match shown {
        CountingItem::Value(Value::Int(0)) => Some(exactly(number)),
        CountingItem::Value(Value::Int(1)) => Some(at_least(number.and(-1, &Lin::just(1))?)),
        CountingItem::Value(Value::Int(-1)) => Some(at_least(Lin::just(-1).and(-1, &number)?)),
        _ => None,
    }
}

impl Player<'_, '_> {
    /// The signs of an initial state: all but those that no size gives.
    pub fn first_signs(&mut self) -> Told<()> {
        let cast = self.cast;
        for sign in &cast.signs {
            let mut first = Some(Linear::number(sign.constant));
            for (cell, times) in &sign.cells {
                first = first.zip(cast.start(*cell)).and_then(|(sum, start)| sum.plus(&start, *times));
            }
            for (size, times) in &sign.sizes {
                first = first.and_then(|sum| sum.plus(&Linear::parameter(*size), *times));
            }
            // A sign is none of an initial state if the number is always at least something that has another one.
            let is_at_least = |factor: i64, least: i64| {
                let more = first.as_ref().and_then(|first| Linear::number(-least).plus(first, factor));
                more.is_some_and(|more| cast.is_never_negative(&more))
            };
            let mut possible = Vec::new();
            if !is_at_least(1, 0) {
                possible.push(-1);
            }
            if !is_at_least(1, 1) && !is_at_least(-1, 1) {
                possible.push(0);
            }
            if !is_at_least(-1, 0) {
                possible.push(1);
            }
            let at = self.path.pick(possible.len());
            let shown = possible.get(at).copied().ok_or(Stop::Never)?;
            self.stage.shared.push(CountingItem::Value(Value::Int(shown)));
        }
        Ok(())
    }

    /// The signs after a step: those of what is in the cells now.
    pub fn show_signs(&mut self) -> Told<()> {
        let cast = self.cast;
        for (at, sign) in cast.signs.iter().enumerate() {
            if sign.cells.iter().all(|(cell, _)| !self.written.contains_key(cell)) {
                continue;
            }
            let content = |cell: CellId| match self.written.get(&cell) {
                Some(written) => written.clone(),
                None => Some(Lin::unknown(Unknown::Cell(cell))),
            };
            let size = |id: &ParameterId| self.linear(&Linear::parameter(*id));
            let shown = match number(sign, content, size) {
                None => [-1, 0, 1][self.path.pick(3)],
                Some(now) => match self.order(&now, &Lin::default(), Span::default())? {
                    Ordering::Less => -1,
                    Ordering::Equal => 0,
                    Ordering::Greater => 1,
                },
            };
            self.stage.shared[cast.shared.len() + at] = CountingItem::Value(Value::Int(shown));
        }
        Ok(())
    }
}
