//! `host`: carries out what another host asks for on the standard input.

use std::io::{self, BufReader};

use hosts::call::{self, Request, Unpacked};

use crate::failure::Failure;
use crate::options::Command;
use crate::status::ExitStatus;
use crate::{arguments, files, terminal};

/// Reads a request and does what it asks for; ends when the input does.
pub fn run() -> Result<ExitStatus, Failure> {
    let mut input = BufReader::new(io::stdin());
    let request = Request::read(&mut input)?;
    if request.words.is_empty() {
        terminal::print(&format!("{}\n", call::version()))?;
        return Ok(ExitStatus::AsExpected);
    }
    let place = Unpacked::new()?;
    let words = request.unpack(place.path())?;
    let directory = place.path().to_owned();
    call::end_with_input(input, move || {
        // Nobody is left who could want it.
        std::fs::remove_dir_all(&directory).ok();
        files::exit_at_once(ExitStatus::Undecided.code().into());
    });
    let arguments = std::iter::once("piecewise".to_owned()).chain(words);
    let mut cli = arguments::parse(arguments.map(Into::into)).map_err(|error| Failure::from(error.to_string()))?;
    match &mut cli.command {
        Command::Check(options) => options.hosts.secret = request.secret,
        Command::Explore(options) => options.hosts.secret = request.secret,
        _ => {}
    }
    super::run(&cli)
}
