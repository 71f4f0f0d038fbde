//! The attributes of the events of fact memory.
//!
//! Scope fields stand beside `amem.fact` and `amem.turn`, so that general queries of a brain select by them too.

use amem_format::event::Attributes;
use amem_format::types::Micros;
use amem_format::view::Node;
use amem_memory::graph::{EntityKind, FactGraph, entity_key};
use amem_memory::store::{MemoryItem, RejectionState};
use amem_memory::{FactKind, FactScope, FactSource, Validity};
use amem_query::time;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use uuid::Uuid;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::Result;

/// Paths of attributes that lookups use.
pub(crate) mod path {
    /// The memory of a version.
    pub(crate) const FACT_ID: &str = "amem.fact.id";
    /// What kind of memory a version is.
    pub(crate) const FACT_KIND: &str = "amem.fact.kind";
    /// The MD5 of the text of a version.
    pub(crate) const FACT_HASH: &str = "amem.fact.hash";
    /// Whether an event is a version or an end.
    pub(crate) const FACT_STATE: &str = "amem.fact.state";
    /// Hashes of scope and text, and of scope and slot.
    pub(crate) const FACT_KEYS: &str = "amem.fact.keys";
    /// Turns that a version is from.
    pub(crate) const FACT_SOURCES: &str = "amem.fact.sources";
    /// The id of a turn.
    pub(crate) const TURN_ID: &str = "amem.turn.id";
    /// Scope, text and time of a turn in one hash.
    pub(crate) const TURN_KEY: &str = "amem.turn.key";
    /// Who a turn is from.
    pub(crate) const TURN_ROLE: &str = "amem.turn.role";
    /// Keys of the scopes of a turn that states standing instructions.
    pub(crate) const TURN_STANDING: &str = "amem.turn.standing.keys";
    /// The rules by which turns were read for standing instructions.
    pub(crate) const STANDING_RULES: &str = "amem.standing.rules";
    /// The turn that was forgotten.
    pub(crate) const TURN_END: &str = "amem.turn_end.turn";
    /// Scope and idempotency key in one hash.
    pub(crate) const ANSWER_KEY: &str = "amem.answer.key";
    /// Hashes of the memories and turns whose texts an answer has.
    pub(crate) const ANSWER_NAMES: &str = "amem.answer.names";
    /// The memory that was said again.
    pub(crate) const SUPPORT_ID: &str = "amem.support.id";
    /// The turns that said it again.
    pub(crate) const SUPPORT_SOURCES: &str = "amem.support.sources";
    /// Whether pending work is open.
    pub(crate) const PENDING_STATE: &str = "amem.pending.state";
    /// The id of pending work.
    pub(crate) const PENDING_ID: &str = "amem.pending.id";
    /// Whether a version waits for a review.
    pub(crate) const FACT_REVIEW: &str = "amem.fact.review";
    /// The id of a rejected fact.
    pub(crate) const REJECTED_ID: &str = "amem.rejected.id";
    /// Whether a rejected fact waits for a review.
    pub(crate) const REJECTED_STATE: &str = "amem.rejected.state";
    /// Turns that a rejected fact is from.
    pub(crate) const REJECTED_SOURCES: &str = "amem.rejected.sources";
    /// The id of what a caller said of an entity.
    pub(crate) const ENTITY_ID: &str = "amem.entity.id";
    /// Hashes of scope and name.
    pub(crate) const ENTITY_KEYS: &str = "amem.entity.keys";
    /// The memory of feedback.
    pub(crate) const FEEDBACK_ID: &str = "amem.feedback.id";
}

/// What a caller thinks of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeedbackRating {
    /// It is right, and useful.
    Positive,
    /// It is wrong, or of no use.
    Negative,
    /// It does harm.
    VeryNegative,
    /// Earlier feedback does not hold any more.
    Cleared,
}

/// What an event says of its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FactEventState {
    /// It has this text from now on.
    Version,
    /// It ended.
    End,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// `amem.fact`: one version of a memory, or its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct FactRecord {
    pub(crate) id: Uuid,
    pub(crate) state: FactEventState,
    /// The present of the request that stored it.
    pub(crate) at: Micros,
    /// That of the first version, if this is a later one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) created: Option<Micros>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) hash: String,
    pub(crate) kind: FactKind,
    pub(crate) source: FactSource,
    /// 0 to 1; the event's own confidence falls when it is replaced.
    pub(crate) confidence: f32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) keys: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) slots: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) sources: Vec<Uuid>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) because: Vec<Uuid>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) conflicts: Vec<Uuid>,
    pub(crate) why: String,
    #[serde(default, skip_serializing_if = "is_unstated")]
    pub(crate) valid: Validity,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) expires: Option<Micros>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) quarantined: bool,
    /// True if the text joins what its sources say: it needs them all.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) joined: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) replaced_by: Option<Uuid>,
    /// Who and what it names.
    #[serde(
        default,
        skip_serializing_if = "FactGraph::is_empty",
        with = "graph_text"
    )]
    pub(crate) graph: FactGraph,
    /// `open` for a version that was stored beside what it may contradict, or in quarantine: lists find it by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) review: Option<String>,
}

/// A graph as one text: its words are no values of general queries, and take no room in the index of values.
mod graph_text {
    use amem_memory::graph::FactGraph;
    use serde::de::Error as _;
    use serde::ser::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(graph: &FactGraph, to: S) -> Result<S::Ok, S::Error> {
        let text = serde_json::to_string(graph).map_err(S::Error::custom)?;
        to.serialize_str(&text)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<FactGraph, D::Error> {
        let text = String::deserialize(from)?;
        serde_json::from_str(&text).map_err(D::Error::custom)
    }
}

fn is_unstated(validity: &Validity) -> bool {
    *validity == Validity::default()
}

/// `amem.turn`: a turn of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TurnRecord {
    pub(crate) id: Uuid,
    pub(crate) key: String,
    pub(crate) hash: String,
    pub(crate) role: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// What it states for every later answer, if it is a person's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) standing: Option<StandingRecord>,
}

/// `amem.turn.standing`: the standing instructions and preferences of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct StandingRecord {
    /// Hashes of each field of the scope, and one of all scopes (`standing_keys`).
    pub(crate) keys: Vec<String>,
    /// Where they stand in the text, as bytes: `0-24 80-131`.
    pub(crate) spans: String,
}

/// `amem.turn_end`: a turn was forgotten; the reason stands beside it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TurnEndRecord {
    /// The turn.
    pub(crate) turn: Uuid,
    /// The present of the request that forgot it.
    pub(crate) at: Micros,
}

/// `amem.standing`: how far the turns of earlier versions were read for standing instructions. The newest event holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct StandingReadRecord {
    /// The brain whose events were read: a merge brings the event of another one, whose ids are others.
    #[serde(default)]
    pub(crate) instance: Uuid,
    /// The version of the rules, in words: the index of values finds it.
    pub(crate) rules: String,
    /// Events below this one were read.
    pub(crate) read: u64,
}

/// `amem.answer`: a part of an answer that is kept for repetitions; the text of the event is the part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct AnswerRecord {
    pub(crate) key: String,
    pub(crate) request: String,
    pub(crate) part: usize,
    pub(crate) parts: usize,
    /// Hashes of memories and turns whose texts are in the answer (`name_key`); each part has some of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) names: Vec<String>,
}

/// `amem.support`: turns that said again what a memory says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SupportRecord {
    /// The memory.
    pub(crate) id: Uuid,
    /// The MD5 of the text that they support.
    pub(crate) hash: String,
    /// The turns.
    pub(crate) sources: Vec<Uuid>,
    /// The present of the request that stored it.
    pub(crate) at: Micros,
}

/// Whether pending work is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PendingState {
    /// It is.
    Open,
    /// It is done, or given up.
    Done,
}

/// `amem.pending`: work that is left; the text of the event is the work as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PendingRecord {
    pub(crate) id: Uuid,
    pub(crate) state: PendingState,
}

/// `amem.rejected`: a fact that is no memory; the text of the event is the fact. The newest event of an id holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RejectedRecord {
    pub(crate) id: Uuid,
    pub(crate) state: RejectionState,
    pub(crate) why: String,
    pub(crate) kind: FactKind,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) sources: Vec<Uuid>,
    /// The present of the request that stored it.
    pub(crate) at: Micros,
}

/// `amem.entity`: what a caller says of an entity. The newest event of an id holds; those before are its history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct EntityRecord {
    pub(crate) id: Uuid,
    pub(crate) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<EntityKind>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) description: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) aliases: Vec<String>,
    /// Hashes of scope and each name.
    pub(crate) keys: Vec<String>,
    /// The present of the request that stored it.
    pub(crate) at: Micros,
}

/// `amem.feedback`: what a caller thinks of a memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct FeedbackRecord {
    /// The memory.
    pub(crate) id: Uuid,
    pub(crate) rating: FeedbackRating,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) reason: String,
    /// The present of the request that stored it.
    pub(crate) at: Micros,
}

/// The attributes of an event of fact memory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct EventAttributes {
    #[serde(rename = "amem.user", default, skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    #[serde(
        rename = "amem.agent",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    agent: Option<String>,
    #[serde(rename = "amem.run", default, skip_serializing_if = "Option::is_none")]
    run: Option<String>,
    #[serde(rename = "amem.app", default, skip_serializing_if = "Option::is_none")]
    app: Option<String>,
    #[serde(rename = "amem.fact", default, skip_serializing_if = "Option::is_none")]
    pub(crate) fact: Option<Box<FactRecord>>,
    #[serde(rename = "amem.turn", default, skip_serializing_if = "Option::is_none")]
    pub(crate) turn: Option<TurnRecord>,
    #[serde(
        rename = "amem.answer",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) answer: Option<AnswerRecord>,
    #[serde(
        rename = "amem.pending",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) pending: Option<PendingRecord>,
    #[serde(
        rename = "amem.feedback",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) feedback: Option<FeedbackRecord>,
    #[serde(
        rename = "amem.rejected",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) rejected: Option<RejectedRecord>,
    #[serde(
        rename = "amem.entity",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) entity: Option<EntityRecord>,
    #[serde(
        rename = "amem.support",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) support: Option<SupportRecord>,
    #[serde(
        rename = "amem.turn_end",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) turn_end: Option<TurnEndRecord>,
    #[serde(
        rename = "amem.standing",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) standing_read: Option<StandingReadRecord>,
    /// Why the caller changed or ended a memory.
    #[serde(
        rename = "amem.reason",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) reason: Option<String>,
    /// Who spoke: general queries rank by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) speaker: Option<String>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(crate) metadata: Map<String, Value>,
}

impl EventAttributes {
    /// Attributes of a scope, and nothing else yet.
    pub(crate) fn of(scope: &FactScope) -> Self {
        Self {
            user: scope.user.clone(),
            agent: scope.agent.clone(),
            run: scope.run.clone(),
            app: scope.app.clone(),
            ..Self::default()
        }
    }

    /// Those of an event; `None` if it is not of fact memory: it has none, or others.
    pub(crate) fn read(node: &Node<'_>) -> Result<Option<Self>> {
        let json = node.attributes_json()?;
        // What others wrote under these names is theirs.
        Ok(json.and_then(|json| serde_json::from_str(&json).ok()))
    }

    /// True for what records an answer, work, feedback or a name: its text is nobody's words.
    pub(crate) fn is_record(&self) -> bool {
        self.answer.is_some()
            || self.pending.is_some()
            || self.feedback.is_some()
            || self.rejected.is_some()
            || self.entity.is_some()
            || self.support.is_some()
            || self.standing_read.is_some()
            || self.turn_end.is_some()
    }

    pub(crate) fn scope(&self) -> FactScope {
        FactScope {
            user: self.user.clone(),
            agent: self.agent.clone(),
            app: self.app.clone(),
            run: self.run.clone(),
        }
    }

    /// As the attributes of an event.
    pub(crate) fn to_attributes(&self) -> Result<Attributes> {
        match serde_json::to_value(self) {
            Ok(Value::Object(object)) => Ok(object),
            Ok(_) | Err(_) => {
                let why = "they are no object".to_owned();
                Err(amem_format::Error::invalid("attributes", why).into())
            }
        }
    }
}

/// What the keys of standing instructions are of.
const STANDING: &str = "standing";

fn digest(parts: &[&str]) -> String {
    let mut bytes = Vec::new();
    for part in parts {
        bytes.extend_from_slice(part.as_bytes());
        // UTF-8 never has this byte.
        bytes.push(0xFF);
    }
    format!("{:016x}", xxh3_64(&bytes))
}

/// The key of a text or a slot within a field of a scope. Keys propose: what they find is compared.
pub(crate) fn scoped_key(field: &str, value: &str, what: &str) -> String {
    digest(&["key", field, value, what])
}

/// The keys under which standing instructions of a scope are found: one for each of its fields, and that of all scopes.
pub(crate) fn standing_keys(scope: &FactScope) -> Vec<String> {
    let fields = scope
        .fields()
        .filter_map(|(field, value)| Some((field, value?)));
    let keys = fields.map(|(field, value)| scoped_key(field, value, STANDING));
    keys.chain([scoped_key("", "", STANDING)]).collect()
}

/// All keys of a hash, of slots and of names, for each field of a scope.
pub(crate) fn scoped_keys(
    scope: &FactScope,
    hash: &str,
    slots: &[String],
    names: &[String],
) -> Vec<String> {
    let mut keys = Vec::new();
    for (field, value) in scope.fields() {
        let Some(value) = value else { continue };
        keys.push(scoped_key(field, value, hash));
        let others = slots.iter().chain(names);
        keys.extend(others.map(|other| scoped_key(field, value, other)));
    }
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// What the keys of a fact are made of beside its text and its slots: its names, and those that are of one entity.
pub(crate) fn name_parts(graph: &FactGraph) -> Vec<String> {
    let names = graph.entities.iter().map(|entity| named(&entity.name));
    let pairs = graph.aliases.iter();
    let aliases = pairs.flat_map(|(one, other)| [also_named(one), also_named(other)]);
    names.chain(aliases).collect()
}

/// The part of a key for facts that name an entity.
pub(crate) fn named(name: &str) -> String {
    format!("name:{}", entity_key(name))
}

/// The part of a key for what says that an entity has another name.
pub(crate) fn also_named(name: &str) -> String {
    format!("alias:{}", entity_key(name))
}

fn scope_parts(scope: &FactScope) -> String {
    scope
        .fields()
        .filter_map(|(field, value)| Some(format!("{field}={}\u{1}", value?)))
        .collect()
}

/// The key of a turn.
pub(crate) fn turn_key(scope: &FactScope, hash: &str, time: Micros) -> String {
    digest(&["turn", &scope_parts(scope), hash, &time.0.to_string()])
}

/// What the sessions of runs that have one name are told apart by.
pub(crate) fn run_digest(scope: &FactScope) -> String {
    digest(&["run", &scope_parts(scope)])
}

/// The key of a kept answer.
pub(crate) fn answer_key(scope: &FactScope, key: &str) -> String {
    digest(&["answer", &scope_parts(scope), key])
}

/// What an answer keeps of a memory or a turn that it shows.
pub(crate) fn name_key(id: Uuid) -> String {
    digest(&["name", &id.to_string()])
}

/// A memory as clients and filters see it: times as texts, metadata under its name.
pub fn item_json(item: &MemoryItem) -> Value {
    let mut out = Map::new();
    out.insert("id".into(), json!(item.id.to_string()));
    out.insert("memory".into(), json!(item.memory));
    out.insert("hash".into(), json!(item.hash));
    for (field, value) in item.scope.fields() {
        if let Some(value) = value {
            out.insert(field.into(), json!(value));
        }
    }
    out.insert("metadata".into(), Value::Object(item.metadata.clone()));
    out.insert("kind".into(), json!(item.kind));
    out.insert("confidence".into(), json!(item.confidence));
    let mut time_of = |name: &str, at: Option<Micros>| {
        if let Some(at) = at {
            out.insert(name.into(), json!(time::display(at).to_string()));
        }
    };
    time_of("created_at", Some(item.created_at));
    time_of("updated_at", Some(item.updated_at));
    time_of("expiration_date", item.expires_at);
    time_of("valid_from", item.validity.from);
    time_of("valid_to", item.validity.to);
    time_of("happened_at", item.happened_at);
    if !item.because.is_empty() {
        let ids: Vec<String> = item.because.iter().map(Uuid::to_string).collect();
        out.insert("because".into(), json!(ids));
    }
    if item.is_quarantined {
        out.insert("quarantined".into(), json!(true));
    }
    Value::Object(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_different_scopes_differ() {
        let alice = FactScope::user("alice");
        let both = FactScope {
            agent: Some("alice".into()),
            ..FactScope::user("alice")
        };
        assert_eq!(scoped_keys(&alice, "h", &[], &[]).len(), 1);
        assert_eq!(scoped_keys(&both, "h", &["s".into()], &[]).len(), 4);
        let shifted = (FactScope::user("a"), FactScope::user("ab"));
        assert_ne!(answer_key(&shifted.0, "bc"), answer_key(&shifted.1, "c"));
        assert_ne!(
            turn_key(&alice, "h", Micros(1)),
            turn_key(&alice, "h", Micros(2))
        );
    }

    #[test]
    fn attributes_are_read_as_they_were_written() {
        let mut written = EventAttributes::of(&FactScope::user("alice"));
        written.pending = Some(PendingRecord {
            id: Uuid::from_u128(7),
            state: PendingState::Open,
        });
        let json = Value::Object(written.to_attributes().unwrap()).to_string();
        assert_eq!(
            serde_json::from_str::<EventAttributes>(&json).unwrap(),
            written
        );
        assert!(json.contains("\"amem.user\":\"alice\""), "{json}");
    }
}
