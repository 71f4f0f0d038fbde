//! Feedback about memories.

use amem_proto::v1;
use serde_json::{Value, json};

use super::super::call::RestCall;
use super::super::output::Output;
use crate::refusal::{Refusal, Result};

/// The judgements by name; none takes earlier feedback back.
const RATINGS: [(&str, v1::FactRating); 3] = [
    ("POSITIVE", v1::FactRating::Positive),
    ("NEGATIVE", v1::FactRating::Negative),
    ("VERY_NEGATIVE", v1::FactRating::VeryNegative),
];

pub(in super::super) async fn set(call: &mut RestCall) -> Result<Output> {
    let id = call.options.text("memory_id")?;
    let id = id.ok_or_else(|| Refusal::invalid("memory_id", "it is missing"))?;
    let feedback = call.options.text("feedback")?;
    let rating = match &feedback {
        None => v1::FactRating::Cleared,
        Some(name) => {
            let row = RATINGS.iter().find(|row| row.0.eq_ignore_ascii_case(name));
            row.map(|row| row.1).ok_or_else(|| {
                let known = RATINGS.map(|row| row.0).join(", ");
                Refusal::invalid(
                    "feedback",
                    format!("unknown feedback {name:?}: use {known}, or null to take it back"),
                )
            })?
        }
    };
    let request = v1::SetFactFeedbackRequest {
        brain: call.brain.clone(),
        id: id.clone(),
        scope: call.options.scope()?,
        rating: rating.into(),
        reason: call.options.text("feedback_reason")?.unwrap_or_default(),
        options: Some(call.repeatable()),
    };
    let stored = call.fact(request).await?.feedback;
    let reason = stored.as_ref().map(|stored| stored.reason.as_str());
    let reason = reason.filter(|reason| !reason.is_empty());
    let name = |rating: v1::FactRating| RATINGS.iter().find(|row| row.1 == rating).map(|row| row.0);
    let name = stored.as_ref().and_then(|stored| name(stored.rating()));
    Ok(json!({
        "id": id,
        "feedback": name.map_or(Value::Null, Value::from),
        "feedback_reason": reason,
        "message": "Feedback stored",
    })
    .into())
}
