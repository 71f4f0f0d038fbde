//! AdminService.

use amem_proto::v1;
use amem_proto::v1::admin_service_server::AdminService;
use tonic::{Request, Response, Status};

use super::{Service, caller, merge, page_size, parts, status, tokens};
use crate::brains::blocking;
use crate::calls::Says;
use crate::figures::Process;
use crate::limits::PROBLEMS_TOLD_MAX;
use crate::refusal::{Refusal, Result};
use crate::schedules::KINDS;

impl Says for &v1::ListJobsRequest {
    type What = u64;

    /// A token is the number of the last job of its page.
    fn said(self) -> Result<u64> {
        match self.page_token.as_str() {
            "" => Ok(u64::MAX),
            token => token.parse().map_err(|_| {
                let why = format!("{token:?} is none: take one of an answer");
                Refusal::invalid("page_token", why)
            }),
        }
    }
}

#[tonic::async_trait]
impl AdminService for Service {
    async fn get_status(
        &self,
        request: Request<v1::GetStatusRequest>,
    ) -> Result<Response<v1::GetStatusResponse>, Status> {
        let brains = &self.0.brains;
        let (caller, figures) = (caller(request.extensions())?, brains.figures());
        let (failed_brains, rejected_files) = brains.problem_counts_for(caller);
        let problems = brains.first_problems_for(caller, PROBLEMS_TOLD_MAX);
        let refused = self.0.latencies.refused().into_iter();
        let refused = refused.map(|(reason, count)| v1::RefusedCalls { reason, count });
        let process = blocking(Process::now).await?;
        Ok(Response::new(v1::GetStatusResponse {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            uptime: Some(status::duration(figures.uptime())),
            folder: brains.path().display().to_string(),
            socket: self.0.socket.display().to_string(),
            brains: brains
                .open_for(caller)
                .iter()
                .map(|b| status::brain(b))
                .collect(),
            problems: problems.into_iter().map(status::problem).collect(),
            brain_count: brains.listed_for(caller).await?.0.len() as u64,
            failed_brains,
            rejected_files,
            process: Some(status::process(&process)),
            connections: figures.connections().get(),
            connections_turned_away: figures.turned_away().get(),
            refused_calls: refused.collect(),
            // These are of all brains.
            jobs: match caller.sees_all() {
                true => brains.jobs().counts(),
                false => Vec::new(),
            }
            .into_iter()
            .map(status::job_count)
            .collect(),
            files_waiting: match caller.sees_all() {
                true => figures.files_waiting().get(),
                false => 0,
            },
        }))
    }

    async fn list_problems(
        &self,
        request: Request<v1::ListProblemsRequest>,
    ) -> Result<Response<v1::ListProblemsResponse>, Status> {
        let (caller, request) = parts(request)?;
        // A token is the last name of its page: what comes and goes meanwhile disturbs no listing.
        let size = page_size(request.page_size);
        let brains = &self.0.brains;
        let (page, more) = brains.problem_page_for(&caller, &request.page_token, size);
        Ok(Response::new(v1::ListProblemsResponse {
            next_page_token: match page.last() {
                Some((name, _)) if more => name.clone(),
                _ => String::new(),
            },
            problems: page.into_iter().map(status::problem).collect(),
        }))
    }

    async fn list_latencies(
        &self,
        request: Request<v1::ListLatenciesRequest>,
    ) -> Result<Response<v1::ListLatenciesResponse>, Status> {
        let request = request.into_inner();
        let size = page_size(request.page_size);
        // A token is the last path of its page.
        if !request.page_token.is_empty() && !self.0.latencies.knows(&request.page_token) {
            let why = format!("{:?} is none: take one of an answer", request.page_token);
            return Err(Refusal::invalid("page_token", why).into());
        }
        let (page, more) = self.0.latencies.page(&request.page_token, size);
        Ok(Response::new(v1::ListLatenciesResponse {
            next_page_token: match page.last() {
                Some((path, _)) if more => path.clone(),
                _ => String::new(),
            },
            latencies: page
                .into_iter()
                .map(|(path, rpc)| status::latency(path, &rpc))
                .collect(),
        }))
    }

    async fn list_jobs(
        &self,
        request: Request<v1::ListJobsRequest>,
    ) -> Result<Response<v1::ListJobsResponse>, Status> {
        let (caller, request) = parts(request)?;
        let below = request.said()?;
        let size = page_size(request.page_size);
        let jobs = self.0.brains.jobs();
        let (page, more) = jobs.page(below, request.running, size, |brain| caller.sees(brain));
        Ok(Response::new(v1::ListJobsResponse {
            next_page_token: match page.last() {
                Some(last) if more => last.id.to_string(),
                _ => String::new(),
            },
            jobs: page.into_iter().map(status::job).collect(),
        }))
    }

    async fn list_schedules(
        &self,
        request: Request<v1::ListSchedulesRequest>,
    ) -> Result<Response<v1::ListSchedulesResponse>, Status> {
        let (caller, request) = parts(request)?;
        let mut jobs = self.0.schedules.list(&request.brain);
        // A token is the name of the last brain of its page: a brain's jobs stand on one page.
        jobs.retain(|job| job.brain > request.page_token && caller.sees(&job.brain));
        let size = page_size(request.page_size).max(KINDS.len());
        let mut until = size.min(jobs.len());
        while until < jobs.len() && until > 0 && jobs[until].brain == jobs[until - 1].brain {
            until -= 1;
        }
        let more = until < jobs.len();
        jobs.truncate(until);
        Ok(Response::new(v1::ListSchedulesResponse {
            next_page_token: match jobs.last() {
                Some(last) if more => last.brain.clone(),
                _ => String::new(),
            },
            jobs: jobs.into_iter().map(status::scheduled).collect(),
        }))
    }

    async fn run_job(
        &self,
        request: Request<v1::RunJobRequest>,
    ) -> Result<Response<v1::RunJobResponse>, Status> {
        let (caller, request) = parts(request)?;
        let brain = self.0.brains.get(&caller, &request.brain).await?;
        let jobs = &self.0.schedules;
        let message = jobs.run(&caller.principal, &brain, request.kind());
        let message = message.await?;
        Ok(Response::new(v1::RunJobResponse { message }))
    }

    async fn list_kept_files(
        &self,
        request: Request<v1::ListKeptFilesRequest>,
    ) -> Result<Response<v1::ListKeptFilesResponse>, Status> {
        let (caller, request) = parts(request)?;
        let listed = merge::list_kept(&self.0, &caller, request).await?;
        Ok(Response::new(listed))
    }

    async fn resolve_kept_file(
        &self,
        request: Request<v1::ResolveKeptFileRequest>,
    ) -> Result<Response<v1::ResolveKeptFileResponse>, Status> {
        let (caller, request) = parts(request)?;
        let resolved = merge::resolve_kept(self.0.clone(), caller, request).await?;
        Ok(Response::new(resolved))
    }

    async fn reload(
        &self,
        _request: Request<v1::ReloadRequest>,
    ) -> Result<Response<v1::ReloadResponse>, Status> {
        let reloaded = self.0.reload().await?;
        Ok(Response::new(v1::ReloadResponse {
            changed: reloaded.changed,
            needs_restart: reloaded.needs_restart,
        }))
    }

    async fn create_token(
        &self,
        request: Request<v1::CreateTokenRequest>,
    ) -> Result<Response<v1::CreateTokenResponse>, Status> {
        let made = tokens::create(&self.0.control, request.into_inner()).await?;
        Ok(Response::new(made))
    }

    async fn list_tokens(
        &self,
        request: Request<v1::ListTokensRequest>,
    ) -> Result<Response<v1::ListTokensResponse>, Status> {
        let listed = tokens::list(&self.0.control.live(), &request.into_inner())?;
        Ok(Response::new(listed))
    }

    async fn revoke_token(
        &self,
        request: Request<v1::RevokeTokenRequest>,
    ) -> Result<Response<v1::RevokeTokenResponse>, Status> {
        tokens::revoke(&self.0.control, request.into_inner()).await?;
        Ok(Response::new(v1::RevokeTokenResponse {}))
    }

    async fn shutdown(
        &self,
        _request: Request<v1::ShutdownRequest>,
    ) -> Result<Response<v1::ShutdownResponse>, Status> {
        self.0.control.shutdown();
        Ok(Response::new(v1::ShutdownResponse {}))
    }
}
