//! `man`: manual pages, made from the table of options.

use base::diagnostic::nearest_name;

use crate::failure::Failure;
use crate::options::{self, ManOptions};
use crate::status::ExitStatus;
use crate::terminal;

/// Prints the manual page of the tool or of one command.
pub fn man(options: &ManOptions) -> Result<ExitStatus, Failure> {
    let mut table = options::command();
    table.build();
    let page_of = match &options.command {
        None => table,
        Some(name) => find(&table, name)?,
    };
    let mut page = Vec::new();
    clap_mangen::Man::new(page_of).render(&mut page)?;
    terminal::print(&String::from_utf8_lossy(&page))?;
    Ok(ExitStatus::AsExpected)
}

fn find(table: &clap::Command, name: &str) -> Result<clap::Command, Failure> {
    let found = table.find_subcommand(name).cloned();
    found.ok_or_else(|| {
        let names = || table.get_subcommands().map(clap::Command::get_name);
        match nearest_name(name, names()) {
            Some(near) => format!("there is no command `{name}`; did you mean `{near}`?").into(),
            None => {
                let all = names().collect::<Vec<_>>().join(", ");
                format!("there is no command `{name}`; there are: {all}").into()
            }
        }
    })
}
