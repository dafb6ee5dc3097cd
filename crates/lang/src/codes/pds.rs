//! Codes of the front-end of pushdown systems (08).

use super::{Code, pds_row};

/// A line, word or number that is not what it should be.
pub const SYNTAX: &str = "E0801";
/// A shared state that there is not, or a range without symbols.
pub const RANGE: &str = "E0802";
/// Nothing says where the threads start.
pub const NO_INIT: &str = "E0803";
/// A state in `.init` or `.spec` that is not one.
pub const CONFIGURATION: &str = "E0804";
/// No number of shared states, or no thread.
pub const NO_SYSTEM: &str = "E0805";
/// A stack symbol outside the range of its thread.
pub const BEYOND: &str = "W0801";
/// Nothing says which states are bad.
pub const NO_SPEC: &str = "W0802";

/// The rows of this stage.
pub const CODES: &[Code] = &[
    pds_row!(
        "E0801",
        "a line of a pushdown system that is not read",
        "The first line of a `.pds` file is the number of shared states. A thread begins with `PDA a b`, the range of its stack \
         symbols, and has rules `q x -> q' w`, where `w` is `-` to pop the symbol, one symbol to overwrite it, or two to push: the \
         new top first. `#` begins a comment."
    ),
    pds_row!(
        "E0802",
        "a shared state that there is not, or an empty range",
        "Shared states are numbered from 0; there are as many as the first line says. The range in a `PDA` line goes \
         from the first stack symbol of the thread to its last."
    ),
    pds_row!(
        "E0803",
        "nothing says where the threads start",
        "Beside `system.pds` stands `system.init` with one state: the shared state, a `|`, and one stack for each thread, with `-` for \
         an empty one, as in `0|1,9,-`. Symbols of a stack are joined by `.`, the top first."
    ),
    pds_row!(
        "E0804",
        "a state that is not one",
        "A state in a `.init` or `.spec` file is a shared state, a `|`, and one stack for each thread, separated by commas: `20|23,19,-`. \
         Symbols of a stack are joined by `.`, the top first. In a `.spec` a stack says how a stack begins at its top, and `-` is any \
         stack; in a `.init` it is the whole stack, and `-` is the empty one."
    ),
    pds_row!(
        "E0805",
        "a pushdown system without states or threads",
        "A `.pds` file begins with the number of shared states and has at least one thread, which begins with `PDA a b`."
    ),
    pds_row!(
        "W0801",
        "a stack symbol outside the range of its thread",
        "Some published files give a range that leaves out symbols of their rules. Such a symbol is read as one more of the thread. \
         Write the range as it is to be sure that no number is a slip."
    ),
    pds_row!(
        "W0802",
        "nothing says which states are bad",
        "Beside `system.pds` may stand `system.spec` with a bad state; the question is whether it can be reached. Without it there is \
         nothing to ask but whether a step fails, and none can."
    ),
];
