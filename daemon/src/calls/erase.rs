//! Erase: content is gone from every file of the daemon before the answer, or the answer names the processes that still
//! hold it.

use std::collections::HashSet;
use std::time::Duration;

use amem_format::view::View;
use amem_format::{Lsn, NodeId};
use amem_proto::answer::Code;
use amem_proto::v1;
use amem_store::disk::{Disk, Stamp};
use amem_store::quarantine::{self, QuarantinedFile};
use amem_store::{Error as Store, Folder, Mutation};
use uuid::Uuid;

use super::gateway::Gateway;
use super::memory::{CommittedChange, PendingChange, Write};
use super::validate::Validate;
use crate::auth::Caller;
use crate::brains::blocking;
use crate::limits::{JOURNAL_IN_BASE, READERS_WAIT, READERS_WAIT_MAX};
use crate::refusal::{Refusal, Result};
use crate::webhooks::Erasure;
use amem_engine::FileHolder;
use amem_engine::OpenBrain;
use amem_engine::Release;

impl Validate for v1::EraseRequest {
    /// The request, and how long it waits for readers of earlier files.
    type Valid = (Self, Duration);

    fn validate(self) -> Result<Self::Valid> {
        let Some(asked) = self.reader_wait else {
            return Ok((self, READERS_WAIT));
        };
        let wait = Duration::try_from(asked);
        let wait = wait.map_err(|e| Refusal::invalid("reader_wait", e.to_string()))?;
        if wait > READERS_WAIT_MAX {
            let why = format!(
                "{wait:?} is more than {READERS_WAIT_MAX:?}, the limit: wait less, and erase again"
            );
            return Err(Refusal::invalid("reader_wait", why));
        }
        Ok((self, wait))
    }
}

impl Write for v1::EraseRequest {
    fn answer(done: &CommittedChange) -> v1::EraseResponse {
        v1::EraseResponse {
            commit: done.commit(),
            episode_ids: done.written.answer.related.iter().map(|id| id.0).collect(),
            generation: done.written.generation.0,
            ..v1::EraseResponse::default()
        }
    }

    /// Erases, and waits for readers that hold the content outside of the brain's file.
    async fn write(self, gateway: &Gateway, caller: &Caller) -> Result<Self::Answer> {
        let (change, wait) = self.validate()?;
        let command = PendingChange::prepare(gateway, caller, change).await?;
        let done = erase(gateway, caller, command).await?;
        // An export of the old file ends at its next part.
        drop(done.brain.sending.write().await);
        let mut response = Self::answer(&done);
        let instance = done.brain.view().instance();
        let replaced = gateway.brains.replaced();
        match replaced
            .released(instance, done.written.generation, wait)
            .await
        {
            Release::At(at) => response.readers_gone = Some(at.into()),
            Release::HeldBy(holders) => {
                response.holders = holders.into_iter().map(holder).collect();
                let processes: Vec<_> = response.holders.iter().map(|h| h.process_id).collect();
                tracing::warn!(
                    brain = done.brain.name,
                    ?processes,
                    "readers still have a file open that contains erased content"
                );
            }
            Release::Unknown(why) => response.readers_unknown = why,
        }
        Ok(response)
    }
}

fn holder(holder: FileHolder) -> v1::FileHolder {
    v1::FileHolder {
        process_id: holder.process,
        program: holder.program,
    }
}

/// Refuses while a quarantined file has the content as well.
async fn erase(
    gateway: &Gateway,
    caller: &Caller,
    command: PendingChange,
) -> Result<CommittedChange> {
    let Mutation::Erase(ids) = &command.request.mutation else {
        return command.execute().await;
    };
    let (ids, brain, view) = (ids.clone(), command.brain.clone(), command.brain.view());
    let refuse = |cleared| refuse_kept(gateway, caller, &brain, view.clone(), &ids, cleared);
    let cleared = refuse(ClearedFiles::new()).await?;
    check_room(&**gateway.brains.folder().disk(), &brain, &ids)?;
    let id = command.request.request_id;
    let _erasure = tell_webhooks(gateway, &brain, &ids).await?;
    let done = command.execute().await?;
    if let (Some(id), true) = (id, done.written.answer.replayed) {
        check_erased(&brain, &ids, id, done.written.answer.lsn)?;
    }
    // A copy that has the content may have taken the brain's name meanwhile.
    drop(refuse(cleared).await?);
    Ok(done)
}

/// Notes for webhooks which memories go; the result is held until they are gone.
async fn tell_webhooks(
    gateway: &Gateway,
    brain: &OpenBrain,
    ids: &[NodeId],
) -> Result<Option<Erasure>> {
    let Some(webhooks) = gateway.webhooks.clone() else {
        return Ok(None);
    };
    let (name, view, ids) = (brain.name.clone(), brain.view(), ids.to_vec());
    let noted = blocking(move || webhooks.before_erase(&name, &view, &ids));
    noted.await.map(Some)
}

/// Refuses, before anything is written, an erase for whose new file the disk has no room: the events would be hidden,
/// and their content would stay. A repeated erase of events that are gone needs none.
fn check_room(disk: &dyn Disk, brain: &OpenBrain, ids: &[NodeId]) -> Result<()> {
    let view = brain.view();
    let mut is_done = true;
    for id in ids {
        // A missing event is refused by the writer.
        is_done &= view.node(*id).is_ok_and(|node| node.is_erased());
    }
    // A file system that does not say what is free refuses the writes themselves.
    let (false, Some(free)) = (is_done, disk.free_bytes().ok().flatten()) else {
        return Ok(());
    };
    let needed = room_needed(disk, &view);
    if needed <= free {
        return Ok(());
    }
    let folder = brain.path.parent().unwrap_or(&brain.path).display();
    let message = format!(
        "erase needs about {} in {folder}, {} are free: free space there, and erase again; nothing was erased",
        mebibytes(needed),
        mebibytes(free)
    );
    Err(Refusal::new(Code::ResourceExhausted, "DISK_FULL", message))
}

/// About the bytes of the file that an erase writes beside the old one: the base again, what the journal adds to texts
/// and to indexes, the frames that come meanwhile, and the frame of the erase itself.
fn room_needed(disk: &dyn Disk, view: &View) -> u64 {
    let start = view.brain().start().map_or(0, |start| start.at);
    let log = &view.brain().delta().log;
    let newest = view
        .delta_commits()
        .checked_sub(1)
        .and_then(|at| log.get(at));
    let journal = newest.map_or(0, |entry| entry.end.saturating_sub(start));
    let ahead = disk.preallocation();
    start + journal * JOURNAL_IN_BASE + ahead.last_round + ahead.min
}

fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

/// Refuses a request id under which another erase was executed: the writer knows a request from before an erase by its
/// id alone.
fn check_erased(brain: &OpenBrain, ids: &[NodeId], id: Uuid, lsn: Lsn) -> Result<()> {
    let view = brain.view();
    for event in ids {
        if !view.node(*event)?.is_erased() {
            return Err(Store::RequestReused { id, lsn }.into());
        }
    }
    Ok(())
}

/// Quarantined files that do not have the content, with their state when they were read.
type ClearedFiles = HashSet<(String, Stamp)>;

/// The coarsest time stamp of a file system (FAT): two writes within it may have the same time.
const TICK: Duration = Duration::from_secs(2);

/// Refuses to erase events that a quarantined file has as well, be it of the same lineage or of the brain's name: their
/// content would not be gone. Returns the files that do not have it. A file of a brain that the caller may not know of
/// is not named to it.
///
/// `view` still has the texts of the events: it is taken before they are erased, and used again afterwards, as a file
/// may have taken the brain's name meanwhile. `before` are the files that the first pass returned: they are read again
/// only if they were written to.
async fn refuse_kept(
    gateway: &Gateway,
    caller: &Caller,
    brain: &OpenBrain,
    view: View,
    ids: &[NodeId],
    before: ClearedFiles,
) -> Result<ClearedFiles> {
    // The file that the brain was imported from may still be there: it is removed or quarantined first.
    gateway.brains.engine().finalise_original(&brain.name).await;
    let (folder, ids) = (gateway.brains.folder().clone(), ids.to_vec());
    let brain_name = brain.name.clone();
    let scans = gateway.scans.of(&caller.principal);
    let found = scans.run(move || {
        folder.clear_leftovers(&brain_name)?;
        let erased = ErasedEvents::of(&view, &brain_name, ids);
        let mut cleared = ClearedFiles::new();
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
            let hinders = if is_known {
                Ok(false)
            } else {
                erased.may_be_in(&folder, &kept)
            };
            match hinders {
                Ok(false) => cleared.extend(seen),
                Ok(true) => return Ok((cleared, Some((kept, None)))),
                Err(why) => return Ok((cleared, Some((kept, Some(why))))),
            }
        }
        Ok((cleared, None))
    });
    let (cleared, found) = found.await?;
    match found {
        None => Ok(cleared),
        Some((kept, why)) => Err(hindrance(caller, &kept, why)),
    }
}

/// The refusal of an erase because of a quarantined file. `why` is set if the file cannot be read. A caller that does
/// not see the file's brain gets neither its name nor the reason.
fn hindrance(caller: &Caller, kept: &QuarantinedFile, why: Option<Refusal>) -> Refusal {
    if !caller.sees(&kept.brain) {
        let message = "a quarantined file of a brain that this caller may not see contains the text too, or cannot be searched: \
                       an administrator of all brains must resolve it first";
        return Refusal::new(Code::FailedPrecondition, "KEPT_FILE", message);
    }
    let what = match &why {
        None => "contains the text too".to_owned(),
        Some(why) => format!("cannot be searched ({})", why.message),
    };
    let message = format!(
        "the quarantined file {} {what}: resolve it first (`amemctl conflicts` lists such files; --keep-ours deletes one, \
         --merge merges it into the brain and deletes it)",
        kept.file
    );
    match why {
        // The file may be readable later.
        Some(mut why) if matches!(why.code, Code::Unavailable | Code::ResourceExhausted) => {
            why.0.message = message;
            why
        }
        _ => Refusal::new(Code::FailedPrecondition, "KEPT_FILE", message),
    }
}

/// True if a listed file is no longer quarantined.
fn is_gone(folder: &Folder, kept: &QuarantinedFile) -> bool {
    matches!(
        quarantine::find(folder, &kept.file),
        Err(Store::NotQuarantined { .. })
    )
}

/// Events to erase, or erased.
struct ErasedEvents<'v> {
    view: &'v View,
    brain: &'v str,
    ids: Vec<NodeId>,
    /// Those that still have their text.
    whole: Vec<NodeId>,
}

impl<'v> ErasedEvents<'v> {
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

    /// True if a quarantined file has the text of one of them, or may have it because the file cannot be read. An error
    /// if a file of another brain cannot be read.
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
            // A file of another brain may have been merged into this one.
            Some(_) if !self.whole.is_empty() => whole_in(&self.whole),
            // A foreign or damaged file, perhaps the original of this brain: its events are unknown.
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
                // Damage to a file of another brain does not concern this one.
                why if why.code == Code::DataLoss => {
                    let (file, why) = (&kept.file, &why.message);
                    tracing::warn!(
                        file,
                        why,
                        "could not search a quarantined file for erased content"
                    );
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
    use amem_store::mutation::{Ingest, NewEvent, Request};
    use amem_store::{NewBrain, create};
    use std::fs;
    use std::sync::Arc;

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
        let erased = ErasedEvents::of(&view, "b", vec![NodeId(0)]);
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
