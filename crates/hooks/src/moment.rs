//! The moments of a session on the wire.

use amem_agents::HookMoment;
use amem_proto::v1;

/// A moment as messages have it.
#[must_use]
pub fn moment_message(moment: HookMoment) -> v1::HookMoment {
    match moment {
        HookMoment::Start => v1::HookMoment::Start,
        HookMoment::Prompt => v1::HookMoment::Prompt,
        HookMoment::Answer => v1::HookMoment::Answer,
        HookMoment::Compaction => v1::HookMoment::Compaction,
        HookMoment::End => v1::HookMoment::End,
    }
}
