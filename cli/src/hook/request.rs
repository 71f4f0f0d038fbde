//! A moment of a session as it is sent to the daemon.

use amem_client::v1;
use amem_hooks::{HookInput, moment_message};
use amem_mcp::MemoryPlace;

use crate::when;

/// What a hook ends with.
pub(super) type HookResult<T> = Result<T, String>;

/// A moment, and whose memory it is about.
pub(super) struct HookRequest {
    pub(super) input: HookInput,
    pub(super) place: MemoryPlace,
}

impl HookRequest {
    /// The message for the daemon, without turns.
    pub(super) fn message(&self) -> v1::RunHookRequest {
        let mut message = v1::RunHookRequest {
            brain: self.place.brain.clone(),
            client: self.input.client.name().to_owned(),
            session: self.input.session.clone(),
            project: self.place.project.as_ref().map(|project| v1::HookProject {
                id: project.id.clone(),
                earlier_ids: project.earlier_ids.clone(),
                label: project.label.clone(),
            }),
            user: self.place.user.clone(),
            zone: when::zone_name(),
            prompt: self.input.prompt.clone(),
            is_cleared: self.input.is_cleared,
            ..v1::RunHookRequest::default()
        };
        message.set_moment(moment_message(self.input.moment));
        message
    }
}
