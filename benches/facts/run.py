"""Measures fact memory beside what else remembers facts on one machine: adds, searches, gets, and loading.

    run.py [--sizes N ...] [--scope N] [--calls N] [--batch N] [--systems NAME,...] [--bin FOLDER] [--installs FOLDER]

It builds `amemd` unless --bin names its folder. The systems, one after the other, each in a fresh folder for each size:

    amemd         FactService by gRPC over a Unix socket             (`with_amemd.py`)
    mem0          mem0 2.2.1, infer=False, Qdrant's local mode       (`with_mem0.py`)
    server-memory the memory server of MCP, by JSON-RPC to node      (`with_server_memory.py`)

The peers come from PyPI and npm into a temporary folder, or into that of --installs, where a later run finds them. A
peer that cannot be installed is named as absent, with the reason. One caller makes all calls; the memories are the same
for every system (`memories.py`), and every answer is checked (`measure.py`). The columns:

    calls      timed calls after 5 of a warm-up; for a load, the calls that it took
    seconds    for a load
    p50, p99   milliseconds of a call
    found %    searches whose answer has a memory with the words asked for
    p50/amemd  the p50 divided by amemd's for the same act; for a load, the seconds

TMPDIR chooses the drive of all files. amemd syncs each add to it; mem0 commits to SQLite; the memory server writes its
whole file and renames it, without a sync.

Exit codes: 0 if every system that is there was measured; 1 if one failed, or amemd cannot be measured.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

# Nothing is left beside the sources.
sys.dont_write_bytecode = True

import installs  # noqa: E402

OURS = pathlib.Path(__file__).resolve().parents[2]
# Module and installer of each system.
SYSTEMS = {
    "amemd": ("with_amemd", lambda folder: installs.amemd(folder, OURS / "proto" / "proto")),
    "mem0": ("with_mem0", installs.mem0),
    "server-memory": ("with_server_memory", installs.server_memory),
}
# `memories.py` makes a million sentences at most, and 20,000 for the patterns.
SIZE_MAX = 900000
CALLS_MAX = 10000
# The most messages of an AddFacts.
BATCH_MAX = 1000
# Lines of a failed system's output that are shown.
LINES_MAX = 20
HEAD = (f"{'system':<15}{'act':<18}{'calls':>7}{'seconds':>10}{'p50 ms':>10}{'p99 ms':>10}"
        f"{'found %':>9}{'p50/amemd':>11}")


class Failed(Exception):
    """A system is there and cannot be measured."""


def count_up_to(most):
    def count(text):
        number = int(text)
        if not 1 <= number <= most:
            raise argparse.ArgumentTypeError(f"{number} is not between 1 and {most}")
        return number
    return count


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sizes = {"nargs": "+", "type": count_up_to(SIZE_MAX), "default": [1000, 10000]}
    parser.add_argument("--sizes", **sizes, help="memories loaded")
    parser.add_argument("--scope", type=count_up_to(SIZE_MAX), default=1000, help="memories of a user")
    parser.add_argument("--calls", type=count_up_to(CALLS_MAX), default=500, help="timed calls of each act")
    parser.add_argument("--batch", type=count_up_to(BATCH_MAX), default=100, help="memories in one call of a load")
    parser.add_argument("--systems", help=f"of {', '.join(SYSTEMS)}; all without it", default=",".join(SYSTEMS))
    parser.add_argument("--bin", type=pathlib.Path, help="where amemd is; otherwise it is built")
    parser.add_argument("--installs", type=pathlib.Path, help="a folder for the installs, which stays")
    wanted = parser.parse_args()
    wanted.systems = wanted.systems.split(",")
    unknown = set(wanted.systems) - set(SYSTEMS)
    if unknown:
        parser.error(f"no such system: {', '.join(sorted(unknown))}")
    return wanted


def build():
    """Builds amemd; returns its folder."""
    built = subprocess.run(["cargo", "build", "--release", "--quiet", "-p", "amemd"], cwd=OURS, check=False)
    if built.returncode != 0:
        sys.exit("amemd can't be built: see above")
    # Cargo resolves a relative folder from its working directory.
    return OURS / os.environ.get("CARGO_TARGET_DIR", "target") / "release"


def installed(wanted, folder):
    """Interpreter, variables and options of each system; the reasons of those that are absent."""
    ready, absent = {}, {}
    for name in wanted.systems:
        try:
            ready[name] = SYSTEMS[name][1](folder)
        except installs.Absent as reason:
            # Without gRPC there is nothing to compare the peers with.
            if name == "amemd":
                sys.exit(f"amemd can't be called: {reason}")
            absent[name] = reason
    if "amemd" in ready:
        programs = wanted.bin or build()
        program = (programs / "amemd").resolve()
        if not program.is_file():
            sys.exit(f"there is no {program}")
        ready["amemd"][2]["program"] = str(program)
    return ready, absent


def measured(name, ready, size, wanted):
    """The rows of a system, from a process of its own."""
    python, variables, options = ready
    options = {**options, "size": size, "scope_size": wanted.scope, "batch": wanted.batch, "calls": wanted.calls}
    with tempfile.TemporaryDirectory(prefix="amem-facts-") as temporary:
        folder = pathlib.Path(temporary)
        store, out = folder / "store", folder / "rows.json"
        store.mkdir()
        peer = pathlib.Path(__file__).with_name("peer.py")
        # Each system has its own packages only.
        inherited = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        done = subprocess.run(
            [python, peer, SYSTEMS[name][0], store, out, json.dumps(options)],
            env={**inherited, "PYTHONDONTWRITEBYTECODE": "1", **variables}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", check=False)
        if done.returncode != 0:
            raise Failed("\n".join(done.stdout.strip().splitlines()[-LINES_MAX:]) or f"exit code {done.returncode}")
        return json.loads(out.read_text(encoding="utf-8"))


def cost(row):
    return row["seconds"] if "seconds" in row else row["p50_ms"]


def line(name, row, ours):
    """A row of the table; `ours` has amemd's rows by act."""
    def cell(key, digits):
        return f"{row[key]:.{digits}f}" if key in row else "-"

    ratio = f"{cost(row) / cost(ours[row['act']]):.2f}" if row["act"] in ours else "-"
    return (f"{name:<15}{row['act']:<18}{row['calls']:>7}{cell('seconds', 2):>10}{cell('p50_ms', 3):>10}"
            f"{cell('p99_ms', 3):>10}{cell('found_percent', 1):>9}{ratio:>11}")


def main():
    wanted = arguments()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="amem-installs-") as temporary:
        folder = (wanted.installs or pathlib.Path(temporary)).resolve()
        ready, absent = installed(wanted, folder)
        for size in wanted.sizes:
            print(f"\n{size:,} memories, in scopes of {wanted.scope:,}, loaded {wanted.batch:,} a call")
            print(HEAD, flush=True)
            ours = {}
            for name in wanted.systems:
                if name in absent:
                    print(f"{name:<15}absent: {absent[name]}", flush=True)
                    continue
                try:
                    rows = measured(name, ready[name], size, wanted)
                except Failed as reason:
                    failed += 1
                    print(f"{name:<15}failed: {reason}", flush=True)
                    continue
                if name == "amemd":
                    ours = {row["act"]: row for row in rows}
                for row in rows:
                    print(line(name, row, ours), flush=True)
    if failed:
        sys.exit(f"measurements that failed: {failed}")


if __name__ == "__main__":
    main()
