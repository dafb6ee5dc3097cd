//! `completions`: a script for a shell, made from the table of options.
//!
//! The script knows commands, options, methods, formats and files by itself. For the names of properties it asks the tool, which reads the programs that
//! already stand on the line (`names`); what the generator writes for options that take a property is replaced by that question. In bash, of several
//! methods or formats with commas between them the last one is completed.

use clap_complete::Shell;

use crate::failure::Failure;
use crate::options::{self, CompletionsOptions};
use crate::status::ExitStatus;
use crate::terminal;

/// The options that take the name of a property.
const TAKE_PROPERTIES: [&str; 2] = ["--property", "--until"];

/// The options that take several words with commas between them.
const TAKE_LISTS: [&str; 3] = ["--method", "--format", "--deny"];

const BASH: &str = r#"
_piecewise_list() {
    local before=""
    [[ $cur == *,* ]] && before="${cur%,*},"
    COMPREPLY=($(compgen -P "$before" -W "$1" -- "${cur##*,}"))
}
_piecewise_properties() {
    local word
    for word in "${COMP_WORDS[@]}"; do
        [[ -f $word ]] && piecewise names "$word" 2>/dev/null
    done
}
"#;

const ZSH: &str = r#"
_piecewise_properties() {
    local -a properties
    local word
    for word in $words; do
        [[ -f $word ]] && properties+=(${(f)"$(piecewise names $word 2>/dev/null)"})
    done
    compadd -a properties
}
"#;

const FISH: &str = r#"
function __piecewise_properties
    for word in (commandline -opc)
        test -f $word; and piecewise names $word 2>/dev/null
    end
end
"#;

/// Prints the completion script for a shell.
pub fn run(options: &CompletionsOptions) -> Result<ExitStatus, Failure> {
    let mut table = options::command();
    let name = table.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut table, name, &mut script);
    terminal::print(&with_properties(options.shell, &String::from_utf8_lossy(&script)))?;
    Ok(ExitStatus::AsExpected)
}

/// The script, in which names of properties are asked for where a shell can.
fn with_properties(shell: Shell, script: &str) -> String {
    match shell {
        Shell::Bash => {
            let files = "COMPREPLY=($(compgen -f \"${cur}\"))";
            let asked = "COMPREPLY=($(compgen -W \"$(_piecewise_properties)\" -- \"${cur}\"))";
            let mut out = BASH.trim_start().to_owned();
            let (mut is_property, mut is_list) = (false, false);
            for line in script.lines() {
                let word = line.trim();
                out += &match (is_property, is_list) {
                    (true, _) => line.replace(files, asked),
                    (_, true) => {
                        line.replace("COMPREPLY=($(compgen -W ", "_piecewise_list ").replace(" -- \"${cur}\"))", "")
                    }
                    _ => line.to_owned(),
                };
                out += "\n";
                let follows = |options: &[&str]| options.iter().any(|option| word.strip_suffix(')') == Some(option));
                (is_property, is_list) = (follows(&TAKE_PROPERTIES), follows(&TAKE_LISTS));
            }
            out
        }
        Shell::Zsh => {
            let takes = |line: &str| TAKE_PROPERTIES.iter().any(|option| line.contains(&format!("{option}=[")));
            let line = |line: &str| match takes(line) {
                true => line.replace(":_default'", ":_piecewise_properties'"),
                false => line.to_owned(),
            };
            // The first line says what the script completes.
            let mut lines = script.lines();
            let first = lines.next().unwrap_or_default();
            format!("{first}\n{ZSH}{}\n", lines.map(line).collect::<Vec<_>>().join("\n"))
        }
        Shell::Fish => {
            let takes = |line: &str| {
                let long = |option: &str| format!(" -l {} ", option.trim_start_matches('-'));
                line.starts_with("complete ") && TAKE_PROPERTIES.iter().any(|option| line.contains(&long(option)))
            };
            let line = |line: &str| match takes(line) {
                true => format!("{line} -f -a \"(__piecewise_properties)\""),
                false => line.to_owned(),
            };
            format!("{}{}\n", FISH.trim_start(), script.lines().map(line).collect::<Vec<_>>().join("\n"))
        }
        _ => script.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_ask_for_properties() {
        for (shell, asked, n_asked) in [
            (Shell::Bash, "$(_piecewise_properties)", 3),
            (Shell::Zsh, ":_piecewise_properties'", 3),
            (Shell::Fish, "-a \"(__piecewise_properties)\"", 3),
        ] {
            let mut table = options::command();
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut table, "piecewise", &mut script);
            let script = with_properties(shell, &String::from_utf8_lossy(&script));
            // `check --property`, `replay --property` and `sim --until`.
            assert_eq!(script.matches(asked).count(), n_asked, "{shell}");
        }
    }
}
