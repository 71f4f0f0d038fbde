"""What a typo costs: every question with one seeded edit in its rarest word."""
import random
import re
from collections import Counter

import ranks
import rows

# A question and its typo are the same on every machine.
SEED = 28
# Letters of a word that gets a typo.
WORD_LETTERS_MIN = 4
# Points of R@10 that typos may cost, by file.
GOALS = {"locomo-dev.json": 4.0}


def measure(bench, data, _options):
    for file, conversations in data:
        wrong = {name: with_typos(conversation) for name, conversation in conversations.items()}
        clean, typos = (
            ranks.scores(bench, file, bench.ask(asked, "search", f"{file.stem}.{kind}.run.jsonl"), "R@10")
            for kind, asked in (("clean", conversations), ("typos", wrong)))
        yield rows.Row(f"{file.stem} with a typo", [value for _, value in typos])
        lost = [value - other for (_, value), (_, other) in zip(clean, typos)]
        yield rows.Row(f"{file.stem} lost by typos", lost, GOALS.get(file.name), most=True)


def edited(word, chance):
    """The word with one letter less, more or other, or with two neighbours exchanged; the first letter stays."""
    at = chance.randrange(1, len(word) - 1)
    other = chance.choice([letter for letter in "abcdefghijklmnopqrstuvwxyz" if letter not in word[at:at + 2]])
    return chance.choice([
        word[:at] + word[at + 1:],
        word[:at] + other + word[at:],
        word[:at] + other + word[at + 1:],
        word[:at] + word[at + 1] + word[at] + word[at + 2:],
    ])


def with_typos(conversation):
    """The conversation with a typo in the rarest word of each question; one of equal rarity is the longest."""
    words = lambda text: re.findall(r"[^\W\d_]+", text.lower())
    counts = Counter(word for turn in conversation["turns"] for word in set(words(turn["text"])))
    questions = []
    for asked in conversation["questions"]:
        chance = random.Random(f"{SEED} {asked['qid']}")
        text = asked["question"]
        long = [word for word in re.findall(r"[^\W\d_]+", text) if len(word) >= WORD_LETTERS_MIN]
        # A word that no turn has finds nothing either way.
        known = [word for word in long if counts[word.lower()]] or long
        if known:
            rarest = min(known, key=lambda word: (counts[word.lower()], -len(word)))
            typo = edited(rarest, chance)
            text = re.sub(rf"\b{re.escape(rarest)}\b", typo, text, count=1)
        questions.append({**asked, "question": text})
    return {**conversation, "questions": questions}
