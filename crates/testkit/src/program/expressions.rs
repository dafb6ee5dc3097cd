//! Expressions of each type, in texts and in properties.

use super::{ExprPlace, ExprScope, Home, Length, Over, ProgramWriter, Scalar, TextVariable};

impl ProgramWriter<'_> {
    /// A boolean expression; one with operators is in parentheses.
    pub(super) fn truth(&mut self, scope: &ExprScope, depth: usize) -> String {
        let is_text = matches!(scope.place, ExprPlace::Family(_)) && scope.bound.is_empty();
        if is_text && self.profile.quantifiers > 0 && self.choices.chance(self.profile.quantifiers) {
            return self.quantified(scope, 0);
        }
        if depth == 0 {
            return self.atom(scope);
        }
        match self.choices.below(12) {
            0..=5 => self.atom(scope),
            6 => format!("!({})", self.truth(scope, depth - 1)),
            7..=9 => {
                let op = *self.choices.pick(&["&&", "||", "=>", "<=>"]);
                let (left, right) = (self.truth(scope, depth - 1), self.truth(scope, depth - 1));
                format!("({left} {op} {right})")
            }
            10 => {
                let (test, yes) = (self.truth(scope, depth - 1), self.truth(scope, depth - 1));
                format!("(if {test} then {yes} else {})", self.truth(scope, depth - 1))
            }
            _ => self.quantified(scope, depth - 1),
        }
    }

    fn quantified(&mut self, scope: &ExprScope, depth: usize) -> String {
        let quantifier = *self.choices.pick(&["forall", "exists"]);
        let (first, second) = (format!("q{}", scope.bound.len()), format!("q{}", scope.bound.len() + 1));
        if self.choices.chance(20) {
            let inner = scope.with(&first, Over::Numbers { lo: 0, hi: 1 });
            return format!("({quantifier} {first} in 0..=1: {})", self.truth(&inner, depth));
        }
        let families = self.indexed();
        let family = *self.choices.pick(&families);
        let name = self.families[family].name;
        let inner = scope.with(&first, Over::Family(family));
        if let Some(mine) = self.families[family].index.filter(|_| scope.place == ExprPlace::Family(family))
            && self.profile.ordered > 0
            && self.choices.chance(self.profile.ordered)
        {
            let op = *self.choices.pick(&["<", ">", "!=", "<="]);
            let joint = if quantifier == "forall" { "=>" } else { "&&" };
            return format!(
                "({quantifier} {first} in {name}: {first} {op} {mine} {joint} {})",
                self.truth(&inner, depth)
            );
        }
        if !self.choices.chance(30) {
            return format!("({quantifier} {first} in {name}: {})", self.truth(&inner, depth));
        }
        let inner = inner.with(&second, Over::Family(family));
        format!("({quantifier} {first} != {second} in {name}: {})", self.truth(&inner, depth))
    }

    /// A comparison, a boolean variable, or the place of a process.
    pub(super) fn atom(&mut self, scope: &ExprScope) -> String {
        let here = if scope.place == ExprPlace::Property { 35 } else { 6 };
        if self.choices.chance(here)
            && let Some(place) = self.standing(scope)
        {
            return place;
        }
        if self.choices.chance(self.faults(scope)) {
            return self.faulty(scope);
        }
        if self.profile.bundles > 0 && self.choices.chance(self.profile.bundles) {
            return self.bundled_test(scope);
        }
        if self.profile.words > 0 && self.choices.chance(self.profile.words) {
            return self.worded_test(scope);
        }
        let readables = self.readables(scope);
        if readables.is_empty() {
            return "true".to_owned();
        }
        let variable = self.choices.pick(&readables).clone();
        let Some(value) = self.access(&variable, scope) else { return "true".to_owned() };
        match variable.scalar {
            Scalar::Bool => value,
            Scalar::Range { .. } | Scalar::Semaphore(_) => {
                let op = *self.choices.pick(&["==", "!=", "<", ">="]);
                let other = match variable.scalar.is_wide() || self.choices.chance(60) {
                    true => self.constant(variable.scalar),
                    false => self.number(scope, 1),
                };
                format!("{value} {op} {other}")
            }
            Scalar::Lock => format!("{value}.owner == none"),
            scalar => {
                let op = *self.choices.pick(&["==", "!="]);
                format!("{value} {op} {}", self.value(scalar, scope))
            }
        }
    }

    /// What has a value only sometimes.
    fn faulty(&mut self, scope: &ExprScope) -> String {
        let number = self.number(scope, 0);
        match self.choices.below(5) {
            0 => format!("6 / {number} > 1"),
            1 => format!("5 % {number} == 1"),
            2 => format!("9223372036854775807 + {number} > 1"),
            3 => format!("({number} - 1) * 9223372036854775807 < 2"),
            _ => {
                let arrays: Vec<TextVariable> =
                    self.readables(scope).into_iter().filter(|variable| variable.lengths.len() == 1).collect();
                let boolean =
                    |variable: &TextVariable| matches!(variable.scalar, Scalar::Bool) && variable.home == Home::Shared;
                match arrays.iter().find(|variable| boolean(variable)) {
                    Some(array) => format!("{}[{number}]", array.name),
                    None => format!("1 / ({number} - 1) >= 0"),
                }
            }
        }
    }

    fn faults(&self, scope: &ExprScope) -> usize {
        match scope.place {
            ExprPlace::Property => self.profile.faults_in_properties,
            _ => self.profile.faults_in_text,
        }
    }

    /// `P[q]@l`, or `@l` in a text.
    fn standing(&mut self, scope: &ExprScope) -> Option<String> {
        let family = match scope.place {
            ExprPlace::Family(family) => family,
            ExprPlace::Procedure => return None,
            ExprPlace::Property => {
                let n_families = self.families.len();
                self.choices.below(n_families)
            }
        };
        let own = |place: &ExprPlace| *place == ExprPlace::Family(family);
        let labels: Vec<String> =
            self.labels.iter().filter(|(place, _)| own(place)).map(|(_, label)| label.clone()).collect();
        let first = self.one_of(labels.clone())?;
        let second = self.one_of(labels)?;
        let places = if first != second && self.choices.chance(15) { format!("{{{first}, {second}}}") } else { first };
        match scope.place {
            ExprPlace::Property => Some(format!("{}@{places}", self.who(family, scope)?)),
            _ => Some(format!("@{places}")),
        }
    }

    /// A process of the family, as `P[q]`.
    fn who(&mut self, family: usize, scope: &ExprScope) -> Option<String> {
        let name = self.families[family].name;
        if self.families[family].index.is_none() {
            return Some(name.to_owned());
        }
        Some(format!("{name}[{}]", self.process_of(family, scope)?))
    }

    /// A process of the family as an index; `None` where only a number could name one, and numbers are not wanted.
    fn process_of(&mut self, family: usize, scope: &ExprScope) -> Option<String> {
        let count = self.families[family].count;
        if self.takes_number(scope) {
            return Some(self.choices.below(count).to_string());
        }
        let mut known: Vec<String> = Vec::new();
        if scope.place == ExprPlace::Family(family) {
            known.extend(self.families[family].index.map(str::to_owned));
        }
        known
            .extend(scope.bound.iter().filter(|(_, over)| *over == Over::Family(family)).map(|(name, _)| name.clone()));
        let holds = |variable: &TextVariable| variable.scalar == Scalar::Pid(family) && variable.lengths.is_empty();
        let own = |variable: &TextVariable| match (variable.home, scope.place) {
            (Home::Shared, _) => true,
            (Home::Local(owner) | Home::Public(owner), ExprPlace::Family(here)) => owner == here,
            (Home::Frame, place) => place == ExprPlace::Procedure,
            _ => false,
        };
        // A variable is a choice among others, never the only one: a chain of them would not end.
        let variables = self.readables(scope).into_iter().filter(|variable| holds(variable) && own(variable));
        known.extend(variables.map(|variable| variable.name));
        match self.one_of(known) {
            Some(process) => Some(process),
            None if scope.place == ExprPlace::Property => Some(self.choices.below(count).to_string()),
            None => None,
        }
    }

    /// Whether a number names the process here.
    fn takes_number(&mut self, scope: &ExprScope) -> bool {
        if scope.place == ExprPlace::Property {
            return self.choices.chance(self.profile.numbers_in_properties);
        }
        if self.numbers_left > 0 && self.choices.chance(40) {
            self.numbers_left -= 1;
            return true;
        }
        self.choices.chance(self.numbers_in_text)
    }

    /// A numeric expression.
    pub(super) fn number(&mut self, scope: &ExprScope, depth: usize) -> String {
        if depth == 0 || self.choices.chance(60) {
            return self.simple_number(scope);
        }
        let left = self.number(scope, depth - 1);
        match self.choices.below(8) {
            0 | 1 => format!("({left} + 1)"),
            2 => format!("({left} - 1)"),
            3 => {
                let function = *self.choices.pick(&["min", "max"]);
                format!("{function}({left}, {})", self.number(scope, depth - 1))
            }
            4 => format!("({left} * {})", self.number(scope, depth - 1)),
            5 => format!("({left} {} {})", self.choices.pick(&["/", "%"]), 2 + self.choices.below(2)),
            6 => format!("(-{left})"),
            _ => {
                let families = self.indexed();
                let family = *self.choices.pick(&families);
                let name = format!("q{}", scope.bound.len());
                let inner = scope.with(&name, Over::Family(family));
                let body = self.atom(&inner);
                format!("count({name} in {}: {body})", self.families[family].name)
            }
        }
    }

    fn simple_number(&mut self, scope: &ExprScope) -> String {
        let numeric = |variable: &TextVariable| matches!(variable.scalar, Scalar::Range { .. } | Scalar::Semaphore(_));
        let readables: Vec<TextVariable> = self.readables(scope).into_iter().filter(numeric).collect();
        match self.choices.below(4) {
            1 | 2 if !readables.is_empty() => {
                let variable = self.choices.pick(&readables).clone();
                self.access(&variable, scope).unwrap_or_else(|| "1".to_owned())
            }
            3 if !scope.bound.is_empty() => {
                let at = self.choices.below(scope.bound.len());
                scope.bound[at].0.clone()
            }
            _ => self.choices.below(3).to_string(),
        }
    }

    /// A value of the type, most often within it.
    pub(super) fn value(&mut self, scalar: Scalar, scope: &ExprScope) -> String {
        match scalar {
            Scalar::Bool if self.choices.chance(60) => self.constant(scalar),
            Scalar::Bool => self.truth(scope, 1),
            Scalar::Range { lo, hi } if scalar.is_wide() => match self.choices.below(8) {
                // Some of these leave the type, which is a fault of the step, or 64 bits.
                7 if self.choices.chance(self.profile.faults_in_text) => format!("{hi} + 1"),
                6 => self.number(scope, 0),
                5 if lo == 0 && self.choices.chance(50) => format!("{hi} - {}", self.number(scope, 0)),
                _ => self.constant(scalar),
            },
            Scalar::Range { lo, hi } => match self.choices.below(6) {
                4 | 5 => {
                    let span = format!("{} % {}", self.number(scope, 1), hi - lo + 1);
                    if lo == 0 { span } else { format!("{span} + {lo}") }
                }
                3 if self.choices.chance(self.profile.faults_in_text * 2) => self.number(scope, 1),
                _ => self.constant(scalar),
            },
            Scalar::PidOrNone(_) if self.choices.chance(35) => "none".to_owned(),
            Scalar::Pid(family) | Scalar::PidOrNone(family) => match self.process_of(family, scope) {
                Some(process) => process,
                None if matches!(scalar, Scalar::PidOrNone(_)) => "none".to_owned(),
                None => self.constant(scalar),
            },
            _ => self.constant(scalar),
        }
    }

    /// A constant of the type.
    pub(super) fn constant(&mut self, scalar: Scalar) -> String {
        match scalar {
            Scalar::Bool => ["true", "false"][self.choices.below(2)].to_owned(),
            Scalar::Range { lo, hi } if scalar.is_wide() => {
                let near = [lo, hi, lo + 1, hi - 1, lo + (hi - lo) / 2];
                self.choices.pick(&near).to_string()
            }
            Scalar::Range { lo, hi } => self.choices.between(lo, hi).to_string(),
            Scalar::Semaphore(max) => self.choices.between(0, max).to_string(),
            Scalar::Color => ["red", "green", "blue"][self.choices.below(3)].to_owned(),
            Scalar::Pid(family) | Scalar::PidOrNone(family) => {
                let count = self.families[family].count;
                self.choices.below(count).to_string()
            }
            Scalar::Lock => "none".to_owned(),
        }
    }

    /// A scalar part of a variable, of any process that has one.
    pub(super) fn access(&mut self, variable: &TextVariable, scope: &ExprScope) -> Option<String> {
        let owner = match (variable.home, scope.place) {
            (Home::Public(owner), ExprPlace::Family(here)) if owner == here && self.choices.chance(60) => None,
            (Home::Local(owner), ExprPlace::Family(here)) if owner == here => None,
            (Home::Public(owner) | Home::Local(owner), _) => Some(self.who(owner, scope)?),
            (Home::Shared | Home::Frame, _) => None,
        };
        let indices = self.indices(variable, scope)?;
        Some(match owner {
            Some(owner) => format!("{owner}.{}{indices}", variable.name),
            None => format!("{}{indices}", variable.name),
        })
    }

    /// A scalar part of a variable that the process itself has.
    pub(super) fn own_access(&mut self, variable: &TextVariable, scope: &ExprScope) -> Option<String> {
        Some(format!("{}{}", variable.name, self.indices(variable, scope)?))
    }

    fn indices(&mut self, variable: &TextVariable, scope: &ExprScope) -> Option<String> {
        let mut text = String::new();
        for &length in &variable.lengths {
            text += &format!("[{}]", self.index(length, scope)?);
        }
        Some(text)
    }

    /// An index of a dimension, most often within it.
    fn index(&mut self, length: Length, scope: &ExprScope) -> Option<String> {
        let len = self.length(length);
        if self.choices.chance(self.faults(scope) / 4) {
            return Some(self.number(scope, 0));
        }
        let process = match length {
            Length::Family(family) => self.process_of(family, scope),
            Length::Number(_) => None,
        };
        if let Some(process) = process {
            return Some(process);
        }
        let mut known: Vec<String> = Vec::new();
        let fits = |over: &Over| match *over {
            Over::Numbers { lo, hi } => lo >= 0 && hi < len as i64,
            Over::Family(family) => self.families[family].count <= len,
        };
        known.extend(scope.bound.iter().filter(|(_, over)| fits(over)).map(|(name, _)| name.clone()));
        let counts = |variable: &TextVariable| {
            let small = matches!(variable.scalar, Scalar::Range { lo: 0.., hi } if hi < len as i64);
            small && variable.lengths.is_empty() && matches!(variable.home, Home::Shared | Home::Frame)
        };
        known.extend(self.readables(scope).into_iter().filter(counts).map(|variable| variable.name));
        let is_number = matches!(length, Length::Number(_)) || self.takes_number(scope);
        if is_number || known.is_empty() {
            known.extend((0..len).map(|at| at.to_string()));
        }
        self.one_of(known)
    }

    /// The variables of which expressions can speak here.
    pub(super) fn readables(&self, scope: &ExprScope) -> Vec<TextVariable> {
        let is_known = |variable: &&TextVariable| match (variable.home, scope.place) {
            (Home::Shared | Home::Public(_), ExprPlace::Property) => true,
            (Home::Shared | Home::Public(_), _) => !variable.is_hidden,
            (Home::Local(_), ExprPlace::Property) => true,
            (Home::Local(owner), ExprPlace::Family(family)) => owner == family && !variable.is_hidden,
            (Home::Frame, place) => place == ExprPlace::Procedure,
            (Home::Local(_), ExprPlace::Procedure) => false,
        };
        self.variables.iter().filter(is_known).cloned().collect()
    }
}
