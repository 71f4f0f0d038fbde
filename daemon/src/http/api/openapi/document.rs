//! The document: an operation for each method of each path.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use amem_proto::json::descriptors;
use prost_reflect::{Kind, MessageDescriptor, MethodDescriptor};
use serde_json::{Map, Value, json};

use super::super::route::{Route, RouteCall, RouteInput, RouteTarget};
use super::super::routes;
use super::comments::Comments;
use super::fragment::{Answer, Fragment, OperationDoc};
use super::schemas::{Schemas, describe, reference};

/// Made once.
static DOCUMENT: LazyLock<(Value, Arc<str>)> = LazyLock::new(|| {
    let document = make();
    let text = format!("{document:#}\n").into();
    (document, text)
});

/// The document, and its text.
pub(in super::super) fn document() -> (&'static Value, &'static str) {
    (&DOCUMENT.0, &DOCUMENT.1)
}

/// The text of the document, which `amemd --openapi` prints.
pub(crate) fn description() -> &'static str {
    &DOCUMENT.1
}

fn make() -> Value {
    let comments = Comments::read();
    let fragment = Fragment::read();
    let mut schemas = Schemas::new(&comments);
    let (mut paths, mut names) = (Map::new(), HashMap::new());
    for route in routes::all() {
        for path in route.paths {
            let operation = match route.input {
                RouteInput::Message(rpc) => of_call(route, path, rpc, &comments, &mut schemas),
                RouteInput::Options(name) => of_options(path, name, &fragment),
            };
            let operation = named(operation, &mut names);
            let item = paths.entry(*path).or_insert_with(|| json!({}));
            item[route.method.to_lowercase()] = operation;
        }
    }
    let mut all = schemas.into_map();
    for (name, schema) in fragment.schemas {
        assert!(!all.contains_key(&name), "two schemas have the name {name}");
        all.insert(name, schema);
    }
    let mut tags = tags(&comments);
    tags.extend(fragment.tags);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "amemd",
            "version": env!("CARGO_PKG_VERSION"),
            "description": fragment.description,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "security": [{"bearer": []}, {"key": []}],
        "tags": tags,
        "paths": paths,
        "components": {
            "securitySchemes": fragment.security_schemes,
            "parameters": fragment.parameters,
            "responses": fragment.responses,
            "schemas": all,
        },
    })
}

/// Refers to a parameter of the fragment.
fn shared(name: &str) -> Value {
    json!({"$ref": format!("#/components/parameters/{name}")})
}

/// Gives an operation a name that no other has.
fn named(mut operation: Value, names: &mut HashMap<String, usize>) -> Value {
    let name = operation["operationId"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let count = names.entry(name.clone()).or_default();
    *count += 1;
    if *count > 1 {
        operation["operationId"] = format!("{name}_{count}").into();
    }
    operation
}

/// The values in a path.
fn in_path(path: &str) -> Vec<Value> {
    let values = path.split('/').filter_map(|part| {
        let name = part.strip_prefix('{')?.strip_suffix('}')?;
        Some(json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}))
    });
    values.collect()
}

fn method_of(rpc: &RouteCall) -> Option<MethodDescriptor> {
    let (service, method) = rpc.path.strip_prefix('/')?.split_once('/')?;
    let service = descriptors().get_service_by_name(service)?;
    service.methods().find(|found| found.name() == method)
}

fn of_call(
    route: &Route,
    path: &str,
    rpc: &RouteCall,
    comments: &Comments,
    schemas: &mut Schemas<'_>,
) -> Value {
    let Some(method) = method_of(rpc) else {
        return Value::Null;
    };
    let comment = comments.of(method.parent_file().name(), method.path());
    let is_read = route.method == "GET";
    let mut operation = json!({
        "operationId": format!("{}{}", method.name(), if is_read { "ByGet" } else { "" }),
        "tags": [method.parent_service().name()],
        "summary": first_sentence(comment),
    });
    describe(&mut operation, comment);
    let mut parameters = in_path(path);
    let request = method.input();
    if is_read {
        parameters.extend(in_query(&request, "", schemas));
    }
    if method.is_server_streaming() {
        parameters.push(json!({"name": "after", "in": "query", "schema": {"type": "string", "format": "uint64"}, "description": "The same as afterLsn."}));
        parameters.push(json!({"name": "Last-Event-ID", "in": "header", "schema": {"type": "string"}, "description": "The id of the event that came last: the stream goes on after it."}));
    }
    if request.get_field_by_name("options").is_some() {
        parameters.extend(["Agent", "IdempotencyKey", "IfMatch"].map(shared));
    }
    if is_read && rpc.place == RouteTarget::Brain && !method.is_server_streaming() {
        parameters.push(shared("IfNoneMatch"));
    }
    parameters.push(shared("Timeout"));
    operation["parameters"] = parameters.into();
    if !is_read {
        let schema = schemas.message(&request);
        operation["requestBody"] = json!({
            "description": "The brain is that of the path.",
            "content": {"application/json": {"schema": schema}},
        });
        if rpc.place == RouteTarget::Daemon {
            operation["requestBody"]["description"] = "The request.".into();
        }
    }
    let answer = schemas.message(&method.output());
    let content = match method.is_server_streaming() {
        false => json!({"application/json": {"schema": answer}}),
        true => {
            json!({"text/event-stream": {"schema": {"type": "string", "contentMediaType": "application/json", "contentSchema": answer}}})
        }
    };
    operation["responses"] = json!({
        "200": {"description": "The answer.", "content": content},
        "default": {"$ref": "#/components/responses/Error"},
    });
    operation
}

/// The fields of a message as options of a query.
fn in_query(message: &MessageDescriptor, prefix: &str, schemas: &mut Schemas<'_>) -> Vec<Value> {
    let mut out = Vec::new();
    for field in message.fields().filter(|field| field.name() != "brain") {
        let name = format!("{prefix}{}", field.json_name());
        match field.kind() {
            Kind::Message(inner) if inner.package_name() == "amem.v1" => {
                out.extend(in_query(&inner, &format!("{name}."), schemas));
            }
            _ => {
                let mut schema = schemas.field(&field);
                let text = schema["description"].take();
                if let Some(schema) = schema.as_object_mut() {
                    schema.shift_remove("description");
                }
                let mut option = json!({"name": name, "in": "query", "schema": schema});
                describe(&mut option, text.as_str().unwrap_or_default());
                out.push(option);
            }
        }
    }
    out
}

fn of_options(path: &str, name: &str, fragment: &Fragment) -> Value {
    let Some(doc) = fragment.operations.get(name) else {
        return Value::Null;
    };
    let mut parameters = in_path(path);
    for (name, option) in &doc.query {
        let (kind, text) = (&option["type"], &option["description"]);
        parameters.push(
            json!({"name": name, "in": "query", "schema": {"type": kind}, "description": text}),
        );
    }
    parameters.extend(doc.headers.iter().map(|name| shared(name)));
    let mut operation = json!({
        "operationId": name,
        "tags": [doc.tag],
        "summary": doc.summary,
        "parameters": parameters,
    });
    if let Some(body) = &doc.body {
        let content = json!({"application/json": {"schema": reference(body)}});
        operation["requestBody"] = json!({"content": content});
    }
    operation["responses"] = responses(doc);
    operation
}

fn responses(doc: &OperationDoc) -> Value {
    let mut responses = json!({"default": {"$ref": "#/components/responses/Error"}});
    let content = match &doc.answer {
        None => return responses,
        Some(Answer::Nothing) => {
            responses["204"] = json!({"description": "It is done."});
            return responses;
        }
        Some(Answer::Json(name)) => json!({"application/json": {"schema": reference(name)}}),
        Some(Answer::Text(kind)) => json!({kind: {"schema": {"type": "string"}}}),
    };
    responses["200"] = json!({"description": "The answer.", "content": content});
    if let Some(text) = &doc.accepted {
        responses["202"] = json!({"description": text, "content": content});
    }
    responses
}

/// The services, with what they are.
fn tags(comments: &Comments) -> Vec<Value> {
    let mut tags = Vec::new();
    for service in descriptors().services() {
        let comment = comments.of(service.parent_file().name(), service.path());
        let mut tag = json!({"name": service.name()});
        describe(&mut tag, comment);
        tags.push(tag);
    }
    tags
}

fn first_sentence(comment: &str) -> &str {
    let line = comment.lines().next().unwrap_or_default();
    let first = line.split_once(". ").map_or(line, |(first, _)| first);
    first.trim_end_matches('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every `$ref` in a value.
    fn references<'v>(value: &'v Value, out: &mut Vec<&'v str>) {
        match value {
            Value::Object(object) => {
                out.extend(object.get("$ref").and_then(Value::as_str));
                object.values().for_each(|value| references(value, out));
            }
            Value::Array(list) => list.iter().for_each(|value| references(value, out)),
            _ => {}
        }
    }

    #[test]
    fn every_route_is_described_and_every_reference_is_there() {
        let (document, _) = document();
        let mut names = Vec::new();
        for route in routes::all() {
            for path in route.paths {
                let operation = &document["paths"][path][route.method.to_lowercase()];
                let name = operation["operationId"].as_str().unwrap_or_default();
                assert!(!name.is_empty(), "{} {path}", route.method);
                let summary = operation["summary"].as_str().unwrap_or_default();
                assert!(!summary.is_empty(), "{} {path}", route.method);
                names.push(name);
            }
        }
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        let mut found = Vec::new();
        references(document, &mut found);
        assert!(found.len() > 300);
        for reference in found {
            let pointer = reference.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{reference}");
        }
    }

    #[test]
    fn messages_have_the_comments_of_their_files() {
        let (document, _) = document();
        let schemas = &document["components"]["schemas"];
        let search = &schemas["SearchRequest"]["properties"];
        assert!(
            search["text"]["description"]
                .as_str()
                .is_some_and(|text| text.len() > 10)
        );
        assert_eq!(schemas["Event"]["properties"]["id"]["format"], "uint64");
        assert_eq!(schemas["EventType"]["enum"][0], "EVENT_TYPE_UNSPECIFIED");
        for (name, schema) in schemas.as_object().unwrap() {
            assert!(schema["description"].is_string(), "{name}");
        }
    }
}
