"""The reader of one brain's file."""

from __future__ import annotations

import json
import math
import mmap
import os
import stat
import sys
import time
import uuid
from array import array
from types import TracebackType
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, Type, Union

from ..errors import AmemError, DamagedFile, MustDrop, Superseded
from ..types import EVENT_TYPES, Edge, Event, Resolved, Session, type_name
from . import _journal
from ._base import COMPRESSED, ERASED, FORGOTTEN, HAS_ATTRIBUTES, PINNED, VECTOR, Base, as_edge
from ._bytes import Buffer, utf8
from ._graph import Graph
from ._journal import Position
from ._ops import ORIGIN, ByteRange
from ._resolve import resolve

#: Seconds between two checks of the path without a hint in the live page.
LOOK_EVERY = 1.0
SUPERSEDES = 3
#: The attribute with the reason of a correction.
REASON = "amem.reason"
#: Reads of a committed frame before it counts as missing: another processor's stores may arrive late.
ATTEMPTS = 3


def _boot() -> Tuple[int, int]:
    """The boot id; zeros where it is unknown."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            number = uuid.UUID(file.read().strip()).int
    except (OSError, ValueError):
        return 0, 0
    return number >> 64, number & 0xFFFFFFFFFFFFFFFF


class _Followed:
    """One generation: its file, its base, and the applied part of its journal."""

    def __init__(self, path: str, copy: bool) -> None:
        #: The mappings of the file; the base reads the first one, everything else the last.
        self._maps: List[mmap.mmap] = []
        # O_NONBLOCK: opening a pipe must not wait.
        self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            about = os.fstat(self._file)
            if not stat.S_ISREG(about.st_mode):
                raise AmemError(f"{path} is not a regular file")
            self.id = (about.st_dev, about.st_ino)
            if about.st_size == 0:
                raise DamagedFile("header", 0, "the file is empty")
            self._copy = copy
            self.buffer = self._map()
            self.graph = Graph(Base(self.buffer))
            self.torn: Optional[str] = None
            self.is_live = False
            self.position: Optional[Position] = None
            journal = self.graph.base.journal
            if journal is not None:
                self.position = _journal.start(self.buffer, journal, self.graph.base.identity)
                self.is_live = not copy and self.is_owned_now()
                if self.is_live:
                    self.follow()
                else:
                    self._replay(len(self.buffer))
        except BaseException:
            self.close()
            raise

    def _map(self) -> Buffer:
        if not self._copy:
            self._maps.append(mmap.mmap(self._file, 0, access=mmap.ACCESS_READ))
            if len(self._maps) > 2:
                self._maps.pop(1).close()
            return self._maps[-1]
        with open(os.dup(self._file), "rb") as whole:
            return whole.read()

    @property
    def is_open(self) -> bool:
        return self._file >= 0

    def close(self) -> None:
        """Closes the file and its mappings; this object then holds none of its bytes."""
        if self.is_open:
            os.close(self._file)
            self._file = -1
        while self._maps:
            self._maps.pop().close()

    def live(self) -> Optional[_journal.Live]:
        journal = self.graph.base.journal
        return None if journal is None else _journal.live(self.buffer, journal)

    def is_owned_now(self) -> bool:
        live, boot = self.live(), _boot()
        return live is not None and boot != (0, 0) and live.owner == (*boot, *self.id)

    def follow(self) -> None:
        """Applies newer commits."""
        live = self.live()
        if not self.is_live or live is None or self.position is None:
            return
        for attempt in range(ATTEMPTS):
            if live.committed <= self.position.at:
                return
            if live.committed > len(self.buffer):
                self.buffer = self._map()
            self._replay(min(live.committed, len(self.buffer)))
            time.sleep(0 if attempt == 0 else 0.001)
        if self.position.at < live.committed:
            raise DamagedFile("journal", self.position.at, self.torn or "a committed frame is missing")

    def _replay(self, until: int) -> None:
        assert self.position is not None
        while True:
            transaction, self.torn = _journal.following(self.buffer, self.position, until)
            if transaction is None:
                return
            self.graph.apply(transaction, self.buffer)
            self.position = transaction.after


class Reader:
    """A brain's file, as of the last `refresh`. Not thread-safe."""

    def __init__(self, path: Union[str, "os.PathLike[str]"], copy: bool = False) -> None:
        """Opens a file: maps it, or with `copy` reads it into memory, checks it and replays its journal."""
        # Absolute, so that a change of the working directory does not change the file.
        self.path = os.path.join(os.getcwd(), path) if not os.path.isabs(path) else os.fspath(path)
        self._copy = copy
        self._now = _Followed(self.path, copy)
        self._look_at = time.monotonic() + LOOK_EVERY
        #: The error that every read raises.
        self._failed: Optional[AmemError] = None
        self._is_closed = False
        #: True while newer commits are in a file that is not at the path.
        self._is_lost = False
        #: Since when and why the file at the path cannot be read.
        self._unread: Optional[Tuple[float, Exception]] = None

    @property
    def lsn(self) -> int:
        """The LSN of the newest commit shown."""
        return self._graph.lsn

    @property
    def time_micros(self) -> int:
        """The recorded time of that commit."""
        return self._graph.time

    @property
    def instance(self) -> str:
        """The brain's instance, a UUID."""
        return str(uuid.UUID(bytes=self._graph.base.identity.instance))

    @property
    def generation(self) -> int:
        """The generation of the base."""
        return self._graph.base.identity.generation

    @property
    def dimension(self) -> int:
        """Numbers in a vector; 0 for none."""
        return self._graph.base.dimension

    @property
    def is_live(self) -> bool:
        """True if a daemon owned the file when it was opened, so that `refresh` follows its commits. False once it
        cannot: see `refresh`."""
        return self._now.is_live and self._now.is_open and not self._is_lost

    @property
    def torn(self) -> Optional[str]:
        """What follows the last whole transaction of a file that is not live; None for zeros."""
        return None if self._now.is_live else self._now.torn

    @property
    def edge_count(self) -> int:
        return self._graph.edge_count

    @property
    def _graph(self) -> Graph:
        if self._failed is not None:
            raise self._failed
        return self._now.graph

    def __len__(self) -> int:
        """The number of events, including forgotten ones."""
        return self._graph.nodes

    def __enter__(self) -> "Reader":
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file and its mapping. Later reads raise; values returned before stay valid."""
        self._now.close()
        self._is_closed = True
        self._failed = AmemError(f"the reader of {self.path} is closed")

    def refresh(self) -> bool:
        """Reads newer commits, also across checkpoints; True if there were any.

        MustDrop: something was erased and the successor of this file is not at the path; the reader has closed this
        file. Superseded: this file was replaced, and no later file of this brain can be read at the path; the reader
        still shows the old content. Both end once the successor is there. If an unreadable file lastingly replaces a
        file that no daemon owns, its error is raised.
        """
        if self._is_closed and self._failed is not None:
            raise self._failed

        def stands() -> Tuple[int, int, Tuple[int, int]]:
            return self._now.graph.lsn, self._now.graph.base.identity.generation, self._now.id

        before = stands()
        dropped = not self._now.is_open
        live = self._now.live() if self._now.is_live and not dropped else None
        hint = dropped or live is not None and (live.look or live.must_drop or live.superseded_by != 0)
        if hint or time.monotonic() >= self._look_at:
            self._look_at = time.monotonic() + LOOK_EVERY
            found, self._is_lost = self._successor(), False
            if isinstance(found, _Followed):
                self._now.close()
                self._now, self._failed = found, None
            elif live is not None and live.must_drop:
                self._now.close()
                self._failed = MustDrop(f"something was erased from {self.path}, and its successor is not at the path")
            elif live is not None and live.superseded_by and found is not None:
                # Newer commits are in a file that is not at the path.
                self._is_lost = True
                raise self._failed or Superseded(self.path, live.superseded_by, found)
        if self._unread is not None and live is None and time.monotonic() >= self._unread[0] + LOOK_EVERY:
            # This file gets no more commits.
            raise self._failed or self._unread[1]
        if self._failed is not None:
            raise self._failed
        try:
            self._now.follow()
        except DamagedFile as damage:
            # A part of a commit may be applied.
            self._failed = damage
            raise
        return stands() != before

    def _successor(self) -> Union[_Followed, str, None]:
        """The file at the path, if it is a later generation of this instance, or this file and owned by now; None if it
        is this file, unchanged; otherwise a description of the file, or why it cannot be read."""
        if self._copy:
            return None
        before, self._unread = self._unread, None
        try:
            # Follows links, as open does.
            about = os.stat(self.path)
        except OSError as why:
            return f"{type(why).__name__}: {why}"
        # The inode of a closed file may belong to another file by now.
        same = self._now.is_open and (about.st_dev, about.st_ino) == self._now.id
        if same and (self._now.is_live or not self._now.is_owned_now()):
            return None
        try:
            found = _Followed(self.path, False)
        except (OSError, AmemError) as why:
            # The brain in memory is still whole; `refresh` raises if this lasts.
            self._unread = (time.monotonic() if before is None else before[0], why)
            return f"{type(why).__name__}: {why}"
        old, new = self._now.graph.base.identity, found.graph.base.identity
        if new.instance == old.instance and (new.generation > old.generation or same):
            return found
        found.close()
        return f"generation {new.generation} is there" if new.instance == old.instance else "another brain is there"

    def events(self, include_forgotten: bool = True) -> Iterator[Event]:
        """All events by id, as of the call."""
        for id in range(len(self)):
            event = self.get(id)
            if include_forgotten or not event.forgotten:
                yield event

    def get(self, id: int, *, vectors: bool = False, edges: bool = False) -> Event:
        """An event by its id; LookupError if it does not exist. The text of an erased event is empty."""
        graph = self._graph
        state = graph.state(self._known(id))
        if id < graph.base.nodes:
            record = graph.base.record(id)
            type, session, created, event_time = record.type, record.session, record.created, graph.base.event_time(id)
        else:
            new = graph.events[id - graph.base.nodes]
            type, session, created, event_time = new.type, new.session, new.created, new.event_time
        known = self.session(session) if session else None
        by, agent = graph.author(id)
        own = self.attributes(id)
        reason = own.get(REASON)
        return Event(
            id=id,
            type=type_name(EVENT_TYPES, type),
            text=self.text(id),
            session=session,
            created_micros=created,
            event_micros=event_time,
            confidence=state.confidence,
            strength=graph.strength(id, state),
            decay_rate=state.decay_rate,
            access_count=state.access_count,
            accessed_micros=state.accessed,
            pinned=bool(state.flags & PINNED),
            forgotten=bool(state.flags & FORGOTTEN),
            compressed=bool(state.flags & COMPRESSED),
            erased=bool(state.flags & ERASED),
            attributes=own,
            session_key=known.key if known else "",
            has_vector=bool(state.flags & VECTOR) and not state.flags & ERASED,
            vector=self.vector(id) if vectors else None,
            edges=self.edges(id) if edges else None,
            by=by,
            agent=agent,
            reason=reason if isinstance(reason, str) else "",
        )

    def _known(self, id: int) -> int:
        if not 0 <= id < len(self):
            raise LookupError(f"there is no event {id}, only {len(self)}")
        return id

    def text(self, id: int) -> str:
        """The text of an event."""
        graph = self._graph
        if graph.state(self._known(id)).flags & ERASED:
            return ""
        if id < graph.base.nodes:
            return graph.base.text(graph.base.record(id))
        return self._text_at(graph.events[id - graph.base.nodes].text)

    def _text_at(self, place: ByteRange) -> str:
        return utf8(bytes(self._now.buffer[place.at : place.at + place.size]), "journal", place.at)

    def attributes(self, id: int) -> Dict[str, Any]:
        """The attributes of an event, or an empty object. An erased event has only the origin of a merge."""
        graph = self._graph
        state = graph.state(self._known(id))
        if not state.flags & HAS_ATTRIBUTES:
            return {}
        if state.attributes is not None:
            text = self._text_at(state.attributes)
        else:
            text = "" if state.attributes_changed or id >= graph.base.nodes else graph.base.attributes(id)
        erased = bool(state.flags & ERASED)
        try:
            known = json.loads(text) if text else {}
        except (ValueError, RecursionError) as why:
            if erased:
                return {}
            raise DamagedFile("attributes", 0, f"those of event {id}: {why}") from None
        if erased and (not isinstance(known, dict) or known.keys() != {ORIGIN}):
            return {}
        if not isinstance(known, dict):
            raise DamagedFile("attributes", 0, f"those of event {id} are not an object")
        return known

    def vector(self, id: int) -> Optional[Sequence[float]]:
        """The vector of an event as a memoryview of f32; None if it has none. It is a copy, which does not keep the
        file mapped."""
        graph = self._graph
        state = graph.state(self._known(id))
        if state.flags & ERASED or not state.flags & VECTOR:
            return None
        if state.vector is not None:
            at = state.vector.at
        elif state.vector_changed or id >= graph.base.nodes:
            return None
        else:
            at = graph.base.vector_at(id)
        data = bytes(self._now.buffer[at : at + 4 * self.dimension])
        numbers: Sequence[float]
        if sys.byteorder == "little":
            numbers = memoryview(data).cast("f")
        else:
            swapped = array("f", data)
            swapped.byteswap()
            numbers = swapped
        if not all(map(math.isfinite, numbers)):
            raise DamagedFile("vector", at, f"that of event {id} has a number that is not finite")
        return numbers

    def edges(self, id: int) -> List[Edge]:
        """The edges of an event: outgoing ones by target and type, then incoming ones by source and type. Includes
        edges to forgotten events."""
        return [
            *(as_edge(id, other, type, *value) for (other, type), value in self._adjacent(id, True)),
            *(as_edge(other, id, type, *value) for (other, type), value in self._adjacent(id, False)),
        ]

    def _adjacent(self, id: int, outgoing: bool) -> List[Tuple[Tuple[int, int], Tuple[float, int]]]:
        graph = self._graph
        edges: Dict[Tuple[int, int], Optional[Tuple[float, int]]] = {}
        if self._known(id) < graph.base.nodes:
            stored = graph.base.outgoing(id) if outgoing else graph.base.incoming(id)
            edges = {(other, type): (weight, created) for other, type, weight, created in stored}
        edges.update((graph.outgoing if outgoing else graph.incoming).get(id, {}))
        return sorted((key, value) for key, value in edges.items() if value is not None)

    def resolve(self, id: int) -> Resolved:
        """The event believed now instead of an event; LookupError if it and all its successors are forgotten."""

        def replacements(of: int) -> List[int]:
            return [other for (other, type), _ in self._adjacent(of, False) if type == SUPERSEDES]

        found = resolve(self._known(id), replacements, lambda one: not self._graph.state(one).flags & FORGOTTEN)
        if found is None:
            raise LookupError(f"event {id} and all its successors are forgotten")
        heads, chain = found
        events = {one: self.get(one) for one in {*heads, *chain}}
        return Resolved(
            events[heads[0]], [events[one] for one in chain], [events[one] for one in heads], len(heads) > 1
        )

    def session(self, number: int) -> Optional[Session]:
        """A session by its number; None if it does not exist."""
        graph = self._graph
        base, times = graph.base.find_session(number), graph.sessions.get(number)
        if times is None:
            return base
        known = base or Session(number, "", "", times.first_event or 0, False, 0, None, "")
        fields: Dict[str, Any] = dict(known.__dict__)
        if times.last_event is not None:
            fields["last_event_micros"] = max(fields["last_event_micros"], times.last_event)
        if times.opened is not None:
            key, agent, opened = times.opened
            fields.update(key=key, agent=agent, opened_micros=opened, explicit=True)
            fields["last_event_micros"] = max(fields["last_event_micros"], opened)
        if times.closed is not None:
            fields["outcome"], fields["closed_micros"] = times.closed
        return Session(**fields)

    def sessions(self) -> List[Session]:
        """All sessions, by number."""
        graph = self._graph
        numbers = {graph.base.session_at(place).id for place in range(graph.base.session_count())}
        found = (self.session(number) for number in sorted(numbers | set(graph.sessions)))
        return [session for session in found if session is not None]
