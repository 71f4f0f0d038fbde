"""Conversions between messages and the client's types.

JSON and text stay as in the message; 32-bit numbers keep their value.
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
    SessionSpan,
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


def erased(message: Any) -> Erased:
    return Erased(
        episodes=list(message.episode_ids),
        generation=message.generation,
        readers_gone_micros=micros(message.readers_gone) if message.HasField("readers_gone") else None,
        holders=[FileHolder(holder.process_id, holder.program) for holder in message.holders],
        readers_unknown=message.readers_unknown,
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
    """Attributes as JSON; ValueError for NaN and infinity, which JSON cannot express."""
    return json.dumps(given, ensure_ascii=False, allow_nan=False) if given else ""


def as_of(moment: Optional[Moment]) -> Optional[Request]:
    if moment is None:
        return None
    return {"time": timestamp(moment)} if isinstance(moment, datetime) else {"lsn": moment}


def given(**fields: Any) -> Request:
    """The fields that are not None."""
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
        by=list(where.by),
        agents=list(where.agents),
        filter_json=attributes(where.filter),
        now=None if where.now is None else timestamp(where.now),
        zone=where.zone,
        include_forgotten=where.include_forgotten,
        include_compressed=where.include_compressed,
    )


def edge(message: Any) -> Edge:
    kind = type_name(EDGE_TYPES, message.type - 1)
    return Edge(message.source, message.target, kind, message.weight, micros(message.created_at))


def event(message: Any, with_edges: bool = False) -> Event:
    return Event(
        id=message.id,
        type=type_name(EVENT_TYPES, message.type - 1),
        text=message.text,
        session=message.session_id,
        created_micros=micros(message.created_at),
        event_micros=micros(message.event_time) if message.HasField("event_time") else None,
        confidence=message.confidence,
        strength=message.strength,
        decay_rate=getattr(message, "lambda"),
        access_count=message.access_count,
        accessed_micros=micros(message.last_accessed),
        pinned=message.pinned,
        forgotten=message.forgotten,
        compressed=message.compressed,
        erased=message.erased,
        attributes=json.loads(message.attributes_json) if message.attributes_json else {},
        session_key=message.session_key,
        has_vector=message.vector_present or message.HasField("vector"),
        vector=list(message.vector.values) if message.HasField("vector") else None,
        edges=[edge(one) for one in message.edges] if with_edges else None,
        by=message.by,
        agent=message.agent,
        reason=message.reason,
    )


def step(message: Any) -> Step:
    is_first = not message.HasField("parent")
    return Step(
        event=event(message.event),
        depth=message.depth,
        parent=None if is_first else message.parent,
        type=None if is_first else type_name(EDGE_TYPES, message.type - 1),
        incoming=message.incoming,
        contested=message.contested,
        superseded=message.superseded,
    )


def walk(message: Any) -> Walk:
    return Walk([step(one) for one in message.steps], message.truncated)


def search_hit(message: Any) -> Hit:
    return Hit(
        event(message.event),
        message.score,
        message.text_score,
        message.vector_score,
        message.neighbour_score,
        message.session_score,
        message.found_id,
        message.contested,
        message.superseded,
        message.speaker_factor,
        message.time_factor,
        message.recency_factor,
        message.relevance.value,
        message.relevance.weak,
        message.equal_texts,
        message.newer_value_id if message.HasField("newer_value_id") else None,
    )


def resolved(message: Any) -> Resolved:
    return Resolved(
        event(message.head),
        [event(one) for one in message.chain],
        [event(one) for one in message.heads],
        message.contested,
    )


def conflict(message: Any) -> Conflict:
    if message.HasField("contradiction"):
        return Conflict([event(message.contradiction.source), event(message.contradiction.target)])
    return Conflict([event(one) for one in message.contested.heads], event(message.contested.belief))


def timeline_entry(message: Any) -> TimelineEntry:
    return TimelineEntry(micros(message.time), event(message.event))


def rows(message: Any) -> Rows:
    return Rows([row(one) for one in message.rows], [row(one) for one in message.origins], message.truncated)


def row(message: Any) -> Row:
    return Row(
        event=event(message.event),
        score=message.score,
        found=message.found,
        found_score=message.found_score,
        confidence_score=message.confidence_score,
        strength_score=message.strength_score,
        recency_score=message.recency_score,
        nearness_score=message.nearness_score,
        stage=message.stage,
        depth=message.depth,
        origin=getattr(message, "from") if message.HasField("from") else None,
        type=type_name(EDGE_TYPES, message.type - 1) if message.type else None,
        incoming=message.incoming,
    )


def session(message: Any) -> Session:
    return Session(
        id=message.id,
        key=message.key,
        agent=message.agent,
        opened_micros=micros(message.opened_at),
        explicit=message.explicit,
        last_event_micros=micros(message.last_event_at),
        closed_micros=micros(message.closed_at) if message.HasField("closed_at") else None,
        outcome=message.outcome,
        spans=[span(one) for one in message.spans],
        span_count=message.span_count,
    )


def span(message: Any) -> SessionSpan:
    return SessionSpan(
        opened_micros=micros(message.opened_at),
        closed_micros=micros(message.closed_at) if message.HasField("closed_at") else None,
        outcome=message.outcome,
        event_count=message.event_count,
        episode_ids=list(message.episode_ids),
    )


def context(message: Any) -> Context:
    def item(one: Any) -> ContextItem:
        explains = one.explains_id if one.HasField("explains_id") else None
        return ContextItem(
            one.event_id,
            one.found_id,
            explains,
            one.score,
            one.tokens,
            one.by,
            one.agent,
            one.reason,
            micros(one.created_at),
            one.contested,
            one.superseded,
            one.excerpt,
            type_name(EVENT_TYPES, one.type - 1),
            one.confidence,
        )

    items, left_out = ([item(one) for one in part] for part in (message.items, message.left_out))
    return Context(message.text, message.tokens, items, left_out, message.relevance)


def commit(parts: Sequence[Any]) -> Commit:
    """The commit in all of its messages."""
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


def change(message: Any) -> Change:
    which = message.WhichOneof("change")
    one: Any = getattr(message, which) if which else None
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
        values = {"key": one.key, "agent": one.agent, "reopened": one.reopened}
        return Change("session-opened", session=one.session_id, values=values, time_micros=micros(one.time))
    if which == "session_closed":
        values = {"outcome": one.outcome}
        return Change("session-closed", session=one.session_id, values=values, time_micros=micros(one.time))
    if which == "settings_json":
        return Change("settings", attributes=json.loads(one))
    if which == "erased_event_id":
        return Change("erased", event_id=one)
    return Change(which or "unknown")
