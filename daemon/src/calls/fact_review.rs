//! Verdicts about memories that wait for a review.

use std::sync::Arc;

use amem_facts::{FactVerdict, Facts};
use amem_proto::v1;

use super::fact_memory::now;
use super::fact_messages::{self as convert, id, scope};
use super::facts::options;
use super::gateway::{Gateway, Handle};
use crate::auth::Caller;
use crate::refusal::{Refusal, Result};

fn verdict(request: &v1::ReviewFactRequest) -> Result<FactVerdict> {
    let has_text = !request.text.is_empty();
    let verdict = match request.verdict() {
        v1::FactVerdict::Accept => FactVerdict::Accept,
        v1::FactVerdict::Keep => FactVerdict::Keep,
        v1::FactVerdict::Reject => FactVerdict::Reject,
        v1::FactVerdict::Correct => FactVerdict::Correct(request.text.clone()),
        v1::FactVerdict::Undo => FactVerdict::Undo,
        v1::FactVerdict::Unspecified => {
            let why = "it is not there: accept, keep, reject, correct or undo";
            return Err(Refusal::invalid("verdict", why));
        }
    };
    if has_text && !matches!(verdict, FactVerdict::Correct(_)) {
        return Err(Refusal::invalid("text", "only CORRECT has a text"));
    }
    Ok(verdict)
}

impl Handle for v1::ReviewFactRequest {
    type Response = v1::ReviewFactResponse;

    async fn handle(
        mut request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let (agent, _) = options(request.options.take())?;
        let (id, verdict) = (id(&request.id)?, verdict(&request)?);
        let (scope, reason) = (scope(request.scope), convert::reason(request.reason));
        let work =
            move |facts: &Facts<'_>| facts.decide((id, &scope), &verdict, reason.as_deref(), now());
        let (moment, (done, _)) = gateway
            .change_facts(caller, &request.brain, &agent, work)
            .await?;
        let ids = |ids: Vec<uuid::Uuid>| ids.iter().map(uuid::Uuid::to_string).collect();
        Ok(v1::ReviewFactResponse {
            moment: Some(moment),
            ended_ids: ids(done.ended),
            restored_ids: ids(done.restored),
        })
    }
}
