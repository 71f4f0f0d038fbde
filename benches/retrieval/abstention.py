"""Contexts of questions about something else, which should be empty, and the evidence that this costs."""
import json

import contexts
import rows

DATA = "search/xquad-sentences.json"
QUESTIONS = 200
BUDGET = 1000
# Per cent of the foreign questions that may put anything into a context, and points of evidence that may be lost.
NOISE_MAX = 5.0
LOST_MAX = 1.0


def measure(bench, data, _options):
    foreign = json.loads((data[0][0].parent / DATA).read_text(encoding="utf-8"))["en"]["questions"]
    step = len(foreign) // QUESTIONS
    questions = [
        {"qid": f"foreign:{place}", "question": asked["question"]}
        for place, asked in enumerate(foreign[::step][:QUESTIONS])
    ]
    for file, conversations in data:
        strange = {name: {**one, "questions": questions} for name, one in conversations.items()}
        run = bench.ask(strange, "context", f"{file.stem}.foreign.run.jsonl", "--budgets", str(BUDGET))
        with open(run, encoding="utf-8") as lines:
            noise = [float(bool(answer["ranked"])) for answer in map(json.loads, lines)]
        yield rows.Row(f"{file.stem} noise", noise, NOISE_MAX, most=True)
        wanted = contexts.questions_of(conversations)
        by_default, everything = (
            contexts.evidence(wanted, bench.ask(
                conversations, "context", f"{file.stem}.{kind}.run.jsonl", "--budgets", str(BUDGET), *options))[BUDGET]
            for kind, options in (("abstaining", []), ("telling", ["--min-relevance", "0"])))
        lost = [everything[key] - by_default[key] for key in wanted]
        yield rows.Row(f"{file.stem} evidence lost", lost, LOST_MAX, most=True)
