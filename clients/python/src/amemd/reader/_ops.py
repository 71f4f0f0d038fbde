"""The operations of a payload, decoded and checked (docs/FORMAT.md, "Operations").

Operations from 0x80 on are of newer versions and may be skipped; any other unknown one is refused: its effect would be
missing.
"""

from __future__ import annotations

import json
from typing import Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple, Union

from ..errors import NewerFile
from . import _bytes as limits
from ._bytes import Cursor


#: Operations from this code on have their length behind the code, and may be skipped.
SKIPPED_CODES = 0x80

#: The attribute with the origin of a merged event.
ORIGIN = "amem.origin"


class ByteRange(NamedTuple):
    """A range of bytes in the file."""

    at: int
    size: int


class Carried(NamedTuple):
    flags: int
    access_count: int
    accessed: int
    decay_score: float


class NewEvent(NamedTuple):
    id: int
    type: int
    session: int
    created: int
    confidence: float
    decay_rate: float
    text: ByteRange
    event_time: Optional[int]
    attributes: Optional[ByteRange]
    vector: Optional[ByteRange]
    carried: Optional[Carried]


class Link(NamedTuple):
    source: int
    target: int
    type: int
    weight: float
    created: int


class Unlink(NamedTuple):
    source: int
    target: int
    type: int


class Belief(NamedTuple):
    id: int
    confidence: float
    flags: int
    decay_rate: float


class SetAttributes(NamedTuple):
    id: int
    json: Optional[ByteRange]


class SetVector(NamedTuple):
    id: int
    vector: Optional[ByteRange]


class Touch(NamedTuple):
    when: int
    uses: List[Tuple[int, int]]


class Decay(NamedTuple):
    when: int
    rates: Tuple[float, ...]


class OpenSession(NamedTuple):
    session: int
    when: int
    key: str
    agent: str


class CloseSession(NamedTuple):
    session: int
    when: int
    outcome: str


class Settings(NamedTuple):
    json: str


class Erase(NamedTuple):
    id: int


class Actor(NamedTuple):
    number: int
    principal: str
    agent: str


class Author(NamedTuple):
    """The actor that recorded the events that follow."""

    number: int


class Bookkeeping(NamedTuple):
    """A request, or when a value was changed in another brain; a reader shows neither."""

    code: int


Op = Union[
    NewEvent,
    Link,
    Unlink,
    Belief,
    SetAttributes,
    SetVector,
    Touch,
    Decay,
    OpenSession,
    CloseSession,
    Settings,
    Erase,
    Actor,
    Author,
    Bookkeeping,
]


def _text(c: Cursor, size_max: int) -> ByteRange:
    at = c.position + 4
    return ByteRange(at, len(c.text(size_max).encode()))


def _vector(c: Cursor) -> ByteRange:
    size = c.u32()
    if size % 4 or size > 4 * limits.DIMENSION_MAX:
        raise c.bad(f"a vector of {size} bytes")
    c.align(4)
    at = c.position
    c.take(size)
    return ByteRange(at, size)


def _some(place: ByteRange) -> Optional[ByteRange]:
    return place if place.size else None


def _event(c: Cursor) -> Op:
    id, type, has, session, created = c.u64(), c.u8(), c.u8(), c.u32(), c.i64()
    if has > 15:
        raise c.bad(f"an event with unknown fields {has:#x}")
    confidence, rate = c.unit(), c.rate()
    text = _text(c, limits.TEXT_BYTES_MAX)
    event_time = c.i64() if has & 1 else None
    attributes = _some(_text(c, limits.ATTRIBUTES_BYTES_MAX + limits.ORIGIN_BYTES_MAX)) if has & 2 else None
    vector = _some(_vector(c)) if has & 4 else None
    carried = Carried(c.u8(), c.u32(), c.i64(), c.f32()) if has & 8 else None
    return NewEvent(id, type, session, created, confidence, rate, text, event_time, attributes, vector, carried)


def _touch(c: Cursor) -> Op:
    when, packed = c.i64(), c.blob(limits.FRAME_BYTES_MAX)
    if len(packed) % 12:
        raise c.bad("the entries of a touch are incomplete")
    entries = Cursor(packed, "touch", c.position - len(packed))
    return Touch(when, [(entries.u64(), entries.u32()) for _ in range(len(packed) // 12)])


def _actor(c: Cursor) -> Op:
    return Actor(c.u32(), c.text(limits.NAME_BYTES_MAX), c.text(limits.NAME_BYTES_MAX))


def _request(c: Cursor) -> Op:
    c.take(32), c.blob(limits.ANSWER_BYTES_MAX)
    return Bookkeeping(13)


def _stamp(c: Cursor, code: int, size: int) -> Op:
    c.take(size)
    return Bookkeeping(code)


_DECODERS: Dict[int, Callable[[Cursor], Op]] = {
    1: _event,
    2: lambda c: Link(c.u64(), c.u64(), c.u8(), c.unit(), c.i64()),
    3: lambda c: Unlink(c.u64(), c.u64(), c.u8()),
    4: lambda c: Belief(c.u64(), c.unit(), c.u8(), c.rate()),
    5: lambda c: SetAttributes(c.u64(), _some(_text(c, limits.ATTRIBUTES_BYTES_MAX + limits.ORIGIN_BYTES_MAX))),
    6: lambda c: SetVector(c.u64(), _some(_vector(c))),
    7: _touch,
    8: lambda c: Decay(c.i64(), tuple(c.rate() for _ in range(6))),
    9: lambda c: OpenSession(c.u32(), c.i64(), c.text(limits.NAME_BYTES_MAX), c.text(limits.NAME_BYTES_MAX)),
    10: lambda c: CloseSession(c.u32(), c.i64(), c.text(limits.OUTCOME_BYTES_MAX)),
    11: lambda c: Settings(c.text(limits.SETTINGS_BYTES_MAX)),
    12: _actor,
    13: _request,
    14: lambda c: Erase(c.u64()),
    15: lambda c: Author(c.u32()),
    16: lambda c: _stamp(c, 16, 17),
    17: lambda c: _stamp(c, 17, 25),
    18: lambda c: _stamp(c, 18, 12),
}


def is_only_origin(data: bytes) -> bool:
    """True if attributes have the origin of a merge and nothing else, as those of an erased event may."""
    try:
        known = json.loads(data)
    except (ValueError, RecursionError):
        return False
    return isinstance(known, dict) and known.keys() == {ORIGIN}


def operations(payload: bytes, position: int) -> Iterator[Op]:
    """The operations of a payload at a position in the file."""
    c = Cursor(payload, "operation", position)
    while not c.is_empty():
        code = c.u8()
        decode = _DECODERS.get(code)
        if decode is None:
            if code < SKIPPED_CODES:
                raise NewerFile("operation", c.position, f"operation {code}")
            c.take(c.u32())
            continue
        yield decode(c)
