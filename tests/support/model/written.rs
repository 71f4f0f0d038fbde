//! A brain in memory with its journal: what a writer would have made, without a writer.

use std::sync::Arc;

use amem_format::base::settings::Settings;
use amem_format::base_builder::{
    BuildMode, Inline, Options, empty, journal, new_identity, write_base, write_base_with,
};
use amem_format::brain::Brain;
use amem_format::journal::frame::{self, Header, Kind};
use amem_format::journal::op::{self, Op};
use amem_format::journal::scan::Position;
use amem_format::mapping::Map;
use amem_format::view::View;
use amem_format::{ActorId, Error, Lsn, Micros, Result};
use uuid::Uuid;

/// A brain being written.
pub struct WrittenBrain {
    bytes: Vec<u8>,
    brain: Arc<Brain>,
    position: Position,
}

impl WrittenBrain {
    /// An empty brain.
    pub fn new(dimension: u32, origin: Micros) -> Result<Self> {
        let identity = new_identity(Uuid::from_u128(1), Uuid::from_u128(2), Uuid::nil(), origin);
        let mut bytes = Vec::new();
        let end = empty(&identity, dimension, &Settings::default(), &mut bytes)?;
        journal(&identity, 1, end, &mut bytes)?;
        Self::open(bytes)
    }

    fn open(bytes: Vec<u8>) -> Result<Self> {
        let brain = Arc::new(Brain::open(Map::owned(&bytes))?);
        let position = brain
            .start()
            .unwrap_or_else(|| panic!("a brain without a journal"));
        Ok(Self {
            bytes,
            brain,
            position,
        })
    }

    /// Commits operations; returns the commit's number.
    pub fn commit(&mut self, time: Micros, ops: &[Op<'_>]) -> Result<Lsn> {
        let mut payload = Vec::new();
        ops.iter().for_each(|op| op::encode(&mut payload, op));
        let header = Header {
            kind: Kind::Import,
            more: false,
            lsn: Lsn(self.position.lsn.0 + 1),
            time,
            actor: ActorId(0),
        };
        self.bytes.truncate(self.position.at as usize);
        frame::encode(&mut self.bytes, &header, &payload, self.position.checksum)?;
        let mapped = || Ok(Map::owned(&self.bytes));
        self.brain
            .reach(self.bytes.len() as u64, mapped)
            .map_err(|e| Error::io("map", "the brain", e))?;
        let replayed = self.brain.replay(self.position, u64::MAX)?;
        assert_eq!(replayed.torn, None);
        assert_eq!(replayed.position.lsn, header.lsn);
        self.position = replayed.position;
        Ok(header.lsn)
    }

    /// Folds all of it into a new base with an empty journal. Views of the old one stay.
    pub fn checkpoint(&mut self) -> Result<()> {
        let view = self.view();
        let options = Options::next(&view, view.time());
        let mut bytes = Vec::new();
        let end = write_base(&view, &options, &mut bytes)?;
        let how = BuildMode {
            workers: &Inline,
            from_scratch: true,
        };
        let mut rebuilt = Vec::new();
        write_base_with(&view, &options, how, &mut rebuilt)?;
        assert!(
            bytes == rebuilt,
            "what was copied is not what rebuilding gives"
        );
        journal(&options.identity, 1, end, &mut bytes)?;
        *self = Self::open(bytes)?;
        Ok(())
    }

    /// The newest view.
    pub fn view(&self) -> View {
        self.brain.view()
    }

    /// A view of a copy of the file, newly opened.
    pub fn copy(&self) -> Result<View> {
        self.copy_with(&|_| ())
    }

    /// A view of a copy of which some bytes are others.
    pub fn copy_with(&self, edit: &dyn Fn(&mut [u8])) -> Result<View> {
        let mut bytes = self.bytes.clone();
        edit(&mut bytes);
        let copy = Self::open(bytes)?;
        copy.brain.replay(copy.position, u64::MAX)?;
        Ok(copy.view())
    }
}
