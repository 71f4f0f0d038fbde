//! MergeBrain: brings another brain, or a file, into a brain.
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

use super::command::request;
use super::daemon::Daemon;
use super::kept_files;
use super::memory::commit;
use super::transfer::{FilePart, options, receive};
use super::validate::Validate;
use crate::auth::{Caller, Role};
use crate::brains::{blocking, to_its_end};
use crate::refusal::{Refusal, Result};
use amem_engine::OpenBrain;
use amem_engine::plural;

impl Validate for v1::MergeBrainRequest {
    type Valid = FilePart<v1::MergeOptions>;

    fn validate(self) -> Result<Self::Valid> {
        match self.part {
            Some(Part::Options(options)) => Ok(FilePart::Options(options)),
            Some(Part::Data(data)) => Ok(FilePart::Data(data)),
            None => Err(Refusal::invalid("part", "a message has none")),
        }
    }
}

/// Merges another brain into one.
pub(crate) async fn merge(
    daemon: Arc<Daemon>,
    caller: Caller,
    mut parts: impl Stream<Item = Result<v1::MergeBrainRequest>> + Unpin,
) -> Result<v1::MergeBrainResponse> {
    let options = options(&mut parts).await?;
    let brain = daemon.brains.get(&caller, &options.brain).await?;
    let dry_run = options.dry_run;
    let (from, misfits) = source(&daemon, &caller, &brain, options.from.as_ref(), parts).await?;
    let same_instance = from.instance() == brain.view().instance();
    let mut request = request(
        Mutation::Merge(MergeSource::new(from.clone())),
        options.options,
        &caller.principal,
    )?;
    // The other brain may go on: a retry names the same.
    request.said = match &options.from {
        Some(Source::FromBrain(name)) => Some(format!("a merge of brain {name}")),
        Some(Source::FromKeptFile(file)) => Some(format!("a merge of file {file}")),
        _ => None,
    };
    // From here on the merge ends even if the caller gives up.
    let done = to_its_end(async move {
        if dry_run {
            plan(&daemon, &caller, &brain, &from).await
        } else {
            write(&daemon, &brain, request, &from).await
        }
    });
    Ok(v1::MergeBrainResponse {
        dropped_edges: misfits.dropped_edges,
        changed_values: misfits.changed,
        same_instance,
        ..done.await?
    })
}

/// The view that is merged, and what its file has that a brain can't have.
async fn source(
    daemon: &Daemon,
    caller: &Caller,
    brain: &OpenBrain,
    from: Option<&Source>,
    parts: impl Stream<Item = Result<v1::MergeBrainRequest>> + Unpin,
) -> Result<(View, LossyConversions)> {
    Ok(match from {
        Some(Source::FromBrain(name)) if *name == brain.name => {
            let why = "the other brain is this one: name another";
            return Err(Refusal::invalid("from", why));
        }
        Some(Source::FromBrain(name)) => {
            let other = daemon.brains.get_as(caller, name, Role::Read).await;
            let view = other.map_err(|why| of_source(name, why))?.view();
            let of = view.clone();
            // A file that comes is verified; so is this one.
            let scans = daemon.scans.of(&caller.principal);
            scans.run(move || Ok(verify::source(&of)?)).await?;
            (view, LossyConversions::default())
        }
        Some(Source::FromKeptFile(file)) => {
            kept_files::find(daemon, caller, file, Role::Read).await?;
            let (folder, file) = (daemon.brains.folder().clone(), file.clone());
            daemon
                .scans
                .of(&caller.principal)
                .run(move || Ok(quarantine::read(&folder, &file)?))
                .await?
        }
        Some(Source::FromFileBytes(bytes)) => {
            let (folder, bytes) = (daemon.brains.folder().clone(), *bytes);
            let begun = blocking(move || IncomingFile::read_only(&folder, bytes)).await?;
            let incoming = begun.map_err(Refusal::from)?;
            let incoming = receive(incoming, parts).await?;
            let scans = daemon.scans.of(&caller.principal);
            scans.run(move || Ok(incoming.into_view()?)).await?
        }
        None => {
            return Err(Refusal::invalid(
                "from",
                "say which brain or file is merged",
            ));
        }
    })
}

/// NOT_FOUND of the other brain advises to create it, which makes no sense here.
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
    daemon: &Daemon,
    caller: &Caller,
    brain: &OpenBrain,
    from: &View,
) -> Result<v1::MergeBrainResponse> {
    let (view, other) = (brain.view(), MergeSource::new(from.clone()));
    let scans = daemon.scans.of(&caller.principal);
    let merged = scans.run(move || Ok(other.would_do(&view)?)).await?;
    Ok(answer(None, from, &merged))
}

async fn write(
    daemon: &Daemon,
    brain: &OpenBrain,
    request: Request,
    from: &View,
) -> Result<v1::MergeBrainResponse> {
    let job = daemon.brains.jobs().begin(JobKind::Merge, &brain.name);
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
