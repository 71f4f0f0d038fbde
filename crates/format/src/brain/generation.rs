//! One open generation of a brain: base, journal, delta.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use super::scope_cache::ScopeCache;
use crate::base::Base;
use crate::bytes::get_u32;
use crate::delta::Delta;
use crate::delta::entry::Span;
use crate::error::{Error, Result};
use crate::event::Edge;
use crate::journal::frame::{self, Frame};
use crate::journal::head::{Head, PAGE};
use crate::journal::live::{self, LivePage};
use crate::journal::op::KEPT_CODES;
use crate::journal::scan::{self, Position, ScanStep};
use crate::mapping::{GrowingMap, Map};
use crate::types::{EdgeType, Lsn, Micros, NodeId};

/// A generation: shared by every view of it.
#[derive(Debug)]
pub struct Brain {
    pub(crate) base: Base,
    pub(crate) delta: Delta,
    pub(crate) scopes: ScopeCache,
    map: GrowingMap,
    /// The journal's head, and the position of its page.
    journal: Option<(Head, u64)>,
    /// The greatest code of an operation that was skipped; 0 if none was.
    pub(super) skipped: AtomicU8,
}

/// The end of a replay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayEnd {
    /// Position of the next frame.
    pub position: Position,
    /// Why the bytes there are no transaction; `None` for zeros.
    pub torn: Option<String>,
}

impl Brain {
    /// Opens a mapped file without looking at its frames.
    pub fn open(map: impl Into<Arc<Map>>) -> Result<Self> {
        let map = map.into();
        let base = Base::open(map.clone())?;
        let journal = match base.journal() {
            None => None,
            Some(at) => {
                let missing = Error::Truncated {
                    what: "journal",
                    needed: at + 2 * PAGE,
                    len: map.len(),
                };
                let page = map.slice(at, PAGE).ok_or(missing)?;
                if map.len() < at + 2 * PAGE {
                    return Err(Error::Truncated {
                        what: "live page",
                        needed: at + 2 * PAGE,
                        len: map.len(),
                    });
                }
                let head = Head::decode(page, at)?;
                let identity = base.identity();
                let same = (
                    identity.lineage,
                    identity.instance,
                    identity.generation,
                    identity.base_lsn,
                ) == (head.lineage, head.instance, head.generation, head.base_lsn);
                if !same {
                    return Err(Error::corrupt(
                        "journal head",
                        at,
                        "it belongs to another base",
                    ));
                }
                Some((head, at))
            }
        };
        Ok(Self {
            delta: Delta::new(base.nodes()),
            scopes: ScopeCache::default(),
            base,
            map: GrowingMap::new(map),
            journal,
            skipped: AtomicU8::new(0),
        })
    }

    /// The base.
    pub fn base(&self) -> &Base {
        &self.base
    }

    /// The delta.
    pub fn delta(&self) -> &Delta {
        &self.delta
    }

    /// What a newer version wrote that this one would lose in a new file; `None`: nothing.
    pub fn newer(&self) -> Option<String> {
        let code = self.skipped.load(Ordering::Relaxed);
        self.base
            .newer()
            .or_else(|| (code >= KEPT_CODES).then(|| format!("operation {code}")))
    }

    /// The journal's head, if the file has a journal.
    pub fn head(&self) -> Option<&Head> {
        self.journal.as_ref().map(|(head, _)| head)
    }

    /// Where the live page begins.
    pub fn live_page(&self) -> Option<u64> {
        self.journal.map(|(_, at)| at + PAGE)
    }

    /// Where the first frame begins, and what it continues.
    pub fn start(&self) -> Option<Position> {
        let (head, at) = self.journal?;
        Some(Position {
            at: at + 2 * PAGE,
            lsn: head.base_lsn,
            checksum: head.seed(),
        })
    }

    /// The live page now.
    pub fn live(&self) -> Option<LivePage> {
        live::load(&self.map, self.live_page()?)
    }

    /// The bare `committed` cell, top bit included: one load.
    #[inline]
    pub fn committed(&self) -> Option<u64> {
        self.map.load(self.live_page()? + live::COMMITTED)
    }

    /// The position up to which frames were synced, from the live page. The writer stores it after the frames, so a
    /// copy without frames up to there is damaged.
    pub fn durable(&self) -> u64 {
        let cell = |at| self.cell(self.live_page()? + at);
        let [committed, clean] = [live::COMMITTED, live::CLEAN].map(|at| cell(at).unwrap_or(0));
        (committed & !live::LOOK).max(clean)
    }

    /// A cell of the file, eight bytes aligned to eight.
    pub fn cell(&self, position: u64) -> Option<u64> {
        self.map.load(position)
    }

    /// Bytes of the base: the file before its journal.
    pub fn base_bytes(&self) -> u64 {
        self.base().journal().unwrap_or(self.mapped())
    }

    /// Bytes of the file that are mapped.
    pub fn mapped(&self) -> u64 {
        self.map.len()
    }

    /// Makes the first `len` bytes of the file readable, with one more mapping if needed. The file must have them.
    pub fn reach(&self, len: u64, map: impl FnOnce() -> io::Result<Map>) -> io::Result<()> {
        self.map.reach(len, map)
    }

    /// Applies whole transactions from a position on, up to the end of the chain or `until`, whichever comes
    /// first, and publishes them.
    pub fn replay(&self, from: Position, until: u64) -> Result<ReplayEnd> {
        let mut position = from;
        loop {
            let end = until.min(self.map.len());
            let rest = self
                .map
                .slice(position.at, end.saturating_sub(position.at))
                .unwrap_or_default();
            match scan::next(rest, position)? {
                ScanStep::End { torn } => {
                    self.delta.log.publish(self.delta.log.applied());
                    return Ok(ReplayEnd { position, torn });
                }
                ScanStep::Transaction {
                    commit,
                    frames,
                    after,
                } => {
                    self.apply(commit, position.at, &frames, after.at)?;
                    position = after;
                }
            }
        }
    }

    /// Bytes of the file, as they stand in it.
    pub fn bytes(&self, position: u64, len: u64) -> Result<&[u8]> {
        self.map
            .slice(position, len)
            .ok_or_else(|| Error::Truncated {
                what: "file",
                needed: position.saturating_add(len),
                len: self.map.len(),
            })
    }

    /// The bytes of a span of the journal.
    #[inline]
    pub fn span(&self, span: Span) -> Result<&[u8]> {
        self.map
            .slice(span.position, span.len.into())
            .ok_or_else(|| Error::Truncated {
                what: "journal",
                needed: span.position + u64::from(span.len),
                len: self.map.len(),
            })
    }

    /// The text of a span of the journal.
    #[inline]
    pub(crate) fn span_str(&self, span: Span) -> Result<&str> {
        let bytes = self.span(span)?;
        self.check_length(span)?;
        std::str::from_utf8(bytes)
            .map_err(|e| Error::corrupt("journal", span.position, e.to_string()))
    }

    /// Refuses a text whose length, which stands before it in the frame, has changed since the commit was applied:
    /// another program wrote to the file, and zeros would pass for a text.
    #[inline]
    fn check_length(&self, span: Span) -> Result<()> {
        if span.len == 0 {
            return Ok(());
        }
        let before = span.position.checked_sub(4);
        let before = before.and_then(|at| self.map.slice(at, 4));
        match before.map(|bytes| get_u32(bytes, 0)) {
            Some(len) if len == span.len => Ok(()),
            found => Err(other_length(span, found)),
        }
    }

    /// The vector of a span of the journal, in place.
    pub(crate) fn span_vector(&self, span: Span) -> Result<&[f32]> {
        bytemuck::try_cast_slice(self.span(span)?).map_err(|_| {
            Error::corrupt(
                "journal",
                span.position,
                "a vector is not aligned to 4 bytes",
            )
        })
    }

    /// Checks again the checksums of applied frames, from a position to the end of a commit. Returns the position
    /// after.
    pub fn recheck(&self, from: Position, end: u64) -> Result<Position> {
        let mut position = from;
        while position.at < end {
            let rest = self.map.slice(position.at, end - position.at);
            match scan::next(rest.unwrap_or_default(), position)? {
                ScanStep::Transaction { after, .. } => position = after,
                ScanStep::End { torn } => {
                    let why = torn.unwrap_or_else(|| "a commit that was there is gone".into());
                    return Err(Error::corrupt("journal", position.at, why));
                }
            }
        }
        Ok(position)
    }

    /// The frames of one commit of the delta. Their checksums were checked when the commit was applied.
    pub fn frames_at(&self, position: u64, end: u64) -> Result<Vec<Frame<'_>>> {
        let bytes = self
            .map
            .slice(position, end.saturating_sub(position))
            .unwrap_or_default();
        frame::split(bytes, position)
    }

    /// An edge of the base.
    pub(crate) fn base_edge(
        &self,
        source: NodeId,
        target: NodeId,
        edge_type: EdgeType,
    ) -> Result<Option<Edge>> {
        if source.0 >= self.base.nodes() || target.0 >= self.base.nodes() {
            return Ok(None);
        }
        let adjacency = self.base.adjacency()?;
        match adjacency.position(source, target.0 as u32, edge_type.0)? {
            Some(position) => self.base.edge(position).map(Some),
            None => Ok(None),
        }
    }

    /// Number and time of the newest of the first `count` commits of the delta, or of the base.
    pub(crate) fn newest(&self, count: u32) -> (Lsn, Micros) {
        match count.checked_sub(1).and_then(|at| self.delta.log.get(at)) {
            Some(entry) => (entry.commit.lsn, entry.commit.time),
            None => (
                self.base.identity().base_lsn,
                self.base.identity().base_time,
            ),
        }
    }

    /// Events after the first `count` commits of the delta.
    pub(crate) fn nodes_after(&self, count: u32) -> u64 {
        count
            .checked_sub(1)
            .and_then(|at| self.delta.log.get(at))
            .map_or(self.base.nodes(), |e| e.nodes)
    }

    /// Live edges after the first `count` commits of the delta.
    pub(crate) fn edges_after(&self, count: u32) -> u64 {
        count
            .checked_sub(1)
            .and_then(|at| self.delta.log.get(at))
            .map_or(self.base.header().edges, |e| e.edges)
    }
}

#[cold]
fn other_length(span: Span, found: Option<u32>) -> Error {
    let found = found.unwrap_or_default();
    let why = format!(
        "a text of {} bytes that was committed is not there: {found} stands for its length",
        span.len
    );
    Error::corrupt("journal", span.position, why)
}
