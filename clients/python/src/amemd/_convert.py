"""Between messages and what the client gives and takes.

JSON and text come as they are in the message; numbers of 32 bits keep the value that they have.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any, Dict, Mapping, Optional, Sequence

from . import _wire
from .types import (
    EDGE_TYPES,
    EVENT_TYPES,
    Change,
    Commit,
    Conflict,
    Context,
    ContextItem,
    Edge,
    Erased,
    Event,
    FileHolder,
    Hit,
    Moment,
    New,
    Resolved,
    Row,
    Rows,
    Session,
    Step,
    TimelineEntry,
    Walk,
    Where,
    to_micros,
    type_name,
    type_number,
)

Request = Dict[str, Any]


def micros(time: Any) -> int:
    """A Timestamp of a message."""
    return int(time.seconds) * 1_000_000 + int(time.nanos) // 1000


def erased(told: Any) -> Erased:
    return Erased(
        episodes=list(told.episode_ids),
        generation=told.generation,
        readers_gone_micros=micros(told.readers_gone) if told.HasField("readers_gone") else None,
        holders=[FileHolder(holder.process_id, holder.program) for holder in told.holders],
        readers_unknown=told.readers_unknown,
    )


def duration(span: timedelta) -> Request:
    return {"seconds": span // timedelta(seconds=1), "nanos": span % timedelta(seconds=1) // timedelta(microseconds=1) * 1000}


def timestamp(time: datetime) -> Request:
    seconds, rest = divmod(to_micros(time), 1_000_000)
    return {"seconds": seconds, "nanos": rest * 1000}


def event_type(name: str) -> int:
    return type_number(EVENT_TYPES, name) + 1


def edge_type(name: str) -> int:
    return type_number(EDGE_TYPES, name) + 1


def vector(values: Optional[Sequence[float]]) -> Optional[Request]:
    return None if values is None else {"values": list(values)}


def attributes(given: Optional[Mapping[str, Any]]) -> str:
    """Attributes as JSON; NaN and infinity, which JSON has not, are refused."""
    return json.dumps(given, ensure_ascii=False, allow_nan=False) if given else ""


def as_of(moment: Optional[Moment]) -> Optional[Request]:
    if moment is None:
        return None
    return {"time": timestamp(moment)} if isinstance(moment, datetime) else {"lsn": moment}


def given(**fields: Any) -> Request:
    """The fields that say something."""
    return {name: value for name, value in fields.items() if value is not None}


def new_event(new: New) -> Request:
    return given(
        type=event_type(new.type),
        text=new.text,
        session_id=new.session,
        confidence=new.confidence,
        event_time=None if new.event_time is None else timestamp(new.event_time),
        **{"lambda": new.decay_rate},
        attributes_json=attributes(new.attributes),
        vector=vector(new.vector),
    )


def selection(where: Optional[Where]) -> Request:
    if where is None:
        return {}

    def window(span: Any) -> Optional[Request]:
        if span is None:
            return None
        ends = [None if end is None else timestamp(end) for end in span]
        return given(**{"from": ends[0], "until": ends[1]})

    def bounds(span: Any) -> Optional[Request]:
        return None if span is None else given(min=span[0], max=span[1])

    return given(
        types=[event_type(name) for name in where.types],
        session_ids=list(where.sessions),
        recorded=window(where.recorded),
        happened=window(where.happened),
        confidence=bounds(where.confidence),
        strength=bounds(where.strength),
        strength_at=None if where.strength_at is None else timestamp(where.strength_at),
        keyword=where.keyword,
        scope=given(user=where.user, agent=where.agent, run=where.run),
        filter_json=attributes(where.filter),
        include_forgotten=where.include_forgotten,
        include_compressed=where.include_compressed,
    )


def edge(told: Any) -> Edge:
    return Edge(told.source, told.target, type_name(EDGE_TYPES, told.type - 1), told.weight, micros(told.created_at))


def event(told: Any, with_edges: bool = False) -> Event:
    return Event(
        id=told.id,
        type=type_name(EVENT_TYPES, told.type - 1),
        text=told.text,
        session=told.session_id,
        created_micros=micros(told.created_at),
        event_micros=micros(told.event_time) if told.HasField("event_time") else None,
        confidence=told.confidence,
        strength=told.strength,
        decay_rate=getattr(told, "lambda"),
        access_count=told.access_count,
        accessed_micros=micros(told.last_accessed),
        pinned=told.pinned,
        forgotten=told.forgotten,
        compressed=told.compressed,
        erased=told.erased,
        attributes=json.loads(told.attributes_json) if told.attributes_json else {},
        session_key=told.session_key,
        has_vector=told.has_vector or told.HasField("vector"),
        vector=list(told.vector.values) if told.HasField("vector") else None,
        edges=[edge(one) for one in told.edges] if with_edges else None,
    )


def step(told: Any) -> Step:
    is_first = not told.HasField("parent")
    return Step(
        event=event(told.event),
        depth=told.depth,
        parent=None if is_first else told.parent,
        type=None if is_first else type_name(EDGE_TYPES, told.type - 1),
        incoming=told.incoming,
    )


def walk(told: Any) -> Walk:
    return Walk([step(one) for one in told.steps], told.truncated)


def search_hit(told: Any) -> Hit:
    return Hit(
        event(told.event),
        told.score,
        told.text_score,
        told.vector_score,
        told.neighbour_score,
        told.session_score,
        told.found_id,
    )


def resolved(told: Any) -> Resolved:
    return Resolved(
        event(told.head), [event(one) for one in told.chain], [event(one) for one in told.heads], told.contested
    )


def conflict(told: Any) -> Conflict:
    if told.HasField("contradiction"):
        return Conflict([event(told.contradiction.source), event(told.contradiction.target)])
    return Conflict([event(one) for one in told.contested.heads], event(told.contested.belief))


def timeline_entry(told: Any) -> TimelineEntry:
    return TimelineEntry(micros(told.time), event(told.event))


def rows(told: Any) -> Rows:
    return Rows([row(one) for one in told.rows], [row(one) for one in told.origins], told.truncated)


def row(told: Any) -> Row:
    return Row(
        event=event(told.event),
        score=told.score,
        found=told.found,
        found_score=told.found_score,
        confidence_score=told.confidence_score,
        strength_score=told.strength_score,
        recency_score=told.recency_score,
        nearness_score=told.nearness_score,
        stage=told.stage,
        depth=told.depth,
        origin=getattr(told, "from") if told.HasField("from") else None,
        type=type_name(EDGE_TYPES, told.type - 1) if told.type else None,
        incoming=told.incoming,
    )


def session(told: Any) -> Session:
    return Session(
        id=told.id,
        key=told.key,
        agent=told.agent,
        opened_micros=micros(told.opened_at),
        explicit=told.explicit,
        last_event_micros=micros(told.last_event_at),
        closed_micros=micros(told.closed_at) if told.HasField("closed_at") else None,
        outcome=told.outcome,
    )


def context(told: Any) -> Context:
    def item(one: Any) -> ContextItem:
        explains = one.explains_id if one.HasField("explains_id") else None
        return ContextItem(one.event_id, one.found_id, explains, one.score, one.tokens)

    return Context(told.text, told.tokens, [item(one) for one in told.items], [item(one) for one in told.left_out])


def commit(parts: Sequence[Any]) -> Commit:
    """A commit of all of its messages."""
    last = parts[-1]
    return Commit(
        lsn=last.moment.lsn,
        instance=last.moment.instance,
        time_micros=micros(last.moment.time),
        kind=_wire.enum_name("CommitKind", last.kind),
        principal=last.principal,
        agent=last.agent,
        changes=[change(one) for part in parts for one in part.changes],
    )


def change(told: Any) -> Change:
    which = told.WhichOneof("change")
    one: Any = getattr(told, which) if which else None
    if which == "event":
        return Change("event", event=event(one), event_id=one.id)
    if which in ("edge", "retracted_edge"):
        return Change(which.replace("_", "-"), edge=edge(one))
    if which == "belief":
        names = ("confidence", "pinned", "forgotten", "compressed")
        values = {name: getattr(one, name) for name in names}
        return Change("belief", event_id=one.event_id, values={**values, "decay_rate": getattr(one, "lambda")})
    if which == "attributes":
        known = json.loads(one.attributes_json) if one.attributes_json else {}
        return Change("attributes", event_id=one.event_id, attributes=known)
    if which == "vector":
        numbers = list(one.vector.values) if one.HasField("vector") else None
        return Change("vector", event_id=one.event_id, vector=numbers)
    if which == "touch":
        uses = {used.event_id: used.count for used in one.touched}
        return Change("touch", uses=uses, time_micros=micros(one.time))
    if which == "decay":
        return Change("decay", time_micros=micros(one.time))
    if which == "session_opened":
        values = {"key": one.key, "agent": one.agent}
        return Change("session-opened", session=one.session_id, values=values, time_micros=micros(one.time))
    if which == "session_closed":
        values = {"outcome": one.outcome}
        return Change("session-closed", session=one.session_id, values=values, time_micros=micros(one.time))
    if which == "settings_json":
        return Change("settings", attributes=json.loads(one))
    if which == "erased_event_id":
        return Change("erased", event_id=one)
    return Change(which or "unknown")
