//! Text that a session is given, with the memories in it.

use amem_proto::v1;

use crate::answer::Answer;
use crate::limits::CHARS_PER_TOKEN;

/// The title of what was learned last, if nothing is known of the session before.
pub const LEARNED_LAST: &str = "learned last:";
/// Text for a model, and the memories in it.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenContext {
    /// A head line, and a line for each memory.
    pub text: String,
    /// The memories, in their order.
    pub facts: Vec<v1::Fact>,
    /// Tokens of the text, counted as those of budgets.
    pub tokens: usize,
}

/// What a prompt is given, and what was close to it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PromptContext {
    /// What it is given; `None` if there is nothing.
    pub given: Option<GivenContext>,
    /// Memories that were close, the best first, at most `limits::NEAR_MAX`.
    pub near: Vec<NearMemory>,
    /// True if the prompt has too few words to look for.
    pub is_short: bool,
}

/// A memory that was close to a prompt and was not given.
#[derive(Debug, Clone, PartialEq)]
pub struct NearMemory {
    /// Its id; empty for an event that is no memory and no turn.
    pub id: String,
    /// The event.
    pub event: u64,
    /// How well it answers, 0 to 1.
    pub relevance: f32,
    /// Why it was not given.
    pub why: NotGiven,
}

/// Why a memory was not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotGiven {
    /// Its relevance is below `limits::PROMPT_FLOOR`.
    Relevance,
    /// The session has it already.
    Had,
    /// It was said in the session.
    Said,
    /// There was no room for it.
    Room,
}

impl GivenContext {
    pub(crate) fn new(answer: Answer, head: &str, facts: Vec<v1::Fact>) -> Self {
        let text = answer.finish(head, "");
        let tokens = text.chars().count().div_ceil(CHARS_PER_TOKEN);
        Self {
            text,
            facts,
            tokens,
        }
    }
}
