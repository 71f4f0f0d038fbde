//! The texts of calls A and B, and the schemas of their answers.
//!
//! The examples use words that hardly occur elsewhere, so that a model which repeats them is caught by the check
//! against the turns.

use serde_json::{Value, json};

use super::form::ReplyForm;
use super::port::{ChatTurn, ModelCall, ModelRequest};
use crate::conversation::{Role, Turn, TurnUse};
use crate::graph::EntityKind;

const FACTS: &str = "You keep the memory of an assistant. Read the numbered turns of a conversation and write down what \
is worth knowing in later conversations: who people are, where they live and work, what they like, own, use, plan, decided, \
and what happened, with dates and names. One sentence per fact, in the third person; call the person User, or by the name \
that the turn gives. Use only words that the turns support. Skip greetings, questions, moods and advice. Cite the numbers of \
the turns. Turns marked \"context\" explain others; no fact may rest on them alone.";

/// What call A asks for besides facts, where the form has room for it.
const GRAPH: &str = "List the people, organizations, places, events, \
products and technologies that the facts name, with a few words of the turns on each or none, and how they are related: s and o \
are their names, r a verb such as works_at, lives_in, knows, uses.";

const DECIDE: &str = "You keep the memory of an assistant. For each new fact you see memories with numbers. Say what the \
fact does: new (nothing says it yet), same (a memory says it), replaces (the memory is no longer true), extends (both are \
true of the same thing: write one text with every detail of both), ends (the fact only says that the memory is over). Give \
the number of the memory, 0 for new. When in doubt say new.";

/// Example turns and answers of the demonstration.
const EXAMPLES: [(&str, &str); 4] = [
    (
        "I'm Ondrej and I repair church organs in Telč.",
        "[\"User's name is Ondrej\", \"User repairs church organs in Telč\"]",
    ),
    ("Good morning! How are you?", "[]"),
    (
        "We chose the larch floor, the oak was too dear.",
        "[\"User and others chose the larch floor because the oak was too dear\"]",
    ),
    (
        "My niece Ottilie can't eat hazelnuts. Any soup ideas?",
        "[\"User's niece Ottilie cannot eat hazelnuts\"]",
    ),
];

/// Call A.
pub(super) fn extract_request(
    turns: &[(usize, &Turn)],
    form: ReplyForm,
    prompt: Option<&str>,
) -> ModelRequest {
    let numbered: Vec<String> = turns.iter().map(|(at, turn)| line(*at, turn)).collect();
    let text = numbered.join("\n");
    let schema = facts_schema(turns);
    let mut system = prompt.map_or_else(|| format!("{FACTS} {GRAPH}"), str::to_owned);
    let mut messages = Vec::new();
    match form {
        // A custom prompt says itself what it wants back: a list of sentences by the specification.
        _ if prompt.is_some() => {}
        ReplyForm::Schema => {}
        ReplyForm::JsonObject => {
            system = format!("{system}\nAnswer with one JSON object of this schema:\n{schema}")
        }
        ReplyForm::Demonstration => {
            system = format!("{FACTS} Answer with a JSON list of sentences.");
            for (user, assistant) in EXAMPLES {
                messages.push(ChatTurn {
                    role: "user",
                    text: user.to_owned(),
                });
                messages.push(ChatTurn {
                    role: "assistant",
                    text: assistant.to_owned(),
                });
            }
        }
    }
    let is_free = form == ReplyForm::Demonstration || prompt.is_some();
    let text = if form == ReplyForm::Demonstration {
        plain(turns)
    } else {
        text
    };
    messages.push(ChatTurn { role: "user", text });
    ModelRequest {
        call: ModelCall::Extract,
        form,
        system,
        messages,
        schema: (!is_free).then_some(schema),
    }
}

fn line(at: usize, turn: &Turn) -> String {
    let speaker = turn.name.as_deref().unwrap_or(match turn.role {
        Role::Assistant => "Assistant",
        Role::Tool => "Tool",
        Role::System | Role::User => "User",
    });
    let mark = if turn.used_for == TurnUse::Context {
        " (context)"
    } else {
        ""
    };
    format!("[{at}]{mark} {speaker}: {}", turn.text)
}

/// The turns as the examples have them: what is said, and no number.
fn plain(turns: &[(usize, &Turn)]) -> String {
    let said = turns
        .iter()
        .filter(|(_, turn)| turn.used_for == TurnUse::Extract);
    said.map(|(_, turn)| turn.text.as_str())
        .collect::<Vec<_>>()
        .join("\n")
}

/// The schema of call A; turn numbers are an enum, so that none can be invented.
fn facts_schema(turns: &[(usize, &Turn)]) -> Value {
    let numbers: Vec<usize> = turns
        .iter()
        .filter(|(_, turn)| turn.used_for == TurnUse::Extract)
        .map(|(at, _)| *at)
        .collect();
    let kinds = [
        "fact",
        "preference",
        "event",
        "plan",
        "decision",
        "inference",
        "correction",
        "skill",
    ];
    json!({
        "type": "object", "additionalProperties": false, "required": ["facts", "entities", "relations"],
        "properties": {"entities": {"type": "array", "items": {
            "type": "object", "additionalProperties": false, "required": ["name", "type", "description"],
            "properties": {
                "name": {"type": "string"},
                "type": {"type": "string", "enum": EntityKind::ALL.map(EntityKind::name)},
                "description": {"type": "string"},
            },
        }}, "relations": {"type": "array", "items": {
            "type": "object", "additionalProperties": false, "required": ["s", "r", "o"],
            "properties": {"s": {"type": "string"}, "r": {"type": "string"}, "o": {"type": "string"}},
        }}, "facts": {"type": "array", "items": {
            "type": "object", "additionalProperties": false, "required": ["text", "turns", "kind", "because", "about"],
            "properties": {
                "text": {"type": "string"},
                "turns": {"type": "array", "items": {"type": "integer", "enum": numbers}},
                "kind": {"type": "string", "enum": kinds},
                "because": {"type": "array", "items": {"type": "integer"}},
                "about": {"type": "string"},
            },
        }}},
    })
}

/// Call B: facts with their candidates.
pub(super) fn decide_request(facts: &[(usize, &str, Vec<&str>)], form: ReplyForm) -> ModelRequest {
    let mut text = String::new();
    for (at, fact, candidates) in facts {
        text += &format!("Fact {at}: {fact}\n");
        for (number, candidate) in candidates.iter().enumerate() {
            text += &format!("  memory {}: {candidate}\n", number + 1);
        }
    }
    let schema = json!({
        "type": "object", "additionalProperties": false, "required": ["d"],
        "properties": {"d": {"type": "array", "items": {
            "type": "object", "additionalProperties": false, "required": ["f", "op", "m", "text"],
            "properties": {
                "f": {"type": "integer", "enum": facts.iter().map(|(at, ..)| at).collect::<Vec<_>>()},
                "op": {"type": "string", "enum": ["new", "same", "replaces", "extends", "ends"]},
                "m": {"type": "integer"},
                "text": {"type": "string"},
            },
        }}},
    });
    let shown = format!("{DECIDE}\nAnswer with one JSON object of this schema:\n{schema}");
    let (system, schema) = match form {
        ReplyForm::Schema => (DECIDE.to_owned(), Some(schema)),
        ReplyForm::JsonObject => (shown, Some(schema)),
        ReplyForm::Demonstration => (shown, None),
    };
    ModelRequest {
        call: ModelCall::Decide,
        form,
        system,
        messages: vec![ChatTurn { role: "user", text }],
        schema,
    }
}
