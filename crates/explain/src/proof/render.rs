//! Sentences as text, in the language of programs.
//!
//! In: a [`SentenceFormula`] and names for its letters. Out: [`text`], which people read, and [`expression`], which can be written into the program as
//! (part of) an invariant. They differ where the language lacks the words so far: `at most one k: …` is spelled out, and places in one
//! round of a loop have no expression.

use model::Model;
use model::control::PlaceId;
use model::print;
use model::process::FamilyId;
use model::size::Size;
use model::types::ScalarType;
use model::value::Value;
use model::variable::element_name;

use super::formula::{
    CellTerm, IndexName, NamedProcess, PlaceName, ProcessTally, QuantifiedSentence, Quantity, SentenceFormula, Test,
    TreePosition, ValueTerm,
};
use crate::text::clean;

/// The sentence for people.
pub fn text(model: &Model, letters: &[String], formula: &SentenceFormula) -> String {
    let writer = SentenceWriter { model, letters, is_strict: false };
    writer.formula(formula).map_or_else(String::new, |(_, text)| text)
}

/// The sentence as an expression of the program's language; `None` where the language cannot say it.
pub fn expression(model: &Model, letters: &[String], formula: &SentenceFormula) -> Option<String> {
    let writer = SentenceWriter { model, letters, is_strict: true };
    writer.formula(formula).map(|(_, text)| text)
}

/// A process as an owner: `P[i]`, `P[i + 1]`.
pub fn process(model: &Model, letters: &[String], who: NamedProcess) -> String {
    SentenceWriter { model, letters, is_strict: false }.process(who).unwrap_or_default()
}

/// A value.
pub fn value(model: &Model, letters: &[String], value: &ValueTerm) -> String {
    SentenceWriter { model, letters, is_strict: false }.value(value).unwrap_or_default()
}

/// A cell: `x`, `flag[i]`.
pub fn cell(model: &Model, letters: &[String], term: &CellTerm) -> String {
    SentenceWriter { model, letters, is_strict: false }.cell(term).unwrap_or_default()
}

/// How many processes a family has: the parameter that says it, or a number.
pub fn size_name(model: &Model, family: FamilyId) -> String {
    match &model.families[family].size {
        Size::Parameter(id) => model.parameters[*id].name.clone(),
        _ => model.families[family].count().to_string(),
    }
}

/// How tightly a text binds, loosest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum TextLevel {
    /// A quantifier, which reaches as far right as it can.
    Open,
    /// `=>` and `<=>`, which do not chain.
    Arrow,
    Or,
    And,
    Comparison,
    Atom,
}

struct SentenceWriter<'a> {
    model: &'a Model,
    letters: &'a [String],
    /// Whether only words of the language are used.
    is_strict: bool,
}

impl SentenceWriter<'_> {
    fn formula(&self, formula: &SentenceFormula) -> Option<(TextLevel, String)> {
        match formula {
            SentenceFormula::Constant(truth) => Some((TextLevel::Atom, truth.to_string())),
            SentenceFormula::Cell(cell, test) => self.cell_test(cell, test),
            SentenceFormula::Sum(terms, test) => self.sum_test(terms, test),
            SentenceFormula::At(who, spots) => {
                let (who, spots) = (self.process(*who)?, self.spots(spots)?);
                match &spots[..] {
                    [only] => Some((TextLevel::Atom, format!("{who}@{only}"))),
                    several => Some((TextLevel::Atom, format!("{who}@{{{}}}", several.join(", ")))),
                }
            }
            SentenceFormula::Not(inner) => {
                Some((TextLevel::Atom, format!("!{}", self.tighter(inner, TextLevel::Atom)?)))
            }
            SentenceFormula::All(parts) => self.joined(parts, TextLevel::And),
            SentenceFormula::Any(parts) => self.joined(parts, TextLevel::Or),
            SentenceFormula::Implies(one, other) => self.arrow(one, "=>", other),
            SentenceFormula::Iff(one, other) => self.arrow(one, "<=>", other),
            SentenceFormula::Quantified(quantified) => self.quantified(quantified),
            SentenceFormula::Tally(tally) => self.tally(tally),
        }
    }

    fn joined(&self, parts: &[SentenceFormula], level: TextLevel) -> Option<(TextLevel, String)> {
        match (parts, level) {
            ([], TextLevel::And) => Some((TextLevel::Atom, "true".to_owned())),
            ([], _) => Some((TextLevel::Atom, "false".to_owned())),
            ([only], _) => self.formula(only),
            _ => {
                let above = if level == TextLevel::And { TextLevel::Comparison } else { TextLevel::And };
                let parts = parts.iter().map(|part| self.tighter(part, above)).collect::<Option<Vec<_>>>()?;
                Some((level, parts.join(if level == TextLevel::And { " && " } else { " || " })))
            }
        }
    }

    /// What is implied may be a quantifier without parentheses: it reaches to the end.
    fn arrow(&self, one: &SentenceFormula, arrow: &str, other: &SentenceFormula) -> Option<(TextLevel, String)> {
        let (level, other) = self.formula(other)?;
        let other = if level == TextLevel::Arrow { format!("({other})") } else { other };
        Some((TextLevel::Arrow, format!("{} {arrow} {other}", self.tighter(one, TextLevel::Or)?)))
    }

    fn tighter(&self, formula: &SentenceFormula, least: TextLevel) -> Option<String> {
        let (level, text) = self.formula(formula)?;
        Some(if level < least { format!("({text})") } else { text })
    }

    fn quantified(&self, quantified: &QuantifiedSentence) -> Option<(TextLevel, String)> {
        let QuantifiedSentence { quantity, letters, family, except, body } = quantified;
        let names = letters.iter().map(|&letter| self.letters.get(letter)).collect::<Option<Vec<&String>>>()?;
        let left_out = except.iter().map(|&who| self.index(who)).collect::<Option<Vec<String>>>()?;
        let domain = if self.only_family() == Some(*family) {
            String::new()
        } else {
            format!(" in {}", clean(&self.model.families[*family].name))
        };
        // One name may be set apart in the head, as the language does; all others are conditions.
        let (head, conditions) = match (&names[..], &left_out[..]) {
            ([name], [other]) => (format!("{name} != {other}"), Vec::new()),
            ([one, other], []) => (format!("{one} != {other}"), Vec::new()),
            ([name], others) => ((*name).clone(), others.iter().map(|other| format!("{name} != {other}")).collect()),
            (names, others) => {
                let pairs = names.iter().flat_map(|name| others.iter().map(move |other| format!("{name} != {other}")));
                (names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(" != "), pairs.collect())
            }
        };
        let conditions: String = conditions.join(" && ");
        let body = match (conditions.is_empty(), quantity) {
            (true, _) => self.formula(body)?.1,
            (false, Quantity::ForAll) => {
                let (level, text) = self.formula(body)?;
                let text = if level == TextLevel::Arrow { format!("({text})") } else { text };
                format!("{conditions} => {text}")
            }
            (false, _) => format!("{conditions} && {}", self.tighter(body, TextLevel::Comparison)?),
        };
        match quantity {
            Quantity::ForAll => Some((TextLevel::Open, format!("forall {head}{domain}: {body}"))),
            Quantity::Exists => Some((TextLevel::Open, format!("exists {head}{domain}: {body}"))),
            Quantity::AtMost(most) if self.is_strict => {
                Some((TextLevel::Comparison, format!("count({head}{domain}: {body}) <= {most}")))
            }
            Quantity::AtMost(most) => {
                let most = match most {
                    1 => "one".to_owned(),
                    2 => "two".to_owned(),
                    other => other.to_string(),
                };
                Some((TextLevel::Open, format!("at most {most} {head}{domain}: {body}")))
            }
        }
    }

    /// `x + count(k: P[k]@{crit, leave}) == 1`.
    fn tally(&self, tally: &ProcessTally) -> Option<(TextLevel, String)> {
        let mut parts = self.summands(&tally.cells)?;
        for (times, counted) in &tally.counts {
            let name = self.letters.get(counted.letter)?;
            let domain = match self.only_family() == Some(counted.family) {
                true => String::new(),
                false => format!(" in {}", clean(&self.model.families[counted.family].name)),
            };
            parts.push((*times, format!("count({name}{domain}: {})", self.formula(&counted.body)?.1)));
        }
        let sign = if tally.is_least { ">=" } else { "==" };
        let sum = added(&parts);
        // That something is divisible does not depend on what the remainder of a negative number is.
        let text = match (tally.modulus, tally.total) {
            (0, total) => format!("{sum} {sign} {total}"),
            (modulus, 0) => format!("({sum}) % {modulus} == 0"),
            (modulus, total) => format!("({sum} - {total}) % {modulus} == 0"),
        };
        Some((TextLevel::Comparison, text))
    }

    fn summands(&self, terms: &[(i64, CellTerm)]) -> Option<Vec<(i64, String)>> {
        terms.iter().map(|(times, term)| Some((*times, self.cell(term)?))).collect()
    }

    /// Whether a cell's values are so near the ends of 64 bits that what is added to one may have no value.
    fn is_near_the_ends(&self, term: &CellTerm) -> bool {
        let far = i64::MAX / 4;
        matches!(self.model.vars[term.var].ty.scalar(), ScalarType::Range { lo, hi } if lo < -far || hi > far)
    }

    /// `a + b == 4`, and of a difference `a == b + 1`.
    fn sum_test(&self, terms: &[(i64, CellTerm)], test: &Test) -> Option<(TextLevel, String)> {
        if self.is_strict && terms.iter().any(|(_, term)| self.is_near_the_ends(term)) {
            return None;
        }
        let parts = self.summands(terms)?;
        let sum = added(&parts);
        let compared = |sign: &str, number: i64| match &parts[..] {
            [(1, one), (-1, other)] if number < 0 => format!("{one} + {} {sign} {other}", number.unsigned_abs()),
            [(1, one), (-1, other)] if number == 0 => format!("{one} {sign} {other}"),
            [(1, one), (-1, other)] => format!("{one} {sign} {other} + {number}"),
            _ => format!("{sum} {sign} {number}"),
        };
        let (values, sign) = match test {
            Test::AtMost(most) => return Some((TextLevel::Comparison, compared("<=", *most))),
            Test::AtLeast(least) => return Some((TextLevel::Comparison, compared(">=", *least))),
            Test::In(values) => (values, "=="),
            Test::NotIn(values) => (values, "!="),
        };
        let number = |value: &ValueTerm| match value {
            ValueTerm::Plain(Value::Int(number)) => Some(*number),
            _ => None,
        };
        let numbers = values.iter().map(number).collect::<Option<Vec<i64>>>()?;
        match (&numbers[..], sign) {
            ([only], _) => Some((TextLevel::Comparison, compared(sign, *only))),
            (several, _) if self.is_strict => {
                let (level, between) = if sign == "==" { (TextLevel::Or, " || ") } else { (TextLevel::And, " && ") };
                let parts: Vec<String> = several.iter().map(|&number| compared(sign, number)).collect();
                Some((level, parts.join(between)))
            }
            (several, _) => {
                let list: Vec<String> = several.iter().map(i64::to_string).collect();
                let word = if sign == "==" { "in" } else { "not in" };
                Some((TextLevel::Comparison, format!("{sum} {word} {{{}}}", list.join(", "))))
            }
        }
    }

    fn cell_test(&self, term: &CellTerm, test: &Test) -> Option<(TextLevel, String)> {
        let ty = self.model.vars[term.var].ty.scalar();
        let is_lock = ty == ScalarType::Lock;
        let cell = self.cell(term)? + if is_lock { ".owner" } else { "" };
        // Processes of all families own locks.
        let text = |value: &ValueTerm| match value {
            ValueTerm::Process(who) if is_lock => self.process(*who),
            other => self.value(other),
        };
        let list = |values: &[ValueTerm]| values.iter().map(text).collect::<Option<Vec<_>>>();
        let one = |value: &ValueTerm, sign: &str| match (value, sign) {
            (ValueTerm::Plain(Value::Bool(truth)), _) => {
                let is_true = *truth == (sign == "==");
                let plain = || if is_true { cell.clone() } else { format!("!{cell}") };
                Some(self.membership(term, is_true).unwrap_or_else(|| (TextLevel::Atom, plain())))
            }
            _ => Some((TextLevel::Comparison, format!("{cell} {sign} {}", text(value)?))),
        };
        match test {
            Test::In(values) if values.len() == 1 => one(&values[0], "=="),
            Test::NotIn(values) if values.len() == 1 => one(&values[0], "!="),
            Test::In(values) | Test::NotIn(values) if self.is_strict => {
                let (sign, level, between) = match test {
                    Test::In(_) => ("==", TextLevel::Or, " || "),
                    _ => ("!=", TextLevel::And, " && "),
                };
                let parts = values.iter().map(|value| one(value, sign)).collect::<Option<Vec<_>>>()?;
                Some((level, parts.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(between)))
            }
            Test::In(values) => Some((TextLevel::Comparison, format!("{cell} in {{{}}}", list(values)?.join(", ")))),
            Test::NotIn(values) => {
                Some((TextLevel::Comparison, format!("{cell} not in {{{}}}", list(values)?.join(", "))))
            }
            Test::AtMost(most) => Some((TextLevel::Comparison, format!("{cell} <= {most}"))),
            Test::AtLeast(least) => Some((TextLevel::Comparison, format!("{cell} >= {least}"))),
        }
    }

    fn value(&self, value: &ValueTerm) -> Option<String> {
        match value {
            ValueTerm::Plain(value) => Some(print::value(self.model, *value)),
            // Where values are shown by index, so is the letter.
            ValueTerm::Process(
                who @ (NamedProcess::Letter(letter)
                | NamedProcess::After(letter, _)
                | NamedProcess::TreePosition(letter, _)),
            ) if self.only_family() == Some(letter.family) => self.index(*who),
            ValueTerm::Process(NamedProcess::Process(process)) => {
                Some(print::value(self.model, Value::Process(*process)))
            }
            ValueTerm::Process(who) => self.process(*who),
        }
    }

    fn cell(&self, term: &CellTerm) -> Option<String> {
        let owner = match term.owner {
            Some(who) => self.process(who)? + ".",
            None => String::new(),
        };
        let indices = term.indices.iter().map(|index| self.subscript(index)).collect::<Option<Vec<String>>>()?;
        Some(format!("{owner}{}", clean(&self.model.vars[term.var].element(&indices))))
    }

    fn subscript(&self, index: &IndexName) -> Option<String> {
        match *index {
            IndexName::Number(number) => Some(number.to_string()),
            IndexName::Of(who) => self.index(who),
        }
    }

    /// `k in seen`, of an element of the array that a set is; `None` of anything else.
    fn membership(&self, term: &CellTerm, is_inside: bool) -> Option<(TextLevel, String)> {
        let names = self.model.vars[term.var].look.elements()?;
        let (element, outer) = term.indices.split_last()?;
        let set = self.cell(&CellTerm { indices: outer.to_vec(), ..term.clone() })?;
        let element = match *element {
            IndexName::Number(number) if !names.is_empty() => element_name(names, number),
            _ => self.subscript(element)?,
        };
        Some(match is_inside {
            true => (TextLevel::Comparison, format!("{element} in {set}")),
            false => (TextLevel::Atom, format!("!({element} in {set})")),
        })
    }

    /// A process as an owner: `P[i]`, `P[0]`, `Monitor`.
    fn process(&self, who: NamedProcess) -> Option<String> {
        match who {
            NamedProcess::Process(process) => Some(clean(&self.model.processes[process].name)),
            NamedProcess::Letter(letter) | NamedProcess::After(letter, _) | NamedProcess::TreePosition(letter, _) => {
                let family = &self.model.families[letter.family];
                Some(format!("{}[{}]", clean(&family.name), self.index(who)?))
            }
        }
    }

    /// A process as an index or, where the program has one family, as a value: `i`, `i + 1`, `0`.
    fn index(&self, who: NamedProcess) -> Option<String> {
        match who {
            NamedProcess::Process(process) => Some(print::value(self.model, Value::Process(process))),
            NamedProcess::Letter(letter) => self.letters.get(letter.at).cloned(),
            NamedProcess::After(letter, distance) => {
                let name = self.letters.get(letter.at)?;
                let count = size_name(self.model, letter.family);
                Some(match (self.is_strict, distance < 0) {
                    (true, false) => format!("(({name} + {distance}) % {count})"),
                    (true, true) => format!("(({name} + {count} - {}) % {count})", -distance),
                    (false, false) => format!("{name} + {distance}"),
                    (false, true) => format!("{name} - {}", -distance),
                })
            }
            NamedProcess::TreePosition(letter, position) => {
                let name = self.letters.get(letter.at)?;
                Some(match position {
                    TreePosition::Parent => format!("({name} - 1) / 2"),
                    TreePosition::Left => format!("2 * {name} + 1"),
                    TreePosition::Right => format!("2 * {name} + 2"),
                })
            }
        }
    }

    /// The places, by their labels; the end of a text is called so.
    fn spots(&self, spots: &[PlaceName]) -> Option<Vec<String>> {
        let mut names: Vec<String> = Vec::new();
        for spot in spots {
            let name = if self.is_strict { self.label(spot, spots)? } else { self.spot(spot)? };
            if !names.contains(&name) {
                names.push(name);
            }
        }
        Some(names)
    }

    fn spot(&self, spot: &PlaceName) -> Option<String> {
        let name = place_name(self.model, spot.place);
        let Some(counters) = &spot.counters else { return Some(name) };
        let values = counters.iter().map(|(_, value)| self.value(value)).collect::<Option<Vec<_>>>()?;
        Some(if values.is_empty() { name } else { format!("{name}[{}]", values.join(", ")) })
    }

    /// A label that only places among the spots have; line and column of a place without a label.
    fn label(&self, spot: &PlaceName, spots: &[PlaceName]) -> Option<String> {
        let place = &self.model.places[spot.place];
        if place.labels.is_empty() {
            let is_line = place.name.split(':').all(|part| part.parse::<u32>().is_ok());
            let name = place_name(self.model, spot.place);
            let alike = self.model.places.iter().filter(|other| other.scope == place.scope && other.name == place.name);
            let is_one = { alike }.nth(1).is_none();
            let takes_end = |other: &model::control::Place| other.labels.iter().any(|label| label == "end");
            let is_end = name == "end" && !self.model.places.iter().any(takes_end);
            return (spot.counters.is_none() && (is_end || is_line && is_one)).then_some(name);
        }
        let is_meant = |other: PlaceId| spots.iter().any(|spot| spot.place == other && spot.counters.is_none());
        let all_meant = |label: &&String| {
            let carriers = self.model.places.entries().filter(|(_, other)| other.scope == place.scope);
            { carriers }.all(|(id, other)| !other.labels.contains(label) || is_meant(id))
        };
        place.labels.iter().find(all_meant).cloned()
    }

    /// The one family with an index, which letters without a domain range over.
    fn only_family(&self) -> Option<FamilyId> {
        let mut indexed = self.model.families.entries().filter(|(_, family)| family.index.is_some());
        indexed.next().filter(|_| indexed.next().is_none()).map(|(id, _)| id)
    }
}

/// What a place is called; the end of a process's text is called `end` where it has no label.
pub fn place_name(model: &Model, place: PlaceId) -> String {
    let declared = &model.places[place];
    let is_end = model.families.iter().any(|family| family.end == place);
    match declared.labels.first() {
        // Of a place that only some branches have a label for, the label is the shorter name.
        Some(label) if !crate::names::is_named(declared) => clean(label),
        None if is_end => "end".to_owned(),
        _ => clean(&declared.name),
    }
}

/// Terms, each so often, as a sum.
fn added(parts: &[(i64, String)]) -> String {
    let mut text = String::new();
    for (times, term) in parts {
        let factor = if times.abs() == 1 { String::new() } else { format!("{} * ", times.abs()) };
        let sign = match (text.is_empty(), *times < 0) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (false, true) => " - ",
        };
        text.push_str(&format!("{sign}{factor}{term}"));
    }
    text
}
