//! Checks on many random programs, with a small program and its seed for each failure.

use std::panic::{AssertUnwindSafe, catch_unwind};

use model::Model;

use crate::choices::{Choices, shrink};
use crate::random::{self, RandomFeatures};
use crate::{Draft, beyond, write};

/// How many simpler programs are tried for a failing one.
const SHRINK_ATTEMPTS: usize = 3000;

/// Runs a check on random programs, `n_programs` of them, always the same ones.
///
/// `PIECEWISE_SEED` starts elsewhere, `PIECEWISE_CASES` sets how many there are: a failure says how to see it again.
///
/// # Panics
/// If the check fails (or panics), with the smallest program found on which it does.
pub fn for_each_program(n_programs: u64, shape: RandomFeatures, check: impl Fn(&Draft, &Model) -> Result<(), String>) {
    let setting = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let first = setting("PIECEWISE_SEED").unwrap_or(0);
    let count = setting("PIECEWISE_CASES").unwrap_or(n_programs);
    let verdict = |choices: &mut Choices| {
        let run = AssertUnwindSafe(|| {
            let (draft, model) = program(choices, shape);
            check(&draft, &model)
        });
        catch_unwind(run).unwrap_or_else(|panic| Err(message(panic.as_ref())))
    };
    for seed in first..first + count {
        let mut choices = Choices::from_seed(seed);
        let Err(complaint) = verdict(&mut choices) else { continue };
        let fails = |script: &[u32]| verdict(&mut Choices::replay(script)).is_err();
        let small = shrink(choices.script(), SHRINK_ATTEMPTS, fails);
        let small_complaint = verdict(&mut Choices::replay(&small)).err().unwrap_or(complaint);
        let (draft, model) = program(&mut Choices::replay(&small), shape);
        let (text, marks) = (write::program(&draft), beyond::show(&model));
        panic!("{small_complaint}\n\n{text}\n{marks}\nagain: PIECEWISE_SEED={seed} PIECEWISE_CASES=1");
    }
}

/// A random program, with the marks that its text cannot say.
fn program(choices: &mut Choices, shape: RandomFeatures) -> (Draft, Model) {
    let draft = random::draft(choices, shape);
    let mut model = draft.finish();
    beyond::mark(choices, shape.beyond, &mut model);
    (draft, model)
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_else(|| "a panic".to_string())
}
