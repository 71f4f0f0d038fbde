//! The part of a prompt that is looked at.

use crate::limits::PROMPT_BYTES_MAX;

/// The beginning of a prompt, at a boundary of characters.
pub(crate) fn beginning(prompt: &str) -> &str {
    let mut end = PROMPT_BYTES_MAX.min(prompt.len());
    while !prompt.is_char_boundary(end) {
        end -= 1;
    }
    &prompt[..end]
}
