//! `amemctl add`: adds an event.

use amem_client::v1;
use amem_format::Micros;
use amem_format::types::{EdgeType, EventType};
use clap::Args;
use serde_json::{Map, Value};

use crate::args::event_id::EventId;
use crate::args::selection::{self, SessionName};
use crate::args::text::TextArgs;
use crate::brain::opened::BrainHandle;
use crate::brain::target::{self, BrainTarget};
use crate::brain::writable::{Writable, WriteArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::CommandContext;
use crate::render::plural;
use crate::types::{edge_type_number, event_type_number, parse_edge_type, parse_event_type};
use crate::when::{self, parse_time, timestamp};

#[derive(Debug, Args)]
#[command(after_help = format!("Examples:
  amemctl add work \"the staging database is Postgres 17\"
  amemctl add work --type decision \"we stay with Postgres\" --link supports:12 --link caused-by:9
  amemctl add work --session standup --follow --happened \"2 days ago\" \"the deploy failed\"
  git log -1 --format=%B | amemctl add work --attribute source=git -
  amemctl add work --relate 3 \"the backup job runs at 3:30\"

Edges start at the new event: `--link caused-by:9` says that event 9 caused it,
`--link supports:12` that event 12 is evidence for it. With -q only the new id is printed.

{}", when::HELP))]
pub(crate) struct AddArgs {
    #[arg(help = target::NAME_HELP)]
    brain: BrainTarget,
    #[command(flatten)]
    text: TextArgs,
    /// Its type: fact, decision, inference, correction, skill, episode.
    #[arg(long = "type", value_name = "TYPE", value_parser = parse_event_type, default_value = "fact")]
    event_type: EventType,
    /// An edge from the event: a type, a target, and a weight other than 1; may be repeated.
    #[arg(long = "link", value_name = "TYPE:ID[=WEIGHT]", value_parser = parse_link)]
    links: Vec<LinkArg>,
    /// Its session: a number, or a key (key:7 for a key of digits); amemd opens a session for a new key.
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// Link it to the previous event of its session (temporal-next).
    #[arg(long, requires = "session")]
    follow: bool,
    /// When it happened.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    happened: Option<Micros>,
    /// Its confidence [default: 1]
    #[arg(long, value_name = "0..1", value_parser = crate::args::text::parse_unit)]
    confidence: Option<f32>,
    /// An attribute, as text; may be repeated.
    #[arg(long = "attribute", value_name = "KEY=VALUE", allow_hyphen_values = true, value_parser = parse_attribute)]
    attributes: Vec<(String, String)>,
    /// Attributes, as a JSON object.
    #[arg(long, value_name = "JSON", value_parser = parse_object)]
    attributes_json: Option<Map<String, Value>>,
    /// Link it to the most similar events, at most this many (related-to).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    relate: Option<u32>,
    /// The least similarity for --relate.
    #[arg(long, value_name = "0..1", default_value_t = 0.5, requires = "relate", value_parser = crate::args::text::parse_unit)]
    min_similarity: f32,
    /// Its scope: a user.
    #[arg(long, value_name = "USER", hide_short_help = true)]
    scope_user: Option<String>,
    /// Its scope: an agent.
    #[arg(long, value_name = "AGENT", hide_short_help = true)]
    scope_agent: Option<String>,
    /// Its scope: a run.
    #[arg(long, value_name = "RUN", hide_short_help = true)]
    scope_run: Option<String>,
    /// Its scope: an app.
    #[arg(long, value_name = "APP", hide_short_help = true)]
    scope_app: Option<String>,
    /// Its decay rate per day [default: that of its type]
    #[arg(long, value_name = "RATE", hide_short_help = true)]
    lambda: Option<f32>,
    #[command(flatten)]
    writing: WriteArgs,
}

#[derive(Debug, Clone)]
struct LinkArg {
    edge_type: EdgeType,
    target: EventId,
    weight: Option<f32>,
}

impl AddArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let text = self.text.required("text")?;
        let mut brain = Writable::open(cx, &self.brain)?;
        let session_id = match &self.session {
            None => None,
            Some(name) => Some(session(cx, &mut brain, Some(&self.writing), name)?),
        };
        let request = v1::IngestRequest {
            options: Some(self.writing.options(cx)),
            events: vec![self.event(text, session_id)?],
            links: self.links(cx, &brain.opened)?,
            follow: self.follow,
            relate: self.relate.map(|k| v1::Relate {
                k,
                min_similarity: self.min_similarity,
            }),
            ..Default::default()
        };
        let answer = brain.write(cx, request)?;
        let id = answer.event_ids.first().copied().unwrap_or_default();
        let is_quiet = cx.is_quiet();
        cx.message(Some(&brain.named), &answer, |page| {
            if is_quiet {
                return page.line(id);
            }
            let edges = match answer.edges {
                0 => String::new(),
                n => format!(", with {}", plural(n, "edge")),
            };
            page.line(format!("event {id}{edges}"));
        })?;
        Ok(Exit::Ok)
    }

    fn event(&self, text: String, session_id: Option<u32>) -> Result<v1::NewEvent, Failure> {
        let mut attributes = self.attributes_json.clone().unwrap_or_default();
        let scope = [
            ("amem.user", &self.scope_user),
            ("amem.agent", &self.scope_agent),
            ("amem.run", &self.scope_run),
            ("amem.app", &self.scope_app),
        ];
        for (name, value) in scope {
            if let Some(value) = value {
                attributes.insert(name.to_owned(), Value::from(value.as_str()));
            }
        }
        for (key, value) in &self.attributes {
            if attributes
                .insert(key.clone(), Value::from(value.as_str()))
                .is_some()
            {
                return Err(Failure::argument(
                    format!("the attribute {key:?} is given twice"),
                    "give it once",
                ));
            }
        }
        Ok(v1::NewEvent {
            r#type: event_type_number(self.event_type),
            text,
            session_id,
            confidence: self.confidence,
            event_time: self.happened.map(timestamp),
            lambda: self.lambda,
            attributes_json: if attributes.is_empty() {
                String::new()
            } else {
                Value::Object(attributes).to_string()
            },
            vector: None,
        })
    }

    fn links(
        &self,
        cx: &mut CommandContext,
        opened: &BrainHandle,
    ) -> Result<Vec<v1::NewLink>, Failure> {
        use v1::link_end::End;
        let end = |end| Some(v1::LinkEnd { end: Some(end) });
        let mut links = Vec::new();
        for link in &self.links {
            links.push(v1::NewLink {
                source: end(End::BatchIndex(0)),
                target: end(End::EventId(link.target.number(cx, opened)?)),
                r#type: edge_type_number(link.edge_type),
                weight: link.weight,
            });
        }
        Ok(links)
    }
}

/// A session by number or by key; a key opens one, or opens it again, if needed.
pub(crate) fn session(
    cx: &mut CommandContext,
    brain: &mut Writable,
    writing: Option<&WriteArgs>,
    name: &str,
) -> Result<u32, Failure> {
    let key = match SessionName::of(name) {
        SessionName::Number(number) => return Ok(number),
        SessionName::Key("") => {
            return Err(Failure::argument(
                "the key of the session is empty",
                "give a key, or omit --session",
            ));
        }
        SessionName::Key(key) => key.to_owned(),
    };
    // Looking it up costs no commit; opening an open session does.
    match selection::session(cx, &brain.opened, name) {
        Ok(session) if session.closed_at.is_none() => return Ok(session.id),
        Err(failure) if failure.code != "unknown_session" => return Err(failure),
        _ => {}
    }
    if let Some(writing) = writing {
        writing.check_alone("opening the session")?;
    }
    let request = v1::OpenSessionRequest {
        key,
        options: Some(v1::WriteOptions {
            agent: cx.reach().agent.clone(),
            ..Default::default()
        }),
        ..Default::default()
    };
    let opened = brain
        .write(cx, request)
        .map_err(|failure| match failure.request_id {
            None => failure,
            // The event was not sent, and opening under the same key again is harmless: no request id is needed.
            Some(_) => Failure {
                remedy: "repeat the command: at most the session was opened".to_owned(),
                request_id: None,
                ..failure
            },
        });
    Ok(opened?.session_id)
}

fn parse_link(text: &str) -> Result<LinkArg, String> {
    let (name, rest) = text
        .split_once(':')
        .ok_or("write it as TYPE:ID, such as supports:12")?;
    let (id, weight) = match rest.split_once('=') {
        None => (rest, None),
        Some((id, weight)) => {
            let weight = weight
                .parse()
                .map_err(|_| format!("{weight:?} is not a weight: give a number from 0 to 1"))?;
            (id, Some(weight))
        }
    };
    Ok(LinkArg {
        edge_type: parse_edge_type(name)?,
        target: id.parse()?,
        weight,
    })
}

pub(super) fn parse_attribute(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("write it as KEY=VALUE".to_owned()),
    }
}

pub(super) fn parse_object(text: &str) -> Result<Map<String, Value>, String> {
    amem_format::attributes::parse(text)
        .map_err(|e| format!("this is not a JSON object of attributes: {e}"))
}
