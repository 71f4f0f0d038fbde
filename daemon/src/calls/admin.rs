//! Calls about the daemon: status, problems, latencies, jobs, schedules, quarantined files, configuration, tokens.

use std::path::Path;
use std::sync::Arc;

use amem_proto::v1;

use super::gateway::{Gateway, Handle, page_size};
use super::validate::{Validate, unknown_page_token};
use super::{quarantined_files, status, tokens};
use crate::auth::Caller;
use crate::brains::blocking;
use crate::ingress::methods;
use crate::limits::STATUS_PROBLEMS_MAX;
use crate::log;
use crate::metrics::{Process, STALLS};
use crate::refusal::Result;
use amem_engine::JobKind;

impl Handle for v1::GetStatusRequest {
    type Response = v1::GetStatusResponse;

    async fn handle(
        _request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let brains = &gateway.brains;
        let metrics = brains.metrics();
        let (failed_brains, rejected_files) = brains.problem_counts_for(caller);
        let problems = brains.first_problems_for(caller, STATUS_PROBLEMS_MAX);
        let refused = gateway.latencies.refused().into_iter();
        let refused = refused.map(|(reason, count)| v1::RefusedCalls { reason, count });
        let (process, log) = blocking(|| (Process::now(), log::destination())).await?;
        // Both are about all brains.
        let (jobs, files_waiting) = if caller.sees_all() {
            (
                brains.jobs().counts(),
                brains.engine().metrics().files_waiting().get(),
            )
        } else {
            (Vec::new(), 0)
        };
        // Where the daemon is on its machine is nothing to others.
        let local = |pid: u32| if caller.is_local() { pid } else { 0 };
        let local_path = |path: &Path| {
            if caller.is_local() {
                path.display().to_string()
            } else {
                String::new()
            }
        };
        Ok(v1::GetStatusResponse {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: local(std::process::id()),
            uptime: Some(status::duration(metrics.uptime())),
            folder: local_path(brains.path()),
            socket: local_path(&gateway.socket),
            brains: brains
                .open_for(caller)
                .iter()
                .map(|b| status::brain(b, brains.pending_facts().known(&b.name)))
                .collect(),
            problems: problems.into_iter().map(status::problem).collect(),
            brain_count: brains.count_for(caller).await,
            failed_brains,
            rejected_files,
            process: Some(status::process(&process)),
            connections: metrics.connections().get(),
            connections_turned_away: metrics.turned_away().get(),
            stalls: STALLS.get(),
            refused_calls: refused.collect(),
            jobs: jobs.into_iter().map(status::job_count).collect(),
            files_waiting,
            settings_file: gateway
                .control
                .live()
                .settings_file
                .as_deref()
                .map_or(String::new(), local_path),
            log: if caller.is_local() {
                log
            } else {
                String::new()
            },
        })
    }
}

impl Handle for v1::ListProblemsRequest {
    type Response = v1::ListProblemsResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        // A token is the last name of its page: problems that come and go meanwhile do not disturb a listing.
        let size = page_size(request.page_size);
        let brains = &gateway.brains;
        let (page, more) = brains.problem_page_for(caller, &request.page_token, size);
        Ok(v1::ListProblemsResponse {
            next_page_token: match page.last() {
                Some((name, _)) if more => name.clone(),
                _ => String::new(),
            },
            problems: page.into_iter().map(status::problem).collect(),
        })
    }
}

impl Validate for v1::ListLatenciesRequest {
    type Valid = Self;

    /// A token is the last path of its page.
    fn validate(self) -> Result<Self> {
        if !self.page_token.is_empty() && !methods::is_measured(&self.page_token) {
            return Err(unknown_page_token(&self.page_token));
        }
        Ok(self)
    }
}

impl Handle for v1::ListLatenciesRequest {
    type Response = v1::ListLatenciesResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        _caller: &Caller,
    ) -> Result<Self::Response> {
        let size = page_size(request.page_size);
        let (page, more) = gateway.latencies.page(&request.page_token, size);
        Ok(v1::ListLatenciesResponse {
            next_page_token: match page.last() {
                Some((path, _)) if more => path.clone(),
                _ => String::new(),
            },
            latencies: page
                .into_iter()
                .map(|(path, rpc)| status::latency(path, &rpc))
                .collect(),
        })
    }
}

impl Validate for v1::ListJobsRequest {
    /// The request, and the number below which its page begins: a token is the number of the last job of its page.
    type Valid = (Self, u64);

    fn validate(self) -> Result<Self::Valid> {
        let below = match self.page_token.as_str() {
            "" => u64::MAX,
            token => token.parse().map_err(|_| unknown_page_token(token))?,
        };
        Ok((self, below))
    }
}

impl Handle for v1::ListJobsRequest {
    type Response = v1::ListJobsResponse;

    async fn handle(
        (request, below): Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let size = page_size(request.page_size);
        let jobs = gateway.brains.jobs();
        let (page, more) = jobs.page(below, request.running, size, |brain| caller.sees(brain));
        Ok(v1::ListJobsResponse {
            next_page_token: match page.last() {
                Some(last) if more => last.id.to_string(),
                _ => String::new(),
            },
            jobs: page.into_iter().map(status::job).collect(),
        })
    }
}

impl Handle for v1::ListSchedulesRequest {
    type Response = v1::ListSchedulesResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let mut jobs = gateway.schedules.list(&request.brain);
        // A token is the name of the last brain of its page: all jobs of a brain are on one page.
        jobs.retain(|job| job.brain > request.page_token && caller.sees(&job.brain));
        let size = page_size(request.page_size).max(JobKind::SCHEDULED.len());
        let mut until = size.min(jobs.len());
        while until < jobs.len() && until > 0 && jobs[until].brain == jobs[until - 1].brain {
            until -= 1;
        }
        let more = until < jobs.len();
        jobs.truncate(until);
        Ok(v1::ListSchedulesResponse {
            next_page_token: match jobs.last() {
                Some(last) if more => last.brain.clone(),
                _ => String::new(),
            },
            jobs: jobs.into_iter().map(status::scheduled).collect(),
        })
    }
}

impl Validate for v1::RunJobRequest {
    /// The brain's name, and the kind of job.
    type Valid = (String, JobKind);

    fn validate(self) -> Result<Self::Valid> {
        let kind = status::job_kind(self.kind())?;
        Ok((self.brain, kind))
    }
}

impl Handle for v1::RunJobRequest {
    type Response = v1::RunJobResponse;

    async fn handle(
        (brain, kind): Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let brain = gateway.brains.get(caller, &brain).await?;
        let run = gateway.schedules.run(&caller.principal, &brain, kind);
        let message = run.await?;
        Ok(v1::RunJobResponse { message })
    }
}

impl Handle for v1::ListKeptFilesRequest {
    type Response = v1::ListKeptFilesResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        quarantined_files::list(gateway, caller, request).await
    }
}

impl Handle for v1::ResolveKeptFileRequest {
    type Response = v1::ResolveKeptFileResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        quarantined_files::resolve(gateway.clone(), caller.clone(), request).await
    }
}

impl Handle for v1::ReloadRequest {
    type Response = v1::ReloadResponse;

    async fn handle(
        _request: Self::Valid,
        gateway: &Arc<Gateway>,
        _caller: &Caller,
    ) -> Result<Self::Response> {
        let reloaded = gateway.reload().await?;
        Ok(v1::ReloadResponse {
            changed: reloaded.changed,
            needs_restart: reloaded.needs_restart,
        })
    }
}

impl Handle for v1::CreateTokenRequest {
    type Response = v1::CreateTokenResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        _caller: &Caller,
    ) -> Result<Self::Response> {
        tokens::create(&gateway.control, request).await
    }
}

impl Handle for v1::ListTokensRequest {
    type Response = v1::ListTokensResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        _caller: &Caller,
    ) -> Result<Self::Response> {
        tokens::list(&gateway.control.live(), &request)
    }
}

impl Handle for v1::RevokeTokenRequest {
    type Response = v1::RevokeTokenResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        _caller: &Caller,
    ) -> Result<Self::Response> {
        tokens::revoke(&gateway.control, request).await?;
        Ok(v1::RevokeTokenResponse {})
    }
}

impl Handle for v1::ShutdownRequest {
    type Response = v1::ShutdownResponse;

    async fn handle(
        _request: Self::Valid,
        gateway: &Arc<Gateway>,
        _caller: &Caller,
    ) -> Result<Self::Response> {
        gateway.control.shutdown();
        Ok(v1::ShutdownResponse {})
    }
}
