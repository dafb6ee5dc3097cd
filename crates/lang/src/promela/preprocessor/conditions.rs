//! Conditions of `#if`: expressions over whole numbers, with C's operators.
//!
//! In: the tokens after `#if`. Out: whether the branch is read. A name that is no macro counts as 0.

use base::Span;

use super::super::lexer::{Kind, Token, number_of_c};
use super::Preprocessor;

impl Preprocessor<'_> {
    /// Whether a condition is true; what cannot be read is reported and false.
    pub(super) fn condition(&mut self, input: &[Token], span: Span) -> bool {
        let expanded = self.expand_condition(input);
        let mut reader = Reader { tokens: &expanded, at: 0, depth: 0 };
        match reader.choice() {
            Some(value) if reader.at == expanded.len() => value != 0,
            _ => {
                self.bad(span, "this condition is not an expression over whole numbers");
                false
            }
        }
    }
}

struct Reader<'t> {
    tokens: &'t [Token],
    at: usize,
    depth: usize,
}

/// How tightly an operator binds; C's order.
fn strength(sign: &str) -> Option<u8> {
    Some(match sign {
        "||" => 1,
        "&&" => 2,
        "|" => 3,
        "^" => 4,
        "&" => 5,
        "==" | "!=" => 6,
        "<" | "<=" | ">" | ">=" => 7,
        "<<" | ">>" => 8,
        "+" | "-" => 9,
        "*" | "/" | "%" => 10,
        _ => return None,
    })
}

impl Reader<'_> {
    fn next(&mut self) -> Option<&Token> {
        self.at += 1;
        self.tokens.get(self.at - 1)
    }

    fn sign(&self) -> Option<&'static str> {
        match self.tokens.get(self.at)?.kind {
            Kind::Sign(sign) => Some(sign),
            _ => None,
        }
    }

    /// An expression, or `a ? b : c`.
    fn choice(&mut self) -> Option<i64> {
        let condition = self.binary(0)?;
        if self.sign() != Some("?") {
            return Some(condition);
        }
        self.depth += 1;
        if self.depth > super::MAX_DEPTH {
            return None;
        }
        self.at += 1;
        let yes = self.choice()?;
        self.next().filter(|token| token.is(":"))?;
        let no = self.choice()?;
        self.depth -= 1;
        Some(if condition == 0 { no } else { yes })
    }

    fn binary(&mut self, least: u8) -> Option<i64> {
        let mut left = self.unary()?;
        while let Some((sign, strength)) = self.sign().and_then(|sign| Some((sign, strength(sign)?))) {
            if strength <= least {
                break;
            }
            self.at += 1;
            let right = self.binary(strength)?;
            left = apply(sign, left, right)?;
        }
        Some(left)
    }

    fn unary(&mut self) -> Option<i64> {
        self.depth += 1;
        if self.depth > super::MAX_DEPTH {
            return None;
        }
        let value = match self.next()?.kind.clone() {
            Kind::Number(value) => value,
            Kind::Literal(digits) => number_of_c(&digits)?,
            Kind::Name(_) => 0,
            Kind::Sign("!") => i64::from(self.unary()? == 0),
            Kind::Sign("-") => self.unary()?.checked_neg()?,
            Kind::Sign("+") => self.unary()?,
            Kind::Sign("~") => !self.unary()?,
            Kind::Sign("(") => {
                let value = self.choice()?;
                self.next().filter(|token| token.is(")"))?;
                value
            }
            _ => return None,
        };
        self.depth -= 1;
        Some(value)
    }
}

fn apply(sign: &str, a: i64, b: i64) -> Option<i64> {
    let truth = |value: bool| Some(i64::from(value));
    let shift = || u32::try_from(b).ok();
    match sign {
        "||" => truth(a != 0 || b != 0),
        "&&" => truth(a != 0 && b != 0),
        "|" => Some(a | b),
        "^" => Some(a ^ b),
        "&" => Some(a & b),
        "==" => truth(a == b),
        "!=" => truth(a != b),
        "<" => truth(a < b),
        "<=" => truth(a <= b),
        ">" => truth(a > b),
        ">=" => truth(a >= b),
        "<<" => a.checked_shl(shift()?),
        ">>" => a.checked_shr(shift()?),
        "+" => a.checked_add(b),
        "-" => a.checked_sub(b),
        "*" => a.checked_mul(b),
        "/" => a.checked_div(b),
        _ => a.checked_rem(b),
    }
}
