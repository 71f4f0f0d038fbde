"""From an event to what is believed now: the rules of the daemon's Resolve.

Supersedes edges lead from a replacement to what it replaces. They are followed upward through all replacements,
forgotten ones as well. A head is a replacement that is shown and has none that is shown above it; the newest one is the
answer.
"""

from __future__ import annotations

from typing import Callable, Dict, List, Optional, Tuple


def resolve(
    event: int, replacements: Callable[[int], List[int]], is_shown: Callable[[int], bool]
) -> Optional[Tuple[List[int], List[int]]]:
    """Heads, the newest first, and the chain from the event to the first of them; None if all of it is hidden."""
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
    # Downward from whatever is shown: all that is met there is replaced.
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
        # Every way up ends in a circle, which only an import can bring.
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
