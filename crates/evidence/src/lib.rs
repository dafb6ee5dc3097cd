//! Evidence: what a verdict carries so that the checker can check it.
//!
//! [`trace`]: a run that shows something, replayed on `model::eval` by `audit`. [`exploration`]: what a search of the whole
//! product saw. [`certificate`]: local proofs; [`ranks`]: those of temporal properties, about the automata of [`plain`]. [`pushdown`]: those of
//! programs with procedures; [`views`]: those for every size, [`crowd`] of temporal properties. [`scope`]: for which sizes they are proofs. [`itf`]: traces on disk. [`proof_file`]: local proofs on disk.

pub mod certificate;
pub mod counting;
pub mod crowd;
pub mod exploration;
pub mod fine;
pub mod implied;
pub mod itf;
pub mod plain;
pub mod proof_file;
pub mod propagation;
pub mod pushdown;
pub mod ranks;
pub mod rings;
pub mod scope;
pub mod trace;
pub mod views;

pub use certificate::Certificate;
pub use exploration::{Exploration, SymbolicSearch};
pub use scope::Scope;
pub use trace::{Trace, TraceEnd};

/// Why a verdict is what it is.
#[derive(Clone, Debug, PartialEq)]
pub enum Evidence {
    /// A run: a counterexample, or the witness of a `reachable`.
    Trace(Trace),
    /// The whole product was searched to the end, and nothing to the contrary was found.
    Exploration(Exploration),
    /// The same with sets of states as decision diagrams.
    Symbolic(SymbolicSearch),
    /// So much of the whole product was searched to the end as decides the question, and nothing to the contrary was found:
    /// what was left out takes independent steps in another order (`docs/reduction.md`).
    Reduced(Exploration),
    /// Invariants of a few processes each, which `audit` checks obligation by obligation.
    Certificate(Box<Certificate>),
}

impl Evidence {
    /// For which sizes it is evidence.
    pub fn scope(&self) -> Scope {
        match self {
            Evidence::Certificate(proof) => proof.scope.clone(),
            Evidence::Trace(_) | Evidence::Exploration(_) | Evidence::Symbolic(_) | Evidence::Reduced(_) => {
                Scope::Instance
            }
        }
    }
}
