//! What is to be said about JSON.

use serde_json::Value;

/// Whether a value has numbers with a fraction, whose last digit another reading may change.
pub(crate) fn has_fractions(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64(),
        Value::Array(values) => values.iter().any(has_fractions),
        Value::Object(fields) => fields.values().any(has_fractions),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}
