//! Values as JSON and back, by type.

use model::Model;
use model::types::{ScalarType, Type};
use model::value::Value;
use serde_json::{Value as Json, json};

/// Numbers beyond this are written as text, because JSON readers may round them.
const EXACT: i64 = 1 << 53;

/// A scalar: truth values and numbers as such, all else by name.
pub fn scalar_to_json(model: &Model, value: Value) -> Json {
    match value {
        Value::Bool(truth) => json!(truth),
        Value::Int(number) if number.unsigned_abs() <= EXACT as u64 => json!(number),
        Value::Int(number) => json!({ "#bigint": number.to_string() }),
        Value::Enum(id, at) => json!(model.enums[id].values[at as usize]),
        Value::None => json!("none"),
        Value::Process(id) => json!(model.processes[id].name),
    }
}

/// A variable's cells, in layout order, as nested lists.
pub fn to_json(model: &Model, ty: &Type, cells: &[Value]) -> Json {
    match ty {
        Type::Scalar(_) => cells.first().map_or(Json::Null, |&value| scalar_to_json(model, value)),
        Type::Array { element, len } => {
            let size = element.n_cells();
            Json::Array((0..*len).map(|at| to_json(model, element, &cells[at * size..(at + 1) * size])).collect())
        }
    }
}

/// Appends the cells of a variable; what is wrong, in words, where the JSON does not fit the type.
pub fn from_json(model: &Model, ty: &Type, json: &Json, cells: &mut Vec<Value>) -> Result<(), String> {
    match ty {
        Type::Scalar(scalar) => {
            cells.push(scalar_from_json(model, *scalar, json)?);
            Ok(())
        }
        Type::Array { element, len } => match json.as_array() {
            Some(items) if items.len() == *len => {
                items.iter().try_for_each(|item| from_json(model, element, item, cells))
            }
            Some(items) => Err(format!("a list of {} elements where there are {len}", items.len())),
            None => Err(format!("{} where a list of {len} elements is needed", brief(json))),
        },
    }
}

fn scalar_from_json(model: &Model, ty: ScalarType, json: &Json) -> Result<Value, String> {
    let misfit = || format!("{} is no value of the variable's type", brief(json));
    let value = match (ty, json) {
        (ScalarType::Bool, Json::Bool(truth)) => Value::Bool(*truth),
        (ScalarType::Range { .. } | ScalarType::Semaphore { .. }, number) => {
            Value::Int(integer(number).ok_or_else(misfit)?)
        }
        (ScalarType::Enum(id), Json::String(name)) => {
            let at = model.enums[id].values.iter().position(|value| value == name).ok_or_else(misfit)?;
            Value::Enum(id, at as u32)
        }
        (ScalarType::PidOrNone(_) | ScalarType::Lock, Json::String(name)) if name == "none" => Value::None,
        (ScalarType::Pid(_) | ScalarType::PidOrNone(_) | ScalarType::Lock, Json::String(name)) => {
            let process = model.processes.entries().find(|(_, process)| process.name == *name);
            Value::Process(process.ok_or_else(misfit)?.0)
        }
        (ScalarType::Pid(family) | ScalarType::PidOrNone(family), number) => {
            let index = integer(number).ok_or_else(misfit)?;
            Value::Process(model.families[family].process_at(index).ok_or_else(misfit)?)
        }
        _ => return Err(misfit()),
    };
    if ty.contains(value, model.type_context()) { Ok(value) } else { Err(misfit()) }
}

/// A whole number, written as such or as `{"#bigint": "…"}`.
pub fn integer(json: &Json) -> Option<i64> {
    match json {
        Json::Number(number) => number.as_i64(),
        Json::Object(fields) => fields.get("#bigint")?.as_str()?.parse().ok(),
        _ => None,
    }
}

/// A JSON value, short enough for a message.
pub fn brief(json: &Json) -> String {
    match json {
        Json::Array(items) => format!("a list of {} elements", items.len()),
        Json::Object(_) => "a record".to_owned(),
        Json::String(text) => format!("\"{}\"", text.chars().take(40).flat_map(char::escape_debug).collect::<String>()),
        other => other.to_string(),
    }
}
