//! Checkpoints: a new base beside running writers.
//!
//! `begin` takes a view; `build` writes the new file, on any thread, while commits go on; `carry` copies the frames
//! that came meanwhile, in rounds, and prepares the file for commits; `Store::install` copies the last of them, gives
//! the file the brain's name and continues there. Readers keep the old file until their next view.
//!
//! Commits wait only for `install`. So `carry` does all that can be done before, and the old generation is returned, to
//! be dropped elsewhere (`RetiredGeneration`).

use std::sync::Arc;

use amem_format::base::identity::Identity;
use amem_format::base_builder;
use amem_format::base_builder::Options;
use amem_format::brain::{Brain, ReplayEnd};
use amem_format::journal::frame::{self, Header, Kind};
use amem_format::journal::head::PAGE;
use amem_format::journal::op;
use amem_format::journal::scan::Position;
use amem_format::other_space::OtherSpace;
use amem_format::view::View;
use amem_format::{ActorId, Lsn, Micros};

use crate::base_builder::{FileSink, build, epoch};
use crate::error::{Error, Result};
use crate::limits::{BASE_BYTES_PER_JOURNAL_BYTE, CARRIED_BYTES_MAX};
use crate::log::reembedding::Reembedding;
use crate::log::space::write_zeros;
use crate::log::store::Store;
use crate::names::folder::{Folder, SUFFIX};
use crate::names::temporary::TemporaryFile;
use crate::range;

/// A new base being made.
#[derive(Debug)]
pub struct Checkpoint {
    folder: Folder,
    /// The brain's name.
    name: String,
    /// The view to write as the new base.
    pub(crate) view: View,
    pub(crate) built: Option<TemporaryFile>,
    /// Identity of the new base.
    identity: Identity,
    epoch: u64,
    /// End of the new journal.
    position: Position,
    /// Number of commits of the old delta that are in the new file.
    pub(crate) carried: u32,
    /// Position of the next frame in the old journal.
    old: Position,
    /// End of the zeros after the frames of the new file.
    pub(crate) space_end: u64,
    /// The new generation, and the position up to which its frames are replayed.
    pub(crate) next: Option<(Arc<Brain>, Position)>,
    /// The vectors of the new generation, if its space is another.
    pub(crate) reembedding: Option<Arc<Reembedding>>,
}

/// A transaction that is added to a new generation.
pub(crate) struct Payloads<'a> {
    pub(crate) list: &'a [Vec<u8>],
    pub(crate) time: Micros,
    pub(crate) actor: ActorId,
}

impl Checkpoint {
    /// Takes the view that will be the new base.
    pub fn begin(store: &Store) -> Result<Self> {
        let (folder, view) = (store.folder.clone(), store.view());
        folder.check_lock()?;
        store.check_content()?;
        range::check_generation(&view)?;
        if let Some(what) = store.brain.newer() {
            return Err(amem_format::Error::NewerWrites { what }.into());
        }
        let options = Options::next(&view, folder.disk().now());
        let start = view.brain().start().ok_or(amem_format::Error::Foreign)?;
        let carried = view.delta_commits();
        Ok(Self {
            name: store.name.clone(),
            epoch: epoch(&**folder.disk()),
            identity: options.identity,
            folder,
            view,
            built: None,
            position: start,
            carried,
            old: start,
            space_end: 0,
            next: None,
            reembedding: None,
        })
    }

    /// The same for a generation with vectors of another space. Errors: `VectorsErased`.
    pub fn begin_reembedded(store: &Store, reembedding: Arc<Reembedding>) -> Result<Self> {
        let mut checkpoint = Self::begin(store)?;
        if store.erase_pending() || !reembedding.is_there()? {
            return Err(Error::VectorsErased);
        }
        checkpoint.identity.space = reembedding.space();
        checkpoint.reembedding = Some(reembedding);
        Ok(checkpoint)
    }

    /// The vectors of another space that the new generation has.
    pub fn reembedding(&self) -> Option<&Arc<Reembedding>> {
        self.reembedding.as_ref()
    }

    /// The vectors of the new generation for what a view has; `None` if they are the old ones. While commits wait, an
    /// embedder that may take long is not asked: events that it did not embed have no vector then.
    fn other_space(&self, view: &View, is_held: bool) -> Result<Option<Arc<OtherSpace>>> {
        let Some(reembedding) = &self.reembedding else {
            return Ok(None);
        };
        while !(is_held && reembedding.may_wait()) && reembedding.advance(view)? {
            self.check_unerased()?;
        }
        let own = self.view.identity().space;
        Ok(Some(Arc::new(reembedding.other_space(own)?)))
    }

    /// An erase waits for the next generation: one that waits for a model gives way to it.
    fn check_unerased(&self) -> Result<()> {
        let log = &self.view.brain().delta().log;
        let mut newer = (self.view.delta_commits()..log.published()).filter_map(|at| log.get(at));
        match newer.any(|entry| entry.commit.kind == Kind::Erase) {
            true => Err(Error::VectorsErased),
            false => Ok(()),
        }
    }

    /// False if the store has made another generation since: a large merge does so by itself.
    pub fn is_next_of(&self, store: &Store) -> bool {
        Arc::ptr_eq(self.view.brain(), &store.brain)
    }

    /// Writes the new base and syncs it. Without room for that the error says how much is needed.
    pub fn build(&mut self) -> Result<()> {
        self.write_base().map_err(|e| self.with_room(e))
    }

    /// Bytes that the new file takes at most, as far as can be told: indexes of a text may be three times as large.
    fn bytes_needed(&self) -> u64 {
        let brain = self.view.brain();
        let base = brain.base().journal().unwrap_or(brain.mapped());
        base + BASE_BYTES_PER_JOURNAL_BYTE * brain.mapped().saturating_sub(base)
    }

    pub(crate) fn with_room(&self, error: Error) -> Error {
        if !error.is_full() {
            return error;
        }
        Error::NoRoom {
            name: format!("{}{SUFFIX}", self.name),
            bytes: self.bytes_needed(),
            why: error.to_string(),
        }
    }

    pub(crate) fn write_base(&mut self) -> Result<()> {
        let new = TemporaryFile::create(&self.folder, &self.name, None)?;
        let file = new.file().clone();
        let options = Options {
            identity: self.identity,
            now: self.folder.disk().now(),
            origin: false,
        };
        // After an error, dropping `new` removes the file.
        let mut sink = FileSink::new(&*file);
        let view = match self.other_space(&self.view, false)? {
            Some(other) => self.view.in_space(other),
            None => self.view.clone(),
        };
        let first = build(&view, &options, &mut sink)
            .and_then(|end| base_builder::journal(&self.identity, self.epoch, end, &mut sink))
            .map_err(|e| sink.failed(new.path(), e))?;
        // The new base gets new checksums. They must not hold for bytes that the medium has damaged since the commit.
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

    /// Carries frames that were committed since, syncs them, and prepares the new file for more. Returns the bytes that
    /// are left to carry.
    pub fn carry(&mut self, brain: &Arc<Brain>) -> Result<u64> {
        self.carry_round(brain).map_err(|e| self.with_room(e))
    }

    pub(crate) fn carry_round(&mut self, brain: &Arc<Brain>) -> Result<u64> {
        if self.reembedding.is_some() {
            self.check_unerased()?;
        }
        let log = &brain.delta().log;
        let until = log.published();
        self.carry_until(brain, until, false)?;
        self.make_space(self.folder.disk().preallocation().last_round)?;
        self.sync()?;
        self.replay()?;
        let newest = log.published().checked_sub(1).and_then(|at| log.get(at));
        Ok(newest.map_or(0, |entry| entry.end.saturating_sub(self.old.at)))
    }

    /// Adds one transaction behind the carried frames. Nothing may be committed to the old generation after that.
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
            if bytes.len() >= CARRIED_BYTES_MAX {
                self.append(&mut bytes, &mut position)?;
            }
        }
        self.append(&mut bytes, &mut position)?;
        self.make_space(self.folder.disk().preallocation().last_round)?;
        self.sync()
    }

    /// Replays the carried frames, as the next reader will.
    pub(crate) fn replay(&mut self) -> Result<()> {
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
        let ReplayEnd { position, torn } = brain.replay(from, u64::MAX)?;
        if position != self.position {
            let why = torn.unwrap_or_else(|| "frames are missing".into());
            return Err(amem_format::Error::corrupt("carried frames", position.at, why).into());
        }
        self.next = Some((brain, position));
        Ok(())
    }

    fn built(&self) -> Result<&TemporaryFile> {
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

    /// Carries frames up to one; `is_held` while commits wait for it.
    pub(crate) fn carry_until(
        &mut self,
        brain: &Arc<Brain>,
        until: u32,
        is_held: bool,
    ) -> Result<()> {
        let log = &brain.delta().log;
        let other = self.other_space(&brain.view(), is_held)?;
        let mut bytes = Vec::new();
        let mut position = self.position;
        while self.carried < until {
            let Some(entry) = log.get(self.carried) else {
                break;
            };
            self.old = brain.recheck(self.old, entry.end)?;
            for frame in brain.frames_at(entry.position, entry.end)? {
                let replaced = match &other {
                    Some(other) => op::with_vectors(frame.payload, other)?,
                    None => None,
                };
                let payload = replaced.as_deref().unwrap_or(frame.payload);
                position.checksum =
                    frame::encode(&mut bytes, &frame.header, payload, position.checksum)?;
                position.lsn = frame.header.lsn;
            }
            self.carried += 1;
            if bytes.len() >= CARRIED_BYTES_MAX {
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

    /// Extends the file with zeros behind the last frame, for `more` bytes of frames; at most those of a last round.
    pub(crate) fn make_space(&mut self, more: u64) -> Result<()> {
        // A frame's header of zeros behind the last frame ends the chain for every reader.
        let needed = self.position.at + more + frame::HEADER as u64;
        if needed <= self.space_end {
            return Ok(());
        }
        let from = self.space_end.max(self.position.at);
        let last_round = self.folder.disk().preallocation().last_round;
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
