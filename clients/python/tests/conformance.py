"""The conformance list of the client packages, in Python, beside a running daemon.

    python conformance.py --target unix:/path/to/amemd.sock --cases clients/conformance.json

clients/README.md explains the cases. Prints the name of each case that passes; if one fails, prints the case and the
step, and exits with 1. When it prints RESTART on its own line, kill the daemon, start it again on the same folder and
target, and send a line.
"""

import argparse
import dataclasses
import datetime
import json
import os
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path

import amemd
from amemd.types import to_datetime

parser = argparse.ArgumentParser(description="the conformance list of amemd's clients")
parser.add_argument("--target", required=True, help="unix:/path or host:port")
parser.add_argument("--token", help="what TCP asks for")
parser.add_argument("--authority", help="the certificate that vouches for the daemon's, which is localhost's")
parser.add_argument("--folder", default="", help="the folder of the brains, which a daemon does not tell by TCP")
parser.add_argument("--cases", required=True, help="clients/conformance.json")
parser.add_argument("--only", default="", help="only cases whose names have this in them")
args = parser.parse_args()


class Mismatch(Exception):
    """A result differs from the expected one."""


def plain(value):
    """The result of a call, as JSON."""
    if dataclasses.is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple, memoryview)):
        return [plain(one) for one in value]
    return value


def compare(found, expected, path="it"):
    """Objects must have the expected fields, lists the same length, numbers must be equal."""

    def fail(why):
        raise Mismatch(f"{path} is {json.dumps(found, ensure_ascii=False, default=str)[:600]}, {why}")

    if isinstance(expected, dict):
        special = next((key for key in expected if key.startswith("$")), None)
        if special == "$near":
            return None if abs(found - expected[special]) < 1e-5 else fail(f"not near {expected[special]}")
        if special == "$above":
            return None if found > expected[special] else fail(f"not above {expected[special]}")
        if special == "$below":
            return None if found < expected[special] else fail(f"not below {expected[special]}")
        if special == "$len":
            return None if len(found) == expected[special] else fail(f"{len(found)} and not {expected[special]} long")
        if special == "$text":
            return None if expected[special] in found else fail(f"without {expected[special]!r}")
        if special == "$has":
            for wanted in expected[special]:
                if not any(fits(one, wanted) for one in found):
                    fail(f"without {json.dumps(wanted)}")
            return None
        if not isinstance(found, dict):
            fail("no object")
        for key, wanted in expected.items():
            if key not in found:
                fail(f"without {key}")
            compare(found[key], wanted, f"{path}.{key}")
        return None
    if isinstance(expected, list):
        if not isinstance(found, list) or len(found) != len(expected):
            fail(f"not a list of {len(expected)}")
        for place, wanted in enumerate(expected):
            compare(found[place], wanted, f"{path}[{place}]")
        return None
    # True is not 1 here.
    if found != expected or isinstance(found, bool) != isinstance(expected, bool):
        fail(f"not {json.dumps(expected, ensure_ascii=False)}")
    return None


def fits(found, expected):
    try:
        compare(found, expected)
    except Mismatch:
        return False
    return True


class Case:
    """A case under way: its brain, what it saved, its reader, its subscription."""

    def __init__(self, client, number, case):
        self.client, self.saved, self.folder = client, {}, None
        self.brain = client.brain(f"case-{number}", create=True, **case.get("brain", {}))
        self.reader_open = self.commits = None

    def close(self):
        if self.commits is not None:
            self.commits.close()
        if self.reader_open is not None:
            self.reader_open.close()
        if self.folder is not None:
            shutil.rmtree(self.folder)

    def filled(self, value):
        """A value of a case, with saved results in place of their names."""
        if isinstance(value, str) and value.startswith("$"):
            return self.saved[value[1:]]
        if isinstance(value, list):
            return [self.filled(one) for one in value]
        if isinstance(value, dict):
            if "$time" in value:
                return datetime.datetime.fromisoformat(value["$time"].replace("Z", "+00:00"))
            if "$micros" in value:
                return to_datetime(self.filled(value["$micros"]))
            return {key: self.filled(one) for key, one in value.items()}
        return value

    def run(self, step):
        arguments = self.filled(step.get("args", []))
        options = self.filled(step.get("with", {}))
        if "where" in options:
            options["where"] = amemd.Where(**options["where"])
        if "only_if" in options:
            options["only_if"] = amemd.If(**options["only_if"])
        name = step["do"]
        if hasattr(self, f"do_{name}"):
            call = getattr(self, f"do_{name}")
        elif name.startswith("client."):
            call = getattr(self.client, name[7:])
        elif name.startswith("reader."):
            call = getattr(self.reader_open, name[7:])
        else:
            call = getattr(self.brain, name)
        if name == "pipeline":
            arguments = [[part(one) for one in parts] for parts in arguments]
        if name == "add_many":
            arguments = [batch(arguments[0])]
        return plain(call(*arguments, **options))

    def do_lsn(self):
        return self.brain.lsn

    def do_new_request_id(self):
        return amemd.new_request_id()

    def do_pause(self, seconds):
        time.sleep(seconds)

    def do_restart(self):
        print("RESTART", flush=True)
        sys.stdin.readline()

    def do_add_numbered(self, count):
        for start in range(0, count, 500):
            self.brain.add_many([amemd.New("fact", f"number {n}") for n in range(start, min(start + 500, count))])

    def do_add_long(self, size):
        """A text of `size` bytes, partly repeating."""
        words = [f"word {n} again and again, " for n in range(size // 20)]
        return self.brain.add_fact("".join(words)[:size])

    def do_with_session(self, key, text, outcome):
        with self.brain.session(key) as session:
            session.add("fact", text)
            session.outcome = outcome
        return session.id

    def do_subscribe(self, after_lsn=None):
        self.commits = self.brain.subscribe(after_lsn)

    def do_next_commits(self, count):
        """The next commits, without touches, which the daemon commits when idle."""
        found = []
        while len(found) < count:
            commit = next(self.commits)
            if commit.kind != "touch":
                found.append(commit)
        lsns = [commit.lsn for commit in found]
        assert lsns == sorted(set(lsns)), lsns
        return found

    def do_closed_while_it_waits(self):
        """True if a subscription ends that another thread closes."""
        threading.Timer(0.05, self.commits.close).start()
        return next(self.commits, None) is None

    def file(self):
        return self.brain.file or os.path.join(args.folder, f"{self.brain.name}.amem")

    def do_reader(self):
        self.reader_open = amemd.Reader(self.file())

    def do_reader_of_a_copy(self):
        self.folder = tempfile.mkdtemp()
        copy = os.path.join(self.folder, "copy.amem")
        shutil.copyfile(self.file(), copy)
        self.reader_open = amemd.Reader(copy)

    def do_reader_says(self, what):
        return getattr(self.reader_open, what)

    def do_reader_keeps_up(self, commits):
        """How far the reader is behind, at most: commits answered that the next `refresh` does not show."""
        behind = 0
        for number in range(commits):
            if number == commits // 2:
                self.brain.checkpoint()
            self.brain.add_fact(f"commit {number}")
            self.reader_open.refresh()
            behind = max(behind, self.brain.lsn - self.reader_open.lsn)
        return behind

    def do_file_has(self, text):
        return text.encode() in Path(self.file()).read_bytes()

    def do_reader_equals_daemon(self):
        """Compares every event, edge, session and head."""
        if self.reader_open is None:
            self.reader_open = amemd.Reader(self.file())
        reader = self.reader_open
        for attempt in range(100):
            reader.refresh()
            ids = list(range(len(reader)))
            told = self.brain.get_many(ids, include_forgotten=True, vectors=True, edges=True, touch=False)
            # The daemon commits touches when idle: both must show the same commit.
            if self.brain.lsn == reader.lsn:
                break
            assert reader.is_live and attempt < 99, f"the reader is at {reader.lsn}, the daemon at {self.brain.lsn}"
        shown = {one.id for one in told if not one.forgotten}
        edges = 0
        for id in ids:
            mine = plain(reader.get(id, vectors=True, edges=True))
            edges += sum(edge["source"] == id for edge in mine["edges"])
            compare(mine["strength"], {"$near": told[id].strength}, f"strength of {id}")
            mine["strength"] = told[id].strength
            compare(mine, plain(told[id]), f"event {id}")
        compare(edges, reader.edge_count, "the number of edges")
        compare(plain(reader.sessions()), plain(self.brain.sessions(oldest_first=True, limit=None)), "sessions")
        for id in sorted(shown):
            mine, daemon = reader.resolve(id), self.brain.resolve(id, touch=False)
            for part in ("chain", "heads"):
                # The daemon shows a forgotten event of a chain as a stub.
                ids_of = [[one.id for one in getattr(resolved, part)] for resolved in (mine, daemon)]
                compare(*ids_of, f"{part} of {id}")
            compare(mine.contested, daemon.contested, f"contested {id}")


def part(told):
    """A source or a stage of a pipeline: {"search": {…}} is pipe.search(…)."""
    [(kind, fields)] = told.items()
    if kind == "filter":
        return amemd.pipe.filter(amemd.Where(**fields))
    if "where" in fields:
        fields = {**fields, "where": amemd.Where(**fields["where"])}
    return getattr(amemd.pipe, kind)(**fields)


def batch(events):
    """The events of a batch; "#n" is the n-th of them."""
    made = []

    def end(value):
        if isinstance(value, list):
            return [end(one) for one in value]
        return made[int(value[1:])] if isinstance(value, str) else value

    edges = ("caused_by", "supports", "contradicts", "supersedes", "related_to", "part_of", "follows")
    for event in events:
        made.append(amemd.New(**{key: end(value) if key in edges else value for key, value in event.items()}))
    return made


def refused(step, error, where):
    expected = step["refused"]
    found = {"code": error.code, "reason": error.reason, "kind": type(error).__name__}
    compare(found, expected, f"{where}: the refusal")
    if not error.message:
        raise Mismatch(f"{where}: a refusal without a message")


def run(client, number, case):
    state = Case(client, number, case)
    try:
        for place, step in enumerate(case["steps"]):
            where = f"step {place}, {step['do']}"
            try:
                found = state.run(step)
            except amemd.Refused as error:
                if "refused" not in step:
                    raise Mismatch(f"{where}: {error}") from error
                refused(step, error, where)
                continue
            except (LookupError, ValueError) as error:
                if step.get("fails", "\0") not in str(error):
                    raise
                continue
            except Mismatch as why:
                raise Mismatch(f"{where}: {why}") from None
            if "refused" in step or "fails" in step:
                raise Mismatch(f"{where}: it was not refused")
            if "expect" in step:
                try:
                    compare(found, state.filled(step["expect"]))
                except Mismatch as why:
                    raise Mismatch(f"{where}: {why}") from None
            save = step.get("save")
            if isinstance(save, str):
                state.saved[save] = found
            elif save:
                for name, field in save.items():
                    state.saved[name] = found[field]
    finally:
        state.close()


def main():
    cases = json.loads(Path(args.cases).read_text(encoding="utf-8"))["cases"]
    chosen = [(number, case) for number, case in enumerate(cases) if args.only in case["name"]]
    began = time.monotonic()
    tls = amemd.Tls(Path(args.authority).read_bytes(), name="localhost") if args.authority else None
    with amemd.connect(args.target, token=args.token, agent="conformance", tls=tls) as client:
        for number, case in chosen:
            try:
                run(client, number, case)
            except Exception as why:  # Any error names the case.
                print(f"FAILED: {case['name']}: {type(why).__name__}: {why}", flush=True)
                if not isinstance(why, (Mismatch, amemd.AmemError)):
                    raise
                sys.exit(1)
            print(f"ok: {case['name']}", flush=True)
    print(f"{len(chosen)} cases in {time.monotonic() - began:.1f} s, over {args.target}")


main()
