//! Parameters of the program: their bounds, and the values of this instance.

use base::Diagnostic;
use base::diagnostic::nearest_name;
use model::Parameter;

use super::Checker;
use super::symbols::{ParameterValue, Symbol};
use crate::codes::check as code;
use crate::pw::ast::{ExprKind, Item, Members, RangeEnd};

/// No more sizes than this are taken from one range.
const MOST_SIZES: usize = 1000;

/// The values that a parameter may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterRange {
    /// The name.
    pub name: String,
    /// The least value, which it has if the call gives none.
    pub least: i64,
    /// The greatest value, if there is a limit.
    pub greatest: Option<i64>,
    /// The values that are checked if the call gives none (`check sizes N in {2, 5};`); none where the text does not say.
    pub sizes: Vec<i64>,
}

impl<'a> Checker<'a> {
    /// Gives the parameters their values, and returns what values they may have.
    pub fn resolve_parameters(&mut self, given: &[(String, i64)]) -> Vec<ParameterRange> {
        self.report_unknown_parameters(given);
        let mut ranges = Vec::new();
        for (position, parameter) in self.program.parameters.iter().enumerate() {
            let name = &parameter.name.name;
            let least = self.constant_number(&parameter.least, "the least value of a parameter");
            let limit = parameter.limit.as_ref().map(|limit| {
                let value = self.constant_number(&limit.value, "the greatest value of a parameter");
                value.and_then(|value| match limit.end {
                    RangeEnd::Included => Some(value),
                    RangeEnd::Excluded => value.checked_sub(1),
                })
            });
            let given = given.iter().rev().find(|(wanted, _)| wanted == name).map(|&(_, value)| value);
            let (Some(least), None | Some(Some(_))) = (least, limit) else {
                self.symbols.parameters[position] = ParameterValue::Broken;
                continue;
            };
            let range = ParameterRange { name: name.clone(), least, greatest: limit.flatten(), sizes: Vec::new() };
            let default = parameter.default.as_ref().and_then(|default| {
                let default = self.constant_number(default, "the value of a parameter")?;
                self.is_allowed(default, &range, position).then_some(default)
            });
            // With a value that is not allowed the rest of the program is checked at the least value.
            let value =
                given.filter(|&value| self.is_allowed(value, &range, position)).unwrap_or(default.unwrap_or(least));
            if given.is_none() && default.is_none() {
                self.is_allowed(least, &range, position);
            }
            let (least, greatest) = (range.least, range.greatest);
            let parameter = Parameter { name: name.clone(), value, least, greatest, given: given.is_some() };
            self.symbols.parameters[position] = ParameterValue::Known(self.model.parameters.push(parameter));
            ranges.push(range);
        }
        self.resolve_sizes(&mut ranges);
        ranges
    }

    /// `check sizes N in {2, 5};`
    fn resolve_sizes(&mut self, ranges: &mut [ParameterRange]) {
        let program = self.program;
        for item in &program.items {
            let Item::Sizes(declared) = item else { continue };
            let Some(range) = ranges.iter_mut().find(|range| range.name == declared.parameter.name) else {
                let message = format!("the program has no parameter `{}`", declared.parameter.name);
                self.report(Diagnostic::error(code::UNKNOWN_PARAMETER, declared.parameter.span, message));
                continue;
            };
            let what = "a size to check";
            let sizes: Option<Vec<i64>> = match &declared.values {
                Members::Set(set) => match &set.kind {
                    ExprKind::Set(values) => values.iter().map(|value| self.constant_number(value, what)).collect(),
                    _ => self.constant_number(set, what).map(|value| vec![value]),
                },
                Members::Range(of) => {
                    let ends = (self.constant_number(&of.low, what), self.constant_number(&of.high, what));
                    match (ends, of.end) {
                        ((Some(low), Some(high)), RangeEnd::Included) => Some((low..=high).take(MOST_SIZES).collect()),
                        ((Some(low), Some(high)), RangeEnd::Excluded) => Some((low..high).take(MOST_SIZES).collect()),
                        _ => None,
                    }
                }
            };
            for size in sizes.unwrap_or_default() {
                if size < range.least || range.greatest.is_some_and(|greatest| size > greatest) {
                    let message = format!("`{}` cannot be {size}", range.name);
                    self.report(Diagnostic::error(code::PARAMETER_RANGE, declared.span, message));
                } else if !range.sizes.contains(&size) {
                    range.sizes.push(size);
                }
            }
        }
    }

    fn is_allowed(&mut self, value: i64, range: &ParameterRange, position: usize) -> bool {
        let ParameterRange { name, least, greatest, .. } = range;
        let span = self.program.parameters[position].span;
        let message = if greatest.is_some_and(|greatest| greatest < *least) {
            format!("`{name}` can have no value: its least is above its greatest")
        } else if value < *least {
            format!("`{name}` is {value}, but must be at least {least}")
        } else if let Some(greatest) = greatest.filter(|&greatest| value > greatest) {
            format!("`{name}` is {value}, but must be at most {greatest}")
        } else {
            return true;
        };
        self.report(Diagnostic::error(code::PARAMETER_RANGE, span, message).at("declared here"));
        false
    }

    fn report_unknown_parameters(&mut self, given: &[(String, i64)]) {
        let known: Vec<&str> = self.program.parameters.iter().map(|of| of.name.name.as_str()).collect();
        for (name, _) in given.iter().filter(|(name, _)| !known.contains(&name.as_str())) {
            let message = format!("the program has no parameter `{name}`");
            let mut diagnostic = Diagnostic::error(code::UNKNOWN_PARAMETER, self.program.name.span, message);
            let is_constant = matches!(self.symbols.names.get(name.as_str()), Some((Symbol::Constant(_), _)));
            diagnostic = match (nearest_name(name, known.iter().copied()), &known[..]) {
                _ if is_constant => {
                    diagnostic.help(format!("it is a constant; to vary it, declare `{name}` as a parameter"))
                }
                (Some(near), _) => diagnostic.help(format!("did you mean `{near}`?")),
                (None, []) => diagnostic.help("it has no parameters at all"),
                (None, known) => diagnostic.help(format!("its parameters are {}", known.join(", "))),
            };
            self.report(diagnostic);
        }
    }
}
