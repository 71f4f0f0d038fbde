//! Resources: `amem://brief`, `amem://event/{id}`, `amem://timeline?day=`.

use serde_json::{Map, Value, json};

use crate::arguments::{Arguments, Words};
use crate::brief::known;
use crate::calls::MemoryCalls;
use crate::memories::Memories;
use crate::tools;

/// The resource of the brief.
pub(crate) const BRIEF: &str = "amem://brief";
/// The form of a memory's.
pub(crate) const EVENT: &str = "amem://event/{id}";
/// The form of a day's.
pub(crate) const TIMELINE: &str = "amem://timeline{?day}";

/// The text of a resource; `None` if there is no such resource.
pub(crate) async fn read<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    uri: &str,
) -> Option<Words<String>> {
    let rest = uri.strip_prefix("amem://")?;
    if rest == "brief" {
        return Some(known(memories).await);
    }
    if let Some(id) = rest.strip_prefix("event/") {
        return Some(
            call(
                memories,
                "recall",
                json!({"ids": [id], "max_tokens": 2_000}),
            )
            .await,
        );
    }
    let query = rest.strip_prefix("timeline")?;
    let day = match query.strip_prefix("?day=") {
        Some(day) => day.replace("%20", " ").replace('+', " "),
        None if query.is_empty() => "today".to_owned(),
        None => return None,
    };
    let clock = memories.clock();
    let next = match amem_query::time_phrase::parse_phrase(&day, &clock) {
        Ok(time) => next_day(time.at, memories),
        Err(why) => return Some(Err(why.to_string())),
    };
    let arguments = json!({"since": day, "until": next, "max_tokens": 2_000});
    Some(call(memories, "timeline", arguments).await)
}

/// The day after that of a time.
fn next_day<C>(time: amem_format::Micros, memories: &Memories<'_, C>) -> String {
    let local = crate::answer::local(time, &memories.place.zone);
    let next = local.and_then(|local| local.date().tomorrow().ok());
    next.map_or_else(String::new, |day| day.to_string())
}

/// A tool with arguments of our own.
pub(crate) async fn call<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    tool: &str,
    arguments: Value,
) -> Words<String> {
    let values = match arguments {
        Value::Object(values) => values,
        _ => Map::new(),
    };
    let schema = crate::catalogue::schema_of(tool)
        .cloned()
        .unwrap_or_default();
    let arguments = Arguments::new(tool, &schema, Some(values))?;
    match tools::run(memories, tool, arguments).await {
        Some(answer) => answer,
        None => Err(format!("there is no tool {tool:?}")),
    }
}
