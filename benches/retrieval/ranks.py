"""R@10 of the daemon's search, of words alone and of vectors alone, by category."""
import json
import statistics
import subprocess
import sys

import rows

MODES = ("search", "text", "similar")
# Minimum R@10 in per cent; the data's README names their source.
GOALS = {
    "locomo-dev.json": {
        "search": {"overall": 77.0, "1": 39.2, "2": 74.4, "3": 32.1, "4": 77.0},
        "text": {"overall": 60.6},
    },
    "beam-dev.json": {"search": {"overall": 61.0}, "text": {"overall": 48.0}},
}
# The same with an embedder of a file of models.
MODEL_GOALS = {
    "locomo-dev.json": {"search": {"overall": 80.0}},
    "beam-dev.json": {"search": {"overall": 71.0}},
}


def measure(bench, data, options):
    for file, conversations in data:
        goals = (MODEL_GOALS if bench.models else GOALS).get(file.name, {})
        runs = [bench.ask(conversations, mode, f"{file.stem}.{mode}.run.jsonl") for mode in MODES]
        for mode, run in zip(MODES, runs):
            yield from score(bench, file, mode, run, goals.get(mode, {}))
        if options:
            sys.stdout.flush()
            subprocess.run([sys.executable, bench.scorer, file, *runs, *options], check=True)


def score(bench, file, mode, run, goals):
    whole = json.loads(subprocess.run(
        [sys.executable, bench.scorer, file, run, "--json"], check=True, stdout=subprocess.PIPE).stdout)
    if whole["unanswered"] or whole["unknown_ids"]:
        sys.exit(f"{mode}: {whole['unanswered']} questions unanswered, {whole['unknown_ids']} unknown ids")
    scored = scores(bench, file, run, "R@10")
    if abs(statistics.fmean(value for _, value in scored) - whole["overall"]["R@10"]) > 1e-6:
        sys.exit(f"{mode}: the scorer's rows are not its mean")
    note = f"{whole['ms']['mean']:.2f} ms a question, 95 of 100 within {whole['ms']['p95']:.2f}"
    return rows.by_category(f"{file.stem} {mode}", scored, goals, note)


def scores(bench, file, run, measure):
    """Pairs of category and score, one for each question."""
    questions = bench.folder / "scores.jsonl"
    command = [sys.executable, bench.scorer, file, run, "--json", "--per-question", questions]
    subprocess.run(command, check=True, stdout=subprocess.PIPE)
    with open(questions, encoding="utf-8") as lines:
        return [(str(one["category"]), one[measure]) for one in map(json.loads, lines)]
