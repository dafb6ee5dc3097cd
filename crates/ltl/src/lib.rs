//! Linear-time formulas over opaque atoms, and their automata.
//!
//! [`formula`]: formulas as shared nodes. [`syntax`]: texts to formulas and back, in many spellings. [`simplify`]: smaller
//! equivalent formulas. [`mod@translate`]: formulas to automata ([`automaton`]), small ones. [`lasso`]: words that go round for
//! ever, and the truth of formulas on them, without automata. [`hoa`] and [`dot`]: automata as text. What an atom means is known outside.

mod bits;
mod classes;
mod components;
mod diagram;
mod graph;
mod implication;
mod member;
mod normal;
mod reduce;
mod tableau;

pub mod automaton;
pub mod dot;
pub mod formula;
pub mod hoa;
pub mod lasso;
pub mod simplify;
pub mod syntax;
pub mod translate;

pub use automaton::{Automaton, Cube, Edge, Label, State, StateId};
pub use bits::Bits;
pub use classes::Class;
pub use formula::{Atom, AtomId, Atoms, Binary, Formula, FormulaId, Formulas, Unary};
pub use lasso::{Lasso, Letter};
pub use simplify::Simplifier;
pub use translate::{Acceptance, Translation, reduce_automaton, translate};
