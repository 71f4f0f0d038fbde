//! The moments of HookService. Not here: what sessions were given (`given`).

use std::sync::Arc;

use amem_engine::OpenBrain;
use amem_hooks::{HookDone, HookError, HookMoment, HookRun, HookTurn, run};
use amem_host::project::user_of;
use amem_mcp::{MemoryPlace, ProjectName};
use amem_proto::answer::Code;
use amem_proto::v1;

use super::caller_memory::CallerMemory;
use super::fact_memory::now;
use super::gateway::{Gateway, Handle};
use crate::auth::Caller;
use crate::brains::{blocking, to_its_end};
use crate::refusal::{Refusal, Result};

impl From<HookError> for Refusal {
    fn from(error: HookError) -> Self {
        let message = error.to_string();
        match error {
            HookError::Refused(refusal) => Self(refusal),
            HookError::Words(_) => Self::new(Code::Unavailable, "MEMORY", message),
            HookError::TooLarge { .. } => Self::new(Code::InvalidArgument, "LIMIT", message),
            HookError::Ledger { .. } => Self::internal(message),
            _ => Self::new(Code::InvalidArgument, "INVALID", message),
        }
    }
}

impl Gateway {
    /// The brain of a hook, whose caller may have no scope.
    pub(crate) async fn hook_brain(&self, caller: &Caller, name: &str) -> Result<Arc<OpenBrain>> {
        caller.check_unscoped()?;
        self.fact_brain(caller, name).await
    }

    /// Runs a moment of a session on its brain.
    pub(crate) async fn run_hook(
        self: &Arc<Self>,
        caller: &Caller,
        hook: HookRun,
    ) -> Result<HookDone> {
        let (calls, ledger) = (CallerMemory::new(self, caller), self.hooks.clone());
        // What is stored and what the ledger has of it must agree, also if the caller leaves.
        to_its_end(async move { Ok(run(&calls, &ledger, &hook).await?) }).await
    }
}

fn moment_of(asked: v1::HookMoment) -> Result<HookMoment> {
    Ok(match asked {
        v1::HookMoment::Start => HookMoment::Start,
        v1::HookMoment::Prompt => HookMoment::Prompt,
        v1::HookMoment::Answer => HookMoment::Answer,
        v1::HookMoment::Compaction => HookMoment::Compaction,
        v1::HookMoment::End => HookMoment::End,
        v1::HookMoment::Unspecified => {
            let why = "it is not set: start, prompt, answer, compaction or end";
            return Err(Refusal::invalid("moment", why));
        }
    })
}

fn turn(turn: v1::HookTurn) -> Result<HookTurn> {
    let is_agents = match turn.role() {
        v1::FactRole::Unspecified | v1::FactRole::User => false,
        v1::FactRole::Assistant => true,
        _ => {
            let why = "a turn is of the user or of the assistant";
            return Err(Refusal::invalid("turns.role", why));
        }
    };
    Ok(HookTurn {
        id: turn.id,
        is_agents,
        text: turn.text,
        time: turn.time,
    })
}

impl Handle for v1::RunHookRequest {
    type Response = v1::RunHookResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let brain = gateway.hook_brain(caller, &request.brain).await?;
        let moment = moment_of(request.moment())?;
        let zone = match request.zone.as_str() {
            "" => gateway.control.live().zone.clone(),
            name => jiff::tz::TimeZone::get(name).map_err(|_| {
                Refusal::invalid("zone", format!("{name:?} is no IANA name of a zone"))
            })?,
        };
        let uid = caller
            .user
            .map_or_else(|| rustix::process::geteuid().as_raw(), |(uid, _)| uid);
        let user = match request.user.is_empty() {
            true => blocking(move || user_of(uid)).await?,
            false => request.user,
        };
        let place = MemoryPlace {
            brain: brain.name.clone(),
            project: request.project.map(|project| ProjectName {
                label: match project.label.is_empty() {
                    true => project.id.clone(),
                    false => project.label,
                },
                id: project.id,
                earlier_ids: project.earlier_ids,
            }),
            user,
            zone,
            naming: None,
            notice: None,
        };
        if place
            .project
            .as_ref()
            .is_some_and(|project| project.id.is_empty())
        {
            let why = "it is empty: leave the project out if there is none";
            return Err(Refusal::invalid("project.id", why));
        }
        let hook = HookRun {
            client: request.client,
            session: request.session,
            moment,
            place,
            prompt: request.prompt,
            is_cleared: request.is_cleared,
            turns: request.turns.into_iter().map(turn).collect::<Result<_>>()?,
            now: now().0,
        };
        let done = gateway.run_hook(caller, hook).await?;
        Ok(v1::RunHookResponse {
            context: done.context,
            given: done
                .given
                .into_iter()
                .map(|fact| v1::GivenMemory {
                    id: fact.id,
                    event_id: fact.event_id,
                    memory: fact.memory,
                    quarantined: fact.quarantined,
                })
                .collect(),
            turns: u32::try_from(done.turns).unwrap_or(u32::MAX),
            facts: done.facts,
            is_pending: done.is_pending,
            moment: Some(amem_proto::answer::moment(&brain.view())),
        })
    }
}
