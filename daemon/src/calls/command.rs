//! Changes as commands to the writer of a brain.

use amem_format::{Lsn, NodeId};
use amem_proto::change::Change;
use amem_proto::v1;
use amem_store::mutation::{Mutation, Request};
use uuid::Uuid;

use crate::refusal::{Refusal, Result};

/// A request for a change, which converts to a command for the writer of its brain.
pub trait IntoCommand: Change {
    /// The mutation. Errors: INVALID_ARGUMENT, with what is valid.
    fn into_mutation(self) -> Result<Mutation>;

    /// The brain's name and the command to its writer.
    fn into_command(mut self, principal: &str) -> Result<(String, Request)> {
        let brain = std::mem::take(self.brain_mut());
        let options = self.take_options();
        Ok((brain, request(self.into_mutation()?, options, principal)?))
    }
}

/// The command of a mutation: with its principal, its conditions and its request id.
pub(crate) fn request(
    mutation: Mutation,
    options: Option<v1::WriteOptions>,
    principal: &str,
) -> Result<Request> {
    let mut request = Request::new(mutation);
    request.principal = principal.to_owned();
    let Some(options) = options else {
        return Ok(request);
    };
    request.agent = options.agent;
    request.expected_lsn = options.expected_lsn.map(Lsn);
    request.expected_head = options
        .expected_head
        .map(|expected| (NodeId(expected.event_id), NodeId(expected.head_id)));
    if !options.request_id.is_empty() {
        let id = Uuid::try_parse(&options.request_id).map_err(|e| {
            let why = format!("{:?} is not a UUID: {e}", options.request_id);
            Refusal::invalid("request_id", why)
        })?;
        request.request_id = Some(id);
    }
    Ok(request)
}
