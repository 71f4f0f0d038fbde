#!/usr/bin/env python3
"""What a model was sent: `heard.py LOG TEXT...` says for each text in how many requests it is, and fails if one is in none.

`heard.py LOG --absent TEXT...` fails if one is in any. A text is looked for in every string of a request.
"""
import json
import sys


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from strings(part)
    elif isinstance(value, dict):
        for part in value.values():
            yield from strings(part)


log, texts = sys.argv[1], sys.argv[2:]
absent = texts[:1] == ["--absent"]
requests = ["\n".join(strings(json.loads(line)["request"])) for line in open(log)]
wrong = 0
for text in texts[absent:]:
    count = sum(text in request for request in requests)
    print(f"in {count} of {len(requests)} requests: {text}")
    wrong += (count > 0) if absent else (count == 0)
sys.exit(1 if wrong else 0)
