//! Which instances of a program are asked for: `-N 5`, `-N 2..6`, `-D K=3`.
//!
//! In: the words of the call. Out: a [`Request`], from which each program takes its own list of parameter values. In a
//! sweep `a..b` both ends are included, as people who read the table of results expect; `a..=b` and `a..<b` say it aloud.

use std::fmt;

use lang::promela::Reading;

/// The parameter that `-N` gives.
pub const SIZE_PARAMETER: &str = "N";

/// More instances than anybody reads; a slip of the pen.
const MOST_INSTANCES: i128 = 1000;

/// The values of `N` that are asked for, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    first: i64,
    last: i64,
}

impl Sizes {
    /// One value.
    pub fn one(value: i64) -> Self {
        Sizes { first: value, last: value }
    }

    /// The values in order.
    pub fn values(self) -> impl Iterator<Item = i64> {
        self.first..=self.last
    }

    /// Whether more than one value is asked for.
    pub fn is_sweep(self) -> bool {
        self.first < self.last
    }

    /// Reads `5`, `2..6` (both ends included), `2..=6` or `2..<6`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let Some((first, last)) = text.split_once("..") else { return number(text).map(Sizes::one) };
        let (last, excluded) = match (last.strip_prefix('='), last.strip_prefix('<')) {
            (Some(last), _) => (last, 0),
            (_, Some(last)) => (last, 1),
            _ => (last, 0),
        };
        if last.is_empty() {
            return Err("a sweep has two ends: `-N 2..6` means 2, 3, 4, 5 and 6".to_owned());
        }
        let (first, last) = (number(first)?, number(last)?);
        let last = last.checked_sub(excluded).ok_or("the range is empty")?;
        match i128::from(last) - i128::from(first) + 1 {
            ..=0 => Err(format!("the range is empty: its first value is {first}, its last {last}")),
            count if count > MOST_INSTANCES => Err(format!("{count} instances; at most {MOST_INSTANCES} in one call")),
            _ => Ok(Sizes { first, last }),
        }
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_sweep() { write!(f, "{}..{}", self.first, self.last) } else { write!(f, "{}", self.first) }
    }
}

/// A parameter with the value that the call gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// The parameter.
    pub name: String,
    /// Its value.
    pub value: i64,
}

impl Given {
    /// Reads `NAME=VALUE`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once('=').ok_or("write NAME=VALUE, as in `-D K=3`")?;
        let name = name.trim();
        let starts_well = name.starts_with(|first: char| first.is_alphabetic() || first == '_');
        if !starts_well || !name.chars().all(|part| part.is_alphanumeric() || part == '_') {
            return Err(format!("`{name}` is not a name; write NAME=VALUE, as in `-D K=3`"));
        }
        Ok(Given { name: name.to_owned(), value: number(value.trim())? })
    }
}

/// What the call says about parameters and goals, for all its programs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    sizes: Option<Sizes>,
    given: Vec<Given>,
    goals: Vec<String>,
    reading: Reading,
}

impl Request {
    /// Puts `-N` and the `-D`s together.
    ///
    /// # Errors
    /// A parameter that is given twice.
    pub fn new(sizes: Option<Sizes>, given: Vec<Given>) -> Result<Self, String> {
        for (position, one) in given.iter().enumerate() {
            if given[..position].iter().any(|earlier| earlier.name == one.name) {
                return Err(format!("parameter `{}` is given twice", one.name));
            }
            if sizes.is_some() && one.name == SIZE_PARAMETER {
                return Err(format!("parameter `{SIZE_PARAMETER}` is given twice, by `-N` and by `-D`"));
            }
        }
        Ok(Request { sizes, given, ..Request::default() })
    }

    /// Adds what `--goal` says.
    pub fn with_goals(self, goals: &[String]) -> Self {
        Request { goals: goals.to_vec(), ..self }
    }

    /// Adds how programs in Promela are read.
    pub fn with_reading(self, reading: Reading) -> Self {
        Request { reading, ..self }
    }

    /// How programs in Promela are read.
    pub fn reading(&self) -> &Reading {
        &self.reading
    }

    /// What `--goal` says.
    pub fn goals(&self) -> &[String] {
        &self.goals
    }

    /// What `-N` gives.
    pub fn sizes(&self) -> Option<Sizes> {
        self.sizes
    }

    /// What the `-D`s give.
    pub fn given(&self) -> &[Given] {
        &self.given
    }
}

fn number(text: &str) -> Result<i64, String> {
    let digits = text.trim().replace('_', "");
    digits.parse().map_err(|_| match digits.trim_start_matches('-') {
        "" => "a number is missing".to_owned(),
        digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => format!("`{text}` is beyond 64 bits"),
        _ => format!("`{text}` is not a number"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(text: &str) -> String {
        Sizes::parse(text).map_or_else(|error| error, |sizes| format!("{:?}", sizes.values().collect::<Vec<_>>()))
    }

    #[test]
    fn a_sweep_includes_both_ends_unless_it_says_otherwise() {
        assert_eq!(sizes("5"), "[5]");
        assert_eq!(sizes("2..4"), "[2, 3, 4]");
        assert_eq!(sizes("2..=4"), "[2, 3, 4]");
        assert_eq!(sizes("2..<4"), "[2, 3]");
        assert_eq!(sizes("3..3"), "[3]");
    }

    #[test]
    fn what_is_no_number_or_no_range_is_refused_in_words() {
        assert_eq!(sizes(""), "a number is missing");
        assert_eq!(sizes("two"), "`two` is not a number");
        assert_eq!(sizes("99999999999999999999"), "`99999999999999999999` is beyond 64 bits");
        assert_eq!(sizes("2.."), "a sweep has two ends: `-N 2..6` means 2, 3, 4, 5 and 6");
        assert_eq!(sizes("6..2"), "the range is empty: its first value is 6, its last 2");
        assert_eq!(sizes("2..<-9223372036854775808"), "the range is empty");
        assert_eq!(sizes("1..9000000000000000000"), "9000000000000000000 instances; at most 1000 in one call");
    }

    #[test]
    fn a_parameter_is_given_once() {
        let given = |text| Given::parse(text).unwrap();
        assert_eq!(given("K = 3"), Given { name: "K".into(), value: 3 });
        assert!(Given::parse("K").is_err() && Given::parse("3=K").is_err() && Given::parse("K=x").is_err());
        assert!(Request::new(Some(Sizes::one(2)), vec![given("K=3")]).is_ok());
        assert!(Request::new(Some(Sizes::one(2)), vec![given("N=3")]).is_err());
        assert!(Request::new(None, vec![given("K=3"), given("K=3")]).is_err());
    }
}
