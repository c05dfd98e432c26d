//! The JSON schema of a type, as the model is told it.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;

/// Everything in one place and nothing that only tools for schemas need.
pub(crate) fn of<T: JsonSchema>() -> String {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    schema.as_value().to_string()
}
