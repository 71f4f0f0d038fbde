//! The suite's tools: their list, and those that answer without a question to the client.

use std::sync::Arc;
use std::time::Duration;

use amem_mcp::rmcp::RoleServer;
use amem_mcp::rmcp::model::{
    CallToolResult, ContentBlock, LoggingLevel, LoggingMessageNotificationParam,
    ProgressNotificationParam, ResourceContents, Tool,
};
use amem_mcp::rmcp::service::RequestContext;
use serde_json::{Map, Value, json};

use crate::questions::TOOLS_THAT_ASK;
use crate::samples::{PNG, WAV};

/// The tools that need no answer of the client.
const TOOLS: &[&str] = &[
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_error_handling",
    "test_tool_with_logging",
    "test_logging_tool",
    "test_tool_with_progress",
    "test_header",
    "json_schema_2020_12_tool",
];

/// The list of the suite's tools.
pub(crate) fn tools() -> Vec<Tool> {
    let names = TOOLS.iter().chain(TOOLS_THAT_ASK);
    names.filter_map(|name| tool(name)).collect()
}

/// A tool of the suite; `None` if it is none of them.
pub(crate) fn tool(name: &str) -> Option<Tool> {
    let name = TOOLS
        .iter()
        .chain(TOOLS_THAT_ASK)
        .find(|known| **known == name)?;
    let schema = match schema(name) {
        Value::Object(schema) => schema,
        _ => Map::new(),
    };
    Some(Tool::new(
        *name,
        "A tool of the conformance suite",
        Arc::new(schema),
    ))
}

fn schema(name: &str) -> Value {
    let text = json!({"type": "string"});
    match name {
        "test_sampling" => {
            json!({"type": "object", "properties": {"prompt": text}, "required": ["prompt"]})
        }
        "test_elicitation" => {
            json!({"type": "object", "properties": {"message": text}, "required": ["message"]})
        }
        "test_header" => {
            let region = json!({"type": "string", "x-mcp-header": "Region"});
            json!({"type": "object", "properties": {"region": region}, "required": ["region"]})
        }
        "json_schema_2020_12_tool" => json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {"address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": text, "city": text},
            }},
            "properties": {
                "name": text,
                "address": {"$ref": "#/$defs/address"},
                "contactMethod": {"type": "string", "enum": ["phone", "email"]},
                "phone": text,
                "email": text,
            },
            "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
            "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
            "then": {"required": ["phone"]},
            "else": {"required": ["email"]},
            "additionalProperties": false,
        }),
        _ => json!({"type": "object", "properties": {}}),
    }
}

/// The answer of a tool that asks for nothing; `None` if it is none of them.
pub(crate) async fn answer(
    name: &str,
    context: &RequestContext<RoleServer>,
) -> Option<CallToolResult> {
    let text = ContentBlock::text;
    let data = |uri: &str| {
        let contents = ResourceContents::text(r#"{"test":"data","value":123}"#, uri);
        ContentBlock::resource(contents.with_mime_type("application/json"))
    };
    let content = match name {
        "test_simple_text" => vec![text("This is a simple text response for testing.")],
        "test_image_content" => vec![ContentBlock::image(PNG, "image/png")],
        "test_audio_content" => vec![ContentBlock::audio(WAV, "audio/wav")],
        "test_embedded_resource" => {
            vec![ContentBlock::embedded_text(
                "test://embedded-resource",
                "An embedded resource.",
            )]
        }
        "test_multiple_content_types" => vec![
            text("Multiple content types test:"),
            ContentBlock::image(PNG, "image/png"),
            data("test://mixed-content-resource"),
        ],
        "test_error_handling" => {
            let why = "This tool intentionally returns an error for testing";
            return Some(CallToolResult::error(vec![text(why)]));
        }
        "test_tool_with_logging" | "test_logging_tool" => {
            log(context).await;
            vec![text("It is logged.")]
        }
        "test_tool_with_progress" => {
            progress(context).await;
            vec![text("It is done.")]
        }
        "test_header" | "json_schema_2020_12_tool" => vec![text("The arguments are in order.")],
        _ => return None,
    };
    Some(CallToolResult::success(content))
}

/// Between two notifications, so that the client sees each by itself.
const PAUSE: Duration = Duration::from_millis(50);

/// Logs three lines, in the newer era only if the request asks for it.
async fn log(context: &RequestContext<RoleServer>) {
    let is_newer = context.meta.protocol_version().is_some();
    if is_newer && context.meta.log_level().is_none() {
        return;
    }
    for line in [
        "Tool execution started",
        "Tool processing data",
        "Tool execution completed",
    ] {
        let line = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(line));
        // A client that is gone needs no line.
        drop(context.peer.notify_logging_message(line).await);
        tokio::time::sleep(PAUSE).await;
    }
}

/// Reports none, half and all, if the request asks for it.
async fn progress(context: &RequestContext<RoleServer>) {
    let Some(token) = context.meta.get_progress_token() else {
        return;
    };
    for done in [0.0, 50.0, 100.0] {
        let report = ProgressNotificationParam::new(token.clone(), done).with_total(100.0);
        // A client that is gone needs no report.
        drop(context.peer.notify_progress(report).await);
        tokio::time::sleep(PAUSE).await;
    }
}
