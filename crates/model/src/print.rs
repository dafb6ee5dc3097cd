//! Values in the user's names.

use crate::Model;
use crate::value::Value;

/// A value as the user writes it: `true`, `3`, an enumeration's word, `none`. A process of the program's only indexed
/// family is shown by its index, any other by its name.
pub fn value(model: &Model, value: Value) -> String {
    match value {
        Value::Bool(truth) => truth.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Enum(id, at) => model.enums[id].values[at as usize].clone(),
        Value::None => "none".to_string(),
        Value::Process(id) => {
            let process = &model.processes[id];
            let n_indexed = model.families.iter().filter(|family| family.index.is_some()).count();
            match model.families[process.family].index {
                Some(_) if n_indexed == 1 => process.index.to_string(),
                _ => process.name.clone(),
            }
        }
    }
}
