//! Statements of processes and procedures.

use super::{ExprPlace, ExprScope, Home, Over, ProgramWriter, Scalar, TextVariable};

impl ProgramWriter<'_> {
    pub(super) fn statements(&mut self, scope: &ExprScope, n_statements: usize, depth: usize) {
        for _ in 0..n_statements {
            self.statement(scope, depth);
        }
    }

    /// A statement with a label before it, half of the time.
    pub(super) fn labelled(&mut self, text: &str, scope: &ExprScope) {
        let label = self.label(scope);
        self.line(&format!("{label}{text}"));
    }

    fn label(&mut self, scope: &ExprScope) -> String {
        if scope.in_atomic || !self.choices.chance(60) {
            return String::new();
        }
        let label = format!("l{}", self.n_labels);
        self.n_labels += 1;
        self.labels.push((scope.place, label.clone()));
        format!("{label}: ")
    }

    fn statement(&mut self, scope: &ExprScope, depth: usize) {
        if self.profile.bundles > 0 && self.choices.chance(self.profile.bundles) {
            return self.bundled(scope);
        }
        if self.profile.words > 0 && self.choices.chance(self.profile.words) {
            return self.worded(scope);
        }
        if depth > 0 && self.choices.chance(self.profile.loops) {
            return self.counted_loop(scope, depth - 1);
        }
        if !scope.in_atomic && self.choices.chance(self.profile.atomic) {
            return self.atomic(scope);
        }
        if !scope.in_atomic && self.choices.chance(self.profile.locks / 2) && self.critical_section(scope, depth) {
            return;
        }
        if self.has_procedure && !scope.in_atomic && self.choices.chance(30) {
            return self.call(scope);
        }
        match self.choices.below(14) {
            0..=5 => self.assignment(scope),
            6 | 7 => {
                let test = self.truth(scope, 1);
                self.labelled(&format!("await {test};"), scope);
            }
            8 if !scope.in_atomic => {
                let word = *self.choices.pick(&["skip;", "idle;"]);
                self.labelled(word, scope);
            }
            9 | 10 if depth > 0 => self.branches(scope, depth - 1),
            11 if depth > 0 && !scope.in_atomic => {
                let test = self.truth(scope, 1);
                let label = self.label(scope);
                self.open(&format!("{label}while {test}"));
                self.labelled("skip;", scope);
                self.statements(scope, 1, depth - 1);
                self.close();
            }
            12 if self.choices.chance(self.profile.faults_in_text * 2) => {
                let test = self.truth(scope, 1);
                self.labelled(&format!("assert {test};"), scope);
            }
            _ => self.assignment(scope),
        }
    }

    /// `if`, `if *` or `either`.
    fn branches(&mut self, scope: &ExprScope, depth: usize) {
        let kind = self.choices.below(3);
        match kind {
            0 => {
                let test = self.truth(scope, 1);
                let label = self.label(scope);
                self.open(&format!("{label}if {test}"));
            }
            1 if !scope.in_atomic => self.open("if *"),
            _ => self.open("either"),
        }
        let n_first = 1 + self.choices.below(2);
        self.statements(scope, n_first, depth);
        match kind {
            0 | 1 if !(kind == 1 && scope.in_atomic) => self.reopen("else"),
            _ => self.reopen("or"),
        }
        self.statements(scope, 1, depth);
        self.close();
    }

    fn counted_loop(&mut self, scope: &ExprScope, depth: usize) {
        let name = format!("c{}", scope.bound.len());
        let (domain, over) = self.counted_domain();
        self.open(&format!("for {name} in {domain}"));
        let inner = scope.with(&name, over);
        self.statements(&inner, 1, depth);
        self.close();
    }

    fn counted_domain(&mut self) -> (String, Over) {
        if self.choices.chance(60) {
            let families = self.indexed();
            let family = *self.choices.pick(&families);
            // A range that is a family's own means its processes, if no other family has the same.
            let size = self.families[family].size.clone();
            let is_only = self.families.iter().filter(|other| other.count == self.families[family].count).count() == 1;
            let over = match is_only {
                true => Over::Family(family),
                false => Over::Numbers { lo: 0, hi: self.families[family].count as i64 - 1 },
            };
            return (format!("0..<{size}"), over);
        }
        let lo = self.choices.below(2) as i64;
        let hi = lo + self.choices.below(2) as i64;
        (format!("{lo}..={hi}"), Over::Numbers { lo, hi })
    }

    fn atomic(&mut self, scope: &ExprScope) {
        let label = self.label(scope);
        self.open(&format!("{label}atomic"));
        let inner = ExprScope { in_atomic: true, ..scope.clone() };
        if self.choices.chance(50) {
            let test = self.truth(scope, 1);
            self.line(&format!("await {test};"));
        }
        let n_statements = 1 + self.choices.below(2);
        self.statements(&inner, n_statements, 1);
        self.close();
    }

    /// A statement between `acquire` and `release`; `false` where there is nothing to acquire.
    fn critical_section(&mut self, scope: &ExprScope, depth: usize) -> bool {
        let locks: Vec<TextVariable> =
            self.readables(scope).into_iter().filter(|variable| is_fixed_type(variable.scalar)).collect();
        if locks.is_empty() {
            return false;
        }
        let lock = self.choices.pick(&locks).clone();
        let Some(lock) = self.access(&lock, scope) else { return false };
        self.labelled(&format!("acquire {lock};"), scope);
        self.statements(scope, 1, depth.saturating_sub(1));
        self.labelled("skip;", scope);
        if !self.choices.chance(8) {
            self.labelled(&format!("release {lock};"), scope);
        }
        true
    }

    fn call(&mut self, scope: &ExprScope) {
        let argument = match scope.place {
            // A procedure that calls itself without falling would never be finished with.
            ExprPlace::Procedure => return self.assignment(scope),
            _ => self.value(Scalar::Range { lo: 0, hi: 2 }, scope),
        };
        let numbers = |scalar: Scalar| matches!(scalar, Scalar::Range { lo, hi: 2.. } if lo <= 0);
        let target = self.target(scope, numbers).map(|(target, _)| target);
        let text = match target {
            Some(target) if self.choices.chance(60) => format!("{target} = call f({argument});"),
            _ => format!("call f({argument});"),
        };
        self.labelled(&text, scope);
    }

    fn assignment(&mut self, scope: &ExprScope) {
        let Some((target, scalar)) = self.target(scope, |_| true) else { return self.labelled("skip;", scope) };
        let text = match self.choices.below(10) {
            8 if !scalar.is_wide() => format!("{target} = any;"),
            7 if matches!(scalar, Scalar::Range { .. }) => {
                let Scalar::Range { lo, hi } = scalar else { unreachable!("just checked") };
                let last = if scalar.is_wide() { lo + 1 } else { hi };
                format!("{target} = any {lo}..={last};")
            }
            9 => {
                let value = self.value(scalar, scope);
                match self.target(scope, |_| true) {
                    Some((second, second_scalar)) if second != target => {
                        let second_value = self.value(second_scalar, scope);
                        format!("{target}, {second} = {value}, {second_value};")
                    }
                    _ => format!("{target} = {value};"),
                }
            }
            _ => format!("{target} = {};", self.value(scalar, scope)),
        };
        self.labelled(&text, scope);
    }

    /// Something that the text may assign to.
    fn target(&mut self, scope: &ExprScope, wanted: impl Fn(Scalar) -> bool) -> Option<(String, Scalar)> {
        let is_mine = |home: Home| match (home, scope.place) {
            (Home::Shared, _) => true,
            (Home::Public(owner) | Home::Local(owner), ExprPlace::Family(family)) => owner == family,
            (Home::Frame, place) => place == ExprPlace::Procedure,
            _ => false,
        };
        let candidates: Vec<TextVariable> = self
            .readables(scope)
            .into_iter()
            .filter(|variable| is_mine(variable.home) && !variable.is_fixed)
            .filter(|variable| wanted(variable.scalar) && !is_fixed_type(variable.scalar))
            .collect();
        if candidates.is_empty() {
            return None;
        }
        let target = self.choices.pick(&candidates).clone();
        let access = self.own_access(&target, scope)?;
        Some((access, target.scalar))
    }
}

fn is_fixed_type(scalar: Scalar) -> bool {
    matches!(scalar, Scalar::Semaphore(_) | Scalar::Lock)
}
