//! `amemctl correct`: replaces a belief by a new one.

use amem_client::v1;
use amem_format::Micros;
use clap::Args;

use super::add::session;
use crate::args::event_id::EventId;
use crate::args::text::TextArgs;
use crate::brain::target::{self, BrainTarget};
use crate::brain::writable::{Writable, WriteArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::CommandContext;
use crate::when::{self, parse_time, timestamp};

#[derive(Debug, Args)]
#[command(after_help = format!("Examples:
  amemctl correct work 12 \"the tests take 15 minutes\"
  amemctl correct work 12 --to-head --reason \"measured again\" \"the tests take 5 minutes\"
  amemctl correct work 12 --expected-head 12 \"…\"    refused if another client was faster

An event that was corrected before is refused, unless --to-head or --fork says what is meant.

The old belief stays with confidence 0 (or --target-confidence); `resolve` shows both.

{}", when::HELP))]
pub(crate) struct CorrectArgs {
    #[arg(help = target::NAME_HELP)]
    brain: BrainTarget,
    /// The event to correct: its id, or "last".
    id: EventId,
    #[command(flatten)]
    text: TextArgs,
    /// If it was corrected before, correct what is believed now.
    #[arg(long)]
    to_head: bool,
    /// If it was corrected before, correct it all the same: two beliefs then compete.
    #[arg(long, conflicts_with = "to_head")]
    fork: bool,
    /// The reason.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    reason: Option<String>,
    /// The confidence of the new belief [default: 1]
    #[arg(long, value_name = "0..1", value_parser = crate::args::text::parse_unit)]
    confidence: Option<f32>,
    /// The remaining confidence of the old belief [default: 0]
    #[arg(long, value_name = "0..1", value_parser = crate::args::text::parse_unit)]
    target_confidence: Option<f32>,
    /// Its session: a number, or a key (key:7 for a key of digits); amemd opens a session for a new key.
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// When it happened.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    happened: Option<Micros>,
    /// Refuse the change unless this event is what is believed now.
    #[arg(long, value_name = "ID")]
    expected_head: Option<EventId>,
    #[command(flatten)]
    writing: WriteArgs,
}

impl CorrectArgs {
    /// Names both ways on, if the event is not what is believed and the user has not chosen.
    fn choices(&self, failure: Failure, target: u64) -> Failure {
        match failure.head {
            Some(head) if self.expected_head.is_none() => Failure {
                remedy: format!(
                    "add --to-head to correct event {head}, which is believed now, or --fork to correct event {target} \
                     all the same: both corrections then compete"
                ),
                message: format!(
                    "event {target} was corrected before: event {head} is believed now"
                ),
                ..failure
            },
            _ => failure,
        }
    }

    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let text = self.text.required("text")?;
        let mut brain = Writable::open(cx, &self.brain)?;
        let target_id = self.id.number(cx, &brain.opened)?;
        let mut options = self.writing.options(cx);
        options.expected_head = match self.expected_head {
            Some(head) => Some(v1::ExpectedHead {
                event_id: target_id,
                head_id: head.number(cx, &brain.opened)?,
            }),
            None if self.to_head || self.fork => None,
            None => Some(v1::ExpectedHead {
                event_id: target_id,
                head_id: target_id,
            }),
        };
        let session_id = match &self.session {
            None => None,
            Some(name) => Some(session(cx, &mut brain, Some(&self.writing), name)?),
        };
        let request = v1::CorrectRequest {
            options: Some(options),
            target_id,
            to_head: self.to_head,
            event: Some(v1::NewEvent {
                r#type: v1::EventType::Correction.into(),
                text,
                session_id,
                confidence: self.confidence,
                event_time: self.happened.map(timestamp),
                ..Default::default()
            }),
            target_confidence: self.target_confidence,
            reason: self.reason.clone().unwrap_or_default(),
            ..Default::default()
        };
        let written = brain.write(cx, request);
        let answer = written.map_err(|failure| self.choices(failure, target_id))?;
        let is_quiet = cx.is_quiet();
        cx.message(Some(&brain.named), &answer, |page| {
            let (id, replaced) = (answer.event_id, answer.target_id);
            if is_quiet {
                page.line(id)
            } else {
                page.line(format!("event {id} replaces {replaced}"))
            }
        })?;
        Ok(Exit::Ok)
    }
}
