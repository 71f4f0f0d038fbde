"""Asks every question of the retrieval data, and scores what is found.

    run.py [--shared FOLDER] [--data FILE] [--bin FOLDER] [--keep FOLDER] [eval options, --ci for instance]

Each conversation becomes a brain of a daemon that is started for this, through `amemctl import`; the questions are
put by `amem-benches ask`: to the daemon's search, and to words alone and vectors alone. The scorer,
`retrieval_eval.py`, and the data are not part of the project: they are in the folder `data` of FOLDER, which
AMEM_SHARED names unless --shared does. Build first:

    cargo build --release -p amemd -p amemctl -p amem-benches
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


def arguments():
    ours = pathlib.Path(__file__).resolve().parents[2]
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ours / "target"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=pathlib.Path, default=os.environ.get("AMEM_SHARED", ours.parent / "shared"))
    parser.add_argument("--data", help="a file of conversations in the folder data", default="locomo-dev.json")
    parser.add_argument("--bin", type=pathlib.Path, default=target / "release", help="where the programs are")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the run files")
    return parser.parse_known_args()


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
    """Makes a brain of a conversation; gives the seconds that took."""
    turns = folder / "turns.jsonl"
    turns.write_text("\n".join(to_jsonl.turns(conversation, name)), encoding="utf-8")
    began = time.monotonic()
    answer = subprocess.run(
        [programs / "amemctl", "import", "--json", "--format", "conversation", turns, "--brain", name, "--socket", socket],
        check=True, stdout=subprocess.PIPE)
    seconds = time.monotonic() - began
    told = json.loads(answer.stdout)["data"]
    if told["events"] != len(conversation["turns"]):
        sys.exit(f"{name}: {len(conversation['turns'])} turns, but {told}")
    print(f"  {name}: {told['events']} events, {told['sessions']} sessions, {told['edges']} edges, {seconds:.2f} s")


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


def main():
    wanted, options = arguments()
    data = wanted.shared / "data" / wanted.data
    scorer = wanted.shared / "data" / "retrieval_eval.py"
    if not data.is_file() or not scorer.is_file():
        print(f"skipped: there is no {data} with its scorer; AMEM_SHARED or --shared names their folder")
        return
    conversations = json.loads(data.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="amem-retrieval-") as temporary:
        folder = pathlib.Path(temporary)
        daemon, socket = start(wanted.bin, folder)
        try:
            runs = [folder / f"{mode}.jsonl" for mode in MODES]
            print(f"{len(conversations)} conversations, imported through the daemon:", flush=True)
            for name, conversation in conversations.items():
                import_conversation(wanted.bin, socket, folder, name, conversation)
                for mode, run in zip(MODES, runs):
                    ask(wanted.bin, socket, folder, name, conversation, mode, run)
            sys.stdout.flush()
            scored = subprocess.run([sys.executable, scorer, data, *runs, *options], check=False)
            if wanted.keep:
                wanted.keep.mkdir(parents=True, exist_ok=True)
                for run in runs:
                    shutil.copy(run, wanted.keep)
        finally:
            daemon.terminate()
            daemon.wait(PATIENCE_SECS)
    sys.exit(scored.returncode)


if __name__ == "__main__":
    main()
