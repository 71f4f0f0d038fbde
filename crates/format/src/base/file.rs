//! A base: everything before the journal, and where its parts are.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use super::actors::Actors;
use super::adjacency::Adjacency;
use super::attributes::AttributeTexts;
use super::authors::Authors;
use super::change_stamps::ChangeStamps;
use super::checksums::Checksums;
use super::clock::CommitClock;
use super::commits::RecentCommits;
use super::conflicts::ConflictEdges;
use super::event_times::EventTimes;
use super::head_cache::{CachedHeads, HeadCache};
use super::header::{self, Header};
use super::history::History;
use super::identity::Identity;
use super::kinds::Kinds;
use super::node::{NodeRecord, RawNode};
use super::quantised_vectors::QuantisedVectors;
use super::requests::Requests;
use super::section::{self, ROWS, Section, SectionPlace, SectionTable, section_table, tag};
use super::sessions::SessionIndex;
use super::settings::Settings;
use super::spans::EarlierSpans;
use super::summary_cache::{self, ForgottenBits, Peak, SummaryCache};
use super::terms::Terms;
use super::values::ValueIndex;
use super::{content, edge, node, strengths, vectors};
use crate::error::{Error, Result};
use crate::event::Edge;
use crate::mapping::Map;
use crate::types::{Flags, Micros, NodeId};
use amem_kernels::prefetch;

/// The number of tags of amemd, without the journal's.
const OURS: usize = (*tag::OURS.end() - *tag::OURS.start()) as usize + 1;

/// The immutable part of a file of amemd.
///
/// Opening checks the header, the section table and the identity. Every access checks bounds, UTF-8 and floats of what
/// it reads; `verify` checks every byte.
#[derive(Debug)]
pub struct Base {
    map: Arc<Map>,
    header: Header,
    table: SectionTable,
    /// Our sections by tag, from the first of `tag::OURS` on: each access to one looks here.
    ours: [Option<SectionPlace>; OURS],
    identity: Identity,
    settings: Settings,
    summaries: SummaryCache,
    heads: HeadCache,
}

/// The bytes of a section: damage if it is required and missing, an early `None` if it is optional.
macro_rules! bytes_of {
    ($base:ident, $tag:ident, required) => {
        $base.section(tag::$tag)?
    };
    ($base:ident, $tag:ident, optional) => {
        match slot(tag::$tag).and_then(|at| *$base.ours.get(at)?) {
            Some(_) => $base.section(tag::$tag)?,
            None => return Ok(None),
        }
    };
}

macro_rules! accessors {
    ($(
        $tag:ident $value:literal $name:literal $what:literal $role:ident $presence:ident $content:ident
        $($(#[$doc:meta])* => $accessor:ident |$section:ident, $base:ident| $read:expr, $out:ty)?;
    )*) => {
        impl Base {
            $($(
                $(#[$doc])*
                #[inline]
                pub fn $accessor(&self) -> Result<$out> {
                    let $base = self;
                    let $section = bytes_of!($base, $tag, $presence);
                    $read
                }
            )?)*
        }
    };
}

section_table!(accessors);

/// Checks flags of newer versions: the header's checksum says whether they are that or damage.
fn check_flags(header: &Header, front: &[u8], checksums: Option<Section<'_>>) -> Result<()> {
    let flags = header.flags;
    let sums = checksums.map(Checksums::read).transpose()?;
    let is_whole = sums.is_some_and(|sums| {
        sums.iter().any(|chunk| {
            (chunk.offset, chunk.len) == (0, front.len() as u64) && chunk.sum == xxh3_64(front)
        })
    });
    if !is_whole {
        let why = format!("flags {flags:#x}, and no checksum of the header that holds");
        return Err(Error::corrupt("header", 12, why));
    }
    if flags & header::MUST_READ != 0 {
        let what = format!("header flags {flags:#x}");
        return Err(Error::Newer { what });
    }
    Ok(())
}

/// Checks sections of newer versions: an unknown tag is that only if the checksum of the section's header holds.
/// Otherwise a flipped bit has made it of one that is missing now.
fn check_unknown(table: &SectionTable, map: &Map, sums: Option<Section<'_>>) -> Result<()> {
    let is_known = |tag: u8| tag == tag::PADDING || ROWS.iter().any(|row| row.tag == tag);
    let is_present = |tag| table.find(tag).is_some();
    if is_present(tag::AUTHORS) != is_present(tag::SPANS) {
        let why = "of authors and spans one section is missing";
        return Err(Error::corrupt("sections", 0, why));
    }
    let mut unknown = table
        .places
        .iter()
        .filter(|place| tag::OURS.contains(&place.tag) && !is_known(place.tag));
    let Some(first) = unknown.next() else {
        return Ok(());
    };
    let sums = sums.map(Checksums::read).transpose()?;
    for place in std::iter::once(first).chain(unknown) {
        let at = place.offset - section::HEADER;
        let mut chunks = sums.iter().flat_map(Checksums::iter);
        let chunk = chunks.find(|chunk| (chunk.offset..chunk.offset + chunk.len).contains(&at));
        let holds = chunk.is_some_and(|chunk| {
            let bytes = map.slice(chunk.offset, chunk.len);
            bytes.is_some_and(|bytes| xxh3_64(bytes) == chunk.sum)
        });
        if !holds {
            let tag = place.tag;
            let why = format!("section {tag:#04x} is unknown, and no checksum of its header holds");
            return Err(Error::corrupt("sections", at, why));
        }
    }
    Ok(())
}

impl Base {
    /// Opens the base of a mapped file.
    pub fn open(map: Arc<Map>) -> Result<Self> {
        let len = map.len();
        let front = map
            .slice(0, len.min(header::LEN as u64))
            .unwrap_or_default();
        let header = Header::decode(front, len)?;
        let table = SectionTable::walk(header.sections(), len, |at, len| map.slice(at, len))?;
        let Some(place) = table.find(tag::IDENTITY) else {
            // One section of ours proves that amemd wrote the file: then a missing identity is damage.
            let is_ours =
                table.journal.is_some() || table.places.iter().any(|p| tag::OURS.contains(&p.tag));
            return Err(if is_ours {
                Error::corrupt("identity", header.sections(), "the section is missing")
            } else {
                Error::Foreign
            });
        };
        let section = |place: super::section::SectionPlace| Section {
            tag: place.tag,
            offset: place.offset,
            bytes: map.slice(place.offset, place.len).unwrap_or_default(),
        };
        if header.flags & (header::MUST_READ | header::MUST_WRITE) != 0 {
            check_flags(&header, front, table.find(tag::CHECKSUMS).map(section))?;
        }
        check_unknown(&table, &map, table.find(tag::CHECKSUMS).map(section))?;
        let identity = Identity::read(section(place))?;
        let settings = match table.find(tag::SETTINGS) {
            Some(place) => Settings::read(section(place))?,
            None => Settings::default(),
        };
        let mut ours = [None; OURS];
        for place in &table.places {
            if let Some(slot) = slot(place.tag).and_then(|at| ours.get_mut(at)) {
                *slot = Some(*place);
            }
        }
        Ok(Self {
            header,
            table,
            ours,
            summaries: SummaryCache::new(header.nodes),
            heads: HeadCache::new(header.nodes),
            identity,
            settings,
            map,
        })
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// What a newer version wrote that a new base of this version would lose; `None`: nothing.
    pub fn newer(&self) -> Option<String> {
        let flags = self.header.flags & header::MUST_WRITE;
        if flags != 0 {
            return Some(format!("header flags {flags:#x}"));
        }
        let mut places = self.table.places.iter();
        let is_newer = |tag: u8| tag::CARRIED.contains(&tag) && !section::is_known(tag);
        let place = places.find(|place| is_newer(place.tag))?;
        Some(format!("section {:#04x}", place.tag))
    }

    /// The sections' places.
    pub fn table(&self) -> &SectionTable {
        &self.table
    }

    /// The brain's identity.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The settings as of the base.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Position of the journal's head page, if the file has one.
    pub fn journal(&self) -> Option<u64> {
        self.table.journal
    }

    /// The number of events.
    #[inline]
    pub fn nodes(&self) -> u64 {
        self.header.nodes
    }

    /// A section of amemd; an error if it is missing.
    #[inline]
    pub fn section(&self, tag: u8) -> Result<Section<'_>> {
        let place = slot(tag).and_then(|at| *self.ours.get(at)?);
        let place = place.ok_or_else(|| {
            Error::corrupt(
                super::section::name(tag),
                self.header.sections(),
                "the section is missing",
            )
        })?;
        let bytes = self
            .map
            .slice(place.offset, place.len)
            .ok_or(Error::Truncated {
                what: super::section::name(tag),
                needed: place.offset + place.len,
                len: self.map.len(),
            })?;
        Ok(Section {
            tag,
            offset: place.offset,
            bytes,
        })
    }

    /// The record of an event below `nodes`.
    #[inline]
    pub fn record(&self, id: NodeId) -> Result<NodeRecord> {
        self.raw(id).map(RawNode::decode)
    }

    /// Checks the record of an event below `nodes`; the caller decodes its fields.
    #[inline]
    pub fn raw(&self, id: NodeId) -> Result<RawNode<'_>> {
        let at = self.record_at(id);
        let Some(bytes) = self.record_bytes(id) else {
            return Err(self.unknown(id));
        };
        RawNode::check(bytes, id, at)
    }

    /// Prefetches the record of an event.
    #[inline]
    pub(crate) fn expect(&self, id: NodeId) {
        if let Some(bytes) = self.record_bytes(id) {
            // A record may span two cache lines.
            prefetch(bytes, 0);
            prefetch(bytes, bytes.len() - 1);
        }
    }

    /// The flags of an event below `nodes`; the rest of its record is not checked.
    #[inline]
    pub fn flags(&self, id: NodeId) -> Result<Flags> {
        match self.record_bytes(id) {
            Some(bytes) => Ok(node::flags(bytes)),
            None => Err(self.unknown(id)),
        }
    }

    /// Forgotten events, as far as earlier queries have read them.
    pub(crate) fn known_forgotten(&self) -> ForgottenBits<'_> {
        self.summaries.forgotten()
    }

    /// Cached heads of events. `changes` is the number of replacements since the base that the caller knows of.
    pub fn replacements(&self, changes: u32) -> CachedHeads<'_> {
        self.heads.after(changes)
    }

    /// The peak of block `n`: events from `summary_cache::BLOCK` · `n` on, below `nodes`. The first call reads their
    /// records.
    pub fn peak(&self, n: u64) -> Result<Peak> {
        let from = n * summary_cache::BLOCK;
        let ids = from..self.header.nodes.min(from + summary_cache::BLOCK);
        self.summaries
            .peak(n, || ids.map(|id| self.raw(NodeId(id))))
    }

    /// The recorded time of an event below `nodes`; the rest of its record is not checked.
    #[inline]
    pub fn recorded(&self, id: NodeId) -> Result<Micros> {
        match self.record_bytes(id) {
            Some(bytes) => Ok(node::created_at(bytes)),
            None => Err(self.unknown(id)),
        }
    }

    /// The unchecked records of a range of events below `nodes`.
    pub fn records(&self, ids: Range<u64>) -> Result<&[[u8; node::LEN]]> {
        let count = ids.end.saturating_sub(ids.start);
        let within = ids.end <= self.header.nodes;
        let bytes = within
            .then(|| {
                self.map.slice(
                    self.record_at(NodeId(ids.start)),
                    count.saturating_mul(node::LEN as u64),
                )
            })
            .flatten();
        match bytes {
            Some(bytes) => Ok(bytes.as_chunks().0),
            None => Err(self.unknown(NodeId(ids.end))),
        }
    }

    #[inline]
    fn record_at(&self, id: NodeId) -> u64 {
        let from_table = id.0.saturating_mul(node::LEN as u64);
        self.header.node_table.saturating_add(from_table)
    }

    #[inline]
    fn record_bytes(&self, id: NodeId) -> Option<&[u8; node::LEN]> {
        if id.0 >= self.header.nodes {
            return None;
        }
        let bytes = self.map.slice(self.record_at(id), node::LEN as u64)?;
        bytes.first_chunk()
    }

    #[cold]
    fn unknown(&self, id: NodeId) -> Error {
        let count = self.header.nodes;
        Error::UnknownEvent { id, count }
    }

    /// The edge at a position of the edge table.
    #[inline]
    pub fn edge(&self, position: u64) -> Result<Edge> {
        let at = self
            .header
            .edge_table
            .saturating_add(position.saturating_mul(edge::LEN as u64));
        let bytes = (position < self.header.edges)
            .then(|| self.map.slice(at, edge::LEN as u64))
            .flatten()
            .and_then(|b| b.first_chunk())
            .ok_or_else(|| {
                Error::corrupt("edge table", at, format!("there is no edge {position}"))
            })?;
        let edge = edge::decode(bytes, at)?;
        if edge.source.0 >= self.header.nodes || edge.target.0 >= self.header.nodes {
            return Err(Error::corrupt(
                "edge record",
                at,
                "it ends at an event that is not there",
            ));
        }
        Ok(edge)
    }

    /// The text of a record.
    #[inline]
    pub fn text(&self, record: &NodeRecord) -> Result<Cow<'_, str>> {
        self.text_at(record.content_offset, record.content_len)
    }

    /// The text of a block of `len` bytes at an offset of the content.
    #[inline]
    pub fn text_at(&self, offset: u64, len: u32) -> Result<Cow<'_, str>> {
        let at = self.header.content.saturating_add(offset);
        let len = u64::from(len);
        let block = at
            .checked_add(len)
            .filter(|&end| end <= self.header.vectors)
            .and_then(|_| self.map.slice(at, len))
            .ok_or_else(|| {
                Error::corrupt(
                    "text",
                    at,
                    format!("{len} bytes reach past the content block"),
                )
            })?;
        content::decode(block, at)
    }

    /// The vector of an event below `nodes`, in place. The caller checks that it is finite.
    #[inline]
    pub fn vector(&self, id: NodeId) -> Result<&[f32]> {
        let len = u64::from(self.header.dimension) * 4;
        let at = self.header.vectors + id.0 * len;
        let bytes = self.map.slice(at, len).ok_or(Error::UnknownEvent {
            id,
            count: self.header.nodes,
        })?;
        bytemuck::try_cast_slice(bytes)
            .map_err(|_| Error::corrupt("vectors", at, "they are not aligned to 4 bytes"))
    }

    /// Prefetches the start of an event's vector.
    #[inline]
    pub(crate) fn expect_vector(&self, id: NodeId) {
        let len = u64::from(self.header.dimension) * 4;
        let at = self.header.vectors.saturating_add(id.0.saturating_mul(len));
        if let Some(bytes) = self.map.slice(at, len) {
            prefetch(bytes, 0);
            prefetch(bytes, 64);
        }
    }

    /// All vectors, in place, by event.
    pub fn vectors(&self) -> Result<&[f32]> {
        let at = self.header.vectors;
        let len = self.header.nodes * u64::from(self.header.dimension) * 4;
        let bytes = self.map.slice(at, len).ok_or(Error::Truncated {
            what: "vectors",
            needed: at + len,
            len: self.map.len(),
        })?;
        bytemuck::try_cast_slice(bytes)
            .map_err(|_| Error::corrupt("vectors", at, "they are not aligned to 4 bytes"))
    }

    /// The mapping.
    pub fn map(&self) -> &Arc<Map> {
        &self.map
    }
}

/// The index of a tag in `ours`.
#[inline]
fn slot(tag: u8) -> Option<usize> {
    tag.checked_sub(*tag::OURS.start()).map(usize::from)
}
