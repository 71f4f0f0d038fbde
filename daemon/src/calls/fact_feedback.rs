//! Feedback about memories.

use std::sync::Arc;

use amem_facts::{FactFeedback, Facts};
use amem_proto::v1;

use super::fact_memory::now;
use super::fact_messages::{self as convert, id, scope};
use super::facts::options;
use super::gateway::{Gateway, Handle};
use crate::auth::Caller;
use crate::refusal::Result;

impl Handle for v1::SetFactFeedbackRequest {
    type Response = v1::SetFactFeedbackResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let (agent, _) = options(request.options)?;
        let (id, scope) = (id(&request.id)?, scope(request.scope));
        let feedback = FactFeedback {
            rating: convert::rating(request.rating)?,
            reason: request.reason,
            at: now(),
        };
        let work = move |facts: &Facts<'_>| facts.set_feedback(id, &scope, feedback);
        let (moment, (holds, _)) = gateway
            .change_facts(caller, &request.brain, &agent, work)
            .await?;
        Ok(v1::SetFactFeedbackResponse {
            moment: Some(moment),
            feedback: holds.map(convert::feedback),
        })
    }
}
