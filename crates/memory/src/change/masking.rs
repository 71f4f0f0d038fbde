//! An update without secrets.

use std::borrow::Cow;

use super::request::UpdateRequest;
use crate::secrets::{SecretCounts, SecretPolicy, hidden, hidden_in};

/// A reason with masks in place of its secrets: what ends a memory has no policy of its own.
pub fn masked_reason(reason: Option<&str>) -> Option<Cow<'_, str>> {
    reason.map(|reason| hidden(reason, &mut SecretCounts::new()))
}

/// The update without its secrets: the memory that is answered shows the masks.
pub(super) fn update_without_secrets(request: &UpdateRequest) -> Cow<'_, UpdateRequest> {
    if request.secrets == SecretPolicy::Keep {
        return Cow::Borrowed(request);
    }
    let mut counts = SecretCounts::new();
    let mut of = |text: &Option<String>| {
        let text = text.as_deref()?;
        Some(hidden(text, &mut counts).into_owned())
    };
    let (text, reason) = (of(&request.text), of(&request.reason));
    let metadata = request.metadata.as_ref();
    let metadata = metadata.and_then(|metadata| hidden_in(metadata, &mut counts));
    if counts.is_empty() {
        return Cow::Borrowed(request);
    }
    Cow::Owned(UpdateRequest {
        text,
        reason,
        metadata: metadata.or_else(|| request.metadata.clone()),
        ..request.clone()
    })
}
