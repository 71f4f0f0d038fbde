"""Queries of a brain. Each is answered from one view; with `as_of`, that of an earlier LSN or time."""

from __future__ import annotations

from typing import List, Optional, Sequence

from . import _convert
from ._convert import given
from ._writing import Writing
from .pipe import Source, Stage
from .types import (
    Conflict,
    Context,
    Event,
    Hit,
    Moment,
    Resolved,
    Rows,
    Session,
    Step,
    TimelineEntry,
    Walk,
    Where,
)


class Asking(Writing):
    """The queries of a brain."""

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
        """An event by its id. `touch` counts it as used; default: yes."""
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
        """Events by their ids, in that order; NotFound if one does not exist."""
        answer = self._ask(
            "GetEvents",
            event_ids=list(events),
            as_of=_convert.as_of(as_of),
            include_forgotten=include_forgotten,
            include_edges=edges,
            include_vectors=vectors,
            touch=touch,
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
        neighbour_share: Optional[float] = None,
        session_share: Optional[float] = None,
        question_share: Optional[float] = None,
        speaker_boost: Optional[float] = None,
        time_boost: Optional[float] = None,
        recency_half_life_days: Optional[float] = None,
        tie_margin: Optional[float] = None,
        min_relevance: float = 0.0,
        include_duplicates: bool = False,
        centre_vector: Optional[bool] = None,
    ) -> List[Hit]:
        """The best answers to a question, by words, vectors and the graph together. Times that the question names are
        read with the `now` and `zone` of `where`. `min_relevance` leaves out what does not answer it: see `Hit`."""
        answer = self._ask(
            "Search",
            text=text,
            vector=_convert.vector(vector),
            selection=_convert.selection(where),
            limit=limit,
            as_of=_convert.as_of(as_of),
            include_superseded=include_superseded,
            text_weight=text_weight,
            vector_weight=vector_weight,
            neighbour_share=neighbour_share,
            session_share=session_share,
            question_share=question_share,
            speaker_boost=speaker_boost,
            time_boost=time_boost,
            recency_half_life_days=recency_half_life_days,
            tie_margin=tie_margin,
            min_relevance=min_relevance,
            include_duplicates=include_duplicates,
            centre_vector=centre_vector,
        )
        return [_convert.search_hit(one) for one in answer.hits]

    def text(
        self,
        text: str,
        *,
        where: Optional[Where] = None,
        limit: int = 10,
        as_of: Optional[Moment] = None,
        min_relevance: float = 0.0,
    ) -> List[Hit]:
        """The best answers to a question, by words alone."""
        answer = self._ask(
            "Text",
            text=text,
            selection=_convert.selection(where),
            limit=limit,
            as_of=_convert.as_of(as_of),
            min_relevance=min_relevance,
        )
        return [Hit(_convert.event(one.event), one.score, relevance=one.relevance) for one in answer.hits]

    def similar(
        self,
        *,
        event: Optional[int] = None,
        vector: Optional[Sequence[float]] = None,
        where: Optional[Where] = None,
        limit: int = 10,
        min_similarity: Optional[float] = None,
        min_relevance: Optional[float] = None,
        as_of: Optional[Moment] = None,
        approximate: bool = False,
    ) -> List[Hit]:
        """The events whose vectors are nearest to an event's, or to a vector; the score is the cosine."""
        if (event is None) == (vector is None):
            raise ValueError("pass either event or vector")
        answer = self._ask(
            "Similar",
            event_id=event,
            vector=_convert.vector(vector),
            selection=_convert.selection(where),
            limit=limit,
            min_similarity=min_similarity,
            min_relevance=min_relevance,
            as_of=_convert.as_of(as_of),
            approximate=approximate,
        )
        return [Hit(_convert.event(one.event), one.similarity, relevance=one.relevance) for one in answer.hits]

    def query(
        self,
        where: Optional[Where] = None,
        *,
        order: str = "newest",
        axis: str = "recorded",
        limit: Optional[int] = 50,
        as_of: Optional[Moment] = None,
    ) -> List[Event]:
        """The events that meet conditions, by `newest`, `oldest` or `strongest`; all of them with `limit=None`."""
        return self._pages(
            "Pattern",
            limit,
            lambda page: [_convert.event(one) for one in page.events],
            selection=_convert.selection(where),
            order=f"ORDER_{order.upper()}",
            axis=f"AXIS_{axis.upper()}",
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
            "Timeline",
            limit,
            lambda page: [_convert.timeline_entry(one) for one in page.entries],
            selection=_convert.selection(where),
            axis=f"AXIS_{axis.upper()}",
            newest_first=newest_first,
            as_of=_convert.as_of(as_of),
        )

    def resolve(
        self,
        event: int,
        *,
        as_of: Optional[Moment] = None,
        include_forgotten: bool = False,
        touch: Optional[bool] = None,
    ) -> Resolved:
        """The event that is believed now instead of an event."""
        answer = self._ask(
            "Resolve", event_id=event, as_of=_convert.as_of(as_of), include_forgotten=include_forgotten, touch=touch
        )
        return _convert.resolved(answer)

    def why(
        self,
        event: int,
        *,
        depth: int = 0,
        limit: int = 0,
        as_of: Optional[Moment] = None,
        include_forgotten: bool = False,
    ) -> Walk:
        """The events that an event rests on: its causes and evidence, and theirs."""
        return _convert.walk(
            self._ask(
                "Why",
                event_id=event,
                depth=depth,
                limit=limit,
                as_of=_convert.as_of(as_of),
                include_forgotten=include_forgotten,
            )
        )

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
        """The events that rest on an event; with `parts`, also those that belong to it."""
        return _convert.walk(
            self._ask(
                "Impact",
                event_id=event,
                depth=depth,
                limit=limit,
                include_parts=parts,
                as_of=_convert.as_of(as_of),
                include_forgotten=include_forgotten,
            )
        )

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
        """The events reachable from an event along `outgoing`, `incoming` or `both` edges, breadth first."""
        return _convert.walk(
            self._ask(
                "Traverse",
                event_id=event,
                types=[_convert.edge_type(name) for name in types],
                follow=f"FOLLOW_{follow.upper()}",
                depth=depth,
                limit=limit,
                as_of=_convert.as_of(as_of),
            )
        )

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
        """The shortest path from one event to another; empty if none is within `depth`."""
        answer = self._ask(
            "Path",
            from_id=start,
            to_id=end,
            types=[_convert.edge_type(name) for name in types],
            follow=f"FOLLOW_{follow.upper()}",
            depth=depth,
            as_of=_convert.as_of(as_of),
        )
        return [_convert.step(one) for one in answer.steps]

    def conflicts(self, limit: Optional[int] = 50, *, as_of: Optional[Moment] = None) -> List[Conflict]:
        """Contradictions, and contested beliefs."""
        return self._pages(
            "ListConflicts",
            limit,
            lambda page: [_convert.conflict(one) for one in page.conflicts],
            as_of=_convert.as_of(as_of),
        )

    def context(
        self,
        text: str,
        budget: int = 2000,
        *,
        vector: Optional[Sequence[float]] = None,
        where: Optional[Where] = None,
        candidates: Optional[int] = None,
        reasons_depth: Optional[int] = None,
        min_relevance: Optional[float] = None,
        as_of: Optional[Moment] = None,
        touch: Optional[bool] = None,
    ) -> Context:
        """A text for a prompt: what the brain knows about a question, in at most `budget` tokens, of which an ASCII
        character counts as a quarter and any other as one. Times in the question are read with the `now` and `zone` of
        `where`, and dates in the text are days of that zone. It is empty unless a hit has `min_relevance`, 0.65 if not
        given."""
        return _convert.context(
            self._ask(
                "Context",
                text=text,
                budget_tokens=budget,
                vector=_convert.vector(vector),
                selection=_convert.selection(where),
                candidates=candidates or 0,
                reasons_depth=reasons_depth,
                min_relevance=min_relevance,
                as_of=_convert.as_of(as_of),
                touch=touch,
            )
        )

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
        """Runs sources and stages in one call on one view; `amemd.pipe` makes them."""
        return _convert.rows(
            self._ask(
                "Pipeline",
                sources=list(sources),
                stages=list(stages),
                scope=given(user=user, agent=agent, run=run),
                include_forgotten=include_forgotten,
                as_of=_convert.as_of(as_of),
            )
        )

    def sessions(self, state: str = "", *, oldest_first: bool = False, limit: Optional[int] = 50) -> List[Session]:
        """Sessions by number: all, or with `state` the `open` or the `closed` ones."""
        return self._pages(
            "ListSessions",
            limit,
            lambda page: [_convert.session(one) for one in page.sessions],
            state=f"SESSION_STATE_{state.upper() or 'UNSPECIFIED'}",
            oldest_first=oldest_first,
        )

    def get_session(self, session: "int | str") -> Session:
        """One session, by its number or its key."""
        which = {"key": session} if isinstance(session, str) else {"session_id": session}
        return _convert.session(self._ask("GetSession", **which).session)
