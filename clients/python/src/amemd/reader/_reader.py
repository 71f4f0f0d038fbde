"""Following one brain's file, and reading what it says now."""

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

from ..errors import AmemError, DamagedFile, MustDrop
from ..types import EVENT_TYPES, Edge, Event, Resolved, Session, type_name
from . import _journal
from ._base import COMPRESSED, ERASED, FORGOTTEN, HAS_ATTRIBUTES, PINNED, VECTOR, Base, as_edge
from ._bytes import Buffer, utf8
from ._graph import Graph
from ._journal import Position
from ._ops import ORIGIN, Place
from ._resolve import resolve

#: Seconds after which the path is looked at although nothing calls for it.
LOOK_EVERY = 1.0
SUPERSEDES = 3
#: Times that frames are read anew before a committed one counts as missing: another processor's stores may come late.
ATTEMPTS = 3


def _boot() -> Tuple[int, int]:
    """This run of the operating system; zeros where nobody says it."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as told:
            number = uuid.UUID(told.read().strip()).int
    except (OSError, ValueError):
        return 0, 0
    return number >> 64, number & 0xFFFFFFFFFFFFFFFF


class _Followed:
    """One generation: its file, its base, and what is applied of its journal."""

    def __init__(self, path: str, copy: bool) -> None:
        # Whatever stands there, opening does not wait for it.
        self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            about = os.fstat(self._file)
            if not stat.S_ISREG(about.st_mode):
                raise AmemError(f"{path} is no regular file")
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
            os.close(self._file)
            raise

    def _map(self) -> Buffer:
        if not self._copy:
            return mmap.mmap(self._file, 0, access=mmap.ACCESS_READ)
        with open(os.dup(self._file), "rb") as whole:
            return whole.read()

    def close(self) -> None:
        """Lets go of the file. What was lent of the mapping keeps that alive until it is let go, too."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def live(self) -> Optional[_journal.Live]:
        journal = self.graph.base.journal
        return None if journal is None else _journal.live(self.buffer, journal)

    def is_owned_now(self) -> bool:
        live, boot = self.live(), _boot()
        return live is not None and boot != (0, 0) and live.owner == (*boot, *self.id)

    def follow(self) -> None:
        """Applies what was committed since."""
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
    """A brain's file, as it is at the last `refresh`. For one thread at a time."""

    def __init__(self, path: Union[str, "os.PathLike[str]"], copy: bool = False) -> None:
        """Opens a file: maps it, or with `copy` reads it into memory, checks it and replays its journal."""
        self.path = os.fspath(path)
        self._copy = copy
        self._now = _Followed(self.path, copy)
        self._look_at = time.monotonic() + LOOK_EVERY
        self._failed: Optional[AmemError] = None
        #: Why the file under the name can't be read, and since when.
        self._unread: Optional[Tuple[float, Exception]] = None

    @property
    def lsn(self) -> int:
        """The newest commit that is shown."""
        return self._graph.lsn

    @property
    def time_micros(self) -> int:
        """Its recorded time."""
        return self._graph.time

    @property
    def instance(self) -> str:
        """The brain's instance, a UUID."""
        return str(uuid.UUID(bytes=self._graph.base.identity.instance))

    @property
    def generation(self) -> int:
        """Which base of the instance is read."""
        return self._graph.base.identity.generation

    @property
    def dimension(self) -> int:
        """Numbers in a vector; 0 for none."""
        return self._graph.base.dimension

    @property
    def is_live(self) -> bool:
        """True if a daemon owned the file when it was opened, so that `refresh` follows its commits."""
        return self._now.is_live

    @property
    def torn(self) -> Optional[str]:
        """What stands behind the last whole transaction of a file that is not live, if not zeros."""
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
        """The number of events, forgotten ones counted."""
        return self._graph.nodes

    def __enter__(self) -> "Reader":
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the file."""
        self._now.close()

    def refresh(self) -> bool:
        """Takes in what was committed since, also across checkpoints; True if there was something.

        MustDrop says that something was erased and the file that replaces this one is not to be found. Where the file
        that replaces this one can't be read, and stays so, its error is raised; what is shown is still as it was.
        """

        def stands() -> Tuple[int, int, Tuple[int, int]]:
            return self._now.graph.lsn, self._now.graph.base.identity.generation, self._now.id

        before = stands()
        live = self._now.live() if self._now.is_live else None
        hint = live is not None and (live.look or live.must_drop or live.superseded_by != 0)
        if hint or time.monotonic() >= self._look_at:
            self._look_at = time.monotonic() + LOOK_EVERY
            successor = self._successor()
            if successor is not None:
                self._now.close()
                self._now, self._failed = successor, None
            elif live is not None and live.must_drop:
                self._failed = MustDrop(f"something was erased from {self.path}, and its successor is not there")
        is_last = live is None or live.superseded_by != 0
        if self._unread is not None and is_last and time.monotonic() >= self._unread[0] + LOOK_EVERY:
            # Nothing more will come into this file.
            raise self._failed or self._unread[1]
        if self._failed is not None:
            raise self._failed
        try:
            self._now.follow()
        except DamagedFile as damage:
            # Half a commit may be applied.
            self._failed = damage
            raise
        return stands() != before

    def _successor(self) -> Optional[_Followed]:
        """What the path names now, if that is a later generation of this instance, or this file and owned by now."""
        if self._copy:
            return None
        before, self._unread = self._unread, None
        try:
            about = os.stat(self.path, follow_symlinks=False)
        except OSError:
            return None
        same = (about.st_dev, about.st_ino) == self._now.id
        if same and (self._now.is_live or not self._now.is_owned_now()):
            return None
        try:
            found = _Followed(self.path, False)
        except (OSError, AmemError) as why:
            # Whatever stands under the name now, this brain is still whole; `refresh` says it if that lasts.
            self._unread = (time.monotonic() if before is None else before[0], why)
            return None
        old, new = self._now.graph.base.identity, found.graph.base.identity
        if new.instance == old.instance and (new.generation > old.generation or same):
            return found
        found.close()
        return None

    def events(self, include_forgotten: bool = True) -> Iterator[Event]:
        """Every event by id, those of the moment of the call."""
        for id in range(len(self)):
            event = self.get(id)
            if include_forgotten or not event.forgotten:
                yield event

    def get(self, id: int, *, vectors: bool = False, edges: bool = False) -> Event:
        """An event by its id; LookupError if there is none. Its text is empty if it was erased."""
        graph = self._graph
        state = graph.state(self._known(id))
        if id < graph.base.nodes:
            record = graph.base.record(id)
            type, session, created, event_time = record.type, record.session, record.created, graph.base.event_time(id)
        else:
            new = graph.events[id - graph.base.nodes]
            type, session, created, event_time = new.type, new.session, new.created, new.event_time
        known = self.session(session) if session else None
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
            attributes=self.attributes(id),
            session_key=known.key if known else "",
            has_vector=bool(state.flags & VECTOR) and not state.flags & ERASED,
            vector=self.vector(id) if vectors else None,
            edges=self.edges(id) if edges else None,
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

    def _text_at(self, place: Place) -> str:
        return utf8(bytes(self._now.buffer[place.at : place.at + place.size]), "journal", place.at)

    def attributes(self, id: int) -> Dict[str, Any]:
        """The attributes of an event; none is an empty object. Of an erased one that is where it was merged from."""
        graph = self._graph
        state = graph.state(self._known(id))
        if not state.flags & HAS_ATTRIBUTES:
            return {}
        if state.attributes is not None:
            told = self._text_at(state.attributes)
        else:
            told = "" if state.attributes_changed or id >= graph.base.nodes else graph.base.attributes(id)
        erased = bool(state.flags & ERASED)
        try:
            known = json.loads(told) if told else {}
        except (ValueError, RecursionError) as why:
            if erased:
                return {}
            raise DamagedFile("attributes", 0, f"those of event {id}: {why}") from None
        if erased and (not isinstance(known, dict) or known.keys() != {ORIGIN}):
            return {}
        if not isinstance(known, dict):
            raise DamagedFile("attributes", 0, f"those of event {id} are no object")
        return known

    def vector(self, id: int) -> Optional[Sequence[float]]:
        """The vector of an event, lent from the mapping as a memoryview of f32; None if it has none."""
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
        lent = memoryview(self._now.buffer)[at : at + 4 * self.dimension]
        numbers: Sequence[float]
        if sys.byteorder == "little":
            numbers = lent.cast("f")
        else:
            swapped = array("f", bytes(lent))
            swapped.byteswap()
            numbers = swapped
        if not all(map(math.isfinite, numbers)):
            raise DamagedFile("vector", at, f"that of event {id} has a number that is not finite")
        return numbers

    def edges(self, id: int) -> List[Edge]:
        """The edges of an event: those that start at it by target and type, then those that end at it by source and
        type. Those to forgotten events are told as well."""
        return [
            *(as_edge(id, other, type, *value) for (other, type), value in self._ties(id, True)),
            *(as_edge(other, id, type, *value) for (other, type), value in self._ties(id, False)),
        ]

    def _ties(self, id: int, outgoing: bool) -> List[Tuple[Tuple[int, int], Tuple[float, int]]]:
        graph = self._graph
        ties: Dict[Tuple[int, int], Optional[Tuple[float, int]]] = {}
        if self._known(id) < graph.base.nodes:
            told = graph.base.outgoing(id) if outgoing else graph.base.incoming(id)
            ties = {(other, type): (weight, created) for other, type, weight, created in told}
        ties.update((graph.outgoing if outgoing else graph.incoming).get(id, {}))
        return sorted((key, value) for key, value in ties.items() if value is not None)

    def resolve(self, id: int) -> Resolved:
        """What is believed now in place of an event; LookupError if it and all that replaces it is forgotten."""

        def replacements(of: int) -> List[int]:
            return [other for (other, type), _ in self._ties(of, False) if type == SUPERSEDES]

        found = resolve(self._known(id), replacements, lambda one: not self._graph.state(one).flags & FORGOTTEN)
        if found is None:
            raise LookupError(f"event {id} is forgotten, and so is all that replaces it")
        heads, chain = found
        events = {one: self.get(one) for one in {*heads, *chain}}
        return Resolved(
            events[heads[0]], [events[one] for one in chain], [events[one] for one in heads], len(heads) > 1
        )

    def session(self, number: int) -> Optional[Session]:
        """What is known of a session; None if there is none of this number."""
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
        """Every session by number."""
        graph = self._graph
        numbers = {graph.base.session_at(place).id for place in range(graph.base.session_count())}
        found = (self.session(number) for number in sorted(numbers | set(graph.sessions)))
        return [session for session in found if session is not None]
