"""The package alone, without a daemon: hashes, blocks, targets, conversions, files that are not what they must
be, and what takes a file's place."""

import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import time
import tracemalloc
import unittest
import uuid
from datetime import datetime, timedelta, timezone
from pathlib import Path
from unittest import mock

import grpc

import amemd
import made
from amemd import _call, _convert, _wire, client
from amemd.errors import refused
from amemd.reader import _graph, _journal, _lz4, _ops, _xxh3
from amemd.types import EVENT_TYPES, to_datetime, to_micros, type_name, type_number


class Checksums(unittest.TestCase):
    #: Of the test vectors of the xxHash project's own tests: bytes of its generator, length, seed, hash.
    VECTORS = [
        (0, 0, 0x2D06800538D394C2),
        (0, 0x9E3779B185EBCA8D, 0xA8A6B918B2F0364A),
        (1, 0, 0xC44BDFF4074EECDB),
        (1, 0x9E3779B185EBCA8D, 0x032BE332DD766EF8),
        (6, 0, 0x27B56A84CD2D7325),
        (6, 0x9E3779B185EBCA8D, 0x84589C116AB59AB9),
        (12, 0, 0xA713DAF0DFBB77E7),
        (12, 0x9E3779B185EBCA8D, 0xE7303E1B2336DE0E),
        (24, 0, 0xA3FE70BF9D3510EB),
        (24, 0x9E3779B185EBCA8D, 0x850E80FC35BDD690),
        (48, 0, 0x397DA259ECBA1F11),
        (48, 0x9E3779B185EBCA8D, 0xADC2CBAA44ACC616),
        (80, 0, 0xBCDEFBBB2C47C90A),
        (80, 0x9E3779B185EBCA8D, 0xC6DD0CB699532E73),
        (195, 0, 0xCD94217EE362EC3A),
        (195, 0x9E3779B185EBCA8D, 0xBA68003D370CB3D9),
        (403, 0, 0xCDEB804D65C6DEA4),
        (403, 0x9E3779B185EBCA8D, 0x6259F6ECFD6443FD),
        (512, 0, 0x617E49599013CB6B),
        (512, 0x9E3779B185EBCA8D, 0x3CE457DE14C27708),
        (2048, 0, 0xDD59E2C3A5F038E0),
        (2048, 0x9E3779B185EBCA8D, 0x66F81670669ABABC),
        (2240, 0, 0x6E73A90539CF2948),
        (2240, 0x9E3779B185EBCA8D, 0x757BA8487D1B5247),
    ]

    def test_hashes_are_those_of_the_specification(self):
        state, data = 0x9E3779B1, bytearray()
        for _ in range(2240):
            data.append(state >> 56)
            state = state * 0x9E3779B185EBCA8D % 2**64
        for size, seed, expected in self.VECTORS:
            with self.subTest(size=size, seed=seed):
                self.assertEqual(_xxh3.xxh3_64_of_python(bytes(data[:size]), seed), expected)

    def test_the_fast_hash_is_the_same_where_there_is_one(self):
        chance = random.Random(7)
        for size in [*range(300), 1023, 1024, 1025, 4096, 5000]:
            data, seed = chance.randbytes(size), chance.getrandbits(64)
            self.assertEqual(_xxh3.xxh3_64(data, seed), _xxh3.xxh3_64_of_python(data, seed), size)


class Blocks(unittest.TestCase):
    def test_literals_and_matches_are_unpacked(self):
        rows = [
            (b"\x30abc", b"abc"),
            # Three letters, then four from three back: an overlap; then one letter.
            (b"\x30abc\x03\x00\x10d", b"abcabcad"),
            (b"\x1fx\x01\x00\x0a\x00", b"x" * 30),
            (b"\xf0\x01" + b"y" * 16, b"y" * 16),
        ]
        for packed, expected in rows:
            self.assertEqual(_lz4.decompress(packed, len(expected), 1000), expected)

    def test_a_bad_block_is_reported_and_allocates_little(self):
        rows = [
            (b"\x1f\x00\x00\x00\x00", 2**32 - 1),
            (b"\x30ab", 3),
            (b"\x30abc\x04\x00\x00", 7),
            (b"\x30abc\x00\x00\x00", 7),
            (b"\x30abc\x03", 7),
            (b"\xf0", 20),
            (b"\x30abc", 2),
            (b"\x30abc", 4),
            (b"\x1fA\x01\x00" + b"\xff" * 50, 900),
        ]
        for packed, size in rows:
            with self.subTest(packed=packed), self.assertRaises(_lz4.BadBlock):
                _lz4.decompress(packed, size, 1 << 20)

    def test_chance_is_refused_or_of_the_claimed_size(self):
        chance = random.Random(3)
        for _ in range(2000):
            packed, size = chance.randbytes(chance.randrange(40)), chance.randrange(300)
            try:
                self.assertEqual(len(_lz4.decompress(packed, size, 1 << 20)), size)
            except _lz4.BadBlock:
                pass


class Conversions(unittest.TestCase):
    def test_times_keep_every_microsecond(self):
        for micros in (0, -1, 1, 1935817689123456, -14182939999999):
            self.assertEqual(to_micros(to_datetime(micros)), micros)
        zone = timezone(timedelta(hours=5, minutes=30))
        self.assertEqual(to_micros(datetime(1970, 1, 1, 5, 30, tzinfo=zone)), 0)
        with self.assertRaisesRegex(ValueError, "time zone"):
            to_micros(datetime(2020, 1, 1))
        self.assertEqual(_convert.timestamp(to_datetime(-1)), {"seconds": -1, "nanos": 999999000})

    def test_types_without_a_name_keep_their_number(self):
        self.assertEqual(type_name(EVENT_TYPES, 200), "type-200")
        self.assertEqual(type_number(EVENT_TYPES, "type-200"), 200)
        for name in ("type-256", "type-", "facts", ""):
            with self.assertRaises(ValueError):
                type_number(EVENT_TYPES, name)

    def test_an_edge_out_of_the_batch_is_refused_before_anything_is_sent(self):
        brain = amemd.Brain.__new__(amemd.Brain)
        with self.assertRaisesRegex(ValueError, "not in the batch"):
            brain.add_many([amemd.New("fact", "a", caused_by=amemd.New("fact", "b"))])

    def test_the_kinds_of_commits_have_the_names_of_the_format(self):
        self.assertEqual(
            [_wire.enum_name("CommitKind", n) for n in (1, 12, 99)], ["ingest", "set-vector", "CommitKind-99"]
        )

    def test_the_messages_are_in_a_pool_of_their_own(self):
        from google.protobuf import descriptor_pool

        with self.assertRaises(KeyError):
            descriptor_pool.Default().FindFileByName("amem/v1/types.proto")
        self.assertNotIn("amem", sys.modules)

    def test_attributes_are_json_and_nothing_else(self):
        self.assertEqual(json.loads(_convert.attributes({"ä": 2**64 - 1})), {"ä": 2**64 - 1})
        with self.assertRaises(ValueError):
            _convert.attributes({"x": float("nan")})


class Refusals(unittest.TestCase):
    def test_error_info_is_found_among_the_details_and_bad_bytes_are_none(self):
        def field(number, data):
            return bytes([number << 3 | 2, len(data)]) + data

        entry = field(1, b"oldest_after_lsn") + field(2, b"7")
        info = field(1, b"COMMITS_GONE") + field(2, b"amem.v1") + field(3, entry)
        other = field(3, field(1, b"type.googleapis.com/google.rpc.DebugInfo") + field(2, b"x"))
        detail = field(3, field(1, b"type.googleapis.com/google.rpc.ErrorInfo") + field(2, info))
        status = b"\x08\x0b" + field(2, b"gone") + other + detail
        self.assertEqual(_wire.error_info(status), ("COMMITS_GONE", {"oldest_after_lsn": "7"}))
        for end in range(len(status)):
            _wire.error_info(status[:end])
        chance = random.Random(5)
        for _ in range(2000):
            _wire.error_info(chance.randbytes(chance.randrange(60)))

    def test_only_what_passes_is_tried_again(self):
        rows = [
            ("UNAVAILABLE", "RECOVERING", True),
            ("RESOURCE_EXHAUSTED", "QUEUE_FULL", True),
            ("RESOURCE_EXHAUSTED", "LOAD", True),
            ("RESOURCE_EXHAUSTED", "DISK_FULL", False),
            ("ABORTED", "CONDITION", False),
            ("DEADLINE_EXCEEDED", "", False),
        ]
        for code, reason, passes in rows:
            self.assertEqual(_call.is_passing(refused(code, reason, "")), passes, reason)

    def test_a_write_whose_outcome_is_unknown_says_its_request_id(self):
        class Lost(grpc.RpcError):
            def code(self):
                return grpc.StatusCode.UNAVAILABLE

            def details(self):
                return "lost"

            def trailing_metadata(self):
                return ()

        sent = []

        class Channel:
            def unary_unary(self, path, **how):
                def call(message, **options):
                    sent.append(message.options.request_id)
                    raise Lost()

                return call

        caller = _call.Caller("unix:/nowhere/s", lambda target: Channel(), None, 1, 0.2)
        brain = amemd.Brain.__new__(amemd.Brain)
        brain._caller, brain.name, brain.agent = caller, "b", "a"
        with self.assertRaises(amemd.Unavailable) as caught:
            brain.forget(1)
        self.assertGreater(len(sent), 1)
        self.assertEqual({caught.exception.metadata["request_id"]}, set(sent))

    def test_request_ids_are_of_version_7_and_of_now(self):
        one = uuid.UUID(amemd.new_request_id())
        self.assertEqual((one.version, one.variant), (7, uuid.RFC_4122))
        self.assertLess(abs((one.int >> 80) - time.time() * 1000), 5000)
        self.assertEqual(len({amemd.new_request_id() for _ in range(1000)}), 1000)


class Targets(unittest.TestCase):
    def test_the_default_target_is_the_named_one_else_the_first_that_accepts(self):
        self.assertEqual(amemd.default_target({"AMEMD_SOCKET": "/s"}), "unix:/s")
        self.assertEqual(amemd.default_target({"AMEMD_ADDRESS": "h:1", "AMEMD_SOCKET": ""}), "h:1")
        with self.assertRaises(ValueError):
            amemd.default_target({"AMEMD_ADDRESS": "h:1", "AMEMD_SOCKET": "/s"})

    def test_a_token_of_a_file_is_taken_for_an_address(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("secret\n")
            file.flush()
            with mock.patch.dict(
                os.environ, {"AMEMD_ADDRESS": "127.0.0.1:9", "AMEMD_TOKEN_FILE": file.name, "AMEMD_SOCKET": ""}
            ):
                with mock.patch.object(client._meet, "address"), amemd.connect() as made:
                    self.assertEqual(made._caller.metadata, [("authorization", "Bearer secret")])
                os.chmod(file.name, 0o640)
                with self.assertRaisesRegex(PermissionError, "its mode is 0640.*chmod 600"):
                    amemd.connect()

    def test_a_token_goes_to_another_machine_by_tls_or_not_at_all(self):
        here = ["/s", "unix:/s", "localhost:1", "LOCALHOST", "127.0.0.1:1", "127.8.9.1", "[::1]:1", "dns:///localhost:1"]
        here += ["[::ffff:127.0.0.1]:1", "ipv4:127.0.0.1:1", "ipv6:[::1]:1", "dns:localhost:1"]
        there = [
            *("h:1", "192.0.2.7:1", "0.0.0.0:1", "[2001:db8::7]:1", "localhost.h:1", "127.0.0.1.h:1", "127.0.0.999:1"),
            *("ipv4:127.0.0.1:1,192.0.2.7:1", "dns://192.0.2.7/localhost:1", "h:1/localhost", "xds:localhost:1", ""),
            *("unix-abstract:1", "dns:h:1", "localhost@h:1", "localhost\n", "ipv4:192.0.2.7:1"),
            "[::ffff:192.0.2.7]:1",
        ]
        for target in here:
            self.made(target, token="secret")
        for target in there:
            with self.assertRaisesRegex(ValueError, "a token goes there by TLS only"):
                amemd.connect(target, token="secret")
        self.made("h:1", token="secret", tls=amemd.Tls(authority=b""))
        self.made("h:1")

    def made(self, target, **how):
        """Connects as if a daemon were there."""
        with mock.patch.object(client._meet, "address"), mock.patch.object(client._meet, "meet", lambda path, *_: path):
            amemd.connect(target, **how).close()

    def test_what_is_secret_is_in_no_repr(self):
        tls = amemd.Tls(authority=b"an authority", certificate=b"a certificate", key=b"a hidden key")
        with mock.patch.object(client._meet, "address"), amemd.connect("localhost:1", token="hidden-token") as made:
            printed = [repr(tls), str(tls), f"{tls}", *map(repr, (made, made._caller)), *map(repr, vars(made).values())]
        for one in printed:
            self.assertNotIn("hidden", one)
        self.assertIn("an authority", repr(tls))
        self.assertEqual(tls.key, b"a hidden key")


class Imports(unittest.TestCase):
    def test_the_reader_needs_the_standard_library_alone(self):
        code = "import sys, amemd.reader; sys.exit('grpc' in sys.modules or 'google.protobuf' in sys.modules)"
        self.assertEqual(subprocess.run([sys.executable, "-c", code]).returncode, 0)


class Payloads(unittest.TestCase):
    def test_operations_of_newer_versions_are_refused_or_skipped_and_chance_is_never_anything_else(self):
        with self.assertRaisesRegex(amemd.NewerFile, "operation 127"):
            list(_ops.operations(b"\x7f", 100))
        skipped = b"\x90\x03\x00\x00\x00new" + b"\xc1\x00\x00\x00\x00"
        erase = b"\x0e" + struct.pack("<Q", 7)
        self.assertEqual(list(_ops.operations(skipped + erase + skipped, 0)), list(_ops.operations(erase, 0)))
        with self.assertRaises(amemd.DamagedFile):
            list(_ops.operations(b"\x90\x03\x00\x00\x00ne", 0))
        chance = random.Random(11)
        for _ in range(3000):
            payload = bytes([chance.randrange(19)]) + chance.randbytes(chance.randrange(80))
            try:
                list(_ops.operations(payload, 0))
            except amemd.DamagedFile as damage:
                self.assertLessEqual(damage.position, len(payload) + 8)

    def test_the_time_of_a_change_elsewhere_changes_nothing(self):
        stamps = struct.pack("<BQBq", 16, 7, 3, 9) + struct.pack("<BQQBq", 17, 7, 8, 1, 9) + struct.pack("<BIq", 18, 2, 9)
        erase = b"\x0e" + struct.pack("<Q", 7)
        *passed, last = _ops.operations(stamps + erase, 0)
        self.assertEqual([type(op) for op in passed], [_ops.Bookkeeping] * 3)
        self.assertEqual(last, _ops.Erase(7))

    def test_numbers_out_of_range_are_damage(self):
        def belief(confidence, rate):
            return b"\x04" + struct.pack("<QfBf", 0, confidence, 0, rate)

        list(_ops.operations(belief(1, 0), 0))
        for confidence, rate in ((1.5, 0), (-0.5, 0), (float("nan"), 0), (1, -1), (1, float("inf"))):
            with self.assertRaises(amemd.DamagedFile):
                list(_ops.operations(belief(confidence, rate), 0))


class Erased(unittest.TestCase):
    def read_back(self, *attributes):
        """The attributes that remain if they are set after an event was erased."""
        payload = struct.pack("<BQBBIqffI", 1, 0, 0, 0, 0, 1, 1, 0, 0) + struct.pack("<BQ", 14, 0)
        for json_text in attributes:
            payload += struct.pack("<BQI", 5, 0, len(json_text)) + json_text
        base = mock.Mock(identity=mock.Mock(lsn=0, time=0), nodes=0, edge_count=0, dimension=0)
        graph = _graph.Graph(base)
        frames = [_journal.Frame(0, len(payload))]
        graph.apply(_journal.Transaction(1, 1, frames, _journal.Position(0, 1, 0)), payload)
        place = graph.state(0).attributes
        return place and payload[place.at : place.at + place.size]

    def test_attributes_of_an_erased_event_that_say_more_than_its_origin_are_passed_over(self):
        origin = b'{"amem.origin":{"event":7}}'
        for more in (b'{"amem.origin":1,"a":2}', b'{"a":2}', b"[]", b"no JSON", b"{}", b""):
            self.assertIsNone(self.read_back(more), more)
            self.assertEqual(self.read_back(origin, more), origin)


class Transactions(unittest.TestCase):
    START = _journal.Position(0, 4, 99)

    def following(self, payloads):
        """Reads the frames of one transaction."""
        data, checksum = b"", self.START.checksum
        for at, payload in enumerate(payloads):
            front = struct.pack("<IBBHQqII", len(payload), 1, at + 1 < len(payloads), 0, 5 + at, 7, 0, 0)
            checksum = _xxh3.xxh3_64(front + payload, checksum)
            data += front + struct.pack("<Q", checksum) + payload + bytes(-len(payload) % 8)
        return _journal.following(data, self.START, len(data))

    def test_a_transaction_goes_on_only_behind_frames_that_say_something(self):
        transaction, torn = self.following([b"one", b"two", b""])
        # Memory has the positions of payloads, not the payloads.
        self.assertEqual((transaction.frames, torn), ([(40, 3), (88, 3), (136, 0)], None))
        for payloads in ([b"", b"one"], [b"one", b"", b"two"]):
            with self.assertRaisesRegex(amemd.DamagedFile, "empty frame"):
                self.following(payloads)

    def test_a_large_transaction_is_not_held(self):
        payload = bytes(1 << 20)
        tracemalloc.start()
        held = self.following([payload] * 16)
        after, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        self.assertEqual(len(held[0].frames), 16)
        self.assertLess(after, len(payload))

    def test_the_headers_of_a_transaction_count_towards_its_limit(self):
        with mock.patch.object(_journal, "TRANSACTION_BYTES_MAX", 480):
            self.following([b"8 bytes."] * 10)
            with self.assertRaisesRegex(amemd.DamagedFile, "limit"):
                self.following([b"8 bytes."] * 11)


class Successors(unittest.TestCase):
    """A followed file, and the files that replace it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(folder.name, "b.amem")
        made.publish(self.path, made.brain(["one"]))
        self.inode = os.stat(self.path).st_ino

    def open(self, path=None):
        reader = amemd.Reader(path or self.path)
        self.addCleanup(reader.close)
        self.assertTrue(reader.is_live)
        return reader

    def test_a_relative_path_is_followed_wherever_the_process_goes(self):
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        reader = self.open("b.amem")
        os.chdir("/")
        made.tell(self.path, made.SUPERSEDED_BY, 2)
        made.publish(self.path, made.brain(["one", "two"], 2))
        self.assertTrue(reader.refresh())
        self.assertEqual((reader.generation, reader.text(1), reader.is_live), (2, "two", True))

    def test_a_file_that_was_replaced_by_none_that_can_be_read_says_so(self):
        reader = self.open()
        made.tell(self.path, made.SUPERSEDED_BY, 2)
        # The names are about to be exchanged.
        self.assertFalse(reader.refresh())
        aside = os.path.join(self.folder, "aside")
        os.rename(self.path, aside)
        rows = [
            ("FileNotFoundError", None),
            ("DamagedFile: header", b"no brain"),
            ("another brain", made.brain(["one", "two"], 2, b"o" * 16)),
            ("generation 1 is there", made.brain(["one", "two"], 1)),
        ]
        for why, data in rows:
            if data is not None:
                Path(self.path).write_bytes(data)
            for _ in range(2):
                with self.assertRaisesRegex(amemd.Superseded, why) as caught:
                    reader.refresh()
                self.assertEqual((caught.exception.path, caught.exception.by), (self.path, 2))
                self.assertFalse(reader.is_live)
                # The reader shows the old content.
                self.assertEqual((reader.lsn, reader.text(0)), (1, "one"))
        made.publish(self.path, made.brain(["one", "two"], 2))
        self.assertTrue(reader.refresh())
        self.assertEqual((reader.lsn, reader.is_live), (2, True))

    def test_a_link_to_a_file_that_is_about_to_be_replaced_is_that_file(self):
        link = os.path.join(self.folder, "link")
        os.symlink(self.path, link)
        reader = self.open(link)
        made.tell(self.path, made.SUPERSEDED_BY, 2)
        self.assertFalse(reader.refresh())
        made.publish(self.path, made.brain(["one", "two"], 2))
        self.assertTrue(reader.refresh())

    def test_what_is_closed_is_let_go_of_and_not_read(self):
        reader = self.open()
        # A grown file gets a second mapping, beside that of its base.
        for texts in (["one", "two"], ["one", "two", "three" * 1000], ["one", "two", "three" * 1000, "four"]):
            made.own(self.path, made.brain(texts))
            self.assertTrue(reader.refresh())
        vector = reader.vector(0)
        self.assertTrue(made.is_held(self.inode))
        reader.close()
        self.assertFalse(made.is_held(self.inode))
        self.assertEqual(list(vector), [1, 2])
        for read in (lambda: reader.text(0), lambda: reader.lsn, lambda: list(reader.events()), reader.refresh):
            with self.assertRaisesRegex(amemd.AmemError, "closed"):
                read()
        self.assertFalse(reader.is_live)
        reader.close()

    def test_a_file_that_is_no_brain_is_not_held(self):
        made.own(self.path, b"no brain")
        try:
            amemd.Reader(self.path)
        except amemd.DamagedFile as damage:
            # A stored error keeps the variables of its frames alive; assertRaises would clear them.
            self.assertIsNotNone(damage.__traceback__)
            self.assertFalse(made.is_held(self.inode))
        else:
            self.fail("it was opened")

    def test_a_file_of_which_something_was_erased_is_let_go_of(self):
        reader = self.open()
        event = reader.get(0, vectors=True)
        made.tell(self.path, made.SUPERSEDED_BY, 2)
        made.tell(self.path, made.MUST_DROP, 1)
        aside = os.path.join(self.folder, "aside")
        os.rename(self.path, aside)
        for _ in range(2):
            with self.assertRaises(amemd.MustDrop):
                reader.refresh()
            self.assertFalse(made.is_held(self.inode))
            self.assertFalse(reader.is_live)
            with self.assertRaises(amemd.MustDrop):
                reader.text(0)
        self.assertEqual(list(event.vector), [1, 2])
        # The next file may have the inode of the closed one.
        os.truncate(aside, 0)
        made.own(aside, made.brain(["1", "two"], 2))
        os.rename(aside, self.path)
        self.assertTrue(reader.refresh())
        self.assertEqual((reader.generation, reader.text(0), reader.is_live), (2, "1", True))


if __name__ == "__main__":
    unittest.main()
