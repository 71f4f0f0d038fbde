"""Evidence inside contexts: the share of a question's evidence whose events are in the text, by budget and category.

A greater budget must never give less, for any question.
"""
import json
import sys
from collections import defaultdict

import rows

BUDGETS = (500, 1000, 2000, 4000)
# The scorer's own choice: questions without an answer have no evidence to find.
ADVERSARIAL = 5
# Minimum evidence in per cent, by budget.
GOALS = {
    "locomo-dev.json": {1000: {"overall": 82.0}},
    "beam-dev.json": {1000: {"overall": 64.0}},
}


def measure(bench, data, _options):
    for file, conversations in data:
        run = bench.ask(
            conversations, "context", f"{file.stem}.context.run.jsonl", "--budgets", ",".join(map(str, BUDGETS)))
        yield from score(file, questions_of(conversations), run)


def questions_of(conversations):
    """The questions that have evidence to find."""
    return {
        (name, question["qid"]): question
        for name, conversation in conversations.items()
        for question in conversation["questions"]
        if question["category"] != ADVERSARIAL and question["evidence"]
    }


def evidence(questions, run):
    """By budget, for each question the share of its evidence in the context."""
    found = defaultdict(dict)
    for question, answer in answers(questions, run):
        wanted = set(question["evidence"])
        found[answer["budget"]][answer["conv"], answer["qid"]] = len(wanted & set(answer["ranked"])) / len(wanted)
    return found


def answers(questions, run):
    with open(run, encoding="utf-8") as lines:
        for answer in map(json.loads, lines):
            question = questions.get((answer["conv"], answer["qid"]))
            if question is not None:
                yield question, answer


def score(file, questions, run):
    found = evidence(questions, run)
    tokens, millis = defaultdict(list), defaultdict(list)
    for _, answer in answers(questions, run):
        budget = answer["budget"]
        if answer["tokens"] > budget:
            sys.exit(f"{answer['qid']}: {answer['tokens']} tokens in a budget of {budget}")
        tokens[budget].append(answer["tokens"])
        millis[budget].append(answer["ms"])
    for budget in BUDGETS:
        if found[budget].keys() != questions.keys():
            sys.exit(f"{file.name}: questions unanswered at {budget} tokens")
        scored = [(str(question["category"]), found[budget][key]) for key, question in questions.items()]
        mean = sum(tokens[budget]) / len(tokens[budget])
        note = f"{mean:.0f} tokens, {sum(millis[budget]) / len(millis[budget]):.2f} ms"
        goals = GOALS.get(file.name, {}).get(budget, {})
        yield from rows.by_category(f"{file.stem} {budget}", scored, goals, note)
    lost = [
        float(any(found[less][key] > found[more][key] for less, more in zip(BUDGETS, BUDGETS[1:])))
        for key in questions
    ]
    yield rows.Row(f"{file.stem} less for more", lost, 0.0, most=True)
