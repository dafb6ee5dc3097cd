//! Scope: for which sizes of a program a verdict is true.
//!
//! In: what a method proved, and at which sizes. Out: the same as data, for certificates, proof files and result documents
//! (`{"kind": "instance"}` or `{"kind": "all", "parameter": "N", "from": 2, "checked": [2, 3]}`), and in words. A claim for every
//! size is one certificate from some size on, together with a check of each smaller size that the program allows.

use std::fmt;

use serde::{Deserialize, Serialize};

/// For which sizes something is true.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", deny_unknown_fields)]
pub enum Scope {
    /// For this instance: the parameters have the values that they have.
    #[default]
    #[serde(rename = "instance")]
    Instance,
    /// For every value of the parameter that the program allows; the other parameters have the values that they have.
    #[serde(rename = "all")]
    AllSizes {
        /// The parameter's name.
        parameter: String,
        /// The least value for which it is proved in one go.
        from: i64,
        /// The values that were checked one by one, ascending: the smaller ones, and whatever else was.
        checked: Vec<i64>,
    },
}

impl Scope {
    /// Whether it is about one instance only.
    pub fn is_instance(&self) -> bool {
        *self == Scope::Instance
    }

    /// Whether it is about this value of a parameter, among others: one from which on it is proved, or that was checked.
    pub fn includes(&self, name: &str, value: i64) -> bool {
        match self {
            Scope::Instance => false,
            Scope::AllSizes { parameter, from, checked } => {
                parameter == name && (value >= *from || checked.contains(&value))
            }
        }
    }

    /// Whether a program whose parameter has this least value is covered: every value from the least on is checked or proved.
    pub fn covers_from(&self, least: i64) -> bool {
        match self {
            Scope::Instance => false,
            Scope::AllSizes { from, checked, .. } => (least..*from).all(|size| checked.contains(&size)),
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scope::Instance => write!(f, "this instance"),
            Scope::AllSizes { parameter, from, checked } => {
                let mut least = *from;
                while checked.contains(&(least - 1)) {
                    least -= 1;
                }
                write!(f, "every {parameter} ≥ {least}")?;
                let smaller: Vec<String> = (least..*from).map(|size| format!("{parameter} = {size}")).collect();
                match smaller.is_empty() {
                    true => Ok(()),
                    false => write!(f, " ({} by search)", smaller.join(", ")),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(from: i64, checked: &[i64]) -> Scope {
        Scope::AllSizes { parameter: "N".to_owned(), from, checked: checked.to_vec() }
    }

    #[test]
    fn documents_name_the_scope_as_the_contract_says() {
        let text = |scope: &Scope| serde_json::to_string(scope).unwrap();
        assert_eq!(text(&Scope::Instance), r#"{"kind":"instance"}"#);
        assert_eq!(text(&all(2, &[2, 3])), r#"{"kind":"all","parameter":"N","from":2,"checked":[2,3]}"#);
        for scope in [Scope::Instance, all(4, &[2, 3])] {
            assert_eq!(serde_json::from_str::<Scope>(&text(&scope)).unwrap(), scope);
        }
        assert!(serde_json::from_str::<Scope>(r#"{"kind":"some"}"#).is_err());
    }

    #[test]
    fn every_size_is_proved_or_checked() {
        assert!(all(4, &[2, 3]).covers_from(2) && all(2, &[]).covers_from(2));
        assert!(!all(4, &[2]).covers_from(2) && !Scope::Instance.covers_from(2));
        assert_eq!(all(4, &[2, 3, 7]).to_string(), "every N ≥ 2 (N = 2, N = 3 by search)");
        assert_eq!(all(2, &[2]).to_string(), "every N ≥ 2");
    }
}
