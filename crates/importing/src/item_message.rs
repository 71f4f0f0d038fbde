//! The message that an item becomes, and what another store says of it.

use amem_format::{Micros, attributes};
use amem_proto::v1;
use amem_query::time;
use amem_sources::{SourceItem, TurnRole};
use serde_json::{Map, Value};

use crate::message::timestamp;
use crate::source_event::{HASH, ID, KIND, RESERVED, SOURCE, bounded, text_of};

/// Bytes of what another store says beside the text of a memory.
const OWN_METADATA_BYTES_MAX: usize = 24 << 10;
/// What a key of another store begins with if an import has one of that name.
const ORIGINAL: &str = "original_";
/// Characters of an agent's turn that are kept: it explains what the person says.
const ANSWER_CHARS_MAX: usize = 4_000;

/// What another store says beside the text of a memory, and whether some of it has no room. The keys of its metadata
/// keep their names, unless an import has one of that name.
pub(crate) fn own_metadata(item: &SourceItem, scope: &v1::Scope) -> (Map<String, Value>, bool) {
    let in_scope = [
        ("user_id", &scope.user),
        ("agent_id", &scope.agent),
        ("run_id", &scope.run),
        ("app_id", &scope.app),
    ];
    let mut out = Map::new();
    let mut is_cut = false;
    let mut keep = |name: &str, value: &Value| {
        if name.starts_with(RESERVED) {
            is_cut = true;
        } else if !value.is_null() {
            let is_ours = [KIND, SOURCE, ID, HASH].contains(&name);
            let name = if is_ours {
                format!("{ORIGINAL}{name}")
            } else {
                name.to_owned()
            };
            out.insert(name, value.clone());
        }
    };
    for (name, value) in &item.attributes {
        let is_known = in_scope
            .iter()
            .any(|(field, own)| field == name && own.as_deref() == value.as_str());
        match value {
            _ if is_known => {}
            Value::Object(own) if name == "metadata" => {
                own.iter().for_each(|(name, value)| keep(name, value));
            }
            value => keep(name, value),
        }
    }
    if let Some(time) = item.time.and_then(bounded) {
        let text = time::display(time).to_string();
        keep("created_at", &text.into());
    }
    // The keys of an import stand beside them.
    let bytes = Value::Object(out.clone()).to_string().len();
    if bytes > OWN_METADATA_BYTES_MAX || attributes::validate(&out).is_err() {
        return (Map::new(), true);
    }
    (out, is_cut)
}

pub(crate) fn message(item: &SourceItem) -> v1::FactMessage {
    let (role, name) = match &item.role {
        Some(TurnRole::Assistant) => (v1::FactRole::Assistant, String::new()),
        Some(TurnRole::Speaker(name)) => (v1::FactRole::User, name.clone()),
        Some(TurnRole::User) | None => (v1::FactRole::User, String::new()),
    };
    let entity = item.attributes.get("entity").and_then(Value::as_str);
    let text = match (&item.role, entity) {
        // The name of a speaker is a field of its own.
        (Some(TurnRole::Assistant), _) => item.text.chars().take(ANSWER_CHARS_MAX).collect(),
        (Some(_), _) => item.text.clone(),
        // An observation does not name what it is about.
        (None, Some(entity)) => format!("{entity}: {}", item.text),
        (None, None) => text_of(item),
    };
    v1::FactMessage {
        role: role.into(),
        text,
        name,
        time: item.time.map(|time| timestamp(Micros(time.0))),
    }
}
