//! One brain into another, and what becomes of files that were kept aside.
//!
//! Promises: what is merged is read as of one moment; a dry run commits nothing; a file is taken away only when what is
//! made of it is there.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use amem_format::NodeId;
use amem_format::verify;
use amem_format::view::View;
use amem_proto::v1::JobKind;
use amem_proto::v1::merge_brain_request::Part;
use amem_proto::v1::merge_options::From as Source;
use amem_proto::v1::resolve_kept_file_request::Action;
use amem_proto::{Timestamp, v1};
use amem_store::disk::Stamp;
use amem_store::mutation::Request;
use amem_store::quarantine::{self, QuarantineReason, QuarantinedFile};
use amem_store::{
    Error as Store, Folder, IncomingFile, LossyConversions, MergeReport, MergeSource, Mutation,
};
use tonic::{Code, Status, Streaming};

use super::transfer::{Parts, receive};
use super::{Daemon, page_size};
use crate::access::{Caller, Role};
use crate::brains::{blocking, to_its_end};
use crate::convert::{commit, moment, request, timestamp};
use crate::open_brain::OpenBrain;
use crate::refusal::{Refusal, Result};
use crate::words::plural;

impl Parts for v1::MergeBrainRequest {
    type Options = v1::MergeOptions;

    fn part(self) -> Option<Result<Self::Options, Vec<u8>>> {
        Some(match self.part? {
            Part::Options(options) => Ok(options),
            Part::Data(data) => Err(data),
        })
    }
}

/// Merges another brain into one.
pub(super) async fn merge(
    daemon: Arc<Daemon>,
    caller: Caller,
    mut parts: Streaming<v1::MergeBrainRequest>,
) -> Result<v1::MergeBrainResponse, Status> {
    let options = super::transfer::options(&mut parts).await?;
    let brain = daemon.brains.get(&caller, &options.brain).await?;
    let dry_run = options.dry_run;
    let (from, misfits) = match &options.from {
        Some(Source::FromBrain(name)) if *name == brain.name => {
            return Err(
                Refusal::invalid("from", "the other brain is this one: name another").into(),
            );
        }
        Some(Source::FromBrain(name)) => {
            let other = daemon.brains.get_as(&caller, name, Role::Read).await;
            let view = other.map_err(|why| of_source(name, why))?.view();
            let of = view.clone();
            // A file that comes is verified; so is this one.
            let scans = daemon.scans.of(&caller.principal);
            scans.run(move || Ok(verify::source(&of)?)).await?;
            (view, LossyConversions::default())
        }
        Some(Source::FromKeptFile(file)) => {
            find_kept(&daemon, &caller, file, Role::Read).await?;
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
        None => return Err(Refusal::invalid("from", "say which brain or file is merged").into()),
    };
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
    // From here on it is done whether or not the caller waits.
    let done = to_its_end(async move {
        match dry_run {
            true => look(&daemon, &caller, &brain, &from).await,
            false => write(&daemon, &brain, request, &from).await,
        }
    });
    Ok(v1::MergeBrainResponse {
        dropped_edges: misfits.dropped_edges,
        changed_values: misfits.changed,
        same_instance,
        ..done.await?
    })
}

/// Nobody wants to make the brain that was to be merged: its name is wrong.
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
async fn look(
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
    let written = match brain.write(request, 0).await {
        Ok(written) => written,
        Err(refusal) => {
            job.failed(&refusal.message);
            return Err(refusal);
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

/// A file that was kept aside, if the caller has this role for the brain whose name it had. One of a brain that it may
/// not know of is as one that is not there.
async fn find_kept(
    daemon: &Daemon,
    caller: &Caller,
    file: &str,
    role: Role,
) -> Result<QuarantinedFile> {
    let (folder, name) = (daemon.brains.folder().clone(), file.to_owned());
    let known = daemon
        .scans
        .of(&caller.principal)
        .run(move || Ok(quarantine::find(&folder, &name)?))
        .await?;
    if !caller.sees(&known.brain) {
        return Err(Store::NotQuarantined { file: file.into() }.into());
    }
    caller.check(&known.brain, role)?;
    Ok(known)
}

/// Lists the files that were kept aside.
pub(super) async fn list_kept(
    daemon: &Daemon,
    caller: &Caller,
    request: v1::ListKeptFilesRequest,
) -> Result<v1::ListKeptFilesResponse> {
    let folder = daemon.brains.folder().clone();
    let scans = daemon.scans.of(&caller.principal);
    let mut files = scans.run(move || Ok(quarantine::list(&folder)?)).await?;
    // A token is the last name of its page.
    files.retain(|kept| kept.file > request.page_token && caller.sees(&kept.brain));
    let size = page_size(request.page_size);
    let more = files.len() > size;
    files.truncate(size);
    Ok(v1::ListKeptFilesResponse {
        next_page_token: match files.last() {
            Some(last) if more => last.file.clone(),
            _ => String::new(),
        },
        files: files.into_iter().map(file).collect(),
    })
}

fn file(kept: QuarantinedFile) -> v1::KeptFile {
    let reason = match kept.reason {
        QuarantineReason::Conflict => v1::KeptReason::Conflict,
        QuarantineReason::Recovered => v1::KeptReason::Recovered,
        QuarantineReason::Original => v1::KeptReason::Original,
    };
    let time: Timestamp = timestamp(kept.time);
    let (lineage, events) = kept.base.map_or((String::new(), 0), |(lineage, events)| {
        (lineage.to_string(), events)
    });
    v1::KeptFile {
        file: kept.file,
        reason: reason.into(),
        brain: kept.brain,
        bytes: kept.bytes,
        time: Some(time),
        lineage,
        events,
        trouble: kept.problem.unwrap_or_default(),
    }
}

/// Ends a file that was kept aside.
pub(super) async fn resolve_kept(
    daemon: Arc<Daemon>,
    caller: Caller,
    request: v1::ResolveKeptFileRequest,
) -> Result<v1::ResolveKeptFileResponse> {
    let (file, brains) = (request.file, daemon.brains.clone());
    let folder = brains.folder().clone();
    let known = find_kept(&daemon, &caller, &file, caller.needs).await?;
    let (name, imported, before) = match request.action {
        Some(Action::Discard(true)) => {
            daemon
                .scans
                .of(&caller.principal)
                .run(move || Ok(quarantine::discard(&folder, &file)?))
                .await?;
            return Ok(v1::ResolveKeptFileResponse::default());
        }
        Some(Action::Take(true)) => {
            // What can't be read replaces nothing.
            let of = file.clone();
            daemon
                .scans
                .of(&caller.principal)
                .run(move || Ok(quarantine::read(&folder, &of)?))
                .await?;
            let taken = brains.take_kept(&caller, &known.brain, &file).await;
            let (imported, before) = taken?;
            (known.brain, imported, before)
        }
        Some(Action::RestoreAs(name)) => {
            caller.check_all(caller.needs)?;
            let (of, principal) = (name.clone(), caller.principal.clone());
            let made = to_its_end(async move {
                let made = move || Ok(quarantine::restore(&folder, &file, &of, true)?);
                daemon.scans.of(&principal).run(made).await
            });
            (name, made.await?, None)
        }
        _ => {
            return Err(Refusal::invalid(
                "action",
                "say discard, take or restore_as",
            ));
        }
    };
    let brain = brains.get(&caller, &name).await?;
    let listed =
        |kept: Option<String>| kept.map_or(String::new(), |kept| quarantine::listed(&kept).into());
    Ok(v1::ResolveKeptFileResponse {
        info: Some(super::brain::info(&brain.name, &brain.view())),
        kept_file: listed(before),
        dropped_edges: imported.lossy.dropped_edges,
        changed: imported.lossy.changed,
        original: listed(imported.original),
    })
}

/// Kept files that were looked through, and how they were then.
pub(super) type Looked = HashSet<(String, Stamp)>;

/// Two writes to a file that are nearer to each other may have the same time: two seconds on FAT.
const TICK: Duration = Duration::from_secs(2);

/// Refuses to erase events that a file has, too, which was kept aside of the same lineage, or under the brain's name
/// without saying of which: they would not be gone. Gives the files that need no second look.
/// What is kept of a brain that the caller may not know of is not named to it.
///
/// `view`: the brain with the texts of these events. A file may have taken the brain's name while they were being
/// erased: it is looked for afterwards, with the view of before. `before`: what the look before that gave; it is not
/// read again unless somebody wrote to it.
pub(super) async fn refuse_kept(
    daemon: &Daemon,
    caller: &Caller,
    brain: &OpenBrain,
    view: View,
    ids: &[NodeId],
    before: Looked,
) -> Result<Looked> {
    // What the brain was made of may still be there, and is either nothing more than it or kept aside now.
    daemon.brains.settle(&brain.name).await;
    let (folder, ids) = (daemon.brains.folder().clone(), ids.to_vec());
    let brain_name = brain.name.clone();
    let scans = daemon.scans.of(&caller.principal);
    let found = scans.run(move || {
        folder.clear_leftovers(&brain_name)?;
        let erased = Erased::of(&view, &brain_name, ids);
        let mut looked = Looked::new();
        let now = Duration::from_micros(folder.disk().now().0.try_into().unwrap_or(0));
        for kept in quarantine::list(&folder)? {
            if erased.ids.is_empty() {
                break;
            }
            let modified = |stamp: &Stamp| Duration::from_nanos(stamp.modified);
            let is_settled = |stamp: &Stamp| modified(stamp) + TICK < now;
            let settled = kept.stamp.filter(is_settled);
            let seen = settled.map(|stamp| (kept.file.clone(), stamp));
            let is_known = seen.as_ref().is_some_and(|seen| before.contains(seen));
            let hinders = match is_known {
                true => Ok(false),
                false => erased.may_be_in(&folder, &kept),
            };
            match hinders {
                Ok(false) => looked.extend(seen),
                Ok(true) => return Ok((looked, Some((kept, None)))),
                Err(why) => return Ok((looked, Some((kept, Some(why))))),
            }
        }
        Ok((looked, None))
    });
    let (looked, found) = found.await?;
    match found {
        None => Ok(looked),
        Some((kept, why)) => Err(hindrance(caller, &kept, why)),
    }
}

/// A kept file stands in the way of an erase. `why`: nothing could be said of what it has. Who may not know of its
/// brain is told neither that nor its name.
fn hindrance(caller: &Caller, kept: &QuarantinedFile, why: Option<Refusal>) -> Refusal {
    if !caller.sees(&kept.brain) {
        let message = "a file that was kept aside has the text as well, or can't be looked through, and is not for this \
                       caller to see: have an administrator of all brains end it first";
        return Refusal::new(Code::FailedPrecondition, "KEPT_FILE", message);
    }
    let what = match &why {
        None => "has the text as well".to_owned(),
        Some(why) => format!("can't be looked through ({})", why.message),
    };
    let message = format!(
        "{}, which was kept aside, {what}: end it first (`amemctl conflicts` lists such files; --keep-ours takes one \
         away, --merge brings what it has into the brain and takes it away)",
        kept.file
    );
    match why {
        // It may be another time.
        Some(mut why) if matches!(why.code, Code::Unavailable | Code::ResourceExhausted) => {
            why.0.message = message;
            why
        }
        _ => Refusal::new(Code::FailedPrecondition, "KEPT_FILE", message),
    }
}

/// True if a file that was listed is kept no more.
fn is_gone(folder: &Folder, kept: &QuarantinedFile) -> bool {
    matches!(
        quarantine::find(folder, &kept.file),
        Err(Store::NotQuarantined { .. })
    )
}

/// Events that are being erased, or were.
struct Erased<'v> {
    view: &'v View,
    brain: &'v str,
    ids: Vec<NodeId>,
    /// Those of which there is a text still.
    whole: Vec<NodeId>,
}

impl<'v> Erased<'v> {
    fn of(view: &'v View, brain: &'v str, mut ids: Vec<NodeId>) -> Self {
        ids.retain(|id| view.node(*id).is_ok());
        let is_whole = |id: &NodeId| view.node(*id).is_ok_and(|node| !node.is_erased());
        let whole = ids.iter().copied().filter(is_whole).collect();
        Self {
            view,
            brain,
            ids,
            whole,
        }
    }

    /// True if a kept file has one of them whole, or may, as it can't be read. An error: one of another brain can't be
    /// read, so that nothing is known of it.
    fn may_be_in(&self, folder: &Folder, kept: &QuarantinedFile) -> Result<bool> {
        let read = || Ok(quarantine::read(folder, &kept.file)?.0);
        let whole_in = |ids: &[NodeId]| {
            let found = amem_store::whole_in(self.view, &read()?, ids)?;
            Ok(!found.is_empty())
        };
        let lineage = self.view.identity().lineage;
        let is_ours = kept.brain == self.brain || kept.base.is_some_and(|(of, _)| of == lineage);
        let has: Result<bool, Store> = match kept.base {
            Some(_) if is_ours => whole_in(&self.ids),
            // Of another brain, which this one may have been merged with.
            Some(_) if !self.whole.is_empty() => whole_in(&self.whole),
            // Of another layout, perhaps what this brain was made of, or damaged: nothing says which events it has.
            None if is_ours && !self.whole.is_empty() => {
                read().and_then(|other| amem_store::has_text_of(self.view, &other, &self.whole))
            }
            _ => return Ok(false),
        };
        match has {
            Ok(has) => Ok(has),
            Err(_) if is_gone(folder, kept) => Ok(false),
            Err(_) if is_ours => Ok(true),
            Err(why) => match Refusal::from(why) {
                // Damage there is no matter of ours.
                why if why.code == Code::DataLoss => {
                    let (file, why) = (&kept.file, &why.message);
                    tracing::warn!(file, why, "not looked through for an erase");
                    Ok(false)
                }
                why => Err(why),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use amem_format::EventType;
    use amem_store::disk::os::OsDisk;
    use amem_store::mutation::{Ingest, NewEvent};
    use amem_store::{NewBrain, create};
    use std::fs;

    #[test]
    fn a_kept_file_that_is_gone_meanwhile_hinders_no_erase() {
        let place = tempfile::tempdir().unwrap();
        let disk = Arc::new(OsDisk::new(place.path()).unwrap());
        let folder = Folder::open(disk, "a test").unwrap();
        let open = |name: &str| {
            create(&folder, name, &NewBrain::default()).unwrap();
            let mut store = amem_store::Store::open(&folder, name).unwrap();
            let events = vec![NewEvent::new(EventType::FACT, "the same")];
            let ingest = Mutation::Ingest(Ingest {
                events,
                ..Ingest::default()
            });
            store.commit(&[Request::new(ingest)]).remove(0).unwrap();
            store
        };
        let (ours, _other) = (open("b"), open("other"));
        let view = ours.view();
        let erased = Erased::of(&view, "b", vec![NodeId(0)]);
        // Of this brain, of another, and one that nothing is known of.
        let noise = place.path().join("noise");
        fs::write(&noise, "no brain").unwrap();
        for (of, file, hinders) in [
            ("b", "b.amem", true),
            ("other", "other.amem", false),
            ("b", "noise", true),
        ] {
            let path = place.path().join(format!(".amemd/conflicts/{of}-1.amem"));
            fs::copy(place.path().join(file), &path).unwrap();
            let kept = quarantine::list(&folder).unwrap().remove(0);
            assert_eq!(kept.brain, of);
            assert_eq!(erased.may_be_in(&folder, &kept).unwrap(), hinders, "{file}");
            fs::remove_file(&path).unwrap();
            let gone = erased.may_be_in(&folder, &kept);
            assert!(!gone.unwrap(), "{file} is gone");
        }
    }
}
