//! Checkpoints: a new base beside running writers.
//!
//! `begin` takes a view; `build` writes the new file, on any thread, while commits go on; `carry` brings the
//! frames that came meanwhile, in rounds, and makes the file ready to be written on; `Store::install` carries the last
//! of them, publishes the new file under the brain's name and goes on there. Readers of the old file keep it until they
//! look.
//!
//! Commits wait for `install` alone, so whatever can be done before is done by `carry`, and what is left of the old
//! generation is handed back to be dropped elsewhere (`Retired`).

use std::io;
use std::sync::Arc;

use amem_format::base::identity::Identity;
use amem_format::brain::{Brain, Replayed};
use amem_format::fold::{self, Options};
use amem_format::journal::frame::{self, Header, Kind};
use amem_format::journal::head::PAGE;
use amem_format::journal::live;
use amem_format::journal::scan::Position;
use amem_format::view::View;
use amem_format::{ActorId, Lsn, Micros};

use crate::base_builder;
use crate::error::{Error, Result};
use crate::log::space::write_zeros;
use crate::log::store::Store;
use crate::names::create::{FileSink, epoch};
use crate::names::folder::{Folder, TMP};
use crate::names::temporary::Unnamed;

/// Bytes of frames that the last round may carry while commits wait.
pub const LAST_ROUND_BYTES_MAX: u64 = 128 << 10;

/// A new base being made.
#[derive(Debug)]
pub struct Checkpoint {
    folder: Folder,
    /// The brain's.
    name: String,
    /// What is folded.
    view: View,
    built: Option<Unnamed>,
    /// Identity of the new base.
    identity: Identity,
    epoch: u64,
    /// Where the new journal stands.
    position: Position,
    /// The commits of the old delta that are in the new file.
    carried: u32,
    /// Where the next frame of the old journal begins.
    old: Position,
    /// Up to where the new file has zeros behind its frames.
    space_end: u64,
    /// The new generation, and how far its frames are replayed.
    next: Option<(Arc<Brain>, Position)>,
}

/// What is left of a generation that was replaced: its mapping, its descriptor and its delta. To let go of them takes
/// milliseconds for every hundred megabytes, so whoever holds commits up should drop this elsewhere.
#[derive(Debug)]
pub struct Retired {
    _store: Store,
    _checkpoint: Checkpoint,
}

/// What is added to a new generation beside what the old one has.
pub(crate) struct Payloads<'a> {
    pub(crate) list: &'a [Vec<u8>],
    pub(crate) time: Micros,
    pub(crate) actor: ActorId,
}

impl Checkpoint {
    /// Takes the view that will be the new base.
    pub fn begin(store: &Store) -> Result<Self> {
        let (folder, view) = (store.folder.clone(), store.view());
        let options = Options::next(&view, folder.disk().now());
        let start = view.brain().start().ok_or(amem_format::Error::Foreign)?;
        let carried = view.delta_commits();
        Ok(Self {
            name: store.name.clone(),
            epoch: epoch(&folder),
            identity: options.identity,
            folder,
            view,
            built: None,
            position: start,
            carried,
            old: start,
            space_end: 0,
            next: None,
        })
    }

    /// False if the store has made another generation since: a large merge does so by itself.
    pub fn is_next_of(&self, store: &Store) -> bool {
        Arc::ptr_eq(self.view.brain(), &store.brain)
    }

    /// Writes the new base and syncs it.
    pub fn build(&mut self) -> Result<()> {
        let new = Unnamed::create(&self.folder, &self.name, None)?;
        let file = new.file().clone();
        let options = Options {
            identity: self.identity,
            now: self.folder.disk().now(),
            origin: false,
        };
        // Until it is whole, an error takes it away.
        let mut sink = FileSink::new(&*file);
        let first = base_builder::fold(&self.view, &options, &mut sink)
            .and_then(|end| fold::journal(&self.identity, self.epoch, end, &mut sink))
            .map_err(|e| sink.failed(new.path(), e))?;
        // What was folded gets new checksums: none that hold for what the medium has damaged since it was committed.
        let log = &self.view.brain().delta().log;
        let newest = self.carried.checked_sub(1).and_then(|at| log.get(at));
        if let Some(newest) = newest {
            self.old = self.view.brain().recheck(self.old, newest.end)?;
        }
        let head = amem_format::journal::head::Head {
            lineage: self.identity.lineage,
            instance: self.identity.instance,
            generation: self.identity.generation,
            base_lsn: self.identity.base_lsn,
            base_time: self.identity.base_time,
            epoch: self.epoch,
        };
        self.position = Position {
            at: first,
            lsn: self.identity.base_lsn,
            checksum: head.seed(),
        };
        self.space_end = first;
        file.sync()
            .map_err(|e| Error::disk("sync", new.path(), e))?;
        self.built = Some(new);
        Ok(())
    }

    /// Carries frames that were committed since, syncs them, and has the new file ready for more; returns how many
    /// bytes are left to carry.
    pub fn carry(&mut self, brain: &Brain) -> Result<u64> {
        let log = &brain.delta().log;
        let until = log.published();
        self.carry_until(brain, until)?;
        self.make_space(self.folder.disk().room().last_round)?;
        self.sync()?;
        self.replay()?;
        let newest = log.published().checked_sub(1).and_then(|at| log.get(at));
        Ok(newest.map_or(0, |entry| entry.end.saturating_sub(self.old.at)))
    }

    /// Adds one transaction behind what was carried: it is there when the file takes the brain's name. Nothing may be
    /// committed to the old generation any more.
    pub(crate) fn add(&mut self, kind: Kind, payloads: &Payloads<'_>) -> Result<()> {
        let (mut bytes, mut position) = (Vec::new(), self.position);
        for (at, payload) in payloads.list.iter().enumerate() {
            let header = Header {
                kind,
                more: at + 1 < payloads.list.len(),
                lsn: Lsn(position.lsn.0 + 1),
                time: payloads.time,
                actor: payloads.actor,
            };
            position.checksum = frame::encode(&mut bytes, &header, payload, position.checksum)?;
            position.lsn = header.lsn;
            if bytes.len() >= 4 << 20 {
                self.append(&mut bytes, &mut position)?;
            }
        }
        self.append(&mut bytes, &mut position)?;
        self.make_space(self.folder.disk().room().last_round)?;
        self.sync()
    }

    /// Reads back what was carried, as the next reader will.
    fn replay(&mut self) -> Result<()> {
        let new = self.built()?;
        let (file, path) = (new.file().clone(), new.path().to_owned());
        let failed = |action: &'static str| {
            let path = path.clone();
            move |e| Error::disk(action, path, e)
        };
        let len = file.len().map_err(failed("look at"))?;
        let map = || file.map(len);
        let (brain, from) = match self.next.take() {
            Some((brain, from)) => {
                brain.reach(len, map).map_err(failed("map"))?;
                (brain, from)
            }
            None => {
                let brain = Arc::new(Brain::open(map().map_err(failed("map"))?)?);
                let start = brain.start().ok_or(amem_format::Error::Foreign)?;
                (brain, start)
            }
        };
        let Replayed { position, torn } = brain.replay(from, u64::MAX)?;
        if position != self.position {
            let why = torn.unwrap_or_else(|| "frames are missing".into());
            return Err(amem_format::Error::corrupt("carried frames", position.at, why).into());
        }
        self.next = Some((brain, position));
        Ok(())
    }

    fn built(&self) -> Result<&Unnamed> {
        self.built
            .as_ref()
            .ok_or_else(|| Error::invalid("checkpoint", "it has not been built"))
    }

    fn sync(&self) -> Result<()> {
        let new = self.built()?;
        let done = new.file().sync();
        done.map_err(|e| Error::disk("sync", new.path(), e))
    }

    fn write(&self, at: u64, bytes: &[u8]) -> Result<()> {
        let new = self.built()?;
        let done = new.file().write_at(at, bytes);
        done.map_err(|e| Error::disk("write", new.path(), e))
    }

    fn carry_until(&mut self, brain: &Brain, until: u32) -> Result<()> {
        let log = &brain.delta().log;
        let mut bytes = Vec::new();
        let mut position = self.position;
        while self.carried < until {
            let Some(entry) = log.get(self.carried) else {
                break;
            };
            self.old = brain.recheck(self.old, entry.end)?;
            for frame in brain.frames_at(entry.position, entry.end)? {
                position.checksum =
                    frame::encode(&mut bytes, &frame.header, frame.payload, position.checksum)?;
                position.lsn = frame.header.lsn;
            }
            self.carried += 1;
            if bytes.len() >= 4 << 20 {
                self.append(&mut bytes, &mut position)?;
            }
        }
        self.append(&mut bytes, &mut position)
    }

    fn append(&mut self, bytes: &mut Vec<u8>, position: &mut Position) -> Result<()> {
        if !bytes.is_empty() {
            let at = self.position.at;
            self.write(at, bytes)?;
            position.at = at + bytes.len() as u64;
            bytes.clear();
        }
        self.position = *position;
        Ok(())
    }

    /// Sees to it that behind the last frame there are zeros for `more` bytes of frames, at most those of a last round.
    fn make_space(&mut self, more: u64) -> Result<()> {
        // A frame's header of zeros behind the last frame ends the chain for every reader.
        let needed = self.position.at + more + frame::HEADER as u64;
        if needed <= self.space_end {
            return Ok(());
        }
        let from = self.space_end.max(self.position.at);
        let last_round = self.folder.disk().room().last_round;
        let end = (self.position.at + last_round + PAGE).next_multiple_of(PAGE);
        let new = self.built()?;
        write_zeros(&**new.file(), from, end)
            .map_err(|e| Error::disk("make room in", new.path(), e))?;
        self.space_end = end;
        Ok(())
    }

    /// Gives what was built a name that no file has.
    pub(crate) fn publish(mut self, name: &str) -> Result<()> {
        self.built()?;
        let published = self.built.take().map_or(Ok(()), |new| new.publish(name));
        published.map_err(|e| Error::disk("publish", name, e))
    }
}

impl Store {
    /// Before an erase is done, what is left elsewhere with the brain's content goes. Asked before a new generation is
    /// built, so that one that can't be installed does not fill the disk, and when it is installed.
    pub fn clear_for_erase(&self) -> Result<()> {
        match self.erase_pending() {
            true => self.folder.clear_left(&self.name),
            false => Ok(()),
        }
    }

    /// Makes a new generation, start to end, while nothing else is committed.
    pub fn checkpoint(&mut self) -> Result<()> {
        self.clear_for_erase()?;
        let mut checkpoint = Checkpoint::begin(self)?;
        checkpoint.build()?;
        self.install(checkpoint).map(drop)
    }

    /// Carries the last frames, publishes the new file and goes on there. Gives back what is left of the old one.
    pub fn install(&mut self, mut checkpoint: Checkpoint) -> Result<Retired> {
        if let Some(why) = &self.poison {
            return Err(Error::Poisoned { why: why.clone() });
        }
        if !checkpoint.is_next_of(self) {
            let generation = |brain: &Brain| brain.base().identity().generation.0.to_string();
            return Err(Error::Aborted {
                what: "the generation",
                expected: generation(checkpoint.view.brain()),
                found: generation(&self.brain),
            });
        }
        self.clear_for_erase()?;
        if checkpoint.next.is_none() {
            checkpoint.carry(&self.brain.clone())?;
        }
        let until = self.brain.delta().log.published();
        checkpoint.carry_until(&self.brain.clone(), until)?;
        checkpoint.make_space(0)?;
        checkpoint.replay()?;
        let (Some((brain, position)), Some(new)) =
            (checkpoint.next.clone(), checkpoint.built.take())
        else {
            return Err(Error::invalid("checkpoint", "it has not been built"));
        };
        let file = new.file().clone();
        let next = Self::new(
            self.folder.clone(),
            self.name.clone(),
            self.file_name.clone(),
            file.clone(),
            brain,
            position,
            checkpoint.space_end,
        );
        // Readers that open the new file find it owned and complete from its first moment on: it has no name before
        // all of it is synced.
        next.protect_at_least()?;
        let failed = |action: &'static str| {
            let path = new.path().to_owned();
            move |e| Error::disk(action, path, e)
        };
        next.take_ownership().map_err(failed("own"))?;
        file.sync().map_err(failed("sync"))?;
        match self.switch(new, next) {
            Ok(old) => Ok(Retired {
                _store: old,
                _checkpoint: checkpoint,
            }),
            Err(why) => {
                let gone = self.folder.disk().identity(&self.file_name);
                if gone.is_err_and(|e| e.kind() == io::ErrorKind::NotFound) {
                    return Err(self.lose_name(why));
                }
                self.poison(why.clone());
                Err(Error::Poisoned { why })
            }
        }
    }

    /// The new file takes the brain's name; what wrote the old one comes back. An error poisons: which file has the
    /// name is not known then. (If none has, as somebody removed it, then `install` saves the brain, and poisons only
    /// once that is done.)
    fn switch(&mut self, new: Unnamed, next: Self) -> Result<Self, String> {
        let disk = self.folder.disk().clone();
        let generation = next.brain.base().identity().generation.0;
        self.store_hint(live::SUPERSEDED_BY, generation)
            .map_err(|e| format!("telling readers: {e}"))?;
        let out = new
            .take_name(Some(self.file.id()))
            .map_err(|e| format!("exchanging files: {e}"))?;
        let old = match out.id() {
            Ok(Some(id)) => Some(id == self.file.id()),
            Ok(None) => None,
            Err(e) => return Err(format!("looking at the old file: {e}")),
        };
        if old == Some(false) {
            // Somebody's file had taken our name in the last moment: it is theirs, and kept.
            out.keep()
                .map_err(|e| format!("keeping the file that had taken the name: {e}"))?;
        }
        disk.sync_folder("")
            .map_err(|e| format!("syncing the folder: {e}"))?;
        let erased = self.erase_pending();
        if old == Some(true) {
            out.remove()
                .map_err(|e| format!("removing the old file: {e}"))?;
        }
        // Not even an unfinished file of an earlier checkpoint may come back with what was erased.
        disk.sync_folder(TMP)
            .map_err(|e| format!("syncing {TMP}: {e}"))?;
        if erased {
            self.store_hint(live::MUST_DROP, 1)
                .map_err(|e| format!("telling readers: {e}"))?;
        }
        Ok(std::mem::replace(self, next))
    }
}
