//! Simplification: equivalent formulas whose automata are smaller.
//!
//! In: a formula. Out: an equivalent one in negation normal form. The rules are those of Etessami and Holzmann (2000), Somenzi and
//! Bloem (2000) and Babiak et al. (2012): operands that the context implies go, eventual and universal parts come out from under
//! temporal operators, operators of the same kind are joined. Each rule is written for one of two dual operators; the other one
//! is simplified through its negation.

use rustc_hash::FxHashMap;

use crate::classes::Class;
use crate::formula::{Binary, Formula, FormulaId, Formulas, Unary};
use crate::implication::Implications;
use crate::normal::NormalForms;

/// How often a result is simplified again, since one rule may make room for another.
const MAX_ROUNDS: usize = 4;

/// Simplifies formulas of one store, and remembers.
#[derive(Debug)]
pub struct Simplifier<'a> {
    /// The store, which grows.
    pub formulas: &'a mut Formulas,
    forms: NormalForms,
    implications: Implications,
    /// Simplified forms of formulas in normal form.
    known: FxHashMap<FormulaId, FormulaId>,
}

impl<'a> Simplifier<'a> {
    /// A simplifier for the formulas of a store.
    pub fn new(formulas: &'a mut Formulas) -> Self {
        let (forms, implications) = (NormalForms::default(), Implications::default());
        Simplifier { formulas, forms, implications, known: FxHashMap::default() }
    }

    /// An equivalent formula in negation normal form, without simplification.
    pub fn normal_form(&mut self, root: FormulaId) -> FormulaId {
        self.forms.of(self.formulas, root)
    }

    /// The negation, in negation normal form; simplified if the formula is.
    pub fn negation(&mut self, root: FormulaId) -> FormulaId {
        self.forms.negation(self.formulas, root)
    }

    /// An equivalent formula that is simpler, in negation normal form.
    pub fn simplify(&mut self, root: FormulaId) -> FormulaId {
        let mut simple = self.normal_form(root);
        for _ in 0..MAX_ROUNDS {
            let before = simple;
            simple = self.pass(before);
            if simple == before {
                break;
            }
        }
        simple
    }

    /// The class of a formula in negation normal form.
    pub fn class(&mut self, id: FormulaId) -> Class {
        self.implications.classes.of(self.formulas, id)
    }

    /// Whether the rules show that `f` implies `g`, both in negation normal form.
    pub fn implies(&mut self, f: FormulaId, g: FormulaId) -> bool {
        self.implications.holds(self.formulas, f, g)
    }

    /// Whether the rules show that two parts of a conjunction exclude each other.
    pub fn is_contradiction(&mut self, all: FormulaId) -> bool {
        let Formula::And(parts) = self.formulas.get(all).clone() else { return all == self.formulas.constant(false) };
        parts.iter().enumerate().any(|(index, &part)| {
            let not_part = self.negation(part);
            parts[..index].iter().any(|&other| self.implies(other, not_part))
        })
    }

    /// The conjunction without parts that others imply; `false` where two exclude each other.
    fn absorb(&mut self, all: FormulaId) -> FormulaId {
        if self.is_contradiction(all) {
            return self.formulas.constant(false);
        }
        let Formula::And(parts) = self.formulas.get(all) else { return all };
        let mut kept = parts.to_vec();
        for index in (0..kept.len()).rev() {
            if (0..kept.len()).any(|other| other != index && self.implies(kept[other], kept[index])) {
                kept.remove(index);
            }
        }
        self.formulas.and(kept)
    }

    fn pass(&mut self, root: FormulaId) -> FormulaId {
        for part in self.formulas.with_parts(root) {
            if !self.known.contains_key(&part) {
                let simple = self.step(part);
                self.known.insert(part, simple);
            }
        }
        self.known[&root]
    }

    /// Simplifies a formula whose parts are simplified.
    fn step(&mut self, id: FormulaId) -> FormulaId {
        let known = |part: &FormulaId| self.known[part];
        match self.formulas.get(id).clone() {
            Formula::True | Formula::False | Formula::Atom(_) | Formula::Unary(Unary::Not, _) => id,
            Formula::Unary(operator, part) => {
                let part = known(&part);
                match operator {
                    Unary::Next => self.next(part),
                    Unary::Always => self.always(part),
                    Unary::Eventually | Unary::Not => self.eventually(part),
                }
            }
            Formula::Binary(operator, left, right) => {
                let (left, right) = (known(&left), known(&right));
                match operator {
                    Binary::Until => self.until(left, right),
                    Binary::WeakUntil => self.weak_until(left, right),
                    Binary::Releases => self.dual(left, right, Self::until),
                    Binary::StrongReleases => self.dual(left, right, Self::weak_until),
                    Binary::Implies | Binary::Iff | Binary::Xor | Binary::LeadsTo => {
                        unreachable!("these are not in normal form")
                    }
                }
            }
            Formula::And(parts) => {
                let parts: Vec<_> = parts.iter().map(known).collect();
                self.and(parts)
            }
            Formula::Or(parts) => {
                let parts: Vec<_> = parts.iter().map(known).collect();
                self.or(parts)
            }
        }
    }

    /// An operator through its dual: `!(!f dual !g)`.
    fn dual(
        &mut self,
        left: FormulaId,
        right: FormulaId,
        operator: fn(&mut Self, FormulaId, FormulaId) -> FormulaId,
    ) -> FormulaId {
        let (left, right) = (self.negation(left), self.negation(right));
        let negated = operator(self, left, right);
        self.negation(negated)
    }

    fn always(&mut self, part: FormulaId) -> FormulaId {
        let part = self.negation(part);
        let never = self.eventually(part);
        self.negation(never)
    }

    fn or(&mut self, parts: Vec<FormulaId>) -> FormulaId {
        let parts = parts.into_iter().map(|part| self.negation(part)).collect();
        let none = self.and(parts);
        self.negation(none)
    }

    fn next(&mut self, part: FormulaId) -> FormulaId {
        if self.class(part).is_suspendable() {
            return part;
        }
        match self.formulas.get(part).clone() {
            Formula::And(parts) => match self.take_out(&parts, Class::is_suspendable) {
                Some((mut out, rest)) => {
                    let rest = self.formulas.and(rest);
                    out.push(self.next(rest));
                    self.and(out)
                }
                None => self.formulas.unary(Unary::Next, part),
            },
            Formula::Or(parts) => match self.take_out(&parts, Class::is_suspendable) {
                Some((mut out, rest)) => {
                    let rest = self.formulas.or(rest);
                    out.push(self.next(rest));
                    self.or(out)
                }
                None => self.formulas.unary(Unary::Next, part),
            },
            _ => self.formulas.unary(Unary::Next, part),
        }
    }

    fn eventually(&mut self, part: FormulaId) -> FormulaId {
        if self.class(part).is_eventual {
            return part;
        }
        match self.formulas.get(part).clone() {
            Formula::Unary(Unary::Next, later) => {
                let later = self.eventually(later);
                self.next(later)
            }
            Formula::Unary(Unary::Always, body) => self.eventually_always(part, body),
            Formula::Binary(Binary::Until, _, right) => self.eventually(right),
            Formula::Binary(Binary::StrongReleases, left, right) => {
                let both = self.and(vec![left, right]);
                self.eventually(both)
            }
            Formula::Binary(Binary::WeakUntil, left, right) => {
                let for_ever = self.always(left);
                let (stays, comes) = (self.eventually(for_ever), self.eventually(right));
                self.or(vec![stays, comes])
            }
            Formula::Binary(Binary::Releases, left, right) => {
                let (both, for_ever) = (self.and(vec![left, right]), self.always(right));
                let (comes, stays) = (self.eventually(both), self.eventually(for_ever));
                self.or(vec![comes, stays])
            }
            Formula::Or(parts) => match self.take_out(&parts, |class| class.is_eventual || class.is_universal) {
                Some((out, rest)) => {
                    let rest = self.formulas.or(rest);
                    let all: Vec<_> = out.into_iter().chain([rest]).map(|part| self.eventually(part)).collect();
                    self.or(all)
                }
                None => self.formulas.unary(Unary::Eventually, part),
            },
            Formula::And(parts) => match self.take_out(&parts, Class::is_suspendable) {
                Some((mut out, rest)) => {
                    let rest = self.formulas.and(rest);
                    out.push(self.eventually(rest));
                    self.and(out)
                }
                None => self.formulas.unary(Unary::Eventually, part),
            },
            _ => self.formulas.unary(Unary::Eventually, part),
        }
    }

    /// `F G body`, where `always` is `G body`.
    fn eventually_always(&mut self, always: FormulaId, body: FormulaId) -> FormulaId {
        match self.formulas.get(body).clone() {
            Formula::Unary(Unary::Next, later) => {
                let always = self.always(later);
                self.eventually(always)
            }
            // FG (f || e), e eventual: either e comes again and again, and then always holds, or it stops to come.
            Formula::Or(parts) => match self.take_out(&parts, |class| class.is_eventual) {
                Some((out, rest)) => {
                    let rest = self.formulas.or(rest);
                    let always = self.always(rest);
                    let mut all = vec![self.eventually(always)];
                    all.extend(out.into_iter().map(|part| self.always(part)));
                    self.or(all)
                }
                None => self.formulas.unary(Unary::Eventually, always),
            },
            _ => self.formulas.unary(Unary::Eventually, always),
        }
    }

    fn until(&mut self, left: FormulaId, right: FormulaId) -> FormulaId {
        if self.class(right).is_eventual {
            return right;
        }
        let left = self.where_not(left, right);
        if left == self.formulas.constant(true) {
            return self.eventually(right);
        }
        if left == self.formulas.constant(false) {
            return right;
        }
        if let Some(later) = self.pull_next(left, right, Self::until) {
            return later;
        }
        if self.class(left).is_universal {
            let comes = self.eventually(right);
            let both = self.and(vec![left, comes]);
            return self.or(vec![right, both]);
        }
        if let Formula::And(parts) = self.formulas.get(left).clone()
            && let Some((mut out, rest)) = self.take_out(&parts, Class::is_suspendable)
        {
            let rest = self.formulas.and(rest);
            out.push(self.until(rest, right));
            let both = self.and(out);
            return self.or(vec![right, both]);
        }
        match self.formulas.get(right).clone() {
            Formula::Or(parts) => {
                if let Some((mut out, rest)) = self.take_out(&parts, |class| class.is_eventual) {
                    let rest = self.formulas.or(rest);
                    out.push(self.until(left, rest));
                    return self.or(out);
                }
                // f U (g || G f) is f W g.
                let for_ever = self.formulas.unary(Unary::Always, left);
                if parts.contains(&for_ever) {
                    let rest: Vec<_> = parts.iter().copied().filter(|&part| part != for_ever).collect();
                    let rest = self.formulas.or(rest);
                    return self.weak_until(left, rest);
                }
            }
            Formula::And(parts) => {
                if let Some((mut out, rest)) = self.take_out(&parts, Class::is_suspendable) {
                    let rest = self.formulas.and(rest);
                    out.push(self.until(left, rest));
                    return self.and(out);
                }
            }
            Formula::Binary(Binary::Until, middle, _) if self.implies(left, middle) => return right,
            Formula::Binary(Binary::Until, middle, last) if self.implies(middle, left) => {
                return self.until(left, last);
            }
            _ => {}
        }
        self.formulas.binary(Binary::Until, left, right)
    }

    fn weak_until(&mut self, left: FormulaId, right: FormulaId) -> FormulaId {
        let left = self.where_not(left, right);
        if left == self.formulas.constant(true) || left == self.formulas.constant(false) {
            return if left == self.formulas.constant(true) { left } else { right };
        }
        if right == self.formulas.constant(false) {
            return self.always(left);
        }
        if self.class(left).is_universal {
            return self.or(vec![left, right]);
        }
        if self.class(right).is_eventual {
            let for_ever = self.always(left);
            return self.or(vec![for_ever, right]);
        }
        if let Some(later) = self.pull_next(left, right, Self::weak_until) {
            return later;
        }
        match self.formulas.get(right).clone() {
            Formula::Or(parts) => {
                if let Some((mut out, rest)) = self.take_out(&parts, |class| class.is_eventual) {
                    let rest = self.formulas.or(rest);
                    out.push(self.weak_until(left, rest));
                    return self.or(out);
                }
            }
            Formula::Binary(Binary::WeakUntil, middle, _) if self.implies(left, middle) => return right,
            Formula::Binary(Binary::Until | Binary::WeakUntil, middle, last) if self.implies(middle, left) => {
                return self.weak_until(left, last);
            }
            _ => {}
        }
        self.formulas.binary(Binary::WeakUntil, left, right)
    }

    /// `X f op X g` is `X (f op g)`.
    fn pull_next(
        &mut self,
        left: FormulaId,
        right: FormulaId,
        operator: fn(&mut Self, FormulaId, FormulaId) -> FormulaId,
    ) -> Option<FormulaId> {
        match (self.formulas.get(left), self.formulas.get(right)) {
            (&Formula::Unary(Unary::Next, left), &Formula::Unary(Unary::Next, right)) => {
                let later = operator(self, left, right);
                Some(self.next(later))
            }
            _ => None,
        }
    }

    /// A formula that only matters where `other` is false: parts that are then decided go.
    fn where_not(&mut self, id: FormulaId, other: FormulaId) -> FormulaId {
        let given = self.negation(other);
        if self.implies(given, id) {
            return self.formulas.constant(true);
        }
        if self.implies(id, other) {
            return self.formulas.constant(false);
        }
        match self.formulas.get(id).clone() {
            Formula::And(parts) => {
                let kept: Vec<_> = parts.iter().copied().filter(|&part| !self.implies(given, part)).collect();
                self.formulas.and(kept)
            }
            Formula::Or(parts) => {
                let kept: Vec<_> = parts.iter().copied().filter(|&part| !self.implies(part, other)).collect();
                self.formulas.or(kept)
            }
            _ => id,
        }
    }

    /// The parts of some class, and the others, if there are both.
    fn take_out(
        &mut self,
        parts: &[FormulaId],
        is_wanted: impl Fn(Class) -> bool,
    ) -> Option<(Vec<FormulaId>, Vec<FormulaId>)> {
        let (out, rest): (Vec<_>, Vec<_>) = parts.iter().partition(|&&part| is_wanted(self.class(part)));
        (!out.is_empty() && !rest.is_empty()).then_some((out, rest))
    }

    fn and(&mut self, parts: Vec<FormulaId>) -> FormulaId {
        let mut all = self.formulas.and(parts);
        // Each round makes the conjunction smaller, or is the last one.
        loop {
            let before = all;
            all = self.absorb(before);
            let Formula::And(parts) = self.formulas.get(all).clone() else { return all };
            let parts = self.join_kin(&parts);
            let parts = self.resolve(parts);
            all = self.formulas.and(parts);
            if all == before {
                return all;
            }
        }
    }

    /// Drops what others exclude from the disjunctions among the parts.
    fn resolve(&mut self, mut parts: Vec<FormulaId>) -> Vec<FormulaId> {
        for index in 0..parts.len() {
            let Formula::Or(choices) = self.formulas.get(parts[index]).clone() else { continue };
            let mut kept = Vec::new();
            for &choice in &choices {
                let excluded = self.negation(choice);
                let is_open = (0..parts.len()).all(|other| other == index || !self.implies(parts[other], excluded));
                if is_open {
                    kept.push(choice);
                }
            }
            if kept.len() < choices.len() {
                parts[index] = self.or(kept);
            }
        }
        parts
    }

    /// Joins parts of the same kind: `X f && X g` to `X (f && g)`, and so on.
    fn join_kin(&mut self, parts: &[FormulaId]) -> Vec<FormulaId> {
        let parts = self.strengthen_releases(parts);
        let mut kin: Vec<(Kin, Vec<FormulaId>)> = Vec::new();
        for part in parts {
            let kind = self.kin(part);
            match kin.iter_mut().find(|(known, _)| *known == kind && kind != Kin::None) {
                Some((_, family)) => family.push(part),
                None => kin.push((kind, vec![part])),
            }
        }
        kin.into_iter()
            .map(|(kind, family)| if family.len() == 1 { family[0] } else { self.join(kind, &family) })
            .collect()
    }

    /// `f R g && F f` is `f M g`.
    fn strengthen_releases(&mut self, parts: &[FormulaId]) -> Vec<FormulaId> {
        let mut strengthened = parts.to_vec();
        for index in 0..strengthened.len() {
            let Formula::Binary(Binary::Releases, left, right) = *self.formulas.get(strengthened[index]) else {
                continue;
            };
            let comes = self.formulas.unary(Unary::Eventually, left);
            if strengthened.contains(&comes) {
                strengthened[index] = self.dual(left, right, Self::weak_until);
                strengthened.retain(|&part| part != comes);
                return strengthened;
            }
        }
        strengthened
    }

    fn kin(&mut self, id: FormulaId) -> Kin {
        match self.formulas.get(id).clone() {
            Formula::Unary(Unary::Next, _) => Kin::Next,
            // GF f && GF g cannot be joined.
            Formula::Unary(Unary::Always, body) if !self.class(body).is_eventual => Kin::Always,
            Formula::Unary(Unary::Eventually, body) => match self.formulas.get(body) {
                Formula::Unary(Unary::Always, _) => Kin::EventuallyAlways,
                _ => Kin::Until(body),
            },
            Formula::Binary(Binary::Until | Binary::WeakUntil, _, right) => Kin::Until(right),
            Formula::Binary(Binary::Releases | Binary::StrongReleases, left, _) => Kin::Releases(left),
            _ => Kin::None,
        }
    }

    /// One formula for several of a kind.
    fn join(&mut self, kind: Kin, family: &[FormulaId]) -> FormulaId {
        let is_strong = family.iter().any(|&id| {
            matches!(
                self.formulas.get(id),
                Formula::Unary(Unary::Eventually, _) | Formula::Binary(Binary::Until | Binary::StrongReleases, ..)
            )
        });
        let operands: Vec<FormulaId> = family.iter().map(|&id| self.operand(kind, id)).collect();
        let all = self.and(operands);
        match kind {
            Kin::Next => self.next(all),
            Kin::Always => self.always(all),
            Kin::EventuallyAlways => {
                let always = self.always(all);
                self.eventually(always)
            }
            Kin::Until(right) if is_strong => self.until(all, right),
            Kin::Until(right) => self.weak_until(all, right),
            Kin::Releases(left) if is_strong => self.dual(left, all, Self::weak_until),
            Kin::Releases(left) => self.dual(left, all, Self::until),
            Kin::None => all,
        }
    }

    /// What differs between formulas of a kind.
    fn operand(&self, kind: Kin, id: FormulaId) -> FormulaId {
        match (kind, self.formulas.get(id)) {
            (Kin::Until(_), Formula::Unary(Unary::Eventually, _)) => self.formulas.constant(true),
            (Kin::EventuallyAlways, &Formula::Unary(_, always)) => match *self.formulas.get(always) {
                Formula::Unary(_, body) => body,
                _ => always,
            },
            (_, &Formula::Unary(_, body)) => body,
            (Kin::Releases(_), &Formula::Binary(_, _, right)) => right,
            (_, &Formula::Binary(_, left, _)) => left,
            _ => id,
        }
    }
}

/// Conjuncts of one kind can be joined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kin {
    Next,
    Always,
    EventuallyAlways,
    /// The until family with this right operand.
    Until(FormulaId),
    /// The releases family with this left operand.
    Releases(FormulaId),
    None,
}
