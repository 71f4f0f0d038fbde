"""The delta: events, states, edges and sessions that the journal adds to the base, one transaction after the other.

Operations are checked against the graph: a journal with right checksums may still be hostile. Memory grows with the
journal's bytes; texts and vectors stay in the file. Not here: reading it (`Reader`).
"""

from __future__ import annotations

import math
import struct
from typing import Dict, List, Optional, Tuple

from ..errors import DamagedFile
from . import _ops
from ._base import COMPRESSED, ERASED, FORGOTTEN, HAS_ATTRIBUTES, PINNED, VECTOR, Base
from ._bytes import EDGES_MAX, NODES_MAX, Buffer
from ._journal import Frame, Transaction
from ._ops import NewEvent, ByteRange

DAY = 86_400_000_000
#: (other end, type).
EdgeKey = Tuple[int, int]
#: Weight and recorded time of an edge, or None if it was retracted.
Value = Optional[Tuple[float, int]]


class State:
    """The mutable part of an event, as of now."""

    __slots__ = (
        "confidence",
        "flags",
        "decay_rate",
        "access_count",
        "accessed",
        "strength",
        "runs",
        "attributes",
        "vector",
        "attributes_changed",
        "vector_changed",
    )

    def __init__(
        self, confidence: float, flags: int, decay_rate: float, count: int, accessed: int, strength: float
    ) -> None:
        self.confidence = confidence
        self.flags = flags
        self.decay_rate = decay_rate
        self.access_count = count
        self.accessed = accessed
        #: Strength after the first `runs` decay runs of the journal.
        self.strength = strength
        self.runs = 0
        self.attributes: Optional[ByteRange] = None
        self.vector: Optional[ByteRange] = None
        self.attributes_changed = False
        self.vector_changed = False


class Times:
    """The times of a session that the journal has."""

    __slots__ = ("events", "first_event", "last_event", "opened", "closed", "earlier")

    def __init__(self) -> None:
        self.events: List[int] = []
        self.first_event: Optional[int] = None
        self.last_event: Optional[int] = None
        self.opened: Optional[Tuple[str, str, int]] = None
        self.closed: Optional[Tuple[str, int]] = None
        #: The spans that the journal closed by opening the session again: opened, closed, outcome.
        self.earlier: List[Tuple[int, int, str]] = []


class Graph:
    """A base and the changes in its journal."""

    def __init__(self, base: Base) -> None:
        self.base = base
        self.lsn = base.identity.lsn
        self.time = base.identity.time
        #: Events of the journal.
        self.events: List[NewEvent] = []
        self._states: Dict[int, State] = {}
        self._decays: List[Tuple[int, Tuple[float, ...]]] = []
        #: Edges that the journal added, changed or retracted, by both ends.
        self.outgoing: Dict[int, Dict[EdgeKey, Value]] = {}
        self.incoming: Dict[int, Dict[EdgeKey, Value]] = {}
        self.edge_count = base.edge_count
        self.sessions: Dict[int, Times] = {}
        self.settings: Optional[str] = None
        #: The actors that the journal names, numbered on from the base's, and the actor of each of its events.
        self._actors: List[Tuple[str, str]] = []
        self._authors: List[int] = []
        self._author = 0
        self._position = 0

    @property
    def nodes(self) -> int:
        return self.base.nodes + len(self.events)

    def apply(self, transaction: Transaction, buffer: Buffer) -> None:
        """Applies a whole transaction of a file, with one payload in memory at a time.

        After an error the graph has a part of the transaction, and must not be used any more.
        """
        if transaction.lsn <= self.lsn or transaction.time <= self.time:
            raise DamagedFile(
                "commit", transaction.frames[0].position, f"commit {transaction.lsn} does not follow {self.lsn} in time"
            )
        self._author = transaction.actor
        for frame in transaction.frames:
            self._apply_frame(frame, buffer, transaction.time)
        self.lsn, self.time = transaction.lsn, transaction.time

    def _apply_frame(self, frame: Frame, buffer: Buffer, time: int) -> None:
        self._position = frame.position
        payload = bytes(buffer[frame.position : frame.position + frame.size])

        def may_stay(json: Optional[ByteRange]) -> bool:
            """True for attributes that an erased event may have."""
            at = json.at - frame.position if json else 0
            return json is not None and _ops.is_only_origin(payload[at : at + json.size])

        for op in _ops.operations(payload, frame.position):
            if isinstance(op, NewEvent):
                erased = op.carried is not None and op.carried.flags & ERASED
                self._add(op._replace(attributes=None) if erased and not may_stay(op.attributes) else op, time)
            elif isinstance(op, _ops.Link):
                self._link(op)
            elif isinstance(op, _ops.Unlink):
                self._unlink(op)
            elif isinstance(op, _ops.Belief):
                self._believe(op)
            elif isinstance(op, _ops.SetAttributes):
                state = self._change(op.id)
                if state.flags & ERASED and not may_stay(op.json):
                    continue
                state.attributes, state.attributes_changed = op.json, True
                state.flags = state.flags & ~HAS_ATTRIBUTES | (HAS_ATTRIBUTES if op.json else 0)
            elif isinstance(op, _ops.SetVector):
                self._check_vector(op.vector)
                state = self._change(op.id)
                state.vector, state.vector_changed = op.vector, True
                state.flags = state.flags & ~VECTOR | (VECTOR if op.vector else 0)
            elif isinstance(op, _ops.Touch):
                for id, times in op.uses:
                    state = self._change(id)
                    state.access_count = min(state.access_count + times, 0xFFFFFFFF)
                    state.accessed = max(state.accessed, op.when)
            elif isinstance(op, _ops.Decay):
                self._decays.append((op.when, op.rates))
            elif isinstance(op, _ops.OpenSession):
                self._open_session(op)
            elif isinstance(op, _ops.CloseSession):
                self._times(op.session).closed = (op.outcome, op.when)
            elif isinstance(op, _ops.Settings):
                self.settings = op.json
            elif isinstance(op, _ops.Actor):
                following = self.base.actor_count() + len(self._actors) + 1
                if op.number != following:
                    raise self._bad(f"actor {op.number} where {following} is the next")
                self._actors.append((op.principal, op.agent))
            elif isinstance(op, _ops.Author):
                known = self.base.actor_count() + len(self._actors)
                if op.number > known:
                    raise self._bad(f"author {op.number} where {known} is the last actor")
                self._author = op.number
            elif isinstance(op, _ops.Erase):
                state = self._change(op.id)
                state.attributes = state.vector = None
                state.attributes_changed = state.vector_changed = True
                state.flags = state.flags & ~(VECTOR | HAS_ATTRIBUTES) | ERASED

    def _open_session(self, op: _ops.OpenSession) -> None:
        """Opens a session; one that is closed begins another span."""
        times = self._times(op.session)
        base = None if times.earlier else self.base.find_session(op.session)
        closed = times.closed
        if closed is None and base is not None and base.closed_micros is not None:
            closed = (base.outcome, base.closed_micros)
        if closed is not None:
            opened = times.opened[2] if times.opened else base.opened_micros if base else times.first_event or 0
            times.earlier.append((opened, closed[1], closed[0]))
            times.closed = None
        times.opened = (op.key, op.agent, op.when)

    def _bad(self, why: str) -> DamagedFile:
        return DamagedFile("operation", self._position, why)

    def _add(self, new: NewEvent, time: int) -> None:
        if new.id != self.nodes or new.id >= NODES_MAX:
            raise self._bad(f"event {new.id} where {self.nodes} is the next")
        if self.events:
            last = self.events[-1].created
        else:
            last = self.base.record(self.base.nodes - 1).created if self.base.nodes else new.created
        if not last <= new.created <= time:
            raise self._bad(f"event {new.id} is recorded out of order")
        self._check_vector(new.vector)
        self.events.append(new)
        self._authors.append(self._author)
        times = self._times(new.session)
        times.events.append(new.id)
        if times.first_event is None:
            times.first_event = new.created
        times.last_event = new.created
        self.state(new.id, keep=True).runs = len(self._decays)

    def author(self, id: int) -> Tuple[str, str]:
        """Principal and agent that recorded an event; both empty if unknown."""
        number = self.base.author(id) if id < self.base.nodes else self._authors[id - self.base.nodes]
        if number == 0:
            return "", ""
        known = self.base.actor_count()
        if number <= known:
            return self.base.actor(number)
        place = number - known - 1
        return self._actors[place] if place < len(self._actors) else ("", "")

    def _check_vector(self, vector: Optional[ByteRange]) -> None:
        if vector is not None and vector.size != 4 * self.base.dimension:
            raise self._bad(f"a vector of {vector.size} bytes where one has {4 * self.base.dimension}")

    def _times(self, session: int) -> Times:
        return self.sessions.setdefault(session, Times())

    def state(self, id: int, keep: bool = False) -> State:
        """The state of an event, of the base or the journal; `keep` stores it as changed."""
        known = self._states.get(id)
        if known is not None:
            return known
        if id < self.base.nodes:
            record = self.base.record(id)
            state = State(
                record.confidence,
                record.flags,
                record.decay_rate,
                record.access_count,
                record.accessed,
                record.decay_score,
            )
        else:
            new = self.events[id - self.base.nodes]
            flags = (VECTOR if new.vector else 0) | (HAS_ATTRIBUTES if new.attributes else 0)
            count, accessed, strength = 0, new.created, new.confidence
            if new.carried is not None:
                flags |= new.carried.flags & ~(VECTOR | HAS_ATTRIBUTES)
                count, accessed, strength = new.carried.access_count, new.carried.accessed, new.carried.decay_score
            state = State(new.confidence, flags, new.decay_rate, count, accessed, strength)
            state.attributes, state.vector = new.attributes, new.vector
        if keep:
            self._states[id] = state
        return state

    def type_of(self, id: int) -> int:
        return self.base.record(id).type if id < self.base.nodes else self.events[id - self.base.nodes].type

    def _change(self, id: int) -> State:
        """The state of an event about to change, with its strength after the decay runs so far."""
        if id >= self.nodes:
            raise self._bad(f"there is no event {id}")
        state = self.state(id, keep=True)
        state.strength, state.runs = self.strength(id, state), len(self._decays)
        return state

    def strength(self, id: int, state: State) -> float:
        """Strength at the last decay run, or the confidence if it was set since."""
        if state.runs == len(self._decays):
            return state.strength
        when, rates = self._decays[-1]
        if state.flags & PINNED:
            return state.confidence
        type = self.type_of(id)
        rate = state.decay_rate or rates[type if type < 6 else 0]
        days = max(when - state.accessed, 0) / DAY
        slowed = 1.0 if state.access_count == 0 else 1.0 + math.log2(1.0 + state.access_count)
        faded = state.confidence * math.exp(-rate * days / slowed)
        # The file has 32 bits.
        return float(struct.unpack("<f", struct.pack("<f", faded))[0])

    def _believe(self, op: _ops.Belief) -> None:
        state = self._change(op.id)
        if state.confidence != op.confidence:
            state.confidence = state.strength = op.confidence
        kept = VECTOR | HAS_ATTRIBUTES | ERASED
        state.flags = state.flags & kept | op.flags & (PINNED | FORGOTTEN | COMPRESSED)
        state.decay_rate = op.decay_rate

    def edge_now(self, source: int, target: int, type: int) -> Value:
        changed = self.outgoing.get(source, {})
        if (target, type) in changed:
            return changed[target, type]
        return self.base.edge(source, target, type)

    def _put_edge(self, source: int, target: int, type: int, value: Value) -> None:
        self.outgoing.setdefault(source, {})[target, type] = value
        self.incoming.setdefault(target, {})[source, type] = value

    def _check_ends(self, source: int, target: int) -> None:
        for id in (source, target):
            if id >= self.nodes:
                raise self._bad(f"there is no event {id}")

    def _link(self, op: _ops.Link) -> None:
        self._check_ends(op.source, op.target)
        if op.source == op.target:
            raise self._bad(f"event {op.source} has an edge to itself")
        before = self.edge_now(op.source, op.target, op.type)
        if before is None:
            self.edge_count += 1
            if self.edge_count > EDGES_MAX:
                raise self._bad("more edges than are allowed")
        # A new weight keeps the edge's time.
        self._put_edge(op.source, op.target, op.type, (op.weight, op.created if before is None else before[1]))

    def _unlink(self, op: _ops.Unlink) -> None:
        self._check_ends(op.source, op.target)
        if self.edge_now(op.source, op.target, op.type) is None:
            raise self._bad(f"there is no edge {op.source} {op.type} {op.target}")
        self.edge_count -= 1
        self._put_edge(op.source, op.target, op.type, None)
