"""From an event to its head: the rules of the daemon's Resolve.

Supersedes edges lead from a replacement to its target. They are followed upward through all replacements, including
forgotten ones. A head is a visible replacement without a visible one above it; the newest head is the answer.
"""

from __future__ import annotations

from typing import Callable, Dict, List, Optional, Tuple


def resolve(
    event: int, replacements: Callable[[int], List[int]], is_shown: Callable[[int], bool]
) -> Optional[Tuple[List[int], List[int]]]:
    """Heads, the newest first, and the chain from the event to the first of them; None if all events are hidden."""
    met, parent = [event], [0]
    places: Dict[int, int] = {event: 0}
    below: List[List[int]] = [[]]
    at = 0
    while at < len(met):
        for other in sorted(replacements(met[at])):
            place = places.setdefault(other, len(met))
            if place == len(met):
                met.append(other)
                parent.append(at)
                below.append([])
            below[place].append(at)
        at += 1
    shown = [is_shown(id) for id in met]
    # Every event below a visible one is replaced.
    is_replaced = [False] * len(met)
    todo = [place for place in range(len(met)) if shown[place]]
    while todo:
        for lower in below[todo.pop()]:
            if not is_replaced[lower]:
                is_replaced[lower] = True
                if not shown[lower]:
                    todo.append(lower)
    heads = [place for place in range(len(met)) if shown[place] and not is_replaced[place]]
    if not heads:
        # Every path up ends in a cycle, which only an import can create.
        heads = [place for place in range(len(met)) if shown[place]]
        heads = [max(heads, key=lambda place: met[place])] if heads else []
    if not heads:
        return None
    heads.sort(key=lambda place: -met[place])
    chain, at = [met[heads[0]]], heads[0]
    while at:
        at = parent[at]
        chain.append(met[at])
    return [met[place] for place in heads], chain[::-1]
