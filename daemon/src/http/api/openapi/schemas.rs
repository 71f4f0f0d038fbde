//! JSON Schemas of messages and enums, as their canonical JSON is.

use prost_reflect::{EnumDescriptor, FieldDescriptor, Kind, MessageDescriptor};
use serde_json::{Map, Value, json};

use super::comments::Comments;

/// The package of the messages, which names of schemas leave out.
const PACKAGE: &str = "amem.v1.";

/// The schemas of messages that something refers to, by name.
#[derive(Debug)]
pub(super) struct Schemas<'c> {
    comments: &'c Comments,
    made: Map<String, Value>,
}

impl<'c> Schemas<'c> {
    pub(super) fn new(comments: &'c Comments) -> Self {
        Self {
            comments,
            made: Map::new(),
        }
    }

    /// The schemas by name, in the order of their names.
    pub(super) fn into_map(self) -> Map<String, Value> {
        let mut made: Vec<_> = self.made.into_iter().collect();
        made.sort_by(|a, b| a.0.cmp(&b.0));
        made.into_iter().collect()
    }

    /// Refers to a message, and makes its schema if there is none yet.
    pub(super) fn message(&mut self, message: &MessageDescriptor) -> Value {
        match message.full_name() {
            "google.protobuf.Timestamp" => return json!({"type": "string", "format": "date-time"}),
            "google.protobuf.Duration" => {
                return json!({"type": "string", "pattern": "^-?[0-9]+(\\.[0-9]+)?s$"});
            }
            _ => {}
        }
        let name = short(message.full_name());
        if !self.made.contains_key(name) {
            // A message may contain itself.
            self.made.insert(name.to_owned(), Value::Null);
            let schema = self.object(message);
            self.made.insert(name.to_owned(), schema);
        }
        reference(name)
    }

    fn object(&mut self, message: &MessageDescriptor) -> Value {
        let file = message.parent_file();
        let mut properties = Map::new();
        for field in message.fields() {
            let schema = self.field(&field);
            properties.insert(field.json_name().to_owned(), schema);
        }
        let mut schema = json!({"type": "object"});
        describe(&mut schema, self.comments.of(file.name(), message.path()));
        schema["properties"] = properties.into();
        schema
    }

    /// The schema of a field, with its comment.
    pub(super) fn field(&mut self, field: &FieldDescriptor) -> Value {
        let mut schema = self.kind(&field.kind());
        if field.is_list() {
            schema = json!({"type": "array", "items": schema});
        }
        let file = field.parent_file();
        let mut comment = self.comments.of(file.name(), field.path()).to_owned();
        let choice = field.containing_oneof().filter(|it| !it.is_synthetic());
        if let Some(choice) = choice {
            let others = choice.fields().filter(|other| other != field);
            let others: Vec<_> = others.map(|other| other.json_name().to_owned()).collect();
            if !others.is_empty() {
                comment += &format!(" Not together with {}.", others.join(", "));
            }
        }
        describe(&mut schema, &comment);
        schema
    }

    fn kind(&mut self, kind: &Kind) -> Value {
        match kind {
            Kind::Bool => json!({"type": "boolean"}),
            Kind::String => json!({"type": "string"}),
            Kind::Bytes => json!({"type": "string", "contentEncoding": "base64"}),
            Kind::Float => json!({"type": "number", "format": "float"}),
            Kind::Double => json!({"type": "number", "format": "double"}),
            Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => {
                json!({"type": "integer", "format": "int32"})
            }
            Kind::Uint32 | Kind::Fixed32 => {
                json!({"type": "integer", "format": "uint32", "minimum": 0})
            }
            // JavaScript has no numbers of 64 bits.
            Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => {
                json!({"type": "string", "format": "int64"})
            }
            Kind::Uint64 | Kind::Fixed64 => json!({"type": "string", "format": "uint64"}),
            Kind::Message(message) => self.message(message),
            Kind::Enum(values) => self.values(values),
        }
    }

    fn values(&mut self, values: &EnumDescriptor) -> Value {
        let name = short(values.full_name());
        if !self.made.contains_key(name) {
            let file = values.parent_file();
            let mut told = self.comments.of(file.name(), values.path()).to_owned();
            let mut names = Vec::new();
            for value in values.values() {
                let comment = self.comments.of(file.name(), value.path());
                told += &format!("\n- {}: {comment}", value.name());
                names.push(value.name().to_owned());
            }
            let mut schema = json!({"type": "string"});
            describe(&mut schema, &told);
            schema["enum"] = names.into();
            self.made.insert(name.to_owned(), schema);
        }
        reference(name)
    }
}

/// The name of a message without its package.
fn short(name: &str) -> &str {
    name.strip_prefix(PACKAGE).unwrap_or(name)
}

/// Refers to a schema.
pub(super) fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// Adds a description, if there is one.
pub(super) fn describe(schema: &mut Value, text: &str) {
    if !text.is_empty() {
        schema["description"] = text.into();
    }
}
