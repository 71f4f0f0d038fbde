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
