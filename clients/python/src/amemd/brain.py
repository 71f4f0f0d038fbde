"""One brain: writing to it and asking it.

Every write carries a request id and is tried again with it, so that it is done once whatever becomes of the connection.
What every call does, costs and refuses is told in the protos, proto/proto/amem/v1.
"""

from __future__ import annotations

import json
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, TypeVar

from . import _convert
from ._call import Caller, new_request_id
from ._convert import given
from ._follow import Commits
from ._session import OpenSession
from .pipe import Source, Stage
from .types import (
    Conflict,
    Context,
    End,
    Ends,
    Event,
    Hit,
    If,
    Moment,
    New,
    Resolved,
    Rows,
    Session,
    Step,
    TimelineEntry,
    Walk,
    Where,
)

T = TypeVar("T")
#: Events of one page of a listing.
PAGE = 1000


class Brain:
    """A brain of a daemon. For any number of threads."""

    def __init__(self, caller: Caller, name: str, agent: str, opened: Any) -> None:
        self._caller = caller
        self.name = name
        self.agent = agent
        #: The newest commit that an answer to this object named.
        self.lsn: int = opened.moment.lsn
        #: Which brain answered when it was opened.
        self.instance: str = opened.moment.instance
        #: The file, on the daemon's machine.
        self.file: str = opened.path
        #: True if the caller may read the file itself, as `amemd.reader.Reader` does.
        self.direct_read: bool = opened.direct_read
        self.dimension: int = opened.info.dimension

    # What is under every call.

    def _ask(self, name: str, **fields: Any) -> Any:
        answer = self._caller.call(name, {"brain": self.name, **given(**fields)})
        self.lsn = max(self.lsn, answer.moment.lsn)
        return answer

    def _write(self, name: str, only_if: Optional[If], request_id: Optional[str], **fields: Any) -> Any:
        options: Dict[str, Any] = {"agent": self.agent, "request_id": request_id or new_request_id()}
        if only_if is not None:
            options.update(given(expected_lsn=only_if.lsn))
            if only_if.head is not None:
                options["expected_head"] = {"event_id": only_if.head[0], "head_id": only_if.head[1]}
        answer = self._caller.call(name, {"brain": self.name, "options": options, **given(**fields)})
        self.lsn = max(self.lsn, answer.commit.lsn)
        return answer

    def _pages(self, name: str, limit: Optional[int], rows: Callable[[Any], Iterable[Any]], **fields: Any) -> List[Any]:
        found: List[Any] = []
        token = ""
        while limit is None or len(found) < limit:
            size = PAGE if limit is None else min(PAGE, limit - len(found))
            page = self._ask(name, page_size=size, page_token=token, **fields)
            found.extend(rows(page))
            token = page.next_page_token
            if not token:
                break
        return found

    # Writing.

    def add(
        self,
        type: str,
        text: str,
        *,
        confidence: Optional[float] = None,
        session: Optional[int] = None,
        attributes: Optional[Mapping[str, Any]] = None,
        event_time: Any = None,
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
        """Adds an event of a type (fact, decision, inference, correction, skill, episode) and gives its id. What the edges
        mean is told at `New`."""
        new = New(
            type, text, confidence, session, attributes, event_time, vector, decay_rate,
            caused_by, supports, contradicts, supersedes, related_to, part_of, follows,
        )
        return self.add_many([new], only_if=only_if, request_id=request_id)[0]

    def add_fact(self, text: str, **how: Any) -> int:
        """Adds what was observed; as `add`."""
        return self.add("fact", text, **how)

    def add_decision(self, text: str, **how: Any) -> int:
        """Adds what was chosen; as `add`."""
        return self.add("decision", text, **how)

    def add_inference(self, text: str, **how: Any) -> int:
        """Adds what was concluded; as `add`."""
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
        """Adds all of a batch or nothing of it, and gives the ids in order. `follow` ties each event to the one before it
        in its session; `relate` ties each to so many similar ones."""
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
            "Ingest", only_if, request_id,
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
        event_time: Any = None,
        vector: Optional[Sequence[float]] = None,
        only_if: Optional[If] = None,
        request_id: Optional[str] = None,
    ) -> int:
        """Replaces a belief and gives the new event's id. With `to_head` it is the newest head of the chain that is
        replaced. `target_confidence` is what is left of the old one's; 0 unless it is said."""
        new = New("correction", text, confidence, session, attributes, event_time, vector)
        answer = self._write(
            "Correct", only_if, request_id,
            target_id=target, to_head=to_head, event=_convert.new_event(new), target_confidence=target_confidence,
            reason=reason,
        )
        return int(answer.event_id)

    def link(
        self, source: int, type: str, target: int, weight: Optional[float] = None, *,
        only_if: Optional[If] = None, request_id: Optional[str] = None,
    ) -> None:
        """Adds an edge, or gives an existing one another weight: `link(a, "caused-by", b)`, a was caused by b."""
        self._write(
            "Link", only_if, request_id, source_id=source, target_id=target, type=_convert.edge_type(type), weight=weight
        )

    def unlink(self, source: int, type: str, target: int, *, request_id: Optional[str] = None) -> None:
        """Retracts an edge."""
        self._write(
            "Unlink", None, request_id, source_id=source, target_id=target, type=_convert.edge_type(type)
        )

    def pin(self, event: int, *, request_id: Optional[str] = None) -> None:
        """Keeps an event from fading."""
        self._write("Pin", None, request_id, event_id=event)

    def unpin(self, event: int, *, request_id: Optional[str] = None) -> None:
        """Lets it fade again."""
        self._write("Unpin", None, request_id, event_id=event)

    def forget(self, event: int, *, request_id: Optional[str] = None) -> None:
        """Hides an event, at every moment. `restore` undoes it."""
        self._write("Forget", None, request_id, event_id=event)

    def restore(self, event: int, *, request_id: Optional[str] = None) -> None:
        """Shows a forgotten event again."""
        self._write("Restore", None, request_id, event_id=event)

    def erase(self, events: Sequence[int], *, request_id: Optional[str] = None) -> List[int]:
        """Takes text, vector and attributes away for good, from every file of the daemon's. Gives the episodes whose text
        may repeat what was erased."""
        return list(self._write("Erase", None, request_id, event_ids=list(events)).episode_ids)

    def touch(self, events: Sequence[int], *, request_id: Optional[str] = None) -> None:
        """Counts events as used."""
        self._write("Touch", None, request_id, touched=[{"event_id": event} for event in events])

    def set_attributes(
        self, event: int, attributes: Optional[Mapping[str, Any]], *, request_id: Optional[str] = None
    ) -> None:
        """Gives an event other attributes, or none."""
        self._write(
            "SetAttributes", None, request_id, event_id=event, attributes_json=_convert.attributes(attributes)
        )

    def set_vector(self, event: int, vector: Optional[Sequence[float]], *, request_id: Optional[str] = None) -> None:
        """Gives an event another vector, or none."""
        self._write("SetVector", None, request_id, event_id=event, vector=_convert.vector(vector))

    def decay(self, *, request_id: Optional[str] = None) -> None:
        """Computes the strength of every event for now."""
        self._write("Decay", None, request_id)

    def compress(
        self, session: int, text: str, *, vector: Optional[Sequence[float]] = None, request_id: Optional[str] = None
    ) -> int:
        """Summarises a session by an episode, and gives its id. The events leave listings, and stay in the graph."""
        answer = self._write(
            "CompressSession", None, request_id, session_id=session, text=text, vector=_convert.vector(vector)
        )
        return int(answer.event_id)

    def open_session(self, key: str = "", *, request_id: Optional[str] = None) -> int:
        """Opens a session and gives its number; one that is open under the same key is found again."""
        return int(self._write("OpenSession", None, request_id, key=key).session_id)

    def close_session(self, session: int, outcome: str = "", *, request_id: Optional[str] = None) -> None:
        """Closes a session."""
        self._write("CloseSession", None, request_id, session_id=session, outcome=outcome)

    def session(self, key: str = "", outcome: str = "") -> OpenSession:
        """A session for a `with` block: opened at its beginning, closed with its outcome at its end."""
        return OpenSession(self, key, outcome)

    def set_settings(self, settings: Mapping[str, Any], *, request_id: Optional[str] = None) -> None:
        """Replaces the settings."""
        self._write("SetSettings", None, request_id, settings_json=json.dumps(settings))

    def settings(self) -> Dict[str, Any]:
        """The settings as they were set; what is not said has its default."""
        told = self._ask("GetBrain").settings_json
        return dict(json.loads(told)) if told else {}

    def checkpoint(self) -> int:
        """Folds the journal into a new base, and gives its generation. The daemon does it by itself, too."""
        return int(self._ask("CheckpointBrain").generation)

    # Asking.

    def get(
        self,
        event: int,
        *,
        as_of: Optional[Moment] = None,
        include_forgotten: bool = False,
        edges: bool = False,
        vectors: bool = False,
        touch: Optional[bool] = None,
    ) -> Event:
        """An event by its id. `touch` counts it as used; yes unless told otherwise."""
        return self.get_many(
            [event], as_of=as_of, include_forgotten=include_forgotten, edges=edges, vectors=vectors, touch=touch
        )[0]

    def get_many(
        self,
        events: Sequence[int],
        *,
        as_of: Optional[Moment] = None,
        include_forgotten: bool = False,
        edges: bool = False,
        vectors: bool = False,
        touch: Optional[bool] = None,
    ) -> List[Event]:
        """Events by their ids, in that order; one that is not there fails the call."""
        answer = self._ask(
            "GetEvents", event_ids=list(events), as_of=_convert.as_of(as_of), include_forgotten=include_forgotten,
            include_edges=edges, include_vectors=vectors, touch=touch,
        )
        return [_convert.event(one, with_edges=edges) for one in answer.events]

    def search(
        self,
        text: str = "",
        *,
        vector: Optional[Sequence[float]] = None,
        where: Optional[Where] = None,
        limit: int = 10,
        as_of: Optional[Moment] = None,
        include_superseded: bool = False,
        text_weight: Optional[float] = None,
        vector_weight: Optional[float] = None,
    ) -> List[Hit]:
        """What answers a question best: words, vectors and the graph together."""
        answer = self._ask(
            "Search", text=text, vector=_convert.vector(vector), selection=_convert.selection(where), limit=limit,
            as_of=_convert.as_of(as_of), include_superseded=include_superseded, text_weight=text_weight,
            vector_weight=vector_weight,
        )
        return [_convert.search_hit(one) for one in answer.hits]

    def text(
        self, text: str, *, where: Optional[Where] = None, limit: int = 10, as_of: Optional[Moment] = None
    ) -> List[Hit]:
        """What answers a question best by its words alone."""
        answer = self._ask(
            "Text", text=text, selection=_convert.selection(where), limit=limit, as_of=_convert.as_of(as_of)
        )
        return [Hit(_convert.event(one.event), one.score) for one in answer.hits]

    def similar(
        self,
        *,
        event: Optional[int] = None,
        vector: Optional[Sequence[float]] = None,
        where: Optional[Where] = None,
        limit: int = 10,
        min_similarity: Optional[float] = None,
        as_of: Optional[Moment] = None,
        approximate: bool = False,
    ) -> List[Hit]:
        """The events whose vectors point the same way as an event's or as a vector; the score is the cosine."""
        if (event is None) == (vector is None):
            raise ValueError("similar to what: an event, or a vector")
        answer = self._ask(
            "Similar", event_id=event, vector=_convert.vector(vector), selection=_convert.selection(where), limit=limit,
            min_similarity=min_similarity, as_of=_convert.as_of(as_of), approximate=approximate,
        )
        return [Hit(_convert.event(one.event), one.similarity) for one in answer.hits]

    def query(
        self,
        where: Optional[Where] = None,
        *,
        order: str = "newest",
        axis: str = "recorded",
        limit: Optional[int] = 50,
        as_of: Optional[Moment] = None,
    ) -> List[Event]:
        """The events that meet conditions, by `newest`, `oldest` or `strongest`; all of them without a limit."""
        return self._pages(
            "Pattern", limit, lambda page: [_convert.event(one) for one in page.events],
            selection=_convert.selection(where), order=f"ORDER_{order.upper()}", axis=f"AXIS_{axis.upper()}",
            as_of=_convert.as_of(as_of),
        )

    def timeline(
        self,
        where: Optional[Where] = None,
        *,
        axis: str = "happened",
        newest_first: bool = False,
        limit: Optional[int] = 50,
        as_of: Optional[Moment] = None,
    ) -> List[TimelineEntry]:
        """Events along a time: when they `happened`, or were `recorded`."""
        return self._pages(
            "Timeline", limit, lambda page: [_convert.timeline_entry(one) for one in page.entries],
            selection=_convert.selection(where), axis=f"AXIS_{axis.upper()}", newest_first=newest_first,
            as_of=_convert.as_of(as_of),
        )

    def resolve(
        self, event: int, *, as_of: Optional[Moment] = None, include_forgotten: bool = False, touch: Optional[bool] = None
    ) -> Resolved:
        """What is believed now in place of an event."""
        answer = self._ask(
            "Resolve", event_id=event, as_of=_convert.as_of(as_of), include_forgotten=include_forgotten, touch=touch
        )
        return _convert.resolved(answer)

    def why(
        self, event: int, *, depth: int = 0, limit: int = 0, as_of: Optional[Moment] = None, include_forgotten: bool = False
    ) -> Walk:
        """What an event rests on: what caused it and speaks for it, and what caused that."""
        return _convert.walk(self._ask(
            "Why", event_id=event, depth=depth, limit=limit, as_of=_convert.as_of(as_of), include_forgotten=include_forgotten
        ))

    def impact(
        self,
        event: int,
        *,
        depth: int = 0,
        limit: int = 0,
        parts: bool = False,
        as_of: Optional[Moment] = None,
        include_forgotten: bool = False,
    ) -> Walk:
        """What rests on an event; with `parts`, what belongs to it, too."""
        return _convert.walk(self._ask(
            "Impact", event_id=event, depth=depth, limit=limit, include_parts=parts, as_of=_convert.as_of(as_of),
            include_forgotten=include_forgotten,
        ))

    def traverse(
        self,
        event: int,
        *,
        types: Sequence[str] = (),
        follow: str = "outgoing",
        depth: int = 0,
        limit: int = 0,
        as_of: Optional[Moment] = None,
    ) -> Walk:
        """What can be reached from an event, `outgoing`, `incoming` or `both` ways, breadth first."""
        return _convert.walk(self._ask(
            "Traverse", event_id=event, types=[_convert.edge_type(name) for name in types],
            follow=f"FOLLOW_{follow.upper()}", depth=depth, limit=limit, as_of=_convert.as_of(as_of),
        ))

    def path(
        self,
        start: int,
        end: int,
        *,
        types: Sequence[str] = (),
        follow: str = "both",
        depth: int = 0,
        as_of: Optional[Moment] = None,
    ) -> List[Step]:
        """The shortest way from one event to another; empty if none is short enough."""
        answer = self._ask(
            "Path", from_id=start, to_id=end, types=[_convert.edge_type(name) for name in types],
            follow=f"FOLLOW_{follow.upper()}", depth=depth, as_of=_convert.as_of(as_of),
        )
        return [_convert.step(one) for one in answer.steps]

    def conflicts(self, limit: Optional[int] = 50, *, as_of: Optional[Moment] = None) -> List[Conflict]:
        """What contradicts what, and which beliefs are contested."""
        return self._pages(
            "ListConflicts", limit, lambda page: [_convert.conflict(one) for one in page.conflicts],
            as_of=_convert.as_of(as_of),
        )

    def context(
        self,
        text: str,
        budget: int = 2000,
        *,
        vector: Optional[Sequence[float]] = None,
        where: Optional[Where] = None,
        reasons_depth: Optional[int] = None,
        as_of: Optional[Moment] = None,
        touch: Optional[bool] = None,
    ) -> Context:
        """What is known of a question as a text of at most so many tokens, for a prompt."""
        return _convert.context(self._ask(
            "Context", text=text, budget_tokens=budget, vector=_convert.vector(vector),
            selection=_convert.selection(where), reasons_depth=reasons_depth, as_of=_convert.as_of(as_of), touch=touch,
        ))

    def pipeline(
        self,
        sources: Sequence[Source],
        stages: Sequence[Stage] = (),
        *,
        user: Optional[str] = None,
        agent: Optional[str] = None,
        run: Optional[str] = None,
        include_forgotten: bool = False,
        as_of: Optional[Moment] = None,
    ) -> Rows:
        """Stages composed in one call on one view; `amemd.pipe` makes them."""
        return _convert.rows(self._ask(
            "Pipeline", sources=list(sources), stages=list(stages), scope=given(user=user, agent=agent, run=run),
            include_forgotten=include_forgotten, as_of=_convert.as_of(as_of),
        ))

    def sessions(self, state: str = "", *, oldest_first: bool = False, limit: Optional[int] = 50) -> List[Session]:
        """Sessions by number: all, the `open` or the `closed` ones."""
        return self._pages(
            "ListSessions", limit, lambda page: [_convert.session(one) for one in page.sessions],
            state=f"SESSION_STATE_{state.upper() or 'UNSPECIFIED'}", oldest_first=oldest_first,
        )

    def get_session(self, session: "int | str") -> Session:
        """One session, by its number or its key."""
        which = {"key": session} if isinstance(session, str) else {"session_id": session}
        return _convert.session(self._ask("GetSession", **which).session)

    def subscribe(
        self,
        after_lsn: Optional[int] = None,
        *,
        instance: Optional[str] = None,
        include_vectors: bool = False,
        include_forgotten: bool = False,
    ) -> Commits:
        """Follows the commits after an LSN, 0 being from the first, or from now on. An LSN that was kept from before is of
        the instance that it was kept with; of this brain's if none is given.

        It goes on by itself after a lost connection. Refused with reason COMMITS_GONE says that commits after the LSN are
        not held any more, and in `metadata` after which they are.
        """
        request = given(
            brain=self.name, after_lsn=after_lsn, include_vectors=include_vectors, include_forgotten=include_forgotten
        )
        if after_lsn is not None:
            request["instance"] = instance or self.instance
        commits = Commits(self._caller, request)
        return commits.begin() if after_lsn is None else commits
