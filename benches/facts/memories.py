"""The memories of a run and the questions about them: the same for every system, made from a fixed seed.

A memory is one sentence of everyday life, 45 to 80 characters. No two are equal, so that no system can skip one.
"""
import dataclasses
import random

NAMES = ["Ada", "Bruno", "Chiara", "Dmitri", "Elif", "Farid", "Greta", "Hana", "Igor", "Jonas", "Kofi", "Lena",
         "Mateo", "Nora", "Oskar", "Priya", "Quinn", "Rosa", "Samir", "Tove"]
KINDS = ["amber", "brass", "checked", "dented", "enamel", "felt", "green", "heavy", "ivory", "jade", "knitted",
         "linen", "marble", "narrow", "oak", "painted", "quilted", "rusty", "silver", "tall"]
THINGS = ["anchor", "basket", "camera", "drum", "easel", "flute", "globe", "hammer", "kettle", "lantern", "mirror",
          "notebook", "oven", "parasol", "radio", "saddle", "teapot", "umbrella", "violin", "wagon", "abacus",
          "bicycle", "compass", "drill", "engine"]
PLACES = ["attic", "barn", "cellar", "den", "entrance hall", "flat in Porto", "garage", "hallway", "island cabin",
          "kitchen", "laundry room", "music school", "neighbour's yard", "office in Lyon", "pantry", "reading room",
          "studio", "tool shed", "utility room", "workshop"]
TIMES = ["since January", "since the move", "on weekdays", "until the summer", "for the next concert"]
# Sentences in which amemd's patterns find a fact.
SAID = ["I like the {kind} {thing} in the {place}", "I bought a {kind} {thing} for the {place}"]


@dataclasses.dataclass
class Memory:
    scope: str
    # Unique among the memories of a run.
    name: str
    text: str
    # Words next to each other in the text: what a search for substrings can find.
    phrase: str

    def question(self):
        return f"Where is the {self.phrase}?"


def made(size, added, scope_size):
    """The memories to load, then those to add one by one, spread over the same scopes."""
    combinations = len(NAMES) * len(KINDS) * len(THINGS) * len(PLACES) * len(TIMES)
    drawn = random.Random(size).sample(range(combinations), size + added)
    scopes = -(-size // scope_size)
    memories = []
    for index, number in enumerate(drawn):
        number, name = divmod(number, len(NAMES))
        number, kind = divmod(number, len(KINDS))
        number, thing = divmod(number, len(THINGS))
        time, place = divmod(number, len(PLACES))
        scope = index // scope_size if index < size else index % scopes
        phrase = f"{KINDS[kind]} {THINGS[thing]}"
        text = f"{NAMES[name]} keeps the {phrase} in the {PLACES[place]} {TIMES[time]}"
        memories.append(Memory(f"user-{scope}", f"memory-{index}", text, phrase))
    return memories[:size], memories[size:]


def said(count, scopes):
    """Pairs of a scope and a sentence for the patterns; no two sentences are equal."""
    whole = [form.format(kind=kind, thing=thing, place=place)
             for form in SAID for kind in KINDS for thing in THINGS for place in PLACES]
    drawn = random.Random(0).sample(whole, count)
    return [(scopes[index % len(scopes)], sentence) for index, sentence in enumerate(drawn)]
