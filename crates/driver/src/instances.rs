//! Which instances of a program are asked for: `-N 5`, `-N 2..6`, `-N 2,4,8`, `-N 2..64:*2`, `-D K=3`, `-D K=1..4`.
//!
//! In: the words of the call. Out: a [`Request`], from which each program takes its own list of parameter values. In a
//! sweep `a..b` both ends are included, as people who read the table of results expect; `a..=b` and `a..<b` say it aloud.

use std::fmt;

use lang::promela::Reading;

/// The parameter that `-N` gives.
pub const SIZE_PARAMETER: &str = "N";

/// More instances than a person reads; a slip of the pen.
const MOST_INSTANCES: i128 = 1000;

/// The values of a parameter that are asked for, in order; at least one, none twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepSizes {
    values: Vec<i64>,
    /// As the user wrote them.
    text: String,
}

impl SweepSizes {
    /// One value.
    pub fn one(value: i64) -> Self {
        SweepSizes { values: vec![value], text: value.to_string() }
    }

    /// The values in order.
    pub fn values(&self) -> impl Iterator<Item = i64> + '_ {
        self.values.iter().copied()
    }

    /// Whether more than one value is asked for.
    pub fn is_sweep(&self) -> bool {
        self.values.len() > 1
    }

    /// Reads `5`, `2..6` (both ends included), `2..=6`, `2..<6`, `2..20:3` (every third), `2..64:*2` (each twice the one before), and several of
    /// these with commas between them.
    ///
    /// # Errors
    /// What is no such list, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut values: Vec<i64> = Vec::new();
        for part in text.split(',') {
            for value in part_values(part)? {
                if !values.contains(&value) {
                    values.push(value);
                }
            }
        }
        match i128::try_from(values.len()) {
            Ok(count) if count <= MOST_INSTANCES => Ok(SweepSizes { values, text: text.trim().to_owned() }),
            _ => Err(too_many(values.len() as i128)),
        }
    }
}

/// The values that one part of a list means.
fn part_values(text: &str) -> Result<Vec<i64>, String> {
    let Some((first, rest)) = text.split_once("..") else { return number(text).map(|value| vec![value]) };
    let (last, step) = match rest.split_once(':') {
        Some((last, step)) => (last, SweepStep::parse(step)?),
        None => (rest, SweepStep::Add(1)),
    };
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
    if last < first {
        return Err(format!("the range is empty: its first value is {first}, its last {last}"));
    }
    if matches!(step, SweepStep::Multiply(_)) && first < 1 {
        return Err(format!("a sweep that multiplies starts at 1 or more, not at {first}"));
    }
    let count = match step {
        SweepStep::Add(by) => (i128::from(last) - i128::from(first)) / i128::from(by) + 1,
        SweepStep::Multiply(_) => 1,
    };
    if count > MOST_INSTANCES {
        return Err(too_many(count));
    }
    Ok(std::iter::successors(Some(first), |&value| step.after(value)).take_while(|&value| value <= last).collect())
}

fn too_many(count: i128) -> String {
    format!("{count} instances; at most {MOST_INSTANCES} in one call")
}

/// From one value of a sweep to the next.
#[derive(Clone, Copy, Debug)]
enum SweepStep {
    Add(i64),
    Multiply(i64),
}

impl SweepStep {
    /// Reads `3` or `*2`.
    fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (digits, least) = match text.strip_prefix('*') {
            Some(factor) => (factor, 2),
            None => (text, 1),
        };
        let by = number(digits)?;
        if by < least {
            return Err(format!("a step `:{text}` leads nowhere; write `2..20:3` or `2..64:*2`"));
        }
        Ok(if least == 2 { SweepStep::Multiply(by) } else { SweepStep::Add(by) })
    }

    fn after(self, value: i64) -> Option<i64> {
        match self {
            SweepStep::Add(by) => value.checked_add(by),
            SweepStep::Multiply(by) => value.checked_mul(by),
        }
    }
}

impl fmt::Display for SweepSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.text)
    }
}

/// A parameter with the values that the call gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenParameter {
    /// The parameter.
    pub name: String,
    /// Its values.
    pub values: SweepSizes,
}

impl GivenParameter {
    /// Reads `NAME=VALUE`, or a sweep: `NAME=2..4`.
    ///
    /// # Errors
    /// What is no name, or no list of numbers.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once('=').ok_or("write NAME=VALUE, as in `-D K=3`")?;
        let name = name.trim();
        let starts_well = name.starts_with(|first: char| first.is_alphabetic() || first == '_');
        if !starts_well || !name.chars().all(|part| part.is_alphanumeric() || part == '_') {
            return Err(format!("`{name}` is not a name; write NAME=VALUE, as in `-D K=3`"));
        }
        Ok(GivenParameter { name: name.to_owned(), values: SweepSizes::parse(value.trim())? })
    }
}

/// What the call says about parameters and goals, for all its programs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    sizes: Option<SweepSizes>,
    given: Vec<GivenParameter>,
    goals: Vec<String>,
    reading: Reading,
    /// Whether sizes that a text asks for are left alone.
    for_every_size: bool,
}

impl Request {
    /// Puts `-N` and the `-D`s together.
    ///
    /// # Errors
    /// A parameter that is given twice.
    pub fn new(sizes: Option<SweepSizes>, given: Vec<GivenParameter>) -> Result<Self, String> {
        for (position, one) in given.iter().enumerate() {
            if given[..position].iter().any(|earlier| earlier.name == one.name) {
                return Err(format!("parameter `{}` is given twice", one.name));
            }
            if sizes.is_some() && one.name == SIZE_PARAMETER {
                return Err(format!("parameter `{SIZE_PARAMETER}` is given twice, by `-N` and by `-D`"));
            }
        }
        let counts = given.iter().map(|one| &one.values).chain(&sizes).map(|sizes| sizes.values.len() as i128);
        match counts.product() {
            count if count > MOST_INSTANCES => Err(too_many(count)),
            _ => Ok(Request { sizes, given, ..Request::default() }),
        }
    }

    /// Adds what `--goal` says.
    pub fn with_goals(self, goals: &[String]) -> Self {
        Request { goals: goals.to_vec(), ..self }
    }

    /// Adds how programs in Promela are read.
    pub fn with_reading(self, reading: Reading) -> Self {
        Request { reading, ..self }
    }

    /// Leaves alone the sizes that texts ask for, as `--all-n` has to.
    pub fn for_every_size(self, for_every_size: bool) -> Self {
        Request { for_every_size, ..self }
    }

    /// Whether the sizes that texts ask for are checked where the call gives none.
    pub fn takes_own_sizes(&self) -> bool {
        !self.for_every_size
    }

    /// How programs in Promela are read.
    pub fn reading(&self) -> &Reading {
        &self.reading
    }

    /// What `--goal` says.
    pub fn goals(&self) -> &[String] {
        &self.goals
    }

    /// The parameters that the call gives, with their values; `-N` comes last.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, &SweepSizes)> {
        let given = self.given.iter().map(|one| (one.name.as_str(), &one.values));
        given.chain(self.sizes.iter().map(|sizes| (SIZE_PARAMETER, sizes)))
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
        SweepSizes::parse(text).map_or_else(|error| error, |sizes| format!("{:?}", sizes.values().collect::<Vec<_>>()))
    }

    #[test]
    fn a_sweep_includes_both_ends_unless_it_says_otherwise() {
        assert_eq!(sizes("5"), "[5]");
        assert_eq!(sizes("2..4"), "[2, 3, 4]");
        assert_eq!(sizes("2..=4"), "[2, 3, 4]");
        assert_eq!(sizes("2..<4"), "[2, 3]");
        assert_eq!(sizes("3..3"), "[3]");
        assert_eq!(sizes("2,4,8"), "[2, 4, 8]");
        assert_eq!(sizes("2..4,9, 3"), "[2, 3, 4, 9]");
        assert_eq!(sizes("2..64:*2"), "[2, 4, 8, 16, 32, 64]");
        assert_eq!(sizes("2..9:3"), "[2, 5, 8]");
    }

    #[test]
    fn what_is_no_number_or_no_range_is_refused_in_words() {
        assert_eq!(sizes(""), "a number is missing");
        assert_eq!(sizes("2,"), "a number is missing");
        assert_eq!(sizes("2..9:0"), "a step `:0` leads nowhere; write `2..20:3` or `2..64:*2`");
        assert_eq!(sizes("2..9:*1"), "a step `:*1` leads nowhere; write `2..20:3` or `2..64:*2`");
        assert_eq!(sizes("0..9:*2"), "a sweep that multiplies starts at 1 or more, not at 0");
        assert_eq!(sizes("two"), "`two` is not a number");
        assert_eq!(sizes("99999999999999999999"), "`99999999999999999999` is beyond 64 bits");
        assert_eq!(sizes("2.."), "a sweep has two ends: `-N 2..6` means 2, 3, 4, 5 and 6");
        assert_eq!(sizes("6..2"), "the range is empty: its first value is 6, its last 2");
        assert_eq!(sizes("2..<-9223372036854775808"), "the range is empty");
        assert_eq!(sizes("1..9000000000000000000"), "9000000000000000000 instances; at most 1000 in one call");
    }

    #[test]
    fn a_parameter_is_given_once() {
        let given = |text| GivenParameter::parse(text).unwrap();
        assert_eq!(given("K = 3"), GivenParameter { name: "K".into(), values: SweepSizes::one(3) });
        assert!(
            GivenParameter::parse("K").is_err()
                && GivenParameter::parse("3=K").is_err()
                && GivenParameter::parse("K=x").is_err()
        );
        assert!(Request::new(Some(SweepSizes::one(2)), vec![given("K=3")]).is_ok());
        assert!(Request::new(Some(SweepSizes::one(2)), vec![given("N=3")]).is_err());
        assert!(Request::new(None, vec![given("K=3"), given("K=3")]).is_err());
        assert_eq!(given("Floors=2..4").values.values().collect::<Vec<_>>(), [2, 3, 4]);
        assert!(Request::new(Some(SweepSizes::parse("1..100").unwrap()), vec![given("K=1..11")]).is_err());
    }
}
