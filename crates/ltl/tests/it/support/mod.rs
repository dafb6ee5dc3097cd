//! Random formulas and words, and the formula lists, for the tests of this crate.

#![allow(dead_code, reason = "each test file uses a part of it")]

use base::SourceFile;
use ltl::{Atoms, Binary, Bits, Formula, FormulaId, Formulas, Lasso, Unary, syntax};
use std::path::Path;

/// Steele, Lea and Flood's SplitMix: small, and good enough for tests.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
}

/// How many cases a test runs: `PIECEWISE_CASES`, or what the test asks for; `PIECEWISE_SEED` says where to start.
pub fn seeds(n_cases: u64) -> std::ops::Range<u64> {
    let setting = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let first = setting("PIECEWISE_SEED").unwrap_or(0);
    first..first + setting("PIECEWISE_CASES").unwrap_or(n_cases)
}

pub fn names(n_atoms: usize) -> Atoms {
    let mut atoms = Atoms::new();
    for atom in 0..n_atoms {
        atoms.named(&format!("p{atom}"));
    }
    atoms
}

/// A random formula with about so many operators.
pub fn formula(random: &mut Random, formulas: &mut Formulas, atoms: &Atoms, size: usize) -> FormulaId {
    if size == 0 {
        return match random.below(12) {
            0 => formulas.constant(true),
            1 => formulas.constant(false),
            _ => {
                let atom = atoms.ids().nth(random.below(atoms.len())).expect("an atom");
                formulas.atom(atom)
            }
        };
    }
    let left_size = random.below(size);
    match random.below(16) {
        0 => {
            let part = formula(random, formulas, atoms, size - 1);
            formulas.unary(Unary::Not, part)
        }
        1 => {
            let part = formula(random, formulas, atoms, size - 1);
            formulas.unary(Unary::Next, part)
        }
        2 | 3 => {
            let part = formula(random, formulas, atoms, size - 1);
            formulas.unary(Unary::Always, part)
        }
        4 | 5 => {
            let part = formula(random, formulas, atoms, size - 1);
            formulas.unary(Unary::Eventually, part)
        }
        choice => {
            let left = formula(random, formulas, atoms, left_size);
            let right = formula(random, formulas, atoms, size - 1 - left_size);
            match choice {
                6 | 7 => formulas.and([left, right]),
                8 | 9 => formulas.or([left, right]),
                10 => formulas.binary(Binary::Until, left, right),
                11 => formulas.binary(Binary::WeakUntil, left, right),
                12 => formulas.binary(Binary::Releases, left, right),
                13 => formulas.binary(Binary::StrongReleases, left, right),
                14 => formulas.binary(Binary::Implies, left, right),
                _ => {
                    let operator = [Binary::Iff, Binary::Xor, Binary::LeadsTo][random.below(3)];
                    formulas.binary(operator, left, right)
                }
            }
        }
    }
}

/// A random word with a short stem and a short loop.
pub fn word(random: &mut Random, n_atoms: usize) -> Lasso {
    let mut letters =
        |n: usize| -> Vec<Bits> { (0..n).map(|_| (0..n_atoms).filter(|_| random.below(2) == 1).collect()).collect() };
    let (stem, cycle) = (letters(3), letters(4));
    let (n_stem, n_cycle) = (random.below(4), 1 + random.below(4));
    Lasso::new(stem[..n_stem].to_vec(), cycle[..n_cycle].to_vec()).expect("a loop")
}

pub fn show(formulas: &Formulas, atoms: &Atoms, id: FormulaId) -> String {
    syntax::print(formulas, atoms, id, syntax::Style::Spot)
}

pub fn parse(formulas: &mut Formulas, atoms: &mut Atoms, text: &str) -> FormulaId {
    syntax::parse(&SourceFile::new("formula", text), formulas, atoms)
        .unwrap_or_else(|errors| panic!("{text}: {errors:?}"))
}

/// The formulas of the published lists; empty, in words, where they are not there.
pub fn lists() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/ltl");
    let mut texts = Vec::new();
    for name in ["dwyer_patterns", "etessami_holzmann", "pelanek_beem"] {
        match std::fs::read_to_string(folder.join(format!("{name}.ltl"))) {
            Ok(text) => texts.extend(text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned)),
            Err(_) => testkit::skip::skipped(testkit::skip::Needs::Data("ltl")),
        }
    }
    texts
}

/// Whether a formula is in negation normal form.
pub fn is_normal(formulas: &Formulas, root: FormulaId) -> bool {
    formulas.with_parts(root).into_iter().all(|part| match formulas.get(part) {
        Formula::Unary(Unary::Not, inner) => matches!(formulas.get(*inner), Formula::Atom(_)),
        Formula::Binary(operator, ..) => {
            !matches!(operator, Binary::Implies | Binary::Iff | Binary::Xor | Binary::LeadsTo)
        }
        _ => true,
    })
}
