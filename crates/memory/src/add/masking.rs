//! An add without the secrets of its messages and its metadata.

use std::borrow::Cow;

use super::request::AddRequest;
use crate::conversation::{ContentPart, SkippedPart};
use crate::secrets::{SecretCounts, SecretPolicy, hidden, hidden_in, reason};

/// The request without its secrets, and what the answer says of them.
pub(super) fn without_secrets(request: &AddRequest) -> (Cow<'_, AddRequest>, Vec<SkippedPart>) {
    if request.secrets == SecretPolicy::Keep {
        return (Cow::Borrowed(request), Vec::new());
    }
    let mut masked: Option<AddRequest> = None;
    let mut notes = Vec::new();
    for (at, message) in request.messages.iter().enumerate() {
        let mut counts = SecretCounts::new();
        for (part, content) in message.content.iter().enumerate() {
            let ContentPart::Text(text) = content else {
                continue;
            };
            if let Cow::Owned(text) = hidden(text, &mut counts) {
                let copy = masked.get_or_insert_with(|| request.clone());
                copy.messages[at].content[part] = ContentPart::Text(text);
            }
        }
        if !counts.is_empty() {
            notes.push(SkippedPart {
                message: at,
                what: "secret".into(),
                why: reason(&counts),
            });
        }
    }
    let mut counts = SecretCounts::new();
    if let Some(metadata) = hidden_in(&request.metadata, &mut counts) {
        masked.get_or_insert_with(|| request.clone()).metadata = metadata;
        notes.push(SkippedPart {
            message: 0,
            what: "secret in metadata".into(),
            why: reason(&counts),
        });
    }
    (masked.map_or(Cow::Borrowed(request), Cow::Owned), notes)
}
