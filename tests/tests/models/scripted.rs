//! Two scripted models: one that answers as it is asked to, and one that does not.

use std::sync::Arc;

use amem_scripted::{Protocol, Script, ScriptedServer, ServerRule};
use serde_json::{Value, json};

/// A fact, its kind, and which facts of its turn it follows from.
type KnownFact = (&'static str, &'static str, &'static [usize]);

/// What is said, the facts that are in it, their kinds, and which of them follows from which.
const KNOWN: [(&str, &[KnownFact]); 15] = [
    ("I live in Porto", &[("User lives in Porto", "fact", &[])]),
    ("I moved to Rome", &[("User moved to Rome", "fact", &[])]),
    (
        "My sister Anna works at Equinor",
        &[("User's sister Anna works at Equinor", "fact", &[])],
    ),
    (
        "I am allergic to nuts",
        &[("User is allergic to nuts", "fact", &[])],
    ),
    (
        "I drink green tea",
        &[("User drinks green tea", "fact", &[])],
    ),
    ("I play the cello", &[("User plays the cello", "fact", &[])]),
    (
        "My dog is called Biscuit",
        &[("User's dog is called Biscuit", "fact", &[])],
    ),
    (
        "My birthday is on June 3",
        &[("User's birthday is on June 3", "fact", &[])],
    ),
    (
        "I prefer dark mode",
        &[("User prefers dark mode", "preference", &[])],
    ),
    (
        "We chose SQLite because it is one file",
        &[
            ("SQLite is one file", "fact", &[]),
            ("User and others chose SQLite", "decision", &[0]),
        ],
    ),
    (
        "The build fails on Mondays, that means the cron job is broken",
        &[
            ("The build fails on Mondays", "fact", &[]),
            ("The cron job is broken", "inference", &[0]),
        ],
    ),
    (
        "To deploy, run make release",
        &[("To deploy, run make release", "skill", &[])],
    ),
    (
        "I want to learn pottery",
        &[("User wants to learn pottery", "plan", &[])],
    ),
    (
        "I work as a nurse",
        &[("User works as a nurse", "fact", &[])],
    ),
    ("I speak Turkish", &[("User speaks Turkish", "fact", &[])]),
];

/// What the model that invents invents: a fact of no turn, and one of our own examples.
pub(crate) const INVENTED: [&str; 2] = [
    "User owns a castle in Transylvania",
    "User repairs church organs in Telč",
];

/// Which of the two a model is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behaviour {
    /// It answers in the schema, with kinds, reasons, entities and relations.
    Exact,
    /// It wants no schema, talks around its lists, cuts them off, and invents.
    Loose,
}

/// What was remembered and given to a model that chats, repeated; `None` if it is asked for something else.
fn chat(asked: &str) -> Option<String> {
    if asked.contains("You keep the memory") {
        return None;
    }
    let (_, rest) = asked.split_once("<amem-context>")?;
    let (given, _) = rest.split_once("</amem-context>")?;
    Some(format!("I remember: {}", given.replace("\\n", " ")))
}

/// A summary of a session that it was asked for: what is known, and something invented.
fn summary(asked: &str) -> Option<String> {
    asked.contains("Summarise the session").then(|| {
        let facts = known(asked).flat_map(|group| group.iter().map(|(text, ..)| *text));
        let sentences: Vec<&str> = facts.chain(INVENTED).collect();
        format!("{}.", sentences.join(". "))
    })
}

fn known(asked: &str) -> impl Iterator<Item = &'static [KnownFact]> {
    let asked = asked.to_owned();
    let found = KNOWN.iter().filter(move |(said, _)| asked.contains(said));
    found.map(|(_, facts)| *facts)
}

fn exact(body: &Value) -> String {
    let asked = body.to_string();
    if let Some(answer) = chat(&asked).or_else(|| summary(&asked)) {
        return answer;
    }
    if asked.contains("Say what the fact does") {
        return json!({"d": []}).to_string();
    }
    let mut facts: Vec<Value> = Vec::new();
    for group in known(&asked) {
        let first = facts.len();
        for (text, kind, because) in group {
            let because: Vec<usize> = because.iter().map(|at| first + at).collect();
            facts.push(json!({"text": text, "turns": [0], "kind": kind, "because": because, "about": "User"}));
        }
    }
    json!({
        "facts": facts,
        "entities": [{"name": "Anna", "type": "person", "description": ""}, {"name": "Equinor", "type": "organization", "description": ""}],
        "relations": [{"s": "Anna", "r": "works at", "o": "Equinor"}],
    })
    .to_string()
}

fn loose(body: &Value) -> String {
    let asked = body.to_string();
    if let Some(answer) = chat(&asked).or_else(|| summary(&asked)) {
        return answer;
    }
    let texts: Vec<&str> = known(&asked)
        .flat_map(|group| group.iter().map(|(text, ..)| *text))
        .collect();
    let quoted: Vec<String> = texts
        .iter()
        .chain(&INVENTED)
        .map(|text| format!("\"{text}\""))
        .collect();
    match asked.len() % 4 {
        0 => format!(
            "Sure! Here are the facts:\n```json\n[{}]\n```\nAnything else?",
            quoted.join(", ")
        ),
        1 => format!("<think>hmm</think>({})", quoted.join(", ")),
        2 => format!("[{}, \"User is", quoted.join(", ")),
        _ => format!("{{'memories': [{}],}}", quoted.join(", ")),
    }
}

/// The answers of the exact model.
pub(crate) fn exact_answer() -> amem_scripted::AnswerText {
    Arc::new(exact)
}

/// A server of a provider whose model behaves so.
pub(crate) fn server(protocol: Protocol, behaviour: Behaviour) -> ScriptedServer {
    let script = match behaviour {
        Behaviour::Exact => Script {
            answer: Arc::new(exact),
            ..Script::default()
        },
        Behaviour::Loose => Script {
            answer: Arc::new(loose),
            ..Script::rules([ServerRule::NoSchema(500)])
        },
    };
    ScriptedServer::start(protocol, script).unwrap()
}
