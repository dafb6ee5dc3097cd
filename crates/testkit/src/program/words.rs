//! Patterns, sets of enumerations, loops and choices over sets, families and enumerations, compare-and-swap of structs, exits of `atomic`, `let`, places to end at, choices of
//! initial states, rendezvous: the words of the language that the front-end elaborates, beyond those of `bundles.rs`.
//!
//! A program of a profile with them has an enumeration `Hue` with a variable `hue`, a set `hues` of its values, and a place at the start of each text to which exits go.

use super::{ExprPlace, ExprScope, ProgramWriter};

impl ProgramWriter<'_> {
    pub(super) fn declare_words(&mut self) {
        self.line("enum Hue { warm, cold }");
        self.line("shared hue: Hue;");
        let start = *self.choices.pick(&["", " = {}", " = {cold}", " = {warm, cold}"]);
        self.line(&format!("shared hues: set of Hue{start};"));
        if self.profile.meetings > 0 {
            self.line("chan bell: [0] of (0..=1);");
        }
        if self.choices.chance(25) {
            self.line("shared start: 0..=2 = any;");
            let test = *self.choices.pick(&["start != 1", "start > 0 || hue == cold", "start == rec.f || empty(tags)"]);
            self.line(&format!("initially {test};"));
        }
    }

    /// The place at the start of a text, to which exits go.
    pub(super) fn start_of_text(&mut self, scope: &ExprScope) {
        if let (ExprPlace::Family(family), true) = (scope.place, self.profile.words > 0) {
            self.line(&format!("here{family}: skip;"));
        }
    }

    fn value_of_hue(&mut self) -> &'static str {
        ["warm", "cold", "hue", "Hue.cold"][self.choices.below(4)]
    }

    /// A small statement that can be anywhere.
    fn small(&mut self, scope: &ExprScope) -> String {
        let bit = self.bit(scope);
        match self.choices.below(6) {
            0 => format!("rec.f = {bit};"),
            1 => format!("rec.g = {};", self.truth(scope, 0)),
            2 => format!("insert hues({});", self.value_of_hue()),
            3 => format!("remove hues({});", self.value_of_hue()),
            4 => format!("hue = {};", self.value_of_hue()),
            _ => format!("insert tags({bit});"),
        }
    }

    /// A statement with one of these words.
    pub(super) fn worded(&mut self, scope: &ExprScope) {
        if !scope.in_atomic && self.profile.meetings > 0 && self.choices.chance(self.profile.meetings) {
            return self.meeting(scope);
        }
        let text = match self.choices.below(if scope.in_atomic { 8 } else { 12 }) {
            0 | 2 => self.patterned(scope),
            1 => format!("hues = {};", self.choices.pick(&["{}", "{warm}", "{hue}", "{warm, cold}"])),
            3 => self.small(scope),
            4 => {
                let (test, then) = (self.truth(scope, 0), self.small(scope));
                format!("some c in Hue where c != hue || {test} {{ hue = c; {then} }}")
            }
            5 => format!("some c in hues {{ hue = c; remove hues(c); {} }}", self.small(scope)),
            6 => format!("for c in {} {{ if c == hue {{ {} }} }}", self.hues(), self.small(scope)),
            7 => format!("for z in tags {{ rec.f = z; {} }}", self.small(scope)),
            8 => self.struct_swap(scope),
            9 => self.exit(scope),
            10 => {
                let (test, place) = (self.truth(scope, 1), self.n_labels);
                self.n_labels += 1;
                self.labels.push((scope.place, format!("l{place}")));
                return self.line(&format!("end l{place}: await {test};"));
            }
            _ => {
                let then = self.small(scope);
                format!("atomic {{ let old = rec.f; rec.f = {}; {then} remove tags(old); }}", self.bit(scope))
            }
        };
        self.labelled(&text, scope);
    }

    fn hues(&mut self) -> &'static str {
        ["hues", "Hue"][self.choices.below(2)]
    }

    /// `receive` or `peek` with a pattern.
    fn patterned(&mut self, scope: &ExprScope) -> String {
        let word = *self.choices.pick(&["receive", "receive", "peek"]);
        let (first, second) = match self.choices.below(4) {
            0 => (format!("= {}", self.bit(scope)), "_".to_owned()),
            1 => ("rec.f".to_owned(), "= true".to_owned()),
            2 => ("_".to_owned(), "rec.g".to_owned()),
            _ => (format!("= {}", self.bit(scope)), format!("= {}", self.truth(scope, 0))),
        };
        match self.choices.chance(40) {
            true => format!("{word} mail(M(g: {second}, f: {first}));"),
            false => format!("{word} mail(M({first}, {second}));"),
        }
    }

    /// Compare-and-swap of a struct.
    fn struct_swap(&mut self, scope: &ExprScope) -> String {
        let (old, new) = (self.message(scope), self.message(scope));
        let (yes, no) = (self.small(scope), self.small(scope));
        format!("if cas(rec, {old}, {new}) {{ {yes} }} else {{ {no} }}")
    }

    /// A step that may leave for the start of the text.
    fn exit(&mut self, scope: &ExprScope) -> String {
        let (test, first, last) = (self.truth(scope, 1), self.small(scope), self.small(scope));
        match scope.place {
            ExprPlace::Family(family) => format!("atomic {{ {first} if {test} {{ goto here{family}; }} {last} }}"),
            _ => format!("atomic {{ {first} {last} }}"),
        }
    }

    /// One side of a rendezvous.
    fn meeting(&mut self, scope: &ExprScope) {
        let bit = self.bit(scope);
        let text = match self.choices.below(4) {
            0 | 1 => format!("send bell({bit});"),
            2 => "receive bell(rec.f);".to_owned(),
            _ => format!("receive bell(= {bit});"),
        };
        self.labelled(&text, scope);
    }

    /// A test with one of these words.
    pub(super) fn worded_test(&mut self, scope: &ExprScope) -> String {
        let (hue, bit) = (self.value_of_hue(), self.bit(scope));
        match self.choices.below(8) {
            0 => format!("({hue} in hues)"),
            1 => format!("(size(hues) > {bit})"),
            2 => format!("(hues == {{{hue}}})"),
            3 => "empty(hues)".to_owned(),
            4 => format!("(exists h in hues: h != {hue})"),
            5 => format!("(forall y in tags: y == {bit})"),
            6 => format!("(sum(y in tags: y + 1) > {bit})"),
            _ => format!("(hue == {hue})"),
        }
    }
}
