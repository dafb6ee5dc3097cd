//! What temporal properties assume: `under …`, and sets of assumptions with names.

use super::properties::parenthesised;
use super::{ExprPlace, ExprScope, ProgramWriter};

impl ProgramWriter<'_> {
    /// `fairness fair { … }`
    pub(super) fn fairness_set(&mut self) {
        let items: Vec<String> = (0..1 + self.choices.below(2)).map(|_| self.assumption()).collect();
        self.line(&format!("fairness fair {{ {}; }}", items.join("; ")));
        self.labels.push((ExprPlace::Property, "fair".to_owned()));
    }

    /// What one temporal property assumes, or nothing.
    pub(super) fn under(&mut self) -> String {
        if !self.choices.chance(self.profile.fairness) {
            return String::new();
        }
        if self.profile.responses > 0 && self.choices.chance(self.profile.responses) {
            let strength = |writer: &mut Self| *writer.choices.pick(&["weak", "weak", "strong"]);
            let all: Vec<String> = (0..self.families.len())
                .map(|family| {
                    let star = if self.families[family].index.is_some() { "[*]" } else { "" };
                    format!("{} {}{star}", strength(self), self.families[family].name)
                })
                .collect();
            return format!(" under {}", all.join(", "));
        }
        let has_set = self.labels.iter().any(|(place, _)| *place == ExprPlace::Property);
        let mut items: Vec<String> = (0..1 + self.choices.below(2)).map(|_| self.assumption()).collect();
        if self.choices.chance(self.profile.fairness_forms) {
            let other = if has_set && self.choices.chance(50) { "fair".to_owned() } else { self.assumption() };
            let last = items.pop().unwrap_or_default();
            items.push(match self.choices.below(3) {
                0 => format!("{last} or {other}"),
                1 => format!("({last}, {other}) or {}", self.assumption()),
                _ => format!("{last}, {other}"),
            });
        }
        format!(" under {}", items.join(", "))
    }

    fn assumption(&mut self) -> String {
        let n_families = self.families.len();
        let family = self.choices.below(n_families);
        let (name, count) = (self.families[family].name, self.families[family].count);
        let process = match self.families[family].index {
            None => name.to_owned(),
            Some(_) if self.choices.chance(70) => format!("{name}[*]"),
            Some(_) => format!("{name}[{}]", self.choices.below(count)),
        };
        if self.choices.chance(self.profile.fairness_forms / 2) {
            let scope = ExprScope::new(ExprPlace::Property);
            return match self.choices.below(3) {
                0 => "progress".to_owned(),
                1 => format!("weak {}", parenthesised(&self.atom(&scope))),
                _ => format!("strong {} => {}", parenthesised(&self.atom(&scope)), parenthesised(&self.atom(&scope))),
            };
        }
        let own = |place: &ExprPlace| *place == ExprPlace::Family(family);
        let labels: Vec<String> =
            self.labels.iter().filter(|(place, _)| own(place)).map(|(_, label)| label.clone()).collect();
        let label = match self.choices.chance(40) {
            true => self.one_of(labels).map_or(String::new(), |label| format!("@{label}")),
            false => String::new(),
        };
        match self.choices.below(3) {
            0 => format!("every {process}"),
            1 => format!("weak {process}{label}"),
            _ => format!("strong {process}{label}"),
        }
    }
}
