//! What the suite's prompts and resources hold, and the smallest picture and sound.

use amem_mcp::rmcp::model::{ContentBlock, GetPromptResult, PromptMessage, ResourceContents, Role};
use serde_json::{Map, Value, json};

/// A picture of one black point, as PNG.
pub(crate) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg==";
/// Two samples of silence, as WAV.
pub(crate) const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQIAAACAgA==";

/// The resources of the suite: their URI, MIME type and what they are.
pub(crate) const RESOURCES: &[(&str, &str, &str)] = &[
    ("test://static-text", "text/plain", "A text"),
    ("test://static-binary", "image/png", "A picture"),
    (
        "test://watched-resource",
        "text/plain",
        "What clients follow",
    ),
];
/// The form of those that have an id.
pub(crate) const TEMPLATE: &str = "test://template/{id}/data";

/// The prompts of the suite: their name and their arguments, which are all required.
pub(crate) const PROMPTS: &[(&str, &[&str])] = &[
    ("test_simple_prompt", &[]),
    ("test_prompt_with_arguments", &["arg1", "arg2"]),
    ("test_prompt_with_embedded_resource", &["resourceUri"]),
    ("test_prompt_with_image", &[]),
    ("test_input_required_result_prompt", &[]),
];

/// A resource of the suite; `None` if it is none of them.
pub(crate) fn resource(uri: &str) -> Option<ResourceContents> {
    match uri {
        "test://static-text" => {
            let text = "This is the content of the static text resource.";
            Some(ResourceContents::text(text, uri))
        }
        "test://watched-resource" => Some(ResourceContents::text("It never changes.", uri)),
        "test://static-binary" => {
            Some(ResourceContents::blob(PNG, uri).with_mime_type("image/png"))
        }
        _ => {
            let id = uri
                .strip_prefix("test://template/")?
                .strip_suffix("/data")?;
            let data = format!("Data for ID: {id}");
            let text = json!({"id": id, "templateTest": true, "data": data}).to_string();
            Some(ResourceContents::text(text, uri).with_mime_type("application/json"))
        }
    }
}

/// A prompt of the suite that asks for nothing; `None` if it is none of them.
pub(crate) fn prompt(name: &str, arguments: &Map<String, Value>) -> Option<GetPromptResult> {
    let argument = |name: &str| {
        arguments
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let parts = match name {
        "test_simple_prompt" => vec![ContentBlock::text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            let (one, two) = (argument("arg1"), argument("arg2"));
            let text = format!("Prompt with arguments: arg1='{one}', arg2='{two}'");
            vec![ContentBlock::text(text)]
        }
        "test_prompt_with_embedded_resource" => vec![
            ContentBlock::embedded_text(argument("resourceUri"), "An embedded resource."),
            ContentBlock::text("Please process the embedded resource above."),
        ],
        "test_prompt_with_image" => vec![
            ContentBlock::image(PNG, "image/png"),
            ContentBlock::text("Please analyze the image above."),
        ],
        _ => return None,
    };
    let messages = parts
        .into_iter()
        .map(|part| PromptMessage::new(Role::User, part));
    Some(GetPromptResult::new(messages.collect()))
}
