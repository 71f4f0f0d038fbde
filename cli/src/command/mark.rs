//! `amemctl pin`, `unpin`, `forget` and `restore`.

use amem_client::v1;
use clap::Args;
use serde_json::{Value, json};

use crate::args::event_id::EventId;
use crate::brain::target::{self, BrainTarget};
use crate::brain::writable::{Writable, WriteArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::{CommandContext, message_json};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl pin work 12            it no longer fades
  amemctl unpin work 12 13
  amemctl forget work 12         it is hidden, at every moment, unless requested
  amemctl restore work 12        it is visible again

`forget` keeps the bytes; `amemctl erase` removes them for good. Each event is a commit of its own: if one is
refused, those before it are done.")]
pub(crate) struct MarkArgs {
    #[arg(help = target::NAME_HELP)]
    brain: BrainTarget,
    /// Events: ids, or "last".
    #[arg(required = true, value_name = "ID")]
    ids: Vec<EventId>,
    #[command(flatten)]
    writing: WriteArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MarkAction {
    Pin,
    Unpin,
    Forget,
    Restore,
}

impl MarkArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext, act: MarkAction) -> Result<Exit, Failure> {
        if self.ids.len() > 1 {
            self.writing.check_once()?;
        }
        let mut brain = Writable::open(cx, &self.brain)?;
        let ids = EventId::numbers(&self.ids, cx, &brain.opened, None)?;
        let (mut events, mut answers) = (Vec::new(), Vec::new());
        for id in ids {
            let answer = self
                .one(cx, &mut brain, act, id)
                .map_err(|failure| self.among(failure, &events, act, id))?;
            answers.push(json!({"eventId": id.to_string(), "commit": answer["commit"]}));
            events.push(id);
        }
        cx.done(Some(&brain.named), &json!({"events": answers}), |page| {
            page.line(format!("{}: {}", act.done(), ids_of(&events)));
        })?;
        Ok(Exit::Ok)
    }

    /// Adds what was done before the failure, and how to continue.
    fn among(&self, failure: Failure, events: &[u64], act: MarkAction, id: u64) -> Failure {
        let remedy = match &failure.request_id {
            Some(request) if self.ids.len() > 1 => format!(
                "the outcome is unknown: `amemctl {} {} {id} --request-id {request}` makes the change once; then continue",
                act.name(),
                self.brain
            ),
            _ => failure.remedy.clone(),
        };
        Failure {
            message: format!("{}{}", before(events, act), failure.message),
            remedy,
            ..failure
        }
    }

    fn one(
        &self,
        cx: &mut CommandContext,
        brain: &mut Writable,
        act: MarkAction,
        event_id: u64,
    ) -> Result<Value, Failure> {
        let options = Some(self.writing.options(cx));
        let brain_name = String::new();
        macro_rules! write {
            ($request:ident) => {
                message_json(&brain.write(
                    cx,
                    v1::$request {
                        brain: brain_name,
                        options,
                        event_id,
                    },
                )?)?
            };
        }
        Ok(match act {
            MarkAction::Pin => write!(PinRequest),
            MarkAction::Unpin => write!(UnpinRequest),
            MarkAction::Forget => write!(ForgetRequest),
            MarkAction::Restore => write!(RestoreRequest),
        })
    }
}

impl MarkAction {
    fn name(self) -> &'static str {
        match self {
            Self::Pin => "pin",
            Self::Unpin => "unpin",
            Self::Forget => "forget",
            Self::Restore => "restore",
        }
    }

    fn done(self) -> &'static str {
        match self {
            Self::Pin => "pinned",
            Self::Unpin => "no longer pinned",
            Self::Forget => "forgotten",
            Self::Restore => "restored",
        }
    }
}

fn ids_of(events: &[u64]) -> String {
    let ids: Vec<String> = events.iter().map(u64::to_string).collect();
    ids.join(", ")
}

fn before(events: &[u64], act: MarkAction) -> String {
    if events.is_empty() {
        String::new()
    } else {
        format!("{}: {}; then ", act.done(), ids_of(events))
    }
}
