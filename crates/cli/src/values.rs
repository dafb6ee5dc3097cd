//! The values of options: times, sizes of memory, numbers of threads, numbers of processes.
//!
//! In: what the user wrote. Out: the value, or a sentence that says how to write it.

use std::ffi::OsStr;
use std::time::Duration;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command};

/// Reads the name of a method; which ones there are, completions know, and whoever is given another one is told the nearest.
#[derive(Clone, Copy, Debug)]
pub struct MethodNames;

impl TypedValueParser for MethodNames {
    type Value = String;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value).map(|name| name.trim().to_owned())
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(driver::methods::available().map(|method| PossibleValue::new(method.name).help(method.answers))))
    }
}

/// Reads what `explain` is asked about; which codes and methods there are, completions know.
#[derive(Clone, Copy, Debug)]
pub struct Explained;

impl TypedValueParser for Explained {
    type Value = String;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        MethodNames.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let codes = lang::codes::all().map(|row| PossibleValue::new(row.code).help(row.title));
        Some(Box::new(MethodNames.possible_values()?.chain(codes)))
    }
}

/// Times beyond this are slips of the pen, and would overflow the clock.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 3600);

/// Reads `500ms`, `60s`, `5m`, `2h`, `1.5m`; a bare number counts seconds.
///
/// # Errors
/// What is no time.
pub fn duration(text: &str) -> Result<Duration, String> {
    const HOW: &str = "write a time as 500ms, 60s, 5m or 2h";
    let (number, unit) = split_unit(text);
    let seconds = match unit {
        "ms" => 0.001,
        "" | "s" | "sec" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(HOW.to_owned()),
    };
    let amount = positive(number).ok_or(HOW)? * seconds;
    Duration::try_from_secs_f64(amount)
        .ok()
        .filter(|&time| time <= LONGEST)
        .ok_or_else(|| "a time of at most a year".to_owned())
}

/// Reads `4G`, `512M`, `1.5GiB`, `100000K`; a bare number counts bytes.
///
/// # Errors
/// What is no size.
pub fn memory(text: &str) -> Result<u64, String> {
    const HOW: &str = "write a size as 512M or 4G";
    let (number, unit) = split_unit(text);
    let letters = unit.to_ascii_lowercase();
    let shift = match letters.trim_end_matches("ib").trim_end_matches('b') {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return Err(HOW.to_owned()),
    };
    let bytes = positive(number).ok_or(HOW)? * (1u64 << shift) as f64;
    if bytes < 1.0 {
        return Err("a size of at least one byte".to_owned());
    }
    if bytes < 2f64.powi(63) { Ok(bytes as u64) } else { Err("a size below 8 exabytes".to_owned()) }
}

/// Reads a number of threads.
///
/// # Errors
/// What is no number from 1 to 1024.
pub fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count @ 1..=1024) => Ok(count),
        _ => Err("a number of threads from 1 to 1024".to_owned()),
    }
}

/// Reads `Client=4`.
///
/// # Errors
/// What is no name with a number from 1 to 250.
pub fn instances(text: &str) -> Result<(String, usize), String> {
    const HOW: &str = "write a proctype and a number from 1 to 250, as in Client=4";
    let (name, count) = text.split_once('=').ok_or(HOW)?;
    match (name.trim(), count.trim().parse()) {
        ("", _) => Err(HOW.to_owned()),
        (name, Ok(count @ 1..=250)) => Ok((name.to_owned(), count)),
        _ => Err(HOW.to_owned()),
    }
}

/// Splits `1.5GiB` into `1.5` and `GiB`.
fn split_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    (&text[..end], text[end..].trim())
}

/// A number such as `12` or `1.5`, greater than zero. Exponents, signs and `inf` are not numbers here.
fn positive(text: &str) -> Option<f64> {
    let number: f64 = text.parse().ok()?;
    (number > 0.0 && number.is_finite()).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        let millis = |text| duration(text).map(|time| time.as_millis());
        assert_eq!(millis("500ms"), Ok(500));
        assert_eq!(millis("60s"), Ok(60_000));
        assert_eq!(millis("60"), Ok(60_000));
        assert_eq!(millis("1.5m"), Ok(90_000));
        assert_eq!(millis("2h"), Ok(7_200_000));
        for bad in ["", "s", "0s", "-5s", "5 days", "1e99s", "inf", "NaN", "99999999999h", "1..5s"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(memory("4G"), Ok(4 << 30));
        assert_eq!(memory("512M"), Ok(512 << 20));
        assert_eq!(memory("1.5KiB"), Ok(1536));
        assert_eq!(memory("100"), Ok(100));
        for bad in ["", "G", "0", "-1G", "4X", "0.1", "99999999999T"] {
            assert!(memory(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn threads_are_at_least_one() {
        assert_eq!(threads("2"), Ok(2));
        assert!(threads("0").is_err() && threads("-1").is_err() && threads("x").is_err() && threads("9999").is_err());
    }
}
