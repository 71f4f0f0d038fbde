"""Hostile files: whatever is done to a brain's bytes, the reader raises DamagedFile or reads the file, within limits.

    python hostile.py --target unix:/path/to/amemd.sock

The daemon creates a brain; the test damages copies of its file: it flips bits, enlarges numbers, truncates the file,
and repairs the checksums of the journal's frames, as an attacker can. Some files claim a running daemon as their owner,
and a wrong length. On a failure the exit code is 1, and the output has the seed and the error.
"""

import argparse
import os
import random
import struct
import sys
import tempfile
import time
import tracemalloc
import uuid
from pathlib import Path

from amemd import AmemError, DamagedFile, MustDrop, New, connect
from amemd.reader import Reader
from amemd.reader._xxh3 import xxh3_64

parser = argparse.ArgumentParser(description="files that lie")
parser.add_argument("--target", required=True, help="unix:/path or host:port")
parser.add_argument("--token", help="what TCP asks for")
parser.add_argument("--rounds", type=int, default=600)
args = parser.parse_args()

#: Maximum time for one file, in seconds.
PATIENCE = 10.0
#: Maximum memory for one file, in bytes.
ROOM = 64 << 20


def make():
    """The bytes of a brain with every feature, in its base and in its journal."""
    with connect(args.target, token=args.token, agent="hostile") as client:
        brain = client.brain("hostile", create=True, dimension=3)
        for words in ("in the base", "in the journal"):
            with brain.session(words) as session:
                seen = New("fact", f"seen {words}", session=session.id, attributes={"n": 1}, vector=[1, 2, 3])
                long = New("fact", f"again and again {words} " * 30, supports=[seen])
                first, *_ = brain.add_many([seen, long, New("decision", f"chosen {words}", caused_by=[long, seen])])
            corrected = brain.correct(first, f"corrected {words}")
            brain.set_attributes(first, {"n": 2})
            brain.set_vector(first, [4, 5, 6])
            brain.pin(corrected)
            brain.touch([first, corrected])
            brain.decay()
            brain.set_settings({"fading_below": 0.5})
            brain.forget(corrected)
            brain.link(0, "related-to", 2)
            brain.unlink(0, "related-to", 2)
            if words == "in the base":
                brain.checkpoint()
        whole = Path(brain.file).read_bytes()
        # One page of the space for future frames is enough.
        at = journal(whole)
        return whole[: frames(whole, at)[-1][1] + 4096]


def read_all(path):
    """Calls every read of a reader."""
    with Reader(path) as reader:
        for event in reader.events():
            reader.edges(event.id)
            reader.vector(event.id)
            try:
                reader.resolve(event.id)
            except LookupError:
                pass
        reader.sessions()
        reader.refresh()
        return len(reader)


def journal(data):
    """The position of the journal."""
    for at in range(0, len(data), 4096):
        if data[at] == 0x7F and data[at + 16 : at + 24] == b"AMEMJRNL":
            return at
    raise SystemExit("the brain has no journal")


def chained(data, at):
    """Gives every frame its right checksum."""
    head = data[at : at + 4096]
    checksum = xxh3_64(bytes(head[40:64] + head[80:88]), 0)
    at += 8192
    while at + 40 <= len(data):
        (size,) = struct.unpack_from("<I", data, at)
        end = at + (40 + size + 7 & ~7)
        if not any(data[at : at + 40]) or end > len(data):
            return
        checksum = xxh3_64(bytes(data[at : at + 32] + data[at + 40 : at + 40 + size]), checksum)
        struct.pack_into("<Q", data, at + 32, checksum)
        at = end


def frames(data, at):
    """The payloads of the journal's frames, as ranges."""
    found, at = [], at + 8192
    while at + 40 <= len(data) and any(data[at : at + 40]):
        (size,) = struct.unpack_from("<I", data, at)
        found.append((at + 40, at + 40 + size))
        at += 40 + size + 7 & ~7
    return found


def changed(whole, at, chance):
    """The bytes, damaged at random."""
    data = bytearray(whole)
    payloads = frames(data, at)
    kind = chance.randrange(6)
    if kind == 0:
        return data[: chance.randrange(len(data))]
    if kind == 1:
        where = chance.choice([range(64), range(at), range(at, at + 96), range(at + 8192, payloads[-1][1])])
    elif kind == 2:
        # The sections' headers and the numbers at their beginnings.
        marks = [i for i in range(64, at) if data[i] in range(0x41, 0x60) and data[i + 4 : i + 9] == bytes(5)]
        where = range(chance.choice(marks), at)[:40]
    else:
        where = range(*chance.choice(payloads))
    for _ in range(chance.choice([1, 1, 1, 3])):
        place = chance.choice(where)
        if chance.random() < 0.5:
            data[place] ^= 1 << chance.randrange(8)
        else:
            number = chance.choice([0, 1, 0xFF, 0xFFFF, 2**31, 2**32 - 1, 2**63 - 1, 2**64 - 1, len(data)])
            form = chance.choice(["<I", "<Q"])
            at_most = struct.calcsize(form)
            if place + at_most <= len(data):
                struct.pack_into(form, data, place, number % 2 ** (8 * at_most))
    if kind > 2:
        chained(data, at)
    return data


def owned(path, data, at, chance):
    """Marks a file as owned by a running daemon, with a random `committed`."""
    boot = uuid.UUID(Path("/proc/sys/kernel/random/boot_id").read_text().strip()).int
    about = os.stat(path)
    ends = [end for _, end in frames(data, at)] or [at + 8192]
    places = [
        0,
        at,
        chance.choice(ends) + 7 & ~7,
        chance.choice(ends) - chance.randrange(40),
        len(data),
        len(data) + 4096,
    ]
    committed = chance.choice([*places, 2**62, 2**63 - 1])
    live = bytearray(256)
    struct.pack_into("<Q", live, 0, committed | chance.choice([0, 1 << 63]))
    struct.pack_into("<4Q", live, 64, boot >> 64, boot & 2**64 - 1, about.st_dev, about.st_ino)
    struct.pack_into("<Q", live, 128, chance.choice([0, 0, 2**63]))
    struct.pack_into("<Q", live, 192, chance.choice([0, 0, 0, 1]))
    with open(path, "r+b") as file:
        file.seek(at + 4096)
        file.write(live)


def main():
    whole = make()
    at = journal(whole)
    again = bytearray(whole)
    chained(again, at)
    assert again == whole, "right checksums are not those of the file"
    refused = read = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "hostile.amem")
        Path(path).write_bytes(whole)
        events = read_all(path)
        assert events > 2, f"only {events} events to lie about"
        tracemalloc.start()
        for seed in range(args.rounds):
            chance = random.Random(seed)
            data = whole if seed % 8 == 0 else changed(whole, at, chance)
            Path(path).write_bytes(data)
            is_owned = seed % 4 == 0
            if is_owned:
                owned(path, data, at, chance)
            began = time.monotonic()
            tracemalloc.reset_peak()
            try:
                read_all(path)
                read += 1
            except DamagedFile as damage:
                assert damage.part and damage.why and damage.position >= 0, repr(damage)
                refused += 1
            except MustDrop:
                assert is_owned, "a copy that must be dropped"
                refused += 1
            except Exception as why:
                kind = "an error of another kind" if isinstance(why, AmemError) else "no error of ours"
                sys.exit(f"FAILED: seed {seed}: {kind}: {why!r}")
            took, peak = time.monotonic() - began, tracemalloc.get_traced_memory()[1]
            if took > PATIENCE or peak > ROOM:
                sys.exit(f"FAILED: seed {seed}: {took:.1f} s, {peak} bytes of memory")
    assert refused > args.rounds // 10 and read > args.rounds // 10, (refused, read)
    print(f"{args.rounds} files that lie: {refused} refused as damaged, {read} read, none hung")


main()
