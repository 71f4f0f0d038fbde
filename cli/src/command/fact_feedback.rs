//! `amemctl fact feedback`: what the caller thinks of a memory.

use amem_client::v1;
use clap::{Args, ValueEnum};

use crate::command::fact_args::{FactBrainArgs, options};
use crate::command::fact_output::feedback_text;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::CommandContext;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl fact feedback 0b51a1b2-3c4d-4e5f-8a6b-7c8d9e0f1a2b positive
  amemctl fact feedback 0b51a1b2-3c4d-4e5f-8a6b-7c8d9e0f1a2b very-negative --reason \"she never lived there\"
  amemctl fact feedback 0b51a1b2-3c4d-4e5f-8a6b-7c8d9e0f1a2b clear

The memory itself does not change. `amemctl fact get` shows the newest feedback, `amemctl fact history` all of it.")]
pub(super) struct FeedbackArgs {
    /// The memory's id.
    id: String,
    /// The judgement; clear takes earlier feedback back.
    rating: RatingName,
    /// Why.
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    of: FactBrainArgs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum RatingName {
    Positive,
    Negative,
    VeryNegative,
    Clear,
}

impl RatingName {
    fn of(self) -> v1::FactRating {
        match self {
            Self::Positive => v1::FactRating::Positive,
            Self::Negative => v1::FactRating::Negative,
            Self::VeryNegative => v1::FactRating::VeryNegative,
            Self::Clear => v1::FactRating::Cleared,
        }
    }
}

impl FeedbackArgs {
    pub(super) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let request = v1::SetFactFeedbackRequest {
            brain: self.of.brain.clone(),
            id: self.id.clone(),
            rating: self.rating.of().into(),
            reason: self.reason.clone().unwrap_or_default(),
            options: options(cx),
            ..Default::default()
        };
        let remote = cx.daemon()?;
        let answer = remote.call(remote.client.facts().set_fact_feedback(request))?;
        cx.changed(None, &answer, |page| match &answer.feedback {
            Some(feedback) => page.line(format!("feedback: {}", feedback_text(feedback))),
            None => page.line("it has no feedback"),
        })?;
        Ok(Exit::Ok)
    }
}
