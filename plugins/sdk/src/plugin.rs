//! What the attributes make of functions, and what `export!` makes of a crate.

use crate::error::{Error, Result};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A tool. `#[tool]` writes this; a function's name is its type's too.
pub trait Tool {
    /// As the model calls it.
    const NAME: &'static str;
    /// What the model is told.
    const DESCRIPTION: &'static str;
    /// What a call may do: `read`, `write`, `exec`, `http`.
    const EFFECTS: &'static [&'static str];
    /// What it takes.
    type Arguments: DeserializeOwned + JsonSchema;

    /// Runs it.
    fn run(arguments: Self::Arguments) -> Result<impl Serialize>;
}

/// A slash command. `#[command]` writes this.
pub trait Command {
    /// As users type it, without the slash.
    const NAME: &'static str;
    /// What users are told.
    const DESCRIPTION: &'static str;
    /// What to type after it.
    const HINT: &'static str;

    /// The prompt that it stands for.
    fn expand(arguments: &str) -> Result<String>;
}

/// A piece of a tool's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Text, as it is.
    Text(String),
    /// Data, as JSON.
    Json(String),
}

/// What a crate exports.
#[doc(hidden)]
pub trait Plugin {
    const TOOLS: &'static [ToolEntry];
    const COMMANDS: &'static [CommandEntry];
}

#[doc(hidden)]
pub struct ToolEntry {
    pub name: &'static str,
    pub description: &'static str,
    pub effects: &'static [&'static str],
    pub schema: fn() -> String,
    pub call: fn(&str) -> Result<Content>,
}

impl ToolEntry {
    pub const fn of<T: Tool>() -> Self {
        Self {
            name: T::NAME,
            description: T::DESCRIPTION,
            effects: T::EFFECTS,
            schema: crate::schema::of::<T::Arguments>,
            call: call::<T>,
        }
    }
}

#[doc(hidden)]
pub struct CommandEntry {
    pub name: &'static str,
    pub description: &'static str,
    pub hint: &'static str,
    pub expand: fn(&str) -> Result<String>,
}

impl CommandEntry {
    pub const fn of<C: Command>() -> Self {
        Self { name: C::NAME, description: C::DESCRIPTION, hint: C::HINT, expand: C::expand }
    }
}

/// Runs a tool with arguments as the model writes them.
pub(crate) fn call<T: Tool>(arguments: &str) -> Result<Content> {
    let arguments = serde_json::from_str(arguments)
        .map_err(|error| Error::invalid(format!("the arguments do not fit: {error}")))?;
    content(&T::run(arguments)?)
}

/// A string is text, all else is data.
fn content(answer: &impl Serialize) -> Result<Content> {
    let json = serde_json::to_string(answer)?;
    if json.starts_with('"') {
        return Ok(Content::Text(serde_json::from_str(&json)?));
    }
    Ok(Content::Json(json))
}

/// Makes the crate a plugin: names its tools, and its commands where there are any.
///
/// ```
/// # use airlock_plugin::{tool, command};
/// # /// Says hello.
/// # #[tool]
/// # fn hello() -> String { "hello".to_owned() }
/// # /// Greets.
/// # #[command(hint = "<name>")]
/// # fn greet(name: &str) -> String { format!("Greet {name}") }
/// airlock_plugin::export!(tools: [hello], commands: [greet]);
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! export {
    (tools: [$($tool:path),* $(,)?] $(,)?) => {
        $crate::export!(@plugin [$($tool),*] []);
    };
    (commands: [$($command:path),* $(,)?] $(,)?) => {
        $crate::export!(tools: [], commands: [$($command),*]);
    };
    (tools: [$($tool:path),* $(,)?], commands: [$($command:path),* $(,)?] $(,)?) => {
        $crate::export!(@plugin [$($tool),*] [$($command),*]);
        #[cfg(target_family = "wasm")]
        const _: () = {
            use $crate::__private::commands_world;
            commands_world::export_commands!(AirlockPlugin with_types_in commands_world);
        };
    };
    (@plugin [$($tool:path),*] [$($command:path),*]) => {
        #[doc(hidden)]
        pub struct AirlockPlugin;

        impl $crate::__private::Plugin for AirlockPlugin {
            const TOOLS: &'static [$crate::__private::ToolEntry] =
                &[$($crate::__private::ToolEntry::of::<$tool>()),*];
            const COMMANDS: &'static [$crate::__private::CommandEntry] =
                &[$($crate::__private::CommandEntry::of::<$command>()),*];
        }

        #[cfg(target_family = "wasm")]
        const _: () = {
            use $crate::__private::tools_world;
            tools_world::export_tools!(AirlockPlugin with_types_in tools_world);
        };
    };
}
