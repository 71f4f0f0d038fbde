"""Brains' files that a test makes without a daemon: a base without events, and a journal with one event a frame.

What a daemon does to a file that it owns is done here by hand: `publish` gives a file its name, `tell` sets a cell of
its live page. Not here: what a reader must make of it (`test_package`).
"""

import os
import struct
import uuid
from pathlib import Path

from amemd.reader._xxh3 import xxh3_64

JOURNAL = 4096
LIVE = JOURNAL + 4096
#: Cells of the live page.
COMMITTED, OWNER, SUPERSEDED_BY, MUST_DROP = 0, 64, 128, 192


def brain(texts, generation=1, instance=b"i" * 16):
    """The bytes of a file whose events have these texts, each with the vector (1, 2)."""
    lineage, at = b"l" * 16, 64
    base = struct.pack("<4sIIIQQQQQQ", b"AMEM", 1, 2, 0, 0, 0, at, at, at, at)
    base += struct.pack("<BQ16s16sQQq", 0x41, 56, lineage, instance, generation, 0, 0)
    base += struct.pack("<BQ", 0x40, JOURNAL - len(base) - 9)
    head = struct.pack("<BQ7x8s16s16sQQqQ", 0x7F, 1 << 62, b"AMEMJRNL", lineage, instance, generation, 0, 0, 5)
    head += struct.pack("<Q", xxh3_64(head, 0))
    data = base.ljust(JOURNAL, b"\0") + head.ljust(4096, b"\0") + bytes(4096)
    checksum = xxh3_64(instance + struct.pack("<QQ", generation, 5), 0)
    for id, text in enumerate(texts):
        payload = struct.pack("<BQBBIqff", 1, id, 0, 4, 0, id + 1, 1, 0)
        payload += struct.pack("<I", len(text)) + text.encode() + struct.pack("<I", 8)
        payload += bytes(-len(payload) % 4) + struct.pack("<ff", 1, 2)
        front = struct.pack("<IBBHQqII", len(payload), 1, 0, 0, id + 1, id + 1, 0, 0)
        checksum = xxh3_64(front + payload, checksum)
        data += front + struct.pack("<Q", checksum) + payload + bytes(-len(payload) % 8)
    return data


def tell(path, cell, *values):
    """Sets cells of a file's live page."""
    with open(path, "r+b") as file:
        file.seek(LIVE + cell)
        file.write(struct.pack(f"<{len(values)}Q", *values))


def own(path, data):
    """Writes a file as a running daemon's, all of it committed; into the existing inode, if any."""
    with open(path, "r+b" if os.path.exists(path) else "xb") as file:
        file.write(data)
    boot = uuid.UUID(Path("/proc/sys/kernel/random/boot_id").read_text().strip()).int
    about = os.stat(path)
    tell(path, OWNER, boot >> 64, boot & 2**64 - 1, about.st_dev, about.st_ino)
    tell(path, COMMITTED, len(data))


def publish(path, data):
    """Gives the name to a new file, as a checkpoint does."""
    new = f"{path}.new"
    own(new, data)
    os.replace(new, path)


def is_held(inode):
    """True if this process has the file open or mapped, as the daemon checks after an erase."""
    for number in os.listdir("/proc/self/fd"):
        try:
            if os.stat(f"/proc/self/fd/{number}").st_ino == inode:
                return True
        except OSError:
            pass
    return any(line.split()[4] == str(inode) for line in Path("/proc/self/maps").read_text().splitlines())
