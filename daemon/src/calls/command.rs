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
        let mutation = self.into_mutation()?;
        let conditions = WriteConditions::of(options)?;
        Ok((brain, conditions.request(mutation, principal)))
    }
}

/// The agent, the preconditions and the request id of a change.
pub(super) struct WriteConditions {
    agent: String,
    expected_lsn: Option<Lsn>,
    /// An event, and the head that its chain must have.
    expected_head: Option<(NodeId, NodeId)>,
    request_id: Option<Uuid>,
}

impl WriteConditions {
    /// Those of the options of a request.
    pub(super) fn of(options: Option<v1::WriteOptions>) -> Result<Self> {
        let options = options.unwrap_or_default();
        let expected_head = options.expected_head;
        let request_id = if options.request_id.is_empty() {
            None
        } else {
            let id = Uuid::try_parse(&options.request_id).map_err(|e| {
                let why = format!("{:?} is not a UUID: {e}", options.request_id);
                Refusal::invalid("request_id", why)
            })?;
            Some(id)
        };
        Ok(Self {
            agent: options.agent,
            expected_lsn: options.expected_lsn.map(Lsn),
            expected_head: expected_head
                .map(|expected| (NodeId(expected.event_id), NodeId(expected.head_id))),
            request_id,
        })
    }

    /// The command to execute a mutation under these conditions.
    pub(super) fn request(self, mutation: Mutation, principal: &str) -> Request {
        let mut request = Request::new(mutation);
        request.principal = principal.to_owned();
        request.agent = self.agent;
        request.expected_lsn = self.expected_lsn;
        request.expected_head = self.expected_head;
        request.request_id = self.request_id;
        request
    }
}
