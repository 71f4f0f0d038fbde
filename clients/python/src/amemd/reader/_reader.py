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

from ..errors import AmemError, DamagedFile, MustDrop, Superseded
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
        #: Every mapping of the file that is not let go of yet; the base reads the first one, all else the last.
        self._maps: List[mmap.mmap] = []
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
        """Lets go of the file and of all that is mapped of it: who still holds this object holds none of its bytes."""
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
        # What it names is followed for as long as the reader lives, wherever the process goes.
        self.path = os.path.join(os.getcwd(), path) if not os.path.isabs(path) else os.fspath(path)
        self._copy = copy
        self._now = _Followed(self.path, copy)
        self._look_at = time.monotonic() + LOOK_EVERY
        #: Why nothing may be read.
        self._failed: Optional[AmemError] = None
        self._is_closed = False
        #: True while what was committed since is in a file that is not to be found.
        self._is_lost = False
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
        """True if a daemon owned the file when it was opened, so that `refresh` follows its commits. False once that
        can't be done: see `refresh`."""
        return self._now.is_live and self._now.is_open and not self._is_lost

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
        """Lets go of the file and its mapping. Nothing can be read of it then; what was read stays as it is."""
        self._now.close()
        self._is_closed = True
        self._failed = AmemError(f"the reader of {self.path} is closed")

    def refresh(self) -> bool:
        """Takes in what was committed since, also across checkpoints; True if there was something.

        MustDrop says that something was erased and the file that replaces this one is not to be found: this one is let
        go of. Superseded says that this file was replaced, and no later one of this brain can be read under the path;
        what is shown is still as it was. Either passes once such a file is there. Where a file that no daemon owns is
        replaced by one that can't be read, and stays so, that one's error is raised.
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
                self._failed = MustDrop(f"something was erased from {self.path}, and its successor is not there")
            elif live is not None and live.superseded_by and found is not None:
                # What is committed since is in a file that we can't find.
                self._is_lost = True
                raise self._failed or Superseded(self.path, live.superseded_by, found)
        if self._unread is not None and live is None and time.monotonic() >= self._unread[0] + LOOK_EVERY:
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

    def _successor(self) -> Union[_Followed, str, None]:
        """What the path names now, if that is a later generation of this instance, or this file and owned by now; None
        if it is this file as it was; else what stands there, or why it can't be read."""
        if self._copy:
            return None
        before, self._unread = self._unread, None
        try:
            # Of the file that a link leads to, as it is opened.
            about = os.stat(self.path)
        except OSError as why:
            return f"{type(why).__name__}: {why}"
        # The inode of a file that was let go of may be another file's by now.
        same = self._now.is_open and (about.st_dev, about.st_ino) == self._now.id
        if same and (self._now.is_live or not self._now.is_owned_now()):
            return None
        try:
            found = _Followed(self.path, False)
        except (OSError, AmemError) as why:
            # Whatever stands under the name now, this brain is still whole; `refresh` says it if that lasts.
            self._unread = (time.monotonic() if before is None else before[0], why)
            return f"{type(why).__name__}: {why}"
        old, new = self._now.graph.base.identity, found.graph.base.identity
        if new.instance == old.instance and (new.generation > old.generation or same):
            return found
        found.close()
        return f"generation {new.generation} is there" if new.instance == old.instance else "another brain is there"

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
        """The vector of an event as a memoryview of f32, of its own: nothing that is given out keeps the file mapped.
        None if it has none."""
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
        told = bytes(self._now.buffer[at : at + 4 * self.dimension])
        numbers: Sequence[float]
        if sys.byteorder == "little":
            numbers = memoryview(told).cast("f")
        else:
            swapped = array("f", told)
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
