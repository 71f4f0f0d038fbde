"""Checked access to the bytes of a file, and the limits of docs/FORMAT.md.

Promises: an access outside of the bytes raises DamagedFile with its position, never anything else.
Not promised: *truncating* a mapped file ends the processes that read it (SIGBUS); copy files that you do not trust.
"""

from __future__ import annotations

import math
import struct
from typing import Any, Sequence, Tuple, Union

from ..errors import DamagedFile

NODES_MAX = 4294967294
EDGES_MAX = 4294967294
TEXT_BYTES_MAX = 1048576
ATTRIBUTES_BYTES_MAX = 65536
ORIGIN_BYTES_MAX = 2048
DIMENSION_MAX = 4096
FRAME_BYTES_MAX = 16777216
TRANSACTION_BYTES_MAX = 2147483648
NAME_BYTES_MAX = 256
OUTCOME_BYTES_MAX = 4096
SETTINGS_BYTES_MAX = 65536
ANSWER_BYTES_MAX = 1048576
SECTIONS_MAX = 256

Buffer = Union[bytes, Any]


class Span:
    """A range of a buffer that is one part of the file; positions in it count from its first byte."""

    __slots__ = ("_buffer", "part", "start", "size")

    def __init__(self, buffer: Buffer, part: str, start: int, size: int) -> None:
        if start < 0 or size < 0 or start + size > len(buffer):
            raise DamagedFile(part, start, f"{size} bytes reach past the file's {len(buffer)}")
        self._buffer = buffer
        self.part = part
        self.start = start
        self.size = size

    def bad(self, at: int, why: str) -> DamagedFile:
        return DamagedFile(self.part, self.start + at, why)

    def slice(self, at: int, size: int) -> bytes:
        if at < 0 or size < 0 or at + size > self.size:
            raise self.bad(at, f"{size} bytes reach past its {self.size}")
        return bytes(self._buffer[self.start + at : self.start + at + size])

    def read(self, form: str, at: int) -> Tuple[Any, ...]:
        """Numbers by a format of `struct`."""
        if at < 0 or at + struct.calcsize(form) > self.size:
            raise self.bad(at, f"a field reaches past its {self.size} bytes")
        return struct.unpack_from(form, self._buffer, self.start + at)

    def u32(self, at: int) -> int:
        return int(self.read("<I", at)[0])

    def u64(self, at: int) -> int:
        return int(self.read("<Q", at)[0])

    def i64(self, at: int) -> int:
        return int(self.read("<q", at)[0])

    def text(self, at: int, size: int) -> str:
        return utf8(self.slice(at, size), self.part, self.start + at)

    def array(self, form: str, at: int, count: int) -> "Array":
        return Array(self, form, at, count)


class Array(Sequence[int]):
    """An array of numbers, read in place."""

    __slots__ = ("_span", "_form", "_at", "_size", "_count")

    def __init__(self, span: Span, form: str, at: int, count: int) -> None:
        self._size = struct.calcsize(form)
        if at + self._size * count > span.size:
            raise span.bad(at, f"{count} numbers reach past its {span.size} bytes")
        self._span, self._form, self._at, self._count = span, form, at, count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        if not 0 <= index < self._count:
            raise self._span.bad(self._at, f"index {index} of {self._count}")
        return self._span.read(self._form, self._at + self._size * index)[0]


class Cursor:
    """Decodes consecutive fields."""

    __slots__ = ("_bytes", "_at", "_position", "_part")

    def __init__(self, data: bytes, part: str, position: int) -> None:
        self._bytes, self._part, self._position, self._at = data, part, position, 0

    @property
    def position(self) -> int:
        """The position of the next field in the file."""
        return self._position + self._at

    def is_empty(self) -> bool:
        return self._at == len(self._bytes)

    def bad(self, why: str) -> DamagedFile:
        return DamagedFile(self._part, self.position, why)

    def take(self, size: int) -> bytes:
        end = self._at + size
        if end > len(self._bytes):
            raise self.bad(f"a field of {size} bytes, {len(self._bytes) - self._at} are left")
        taken = self._bytes[self._at : end]
        self._at = end
        return taken

    def number(self, form: str) -> int:
        return int(struct.unpack(form, self.take(struct.calcsize(form)))[0])

    def u8(self) -> int:
        return self.take(1)[0]

    def u32(self) -> int:
        return self.number("<I")

    def u64(self) -> int:
        return self.number("<Q")

    def i64(self) -> int:
        return self.number("<q")

    def f32(self) -> float:
        value = float(struct.unpack("<f", self.take(4))[0])
        if not math.isfinite(value):
            raise self.bad("a number that is not finite")
        return value

    def unit(self) -> float:
        value = self.f32()
        if not 0.0 <= value <= 1.0:
            raise self.bad(f"{value} is not within 0 to 1")
        return value

    def rate(self) -> float:
        value = self.f32()
        if value < 0.0:
            raise self.bad(f"{value} is not a rate")
        return value

    def blob(self, size_max: int) -> bytes:
        size = self.u32()
        if size > size_max:
            raise self.bad(f"{size} bytes, at most {size_max} are allowed")
        return self.take(size)

    def text(self, size_max: int) -> str:
        at = self.position + 4
        return utf8(self.blob(size_max), self._part, at)

    def align(self, to: int) -> None:
        self.take(-self._at % to)


def utf8(data: bytes, part: str, position: int) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as why:
        raise DamagedFile(part, position + why.start, "it is not UTF-8") from None


def bisect(numbers: Array, wanted: int, start: int = 0, end: "int | None" = None) -> int:
    """The first index in ascending numbers whose number is at least the wanted one."""
    low, high = start, len(numbers) if end is None else end
    while low < high:
        middle = (low + high) // 2
        if numbers[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low
