//! MergeBrain: merges another brain, or a file, into a brain.
//!
//! Promises: the other brain is read as of one moment; a dry run commits nothing.

use std::sync::Arc;

use amem_doctor::verify;
use amem_engine::JobKind;
use amem_format::view::View;
use amem_proto::answer::{Code, moment};
use amem_proto::v1;
use amem_proto::v1::merge_brain_request::Part;
use amem_proto::v1::merge_options::From as Source;
use amem_store::mutation::Request;
use amem_store::{IncomingFile, LossyConversions, MergeReport, MergeSource, Mutation, quarantine};
use tokio_stream::Stream;

use super::command::WriteConditions;
use super::gateway::Gateway;
use super::memory::commit;
use super::quarantined_files;
use super::transfer::{FilePart, no_part, options, receive};
use super::validate::Validate;
use crate::auth::{Caller, Role};
use crate::brains::{blocking, to_its_end};
use crate::refusal::{Refusal, Result};
use amem_engine::OpenBrain;
use amem_engine::plural;

/// The options of a merge.
pub struct MergeRequest {
    brain: String,
    source: Source,
    dry_run: bool,
    conditions: WriteConditions,
}

impl Validate for v1::MergeBrainRequest {
    type Valid = FilePart<MergeRequest>;

    fn validate(self) -> Result<Self::Valid> {
        match self.part {
            Some(Part::Options(options)) => {
                let none = || Refusal::invalid("from", "set the brain or file to merge");
                Ok(FilePart::Options(MergeRequest {
                    brain: options.brain,
                    source: options.from.ok_or_else(none)?,
                    dry_run: options.dry_run,
                    conditions: WriteConditions::of(options.options)?,
                }))
            }
            Some(Part::Data(data)) => FilePart::data(data),
            None => Err(no_part()),
        }
    }
}

/// Merges another brain into one.
pub(crate) async fn merge(
    gateway: Arc<Gateway>,
    caller: Caller,
    mut parts: impl Stream<Item = Result<v1::MergeBrainRequest>> + Unpin,
) -> Result<v1::MergeBrainResponse> {
    let MergeRequest {
        brain,
        source,
        dry_run,
        conditions,
    } = options(&mut parts).await?;
    let brain = gateway.brains.get(&caller, &brain).await?;
    let (from, lossy) = read_source(&gateway, &caller, &brain, &source, parts).await?;
    let same_instance = from.instance() == brain.view().instance();
    let mutation = Mutation::Merge(MergeSource::new(from.clone()));
    let mut request = conditions.request(mutation, &caller.principal);
    // The other brain may change before a retry: the name identifies the request.
    request.said = match &source {
        Source::FromBrain(name) => Some(format!("a merge of brain {name}")),
        Source::FromKeptFile(file) => Some(format!("a merge of file {file}")),
        Source::FromFileBytes(_) => None,
    };
    // From here on the merge completes even if the caller leaves.
    let done = to_its_end(async move {
        if dry_run {
            plan(&gateway, &caller, &brain, &from).await
        } else {
            write(&gateway, &brain, request, &from).await
        }
    });
    Ok(v1::MergeBrainResponse {
        dropped_edges: lossy.dropped_edges,
        changed_values: lossy.changed,
        same_instance,
        ..done.await?
    })
}

/// The view to merge, and what its file has that a brain cannot hold.
async fn read_source(
    gateway: &Gateway,
    caller: &Caller,
    brain: &OpenBrain,
    source: &Source,
    parts: impl Stream<Item = Result<v1::MergeBrainRequest>> + Unpin,
) -> Result<(View, LossyConversions)> {
    Ok(match source {
        Source::FromBrain(name) if *name == brain.name => {
            let why = "a brain cannot be merged into itself: name another";
            return Err(Refusal::invalid("from", why));
        }
        Source::FromBrain(name) => {
            let other = gateway.brains.get_as(caller, name, Role::Read).await;
            let view = other.map_err(|why| of_source(name, why))?.view();
            let of = view.clone();
            // Verified like a file that is received.
            let scans = gateway.scans.of(&caller.principal);
            scans.run(move || Ok(verify::source(&of)?)).await?;
            (view, LossyConversions::default())
        }
        Source::FromKeptFile(file) => {
            quarantined_files::find(gateway, caller, file, Role::Read).await?;
            let (folder, file) = (gateway.brains.folder().clone(), file.clone());
            gateway
                .scans
                .of(&caller.principal)
                .run(move || Ok(quarantine::read(&folder, &file)?))
                .await?
        }
        Source::FromFileBytes(bytes) => {
            let (folder, bytes) = (gateway.brains.folder().clone(), *bytes);
            let begun = blocking(move || IncomingFile::read_only(&folder, bytes)).await?;
            let incoming = begun.map_err(Refusal::from)?;
            let incoming = receive(incoming, parts).await?;
            let scans = gateway.scans.of(&caller.principal);
            scans.run(move || Ok(incoming.into_view()?)).await?
        }
    })
}

/// The usual message of NOT_FOUND advises to create the brain, which does not help here.
fn of_source(name: &str, why: Refusal) -> Refusal {
    match why.code {
        Code::NotFound => {
            let message = format!("there is no other brain {name:?} to merge");
            Refusal::new(Code::NotFound, "UNKNOWN_BRAIN", message)
        }
        _ => why,
    }
}

/// What a merge would do now.
async fn plan(
    gateway: &Gateway,
    caller: &Caller,
    brain: &OpenBrain,
    from: &View,
) -> Result<v1::MergeBrainResponse> {
    let (view, other) = (brain.view(), MergeSource::new(from.clone()));
    let scans = gateway.scans.of(&caller.principal);
    let merged = scans.run(move || Ok(other.would_do(&view)?)).await?;
    Ok(answer(None, from, &merged))
}

async fn write(
    gateway: &Gateway,
    brain: &OpenBrain,
    request: Request,
    from: &View,
) -> Result<v1::MergeBrainResponse> {
    let job = gateway.brains.jobs().begin(JobKind::Merge, &brain.name);
    let written = match brain.commit(request, 0).await {
        Ok(written) => written,
        Err(error) => {
            job.failed(&error);
            return Err(error.into());
        }
    };
    let merged = written.answer.merged.unwrap_or_default();
    job.done(format_args!(
        "new: {}, {}",
        plural(merged.events, "event"),
        plural(merged.edges, "edge")
    ));
    let commit = commit(brain.view().instance(), &written.answer);
    Ok(answer(Some(commit), from, &merged))
}

fn answer(commit: Option<v1::Commit>, from: &View, merged: &MergeReport) -> v1::MergeBrainResponse {
    v1::MergeBrainResponse {
        commit,
        from: Some(moment(from)),
        from_lineage: from.identity().lineage.to_string(),
        matched: merged.matched,
        events: merged.events,
        edges: merged.edges,
        retracted: merged.retracted,
        changed: merged.changed,
        touched: merged.touched,
        sessions: merged.sessions,
        cycles: merged.cycles,
        other_vectors: merged.other_vectors,
        erased_there: merged.erased_there,
        withheld: merged.withheld,
        dropped_edges: 0,
        changed_values: 0,
        same_instance: false,
    }
}
