//! BrainService.

use amem_format::base::settings::Settings;
use amem_format::embed::vector_space;
use amem_format::verify;
use amem_format::view::View;
use amem_proto::v1;
use amem_proto::v1::brain_service_server::BrainService;
use amem_proto::v1::vector_options::Kind;
use amem_proto::v1::{ExportForm, JobKind};
use amem_store::{NewBrain, folder};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, Streaming};
use uuid::Uuid;

use super::tokens::permission;
use super::{Service, merge, page_size, parts, status, transfer};
use crate::convert::{Says, moment, space};
use crate::refusal::{Refusal, Result};
use crate::words::plural;

#[tonic::async_trait]
impl BrainService for Service {
    type ExportBrainStream = ReceiverStream<Result<v1::ExportBrainResponse, Status>>;

    async fn create_brain(
        &self,
        request: Request<v1::CreateBrainRequest>,
    ) -> Result<Response<v1::CreateBrainResponse>, Status> {
        let request = request.into_inner();
        let options = request.said()?;
        let brain = self.0.brains.create(&request.brain, options).await?;
        let view = brain.view();
        Ok(Response::new(v1::CreateBrainResponse {
            moment: Some(moment(&view)),
            info: Some(info(&brain.name, &view)),
        }))
    }

    async fn get_brain(
        &self,
        request: Request<v1::GetBrainRequest>,
    ) -> Result<Response<v1::GetBrainResponse>, Status> {
        let (caller, request) = parts(request)?;
        let brain = self.0.brains.get(&caller, &request.brain).await?;
        let view = brain.view();
        let settings = view.settings().map_err(Refusal::from)?;
        Ok(Response::new(v1::GetBrainResponse {
            moment: Some(moment(&view)),
            info: Some(info(&brain.name, &view)),
            status: Some(status::brain(&brain)),
            settings_json: settings.to_json(),
        }))
    }

    async fn list_brains(
        &self,
        request: Request<v1::ListBrainsRequest>,
    ) -> Result<Response<v1::ListBrainsResponse>, Status> {
        let (caller, request) = parts(request)?;
        let open = self.0.brains.open_for(&caller);
        let which = self.0.brains.which();
        // A token is the last name of its page: what comes and goes meanwhile disturbs no listing.
        if !request.page_token.is_empty() && folder::file_name(&request.page_token).is_err() {
            let why = format!("{:?} is none: take one of an answer", request.page_token);
            return Err(Refusal::invalid("page_token", why).into());
        }
        let (names, files_waiting) = self.0.brains.listed_for(&caller).await?;
        let from = names.partition_point(|name| *name <= request.page_token);
        let until = names.len().min(from + page_size(request.page_size));
        let page = &names[from..until];
        let listed = page.iter().map(|name| {
            let open = open.iter().find(|brain| brain.name == *name);
            v1::ListedBrain {
                brain: name.clone(),
                open: open.is_some(),
                moment: open.map(|brain| moment(&brain.view())),
                problem: self
                    .0
                    .brains
                    .problem(name)
                    .map(|problem| status::problem((name.clone(), problem))),
                instance: which
                    .get(name)
                    .map_or(String::new(), |which| which.instance.to_string()),
                lineage: which
                    .get(name)
                    .map_or(String::new(), |which| which.lineage.to_string()),
            }
        });
        Ok(Response::new(v1::ListBrainsResponse {
            brains: listed.collect(),
            next_page_token: match page.last() {
                Some(last) if until < names.len() => last.clone(),
                _ => String::new(),
            },
            rejected_files: self.0.brains.problem_counts_for(&caller).1,
            files_waiting,
        }))
    }

    async fn open_brain(
        &self,
        request: Request<v1::OpenBrainRequest>,
    ) -> Result<Response<v1::OpenBrainResponse>, Status> {
        let (caller, request) = parts(request)?;
        let brain = self.0.brains.get(&caller, &request.brain).await?;
        let view = brain.view();
        let path = brain.path.to_str().ok_or_else(|| {
            Refusal::invalid("the folder of the brains", "its path is not UTF-8: move it")
        })?;
        Ok(Response::new(v1::OpenBrainResponse {
            moment: Some(moment(&view)),
            info: Some(info(&brain.name, &view)),
            path: path.to_owned(),
            direct_read: caller.user.is_some_and(|user| {
                let live = self.0.control.live();
                live.access.may_read_file(user, &brain.name)
            }),
            permission: caller
                .rights
                .of(&brain.name)
                .map_or(v1::Permission::Unspecified, permission)
                .into(),
        }))
    }

    async fn remove_brain(
        &self,
        request: Request<v1::RemoveBrainRequest>,
    ) -> Result<Response<v1::RemoveBrainResponse>, Status> {
        let (caller, request) = parts(request)?;
        let instance = request.said()?;
        let removed = self
            .0
            .brains
            .remove(&caller, &request.brain, instance)
            .await?;
        Ok(Response::new(v1::RemoveBrainResponse {
            moment: Some(moment(&removed.view())),
        }))
    }

    async fn import_brain(
        &self,
        request: Request<Streaming<v1::ImportBrainRequest>>,
    ) -> Result<Response<v1::ImportBrainResponse>, Status> {
        let (caller, sent) = parts(request)?;
        let (brain, imported) = transfer::import(self.0.clone(), caller, sent).await?;
        let view = brain.view();
        Ok(Response::new(v1::ImportBrainResponse {
            moment: Some(moment(&view)),
            info: Some(info(&brain.name, &view)),
            events: view.nodes(),
            edges: view.edges(),
            renumbered: imported.renumbered,
            dropped_edges: imported.lossy.dropped_edges,
            changed: imported.lossy.changed,
        }))
    }

    async fn merge_brain(
        &self,
        request: Request<Streaming<v1::MergeBrainRequest>>,
    ) -> Result<Response<v1::MergeBrainResponse>, Status> {
        let (caller, sent) = parts(request)?;
        let merged = merge::merge(self.0.clone(), caller, sent);
        Ok(Response::new(merged.await?))
    }

    async fn export_brain(
        &self,
        request: Request<v1::ExportBrainRequest>,
    ) -> Result<Response<Self::ExportBrainStream>, Status> {
        let (caller, request) = parts(request)?;
        let form = request.said()?;
        let brain = self.0.brains.get(&caller, &request.brain).await?;
        Ok(Response::new(transfer::export(
            &self.0, &caller, brain, form,
        )?))
    }

    async fn checkpoint_brain(
        &self,
        request: Request<v1::CheckpointBrainRequest>,
    ) -> Result<Response<v1::CheckpointBrainResponse>, Status> {
        let (caller, request) = parts(request)?;
        let brain = self.0.brains.get(&caller, &request.brain).await?;
        let generation = brain.checkpoint().await?;
        Ok(Response::new(v1::CheckpointBrainResponse {
            moment: Some(moment(&brain.view())),
            generation: generation.0,
        }))
    }

    async fn verify_brain(
        &self,
        request: Request<v1::VerifyBrainRequest>,
    ) -> Result<Response<v1::VerifyBrainResponse>, Status> {
        let (caller, request) = parts(request)?;
        let brain = self.0.brains.get(&caller, &request.brain).await?;
        let job = self.0.brains.jobs().begin(JobKind::Verify, &brain.name);
        // All that is in this view is committed, and so looked at.
        let (view, path) = (brain.view(), brain.path.clone());
        let scans = self.0.scans.of(&caller.principal);
        let report = match scans.run(move || Ok(verify::file(path)?)).await {
            Ok(report) => report,
            Err(refusal) => {
                job.failed(&refusal.message);
                return Err(refusal.into());
            }
        };
        match report.findings.len() as u64 + report.more {
            0 => job.done("whole"),
            count => job.done(plural(count, "finding")),
        }
        Ok(Response::new(v1::VerifyBrainResponse {
            moment: Some(moment(&view)),
            whole: report.is_whole(),
            more_findings: report.more,
            file_bytes: report.bytes,
            checksums: report.checksums,
            commits: report.commits,
            findings: findings(report),
        }))
    }
}

fn findings(report: verify::Report) -> Vec<v1::Finding> {
    let tail = report.tail.map(|tail| v1::Finding {
        part: "journal".into(),
        offset: Some(tail.offset),
        message: format!("{} bytes that are no commit: {}", tail.bytes, tail.why),
    });
    let findings = report.findings.into_iter().map(|finding| v1::Finding {
        part: finding.part,
        offset: finding.offset,
        message: finding.why,
    });
    findings.chain(tail).collect()
}

impl Says for &v1::CreateBrainRequest {
    type What = NewBrain;

    fn said(self) -> Result<NewBrain> {
        let mut options = NewBrain {
            settings: Settings::parse(&self.settings_json)?,
            ..NewBrain::default()
        };
        if let Some(vectors) = &self.vectors {
            options.dimension = vectors.dimension;
            options.space = match &vectors.kind {
                None => Uuid::nil(),
                Some(Kind::Space(text)) => space(text)?.unwrap_or_default(),
                Some(Kind::Model(model)) => vector_space(model, vectors.dimension),
            };
        }
        Ok(options)
    }
}

impl Says for &v1::RemoveBrainRequest {
    type What = Uuid;

    fn said(self) -> Result<Uuid> {
        Uuid::try_parse(&self.instance).map_err(|e| {
            let why = format!("{:?} is no UUID ({e}): say which is meant", self.instance);
            Refusal::invalid("instance", why)
        })
    }
}

impl Says for &v1::ExportBrainRequest {
    type What = ExportForm;

    fn said(self) -> Result<ExportForm> {
        ExportForm::try_from(self.form).map_err(|_| {
            let why = format!("{} is none: say NATIVE or COMPATIBLE", self.form);
            Refusal::invalid("form", why)
        })
    }
}

pub(super) fn info(name: &str, view: &View) -> v1::BrainInfo {
    let identity = view.identity();
    v1::BrainInfo {
        brain: name.to_owned(),
        lineage: identity.lineage.to_string(),
        dimension: view.vector_dimension(),
        space: identity.space.to_string(),
        generation: identity.generation.0,
    }
}
