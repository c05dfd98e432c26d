//! What the attributes make of functions.

use airlock_plugin::testing::Host;
use airlock_plugin::{Command as _, Content, Error, Kind, Result, Tool as _, command, data, tool};
use serde_json::{Value, json};

/// How to sort.
#[data]
#[serde(rename_all = "lowercase")]
enum Order {
    Up,
    Down,
}

/// Sorts numbers.
///
/// The order may be
/// left out.
#[tool(effects = ["read"])]
fn sort(
    /// The numbers.
    numbers: Vec<i64>,
    order: Option<Order>,
) -> Vec<i64> {
    let mut sorted = numbers;
    sorted.sort_unstable();
    if let Some(Order::Down) = order {
        sorted.reverse();
    }
    sorted
}

#[data]
struct Both {
    /// What to divide.
    dividend: i64,
    #[serde(default)]
    divisor: Option<i64>,
}

#[tool(name = "divide-it", description = "Divides")]
fn divide(args: Both) -> Result<String> {
    let divisor = args.divisor.ok_or_else(|| Error::invalid("by what?"))?;
    let quotient = args.dividend.checked_div(divisor);
    quotient.map(|quotient| quotient.to_string()).ok_or_else(|| Error::new(Kind::Other("zero".into()), "no"))
}

/// Greets.
#[command(hint = "<name>")]
fn greet(name: String) -> String {
    format!("Greet {name}")
}

/// Takes nothing.
#[tool]
fn nothing() {}

airlock_plugin::export!(tools: [sort, divide, nothing], commands: [greet]);

fn schema(name: &str) -> Value {
    use airlock_plugin::__private::Plugin as _;
    let mut tools = AirlockPlugin::TOOLS.iter();
    let tool = tools.find(|tool| tool.name == name).expect("a tool");
    serde_json::from_str(&(tool.schema)()).expect("JSON")
}

#[test]
fn parameters_are_properties() {
    assert_eq!(sort::DESCRIPTION, "Sorts numbers.\n\nThe order may be left out.");
    assert_eq!(sort::EFFECTS, ["read"]);
    let schema = schema("sort");
    assert_eq!(schema["type"], "object");
    assert_eq!(schema["required"], json!(["numbers"]));
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(schema["properties"]["numbers"]["description"], "The numbers.");
    assert_eq!(schema["properties"]["numbers"]["items"]["type"], "integer");
    assert_eq!(schema["properties"]["order"]["enum"], json!(["up", "down", null]));
    assert!(!schema.to_string().contains("$ref"), "{schema:#}");
}

#[test]
fn a_struct_can_hold_all_arguments() {
    assert_eq!((divide::NAME, divide::DESCRIPTION), ("divide-it", "Divides"));
    assert_eq!(schema("divide-it")["required"], json!(["dividend"]));
    assert_eq!(schema("divide-it")["properties"]["dividend"]["description"], "What to divide.");
    assert_eq!(schema("nothing")["type"], "object");
}

#[test]
fn strings_are_text_and_all_else_is_data() {
    let host = Host::new();
    let text = host.call::<divide>(json!({"dividend": 7, "divisor": 2}));
    assert_eq!(text, Ok(Content::Text("3".into())));
    let data = host.call::<sort>(json!({"numbers": [1, 3, 2], "order": "down"}));
    assert_eq!(data, Ok(Content::Json("[3,2,1]".into())));
    assert_eq!(host.call::<nothing>(json!({})), Ok(Content::Json("null".into())));
    assert_eq!(host.expand::<greet>("Ann"), Ok("Greet Ann".into()));
    assert_eq!((greet::NAME, greet::HINT), ("greet", "<name>"));
}

#[test]
fn what_does_not_fit_is_invalid_and_an_error_keeps_its_kind() {
    let host = Host::new();
    for input in [json!({}), json!({"numbers": "x"}), json!({"numbers": [], "more": 1})] {
        let error = host.call::<sort>(&input).expect_err("it does not fit");
        assert_eq!(*error.kind(), Kind::Invalid, "{input}");
    }
    let error = host.call::<divide>(json!({"dividend": 1, "divisor": 0})).expect_err("by zero");
    assert_eq!(error.kind().code(), "zero");
}
