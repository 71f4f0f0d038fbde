"""Writes to a brain.

Every write carries a request id and is retried with it, so the daemon applies it once.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any, Dict, List, Mapping, Optional, Sequence

from . import _convert
from ._calls import Calls
from ._session import OpenSession
from .types import End, Ends, Erased, If, New


class Writing(Calls):
    """The writes of a brain."""

    def add(
        self,
        type: str,
        text: str,
        *,
        confidence: Optional[float] = None,
        session: Optional[int] = None,
        attributes: Optional[Mapping[str, Any]] = None,
        event_time: Optional[datetime] = None,
        vector: Optional[Sequence[float]] = None,
        decay_rate: Optional[float] = None,
        caused_by: Ends = (),
        supports: Ends = (),
        contradicts: Ends = (),
        supersedes: Ends = (),
        related_to: Ends = (),
        part_of: Ends = (),
        follows: Ends = (),
        only_if: Optional[If] = None,
        request_id: Optional[str] = None,
    ) -> int:
        """Adds an event of a type (fact, decision, inference, correction, skill, episode) and returns its id. `New`
        explains the edges."""
        new = New(
            type,
            text,
            confidence,
            session,
            attributes,
            event_time,
            vector,
            decay_rate,
            caused_by,
            supports,
            contradicts,
            supersedes,
            related_to,
            part_of,
            follows,
        )
        return self.add_many([new], only_if=only_if, request_id=request_id)[0]

    def add_fact(self, text: str, **how: Any) -> int:
        """Adds an observation; as `add`."""
        return self.add("fact", text, **how)

    def add_decision(self, text: str, **how: Any) -> int:
        """Adds a decision; as `add`."""
        return self.add("decision", text, **how)

    def add_inference(self, text: str, **how: Any) -> int:
        """Adds a conclusion; as `add`."""
        return self.add("inference", text, **how)

    def add_skill(self, text: str, **how: Any) -> int:
        """Adds how to do something; as `add`."""
        return self.add("skill", text, **how)

    def add_episode(self, text: str, **how: Any) -> int:
        """Adds the summary of an experience; as `add`."""
        return self.add("episode", text, **how)

    def add_many(
        self,
        events: Sequence[New],
        *,
        follow: bool = False,
        relate: Optional[int] = None,
        min_similarity: float = 0.0,
        only_if: Optional[If] = None,
        request_id: Optional[str] = None,
    ) -> List[int]:
        """Adds the whole batch or nothing, and returns the ids in order. `follow` links each event to the previous one
        of its session; `relate` links each to this number of similar events."""
        places = {id(new): place for place, new in enumerate(events)}

        def end(of: End) -> Dict[str, int]:
            if not isinstance(of, New):
                return {"event_id": of}
            if id(of) not in places:
                raise ValueError(f"an edge leads to an event that is not in the batch: {of.text!r}")
            return {"batch_index": places[id(of)]}

        links = [
            {"source": {"batch_index": place}, "target": end(of), "type": _convert.edge_type(name)}
            for place, new in enumerate(events)
            for name, of in new.links()
        ]
        answer = self._write(
            "Ingest",
            only_if,
            request_id,
            events=[_convert.new_event(new) for new in events],
            links=links,
            follow=follow,
            relate=None if relate is None else {"k": relate, "min_similarity": min_similarity},
        )
        return list(answer.event_ids)

    def correct(
        self,
        target: int,
        text: str,
        *,
        reason: str = "",
        to_head: bool = False,
        target_confidence: Optional[float] = None,
        confidence: Optional[float] = None,
        session: Optional[int] = None,
        attributes: Optional[Mapping[str, Any]] = None,
        event_time: Optional[datetime] = None,
        vector: Optional[Sequence[float]] = None,
        only_if: Optional[If] = None,
        request_id: Optional[str] = None,
    ) -> int:
        """Replaces a belief and returns the new event's id. `to_head` replaces the newest head of the chain instead.
        `target_confidence` is the confidence left to the old event; default 0."""
        new = New("correction", text, confidence, session, attributes, event_time, vector)
        answer = self._write(
            "Correct",
            only_if,
            request_id,
            target_id=target,
            to_head=to_head,
            event=_convert.new_event(new),
            target_confidence=target_confidence,
            reason=reason,
        )
        return int(answer.event_id)

    def link(
        self,
        source: int,
        type: str,
        target: int,
        weight: Optional[float] = None,
        *,
        only_if: Optional[If] = None,
        request_id: Optional[str] = None,
    ) -> None:
        """Adds an edge, or changes the weight of an existing one: `link(a, "caused-by", b)` means that b caused a."""
        self._write(
            "Link",
            only_if,
            request_id,
            source_id=source,
            target_id=target,
            type=_convert.edge_type(type),
            weight=weight,
        )

    def unlink(self, source: int, type: str, target: int, *, request_id: Optional[str] = None) -> None:
        """Retracts an edge."""
        self._write("Unlink", None, request_id, source_id=source, target_id=target, type=_convert.edge_type(type))

    def pin(self, event: int, *, request_id: Optional[str] = None) -> None:
        """Exempts an event from decay."""
        self._write("Pin", None, request_id, event_id=event)

    def unpin(self, event: int, *, request_id: Optional[str] = None) -> None:
        """Subjects an event to decay again."""
        self._write("Unpin", None, request_id, event_id=event)

    def forget(self, event: int, *, request_id: Optional[str] = None) -> None:
        """Hides an event, also from queries of the past. `restore` undoes it."""
        self._write("Forget", None, request_id, event_id=event)

    def restore(self, event: int, *, request_id: Optional[str] = None) -> None:
        """Shows a forgotten event again."""
        self._write("Restore", None, request_id, event_id=event)

    def erase(
        self, events: Sequence[int], *, readers_wait: Optional[timedelta] = None, request_id: Optional[str] = None
    ) -> Erased:
        """Removes text, vector and attributes for good, from every file of the daemon. Waits for readers that have an
        earlier file open: 2 seconds, or `readers_wait`, at most a minute."""
        wait = None if readers_wait is None else _convert.duration(readers_wait)
        answer = self._write("Erase", None, request_id, event_ids=list(events), reader_wait=wait)
        return _convert.erased(answer)

    def touch(self, events: Sequence[int], *, request_id: Optional[str] = None) -> None:
        """Counts events as used."""
        self._write("Touch", None, request_id, touched=[{"event_id": event} for event in events])

    def set_attributes(
        self, event: int, attributes: Optional[Mapping[str, Any]], *, request_id: Optional[str] = None
    ) -> None:
        """Replaces or removes an event's attributes."""
        self._write("SetAttributes", None, request_id, event_id=event, attributes_json=_convert.attributes(attributes))

    def set_vector(self, event: int, vector: Optional[Sequence[float]], *, request_id: Optional[str] = None) -> None:
        """Replaces or removes an event's vector."""
        self._write("SetVector", None, request_id, event_id=event, vector=_convert.vector(vector))

    def decay(self, *, request_id: Optional[str] = None) -> None:
        """Computes the strength of every event for now."""
        self._write("Decay", None, request_id)

    def compress(
        self, session: int, text: str, *, vector: Optional[Sequence[float]] = None, request_id: Optional[str] = None
    ) -> int:
        """Summarises what no episode of a session covers, and returns the new one. The events leave listings, and stay in the graph."""
        answer = self._write(
            "CompressSession", None, request_id, session_id=session, text=text, vector=_convert.vector(vector)
        )
        return int(answer.event_id)

    def open_session(self, key: str = "", *, request_id: Optional[str] = None) -> int:
        """Opens a session and returns its number; returns the session of the same key, if any: a closed one is opened again."""
        return int(self._write("OpenSession", None, request_id, key=key).session_id)

    def close_session(self, session: int, outcome: str = "", *, request_id: Optional[str] = None) -> None:
        """Closes a session."""
        self._write("CloseSession", None, request_id, session_id=session, outcome=outcome)

    def session(self, key: str = "", outcome: str = "") -> OpenSession:
        """A session for a `with` block: opens at its beginning, closes with its outcome at its end."""
        return OpenSession(self, key, outcome)

    def set_settings(self, settings: Mapping[str, Any], *, request_id: Optional[str] = None) -> None:
        """Replaces the settings."""
        self._write("SetSettings", None, request_id, settings_json=json.dumps(settings))

    def settings(self) -> Dict[str, Any]:
        """The settings as they were set; missing keys have their defaults."""
        settings = self._ask("GetBrain").settings_json
        return dict(json.loads(settings)) if settings else {}

    def checkpoint(self) -> int:
        """Makes a new base, and returns its generation. The daemon also does so by itself."""
        return int(self._ask("CheckpointBrain").generation)
