//! Properties: invariants, reachability, races, temporal formulas.
//!
//! Several invariants are written for each program, since most random ones are false: the test picks among them by what brute force says.

use super::{ExprPlace, ExprScope, Home, Over, ProgramWriter, Scalar};

/// How many invariants there are to pick from.
const N_INVARIANTS: usize = 7;

/// Brute force guesses the truth of each temporal operator: so many are affordable.
const MOST_TEMPORAL: usize = 3;

impl ProgramWriter<'_> {
    pub(super) fn properties(&mut self) {
        for at in 0..N_INVARIANTS {
            let body = self.invariant();
            self.line(&format!("invariant i{at}: {body};"));
        }
        let scope = ExprScope::new(ExprPlace::Property);
        let body = self.truth(&scope, 2);
        self.line(&format!("reachable r0: {body};"));
        let races: Vec<String> = self
            .variables
            .iter()
            .filter(|variable| variable.home == Home::Shared)
            .filter(|variable| !matches!(variable.scalar, Scalar::Lock | Scalar::Semaphore(_)))
            .map(|variable| variable.name.clone())
            .collect();
        if let Some(name) = self.one_of(races) {
            self.line(&format!("race_free {name};"));
        }
        if self.profile.meetings > 0 {
            // What is received at a rendezvous.
            self.line("race_free rec.f;");
        }
        if self.profile.n_temporal > 0 && self.choices.chance(self.profile.fairness_forms) {
            self.fairness_set();
        }
        for at in 0..self.profile.n_temporal {
            let formula = self.temporal();
            let under = self.under();
            self.line(&format!("property t{at}: {formula}{under};"));
        }
    }

    /// An invariant of one of the forms in which people write them.
    fn invariant(&mut self) -> String {
        let scope = ExprScope::new(ExprPlace::Property);
        let families = self.indexed();
        let family = *self.choices.pick(&families);
        let name = self.families[family].name;
        let one = scope.with("q", Over::Family(family));
        let two = one.with("r", Over::Family(family));
        match self.choices.below(8) {
            0 => format!("forall q in {name}: !({} && {})", self.atom(&one), self.atom(&one)),
            1 => format!("forall q in {name}: {} => {}", self.atom(&one), self.atom(&one)),
            2 => format!("forall q != r in {name}: !({} && {})", self.atom(&two), self.atom(&two)),
            3 => format!("{} => {}", self.atom(&scope), self.atom(&scope)),
            4 => format!("!({} && {})", self.atom(&scope), self.atom(&scope)),
            5 => format!("exists q in {name}: {}", self.truth(&one, 1)),
            6 => self.truth(&scope, 2),
            _ => format!("count(q in {name}: {}) <= {}", self.atom(&one), self.choices.below(3)),
        }
    }

    /// A temporal formula, now and then for all processes of a family.
    fn temporal(&mut self) -> String {
        let scope = ExprScope::new(ExprPlace::Property);
        let mut left = MOST_TEMPORAL;
        if self.profile.responses > 0
            && self.choices.chance(self.profile.responses)
            && let Some(response) = self.response()
        {
            return response;
        }
        if self.choices.chance(50) {
            return self.formula(&scope, 3, &mut left);
        }
        let families = self.indexed();
        let family = *self.choices.pick(&families);
        let quantifier = if self.choices.chance(80) { "forall" } else { "exists" };
        let inner = scope.with("q", Over::Family(family));
        let body = match self.choices.chance(40) {
            true => format!("{} ~> {}", parenthesised(&self.atom(&inner)), parenthesised(&self.atom(&inner))),
            false => self.formula(&inner, 2, &mut left),
        };
        format!("{quantifier} q in {}: {body}", self.families[family].name)
    }

    /// A process gets from one of its places to another, or to it again and again.
    fn response(&mut self) -> Option<String> {
        let families = self.indexed();
        let family = *self.choices.pick(&families);
        let own = |place: &ExprPlace| *place == ExprPlace::Family(family);
        let labels: Vec<String> =
            self.labels.iter().filter(|(place, _)| own(place)).map(|(_, label)| label.clone()).collect();
        let (from, to) = (self.one_of(labels.clone())?, self.one_of(labels)?);
        let name = self.families[family].name;
        Some(match self.choices.below(4) {
            0 => format!("forall q in {name}: always eventually {name}[q]@{to}"),
            1 => format!("forall q in {name}: always eventually !{name}[q]@{from}"),
            _ => format!("forall q in {name}: {name}[q]@{from} ~> {name}[q]@{to}"),
        })
    }

    fn formula(&mut self, scope: &ExprScope, depth: usize, left: &mut usize) -> String {
        if depth == 0 || *left == 0 {
            return parenthesised(&self.atom(scope));
        }
        match self.choices.below(12) {
            0 => parenthesised(&self.atom(scope)),
            1 => format!("!{}", self.formula(scope, depth - 1, left)),
            2 | 3 => {
                let op = *self.choices.pick(&["&&", "||", "=>", "<=>"]);
                let first = self.formula(scope, depth - 1, left);
                format!("({first} {op} {})", self.formula(scope, depth - 1, left))
            }
            4..=8 => {
                *left -= 1;
                let op = match self.choices.chance(self.profile.next) {
                    true => "next",
                    false => *self.choices.pick(&["always", "eventually"]),
                };
                format!("({op} {})", self.formula(scope, depth - 1, left))
            }
            _ => {
                *left -= (*left).min(2);
                let op = *self.choices.pick(&["until", "weakuntil", "releases", "~>", "M"]);
                let first = self.formula(scope, depth - 1, left);
                format!("({first} {op} {})", self.formula(scope, depth - 1, left))
            }
        }
    }
}

pub(super) fn parenthesised(text: &str) -> String {
    format!("({text})")
}
