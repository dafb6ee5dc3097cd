//! The binary: everything is in the library, so that tests and `xtask` can ask it too.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main(std::env::args_os())
}
