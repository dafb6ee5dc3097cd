//! Settings of engines: what bounds them, as values with names that a user can give others.
//!
//! An engine declares its settings once, as a struct made by [`config!`](crate::config): each field has a type, today's value and the
//! reason for it. From that follow `Default`, the list that `piecewise explain METHOD` shows, and what `--set NAME=VALUE` does.

use std::time::Duration;

/// One setting, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The name for `--set`.
    pub name: String,
    /// What it bounds, and why it has its value.
    pub about: String,
    /// The value now.
    pub value: String,
}

/// Values with names.
pub trait Settings {
    /// All of them.
    fn list(&self) -> Vec<Setting>;

    /// Gives one of them another value.
    ///
    /// # Errors
    /// No setting has the name, or the text is no value of it.
    fn set(&mut self, name: &str, value: &str) -> Result<(), SettingError>;
}

/// Why a setting cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingError {
    /// No setting has the name.
    Unknown,
    /// The text is no value; how to write one.
    Value(&'static str),
}

/// The type of a setting.
pub trait Amount: Sized {
    /// How values are written.
    const HOW: &'static str;

    /// Reads a value.
    fn read(text: &str) -> Option<Self>;

    /// Writes it as it is read.
    fn show(&self) -> String;
}

/// A size in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

impl Amount for usize {
    const HOW: &'static str = "write a whole number from 1 on";

    fn read(text: &str) -> Option<Self> {
        text.parse().ok().filter(|&count| count > 0)
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl Amount for Bytes {
    const HOW: &'static str = "write a size as 512K, 64M or 2G";

    fn read(text: &str) -> Option<Self> {
        let (digits, shift) = match text.char_indices().last()? {
            (at, 'K') => (&text[..at], 10),
            (at, 'M') => (&text[..at], 20),
            (at, 'G') => (&text[..at], 30),
            _ => (text, 0),
        };
        let count: u64 = digits.parse().ok().filter(|&count| count > 0)?;
        count.checked_mul(1 << shift).map(Bytes)
    }

    fn show(&self) -> String {
        let Bytes(bytes) = *self;
        match bytes {
            _ if bytes.is_multiple_of(1 << 30) => format!("{}G", bytes >> 30),
            _ if bytes.is_multiple_of(1 << 20) => format!("{}M", bytes >> 20),
            _ if bytes.is_multiple_of(1 << 10) => format!("{}K", bytes >> 10),
            _ => bytes.to_string(),
        }
    }
}

impl Amount for Duration {
    const HOW: &'static str = "write a time as 500ms or 10s";

    fn read(text: &str) -> Option<Self> {
        let millis = match text.strip_suffix("ms") {
            Some(digits) => digits.parse().ok()?,
            None => text.strip_suffix('s')?.parse::<u64>().ok()?.checked_mul(1000)?,
        };
        (millis > 0).then(|| Duration::from_millis(millis))
    }

    fn show(&self) -> String {
        let millis = self.as_millis();
        if millis.is_multiple_of(1000) { format!("{}s", millis / 1000) } else { format!("{millis}ms") }
    }
}

/// Declares the settings of an engine: a struct whose fields have today's values as defaults.
#[macro_export]
macro_rules! config {
    (
        $(#[doc = $title:literal])+
        pub struct $name:ident {
            $( $(#[doc = $about:literal])+ pub $field:ident: $amount:ty = $default:expr, )+
        }
    ) => {
        $(#[doc = $title])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name {
            $( $(#[doc = $about])+ pub $field: $amount, )+
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $( $field: $default, )+ }
            }
        }

        impl $crate::settings::Settings for $name {
            fn list(&self) -> Vec<$crate::settings::Setting> {
                vec![$( $crate::settings::Setting {
                    name: stringify!($field).replace('_', "-"),
                    about: [$($about),+].join("").trim().to_owned(),
                    value: $crate::settings::Amount::show(&self.$field),
                }, )+]
            }

            fn set(&mut self, name: &str, value: &str) -> Result<(), $crate::settings::SettingError> {
                use $crate::settings::{Amount, SettingError};
                match name.replace('-', "_").as_str() {
                    $( stringify!($field) => {
                        let how = <$amount as Amount>::HOW;
                        self.$field = <$amount as Amount>::read(value).ok_or(SettingError::Value(how))?;
                        Ok(())
                    } )+
                    _ => Err(SettingError::Unknown),
                }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    config! {
        /// For the test.
        pub struct Config {
            /// So many at most.
            pub most_rounds: usize = 8,
            /// As long as this:
            /// a moment.
            pub moment: Duration = Duration::from_millis(45),
            /// As much as this.
            pub room: Bytes = Bytes(192 << 20),
        }
    }

    #[test]
    fn settings_are_listed_with_todays_values_and_read_back() {
        let mut config = Config::default();
        let shown = |config: &Config| config.list().into_iter().map(|one| (one.name, one.value)).collect::<Vec<_>>();
        let pairs = |list: &[(&str, &str)]| -> Vec<(String, String)> {
            list.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        assert_eq!(shown(&config), pairs(&[("most-rounds", "8"), ("moment", "45ms"), ("room", "192M")]));
        assert_eq!(config.list()[1].about, "As long as this: a moment.");
        for (name, value) in [("most-rounds", "9"), ("moment", "2s"), ("room", "1G")] {
            assert_eq!(config.set(name, value), Ok(()));
        }
        assert_eq!(shown(&config), pairs(&[("most-rounds", "9"), ("moment", "2s"), ("room", "1G")]));
        let before = config;
        assert_eq!(config.set("rounds", "9"), Err(SettingError::Unknown));
        for (name, value) in [("most-rounds", "0"), ("most-rounds", "many"), ("moment", "2"), ("room", "1T")] {
            assert!(matches!(config.set(name, value), Err(SettingError::Value(_))), "{name}={value}");
        }
        assert_eq!(config, before);
    }
}
