//! The value of `--format`: `human`, `sarif=out.sarif`, or a format that another command has.
//!
//! In: a word of the call. Out: a format, with its file where it has one, or a sentence that says how to write it.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Command, ValueEnum};

use crate::options::CheckFormat;

/// One format of a call, and the file that it goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requested {
    /// The format.
    pub format: CheckFormat,
    /// Its own file.
    pub file: Option<PathBuf>,
}

impl Requested {
    /// Reads `FORMAT` or `FORMAT=FILE`.
    ///
    /// # Errors
    /// A format that there is not, or an empty file name.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, file) = match text.split_once('=') {
            Some((name, file)) => (name, Some(file)),
            None => (text, None),
        };
        let format = CheckFormat::from_str(name.trim(), true).map_err(|_| {
            let names: Vec<String> = names::<CheckFormat>().map(|value| value.get_name().to_owned()).collect();
            format!("there is no format `{name}`; write one of {}, or FORMAT=FILE", names.join(", "))
        })?;
        match file {
            Some("") => Err(format!("a file is missing after `{name}=`")),
            file => Ok(Requested { format, file: file.map(PathBuf::from) }),
        }
    }
}

/// Reads the formats of `check`; completions know their names.
#[derive(Clone, Copy, Debug)]
pub struct Requests;

impl TypedValueParser for Requests {
    type Value = Requested;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<Requested, clap::Error> {
        let parse = |text: String| Requested::parse(&text);
        clap::builder::StringValueParser::new().try_map(parse).parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(names::<CheckFormat>()))
    }
}

/// The long help of `check --format`.
pub fn help() -> String {
    let mut text = String::from(
        "Which formats, separated by commas. One of them may go to the standard output, or to the file of -o; each other has its \
         file: human,sarif=out.sarif,junit=out.xml. human,github may share the standard output.\n",
    );
    for value in names::<CheckFormat>() {
        let what = value.get_help().map(ToString::to_string).unwrap_or_default();
        text += &format!("  {:<8} {what}\n", value.get_name());
    }
    text
}

/// Reads one of the formats of a command that has few. Of formats that only `check` has it says so.
pub fn one_of<F: ValueEnum + Clone + Send + Sync + 'static>() -> impl TypedValueParser<Value = F> {
    let is_own = |name: &str| F::from_str(name, true).is_ok();
    let others = names::<CheckFormat>().filter(move |value| !is_own(value.get_name())).map(|value| value.hide(true));
    let all: Vec<PossibleValue> = names::<F>().chain(others).collect();
    PossibleValuesParser::new(all).try_map(|name| {
        F::from_str(&name, true).map_err(|_| {
            let own: Vec<String> = names::<F>().map(|value| value.get_name().to_owned()).collect();
            format!("`{name}` is a format of `piecewise check` only; this command has {}", own.join(", "))
        })
    })
}

/// The formats, with what they are for.
fn names<F: ValueEnum + 'static>() -> impl Iterator<Item = PossibleValue> {
    F::value_variants().iter().filter_map(ValueEnum::to_possible_value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Format;

    #[test]
    fn a_format_may_have_a_file() {
        let read = |text| Requested::parse(text).map(|one| (one.format, one.file));
        assert_eq!(read("human"), Ok((CheckFormat::Human, None)));
        assert_eq!(read("SARIF=a=b.sarif"), Ok((CheckFormat::Sarif, Some("a=b.sarif".into()))));
        assert_eq!(read("junit="), Err("a file is missing after `junit=`".to_owned()));
        assert_eq!(
            read("xml"),
            Err("there is no format `xml`; write one of human, json, jsonl, csv, sarif, junit, github, or FORMAT=FILE"
                .to_owned())
        );
    }

    #[test]
    fn formats_of_other_commands_are_refused_in_words() {
        let parser = one_of::<Format>();
        let read = |text: &str| parser.parse_ref(&Command::new("x"), None, OsStr::new(text));
        assert!(read("json").is_ok());
        let error = read("sarif").map(|_| ()).unwrap_err().to_string();
        assert!(
            error.contains("`sarif` is a format of `piecewise check` only; this command has human, json"),
            "{error}"
        );
    }
}
