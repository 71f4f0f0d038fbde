"""Parts of a pipeline: sources produce rows, and each stage transforms the rows before it.

    from amemd import pipe

    rows = brain.pipeline(
        [pipe.search("how long do backups take", limit=5)],
        [pipe.traverse(["supports", "caused-by"], depth=2), pipe.resolve(), pipe.rank(found=1, recency=0.5)],
    )

The proto, proto/proto/amem/v1/pipeline.proto, documents their costs and limits.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Dict, NewType, Optional, Sequence

from . import _convert
from ._convert import given
from .types import Where

#: A source of rows.
Source = NewType("Source", Dict[str, Any])
#: A transformation of rows.
Stage = NewType("Stage", Dict[str, Any])


def events(ids: Sequence[int]) -> Source:
    """These events, each with the score 1."""
    return Source({"events": {"event_ids": list(ids)}})


def search(
    text: str = "", *, vector: Optional[Sequence[float]] = None, where: Optional[Where] = None, limit: int = 0
) -> Source:
    """The hits of a search."""
    selection = _convert.selection(where)
    return Source({"search": given(text=text, vector=_convert.vector(vector), selection=selection, limit=limit)})


def text(text: str, *, where: Optional[Where] = None, limit: int = 0) -> Source:
    """The hits of a text query."""
    return Source({"text": {"text": text, "selection": _convert.selection(where), "limit": limit}})


def similar(
    *,
    event: Optional[int] = None,
    vector: Optional[Sequence[float]] = None,
    where: Optional[Where] = None,
    limit: int = 0,
    min_similarity: Optional[float] = None,
) -> Source:
    """The events most similar to an event or a vector."""
    selection = _convert.selection(where)
    return Source(
        {
            "similar": given(
                event_id=event,
                vector=_convert.vector(vector),
                selection=selection,
                limit=limit,
                min_similarity=min_similarity,
            )
        }
    )


def pattern(where: Optional[Where] = None, *, order: str = "newest", axis: str = "recorded", limit: int = 0) -> Source:
    """The events that meet conditions, each with the score 1."""
    return Source(
        {
            "pattern": {
                "selection": _convert.selection(where),
                "order": f"ORDER_{order.upper()}",
                "axis": f"AXIS_{axis.upper()}",
                "limit": limit,
            }
        }
    )


def traverse(types: Sequence[str] = (), *, follow: str = "outgoing", depth: int = 0, limit: int = 0) -> Stage:
    """Appends the events reachable from the rows."""
    return Stage(
        {
            "traverse": {
                "types": [_convert.edge_type(name) for name in types],
                "follow": f"FOLLOW_{follow.upper()}",
                "depth": depth,
                "limit": limit,
            }
        }
    )


def resolve() -> Stage:
    """Replaces each row by its newest head."""
    return Stage({"resolve": {}})


def filter(where: Where) -> Stage:
    """Keeps the rows that meet conditions."""
    return Stage({"filter": _convert.selection(where)})


def rank(
    *,
    found: Optional[float] = None,
    confidence: Optional[float] = None,
    strength: Optional[float] = None,
    recency: Optional[float] = None,
    nearness: Optional[float] = None,
    half_life_days: Optional[float] = None,
    axis: str = "recorded",
    strength_at: Optional[datetime] = None,
) -> Stage:
    """Sorts by a weighted sum of the source's score, confidence, strength, recency and nearness."""
    return Stage(
        {
            "rank": given(
                found_weight=found,
                confidence_weight=confidence,
                strength_weight=strength,
                recency_weight=recency,
                nearness_weight=nearness,
                half_life_days=half_life_days,
                axis=f"AXIS_{axis.upper()}",
                strength_at=None if strength_at is None else _convert.timestamp(strength_at),
            )
        }
    )


def limit(count: int) -> Stage:
    """Keeps the first rows."""
    return Stage({"limit": {"count": count}})
