//! Programs with procedures and stacks without bound: the method `pushdown`.
//!
//! In: a compiled program. Out: path edges of each process, and answers. `blocks.rs` is a set of activations; `thread.rs` is one process
//! while its path edges grow, `saturate.rs` the rules; `exposed.rs` is what processes show of their local stores; `round.rs` puts
//! questions to path edges, `certify.rs` writes them down as a proof; `runs.rs` searches for real runs, `refine.rs` says what to expose
//! next; `engine.rs` is the method, `counted.rs` measures it. It is after C. Flanagan and S. Qadeer, "Assume-guarantee model checking" (2003), section 3.

mod blocks;
mod certify;
mod counted;
mod engine;
mod exposed;
mod refine;
mod round;
mod runs;
mod saturate;
mod thread;

pub use counted::{PathEdges, path_edges};
pub use engine::{Config, Pushdown};
