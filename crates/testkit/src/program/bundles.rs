//! Channels, structs and sets, and the short forms of steps: what the front-end makes variables and steps of.
//!
//! A program of a profile with them has one of each: a struct `r`, a set `t`, a channel `c`, with few values, so that products stay small.

use super::{Scalar, Scope, Writer};

impl Writer<'_> {
    pub(super) fn declare_bundles(&mut self) {
        self.line("struct M { f: 0..=1, g: bool }");
        self.line("shared r: M;");
        let start = *self.choices.pick(&["", " = {}", " = {1}", " = {0, 1}"]);
        self.line(&format!("shared t: set of 0..=1{start};"));
        let kind = *self.choices.pick(&["", "", "lossy ", "unordered "]);
        let capacity = 1 + self.choices.below(2);
        self.line(&format!("chan c: {kind}[{capacity}] of (M);"));
    }

    /// A number of the struct or the set.
    fn bit(&mut self, scope: &Scope) -> String {
        match self.choices.below(4) {
            0 => "0".to_owned(),
            1 => "1".to_owned(),
            2 => "r.f".to_owned(),
            _ => self.value(Scalar::Range { lo: 0, hi: 1 }, scope),
        }
    }

    fn message(&mut self, scope: &Scope) -> String {
        let number = self.bit(scope);
        match self.choices.below(3) {
            0 => "r".to_owned(),
            1 => format!("M({number}, {})", self.truth(scope, 0)),
            _ => format!("M(g: {}, f: {number})", self.truth(scope, 0)),
        }
    }

    /// A statement about one of them.
    pub(super) fn bundled(&mut self, scope: &Scope) {
        let kinds = if scope.in_atomic { 6 } else { 9 };
        let text = match self.choices.below(kinds) {
            0 => format!("send c({});", self.message(scope)),
            1 => (*self.choices.pick(&["receive c(r);", "receive c(_);", "peek c(r);"])).to_owned(),
            2 => {
                let word = *self.choices.pick(&["insert", "remove"]);
                format!("{word} t({});", self.bit(scope))
            }
            3 => (*self.choices.pick(&["t = {};", "t = {0, 1};", "t = {1};"])).to_owned(),
            4 => format!("r = {};", self.message(scope)),
            5 => format!("r.f = {};", self.bit(scope)),
            6 => {
                let (old, new) = (self.bit(scope), self.bit(scope));
                format!("if cas(r.f, {old}, {new}) {{ r.g = true; }} else {{ r.g = {}; }}", self.truth(scope, 0))
            }
            7 => {
                let test = self.truth(scope, 0);
                format!("some z in 0..=1 where z != r.f || {test} {{ r.f = z; insert t(z); }}")
            }
            _ => {
                let test = self.truth(scope, 0);
                format!("either {{ await {test}; r.g = false; }} or {{ receive c(_); }} else {{ remove t(0); }}")
            }
        };
        self.labelled(&text, scope);
    }

    /// A test of one of them.
    pub(super) fn bundled_test(&mut self, scope: &Scope) -> String {
        let number = self.bit(scope);
        match self.choices.below(8) {
            0 => format!("(len(c) == {number})"),
            1 => (*self.choices.pick(&["full(c)", "empty(c)", "empty(t)"])).to_owned(),
            2 => format!("({number} in t)"),
            3 => format!("(size(t) > {number})"),
            4 => format!("(r == M({number}, true))"),
            5 => "r.g".to_owned(),
            6 => format!("(t == {{{number}}})"),
            _ => {
                let total = *self.choices.pick(&["sum", "min", "max"]);
                format!("({total}(z in 0..=1: if z in t then r.f + z else {number} - 1) <= 1)")
            }
        }
    }
}
