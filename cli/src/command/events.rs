//! `amemctl events`: attributes and vectors of existing events.

use std::path::PathBuf;

use amem_client::v1;
use clap::{Args, Subcommand};
use serde_json::{Map, Value};

use super::add::{parse_attribute, parse_object};
use crate::args::event_id::EventId;
use crate::args::text;
use crate::brain::target::{self, BrainTarget};
use crate::brain::writable::{Writable, WriteArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::CommandContext;

/// Attempts to change attributes while others commit.
const ATTEMPTS_MAX: u32 = 8;

#[derive(Debug, Args)]
pub(crate) struct EventsArgs {
    #[command(subcommand)]
    act: EventsCommand,
}

#[derive(Debug, Subcommand)]
enum EventsCommand {
    /// Sets attributes of an event; others stay.
    SetAttributes(SetAttributesArgs),
    /// Sets or removes the vector of an event.
    SetVector(SetVectorArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl events set-attributes work 12 source=git reviewed=yes
  amemctl events set-attributes work 12 --json-object '{\"expires_at\":\"2027-01-01T00:00:00Z\",\"priority\":3}'
  amemctl events set-attributes work 12 --remove source
  amemctl events set-attributes work 12 --clear

KEY=VALUE stores a text; --json-object takes numbers, lists and objects. amem.origin, where a merged event came from,
always stays. `amemctl get work 12 --history` shows earlier values.")]
struct SetAttributesArgs {
    #[arg(help = target::NAME_HELP)]
    brain: BrainTarget,
    /// The event: its id, or "last".
    id: EventId,
    /// Attributes to set, as text.
    #[arg(value_name = "KEY=VALUE", value_parser = parse_attribute)]
    attributes: Vec<(String, String)>,
    /// Attributes to set, as a JSON object.
    #[arg(long, value_name = "JSON", value_parser = parse_object)]
    json_object: Option<Map<String, Value>>,
    /// Remove this attribute; may be repeated.
    #[arg(long, value_name = "KEY")]
    remove: Vec<String>,
    /// Remove all attributes first.
    #[arg(long)]
    clear: bool,
    #[command(flatten)]
    writing: WriteArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl events set-vector work 12 vector.json     a JSON array of numbers, of the brain's own model
  amemctl events set-vector work 12 -               the same, from stdin
  amemctl events set-vector work 12 --remove")]
struct SetVectorArgs {
    #[arg(help = target::NAME_HELP)]
    brain: BrainTarget,
    /// The event: its id, or "last".
    id: EventId,
    /// A file with the vector, as a JSON array; `-` reads stdin.
    #[arg(
        value_name = "FILE",
        required_unless_present = "remove",
        conflicts_with = "remove"
    )]
    vector: Option<PathBuf>,
    /// Remove the vector.
    #[arg(long)]
    remove: bool,
    #[command(flatten)]
    writing: WriteArgs,
}

impl EventsArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        match &self.act {
            EventsCommand::SetAttributes(set) => set.run(cx),
            EventsCommand::SetVector(set) => set.run(cx),
        }
    }
}

impl SetAttributesArgs {
    fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let is_nothing = self.attributes.is_empty()
            && self.json_object.is_none()
            && self.remove.is_empty()
            && !self.clear;
        if is_nothing {
            return Err(Failure::argument(
                "no attribute is given",
                "name one as KEY=VALUE, or give --json-object, --remove or --clear",
            ));
        }
        let mut brain = Writable::open(cx, &self.brain)?;
        let id = self.id.number(cx, &brain.opened)?;
        let (attributes, answer) = self.set(cx, &mut brain, id)?;
        cx.changed(Some(&brain.named), &answer, |page| {
            page.line(format!("event {id}: {}", Value::Object(attributes)));
        })?;
        Ok(Exit::Ok)
    }

    /// Changes what is there; begins again if another client commits in between.
    fn set(
        &self,
        cx: &mut CommandContext,
        brain: &mut Writable,
        id: u64,
    ) -> Result<(Map<String, Value>, v1::SetAttributesResponse), Failure> {
        let mut attempt = 1;
        loop {
            let request = v1::GetEventsRequest {
                event_ids: vec![id],
                include_forgotten: true,
                ..Default::default()
            };
            let answer = brain.opened.ask(cx, request)?;
            let event = answer.events.first().cloned().unwrap_or_default();
            let attributes = self.changed(&event.attributes_json)?;
            let mut options = self.writing.options(cx);
            let is_guarded = options.expected_lsn.is_none() && options.request_id.is_empty();
            if is_guarded {
                options.expected_lsn = answer.moment.map(|moment| moment.lsn);
            }
            let request = v1::SetAttributesRequest {
                options: Some(options),
                event_id: id,
                attributes_json: if attributes.is_empty() {
                    String::new()
                } else {
                    Value::Object(attributes.clone()).to_string()
                },
                ..Default::default()
            };
            match brain.write(cx, request) {
                Ok(answer) => return Ok((attributes, answer)),
                Err(failure)
                    if failure.code == "condition" && is_guarded && attempt < ATTEMPTS_MAX =>
                {
                    attempt += 1;
                }
                Err(failure) => return Err(failure),
            }
        }
    }

    fn changed(&self, before: &str) -> Result<Map<String, Value>, Failure> {
        let mut attributes = match before {
            "" => Map::new(),
            json => parse_object(json).map_err(|why| {
                Failure::refused(
                    "answer",
                    why,
                    "check that amemctl and amemd have the same version",
                )
            })?,
        };
        if self.clear {
            attributes.clear();
        }
        for key in &self.remove {
            if attributes.remove(key).is_none() {
                return Err(Failure::new(
                    Exit::NotFound,
                    "unknown_attribute",
                    format!("the event has no attribute {key:?}"),
                    "`amemctl get BRAIN ID` shows its attributes",
                ));
            }
        }
        attributes.extend(self.json_object.clone().unwrap_or_default());
        for (key, value) in &self.attributes {
            attributes.insert(key.clone(), Value::from(value.as_str()));
        }
        Ok(attributes)
    }
}

impl SetVectorArgs {
    fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let vector = self.vector.as_deref().map(text::vector).transpose()?;
        let mut brain = Writable::open(cx, &self.brain)?;
        let id = self.id.number(cx, &brain.opened)?;
        let dimension = vector.as_ref().map_or(0, Vec::len) as u64;
        let request = v1::SetVectorRequest {
            options: Some(self.writing.options(cx)),
            event_id: id,
            vector: vector.map(|values| v1::Vector {
                values,
                space: String::new(),
            }),
            ..Default::default()
        };
        let answer = brain.write(cx, request)?;
        cx.changed(Some(&brain.named), &answer, |page| {
            page.line(match dimension {
                0 => format!("event {id}: no vector"),
                n => format!("event {id}: a vector of {n} numbers"),
            });
        })?;
        Ok(Exit::Ok)
    }
}
