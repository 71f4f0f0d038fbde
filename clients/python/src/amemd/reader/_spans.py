"""The spans of sessions: those of the base, those of the journal, and what was recorded in each."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from ..types import Session, SessionSpan
from ._base import EPISODE, FORGOTTEN
from ._graph import Graph

#: Spans of a session in a list of sessions, and of one that is shown by itself: the newest ones.
LISTED, SHOWN = 100, 10_000


class Found(NamedTuple):
    """The newest spans of a session, and the number of all."""

    newest: List[SessionSpan]
    total: int


def episodes(graph: Graph) -> Dict[int, List[int]]:
    """The visible episodes by session, ascending."""
    found: Dict[int, List[int]] = {}
    for id in graph.base.episodes():
        if not graph.state(id).flags & FORGOTTEN:
            found.setdefault(graph.base.record(id).session, []).append(id)
    for new in graph.events:
        if new.type == EPISODE and not graph.state(new.id).flags & FORGOTTEN:
            found.setdefault(new.session, []).append(new.id)
    return found


def spans(
    graph: Graph, latest: Session, known: Sequence[int], parts: Callable[[int], List[int]], most: int
) -> Found:
    """At most `most` spans of a session. `known` are its episodes; `parts` has the events that are part of one."""
    times = graph.sessions.get(latest.id)
    ids: Sequence[int] = graph.base.session_members(latest.id)
    if times is not None and times.events:
        ids = [*ids, *times.events]

    def recorded(id: int) -> int:
        return graph.base.record(id).created if id < graph.base.nodes else graph.events[id - graph.base.nodes].created

    earlier = [*graph.base.spans(latest.id), *(times.earlier if times else [])]
    all: List[Tuple[int, Optional[int], str]] = [*earlier, (latest.opened_micros, latest.closed_micros, latest.outcome)]
    # An event belongs to the last span that began no later; what is before all of them, to the first.
    created = [recorded(id) for id in ids] if earlier else []
    starts = [0, *(bisect_left(created, opened) for opened, _, _ in all[1:])]
    covered: List[List[int]] = [[] for _ in all]
    members = set(ids) if known else set()
    for episode in known:
        for part in parts(episode):
            if part in members:
                into = covered[bisect_right(starts, bisect_left(ids, part)) - 1]
                if into[-1:] != [episode]:
                    into.append(episode)
    found = [
        SessionSpan(opened, closed, outcome, end - start, ids_of)
        for (opened, closed, outcome), start, end, ids_of in zip(all, starts, [*starts[1:], len(ids)], covered)
    ]
    return Found(found[-most:], len(found))
