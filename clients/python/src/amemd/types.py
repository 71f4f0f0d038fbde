"""Arguments and results of the client and the reader.

Fields that end in `_micros` are times in microseconds since 1970 UTC, exact and of any year; the properties beside them
are datetimes in UTC. Ids and LSNs are ints.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

EVENT_TYPES = ("fact", "decision", "inference", "correction", "skill", "episode")
EDGE_TYPES = (
    "caused-by",
    "supports",
    "contradicts",
    "supersedes",
    "related-to",
    "part-of",
    "temporal-next",
)

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICRO = timedelta(microseconds=1)


def to_datetime(micros: int) -> datetime:
    """Microseconds as a datetime. OverflowError past the year 9999."""
    return _EPOCH + timedelta(microseconds=micros)


def to_micros(time: datetime) -> int:
    """A datetime as microseconds. ValueError without a zone, because its moment would depend on the machine."""
    if time.tzinfo is None:
        raise ValueError(f"{time} has no time zone")
    return (time - _EPOCH) // _MICRO


def type_name(names: Sequence[str], number: int) -> str:
    """The name of a type; of an unknown one its number, such as "type-200"."""
    return names[number] if number < len(names) else f"type-{number}"


def type_number(names: Sequence[str], name: str) -> int:
    """The number of a type, by its name."""
    if name in names:
        return names.index(name)
    front, _, number = name.partition("-")
    if front == "type" and number.isdigit() and int(number) <= 255:
        return int(number)
    raise ValueError(f"{name!r} is not one of {', '.join(names)}")


@dataclass(frozen=True)
class Edge:
    """An edge between two events, read from source to target."""

    source: int
    target: int
    type: str
    weight: float
    created_micros: int

    @property
    def created_at(self) -> datetime:
        return to_datetime(self.created_micros)


@dataclass(frozen=True)
class Event:
    """One record of a brain."""

    id: int
    type: str
    text: str
    session: int
    created_micros: int
    event_micros: Optional[int]
    #: 0 to 1; corrections lower it.
    confidence: float
    #: Confidence after decay, as of the last decay run.
    strength: float
    #: Per day; 0 for the rate of the type.
    decay_rate: float
    access_count: int
    accessed_micros: int
    pinned: bool
    forgotten: bool
    compressed: bool
    erased: bool
    attributes: Dict[str, Any]
    session_key: str
    has_vector: bool
    #: Only if requested.
    vector: Optional[Sequence[float]] = None
    #: Only if requested: outgoing edges, then incoming ones.
    edges: Optional[List[Edge]] = None
    #: The principal that recorded it, such as `uid:1000`, as its first brain names it; empty if unknown.
    by: str = ""
    #: The agent that recorded it, by the name it gave.
    agent: str = ""
    #: Why it replaced another event.
    reason: str = ""

    @property
    def created_at(self) -> datetime:
        """When it was recorded."""
        return to_datetime(self.created_micros)

    @property
    def event_time(self) -> Optional[datetime]:
        """When it happened, if given."""
        return None if self.event_micros is None else to_datetime(self.event_micros)

    @property
    def last_accessed(self) -> datetime:
        return to_datetime(self.accessed_micros)


@dataclass(frozen=True)
class Hit:
    """A hit of a query, and its score. The parts of a search's score sum to it, times its three factors; for other
    queries the parts are 0. Scores compare the hits of one answer, `relevance` those of all questions: about 0.7 and
    more answers the question, and where the brain does not know the answer the best has less than 0.6."""

    event: Event
    score: float
    text_score: float = 0.0
    vector_score: float = 0.0
    neighbour_score: float = 0.0
    session_score: float = 0.0
    #: The event that matched: `event`, or one that it replaced.
    found_id: Optional[int] = None
    #: In a search: the event belongs to a belief with several heads.
    contested: bool = False
    #: In a search: another event replaces it.
    superseded: bool = False
    #: In a search: more than 1 if the question means who spoke.
    speaker_factor: float = 1.0
    #: In a search: more than 1 if the question names a time near the event.
    time_factor: float = 1.0
    #: In a search: less than 1 with a half-life, by age.
    recency_factor: float = 1.0
    #: How well it answers the question, 0 to 1.
    relevance: float = 0.0
    #: In a search: it has none of the question's words; its vector, its neighbours or its session found it.
    weak: bool = False
    #: In a search: how many events with this text were found; this is the newest.
    equal_texts: int = 1
    #: In a search: a newer hit whose text differs in one value only, so that this one may be outdated.
    newer_value_id: Optional[int] = None


@dataclass(frozen=True)
class Step:
    """An event of a walk, and how it was reached."""

    event: Event
    depth: int
    #: The index of the step from which this one was reached; None for the first.
    parent: Optional[int]
    #: The type of the edge between the two; None for the first.
    type: Optional[str]
    #: True if that edge leads from this event to its parent.
    incoming: bool
    #: The event belongs to a belief with several heads.
    contested: bool = False
    #: Another event replaces it.
    superseded: bool = False


@dataclass(frozen=True)
class Walk:
    """The events reached, breadth first, from the start event on."""

    steps: List[Step]
    #: True if the limit cut off events within the depth.
    truncated: bool

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)


@dataclass(frozen=True)
class Resolved:
    """The result of `resolve`."""

    #: The newest head: what is believed now.
    head: Event
    #: From the event to the newest head.
    chain: List[Event]
    #: Every head, the newest first.
    heads: List[Event]
    #: True if there are several heads.
    contested: bool


@dataclass(frozen=True)
class Conflict:
    """Two events that contradict each other, with `belief` None, or a belief with several heads."""

    events: List[Event]
    belief: Optional[Event] = None


@dataclass(frozen=True)
class TimelineEntry:
    """An event and its time on the requested axis."""

    time_micros: int
    event: Event

    @property
    def time(self) -> datetime:
        return to_datetime(self.time_micros)


@dataclass(frozen=True)
class SessionSpan:
    """One stay in a session: from its opening, or from its first use after a close, to the next close."""

    opened_micros: int
    closed_micros: Optional[int]
    outcome: str
    #: Events recorded in it, hidden ones and episodes included.
    event_count: int
    #: The episodes that cover some of its events.
    episode_ids: List[int]


@dataclass(frozen=True)
class Session:
    """A conversation or a piece of work. Its times and its outcome are those of its latest span."""

    id: int
    key: str
    agent: str
    opened_micros: int
    #: True if a client opened it; False if only its events mention it.
    explicit: bool
    last_event_micros: int
    closed_micros: Optional[int]
    outcome: str
    #: Its newest spans, the latest one last: at most 10,000, in a list of sessions 100.
    spans: Sequence[SessionSpan] = ()
    #: The number of all of them.
    span_count: int = 0


@dataclass(frozen=True)
class ContextItem:
    """An event of a context, or one left out."""

    event_id: int
    found_id: int
    explains_id: Optional[int]
    score: float
    tokens: int
    by: str = ""
    agent: str = ""
    #: Empty for an event that was left out.
    reason: str = ""
    created_micros: int = 0
    #: The event belongs to a belief with several heads.
    contested: bool = False
    #: Another event replaces it.
    superseded: bool = False
    #: The text shows only a part of the event's text.
    excerpt: bool = False
    type: str = ""
    confidence: float = 1.0


@dataclass(frozen=True)
class Context:
    """The result of `context`, within its token budget."""

    text: str
    tokens: int
    items: List[ContextItem]
    left_out: List[ContextItem]
    #: The greatest of the first 20 hits.
    relevance: float = 0.0


@dataclass(frozen=True)
class Row:
    """A row of a pipeline: an event, its score, and its origin."""

    event: Event
    #: The sum of its parts; the source's score until rows are ranked.
    score: float
    #: The source's score, 0 to 1.
    found: float
    found_score: float
    confidence_score: float
    strength_score: float
    recency_score: float
    nearness_score: float
    #: The stage that produced it; 0 for the sources.
    stage: int
    #: Number of edges from the source's row.
    depth: int
    #: The row from which it was produced: an index into rows, then into origins; None for a source's row.
    origin: Optional[int]
    #: The type of the edge from there; None if there is none.
    type: Optional[str]
    incoming: bool


@dataclass(frozen=True)
class Rows:
    """The result of a pipeline."""

    rows: List[Row]
    #: The rows of earlier stages from which these were produced.
    origins: List[Row]
    #: True if a traversal found more than its limit allowed.
    truncated: bool

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True)
class FileHolder:
    """A process that has a file open."""

    process_id: int
    program: str


@dataclass(frozen=True)
class Erased:
    """The result of an erase: no file of the daemon has the content any more."""

    #: Episodes whose text may repeat the erased content.
    episodes: List[int]
    #: The first generation without the content.
    generation: int
    #: When the last reader of an earlier file released it; None if one has not, or if it is unknown.
    readers_gone_micros: Optional[int]
    #: Processes that have not, as far as the daemon can see. A `Reader` releases the file at its next `refresh`.
    holders: List[FileHolder]
    #: Why it is unknown, or "".
    readers_unknown: str


@dataclass(frozen=True)
class Change:
    """One change of a commit. `kind` is event, edge, retracted-edge, belief, attributes, vector, touch, decay,
    session-opened, session-closed, settings or erased; the fields of other kinds are None."""

    kind: str
    event: Optional[Event] = None
    edge: Optional[Edge] = None
    event_id: Optional[int] = None
    #: Of belief: confidence, decay_rate, pinned, forgotten, compressed. Of sessions: key, agent, reopened, outcome.
    values: Mapping[str, Any] = field(default_factory=dict)
    #: Number of uses, by event.
    uses: Optional[Dict[int, int]] = None
    #: The new attributes or settings.
    attributes: Optional[Dict[str, Any]] = None
    vector: Optional[Sequence[float]] = None
    session: Optional[int] = None
    time_micros: Optional[int] = None


@dataclass(frozen=True)
class Commit:
    """A whole commit, with all of its changes in order."""

    lsn: int
    instance: str
    time_micros: int
    kind: str
    principal: str
    agent: str
    changes: List[Change]

    @property
    def time(self) -> datetime:
        return to_datetime(self.time_micros)


#: An event by its id or, within a batch, the new event itself.
End = Union[int, "New"]
Ends = Union[End, Sequence[End]]
Moment = Union[int, datetime]
Window = Tuple[Optional[datetime], Optional[datetime]]
Bounds = Tuple[Optional[float], Optional[float]]


@dataclass(frozen=True, eq=False)
class New:
    """An event to add. Its edges start at it: `caused_by=[a]` means that a caused it, `supports=[a]` that a is evidence
    for it, `part_of=[a]` that it belongs to a, `follows=[a]` that it came after a. An end is an id, or another New of
    the same batch."""

    type: str
    text: str
    confidence: Optional[float] = None
    session: Optional[int] = None
    attributes: Optional[Mapping[str, Any]] = None
    event_time: Optional[datetime] = None
    vector: Optional[Sequence[float]] = None
    decay_rate: Optional[float] = None
    caused_by: Ends = ()
    supports: Ends = ()
    contradicts: Ends = ()
    supersedes: Ends = ()
    related_to: Ends = ()
    part_of: Ends = ()
    follows: Ends = ()

    def links(self) -> Iterator[Tuple[str, End]]:
        """The type and the target of each edge."""
        ends: Tuple[Ends, ...] = (
            self.caused_by,
            self.supports,
            self.contradicts,
            self.supersedes,
            self.related_to,
            self.part_of,
            self.follows,
        )
        for name, given in zip(EDGE_TYPES, ends):
            for end in (given,) if isinstance(given, (int, New)) else given:
                yield name, end


@dataclass(frozen=True)
class If:
    """Preconditions of a write; ConditionFailed if they do not hold."""

    #: Only touches were committed after this LSN.
    lsn: Optional[int] = None
    #: (event, head): the newest head of the event's chain is this one.
    head: Optional[Tuple[int, int]] = None


@dataclass(frozen=True)
class Where:
    """A filter of events: all conditions must hold. It excludes forgotten and compressed events by default."""

    types: Sequence[str] = ()
    sessions: Sequence[int] = ()
    #: (from, until): from inclusive, until exclusive; None is open.
    recorded: Optional[Window] = None
    happened: Optional[Window] = None
    #: (minimum, maximum), both inclusive; None is open.
    confidence: Optional[Bounds] = None
    strength: Optional[Bounds] = None
    #: Computes strength at this time instead of the last decay run.
    strength_at: Optional[datetime] = None
    #: The text contains all of these words.
    keyword: str = ""
    #: The attributes amem.user, amem.agent and amem.run.
    user: Optional[str] = None
    agent: Optional[str] = None
    run: Optional[str] = None
    #: Principals, such as `uid:1000`, and agents: one of each list given recorded the event.
    by: Sequence[str] = ()
    agents: Sequence[str] = ()
    #: Conditions on attributes and fields, such as {"topic": "rust", "confidence": {"gte": 0.5}}.
    filter: Optional[Mapping[str, Any]] = None
    #: What relative times of the filter refer to ("last Tuesday"); without it the daemon refuses them.
    now: Optional[datetime] = None
    #: The zone of days and of times without an offset in the filter, such as "Europe/Berlin" or "+01:00".
    zone: Optional[str] = None
    include_forgotten: bool = False
    include_compressed: bool = False
