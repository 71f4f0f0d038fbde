"""LZ4 blocks, from their public specification (doc/lz4_Block_format.md of the LZ4 project).

Promises: the claimed size is checked against the bound and the compressed bytes before any allocation, and the output
never exceeds it.
"""

from __future__ import annotations

from typing import Tuple

#: Maximum of decompressed bytes for one compressed byte.
EXPANSION_MAX = 255
#: Added to the encoded length of a match.
_MATCH_MIN = 4


class BadBlock(ValueError):
    """Not an LZ4 block, or not of the claimed size."""


def _length(packed: bytes, at: int, nibble: int) -> Tuple[int, int]:
    """A length that begins with four bits, and the position after it."""
    if nibble < 15:
        return nibble, at
    while True:
        if at >= len(packed):
            raise BadBlock("a length is cut short")
        byte = packed[at]
        nibble, at = nibble + byte, at + 1
        if byte != 255:
            return nibble, at


def decompress(packed: bytes, size: int, size_max: int) -> bytes:
    """The `size` bytes of a block."""
    if size > size_max or size > len(packed) * EXPANSION_MAX:
        raise BadBlock(f"{len(packed)} compressed bytes claim to be {size}")
    out = bytearray()
    at = 0
    while at < len(packed):
        token = packed[at]
        count, at = _length(packed, at + 1, token >> 4)
        if at + count > len(packed) or len(out) + count > size:
            raise BadBlock("literals reach past the end")
        out += packed[at : at + count]
        at += count
        if at == len(packed):
            # The last sequence has no match.
            break
        if at + 2 > len(packed):
            raise BadBlock("an offset is cut short")
        distance = packed[at] | packed[at + 1] << 8
        count, at = _length(packed, at + 2, token & 15)
        count += _MATCH_MIN
        if distance == 0 or distance > len(out):
            raise BadBlock("a match reaches before the text")
        if len(out) + count > size:
            raise BadBlock("a match reaches past the end")
        if distance >= count:
            start = len(out) - distance
            out += out[start : start + count]
        else:
            # The match overlaps its own output: a repeating pattern.
            pattern = bytes(out[-distance:])
            out += (pattern * (count // distance + 1))[:count]
    if len(out) != size:
        raise BadBlock(f"{len(out)} bytes claim to be {size}")
    return bytes(out)
