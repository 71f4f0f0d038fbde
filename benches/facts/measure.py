"""One system, one size: loads memories, then times single calls by one caller.

A system is a context manager with these methods:

    load(memories)      stores memories of one scope in one call; returns their ids
    add(memory)         stores one; returns its id
    search(memory)      asks for one memory; returns the texts found
    get(id)             returns the text
    more(added)         calls that only this system has, with their checks, by the name of the act

Promises: what a call returned is checked, outside of its time, so that no system is measured while it does nothing.
"""
import random
import time

import memories

# Calls before the timed ones: they open files and fill caches, once for all.
WARM_UP_CALLS = 5


class Wrong(Exception):
    """A system returned something other than what was stored."""


def timed(calls):
    """Runs each call of an iterable of pairs (call, check); returns milliseconds, without those of the warm-up."""
    took = []
    for call, check in calls:
        began = time.perf_counter_ns()
        answer = call()
        took.append((time.perf_counter_ns() - began) / 1e6)
        check(answer)
    return took[WARM_UP_CALLS:]


def percentile(took, share):
    """The nearest rank: a value that was measured."""
    return sorted(took)[max(0, -(-len(took) * share // 100) - 1)]


def row(act, took, **more):
    return {"act": act, "calls": len(took), "p50_ms": percentile(took, 50), "p99_ms": percentile(took, 99), **more}


def look_for(one, found):
    """A check that notes whether the texts found have the words of a memory."""
    return lambda texts: found.append(any(one.phrase in text for text in texts))


def loaded(system, stored, batch, scope_size):
    """Loads memories, scope by scope; returns the row, and pairs of id and memory."""
    pairs, calls = [], 0
    began = time.perf_counter()
    for scope in range(0, len(stored), scope_size):
        whole = stored[scope:scope + scope_size]
        for start in range(0, len(whole), batch):
            part = whole[start:start + batch]
            ids = system.load(part)
            calls += 1
            if len(ids) != len(part):
                raise Wrong(f"{len(part)} memories were loaded, and {len(ids)} ids returned")
            pairs.extend(zip(ids, part))
    return {"act": "load", "calls": calls, "seconds": time.perf_counter() - began}, pairs


def measure(system, size, scope_size, batch, calls):
    """Returns the rows of a system."""
    total = calls + WARM_UP_CALLS
    stored, added = memories.made(size, total, scope_size)
    rows = []
    first, pairs = loaded(system, stored, batch, scope_size)
    rows.append(first)

    def has_id(answer):
        if not answer:
            raise Wrong("an add returned no id")

    rows.append(row("add", timed((lambda one=one: system.add(one), has_id) for one in added)))

    chance = random.Random(1)
    found = []
    asked = [one for _, one in chance.choices(pairs, k=total)]
    rows.append(row("search", timed((lambda one=one: system.search(one), look_for(one, found)) for one in asked)))
    # A search that finds nothing may be fast: the share stands beside the times.
    timed_ones = found[WARM_UP_CALLS:]
    rows[-1]["found_percent"] = 100 * sum(timed_ones) / len(timed_ones)

    def same(text, one):
        if text != one.text:
            raise Wrong(f"get returned {text!r} instead of {one.text!r}")

    rows.append(row("get", timed(
        (lambda id=id: system.get(id), lambda text, one=one: same(text, one))
        for id, one in chance.choices(pairs, k=total))))

    for act, more in system.more(added).items():
        rows.append(row(act, timed(more)))
    return rows
