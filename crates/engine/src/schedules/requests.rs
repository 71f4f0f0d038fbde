//! Requests of the engine's own to a brain's writer.

use amem_store::Mutation;
use amem_store::mutation::Request;

use crate::commands::CommitAnswer;
use crate::error::{Error, Result};
use crate::open_brain::OpenBrain;
pub(super) use crate::writer::PRINCIPAL;

/// A request of a job.
pub(super) fn request(mutation: Mutation, job: &str) -> Request {
    Request::new(mutation).by(PRINCIPAL, job)
}

/// Commits a request, however full the queue is.
pub(super) async fn commit(brain: &OpenBrain, request: Request) -> Result<CommitAnswer> {
    let answer = brain.commit_when_free(request, 0).await?;
    answer
        .await
        .unwrap_or_else(|_| Err(Error::outcome_unknown()))
}
