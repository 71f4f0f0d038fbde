//! Calls that create, describe, verify and remove brains.

use std::sync::Arc;

use amem_doctor::verify;
use amem_engine::JobKind;
use amem_format::base::settings::Settings;
use amem_format::view::View;
use amem_proto::answer::{moment, space, timestamp};
use amem_proto::v1;
use amem_proto::v1::vector_options::Kind;
use amem_query::embed::vector_space;
use amem_store::{NewBrain, folder};
use uuid::Uuid;

use super::gateway::{Gateway, Handle, page_size};
use super::status;
use super::tokens::permission;
use super::validate::{Validate, unknown_page_token};
use crate::auth::Caller;
use crate::refusal::{Refusal, Result};
use amem_engine::plural;

impl Validate for v1::CreateBrainRequest {
    /// The name, the options of the brain, and whether its vectors are those of new brains.
    type Valid = (String, NewBrain, bool);

    fn validate(self) -> Result<Self::Valid> {
        let settings = Settings::parse_request(&self.settings_json)?;
        settings.check_keys(&Settings::default())?;
        let mut options = NewBrain {
            settings,
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
        Ok((self.brain, options, self.vectors.is_none()))
    }
}

impl Handle for v1::CreateBrainRequest {
    type Response = v1::CreateBrainResponse;

    async fn handle(
        (name, mut options, is_usual): Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        if is_usual {
            let settings = options.settings;
            options = NewBrain {
                settings,
                ..gateway.new_brain(caller).await?
            };
        }
        let brain = gateway.brains.create(&name, options).await?;
        let view = brain.view();
        Ok(v1::CreateBrainResponse {
            moment: Some(moment(&view)),
            info: Some(info(&brain.name, &view)),
        })
    }
}

impl Handle for v1::GetBrainRequest {
    type Response = v1::GetBrainResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let brain = gateway.brains.get(caller, &request.brain).await?;
        let view = brain.view();
        let settings = view.settings().map_err(Refusal::from)?;
        let pending = gateway.brains.pending_facts().known(&brain.name);
        Ok(v1::GetBrainResponse {
            moment: Some(moment(&view)),
            info: Some(info(&brain.name, &view)),
            status: Some(status::brain(&brain, pending)),
            settings_json: settings.to_json(),
        })
    }
}

impl Validate for v1::ListBrainsRequest {
    type Valid = Self;

    /// A token is the last name of its page: brains that appear or disappear meanwhile do not disturb a listing.
    fn validate(self) -> Result<Self> {
        if !self.page_token.is_empty() && folder::file_name(&self.page_token).is_err() {
            return Err(unknown_page_token(&self.page_token));
        }
        Ok(self)
    }
}

impl Handle for v1::ListBrainsRequest {
    type Response = v1::ListBrainsResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let open = gateway.brains.open_for(caller);
        let which = gateway.brains.engine().identities();
        let (names, files_waiting) = gateway.brains.listed_for(caller).await?;
        let from = names.partition_point(|name| *name <= request.page_token);
        let until = names.len().min(from + page_size(request.page_size));
        let page = &names[from..until];
        let is_open = |name: &String| open.iter().find(|brain| brain.name == *name);
        let closed = page.iter().filter(|name| is_open(name).is_none());
        let mut summaries = gateway
            .brains
            .engine()
            .summaries(closed.cloned().collect())
            .await?;
        let of_page = page.iter().filter_map(is_open).cloned().collect();
        let opened = gateway.brains.engine().summaries_of_open(of_page).await?;
        summaries.extend(opened);
        let listed = page.iter().map(|name| {
            let open = is_open(name);
            let summary = summaries.remove(name);
            v1::ListedBrain {
                brain: name.clone(),
                open: open.is_some(),
                moment: summary.map(|summary| v1::Moment {
                    instance: summary.instance.to_string(),
                    lsn: summary.lsn.0,
                    time: Some(timestamp(summary.time)),
                    as_of_lsn: summary.lsn.0,
                }),
                problem: gateway
                    .brains
                    .engine()
                    .problem(name)
                    .map(|problem| status::problem((name.clone(), problem))),
                instance: which
                    .get(name)
                    .map_or(String::new(), |which| which.instance.to_string()),
                lineage: which
                    .get(name)
                    .map_or(String::new(), |which| which.lineage.to_string()),
                events: summary.map(|summary| summary.events),
                edges: summary.map(|summary| summary.edges),
                file_bytes: summary.map(|summary| summary.file_bytes),
            }
        });
        Ok(v1::ListBrainsResponse {
            brains: listed.collect(),
            next_page_token: match page.last() {
                Some(last) if until < names.len() => last.clone(),
                _ => String::new(),
            },
            rejected_files: gateway.brains.problem_counts_for(caller).1,
            files_waiting,
        })
    }
}

impl Handle for v1::OpenBrainRequest {
    type Response = v1::OpenBrainResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let brain = gateway.brains.get(caller, &request.brain).await?;
        let view = brain.view();
        let path = match caller.is_local() {
            true => brain.path.to_str().ok_or_else(|| {
                Refusal::invalid(
                    "the folder of the brains",
                    "the path is not UTF-8: rename the folder",
                )
            })?,
            false => "",
        };
        Ok(v1::OpenBrainResponse {
            moment: Some(moment(&view)),
            info: Some(info(&brain.name, &view)),
            path: path.to_owned(),
            direct_read: caller.user.is_some_and(|user| {
                let live = gateway.control.live();
                live.access.may_read_file(user, &brain.name)
            }),
            permission: caller
                .rights
                .of(&brain.name)
                .map_or(v1::Permission::Unspecified, permission)
                .into(),
        })
    }
}

impl Validate for v1::RemoveBrainRequest {
    /// The name, and the instance that the brain must be.
    type Valid = (String, Uuid);

    fn validate(self) -> Result<Self::Valid> {
        let instance = Uuid::try_parse(&self.instance).map_err(|e| {
            let why = format!(
                "{:?} is not a UUID ({e}): set the instance to remove",
                self.instance
            );
            Refusal::invalid("instance", why)
        })?;
        Ok((self.brain, instance))
    }
}

impl Handle for v1::RemoveBrainRequest {
    type Response = v1::RemoveBrainResponse;

    async fn handle(
        (name, instance): Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let removed = gateway.brains.remove(caller, &name, instance).await?;
        Ok(v1::RemoveBrainResponse {
            moment: Some(moment(&removed.view())),
        })
    }
}

impl Handle for v1::CheckpointBrainRequest {
    type Response = v1::CheckpointBrainResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let brain = gateway.brains.get(caller, &request.brain).await?;
        let generation = brain.checkpoint().await?;
        Ok(v1::CheckpointBrainResponse {
            moment: Some(moment(&brain.view())),
            generation: generation.0,
        })
    }
}

impl Handle for v1::VerifyBrainRequest {
    type Response = v1::VerifyBrainResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let brain = gateway.brains.get(caller, &request.brain).await?;
        let job = gateway.brains.jobs().begin(JobKind::Verify, &brain.name);
        // Everything in this view is committed, and so verified.
        let (view, path) = (brain.view(), brain.path.clone());
        let scans = gateway.scans.of(&caller.principal);
        let report = scans.run(move || Ok(verify::file(path)?)).await;
        // A whole file is not the brain's if another program wrote it meanwhile: opening the brain refuses it then.
        let checked = gateway.brains.get(caller, &request.brain).await;
        let report = match checked.and(report) {
            Ok(report) => report,
            Err(refusal) => {
                job.failed(&refusal.message);
                return Err(refusal);
            }
        };
        match report.findings.len() as u64 + report.more {
            0 => job.done("whole"),
            count => job.done(plural(count, "finding")),
        }
        Ok(v1::VerifyBrainResponse {
            moment: Some(moment(&view)),
            whole: report.is_whole(),
            more_findings: report.more,
            file_bytes: report.bytes,
            checksums: report.checksums,
            commits: report.commits,
            findings: findings(report),
        })
    }
}

fn findings(report: verify::VerifyReport) -> Vec<v1::Finding> {
    let tail = report.tail.map(|tail| v1::Finding {
        part: "journal".into(),
        offset: Some(tail.offset),
        message: format!("{} bytes that are not a commit: {}", tail.bytes, tail.why),
    });
    let findings = report.findings.into_iter().map(|finding| v1::Finding {
        part: finding.part,
        offset: finding.offset,
        message: finding.why,
    });
    findings.chain(tail).collect()
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
