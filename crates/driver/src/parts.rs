//! Methods of several engines: the settings of all of them together.

use engine::settings::{SettingError, Settings};

/// Gives a setting another value where a method has parts with settings of their own, whose names differ.
///
/// # Errors
/// No part has a setting of the name, or the text is no value of it.
pub fn set_in_parts<const N: usize>(
    parts: [&mut dyn Settings; N],
    name: &str,
    value: &str,
) -> Result<(), SettingError> {
    let made = parts.into_iter().map(|part| part.set(name, value));
    made.into_iter().find(|made| *made != Err(SettingError::Unknown)).unwrap_or(Err(SettingError::Unknown))
}
