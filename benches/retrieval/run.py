"""Sends every question of the retrieval data, scores the hits, and checks the goals.

    run.py [--shared FOLDER] [--data FILE] [--bin FOLDER] [--keep FOLDER] [eval options, --ci for instance]

It builds `amemd`, `amemctl` and `amem-benches` unless --bin names their folder, imports each conversation into a brain of a
private daemon with `amemctl import`, and sends the questions with `amem-benches ask`: to the daemon's search, to words alone
and to vectors alone. The scorer, `retrieval_eval.py`, and the data are not part of the project: they are in the folder `data`
of FOLDER; without --shared, AMEM_SHARED names it. With eval options, the scorer also prints its own tables.

Exit codes: 0 if every goal is met, or there is no data ("SKIPPED: …"); 1 if one is missed, or something fails. Goals are
those of the default data; for other data only the numbers are printed.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import to_jsonl

MODES = ("search", "text", "similar")
PATIENCE_SECS = 10
DATA = "locomo-dev.json"
# Minimum R@10 in per cent; the conversations' README names their source.
GOALS = {
    "search": {"overall": 68.0, "1": 39.2, "2": 74.4, "3": 32.1, "4": 77.0},
    "text": {"overall": 60.6},
    "similar": {},
}
ROWS = {"1": "multi-hop", "2": "temporal", "3": "open-domain", "4": "single-hop", "overall": "overall"}


def arguments():
    ours = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=pathlib.Path, default=os.environ.get("AMEM_SHARED", ours.parent / "shared"))
    parser.add_argument("--data", help="a file of conversations in the folder data", default=DATA)
    parser.add_argument("--bin", type=pathlib.Path, help="where the programs are; otherwise they are built")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the run files")
    return parser.parse_known_args()


def build():
    """Builds the programs; returns their folder."""
    ours = pathlib.Path(__file__).resolve().parents[2]
    packages = [word for package in ("amemd", "amemctl", "amem-benches") for word in ("-p", package)]
    built = subprocess.run(["cargo", "build", "--release", "--quiet", *packages], cwd=ours, check=False)
    if built.returncode != 0:
        sys.exit("the programs can't be built: see above")
    # Cargo resolves a relative folder from its working directory.
    return ours / os.environ.get("CARGO_TARGET_DIR", "target") / "release"


def start(programs, folder):
    """A daemon on a private folder and socket."""
    brains, socket = folder / "brains", folder / "run" / "amemd.sock"
    brains.mkdir()
    with open(folder / "amemd.log", "w", encoding="utf-8") as log:
        daemon = subprocess.Popen([programs / "amemd", "--folder", brains, "--socket", socket], stderr=log)
    until = time.monotonic() + PATIENCE_SECS
    while not socket.exists():
        if daemon.poll() is not None or time.monotonic() > until:
            daemon.kill()
            sys.exit("amemd does not start: " + (folder / "amemd.log").read_text(encoding="utf-8"))
        time.sleep(0.01)
    return daemon, socket


def import_conversation(programs, socket, folder, name, conversation):
    """Imports a conversation into a brain; returns the seconds."""
    turns = folder / "turns.jsonl"
    turns.write_text("\n".join(to_jsonl.turns(conversation, name)), encoding="utf-8")
    began = time.monotonic()
    answer = subprocess.run(
        [programs / "amemctl", "import", "--json", "--format", "conversation", turns, "--brain", name, "--socket", socket],
        check=True, stdout=subprocess.PIPE)
    seconds = time.monotonic() - began
    imported = json.loads(answer.stdout)["data"]
    if imported["events"] != len(conversation["turns"]):
        sys.exit(f"{name}: {len(conversation['turns'])} turns, but {imported}")
    print(f"  {name}: {imported['events']} events, {imported['sessions']} sessions, {imported['edges']} edges, {seconds:.2f} s")


def ask(programs, socket, folder, name, conversation, mode, run):
    """Appends the answers to a run file."""
    questions = folder / "questions.jsonl"
    with open(questions, "w", encoding="utf-8") as file:
        for question in conversation["questions"]:
            line = {"conv": name, "qid": question["qid"], "question": question["question"]}
            print(json.dumps(line), file=file)
    with open(run, "a", encoding="utf-8") as file:
        subprocess.run(
            [programs / "amem-benches", "ask", "--socket", socket, "--brain", name, "--mode", mode, questions],
            check=True, stdout=file)


def judge(scorer, data, runs, goals):
    """Prints R@10 of every run by category, each line with its verdict; returns the number of missed goals."""
    scored = subprocess.run([sys.executable, scorer, data, *runs, "--json"], check=True, stdout=subprocess.PIPE)
    missed = 0
    print(f"\n{'R@10 in per cent':<24}{'questions':>10}{'found':>8}{'goal':>8}")
    for mode, line in zip(MODES, scored.stdout.splitlines()):
        score = json.loads(line)
        rows = {**score["categories"], "overall": score["overall"]}
        for name, row in rows.items():
            found, goal = 100 * row["R@10"], goals.get(mode, {}).get(name)
            verdict = "" if goal is None else "met" if found >= goal else "MISSED"
            missed += verdict == "MISSED"
            goal = "-" if goal is None else f"{goal:.1f}"
            print(f"{mode:<10}{ROWS.get(name, name):<14}{row['n']:>10}{found:>8.1f}{goal:>8}  {verdict}".rstrip())
        if score["unanswered"] or score["unknown_ids"]:
            sys.exit(f"{mode}: {score['unanswered']} questions unanswered, {score['unknown_ids']} unknown ids")
        print(f"{mode:<10}{score['ms']['mean']:.2f} ms a question, 95 of 100 within {score['ms']['p95']:.2f}")
    return missed


def main():
    wanted, options = arguments()
    data = wanted.shared / "data" / wanted.data
    scorer = wanted.shared / "data" / "retrieval_eval.py"
    if not data.is_file() or not scorer.is_file():
        print(f"SKIPPED: there is no {data} with its scorer; AMEM_SHARED or --shared names their folder")
        return
    programs = wanted.bin or build()
    conversations = json.loads(data.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="amem-retrieval-") as temporary:
        folder = pathlib.Path(temporary)
        daemon, socket = start(programs, folder)
        try:
            runs = [folder / f"{mode}.jsonl" for mode in MODES]
            print(f"{len(conversations)} conversations, imported through the daemon:", flush=True)
            for name, conversation in conversations.items():
                import_conversation(programs, socket, folder, name, conversation)
                for mode, run in zip(MODES, runs):
                    ask(programs, socket, folder, name, conversation, mode, run)
            missed = judge(scorer, data, runs, GOALS if wanted.data == DATA else {})
            sys.stdout.flush()
            if options:
                subprocess.run([sys.executable, scorer, data, *runs, *options], check=True)
            if wanted.keep:
                wanted.keep.mkdir(parents=True, exist_ok=True)
                for run in runs:
                    shutil.copy(run, wanted.keep)
        finally:
            daemon.terminate()
            daemon.wait(PATIENCE_SECS)
    if missed:
        sys.exit(f"{missed} goals are missed")


if __name__ == "__main__":
    main()
