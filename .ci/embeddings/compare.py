#!/usr/bin/env python3
"""Compares vectors that were recorded with those of this machine: `compare.py RECORDED FOUND`."""
import json
import sys

recorded, found = (json.load(open(path))["rows"] for path in sys.argv[1:])
assert len(recorded) == len(found), f"{len(recorded)} and {len(found)} texts"
greatest = 0.0
for a, b in zip(recorded, found):
    for key in ("text", "passage_tokens", "query_tokens"):
        assert a[key] == b[key], f"{key}: {a[key]} and {b[key]}"
    for key in ("passage", "query"):
        greatest = max([greatest] + [abs(x - y) for x, y in zip(a[key], b[key], strict=True)])
print(f"{len(found)} texts, tokens equal, greatest difference {greatest:.2e}")
sys.exit(greatest > 1e-6)
