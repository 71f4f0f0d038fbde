"""The base of a brain's file: the part that never changes (docs/FORMAT.md, from "Header" to "Sections").

Opening checks the header, the section table and the identity; every access checks bounds and numbers. Not here: the
journal (`_journal`, `_graph`), and sections that are indexes.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from ..errors import DamagedFile, NewerFile
from ..types import Edge, Session, EDGE_TYPES, type_name
from . import _lz4
from ._bytes import (
    ATTRIBUTES_BYTES_MAX,
    DIMENSION_MAX,
    EDGES_MAX,
    NAME_BYTES_MAX,
    NODES_MAX,
    ORIGIN_BYTES_MAX,
    SECTIONS_MAX,
    TEXT_BYTES_MAX,
    Array,
    Buffer,
    Span,
    bisect,
    utf8,
)

#: Header flags of what a reader must know; this one knows none.
MUST_READ = 0x00FF0000
HEADER = 64
NODE = 72
EDGE = 32
PAGE = 4096
IDENTITY, SESSIONS, ATTRIBUTES, EVENT_TIMES, ADJACENCY, PADDING, JOURNAL = 0x41, 0x43, 0x45, 0x46, 0x4B, 0x40, 0x7F
ACTORS, KINDS, AUTHORS, SPANS = 0x44, 0x4C, 0x58, 0x59
NAMES = {
    IDENTITY: "identity",
    SESSIONS: "sessions",
    ACTORS: "actors",
    AUTHORS: "authors",
    ATTRIBUTES: "attributes",
    EVENT_TIMES: "event times",
    ADJACENCY: "adjacency",
    KINDS: "kinds",
    SPANS: "spans",
    JOURNAL: "journal",
}
JOURNAL_LENGTH = 1 << 62

#: The type of episodes.
EPISODE = 5
VECTOR, HAS_ATTRIBUTES, PINNED, FORGOTTEN, COMPRESSED, ERASED = 1, 2, 4, 8, 16, 32


class Record(NamedTuple):
    """A record of the node table."""

    type: int
    flags: int
    created: int
    session: int
    confidence: float
    access_count: int
    accessed: int
    decay_score: float
    content_at: int
    content_size: int
    decay_rate: float


@dataclass(frozen=True)
class Identity:
    """The identity section."""

    lineage: bytes
    instance: bytes
    generation: int
    lsn: int
    time: int


class Base:
    """The base of a mapped file."""

    def __init__(self, buffer: Buffer) -> None:
        self._buffer = buffer
        if bytes(buffer[:4]) != b"AMEM":
            raise DamagedFile("header", 0, "it does not begin with AMEM")
        header = Span(buffer, "header", 0, HEADER)
        self.dimension: int
        self.nodes: int
        self.edge_count: int
        version, self.dimension, flags, self.nodes, self.edge_count = header.read("<IIIQQ", 4)
        if version != 1:
            raise DamagedFile("header", 4, f"version {version}, not 1")
        if flags & MUST_READ:
            raise NewerFile("header", 12, f"header flags {flags:#x}")
        self._node_table: int
        self._edge_table: int
        self._content: int
        self._vectors: int
        self._node_table, self._edge_table, self._content, self._vectors = header.read("<QQQQ", 32)
        self._check(len(buffer))
        self._sections: Dict[int, Tuple[int, int]] = {}
        #: Position of the journal's head page; None without a journal.
        self.journal: Optional[int] = None
        self._walk(self._vectors + 4 * self.dimension * self.nodes)
        if IDENTITY not in self._sections:
            raise DamagedFile("identity", self._vectors, "the section is missing: amemd did not write this file")
        own = self.section(IDENTITY)
        self.identity = Identity(own.slice(0, 16), own.slice(16, 16), own.u64(32), own.u64(40), own.i64(48))
        self._opened: Dict[int, Tuple[Array, ...]] = {}

    def _check(self, size: int) -> None:
        for what, at, number, most in (
            ("dimension", 8, self.dimension, DIMENSION_MAX),
            ("number of events", 16, self.nodes, NODES_MAX),
            ("number of edges", 24, self.edge_count, EDGES_MAX),
        ):
            if number > most:
                raise DamagedFile("header", at, f"the {what} is {number}, at most {most} is allowed")
        free_from = HEADER
        for what, at, start, length in (
            ("node table", 32, self._node_table, NODE * self.nodes),
            ("edge table", 40, self._edge_table, EDGE * self.edge_count),
            ("content block", 48, self._content, self._vectors - self._content),
            ("vectors", 56, self._vectors, 4 * self.dimension * self.nodes),
        ):
            if length < 0 or start < free_from or start + length > size:
                raise DamagedFile(
                    what, at, f"it begins at {start} and takes {length} bytes of {size}, {free_from} taken"
                )
            free_from = start + length

    def _walk(self, at: int) -> None:
        """Finds the sections. Skips unknown ones, as the format requires."""
        size = len(self._buffer)
        while at < size:
            tag, length = Span(self._buffer, "section header", at, 9).read("<BQ", 0)
            if tag == JOURNAL:
                if length != JOURNAL_LENGTH or at % PAGE:
                    raise DamagedFile("journal", at, "its length field or alignment is wrong")
                self.journal = at
                return
            start = at + 9
            if start + length > size:
                raise DamagedFile(
                    NAMES.get(tag, f"section {tag:#x}"), at, f"{length} bytes reach past the file's {size}"
                )
            if tag != PADDING:
                if tag in self._sections or len(self._sections) == SECTIONS_MAX:
                    raise DamagedFile(f"section {tag:#x}", at, "it occurs twice, or there are too many")
                self._sections[tag] = (start, length)
            at = start + length

    def section(self, tag: int) -> Span:
        if tag not in self._sections:
            raise DamagedFile(NAMES[tag], self._vectors, "the section is missing")
        start, length = self._sections[tag]
        return Span(self._buffer, NAMES[tag], start, length)

    def record(self, id: int) -> Record:
        """The record of an event below `nodes`."""
        at = self._node_table + NODE * id
        own, type, flags, created, session, confidence, count, accessed, score, content, size = struct.unpack_from(
            "<QBBxxQIfIQfQI", self._buffer, at
        )
        (rate,) = struct.unpack_from("<f", self._buffer, at + 68)
        if own != id:
            raise DamagedFile("node record", at, f"it says that it is event {own}")
        if not (math.isfinite(confidence) and math.isfinite(score) and math.isfinite(rate)):
            raise DamagedFile("node record", at, "a number that is not finite")
        if (created | accessed) >> 63:
            raise DamagedFile("node record", at, "a time past the year 294,000")
        return Record(type, flags, created, session, confidence, count, accessed, score, content, size, rate)

    def text(self, record: Record) -> str:
        at, size = self._content + record.content_at, record.content_size
        if size == 0:
            return ""
        if at + size > self._vectors or size < 5:
            raise DamagedFile("text", at, f"{size} bytes are not a block, or reach past the content block")
        block = Span(self._buffer, "text", at, size)
        try:
            text = _lz4.decompress(block.slice(4, size - 4), block.u32(0), TEXT_BYTES_MAX)
        except _lz4.BadBlock as why:
            raise DamagedFile("text", at, str(why)) from None
        return utf8(text, "text", at)

    def vector_at(self, id: int) -> int:
        return self._vectors + 4 * self.dimension * id

    def _arrays(self, tag: int) -> Tuple[Array, ...]:
        """The arrays of a section, cached."""
        if tag not in self._opened:
            find = {ATTRIBUTES: self._find_attributes, EVENT_TIMES: self._find_times, ADJACENCY: self._find_edges}
            self._opened[tag] = find[tag](self.section(tag))
        return self._opened[tag]

    def _find_attributes(self, own: Span) -> Tuple[Array, ...]:
        count = own.u64(0)
        starts = own.array("<Q", 8, count + 1)
        return starts, own.array("<I", 8 + 8 * (count + 1), count)

    def attributes(self, id: int) -> str:
        """The attributes of an event that has some, as JSON."""
        starts, ids = self._arrays(ATTRIBUTES)
        place = bisect(ids, id)
        if place == len(ids) or ids[place] != id:
            return ""
        own, start, end = self.section(ATTRIBUTES), starts[place], starts[place + 1]
        if end - start > ATTRIBUTES_BYTES_MAX + ORIGIN_BYTES_MAX:
            raise own.bad(8, f"the attributes of event {id} take {end - start} bytes")
        return own.text(8 + 8 * len(starts) + 4 * len(ids) + start, end - start)

    def _find_times(self, own: Span) -> Tuple[Array, ...]:
        count = own.u64(0)
        if own.u64(8) != self.nodes or count > self.nodes:
            raise own.bad(0, f"it does not have the brain's {self.nodes} events")
        return own.array("<q", 16, count), own.array("<I", 16 + 8 * (count + (self.nodes if count else 0)), count)

    def event_time(self, id: int) -> Optional[int]:
        times, ids = self._arrays(EVENT_TIMES)
        place = bisect(ids, id)
        return int(times[place]) if place < len(ids) and ids[place] == id else None

    def actor_count(self) -> int:
        return self.section(ACTORS).u64(0)

    def actor(self, number: int) -> Tuple[str, str]:
        """Principal and agent of an actor of the base, from 1."""
        own = self.section(ACTORS)
        places = own.read("<IIII", 16 * number - 8)
        texts = 8 + 16 * own.u64(0)
        if max(places[1], places[3]) > NAME_BYTES_MAX:
            raise own.bad(16 * number - 8, f"actor {number} has a name past the limit")
        return own.text(texts + places[0], places[1]), own.text(texts + places[2], places[3])

    def author(self, id: int) -> int:
        """The actor that recorded an event of the base; 0 if unknown. Files of earlier versions do not say it."""
        if AUTHORS not in self._sections:
            return 0
        own = self.section(AUTHORS)
        if own.u64(0) != self.nodes:
            raise own.bad(0, f"it does not have the brain's {self.nodes} events")
        return own.u32(16 + 4 * id)

    def _find_edges(self, own: Span) -> Tuple[Array, ...]:
        n, m = self.nodes, self.edge_count
        if own.u64(0) != n or own.u64(8) != m:
            raise own.bad(0, f"it does not have the brain's {n} events and {m} edges")
        lists = 16 + 8 * (n + 1)
        return (
            own.array("<I", 16, n + 1),
            own.array("<I", 16 + 4 * (n + 1), n + 1),
            own.array("<I", lists, m),
            own.array("<I", lists + 4 * m, m),
            own.array("<B", lists + 8 * m, m),
            own.array("<B", lists + 9 * m, m),
        )

    def _range(self, starts: Array, id: int) -> range:
        first, end = starts[id], starts[id + 1]
        if first > end or end > self.edge_count:
            raise DamagedFile("adjacency", self.section(ADJACENCY).start, f"the edges of event {id} run backwards")
        return range(first, end)

    def outgoing(self, id: int) -> List[Tuple[int, int, float, int]]:
        """Target, type, weight and time of the edges that start at an event of the base."""
        return [self._edge(place, id) for place in self._range(self._arrays(ADJACENCY)[0], id)]

    def incoming(self, id: int) -> List[Tuple[int, int, float, int]]:
        """Source, type, weight and time of the edges that end at an event of the base."""
        _, starts, _, sources, _, types = self._arrays(ADJACENCY)
        found = []
        for place in self._range(starts, id):
            source, type = sources[place], types[place]
            edge = self.edge(source, id, type)
            if edge is None:
                raise DamagedFile(
                    "adjacency", self.section(ADJACENCY).start, f"edge {source} {type} {id} is in one list only"
                )
            found.append((source, type, *edge))
        return found

    def edge(self, source: int, target: int, type: int) -> Optional[Tuple[float, int]]:
        """Weight and time of one edge of the base."""
        if source >= self.nodes or target >= self.nodes:
            return None
        starts, _, targets, _, types, _ = self._arrays(ADJACENCY)
        places = self._range(starts, source)
        for place in range(bisect(targets, target, places.start, places.stop), places.stop):
            if targets[place] != target:
                break
            if types[place] == type:
                return self._edge(place, source)[2:]
        return None

    def _edge(self, place: int, source: int) -> Tuple[int, int, float, int]:
        at = self._edge_table + EDGE * place
        start, target, type, weight, created = struct.unpack_from("<QQBxxxfQ", self._buffer, at)
        if start != source or target >= self.nodes or not math.isfinite(weight) or created >> 63:
            why = "it belongs to another event, leads to no event, or has a number out of range"
            raise DamagedFile("edge record", at, why)
        return target, type, weight, created

    def session_count(self) -> int:
        own = self.section(SESSIONS)
        count = own.u64(0)
        if own.u64(8) != self.nodes or 16 + 72 * count + 4 + 4 * self.nodes > own.size:
            raise own.bad(0, f"{count} sessions and {own.u64(8)} events do not fit")
        return count

    def session_at(self, place: int) -> Session:
        """The session at a place, in order of number."""
        count, own = self.session_count(), self.section(SESSIONS)
        if place >= count:
            raise own.bad(0, f"there is no session at place {place}")
        number, flags, opened, last, closed, texts, key, agent, outcome = own.read("<IIqqqQIII", 16 + 64 * place)
        at = 16 + 72 * count + 4 + 4 * self.nodes + texts
        return Session(
            id=number,
            key=own.text(at, key),
            agent=own.text(at + key, agent),
            opened_micros=opened,
            explicit=bool(flags & 1),
            last_event_micros=last,
            closed_micros=closed if flags & 2 else None,
            outcome=own.text(at + key + agent, outcome),
        )

    def find_session(self, number: int) -> Optional[Session]:
        place = self._session_place(number)
        return None if place is None else self.session_at(place)

    def _session_place(self, number: int) -> Optional[int]:
        own, end = self.section(SESSIONS), self.session_count()
        place = _first(own, 16, 64, end, number)
        return place if place < end and own.u32(16 + 64 * place) == number else None

    def session_members(self, number: int) -> Sequence[int]:
        """The events of a session, ascending."""
        place, own = self._session_place(number), self.section(SESSIONS)
        if place is None:
            return ()
        count = self.session_count()
        start, end = own.read("<II", 16 + 68 * count + 4 * place)
        if not start <= end <= self.nodes:
            raise own.bad(16 + 68 * count, f"the events of session {number} reach past {self.nodes}")
        return own.read(f"<{end - start}I", 16 + 72 * count + 4 + 4 * start)

    def spans(self, number: int) -> List[Tuple[int, int, str]]:
        """The earlier spans of a session that was opened again: opened, closed, outcome. Older files have none."""
        if SPANS not in self._sections:
            return []
        own = self.section(SPANS)
        count = own.u64(0)
        found: List[Tuple[int, int, str]] = []
        if 8 + 40 * count > own.size:
            raise own.bad(0, f"{count} spans do not fit")
        for place in range(_first(own, 8, 40, count, number), count):
            session, _, opened, closed, at, size = own.read("<IIqqQI", 8 + 40 * place)
            if session != number:
                break
            found.append((opened, closed, own.text(8 + 40 * count + at, size)))
        return found

    def episodes(self) -> Sequence[int]:
        """The events of the type episode, ascending."""
        own = self.section(KINDS)
        start, end = own.read("<II", 8 + 4 * EPISODE)
        if not start <= end <= self.nodes:
            raise own.bad(8, f"the episodes reach past {self.nodes} events")
        return own.read(f"<{end - start}I", 8 + 4 * 257 + 4 * start)


def _first(own: Span, start: int, size: int, count: int, number: int) -> int:
    """The first record whose session is at least `number`; each begins with its session."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if own.u32(start + size * middle) < number:
            low = middle + 1
        else:
            high = middle
    return low


def as_edge(source: int, target: int, type: int, weight: float, created: int) -> Edge:
    return Edge(source, target, type_name(EDGE_TYPES, type), weight, created)
