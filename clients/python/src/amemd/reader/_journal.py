"""The journal: the head page, the live page, and the frames behind them as whole transactions.

Promises: a frame counts only if its chained checksum is right and its LSN follows the previous one; a transaction
counts only whole. Not here: what a transaction does (`_graph`).
"""

from __future__ import annotations

import struct
import sys
from typing import List, NamedTuple, Optional, Tuple

from ..errors import DamagedFile, NewerFile
from ._base import PAGE, JOURNAL_LENGTH, Identity
from ._bytes import FRAME_BYTES_MAX, TRANSACTION_BYTES_MAX, Buffer, Span
from ._xxh3 import xxh3_64

FRAME_HEADER = 40
KINDS = 19
#: The top bit of the cell `committed`.
LOOK = 1 << 63


class Position(NamedTuple):
    """A position in the journal, with the state to continue from it."""

    at: int
    lsn: int
    checksum: int


class Frame(NamedTuple):
    """The position of a payload in the file: a transaction may be too large for memory."""

    position: int
    size: int


class Transaction(NamedTuple):
    """The frames of one commit."""

    lsn: int
    time: int
    frames: List[Frame]
    after: Position
    actor: int = 0


class Live(NamedTuple):
    """The cells of the live page."""

    committed: int
    look: bool
    owner: Tuple[int, int, int, int]
    superseded_by: int
    must_drop: bool


def start(buffer: Buffer, at: int, identity: Identity) -> Position:
    """Checks the head page; returns the position of the first frame."""
    if at + 2 * PAGE > len(buffer):
        raise DamagedFile("journal", at, "its head page or live page is cut off")
    head = Span(buffer, "journal head", at, PAGE)
    tag, length, magic, lineage, instance, generation, lsn, _, epoch, checksum = head.read("<BQ7x8s16s16sQQqQQ", 0)
    if tag != 0x7F or length != JOURNAL_LENGTH or magic != b"AMEMJRNL":
        raise head.bad(0, "its tag, length or magic is wrong")
    if checksum != xxh3_64(head.slice(0, 88), 0):
        raise head.bad(88, "its checksum is wrong")
    if (lineage, instance, generation, lsn) != (identity.lineage, identity.instance, identity.generation, identity.lsn):
        raise head.bad(24, "it belongs to another base")
    return Position(at + 2 * PAGE, lsn, xxh3_64(instance + struct.pack("<QQ", generation, epoch), 0))


def live(buffer: Buffer, at: int) -> Live:
    """Reads the live page of the journal at a position.

    Each cell is loaded at once: a native format copies its 8 aligned bytes, where "<Q" puts them together one by one
    and can mix an old and a new value.
    """

    def cell(offset: int) -> int:
        value = int(struct.unpack_from("Q", buffer, at + PAGE + offset)[0])
        return value if sys.byteorder == "little" else int.from_bytes(value.to_bytes(8, "big"), "little")

    committed = cell(0)
    owner = (cell(64), cell(72), cell(80), cell(88))
    return Live(committed & ~LOOK, bool(committed & LOOK), owner, cell(128), cell(192) != 0)


def following(buffer: Buffer, position: Position, until: int) -> Tuple[Optional[Transaction], Optional[str]]:
    """The transaction at a position, or None and, unless zeros follow, the reason."""
    frames: List[Frame] = []
    at, total, shared = position, 0, None
    while True:
        if at.at + FRAME_HEADER > until:
            rest = bytes(buffer[at.at : until])
            torn = "a frame's header is cut short" if any(rest) else None
            return None, "a transaction is incomplete" if frames and not torn else torn
        front = bytes(buffer[at.at : at.at + FRAME_HEADER])
        if not any(front):
            return None, "a transaction is incomplete" if frames else None
        size, kind, more, zero, lsn, time, actor, zeros, checksum = struct.unpack("<IBBHQqIIQ", front)
        end = at.at + (FRAME_HEADER + size + 7 & ~7)
        if FRAME_HEADER + size > FRAME_BYTES_MAX or end > until:
            return None, f"a frame claims {size} bytes of payload"
        payload = bytes(buffer[at.at + FRAME_HEADER : at.at + FRAME_HEADER + size])
        if checksum != xxh3_64(front[:32] + payload, at.checksum):
            return None, "a frame's checksum is wrong"
        if lsn != at.lsn + 1:
            return None, f"a frame has LSN {lsn}, {at.lsn + 1} should follow"
        # No checksum covers the padding.
        if any(buffer[at.at + FRAME_HEADER + size : end]):
            return None, "the padding of a frame is not zero"
        if zero or zeros or not 1 <= kind <= KINDS or more > 1:
            what = f"a frame of kind {kind}, more {more} or with reserved bytes that are not zero"
            raise NewerFile("journal", at.at, what)
        # Headers count: memory holds an entry for each frame, even an empty one.
        total += end - at.at
        if total > TRANSACTION_BYTES_MAX:
            raise DamagedFile("transaction", at.at, "longer than the limit")
        if more and not size:
            raise DamagedFile("transaction", at.at, "it continues after an empty frame")
        if shared not in (None, (kind, actor, time)):
            raise DamagedFile("transaction", at.at, "its frames disagree")
        shared = (kind, actor, time)
        frames.append(Frame(at.at + FRAME_HEADER, size))
        at = Position(end, lsn, checksum)
        if not more:
            return Transaction(lsn, time, frames, at, actor), None
