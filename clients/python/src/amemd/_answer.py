"""An answer of a `MemoryAgent`: its pieces as they come, and then what memory did.

Promises: the end of an answer is handled once, in whichever way it ends; after it every property has its last value,
except for a turn that waits for the daemon, whose properties fill when it is stored.
"""

from __future__ import annotations

import threading
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

from .errors import AmemError, ModelError
from .types import to_datetime


@dataclass(frozen=True)
class GivenMemory:
    """A memory that the model was given."""

    #: Stable over all versions of the memory; the turn, of what was only said; empty for other events.
    id: str
    #: The memory, or the words that were said.
    text: str
    #: 0 to 1: how well it answers what was said.
    score: float
    #: The kind of a memory; `said` or `written`, if none was formed.
    kind: str
    #: The event of this version, or of the words.
    event_id: int
    #: When it happened or was said, in microseconds since 1970 UTC.
    said_micros: int
    #: The entity or the relation that led to it; empty if the words did.
    via: str = ""
    #: Memories that it may contradict.
    conflict_ids: Tuple[str, ...] = ()
    #: The parts of the score, with `explain`.
    parts: Dict[str, float] = field(default_factory=dict)
    #: Who said it; empty if that is not known.
    speaker: str = ""
    #: Since when it does not hold any more; None if it holds.
    until_micros: Optional[int] = None
    #: True if it has not the words of the question.
    is_weak: bool = False


@dataclass(frozen=True)
class Relation:
    """How two entities are related, such as User lives_in Porto."""

    source: str
    relation: str
    target: str


@dataclass(frozen=True)
class FormedMemory:
    """What became of a fact of a turn."""

    #: add, update, delete, or none if a memory says so already.
    event: str
    id: str
    text: str
    #: The text before, of an update or a delete.
    old_text: Optional[str]
    kind: str
    relations: Tuple[Relation, ...]
    #: Names in the text.
    entities: Tuple[str, ...]
    #: The event of the memory's current version.
    event_id: int
    #: What decided: `hash`, `model`, `caller`, or a rule such as `rule:home`.
    by: str
    conflict_ids: Tuple[str, ...] = ()
    #: True if it gives orders to a model: it is never given to one.
    quarantined: bool = False


@dataclass(frozen=True)
class Outcome:
    """What the daemon did with a turn."""

    formed: Tuple[FormedMemory, ...]
    stages: Dict[str, Dict[str, int]]
    #: Facts that were not stored: text and why.
    rejected: Tuple[Tuple[str, str], ...]
    #: Work that the daemon still has, such as `unreachable: ...`.
    left: Tuple[str, ...]


class Turn:
    """What was said in one turn, for as long as it is not stored."""

    def __init__(self, said: str, said_micros: int, key: str) -> None:
        self.said = said
        self.said_micros = said_micros
        #: The answer, if it is whole.
        self.answer: Optional[str] = None
        self.answered_micros = 0
        #: A repetition under this key stores nothing.
        self.key = key
        #: What the daemon did with it; None until it is stored.
        self.outcome: Optional[Outcome] = None
        #: Why it will never be stored.
        self.refusal: Optional[AmemError] = None

    @property
    def said_at(self) -> datetime:
        return to_datetime(self.said_micros)

    def __repr__(self) -> str:
        return f"Turn({self.said!r}, {self.said_at.isoformat()})"


class Answer(Iterator[str]):
    """An answer: iterate over it for its pieces, or take `text`, which reads it to the end.

    An answer that is not read to its end is ended by `close`, by the next `chat` or by the end of the agent; it is cut
    then. What the user said is remembered in any case; a cut answer is not, and stays in the conversation.
    """

    def __init__(
        self,
        turn: Turn,
        memories: Sequence[GivenMemory],
        memory_error: Optional[AmemError],
        begin: Callable[[], Iterator[str]],
        ended: Callable[["Answer", bool], Optional[AmemError]],
    ) -> None:
        #: The memories that the model was given, the best first.
        self.memories: List[GivenMemory] = list(memories)
        self._memory_error = memory_error
        #: True if the answer was not read to its end.
        self.is_cut = False
        #: True once nothing more comes.
        self.is_ended = False
        self._turn = turn
        self._begin = begin
        self._on_end = ended
        self._pieces: Optional[Iterator[str]] = None
        self._said: List[str] = []
        self._lock = threading.RLock()

    def __iter__(self) -> "Answer":
        return self

    def __next__(self) -> str:
        with self._lock:
            while not self.is_ended:
                try:
                    if self._pieces is None:
                        self._pieces = self._begin()
                    piece = next(self._pieces)
                except StopIteration:
                    break
                except Exception:
                    self._end(is_answer=False)
                    raise
                except BaseException:
                    self.close()
                    raise
                if not isinstance(piece, str):
                    self._end(is_answer=False)
                    raise TypeError(f"the model gave {type(piece).__name__}, not text")
                if piece:
                    self._said.append(piece)
                    return piece
            if not self.is_ended:
                self._end(is_answer=bool(self._said))
                if not self._said:
                    raise ModelError("the model gave an empty answer")
            raise StopIteration

    @property
    def said(self) -> str:
        """What has come so far."""
        return "".join(self._said)

    @property
    def text(self) -> str:
        """The whole answer; reads it to its end."""
        for _ in self:
            pass
        return self.said

    def close(self) -> None:
        """Ends the answer; it is cut if more would have come. Waits for a piece that another thread reads."""
        with self._lock:
            if not self.is_ended:
                self.is_cut = True
                self._end(is_answer=False)

    def _end(self, is_answer: bool) -> None:
        self.is_ended = True
        close = getattr(self._pieces, "close", None)
        try:
            if close is not None:
                close()
        finally:
            self._memory_error = self._on_end(self, is_answer) or self._memory_error

    @property
    def memory_error(self) -> Optional[AmemError]:
        """Why the memory could not be asked, or the turn not be stored. The turn waits in the agent's `pending`; one
        that was refused for good is in its `refused`."""
        return self._turn.refusal or self._memory_error

    @property
    def is_stored(self) -> bool:
        """True if the turn is in the memory."""
        return self._turn.outcome is not None

    @property
    def formed(self) -> List[FormedMemory]:
        """What became of the facts of the turn."""
        return list(self._turn.outcome.formed) if self._turn.outcome else []

    @property
    def stages(self) -> Dict[str, Dict[str, int]]:
        """What observe, extract, store and relate counted; empty until the turn is stored."""
        return self._turn.outcome.stages if self._turn.outcome else {}

    @property
    def rejected(self) -> List[Tuple[str, str]]:
        """Facts that were not stored: text and why."""
        return list(self._turn.outcome.rejected) if self._turn.outcome else []

    @property
    def left(self) -> List[str]:
        """Work that the daemon still has with the turn, such as facts that its model has not found yet."""
        return list(self._turn.outcome.left) if self._turn.outcome else []

    def explain(self) -> Dict[str, Any]:
        """Everything that memory did for this answer, for JSON."""
        return {
            "memories": [asdict(one) for one in self.memories],
            "formed": [asdict(one) for one in self.formed],
            "stages": {stage: dict(counts) for stage, counts in self.stages.items()},
            "rejected": [{"text": text, "why": why} for text, why in self.rejected],
            "left": self.left,
            "is_cut": self.is_cut,
            "is_stored": self.is_stored,
            "memory_error": None if self.memory_error is None else str(self.memory_error),
        }

    def __repr__(self) -> str:
        state = "cut" if self.is_cut else "ended" if self.is_ended else "open"
        return f"Answer({state}, {len(self.said)} characters, {len(self.memories)} memories)"


__all__ = ["Answer", "FormedMemory", "GivenMemory", "Outcome", "Relation", "Turn"]
