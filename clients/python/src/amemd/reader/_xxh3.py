"""XXH3-64 with a seed, from its public specification (doc/xxhash_spec.md of the xxHash project).

Some 20 MB/s in Python; uses the package `xxhash` where it is installed.
"""

from __future__ import annotations

from typing import Callable, List

_M32 = 0xFFFFFFFF
_M64 = 0xFFFFFFFFFFFFFFFF
_P32 = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
_P64 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
_MX1, _MX2 = 0x165667919E3779F9, 0x9FB21C651E98DF25
_SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
_STRIPE = 64
_STRIPES_OF_BLOCK = (len(_SECRET) - _STRIPE) // 8


def _u32(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "little")


def _u64(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 8], "little")


def _fold(a: int, b: int) -> int:
    product = a * b
    return (product ^ product >> 64) & _M64


def _avalanche(h: int) -> int:
    h ^= h >> 37
    h = h * _MX1 & _M64
    return h ^ h >> 32


def _avalanche_64(h: int) -> int:
    h ^= h >> 33
    h = h * _P64[1] & _M64
    h ^= h >> 29
    h = h * _P64[2] & _M64
    return h ^ h >> 32


def _rotate(h: int, bits: int) -> int:
    return (h << bits | h >> 64 - bits) & _M64


def _mix(data: bytes, at: int, secret_at: int, seed: int) -> int:
    return _fold(
        _u64(data, at) ^ (_u64(_SECRET, secret_at) + seed & _M64),
        _u64(data, at + 8) ^ (_u64(_SECRET, secret_at + 8) - seed & _M64),
    )


def _short(data: bytes, seed: int) -> int:
    """At most 16 bytes."""
    size = len(data)
    if size == 0:
        return _avalanche_64(seed ^ _u64(_SECRET, 56) ^ _u64(_SECRET, 64))
    if size <= 3:
        combined = data[0] << 16 | data[size >> 1] << 24 | data[-1] | size << 8
        return _avalanche_64(combined ^ ((_u32(_SECRET, 0) ^ _u32(_SECRET, 4)) + seed & _M64))
    if size <= 8:
        seed ^= int.from_bytes((seed & _M32).to_bytes(4, "little"), "big") << 32
        h = _u32(data, size - 4) + (_u32(data, 0) << 32) & _M64
        h ^= (_u64(_SECRET, 8) ^ _u64(_SECRET, 16)) - seed & _M64
        h ^= _rotate(h, 49) ^ _rotate(h, 24)
        h = h * _MX2 & _M64
        h ^= (h >> 35) + size
        h = h * _MX2 & _M64
        return h ^ h >> 28
    low = _u64(data, 0) ^ ((_u64(_SECRET, 24) ^ _u64(_SECRET, 32)) + seed & _M64)
    high = _u64(data, size - 8) ^ ((_u64(_SECRET, 40) ^ _u64(_SECRET, 48)) - seed & _M64)
    swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
    return _avalanche(size + swapped + high + _fold(low, high) & _M64)


def _middle(data: bytes, seed: int) -> int:
    """17 to 240 bytes."""
    size = len(data)
    total = size * _P64[0]
    if size <= 128:
        for i in reversed(range((size - 1) // 32 + 1)):
            total += _mix(data, 16 * i, 32 * i, seed) + _mix(data, size - 16 * (i + 1), 32 * i + 16, seed)
        return _avalanche(total & _M64)
    for i in range(8):
        total += _mix(data, 16 * i, 16 * i, seed)
    total = _avalanche(total & _M64)
    for i in range(8, size // 16):
        total += _mix(data, 16 * i, 16 * (i - 8) + 3, seed)
    return _avalanche(total + _mix(data, size - 16, 136 - 17, seed) & _M64)


def _accumulate(lanes: List[int], data: bytes, at: int, keys: List[int]) -> None:
    for i in range(8):
        value = int.from_bytes(data[at + 8 * i : at + 8 * i + 8], "little")
        mixed = value ^ keys[i]
        lanes[i ^ 1] += value
        lanes[i] = lanes[i] + (mixed & _M32) * (mixed >> 32) & _M64


def _long(data: bytes, seed: int) -> int:
    """More than 240 bytes."""
    size = len(data)
    secret = b"".join(
        (_u64(_SECRET, at) + (seed if at % 16 == 0 else -seed) & _M64).to_bytes(8, "little")
        for at in range(0, len(_SECRET), 8)
    )

    def keys(at: int) -> List[int]:
        return [_u64(secret, at + 8 * i) for i in range(8)]

    of_stripes = [keys(8 * n) for n in range(_STRIPES_OF_BLOCK)]
    of_scramble = keys(len(_SECRET) - _STRIPE)
    lanes = [_P32[2], _P64[0], _P64[1], _P64[2], _P64[3], _P32[1], _P64[4], _P32[0]]
    block = _STRIPE * _STRIPES_OF_BLOCK
    whole = (size - 1) // block
    for start in range(0, whole * block, block):
        for n in range(_STRIPES_OF_BLOCK):
            _accumulate(lanes, data, start + _STRIPE * n, of_stripes[n])
        for i in range(8):
            lane = lanes[i] & _M64
            lanes[i] = (lane ^ lane >> 47 ^ of_scramble[i]) * _P32[0] & _M64
    for n in range((size - 1 - whole * block) // _STRIPE):
        _accumulate(lanes, data, whole * block + _STRIPE * n, of_stripes[n])
    _accumulate(lanes, data, size - _STRIPE, keys(len(_SECRET) - _STRIPE - 7))
    total = size * _P64[0]
    for i in range(4):
        total += _fold(
            lanes[2 * i] & _M64 ^ _u64(secret, 11 + 16 * i), lanes[2 * i + 1] & _M64 ^ _u64(secret, 19 + 16 * i)
        )
    return _avalanche(total & _M64)


def xxh3_64_of_python(data: bytes, seed: int = 0) -> int:
    """XXH3-64 in plain Python."""
    if len(data) <= 16:
        return _short(data, seed)
    return _middle(data, seed) if len(data) <= 240 else _long(data, seed)


def _fastest() -> Callable[[bytes, int], int]:
    try:
        import xxhash
    except ImportError:
        return xxh3_64_of_python
    fast: Callable[[bytes, int], int] = xxhash.xxh3_64_intdigest
    return fast


#: XXH3-64 of bytes, with a seed.
xxh3_64 = _fastest()
