"""What can go wrong: one exception for each thing that a caller may do about it."""

from __future__ import annotations

from typing import Dict, Optional


class AmemError(Exception):
    """Every error of this package."""


class Refused(AmemError):
    """The daemon refused a call, or could not be reached.

    `code` is gRPC's, such as NOT_FOUND; `reason` says which case of it, for machines, such as UNKNOWN_EVENT; `message`
    says what was wrong and what would be right; `metadata` has what a program may need of it.
    """

    def __init__(self, code: str, reason: str, message: str, metadata: Optional[Dict[str, str]] = None) -> None:
        super().__init__(f"{code}{f' ({reason})' if reason else ''}: {message}")
        self.code = code
        self.reason = reason
        self.message = message
        self.metadata = metadata or {}


class NotFound(Refused):
    """NOT_FOUND: a brain, an event, a session or an edge is not there."""


class AlreadyExists(Refused):
    """ALREADY_EXISTS: a brain's name is taken, or a request id was used for another request."""


class ConditionFailed(Refused):
    """ABORTED: what the caller knew is not so any more. Read again."""


class Unavailable(Refused):
    """UNAVAILABLE, for longer than calls are tried again. Of a write the outcome is unknown: try it again with the same
    request id, which is in `metadata["request_id"]`."""


_BY_CODE = {
    "NOT_FOUND": NotFound,
    "ALREADY_EXISTS": AlreadyExists,
    "ABORTED": ConditionFailed,
    "UNAVAILABLE": Unavailable,
}


def refused(code: str, reason: str, message: str, metadata: Optional[Dict[str, str]] = None) -> Refused:
    """The exception of a code."""
    return _BY_CODE.get(code, Refused)(code, reason, message, metadata)


class DamagedFile(AmemError):
    """A file is not what it must be: which part, at which byte, and why."""

    def __init__(self, part: str, position: int, why: str) -> None:
        super().__init__(f"{part} at byte {position}: {why}")
        self.part = part
        self.position = position
        self.why = why


class MustDrop(AmemError):
    """Something was erased from this brain, and its file was replaced by one that cannot be found from here: the old
    one may not be read any more. Open the brain again."""


class Superseded(AmemError):
    """A file was replaced, and what replaced it can't be read: what was committed since is missing here. `refresh`
    goes on once it is there again; else open the brain where it is now.

    `path` is where the brain was opened, `by` the generation that replaced it; `why` says what stands there instead.
    """

    def __init__(self, path: str, by: int, why: str) -> None:
        super().__init__(f"{path} was replaced by generation {by}, which can't be read there: {why}")
        self.path = path
        self.by = by
        self.why = why
