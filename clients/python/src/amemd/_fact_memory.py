"""The memory of one agent: what it is asked and given, and the turns that wait for the daemon.

Promises: turns are stored in their order; each has one key and one request, so that a repetition stores nothing twice;
a turn leaves the queue when it is stored, or when the daemon refuses it for good. Not here: models and the conversation
(`agent`).
"""

from __future__ import annotations

import json
import re
from collections import deque
from dataclasses import replace
from itertools import islice
from typing import Any, Callable, Deque, Dict, List, Mapping, Optional, Tuple, Union

from . import _wire
from ._answer import FormedMemory, GivenMemory, Outcome, Relation, Turn
from ._call import new_request_id
from ._convert import micros
from .client import Client
from .errors import AmemError, NotFound, Refused

#: Turns that wait for the daemon, at most.
PENDING_MAX = 1000
#: Bytes of what is said, and of an answer.
TEXT_BYTES_MAX = 1 << 20
#: Characters of a question; the daemon takes 64 KiB.
_QUESTION_CHARS_MAX = 8000
#: Entries of a recall; the daemon gives no more.
_ENTRIES_MAX = 200
# Standing instructions that an agent is given beside what answers the question.
_STANDING_MAX = 5
#: Refusals that a repetition does not change.
_FINAL = ("INVALID_ARGUMENT", "ALREADY_EXISTS", "OUT_OF_RANGE", "UNIMPLEMENTED")
_USER, _ASSISTANT = 2, 3

Opener = Callable[[], Client]


class FactMemory:
    """Fact memory in a scope of a brain. One thread at a time."""

    def __init__(
        self,
        client: Union[Client, Opener],
        brain: str,
        scope: Mapping[str, str],
        session_key: str,
        retry_for: float,
        metadata: Optional[Mapping[str, Any]],
        assistant_facts: bool,
    ) -> None:
        self._client = client if isinstance(client, Client) else None
        self._open: Optional[Opener] = None if isinstance(client, Client) else client
        self._brain = brain
        self._scope = dict(scope)
        self._session_key = session_key
        self._retry_for = retry_for
        self._more: Dict[str, Any] = {"assistant_facts": assistant_facts}
        if metadata:
            self._more["metadata_json"] = json.dumps(dict(metadata), ensure_ascii=False, allow_nan=False)
        #: The session of the turns; 0 for none.
        self.session_id = 0
        self._has_sessions = True
        #: Of the call that opens it: a repetition opens no other.
        self._opening = new_request_id()
        #: False if the daemon was silent last.
        self._answers = True
        self.pending: Deque[Turn] = deque()
        self.refused: Deque[Turn] = deque(maxlen=PENDING_MAX)
        #: Requests that were sent: a repetition is the same request.
        self._sent: Dict[str, Dict[str, Any]] = {}

    def recall(
        self, question: str, limit: int, score_min: Optional[float], graph: bool, explain: bool
    ) -> List[GivenMemory]:
        """What was asked for in every session, and what is known about a question, formed, said or written, the best first."""
        question = question[:_QUESTION_CHARS_MAX]
        request: Dict[str, Any] = {
            "brain": self._brain,
            "question": question,
            "scope": self._scope,
            "limit": min(limit, _ENTRIES_MAX),
        }
        if score_min is not None:
            request["relevance_min"] = score_min
        reply = self._call("Recall", request)
        # Nobody asked for memories: words that are only near the question are none, nor is the question asked before.
        memories = [
            _recalled(entry)
            for entry in reply.entries
            if (entry.HasField("fact") or not entry.weak) and not _words(entry.text).startswith(_words(question))
        ]
        if graph or explain:
            memories = self._with_search(memories, question, limit, score_min or 0.0, graph, explain)
        memories = memories[:limit]
        shown = [_words(memory.text) for memory in memories]
        standing = (entry for entry in reply.standing if not any(_words(entry.text) in text for text in shown))
        return [*map(_recalled, islice(standing, _STANDING_MAX)), *memories]

    def _with_search(
        self, memories: List[GivenMemory], question: str, limit: int, score_min: float, graph: bool, explain: bool
    ) -> List[GivenMemory]:
        """With the parts of scores, and with memories of what is related to the question's names."""
        request = {
            "brain": self._brain,
            "query": question,
            "scope": self._scope,
            "limit": limit,
            "threshold": score_min,
            "graph": graph,
            "explain": explain,
        }
        found = [_given(hit) for hit in self._call("SearchFacts", request).hits if not hit.fact.quarantined]
        parts = {hit.id: hit.parts for hit in found}
        known = {memory.id for memory in memories}
        related = [hit for hit in found if hit.via and hit.id not in known]
        return [replace(memory, parts=parts.get(memory.id, {})) for memory in memories] + related

    def remember(self, turn: Turn) -> None:
        """Stores a turn, after those that wait. It waits, too, if an error is raised and `turn.refusal` is None."""
        if len(self.pending) >= PENDING_MAX:
            turn.refusal = AmemError(f"the turn is not kept: {PENDING_MAX} turns wait for the daemon already")
            self.refused.append(turn)
            raise turn.refusal
        self.pending.append(turn)
        self.flush()
        if turn.refusal is not None:
            raise turn.refusal

    def flush(self) -> None:
        """Stores the turns that wait."""
        while self.pending:
            turn = self.pending[0]
            try:
                turn.outcome = self._store(turn)
            except Refused as refusal:
                if refusal.code not in _FINAL:
                    raise
                turn.refusal = refusal
                self.refused.append(turn)
            self._sent.pop(turn.key, None)
            self.pending.popleft()

    def close(self) -> None:
        """Closes the session, and a client that this object opened."""
        try:
            if self.session_id:
                self._call("CloseSession", {"brain": self._brain, "session_id": self.session_id, **self._options()})
                self.session_id = 0
        finally:
            if self._open is not None and self._client is not None:
                self._client.close()
                self._client = None

    def _store(self, turn: Turn) -> Outcome:
        request = self._sent.get(turn.key)
        if request is None:
            request = self._request(turn, self._session())
        self._sent[turn.key] = request
        try:
            return _outcome(self._call("AddFacts", request))
        except NotFound as refusal:
            if refusal.reason != "UNKNOWN_SESSION":
                raise
        # The brain is another one now. Nothing is stored under this key yet.
        self.session_id, self._opening = 0, new_request_id()
        request = self._sent[turn.key] = self._request(turn, self._session())
        return _outcome(self._call("AddFacts", request))

    def _request(self, turn: Turn, session: int) -> Dict[str, Any]:
        messages = [{"role": _USER, "text": turn.said, "time": _time(turn.said_micros)}]
        if turn.answer is not None:
            messages.append({"role": _ASSISTANT, "text": turn.answer, "time": _time(turn.answered_micros)})
        return {
            "brain": self._brain,
            "messages": messages,
            "scope": self._scope,
            "idempotency_key": turn.key,
            "session_id": session,
            **self._options(turn.key),
            **self._more,
        }

    def _session(self) -> int:
        """The session, opened if it is not yet; 0 if there can be none."""
        if self.session_id or not self._has_sessions:
            return self.session_id
        try:
            request = {"brain": self._brain, "key": self._session_key, **self._options(self._opening)}
            opened = self._call("OpenSession", request)
            self.session_id = int(opened.session_id)
        except NotFound:
            # Fact memory makes its brain at the first use, sessions do not: the next turn has one.
            pass
        except Refused as refusal:
            # Tokens with a scope call fact memory alone.
            if refusal.code != "PERMISSION_DENIED":
                raise
            self._has_sessions = False
        return self.session_id

    def _options(self, request_id: str = "") -> Dict[str, Any]:
        client = self._connected()
        return {"options": {"agent": client.agent, "request_id": request_id or new_request_id()}}

    def _connected(self) -> Client:
        if self._client is None:
            if self._open is None:
                raise AmemError("the agent is closed")
            self._client = self._open()
        return self._client

    def _call(self, name: str, request: Dict[str, Any]) -> Any:
        """A call. While the daemon is silent it is tried once, so that a conversation goes on without delay."""
        caller = self._connected()._caller
        try:
            answer = caller.call(name, request, self._retry_for if self._answers else 0.0)
        except Refused as refusal:
            self._answers = refusal.code != "UNAVAILABLE"
            raise
        except ValueError as error:
            # gRPC's words for a channel that was closed.
            raise AmemError(f"the client of the memory cannot call: {error}") from None
        self._answers = True
        return answer


def _time(micros: int) -> Dict[str, int]:
    return {"seconds": micros // 1_000_000, "nanos": micros % 1_000_000 * 1000}


def _words(text: str) -> str:
    """A text without case, punctuation and spaces."""
    return " ".join(re.findall(r"\w+", text.lower()))


def _recalled(entry: Any) -> GivenMemory:
    has_fact = entry.HasField("fact")
    source = _wire.enum_name("RecallSource", entry.source)
    return GivenMemory(
        id=entry.fact.id if has_fact else entry.id,
        text=entry.text,
        score=float(entry.relevance),
        kind=entry.fact.kind if has_fact else source,
        event_id=entry.fact.event_id if has_fact else entry.event_id,
        said_micros=micros(entry.happened_at),
        conflict_ids=tuple(entry.conflict_ids),
        speaker=entry.speaker,
        until_micros=micros(entry.until) if entry.HasField("until") else None,
        is_weak=entry.weak,
    )


def _given(hit: Any) -> GivenMemory:
    fact = hit.fact
    parts: Dict[str, float] = {}
    if hit.HasField("parts"):
        parts = {one.name: float(value) for one, value in hit.parts.ListFields()}
    return GivenMemory(
        id=fact.id,
        text=fact.memory,
        score=float(hit.score),
        kind=fact.kind,
        event_id=fact.event_id,
        said_micros=micros(fact.happened_at if fact.HasField("happened_at") else fact.updated_at),
        via=hit.via,
        conflict_ids=tuple(hit.conflict_ids),
        parts=parts,
    )


def _formed(result: Any) -> FormedMemory:
    return FormedMemory(
        event=_wire.enum_name("FactEvent", result.event),
        id=result.id,
        text=result.memory,
        old_text=result.old_memory if result.HasField("old_memory") else None,
        kind=result.kind,
        relations=tuple(Relation(one.source, one.relation, one.target) for one in result.relations),
        entities=tuple(one.name for one in result.entities),
        event_id=result.event_id,
        by=result.why.by,
        conflict_ids=tuple(result.conflict_ids),
        quarantined=result.quarantined,
    )


def _outcome(answer: Any) -> Outcome:
    def left(work: Any) -> str:
        return f"{work.reason}: {work.detail}" if work.detail else str(work.reason)

    rejected: List[Tuple[str, str]] = [(one.text, one.why) for one in answer.rejected]
    return Outcome(
        formed=tuple(_formed(result) for result in answer.results),
        stages={one.stage: {count.what: int(count.count) for count in one.counts} for one in answer.stages},
        rejected=tuple(rejected),
        left=tuple(left(work) for work in answer.pending),
    )
