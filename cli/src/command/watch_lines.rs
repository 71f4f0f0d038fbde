//! Changes of a commit in words.

use amem_client::v1;
use amem_client::v1::change::Change as Of;

use crate::failure::Failure;
use crate::json::event::{edge_type_of, type_of};
use crate::render::{float, plural, printable};

pub(crate) fn kind_of(kind: v1::CommitKind) -> String {
    let name = kind.as_str_name();
    let name = name.strip_prefix("COMMIT_KIND_").unwrap_or(name);
    name.to_ascii_lowercase().replace('_', "-")
}

pub(crate) fn words(change: &Of) -> Result<String, Failure> {
    Ok(match change {
        Of::Event(event) => match (event.forgotten, event.erased) {
            (_, true) => format!("+ {} (erased)", event.id),
            (true, _) if event.text.is_empty() => format!("+ {} (forgotten)", event.id),
            _ => {
                let kind = type_of(event.r#type)?;
                format!("+ {} {kind}  {}", event.id, printable(&event.text))
            }
        },
        Of::Edge(edge) => format!("+ {}", edge_words(edge)?),
        Of::RetractedEdge(edge) => format!("- {}", edge_words(edge)?),
        Of::Belief(of) => {
            let set = [
                (of.pinned, "pinned"),
                (of.forgotten, "forgotten"),
                (of.compressed, "compressed"),
            ];
            let set = set.iter().filter(|(is_set, _)| *is_set);
            let set: String = set.map(|(_, name)| format!(", {name}")).collect();
            format!("~ {} confidence {}{set}", of.event_id, float(of.confidence))
        }
        Of::Attributes(of) => format!("~ {} {}", of.event_id, printable(&of.attributes_json)),
        Of::Vector(of) => format!("~ {} has a new vector", of.event_id),
        Of::Touch(of) => {
            let ids: Vec<String> = of.touched.iter().map(|t| t.event_id.to_string()).collect();
            format!("~ used: {}", ids.join(", "))
        }
        Of::Decay(_) => "~ strengths are computed as of now".to_owned(),
        Of::SessionOpened(of) => {
            let key = match of.key.as_str() {
                "" => String::new(),
                key => format!(" ({})", printable(key)),
            };
            match of.reopened {
                false => format!("+ session {}{key}", of.session_id),
                true => format!("~ session {}{key} reopened", of.session_id),
            }
        }
        Of::SessionClosed(of) => match of.outcome.as_str() {
            "" => format!("~ session {} closed", of.session_id),
            outcome => format!("~ session {} closed: {}", of.session_id, printable(outcome)),
        },
        Of::SettingsJson(json) => {
            format!("~ settings, {}", plural(json.len() as u64, "byte"))
        }
        Of::ErasedEventId(id) => format!("- {id} erased for good"),
    })
}

fn edge_words(edge: &v1::Edge) -> Result<String, Failure> {
    let kind = edge_type_of(edge.r#type)?;
    let kind = kind.map_or("?".to_owned(), |kind| kind.to_string());
    let weight = match edge.weight {
        1.0 => String::new(),
        weight => format!("  {}", float(weight)),
    };
    Ok(format!("{} ─{kind}→ {}{weight}", edge.source, edge.target))
}
