"""What the client and the reader give and take.

Times are microseconds since 1970 UTC in fields that end in `_micros`, exact and of any year; the properties beside them
are datetimes with UTC as their zone. Ids and LSNs are ints.
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
    """A time of a brain as a datetime. OverflowError past the year 9999."""
    return _EPOCH + timedelta(microseconds=micros)


def to_micros(time: datetime) -> int:
    """A datetime as a time of a brain; one without a zone is refused, as it would mean another moment elsewhere."""
    if time.tzinfo is None:
        raise ValueError(f"{time} has no time zone")
    return (time - _EPOCH) // _MICRO


def type_name(names: Sequence[str], number: int) -> str:
    """The name of a type; one that has no meaning here is its number, such as "type-200"."""
    return names[number] if number < len(names) else f"type-{number}"


def type_number(names: Sequence[str], name: str) -> int:
    """The number of a type, by its name."""
    if name in names:
        return names.index(name)
    front, _, number = name.partition("-")
    if front == "type" and number.isdigit() and int(number) <= 255:
        return int(number)
    raise ValueError(f"{name!r} is none of {', '.join(names)}")


@dataclass(frozen=True)
class Edge:
    """A tie between two events, read from source to target."""

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
    """One thing that is remembered."""

    id: int
    type: str
    text: str
    session: int
    created_micros: int
    event_micros: Optional[int]
    #: Lowered by corrections, 0 to 1.
    confidence: float
    #: What decay has left of the confidence, as of the last decay run.
    strength: float
    #: Decay rate per day; 0 is that of the type.
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
    #: Only if it was asked for.
    vector: Optional[Sequence[float]] = None
    #: Only if they were asked for: those that start here, then those that end here.
    edges: Optional[List[Edge]] = None

    @property
    def created_at(self) -> datetime:
        """When it was recorded."""
        return to_datetime(self.created_micros)

    @property
    def event_time(self) -> Optional[datetime]:
        """When it happened, if that was said."""
        return None if self.event_micros is None else to_datetime(self.event_micros)

    @property
    def last_accessed(self) -> datetime:
        return to_datetime(self.accessed_micros)


@dataclass(frozen=True)
class Hit:
    """What answers a question, and how well. The parts of a search's score sum to it; of other questions they are 0."""

    event: Event
    score: float
    text_score: float = 0.0
    vector_score: float = 0.0
    neighbour_score: float = 0.0
    session_score: float = 0.0
    #: What was found: the event, or one that it replaced.
    found_id: Optional[int] = None


@dataclass(frozen=True)
class Step:
    """An event of a walk, and how it was reached."""

    event: Event
    depth: int
    #: The place of the step from which this one was reached; None of the first.
    parent: Optional[int]
    #: What the edge between the two means; None of the first.
    type: Optional[str]
    #: True if that edge leads from this event to its parent.
    incoming: bool


@dataclass(frozen=True)
class Walk:
    """What was reached, breadth first, the event asked about first."""

    steps: List[Step]
    #: True if there is more within the depth than was asked for.
    truncated: bool

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)


@dataclass(frozen=True)
class Resolved:
    """What is believed in place of an event."""

    #: The newest head: what is believed now.
    head: Event
    #: From the event asked about to the newest head.
    chain: List[Event]
    #: Every head, the newest first.
    heads: List[Event]
    #: True if agents disagree about what replaced the event.
    contested: bool


@dataclass(frozen=True)
class Conflict:
    """Two events that contradict each other, or a belief with several heads: `belief` is None in the first case."""

    events: List[Event]
    belief: Optional[Event] = None


@dataclass(frozen=True)
class TimelineEntry:
    """An event and its time on the axis that was asked for."""

    time_micros: int
    event: Event

    @property
    def time(self) -> datetime:
        return to_datetime(self.time_micros)


@dataclass(frozen=True)
class Session:
    """What is known of a conversation or a piece of work."""

    id: int
    key: str
    agent: str
    opened_micros: int
    #: True if a client opened it; False if it is only known from its events.
    explicit: bool
    last_event_micros: int
    closed_micros: Optional[int]
    outcome: str


@dataclass(frozen=True)
class ContextItem:
    """An event of a context, or one that had no room."""

    event_id: int
    found_id: int
    explains_id: Optional[int]
    score: float
    tokens: int


@dataclass(frozen=True)
class Context:
    """What is known of a question, within a budget of tokens."""

    text: str
    tokens: int
    items: List[ContextItem]
    left_out: List[ContextItem]


@dataclass(frozen=True)
class Row:
    """An event that a pipeline makes, its score, and where it came from."""

    event: Event
    #: The sum of its parts; what the source says, until rows are ranked.
    score: float
    #: What its source says it is worth, 0 to 1.
    found: float
    found_score: float
    confidence_score: float
    strength_score: float
    recency_score: float
    nearness_score: float
    #: Which stage made it: 0 for the sources.
    stage: int
    #: Edges from the row of a source.
    depth: int
    #: The row that it was made of, a place in rows or, from their number on, in origins; None of a source's row.
    origin: Optional[int]
    #: The edge by which it was reached from there; None of others.
    type: Optional[str]
    incoming: bool


@dataclass(frozen=True)
class Rows:
    """What comes out of a pipeline."""

    rows: List[Row]
    #: Rows of earlier stages that these came from.
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
    """What was erased is in no file of the daemon's any more."""

    #: Episodes whose text may repeat it.
    episodes: List[int]
    #: The generation whose file is the first without it.
    generation: int
    #: When the last reader of an earlier file had let go of it; None: somebody has not, or it can't be told.
    readers_gone_micros: Optional[int]
    #: Who has not, as far as the daemon may see: a `Reader` lets go when it looks for news (`refresh`).
    holders: List[FileHolder]
    #: Why it can't be told, or "".
    readers_unknown: str


@dataclass(frozen=True)
class Change:
    """One change of a commit. `kind` is event, edge, retracted-edge, belief, attributes, vector, touch, decay,
    session-opened, session-closed, settings or erased; the fields of other kinds are None."""

    kind: str
    event: Optional[Event] = None
    edge: Optional[Edge] = None
    event_id: Optional[int] = None
    #: Of belief: confidence, decay_rate, pinned, forgotten, compressed. Of sessions: key, agent, outcome.
    values: Mapping[str, Any] = field(default_factory=dict)
    #: How often, by event.
    uses: Optional[Dict[int, int]] = None
    #: Attributes or settings from then on.
    attributes: Optional[Dict[str, Any]] = None
    vector: Optional[Sequence[float]] = None
    session: Optional[int] = None
    time_micros: Optional[int] = None


@dataclass(frozen=True)
class Commit:
    """A commit: whole, with all of its changes in order."""

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
    """An event to be added. The edges start at it: `caused_by=[a]` says that a caused it, `supports=[a]` that a is
    evidence for it, `part_of=[a]` that it belongs to a, `follows=[a]` that it came after a. An end is an id, or another
    New of the same batch."""

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
        """Type and end of each edge."""
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
    """Conditions of a write; ConditionFailed if they do not hold."""

    #: Nothing but uses of events was committed after this LSN.
    lsn: Optional[int] = None
    #: (event, head): the newest head of the event's chain is this one.
    head: Optional[Tuple[int, int]] = None


@dataclass(frozen=True)
class Where:
    """Which events are wanted: all that is given must hold. Forgotten and compressed ones only if they are asked
    for."""

    types: Sequence[str] = ()
    sessions: Sequence[int] = ()
    #: (from, until): not before, and before; None is open.
    recorded: Optional[Window] = None
    happened: Optional[Window] = None
    #: (least, most), both included; None is open.
    confidence: Optional[Bounds] = None
    strength: Optional[Bounds] = None
    #: Strength is that of this time instead of the last decay run's.
    strength_at: Optional[datetime] = None
    #: The text says every one of these words.
    keyword: str = ""
    #: The attributes amem.user, amem.agent and amem.run.
    user: Optional[str] = None
    agent: Optional[str] = None
    run: Optional[str] = None
    #: Any condition, such as {"topic": "rust", "confidence": {"gte": 0.5}}.
    filter: Optional[Mapping[str, Any]] = None
    include_forgotten: bool = False
    include_compressed: bool = False
