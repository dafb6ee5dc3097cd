//! What is run on programs: methods, and provers for every size.
//!
//! Each program is shown to a few of them, drawn by its seed, so that many programs are possible; over many programs each gets its share.

use driver::mistake::Mistake;
use driver::{every_n, methods};
use engine::methods::Declaration;
use engine::run::PropertyResult;
use engine::{Silent, Task};
use testkit::choices::Choices;

use driver::checker::Checker;

/// A method or prover.
#[derive(Clone, Copy, Debug)]
pub enum Respondent {
    /// A method, about one instance.
    Method(&'static Declaration),
    /// One of [`every_n::provers`].
    EverySize(usize),
}

impl Respondent {
    /// All methods.
    pub fn methods() -> Vec<Respondent> {
        methods::available().map(Respondent::Method).collect()
    }

    /// All provers for every size.
    pub fn every_size() -> Vec<Respondent> {
        (0..every_n::provers().len()).map(Respondent::EverySize).collect()
    }

    /// By its name on the command line.
    pub fn find(name: &str) -> Result<Respondent, String> {
        if let Some(at) = every_n::provers().iter().position(|(other, _)| *other == name) {
            return Ok(Respondent::EverySize(at));
        }
        Ok(Respondent::Method(methods::find(name)?.declaration()))
    }

    pub fn name(self) -> &'static str {
        match self {
            Respondent::Method(declaration) => declaration.name,
            Respondent::EverySize(at) => every_n::provers()[at].0,
        }
    }

    /// Its audited answers.
    pub fn check(self, task: &Task<'_>) -> Result<Vec<PropertyResult>, Box<Mistake>> {
        match self {
            Respondent::Method(declaration) => methods::checker(declaration.method).check(task, &Silent),
            Respondent::EverySize(at) => every_n::provers()[at].1.check(task, &Silent),
        }
    }
}

/// So many of them, the same ones for equal seeds.
pub fn draw(all: &[Respondent], n_drawn: usize, seed: u64) -> Vec<Respondent> {
    let mut choices = Choices::from_seed(seed ^ 0x00D4_A317);
    let mut left = all.to_vec();
    (0..n_drawn.min(all.len())).map(|_| left.swap_remove(choices.below(left.len()))).collect()
}
