//! Tools and a prompt that ask the client: for what a user enters, for an answer of its model, for its folders.
//!
//! In the newer era questions are an answer, and the client calls again with its replies and the state that it was
//! given. In the older one they are requests of the server, which need a session.

use std::collections::BTreeMap;
use std::sync::Mutex;

use amem_locks::LockResultExt;
use amem_mcp::rmcp::RoleServer;
use amem_mcp::rmcp::model::{
    ClientCapabilities, ErrorData, InputRequest, InputRequests, InputRequiredResult,
    InputResponses, ServerRequest,
};
use amem_mcp::rmcp::service::RequestContext;
use serde_json::{Map, Value, json};
use uuid::Uuid;

/// The tools that ask.
pub(crate) const TOOLS_THAT_ASK: &[&str] = &[
    "test_sampling",
    "test_elicitation",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_missing_capability",
    "test_streaming_elicitation",
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
];

/// The questions of a tool or prompt.
struct Dialogue {
    /// The questions of each round, by their key.
    rounds: Vec<Value>,
    /// True if the client is given a state, which it must show again.
    has_state: bool,
}

/// A question to the user: what is entered, and which fields are required.
fn entry(message: &str, properties: Value, required: &[&str]) -> Value {
    let schema = json!({"type": "object", "properties": properties, "required": required});
    let params = json!({"mode": "form", "message": message, "requestedSchema": schema});
    json!({"method": "elicitation/create", "params": params})
}

/// A question to the user that is answered by one field.
fn field(message: &str, name: &str, kind: &str) -> Value {
    entry(message, json!({name: {"type": kind}}), &[name])
}

/// A question to the client's model.
fn sampling(text: &str) -> Value {
    let message = json!({"role": "user", "content": {"type": "text", "text": text}});
    json!({"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": 100}})
}

/// A question for the client's folders.
fn roots() -> Value {
    json!({"method": "roots/list", "params": {}})
}

fn dialogue(name: &str, arguments: &Map<String, Value>) -> Option<Dialogue> {
    let argument = |name: &str| {
        arguments
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let who = || field("What is your name?", "name", "string");
    let confirm = || field("Please confirm", "ok", "boolean");
    let (has_state, rounds) = match name {
        "test_sampling" => (false, vec![json!({"reply": sampling(argument("prompt"))})]),
        "test_elicitation" => {
            let fields = json!({"username": {"type": "string"}, "email": {"type": "string"}});
            let entry = entry(argument("message"), fields, &["username", "email"]);
            (false, vec![json!({"user": entry})])
        }
        "test_elicitation_sep1034_defaults" => (
            false,
            vec![json!({"defaults": entry("Is this right?", defaults(), &[])})],
        ),
        "test_elicitation_sep1330_enums" => (
            false,
            vec![json!({"choices": entry("Which ones?", choices(), &[])})],
        ),
        "test_missing_capability" | "test_input_required_result_sampling" => {
            let question = sampling("What is the capital of France?");
            (false, vec![json!({"capital_question": question})])
        }
        "test_streaming_elicitation" | "test_input_required_result_elicitation" => {
            (false, vec![json!({"user_name": who()})])
        }
        "test_input_required_result_list_roots" => (false, vec![json!({"client_roots": roots()})]),
        "test_input_required_result_request_state"
        | "test_input_required_result_tampered_state" => {
            (true, vec![json!({"confirm": confirm()})])
        }
        "test_input_required_result_multiple_inputs" => {
            let greeting = sampling("Generate a greeting");
            let all = json!({"user_name": who(), "greeting": greeting, "client_roots": roots()});
            (true, vec![all])
        }
        "test_input_required_result_multi_round" => {
            let name = field("Step 1: What is your name?", "name", "string");
            let color = field("Step 2: What is your favorite color?", "color", "string");
            (true, vec![json!({"step1": name}), json!({"step2": color})])
        }
        "test_input_required_result_capabilities" => {
            let greeting = sampling("Generate a greeting");
            (
                false,
                vec![json!({"user_name": who(), "greeting": greeting})],
            )
        }
        "test_input_required_result_prompt" => {
            let context = field("What context should the prompt use?", "context", "string");
            (false, vec![json!({"user_context": context})])
        }
        _ => return None,
    };
    Some(Dialogue { rounds, has_state })
}

/// Fields of every kind with a default.
fn defaults() -> Value {
    json!({
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": true},
    })
}

/// Choices of one and of several, with and without titles.
fn choices() -> Value {
    let plain = ["option1", "option2", "option3"];
    let titled = json!([
        {"const": "value1", "title": "First Option"},
        {"const": "value2", "title": "Second Option"},
        {"const": "value3", "title": "Third Option"},
    ]);
    json!({
        "untitledSingle": {"type": "string", "enum": plain},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    })
}

/// The states that clients were given: the round that each stands for, by name and handle.
#[derive(Debug, Default)]
pub(crate) struct Rounds(Mutex<BTreeMap<(String, String), usize>>);

impl Rounds {
    fn given(&self, name: &str, round: usize) -> String {
        let handle = Uuid::new_v4().to_string();
        let mut all = self.0.lock().unpoisoned();
        all.insert((name.to_owned(), handle.clone()), round);
        handle
    }

    fn shown(&self, name: &str, handle: &str) -> Option<usize> {
        let all = self.0.lock().unpoisoned();
        all.get(&(name.to_owned(), handle.to_owned())).copied()
    }
}

/// A call of a tool or prompt that may ask.
pub(crate) struct Call<'a> {
    pub(crate) name: &'a str,
    pub(crate) arguments: &'a Map<String, Value>,
    pub(crate) replies: Option<&'a InputResponses>,
    pub(crate) state: Option<&'a str>,
}

/// How a call goes on.
pub(crate) enum Next {
    /// The client is asked.
    Ask(InputRequiredResult),
    /// All is answered; the replies in words.
    Done(String),
}

impl Call<'_> {
    /// Goes on with the dialogue of a tool or prompt; `None` if it has none.
    pub(crate) async fn go_on(
        &self,
        rounds: &Rounds,
        context: &RequestContext<RoleServer>,
    ) -> Option<Result<Next, ErrorData>> {
        let dialogue = dialogue(self.name, self.arguments)?;
        if context.meta.protocol_version().is_none() {
            return Some(ask_at_once(&dialogue, context).await);
        }
        Some(self.next(&dialogue, rounds, context))
    }

    fn next(
        &self,
        dialogue: &Dialogue,
        rounds: &Rounds,
        context: &RequestContext<RoleServer>,
    ) -> Result<Next, ErrorData> {
        let mut round = match self.state {
            Some(handle) if dialogue.has_state => rounds
                .shown(self.name, handle)
                .ok_or_else(|| ErrorData::invalid_params("the request state is not ours", None))?,
            _ => 0,
        };
        let mut questions = askable(&dialogue.rounds[round], context)?;
        let is_answered = |(key, question): (&String, &InputRequest)| {
            let reply = self.replies.and_then(|replies| replies.get(key));
            reply.is_some_and(|reply| is_reply(question, reply))
        };
        if questions.iter().all(is_answered) {
            round += 1;
            let Some(next) = dialogue.rounds.get(round) else {
                let state = if dialogue.has_state { "state-ok " } else { "" };
                return Ok(Next::Done(format!("{state}{}", json!(self.replies))));
            };
            questions = askable(next, context)?;
        }
        let state = dialogue.has_state.then(|| rounds.given(self.name, round));
        Ok(Next::Ask(InputRequiredResult::new(Some(questions), state)))
    }
}

/// The questions that the client can answer; an error if it can answer none of them.
fn askable(
    round: &Value,
    context: &RequestContext<RoleServer>,
) -> Result<InputRequests, ErrorData> {
    let all: InputRequests = serde_json::from_value(round.clone())
        .map_err(|why| ErrorData::internal_error(why.to_string(), None))?;
    let client = context.client_capabilities().unwrap_or_default();
    let mut missing = ClientCapabilities::default();
    let mut can = InputRequests::new();
    for (key, question) in all {
        let (has, lacks) = match &question {
            InputRequest::Elicitation(_) => (client.elicitation.is_some(), "elicitation"),
            InputRequest::CreateMessage(_) => (client.sampling.is_some(), "sampling"),
            _ => (client.roots.is_some(), "roots"),
        };
        if has {
            can.insert(key, question);
        } else {
            missing = serde_json::from_value(json!({lacks: {}})).unwrap_or(missing);
        }
    }
    if can.is_empty() {
        return Err(ErrorData::missing_required_client_capability(missing));
    }
    Ok(can)
}

/// True if a reply has the shape that its question asks for.
fn is_reply(question: &InputRequest, reply: &Value) -> bool {
    match question {
        InputRequest::Elicitation(_) => reply.get("action").is_some_and(Value::is_string),
        InputRequest::CreateMessage(_) => reply.get("content").is_some(),
        _ => reply.get("roots").is_some_and(Value::is_array),
    }
}

/// Asks by requests of the server.
async fn ask_at_once(
    dialogue: &Dialogue,
    context: &RequestContext<RoleServer>,
) -> Result<Next, ErrorData> {
    let mut replies = Vec::new();
    for round in &dialogue.rounds {
        for question in askable(round, context)?.into_values() {
            let request = match question {
                InputRequest::CreateMessage(request) => {
                    ServerRequest::CreateMessageRequest(request)
                }
                InputRequest::Elicitation(request) => ServerRequest::ElicitRequest(request),
                InputRequest::ListRoots(request) => ServerRequest::ListRootsRequest(request),
                _ => continue,
            };
            let reply = context.peer.send_request(request).await;
            let reply = reply.map_err(|why| ErrorData::internal_error(why.to_string(), None))?;
            replies.push(json!(reply).to_string());
        }
    }
    Ok(Next::Done(replies.join("\n")))
}
