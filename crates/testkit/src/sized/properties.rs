//! Random properties of programs of any size: invariants about one, two, neighbouring or all processes, and what happens again and again.

use super::{SizedKind, SizedWriter};

/// What temporal properties assume.
const UNDER: [&str; 8] = [
    "weak P[*]",
    "weak P[*]",
    "strong P[*]",
    "every P[*]",
    "strong P[*]@l0, weak P[*]",
    "strong P[*]@l1, every P[*]",
    "weak P[*] or strong P[*]@l0",
    "progress",
];

impl SizedWriter<'_> {
    /// So many invariants and half as many temporal properties, beside what is asked of every program.
    pub(super) fn random_properties(&mut self, n_invariants: usize) {
        self.line("  allow deadlock;");
        for at in 0..n_invariants {
            let body = self.invariant();
            self.line(format!("  invariant v{at}: {body};"));
        }
        for at in 0..n_invariants / 2 {
            let body = self.response();
            let mut under = self.pick(&UNDER);
            if self.has.home && under != "progress" {
                under += ", weak S";
            }
            self.line(format!("  property t{at}: {body} under {under};"));
        }
    }

    /// Something that a property says of a process.
    fn told(&mut self, who: &str) -> String {
        match self.choices.below(3) {
            0 => self.about(who),
            _ => self.stands(who),
        }
    }

    fn stands(&mut self, who: &str) -> String {
        let label = self.choices.below(self.n_labels);
        format!("P[{who}]@l{label}")
    }

    fn invariant(&mut self) -> String {
        match self.choices.below(9) {
            0..=2 => format!("forall i != j: !({} && {})", self.told("i"), self.told("j")),
            3 | 4 => format!("forall i: {} => {}", self.told("i"), self.told("i")),
            5 if self.is_in_order() => {
                let near = match self.kind {
                    SizedKind::Rings => "(i + 1) % N",
                    SizedKind::Trees => "if i == 0 then i else (i - 1) / 2",
                    _ => "if i == 0 then 0 else i - 1",
                };
                format!("forall i: !({} && {})", self.told("i"), self.told(near))
            }
            5 if self.has.g => format!("g == {} => exists i: {}", self.choices.below(2), self.told("i")),
            6 if self.has.p => format!("forall i: p == i => {}", self.told("i")),
            7 => format!("count(i: {}) <= {}", self.told("i"), self.choices.below(2) + 1),
            8 if self.is_in_order() => {
                let end = self.pick(&["0", "N - 1"]);
                format!("!({})", self.told(&end))
            }
            _ => format!("{} i: {}", self.choices.pick(&["exists", "forall"]), self.told("i")),
        }
    }

    fn response(&mut self) -> String {
        match self.choices.below(6) {
            0 | 1 => format!("forall i: {} ~> {}", self.stands("i"), self.stands("i")),
            2 => format!("forall i: always eventually {}", self.stands("i")),
            3 => format!("forall i: {} ~> ({})", self.stands("i"), self.about("i")),
            4 => format!("always eventually exists i: {}", self.stands("i")),
            _ => format!("forall i: always eventually !{}", self.stands("i")),
        }
    }
}
