//! Channels, structs and sets, and the short forms of steps: what the front-end makes variables and steps of.
//!
//! A program of a profile with them has one of each: a struct `rec`, a set `tags`, a channel `mail`, with few values, so that products stay small.

use super::{ExprScope, ProgramWriter, Scalar};

impl ProgramWriter<'_> {
    pub(super) fn declare_bundles(&mut self) {
        self.line("struct M { f: 0..=1, g: bool }");
        self.line("shared rec: M;");
        let start = *self.choices.pick(&["", " = {}", " = {1}", " = {0, 1}"]);
        self.line(&format!("shared tags: set of 0..=1{start};"));
        let kind = *self.choices.pick(&["", "", "lossy ", "unordered "]);
        let capacity = 1 + self.choices.below(2);
        self.line(&format!("chan mail: {kind}[{capacity}] of (M);"));
    }

    /// A number of the struct or the set.
    pub(super) fn bit(&mut self, scope: &ExprScope) -> String {
        match self.choices.below(4) {
            0 => "0".to_owned(),
            1 => "1".to_owned(),
            2 => "rec.f".to_owned(),
            _ => self.value(Scalar::Range { lo: 0, hi: 1 }, scope),
        }
    }

    pub(super) fn message(&mut self, scope: &ExprScope) -> String {
        let number = self.bit(scope);
        match self.choices.below(3) {
            0 => "rec".to_owned(),
            1 => format!("M({number}, {})", self.truth(scope, 0)),
            _ => format!("M(g: {}, f: {number})", self.truth(scope, 0)),
        }
    }

    /// A statement about one of them.
    pub(super) fn bundled(&mut self, scope: &ExprScope) {
        let kinds = if scope.in_atomic { 6 } else { 9 };
        let text = match self.choices.below(kinds) {
            0 => format!("send mail({});", self.message(scope)),
            1 => (*self.choices.pick(&["receive mail(rec);", "receive mail(_);", "peek mail(rec);"])).to_owned(),
            2 => {
                let word = *self.choices.pick(&["insert", "remove"]);
                format!("{word} tags({});", self.bit(scope))
            }
            3 => (*self.choices.pick(&["tags = {};", "tags = {0, 1};", "tags = {1};"])).to_owned(),
            4 => format!("rec = {};", self.message(scope)),
            5 => format!("rec.f = {};", self.bit(scope)),
            6 => {
                let (old, new) = (self.bit(scope), self.bit(scope));
                format!("if cas(rec.f, {old}, {new}) {{ rec.g = true; }} else {{ rec.g = {}; }}", self.truth(scope, 0))
            }
            7 => {
                let test = self.truth(scope, 0);
                format!("some z in 0..=1 where z != rec.f || {test} {{ rec.f = z; insert tags(z); }}")
            }
            _ => {
                let test = self.truth(scope, 0);
                format!(
                    "either {{ await rec.f == 0 && {test}; rec.g = false; }} or {{ await rec.g; rec.f = 1; }} else {{ remove tags(0); }}"
                )
            }
        };
        self.labelled(&text, scope);
    }

    /// A test of one of them.
    pub(super) fn bundled_test(&mut self, scope: &ExprScope) -> String {
        let number = self.bit(scope);
        match self.choices.below(8) {
            0 => format!("(len(mail) == {number})"),
            1 => (*self.choices.pick(&["full(mail)", "empty(mail)", "empty(tags)"])).to_owned(),
            2 => format!("({number} in tags)"),
            3 => format!("(size(tags) > {number})"),
            4 => format!("(rec == M({number}, true))"),
            5 => "rec.g".to_owned(),
            6 => format!("(tags == {{{number}}})"),
            _ => {
                let total = *self.choices.pick(&["sum", "min", "max"]);
                format!("({total}(z in 0..=1: if z in tags then rec.f + z else {number} - 1) <= 1)")
            }
        }
    }
}
