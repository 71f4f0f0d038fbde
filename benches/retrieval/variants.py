"""Data made of other data: sentences of six languages as conversations, and questions with a typo in their rarest word."""
import random
import re
from collections import Counter

# A question and its typo are the same on every machine.
SEED = 28
# Letters of a word that gets a typo.
WORD_LETTERS_MIN = 4


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
