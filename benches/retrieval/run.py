"""Sends every question of the retrieval data, scores the hits, and checks the goals.

    run.py [--shared FOLDER] [--data FILE] [--bin FOLDER] [--keep FOLDER] [--languages] [--typos]
           [eval options, --ci for instance]

It builds `amemd`, `amemctl` and `amem-benches` unless --bin names their folder, imports each conversation into a brain of a
private daemon with `amemctl import`, and sends the questions with `amem-benches ask`: to the daemon's search, to words alone
and to vectors alone. The scorer, `retrieval_eval.py`, and the data are not part of the project: they are in the folder `data`
of FOLDER; without --shared, AMEM_SHARED names it. With eval options, the scorer also prints its own tables. --languages asks
about sentences of six languages, each one event, and --typos the same questions with a typo in the rarest word of each.

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
import variants

MODES = ("search", "text", "similar")
PATIENCE_SECS = 10
DATA = "locomo-dev.json"
# Minimum R@10 in per cent; the conversations' README names their source.
GOALS = {
    "search": {"overall": 68.0, "1": 39.2, "2": 74.4, "3": 32.1, "4": 77.0},
    "text": {"overall": 60.6},
    "similar": {},
}
LANGUAGES = "search/xquad-sentences.json"
# Minimum R@5 in per cent of a search for sentences.
LANGUAGE_GOALS = {"ru": 86.0, "de": 85.0, "zh": 89.0, "es": 87.0, "ar": 80.0}
# Points of R@10 that typos may cost.
TYPOS_LOST_MAX = 4.0
ROWS = {"1": "multi-hop", "2": "temporal", "3": "open-domain", "4": "single-hop", "overall": "overall"}


def arguments():
    ours = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=pathlib.Path, default=os.environ.get("AMEM_SHARED", ours.parent / "shared"))
    parser.add_argument("--data", help="a file of conversations in the folder data", default=DATA)
    parser.add_argument("--bin", type=pathlib.Path, help="where the programs are; otherwise they are built")
    parser.add_argument("--languages", action="store_true", help="also ask about sentences of six languages")
    parser.add_argument("--typos", action="store_true", help="also ask every question with a typo")
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


def scores(scorer, data, runs):
    """The score of every run."""
    scored = subprocess.run([sys.executable, scorer, data, *runs, "--json"], check=True, stdout=subprocess.PIPE)
    return [json.loads(line) for line in scored.stdout.splitlines()]


def judge_languages(programs, socket, folder, scorer, sentences):
    """Asks about the sentences of every language, and prints R@5; returns the number of missed goals."""
    conversations = {language: variants.of_sentences(language, data) for language, data in sentences.items()}
    data = folder / "languages.json"
    data.write_text(json.dumps(conversations), encoding="utf-8")
    modes = ("search", "text")
    runs = [folder / f"languages-{mode}.jsonl" for mode in modes]
    for name, conversation in conversations.items():
        import_conversation(programs, socket, folder, name, conversation)
        for mode, run in zip(modes, runs):
            ask(programs, socket, folder, name, conversation, mode, run)
    missed = 0
    print(f"\n{'R@5 in per cent':<24}{'questions':>10}{'found':>8}{'goal':>8}")
    for mode, score in zip(modes, scores(scorer, data, runs)):
        for name, row in score["categories"].items():
            found, goal = 100 * row["R@5"], LANGUAGE_GOALS.get(name) if mode == "search" else None
            verdict = "" if goal is None else "met" if found >= goal else "MISSED"
            missed += verdict == "MISSED"
            goal = "-" if goal is None else f"{goal:.1f}"
            print(f"{mode:<10}{name:<14}{row['n']:>10}{found:>8.1f}{goal:>8}  {verdict}".rstrip())
    return missed


def judge_typos(programs, socket, folder, scorer, data, conversations, run):
    """Asks every question with a typo, and prints what it costs a search; returns the number of missed goals."""
    with_typos = folder / "typos.jsonl"
    for name, conversation in conversations.items():
        ask(programs, socket, folder, name, variants.with_typos(conversation), "search", with_typos)
    clean, typos = (100 * score["overall"]["R@10"] for score in scores(scorer, data, [run, with_typos]))
    verdict = "met" if clean - typos <= TYPOS_LOST_MAX else "MISSED"
    print(f"\nsearch with a typo in the rarest word: R@10 {clean:.1f} -> {typos:.1f}, at most {TYPOS_LOST_MAX} lost: {verdict}")
    return int(verdict == "MISSED")


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
            if wanted.languages:
                sentences = json.loads((wanted.shared / "data" / LANGUAGES).read_text(encoding="utf-8"))
                missed += judge_languages(programs, socket, folder, scorer, sentences)
            if wanted.typos:
                missed += judge_typos(programs, socket, folder, scorer, data, conversations, runs[0])
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
