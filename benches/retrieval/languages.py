"""R@5 of a search for the sentence that answers a question, in six languages, and the contexts that stay empty. Each sentence
is an event."""
import json

import ranks
import rows

DATA = "search/xquad-sentences.json"
# Minimum R@5 in per cent of a search.
GOALS = {"ru": 86.0, "de": 85.0, "zh": 89.0, "es": 87.0, "ar": 80.0}
CONTEXT_TOKENS = 500
# Per cent of the questions, each of which a sentence answers.
EMPTY_MAX = 10.0


def measure(bench, data, _options):
    sentences = json.loads((data[0][0].parent / DATA).read_text(encoding="utf-8"))
    conversations = {language: of_sentences(language, data) for language, data in sentences.items()}
    file = bench.folder / "languages.json"
    file.write_text(json.dumps(conversations), encoding="utf-8")
    for mode in ("search", "text"):
        run = bench.ask(conversations, mode, f"languages.{mode}.run.jsonl")
        scored = ranks.scores(bench, file, run, "R@5")
        goals = GOALS if mode == "search" else {}
        yield from rows.by_category(f"languages {mode}", scored, goals)
    run = bench.ask(conversations, "context", "languages.context.run.jsonl", "--budgets", str(CONTEXT_TOKENS))
    empty = {language: [] for language in sentences}
    with open(run, encoding="utf-8") as lines:
        for answer in map(json.loads, lines):
            empty[answer["conv"]].append(float(not answer["ranked"]))
    for language, shares in empty.items():
        yield rows.Row(f"languages empty context {language}", shares, EMPTY_MAX, most=True)


def of_sentences(language, data):
    """A conversation of which every sentence is a session of its own: no neighbour helps to find it."""
    names = [f"{language}:{place}" for place in range(len(data["texts"]))]
    turns = [
        {"id": name, "session": place, "speaker": "text", "time": "2024-01-01T00:00:00", "text": text}
        for place, (name, text) in enumerate(zip(names, data["texts"]))
    ]
    questions = [
        {"qid": f"{language}:q{place}", "category": language, "question": asked["question"], "evidence": [names[asked["evidence"]]]}
        for place, asked in enumerate(data["questions"])
    ]
    return {"turns": turns, "questions": questions}
